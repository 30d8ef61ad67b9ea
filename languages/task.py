"""Tasks: words, the output that a network should have after every symbol of them, and where that counts."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ..automata.enumeration import BoolArray, IntArray, encode_words
from ..automata.pda import Acceptance, Key, Output, PushdownAutomaton, StackOp, Symbol, Transition, Word
from ..automata.rewriting import with_head_outputs
from ..core.errors import NoWordError, StacklensError
from ..core.progress import check_time
from .language import TaskKind, format_word, make_word, run_of

Split = Literal["train", "test"]
Sizes = tuple[int, int] | None  # of words, the smallest and the largest; None for the paper's


@dataclass(frozen=True, eq=False)
class Examples:
    """N words, the longest of T symbols, with targets. Arrays end in -1 or False after the end of a word.

    >>> from stacklens.languages.catalogue import get_task
    >>> examples = get_task("xor").examples(["110", "01"])
    >>> examples.symbols.tolist(), examples.targets.tolist()
    ([[1, 1, 0], [0, 1, -1]], [[1, 0, 0], [0, 1, -1]])
    >>> guess = np.array([[1, 0, 0], [0, 0, 0]])
    >>> examples.correct(guess).tolist(), examples.symbol_accuracy(guess).item()
    ([True, False], 0.8)
    """

    words: tuple[Word, ...]  # the N words
    alphabet: tuple[Symbol, ...]  # what ``symbols`` index
    output_alphabet: tuple[Symbol, ...]  # what ``targets`` index
    symbols: IntArray  # ``(N, T)`` int, the symbols read
    targets: IntArray | BoolArray  # outputs, ``(N, T)``, -1 for none; sets ``(N, T, k)``, k as in ``output_alphabet``
    mask: BoolArray  # ``(N, T)`` bool, the positions that count

    def __len__(self) -> int:
        return len(self.words)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Return the number of symbols of each word, ``(N,)``."""
        return np.asarray((self.symbols >= 0).sum(axis=1), np.int64)

    def hits(self, outputs: npt.NDArray[Any]) -> BoolArray:
        """Return which outputs are right, whether they count or not, ``(..., N, T)``. ``outputs`` are ``(..., N, T)``
        numbers of symbols of ``output_alphabet``, or, for sets, ``(..., N, T, k)`` bool. Leading axes, such as one of
        networks, are kept. Raises StacklensError: another shape.
        """
        outputs = np.asarray(outputs)
        if outputs.shape[-self.targets.ndim :] != self.targets.shape:
            raise StacklensError(
                f"outputs have the shape {outputs.shape}, expected (..., {', '.join(map(str, self.targets.shape))})"
            )
        hits = outputs == self.targets
        return np.asarray(hits.all(axis=-1) if self.targets.ndim == 3 else hits, np.bool_)

    def correct(self, outputs: npt.NDArray[Any]) -> BoolArray:
        """Return which words are right, ``(..., N)``: those with every output that counts right. Args as in `hits`."""
        return np.asarray((self.hits(outputs) | ~self.mask).all(axis=-1), np.bool_)

    def symbol_accuracy(self, outputs: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the share of outputs that are right among those that count, ``(...)``, from 0 to 1. It is the score of
        Hao et al. 2018, table 1. Args as in `hits`. Raises StacklensError: nothing counts, or a wrong shape.
        """
        if not self.mask.any():
            raise StacklensError("no position counts in these words: there is nothing to score")
        hits = (self.hits(outputs) & self.mask).sum(axis=(-2, -1))
        return np.asarray(hits / self.mask.sum(), np.float64)


class Task(ABC):
    """A task, immutable.

    >>> from stacklens.languages.catalogue import get_task
    >>> task = get_task("dyck-2")
    >>> task.kind, task.expected("([")
    ('next set', [('(', ')', '['), ('(', '[', ']')])
    >>> examples = task.sample(3, split="train", seed=1)
    >>> len(examples), examples.targets.shape[2]
    (3, 4)
    """

    by_depth: bool = False  # whether sizes are depths of derivations, which no lengths can be asked for
    # outputs that never count; None: they count here and not there
    silent: frozenset[Output] | None = frozenset({None})
    form: str = ""  # how its words look, for errors

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "scored" in vars(cls) and "silent" not in vars(cls):
            cls.silent = None  # a rule of its own for what counts may depend on the place

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name that ``get_task`` knows it by."""

    @property
    @abstractmethod
    def kind(self) -> TaskKind:
        """Return what an output is: a set of symbols, the next symbol, or the symbol of a transduction."""

    @property
    @abstractmethod
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols read, in the order of the network's inputs."""

    @property
    def output_alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols of the outputs, in the order of the network's; by default those read."""
        return self.alphabet

    @property
    @abstractmethod
    def reference(self) -> PushdownAutomaton | None:
        """Return the automaton whose ``transduce`` is ``expected``; None where no one-stack automaton can do it."""

    def expected(self, word: Word) -> list[Output]:
        """Return the right output after each symbol of ``word``, by default the reference's; None where any will do.
        For "next set" a tuple of symbols in the order of ``output_alphabet``, else one symbol. It depends on no later
        symbol of the word. Raises NoWordError: no word of this task begins with ``word``.
        """
        assert self.reference is not None
        return self._of_whole(word, [step.output for step, _ in run_of(self.reference, word)])

    def _of_whole(self, word: Word, outputs: list[Output]) -> list[Output]:
        if (read := len(outputs)) < len(word):
            where = f"{word[read]!r} at position {read + 1}{self.form and '; expected '}{self.form}"
            raise NoWordError(f"no word of {self.name} begins with {format_word(word)}: {where}")
        return outputs

    def expected_while_live(self, word: Word) -> list[Output]:
        """Return the right output after each symbol, up to the first one with which no word of the task goes on."""
        check_time()
        try:
            return self.expected(word)
        except NoWordError:
            live, dead, outputs = 0, len(word), list[Output]()
        while dead - live > 1:  # the beginnings of words are closed under cutting, so halving finds the last one
            middle = (live + dead) // 2
            try:
                live, outputs = middle, self.expected(word[:middle])
            except NoWordError:
                dead = middle
        return outputs

    def scored(self, word: Word) -> list[bool]:
        """Return at which positions the output counts: by default wherever it is none of those that never count."""
        check_time()
        silent = self.silent or ()
        return [output not in silent for output in self.expected(word)] if silent else [True] * len(word)

    def sample(self, n: int, lengths: Sizes = None, split: Split = "train", seed: int = 0) -> Examples:
        """Return ``n`` random words with their targets, distributed as in the paper; the same ``seed`` gives the same.
        ``lengths``: the smallest and the largest size, instead of the paper's for the ``split``; what a size is, each
        task says. Raises StacklensError: there are no ``n`` such words, or the arguments make no sense.
        """
        if n < 0 or (lengths is not None and not 0 <= lengths[0] <= lengths[1]):
            raise StacklensError(f"cannot sample {n} words of sizes {lengths}: expected 0 <= n, 0 <= low <= high")
        if split not in ("train", "test"):
            raise StacklensError(f"unknown split {split!r}: expected train or test")
        return self.examples(self._words(n, lengths, split, np.random.default_rng(seed)))

    @abstractmethod
    def _words(self, n: int, lengths: Sizes, split: Split, rng: np.random.Generator) -> list[Word]:
        """Return ``n`` words as `sample` describes."""

    def examples(self, words: Sequence[Word]) -> Examples:
        """Return ``words`` with their targets. Raises StacklensError: a word that is none of this task's."""
        symbols, _ = encode_words(words, self.alphabet)
        mask, size = np.zeros(symbols.shape, np.bool_), len(self.output_alphabet)
        number: dict[Output, int] = {symbol: i for i, symbol in enumerate(self.output_alphabet)}
        row_of: dict[Output, list[bool]] = {}
        sets = self.kind == "next set"
        targets = np.zeros((*symbols.shape, size), np.bool_) if sets else np.full(symbols.shape, -1, np.int32)
        for row, (word, outputs) in enumerate([(word, self.expected(word)) for word in words]):
            silent = self.silent
            mask[row, : len(word)] = self.scored(word) if silent is None else [out not in silent for out in outputs]
            if not sets:
                targets[row, : len(outputs)] = [number.get(output, -1) for output in outputs]
            for t, output in enumerate(outputs if sets else ()):
                if output not in row_of:
                    row_of[output] = [symbol in (output or ()) for symbol in self.output_alphabet]
                targets[row, t] = row_of[output]
        return Examples(tuple(words), self.alphabet, self.output_alphabet, symbols, targets, mask)


# ---- A task of one's own, from two functions: the right outputs, and how words are drawn ----

_SIZES: dict[Split, tuple[int, int]] = {"train": (1, 20), "test": (21, 60)}
_ROUNDS = 100  # of drawing words in the place of empty ones


class OwnTask(Task):
    """A task whose parts are given. Raises StacklensError: there is no such kind.

    Args:
        name: what it is called.
        alphabet: the symbols read.
        expected: from a word to one output a symbol, None where nothing in particular is expected. It raises ValueError
            where no word of the task begins so.
        draw: from a size and a random generator to a word of the task; after an empty one it is asked again.
        outputs: the symbols of the outputs; by default those read.
        kind: "transduction", "next symbol" or "next set", of which each output is a tuple or set of symbols.
        sizes: the smallest and the largest size to train on, and to test on.
        reference: the automaton with the same outputs, with which results can be proved equal; None for no proof.

    >>> last_but_one = lambda word: [None, *word[:-1]]
    >>> draw = lambda size, rng: "".join(rng.choice(list("ab"), size + 1))
    >>> task = OwnTask("echo", "ab", last_but_one, draw)
    >>> task.expected("abb"), task.sample(2, seed=1).words
    ([None, 'a', 'b'], ('bbaabbaabaa', 'baabbaabbbbb'))
    """

    name: str = ""  # these stand in for the properties of a task
    kind: TaskKind = "transduction"
    alphabet: tuple[Symbol, ...] = ()
    output_alphabet: tuple[Symbol, ...] = ()
    reference: PushdownAutomaton | None = None

    def __init__(
        self,
        name: str,
        alphabet: Sequence[Symbol],
        expected: Callable[[Word], Iterable[Any]],
        draw: Callable[[int, np.random.Generator], Iterable[Symbol]],
        *,
        outputs: Sequence[Symbol] | None = None,
        kind: TaskKind = "transduction",
        sizes: dict[Split, tuple[int, int]] | None = None,
        reference: PushdownAutomaton | None = None,
    ) -> None:
        if kind not in get_args(TaskKind) or kind == "recognition":
            raise StacklensError(f"kind is {kind!r:.40}; expected transduction, next symbol or next set")
        self.name, self.kind, self.alphabet = name, kind, tuple(alphabet)
        self.output_alphabet = self.alphabet if outputs is None else tuple(outputs)
        self._expected, self._draw, self.reference = expected, draw, reference
        self._sizes = {**_SIZES, **(sizes or {})}

    def expected(self, word: Word) -> list[Output]:
        try:
            outputs = list(self._expected(word))
        except (ValueError, NoWordError) as error:
            raise NoWordError(f"no word of {self.name} begins with {format_word(word)}: {error}") from None
        except Exception as error:
            raise self._broken("expected", format_word(word), error, "ValueError where no word begins so") from error
        if len(outputs) != len(word):
            found = f"{len(outputs)} outputs for {len(word)} symbols"
            raise StacklensError(f"the task {self.name} gives {found}; expected one a symbol, None for nothing")
        return [self._output(output, word) for output in outputs]

    def _output(self, output: Any, word: Word) -> Output:
        """Return an output as it is compared: a symbol, or a tuple of symbols in the order of the alphabet."""
        if output is None:
            return None
        sets = self.kind == "next set"
        symbols = list(output) if sets and isinstance(output, Iterable) else [output]
        if strange := [symbol for symbol in symbols if symbol not in self.output_alphabet]:
            known = f"{'sets of ' if sets else ''}{', '.join(map(repr, self.output_alphabet))}"
            raise StacklensError(
                f"the task {self.name} gives the output {strange[0]!r:.40} on {format_word(word)}; expected {known} or "
                "None, or other symbols named by outputs=…"
            )
        return tuple(symbol for symbol in self.output_alphabet if symbol in symbols) if sets else str(output)

    def _words(self, n: int, lengths: Sizes, split: Split, rng: np.random.Generator) -> list[Word]:
        low, high = lengths or self._sizes[split]
        found: list[Word] = []
        for _ in range(_ROUNDS):  # no output comes after an empty word, so another is drawn in its place
            for size in rng.integers(low, high + 1, size=n - len(found)).tolist():
                try:
                    word = make_word(self._draw(size, rng), self.alphabet)
                except Exception as error:
                    raise self._broken("draw", f"size {size}", error, "a word, as text or a list of symbols") from error
                found += [word] if word else []
            if len(found) == n:
                return found
        raise StacklensError(
            f"draw gives empty words of sizes {low} to {high} of the task {self.name}; expected words of one symbol or "
            "more: make draw give longer ones, or name larger sizes"
        )

    def _broken(self, function: str, given: str, error: Exception, expected: str) -> StacklensError:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return StacklensError(
            f"{function} of the task {self.name} fails on {given:.80}: {reason:.200}; expected {expected}"
        )


# ---- Tasks that are a rule: from a control state, a symbol and the top of the stack to a move ----

BOTTOM = "⊥"
Move = tuple[Hashable, StackOp, Output]  # the next control state, the operation on the stack, the output
Rule = Callable[[Any, Symbol, Symbol], Move | None]  # None where no word goes on so
DrawWord = Callable[[int, np.random.Generator], Word]  # from a size to a word
# from a task, a number of words, their sizes, a split and a generator to words
DrawWords = Callable[[Task, int, Sizes, Split, np.random.Generator], list[Word]]


def evenly(
    draw: DrawWord, train: tuple[int, int] = (1, 40), test: tuple[int, int] = (41, 500), smallest: int = 1
) -> DrawWords:
    """Return what draws words of all sizes from the smallest to the largest to ``train`` or to ``test`` on, all equally
    likely; ``smallest`` is the smallest size that there is.
    """

    def words(task: Task, n: int, lengths: Sizes, split: Split, rng: np.random.Generator) -> list[Word]:
        low, high = lengths or (train if split == "train" else test)
        if high < smallest:
            raise StacklensError(f"{task.name} has no words of sizes {low} to {high}: they begin at {smallest}")
        return [draw(size, rng) for size in rng.integers(max(low, smallest), high + 1, size=n).tolist()]

    return words


@dataclass(frozen=True)
class RuleTask(Task):
    """A task whose reference automaton is explored from a rule."""

    name: str = ""  # the task's name
    alphabet: tuple[Symbol, ...] = ()  # the symbols read
    output_alphabet: tuple[Symbol, ...] = ()  # the symbols of the answers
    _: KW_ONLY
    kind: TaskKind = field(default="transduction", repr=False)
    initial: Hashable = field(default="", repr=False)  # the control state before the first symbol
    rule: Rule = field(repr=False, compare=False)  # from control state, symbol and top to the move
    # the output by the control state and the top after a step; None where the rule says it
    says: Callable[[str, Symbol], Output] | None = field(default=None, repr=False, compare=False)
    words: DrawWords = field(repr=False, compare=False)  # how words are drawn
    whole: Callable[[Any], bool] = field(default=bool, repr=False, compare=False)  # may a word end in a control state?
    acceptance: Acceptance = field(default="final state", repr=False)  # of the automaton
    silent: frozenset[Output] | None = field(default=frozenset({None}), repr=False)  # outputs that never count
    counted: tuple[Symbol, ...] = field(default=(), repr=False)  # before which alone outputs count; () for all
    by_depth: bool = field(default=False, repr=False)  # whether sizes are depths of derivations
    form: str = field(default="", repr=False)  # how words look, for errors

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton whose moves are those of the rule."""
        named: Callable[[Hashable], str] = lambda q: " ".join(map(str, q)) if isinstance(q, tuple) else str(q)  # noqa: E731
        controls: dict[Hashable, str] = {self.initial: named(self.initial)}
        tops: dict[Symbol, None] = {BOTTOM: None}
        steps: dict[Key, Transition] = {}
        asked: set[tuple[Hashable, Symbol]] = set()
        while new := [pair for pair in product(controls, tops) if pair not in asked]:
            for control, top in new:
                asked.add((control, top))
                for symbol in self.alphabet:
                    if (move := self.rule(control, symbol, top)) is None:
                        continue
                    target, operation, output = move
                    controls.setdefault(target, named(target))
                    if operation.push is not None:
                        tops.setdefault(operation.push)
                    steps[controls[control], symbol, (top,)] = Transition(controls[target], (operation,), output)
        accepting = frozenset(name for control, name in controls.items() if self.whole(control))
        states, cells = tuple(controls.values()), tuple(top for top in tops if top != BOTTOM)
        pda = PushdownAutomaton(
            states, self.alphabet, cells, steps, controls[self.initial], accepting, self.acceptance, bottom=BOTTOM
        )
        return pda if self.says is None else with_head_outputs(pda, self.says)

    def scored(self, word: Word) -> list[bool]:
        if not self.counted:
            return super().scored(word)
        return [symbol in self.counted for symbol in word[1:]] + [False] * (len(word) > 0)

    def _words(self, n: int, lengths: Sizes, split: Split, rng: np.random.Generator) -> list[Word]:
        return self.words(self, n, lengths, split, rng)
