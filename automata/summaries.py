"""Shortest runs of a pushdown system that is given by its moves: what can happen, and the shortest word on which.

A frame is what happens from the push of a cell until it is popped; it is named by the head (control and top) that the
push makes. Inside a frame every head is known by the length of the shortest word from the frame's beginning to it. A
frame that returns after a shortest word is one long step of each frame that called it, so lengths inside frames are a
least fixed point of functions that never shorten. Items are therefore final in the order of their lengths (Knuth 1977,
"A generalization of Dijkstra's algorithm"); a frame begins when it is first called, at length 0, so what it does is
known before anything longer is looked at. Lengths from the start are then one more search for shortest paths, over
frames. Words may be exponentially longer than the system: they are written only when asked for.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import product
from typing import Generic, NamedTuple, TypeVar

from ..core.errors import AutomatonError
from ..core.progress import check_time
from .pda import EPSILON, Key, PushdownAutomaton, StackOp, State, Symbol, Tops, Transition

C = TypeVar("C", bound=Hashable)  # controls
S = TypeVar("S", bound=Hashable)  # cells
E = TypeVar("E", bound=Hashable)  # what can happen
N = TypeVar("N", bound=Hashable)  # what is numbered

LONGEST_RUN = 10_000_000  # symbols of a word that is written out

_Item = tuple[int, int]  # a frame, and the number of a head in it, or ~number of the control that it returns with
_Origin = tuple[_Item, Symbol | None, _Item | None] | None  # the item before, the symbol read, the frame gone through


class PushdownStep(NamedTuple, Generic[C, S]):
    """A move: read ``symbol`` (None: nothing), and go to ``control`` with ``cells`` in the place of the top. ``cells``
    is empty to pop, ``(cell,)`` to stay, ``(top, cell)`` to push. On the empty stack ``()`` stays, ``(cell,)`` pushes.
    """

    symbol: Symbol | None
    control: C
    cells: tuple[S, ...]


def cells_after(operation: StackOp, top: Symbol | None) -> tuple[Symbol, ...]:
    """Return what stands in the place of ``top`` (None: the stack is empty) after an operation, as in `PushdownStep`.

    >>> cells_after(StackOp(pop=False, push="b"), "a"), cells_after(StackOp(pop=True, push=None), "a")
    (('a', 'b'), ())
    """
    kept = () if operation.pop or top is None else (top,)
    return kept if operation.push is None else (*kept, operation.push)


class Event(NamedTuple, Generic[E]):
    """Something that happens at a head when ``symbol`` (None: nothing more) is read."""

    symbol: Symbol | None
    what: E


_Moves = Callable[[C, S | None], Iterable[PushdownStep[C, S] | Event[E]]]


@dataclass(frozen=True)
class _NumberedHead(Generic[E]):
    """The moves of a head in numbers: symbols with the control to pop to, the head to step to, the frame to call."""

    pops: list[tuple[Symbol | None, int]]
    steps: list[tuple[Symbol | None, int]]
    calls: list[tuple[Symbol | None, int]]
    events: list[Event[E]]


class _Numbers(dict[N, int]):
    """The numbers of things as they turn up, and the things by their numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[N] = []

    def __missing__(self, name: N) -> int:
        number = self[name] = len(self.names)
        self.names.append(name)
        return number


