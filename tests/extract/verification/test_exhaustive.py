"""All words in chunks are all words: the sum of the chunks is what one run over everything finds."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import stacklens
from stacklens.automata.enumeration import count_all
from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.agreement import agree_on_all
from stacklens.extract.by_name import specification_of
from stacklens.extract.jobs import Tally
from stacklens.extract.verification.exhaustive import Work, reference_automaton, verify_exhaustively
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import load_network
from stacklens.models.rounding import Rounded

ZOO = Path(stacklens.__file__).parent / "models" / "zoo"
NETWORKS = {"nnpda-palindrome": 7, "nnpda-1n0n": 9, "marnn-stack-rnn-dyck-2": 6}


@cache
def loaded(name: str) -> tuple[StackModel[Any], PushdownAutomaton]:
    """Return a network of the zoo, and the automaton of what it should do."""
    checkpoint = load_network(ZOO / f"{name}.pt")
    specification = specification_of(checkpoint)
    assert specification is not None
    pda = reference_automaton(specification)
    return checkpoint.model, replace(pda, input_alphabet=checkpoint.model.alphabet)


def doctored(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return ``pda`` without one of its transitions that pop."""
    wrong = next(key for key, step in reversed(list(pda.transitions.items())) if step.operations[0].name == "pop")
    return replace(pda, transitions={key: step for key, step in pda.transitions.items() if key != wrong})


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("stem", [0, 1, 3])
def test_however_they_are_split_chunks_add_up_to_one_run(name: str, stem: int) -> None:
    model, right = loaded(name)
    for pda in (right, doctored(right)):
        found = verify_exhaustively(Work(pda, model, right, NETWORKS[name], stem))
        by_other = {check.other: check for check in found.checks}
        assert by_other["network"] == agree_on_all(pda, model, None, NETWORKS[name])
        assert by_other["rounded network"] == agree_on_all(pda, Rounded(model), None, NETWORKS[name])
        assert (by_other["language"].disagreements == 0) == (pda is right)
        assert found.counts is not None
        assert found.counts.equal
        assert found.status == (0 if pda is right else 1)
        assert found.contradicted == (None if pda is right else by_other["language"])


@pytest.mark.parametrize("stem", [0, 1, 4])
def test_every_word_is_in_one_chunk(stem: int) -> None:
    model, pda = loaded("nnpda-palindrome")
    work = Work(pda, model, None, 6, stem)
    tallies = [work.tally(chunk)[1] for chunk in work.chunks]
    assert [tally.words for tally in tallies] == [work.words(chunk) for chunk in work.chunks]
    assert sum(map(work.words, work.chunks)) == count_all(3, 6) == 1_093
    assert work.others == ("rounded network", "network")
    assert all(Tally.from_dict(json.loads(json.dumps(tally.to_dict()))) == tally for tally in tallies)


def test_two_processes_find_what_one_finds() -> None:
    model, pda = loaded("nnpda-palindrome")
    work = Work(doctored(pda), model, pda, 9, 2)
    assert verify_exhaustively(work, jobs=2) == verify_exhaustively(work)
