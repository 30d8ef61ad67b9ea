"""What a report says in words: the same wherever it is shown."""

from __future__ import annotations

from typing import Any

import pytest

from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation.trust import claims_of
from stacklens.extract.extraction import extract
from stacklens.extract.summary import summary_text
from stacklens.extract.wording import (
    agreement_claim,
    automaton_claim,
    before_claim,
    certificate_claim,
    depth_claim,
    network_claim,
    proof_claim,
    rounding_claim,
)
from stacklens.languages import get_language
from stacklens.models.io import ZOO, load_model

SMALL = ExtractionConfig(max_length=4, long_words=20, long_lengths=(8, 12), deep_words=2, depth=5, height=3, walks=2)


def test_summary_and_claims_say_the_same() -> None:
    result = extract(load_model(ZOO / "nnpda-1n0n.pt"), get_language("1n0n"), SMALL)
    summary, claims = summary_text(result), {claim.what: claim.says for claim in claims_of(result.report())}
    assert f"rounding   {claims['rounding']}" in summary
    assert f"counted    {claims['counted twice']}" in summary
    sizes, before = claims["automaton"].split("; ")
    assert f"automaton  {sizes}\n" in summary
    assert f"({before}; found with " in summary
    assert f"certified  {claims['certificate'].replace('the automaton', 'it')}" in summary


def test_one_of_a_kind_is_in_the_singular_and_a_second_stack_is_told() -> None:
    sizes = {
        "states": 1,
        "stack_symbols": 1,
        "transitions": 1,
        "before_minimization": {"states": 2, "stack_symbols": 1},
    }
    assert automaton_claim(sizes) == "1 state, 1 stack symbol, 1 transition"
    assert automaton_claim(sizes, 2) == "1 state, 1 stack symbol, 2 stacks, 1 transition"
    before = {"states": 2, "stack_symbols": 1}
    assert before_claim({"before_minimization": before}) == "before minimisation 2 states, 1 stack symbol"
    assert depth_claim(1) == "the network's stack has 1 cell; all claims end there"


def test_where_no_machine_was_tried_nothing_was_outvoted() -> None:
    fidelity = {"rounding": {"words": 1, "disagreements": 0}, "action_margin": 0.25, "minority_transitions": None}
    assert rounding_claim(fidelity) == "changes 0 of 1 verdict; smallest action margin 0.250"
    assert rounding_claim({**fidelity, "minority_transitions": 0.015}).endswith("0.250; 1.5% of transitions outvoted")


@pytest.mark.parametrize(
    ("proof", "other", "says"),
    [
        ({"verdict": "equal", "domain": "all words"}, None, "equal for all words"),
        ({"verdict": "equal"}, "dyck-1", "equal to dyck-1 for all words"),
        (
            {"verdict": "different", "reason": "one accepts", "counterexample": ""},
            None,
            "different: one accepts, on the empty word",
        ),
        (
            {"verdict": "undecided", "reason": "two stacks", "counterexample": None},
            "dyck-1",
            "undecided: two stacks",
        ),
    ],
)
def test_a_proof_names_the_other_automaton_only_where_it_is_asked_to(
    proof: dict[str, Any], other: str | None, says: str
) -> None:
    assert proof_claim(proof, other) == says


def test_without_a_certificate_its_reason_is_told() -> None:
    assert certificate_claim({"verdict": "not certified", "reason": "at (q): why"}) == "not certified: at (q): why"


def test_kinds_of_words_are_named() -> None:
    check = {"words": 1_000, "max_length": 2_002, "disagreements": 0}
    ends = [agreement_claim({**check, "kind": kind}).split(" in ", 1)[1] for kind in ("long", "deep")]
    assert ends == ["1,000 words of length <= 2,002", "1,000 deep words of length <= 2,002"]
    assert "cycles repeated in words" in agreement_claim({**check, "kind": "pumped"})


def test_a_network_of_many_letters_is_named_in_a_line() -> None:
    model = {"name": "nnpda", "alphabet": [str(number) for number in range(1_000)]}
    assert network_claim(model, "numbers").endswith("(1,000 symbols); language numbers")
