"""From a network to an automaton, with every stage and every check kept."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from stacklens.automata.compare import Different
from stacklens.automata.pda import Output, PushdownAutomaton
from stacklens.extract.by_name import specification_for
from stacklens.extract.certificate.certify import certification
from stacklens.extract.fidelity import Fidelity, action_margins, is_stack, why_unfaithful
from stacklens.extract.result import PROOF_NOT_TRIED, Extraction
from stacklens.extract.samples import draw_samples
from stacklens.extract.search.candidates import Candidate, Scorer
from stacklens.extract.search.model_selection import Choice, Finder
from stacklens.extract.specification import Specification, check_same_alphabet
from stacklens.extract.stack_ablation import relevant_stacks
from stacklens.extract.verification.agreement import Agreement, count_again
from stacklens.extract.verification.checks import ExtractionConfig, check_all, exhaustive_limit
from stacklens.extract.verification.counterexamples import Effort
from stacklens.extract.verification.divergence import Divergence, divergence
from stacklens.languages.language import Language
from stacklens.languages.tasks.task import Task
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.probe.trace import trace

__all__ = ["Extraction", "ExtractionConfig", "extract"]

_DECISIVE = "rounded network"  # what the machine stands for
_ABLATED = 400  # words on which stacks are left out


def extract(
    model: StackModel[Any],
    language: Language | Task | Specification | None = None,
    config: ExtractionConfig | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Extraction:
    """Return the automaton of ``model``, checked against ``language`` if one is given, and against the network itself.

    ``progress`` is told the name of every stage as it begins.

    Raises:
        StacklensError: the language has another alphabet than the network, or is nothing that a network of its kind can
            be checked against.
    """
    with one_thread():
        return _extract(model, specification_for(language, model.task_kind), config or ExtractionConfig(), progress)


def _extract(
    model: StackModel[Any],
    specification: Specification | None,
    config: ExtractionConfig,
    progress: Callable[[str], None],
) -> Extraction:
    check_same_alphabet(specification, model)
    exhaustive_limit(specification, len(model.alphabet), config.max_length)  # refused before any work is done
    complete: frozenset[Output] = frozenset() if specification is None else specification.complete
    clock = _Clock(progress)
    clock.stage("trace the network")
    runner = model if config.device == "cpu" else copy.deepcopy(model).to(config.device)
    samples = draw_samples(runner, specification, config.seed)
    seen = trace(runner, samples.short_traced, stacks=False)
    clock.stage("look for states")
    words = samples.traced[:_ABLATED]
    stacks = relevant_stacks(runner, words, None if specification is None else specification.scored(words))
    rounded = trace(stacks.without(runner), samples.traced, rounded=True, stacks=False)
    scorer = Scorer(stacks.without(model), samples, complete, config.seed, specification)
    finder = Finder(scorer, rounded, Choice(config.states, config.stack_symbols), config.jobs)
    fidelity = Fidelity(samples.rounding(), None, *action_margins(model, seen))
    if is_stack(model):
        finder.search_sizes()
        if why_unfaithful(scorer.model, fidelity, 0, 0) is None:  # splits do not make a stack of what is none
            finder.refine()
    best = finder.best
    wrong = None if best is None else best.disagreements
    fidelity = replace(fidelity, minority_transitions=None if best is None else best.minority)
    reason = why_unfaithful(scorer.model, fidelity, wrong, len(samples.words))
    result = Extraction(model, specification, None, best, finder.candidates, fidelity, stacks, reason=reason)
    if reason is not None or best is None or best.automaton is None:
        return replace(result, seconds=clock.stop())
    clock.stage("check the automaton")
    effort = config.effort(model.stack_limit)
    best, checks = _checked(best, finder, effort, lambda pda: check_all(pda, runner, specification, config))
    result = replace(result, automaton=best.automaton, found=best, candidates=finder.candidates, checks=checks)
    assert best.automaton is not None
    counts = count_again(best.automaton, checks, model.task_kind == "recognition")
    clock.stage("prove equality")
    proof = PROOF_NOT_TRIED if specification is None else specification.compare(best.automaton)
    clock.stage("certify")
    certificate = certification(model, best.automaton, stacks, specification)
    result = replace(result, counts=counts, proof=proof, certificate=certificate)
    return replace(result, divergence=_divergence(result, runner), seconds=clock.stop())


def _checked(
    candidate: Candidate, finder: Finder, effort: Effort, check: Callable[[PushdownAutomaton], tuple[Agreement, ...]]
) -> tuple[Candidate, tuple[Agreement, ...]]:
    """Return the candidate, or a refinement of it that stands up better to what broke it, with the checks."""
    assert candidate.automaton is not None
    checks = check(candidate.automaton)
    words = [found.counterexample for found in checks if found.counterexample is not None and _repairable(found)]
    mended = finder.repair(candidate, words, effort) if words else None
    if mended is None or mended.automaton is None:
        return candidate, checks
    again = check(mended.automaton)
    return (mended, again) if _broken(again) < _broken(checks) else (candidate, checks)


def _broken(checks: Sequence[Agreement]) -> int:
    return sum(found.disagreements for found in checks if _repairable(found))


def _repairable(found: Agreement) -> bool:
    """Return whether more states may help: not where values drift from round to round, which no finite number holds."""
    return found.other == _DECISIVE and found.kind != "pumped"


def _divergence(result: Extraction, model: StackModel[Any]) -> Divergence | None:
    """Return both runs on the word that contradicts the automaton, if one does."""
    word = None if result.contradicted is None else result.contradicted.counterexample
    if word is None and isinstance(result.proof, Different):
        word = make_word(result.proof.word, model.alphabet)
    if word is None or result.automaton is None:
        return None
    return divergence(result.automaton, model, word, result.stacks.stacks)


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
