"""Every family's controller on boxes holds what its network answers at points of the boxes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.certificate.test_bounds import holds

from stacklens.extract.certificate.controllers import boxes_of
from stacklens.extract.certificate.intervals import Box
from stacklens.models.base import ControllerOutput, StackModel
from stacklens.models.networks.joulin import ListRNN, StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnJoulin, MarnnStackLSTM, MarnnStackRNN
from stacklens.models.rounding import operation_numbers, round_actions
from stacklens.models.views import ListsAsStacks, RingAsTwoStacks

AB = ("a", "b")
NETWORKS: dict[str, Callable[[int], StackModel[Any]]] = {
    "nnpda second": lambda seed: NNPDA(NNPDAConfig(AB, "second", 3, empty_reading=False), seed=seed, init=3.0),
    "nnpda second with an end": lambda seed: NNPDA(NNPDAConfig(AB, "second", 2, end="e"), seed=seed, init=3.0),
    "nnpda third": lambda seed: NNPDA(NNPDAConfig(AB, "third", 3), seed=seed, init=3.0),
    "nnpda third, empty unseen": lambda seed: NNPDA(
        NNPDAConfig(AB, "third", 3, empty_reading=False), seed=seed, init=3.0
    ),
    "nnpda full": lambda seed: NNPDA(NNPDAConfig(AB, "full", 3), seed=seed, init=1.0),
    "stack-rnn": lambda seed: StackRNN(StackRNNConfig(AB, 6, 2, 2, no_op=True), seed=seed),
    "stack-rnn recurrent": lambda seed: StackRNN(StackRNNConfig(AB, 6, 1, 1, recurrent=True), seed=seed),
    "marnn stack-rnn": lambda seed: MarnnStackRNN(MarnnConfig(AB, 5, 2), seed=seed),
    "marnn stack-rnn, cold": lambda seed: MarnnStackRNN(
        MarnnConfig(AB, 5, 1, gating="softmax with temperature", temperature=0.5), seed=seed
    ),
    "marnn stack-lstm": lambda seed: MarnnStackLSTM(MarnnConfig(AB, 4), seed=seed),
    "marnn stack-rnn of joulin": lambda seed: MarnnJoulin(MarnnConfig(AB, 5, 2), seed=seed),
    "marnn transducer": lambda seed: MarnnStackRNN(MarnnConfig(AB, 5, task_kind="transduction"), seed=seed),
    "ring": lambda seed: RingAsTwoStacks(BabyNTM(MarnnConfig(AB, 5, 2), seed=seed)),
    "ring, cold": lambda seed: RingAsTwoStacks(
        BabyNTM(MarnnConfig(AB, 5, 1, gating="softmax with temperature", temperature=0.5), seed=seed)
    ),
    "lists": lambda seed: ListsAsStacks(ListRNN(StackRNNConfig(AB, 6, 2, 2, no_op=True), seed=seed)),
    "list recurrent": lambda seed: ListsAsStacks(ListRNN(StackRNNConfig(AB, 6, 1, 1, recurrent=True), seed=seed)),
    "neural stack linear": lambda seed: NeuralStack(NeuralStackConfig(AB), seed=seed),
    "neural stack rnn": lambda seed: NeuralStack(NeuralStackConfig(AB, controller="rnn", hidden=4), seed=seed),
    "neural stack lstm": lambda seed: NeuralStack(NeuralStackConfig(AB, controller="lstm", hidden=4), seed=seed),
}


def sharpened(model: StackModel[Any], by: float) -> StackModel[Any]:
    """Return the network with larger weights, as trained ones have."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(by)
    return model


def drawn_readings(model: StackModel[Any], rows: int, rng: np.random.Generator) -> tuple[Box, np.ndarray]:
    """Return boxes of readings (rows, n_stacks * R), and a point in each; an NNPDA sees whole symbols, or nothing."""
    empty = model.initial_state(1).stack.reading().flatten().double().numpy()
    if model.pushes_input:
        seen = np.eye(len(empty) + 1)[rng.integers(0, len(empty) + 1, rows), :-1]
        return Box.point(seen), seen
    low = rng.random((rows, len(empty)))
    high = low + rng.random((rows, 1)) * (1 - low) * rng.integers(0, 2, (rows, 1))
    low[: rows // 4] = high[: rows // 4] = empty
    return Box(low, high), low + rng.random(low.shape) * (high - low)


@pytest.mark.parametrize("name", NETWORKS)
@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from((torch.float32, torch.float64)), st.sampled_from((0.3, 1.0, 4.0)))
def test_answers_on_boxes_hold_the_answers_at_points(name: str, seed: int, dtype: torch.dtype, by: float) -> None:
    model = sharpened(NETWORKS[name](seed % 1_000), by).to(dtype).eval()
    controller, rng, rows = boxes_of(model), np.random.default_rng(seed), 40
    size = model.initial_state(1).hidden.shape[-1]
    low = rng.random((rows, size))
    high = low + rng.exponential(size=(rows, 1)) * 0.1 * (1 - low)
    point = low + rng.random(low.shape) * (high - low)
    readings, seen = drawn_readings(model, rows, rng)
    exact = [torch.from_numpy(values).to(dtype) for values in (point, seen)]  # the nearest numbers of the dtype
    hidden, readings = (
        Box(np.minimum(box.low, there.double().numpy()), np.maximum(box.high, there.double().numpy()))
        for box, there in zip((Box(low, high), readings), exact, strict=True)
    )
    for letter in range(model.n_symbols):
        answer = controller.answer(letter, hidden, readings)
        shown = exact[1].reshape(rows, model.n_stacks, -1)
        with torch.no_grad():
            found = model.controller(torch.full((rows,), letter), exact[0], shown)
        assert holds(answer.hidden, found.hidden) or not model.recurrent
        for stack in range(model.n_stacks):
            assert holds(answer.pushed[stack], found.pushed.expand(rows, -1, -1)[:, stack])
        check_decisions(model, answer, found)


def check_decisions(model: StackModel[Any], answer: Any, found: ControllerOutput) -> None:
    rounded = round_actions(model.action_kind, found.actions)
    operations = operation_numbers(model.action_kind, model.operations, rounded).numpy()
    for stack, decision in enumerate(answer.operations):
        sure = decision.margins > 0
        assert (decision.numbers == operations[:, stack])[sure].all()
    if model.task_kind != "recognition":
        numbers = model.output_numbers(found.output)
        assert (answer.output.numbers == numbers)[answer.output.margins > 0].all()
