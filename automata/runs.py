"""Many words at once: a Python loop over time only, arrays over the words that are still running."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .compiled import BoolArray, IntArray, Tables, Words, compile_tables, encode_words
from .enumeration import StackTrie
from .pda import PushdownAutomaton
from .rewriting import require_real_time
from .summaries import heads

_BATCH = 1 << 14  # words run together: large against numpy's cost a call, small against the cache


def accepts_many(pda: PushdownAutomaton, words: Words) -> BoolArray:
    """Return whether each word is accepted, ``(N,)``.

    Args:
        pda: the automaton.
        words: words, or numbers ``(N, T)`` padded with -1 on the right, as from ``encode_words``.

    Raises:
        UnknownSymbolError: a word has a symbol outside the input alphabet.
        AutomatonError: an array that is not of that form.

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> dyck = PushdownAutomaton(("q",), ("(", ")"), ("A",), {
    ...     ("q", "(", ("⊥",)): Transition("q", (push("A"),)), ("q", "(", ("A",)): Transition("q", (push("A"),)),
    ...     ("q", ")", ("A",)): Transition("q", (POP,))}, "q", acceptance="empty stack")
    >>> accepts_many(dyck, ["", "(())", "(()", "())"]).tolist()
    [True, True, False, False]
    """
    tables, batches, shape = _tables_and_batches(pda, words)
    accepted = np.zeros(shape[0], np.bool_)
    for batch, letters, lengths in batches:
        ends = _run_batch(tables, letters, lengths)
        good = tables.accepting_outputs[ends.output]
        accepted[batch] = (ends.cut < 0) & tables.accepts(ends.state, ends.empty, good)
    return accepted


def transduce_many(pda: PushdownAutomaton, words: Words) -> IntArray:
    """Return the output of every step, ``(N, T)``: indices into ``compile_tables(pda).outputs``.

    It is -1 after the end of a word and from the step on at which a run is cut. With an end marker there is one more
    column than the longest word has symbols. Errors as in :func:`accepts_many`, and for automata with ε-steps, whose
    outputs do not stand beside letters.

    >>> from stacklens.automata.pda import NONE, Transition
    >>> echo = PushdownAutomaton(("q",), ("a", "b"), (), {("q", "a", ("⊥",)): Transition("q", (NONE,), "A")}, "q")
    >>> transduce_many(echo, ["aa", "ab", "a"]).tolist(), compile_tables(echo).outputs
    ([[1, 1], [1, -1], [1, -1]], (None, 'A'))
    """
    require_real_time(pda, "One output for each letter needs")
    tables, batches, shape = _tables_and_batches(pda, words)
    outputs = np.full(shape, -1, np.int32)
    for batch, letters, lengths in batches:
        trace = np.full((shape[1], len(batch)), -1, np.int32)
        _run_batch(tables, letters, lengths, _Notes(trace=trace))
        outputs[batch] = trace.T
    return outputs


def written_many(pda: PushdownAutomaton, words: Words) -> IntArray:
    """Return all that is written on each word, ``(N, W)``: the outputs of the run that are not None, one after another.

    They are indices into ``compile_tables(pda).outputs``, and -1 behind the last. What a run writes before it is
    cut is there, too. ε-steps and the one on the end marker write as others do. Errors as in :func:`accepts_many`.

    >>> from stacklens.automata.pda import EPSILON, NONE, Transition
    >>> twice = PushdownAutomaton(("p", "q"), ("a",), (), {
    ...     ("p", "a", ("⊥",)): Transition("q", (NONE,), "A"),
    ...     ("q", EPSILON, ("⊥",)): Transition("p", (NONE,), "B")}, "p")
    >>> written_many(twice, ["aa", "a"]).tolist(), compile_tables(twice).outputs
    ([[1, 2, 1, 2], [1, 2, -1, -1]], (None, 'A', 'B'))
    """
    tables, batches, shape = _tables_and_batches(pda, words)
    counted = np.array([output is not None for output in tables.outputs])
    parts = []
    for batch, letters, lengths in batches:
        written = _Written(len(batch), counted)
        _run_batch(tables, letters, lengths, _Notes(written=written))
        parts.append((batch, written))
    outputs = np.full((shape[0], max((int(w.counts.max(initial=0)) for _, w in parts), default=0)), -1, np.int32)
    for batch, written in parts:
        width = min(outputs.shape[1], written.symbols.shape[1])
        outputs[batch, :width] = written.symbols[:, :width]
    return outputs


class _Written:
    """What N runs have written so far; only outputs that are ``counted`` (O,) are kept."""

    def __init__(self, n_words: int, counted: BoolArray) -> None:
        self.counted = counted
        self.counts = np.zeros(n_words, np.int64)
        self.symbols: IntArray = np.full((n_words, 16), -1, np.int32)

    def add(self, words: npt.NDArray[np.intp], outputs: IntArray) -> None:
        """Add one output to each of some words."""
        rows, outputs = words[self.counted[outputs]], outputs[self.counted[outputs]]
        if self.counts[rows].max(initial=0) >= self.symbols.shape[1]:
            self.symbols = np.pad(self.symbols, ((0, 0), (0, self.symbols.shape[1])), constant_values=-1)
        self.symbols[rows, self.counts[rows]] = outputs
        self.counts[rows] += 1


def first_rejection(pda: PushdownAutomaton, words: Words) -> npt.NDArray[np.int64]:
    """Return the step (from 0) at which each run is cut for want of a transition, -1 where none is, ``(N,)``.

    With an end marker, a run cut at the marker has the word's length here. Errors as in :func:`accepts_many`.

    >>> from stacklens.automata.pda import NONE, Transition
    >>> only_a = PushdownAutomaton(("q",), ("a", "b"), (), {("q", "a", ("⊥",)): Transition("q", (NONE,))}, "q")
    >>> first_rejection(only_a, ["aa", "aba"]).tolist()
    [-1, 1]
    """
    tables, batches, shape = _tables_and_batches(pda, words)
    cut = np.full(shape[0], -1, np.int64)
    for batch, letters, lengths in batches:
        cut[batch] = _run_batch(tables, letters, lengths).cut
    return cut


def greatest_heights(pda: PushdownAutomaton, words: Words) -> npt.NDArray[np.int64]:
    """Return how high the highest of the stacks gets in each run, cut runs up to there, ``(N,)``.

    Errors as in :func:`accepts_many`.

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> rules = {("q", "(", (top,)): Transition("q", (push("x"),)) for top in ("x", "⊥")}
    >>> rules["q", ")", ("x",)] = Transition("q", (POP,))
    >>> brackets = PushdownAutomaton(("q",), ("(", ")"), ("x",), rules, "q", acceptance="empty stack")
    >>> greatest_heights(brackets, ["(())()", "()", ")((", ""]).tolist()
    [2, 1, 0, 0]
    """
    tables, batches, shape = _tables_and_batches(pda, words)
    heights = np.zeros(shape[0], np.int64)
    for batch, letters, lengths in batches:
        reached = np.zeros(len(batch), np.int64)
        _run_batch(tables, letters, lengths, _Notes(heights=reached))
        heights[batch] = reached
    return heights


def _tables_and_batches(
    pda: PushdownAutomaton, words: Words
) -> tuple[Tables, Iterator[tuple[npt.NDArray[np.intp], IntArray, npt.NDArray[np.int64]]], tuple[int, ...]]:
    """Return the tables, batches of the words' numbers with what these read, and the shape of all that is read, (N, T).

    The end marker is read, too. Long words come first in a batch: then the words still running are always a prefix.
    """
    letters, lengths = encode_words(words, pda.input_alphabet)
    tables = compile_tables(pda)
    if tables.end is not None:
        letters = np.pad(letters, ((0, 0), (0, 1)), constant_values=-1)
        letters[np.arange(len(letters)), lengths] = tables.end
        lengths = lengths + 1
    order = np.argsort(-lengths, kind="stable")
    parts = (order[start : start + _BATCH] for start in range(0, len(order), _BATCH))
    return tables, ((part, letters[part], lengths[part]) for part in parts), letters.shape


@dataclass
class _Ends:
    """How runs end; ``cut`` is the step at which a transition was missing, else -1."""

    state: IntArray
    empty: BoolArray
    output: IntArray
    cut: npt.NDArray[np.int64]


class _Stacks:
    """One stack a word, side by side: cell ``height * width + word``, so that one step touches neighbouring memory."""

    def __init__(self, width: int, dtype: np.dtype[np.unsignedinteger]) -> None:
        self.width = width
        self.address = np.arange(width)  # of the top, for the words still running; height 0 holds the bottom, 0
        self.cells = np.zeros(16 * width, dtype)
        self.room = 15  # steps for which no stack can outgrow the cells

    def move(self, change: npt.NDArray[np.intp], pushed: IntArray) -> npt.NDArray[np.unsignedinteger]:
        """Return the new tops after stacks grew by ``change`` and, where ``pushed`` is not 0, it was laid on top."""
        if self.room == 0:
            self._make_room()
        self.room -= 1
        self.address += change * self.width
        tops = np.where(pushed > 0, pushed, self.cells.take(self.address)).astype(self.cells.dtype)
        self.cells[self.address] = tops
        return tops

    def _make_room(self) -> None:
        height = int(self.address.max(initial=0)) // self.width
        if 2 * (height + 1) > len(self.cells) // self.width:
            self.cells = np.concatenate([self.cells, np.zeros_like(self.cells)])
        self.room = len(self.cells) // self.width - 1 - height


class _Running:
    """The runs that go on: the word of each, its state, head and last output, and every word's stacks."""

    def __init__(self, tables: Tables, n_words: int) -> None:
        self.words = np.arange(n_words)
        self.state = np.full(n_words, tables.initial, np.int32)
        self.output = np.zeros(n_words, np.int32)
        self.head = np.zeros(n_words, np.intp)
        kind = np.min_scalar_type(int(tables.push.max(initial=0)))
        self.stacks = [_Stacks(n_words, kind) for _ in tables.place]

    def keep(self, chosen: slice | BoolArray) -> None:
        """Drop all runs but ``chosen``."""
        self.words, self.state, self.head = self.words[chosen], self.state[chosen], self.head[chosen]
        self.output = self.output[chosen]
        for stack in self.stacks:
            stack.address = stack.address[chosen]

    def finish(self, ends: _Ends, chosen: slice) -> None:
        """Note in ``ends`` where the ``chosen`` runs are."""
        words = self.words[chosen]
        ends.state[words], ends.output[words] = self.state[chosen], self.output[chosen]
        for stack in self.stacks:
            ends.empty[words] &= stack.address[chosen] < stack.width


