"""Whether one-stack automata are equal on all words of a domain, and whether one accepts anything at all.

A proof, a word that tells them apart, or neither: exact wherever it answers, by summaries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

from ..core.errors import AutomatonError, unique
from .finite import FiniteAutomaton
from .pda import EPSILON, NONE, Key, PushdownAutomaton, State, Symbol, Transition
from .rewriting import accepting_by_state, real_time_form
from .summaries import Event, PushdownStep, ShortestRuns, drop_sinks, heads, shortest_runs

BOUNDS = (1, 2, 4, 8)  # how far heights may be apart: each is tried where the one before does not suffice
# derivations (see `shortest_runs`) in the first search, and in each one after it
LIMIT, REMEDY_LIMIT = 2_000_000, 50_000
FIRST_LOOK = 1_000  # derivations after which refuted pushes are withdrawn, where everything would be far more


@dataclass(frozen=True)
class Equal:
    """The automata are equal, in all that was to be compared, on every word of the domain: proved."""

    domain: str = "all words"  # which words these are


@dataclass(frozen=True)
class Different:
    """The automata differ."""

    word: tuple[Symbol, ...]  # a word that tells them apart
    reason: str  # how they differ on it
    shortest: bool = True  # whether no shorter word tells them apart; otherwise there may be one on which heights part


@dataclass(frozen=True)
class Undecided:
    """Nothing is known."""

    reason: str  # why not
    word: tuple[Symbol, ...] | None = None  # a shortest word on which heights part; None where that is not the reason


Comparison = Equal | Different | Undecided
Outputs = Literal["all", "where both", "where b", "ignore"]  # which outputs are compared, see `compare`


def compare(
    a: PushdownAutomaton, b: PushdownAutomaton, domain: FiniteAutomaton | None = None, outputs: Outputs = "all"
) -> Comparison:
    """Return whether ``a`` and ``b`` are equal for all words, with a shortest word that tells them apart if not.

    Args:
        a: an automaton with one stack.
        b: another one over the same symbols; kinds of acceptance, stack alphabets and end markers may differ.
        domain: where only some words count: the automaton that accepts these. Outputs count on their prefixes.
        outputs: "all": the same words are accepted and, if either automaton has an output that is not None, outputs
            are the same at every step and runs are cut at the same symbols. "ignore": the same words are accepted.
            "where b" (b is what a task asks for): on every word that ``b`` reads ``a`` is not cut, and wherever ``b``
            has an output other than None ``a`` has it too; where ``b`` is cut, nothing more is asked. "where both":
            outputs agree wherever both have one; nothing is asked of a run that is cut. With these two acceptance is
            not compared. Initial outputs are part of acceptance only. What ε-steps write belongs to the letter before.

    Time is polynomial while the heights of the stacks stay together, or where one automaton never pushes. `Undecided`
    where they part, for several stacks, where equality is undecidable, and for ε-steps that cannot be put into other
    steps. Raises AutomatonError: the alphabets differ, or ``outputs`` is none of the four.

    >>> from stacklens.languages.next_sets import BoundedDyck, Dyck
    >>> compare(Dyck(1).automaton, Dyck(1).automaton)
    Equal(domain='all words')
    >>> found = compare(BoundedDyck(1, 3).automaton, Dyck(1).automaton)
    >>> "".join(found.word), found.reason
    ('(((())))', 'only the second accepts it')
    """
    if set(a.input_alphabet) != set(b.input_alphabet):
        ours, theirs = " ".join(a.input_alphabet), " ".join(b.input_alphabet)
        raise AutomatonError(f"only automata over the same alphabet can be compared, not over {ours} and {theirs}")
    if outputs not in get_args(Outputs):
        raise AutomatonError(f"outputs is {outputs!r}, expected one of {', '.join(get_args(Outputs))}")
    if (stacks := max(a.n_stacks, b.n_stacks)) > 1:
        return Undecided(f"equality of automata with {stacks} stacks is undecidable: only one stack is compared")
    try:
        a, b = real_time_form(a, "equality needs"), real_time_form(b, "equality needs")
    except AutomatonError as error:
        return Undecided(str(error))
    a, b = side_by_side(a, b)
    if outputs == "all" and not any(step.output is not None for pda in (a, b) for step in pda.transitions.values()):
        outputs = "ignore"
    found = _decide(Product((a, b), None if domain is None else domain.trimmed(), outputs, BOUNDS[0]))
    if not isinstance(found, Equal):
        return found
    read = {"where b": " that the second reads", "where both": " that both read"}.get(outputs, "")
    return Equal(f"all words{'' if domain is None else ' of the domain'}{read}")


def compared_outputs(pda: PushdownAutomaton) -> Outputs:
    """Return how outputs are compared with those of ``pda``: where it says symbols, not all words are a task's."""
    partly = any(isinstance(step.output, str) for step in pda.transitions.values())
    return "where both" if partly else "all"


