"""Look for a machine that the rounded network agrees with: walk upward, and refine where walking does not do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stacklens.automata.pda import Word
from stacklens.extract.attempts import Attempt, Judge
from stacklens.extract.refine import refine
from stacklens.extract.search import Effort
from stacklens.extract.walk import Choice, walk
from stacklens.probe.trace import Trace

__all__ = ["Finder"]


class Finder:
    """What was tried on a network, and the best of it.

    Args:
        judge: who knows the rounded network's answers.
        seen: a trace of the rounded network.
        choice: fixed numbers in place of a walk.
        jobs: processes for the walk.
    """

    def __init__(self, judge: Judge, seen: Trace, choice: Choice, jobs: int = 1) -> None:
        self.judge, self.seen, self.choice, self.jobs = judge, seen, choice, jobs
        self.attempts: list[Attempt] = []

    @property
    def best(self) -> Attempt | None:
        """Return the attempt with the fewest disagreements, the first of them; None if there are none."""
        return min(self.attempts, key=lambda a: (a.disagreements is None, a.disagreements or 0), default=None)

    def walk(self) -> None:
        """Try machines until one is exact, small ones first."""
        self.attempts += walk(self.seen, self.judge, self.choice, self.jobs)

    def refine(self) -> None:
        """Split what misleads the best exploration, if no attempt is exact, and then, from the start, the smallest."""
        explored = [a for a in self.attempts if a.way == "exploration" and a.disagreements is not None]
        if not explored:
            return
        best = min(explored, key=lambda attempt: attempt.disagreements or 0)
        for start in dict.fromkeys((best, explored[0])):
            if self.best is not None and not self.best.exact:
                self.attempts += refine(self.judge, start, self.seen)

    def mend(self, attempt: Attempt, words: Sequence[Word], effort: Effort) -> Attempt | None:
        """Return a refinement of ``attempt`` that is exact on ``words`` as well, None where none was found.

        A search of ``effort`` goes along, so that it is exact on what new automata suggest, too.
        """
        judge = replace(self.judge, further=tuple(words), effort=effort)
        tried = list(refine(judge, judge.judged(attempt), self.seen))
        self.attempts += tried
        return tried[-1] if tried and tried[-1].exact else None
