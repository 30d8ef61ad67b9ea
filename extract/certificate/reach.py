"""The heads that runs of a network and an automaton on boxes can show.

Exact for one stack, by summaries; for several a superset, in which a pop uncovers whatever was ever laid under the
popped cell on that stack (as in `automata.reachability`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from stacklens.automata.summaries import Event, Step, explore
from stacklens.extract.certificate.heads import Control, Entry, Head, Move

__all__ = ["TooMany", "reached"]

_MOST = 3_000_000  # derivations (see `summaries.explore`)
_Ordered = dict[Entry | None, None]  # sets whose order is the same every time
_Below = defaultdict[tuple[int, Entry | None], _Ordered]


class TooMany(Exception):  # noqa: N818 - it ends an attempt, and is no error of anybody
    """There are too many heads, or pieces of an image, to look at."""


def reached(start: Head, moves: Mapping[Head, Sequence[Move]]) -> dict[Head, None]:
    """Return every head that runs from ``start`` show, in an order that is the same every time.

    Heads without ``moves`` end the runs.

    Raises:
        TooMany: there are too many.
    """
    return _one_stack(start, moves) if len(start[1]) == 1 else _several_stacks(start, moves)


def _one_stack(start: Head, known: Mapping[Head, Sequence[Move]]) -> dict[Head, None]:
    seen: dict[Head, None] = {}

    def moves(control: Control, top: Entry | None) -> Iterator[Step[Control, Entry] | Event[None]]:
        head = control, (top,)
        seen[head] = None
        for move in known.get(head, ()):
            ((operation, entry),) = move.operations
            kept = () if top is None or operation in (1, 3) else (top,)
            yield Step(move.letter, move.control, kept if entry is None else (*kept, entry))

    if not explore(start[0], moves, _MOST).complete:
        raise TooMany
    return seen


def _several_stacks(start: Head, known: Mapping[Head, Sequence[Move]]) -> dict[Head, None]:
    below: _Below = defaultdict(dict)
    size, found = -1, {start: None}
    while size != len(found) + sum(map(len, below.values())):
        size = len(found) + sum(map(len, below.values()))
        found, unseen = {start: None}, [start]
        while unseen:
            control, tops = unseen.pop()
            for move in known.get((control, tops), ()):
                choices = [
                    _tops_after(below, i, *pair) for i, pair in enumerate(zip(tops, move.operations, strict=True))
                ]
                new = [head for head in ((move.control, choice) for choice in product(*choices)) if head not in found]
                found.update(dict.fromkeys(new))
                unseen += new
    return found


def _tops_after(below: _Below, stack: int, top: Entry | None, done: tuple[int, Entry | None]) -> list[Entry | None]:
    operation, entry = done
    if operation >= 2:
        covered = below[stack, top] if operation == 3 and top is not None else {top: None}
        below[stack, entry].update(covered)
        return [entry]
    return list(below[stack, top]) if operation == 1 else [top]
