"""Work on long words: one piece after another, whoever asked for it, so that everybody else is answered meanwhile.

A network reads a word symbol by symbol, in Python, and Python runs one thread at a time: eight words of 10,000 symbols
at once would keep all users waiting for all of them. So a long word is worked on by one thread of the server, first
come first served, and a page that asks for it is told at once how many come first, and asks again.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from stacklens.errors import StacklensError
from stacklens.progress import count
from stacklens.viz.dashboard.extractions import settings_known

__all__ = ["LONG", "NotYetError", "Turns", "in_turn"]

LONG = 500  # symbols of a word; a shorter one takes a fraction of a second
_WAITING = 24  # pieces of work; a word has two or three
_KEPT = 8  # results that are at hand; a page asks for them again when another panel changes
_SOON = 1.0  # seconds that a request waits for what is being worked on
_FORGOTTEN = 15.0  # seconds after which who has not asked again has gone


class NotYetError(StacklensError):
    """What is said in place of a result that is not there yet: ask again."""


class _Piece:
    """One piece of work."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work, self.ended, self.asked = work, threading.Event(), time.monotonic()
        self.result: Any = None
        self.error: BaseException | None = None

    def do(self) -> None:
        try:
            self.result = self.work()
        except BaseException as error:  # whoever asked for it is told
            self.error = error
        self.ended.set()


class Turns:
    """Pieces of work that are done one after another by a thread that is there as long as there are any.

    Args:
        waiting: how many may wait.
        soon: how many seconds a request waits for what is being worked on.
    """

    def __init__(self, waiting: int = _WAITING, soon: float = _SOON) -> None:
        self._most, self._soon = waiting, soon
        self._lock = threading.Lock()
        self._pieces: OrderedDict[Any, _Piece] = OrderedDict()  # those that are ended first, then in order of turns
        self._works = False

    def result(self, key: Any, work: Callable[[], Any], patience: float | None = None) -> Any:
        """Return what comes of ``work``, done in its turn; pieces with one ``key`` are one.

        Args:
            key: what tells this piece from others.
            work: does it.
            patience: how many seconds to wait whoever comes first; by default only for what is being worked on.

        Raises:
            NotYetError: it is not there yet, or too much waits.
            Exception: what ``work`` raised.
        """
        with self._lock:
            before = self._before(key)
            piece = self._pieces.get(key) or self._new(key, work, before)
            piece.asked = time.monotonic()
        piece.ended.wait(patience if patience is not None else self._soon if before == 0 else 0)
        if not piece.ended.is_set():
            raise NotYetError(_said(before))
        if piece.error is not None:
            raise piece.error
        return piece.result

    def _before(self, key: Any) -> int:
        """Return how many pieces come before the one called ``key``, which may be new."""
        to_do = [name for name, piece in self._pieces.items() if not piece.ended.is_set()]
        return to_do.index(key) if key in to_do else len(to_do)

    def _new(self, key: Any, work: Callable[[], Any], before: int) -> _Piece:
        if before >= self._most:
            raise NotYetError(f"{_RULE}; {before} wait, which is the most: try again in a minute")
        piece = self._pieces[key] = _Piece(work)
        if not self._works:
            self._works = True
            threading.Thread(target=self._do_all, daemon=True).start()
        return piece

    def _do_all(self) -> None:
        while (piece := self._next()) is not None:
            piece.do()

    def _next(self) -> _Piece | None:
        """Return what is to be done now, without what nobody asks for any more and the oldest results."""
        with self._lock:
            gone = time.monotonic() - _FORGOTTEN
            waits = {key: piece for key, piece in self._pieces.items() if not piece.ended.is_set()}
            for key in [key for key, piece in waits.items() if piece.asked < gone]:
                del self._pieces[key], waits[key]
            ended = [key for key, piece in self._pieces.items() if piece.ended.is_set()]
            for key in ended[: max(0, len(ended) - _KEPT)]:
                del self._pieces[key]
            self._works = bool(waits)
            return next(iter(waits.values()), None)


_RULE = f"words of more than {LONG:,} symbols are worked on one at a time"


def _said(before: int) -> str:
    others = f"; {count(before, 'piece')} of work {'comes' if before == 1 else 'come'} first" if before else ""
    return f"{_RULE}{others}: the result appears here by itself"


_turns = Turns()


def in_turn(
    network: str, text: str, function: Callable[..., Any], *arguments: Any, patience: float | None = None
) -> Any:
    """Return ``function(*arguments)``: now where ``text``, what it works on, is short, else in its turn.

    What has been read out of ``network`` belongs to what a piece of work is: with another automaton it is another.

    Raises:
        NotYetError: as `Turns.result`.
        StacklensError: as ``function``, or there is no such network.
    """
    if len(text) <= LONG:
        return function(*arguments)
    key = (function, arguments, settings_known(network))
    return _turns.result(key, lambda: function(*arguments), patience)
