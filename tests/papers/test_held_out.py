"""What is predicted of groups held out: measures against plain twins, and nothing of a group is seen beforehand."""

from __future__ import annotations

import itertools
import statistics

import numpy as np
import pytest

from stacklens.papers.held_out import HeldOut, auc, auc_within, brier, calibration, hold_out
from stacklens.papers.intervals import wilson
from stacklens.papers.mixed_logistic import members_of

RANDOM = np.random.default_rng(7)
SEEN = RANDOM.integers(0, 2, 60)
CHANCES = RANDOM.random(60).round(1)  # many are equal
GROUPS = [f"g{k}" for k in RANDOM.integers(0, 5, 60)]


def pairs_won(chosen: list[int]) -> float | None:
    won = [
        1.0 if CHANCES[a] > CHANCES[b] else 0.5 if CHANCES[a] == CHANCES[b] else 0.0
        for a, b in itertools.product(chosen, chosen)
        if SEEN[a] == 1 and SEEN[b] == 0
    ]
    return statistics.fmean(won) if won else None


def test_order_and_distance_are_those_of_all_pairs_counted_one_by_one() -> None:
    assert auc(SEEN, CHANCES) == pytest.approx(pairs_won(list(range(60))))
    assert brier(SEEN, CHANCES) == pytest.approx(
        statistics.fmean((c - s) ** 2 for c, s in zip(CHANCES, SEEN, strict=True))
    )
    assert auc(np.ones(3), np.ones(3)) is None


def test_order_within_groups_takes_pairs_of_one_group_only() -> None:
    won, number = 0.0, 0
    for group in set(GROUPS):
        chosen = [k for k in range(60) if GROUPS[k] == group]
        own = sum(SEEN[k] for k in chosen) * sum(1 - SEEN[k] for k in chosen)
        won += own * (pairs_won(chosen) or 0.0)
        number += own
    assert auc_within(SEEN, CHANCES, GROUPS) == pytest.approx(won / number)
    assert auc_within(np.array([0, 1]), np.array([0.1, 0.9]), ["a", "b"]) is None


def test_calibration_counts_every_network_once_in_its_step() -> None:
    steps = calibration(SEEN, CHANCES)
    assert sum(step.of for step in steps) == 60
    assert sum(step.hits for step in steps) == SEEN.sum()
    for step in steps:
        last = 1.01 if step.high == 1 else step.high
        own = [k for k in range(60) if step.low <= CHANCES[k] < last]
        assert (step.hits, step.of) == (sum(SEEN[k] for k in own), len(own))
        assert step.mean == pytest.approx(statistics.fmean(CHANCES[k] for k in own))
        assert step.interval == wilson(step.hits, step.of)


def test_the_gain_has_students_interval_over_groups() -> None:
    seen, groups = np.array([0, 1] * 4), tuple("aabbccdd")  # of one size: a mean of means
    model, rates = RANDOM.random(8), RANDOM.random(8)
    gains = (rates - seen) ** 2 - (model - seen) ** 2
    means = gains.reshape(4, 2).mean(1)
    half = 3.182446 * means.std(ddof=1) / 2
    held = HeldOut(groups, seen, model, rates, rates, settled=True)
    assert held.gain(rates) == pytest.approx((means.mean(), means.mean() - half, means.mean() + half))


def drawn() -> tuple[np.ndarray, np.ndarray, list[str], list[str]]:
    random = np.random.default_rng(11)
    families = [f"family {k}" for k in random.integers(0, 4, 160)]
    tasks = [f"task {k}" for k in random.integers(0, 5, 160)]
    values = random.normal(size=(160, 2))
    seen = (random.random(160) < 1 / (1 + np.exp(-2 * values[:, 0]))).astype(int)
    return seen, values, families, tasks


def test_nothing_of_a_group_that_is_held_out_has_a_part_in_what_is_predicted_of_it() -> None:
    seen, values, families, tasks = drawn()
    members = members_of(families, tasks)
    before = hold_out(seen, values, members, tasks, families)
    out = np.array(tasks) == "task 2"
    one = int(np.flatnonzero(out)[0])
    seen[out] = 1 - seen[out]
    values[out & (np.arange(160) != one)] = 100.0
    after = hold_out(seen, values, members, tasks, families)
    assert after.model[one] == before.model[one]
    assert (after.rates[out] == before.rates[out]).all()
    assert (after.overall[out] == before.overall[out]).all()
    assert not np.allclose(after.model[~out], before.model[~out])  # which saw it


def test_rates_are_those_of_the_family_on_other_tasks_drawn_to_the_share_of_all() -> None:
    seen, values, families, tasks = drawn()
    held = hold_out(seen, values, members_of(families, tasks), tasks, families)
    assert held.settled
    assert held.groups == tuple(tasks)
    others = [k for k in range(160) if tasks[k] != tasks[0]]
    share = statistics.fmean(seen[k] for k in others)
    own = [seen[k] for k in others if families[k] == families[0]]
    assert held.overall[0] == pytest.approx(share, abs=1e-6)
    assert held.rates[0] == pytest.approx((sum(own) + 2 * share) / (len(own) + 2), abs=1e-6)
    assert held.gain(held.rates)[1] > 0  # the planted predictor tells more
    assert (auc(seen, held.model) or 0) > 0.8
