"""The automaton against a network on words that go round and round: what adds up at every round shows nowhere else.

All families of words u v^n x y^n w (see `automata.pumping`) run together, a row each. The rounds of v are walked once,
since a longer word begins as a shorter one; now and then the rest x y^n w is tried from there. A row ends where the
network has come to a standstill, or after so many rounds, and all end where the first of them part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from stacklens.extract.verification.cycle_lines import ANY, Line, LinePart
from stacklens.models.base import NetworkState, StackModel

__all__ = ["Parting", "partings"]

_TRIED_AT = (12, 24, 48, 96, 240, 480, 960, 1_920)  # steps after which the rest of a word is tried
_LONG_TRIED_AT = (12, 48, 120)  # where the rest is as long as what was before
_STILL = 120  # steps from one look at the network to the next: a multiple of the length of every short cycle
_NO_CHANGE = 1e-4  # from one look to the next, of which there are few: in all of them too little to cross a threshold


class Parting(NamedTuple):
    """Where a network's answers part from the automaton's: in which line, and after how many rounds.

    ``after`` is the ending that shows it; None if it shows on the way, in this round. It was not to be seen after
    ``before`` rounds.
    """

    line: Line
    rounds: int
    after: int | None
    before: int


@torch.no_grad()
def partings(network: StackModel[Any], lines: Sequence[Line]) -> tuple[list[Parting], int]:
    """Return where ``network``, rounded or not, first parts from the automaton, at most once in every line.

    And how many symbols the longest word has that was run to its end.
    """
    walk = _Walk(network, list(lines))
    step = 0
    for stop in walk.stops:
        if walk.shortest <= step or not walk.left:  # a way that parts later may still make a shorter word
            break
        walk.go(step, stop)
        step = stop
    return list(walk.found.values()), walk.longest


class _Walk:
    """Lines that are walked together, a row each.

    Attributes:
        stops: the steps at which something is looked at.
        left: the numbers of the lines that still go on, by row.
        found: where lines part, by their number.
        longest, shortest: the lengths of the longest word that was run to its end, and of the shortest that parts.
    """

    def __init__(self, network: StackModel[Any], lines: list[Line]) -> None:
        self.network, self.lines, self.left = network, lines, list(range(len(lines)))
        self.state, self.longest, self.shortest = network.initial_state(len(lines)), 0, math.inf
        self.seen: np.ndarray | None = None
        self.tried = [0] * len(lines)  # the step after which an ending was tried last
        self.found: dict[int, Parting] = {}
        looked_at = [*_TRIED_AT, *range(_STILL, max((line.steps for line in lines), default=0) + 1, _STILL)]
        self.ends = [max((step for step in looked_at if step <= line.steps), default=line.steps) for line in lines]
        self.stops = sorted({step for step in (*looked_at, *self.ends) if step <= max(self.ends, default=0)})

    def go(self, begin: int, stop: int) -> None:
        """Go on to a stop, try to end words there, and drop the lines that are over."""
        wrong, self.state = _walk(self.network, self.state, [self.lines[i] for i in self.left], begin, stop)
        for row, at in wrong.items():
            self._part(row, at, None)
        over = np.array([self.ends[i] <= stop or i in self.found for i in self.left]) | self._still(stop)
        tried = [row for row, i in enumerate(self.left) if i not in self.found and (over[row] or self._due(i, stop))]
        lines = [self.lines[self.left[row]] for row in tried]
        self.longest = max([self.longest, *(stop + line.rest_length(stop) for line in lines)])
        for row, after in _tried(self.network, self.state, tried, lines, stop).items():
            self._part(row, stop, after)
        for row in tried:
            self.tried[self.left[row]] = stop
        self._keep(np.flatnonzero(~over).tolist())

    def _part(self, row: int, step: int, after: int | None) -> None:
        number = self.left[row]
        line = self.lines[number]
        self.shortest = min(self.shortest, step + (0 if after is None else line.rest_length(step)))
        self.found[number] = Parting(line, line.rounds_by(step), after, line.rounds_by(self.tried[number]) - 1)

    def _due(self, number: int, step: int) -> bool:
        return step in (_LONG_TRIED_AT if self.lines[number].pump.back else _TRIED_AT)

    def _still(self, step: int) -> np.ndarray:
        """Return in which rows nothing has changed since the last look, (N,) bool; a climb goes on all the same."""
        if step % _STILL:
            return np.zeros(len(self.left), dtype=bool)
        before, self.seen = self.seen, _seen(self.state)
        flat = np.array([not self.lines[i].pump.climb for i in self.left])
        still: np.ndarray = flat & False if before is None else flat & (np.abs(self.seen - before) <= _NO_CHANGE).all(1)
        return still

    def _keep(self, rows: list[int]) -> None:
        if len(rows) < len(self.left):
            self.state = self.state.select(torch.tensor(rows, dtype=torch.int64, device=self.state.hidden.device))
            self.seen = None if self.seen is None else self.seen[rows]
            self.left = [self.left[row] for row in rows]


def _seen(state: NetworkState[Any]) -> np.ndarray:
    """Return what decides the next step but for the symbol, (N, H + R): where it returns, all that follows returns.

    Cells below those that are seen may still change, in a network that is not rounded; they count when they are read.
    """
    seen: np.ndarray = torch.cat([state.hidden, state.stack.reading().flatten(1)], 1).cpu().numpy()
    return seen


def _walk(
    network: StackModel[Any], state: NetworkState[Any], lines: list[Line], begin: int, end: int
) -> tuple[dict[int, int], NetworkState[Any]]:
    """Return in which rows, and at which steps first, the answers are wrong between two steps, and the state then."""
    parts = [line.read(begin, end) for line in lines]
    letters = torch.from_numpy(np.stack([part.letters for part in parts], 1)).to(state.hidden.device)
    answers = []
    for now in letters:
        state = network.step(now, state).state
        if network.task_kind != "recognition":
            answers.append(network.answer(state))
    if not answers:
        return {}, state
    wrong = _wrong(np.stack(answers, 1), np.stack([part.said for part in parts]))
    return {row: begin + int(wrong[row].argmax()) + 1 for row in np.flatnonzero(wrong.any(1)).tolist()}, state


def _wrong(answers: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Return which answers are not those that were expected, of the same shape, bool."""
    wrong: np.ndarray = (answers != said) & (said != ANY)
    return wrong


