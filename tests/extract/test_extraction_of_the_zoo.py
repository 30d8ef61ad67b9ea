from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import stacklens
from stacklens.extract.extraction import Extraction, ExtractionConfig, extract
from stacklens.languages import get_language
from stacklens.languages.words import all_words
from stacklens.models.inference import verdicts_on
from stacklens.models.io import load_checkpoint

ZOO = Path(stacklens.__file__).parent / "models" / "zoo"
GRADED = Path(__file__).parents[1] / "data" / "graded-pops.pt"
# live states, length checked, all words up to it
NETWORKS = {
    "parentheses": ((1,), 20, 2_097_151),
    "1n0n": ((2,), 20, 2_097_151),
    "palindrome": ((2, 3), 15, 21_523_360),
}


@cache
def extracted(name: str) -> Extraction:
    checkpoint = load_checkpoint(ZOO / f"nnpda-{name}.pt")
    return extract(checkpoint.model, get_language(name), ExtractionConfig(max_length=NETWORKS[name][1]))


@cache
def graded() -> Extraction:
    return extract(load_checkpoint(GRADED).model, get_language("1n0n"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_a_zoo_network_gives_the_languages_automaton_and_nothing_contradicts_it(name: str) -> None:
    result = extracted(name)
    states, length, words = NETWORKS[name]
    assert result.status == 0
    assert result.automaton is not None
    assert len(result.automaton.states) in states
    done = {(check.kind, check.other): check for check in result.checks}
    for other in ("language", "rounded network"):
        exhaustive = done["exhaustive", other]
        assert (exhaustive.max_length, exhaustive.words, exhaustive.disagreements) == (length, words, 0)
        assert (done["long", other].words, done["long", other].disagreements) == (10_000, 0)
        assert (done["deep", other].words, done["deep", other].disagreements) == (40, 0)
        assert done["deep", other].max_length >= 2_000  # 1,000 deep
    assert ("exhaustive", "network") in done
    assert done["exhaustive", "language"].accepted == sum(1 for _ in get_language(name).words(length))


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_the_report_has_the_keys_that_others_build_on(name: str) -> None:
    report = json.loads(json.dumps(extracted(name).report()))
    assert report["schema"] == 2
    assert report["language"] == name
    assert report["model"]["name"] == "nnpda"
    assert report["automaton"].keys() >= {"states", "stack_symbols", "transitions", "accepting", "before_minimization"}
    assert report["automaton"]["states"] <= report["automaton"]["before_minimization"]["states"]
    assert report["fidelity"].keys() >= {"rounding", "minority_transitions", "action_margin"}
    assert report["fidelity"]["rounding"].keys() >= {"words", "disagreements"}
    assert report["fidelity"]["rounding"]["disagreements"] == 0
    assert report["fidelity"]["minority_transitions"] is None  # nothing is voted on where behaviour is learned from
    assert report["method"] == "learn"
    assert 0 < report["fidelity"]["action_margin"] <= 0.5
    for check in report["checks"]:
        assert check.keys() >= {"kind", "between", "max_length", "words", "disagreements", "counterexample"}
        assert check["kind"] in ("exhaustive", "long", "deep", "covering", "driven", "pumped")
        assert check["between"][0] == "automaton"
        assert (check["counterexample"] is None) == (check["disagreements"] == 0)
    assert report["proof"].keys() >= {"verdict", "counterexample", "reason"}
    assert report["certificate"].keys() >= {"verdict", "reason"}
    assert report["seconds"]


@pytest.mark.slow
def test_an_analog_network_may_err_on_long_words_without_contradicting_its_automaton() -> None:
    results = [extracted(name) for name in NETWORKS]
    wrong = [(one, check) for one in results for check in one.checks if check.disagreements]
    assert wrong  # their errors sum up (section 4.1)
    for result, check in wrong:
        assert check.other == "network"
        word = check.counterexample
        assert word is not None
        assert result.automaton is not None
        (verdict,) = verdicts_on(result.model, [word])
        assert verdict != result.automaton.accepts(word)
        assert result.contradicted is None


@pytest.mark.slow
def test_graded_pops_have_no_faithful_automaton_though_the_network_is_right_on_all_short_words() -> None:
    language = get_language("1n0n")
    words = all_words(language.alphabet, 12)
    verdicts = verdicts_on(load_checkpoint(GRADED).model, words)
    assert verdicts.tolist() == [word in language for word in words]
    result = graded()
    assert result.status == 3
    assert result.minimised is None
    assert result.checks == ()
    assert result.reason is not None
    rounding = result.fidelity.rounding
    assert rounding.mismatch > 0.1
    assert result.fidelity.graded_actions > 0.2
    assert f"{rounding.disagreements:,} of " in result.reason
    assert f"{result.fidelity.graded_actions:.1%}" in result.reason


@pytest.mark.slow
def test_a_network_without_an_automaton_reports_everything_that_was_tried() -> None:
    clusters = extract(load_checkpoint(GRADED).model, get_language("1n0n"), ExtractionConfig(method="kmeans"))
    report = json.loads(json.dumps(clusters.report()))
    assert report["automaton"] is None
    assert report["reason"] == clusters.reason
    assert report["checks"] == []
    assert f"{clusters.fidelity.minority_transitions:.1%}" in report["reason"]
    shares = [candidate["minority_transitions"] for candidate in report["attempts"]]
    assert len(shares) > 5
    assert all(0 <= share <= 1 for share in shares)
    assert max(shares) > 0.06
    assert {candidate["way"] for candidate in report["attempts"]} == {"exploration", "vote"}


def test_extraction_needs_no_language() -> None:
    checkpoint = load_checkpoint(ZOO / "nnpda-1n0n.pt")
    result = extract(checkpoint.model, None, ExtractionConfig(max_length=10, long_words=100))
    assert result.status == 0
    assert result.language is None
    assert result.automaton is not None
    language = get_language("1n0n")
    words = all_words(language.alphabet, 10)
    assert [result.automaton.accepts(word) for word in words] == [word in language for word in words]
    assert {check.other for check in result.checks} == {"network", "rounded network"}
    assert result.report()["language"] is None
