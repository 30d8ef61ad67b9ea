"""What comes out of the networks that the papers' authors published; skipped where their files are not there."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.models.published_networks import published

from stacklens.automata.compiled import compile_tables
from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.runs import transduce_many
from stacklens.extract.answers import network_answers
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.languages.catalogue import get_task
from stacklens.languages.words import all_words
from stacklens.models.formats.published import read_marnns, read_stack_rnn_cpp, read_stacknn
from stacklens.models.rounding import Rounded

QUICK = ExtractionConfig(max_length=8, long_words=500, deep_words=5)


@cache
def extracted(name: str) -> Extraction:
    if name == "marnns":
        return extract(read_marnns(published("marnns/stack_rnn_model_weights.pth")), get_task("dyck-2"), QUICK)
    if name == "stack-rnn-cpp":
        return extract(read_stack_rnn_cpp(published("stack-rnn-cpp/model_*")), get_task("anbn"), QUICK)
    return extract(read_stacknn(published(f"stacknn/{name}.dat")), get_task("reversal"), QUICK)


def automaton(name: str) -> PushdownAutomaton:
    result = extracted(name)
    assert result.reason is None
    assert result.status == (1 if name == "marnns" else 0)
    assert result.automaton is not None
    return result.automaton


def said(pda: PushdownAutomaton, words: list[Any]) -> list[list[Any]]:
    """Return what ``pda`` says after every symbol, None where it has stopped."""
    outputs = (*compile_tables(pda).outputs, None)  # -1 is where nothing is said
    return [
        [outputs[place] for place in row[: len(word)]]
        for word, row in zip(words, transduce_many(pda, words).tolist(), strict=True)
    ]


def next_sets(word: str) -> list[tuple[str, ...] | None]:
    """Return what may follow after every symbol of ``word``, in the order ( ) [ ]; None once it is no prefix."""
    partner, closing, sets = {"(": ")", "[": "]"}, list[str](), list[tuple[str, ...] | None]()
    for symbol in word:
        if None in sets[-1:] or (symbol in ")]" and symbol not in closing[-1:]):
            sets.append(None)
            continue
        closing = [*closing, partner[symbol]] if symbol in partner else closing[:-1]
        sets.append(tuple(s for s in "()[]" if s in "([" or s in closing[-1:]))
    return sets


@pytest.mark.slow
def test_the_dyck_network_gives_an_automaton_that_is_right_on_every_short_word() -> None:
    pda = automaton("marnns")
    words = all_words(tuple("()[]"), 7)
    assert said(pda, words) == [next_sets(str(word)) for word in words]


def test_a_cycle_repeated_breaks_the_published_dyck_network_that_all_other_searches_find_right() -> None:
    result = extracted("marnns")
    wrong = [check for check in result.checks if check.disagreements and check.other == "rounded network"]
    assert [check.kind for check in wrong] == ["pumped"]
    word = wrong[0].counterexample
    assert isinstance(word, str)
    assert len(word) <= 140
    assert None not in next_sets(word)
    rounded = network_answers(Rounded(result.model), [word])[0]
    expected = [sum(1 << "()[]".index(s) for s in said or ()) for said in next_sets(word)]
    assert rounded.tolist() != expected
    assert rounded[:-1].tolist() == expected[:-1]


@pytest.mark.slow
def test_the_counting_networks_automaton_predicts_every_n_up_to_1000() -> None:
    pda = automaton("stack-rnn-cpp")
    before = "aabbaaabbb"
    words = [f"{before}{'a' * n}{'b' * n}" for n in range(2, 1_001)]
    outputs = compile_tables(pda).outputs
    places = transduce_many(pda, words)
    b, a = (np.isin(places, [i for i, output in enumerate(outputs) if output == letter]) for letter in "ba")
    for row, n in enumerate(range(2, 1_001)):
        first = len(before) + n  # the step that reads the first b: from then on everything is determined
        assert b[row, first : first + n - 1].all(), n
        assert a[row, first + n - 1], n


@pytest.mark.slow
def test_the_linear_reversal_networks_automaton_reverses_the_authors_words_and_long_ones() -> None:
    pda, rng = automaton("linear_reverse_task_20"), random.Random(2)
    lines = [line.split(",") for line in published("stacknn/reverse_test_200.csv").read_text().splitlines()]
    read = [("".join(word.split()).rstrip("2"), "".join(target.split()).strip("2")) for word, target in lines]
    assert len(read) == 200
    assert all(target == word[::-1] for word, target in read)
    words = [word for word, _ in read] + ["".join(rng.choice("01") for _ in range(100)) for _ in range(50)]
    answers = said(pda, [word + "#" * len(word) for word in words])
    assert ["".join(answer[len(word) :]) for word, answer in zip(words, answers, strict=True)] == [
        word[::-1] for word in words
    ]
