"""From what a rounded network does on short words to automata that do the same: candidates, each scored.

Behaviour alone decides: pushed values become stack symbols (`tail_symbols`), the tree of all short runs becomes a
partial machine over letters and tops (`gather`), and its nodes are merged into states (`merged_states`). Long words
would teach a network's drift: they only judge.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any

import numpy as np
import torch

from ...automata.pda import Key, Transition, Word
from ...core.progress import check_time
from ...models.base import NetworkState, StackModel
from ...models.rounding import Operation, Rounded, RoundedSteps
from ..specification import Specification
from .candidates import LEARNING, Candidate, Scorer, cost, minimised
from .machine import BOTTOM, StackSymbols, Window, automaton_of_rules, cluster

# ---- The tree of a rounded network's runs: what it does on every short word, each prefix run once ----
#
# Everything is an array over nodes, so that a level of the tree is one step of the network. A node stands for the word
# that leads to it; its entries are of the last step on that word.

BOTTOM_CELL = 0  # what an empty stack shows
NO_CELL = -1
SILENT = -1  # no output, or one that does not count
_LONGEST = 40  # symbols of a word: over one symbol there are few words, however long


@dataclass(frozen=True)
class TreeRuns:
    """The runs on N - 1 words, one node each, and the root as node 0; C - 1 pushed values, and the bottom as cell 0."""

    parents: np.ndarray  # the node without the last letter, (N,); -1 for the root
    letters: np.ndarray  # the last letter's number, the end symbol's as the last, (N,); -1 for the root
    rejected: np.ndarray  # whether the network rejects there for good, (N,) bool; nothing else is known then
    # what the step did to each stack as the number of an `Operation`, no pops of nothing, (N, S)
    operations: np.ndarray
    pushed: np.ndarray  # the cell that the step laid on each stack, (N, S); -1 where it laid none
    tops: np.ndarray  # each stack's top cell after the step, (N, S)
    # the number of the output (N,), Python's integers for sets; -1 for none, or one that does not count
    outputs: np.ndarray
    verdicts: np.ndarray  # for recognisers, 1 or 0 for the word that ends there, (N,); -1 where none is asked
    followed: np.ndarray  # whether all that may come next is in the tree, (N,) bool
    below: np.ndarray  # the cell under each, (C,); the bottom's is the bottom
    stacks: np.ndarray  # the stack that each cell lies on, (C,); -1 for the bottom
    makers: np.ndarray  # the node that pushed each cell, (C,); -1 for the bottom
    values: np.ndarray  # the value of each cell, (C, D)


class RunTree:
    """The runs of ``model``, rounded here, on words that matter to it or to ``specification``, level by level.

    Where all words over the alphabet matter, these are the words that it has not rejected yet, up to ``most`` of them,
    and for predictors of sets only predicted symbols are followed. Else they are the task's short ones. Longer words
    would teach a network's drift.
    """

    def __init__(self, model: StackModel[Any], specification: Specification | None, most: int) -> None:
        self.network: Rounded[Any] = Rounded(model)
        self.specification = specification
        self.length = 0  # of the longest words
        verdict = SILENT
        if self.network.task_kind == "recognition" and self.network.end is None:
            with torch.no_grad():
                state = self.network.initial_state(1)
                verdict = int((self.network.decide(state) & ~state.rejected).item())
        self.runs = TreeRuns(
            parents=np.full(1, -1),
            letters=np.full(1, -1),
            rejected=np.zeros(1, bool),
            operations=np.zeros((1, self.n_stacks), np.int64),
            pushed=np.full((1, self.n_stacks), NO_CELL),
            tops=np.full((1, self.n_stacks), BOTTOM_CELL),
            outputs=np.full(1, SILENT, object),
            verdicts=np.full(1, verdict),
            followed=np.zeros(1, bool),
            below=np.full(1, BOTTOM_CELL),
            stacks=np.full(1, NO_CELL),
            makers=np.full(1, -1),
            values=np.zeros((1, self.network.cell_size)),
        )
        self._frontier = np.zeros(1, np.int64)  # the nodes whose state is known
        self._words: list[Word] = [()]  # what leads to these, where not all words matter
        self._state: NetworkState[Any] = self.network.initial_state(1)
        # the letters that the task's words go on with, by their beginnings; None where all words matter
        following: dict[Word, list[int]] | None = None
        if specification is not None and specification.partial_domain:
            numbers, following = {symbol: number for number, symbol in enumerate(model.alphabet)}, {}
            for word in specification.short_words(most):
                if len(word):
                    following.setdefault(tuple(word[:-1]), []).append(numbers[word[-1]])
        while len(self._frontier) and self.length < _LONGEST:
            parents, letters = self._next_level(following)
            full = following is None and self.length > 0 and len(self.runs.parents) + len(parents) > most
            if full or not len(parents):
                break
            self._extend(parents, letters)

    @property
    def n_stacks(self) -> int:
        """Return the number of stacks, at least 1."""
        return max(1, self.network.n_stacks)

    def _next_level(self, words: dict[Word, list[int]] | None) -> tuple[np.ndarray, np.ndarray]:
        """Return for each node of the next level its parent's place in the frontier, and its letter."""
        if words is None:
            n_letters = len(self.network.letters)
            places = np.arange(len(self._frontier)).repeat(n_letters)
            letters = np.tile(np.arange(n_letters), len(self._frontier))
            if self.network.task_kind != "next set":
                return places, letters
            nodes, first, alphabet = self._frontier[places], self.network.first, self.network.alphabet
            sets = zip(self.runs.outputs[nodes].tolist(), letters.tolist(), strict=True)
            predicted = np.array([n < 0 or bool(n >> x & 1) for n, x in sets])
            begins = np.array([first is None or symbol in first for symbol in alphabet])
            expected = np.where(nodes == 0, begins[letters], predicted)
            return places[expected], letters[expected]
        found = [(i, letter) for i, known in enumerate(self._words) for letter in words.get(known, ())]
        places, letters = np.array(found, np.int64).reshape(-1, 2).T
        return places, letters

    @torch.no_grad()
    def _extend(self, places: np.ndarray, letters: np.ndarray) -> None:
        """Add the level that ``letters`` lead to from these ``places`` of the frontier."""
        check_time()
        network, first = self.network, len(self.runs.parents)
        parents = self._frontier[places]
        step = network.step(torch.from_numpy(letters), self._state.select(torch.from_numpy(places)))
        did = RoundedSteps.of(network, step.hidden, step.actions, step.pushed, step.output, step.state.rejected)
        # each stack after the step, and the new cells
        tops = self.runs.tops[parents]
        operations = np.where(tops != BOTTOM_CELL, did.operations, did.operations & Operation.PUSH)
        operations[did.rejected] = Operation.NONE
        under = np.where(operations & Operation.POP, self.runs.below[tops], tops)
        row, stack = np.nonzero(operations & Operation.PUSH)
        pushed = np.full(tops.shape, NO_CELL)
        pushed[row, stack] = len(self.runs.below) + np.arange(len(row))
        values = np.zeros((0, self.runs.values.shape[1]))
        if len(row):
            values = step.pushed.expand(len(parents), *step.pushed.shape[-2:]).cpu().numpy()[row, stack]

        ended = letters == len(network.alphabet)
        verdicts = np.full(len(places), SILENT)
        if network.task_kind == "recognition":
            asked = ended if network.end is not None else np.ones(len(places), bool)
            decided = (network.decide(step.state) & ~step.state.rejected).cpu().numpy()
            verdicts = np.where(asked, decided, SILENT)
        outputs = did.outputs.astype(object)
        outputs[did.rejected] = SILENT
        level = TreeRuns(
            parents=parents,
            letters=letters,
            rejected=did.rejected,
            operations=operations,
            pushed=pushed,
            tops=np.where(pushed >= 0, pushed, under),
            outputs=outputs,
            verdicts=verdicts,
            followed=np.zeros(len(places), bool),
            below=under[row, stack],
            stacks=stack,
            makers=first + row,
            values=values,
        )
        self.runs.followed[self._frontier] = True
        joined = {f.name: np.concatenate([getattr(self.runs, f.name), getattr(level, f.name)]) for f in fields(level)}
        self.runs = TreeRuns(**joined)
        self.length += 1

        # outputs that do not count are taken back
        alive = np.flatnonzero(~did.rejected & ~ended)
        if self.specification is not None and self.specification.partial_domain:
            steps = zip(places.tolist(), letters.tolist(), strict=True)
            words = [(*self._words[place], network.letters[letter]) for place, letter in steps]
            scored = self.specification.scored(words)
            if scored is not None:
                self.runs.outputs[first:][~scored[:, self.length - 1]] = SILENT
            self._words = [words[i] for i in alive]
        self._frontier, self._state = first + alive, step.state.select(torch.from_numpy(alive))