class _FlatTables:
    """The tables flattened to one number a cell, ``(state, letter, head)``, so that a look-up is one gather."""

    def __init__(self, tables: Tables) -> None:
        _, n_letters, self.n_heads = tables.target.shape
        self.row = n_letters * self.n_heads
        self.target, self.output = tables.target.ravel(), tables.output.ravel()
        self.push = np.ascontiguousarray(tables.push.reshape(-1, len(tables.place)).T)  # (n_stacks, cells)
        self.change = (self.push > 0).astype(np.intp) - tables.pop.reshape(-1, len(tables.place)).T
        self.place = [int(value) for value in tables.place]

    def apply(self, runs: _Running, letters: npt.NDArray[np.intp], ends: _Ends, t: int) -> None:
        """Let every run read its letter at time ``t``; those without a transition are cut and dropped."""
        cell = runs.state * self.row + letters * self.n_heads + runs.head
        runs.state = self.target.take(cell)
        alive = runs.state >= 0
        if not alive.all():
            ends.cut[runs.words[~alive]] = t
            runs.keep(alive)
            cell = cell[alive]
        runs.output = self.output.take(cell)
        self._operate(runs, cell, 1)

    def apply_epsilon(self, runs: _Running, epsilon: int) -> npt.NDArray[np.intp]:
        """Let every run take one ε-step, if there is one; return the numbers of those that did."""
        cell = runs.state * self.row + epsilon * self.n_heads + runs.head
        target = self.target.take(cell)
        moving = target >= 0
        runs.state = np.where(moving, target, runs.state)
        runs.output = np.where(moving, self.output.take(cell), runs.output)
        if moving.any():
            self._operate(runs, cell, moving.astype(np.int32))
        return np.flatnonzero(moving)

    def _operate(self, runs: _Running, cell: npt.NDArray[np.intp], moving: IntArray | int) -> None:
        runs.head = np.zeros(len(cell), np.intp)
        for stack, place, change, push in zip(runs.stacks, self.place, self.change, self.push, strict=True):
            runs.head += place * stack.move(moving * change.take(cell), moving * push.take(cell)).astype(np.intp)


