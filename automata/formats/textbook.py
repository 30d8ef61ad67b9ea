"""A textbook pushdown automaton as ours, where it is deterministic and reads a symbol in every step.

Textbooks, JFLAP and automata-lib lay a start symbol on the stack, which may be popped like any other, let a rule push a
word and let rules read nothing. Ours has a bottom that stays, pushes one symbol a step and always reads. So what lies
lowest goes into the state, a pushed word becomes one symbol, and only at a word's start or end may a rule read nothing.
"""

import json
import math
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, product

from ...core.errors import AutomatonError, fresh, unique
from ..pda import EPSILON, NONE, POP, Key, PushdownAutomaton, StackOp, State, Symbol, Transition, push
from ..pda import replace as put
from ..rewriting import drop_end_marker, with_visible_top
from ..summaries import Head, heads, trim
from .json import from_json, to_json_line

# Of an automaton that a person would draw there are hundreds; all three are against files made to fill the memory.
_MOST_HEADS, _MOST_STEPS = 100_000, 500_000
_MOST_PUSHED = 200  # symbols in one step
Cells = tuple[Symbol, ...]  # symbols that lie on each other, the top first
_Place = tuple[State, Cells]  # a state, and the rest of the cells that lay on the stack at the start
_Head = tuple[_Place, Cells]  # a pushed word on top; empty where nothing is left of what was pushed


