from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklens.models.networks.joulin import ListMemory
from stacklens.models.registry import build_model
from stacklens.models.stacks.input_queue import Buffers
from stacklens.models.stacks.ring import RingMemory
from stacklens.models.stacks.strength import StrengthStack
from stacklens.models.stacks.superposition import SuperpositionStack
from stacklens.probe.contents import memory_size, pieces, topmost_cells
from stacklens.probe.trace import trace

STRENGTHS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=12)


def lengths_of(pops: list[float], pushes: list[float]) -> np.ndarray:
    """Return how much of what step s pushed is left after step t, (T, T), added up from the pieces."""
    lengths = np.zeros((len(pops), len(pops)))
    for piece in pieces(np.array(pops), np.array(pushes)):
        lengths[piece.first : piece.last + 1, piece.pushed] += piece.length
    return lengths


@settings(deadline=None)
@given(actions=STRENGTHS)
def test_pieces_are_what_the_strength_stack_holds_after_every_step(actions: list[tuple[float, float]]) -> None:
    lengths = lengths_of([u for u, _ in actions], [d for _, d in actions])
    stack = StrengthStack.empty((1,), 1, torch.zeros((), dtype=torch.float64))
    for step, action in enumerate(actions):
        stack = stack.next(torch.tensor([[action]], dtype=torch.float64), torch.zeros(1, 1, 1, dtype=torch.float64))
        np.testing.assert_allclose(lengths[step, : step + 1], stack.strengths[0], atol=1e-12)


@settings(deadline=None)
@given(actions=STRENGTHS)
def test_pieces_tile_the_stack_and_are_few(actions: list[tuple[float, float]]) -> None:
    found = pieces(np.array([u for u, _ in actions]), np.array([d for _, d in actions]))
    assert len(found) <= 2 * len(actions)
    for step in range(len(actions)):
        there = sorted((piece.bottom, piece.top) for piece in found if piece.first <= step <= piece.last)
        assert all(below[1] == above[0] for below, above in pairwise(there))
        assert not there or there[0][0] == 0


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 200), word=st.text("abc", min_size=1, max_size=15))
def test_pieces_of_a_signed_action_are_the_continuous_stacks_lengths(seed: int, word: str) -> None:
    net = build_model("nnpda", {"alphabet": "abc", "order": "third", "n_states": 3, "trap": False}, seed=seed, init=2.0)
    seen = trace(net, word)
    assert seen.lengths is not None
    actions = seen.actions[0, :, 0, 0]
    found = lengths_of(list(np.maximum(-actions, 0)), list(np.maximum(actions, 0)))
    np.testing.assert_allclose(found, seen.lengths[0], atol=1e-12)


def test_the_topmost_cells_of_stacks_rings_and_lists() -> None:
    cells = torch.tensor([1.0, 2.0, 3.0]).reshape(1, 1, 3, 1)
    stack = SuperpositionStack(cells, empty_value=-1.0)
    for memory, expected in [
        (stack, [1, 2, 3, -1]),
        (RingMemory(cells), [1, 2, 3]),
        (ListMemory(cells, cells), [1, 2, 3, -1]),
    ]:
        found = topmost_cells(memory, 4)
        assert found is not None
        assert found.flatten().tolist() == expected
    assert topmost_cells(StrengthStack.empty((1,), 1, torch.zeros(())), 2) is None
    assert topmost_cells(Buffers.empty((1,), 2, 1, torch.zeros(())), 2) is None


def test_a_ring_is_kept_whole_and_a_stack_as_far_as_it_can_be_filled() -> None:
    nothing = torch.zeros(())
    assert memory_size(RingMemory.empty((1,), 9, 1, nothing), 2) == 9
    assert memory_size(SuperpositionStack.empty((1,), 1, 1, nothing, limit=3), 2) == 2
    assert memory_size(SuperpositionStack.empty((1,), 1, 1, nothing, limit=3), 5) == 3
    assert memory_size(SuperpositionStack.empty((1,), 1, 1, nothing), 5) == 5


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("marnn-stack-rnn", {"alphabet": "ab", "cell_size": 2, "stack_limit": 4}),
        ("stack-rnn", {"alphabet": "ab", "hidden": 5, "n_stacks": 2}),
        ("baby-ntm", {"alphabet": "ab", "stack_limit": 5}),
        ("list-rnn", {"alphabet": "ab", "hidden": 5, "n_stacks": 2}),
    ],
)
def test_a_trace_keeps_the_cells_after_every_step(name: str, config: dict[str, object]) -> None:
    net, words = build_model(name, config, seed=2), ["abbab", "ba"]
    seen = trace(net, words, stacks=True)
    assert seen.cells is not None
    assert trace(net, words, stacks=False).cells is None
    for number, word in enumerate(words):
        state = net.initial_state(1)
        for step, symbol in enumerate(word):
            state = net.step(torch.tensor(["ab".index(symbol)]), state).state
            cells = topmost_cells(state.stack, seen.cells.shape[3])
            assert cells is not None
            np.testing.assert_allclose(seen.cells[number, step], cells[0].detach(), atol=1e-12)
    assert np.isnan(seen.cells[1, 2:]).all()


def test_networks_without_cells_have_none_in_their_traces() -> None:
    for name in ("nnpda", "neural-stack", "buffered-neural-stack", "rnn"):
        assert trace(build_model(name, {"alphabet": "ab"}, seed=1), "ab", stacks=True).cells is None
