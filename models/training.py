"""Training many networks of one shape at once, each from a seed of its own; it can be stopped and resumed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import Word
from stacklens.languages.base import Language
from stacklens.languages.words import make_word
from stacklens.models.local_reading import LocalNNPDA
from stacklens.models.nnpda import NNPDA, NNPDAConfig
from stacklens.models.objectives import OBJECTIVES
from stacklens.models.recipes import Recipe
from stacklens.models.rounding import Rounded
from stacklens.models.rtrl import RtrlNNPDA
from stacklens.models.trainer import Score, Trainer
from stacklens.models.verdicts import verdicts_on_all
from stacklens.models.word_sets import WordSet, all_words, cut_at_dead

__all__ = ["KINDS", "Score", "Training"]

_CHECK_EVERY = 50  # epochs between two checks on all words up to the recipe's check length
_PATIENCE = 3  # checks without an error, one after the other, that end the training early
_NEW_WORDS = 50  # at most so many counterexamples a network and round
KINDS = {"exact": NNPDA, "rtrl": RtrlNNPDA, "local": LocalNNPDA}


class Training(Trainer):
    """NNPDAs ``seed``, ``seed + 1``, … trained side by side by one recipe for one language (see `Trainer`).

    Attributes:
        given: how many words each network got wrong and was given in each round of counterexamples, rounds of nets.
    """

    net: NNPDA
    kind = "recognition"

    def __init__(
        self, recipe: Recipe, language: Language, *, seed: int = 0, nets: int = 1, device: str = "cpu"
    ) -> None:
        self.recipe, self.language, self.seed, self.n_nets = recipe, language, seed, nets
        self.device = device
        self.subject, self.source = language.name, recipe.source
        self.checked = f"all words of length <= {recipe.check_length}"
        shape = NNPDAConfig(language.alphabet, **recipe.shape)
        self.net = KINDS[recipe.gradient](shape, seed=seed, init=recipe.init, nets=nets).to(device)
        parameters = list(self.net.parameters())
        make = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[recipe.optimizer]
        self.optimizer: torch.optim.Optimizer = make(parameters, lr=recipe.rate)
        self.begin()
        self.round, self.clean_checks = 0, 0
        self.given: list[list[int]] = []
        self.losses = torch.full((nets,), math.inf, dtype=torch.float64)
        self._members = _membership(language, recipe.check_length)
        self._set_words(self._stage_words(0), torch.ones(nets, 0, dtype=torch.float64))

    @property
    def total_epochs(self) -> int:
        """Return the largest number of epochs that may be needed."""
        return self.recipe.stage_epochs + self.recipe.rounds * self.recipe.round_epochs

    @property
    def done(self) -> bool:
        """Return whether nothing is left to do."""
        return self.epochs_done >= self.total_epochs or self.clean_checks >= _PATIENCE

    def epoch(self) -> None:
        """Return nothing; show every network its words once, and check all of them where a check is due."""
        self._enter_stage_or_round()
        if self.done:
            return
        rate = self._rate()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        with torch.device(self.device):  # where new tensors are made
            losses = OBJECTIVES[self.recipe.objective](self.net, self.words, self.weights)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        if self.recipe.clip is not None:
            self._clip(self.recipe.clip)
        self.optimizer.step()
        self.net.project()
        self.losses = losses.detach()
        self.epochs_done += 1
        if self.epochs_done % _CHECK_EVERY == 0 or self.done:
            self.check()

    def check(self) -> None:
        """Return nothing; count every network's errors on all words up to the check length, keep what is best."""
        rounded, analog = (self._errors(net).sum(-1) for net in (Rounded(self.net), self.net))
        for number in range(self.n_nets):
            score = Score(int(rounded[number]), int(analog[number]), float(self.losses[number]))
            self.keep_if_better(number, score)
        exact = not rounded.any() and not analog.any()
        self.clean_checks = self.clean_checks + 1 if exact and self._curriculum_over else 0

    def network(self, number: int | None = None) -> NNPDA:
        """Return network ``number`` as it was at its best check; the best of all where no number is given."""
        chosen = self.best_number if number is None else number
        single = NNPDA(self.net.shape)
        single.load_state_dict({name: value[chosen].cpu() for name, value in self.best_weights.items()})
        return single

    def identity(self) -> dict[str, Any]:
        """Return language, seed, number of networks, and what of the recipe may be chosen."""
        shape = " ".join(f"{key}={value}" for key, value in sorted(self.recipe.shape.items()))
        gradient = "" if self.recipe.gradient == "exact" else f", {self.recipe.gradient} gradients"
        recipe = f"{self.recipe.objective}{gradient}: {shape}"
        return {"language": self.language.name, "seed": self.seed, "nets": self.n_nets, "recipe": recipe}

    def progress_state(self) -> dict[str, Any]:
        """Return where in the recipe it is, the optimiser, and the words with their weights."""
        return {
            "round": self.round,
            "clean_checks": self.clean_checks,
            "given": self.given,
            "losses": self.losses,
            "optimizer": self.optimizer.state_dict(),
            "words": [list(word) for word in self.words.words],
            "weights": self.weights,
        }

    def apply_state(self, state: dict[str, Any]) -> None:
        """Return nothing; put back what `progress_state` gave."""
        self.round, self.clean_checks, self.losses = state["round"], state["clean_checks"], state["losses"]
        self.given = state["given"]
        self.optimizer.load_state_dict(state["optimizer"])
        words = [make_word(word, self.language.alphabet) for word in state["words"]]
        self.words, self.weights = WordSet.of(self.language, words).to(self.device), state["weights"].to(self.device)

    @property
    def _curriculum_over(self) -> bool:
        """Return whether the last stage has been shown for at least one check's time."""
        return self.epochs_done >= self.recipe.stage_epochs - self.recipe.stages[-1].epochs + _CHECK_EVERY

    def _rate(self) -> float:
        if self.epochs_done >= self.recipe.stage_epochs:
            return self.recipe.round_rate
        return self.recipe.rate * (1 + math.cos(math.pi * self.epochs_done / self.recipe.stage_epochs)) / 2

    def _clip(self, norm: float) -> None:
        gradients = [p.grad for p in self.net.parameters() if p.grad is not None]
        norms = torch.stack([gradient.flatten(1).square().sum(1) for gradient in gradients]).sum(0).sqrt()
        factors = (norm / norms.clamp(min=1e-12)).clamp(max=1)
        for gradient in gradients:
            gradient.mul_(factors.view(-1, *[1] * (gradient.dim() - 1)))

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
        return cut_at_dead(self.language, words) if self.recipe.objective.startswith("prefix") else words

    def _set_words(self, words: list[Word], weights: Tensor) -> None:
        """Keep ``words``; the first of them have ``weights`` (nets, n), the rest weigh 1 for every network."""
        rest = torch.ones(self.n_nets, len(words) - weights.shape[-1], dtype=weights.dtype)
        self.words = WordSet.of(self.language, words).to(self.device)
        self.weights = torch.cat([weights.cpu(), rest], -1).to(self.device)

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
