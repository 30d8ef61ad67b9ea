"""`stacklens extract` and `verify`: what they print, what they write, and what they refuse."""

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from tests.attack.made_results import FORGERIES, forged
from tests.models.hand_made import hand_made
from tests.shell.commands import DATA, ZOO, Shell, check_quickly

import stacklens as sl
from stacklens import check_proof
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.formats.textbook import to_jflap
from stacklens.automata.pda import PushdownAutomaton
from stacklens.cli.verify import networks_in
from stacklens.languages.catalogue import get_language
from stacklens.models.base import Checkpoint
from stacklens.models.checkpoint import save_model

QUICK = ("--max-length", "6")


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkpoint with a hand-made network, and let it be checked on few long words, so that it is quick."""
    check_quickly(monkeypatch)
    path = tmp_path / "net.pt"
    task = {"kind": "recognition", "language": "1n0n"}
    save_model(path, Checkpoint(hand_made(get_language("1n0n").automaton), task))
    return path


def test_every_text_format_and_the_report_are_written_whole(net: Path, shell: Shell) -> None:
    targets = [Path(f"x.{suffix}") for suffix in ("dot", "json", "jff", "svg", "cfg")]
    arguments = [word for path in targets for word in ("--out", path)]
    found = shell("extract-pda", net, *arguments, "--report", "r.json", *QUICK)
    assert (found.status, found.error) == (0, "")
    for path in [*targets, "r.json"]:
        assert f"wrote {path}" in found.out
    dot, automaton, jflap, svg, grammar = (path.read_text() for path in targets)
    assert dot.startswith("digraph")
    assert dot.rstrip().endswith("}")
    assert from_json(automaton).accepts("1100")
    assert not from_json(automaton).accepts("1010")
    assert ElementTree.fromstring(jflap).tag == "structure"
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert grammar == "# 1n0n, read out of net.pt\nS -> 1 S 0 | 1 0\n"
    report = json.loads(Path("r.json").read_text())
    assert report["model"]["file"] == str(net)
    assert report["language"] == "1n0n"
    assert report["automaton"]["states"] == 2
    assert {path.name for path in Path().iterdir()} == {"net.pt", "r.json", *(path.name for path in targets)}


def test_what_has_no_grammar_is_shown_before_that_is_said(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    check_quickly(monkeypatch)
    found = shell("extract-pda", "neural-stack-delayed-xor", "--out", "x.cfg", "--out", "x.json", *QUICK)
    assert found.status == 2
    assert found.error == "error: a grammar can be written of a recogniser; this automaton answers whatever it reads\n"
    assert found.out.endswith("wrote x.json\n")
    assert not Path("x.cfg").exists()


def test_without_out_the_summary_has_the_transition_table(net: Path, shell: Shell) -> None:
    found = shell("extract-pda", net, *QUICK)
    assert (found.status, found.error) == (0, "")
    assert "2 states, 1 stack symbol, 4 transitions" in found.out
    assert re.search(r"all 127 of length <= 6 +0 +0 +0$", found.out, re.MULTILINE)
    assert "push 1" in found.out
    assert found.out.endswith("accepts    in q1, with an empty stack\n")
    assert shell("stacklens", "extract", net, *QUICK).out == found.out


def test_a_proof_is_written_checked_and_used_by_verify(net: Path, shell: Shell) -> None:
    saved, proof = "r.json", Path("r.proof.json")
    assert shell("extract-pda", net, "--save", saved, "--proof", proof, *QUICK).status == 0
    status, line = check_proof.verdict(str(net), str(proof))
    assert (status, line.partition(" follows")[0]) == (0, "proved: the network itself")
    assert f"proof      r.proof.json is {line}" in shell("stacklens", "verify", saved, "--max-length", "6").out
    proof.write_text(proof.read_text().replace('"pop": true', '"pop": false', 1))
    refused = shell("stacklens", "verify", saved, "--max-length", "6", "--quiet")
    assert refused.status == 1
    assert "r.proof.json is refused: the proof is of another automaton" in refused.out


@pytest.mark.parametrize("quiet", [False, True])
def test_a_contradiction_gives_status_1_and_the_shortest_word(quiet: bool, net: Path, shell: Shell) -> None:
    content, letters = torch.load(net, weights_only=True), ("(", ")")
    config = {**content["config"], "alphabet": letters}
    torch.save({**content, "alphabet": letters, "config": config, "task": {"language": "parentheses"}}, net)
    found = shell("extract-pda", net, "--out", "x.json", *QUICK, *["--quiet"] * quiet)
    assert (found.status, found.error) == (1, "")
    assert "ifferent from parentheses, first on the empty word; the network itself follows it on words" in found.out
    assert Path("x.json").exists()


def test_a_network_without_an_automaton_gives_status_3_with_the_measures_and_no_picture(shell: Shell) -> None:
    outputs = ("--out", "x.dot", "--report", "r.json")
    found = shell("extract-pda", DATA / "graded-pops.pt", *outputs, "--quiet")
    assert (found.status, found.error) == (3, "")
    assert "the network does not use its stack as a stack: rounding its actions changes" in found.out
    assert "of its actions are graded" in found.out
    assert [path.name for path in Path().iterdir()] == ["r.json"]
    assert json.loads(Path("r.json").read_text())["reason"] in found.out


def test_a_file_name_that_is_no_text_is_written_by_number(net: Path, tmp_path: Path, shell: Shell) -> None:
    odd = net.rename(tmp_path / "\udcff.pt")
    targets = [tmp_path / "\udcff.svg", tmp_path / "\udcff.json"]
    arguments: Sequence[str | Path] = [odd, "--out", targets[0], "--report", targets[1], "--language", "1n0n", *QUICK]
    found = shell("extract-pda", *arguments)
    assert (found.status, found.error) == (0, "")
    assert f"wrote {tmp_path}/\\udcff.svg" in found.out
    assert json.loads(targets[1].read_text(encoding="utf-8"))["model"]["file"] == str(odd)
    assert r"\udcff.pt" in targets[0].read_text(encoding="utf-8")


_IN_VAIN = ("buffered-neural-stack-reversal", "--method", "learn", "--budget", "0.000001s")
NAME = "nnpda-palindrome"


def test_a_kept_result_is_shown_again(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    check_quickly(monkeypatch)
    path, kept = "r.json", shell("extract-pda", NAME, "--max-length", "5", "--save", "r.json")
    printed, _, wrote = kept.out.rpartition("wrote ")
    assert (kept.status, wrote) == (0, "r.json\n")
    shown = shell("stacklens", "show", path)
    assert shown.status == 0
    certified = "the rounded network follows it on words of every length that need at most 2^53 cells of a stack"
    assert shown.out.startswith(f"Proved equal to palindrome; {certified} (certificate); ")
    for line in printed.splitlines():  # all that was printed, marked where it was not shown again
        assert [told for told in shown.out.splitlines() if told.startswith(line[:40])]
        again = line.startswith(("proof ", "certified ", "network ", "automaton ", "horizon ", "depth ")) or "│" in line
        assert again <= (line in shown.out)
    why = shell("stacklens", "show", path, "--why")
    assert why.out.startswith("as stored, not checked:\nNothing contradicts the automaton")
    out = ("--out", "pda.svg", "--out", "pda.json", "--out", "pda.cfg")
    assert shell("stacklens", "show", path, *out).out.endswith("wrote pda.svg\nwrote pda.json\nwrote pda.cfg\n")
    assert Path("pda.cfg").read_text(encoding="utf-8").endswith(f"\n{sl.load(path).grammar()}\n")
    assert str(sl.load(path).grammar()) == "S -> a S a | b S b | c"
    assert sl.load("pda.json") == sl.load(path).automaton
    assert "palindrome, read out of nnpda-palindrome.pt" in unescape(Path("pda.svg").read_text(encoding="utf-8"))


def test_a_kept_result_is_verified_and_judged_without_its_automaton_in_another_file(shell: Shell) -> None:
    path = shutil.copy(ZOO / f"{NAME}.json", "r.json")
    found = shell("stacklens", "verify", path, "--max-length", "6")
    assert found.status == 0
    assert "0 disagreements in 1,093 words, all of length <= 6" in found.out
    assert not Path("r.verify.jsonl").exists()
    Path("words.txt").write_text("abcba\nabc\n", encoding="utf-8")
    assert shell("stacklens", "judge", path, "words.txt", "--out", "table.csv").status == 0
    assert Path("table.csv").read_text(encoding="utf-8").splitlines()[0].count("automaton") == 1


def test_a_result_without_an_automaton_is_kept_and_shown_too(shell: Shell) -> None:
    kept = shell("extract-pda", *_IN_VAIN, "--save", "r.json")
    shown = shell("stacklens", "show", "r.json", "--out", "pda.dot")
    assert (kept.status, shown.status) == (3, 3)
    first, *others = shown.out.splitlines()
    assert first == f"{kept.out.splitlines()[0].removesuffix('.')} (as stored, not checked)."
    assert {line.removesuffix(" (as stored, not checked)") for line in others} >= set(kept.out.splitlines()[1:-1])
    assert not Path("pda.dot").exists()
    verified = shell("stacklens", "verify", "r.json")
    assert verified.status == 3
    assert verified.out.endswith("(as stored, not checked)\n")


def test_the_word_on_which_a_network_differs_can_be_pasted(shell: Shell) -> None:
    saved, network = ZOO / "marnn-stack-rnn-dyck-2-drifting.json", "marnn-stack-rnn-dyck-2-drifting"
    shown = shell("stacklens", "show", saved)
    words = [line.split(":")[1].strip() for line in shown.out.splitlines() if line.startswith("           in full: ")]
    assert len(words) == 2
    for word in words:
        assert shell("stacklens", "trace", network, word).status == 0
    verified = shell("stacklens", "verify", saved, "--max-length", "3")
    assert [f"           in full: {word}" in verified.out.splitlines() for word in words] == [True, True]


@pytest.mark.parametrize("what", FORGERIES)
def test_no_command_repeats_what_a_file_claims_falsely(what: str, shell: Shell) -> None:
    Path("r.json").write_text(json.dumps(forged(what, "made again")), encoding="utf-8")
    deep = "1010" if "10^18" in what else "aca" if what == "other counts" else "(" * 8
    Path("words.txt").write_text(f"{deep}\n", encoding="utf-8")
    commands = (("show", "r.json"), ("verify", "r.json", "--max-length", "3"), ("judge", "r.json", "words.txt"))
    shown, verified, judged = (shell("stacklens", *command) for command in commands)
    false = what in ("an automaton that is cut", "the certificate of another network")
    assert shown.status == verified.status == int(false)
    assert judged.status == int(what == "an automaton that is cut")
    for found in (shown, verified):
        told = [line for line in found.out.splitlines() if "as stored, not checked" not in line]
        assert not any("1,000,000,000,000,000,000" in line for line in told)
        assert false == any("which could not be shown" in line for line in found.out.splitlines())
    if what == "an automaton that is cut":
        assert shown.out.startswith("Different from dyck-2, first on ((((((((")
        assert verified.out.startswith("Different from dyck-2, first on ((((((((")
    if what == "other counts":
        assert "counted    3 accepted words of length <= 3" in verified.out


# ---- `stacklens verify`: what it prints, what it writes, and what it refuses. ----
NETWORK = ZOO / "nnpda-palindrome.pt"
PALINDROMES = get_language("palindrome").automaton


def doctored() -> PushdownAutomaton:
    """Return palindromes in which b under a is no longer a palindrome."""
    rules = {key: step for key, step in PALINDROMES.transitions.items() if step.operations[0].name != "pop"}
    pops = [item for item in PALINDROMES.transitions.items() if item[1].operations[0].name == "pop"]
    return replace(PALINDROMES, transitions={**rules, **dict(pops[:1])})


def test_nothing_contradicts_the_right_automaton(shell: Shell) -> None:
    Path("pda.jff").write_text(to_jflap(PALINDROMES), encoding="utf-8")
    outcome = shell("stacklens", "verify", NETWORK, "--automaton", "pda.jff", "--max-length", "9")
    lines = outcome.out.splitlines()
    assert outcome.status == 0
    assert lines[0] == (
        "Equal to palindrome on all words of length <= 9 (not proved); rounded network and network follow it on all "
        "words of length <= 9."
    )
    assert lines[2] == "network    nnpda over a b c; language palindrome"
    assert lines[4:6] == [
        "horizon    rounded network: agrees on all words of length <= 9; no difference found in 29,524 words",
        "           network: agrees on all words of length <= 9; no difference found in 29,524 words",
    ]
    assert lines[6:10] == [
        "verified   against the language's automaton: 0 disagreements in 29,524 words, all of length <= 9",
        "verified   against the rounded network: 0 disagreements in 29,524 words, all of length <= 9",
        "verified   against the network: 0 disagreements in 29,524 words, all of length <= 9",
        "counted    31 accepted words of length <= 9, without running them: as many as were found by running all",
    ]
    assert [path.name for path in Path().iterdir()] == ["pda.jff"]  # the journal is gone


def test_the_report_is_the_same_whatever_the_number_of_processes(shell: Shell) -> None:
    Path("pda.json").write_text(to_json(doctored()), encoding="utf-8")
    command: list[str | Path] = ["verify", NETWORK, "--automaton", "pda.json", "--max-length", "13"]
    for jobs in ("1", "2"):
        outcome = shell("stacklens", *command, "--jobs", jobs, "--report", f"{jobs}.json", "--quiet")
        assert outcome.status == 1
        assert outcome.out.startswith(
            "different from palindrome, first on bcb; rounded network and network first differ"
        )
    assert Path("1.json").read_bytes() == Path("2.json").read_bytes()
    report = json.loads(Path("1.json").read_text(encoding="utf-8"))
    assert report["chunks"] > 2
    assert report["counts"]["equal"]
    found = report["checks"][0]
    assert found["between"] == ["automaton", "language"]
    assert (found["disagreements"], found["counterexample"]) == (120, "bcb")


def test_without_an_automaton_it_is_extracted_and_kept_in_the_journal(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_quickly(monkeypatch)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    command: list[str | Path] = ["verify", ZOO / "nnpda-parentheses.pt", "--max-length", "6"]
    with monkeypatch.context() as patch:
        patch.setattr("stacklens.extract.verification.exhaustive.verify_exhaustively", stop)
        assert shell("stacklens", *command).status == 130
    journal = Path("nnpda-parentheses.verify.jsonl")
    assert "automaton" in json.loads(journal.read_text(encoding="utf-8").splitlines()[1])["kept"]
    refused = shell("stacklens", *command)
    assert (refused.status, refused.error) == (
        2,
        f"error: {journal}: this job was begun and not finished; go on with --resume, or delete the file\n",
    )
    other = shell("stacklens", *command[:-1], "7", "--resume")
    assert "another job: its max_length is 6, this one's 7" in other.error
    monkeypatch.setattr("stacklens.extract.extraction.extract", stop)
    outcome = shell("stacklens", *command, "--resume")
    assert outcome.status == 0
    assert "0 disagreements in 127 words, all of length <= 6" in outcome.out
    assert not journal.exists()


def test_the_table_has_proof_counts_and_certificate(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    check_quickly(monkeypatch)
    zoo = [ZOO / "nnpda-parentheses.pt", DATA / "graded-pops.pt"]
    monkeypatch.setattr("stacklens.cli.verify.networks_in", lambda _: zoo)
    outcome = shell("stacklens", "verify", "--all", "--max-length", "8", "--report", "verify.json")
    assert outcome.status == 0
    rows = json.loads(Path("verify.json").read_text(encoding="utf-8"))["networks"]
    assert [row["network"] for row in rows] == ["nnpda-parentheses.pt", "graded-pops.pt"]
    assert rows[0]["proof"]["verdict"] == "equal"
    assert [check["words"] for check in rows[0]["checks"]] == [511] * 3
    assert rows[1]["status"] == 3
    assert rows[1]["automaton"] is None
    for shown in ("certificate", "parentheses", "equal", "511 <= 8", "0, 0, 0", "graded-pops.pt: no automaton: "):
        assert shown in outcome.out


def test_all_is_the_zoo_and_what_is_published(tmp_path: Path) -> None:
    assert networks_in(None) == sorted(ZOO.glob("*.pt")) != []
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    (tmp_path / "broken.pt").write_bytes(b"nothing")
    (tmp_path / "net.pt").write_bytes(NETWORK.read_bytes())
    assert networks_in(tmp_path) == [*networks_in(None), tmp_path / "net.pt"]
