"""From a network to an automaton, with every stage and every check kept."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from stacklens.automata.compare import Comparison, Different, Equal, Undecided
from stacklens.automata.pda import Output, PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.extract.ablation import StackUse, relevant_stacks
from stacklens.extract.checks import ExtractionConfig, check_all, exhaustive_length
from stacklens.extract.fidelity import Fidelity, action_margins, is_stack, why_unfaithful
from stacklens.extract.reference import LanguageReference, Reference
from stacklens.extract.samples import draw_samples
from stacklens.extract.task_reference import TaskReference
from stacklens.extract.verify import Agreement
from stacklens.extract.walk import Attempt, Choice, walk
from stacklens.languages.base import Language
from stacklens.languages.tasks.base import Task
from stacklens.languages.words import format_word, make_word
from stacklens.models.base import StackModel
from stacklens.models.machine import one_thread
from stacklens.probe.trace import trace

__all__ = ["Extraction", "ExtractionConfig", "extract"]

_ABLATED = 400  # words on which stacks are left out
NOT_TRIED = Undecided("there is nothing to compare with")


@dataclass(frozen=True)
class Extraction:
    """What came out of a network.

    Attributes:
        model, language: what went in.
        automaton: the minimised automaton, or None where no faithful one was found.
        raw: the machine before minimisation.
        attempts: everything that was tried on the way.
        fidelity: how near the network is to a discrete machine.
        stacks: which of its stacks matter; the automaton has these.
        checks: the automaton against language, rounded network and network.
        proof: whether it equals the language's or the task's reference automaton for all words.
        reason: why there is no automaton, or None.
        seconds: how long each stage took.
    """

    model: StackModel[Any]
    language: Reference | None
    automaton: PushdownAutomaton | None
    raw: PushdownAutomaton | None
    attempts: tuple[Attempt, ...]
    fidelity: Fidelity
    stacks: StackUse
    checks: tuple[Agreement, ...] = ()
    proof: Comparison = NOT_TRIED
    reason: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def contradicted(self) -> Agreement | None:
        """Return the first check against the language or the rounded network that found a disagreement.

        The analog network may well differ on long words, where its errors have summed up (Sun et al. 1993, section
        4.1): that is reported, and contradicts nothing.
        """
        decisive = (check for check in self.checks if check.other != "network")
        return next((check for check in decisive if check.disagreements), None)

    @property
    def status(self) -> int:
        """Return 0 where nothing contradicts the automaton, 1 where something does, 3 where there is no automaton."""
        if self.automaton is None:
            return 3
        return 1 if self.contradicted is not None or isinstance(self.proof, Different) else 0

    def report(self) -> dict[str, Any]:
        """Return everything as plain data, the content of ``extract-pda --report`` (schema 1)."""
        return {
            "schema": 1,
            "model": {"name": self.model.name, "alphabet": list(self.model.alphabet), "config": self.model.config()},
            "language": None if self.language is None else self.language.name,
            "automaton": None if self.automaton is None or self.raw is None else _sizes(self.automaton, self.raw),
            "reason": self.reason,
            "stack_limit": self.model.stack_limit,
            "stacks": self.stacks.to_dict(),
            "attempts": [attempt.to_dict() for attempt in self.attempts],
            "fidelity": self.fidelity.to_dict(),
            "checks": [check.to_dict() for check in self.checks],
            "proof": _proof(self.proof),
            "certificate": {"verdict": "not tried", "reason": None},
            "seconds": self.seconds,
        }


def _proof(proof: Comparison) -> dict[str, Any]:
    if isinstance(proof, Equal):
        return {"verdict": "equal", "counterexample": None, "reason": None}
    word = None if proof.word is None else format_word(make_word(proof.word, proof.word))
    return {
        "verdict": "different" if isinstance(proof, Different) else "undecided",
        "counterexample": word,
        "reason": proof.reason,
    }


def _sizes(automaton: PushdownAutomaton, raw: PushdownAutomaton) -> dict[str, Any]:
    return {
        "states": len(automaton.states),
        "stack_symbols": len(automaton.stack_alphabet),
        "transitions": len(automaton.transitions),
        "accepting": sorted(automaton.accepting),
        "before_minimization": {
            "states": len(raw.states),
            "stack_symbols": len(raw.stack_alphabet),
            "transitions": len(raw.transitions),
        },
    }


def extract(
    model: StackModel[Any],
    language: Language | Task | Reference | None = None,
    config: ExtractionConfig | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Extraction:
    """Return the automaton of ``model``, checked against ``language`` if one is given, and against the network itself.

    ``progress`` is told the name of every stage as it begins.

    Raises:
        StacklensError: the language has another alphabet than the network, or the network rejects everything at once.
    """
    with one_thread():
        return _extract(model, reference_for(language), config or ExtractionConfig(), progress)


def _extract(
    model: StackModel[Any], reference: Reference | None, config: ExtractionConfig, progress: Callable[[str], None]
) -> Extraction:
    if reference is not None and set(reference.alphabet) != set(model.alphabet):
        raise StacklensError(
            f"language {reference.name} has the alphabet {' '.join(reference.alphabet)}, the network "
            f"{' '.join(model.alphabet)}; name the language that it was trained on"
        )
    exhaustive_length(len(model.alphabet), config.max_length)  # refused before any work is done
    complete: frozenset[Output] = frozenset() if reference is None else reference.complete
    clock = _Clock(progress)
    clock.stage("trace the network")
    runner = model if config.device == "cpu" else copy.deepcopy(model).to(config.device)
    samples = draw_samples(runner, reference, config.seed)
    seen = trace(runner, samples.short_traced, stacks=False)
    clock.stage("look for states")
    words = samples.traced[:_ABLATED]
    stacks = relevant_stacks(runner, words, None if reference is None else reference.scored(words))
    rounded = trace(stacks.without(runner), samples.traced, rounded=True, stacks=False)
    choice = Choice(config.states, config.stack_symbols)
    attempts: tuple[Attempt, ...] = ()
    if is_stack(model):
        attempts = tuple(walk(stacks.without(model), rounded, samples, choice, complete, config.seed))
    best = min(attempts, key=lambda a: (a.disagreements is None, a.disagreements or 0), default=None)
    minority, wrong, raw = (None, None, None) if best is None else (best.minority, best.disagreements, best.raw)
    fidelity = Fidelity(samples.rounding(), minority, *action_margins(model, seen))
    reason = why_unfaithful(stacks.without(model), fidelity, wrong, len(samples.words))
    result = Extraction(model, reference, None, raw, attempts, fidelity, stacks, reason=reason)
    if reason is not None or best is None or best.automaton is None:
        return replace(result, seconds=clock.stop())
    clock.stage("check the automaton")
    checks = check_all(best.automaton, runner, reference, config)
    clock.stage("prove equality")
    proof = NOT_TRIED if reference is None else reference.compare(best.automaton)
    return replace(result, automaton=best.automaton, checks=checks, proof=proof, seconds=clock.stop())


def reference_for(language: Language | Task | Reference | None) -> Reference | None:
    """Return what to check against, for a language, a task, or what is a reference already."""
    if isinstance(language, Language):
        return LanguageReference(language)
    return TaskReference(language) if isinstance(language, Task) else language


class _Clock:
    """Times stages, and tells their names as they begin."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        self.progress, self.seconds = progress, dict[str, float]()
        self.begun, self.name = time.perf_counter(), ""

    def stage(self, name: str) -> None:
        self.stop()
        self.name = name
        self.progress(name)

    def stop(self) -> dict[str, float]:
        now = time.perf_counter()
        if self.name:
            self.seconds[self.name] = now - self.begun
        self.begun = now
        return self.seconds
