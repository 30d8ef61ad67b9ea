"""Two one-stack automata run as one pushdown system over pairs of states and pairs of stack symbols.

The pairs lie as high as the lower of the two stacks. What the higher stack has on top of that, up to a bound, is kept
in the control; so stacks need not be equally high, only never further apart than the bound (an automaton that keeps its
top in its state is one lower, for instance). Where one run is cut the other goes on by itself: it matters what it still
accepts. Its cells above the pairs stay in the control until they are popped.

Cells that are never popped. A push can be taken to be *for good*: nothing under the new cell will be seen again, so the
cell may as well take the place of the top; the stack is as empty or not as it was. Whether it was for good shows: a pop
of such a cell refutes it, and everything up to that pop was as it really is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from ..core.errors import AutomatonError
from ..core.validation import unique
from .finite import FiniteAutomaton, is_accepting
from .pda import NONE, Key, Output, PushdownAutomaton, StackOp, State, Symbol, Transition
from .rewriting import without_epsilon
from .summaries import Event, PushdownStep

Outputs = Literal["all", "where both", "where b", "ignore"]


class Push(NamedTuple):
    """A push of one of the two automata (0 or 1), by where both are, the letter, and both tops."""

    side: int
    states: tuple[State | None, State | None]
    domain: State | None
    letter: Symbol | None
    tops: tuple[Symbol | None, Symbol | None]


class CellPair(NamedTuple):
    """A stack symbol, and the push for good that it comes from, if any."""

    symbol: Symbol
    forever: Push | None


Pair = tuple[CellPair | None, CellPair | None]  # None: of an automaton whose run has been cut
_Stack = tuple[CellPair, ...]


class ControlPair(NamedTuple):
    """Both states (None: the run was cut), the domain's, what lies above the pairs, whether the last outputs accept."""

    states: tuple[State | None, State | None]
    domain: State | None
    above: tuple[_Stack, _Stack] = ((), ())
    good: tuple[bool, bool] = (False, False)
    ended: bool = False


@dataclass(frozen=True)
class Separated:
    """The word so far tells the automata apart."""

    reason: str


@dataclass(frozen=True)
class Parted:
    """One stack is higher than the other by more than the bound."""

    higher: int


@dataclass(frozen=True)
class Refuted:
    """A cell was popped that was taken to have been pushed for good."""

    push: Push


What = Separated | Parted | Refuted
PairMove = PushdownStep[ControlPair, Pair] | Event[What]


class _SideRun(NamedTuple):
    """One side after a step: its state, the known part of its stack, whether the output accepts, what was refuted."""

    state: State | None = None
    stack: _Stack = ()
    good: bool = False
    step: Transition | None = None
    refuted: Push | None = None


