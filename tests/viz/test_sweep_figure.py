"""The figure of a sweep: a row of marks a class of automata, time along the axis where there is one."""

from __future__ import annotations

from typing import Any

from stacklens.automata.formats.json import to_json
from stacklens.extract.accuracy import SizeScore
from stacklens.extract.evaluation.sweep import Sweep, SweepRow
from stacklens.languages.catalogue import get_language
from stacklens.viz.curves import sweep_figure

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
