"""`stacklens probe`: what each command prints and writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.shell.commands import DATA, Shell

NETWORK = "nnpda-palindrome"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("ablate", NETWORK), "whole network: accuracy 1.000"),
        (("linear", NETWORK), "tested on longer ones"),
        (("saliency", NETWORK, "abcba"), "pushes agree with the automaton's top"),
    ],
)
def test_each_command_prints_what_it_found(shell: Shell, arguments: tuple[str, ...], expected: str) -> None:
    done = shell("stacklens", "probe", *arguments)
    assert done.status == 0, done.error
    assert expected in done.out


def test_tables_and_figures_are_written(shell: Shell, tmp_path: Path) -> None:
    table, figure = tmp_path / "t.csv", tmp_path / "t.html"
    done = shell("stacklens", "probe", "ablate", NETWORK, "--out", str(table), "--out", str(figure))
    assert done.status == 0, done.error
    assert table.read_text(encoding="utf-8").startswith("kind,name,role,accuracy,importance")
    assert "plotly" in figure.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("ablate", NETWORK, "--out", "t.txt"), "cannot write t.txt: expected a name that ends in .csv"),
        (("saliency", NETWORK, "abxba"), "symbol 'x' is not in the alphabet"),
        (("saliency", NETWORK, "a" * 1_001), "has 1,001 symbols; expected at most 1,000"),
        (("saliency", NETWORK, "ε"), "the network decides nothing on the empty word"),
        (("saliency", NETWORK, ""), "the network decides nothing on the empty word"),
        (("horizon", str(DATA / "rau" / "dyck2-depth3-transformer")), "has no stack whose actions could be rounded:"),
        (("linear", "neural-stack-reversal"), "no hidden vector to probe"),
        (("causal", "no-such.json"), "no-such.json"),
    ],
)
def test_bad_input_is_one_line(shell: Shell, arguments: tuple[str, ...], expected: str) -> None:
    done = shell("stacklens", "probe", *arguments)
    assert done.status == 2
    assert expected in done.error
    assert done.error.count("\n") == 1


def test_an_extraction_is_followed_by_interchanges_where_these_are_asked_for(shell: Shell, tmp_path: Path) -> None:
    saved, drawn = tmp_path / "r.json", tmp_path / "r.csv"
    network = "marnn-stack-rnn-string-reversal"
    done = shell("extract-pda", network, "--causal", "--max-length", "4", "--save", str(saved))
    assert done.status == 0, done.error
    assert "causal     of four automata that are proved equal, the minimised one is what the network" in done.out
    assert "symbols          1,000       1.000 (0.98" in done.out
    again = shell("stacklens", "probe", "causal", str(saved), "--cases", "100", "--out", str(drawn))
    assert again.status == 0, again.error
    assert drawn.read_text(encoding="utf-8").startswith("what,name,interchanges,accuracy,low,high\nstate,q0,")
