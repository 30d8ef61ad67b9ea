"""How pictures look: colours that colour-blind readers tell apart, marks, fonts, light and dark, and titles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from ..core.errors import UnknownNameError
from ..languages.words import format_word
from ..models.base import StackModel
from ..models.rounding import Rounded
from ..probe.trace import Trace

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_SIZE = 13  # points of all text

# blue, orange, green, vermillion, purple, sky blue, yellow; black is left to the text
CATEGORIES = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")
# of states; none is the colour of a stack symbol (the muted colours of P. Tol, without those too near to CATEGORIES)
STATE_CATEGORIES = ("#332288", "#882255", "#117733", "#999933", "#AA4499", "#661100", "#6699CC", "#44AA99")
_OTHER = "#8C8C8C"  # what comes after the palette's end, and operations that do nothing

# push, pop and nothing as in Joulin & Mikolov 2015, figure 3: green, red, grey; each with a mark for those who see none
OPERATION_COLOURS = {"push": "#009E73", "pop": "#D55E00", "none": "#C8C8C8", "replace": "#56B4E9"}
MARKS = {"push": "▲", "pop": "▼", "none": "·", "replace": "◆"}

_SEQUENTIAL = ((0.0, "#F7F7F7"), (0.5, "#7FA8CF"), (1.0, "#08306B"))
_DIVERGING = ((0.0, "#B35806"), (0.5, "#F7F7F7"), (1.0, "#08306B"))

_GROUND = {"light": "#FFFFFF", "dark": "#16181D"}
_INK = {"light": "#1B1F24", "dark": "#E6E8EB"}
_GRID = {"light": "#E3E5E8", "dark": "#33373F"}

_SHOWN = 60  # symbols of a word in a title


class Scale(NamedTuple):
    """Which colours values take, and the values at its two ends."""

    colours: tuple[tuple[float, str], ...]
    low: float
    high: float


def scale_for(
    values: np.ndarray, low: float | None = None, high: float | None = None, diverging: bool | None = None
) -> Scale:
    """Return the scale for ``values``, any of which may be NaN.

    By default values below 0, or a ``low`` below 0, take a diverging scale, as wide on both sides, and others run from
    0. Without ``low`` and ``high`` the ends are -1 or 0, and 1, or wider if the finite values are.
    """
    finite = values[np.isfinite(values)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if diverging is None:
        diverging = (least if low is None else low) < 0
    if diverging:
        reach = high if high is not None else max(1.0, -least, most)
        return Scale(_DIVERGING, -reach, reach)
    return Scale(_SEQUENTIAL, 0.0 if low is None else low, max(1.0, most) if high is None else high)


def category_colours(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each of ``names``, from the palette as far as it goes, then grey."""
    return {name: CATEGORIES[i] if i < len(CATEGORIES) else _OTHER for i, name in enumerate(dict.fromkeys(names))}


def state_colours(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each of ``names``, states of an automaton, from a palette that no stack symbol has."""
    shown = dict.fromkeys(names)
    return {name: STATE_CATEGORIES[i] if i < len(STATE_CATEGORIES) else _OTHER for i, name in enumerate(shown)}


def themed(figure: go.Figure, theme: str = "light") -> go.Figure:
    """Return a copy of ``figure`` in the light or the dark theme.

    Raises:
        UnknownNameError: there is no such theme.
    """
    layout = {**figure.layout.to_plotly_json(), **theme_layout(theme)}
    return go.Figure({"data": [trace.to_plotly_json() for trace in figure.data], "layout": layout})


def theme_layout(theme: str = "light") -> dict[str, Any]:
    """Return the part of a figure's layout that makes it light or dark.

    Raises:
        UnknownNameError: there is no such theme.
    """
    if theme not in _GROUND:
        raise UnknownNameError("theme", theme, list(_GROUND))
    return {"template": _template(theme), "paper_bgcolor": _GROUND[theme]}


@cache
def _template(theme: str) -> go.layout.Template:
    """Return the theme as what every figure falls back to."""
    grey, ground = _GRID[theme], _GROUND[theme]
    axis = {"gridcolor": grey, "linecolor": grey, "tickcolor": grey, "zeroline": False, "automargin": True}
    axis |= {"title": {"font": {"size": _SIZE}}, "showline": True, "ticks": "outside"}
    layout = {
        "font": {"family": FONT, "size": _SIZE, "color": _INK[theme]},
        "plot_bgcolor": ground,
        "hoverlabel": {"font": {"family": FONT, "size": _SIZE}},
        "xaxis": axis,
        "yaxis": axis,
    }
    return go.layout.Template(layout=layout, data={"bar": [{"marker": {"line": {"color": ground}}}]})


def stepped(colours: Collection[str]) -> list[tuple[float, str]]:
    """Return the colour scale of the numbers 0, 1, … that does not blend; white where there are no ``colours``.

    >>> stepped(["red", "blue"])
    [(0.0, 'red'), (0.5, 'red'), (0.5, 'blue'), (1.0, 'blue')]
    """
    size = max(1, len(colours))
    places = enumerate(colours or ["#FFFFFF"])
    return [(edge / size, colour) for place, colour in places for edge in (place, place + 1)]


def sentence(text: str) -> go.Figure:
    """Return a figure that says ``text`` where there is nothing to draw."""
    note: dict[str, Any] = {"text": text, "showarrow": False, "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}
    figure = go.Figure(layout={"annotations": [note], "height": 160, "margin": {"l": 20, "r": 20, "t": 20, "b": 20}})
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return themed(figure)


def title_of(model: StackModel[Any], seen: Trace, word: int = 0) -> str:
    """Return the network's name, the word, and the verdict, as one line; a long word is cut in the middle."""
    name = f"{model.model.name}, rounded" if isinstance(model, Rounded) else model.name
    read = escaped(shortened(format_word(seen.words[word]))) or "the empty word"
    return f"{name} on {read}: {verdict_of(model, seen, word)}"


def verdict_of(model: StackModel[Any], seen: Trace, word: int = 0) -> str:
    """Return what came of a word: a recogniser accepts or rejects it, others read all of it or stop at a symbol."""
    if model.task_kind == "recognition":
        return "accepted" if seen.verdicts[word] else "rejected"
    return "read to the end" if seen.verdicts[word] else f"symbol {int(seen.rejected[word].argmax()) + 1} not predicted"


def shortened(text: str, shown: int = _SHOWN) -> str:
    """Return ``text``, or its two ends and its length where it has more than ``shown`` characters."""
    if len(text) <= shown:
        return text
    return f"{text[: shown // 2]}…{text[-shown // 4 :]} ({len(text):,} characters)"


def escaped(text: str) -> str:
    """Return ``text`` with <, > and & written so that a picture shows them as they are."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
