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
from stacklens.languages import get_language, get_task

NAME, CALLS = "nnpda-palindrome", "marnn-stack-rnn-dyck-2"
Call = Callable[[sl.Extraction], Any]
REFUSED: dict[str, tuple[Call, str]] = {
    "a number as language": (
        lambda found: sl.extract(found.model, 3),  # type: ignore[arg-type]
        "expected a language or task, the name of one, the path of a grammar or automaton, or an automaton, not one of "
        "type int",
    ),
    "a number as language to learn": (
        lambda _: sl.train("nnpda", 3),  # type: ignore[arg-type]
        "expected a language or a task, or the name of one, not an int",
    ),
    "a number as a kind of network": (
        lambda _: sl.train(3, "dyck-2"),  # type: ignore[arg-type]
        "expected the name of a kind of network, such as 'marnn-stack-rnn', not an int",
    ),
    "a number as calls": (
        lambda found: sl.extract(found.model, calls=3),
        "calls must be symbols of the alphabet, such as ('(', '['), not 3",
    ),
    "one length for two": (
        lambda found: sl.extract(found.model, long_lengths=3),
        "long_lengths must be two lengths, such as (50, 160), not 3",
    ),
    "a number as automaton of a trace": (
        lambda found: sl.trace(found.model, "abcba").with_automaton(3),  # type: ignore[arg-type]
        "expected an automaton, such as the automaton of a result, not int 3",
    ),
    "a number as automaton of a figure": (
        lambda found: sl.trace(found.model, "abcba").plot(automaton=3),  # type: ignore[arg-type]
        "expected an automaton, such as the automaton of a result, not int 3",
    ),
    "a number as the file of a trace": (
        lambda found: sl.trace(found.model, "abcba").save(3),  # type: ignore[arg-type]
        "expected the path of a file to write, such as 'run.npz', not 3",
    ),
    "an automaton with outputs as language": (
        lambda _: sl.extract(NAME, quick_result(CALLS).automaton),
        "an automaton with outputs is no language; give the language or task",
    ),
    "a language of words for a predictor": (
        lambda found: sl.extract(CALLS, found.automaton),
        "a next set network cannot be checked against the language the given automaton; give a task",
    ),
    "verify, length -1": (
        lambda found: sl.verify(found, max_length=-1),
        "max_length must be a whole number of at least 0, not -1",
    ),
    "verify, a length in text": (
        lambda found: sl.verify(found, max_length="a"),  # type: ignore[arg-type]
        "max_length must be a whole number of at least 0, not 'a'",
    ),
    "verify by language, length 2.5": (
        lambda found: sl.verify(found.automaton, language="palindrome", max_length=2.5),  # type: ignore[arg-type]
        "max_length must be a whole number of at least 0, not 2.5",
    ),
    "verify, too many words": (
        lambda found: sl.verify(found, max_length=40),
        "too many to check one by one; ask for --max-length 26 or less (max_length=26)",
    ),
    "verify, no processes": (
        lambda found: sl.verify(found, max_length=3, jobs=0),
        "jobs must be a whole number of at least 1, not 0",
    ),
    "verify, against nothing": (
        lambda found: sl.verify(found.automaton, max_length=5),
        "name its network or a language, or give the result: verify(…, model=…), verify(…, language=…)",
    ),
    "verify, a language as network": (
        lambda found: sl.verify(found.automaton, "palindrome"),
        "palindrome is what a network should do, not a network: verify(…, language='palindrome')",
    ),
    "verify, a task as network": (
        lambda found: sl.verify(found, "addition"),
        "addition is what a network should do, not a network: verify(…, language='addition')",
    ),
    "verify, a name of nothing": (
        lambda found: sl.verify(found, "palindrom"),
        "palindrom: no such file; expected a network",
    ),
    "verify, a task without a network": (
        lambda found: sl.verify(found.automaton, language=get_task("addition")),
        "an automaton without its network is compared with a language, not with an Addition",
    ),
    "a figure for a word": (
        lambda _: sl.trace(NAME, "abcba").plot("actions"),  # type: ignore[arg-type]
        "word is 'actions'; expected its number in the trace, from 0. A figure is named so: plot(figure=…), with one "
        "of paper, actions, stack, ",
    ),
    "interchanges, seed -1": (lambda found: found.causal(seed=-1), "a seed is a whole number from 0 to "),
    "interchanges, cases in text": (
        lambda found: found.causal(cases="x"),  # type: ignore[arg-type]
        "cases must be a whole number of at least 2, not 'x'",
    ),
    "sweep over a number": (
        lambda _: sl.sweep(3),  # type: ignore[arg-type]
        "expected networks, or their files, not one of type int",
    ),
    "sweep, a number as language": (
        lambda _: sl.sweep(NAME, 3),  # type: ignore[arg-type]
        "expected a language or task, the name of one, the path of a grammar or automaton, or an automaton, not one of "
        "type int",
    ),
    "ablate, seed -1": (lambda _: sl.ablate(NAME, seed=-1), "a seed is a whole number from 0 to "),
    "linear probes, seed -1": (lambda _: sl.linear_probes(NAME, seed=-1), "a seed is a whole number from 0 to "),
    "horizon curve, seed -1": (lambda _: sl.horizon_curve(NAME, seed=-1), "a seed is a whole number from 0 to "),
    "check on a number": (
        lambda found: sl.check(found.model, lambda word: word, 3),  # type: ignore[arg-type]
        "expected a list of words, not one of type int",
    ),
    "learn, words in text": (
        lambda _: sl.learn(lambda words: [True] * len(words), "ab", words="x"),  # type: ignore[arg-type]
        "words must be a whole number of at least 0, not 'x'",
    ),
    "check a module": (
        lambda _: sl.check(torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), ["ab"]),  # type: ignore[arg-type]
        "expected a network that sl.wrap or an adapter made, not one of type Linear",
    ),
    "learn from a function of one word": (
        lambda _: sl.learn(lambda _: True, "ab"),  # type: ignore[arg-type,return-value]
        "the function answers 3 words with True, of type bool; expected a list with one answer a word",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_in_one_line(case: str) -> None:
    call, says = REFUSED[case]
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