# ---- Stack symbols for learning: which pushed values are taken for the same ----
#
# A symbol is the 1-tail of the step that pushed it (Biermann & Feldman 1972, "On the synthesis of finite-state
# machines from samples of their behavior", k-tails): what the network does to its stacks and puts out on each letter
# that is read right after the push. Longer tails keep too much apart, and values alone may lie anywhere: K-means
# clusters of them are the other way.

BOTTOM_SYMBOL = -1
UNKNOWN_SYMBOL = -2  # of a value on which too little was read
_DIES, _UNASKED = -1, -2  # in the place of what a letter leads to


@dataclass(frozen=True)
class CellSymbols:
    """Which stack symbol each cell of a tree holds."""

    name: str  # what a report calls this choice
    numbers: np.ndarray  # the symbol of each cell, (C,); -1 for the bottom, -2 where it is not known
    names: tuple[str, ...]  # the symbols' names


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
    """Return the 1-tails of the steps that pushed on ``stacks`` as symbols; unknown on the tree's last level."""
    runs, seen = tree.runs, list(stacks)

    # a number for what each step does; sets as outputs may be too large for an array, and are numbered first
    distinct = {output: place for place, output in enumerate(dict.fromkeys(runs.outputs.tolist()))}
    outputs = np.array([distinct[output] for output in runs.outputs.tolist()], np.int64)
    did = np.concatenate([runs.operations[:, seen], outputs[:, None], runs.verdicts[:, None]], 1)
    _, steps = np.unique(np.where(runs.rejected[:, None], _DIES, did), axis=0, return_inverse=True)
    steps = np.where(runs.rejected, _DIES, steps.ravel())

    # a tail: what each letter leads to, (N, letters)
    after = np.full((len(runs.parents), len(tree.network.letters)), _UNASKED)
    after[runs.parents[1:], runs.letters[1:]] = steps[1:]
    if tree.network.task_kind == "next set":  # what was not predicted dies
        after[after == _UNASKED] = _DIES

    # the nodes that pushed, and whose next letters are all in the tree
    known = np.flatnonzero(runs.followed & (runs.pushed[:, seen] >= 0).any(1))
    place = np.full(len(runs.parents), UNKNOWN_SYMBOL)
    if len(known):
        place[known] = np.unique(after[known], axis=0, return_inverse=True)[1].ravel()
    cells = np.flatnonzero(np.isin(runs.stacks, seen))
    numbers = np.full(len(runs.below), UNKNOWN_SYMBOL)
    numbers[cells] = place[runs.makers[cells]]
    used, again = np.unique(numbers[numbers >= 0], return_inverse=True)
    numbers[numbers >= 0] = again
    numbers[BOTTOM_CELL] = BOTTOM_SYMBOL
    return CellSymbols("1-tails", numbers, tuple(f"s{i}" for i in range(len(used))))


