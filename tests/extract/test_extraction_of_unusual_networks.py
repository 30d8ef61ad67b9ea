from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.extract.hand_built import HandMachine, StrengthNet, SuperpositionNet
from tests.models.hand_made import hand_made

from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition, Word
from stacklens.extract.extraction import Extraction, ExtractionConfig, extract
from stacklens.languages import Language
from stacklens.languages.blocks import CountedPairs
from stacklens.languages.tasks.task import TaskKind
from stacklens.models.base import StackModel
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig

QUICK = ExtractionConfig(max_length=6, long_words=40, long_lengths=(10, 20), deep_words=2, depth=30)


@dataclass(frozen=True)
class Alternating(Language):
    """The words a b a b …, for which no stack is needed: no member is deep."""

    name = "alternating"
    alphabet = ("a", "b")

    @property
    def automaton(self) -> PushdownAutomaton:
        steps: dict[Key, Transition] = {}
        steps |= {("s", "a", ("⊥",)): Transition("t", (NONE,)), ("t", "b", ("⊥",)): Transition("s", (NONE,))}
        return PushdownAutomaton(("s", "t"), self.alphabet, self.alphabet, steps, "s", frozenset({"s"}))

    def __contains__(self, word: Word) -> bool:
        return "".join(word) == "ab" * (len(word) // 2)

    def is_live(self, prefix: Word) -> bool:
        return "".join(prefix) == ("ab" * len(prefix))[: len(prefix)]

    def words_of_length(self, length: int) -> Iterator[Word]:
        yield from ["ab" * (length // 2)] * self._has_length(length)

    def _has_length(self, length: int) -> bool:
        return length % 2 == 0

    def _member(self, length: int, rng: np.random.Generator) -> Word:  # noqa: ARG002
        return "ab" * (length // 2)

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:  # noqa: ARG002
        return None


def test_a_language_without_deep_words_is_checked_on_the_others() -> None:
    result = extract(hand_made(Alternating().automaton, end="$"), Alternating(), QUICK)
    assert result.status == 0
    assert result.automaton is not None
    assert len(result.automaton.states) == 2
    assert {check.kind for check in result.checks} == {"exhaustive", "long", "covering", "driven", "pumped"}


def test_an_alphabet_of_one_symbol_does_not_take_for_ever() -> None:
    steps: dict[Key, Transition] = {}
    steps |= {("s", "a", ("⊥",)): Transition("t", (NONE,)), ("t", "a", ("⊥",)): Transition("s", (NONE,))}
    even = PushdownAutomaton(("s", "t"), ("a",), ("a",), steps, "s", frozenset({"s"}))
    result = extract(hand_made(even, end="$"), None, QUICK)
    assert result.status == 0
    assert result.automaton is not None
    assert [result.automaton.accepts("a" * n) for n in range(5)] == [True, False, True, False, True]


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
    wrong = extract(net, CountedPairs("a", "b"), QUICK)
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
