"""`check` names the mistake in every adapter that is wrong in one thing, and finds nothing in the right ones."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Self

import pytest
import torch
from tests.models.own.networks_of_ones_own import Causal, StackRNN
from torch import Tensor, nn

from stacklens.core.errors import StacklensError
from stacklens.models.base import StackModel
from stacklens.models.stacks.cells import SuperpositionStack
from stacklens.models.wrap import wrap
from stacklens.probe.adapter_check import check

WORDS = ["(())()((", "((((()))", "))((", "(", "()()(("]
RNN = StackRNN()
SET: dict[str, Any] = {"stack": "superposition", "outputs": "next set"}


def own(word: str, network: nn.Module = RNN, **options: Any) -> Any:
    return network(torch.tensor([["()".index(symbol) for symbol in word]]), **options)


def stepped(change: Callable[..., Any], **options: Any) -> StackModel[Any]:
    """An adapter whose step is changed on its way out."""
    return wrap(RNN, "()", step=lambda x, h, top: change(*RNN.step(x, h, top)), **SET, **options)


def test_nothing_is_off_in_the_right_ones() -> None:
    assert check(wrap(RNN, "()", step=RNN.step, **SET), own, WORDS)
    after = wrap(RNN, "()", step=RNN.update, reads="after", output=RNN.output, **SET)
    found = check(after, lambda word: own(word, after=True), WORDS)
    assert found.ok
    assert str(found).startswith("StackRNN: nothing is off; in 5 words, 27 steps, its outputs and those of its own")
    causal = Causal()
    model = wrap(causal, "()", forward=causal, outputs="next set", activation="sigmoid")
    assert check(model, lambda word: own(word, causal), WORDS)
    assert check(model, causal, WORDS)  # which takes no text


WRONG: dict[str, tuple[Callable[[], StackModel[Any]], str, str]] = {
    "swapped shares": (
        lambda: wrap(RNN, "()", step=RNN.step, actions=("push", "none", "pop"), **SET),
        "swapped operations",
        r"with actions=\(pop, none, push\) nothing differs",
    ),
    "rotated shares": (
        lambda: wrap(RNN, "()", step=RNN.step, actions=("none", "push", "pop"), **SET),
        "swapped operations",
        r"with actions=\(pop, none, push\) nothing differs",
    ),
    "another alphabet": (lambda: wrap(RNN, ")(", step=RNN.step, **SET), "alphabet order", r"with the alphabet \( \)"),
    "logits for shares": (
        lambda: stepped(lambda h, _, new, y: (h, RNN.shares(h), new, y)),
        "logits",
        "the actions are .* but logits: take their softmax",
    ),
    "shares that do not sum to 1": (
        lambda: stepped(lambda h, a, new, y: (h, 0.75 * a, new, y)),
        "shares",
        "shares that sum to 0.75 and not to 1",
    ),
    "logits for probabilities": (
        lambda: stepped(lambda h, a, new, _: (h, a, new, 9 * RNN.next_(h) + 2)),
        "logits",
        'the outputs are .* give wrap activation="sigmoid"',
    ),
    "another empty value": (
        lambda: wrap(RNN, "()", step=RNN.step, empty_value=-1.0, **SET),
        "what an empty cell holds",
        "with empty_value=0 nothing differs",
    ),
    "too few cells": (
        lambda: wrap(RNN, "()", step=RNN.step, limit=1, **SET),
        "how many cells there are",
        "with limit=None nothing differs",
    ),
    "no numbers": (
        lambda: stepped(lambda h, a, new, y: (h, a, new / 0, y)),
        "no numbers",
        "the pushed are .*inf",
    ),
    "another network": (
        lambda: stepped(lambda h, a, new, y: (h, a, 1 - new, y)),
        "unknown",
        "part at symbol [23] of .* no known mistake explains it: the first symbol is right, so it is the state or",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", WRONG)
def test_each_mistake_is_named(mistake: str) -> None:
    made, cause, said = WRONG[mistake]
    found = check(made(), own, WORDS)
    assert (found.ok, found.cause) == (False, cause)
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(str(found))


@pytest.mark.parametrize("activation", ["sigmoid", "softmax"])
def test_probabilities_that_are_taken_for_logits_are_named(activation: Any) -> None:
    causal = Causal()

    def logits(x: Tensor) -> Tensor:
        return 6 * torch.as_tensor(causal(x))

    def probable(x: Tensor) -> Tensor:
        return logits(x).sigmoid() if activation == "sigmoid" else logits(x).softmax(-1)

    made: dict[str, Any] = {"outputs": "next set", "activation": activation, "symbols": "index"}
    wrong, right = wrap(causal, "()", forward=probable, **made), wrap(causal, "()", forward=logits, **made)
    assert check(right, logits, WORDS)
    assert check(right, probable, WORDS)  # which only shows what the adapter makes of logits
    found = check(wrong, probable, WORDS)
    assert found.cause == "probabilities"
    assert "probabilities already, from " in str(found)
    assert f'activation="{activation}" makes 0.' in str(found)
    other = check(wrong, logits, WORDS)
    assert (other.cause, f"the {activation} is taken twice" in str(other)) == ("probabilities", True)


class _Rounding(SuperpositionStack):
    """A stack that keeps a value only up to 0.5."""

    def next(self, actions: Tensor, pushed: Tensor) -> SuperpositionStack:
        return super().next(actions, pushed.clamp(max=0.5))


class _Mixed(SuperpositionStack):
    """A stack whose select takes the entries in another order."""

    def select(self, index: Tensor) -> Self:
        return super().select(index.flip(0).roll(1))


class _OwnStack:
    def __init__(self, kind: type[SuperpositionStack], upside_down: bool = False) -> None:
        self.kind, self.upside_down = kind, upside_down

    def empty(self, batch: int, n_stacks: int, cell: int, like: Tensor) -> SuperpositionStack:
        return self.kind.empty((batch,), n_stacks, cell, like, depth=2)

    def from_cells(self, cells: Tensor) -> SuperpositionStack:
        return self.kind.from_cells(cells.flip(-2) if self.upside_down else cells, depth=2)


@pytest.mark.parametrize(
    ("stack", "cause"),
    [
        (_OwnStack(SuperpositionStack), None),
        (_OwnStack(_Rounding), "values outside what the stack holds"),
        (_OwnStack(_Mixed), "select"),
        (_OwnStack(SuperpositionStack, upside_down=True), "stack_of"),
    ],
)
def test_stacks_of_one_s_own_that_do_not_keep_what_they_are_given(stack: Any, cause: str | None) -> None:
    def step(x: Tensor, h: Tensor, top: Tensor) -> tuple[Tensor, ...]:
        h, shares, new, y = RNN.step(x, h, top[:, 0])
        return h, shares[:, [2, 0, 1]], new, y

    model = wrap(RNN, "()", step=step, stack=stack, actions=("push", "pop", "none"), outputs="next set", depth=2)
    assert check(model, own, WORDS).cause == cause


def test_a_forward_pass_that_fails_is_one_line() -> None:
    model = wrap(RNN, "()", step=RNN.step, **SET)
    with pytest.raises(StacklensError, match=r"forward\(word\) failed, given word of type str: invalid literal"):
        check(model, int, WORDS)
    with pytest.raises(StacklensError, match=r"forward\(word\) returned a value of type str; expected a tensor"):
        check(model, lambda _: "no", WORDS)
    with pytest.raises(StacklensError, match=r"SimpleNamespace; .*take it out: lambda word: network\(word\)\.logits"):
        check(model, lambda word: SimpleNamespace(logits=own(word)), WORDS)
    with pytest.raises(StacklensError, match=r"give some words of one symbol or more over \( \)"):
        check(model, own, [""])