@dataclass(frozen=True)
class TextbookRule:
    """A rule: in ``source``, read ``read`` ("" for nothing), take ``pop`` off the stack, lay ``push`` on it. With
    nothing to pop, the rule holds whatever the top is.
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
    """A pushdown automaton as textbooks have it."""

    states: tuple[State, ...]  # its states
    initial: State
    final: frozenset[State]
    start: Symbol  # what lies on the stack before the first step
    rules: tuple[TextbookRule, ...]  # its rules
    accepts_empty: bool = False  # whether a word is accepted, too, when the stack is empty, the start symbol gone
    alphabet: tuple[Symbol, ...] = ()  # the input alphabet, as far as the rules do not tell it


@dataclass(frozen=True)
class _PlaceMove:
    """Where a rule leads from a head, and what it does to the pushed words above the place."""

    place: _Place
    operation: StackOp  # its symbol is only a stand-in for `pushed`
    pushed: Cells


def from_textbook(given: TextbookAutomaton) -> PushdownAutomaton:
    """Return an automaton of ours that accepts the same words, without what no run can reach.

    Rules that read nothing are understood at the start, where they lay more on the stack, and where they lead to a
    state without rules, where they say how a word ends. Raises AutomatonError: it is not deterministic, does not read a
    symbol in every step, looks below the top, or replaces the top and pushes in one step; the message names the rule.

    >>> a_before_b = TextbookAutomaton(("p", "q"), "p", frozenset({"q"}), "Z", (
    ...     TextbookRule("p", "a", (), "p", ("A",)), TextbookRule("p", "b", ("A",), "q", ()),
    ...     TextbookRule("q", "b", ("A",), "q", ())))
    >>> pda = from_textbook(a_before_b)
    >>> pda.states, [pda.accepts(word) for word in ("aab", "aabb", "abb")]
    (('p', 'q'), [True, True, False])
    """
    # follow the rules from where a word begins
    rules = _RulesByState(given)
    start = rules.start
    moves, problems = _explore(rules)
    # Places become states, pushed words stack symbols, and the bottom stands where nothing is left of them.
    places = unique(
        {
            (state, cells): state if cells == start[1] else f"{state} over {' '.join(cells) or 'nothing'}"
            for state, cells in dict.fromkeys([start, *(move.place for move in moves.values())])
        }
    )
    pushed = unique({move.pushed: "".join(move.pushed) for move in moves.values() if move.pushed})
    words = {**pushed, (): fresh("⊥", pushed.values())}
    named: Callable[[_Head], Head] = lambda head: (places[head[0]], (words[head[1]],))  # noqa: E731
    transitions: dict[Key, Transition] = {}
    for (head, symbol), move in moves.items():
        state, tops = named(head)
        operation = replace(move.operation, push=words[move.pushed]) if move.pushed else move.operation
        transitions[state, symbol, tops] = Transition(places[move.place], (operation,))
    pda = PushdownAutomaton(
        states=tuple(places.values()),
        input_alphabet=rules.alphabet,
        stack_alphabet=tuple(pushed.values()),
        transitions=transitions,
        initial=places[start],
        accepting=frozenset(name for place, name in places.items() if rules.accepts(place)),
        acceptance="final state",
        bottom=words[()],
    )
    # A rule of another kind is a problem only where a run gets.
    shown = heads(pda).reading if problems else frozenset()
    for head, problem in problems.items():
        if named(head) in shown:
            raise AutomatonError(problem)
    ends = {named(head) for head in product(places, words) if rules.ends(head)}
    return _ending_at_heads(pda, ends) if ends else trim(pda)


class _RulesByState:
    """The rules by their state, checked one by one."""

    def __init__(self, given: TextbookAutomaton) -> None:
        self.given = given
        leaving: dict[State, list[TextbookRule]] = defaultdict(list)
        for rule in given.rules:
            if len(rule.pop) > 1:
                raise AutomatonError(f"{rule} pops {len(rule.pop)} symbols; expected one at most in a step")
            if len(rule.push) > _MOST_PUSHED:
                raise AutomatonError(
                    f"a rule from {rule.source} pushes {len(rule.push):,} symbols; expected {_MOST_PUSHED} at most"
                )
            leaving[rule.source].append(rule)
        read = (rule.read for rule in given.rules if rule.read)
        self.alphabet = tuple(dict.fromkeys((*given.alphabet, *read)))
        ending = {rule for rule in given.rules if not rule.read and not leaving[rule.target]}
        # the first state that reads, and the stack there
        state: State = given.initial
        cells: Cells = (given.start,)
        entered = Counter(rule.target for rule in given.rules)
        while len(leaving[state]) == 1 and not entered[state] and state not in given.final:
            (rule,) = leaving[state]
            if rule.read or rule.pop not in ((), cells[:1]) or rule in ending:
                break
            state, cells = rule.target, (*rule.push, *cells[len(rule.pop) :])
            if len(cells) > _MOST_PUSHED:
                raise AutomatonError(f"more than {_MOST_PUSHED} symbols on the stack at the start; expected fewer")
            leaving[rule.source] = []
            entered[rule.target] -= 1
        self.start: _Place = state, cells
        # the rules by the state that they leave and what they read, None for those that end a word
        self._at: dict[tuple[State, Symbol | None], list[TextbookRule]] = defaultdict(list)
        for rule in (rule for rules in leaving.values() for rule in rules):
            self._at[rule.source, None if rule in ending else rule.read].append(rule)

    def accepts(self, place: _Place) -> bool:
        return place[0] in self.given.final or (self.given.accepts_empty and not place[1])

    def ends(self, head: _Head) -> bool:
        """Return whether a rule that reads nothing ends a word at ``head``."""
        (state, lowest), pushed = head
        cells = pushed or lowest
        holding = [rule for rule in self._at[state, None] if rule.pop in ((), cells[:1])]
        last = self.given.accepts_empty and not pushed and len(lowest) == 1
        return any(rule.target in self.given.final or (last and rule.pop and not rule.push) for rule in holding)

    def move(self, head: _Head, symbol: Symbol) -> _PlaceMove | None:
        """Return what reading ``symbol`` does at ``head``; None where no rule holds."""
        (state, lowest), pushed = head
        cells = pushed or lowest
        top = cells[:1]
        if silent := [rule for rule in self._at[state, ""] if rule.pop in ((), top)]:
            raise AutomatonError(f"{silent[0]} reads nothing; expected a symbol read in every step")
        holding = list(dict.fromkeys(rule for rule in self._at[state, symbol] if rule.pop in ((), top)))
        if len(holding) > 1:
            where = f"in state {state}, reading {symbol} with {top[0] if top else 'nothing'} on top"
            raise AutomatonError(
                f"not deterministic: {where}, {len(holding)} rules hold; expected one at most; a .cfg may have more"
            )
        if not holding:
            return None
        # laid: what stands in the place of the top, if there is one
        (rule,), rest = holding, cells[1:]
        laid = rule.push if rule.pop or not cells else (*rule.push, cells[0])
        above = laid[:-1]
        if cells and laid[-1:] == top:
            return _PlaceMove((rule.target, lowest), push(cells[0]) if above else NONE, above)
        if not pushed:  # the lowest symbol itself is gone, or another
            return _PlaceMove((rule.target, laid[-1:] + rest), push(laid[0]) if above else NONE, above)
        if above:
            raise AutomatonError(
                f"{rule} puts another symbol in the top's place and pushes; expected one of the two a step"
            )
        left = (*laid, *rest)
        return _PlaceMove((rule.target, lowest), put(left[0]) if left else POP, left)


def _explore(rules: _RulesByState) -> tuple[dict[tuple[_Head, Symbol], _PlaceMove], dict[_Head, str]]:
    """Return what every symbol does at every head that may be reached, and the problems of some of these."""
    moves: dict[tuple[_Head, Symbol], _PlaceMove] = {}
    problems: dict[_Head, str] = {}
    places, words = {rules.start: None}, dict[Cells, None]({(): None})
    known = 0, 0
    while known != (len(places), len(words)):
        heads_at_most, letters = len(places) * len(words), max(1, len(rules.alphabet))
        if heads_at_most > _MOST_HEADS or heads_at_most * letters > _MOST_STEPS:
            raise AutomatonError(
                f"more than {_MOST_HEADS:,} pairs of a state and a pushed word, or {_MOST_STEPS:,} steps from them; "
                "expected fewer"
            )
        # only pairs that the last round did not have
        new_places, new_words = list(places)[known[0] :], list(words)[known[1] :]
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


def _ending_at_heads(pda: PushdownAutomaton, ends: set[Head]) -> PushdownAutomaton:
    """Return ``pda`` where words may also end at the heads ``ends``."""
    marker = fresh("⊣", set(pda.input_alphabet))
    done = fresh("end", set(pda.states))
    tops = (pda.bottom, *pda.stack_alphabet)
    everywhere: set[Head] = {*ends, *((state, (top,)) for state, top in product(pda.accepting, tops))}
    steps: dict[Key, Transition] = {(q, marker, top): Transition(done, (NONE,)) for q, top in sorted(everywhere)}
    marked = replace(
        pda,
        states=(*pda.states, done),
        transitions={**pda.transitions, **steps},
        accepting=frozenset({done}),
        end_marker=marker,
    )
    # The simplest that does: of the last, the state shows all that decides acceptance.
    found = drop_end_marker(marked)
    if found is None and all(top == (pda.bottom,) for _, top in everywhere):
        found = drop_end_marker(replace(marked, acceptance="both"))
    found = found or drop_end_marker(with_visible_top(marked))
    assert found is not None
    return found


# ---- An automaton as a JFLAP 7 file (.jff), for teaching tools, and back ----
# The file may be one that stacklens wrote, or hold a deterministic pushdown automaton by others.

HEADING = "stacklens "  # of the comment that holds what JFLAP cannot
JFLAP_BOTTOM = "Z"  # what JFLAP lays on the stack before it starts
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY0123456789"
_UNUSABLE = {JFLAP_BOTTOM, "λ", "ε"}  # JFLAP shows the empty word as one of the latter two

_LARGEST, _DEEPEST = 20_000_000, 50  # characters, and elements in each other: far more than a drawing has
_EMPTY = ("", "λ", "ε")
_Rule = tuple[str, ...]


def to_jflap(pda: PushdownAutomaton) -> str:
    """Return the automaton as JFLAP 7 XML that accepts the same words.

    JFLAP takes every character for a symbol, so a symbol of several characters, or one that JFLAP could not tell from
    something else, becomes one character; a note in the file says which, and a comment that JFLAP skips keeps the
    automaton's own names for `from_jflap`. Where JFLAP asks how to accept, choose "Final State". An empty stack is
    tested by one more state, "accept", entered by reading nothing and popping Z. Where there are ε-steps it is entered,
    too, where a run rests in an accepting state: JFLAP would accept on the way. Raises AutomatonError: several stacks,
    outputs or an end marker, which JFLAP cannot say.

    >>> pda = PushdownAutomaton(states=("q",), input_alphabet=("a",), stack_alphabet=(), initial="q", transitions={})
    >>> to_jflap(pda).splitlines()[1:3]
    ['<structure>', '  <type>pda</type>']
    """
    check_recogniser(pda, "JFLAP's automata")
    # A character for each symbol: itself where it can be, else the first that is free.
    symbols = dict.fromkeys((*pda.input_alphabet, *pda.stack_alphabet))
    kept = {symbol for symbol in symbols if _usable(symbol)}
    free = (c for c in chain(_PLAIN, map(chr, range(0xC0, 0x10000))) if c not in kept and c.isalnum() and _usable(c))
    characters = {symbol: symbol if symbol in kept else next(free) for symbol in symbols}
    structure = ET.Element("structure")
    ET.SubElement(structure, "type").text = "pda"
    automaton = ET.SubElement(structure, "automaton")
    names = list(map(_xml_text, pda.states))
    final = {i for i, state in enumerate(pda.states) if state in _final(pda)}
    if pda.acceptance != "final state" or _tested(pda):
        final.add(len(names))
        names.append("accept")
    for i, name in enumerate(names):
        element = ET.SubElement(automaton, "state", id=str(i), name=name)
        angle, radius = 2 * math.pi * i / len(names), 40 + 30 * len(names)
        ET.SubElement(element, "x").text = f"{radius * (1.2 - math.cos(angle)):.1f}"
        ET.SubElement(element, "y").text = f"{radius * (1.2 - math.sin(angle)):.1f}"
        if i < len(pda.states) and pda.states[i] == pda.initial:
            ET.SubElement(element, "initial")
        if i in final:
            ET.SubElement(element, "final")
    for source, target, read, pop, pushed in _jflap_rules(pda, characters):
        transition = ET.SubElement(automaton, "transition")
        for tag, text in (("from", source), ("to", target), ("read", read), ("pop", pop), ("push", pushed)):
            ET.SubElement(transition, tag).text = text
    changed = [f"{character} is {_xml_text(symbol)}" for symbol, character in characters.items() if symbol != character]
    if changed:
        note = ET.SubElement(automaton, "note")
        ET.SubElement(note, "text").text = "symbols: " + "; ".join(changed)
        ET.SubElement(note, "x").text = ET.SubElement(note, "y").text = "0.0"
    # Two hyphens would end the comment; in JSON they stand in strings only.
    line = to_json_line(pda).replace("-", "\\u002d")
    structure.append(ET.Comment(f" {HEADING}{line} "))
    ET.indent(structure)
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n' + ET.tostring(structure, encoding="unicode") + "\n"
    )


def check_recogniser(pda: PushdownAutomaton, those: str) -> None:
    """Check that ``pda`` has one stack, no outputs and no end marker, as ``those`` automata of others have it."""
    if pda.n_stacks > 1:
        raise AutomatonError(f"{those} have one stack, this one has {pda.n_stacks}; JSON keeps them all")
    if pda.acceptance == "output" or any(step.output is not None for step in pda.transitions.values()):
        raise AutomatonError(f"{those} have no outputs, this one has; JSON keeps them")
    if pda.end_marker is not None:
        raise AutomatonError(
            f"{those} have no end marker, this automaton has {pda.end_marker!r}: try drop_end_marker first"
        )


def _usable(symbol: Symbol) -> bool:
    # JFLAP is Java, which counts what lies beyond U+FFFF as two characters
    one = len(symbol) == 1 and ord(symbol) <= 0xFFFF
    return one and symbol.isprintable() and not symbol.isspace() and symbol not in _UNUSABLE


def _jflap_rules(pda: PushdownAutomaton, characters: dict[Symbol, str]) -> Iterator[tuple[str, str, str, str, str]]:
    number = {state: str(i) for i, state in enumerate(pda.states)}
    named = {**characters, pda.bottom: JFLAP_BOTTOM}
    for (source, symbol, (top,)), step in pda.transitions.items():
        # JFLAP always pops the top, and pushes it back where it stays; the leftmost is the new top.
        (operation,) = step.operations
        pushed = "" if operation.pop else named[top]
        if operation.push is not None:
            pushed = named[operation.push] + pushed
        yield number[source], number[step.target], characters[symbol] if symbol else "", named[top], pushed
    accepts = str(len(number))
    for state, top in _tested(pda):
        yield number[state], accepts, "", named[top], "" if pda.acceptance != "final state" else named[top]


def _tested(pda: PushdownAutomaton) -> list[tuple[State, Symbol]]:
    """Return the heads that lead to the state "accept": those that accept where the state alone does not tell."""
    if pda.acceptance == "final state":
        tops = (pda.bottom, *pda.stack_alphabet)
        heads = [(state, top) for state in pda.states if state in pda.accepting - _final(pda) for top in tops]
    else:
        states = pda.states if pda.acceptance == "empty stack" else [s for s in pda.states if s in pda.accepting]
        heads = [(state, pda.bottom) for state in states]
    return [(state, top) for state, top in heads if (state, EPSILON, (top,)) not in pda.transitions]


def _final(pda: PushdownAutomaton) -> frozenset[State]:  # accepting whatever the top is: no ε-step leads on
    silent = {state for state, symbol, _ in pda.transitions if symbol == EPSILON}
    return pda.accepting - silent if pda.acceptance == "final state" else frozenset()


def _xml_text(text: str) -> str:
    return text if text.isprintable() else json.dumps(text)  # XML has no control characters, so "\n" is spelt out


def from_jflap(text: str) -> PushdownAutomaton:
    """Return the automaton of a JFLAP file, of version 4 to 7, a finite one as one that leaves its stack empty.

    One that `to_jflap` wrote comes back equal, names that JFLAP cannot hold included. If its states or rules have been
    edited since, it is read like any other: by final state, or, where no state is final, by empty stack, and every
    character is a symbol. Raises AutomatonError: not XML, a document type or entities, too large, no pushdown
    automaton, or one that is not deterministic or does not read a symbol in every step (see `textbook`).

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> pda = PushdownAutomaton(("q",), ("(", ")"), ("open",), {
    ...     ("q", "(", ("⊥",)): Transition("q", (push("open"),)), ("q", ")", ("open",)): Transition("q", (POP,))}, "q")
    >>> from_jflap(to_jflap(pda)) == pda
    True
    """
    structure = _xml_elements(text)
    kind = (structure.findtext("type") or "").strip()
    if structure.tag != "structure" or kind not in ("pda", "fa"):
        raise AutomatonError(f"not an automaton of JFLAP: expected <type>pda</type> or fa, found {kind or 'none'!r}")
    # what stacklens noted in a comment, unless states or rules have changed since
    notes = [(part.text or "").strip() for part in structure.iter(ET.Comment)]  # type: ignore[arg-type]
    if ours := [note[len(HEADING) :] for note in notes if note.startswith(HEADING)]:
        pda = from_json(ours[0])
        if _states_and_rules(_xml_elements(to_jflap(pda))) == _states_and_rules(structure):
            return pda
    names, taken = dict[str, str](), set[str]()
    for state in structure.iter("state"):
        number = _attribute(state, "id")
        name = state.get("name") or f"q{number}"
        names[number] = name if name not in taken else f"{name} ({number})"
        taken.add(names[number])
    marked = {
        tag: [names[_attribute(state, "id")] for state in structure.iter("state") if state.find(tag) is not None]
        for tag in ("initial", "final")
    }
    if len(marked["initial"]) != 1:
        raise AutomatonError(f"{len(marked['initial'])} initial states, expected one")
    return from_textbook(
        TextbookAutomaton(
            states=tuple(names.values()),
            initial=marked["initial"][0],
            final=frozenset(marked["final"]),
            start=JFLAP_BOTTOM,
            rules=tuple(_rule(fields, names) for fields in _rules_read(structure)),
            accepts_empty=not marked["final"] and kind == "pda",
        )
    )


class _Builder(ET.TreeBuilder):
    """Keeps comments, and refuses what a harmless file does not have."""

    def __init__(self) -> None:
        super().__init__(insert_comments=True)
        self.depth = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise AutomatonError("a document type or entities: JFLAP writes none, so this file is not read")

    def start(self, tag: str, attrs: dict[str, str], /) -> ET.Element:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise AutomatonError(f"more than {_DEEPEST} elements in each other: not a file of JFLAP's")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ET.Element:
        self.depth -= 1
        return super().end(tag)


def _xml_elements(text: str) -> ET.Element:
    if len(text) > _LARGEST:
        raise AutomatonError(f"{len(text):,} characters: expected {_LARGEST:,} at most")
    parser = ET.XMLParser(target=_Builder())
    try:
        parser.feed(text)
        structure: ET.Element = parser.close()
    except (ET.ParseError, ValueError, LookupError) as error:
        raise AutomatonError(f"not XML: {error}") from None
    return structure


def _states_and_rules(structure: ET.Element) -> tuple[list[_Rule], list[_Rule]]:
    """Return the states and the rules: all that counts, and not where a state is drawn."""
    states = [
        (_attribute(state, "id"), state.get("name", ""), *(p.tag for p in state if p.tag in ("initial", "final")))
        for state in structure.iter("state")
    ]
    return sorted(states), sorted(_rules_read(structure))


def _rules_read(structure: ET.Element) -> Iterator[_Rule]:
    for transition in structure.iter("transition"):
        yield tuple((transition.findtext(tag) or "").strip() for tag in ("from", "to", "read", "pop", "push"))


def _rule(fields: _Rule, names: dict[str, str]) -> TextbookRule:
    source, target, *parts = fields
    if missing := [state for state in (source, target) if state not in names]:
        raise AutomatonError(f"a rule from {source!r} to {target!r}: there is no state {min(missing)!r}")
    read, pop, put = ("" if part in _EMPTY else part for part in parts)
    rule = TextbookRule(names[source], read, tuple(pop), names[target], tuple(put))
    if len(read) > 1:
        raise AutomatonError(f"{rule} reads {len(read)} symbols; expected one a step")
    return rule


def _attribute(state: ET.Element, name: str) -> str:
    value = state.get(name)
    if value is None:
        raise AutomatonError(f"a state without {name}")
    return value
