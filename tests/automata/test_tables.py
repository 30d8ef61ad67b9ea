from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.automata.strategies import pushdown_automata

from stacklens.automata.compiled import compile_tables, encode_words
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, push, replace
from stacklens.errors import UnknownSymbolError


@given(pushdown_automata())
def test_every_transition_and_nothing_else_is_in_the_tables(pda: PushdownAutomaton) -> None:
    tables = compile_tables(pda)
    tops = (pda.bottom, *pda.stack_alphabet)
    found = {}
    for q, x, head in np.argwhere(tables.target >= 0):
        key = tuple(tops[head // place % len(tops)] for place in tables.place)
        operations = tuple(
            (bool(pop), tops[pushed] if pushed else None)
            for pop, pushed in zip(tables.pop[q, x, head], tables.push[q, x, head], strict=True)
        )
        found[pda.states[q], pda.letters[x], key] = (
            pda.states[tables.target[q, x, head]],
            operations,
            tables.outputs[tables.output[q, x, head]],
        )
    assert found == {
        key: (step.target, tuple((operation.pop, operation.push) for operation in step.operations), step.output)
        for key, step in pda.transitions.items()
    }


def test_the_first_stack_is_the_most_significant_digit_of_a_head() -> None:
    step = Transition("q", (POP, replace("y")))
    pda = PushdownAutomaton(("q",), ("a",), ("x", "y"), {("q", "a", ("y", "x")): step}, "q", n_stacks=2)
    tables = compile_tables(pda)
    assert np.argwhere(tables.target >= 0).tolist() == [[0, 0, 2 * 3 + 1]]
    assert tables.pop[0, 0, 7].tolist() == [True, True]
    assert tables.push[0, 0, 7].tolist() == [0, 2]


def test_the_end_marker_is_the_last_letter_and_the_initial_output_the_first_output() -> None:
    steps: dict[Key, Transition] = {("q", "$", ("⊥",)): Transition("q", (push("x"),), "yes")}
    pda = PushdownAutomaton(
        ("q",),
        ("a", "b"),
        ("x",),
        steps,
        "q",
        end_marker="$",
        initial_output="no",
        accepting_outputs=frozenset({"yes"}),
    )
    tables = compile_tables(pda)
    assert tables.end == 2
    assert tables.outputs == ("no", "yes")
    assert tables.accepting_outputs.tolist() == [False, True]


def test_tables_are_compiled_once_and_cannot_be_written() -> None:
    def build() -> PushdownAutomaton:
        return PushdownAutomaton(("q",), ("a",), (), {("q", "a", ("⊥",)): Transition("q", (NONE,))}, "q")

    assert compile_tables(build()) is compile_tables(build())
    with pytest.raises(ValueError, match="read-only"):
        compile_tables(build()).target[0] = 0


@pytest.mark.parametrize("alphabet", [("a", "b", "é"), ("'", '"', "\\"), ("⊥", "𝔸", "\ud800"), ("<s>", "a", "'a'")])
@given(data=st.data())
def test_words_survive_encoding(alphabet: tuple[str, ...], data: st.DataObject) -> None:
    words = data.draw(st.lists(st.lists(st.sampled_from(alphabet)).map(tuple)))
    codes, lengths = encode_words(words, alphabet)
    assert lengths.tolist() == [len(word) for word in words]
    assert codes.shape == (len(words), max(map(len, words), default=0))
    assert [tuple(alphabet[code] for code in row if code >= 0) for row in codes] == words


@given(st.lists(st.text("abc")))
def test_text_and_tuples_of_characters_encode_alike(words: list[str]) -> None:
    codes, lengths = encode_words(words, ("c", "a", "b"))
    other_codes, other_lengths = encode_words([tuple(word) for word in words], ("c", "a", "b"))
    assert codes.tolist() == other_codes.tolist()
    assert lengths.tolist() == other_lengths.tolist()


@pytest.mark.parametrize(
    ("words", "alphabet", "symbol"),
    [
        (["ab", "axb", "y"], ("a", "b"), "x"),
        ([("a", "b"), ("ab",)], ("a", "b"), "ab"),
        (["<s>"], ("<s>", "a"), "<"),
        (["a𝔸"], ("a",), "𝔸"),
        (["a"], (), "a"),
    ],
)
def test_the_first_unknown_symbol_is_named(words: list[str], alphabet: tuple[str, ...], symbol: str) -> None:
    with pytest.raises(UnknownSymbolError, match=f"symbol '{symbol}' is not in the alphabet") as caught:
        encode_words(words, alphabet)
    assert caught.value.symbol == symbol