@dataclass
class _Notes:
    """Notes of runs, taken on the way.

    Attributes:
        trace: receives the outputs of the letters, ``(T, N)``.
        heights: receives how high the highest stack gets, ``(N,)``.
        written: receives all outputs.
    """

    trace: IntArray | None = None
    heights: npt.NDArray[np.int64] | None = None
    written: _Written | None = None

    def step(self, runs: _Running, moved: npt.NDArray[np.intp] | slice = slice(None)) -> None:
        """Note a step of the runs with the numbers ``moved``, which stand in this order."""
        words = runs.words[moved]
        if self.written is not None:
            self.written.add(words, runs.output[moved])
        if self.heights is not None:
            for stack in runs.stacks:
                self.heights[words] = np.maximum(self.heights[words], stack.address[moved] // stack.width)


def _run_batch(tables: Tables, letters: IntArray, lengths: npt.NDArray[np.int64], notes: _Notes | None = None) -> _Ends:
    """Return how the runs on ``letters``, long words first, end, and take ``notes``."""
    steps, runs, notes = _FlatTables(tables), _Running(tables, len(letters)), notes or _Notes()
    ends = _Ends(runs.state.copy(), np.ones(len(letters), np.bool_), runs.output.copy(), np.full(len(letters), -1))
    columns = np.ascontiguousarray(letters.T).astype(np.intp)  # (T, N)
    longer = len(letters) - np.searchsorted(lengths[::-1], np.arange(len(columns)), side="right")  # words longer than t
    _rest(steps, runs, tables, notes)
    for t, n_longer in enumerate(longer):
        n_going_on = int(np.searchsorted(runs.words, n_longer))
        if n_going_on < len(runs.words):
            runs.finish(ends, slice(n_going_on, None))
            runs.keep(slice(n_going_on))
        if n_going_on == 0:
            return ends
        steps.apply(runs, columns[t].take(runs.words), ends, t)
        if notes.trace is not None:
            notes.trace[t, runs.words] = runs.output
        notes.step(runs)
        _rest(steps, runs, tables, notes)
    runs.finish(ends, slice(None))
    return ends


def _rest(steps: _FlatTables, runs: _Running, tables: Tables, notes: _Notes) -> None:
    while tables.epsilon is not None and len(moved := steps.apply_epsilon(runs, tables.epsilon)):
        notes.step(runs, moved)


# ---- Many runs of one automaton side by side, from any configurations, each on letters of its own ----
#
# A run that has no transition is over, and why is kept: at a head that the automaton reaches on some word that means
# rejection; what it does at any other head is not defined.


@dataclass(frozen=True, eq=False)
class RunTables:
    """What runs look up.

    Attributes:
        tables: the automaton's transitions.
        known: (Q, H) bool, at which heads it may read a letter on some word.
        trie: the stacks of all runs.
    """

    tables: Tables
    known: BoolArray
    trie: StackTrie

    @classmethod
    def of(cls, pda: PushdownAutomaton) -> RunTables:
        """Return those of ``pda``.

        Raises:
            AutomatonError: it has ε-steps, which read no letter.
        """
        require_real_time(pda, "Running on from any configuration needs")
        tables = compile_tables(pda)
        known = np.zeros((tables.target.shape[0], tables.target.shape[2]), np.bool_)
        tops = {symbol: top for top, symbol in enumerate((pda.bottom, *pda.stack_alphabet))}
        states = {state: number for number, state in enumerate(pda.states)}
        for state, head in heads(pda).reading:
            known[states[state], sum(tops[top] * int(at) for top, at in zip(head, tables.place, strict=True))] = True
        return cls(tables, known, StackTrie(len(pda.stack_alphabet)))


@dataclass(frozen=True, eq=False)
class ManyRuns:
    """M runs at one moment.

    Attributes:
        of: what they look up.
        state: the state, (M,).
        node: every stack as a node of the trie, (n_stacks, M).
        output: the last output's number, (M,).
        rejected: whether it was cut at a head that the automaton reaches, (M,).
        undefined: whether it was cut at another one, (M,).

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> steps = {("q", "(", (top,)): Transition("q", (push("x"),)) for top in ("x", "⊥")}
    >>> steps["q", ")", ("x",)] = Transition("q", (POP,))
    >>> runs = ManyRuns.start(RunTables.of(PushdownAutomaton(("q",), ("(", ")"), ("x",), steps, "q")), 2)
    >>> after = runs.step(np.array([0, 1]))
    >>> after.heights().tolist(), after.rejected.tolist()
    ([[1], [0]], [False, True])
    """

    of: RunTables
    state: IntArray
    node: IntArray
    output: IntArray
    rejected: BoolArray
    undefined: BoolArray

    @classmethod
    def start(cls, of: RunTables, count: int) -> ManyRuns:
        """Return ``count`` runs before the first letter."""
        zeros, never = np.zeros(count, np.int32), np.zeros(count, np.bool_)
        node = np.zeros((len(of.tables.place), count), np.int32)
        return cls(of, np.full(count, of.tables.initial, np.int32), node, zeros, never, never)

    def __len__(self) -> int:
        return len(self.state)

    @property
    def over(self) -> BoolArray:
        """Return which runs have been cut, (M,)."""
        return self.rejected | self.undefined

    def select(self, index: npt.NDArray[np.integer] | BoolArray) -> ManyRuns:
        """Return the runs ``index``, which may repeat."""
        parts = {name: getattr(self, name)[index] for name in ("state", "output", "rejected", "undefined")}
        return replace(self, node=self.node[:, index], **parts)

    def put(self, rows: BoolArray, other: ManyRuns) -> ManyRuns:
        """Return the runs, those of ``rows`` (M,) as they are in ``other``."""
        names = ("state", "node", "output", "rejected", "undefined")
        return replace(self, **{name: np.where(rows, getattr(other, name), getattr(self, name)) for name in names})

    def heads(self) -> npt.NDArray[np.intp]:
        """Return the number of what the stacks show together, (M,)."""
        shown: npt.NDArray[np.intp] = (self.of.tables.place @ self.of.trie.symbol[self.node]).astype(np.intp)
        return shown

    def cells(self, letters: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
        """Return where in the flat tables each run reads its letter, (M,)."""
        _, n_letters, n_heads = self.of.tables.target.shape
        places: npt.NDArray[np.intp] = (self.state.astype(np.intp) * n_letters + letters) * n_heads + self.heads()
        return places

    def step(self, letters: npt.NDArray[np.integer]) -> ManyRuns:
        """Return the runs after ``letters`` (M,); a negative one is no letter: nothing happens."""
        tables, trie, node = self.of.tables, self.of.trie, self.node
        moving = (letters >= 0) & ~self.over
        cell = self.cells(np.maximum(letters, 0))
        target = tables.target.reshape(-1)[cell]
        cut, known = moving & (target < 0), self.of.known[self.state, self.heads()]
        goes = moving & (target >= 0)
        pop = tables.pop.reshape(-1, len(node))[cell].T & goes
        push = np.where(goes, tables.push.reshape(-1, len(node))[cell].T, 0)
        return ManyRuns(
            self.of,
            np.where(goes, target, self.state),
            trie.push(np.where(pop, trie.parent[node], node), push),
            np.where(goes, tables.output.reshape(-1)[cell], self.output),
            self.rejected | (cut & known),
            self.undefined | (cut & ~known),
        )

    def heights(self) -> npt.NDArray[np.int64]:
        """Return how high every stack is, (M, n_stacks)."""
        node, high = self.node, np.zeros(self.node.shape, np.int64)
        while node.any():
            high += node > 0
            node = self.of.trie.parent[node]
        return high.T

    def symbol_at(self, stack: int, place: npt.NDArray[np.integer]) -> IntArray:
        """Return the symbol at ``place`` (M,) of a stack, 0 the top, as a number; 0 where there is none, (M,)."""
        node = self._popped(self.node[stack], place)
        found: IntArray = self.of.trie.symbol[node].astype(np.int32)
        return found

    def with_symbol(self, stack: int, place: npt.NDArray[np.integer], symbol: npt.NDArray[np.integer]) -> ManyRuns:
        """Return the runs with ``symbol`` (M,), counted from 1, at ``place`` (M,) of a stack."""
        trie, node = self.of.trie, self.node[stack]
        above = [node]
        for _ in range(int(place.max(initial=0))):
            above.append(trie.parent[above[-1]])
        made = trie.push(trie.parent[self._popped(node, place)], np.asarray(symbol, np.int32))
        for depth in range(len(above) - 1, -1, -1):
            laid = np.where(depth < place, trie.symbol[above[depth]], 0).astype(np.int32)
            made = trie.push(made, laid)
        nodes = self.node.copy()
        nodes[stack] = made
        return replace(self, node=nodes)

    def accepted(self) -> BoolArray:
        """Return whether words that end here are accepted, the end marker read if there is one, (M,)."""
        ended = self.ended()
        return ended._accepting() & ~ended.over

    def ended(self) -> ManyRuns:
        """Return the runs after the end marker, where there is one."""
        end = self.of.tables.end
        return self if end is None else self.step(np.full(len(self), end))

    def _accepting(self) -> BoolArray:
        tables = self.of.tables
        empty: BoolArray = (self.node == 0).all(axis=0)
        return tables.accepts(self.state, empty, tables.accepting_outputs[self.output])

    def _popped(self, node: IntArray, count: npt.NDArray[np.integer]) -> IntArray:
        for depth in range(int(count.max(initial=0))):
            node = np.where(depth < count, self.of.trie.parent[node], node)
        return node
