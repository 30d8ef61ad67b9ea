"""Which heads (state and stack tops) a run can ever show: exact for one stack, an over-approximation for several.

A stack is unbounded, so configurations cannot be listed; heads can. What makes it exact is a summary of every head: the
states in which its frame (the symbol on top and what is laid on it) can be popped away. A push then has two successors:
the head that it makes, and, for each state in that head's summary, the head with the old top again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from stacklens.automata.pda import EPSILON, Key, PushdownAutomaton, StackOp, State, Symbol, Tops, Transition

__all__ = ["Head", "Heads", "drop_sinks", "heads", "reachable_heads", "trim"]

Head = tuple[State, Tops]
_Node = tuple[int, Symbol]  # a state's number, and the top of the one stack
_Nodes = tuple[int, Tops]  # the same with several stacks
_Moves = dict[_Nodes, list[tuple[int, tuple[StackOp, ...]]]]


@dataclass(frozen=True)
class Heads:
    """The heads at which a run can read a letter, and those at which a word can end.

    Without an end marker the two are the same; with one, a word ends after it and nothing is read there.
    """

    reading: frozenset[Head]
    ending: frozenset[Head]


def reachable_heads(pda: PushdownAutomaton) -> frozenset[Head]:
    """Return every head ``(state, tops)`` that some run shows, the end marker's step included.

    Exact for one stack, by summaries (post*; Sun et al. 1993, section 4.1, search a tree of the same heads). With
    several stacks the question is undecidable, and the answer is a superset: a pop there uncovers whatever was ever
    laid under the popped symbol on that stack.

    >>> from stacklens.automata.pda import POP, push
    >>> pda = PushdownAutomaton(
    ...     states=("p", "q"), input_alphabet=("a", "b"), stack_alphabet=("x",), initial="p",
    ...     transitions={("p", "a", ("⊥",)): Transition("p", (push("x"),)),
    ...                  ("p", "b", ("x",)): Transition("q", (POP,))})
    >>> sorted(reachable_heads(pda))
    [('p', ('x',)), ('p', ('⊥',)), ('q', ('⊥',))]
    """
    found = heads(pda)
    return found.reading | found.ending


def heads(pda: PushdownAutomaton) -> Heads:
    """Return the reachable heads, those before the end marker apart from those where words end."""
    moves = _moves(pda)
    start = pda.states.index(pda.initial)
    found: set[_Nodes]
    if pda.n_stacks == 1:
        found = {(state, (top,)) for state, top in _Summaries(moves).heads_from((start, pda.bottom))}
    else:
        found = _approximate_heads(moves, (start, (pda.bottom,) * pda.n_stacks))
    n = len(pda.states)
    reading = frozenset((pda.states[state], tops) for state, tops in found if state < n)
    ended = frozenset((pda.states[state - n], tops) for state, tops in found if state >= n)
    return Heads(reading, reading if pda.end_marker is None else ended)


def _moves(pda: PushdownAutomaton) -> _Moves:
    """Return the moves of each head; after the end marker, where only ε-steps are taken, states are counted from n."""
    number = {state: i for i, state in enumerate(pda.states)}
    moves: _Moves = defaultdict(list)
    for (state, symbol, tops), transition in pda.transitions.items():
        target = number[transition.target] + (len(number) if symbol == pda.end_marker else 0)
        moves[number[state], tops].append((target, transition.operations))
        if symbol == EPSILON and pda.end_marker is not None:
            n = len(number)
            moves[number[state] + n, tops].append((target + n, transition.operations))
    return moves


class _Summaries:
    """The heads found so far and their summaries; sets of states are bit masks, which makes the union of many cheap.

    Summaries grow in rounds until one changes nothing. In a round, pushes whose frames return in the same states share
    one look at what follows; it may be out of date by the end of the round, which is why the last round must be still.
    """

    def __init__(self, moves: _Moves) -> None:
        self.moves = moves
        self.returns: dict[_Node, int] = {}  # each head: the states in which its frame is popped
        self.after: dict[tuple[int, Symbol], int] = {}  # the same for any of these states with this top

    def heads_from(self, start: _Node) -> set[_Node]:
        self.find(start)
        while self.grow():
            pass
        return set(self.returns)

    def find(self, head: _Node) -> None:
        """Add a head, with what follows it without a return."""
        unseen = [head]
        while unseen:
            head = unseen.pop()
            if head not in self.returns:
                self.returns[head] = 0
                for target, (operation,) in self.moves.get((head[0], (head[1],)), ()):
                    if operation.pop and operation.push is None:
                        self.returns[head] |= 1 << target
                    else:
                        unseen.append((target, operation.push or head[1]))

    def grow(self) -> bool:
        before = len(self.returns)
        self.after.clear()
        changed = False
        for head in reversed(list(self.returns)):  # what was found later returns first
            old = self.returns[head]
            self.returns[head] = old | self.returns_of(head)
            changed |= self.returns[head] != old
        return changed or len(self.returns) > before

    def returns_of(self, head: _Node) -> int:
        found = 0
        for target, (operation,) in self.moves.get((head[0], (head[1],)), ()):
            later = (target, operation.push or head[1])
            if operation.push is not None and not operation.pop:
                found |= self.returns_after(self.returns[later], head[1])
            elif operation.push is not None or not operation.pop:
                found |= self.returns[later]
        return found

    def returns_after(self, states: int, top: Symbol) -> int:
        if (states, top) not in self.after:
            found = 0
            for state in _bits(states):
                self.find((state, top))
                found |= self.returns[state, top]
            self.after[states, top] = found
        return self.after[states, top]


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _approximate_heads(moves: _Moves, start: _Nodes) -> set[_Nodes]:
    below: dict[tuple[int, Symbol], set[Symbol]] = defaultdict(set)  # (stack, symbol): what may lie right under it
    size = -1
    found: set[_Nodes] = set()
    while size != len(found) + sum(map(len, below.values())):
        size = len(found) + sum(map(len, below.values()))
        found, unseen = {start}, [start]
        while unseen:
            state, tops = unseen.pop()
            for target, operations in moves.get((state, tops), ()):
                uncovered = [_tops_after(below, i, *pair) for i, pair in enumerate(zip(tops, operations, strict=True))]
                new = {(target, choice) for choice in product(*uncovered)} - found
                found |= new
                unseen += new
    return found


def _tops_after(below: dict[tuple[int, Symbol], set[Symbol]], stack: int, top: Symbol, op: StackOp) -> set[Symbol]:
    if op.push is not None:
        below[stack, op.push] |= below[stack, top] if op.pop else {top}
        return {op.push}
    return set(below[stack, top]) if op.pop else {top}


def trim(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton without what no run uses; the language, and every run, stays the same.

    Kept are the transitions on reachable heads, the reachable states, and the stack symbols that are pushed.
    """
    return _trim(pda, heads(pda))


def _trim(pda: PushdownAutomaton, found: Heads) -> PushdownAutomaton:
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
        found = heads(pda)
        trimmed = _trim(pda, found)
        useful = _useful(trimmed, found) if pda.real_time else dict(trimmed.transitions)
        if len(useful) == len(trimmed.transitions):
            return trimmed
        pda = replace(trimmed, transitions=useful)  # fewer heads are reachable now, so look again


def _useful(pda: PushdownAutomaton, found: Heads) -> dict[Key, Transition]:
    """Return the transitions with which an accepted run can end or go on."""
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
    goes_on = {key for key, step in pda.transitions.items() if key[1] != pda.end_marker and step.target in live}
    return {key: step for key, step in pda.transitions.items() if key in last or key in goes_on}


def _can_end(pda: PushdownAutomaton, found: Heads, key: Key, step: Transition) -> bool:
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
    pushes = any(operation.push is not None for operation in step.operations)
    empty = (step.target, (pda.bottom,) * pda.n_stacks) in found.ending and not pushes
    return pda.acceptance == "final state" or empty
