"""The figures by name, and for every network the one that its own paper draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go

from ..automata.pda import PushdownAutomaton
from ..core.errors import UnknownNameError
from ..extract.evaluation.automaton_runs import reference_heights, state_names
from ..models.base import StackModel
from ..models.rounding import Rounded
from ..probe.trace import Trace, trace
from .automaton import discrete_panel
from .hidden import hidden_heatmap, hidden_map, hidden_panel
from .operations import (
    action_heatmap,
    action_panel,
    operation_panel,
    operation_table,
    pushed_panel,
    reading_panel,
    segment_figure,
    segment_panel,
    stack_heatmap,
    stack_panels,
)
from .style import Panel, category_track, figure_of, height_track, letters_of, sentence, title_of

_FEW = 6  # cells of each stack where there are several
_MANY = 3  # stacks above which the table of operations stands alone


def paper_figure(
    model: StackModel[Any],
    seen: Trace,
    word: int = 0,
    *,
    truth: PushdownAutomaton | None = None,
    automaton: PushdownAutomaton | None = None,
) -> go.Figure:
    """Return what the network's own paper shows of a word, with an automaton's stacks and states.

    Stacks with lengths: their segments, the action and the reading (Sun et al. 1993, figures 4-6), or the strengths and
    the pushed vectors (Hao et al. 2018, figures 5 and 6). One stack with cells: the operations' shares and the cells
    (Suzgun et al. 2019, figures 3 and 4). Several: the table of operations (Joulin & Mikolov 2015, figure 3), and the
    cells of up to three. No stack: the hidden vector.

    Args:
        model: the network, or the rounded one.
        seen: its trace, with stacks=True.
        word: the number of the word in the trace.
        truth: the automaton of what the network was trained on: how high its stacks are stands below.
        automaton: what was read out of the network: its stacks stand under the soft one, cell by cell.
    """
    letters = letters_of(seen, word)
    panels = _panels(model, seen, word) if letters else []
    if automaton is not None and letters:
        high = model.action_kind in ("signed", "strengths")
        stacks = range(automaton.n_stacks)
        panels += [discrete_panel(automaton, seen.words[word], stack, from_the_bottom=high) for stack in stacks]
        panels.append(category_track("state", _states_beside(automaton, seen, word)))
    if letters and (heights := reference_heights(truth, seen.words[word])) is not None:
        panels.append(height_track(heights[: len(letters)]))
    return figure_of(title_of(model, seen, word), panels, letters)


def _panels(model: StackModel[Any], seen: Trace, word: int) -> list[Panel]:
    if model.n_stacks == 0:
        return [hidden_panel(seen, word)] if seen.hidden.shape[-1] else []
    if model.action_kind == "signed":
        return [segment_panel(model, seen, word), action_panel(model, seen, word), reading_panel(model, seen, word)]
    if model.action_kind == "strengths":
        return [segment_panel(model, seen, word), action_panel(model, seen, word), pushed_panel(seen, word)]
    if model.n_stacks == 1:
        cells = [] if seen.cells is None else stack_panels(seen, word)
        return [action_panel(model, seen, word), *cells, pushed_panel(seen, word)]
    cells = [] if seen.cells is None or model.n_stacks > _MANY else stack_panels(seen, word, _FEW)
    return [operation_panel(model, seen, word), *cells]


def rounding_figure(model: StackModel[Any], seen: Trace, word: int = 0) -> go.Figure:
    """Return the network's stack over that of the rounded network on the same word, and the actions of both.

    Where the two part, rounding changes what the network does.
    """
    if isinstance(model, Rounded):
        return sentence("These actions are rounded already: draw this figure of the network itself.")
    if model.n_stacks == 0:
        return sentence(f"This {model.name} has no stack.")
    rounded = trace(Rounded(model), [seen.words[word]], stacks=True)
    letters = letters_of(seen, word)
    panels: list[Panel] = []
    for name, one, number in (("soft actions", seen, word), ("rounded actions", rounded, 0)):
        mine: list[Panel] = []
        if letters and model.action_kind in ("signed", "strengths"):
            mine = [segment_panel(model, one, number), action_panel(model, one, number)]
        elif letters:
            mine = [*([] if one.cells is None else stack_panels(one, number)), action_panel(model, one, number)]
        panels += [replace(panel, heading=f"{name}: {panel.heading}") for panel in mine]
    return figure_of(title_of(model, seen, word), panels, letters)


def _states_beside(automaton: PushdownAutomaton, seen: Trace, word: int) -> list[str]:
    """Return the state of ``automaton`` for every step of the network, which may read an end symbol besides."""
    names, steps = state_names(automaton, seen.words[word]), int(seen.steps[word])
    return [*names, *["end"] * (steps - len(names))][:steps]


_Figure = Callable[[StackModel[Any], Trace, int, PushdownAutomaton | None], go.Figure]
FIGURES: dict[str, _Figure] = {
    "paper": lambda model, seen, word, automaton: paper_figure(model, seen, word, automaton=automaton),
    "actions": lambda model, seen, word, _: action_heatmap(model, seen, word),
    "stack": lambda model, seen, word, _: stack_heatmap(model, seen, word),
    "segments": lambda model, seen, word, _: segment_figure(model, seen, word),
    "operations": lambda model, seen, word, _: operation_table(model, seen, word),
    "hidden": lambda model, seen, word, automaton: hidden_heatmap(
        model, seen, word, None if automaton is None else _states_beside(automaton, seen, word)
    ),
    "map": lambda model, seen, _, automaton: hidden_map(
        model,
        seen,
        None if automaton is None else [_states_beside(automaton, seen, one) for one in range(len(seen.words))],
    ),
    "rounding": lambda model, seen, word, _: rounding_figure(model, seen, word),
}


def draw(
    name: str, model: StackModel[Any], seen: Trace, word: int = 0, automaton: PushdownAutomaton | None = None
) -> go.Figure:
    """Return the figure called ``name``, one of `FIGURES`, of word number ``word``.

    With an ``automaton``, what was read out of the network, it shows the automaton's states where it has a place.

    Raises:
        UnknownNameError: there is no such figure.
    """
    if name not in FIGURES:
        raise UnknownNameError("figure", name, list(FIGURES))
    return FIGURES[name](model, seen, word, automaton)
