"""Up to which length automaton and network agree, held against every word, and the shortest word on which they part."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.extract.doctored import WornNet, right

from stacklens.automata.compare import Equal
from stacklens.automata.pda import Word
from stacklens.extract.agreement import Agreement, Certification, Certified, differ_on
from stacklens.extract.claims import claims_of, headline
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.horizon import (
    FirstDifference,
    ProvedLength,
    find_horizons,
    horizon_of,
    known_horizons,
    proved_lengths,
    with_stack_limit,
)
from stacklens.extract.memory_use import StackUse
from stacklens.extract.result import Extraction
from stacklens.extract.samples import Fidelity, Rounding
from stacklens.extract.saved import load_result
from stacklens.extract.search.candidates import Candidate
from stacklens.extract.specification import LanguageSpecification
from stacklens.extract.verification.checks import check_all
from stacklens.extract.wording import cells_named
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import ZOO
from stacklens.models.rounding import Rounded

DYCK = LanguageSpecification(get_language("dyck-2"))
FEW = ExtractionConfig(long_words=20, deep_words=0, height=8, climbs=1, walks=5, cycles=20)


@pytest.mark.parametrize("breaks_at", [1, 2])
def test_a_network_broken_at_a_length_has_exactly_that_horizon(breaks_at: int) -> None:
    net, config = WornNet(breaks_at), replace(FEW, max_length=6)
    first = 2 * breaks_at + 2  # so many opening and closing brackets, and one of each more
    checks = check_all(right(), net, DYCK, config)
    for horizon in find_horizons(right(), net, DYCK, checks).values():
        assert horizon.length == first - 1
        assert horizon.shown_by == "all words run"
        assert horizon.domain == "all words"
        assert horizon.exact
        assert not horizon.every_length
        assert len(horizon.difference.word) == first
        assert horizon.difference.kind == "exhaustive"


def check(length: int, word: Word | None = None, **other: Any) -> Agreement:
    return Agreement("exhaustive", "rounded network", length, 10, 1, int(word is not None), word, **other)


def long(word: Word | None) -> Agreement:
    return Agreement("long", "rounded network", 90, 10, 1, int(word is not None), word)


@pytest.mark.parametrize(
    ("checks", "known", "proved", "length", "shown_by"),
    [
        ([check(9), long(None)], None, [], 9, "all words run"),
        ([check(9), long("a" * 40)], "a" * 40, [], 9, "all words run"),
        ([check(9, "aaa")], "aaa", [], 2, "all words run"),
        ([check(9, "aaa")], None, [], 2, "all words run"),
        ([check(9, "")], "", [], None, None),
        ([long(None)], None, [], None, None),
        ([check(9)], None, [ProvedLength(30, "bounded certificate")], 30, "bounded certificate"),
        ([check(9)], None, [ProvedLength(5, "bounded certificate")], 9, "all words run"),
        ([check(9)], "a" * 20, [ProvedLength(30, "bounded certificate")], 19, "bounded certificate"),
        ([check(9)], None, [ProvedLength(None, "certificate")], None, "certificate"),
        ([check(9)], "a" * 20, [ProvedLength(None, "certificate")], 9, "all words run"),
    ],
)
def test_a_horizon_is_what_is_shown_and_never_beyond_a_known_difference(
    checks: list[Agreement], known: Word | None, proved: list[ProvedLength], length: int | None, shown_by: str | None
) -> None:
    first = None if known is None else FirstDifference(known, 1, "long")
    horizon = horizon_of(checks, "rounded network", False, first, proved)
    assert (horizon.length, horizon.shown_by) == (length, shown_by)
    assert horizon.every_length == (shown_by == "certificate")
    assert horizon.exact == (known in ("aaa", "", "a" * 20) and (length is None or length == len(known or "") - 1))


def test_each_network_has_words_of_its_own_and_only_the_rounded_one_is_proved() -> None:
    checks, proved = [check(4), replace(check(4, "([)]"), other="network")], [ProvedLength(None, "certificate")]
    found = known_horizons(right(), checks, False, proved)
    assert (found["rounded network"].every_length, found["rounded network"].difference) == (True, None)
    network = found["network"]
    assert (network.length, network.shown_by) == (3, "all words run")
    assert network.difference == FirstDifference("([)]", 2, "exhaustive")


def test_a_certificate_with_cuts_says_nothing_of_every_length_unless_the_automaton_is_proved_right() -> None:
    whole = Certification(Certified(3, 9, 0.25))
    cut = Certification(Certified(3, 9, 0.25, cuts=1, first_cut=("q", "a", ("⊥",))))
    silent = Certification(Certified(3, 9, 0.25, silent=2))
    every = (ProvedLength(None, "certificate", None, "float64"),)
    assert proved_lengths(whole, equal=False) == every
    assert proved_lengths(cut, equal=False) == proved_lengths(silent, equal=False) == ()
    assert proved_lengths(cut, equal=True) == proved_lengths(silent, equal=True) == every
    assert proved_lengths(Certification(None, reason="none"), equal=True) == ()


@pytest.mark.parametrize(
    ("limit", "longest", "first", "known"),
    [
        (104, 9, None, (103, "certificate", 104)),
        (104, 200, None, (200, "all words run", 104)),
        (104, 9, ("a" * 210, 105), (103, "certificate", 104)),
        (104, 9, ("a" * 50, 105), (49, "certificate", 104)),
        (104, 9, ("a" * 210, 104), (9, "all words run", None)),
        (2**24, 9, None, (2**24 - 1, "certificate", 2**24)),
        (2**53, 9, None, (None, "certificate", 2**53)),
        (2**53, 9, ("a" * 210, 105), (9, "all words run", None)),
    ],
)
def test_a_certificate_holds_for_so_many_cells_of_a_stack(
    limit: int, longest: int, first: tuple[Word, int] | None, known: tuple[Any, ...]
) -> None:
    """A word that needs more cells does not contradict it, and any other does."""
    proved = proved_lengths(Certification(Certified(3, 9, 0.25, limit, "float16")), equal=False)
    parted = None if first is None else FirstDifference(*first, "long")
    horizon = horizon_of([check(longest)], "rounded network", False, parted, proved)
    assert (horizon.length, horizon.shown_by, horizon.stack_limit) == known
    entry = horizon.to_dict()
    assert entry["every_length"] == (known[0] is None)
    assert entry["number_format"] == ("float16" if known[2] else None)
    assert (f"{cells_named(limit)} of a stack" in str(horizon)) == (known[2] is not None)


@pytest.mark.parametrize(
    ("name", "most", "word"),
    [
        ("marnn-stack-rnn-dyck-2-firm", 104, lambda n: "(" * n + ")" * n),
        ("stack-rnn-anbn", 200, lambda n: "a" * n + "b" * n),
    ],
)
def test_no_word_that_overflows_the_stack_refutes_what_is_said_of_every_length(
    name: str, most: int, word: Callable[[int], str]
) -> None:
    result = load_result(ZOO / f"{name}.json", trusted=True)
    differ = [
        bool(differ_on(result.automaton, Rounded(result.model), None, [word(n)], result.language)[0])
        for n in (most, most + 1, most + 5)
    ]
    assert differ == [False, True, True]
    report = result.report()
    entry = report["horizon"]["rounded network"]
    assert (entry["every_length"], entry["stack_limit"], entry["number_format"]) == (False, most, "float64")
    assert entry["length"] < most
    assert report["equals"]["rounded network"]["domain"].startswith("words of ")
    sentences = (result.headline, str(result), repr(result), *(claim.words for claim in claims_of(report)))
    told = [line for text in sentences for line in text.split("; ") if "every length" in line]
    assert len(told) >= 6
    assert all(f"every length that need at most {most} cells" in line for line in told)


def test_entries_of_earlier_versions_are_bounded_by_their_certificate() -> None:
    old = {"length": None, "every_length": True, "shown_by": "certificate", "shortest_difference": None}
    limits: list[dict[str, Any]] = [{"stack_limit": 104}, {"stack_limit": 2**53}, {"stack_limit": None}, {}]
    told = [with_stack_limit(old, limit) for limit in limits]
    assert [one["every_length"] for one in told] == [False, True, True, False]
    assert [one["length"] for one in told] == [103, None, None, None]
    assert told[3]["shown_by"] is None
    now = {**old, "stack_limit": None}
    assert with_stack_limit(now, {}) == now


def test_an_automaton_that_is_right_of_a_network_that_drifts_is_told_first() -> None:
    net, found = WornNet(9), Candidate("by hand", 2, "exploration", 1, 0, 0.0, right(), right())
    fidelity, use = Fidelity(Rounding(341, 0, 8), 0.0, 0.5, 0.0), StackUse((0,), (), 341, 900)
    checks, proof = check_all(right(), net, DYCK, replace(FEW, max_length=4)), DYCK.compare(right())
    horizon = find_horizons(right(), net, DYCK, checks)
    worn = Extraction(
        net, DYCK, right(), found, [found], fidelity, use, checks, proof=proof, horizon=horizon, config=FEW
    )
    assert isinstance(worn.proof, Equal)
    assert worn.status == 1
    assert worn.headline.startswith("proved equal to dyck-2; rounded network and network are first known to differ on ")
    assert str(worn).splitlines()[0] == f"{worn.headline[0].upper()}{worn.headline[1:]}."
    assert repr(worn).endswith(f"; {headline(worn.report(), brief=True)}>")
    assert "the rounded network is first known to differ on " in repr(worn)
    report = worn.report()
    assert report["schema"] == 2
    assert report["horizon"]["rounded network"]["shortest_difference"]["length"] == 20
    assert (report["equals"]["language"]["verdict"], report["equals"]["language"]["by"]) == ("equal", "proof")
    assert report["equals"]["rounded network"]["verdict"] == "different"
