from __future__ import annotations

import dataclasses
import time

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.hand_made import GAIN, hand_made, input_pushing_automata, parentheses_net

from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.runs import accepts_many
from stacklens.automata.summaries import trim
from stacklens.core.errors import StacklensError
from stacklens.core.progress import Told
from stacklens.extract.config import ExtractionConfig, Method
from stacklens.extract.extraction import extract
from stacklens.languages.catalogue import get_language
from stacklens.languages.words import all_words
from stacklens.models.networks.nnpda import NNPDA

METHODS: tuple[Method, ...] = ("auto", "kmeans")
QUICK = ExtractionConfig(max_length=5, long_words=40, long_lengths=(10, 20), deep_words=2, depth=30, height=8, walks=10)


def outcome(net: NNPDA, method: Method = "auto") -> PushdownAutomaton:
    """Return the automaton of a network that is a discrete machine, which every measure must say."""
    result = extract(net, None, dataclasses.replace(QUICK, method=method))
    assert result.status == 0
    assert result.reason is None
    assert result.automaton is not None
    assert result.fidelity.minority_transitions in (None, 0)  # nothing is voted on where behaviour was learned from
    assert result.fidelity.rounding.disagreements == 0
    assert result.fidelity.action_margin == pytest.approx(0.5)
    return result.automaton


@pytest.mark.slow
@settings(max_examples=5)
@given(input_pushing_automata(), st.sampled_from(METHODS))
def test_a_network_made_from_an_automaton_gives_that_automaton_back(pda: PushdownAutomaton, method: Method) -> None:
    found = outcome(hand_made(pda, end="$"), method)
    words = all_words(pda.input_alphabet, 8 if len(pda.input_alphabet) == 2 else 6)
    assert accepts_many(found, words).tolist() == accepts_many(pda, words).tolist()
    if method == "kmeans":  # what is learned from short words may tell more states apart
        assert len(found.states) <= len(trim(pda).states)
    assert found.end_marker is None


@pytest.mark.parametrize(
    ("name", "states", "symbols", "transitions"),
    [("parentheses", 1, 1, 3), ("1n0n", 2, 1, 4), ("palindrome", 2, 2, 11), ("dyck-2", 1, 2, 8)],
)
def test_the_languages_give_their_smallest_automata(name: str, states: int, symbols: int, transitions: int) -> None:
    language = get_language(name)
    result = extract(hand_made(language.automaton, end="$"), language, QUICK)
    assert result.status == 0
    assert result.automaton is not None
    assert len(result.automaton.states) == states
    assert len(result.automaton.stack_alphabet) == symbols
    assert len(result.automaton.transitions) == transitions
    assert result.raw is not None
    assert len(result.raw.states) > states
    checked = {(check.kind, check.other) for check in result.checks}
    assert checked == {  # what is proved and certified for every length is run on all short words only
        *(("exhaustive", other) for other in ("language", "rounded network", "network")),
        *((kind, "network") for kind in ("long", "deep", "covering", "driven", "pumped")),
    }
    assert all(check.disagreements == 0 for check in result.checks)


def test_a_second_order_net_for_parentheses_gives_one_state_as_in_figure_7() -> None:
    found = outcome(parentheses_net())
    assert len(found.states) == 1
    language = get_language("parentheses")
    assert all(found.accepts(word) == (word in language) for word in all_words(("(", ")"), 8))


def test_a_wrong_network_is_extracted_and_contradicted_by_the_shortest_word() -> None:
    language = get_language("palindrome")
    net = hand_made(language.automaton)
    assert extract(net, language, QUICK).status == 0
    with torch.no_grad():  # in state "pop" with a on b pop too, where the word should die
        for neuron in (1, 2):
            net.state_weights.view(3, 3, 4, 3)[neuron, 1, 1, 0] = GAIN
        net.action_weights.view(3, 4, 3)[1, 1, 0] = -GAIN
    result = extract(net, language, QUICK)
    assert result.status == 1
    assert result.automaton is not None
    check = result.contradicted
    assert check is not None
    assert (check.kind, check.other, check.counterexample) == ("exhaustive", "language", "bca")
    wrong = [word for word in all_words(net.alphabet, 5) if result.automaton.accepts(word) != (word in language)]
    assert wrong[0] == "bca"
    assert check.disagreements == len(wrong)
    assert "'bca'" in str(check)
    assert all(other.disagreements == 0 for other in result.checks if other.other == "rounded network")


def test_a_language_over_other_symbols_is_refused_before_any_work() -> None:
    stages: list[str] = []
    with pytest.raises(StacklensError, match=r"^.*palindrome has the alphabet a b c, the network \( \); name the "):
        extract(parentheses_net(), get_language("palindrome"), QUICK, told_by(stages))
    assert stages == []


def told_by(stages: list[str]) -> Told:
    """Return what writes down the names of stages."""
    return lambda stage, *_: stages.append(stage)


def test_every_stage_is_told_and_timed_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    stages, begun = list[str](), time.perf_counter()
    with caplog.at_level("INFO", logger="stacklens"):
        result = extract(parentheses_net(), get_language("parentheses"), QUICK, progress=told_by(stages))
    stages = list(dict.fromkeys(stages))
    assert stages == list(result.seconds)
    assert [record.message for record in caplog.records if record.name == "stacklens.extract.extraction"] == stages
    assert len(stages) >= 3
    assert all(result.seconds.values())  # each does something
    assert sum(result.seconds.values()) <= time.perf_counter() - begun
