"""The state shows the top: the same words, outputs that know the new top, predictors that know what is live."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.strategies import pushdown_automata

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.automata.rewriting import predictor_of, with_visible_top
from stacklens.errors import AutomatonError
from stacklens.languages import get_language

NAMES = ["parentheses", "dyck-2", "dyck-3", "palindrome", "1n0n"]


def words(alphabet: tuple[str, ...], longest: int) -> list[Word]:
    return [word for length in range(longest + 1) for word in product(alphabet, repeat=length)]


@settings(max_examples=150)
@given(st.data())
def test_the_same_words_and_outputs(data: st.DataObject) -> None:
    pda = data.draw(pushdown_automata(max_stacks=1))
    shown = with_visible_top(pda)
    assert shown.acceptance == ("output" if pda.acceptance == "output" else "final state")
    for word in words(pda.input_alphabet, 4):
        assert shown.accepts(word) == pda.accepts(word), word
        expected, found = list(pda.run(word)), list(shown.run(word))
        assert [moment.output for moment in found] == [moment.output for moment in expected]
        tops = [moment.tops(pda.bottom)[0] for moment in expected]
        assert [moment.state for moment in found] == [
            f"({moment.state}, {top})" for moment, top in zip(expected, tops, strict=True)
        ]
        assert [moment.stacks[0] for moment in found] == [moment.stacks[0][:-1] for moment in expected]


@pytest.mark.parametrize("name", NAMES)
def test_predicted_symbols_are_the_live_ones(name: str) -> None:
    language = get_language(name)
    predictor = predictor_of(language.automaton)
    with_end = predictor_of(language.automaton, end="⊣")
    for word in words(language.alphabet, 6 if len(language.alphabet) < 4 else 5):
        assert predictor.accepts(word) == (word in language)
        if language.is_live(word):
            live = tuple(symbol for symbol in language.alphabet if language.is_live((*word, symbol)))
            assert list(predictor.run(word))[-1].output == live, word
            assert list(with_end.run(word))[-1].output == live + ("⊣",) * (word in language), word


def test_what_has_no_visible_top_is_refused() -> None:
    two = PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2)
    with pytest.raises(AutomatonError, match="for one stack, this automaton has 2"):
        with_visible_top(two)
    final = PushdownAutomaton(("q",), ("a",), (), {}, "q", acceptance="final state")
    with pytest.raises(AutomatonError, match='acceptance "both" and no end marker, not "final state"'):
        predictor_of(final)
    marked = PushdownAutomaton(("q",), ("a",), (), {}, "q", end_marker="$")
    with pytest.raises(AutomatonError, match="and the end marker '\\$'"):
        predictor_of(marked)
