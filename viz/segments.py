"""Stacks whose contents have lengths, as pieces between heights (Sun et al. 1993, figures 4-6; Hao et al. 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from stacklens.models.base import StackModel
from stacklens.probe.contents import Piece, pieces
from stacklens.probe.trace import Trace
from stacklens.viz.actions import action_panel, reading_panel
from stacklens.viz.panels import Panel, figure_of, letters_of
from stacklens.viz.style import category_colours, sentence
from stacklens.viz.titles import escaped, title_of

__all__ = ["pieces_of", "segment_figure", "segment_panel"]

_NAMED = 80  # steps up to which pieces carry their symbol
_TALL = 0.15  # a piece shorter than this has no room for it


def segment_figure(model: StackModel[Any], seen: Trace, word: int = 0) -> go.Figure:
    """Return the stack's pieces over time with the actions and readings, for continuous and strength stacks."""
    if model.action_kind not in ("signed", "strengths"):
        return sentence(f"The stack of this {model.name} has no lengths: its cells show it.")
    panels = [segment_panel(model, seen, word), action_panel(model, seen, word), reading_panel(model, seen, word)]
    return figure_of(title_of(model, seen, word), panels, letters_of(seen, word))


def pieces_of(model: StackModel[Any], seen: Trace, word: int = 0) -> list[Piece]:
    """Return what lies in the stack of a network whose actions are signed or strengths, piece by piece.

    Raises:
        ValueError: its actions are of another kind.
    """
    actions = seen.actions[word, : seen.steps[word], 0] if seen.steps[word] else np.zeros((0, 2))
    if model.action_kind == "signed":
        return pieces(np.maximum(-actions[:, 0], 0), np.maximum(actions[:, 0], 0))
    if model.action_kind == "strengths":
        return pieces(actions[:, 0], actions[:, 1])
    raise ValueError(f"a stack with {model.action_kind} actions has no lengths")


def segment_panel(model: StackModel[Any], seen: Trace, word: int = 0) -> Panel:
    """Return the pieces as boxes: from step to step, from height to height, coloured by the symbol read at the push."""
    letters, found = letters_of(seen, word), pieces_of(model, seen, word)
    colours = category_colours(seen.letters)
    bars = [
        _bars(letter, colours[letter], mine, seen, word, len(letters) <= _NAMED)
        for letter in seen.letters
        if (mine := [piece for piece in found if letters[piece.pushed] == letter])
    ]
    if not bars:
        bars = [go.Scatter(x=[], y=[], showlegend=False)]
    height = max((piece.top for piece in found), default=1.0)
    y = {"title": {"text": "height"}, "range": [0, 1.02 * max(1.0, height)]}
    return Panel("stack after each step, by the symbol read when it was pushed", tuple(bars), y, 240)


def _bars(letter: str, colour: str, found: list[Piece], seen: Trace, word: int, named: bool) -> Any:
    return go.Bar(
        x=[(piece.first + piece.last) / 2 + 1 for piece in found],
        width=[piece.last - piece.first + 1 for piece in found],
        base=[piece.bottom for piece in found],
        y=[piece.length for piece in found],
        name=escaped(letter),
        legendgroup=letter,
        marker={"color": colour, "line": {"width": 1 if named else 0}},
        text=[escaped(letter) if named and piece.length >= _TALL else "" for piece in found],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        hovertext=[_hover(letter, piece, seen, word) for piece in found],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _hover(letter: str, piece: Piece, seen: Trace, word: int) -> str:
    value = ", ".join(f"{number:.6g}" for number in seen.pushed[word, piece.pushed, 0])
    return (
        f"pushed at step {piece.pushed + 1}, reading {escaped(letter)}<br>length {piece.length:.6g}, from "
        f"{piece.bottom:.6g} to {piece.top:.6g}<br>after steps {piece.first + 1} to {piece.last + 1}<br>value {value}"
    )
