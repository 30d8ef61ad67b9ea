"""Hao et al. 2018: table 1, and how networks use their stacks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import ZOO, load_checkpoint
from stacklens.papers import hao2018 as hao2018_claims
from stacklens.papers.grid import VALIDATION, Grid, GridRow, Outcome, RunSettings
from stacklens.papers.hao2018 import claims_experiment, stack_use, table1, trained_networks
from stacklens.papers.results import read_results
from stacklens.papers.runner import EXPERIMENTS, run_experiment, run_grid

# ---- hao ----

TINY = RunSettings((0, 1), scale=0.02)
GRID = table1()


def row(name: str) -> GridRow:
    (found,) = (row for row in GRID.rows if row.name == name)
    return found


def test_the_table_has_the_papers_18_lines_and_ten_trials_each() -> None:
    assert isinstance(EXPERIMENTS["hao2018-table1"](), Grid)
    assert len(GRID.rows) == 18
    assert GRID.seeds == 10
    cells = [tuple(row.cells.values()) for row in GRID.rows]
    assert len(set(cells)) == 18
    assert cells[1] == ("Reversal", "yes", "linear", "yes")
    assert [cell[0] for cell in cells].count("Parenthesis") == 4


def test_reported_figures_stand_beside_columns_that_are_shown_and_are_in_order() -> None:
    shown = {f"{score} {name}" for score in GRID.scores for name in GRID.statistics}
    for one in GRID.rows:
        assert set(one.reported) == shown
        for score in GRID.scores:
            low, middle, high = (float(one.reported[f"{score} {name}"]) for name in ("min", "median", "max"))
            assert 0 < low <= middle <= high <= 100


@pytest.mark.parametrize("name", [row.name for row in GRID.rows])
def test_every_line_can_be_trained(name: str) -> None:
    outcomes = row(name).train(TINY)
    assert [outcome.seed for outcome in outcomes] == [0, 1]
    for outcome in outcomes:
        assert set(outcome.scores) == {"training", VALIDATION, "test"}
        assert all(0 <= score <= 1 for score in outcome.scores.values())
        assert outcome.scores["training"] <= outcome.scores[VALIDATION]
        assert outcome.model is not None
        assert outcome.model.alphabet
        assert outcome.converged == (outcome.scores["test"] >= 0.99)


@pytest.mark.parametrize("name", ["Reversal, buffered, linear", "XOR, LSTM", "Formula, no stack, LSTM"])
def test_one_after_another_the_trials_come_to_the_same(name: str) -> None:
    beside = row(name).train(TINY)
    alone = row(name).train(RunSettings((0, 1), "paper", scale=0.02))
    assert [outcome.scores for outcome in beside] == [outcome.scores for outcome in alone]


def test_a_networks_shape_is_the_papers() -> None:
    def config(name: str) -> dict[str, object]:
        (outcome,) = row(name).train(RunSettings((0,), scale=0.01))
        assert outcome.model is not None
        return {"name": outcome.model.name, **outcome.model.config()}

    buffered = config("XOR, buffered, linear")
    assert (buffered["name"], buffered["cell_size"], buffered["extra_steps"]) == ("buffered-neural-stack", 6, 1)
    assert buffered["dequeue_first"] is True
    stack = config("Agreement, LSTM")
    assert (stack["name"], stack["hidden"], stack["cell_size"]) == ("neural-stack", 10, 2)
    bare = config("Parenthesis, no stack, linear")
    assert (bare["name"], bare["controller"]) == ("linear", "linear")
    assert config("Formula, linear")["output_alphabet"] == ("T", "F")


def test_rows_are_run_and_written(tmp_path: Path) -> None:
    results = run_grid(GRID, RunSettings((0,), scale=0.01), tmp_path, rows=["Delayed XOR, linear"])
    (done,) = results.rows
    assert done.name == "Delayed XOR, linear"
    assert json.loads((tmp_path / "hao2018-table1.json").read_text())["rows"][0]["networks"][0]["seed"] == 0


# ---- How networks use their stacks: measured on networks made by hand of which it is known, and run small. ----


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
