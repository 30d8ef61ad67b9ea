"""An automaton from a JFLAP file (.jff): one that stacklens wrote, or a deterministic pushdown automaton by others."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from stacklens.automata.formats.jflap import BOTTOM, HEADING, to_jflap
from stacklens.automata.formats.json import from_json
from stacklens.automata.formats.textbook import Rule, TextbookAutomaton, from_textbook
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import AutomatonError

__all__ = ["from_jflap"]

_LARGEST, _DEEPEST = 20_000_000, 50  # characters, and elements in each other: far more than a drawing has
_EMPTY = ("", "λ", "ε")
_Rule = tuple[str, ...]


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
    return sorted(states), sorted(_rules(structure))


def _rules(structure: ET.Element) -> Iterator[_Rule]:
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
        start=BOTTOM,
        rules=tuple(_rule(fields, names) for fields in _rules(structure)),
        accepts_empty=not marked["final"],
    )


def _rule(fields: _Rule, names: dict[str, str]) -> Rule:
    source, target, *parts = fields
    if missing := [state for state in (source, target) if state not in names]:
        raise AutomatonError(f"a rule from {source!r} to {target!r}: there is no state {min(missing)!r}")
    read, pop, put = ("" if part in _EMPTY else part for part in parts)
    rule = Rule(names[source], read, tuple(pop), names[target], tuple(put))
    if len(read) > 1:
        raise AutomatonError(f"{rule} reads {len(read)} symbols; expected one a step")
    return rule


def _attribute(state: ET.Element, name: str) -> str:
    value = state.get(name)
    if value is None:
        raise AutomatonError(f"a state without {name}")
    return value
