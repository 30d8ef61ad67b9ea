"""Traces of accuracy as pictures: a line a network, coloured by what became of it."""

from __future__ import annotations

from typing import Any

from stacklens.papers.results import Measured, Results
from stacklens.viz.papers import FATES, fate_of, traces_figure


def network(seed: int, shares: list[float], last: float, falling: float) -> dict[str, Any]:
    trace = {str(100 * place): share for place, share in enumerate(shares)}
    test = {"last": last, "best on the way": 1.0, "rate falling": falling}
    return {"seed": seed, "test": test, "trace": trace, "trace, rate falling": {"200": shares[2], "300": falling}}


NETWORKS = [
    network(0, [0, 1.0, 0.4, 0.2], 0.2, 1.0),
    network(1, [0, 0.2, 1.0, 1.0], 0.995, 0.995),
    network(2, [0, 0.2, 0.3, 0.5], 0.5, 0.98),
]


def results(rows: int) -> Results:
    figures = [{"row": f"row {number}", "networks": NETWORKS} for number in range(rows)]
    claims = tuple(Measured("5", "c", "p", "o", "x", 1.0, one) for one in figures)
    return Results("A paper", "a-traces", "t", claims, (0, 1, 2), {}, 1.0)


def test_what_became_of_a_network_is_told_from_its_trace_and_its_end() -> None:
    assert [fate_of(one) for one in NETWORKS] == [
        "learned, wrong in the end",
        "learned, right in the end",
        "never learned",
    ]
    assert [fate_of(one, "rate falling") for one in NETWORKS] == [
        "learned, right in the end",
        "learned, right in the end",
        "never learned",
    ]


def test_every_network_has_a_line_in_each_panel_and_every_fate_one_name() -> None:
    figure = traces_figure(results(2))
    assert len(figure.data) == 2 * 2 * len(NETWORKS)
    assert sorted(line.name for line in figure.data if line.showlegend) == sorted(FATES)
    assert {line.line.color for line in figure.data} == {colour for colour, _ in FATES.values()}
    assert [note.text for note in figure.layout.annotations][:2] == [
        "row 0, one rate: 1 of 3 in the end",
        "row 0, rate falling in the last epoch: 2 of 3 in the end",
    ]
    one, falling = figure.data[0], figure.data[3]
    assert (list(one.x), list(one.y)) == ([0, 100, 200, 300], [0, 1.0, 0.4, 0.2])
    assert (list(falling.x), list(falling.y)) == ([0, 100, 200, 300], [0, 1.0, 0.4, 1.0])
