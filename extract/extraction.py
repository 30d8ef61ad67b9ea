"""From a network to an automaton, with every stage and every check kept."""

from __future__ import annotations

import copy
import logging
import time
from dataclasses import replace
from functools import partial
from typing import Any

from stacklens.automata.compare import Comparison, Different, Equal, compare
from stacklens.extract.black_box import compared_outputs
from stacklens.extract.budget import Budget
from stacklens.extract.by_name import specification_for
from stacklens.extract.certificate.certify import Certification, certification
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.diagnosis import diagnose
from stacklens.extract.fidelity import (
    MOST_CHANGED,
    Fidelity,
    action_margins,
    caution,
    unrounded_caution,
    why_unanswered,
    why_unfaithful,
)
from stacklens.extract.look import Looked, look, look_as_box
from stacklens.extract.result import PROOF_NOT_TRIED, Extraction
from stacklens.extract.samples import Samples, draw_samples
from stacklens.extract.search.asking.asked_automata import ASKED
from stacklens.extract.search.candidate_search import broken, is_near, repair, second_opinion
from stacklens.extract.search.candidates import Candidate
from stacklens.extract.specification import Specification, check_same_alphabet
from stacklens.extract.threshold_margin import threshold_margin
from stacklens.extract.verification.agreement import count_again
from stacklens.extract.verification.checks import check_all, check_sampled, exhaustive_limit, within_means
from stacklens.extract.verification.divergence import Divergence, divergence
from stacklens.extract.verification.drift import Drift, drift
from stacklens.extract.verification.horizon import proved_lengths
from stacklens.extract.verification.shortest_difference import find_horizons
from stacklens.extract.view_use import ViewUse, differences_of_view, view_use
from stacklens.extract.wording import budget_claim
from stacklens.languages.language import Language
from stacklens.languages.tasks.task import Task
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.models.views.stack_view import StackView
from stacklens.probe.trace import trace
from stacklens.progress import Told

__all__ = ["Extraction", "ExtractionConfig", "extract"]

_DECISIVE = "rounded network"  # what the machine stands for
_OF_WHOLE_WORDS = Certification(
    None, reason="the network chooses when to read and write; boxes follow networks that read a letter in every step"
)
_OF_ANSWERS = Certification(None, reason="the automaton was learned from answers alone; boxes need steps to follow")
_OF_UNROUNDED = Certification(None, reason="the automaton is that of the network as it is; boxes follow rounded ones")
_log = logging.getLogger(__name__)


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
    config = within_means(config, model)
    exhaustive_limit(specification, len(model.alphabet), config.max_length)  # refused before any work is done
    clock, budget = _Clock(progress), Budget(config.budget, config.jobs)
    clock.stage("trace the network")
    runner = model if config.device == "cpu" else copy.deepcopy(model).to(config.device)
    samples = draw_samples(runner, specification, config.seed)
    margins = action_margins(model, trace(runner, samples.short_traced, stacks=False))
    clock.stage("look for states")
    fidelity = Fidelity(samples.rounding(), None, *margins)
    if config.method in ASKED:
        looked = look_as_box(runner, samples, specification, config, clock.come, budget)
    else:
        looked = look(model, runner, samples, specification, config, fidelity, clock.come, budget)
    fidelity = replace(fidelity, minority_transitions=None if looked.best is None else looked.best.minority)
    reason, doubt = _faithful(looked, fidelity)
    if reason is not None and budget.ran_out:
        reason = f"{reason}; {budget_claim(budget.use().to_dict())}"
    if reason is not None and _may_be_asked(model, config):
        reason = f"{reason}; --method ask learns from its answers alone, as of a network without a stack"
    runner = runner if looked.boxed is None else looked.boxed
    best, tried, scorer, seen_as = looked.best, looked.tried, looked.scorer, looked.seen_as
    stacks = looked.stacks if best is None else looked.stacks.seeing(best.stacks)
    use = None if seen_as is None else view_use(seen_as, stacks.stacks, looked.views, None)
    result = Extraction(model, specification, None, best, tried, fidelity, stacks, view=use, reason=reason)
    result = replace(result, budget=budget.use(), threshold=threshold_margin(model, samples))
    if reason is not None or best is None or best.automaton is None:
        return _diagnosed(result, samples, clock)
    clock.stage("check the automaton")
    cells = model.stack_limit if use is None else use.cells
    check = partial(check_all, model=runner, specification=specification, config=config, cells=cells, come=clock.come)
    checks = check(best.automaton)
    for mended in repair(scorer, best, looked.seen, looked.mendable(checks), _as_found(config, best), budget, cells):
        tried.append(mended)
        if mended.exact and mended.automaton is not None:
            again = check(mended.automaton)
            best, checks = (mended, again) if broken(again) < broken(checks) else (best, checks)
            break
    assert best.automaton is not None
    stacks, second = looked.stacks.seeing(best.stacks), second_opinion(tried, best)
    if seen_as is not None:
        use = view_use(seen_as, stacks.stacks, looked.views, best.automaton)
        checks += differences_of_view(seen_as, best.automaton, runner, specification)
    checks = (*checks, *check_sampled(best, scorer, runner, checks))
    result = replace(result, automaton=best.automaton, found=best, candidates=tried, checks=checks, stacks=stacks)
    ways = _compared(best, second)
    result = replace(result, view=use, second=second, ways=ways, caution=doubt, budget=budget.use())
    counts = count_again(best.automaton, checks, model.task_kind == "recognition")
    clock.stage("prove equality")
    proof: Comparison = PROOF_NOT_TRIED
    if specification is not None:
        decide = specification.compare if model.real_time else specification.compare_written
        proof = decide(best.automaton)
    clock.stage("certify")
    if not model.real_time:
        certificate = _OF_WHOLE_WORDS
    elif best.by_asking:
        certificate = _OF_ANSWERS
    elif looked.unrounded:
        certificate = _OF_UNROUNDED
    elif use is None:
        known = any(check.other == _DECISIVE and check.disagreements for check in checks)
        certificate = certification(model, best.automaton, stacks, specification, config.longest_proved, broken=known)
    else:
        certificate = _of_view(use)
    result = replace(result, counts=counts, proof=proof, certificate=certificate)
    clock.stage("find the horizon")
    proved = proved_lengths(certificate, isinstance(proof, Equal))
    result = replace(
        result, horizon=find_horizons(best.automaton, runner, specification, checks, proved, config.shortened)
    )
    if not model.real_time:  # runs of different lengths do not stand side by side
        return _diagnosed(result, samples, clock)
    parted = _divergence(result, runner, None if seen_as is None else seen_as.view)
    if parted is not None and use is not None:
        use = replace(use, wrong=not looked.right_on(parted.word))
    result = replace(result, divergence=parted, view=use)
    seen = (
        use is None and looked.boxed is None and not looked.unrounded and model.answers_to(()) is None
    )  # step by step, as it is
    drift = _drift(result, model) if seen else None
    return _diagnosed(replace(result, drift=drift), samples, clock)


