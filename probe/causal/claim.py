"""What an automaton claims of a network's inside, as far as an experiment needs it: what it predicts, and of what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stacklens.automata.many_runs import ManyRuns, RunTables
from stacklens.automata.pda import PushdownAutomaton

__all__ = ["Claim", "Predicted", "walks"]

_LEAN = 8.0  # how much more often a leaning walk pops, or pushes


@dataclass(frozen=True, eq=False)
class Predicted:
    """What an automaton predicts of N runs on T letters each.

    Attributes:
        numbers: what is said after every letter in the network's numbers, (N, T): 1 and 0 by a recogniser, else of the
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
        claimed, since what may come there was said before.
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
