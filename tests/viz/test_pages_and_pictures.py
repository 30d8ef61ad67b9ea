from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from tests.probe.causal.mechanisms import BRACKETS, Mechanism, claim
from tests.viz.networks import network

import stacklens as sl
from stacklens.automata.formats.json import to_json
from stacklens.core.errors import StacklensError
from stacklens.extract.accuracy import SizeScore
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation.sweep import Sweep, SweepRow
from stacklens.extract.extraction import extract
from stacklens.extract.summary import summary_text
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import load_network
from stacklens.models.rounding import Rounded
from stacklens.probe.attribution import ablations, saliency
from stacklens.probe.geometry import horizon_curve, linear_probes
from stacklens.probe.interchange import interchange
from stacklens.probe.outcome import Causality
from stacklens.probe.trace import trace
from stacklens.viz import curves
from stacklens.viz.curves import sweep_figure
from stacklens.viz.figures import paper_figure
from stacklens.viz.report import (
    check_browser,
    element,
    html_table,
    page,
    picture,
    plot,
    report_page,
    some_words,
)

ZOO = Path(__file__).parents[2] / "models" / "zoo"


class Elements(HTMLParser):
    """What a page is made of: its start tags with their attributes, and its texts outside programs and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def outside(html: str) -> list[str]:
    """Return the addresses that a page would load from elsewhere."""
    loaded = [value for _, attrs in Elements(html).tags for name, value in attrs.items() if name in ("src", "href")]
    styles = " ".join(re.findall(r"<style>(.*?)</style>", html, re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    return [value for value in loaded if value is not None and not value.startswith("#")]


def browser_or_skip() -> None:
    try:
        check_browser()
    except StacklensError as error:
        pytest.skip(str(error))


def test_a_page_holds_the_figure_and_the_program_and_loads_nothing() -> None:
    net = network("marnn-stack-rnn")
    html = picture(paper_figure(net, trace(net, "abba", stacks=True)), "html").decode()
    assert outside(html) == []
    assert "default-src 'none'" in html
    assert html.count("Plotly.newPlot(") >= 1
    assert len(html) > 1_000_000


def test_texts_in_a_page_are_plain_texts() -> None:
    evil = "<script>alert(1)</script>"
    frame = pd.DataFrame({evil: [evil]})
    html = page(evil, [*(element(tag, evil) for tag in ("h2", "p", "pre")), html_table(frame)])
    elements = Elements(html)
    assert "script" not in [tag for tag, _ in elements.tags]
    assert elements.texts.count(evil) == 6


def test_words_in_a_figure_do_not_end_the_program_that_holds_them() -> None:
    net = network("rnn")
    figure = paper_figure(net, trace(net, "ab")).update_layout(title_text="</script><b>")
    assert "</script><b>" not in plot(figure)


@pytest.mark.slow
def test_svg_and_png_are_drawn_by_a_browser() -> None:
    browser_or_skip()
    net = network("rnn")
    figure = paper_figure(net, trace(net, "ab"))
    svg = picture(figure, "svg").decode()
    assert svg.startswith("<svg")
    assert "hidden vector after each step" in svg
    assert not re.findall(r'(?:src|xlink:href)="https?://', svg)
    png = picture(figure, "png")
    assert png.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(png[16:20], "big") == 2_000


def test_without_a_browser_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/none")
    message = r"^cannot draw .svg or .png: no Chrome or Chromium was found; install one .* or write .html, which "
    with pytest.raises(StacklensError, match=message):
        picture(go.Figure(), "png")


def test_a_report_has_the_summary_the_automaton_and_the_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    few = ExtractionConfig(max_length=5, long_words=50, deep_words=2, depth=20, height=8, walks=10)
    result = extract(load_network(ZOO / "nnpda-palindrome.pt").model, get_language("palindrome"), few)
    words = some_words(result, 2)
    html = report_page(result, words, "title")
    assert outside(html) == []
    texts = "".join(Elements(html).texts)
    assert summary_text(result, transitions=False) in texts
    assert "equal for all words (proof)" in texts
    assert "Q = {q0, q1}" in texts
    assert html.split(">Transitions<")[1].split("</table>")[0].count("<tr>") == 12
    assert html.count("plotly-graph-div") >= len(words) == 2
    assert all(4 <= len(word) <= 16 for word in words)
    without = report_page(result, [], "title")
    assert html.count("plotly-graph-div") - without.count("plotly-graph-div") == len(words)
    heights: list[Any] = []

    def figure(*drawn: Any, **more: Any) -> go.Figure:
        made = paper_figure(*drawn, **more)
        heights.append(list(made.data[-1].y))
        return made

    monkeypatch.setattr("stacklens.viz.report.paper_figure", figure)
    assert result.automaton is not None
    report_page(replace(result, minimised=replace(result.automaton, transitions={})), ["abcba"], "wrong")
    assert heights == [[1, 2, 2, 1, 0]]  # of the reference, not of the automaton


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
