from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.automata.strategies import pushdown_automata

from stacklens.automata.compiled import compile_tables, decode_word, encode_words
from stacklens.automata.pda import NONE, PushdownAutomaton, Transition


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
    assert [decode_word(row, alphabet) for row in codes] == words
