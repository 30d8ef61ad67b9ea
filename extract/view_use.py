"""Networks whose memory is no stack, seen as networks on stacks: which view holds, and what it takes for granted.

What is found on a view is about the network as far as the view is right. So every view is held against the rounded
network first, on all checking words, and whatever is found on it is checked against the rounded network again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.automata.transition_coverage import transition_pair_words
from stacklens.extract.answers import differences, network_answers
from stacklens.extract.fidelity import rounding_fidelity
from stacklens.extract.samples import Samples
from stacklens.extract.specification import Specification
from stacklens.extract.verification.agreement import Agreement, agree_on
from stacklens.languages.words import format_word, make_word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.models.views.stack_view import StackView
from stacklens.models.views.views import views_of
from stacklens.probe.trace import trace

__all__ = ["SeenAs", "TriedView", "ViewUse", "differences_of_view", "seen_in_turn", "view_use", "why_no_view"]

_LARGEST_MISMATCH = 0.1  # a view may give another verdict on this share of the accepted words, not on more
_COVERING = 5_000  # words that take the transitions of an automaton, the shortest
_DRIFT = 0.01  # on so few, and no short ones, it differs by what adds up on long words


@dataclass(frozen=True)
class TriedView:
    """How a view of a network compares with the rounded network.

    Attributes:
        name: which view.
        words, differences: on how many words they were compared, and on how many they differ.
        mismatch: the share of the words accepted by either on which they differ, in [0, 1].
        first: a shortest word on which they differ, None for none.
        candidates: how many candidates were tried on it.
    """

    name: str
    words: int
    differences: int
    mismatch: float
    first: Word | None = None
    candidates: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return {
            "name": self.name,
            "words": self.words,
            "differences": self.differences,
            "first": None if self.first is None else format_word(self.first),
            "candidates": self.candidates,
        }


@dataclass(frozen=True)
class ViewUse:
    """On which view of the network an automaton was looked for.

    Attributes:
        name: which view, in words that go on after "the network with".
        assumes: what it takes for granted of the network's memory; None where it is exact.
        shown: why part of that holds; None where it was not shown.
        cells: up to which height of each stack it holds; None for any.
        stacks: what each of its stacks is in the network's memory.
        memories: the numbers of the network's memories that the automaton's stacks are part of.
        tried: every view that was held against the rounded network, in turn.
        wrong: whether, on the word that contradicts the automaton, it is the view that is not the rounded network.
    """

    name: str
    assumes: str | None
    shown: str | None
    cells: int | None
    stacks: tuple[str, ...]
    memories: tuple[int, ...]
    tried: tuple[TriedView, ...]
    wrong: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        tried = [one.to_dict() for one in self.tried]
        plain = {name: getattr(self, name) for name in ("name", "assumes", "shown", "cells")}
        return {**plain, "memories": list(self.memories), "tried": tried}


@dataclass(frozen=True)
class SeenAs:
    """A view of a network, and what it says of the checking words.

    Attributes:
        view: the view on the network where it runs on words.
        on_cpu: the same on the network that is asked head by head.
        samples: the checking words, with the view's answers in place of the rounded network's.
        tried: how these compare.
    """

    view: StackView
    on_cpu: StackView
    samples: Samples
    tried: TriedView = field(compare=False)

    def right_on(self, word: Word, scored: np.ndarray | None = None) -> bool:
        """Return whether the view says of ``word`` what the rounded network does, where it is ``scored`` (T,)."""
        one, other = (network_answers(network, [word]) for network in (self.view, Rounded(self.view.model)))
        return not differences(one, other, None if scored is None else scored[None]).any()

    @property
    def holds(self) -> bool:
        """Return whether it is near enough to the rounded network for something to be looked for."""
        return self.tried.mismatch <= _LARGEST_MISMATCH

    @property
    def drifts(self) -> bool:
        """Return whether it is the rounded network on all short words, and nearly so on longer ones."""
        first = self.tried.first
        longest = max((len(word) for word in self.samples.words[: self.samples.n_short]), default=0)
        return first is None or (len(first) > longest and self.tried.mismatch <= _DRIFT)


def seen_in_turn(model: StackModel[Any], runner: StackModel[Any], samples: Samples) -> list[SeenAs]:
    """Return the views of ``model``, and of its copy ``runner`` that runs on words, in the order to try them.

    Those that are the rounded network but for what adds up on long words come first, the simplest of them at the head.
    """
    seen = [_held(view, on_cpu, samples) for view, on_cpu in zip(views_of(runner), views_of(model), strict=True)]
    return sorted(seen, key=lambda one: not one.drifts)


def _held(view: StackView, on_cpu: StackView, samples: Samples) -> SeenAs:
    answers = network_answers(view, samples.words)
    wrong = np.flatnonzero(differences(answers, samples.rounded, samples.scored).any(1)).tolist()
    mismatch = rounding_fidelity(answers, samples.rounded, samples.scored).mismatch
    first = min((samples.words[i] for i in wrong), key=len, default=None)
    tried = TriedView(view.title, len(samples.words), len(wrong), mismatch, first)
    return SeenAs(view, on_cpu, replace(samples, rounded=answers), tried)


def why_no_view(seen: Sequence[SeenAs]) -> str:
    """Return in one sentence why nothing was looked for on any of the views ``seen``."""
    parts = [
        f"with {one.tried.name} it differs on {one.tried.differences:,} of {one.tried.words:,} words"
        + ("" if one.tried.first is None else f", first on {format_word(one.tried.first)!r}")
        for one in seen
    ]
    return f"the network does not use its memory as stacks: {'; '.join(parts)}"


def differences_of_view(
    one: SeenAs, automaton: PushdownAutomaton, model: StackModel[Any], domain: Specification | None
) -> tuple[Agreement, ...]:
    """Return the check of ``automaton`` on the words on which its view was chosen; none if the view is right on all."""
    if not one.tried.differences:
        return ()
    return (agree_on(automaton, Rounded(model), None, one.samples.words, "long", domain),)


def view_use(
    one: SeenAs, stacks: Sequence[int], tried: Sequence[TriedView], automaton: PushdownAutomaton | None
) -> ViewUse:
    """Return what is known of the view ``one``, of which an automaton has the ``stacks``; ``tried`` are all in turn."""
    shown = None if automaton is None else _shown(one, automaton)
    view = one.view
    memories = tuple(sorted({view.memories[stack] for stack in stacks}))
    return ViewUse(view.title, view.assumes, shown, view.cells_for(stacks), view.stack_names, memories, tuple(tried))


def _shown(one: SeenAs, automaton: PushdownAutomaton) -> str | None:
    """Return why nothing that the view leaves out is read, from what the network does wherever the automaton goes."""
    covering = [make_word(word, automaton.input_alphabet) for word in transition_pair_words(automaton)[:_COVERING]]
    seen = trace(one.view.model, [*covering, *one.samples.traced], rounded=True, stacks=False)
    real = seen.valid & ~seen.rejected
    names = one.view.model.operations
    why = one.view.unused([names[place] for place in np.unique(seen.actions[real].argmax(-1)).tolist()])
    if why is None:
        return None
    return f"in {int(real.sum()):,} steps, with every transition of the automaton among them, {why}"
