from __future__ import annotations

import numpy as np
import pytest

from stacklens.extract.evaluation.automaton_runs import reference_heights, state_names
from stacklens.languages import get_language
from stacklens.viz.panels import heat_panel, height_track
from stacklens.viz.style import scale_for

NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "low", "high", "expected"),
    [
        ([0.2, 0.7], None, None, (0, 1)),
        ([0.2, 3.0], None, None, (0, 3)),
        ([-0.2, 0.7], None, None, (-1, 1)),
        ([-4.0, 0.7, NAN], None, None, (-4, 4)),
        ([0.5], -1, 1, (-1, 1)),
        ([2.0], 0, 1, (0, 1)),
        ([NAN], None, None, (0, 1)),
        ([], None, None, (0, 1)),
    ],
)
def test_a_scale_is_diverging_where_values_have_a_sign(
    values: list[float], low: float | None, high: float | None, expected: tuple[float, float]
) -> None:
    scale = scale_for(np.array(values), low, high)
    assert (scale.low, scale.high) == expected
    middle = scale.colours[1][1]
    assert (middle == "#F7F7F7") == (expected[0] < 0)


def test_nan_and_out_of_range_cells_are_marked() -> None:
    values = np.array([[0.5, NAN], [1.5, 0.5], [1 + 1e-12, -0.1]])
    _, nan, beyond = heat_panel("", values, ["x", "y"], "aba", low=0, high=1).traces
    assert (nan.text, list(nan.x), list(nan.y)) == ("×", [1], ["y"])
    assert (beyond.text, list(beyond.x), list(beyond.y)) == ("!", [2, 3], ["x", "y"])


def test_reference_heights_and_states_are_those_of_the_run_until_it_rejects() -> None:
    pda = get_language("dyck-1").automaton
    heights, cut = reference_heights(pda, "(()"), reference_heights(pda, "())(")
    assert heights is not None
    assert cut is not None
    assert heights.tolist() == [[1], [2], [1]]
    assert np.array_equal(cut.ravel(), [1, 0, NAN, NAN], equal_nan=True)
    assert state_names(pda, "())(") == [pda.initial, pda.initial, "rejected", "rejected"]
    (line,) = height_track(heights).traces
    assert (list(line.x), list(line.y)) == ([1, 2, 3], [1, 2, 1])
