"""All words up to a length, sharing prefixes: level by level, over live prefixes only.

A missing transition is absorbing, so a prefix whose run is cut is never extended. Prefixes that reach the same
configuration are stepped once; a word then costs one gather. Stacks are hash-consed in a trie
(`configurations.StackTrie`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stacklens.automata.compiled import BoolArray, IntArray, compile_tables
from stacklens.automata.configurations import Configurations, StackTrie
from stacklens.automata.pda import PushdownAutomaton, Symbol, Word

__all__ = ["accepts_all", "count_all", "enumerate_words", "is_all", "outputs_all", "word_at"]

_CHUNK = 1 << 18  # configurations stepped together: bounds the temporaries, 50 MB or so


def accepts_all(pda: PushdownAutomaton, max_length: int, prefix: Word = ()) -> Iterator[BoolArray]:
    """Yield, for each length n from 0 to ``max_length``, which of the ``k**n`` words are accepted, ``(k**n,)``.

    Words stand in lexicographic order of ``input_alphabet``: :func:`word_at` gives the word at an index. With a
    ``prefix`` they are the words after it, and accepted is what the two are together.

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> dyck = PushdownAutomaton(("q",), ("(", ")"), ("A",), {
    ...     ("q", "(", ("⊥",)): Transition("q", (push("A"),)), ("q", "(", ("A",)): Transition("q", (push("A"),)),
    ...     ("q", ")", ("A",)): Transition("q", (POP,))}, "q", acceptance="empty stack")
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
    """Yield, for each length n from 0 to ``max_length``, the last output of each of the ``k**n`` words, ``(k**n,)``.

    An output is its place in ``compile_tables(pda).outputs``; -1 where the run is cut. Words stand as in `accepts_all`,
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
    """Yield the accepted words up to ``max_length``, short ones first, then in the order of ``input_alphabet``.

    Time and memory go with the number of live prefixes, not with ``k**max_length``.

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
        rows, letters = np.nonzero(level.accepted)
        for start in range(0, len(rows), 4096):
            part = slice(start, start + 4096)
            yield from map(tuple, symbols[_spell(history, rows[part], letters[part])].tolist())


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
    """The live prefixes of one length, and which of their extensions by one symbol are accepted.

    A prefix is ``parent`` (its place among those one shorter, ``(L,)``) and ``letter``; ``accepted`` is ``(L, k)``.
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
    reached = parent = letter = np.zeros(1, np.int32)  # reached: (L,) which distinct configuration a prefix leads to
    for length in range(1, max_length + 1):
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
    below, which = Configurations.merge(parts)
    child = np.full(len(now) * k, -1, np.int32)
    child[np.concatenate(places)] = which
    return accepted.reshape(-1, k), child.reshape(-1, k), below


def _spell(history: list[_Level], rows: npt.NDArray[np.intp], last: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return the words, ``(N, length)``, that extend the prefixes ``rows`` of the last level by ``last``."""
    words = np.empty((len(rows), len(history)), np.intp)
    words[:, -1] = last
    for length in range(len(history) - 1, 0, -1):
        words[:, length - 1] = history[length].letter[rows]
        rows = history[length].parent[rows].astype(np.intp)
    return words