def _diagnosed(result: Extraction, samples: Samples, clock: _Clock) -> Extraction:
    """Return ``result`` with why it is not faithful, where it is not, and with how long every stage took."""
    if result.status == 0:
        return replace(result, seconds=clock.stop())
    clock.stage("find out why")
    found = diagnose(result, samples)
    return replace(result, diagnosis=found, seconds=clock.stop())


def _faithful(looked: Looked, fidelity: Fidelity) -> tuple[str | None, str | None]:
    """Return why no automaton can stand for the network, None if one can, and what is to be doubted of one that can."""
    best, scorer, samples = looked.best, looked.scorer, looked.scorer.samples.words
    wrong = 0 if best is not None and is_near(scorer, best) else None if best is None else best.disagreements
    if looked.boxed is not None:
        return why_unanswered(*(("", 0) if best is None else (best.method, best.states)), wrong, len(samples)), None
    if looked.unrounded:
        return None, unrounded_caution(fidelity)
    worth_telling = wrong == 0 and (fidelity.rounding.mismatch <= MOST_CHANGED or scorer.does_its_task())
    doubt = caution(fidelity) if worth_telling else None
    reason = looked.reason
    if reason is None and doubt is None:
        reason = why_unfaithful(scorer.model, fidelity, wrong, len(samples))
    return reason, doubt


def _may_be_asked(model: StackModel[Any], config: ExtractionConfig) -> bool:
    """Return whether a network on whose stack nothing was found could be asked as a black box.

    That is not done unasked: what comes out says nothing of its stack, which is what it was looked at for.
    """
    return config.method not in ASKED and model.action_kind != "none" and model.real_time


def _as_found(config: ExtractionConfig, best: Candidate) -> ExtractionConfig:
    """Return ``config`` for another search of the kind that found ``best``."""
    return replace(config, method=best.method) if best.by_asking else config  # type: ignore[arg-type]


def _compared(best: Candidate, second: Candidate | None) -> Comparison | None:
    """Return whether both automata do the same, wherever both say something; None where there are not two."""
    if best.automaton is None or second is None or second.automaton is None:
        return None
    return compare(best.automaton, second.automaton, outputs=compared_outputs(best.automaton))


def _of_view(use: ViewUse) -> Certification:
    return Certification(None, reason=f"the automaton is that of the network with {use.name}; boxes know stacks only")


def _divergence(result: Extraction, model: StackModel[Any], view: StackView | None) -> Divergence | None:
    """Return both runs on the shortest word known that contradicts the automaton, if one does."""
    known = result.horizon[_DECISIVE].difference
    contradicted = result.contradicted
    word = None if contradicted is None else contradicted.counterexample
    if known is not None and contradicted is not None and contradicted.other == _DECISIVE:
        word = known.word
    if word is None and isinstance(result.proof, Different):
        word = make_word(result.proof.word, model.alphabet)
    if word is None or result.automaton is None:
        return None
    return divergence(result.automaton, model, word, result.stacks.stacks, view)


def _drift(result: Extraction, model: StackModel[Any]) -> Drift | None:
    """Return why the rounded network fails on a word that goes round, if one is known."""
    broken = [found for found in result.checks if found.kind == "pumped" and found.other == _DECISIVE]
    words = [found.counterexample for found in broken if found.counterexample is not None]
    if not words or result.automaton is None:
        return None
    return drift(result.automaton, model, words[0], result.stacks.stacks)


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
