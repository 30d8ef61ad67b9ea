"""A report on an extraction as a page in one file: the automaton, what it rests on, the network at work on words.

The file asks no other host for anything: it has the program that draws its figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal, get_args

import plotly.graph_objects as go

from ..automata.formats.dot import formal_definition, render, to_dot, transition_table
from ..automata.pda import Word
from ..core.errors import StacklensError, UnknownNameError, needing
from ..core.files import write_whole
from ..core.imports import pd
from ..extract.accuracy import scores_by_size
from ..extract.by_name import automaton_named
from ..extract.claims import check_table, claim_table
from ..extract.evaluation.automaton_runs import coverage_table, visit_table, visiting_words
from ..extract.result import Extraction
from ..extract.summary import summary_text
from ..languages.language import format_word
from ..probe.trace import trace
from .bench.drawing import check_size
from .curves import accuracy_figure, drift_figure
from .figures import paper_figure, state_map

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
_STYLE = (Path(__file__).parent / "dashboard" / "assets" / "report.css").read_text(encoding="utf-8")
CONFIG: dict[str, Any] = {  # of every figure on a page
    "displaylogo": False,
    "responsive": True,
    "showSendToCloud": False,
    "toImageButtonOptions": {"format": "svg", "filename": "stacklens"},
}

_SHOWN = 200  # symbols of a word in a table
_LENGTHS = (4, 16)  # symbols of the words that are traced, from and to
_ROWS = 1_000  # transitions in the table


def page(title: str, parts: Sequence[str], ground: str | None = None) -> str:
    """Return a whole page of ``parts``, each HTML that the other functions here return; ``title`` is plain text.

    ``ground`` is the page's colour; without it the page is light or dark as the reader's system is.
    """
    colour = "" if ground is None else f' style="background: {escape(ground)}"'
    program = ""
    if any("plotly-graph-div" in part for part in parts):
        from plotly.offline import get_plotlyjs

        program = f"<script>{get_plotlyjs()}</script>"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>{program}"
    )
    body = "\n".join(parts)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body{colour}>\n{body}\n</body></html>\n'


def plot(figure: go.Figure) -> str:
    """Return ``figure`` as HTML for `page`; its camera button saves an SVG."""
    drawn: str = figure.to_html(full_html=False, include_plotlyjs=False, config=CONFIG, default_height="auto")
    return f'<div class="plot">{drawn}</div>'


def element(tag: str, text: str) -> str:
    """Return plain ``text`` as an element of a page: "h2", "p", or "pre" for what stands as it is, line for line."""
    return f"<{tag}>{escape(text)}</{tag}>"


def html_table(frame: pd.DataFrame) -> str:
    """Return a table of ``frame``, its index left out; cells are plain text."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in frame.columns)
    rows = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in frame.itertuples(index=False))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def drawing(svg: bytes) -> str:
    """Return an SVG file, as `automata.formats.render` makes it, as part of a page."""
    inline = re.search(rb"<svg\b.*</svg>", svg, re.DOTALL)
    assert inline is not None, "the drawing is no SVG"
    return f'<div class="drawing">{inline.group().decode()}</div>'


def trust_parts(result: Extraction) -> list[str]:
    """Return claims, checks and accuracy of ``result``, each part HTML for `page`."""
    report = result.report()
    parts = [element("h2", "How far it can be trusted"), html_table(claim_table(report))]
    checks = check_table(report)
    if len(checks):
        checks["counterexample"] = checks["counterexample"].map(
            lambda word: word if len(word) <= _SHOWN else f"{word[:_SHOWN]}… ({len(word):,} characters)"
        )
        parts += [element("h3", "Checks"), html_table(checks)]
    if result.drift is not None:
        says = element("p", f"{str(result.drift)[:1].upper()}{str(result.drift)[1:]}.")
        parts += [element("h3", "Why it fails on a word that goes round"), says, plot(drift_figure(result.drift))]
    if result.minimised is not None:
        parts += [element("h3", "Words for every transition"), html_table(coverage_table(result.automaton)[:_ROWS])]
    try:
        if result.language is None:
            right = element("p", "No language was given, so nothing is right or wrong.")
        else:
            scores = scores_by_size(result.model, result.language, result.minimised)
            right = plot(accuracy_figure(scores, "right by size"))
    except StacklensError as error:
        right = element("p", f"Nothing to draw: {error}.")
    return [*parts, element("h3", "Right and wrong by size"), right]


