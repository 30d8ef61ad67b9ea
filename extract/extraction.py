"""From a network to an automaton, with every stage and every check kept."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from stacklens.automata.compare import Comparison, Different, Equal, compare
from stacklens.extract.answers import compared_outputs, network_answers
from stacklens.extract.budget import Budget
from stacklens.extract.by_name import specification_for
from stacklens.extract.certificate.abstraction import Layout
from stacklens.extract.certificate.certify import (
    LAYOUTS,
    WITHOUT_GRID,
    Certification,
    certification,
    certified_length,
)
from stacklens.extract.certificate.claim import Certified, NotCertified
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
from stacklens.extract.samples import draw_samples
from stacklens.extract.search.asking.asked_automata import ASKED
from stacklens.extract.search.candidate_search import broken, is_near, repair, second_opinion
from stacklens.extract.search.candidates import Candidate
from stacklens.extract.search.learning.learned_automata import learned_candidates
from stacklens.extract.specification import Specification, check_same_alphabet
from stacklens.extract.stage_clock import StageClock
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
    return _Reading(model, specification, config, StageClock(progress)).result()


class _Reading:
    """One extraction: what is made once for all of it, and its stages, each of which adds to the result."""

    def __init__(
        self, model: StackModel[Any], specification: Specification | None, config: ExtractionConfig, clock: StageClock
    ) -> None:
        self.model, self.specification, self.config, self.clock = model, specification, config, clock
        self.budget = Budget(config.budget, config.jobs)
        clock.stage("trace the network")
        self.runner = model if config.device == "cpu" else copy.deepcopy(model).to(config.device)
        self.samples = draw_samples(self.runner, specification, config.seed)

    def result(self) -> Extraction:
        """Return what comes out, as far as it comes."""
        looked, fidelity = self._look()
        reason, doubt = self._faithful(looked, fidelity)
        result = self._begun(looked, fidelity, reason)
        if reason is not None or looked.best is None or looked.best.automaton is None:
            return self._diagnosed(result, looked)
        result = self._proved(replace(result, minimised=looked.best.automaton, caution=doubt), looked)
        result = self._learned_beside(result, looked)
        result = self._measured(self._checked(result, looked))
        return self._diagnosed(self._parted(result, looked), looked)

    def _look(self) -> tuple[Looked, Fidelity]:
        """Return what the search found, and how near the network is to a discrete machine."""
        margins = action_margins(self.model, trace(self.runner, self.samples.short_traced, stacks=False))
        self.clock.stage("look for states")
        fidelity = Fidelity(self.samples.rounding(), None, *margins)
        asked = self.samples, self.specification, self.config
        if self.config.method in ASKED:
            looked = look_as_box(self.runner, *asked, self.clock.come, self.budget)
        else:
            looked = look(self.model, self.runner, *asked, fidelity, self.clock.come, self.budget)
        if looked.boxed is not None:
            self.runner = looked.boxed
        return looked, replace(fidelity, minority_transitions=None if looked.best is None else looked.best.minority)

    def _faithful(self, looked: Looked, fidelity: Fidelity) -> tuple[str | None, str | None]:
        """Return why no automaton can stand for the network, if none can, and what is to be doubted of one that can."""
        reason, doubt = _faithful(looked, fidelity)
        if reason is not None and self.budget.ran_out:
            reason = f"{reason}; {budget_claim(self.budget.use().to_dict())}"
        if reason is not None and _may_be_asked(self.model, self.config):
            reason = f"{reason}; --method ask learns from its answers alone, as of a network without a stack"
        return reason, doubt

    def _begun(self, looked: Looked, fidelity: Fidelity, reason: str | None) -> Extraction:
        """Return the result of the search, before anything is checked."""
        best = looked.best
        stacks = looked.stacks if best is None else looked.stacks.seeing(best.stacks)
        use = None if looked.seen_as is None else view_use(looked.seen_as, stacks.stacks, looked.views, None)
        near = threshold_margin(self.model, self.samples, self.specification)
        result = Extraction(
            self.model, self.specification, None, best, looked.tried, fidelity, stacks, view=use, reason=reason
        )
        return replace(result, budget=self.budget.use(), threshold=near)

    def _proved(self, result: Extraction, looked: Looked, layouts: Sequence[Layout] = LAYOUTS) -> Extraction:
        """Return ``result`` with proof and certificate of its automaton, for words of every length: milliseconds."""
        automaton, specification = result.automaton, self.specification
        self.clock.stage("prove equality")
        proof: Comparison = PROOF_NOT_TRIED
        if specification is not None:
            decide = specification.compare if self.model.real_time else specification.compare_written
            proof = decide(automaton)
        self.clock.stage("certify")
        return replace(result, proof=proof, certificate=self._certified(result, looked, layouts))

    def _learned_beside(self, result: Extraction, looked: Looked) -> Extraction:
        """Return ``result``, or that of a learned automaton where that is certified and the one by clusters is not.

        A cluster puts together what the network keeps apart where nothing observed depends on it; the contexts of a
        learned automaton keep it apart, and boxes around them may close.
        """
        known = result.found
        tried = result.certificate.certificate is not None and not isinstance(result.certificate.certificate, Certified)
        if self.config.method != "auto" or known is None or known.method != "kmeans" or not known.exact or not tried:
            return result
        self.clock.stage("look for states")
        if not any(one.method == "learn" for one in looked.tried):
            for found in learned_candidates(looked.scorer, self.config.stack_symbols, self.budget.over):
                looked.tried.append(found)
                if found.exact:
                    break
        learned = next((one for one in looked.tried if one.method == "learn" and one.exact), None)
        if learned is None or learned.automaton == result.automaton:
            return result
        stacks = looked.stacks.seeing(learned.stacks)
        other = replace(result, minimised=learned.automaton, found=learned, stacks=stacks)
        # its contexts tell apart what a grid would: without one boxes close soon or never
        other = self._proved(other, looked, WITHOUT_GRID)
        better = isinstance(other.certificate.certificate, Certified) and not isinstance(other.proof, Different)
        return other if better else result

    def _checked(self, result: Extraction, looked: Looked) -> Extraction:
        """Return ``result`` with its checks, and with the automaton mended where a check broke it and it could be."""
        self.clock.stage("check the automaton")
        use, scorer, tried, best = result.view, looked.scorer, looked.tried, result.found
        assert best is not None, "there is nothing to check otherwise"
        assert best.automaton is not None, "what is best has an automaton"
        cells = self.model.stack_limit if use is None else use.cells
        check = partial(
            check_all,
            model=self.runner,
            specification=self.specification,
            config=self.config,
            cells=cells,
            nested=scorer.nested.words,
            come=self.clock.come,
        )
        checks = check(best.automaton, shown=_shown(result))
        kind = _as_found(self.config, best)
        for mended in repair(scorer, best, looked.seen, looked.mendable(checks), kind, self.budget, cells):
            tried.append(mended)
            if mended.exact and mended.automaton is not None:
                again = check(mended.automaton)
                if broken(again) < broken(checks):
                    best, checks = mended, again
                    stacks = looked.stacks.seeing(best.stacks)
                    result = self._proved(replace(result, minimised=best.automaton, found=best, stacks=stacks), looked)
                break
        automaton, second = result.automaton, second_opinion(tried, best)
        if looked.seen_as is not None:
            use = view_use(looked.seen_as, result.stacks.stacks, looked.views, automaton)
            checks += differences_of_view(looked.seen_as, automaton, self.runner, self.specification)
        checks = (*checks, *check_sampled(best, scorer, self.runner, checks))
        ways = _compared(best, second)
        return replace(result, checks=checks, view=use, second=second, ways=ways, budget=self.budget.use())

    def _measured(self, result: Extraction) -> Extraction:
        """Return ``result`` with counts, with how far its automaton is followed, and proved up to some length."""
        automaton, checks = result.automaton, result.checks
        counts = count_again(automaton, checks, self.model.task_kind == "recognition")
        certificate = result.certificate
        if isinstance(certificate.certificate, NotCertified):
            self.clock.stage("certify up to a length")
            certificate = certified_length(
                certificate, self.model, automaton, result.stacks, self.specification, self.config.longest_proved
            )
        self.clock.stage("find the horizon")
        proved = proved_lengths(certificate, isinstance(result.proof, Equal))
        shortened = self.config.shortened
        horizon = find_horizons(automaton, self.runner, self.specification, checks, proved, shortened)
        return replace(result, counts=counts, certificate=certificate, horizon=horizon)

    def _certified(self, result: Extraction, looked: Looked, layouts: Sequence[Layout] = LAYOUTS) -> Certification:
        if not self.model.real_time:
            return _OF_WHOLE_WORDS
        if result.found is not None and result.found.by_asking:
            return _OF_ANSWERS
        if looked.unrounded:
            return _OF_UNROUNDED
        if result.view is not None:
            return _of_view(result.view)
        return certification(self.model, result.automaton, result.stacks, self.specification, layouts)

    def _parted(self, result: Extraction, looked: Looked) -> Extraction:
        """Return ``result`` with both runs on the shortest word that contradicts the automaton, and why they part."""
        if not self.model.real_time:  # runs of different lengths do not stand side by side
            return result
        parted = _divergence(result, self.runner, None if looked.seen_as is None else looked.seen_as.view)
        use = result.view
        if parted is not None and use is not None:
            use = replace(use, wrong=not looked.right_on(parted.word))
        as_it_is = use is None and looked.boxed is None and not looked.unrounded and self.model.answers_to(()) is None
        result = replace(result, divergence=parted, view=use)
        return replace(result, drift=_drift(result, self.model) if as_it_is else None)

    def _diagnosed(self, result: Extraction, looked: Looked) -> Extraction:
        """Return ``result`` with why it is not faithful, where it is not, and with how long every stage took."""
        if result.status == 0:
            return replace(result, seconds=self.clock.stop())
        self.clock.stage("find out why")
        samples, scorer = self.samples, looked.scorer
        if looked.boxed is not None and scorer.nested.endless is not None:  # on other words the best may be right
            words = [*samples.words[: samples.n_short], *scorer.nested.words]
            scored = None if self.specification is None else self.specification.scored(words)
            samples = replace(samples, words=words, rounded=network_answers(looked.boxed, words), scored=scored)
        return replace(result, diagnosis=diagnose(result, samples), seconds=self.clock.stop())


def _faithful(looked: Looked, fidelity: Fidelity) -> tuple[str | None, str | None]:
    """Return why no automaton can stand for the network, None if one can, and what is to be doubted of one that can."""
    best, scorer, samples = looked.best, looked.scorer, looked.scorer.samples.words
    wrong = 0 if best is not None and is_near(scorer, best) else None if best is None else best.disagreements
    if looked.boxed is not None:
        found = ("", 0) if best is None else (best.method, best.states)
        largest = max((one.states for one in looked.tried), default=0)
        return looked.reason or why_unanswered(*found, wrong, len(samples), largest), None
    if looked.unrounded:
        return None, unrounded_caution(fidelity)
    worth_telling = wrong == 0 and (fidelity.rounding.mismatch <= MOST_CHANGED or scorer.does_its_task())
    doubt = caution(fidelity) if worth_telling else None
    reason = looked.reason
    if reason is None and doubt is None:
        reason = why_unfaithful(scorer.model, fidelity, wrong, len(samples))
    return reason, doubt


def _shown(result: Extraction) -> frozenset[str]:
    """Return what the automaton is shown to follow on words of every length, in the words of `Agreement.other`."""
    equal = isinstance(result.proof, Equal)
    shown = {"language"} if equal else set[str]()
    if any(one.by == "certificate" for one in proved_lengths(result.certificate, equal)):
        shown.add(_DECISIVE)
    return frozenset(shown)


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
    if word is None:
        return None
    return divergence(result.automaton, model, word, result.stacks.stacks, view)


def _drift(result: Extraction, model: StackModel[Any]) -> Drift | None:
    """Return why the rounded network fails on a word that goes round, if one is known."""
    broken = [found for found in result.checks if found.kind == "pumped" and found.other == _DECISIVE]
    words = [found.counterexample for found in broken if found.counterexample is not None]
    if not words:
        return None
    return drift(result.automaton, model, words[0], result.stacks.stacks)
