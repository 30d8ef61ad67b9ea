"""Buffered networks, step by step and on whole words: an automaton of the first becomes one of the second, by ε-steps.

The rounded network is seen as one that reads a letter at every step (`models.views.BufferSteps`), and candidates are
looked for on that as on any network (`search.candidates_of_buffers`), from what it sees and does on checking words.
The best of them become automata of whole words, and what counts is what these write on whole words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from ..automata.compare import Undecided
from ..automata.enumeration import encode_words
from ..automata.minimize import minimize
from ..automata.pda import EPSILON, NONE, Key, PushdownAutomaton, State, Symbol, Tops, Transition, Word
from ..automata.rewriting import check_epsilon, endless_head
from ..automata.summaries import trim
from ..core.errors import unique
from ..languages.language import format_word
from ..models.base import StackModel
from ..models.inference import automaton_answers, differences, network_answers
from ..models.rounding import Rounded
from ..models.views import BufferSteps, Seen, letters_seen
from .samples import Samples
from .search.candidates import Candidate, Scorer, fewest_disagreements
from .specification import Specification

# ---- From an automaton of single steps to one of whole words, with ε-steps ----
#
# The first reads at every step what is at the front of a buffered network's input queue, and says what is written and
# whether the letter is done with (see `models.views.BufferSteps`). In the second each letter is read once:
#
# - a step that is done with its letter is one step,
# - one that is not leads to a state that keeps the letter in mind, and goes on with ε-steps until it is done with,
# - the end marker is the first step after the last letter, and ε-steps follow it.
#
# What is written first and never seen is left out. A network stops when its time is over, an automaton has no clock.
# So the states count how many letters are read and not answered yet, as far as that is a small number, and the run
# ends when none is. Where it gets large, as where all is read before anything is written, it is not counted, and the
# run ends where it would go round and round.

_MOST_OWED = 4  # letters that wait for their answer, and symbols written ahead, that are counted in the state


class _Place(NamedTuple):
    """A state of the automaton of whole words."""

    state: State  # that of the automaton of single steps
    phase: Symbol | None  # the letter in mind; None where the next one can be read
    ended: int | None  # how many letters behind the word were read, None before the end marker
    owed: int | None  # how many letters are not answered yet; None where that is not counted
    skipped: int  # how many symbols will not be seen


@dataclass(frozen=True)
class _Making:
    """The making of the automaton of whole words."""

    steps: PushdownAutomaton  # the automaton of single steps
    view: BufferSteps  # what its letters and outputs say

    def moves(self, place: _Place, top: Symbol) -> Iterator[tuple[Symbol, _Place, Transition]]:
        """Yield what is read at a head ("" for nothing), where it leads, and the step that is taken."""
        if place.ended is None and place.phase is None:
            for letter in self.view.model.alphabet:
                owed = None if place.owed is None else place.owed + 1
                yield from self._step(place._replace(phase=letter, owed=owed), top, letter)
            # after the word: the run ends where all is answered
            ended, marker = place._replace(ended=0), self.view.nothing_left
            if ended.owed is not None and ended.owed <= 0:
                yield marker, ended, Transition("", (NONE,))
            else:
                yield from self._step(ended._replace(phase=self._behind(ended)), top, marker)
        elif place.phase is not None:
            yield from self._step(place, top, EPSILON)
        elif place.owed is None or place.owed > 0:
            yield from self._step(place._replace(phase=self._behind(place)), top, EPSILON)

    def _behind(self, place: _Place) -> Symbol:
        assert place.ended is not None
        left = self.view.model.reads_on[place.ended : place.ended + 1]
        return left[0] if left else self.view.nothing_left

    def _step(self, place: _Place, top: Symbol, read: Symbol) -> Iterator[tuple[Symbol, _Place, Transition]]:
        """Yield the step at ``place``, whose letter in mind is at the front of the queue."""
        assert place.phase is not None
        step = self.steps.transitions.get((place.state, place.phase, (top,)))
        if step is None:
            return
        seen = Seen(None, True) if not isinstance(step.output, str) else self.view.meanings[int(step.output)]
        phase, ended = None if seen.done else place.phase, place.ended
        if ended is not None:
            phase, ended = None, min(ended + seen.done, len(self.view.model.reads_on))
        owed, skipped, written = place.owed, place.skipped, seen.written
        if written is not None and skipped:
            skipped, written = skipped - 1, None
        elif written is not None and owed is not None:
            owed -= 1
        yield read, _Place(step.target, phase, ended, owed, skipped), replace(step, output=written)


def whole_word_automaton(steps: PushdownAutomaton, view: BufferSteps) -> PushdownAutomaton:
    """Return the automaton that writes on every word what ``steps``, over letters of ``view``, writes step by step."""
    counted = _whole_word_machine(_Making(steps, view), 0)
    whole = counted if counted is not None else _whole_word_machine(_Making(steps, view), None)
    assert whole is not None
    # the automaton without its end marker where this writes nothing and nothing follows it
    pda = minimize(whole, "as it is")
    check_epsilon(pda)
    marked = {key: step for key, step in pda.transitions.items() if key[1] == pda.end_marker}
    silent = {state for state, symbol, _ in pda.transitions if symbol == EPSILON}
    if any(step.output is not None or step.target in silent for step in marked.values()):
        return pda
    letters = {key: step for key, step in pda.transitions.items() if key not in marked}
    return minimize(trim(replace(pda, transitions=letters, end_marker=None)), "as it is")


def _whole_word_machine(making: _Making, owed: int | None) -> PushdownAutomaton | None:
    """Return the automaton without what no run uses; None where too many letters would have to be counted."""
    steps, view = making.steps, making.view
    start = _Place(steps.initial, None, None, owed, view.skipped)
    called = {start: start.state}  # what each place is called: state, letter in mind, and whether the word has ended
    moves: dict[tuple[_Place, Symbol, Tops], tuple[_Place, Transition]] = {}
    for place in (queue := [start]):  # the list grows while it is walked
        for top in (steps.bottom, *steps.stack_alphabet):
            for read, target, step in making.moves(place, top):
                if target.owed is not None and abs(target.owed) > _MOST_OWED:
                    return None
                moves[place, read, (top,)] = target, step
                if target not in called:
                    parts = (target.state, target.phase, None if target.ended is None else "end")
                    called[target] = " ".join(part for part in parts if part is not None)
                    queue.append(target)
    names = unique(called)
    rules: dict[Key, Transition] = {
        (names[place], read, top): replace(step, target=names[target])
        for (place, read, top), (target, step) in moves.items()
    }
    # ε-steps that would go on for ever: of every round one is left out
    while (head := endless_head(rules)) is not None:
        rules = {key: step for key, step in rules.items() if key != (head[0], EPSILON, (head[1],))}
    return trim(
        PushdownAutomaton(
            states=tuple(names.values()),
            input_alphabet=view.model.alphabet,
            stack_alphabet=steps.stack_alphabet,
            transitions=rules,
            initial=names[start],
            accepting=frozenset(names.values()),
            acceptance="final state",
            bottom=steps.bottom,
            end_marker=view.nothing_left,
        )
    )


# ---- What its single steps are held against, and where they do not settle ----


class StepSpecification(Specification):
    """What a rounded buffered network sees step by step on ``words`` up to the ``longest``; answers are not known."""

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
        return []

    def answers(self, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
        return network_answers(Rounded(model), words)

    def compare(self, pda: PushdownAutomaton) -> Undecided:
        return Undecided("the steps of a network have no automaton of their own")


@torch.no_grad()
def seen_graded(model: StackModel[Any], samples: Samples) -> str:
    """Return the end of a sentence: the shortest word whose answer rounding changes, and both; "" without one."""
    n, width = samples.analog.shape
    scored = None if samples.scored is None else samples.scored[:n, :width]
    wrong = np.flatnonzero(differences(samples.analog, samples.rounded[:n, :width], scored).any(1)).tolist()
    if not wrong:
        return ""
    word = samples.words[min(wrong, key=lambda row: len(samples.words[row]))]
    fed, _ = encode_words([(*word, *model.reads_on)], model.alphabet)
    taken = model.run(torch.from_numpy(fed.T.astype(np.int64)), model.initial_state(1)).actions[:, 0, 0]
    read, written = taken[:, 2].sum().item(), taken[:, 3].sum().item()
    whole = (taken[:, 2:4] >= 0.5).sum(0).tolist()
    return (
        f"; on {format_word(word)!r}, in {len(taken)} steps, it takes {read:.2f} letters and writes {written:.2f} "
        f"symbols, and rounded {whole[0]} and {whole[1]}"
    )


def reason_not_settled(steps: Scorer, found: Sequence[Candidate]) -> str:
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
    # the letters that were read, of those that were seen
    seen, letter = zip(broken[0], theirs.tolist(), range(len(broken[0]) - 1, -1, -1), strict=False), broken[0][step]
    word = tuple(x for x, did, left in seen if x != view.nothing_left and (view.meanings[did].done or not left))
    front = "nothing is left to read" if letter == view.nothing_left else f"{letter} is at the front"
    return (
        f"it does not settle into a pattern: the best of {len(found)} candidates errs on what it does step by step on "
        f"{len(broken):,} of {len(steps.samples.words):,} words; on {format_word(word)!r} at step {step + 1}, where "
        f"{front}, the network {_step_in_words(view, int(theirs[step]))}, and the candidate "
        f"{_step_in_words(view, int(ours[step]))}"
    )


def _step_in_words(view: BufferSteps, number: int) -> str:
    if number < 0:
        return "has no such step"
    written, done = view.meanings[number]
    return f"{'takes the letter' if done else 'waits'} and writes {'nothing' if written is None else written}"
