"""Bounds hold what torch computes, in float32 and in float64."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stacklens.extract.certificate.abstraction import TooMany, image_pieces
from stacklens.extract.certificate.controllers import is_above, largest, largest_of, set_of, signed
from stacklens.extract.certificate.intervals import (
    Affine,
    Arithmetic,
    Box,
    plus,
    rounded_sum,
    sigmoid,
    small_sigmoid,
    tanh,
    times,
)

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
