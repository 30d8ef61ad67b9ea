"""Training recognisers from verdicts on whole sets of words, with rounds of counterexamples (Sun et al. 1993)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...automata.enumeration import encode_words
from ...automata.pda import Word
from ...languages.language import Language, all_words, make_word
from ..inference import verdicts_on_all
from ..networks.nnpda import NNPDA, LocalNNPDA, NNPDAConfig, RtrlNNPDA
from ..rounding import Rounded
from .loop import Score, Trainer, cosine
from .recipes import Recipe

# ---- Words with what their language says of every prefix, and what an error costs ----
# An error counts at the end of a word, with a hint for pops of an empty stack, or at every prefix (Sun et al. 1993).

_DRIVEN_FROM = 0.9  # a length of the stack, section 4.3 (2)
_UNDERFLOW = 1e-6  # a pop of an empty stack by more than this ends a word's run in training


@dataclass(frozen=True)
class WordSet:
    """Words of a language's alphabet, padded, and the language's word on each of their prefixes."""

    words: tuple[Word, ...]  # the words, N of them
    symbols: Tensor  # their symbols' indices, (N, T) int64, 0 beyond the end of a word
    lengths: Tensor  # (N,) int64
    legal: Tensor  # whether the prefix of t symbols is a member, (N, T + 1) bool; false beyond the end
    live: Tensor  # whether some continuation of it is a member, (N, T + 1) bool; false beyond the end

    @classmethod
    def of(cls, language: Language, words: Iterable[Word]) -> WordSet:
        """Return ``words`` encoded; they may repeat, which gives them weight."""
        kept = tuple(words)
        codes, lengths = encode_words(kept, language.alphabet)
        symbols = np.maximum(codes, 0).astype(np.int64)
        legal, live = (np.zeros((len(kept), codes.shape[1] + 1), dtype=bool) for _ in range(2))
        for row, word in enumerate(kept):
            for t in range(len(word) + 1):
                legal[row, t], live[row, t] = word[:t] in language, language.is_live(word[:t])
        return cls(kept, *(torch.from_numpy(array) for array in (symbols, lengths, legal, live)))

    def to(self, device: str) -> WordSet:
        """Return the same words with their tensors on ``device``."""
        return WordSet(self.words, *(part.to(device) for part in (self.symbols, self.lengths, self.legal, self.live)))

    def only(self, number: int) -> WordSet:
        """Return the word ``number`` alone, without padding."""
        length, row = int(self.lengths[number]), slice(number, number + 1)
        prefixes = (self.legal[row, : length + 1], self.live[row, : length + 1])
        return WordSet(self.words[row], self.symbols[row, :length], self.lengths[row], *prefixes)

    @property
    def members(self) -> Tensor:
        """Return whether each word as a whole is a member, (N,) bool."""
        return self.legal.gather(1, self.lengths.unsqueeze(1)).squeeze(1)


def cut_at_dead(language: Language, words: Iterable[Word]) -> list[Word]:
    """Return ``words`` cut after their first dead symbol, without those that are then prefixes of others. A prefix
    objective sees every prefix anyway, and stops at the first dead one: 371 palindrome words become 105.
    """
    cut = {word[: language.first_dead(word)] for word in words}
    prefixes = {word[:t] for word in cut for t in range(len(word))}
    return sorted(cut - prefixes, key=lambda word: (len(word), word))


def roll_out(net: NNPDA, words: WordSet, read_end: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Return how S_last, the stack's length L and the underflow U of ``net`` go along ``words``, each (..., N, T) after
    t + 1 symbols, with one more step for the end symbol if ``read_end``. Beyond the end of a shorter word the end
    symbol is read over and over (otherwise the first symbol), which no objective looks at.
    """
    symbols = words.symbols
    if read_end:
        symbols = torch.cat([symbols, symbols.new_zeros(len(symbols), 1)], 1)
        beyond = torch.arange(symbols.shape[1]) >= words.lengths.unsqueeze(1)
        symbols = symbols.masked_fill(beyond, len(net.alphabet))
    return net.course(symbols)


