"""A network, or any function, that is asked about whole words, as a `StackModel` without a stack.

Nothing of it is seen between two symbols: its "hidden vector" is its last output. A word's answers are found at once
where the network gives one after every symbol; else every beginning of a word is asked for itself, and kept.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from ..automata.enumeration import encode_words
from ..automata.pda import Word
from ..core.errors import StacklensError
from ..core.progress import OutOfTimeError, check_time, current_limit, cut_short
from ..languages.language import TaskKind, parse_word
from .base import ControllerOutput, NetworkState, Run, StackModel, Step, members_of
from .networks.layers import OWN_CODE, OwnModule, Vocabulary, guarded, like_weights, taken_out
from .rounding import Outputs, predicted

_TOGETHER = 60_000  # symbols that are given to a network at once
# Where time may end: seconds that are given to a network or a function at once, the least words of a function, symbols
# and words at first; and the least seconds a symbol or word.
_MOMENT, _LEAST_TOGETHER, _FIRST_SYMBOLS, _FIRST_TOGETHER, _FASTEST = 0.25, 8, 500, 256, 1e-7


@dataclass(frozen=True)
class Prefix:
    """What a batch of words has read so far, in the place of stacks: 0 of them."""

    codes: Tensor  # the symbols' numbers, (B, T)
    like: Tensor  # gives the type of readings

    def reading(self) -> Tensor:
        """Return the readings of 0 stacks, (B, 0, 1)."""
        return self.like.new_zeros(len(self.codes), 0, 1)

    def next(self, actions: Tensor, pushed: Tensor) -> Prefix:
        """Return the same: there are no ``actions``, and nothing is ``pushed``."""
        return self

    def select(self, index: Tensor) -> Prefix:
        """Return the words of the batch entries ``index`` (M,), which may repeat."""
        return replace(self, codes=self.codes[index])


class WordNetwork(StackModel[Prefix]):
    """What answers words, or every beginning of a word, alone; ``first`` and ``end`` are as in `StackModel`."""

    name: ClassVar[str] = "own network"
    foreign = True
    action_kind = "none"
    n_stacks = 0
    cell_size = 1
    _pace, _a_word = _MOMENT / _FIRST_SYMBOLS, 0.0  # seconds of a symbol as measured last, and least of a word

    def __init__(
        self,
        name: str,  # what reports call it
        alphabet: tuple[str, ...],  # what words are made of
        outputs: Outputs,  # what it says, and how that is read
        *,
        first: tuple[str, ...] | None = None,
        end: str | None = None,
        longest: int | None = None,  # the longest word that it can be asked about; None for any
        affordable: int | None = None,  # about how many words a check may ask; None for as many as of any other network
    ) -> None:
        super().__init__()
        object.__setattr__(self, "name", name)
        self.outputs, self.task_kind = outputs, outputs.kind
        self.alphabet, self.first, self.end = alphabet, first, end
        self.longest, self._affordable = longest, affordable

    @property
    def affordable(self) -> int | None:  # type: ignore[override]
        """Return about how many words a check may ask, of a slow one no more than there is time for."""
        limit = current_limit()
        if limit is None or self._affordable is None or self._a_word == 0:
            return self._affordable
        return min(self._affordable, max(1, int((limit.end - limit.clock()) / self._a_word)))

    @abstractmethod
    def outputs_of(self, codes: Tensor) -> Tensor:
        """Return the outputs for words ``codes`` (B, T) int, all of one length, after their last symbol, (B, O)."""

    @abstractmethod
    def outputs_along(self, codes: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return the outputs after every symbol of words ``codes`` (B, T) of these ``lengths``, (B, T, O). Beyond the
        end of a word ``codes`` are 0, and outputs there do not matter.
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
        return self.outputs.alphabet

    def config(self) -> dict[str, Any]:
        return {"stack": None, "outputs": self.task_kind, "longest": self.longest}

    @property
    def unsaved(self) -> str:
        if self.origin is not None and self.origin.file is not None:
            return f"{self.name} is of another program, in whose own files it stays; sl.load reads these"
        return f"{self.name} is {OWN_CODE}"

    def initial_state(self, batch: int) -> NetworkState[Prefix]:
        """Return the state before the first symbol; a recogniser has answered the empty word."""
        like = self.like
        stack = Prefix(torch.zeros(batch, 0, dtype=torch.int64, device=like.device), like)
        rejected = torch.zeros(batch, dtype=torch.bool, device=like.device)
        if self.task_kind == "recognition" and self.end is None:
            output = self.outputs_of(stack.codes[:1]).expand(batch, -1)
            return NetworkState(output, stack, rejected, output)
        return NetworkState(like.new_zeros(batch, self.width), stack, rejected)

    def step(self, symbols: Tensor, state: NetworkState[Prefix]) -> Step[Prefix]:
        stack = self.feed(state.stack, symbols)
        output = self.outputs_of(stack.codes)
        reading = stack.reading()
        after = NetworkState(output, stack, self._refused(symbols, state), output)
        return Step(output, reading[..., :0], reading, reading, output, after)

    def feed(self, stack: Prefix, symbols: Tensor) -> Prefix:
        return replace(stack, codes=torch.cat([stack.codes, symbols[:, None]], 1))

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        raise StacklensError(f"{self.name} is asked about whole words: it has no hidden vector to begin a step from")

    def stack_of(self, cells: Tensor) -> Prefix:
        return Prefix(torch.zeros(len(cells), 0, dtype=torch.int64), self.like)

    def decide(self, state: NetworkState[Prefix]) -> Tensor:
        return state.hidden[..., 0] > 0.5

    @torch.no_grad()
    def answers_to(self, words: Sequence[Word]) -> np.ndarray:
        """Return the answers to ``words`` at once, (N, 1) or (N, T) as `network_answers` gives them."""
        codes, lengths = encode_words(words, self.alphabet)
        if self.task_kind == "recognition":
            verdicts = np.zeros((len(codes), 1), np.int32)
            for length in np.unique(lengths).tolist():
                same = np.flatnonzero(lengths == length)
                for part in self._parts(np.full(len(same), max(1, length)), _TOGETHER):
                    symbols = torch.from_numpy(codes[same[part], :length].astype(np.int64))
                    if self.end is not None:
                        symbols = torch.cat([symbols, symbols.new_full((len(symbols), 1), len(self.alphabet))], 1)
                    verdicts[same[part], 0] = (self.outputs_of(symbols)[:, 0] > 0.5).cpu().numpy()
            return verdicts
        answers = np.full(codes.shape, -1, dtype=self.number_type)
        first = torch.tensor([self.first is None or symbol in self.first for symbol in self.alphabet])
        order = np.argsort(lengths, kind="stable")
        for part in self._parts(np.maximum(lengths[order], 1), _TOGETHER):
            rows = order[part]
            width = int(lengths[rows].max())
            if not width:
                continue
            symbols = torch.from_numpy(np.maximum(codes[rows, :width], 0).astype(np.int64))
            outputs = self.outputs_along(symbols, lengths[rows].tolist())
            gone = np.arange(width)[None] >= lengths[rows][:, None]
            if self.task_kind == "next set":
                # a symbol that was not in the set before it is a rejection, (B, T)
                allowed = outputs[:, :-1].gather(-1, symbols[:, 1:, None]).squeeze(-1) > 0.5
                unexpected = ~torch.cat([first[symbols[:, :1]], allowed.cpu()], 1)
                gone = gone | (np.cumsum(unexpected.numpy(), 1) > 0)
            answers[rows, :width] = np.where(gone, -1, self.output_numbers(outputs))
        return answers

    def _parts(self, sizes: np.ndarray, most: int, least: int = 1) -> Iterator[slice]:
        """Yield in turn what is asked at once, parts of what has these ``sizes``, none of which is smaller than the one
        before: about ``most`` together. Where time may end it is as much as was answered in a moment, by the pace of
        the part before, but ``least``.
        """
        limit, begin = current_limit(), 0
        while begin < len(sizes):
            check_time()
            fits, begun = most, 0.0
            if limit is not None:
                fits, begun = min(most, max(least, int(_MOMENT / self._pace))), limit.clock()
            # so many are as large together as the largest of them, which is the last, would make them
            together = np.arange(1, most + 1)[: len(sizes) - begin] * sizes[begin : begin + most]
            end = begin + max(1, int(np.searchsorted(together, fits, "right")))
            yield slice(begin, end)
            if limit is not None:
                took = limit.clock() - begun
                self._pace = max(took / int(together[end - begin - 1]), _FASTEST)
                self._a_word = min(self._a_word or took, took / (end - begin))
            begin = end


class ForwardNetwork(OwnModule, WordNetwork):
    """A module of one's own that reads whole words, such as a transformer; ``wrap(…, forward=…)`` makes it.
    ``forward``: from symbols, "one-hot" (B, T, n) or "index" (B, T), to outputs after every symbol (B, T, O), or after
    the last one only, (B, O); there may be outputs before the first one, too, (B, T + 1, O).
    """

    def __init__(
        self,
        module: nn.Module | None,  # whatever holds the weights; None for none
        forward: Callable[[Tensor], Any],
        symbols: str,  # "one-hot" or "index"
        along: bool,  # whether outputs come after every symbol
        empty_word: bool | None = None,  # whether a recogniser accepts the empty word, where it cannot be asked
        vocabulary: Vocabulary | None = None,  # its tokens, where there are others than symbols of the alphabet
        **settings: Any,  # those of `WordNetwork`
    ) -> None:
        super().__init__(**settings)
        self.vocabulary, self.sizes = vocabulary, dict[str, int]()  # which reports show, where they are known
        self.module, self.called, self._forward = module, (module,), forward
        self.squared_error = self.outputs.activation != "softmax" or self.task_kind == "recognition"
        self.symbols, self.along, self.empty_word = symbols, along, empty_word
        self.took = 0  # symbols of the longest word so far

    def config(self) -> dict[str, Any]:
        threshold = {} if self.task_kind != "next set" else {"threshold": self.outputs.threshold}
        return {**self.sizes, **super().config(), "symbols": self.symbols, **threshold}

    def run(self, symbols: Tensor, state: NetworkState[Prefix], noise: Tensor | None = None) -> Run:
        """Return the outputs after every symbol, all at once; ``noise`` has no hidden unit to be added to."""
        output = self.outputs_along(symbols.T.clamp(min=0), (symbols >= 0).sum(0).tolist()).movedim(1, 0)  # (T, B, O)
        return Run(output, output[..., :0].unsqueeze(-2), replace(state, hidden=output[-1], output=output[-1]), output)

    def outputs_of(self, codes: Tensor) -> Tensor:
        if codes.shape[1] == 0 and not self.begins:
            return self.like.new_full((len(codes), 1), float(bool(self.empty_word)))
        outputs = self.forwarded(codes)
        return self.outputs.read(outputs[:, -1] if self.along else outputs, len(codes)).to(self.like)

    def outputs_along(self, codes: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return the outputs after every symbol, (B, T, O), by one run, or by one for every length."""
        if not self.along:
            return torch.stack([self.outputs_of(codes[:, : t + 1]) for t in range(codes.shape[1])], 1)
        if self.vocabulary is not None and self.vocabulary.pad is None and len(set(lengths)) > 1:
            # nothing stands behind shorter words: words of one length are read together
            found = self.like.new_zeros(*codes.shape, self.width)
            for length in sorted({*lengths} - {0}):
                rows = torch.tensor([row for row, own in enumerate(lengths) if own == length])
                along = self.outputs_along(codes[rows, :length], ())
                found = found.index_put((rows,), nn.functional.pad(along, (0, 0, 0, codes.shape[1] - length)))
            return found
        outputs = self.forwarded(codes, lengths)[:, -codes.shape[1] :]
        rows = self.outputs.read(outputs.flatten(0, 1), outputs.shape[0] * outputs.shape[1])
        return rows.reshape(*outputs.shape[:2], -1)

    def forwarded(self, codes: Tensor, lengths: Sequence[int] = ()) -> Tensor:
        """Return what the module itself says of ``codes`` (B, T), unread."""
        x, tokens = codes.to(self.like.device), self.n_symbols
        if self.vocabulary is not None:
            x, tokens = self.vocabulary.numbers(x, lengths), self.vocabulary.size
        if self.symbols == "one-hot":
            x = nn.functional.one_hot(x, tokens).to(like_weights(self.module).dtype)
        try:
            outputs = self.ask(self._forward, "forward(symbols)", {"symbols": x})
        except StacklensError as error:
            if self.longest is None and 0 < self.took < codes.shape[1]:
                raise StacklensError(f"{error}; {self.took} symbols were answered: is longest=… missing?") from error
            raise
        self.took = max(self.took, codes.shape[1])
        found = taken_out("forward(symbols)", outputs, self.outputs.sizes)
        return found if found.is_floating_point() else found.to(self.like)  # True and False, or 0 and 1

    @torch.no_grad()
    def probabilities(self, word: Word) -> np.ndarray:
        """Return the probability of each symbol, and of the end, after every symbol, (T, K) or (T, K + 1). Where the
        network says what may come first there is a row more, the first one: (T + 1, …). Raises UnknownSymbolError: the
        word has a symbol that the alphabet lacks.
        """
        symbols = parse_word(word, self.alphabet) if isinstance(word, str) else word
        codes = torch.from_numpy(encode_words([symbols], self.alphabet)[0].astype(np.int64))
        plain = replace(self.outputs, threshold=0.5)
        return plain.placed(plain.probabilities(self.forwarded(codes)))[0].cpu().numpy()

    def begin(self) -> None:
        """Let words begin with the symbols that the network predicts first. Raises StacklensError: there are none."""
        before = self.forwarded(torch.zeros(1, int(self.along), dtype=torch.int64))
        self.first = predicted(self.outputs, before[:, 0] if self.along else before, self.alphabet)


