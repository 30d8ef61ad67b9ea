"""An automaton as a JFLAP 7 file (.jff), for teaching tools; `from_jflap` reads it."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import chain

from stacklens.automata.formats.json import to_json_line
from stacklens.automata.pda import PushdownAutomaton, StackOp, Symbol
from stacklens.errors import AutomatonError

__all__ = ["BOTTOM", "HEADING", "to_jflap"]

HEADING = "stacklens "  # of the comment that holds what JFLAP cannot
BOTTOM = "Z"  # what JFLAP lays on the stack before it starts
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY0123456789"
_UNUSABLE = {BOTTOM, "λ", "ε"}  # JFLAP shows the empty word as one of the latter two


def to_jflap(pda: PushdownAutomaton) -> str:
    """Return the automaton as JFLAP 7 XML that accepts the same words.

    JFLAP takes every character for a symbol, so a symbol of several characters, or one that JFLAP could not tell from
    something else, becomes one character; a note in the file says which, and a comment that JFLAP skips keeps the
    automaton's own names for `from_jflap`. Where JFLAP asks how to accept, choose "Final
    State". An empty stack is tested by one more state, "accept", entered by reading nothing and popping Z.

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
    named = {**characters, pda.bottom: BOTTOM}
    for (source, symbol, (top,)), step in pda.transitions.items():
        pushed = _pushed(step.operations[0], named, named[top])
        yield number[source], number[step.target], characters[symbol], named[top], pushed
    if pda.acceptance != "final state":
        tested = pda.states if pda.acceptance == "empty stack" else [s for s in pda.states if s in pda.accepting]
        for state in tested:
            yield number[state], str(len(number)), "", BOTTOM, ""


def _pushed(operation: StackOp, named: dict[Symbol, str], top: str) -> str:
    """Return what JFLAP pushes after it has popped the top, as it always does; the leftmost is the new top."""
    kept = "" if operation.pop else top
    return kept if operation.push is None else named[operation.push] + kept


def _add_states(automaton: ET.Element, pda: PushdownAutomaton) -> None:
    names = list(map(_xml_text, pda.states))
    final = {i for i, state in enumerate(pda.states) if state in pda.accepting}
    if pda.acceptance != "final state":
        final = {len(names)}
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
