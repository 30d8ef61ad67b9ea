"""Intervals of shares over rows hold what is true as often as they say, where networks of a row are alike."""

from __future__ import annotations

import re

import numpy as np
import pytest

from stacklens.papers.intervals import counted, counted_in_rows, wilson


def ends(text: str) -> tuple[float, float]:
    found = re.search(r"interval (\d+) to (\d+)", text)
    assert found is not None
    return int(found[1]) - 0.5, int(found[2]) + 0.5  # as printed, to a percent


@pytest.mark.parametrize(("rows", "a", "b"), [(10, 1, 1), (40, 1, 1), (30, 5, 1), (100, 0.5, 0.5)])
def test_the_interval_holds_the_true_share_where_rows_differ(rows: int, a: float, b: float) -> None:
    rng, true, held, naive = np.random.default_rng(1), 100 * a / (a + b), 0, 0
    for _ in range(200):
        sizes = rng.integers(1, 11, rows)
        hits = rng.binomial(sizes, rng.beta(a, b, rows))
        low, high = ends(counted_in_rows(zip(hits.tolist(), sizes.tolist(), strict=True)))
        held += low <= true <= high
        low, high = ends(counted(int(hits.sum()), int(sizes.sum())))
        naive += low <= true <= high
    assert held >= 180  # 190 of 200 are meant; 180 or fewer come by chance once in some hundred times
    assert naive < held


def test_rows_of_one_network_each_are_networks() -> None:
    rows = [(1, 1)] * 30 + [(0, 1)] * 20
    low, high = ends(counted_in_rows(rows))
    assert (low + 0.5) / 100 == pytest.approx(wilson(30, 50)[0], abs=0.011)
    assert (high - 0.5) / 100 == pytest.approx(wilson(30, 50)[1], abs=0.011)


def test_networks_never_tell_more_than_their_number() -> None:
    alike = [(1, 2)] * 20  # less spread than chance would give
    low, high = ends(counted_in_rows(alike))
    assert high - low >= 100 * (wilson(20, 40)[1] - wilson(20, 40)[0])
    assert counted_in_rows([]) == counted_in_rows([(0, 0)]) == "0 of 0"
