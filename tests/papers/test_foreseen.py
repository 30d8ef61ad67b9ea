"""What can be known before extracting: right for whatever results hold, and the same text every time."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import numpy as np
import pytest

from stacklens.papers import foreseen_text
from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.foreseen import Foreseen, foreseen, separates
from stacklens.papers.foreseen_text import foreseen_figures
from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network, RowResult
from stacklens.papers.learned import family_of, task_of
from stacklens.papers.observations import PREDICTORS_USED, Observation, observations, values_of

FAMILIES, TASKS = 3, 4


def planted(n: int, slope: float, seed: int = 0, rarer: float = 0.5) -> tuple[Observation, ...]:
    """Return networks of which the drift tells "good" by so much, "read" is all and "proved" nearly all."""
    draw = np.random.default_rng(seed)
    found = []
    for k in range(n):
        logs = draw.normal(size=len(PREDICTORS_USED)) - 3
        good = draw.random() < 1 / (1 + np.exp(np.log(1 / rarer - 1) - slope * (logs[2] + 3)))
        family, task = f"family {k % FAMILIES}", f"task {k % TASKS}"
        found.append(Observation(family, task, tuple(10**logs), (True, k > 3, bool(good))))
    return tuple(found)


def said(found: tuple[Observation, ...], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the figures of the text where these networks are what was measured."""
    monkeypatch.setattr(foreseen_text, "observations", lambda _: found)
    foreseen.cache_clear()
    return foreseen_figures([])


def test_what_is_planted_is_found_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = said(planted(80, slope=2.0), monkeypatch)
    assert figures["foreseen answer"].startswith(
        "On tasks that it has not seen the model predicts better than both the rate of the family and the share of "
        "all: “nothing contradicts it”. Too few networks, or too few that differ in it, to hold tasks out, so that "
        "nothing is claimed: “an automaton is read”, “proved"
    )
    good = figures["foreseen outcomes"].splitlines()[2]
    assert re.search("odds ratios apart from one: .*output drift [1-9]", good)
    assert re.search(r"With tasks held out it is better: a gain in error of 0\.\d+ over the family's rate \(0\.", good)
    assert "With families held out it is" in good
    assert "| output drift |" in figures["foreseen odds"]
    assert figures["foreseen odds apart from one"].endswith("of 9")
    entropy = next(line for line in figures["foreseen odds"].splitlines() if line.startswith("| action entropy |"))
    assert entropy.endswith(" | – |")  # not in the model of all
    assert -0.4 < float(figures["entropy and margin"]) < 0.4  # drawn apart


def test_nothing_planted_nothing_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = said(planted(80, slope=0.0, seed=3), monkeypatch)
    assert figures["foreseen answer"].startswith("It is not shown that, on tasks it has not seen")
    assert "With tasks held out it is not shown to be better or worse" in figures["foreseen outcomes"]


def test_another_order_of_the_networks_which_is_other_round_off_gives_the_same_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = planted(60, slope=1.0, seed=1)
    figures = said(found, monkeypatch)
    mixed = random.Random(0).sample(found, len(found))
    assert said(tuple(mixed), monkeypatch) == figures


def test_few_networks_are_called_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    for found in ((), planted(1, 2.0), planted(39, 2.0)):
        figures = said(found, monkeypatch)
        assert figures["foreseen networks"] == str(len(found))
        assert figures["foreseen answer"].startswith("Too few networks, or too few that differ in it, to hold")
        assert figures["foreseen outcomes"].count(f"too few networks: {len(found)}, of 40 at least") == 3
        assert figures["foreseen odds apart from one"] == "0 of 0"
        assert (figures["entropy and margin"] == "not known") == (len(found) < 3)
        assert figures["foreseen calibration"] == "(Calibration, every task held out: no model.)"


def test_networks_that_are_nearly_all_alike_or_of_one_family_have_no_model() -> None:
    known = foreseen(planted(60, 2.0))
    assert known["read"].too_few == "nearly all alike: 0 of 60 networks are without it, of 10 at least"
    assert known["proved"].too_few == "nearly all alike: 4 of 60 networks are without it, of 10 at least"
    one = tuple(replace(net, family="family 0") for net in planted(60, 2.0))
    assert foreseen(one)["good"].too_few == "networks of one task or one family only"