@dataclass(frozen=True)
class Product:
    """The product of two automata, for `summaries.explore`; ``compare`` says what the arguments mean."""

    pair: tuple[PushdownAutomaton, PushdownAutomaton]  # the two automata
    domain: FiniteAutomaton | None  # the words that count, or None for all
    outputs: Outputs  # which outputs are compared
    bound: int  # how many cells one stack may be higher than the other
    for_good: bool = False  # whether pushes are taken to be for good, but for those ``refuted``
    refuted: frozenset[Push] = frozenset()

    @property
    def start(self) -> ControlPair:
        """Return the control before the first symbol."""
        a, b = self.pair
        good = is_accepting(a, a.initial_output), is_accepting(b, b.initial_output)
        return ControlPair((a.initial, b.initial), None if self.domain is None else self.domain.initial, good=good)

    def moves(self, control: ControlPair, top: Pair | None) -> Iterator[PairMove]:
        """Yield every step from a head, and every event there."""
        if not control.ended:
            for letter in self.pair[0].input_alphabet:
                domain = control.domain if self.domain is None else self.domain.step(control.domain, letter)
                if self.domain is None or domain is not None:
                    yield from self._step(control, top, letter, domain)
        if self.domain is None or control.domain in self.domain.accepting:
            yield from self._end(control, top)

    def _end(self, control: ControlPair, top: Pair | None) -> Iterator[PairMove]:
        """Yield the step on the end, where there is a marker, and after it the event that only one accepts."""
        if not control.ended and any(pda.end_marker is not None for pda in self.pair):
            yield from self._step(control, top, None, control.domain)
        elif self.outputs in ("all", "ignore"):
            a, b = (self._accepts(side, control, top) for side in (0, 1))
            if a != b:
                yield Event(None, Separated(f"only the {'first' if a else 'second'} accepts it"))

    def _accepts(self, side: int, control: ControlPair, top: Pair | None) -> bool:
        pda, state = self.pair[side], control.states[side]
        if state is None or pda.acceptance == "output":
            return control.good[side]
        return pda.accepts_at(state, top is None and not control.above[side])

    def _step(
        self, control: ControlPair, top: Pair | None, letter: Symbol | None, domain: State | None
    ) -> Iterator[PairMove]:
        """Yield the step on a letter, or on the end (None); or the event there, after which nothing is of interest."""
        stacks = _known_stack(control, top, 0), _known_stack(control, top, 1)
        tops = (stacks[0][-1].symbol if stacks[0] else None, stacks[1][-1].symbol if stacks[1] else None)
        keys = (Push(side, control.states, control.domain, letter, tops) for side in (0, 1))
        a, b = (self._run(control, stacks[key.side], letter, key) for key in keys)
        # in this order: nothing more is asked, the outputs differ, a push was not for good, or both go on
        if self._is_over(a, b):
            return
        one_marker = letter is None and any(pda.end_marker is None for pda in self.pair)
        if not one_marker and (reason := self._difference(a, b)) is not None:
            yield Event(letter, Separated(reason))
        elif (push := a.refuted or b.refuted) is not None:
            yield Event(letter, Refuted(push))
        else:
            yield _joined_move(control, top, letter, domain, (a, b), self.bound)

    def _run(self, control: ControlPair, stack: _Stack, letter: Symbol | None, key: Push) -> _SideRun:
        pda, state = self.pair[key.side], control.states[key.side]
        if letter is None and pda.end_marker is None:
            return _SideRun(state, stack, control.good[key.side])
        symbol = pda.end_marker if letter is None else letter
        if state is None or symbol is None:
            return _SideRun()
        step = pda.transitions.get((state, symbol, (stack[-1].symbol if stack else pda.bottom,)))
        if step is None:
            return _SideRun()
        (operation,), good = step.operations, is_accepting(pda, step.output)
        forever = key if self.for_good and key not in self.refuted else None
        refuted = stack[-1].forever if operation.name == "pop" else None
        return _SideRun(step.target, _pair_stack_after(operation, stack, forever), good, step, refuted)

    def _is_over(self, a: _SideRun, b: _SideRun) -> bool:
        if self.outputs == "where both":
            return a.state is None or b.state is None
        return b.state is None and (self.outputs == "where b" or a.state is None)

    def _difference(self, a: _SideRun, b: _SideRun) -> str | None:
        """Return what the outputs of a step differ in, or whose run alone it cuts, or None."""
        if self.outputs in ("all", "where b") and (a.state is None) != (b.state is None):  # where b: it is a's
            goes_on, cut = ("second", "first") if a.state is None else ("first", "second")
            return f"at its end the {goes_on} goes on, the {cut} has been cut"
        if self.outputs == "ignore" or a.step is None or b.step is None:
            return None
        first, second = a.step.output, b.step.output
        if first == second:
            return None
        if (self.outputs != "all" and second is None) or (self.outputs == "where both" and first is None):
            return None
        return f"at its end the first outputs {first!r}, the second {second!r}"


def _known_stack(control: ControlPair, top: Pair | None, side: int) -> _Stack:
    """Return the known part of one stack: its cell in the pair on top, and what lies above."""
    cell = None if top is None else top[side]
    return control.above[side] if cell is None else (cell, *control.above[side])


def _pair_stack_after(operation: StackOp, stack: _Stack, forever: Push | None) -> _Stack:
    if operation.push is None:
        return stack[:-1] if operation.pop else stack
    if operation.pop:
        return (*stack[:-1], CellPair(operation.push, stack[-1].forever))
    return (*(stack if forever is None else stack[:-1]), CellPair(operation.push, forever))


