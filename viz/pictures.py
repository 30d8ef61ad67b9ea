"""Figures as files: a page that holds all it needs, or an SVG or PNG drawn by the Chrome or Chromium that is here.

plotly has no renderer of its own outside a browser. Kaleido, its own exporter, drives one; so SVG and PNG are the very
picture that the page shows, and where there is no browser the page can still be written.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import plotly.graph_objects as go

from stacklens.errors import StacklensError, UnknownNameError
from stacklens.extras import needing
from stacklens.viz.report import page, plot

__all__ = ["FigureFormat", "check_browser", "picture"]

FigureFormat = Literal["html", "svg", "png"]

_WIDTH, _HEIGHT = 1_000, 460  # pixels; most figures know how high they are
_SHARP = 2  # pixels of a PNG for each of these


def picture(figure: go.Figure, format: str, title: str = "stacklens") -> bytes:  # noqa: A002
    """Return ``figure`` as a file's content: "html", "svg" or "png".

    Raises:
        UnknownNameError: there is no such format.
        StacklensError: SVG and PNG need Chrome or Chromium, and there is none, or it failed.
    """
    if format not in get_args(FigureFormat):
        raise UnknownNameError("picture format", format, list(get_args(FigureFormat)))
    if format == "html":
        return page(title, [plot(figure)], figure.layout.paper_bgcolor).encode()
    check_browser()
    return _by_browser(figure, format)


def check_browser() -> None:
    """Check that SVG and PNG can be drawn here; for a look before any work is done.

    Raises:
        StacklensError: there is no Chrome or Chromium.
    """
    with needing("Kaleido, which draws .svg and .png,", "figures"):
        import kaleido
        from choreographer.browsers.chromium import ChromeNotFoundError

    try:
        kaleido.Kaleido()
    except ChromeNotFoundError:
        raise StacklensError(
            "cannot draw .svg or .png: no Chrome or Chromium was found; install one (or name it in BROWSER_PATH), "
            "or write .html, which needs none"
        ) from None


def _by_browser(figure: go.Figure, format: str) -> bytes:  # noqa: A002
    import kaleido

    size = {"width": figure.layout.width or _WIDTH, "height": figure.layout.height or _HEIGHT}
    options: dict[str, Any] = {"format": format, **size, "scale": 1 if format == "svg" else _SHARP}
    offline = {"page_generator": kaleido.PageGenerator(mathjax=False)}  # else it asks another host for MathJax
    try:
        drawn: bytes = kaleido.calc_fig_sync(figure, opts=options, kopts=offline)
    except Exception as error:  # whatever a browser may die of
        reason = " ".join(str(error).split()) or type(error).__name__
        raise StacklensError(f"cannot draw {format}: the browser failed ({reason}); write .html instead") from None
    return drawn
