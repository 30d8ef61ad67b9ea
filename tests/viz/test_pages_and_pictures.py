from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest
from tests.viz.networks import network

from stacklens.core.errors import StacklensError
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.summary import summary_text
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import load_network
from stacklens.probe.trace import trace
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
