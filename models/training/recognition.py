"""Training recognisers from verdicts on whole sets of words, with rounds of counterexamples (Sun et al. 1993)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import Word
from stacklens.languages.language import Language
from stacklens.languages.words import all_words, make_word
from stacklens.models.inference import verdicts_on_all
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.rounding import Rounded
from stacklens.models.training.loop import cosine
from stacklens.models.training.objectives import OBJECTIVES, WordSet, cut_at_dead, each_cut_at_dead
from stacklens.models.training.recognition_recipes import Recipe
from stacklens.models.training.rtrl import LocalNNPDA, RtrlNNPDA
from stacklens.models.training.trainer import Score, Trainer

__all__ = ["KINDS", "Training"]


_PATIENCE = 3  # checks without an error, one after the other, that end the training early
_NEW_WORDS = 50  # at most so many counterexamples a network and round
_BETWEEN = 5  # other words before a member, and how many times as far that moves the weights: section 4.3 (3)
KINDS = {"exact": NNPDA, "rtrl": RtrlNNPDA, "local": LocalNNPDA}


class Training(Trainer):
    """NNPDAs ``seed``, ``seed + 1``, … trained side by side by one recipe for one language (see `Trainer`).

    Attributes:
        given: how many words each network got wrong and was given in each round of counterexamples, rounds of nets.
    """

    net: NNPDA
    kind = "recognition"
    check_every = 50

    def __init__(
        self, recipe: Recipe, language: Language, *, seed: int = 0, nets: int = 1, device: str = "cpu"
    ) -> None:
        self.recipe, self.language, self.seed, self.n_nets = recipe, language, seed, nets
        self.device, self.clip = device, recipe.clip
        self.subject, self.source = language.name, recipe.source
        self.checked = f"all words of length <= {recipe.check_length}"
        self.model, self.shape = "nnpda", {"alphabet": language.alphabet, **recipe.shape}
        shape = NNPDAConfig(**self.shape)
        self.net = KINDS[recipe.gradient](shape, seed=seed, init=recipe.init, nets=nets).to(device)
        make = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[recipe.optimizer]
        self.optimizer = make(self.net.parameters(), lr=recipe.rate)
        self.begin()
        self.round, self.clean_checks = 0, 0
        self.given: list[list[int]] = []
        self.losses = torch.full((nets,), math.inf, dtype=torch.float64)
        self._members = _membership(language, recipe.check_length)
        self._set_words(self._stage_words(0), torch.ones(nets, 0, dtype=torch.float64))

    @property
    def total_epochs(self) -> int:
        """Return the number of epochs of all stages and rounds."""
        return self.recipe.stage_epochs + self.recipe.rounds * self.recipe.round_epochs

    @property
    def settled(self) -> bool:
        """Return whether all networks have been without an error often enough."""
        return self.clean_checks >= _PATIENCE

    def batches(self) -> Iterator[tuple[WordSet, Tensor]]:
        """Yield all words of the stage or round, or each alone, with their weights for each network."""
        self._enter_stage_or_round()
        if self.recipe.each_word:
            yield from self._presented
        else:
            yield self.words, self.weights

    def costs(self, batch: tuple[WordSet, Tensor]) -> Tensor:
        """Return what the objective says of each network, (nets,)."""
        with torch.device(self.device):  # where new tensors are made
            costs = OBJECTIVES[self.recipe.objective](self.net, *batch)
        self.losses = costs.detach()
        return costs

    def learning_rate(self) -> float:
        """Return a rate that falls as a cosine over the stages, and that of the rounds after them."""
        if self.recipe.each_word:
            return self.recipe.rate
        if self.epochs_done >= self.recipe.stage_epochs:
            return self.recipe.round_rate
        return self.recipe.rate * cosine(self.epochs_done, self.recipe.stage_epochs)

    def update(self) -> None:
        """Move all weights, and take them back to where they may be."""
        super().update()
        self.net.project()

    def check(self) -> None:
        """Count every network's errors on all words up to the check length, and keep what is best."""
        rounded, analog = (self._errors(net).sum(-1) for net in (Rounded(self.net), self.net))
        for number in range(self.n_nets):
            score = Score(int(rounded[number]), int(analog[number]), float(self.losses[number]))
            self.keep_if_better(number, score)
        exact = not rounded.any() and not analog.any()
        self.clean_checks = self.clean_checks + 1 if exact and self._curriculum_over else 0

    def identity(self) -> dict[str, Any]:
        """Return language, seed, number of networks, and what of the recipe may be chosen."""
        shape = " ".join(f"{key}={value}" for key, value in sorted(self.recipe.shape.items()))
        gradient = "" if self.recipe.gradient == "exact" else f", {self.recipe.gradient} gradients"
        recipe = f"{self.recipe.objective}{gradient}: {shape}"
        return {"language": self.language.name, "seed": self.seed, "nets": self.n_nets, "recipe": recipe}

    def progress_state(self) -> dict[str, Any]:
        """Return where in the recipe it is, and the words with their weights."""
        return {
            "round": self.round,
            "clean_checks": self.clean_checks,
            "given": self.given,
            "losses": self.losses,
            "words": [list(word) for word in self.words.words],
            "weights": self.weights,
        }

    def apply_state(self, state: dict[str, Any]) -> None:
        """Put back what `progress_state` gave."""
        self.round, self.clean_checks, self.losses = state["round"], state["clean_checks"], state["losses"]
        self.given = state["given"]
        words = [make_word(word, self.language.alphabet) for word in state["words"]]
        self.words, self.weights = WordSet.of(self.language, words).to(self.device), state["weights"].to(self.device)

    @property
    def _curriculum_over(self) -> bool:
        """Return whether the last stage has been shown for at least one check's time."""
        return self.epochs_done >= self.recipe.stage_epochs - self.recipe.stages[-1].epochs + self.check_every

    def _enter_stage_or_round(self) -> None:
        begun = 0
        for number, stage in enumerate(self.recipe.stages):
            if self.epochs_done == begun and number > 0:
                self._set_words(self._stage_words(number), torch.ones(self.n_nets, 0, dtype=torch.float64))
            begun += stage.epochs
        since = self.epochs_done - begun
        if since >= 0 and since % self.recipe.round_epochs == 0 and since // self.recipe.round_epochs == self.round:
            self._add_counterexamples()

    def _stage_words(self, number: int) -> list[Word]:
        words = self.recipe.stages[number].word_list(self.language, self.seed)
        if self.recipe.each_word:
            return each_cut_at_dead(self.language, filter(None, words))  # nothing is said of the empty word
        return cut_at_dead(self.language, words) if self.recipe.objective.startswith("prefix") else words

    def _set_words(self, words: list[Word], weights: Tensor) -> None:
        """Keep ``words``; the first of them have ``weights`` (nets, n), the rest weigh 1 for every network."""
        rest = torch.ones(self.n_nets, len(words) - weights.shape[-1], dtype=weights.dtype)
        self.words = WordSet.of(self.language, words).to(self.device)
        self.weights = torch.cat([weights.cpu(), rest], -1).to(self.device)

    @property
    def _presented(self) -> Iterator[tuple[WordSet, Tensor]]:
        """Yield the words one by one, a member after every five others, and the members over and over."""
        members = self.words.members.tolist()
        others = [number for number, member in enumerate(members) if not member]
        again = cycle([number for number, member in enumerate(members) if member])
        for start in range(0, len(others), _BETWEEN):
            for number in others[start : start + _BETWEEN]:
                yield self.words.only(number), self.weights[:, [number]]
            number = next(again)
            yield self.words.only(number), _BETWEEN * self.weights[:, [number]]

    def _add_counterexamples(self) -> None:
        """Give every network the words that it gets wrong, and it alone (section 4.2)."""
        self.round += 1
        if self.round > self.recipe.rounds:
            return
        longest = self.recipe.check_length - self.recipe.rounds + self.round
        candidates = all_words(self.language.alphabet, longest)
        wrong = self._errors(self.net)[:, : len(candidates)]
        self.given.append([min(int(number), _NEW_WORDS) for number in wrong.sum(-1)])
        words, columns = list(self.words.words), []
        for position in np.flatnonzero(wrong.any(0)):
            columns.append(torch.from_numpy(wrong[:, position] & (wrong[:, :position].sum(-1) < _NEW_WORDS)))
            words.append(candidates[position])
        if columns:
            self._set_words(words, torch.cat([self.weights, torch.stack(columns, -1).to(self.weights)], -1))

    def _errors(self, net: NNPDA | Rounded[Any]) -> np.ndarray:
        """Return where the verdicts on all words up to the check length are wrong, (nets, words) bool, by length."""
        verdicts = np.concatenate(verdicts_on_all(net, self.recipe.check_length), -1)
        wrong: np.ndarray = verdicts != self._members
        return wrong


def _membership(language: Language, max_length: int) -> np.ndarray:
    return np.array([word in language for word in all_words(language.alphabet, max_length)])
