"""What `stacklens verify` was asked to do: the network, what it should do, the automaton, and how to tell it again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stacklens import __version__
from stacklens.automata.formats.by_suffix import read_automaton
from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError, listed
from stacklens.extract.answers import output_number
from stacklens.extract.by_name import specification_of, specification_of_network
from stacklens.extract.result import Extraction
from stacklens.extract.specification import Specification, check_same_alphabet
from stacklens.extract.verification.checks import exhaustive_length
from stacklens.extract.verification.exhaustive import Work, reference_automaton, stem_length
from stacklens.models.base import StackModel
from stacklens.models.io import digest_of, find_network, load_network

__all__ = ["Job", "fitted", "job_for", "load_job", "result_job"]

_MOST_WORDS = 10_000_000_000_000  # months of a processor's time, which a cluster shares


@dataclass(frozen=True)
class Job:
    """A verification: of the ``given`` automaton, or of the one that is extracted where that is None."""

    path: Path | None
    model: StackModel[Any]
    specification: Specification | None
    target: PushdownAutomaton | None
    given: PushdownAutomaton | None
    max_length: int

    @property
    def stem(self) -> int:
        """Return how long the beginnings are by which the words are split."""
        return stem_length(len(self.model.alphabet), self.max_length)

    def work(self, pda: PushdownAutomaton) -> Work:
        """Return the work of verifying ``pda``."""
        return Work(pda, self.model, self.target, self.max_length, self.stem)

    def settings(self) -> dict[str, Any]:
        """Return plain data that tells this job from others; how many processes do it is no part of it."""
        assert self.path is not None, "a journal is of a network in a file"
        return {
            "model": digest_of(self.path),
            "automaton": "extracted" if self.given is None else _digest(to_json(self.given).encode()),
            "language": None if self.specification is None else self.specification.name,
            "reference": None if self.target is None else _digest(to_json(self.target).encode()),
            "max_length": self.max_length,
            "stem": self.stem,
            "version": __version__,
        }


def load_job(path: Path, automaton: Path | None, language: str | None, max_length: int | None) -> Job:
    """Return the job for the files and names of the command line.

    Raises:
        StacklensError: a file cannot be read, or network, automaton and language do not fit together.
    """
    checkpoint = load_network(path)
    given = None if automaton is None else fitted(read_automaton(automaton), checkpoint.model, str(automaton))
    job = job_for(checkpoint.model, specification_of(checkpoint, language), given, max_length)
    return replace(job, path=find_network(path))


def result_job(result: Extraction, language: str | None, max_length: int | None) -> Job:
    """Return the job of verifying the automaton of a saved result, whose network has to be there.

    Raises:
        StacklensError: the network is gone or another one, or ``language`` does not fit.
    """
    model = result.model
    specification = result.language if language is None else specification_of_network(model, language)
    job = job_for(model, specification, result.automaton, max_length)
    assert model.origin is not None, "it was opened from a file"
    assert model.origin.path is not None, "it was opened from a file"
    return replace(job, path=find_network(model.origin.path))


def job_for(
    model: StackModel[Any],
    specification: Specification | None,
    automaton: PushdownAutomaton | None,
    max_length: int | None,
) -> Job:
    """Return the job of verifying ``automaton``, or the one that is extracted, against a network in memory.

    Raises:
        StacklensError: network, automaton and language do not fit together, or there are too many words.
    """
    check_same_alphabet(specification, model)
    if not model.real_time:
        raise StacklensError(
            f"a {model.name} answers to whole words, and verify runs the beginnings of words once for all that go on; "
            "extract-pda (sl.extract) checks its automaton on whole words, as far as --max-length (max_length) says"
        )
    target = None if specification is None else fitted(reference_automaton(specification), model, specification.name)
    given = None if automaton is None else fitted(automaton, model, "the automaton")
    longest = exhaustive_length(len(model.alphabet), max_length, _MOST_WORDS)
    return Job(None, model, specification, target, given, longest)


def fitted(pda: PushdownAutomaton, model: StackModel[Any], name: str) -> PushdownAutomaton:
    """Return ``pda`` with the network's alphabet in the network's order, in which words are numbered.

    Raises:
        StacklensError: it reads or says symbols that the network does not, or says nothing where the network predicts;
            the message calls it ``name``.
    """
    if unknown := set(pda.input_alphabet) - set(model.alphabet):
        known = listed(model.alphabet)
        raise StacklensError(f"{name}: reads {listed(sorted(unknown))}; expected the network's symbols, {known}")
    outputs = {step.output for step in pda.transitions.values()}
    if model.task_kind != "recognition" and not pda.real_time:
        raise StacklensError(f"{name}: takes ε-steps, but this network says something at every symbol")
    if model.task_kind != "recognition":
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


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
