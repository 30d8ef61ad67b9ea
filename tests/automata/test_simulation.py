from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.automata.strategies import dyck, palindromes, plain_accepts, plain_outputs, pushdown_automata, words_of

from stacklens.automata.compiled import compile_tables
from stacklens.automata.pda import NONE, POP, PushdownAutomaton, Transition, push
from stacklens.automata.simulation import accepts_many, first_rejection, greatest_heights, transduce_many
from stacklens.errors import AutomatonError, UnknownSymbolError


@given(st.data())
def test_accepts_what_the_definition_and_the_automaton_accept(data: st.DataObject) -> None:
    pda = data.draw(pushdown_automata())
    words = data.draw(words_of(pda))
    accepted = accepts_many(pda, words).tolist()
    assert accepted == [plain_accepts(pda, word) for word in words]
    assert accepted == [pda.accepts(word) for word in words]


@given(st.data())
def test_outputs_and_cuts_are_those_of_the_definition(data: st.DataObject) -> None:
    pda = data.draw(pushdown_automata())
    words = data.draw(words_of(pda))
    rows, cuts = transduce_many(pda, words), first_rejection(pda, words)
    outputs = compile_tables(pda).outputs
    assert rows.shape == (len(words), max(map(len, words), default=0) + (pda.end_marker is not None))
    for word, row, cut in zip(words, rows, cuts, strict=True):
        expected, state, _ = plain_outputs(pda, word)
        assert [outputs[i] for i in row[: len(expected)]] == expected
        assert (row[len(expected) :] == -1).all()
        assert cut == (len(expected) if state is None else -1)


@given(st.data())
def test_heights_are_those_of_the_run(data: st.DataObject) -> None:
    pda = data.draw(pushdown_automata())
    words = data.draw(words_of(pda))
    expected = [max(len(stack) for at in pda.run(word) for stack in at.stacks) for word in words]
    assert greatest_heights(pda, words).tolist() == expected


def test_deep_and_long_words_among_short_ones() -> None:
    pda = dyck([("(", ")")])
    deep = "(" * 5_000 + ")" * 5_000
    words = ["", deep, "()", deep[1:], deep[:-1], "(" * 40 + ")" * 40, deep[:5_000] + ")(" * 2_500 + deep[5_000:]]
    assert accepts_many(pda, words).tolist() == [True, True, True, False, False, True, True]
    assert first_rejection(pda, words).tolist() == [-1, -1, -1, 9_998, -1, -1, -1]


def test_two_stacks_count_three_letters() -> None:
    same, first, second = (NONE, NONE), (push("x"), NONE), (POP, push("x"))
    anbncn = PushdownAutomaton(
        ("a", "b", "c"),
        ("a", "b", "c"),
        ("x",),
        {
            ("a", "a", ("⊥", "⊥")): Transition("a", first),
            ("a", "a", ("x", "⊥")): Transition("a", first),
            ("a", "b", ("x", "⊥")): Transition("b", second),
            ("b", "b", ("x", "x")): Transition("b", second),
            ("b", "c", ("⊥", "x")): Transition("c", (NONE, POP)),
            ("c", "c", ("⊥", "x")): Transition("c", (NONE, POP)),
            ("c", "c", ("x", "x")): Transition("c", same),  # never reached
        },
        "a",
        acceptance="empty stack",
        n_stacks=2,
    )
    words = ["".join(word) for length in range(10) for word in product("abc", repeat=length)]
    accepted = accepts_many(anbncn, words)
    assert [words[i] for i in np.flatnonzero(accepted)] == ["", "abc", "aabbcc", "aaabbbccc"]


def test_unknown_symbols_and_bad_arrays_are_refused() -> None:
    pda = palindromes()
    with pytest.raises(UnknownSymbolError, match="symbol 'x' is not in the alphabet a b c"):
        accepts_many(pda, ["aca", "axa"])
    with pytest.raises(UnknownSymbolError, match="'number 3' is not in the alphabet"):
        accepts_many(pda, np.array([[0, 3]]))
    with pytest.raises(AutomatonError, match="padded with -1, on the right only"):
        accepts_many(pda, np.array([[0, -1, 1]]))
    with pytest.raises(AutomatonError, match="padded with -1"):
        accepts_many(pda, np.array([[0, -2]]))
    with pytest.raises(AutomatonError, match=r"of shape \(2,\), expected integers \(N, T\)"):
        accepts_many(pda, np.array([0, 1]))
    with pytest.raises(AutomatonError, match="encoded words are float64"):
        accepts_many(pda, np.zeros((1, 2)))  # type: ignore[arg-type]
