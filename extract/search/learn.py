"""From what a rounded network does on short words to automata that do the same: candidates, each scored.

What decides is behaviour: pushed values become stack symbols (`tail_symbols`), the tree of all short runs becomes a
partial machine over letters and tops (`evidence`), and its nodes are merged into states (`red_blue`). Long words would
teach a network's drift: they only judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from ...automata.pda import Key, Output, PushdownAutomaton, Symbol, Transition
from ...models.base import StackModel
from ...models.rounding import Operation
from .candidates import LEARNING, Candidate, Scorer, cost, minimised
from .clustering import cluster
from .machine import BOTTOM, StackSymbols, Window
from .run_tree import BOTTOM_CELL, SILENT, Runs, RunTree
from .transition_table import initial_output

# ---- Stack symbols for learning: which pushed values are taken for the same ----
#
# A symbol is the 1-tail of the step that pushed it (Biermann & Feldman 1972, "On the synthesis of finite-state
# machines from samples of their behavior", k-tails): what the network does to its stacks and says on each letter that
# is read right after the push. Longer tails tell too much apart, and values alone may lie anywhere: K-means clusters
# of them are the other way.

BOTTOM_SYMBOL = -1
UNKNOWN_SYMBOL = -2  # of a value on which too little was read
_DIES, _UNASKED = -1, -2  # in the place of what a letter leads to


@dataclass(frozen=True)
class CellSymbols:
    """Which stack symbol each cell of a tree holds.

    Attributes:
        name: what a report calls this choice.
        numbers: the symbol of each cell, (C,); -1 for the bottom, -2 where it is not known.
        names: the symbols' names.
    """

    name: str
    numbers: np.ndarray
    names: tuple[str, ...]


def letter_symbols(tree: RunTree) -> CellSymbols:
    """Return the symbols of a network that pushes the letter that it reads."""
    runs = tree.runs
    numbers = runs.letters[runs.makers]
    numbers[BOTTOM_CELL] = BOTTOM_SYMBOL
    return CellSymbols("letters", numbers, tree.network.letters)


def clustered_symbols(tree: RunTree, stacks: Sequence[int], number: int, seed: int) -> CellSymbols:
    """Return as symbols at most ``number`` K-means clusters of the values on each of ``stacks``."""
    runs = tree.runs
    numbers = np.full(len(runs.below), UNKNOWN_SYMBOL)
    numbers[BOTTOM_CELL] = BOTTOM_SYMBOL
    most = 0
    for stack in stacks:
        here = np.flatnonzero(runs.stacks == stack)
        if len(here):
            found = cluster(runs.values[here].astype(np.float64), number, seed)
            numbers[here] = found.assign(runs.values[here].astype(np.float64))
            most = max(most, len(found.centres))
    return CellSymbols(f"{most} clusters of pushed values", numbers, tuple(f"s{i}" for i in range(most)))


def tail_symbols(tree: RunTree, stacks: Sequence[int]) -> CellSymbols:
    """Return the 1-tails of the steps that pushed on ``stacks`` as symbols.

    A value pushed on the last level of the tree has no symbol that is known. Letters that no word of the task goes on
    with, and outputs that do not count, are no part of a tail.
    """
    runs, seen = tree.runs, list(stacks)
    known, tails = _tails(tree, runs, seen)
    place = np.full(len(runs.parents), UNKNOWN_SYMBOL)
    place[known] = tails
    cells = np.flatnonzero(np.isin(runs.stacks, seen))
    numbers = np.full(len(runs.below), UNKNOWN_SYMBOL)
    numbers[cells] = place[runs.makers[cells]]
    used, again = np.unique(numbers[numbers >= 0], return_inverse=True)
    numbers[numbers >= 0] = again
    numbers[BOTTOM_CELL] = BOTTOM_SYMBOL
    return CellSymbols("1-tails", numbers, tuple(f"s{i}" for i in range(len(used))))


def _tails(tree: RunTree, runs: Runs, stacks: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes that pushed and whose next letters are all in the tree, and a number for the tail of each."""
    did = np.concatenate(
        [runs.operations[:, stacks], _numbered_tails(runs.outputs)[:, None], runs.verdicts[:, None]], 1
    )
    did = np.where(runs.rejected[:, None], _DIES, did)
    _, steps = np.unique(did, axis=0, return_inverse=True)
    steps = np.where(runs.rejected, _DIES, steps.ravel())
    after = np.full((len(runs.parents), len(tree.network.letters)), _UNASKED)
    after[runs.parents[1:], runs.letters[1:]] = steps[1:]
    if tree.network.task_kind == "next set":  # what was not predicted dies
        after[after == _UNASKED] = _DIES
    pushes = (runs.pushed[:, stacks] >= 0).any(1)
    known = np.flatnonzero(runs.followed & pushes)
    if not len(known):
        return known, known
    tails = np.unique(after[known], axis=0, return_inverse=True)[1].ravel()
    return known, tails


