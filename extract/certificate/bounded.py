"""The bounded certificate: the rounded network follows an automaton on all words up to a length, proved by boxes.

Boxes are carried forward symbol by symbol. After n symbols there is a row for everything that words of length n lead
to: the automaton's state, a box of hidden vectors, and a frame on top of each stack (see `Frames`). Rows that are near
each other are merged, so that there are never too many. Nothing has to close: what is left behind at every round makes
boxes wider from step to step, and the proof ends where a decision is no longer sure.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...automata.finite import FiniteAutomaton
from ...automata.pda import PushdownAutomaton, Symbol
from ...core.errors import StacklensError
from ...core.progress import check_time
from ...models.base import StackModel
from ...models.rounding import Operation
from ..agreement import BoundedCertificate
from ..config import LONGEST_BOUND
from .abstraction import FIRST, Box, BoxController, BoxHead, Control, Entry, Layout, Row, System, TooMany, other_stack
from .controllers import MARGIN, boxes_of, stacks_to_follow
from .step_check import StepCase, StepImage, Unproved, Where, judge_verdict, letters_at

# ---- Which boxes are near each other: grids that put points into clusters, and what a number counts in them ----
#
# Nothing here decides whether a proof is right, only how far it gets.

_LEAST = 1e-4  # points that are nearer than this are never kept apart
_NEARER = 1.2  # a grid is not more than so much coarser than it has to be
_ORTHANTS = 1_000  # cells so many times as wide as all points together part these by their signs alone
_NUDGE, _LEAST_SCALE = 0.05, 0.01


def bent(values: Row) -> Row:
    """Return ``values`` with those of more than 1 in size drawn in to less than 2: they differ little to a sigmoid.

    >>> bent(np.array([0.5, -4.0])).tolist()
    [0.5, -1.75]
    """
    sizes = np.maximum(np.abs(values), 1)
    return np.where(np.abs(values) <= 1, values, np.sign(values) * (2 - 1 / sizes))


def grid_clusters(features: Row, kinds: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of points (N, F) and where in it each cluster begins: a cell of a grid, of one kind.

    There are at most ``most`` clusters, unless there are more ``kinds`` (N,) int, which are never mixed.
    """
    most = max(most, len(np.unique(kinds)))
    features = np.nan_to_num(features, posinf=0.0, neginf=0.0)
    mixed = np.random.default_rng(0).integers(1, 2**62, features.shape[1], dtype=np.int64)

    def cells(width: float) -> tuple[np.ndarray, np.ndarray]:
        numbers = np.floor(features / width).astype(np.int64) @ mixed  # two may come to the same, which is harmless
        order = np.lexsort((numbers, kinds))
        new = (np.diff(numbers[order]) != 0) | (np.diff(kinds[order]) != 0)
        return order, np.concatenate([[0], np.flatnonzero(new) + 1])

    # the finest grid with few enough cells: coarser by twos, then halved on a logarithmic scale
    found, extent = cells(_LEAST), max(_LEAST, float(np.ptp(features, axis=0).max(initial=0)))
    fine, coarse = _LEAST, extent
    while len(found[1]) > most:
        coarse *= 2
        if coarse > _ORTHANTS * extent:  # each orthant is a cell, and of many numbers there are too many: all in one
            features = features - features.min(0)
        found = cells(coarse)
    while coarse > fine * _NEARER:
        middle = math.sqrt(fine * coarse)
        tried = cells(middle)
        if len(tried[1]) > most:
            fine = middle
        else:
            coarse, found = middle, tried
    return found


