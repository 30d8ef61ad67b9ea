"""Tracks under the word: its true depth, and what it is called at every step, such as a state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.viz.panels import Panel
from stacklens.viz.style import CATEGORIES, category_colours, stepped
from stacklens.viz.titles import escaped

__all__ = ["category_track", "depth_track", "state_names", "true_depths"]

_NAMED = 60  # steps whose names are written into the track


def true_depths(automaton: PushdownAutomaton, word: Word) -> np.ndarray:
    """Return how high the stacks of ``automaton`` are after every step on ``word``, (T, n_stacks), NaN once it rejects.

    With an end marker T is one more than the word is long.
    """
    steps = len(word) + (automaton.end_marker is not None)
    heights = np.full((steps, automaton.n_stacks), np.nan)
    for step, configuration in enumerate(automaton.run(word)):
        if step:
            heights[step - 1] = [len(stack) for stack in configuration.stacks]
    return heights


def state_names(automaton: PushdownAutomaton, word: Word) -> list[str]:
    """Return the state of ``automaton`` after every step on ``word``, "rejected" from where its run ends."""
    names = [configuration.state for configuration in automaton.run(word)][1:]
    return names + ["rejected"] * (len(word) + (automaton.end_marker is not None) - len(names))


def depth_track(depths: np.ndarray) -> Panel:
    """Return a line for every column of ``depths`` (T, n_stacks), the depth after each step; NaN leaves a gap."""
    steps = np.arange(1, len(depths) + 1)
    lines = [
        go.Scatter(
            x=steps,
            y=depths[:, stack],
            mode="lines",
            line={"shape": "hvh", "color": CATEGORIES[stack % len(CATEGORIES)]},
            hovertemplate="after step %{x}<br>true depth %{y}<extra></extra>",
            showlegend=False,
        )
        for stack in range(depths.shape[1])
    ]
    return Panel("true depth", tuple(lines), {"rangemode": "tozero", "nticks": 4}, 64)


def category_track(heading: str, names: Sequence[str]) -> Panel:
    """Return one row of coloured cells, one a step, with the name in each while there is room."""
    colours = category_colours(names)
    numbers = {name: number for number, name in enumerate(colours)}
    row = go.Heatmap(
        z=[[numbers[name] for name in names]],
        x=list(range(1, len(names) + 1)),
        y=[heading],
        zmin=-0.5,
        zmax=len(colours) - 0.5,
        colorscale=stepped(colours.values()),
        showscale=False,
        text=[[escaped(name) for name in names]],
        texttemplate="%{text}" if len(names) <= _NAMED else None,
        hovertemplate="after step %{x}<br>%{text}<extra></extra>",
        xgap=1 if len(names) <= _NAMED else 0,
    )
    return Panel(heading, (row,), {"showticklabels": False}, 32)
