"""What is measured of a network besides its scores: predictors, and long words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from stacklens.languages.catalogue import get_task
from stacklens.languages.words import repeated_parts
from stacklens.models.checkpoint import load_checkpoint
from stacklens.models.rounding import Rounded
from stacklens.papers.measures import (
    LENGTHS,
    PREDICTORS,
    accuracy_by_length,
    action_entropy,
    draw_long_words,
    first_wrong,
    measures_of,
    predictors,
    sample_words,
    spectral_radii,
)
from stacklens.papers.sun1993 import zoo_path
from stacklens.probe.trace import trace

# ---- What is measured before anything is extracted, against plain sums and finite differences. ----


def zoo(name: str):  # type: ignore[no-untyped-def]
    return load_checkpoint(zoo_path("parentheses").parent / f"{name}.pt").model


def test_every_figure_that_is_named_is_measured() -> None:
    model = zoo("marnn-stack-rnn-dyck-2")
    words = sample_words(get_task("dyck-2"))
    found = predictors(model, words)
    assert list(found) == [*PREDICTORS, "drift by step"]
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
    found = predictors(Rounded(zoo("marnn-stack-rnn-dyck-2")), sample_words(get_task("dyck-2"))[:5])
    assert found["action entropy"] == pytest.approx(0, abs=1e-9)
    assert found["output drift"] == found["hidden drift"] == 0
    assert found["action margin"] == 0.5


def test_entropies_of_strengths_and_signs_are_those_of_coins() -> None:
    half = np.array([[[0.5, 1.0]]])
    assert action_entropy("strengths", half).item() == pytest.approx(math.log(2))
    assert action_entropy("signed", np.array([[[-0.5]], [[1.0]]])).ravel() == pytest.approx([math.log(2), 0], abs=1e-9)
    assert action_entropy("none", np.zeros((3, 1, 2))).shape == (3, 0)


def test_spectral_radii_are_those_of_finite_differences() -> None:
    model = zoo("marnn-stack-lstm-dyck-2")
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
    assert words is not None
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
    assert words is not None
    assert few is not None
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
    task, model = get_task("dyck-2"), zoo("baby-ntm-dyck-2")
    words = ("()" * 60, "[](" * 20 + ")" * 20, "()", "[[]]" * 30)
    found = first_wrong(model, task, words)

    def plain(word: str) -> int:
        state = model.initial_state(1)
        for number, (symbol, expected) in enumerate(zip(word, task.expected(word), strict=True), start=1):
            with torch.no_grad():
                step = model.step(torch.tensor([model.alphabet.index(symbol)]), state)
            said = tuple(name for name, value in zip(model.output_alphabet, step.output[0], strict=True) if value > 0.5)
            if said != expected:
                return number
            state = step.state
        return 0

    assert found.tolist() == [plain(word) for word in words]
    assert found[2] == 0 < found.max()


def test_a_repeated_block_breaks_a_network_that_random_words_of_its_length_and_depth_do_not() -> None:
    task, model = get_task("dyck-2"), zoo("marnn-stack-rnn-dyck-2")
    words = draw_long_words(task, model.stack_limit)
    assert words is not None
    soft, rounded = (accuracy_by_length(net, task, words) for net in (model, Rounded(model)))
    assert soft["pumped"]["accuracy"][3] < soft["control"]["accuracy"][3] == 1.0
    assert soft["pumped"]["horizon"] < soft["control"]["horizon"]
    assert rounded["control"] == {"accuracy": [1.0] * len(LENGTHS), "horizon": None}
    assert rounded["pumped"]["horizon"] is not None


def test_measures_are_plain_data_of_networks_with_a_memory_that_say_something_after_every_symbol() -> None:
    found = measures_of(zoo("marnn-stack-rnn-string-reversal"), "string-reversal")
    assert found is not None
    long = found["long words"]
    assert long["lengths"] == [24, 48, 96, 192]
    assert len(long["words"]) == 4
    assert long["network"]["pumped"]["accuracy"] == [1.0] * 4
    assert set(found["predictors"]) >= {"action entropy", "spectral radius", "drift by step"}
    assert measures_of(zoo("nnpda-parentheses"), "parentheses") is None
    assert measures_of(zoo("buffered-neural-stack-reversal"), "reversal") is None
    assert measures_of(zoo("marnn-stack-rnn-dyck-2"), "no such task") is None
    assert measures_of(zoo("marnn-stack-rnn-dyck-2"), None) is None