# ---- The evidence of a tree of runs for a machine to be learned: a partial Mealy machine over letters and tops ----
#
# An entry at a node is what the network did there on a letter, the stacks showing what they do: its moves, its output
# and the next node. Everything is numbered, so that entries are compared as numbers.

Entry = tuple[int, int, int]  # the move's number, the output's, and the next node
Move = tuple[tuple[Operation, Window | None], ...]  # for each stack what is done, and the window that a push makes
DIES = -1  # the move of a step that is rejected
NOWHERE = -1  # the next node where there is none
VERDICT = -1  # the key of the verdict on the word that ends at a node: an entry whose output is that verdict


@dataclass(frozen=True)
class Evidence:
    """What is known of each node of a tree, and what the numbers stand for."""

    # for each node what is known there, by key: `VERDICT`, or letter * len(heads) + head
    entries: list[dict[int, Entry]]
    heads: list[tuple[Window, ...]]  # for each number the window that each stack shows
    moves: list[Move]  # for each number what is done to each stack
    sizes: list[int]  # how many nodes there are at and under each node
    by_state: bool  # for recognisers, whether words may be accepted on stacks that are not empty


def gather(tree: RunTree, stacks: tuple[int, ...], symbols: CellSymbols) -> Evidence:
    """Return the evidence of ``tree``, where symbols are known, for a machine that sees ``stacks`` only."""
    runs, depth, seen = tree.runs, tree.network.depth, list(stacks)

    # the symbols that each stack in sight shows after each node, (N, S, depth), top first
    cells = runs.tops[:, seen] if seen else np.full((len(runs.tops), 1), BOTTOM_CELL)
    shown = []
    for _ in range(depth):
        shown.append(symbols.numbers[cells])
        cells = runs.below[cells]
    windows = np.stack(shown, -1)
    distinct, places = _numbered_rows(windows.reshape(len(windows), -1))
    heads = [tuple(tuple(row[i : i + depth]) for i in range(0, len(row), depth)) for row in distinct.tolist()]
    certain = (windows != UNKNOWN_SYMBOL).all((1, 2))

    # what is done to each stack, and the window that a push makes, (N, S, 1 + depth)
    done = runs.operations[:, seen] if seen else np.zeros((len(windows), 1), np.int64)
    pushes = (done & Operation.PUSH > 0)[..., None]
    made = np.concatenate([done[..., None], np.where(pushes, windows, UNKNOWN_SYMBOL)], -1)
    distinct, moved = _numbered_rows(made.reshape(len(windows), -1))
    moved[runs.rejected] = DIES
    moves: list[Move] = []
    for row in distinct.reshape(len(distinct), -1, 1 + depth).tolist():
        taken = [(Operation(number), tuple(window)) for number, *window in row]
        moves.append(tuple((one, window if one.pushes else None) for one, window in taken))

    # an entry at the parent of each node, where the symbols in sight are known
    entries: list[dict[int, Entry]] = [{} for _ in runs.parents]
    known = certain[runs.parents] & (runs.rejected | (~pushes | (windows != UNKNOWN_SYMBOL)).all((1, 2)))
    known[0] = False
    keys = runs.letters * len(heads) + places[runs.parents]
    for node in np.flatnonzero(known).tolist():
        target = NOWHERE if moved[node] == DIES else node
        entries[runs.parents[node]][int(keys[node])] = (int(moved[node]), runs.outputs[node], target)
    # a letter that was not predicted dies: it was never read
    network = tree.network
    for node in np.flatnonzero(certain & ~runs.rejected).tolist() if network.task_kind == "next set" else []:
        predicted = runs.outputs[node]
        if node == 0:
            first = [network.first is None or symbol in network.first for symbol in network.alphabet]
            predicted = sum(1 << x for x, begins in enumerate(first) if begins)
        elif predicted == SILENT:
            continue
        for x in range(len(network.alphabet)):
            if not predicted >> x & 1:
                entries[node][x * len(heads) + int(places[node])] = (DIES, SILENT, NOWHERE)

    # verdicts: of empty stacks only, unless some word is accepted on others
    empty = (runs.tops[:, seen] == BOTTOM_CELL).all(1)
    by_state = bool((runs.verdicts[~empty] > 0).any())
    for node in np.flatnonzero((runs.verdicts >= 0) & (empty | by_state)).tolist():
        entries[node][VERDICT] = (0, int(runs.verdicts[node]), NOWHERE)

    parents, sizes = runs.parents.tolist(), [1] * len(runs.parents)
    for node in range(len(parents) - 1, 0, -1):
        sizes[parents[node]] += sizes[node]
    return Evidence(entries, heads, moves, sizes, by_state)


