"""Table 4 of Joulin & Mikolov 2015 on a small text of our own: what the command needs, writes and refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from stacklens.__main__ import app
from stacklens.errors import FileFormatError, StacklensError
from stacklens.papers import joulin2015
from stacklens.papers.grid_results import GridResults, read_grid

SMALL = {
    "RNN": ("rnn", ("137", "129"), {"hidden": 4, "controller": "rnn", "task_kind": "next symbol"}),
    "Stack RNN": ("stack-rnn", ("124", "118"), {"hidden": 4, "n_stacks": 2, "recurrent": True}),
}


def papers(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, ["papers", *map(str, arguments)], env={"COLUMNS": "250"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.fixture
def texts(tmp_path: Path) -> list[str | Path]:
    """Return the options for three files of a text in which every word tells the next."""
    rng, options = np.random.default_rng(0), list[str | Path]()
    for part in ("train", "valid", "test"):
        path = tmp_path / f"{part}.txt"
        lines = [" ".join(("one", "two", "three", "four")[: rng.integers(2, 5)]) for _ in range(60)]
        path.write_text("\n".join(lines), encoding="utf-8")
        options += [f"--{part}", path]
    return options


def test_table_4_is_measured_on_the_users_text(
    tmp_path: Path, texts: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joulin2015, "_WORDS", SMALL)
    there = ("--results", tmp_path)
    shown = papers("run", "joulin2015-table4", *texts, *there)
    assert "137" in shown
    assert "not run" not in shown
    results = read_grid("joulin2015-table4", tmp_path) or GridResults("", "", "")
    assert [row.name for row in results.rows] == list(SMALL)
    assert all(1 < row.networks[0].scores["test perplexity"] < 6 for row in results.rows)
    assert all(row.texts.startswith("train.txt ") and row.texts.count(", ") == 2 for row in results.rows)
    assert papers("table", "joulin2015-table4", *there) in shown
    kept = (tmp_path / "joulin2015-table4.json").read_bytes()
    papers("run", "joulin2015-table4", *texts, *there)
    assert (tmp_path / "joulin2015-table4.json").read_bytes() == kept
    Path(texts[1]).write_text("one two\n" * 50, encoding="utf-8")
    with pytest.raises(FileFormatError, match="the word 'three' is not in"):
        papers("run", "joulin2015-table4", *texts, *there)  # another text, so it is trained again


def test_without_a_text_it_says_what_it_needs(tmp_path: Path, texts: list[str | Path]) -> None:
    there = ("--results", tmp_path)
    with pytest.raises(
        StacklensError, match="needs a text: --train FILE --valid FILE --test FILE, each with a sentence"
    ):
        papers("run", "joulin2015-table4", *there)
    with pytest.raises(StacklensError, match="joulin2015-table4 needs all of --train, --valid, --test"):
        papers("run", "joulin2015-table4", *texts[:4], *there)
    with pytest.raises(FileFormatError, match=r"missing.txt: no such file; expected a text"):
        papers("run", "joulin2015-table4", *texts[:4], "--test", tmp_path / "missing.txt", *there)
    with pytest.raises(StacklensError, match="no paper protocol"):
        papers("run", "joulin2015-table4", *texts, "--protocol", "paper", *there)
    with pytest.raises(StacklensError, match="joulin2015-table2 needs no text: leave out --train, --valid, --test"):
        papers("run", "joulin2015-table2", *texts, *there)
