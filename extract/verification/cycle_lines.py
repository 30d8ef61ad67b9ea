"""Families of words that go round, in numbers: what is read at every step, and what the automaton says to it.

The automaton is asked for some numbers of rounds only. From one round to the next its answers repeat; families of which
they do not, as where a state counts rounds, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklens.automata.pda import PushdownAutomaton, Symbol
from stacklens.automata.pumping import Pump
from stacklens.extract.answers import automaton_answers
from stacklens.extract.specification import Specification
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel

__all__ = ["ANY", "Line", "LinePart", "pump_lines"]

ANY = -2  # in place of an answer that does not count
_ROUNDS = (3, 5)  # those for which the automaton is asked

_Numbers = np.ndarray  # of letters or of answers, (T,) int64


@dataclass(frozen=True)
class LinePart:
    """Letters, and the answers to them (`ANY` from recognisers, which are asked at the end only)."""

    letters: _Numbers
    said: _Numbers

    def __len__(self) -> int:
        return len(self.letters)

    def times(self, n: int) -> LinePart:
        """Return it ``n`` times."""
        return LinePart(np.tile(self.letters, n), np.tile(self.said, n))


@dataclass(frozen=True)
class Line:
    """A family in numbers.

    Attributes:
        pump: the family.
        alphabet: what its words are made of.
        rounds: how often its cycle is repeated at most.
        lead, cycle: u v, and every further v.
        between: x.
        back: the first y, those between, and the last.
        afters: the endings.
        verdicts: what a recogniser should say after each ending; `ANY` from others.
    """

    pump: Pump
    alphabet: tuple[Symbol, ...]
    rounds: int
    lead: LinePart
    cycle: LinePart
    between: LinePart
    back: tuple[LinePart, LinePart, LinePart]
    afters: tuple[LinePart, ...]
    verdicts: tuple[int, ...]

    @property
    def steps(self) -> int:
        """Return how many symbols u v v v … has when all rounds are made."""
        return len(self.lead) + (self.rounds - 1) * len(self.cycle)

    def read(self, begin: int, end: int) -> LinePart:
        """Return the steps from ``begin`` to ``end`` of u v v v …."""
        steps = np.arange(begin, end)
        late = steps >= len(self.lead)
        places = np.where(late, len(self.lead) + (steps - len(self.lead)) % len(self.cycle), steps)
        both = _joined([self.lead, self.cycle])
        return LinePart(both.letters[places], both.said[places])

    def rounds_by(self, step: int) -> int:
        """Return how many rounds have begun, or are over, by ``step``."""
        return 1 + max(0, -(-(step - len(self.lead)) // len(self.cycle)))

    def rest_length(self, step: int) -> int:
        """Return how many symbols end the word from ``step`` on, with the longest ending."""
        n = self.rounds_by(step)
        stop = len(self.lead) + (n - 1) * len(self.cycle)
        return stop - step + len(self.between) + n * len(self.back[0]) + max(map(len, self.afters))

    def rest(self, step: int, after: int) -> LinePart:
        """Return what ends the word from ``step`` on, the round first, with an ending."""
        n = self.rounds_by(step)
        first, middle, last = self.back
        backs = [first] if n == 1 else [first, middle.times(n - 2), last]
        stop = len(self.lead) + (n - 1) * len(self.cycle)
        return _joined([self.read(step, stop), self.between, *backs, self.afters[after]])


def _joined(parts: Sequence[LinePart]) -> LinePart:
    return LinePart(np.concatenate([p.letters for p in parts]), np.concatenate([p.said for p in parts]))


def pump_lines(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    pumps: Sequence[tuple[Pump, int]],
    domain: Specification | None = None,
) -> list[Line]:
    """Return the families of ``pumps`` in numbers, each with how often it is repeated at most.

    Args:
        pda: the automaton.
        model: the network whose letters and answers are meant.
        pumps: the families; those that are repeated less than once are left out.
        domain: says which answers count.
    """
    kept = [(pump, rounds) for pump, rounds in pumps if rounds >= 1]
    asked = [(pump, after) for pump, _ in kept for after in range(len(pump.afters))]
    few, more = (_answers(pda, model, asked, n, domain) for n in _ROUNDS)
    lines, place = [], 0
    for pump, rounds in kept:
        rows = slice(place, place + len(pump.afters))
        line = _line(model, pump, rounds, few[rows], more[rows])
        place = rows.stop
        if line is not None:
            lines.append(line)
    return lines


def _answers(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    asked: Sequence[tuple[Pump, int]],
    n: int,
    domain: Specification | None,
) -> np.ndarray:
    """Return the automaton's answers to each family's word of ``n`` rounds with an ending, `ANY` where none counts."""
    words = [make_word(pump.word(n, after), model.alphabet) for pump, after in asked]
    answers = automaton_answers(pda, model, words)
    scored = None if domain is None else domain.scored(words)
    if scored is not None:
        answers[~scored] = ANY
    return answers


def _line(model: StackModel[Any], pump: Pump, rounds: int, few: np.ndarray, more: np.ndarray) -> Line | None:
    """Return a family in numbers, None where the answers ``few`` and ``more`` do not repeat."""
    numbers = {symbol: number for number, symbol in enumerate(model.alphabet)}

    def part(word: Sequence[Symbol], said: np.ndarray) -> LinePart:
        letters = np.array([numbers[symbol] for symbol in word], dtype=np.int64)
        return LinePart(letters, said if model.task_kind != "recognition" else np.full(len(letters), ANY))

    if model.task_kind == "recognition":
        if (few != more).any():
            return None
        said, verdicts = np.full((len(more), 0), ANY), tuple(more[:, 0].tolist())
    else:
        said, verdicts = more, (ANY,) * len(more)
    u, v, x, y = (len(piece) for piece in pump[:4])
    n = _ROUNDS[1]
    turn = u + n * v + x
    line = Line(
        pump,
        model.alphabet,
        rounds,
        part((*pump.before, *pump.cycle), said[0, : u + v]),
        part(pump.cycle, said[0, u + v : u + 2 * v]),
        part(pump.between, said[0, u + n * v : turn]),
        (
            part(pump.back, said[0, turn : turn + y]),
            part(pump.back, said[0, turn + y : turn + 2 * y]),
            part(pump.back, said[0, turn + (n - 1) * y : turn + n * y]),
        ),
        tuple(part(w, said[row, turn + n * y : turn + n * y + len(w)]) for row, w in enumerate(pump.afters)),
        verdicts,
    )
    known = model.task_kind == "recognition" or (_holds(line, few, _ROUNDS[0]) and _holds(line, more, n))
    return line if known else None


def _holds(line: Line, answers: np.ndarray, n: int) -> bool:
    """Return whether ``line`` has the automaton's ``answers`` to ``n`` rounds with each ending, (A, T)."""
    step = len(line.lead) + (n - 1) * len(line.cycle)
    for after, said in enumerate(answers):
        whole = _joined([line.read(0, step), line.rest(step, after)]).said
        if not np.array_equal(whole, said[: len(whole)]):
            return False
    return True
