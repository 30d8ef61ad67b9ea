"""From what a rounded network does on short words to automata that do the same: candidates, each scored.

What decides is behaviour: pushed values become stack symbols (`tail_symbols`), the tree of all short runs becomes a
partial machine over letters and tops (`evidence`), and its nodes are merged into states (`red_blue`). Long words would
teach a network's drift: they only judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from stacklens.automata.pda import Key, Output, PushdownAutomaton, Symbol, Transition
from stacklens.extract.search.candidates import LEARNING, Candidate, Scorer, cost, minimised
from stacklens.extract.search.learning.evidence import DIES, VERDICT, Entry, Evidence, gather
from stacklens.extract.search.learning.red_blue import merged_states
from stacklens.extract.search.learning.run_tree import SILENT, RunTree
from stacklens.extract.search.learning.tail_symbols import (
    CellSymbols,
    clustered_symbols,
    letter_symbols,
    tail_symbols,
)
from stacklens.extract.search.machine import BOTTOM, StackSymbols
from stacklens.extract.search.transition_table import initial_output
from stacklens.models.base import StackModel

__all__ = ["learned_candidates"]

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
