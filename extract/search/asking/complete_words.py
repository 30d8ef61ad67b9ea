"""A predictor of sets as the recogniser of the words that it says are complete, and that recogniser's predictor again.

Where the set that is said tells whether a word is complete, as in Dyck languages, a learner of recognisers learns
these words; what may come next in them follows from the automaton (see `predictor_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import Output, PushdownAutomaton, Word
from stacklens.automata.rewriting import predictor_of
from stacklens.extract.answers import output_number
from stacklens.extract.search.transition_table import initial_output
from stacklens.models.base import NetworkState, StackModel, Step
from stacklens.models.rounding import Wrapper

__all__ = ["CompleteWords", "predictor"]


class CompleteWords(Wrapper[Any]):
    """A recogniser of the words that ``model``, a predictor of sets, says are complete.

    Args:
        model: the predictor, not rounded; its weights are shared, not copied.
        complete: the outputs that say that a word is complete.
    """

    name = "complete words"

    def __init__(self, model: StackModel[Any], complete: frozenset[Output]) -> None:
        super().__init__(model)
        self.numbers = [output_number(output, model) for output in complete]
        self.empty_word = initial_output(model) in complete
        self.task_kind, self.action_kind, self.operations = "recognition", "none", ()

    def step(self, symbols: Tensor, state: NetworkState[Any]) -> Step[Any]:
        """Return the predictor's step, which rejects what was not predicted."""
        return self.model.step(symbols, state)

    def decide(self, state: NetworkState[Any]) -> Tensor:
        """Return whether the last output says that the word is complete."""
        if state.output is None:
            return torch.full(state.rejected.shape, self.empty_word, device=state.rejected.device)
        said = np.isin(self.model.output_numbers(state.output), self.numbers)
        return torch.from_numpy(said).to(state.rejected.device)

    def answers_to(self, words: Sequence[Word]) -> np.ndarray | None:
        """Return the answers to whole ``words``, where the predictor gives some."""
        return None if (said := self.model.answers_to(words)) is None else self.verdicts(words, said)

    def verdicts(self, words: Sequence[Word], said: np.ndarray) -> np.ndarray:
        """Return which ``words`` are complete, (N, 1), given what is ``said`` after their symbols, (N, T)."""
        lengths = np.array([len(word) for word in words], np.int64)
        padded = said if said.shape[1] else np.full((len(words), 1), -1)
        last = padded[np.arange(len(words)), np.maximum(lengths - 1, 0)]
        found: np.ndarray = np.where(lengths > 0, np.isin(last, self.numbers), self.empty_word)
        return found[:, None].astype(np.int32)


def predictor(pda: PushdownAutomaton, network: StackModel[Any], complete: frozenset[Output]) -> PushdownAutomaton:
    """Return the automaton that says what may come next in the words of ``pda``, accepting by what it says."""
    made = predictor_of(pda)
    return replace(
        made,
        acceptance="output",
        accepting=frozenset(),
        accepting_outputs=complete,
        initial_output=initial_output(network),
    )
