"""`stacklens judge`: many words at once."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pytest
from tests.shell.commands import ZOO, Shell

from stacklens.automata.formats.json import to_json
from stacklens.languages.catalogue import get_language

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