def _numbered_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    distinct, places = np.unique(rows, axis=0, return_inverse=True)
    return distinct, places.ravel()


# ---- Red-blue merging of states: Lang, Pearlmutter & Price 1998, "Results of the Abbadingo one DFA learning
# competition".
#
# Red nodes are states, blue ones their successors that are not states yet. The blue node with most nodes under it
# joins the first red one with whose evidence all that follows agrees, or becomes a state itself. What is not known,
# and an output that does not count, agrees with everything; a rejection is evidence like any other.
#
# AALpy's `run_GSM` merges in the same order, and could not be used: its data know an output or do not, and ours are
# known in part, since the move of a step is known where its output does not count; moreover it is an extra.

_Log = list[tuple[int, int, Entry | None]]  # node, key, and what was there before


def merged_states(
    evidence: Evidence, most: int, stop: Callable[[], bool] = lambda: False
) -> dict[int, dict[int, Entry]] | None:
    """Return the entries of the states by node, the root first; None if they are more than ``most``, or at ``stop``."""
    entries = [dict(row) for row in evidence.entries]
    red: dict[int, None] = {}
    blue: dict[int, tuple[int, int]] = {}  # of which red node each is the next, and on which key

    def reach(state: int, key: int) -> None:
        target = entries[state][key][2]
        if target != NOWHERE and target not in red:
            blue[target] = state, key

    def promote(node: int) -> None:
        blue.pop(node, None)
        red[node] = None
        for key in entries[node]:
            reach(node, key)

    def join(node: int, state: int) -> bool:
        """Fold the blue ``node`` and all under it into the red ``state`` and return True; False where they differ."""
        before, key = blue[node]
        entry = entries[before][key]
        entries[before][key] = (*entry[:2], state)
        log: _Log = [(before, key, entry)]
        if not _fold(entries, state, node, log):
            for place, written, old in reversed(log):
                if old is None:
                    del entries[place][written]
                else:
                    entries[place][written] = old
            return False
        del blue[node]
        for place, written, old in log:
            if old is None and place in red:
                reach(place, written)
        return True

    promote(0)
    while blue:
        if len(red) > most or stop():
            return None
        node = max(blue, key=lambda one: (evidence.sizes[one], -one))
        if not any(join(node, state) for state in red):
            promote(node)
    return {state: entries[state] for state in red}


