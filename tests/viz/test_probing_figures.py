from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.probe.causal.mechanisms import BRACKETS, Mechanism, claim

import stacklens as sl
from stacklens.automata.formats.json import to_json
from stacklens.core.errors import StacklensError
from stacklens.extract.accuracy import SizeScore
from stacklens.extract.evaluation.sweep import Sweep, SweepRow
from stacklens.languages.catalogue import get_language
from stacklens.models.rounding import Rounded
from stacklens.probe.attribution import ablations, saliency
from stacklens.probe.geometry import horizon_curve, linear_probes
from stacklens.probe.interchange import interchange
from stacklens.probe.outcome import Causality
from stacklens.probe.trace import trace
from stacklens.viz import curves
from stacklens.viz.curves import sweep_figure

NET = Mechanism(3)
WORDS = ["([()])", "()[]", "[]", "([[(", "(([]()))", "()()()()"]


def test_interchanges_are_bars_with_their_intervals_and_the_random_line() -> None:
    found = interchange(claim(NET), Rounded(NET), NET, cases=100)
    figure = curves.causality_figure(found)
    shown = [height for bar in figure.data if bar.type == "bar" for height in bar.y]
    assert shown == pytest.approx(found.to_frame().accuracy.tolist())
    assert figure.data[-1].y[0] == found.symbols.baseline
    assert "it sleeps" in str(curves.causality_figure(Causality.none("it sleeps")))


def test_ablations_are_a_heat_map_whose_first_row_is_the_whole_network() -> None:
    found = ablations(NET, WORDS)
    (heat,) = curves.ablation_figure(found).data
    assert heat.z[0].tolist() == list(found.whole.by_length)
    assert heat.z[1].tolist() == list(found.rows[0].by_length)
    assert heat.y[1] == f"{found.rows[0].kind} {found.rows[0].name} {found.rows[0].role}".strip()


def test_probes_drift_and_saliency_show_what_was_measured() -> None:
    probes = linear_probes(trace(NET, WORDS).with_automaton(BRACKETS), targets=("depth", "top"), longest=5)
    bars = curves.linear_probes_figure(probes).data
    assert list(bars[0].y) == [probe.accuracy for probe in probes.probes]
    curve = horizon_curve(NET, WORDS)
    assert list(curves.horizon_figure(curve).data[0].y) == list(curve.distance)
    found = saliency(sl.load("marnn-stack-rnn-dyck-2"), "([])", BRACKETS)
    figure = curves.saliency_figure(found, "hidden")
    assert np.array(figure.data[0].z).shape == (4, 4)
    assert list(figure.data[1].y) == ["2 [", "3 ]", "4 )"]
    with pytest.raises(StacklensError, match="there is no saliency of 'cells'"):
        curves.saliency_figure(found, "cells")


def test_regions_are_those_of_the_nearest_centre_and_a_word_goes_through_them() -> None:
    seen = trace(sl.load("marnn-stack-rnn-dyck-2"), ["([])", "()"]).with_automaton(BRACKETS)
    figure = curves.regions_figure(seen.select(), word=0)
    assert figure.data[-1].name == "one word"
    assert len(figure.data[-1].x) == 5
    assert set(np.unique(figure.data[0].z)) == {0}
    with pytest.raises(StacklensError, match="nothing to draw"):
        curves.regions_figure(seen.select(word=0, step=9))


DYCK, PAIRS = (to_json(get_language(name).automaton) for name in ("dyck-2", "anbn"))
ALL = {"every_length": True, "length": None, "shortest_difference": None}
SOME = {"every_length": False, "length": 12, "shortest_difference": None}


def row(updates: int | None, automaton: str | None, right: int, **more: Any) -> SweepRow:
    scores = (SizeScore("network", "members", 1, 12, 10, right), SizeScore("network", "near-misses", 1, 12, 10, 10))
    status = 3 if automaton is None else 1
    sizes = None if automaton is None else {"states": 2, "stack_symbols": 2, "transitions": 4}
    return SweepRow(
        "<x>.pt", "dyck-2", status, updates=updates, automaton=automaton, sizes=sizes, scores=scores, **more
    )


SNAPSHOTS = Sweep(
    (
        row(0, None, 0),
        row(50, PAIRS, 5, horizon={"network": SOME}),
        row(100, DYCK, 10, horizon={"network": ALL}, proof="equal"),
    )
)


def marks(figure: Any) -> dict[Any, Any]:
    """Return the number of the automaton by the place on the axis."""
    points = [line for line in figure.data if line.mode == "markers"]
    return {x: y for line in points for x, y in zip(line.x, line.y, strict=True)}


def test_snapshots_stand_over_their_updates_with_the_moment_of_settling() -> None:
    figure = sweep_figure(SNAPSHOTS)
    assert marks(figure) == {0: 0, 50: 1, 100: 2}
    assert figure.data[0].y == (0.5, 0.75, 1.0)
    assert figure.layout.title.text.replace("<br>", " ") == str(SNAPSHOTS.settling)
    assert list(figure.layout.yaxis2.ticktext) == ["none", "1 (2 states)", "2 = dyck-2"]
    assert "every length" in figure.layout.yaxis3.ticktext
    assert {shape.x0 for shape in figure.layout.shapes} == {75}
    assert "<x>" not in "".join(text for line in figure.data for text in line.text)
