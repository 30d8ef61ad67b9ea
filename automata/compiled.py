"""The automaton as arrays: compiled once, then read by everything that runs many words at a time.

Symbols, states and tops become numbers. A top is 0 for the bottom and ``1 + i`` for stack symbol ``i``; the tops of
several stacks are one number in base ``K + 1``, the first stack most significant.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
import numpy.typing as npt

from ..core.errors import AutomatonError, UnknownSymbolError
from .pda import EPSILON, Acceptance, Output, PushdownAutomaton, Symbol, Word

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int32]
Words = Sequence[Word] | npt.NDArray[np.integer]  # numbers: see encode_words

_MOST_CELLS = 20_000_000  # of a table; 14 bytes each


@dataclass(frozen=True, eq=False)
class Tables:
    """The transitions as read-only arrays over (Q states, X letters, H heads), and what decides acceptance."""

    target: IntArray  # ``(Q, X, H)`` the next state, -1 where the run ends; ε-steps, if any, are the last letter
    pop: BoolArray  # ``(Q, X, H, n_stacks)`` whether the step pops
    push: IntArray  # ``(Q, X, H, n_stacks)`` what it pushes: 0 for nothing, ``1 + i`` for stack symbol ``i``
    output: IntArray  # ``(Q, X, H)`` an index into ``outputs``, -1 where the run ends
    outputs: tuple[Output, ...]  # every output, the initial one first
    initial: int  # the initial state
    end: int | None  # the letter of the end marker, or None
    epsilon: int | None  # the letter of ε-steps, or None where there are none
    acceptance: Acceptance  # as in the automaton
    accepting: BoolArray  # ``(Q,)`` whether a state accepts
    accepting_outputs: BoolArray  # ``(len(outputs),)`` whether an output accepts
    place: IntArray  # ``(n_stacks,)`` place values: the head is ``sum(place * tops)``

    def accepts(self, state: IntArray, empty: BoolArray, good_output: BoolArray) -> BoolArray:
        """Return whether complete runs accept that end in ``state``, with ``empty`` stacks, on a ``good_output``."""
        if self.acceptance == "output":
            return good_output
        if self.acceptance == "empty stack":
            return empty
        final = self.accepting[state]
        return final if self.acceptance == "final state" else final & empty


@lru_cache(maxsize=256)
def compile_tables(pda: PushdownAutomaton) -> Tables:
    """Return the arrays of ``pda``, the same for equal automata. Raises AutomatonError: more than 20,000,000 cells.

    >>> from stacklens.automata.pda import Transition, push
    >>> once = {("q", "a", ("⊥",)): Transition("q", (push("A"),))}
    >>> tables = compile_tables(PushdownAutomaton(("q",), ("a",), ("A",), once, "q"))
    >>> tables.target[0, 0].tolist(), tables.push[0, 0, :, 0].tolist()
    ([0, -1], [1, 0])
    """
    tops = {symbol: top for top, symbol in enumerate((pda.bottom, *pda.stack_alphabet))}
    states = {state: q for q, state in enumerate(pda.states)}
    letters = {letter: x for x, letter in enumerate(pda.letters if pda.real_time else (*pda.letters, EPSILON))}
    outputs = {pda.initial_output: 0}

    shape = len(states), len(letters), len(tops) ** pda.n_stacks
    if (cells := math.prod(shape) * pda.n_stacks) > _MOST_CELLS:
        raise AutomatonError(
            f"{shape[0]} states, {shape[1]} letters and {len(tops)} tops of {pda.n_stacks} stacks are {cells:,} cases: "
            f"more than {_MOST_CELLS:,} do not fit into tables"
        )
    place = np.array([len(tops) ** s for s in reversed(range(pda.n_stacks))], np.int32)
    target, output = np.full(shape, -1, np.int32), np.full(shape, -1, np.int32)
    pop, push = np.zeros((*shape, pda.n_stacks), np.bool_), np.zeros((*shape, pda.n_stacks), np.int32)
    for (state, letter, key), step in pda.transitions.items():
        head = sum(tops[symbol] * int(value) for symbol, value in zip(key, place, strict=True))
        at = states[state], letters[letter], head
        target[at] = states[step.target]
        output[at] = outputs.setdefault(step.output, len(outputs))
        pop[at] = [operation.pop for operation in step.operations]
        push[at] = [0 if operation.push is None else tops[operation.push] for operation in step.operations]

    tables = Tables(
        target,
        pop,
        push,
        output,
        outputs=tuple(outputs),
        initial=states[pda.initial],
        end=None if pda.end_marker is None else letters[pda.end_marker],
        epsilon=letters.get(EPSILON),
        acceptance=pda.acceptance,
        accepting=np.array([state in pda.accepting for state in pda.states], np.bool_),
        accepting_outputs=np.array([value in pda.accepting_outputs for value in outputs], np.bool_),
        place=place,
    )
    for array in vars(tables).values():
        if isinstance(array, np.ndarray):
            array.flags.writeable = False  # the cache hands the same arrays to everybody
    return tables


def encode_words(words: Words, alphabet: tuple[Symbol, ...]) -> tuple[IntArray, npt.NDArray[np.int64]]:
    """Return ``words`` as numbers, ``(N, T)`` padded with -1 on the right, and their lengths, ``(N,)``. An array of
    numbers is taken for encoded words, checked and returned as it is. Raises UnknownSymbolError: naming the first
    symbol that is not in ``alphabet``; AutomatonError: an array that does not hold encoded words.

    >>> codes, lengths = encode_words(["ab", "", "b"], ("a", "b"))
    >>> codes.tolist(), lengths.tolist()
    ([[0, 1], [-1, -1], [1, -1]], [2, 0, 1])
    """
    if isinstance(words, np.ndarray):
        if words.ndim != 2 or words.dtype.kind not in "iu":
            raise AutomatonError(f"encoded words are {words.dtype} of shape {words.shape}, expected integers (N, T)")
        if words.max(initial=-1) >= len(alphabet):
            raise UnknownSymbolError(f"number {words.max()}", alphabet)
        inside = words >= 0
        lengths = inside.sum(axis=1)
        if (inside != (np.arange(words.shape[1]) < lengths[:, None])).any() or words.min(initial=0) < -1:
            raise AutomatonError("encoded words must be padded with -1, on the right only")
        return words.astype(np.int32, copy=False), lengths
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    if all(len(symbol) == 1 for symbol in alphabet) and all(isinstance(word, str) for word in words):
        # characters: one look-up for the whole text, by code points
        text = "".join(cast(Sequence[str], words))
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        known = np.array([ord(symbol) for symbol in alphabet], np.int64)
        table = np.full(1 + max(points.max(initial=0), known.max(initial=0)), -1, np.int32)
        table[known] = np.arange(len(alphabet))
        flat = table[points]
        if len(unknown := np.flatnonzero(flat < 0)):
            raise UnknownSymbolError(text[unknown[0]], alphabet)
    else:
        index = {symbol: code for code, symbol in enumerate(alphabet)}
        try:
            flat = np.fromiter((index[symbol] for word in words for symbol in word), np.int32)
        except KeyError as error:
            raise UnknownSymbolError(error.args[0], alphabet) from None
    codes = np.full((len(words), int(lengths.max(initial=0))), -1, np.int32)
    codes[np.arange(codes.shape[1]) < lengths[:, None]] = flat
    return codes, lengths