def _numbered_tails(outputs: np.ndarray) -> np.ndarray:
    """Return a number for each of ``outputs``, which may be too large for an array's."""
    known = {number: place for place, number in enumerate(dict.fromkeys(outputs.tolist()))}
    return np.array([known[number] for number in outputs.tolist()], np.int64)


# ---- What a tree of runs says of a machine that is to be learned: a partial Mealy machine over letters and tops.
#
# An entry at a node says what the network did there on a letter, the stacks showing what they do: its moves, its
# output and the next node. Everything is numbered, so that entries are compared as numbers.

Entry = tuple[int, int, int]  # the move's number, the output's, and the next node
Move = tuple[tuple[Operation, Window | None], ...]  # for each stack what is done, and the window that a push makes
DIES = -1  # the move of a step that is rejected
NOWHERE = -1  # the next node where there is none
VERDICT = -1  # the key of the verdict on the word that ends at a node: an entry whose output is that verdict


@dataclass(frozen=True)
class Evidence:
    """What is known of each node of a tree, and what the numbers stand for.

    Attributes:
        entries: for each node what is known there, by key: `VERDICT`, or letter * len(heads) + head.
        heads: for each number the window that each stack shows.
        moves: for each number what is done to each stack.
        sizes: how many nodes there are at and under each node.
        by_state: for recognisers, whether words may be accepted on stacks that are not empty.
    """

    entries: list[dict[int, Entry]]
    heads: list[tuple[Window, ...]]
    moves: list[Move]
    sizes: list[int]
    by_state: bool


def gather(tree: RunTree, stacks: tuple[int, ...], symbols: CellSymbols) -> Evidence:
    """Return what ``tree`` says of a machine that sees ``stacks`` only, and whose cells hold ``symbols``.

    Without a stack in sight it has one that it never uses. What happens where a symbol is not known is left out.
    """
    runs, depth = tree.runs, tree.network.depth
    windows = _windows(tree, stacks, symbols.numbers)
    heads, places = _numbered(windows.reshape(len(windows), -1))
    shown = [tuple(tuple(row[i : i + depth]) for i in range(0, len(row), depth)) for row in heads.tolist()]
    certain = (windows != UNKNOWN_SYMBOL).all((1, 2))
    done = runs.operations[:, list(stacks)] if stacks else np.zeros((len(windows), 1), np.int64)
    made = np.where((done & Operation.PUSH)[..., None] > 0, windows, UNKNOWN_SYMBOL)
    moves, moved = _numbered(np.concatenate([done[..., None], made], -1).reshape(len(windows), -1))
    entries: list[dict[int, Entry]] = [{} for _ in runs.parents]
    laid = ((done & Operation.PUSH) == 0)[..., None] | (windows != UNKNOWN_SYMBOL)
    known = certain[runs.parents] & (runs.rejected | laid.all((1, 2)))
    known[0] = False
    keys = runs.letters * len(shown) + places[runs.parents]
    moved[runs.rejected] = DIES
    for node in np.flatnonzero(known).tolist():
        target = NOWHERE if moved[node] == DIES else node
        entries[runs.parents[node]][int(keys[node])] = (int(moved[node]), runs.outputs[node], target)
    _enter_unpredicted(tree, entries, places, certain, len(shown))
    by_state = _enter_verdicts(tree, stacks, entries)
    return Evidence(
        entries, shown, [_move(row, windows.shape[1], depth) for row in moves.tolist()], _sizes(tree), by_state
    )


def _windows(tree: RunTree, stacks: tuple[int, ...], numbers: np.ndarray) -> np.ndarray:
    """Return the symbols that each of ``stacks`` shows after each node, (N, S, depth), top first."""
    cells, seen = tree.runs.tops[:, list(stacks)], []
    if not stacks:
        cells = np.full((len(cells), 1), BOTTOM_CELL)
    for _ in range(tree.network.depth):
        seen.append(numbers[cells])
        cells = tree.runs.below[cells]
    return np.stack(seen, -1)


