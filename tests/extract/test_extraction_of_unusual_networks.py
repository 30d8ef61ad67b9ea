from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.extract.hand_built import HandMachine, StrengthNet, SuperpositionNet

from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.languages.classic import counted_pairs
from stacklens.languages.task import TaskKind
from stacklens.models.base import StackModel
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig

QUICK = ExtractionConfig(max_length=6, long_words=40, long_lengths=(10, 20), deep_words=2, depth=30)


def check_that_it_rejects_everything(result: Extraction) -> None:
    assert result.status == 0
    assert result.automaton is not None
    assert result.automaton.transitions == {}
    assert all(check.disagreements == 0 for check in result.checks)
    assert {check.other for check in result.checks} == {"rounded network", "network"}


def test_a_network_that_rejects_every_word_at_its_first_symbol_has_the_automaton_of_the_empty_language() -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), n_states=2))
    net.load_state_dict({name: torch.zeros_like(value) - 1 for name, value in net.state_dict().items()})
    result = extract(net, None, QUICK)
    check_that_it_rejects_everything(result)
    assert result.automaton is not None
    assert not any(result.automaton.accepts(word) for word in ("", "a", "b", "ab"))
    wrong = extract(net, counted_pairs("a", "b"), QUICK)
    assert wrong.status == 1
    assert wrong.contradicted is not None
    assert wrong.contradicted.counterexample == "ab"


@pytest.mark.parametrize("kind", ["recognition", "next set", "next symbol", "transduction"])
@pytest.mark.parametrize("stack", ["superposition", "strengths"])
@pytest.mark.parametrize("states", [None, 3])
def test_a_machine_without_a_rule_rejects_every_word_at_its_first_symbol(
    kind: TaskKind, stack: str, states: int | None
) -> None:
    machine = HandMachine(1, ("a", "b"), 1, 1, 1, kind, {}, frozenset({0}))
    net: StackModel[Any] = SuperpositionNet(machine, no_op=True) if stack == "superposition" else StrengthNet(machine)
    check_that_it_rejects_everything(extract(net, None, replace(QUICK, states=states)))
