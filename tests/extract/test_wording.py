"""What a report says in words: the same wherever it is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.extract.planted_causes import balanced_sets

from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition
from stacklens.extract.claims import claims_of, headline
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.fidelity import Fidelity
from stacklens.extract.summary import summary_text
from stacklens.extract.wording import as_sentence, horizon_cell, horizon_claim, whole_word
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.checkpoint import ZOO, load_model

SMALL = ExtractionConfig(max_length=4, long_words=20, long_lengths=(8, 12), deep_words=2, depth=5, height=3, walks=2)


def test_the_summary_prints_the_list_of_claims_and_each_names_its_evidence() -> None:
    report = (result := extract(load_model(ZOO / "nnpda-1n0n.pt"), get_language("1n0n"), SMALL)).report()
    summary, found = summary_text(result), {claim.what: claim for claim in claims_of(report, asides=True)}
    for label, what in {"rounding": "rounding", "counted": "counted twice", "certified": "certificate"}.items():
        assert f"{label:10} {found[what].in_brief}" in summary
    sizes, before = found["automaton"].words.split("; ")
    assert f"automaton  {sizes}\n" in summary
    assert f"({before}; read off " in summary
    for claim in found.values():
        assert report.get(claim.evidence.split(".")[0], "") is not None
        assert claim.in_brief in summary or claim.what == "result" or claim.evidence == "checks"
    stored = claims_of({**report, "as_stored": ["proof", "checks"]})
    marked = [claim for claim in stored if claim.words.endswith("(as stored, not checked)")]
    assert {(claim.evidence, claim.verdict) for claim in marked} == {("proof", "unknown"), ("checks", "unknown")}


def test_of_a_network_without_actions_no_margin_is_told() -> None:
    result = extract(balanced_sets(), get_task("dyck-1"), replace(SMALL, budget=1.0))
    assert result.fidelity.action_margin is None
    for said in (summary_text(result), result.why(), *(claim.words for claim in claims_of(result.report()))):
        assert "margin" not in said
        assert "graded" not in said
    assert Fidelity(result.fidelity.rounding, None, 0.0, 0.0) == result.fidelity  # as earlier files have it


def test_of_a_large_automaton_the_first_transitions_are_shown() -> None:
    result = extract(load_model(ZOO / "nnpda-1n0n.pt"), get_language("1n0n"), SMALL)
    assert "more: print(result.automaton)" not in str(result)
    rows: dict[Key, Transition] = {(f"q{n}", "1", ("⊥",)): Transition(f"q{n + 1}", (NONE,)) for n in range(223)}
    states = tuple(f"q{n}" for n in range(224))
    large = PushdownAutomaton(states, ("0", "1"), (), rows, "q0", frozenset(states))
    shown = str(replace(result, minimised=large))
    assert "q39" in shown
    assert "q42" not in shown
    assert shown.endswith("and 183 transitions more: print(result.automaton) has all, --out pda.svg draws them")
    assert "q222" in str(large)


def horizon(length: int | None = 10, first: str | None = None, **more: Any) -> dict[str, Any]:
    known = None if first is None else {"word": first, "length": len(first), "height": 2, "made_of": None}
    return {
        "length": length,
        "every_length": False,
        "shown_by": "all words run",
        "domain": "all words",
        "words": 1_400,
        "cycles": 20,
        "others": 400,
        "shortest_difference": known,
        "exact": False,
        **more,
    }


def checked(other: str, word: str | None = None) -> dict[str, Any]:
    return {
        "kind": "exhaustive",
        "between": ["automaton", other],
        "max_length": 10,
        "words": 1_000,
        "disagreements": int(word is not None),
        "counterexample": word,
    }


CERTIFIED = {"verdict": "certified", "words": "all", "stack_limit": 2**53, "cuts": 0}
NOT_CERTIFIED = {"verdict": "not certified", "reason": "at (q): why"}
EQUAL = {"verdict": "equal", "counterexample": None, "reason": None, "domain": "all words"}
UNDECIDED = {"verdict": "undecided", "counterexample": None, "reason": "two stacks", "domain": None}
DIFFERENT = {"verdict": "different", "counterexample": "([", "reason": "one accepts", "domain": None, "shortest": True}
DRIFTS = {"word": "[()]" * 12, "length": 48, "height": 2, "made_of": "'[()]' 12 times"}
NOT_FOUND = horizon()


def report(
    proof: dict[str, Any], certificate: dict[str, Any], rounded: dict[str, Any], network: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "automaton": {},
        "language": "dyck-2",
        "model": {"alphabet": list("()[]")},
        "proof": proof,
        "certificate": certificate,
        "checks": [checked("language")],
        "horizon": {"rounded network": rounded, "network": network},
        **more,
    }


@pytest.mark.parametrize(
    ("of", "says"),
    [
        (
            report(EQUAL, CERTIFIED, NOT_FOUND, horizon(first="[" * 90)),
            "proved equal to dyck-2; the rounded network follows it on words of every length that need at most 2^53 "
            "cells of a stack (certificate); the network is first "
            f"known to differ on {'[' * 60}… (length 90)",
        ),
        (
            report(EQUAL, {**CERTIFIED, "words": "the task's", "stack_limit": 104}, NOT_FOUND, NOT_FOUND),
            "proved equal to dyck-2; the rounded network follows it on words of the task of every length that need "
            "at most 104 cells of a stack (certificate); the network follows it on all words of length <= 10 and on "
            "all others tried",
        ),
        (
            report(EQUAL, NOT_CERTIFIED, NOT_FOUND, NOT_FOUND),
            "proved equal to dyck-2; rounded network and network follow it on all words of length <= 10 and on all "
            "others tried",
        ),
        (
            report(EQUAL, NOT_CERTIFIED, horizon(shortest_difference=DRIFTS), horizon(first="([" * 6 + "]", others=9)),
            "proved equal to dyck-2; the rounded network is first known to differ on '[()]' 12 times (length 48), the "
            "network on ([([([([([([] (length 13)",
        ),
        (
            report(EQUAL, NOT_CERTIFIED, horizon(3, "()[]", exact=True), horizon(3, "()[]", exact=True)),
            "proved equal to dyck-2; rounded network and network first differ on ()[]",
        ),
        (
            report(EQUAL, NOT_CERTIFIED, horizon(40, shown_by="bounded certificate"), horizon(cycles=0, others=0)),
            "proved equal to dyck-2; the rounded network follows it on all words of length <= 40 (bounded certificate) "
            "and on all others tried; the network follows it on all words of length <= 10",
        ),
        (
            report(UNDECIDED, NOT_CERTIFIED, NOT_FOUND, NOT_FOUND),
            "equal to dyck-2 on all words of length <= 10 (not proved); rounded network and network follow it on all "
            "words of length <= 10 and on all others tried",
        ),
        (
            report(DIFFERENT, CERTIFIED, NOT_FOUND, NOT_FOUND),
            "different from dyck-2, first on ([; the rounded network follows it on words of every length that need at "
            "most 2^53 cells of a stack (certificate); the "
            "network follows it on all words of length <= 10 and on all others tried",
        ),
        (
            report(UNDECIDED, NOT_CERTIFIED, NOT_FOUND, NOT_FOUND, language=None, checks=[]),
            "held against no language; rounded network and network follow it on all words of length <= 10 and on all "
            "others tried",
        ),
        (
            report(EQUAL, CERTIFIED, NOT_FOUND, NOT_FOUND, automaton=None, reason="its actions are graded"),
            "no automaton: its actions are graded",
        ),
    ],
    ids=["certified", "within", "equal", "drifts", "exact", "bounded", "two stacks", "wrong", "no language", "none"],
)
def test_the_headline_says_which_of_the_three_it_equals(of: dict[str, Any], says: str) -> None:
    assert headline(of) == says
    assert as_sentence(headline(of)) == f"{says[0].upper()}{says[1:]}."


def test_the_headline_of_a_report_without_horizons_is_made_of_its_checks() -> None:
    old = report(EQUAL, NOT_CERTIFIED, {}, {}, counts={"equal": False})
    del old["horizon"]
    old["checks"] = [checked("language"), checked("rounded network"), checked("network", "(" * 12)]
    old["checks"] += [{**checked("rounded network", "[" * 20), "kind": "pumped"}]
    assert headline(old) == (
        f"proved equal to dyck-2; the rounded network is first known to differ on {'[' * 20} (length 20); the network "
        f"first differs on {'(' * 12} (length 12); its accepted words were counted twice, differently"
    )


def test_a_contradicted_certificate_is_not_told() -> None:
    told = headline(report(EQUAL, CERTIFIED, horizon(first="[" * 20), NOT_FOUND))
    assert "certificate" not in told


@pytest.mark.parametrize(
    ("entry", "says", "cell"),
    [
        (
            horizon(),
            "agrees on all words of length <= 10; no difference found in 1,400 words and 20 repeated cycles",
            "<= 10",
        ),
        (
            horizon(None, every_length=True, shown_by="certificate"),
            "agrees on words of every length (certificate)",
            "every length",
        ),
        (
            horizon(None, every_length=True, shown_by="certificate", stack_limit=2**53),
            "agrees on words of every length that need at most 2^53 cells of a stack (certificate)",
            "<= 2^53 cells",
        ),
        (
            horizon(103, shown_by="certificate", stack_limit=104, domain="all words of the task"),
            "agrees on words of the task of every length that need at most 104 cells of a stack (certificate)",
            "<= 104 cells",
        ),
        (
            horizon(9, "a" * 10, stack_limit=4),
            "agrees on all words of length <= 9, and on words of every length that need at most 4 cells of a stack "
            "(certificate); the shortest word known on which it differs: aaaaaaaaaa (length 10), height 2",
            "<= 9, not 10",
        ),
        (
            horizon(40, shown_by="bounded certificate", cycles=0, domain="all words of the task"),
            "agrees on all words of the task of length <= 40 (bounded certificate); no difference found in 1,400 words",
            "<= 40",
        ),
        (
            horizon(first="[" * 250),
            f"agrees on all words of length <= 10; the shortest word known on which it differs: {'[' * 200}… "
            "(length 250), height 2",
            "<= 10, not 250",
        ),
        (
            horizon(3, "([])", exact=True),
            "agrees on all words of length <= 3; first differs on ([]), height 2",
            "<= 3, not 4",
        ),
        (
            horizon(None, "a", shown_by=None),
            "agreement is shown for no length; the shortest word known on which it differs: a, height 2",
            "not 1",
        ),
    ],
)
def test_a_horizon_is_told_with_both_ends(entry: dict[str, Any], says: str, cell: str) -> None:
    assert horizon_claim(entry) == says
    assert horizon_cell(entry) == cell


def test_a_word_that_is_cut_or_told_by_its_parts_is_there_in_full_to_be_pasted() -> None:
    assert whole_word(horizon(first="[" * 250)) == "[" * 250
    assert whole_word(horizon(first="[" * 401)) == (
        "all 401 symbols are in the result and in the report (--save, --report)"
    )
    assert [whole_word(horizon(first=word)) for word in (None, "", "([])", "[" * 20)] == [None] * 4
    assert whole_word(horizon(None, every_length=True, shown_by="certificate")) is None
