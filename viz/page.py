"""A page in one file: figures, tables, drawings and texts, with the program that draws them, and nothing from outside.

Its policy forbids requests, so a browser would refuse any that came in by mistake.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from stacklens.viz.style import FONT

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CONFIG", "drawing", "heading", "page", "paragraph", "plot", "preformatted", "table"]

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
_STYLE = f"""
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 {FONT}; max-width: 1200px; margin: 0 auto; padding: 1rem; color: #1B1F24; background: #FFFFFF; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.2rem; margin-top: 2rem; }}
pre, table, .drawing, .plot {{ overflow-x: auto; }}
pre {{ padding: .6rem .8rem; background: #F3F4F6; border-radius: 4px; }}
table {{ border-collapse: collapse; display: block; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #D9DCE1; white-space: nowrap; }}
.plot > div {{ min-width: 36rem; }}
.drawing {{ background: #FFFFFF; padding: .5rem; }} .drawing svg {{ max-width: 100%; height: auto; }}
@media (prefers-color-scheme: dark) {{
  body {{ color: #E6E8EB; background: #16181D; }} pre {{ background: #22262D; }}
  th, td {{ border-color: #3A3F48; }} .plot {{ background: #FFFFFF; }}
}}
"""
CONFIG: dict[str, Any] = {  # of every figure on a page
    "displaylogo": False,
    "responsive": True,
    "showSendToCloud": False,
    "toImageButtonOptions": {"format": "svg", "filename": "stacklens"},
}


def page(title: str, parts: Sequence[str], ground: str | None = None) -> str:
    """Return a whole page of ``parts``, each HTML that the other functions here return; ``title`` is plain text.

    ``ground`` is the page's colour; without it the page is light or dark as the reader's system is.
    """
    colour = "" if ground is None else f' style="background: {escape(ground)}"'
    program = f"<script>{_program()}</script>" if any("plotly-graph-div" in part for part in parts) else ""
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>{program}"
    )
    body = "\n".join(parts)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body{colour}>\n{body}\n</body></html>\n'


def _program() -> str:
    from plotly.offline import get_plotlyjs

    program: str = get_plotlyjs()
    return program


def plot(figure: go.Figure) -> str:
    """Return ``figure`` as HTML for `page`; its camera button saves an SVG."""
    drawn: str = figure.to_html(full_html=False, include_plotlyjs=False, config=CONFIG, default_height="auto")
    return f'<div class="plot">{drawn}</div>'


def heading(text: str, level: int = 2) -> str:
    """Return a heading with plain ``text``."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str) -> str:
    """Return a paragraph of plain ``text``."""
    return f"<p>{escape(text)}</p>"


def preformatted(text: str) -> str:
    """Return plain ``text`` as it stands, line for line."""
    return f"<pre>{escape(text)}</pre>"


def table(frame: pd.DataFrame) -> str:
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
