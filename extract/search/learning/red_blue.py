"""Red-blue merging of states: Lang, Pearlmutter & Price 1998, "Results of the Abbadingo one DFA learning competition".

Red nodes are states, blue ones their successors that are not states yet. The blue node with most nodes under it joins
the first red one with whose evidence all that follows agrees, or becomes a state itself. What is not known, and an
output that does not count, agrees with everything; a rejection is evidence like any other.

AALpy's `run_GSM` merges in the same order, and could not be used: its data know an output or do not, and ours are known
in part, since what a step does to the stacks is known where what it says does not count; moreover it is an extra.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stacklens.extract.search.learning.evidence import NOWHERE, Entry, Evidence
from stacklens.extract.search.learning.run_tree import SILENT

__all__ = ["merged_states"]

_Log = list[tuple[int, int, Entry | None]]  # node, key, and what was there before


def merged_states(
    evidence: Evidence, most: int, stop: Callable[[], bool] = lambda: False
) -> dict[int, dict[int, Entry]] | None:
    """Return the entries of the states, by their nodes in the order in which they were found, the root first.

    The next node of every entry is a state. None where there would be more than ``most`` of them, or ``stop`` says so.
    """
    merging = _Merging([dict(row) for row in evidence.entries], evidence.sizes)
    merging.promote(0)
    while merging.blue:
        if len(merging.red) > most or stop():
            return None
        node = max(merging.blue, key=lambda one: (merging.sizes[one], -one))
        if not any(merging.joined(node, state) for state in merging.red):
            merging.promote(node)
    return {state: merging.entries[state] for state in merging.red}


@dataclass
class _Merging:
    """A tree that is folded up; `blue` says for each blue node where it is the next: at which red one on which key."""

    entries: list[dict[int, Entry]]
    sizes: list[int]
    red: dict[int, None] = field(default_factory=dict)
    blue: dict[int, tuple[int, int]] = field(default_factory=dict)

    def promote(self, node: int) -> None:
        """Make a state of ``node``."""
        self.blue.pop(node, None)
        self.red[node] = None
        for key, (_, _, target) in self.entries[node].items():
            self._successor(node, key, target)

    def _successor(self, state: int, key: int, target: int) -> None:
        if target != NOWHERE and target not in self.red:
            self.blue[target] = (state, key)

    def joined(self, node: int, state: int) -> bool:
        """Fold the blue ``node`` and all under it into the red ``state`` and return True; False where they differ."""
        before, key = self.blue[node]
        move, output, _ = entry = self.entries[before][key]
        self.entries[before][key] = (move, output, state)
        log: _Log = [(before, key, entry)]
        if not self._fold(state, node, log):
            for place, written, old in reversed(log):
                if old is None:
                    del self.entries[place][written]
                else:
                    self.entries[place][written] = old
            return False
        del self.blue[node]
        for place, written, old in log:
            if old is None and place in self.red:
                self._successor(place, written, self.entries[place][written][2])
        return True

    def _fold(self, state: int, node: int, log: _Log) -> bool:
        """Enter at ``state`` what is known at ``node``, and so on along both; return whether it all agrees."""
        todo = [(state, node)]
        while todo:
            into, other = todo.pop()
            row = self.entries[into]
            for key, entry in self.entries[other].items():
                known = row.get(key)
                if known is None:
                    row[key] = entry
                    log.append((into, key, None))
                    continue
                if known[0] != entry[0]:
                    return False
                if known[1] != entry[1]:
                    if known[1] == SILENT:
                        row[key] = (known[0], entry[1], known[2])
                        log.append((into, key, known))
                    elif entry[1] != SILENT:
                        return False
                if known[2] != entry[2] and known[2] != NOWHERE:  # a leaf says nothing, and is a node all the same
                    todo.append((known[2], entry[2]))
        return True
