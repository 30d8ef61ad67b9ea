"""Finding boxes: grown from the first hidden vector until they hold all that their own steps lead to.

Nothing rests on this: what it finds is checked by `stacklens.extract.certificate.check`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from stacklens.extract.certificate.heads import Bounds, Head, Key, Move
from stacklens.extract.certificate.judge import judge
from stacklens.extract.certificate.layout import Piece
from stacklens.extract.certificate.reach import TooMany, reached
from stacklens.extract.certificate.system import System

__all__ = ["grow"]

_VISITS = 2  # of heads, for each evaluation of one that is allowed
_SPARE, _LEAST = 0.05, 1e-9  # a box that has to grow grows by so much of its width more, or steps would never end


def grow(system: System, most: int) -> Bounds:
    """Return boxes that hold the images of the steps from them, at all heads that they lead to.

    Raises:
        Unproved: on the way a step could not be shown to be right; in larger boxes it could be even less.
        TooMany: after ``most`` evaluations of a head, or twice as many visits, there was more to do.
    """
    growth = _Growth(system)
    fresh, visited = [system.start], 0
    while fresh:
        growth.settle(fresh, most)
        heads = reached(system.start, growth.moves)
        visited += len(heads)
        if visited > _VISITS * most:  # what grows for ever may show one new head at a time
            raise TooMany
        fresh = [head for head in heads if head not in growth.moves]
    return growth.bounds


class _Growth:
    """Boxes, and what is known of the heads so far."""

    def __init__(self, system: System) -> None:
        self.system, self.bounds = system, system.start_bounds()
        self.moves: dict[Head, list[Move]] = {}
        self.users: dict[Key, dict[Head, None]] = defaultdict(dict)
        self.evaluated = 0

    def settle(self, heads: Iterable[Head], most: int) -> None:
        """Return nothing; look at ``heads``, and again at all heads whose boxes have grown, until none has."""
        waiting = dict.fromkeys(heads)
        for head in waiting:
            for key in self.system.keys(head):
                self.users[key][head] = None
        while waiting:
            self.evaluated += len(waiting)
            if self.evaluated > most:
                raise TooMany
            grown = self._look(list(waiting))
            waiting = {head: None for key in grown for head in self.users[key]}

    def _look(self, heads: list[Head]) -> dict[Key, None]:
        """Return the names of the boxes that grow at a look at ``heads``."""
        grown: dict[Key, None] = {}
        for head, outcomes, *_ in judge(self.system, heads, self.bounds):
            targets = [target for outcome in outcomes for target in outcome.targets]
            grown.update((key, None) for key, piece in targets if self._join(key, piece))
            self.moves[head] = [move for one in outcomes for move in one.moves(head[1], self.system.model.depth)]
        return grown

    def _join(self, key: Key, piece: Piece) -> bool:
        """Return whether the box called ``key`` has to grow to hold ``piece``, and let it."""
        low, high = self.bounds.get(key, (piece.low, piece.high))
        below, above = piece.low < low, piece.high > high
        known = key in self.bounds
        if known and not below.any() and not above.any():
            return False
        least, most = np.minimum(low, piece.low), np.maximum(high, piece.high)
        spare = _SPARE * (most - least) + _LEAST
        least, most = least - spare * below, most + spare * above
        self.bounds[key] = np.maximum(least, piece.floor), np.minimum(most, piece.ceiling)
        return True
