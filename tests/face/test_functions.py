"""What the functions of the public face take, and what they give: names or values wherever one is wanted."""

from __future__ import annotations

import inspect
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from tests.face.quick import quick_failure, quick_result

import stacklens as sl
import stacklens.extract.extraction as deep
from stacklens.core.errors import UnknownNameError
from stacklens.extract import extraction
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


SHOWN = "nnpda-palindrome"


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (lambda: sl.load(SHOWN), "<nnpda over a b c, trained on palindrome>"),
        (lambda: sl.trace(SHOWN, ["abcba", "c"]), "<Trace of 2 words of length <= 5, 6 steps>"),
        (
            lambda: get_language("dyck-2").automaton,
            "<PushdownAutomaton over ( ) [ ]: 1 state, 2 stack symbols, 8 transitions>",
        ),
        (
            lambda: quick_result(SHOWN),
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
        "network": sl.load(SHOWN)._repr_html_(),
        "trace": sl.trace(SHOWN, "abcba")._repr_html_(),
        "automaton": get_language("palindrome").automaton._repr_html_(),
        "result": quick_result(SHOWN)._repr_html_(),
    }
    assert shown["network"].startswith("<table>")
    assert "plotly" in shown["trace"]
    assert 'src="http' not in shown["trace"]
    assert shown["automaton"].startswith("<svg")
    assert shown["result"].startswith("<div><svg")
    assert "proof      equal for all words (proof)" in shown["result"]
    assert "<pre>No automaton: " in quick_failure()._repr_html_()


def test_what_a_file_says_cannot_leave_its_place_in_a_page() -> None:
    model = sl.load(SHOWN)
    model.origin.provenance["recipe"] = "<script>\x1b"
    assert "&lt;script&gt;" in model._repr_html_()
    assert "\x1b" not in str(model)


def test_where_it_is_not_faithful_it_says_why_and_what_to_do() -> None:
    why = quick_failure().why()
    assert why.startswith("There is no automaton: no finite set of states was found")
    assert "\nMeasured:\n- rounding the actions changes " in why
    assert "\nWhat to do next:\n- " in why
    assert quick_result(SHOWN).why().startswith("Nothing contradicts the automaton")


FUNCTIONS = [
    "saliency",
    "linear_probes",
    "horizon_curve",
    "ablate",
    "certify",
    "check",
    "compare",
    "extract",
    "intervene",
    "languages",
    "learn",
    "load",
    "sweep",
    "tasks",
    "trace",
    "train",
    "verify",
    "wrap",
    "zoo",
]
TYPES = [
    *("Certified", "Different", "Equal", "Extraction", "Language", "NotCertified", "PushdownAutomaton"),
    *("StackModel", "StacklensError", "Task", "Trace", "Undecided"),
]


def test_the_names_are_these_and_every_one_is_there() -> None:
    assert dir(sl) == sorted(FUNCTIONS + TYPES)
    assert all(callable(getattr(sl, name)) for name in FUNCTIONS)
    assert all(isinstance(getattr(sl, name), type) for name in TYPES)
    assert all(inspect.getdoc(getattr(sl, name)) for name in dir(sl))


def test_an_unknown_name_is_said_to_be_unknown() -> None:
    with pytest.raises(AttributeError, match="module 'stacklens' has no attribute 'extrakt'"):
        sl.extrakt  # type: ignore[attr-defined]  # noqa: B018


def test_packages_with_a_function_s_name_are_both() -> None:
    assert deep is extraction is sl.extract.extraction  # type: ignore[attr-defined]
    assert list(inspect.signature(sl.extract).parameters)[:2] == ["model", "language"]
    assert "palindrome" in set(sl.languages().name)


def test_every_language_and_task_is_told_what_it_is_and_where_it_is_from() -> None:
    for table in (sl.languages(), sl.tasks(), sl.zoo()):
        assert not table.isna().any().any()
        assert table.name.is_unique
    assert sl.tasks().set_index("name").kind["dyck-N"] == "next set"
