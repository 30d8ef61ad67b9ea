"""The tree of a rounded network's runs: what it does on every short word, each prefix run once.

Everything is an array over nodes, so that a level of the tree is one step of the network. A node stands for the word
that leads to it; its entries are of the last step on that word.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch

from ...automata.pda import Word
from ...core.progress import check_time
from ...models.base import NetworkState, StackModel
from ...models.rounding import Operation, Rounded, RoundedSteps
from ..specification import Specification

BOTTOM_CELL = 0  # what an empty stack shows
NO_CELL = -1
SILENT = -1  # no output, or one that does not count
_LONGEST = 40  # symbols of a word: over one symbol there are few words, however long


@dataclass(frozen=True)
class TreeRuns:
    """The runs on N - 1 words, one node each, and the root as node 0; C - 1 pushed values, and the bottom as cell 0.

    Attributes:
        parents: the node without the last letter, (N,); -1 for the root.
        letters: the last letter's number, the end symbol's as the last, (N,); -1 for the root.
        rejected: whether the network rejects there for good, (N,) bool; nothing else is known then.
        operations: what the step did to each stack as the number of an `Operation`, no pops of nothing, (N, S).
        pushed: the cell that the step laid on each stack, (N, S); -1 where it laid none.
        tops: each stack's top cell after the step, (N, S).
        outputs: the number of the output (N,), Python's integers for sets; -1 for none, or one that does not count.
        verdicts: for recognisers, 1 or 0 for the word that ends there, (N,); -1 where none is asked.
        followed: whether all that may come next is in the tree, (N,) bool.
        below: the cell under each, (C,); the bottom's is the bottom.
        stacks: the stack that each cell lies on, (C,); -1 for the bottom.
        makers: the node that pushed each cell, (C,); -1 for the bottom.
        values: the value of each cell, (C, D).
    """

    parents: np.ndarray
    letters: np.ndarray
    rejected: np.ndarray
    operations: np.ndarray
    pushed: np.ndarray
    tops: np.ndarray
    outputs: np.ndarray
    verdicts: np.ndarray
    followed: np.ndarray
    below: np.ndarray
    stacks: np.ndarray
    makers: np.ndarray
    values: np.ndarray


class RunTree:
    """The runs of a rounded network on words that matter, level by level.

    Where all words over the alphabet matter, these are the words that it has not rejected yet, as long as there are not
    too many of a length, and for predictors of sets only predicted symbols are followed. Where only some words are
    meant, they are the task's short ones. Longer words would teach a network's drift.

    Args:
        model: the network, which is rounded here.
        specification: what it was trained to do; None for all words over its alphabet.
        most: how many nodes there may be, but for the first level.
    """

    def __init__(self, model: StackModel[Any], specification: Specification | None, most: int) -> None:
        self.network: Rounded[Any] = Rounded(model)
        self.specification = specification
        self.length = 0  # of the longest words
        self.runs = _root_runs(self.network, self.n_stacks)
        self._frontier = np.zeros(1, np.int64)  # the nodes whose state is known
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
        spelled = self._spelled(self._frontier)
        found = [(i, letter) for i, known in enumerate(spelled) for letter in words.get(known, ())]
        places, letters = np.array(found, np.int64).reshape(-1, 2).T
        return places, letters

    def _spelled(self, nodes: np.ndarray) -> list[Word]:
        letters, columns = self.network.letters, []
        while (nodes > 0).any():
            columns.append(self.runs.letters[nodes])
            nodes = self.runs.parents[nodes]
        if not columns:
            return [()] * len(nodes)
        return [tuple(letters[x] for x in reversed(row) if x >= 0) for row in np.stack(columns, 1).tolist()]

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
        if self.specification is not None and self.specification.partial_domain:
            nodes = np.arange(first, len(self.runs.parents))
            scored = self.specification.scored(self._spelled(nodes))
            if scored is not None:
                self.runs.outputs[nodes[~scored[:, self.length - 1]]] = SILENT
        alive = np.flatnonzero(~did.rejected & ~ended)
        self._frontier, self._state = first + alive, step.state.select(torch.from_numpy(alive))


def _root_runs(network: StackModel[Any], n_stacks: int) -> TreeRuns:
    verdict = SILENT
    if network.task_kind == "recognition" and network.end is None:
        with torch.no_grad():
            state = network.initial_state(1)
            verdict = int((network.decide(state) & ~state.rejected).item())
    return TreeRuns(
        parents=np.full(1, -1),
        letters=np.full(1, -1),
        rejected=np.zeros(1, bool),
        operations=np.zeros((1, n_stacks), np.int64),
        pushed=np.full((1, n_stacks), NO_CELL),
        tops=np.full((1, n_stacks), BOTTOM_CELL),
        outputs=np.full(1, SILENT, object),
        verdicts=np.full(1, verdict),
        followed=np.zeros(1, bool),
        below=np.full(1, BOTTOM_CELL),
        stacks=np.full(1, NO_CELL),
        makers=np.full(1, -1),
        values=np.zeros((1, network.cell_size)),
    )
