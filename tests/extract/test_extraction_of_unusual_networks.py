from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from tests.models.hand_made import hand_made

from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition, Word
from stacklens.errors import StacklensError
from stacklens.extract.extraction import ExtractionConfig, extract
from stacklens.languages import Language
from stacklens.models.nnpda import NNPDA, NNPDAConfig

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
    assert {check.kind for check in result.checks} == {"exhaustive", "long", "covering", "driven"}


def test_an_alphabet_of_one_symbol_does_not_take_for_ever() -> None:
    steps: dict[Key, Transition] = {}
    steps |= {("s", "a", ("⊥",)): Transition("t", (NONE,)), ("t", "a", ("⊥",)): Transition("s", (NONE,))}
    even = PushdownAutomaton(("s", "t"), ("a",), ("a",), steps, "s", frozenset({"s"}))
    result = extract(hand_made(even, end="$"), None, QUICK)
    assert result.status == 0
    assert result.automaton is not None
    assert [result.automaton.accepts("a" * n) for n in range(5)] == [True, False, True, False, True]


def test_a_network_that_rejects_everything_at_once_is_said_to_do_so() -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), n_states=2))
    net.load_state_dict({name: torch.zeros_like(value) - 1 for name, value in net.state_dict().items()})
    with pytest.raises(StacklensError, match=r"rejects every word at its first symbol; there is nothing to extract$"):
        extract(net, None, QUICK)
