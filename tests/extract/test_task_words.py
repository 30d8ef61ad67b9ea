"""Words of tasks to check networks on: every task has some, whatever its sizes are."""

from __future__ import annotations

from pathlib import Path

import pytest

import stacklens
from stacklens.automata.pda import Word
from stacklens.core.errors import StacklensError
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.specification import TaskSpecification
from stacklens.extract.verification.checks import _whole_lengths
from stacklens.languages.catalogue import get_task, task_names
from stacklens.models.checkpoint import load_network

STREAMS = [name for name in task_names() if name not in ("dyck-N", "dyck-K-M") and get_task(name).kind != "next set"]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("number", [50, 300])
def test_words_up_to_a_length_are_all_words_up_to_it(name: str, number: int) -> None:
    specification = TaskSpecification(get_task(name))
    words = specification.short_words(number)
    longest = max(map(len, words))
    assert 1 < len(words) <= number
    assert len(set(words)) == len(words)
    if longest < 40:
        assert specification.short_words(100_000, longest) == words  # none of the longest is missing
    assert specification.short_words(number, longest - 1) == [word for word in words if len(word) < longest]


def test_more_words_than_are_compared_one_by_one_are_refused() -> None:
    specification = TaskSpecification(get_task("reversal"))
    with pytest.raises(StacklensError, match=r"the task reversal has more than 50 words of length <= 12; ask for \d"):
        specification.short_words(50, 12)
    with pytest.raises(StacklensError, match="words of length <= 1000000000 were asked; ask for 1000 or less"):
        specification.short_words(50, 10**9)
    with pytest.raises(StacklensError, match="there are more than 50 words of length <= 9 over 4 symbols; ask for 2"):
        TaskSpecification(get_task("dyck-2")).short_words(50, 9)


def test_the_length_that_is_asked_is_the_length_that_is_checked() -> None:
    asked = 12
    net = load_network(Path(f"{stacklens.__path__[0]}/models/zoo/stack-rnn-anbn.pt")).model
    config = ExtractionConfig(max_length=asked, long_words=20, long_lengths=(4, 8), height=3, walks=2)
    result = extract(net, get_task("anbn"), config)
    found = [check for check in result.checks if check.kind == "exhaustive"]
    assert len(found) == 3
    assert {check.max_length for check in found} == {asked}
    words = TaskSpecification(get_task("anbn")).short_words(10_000, asked)
    assert {check.words for check in found} == {len(words)}


def test_where_the_networks_stack_is_too_low_for_some_words_those_of_that_length_are_not_called_all() -> None:
    words: list[Word] = ["", "a", "b", "aa", "ab", "aaa"]
    some: list[Word] = ["", "a", "b", "ab"]
    assert _whole_lengths(words, words) == words
    assert _whole_lengths(words, some) == some[:3]
    assert _whole_lengths(words, []) == []
