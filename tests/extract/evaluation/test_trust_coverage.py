"""Which transitions words take, against plain runs."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from tests.automata.strategies import dyck, pushdown_automata, words_of

from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.evaluation.trust import coverage_table, covered


def taken(pda: PushdownAutomaton, word: tuple[str, ...]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the keys of the transitions of a run, from its configurations."""
    letters = [*word, *([] if pda.end_marker is None else [pda.end_marker])]
    before = [(one.state, tuple(stack[-1] if stack else pda.bottom for stack in one.stacks)) for one in pda.run(word)]
    return [(state, letter, tops) for (state, tops), letter in zip(before[:-1], letters, strict=False)]


@given(data=st.data(), pda=pushdown_automata())
def test_each_transition_is_counted_once_a_word(data: st.DataObject, pda: PushdownAutomaton) -> None:
    words = data.draw(words_of(pda))
    counts = Counter(key for word in words for key in set(taken(pda, word)))
    table = coverage_table(pda, words)
    assert table["taken by"].tolist() == [counts[key] for key in pda.transitions]
    for key, shortest in zip(pda.transitions, table["shortest word"], strict=True):
        takers = [word for word in words if key in taken(pda, word)]
        least = min(map(len, takers), default=0)
        assert shortest in {" ".join(word) for word in takers if len(word) == least} or not takers
    singles, pairs = covered(pda, words)
    assert singles == len(counts)
    assert pairs == len({pair for word in words for pair in zip(taken(pda, word), taken(pda, word)[1:], strict=False)})


def test_a_table_says_what_each_transition_does_and_a_word_for_it() -> None:
    table = coverage_table(dyck([("(", ")")])).to_dict("records")
    assert [(row["input"], row["top"], row["operation"]) for row in table] == [
        (")", "(", "pop"),
        ("(", "⊥", "push ("),
        ("(", "(", "push ("),
    ]
    assert [row["shortest word"] for row in table] == ["()", "()", "(())"]