# ---- A function that answers words, whatever is behind it, as a `StackModel`: a program, a remote service, a network.

Box = Callable[[list[tuple[str, ...]]], Sequence[Any]]
AFFORDABLE = 100_000  # words that a check may ask, by default
_BOX_WORDS_TOGETHER = 10_000  # words that are asked at once
_MOST_KEPT = 2_000_000  # answers


class BlackBox(WordNetwork):
    """A function from a list of words, tuples of symbols, to a list of answers, one a word; every word is asked once.
    Where answers are True and False it is a recogniser; where they are sets of symbols of the alphabet it says which
    may come next; else what it says is an output, whatever that is, called as Python shows it.

    ``first``: for sets, which symbols may begin a word; None for what it says of the empty word. ``longest``,
    ``affordable``: as in `WordNetwork`.

    >>> even = BlackBox(lambda words: [len(word) % 2 == 0 for word in words], ("a",))
    >>> even.task_kind, even.answers_to(["", "a", "aa"]).ravel()
    ('recognition', array([1, 0, 1], dtype=int32))
    """

    _pace = _MOMENT / _FIRST_TOGETHER

    def __init__(
        self,
        box: Box,
        alphabet: tuple[str, ...],  # what words are made of
        *,
        first: tuple[str, ...] | None = None,
        name: str = "black box",  # what reports call it
        longest: int | None = None,
        affordable: int | None = None,
    ) -> None:
        self.box, self.asked = box, 0
        self._known: dict[tuple[int, ...], int] = {}
        self._outputs: dict[Hashable, int] = {}
        self._symbols = alphabet
        # what the answers to the shortest words say
        answers = self._answers([(), *((symbol,) for symbol in alphabet)])
        whether, sets = ([isinstance(one, of) for one in answers] for of in (bool | np.bool_, set | frozenset))
        kind: TaskKind = "recognition" if all(whether) else "next set" if all(sets) else "transduction"
        if kind == "transduction" and any(whether + sets):
            raise StacklensError("the function answers in several ways; expected only True and False, sets, or outputs")
        if first is None and kind == "next set":
            first = tuple(sorted(self._answers([()])[0], key=alphabet.index)) or None
        super().__init__(name, alphabet, Outputs(kind, alphabet), first=first, longest=longest, affordable=affordable)

    @property
    def width(self) -> int:
        return len(self.alphabet) if self.task_kind == "next set" else 1

    @property
    def like(self) -> Tensor:
        return torch.zeros((), dtype=torch.float64)

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        if self.task_kind in ("recognition", "next set"):
            return self.alphabet
        return tuple(map(str, self._outputs))

    def outputs_of(self, codes: Tensor) -> Tensor:
        """Return the outputs for words ``codes`` (B, T): 0 or 1, a set (B, K), or the number of an output (B, 1)."""
        return self._outputs_after([tuple(row) for row in codes.tolist()])

    def outputs_along(self, codes: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return the outputs after every symbol; all beginnings that are not known are asked together."""
        beginnings = [
            tuple(row[: t + 1]) for row, length in zip(codes.tolist(), lengths, strict=True) for t in range(length)
        ]
        found = self._outputs_after(beginnings)
        outputs = torch.zeros(*codes.shape, found.shape[1], dtype=torch.float64)
        outputs[torch.arange(codes.shape[1]) < torch.tensor(lengths).view(-1, 1)] = found
        return outputs

    def _outputs_after(self, words: list[tuple[int, ...]]) -> Tensor:
        """Return the outputs after words of symbols' numbers, (B, K) or (B, 1)."""
        self._ask(set(words))
        numbers = [self._known[word] for word in words]
        if self.task_kind == "next set":
            return torch.from_numpy(members_of(numbers, len(self.alphabet)).astype(np.float64))
        return torch.tensor(numbers, dtype=torch.float64).unsqueeze(-1)

    def answers_to(self, words: Sequence[Word]) -> np.ndarray:
        """Return the answers to ``words`` at once (see `WordNetwork`); those of a recogniser need no beginnings."""
        if self.task_kind != "recognition":
            return super().answers_to(words)
        spelled = [tuple(map(self._symbols.index, word)) for word in words]
        self._ask(set(spelled))
        return np.array([self._known[word] for word in spelled], np.int32).reshape(-1, 1)

    def output_numbers(self, output: Tensor) -> np.ndarray:
        if self.task_kind == "transduction":
            return output[..., 0].long().numpy()
        return super().output_numbers(output)

    def changed_answers(self, most: int) -> tuple[int, int]:
        """Return how many of at most ``most`` words that it was asked have another answer now, and of how many."""
        before, self._known = self._known, {}
        try:
            self._ask(set(random.Random(0).sample(sorted(before), min(most, len(before)))))
        except OutOfTimeError:
            cut_short()
        again, self._known = self._known, before
        return sum(before[word] != answer for word, answer in again.items()), len(again)

    def _ask(self, words: set[tuple[int, ...]]) -> None:
        # every word is asked once; where too many are known all are forgotten
        fresh = sorted(word for word in words if word not in self._known)
        if fresh and len(self._known) + len(fresh) > _MOST_KEPT:
            self._known.clear()
            fresh = sorted(words)
        for part in self._parts(np.ones(len(fresh), np.int64), _BOX_WORDS_TOGETHER, _LEAST_TOGETHER):
            answers = self._answers([tuple(self._symbols[i] for i in word) for word in fresh[part]])
            self._known |= {word: self._number(answer) for word, answer in zip(fresh[part], answers, strict=True)}

    def _answers(self, words: list[tuple[str, ...]]) -> list[Any]:
        outputs = guarded(self.box, "the function", {f"{len(words):,} words, a list": words})
        self.asked += len(words)
        if not isinstance(outputs, Iterable):
            raise StacklensError(
                f"the function answers {len(words):,} words with {outputs!r:.40}, of type {type(outputs).__name__}; "
                "expected a list with one answer a word"
            )
        answers = list(outputs)
        if len(answers) != len(words):
            raise StacklensError(
                f"the function gave {len(answers):,} answers to {len(words):,} words; expected a list with one a word"
            )
        return answers

    def _number(self, answer: Any) -> int:
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
    """Return what answers words: a network as it is, a function as a `BlackBox` with these ``settings``."""
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
