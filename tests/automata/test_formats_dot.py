from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from stacklens.automata.formats import render, to_dot
from stacklens.automata.pda import NONE, POP, PushdownAutomaton, StackOp, Transition, push

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
