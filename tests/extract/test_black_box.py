"""White box against black box: equal ones are proved equal; others are told apart by a word that all are asked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.face.quick import QUICK
from tests.shell.commands import Shell, check_quickly

import stacklens as sl
from stacklens.automata.compare import Different, Equal
from stacklens.extract.black_box import _compare_answers
from stacklens.extract.report import load_result
from stacklens.languages.catalogue import get_language

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
    comparison, agree_to, said = _compare_answers(wrong, result.automaton, result.model, result.language)
    assert isinstance(comparison, Different)
    assert agree_to is None
    assert said is not None
    assert (said.word, said.shortest, said.step) == (shortest, True, None)
    assert (said.white, said.black, said.network, said.rounded) == ("rejects", "accepts", "accepts", "accepts")


def test_the_shell_compares_where_it_is_asked_to(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    check_quickly(monkeypatch)
    found = shell("extract-pda", NAME, "--black-box", "--max-length", "6")
    assert (found.status, found.error) == (0, "")
    assert "\nblack box  from answers alone (" in found.out
