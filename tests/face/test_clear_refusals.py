"""Public calls that are given what they cannot take: one clear line each, never a bare exception of Python's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.face.quick import QUICK, quick_result

import stacklens as sl
from stacklens.languages.catalogue import get_language, get_task

NAME, CALLS = "nnpda-palindrome", "marnn-stack-rnn-dyck-2"
Call = Callable[[Any], Any]
face: Any = sl  # whose calls are given what their types forbid
REFUSED: list[tuple[Call, str]] = [
    (lambda found: face.extract(found.model, 3), "expected a language or task, the name of one, the path"),
    (lambda _: face.train("nnpda", 3), "expected a language or a task, or the name of one, not"),
    (lambda _: face.train(3, "dyck-2"), "expected the name of a kind of network, such as"),
    (lambda found: face.extract(found.model, calls=3), "calls must be symbols of the alphabet, such as ('(',"),
    (lambda found: face.extract(found.model, long_lengths=3), "long_lengths must be two lengths, such as (50, 160),"),
    (lambda found: face.trace(found.model, "abcba").with_automaton(3), "expected an automaton, such as the"),
    (lambda found: face.trace(found.model, "abcba").plot(automaton=3), "expected an automaton, such as the"),
    (lambda found: face.trace(found.model, "abcba").save(3), "expected the path of a file to write, such as"),
    (lambda _: face.extract(NAME, quick_result(CALLS).automaton), "an automaton with outputs is no language; give"),
    (lambda found: face.extract(CALLS, found.automaton), "a next set network cannot be checked against the"),
    (lambda found: face.verify(found, max_length=-1), "max_length must be a whole number of at least 0, not -1"),
    (lambda found: face.verify(found, max_length="a"), "max_length must be a whole number of at least 0, not 'a'"),
    (lambda found: face.verify(found.automaton, language="palindrome", max_length=2.5), "max_length must be a"),
    (lambda found: face.verify(found, max_length=40), "too many to check one by one; ask for --max-length 26"),
    (lambda found: face.verify(found, max_length=3, jobs=0), "jobs must be a whole number of at least 1, not 0"),
    (lambda found: face.verify(found.automaton, max_length=5), "name its network or a language, or give the result:"),
    (
        lambda found: face.verify(found.automaton, "palindrome"),
        "palindrome is what a network should do, not a network:",
    ),
    (lambda found: face.verify(found, "addition"), "addition is what a network should do, not a network:"),
    (lambda found: face.verify(found, "palindrom"), "palindrom: no such file; expected a network"),
    (lambda found: face.verify(found.automaton, language=get_task("addition")), "an automaton without its network"),
    (lambda _: face.trace(NAME, "abcba").plot("actions"), "word is 'actions'; expected its number in the trace,"),
    (lambda found: found.causal(seed=-1), "a seed is a whole number from 0 to "),
    (lambda found: found.causal(cases="x"), "cases must be a whole number of at least 2, not 'x'"),
    (lambda _: face.sweep(3), "expected networks, or their files, not one of type int"),
    (lambda _: face.sweep(NAME, 3), "expected a language or task, the name of one, the path"),
    (lambda _: face.ablate(NAME, seed=-1), "a seed is a whole number from 0 to "),
    (lambda _: face.linear_probes(NAME, seed=-1), "a seed is a whole number from 0 to "),
    (lambda _: face.horizon_curve(NAME, seed=-1), "a seed is a whole number from 0 to "),
    (lambda found: face.check(found.model, lambda word: word, 3), "expected a list of words, not one of type int"),
    (lambda _: face.learn(lambda words: [True] * len(words), "ab", words="x"), "words must be a whole number of at"),
    (lambda _: face.check(torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), ["ab"]), "expected a network that"),
    (lambda _: face.learn(lambda _: True, "ab"), "the function answers 3 words with True, of type bool;"),
]


@pytest.mark.parametrize(("call", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_cannot_be_is_refused_in_one_line(call: Call, says: str) -> None:
    with pytest.raises(sl.StacklensError, match=re.escape(says)) as caught:
        call(quick_result(NAME))
    assert "\n" not in str(caught.value)


def test_an_automaton_is_a_language_that_a_network_can_be_held_against(tmp_path: Path) -> None:
    automaton = get_language("palindrome").automaton
    found = sl.extract(NAME, automaton, **QUICK)
    assert found.language_name == "the given automaton"
    assert isinstance(found.proof, sl.Equal)
    assert sl.verify(automaton, language=automaton, max_length=5).disagreements == 0
    found.save(tmp_path / "result.json")
    again = sl.load(tmp_path / "result.json")
    with pytest.raises(sl.StacklensError, match="checked against the given automaton, which is not in its file"):
        sl.verify(again, max_length=3)
    assert sl.verify(again, language=automaton, max_length=3).status == 0
