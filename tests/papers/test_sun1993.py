"""The experiments on Sun et al. 1993, with few and short words: what is measured, not how much."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from stacklens.automata.runs import accepts_many
from stacklens.languages.catalogue import get_language
from stacklens.languages.words import all_words
from stacklens.models.base import ControllerOutput, StackModel
from stacklens.models.checkpoint import load_model
from stacklens.models.inference import verdicts_on
from stacklens.models.rounding import Rounded, Wrapper
from stacklens.papers import sun1993
from stacklens.papers.results import Experiment, Finding, Measured, Results, read_results
from stacklens.papers.runner import run_experiment
from stacklens.papers.sun1993 import (
    WIDE,
    Sizes,
    binary,
    claims_experiment,
    quantised_weights,
    trained_states,
    training_experiment,
    zoo_automaton,
    zoo_path,
)
from stacklens.papers.sun1993_steps import levels
from stacklens.probe.trace import trace

SMALL = Sizes(
    parentheses=6,
    counts=6,
    palindromes=4,
    quantised=13,
    long_words=200,
    depths=(3, 400),
    nets=2,
    epochs=20,
    extraction_length=5,
    extraction_depth=20,
)


@cache
def claims() -> Results:
    return run_experiment(claims_experiment(SMALL))


def find(*words: str) -> Measured:
    (found,) = (claim for claim in claims().claims if all(word in claim.claim for word in words))
    return found


def words_up_to(length: int, k: int) -> int:
    return sum(k**n for n in range(length + 1))


@pytest.mark.parametrize(("language", "k", "length"), [("parentheses", 2, 6), ("1^n 0^n", 2, 6)])
def test_the_analog_nets_are_checked_on_all_words(language: str, k: int, length: int) -> None:
    figures = find(language, "analog net on all").figures
    assert figures["words"] == words_up_to(length, k)
    assert figures["errors"] == 0


def test_the_palindrome_net_is_also_judged_without_its_trap_monitor() -> None:
    figures = find("no trap monitor").figures
    assert figures["words"] == words_up_to(4, 3)
    assert figures["errors_with_monitor"] == 0
    assert figures["errors"] > 0  # it was trained to leave the trap alone once it is in it


def test_the_quantised_net_makes_no_error() -> None:
    figures = find("quantised net").figures
    assert figures == {"words": words_up_to(13, 3), "errors": 0, "errors_actions_only": 0}


def test_the_automaton_recognises_what_the_analog_net_gets_wrong() -> None:
    claim = find("automaton on what the analog net gets wrong")
    assert claim.figures["automaton_errors_on_these"] == claim.figures["automaton_errors"] == 0


def test_some_analog_palindrome_nets_go_wrong_on_long_words_and_no_automaton_does() -> None:
    """The zoo's own net is right on all words that were tried; of ten that were trained anew some are not."""
    figures = next(
        claim.figures
        for claim in read_results("sun1993-training").claims
        if claim.claim.startswith("palindrome") and "50 to 100" in claim.claim
    )
    assert figures["nets_that_err"] > 0
    assert figures["rounded"] == figures["automata"] == 0


def test_deep_words_are_wrong_by_the_analog_net_and_right_by_the_automaton() -> None:
    figures = find("nested deeper").figures
    assert figures["errors"]["3"] == 0
    assert figures["errors"]["400"] > 0
    assert figures["automaton_errors"] == 0


LEVELS = {"parentheses": 5, "1n0n": 2, "palindrome": 2}  # of a state neuron, as in the paper


def quantised(net: StackModel[Any], number: int) -> StackModel[Any]:
    """Return ``net`` with actions rounded and every neuron at the nearest of so many levels, by another formula."""

    class Quantised(Wrapper[Any]):
        def controller(self, symbols: torch.Tensor, hidden: torch.Tensor, reading: torch.Tensor) -> ControllerOutput:
            answer = super().controller(symbols, hidden, reading)
            return replace(answer, hidden=torch.floor(answer.hidden * (number - 1) + 0.5) / (number - 1))

    return Quantised(Rounded(net))


