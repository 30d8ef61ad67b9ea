"""From a network to an automaton, with every stage and every check kept."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..automata.compare import Comparison, Different, Equal, compare
from ..automata.pda import Output, Word
from ..core.progress import Told
from ..languages.language import Language
from ..languages.task import Task
from ..languages.words import make_word
from ..models.base import StackModel
from ..models.numbers import one_thread
from ..models.rounding import BlackBoxed, Unrounded
from ..models.views import StackView
from ..probe.trace import Trace, trace
from .accuracy import threshold_margin
from .agreement import Agreement, count_again
from .answers import compared_outputs, network_answers
from .buffers import candidates_of_buffers, seen_graded, why_not_settled
from .by_name import specification_for
from .certificate.abstraction import Layout
from .certificate.certify import LAYOUTS, WITHOUT_GRID, Certification, certification, certified_length
from .certificate.claim import Certified, NotCertified
from .config import Budget, ExtractionConfig, StageClock
from .diagnosis import diagnose
from .fidelity import (
    MOST_CHANGED,
    Fidelity,
    action_margins,
    caution,
    rounding_makes_another,
    unrounded_caution,
    why_graded,
    why_unanswered,
    why_unfaithful,
)
from .horizon import find_horizons, proved_lengths
from .memory_use import (
    SeenAs,
    StackUse,
    TriedView,
    ViewUse,
    differences_of_view,
    relevant_stacks,
    seen_in_turn,
    view_use,
    why_no_view,
)
from .result import PROOF_NOT_TRIED, Extraction
from .samples import NestedWords, Samples, draw_samples, nested_words
from .search.asking import ASKED
from .search.candidates import Candidate, Scorer
from .search.learn import learned_candidates
from .search.search import broken, fewest_disagreements, find_candidates, is_near, repair, second_opinion
from .specification import Specification, check_same_alphabet
from .verification.checks import check_all, check_sampled, exhaustive_limit, within_means
from .verification.divergence import Divergence, Drift, divergence, drift
from .wording import budget_claim

# ---- Where an automaton is looked for: on the network itself, or on views of its memory as stacks ----

_ABLATED = 400  # words on which stacks are left out


@dataclass(frozen=True)
class Looked:
    """Where candidates were looked for, and what came out.

    Attributes:
        scorer, seen: the judge of the candidates, and the trace that they were made of.
        stacks: which stacks of the network, or of the view, matter.
        best: the candidate that came nearest.
        tried: all candidates, those on other views too.
        seen_as, views: the view that they were looked for on, and all views in turn; none of a network on stacks.
        reason: why nothing was looked for.
        boxed: the network as one that only answers, where that is how it was looked at; its answers are checked then.
        unrounded: whether the soft network was looked at, its actions rounded only to be read.
    """

    scorer: Scorer
    seen: Trace
    stacks: StackUse
    best: Candidate | None
    tried: list[Candidate]
    seen_as: SeenAs | None = None
    views: tuple[TriedView, ...] = ()
    reason: str | None = None
    boxed: StackModel[Any] | None = None
    unrounded: bool = False

    def mendable(self, checks: Sequence[Agreement]) -> list[Agreement]:
        """Return those of ``checks`` whose counterexample the view gets right: others are not for states to mend."""
        if self.unrounded:
            return []  # they contradict the rounded network, which was not looked at
        if self.seen_as is None:
            return list(checks)
        return [one for one in checks if one.counterexample is not None and self.right_on(one.counterexample)]

    def right_on(self, word: Word) -> bool:
        """Return whether what was looked on says of ``word`` what the rounded network does."""
        return self.seen_as is None or self.seen_as.right_on(word, self.scorer.scored(word))


def look(
    model: StackModel[Any],
    runner: StackModel[Any],
    samples: Samples,
    specification: Specification | None,
    config: ExtractionConfig,
    fidelity: Fidelity,
    come: Callable[[int, int | None], None],
    budget: Budget,
) -> Looked:
    """Return what was found on the network itself, or on the first of its views that gives an exact candidate."""
    if not model.real_time:
        return _look_at_buffers(model, samples, specification, config, fidelity, come, budget)
    complete: frozenset[Output] = frozenset() if specification is None else specification.complete

    def on(network: StackModel[Any], asked: StackModel[Any], said: Samples) -> Looked:
        words = said.traced[:_ABLATED]
        stacks = relevant_stacks(network, words, None if specification is None else specification.scored(words))
        seen = trace(stacks.without(network), said.traced, rounded=True, stacks=False)
        unknown = asked.action_kind == "none" and specification is None
        nested = nested_words(asked, None) if unknown else NestedWords()
        scorer = Scorer(
            stacks.without(asked), said, complete, config.seed, specification, nested.words, whole=asked, nested=nested
        )
        tried = find_candidates(scorer, seen, config, fidelity, come, budget=budget)
        return Looked(scorer, seen, stacks, (best := fewest_disagreements(tried)), tried, reason=scorer.endless(best))

    views = seen_in_turn(model, runner, samples)
    learns = config.method in ("auto", "learn") and config.states is None and config.stack_symbols is None
    if not views and learns and rounding_makes_another(model, fidelity):
        soft = _look_unrounded(model, samples, specification, config, come, budget)
        if soft.best is not None and is_near(soft.scorer, soft.best):
            return soft
    if not any(one.holds for one in views):
        looked = on(runner, model, samples)
        return replace(looked, views=tuple(one.tried for one in views), reason=why_no_view(views) if views else None)
    best: Looked | None = None
    tried, turns = list[Candidate](), {one.tried.name: one.tried for one in views}
    for one in (one for one in views if one.holds):
        looked = replace(on(one.view, one.on_cpu, one.samples), seen_as=one)
        tried += looked.tried
        turns[one.tried.name] = replace(one.tried, candidates=len(looked.tried))
        if best is None or _nearer(looked.best, best.best):
            best = looked
        if looked.best is not None and is_near(looked.scorer, looked.best):
            break
    assert best is not None
    return replace(best, tried=tried, views=tuple(turns.values()))


def _look_unrounded(
    model: StackModel[Any],
    samples: Samples,
    specification: Specification | None,
    config: ExtractionConfig,
    come: Callable[[int, int | None], None],
    budget: Budget,
) -> Looked:
    """Return what was learned from the network as it is, of which the operations are rounded only to be read."""
    network = Unrounded(model)
    said = replace(samples, rounded=network_answers(network, samples.words))
    complete: frozenset[Output] = frozenset() if specification is None else specification.complete
    scorer = Scorer(network, said, complete, config.seed, specification)
    seen = trace(network, said.traced[:1], stacks=False)
    tried = find_candidates(scorer, seen, replace(config, method="learn"), None, come, budget=budget)
    stacks = StackUse(tuple(range(model.n_stacks)), (), 0, 0)
    return Looked(scorer, seen, stacks, fewest_disagreements(tried), tried, unrounded=True)


def _look_at_buffers(
    model: StackModel[Any],
    samples: Samples,
    specification: Specification | None,
    config: ExtractionConfig,
    fidelity: Fidelity,
    come: Callable[[int, int | None], None],
    budget: Budget,
) -> Looked:
    """Return what was found for the whole words of a network that chooses when to read and when to write."""
    scorer = Scorer(model, samples, frozenset(), config.seed, specification)
    stacks = StackUse((0,), (), 0, 0)
    seen = trace(model, samples.traced[:1], rounded=True, stacks=False)
    graded = why_graded(fidelity)
    if graded is not None and not scorer.does_its_task():
        return Looked(scorer, seen, stacks, None, [], reason=graded + seen_graded(model, samples))
    tried, steps, found = candidates_of_buffers(model, scorer, config, fidelity, come, budget)
    best = fewest_disagreements(tried)
    settled = best is not None and is_near(scorer, best)
    return Looked(scorer, seen, stacks, best, tried, reason=None if settled else why_not_settled(steps, found))


def look_as_box(
    runner: StackModel[Any],
    samples: Samples,
    specification: Specification | None,
    config: ExtractionConfig,
    come: Callable[[int, int | None], None],
    budget: Budget,
) -> Looked:
    """Return what was learned from the answers of ``runner`` alone, whatever its stacks do: it is not rounded.

    Raises:
        StacklensError: AALpy is not installed, or the network cannot be learned so.
    """
    complete: frozenset[Output] = frozenset() if specification is None else specification.complete
    boxed = runner if runner.action_kind == "none" else BlackBoxed(runner)
    said = samples if boxed is runner else replace(samples, rounded=network_answers(boxed, samples.words))
    effort, nested = config.effort(runner.stack_limit), nested_words(boxed, specification)
    scorer = Scorer(boxed, said, complete, config.seed, specification, nested.words, effort, nested=nested)
    seen = trace(boxed, said.traced[:1], stacks=False)
    tried = find_candidates(scorer, seen, config, None, come, budget=budget)
    stacks = StackUse((), (), 0, 0, unseen=tuple(range(runner.n_stacks)))
    best = fewest_disagreements(tried)
    return Looked(scorer, seen, stacks, best, tried, reason=scorer.endless(best), boxed=boxed)


def _nearer(one: Candidate | None, other: Candidate | None) -> bool:
    return fewest_disagreements([found for found in (other, one) if found is not None]) is not other


# ---- From a network to an automaton, with every stage and every check kept ----

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