def report_page(result: Extraction, words: Sequence[Word], title: str) -> str:
    """Return a self-contained page on ``result``: summary, automaton, its states, and a trace of each of ``words``."""
    parts = [element("h1", title), element("pre", summary_text(result, transitions=False)), *trust_parts(result)]
    if (pda := result.minimised) is not None:
        try:
            check_size(pda)
            drawn = drawing(render(to_dot(pda), "svg"))
        except StacklensError as error:
            drawn = element("p", f"No drawing: {error}.")
        frame = transition_table(pda)
        parts += [element("h2", "The automaton"), drawn, element("pre", formal_definition(pda))]
        parts += [element("h3", "Transitions"), html_table(frame[:_ROWS])]
        if len(frame) > _ROWS:
            most = f"The first {_ROWS:,} of {len(frame):,} transitions; extract-pda --out writes all."
            parts.append(element("p", most))
        # with which hidden vectors a few words visit each state
        visiting = visiting_words(result.model, result.language)
        seen = trace(result.model, visiting, stacks=False)
        visits = visit_table(pda, seen)["state"].value_counts()
        counts = "; ".join(f"{state} {visits.get(state, 0):,}" for state in pda.states)
        how_often = f"How often {len(visiting)} words, short ones and others, visit each state: {counts}."
        map_ = plot(state_map(result.model, seen, pda))
        parts += [element("h3", "Hidden vectors by state"), map_, element("p", how_often)]
    if words:
        parts.append(element("h2", "The network at work"))
    for word in words:
        seen = trace(result.model, [word], stacks=True)
        truth = None if result.language is None else automaton_named(result.language.name, result.model.task_kind, word)
        parts.append(plot(paper_figure(result.model, seen, truth=truth, automaton=result.minimised)))
    return page(title, parts)


def some_words(result: Extraction, number: int) -> list[Word]:
    """Return ``number`` words that say much about ``result``, or fewer: one that contradicts it first, then others.

    The others come from what the network was trained on, and are neither very short nor long.
    """
    found = result.contradicted
    words: list[Word] = [] if found is None or found.counterexample is None else [found.counterexample]
    if found is not None and found.other in result.horizon:
        shortest = result.horizon[found.other].difference
        words = words if shortest is None else [shortest.word]
    if result.language is not None:
        words += result.language.long_words(8 * number, _LENGTHS, seed=0)
    kept = {format_word(word): word for word in words}
    return list(kept.values())[:number]


# ---- Figures as files: a page that holds all it needs, or an SVG or PNG drawn by the Chrome or Chromium that is here.
#
# plotly has no renderer of its own outside a browser. Kaleido, its own exporter, drives one; so SVG and PNG are the
# very picture that the page shows, and where there is no browser the page can still be written.

FigureFormat = Literal["html", "svg", "png", "pdf"]

_WIDTH, _HEIGHT = 1_000, 460  # pixels; most figures know how high they are
_SHARP = 2  # pixels of a PNG for each of these


def picture(figure: go.Figure, format: str, title: str = "stacklens", scale: float | None = None) -> bytes:  # noqa: A002
    """Return ``figure`` as a file's content: "html", "svg", "png" or "pdf", ``scale`` times as large as it is laid out.
    Raises UnknownNameError: there is no such format; StacklensError: SVG, PNG and PDF need Chrome or Chromium, and
    there is none, or it failed.
    """
    if format not in get_args(FigureFormat):
        raise UnknownNameError("picture format", format, list(get_args(FigureFormat)))
    if format == "html":
        return page(title, [plot(figure)], figure.layout.paper_bgcolor).encode()
    check_browser()
    import kaleido

    size = {"width": figure.layout.width or _WIDTH, "height": figure.layout.height or _HEIGHT}
    options: dict[str, Any] = {"format": format, **size, "scale": scale or (_SHARP if format == "png" else 1)}
    generator = kaleido.PageGenerator(mathjax=False)  # else it asks another host for MathJax
    generator.header += "<style>@page { margin: 0 }</style>"  # the margins of a PDF would cut the figure's lower edge
    try:
        drawn: bytes = kaleido.calc_fig_sync(figure, opts=options, kopts={"page_generator": generator})
    except Exception as error:  # whatever a browser may die of
        reason = " ".join(str(error).split()) or type(error).__name__
        raise StacklensError(f"cannot draw {format}: the browser failed ({reason}); write .html instead") from None
    return drawn


def check_suffixes(paths: Iterable[Path], texts: Iterable[str]) -> None:
    """Check that files are texts with these suffixes, or figures that can be drawn here; before any work is done.
    Raises StacklensError: another suffix, or there is no browser to draw with.
    """
    known = [*texts, *(f".{kind}" for kind in get_args(FigureFormat))]
    for path in paths:
        if path.suffix not in known:
            raise StacklensError(f"cannot write {path}: expected a name that ends in {', '.join(known)}")
        if path.suffix in (".svg", ".png", ".pdf"):
            check_browser()


def write_by_suffix(path: Path, texts: Mapping[str, Callable[[], str]], figure: Callable[[], go.Figure]) -> None:
    """Write the one of ``texts`` that the suffix of ``path`` asks for, or the ``figure``, whole or not at all."""
    make = texts.get(path.suffix)
    write_whole(path, picture(figure(), path.suffix[1:], f"stacklens: {path.stem}") if make is None else make())


def check_browser() -> None:
    """Check that SVG, PNG and PDF can be drawn here. Raises StacklensError: there is no Chrome or Chromium."""
    with needing("Kaleido, which draws .svg, .png and .pdf,", "figures"):
        import kaleido
        from choreographer.browsers.chromium import ChromeNotFoundError

    try:
        kaleido.Kaleido()
    except ChromeNotFoundError:
        raise StacklensError(
            "cannot draw .svg, .png or .pdf: no Chrome or Chromium was found; install one (or name it in "
            "BROWSER_PATH), or write .html, which needs none"
        ) from None