@pytest.mark.parametrize("name", LEVELS)
def test_the_states_are_those_that_the_quantised_network_goes_through_on_words(name: str) -> None:
    net = load_model(zoo_path(name))
    found, words = zoo_automaton(name, LEVELS[name]), all_words(net.alphabet, 8)
    assert accepts_many(found.raw, words).tolist() == verdicts_on(quantised(net, LEVELS[name]), words).tolist()
    seen = trace(quantised(net, LEVELS[name]), words)
    going, ended = (
        {levels(net, LEVELS[name]).label(number) for number in numbers}
        for numbers in (
            found.machine.quantiser.assign(seen.hidden[:, 1:][seen.valid & stopped]).tolist()
            for stopped in (~seen.rejected, seen.rejected & (seen.hidden[:, 1:, -1] <= 0.5) & net.config()["trap"])
        )
    )
    assert going == set(found.raw.states) - {"start", *found.traps}
    assert {name.removeprefix("trap ") for name in found.traps} <= ended  # words go on in the trap, paths do not


@pytest.mark.parametrize(
    ("language", "sizes"), [("parentheses", (6, 4, 1)), ("1^n 0^n", (6, 4, 3)), ("palindromes", (6, 4, 3))]
)
def test_states_are_counted_before_and_after_merging_with_the_trap(language: str, sizes: tuple[int, ...]) -> None:
    claim = find(language, "before and after merging")
    figures = claim.figures
    assert (figures["before"], figures["after"], figures["least"]) == sizes
    assert figures["before"] == len(figures["states"])
    assert figures["after"] == len({state["merged"] for state in figures["states"]})
    assert [state["kind"] for state in figures["states"]].count("trap") == figures["traps"]
    assert figures["proved"]
    assert claim.ours.startswith(f"{sizes[0]}, of which ")


def test_other_quantisers_give_other_states_and_the_same_language() -> None:
    for language in ("parentheses", "1^n 0^n", "palindromes"):
        figures = find(language, "K-means").figures
        assert len(figures["rows"]) == 4 + 7 * 5
        assert all(row[2] >= row[3] >= row[4] and row[5] for row in figures["rows"])
        assert len({row[2] for row in figures["rows"]}) > 5
        assert len({row[4] for row in figures["rows"]}) == 1


def test_action_weights_are_quantised_as_printed_and_the_network_stays_as_it_was() -> None:
    net = load_model(zoo_path("palindrome"))
    net.get_parameter("action_weights").data[0, :5] = torch.tensor([-0.51, -0.5, 0.0, 0.5, 0.51])
    before = net.get_parameter("action_weights").clone()
    weights = quantised_weights(net).get_parameter("action_weights")
    assert weights[0, :5].tolist() == [-1, 0, 0, 0, 1]
    assert set(weights.flatten().tolist()) == {-1, 0, 1}
    assert torch.equal(net.get_parameter("action_weights"), before)


def test_quantising_the_action_weights_changes_nothing_where_those_in_use_are_far_from_the_threshold() -> None:
    figures = find("eq. 28").figures
    assert figures["words"] == words_up_to(13, 3)
    assert (figures["errors"], figures["changed"], figures["changed_weights_only"]) == (0, 0, 0)
    assert figures["proved"]
    assert figures["same_automaton"]
    assert all(abs(weight) < 0.1 or abs(weight) > 0.9 for weight in figures["used_weights"])
    moves = [move for move in find("palindromes", "before and after merging").figures["moves"] if "trap" not in move[4]]
    assert [round(weight) for weight in figures["used_weights"]] == sorted(move[3] for move in moves)


