from __future__ import annotations

import numpy as np
import pytest

from stacklens.extract.evaluation.automaton_runs import reference_heights, state_names
from stacklens.languages import get_language
from stacklens.viz.panels import category_track, figure_of, heat_panel, height_track
from stacklens.viz.style import CATEGORIES, STATE_CATEGORIES, category_colours, escaped, scale_for, shortened

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


def test_a_scale_from_an_empty_cells_value_need_not_diverge() -> None:
    scale = scale_for(np.array([-1.0, 1.0]), low=-1, diverging=False)
    assert (scale.low, scale.high, scale.colours[0][1]) == (-1, 1, "#F7F7F7")


def test_nan_and_out_of_range_cells_are_marked() -> None:
    values = np.array([[0.5, NAN], [1.5, 0.5], [1 + 1e-12, -0.1]])
    _, nan, beyond = heat_panel("", values, ["x", "y"], "aba", low=0, high=1).traces
    assert (nan.text, list(nan.x), list(nan.y)) == ("×", [1], ["y"])
    assert (beyond.text, list(beyond.x), list(beyond.y)) == ("!", [2, 3], ["x", "y"])


def test_panels_share_one_axis_of_steps_and_stand_in_order() -> None:
    panels = [heat_panel(name, np.zeros((3, 1)), ["x"], "aba") for name in ("one", "two")]
    figure = figure_of("title", panels, list("aba"))
    assert [note.text for note in figure.layout.annotations] == ["one", "two"]
    assert figure.layout.xaxis2.matches == "x"
    assert tuple(figure.layout.xaxis2.range) == (0.5, 3.5)
    bars = [(map_.colorbar.y, map_.colorbar.len) for map_ in figure.data]
    assert bars[0][0] > bars[1][0]
    assert bars[0][0] - bars[0][1] / 2 > bars[1][0] + bars[1][1] / 2


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


def test_a_track_has_a_colour_for_every_name() -> None:
    (row,) = category_track("state", ["p", "q", "p"]).traces
    assert [list(numbers) for numbers in row.z] == [[0, 1, 0]]
    assert [colour for _, colour in row.colorscale] == [STATE_CATEGORIES[0]] * 2 + [STATE_CATEGORIES[1]] * 2


def test_colours_are_different_as_far_as_the_palette_goes_and_then_grey() -> None:
    colours = category_colours([f"{number}" for number in range(9)])
    assert len(set(colours.values())) == len(CATEGORIES) + 1
    assert colours["7"] == colours["8"]


def test_titles_are_shortened_and_shown_as_they_are() -> None:
    assert shortened("a" * 60) == "a" * 60
    assert shortened("a" * 100 + "b" * 900) == "a" * 30 + "…" + "b" * 15 + " (1,000 characters)"
    assert escaped("<b>&") == "&lt;b&gt;&amp;"
