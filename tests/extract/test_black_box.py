"""White box against black box: equal ones are proved equal; others are told apart by a word that all are asked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.face.quick import QUICK, quick_failure
from tests.shell.commands import check_quickly, run

import stacklens as sl
from stacklens.automata.compare import Different, Equal, Undecided
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.extract.black_box import _side_by_side
from stacklens.extract.result_file import load_result
from stacklens.languages import get_language

NAME = "nnpda-1n0n"


def test_what_both_ways_give_is_proved_equal_and_kept(tmp_path: Path) -> None:
    result = sl.extract(NAME, **QUICK).black_box()
    assert result.box is not None
    assert isinstance(result.box.comparison, Equal)
    assert isinstance(result.box.proof, Equal)
    assert result.asked is not None
    assert result.asked.by_asking
    assert "; proved equal to the automaton on all words" in str(result)
    assert result.report()["black_box"]["comparison"]["verdict"] == "equal"
    result.save(tmp_path / "r.json")
    loaded = load_result(tmp_path / "r.json", trusted=True)
    assert loaded == result
    assert str(loaded) == str(result)
    assert json.dumps(loaded.report()) == json.dumps(result.report())


def test_where_they_differ_the_network_itself_is_asked() -> None:
    result = sl.extract(NAME, **QUICK)
    other = get_language("1n0n").automaton
    assert result.automaton is not None
    shortest = "10"
    wrong = replace(other, accepting=frozenset(), acceptance="final state")
    comparison, agree_to, said = _side_by_side(wrong, result.automaton, result.model, result.language)
    assert isinstance(comparison, Different)
    assert agree_to is None
    assert said is not None
    assert (said.word, said.shortest, said.step) == (shortest, True, None)
    assert (said.white, said.black, said.network, said.rounded) == ("rejects", "accepts", "accepts", "accepts")


def test_sets_are_told_at_the_first_symbol_after_which_they_differ() -> None:
    model = sl.load("marnn-stack-rnn-dyck-2")
    three, two = (_predictor(f"dyck-2-{depth}") for depth in (3, 2))
    _, _, said = _side_by_side(three, two, model, None)
    assert said is not None
    assert (len(said.word), said.step) == (2, 2)
    assert said.white == said.network == said.rounded == "{( ) [}"
    assert said.black == "{)}"


def test_where_nothing_is_proved_all_words_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stacklens.extract.black_box.compare", lambda *_, **__: Undecided("two stacks"))
    model, pda = sl.load(NAME), get_language("1n0n").automaton
    _, agree_to, said = _side_by_side(pda, pda, model, None)
    assert (agree_to, said) == (16, None)
    _, agree_to, said = _side_by_side(pda, replace(pda, accepting=frozenset()), model, None)
    assert agree_to is None
    assert said is not None
    assert said.word == "10"


@pytest.mark.parametrize(
    ("given", "said"),
    [({"kind": "pda"}, "kind is 'pda'; expected auto"), ({"depht": 3}, "black_box has no setting depht")],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(StacklensError, match=said):
        sl.extract(NAME, **QUICK).black_box(**given)


def test_there_must_be_an_automaton_of_another_way() -> None:
    with pytest.raises(StacklensError, match="there is no automaton to compare with: "):
        quick_failure().black_box()
    learned = sl.learn(NAME, quiet=True, **QUICK)
    with pytest.raises(StacklensError, match="was learned from answers alone: there is no other way"):
        learned.black_box()


def test_the_shell_compares_where_it_is_asked_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_quickly(monkeypatch)
    found = run(capsys, monkeypatch, "extract-pda", NAME, "--black-box", "--max-length", "6")
    assert (found.status, found.error) == (0, "")
    assert "\nblack box  from answers alone (" in found.out


def _predictor(name: str) -> PushdownAutomaton:
    from stacklens.extract.by_name import specification_for, subject_named

    specification = specification_for(subject_named(name, "next set"), "next set")
    assert specification is not None
    pda = specification.automaton()
    assert pda is not None
    return pda