def end_objective(net: NNPDA, words: WordSet, weights: Tensor, pop_hint: bool = True) -> Tensor:
    """Return the error at the end of the words, (...,) one a network: eq. 16 with the pop-empty hint of section 4.1.

    With H = S_last - L a legal word costs (1 - H)^2, an illegal one max(H, 0)^2. At the first pop of an empty stack the
    run ends there, with U for a legal word (pop less) and 1 - U for an illegal one (pop more: it was right to); without
    the hint U for both, as in section 4.2. Legal and illegal words weigh the same in sum. ``weights`` (..., N) tells
    how often each network sees each word; without an end symbol the empty word cannot be seen.
    """
    last, length, underflow = roll_out(net, words, read_end=net.end is not None)
    last_step = words.lengths if net.end is not None else words.lengths - 1
    weights = weights * (last_step >= 0)
    within = torch.arange(last.shape[-1]) <= last_step.unsqueeze(-1)
    # a run ends at its first pop of an empty stack, (..., N)
    popped = (underflow.detach() > _UNDERFLOW) & within
    first = popped.to(torch.uint8).argmax(-1)
    excess = underflow.gather(-1, first.unsqueeze(-1)).squeeze(-1)
    end = last_step.clamp(min=0).expand(first.shape).unsqueeze(-1)
    height = (last.gather(-1, end) - length.gather(-1, end)).squeeze(-1)
    members = words.members
    at_end = torch.where(members, (1 - height) ** 2, torch.relu(height) ** 2)
    at_pop = torch.where(members | (not pop_hint), excess, 1 - excess)
    losses = torch.where(popped.any(-1), at_pop, at_end)
    return _weighted_mean(losses, weights * members) + _weighted_mean(losses, weights * ~members)


def _weighted_mean(losses: Tensor, weights: Tensor) -> Tensor:
    return (weights * losses).sum(-1) / weights.sum(-1).clamp(min=1)


def prefix_objective(
    net: NNPDA, words: WordSet, weights: Tensor, drive: bool = False, after_dead: bool = False
) -> Tensor:
    """Return the error at every prefix up to the first dead one, (...,) one a network (section 4.3, "trap state").

    A prefix is dead if no continuation is legal: there S_last should be 0, and the run ends. While it lives, S_last
    should be 1 and nothing be popped from an empty stack; where it is legal the stack should be empty, where it is
    live but not legal it should hold one symbol at least. Each of the four demands has the same weight in sum.

    With ``drive`` the last demand has no end: beyond 0.9 its error falls on with the slope that it has there, which is
    the small driving force of section 4.3 (2), L* - L = 0.1. It lets no push remain a half.

    With ``after_dead`` the run goes on, and S_last should stay 0 to the end of the word: a network that is tested
    without the trap monitor, as in section 4.3 (5), has to know that it is in the trap.
    """
    last, length, underflow = roll_out(net, words, read_end=False)
    steps = last.shape[-1]
    live, legal = words.live[:, 1 : steps + 1], words.legal[:, 1 : steps + 1]
    inside = torch.arange(steps) < words.lengths.unsqueeze(1)
    dead = inside & ~live if after_dead else inside & ~live & words.live[:, :steps]  # else the first dead prefix only
    demands = (
        (live, (1 - last) ** 2 + underflow**2),
        (dead, last**2),
        (legal, length**2),
        (live & ~legal, _driven(length) if drive else torch.relu(1 - length) ** 2),
    )
    total = torch.zeros(last.shape[:-2], dtype=last.dtype)
    for mask, error in demands:
        share = weights.unsqueeze(-1) * mask
        total = total + (share * error).sum((-1, -2)) / share.sum((-1, -2)).clamp(min=1)
    return total