def _decide(product: Product) -> Comparison:
    """Return the first final answer, or the best that there is: a word that may not be the shortest, or a reason."""
    # heights that stay together: pairs of heads decide
    known, _, _ = _search(product, LIMIT)
    if _is_settled(known):
        return known
    if product.outputs == "ignore":
        product = replace(product, pair=(_without_sinks(product.pair[0]), _without_sinks(product.pair[1])))
    # heights that part: ever more cells above the pairs, and then pushes that are taken to be for good
    for for_good in (False, True):
        product = replace(product, for_good=for_good)
        for bound in BOUNDS:
            answer, product, complete = _search(replace(product, bound=bound), REMEDY_LIMIT)
            if _is_settled(answer):
                return answer
            if isinstance(answer, Different):
                if not isinstance(known, Different) or len(answer.word) < len(known.word):
                    known = answer
            elif isinstance(known, Undecided) and complete and not for_good:
                known = answer  # of a larger bound: its word says more
            if not complete:
                break
        if isinstance(known, Different):
            break
    return known


def _is_settled(answer: Comparison) -> bool:
    return isinstance(answer, Equal) or (isinstance(answer, Different) and answer.shortest)


def _without_sinks(pda: PushdownAutomaton) -> PushdownAutomaton:
    if pda.acceptance == "output":
        return drop_sinks(pda)
    silent = {key: replace(step, output=None) for key, step in pda.transitions.items()}
    return drop_sinks(replace(pda, transitions=silent))


def _search(product: Product, limit: int) -> tuple[Comparison, Product, bool]:
    """Return what one product shows, the product without the pushes that were refuted, and whether all was looked at.
    What a first look refutes is withdrawn before more is looked at.
    """
    size = FIRST_LOOK if product.for_good else limit
    while True:
        # everything that two runs side by side can come to
        runs: _Runs = shortest_runs(product.start, product.moves, size)
        refuted = frozenset(event.push for event in runs.lengths if isinstance(event, Refuted))
        separated, first = None, _first_event(runs, Separated)
        if isinstance(first, Separated):
            # its word is the shortest one if nothing was left unlooked at before it
            stops = [length for other, length in runs.lengths.items() if not isinstance(other, Separated)]
            shortest = runs.complete and all(runs.lengths[first] <= length for length in stops)
            separated = Different(runs.word(first), first.reason, shortest)
        # what was found rests on pushes that a pop refutes, or on a first look: once more without these, or further
        if separated is None or not separated.shortest:
            if refuted:
                product = replace(product, refuted=product.refuted | refuted)
                continue
            if not runs.complete and size < limit:
                size = min(4 * size, limit)
                continue
        if separated is not None:
            return separated, product, runs.complete
        if not runs.complete:
            return Undecided(f"too large: a search was given up after {limit:,} derivations"), product, False
        if not isinstance(parted := _first_event(runs, Parted), Parted):
            return Equal(), product, True
        higher = ("first", "second")[parted.higher]
        reason = f"after the word the {higher} stack is more than {product.bound} higher than the other"
        return Undecided(reason, runs.word(parted)), product, True


def _first_event(runs: _Runs, kind: type[What]) -> What | None:
    events = [event for event in runs.lengths if isinstance(event, kind)]
    return min(events, key=runs.lengths.__getitem__, default=None)


def is_empty(pda: PushdownAutomaton) -> bool:
    """Return whether no word is accepted. Time is polynomial in the automaton. Raises AutomatonError: it has more than
    one stack, for which the question is undecidable.

    >>> is_empty(PushdownAutomaton(("p", "q"), ("a",), (), {("q", "a", ("⊥",)): Transition("p", (NONE,))}, "p", {"q"}))
    True
    """
    if pda.n_stacks != 1:
        raise AutomatonError(f"emptiness can be decided for one stack, this automaton has {pda.n_stacks}")
    pda = accepting_by_state(pda)
    silent = {(state, tops) for state, symbol, tops in pda.transitions if symbol == EPSILON}
    ends = heads(pda).ending - silent  # at which a run rests
    return not any(pda.accepts_at(state, tops == (pda.bottom,)) for state, tops in ends)


# ---- Two one-stack automata run as one pushdown system over pairs of states and pairs of stack symbols ----
# The pairs lie as high as the lower of the two stacks. What the higher stack has on top of that, up to a bound, is kept
# in the control; so stacks need not be equally high, only never further apart than the bound (an automaton that keeps
# its top in its state is one lower, for instance). Where one run is cut the other goes on by itself: it matters what it
# still accepts. Its cells above the pairs stay in the control until they are popped.
#
# Cells that are never popped. A push can be taken to be *for good*: nothing under the new cell will be seen again, so
# the cell may as well take the place of the top; the stack is as empty or not as it was. Whether it was for good shows:
# a pop of such a cell refutes it, and everything up to that pop was as it really is.


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
_Runs = ShortestRuns[ControlPair, Pair, What]


