"""Machines that were tried, and the judgement on them: on which words each differs from the rounded network."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np

from ...automata.compare import Equal
from ...automata.minimize import Minimization, minimization
from ...automata.pda import Output, PushdownAutomaton, Symbol, Tops, Word
from ...automata.rewriting import drop_end_marker
from ...automata.summaries import trim
from ...languages.language import format_word
from ...models.base import StackModel
from ...models.inference import automaton_answers, differences, network_answers
from ...models.rounding import Rounded
from ..agreement import search_words
from ..config import Effort
from ..cycles import box_words
from ..samples import NestedWords, Samples, walk_words
from ..specification import Specification
from .machine import Machine

LEARNING = "learning"  # the way of a candidate that behaviour alone decided
_FEW_STEPS, _UNEXPLAINED = 20, 0.1  # steps that have to be there to say that evidence contradicts itself on few of them
_FEW, _ASKED_AGAIN = 0.02, 100  # of the words, which may be noise; words in error
_WALKS = 200, (10, 60)  # words, and their lengths
_ERROR, _STATE = 20, 10  # what a word in error and a state cost, where a transition costs 1
NEAR = 0.01  # of the words that are accepted: an automaton that errs on no more is worth having, with its errors
DRIFT = 0.1  # the same for one that is proved to be what the network was trained to do
_DOES_ITS_TASK = 0.01  # of the words that are accepted: a rounded network that is wrong of more does something else


@dataclass(frozen=True)
class ClusterSplit:
    """What was split in a machine to get the next one, and why."""

    kind: str  # "state" or "stack symbol"
    name: str  # which one
    # state, letter, tops: the head and the input at which it did not do what the network did
    state: str
    letter: Symbol
    tops: Tops
    word: Word  # on which word that was seen
    sizes: tuple[int, ...]  # how many traced vectors (or values) went to each part
    before: int  # on how many words the machine differed from the rounded network before

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's history."""
        return {
            "kind": self.kind,
            "name": self.name,
            "head": [self.state, *self.tops],
            "letter": self.letter,
            "word": format_word(self.word),
            "sizes": list(self.sizes),
            "before": self.before,
        }


@dataclass(frozen=True)
class _Tried:
    """What a file keeps of a candidate."""

    quantiser: str  # the name of its states' quantiser
    stack_symbols: int  # how many stack symbols it was given
    # "exploration" or "vote"; after a split "refinement", or "refinement and vote"; "learning" where behaviour alone
    # decided (see `learning`); "learn-dfa", "learn-mealy", "learn-vpa" where a learner asked (`asking`)
    way: str
    states: int  # states before minimisation, 0 where none came out
    # checking words, or walks, on which it differs from the rounded network; None where none came out
    disagreements: int | None
    minority: float | None  # the share of outvoted steps; None where nothing was voted on
    _: KW_ONLY
    split: ClusterSplit | None = None  # for a refinement, what was split
    # the numbers of the network's stacks that it sees, where it was learned and there are several; else None, for all
    # that are left
    stacks: tuple[int, ...] | None = None
    # where states were merged by weight, on which share of their endings two of the same may differ
    apart: float | None = None
    # of evidence that contradicts itself, so many of so many steps, where that is enough to be given out
    explains: tuple[int, int] | None = None


@dataclass(frozen=True)
class Candidate(_Tried):
    """One machine tried."""

    raw: PushdownAutomaton | None = None  # the machine before minimisation, if one came out
    automaton: PushdownAutomaton | None = None  # the minimised automaton, if one came out
    # the machine itself; None where it was learned
    machine: Machine | None = field(default=None, compare=False, repr=False)

    @property
    def exact(self) -> bool:
        """Return whether the machine agrees with the rounded network on every checking word."""
        return self.disagreements == 0

    @property
    def method(self) -> str:
        """Return how it was found, in the words of `ExtractionConfig.method`."""
        if self.way.startswith("learn-"):
            return self.way
        return "learn" if self.way == LEARNING else "kmeans"

    @property
    def by_asking(self) -> bool:
        """Return whether it was learned from answers alone: then it shows what the network does, and not how."""
        return self.way.startswith("learn-")

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's history."""
        names = ("quantiser", "stack_symbols", "way", "states", "disagreements")
        entry = {**{name: getattr(self, name) for name in names}, "minority_transitions": self.minority}
        if self.stacks is not None:
            entry["stacks"] = list(self.stacks)
        if self.apart is not None:
            entry["apart"] = self.apart
        return entry if self.split is None else {**entry, "split": self.split.to_dict()}


