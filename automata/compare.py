"""Whether one-stack automata are equal on all words of a domain, and whether one accepts anything at all.

A proof, a word that tells them apart, or neither: exact wherever it answers, by summaries.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, get_args

from ..core.errors import AutomatonError
from .finite import FiniteAutomaton, is_accepting
from .pda import EPSILON, PushdownAutomaton, State, Symbol, Transition
from .product import ControlPair, Outputs, Pair, Parted, Product, Refuted, Separated, What, side_by_side
from .rewriting import real_time_form
from .summaries import Event, PushdownStep, ShortestRuns, cells_after, drop_sinks, shortest_runs

BOUNDS = (1, 2, 4, 8)  # how far heights may be apart: each is tried where the one before does not suffice
# derivations (see `shortest_runs`) in the first search, and in each one after it
LIMIT, REMEDY_LIMIT = 2_000_000, 50_000
FIRST_LOOK = 1_000  # derivations after which refuted pushes are withdrawn, where everything would be far more

_Runs = ShortestRuns[ControlPair, Pair, What]
_ACCEPTED = "accepted"
_EVERYTHING = 1 << 62


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
    if max(a.n_stacks, b.n_stacks) > 1:
        stacks = max(a.n_stacks, b.n_stacks)
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


@dataclass(frozen=True)
class _Found:
    """What a search came to: its product, without the pushes that it refuted, and whether everything was looked at."""

    answer: Comparison
    product: Product
    complete: bool

    @property
    def is_final(self) -> bool:
        return isinstance(self.answer, Equal) or (isinstance(self.answer, Different) and self.answer.shortest)


def _decide(product: Product) -> Comparison:
    """Return the first final answer, or the best that there is: a word that may not be the shortest, or a reason."""
    # heights that stay together: pairs of heads decide
    last = _search(product, LIMIT)
    if last.is_final:
        return last.answer
    known = last.answer
    if product.outputs == "ignore":
        product = replace(product, pair=(_without_sinks(product.pair[0]), _without_sinks(product.pair[1])))
    # heights that part: ever more cells above the pairs, and then pushes that are taken to be for good
    for for_good in (False, True):
        product = replace(product, for_good=for_good)
        for bound in BOUNDS:
            last = _search(replace(product, bound=bound), REMEDY_LIMIT)
            product = last.product
            if last.is_final:
                return last.answer
            if isinstance(last.answer, Different):
                if not isinstance(known, Different) or len(last.answer.word) < len(known.word):
                    known = last.answer
            elif isinstance(known, Undecided) and last.complete and not last.product.for_good:
                known = last.answer  # of a larger bound: its word says more
            if not last.complete:
                break
        if isinstance(known, Different):
            break
    return known


def _without_sinks(pda: PushdownAutomaton) -> PushdownAutomaton:
    if pda.acceptance == "output":
        return drop_sinks(pda)
    silent = {key: replace(step, output=None) for key, step in pda.transitions.items()}
    return drop_sinks(replace(pda, transitions=silent))


def _search(product: Product, limit: int) -> _Found:
    """Return what one product shows; what a first look refutes is withdrawn before more is looked at."""
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
            return _Found(separated, product, runs.complete)
        if not runs.complete:
            reason = f"too large: a search was given up after {limit:,} derivations"
            return _Found(Undecided(reason), product, runs.complete)
        if not isinstance(parted := _first_event(runs, Parted), Parted):
            return _Found(Equal(), product, runs.complete)
        higher = ("first", "second")[parted.higher]
        reason = f"after the word the {higher} stack is more than {product.bound} higher than the other"
        return _Found(Undecided(reason, runs.word(parted)), product, runs.complete)


def _first_event(runs: _Runs, kind: type[What]) -> What | None:
    events = [event for event in runs.lengths if isinstance(event, kind)]
    return min(events, key=runs.lengths.__getitem__, default=None)


class _EndControl(NamedTuple):
    state: State
    good: bool  # the last output accepts
    ended: bool  # the end marker was read


def is_empty(pda: PushdownAutomaton) -> bool:
    """Return whether no word is accepted. Time is polynomial in the automaton; for errors see `shortest_member`.

    >>> from stacklens.automata.pda import NONE
    >>> is_empty(PushdownAutomaton(("p", "q"), ("a",), (), {("q", "a", ("⊥",)): Transition("p", (NONE,))}, "p", {"q"}))
    True
    """
    return _ACCEPTED not in _accepting_runs(pda).lengths


def shortest_member(pda: PushdownAutomaton) -> tuple[Symbol, ...] | None:
    """Return a shortest word that is accepted, the same every time, or None where there is none.

    With `finite.intersect` it answers whether there is an accepted word with some regular property, and with which one.
    Raises AutomatonError: the automaton has more than one stack (then the question is undecidable), or the word is too
    long to be written out: n stack symbols suffice to count to 2 to the n.

    >>> from stacklens.automata.pda import POP, push
    >>> rules = {("p", "a", (top,)): Transition("p", (push("A"),)) for top in ("⊥", "A")}
    >>> rules |= {("p", "c", ("A",)): Transition("q", (POP,)), ("q", "b", ("A",)): Transition("q", (POP,))}
    >>> shortest_member(PushdownAutomaton(("p", "q"), ("a", "b", "c"), ("A",), rules, "p", {"q"}))
    ('a', 'c')
    """
    runs = _accepting_runs(pda)
    return runs.word(_ACCEPTED) if _ACCEPTED in runs.lengths else None


def _accepting_runs(pda: PushdownAutomaton) -> ShortestRuns[_EndControl, Symbol, str]:
    if pda.n_stacks != 1:
        raise AutomatonError(f"emptiness can be decided for one stack, this automaton has {pda.n_stacks}")
    steps: dict[tuple[State, Symbol], list[tuple[Symbol, Transition]]] = {}
    for (state, symbol, (top,)), step in pda.transitions.items():
        steps.setdefault((state, top), []).append((symbol, step))
    silent = {head for head, found in steps.items() if found[0][0] == EPSILON}

    def moves(control: _EndControl, top: Symbol | None) -> Iterator[PushdownStep[_EndControl, Symbol] | Event[str]]:
        head = control.state, top or pda.bottom
        over = control.ended == (pda.end_marker is not None) and head not in silent
        if over and pda.accepts_at(control.state, top is None, control.good):
            yield Event(None, _ACCEPTED)
        for symbol, step in steps.get(head, ()) if head in silent or not control.ended else ():
            ends = control.ended or symbol == pda.end_marker
            target = _EndControl(step.target, is_accepting(pda, step.output), ends)
            yield PushdownStep(None if ends else symbol or None, target, cells_after(step.operations[0], top))

    return shortest_runs(_EndControl(pda.initial, is_accepting(pda, pda.initial_output), False), moves, _EVERYTHING)
