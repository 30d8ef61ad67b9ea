"""An automaton as a JFLAP 7 file (.jff), for teaching tools, and back.

What is read may be one that stacklens wrote, or a deterministic pushdown automaton by others.
"""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import chain

from stacklens.automata.formats.json import from_json, to_json_line
from stacklens.automata.formats.textbook import TextbookAutomaton, TextbookRule, from_textbook
from stacklens.automata.pda import EPSILON, PushdownAutomaton, StackOp, State, Symbol
from stacklens.errors import AutomatonError

__all__ = ["HEADING", "JFLAP_BOTTOM", "from_jflap", "to_jflap"]

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
    automaton's own names for `from_jflap`. Where JFLAP asks how to accept, choose "Final
    State". An empty stack is tested by one more state, "accept", entered by reading nothing and popping Z. Where there
    are ε-steps it is entered, too, where a run rests in an accepting state: JFLAP would accept on the way.

    Raises:
        AutomatonError: several stacks, outputs or an end marker, which JFLAP cannot say.

    >>> pda = PushdownAutomaton(states=("q",), input_alphabet=("a",), stack_alphabet=(), initial="q", transitions={})
    >>> to_jflap(pda).splitlines()[1:3]
    ['<structure>', '  <type>pda</type>']
    """
    _check(pda)
    characters = _characters(pda)
    structure = ET.Element("structure")
    ET.SubElement(structure, "type").text = "pda"
    automaton = ET.SubElement(structure, "automaton")
    _add_states(automaton, pda)
    for source, target, read, pop, push in _rules(pda, characters):
        transition = ET.SubElement(automaton, "transition")
        for tag, text in (("from", source), ("to", target), ("read", read), ("pop", pop), ("push", push)):
            ET.SubElement(transition, tag).text = text
    _add_note(automaton, characters)
    structure.append(ET.Comment(f" {HEADING}{_commented(to_json_line(pda))} "))
    ET.indent(structure)
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n' + ET.tostring(structure, encoding="unicode") + "\n"
    )


def _check(pda: PushdownAutomaton) -> None:
    if pda.n_stacks > 1:
        raise AutomatonError(f"JFLAP's automata have one stack, this one has {pda.n_stacks}")
    if pda.acceptance == "output" or any(step.output is not None for step in pda.transitions.values()):
        raise AutomatonError("JFLAP's pushdown automata have no outputs, this one has; write .json instead")
    if pda.end_marker is not None:
        raise AutomatonError(
            f"JFLAP has no end marker, this automaton has {pda.end_marker!r}: try drop_end_marker first"
        )


def _characters(pda: PushdownAutomaton) -> dict[Symbol, str]:
    """Return a character for each symbol: itself where it can be, else the first that is free."""
    symbols = dict.fromkeys((*pda.input_alphabet, *pda.stack_alphabet))
    kept = {symbol for symbol in symbols if _usable(symbol)}
    free = (c for c in chain(_PLAIN, map(chr, range(0xC0, 0x10000))) if c not in kept and c.isalnum() and _usable(c))
    return {symbol: symbol if symbol in kept else next(free) for symbol in symbols}


def _usable(symbol: Symbol) -> bool:
    # JFLAP is Java, which counts what lies beyond U+FFFF as two characters
    one = len(symbol) == 1 and ord(symbol) <= 0xFFFF
    return one and symbol.isprintable() and not symbol.isspace() and symbol not in _UNUSABLE


def _rules(pda: PushdownAutomaton, characters: dict[Symbol, str]) -> Iterator[tuple[str, str, str, str, str]]:
    number = {state: str(i) for i, state in enumerate(pda.states)}
    named = {**characters, pda.bottom: JFLAP_BOTTOM}
    for (source, symbol, (top,)), step in pda.transitions.items():
        pushed = _pushed(step.operations[0], named, named[top])
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


def _final(pda: PushdownAutomaton) -> frozenset[State]:
    """Return the states in which a run accepts whatever the top is; there an ε-step never leads on."""
    silent = {state for state, symbol, _ in pda.transitions if symbol == EPSILON}
    return pda.accepting - silent if pda.acceptance == "final state" else frozenset()


def _pushed(operation: StackOp, named: dict[Symbol, str], top: str) -> str:
    """Return what JFLAP pushes after it has popped the top, as it always does; the leftmost is the new top."""
    kept = "" if operation.pop else top
    return kept if operation.push is None else named[operation.push] + kept


def _add_states(automaton: ET.Element, pda: PushdownAutomaton) -> None:
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


def _add_note(automaton: ET.Element, characters: dict[Symbol, str]) -> None:
    changed = [f"{character} is {_xml_text(symbol)}" for symbol, character in characters.items() if symbol != character]
    if changed:
        note = ET.SubElement(automaton, "note")
        ET.SubElement(note, "text").text = "symbols: " + "; ".join(changed)
        ET.SubElement(note, "x").text = ET.SubElement(note, "y").text = "0.0"


def _commented(line: str) -> str:
    return line.replace("-", "\\u002d")  # two hyphens would end the comment; in JSON they stand in strings only


def _xml_text(text: str) -> str:
    return text if text.isprintable() else json.dumps(text)  # XML has no control characters, so "\n" is spelt out


def from_jflap(text: str) -> PushdownAutomaton:
    """Return the automaton of a JFLAP file, of version 4 to 7.

    One that `to_jflap` wrote comes back equal, names that JFLAP cannot hold included. If its states or rules have been
    edited since, it is read like any other: by final state, or, where no state is final, by empty stack, and every
    character is a symbol.

    Raises:
        AutomatonError: not XML, a document type or entities, too large, no pushdown automaton, or one that is not
            deterministic or does not read a symbol in every step (see `textbook`).

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> pda = PushdownAutomaton(("q",), ("(", ")"), ("open",), {
    ...     ("q", "(", ("⊥",)): Transition("q", (push("open"),)), ("q", ")", ("open",)): Transition("q", (POP,))}, "q")
    >>> from_jflap(to_jflap(pda)) == pda
    True
    """
    structure = _parsed(text)
    kind = (structure.findtext("type") or "").strip()
    if structure.tag != "structure" or kind != "pda":
        raise AutomatonError(f"not a pushdown automaton of JFLAP: expected <type>pda</type>, found {kind or 'none'!r}")
    kept = _kept(structure)
    return from_textbook(_textbook(structure)) if kept is None else kept


class _Builder(ET.TreeBuilder):
    """Keeps comments, and refuses what a harmless file does not have."""

    def __init__(self) -> None:
        super().__init__(insert_comments=True)
        self.depth = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        del name, pubid, system
        raise AutomatonError("a document type or entities: JFLAP writes none, so this file is not read")

    def start(self, tag: str, attrs: dict[str, str], /) -> ET.Element:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise AutomatonError(f"more than {_DEEPEST} elements in each other: not a file of JFLAP's")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ET.Element:
        self.depth -= 1
        return super().end(tag)


def _parsed(text: str) -> ET.Element:
    if len(text) > _LARGEST:
        raise AutomatonError(f"{len(text):,} characters: expected {_LARGEST:,} at most")
    parser = ET.XMLParser(target=_Builder())
    try:
        parser.feed(text)
        structure: ET.Element = parser.close()
    except (ET.ParseError, ValueError, LookupError) as error:
        raise AutomatonError(f"not XML: {error}") from None
    return structure


def _kept(structure: ET.Element) -> PushdownAutomaton | None:
    """Return the automaton that stacklens noted in a comment, None where there is none or the rules have changed."""
    notes = [part.text or "" for part in structure.iter(ET.Comment)]  # type: ignore[arg-type]
    ours = next((note.strip()[len(HEADING) :] for note in notes if note.strip().startswith(HEADING)), None)
    if ours is None:
        return None
    pda = from_json(ours)
    return pda if _content(_parsed(to_jflap(pda))) == _content(structure) else None


def _content(structure: ET.Element) -> tuple[list[_Rule], list[_Rule]]:
    """Return the states and the rules: all that counts, and not where a state is drawn."""
    states = [
        (
            _attribute(state, "id"),
            state.get("name", ""),
            *(part.tag for part in state if part.tag in ("initial", "final")),
        )
        for state in structure.iter("state")
    ]
    return sorted(states), sorted(_rules_read(structure))


def _rules_read(structure: ET.Element) -> Iterator[_Rule]:
    for transition in structure.iter("transition"):
        yield tuple((transition.findtext(tag) or "").strip() for tag in ("from", "to", "read", "pop", "push"))


def _textbook(structure: ET.Element) -> TextbookAutomaton:
    names: dict[str, str] = {}
    taken: set[str] = set()
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
    return TextbookAutomaton(
        states=tuple(names.values()),
        initial=marked["initial"][0],
        final=frozenset(marked["final"]),
        start=JFLAP_BOTTOM,
        rules=tuple(_rule(fields, names) for fields in _rules_read(structure)),
        accepts_empty=not marked["final"],
    )


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
