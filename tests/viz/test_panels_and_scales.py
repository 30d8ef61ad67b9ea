from __future__ import annotations

import numpy as np

from stacklens.extract.evaluation.automaton_runs import reference_heights, state_names
from stacklens.languages.catalogue import get_language
from stacklens.viz.style import heat_panel, height_track

NAN = float("nan")


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