class _Search(Generic[C, S, E]):
    """The items found so far."""

    def __init__(self, start: C, moves: _Moves[C, S, E]) -> None:
        self.moves = moves
        self.controls = _Numbers[C]()
        self.numbers = _Numbers[tuple[C, S | None]]()
        self.heads: dict[int, _NumberedHead[E]] = {}
        self.done: dict[_Item, tuple[int, _Origin]] = {}
        self.best: dict[_Item, int] = {}
        self.heap: list[tuple[int, int, _Item, _Origin]] = []
        self.callers: dict[int, list[tuple[_Item, Symbol | None]]] = defaultdict(list)
        self.returned: dict[int, list[int]] = defaultdict(list)
        self.derivations = 0
        self.start = self.numbers[start, None]

    def run(self, limit: int) -> bool:
        """Return whether all items were found within ``limit`` derivations of one."""
        self.offer(0, (self.start, self.start), None)
        while self.heap:
            check_time()
            if self.derivations > limit:
                return False
            length, _, item, origin = heappop(self.heap)
            if item not in self.done:
                self.done[item] = length, origin
                self.follow(item, length)
        return True

    def offer(self, length: int, item: _Item, origin: _Origin) -> None:
        self.derivations += 1
        if item not in self.best or length < self.best[item]:
            self.best[item] = length
            heappush(self.heap, (length, len(self.best), item, origin))

    def follow(self, item: _Item, length: int) -> None:
        frame, place = item
        if place < 0:
            self.returned[frame].append(~place)
            for caller, symbol in self.callers[frame]:
                self.resume(caller, symbol, item)
            return
        head = self.heads.get(place) or self.compile(place)
        # pops end the frame, steps stay in it, and a call begins a frame of its own
        for symbol, control in head.pops:
            self.offer(length + (symbol is not None), (frame, ~control), (item, symbol, None))
        for symbol, target in head.steps:
            self.offer(length + (symbol is not None), (frame, target), (item, symbol, None))
        for symbol, called in head.calls:
            self.callers[called].append((item, symbol))
            self.offer(0, (called, called), None)
            # the called frame may have come to its ends before
            for control in self.returned[called]:
                self.resume(item, symbol, (called, ~control))

    def resume(self, caller: _Item, symbol: Symbol | None, end: _Item) -> None:
        """Go on in the caller's frame where a frame called from it has come to its end."""
        target = self.numbers[self.controls.names[~end[1]], self.numbers.names[caller[1]][1]]
        length = self.done[caller][0] + (symbol is not None) + self.done[end][0]
        self.offer(length, (caller[0], target), (caller, symbol, end))

    def compile(self, place: int) -> _NumberedHead[E]:
        control, top = self.numbers.names[place]
        head = self.heads[place] = _NumberedHead([], [], [], [])
        level = 0 if top is None else 1
        for move in self.moves(control, top):
            if isinstance(move, Event):
                head.events.append(move)
            elif len(move.cells) < level:
                head.pops.append((move.symbol, self.controls[move.control]))
            else:
                target = self.numbers[move.control, move.cells[-1] if move.cells else None]
                (head.steps if len(move.cells) == level else head.calls).append((move.symbol, target))
        return head


class ShortestRuns(Generic[C, S, E]):
    """What the runs of a system can come to."""

    def __init__(self, search: _Search[C, S, E], complete: bool) -> None:
        # whether everything was looked at; otherwise events may be missing, and words not be the shortest
        self.complete = complete
        self._done = search.done
        calls: dict[int, list[tuple[int, int, _Item, Symbol | None]]] = defaultdict(list)
        for called, callers in search.callers.items():
            for item, symbol in callers:
                calls[item[0]].append((called, search.done[item][0] + (symbol is not None), item, symbol))
        # the shortest word to the beginning of each frame, and the call that ends it: by Dijkstra over frames, where a
        # call costs what its caller took to come to it
        frames: dict[int, int] = {}
        self._callers: dict[int, tuple[_Item, Symbol | None] | None] = {}
        heap: list[tuple[int, int, int, tuple[_Item, Symbol | None] | None]] = [(0, 0, search.start, None)]
        pushed = 0
        while heap:
            length, _, frame, call = heappop(heap)
            if frame not in frames:
                frames[frame], self._callers[frame] = length, call
                for called, more, item, symbol in calls[frame]:
                    pushed += 1
                    heappush(heap, (length + more, pushed, called, (item, symbol)))
        self._events: dict[E, tuple[int, _Item, Symbol | None]] = {}
        # the word of an event: to the beginning of its frame, on to its head, and what is read there
        for item, (length, _) in self._done.items():
            for symbol, event in search.heads[item[1]].events if item[1] >= 0 else ():
                total = frames[item[0]] + length + (symbol is not None)
                if event not in self._events or total < self._events[event][0]:
                    self._events[event] = total, item, symbol
        # every event that can happen, with the length of the shortest word on which it does
        self.lengths = {event: length for event, (length, _, _) in self._events.items()}

    def word(self, event: E) -> tuple[Symbol, ...]:
        """Return a shortest word on which ``event`` happens. Raises AutomatonError: longer than ``LONGEST_RUN``."""
        length, item, symbol = self._events[event]
        if length > LONGEST_RUN:
            raise AutomatonError(f"the shortest word has {length:,} symbols, more than the {LONGEST_RUN:,} written out")
        backwards = list(self._backwards(item, symbol))
        while (caller := self._callers[item[0]]) is not None:
            item, symbol = caller
            backwards += self._backwards(item, symbol)
        return tuple(reversed(backwards))

    def _backwards(self, item: _Item, last: Symbol | None) -> Iterator[Symbol]:
        left: list[_Item | Symbol | None] = [item, last]
        while left:
            part = left.pop()
            if isinstance(part, str):
                yield part
            elif part is not None and (origin := self._done[part][1]) is not None:
                left += origin


