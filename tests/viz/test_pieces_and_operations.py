"""Stacks as pieces between heights, and the coloured table of operations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.hand_made import parentheses_net
from tests.viz.networks import network

from stacklens.models.checkpoint import build_model
from stacklens.models.stacks.continuous import StrengthStack
from stacklens.probe.trace import Trace, trace
from stacklens.viz.figures import draw
from stacklens.viz.operations import action_names, operation_names, pieces
from stacklens.viz.style import MARKS, OPERATION_COLOURS

STRENGTHS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=12)


def lengths_of(pops: list[float], pushes: list[float]) -> np.ndarray:
    """Return how much of what step s pushed is left after step t, (T, T), added up from the pieces."""
    lengths = np.zeros((len(pops), len(pops)))
    for piece in pieces(np.array(pops), np.array(pushes)):
        lengths[piece.first : piece.last + 1, piece.pushed] += piece.length
    return lengths


@given(actions=STRENGTHS)
def test_pieces_are_what_the_strength_stack_holds_after_every_step(actions: list[tuple[float, float]]) -> None:
    lengths = lengths_of([u for u, _ in actions], [d for _, d in actions])
    stack = StrengthStack.empty((1,), 1, torch.zeros((), dtype=torch.float64))
    for step, action in enumerate(actions):
        stack = stack.next(torch.tensor([[action]], dtype=torch.float64), torch.zeros(1, 1, 1, dtype=torch.float64))
        np.testing.assert_allclose(lengths[step, : step + 1], stack.lengths[0], atol=1e-12)


@given(actions=STRENGTHS)
def test_pieces_tile_the_stack_and_are_few(actions: list[tuple[float, float]]) -> None:
    found = pieces(np.array([u for u, _ in actions]), np.array([d for _, d in actions]))
    assert len(found) <= 2 * len(actions)
    for step in range(len(actions)):
        there = sorted((piece.bottom, piece.top) for piece in found if piece.first <= step <= piece.last)
        assert all(below[1] == above[0] for below, above in pairwise(there))
        assert not there or there[0][0] == 0


@settings(max_examples=30)
@given(seed=st.integers(0, 200), word=st.text("abc", min_size=1, max_size=15))
def test_pieces_of_a_signed_action_are_the_continuous_stacks_lengths(seed: int, word: str) -> None:
    net = build_model("nnpda", {"alphabet": "abc", "order": "third", "n_states": 3, "trap": False}, seed=seed, init=2.0)
    seen = trace(net, word)
    assert seen.lengths is not None
    actions = seen.actions[0, :, 0, 0]
    found = lengths_of(list(np.maximum(-actions, 0)), list(np.maximum(actions, 0)))
    np.testing.assert_allclose(found, seen.lengths[0], atol=1e-12)


def drawn_lengths(figure: Any, seen: Trace) -> np.ndarray:
    """Return the height of what every letter's bars fill after every step, (T, letters)."""
    found = np.zeros((int(seen.steps[0]), len(seen.letters)))
    for bars in (one for one in figure.data if one.type == "bar"):
        for middle, width, length in zip(bars.x, bars.width, bars.y, strict=True):
            first, last = round(middle - width / 2 + 0.5), round(middle + width / 2 - 0.5)
            found[first - 1 : last, seen.letters.index(bars.name)] += length
    return found


@settings(max_examples=15)
@given(seed=st.integers(0, 200), word=st.text("ab", min_size=1, max_size=12))
def test_boxes_have_the_lengths_of_the_traced_segments(seed: int, word: str) -> None:
    net = network("nnpda", seed)
    seen = trace(net, word)
    found = drawn_lengths(draw("segments", net, seen), seen)
    for step in range(len(word) + 1):
        expected = np.zeros(len(seen.letters))
        for symbol, length in seen.segments(0, step):
            expected[seen.letters.index(symbol)] += length
        np.testing.assert_allclose(found[step], expected, atol=1e-9)


@pytest.mark.parametrize("name", ["neural-stack", "buffered-neural-stack"])
def test_boxes_of_a_strength_stack_are_as_high_as_what_was_pushed_less_what_was_popped(name: str) -> None:
    net = network(name)
    seen = trace(net, "abba")
    height, heights = 0.0, []
    for pop, push in seen.actions[0, :, 0, :2]:
        height = max(0.0, height - pop) + push
        heights.append(height)
    np.testing.assert_allclose(drawn_lengths(draw("segments", net, seen), seen).sum(1), heights)


def test_operations_are_the_largest_shares_or_the_rounded_actions() -> None:
    net = parentheses_net()
    assert operation_names(net, trace(net, "(())")) == [("push",), ("push",), ("pop",), ("pop",), ("none",)]
    several = network("stack-rnn")
    seen = trace(several, "abba")
    expected = [tuple(several.operations[i] for i in row) for row in seen.actions[0].argmax(-1)]
    assert operation_names(several, seen) == expected
    assert operation_names(network("rnn"), trace(network("rnn"), "ab")) == [(), ()]
    assert action_names(network("rnn")) == ()
    assert action_names(network("neural-stack")) == ("pop", "push")


def test_the_table_colours_and_marks_every_operation_and_names_it_in_the_legend() -> None:
    net = network("stack-rnn")
    seen = trace(net, "abbab", stacks=True)
    assert seen.cells is not None
    figure = draw("operations", net, seen)
    names, legend = operation_names(net, seen), [one.name.split()[-1] for one in figure.data[1:]]
    map_ = figure.data[0]
    for stack in range(2):
        for step in range(5):
            name = names[step][stack]
            assert legend[int(map_.z[stack][step])] == name
            assert map_.colorscale[2 * int(map_.z[stack][step])][1] == OPERATION_COLOURS[name]
            assert map_.text[stack][step] == f"{MARKS[name]}<br>{seen.cells[0, step, stack, 0, 0]:.2f}"
            assert f"{seen.cells[0, step, stack, 0, 0]:.6g}" in map_.customdata[stack][step]
