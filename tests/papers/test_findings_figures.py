"""What all tables say together: every network is counted once, under the best that can be said of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from docs.findings.figures import OUTCOMES, horizons_figure, outcomes_figure, shown
from docs.findings.load import networks, outcome_of
from tests.architecture.docs_scripts import docs_script

from stacklens.papers.grid import Grid, GridResults, GridRow, Network, RowResult


def extraction(status: int, proof: str = "equal", certificate: str = "not certified", **more: Any) -> dict[str, Any]:
    automaton = None if status == 3 else {"states": 1}
    verdicts = {"proof": {"verdict": proof}, "certificate": {"verdict": certificate}}
    horizon = {"rounded network": {"shortest_difference": {"length": 20}}}
    measures = {"action_margin": 0.3, "horizon": horizon, "seconds": 1.0}
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
    found = shown(networks([everything()]))
    bars = outcomes_figure(found).data
    counts = Counter(found.outcome)
    assert {bar.name: sum(bar.x) for bar in bars} == dict(counts)
    assert {row for bar in bars for row in bar.y} == {"a-table: a row"}


def test_every_network_that_was_looked_into_is_a_mark_with_its_measures() -> None:
    marks = horizons_figure(shown(networks([everything()]))).data
    assert [mark.name for mark in marks] == list(OUTCOMES)[:-1]
    assert all((mark.x[0], mark.y[0]) == (0.3, 20) for mark in marks)
    assert len({(mark.marker.color, mark.marker.symbol) for mark in marks}) == len(marks)


def test_restarts_are_shown_apart_and_those_above_the_average_entropy_are_not_in_the_mean() -> None:
    scores = [{"n = 10": 0.6, "n = 5": 1.0}, {"n = 10": 0.4, "n = 5": 0.8}, {"n = 10": 0.0, "n = 5": 0.0}]
    for unlikely in ({"entropy": (0.1, 0.2, 0.9)}, {"validation": (0.9, 0.8, 0.1)}):
        (name, of), *_ = unlikely.items()
        nets = [Network(seed, {**one, name: of[seed], "n = 5 rounded": 0.0}, False) for seed, one in enumerate(scores)]
        (done,) = results(*nets)[1].rows
        *lines, mean = docs_script("addition").restarts_figure(done).data
        assert [(line.name, line.line.dash) for line in lines] == [
            ("seed 0", "solid"),
            ("seed 1", "solid"),
            ("seed 2, would be restarted", "dot"),
        ]
        assert [tuple(line.y) for line in lines] == [(1.0, 0.6), (0.8, 0.4), (0.0, 0.0)]
        assert mean.x == (5, 10)
        assert mean.y == pytest.approx((0.9, 0.5))
