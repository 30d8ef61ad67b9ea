"""Exhaustive verification as a long job: in chunks, on many processes or machines, and kept in a journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from stacklens.automata.enumeration import count_all
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.extract.chunks import Tally, Work
from stacklens.extract.counts import Counts, count_again
from stacklens.extract.jobs import finished
from stacklens.extract.journal import Journal
from stacklens.extract.reference import Reference
from stacklens.extract.verify import Agreement, first_contradiction
from stacklens.languages.words import make_word

__all__ = ["Verification", "reference_automaton", "verify_exhaustively"]


@dataclass(frozen=True)
class Verification:
    """What all words up to a length gave.

    Attributes:
        checks: the automaton against the language, the rounded network and the network.
        counts: how many words of each length it accepts, by this run and without one; None for several stacks.
    """

    checks: tuple[Agreement, ...]
    counts: Counts | None

    @property
    def contradicted(self) -> Agreement | None:
        """Return the first check against the language or the rounded network that found a disagreement."""
        return first_contradiction(self.checks)

    @property
    def status(self) -> int:
        """Return 1 where something contradicts the automaton, else 0."""
        unequal = self.counts is not None and not self.counts.equal
        return 1 if self.contradicted is not None or unequal else 0

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        counts = None if self.counts is None else self.counts.to_dict()
        return {"checks": [check.to_dict() for check in self.checks], "counts": counts}


def verify_exhaustively(
    work: Work,
    journal: Journal | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Verification:
    """Return how the automaton of ``work`` compares on all its words.

    Args:
        work: what is compared, and how it is split.
        journal: chunks in it are not run again, others are added to it as they are finished.
        jobs, scheduler: see `jobs.finished`; they make no difference to what comes out.
        progress: told the number of words of every chunk as it is finished, those of the journal first.

    Raises:
        StacklensError: a worker was killed, or there is no scheduler.
    """
    done: dict[int, Tally] = {} if journal is None else {n: t for n, t in journal.done.items() if n in work.chunks}
    progress(sum(tally.words for tally in done.values()))
    for chunk, tally in finished(work.tally, [n for n in work.chunks if n not in done], jobs, scheduler):
        done[chunk] = tally
        if journal is not None:
            journal.add(chunk, tally)
        progress(tally.words)
    total = reduce(add, (done[chunk] for chunk in work.chunks), work.nothing)
    expected = count_all(len(work.alphabet), work.max_length)
    if total.words != expected:
        raise StacklensError(f"the journal's chunks have {total.words:,} words, expected {expected:,}; delete it")
    checks = tuple(_agreements(work, total))
    return Verification(checks, count_again(work.pda, checks, work.model.task_kind == "recognition"))


def _agreements(work: Work, total: Tally) -> list[Agreement]:
    return [
        Agreement(
            kind="exhaustive",
            other=other,
            max_length=work.max_length,
            words=total.words,
            accepted=sum(total.accepted),
            disagreements=found.disagreements,
            counterexample=None if found.first is None else make_word(found.first, work.alphabet),
            by_length=total.accepted,
        )
        for other, found in total.compared.items()
    ]


def reference_automaton(reference: Reference) -> PushdownAutomaton:
    """Return the automaton of what a network should do, which tests hold equal to its definition.

    Raises:
        StacklensError: not all words over the alphabet are meant, or there is no such automaton.
    """
    if reference.restricted:
        raise StacklensError(
            f"{reference.name}: not all words over its alphabet are meant, so they cannot be verified one by one; "
            "extract-pda checks those that are"
        )
    pda = reference.automaton()
    if pda is None:
        raise StacklensError(f"{reference.name}: there is no reference automaton to verify against")
    return pda