def end_of_each_word(net: NNPDA, words: WordSet, weights: Tensor) -> Tensor:
    """Return half the error of eq. 27 at the words' ends, (...,) one a network, whose slope is the update of eq. 26.

    S_last should be 0 after a word that no continuation makes legal, and 1 after others; there the stack should be
    empty if the word is legal, and is driven to hold one symbol or more if it is not. How a network is kept from
    popping an empty stack the paper does not say: here U^2 is added at every step of a word that is not dead.
    """
    course = roll_out(net, words, read_end=False)
    end = (words.lengths - 1).unsqueeze(-1)
    last, length = (values.gather(-1, end.expand((*values.shape[:-1], 1)))[..., 0] for values in course[:2])
    underflow = course[2]
    live = words.live.gather(1, words.lengths.unsqueeze(1)).squeeze(1)
    inside = torch.arange(underflow.shape[-1]) <= end
    of_stack = torch.where(words.members, length**2, _driven(length)) + (underflow**2 * inside).sum(-1)
    errors = torch.where(live, (1 - last) ** 2 + of_stack, last**2)
    return (weights * errors).sum(-1) / 2


def _driven(length: Tensor) -> Tensor:
    slack = 1 - _DRIVEN_FROM
    return torch.where(length < _DRIVEN_FROM, (1 - length) ** 2, slack**2 - 2 * slack * (length - _DRIVEN_FROM))


Objective = Callable[[NNPDA, WordSet, Tensor], Tensor]
OBJECTIVES: dict[str, Objective] = {
    "end": end_objective,
    "end without hint": partial(end_objective, pop_hint=False),
    "prefix": prefix_objective,
    "end of each word": end_of_each_word,
    "every prefix": partial(prefix_objective, after_dead=True),
    "prefix with drive": partial(prefix_objective, drive=True),
}


# ---- Training recognisers from verdicts on whole sets of words, with rounds of counterexamples (Sun et al. 1993) ----

_PATIENCE = 3  # checks without an error, one after the other, that end the training early
_NEW_WORDS = 50  # at most so many counterexamples a network and round
_BETWEEN = 5  # other words before a member, and how many times as far that moves the weights: section 4.3 (3)
KINDS = {"exact": NNPDA, "rtrl": RtrlNNPDA, "local": LocalNNPDA}


