"""Shortest runs of a pushdown system that is given by its moves: what can happen, and the shortest word on which.

A frame is what happens from the push of a cell until it is popped; it is named by the head (control and top) that the
push makes. Inside a frame every head is known by the length of the shortest word from the frame's beginning to it. A
frame that returns after a shortest word is one long step of each frame that called it, so lengths inside frames are a
least fixed point of functions that never shorten. Items are therefore final in the order of their lengths (Knuth 1977,
"A generalization of Dijkstra's algorithm"); a frame begins when it is first called, at length 0, so what it does is
known before anything longer is looked at. Lengths from the start are then one more search for shortest paths, over
frames. Words may be exponentially longer than the system: they are written only when asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

from stacklens.automata.pda import Symbol
from stacklens.errors import AutomatonError

__all__ = ["LONGEST_RUN", "Event", "PushdownStep", "Runs", "shortest_runs"]

C = TypeVar("C", bound=Hashable)  # controls
S = TypeVar("S", bound=Hashable)  # cells
E = TypeVar("E", bound=Hashable)  # what can happen

LONGEST_RUN = 10_000_000  # symbols of a word that is written out

_Item = tuple[int, int]  # a frame, and the number of a head in it, or ~number of the control that it returns with
_Origin = tuple[_Item, Symbol | None, _Item | None] | None  # the item before, the symbol read, the frame gone through


class PushdownStep(NamedTuple, Generic[C, S]):
    """A move: read ``symbol`` (None: nothing), and go to ``control`` with ``cells`` in the place of the top.

    ``cells`` is empty to pop, ``(cell,)`` to stay on the level, ``(top, cell)`` to push. On the empty stack ``()``
    stays and ``(cell,)`` pushes.
    """

    symbol: Symbol | None
    control: C
    cells: tuple[S, ...]


class Event(NamedTuple, Generic[E]):
    """Something that happens at a head when ``symbol`` (None: nothing more) is read."""

    symbol: Symbol | None
    what: E


_Moves = Callable[[C, S | None], Iterable[PushdownStep[C, S] | Event[E]]]


@dataclass(frozen=True)
class _Head(Generic[E]):
    """The moves of a head in numbers: symbols with the control to pop to, the head to step to, the frame to call."""

    pops: list[tuple[Symbol | None, int]]
    steps: list[tuple[Symbol | None, int]]
    calls: list[tuple[Symbol | None, int]]
    events: list[Event[E]]


class _Search(Generic[C, S, E]):
    """The items found so far; controls and heads are numbered as they turn up."""

    def __init__(self, start: C, moves: _Moves[C, S, E]) -> None:
        self.moves = moves
        self.controls: dict[C, int] = {}
        self.control_names: list[C] = []
        self.names: list[tuple[C, S | None]] = []
        self.numbers: dict[tuple[C, S | None], int] = {}
        self.heads: dict[int, _Head[E]] = {}
        self.done: dict[_Item, tuple[int, _Origin]] = {}
        self.best: dict[_Item, int] = {}
        self.heap: list[tuple[int, int, _Item, _Origin]] = []
        self.callers: dict[int, list[tuple[_Item, Symbol | None]]] = defaultdict(list)
        self.returned: dict[int, list[int]] = defaultdict(list)
        self.derivations = 0
        self.start = self.number(start, None)

    def number(self, control: C, top: S | None) -> int:
        name = control, top
        if name not in self.numbers:
            self.numbers[name] = len(self.names)
            self.names.append(name)
        return self.numbers[name]

    def number_of(self, control: C) -> int:
        if control not in self.controls:
            self.controls[control] = len(self.control_names)
            self.control_names.append(control)
        return self.controls[control]

    def run(self, limit: int) -> bool:
        """Return whether all items were found within ``limit`` derivations of one."""
        self.offer(0, (self.start, self.start), None)
        while self.heap:
            if self.derivations > limit:
                return False
            length, _, item, origin = heappop(self.heap)
            if item not in self.done:
                self.done[item] = length, origin
                self.follow(item, length)
        return True

    def offer(self, length: int, item: _Item, origin: _Origin) -> None:
        self.derivations += 1
        if item not in self.best or length < self.best[item]:
            self.best[item] = length
            heappush(self.heap, (length, len(self.best), item, origin))

    def follow(self, item: _Item, length: int) -> None:
        frame, place = item
        if place < 0:
            self.returned[frame].append(~place)
            for caller, symbol in self.callers[frame]:
                self.resume(caller, symbol, item)
            return
        head = self.heads.get(place) or self.compile(place)
        for symbol, control in head.pops:
            self.offer(length + (symbol is not None), (frame, ~control), (item, symbol, None))
        for symbol, target in head.steps:
            self.offer(length + (symbol is not None), (frame, target), (item, symbol, None))
        for symbol, called in head.calls:
            self.callers[called].append((item, symbol))
            self.offer(0, (called, called), None)
            for control in self.returned[called]:
                self.resume(item, symbol, (called, ~control))

    def resume(self, caller: _Item, symbol: Symbol | None, end: _Item) -> None:
        """Go on in the caller's frame where a frame called from it has come to its end."""
        target = self.number(self.control_names[~end[1]], self.names[caller[1]][1])
        length = self.done[caller][0] + (symbol is not None) + self.done[end][0]
        self.offer(length, (caller[0], target), (caller, symbol, end))

    def compile(self, place: int) -> _Head[E]:
        control, top = self.names[place]
        head = self.heads[place] = _Head([], [], [], [])
        level = 0 if top is None else 1
        for move in self.moves(control, top):
            if isinstance(move, Event):
                head.events.append(move)
            elif len(move.cells) < level:
                head.pops.append((move.symbol, self.number_of(move.control)))
            else:
                target = self.number(move.control, move.cells[-1] if move.cells else None)
                (head.steps if len(move.cells) == level else head.calls).append((move.symbol, target))
        return head


