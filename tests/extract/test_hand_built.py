"""Any small machine on superposition or strength stacks is a network; extraction must give it back.

NNPDAs made from automata, which have a signed stack, are in test_extraction_of_hand_made_networks.py.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.hand_built import HandMachine, StrengthNet, SuperpositionNet, hand_machines

from stacklens.automata.compiled import compile_tables
from stacklens.automata.pda import Output, PushdownAutomaton
from stacklens.automata.runs import accepts_many, transduce_many
from stacklens.automata.summaries import trim
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.languages.task import TaskKind
from stacklens.languages.words import all_words
from stacklens.models.base import StackModel

QUICK = ExtractionConfig(max_length=6, long_words=100, long_lengths=(10, 30), deep_words=2, depth=30)
SPEAKING: tuple[TaskKind, ...] = ("next set", "next symbol", "transduction")
ALL: tuple[TaskKind, ...] = ("recognition", *SPEAKING)


def answers(pda: PushdownAutomaton, max_length: int) -> list[Any]:
    """Return acceptance of all words of a recogniser, else what is said on them, None from a rejection on."""
    words = all_words(pda.input_alphabet, max_length)
    said = compile_tables(pda).outputs
    if set(said) == {None}:
        accepted: list[bool] = accepts_many(pda, words).tolist()
        return accepted
    outputs: list[list[Output]] = [
        [said[place] if place >= 0 else None for place in row] for row in transduce_many(pda, words).tolist()
    ]
    return outputs


def check(net: StackModel[Any], machine: HandMachine) -> None:
    """Hold that extraction finds the machine, and that rounding changes nothing of the network."""
    result = extract(net, None, QUICK)
    assert result.reason is None
    assert result.status == 0
    assert result.automaton is not None
    assert result.fidelity.rounding.disagreements == 0
    assert result.fidelity.action_margin == pytest.approx(0.5)
    expected = machine.automaton()
    length = 8 if len(machine.letters) == 2 else 6
    assert answers(result.automaton, length) == answers(expected, length)
    if (
        machine.n_stacks == 1 and result.found is not None and result.found.method == "kmeans"
    ):  # what is learned need not
        assert len(result.automaton.states) <= len(trim(expected).states)
        assert len(result.automaton.stack_alphabet) <= len(trim(expected).stack_alphabet)


@pytest.mark.slow
@settings(max_examples=5)
@given(hand_machines(("push", "pop"), ALL), st.integers(1, 2), st.sampled_from((0.0, -1.0)))
def test_a_stack_of_pushes_and_pops(machine: HandMachine, cell_size: int, empty: float) -> None:
    check(SuperpositionNet(machine, False, cell_size, empty), machine)


@pytest.mark.slow
@settings(max_examples=4)
@given(hand_machines(("push", "pop", "none"), SPEAKING, n_stacks=2), st.booleans())
def test_two_stacks(machine: HandMachine, wide: bool) -> None:
    check(SuperpositionNet(machine, True, cell_size=1 + wide), machine)


@pytest.mark.slow
@settings(max_examples=5)
@given(hand_machines(("none", "pop", "push", "replace"), ALL), st.integers(1, 2))
def test_strengths_with_pop_and_push_in_one_step(machine: HandMachine, cell_size: int) -> None:
    check(StrengthNet(machine, cell_size), machine)