class Training(Trainer):
    """NNPDAs ``seed``, ``seed + 1``, … trained side by side by one recipe for one language (see `Trainer`)."""

    net: NNPDA
    kind = "recognition"
    check_every = 50
    PROGRESS = ("round", "clean_checks", "given", "losses", "words", "weights")
    recipe: Recipe

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
        # how many words each network got wrong and was given in each round of counterexamples, rounds of nets
        self.given: list[list[int]] = []
        self.losses = torch.full((nets,), math.inf, dtype=torch.float64)
        self._members = np.array([word in language for word in all_words(language.alphabet, recipe.check_length)])
        self._begin_stage(0)

    @property
    def total_epochs(self) -> int:
        return self.recipe.stage_epochs + self.recipe.rounds * self.recipe.round_epochs

    @property
    def settled(self) -> bool:
        return self.clean_checks >= _PATIENCE

    def batches(self) -> Iterator[tuple[WordSet, Tensor]]:
        begun = 0
        for number, stage in enumerate(self.recipe.stages):
            if self.epochs_done == begun and number > 0:
                self._begin_stage(number)
            begun += stage.epochs
        since = self.epochs_done - begun
        if since >= 0 and since % self.recipe.round_epochs == 0 and since // self.recipe.round_epochs == self.round:
            self._add_counterexamples()
        weights = self.weights.to(self.device)
        if not self.recipe.each_word:
            yield self.word_set, weights
            return
        # the words one by one, a member after every five others, and the members over and over
        members = self.word_set.members.tolist()
        others = [number for number, member in enumerate(members) if not member]
        again = cycle([number for number, member in enumerate(members) if member])
        for start in range(0, len(others), _BETWEEN):
            for number in others[start : start + _BETWEEN]:
                yield self.word_set.only(number), weights[:, [number]]
            number = next(again)
            yield self.word_set.only(number), _BETWEEN * weights[:, [number]]

    def costs(self, batch: tuple[WordSet, Tensor]) -> Tensor:
        with torch.device(self.device):  # where new tensors are made
            costs = OBJECTIVES[self.recipe.objective](self.net, *batch)
        self.losses = costs.detach()
        return costs

    def learning_rate(self) -> float:
        if self.recipe.each_word:
            return self.recipe.rate
        if self.epochs_done >= self.recipe.stage_epochs:
            return self.recipe.round_rate
        return self.recipe.rate * cosine(self.epochs_done, self.recipe.stage_epochs)

    def update(self) -> None:
        super().update()
        self.net.project()

    def check(self) -> None:
        rounded, analog = (self._errors(net).sum(-1) for net in (Rounded(self.net), self.net))
        for number in range(self.n_nets):
            self.keep_if_better(number, Score(int(rounded[number]), int(analog[number]), float(self.losses[number])))
        exact = not rounded.any() and not analog.any()
        last_stage = self.recipe.stage_epochs - self.recipe.stages[-1].epochs
        counts = exact and self.epochs_done >= last_stage + self.check_every
        self.clean_checks = self.clean_checks + 1 if counts else 0

    def settings(self) -> str:
        shape = " ".join(f"{key}={value}" for key, value in sorted(self.recipe.shape.items()))
        gradient = "" if self.recipe.gradient == "exact" else f", {self.recipe.gradient} gradients"
        return f"{self.recipe.objective}{gradient}: {shape}"

    @property
    def words(self) -> list[list[str]]:
        """The words of the stage or round, each as its symbols."""
        return [list(word) for word in self.word_set.words]

    @words.setter
    def words(self, words: list[list[str]]) -> None:
        made = [make_word(word, self.language.alphabet) for word in words]
        self.word_set = WordSet.of(self.language, made).to(self.device)

    def _begin_stage(self, number: int) -> None:
        words = self.recipe.stages[number].word_list(self.language, self.seed)
        if self.recipe.each_word:
            # each is cut after its first dead symbol, where training stops (section 4.3 (2)); the empty has no update
            words = [word[: self.language.first_dead(word)] for word in words if word]
        elif self.recipe.objective.startswith("prefix"):
            words = cut_at_dead(self.language, words)
        self._set_words(words, torch.ones(self.n_nets, 0, dtype=torch.float64))

    def _set_words(self, words: list[Word], weights: Tensor) -> None:
        """Keep ``words``; the first of them have ``weights`` (nets, n), the rest weigh 1 for every network."""
        rest = torch.ones(self.n_nets, len(words) - weights.shape[-1], dtype=weights.dtype)
        self.word_set = WordSet.of(self.language, words).to(self.device)
        self.weights = torch.cat([weights.cpu(), rest], -1).to(self.device)

    def _add_counterexamples(self) -> None:
        """Give every network the words that it gets wrong, and it alone (section 4.2)."""
        self.round += 1
        if self.round > self.recipe.rounds:
            return
        longest = self.recipe.check_length - self.recipe.rounds + self.round
        # words up to a length that grows by one a round, the shortest first
        candidates = all_words(self.language.alphabet, longest)
        wrong = self._errors(self.net)[:, : len(candidates)]
        given = wrong & (wrong.cumsum(1) <= _NEW_WORDS)  # to each network the first of those that it gets wrong
        self.given.append(given.sum(-1).tolist())
        words = [*self.word_set.words, *(candidates[place] for place in np.flatnonzero(wrong.any(0)))]
        columns = torch.from_numpy(given[:, wrong.any(0)]).to(self.weights)
        self._set_words(words, torch.cat([self.weights, columns], -1))

    def _errors(self, net: NNPDA | Rounded[Any]) -> np.ndarray:  # (nets, words), by length
        verdicts = np.concatenate(verdicts_on_all(net, self.recipe.check_length), -1)
        return np.asarray(verdicts != self._members)
