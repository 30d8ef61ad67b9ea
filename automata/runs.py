"""Many words at once: a Python loop over time only, arrays over the words that are still running."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..core.errors import StacklensError
from ..core.progress import check_time
from .enumeration import BoolArray, IntArray, StackTrie, Tables, Words, compile_tables, encode_words
from .pda import PushdownAutomaton, Word
from .rewriting import require_real_time
from .summaries import heads

_BATCH = 1 << 14  # words run together: large against numpy's cost a call, small against the cache


def accepts_many(pda: PushdownAutomaton, words: Words) -> BoolArray:
    """Return whether each word is accepted, ``(N,)``. ``words``: words, or numbers ``(N, T)`` padded with -1 on the
    right, as from ``encode_words``. Raises UnknownSymbolError: a word has a symbol outside the input alphabet. Raises
    AutomatonError: an array that is not of that form.

    >>> from stacklens.languages.classic import Dyck
    >>> accepts_many(Dyck(1).automaton, ["", "(())", "(()", "())"]).tolist()
    [True, True, False, False]
    """
    batches, shape = _runs_in_batches(pda, words)
    accepted = np.zeros(shape[0], np.bool_)
    for runs in batches:
        runs.run()
        good = runs.tables.accepting_outputs[runs.last_output]
        accepted[runs.rows] = (runs.cut < 0) & runs.tables.accepts(runs.last_state, runs.empty, good)
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
    batches, shape = _runs_in_batches(pda, words)
    outputs = np.full(shape, -1, np.int32)
    for runs in batches:
        trace = np.full((shape[1], len(runs.rows)), -1, np.int32)

        def note(runs: _Batch, moved: _Moved, t: int, trace: IntArray = trace) -> None:
            trace[t, runs.words[moved]] = runs.output[moved]

        runs.run(note)
        outputs[runs.rows] = trace.T
    return outputs


def written_many(pda: PushdownAutomaton, words: Words) -> IntArray:
    """Return all that is written on each word, ``(N, W)``: the outputs of the run that are not None, one after another.
    They are indices into ``compile_tables(pda).outputs``, and -1 behind the last. What a run writes before it is cut is
    there, too. ε-steps and the one on the end marker write as others do. Errors as in :func:`accepts_many`.

    >>> from stacklens.automata.pda import EPSILON, NONE, Transition
    >>> twice = PushdownAutomaton(("p", "q"), ("a",), (), {
    ...     ("p", "a", ("⊥",)): Transition("q", (NONE,), "A"),
    ...     ("q", EPSILON, ("⊥",)): Transition("p", (NONE,), "B")}, "p")
    >>> written_many(twice, ["aa", "a"]).tolist(), compile_tables(twice).outputs
    ([[1, 2, 1, 2], [1, 2, -1, -1]], (None, 'A', 'B'))
    """
    batches, shape = _runs_in_batches(pda, words)
    counted = np.array([output is not None for output in compile_tables(pda).outputs])
    parts: list[tuple[npt.NDArray[np.intp], IntArray]] = []  # words and what they write, a pair a step, in time's order

    def note(runs: _Batch, moved: _Moved, _: int) -> None:
        writes = counted[runs.output[moved]]
        parts.append((runs.rows[runs.words[moved][writes]], runs.output[moved][writes]))

    for runs in batches:
        runs.run(note)
    words_there, symbols = (np.concatenate([part[i] for part in parts] or [np.zeros(0, np.int32)]) for i in (0, 1))
    counts = np.bincount(words_there.astype(np.intp), minlength=shape[0])
    outputs = np.full((shape[0], int(counts.max(initial=0))), -1, np.int32)
    outputs[np.arange(outputs.shape[1]) < counts[:, None]] = symbols[np.argsort(words_there, kind="stable")]
    return outputs


def first_rejection(pda: PushdownAutomaton, words: Words) -> npt.NDArray[np.int64]:
    """Return the step (from 0) at which each run is cut for want of a transition, -1 where none is, ``(N,)``. With an
    end marker, a run cut at the marker has the word's length here. Errors as in :func:`accepts_many`.

    >>> from stacklens.automata.pda import NONE, Transition
    >>> only_a = PushdownAutomaton(("q",), ("a", "b"), (), {("q", "a", ("⊥",)): Transition("q", (NONE,))}, "q")
    >>> first_rejection(only_a, ["aa", "aba"]).tolist()
    [-1, 1]
    """
    batches, shape = _runs_in_batches(pda, words)
    cut = np.full(shape[0], -1, np.int64)
    for runs in batches:
        runs.run()
        cut[runs.rows] = runs.cut
    return cut


def greatest_heights(pda: PushdownAutomaton, words: Words) -> npt.NDArray[np.int64]:
    """Return how high the highest stack gets in each run, cut runs up to there, ``(N,)``. Errors: `accepts_many`.

    >>> from stacklens.languages.classic import Dyck
    >>> greatest_heights(Dyck(1).automaton, ["(())()", "()", ")((", ""]).tolist()
    [2, 1, 0, 0]
    """
    batches, shape = _runs_in_batches(pda, words)
    heights = np.zeros(shape[0], np.int64)

    def note(runs: _Batch, moved: _Moved, _: int) -> None:
        there = runs.rows[runs.words[moved]]
        heights[there] = np.maximum(heights[there], (runs.top[:, moved] // runs.layer).max(0))

    for runs in batches:
        runs.run(note)
    return heights


def _runs_in_batches(pda: PushdownAutomaton, words: Words) -> tuple[Iterator[_Batch], tuple[int, ...]]:
    """Return runs on all words in batches, and the shape of all that is read, (N, T), the end marker too. Long words
    come first in a batch: then the words still running are always a prefix.
    """
    letters, lengths = encode_words(words, pda.input_alphabet)
    tables = compile_tables(pda)
    if tables.end is not None:
        letters = np.pad(letters, ((0, 0), (0, 1)), constant_values=-1)
        letters[np.arange(len(letters)), lengths] = tables.end
        lengths = lengths + 1
    order = np.argsort(-lengths, kind="stable")
    parts = (order[start : start + _BATCH] for start in range(0, len(order), _BATCH))
    return (_Batch(tables, part, letters[part], lengths[part]) for part in parts), letters.shape


_Moved = npt.NDArray[np.intp] | slice  # the places of some of the runs that go on


class _Batch:
    """N runs side by side, on the words of numbers ``rows``, (N,). Those that go on stand in ``words``, in order, each
    with its state, head, output and tops.

    A cell of a stack is at ``(height * n_stacks + stack) * N + word``, so that one step touches neighbouring memory;
    height 0 holds the bottom, 0. How runs end is noted for all N; ``cut`` is the step without a transition, or -1.
    """

    def __init__(
        self, tables: Tables, rows: npt.NDArray[np.intp], letters: IntArray, lengths: npt.NDArray[np.int64]
    ) -> None:
        n_words, n_stacks = len(rows), len(tables.place)
        self.tables, self.rows = tables, rows
        self.columns = np.ascontiguousarray(letters.T).astype(np.intp)  # (T, N)
        times = np.arange(len(self.columns))
        self.longer = n_words - np.searchsorted(lengths[::-1], times, side="right")  # how many are longer than t, (T,)
        # one number a table cell, (state, letter, head): a look-up is one gather
        _, n_letters, self.n_heads = tables.target.shape
        self.row, self.layer = n_letters * self.n_heads, n_stacks * n_words
        self.targets, self.outputs, self.place = tables.target.ravel(), tables.output.ravel(), tables.place
        self.pushes = np.ascontiguousarray(tables.push.reshape(-1, n_stacks).T)  # (n_stacks, cells)
        pops = tables.pop.reshape(-1, n_stacks).T
        self.changes = ((self.pushes > 0).astype(np.intp) - pops) * self.layer
        # the runs that go on
        self.words = np.arange(n_words)
        self.state: IntArray = np.full(n_words, tables.initial, np.int32)
        self.output: IntArray = np.zeros(n_words, np.int32)
        self.head: npt.NDArray[np.intp] = np.zeros(n_words, np.intp)
        self.top: npt.NDArray[np.intp] = np.arange(self.layer).reshape(n_stacks, n_words)
        self.cells = np.zeros(16 * self.layer, np.min_scalar_type(int(tables.push.max(initial=0))))
        self.room = 15  # steps for which no stack can outgrow the cells
        # how runs end
        self.last_state, self.last_output = self.state.copy(), self.output.copy()
        self.empty, self.cut = np.ones(n_words, np.bool_), np.full(n_words, -1)

    def run(self, note: Callable[[_Batch, _Moved, int], None] = lambda *_: None) -> None:
        """Let all runs come to their ends. ``note`` is given them after every step, the places of those that made it,
        and the time.
        """
        self.step_epsilon(0, note)
        for t, n_longer in enumerate(self.longer):
            check_time()
            if (going_on := int(np.searchsorted(self.words, n_longer))) < len(self.words):
                self.finish(going_on)
            if going_on == 0:
                return
            self.step(t)
            note(self, slice(None), t)
            self.step_epsilon(t, note)
        self.finish(0)

    def step(self, t: int) -> None:
        """Let every run read its letter at time ``t``; those without a transition are cut and dropped."""
        cell = self.state * self.row + self.columns[t].take(self.words) * self.n_heads + self.head
        self.state = self.targets.take(cell)
        alive = self.state >= 0
        if not alive.all():
            self.cut[self.words[~alive]] = t
            self._keep(alive)
            cell = cell[alive]
        self.output = self.outputs.take(cell)
        self._operate(cell, 1)

    def step_epsilon(self, t: int, note: Callable[[_Batch, _Moved, int], None]) -> None:
        """Let every run take all ε-steps that there are."""
        while self.tables.epsilon is not None:
            cell = self.state * self.row + self.tables.epsilon * self.n_heads + self.head
            target = self.targets.take(cell)
            moving = target >= 0
            if not moving.any():
                return
            self.state = np.where(moving, target, self.state)
            self.output = np.where(moving, self.outputs.take(cell), self.output)
            self._operate(cell, moving.astype(np.int32))
            note(self, np.flatnonzero(moving), t)

    def finish(self, going_on: int) -> None:
        """Note how the runs behind the first ``going_on`` end, and drop them."""
        ended = self.words[going_on:]
        self.last_state[ended], self.last_output[ended] = self.state[going_on:], self.output[going_on:]
        self.empty[ended] = (self.top[:, going_on:] < self.layer).all(0)
        self._keep(slice(going_on))

    def _keep(self, chosen: slice | BoolArray) -> None:
        self.words, self.state, self.head = self.words[chosen], self.state[chosen], self.head[chosen]
        self.output, self.top = self.output[chosen], self.top[:, chosen]

    def _operate(self, cell: npt.NDArray[np.intp], moving: IntArray | int) -> None:
        """Let the stacks do what stands in the tables' ``cell`` (M,), where a run is ``moving``."""
        if self.room == 0:
            height = int(self.top.max(initial=0)) // self.layer
            if 2 * (height + 1) > len(self.cells) // self.layer:
                self.cells = np.concatenate([self.cells, np.zeros_like(self.cells)])
            self.room = len(self.cells) // self.layer - 1 - height
        self.room -= 1
        self.top = self.top + moving * self.changes.take(cell, 1)
        pushed = moving * self.pushes.take(cell, 1)
        tops = np.where(pushed > 0, pushed, self.cells.take(self.top))
        self.cells[self.top] = tops
        self.head = (tops[0] if len(tops) == 1 else self.place @ tops).astype(np.intp)


