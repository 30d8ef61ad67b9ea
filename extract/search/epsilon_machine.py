"""From an automaton of single steps to one of whole words, with ε-steps.

The first reads at every step what is at the front of a buffered network's input queue, and says what is written and
whether the letter is done with (see `models.views.buffer_steps`). In the second each letter is read once:

- a step that is done with its letter is one step,
- one that is not leads to a state that keeps the letter in mind, and goes on with ε-steps until it is done with,
- the end marker is the first step after the last letter, and ε-steps follow it.

What is written first and never seen is left out. A network stops when its time is over, an automaton has no clock. So
the states count how many letters are read and not answered yet, as far as that is a small number, and the run ends
when none is. Where it gets large, as where all is read before anything is written, it is not counted, and the run ends
where it would go round and round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from stacklens.automata.epsilon import check_epsilon, endless_head
from stacklens.automata.minimize import minimize
from stacklens.automata.naming import unique
from stacklens.automata.pda import EPSILON, NONE, Key, PushdownAutomaton, State, Symbol, Tops, Transition
from stacklens.automata.reachability import trim
from stacklens.models.views.buffer_steps import BufferSteps, Seen

__all__ = ["whole_word_automaton"]

_MOST_OWED = 4  # letters that wait for their answer, and symbols written ahead, that are counted in the state


class _Place(NamedTuple):
    """A state of the automaton of whole words.

    Attributes:
        state: that of the automaton of single steps.
        phase: the letter in mind; None where the next one can be read.
        ended: how many letters behind the word were read, None before the end marker.
        owed: how many letters are not answered yet; None where that is not counted.
        skipped: how many symbols will not be seen.
    """

    state: State
    phase: Symbol | None
    ended: int | None
    owed: int | None
    skipped: int


@dataclass(frozen=True)
class _Making:
    """The making of the automaton of whole words.

    Attributes:
        steps: the automaton of single steps.
        view: what its letters and outputs say.
        counted: whether the letters that wait for their answer are counted.
    """

    steps: PushdownAutomaton
    view: BufferSteps
    counted: bool

    @property
    def start(self) -> _Place:
        return _Place(self.steps.initial, None, None, 0 if self.counted else None, self.view.skipped)

    def moves(self, place: _Place, top: Symbol) -> Iterator[tuple[Symbol, _Place, Transition]]:
        """Yield what is read at a head ("" for nothing), where it leads, and the step that is taken."""
        if place.ended is None and place.phase is None:
            for letter in self.view.model.alphabet:
                owed = None if place.owed is None else place.owed + 1
                yield from self._step(place._replace(phase=letter, owed=owed), top, letter)
            yield from self._after_the_word(place._replace(ended=0), top, self.view.nothing_left)
        elif place.phase is not None:
            yield from self._step(place, top, EPSILON)
        elif place.owed is None or place.owed > 0:
            yield from self._step(place._replace(phase=self._behind(place)), top, EPSILON)

    def _after_the_word(
        self, place: _Place, top: Symbol, marker: Symbol
    ) -> Iterator[tuple[Symbol, _Place, Transition]]:
        if place.owed is not None and place.owed <= 0:
            yield marker, place, Transition("", (NONE,))
        else:
            yield from self._step(place._replace(phase=self._behind(place)), top, marker)

    def _behind(self, place: _Place) -> Symbol:
        """Return what is at the front of the queue once the word is read."""
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
        phase: Symbol | None = None if seen.done else place.phase
        ended, owed, skipped, written = place.ended, place.owed, place.skipped, seen.written
        if ended is not None:
            phase = None
            ended = min(ended + seen.done, len(self.view.model.reads_on))
        if written is not None and skipped:
            skipped, written = skipped - 1, None
        elif written is not None and owed is not None:
            owed -= 1
        yield read, _Place(step.target, phase, ended, owed, skipped), replace(step, output=written)


def whole_word_automaton(steps: PushdownAutomaton, view: BufferSteps) -> PushdownAutomaton:
    """Return the automaton that writes on every word what ``steps`` writes on it step by step, as small as it gets.

    Args:
        steps: an automaton over the letters of ``view``, with one stack, whose outputs are those of ``view``.
        view: the network whose steps these are.
    """
    counted = _made(_Making(steps, view, True))
    whole = counted if counted is not None else _made(_Making(steps, view, False))
    assert whole is not None
    return _without_marker(minimize(whole, "as it is"))


def _made(making: _Making) -> PushdownAutomaton | None:
    """Return the automaton without what no run uses; None where too many letters would have to be counted."""
    steps, view = making.steps, making.view
    tops: list[Tops] = [(top,) for top in (steps.bottom, *steps.stack_alphabet)]
    found: dict[_Place, None] = {making.start: None}
    moves: dict[tuple[_Place, Symbol, Tops], tuple[_Place, Transition]] = {}
    for place in (queue := [making.start]):  # the list grows while it is walked
        for (top,) in tops:
            for read, target, step in making.moves(place, top):
                if target.owed is not None and abs(target.owed) > _MOST_OWED:
                    return None
                moves[place, read, (top,)] = target, step
                if target not in found:
                    found[target] = None
                    queue.append(target)
    names = unique({place: _name(place) for place in found})
    rules: dict[Key, Transition] = {
        (names[place], read, top): replace(step, target=names[target])
        for (place, read, top), (target, step) in moves.items()
    }
    rules = _that_end(rules)
    return trim(
        PushdownAutomaton(
            states=tuple(names.values()),
            input_alphabet=view.model.alphabet,
            stack_alphabet=steps.stack_alphabet,
            transitions=rules,
            initial=names[making.start],
            accepting=frozenset(names.values()),
            acceptance="final state",
            bottom=steps.bottom,
            end_marker=view.nothing_left,
        )
    )


def _that_end(rules: dict[Key, Transition]) -> dict[Key, Transition]:
    """Return the rules without ε-steps that would go on for ever: of every round one is left out."""
    while (head := endless_head(rules)) is not None:
        rules = {key: step for key, step in rules.items() if key != (head[0], EPSILON, (head[1],))}
    return rules


def _name(place: _Place) -> str:
    parts = [place.state, *([] if place.phase is None else [place.phase])]
    return " ".join(parts) + ("" if place.ended is None else " end")


def _without_marker(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton without its end marker where this writes nothing and nothing follows it."""
    check_epsilon(pda)
    marked = {key: step for key, step in pda.transitions.items() if key[1] == pda.end_marker}
    silent = {state for state, symbol, _ in pda.transitions if symbol == EPSILON}
    if any(step.output is not None or step.target in silent for step in marked.values()):
        return pda
    letters = {key: step for key, step in pda.transitions.items() if key not in marked}
    return minimize(trim(replace(pda, transitions=letters, end_marker=None)), "as it is")