class Runs(Generic[C, S, E]):
    """What the runs of a system can come to.

    Attributes:
        complete: whether everything was looked at; otherwise events may be missing, and words not be the shortest.
        lengths: every event that can happen, with the length of the shortest word on which it does.
    """

    def __init__(self, search: _Search[C, S, E], complete: bool) -> None:
        self.complete = complete
        self._done, self._names = search.done, search.names
        self._frames, self._callers = _frame_lengths(search)
        self._events: dict[E, tuple[int, _Item, Symbol | None]] = {}
        for item, (length, _) in self._done.items():
            for symbol, event in search.heads[item[1]].events if item[1] >= 0 else ():
                total = self._frames[item[0]] + length + (symbol is not None)
                if event not in self._events or total < self._events[event][0]:
                    self._events[event] = total, item, symbol
        self.lengths = {event: length for event, (length, _, _) in self._events.items()}

    def word(self, event: E) -> tuple[Symbol, ...]:
        """Return a shortest word on which ``event`` happens.

        Raises:
            AutomatonError: the word is longer than ``LONGEST_RUN``.
        """
        length, item, symbol = self._events[event]
        if length > LONGEST_RUN:
            raise AutomatonError(f"the shortest word has {length:,} symbols, more than the {LONGEST_RUN:,} written out")
        backwards = list(self._backwards(item, symbol))
        while (caller := self._callers[item[0]]) is not None:
            item, symbol = caller
            backwards += self._backwards(item, symbol)
        return tuple(reversed(backwards))

    def _backwards(self, item: _Item, last: Symbol | None) -> Iterator[Symbol]:
        """Yield ``last`` and what is read before it from the beginning of the item's frame, in reverse."""
        left: list[_Item | Symbol | None] = [item, last]
        while left:
            part = left.pop()
            if isinstance(part, str):
                yield part
            elif part is not None and (origin := self._done[part][1]) is not None:
                left += origin


def _frame_lengths(search: _Search[C, S, E]) -> tuple[dict[int, int], dict[int, tuple[_Item, Symbol | None] | None]]:
    """Return the length of the shortest word to the beginning of each frame, and the call that ends it."""
    calls: dict[int, list[tuple[int, int, _Item, Symbol | None]]] = defaultdict(list)
    for called, callers in search.callers.items():
        for item, symbol in callers:
            calls[item[0]].append((called, search.done[item][0] + (symbol is not None), item, symbol))
    lengths: dict[int, int] = {}
    via: dict[int, tuple[_Item, Symbol | None] | None] = {}
    heap: list[tuple[int, int, int, tuple[_Item, Symbol | None] | None]] = [(0, 0, search.start, None)]
    pushed = 0
    while heap:
        length, _, frame, call = heappop(heap)
        if frame not in lengths:
            lengths[frame], via[frame] = length, call
            for called, more, item, symbol in calls[frame]:
                pushed += 1
                heappush(heap, (length + more, pushed, called, (item, symbol)))
    return lengths, via


def shortest_runs(start: C, moves: _Moves[C, S, E], limit: int = 1_000_000) -> Runs[C, S, E]:
    """Return what the runs from ``start`` on an empty stack can come to.

    Args:
        start: the control before the first symbol.
        moves: ``moves(control, top)`` yields the steps and the events at a head; the top of an empty stack is None.
        limit: how many derivations of a head in a frame from another are made; a million take some seconds.

    >>> def moves(control: str, top: str | None) -> list[PushdownStep[str, str] | Event[str]]:
    ...     if control == "up":
    ...         return [PushdownStep("a", "up" if top is None else "down", ("A",) if top is None else (top, "A"))]
    ...     return [PushdownStep("b", "down", ())] if top else [Event("c", "done")]
    >>> runs = shortest_runs("up", moves)
    >>> runs.lengths, "".join(runs.word("done"))
    ({'done': 5}, 'aabbc')
    """
    search: _Search[C, S, E] = _Search(start, moves)
    complete = search.run(limit)
    return Runs(search, complete)