def shortest_runs(start: C, moves: _Moves[C, S, E], limit: int = 1_000_000) -> ShortestRuns[C, S, E]:
    """Return what the runs from ``start`` on an empty stack can come to. ``start``: the control before the first
    symbol. ``moves``: ``moves(control, top)`` yields the steps and the events at a head; the top of an empty stack is
    None. ``limit``: how many derivations of a head in a frame from another are made; a million take some seconds.

    >>> def moves(control: str, top: str | None) -> list[PushdownStep[str, str] | Event[str]]:
    ...     if control == "up":
    ...         return [PushdownStep("a", "up" if top is None else "down", ("A",) if top is None else (top, "A"))]
    ...     return [PushdownStep("b", "down", ())] if top else [Event("c", "done")]
    >>> runs = shortest_runs("up", moves)
    >>> runs.lengths, "".join(runs.word("done"))
    ({'done': 5}, 'aabbc')
    """
    search: _Search[C, S, E] = _Search(start, moves)
    return ShortestRuns(search, search.run(limit))


# ---- Which heads (state and stack tops) a run can ever show: exact for one stack, an over-approximation for several.
# A stack is unbounded, so configurations cannot be listed; heads can. What makes it exact is a summary of every head:
# the states in which its frame (the symbol on top and all that is laid on it) can be popped away. A push then has two
# successors: the head that it makes, and, for each state in that head's summary, the head with the old top again.

Head = tuple[State, Tops]
_Node = tuple[int, Symbol]  # a state's number, and the top of the one stack
_Nodes = tuple[int, Tops]  # the same with several stacks
# to which state, and of each stack whether it is popped, and what is pushed
_HeadMoves = dict[_Nodes, list[tuple[int, list[tuple[bool, Symbol | None]]]]]


@dataclass(frozen=True)
class ReachableHeads:
    """The heads at which a run can read a letter, and those at which a word can end. Without an end marker the two are
    the same; with one, a word ends after it and nothing is read there.
    """

    reading: frozenset[Head]
    ending: frozenset[Head]


def reachable_heads(pda: PushdownAutomaton) -> frozenset[Head]:
    """Return every head ``(state, tops)`` that some run shows, the end marker's step included.

    Exact for one stack, by summaries (post*; Sun et al. 1993, section 4.1, search a tree of the same heads). With
    several stacks the question is undecidable, and the answer is a superset: a pop there uncovers whatever was ever
    laid under the popped symbol on that stack.

    >>> from stacklens.languages.classic import counted_pairs
    >>> sorted(reachable_heads(counted_pairs("a", "b").automaton))
    [('pop', ('a',)), ('pop', ('⊥',)), ('push', ('a',)), ('push', ('⊥',))]
    """
    found = heads(pda)
    return found.reading | found.ending


