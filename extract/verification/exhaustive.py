"""Exhaustive verification as a long job: all words up to a length, in chunks, on many processes or machines.

Words are split by their beginnings into chunks that are verified apart from each other and kept in a journal.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ... import __version__
from ...automata.enumeration import accepts_all, count_all, word_at
from ...automata.formats import read_automaton
from ...automata.formats.json import to_json
from ...automata.pda import PushdownAutomaton, Symbol, Word
from ...core.errors import StacklensError, listed
from ...languages.language import Language, make_word
from ...models.base import StackModel, one_thread
from ...models.checkpoint import digest_of, find_network, load_network
from ...models.inference import accepted_answers, answers_on_all, automaton_answers_on_all, output_number
from ...models.rounding import Rounded
from ..agreement import AcceptedCounts, Agreement, agreement_by_length, count_again, first_contradiction
from ..by_name import specification_of, specification_of_network
from ..horizon import Horizon, known_horizons
from ..jobs import Compared, Journal, Tally, finished
from ..result import Extraction
from ..specification import Specification, check_same_alphabet
from .checks import exhaustive_length

Other = Literal["language", "rounded network", "network"]
_CHUNKS = 64  # at least about so many, for workers to share
_LEAST, _MOST = 1 << 16, 1 << 22  # words of a chunk: worth a task of its own, and little enough to lose or to hold


@dataclass(frozen=True)
class Work:
    """An automaton that is compared with others on all words up to a length, and how these are split."""

    pda: PushdownAutomaton | None  # None where it is to be extracted first
    model: StackModel[Any]  # the network, whose task defines an answer
    target: PushdownAutomaton | None  # the automaton of what it should do; None to compare with the network alone
    max_length: int  # the longest words
    # chunk 0 has the words shorter than this, every other chunk those that begin with one word of this length
    stem: int
    specification: Specification | None = None  # what it should do
    path: Path | None = None  # the network's file

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols in the order in which words are numbered."""
        return tuple(self.model.alphabet)

    @property
    def others(self) -> tuple[Other, ...]:
        """Return what the automaton is compared with."""
        networks: tuple[Other, ...] = ("rounded network", "network")
        return networks if self.target is None else ("language", *networks)

    @property
    def chunks(self) -> range:
        """Return the chunks' numbers; there is no chunk 0 where no word is short enough for it."""
        return range(0 if self.stem else 1, 1 + len(self.alphabet) ** self.stem)

    def words(self, chunk: int) -> int:
        """Return how many words a chunk has."""
        return count_all(len(self.alphabet), self.stem - 1 if chunk == 0 else self.max_length - self.stem)

    def tally(self, chunk: int) -> tuple[int, Tally]:
        """Return the number of the chunk, and what its words gave."""
        prefix = () if chunk == 0 else word_at(chunk - 1, self.stem, self.alphabet)
        further = self.stem - 1 if chunk == 0 else self.max_length - self.stem
        compared, accepted = dict[str, Compared](), [0] * (self.max_length + 1)
        assert self.pda is not None, "it is extracted before"
        with one_thread():
            mine = list(automaton_answers_on_all(self.pda, self.model, further, prefix))
            for length, answers in enumerate(mine, start=len(prefix)):
                accepted[length] = int(accepted_answers(answers, self.model, length).sum())
            places = [self.alphabet.index(symbol) for symbol in prefix]
            for other in self.others:
                theirs: Iterable[np.ndarray]
                if other == "language" and self.target is not None:
                    theirs = automaton_answers_on_all(self.target, self.model, further, prefix)
                else:
                    network = Rounded(self.model) if other == "rounded network" else self.model
                    theirs = answers_on_all(network, further, prefix=places)
                found = agreement_by_length(other, mine, theirs, self.alphabet, lambda answers, _: answers[:0])
                first = None if found.counterexample is None else (*prefix, *found.counterexample)
                compared[other] = found.disagreements, first
        return chunk, Tally(tuple(accepted), compared, sum(map(len, mine)))

    def settings(self) -> dict[str, Any]:
        """Return plain data by which this is known from other work; how many processes do it is no part of it."""
        assert self.path is not None, "a journal is of a network in a file"
        return {
            "model": digest_of(self.path),
            "automaton": "extracted" if self.pda is None else _automaton_digest(self.pda),
            "language": None if self.specification is None else self.specification.name,
            "reference": None if self.target is None else _automaton_digest(self.target),
            "max_length": self.max_length,
            "stem": self.stem,
            "version": __version__,
        }


