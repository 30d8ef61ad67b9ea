"""The test of binary addition: against a network that is run symbol by symbol."""

from __future__ import annotations

import torch

from stacklens.languages.catalogue import get_task
from stacklens.languages.streams import StreamTask
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.papers.joulin2015_training import EmptiedTest

TASK = get_task("addition")
assert isinstance(TASK, StreamTask)
TEST = EmptiedTest(TASK, (0, 5), strings=30, emptied=5, seed=4)


def networks() -> StackRNN:
    """Three networks that are often right: they are sure of ``.`` or of a digit."""
    net = StackRNN(StackRNNConfig(TASK.alphabet, 6, 2, no_op=True), seed=5, nets=3)
    with torch.no_grad():
        for weights in net.parameters():
            weights.mul_(12)
    return net


def test_pieces_are_right_as_they_are_symbol_by_symbol_from_empty_memories_and_the_symbol_before() -> None:
    net = networks()
    found, state = TEST.right(net), net.initial_state(1)
    assert found.shape == (3, 6, 30)
    assert 0 < found.mean() < 1
    for place, pieces in enumerate(TEST.task.words_by_n(0, 5, 30, 4).values()):
        for number, piece in enumerate(pieces):
            if number % 5 == 0:
                state = net.step(torch.tensor([TASK.alphabet.index(".")]), net.initial_state(1)).state
            right = torch.ones(3, dtype=torch.bool)
            for at, symbol in enumerate(piece):
                step = net.step(torch.tensor([TASK.alphabet.index(symbol)]), state)
                state = step.state
                if piece.index("=") <= at < len(piece) - 1:
                    right &= step.output[:, 0].argmax(-1) == TASK.alphabet.index(piece[at + 1])
            assert found[:, place, number].tolist() == right.tolist()
