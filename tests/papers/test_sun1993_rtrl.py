from __future__ import annotations

import math
from functools import cache

import pytest

from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.results import Measured, Results
from stacklens.papers.runner import run_experiment
from stacklens.papers.sun1993_training import RtrlSizes, rtrl_experiment

SMALL = RtrlSizes(nets=2, epochs=40)


@cache
def measured() -> Results:
    return run_experiment(rtrl_experiment(SMALL))


def find(*words: str) -> Measured:
    (found,) = (claim for claim in measured().claims if all(word in claim.claim for word in words))
    return found


def test_the_two_ways_to_the_papers_gradient_agree() -> None:
    assert find("carried forward and propagated back").figures["largest_relative_difference"] < 1e-9


@pytest.mark.parametrize("recipe", ["parentheses", "1n0n", "as printed", "without the driving force"])
def test_gradients_are_compared_before_and_after_training(recipe: str) -> None:
    claim = find(recipe, "against the exact one")
    for stage in ("before", "after"):
        cosines = claim.figures[stage]["cosines"]
        assert len(cosines) == 2
        for cosine, off in zip(cosines, claim.figures[stage]["relative_differences"], strict=True):
            nearest = math.sqrt(max(0.0, 1 - cosine**2)) if cosine > 0 else 1.0  # by vectors at such an angle
            assert off >= nearest - 1e-6
    assert claim.ours.startswith("before: cosine ")


@pytest.mark.parametrize(
    ("recipe", "length"), [("parentheses", 12), ("1n0n", 12), ("as printed", 8), ("without the driving force", 8)]
)
def test_learning_is_compared_on_the_same_seeds(recipe: str, length: int) -> None:
    figures = find(recipe, "learning by").figures
    assert (figures["nets"], figures["check_length"]) == (2, length)
    for kind in ("exact", "rtrl"):
        assert figures[kind]["epochs"] == 40
        assert len(figures[kind]["learned_after"]) == 2
        assert all(epochs is None or epochs % 10 == 0 for epochs in figures[kind]["learned_after"])
        assert 0 <= figures[kind]["analog_exact"] <= 2
        assert 0 <= figures[kind]["analog_exact_beyond"] <= 2


def test_networks_that_have_learned_are_counted_with_their_epochs() -> None:
    claim = find("parentheses", "learning by")
    for kind, name in (("exact", "Exact gradients"), ("rtrl", "RTRL")):
        told = [epochs for epochs in claim.figures[kind]["learned_after"] if epochs is not None]
        assert f"{name}: {len(told)} learn their words" in claim.ours


def test_the_experiment_takes_ten_seeds_unless_told_otherwise() -> None:
    experiment = EXPERIMENTS["sun1993-rtrl"]()
    assert experiment.seeds == tuple(range(10))
