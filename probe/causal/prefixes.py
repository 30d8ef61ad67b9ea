"""The words between which things are interchanged: where the automaton is on them, and where the network is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklens.automata.compiled import encode_words
from stacklens.automata.many_runs import ManyRuns, RunTables
from stacklens.automata.pda import Word
from stacklens.models.base import StackModel
from stacklens.probe.causal.claim import Claim, walks
from stacklens.probe.moments import Moments, moments_of

__all__ = ["Prefixes", "walked_words"]

_DEEPEST = 12  # cells below the top that are interchanged


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
        runs = _after(claim.tables, codes)
        good = np.flatnonzero(~runs.over)
        words, runs = [words[i] for i in good], runs.select(good)
        moments = moments_of(rounded, words)
        good = np.flatnonzero(cls._agrees(claim, rounded, moments, runs))
        words, runs, moments = [words[i] for i in good], runs.select(good), moments.select(good)
        codes, _ = encode_words(words, claim.pda.input_alphabet)
        meant = None if claim.domain is None else _after(claim.domain, codes)
        return cls(words, runs, moments, None if soft is None else moments_of(soft, words), meant)

    @staticmethod
    def _agrees(claim: Claim, network: StackModel[Any], moments: Moments, runs: ManyRuns) -> np.ndarray:
        """Return for which runs the network, not having rejected, says what the automaton says."""
        alive: np.ndarray = ~moments.state.rejected.cpu().numpy()
        if claim.recognition:
            accepted: np.ndarray = alive & (network.verdict(moments.state).cpu().numpy() == runs.accepted())
            return accepted
        said = claim.numbers[runs.output]
        if moments.state.output is None:
            return alive
        same = np.asarray(network.output_numbers(moments.state.output) == said)
        agreed: np.ndarray = alive & (same | (said < 0) | claim.partial)
        return agreed

    def __len__(self) -> int:
        return len(self.words)

    def aligned(self, claim: Claim) -> np.ndarray:
        """Return of which prefixes the network's stacks are as high as the automaton's, (P,) bool."""
        own = self.runs.heights()[:, : len(claim.stacks)]
        same: np.ndarray = (self.rounded.heights[:, list(claim.stacks)] == own).all(1)
        return same

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


def _after(tables: RunTables, codes: np.ndarray) -> ManyRuns:
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
