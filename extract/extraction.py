"""From a network to an automaton, with every stage and every check kept."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..automata.compare import Comparison, Different, Equal, Undecided, compare, compared_outputs
from ..automata.pda import Word
from ..core.progress import OutOfTimeError, Told
from ..languages.language import Language, make_word
from ..languages.task import Task
from ..models.base import StackModel, one_thread
from ..models.inference import network_answers
from ..models.rounding import BlackBoxed, Rounded, Unrounded
from ..probe.trace import Trace, trace
from . import memory_use
from .accuracy import threshold_margin
from .agreement import MOST_CHECKED, Agreement, Certification, Certified, NotCertified, agree_on, count_again
from .buffers import reason_not_settled, seen_graded
from .by_name import specification_for
from .certificate.abstraction import Layout
from .certificate.certify import LAYOUTS, WITHOUT_GRID, certification, certified_length
from .config import SEARCH, Budget, ExtractionConfig, StageClock
from .diagnosis import diagnose, out_of_time
from .horizon import find_horizons, proved_lengths
from .result import PROOF_NOT_TRIED, Diagnosis, Extraction
from .samples import (
    MOST_CHANGED,
    UNMEASURED,
    Fidelity,
    NestedWords,
    Samples,
    action_margins,
    caution,
    changed_answers,
    draw_samples,
    nested_words,
    reason_actions_graded,
    reason_not_learned,
    rounding_changes_behaviour,
    unrounded_caution,
    why_unfaithful,
)
from .search.asking import ASKED
from .search.candidates import Candidate, Scorer, fewest_disagreements
from .search.learn import learned_candidates
from .search.search import (
    SearchPlan,
    broken,
    candidates_of_buffers,
    find_candidates,
    repair,
    search_ways,
    second_opinion,
)
from .specification import Specification, check_same_alphabet
from .verification.checks import check_all, check_sampled, exhaustive_limit, within_means
from .verification.divergence import divergence, drift
from .wording import CONTRADICTS, UNCHECKED, budget_claim, evidence_claim

# ---- Where an automaton is looked for: on the network itself, or on views of its memory as stacks ----

_ABLATED = 400  # words on which stacks are left out


@dataclass(frozen=True)
class SearchOutcome:
    """Where candidates were looked for, and what came out."""

    # scorer, seen: the judge of the candidates, and the trace that they were made of
    scorer: Scorer
    seen: Trace
    stacks: memory_use.StackUse  # which stacks of the network, or of the view, matter
    best: Candidate | None  # the candidate that came nearest
    tried: list[Candidate]  # all candidates, those on other views too
    # seen_as, views: the view that they were looked for on, and all views in turn; none of a network on stacks
    seen_as: memory_use.SeenAs | None = None
    views: tuple[memory_use.TriedView, ...] = ()
    reason: str | None = None  # why nothing was looked for
    # the network as one that only answers, where that is how it was looked at; its answers are checked then
    boxed: StackModel[Any] | None = None
    unrounded: bool = False  # whether the soft network was looked at, its actions rounded only to be read

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

    def telling(self, samples: Samples) -> Samples:
        """Return the words to diagnose on: of a black box those that nest as well, on which the best may be wrong."""
        nested = self.scorer.nested
        if self.boxed is None or nested.endless is None:
            return samples
        words, specification = [*samples.words[: samples.n_short], *nested.words], self.scorer.specification
        scored = None if specification is None else specification.scored(words)
        return replace(samples, words=words, rounded=network_answers(self.boxed, words), scored=scored)


def look(model: StackModel[Any], runner: StackModel[Any], samples: Samples, plan: SearchPlan) -> SearchOutcome:
    """Return what was found on the network itself, or on the first of its views that gives an exact candidate."""
    specification, config = plan.specification, plan.config
    if config.method in ASKED:
        return look_as_box(runner, samples, plan)
    if not model.real_time:
        return _look_at_buffers(model, samples, plan)

    def search(network: StackModel[Any], asked: StackModel[Any], sampled: Samples) -> SearchOutcome:
        # which stacks matter: others are shown as they mostly are, in the trace and to the scorer
        words = sampled.traced[:_ABLATED]
        stacks = memory_use.relevant_stacks(
            network, words, None if specification is None else specification.scored(words)
        )
        looked_at = sampled.traced[: 1 if search_ways(config, asked) == ("ask",) else None]  # else nothing is clustered
        seen = trace(stacks.without(network), looked_at, rounded=True, stacks=False)
        # without a stack to see, and nothing that says how it nests, words that nest are asked
        unknown, left = asked.action_kind == "none" and specification is None, stacks.without(asked)
        nested = nested_words(asked, None) if unknown else NestedWords()
        scorer = Scorer(left, sampled, config.seed, specification, nested.words, whole=asked, nested=nested)
        tried = find_candidates(scorer, seen, plan)
        nearest = fewest_disagreements(tried)
        return SearchOutcome(scorer, seen, stacks, nearest, tried, reason=scorer.endless(nearest))

    # a network that is another one when rounded, though its actions are nearly whole, is learned from as it is
    views = memory_use.seen_in_turn(model, runner, samples)
    learns = config.method in ("auto", "learn") and config.states is None and config.stack_symbols is None
    if not views and learns and rounding_changes_behaviour(model, plan.fidelity):
        soft = _look_unrounded(model, samples, plan)
        if soft.scorer.is_near(soft.best):
            return soft
    if not any(one.holds for one in views):
        reason = memory_use.reason_no_view_holds(views) if views else None
        return replace(search(runner, model, samples), views=tuple(one.tried for one in views), reason=reason)

    # views of a memory that is no stack, the simplest first, until one gives an automaton that is near enough
    best: SearchOutcome | None = None
    tried, turns = list[Candidate](), {one.tried.name: one.tried for one in views}
    for one in (one for one in views if one.holds):
        try:
            looked = replace(search(one.view, one.on_cpu, one.samples), seen_as=one)
        except OutOfTimeError:
            if best is None:
                raise
            break  # the views before it are what is known
        tried += looked.tried
        turns[one.tried.name] = replace(one.tried, candidates=len(looked.tried))
        # the one that came nearer, the earlier of equals
        rivals = [rival.best for rival in (best, looked) if rival is not None and rival.best is not None]
        if best is None or fewest_disagreements(rivals) is not best.best:
            best = looked
        if looked.scorer.is_near(looked.best):
            break
    assert best is not None
    return replace(best, tried=tried, views=tuple(turns.values()))


def _look_unrounded(model: StackModel[Any], samples: Samples, plan: SearchPlan) -> SearchOutcome:
    """Return what was learned from the network as it is, of which the operations are rounded only to be read."""
    network = Unrounded(model)
    sampled = replace(samples, rounded=network_answers(network, samples.words))
    scorer = Scorer(network, sampled, plan.config.seed, plan.specification)
    seen = trace(network, sampled.traced[:1], stacks=False)
    tried = find_candidates(scorer, seen, replace(plan, config=replace(plan.config, method="learn")))
    stacks = memory_use.StackUse(tuple(range(model.n_stacks)), (), 0, 0)
    return SearchOutcome(scorer, seen, stacks, fewest_disagreements(tried), tried, unrounded=True)


def _look_at_buffers(model: StackModel[Any], samples: Samples, plan: SearchPlan) -> SearchOutcome:
    """Return what was found for the whole words of a network that chooses when to read and when to write."""
    scorer = Scorer(model, samples, plan.config.seed, plan.specification)
    stacks = memory_use.StackUse((0,), (), 0, 0)
    seen = trace(model, samples.traced[:1], rounded=True, stacks=False)
    graded = reason_actions_graded(plan.fidelity)
    if graded is not None and not scorer.does_its_task():
        return SearchOutcome(scorer, seen, stacks, None, [], reason=graded + seen_graded(model, samples))
    tried, steps, found = candidates_of_buffers(model, scorer, plan)
    best = fewest_disagreements(tried)
    reason = None if scorer.is_near(best) else reason_not_settled(steps, found)
    return SearchOutcome(scorer, seen, stacks, best, tried, reason=reason)


def look_as_box(runner: StackModel[Any], samples: Samples, plan: SearchPlan) -> SearchOutcome:
    """Return what was learned from the answers of ``runner`` alone, not rounded. Raises as `asked_candidates`."""
    specification, config = plan.specification, plan.config
    boxed = runner if runner.action_kind == "none" else BlackBoxed(runner)
    sampled = samples if boxed is runner else replace(samples, rounded=network_answers(boxed, samples.words))
    effort, nested = config.effort(runner.stack_limit), nested_words(boxed, specification)
    scorer = Scorer(boxed, sampled, config.seed, specification, nested.words, effort, nested=nested)
    seen = trace(boxed, sampled.traced[:1], stacks=False)
    tried = find_candidates(scorer, seen, plan)
    stacks = memory_use.StackUse((), (), 0, 0, unseen=tuple(range(runner.n_stacks)))
    best = fewest_disagreements(tried)
    return SearchOutcome(scorer, seen, stacks, best, tried, reason=scorer.endless(best), boxed=boxed)


# ---- From a network to an automaton, with every stage and every check kept ----

_DECISIVE = "rounded network"  # what the machine stands for
_ANSWERS = "the automaton was learned from answers alone; boxes need steps to follow"
_UNROUNDED = "the automaton is that of the network as it is; boxes follow rounded ones"
_RANDOM = "the network answers the same word in several ways; boxes follow networks that do not"
_LEAST_WHY = 1.0  # seconds that there are at least to find out why, and a quarter of them for the threshold
_AGAIN = 10_000  # words that are asked twice in the end
_LOOKED, _SHOWN = 0.8, 0.3  # of the time that is left, for the search, and for proof and certificate each


def extract(
    model: StackModel[Any],
    language: Language | Task | Specification | None = None,
    config: ExtractionConfig | None = None,
    progress: Told = lambda *_: None,
) -> Extraction:
    """Return the automaton of ``model``, checked against ``language`` if one is given, and against the network itself.

    ``progress`` hears of every stage (see `Told`). Raises StacklensError: the language has another alphabet, or a
    network of this kind can be no answer to it.
    """
    with one_thread():
        # Specification: what the network should do; what cannot be checked is refused before any work is done.
        specification = specification_for(language, model.task_kind, model.output_alphabet)
        check_same_alphabet(specification, model)
        config = within_means(config or ExtractionConfig(), model)
        exhaustive_limit(specification, len(model.alphabet), config.max_length)
        clock, budget = StageClock(progress), Budget(config.budget)
        plan = SearchPlan(config, specification, clock, budget)
        why = _LEAST_WHY if config.budget is None else min(_LEAST_WHY, config.budget / 10)
        result = Extraction(model, specification, None, None, [], UNMEASURED, memory_use.StackUse((), (), 0, 0))

        # Samples: words, what the network and the rounded network answer, and how whole its actions are.
        clock.stage("trace the network")
        network = model if config.device == "cpu" else copy.deepcopy(model).to(config.device)  # runs on words
        samples, looked = None, None
        with budget.stage("words to search on", _LOOKED, _LEAST_WHY):
            samples = draw_samples(network, specification, config.seed)
            result = replace(result, fidelity=replace(UNMEASURED, rounding=samples.rounding()))
            if model.action_kind != "none":
                margins = action_margins(model, trace(network, samples.short_traced, stacks=False))
                result = replace(result, fidelity=Fidelity(samples.rounding(), None, *margins))

        # Search: which stacks matter, and which automaton does what the network does.
        clock.stage("look for states")
        if samples is not None:
            with budget.stage(SEARCH, _LOOKED):
                looked = look(model, network, samples, replace(plan, fidelity=result.fidelity))
        if samples is None or looked is None:
            reason = budget_claim(budget.use().to_dict())
            return _at_the_end(replace(result, reason=reason), budget, clock)
        network = network if looked.boxed is None else looked.boxed
        result = _judged(result, looked, samples, plan)

        best = result.found
        if result.reason is None and best is not None and best.automaton is not None:
            # Prove and certify, on words of every length; then check, and repair what a check broke.
            result = _proved(replace(result, minimised=best.automaton), looked, plan)
            result = _learned_beside(result, looked, plan)
            result = _checked(result, looked, network, plan)
            result = _followed(result, network, plan)
            if not result.checks and result.certificate.certificate is None:  # a proof is of the automaton alone
                result = replace(result, caution=UNCHECKED)
            with budget.stage("where the runs part"):
                result = _parted(result, looked, network)
        result = _asked_again(result, samples, network, plan)

        # Diagnose: why something contradicts the automaton, or there is none.
        result = replace(result, budget=budget.use())
        if result.status != 0:
            clock.stage("find out why")
            with budget.stage("the diagnosis", least=why):
                result = replace(result, diagnosis=diagnose(result, looked.telling(samples)))
        return _at_the_end(result, budget, clock)


def _at_the_end(result: Extraction, budget: Budget, clock: StageClock) -> Extraction:
    result = replace(result, budget=budget.use(), seconds=clock.stop())
    late = None if result.status == 0 or result.diagnosis is not None else out_of_time(result)
    return result if late is None else replace(result, diagnosis=Diagnosis(late, None, (), ()))


def _judged(result: Extraction, looked: SearchOutcome, samples: Samples, plan: SearchPlan) -> Extraction:
    """Return ``result`` with what was found, and why no automaton can stand for the network, if none can."""
    budget = plan.budget
    best, model, reason, doubt, near = looked.best, result.model, None, None, None
    fidelity = replace(result.fidelity, minority_transitions=None if best is None else best.minority)
    stacks = looked.stacks if best is None else looked.stacks.seeing(best.stacks)
    view = None if looked.seen_as is None else memory_use.view_use(looked.seen_as, stacks.stacks, looked.views, None)
    judged = False
    with budget.stage("the judgement of what was found", 1 / 2):
        reason, doubt = _faithful(model, looked, fidelity, plan)
        judged = True
    if not judged:
        reason = budget_claim(budget.use().to_dict())
    with budget.stage("how near probabilities come to the threshold", 1 / 4, _LEAST_WHY / 4):
        if model.foreign:  # the threshold of others is no choice
            near = threshold_margin(model, samples, result.language)
    found = replace(result, found=best, candidates=looked.tried, fidelity=fidelity, stacks=stacks, view=view)
    return replace(found, reason=reason, caution=doubt if reason is None else None, threshold=near)


def _followed(result: Extraction, network: StackModel[Any], plan: SearchPlan) -> Extraction:
    """Return ``result`` certified up to a length where boxes did not close, and with how far it is followed."""
    model, automaton, checks, certificate = result.model, result.automaton, result.checks, result.certificate
    counts, specification, budget = result.counts, result.language, plan.budget
    with budget.stage("the second count", 1 / 4):
        counts = count_again(automaton, checks, model.task_kind == "recognition")
    if isinstance(certificate.certificate, NotCertified):
        plan.clock.stage("certify up to a length")
        known = certificate, model, automaton, result.stacks, specification
        with budget.stage("the certificate up to a length", 1 / 2):
            certificate = certified_length(*known, plan.config.longest_proved, result.view)
    plan.clock.stage("find the horizon")
    proved = proved_lengths(certificate, isinstance(result.proof, Equal))
    know = partial(find_horizons, automaton, network, specification, checks, proved)
    horizon = None
    with budget.stage("shorter words on which they differ", 1 / 2):
        horizon = know(plan.config.shortened)
    horizon = know(0) if horizon is None else horizon
    return replace(result, counts=counts, certificate=certificate, horizon=horizon)


def _faithful(
    model: StackModel[Any], looked: SearchOutcome, fidelity: Fidelity, plan: SearchPlan
) -> tuple[str | None, str | None]:
    """Return why no automaton can stand for the network, None if one can, and what is to be doubted of one that can."""
    best, scorer, samples, doubt = looked.best, looked.scorer, looked.scorer.samples.words, None
    wrong = 0 if scorer.is_near(best) else None if best is None else best.disagreements
    if looked.boxed is not None:
        found = ("", 0) if best is None else (best.method, best.states)
        largest = max((one.states for one in looked.tried), default=0)
        reason = looked.reason or reason_not_learned(*found, wrong, len(samples), largest)
    elif looked.unrounded:
        return None, unrounded_caution(fidelity)
    else:
        if wrong == 0 and (fidelity.rounding.mismatch <= MOST_CHANGED or scorer.does_its_task()):
            doubt = caution(fidelity)
        reason = looked.reason
        if reason is None and doubt is None:
            reason = why_unfaithful(scorer.model, fidelity, wrong, len(samples))
    if best is not None and best.explains is not None:
        reason, doubt = looked.reason, evidence_claim(*best.explains)
    elif best is not None and model.noisy:
        steps, whole = scorer.weighed(best).explains, (len(samples) - (best.disagreements or 0), len(samples))
        doubt = evidence_claim(*whole, "words") if steps is None else evidence_claim(*steps)
    if reason is not None and SEARCH in plan.budget.unfinished:
        reason = f"{reason}; {budget_claim(plan.budget.use().to_dict())}"
    # it is not asked unasked: what comes of answers says nothing of its stack, which is what it was looked at for
    if reason is not None and plan.config.method not in ASKED and model.action_kind != "none" and model.real_time:
        reason = f"{reason}; --method ask learns from its answers alone, as of a network without a stack"
    return reason, doubt


def _proved(
    result: Extraction, looked: SearchOutcome, plan: SearchPlan, layouts: Sequence[Layout] = LAYOUTS
) -> Extraction:
    """Return ``result`` with proof and certificate of its automaton, for words of every length: milliseconds."""
    model, specification, automaton = result.model, result.language, result.automaton
    plan.clock.stage("prove equality")
    proof: Comparison = PROOF_NOT_TRIED
    if specification is not None:
        proof = Undecided("the budget ended before the proof")
        with plan.budget.stage("the proof", _SHOWN):
            proof = (specification.compare if model.real_time else specification.compare_written)(automaton)
    plan.clock.stage("certify")
    why_not = None  # boxes can follow it
    if result.found is not None and result.found.by_asking:
        why_not = _ANSWERS
    elif looked.unrounded:
        why_not = _UNROUNDED
    elif model.noisy or (result.found is not None and result.found.explains is not None):
        why_not = _RANDOM
    if why_not is not None:
        return replace(result, proof=proof, certificate=Certification(None, reason=why_not))
    certificate = Certification(None, reason="the budget ended before the certificate")
    with plan.budget.stage("the certificate", _SHOWN):
        certificate = certification(model, automaton, result.stacks, specification, layouts, result.view)
    return replace(result, proof=proof, certificate=certificate)


def _learned_beside(result: Extraction, looked: SearchOutcome, plan: SearchPlan) -> Extraction:
    """Return ``result``, or that of a learned automaton where that is certified and the one by clusters is not.

    A cluster puts together what the network keeps apart where nothing observed depends on it; the contexts of a
    learned automaton keep it apart, and boxes around them may close.
    """
    known, certificate, config = result.found, result.certificate.certificate, plan.config
    failed = certificate is not None and not isinstance(certificate, Certified)
    if config.method != "auto" or known is None or known.method != "kmeans" or not known.exact or not failed:
        return result
    plan.clock.stage("look for states")
    if not any(one.method == "learn" for one in looked.tried):
        with plan.budget.stage("a second automaton, learned", _SHOWN):
            for found in learned_candidates(looked.scorer, config.stack_symbols, plan.budget.over):
                looked.tried.append(found)
                if found.exact:
                    break
    learned = next((one for one in looked.tried if one.method == "learn" and one.exact), None)
    if learned is None or learned.automaton == result.automaton:
        return result
    stacks = looked.stacks.seeing(learned.stacks)
    other = replace(result, minimised=learned.automaton, found=learned, stacks=stacks)
    # its contexts tell apart what a grid would: without one boxes close soon or never
    other = _proved(other, looked, plan, WITHOUT_GRID)
    better = isinstance(other.certificate.certificate, Certified) and not isinstance(other.proof, Different)
    return other if better else result


def _checked(result: Extraction, looked: SearchOutcome, network: StackModel[Any], plan: SearchPlan) -> Extraction:
    """Return ``result`` with its checks, and with the automaton mended where a check broke it and it could be."""
    plan.clock.stage("check the automaton")
    config, budget = plan.config, plan.budget
    use, scorer, best, specification = result.view, looked.scorer, result.found, result.language
    assert best is not None, "there is nothing to check otherwise"
    assert best.automaton is not None, "the best candidate has an automaton"
    cells = result.model.stack_limit if use is None else use.cells

    check = partial(
        check_all,
        model=network,
        specification=specification,
        config=config,
        on_progress=plan.clock.on_progress,
        cells=cells,
        nested=scorer.nested.words,
        budget=budget,
    )

    # what proof and certificate show of words of every length needs fewer words
    equal = isinstance(result.proof, Equal)
    certified = [one for one in proved_lengths(result.certificate, equal) if one.by == "certificate"]
    itself = any(one.itself for one in certified)
    checks = check(best.automaton, shown=["language"] * equal + [_DECISIVE] * bool(certified) + ["network"] * itself)

    # repair: the words that broke it split clusters, or it is learned anew; kept if fewer checks break it
    kind = replace(config, method=best.method) if best.by_asking else config  # type: ignore[arg-type]
    latest, known = best, list(checks)  # of all rounds: words are drawn anew for every automaton
    for _ in range(MOST_CHECKED - 1):
        mended = None
        with budget.stage("the repair of what a check broke", 1 / 2):
            for mended in repair(scorer, latest, looked.seen, looked.mendable(known), kind, budget, cells):
                looked.tried.append(mended)
                if mended.exact and mended.automaton is not None:
                    break
        if mended is None or not mended.exact or mended.automaton is None:
            break
        cut, again = len(budget.unfinished), check(mended.automaton)
        # what was learned by asking is right on more words than the one before, if it was checked on as many
        as_good = mended.by_asking and cut == len(budget.unfinished)
        if broken(again) < broken(checks) + as_good:
            best, checks = mended, again
        if not mended.by_asking or not broken(again):
            break
        latest, known = mended, [*known, *again]
    if best is not result.found:
        stacks = looked.stacks.seeing(best.stacks)
        result = _proved(replace(result, minimised=best.automaton, found=best, stacks=stacks), looked, plan)

    # the words on which a view was chosen, those of the search, and whether another way came to the same automaton
    automaton, second = result.automaton, second_opinion(looked.tried, best)
    ways: Comparison | None = None
    with budget.stage("the words of the search once more", 1 / 4):
        if looked.seen_as is not None:
            use = memory_use.view_use(looked.seen_as, result.stacks.stacks, looked.views, automaton)
            if looked.seen_as.tried.differences:  # the words on which its view was chosen
                words = looked.seen_as.samples.words
                checks = (*checks, agree_on(automaton, Rounded(network), None, words, "long", specification))
        checks = (*checks, *check_sampled(best, scorer, network, checks))
    if best.automaton is not None and second is not None and second.automaton is not None:
        ways = Undecided("the budget ended before the comparison")
        with budget.stage("the comparison with another automaton", 1 / 4):
            ways = compare(best.automaton, second.automaton, outputs=compared_outputs(best.automaton))
    return replace(result, checks=checks, view=use, second=second, ways=ways)


def _asked_again(result: Extraction, samples: Samples, network: StackModel[Any], plan: SearchPlan) -> Extraction:
    """Return ``result``, doubted where code that is not ours answers some words otherwise when they are asked again."""
    if result.caution is None and result.model.foreign:
        order = np.random.default_rng(plan.config.seed).permutation(len(samples.words))[:_AGAIN]
        with plan.budget.stage("words asked again", 1 / 2):
            changed, asked = changed_answers(network, [samples.words[i] for i in order])
            says = f"{CONTRADICTS}: asked again, {changed:,} of {asked:,} words had another answer; never status 0"
            result = replace(result, caution=says) if changed else result
    return result


def _parted(result: Extraction, looked: SearchOutcome, network: StackModel[Any]) -> Extraction:
    """Return ``result`` with both runs on the shortest word that contradicts the automaton, and why they part."""
    model, use, wrong = result.model, result.view, result.contradicted
    if not model.real_time:  # runs of different lengths do not stand side by side
        return result
    known, word = result.horizon[_DECISIVE].difference, None if wrong is None else wrong.counterexample
    if known is not None and wrong is not None and wrong.other == _DECISIVE:
        word = known.word
    if word is None and isinstance(result.proof, Different):
        word = make_word(result.proof.word, network.alphabet)
    if word is not None:
        view = None if looked.seen_as is None else looked.seen_as.view
        parted = divergence(result.automaton, network, word, result.stacks.stacks, view)
        use = None if use is None else replace(use, wrong=not looked.right_on(parted.word))
        result = replace(result, divergence=parted, view=use)
    # on a word that goes round: what moves at every cycle
    if use is not None or looked.boxed is not None or looked.unrounded or model.answers_to(()) is not None:
        return result
    pumped = [one.counterexample for one in result.checks if one.kind == "pumped" and one.other == _DECISIVE]
    words = [word for word in pumped if word is not None]
    found = drift(result.automaton, model, words[0], result.stacks.stacks) if words else None
    return replace(result, drift=found)
