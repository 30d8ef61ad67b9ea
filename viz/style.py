"""How pictures look: colours that colour-blind readers tell apart, marks, light and dark, titles, panels over time."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..core.errors import UnknownNameError
from ..languages.language import format_word
from ..models.base import StackModel
from ..models.rounding import Rounded
from ..probe.trace import Trace

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_SIZE = 13  # points of all text

# blue, orange, green, vermillion, purple, sky blue, yellow, then paler ones; black is left to the text
CATEGORIES = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442"),
    *("#6A66CC", "#CC8866", "#66CCA6", "#C466CC", "#B7CC66", "#B0A48A", "#CC667B", "#66CC6F", "#8C66CC"),
)
# of states; none is the colour of a stack symbol (the muted colours of P. Tol, without those too near to CATEGORIES)
STATE_CATEGORIES = (
    *("#332288", "#882255", "#117733", "#999933", "#AA4499", "#661100", "#6699CC", "#44AA99"),
    *("#864A2D", "#2D8665", "#7F2D86", "#73862D", "#2D5986", "#862D3F", "#2D8634", "#4E2D86"),
)
OTHER = "#8C8C8C"  # what comes after the palette's end, and operations that do nothing

# push, pop and nothing as in Joulin & Mikolov 2015, figure 3: green, red, grey; each with a mark for those who see none
OPERATION_COLOURS = {"push": "#009E73", "pop": "#D55E00", "none": "#C8C8C8", "replace": "#56B4E9"}
MARKS = {"push": "▲", "pop": "▼", "none": "·", "replace": "◆"}

_SEQUENTIAL = ((0.0, "#F7F7F7"), (0.5, "#7FA8CF"), (1.0, "#08306B"))
_DIVERGING = ((0.0, "#B35806"), (0.5, "#F7F7F7"), (1.0, "#08306B"))

_GROUND = {"light": "#FFFFFF", "dark": "#16181D"}
_INK = {"light": "#1B1F24", "dark": "#E6E8EB"}
_GRID = {"light": "#E3E5E8", "dark": "#33373F"}

_SHOWN = 60  # symbols of a word in a title


def scale_for(
    values: np.ndarray, low: float | None = None, high: float | None = None, diverging: bool | None = None
) -> dict[str, Any]:
    """Return the colours that ``values``, any of which may be NaN, take in a heat map, and those at the two ends.

    By default values below 0, or a ``low`` below 0, take a diverging scale, as wide on both sides, and others run from
    0. Without ``low`` and ``high`` the ends are -1 or 0, and 1, or wider if the finite values are.
    """
    finite = values[np.isfinite(values)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if diverging is None:
        diverging = (least if low is None else low) < 0
    if diverging:
        reach = high if high is not None else max(1.0, -least, most)
        return {"colorscale": _DIVERGING, "zmin": -reach, "zmax": reach}
    ends = {"zmin": 0.0 if low is None else low, "zmax": max(1.0, most) if high is None else high}
    return {"colorscale": _SEQUENTIAL, **ends}


def category_colours(names: Sequence[str], palette: Sequence[str] = CATEGORIES) -> dict[str, str]:
    """Return a colour for each of ``names``, from the palette as far as it goes, then `OTHER`."""
    return {name: palette[i] if i < len(palette) else OTHER for i, name in enumerate(dict.fromkeys(names))}


def themed(figure: go.Figure, theme: str = "light") -> go.Figure:
    """Return a copy of ``figure`` in the light or the dark theme. Raises UnknownNameError: there is no such theme."""
    layout = {**figure.layout.to_plotly_json(), **theme_layout(theme)}
    return go.Figure({"data": [trace.to_plotly_json() for trace in figure.data], "layout": layout})


def theme_layout(theme: str = "light") -> dict[str, Any]:
    """Return the part of a figure's layout that makes it light or dark. Raises UnknownNameError: no such theme."""
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


