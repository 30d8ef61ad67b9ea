"""`stacklens sweep` and `stacklens train --snapshots`: what they print, what they write, and what they refuse."""

from __future__ import annotations

import csv
import io
import json
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from tests.models.hand_made import parentheses_net
from tests.shell.commands import ZOO, Shell

from stacklens.automata.formats.json import to_json
from stacklens.extract.accuracy import scores_by_size
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation import sweep as sweep_row
from stacklens.extract.extraction import extract
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import Checkpoint, save_model

OURS = {"kind": "recognition", "language": "parentheses"}
QUICK = ExtractionConfig(max_length=5, long_words=50, deep_words=1, depth=20, height=5, climbs=1, walks=5, cycles=8)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    for name in ("one", "two"):
        save_model(f"runs/{name}.pt", Checkpoint(parentheses_net(), OURS))
    monkeypatch.setattr(sweep_row, "scores_by_size", partial(scores_by_size, largest=12))
    monkeypatch.setattr(sweep_row, "extract", lambda model, language, _: extract(model, language, QUICK))


def test_a_pattern_gives_a_table_and_the_files_asked_for(shell: Shell) -> None:
    out = ("--out", "sweep.csv", "--out", "sweep.html", "--out", "sweep.json")
    outcome = shell("stacklens", "sweep", "runs/*.pt", "--language", "parentheses", *out)
    assert (outcome.status, outcome.error) == (0, "")
    lines = [line for line in outcome.out.splitlines() if line.startswith("│")]
    assert [line.split("│")[1].strip() for line in lines] == ["runs/one.pt", "runs/two.pt"]
    assert all("equal" in line for line in lines)
    table = pd.read_csv("sweep.csv")
    assert table.network.tolist() == ["runs/one.pt", "runs/two.pt"]
    assert table.automaton.tolist() == [1, 1]
    assert len(json.loads(Path("sweep.json").read_text(encoding="utf-8"))["rows"]) == 2
    assert "plotly" in Path("sweep.html").read_text(encoding="utf-8").lower()
    assert sorted(path.name for path in Path().iterdir()) == ["runs", "sweep.csv", "sweep.html", "sweep.json"]


def test_a_sweep_that_was_begun_goes_on_only_when_asked_to(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(model: object, *_: object) -> None:
        if getattr(model, "origin").name == "two":  # noqa: B009
            raise KeyboardInterrupt
        return extract(model, None, QUICK)  # type: ignore[arg-type,return-value]

    with monkeypatch.context() as patched:
        patched.setattr(sweep_row, "extract", killed)
        outcome = shell("stacklens", "sweep", "runs", "--out", "t.csv")
    assert (outcome.status, outcome.error) == (130, "")
    assert sorted(path.name for path in Path().iterdir()) == ["runs", "t.sweep.jsonl"]
    refused = shell("stacklens", "sweep", "runs", "--out", "t.csv")
    assert refused.status == 2
    assert "this job was begun and not finished; go on with --resume" in refused.error
    done = shell("stacklens", "sweep", "runs", "--out", "t.csv", "--resume")
    assert (done.status, done.error) == (0, "")
    assert sorted(path.name for path in Path().iterdir()) == ["runs", "t.csv"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("none-*.pt",), "no file matches none-*.pt; expected trained networks"),
        (("runs", "--out", "table.txt"), "expected a name that ends in .csv, .json, .html, .svg, .png"),
        (("runs", "--language", "dyck-two"), "dyck-two"),
        (("runs", "--out", "no/where.csv"), "the folder no does not exist"),
        (("runs", "--scheduler", "nowhere"), "no Dask scheduler with a worker at 'nowhere'"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments: tuple[str, ...], told: str, shell: Shell) -> None:
    outcome = shell("stacklens", "sweep", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert told in outcome.error
    assert outcome.error.count("\n") == 1
    assert not list(Path().glob("*.jsonl"))


NET = ZOO / "nnpda-1n0n.pt"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    (tmp_path / "words.txt").write_text("10\n\nε\n110\n", encoding="utf-8")
    return tmp_path / "words.txt"


def test_all_agree(words: Path, shell: Shell) -> None:
    found = shell("stacklens", "judge", NET, words)
    assert (found.status, found.error) == (0, "")
    lines = [line for line in found.out.splitlines() if "✓" in line or "✗" in line]
    assert [line.split()[1] for line in lines] == ["10", "ε", "110"]
    assert "✓ accepts" in lines[0]
    assert "✗ not a member" in lines[2]


def test_a_wrong_automaton_is_found_and_the_table_written(words: Path, tmp_path: Path, shell: Shell) -> None:
    automaton, out = tmp_path / "wrong.json", tmp_path / "words.csv"
    automaton.write_text(to_json(get_language("anb2n").automaton).replace('"a"', '"1"').replace('"b"', '"0"'))
    found = shell("stacklens", "judge", NET, words, "--automaton", automaton, "--out", out)
    assert (found.status, found.out, found.error) == (1, f"wrote 3 words to {out}\n", "")
    with out.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["agree"] for row in rows] == ["✗", "✓", "✓"]
    assert rows[0]["automaton"] == "✗ rejects"


def test_words_may_come_from_the_input(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1100\n")))
    assert "✓ a member" in shell("stacklens", "judge", NET, "-").out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["none.txt"], "none.txt: no such file; expected a text with a word a line"),
        ([str(NET)], f"{NET}: cannot be read: it is no text in UTF-8; expected a text with a word a line"),
        (["WORDS", "--out", "x.txt"], "cannot write x.txt: expected a name that ends in .csv"),
        (["WORDS", "--out", "none/x.csv"], "cannot write none/x.csv: the folder none does not exist"),
        (["BAD"], "bad.txt: line 2: symbol 'x' is not in the alphabet 1 0"),
        (
            ["WORDS", "--language", "palindrome"],
            "language palindrome has the alphabet a b c, the network 1 0; name the",
        ),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], error: str, words: Path, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.txt").write_text("10\n1x\n", encoding="utf-8")
    places = {"WORDS": str(words), "BAD": "bad.txt"}
    found = shell("stacklens", "judge", NET, *(places.get(one, one) for one in arguments))
    assert (found.status, found.out) == (2, "")
    assert found.error.startswith(f"error: {error}")
