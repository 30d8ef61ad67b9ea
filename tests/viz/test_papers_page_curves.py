"""The papers' own figures, from what was measured: accuracy over n, counts, and steps on single words."""

from __future__ import annotations

from typing import Any

from tests.viz.test_papers_page_tables import nothing

from stacklens.papers.grid import Grid, GridResults, GridRow, Network, RowResult
from stacklens.papers.results import Measured, Results, read_results
from stacklens.viz.papers import curve_figure, step_tables

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
