"""A second count of the accepted words: by running all of them, and by dynamic programming without running any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stacklens.automata.counting import count_words
from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.verify import Agreement

__all__ = ["Counts", "count_again"]


@dataclass(frozen=True)
class Counts:
    """How many words of each length are accepted, found in two ways.

    Attributes:
        exhaustive: by running all words of each length, from 0.
        counted: by `automata.counting`.
    """

    exhaustive: tuple[int, ...]
    counted: tuple[int, ...]

    @property
    def equal(self) -> bool:
        """Return whether both ways agree at every length."""
        return self.exhaustive == self.counted

    @property
    def first_different(self) -> int | None:
        """Return the first length at which they do not, None if they do."""
        pairs = enumerate(zip(self.exhaustive, self.counted, strict=True))
        return next((length for length, (one, other) in pairs if one != other), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's "counts"."""
        return {"exhaustive": list(self.exhaustive), "counted": list(self.counted), "equal": self.equal}


def count_again(pda: PushdownAutomaton, checks: Sequence[Agreement], recogniser: bool) -> Counts | None:
    """Return the counts of the first check on all words, and those by dynamic programming.

    Who is no recogniser accepts what it does not cut short, and says nothing of the empty word. None where no check was
    on all words, or the automaton has several stacks.
    """
    exhaustive = next((check.by_length for check in checks if check.by_length), None)
    if exhaustive is None or pda.n_stacks > 1:
        return None
    if not recogniser:
        pda = replace(pda, acceptance="final state", accepting=frozenset(pda.states))
    counted = count_words(pda, len(exhaustive) - 1)
    return Counts(exhaustive, tuple(counted) if recogniser else (0, *counted[1:]))