def _fold(entries: list[dict[int, Entry]], state: int, node: int, log: _Log) -> bool:
    """Enter at ``state`` what is known at ``node``, and so on along both; return whether it all agrees."""
    todo = [(state, node)]
    while todo:
        into, other = todo.pop()
        row = entries[into]
        for key, entry in entries[other].items():
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
            if known[2] != entry[2] and known[2] != NOWHERE:  # a leaf is a node too
                todo.append((known[2], entry[2]))
    return True


# ---- From what a rounded network does on short words to automata that do the same ----

_NODES = (2_000, 10_000, 40_000)  # of trees, each tried where the one before teaches too little
_MOST_STATES = 60
_MANY = 1 << 30  # words in error, more than there are
_CLUSTERS = (1, 2, 3, 4, 5, 6, 8)
_MOST_TOGETHER, _ALL_TOGETHER = 2, 3  # stacks that are shown at once, and where there are no more than so many


def learned_candidates(
    scorer: Scorer, stack_symbols: int | None = None, over: Callable[[], bool] = lambda: False, *, whole: bool = False
) -> Iterator[Candidate]:
    """Yield candidates one by one, each scored, small trees first: stop asking at an exact one, or when ``over``.

    Of several stacks each that ever pops is shown alone, then two at once, then three, unless the ``whole`` is asked
    for: what a stack out of sight does is no part of the machine. Of exact machines with as many stacks the smallest
    comes first. It ends where the specification's own automaton has no fewer errors: then it is the network that errs.
    Clusters of pushed values, ``stack_symbols`` of them if given, come after all trees with 1-tails.
    """
    task = None if scorer.specification is None else scorer.specification.automaton
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
            own = None if task is None else task()
            if over() or best <= (0 if own is None else len(scorer.broken_by(own, best))):
                return
        if trees[0].network.pushes_input or not trees[0].network.n_stacks:
            return  # there is no other choice of symbols


