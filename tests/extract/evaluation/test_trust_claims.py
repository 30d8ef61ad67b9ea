"""What a report's claims rest on, in words and in tables."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from typing import Any

from stacklens.extract.by_name import specification_of
from stacklens.extract.claims import Claim, claims_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation.trust import check_table
from stacklens.extract.extraction import extract
from stacklens.models.checkpoint import ZOO, load_network

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
    assert found[1].words == "2 states, 1 stack symbol, 4 transitions; 4 states, 1 stack symbol before minimisation"
    assert found[3].words == f"0 disagreements in {words:,} words"
    certified = "on words of every length that need at most 2^53 cells of a stack (certificate)"
    assert found[0].words.startswith(f"proved equal to 1n0n; the rounded network follows it {certified}; ")
    assert found[6].words == f"agrees {certified}"
    assert found[7].words.startswith("agrees on all words of length <= 5; no difference found in ")
    assert found[8].words == (
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
    assert said.words.endswith("; a short one is 1100")
    assert claim(report, "checked against the rounded network").words.endswith("a short one is the empty word")
    assert claim(report, "checked against the network").words.endswith("which contradicts nothing")
    assert check_table(report)["counterexample"].tolist()[:3] == ["1100", "ε", "10" * 100]


def test_counts_that_differ_and_a_stack_that_ends_are_told() -> None:
    report = changed(counts={"exhaustive": [0, 1], "counted": [0, 2], "equal": False}, stack_limit=104)
    says = (
        "2 accepted words of length <= 1, without running them: not as many at length 1 as the 1 found by running all"
    )
    assert claim(report, "counted twice") == Claim("counted twice", "no", "counts", says)
    assert claim(report, "depth").words == "the network's stack has 104 cells; all claims end there"
