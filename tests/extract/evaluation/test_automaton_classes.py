"""Which automata of a sweep are the same, against all short words, and when the last one settles."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.strategies import plain_accepts, plain_outputs, pushdown_automata

from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.evaluation.sweep import SweepRow, classes_of, settling_of


def row(pda: PushdownAutomaton | None, proof: str | None = None, updates: int | None = None) -> SweepRow:
    text = None if pda is None else to_json(pda)
    return SweepRow("x.pt", "dyck-2", 0, automaton=text, proof=proof, updates=updates)


def renamed(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the same automaton with states of other names, and one more that nothing leads to."""
    names = {state: f"r{number}" for number, state in enumerate(pda.states)}
    rules = {
        (names[state], letter, tops): replace(step, target=names[step.target])
        for (state, letter, tops), step in pda.transitions.items()
    }
    return replace(
        pda,
        states=(*names.values(), "lonely"),
        transitions=rules,
        initial=names[pda.initial],
        accepting=frozenset(names[state] for state in pda.accepting),
    )


def parting(one: PushdownAutomaton, other: PushdownAutomaton, length: int) -> object:
    """Return a word on which two automata differ, None for none: where outputs are symbols, where both say some."""
    partly = any(isinstance(step.output, str) for step in one.transitions.values())
    for word in (word for n in range(length + 1) for word in product(one.input_alphabet, repeat=n)):
        said, told = (plain_outputs(pda, word)[0][: len(word)] for pda in (one, other))  # not that of an end marker
        if partly:
            if any(a != b for a, b in zip(said, told, strict=False) if a is not None and b is not None):
                return word
        elif (plain_accepts(one, word), said) != (plain_accepts(other, word), told):
            return word
    return None


ONE_STACK = pushdown_automata(max_stacks=1, acceptances=("final state",))


@settings(max_examples=40)
@given(ONE_STACK, ONE_STACK)
def test_automata_of_one_class_do_the_same_on_all_short_words(one: PushdownAutomaton, other: PushdownAutomaton) -> None:
    first, second, third, nothing = classes_of([row(one), row(other), row(renamed(one)), row(None)])
    assert (first, nothing) == (1, None)
    assert third == first  # renaming changes nothing
    if second == first:
        assert parting(other, one, 4) is None


@given(st.lists(st.sampled_from([None, 1, 2, 3]), min_size=2, max_size=8))
def test_settling_is_the_beginning_of_the_last_run(classes: list[int | None]) -> None:
    rows = [SweepRow("x.pt", None, 0, updates=10 * place) for place in range(len(classes))]
    found = settling_of(rows, classes)
    if classes[-1] is None:
        assert found is None
        return
    since = max(n for n in range(len(classes)) if n == 0 or any(one != classes[-1] for one in classes[n - 1 : n]))
    assert found is not None
    assert all(one == classes[-1] for one in classes[since:])
    assert (found.appears, found.settles) == (10 * classes.index(classes[-1]), 10 * since)
    assert found.before == (10 * (since - 1) if since else None)
    assert found.classes == len({one for one in classes if one is not None})
