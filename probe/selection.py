"""Moments of a trace, chosen by word, step, symbol or state, as rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklens.errors import StacklensError

if TYPE_CHECKING:
    import pandas as pd

    from stacklens.probe.trace import Trace

__all__ = ["Selection", "select"]

_Chosen = int | str | Collection[int] | Collection[str] | None


@dataclass(frozen=True, eq=False)
class Selection:
    """M moments of a trace: before step `step` of word number `word`, which is after so many symbols.

    Attributes:
        trace: the trace.
        word, step: which moments, (M,) each.
    """

    trace: Trace
    word: np.ndarray
    step: np.ndarray

    def __len__(self) -> int:
        return len(self.word)

    @property
    def hidden(self) -> np.ndarray:
        """Return the hidden vectors, (M, H)."""
        found: np.ndarray = self.trace.hidden[self.word, self.step]
        return found

    @property
    def symbol(self) -> np.ndarray:
        """Return the number of the symbol read last, -1 before the first, (M,)."""
        found: np.ndarray = np.where(self.step > 0, self.trace.symbols[self.word, np.maximum(self.step - 1, 0)], -1)
        return found

    @property
    def state(self) -> np.ndarray:
        """Return the name of the automaton's state, "" where its run is cut, (M,) str; see `Trace.with_automaton`."""
        run = self.trace.joined
        names = np.array([*run.names, ""])
        found: np.ndarray = names[run.states[self.word, self.step]]
        return found

    @property
    def depth(self) -> np.ndarray:
        """Return how high the automaton's stacks are together, -1 where its run is cut, (M,)."""
        found: np.ndarray = self.trace.joined.depths[self.word, self.step]
        return found

    def below(self, place: int = 0, stack: int = 0) -> np.ndarray:
        """Return the automaton's stack symbol ``place`` below the top, 0 to 2, the bottom where there is none, (M,)."""
        run = self.trace.joined
        found: np.ndarray = np.array(run.symbols)[run.stacks[self.word, self.step, stack, place]]
        return found

    def pushed(self, stack: int = 0) -> np.ndarray:
        """Return what the step that led here laid down, or would have, (M, D); NaN before the first."""
        values: np.ndarray = self.trace.pushed[self.word, np.maximum(self.step - 1, 0), stack]
        return np.where((self.step > 0)[:, None], values, np.nan)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a moment: word, step, last symbol, hidden vector; if joined, state and depth too."""
        import pandas as pd

        letters = np.array([*self.trace.letters, ""], dtype=object)
        columns: dict[str, Any] = {"word": self.word, "step": self.step, "symbol": letters[self.symbol]}
        if self.trace.automaton is not None:
            columns |= {"state": self.state, "depth": self.depth, "top": self.below()}
        columns |= {f"hidden_{unit}": values for unit, values in enumerate(self.hidden.T)}
        return pd.DataFrame(columns)


def select(
    seen: Trace, word: _Chosen = None, step: _Chosen = None, symbol: _Chosen = None, state: _Chosen = None
) -> Selection:
    """Return the moments of ``seen`` at which all that is given holds; a collection gives alternatives.

    Args:
        seen: the trace.
        word: its number, or itself.
        step: the moment: after so many symbols.
        symbol: the letter read last.
        state: the automaton's state; the trace has to be joined with an automaton.

    Raises:
        StacklensError: there is no such word, symbol or state.
    """
    within = np.arange(seen.symbols.shape[1] + 1) <= seen.steps[:, None]
    if word is not None:
        numbers = [_word(seen, one) for one in _several(word, seen.words)]
        within &= np.isin(np.arange(len(seen.words)), numbers)[:, None]
    if step is not None:
        within &= np.isin(np.arange(within.shape[1]), list(_several(step)))
    if symbol is not None:
        wanted = [_number(one, seen.letters, "symbol") for one in _several(symbol, seen.letters)]
        within &= np.pad(np.isin(seen.symbols, wanted), ((0, 0), (1, 0)))
    if state is not None:
        run = seen.joined
        within &= np.isin(run.states, [_number(one, run.names, "state") for one in _several(state, run.names)])
    words, steps = np.nonzero(within)
    return Selection(seen, words, steps)


def _several(given: Any, names: Collection[Any] = ()) -> Iterable[Any]:
    single = isinstance(given, int | np.integer | str) or given in names if _hashable(given) else False
    return (given,) if single else given


def _hashable(given: object) -> bool:
    return isinstance(given, int | np.integer | str | tuple)


def _word(seen: Trace, given: Any) -> int:
    if isinstance(given, int | np.integer):
        if not 0 <= given < len(seen.words):
            raise StacklensError(f"there is no word {given}: the trace has {len(seen.words)}, from 0")
        return int(given)
    if given not in seen.words:
        raise StacklensError(f"{given!r:.60} is none of the trace's {len(seen.words)} words")
    return seen.words.index(given)


def _number(given: Any, names: tuple[str, ...], what: str) -> int:
    if given not in names:
        raise StacklensError(f"there is no {what} {given!r:.60}; expected one of {' '.join(names):.200}")
    return names.index(given)
