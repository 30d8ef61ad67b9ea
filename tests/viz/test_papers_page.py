"""The papers' tables without a browser: what the server answers for every one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.viz.page_client import asked, filled

from stacklens.core.errors import FileFormatError
from stacklens.papers.grid import Grid, GridResults, GridRow, Network, Outcome, RowResult, RunSettings
from stacklens.papers.results import Measured, Results, read_results
from stacklens.papers.runner import EXPERIMENTS
from stacklens.viz.dashboard import drawers
from stacklens.viz.papers import (
    FATES,
    VERIFY,
    PaperTables,
    curve_figure,
    fate_of,
    frame_of,
    grid_figures,
    paper_tables,
    score_figure,
    step_tables,
    table_names,
    traces_figure,
)

NAME = "nnpda-1n0n"


@pytest.mark.parametrize("name", list(table_names()))
def test_every_experiment_shows_its_tables_with_their_lines(name: str, client: FlaskClient) -> None:
    tables = paper_tables(name).tables
    found = filled(client, "papers", network=NAME, table=name)
    assert found.of_type("Code")[0]["children"] == paper_tables(name).command
    assert len(found.of_type("AgGrid")) == len(tables)
    titles, captions = [one["children"] for one in found.of_type("H3")], found.said[1:]
    for place, table in enumerate(tables):
        assert [list(row.values()) for row in found.table(table.title)] == frame_of(table).to_numpy().tolist()
        assert (titles[place], captions[place]) == (table.title, table.caption)
        exec(found.lines[place], {})


def test_all_tables_are_listed(client: FlaskClient) -> None:
    assert {one["name"]: one["what"] for one in asked(client, "papers")["tables"]} == table_names()


def test_an_experiment_with_figures_shows_them(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    table = paper_tables("sun1993-claims").tables[0]
    drawn = PaperTables("A paper", "two models", "a command", True, (table,), tuple(grid_figures(GRID, results())))
    monkeypatch.setattr(drawers, "paper_tables", lambda _: drawn)
    found = filled(client, "papers", network=NAME, table="a-grid", theme="dark")
    (figure,) = found.figures
    assert found.of_type("H3")[-1]["children"] == "test"
    assert figure["layout"]["paper_bgcolor"] == "#16181D"
    assert figure["data"][0]["x"] == list(drawn.figures[0].data[0].x)


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


ROWS = (GridRow("RNN", {"network": "RNN"}, nothing), GridRow("Stack RNN", {"network": "Stack RNN"}, nothing))
CURVE = Grid("curve", "A paper", "over n", ROWS, ("n = 5", "n = 5 rounded"), ("chosen",), across="network")


def curve_results() -> GridResults:
    worse = Network(0, {"n = 5": 0.0, "n = 10": 0.0, "validation": 0.1}, False)
    better = Network(1, {"n = 10": 0.5, "n = 5": 1.0, "n = 5 rounded": 0.75, "validation": 0.9}, True)
    row = RowResult("Stack RNN", "fast", (0, 1), 1.0, "cpu", (worse, better), {}, {}, "")
    return GridResults("A paper", "curve", "over n", (row,))


def measured(figures: dict[str, Any]) -> Results:
    claim = Measured("1", "what", "theirs", "ours", "a command", 0.0, figures)
    return Results("A paper", "x", "x", (claim,), (0,), {}, 0.0)


def test_a_curve_is_the_chosen_network_over_all_sizes_that_were_measured() -> None:
    (line,) = [one for one in curve_figure(CURVE, curve_results()).data if one.name == "Stack RNN"]
    assert list(zip(line.x, line.y, strict=True)) == [(5, 1.0), (10, 0.5)]


def test_the_steps_that_were_measured_for_sun_et_al_are_there() -> None:
    results = read_results("sun1993-claims")
    words = [
        word
        for claim in results.claims
        for word, found in claim.figures.items()
        if isinstance(found, dict) and "steps" in found
    ]
    rows = [row for table in step_tables(results) for row in table.rows]
    assert len(rows) == sum(map(len, words))


def network(seed: int, shares: list[float], last: float, falling: float) -> dict[str, Any]:
    trace = {str(100 * place): share for place, share in enumerate(shares)}
    test = {"last": last, "best on the way": 1.0, "rate falling": falling}
    return {"seed": seed, "test": test, "trace": trace, "trace, rate falling": {"200": shares[2], "300": falling}}


NETWORKS = [
    network(0, [0, 1.0, 0.4, 0.2], 0.2, 1.0),
    network(1, [0, 0.2, 1.0, 1.0], 0.995, 0.995),
    network(2, [0, 0.2, 0.3, 0.5], 0.5, 0.98),
]


def traced_results(rows: int) -> Results:
    figures = [{"row": f"row {number}", "networks": NETWORKS} for number in range(rows)]
    claims = tuple(Measured("5", "c", "p", "o", "x", 1.0, one) for one in figures)
    return Results("A paper", "a-traces", "t", claims, (0, 1, 2), {}, 1.0)


def test_what_became_of_a_network_is_told_from_its_trace_and_its_end() -> None:
    assert [fate_of(one) for one in NETWORKS] == [
        "learned, wrong in the end",
        "learned, right in the end",
        "never learned",
    ]
    assert [fate_of(one, "rate falling") for one in NETWORKS] == [
        "learned, right in the end",
        "learned, right in the end",
        "never learned",
    ]


def test_every_network_has_a_line_in_each_panel_and_every_fate_one_name() -> None:
    figure = traces_figure(traced_results(2))
    assert len(figure.data) == 2 * 2 * len(NETWORKS)
    assert sorted(line.name for line in figure.data if line.showlegend) == sorted(FATES)
    assert {line.line.color for line in figure.data} == {colour for colour, _ in FATES.values()}
    assert [note.text for note in figure.layout.annotations][:2] == [
        "row 0, one rate: 1 of 3 in the end",
        "row 0, rate falling in the last epoch: 2 of 3 in the end",
    ]
    one, falling = figure.data[0], figure.data[3]
    assert (list(one.x), list(one.y)) == ([0, 100, 200, 300], [0, 1.0, 0.4, 0.2])
    assert (list(falling.x), list(falling.y)) == ([0, 100, 200, 300], [0, 1.0, 0.4, 1.0])