SHARES = {"range": [-0.05, 1.08], "tickformat": ".0%"}  # of an axis
_LEGENDS: dict[str, dict[str, Any]] = {
    "above": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
    "below": {"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 0, "yanchor": "bottom"},
}


def laid_out(
    figure: go.Figure,
    title: str,
    height: int,
    margin: tuple[int, int, int, int],
    legend: str = "above",
    within: str = "paper",
) -> go.Figure:
    """Return ``figure`` with its title, ``height`` and ``margin``, left, right, top and bottom, in pixels.

    The legend is ``"above"`` or ``"below"``; a long title begins at the edge ``within`` the whole container.
    """
    place = {"x": 0 if within == "paper" else 0.02, "xref": within, "font": {"size": 15}}
    edges = dict(zip("lrtb", margin, strict=True))
    figure.update_layout(title={"text": title, **place}, height=height, margin=edges, legend=_LEGENDS[legend])
    return themed(figure)


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
    # a recogniser accepts or rejects a word, others read all of it or stop at a symbol
    good, bad = ("accepted", "rejected") if model.task_kind == "recognition" else ("read to the end", "")
    if not seen.verdicts[word]:
        good = bad or f"symbol {int(seen.rejected[word].argmax()) + 1} not predicted"
    return f"{name} on {read}: {good}"


def shortened(text: str, shown: int = _SHOWN) -> str:
    """Return ``text``, or its two ends and its length where it has more than ``shown`` characters."""
    if len(text) <= shown:
        return text
    return f"{text[: shown // 2]}…{text[-shown // 4 :]} ({len(text):,} characters)"


# what names are sorted by, so that the numbers in them are in order
numbered = partial(re.sub, r"\d+", lambda found: found[0].zfill(9))


# a text with <, > and & written so that a picture shows them as they are
escaped = partial(escape, quote=False)


# ---- Pictures over time: panels one below the other, which share an axis of steps that spells the word ----

_WRITTEN = 30  # steps up to which cells carry their values
_SPELLED = 80  # steps that are labelled with their symbols; more of them would overlap
_MARKED = 2_000  # cells that get a mark of their own
_LABELLED_CELLS = 40_000  # cells whose hover text names the symbol; beyond, a file would hold mostly such text
_ROW = 22  # pixels
_GAP = 40  # pixels between two panels, where a heading stands
_EDGES = 120  # pixels above and below all panels

_NAMED = 60  # steps whose names are written into the track


@dataclass(frozen=True)
class Panel:
    """A part of a picture: its traces over steps 1, 2, …, its heading, its y-axis and its height in pixels."""

    heading: str
    traces: tuple[Any, ...]
    y: dict[str, Any] = field(default_factory=dict)
    height: int = 120


def heat_panel(
    heading: str,
    values: np.ndarray,
    rows: Sequence[str],
    letters: Sequence[str],
    *,
    low: float | None = None,
    high: float | None = None,
    diverging: bool | None = None,
    kind: str = "value",
) -> Panel:
    """Return a heat map of ``values`` (T, rows), the first row on top; ``kind`` is what hover texts call a value.

    Its scale is that of `style.scale_for` with ``low``, ``high`` and ``diverging``.
    A cell that is NaN gets the mark ×, one beyond the ends of the scale, ``low`` and ``high``, the mark !.
    """
    scale = scale_for(values, low, high, diverging)
    labelled = values.size <= _LABELLED_CELLS
    where = "step %{x}, reads %{text}<br>%{y}" if labelled else "step %{x}, %{y}"
    map_ = go.Heatmap(
        z=values.T,
        x=np.arange(1, len(values) + 1),
        y=list(rows),
        **scale,
        texttemplate="%{z:.2f}" if len(values) <= _WRITTEN else None,
        textfont={"size": 10},
        colorbar={"title": {"text": kind, "side": "right", "font": {"size": 11}}},
        text=[list(letters)] * values.shape[1] if labelled else None,
        hovertemplate=f"{where}<br>{kind} %{{z:.6g}}<extra></extra>",
        xgap=1 if len(values) <= _SPELLED else 0,
        ygap=1,
        showlegend=False,
    )
    slack = 1e-9 * (scale["zmax"] - scale["zmin"])
    beyond = (values < scale["zmin"] - slack) | (values > scale["zmax"] + slack)
    marks = [*_marks(np.isnan(values), rows, "×"), *_marks(beyond, rows, "!")]
    y = {"autorange": "reversed", "type": "category", "showgrid": False}
    return Panel(heading, (map_, *marks), y, max(64, _ROW * len(rows)))


def _marks(where: np.ndarray, rows: Sequence[str], mark: str) -> list[Any]:
    """Return the marks at the cells ``where`` (T, rows), as text that hovering passes through."""
    steps, places = np.nonzero(where)
    if not len(steps):
        return []
    marked = {"x": (steps + 1)[:_MARKED], "y": [rows[place] for place in places[:_MARKED]]}
    return [go.Scatter(**marked, mode="text", text=mark, hoverinfo="skip", showlegend=False)]


def figure_of(title: str, panels: Sequence[Panel], letters: Sequence[str]) -> go.Figure:
    """Return the panels as one figure over the steps that read ``letters``; a sentence where there are none."""
    if not letters:
        return sentence("The word is empty and the network takes no step, so there is nothing to draw.")
    if not panels:
        return sentence("This network has neither a stack nor a hidden vector, so there is nothing to draw.")
    heights = [panel.height for panel in panels]
    pixels = sum(heights) + _GAP * (len(panels) - 1)
    # from where to where each panel reaches, the first on top, as parts of the figure's height
    tops = [sum(heights[:row]) + _GAP * row for row in range(len(heights))]
    domains = [(max(0.0, 1 - (top + high) / pixels), 1 - top / pixels) for top, high in zip(tops, heights, strict=True)]
    place = {"x": 0, "xref": "paper", "xanchor": "left", "yref": "paper", "yanchor": "bottom"}
    layout: dict[str, Any] = {
        **theme_layout(),
        "title": {"text": title, "x": 0, "xref": "paper", "font": {"size": 15}},
        "height": pixels + _EDGES,
        "margin": {"l": 90, "r": 20, "t": 70, "b": 50},
        "barmode": "overlay",
        "bargap": 0,
        "legend": _LEGENDS["above"],
        "annotations": [
            {"text": panel.heading, "showarrow": False, "font": {"size": 13}, "y": high, **place}
            for panel, (_, high) in zip(panels, domains, strict=True)
        ],
    }
    traces, named = list[dict[str, Any]](), set[str]()
    for row, (panel, domain) in enumerate(zip(panels, domains, strict=True), 1):
        number = "" if row == 1 else str(row)
        # all axes of steps move together, and the last one spells the word or counts its steps
        axis: dict[str, Any] = {"anchor": f"y{number}", "range": [0.5, len(letters) + 0.5], "showgrid": False}
        axis |= {"matches": "x"} if number else {}
        if row < len(panels):
            axis |= {"showticklabels": False}
        elif len(letters) > _SPELLED:
            axis |= {"title": {"text": f"step, 1 to {len(letters):,}"}, "showticklabels": True}
        else:
            axis |= {"title": {"text": "symbol read"}, "tickvals": list(range(1, len(letters) + 1))}
            axis |= {"ticktext": list(letters), "tickangle": 0}
        layout[f"xaxis{number}"] = axis
        layout[f"yaxis{number}"] = {"anchor": f"x{number}", "domain": domain, **panel.y}
        for trace in panel.traces:
            placed = {**trace.to_plotly_json(), "xaxis": f"x{number}", "yaxis": f"y{number}"}
            if placed["type"] == "heatmap" and placed.get("showscale") is not False:
                # its colour bar stands beside its own panel
                low, high = domain
                bar = {"len": high - low, "lenmode": "fraction", "y": (low + high) / 2, "thickness": 10}
                ticks = {"nticks": 3 if (high - low) * pixels < 90 else 5, "tickfont": {"size": 11}}
                placed["colorbar"] = {**placed["colorbar"], **bar, "outlinewidth": 0, **ticks}
            if (name := placed.get("name")) is not None:  # stands in the legend once, though several panels have it
                placed |= {"legendgroup": name, "showlegend": name not in named}
                named.add(name)
            traces.append(placed)
    return go.Figure({"data": traces, "layout": layout})


def height_track(heights: np.ndarray) -> Panel:
    """Return a line for every column of ``heights`` (T, n_stacks) of the reference's stacks; NaN leaves a gap."""
    steps = np.arange(1, len(heights) + 1)
    lines = [
        go.Scatter(
            x=steps,
            y=heights[:, stack],
            mode="lines",
            line={"shape": "hvh", "color": CATEGORIES[stack % len(CATEGORIES)]},
            hovertemplate="after step %{x}<br>reference height %{y}<extra></extra>",
            showlegend=False,
        )
        for stack in range(heights.shape[1])
    ]
    return Panel("reference height", tuple(lines), {"rangemode": "tozero", "nticks": 4}, 64)


def category_map(
    values: Any, names: Any, y: Sequence[Any], colours: Collection[str], hover: str, **more: Any
) -> go.Heatmap:
    """Return a heat map of the numbers (rows, T) of ``colours``, with ``names`` in its cells while there is room."""
    steps = len(values[0]) if len(values) else 0
    few = steps <= _NAMED
    return go.Heatmap(
        z=values,
        x=list(range(1, steps + 1)),
        y=y,
        zmin=-0.5,
        zmax=max(1, len(colours)) - 0.5,
        colorscale=stepped(colours),
        showscale=False,
        text=names,
        **{"texttemplate": "%{text}" if few else None, "hovertemplate": hover, "xgap": 1 if few else 0, **more},
    )


def category_track(heading: str, names: Sequence[str]) -> Panel:
    """Return one row of coloured cells, one a step, with the name in each while there is room."""
    colours = category_colours(names, STATE_CATEGORIES)
    numbers = {name: number for number, name in enumerate(colours)}
    values = [[numbers[name] for name in names]]
    texts, hover = [[escaped(name) for name in names]], "after step %{x}<br>%{text}<extra></extra>"
    row = category_map(values, texts, [heading], colours.values(), hover)
    return Panel(heading, (row,), {"showticklabels": False}, 32)
