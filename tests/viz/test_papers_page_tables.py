"""The papers' tables by name: what was measured, what was not, and a dot for every network."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacklens.core.errors import FileFormatError
from stacklens.papers.grid import Grid, GridResults, GridRow, Network, Outcome, RowResult, RunSettings
from stacklens.papers.results import read_results
from stacklens.papers.runner import EXPERIMENTS
from stacklens.viz.papers import VERIFY, frame_of, paper_tables, score_figure, table_names


def nothing(settings: RunSettings) -> list[Outcome]:
    raise AssertionError(f"nothing is trained here: {settings}")


GRID = Grid(
    "a-grid",
    "A paper",
    "two models",
    (
        GridRow("one", {"model": "one"}, nothing, {"test min": "10.0", "test max": "90.5 %", "training min": "99"}),
        GridRow("two", {"model": "two"}, nothing, {"test median": "not reported"}),
        GridRow("three", {"model": "three"}, nothing, {"test mean": "50"}),
    ),
    scores=("training", "test"),
)


def results() -> GridResults:
    networks = tuple(Network(seed, {"test": 0.25 * seed}, True) for seed in range(3))
    row = RowResult("one", "fast", (0, 1, 2), 1.0, "cpu", networks, {}, {}, "")
    return GridResults("A paper", "a-grid", "two models", (row,))


def test_every_experiment_and_the_table_of_networks_have_a_name_and_a_table() -> None:
    names = table_names()
    assert list(names) == [*EXPERIMENTS, VERIFY]
    for name in names:
        found = paper_tables(name)
        assert found.paper in names[name]
        assert found.command.startswith("stacklens ")
        assert all(len(frame_of(table).columns) == len(table.columns) for table in found.tables)


def test_the_claims_of_a_paper_stand_beside_ours() -> None:
    found, measured = paper_tables("sun1993-claims"), read_results("sun1993-claims")
    frame = frame_of(found.tables[0])
    assert found.measured
    assert found.command == "stacklens papers run sun1993-claims"
    assert frame["paper"].tolist() == [claim.paper for claim in measured.claims]
    assert frame["ours"].tolist() == [claim.ours for claim in measured.claims]


def test_what_was_not_measured_says_so_in_every_row(tmp_path: Path) -> None:
    for name in table_names():
        found = paper_tables(name, tmp_path)
        assert not found.measured
        assert not found.figures
        for row in found.tables[0].rows:
            assert any("not measured" in cell or "not run" in cell for cell in row)
    assert frame_of(paper_tables(VERIFY, tmp_path).tables[0]).empty
    assert paper_tables(VERIFY, tmp_path).tables[0].caption == "not measured"


def test_the_table_of_networks_has_a_row_each_with_its_verdicts() -> None:
    frame = frame_of(paper_tables(VERIFY).tables[0]).set_index("network")
    reversal = frame.loc["neural-stack-reversal"]
    assert (reversal["automaton"], reversal["proof"], reversal["certificate"]) == ("yes", "equal", "certified")
    assert reversal["differs from the rounded network"] == "0"
    ring = frame.loc["baby-ntm-dyck-2"]
    assert (ring["automaton"], ring["proof"]) == ("contradicted", "equal")
    assert "its ring as one stack" in ring["why not"]
    graded = frame.loc["lstm_reverse_task.dat"]
    assert graded["automaton"] == "none"
    assert graded["why not"].startswith("no number of states reproduces the rounded network")


@pytest.mark.parametrize("content", ["{", "[]", '{"networks": [{"network": "x.pt"}]}'])
def test_a_file_that_is_no_table_of_networks_says_what_writes_one(content: str, tmp_path: Path) -> None:
    (tmp_path / "verify.json").write_text(content, encoding="utf-8")
    with pytest.raises(FileFormatError, match="no table of networks; write it anew: `stacklens verify --all --report"):
        paper_tables(VERIFY, tmp_path)


def test_a_figure_has_a_dot_a_network_our_median_and_the_papers_numbers() -> None:
    figure = score_figure(GRID, results(), "test")
    ours, medians, theirs = figure.data
    assert list(zip(ours.y, ours.x, strict=True)) == [("one", 0.0), ("one", 25.0), ("one", 50.0)]
    assert list(zip(medians.y, medians.x, strict=True)) == [("one", 25.0)]
    assert list(zip(theirs.y, theirs.x, strict=True)) == [("one", 10.0), ("one", 90.5), ("three", 50.0)]
    assert list(figure.layout.yaxis.categoryarray) == ["three", "one"]