def test_a_weight_in_use_that_is_rounded_away_makes_errors() -> None:
    net = load_model(zoo_path("palindrome"))
    with torch.no_grad():
        net.get_parameter("action_weights").mul_(0.4)  # every action weight becomes 0
    words = all_words(net.alphabet, 5)
    verdicts = verdicts_on(binary(quantised_weights(net)), words).tolist()
    assert [
        word for word, verdict in zip(words, verdicts, strict=True) if verdict != (word in get_language("palindrome"))
    ]


@pytest.mark.parametrize("recipe", ["parentheses", WIDE])
def test_states_of_networks_trained_anew_are_counted_whatever_they_have_learned(recipe: str) -> None:
    finding = trained_states(recipe, 2, SMALL)
    assert len(finding.figures["rows"]) == 2
    assert finding.ours.startswith("of 2 nets ")
    assert ("wrong" in finding.figures) == (recipe == WIDE)


def test_every_word_of_the_papers_mistakes_is_judged() -> None:
    assert find("four words").figures["words"] == 4


@pytest.mark.parametrize("name", ["parentheses", "1n0n", "palindrome"])
def test_the_networks_come_with_the_package(name: str) -> None:
    assert zoo_path(name).is_file()


def test_training_counts_nets_and_extracts_each() -> None:
    experiment = training_experiment(SMALL)
    measured = run_experiment(Experiment("t", "p", "t", experiment.claims[:1], experiment.seeds))
    figures = measured.claims[0].figures
    assert figures["nets"] == len(figures["extraction_status"]) == 2
    assert figures["epochs"] == 20
    assert figures["automaton_exact"] == figures["extraction_status"].count(0)
    assert 0 <= figures["analog_exact_beyond"] <= figures["analog_exact"] <= 2
    assert measured.seeds == (0, 1)


def test_the_experiments_are_of_the_papers_own_size_unless_told_otherwise() -> None:
    text = " ".join(claim.claim for claim in claims_experiment().claims)
    assert "length <= 20" in text
    assert "length <= 15" in text
    assert "10 seeds" in training_experiment().claims[0].claim


def test_the_papers_tables_come_as_steps_with_the_command_that_draws_them() -> None:
    figures = find("table 1").figures
    assert list(figures) == ["acabc", "bacab", "bacba"]
    assert [figures[word]["verdict"] for word in figures] == ["illegal", "legal", "illegal"]
    for word, table in figures.items():
        assert [step["input"] for step in table["steps"]] == list(word)
        for step in table["steps"]:
            assert len(step["state"]) == 3
            assert -1 <= step["action"] <= 1
        assert table["length"] == pytest.approx(sum(length for _, length in table["steps"][-1]["segments"]), abs=1e-3)
        assert table["command"] == f"stacklens trace models/zoo/nnpda-palindrome.pt {word}"


def rounds_of(*given: tuple[int, ...], right: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch) -> Finding:
    """Return what is found where the networks were given so many words, round by round."""
    trained = SimpleNamespace(given=given, best=[SimpleNamespace(analog_errors=int(not one)) for one in right])
    monkeypatch.setattr(sun1993, "_training", lambda *_: (trained, 1.0))
    return sun1993.rounds("1n0n", Sizes(nets=len(right)))


def test_rounds_are_counted_for_networks_that_become_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rounds_of((3, 0, 7), (0, 0, 2), right=(True, True, False), monkeypatch=monkeypatch)
    assert found.figures["rounds_of_exact_nets"] == [1, 0]
    assert found.figures["words_added"] == [[3, 0, 7], [0, 0, 2]]
    assert found.ours == (
        "rounds that make a net exact: 0 for 1, 1 for 1; not exact after all: 1. "
        "Words added, round by round: 3–7 to 2 nets; 2 to 1 net"
    )


def test_no_network_may_be_exact_and_no_round_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rounds_of(right=(False,), monkeypatch=monkeypatch).ours == "no net becomes exact"
    assert rounds_of(right=(True,), monkeypatch=monkeypatch).figures["rounds_of_exact_nets"] == [0]