def heads(pda: PushdownAutomaton) -> ReachableHeads:
    """Return the reachable heads, those before the end marker apart from those where words end."""
    # the moves of each head; after the end marker, where only ε-steps are taken, states are counted from n
    number, n = {state: i for i, state in enumerate(pda.states)}, len(pda.states)
    moves: _HeadMoves = defaultdict(list)
    for (state, symbol, tops), transition in pda.transitions.items():
        target = number[transition.target] + (n if symbol == pda.end_marker else 0)
        operations = [(operation.pop, operation.push) for operation in transition.operations]
        moves[number[state], tops].append((target, operations))
        if symbol == EPSILON and pda.end_marker is not None:
            moves[number[state] + n, tops].append((target + n, operations))
    start = number[pda.initial]
    found: set[_Nodes]
    if pda.n_stacks == 1:
        found = {(state, (top,)) for state, top in _exact_heads(moves, (start, pda.bottom))}
    else:
        found = set(approximate_heads((start, (pda.bottom,) * pda.n_stacks), lambda head: moves.get(head, ())))
    reading = frozenset((pda.states[state], tops) for state, tops in found if state < n)
    ended = frozenset((pda.states[state - n], tops) for state, tops in found if state >= n)
    return ReachableHeads(reading, reading if pda.end_marker is None else ended)


def _exact_heads(moves: _HeadMoves, start: _Node) -> Iterable[_Node]:
    """Return the heads that runs on one stack show; sets of states are bit masks, which makes the union of many cheap.
    Summaries grow in rounds until one changes nothing. In a round, pushes whose frames return in the same states share
    one look at what follows; it may be out of date by the end of the round, which is why the last round must be still.
    """
    returns: dict[_Node, int] = {}  # each head found: the states in which its frame is popped
    after: dict[tuple[int, Symbol], int] = {}  # the same for any of these states with this top

    def find(head: _Node) -> None:
        """Add a head, with what follows it without a return."""
        unseen = [head]
        while unseen:
            head = unseen.pop()
            if head not in returns:
                returns[head] = 0
                for target, ((pops, pushed),) in moves.get((head[0], (head[1],)), ()):
                    if pops and pushed is None:
                        returns[head] |= 1 << target
                    else:
                        unseen.append((target, pushed or head[1]))

    def returns_after(states: int, top: Symbol) -> int:
        if (states, top) not in after:
            found, left = 0, states
            while left:
                state = (left & -left).bit_length() - 1  # the lowest
                find((state, top))
                found |= returns[state, top]
                left ^= 1 << state
            after[states, top] = found
        return after[states, top]

    find(start)
    changed = True
    while changed:
        after.clear()
        number, changed = len(returns), False
        # a round of post*: what can follow a move is what can follow the head that it makes
        for head in reversed(list(returns)):  # what was found later returns first
            found = returns[head]
            for target, ((pops, pushed),) in moves.get((head[0], (head[1],)), ()):
                if pushed is not None and not pops:
                    found |= returns_after(returns[target, pushed], head[1])
                elif pushed is not None or not pops:
                    found |= returns[target, pushed or head[1]]
            changed |= found != returns[head]
            returns[head] = found
        changed |= len(returns) > number
    return returns


def approximate_heads(
    start: tuple[C, tuple[S, ...]],
    moves: Callable[[tuple[C, tuple[S, ...]]], Iterable[tuple[C, Iterable[tuple[bool, S | None]]]]],
) -> dict[tuple[C, tuple[S, ...]], None]:
    """Return the heads that runs on several stacks show, and maybe others, in an order that is always the same.

    ``moves``: from a head to where its steps lead, each with whether it pops and what it pushes, or None, a stack.
    """
    below: dict[tuple[int, S], dict[S, None]] = defaultdict(dict)  # (stack, symbol): what may lie right under it
    size, found = -1, {start: None}
    # until no head is new, and nothing new lies under a symbol
    while size != len(found) + sum(map(len, below.values())):
        size = len(found) + sum(map(len, below.values()))
        found, unseen = {start: None}, [start]
        while unseen:
            check_time()
            here = unseen.pop()
            for target, operations in moves(here):
                shown: list[list[S]] = []  # of each stack what may be its top then
                for stack, (top, (pops, pushed)) in enumerate(zip(here[1], operations, strict=True)):
                    under = below[stack, top] if pops else {top: None}
                    if pushed is not None:
                        below[stack, pushed].update(under)
                    shown.append(list(under) if pushed is None else [pushed])
                new = [head for head in ((target, tops) for tops in product(*shown)) if head not in found]
                found.update(dict.fromkeys(new))
                unseen += new
    return found


