"""What recognisers are trained to do: words with what their language says of every prefix, and what an error costs.

An error counts at the end of a word, with a hint for pops of an empty stack, or at every prefix (Sun et al. 1993).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import Word
from stacklens.languages.language import Language
from stacklens.models.networks.nnpda import NNPDA
from stacklens.models.training.rtrl import RtrlNNPDA

__all__ = [
    "OBJECTIVES",
    "Objective",
    "Rollout",
    "WordSet",
    "cut_at_dead",
    "each_cut_at_dead",
    "end_objective",
    "end_of_each_word",
    "prefix_objective",
    "roll_out",
]

_DRIVEN_FROM = 0.9  # a length of the stack, section 4.3 (2)
_UNDERFLOW = 1e-6  # a pop of an empty stack by more than this ends a word's run in training


@dataclass(frozen=True)
class WordSet:
    """Words of a language's alphabet, padded, and the language's word on each of their prefixes.

    Attributes:
        words: the words, N of them.
        symbols: their symbols' indices, (N, T) int64, 0 beyond the end of a word.
        lengths: (N,) int64.
        legal: whether the prefix of t symbols is a member, (N, T + 1) bool; false beyond the end.
        live: whether some continuation of it is a member, (N, T + 1) bool; false beyond the end.
    """

    words: tuple[Word, ...]
    symbols: Tensor
    lengths: Tensor
    legal: Tensor
    live: Tensor

    @classmethod
    def of(cls, language: Language, words: Iterable[Word]) -> WordSet:
        """Return ``words`` encoded; they may repeat, which gives them weight."""
        kept = tuple(words)
        index = {symbol: number for number, symbol in enumerate(language.alphabet)}
        longest = max(map(len, kept), default=0)
        symbols = np.zeros((len(kept), longest), dtype=np.int64)
        legal, live = (np.zeros((len(kept), longest + 1), dtype=bool) for _ in range(2))
        for row, word in enumerate(kept):
            symbols[row, : len(word)] = [index[symbol] for symbol in word]
            for t in range(len(word) + 1):
                legal[row, t], live[row, t] = word[:t] in language, language.is_live(word[:t])
        lengths = np.array([len(word) for word in kept], dtype=np.int64)
        return cls(kept, *(torch.from_numpy(array) for array in (symbols, lengths, legal, live)))

    def to(self, device: str) -> WordSet:
        """Return the same words with their tensors on ``device``."""
        tensors = (self.symbols, self.lengths, self.legal, self.live)
        return WordSet(self.words, *(tensor.to(device) for tensor in tensors))

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
    """Return ``words`` cut after their first dead symbol, without those that are then prefixes of others.

    A prefix objective sees every prefix anyway, and stops at the first dead one: 371 palindrome words become 105.
    """
    cut = set(each_cut_at_dead(language, words))
    prefixes = {word[:t] for word in cut for t in range(len(word))}
    return sorted(cut - prefixes, key=lambda word: (len(word), word))


def each_cut_at_dead(language: Language, words: Iterable[Word]) -> list[Word]:
    """Return ``words`` in their order, each cut after its first dead symbol, where training stops (section 4.3 (2))."""
    return [word[: language.first_dead(word)] for word in words]


@dataclass(frozen=True)
class Rollout:
    """How S_last, the stack's length L and the underflow U go along words, each (..., N, T) after t + 1 symbols."""

    last: Tensor
    length: Tensor
    underflow: Tensor


def roll_out(net: NNPDA, words: WordSet, read_end: bool) -> Rollout:
    """Return the course of ``net`` on ``words``, with one more step for the end symbol if ``read_end``.

    Beyond the end of a shorter word the end symbol is read over and over (otherwise the first symbol), which no
    objective looks at.
    """
    symbols = words.symbols
    if read_end:
        symbols = torch.cat([symbols, symbols.new_zeros(len(symbols), 1)], 1)
        beyond = torch.arange(symbols.shape[1]) >= words.lengths.unsqueeze(1)
        symbols = symbols.masked_fill(beyond, len(net.alphabet))
    if isinstance(net, RtrlNNPDA):
        return Rollout(*net.course(symbols))
    state = net.initial_state(len(symbols))
    columns: list[tuple[Tensor, Tensor, Tensor]] = []
    for column in symbols.unbind(1):
        before = state.stack.length
        step = net.step(column, state)
        state = step.state
        underflow = torch.relu(-(before + step.actions[..., 0, 0]))
        columns.append((step.hidden[..., -1], state.stack.length, underflow))
    return Rollout(*(torch.stack(series, -1) for series in zip(*columns, strict=True)))


def end_objective(net: NNPDA, words: WordSet, weights: Tensor, pop_hint: bool = True) -> Tensor:
    """Return the error at the end of the words, (...,) one a network: eq. 16 with the pop-empty hint of section 4.1.

    With H = S_last - L a legal word costs (1 - H)^2, an illegal one max(H, 0)^2. At the first pop of an empty stack the
    run ends there, with U for a legal word (pop less) and 1 - U for an illegal one (pop more: it was right to); without
    the hint U for both, as in section 4.2. Legal and illegal words weigh the same in sum. ``weights`` (..., N) tells
    how often each network sees each word; without an end symbol the empty word cannot be seen.
    """
    course = roll_out(net, words, read_end=net.end is not None)
    last_step = words.lengths if net.end is not None else words.lengths - 1
    weights = weights * (last_step >= 0)
    within = torch.arange(course.last.shape[-1]) <= last_step.unsqueeze(-1)
    popped = (course.underflow.detach() > _UNDERFLOW) & within
    first = popped.to(torch.uint8).argmax(-1)
    underflow = course.underflow.gather(-1, first.unsqueeze(-1)).squeeze(-1)
    end = last_step.clamp(min=0).expand(first.shape).unsqueeze(-1)
    height = (course.last.gather(-1, end) - course.length.gather(-1, end)).squeeze(-1)
    members = words.members
    at_end = torch.where(members, (1 - height) ** 2, torch.relu(height) ** 2)
    at_pop = torch.where(members | (not pop_hint), underflow, 1 - underflow)
    losses = torch.where(popped.any(-1), at_pop, at_end)
    return _mean(losses, weights * members) + _mean(losses, weights * ~members)


def _mean(losses: Tensor, weights: Tensor) -> Tensor:
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
    course = roll_out(net, words, read_end=False)
    steps = course.last.shape[-1]
    live, legal = words.live[:, 1 : steps + 1], words.legal[:, 1 : steps + 1]
    inside = torch.arange(steps) < words.lengths.unsqueeze(1)
    dead = inside & ~live if after_dead else inside & ~live & words.live[:, :steps]  # else the first dead prefix only
    demands = (
        (live, (1 - course.last) ** 2 + course.underflow**2),
        (dead, course.last**2),
        (legal, course.length**2),
        (live & ~legal, _driven(course.length) if drive else torch.relu(1 - course.length) ** 2),
    )
    total = torch.zeros(course.last.shape[:-2], dtype=course.last.dtype)
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
    last, length = (
        values.gather(-1, end.expand((*values.shape[:-1], 1)))[..., 0] for values in (course.last, course.length)
    )
    live = words.live.gather(1, words.lengths.unsqueeze(1)).squeeze(1)
    inside = torch.arange(course.last.shape[-1]) <= end
    of_stack = torch.where(words.members, length**2, _driven(length)) + (course.underflow**2 * inside).sum(-1)
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
