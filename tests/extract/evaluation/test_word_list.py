"""Many words judged at once, against each of them judged alone by plain means."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.core.errors import StacklensError
from stacklens.extract.by_name import specification_of
from stacklens.extract.evaluation.judge import (
    JudgedWord,
    automaton_runs,
    first_parting,
    judge_words,
    network_runs,
    parse_words,
    word_table,
)
from stacklens.extract.specification import Specification
from stacklens.extract.verification.divergence import divergence
from stacklens.languages.words import EMPTY_WORD, format_word
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace

KINDS = ("nnpda-1n0n", "nnpda-palindrome", "marnn-stack-rnn-dyck-2", "neural-stack-reversal", "stack-rnn-anbn")


@cache
def subject(name: str) -> tuple[StackModel[Any], Specification, PushdownAutomaton]:
    """Return a network of the zoo, what it should do, and the automaton of that."""
    checkpoint = load_network(ZOO / f"{name}.pt")
    specification = specification_of(checkpoint)
    assert specification is not None
    automaton = specification.automaton()
    assert automaton is not None
    return checkpoint.model, specification, automaton


@st.composite
def words_of(draw: st.DrawFn, name: str) -> list[str]:
    """Draw some words: random ones, and ones that the language is about."""
    model, specification, _ = subject(name)
    drawn = specification.long_words(40, (2, 9), seed=draw(st.integers(0, 99)))
    some = draw(st.lists(st.text(model.alphabet, max_size=14), max_size=6))
    return [*some, *(format_word(word)[:30] for word in drawn[: draw(st.integers(0, 4))])]


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=10)
@given(data=st.data())
def test_runs_part_where_two_runs_on_one_word_part(name: str, data: st.DataObject) -> None:
    model, _, automaton = subject(name)
    lost = data.draw(st.sets(st.sampled_from(sorted(automaton.transitions)), max_size=2))
    kept = {key: step for key, step in automaton.transitions.items() if key not in lost}
    broken = replace(automaton, transitions=kept)
    words = data.draw(words_of(name))
    rounded = network_runs(model, words, [0], rounded=True)
    parting = first_parting(automaton_runs(broken, model, words), rounded, None, model.task_kind == "recognition")
    for word, step in zip(words, parting.tolist(), strict=True):
        alone = divergence(broken, model, word).first
        assert step == (-1 if alone is None else alone), word


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=10)
@given(data=st.data())
def test_a_word_is_judged_among_others_as_alone(name: str, data: st.DataObject) -> None:
    model, specification, automaton = subject(name)
    words = data.draw(words_of(name))
    together = judge_words(model, words, automaton, specification)
    assert [one.word for one in together] == words
    assert together == [judge_words(model, [word], automaton, specification)[0] for word in words]


@settings(max_examples=20)
@given(words=st.lists(st.text("10", max_size=20), max_size=8))
def test_verdicts_of_a_recogniser_are_those_of_each_machine_by_itself(words: list[str]) -> None:
    model, specification, automaton = subject("nnpda-1n0n")
    everything = replace(automaton, acceptance="final state", accepting=frozenset(automaton.states))
    for one in judge_words(model, words, everything, specification):
        said = {who: yes for who, (yes, _) in one.verdicts.items()}
        member = one.word == "1" * (len(one.word) // 2) + "0" * (len(one.word) // 2) and one.word != ""
        assert said == {
            "network": bool(trace(model, [one.word]).verdicts[0]),
            "rounded network": bool(trace(Rounded(model), [one.word]).verdicts[0]),
            "automaton": everything.accepts(one.word),
            "language": member,
        }
        assert one.agree == (len(set(said.values())) == 1)


def judged(name: str, word: Word) -> JudgedWord:
    model, specification, automaton = subject(name)
    return judge_words(model, [word], automaton, specification)[0]


def test_a_predictor_completes_begins_or_rejects() -> None:
    for word, said in (("([])", "✓ complete"), ("([", "✓ a beginning"), ("([)]", "✗ rejects symbol 3")):
        (row,) = word_table([judged("marnn-stack-rnn-dyck-2", word)]).to_dict("records")
        assert [row[who] for who in ("network", "rounded network", "automaton", "language")] == [said] * 4


def test_the_word_that_a_soft_network_gets_wrong_says_where() -> None:
    model, specification, _ = subject("stack-rnn-anbn")
    (found,) = judge_words(model, ["a" * 45 + "b" * 45 + "ab"], specification=specification)
    wrong = int(found.verdicts["network"][1].removeprefix("wrong at symbol "))
    assert found.verdicts["rounded network"] == (True, "all right")
    assert not found.agree
    assert found.step is not None
    assert 45 < found.step <= wrong <= 91
    assert found.parted == ("network",)


@given(words=st.lists(st.text("()", max_size=9)), ends=st.sampled_from(["\n", "\r\n", "\n\n", "  \n\t"]))
def test_words_are_read_back_from_their_lines(words: list[str], ends: str) -> None:
    assert parse_words(ends.join(word or EMPTY_WORD for word in words), "()") == words


def test_a_symbol_that_is_not_in_the_alphabet_is_told_with_its_line() -> None:
    with pytest.raises(StacklensError, match=r"^line 3: symbol 'x' is not in the alphabet \( \)$"):
        parse_words("()\n\n(x\n", "()")
