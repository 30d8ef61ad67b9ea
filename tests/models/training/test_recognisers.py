"""Recognisers: objectives, rounds, word by word, and the paper's own gradient."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refused
from torch import Tensor

from stacklens.languages.catalogue import get_language
from stacklens.languages.language import all_words
from stacklens.models.base import Checkpoint
from stacklens.models.checkpoint import load_checkpoint, save_model
from stacklens.models.inference import verdicts_on
from stacklens.models.networks.nnpda import NNPDA, LocalNNPDA, NNPDAConfig, Order, RtrlNNPDA, window_slopes
from stacklens.models.stacks import ContinuousStack
from stacklens.models.training.loop import Trainer
from stacklens.models.training.recipes import RECIPES, Recipe, Stage
from stacklens.models.training.recognition import OBJECTIVES, Training, WordSet, end_of_each_word, prefix_objective

SHORT = replace(
    RECIPES["1n0n"],
    stages=(Stage(epochs=10, up_to=3), Stage(epochs=15, words=("10", "1100", "0", "1011"))),
    check_length=5,
    rounds=2,
    round_epochs=20,
)
LANGUAGE = get_language("1n0n")


def trained(epochs: int, seed: int = 0, nets: int = 3, recipe: Recipe = SHORT, language: str = "1n0n") -> Training:
    training = Training(recipe, get_language(language), seed=seed, nets=nets)
    while training.epochs_done < epochs and not training.done:
        training.epoch()
    return training


def weights(training: Trainer) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in training.net.named_parameters()}


def assert_same(one: Training, other: Training) -> None:
    assert (one.epochs_done, one.round, one.clean_checks) == (other.epochs_done, other.round, other.clean_checks)
    assert one.best == other.best
    assert torch.equal(one.losses, other.losses)
    assert torch.equal(one.weights, other.weights)
    assert one.words == other.words
    for left, right in ((weights(one), weights(other)), (one.best_weights, other.best_weights)):
        assert all(torch.equal(left[name], right[name]) for name in right)


@pytest.mark.parametrize("stop", [1, 10, 26, 46])
def test_a_stopped_and_resumed_training_equals_an_uninterrupted_one(stop: int, tmp_path: Path) -> None:
    straight = trained(10_000)
    half = trained(stop)
    path = tmp_path / "half.pt"
    save_model(path, Checkpoint(half.network(), {}, {}, half.state()))
    resumed = Training(SHORT, LANGUAGE, nets=3)
    resumed.restore(load_checkpoint(path).training)
    resumed.run()
    assert_same(resumed, straight)


def test_counterexamples_are_given_only_to_the_networks_that_err_on_them() -> None:
    training = trained(SHORT.stage_epochs)
    before = len(training.word_set.words)
    candidates = all_words(LANGUAGE.alphabet, SHORT.check_length - SHORT.rounds + 1)
    wrong = verdicts_on(training.net, candidates) != np.array([word in LANGUAGE for word in candidates])
    assert wrong.any(0).sum() > 0
    training.epoch()
    added = training.word_set.words[before:]
    assert list(added) == [word for word, bad in zip(candidates, wrong.any(0), strict=True) if bad]
    assert training.weights[:, before:].bool().tolist() == wrong[:, wrong.any(0)].tolist()
    assert training.weights[:, :before].eq(1).all()
    assert training.round == 1
    assert training.given == [wrong.sum(-1).tolist()]
    resumed = trained(0)
    resumed.restore(training.state())
    assert resumed.given == training.given


def test_the_network_handed_out_is_the_best_check_and_not_the_last_one() -> None:
    training = trained(50)
    kept = {name: value.clone() for name, value in training.network(1).state_dict().items()}
    assert all(torch.equal(kept[name], weights(training)[name][1]) for name in kept)  # epoch 50 was the first check
    training.best[1] = replace(training.best[1], rounded_errors=-1)
    training.run()
    assert not all(torch.equal(kept[name], weights(training)[name][1]) for name in kept)
    for best in (training.network(1), training.network()):
        assert all(torch.equal(kept[name], value) for name, value in best.state_dict().items())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 9}, "it was begun with seed 9, asked for is 0"),
        ({"nets": 4}, "it was begun with nets 4, asked for is 3"),
        ({"language": "anbn"}, "it was begun with language 'anbn', asked for is '1n0n'"),
        ({"optimizer": {}}, "its state is damaged"),
        ({"best": 3}, "its state is damaged"),
    ],
)
def test_a_training_cannot_be_resumed_as_another_one(change: dict[str, object], message: str) -> None:
    state = {**trained(1).state(), **change}
    refused(f"^this training cannot be resumed: {message}", trained(0).restore, state)


def test_parentheses_are_learned_exactly_by_most_networks() -> None:
    training = Training(RECIPES["parentheses"], get_language("parentheses"), nets=4)
    training.run()
    assert sum(score.rounded_errors == 0 for score in training.best) >= 2
    net = training.network()
    words = all_words(net.alphabet, 10)
    assert verdicts_on(net, words).tolist() == [word in training.language for word in words]


PARENTHESES = get_language("parentheses")


def constant_net(hidden: float, push: float, pop: float) -> NNPDA:
    """Return a one-neuron net for parentheses: S is always ``hidden``, `(` acts with ``push`` and `)` with ``pop``."""
    net = NNPDA(NNPDAConfig(("(", ")"), "full", 1))
    tables = torch.zeros(2, 3, 2, dtype=torch.float64)  # S or not, top, symbol: the first two sum to one
    tables[..., 0], tables[..., 1] = push, pop
    bias = torch.logit(torch.tensor([hidden], dtype=torch.float64))
    weights = {"state_weights": torch.zeros(1, 6, dtype=torch.float64), "state_bias": bias}
    net.load_state_dict({**weights, "action_weights": tables.flatten().unsqueeze(0)})
    return net


def loss(net: NNPDA, words: list[str], objective: str, weights: list[float] | None = None) -> float:
    given = torch.tensor(weights or [1.0] * len(words), dtype=torch.float64)
    return OBJECTIVES[objective](net, WordSet.of(PARENTHESES, words), given).item()


DRIVEN = {0.5: 0.5**2, 0.85: 0.15**2, 1.0: 0.1**2 - 2 * 0.1 * 0.1}  # section 4.3 (2): beyond L = 0.9 with L* - L = 0.1


@pytest.mark.parametrize(
    ("net", "word", "objective", "cost"),
    [
        # at the end, with H = S - L, a legal word costs its distance from 1, an illegal one what is above 0
        ((0.8, 1.0, -0.75), "()", "end", (1 - 0.55) ** 2),
        ((0.8, 1.0, -0.75), "((", "end", 0),  # H = 0.8 - 2
        ((0.8, 0.25, -0.75), "((", "end", 0.3**2),  # H = 0.8 - 0.5
        # a pop of the empty stack ends a word there: a legal one is to pop less, an illegal one was right to pop
        ((0.8, 0.5, -0.75), "()()()", "end", 0.25),
        ((0.8, 0.5, -0.75), "()()()", "end without hint", 0.25),
        ((0.8, 0.5, -0.75), "())(((", "end", 1 - 0.25),
        ((0.8, 0.5, -0.75), "())(((", "end without hint", 0.25),
        # "(": live, not legal, L = 0.5. "()": live and legal, popped 0.25 from an empty stack, L = 0
        ((0.8, 0.5, -0.75), "()", "prefix", (0.2**2 + 0.2**2 + 0.25**2) / 2 + 0.5**2),
        # ")": dead at once, and what follows does not count
        ((0.8, 0.5, -0.75), ")", "prefix", 0.8**2),
        ((0.8, 0.5, -0.75), ")(((", "prefix", 0.8**2),
        # live but not legal: one symbol at least on the stack, and with a driving force more than that
        *(((0.8, push, -0.75), "(", "prefix", 0.2**2 + (1 - push) ** 2) for push in DRIVEN),
        *(((0.8, push, -0.75), "(", "prefix with drive", 0.2**2 + cost) for push, cost in DRIVEN.items()),
    ],
)
def test_what_a_word_costs(net: tuple[float, float, float], word: str, objective: str, cost: float) -> None:
    assert loss(constant_net(*net), [word], objective) == pytest.approx(cost)


def test_legal_and_illegal_words_weigh_the_same_in_sum_and_weights_count_within_each() -> None:
    net = constant_net(0.8, 1.0, -0.75)
    legal = {"()": 0.45**2, "(())": 0.7**2}  # H = 0.8 - 0.25 and 0.8 - 0.5
    one, two = legal.values()
    assert loss(net, list(legal), "end", [3.0, 1.0]) == pytest.approx((3 * one + two) / 4)
    assert loss(net, [*legal, "(("], "end", [3.0, 1.0, 9.0]) == pytest.approx((3 * one + two) / 4)
    shallow = constant_net(0.8, 0.25, 0.0)  # illegal words cost something: H = 0.55 and 0.3; legal "()" has H = 0.55
    illegal = (0.55**2 + 3 * 0.3**2) / 4
    assert loss(shallow, ["()", "(", "(("], "end", [7.0, 1.0, 3.0]) == pytest.approx(0.45**2 + illegal)


# Recognisers that learn from one word at a time, and from what is said after a word is dead (Sun et al. 1993, 4.3).

ONLINE = get_language("palindrome")
EACH = replace(RECIPES["palindrome word by word"], stages=(Stage(epochs=2, up_to=2, members_up_to=3),), check_length=3)
SHAPE = NNPDAConfig(("a", "b", "c"), order="full", n_states=3, trap=True, empty_reading=True)


def test_a_member_comes_after_five_others_and_moves_the_weights_five_times_as_far() -> None:
    training = Training(EACH, ONLINE, nets=2)
    batches = list(training.batches())
    others = [word for word in training.word_set.words if word not in ONLINE]
    assert [words.words[0] for words, _ in batches if words.words[0] not in ONLINE] == others
    kinds = "".join("m" if words.words[0] in ONLINE else "o" for words, _ in batches)
    rest = len(others) % 5
    assert kinds == "ooooom" * (len(others) // 5) + ("o" * rest + "m") * (rest > 0)
    assert {word for words, _ in batches for word in words.words if word in ONLINE} == {"c", "aca", "bcb"}
    for words, weights in batches:
        assert weights.tolist() == [[5.0 if words.words[0] in ONLINE else 1.0]] * 2
        assert words.symbols.shape == (1, len(words.words[0]))


def test_an_update_is_one_step_down_the_slope_of_one_word() -> None:
    training = Training(EACH, ONLINE, nets=2)
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
        words = WordSet.of(ONLINE, [word])
        state, lowest = net.initial_state(1), 0.0
        for symbol in word:
            before = state.stack.length
            step = net.step(torch.tensor(["abc".index(symbol)]), state)
            lowest += min(0.0, float(before + step.actions[0, 0, 0])) ** 2
            state = step.state
        last, length = float(state.hidden[0, -1]), float(state.stack.length)
        if ONLINE.first_dead(word) is not None:
            expected = last**2
        elif word in ONLINE:
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
    short, long = (WordSet.of(ONLINE, [word]) for word in ("acb", "acbab"))
    assert float(prefix_objective(net, short, ones)) == float(prefix_objective(net, long, ones))
    first, later = (float(prefix_objective(net, words, ones, after_dead=True)) for words in (short, long))
    assert first == float(prefix_objective(net, short, ones)) != later


# The paper's derivatives, carried forward, against back-propagation: with its approximation, and without.

LETTERS = ("a", "b", "c")
Columns = tuple[Tensor, Tensor, Tensor]  # S_last, L, U, (..., B, T) each


def columns(net: NNPDA, symbols: Tensor) -> Columns:
    """Return the course of a run, step by step."""
    state, rows = net.initial_state(len(symbols)), []
    for column in symbols.unbind(1):
        before, step = state.stack, net.step(column, state)
        state = step.state
        rows.append((step.hidden[..., -1], state.stack.length, torch.relu(-(before.length + step.actions[..., 0, 0]))))
    last, length, underflow = (torch.stack(series, -1) for series in zip(*rows, strict=True))
    return last, length, underflow


def flat(values: list[Tensor]) -> Tensor:
    return torch.cat([value.flatten() for value in values])


def gradient(net: NNPDA, course: Columns, shares: Columns) -> Tensor:
    """Return the gradient of the columns, added up with ``shares``, by all weights, flat; 0 where nothing depends."""
    total = torch.stack([(column * share).sum() for column, share in zip(course, shares, strict=True)]).sum()
    weights = list(net.parameters())
    return flat(list(torch.autograd.grad(total, weights, retain_graph=True, materialize_grads=True)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[NNPDAConfig, Tensor, int, float]:
    """Draw a shape, words, a seed, and how large the weights are."""
    alphabet, end = LETTERS[: draw(st.integers(1, 3))], draw(st.sampled_from((None, "e")))
    order: Order = draw(st.sampled_from(("second", "third", "full")))
    shape = NNPDAConfig(alphabet, order, draw(st.integers(1, 3)), end=end, empty_reading=draw(st.booleans()))
    word = st.lists(st.integers(0, len(alphabet) - (end is None)), min_size=6, max_size=6)
    symbols = torch.tensor(draw(st.lists(word, min_size=1, max_size=3)))
    return shape, symbols, draw(st.integers(0, 99)), draw(st.sampled_from((0.1, 1.0, 3.0)))


@given(cases(), st.sampled_from((None, 2)))
def test_carried_forward_and_propagated_back_the_approximate_gradient_is_one(
    case: tuple[NNPDAConfig, Tensor, int, float], nets: int | None
) -> None:
    shape, symbols, seed, init = case
    forward = RtrlNNPDA(shape, seed=seed, init=init, nets=nets)
    back = LocalNNPDA(shape, seed=seed, init=init, nets=nets)
    exact = NNPDA(shape, seed=seed, init=init, nets=nets)
    course, expected, true = forward.course(symbols), columns(back, symbols), columns(exact, symbols)
    for ours, theirs, network in zip(course, expected, true, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
        torch.testing.assert_close(ours, network, rtol=0, atol=1e-12)  # the network itself is not approximated
    generator = torch.Generator().manual_seed(seed)
    shares: Columns = tuple(torch.rand(part.shape, generator=generator, dtype=part.dtype) for part in course)  # type: ignore[assignment]
    torch.testing.assert_close(
        gradient(forward, course, shares), gradient(back, expected, shares), rtol=1e-9, atol=1e-9
    )


def test_the_example_below_equation_20() -> None:
    """From bottom to top 0.9 of b, 0.2 of a, 0.7 of b and 0.15 of c: r1 is c, r2 is a."""
    stack = ContinuousStack.empty((1,), 3, torch.zeros((), dtype=torch.float64))
    for letter, length in ((1, 0.9), (0, 0.2), (1, 0.7), (2, 0.15)):
        value = torch.nn.functional.one_hot(torch.tensor([[letter]]), 3).double()
        stack = stack.next(torch.tensor([[[length]]], dtype=torch.float64), value)
    assert window_slopes(stack).tolist() == [[-1, 0, 1]]


@pytest.mark.parametrize("name", ["parentheses", "1n0n", "palindrome"])
def test_training_by_either_way_comes_to_the_same_and_gives_plain_networks(name: str) -> None:
    short = replace(RECIPES[name], stages=(Stage(epochs=6, up_to=3),), check_length=4, rounds=0)
    recipes = (replace(short, gradient="rtrl"), replace(short, gradient="local"), replace(short, gradient="exact"))
    forward, back, exact = (trained(4, seed=4, nets=2, recipe=recipe, language=name) for recipe in recipes)
    for ours, theirs in zip(forward.net.parameters(), back.net.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)
    if name != "parentheses":  # of which only one symbol is pushed at first
        assert not torch.allclose(flat(list(forward.net.parameters())), flat(list(exact.net.parameters())), atol=1e-9)
    forward.check()
    assert type(forward.network(0)) is NNPDA