class _SideRun(NamedTuple):
    """One side after a step: its state, the known part of its stack, whether the output accepts, what was refuted."""

    state: State | None = None
    stack: _Stack = ()
    good: bool = False
    step: Transition | None = None
    refuted: Push | None = None


@dataclass(frozen=True)
class Product:
    """The product of two automata, for `summaries.shortest_runs`; ``compare`` says what the arguments mean."""

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
        good = a.accepts_output(a.initial_output), b.accepts_output(b.initial_output)
        return ControlPair((a.initial, b.initial), None if self.domain is None else self.domain.initial, good=good)

    def moves(self, control: ControlPair, top: Pair | None) -> Iterator[PairMove]:
        """Yield every step from a head, and every event there; after the end, that only one accepts."""
        if not control.ended:
            for letter in self.pair[0].input_alphabet:
                domain = control.domain if self.domain is None else self.domain.step(control.domain, letter)
                if self.domain is None or domain is not None:
                    yield from self._step(control, top, letter, domain)
        if self.domain is not None and control.domain not in self.domain.accepting:
            return
        if not control.ended and any(pda.end_marker is not None for pda in self.pair):
            yield from self._step(control, top, None, control.domain)
        elif self.outputs in ("all", "ignore"):
            a, b = (
                good if state is None else pda.accepts_at(state, top is None and not above, good)
                for pda, state, above, good in zip(self.pair, control.states, control.above, control.good, strict=True)
            )
            if a != b:
                yield Event(None, Separated(f"only the {'first' if a else 'second'} accepts it"))

    def _step(
        self, control: ControlPair, top: Pair | None, letter: Symbol | None, domain: State | None
    ) -> Iterator[PairMove]:
        """Yield the step on a letter, or on the end (None); or the event there, after which nothing is of interest."""
        # the known part of each stack: its cell in the pair on top, and what lies above
        cells = (None, None) if top is None else top
        stacks = [above if cell is None else (cell, *above) for cell, above in zip(cells, control.above, strict=True)]
        tops = (stacks[0][-1].symbol if stacks[0] else None, stacks[1][-1].symbol if stacks[1] else None)
        keys = (Push(side, control.states, control.domain, letter, tops) for side in (0, 1))
        a, b = (self._run(control, stacks[key.side], letter, key) for key in keys)
        # in this order: nothing more is asked, the outputs differ, a push was not for good, or both go on
        partly = self.outputs in ("where b", "where both")
        if (b.state is None and (partly or a.state is None)) or (a.state is None and self.outputs == "where both"):
            return
        one_marker = letter is None and any(pda.end_marker is None for pda in self.pair)
        if not one_marker and (reason := self._difference(a, b)) is not None:
            yield Event(letter, Separated(reason))
            return
        if (push := a.refuted or b.refuted) is not None:
            yield Event(letter, Refuted(push))
            return
        level = 0 if top is None else 1
        pairs: tuple[Pair, ...]
        if a.state is None or b.state is None:
            alive = 0 if b.state is None else 1
            stack = (b if alive else a).stack
            # as much above the pairs as before, or less
            common = min(len(stack), max(level, len(stack) - len(control.above[alive])))
            pairs = tuple((cell, None) if alive == 0 else (None, cell) for cell in stack[:common])
            if common > level:
                pairs = (*([] if top is None else [top]), pairs[-1])
            above: tuple[_Stack, _Stack] = (stack[common:], ()) if alive == 0 else ((), stack[common:])
        else:
            # both run: pairs as high as the lower stack, and what the other has on top in the control
            common = min(len(a.stack), len(b.stack))
            if abs(len(a.stack) - len(b.stack)) > self.bound:
                yield Event(letter, Parted(int(len(b.stack) > len(a.stack))))
                return
            pairs = tuple(zip(a.stack[:common], b.stack[:common], strict=True))
            above = a.stack[common:], b.stack[common:]
        to = ControlPair((a.state, b.state), domain, above, (a.good, b.good), letter is None)
        yield PushdownStep(letter, to, pairs)

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
        (operation,), good = step.operations, pda.accepts_output(step.output)
        refuted = stack[-1].forever if operation.name == "pop" else None
        if operation.push is None:
            after = stack[:-1] if operation.pop else stack
        elif operation.pop:
            after = (*stack[:-1], CellPair(operation.push, stack[-1].forever))
        elif self.for_good and key not in self.refuted:
            after = (*stack[:-1], CellPair(operation.push, key))
        else:
            after = (*stack, CellPair(operation.push, None))
        return _SideRun(step.target, after, good, step, refuted)

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


# ---- Automata that never touch their stack, run beside one that does: then stacks of equal height are compared.

_MOST = 20_000  # pairs of states, beyond which two automata stay as they are
_Pair = tuple[State | None, State]  # None where the other automaton's run is cut


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
    if a.stackless is b.stackless or len(a.states) * len(b.states) > _MOST:
        return a, b
    return (with_stack_of(a, b), b) if a.stackless else (a, with_stack_of(b, a))
