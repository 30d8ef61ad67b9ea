"""Equality with a task means the same acceptance, outputs and cuts on every word of a domain that is named."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from stacklens.automata.compare import Different, Equal, compare
from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition
from stacklens.extract.specification import TaskSpecification
from stacklens.languages.catalogue import get_task

SETS = ("dyck-1", "dyck-2", "homomorphic-palindrome", "homomorphic-palindrome-nonempty", "simple-palindrome-nonempty")
STREAMS = ("anbn", "anb2n", "anbmcnm", "memorization", "reversal")


@cache
def specification(name: str) -> PushdownAutomaton:
    found = get_task(name).reference
    assert found is not None
    return found


def going_on(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton that goes on for ever, and accepts nothing, where ``pda`` is cut at its first symbol."""
    said = next(step.output for step in pda.transitions.values() if step.target not in pda.accepting)
    cut = [letter for letter in pda.input_alphabet if (pda.initial, letter, ("⊥",)) not in pda.transitions]
    step = Transition("astray", (NONE,), said)
    added: dict[Key, Transition] = {(pda.initial, letter, ("⊥",)): step for letter in cut}
    added |= {("astray", letter, ("⊥",)): step for letter in pda.input_alphabet}
    return replace(pda, states=(*pda.states, "astray"), transitions={**pda.transitions, **added})


@pytest.mark.parametrize("name", SETS)
def test_a_predictor_that_goes_on_where_the_task_is_cut_is_not_equal(name: str) -> None:
    pda = specification(name)
    task = TaskSpecification(get_task(name))
    assert task.compare(pda) == Equal("all words")
    found = task.compare(going_on(pda))
    assert isinstance(found, Different)
    assert found.reason == "at its end the first goes on, the second has been cut"
    assert len(found.word) == 1
    assert found.shortest
    with pytest.raises(Exception, match="the run ends"):
        pda.transduce(found.word)
    assert len(going_on(pda).transduce(found.word)) == 1
    assert isinstance(compare(going_on(pda), pda), Different)
    assert isinstance(compare(pda, going_on(pda)), Different)


@pytest.mark.parametrize("name", [*SETS, *STREAMS])
def test_a_predictor_without_one_of_the_tasks_transitions_is_not_equal(name: str) -> None:
    pda = specification(name)
    task = TaskSpecification(get_task(name))
    for key in list(pda.transitions)[:12]:
        rest = {other: step for other, step in pda.transitions.items() if other != key}
        found = task.compare(replace(pda, transitions=rest))
        assert isinstance(found, Different)
        assert key in set(pda.taken(found.word))


@pytest.mark.parametrize("name", STREAMS)
def test_beyond_the_words_of_a_task_nothing_is_asked_and_the_domain_says_so(name: str) -> None:
    pda = specification(name)
    cut = {(state, letter) for state in pda.states for letter in pda.input_alphabet} - {
        key[:2] for key in pda.transitions
    }
    further: dict[Key, Transition] = {(*where, ("⊥",)): Transition(pda.initial, (NONE,), "anything") for where in cut}
    found = TaskSpecification(get_task(name)).compare(replace(pda, transitions={**further, **pda.transitions}))
    assert isinstance(found, Equal)
    assert found.domain.startswith("all words of the task")
