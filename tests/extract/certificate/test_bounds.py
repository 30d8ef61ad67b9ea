"""Bounds hold what torch computes, in float32 and in float64, and controllers on boxes what networks answer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklens.extract.certificate.abstraction import (
    Affine,
    Arithmetic,
    Box,
    TooMany,
    image_pieces,
    plus,
    rounded_sum,
    sigmoid,
    small_sigmoid,
    tanh,
    times,
)
from stacklens.extract.certificate.controllers import boxes_of, is_above, largest, largest_of, set_of, signed
from stacklens.models.base import ControllerOutput, StackModel
from stacklens.models.networks.joulin import ListRNN, StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnJoulin, MarnnStackLSTM, MarnnStackRNN
from stacklens.models.rounding import operation_numbers, round_actions
from stacklens.models.views import ListsAsStacks, RingAsTwoStacks

DTYPES = (torch.float32, torch.float64)


def drawn_boxes(rng: np.random.Generator, rows: int, size: int, scale: float) -> Box:
    """Return boxes of very different widths, some of them points."""
    low = rng.normal(size=(rows, size)) * scale
    width = (
        rng.exponential(size=(rows, size)) * 10.0 ** rng.integers(-12, 1, (rows, 1)) * rng.integers(0, 2, (rows, size))
    )
    return Box(low, low + width)


def points(box: Box, rng: np.random.Generator, dtype: torch.dtype) -> torch.Tensor:
    """Return a point of every box that ``dtype`` has, corners among them."""
    share = rng.random(box.low.shape) * rng.integers(0, 2, box.low.shape)
    return torch.from_numpy(box.low + share * (box.high - box.low)).to(dtype)


def around(box: Box, dtype: torch.dtype) -> Box:
    """Return the boxes with their ends rounded to numbers of ``dtype``, as points drawn from them are."""
    return Box(*(torch.from_numpy(side).to(dtype).double().numpy() for side in (box.low, box.high)))


def holds(box: Box, values: torch.Tensor) -> bool:
    there = values.double().numpy()
    return bool((box.low <= there).all() and (there <= box.high).all())


@given(st.integers(0, 2**32), st.sampled_from(DTYPES), st.integers(1, 60), st.sampled_from((0.01, 1.0, 30.0)))
def test_layers_and_curves_hold_what_torch_computes(seed: int, dtype: torch.dtype, size: int, scale: float) -> None:
    rng, arithmetic = np.random.default_rng(seed), Arithmetic.of(dtype)
    weights = torch.from_numpy(rng.normal(size=(7, size)) * scale).to(dtype)
    bias = torch.from_numpy(rng.normal(size=7)).to(dtype)
    box = around(drawn_boxes(rng, 20, size, scale), dtype)
    drive = Affine.of(weights.double().numpy(), bias.double().numpy()).of_box(box, arithmetic)
    seen = points(box, rng, dtype).clamp(torch.from_numpy(box.low), torch.from_numpy(box.high)).to(dtype)
    computed = torch.nn.functional.linear(seen, weights, bias)
    assert holds(drive, computed)
    assert holds(drive, (seen.unsqueeze(1) * weights).sum(-1) + bias)  # in another order
    assert holds(sigmoid(drive, arithmetic), torch.sigmoid(computed))
    assert holds(tanh(drive, arithmetic), torch.tanh(computed))
    other = around(drawn_boxes(rng, 20, 7, scale), dtype)
    factor = points(other, rng, dtype)
    assert holds(times(drive, other, arithmetic), computed * factor)
    assert holds(plus(drive, other, arithmetic), computed + factor)


@given(st.integers(0, 2**32), st.sampled_from((torch.float16, torch.bfloat16, *DTYPES)))
def test_one_sum_of_a_ring_and_what_it_adds_hold_what_torch_computes(seed: int, dtype: torch.dtype) -> None:
    rng, arithmetic = np.random.default_rng(seed), Arithmetic.of(dtype)
    drive = around(drawn_boxes(rng, 40, 3, float(10.0 ** rng.uniform(-3, 2.9))), dtype)
    seen = points(drive, rng, dtype).clamp(torch.from_numpy(drive.low), torch.from_numpy(drive.high)).to(dtype)
    new, added = small_sigmoid(drive, arithmetic), torch.sigmoid(seen)
    assert holds(new, added)
    cell = around(drawn_boxes(rng, 40, 3, float(10.0 ** rng.uniform(-9, 2))), dtype)
    there = points(cell, rng, dtype).clamp(torch.from_numpy(cell.low), torch.from_numpy(cell.high)).to(dtype)
    for one, value in ((cell, there), (Box(-cell.high, -cell.low), -there)):
        total = rounded_sum(one, new, arithmetic)
        assert holds(total, value + added)
        assert holds(total, value * 1 + (added + 0 * value))
        assert holds(total, value + torch.where(added.abs() < torch.finfo(dtype).tiny, 0, added))  # flushed to zero


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("cell", "new"), [(3.0, 0.1), (0.0, 0.1), (-0.1, 3.0), (-3.0, 2.9)])
def test_numbers_that_may_be_flushed_to_zero_before_or_after_a_sum_are_held(
    dtype: torch.dtype, cell: float, new: float
) -> None:
    arithmetic, tiny = Arithmetic.of(dtype), float(torch.finfo(dtype).tiny)
    here, added = (around(Box.point(np.full((1, 1), value * tiny)), dtype) for value in (cell, new))
    total, exact = rounded_sum(here, added, arithmetic), [box.low[0, 0] for box in (here, added)]
    flushed = [0.0 if abs(value) < tiny else value for value in exact]
    for values in (exact, flushed):
        there = torch.tensor(sum(values), dtype=torch.float64).to(dtype)
        assert holds(total, there)
        assert holds(total, torch.where(there.abs() < tiny, 0, there))


@pytest.mark.parametrize(("dtype", "drive"), [(torch.float32, -38.0), (torch.float64, -60.0)])
def test_what_is_too_small_to_change_a_number_never_adds_up(dtype: torch.dtype, drive: float) -> None:
    arithmetic = Arithmetic.of(dtype)
    tiny = small_sigmoid(Box.point(np.full((1, 1), drive)), arithmetic)
    for least in (1e-9, 0.25, 1.0):
        cell = around(Box(np.zeros((1, 1)), np.full((1, 1), least)), dtype)
        total = rounded_sum(cell, tiny, arithmetic)
        assert (total.high <= cell.high).all()
        assert (rounded_sum(cell, Box.point(np.full((1, 1), 1e-3)), arithmetic).high > cell.high).all()
    assert np.isnan(
        rounded_sum(
            Box.point(np.full((1, 1), arithmetic.most)), Box.point(np.full((1, 1), arithmetic.most)), arithmetic
        ).high
    ).all()


@given(st.integers(0, 2**32), st.sampled_from(DTYPES))
def test_what_is_decided_for_a_box_is_so_at_all_of_its_points(seed: int, dtype: torch.dtype) -> None:
    rng, arithmetic = np.random.default_rng(seed), Arithmetic.of(dtype)
    weights = torch.from_numpy(rng.normal(size=(3, 4))).to(dtype)
    box = around(drawn_boxes(rng, 50, 4, 0.5), dtype)
    seen = points(box, rng, dtype)
    shares = torch.softmax(seen @ weights.T, -1)
    decision = largest(Affine.of(weights.double().numpy()), box, arithmetic)
    sure = decision.margins > 0
    assert (decision.numbers == shares.argmax(-1).numpy())[sure].all()
    ordered = shares.sort(-1).values
    assert (ordered[:, -1] > ordered[:, -2]).numpy()[sure].all()
    for found, expected in (
        (is_above(box.columns(0, 1), 0.5), seen[:, 0] > 0.5),
        (signed(box.columns(0, 1), 0.5), 2 * (seen[:, 0] > 0.5) + (seen[:, 0] < -0.5)),
        (largest_of(box), seen.argmax(-1)),
        (set_of(box), ((seen > 0.5) * 2 ** torch.arange(4)).sum(-1)),
    ):
        assert (found.numbers == expected.long().numpy())[found.margins > 0].all()


@given(st.integers(0, 2**32), st.sampled_from((0.01, 0.1, 1.0)))
def test_pieces_are_the_whole_box_and_each_lies_in_its_cell(seed: int, width: float) -> None:
    rng = np.random.default_rng(seed)
    low = rng.normal(size=2)
    high = low + rng.random(2) * 3 * width
    found = image_pieces(low, high, width)
    assert len({piece.cell for piece in found}) == len(found)
    for _ in range(20):
        point = low + rng.random(2) * (high - low)
        inside = [piece for piece in found if (piece.low <= point).all() and (point <= piece.high).all()]
        assert inside
        (cell,) = image_pieces(point, point, width)
        assert cell.cell in {piece.cell for piece in inside}
    for piece in found:
        assert (piece.floor <= piece.low).all()
        assert (piece.high <= piece.ceiling).all()
        assert (low <= piece.low).all()
        assert (piece.high <= high).all()


@pytest.mark.parametrize("width", [0.1, 0.3, 1e-3, 0.7])
def test_a_number_on_a_line_of_the_grid_or_next_to_it_lies_in_its_cell(width: float) -> None:
    """A quotient may be rounded across the line; the piece of a cell that ends below the number would not hold it."""
    lines = (np.arange(-3_000.0, 3_000.0) + 0.37) * width
    for number in [*lines, *np.nextafter(lines, -np.inf), *np.nextafter(lines, np.inf)]:
        (piece,) = image_pieces(np.array([number]), np.array([number]), width)
        assert piece.floor[0] <= piece.low[0] <= number <= piece.high[0] <= piece.ceiling[0]


@pytest.mark.parametrize("far", [np.nan, np.inf, 1e18, -1e300])
def test_a_box_too_far_out_for_numbered_cells_is_refused(far: float) -> None:
    with pytest.raises(TooMany):
        image_pieces(np.array([far]), np.array([far]), 0.1)
    assert len(image_pieces(np.array([far]), np.array([far]))) == 1


# ---- Every family's controller on boxes holds what its network answers at points of the boxes. ----
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
