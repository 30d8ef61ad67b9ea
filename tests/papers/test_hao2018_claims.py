"""How networks use their stacks: measured on networks made by hand of which it is known, and run small."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import ZOO, load_checkpoint
from stacklens.papers import hao2018 as hao2018_claims
from stacklens.papers.grid import Outcome, RunSettings
from stacklens.papers.hao2018 import claims_experiment, stack_use, trained_networks
from stacklens.papers.results import read_results
from stacklens.papers.runner import run_experiment

TINY = RunSettings((0, 1), scale=0.02)


def from_the_zoo(name: str) -> StackModel[Any]:
    return load_checkpoint(ZOO / f"{name}.pt").model


def test_every_statement_can_be_measured() -> None:
    trained_networks.cache_clear()
    results = run_experiment(claims_experiment(TINY))
    assert len(results.claims) == 8
    for claim in results.claims:
        networks = claim.figures["networks"]
        assert [one["seed"] for one in networks] == [0, 1]
        assert all(0 <= one["accuracy"] <= 1 for one in networks)
        assert claim.section == "6"
        assert claim.ours


def test_networks_are_those_of_the_table() -> None:
    from stacklens.papers.hao2018 import table1

    (row,) = (row for row in table1().rows if row.name == "Delayed XOR, linear")
    assert [one.scores for one in trained_networks(row.name, TINY)] == [one.scores for one in row.train(TINY)]


def measured(monkeypatch: pytest.MonkeyPatch, net: StackModel[Any], task: str, number: int) -> dict[str, Any]:
    """Return the figures of claim ``number`` for one network in place of those that would be trained."""
    outcomes = (Outcome(0, {}, net, task),)
    monkeypatch.setattr(hao2018_claims, "trained_networks", lambda _row, _settings: outcomes)
    return claims_experiment(RunSettings((0,))).claims[number].measure().figures


def test_a_network_that_reverses_words_pushes_them_and_pops_them(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = measured(monkeypatch, from_the_zoo("neural-stack-reversal"), "reversal", 0)
    assert figures["learned"] == 1
    (one,) = figures["networks"]
    assert one["accuracy"] == 1
    assert one["push while reading"] > 0.8
    assert one["pop while saying"] > 0.8
    assert one["pop while reading"] < 0.2
    assert 0.3 < one["without the stack"] < 0.7  # by guessing


def test_without_its_stack_or_its_pops_a_network_is_lost_that_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = measured(monkeypatch, from_the_zoo("neural-stack-reversal"), "reversal", 2)
    assert figures["lose"] == {"without the stack": 1, "without pops": 1}
    assert (figures["never_pop"], figures["uniform"]) == (0, 0)
    (one,) = figures["networks"]
    assert one["popping steps"] == pytest.approx(0.5, abs=0.1)  # half of every word is said
    assert one["largest pop"] > 0.8


def test_a_network_whose_gates_never_open_never_pops_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    net = from_the_zoo("neural-stack-reversal")
    task = get_task("reversal")
    net.load_state_dict({name: value * 0 for name, value in net.state_dict().items()})
    figures = measured(monkeypatch, net, task.name, 2)
    (one,) = figures["networks"]
    assert figures["lose"] == {"without the stack": 0, "without pops": 0}
    assert figures["uniform"] == 1
    assert one["deviation of pops"] == pytest.approx(0)
    assert one["accuracy"] == one["without the stack"] == one["without pops"]


def test_of_nothing_learned_nothing_is_said() -> None:
    trained_networks.cache_clear()
    finding = claims_experiment(replace(TINY, scale=0.01)).claims[1].measure()
    assert finding.ours.startswith("0 of 2 learn it; 0 of these push")
    assert finding.ours.endswith("medians – and –")


def test_what_the_page_says_is_what_was_measured() -> None:
    found = {
        claim.claim.rpartition("(")[2].rstrip(")"): claim.figures for claim in read_results("hao2018-claims").claims
    }
    assert (found["Reversal, linear"]["learned"], found["Reversal with excluded, linear"]["learned"]) == (9, 8)
    assert found["Reversal with excluded, linear"]["push_included_only"] == 8
    linear = found["Parenthesis, linear"]
    assert linear["never_pop"] == 8
    assert all((one["popping steps"] > 0) == (one["accuracy"] == 1) for one in linear["networks"])
    lstm = found["Reversal, LSTM"]
    assert (lstm["lose"]["without the stack"], lstm["uniform"]) == (4, 7)
    best = max(lstm["networks"], key=lambda one: one["accuracy"])
    assert best["popping steps"] == pytest.approx(0.5, abs=0.01)
    assert best["without the stack"] == min(one["without the stack"] for one in lstm["networks"])
    parentheses = found["Parenthesis, LSTM"]
    assert (parentheses["never_pop"], parentheses["lose"]) == (10, {"without the stack": 7, "without pops": 0})
    lost = [one["accuracy"] - one["without the stack"] for one in parentheses["networks"]]
    assert round(100 * max(lost)) == 16


def test_what_is_said_follows_from_the_figures() -> None:
    for claim in read_results("hao2018-claims").claims:
        if "lose" in claim.figures:
            assert stack_use(claim.figures["networks"]).ours == claim.ours
