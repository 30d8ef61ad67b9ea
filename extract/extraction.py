"""From a network to an automaton, with every stage and every check kept."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from stacklens.automata.compare import Different
from stacklens.automata.pda import Output
from stacklens.extract.by_name import specification_for
from stacklens.extract.certificate.certify import certification
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.fidelity import Fidelity, action_margins, is_stack, why_unfaithful
from stacklens.extract.result import PROOF_NOT_TRIED, Extraction
from stacklens.extract.samples import draw_samples
from stacklens.extract.search.candidates import Candidate, Scorer, minimised
from stacklens.extract.search.model_selection import search_sizes
from stacklens.extract.search.quantisers import vectors
from stacklens.extract.search.refinement import TracedVectors, split_cluster
from stacklens.extract.search.transition_table import majority_table
from stacklens.extract.specification import Specification, check_same_alphabet
from stacklens.extract.stack_ablation import relevant_stacks
from stacklens.extract.verification.agreement import Agreement, count_again
from stacklens.extract.verification.checks import check_all, exhaustive_limit
from stacklens.extract.verification.counterexamples import Effort
from stacklens.extract.verification.divergence import Divergence, divergence
from stacklens.languages.language import Language
from stacklens.languages.tasks.task import Task
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.probe.trace import Trace, trace
from stacklens.progress import Told

__all__ = ["Extraction", "ExtractionConfig", "extract", "fewest_disagreements", "find_candidates"]

_DECISIVE = "rounded network"  # what the machine stands for
_log = logging.getLogger(__name__)
_ABLATED = 400  # words on which stacks are left out
_MOST_SPLITS = 40
_PATIENCE = 16  # splits in a row after which no machine was better than the best before


def extract(
    model: StackModel[Any],
    language: Language | Task | Specification | None = None,
    config: ExtractionConfig | None = None,
    progress: Told = lambda *_: None,
) -> Extraction:
    """Return the automaton of ``model``, checked against ``language`` if one is given, and against the network itself.

    ``progress`` is told every stage as it begins, and how far it has come where that is known (see `Told`).

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
    progress: Told,
) -> Extraction:
    check_same_alphabet(specification, model)
    exhaustive_limit(specification, len(model.alphabet), config.max_length)  # refused before any work is done
    complete: frozenset[Output] = frozenset() if specification is None else specification.complete
    clock = _Clock(progress)
    clock.stage("trace the network")
    runner = model if config.device == "cpu" else copy.deepcopy(model).to(config.device)
    samples = draw_samples(runner, specification, config.seed)
    margins = action_margins(model, trace(runner, samples.short_traced, stacks=False))
    clock.stage("look for states")
    words = samples.traced[:_ABLATED]
    stacks = relevant_stacks(runner, words, None if specification is None else specification.scored(words))
    seen = trace(stacks.without(runner), samples.traced, rounded=True, stacks=False)
    scorer = Scorer(stacks.without(model), samples, complete, config.seed, specification)
    fidelity = Fidelity(samples.rounding(), None, *margins)
    tried = find_candidates(scorer, seen, config, fidelity, clock.come)
    best = fewest_disagreements(tried)
    fidelity = replace(fidelity, minority_transitions=None if best is None else best.minority)
    wrong = None if best is None else best.disagreements
    reason = why_unfaithful(scorer.model, fidelity, wrong, len(samples.words))
    result = Extraction(model, specification, None, best, tried, fidelity, stacks, reason=reason)
    if reason is not None or best is None or best.automaton is None:
        return replace(result, seconds=clock.stop())
    clock.stage("check the automaton")
    checks = check_all(best.automaton, runner, specification, config, clock.come)
    for mended in repair(scorer, best, seen, checks, config.effort(model.stack_limit)):
        tried.append(mended)
        if mended.exact and mended.automaton is not None:
            again = check_all(mended.automaton, runner, specification, config, clock.come)
            best, checks = (mended, again) if _broken(again) < _broken(checks) else (best, checks)
    assert best.automaton is not None
    result = replace(result, automaton=best.automaton, found=best, candidates=tried, checks=checks)
    counts = count_again(best.automaton, checks, model.task_kind == "recognition")
    clock.stage("prove equality")
    proof = PROOF_NOT_TRIED if specification is None else specification.compare(best.automaton)
    clock.stage("certify")
    certificate = certification(model, best.automaton, stacks, specification)
    result = replace(result, counts=counts, proof=proof, certificate=certificate)
    return replace(result, divergence=_divergence(result, runner), seconds=clock.stop())