def groups(values: Row, kinds: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of N values (N, F), and where in it groups of near ones begin: about ``most``, and all kinds."""
    shown = values[:, np.ptp(values, axis=0).argmax()]
    order = np.lexsort((shown, kinds))
    shown, kinds = shown[order], kinds[order]
    changes = np.flatnonzero(np.diff(kinds)) + 1
    first = np.concatenate([[0], changes])
    last = np.concatenate([changes, [len(kinds)]]) - 1
    width = max(float((shown[last] - shown[first]).sum()) / most, _LEAST)
    numbers = np.floor((shown - np.repeat(shown[first], last - first + 1)) / width)
    new = (np.diff(kinds) != 0) | (np.diff(numbers) != 0)
    return order, np.concatenate([[0], np.flatnonzero(new) + 1])


def sensitivities(controller: BoxController, letters: range, hidden: Box, reading: Box, points: bool) -> Row:
    """Return how much wider all that follows gets if a number of hidden vector or reading does, (H + R,), at most 1.

    ``letters``: numbers of what may be read from ``hidden`` (M, H) and ``reading`` (M, R), which may be ``points``
    only.
    """
    size, more = hidden.low.shape[1], 0 if points else reading.low.shape[1]

    def width(by: Row) -> float:
        wide = hidden.wider(by[:size]), reading if points else reading.wider(by[size:])
        total = 0.0
        for letter in letters:
            answer = controller.answer(letter, *wide)
            total += sum(float((bent(box.high) - bent(box.low)).sum()) for box in (answer.hidden, *answer.pushed))
            total -= sum(float(np.minimum(one.margins, 1).sum()) for one in (*answer.operations, answer.output))
        return total

    start = width(np.zeros(size + more))
    gains = np.array([width(_NUDGE * row) - start for row in np.eye(size + more)])
    found = np.nan_to_num(np.concatenate([gains, np.zeros(reading.low.shape[1] - more)]))
    return np.asarray(np.sqrt(np.clip(found / max(found.max(initial=0), 1e-300), _LEAST_SCALE, 1)))


# ---- The stacks of all short words at once: cells that share what lies below them, as boxes ----
#
# A frame is a cell together with what may lie below it. Words whose stacks agree up to a point share frames, and
# frames may be merged: the box of the new one holds those of both, and below it lies what lay below either.

FrameSymbol = tuple[Symbol | None, Symbol]  # the automaton's stack symbol, and the letter that laid it

BOTTOM = 0  # the number of the frame below all others, which is no cell
_MOST_BELOW = 4  # frames that are kept apart below one


class Frames:
    """Frames, each with a number: the box (``size``,) of what it shows, its own cell and those below, and its cells.

    A cell is laid once, on the cells of one frame. A frame is a cell, or a set of cells of one symbol, of which it is
    not known which one is there.
    """

    def __init__(self, size: int) -> None:
        self._low, self._high = np.zeros((1, size)), np.zeros((1, size))
        self.size, self.count = size, 1
        self._kinds: dict[FrameSymbol | None, int] = {None: BOTTOM}
        self.symbols: list[FrameSymbol | None] = [None]
        self.kinds = np.zeros(1, np.int64)
        self._cells = [np.zeros(1, np.int64)]
        self._under = [np.zeros(0, np.int64)]  # of a cell: those that may lie below
        self._sets: dict[bytes, int] = {}
        self._below: dict[int, tuple[int, ...]] = {BOTTOM: (BOTTOM,)}

    def boxes(self, numbers: np.ndarray) -> Box:
        """Return what frames show, (N, size)."""
        return Box(self._low[numbers], self._high[numbers])

    def lay(self, symbol: FrameSymbol, shown: Box, on: Iterable[Sequence[int]]) -> np.ndarray:
        """Return new cells (N,) of a symbol, one for each box of ``shown`` (N, size), each on one of some frames."""
        kind = self._kinds.setdefault(symbol, len(self._kinds))
        if kind == len(self.symbols):
            self.symbols.append(symbol)
        return self._lay(kind, shown, (_distinct_cells([self._cells[frame] for frame in frames]) for frames in on))

    def anything(self) -> int:
        """Return a new frame that stands for any stack: below it is itself; what it shows has to be known elsewhere."""
        nothing = Box(np.zeros((1, self.size)), np.zeros((1, self.size)))
        number = int(self.lay((None, f"any {self.count}"), nothing, [(BOTTOM,)])[0])
        self._below[number] = (number,)
        return number

    def merge(self, numbers: Iterable[int], since: int) -> int:
        """Return a frame that holds frames of one symbol: a new cell, if all are cells numbered from ``since`` on."""
        parts = sorted(set(numbers))
        if len(parts) == 1:
            return parts[0]
        if parts[0] >= since and all(len(self._cells[part]) == 1 for part in parts):
            under = _distinct_cells([self._under[part] for part in parts])
            return int(self._lay(int(self.kinds[parts[0]]), self._around(parts), [under])[0])
        return self._set(_distinct_cells([self._cells[part] for part in parts]))

    def below(self, number: int) -> tuple[int, ...]:
        """Return the frames one of which lies below a frame; below the bottom is itself."""
        if number not in self._below:
            cells = _distinct_cells([self._under[cell] for cell in self._cells[number].tolist()])
            middle = (self._low[cells] + self._high[cells]) / 2
            order, starts = groups(middle, self.kinds[cells], _MOST_BELOW)
            parts = np.split(cells[order], starts[1:])
            self._below[number] = tuple(self._set(np.sort(part)) for part in parts)
        return self._below[number]

    def _lay(self, kind: int, shown: Box, under: Iterable[np.ndarray]) -> np.ndarray:
        numbers = self._new(kind, shown)
        self._cells += [np.array([number]) for number in numbers.tolist()]
        self._under += under
        return numbers

    def _set(self, cells: np.ndarray) -> int:
        """Return the frame of ``cells``, in order and of one symbol."""
        if len(cells) == 1:
            return int(cells[0])
        name = cells.tobytes()
        if name not in self._sets:
            self._sets[name] = int(self._new(int(self.kinds[cells[0]]), self._around(cells))[0])
            self._cells.append(cells)
            self._under.append(np.zeros(0, np.int64))
        return self._sets[name]

    def _around(self, frames: Sequence[int] | np.ndarray) -> Box:
        return Box(self._low[frames].min(0, keepdims=True), self._high[frames].max(0, keepdims=True))

    def _new(self, kind: int, shown: Box) -> np.ndarray:
        n, size = len(shown.low), len(self.kinds)
        if self.count + n > size:
            more = max(n, size)
            self._low, self._high = (np.pad(side, ((0, more), (0, 0))) for side in (self._low, self._high))
            self.kinds = np.pad(self.kinds, (0, more))
        numbers = np.arange(self.count, self.count + n)
        self._low[numbers], self._high[numbers], self.kinds[numbers] = shown.low, shown.high, kind
        self.count += n
        return numbers


def _distinct_cells(parts: list[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))


# ---- The bounded certificate ----

# rows kept of a length, and looked at and led to in all: fewer where that is not enough to come to an end
_ATTEMPTS = ((400, 100_000), (100, 50_000))
_FOLLOWED = 2  # stacks that the automaton has not; if there are more, one box holds what is on each
_SAMPLED = 40  # rows by which the weight of a number is found


def certify_length(
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    domain: FiniteAutomaton | None = None,
    *,
    stacks: Sequence[int] | None = None,
    longest: int = LONGEST_BOUND,
    margin: float = MARGIN,
) -> BoundedCertificate:
    """Return up to which length the rounded ``model`` is proved to follow ``automaton`` on all words.

    Arguments and errors are those of `certify`; ``longest`` is where to stop, at least 1, and less where the stacks
    have fewer cells. The work is bounded, not the time: the same is found every time.
    """
    if longest < 1:
        raise StacklensError(f"the longest length is {longest}; expected at least 1")
    kept = stacks_to_follow(model, automaton, domain, stacks, margin)
    words = None if domain is None else domain.trimmed()
    system = System(model, boxes_of(model), automaton, kept, Layout(), words, margin)
    limit = system.stack_limit
    most = longest if limit is None else min(longest, limit - 1)  # the end symbol may need a cell too
    tried: list[BoundedCertificate] = []
    for rows, work in _ATTEMPTS:
        forward = Forward(system, rows, work)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # bounds that overflow decide nothing
            tried.append(forward.certificate(most))
        if forward.work <= work:  # fewer rows would not get farther
            break
    return max(tried, key=lambda one: one.length)


class ForwardRows(NamedTuple):
    """What words of one length lead to, a row each."""

    controls: list[Control]  # the controls that there are; their places are not used
    control: np.ndarray  # each row's, by its number, (M,)
    hidden: Box  # boxes of hidden vectors, (M, H)
    frames: np.ndarray  # what is on top of each stack that is followed, the automaton's first, (M, n_columns)


class Forward:
    """One attempt, which keeps ``most`` rows of a length, and looks at and leads to at most ``allowed`` in all."""

    def __init__(self, system: System, most: int, allowed: int = 1_000_000) -> None:
        self.system, self.most, self.allowed = system, most, allowed
        self.empty = system.empty_cells()
        self.frames = Frames(system.model.depth * self.empty.shape[1])
        self.bounds = system.start_bounds()
        followed = system.others if len(system.others) <= _FOLLOWED else ()
        self.columns = (*system.stacks, *followed)
        self.anything = {stack: self.frames.anything() for stack in followed}
        self.work, self.widest = 0, 0
        self.margin, self.steps, self.since = np.inf, 0, 0
        self.scales: Row | None = None
        self.cuts: dict[Where, None] = {}
        self.silent: dict[Where, None] = {}

    def certificate(self, longest: int) -> BoundedCertificate:
        """Return what can be proved of words of up to ``longest`` symbols."""
        length, reason = -1, None
        try:
            for rows in self.lengths():
                length += 1
                if length == longest or not len(rows.control):  # or there is no longer word to follow
                    length = longest
                    break
        except Unproved as unproved:
            reason = str(unproved.fault)
        except TooMany:
            reason = "there are too many boxes to look at"
        if self.cuts and not self.steps:
            length, reason = 0, "nothing would be said of any word"
        name = self.system.controller.arithmetic.name
        cuts, silent = len(self.cuts), len(self.silent)
        return BoundedCertificate(max(0, length), reason, self.widest, self.margin, name, cuts, silent)

    def lengths(self) -> Iterator[ForwardRows]:
        """Yield what words of each length lead to, from the empty one on. Raises Unproved, TooMany."""
        control, _ = self.system.start
        low, high = self.bounds[FIRST]
        bottoms = np.full((1, len(self.columns)), BOTTOM)
        rows = ForwardRows([control], np.zeros(1, np.int64), Box(low[None], high[None]), bottoms)
        n_letters = len(self.system.model.alphabet)
        while True:
            check_time()
            # the verdicts on words that end here, and the steps of their end symbol
            self._judge(rows)
            if self.system.model.end is not None and len(rows.control):
                self._judge(self._step(rows, [n_letters]))
            yield rows
            rows = self._merged(self._step(rows, list(range(n_letters))))

    def _judge(self, rows: ForwardRows) -> None:
        for head, part in self._heads(rows):
            self.margin = min(self.margin, judge_verdict(self.system, head, rows.hidden.rows(part)))

    def _step(self, rows: ForwardRows, letters: list[int]) -> ForwardRows:
        """Return what some letters make of ``rows``, not merged. Raises Unproved: a step is not right; TooMany rows."""
        self.since, reading = self.frames.count, self._reading(rows.frames)
        answers = {letter: self.system.controller.answer(letter, rows.hidden, reading) for letter in letters}
        parts: list[tuple[Control, Box, np.ndarray]] = []  # what a step at one head leads to: control, hidden, frames
        for head, part in self._heads(rows):
            for number, letter, domain in letters_at(self.system, head):
                if number in answers:
                    case = StepCase(self.system, head, letter, StepImage.of(answers[number], part), domain)
                    parts += self._follow(case, rows.frames[part])
        self.work += len(rows.control) * len(letters) + sum(len(frames) for _, _, frames in parts)
        if self.work > self.allowed:
            raise TooMany
        # those of one control and the same symbols on top together
        numbers = {control: number for number, control in enumerate(dict.fromkeys(control for control, _, _ in parts))}
        counts = [len(frames) for _, _, frames in parts]
        control = np.repeat(np.array([numbers[control] for control, _, _ in parts], dtype=np.int64), counts)
        nothing = np.zeros((0, len(self.bounds[FIRST][0])))
        low = np.concatenate([nothing, *(hidden.low for _, hidden, _ in parts)])
        high = np.concatenate([nothing, *(hidden.high for _, hidden, _ in parts)])
        frames = np.concatenate([np.zeros((0, len(self.columns)), np.int64), *(frames for _, _, frames in parts)])
        order = np.lexsort([*self.frames.kinds[frames].T, control])
        return ForwardRows(list(numbers), control[order], Box(low[order], high[order]), frames[order])

    def _follow(self, case: StepCase, frames: np.ndarray) -> Iterator[tuple[Control, Box, np.ndarray]]:
        outcome = case.outcome()
        self.margin = min(self.margin, case.margin)
        if case.is_cut():
            self.cuts[case.where] = None
        if case.is_silent():
            self.silent[case.where] = None
        if outcome is None:
            return
        self.steps += 1
        for key, piece in outcome.others:
            low, high = self.bounds[key]
            self.bounds[key] = np.minimum(low, piece.low), np.maximum(high, piece.high)
        hidden = case.image.hidden
        if not self.system.model.recurrent:  # what it keeps is never read
            low, high = self.bounds[FIRST]
            hidden = Box(np.broadcast_to(low, hidden.low.shape), np.broadcast_to(high, hidden.high.shape))
        # what is on each stack after the step, (N, n_columns), and which row each comes from, (N,)
        places, after = np.arange(len(frames)), frames
        for i, stack in enumerate(self.columns):
            own = i < len(outcome.operations)
            symbol = (outcome.symbols[i] if own else None, outcome.letter)
            pushed, found = case.image.pushed[stack], []
            for operation, rows in self._done(case.image, stack, outcome.operations[i] if own else None, places):
                again, column = self._moved(stack, operation, symbol, pushed.rows(places[rows]), after[rows, i])
                now = after[rows][again]
                now[:, i] = column
                found.append((places[rows][again], now))
            places, after = (np.concatenate(side) for side in zip(*found, strict=True))
        yield outcome.control, hidden.rows(places), after

    def _done(
        self, image: StepImage, stack: int, operation: Operation | None, places: np.ndarray
    ) -> Iterator[tuple[Operation | None, np.ndarray]]:
        """Yield what is done to a stack, and in which rows; None where unsure. On others than its own it differs."""
        if operation is not None:
            yield operation, np.arange(len(places))
            return
        decided = image.decided[stack]
        numbers = np.where(decided.margins > self.system.margin, decided.numbers, -1)[places]
        for number in np.unique(numbers).tolist():
            yield None if number < 0 else Operation(number), np.flatnonzero(numbers == number)

    def _moved(
        self, stack: int, operation: Operation | None, symbol: FrameSymbol, pushed: Box, frames: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the frames after an operation on ``frames`` (M,), and which of these each comes from."""
        rows = np.arange(len(frames))
        if operation is None:
            return rows, np.full(len(frames), self.anything[stack])
        below = {number: self.frames.below(number) for number in np.unique(frames).tolist()} if operation.pops else {}
        if operation.pushes:
            covered = self._shown(stack, frames).columns(pushed.low.shape[1] if operation.pops else 0)
            whole = Box.beside([pushed, covered]).columns(0, self.frames.size)
            on = [below[number] if operation.pops else (number,) for number in frames.tolist()]
            return rows, self.frames.lay(symbol, whole, on)
        if operation.pops:
            choices = [below[number] for number in frames.tolist()]
            return np.repeat(rows, list(map(len, choices))), np.array([one for choice in choices for one in choice])
        return rows, frames

    def _shown(self, stack: int, frames: np.ndarray) -> Box:
        """Return what ``frames`` (M,) show of a stack, the bottom what an empty one reads as, (M, R)."""
        shown, depth = self.frames.boxes(frames), self.system.model.depth
        sides = [shown.low, shown.high]
        fixed = {BOTTOM: (self.empty[stack], self.empty[stack])}
        if stack in self.anything:
            fixed[self.anything[stack]] = self.bounds[other_stack(stack)]
        for number, values in fixed.items():
            there = (frames == number)[:, None]
            sides = [np.where(there, np.tile(value, depth), side) for value, side in zip(values, sides, strict=True)]
        return Box(*sides)

    def _reading(self, frames: np.ndarray) -> Box:
        """Return what the controller sees of all stacks, (M, n_stacks * R)."""
        seen: list[Box] = []
        for stack in range(len(self.empty)):
            if stack in self.columns:
                seen.append(self._shown(stack, frames[:, self.columns.index(stack)]))
            else:
                sides = self.bounds[other_stack(stack)]
                seen.append(Box(*(np.tile(side, (len(frames), self.system.model.depth)) for side in sides)))
        return Box.beside(seen)

    def _heads(self, rows: ForwardRows) -> Iterator[tuple[BoxHead, slice]]:
        """Yield the automaton's head, and which rows are there, for each; rows at a head stand together."""
        kinds = np.concatenate([rows.control[:, None], self.frames.kinds[rows.frames]], 1)
        starts = [0, *(np.flatnonzero((np.diff(kinds, axis=0) != 0).any(1)) + 1).tolist(), len(kinds)]
        for begin, stop in pairwise(starts):
            if begin < stop:
                control, *tops = kinds[begin].tolist()
                symbols = [self.frames.symbols[kind] for kind in tops[: len(self.system.stacks)]]
                entries = tuple(None if symbol is None else Entry(symbol[0], ()) for symbol in symbols)
                yield (rows.controls[control], entries), slice(begin, stop)

    def _merged(self, rows: ForwardRows) -> ForwardRows:
        """Return ``rows`` with those merged that are near each other, so that there are few enough."""
        if not len(rows.control):
            return rows
        # rows of one control and the same symbols on top may be merged, those that are near each other
        kinds = np.concatenate([rows.control[:, None], self.frames.kinds[rows.frames]], 1)
        group = np.concatenate([[0], (np.diff(kinds, axis=0) != 0).any(1).cumsum()])
        shown = [self.frames.boxes(column) for column in rows.frames.T]
        features = bent(np.concatenate([(box.low + box.high) / 2 for box in (rows.hidden, *shown)], 1))
        # each number by how much it counts, (M, H + n_stacks * R), found once on some rows
        if self.scales is None and len(features) >= _SAMPLED:
            some = np.linspace(0, len(features) - 1, _SAMPLED).astype(int)
            hidden, model, reading = rows.hidden.rows(some), self.system.model, self._reading(rows.frames[some])
            letters = range(len(model.alphabet))
            found = sensitivities(self.system.controller, letters, hidden, reading, model.pushes_input)
            own, each = hidden.low.shape[1], self.frames.size
            tops = [found[own + stack * each : own + (stack + 1) * each] for stack in self.columns]
            self.scales = np.concatenate([found[:own], *tops])
        features = features if self.scales is None else features * self.scales
        order, starts = grid_clusters(features, group, self.most)
        self.widest = max(self.widest, len(starts))
        # the box of a cluster holds those of its rows
        low = np.minimum.reduceat(rows.hidden.low[order], starts)
        high = np.maximum.reduceat(rows.hidden.high[order], starts)
        parts = np.split(rows.frames[order], starts[1:])
        merged = [[self.frames.merge(column, self.since) for column in part.T.tolist()] for part in parts]
        frames = np.array(merged, dtype=np.int64).reshape(len(starts), len(shown))
        return ForwardRows(rows.controls, rows.control[order][starts], Box(low, high), frames)