def test_a_task_that_holds_nearly_all_failures_cannot_be_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tuple(replace(net, came_to=(True, True, net.task != "task 1")) for net in planted(44, 2.0))
    told = said(found, monkeypatch)["foreseen outcomes"]
    why = "without task 1 only 0 networks of the rarer outcome are left"
    assert f"No task can be held out: {why}." in told
    known = foreseen(found)["good"]
    assert known.cannot == {"task": why}
    assert list(known.held) == ["family"]


def test_two_groups_cannot_be_held_out() -> None:
    found = tuple(replace(net, family=f"family {k % 2}") for k, net in enumerate(planted(44, 2.0, seed=2)))
    assert foreseen(found)["good"].cannot == {"family": "there are 2 only"}


def test_separation_is_seen_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tuple(
        replace(net, came_to=(True, True, bool((net.values[2] or 0) > 1e-3))) for net in planted(44, 0.0, seed=5)
    )
    figures = said(found, monkeypatch)
    assert "tell all networks apart, so how large these are is a matter of the prior" in figures["foreseen outcomes"]
    values = values_of(found)
    assert separates(np.array([one["good"] for one in found]), values)
    assert not separates(np.array([one["good"] for one in found[::-1]]), values)


def test_a_fit_without_an_end_claims_nothing() -> None:
    lost = Foreseen("good", 30, 60, settled=False)
    assert foreseen_text._sentences(lost).endswith("did not converge: nothing is claimed.")


def test_networks_of_results_are_those_that_learned_and_were_measured_and_tried() -> None:
    values = dict.fromkeys(PREDICTORS_USED, 0.01) | {"drift by step": {"steps": [10, 12], "outputs": [0.1, None]}}
    extraction = {"status": 1, "proof": {"verdict": "equal"}, "seconds": 1.0}
    network = Network(0, {"test": 1.0}, True, extraction, {"predictors": values})
    nets = (
        network,
        replace(network, seed=1, converged=False),
        replace(network, seed=2, measures=None),
        replace(network, seed=3, extraction=None),
        replace(network, seed=4, extraction={"status": 3, "seconds": 1.0}),
        replace(network, seed=5, extraction={**extraction, "status": 0}),
    )
    rows = (
        GridRow("Net+Softmax", {"task": "XOR"}, lambda _: []),
        GridRow("RNN", {"task": "XOR"}, lambda _: [], stacks=False),
    )
    runs = tuple(RowResult(row.name, "fast", tuple(range(6)), 1.0, "cpu", nets, {}, {}, "") for row in rows)
    grid = Grid("toy", "Nobody 1993", "t", rows, ("test",))
    measured = [(grid, GridResults("", "toy", "", runs))]
    found = observations(measured)
    assert [one.came_to for one in found] == [(True, True, False), (False, False, False), (True, True, True)]
    assert {(one.family, one.task) for one in found} == {("Nobody 1993: Net", "xor")}
    assert found[0].values == (0.01,) * len(PREDICTORS_USED)
    assert foreseen_figures(measured)["foreseen without a value"] == "none of any"
    drift = foreseen_figures(measured)["drift by length"]
    assert "| network | 10 |\n| --- | --- |\n| nothing contradicts it | 0.1 (1) |\n| all others | 0.1 (2) |" in drift


GRIDS = [grid for build in EXPERIMENTS.values() if isinstance(grid := build(), Grid)]


def test_every_row_with_a_memory_has_a_family_and_no_other() -> None:
    assert all((family_of(grid, row) is None) is not row.stacks for grid in GRIDS for row in grid.rows)


def test_every_row_has_a_task_that_is_no_name_of_a_table() -> None:
    learned = {task_of(grid, row) for grid in GRIDS for row in grid.rows if row.stacks}
    assert not learned & {grid.name for grid in GRIDS}
    assert {"D2", "D3", "D6", "reversal", "simple palindromes", "binary addition"} <= learned
