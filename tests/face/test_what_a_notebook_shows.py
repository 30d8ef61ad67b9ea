"""One line for a list, text for people, and a drawing for a notebook: networks, traces, results, automata."""

from __future__ import annotations

import pytest
from tests.face.quick import quick_failure, quick_result

import stacklens as sl
from stacklens.languages.catalogue import get_language

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
