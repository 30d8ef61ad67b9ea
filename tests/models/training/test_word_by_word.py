"""Recognisers that learn from one word at a time, and from what is said after a word is dead (Sun et al. 1993, 4.3)."""

from __future__ import annotations

from dataclasses import replace

import torch

from stacklens.languages.catalogue import get_language
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.training.recipes import RECIPES, Stage
from stacklens.models.training.recognition import Training, WordSet, end_of_each_word, prefix_objective

LANGUAGE = get_language("palindrome")
EACH = replace(RECIPES["palindrome word by word"], stages=(Stage(epochs=2, up_to=2, members_up_to=3),), check_length=3)
SHAPE = NNPDAConfig(("a", "b", "c"), order="full", n_states=3, trap=True, empty_reading=True)


def test_a_member_comes_after_five_others_and_moves_the_weights_five_times_as_far() -> None:
    training = Training(EACH, LANGUAGE, nets=2)
    batches = list(training.batches())
    others = [word for word in training.word_set.words if word not in LANGUAGE]
    assert [words.words[0] for words, _ in batches if words.words[0] not in LANGUAGE] == others
    kinds = "".join("m" if words.words[0] in LANGUAGE else "o" for words, _ in batches)
    rest = len(others) % 5
    assert kinds == "ooooom" * (len(others) // 5) + ("o" * rest + "m") * (rest > 0)
    assert {word for words, _ in batches for word in words.words if word in LANGUAGE} == {"c", "aca", "bcb"}
    for words, weights in batches:
        assert weights.tolist() == [[5.0 if words.words[0] in LANGUAGE else 1.0]] * 2
        assert words.symbols.shape == (1, len(words.words[0]))


def test_an_update_is_one_step_down_the_slope_of_one_word() -> None:
    training = Training(EACH, LANGUAGE, nets=2)
    before = {name: value.detach().clone() for name, value in training.net.named_parameters()}
    batch, weights = next(iter(training.batches()))
    cost = end_of_each_word(training.net, batch, weights)
    slopes = torch.autograd.grad(cost.sum(), list(training.net.parameters()), allow_unused=True)
    training.net.zero_grad()
    training.costs((batch, weights)).sum().backward()  # type: ignore[no-untyped-call]
    training.update()
    for (name, value), slope in zip(training.net.named_parameters(), slopes, strict=True):
        moved = before[name] - EACH.rate * (slope if slope is not None else 0)
        if name.startswith("action"):
            moved = moved.clamp(-1, 1)  # as the paper truncates these
        torch.testing.assert_close(value.detach(), moved)


@torch.no_grad()
def test_the_error_at_the_end_is_that_of_equation_27() -> None:
    net = NNPDA(SHAPE, seed=3, init=1.0)
    for word in ("a", "aca", "acb", "abc", "bacab"):
        words = WordSet.of(LANGUAGE, [word])
        state, lowest = net.initial_state(1), 0.0
        for symbol in word:
            before = state.stack.length
            step = net.step(torch.tensor(["abc".index(symbol)]), state)
            lowest += min(0.0, float(before + step.actions[0, 0, 0])) ** 2
            state = step.state
        last, length = float(state.hidden[0, -1]), float(state.stack.length)
        if LANGUAGE.first_dead(word) is not None:
            expected = last**2
        elif word in LANGUAGE:
            expected = (1 - last) ** 2 + length**2 + lowest
        else:
            slack = (1 - length) ** 2 if length < 0.9 else 0.01 - 0.2 * (length - 0.9)
            expected = (1 - last) ** 2 + slack + lowest
        found = end_of_each_word(net, words, torch.ones(1, 1, dtype=torch.float64))
        torch.testing.assert_close(float(found), expected / 2)


@torch.no_grad()
def test_what_is_said_after_a_dead_prefix_counts_only_where_it_is_asked() -> None:
    net = NNPDA(SHAPE, seed=1, init=1.0)
    ones = torch.ones(1, 1, dtype=torch.float64)
    short, long = (WordSet.of(LANGUAGE, [word]) for word in ("acb", "acbab"))
    assert float(prefix_objective(net, short, ones)) == float(prefix_objective(net, long, ones))
    first, later = (float(prefix_objective(net, words, ones, after_dead=True)) for words in (short, long))
    assert first == float(prefix_objective(net, short, ones)) != later
