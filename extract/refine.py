"""Refinement: split the cluster or the stack symbol that misled a machine, and build it again.

K-means knows nothing of what a network does with its vectors; a word on which machine and network differ does. It
leads to a head at which the representative of a cluster (or of a stack symbol) does something else than the vector (or
value) that it stands for (`conflict`). The vectors of that cluster are asked what they do there; those that do what the
network did get a centre of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.extract.attempts import Attempt, Judge, Split, minimised
from stacklens.extract.conflict import Conflict, Did, did_at, find_conflict
from stacklens.extract.explore import explore
from stacklens.extract.machine import EMPTY, Machine, StackSymbols
from stacklens.extract.quantise import Clusters, Quantiser
from stacklens.extract.vote import vote
from stacklens.extract.walk import vectors
from stacklens.probe.trace import Trace, trace

__all__ = ["refine"]

_MOST_SPLITS = 40
_PATIENCE = 16  # splits in a row after which no machine was better than the best before
_WORDS = 12  # of those that break a machine, looked at for a conflict that can be resolved
_ASKED = 4_000  # vectors of one cluster that are asked what they do


@dataclass(frozen=True)
class _Pool:
    """The traced vectors: hidden ones (M, H), and values laid on stacks (L, D)."""

    hidden: np.ndarray
    pushed: np.ndarray


def refine(judge: Judge, attempt: Attempt, seen: Trace) -> Iterator[Attempt]:
    """Yield attempts, each with one cluster or stack symbol of the one before it split, and judged.

    It ends with an exact one, when nothing is left to split, or when splits no longer help. As in a walk, each machine
    is explored, and where that is not exact a majority vote may be.

    Args:
        judge: who knows the network's answers.
        attempt: where to begin, with its machine.
        seen: a trace of the judge's network, rounded.
    """
    best, idle = attempt.disagreements, 0
    pool = _Pool(*vectors(judge.model, seen))
    words = [] if attempt.automaton is None else judge.broken_by(attempt.automaton)
    for _ in range(_MOST_SPLITS):
        found = _split(judge, attempt, words, pool)
        if found is None or found.automaton is None or found.machine is None:
            return
        elected = vote(found.machine, seen, judge.complete)
        words = judge.broken_by(found.automaton)
        attempt = replace(found, disagreements=len(words), minority=elected.minority)
        yield attempt
        voted = judge.judged(minimised(replace(attempt, way="refinement and vote"), elected.automaton))
        if words and voted.exact:
            yield voted
            return
        better = best is None or len(words) < best
        best, idle = (len(words), 0) if better else (best, idle + 1)
        if idle >= _PATIENCE:
            return


def _split(judge: Judge, attempt: Attempt, words: Sequence[Word], pool: _Pool) -> Attempt | None:
    """Return the next attempt, not yet judged; None where no conflict was found that a split resolves."""
    machine = attempt.machine
    for word in words[:_WORDS] if machine is not None else ():
        assert machine is not None
        conflict = find_conflict(machine, word, judge.scored(word))
        for new, split in () if conflict is None else _resolutions(machine, conflict, _grown(pool, machine, word)):
            blank = replace(attempt, way="refinement", machine=new, split=replace(split, before=len(words)))
            blank = replace(blank, quantiser=new.quantiser.name, stack_symbols=len(new.symbols.names))
            try:
                return minimised(blank, explore(new, judge.complete))
            except StacklensError:  # no closure
                continue
    return None


def _grown(pool: _Pool, machine: Machine, word: Word) -> _Pool:
    """Return the pool with what the network did on ``word``."""
    try:
        hidden, pushed = vectors(machine.network, trace(machine.network, [word], stacks=False))
    except StacklensError:  # it rejects at once
        return pool
    return _Pool(np.concatenate([pool.hidden, hidden]), np.concatenate([pool.pushed, pushed]))


def _resolutions(machine: Machine, conflict: Conflict, pool: _Pool) -> Iterator[tuple[Machine, Split]]:
    """Yield machines with a split that may resolve the conflict, the likeliest first: the one that alone makes the
    representative do what the network did.
    """
    values = machine.cells([conflict.head.windows]).numpy()
    (by_state,) = did_at(machine, conflict.head, conflict.letter, conflict.hidden[None], values)
    ways = [_split_state(machine, conflict, pool), *_split_symbols(machine, conflict, pool)]
    for way in ways if by_state == conflict.network_did else [*ways[1:], ways[0]]:
        if way is not None:
            yield way


def _split_state(machine: Machine, conflict: Conflict, pool: _Pool) -> tuple[Machine, Split] | None:
    number = conflict.head.state.number
    if number is None or not machine.network.recurrent:
        return None
    quantiser = machine.quantiser
    vectors = _some(pool.hidden[quantiser.assign(pool.hidden) == number], conflict.hidden)
    cells = np.repeat(machine.cells([conflict.head.windows]).numpy(), len(vectors), 0)
    did = did_at(machine, conflict.head, conflict.letter, vectors, cells)
    parts = _parts(vectors, did, conflict)
    centres = {place: quantiser.represent(np.array([place]))[0] for place in _places(quantiser, pool.hidden)}
    centres[number] = parts[0].mean(0) if len(parts[0]) else centres[number]
    new = Clusters(np.array([*(centres[place] for place in sorted(centres)), parts[1].mean(0)]))
    split = _record("state", machine, conflict, quantiser.label(number), parts)
    return Machine(machine.network, machine.symbols, new), split


def _split_symbols(machine: Machine, conflict: Conflict, pool: _Pool) -> Iterator[tuple[Machine, Split]]:
    """Yield a machine for every stack symbol in sight, the tops first."""
    if machine.network.pushes_input or machine.network.action_kind == "none":
        return
    base = machine.cells([conflict.head.windows]).numpy()[0]
    hidden = conflict.hidden
    for place in range(machine.network.depth):
        for stack, window in enumerate(conflict.head.windows):
            number = window[place]
            if number == EMPTY:
                continue
            values = _some(pool.pushed[machine.symbols.assign(pool.pushed) == number], conflict.cells[stack, place])
            cells = np.repeat(base[None], len(values), 0)
            cells[:, stack, place] = values
            did = did_at(machine, conflict.head, conflict.letter, np.repeat(hidden[None], len(values), 0), cells)
            parts = _parts(values, did, conflict)
            centres = machine.symbols.values.copy()
            if len(parts[0]):
                centres[number] = parts[0].mean(0)
            centres = np.concatenate([centres, parts[1].mean(0, keepdims=True)])
            symbols = StackSymbols(tuple(f"s{i}" for i in range(len(centres))), centres)
            split = _record("stack symbol", machine, conflict, machine.symbols.names[number], parts)
            yield Machine(machine.network, symbols, machine.quantiser), split


def _places(quantiser: Quantiser, hidden: np.ndarray) -> list[int]:
    """Return the numbers of the states that there are: all clusters, or the levels that occur."""
    if isinstance(quantiser, Clusters):
        return list(range(len(quantiser.centres)))
    places: list[int] = np.unique(quantiser.assign(hidden)).tolist()
    return places


def _some(members: np.ndarray, one: np.ndarray) -> np.ndarray:
    """Return evenly spaced ones of ``members`` (M, D) with ``one`` (D,) among them, as the last."""
    step = max(1, len(members) // _ASKED)
    return np.concatenate([members[::step], one[None]])


def _parts(vectors: np.ndarray, did: Sequence[Did], conflict: Conflict) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors that do something else than the network did, and those that do the same, (M, D) each.

    The conflict's own vector, the last, is always among the latter.
    """
    same = np.array([one == conflict.network_did for one in did])
    same[-1] = True
    return vectors[~same], vectors[same]


def _record(kind: str, machine: Machine, conflict: Conflict, name: str, parts: tuple[np.ndarray, np.ndarray]) -> Split:
    head = conflict.head
    sizes = len(parts[0]), len(parts[1])
    letter = conflict.letter or ""
    return Split(kind, name, machine.name(head.state), letter, machine.tops(head.windows), conflict.word, sizes, 0)
