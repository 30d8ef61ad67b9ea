"""What all tables say together: every network is counted once, under the best that can be said of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from stacklens.papers.foreseen import Foreseen
from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network, RowResult
from stacklens.papers.held_out import HeldOut
from stacklens.viz.calibration import calibration_figure
from stacklens.viz.paper_figures import OUTCOMES, horizons_figure, outcome_of, outcomes_figure, trained_networks


def extraction(status: int, proof: str = "equal", certificate: str = "not certified", **more: Any) -> dict[str, Any]:
    automaton = None if status == 3 else {"states": 1}
    verdicts = {"proof": {"verdict": proof}, "certificate": {"verdict": certificate}}
    horizon = {"rounded network": {"shortest_difference": {"length": 20}}}
    measures = {"action_margin": 0.3, "horizon": horizon}
    return {"status": status, "automaton": automaton, **verdicts, **measures, **more}


FOUND: dict[str, dict[str, Any] | None] = {
    "certified": extraction(0, certificate="certified"),
    "extracted, proved": extraction(0),
    "extracted": extraction(0, proof="undecided"),
    "proved, and the network leaves it": extraction(1),
    "extracted, contradicted": extraction(1, proof="different"),
    "no automaton": extraction(3),
    "not converged": None,
}


def results(*networks: Network, stacks: bool = True) -> tuple[Grid, GridResults]:
    seeds = tuple(network.seed for network in networks)
    row = RowResult("a row", "fast", seeds, 1.0, "cpu", networks, {}, {}, "")
    grid = Grid("a-table", "a paper", "a title", (GridRow("a row", {}, lambda _: [], stacks=stacks),), ())
    return grid, GridResults("a paper", "a-table", "a title", (row,))


def everything() -> tuple[Grid, GridResults]:
    return results(*(Network(seed, {}, found is not None, found) for seed, found in enumerate(FOUND.values())))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_network_is_called_by_the_best_that_can_be_said_of_it(outcome: str) -> None:
    assert outcome_of(Network(0, {}, True, FOUND[outcome])) == outcome


def test_every_network_is_in_one_bar_of_its_row() -> None:
    networks = trained_networks([everything()])
    bars = outcomes_figure(networks).data
    counts = Counter(outcome_of(one.network) for one in networks)
    assert {bar.name: sum(bar.x) for bar in bars} == dict(counts)
    assert {row for bar in bars for row in bar.y} == {"a-table: a row"}


def test_every_network_that_was_looked_into_is_a_mark_with_its_measures() -> None:
    marks = horizons_figure(trained_networks([everything()])).data
    assert [mark.name for mark in marks] == list(OUTCOMES)[:-1]
    assert all((mark.x[0], mark.y[0]) == (0.3, 20) for mark in marks)
    assert len({(mark.marker.color, mark.marker.symbol) for mark in marks}) == len(marks)


def test_calibration_shows_what_came_true_of_what_was_predicted_and_says_where_there_is_no_model() -> None:
    seen, chances = np.array([0, 1, 1, 1]), np.array([0.1, 0.1, 0.9, 0.7])
    held = HeldOut(("a", "a", "b", "b"), seen, chances, chances, chances, settled=True)
    figure = calibration_figure([Foreseen("good", 3, 4, held={"task": held}), Foreseen("read", 4, 4, "too few")])
    diagonal, marks = figure.data
    assert (diagonal.x, diagonal.y) == ((0, 100), (0, 100))
    assert marks.name == "nothing contradicts it"
    np.testing.assert_allclose(np.array([marks.x, marks.y]), [[10, 70, 90], [50, 100, 100]])
    assert [text.strip() for text in marks.text] == ["2", "1", "1"]
    assert marks.error_y.array[0] == pytest.approx(100 * 0.9055 - 50, abs=0.1)
    assert not figure.layout.annotations
    (nothing,) = calibration_figure([Foreseen("read", 4, 4, "too few")]).layout.annotations
    assert nothing.text == "no model: too few networks, or nearly all alike"
