"""One line for a list, text for people, and a drawing for a notebook: networks, traces, results, automata."""

from __future__ import annotations

import pytest
from tests.face.quick import quick_failure, quick_result

import stacklens as sl
from stacklens.languages import get_language

NAME = "nnpda-palindrome"


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (lambda: sl.load(NAME), "<nnpda over a b c, trained on palindrome>"),
        (lambda: sl.trace(NAME, ["abcba", "c"]), "<Trace of 2 words of length <= 5, 6 steps>"),
        (
            lambda: get_language("dyck-2").automaton,
            "<PushdownAutomaton over ( ) [ ]: 1 state, 2 stack symbols, 8 transitions>",
        ),
        (
            lambda: quick_result(NAME),
            "<Extraction of nnpda-palindrome: 2 states, 2 stack symbols, 11 transitions; proved equal to palindrome; "
            "the rounded network follows it on words of every length that need at most 2^53 cells of a stack "
            "(certificate)>",
        ),
    ],
)
def test_a_value_is_one_line_in_a_list(value: object, line: str) -> None:
    assert callable(value)
    assert repr(value()) == line


def test_a_result_without_an_automaton_says_why_in_its_line() -> None:
    line = repr(quick_failure())
    assert line.startswith(
        "<Extraction of buffered-neural-stack-reversal: no automaton: no finite set of states was found"
    )
    assert "\n" not in line


def test_text_is_for_people() -> None:
    assert "\nrecipe     Sun et al. 1993" in str(sl.load(NAME))
    assert str(sl.trace(NAME, "abcba")).splitlines()[0].split()[:3] == ["word", "step", "symbol"]
    lines = str(get_language("palindrome").automaton).splitlines()
    assert lines[0].startswith("M = (Q, Σ, Γ")
    assert len(lines) == 9 + 11
    first, blank, *rest = str(quick_result(NAME)).splitlines()
    assert first.startswith(
        "Proved equal to palindrome; the rounded network follows it on words of every length that need at most 2^53 "
        "cells of a stack (certificate); "
    )
    assert blank == ""
    assert rest[0] == "network    nnpda over a b c; language palindrome"
    assert rest[1].startswith("automaton  2 states")
    assert [line[11:] for line in rest if line.startswith("horizon")] == [
        "rounded network: agrees on words of every length that need at most 2^53 cells of a stack (certificate)"
    ]


def test_a_notebook_shows_drawings_that_ask_no_other_host() -> None:
    shown = {
        "network": sl.load(NAME)._repr_html_(),
        "trace": sl.trace(NAME, "abcba")._repr_html_(),
        "automaton": get_language("palindrome").automaton._repr_html_(),
        "result": quick_result(NAME)._repr_html_(),
    }
    assert shown["network"].startswith("<table>")
    assert "plotly" in shown["trace"]
    assert 'src="http' not in shown["trace"]
    assert shown["automaton"].startswith("<svg")
    assert shown["result"].startswith("<div><svg")
    assert "proof      equal for all words (proof)" in shown["result"]
    assert "<pre>No automaton: " in quick_failure()._repr_html_()


def test_what_a_file_says_cannot_leave_its_place_in_a_page() -> None:
    model = sl.load(NAME)
    model.origin.provenance["recipe"] = "<script>\x1b"
    assert "&lt;script&gt;" in model._repr_html_()
    assert "\x1b" not in str(model)


def test_where_it_is_not_faithful_it_says_why_and_what_to_do() -> None:
    why = quick_failure().why()
    assert why.startswith("There is no automaton: no finite set of states was found")
    assert "\nMeasured:\n- rounding the actions changes " in why
    assert "\nWhat to do next:\n- " in why
    assert quick_result(NAME).why().startswith("Nothing contradicts the automaton")


@pytest.mark.slow
def test_a_contradiction_is_told_with_its_word() -> None:
    result = sl.extract("marnn-stack-rnn-dyck-2", max_length=5, long_words=50, deep_words=2, depth=20)
    assert result.status == 1
    why = result.why()
    assert why.startswith("Proved equal to dyck-2; the rounded network is first known to differ on ")
    assert "The automaton differs from the rounded network on " in why
    assert "keep the automaton: it is right about dyck-2" in why
    assert "train the network against noise" in why
    assert "states=" not in why
    assert "; proved equal to dyck-2; the rounded network is first known to differ on " in repr(result)