def _learned_from(
    tree: RunTree, scorer: Scorer, tails: bool, stack_symbols: int | None, over: Callable[[], bool], whole: bool
) -> Iterator[Candidate]:
    """Yield what is learned from one tree: few stacks in sight first, of those with as many the smallest exact one."""
    network, letters = tree.network, tree.runs.letters[tree.runs.makers]
    letters[BOTTOM_CELL] = BOTTOM_SYMBOL
    pushes_letters = network.pushes_input or not network.n_stacks

    # which stacks to show: of those that ever pop each alone, then two, then three if there are three
    views = [[tuple(range(network.n_stacks))]]
    if not whole and network.n_stacks >= 2:
        popping = np.flatnonzero((tree.runs.operations & Operation.POP).any(0)).tolist()
        most = len(popping) if len(popping) <= _ALL_TOGETHER else _MOST_TOGETHER
        views = [list(combinations(popping, n)) for n in range(1, most + 1)] if popping else [[()]]

    # None for 1-tails, else numbers of clusters, one after the other
    sizes = (None,) if tails or pushes_letters else _CLUSTERS if stack_symbols is None else (stack_symbols,)
    best, chosen = _MANY, set[tuple[tuple[int, ...], str]]()
    for size in sizes:
        for view in views:
            tried = []
            for stacks in view:
                if pushes_letters:
                    symbols = CellSymbols("letters", letters, network.letters)
                elif size is None:
                    symbols = tail_symbols(tree, stacks)
                else:
                    symbols = clustered_symbols(tree, stacks, size, scorer.seed)
                if (stacks, symbols.name) in chosen:  # there are no more different values than that
                    continue
                chosen.add((stacks, symbols.name))
                tried.append(_learned_seeing(tree, stacks, symbols, scorer, over, best))
                best = min(best, _MANY if tried[-1].disagreements is None else tried[-1].disagreements)
                if over():
                    break
            yield from sorted(tried, key=lambda one: (one.exact, cost(one) if one.exact else 0))
            if over():
                return


def _learned_seeing(
    tree: RunTree, stacks: tuple[int, ...], symbols: CellSymbols, scorer: Scorer, over: Callable[[], bool], best: int
) -> Candidate:
    """Return what is learned from ``tree`` with only ``stacks`` in sight; beyond ``best`` not all errors count."""
    how = f"all words to length {tree.length}, {symbols.name}"
    seen = stacks if tree.n_stacks > 1 else None
    blank = Candidate(how, len(symbols.names), LEARNING, 0, None, None, stacks=seen)
    evidence = gather(tree, stacks, symbols)
    states = merged_states(evidence, _MOST_STATES, over)
    if states is None:
        return blank
    # the automaton of the merged states, accepting as one that was explored (see `TransitionTable`)
    network = tree.network
    name = StackSymbols(symbols.names, np.zeros((len(symbols.names), 1))).window_name
    names = {node: f"q{place}" for place, node in enumerate(states)}
    rules: dict[Key, Transition] = {}
    for node, row in states.items():
        for key, (move, output, target) in row.items():
            if key != VERDICT and move != DIES:
                letter, head = divmod(key, len(evidence.heads))
                tops = tuple(map(name, evidence.heads[head]))
                taken = tuple(op.stack_op("" if made is None else name(made)) for op, made in evidence.moves[move])
                answer = None if output == SILENT else network.output_name(output)
                rules[names[node], network.letters[letter], tops] = Transition(names[target], taken, answer)
    accepting = frozenset(names[node] for node, row in states.items() if row.get(VERDICT, (0, 0, 0))[1] == 1)
    if network.task_kind != "recognition":
        accepting = frozenset(names.values())
    shown = {top for _, _, tops in rules for top in tops if top != BOTTOM}
    laid = {op.push for step in rules.values() for op in step.operations if op.push is not None}
    alphabet, n_stacks = tuple(sorted(shown | laid)), len(evidence.heads[0])
    learned = automaton_of_rules(
        network, tuple(names.values()), alphabet, rules, accepting, scorer.complete, evidence.by_state, n_stacks
    )
    return scorer.score(minimised(blank, learned), best)