def _joined_move(
    control: ControlPair,
    top: Pair | None,
    letter: Symbol | None,
    domain: State | None,
    runs: tuple[_SideRun, _SideRun],
    bound: int,
) -> PairMove:
    """Return the step to where both runs are, or the event that their stacks are too far apart."""
    a, b = runs
    level = 0 if top is None else 1
    pairs: tuple[Pair, ...]
    if a.state is None or b.state is None:
        alive = 0 if b.state is None else 1
        stack = runs[alive].stack
        # as much above the pairs as before, or less
        common = min(len(stack), max(level, len(stack) - len(control.above[alive])))
        pairs = tuple((cell, None) if alive == 0 else (None, cell) for cell in stack[:common])
        if common > level:
            pairs = (*([] if top is None else [top]), pairs[-1])
        above: tuple[_Stack, _Stack] = (stack[common:], ()) if alive == 0 else ((), stack[common:])
    else:
        # both run: pairs as high as the lower stack, and what the other has on top in the control
        common = min(len(a.stack), len(b.stack))
        if abs(len(a.stack) - len(b.stack)) > bound:
            return Event(letter, Parted(int(len(b.stack) > len(a.stack))))
        pairs = tuple(zip(a.stack[:common], b.stack[:common], strict=True))
        above = a.stack[common:], b.stack[common:]
    to = ControlPair((a.state, b.state), domain, above, (a.good, b.good), letter is None)
    return PushdownStep(letter, to, pairs)


# ---- Automata that never touch their stack, run beside one that does: then stacks of equal height are compared.

_MOST = 20_000  # pairs of states, beyond which two automata stay as they are
_Pair = tuple[State | None, State]  # None where the other automaton's run is cut


def is_stackless(pda: PushdownAutomaton) -> bool:
    """Return whether no transition pushes, so that the stack, or every stack, stays empty."""
    return all(operation.push is None for step in pda.transitions.values() for operation in step.operations)


def with_stack_of(pda: PushdownAutomaton, other: PushdownAutomaton) -> PushdownAutomaton:
    """Return an automaton that does what the stackless ``pda`` does, and to a stack what ``other`` does to its own. Its
    states are pairs. Where the run of ``other`` is cut, the stack stays. Both are real-time, over one alphabet.

    >>> from stacklens.automata.pda import push
    >>> echo = PushdownAutomaton(("p",), ("a",), (), {("p", "a", ("⊥",)): Transition("p", (NONE,), "b")}, "p")
    >>> once = PushdownAutomaton(("q",), ("a",), ("x",), {("q", "a", ("⊥",)): Transition("q", (push("x"),))}, "q")
    >>> [str(step.operations[0]) for step in with_stack_of(echo, once).transitions.values()]
    ['push x', 'none', 'none', 'none']
    """
    start: _Pair = other.initial, pda.initial
    tops = (other.bottom, *other.stack_alphabet)
    found: dict[tuple[_Pair, str, str], tuple[_Pair, Transition]] = {}
    pairs = {start: None}
    for pair in (queue := [start]):  # the list grows while it is walked
        for letter in pda.letters:
            step = pda.transitions.get((pair[1], letter, (pda.bottom,)))
            for top in tops if step is not None else ():
                assert step is not None
                cut = pair[0] is None or letter == pda.end_marker
                theirs = None if cut or pair[0] is None else other.transitions.get((pair[0], letter, (top,)))
                target: _Pair = (None if theirs is None else theirs.target), step.target
                done = (NONE,) if theirs is None else theirs.operations
                found[pair, letter, top] = target, Transition("", done, step.output)
                if target not in pairs:
                    pairs[target] = None
                    queue.append(target)
    names = unique({pair: f"({pair[0] or 'cut'}, {pair[1]})" for pair in pairs})
    rules: dict[Key, Transition] = {
        (names[pair], letter, (top,)): replace(step, target=names[target])
        for (pair, letter, top), (target, step) in found.items()
    }
    final = frozenset(names[pair] for pair in pairs if pda.acceptance == "empty stack" or pair[1] in pda.accepting)
    by_output = pda.acceptance == "output"
    return replace(
        pda,
        states=tuple(names.values()),
        stack_alphabet=other.stack_alphabet,
        bottom=other.bottom,
        transitions=rules,
        initial=names[start],
        accepting=frozenset() if by_output else final,
        acceptance="output" if by_output else "final state",
    )


