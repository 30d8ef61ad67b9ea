"""An automaton's run beside a network's: the state, and what lies on the stacks, before and after every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stacklens.automata.compiled import encode_words
from stacklens.automata.many_runs import ManyRuns, RunTables
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError

__all__ = ["CUT", "SHOWN", "AutomatonRun", "automaton_run"]

SHOWN = 3  # symbols of a stack, from the top
CUT = -1  # the state once the run is cut


@dataclass(frozen=True, eq=False)
class AutomatonRun:
    """What an automaton does on N words of at most T steps; moment t is before step t.

    Attributes:
        names: the automaton's states.
        symbols: its stack symbols, the bottom first: what `stacks` counts in.
        states: the state's number, (N, T + 1), `CUT` from where the run is cut and beyond a word's end.
        heights: how high each stack is, (N, T + 1, n_stacks), -1 there.
        stacks: the three topmost symbols of each, the top first, (N, T + 1, n_stacks, 3), 0 where there is none.
    """

    names: tuple[str, ...]
    symbols: tuple[str, ...]
    states: np.ndarray
    heights: np.ndarray
    stacks: np.ndarray

    @property
    def depths(self) -> np.ndarray:
        """Return the height of all stacks together, (N, T + 1), -1 where there is no state."""
        found: np.ndarray = np.where(self.states < 0, -1, self.heights.sum(-1))
        return found


def automaton_run(pda: PushdownAutomaton, words: Sequence[Word], steps: np.ndarray) -> AutomatonRun:
    """Return the runs of ``pda`` on ``words``, of which a network takes ``steps`` (N,).

    Where the network reads an end symbol that the automaton does not, the automaton stays as it is.

    Raises:
        UnknownSymbolError: a word has a symbol that the automaton does not read.
        AutomatonError: the automaton has ε-steps, which stand beside no step of a network.
        StacklensError: the network takes steps that read nothing.
    """
    codes, lengths = encode_words(words, pda.input_alphabet)
    if (steps > lengths + 1).any():
        raise StacklensError("the network takes steps that read nothing: no automaton's run stands beside them")
    longest = int(steps.max(initial=0))
    letters = np.full((len(words), longest), -1, np.int64)
    letters[:, : codes.shape[1]] = codes
    if pda.end_marker is not None:
        ending = np.flatnonzero(steps > lengths)
        letters[ending, lengths[ending]] = len(pda.input_alphabet)
    runs = ManyRuns.start(RunTables.of(pda), len(words))
    moments = [_moment(runs)]
    for t in range(longest):
        runs = runs.step(letters[:, t])
        moments.append(_moment(runs))
    states, heights, stacks = (np.stack(part, 1) for part in zip(*moments, strict=True))
    beyond = np.arange(longest + 1) > steps[:, None]
    states[beyond] = CUT
    nowhere = states < 0
    heights[nowhere], stacks[nowhere] = -1, 0
    return AutomatonRun(pda.states, (pda.bottom, *pda.stack_alphabet), states, heights, stacks)


def _moment(runs: ManyRuns) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return state (M,), heights (M, n_stacks) and topmost symbols (M, n_stacks, 3) of runs."""
    states = np.where(runs.over, CUT, runs.state)
    depth = np.zeros(len(runs), np.int64)
    shown = [[runs.symbol_at(stack, depth + place) for place in range(SHOWN)] for stack in range(len(runs.node))]
    return states, runs.heights(), np.moveaxis(np.array(shown), -1, 0)
