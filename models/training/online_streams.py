"""The streams that are learned and checked symbol by symbol, as the authors of Joulin & Mikolov 2015 cut them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stacklens.automata.compiled import BoolArray
from stacklens.languages.tasks.streams import StreamTask

__all__ = ["Reading", "checked_stream", "learned_streams"]


@dataclass(frozen=True)
class Reading:
    """A stream from empty memories on: the symbols read, what follows each, and which of these are to be predicted.

    All are (T,), and symbols are numbers.
    """

    symbols: npt.NDArray[np.int64]
    following: npt.NDArray[np.int64]
    counts: BoolArray

    def steps(self) -> Iterator[tuple[int, int, bool]]:
        """Yield each symbol, what follows, and whether that is to be predicted."""
        return zip(self.symbols.tolist(), self.following.tolist(), self.counts.tolist(), strict=True)


def learned_streams(task: StreamTask, pieces: Sequence[str], emptied: int, known_only: bool) -> Iterator[Reading]:
    """Yield the streams of an epoch; memories are emptied after so many ``pieces``.

    The symbol before comes first in each of them, but not in the first: there is none whose prediction counts.
    """
    before = ""
    for at in range(0, len(pieces), emptied):
        text = "".join(pieces[at : at + emptied])
        yield _reading(task, text, before, known_only)
        before = text[-1]


def checked_stream(task: StreamTask, pieces: Sequence[str], known_only: bool) -> Reading:
    """Return one stream of ``pieces``, through which memories are never emptied."""
    return _reading(task, "".join(pieces), "", known_only)


def _reading(task: StreamTask, text: str, before: str, known_only: bool) -> Reading:
    number = {symbol: place for place, symbol in enumerate(task.alphabet)}
    symbols = np.array([number[symbol] for symbol in before + text])
    counts = np.array([False] * len(before) + task.scored(text), np.bool_)
    if not known_only:
        counts[:] = True
    return Reading(symbols[:-1], symbols[1:], counts[:-1])
