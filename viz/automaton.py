"""An automaton's stack over time beside the soft one, and up to which size an automaton is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError
from ..extract.evaluation.automaton_runs import stacks_beside, state_names
from ..models.base import StackModel
from ..probe.trace import Trace
from .operations import segment_panel, stack_panels
from .style import Panel, category_colours, category_track, escaped, figure_of, letters_of, stepped, title_of

MOST_STATES, MOST_EDGES = 60, 150  # beyond, nobody reads a drawing, and Graphviz needs minutes for it

_SHOWN = 20  # cells of a stack in a picture, as many as of a soft one
_FEW = 6  # of each of several
_NAMED = 60  # steps up to which cells carry their symbol
_ROW = 22  # pixels


def check_size(pda: PushdownAutomaton) -> None:
    """Check that ``pda`` is small enough for a drawing.

    Raises:
        StacklensError: it has too many states, or too many pairs of states that rules join.
    """
    edges = len({(key[0], step.target) for key, step in pda.transitions.items()})
    if len(pda.states) > MOST_STATES or edges > MOST_EDGES:
        raise StacklensError(
            f"this automaton has {len(pda.states):,} states and {edges:,} edges; a drawing has at most {MOST_STATES} "
            f"and {MOST_EDGES}, so read its transition table"
        )


def stacks_figure(
    model: StackModel[Any],
    seen: Trace,
    pda: PushdownAutomaton,
    word: int = 0,
    *,
    stacks: Sequence[int] | None = None,
) -> go.Figure:
    """Return the network's stack over the automaton's on word number ``word`` of a trace with stacks, and its states.

    Where the network's stack has cells both show the top on top; where its contents have lengths, both stand on the
    bottom (Sun et al. 1993, figures 4-6). ``stacks`` are the numbers of the network's stacks that are the automaton's,
    all by default.
    """
    letters, read = letters_of(seen, word), seen.words[word]
    if not letters:
        return figure_of(title_of(model, seen, word), [], letters)
    lengths = model.action_kind in ("signed", "strengths")
    panels: list[Panel] = []
    if lengths:
        panels = [segment_panel(model, seen, word)]
    elif seen.cells is not None:  # the cells of those of the network's stacks that are asked for
        numbers = range(seen.cells.shape[2]) if stacks is None else stacks
        soft = stack_panels(seen, word, _SHOWN if len(numbers) <= 1 else _FEW)
        panels = [soft[number] for number in numbers]
    for stack in range(pda.n_stacks):
        panels.append(discrete_panel(pda, read, stack, from_the_bottom=lengths))
    panels.append(category_track("state", state_names(pda, read)))
    return figure_of(title_of(model, seen, word), panels, letters)


def discrete_panel(pda: PushdownAutomaton, word: Word, stack: int = 0, *, from_the_bottom: bool = False) -> Panel:
    """Return what lies on stack number ``stack`` after each letter of ``word``, a colour and a name for each symbol.

    At most 20 cells are shown: those nearest the top, with the top on top, or ``from_the_bottom`` the lowest ones.
    """
    steps = len(word) + (pda.end_marker is not None)
    colours = category_colours(pda.stack_alphabet)
    numbers = {symbol: float(number) for number, symbol in enumerate(pda.stack_alphabet)}
    values, names = np.full((_SHOWN, steps), np.nan), np.full((_SHOWN, steps), "", dtype=object)
    highest = 0
    for step, stacks in enumerate(stacks_beside(pda, word)):
        content = stacks[stack][:_SHOWN] if from_the_bottom else stacks[stack][: -_SHOWN - 1 : -1]
        values[: len(content), step] = [numbers[symbol] for symbol in content]
        names[: len(content), step] = [escaped(symbol) for symbol in content]
        highest = max(highest, len(content))
    rows = max(1, highest)
    # where the rows of cells stand, and the axis that they stand on
    y: list[Any] = ["top", *(str(row + 1) for row in range(1, rows))]
    axis: dict[str, Any] = {"autorange": "reversed", "type": "category", "showgrid": False}
    if from_the_bottom:
        y, axis = [row + 0.5 for row in range(rows)], {"title": {"text": "height"}, "range": [0, 1.02 * rows]}
    name = "automaton's stack" if pda.n_stacks == 1 else f"automaton's stack {stack + 1}"
    heading = f"{name} after each step{', the top on top' if not from_the_bottom else ''}"
    map_ = go.Heatmap(
        z=values[:rows],
        x=list(range(1, steps + 1)),
        y=y,
        zmin=-0.5,
        zmax=max(1, len(colours)) - 0.5,
        colorscale=stepped(colours.values()),
        showscale=False,
        showlegend=False,
        text=names[:rows],
        texttemplate="%{text}" if steps <= _NAMED else None,
        hovertemplate="after step %{x}, %{y}<br>%{text}<extra></extra>",
        hoverongaps=False,
        xgap=1 if steps <= _NAMED else 0,
        ygap=1,
    )
    return Panel(heading, (map_,), axis, max(64, _ROW * rows))
