from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from stacklens.automata.formats import render, to_dot
from stacklens.automata.pda import NONE, POP, PushdownAutomaton, StackOp, Transition, push
from stacklens.automata.pda import replace as put

AWKWARD = [
    '"',
    "\\",
    "{",
    "}",
    "<",
    ">",
    "|",
    "ε",
    "⊤",
    "a b",
    "&",
    "&lt;",
    "\\N",
    "\\n",
    '\\"',
    "<b>",
    "-->",
    "[x]",
    "#",
]


def one_rule(
    letter: str = "a", symbol: str = "x", operation: StackOp | None = None, state: str = "q", **options: object
) -> PushdownAutomaton:
    rule = Transition(state, (operation or push(symbol),))
    names = {"states": (state,), "initial": state, "input_alphabet": (letter,), "stack_alphabet": (symbol,)}
    return PushdownAutomaton(**names, transitions={(state, letter, ("⊥",)): rule}, **options)  # type: ignore[arg-type]


def drawn_texts(dot: str) -> list[str]:
    """Return the lines of text in the SVG that Graphviz draws, as a reader sees them."""
    svg = ET.fromstring(render(dot, "svg"))
    return ["".join(text.itertext()).replace("\xa0", " ") for text in svg.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("symbol", AWKWARD)
def test_awkward_symbols_are_drawn_as_they_are(symbol: str) -> None:
    texts = drawn_texts(to_dot(one_rule(symbol, symbol, state=symbol), title=symbol))
    assert {symbol, f"{symbol}, ⊥ → push {symbol}"} <= set(texts)
    assert texts.count(symbol) == 2  # the title and the state


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("\n", "␊"),
        ("a\nb", "a␊b"),
        (" ", "␣"),
        ("  ", "␣␣"),
        ("\x00", "␀"),
        ("\x7f", "␡"),
        ("\ud800", "U+D800"),
        ("\x85", "U+0085"),
    ],
)
def test_symbols_that_cannot_be_seen_are_drawn_by_a_picture(symbol: str, shown: str) -> None:
    assert f"{shown}, ⊥ → push {shown}" in drawn_texts(to_dot(one_rule(symbol, symbol)))


def test_every_rule_is_a_line_and_rules_of_the_same_states_share_an_edge() -> None:
    pda = PushdownAutomaton(
        states=("p", "q"),
        input_alphabet=("b", "a"),
        stack_alphabet=("x", "y"),
        initial="p",
        accepting=frozenset({"q"}),
        transitions={
            ("p", "a", ("x",)): Transition("q", (POP,)),
            ("p", "a", ("⊥",)): Transition("q", (push("x"),)),
            ("p", "b", ("x",)): Transition("q", (put("y"),)),
            ("q", "b", ("x",)): Transition("p", (NONE,)),
        },
    )
    assert 'n0 -> n1 [label="b, x → replace y\\na, ⊥ → push x\\na, x → pop"]' in to_dot(pda)
    texts = drawn_texts(to_dot(pda))
    assert {"b, x → replace y", "a, ⊥ → push x", "a, x → pop", "b, x → none"} <= set(texts)
    assert to_dot(pda).count("->") == 3  # one of them from nowhere to the initial state


@pytest.mark.parametrize("acceptance", ["final state", "empty stack", "both", "output"])
def test_only_where_states_accept_a_circle_is_double(acceptance: str) -> None:
    dot = to_dot(one_rule(accepting=frozenset({"q"}), acceptance=acceptance, accepting_outputs=frozenset({"1", None})))
    assert ("doublecircle" in dot) == (acceptance in ("final state", "both"))
    caption = {
        "final state": "accepting state",
        "both": "accepting state and empty stack",
        "empty stack": "empty stack",
    }
    assert f"accepts: {caption.get(acceptance, 'last output 1 or none; the empty word')}" in drawn_texts(dot)


def test_outputs_stacks_and_the_end_marker_are_said() -> None:
    pda = PushdownAutomaton(
        states=("q",),
        input_alphabet=("a",),
        stack_alphabet=("x",),
        initial="q",
        n_stacks=2,
        end_marker="$",
        transitions={
            ("q", "a", ("⊥", "x")): Transition("q", (push("x"), POP), ("a", "$")),
            ("q", "$", ("⊥", "⊥")): Transition("q", (NONE, NONE), "yes"),
        },
    )
    texts = drawn_texts(to_dot(pda))
    assert "a, (⊥, x) → (push x, pop) / {a, $}" in texts
    assert "$, (⊥, ⊥) → (none, none) / yes" in texts
    assert {"accepts: accepting state and empty stacks", "end marker: $"} <= set(texts)


def test_an_arrow_from_nowhere_marks_the_initial_state_of_a_drawing_from_left_to_right() -> None:
    dot = to_dot(one_rule())
    assert "rankdir=LR" in dot
    assert re.search(r"start -> n0$", dot, re.MULTILINE)
