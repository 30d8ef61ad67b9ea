"""Training many networks of one shape at once, each from a seed of its own; it can be stopped and resumed."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.languages.base import Language
from stacklens.languages.words import make_word
from stacklens.models.nnpda import NNPDA, NNPDAConfig
from stacklens.models.objectives import OBJECTIVES
from stacklens.models.recipes import Recipe
from stacklens.models.rounding import Rounded
from stacklens.models.verdicts import verdicts_on_all
from stacklens.models.word_sets import WordSet, all_words, cut_at_dead

__all__ = ["Score", "Training"]

_CHECK_EVERY = 50  # epochs between two checks on all words up to the recipe's check length
_PATIENCE = 3  # checks without an error, one after the other, that end the training early
_NEW_WORDS = 50  # at most so many counterexamples a network and round


@dataclass(frozen=True, order=True)
class Score:
    """How good a network is; less is better, rounding first, since automata are read from the rounded network."""

    rounded_errors: int
    analog_errors: int
    loss: float


class Training:
    """Networks ``seed``, ``seed + 1``, … trained side by side by one recipe for one language.

    Call `epoch` until `done`. What a network ends with is its best check, whatever the others do. `state` and `restore`
    carry everything over a stop: the continued run gives the same weights, bit for bit.
    """

    def __init__(self, recipe: Recipe, language: Language, *, seed: int = 0, nets: int = 1) -> None:
        self.recipe, self.language, self.seed, self.n_nets = recipe, language, seed, nets
        shape = NNPDAConfig(language.alphabet, **recipe.shape)
        self.net = NNPDA(shape, seed=seed, init=recipe.init, nets=nets)
        parameters = list(self.net.parameters())
        make = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[recipe.optimizer]
        self.optimizer: torch.optim.Optimizer = make(parameters, lr=recipe.rate)
        self.epochs_done, self.round, self.clean_checks = 0, 0, 0
        self.losses = torch.full((nets,), math.inf, dtype=torch.float64)
        self.best: list[Score] = [Score(2**62, 2**62, math.inf)] * nets
        self.best_weights = {name: value.detach().clone() for name, value in self.net.named_parameters()}
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
            if score < self.best[number]:
                self.best[number] = score
                for name, value in self.net.named_parameters():
                    self.best_weights[name][number] = value.detach()[number]
        exact = not rounded.any() and not analog.any()
        self.clean_checks = self.clean_checks + 1 if exact and self._curriculum_over else 0

    def network(self, number: int | None = None) -> NNPDA:
        """Return network ``number`` as it was at its best check; the best of all where no number is given."""
        chosen = self.best.index(min(self.best)) if number is None else number
        single = NNPDA(self.net.shape)
        single.load_state_dict({name: value[chosen] for name, value in self.best_weights.items()})
        return single

    def state(self) -> dict[str, Any]:
        """Return everything that `restore` needs, as plain data and tensors, none of which later epochs change."""
        state = {
            "recipe": self._recipe_summary,
            "language": self.language.name,
            "seed": self.seed,
            "nets": self.n_nets,
            "epochs_done": self.epochs_done,
            "round": self.round,
            "clean_checks": self.clean_checks,
            "losses": self.losses,
            "best": [(score.rounded_errors, score.analog_errors, score.loss) for score in self.best],
            "best_weights": self.best_weights,
            "net": dict(self.net.state_dict()),
            "optimizer": self.optimizer.state_dict(),
            "words": [list(word) for word in self.words.words],
            "weights": self.weights,
        }
        return copy.deepcopy(state)

    def restore(self, state: dict[str, Any]) -> None:
        """Return nothing; go on where ``state`` was taken.

        Raises:
            StacklensError: the state belongs to another language, seed, number of networks or recipe, or is damaged.
        """
        expected = {"language": self.language.name, "seed": self.seed, "nets": self.n_nets}
        expected["recipe"] = self._recipe_summary
        for key, value in expected.items():
            if state.get(key) != value:
                found = f"it was begun with {key} {state.get(key)!r}, asked for is {value!r}"
                raise StacklensError(f"this training cannot be resumed: {found}; give the options it was begun with")
        try:
            self._restore(copy.deepcopy(state))
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise StacklensError(f"this training cannot be resumed: its state is damaged ({error})") from None

    def _restore(self, state: dict[str, Any]) -> None:
        self.epochs_done, self.round, self.clean_checks = (state[k] for k in ("epochs_done", "round", "clean_checks"))
        self.losses, self.best_weights = state["losses"], state["best_weights"]
        self.best = [Score(*score) for score in state["best"]]
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        words = [make_word(word, self.language.alphabet) for word in state["words"]]
        self.words, self.weights = WordSet.of(self.language, words), state["weights"]

    @property
    def _recipe_summary(self) -> str:
        """Return what of the recipe may be chosen on the command line, as one line."""
        shape = " ".join(f"{key}={value}" for key, value in sorted(self.recipe.shape.items()))
        return f"{self.recipe.objective}: {shape}"

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
        return cut_at_dead(self.language, words) if self.recipe.objective == "prefix" else words

    def _set_words(self, words: list[Word], weights: Tensor) -> None:
        """Keep ``words``; the first of them have ``weights`` (nets, n), the rest weigh 1 for every network."""
        rest = torch.ones(self.n_nets, len(words) - weights.shape[-1], dtype=weights.dtype)
        self.words, self.weights = WordSet.of(self.language, words), torch.cat([weights, rest], -1)

    def _add_counterexamples(self) -> None:
        """Give every network the words that it gets wrong, and it alone (section 4.2)."""
        self.round += 1
        if self.round > self.recipe.rounds:
            return
        longest = self.recipe.check_length - self.recipe.rounds + self.round
        candidates = all_words(self.language.alphabet, longest)
        wrong = self._errors(self.net)[:, : len(candidates)]
        words, columns = list(self.words.words), []
        for position in np.flatnonzero(wrong.any(0)):
            columns.append(torch.from_numpy(wrong[:, position] & (wrong[:, :position].sum(-1) < _NEW_WORDS)))
            words.append(candidates[position])
        if columns:
            self._set_words(words, torch.cat([self.weights, torch.stack(columns, -1).to(self.weights.dtype)], -1))

    def _errors(self, net: NNPDA | Rounded[Any]) -> np.ndarray:
        """Return where the verdicts on all words up to the check length are wrong, (nets, words) bool, by length."""
        verdicts = np.concatenate(verdicts_on_all(net, self.recipe.check_length), -1)
        wrong: np.ndarray = verdicts != self._members
        return wrong


def _membership(language: Language, max_length: int) -> np.ndarray:
    return np.array([word in language for word in all_words(language.alphabet, max_length)])
