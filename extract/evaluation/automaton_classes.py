"""Which of many automata are the same: by proof, not by size; and when in a training the last of them appears.

Two automata are in one class if they are proved to do the same, or if both are proved equal to the same language or
task. That two of one class have different sizes, or two of different classes the same one, makes no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stacklens.automata.compare import Equal, compare
from stacklens.automata.formats.json import from_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.extract.evaluation.sweep_row import SweepRow
from stacklens.progress import count

__all__ = ["Settling", "classes_of", "settling_of"]


@dataclass
class _Class:
    text: str
    pda: PushdownAutomaton
    proved: str | None  # the language or task that one of them is proved equal to


def classes_of(rows: Sequence[SweepRow]) -> list[int | None]:
    """Return the number of each row's class, from 1 in the order of the rows; None where there is no automaton."""
    known: list[_Class] = []
    return [None if row.automaton is None else _class_of(row, row.automaton, known) for row in rows]


def _class_of(row: SweepRow, text: str, known: list[_Class]) -> int:
    proved = row.language if row.proof == "equal" else None
    pda = from_json(text)
    for number, one in enumerate(known, start=1):
        if text == one.text or (proved is not None and proved == one.proved) or _same(pda, one.pda):
            one.proved = one.proved or proved
            return number
    known.append(_Class(text, pda, proved))
    return len(known)


def _same(a: PushdownAutomaton, b: PushdownAutomaton) -> bool:
    """Return whether two automata are proved to do the same, on words of a task wherever both say something."""
    spoken = {step.output for step in a.transitions.values()}
    partly = any(isinstance(output, str) for output in spoken)
    try:
        return isinstance(compare(a, b, outputs="where both" if partly else "all"), Equal)
    except StacklensError:  # other numbers of stacks, or other outputs
        return False


@dataclass(frozen=True)
class Settling:
    """When in a training its last automaton appears, and when it settles.

    Attributes:
        appears: after how many updates the network first does what the last automaton does.
        settles: from which update on it always does; they differ where it was lost in between.
        classes: how many automata there were that are not proved the same, the last one among them.
        last: the row of the last snapshot.
        snapshots: how many were looked at.
        before: the updates of the snapshot before ``settles``; None where it is the first. It settles in between.
    """

    appears: int
    settles: int
    classes: int
    last: SweepRow
    snapshots: int
    before: int | None

    def __str__(self) -> str:
        """Return it in a sentence.

        >>> print(Settling(3, 5, 2, SweepRow("update-9.pt", "dyck-2", 0, proof="equal"), 9, 4))
        the automaton proved equal to dyck-2 appears at update 3 and settles at update 5 (9 snapshots, 2 automata)
        """
        proved = f" proved equal to {self.last.language}" if self.last.proof == "equal" else " of the last snapshot"
        told = f"appears at update {self.appears:,} and settles at update {self.settles:,}"
        return (
            f"the automaton{proved} {told} ({self.snapshots} snapshots, {count(self.classes, 'automaton', 'automata')})"
        )


def settling_of(rows: Sequence[SweepRow], classes: Sequence[int | None]) -> Settling | None:
    """Return when the automaton of the last of these snapshots appears and settles.

    None where they are no snapshots of a training, or the last one has no automaton.
    """
    pairs = zip(rows, classes, strict=True)
    seen = [(row.updates, number, row) for row, number in pairs if row.updates is not None]
    if len(seen) < 2 or len(seen) < len(rows):
        return None
    seen.sort(key=lambda one: one[0])
    last = seen[-1][1]
    if last is None:
        return None
    since = next(place for place in range(len(seen), 0, -1) if place == 1 or seen[place - 2][1] != last) - 1
    appears = next(updates for updates, number, _ in seen if number == last)
    before = seen[since - 1][0] if since else None
    return Settling(appears, seen[since][0], len({*classes} - {None}), seen[-1][2], len(seen), before)
