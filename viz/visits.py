"""Which words visit which state of an automaton, and with which hidden vector the network is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from stacklens.automata.pda import PushdownAutomaton, State, Word
from stacklens.extract.reference import Reference, random_words
from stacklens.languages.words import format_word
from stacklens.models.base import StackModel
from stacklens.models.word_sets import all_words
from stacklens.probe.trace import Trace
from stacklens.viz.hidden import hidden_map
from stacklens.viz.style import category_colours
from stacklens.viz.tracks import state_names

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Visit", "state_map", "states_of", "visit_table", "visiting_words", "visits"]

_REJECTED = "rejected"  # as `state_names` says
_AFTER = "after the word"  # steps that a network takes when the automaton is through
_FAINT = "#8C8C8C"


@dataclass(frozen=True)
class Visit:
    """One moment at which a run is in a state.

    Attributes:
        word: the word.
        step: after how many symbols, 0 before the first.
        hidden: the network's hidden vector then, (H,).
    """

    word: Word
    step: int
    hidden: np.ndarray


def visiting_words(
    model: StackModel[Any], reference: Reference | None, number: int = 60, seed: int = 0
) -> tuple[Word, ...]:
    """Return up to ``number`` different words on which states are visited: the shortest ones, and drawn longer ones.

    The drawn ones are what ``reference`` suggests, members and near-misses, or uniformly random without one.
    """
    lengths = (4, 16)
    drawn = (
        random_words(model.alphabet, number, lengths, seed)
        if reference is None
        else reference.long_words(number, lengths, seed)
    )
    longest = 1
    while len(model.alphabet) ** (longest + 1) <= number // 2:
        longest += 1
    short = all_words(model.alphabet, longest)[: number // 3]
    return tuple(dict.fromkeys([*short, *drawn]))[:number]


def states_of(pda: PushdownAutomaton, seen: Trace) -> list[list[State]]:
    """Return the state of ``pda`` after every step of every word of a trace, "rejected" from where its run ends.

    Where the network takes steps after the word that the automaton does not, these are "after the word".
    """
    names = [state_names(pda, word) for word in seen.words]
    return [
        [*row[:steps], *[_AFTER] * (steps - len(row))] for row, steps in zip(names, seen.steps.tolist(), strict=True)
    ]


def visits(pda: PushdownAutomaton, seen: Trace) -> dict[State, list[Visit]]:
    """Return all moments of a trace at which ``pda`` is in each of its states, in the order of words and steps."""
    found: dict[State, list[Visit]] = {state: [] for state in pda.states}
    for state, visit in _moments(pda, seen):
        found[state].append(visit)
    return found


def _moments(pda: PushdownAutomaton, seen: Trace) -> Iterator[tuple[State, Visit]]:
    for number, (word, states) in enumerate(zip(seen.words, states_of(pda, seen), strict=True)):
        for step, state in enumerate([pda.initial, *states]):
            if state in pda.states:
                yield state, Visit(word, step, seen.hidden[number, step])


def visit_table(pda: PushdownAutomaton, seen: Trace, state: State | None = None) -> pd.DataFrame:
    """Return one row a visit, of all states or of ``state`` alone: state, word, step, and the hidden vector's numbers.

    The step counts symbols: the row tells of the moment after so many of them.
    """
    import pandas as pd

    units = [f"h{unit + 1}" for unit in range(seen.hidden.shape[-1])]
    rows = [
        [name, format_word(visit.word), visit.step, *visit.hidden.tolist()]
        for name, found in visits(pda, seen).items()
        if state in (None, name)
        for visit in found
    ]
    return pd.DataFrame(rows, columns=["state", "word", "step", *units])


def state_map(model: StackModel[Any], seen: Trace, pda: PushdownAutomaton) -> go.Figure:
    """Return `hidden_map` of a trace, coloured by the state that ``pda`` is in; where it is in none, faint and grey.

    Initial vectors, with a mark of their own, have the colour of the initial state.
    """
    figure = hidden_map(model, seen, states_of(pda, seen))
    colours = category_colours(pda.states)
    for points in figure.data:
        points.marker.color = colours.get(points.name, colours[pda.initial])
    nowhere = [points for points in figure.data if points.name in (_REJECTED, _AFTER)]
    for points in nowhere:
        points.marker.update(color=_FAINT, opacity=0.3, size=5)
    figure.data = (*nowhere, *(points for points in figure.data if points not in nowhere))  # below the others
    return figure
