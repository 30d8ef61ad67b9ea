from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from tests.models.hand_made import hand_made
from tests.shell.commands import DATA, ZOO, Shell, check_quickly

from stacklens import check_proof
from stacklens.automata.formats.json import from_json
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import Checkpoint, save_model

QUICK = ("--max-length", "6")


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkpoint with a hand-made network, and let it be checked on few long words, so that it is quick."""
    check_quickly(monkeypatch)
    path = tmp_path / "net.pt"
    task = {"kind": "recognition", "language": "1n0n"}
    save_model(path, Checkpoint(hand_made(get_language("1n0n").automaton), task))
    return path


def test_every_text_format_and_the_report_are_written_whole(net: Path, tmp_path: Path, shell: Shell) -> None:
    targets = [tmp_path / f"x.{suffix}" for suffix in ("dot", "json", "jff", "svg", "cfg")]
    arguments: Sequence[str | Path] = [word for path in targets for word in ("--out", path)]
    found = shell("extract-pda", net, *arguments, "--report", tmp_path / "r.json", *QUICK)
    assert (found.status, found.error) == (0, "")
    for path in [*targets, tmp_path / "r.json"]:
        assert f"wrote {path}" in found.out
    dot, automaton, jflap, svg, grammar = (path.read_text() for path in targets)
    assert dot.startswith("digraph")
    assert dot.rstrip().endswith("}")
    assert from_json(automaton).accepts("1100")
    assert not from_json(automaton).accepts("1010")
    assert ElementTree.fromstring(jflap).tag == "structure"
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert grammar == "# 1n0n, read out of net.pt\nS -> 1 S 0 | 1 0\n"
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["model"]["file"] == str(net)
    assert report["language"] == "1n0n"
    assert report["automaton"]["states"] == 2
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"net.pt", "r.json", *(path.name for path in targets)}


def test_what_has_no_grammar_is_shown_before_that_is_said(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_quickly(monkeypatch)
    net, targets = ZOO / "neural-stack-delayed-xor.pt", [tmp_path / "x.cfg", tmp_path / "x.json"]
    arguments: Sequence[str | Path] = [word for path in targets for word in ("--out", path)]
    found = shell("extract-pda", net, *arguments, *QUICK)
    assert found.status == 2
    assert found.error == "error: a grammar can be written of a recogniser; this automaton answers whatever it reads\n"
    assert found.out.endswith(f"wrote {targets[1]}\n")
    assert not targets[0].exists()


def test_without_out_the_summary_has_the_transition_table(net: Path, shell: Shell) -> None:
    found = shell("extract-pda", net, *QUICK)
    assert (found.status, found.error) == (0, "")
    assert "2 states, 1 stack symbol, 4 transitions" in found.out
    assert re.search(r"all 127 of length <= 6 +0 +0 +0$", found.out, re.MULTILINE)
    assert "push 1" in found.out
    assert shell("stacklens", "extract", net, *QUICK).out == found.out


def test_a_proof_is_written_checked_and_used_by_verify(net: Path, tmp_path: Path, shell: Shell) -> None:
    saved, proof = tmp_path / "r.json", tmp_path / "r.proof.json"
    assert shell("extract-pda", net, "--save", saved, "--proof", proof, *QUICK).status == 0
    status, line = check_proof.verdict(str(net), str(proof))
    assert (status, line.partition(" follows")[0]) == (0, "proved: the network itself")
    assert f"proof      r.proof.json is {line}" in shell("stacklens", "verify", saved, "--max-length", "6").out
    proof.write_text(proof.read_text().replace('"pop": true', '"pop": false', 1))
    refused = shell("stacklens", "verify", saved, "--max-length", "6", "--quiet")
    assert refused.status == 1
    assert "r.proof.json is refused: the proof is of another automaton" in refused.out


@pytest.mark.parametrize("quiet", [False, True])
def test_a_contradiction_gives_status_1_and_the_shortest_word(
    quiet: bool, net: Path, tmp_path: Path, shell: Shell
) -> None:
    content, letters = torch.load(net, weights_only=True), ("(", ")")
    config = {**content["config"], "alphabet": letters}
    torch.save({**content, "alphabet": letters, "config": config, "task": {"language": "parentheses"}}, net)
    arguments: Sequence[str | Path] = [net, "--out", tmp_path / "x.json", *QUICK, *(["--quiet"] if quiet else [])]
    found = shell("extract-pda", *arguments)
    assert (found.status, found.error) == (1, "")
    assert "ifferent from parentheses, first on the empty word; the rounded network follows it on words" in found.out
    assert (tmp_path / "x.json").exists()


@pytest.mark.parametrize("quiet", [False, True])
def test_a_network_without_an_automaton_gives_status_3_with_the_measures_and_no_picture(
    quiet: bool, tmp_path: Path, shell: Shell
) -> None:
    arguments: Sequence[str | Path] = [
        DATA / "graded-pops.pt",
        "--out",
        tmp_path / "x.dot",
        "--report",
        tmp_path / "r.json",
    ]
    found = shell("extract-pda", *arguments, *(["--quiet"] if quiet else []))
    assert (found.status, found.error) == (3, "")
    assert "the network does not use its stack as a stack: rounding its actions changes" in found.out
    assert "of its actions are graded" in found.out
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
    assert json.loads((tmp_path / "r.json").read_text())["reason"] in found.out


def test_a_full_disk_leaves_the_old_file_as_it_was(
    net: Path, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "x.json"
    target.write_text("old")

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    found = shell("extract-pda", net, "--out", target, "--quiet", *QUICK)
    assert (found.status, found.out) == (2, "")
    assert found.error == f"error: cannot write {target}: No space left on device; nothing was written\n"
    assert target.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"net.pt", "x.json"}


def test_help_names_every_option_and_the_exit_statuses(shell: Shell) -> None:
    found = shell("extract-pda", "-h")
    assert (found.status, found.error) == (0, "")
    for word in ("--out", "--language", "--max-length", "--states", "--report", "--quiet", "Exit status"):
        assert word in found.out
    assert shell("stacklens", "--version").out.startswith("stacklens ")


def test_ctrl_c_ends_with_status_130_and_without_a_traceback(
    net: Path, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stacklens.extract.extraction.extract", interrupted)
    found = shell("extract-pda", net, "--out", tmp_path / "x.dot")
    assert (found.status, found.out) == (130, "")
    assert "Traceback" not in found.error
    assert not (tmp_path / "x.dot").exists()


def test_a_file_name_that_is_no_text_is_written_by_number(net: Path, tmp_path: Path, shell: Shell) -> None:
    odd = net.rename(tmp_path / "\udcff.pt")
    targets = [tmp_path / "\udcff.svg", tmp_path / "\udcff.json"]
    arguments: Sequence[str | Path] = [odd, "--out", targets[0], "--report", targets[1], "--language", "1n0n", *QUICK]
    found = shell("extract-pda", *arguments)
    assert (found.status, found.error) == (0, "")
    assert f"wrote {tmp_path}/\\udcff.svg" in found.out
    assert json.loads(targets[1].read_text(encoding="utf-8"))["model"]["file"] == str(odd)
    assert r"\udcff.pt" in targets[0].read_text(encoding="utf-8")