def _numbered(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different ones of ``rows`` (N, W), and the place of each row among them, (N,)."""
    distinct, places = np.unique(rows, axis=0, return_inverse=True)
    return distinct, places.ravel()


def _move(row: list[int], n_stacks: int, depth: int) -> Move:
    parts = [row[i : i + depth + 1] for i in range(0, n_stacks * (depth + 1), depth + 1)]
    operations = [(Operation(operation), tuple(window)) for operation, *window in parts]
    return tuple((operation, window if operation.pushes else None) for operation, window in operations)


def _enter_unpredicted(
    tree: RunTree, entries: list[dict[int, Entry]], places: np.ndarray, certain: np.ndarray, n_heads: int
) -> None:
    """Enter that a letter that was not predicted dies: it was never read."""
    network, runs = tree.network, tree.runs
    if network.task_kind != "next set":
        return
    letters = range(len(network.alphabet))
    dies = (DIES, SILENT, NOWHERE)
    for node in np.flatnonzero(certain & ~runs.rejected).tolist():
        said = runs.outputs[node]
        if node == 0:
            first = network.first
            said = sum(1 << x for x in letters if first is None or network.alphabet[x] in first)
        elif said == SILENT:
            continue
        for x in letters:
            if not said >> x & 1:
                entries[node][x * n_heads + int(places[node])] = dies


def _enter_verdicts(tree: RunTree, stacks: tuple[int, ...], entries: list[dict[int, Entry]]) -> bool:
    """Enter the verdicts; return whether some word is accepted on stacks that are not empty.

    Where none is, a state says what it does of empty stacks only.
    """
    runs = tree.runs
    empty = (runs.tops[:, list(stacks)] == BOTTOM_CELL).all(1)
    by_state = bool((runs.verdicts[~empty] > 0).any())
    for node in np.flatnonzero((runs.verdicts >= 0) & (empty | by_state)).tolist():
        entries[node][VERDICT] = (0, int(runs.verdicts[node]), NOWHERE)
    return by_state


def _sizes(tree: RunTree) -> list[int]:
    """Return how many nodes there are at and under each node."""
    parents = tree.runs.parents.tolist()
    sizes = [1] * len(parents)
    for node in range(len(parents) - 1, 0, -1):
        sizes[parents[node]] += sizes[node]
    return sizes


# ---- Red-blue merging of states: Lang, Pearlmutter & Price 1998, "Results of the Abbadingo one DFA learning
# competition".
#
# Red nodes are states, blue ones their successors that are not states yet. The blue node with most nodes under it
# joins the first red one with whose evidence all that follows agrees, or becomes a state itself. What is not known,
# and an output that does not count, agrees with everything; a rejection is evidence like any other.
#
# AALpy's `run_GSM` merges in the same order, and could not be used: its data know an output or do not, and ours are
# known in part, since what a step does to the stacks is known where what it says does not count; moreover it is an
# extra.

_Log = list[tuple[int, int, Entry | None]]  # node, key, and what was there before


def merged_states(
    evidence: Evidence, most: int, stop: Callable[[], bool] = lambda: False
) -> dict[int, dict[int, Entry]] | None:
    """Return the entries of the states, by their nodes in the order in which they were found, the root first.

    The next node of every entry is a state. None where there would be more than ``most`` of them, or ``stop`` says so.
    """
    merging = _Merging([dict(row) for row in evidence.entries], evidence.sizes)
    merging.promote(0)
    while merging.blue:
        if len(merging.red) > most or stop():
            return None
        node = max(merging.blue, key=lambda one: (merging.sizes[one], -one))
        if not any(merging.joined(node, state) for state in merging.red):
            merging.promote(node)
    return {state: merging.entries[state] for state in merging.red}


@dataclass
class _Merging:
    """A tree that is folded up; `blue` says for each blue node where it is the next: at which red one on which key."""

    entries: list[dict[int, Entry]]
    sizes: list[int]
    red: dict[int, None] = field(default_factory=dict)
    blue: dict[int, tuple[int, int]] = field(default_factory=dict)

    def promote(self, node: int) -> None:
        """Make a state of ``node``."""
        self.blue.pop(node, None)
        self.red[node] = None
        for key, (_, _, target) in self.entries[node].items():
            self._successor(node, key, target)

    def _successor(self, state: int, key: int, target: int) -> None:
        if target != NOWHERE and target not in self.red:
            self.blue[target] = (state, key)

    def joined(self, node: int, state: int) -> bool:
        """Fold the blue ``node`` and all under it into the red ``state`` and return True; False where they differ."""
        before, key = self.blue[node]
        move, output, _ = entry = self.entries[before][key]
        self.entries[before][key] = (move, output, state)
        log: _Log = [(before, key, entry)]
        if not self._fold(state, node, log):
            for place, written, old in reversed(log):
                if old is None:
                    del self.entries[place][written]
                else:
                    self.entries[place][written] = old
            return False
        del self.blue[node]
        for place, written, old in log:
            if old is None and place in self.red:
                self._successor(place, written, self.entries[place][written][2])
        return True

    def _fold(self, state: int, node: int, log: _Log) -> bool:
        """Enter at ``state`` what is known at ``node``, and so on along both; return whether it all agrees."""
        todo = [(state, node)]
        while todo:
            into, other = todo.pop()
            row = self.entries[into]
            for key, entry in self.entries[other].items():
                known = row.get(key)
                if known is None:
                    row[key] = entry
                    log.append((into, key, None))
                    continue
                if known[0] != entry[0]:
                    return False
                if known[1] != entry[1]:
                    if known[1] == SILENT:
                        row[key] = (known[0], entry[1], known[2])
                        log.append((into, key, known))
                    elif entry[1] != SILENT:
                        return False
                if known[2] != entry[2] and known[2] != NOWHERE:  # a leaf says nothing, and is a node all the same
                    todo.append((known[2], entry[2]))
        return True


# ---- From what a rounded network does on short words to automata that do the same ----

_Choice = Callable[[tuple[int, ...]], CellSymbols]  # from the stacks in sight to stack symbols
_NODES = (2_000, 10_000, 40_000)  # of trees, each tried where the one before teaches too little
_MOST_STATES = 60
_MANY = 1 << 30  # words in error, more than there are
_CLUSTERS = (1, 2, 3, 4, 5, 6, 8)
_MOST_TOGETHER, _ALL_TOGETHER = 2, 3  # stacks that are shown at once, and where there are no more than so many


def learned_candidates(
    scorer: Scorer,
    stack_symbols: int | None = None,
    over: Callable[[], bool] = lambda: False,
    *,
    whole: bool = False,
) -> Iterator[Candidate]:
    """Yield candidates one by one, each scored, small trees first: whoever asks stops at an exact one.

    Where there are several stacks, each that ever pops is shown alone, then two at once, then three: what a stack out
    of sight does is no part of the machine, and where what is left explains the outputs, it is enough. Of the exact
    machines with as many stacks in sight the smallest comes first. It ends where the specification's own automaton has
    no fewer errors than the best candidate: then it is the network that errs. Clusters of pushed values come after all
    trees with 1-tails.

    Args:
        scorer: who knows the rounded network's answers.
        stack_symbols: a fixed number of clusters of pushed values; None for what is read right after a push.
        over: says when to stop.
        whole: show all stacks together, and nothing less; a small tree only.
    """
    best, trees = _MANY, list[RunTree]()
    for tails in (True, False) if stack_symbols is None else (False,):
        for number, most in enumerate(_NODES[:1] if whole else _NODES):
            if number == len(trees):
                trees.append(RunTree(scorer.learned_from, scorer.specification, most))
            tree = trees[number]
            if number and len(tree.runs.parents) == len(trees[number - 1].runs.parents):
                break  # there are no more words
            for found in _learned_from(tree, scorer, tails, stack_symbols, over, whole):
                yield found
                best = min(best, _MANY if found.disagreements is None else found.disagreements)
            if over() or best <= _own_errors(scorer, best):
                return
        if trees[0].network.pushes_input or not trees[0].network.n_stacks:
            return  # there is no other choice of symbols


def _learned_from(
    tree: RunTree, scorer: Scorer, tails: bool, stack_symbols: int | None, over: Callable[[], bool], whole: bool
) -> Iterator[Candidate]:
    """Yield what is learned from one tree: few stacks in sight first, of those with as many the smallest exact one."""
    everything = [[tuple(range(tree.network.n_stacks))]]
    best, chosen = _MANY, set[tuple[tuple[int, ...], str]]()
    for choose in _choices(tree, tails, stack_symbols, scorer.seed):
        for views in everything if whole else _views(tree):
            tried = []
            for stacks in views:
                symbols = choose(stacks)
                if (stacks, symbols.name) in chosen:  # there are no more different values than that
                    continue
                chosen.add((stacks, symbols.name))
                tried.append(_seeing(tree, stacks, symbols, scorer, over, best))
                best = min(best, _MANY if tried[-1].disagreements is None else tried[-1].disagreements)
                if over():
                    break
            yield from sorted(tried, key=lambda one: (one.exact, cost(one) if one.exact else 0))
            if over():
                return


def _own_errors(scorer: Scorer, enough: int) -> int:
    """Return on how many words the rounded network is not as the specification's automaton, 0 where there is none.

    Beyond ``enough`` not all are counted.
    """
    own = None if scorer.specification is None else scorer.specification.automaton()
    return 0 if own is None else len(scorer.broken_by(own, enough))


def _views(tree: RunTree) -> list[list[tuple[int, ...]]]:
    """Return which stacks to show: of those that ever pop each alone, then two, then three if there are three."""
    popping = tree.runs.popping()
    if tree.network.n_stacks < 2:
        return [[tuple(range(tree.network.n_stacks))]]
    if not popping:
        return [[()]]
    most = len(popping) if len(popping) <= _ALL_TOGETHER else _MOST_TOGETHER
    return [list(combinations(popping, number)) for number in range(1, most + 1)]


def _choices(tree: RunTree, tails: bool, number: int | None, seed: int) -> list[_Choice]:
    """Return the ways to take values pushed on the stacks in sight for stack symbols.

    With ``tails`` it is what is read right after the push, else one ``number`` of clusters after the other.
    """
    if tree.network.pushes_input or not tree.network.n_stacks:
        return [lambda _: letter_symbols(tree)]
    if tails:
        return [lambda stacks: tail_symbols(tree, stacks)]
    sizes = _CLUSTERS if number is None else (number,)
    return [partial(_clusters, tree=tree, number=size, seed=seed) for size in sizes]


def _clusters(stacks: tuple[int, ...], tree: RunTree, number: int, seed: int) -> CellSymbols:
    return clustered_symbols(tree, stacks, number, seed)


def _seeing(
    tree: RunTree,
    stacks: tuple[int, ...],
    symbols: CellSymbols,
    scorer: Scorer,
    over: Callable[[], bool],
    best: int,
) -> Candidate:
    """Return what is learned from ``tree`` with only ``stacks`` in sight; beyond ``best`` not all errors count."""
    how = f"all words to length {tree.length}, {symbols.name}"
    seen = stacks if tree.n_stacks > 1 else None
    blank = Candidate(how, len(symbols.names), LEARNING, 0, None, None, stacks=seen)
    evidence = gather(tree, stacks, symbols)
    states = merged_states(evidence, _MOST_STATES, over)
    if states is None:
        return blank
    learned = _automaton(tree.network, evidence, states, symbols, scorer.complete)
    return scorer.score(minimised(blank, learned), best)


def _automaton(
    network: StackModel[Any],
    evidence: Evidence,
    states: dict[int, dict[int, Entry]],
    symbols: CellSymbols,
    complete: frozenset[Output],
) -> PushdownAutomaton:
    """Return the automaton of the merged ``states``, accepting as one that was explored (see `TransitionTable`)."""
    named = StackSymbols(symbols.names, np.zeros((len(symbols.names), 1)))
    names = {node: f"q{place}" for place, node in enumerate(states)}
    rules: dict[Key, Transition] = {}
    for node, row in states.items():
        for key, (move, output, target) in row.items():
            if key != VERDICT and move != DIES:
                letter, head = divmod(key, len(evidence.heads))
                tops = tuple(map(named.window_name, evidence.heads[head]))
                taken = tuple(
                    op.stack_op("" if made is None else named.window_name(made)) for op, made in evidence.moves[move]
                )
                says = None if output == SILENT else network.output_name(output)
                rules[names[node], network.letters[letter], tops] = Transition(names[target], taken, says)
    accepting = frozenset(names.values())
    acceptance: Literal["final state", "both", "output"] = "output" if complete else "final state"
    if network.task_kind == "recognition":
        accepting = frozenset(names[node] for node, row in states.items() if row.get(VERDICT, (0, 0, 0))[1] == 1)
        acceptance = "final state" if evidence.by_state else "both"
    return PushdownAutomaton(
        states=tuple(names.values()),
        input_alphabet=network.alphabet,
        stack_alphabet=_stack_alphabet(rules),
        transitions=rules,
        initial=names[0],
        accepting=frozenset() if complete else accepting,
        acceptance=acceptance,
        bottom=BOTTOM,
        n_stacks=len(evidence.heads[0]),
        end_marker=network.end,
        initial_output=initial_output(network),
        accepting_outputs=complete,
    )


def _stack_alphabet(rules: dict[Key, Transition]) -> tuple[Symbol, ...]:
    seen = [top for _, _, tops in rules for top in tops if top != BOTTOM]
    laid = [op.push for step in rules.values() for op in step.operations if op.push is not None]
    return tuple(sorted({*seen, *laid}))
