"""A textbook pushdown automaton as ours, where it is deterministic and reads a symbol in every step.

Textbooks, JFLAP and automata-lib lay a start symbol on the stack, which may be popped like any other, let a rule push a
word and let rules read nothing. Ours has a bottom that stays, pushes one symbol a step and always reads. So what lies
lowest goes into the state, a pushed word becomes one symbol, and a rule that reads nothing may only say where a word
starts or ends.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from typing import TypeVar

from stacklens.automata.naming import fresh, unique
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, StackOp, State, Symbol, Transition, push
from stacklens.automata.pda import replace as put
from stacklens.automata.reachability import Head, heads, trim
from stacklens.automata.rewriting import drop_end_marker, with_visible_top
from stacklens.errors import AutomatonError

__all__ = ["Cells", "TextbookAutomaton", "TextbookRule", "from_textbook"]

# Of an automaton that a person would draw there are hundreds; all three are against files made to fill the memory.
_MOST_HEADS, _MOST_STEPS = 100_000, 500_000
_MOST_PUSHED = 200  # symbols in one step
Cells = tuple[Symbol, ...]  # symbols that lie on each other, the top first
_T = TypeVar("_T")
_Place = tuple[State, Cells]  # a state, and what is left of what lay on the stack at the start
_Head = tuple[_Place, Cells]  # a pushed word on top; empty where nothing is left of what was pushed


@dataclass(frozen=True)
class TextbookRule:
    """A rule: in ``source``, read ``read`` ("" for nothing), take ``pop`` off the stack, lay ``push`` on it.

    With nothing to pop, the rule holds whatever the top is.
    """

    source: State
    read: Symbol
    pop: Cells
    target: State
    push: Cells

    def __str__(self) -> str:
        parts = (part or "nothing" for part in (self.read, " ".join(self.pop), " ".join(self.push)))
        return "the rule from {} to {} (read {}, pop {}, push {})".format(self.source, self.target, *parts)


@dataclass(frozen=True)
class TextbookAutomaton:
    """A pushdown automaton as textbooks have it.

    Attributes:
        states, initial, final: its states.
        start: what lies on the stack before the first step.
        rules: its rules.
        accepts_empty: whether a word is accepted, too, when the stack is empty, the start symbol gone.
        alphabet: the input alphabet, as far as the rules do not tell it.
    """

    states: tuple[State, ...]
    initial: State
    final: frozenset[State]
    start: Symbol
    rules: tuple[TextbookRule, ...]
    accepts_empty: bool = False
    alphabet: tuple[Symbol, ...] = ()


@dataclass(frozen=True)
class _Move:
    """Where a rule leads from a head, and what it does to the pushed words above the place."""

    place: _Place
    operation: StackOp  # its symbol is only a stand-in for `pushed`
    pushed: Cells


def from_textbook(given: TextbookAutomaton) -> PushdownAutomaton:
    """Return an automaton of ours that accepts the same words, without what no run can reach.

    Rules that read nothing are understood at the start, where they lay more on the stack, and where they lead to a
    state without rules, so that they say how a word may end.

    Raises:
        AutomatonError: it is not deterministic, does not read a symbol in every step, looks below the top, or puts
            another symbol in the top's place and pushes in one step; the message names the rule.

    >>> a_before_b = TextbookAutomaton(("p", "q"), "p", frozenset({"q"}), "Z", (
    ...     TextbookRule("p", "a", (), "p", ("A",)), TextbookRule("p", "b", ("A",), "q", ()),
    ...     TextbookRule("q", "b", ("A",), "q", ())))
    >>> pda = from_textbook(a_before_b)
    >>> pda.states, [pda.accepts(word) for word in ("aab", "aabb", "abb")]
    (('p', 'q'), [True, True, False])
    """
    rules = _Rules(given)
    start = rules.start()
    moves, problems = _explore(rules, start)
    names = _names(start, moves.values())
    pda = _automaton(rules, start, moves, names)
    shown = heads(pda).reading if problems else frozenset()
    for head, problem in problems.items():
        if names.head(head) in shown:
            raise AutomatonError(problem)
    ends = {names.head(head) for head in product(names.places, names.words) if rules.ends(head)}
    return _ended(pda, ends) if ends else trim(pda)


@dataclass(frozen=True)
class _Names:
    """What our automaton calls places (states) and pushed words (stack symbols; the bottom for none)."""

    places: dict[_Place, State]
    words: dict[Cells, Symbol]

    def head(self, head: _Head) -> Head:
        place, word = head
        return self.places[place], (self.words[word],)


def _names(start: _Place, moves: Collection[_Move]) -> _Names:
    places = dict.fromkeys([start, *(move.place for move in moves)])
    words = dict.fromkeys(move.pushed for move in moves if move.pushed)
    pushed = unique({word: "".join(word) for word in words})
    return _Names(
        unique({place: _place_name(place, start) for place in places}),
        {**pushed, (): fresh("⊥", pushed.values())},
    )


def _automaton(
    rules: _Rules, start: _Place, moves: dict[tuple[_Head, Symbol], _Move], names: _Names
) -> PushdownAutomaton:
    transitions: dict[Key, Transition] = {}
    for (head, symbol), move in moves.items():
        state, tops = names.head(head)
        operation = replace(move.operation, push=names.words[move.pushed]) if move.pushed else move.operation
        transitions[state, symbol, tops] = Transition(names.places[move.place], (operation,))
    return PushdownAutomaton(
        states=tuple(names.places.values()),
        input_alphabet=rules.alphabet,
        stack_alphabet=tuple(name for word, name in names.words.items() if word),
        transitions=transitions,
        initial=names.places[start],
        accepting=frozenset(name for place, name in names.places.items() if rules.accepts(place)),
        acceptance="final state",
        bottom=names.words[()],
    )


class _Rules:
    """The rules by their state, checked one by one."""

    def __init__(self, given: TextbookAutomaton) -> None:
        self.given = given
        self.leaving: dict[State, list[TextbookRule]] = defaultdict(list)
        for rule in given.rules:
            if len(rule.pop) > 1:
                raise AutomatonError(f"{rule} pops {len(rule.pop)} symbols; expected one at most in a step")
            if len(rule.push) > _MOST_PUSHED:
                raise AutomatonError(
                    f"a rule from {rule.source} pushes {len(rule.push):,} symbols; expected {_MOST_PUSHED} at most"
                )
            self.leaving[rule.source].append(rule)
        read = (rule.read for rule in given.rules if rule.read)
        self.alphabet = tuple(dict.fromkeys((*given.alphabet, *read)))
        self.ending = {rule for rule in given.rules if not rule.read and not self.leaving[rule.target]}

    def start(self) -> _Place:
        """Return the first state that reads, and the stack there."""
        state = self.given.initial
        cells: Cells = (self.given.start,)
        entered = Counter(rule.target for rule in self.given.rules)
        while len(self.leaving[state]) == 1 and not entered[state] and state not in self.given.final:
            (rule,) = self.leaving[state]
            if rule.read or rule.pop not in ((), cells[:1]) or rule in self.ending:
                break
            state, cells = rule.target, (*rule.push, *cells[len(rule.pop) :])
            if len(cells) > _MOST_PUSHED:
                raise AutomatonError(f"more than {_MOST_PUSHED} symbols on the stack at the start; expected fewer")
            self.leaving[rule.source] = []
            entered[rule.target] -= 1
        return state, cells

    @cached_property
    def _reading(self) -> dict[tuple[State, Symbol], list[TextbookRule]]:
        """Return the rules that do not end a word by the state that they leave and what they read."""
        found: dict[tuple[State, Symbol], list[TextbookRule]] = defaultdict(list)
        for rule in (rule for rules in self.leaving.values() for rule in rules if rule not in self.ending):
            found[rule.source, rule.read].append(rule)
        return found

    @cached_property
    def _ending_at(self) -> dict[State, list[TextbookRule]]:
        """Return the rules that end a word by the state that they leave."""
        found: dict[State, list[TextbookRule]] = defaultdict(list)
        for rule in (rule for rules in self.leaving.values() for rule in rules if rule in self.ending):
            found[rule.source].append(rule)
        return found

    def accepts(self, place: _Place) -> bool:
        """Return whether a word may end at ``place``, whatever was pushed since."""
        return place[0] in self.given.final or (self.given.accepts_empty and not place[1])

    def ends(self, head: _Head) -> bool:
        """Return whether a rule that reads nothing ends a word at ``head``."""
        (state, lowest), pushed = head
        cells = pushed or lowest
        holding = [rule for rule in self._ending_at[state] if rule.pop in ((), cells[:1])]
        last = self.given.accepts_empty and not pushed and len(lowest) == 1
        return any(rule.target in self.given.final or (last and rule.pop and not rule.push) for rule in holding)

    def move(self, head: _Head, symbol: Symbol) -> _Move | None:
        """Return what reading ``symbol`` does at ``head``; None where no rule holds."""
        top = (head[1] or head[0][1])[:1]
        if silent := [rule for rule in self._reading[head[0][0], ""] if rule.pop in ((), top)]:
            raise AutomatonError(f"{silent[0]} reads nothing; expected a symbol read in every step")
        holding = list(dict.fromkeys(rule for rule in self._reading[head[0][0], symbol] if rule.pop in ((), top)))
        if len(holding) > 1:
            where = f"in state {head[0][0]}, reading {symbol} with {top[0] if top else 'nothing'} on top"
            raise AutomatonError(f"not deterministic: {where}, {len(holding)} rules hold; expected one at most")
        return _apply(holding[0], head) if holding else None


def _apply(rule: TextbookRule, head: _Head) -> _Move:
    """Return what ``rule`` does at ``head``, whose top it pops."""
    (_, lowest), pushed = head
    cells = pushed or lowest
    rest = cells[1:]
    laid = rule.push if rule.pop or not cells else (*rule.push, cells[0])  # in the place of the top, if there is one
    if cells and laid[-1:] == cells[:1]:
        above = laid[:-1]
        return _Move((rule.target, lowest), push(cells[0]) if above else NONE, above)
    if not pushed:  # the lowest symbol itself is gone, or another
        above = laid[:-1]
        return _Move((rule.target, laid[-1:] + rest), push(laid[0]) if above else NONE, above)
    if len(laid) > 1:
        raise AutomatonError(
            f"{rule} puts another symbol in the top's place and pushes; expected one of the two a step"
        )
    left = (*laid, *rest)
    return _Move((rule.target, lowest), put(left[0]) if left else POP, left)


def _explore(rules: _Rules, start: _Place) -> tuple[dict[tuple[_Head, Symbol], _Move], dict[_Head, str]]:
    """Return what every symbol does at every head that may be reached, and what is wrong with some of these."""
    moves: dict[tuple[_Head, Symbol], _Move] = {}
    problems: dict[_Head, str] = {}
    places, words = {start: None}, dict[Cells, None]({(): None})
    known = 0, 0
    while known != (len(places), len(words)):
        heads_at_most, letters = len(places) * len(words), max(1, len(rules.alphabet))
        if heads_at_most > _MOST_HEADS or heads_at_most * letters > _MOST_STEPS:
            raise AutomatonError(
                f"more than {_MOST_HEADS:,} pairs of a state and a pushed word, or {_MOST_STEPS:,} steps from them; "
                "expected fewer"
            )
        new_places, new_words = _last(places, len(places) - known[0]), _last(words, len(words) - known[1])
        unseen = list(product(new_places, words))
        if new_words:
            unseen = [(p, word) for i, p in enumerate(places) for word in (new_words if i < known[0] else words)]
        known = len(places), len(words)
        for head, symbol in product(unseen, rules.alphabet):
            try:
                move = rules.move(head, symbol)
            except AutomatonError as error:
                problems[head] = str(error)
                continue
            if move is not None:
                moves[head, symbol] = move
                places[move.place] = words[move.pushed] = None
    return moves, problems


def _last(known: dict[_T, None], count: int) -> list[_T]:
    """Return the last ``count`` keys, without a walk over the others."""
    return list(islice(reversed(known), count))[::-1]


def _ended(pda: PushdownAutomaton, ends: set[Head]) -> PushdownAutomaton:
    """Return ``pda`` where words may also end at the heads ``ends``."""
    marker = fresh("⊣", set(pda.input_alphabet))
    done = fresh("end", set(pda.states))
    tops = (pda.bottom, *pda.stack_alphabet)
    everywhere: set[Head] = {*ends, *((state, (top,)) for state, top in product(pda.accepting, tops))}
    steps: dict[Key, Transition] = {
        (state, marker, top): Transition(done, (NONE,)) for state, top in sorted(everywhere)
    }
    marked = replace(
        pda,
        states=(*pda.states, done),
        transitions={**pda.transitions, **steps},
        accepting=frozenset({done}),
        end_marker=marker,
    )
    only_empty = all(top == (pda.bottom,) for _, top in everywhere)
    return next(filter(None, map(drop_end_marker, _variants(marked, only_empty))))


def _variants(marked: PushdownAutomaton, only_empty: bool) -> Iterator[PushdownAutomaton]:
    """Yield equivalent automata, the simplest first: of the last, the state shows all that decides acceptance."""
    yield marked
    if only_empty:
        yield replace(marked, acceptance="both")
    yield with_visible_top(marked)


def _place_name(place: _Place, start: _Place) -> str:
    state, cells = place
    return state if cells == start[1] else f"{state} over {' '.join(cells) or 'nothing'}"
