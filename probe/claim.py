"""What an automaton claims of a network's inside, and the words between which things are interchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..automata.compiled import encode_words
from ..automata.pda import PushdownAutomaton, Word
from ..automata.runs import ManyRuns, RunTables
from ..models.base import StackModel
from .edits import Moments, moments_of

_DEEPEST = 12  # cells below the top that are interchanged
_LEAN = 8.0  # how much more often a leaning walk pops, or pushes


@dataclass(frozen=True, eq=False)
class Predicted:
    """What an automaton predicts of N runs on T letters each.

    Attributes:
        numbers: the answer after every letter in the network's numbers, (N, T): 1 and 0 by a recogniser, else of the
            output, -1 from a rejection on.
        counted: where anything is predicted, (N, T) bool.
    """

    numbers: np.ndarray
    counted: np.ndarray

    def differs(self, other: Predicted) -> np.ndarray:
        """Return for which runs two predictions differ where both predict something, (N,) bool."""
        apart: np.ndarray = ((self.numbers != other.numbers) & self.counted & other.counted).any(1)
        return apart


@dataclass(frozen=True, eq=False)
class Claim:
    """An automaton, and how it speaks of a network.

    Attributes:
        pda: the automaton.
        tables: what its runs look up.
        letters: which of the network's letters each of its own is, (X,) int.
        numbers: which of the network's outputs each of its outputs is, (O,), -1 for none.
        scored: which transitions have an output that counts, (Q * X' * H,) bool, flat as the tables.
        recognition: whether it accepts; else it says something after every letter.
        expected: for predictors of sets, which letters may come after each output, (O, X) bool; else None.
        partial: whether only some words are meant: then a missing transition is no claim.
        stacks: which of the network's stacks its stacks are.
        state_stacks: those of the network's stacks that are part of its state: all they do is push.
        domain: where only some words are meant, an automaton whose runs are cut on all others, with the same letters in
            the same order; None where none is known.
        all_in_state: whether the network has no stack: its hidden vector has to hold the automaton's stack, too.
        whole_stacks: whether a stack symbol stands for several cells, so that only whole stacks can be interchanged.
    """

    pda: PushdownAutomaton
    tables: RunTables
    letters: np.ndarray
    numbers: np.ndarray
    scored: np.ndarray
    recognition: bool
    expected: np.ndarray | None
    partial: bool
    stacks: tuple[int, ...]
    state_stacks: tuple[int, ...] = ()
    domain: RunTables | None = None
    all_in_state: bool = False
    whole_stacks: bool = False

    def predicted(self, runs: ManyRuns, letters: np.ndarray) -> Predicted:
        """Return what the automaton says on ``letters`` (N, T), -1 beyond the end, from where ``runs`` are.

        A recogniser that has no transition rejects. A predictor of sets rejects a symbol that was not in the set before
        it, whatever its transitions are: that is what rejection is in its network. Of the first symbol nothing is
        claimed, since what may come there was answered before.
        """
        numbers = np.full(letters.shape, -1, self.numbers.dtype)
        counted = np.zeros(letters.shape, np.bool_)
        going = ~runs.over
        for t in range(letters.shape[1]):
            read = letters[:, t]
            going &= read >= 0
            scored = self.scored[runs.cells(np.maximum(read, 0))]
            unexpected = np.zeros(len(runs), np.bool_)
            if self.expected is not None and t:
                unexpected = going & ~self.expected[runs.output, np.maximum(read, 0)]
            runs = runs.step(read)
            if self.recognition:
                numbers[:, t] = runs.accepted()
                counted[:, t] = (read >= 0) & ~runs.ended().undefined
                continue
            numbers[:, t] = np.where(unexpected | runs.over, -1, self.numbers[runs.output])
            counted[:, t] = unexpected | (going & ~runs.over & scored)
            going &= ~unexpected & ~runs.over
        return Predicted(numbers, counted)


def walks(
    runs: ManyRuns,
    n_letters: int,
    steps: int,
    rng: np.random.Generator,
    lean: np.ndarray,
    stray: float,
    meant: ManyRuns | None = None,
) -> np.ndarray:
    """Return letters of random walks over the automaton's transitions, (N, ``steps``), -1 from where none leads on.

    Args:
        runs: where they begin.
        n_letters: of the input alphabet.
        lean: below 0 a walk would rather pop, above 0 rather push, (N,).
        stray: how often a letter is any letter, after which a walk may be over.
        meant: runs of an automaton of the words that are meant, which walks keep to.
    """
    tables = runs.of.tables
    n_stacks = len(tables.place)
    letters = np.full((len(runs), steps), -1, np.int64)
    going = ~runs.over
    for t in range(steps):
        cells, allowed = _options(runs, n_letters)
        if meant is not None:
            allowed &= _options(meant, n_letters)[1]
        pops = tables.pop.reshape(-1, n_stacks)[cells].any(-1)
        pushes = (tables.push.reshape(-1, n_stacks)[cells] > 0).any(-1)
        liked = ((lean < 0)[:, None] & pops) | ((lean > 0)[:, None] & pushes)
        chances = allowed * np.where(liked, _LEAN, 1.0)
        chosen = (np.log(np.maximum(chances, 1e-300)) + rng.gumbel(size=chances.shape)).argmax(1)
        anything = (rng.random(len(runs)) < stray) & going
        chosen = np.where(anything, rng.integers(0, n_letters, len(runs)), chosen)
        letters[:, t] = np.where((allowed.any(1) & going) | anything, chosen, -1)
        runs = runs.step(letters[:, t])
        meant = None if meant is None else meant.step(letters[:, t])
        going &= (letters[:, t] >= 0) & ~runs.over
    return letters


def _options(runs: ManyRuns, n_letters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where in the flat tables each run reads each letter, and whether it has a transition there, (N, X)."""
    cells = np.stack([runs.cells(np.full(len(runs), x)) for x in range(n_letters)], 1)
    allowed: np.ndarray = (runs.of.tables.target.reshape(-1)[cells] >= 0) & ~runs.over[:, None]
    return cells, allowed


@dataclass(frozen=True, eq=False)
class Prefixes:
    """P different words on which the automaton and the rounded network agree, at their ends.

    Attributes:
        words: the words.
        runs: where the automaton is.
        rounded: where the rounded network is.
        soft: where the network itself is; None where it is not asked.
        meant: where the automaton of the words that are meant is, if there is one.
    """

    words: list[Word]
    runs: ManyRuns
    rounded: Moments
    soft: Moments | None
    meant: ManyRuns | None = None

    @classmethod
    def of(
        cls, claim: Claim, rounded: StackModel[Any], soft: StackModel[Any] | None, words: Sequence[Word]
    ) -> Prefixes:
        """Return those of ``words`` on which the automaton's run goes on, and the network says what it says."""
        words = list(dict.fromkeys(words))
        codes, _ = encode_words(words, claim.pda.input_alphabet)
        runs = _runs_after(claim.tables, codes)
        good = np.flatnonzero(~runs.over)
        words, runs = [words[i] for i in good], runs.select(good)
        moments = moments_of(rounded, words)
        good = np.flatnonzero(cls._agrees(claim, rounded, moments, runs))
        words, runs, moments = [words[i] for i in good], runs.select(good), moments.select(good)
        codes, _ = encode_words(words, claim.pda.input_alphabet)
        meant = None if claim.domain is None else _runs_after(claim.domain, codes)
        return cls(words, runs, moments, None if soft is None else moments_of(soft, words), meant)

    @staticmethod
    def _agrees(claim: Claim, network: StackModel[Any], moments: Moments, runs: ManyRuns) -> np.ndarray:
        """Return for which runs the network, not having rejected, says what the automaton says."""
        alive: np.ndarray = ~moments.state.rejected.cpu().numpy()
        if claim.recognition:
            accepted: np.ndarray = alive & (network.verdict(moments.state).cpu().numpy() == runs.accepted())
            return accepted
        answers = claim.numbers[runs.output]
        if moments.state.output is None:
            return alive
        same = np.asarray(network.output_numbers(moments.state.output) == answers)
        agreed: np.ndarray = alive & (same | (answers < 0) | claim.partial)
        return agreed

    def __len__(self) -> int:
        return len(self.words)

    def aligned(self, claim: Claim) -> np.ndarray:
        """Return of which prefixes the network's stacks are as high as the automaton's, or higher, (P,) bool.

        Cells are counted from the top: a network may have a mark on the ground, or the automaton a symbol in its state.
        """
        own = self.runs.heights()[:, : len(claim.stacks)]
        return np.asarray((self.rounded.heights[:, list(claim.stacks)] >= own).all(1))

    def cells(self, claim: Claim) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return prefix, stack (the automaton's), place and symbol of every cell that corresponds to a symbol, (M,)."""
        aligned = self.aligned(claim)
        heights = self.runs.heights()
        found = []
        for stack in range(len(claim.stacks)):
            for place in range(min(_DEEPEST, int(heights[:, stack].max(initial=0)))):
                rows = np.flatnonzero(aligned & (heights[:, stack] > place))
                symbols = self.runs.select(rows).symbol_at(stack, np.full(len(rows), place)).astype(np.int64)
                found.append((rows, np.full(len(rows), stack), np.full(len(rows), place), symbols))
        nothing = (np.zeros(0, np.int64),) * 4
        prefix, stacks, places, symbols = map(np.concatenate, zip(*found, strict=True)) if found else nothing
        return prefix, stacks, places, symbols


def _runs_after(tables: RunTables, codes: np.ndarray) -> ManyRuns:
    runs = ManyRuns.start(tables, len(codes))
    for t in range(codes.shape[1]):
        runs = runs.step(codes[:, t])
    return runs


def walked_words(claim: Claim, count: int, longest: int, rng: np.random.Generator) -> list[Word]:
    """Return words that are ends of random walks over the automaton, of up to ``longest`` symbols, deep ones too."""
    lean = rng.choice((-1, 0, 0, 1), count)
    start = ManyRuns.start(claim.tables, count)
    letters = walks(start, len(claim.pda.input_alphabet), longest, rng, lean, 0.0)
    ends = rng.integers(0, longest + 1, count)
    alphabet = claim.pda.input_alphabet
    single = all(len(symbol) == 1 for symbol in alphabet)
    words: list[Word] = []
    for row, end in zip(letters.tolist(), ends.tolist(), strict=True):
        symbols = tuple(alphabet[code] for code in row[:end] if code >= 0)
        words.append("".join(symbols) if single else symbols)
    return words
