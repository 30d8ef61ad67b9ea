"""What a report's claims rest on, in words and in tables."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from stacklens.extract.by_name import specification_of
from stacklens.extract.evaluation.trust import Claim, causal_claims, check_table, claims_of
from stacklens.extract.extraction import ExtractionConfig, extract
from stacklens.models.io import ZOO, load_network

SMALL = ExtractionConfig(max_length=5, long_words=40, long_lengths=(10, 20), deep_words=2, depth=9, height=4, walks=4)


@cache
def made(name: str) -> dict[str, Any]:
    checkpoint = load_network(ZOO / f"{name}.pt")
    in_vain = replace(SMALL, method="learn", budget=1e-9)  # it ends before anything is found
    config = in_vain if name.startswith("buffered") else SMALL
    return extract(checkpoint.model, specification_of(checkpoint), config).report()


def changed(**parts: Any) -> dict[str, Any]:
    return {**copy.deepcopy(made("nnpda-1n0n")), **parts}


def claim(report: dict[str, Any], what: str) -> Claim:
    (found,) = [one for one in claims_of(report) if one.what == what]
    return found


def test_a_faithful_automaton_has_every_kind_of_claim_side_by_side() -> None:
    found = claims_of(made("nnpda-1n0n"))
    assert [(one.what, one.verdict) for one in found] == [
        ("result", "yes"),
        ("automaton", "yes"),
        ("rounding", "yes"),
        ("checked against the language 1n0n", "yes"),
        ("checked against the rounded network", "yes"),
        ("checked against the network", "yes"),
        ("horizon, rounded network", "yes"),
        ("horizon, network", "yes"),
        ("counted twice", "yes"),
        ("proof", "yes"),
        ("certificate", "yes"),
    ]
    checks = [check for check in made("nnpda-1n0n")["checks"] if check["between"][1] == "language"]
    words = sum(check["words"] for check in checks if check["kind"] != "pumped")
    assert found[1].says == "2 states, 1 stack symbol, 4 transitions; 4 states, 1 stack symbol before minimisation"
    assert found[3].says == f"0 disagreements in {words:,} words"
    certified = "on words of every length that need at most 2^53 cells of a stack (certificate)"
    assert found[0].says.startswith(f"proved equal to 1n0n; the rounded network follows it {certified}; ")
    assert found[6].says == f"agrees {certified}"
    assert found[7].says.startswith("agrees on all words of length <= 5; no difference found in ")
    assert found[8].says == (
        "2 accepted words of length <= 5, without running them: as many as were found by running all"
    )


def test_a_disagreement_is_told_with_a_short_word_and_the_table_has_all_of_it() -> None:
    report = changed()
    language, rounded, network = report["checks"][:3]
    language |= {"disagreements": 2, "counterexample": "1100"}
    rounded |= {"disagreements": 1, "counterexample": ""}
    network |= {"disagreements": 3, "counterexample": "10" * 100}
    said = claim(report, "checked against the language 1n0n")
    assert said.verdict == "no"
    assert said.says.endswith("; a short one is 1100")
    assert claim(report, "checked against the rounded network").says.endswith("a short one is the empty word")
    assert claim(report, "checked against the network").says.endswith("which contradicts nothing")
    assert check_table(report)["counterexample"].tolist()[:3] == ["1100", "ε", "10" * 100]


@pytest.mark.parametrize(
    ("part", "content", "verdict", "says"),
    [
        (
            "proof",
            {"verdict": "different", "counterexample": "", "reason": "one accepts"},
            "no",
            "different from that of the language 1n0n: one accepts, on the empty word",
        ),
        (
            "proof",
            {"verdict": "undecided", "counterexample": "10", "reason": "heights part"},
            "unknown",
            "undecided: heights part, on 10",
        ),
        ("certificate", {"verdict": "not tried", "reason": "no box"}, "unknown", "not tried: no box"),
        (
            "certificate",
            {"verdict": "certified", "words": "the task's", "boxes": 1, "margin": 0.25},
            "yes",
            "the rounded network follows the automaton on words of the task of every length "
            "(1 box, smallest margin 0.250)",
        ),
        (
            "certificate",
            {
                "verdict": "certified",
                "words": "all",
                "boxes": 2,
                "margin": 0.25,
                "number_format": "float16",
                "stack_limit": 2_048,
                "cuts": 3,
                "first_cut": ["q", "b", "⊥"],
                "silent": 1,
            },
            "yes",
            "the rounded network follows the automaton on words of every length that need at most 2,048 cells of a "
            "stack, up to where its run is cut (3 places, as at q, b, ⊥), but for the output at 1 place "
            "(float16, 2 boxes, smallest margin 0.250)",
        ),
    ],
)
def test_proofs_and_certificates_say_what_they_rest_on(part: str, content: Any, verdict: str, says: str) -> None:
    assert claim(changed(**{part: content}), part) == Claim(part, verdict, says)  # type: ignore[arg-type]


def test_counts_that_differ_and_a_stack_that_ends_are_told() -> None:
    report = changed(counts={"exhaustive": [0, 1], "counted": [0, 2], "equal": False}, stack_limit=104)
    assert claim(report, "counted twice") == Claim(
        "counted twice",
        "no",
        "2 accepted words of length <= 1, without running them: not as many at length 1 as the 1 found by running all",
    )
    assert claim(report, "depth").says == "the network's stack has 104 cells; all claims end there"


def test_states_and_symbols_that_are_no_causes_are_told_with_their_share() -> None:
    def entry(accuracy: float | None) -> dict[str, Any]:
        return {
            "accuracy": accuracy,
            "interval": [0.9, 1.0],
            "interchanges": 200,
            "baseline": 0.5,
            "reason": "no vector",
        }

    asked = changed(causality={"states": entry(0.94), "symbols": entry(1.0)})
    share = "94.0 % of 200 interchanges do as the automaton predicts"
    shown = f"{share} (95 % interval 90.0 to 100.0; random partitions 50.0 %)"
    assert claim(asked, "states as causes") == ("states as causes", "no", shown)
    assert claim(asked, "symbols as causes").verdict == "yes"
    said = {"heads": entry(1.0), "doubt": None, "mechanism": "raw", "verdict": "the raw one is"}
    asked = changed(causality={"states": entry(0.94), "symbols": entry(1.0), **said})
    assert claim(asked, "heads as causes").verdict == "yes"
    assert claim(asked, "mechanism")[1:] == ("yes", "the raw one is")
    nothing = changed(causality={"states": entry(None), "symbols": entry(1.0)})
    assert claim(nothing, "states as causes")[1:] == ("note", "no score: no vector")


def test_the_zoo_comes_with_its_interchange_experiments() -> None:
    found = json.loads((ZOO / "nnpda-palindrome.json").read_text(encoding="utf-8"))["causality"]
    assert found["states"]["interchanges"] > 900
    (states,) = [one for one in causal_claims({"causality": found}) if one.what.startswith("states")]
    assert states.verdict == "no"  # minimisation merged what the network keeps apart
