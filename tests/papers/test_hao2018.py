"""Hao et al. 2018: table 1, and how networks use their stacks; and what is measured besides scores."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.plain import steps_of

from stacklens.languages.catalogue import get_task
from stacklens.languages.language import repeated_parts
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import ZOO, load_checkpoint
from stacklens.models.rounding import Rounded
from stacklens.papers import hao2018 as hao2018_claims
from stacklens.papers.grid import VALIDATION, GridRow, Outcome, RunSettings
from stacklens.papers.hao2018 import claims_experiment, stack_use, table1, trained_networks
from stacklens.papers.measures import (
    LENGTHS,
    accuracy_by_length,
    action_entropy,
    draw_long_words,
    first_wrong,
    measures_of,
    predictors,
    sample_words,
    spectral_radii,
)
from stacklens.papers.results import read_results
from stacklens.papers.runner import run_experiment
from stacklens.probe.trace import trace

# ---- Hao et al. 2018: table 1, and how networks use their stacks. ----


TINY = RunSettings((0, 1), scale=0.02)
GRID = table1()


def zoo(name: str) -> StackModel[Any]:
    return load_checkpoint(ZOO / f"{name}.pt").model


def row(name: str) -> GridRow:
    (found,) = (row for row in GRID.rows if row.name == name)
    return found


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
        return {"name": outcome.model.name, **outcome.model.config()}

    buffered = config("XOR, buffered, linear")
    assert (buffered["name"], buffered["cell_size"], buffered["extra_steps"]) == ("buffered-neural-stack", 6, 1)
    assert buffered["dequeue_first"] is True
    stack = config("Agreement, LSTM")
    assert (stack["name"], stack["hidden"], stack["cell_size"]) == ("neural-stack", 10, 2)
    bare = config("Parenthesis, no stack, linear")
    assert (bare["name"], bare["controller"]) == ("linear", "linear")
    assert config("Formula, linear")["output_alphabet"] == ("T", "F")


# ---- How networks use their stacks: measured on networks made by hand of which it is known, and run small. ----


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
    name = "Delayed XOR, linear"
    assert [one.scores for one in trained_networks(name, TINY)] == [one.scores for one in row(name).train(TINY)]


def measured(monkeypatch: pytest.MonkeyPatch, net: StackModel[Any], task: str, number: int) -> dict[str, Any]:
    """Return the figures of claim ``number`` for one network in place of those that would be trained."""
    outcomes = (Outcome(0, {}, net, task),)
    monkeypatch.setattr(hao2018_claims, "trained_networks", lambda _row, _settings: outcomes)
    return claims_experiment(RunSettings((0,))).claims[number].measure().figures


def test_a_network_that_reverses_words_pushes_and_pops_them_and_is_lost_without_its_stack_or_its_pops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figures = measured(monkeypatch, zoo("neural-stack-reversal"), "reversal", 0)
    assert figures["learned"] == 1
    (one,) = figures["networks"]
    assert one["accuracy"] == 1
    assert one["push while reading"] > 0.8
    assert one["pop while saying"] > 0.8
    assert one["pop while reading"] < 0.2
    assert 0.3 < one["without the stack"] < 0.7  # by guessing
    figures = measured(monkeypatch, zoo("neural-stack-reversal"), "reversal", 2)
    assert figures["lose"] == {"without the stack": 1, "without pops": 1}
    assert (figures["never_pop"], figures["uniform"]) == (0, 0)
    (one,) = figures["networks"]
    assert one["popping steps"] == pytest.approx(0.5, abs=0.1)  # half of every word is said
    assert one["largest pop"] > 0.8


def test_a_network_whose_gates_never_open_never_pops_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    net = zoo("neural-stack-reversal")
    task = get_task("reversal")
    net.load_state_dict({name: value * 0 for name, value in net.state_dict().items()})
    figures = measured(monkeypatch, net, task.name, 2)
    (one,) = figures["networks"]
    assert figures["lose"] == {"without the stack": 0, "without pops": 0}
    assert figures["uniform"] == 1
    assert one["deviation of pops"] == pytest.approx(0)
    assert one["accuracy"] == one["without the stack"] == one["without pops"]


def test_what_is_said_follows_from_the_figures_and_of_nothing_learned_nothing_is() -> None:
    trained_networks.cache_clear()
    finding = claims_experiment(replace(TINY, scale=0.01)).claims[1].measure()
    assert finding.ours.startswith("0 of 2 learn it; 0 of these push")
    assert finding.ours.endswith("medians – and –")
    for claim in read_results("hao2018-claims").claims:
        if "lose" in claim.figures:
            assert stack_use(claim.figures["networks"]).ours == claim.ours


# ---- What is measured before anything is extracted, against plain sums and finite differences. ----


def test_every_figure_that_is_named_is_measured() -> None:
    model = zoo("marnn-stack-rnn-dyck-2-drifting")
    words = sample_words(get_task("dyck-2"))
    found = predictors(model, words)
    assert list(found) == [
        *("action entropy", "action entropy, 95 %", "action margin", "action margin, 5 %", "output drift"),
        *("hidden drift", "spectral radius", "spectral radius, largest", "pushed spread", "drift by step"),
    ]
    seen = trace(model, words, stacks=False)
    shares = [row for word, n in zip(seen.actions, seen.steps, strict=True) for row in word[:n, 0].tolist()]
    plain = [-sum(p * math.log(p) for p in row if p > 0) for row in shares]
    assert found["action entropy"] == pytest.approx(sum(plain) / len(plain), rel=1e-4)
    leads = [(sorted(row)[-1] - sorted(row)[-2]) / 2 for row in shares]
    assert found["action margin"] == pytest.approx(sum(leads) / len(leads), rel=1e-4)
    drift = found["drift by step"]
    assert drift["steps"] == [10, 25, 50, 75, 100]
    assert found["output drift"] == drift["outputs"][-1] > 0
    assert 0 < found["spectral radius"] <= found["spectral radius, largest"]


def test_a_rounded_network_is_its_own_rounded_form() -> None:
    found = predictors(Rounded(zoo("marnn-stack-rnn-dyck-2-drifting")), sample_words(get_task("dyck-2"))[:5])
    assert found["action entropy"] == pytest.approx(0, abs=1e-9)
    assert found["output drift"] == found["hidden drift"] == 0
    assert found["action margin"] == 0.5


def test_entropies_of_strengths_and_signs_are_those_of_coins() -> None:
    assert action_entropy("strengths", np.array([[[0.5, 1.0]]])).item() == pytest.approx(math.log(2))
    assert action_entropy("signed", np.array([[[-0.5]], [[1.0]]])).ravel() == pytest.approx([math.log(2), 0], abs=1e-9)
    assert action_entropy("none", np.zeros((3, 1, 2))).shape == (3, 0)


def test_spectral_radii_are_those_of_finite_differences() -> None:
    model = zoo("marnn-stack-lstm-dyck-2-drifting")
    seen = trace(model, ["([])"], stacks=False)
    found = spectral_radii(model, seen)
    assert len(found) == 4
    plain = []
    for t in range(4):
        symbol, reading = torch.tensor(seen.symbols[0, t : t + 1]).long(), torch.tensor(seen.reading[0, t : t + 1])
        hidden = torch.tensor(seen.hidden[0, t : t + 1])
        columns = []
        for unit in range(hidden.shape[1]):
            step = torch.zeros_like(hidden)
            step[0, unit] = 1e-6
            with torch.no_grad():
                high, low = (model.controller(symbol, hidden + sign * step, reading).hidden[0] for sign in (1, -1))
            columns.append(((high - low) / 2e-6).double().numpy())
        plain.append(np.abs(np.linalg.eigvals(np.stack(columns, 1))).max())
    assert sorted(found) == pytest.approx(sorted(plain), rel=1e-3)


def test_a_controller_without_a_state_has_no_spectral_radius() -> None:
    found = predictors(zoo("neural-stack-reversal"), sample_words(get_task("reversal"))[:3])
    assert found["spectral radius"] is None
    assert found["hidden drift"] == 0


# ---- Pumped words and their controls: what they are, and what networks get wrong of them. ----


def deepest(word: Sequence[str], openers: str) -> int:
    return int(max(np.cumsum([1 if symbol in openers else -1 for symbol in word])))


@pytest.mark.parametrize("name", ["dyck-2", "dyck-3"])
def test_a_control_is_a_random_word_of_the_same_length_and_depth(name: str) -> None:
    task = get_task(name)
    words = draw_long_words(task)
    assert words.lengths == LENGTHS
    assert len(words.pumped) == len(words.control) == len(words.groups) > 100
    for pumped, control, group in zip(words.pumped, words.control, words.groups, strict=True):
        assert len(pumped) == len(control) <= LENGTHS[group]
        assert len(pumped) > LENGTHS[group] - 7  # a block less is all that may be missing
        assert deepest(pumped, "([{") == deepest(control, "([{")
        assert task.expected(pumped)
        assert task.expected(control)
    assert [len(word) for word in words.drawn] == [len(word) for word in words.pumped]
    assert all(task.expected(word) for word in words.drawn)
    deep = [[deepest(word, "([{") for word in kind] for kind in (words.pumped, words.drawn)]
    assert np.median(deep[0]) < 4 < np.median(deep[1])  # a block on the spot makes shallow words
    longest = [word for word, group in zip(words.pumped, words.groups, strict=True) if group == len(LENGTHS) - 1]
    assert all(max(times for _, times in repeated_parts(word)) > 100 for word in longest)
    random = [word for word, group in zip(words.control, words.groups, strict=True) if group == len(LENGTHS) - 1]
    assert np.median([max(times for _, times in repeated_parts(word)) for word in random]) < 40


@pytest.mark.parametrize("name", ["homomorphic-palindrome-nonempty", "string-reversal", "simple-palindrome-nonempty"])
def test_where_nothing_repeats_on_the_spot_a_block_and_its_mirror_do_as_deep_as_the_stack_allows(name: str) -> None:
    task = get_task(name)
    words, few = draw_long_words(task, 104), draw_long_words(task, 40)
    assert words.lengths == (24, 48, 96, 192)
    assert not words.drawn
    assert few.lengths == (24, 48)
    for pumped, control in zip(words.pumped, words.control, strict=True):
        assert len(pumped) == len(control)
        half = str(pumped).index("#")
        assert half == str(control).index("#") <= 100
        assert repeated_parts(str(pumped)[:half])[0][1] > 2


def test_streams_and_tasks_without_an_automaton_have_no_such_words() -> None:
    assert draw_long_words(get_task("anbn")) is None
    assert draw_long_words(get_task("anbncn")) is None


def test_the_first_wrong_step_is_that_of_a_plain_run() -> None:
    task, model = get_task("dyck-2"), zoo("baby-ntm-dyck-2-drifting")
    words = ("()" * 60, "[](" * 20 + ")" * 20, "()", "[[]]" * 30)
    found = first_wrong(model, task, words)

    def plain(word: str) -> int:
        for number, (step, expected) in enumerate(
            zip(steps_of(model, word), task.expected(word), strict=True), start=1
        ):
            said = tuple(name for name, value in zip(model.output_alphabet, step.output[0], strict=True) if value > 0.5)
            if said != expected:
                return number
        return 0

    assert found.tolist() == [plain(word) for word in words]
    assert found[2] == 0 < found.max()


def test_a_repeated_block_breaks_a_network_that_random_words_of_its_length_and_depth_do_not() -> None:
    task, model = get_task("dyck-2"), zoo("marnn-stack-rnn-dyck-2-drifting")
    words = draw_long_words(task, model.stack_limit)
    soft, rounded = (accuracy_by_length(net, task, words) for net in (model, Rounded(model)))
    assert soft["pumped"]["accuracy"][3] < soft["control"]["accuracy"][3] == 1.0
    assert soft["pumped"]["horizon"] < soft["control"]["horizon"]
    assert rounded["control"] == {"accuracy": [1.0] * len(LENGTHS), "horizon": None}
    assert rounded["pumped"]["horizon"] is not None


def test_measures_are_plain_data_of_networks_with_a_memory_that_say_something_after_every_symbol() -> None:
    found = measures_of(zoo("marnn-stack-rnn-string-reversal"), "string-reversal")
    long = found["long words"]
    assert long["lengths"] == [24, 48, 96, 192]
    assert len(long["words"]) == 4
    assert long["network"]["pumped"]["accuracy"] == [1.0] * 4
    assert set(found["predictors"]) >= {"action entropy", "spectral radius", "drift by step"}
    assert measures_of(zoo("nnpda-parentheses"), "parentheses") is None
    assert measures_of(zoo("buffered-neural-stack-reversal"), "reversal") is None
    assert measures_of(zoo("marnn-stack-rnn-dyck-2-drifting"), "no such task") is None
    assert measures_of(zoo("marnn-stack-rnn-dyck-2-drifting"), None) is None
