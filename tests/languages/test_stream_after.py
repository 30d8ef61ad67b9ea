"""Streams fed after one symbol more: the plain definition against the automaton, and what cannot be."""

from __future__ import annotations

from itertools import product

import pytest

from stacklens.automata.pda import Output
from stacklens.automata.simulation import first_rejection
from stacklens.errors import StacklensError, UnknownNameError
from stacklens.languages import get_task
from stacklens.languages.tasks.task import Task


def expected(task: Task, word: str) -> list[Output] | None:
    try:
        return task.expected(word)
    except StacklensError:
        return None


@pytest.mark.parametrize("name", ["anbn-after-b", "anb2n-after-b", "anbmcnm-after-c", "memorization-after-2"])
def test_the_automaton_says_what_is_expected_of_every_short_stream(name: str) -> None:
    task = get_task(name)
    assert task.name == name
    assert task.reference is not None
    words = ["".join(word) for length in range(8) for word in product(task.alphabet, repeat=length)]
    for word, at in zip(words, first_rejection(task.reference, words), strict=True):
        said = expected(task, word)
        assert (said is None) == (at >= 0), word
        if said is not None:
            assert task.reference.transduce(word) == said
            assert task.scored(word) == [output is not None for output in said]
        assert said == behind(name, word)


def behind(name: str, word: str) -> list[Output] | None:
    """Return nothing for the first symbol, which is the name's last, and then what the task itself expects."""
    rest = expected(get_task(name.split("-")[0]), word[1:])
    if word[:1] not in ("", name[-1]) or rest is None:
        return None
    return [None, *rest] if word else []


@pytest.mark.parametrize(
    "name", ["anbn-after-c", "anbn-after-", "dyck-2-after-(", "foo-after-b", "anbn-after-b-after-b"]
)
def test_what_no_stream_can_begin_after_is_refused(name: str) -> None:
    with pytest.raises(StacklensError) as error:
        get_task(name)
    assert isinstance(error.value, UnknownNameError) or "cannot begin after 'c'" in str(error.value)