def side_by_side(a: PushdownAutomaton, b: PushdownAutomaton) -> tuple[PushdownAutomaton, PushdownAutomaton]:
    """Return both, that one which alone has no stack with the other's, unless there are too many states."""
    if is_stackless(a) is is_stackless(b) or len(a.states) * len(b.states) > _MOST:
        return a, b
    return (with_stack_of(a, b), b) if is_stackless(a) else (a, with_stack_of(b, a))


# ---- Transducers that answer late: one symbol is written for each letter, a step later than it is read ----
# What such an automaton writes on a whole word another one outputs letter by letter, if it outputs in every step what
# the other one wrote in the step before, and the rest on the end marker. So whole words can be compared step by step.


def lag_of(pda: PushdownAutomaton) -> int | None:
    """Return by how many letters ``pda`` answers late, 0 or 1; None where it does not write a symbol a letter.

    At 0 every step on a letter writes one symbol, and nothing is written else. At 1 the first letter's writes none, all
    others one, and the step on the end marker one unless the word is empty. Every way through the graph of states is
    looked at, with what reads and writes in one step, so None may stand where stacks would rule a way out.

    >>> echo = {("q", "a", ("⊥",)): Transition("q", (NONE,), "a")}
    >>> lag_of(PushdownAutomaton(("q",), ("a",), (), echo, "q"))
    0
    >>> lag_of(delayed(PushdownAutomaton(("q",), ("a",), (), echo, "q"), "⊣"))
    1
    """
    try:
        pda = without_epsilon(pda)
    except AutomatonError:
        return None
    return next((lag for lag in (0, 1) if _answers_late(pda, lag)), None)


def _answers_late(pda: PushdownAutomaton, lag: int) -> bool:
    places = [(pda.initial, 0)]  # a state, and how many letters were read, as far as that matters
    seen = set(places)
    leaving: dict[State, list[tuple[Symbol, Transition]]] = {}
    for (state, symbol, _), step in pda.transitions.items():
        leaving.setdefault(state, []).append((symbol, step))
    if lag and pda.end_marker is None:
        return False
    for state, read in places:  # the list grows while it is walked
        for symbol, step in leaving.get(state, ()):
            ends = symbol == pda.end_marker
            expected = bool(lag and read) if ends else read >= lag
            if (step.output is not None) is not expected:
                return False
            after = step.target, min(read + 1, lag)
            if not ends and after not in seen:
                seen.add(after)
                places.append(after)
    return True


def delayed(pda: PushdownAutomaton, end_marker: Symbol) -> PushdownAutomaton:
    """Return the automaton that outputs in every step what ``pda`` outputs one step earlier, on the marker the last.
    The first letter's step outputs nothing. It reads ``end_marker`` after every word that ``pda`` reads. Raises
    AutomatonError: ``pda`` has an end marker, ε-steps or several stacks.
    """
    if pda.end_marker is not None or not pda.real_time or pda.n_stacks != 1:
        raise AutomatonError("only a real-time automaton with one stack and no end marker can be delayed")
    outputs: list[Output] = list(dict.fromkeys([None, *(step.output for step in pda.transitions.values())]))
    names = unique({(state, late): f"{state} after {late}" for state in pda.states for late in outputs})
    start, tops = names[pda.initial, None], (pda.bottom, *pda.stack_alphabet)
    rules: dict[Key, Transition] = {}
    for state in pda.states:
        for late in outputs:
            for top in tops:
                rules[names[state, late], end_marker, (top,)] = Transition(names[state, late], (NONE,), late)
    for (state, symbol, read), step in pda.transitions.items():
        for late in outputs:
            target = names[step.target, step.output]
            rules[names[state, late], symbol, read] = replace(step, target=target, output=late)
    return replace(
        pda,
        states=tuple(names.values()),
        transitions=rules,
        initial=start,
        accepting=frozenset(names.values()),
        acceptance="final state",
        end_marker=end_marker,
    )
