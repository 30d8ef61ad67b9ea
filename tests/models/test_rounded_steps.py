"""What a rounded network does in a step, in numbers: the same for a batch, for traced words and one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklens.automata.pda import NONE, POP, push, replace
from stacklens.models.registry import build_model
from stacklens.models.rounding import Operation, Rounded, RoundedSteps, without_empty_pops
from stacklens.probe.trace import trace

NETWORKS: dict[str, dict[str, Any]] = {
    "nnpda": {"alphabet": "ab"},
    "stack-rnn": {"alphabet": "ab", "n_stacks": 2},
    "marnn-stack-rnn": {"alphabet": "()[]", "first": "(["},
    "neural-stack": {"alphabet": "01#", "controller": "lstm", "null": "#"},
    "rnn": {"alphabet": "ab", "controller": "rnn", "hidden": 3, "task_kind": "transduction"},
}


def test_each_operation_is_the_one_of_an_automaton_with_the_same_name() -> None:
    made = [operation.stack_op("x") for operation in Operation]
    assert made == [NONE, POP, push("x"), replace("x")]
    assert [Operation.of(one) for one in made] == list(Operation)
    assert [str(operation) for operation in Operation] == [one.name for one in made]


@given(st.lists(st.sampled_from(Operation)))
def test_heights_are_those_of_a_list_that_is_pushed_to_and_popped(operations: list[Operation]) -> None:
    cells: list[int] = []
    heights = np.zeros(1, np.int64)
    for operation in operations:
        done, heights = without_empty_pops(np.array([operation]), heights)
        assert Operation(done[0]).pops == (operation.pops and bool(cells))
        if operation.pops and cells:
            cells.pop()
        if operation.pushes:
            cells.append(0)
        assert heights[0] == len(cells)


@settings(max_examples=20)
@given(st.sampled_from(sorted(NETWORKS)), st.integers(0, 50), st.data())
def test_steps_of_a_trace_are_those_that_are_taken_one_by_one(name: str, seed: int, data: st.DataObject) -> None:
    network = Rounded(build_model(name, NETWORKS[name], seed=seed))
    word = data.draw(st.lists(st.sampled_from(network.alphabet), min_size=1, max_size=6))
    seen = trace(network, [word], stacks=False)
    arrays = seen.hidden[:, 1:], seen.actions, seen.pushed, seen.output, seen.rejected
    whole = RoundedSteps.of(network, *map(torch.from_numpy, arrays))
    with torch.no_grad():
        state = network.initial_state(1)
        for t, letter in enumerate(seen.symbols[0].tolist()):
            step = network.step(torch.tensor([letter]), state)
            state = step.state
            one = RoundedSteps.of(network, step.hidden, step.actions, step.pushed, step.output, state.rejected)
            for field in ("operations", "pushed", "targets", "outputs", "rejected"):
                assert np.array_equal(getattr(whole, field)[:, t], getattr(one, field))


@pytest.mark.parametrize("stacks", [0, 2])
def test_an_automaton_has_a_stack_where_the_network_has_none(stacks: int) -> None:
    name = "stack-rnn" if stacks else "rnn"
    network = Rounded(build_model(name, NETWORKS[name], seed=0))
    seen = trace(network, ["ab", "b"], stacks=False)
    arrays = (np.nan_to_num(x) for x in (seen.hidden[:, 1:], seen.actions, seen.pushed, seen.output, seen.rejected))
    steps = RoundedSteps.of(network, *map(torch.from_numpy, arrays))
    assert steps.operations.shape == steps.pushed.shape == (2, 2, max(1, stacks))
