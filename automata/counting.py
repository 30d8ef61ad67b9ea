"""How many words are accepted, exactly and for lengths far beyond enumeration: dynamic programming over summaries.

A cell on the stack is either popped one day or never. So, for a state q and a cell s on top, count the words that lead
to the moment when that cell is gone (by the state they arrive in), and the words that end, accepted, while it is there.
A replace keeps the cell; a push opens a new one above it. The bottom is a cell that is never popped. By the same cells
the shortest word that ends a run is known from everywhere, and what can never be ended.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import product
from operator import mul
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.errors import AutomatonError, unique
from .pda import NONE, Key, PushdownAutomaton, State, Symbol, Tops, Transition
from .rewriting import accepting_by_state, drop_end_marker, real_time_form
from .summaries import cells_after, trim


def count_words(pda: PushdownAutomaton, max_length: int) -> list[int]:
    """Return the number of accepted words of each length from 0 to ``max_length``, exact.

    Time goes with the square of ``max_length`` and with the pairs of states and stack symbols, not with the words.
    Raises AutomatonError: the automaton has more than one stack (then counting is no longer context-free), or ε-steps
    that cannot be put into other steps.

    >>> from stacklens.languages.classic import Dyck
    >>> count_words(Dyck(1).automaton, 8), count_words(Dyck(1).automaton, 100)[100]
    ([1, 0, 1, 0, 2, 0, 5, 0, 14], 1978261657756160653623774456)
    """
    if pda.n_stacks != 1:
        raise AutomatonError(f"count_words needs one stack, this automaton has {pda.n_stacks}: use accepts_all")
    # a file may have any number of states that nothing leads to
    pda = accepting_by_state(trim(real_time_form(pda, "count_words needs")))
    marker = pda.end_marker is not None  # a word of length n is then read in n + 1 steps
    counts: _Counts = {
        ((state, ended), cell): {None: [int(ended is marker and pda.accepts_at(state, cell == pda.bottom))]}
        for state in pda.states
        for ended in (False, True)
        for cell in (pda.bottom, *pda.stack_alphabet)
    }
    # how many letters make each move; nothing moves after the end marker
    moves: dict[_Head, Counter[tuple[_Point, _Word]]] = defaultdict(Counter)
    for (state, symbol, (top,)), step in pda.transitions.items():
        moves[(state, False), top][(step.target, symbol == pda.end_marker), cells_after(step.operations[0], top)] += 1
    for length in range(max_length + marker):
        after = cache(partial(_counts_after, counts, length))  # many heads share a move
        grown: dict[_Head, Counter[_Point | None]] = defaultdict(Counter)
        for head, own in moves.items():
            for move, ways in own.items():
                for end, count in after(move).items():
                    grown[head][end] += ways * count
        for head, series in counts.items():
            for end in series.keys() | grown[head].keys():
                series.setdefault(end, [0] * (length + 1)).append(grown[head][end])
    return counts[(pda.initial, False), pda.bottom][None][marker:]


_Word = tuple[Symbol, ...]
_Point = tuple[State, bool]  # and whether the end marker was read
_Head = tuple[_Point, Symbol]
# of every head the words of length 0, 1, 2, … that lead to the moment when its cell is popped, by where, and at None
# those that are accepted while it is there
_Counts = dict[_Head, dict[_Point | None, list[int]]]


def _counts_after(counts: _Counts, length: int, move: tuple[_Point, _Word]) -> Mapping[_Point | None, int]:
    """Return how many words of ``length`` follow a move, to a point with cells in the place of the top."""
    target, cells = move
    if not cells:
        return {target: int(length == 0)}
    if len(cells) == 1:
        return {end: series[length] for end, series in counts[target, cells[0]].items()}
    # the new cell stays to the end, or is popped after some symbols, and then it is up to the old one
    found = Counter[_Point | None]()
    for middle, inner in counts[target, cells[1]].items():
        if middle is None:
            found[None] += inner[length]
        else:
            for end, outer in counts[middle, cells[0]].items():
                found[end] += sum(map(mul, inner, reversed(outer)))
    return found


# ---- Shortest ways from any configuration of a one-stack automaton to acceptance ----
# A cell on the stack is either popped one day, or the word is accepted while it is there. Both have a shortest word, by
# the head at which they begin: least fixed points, found by relaxing every transition until nothing gets shorter. For a
# whole stack they are put together from the bottom up, one vector over states a cell; equal stacks share their vectors.

_Costs = npt.NDArray[np.float64]
_LATER = 1e6  # what it costs to be accepted on a stack that is not empty: words that empty it say more of what it held
_HERE = -1  # in place of a state to pop to: accepted while the cell is there
_LONGEST = 100_000  # symbols of a completion
_UNKNOWN = np.zeros(0), np.zeros(0, np.intp)  # costs and exits of one of several stacks


@dataclass(eq=False)
class StackNode:
    """A stack, as its top cell on the pile below it, and the shortest completion from each state."""

    symbol: int  # the number of the top cell's symbol, 0 for the empty stack
    height: int  # how many cells there are
    below: StackNode | None
    # what a completion costs, (Q,): its symbols, and a lot more where it leaves cells behind; inf for none
    costs: _Costs
    exits: npt.NDArray[np.intp]  # the state in which it pops the top cell, (Q,), -1 where it does not
    above: dict[int, StackNode] = field(default_factory=dict)


class _CompletionMove(NamedTuple):
    letter: Symbol
    target: int
    cells: tuple[int, ...]  # what is then in the place of the top (see `cells_after`)


_Moves = dict[tuple[int, int], list[_CompletionMove]]  # by state and top


class Completions:
    """Shortest completions of the runs of one automaton. Where nothing is ever accepted every beginning counts as a
    whole word, as where all states accept; completions then empty the stack if they can.

    ``pda``: an automaton with one stack that does not accept by outputs (see `accepting_by_state`).

    >>> from stacklens.languages.classic import Dyck
    >>> ways = Completions(Dyck(1).automaton)
    >>> "".join(ways.word("match", ways.pile("(", ways.pile("(", ways.empty))))
    '))'
    """

    def __init__(self, pda: PushdownAutomaton) -> None:
        if pda.n_stacks != 1 or pda.acceptance == "output":
            raise AutomatonError(f"completions need one stack, not {pda.n_stacks}, and acceptance by state or stack")
        self.states = {state: q for q, state in enumerate(pda.states)}
        self.symbols = {symbol: s for s, symbol in enumerate((pda.bottom, *pda.stack_alphabet))}
        self.moves: _Moves = {}
        self.ends: _Costs = np.full((len(self.states), len(self.symbols)), np.inf)
        for (state, q), (top, s) in product(self.states.items(), self.symbols.items()):
            # the moves of each head, the end marker's left out
            self.moves[q, s] = []
            for letter in pda.input_alphabet:
                if (step := pda.transitions.get((state, letter, (top,)))) is not None:
                    cells = tuple(self.symbols[cell] for cell in cells_after(step.operations[0], top))
                    self.moves[q, s].append(_CompletionMove(letter, self.states[step.target], cells))
            # what it costs to end a word there: nothing on the empty stack, inf where it is rejected
            end: Transition | None = Transition(state, (NONE,))
            if pda.end_marker is not None:
                end = pda.transitions.get((state, pda.end_marker, (top,)))
            empty = top == pda.bottom and end is not None and end.operations[0].push is None
            if end is not None and pda.accepts_at(end.target, empty):
                self.ends[q, s] = 0 if empty else _LATER
        self.stay, self.leave = _completion_costs(self.moves, self.ends)
        # no word is accepted: every beginning is one, and better on an empty stack
        self.accepts_nothing = not np.isfinite(self.stay[self.states[pda.initial], 0])
        if self.accepts_nothing:
            self.ends = np.full_like(self.ends, _LATER)
            self.ends[:, 0] = 0
            self.stay, self.leave = _completion_costs(self.moves, self.ends)
        self.rise = _rise(self.moves, self.leave)
        self.empty = StackNode(0, 0, None, self.stay[:, 0], np.full(len(self.states), _HERE))
        self.path = cache(self._path)

    def pile(self, symbol: Symbol, below: StackNode) -> StackNode:
        """Return ``below`` with a cell more, the same object every time."""
        number = self.symbols[symbol]
        if number not in below.above:
            popped = self.leave[:, number] + below.costs  # (Q, Q): from each state, by the state that pops
            exits = popped.argmin(1)
            costs = np.minimum(self.stay[:, number], popped.min(1))
            exits[self.stay[:, number] <= costs] = _HERE
            below.above[number] = StackNode(number, below.height + 1, below, costs, exits)
        return below.above[number]

    def reach(self, state: State, pile: StackNode) -> float:
        """Return how high the stack can get without a pop of its top cell; inf for as high as one likes."""
        return pile.height + float(self.rise[self.states[state], pile.symbol])

    def cost(self, state: State, pile: StackNode) -> float:
        """Return what the shortest completion costs (see `StackNode`), inf where there is none."""
        return float(pile.costs[self.states[state]])

    def word(self, state: State, pile: StackNode) -> tuple[Symbol, ...] | None:
        """Return a shortest completion, or None where there is none, or only one that is too long to be of use."""
        if not self.cost(state, pile) % _LATER < _LONGEST:
            return None
        q, symbols, here = self.states[state], list[Symbol](), pile
        while True:
            goal = int(here.exits[q])
            symbols += self.path(q, here.symbol, goal)
            if goal == _HERE or here.below is None:
                return tuple(symbols)
            q, here = goal, here.below

    def _path(self, q: int, s: int, goal: int) -> tuple[Symbol, ...]:
        """Return a shortest word from the head (q, s) to the pop of its cell in ``goal``, or to acceptance there."""
        symbols: list[Symbol] = []
        while goal != _HERE or self.stay[q, s] < self.ends[q, s]:
            move, middle = self._step(q, s, goal)
            symbols.append(move.letter)
            # a pop ends the way; a step goes on; of a push the way to its pop comes first, if it is popped
            if not move.cells:
                break
            if middle == _HERE:
                q, s = move.target, move.cells[-1]
            else:
                symbols += self.path(move.target, move.cells[-1], middle)
                q = middle
        return tuple(symbols)

    def _step(self, q: int, s: int, goal: int) -> tuple[_CompletionMove, int]:
        """Return the first move of a shortest such word, and the state that pops what it pushes, if that is popped."""
        costs = self.stay if goal == _HERE else self.leave[:, :, goal]
        for move in self.moves[q, s]:
            if not move.cells:
                if move.target == goal:
                    return move, _HERE
                continue
            if len(move.cells) == 2:
                through = self.leave[move.target, move.cells[1]] + costs[:, s]
                if 1 + through.min() == costs[q, s]:
                    return move, int(through.argmin())
            if (goal == _HERE or len(move.cells) == 1) and 1 + costs[move.target, move.cells[-1]] == costs[q, s]:
                return move, _HERE
        raise AssertionError(f"costs without a move at {q}, {s}")


# ---- An automaton to be walked, and what it says at every point ----


class Point(NamedTuple):
    """Where a walk is: the state, and the stacks as piles."""

    state: State
    stacks: tuple[StackNode, ...]


class Option(NamedTuple):
    """A transition that can be taken: its letter, its key, and where it leads."""

    letter: Symbol
    key: Key
    to: Point


class Driver:
    """An automaton to be walked, with the way from each point to the end of a word. With several stacks no ways to the
    end are known, and every beginning is a word. Raises AutomatonError: ε-steps that no other step can take in.
    """

    def __init__(self, pda: PushdownAutomaton) -> None:
        pda = real_time_form(pda, "words that an automaton suggests need")
        self.pda = accepting_by_state(pda) if pda.n_stacks == 1 else pda
        self.ways = Completions(self.pda) if pda.n_stacks == 1 else None
        self.symbols = (self.pda.bottom, *self.pda.stack_alphabet)
        self.start = Point(
            self.pda.initial, (self.ways.empty if self.ways else StackNode(0, 0, None, *_UNKNOWN),) * pda.n_stacks
        )
        self.known: dict[Point, list[Option]] = {}

    def height(self, point: Point) -> int:
        """Return how many cells lie on the stacks."""
        return sum(pile.height for pile in point.stacks)

    def tops(self, point: Point) -> Tops:
        """Return the tops of the stacks."""
        return tuple([self.symbols[pile.symbol] for pile in point.stacks])  # quicker than of a generator

    def reach(self, point: Point) -> float:
        """Return how high the stack can get from ``point`` without a pop of its top cell; inf if that is not known."""
        return math.inf if self.ways is None else self.ways.reach(point.state, point.stacks[0])

    def step(self, point: Point, letter: Symbol) -> Option | None:
        """Return the transition on ``letter``, None where there is none."""
        key = point.state, letter, self.tops(point)
        move = self.pda.transitions.get(key)
        if move is None:
            return None
        stacks = []
        for pile, operation in zip(point.stacks, move.operations, strict=True):
            if operation.pop and pile.below is not None:
                pile = pile.below
            if operation.push is not None and self.ways is not None:
                pile = self.ways.pile(operation.push, pile)
            elif operation.push is not None:
                number = self.symbols.index(operation.push)
                pile = pile.above.setdefault(number, StackNode(number, pile.height + 1, pile, *_UNKNOWN))
            stacks.append(pile)
        return Option(letter, key, Point(move.target, tuple(stacks)))

    def walk(self, point: Point, word: _Word) -> Point | None:
        """Return where ``word`` leads from ``point``, None where it cannot be read."""
        for letter in word:
            step = self.step(point, letter)
            if step is None:
                return None
            point = step.to
        return point

    def live(self, point: Point) -> bool:
        """Return whether a word can be ended from ``point``."""
        return self.ways is None or math.isfinite(self.ways.cost(point.state, point.stacks[0]))

    def options(self, point: Point) -> list[Option]:
        """Return the transitions after which a word can still be ended."""
        if point not in self.known:
            steps = (self.step(point, letter) for letter in self.pda.input_alphabet)
            self.known[point] = [option for option in steps if option is not None and self.live(option.to)]
        return self.known[point]

    def ending(self, point: Point) -> _Word:
        """Return a shortest way to end a word, () where none is known."""
        known = None if self.ways is None else self.ways.word(point.state, point.stacks[0])
        return known or ()

    def probes(self, word: _Word, point: Point, letters: int | None = None) -> Iterator[_Word]:
        """Yield, for every input at ``point``, words that read it after ``word``, and end. A letter without a
        transition rejects, and the run ends there. A network goes on reading, and may have taken it for another letter,
        or for none: the word ends as it would after these, at most ``letters`` of them.
        """
        others = [point, *(option.to for option in self.options(point)[:letters])]
        for letter in self.pda.input_alphabet:
            step = self.step(point, letter)
            if step is not None and self.live(step.to):
                yield (*word, letter, *self.ending(step.to))
            else:
                yield from ((*word, letter, *self.ending(other)) for other in others)


# ---- What no accepted word goes on from is cut ----

_Cell = tuple[Symbol, bytes]  # a stack symbol, and in which states the stack below leads on


def live_form(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return an equivalent automaton that cuts a word at the first symbol with which no accepted word goes on.

    A cell knows in which states the stack below it leads on to acceptance, once it is popped itself; it keeps the name
    of its symbol where that is the same for all cells with this symbol. Raises AutomatonError: no word is accepted;
    there are several stacks; or ε-steps or the end marker cannot be put into other steps.

    >>> from stacklens.automata.pda import NONE, POP, Transition, push
    >>> rules = {("p", "a", (top,)): Transition("p", (push("A"),)) for top in ("⊥", "A")}
    >>> rules |= {(state, "b", ("A",)): Transition("q", (POP,)) for state in "pq"}
    >>> rules |= {("p", "c", ("A",)): Transition("r", (NONE,)), ("r", "b", ("A",)): Transition("r", (POP,))}
    >>> pda = PushdownAutomaton(("p", "q", "r"), ("a", "b", "c"), ("A",), rules, "p", frozenset("q"))
    >>> live_form(pda).states  # nothing is accepted in r
    ('p', 'q')
    """
    plain = drop_end_marker(pda)
    if plain is None:
        raise AutomatonError(f"what leads on is not known before the end marker {pda.end_marker!r}")
    pda = trim(accepting_by_state(real_time_form(plain, "live_form needs")))
    ways = Completions(pda)
    if ways.accepts_nothing:
        raise AutomatonError("no word is accepted, so that nothing leads on to one")
    stays, leaves, place = np.isfinite(ways.stay), np.isfinite(ways.leave), ways.states  # (Q, S), (Q, S, Q)

    def live(symbol: Symbol, below: bytes) -> bytes:
        """Return in which states a cell on such a stack leads on, (Q,) bool: it stays, or is popped where that does."""
        number = ways.symbols[symbol]
        return bytes(stays[:, number] | (leaves[:, number] & np.frombuffer(below, np.bool_)).any(1))

    cells, kept = [(pda.bottom, bytes(len(pda.states)))], list[tuple[Key, _Cell, Transition, _Cell]]()
    for cell in cells:  # the list grows while it is walked
        for key, step in pda.transitions.items():
            if key[2] != (cell[0],):
                continue
            # the cell on top afterwards, of which a pop shows what is known of the stack below
            (done,) = step.operations
            top = cell if done.push is None else (done.push, cell[1] if done.pop else live(*cell))
            if (cell[1] if done.name == "pop" else live(*top))[place[step.target]]:
                kept.append((key, cell, step, top))
                cells += [top] if top not in cells else []
    several = {symbol for symbol, number in Counter(symbol for symbol, _ in cells).items() if number > 1}
    name = unique({cell: f"{cell[0]} {i}" if cell[0] in several else cell[0] for i, cell in enumerate(cells)})
    steps: dict[Key, Transition] = {
        (state, letter, (name[cell],)): replace(
            step, operations=tuple(replace(done, push=done.push and name[top]) for done in step.operations)
        )
        for (state, letter, _), cell, step, top in kept
    }
    return trim(replace(pda, stack_alphabet=tuple(name[cell] for cell in cells[1:]), transitions=steps))