def find_candidates(
    scorer: Scorer,
    seen: Trace,
    config: ExtractionConfig,
    fidelity: Fidelity | None = None,
    come: Callable[[int, int | None], None] = lambda *_: None,
) -> list[Candidate]:
    """Return every candidate tried on the scorer's network, in order; the last one is exact unless none is.

    Sizes come first. Where none is exact, what misleads the best exploration is split, and then, from the start, the
    smallest. Nothing is split in a network that is no stack machine by its ``fidelity``, and nothing tried without a
    stack.

    Args:
        scorer: who knows the rounded network's answers.
        seen: a trace of the scorer's network, rounded.
        config: fixed numbers of states or stack symbols, and processes.
        fidelity: how near the network is to a discrete machine.
        come: told how many sizes have been tried, and of how many; then how many candidates there are.
    """
    tried: list[Candidate] = []
    if not is_stack(scorer.model):
        return tried
    for candidate in search_sizes(scorer, seen, config.states, config.stack_symbols, config.jobs, come):
        tried.append(candidate)
        if candidate.exact:
            return tried
    if fidelity is not None and why_unfaithful(scorer.model, fidelity, 0, 0) is not None:
        return tried  # splits do not make a stack of what is none
    explored = [one for one in tried if one.way == "exploration" and one.disagreements is not None]
    nearest = sorted(explored, key=lambda one: one.disagreements or 0)
    for start in dict.fromkeys((*nearest[:1], *explored[:1])):
        for candidate in refine(scorer, start, seen):
            tried.append(candidate)
            come(len(tried), None)
            if candidate.exact:
                return tried
    return tried


def fewest_disagreements(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the candidate with the fewest disagreements, the first of them; None if there are none."""
    return min(candidates, key=lambda one: (one.disagreements is None, one.disagreements or 0), default=None)


def refine(scorer: Scorer, candidate: Candidate, seen: Trace) -> Iterator[Candidate]:
    """Yield candidates, each with one cluster or stack symbol of the one before it split, and scored.

    It ends with an exact one, when nothing is left to split, or when splits no longer help. Each machine is explored,
    and where that is not exact a majority vote may be.
    """
    if candidate.automaton is None:
        return
    pool = TracedVectors(*vectors(scorer.model, seen))
    counterexamples = scorer.broken_by(candidate.automaton)
    fewest, idle = len(counterexamples), 0
    for _ in range(_MOST_SPLITS):
        found = split_cluster(scorer, candidate, counterexamples, pool)
        if found is None or found.automaton is None or found.machine is None:
            return
        elected = majority_table(found.machine, seen, scorer.complete)
        counterexamples = scorer.broken_by(found.automaton)
        candidate = replace(found, disagreements=len(counterexamples), minority=elected.minority)
        yield candidate
        if not counterexamples:
            return
        voted = scorer.score(minimised(replace(candidate, way="refinement and vote"), elected.automaton))
        if voted.exact:
            yield voted
            return
        better = len(counterexamples) < fewest
        fewest, idle = (len(counterexamples), 0) if better else (fewest, idle + 1)
        if idle >= _PATIENCE:
            return


def repair(
    scorer: Scorer, candidate: Candidate, seen: Trace, checks: Sequence[Agreement], effort: Effort
) -> Iterator[Candidate]:
    """Yield refinements of ``candidate`` until one is exact on the words that broke it in ``checks`` as well.

    A search of ``effort`` goes along, so that it is exact on what new automata suggest, too. Without such words there
    is nothing to repair.
    """
    words = [found.counterexample for found in checks if found.counterexample is not None and _repairable(found)]
    return refine(replace(scorer, further=tuple(words), effort=effort), candidate, seen) if words else iter(())


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

    def __init__(self, progress: Told) -> None:
        self.progress, self.seconds = progress, dict[str, float]()
        self.begun, self.name = time.perf_counter(), ""

    def stage(self, name: str) -> None:
        self.stop()
        self.name = name
        _log.info("%s", name)
        self.progress(name, 0, None)

    def come(self, done: int, total: int | None) -> None:
        """Tell how far the present stage has come, and of how much, if that is known."""
        self.progress(self.name, done, total)

    def stop(self) -> dict[str, float]:
        now = time.perf_counter()
        if self.name:
            self.seconds[self.name] = now - self.begun
        self.begun = now
        return self.seconds
