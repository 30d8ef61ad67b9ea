"""What the functions of the public face take, and what they give: names or values wherever one is wanted."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from tests.face.quick import quick_failure, quick_result

import stacklens as sl
from stacklens.core.errors import UnknownNameError
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig

NAME = "marnn-stack-rnn-dyck-2"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("([])", ("([])",)),
        (["(", "[", "]", ")"], ("([])",)),
        (("(", ")"), ("()",)),
        (["([])", "()"], ("([])", "()")),
        ([["(", ")"], "[]", []], ("()", "[]", "")),
        ("", ("",)),
        ([], ("",)),
        ([""], ("",)),
    ],
)
def test_one_word_or_many_are_traced(words: list[str], expected: tuple[str, ...]) -> None:
    assert sl.trace(NAME, words).words == expected


def test_a_trace_draws_what_its_network_s_paper_draws() -> None:
    seen = sl.trace(NAME, ["([])", "()"])
    assert "marnn-stack-rnn" in str(seen.plot().layout.title)
    assert seen.plot(1, "actions").data
    with pytest.raises(UnknownNameError, match="unknown figure 'nice'"):
        seen.plot(figure="nice")
    with pytest.raises(sl.StacklensError, match="there is no word 2: the trace has 2 words, from 0"):
        seen.plot(2)


def test_a_setting_that_there_is_not_is_named() -> None:
    with pytest.raises(sl.StacklensError, match="extract has no setting sead; it has max_length, "):
        sl.extract(NAME, sead=1)


def test_an_automaton_is_verified_on_all_words(tmp_path: Path) -> None:
    result = quick_result(NAME)
    found = sl.verify(result, max_length=6)
    assert (found.words, found.disagreements, found.first, found.status) == (5_461, 0, None, 0)
    assert result.automaton is not None
    for given in (result.automaton, tmp_path / "pda.json", tmp_path / "result.json"):
        if isinstance(given, Path):
            (result.automaton if given.stem == "pda" else result).save(given)
        assert sl.verify(given, NAME, max_length=6) == found
    assert "0 disagreements in 5,461 words, all of length <= 6" in str(found)


def recogniser() -> NNPDA:
    """Return a recogniser over a and b, whatever it accepts."""
    return NNPDA(NNPDAConfig(("a", "b"), "second", 2), seed=1).eval()


def test_an_automaton_is_verified_against_a_language_alone() -> None:
    found = sl.verify(get_language("parentheses").automaton, language="dyck-1", max_length=8)
    assert (found.words, found.disagreements, found.first, found.status) == (511, 0, None, 0)
    wrong = sl.verify(get_language("anbn").automaton, language=get_language("anb2n"), max_length=6)
    assert (wrong.disagreements, wrong.first, wrong.status) == (5, "ab", 1)
    with pytest.raises(sl.StacklensError, match="the automaton reads a b; expected the alphabet of dyck-1"):
        sl.verify(get_language("anbn").automaton, language="dyck-1")
    with pytest.raises(sl.StacklensError, match="an automaton with outputs is no recogniser"):
        sl.verify(quick_result(NAME).automaton, language="dyck-2")


def test_a_result_without_an_automaton_gives_the_reason_and_can_be_asked(tmp_path: Path) -> None:
    none, some = quick_failure(), quick_result("nnpda-palindrome")
    none.save(tmp_path / "none.json")
    for result in (none, sl.load(tmp_path / "none.json")):
        assert (result.minimised, result.status) == (None, 3)
        for use in (attrgetter("automaton"), sl.Extraction.grammar, sl.Extraction.causal, partial(sl.compare, some)):
            with pytest.raises(sl.StacklensError, match="there is no automaton: no finite set of states was found"):
                use(result)
        assert "automaton  none: no finite set of states was found" in str(result)
    assert some.automaton is some.minimised


def test_a_certificate_is_for_an_automaton_or_a_result() -> None:
    result = quick_result("nnpda-palindrome")
    assert result.automaton is not None
    assert isinstance(sl.certify("nnpda-palindrome", result), sl.Certified)
    assert sl.certify(result.model, result.automaton) == result.certificate.certificate
    assert isinstance(sl.certify("nnpda-palindrome", get_language("palindrome").automaton), sl.Certified)
    other = sl.certify("nnpda-palindrome", get_language("palindrome").automaton, margin=0.4)
    assert isinstance(other, sl.NotCertified)


def test_automata_results_languages_and_names_are_compared() -> None:
    result, other = quick_result(NAME), quick_result("nnpda-palindrome")
    assert isinstance(sl.compare(result, "dyck-2"), sl.Equal)
    assert isinstance(sl.compare("dyck-2", result), sl.Equal)
    assert isinstance(sl.compare(get_task("dyck-2"), result), sl.Equal)
    assert isinstance(sl.compare(result, result), sl.Equal)
    assert isinstance(sl.compare(other, get_language("palindrome")), sl.Equal)
    assert isinstance(sl.compare("parentheses", "dyck-1"), sl.Equal)
    different = sl.compare("anbn", get_language("anb2n").automaton)
    assert isinstance(different, sl.Different)
    assert different.word in (("a", "b"), ("a", "b", "b"))
    with pytest.raises(sl.StacklensError, match="over the same alphabet"):
        sl.compare("anbn", "dyck-2")
    with pytest.raises(sl.StacklensError, match="cannot compare an int"):
        sl.compare(3, "dyck-2")


@pytest.mark.slow
def test_a_trained_network_knows_its_training_and_can_be_saved(tmp_path: Path) -> None:
    net = sl.train("marnn-stack-rnn", "dyck-1", seeds=2, seed=3, epochs=1, hidden=4)
    assert net.origin is not None
    assert net.origin.task == {"kind": "next set", "language": "dyck-1"}
    assert net.origin.provenance["command"] == (
        "sl.train('marnn-stack-rnn', 'dyck-1', seeds=2, seed=3, epochs=1, hidden=4)"
    )
    assert net.origin.provenance["seed"] in (3, 4)
    seen = sl.trace(net, "(())")
    net.save(tmp_path / "net.pt")
    assert net.origin.path == str(tmp_path / "net.pt")
    assert sl.trace(tmp_path / "net.pt", "(())") == seen


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"max_length": -1}, "max_length must be a whole number of at least 0, not -1"),
        ({"states": 0}, "states must be a whole number of at least 1, not 0"),
        ({"stack_symbols": 1.5}, "stack_symbols must be a whole number of at least 1, not 1.5"),
        ({"long_lengths": (9, 3)}, r"long_lengths\[1\] must be a whole number of at least 9, not 3"),
        ({"jobs": 0}, "jobs must be a whole number of at least 1, not 0"),
        ({"walks": None}, "walks must be a whole number of at least 0, not None"),
        ({"seed": 2**32}, "a seed is a whole number from 0 to 4294967295, not 4294967296"),
        ({"seed": "x"}, "a seed is a whole number from 0 to 4294967295, not 'x'"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_any_work(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(sl.StacklensError, match=says):
        sl.extract("nnpda-palindrome", **settings)
