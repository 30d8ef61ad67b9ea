"""A function that answers words, whatever is behind it, as a `StackModel`: a program, a remote service, a network."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.languages.tasks.task import TaskKind
from stacklens.models.base import StackModel
from stacklens.models.own.guarded import guarded
from stacklens.models.own.outputs import Outputs
from stacklens.models.own.word_network import WordNetwork

__all__ = ["AFFORDABLE", "BlackBox", "Box", "boxed"]

Box = Callable[[list[tuple[str, ...]]], Sequence[Any]]
AFFORDABLE = 100_000  # words that a check may ask, unless it is told otherwise
_TOGETHER = 10_000  # words that are asked at once
_MOST_KEPT = 2_000_000  # answers


class BlackBox(WordNetwork):
    """A function from a list of words, tuples of symbols, to a list of answers, one a word; every word is asked once.

    Where answers are True and False it is a recogniser; where they are sets of symbols of the alphabet it says which
    may come next; else what it says is an output, whatever that is, called as Python shows it.

    Args:
        box: the function.
        alphabet: what words are made of.
        first: for sets, which symbols may begin a word; None for what it says of the empty word.
        name: what reports call it.
        longest, affordable: as in `WordNetwork`.

    Raises:
        StacklensError: it does not answer every word, or answers in several ways.

    >>> even = BlackBox(lambda words: [len(word) % 2 == 0 for word in words], ("a",))
    >>> even.task_kind, even.answers_to(["", "a", "aa"]).ravel()
    ('recognition', array([1, 0, 1], dtype=int32))
    """

    def __init__(
        self,
        box: Box,
        alphabet: tuple[str, ...],
        *,
        first: tuple[str, ...] | None = None,
        name: str = "black box",
        longest: int | None = None,
        affordable: int | None = None,
    ) -> None:
        self.box, self.asked, self.rounds = box, 0, 0
        self._known: dict[tuple[int, ...], int] = {}
        self._outputs: dict[Hashable, int] = {}
        self._symbols = alphabet
        kind = self._kind([(), *((symbol,) for symbol in alphabet)])
        if first is None and kind == "next set":
            first = tuple(sorted(self._answers([()])[0], key=alphabet.index)) or None
        super().__init__(name, alphabet, Outputs(kind, alphabet), first=first, longest=longest, affordable=affordable)

    @property
    def width(self) -> int:
        """Return how many numbers an output has: one a symbol for sets, else its own number."""
        return len(self.alphabet) if self.task_kind == "next set" else 1

    @property
    def like(self) -> Tensor:
        """Return a tensor of the type of outputs."""
        return torch.zeros((), dtype=torch.float64)

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        """Return the outputs that were met so far, or the alphabet where they are sets of its symbols."""
        if self.task_kind in ("recognition", "next set"):
            return self.alphabet
        return tuple(map(str, self._outputs))

    def said_of(self, codes: Tensor) -> Tensor:
        """Return what is said of words ``codes`` (B, T): 0 or 1, a set (B, K), or the number of an output (B, 1)."""
        rows = codes.tolist()
        self._ask({tuple(row) for row in rows})
        numbers = [self._known[tuple(row)] for row in rows]
        if self.task_kind != "next set":
            return torch.tensor(numbers, dtype=torch.float64).unsqueeze(-1)
        members = [[number >> place & 1 for place in range(len(self.alphabet))] for number in numbers]
        return torch.tensor(members, dtype=torch.float64).reshape(len(rows), -1)

    def said_along(self, codes: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return what is said after every symbol; all beginnings that are not known are asked together."""
        rows = codes.tolist()
        together = (tuple(row[: t + 1]) for row, length in zip(rows, lengths, strict=True) for t in range(length))
        self._ask(set(together))
        said = torch.zeros(*codes.shape, self.outputs.size if self.task_kind == "next set" else 1, dtype=torch.float64)
        for t in range(codes.shape[1]):
            there = [i for i, length in enumerate(lengths) if length > t]
            said[there, t] = self.said_of(codes[there, : t + 1])
        return said

    def answers_to(self, words: Sequence[Word]) -> np.ndarray | None:
        """Return the answers to ``words`` at once (see `WordNetwork`); those of a recogniser need no beginnings."""
        if self.task_kind != "recognition":
            return super().answers_to(words)
        spelled = [tuple(map(self._symbols.index, word)) for word in words]
        self._ask(set(spelled))
        return np.array([self._known[word] for word in spelled], np.int32).reshape(-1, 1)

    def output_numbers(self, output: Tensor) -> np.ndarray:
        """Return which discrete output each of ``output`` (..., O) is, (...)."""
        if self.task_kind == "transduction":
            numbers: np.ndarray = output[..., 0].long().numpy()
            return numbers
        return super().output_numbers(output)

    def _ask(self, words: set[tuple[int, ...]]) -> None:
        """Ask what is not known of ``words``, by their symbols' numbers."""
        fresh = sorted(word for word in words if word not in self._known)
        if fresh and len(self._known) + len(fresh) > _MOST_KEPT:
            self._known.clear()
            fresh = sorted(words)
        for begin in range(0, len(fresh), _TOGETHER):
            part = fresh[begin : begin + _TOGETHER]
            answers = self._answers([tuple(self._symbols[i] for i in word) for word in part])
            self._known |= {word: self._number(answer) for word, answer in zip(part, answers, strict=True)}

    def _answers(self, words: list[tuple[str, ...]]) -> list[Any]:
        said = guarded(self.box, "the function", {f"{len(words):,} words, a list": words})
        self.asked, self.rounds = self.asked + len(words), self.rounds + 1
        if not isinstance(said, Iterable):
            raise StacklensError(
                f"the function answers {len(words):,} words with {said!r:.40}, of type {type(said).__name__}; expected "
                "a list with one answer a word"
            )
        answers = list(said)
        if len(answers) != len(words):
            raise StacklensError(
                f"the function gave {len(answers):,} answers to {len(words):,} words; expected a list with one a word"
            )
        return answers

    def _kind(self, words: list[tuple[str, ...]]) -> TaskKind:
        """Return what the answers to some words say."""
        answers = self._answers(words)
        if all(isinstance(answer, bool | np.bool_) for answer in answers):
            return "recognition"
        sets = [isinstance(answer, set | frozenset) for answer in answers]
        if all(sets):
            return "next set"
        if any(sets) or any(isinstance(answer, bool | np.bool_) for answer in answers):
            raise StacklensError("the function answers in several ways; expected only True and False, sets, or outputs")
        return "transduction"

    def _number(self, answer: Any) -> int:
        """Return the number of an answer."""
        if self.task_kind == "recognition":
            return int(bool(answer))
        if self.task_kind == "next set":
            if not isinstance(answer, set | frozenset) or not answer <= set(self.alphabet):
                raise StacklensError(f"the function says {answer!r:.60}; expected a set of symbols of the alphabet")
            return sum(1 << place for place, symbol in enumerate(self.alphabet) if symbol in answer)
        if not isinstance(answer, Hashable):
            raise StacklensError(f"the function says {answer!r:.60}; expected something that can be hashed")
        return self._outputs.setdefault(answer, len(self._outputs))


def boxed(box: Any, alphabet: Sequence[str] | None, first: Sequence[str] | None, **settings: Any) -> StackModel[Any]:
    """Return what answers words: a network as it is, a function as a `BlackBox` with these ``settings``.

    Raises:
        StacklensError: it is neither, a function has no alphabet, or a network has another one.
    """
    if isinstance(box, StackModel):
        if alphabet is not None and set(alphabet) != set(box.alphabet):
            raise StacklensError(f"the network's alphabet is {' '.join(box.alphabet)}, not {' '.join(alphabet)}")
        return box
    if not callable(box) or hasattr(box, "forward"):
        raise StacklensError(
            f"expected a function from a list of words to a list of answers, or a network, not {type(box).__name__}; "
            "sl.wrap makes a network of a module"
        )
    if not alphabet:
        raise StacklensError("what are the words of this function made of? give its alphabet")
    return BlackBox(box, tuple(alphabet), first=None if first is None else tuple(first), **settings)
