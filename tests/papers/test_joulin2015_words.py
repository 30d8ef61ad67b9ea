"""Table 4 of Joulin & Mikolov 2015 on a small text of our own: what the command needs, writes and refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from stacklens.__main__ import app
from stacklens.core.errors import FileFormatError, StacklensError
from stacklens.papers.grid import GridResults, read_grid
from stacklens.papers.results import declared

TABLE_4 = declared("joulin2015")["joulin2015-table4"]
SMALL = {
    "RNN": {
        "model": "rnn",
        "reported": ["137", "129"],
        "shape": {"hidden": 4, "controller": "rnn", "task_kind": "next symbol"},
    },
    "Stack RNN": {
        "model": "stack-rnn",
        "reported": ["124", "118"],
        "shape": {"hidden": 4, "n_stacks": 2, "recurrent": True},
    },
    "SRCN": {"model": "scrn", "reported": ["120", "115"], "shape": {"hidden": 4, "context": 2}},
    "N-gram": {"model": "ngram", "reported": ["", "141"], "shape": {"order": 3}},
    "N-gram + cache": {"model": "ngram", "reported": ["", "125"], "shape": {"order": 3, "cache": True}},
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
    monkeypatch.setitem(TABLE_4, "networks", SMALL)
    there = ("--results", tmp_path)
    shown = papers("run", "joulin2015-table4", *texts, *there)
    assert papers("table", "joulin2015-table4", *there) in shown
    shown = " ".join(shown.split())
    assert "137" in shown
    assert "not run" not in shown
    assert "converged" not in shown  # of what was extracted there is nothing to say
    assert "the paper: SRCN 115.0, Stack RNN 118.0, N-gram + cache 125.0, RNN 129.0, N-gram 141.0; " in shown
    assert "of 10 pairs stand in the same order" in shown
    assert "joulin2015-table4 --train FILE --valid FILE --test FILE" in shown
    results = read_grid("joulin2015-table4", tmp_path) or GridResults("", "", "")
    assert [row.name for row in results.rows] == list(SMALL)
    assert all(1 < row.networks[0].scores["test perplexity"] < 6 for row in results.rows)
    assert all(row.texts.startswith("train.txt ") and row.texts.count(", ") == 2 for row in results.rows)
    kept = (tmp_path / "joulin2015-table4.json").read_bytes()
    papers("run", "joulin2015-table4", *texts, *there)
    assert (tmp_path / "joulin2015-table4.json").read_bytes() == kept
    Path(texts[1]).write_text("one two\n" * 50, encoding="utf-8")
    with pytest.raises(FileFormatError, match="the word 'three' is not in"):
        papers("run", "joulin2015-table4", *texts, *there)  # another text, so it is trained again


def test_one_text_is_split_and_told_from_others(
    tmp_path: Path, texts: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLE_4, "networks", {name: SMALL[name] for name in ("RNN", "N-gram", "N-gram + cache")})
    shown = " ".join(papers("run", "joulin2015-table4", "--text", texts[1], "--results", tmp_path).split())
    results = read_grid("joulin2015-table4", tmp_path) or GridResults("", "", "")
    scores = {row.name: row.networks[0].scores for row in results.rows}
    assert all(row.texts.startswith("train.txt ") and ", " not in row.texts for row in results.rows)
    assert all(" --text FILE --fresh" in row.command for row in results.rows)
    assert f"text {results.rows[0].texts}" in shown
    assert all(1 < one["test perplexity"] < 8 for one in scores.values())
    plain, cached = scores["N-gram"], scores["N-gram + cache"]
    assert cached["validation perplexity"] <= plain["validation perplexity"]
    assert set(cached) - set(plain) == {"cache words", "cache weight"}


def test_without_a_text_it_says_what_it_needs(tmp_path: Path, texts: list[str | Path]) -> None:
    there = ("--results", tmp_path)
    with pytest.raises(
        StacklensError, match="needs a text: --text FILE, a verse or sentence a line, which is split; or --train"
    ):
        papers("run", "joulin2015-table4", *there)
    with pytest.raises(
        StacklensError, match="joulin2015-table4 needs --text alone, or all of --train, --valid, --test"
    ):
        papers("run", "joulin2015-table4", *texts[:4], *there)
    with pytest.raises(StacklensError, match="joulin2015-table4 needs --text alone"):
        papers("run", "joulin2015-table4", *texts, "--text", texts[1], *there)
    with pytest.raises(FileFormatError, match=r"missing.txt: no such file; expected a text"):
        papers("run", "joulin2015-table4", "--text", tmp_path / "missing.txt", *there)
    with pytest.raises(FileFormatError, match=r"missing.txt: no such file; expected a text"):
        papers("run", "joulin2015-table4", *texts[:4], "--test", tmp_path / "missing.txt", *there)
    with pytest.raises(StacklensError, match="no paper protocol"):
        papers("run", "joulin2015-table4", *texts, "--protocol", "paper", *there)
    with pytest.raises(StacklensError, match="joulin2015-table2 needs no text: leave out --train, --valid, --test"):
        papers("run", "joulin2015-table2", *texts, *there)