def _tried(
    network: StackModel[Any], state: NetworkState[Any], rows: list[int], lines: list[Line], step: int
) -> dict[int, int]:
    """Return for which of ``rows`` an ending from ``step`` on shows a difference, with the first that does."""
    pairs = [(row, line, after) for row, line in zip(rows, lines, strict=True) for after in range(len(line.afters))]
    rests = [line.rest(step, after) for _, line, after in pairs]
    order = sorted(range(len(pairs)), key=lambda i: -len(rests[i]))  # those still running are always the first
    if not order:
        return {}
    letters, said = _padded([rests[i] for i in order])
    verdicts = np.array([pairs[i][1].verdicts[pairs[i][2]] for i in order])
    lengths = np.array([len(rests[i]) for i in order])
    state = state.select(torch.tensor([pairs[i][0] for i in order], device=state.hidden.device))
    wrong = _rest_is_wrong(network, state, letters, said, lengths, verdicts)
    found: dict[int, int] = {}
    for place in np.flatnonzero(wrong).tolist():
        row, _, after = pairs[order[place]]
        found[row] = min(after, found.get(row, after))
    return found


def _padded(parts: list[LinePart]) -> tuple[np.ndarray, np.ndarray]:
    """Return letters, -1 behind the end, and answers, `ANY` there, (N, T)."""
    shape = len(parts), max(map(len, parts))
    letters, said = np.full(shape, -1, dtype=np.int64), np.full(shape, ANY, dtype=parts[0].said.dtype)
    for row, part in enumerate(parts):
        letters[row, : len(part)], said[row, : len(part)] = part.letters, part.said
    return letters, said


def _rest_is_wrong(
    network: StackModel[Any],
    state: NetworkState[Any],
    letters: np.ndarray,
    said: np.ndarray,
    lengths: np.ndarray,
    verdicts: np.ndarray,
) -> np.ndarray:
    """Return in which rows, the longest of which come first, an answer or the verdict is not the expected one, (N,)."""
    recogniser = network.task_kind == "recognition"
    answers = np.full(said.shape, ANY, dtype=network.number_type)
    wrong, symbols = np.zeros(len(said), dtype=bool), torch.from_numpy(letters).to(state.hidden.device)
    running = len(said)
    for t in range(said.shape[1] + 1):
        still = int((lengths > t).sum())
        if recogniser and still < running:
            ended = state.select(torch.arange(still, running, device=symbols.device))
            wrong[still:running] = _wrong(network.answer(ended), verdicts[still:running])
        if not still:
            break
        if still < running:
            state, running = state.select(torch.arange(still, device=symbols.device)), still
        state = network.step(symbols[:still, t], state).state
        if not recogniser:
            answers[:still, t] = network.answer(state)
    parted: np.ndarray = wrong | _wrong(answers, said).any(1)
    return parted
