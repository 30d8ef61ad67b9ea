"""Buffered networks with a linear controller that are built by hand, and what each writes on a whole word."""

from __future__ import annotations

from collections.abc import Callable

import torch

from stacklens.models.networks.neural_stack import BufferedConfig, BufferedNeuralStack

# what decides each strength: a number for the bias, for a letter at the front, for something on the stack
_Weights = tuple[float, float, float]
_ALWAYS, _NEVER = (8.0, 0.0, 0.0), (-8.0, 0.0, 0.0)
_LETTER, _NO_LETTER = (-8.0, 16.0, 0.0), (8.0, -16.0, 0.0)
_FULL, _EMPTY = (-8.0, 0.0, 16.0), (8.0, 0.0, -16.0)

# pop, push, take the letter, write; whether what lies on the stack is written, not the letter; what is written in all
PLANTED: dict[str, tuple[tuple[_Weights, ...], bool, Callable[[str], str]]] = {
    "reads all, then pops and writes": ((_NO_LETTER, _LETTER, _ALWAYS, _NO_LETTER), True, lambda word: word[::-1]),
    "takes two steps a letter, and writes once": ((_FULL, _EMPTY, _FULL, _FULL), False, lambda word: word),
    "takes two steps a letter, and writes twice": (
        (_FULL, _EMPTY, _FULL, _ALWAYS),
        False,
        lambda word: "".join(x + x for x in word)[: len(word)],
    ),
    "writes nothing": ((_NEVER, _NEVER, _ALWAYS, _NEVER), False, lambda word: word[:0]),
}


def planted(name: str) -> BufferedNeuralStack:
    """Return the network over a and b, which takes as many steps after a word as the word has letters."""
    strengths, from_stack, _ = PLANTED[name]
    net = BufferedNeuralStack(BufferedConfig(("a", "b"), cell_size=2, extra_steps=1, dequeue_first=False))
    with torch.no_grad():
        net.net.weight.zero_()
        net.net.bias.zero_()
        for row, (bias, letter, top) in enumerate(strengths):
            net.net.bias[row] = bias
            net.net.weight[row, :2], net.net.weight[row, 2:] = letter, top
        net.net.bias[4:6] = -8.0
        net.net.weight[4:6, :2] = 16.0 * torch.eye(2)  # what is pushed is the letter
        net.net.weight[6:, 2:] = 16.0 * torch.eye(2) * from_stack
        net.net.weight[6:, :2] = 16.0 * torch.eye(2) * (not from_stack)
    return net
