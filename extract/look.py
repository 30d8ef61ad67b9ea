"""Where an automaton is looked for: on the network itself, or on views of its memory as stacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stacklens.automata.pda import Output, Word
from stacklens.extract.answers import network_answers
from stacklens.extract.budget import Budget
from stacklens.extract.buffer_look import candidates_of_buffers, seen_graded, why_not_settled
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.fidelity import Fidelity, rounding_makes_another, why_graded
from stacklens.extract.samples import NestedWords, Samples, nested_words
from stacklens.extract.search.candidate_search import fewest_disagreements, find_candidates, is_near
from stacklens.extract.search.candidates import Candidate, Scorer
from stacklens.extract.specification import Specification
from stacklens.extract.stack_ablation import StackUse, relevant_stacks
from stacklens.extract.verification.agreement import Agreement
from stacklens.extract.view_use import SeenAs, TriedView, seen_in_turn, why_no_view
from stacklens.models.base import StackModel
from stacklens.models.rounding import BlackBoxed, Unrounded
from stacklens.probe.trace import Trace, trace

__all__ = ["Looked", "look", "look_as_box"]

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