def stem_length(n_symbols: int, max_length: int) -> int:
    """Return how long the beginnings are by which all words up to ``max_length`` are split.

    >>> stem_length(3, 15), stem_length(3, 8), stem_length(2, 20)
    (4, 0, 5)
    """
    most = min(max(count_all(n_symbols, max_length) // _CHUNKS, _LEAST), _MOST)
    return next(stem for stem in range(max_length + 1) if count_all(n_symbols, max_length - stem) <= most)


@dataclass(frozen=True)
class Verification:
    """What all words up to a length gave."""

    checks: tuple[Agreement, ...]  # the automaton against the language, the rounded network and the network
    # how many words of each length it accepts, by this run and without one; None for several stacks
    counts: AcceptedCounts | None
    # how far it agrees with "rounded network" and "network", where there is a network
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
    work: Work,  # what is compared, and how it is split
    journal: Journal | None = None,  # chunks in it are not run again, others are added to it as they are finished
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Verification:
    """Return how the automaton of ``work`` compares on all its words, in chunks as of `jobs.finished`.

    ``progress``: called with the number of words of every chunk as it is finished, those of the journal first.
    """
    done: dict[int, Tally] = {} if journal is None else {n: t for n, t in journal.done.items() if n in work.chunks}
    progress(sum(tally.words for tally in done.values()))
    task = replace(work, specification=None).tally  # which goes to other processes
    for chunk, tally in finished(task, [n for n in work.chunks if n not in done], jobs, scheduler):
        done[chunk] = tally
        if journal is not None:
            journal.add(chunk, tally)
        progress(tally.words)
    total, pda = reduce(add, (done[chunk] for chunk in work.chunks)), work.pda
    assert pda is not None, "it is extracted before"
    expected = count_all(len(work.alphabet), work.max_length)
    if total.words != expected:
        raise StacklensError(f"the journal's chunks have {total.words:,} words, expected {expected:,}; delete it")
    checks = [
        Agreement(
            kind="exhaustive",
            other=other,
            max_length=work.max_length,
            words=total.words,
            accepted=sum(total.accepted),
            disagreements=wrong,
            counterexample=None if first is None else make_word(first, work.alphabet),
            by_length=total.accepted,
        )
        for other, (wrong, first) in total.compared.items()
    ]
    counts = count_again(pda, checks, work.model.task_kind == "recognition")
    return Verification(tuple(checks), counts, known_horizons(pda, checks, partial_domain=False))


def reference_automaton(specification: Specification) -> PushdownAutomaton:
    """Return the automaton of what a network should do, which tests hold equal to its definition."""
    if specification.partial_domain:
        raise StacklensError(
            f"{specification.name}: not all words over its alphabet are meant, so they cannot be verified one by one; "
            "extract-pda checks those that are"
        )
    pda = specification.automaton()
    if pda is None:
        raise StacklensError(f"{specification.name}: there is no reference automaton to verify against")
    return pda


# ---- What `stacklens verify` compares: a network, what it should do, an automaton ----

_MOST_WORDS = 10_000_000_000_000  # months of a processor's time, which a cluster shares


def work_of_files(path: Path, automaton: Path | None, language: str | None, max_length: int | None) -> Work:
    """Return the work for files and names of the command line. Raises StacklensError: unreadable, or no fit."""
    checkpoint = load_network(path)
    given = None if automaton is None else fitted(read_automaton(automaton), checkpoint.model, str(automaton))
    work = work_for(checkpoint.model, specification_of(checkpoint, language), given, max_length)
    return replace(work, path=find_network(path))


def work_of_result(result: Extraction, language: str | None, max_length: int | None) -> Work:
    """Return the work of verifying a saved result. Raises StacklensError: its network is gone, or another one."""
    model = result.model
    specification = result.language if language is None else specification_of_network(model, language)
    assert model.origin is not None, "it was opened from a file"
    assert model.origin.path is not None, "it was opened from a file"
    return replace(work_for(model, specification, result.automaton, max_length), path=find_network(model.origin.path))


def work_for(
    model: StackModel[Any],
    specification: Specification | None,
    automaton: PushdownAutomaton | None,
    max_length: int | None,
) -> Work:
    """Return the work of verifying ``automaton``, or the one that is extracted, against a network in memory."""
    check_same_alphabet(specification, model)
    if not model.real_time:
        raise StacklensError(
            f"a {model.name} answers to whole words, and verify runs the beginnings of words once for all that go on; "
            "extract-pda (sl.extract) checks its automaton on whole words, as far as --max-length (max_length) says"
        )
    target = None if specification is None else fitted(reference_automaton(specification), model, specification.name)
    given = None if automaton is None else fitted(automaton, model, "the automaton")
    longest = exhaustive_length(len(model.alphabet), max_length, _MOST_WORDS)
    return Work(given, model, target, longest, stem_length(len(model.alphabet), longest), specification)


def fitted(pda: PushdownAutomaton, model: StackModel[Any], name: str) -> PushdownAutomaton:
    """Return ``pda`` with the network's alphabet in the network's order, in which words are numbered."""
    if unknown := set(pda.input_alphabet) - set(model.alphabet):
        known = listed(model.alphabet)
        raise StacklensError(f"{name}: reads {listed(sorted(unknown))}; expected the network's symbols, {known}")
    outputs = {step.output for step in pda.transitions.values()}
    if model.task_kind != "recognition":
        if not pda.real_time:
            raise StacklensError(f"{name}: takes ε-steps, but this network says something at every symbol")
        if pda.transitions and outputs <= {None}:
            raise StacklensError(
                f"{name}: an automaton without outputs, but this network says something at every symbol"
            )
        for output in outputs:
            try:
                output_number(output, model)
            except StacklensError:
                raise StacklensError(f"{name}: says {output!r}, which this network cannot") from None
    return replace(pda, input_alphabet=model.alphabet)


def _automaton_digest(pda: PushdownAutomaton) -> str:
    return hashlib.sha256(to_json(pda).encode()).hexdigest()


# ---- An automaton against a language alone, on all words up to a length, where there is no network to ask ----


def verify_by_language(pda: PushdownAutomaton, language: Language, max_length: int | None = None) -> Verification:
    """Return how ``pda`` compares with a language's reference automaton on all words to a length, or 2.5 million."""
    if any(step.output is not None for step in pda.transitions.values()):
        raise StacklensError("an automaton with outputs is no recogniser of a language: name its network too")
    if set(pda.input_alphabet) != set(language.alphabet):
        read, expected = listed(pda.input_alphabet), listed(language.alphabet)
        raise StacklensError(f"the automaton reads {read}; expected the alphabet of {language.name}, {expected}")
    longest = exhaustive_length(len(pda.input_alphabet), max_length)
    target = replace(language.automaton, input_alphabet=pda.input_alphabet)  # in whose order words are numbered
    mine, theirs = accepts_all(pda, longest), accepts_all(target, longest)
    check = agreement_by_length("language", mine, theirs, pda.input_alphabet, lambda verdicts, _: verdicts)
    return Verification((check,), count_again(pda, [check], recogniser=True))
