"""What all tables say together: every network is counted once, under the best that can be said of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network, RowResult
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


def test_an_extraction_that_was_given_up_has_no_automaton() -> None:
    given_up = {"status": 3, "reason": "it took more than 10 s"}
    assert outcome_of(Network(0, {}, True, given_up)) == "no automaton"
    assert len(horizons_figure(trained_networks([results(Network(0, {}, True, given_up))])).data) == 0


def test_every_network_is_in_one_bar_of_its_row() -> None:
    networks = trained_networks([everything()])
    bars = outcomes_figure(networks).data
    counts = Counter(outcome_of(one.network) for one in networks)
    assert {bar.name: sum(bar.x) for bar in bars} == dict(counts)
    assert {row for bar in bars for row in bar.y} == {"a-table: a row"}


def test_networks_without_a_stack_of_which_nothing_was_looked_into_are_left_out() -> None:
    failed, looked_into = Network(0, {}, False), Network(1, {}, True, extraction(3))
    assert trained_networks([results(failed, stacks=False)]) == []
    assert [one.network for one in trained_networks([results(failed)])] == [failed]
    assert [one.network for one in trained_networks([results(failed, looked_into, stacks=False)])] == [
        failed,
        looked_into,
    ]


def test_every_network_that_was_looked_into_is_a_mark_with_its_measures() -> None:
    marks = horizons_figure(trained_networks([everything()])).data
    assert [mark.name for mark in marks] == list(OUTCOMES)[:-1]
    assert all((mark.x[0], mark.y[0]) == (0.3, 20) for mark in marks)
    assert len({(mark.marker.color, mark.marker.symbol) for mark in marks}) == len(marks)