def _completion_costs(moves: _Moves, ends: _Costs) -> tuple[_Costs, _Costs]:
    """Return the costs of ending at a head with its cell still there, (Q, S), and of popping it, (Q, S, Q)."""
    stay, leave = ends.copy(), np.full((*ends.shape, len(ends)), np.inf)
    # a least fixed point: relax every move until nothing gets cheaper
    while True:
        before = stay.copy(), leave.copy()
        for (q, s), here in moves.items():
            for _, target, cells in here:
                if not cells:
                    leave[q, s, target] = 1
                    continue
                inner, later = leave[target, cells[-1]], stay[target, cells[-1]]
                if len(cells) == 2:  # the new cell is popped, and then it is up to the old one, or it stays
                    later = min(later, (inner + stay[:, s]).min())
                    inner = (inner[:, None] + leave[:, s]).min(0)
                leave[q, s] = np.minimum(leave[q, s], 1 + inner)
                stay[q, s] = min(stay[q, s], 1 + later)
        if (before[0] == stay).all() and (before[1] == leave).all():
            return stay, leave


def _rise(moves: _Moves, leave: _Costs) -> _Costs:
    """Return how many cells can come to lie on that of each head, (Q, S)."""
    rise = np.zeros(leave.shape[:2])
    for _ in range(rise.size + 1):
        before = rise.copy()
        for (q, s), here in moves.items():
            for _, target, cells in here:
                if len(cells) == 2:
                    returns = rise[np.isfinite(leave[target, cells[1]]), s]
                    rise[q, s] = max(rise[q, s], 1 + rise[target, cells[1]], *returns)
                elif cells:
                    rise[q, s] = max(rise[q, s], rise[target, cells[0]])
        if (before == rise).all():
            break
        rise[rise > rise.size] = np.inf  # a head lies on itself, and can do so again
    return rise