def trim(pda: PushdownAutomaton, found: ReachableHeads | None = None) -> PushdownAutomaton:
    """Return the automaton without what no run uses; the language, and every run, stays the same. Kept are the
    transitions on reachable heads, the reachable states, and the stack symbols that are pushed. ``found`` are its
    `heads`, where they are known.
    """
    found = found or heads(pda)
    shown = found.reading | found.ending  # ε-steps may follow the end marker
    kept = {
        key: step
        for key, step in pda.transitions.items()
        if (key[0], key[2]) in (shown if key[1] == EPSILON else found.reading)
    }
    pushed = {operation.push for step in kept.values() for operation in step.operations}
    reached = {state for state, _ in found.reading | found.ending}
    states = tuple(state for state in pda.states if state in reached)
    symbols = tuple(symbol for symbol in pda.stack_alphabet if symbol in pushed)
    if (len(kept), states, symbols) == (len(pda.transitions), pda.states, pda.stack_alphabet):
        return pda
    accepting = pda.accepting & reached
    return replace(pda, states=states, stack_alphabet=symbols, transitions=kept, accepting=accepting)


def drop_sinks(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the trimmed automaton without the states and transitions after which nothing is accepted any more.

    The language is unchanged, since a missing transition rejects anyway; the initial state stays. Sound, not complete:
    it looks at the graph of states, so a state stays whose only ways to acceptance need another stack than the one
    that it is ever reached with. An automaton with ε-steps is only trimmed: without one a run would rest earlier.

    Outputs: where acceptance is by outputs, those of words that can no longer be accepted go with the transitions.
    Otherwise outputs are taken as wanted for themselves, and a transition that has one, or leads to one, is kept.
    """
    while True:
        found, real_time = heads(pda), pda.real_time
        pda = trim(pda, found)
        if not real_time:
            return pda
        # the states from which an accepted run can end, and those that lead to them
        into: dict[State, list[State]] = defaultdict(list)
        for (state, symbol, _), step in pda.transitions.items():
            if symbol != pda.end_marker:
                into[step.target].append(state)
        last = {key for key, step in pda.transitions.items() if _can_end(pda, found, key, step)}
        unseen = list({state for state, _, _ in last})
        live = set(unseen)
        while unseen:
            new = set(into[unseen.pop()]) - live
            live |= new
            unseen += new
        # the transitions with which such a run can end or go on
        goes_on = {key for key, step in pda.transitions.items() if key[1] != pda.end_marker and step.target in live}
        useful = {key: step for key, step in pda.transitions.items() if key in last or key in goes_on}
        if len(useful) == len(pda.transitions):
            return pda
        pda = replace(pda, transitions=useful)  # fewer heads are reachable now, so look again


def _can_end(pda: PushdownAutomaton, found: ReachableHeads, key: Key, step: Transition) -> bool:
    """Whether an accepted run can end with this transition, or its output is wanted for itself."""
    by_output = pda.acceptance == "output" and pda.accepting_outputs
    if step.output is not None and not by_output:
        return True
    if pda.end_marker is not None and key[1] != pda.end_marker:
        return False
    if pda.acceptance == "output":
        return step.output in pda.accepting_outputs
    if pda.acceptance != "empty stack" and step.target not in pda.accepting:
        return False
    if pda.acceptance == "final state":
        return True
    pushes = any(operation.push is not None for operation in step.operations)
    return not pushes and (step.target, (pda.bottom,) * pda.n_stacks) in found.ending
