"""Exhaustive verification as a long job: all words up to a length, in chunks, on many processes or machines.

Words are split by their beginnings into chunks that are verified apart from each other and kept in a journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, Literal

import numpy as np

from stacklens.automata.enumeration import count_all, word_at
from stacklens.automata.pda import PushdownAutomaton, Symbol, Word
from stacklens.errors import StacklensError
from stacklens.extract.answers import accepted_answers, automaton_answers_on_all, differences
from stacklens.extract.specification import Specification
from stacklens.extract.verification.agreement import AcceptedCounts, Agreement, count_again, first_contradiction
from stacklens.extract.verification.horizon import Horizon, known_horizons
from stacklens.extract.verification.journal import Compared, Journal, Tally
from stacklens.extract.verification.parallel import finished
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.models.inference import answers_on_all
from stacklens.models.rounding import Rounded

__all__ = [
    "Other",
    "Verification",
    "Work",
    "reference_automaton",
    "stem_length",
    "verify_exhaustively",
]

Other = Literal["language", "rounded network", "network"]
_CHUNKS = 64  # at least about so many, for workers to share
_LEAST, _MOST = 1 << 16, 1 << 22  # words of a chunk: worth a task of its own, and little enough to lose or to hold


@dataclass(frozen=True)
class Work:
    """An automaton that is compared with others on all words up to a length, and how these are split.

    Attributes:
        pda: the automaton.
        model: the network, whose task says what an answer is.
        specification: the automaton of what it should do; None to compare with the network alone.
        max_length: the longest words.
        stem: chunk 0 has the words shorter than this, every other chunk those that begin with one word of this length.
    """

    pda: PushdownAutomaton
    model: StackModel[Any]
    specification: PushdownAutomaton | None
    max_length: int
    stem: int
    alphabet: tuple[Symbol, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphabet", tuple(self.model.alphabet))

    @property
    def others(self) -> tuple[Other, ...]:
        """Return what the automaton is compared with."""
        return (
            ("rounded network", "network") if self.specification is None else ("language", "rounded network", "network")
        )

    @property
    def chunks(self) -> range:
        """Return the chunks' numbers; there is no chunk 0 where no word is short enough for it."""
        return range(0 if self.stem else 1, 1 + len(self.alphabet) ** self.stem)

    @property
    def nothing(self) -> Tally:
        """Return the tally of no words."""
        return Tally((0,) * (self.max_length + 1), {other: Compared() for other in self.others}, 0)

    def words(self, chunk: int) -> int:
        """Return how many words a chunk has."""
        return count_all(len(self.alphabet), self.stem - 1 if chunk == 0 else self.max_length - self.stem)

    def tally(self, chunk: int) -> tuple[int, Tally]:
        """Return the number of the chunk, and what its words gave."""
        prefix = () if chunk == 0 else word_at(chunk - 1, self.stem, self.alphabet)
        further = self.stem - 1 if chunk == 0 else self.max_length - self.stem
        with one_thread():
            mine = list(automaton_answers_on_all(self.pda, self.model, further, prefix))
            accepted = [0] * (self.max_length + 1)
            for length, answers in enumerate(mine, start=len(prefix)):
                accepted[length] = int(accepted_answers(answers, self.model, length).sum())
            compared: dict[str, Compared] = {
                other: _compare(mine, self._answers(other, prefix, further), prefix, self.alphabet)
                for other in self.others
            }
        return chunk, Tally(tuple(accepted), compared, sum(map(len, mine)))

    def _answers(self, other: Other, prefix: tuple[Symbol, ...], further: int) -> Iterable[np.ndarray]:
        if other == "language":
            assert self.specification is not None, "it is among the others only where it is given"
            return automaton_answers_on_all(self.specification, self.model, further, prefix)
        model = Rounded(self.model) if other == "rounded network" else self.model
        return answers_on_all(model, further, prefix=[self.alphabet.index(symbol) for symbol in prefix])


def stem_length(n_symbols: int, max_length: int) -> int:
    """Return how long the beginnings are by which all words up to ``max_length`` are split.

    >>> stem_length(3, 15), stem_length(3, 8), stem_length(2, 20)
    (4, 0, 5)
    """
    most = min(max(count_all(n_symbols, max_length) // _CHUNKS, _LEAST), _MOST)
    return next(stem for stem in range(max_length + 1) if count_all(n_symbols, max_length - stem) <= most)


def _compare(
    mine: list[np.ndarray], theirs: Iterable[np.ndarray], prefix: tuple[Symbol, ...], alphabet: tuple[Symbol, ...]
) -> Compared:
    disagreements, first = 0, None
    for length, (ours, other) in enumerate(zip(mine, theirs, strict=True)):
        different = np.flatnonzero(differences(ours, other))
        if first is None and len(different):
            first = (*prefix, *word_at(int(different[0]), length, alphabet))
        disagreements += len(different)
    return Compared(disagreements, first)


@dataclass(frozen=True)
class Verification:
    """What all words up to a length gave.

    Attributes:
        checks: the automaton against the language, the rounded network and the network.
        counts: how many words of each length it accepts, by this run and without one; None for several stacks.
        horizon: how far it agrees with "rounded network" and "network", where there is a network.
    """

    checks: tuple[Agreement, ...]
    counts: AcceptedCounts | None
    horizon: dict[str, Horizon] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the checks, a line each."""
        return "\n".join(map(str, self.checks))

    @property
    def words(self) -> int:
        """Return on how many words the automaton was compared."""
        return max((check.words for check in self.checks), default=0)

    @property
    def disagreements(self) -> int:
        """Return how often it differs from the language or the rounded network, whose words are counted apart."""
        return sum(check.disagreements for check in self.checks if check.other != "network")

    @property
    def first(self) -> Word | None:
        """Return a shortest word on which it differs from the language or the rounded network, None for none."""
        return None if self.contradicted is None else self.contradicted.counterexample

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
        horizon = {other: known.to_dict() for other, known in self.horizon.items()}
        return {"checks": [check.to_dict() for check in self.checks], "counts": counts, "horizon": horizon}


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
    counts = count_again(work.pda, checks, work.model.task_kind == "recognition")
    return Verification(checks, counts, known_horizons(work.pda, checks, partial_domain=False))


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


def reference_automaton(specification: Specification) -> PushdownAutomaton:
    """Return the automaton of what a network should do, which tests hold equal to its definition.

    Raises:
        StacklensError: not all words over the alphabet are meant, or there is no such automaton.
    """
    if specification.partial_domain:
        raise StacklensError(
            f"{specification.name}: not all words over its alphabet are meant, so they cannot be verified one by one; "
            "extract-pda checks those that are"
        )
    pda = specification.automaton()
    if pda is None:
        raise StacklensError(f"{specification.name}: there is no reference automaton to verify against")
    return pda