def cost(candidate: Candidate) -> float:
    """Return by what candidates are compared: words in error, transitions and states, weighted; the less the better."""
    if candidate.automaton is None or candidate.disagreements is None:
        return float("inf")
    sizes = len(candidate.automaton.transitions) + _STATE * len(candidate.automaton.states)
    return _ERROR * candidate.disagreements + sizes


def fewest_disagreements(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the exact candidate of fewest stacks, of these one of clusters, and the smallest, else what costs least.

    Without one it is what explains enough of contradictory evidence. The first of equals; None for none. See `cost`.
    """
    right = [one for one in candidates if one.exact] or [one for one in candidates if one.explains is not None]
    return min(right, key=stacks_and_cost, default=min(candidates, key=cost, default=None))


def stacks_and_cost(candidate: Candidate) -> tuple[int, bool, float]:
    """Return what candidates are ordered by that are all right: stacks, whether not of clusters, and `cost`."""
    stacks = 0 if candidate.automaton is None else candidate.automaton.n_stacks
    return stacks, candidate.method != "kmeans", cost(candidate)


def minimised(blank: Candidate, machine: PushdownAutomaton) -> Candidate:
    """Return ``blank`` with the automaton of a machine; its outputs on words that end nowhere stay as they are."""
    raw = trim(machine)
    return replace(blank, states=len(raw.states), raw=raw, automaton=merging(raw).automaton)


def merging(raw: PushdownAutomaton) -> Minimization:
    """Return what a machine of clusters is minimised to, and where each of its states and stack symbols goes."""
    speaks = any(step.output is not None for step in raw.transitions.values())
    return minimization(drop_end_marker(raw) or raw, "as it is" if speaks else "drop")


def merged_into(raw: PushdownAutomaton | None, minimised: PushdownAutomaton | None) -> Minimization | None:
    """Return what became what where ``raw`` was minimised to ``minimised``; None where that is not known."""
    if raw is None or minimised is None:
        return None
    found = merging(raw)
    return found if found.automaton == minimised else None


@dataclass(frozen=True)
class Scorer:
    """The rounded network's answers, or those of a view of it, with which every candidate is compared."""

    model: StackModel[Any]  # the network, not rounded, without stacks that do not matter
    samples: Samples  # the checking words
    seed: int  # for walks
    # what the network was trained to do, which decides which answers count; None for all
    specification: Specification | None = None
    further: tuple[Word, ...] = ()  # other words to check on, such as those that broke an earlier candidate
    # how far to search for words that break a candidate that passes all others; None for no search
    effort: Effort | None = None
    whole: StackModel[Any] | None = None  # the network to learn from, with all its stacks; None where that is ``model``
    # of the ``further`` words those that see depth, of a network without a stack
    nested: NestedWords = field(default_factory=NestedWords)

    @property
    def complete(self) -> frozenset[Output]:
        """Return the outputs that say that a word is complete; none where they are not known."""
        return frozenset() if self.specification is None else self.specification.complete

    @property
    def learned_from(self) -> StackModel[Any]:
        """Return the network, not rounded, with all its stacks."""
        return self.model if self.whole is None else self.whole

    def score(self, candidate: Candidate, enough: int | None = None) -> Candidate:
        """Return ``candidate`` with the number of words on which it differs; beyond ``enough`` not all are counted."""
        if candidate.automaton is None:
            return candidate
        return replace(candidate, disagreements=len(self.broken_by(candidate.automaton, enough)))

    def broken_by(self, pda: PushdownAutomaton, enough: int | None = None) -> list[Word]:
        """Return the words on which ``pda`` differs from the rounded network, shortest first, about ``enough`` of them.

        Checking words come first, then random walks over its own transitions, where all words are meant: random words
        die early in a predictor of small sets. Words that automata suggest come last.
        """
        samples = self.samples
        words = samples.differing(lambda words: automaton_answers(pda, self.model, words), enough)
        words += self._differing(pda, list(self.further))
        if not words and samples.scored is None:
            words = self._differing(pda, walk_words(pda, *_WALKS, self.seed))
        if not words and self.effort is not None:
            found = search_words(pda, self.specification, self.effort, self.seed)
            words = self._differing(pda, [word for _, suggested in found for word in suggested])
        if not words and self.effort is not None and self.model.action_kind == "none":
            words = self._differing(pda, box_words(pda, self.model, self.specification, self.seed))
        return sorted(words, key=len)

    def weighed(self, candidate: Candidate) -> Candidate:
        """Return ``candidate`` with how many steps it explains, if it does almost all, on words drawn apart as well.

        Only steps that it or the network accepts are counted, up to the first that is not explained.
        """
        samples, pda = self.samples, candidate.automaton
        if pda is None:
            return candidate
        ours = automaton_answers(pda, self.model, samples.words)
        wrong, either = differences(ours, samples.rounded, samples.scored), np.maximum(ours, samples.rounded)
        so_far = np.cumsum(wrong, 1) - wrong == 0
        alive, steps = either >= 0, int((so_far & (either >= 0)).sum())
        if self.model.task_kind == "recognition":
            alive, steps = either > 0, len(wrong)
        wrong, alive = wrong & so_far, alive & so_far
        for part in (slice(samples.n_short), slice(samples.n_short, None)):
            if alive[part].sum() < _FEW_STEPS or wrong[part].sum() > _UNEXPLAINED * alive[part].sum():
                return candidate
        return replace(candidate, explains=(steps - int(wrong.sum()), steps))

    def endless(self, candidate: Candidate | None) -> str | None:
        """Return why a candidate without a stack cannot do, or any, where the network counts as deep as was asked."""
        pda = None if candidate is None else candidate.automaton
        if self.nested.endless is None or (pda is not None and not pda.stackless):
            return None
        return (
            f"it counts, or is bounded at a depth not seen: {self.nested.endless} needs a state of its own, and no "
            "deeper word was asked"
        )

    def errs_at_most(self, candidate: Candidate, share: float) -> bool:
        """Return whether a candidate differs on at most this share of the words that the rounded network accepts."""
        return candidate.disagreements is not None and candidate.disagreements <= share * self.samples.alive()

    def drifts(self, candidate: Candidate, broken: list[Word] | None = None) -> bool:
        """Return whether a candidate that is right of most words is proved to be what the network was trained to do.

        Of one learned from answers it is enough to be right of all short words: on longer ones the network has left it.
        ``broken``: the words on which it is wrong, if they are known.
        """
        if candidate.automaton is None or self.specification is None:
            return False
        if not self.errs_at_most(candidate, DRIFT):
            if not candidate.by_asking or candidate.disagreements is None:
                return False
            if not self.only_long(self.broken_by(candidate.automaton) if broken is None else broken):
                return False
        return isinstance(self.specification.compare(candidate.automaton), Equal)

    def is_near(self, candidate: Candidate | None) -> bool:
        """Return whether there is a candidate that is exact, or wrong of so few words that it is worth having."""
        if candidate is None:
            return False
        known = candidate.exact or candidate.explains is not None
        return known or self.errs_at_most(candidate, NEAR) or self.drifts(candidate)

    def only_long(self, words: list[Word]) -> bool:
        """Return whether ``words`` are all longer than the short ones, of which the search runs every one."""
        shortest = max((len(word) for word in self.samples.words[: self.samples.n_short]), default=0)
        return all(len(word) > shortest for word in words)

    def errs_by_noise(self, candidate: Candidate) -> bool:
        """Return whether a network that is not ours errs, and on few words: asked again it answers half otherwise."""
        few = candidate.disagreements is not None and candidate.disagreements <= _FEW * len(self.samples.words)
        if candidate.automaton is None or not few or not self.learned_from.foreign:
            return False
        words = self.broken_by(candidate.automaton)[:_ASKED_AGAIN]
        return 2 * len(self._differing(candidate.automaton, words)) < len(words)

    def does_its_task(self) -> bool:
        """Return whether the rounded network does on the checking words what it was trained to do, almost always."""
        task, samples = self.specification, self.samples
        if task is None:
            return False
        wrong = samples.differing(lambda words: task.answers(self.model, words))
        return len(wrong) <= _DOES_ITS_TASK * samples.alive()

    def scored(self, word: Word) -> np.ndarray | None:
        """Return which answers to ``word`` count, (T,) bool; None for all."""
        if self.specification is None or (scored := self.specification.scored([word])) is None:
            return None
        return np.asarray(scored[0])

    def _differing(self, pda: PushdownAutomaton, words: list[Word]) -> list[Word]:
        longest = self.model.longest
        words = [word for word in words if longest is None or len(word) <= longest]
        if not words:
            return []
        scored = None if self.specification is None else self.specification.scored(words)
        ours, theirs = automaton_answers(pda, self.model, words), network_answers(Rounded(self.model), words)
        wrong = differences(ours, theirs, scored)
        return [words[i] for i in np.flatnonzero(wrong.any(1)).tolist()]