# ---- Many runs of one automaton side by side, from any configurations, each on letters of its own ----
# A run that has no transition is over, and why is kept: at a head that the automaton reaches on some word that means
# rejection; what it does at any other head is not defined.


@dataclass(frozen=True, eq=False)
class RunTables:
    """What runs look up."""

    tables: Tables  # the automaton's transitions
    known: BoolArray  # (Q, H) bool, at which heads it may read a letter on some word
    trie: StackTrie  # the stacks of all runs

    @classmethod
    def of(cls, pda: PushdownAutomaton) -> RunTables:
        """Return those of ``pda``. Raises AutomatonError: it has ε-steps, which read no letter."""
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

    >>> from stacklens.languages.classic import Dyck
    >>> runs = ManyRuns.start(RunTables.of(Dyck(1).automaton), 2)
    >>> after = runs.step(np.array([0, 1]))
    >>> after.heights().tolist(), after.rejected.tolist()
    ([[1], [0]], [False, True])
    """

    of: RunTables  # what they look up
    state: IntArray  # the state, (M,)
    node: IntArray  # every stack as a node of the trie, (n_stacks, M)
    output: IntArray  # the last output's number, (M,)
    rejected: BoolArray  # whether it was cut at a head that the automaton reaches, (M,)
    undefined: BoolArray  # whether it was cut at another one, (M,)

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
        names = ("state", "node", "output", "rejected", "undefined")
        return replace(self, **{name: getattr(self, name)[..., index] for name in names})

    def put(self, rows: BoolArray, other: ManyRuns) -> ManyRuns:
        """Return the runs, those of ``rows`` (M,) as they are in ``other``."""
        names = ("state", "node", "output", "rejected", "undefined")
        return replace(self, **{name: np.where(rows, getattr(other, name), getattr(self, name)) for name in names})

    def heads(self) -> npt.NDArray[np.intp]:
        """Return the number of what the stacks show together, (M,)."""
        return np.asarray(self.of.tables.place @ self.of.trie.symbol[self.node], np.intp)

    def cells(self, letters: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
        """Return where in the flat tables each run reads its letter, (M,)."""
        _, n_letters, n_heads = self.of.tables.target.shape
        return np.asarray((self.state.astype(np.intp) * n_letters + letters) * n_heads + self.heads())

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
        return np.asarray(self.of.trie.symbol[self._popped(self.node[stack], place)], np.int32)

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
        ended, tables = self.ended(), self.of.tables
        empty: BoolArray = (ended.node == 0).all(axis=0)
        return tables.accepts(ended.state, empty, tables.accepting_outputs[ended.output]) & ~ended.over

    def ended(self) -> ManyRuns:
        """Return the runs after the end marker, where there is one."""
        end = self.of.tables.end
        return self if end is None else self.step(np.full(len(self), end))

    def _popped(self, node: IntArray, count: npt.NDArray[np.integer]) -> IntArray:
        for depth in range(int(count.max(initial=0))):
            node = np.where(depth < count, self.of.trie.parent[node], node)
        return node


# ---- An automaton's run beside a network's: the state, and what lies on the stacks, before and after every step.

SHOWN = 3  # symbols of a stack, from the top
CUT = -1  # the state once the run is cut


@dataclass(frozen=True, eq=False)
class AutomatonRun:
    """What an automaton does on N words of at most T steps; moment t is before step t."""

    names: tuple[str, ...]  # the automaton's states
    symbols: tuple[str, ...]  # its stack symbols, the bottom first: what `stacks` counts in
    states: np.ndarray  # the state's number, (N, T + 1), `CUT` from where the run is cut and beyond a word's end
    heights: np.ndarray  # how high each stack is, (N, T + 1, n_stacks), -1 there
    stacks: np.ndarray  # the topmost symbols of each, the top first, (N, T + 1, n_stacks, 3), 0 for none

    @property
    def depths(self) -> np.ndarray:
        """Return the height of all stacks together, (N, T + 1), -1 where there is no state."""
        return np.asarray(np.where(self.states < 0, -1, self.heights.sum(-1)))


def automaton_run(pda: PushdownAutomaton, words: Sequence[Word], steps: np.ndarray) -> AutomatonRun:
    """Return the runs of ``pda`` on ``words``, of which a network takes ``steps`` (N,).

    Where the network reads an end symbol that the automaton does not, the automaton stays as it is. Raises
    UnknownSymbolError: a word has a symbol that the automaton does not read; AutomatonError: the automaton has ε-steps,
    which stand beside no step of a network; StacklensError: the network takes steps that read nothing.
    """
    codes, lengths = encode_words(words, pda.input_alphabet)
    if (steps > lengths + 1).any():
        raise StacklensError("the network takes steps that read nothing: no automaton's run stands beside them")
    longest = int(steps.max(initial=0))
    letters = np.full((len(words), longest), -1, np.int64)
    letters[:, : codes.shape[1]] = codes
    if pda.end_marker is not None:
        ending = np.flatnonzero(steps > lengths)
        letters[ending, lengths[ending]] = len(pda.input_alphabet)
    runs = ManyRuns.start(RunTables.of(pda), len(words))
    moments = [_moment(runs)]
    for t in range(longest):
        runs = runs.step(letters[:, t])
        moments.append(_moment(runs))
    states, heights, stacks = (np.stack(part, 1) for part in zip(*moments, strict=True))
    beyond = np.arange(longest + 1) > steps[:, None]
    states[beyond] = CUT
    nowhere = states < 0
    heights[nowhere], stacks[nowhere] = -1, 0
    return AutomatonRun(pda.states, (pda.bottom, *pda.stack_alphabet), states, heights, stacks)


def _moment(runs: ManyRuns) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # (M,), (M, n_stacks), (M, n_stacks, 3)
    states = np.where(runs.over, CUT, runs.state)
    depth = np.zeros(len(runs), np.int64)
    shown = [[runs.symbol_at(stack, depth + place) for place in range(SHOWN)] for stack in range(len(runs.node))]
    return states, runs.heights(), np.moveaxis(np.array(shown), -1, 0)
