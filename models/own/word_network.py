"""A network, or any function, that is asked about whole words, as a `StackModel` without a stack.

Nothing of it is seen between two symbols: its "hidden vector" is what it said last. A word's answers are found at once
where the network gives one after every symbol; else every beginning of a word is asked for itself, and kept.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

import numpy as np
import torch
from torch import Tensor, nn

from stacklens.automata.compiled import encode_words
from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.models.base import ControllerOutput, NetworkState, StackModel, Step
from stacklens.models.own.guarded import guarded, take_out
from stacklens.models.own.outputs import Outputs
from stacklens.models.own.step_network import cannot_save

__all__ = ["ForwardNetwork", "Prefix", "WordNetwork"]

_TOGETHER = 60_000  # symbols that are given to a network at once


@dataclass(frozen=True)
class Prefix:
    """What a batch of words has read so far, in the place of stacks: 0 of them.

    Attributes:
        codes: the symbols' numbers, (B, T).
        like: gives the type of readings.
    """

    codes: Tensor
    like: Tensor

    def reading(self) -> Tensor:
        """Return the readings of 0 stacks, (B, 0, 1)."""
        return self.like.new_zeros(len(self.codes), 0, 1)

    def next(self, actions: Tensor, pushed: Tensor) -> Prefix:
        """Return the same: there are no ``actions``, and nothing is ``pushed``."""
        del actions, pushed
        return self

    def select(self, index: Tensor) -> Prefix:
        """Return the words of the batch entries ``index`` (M,), which may repeat."""
        return replace(self, codes=self.codes[index])

    def reads(self, symbols: Tensor) -> Prefix:
        """Return the words with ``symbols`` (B,) behind them."""
        return replace(self, codes=torch.cat([self.codes, symbols[:, None]], 1))


class WordNetwork(StackModel[Prefix]):
    """What answers words, or every beginning of a word, and shows nothing else.

    Args:
        name: what reports call it.
        alphabet: what words are made of.
        outputs: what it says, and how that is read.
        first, end: as in `StackModel`.
        longest: the longest word that it can be asked about; None for any.
        affordable: about how many words a check may ask; None for as many as of any other network.
    """

    name: ClassVar[str] = "own network"
    action_kind = "none"
    n_stacks = 0
    cell_size = 1

    def __init__(
        self,
        name: str,
        alphabet: tuple[str, ...],
        outputs: Outputs,
        *,
        first: tuple[str, ...] | None = None,
        end: str | None = None,
        longest: int | None = None,
        affordable: int | None = None,
    ) -> None:
        super().__init__()
        object.__setattr__(self, "name", name)
        self.outputs, self.task_kind = outputs, outputs.kind
        self.alphabet, self.first, self.end = alphabet, first, end
        self.longest, self.affordable = longest, affordable

    @abstractmethod
    def said_of(self, codes: Tensor) -> Tensor:
        """Return what is said of words ``codes`` (B, T) int, all of one length, after their last symbol, (B, O)."""

    @abstractmethod
    def said_along(self, codes: Tensor, lengths: Sequence[int]) -> Tensor | None:
        """Return what is said after every symbol of words ``codes`` (B, T) of these ``lengths``, (B, T, O).

        Beyond the end of a word ``codes`` are 0, and what is said there does not matter. None where it is not known at
        once.
        """

    @property
    def like(self) -> Tensor:
        """Return a tensor of the type of outputs."""
        return torch.zeros(())

    @property
    def width(self) -> int:
        """Return how many numbers an output has."""
        return self.outputs.size

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        """Return the symbols that outputs are made of."""
        return self.outputs.alphabet

    def config(self) -> dict[str, Any]:
        """Return what is known of it, for reports."""
        return {"stack": None, "outputs": self.task_kind, "longest": self.longest}

    def save(self, path: object) -> NoReturn:
        """Say what can be saved: no file of ours can hold somebody else's code.

        Raises:
            StacklensError: always.
        """
        cannot_save(self.name, path)

    def initial_state(self, batch: int) -> NetworkState[Prefix]:
        """Return the state before the first symbol; a recogniser has answered the empty word."""
        like = self.like
        stack = Prefix(torch.zeros(batch, 0, dtype=torch.int64, device=like.device), like)
        rejected = torch.zeros(batch, dtype=torch.bool, device=like.device)
        if self.task_kind == "recognition" and self.end is None:
            output = self.said_of(stack.codes[:1]).expand(batch, -1)
            return NetworkState(output, stack, rejected, output)
        return NetworkState(like.new_zeros(batch, self.width), stack, rejected)

    def step(self, symbols: Tensor, state: NetworkState[Prefix]) -> Step[Prefix]:
        """Return the step on ``symbols`` (B,): the whole word is read again."""
        stack = state.stack.reads(symbols)
        output = self.said_of(stack.codes)
        rejected = state.rejected
        if self.task_kind == "next set":
            rejected = rejected | self._unexpected(symbols, state)
        reading = stack.reading()
        after = NetworkState(output, stack, rejected, output)
        return Step(output, reading[..., :0], reading, reading, output, after)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Say that there is none.

        Raises:
            StacklensError: always.
        """
        del symbols, hidden, reading
        raise StacklensError(f"{self.name} is asked about whole words: it has no hidden vector to begin a step from")

    def stack_of(self, cells: Tensor) -> Prefix:
        """Return nothing for each of ``cells`` (M, 0, 1, 1)."""
        return Prefix(torch.zeros(len(cells), 0, dtype=torch.int64), self.like)

    def decide(self, state: NetworkState[Prefix]) -> Tensor:
        """Return whether the last output accepts."""
        accepted: Tensor = state.hidden[..., 0] > 0.5
        return accepted

    @torch.no_grad()
    def answers_to(self, words: Sequence[Word]) -> np.ndarray | None:
        """Return the answers to ``words`` at once, (N, 1) or (N, T) as `network_answers` gives them."""
        codes, lengths = encode_words(words, self.alphabet)
        if self.task_kind == "recognition":
            return self._verdicts(codes, lengths)
        answers = np.full(codes.shape, -1, dtype=self.number_type)
        order = np.argsort(lengths, kind="stable")
        for rows in _parts(order, lengths):
            width = int(lengths[rows].max(initial=0))
            symbols = torch.from_numpy(np.maximum(codes[rows, :width], 0).astype(np.int64))
            said = self.said_along(symbols, lengths[rows].tolist()) if width else None
            if said is None and width:
                return None
            if said is not None:
                answers[rows, :width] = self._numbers_along(said, symbols, lengths[rows])
        return answers

    def _verdicts(self, codes: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        verdicts = np.zeros((len(codes), 1), np.int32)
        for length in np.unique(lengths).tolist():
            same = np.flatnonzero(lengths == length)
            for rows in _parts(same, lengths):
                symbols = torch.from_numpy(codes[rows, :length].astype(np.int64))
                if self.end is not None:
                    symbols = torch.cat([symbols, symbols.new_full((len(rows), 1), len(self.alphabet))], 1)
                verdicts[rows, 0] = (self.said_of(symbols)[:, 0] > 0.5).cpu().numpy()
        return verdicts

    def _numbers_along(self, said: Tensor, symbols: Tensor, lengths: np.ndarray) -> np.ndarray:
        """Return the numbers of outputs ``said`` (B, T, O) after ``symbols`` (B, T), -1 from a rejection on."""
        numbers = self.output_numbers(said)
        steps = np.arange(symbols.shape[1])
        gone = steps[None] >= lengths[:, None]
        if self.task_kind == "next set":
            first = torch.tensor([self.first is None or symbol in self.first for symbol in self.alphabet])
            allowed = said[:, :-1].gather(-1, symbols[:, 1:, None]).squeeze(-1) > 0.5
            unexpected = ~torch.cat([first[symbols[:, :1]], allowed.cpu()], 1)
            gone = gone | (np.cumsum(unexpected.numpy(), 1) > 0)
        return np.where(gone, -1, numbers)


class ForwardNetwork(WordNetwork):
    """A module of one's own that reads whole words, such as a transformer; ``wrap(…, forward=…)`` makes it.

    Args:
        module: whatever holds the weights; None for none.
        forward: from symbols, "one-hot" (B, T, n) or "index" (B, T), to outputs after every symbol (B, T, O), or after
            the last one only, (B, O).
        symbols: "one-hot" or "index".
        along: whether outputs come after every symbol.
        empty_word: whether a recogniser accepts the empty word, which it cannot be asked.
        settings: those of `WordNetwork`.
    """

    def __init__(
        self,
        module: nn.Module | None,
        forward: Callable[[Tensor], Any],
        symbols: str,
        along: bool,
        empty_word: bool | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.module, self._forward = module, forward
        self.symbols, self.along, self.empty_word = symbols, along, empty_word

    @property
    def like(self) -> Tensor:
        """Return a tensor of the type of the weights."""
        weights = None if self.module is None else next(self.module.parameters(), None)
        return torch.zeros(()) if weights is None else weights.detach().new_zeros(())

    def config(self) -> dict[str, Any]:
        """Return what is known of it, for reports."""
        return {**super().config(), "symbols": self.symbols}

    def said_of(self, codes: Tensor) -> Tensor:
        """Return what is said of words ``codes`` (B, T) after their last symbol, (B, O)."""
        if codes.shape[1] == 0:
            return self.like.new_full((len(codes), 1), float(bool(self.empty_word)))
        said = self.forwarded(codes)
        return self.outputs.read(said[:, -1] if self.along else said, len(codes)).to(self.like)

    def said_along(self, codes: Tensor, lengths: Sequence[int]) -> Tensor | None:
        """Return what is said after every symbol, (B, T, O), by one run, or by one for every length."""
        del lengths
        if not self.along:
            return torch.stack([self.said_of(codes[:, : t + 1]) for t in range(codes.shape[1])], 1)
        said = self.forwarded(codes)
        rows = self.outputs.read(said.flatten(0, 1), said.shape[0] * said.shape[1])
        return rows.reshape(*said.shape[:2], -1)

    def forwarded(self, codes: Tensor) -> Tensor:
        """Return what the module itself says of ``codes`` (B, T), unread."""
        x = codes.to(self.like.device)
        if self.symbols == "one-hot":
            x = torch.nn.functional.one_hot(x, self.n_symbols).to(self.like.dtype)
        said = guarded(self._forward, "forward(symbols)", {"symbols": x})
        if not isinstance(said, Tensor):
            raise take_out("forward(symbols)", said, self.outputs.sizes)
        return said


def _parts(rows: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    """Return ``rows``, shortest words first, in parts of about as many symbols as are given to a network at once."""
    parts, begin = [], 0
    while begin < len(rows):
        end = begin + 1
        while end < len(rows) and (end + 1 - begin) * max(1, int(lengths[rows[end]])) <= _TOGETHER:
            end += 1
        parts.append(rows[begin:end])
        begin = end
    return parts
