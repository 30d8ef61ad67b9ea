"""An automaton as arrays; and all words up to a length, sharing prefixes: level by level, over live prefixes only.

A missing transition is absorbing, so a prefix whose run is cut is never extended. Prefixes that reach the same
configuration are stepped once; a word then costs one gather. Stacks are hash-consed (`StackTrie`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

import numpy as np
import numpy.typing as npt

from ..core.errors import AutomatonError, UnknownSymbolError
from ..core.progress import check_time
from .pda import EPSILON, Acceptance, Output, PushdownAutomaton, Symbol, Word

# ---- The automaton as arrays: compiled once, then read by everything that runs many words at a time ----
# Symbols, states and tops become numbers. A top is 0 for the bottom and ``1 + i`` for stack symbol ``i``; the tops of
# several stacks are one number in base ``K + 1``, the first stack most significant.

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


# ---- Many configurations at once, stepped, judged and merged as arrays ----
# Stack contents are nodes of one trie: a number each, with the top on the node of what lies below.


class StackTrie:
    """Hash-consed stacks over symbols 1 to ``n_symbols``; node 0 is the empty stack. ``parent[node]`` is the stack
    after a pop and ``symbol[node]`` the top, both 0 for the empty stack. Equal stacks are the same node. The arrays are
    longer than the trie, and replaced when it grows: read them afresh after a push.

    >>> trie = StackTrie(2)
    >>> nodes = trie.push(np.array([0, 0, 0], np.int32), np.array([1, 2, 1], np.int32))
    >>> nodes.tolist(), trie.symbol[nodes].tolist(), trie.parent[nodes].tolist(), len(trie)
    ([2, 1, 2], [1, 2, 1], [0, 0, 0], 3)
    """

    def __init__(self, n_symbols: int) -> None:
        self._width = n_symbols + 1
        self._size = 1
        self.parent: IntArray = np.zeros(64, np.int32)
        self.symbol: npt.NDArray[np.integer] = np.zeros(64, np.min_scalar_type(-n_symbols - 1))  # small: there are many
        self._child: IntArray = np.full(64 * self._width, -1, np.int32)  # [node * width + symbol], -1 for none
        self._child[0] = 0  # to push 0, nothing, leads from a node to itself: no case apart

    def __len__(self) -> int:
        return self._size

    def push(self, nodes: IntArray, symbols: IntArray) -> IntArray:
        """Return the nodes of the stacks ``nodes`` with ``symbols`` on top, 0 for nothing; arrays of any one shape."""
        edges = nodes.astype(np.intp) * self._width + symbols
        found: IntArray = self._child[edges]
        missing = edges[found < 0]
        if not len(missing):
            return found
        # make the nodes at the ends of these, one for edges that are there more than once
        turn = np.arange(len(missing), dtype=np.int32)
        self._child[missing] = turn
        new = missing[self._child[missing] == turn]  # the last writer of an edge wins: distinct edges without sorting
        made = np.arange(self._size, self._size + len(new), dtype=np.int32)
        self._child[new] = made
        self._size += len(new)
        room = len(self.parent)
        if self._size > room:
            more = max(2 * room, self._size) - room
            self.parent, self.symbol = (np.pad(array, (0, more)) for array in (self.parent, self.symbol))
            self._child = np.pad(self._child, (0, more * self._width), constant_values=-1)
        self.parent[made], self.symbol[made] = np.divmod(new, self._width)
        self._child[made.astype(np.intp) * self._width] = made
        return np.asarray(self._child[edges])


@dataclass(frozen=True, eq=False)
class Configurations:
    """M configurations of one automaton; their stacks live in one trie, which steps extend. A stack is ``pushed`` (0
    for nothing) on the trie's ``node``, both ``(n_stacks, M)``: what the last step pushed gets a node only when it is
    settled, which the last step of all can do without.

    >>> from stacklens.languages.classic import Dyck
    >>> start = Configurations.start(compile_tables(Dyck(1).automaton), StackTrie(1))
    >>> after, places = start.step(np.arange(2))
    >>> start.accepted().tolist(), after.accepted().tolist(), places.tolist()
    ([True], [False], [0])
    """

    tables: Tables
    trie: StackTrie
    state: IntArray  # (M,)
    good: BoolArray  # (M,) whether the last output accepts; always False where acceptance does not ask for it
    node: IntArray
    pushed: IntArray

    @staticmethod
    def start(tables: Tables, trie: StackTrie) -> Configurations:
        """Return the one configuration before the first symbol, ε-steps taken."""
        good = tables.accepting_outputs[:1] & (tables.acceptance == "output")
        stacks = np.zeros((len(tables.place), 1), np.int32)
        return Configurations(tables, trie, np.array([tables.initial], np.int32), good, stacks, stacks)._rested()

    def __len__(self) -> int:
        return len(self.state)

    def rows(self, rows: slice | IntArray) -> Configurations:
        """Return some of the configurations."""
        return replace(
            self, state=self.state[rows], good=self.good[rows], node=self.node[:, rows], pushed=self.pushed[:, rows]
        )

    def step(self, letters: npt.NDArray[np.intp]) -> tuple[Configurations, npt.NDArray[np.intp]]:
        """Return the live configurations after each of ``letters`` and its ε-steps, and their places in (M, X)."""
        after, places = self._step(letters)
        return after._rested(), places

    def _rested(self) -> Configurations:
        """Return where the ε-steps lead; all is settled then, if there are any."""
        if self.tables.epsilon is None:
            return self
        here = self.settle()
        while True:
            moved, places = here._step(np.array([self.tables.epsilon]))
            if not len(places):
                return here
            moved, state, good, node = moved.settle(), here.state.copy(), here.good.copy(), here.node.copy()
            state[places], good[places], node[:, places] = moved.state, moved.good, moved.node
            here = replace(here, state=state, good=good, node=node)

    def _step(self, letters: npt.NDArray[np.intp]) -> tuple[Configurations, npt.NDArray[np.intp]]:
        """Return the configurations after each of ``letters`` alone, as `step` does."""
        _, n_letters, n_heads = self.tables.target.shape
        tops = np.where(self.pushed > 0, self.pushed, self.trie.symbol[self.node])
        rows = self.state.astype(np.intp)[:, None] * n_letters + letters
        cells = (rows * n_heads + (self.tables.place @ tops)[:, None]).reshape(-1)
        target = self.tables.target.reshape(-1)[cells]
        places = np.flatnonzero(target >= 0)
        cell, source = cells[places], places // max(len(letters), 1)
        n_stacks = len(self.node)
        pop, push = (part.reshape(-1, n_stacks)[cell].T for part in (self.tables.pop, self.tables.push))
        node, pushed = self.node[:, source], self.pushed[:, source]
        node = np.where(pop & (pushed == 0), self.trie.parent[node], node)
        # Two pushed symbols only meet after an end marker, where all that counts is that the stack is not empty.
        pushed = np.where(push > 0, push, np.where(pop, 0, pushed))
        good = np.zeros(len(cell), np.bool_)
        if self.tables.acceptance == "output":
            good = self.tables.accepting_outputs[self.tables.output.reshape(-1)[cell]]
        return replace(self, state=target[places], good=good, node=node, pushed=pushed), places

    def accepted(self) -> BoolArray:
        """Return whether words that lead here are accepted, ``(M,)``; an end marker is still to be read."""
        if self.tables.end is None:
            return self._accepting()
        ends, places = self.step(np.array([self.tables.end]))
        accepted = np.zeros(len(self), np.bool_)
        accepted[places] = ends._accepting()
        return accepted

    def _accepting(self) -> BoolArray:
        empty: BoolArray = ((self.node == 0) & (self.pushed == 0)).all(axis=0)
        return self.tables.accepts(self.state, empty, self.good)

    def settle(self) -> Configurations:
        """Return the same configurations with every stack a node."""
        node = self.trie.push(self.node, self.pushed)
        return replace(self, node=node, pushed=np.broadcast_to(np.int32(0), node.shape))  # takes no memory

    @staticmethod
    def merge(parts: Sequence[Configurations]) -> tuple[Configurations, IntArray]:
        """Return the distinct ones among settled configurations, and which of these each one is."""
        state, good = np.concatenate([part.state for part in parts]), np.concatenate([part.good for part in parts])
        node = np.concatenate([part.node for part in parts], axis=1)
        which = state * 2 + good
        for nodes in node:  # a rank stays below the number of configurations, so that the key cannot overflow
            keys = np.multiply(which, len(parts[0].trie), dtype=np.int64) + nodes
            if (limit := int(keys.max()) + 1) > 8 * len(keys):
                which = np.unique(keys, return_inverse=True)[1].astype(np.int32)
            else:
                present = np.zeros(limit, np.bool_)  # dense keys need no sorting, which is ten times as fast
                present[keys] = True
                which = (np.cumsum(present, dtype=np.int32) - 1)[keys]
        one = np.zeros(which.max() + 1, np.int32)
        one[which] = np.arange(len(which), dtype=np.int32)  # any representative will do
        node = node[:, one]
        pushed = np.broadcast_to(np.int32(0), node.shape)  # takes no memory
        return replace(parts[0], state=state[one], good=good[one], node=node, pushed=pushed), which


# ---- All words up to a length, sharing prefixes: level by level, over live prefixes only ----

_CHUNK = 1 << 18  # configurations stepped together: bounds the temporaries, 50 MB or so


def accepts_all(pda: PushdownAutomaton, max_length: int, prefix: Word = ()) -> Iterator[BoolArray]:
    """Yield, for each length n from 0 to ``max_length``, which of the ``k**n`` words are accepted, ``(k**n,)``. Words
    stand in lexicographic order of ``input_alphabet``: :func:`word_at` gives the word at an index. With a ``prefix``
    they are the words after it, and accepted is what the two are together.

    >>> from stacklens.languages.classic import Dyck
    >>> dyck = Dyck(1).automaton
    >>> [accepted.nonzero()[0].tolist() for accepted in accepts_all(dyck, 4)]
    [[0], [], [1], [], [3, 5]]
    >>> word_at(5, 4, dyck.input_alphabet)
    ('(', ')', '(', ')')
    """
    k = len(pda.input_alphabet)
    if max_length >= 0:
        yield np.array([pda.accepts(prefix)])
    levels = _levels(pda, max_length, prefix)
    index = np.zeros(1, np.int64)  # (L,) of the live prefixes
    for length in range(1, max_length + 1):
        accepted = np.zeros(k**length, np.bool_)
        if (level := next(levels, None)) is not None:
            index = index[level.parent] * k + level.letter
            accepted.reshape(k ** (length - 1), k)[index] = level.accepted
        yield accepted


def outputs_all(pda: PushdownAutomaton, max_length: int, prefix: Word = ()) -> Iterator[IntArray]:
    """Yield, for each length n from 0 to ``max_length``, the last output of each of the ``k**n`` words, ``(k**n,)``. An
    output is its place in ``compile_tables(pda).outputs``; -1 where the run is cut. Words stand as in `accepts_all`,
    after a ``prefix`` too. One run of that for every output: automata have few.

    >>> from stacklens.automata.pda import NONE, Transition
    >>> echo = PushdownAutomaton(("q",), ("a", "b"), (), {("q", "a", ("⊥",)): Transition("q", (NONE,), "A")}, "q")
    >>> [outputs.tolist() for outputs in outputs_all(echo, 2)]
    [[0], [1, -1], [1, -1, -1, -1]]
    """
    outputs = compile_tables(pda).outputs
    asked = (replace(pda, acceptance="output", accepting_outputs=frozenset({output})) for output in outputs)
    for length, accepted in enumerate(zip(*(accepts_all(other, max_length, prefix) for other in asked), strict=True)):
        last = np.full(len(pda.input_alphabet) ** length, -1, np.int32)
        for place, given in enumerate(accepted):
            last[given] = place
        yield last


def enumerate_words(pda: PushdownAutomaton, max_length: int) -> Iterator[tuple[Symbol, ...]]:
    """Yield the accepted words up to ``max_length``, short ones first, then in the order of ``input_alphabet``. Time
    and memory go with the number of live prefixes, not with ``k**max_length``.

    >>> from stacklens.automata.pda import NONE, Transition
    >>> ends_b = PushdownAutomaton(("p", "q"), ("a", "b"), (), {
    ...     ("p", "a", ("⊥",)): Transition("p", (NONE,)), ("p", "b", ("⊥",)): Transition("q", (NONE,))}, "p", {"q"})
    >>> ["".join(word) for word in enumerate_words(ends_b, 3)]
    ['b', 'ab', 'aab']
    """
    if max_length >= 0 and pda.accepts(()):
        yield ()
    symbols = np.array(pda.input_alphabet, object)
    history: list[_Level] = []
    for level in _levels(pda, max_length):
        history.append(level)
        accepted, letters = np.nonzero(level.accepted)
        for start in range(0, len(accepted), 4096):
            rows = accepted[start : start + 4096]
            # spelt backwards: the last letter, then that of each prefix and where its parent stands, (N, length)
            words = np.empty((len(rows), len(history)), np.intp)
            words[:, -1] = letters[start : start + 4096]
            for length in range(len(history) - 1, 0, -1):
                words[:, length - 1] = history[length].letter[rows]
                rows = history[length].parent[rows].astype(np.intp)
            yield from map(tuple, symbols[words].tolist())


def word_at(index: int, length: int, alphabet: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    """Return the word of ``length`` that stands at ``index`` in lexicographic order.

    >>> word_at(5, 3, ("a", "b"))
    ('b', 'a', 'b')
    """
    if not 0 <= index < len(alphabet) ** length:
        raise IndexError(f"index {index}: there are {len(alphabet) ** length} words of length {length}")
    digits = []
    for _ in range(length):
        index, digit = divmod(int(index), len(alphabet))
        digits.append(alphabet[digit])
    return tuple(reversed(digits))


def count_all(k: int, max_length: int) -> int:
    """Return the number of words over ``k`` symbols up to ``max_length``, the empty word included.

    >>> count_all(3, 15)
    21523360
    """
    return sum(k**length for length in range(max_length + 1))


def is_all(k: int, max_length: int, words: int) -> bool:
    """Return whether there are as many ``words`` as there are over ``k`` symbols up to ``max_length``, however long."""
    if k < 2:
        return words == 1 + k * max_length
    return max_length < words.bit_length() and words == count_all(k, max_length)


@dataclass
class _Level:
    """The live prefixes of one length, and which of their extensions by one symbol are accepted. A prefix is ``parent``
    (its place among those one shorter, ``(L,)``) and ``letter``; ``accepted`` is ``(L, k)``.
    """

    parent: IntArray
    letter: IntArray
    accepted: BoolArray


def _levels(pda: PushdownAutomaton, max_length: int, prefix: Word = ()) -> Iterator[_Level]:
    """Yield the levels of live words of length 0 to ``max_length - 1`` after ``prefix``, as long as there are any."""
    k = len(pda.input_alphabet)
    distinct = Configurations.start(compile_tables(pda), StackTrie(len(pda.stack_alphabet)))
    for symbol in prefix:
        distinct = distinct.step(np.array([pda.input_alphabet.index(symbol)]))[0].settle()
    if not len(distinct):
        return
    # a level: live prefixes, each with its place among those one shorter
    reached = parent = letter = np.zeros(1, np.int32)  # reached: (L,) which distinct configuration a prefix leads to
    for length in range(1, max_length + 1):
        check_time()
        last = length == max_length  # whose stacks would be most of the memory, and are not needed
        accepted, child, below = _extend(distinct, k, last)
        yield _Level(parent, letter, accepted[reached])
        if below is None:
            return
        distinct, children = below, child[reached]  # (L, k)
        parent, letter = (axis.astype(np.int32) for axis in np.nonzero(children >= 0))
        reached = children[parent, letter]


def _extend(now: Configurations, k: int, last: bool) -> tuple[BoolArray, IntArray, Configurations | None]:
    """Return which extensions by one of ``k`` symbols are accepted, ``(M, k)``, which distinct configuration each
    leads to, -1 for none, ``(M, k)``, and these configurations: None if there are none or this level is the ``last``.
    """
    accepted = np.zeros(len(now) * k, np.bool_)
    parts, places = [], []
    for start in range(0, len(now), _CHUNK):
        children, place = now.rows(slice(start, start + _CHUNK)).step(np.arange(k))
        place += start * k
        accepted[place] = children.accepted()
        if not last and len(place):
            parts.append(children.settle())
            places.append(place.astype(np.int32))
    if not parts:
        return accepted.reshape(len(now), k), np.zeros((0, k), np.int32), None
    # prefixes that reach the same configuration are one from here on
    below, which = Configurations.merge(parts)
    child = np.full(len(now) * k, -1, np.int32)
    child[np.concatenate(places)] = which
    return accepted.reshape(-1, k), child.reshape(-1, k), below
