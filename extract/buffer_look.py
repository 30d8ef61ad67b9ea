"""The search for an automaton of a buffered network: on its steps first, then as one of whole words, with ε-steps.

The rounded network is seen as one that reads a letter at every step (`models.views.buffer_steps`), and candidates are
looked for on that as on any network, from what it sees and does on checking words, step by step. The best of them
become automata of whole words (`search.epsilon_machine`), and what counts is what these write on whole words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from stacklens.automata.compare import Undecided
from stacklens.automata.compiled import encode_words
from stacklens.automata.pda import PushdownAutomaton, Symbol, Word
from stacklens.errors import AutomatonError
from stacklens.extract.answers import automaton_answers, differences, network_answers
from stacklens.extract.budget import Budget
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.fidelity import Fidelity
from stacklens.extract.samples import Samples
from stacklens.extract.search.candidate_search import fewest_disagreements, find_candidates
from stacklens.extract.search.candidates import Candidate, Scorer, cost
from stacklens.extract.search.epsilon_machine import whole_word_automaton
from stacklens.extract.specification import Specification
from stacklens.languages.words import format_word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.models.views.buffer_steps import BufferSteps, letters_seen
from stacklens.probe.trace import trace

__all__ = ["StepSpecification", "candidates_of_buffers", "seen_graded", "why_not_settled"]

_MOST_WORDS = 4_000  # of all short words whose steps are learned from
_TRIED = 5  # of the candidates that err on some steps, so many become automata of whole words


class StepSpecification(Specification):
    """What a rounded buffered network sees step by step, as the words that matter; nothing is known of answers.

    Args:
        view: the network step by step.
        words: all words up to a length that matter.
        longest: that length: what is seen on them is complete for so many steps.
    """

    partial_domain = True

    def __init__(self, view: BufferSteps, words: Sequence[Word], longest: int) -> None:
        self.name, self.alphabet = "its steps", view.alphabet
        seen = {word[:n] for word in letters_seen(view, words) for n in range(min(len(word), longest) + 1)}
        self.beginnings: list[Word] = sorted(seen, key=lambda word: (len(word), word))

    def short_words(self, number: int, longest: int | None = None) -> list[Word]:
        """Return all that is seen in so few steps that it comes to at most ``number`` words."""
        most = len(self.beginnings[-1]) if longest is None else longest
        while sum(len(word) <= most for word in self.beginnings) > number:
            most -= 1
        return [word for word in self.beginnings if len(word) <= most]

    def long_words(self, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
        """Return none: there is no way to draw any but by running the network."""
        del n, lengths, seed
        return []

    def deep_words(self, n: int, depth: int, seed: int) -> list[Word]:
        """Return none."""
        del n, depth, seed
        return []

    def answers(self, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
        """Return what the rounded network does."""
        return network_answers(Rounded(model), words)

    def scored(self, words: Sequence[Word]) -> None:
        """Return None: every step counts."""

    def answers_on_all(self, model: StackModel[Any], max_length: int) -> None:
        """Return None: not all words matter."""

    def automaton(self) -> None:
        """Return None."""

    def compare(self, pda: PushdownAutomaton) -> Undecided:
        """Return that nothing is known."""
        del pda
        return Undecided("the steps of a network have no automaton of their own")


def candidates_of_buffers(
    model: StackModel[Any],
    scorer: Scorer,
    config: ExtractionConfig,
    fidelity: Fidelity,
    come: Callable[[int, int | None], None],
    budget: Budget,
) -> tuple[list[Candidate], Scorer, list[Candidate]]:
    """Return candidates for the whole words of ``model``, and the scorer and the candidates of its single steps.

    Args:
        model: a buffered network, not rounded.
        scorer: who knows the rounded network's answers to whole words.
        config, fidelity, come, budget: as for `find_candidates`.
    """
    view = BufferSteps(model)
    steps = _step_scorer(view, scorer.samples, config.seed)
    seen = trace(view, steps.samples.traced, rounded=True, stacks=False)
    found = find_candidates(steps, seen, config, fidelity, come, budget=budget)
    able = [one for one in found if one.automaton is not None and one.automaton.n_stacks == 1]
    chosen = [one for one in able if one.exact] or sorted(able, key=cost)[:_TRIED]
    return [scorer.score(_whole(one, view)) for one in chosen], steps, found


def _step_scorer(view: BufferSteps, samples: Samples, seed: int) -> Scorer:
    """Return the scorer of candidates for single steps: on what the network sees on the checking words."""
    short = samples.words[: samples.n_short]
    longest = max(map(len, short), default=0)
    while sum(len(word) <= longest for word in short) > _MOST_WORDS:
        longest -= 1
    few = [word for word in short if len(word) <= longest]
    specification = StepSpecification(view, few, longest)
    drawn = letters_seen(view, samples.words[samples.n_short :])
    words: list[Word] = list(dict.fromkeys([*letters_seen(view, few), *drawn]))
    rounded = network_answers(Rounded(view), words)
    traced: list[Word] = [*letters_seen(view, samples.traced)]
    known = Samples(words, rounded, rounded[:0], None, len(words), traced, traced)
    return Scorer(view, known, frozenset(), seed, specification)


def _whole(candidate: Candidate, view: BufferSteps) -> Candidate:
    """Return the candidate for whole words that comes of one for single steps."""
    blank = replace(candidate, disagreements=None, machine=None, automaton=None, raw=None)
    if candidate.automaton is None:
        return blank
    try:
        whole = whole_word_automaton(candidate.automaton, view)
    except AutomatonError:  # too large for tables
        return blank
    return replace(blank, raw=whole, automaton=whole)


@torch.no_grad()
def seen_graded(model: StackModel[Any], samples: Samples) -> str:
    """Return on which shortest word rounding changes the answers of ``model``, and what it reads and writes there.

    The rest of a sentence; nothing where rounding changes no short word's.
    """
    n, width = samples.analog.shape
    scored = None if samples.scored is None else samples.scored[:n, :width]
    wrong = np.flatnonzero(differences(samples.analog, samples.rounded[:n, :width], scored).any(1)).tolist()
    if not wrong:
        return ""
    word = samples.words[min(wrong, key=lambda row: len(samples.words[row]))]
    fed, _ = encode_words([(*word, *model.reads_on)], model.alphabet)
    taken = model.run(torch.from_numpy(fed.T.astype(np.int64)), model.initial_state(1)).actions[:, 0, 0]
    read, written = taken[:, 2].sum().item(), taken[:, 3].sum().item()
    return (
        f"; on {format_word(word)!r}, in {len(taken)} steps, it takes {read:.2f} letters and writes {written:.2f} "
        f"symbols, and rounded {_whole_number(taken[:, 2])} and {_whole_number(taken[:, 3])}"
    )


def _whole_number(strengths: torch.Tensor) -> int:
    return int((strengths >= 0.5).sum())


def why_not_settled(steps: Scorer, found: Sequence[Candidate]) -> str:
    """Return in one sentence at which step no candidate for single ``steps`` does what the rounded network does."""
    best = fewest_disagreements([one for one in found if one.automaton is not None])
    if best is None or best.automaton is None:
        return "no finite set of states was found that closes under the network's steps"
    view = steps.model
    assert isinstance(view, BufferSteps)
    broken = steps.broken_by(best.automaton)
    if not broken:
        return "its steps settle into a pattern, but what it writes on whole words is not what they say"
    theirs = network_answers(Rounded(view), broken[:1])[0]
    ours = automaton_answers(best.automaton, view, broken[:1])[0]
    step = int(np.flatnonzero(theirs != ours)[0])
    word = _word_of(view, broken[0], theirs)
    return (
        f"it does not settle into a pattern: the best of {len(found)} candidates errs on what it does step by step on "
        f"{len(broken):,} of {len(steps.samples.words):,} words; on {format_word(word)!r} at step {step + 1}, where "
        f"{_front(view, broken[0][step])}, the network {_told(view, int(theirs[step]))}, and the candidate "
        f"{_told(view, int(ours[step]))}"
    )


def _word_of(view: BufferSteps, seen: Word, did: np.ndarray) -> Word:
    """Return the letters that the network was done with, and the last one that it saw."""
    letters = [
        letter
        for letter, number, last in zip(seen, did.tolist(), range(len(seen) - 1, -1, -1), strict=False)
        if letter != view.nothing_left and (view.meanings[number].done or not last)
    ]
    return tuple(letters)


def _front(view: BufferSteps, letter: Symbol) -> str:
    return "nothing is left to read" if letter == view.nothing_left else f"{letter} is at the front"


def _told(view: BufferSteps, number: int) -> str:
    if number < 0:
        return "has no such step"
    written, done = view.meanings[number]
    return f"{'takes the letter' if done else 'waits'} and writes {'nothing' if written is None else written}"
