"""Interchange accuracy of networks whose mechanism is known: what it should be is told by hand."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.certificate.proved import filled
from tests.extract.hand_built import HandMachine, SuperpositionNet, hand_machines
from tests.languages.plain_brackets import may_come
from tests.probe.causal.mechanisms import DIRECT, IDLING, PHASED, TOP_IN_STATE, TURNING_CELLS, TURNING_STATES
from tests.refusals import refused

import stacklens as sl
from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition
from stacklens.extract.causality import claim_of
from stacklens.extract.claims import claims_of
from stacklens.languages.language import all_words
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.models.networks.baselines import Baseline, BaselineConfig
from stacklens.models.rounding import Rounded
from stacklens.probe.interchange import interchange
from stacklens.probe.intervene import intervene
from stacklens.probe.outcome import Causality, Share, wilson


def scored(of: HandMachine, claimed: HandMachine, cases: int = 600, **named: Any) -> Causality:
    """Return what the automaton of a machine scores on the network of another one."""
    network, words, pda = SuperpositionNet(of, no_op=True), all_words(of.letters, 5), claimed.automaton()
    own = claim_of(pda, network, None, words, (0,))
    return interchange(own, Rounded(network), network, words, cases=cases, **named)


def test_a_network_whose_automaton_is_causal_scores_one() -> None:
    found = scored(DIRECT, DIRECT)
    assert found.states.share == Share(0, 0)  # one state: nothing is told apart
    assert "one state, and tells none apart" in str(found.states)
    assert found.symbols.soft.accuracy == found.score == 1.0
    assert found.states.worst is None
    assert found.states.baseline is None  # one state: all partitions are the same
    assert found.symbols.baseline < 0.6
    assert scored(TOP_IN_STATE, TOP_IN_STATE).symbols.baselines["permuted labels"].accuracy < 0.4


@pytest.mark.parametrize("of", [DIRECT, TOP_IN_STATE])
def test_every_interchange_drawn_is_counted_once(of: HandMachine) -> None:
    for part in scored(of, DIRECT, cases=400).kinds:
        if part.share.of:
            assert part.told_apart == part.different.of
            assert part.same.of + part.different.of + part.untold.of + part.undefined == 400
            assert sum(one.of for one in part.by_name.values()) == part.told_apart


@pytest.mark.parametrize(
    ("of", "claimed", "what"), [(TURNING_CELLS, TURNING_STATES, "states"), (TOP_IN_STATE, DIRECT, "symbols")]
)
def test_the_worst_case_can_be_pasted_back(of: HandMachine, claimed: HandMachine, what: str) -> None:
    network, found = SuperpositionNet(of, no_op=True), scored(of, claimed)
    part = getattr(found, what)
    worst = part.worst_case
    assert (found.score, part.worst, worst.part) == (0.0, worst.word, "hidden" if what == "states" else "cells")
    seen = eval(worst.call, {"sl": sl, "model": network})  # our own line
    said = network.alphabet[int(seen.output[0, len(worst.base) + worst.step].argmax())]
    assert worst.said[worst.step] == said != worst.predicted[worst.step]


@settings(max_examples=10)
@given(
    machine=hand_machines(["push", "pop", "none"], ["next symbol", "recognition", "next set"]), seed=st.integers(0, 99)
)
def test_machines_of_cells_and_states_are_causal_in_all_that_they_are_asked(machine: HandMachine, seed: int) -> None:
    network = SuperpositionNet(machine, no_op=True)
    pda = machine.automaton()
    words = all_words(machine.letters, 4)
    own = claim_of(pda, network, None, words, (0,))
    for part in interchange(own, Rounded(network), network, words, cases=120, seed=seed).kinds:
        if part.what != "aligned":  # which is fitted, and need not fit
            assert math.isnan(part.accuracy) or part.accuracy == 1.0, str(part)
            assert math.isnan(part.same.accuracy) or part.same.accuracy == 1.0, str(part)


def test_a_report_of_an_earlier_version_is_read_as_it_was_meant() -> None:
    """There same and different counted, told apart or not, and nothing was said of heads."""
    entry = {"same": [900, 1000], "different": [600, 1000], "told_apart": 700, "baseline": 0.4, "undefined": 3}
    entry |= {"by_name": {"q0": [1500, 2000]}, "reason": None}
    plain = {"automaton": "minimised", "values": "source", "prefixes": 100, "seed": 0}
    found = Causality.from_dict({**plain, "states": entry, "symbols": entry})
    assert found.states.accuracy == 0.75
    assert found.mechanism is None
    assert found.verdict.startswith("not decided: an earlier version")


def test_verdicts_of_the_zoo_follow_from_their_numbers_whichever_kinds_were_asked() -> None:
    for path in ZOO.glob("*.json"):
        report = json.loads(path.read_text(encoding="utf-8"))
        found = Causality.from_dict(entry := report["causality"])
        assert (found.verdict, found.mechanism) == (entry["verdict"], entry["mechanism"])
        assert found.verdict.startswith("not decided") == (found.doubt is not None)
        entry["symbols"]["untold"] = None  # as in a report of an earlier version
        (claim,) = (one for one in claims_of(report) if one.what == "mechanism")
        assert (claim.verdict == "note") == claim.words.startswith("not decided")


# What each automaton scores on each network, by kind: written down from the tables of both before it was first run.
# 1: all do as predicted; 0: none; "some": neither; None: no interchange is told apart. `same` is of states.
EXPECTED: dict[str, tuple[HandMachine, HandMachine, dict[str, int | str | None]]] = {
    # the network says its turn by its cells; an automaton with two states claims that the hidden vector says it
    "two states used as one": (TURNING_CELLS, TURNING_STATES, {"states": 0, "symbols": None, "heads": 1, "same": 1}),
    "cells by cells": (TURNING_CELLS, TURNING_CELLS, {"states": None, "symbols": 1, "heads": 1, "same": 1}),
    # phases that an automaton with one state does not know: cells mean the contrary in the other phase
    "one state used as two": (PHASED, DIRECT, {"states": None, "symbols": "some", "heads": "some", "same": "some"}),
    "phases by phases": (PHASED, PHASED, {"states": 1, "symbols": 1, "heads": 1, "same": 1}),
    # where the cell holds what is below, another cell never says what it claims: the symbol left is said, and not it
    "top in the hidden vector": (TOP_IN_STATE, DIRECT, {"states": None, "symbols": 0, "heads": "some", "same": "some"}),
    "top by states": (TOP_IN_STATE, TOP_IN_STATE, {"states": 1, "symbols": 1, "heads": 1, "same": 1}),
    # the contrary: a hidden vector that tells nothing, and cells one place higher than claimed
    "top claimed of the hidden vector": (DIRECT, TOP_IN_STATE, {"states": 0, "symbols": 0, "heads": "some", "same": 1}),
    # two hidden vectors that take turns for nothing: an automaton that tells them apart predicts nothing of it
    "two vectors, told apart": (IDLING, IDLING, {"states": None, "symbols": 1, "heads": 1, "same": None}),
    "two vectors, one state": (IDLING, DIRECT, {"states": None, "symbols": 1, "heads": 1, "same": 1}),
    "direct": (DIRECT, DIRECT, {"states": None, "symbols": 1, "heads": 1, "same": 1}),
}


@pytest.mark.parametrize("case", EXPECTED)
def test_networks_whose_mechanism_is_known_score_what_was_told_beforehand(case: str) -> None:
    of, automaton, expected = EXPECTED[case]
    found = scored(of, automaton)
    shares = {part.what: part.share for part in found.kinds} | {"same": found.states.same}
    for what, told in expected.items():
        share = shares[what]
        if told is None:  # nothing is told apart
            assert share.of == 0, f"{what}: {share}"
        elif told == "some":
            assert 0.02 < share.accuracy < 0.97, f"{what}: {share}"
        else:
            assert (share.of >= 30, share.accuracy) == (True, told), f"{what}: {share}"
    assert (found.mechanism is not None) == (set(expected.values()) <= {1, None})


def test_of_equal_automata_the_verdict_names_the_one_that_the_network_computes() -> None:
    both = ("minimised", DIRECT), ("raw", PHASED)
    found = {name: replace(scored(PHASED, machine, 400, automaton=name), equal=True) for name, machine in both}
    alone = replace(found["minimised"], others={"raw": found["raw"]})
    assert (alone.mechanism, alone.raw) == ("raw", found["raw"])
    assert alone.verdict.startswith(
        "of two automata that are proved equal, the raw one is what the network computes (1.00; next ."
    )
    assert "raw 3/2" in str(alone)
    alike = replace(found["raw"], others={"larger": replace(found["raw"], automaton="larger", sizes=(9, 9))})
    assert alike.mechanism == "raw"
    assert "(1.00; as well: larger 1.00)" in alike.verdict
    unlevel = replace(found["raw"], level=Share(9, 10))
    assert unlevel.mechanism is None
    assert "on 0.900" in str(unlevel)


@given(st.integers(1, 500), st.integers(0, 500))
def test_the_interval_holds_the_shares_that_the_normal_test_does_not_reject(of: int, right: int) -> None:
    right = min(right, of)
    low, high = wilson(right, of)
    for share in np.linspace(0.001, 0.999, 97):
        away = abs(right / of - share) / math.sqrt(share * (1 - share) / of)
        if abs(away - 1.959963984540054) > 1e-6:
            assert (low <= share <= high) == (away < 1.959963984540054)
    assert Share(right, of).accuracy == right / of
    for wrong in ((right, -1), (-1, of), (of + 1, of)):
        refused("expected numbers of which the first is a part", Share, *wrong)


@pytest.mark.parametrize(("words", "swaps", "right", "together"), [(60, 200, 0.9, 0.3), (300, 900, 0.98, 0.8)])
def test_the_interval_over_words_covers_where_one_over_swaps_does_not(
    words: int, swaps: int, right: float, together: float
) -> None:
    """Each word has a share of its own, drawn around the true one; swaps of a word go right with that."""
    rng, covered, naively = np.random.default_rng(0), 0, 0
    more, less = right * (1 / together - 1), (1 - right) * (1 / together - 1)
    for _ in range(500):
        own, base = rng.beta(more, less, words), rng.integers(0, words, swaps)
        share = Share.over(rng.random(swaps) < own[base], base[None])
        covered += share.interval[0] <= right <= share.interval[1]
        low, high = wilson(share.right, share.of)
        naively += low <= right <= high
    assert covered > 0.91 * 500  # .93 to .95 of 2,000
    assert naively < 0.88 * 500
    assert Share.over(np.ones(swaps, np.bool_), np.arange(swaps)[None] % words).interval == wilson(words, words)


def delay() -> Baseline:
    """Return a tanh RNN that says the symbol before the one it reads: its units are the symbol and the one before."""
    return filled(
        Baseline(BaselineConfig(("a", "b"), "rnn", "next symbol", hidden=2)),
        input_0_weights=[[9.0, -9.0], [0.0, 0.0]],  # unit 1: a or b
        hidden_0_weights=[[0.0, 0.0], [9.0, 0.0]],  # unit 2 is what unit 1 was
        output_weights=[[0.0, 1.0], [0.0, -1.0]],
    )


def test_without_a_stack_all_is_in_the_hidden_vector() -> None:
    network = delay()
    steps: dict[Key, Transition] = {
        (f"after {last}", symbol, ("⊥",)): Transition(f"after {symbol}", (NONE,), last)
        for last in "ab"
        for symbol in "ab"
    }
    pda = PushdownAutomaton(("after a", "after b"), ("a", "b"), (), steps, "after a")
    words = all_words(("a", "b"), 6)[1:]
    found = interchange(claim_of(pda, network, None, words, ()), Rounded(network), network, words, cases=300)
    assert found.states.same.accuracy == found.states.different.accuracy == 1.0
    assert found.states.baseline == pytest.approx(0.5, abs=0.15)
    assert found.mechanism is None  # an interchange of all that there is
    assert "that is the other run" in found.verdict
    assert found.symbols.reason == "there is no stack that the automaton sees"
    centred = interchange(
        claim_of(pda, network, None, words, ()), Rounded(network), network, words, cases=300, values="centre"
    )
    assert centred.states.accuracy == 1.0  # what the states do not say is not needed


_CLOSING = {"(": ")", "[": "]"}


def open_brackets(word: str) -> str:
    left = ""
    for symbol in word:
        left = left + symbol if symbol in _CLOSING else left[:-1]
    return left


def drawn_prefix(draw: np.random.Generator) -> str:
    word = "(["[draw.integers(2)]
    for _ in range(draw.integers(1, 9)):
        left = open_brackets(word)
        word += str(draw.choice([*"([", *([_CLOSING[left[-1]]] * 2 if left else [])]))
    return word


def runs_on_as(network: StackModel[Any], part: str, u: list[str], v: list[str], left: list[str]) -> list[bool]:
    """Return whether each run goes on as with the brackets ``left`` open, once ``part`` of v is put into it after u."""
    words = [one + "".join(_CLOSING[b] for b in reversed(still)) for one, still in zip(u, left, strict=True)]
    seen = intervene(Rounded(network), words, at=[len(one) for one in u], set=part, from_word=v, cell=0)
    found = []
    for number, (one, still) in enumerate(zip(u, left, strict=True)):
        said = [set(np.array(seen.letters)[row > 0.5]) for row in seen.output[number, len(one) : len(words[number])]]
        ends = [still[: len(still) - closed] for closed in range(1, len(still) + 1)]
        found.append(said == [may_come(end) for end in ends])
    return found


def test_of_a_network_for_dyck_words_the_hidden_vector_is_the_innermost_bracket_and_the_top_cell_the_next() -> None:
    """So an automaton with one state has no variable that the hidden vector stands for; docs/probing.md says so."""
    network, draw = load_network(ZOO / "marnn-stack-rnn-dyck-2-drifting.pt").model, np.random.default_rng(0)
    pairs = [(drawn_prefix(draw), drawn_prefix(draw)) for _ in range(500)]
    pairs = [(u, v) for u, v in pairs if len(open_brackets(u)) > 1 and len(open_brackets(v)) > 1]
    u, v = map(list, zip(*pairs, strict=True))
    mine, theirs = ([open_brackets(one) for one in side] for side in (u, v))
    swapped = [a[:-1] + b[-1] for a, b in zip(mine, theirs, strict=True)]
    below = [a[:-2] + b[-2] + a[-1] for a, b in zip(mine, theirs, strict=True)]
    assert 50 < sum(a != b for a, b in zip(mine, swapped, strict=True)) < len(u) - 50
    assert all(runs_on_as(network, "hidden", u, v, swapped))
    assert all(runs_on_as(network, "cells", u, v, below))
    assert not all(runs_on_as(network, "cells", u, v, mine))
