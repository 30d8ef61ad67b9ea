"""Refinement: find what misled a machine on a word, split that cluster or stack symbol, and build the machine again."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import torch

from ...automata.pda import Symbol, Word
from ...core.errors import StacklensError
from ...models.base import NetworkState
from ...probe.trace import trace
from .candidates import Candidate, ClusterSplit, Scorer, minimised
from .machine import EMPTY_CELL, Clusters, Machine, MachineHead, RoundedStep, StackSymbols, explore, vectors

_WORDS = 12  # of those that break a machine, looked at for a conflict that can be resolved
_ASKED = 4_000  # vectors of one cluster that are asked what they do


@dataclass(frozen=True)
class Conflict:
    """A head at which the machine does not do what the network did."""

    word: Word  # where it was seen
    head: MachineHead  # the head, at which both were
    letter: Symbol | None  # what was read, None for the end of the word
    hidden: np.ndarray  # the network's hidden vector there, (H,)
    cells: np.ndarray  # the values that it saw, (n_stacks, depth, D), NaN where there are none
    # machine_did, network_did: the conflict
    machine_did: RoundedStep
    network_did: RoundedStep


@torch.no_grad()
def _did_at(
    machine: Machine, head: MachineHead, letter: Symbol | None, hidden: np.ndarray, cells: np.ndarray
) -> list[RoundedStep]:
    """Return what the network does at ``head`` on ``letter`` (None: the verdict), with other vectors and values there.

    ``hidden``: (M, H). ``cells``: what is seen of the stacks, (M, n_stacks, depth, D), NaN where there is nothing.
    """
    like = machine.state_of([head])
    output = None if like.output is None else like.output.expand(len(hidden), -1)
    stack = machine.network.stack_of(torch.from_numpy(cells).to(like.hidden.dtype))
    never = torch.zeros(len(hidden), dtype=torch.bool)
    state = NetworkState(torch.from_numpy(hidden).to(like.hidden.dtype), stack, never, output)
    if letter is None:
        return [RoundedStep(accepted=good) for good in machine.network.decide(state).tolist()]
    symbols = torch.full((len(hidden),), machine.network.letters.index(letter))
    return machine.steps_at([head.windows] * len(hidden), machine.steps(machine.network.step(symbols, state)))


class _MachineRun:
    """The head of a run, and what lies on its stacks: the symbols' numbers, and the values that they stand for."""

    def __init__(self, machine: Machine) -> None:
        self.depth, self.cell_size = machine.network.depth, machine.symbols.values.shape[1]
        self.state = machine.start.state
        self.numbers: list[list[int]] = [[] for _ in range(machine.n_stacks)]
        self.values: list[list[np.ndarray]] = [[] for _ in range(machine.n_stacks)]

    @property
    def head(self) -> MachineHead:
        seen = [tuple(reversed(cells[-self.depth :])) for cells in self.numbers]
        return MachineHead(self.state, tuple((*top, *[EMPTY_CELL] * (self.depth - len(top))) for top in seen))

    def seen(self) -> np.ndarray:
        """Return the values at the top, (n_stacks, depth, D), NaN where there are none."""
        cells = np.full((len(self.values), self.depth, self.cell_size), np.nan)
        for stack, values in enumerate(self.values):
            for place, value in enumerate(reversed(values[-self.depth :])):
                cells[stack, place] = value
        return cells

    def go_on(self, did: RoundedStep, pushed: np.ndarray) -> None:
        """Do what was ``did`` with the values ``pushed``, (n_stacks, D)."""
        assert did.target is not None
        self.state = did.target
        for stack, (operation, number) in enumerate(did.operations):
            if operation.pops:
                self.numbers[stack].pop()
                self.values[stack].pop()
            if number is not None:
                self.numbers[stack].append(number)
                self.values[stack].append(pushed[stack])


@torch.no_grad()
def find_conflict(machine: Machine, word: Word, scored: np.ndarray | None = None) -> Conflict | None:
    """Return the head to blame for the machine's answer to ``word``, None if it answers as its network does.

    An early rejection by one counts as another answer. Only ``scored`` answers, (T,) bool, count.
    """
    network = machine.network
    state = network.initial_state(1)
    mine, theirs = _MachineRun(machine), _MachineRun(machine)
    blamed: Conflict | None = None
    end = [network.end] if network.end is not None else []
    verdict = [None] if network.task_kind == "recognition" else []
    for t, letter in enumerate([*word, *end, *verdict]):
        head, hidden, cells = theirs.head, state.hidden.numpy(), theirs.seen()
        here = mine.head
        values = machine.cells([here.windows]).numpy()  # those that the machine takes its stack symbols for
        (machine_did,) = _did_at(machine, here, letter, machine.vectors([here.state]).numpy(), values)
        if letter is None:
            network_did = RoundedStep(accepted=bool(network.decide(state)))
        else:
            step = network.step(torch.tensor([network.letters.index(letter)]), state)
            (network_did,), state = machine.steps_at([head.windows], machine.steps(step)), step.state
        if here == head and machine_did != network_did:
            blamed = Conflict(word, here, letter, hidden[0], cells, machine_did, network_did)
        counts = scored is None or (t < len(scored) and bool(scored[t]))
        answers = {(did.rejected, did.output, did.accepted) for did in (machine_did, network_did)}
        if counts and len(answers) > 1:
            return blamed
        if letter is None or machine_did.rejected or network_did.rejected:
            return None
        nothing = np.zeros((machine.n_stacks, theirs.cell_size))
        mine.go_on(machine_did, nothing)
        pushed = np.broadcast_to(step.pushed[0].numpy(), nothing.shape) if network.n_stacks else nothing
        theirs.go_on(network_did, pushed)
    return None


def split_cluster(
    scorer: Scorer, candidate: Candidate, counterexamples: Sequence[Word], pool: tuple[np.ndarray, np.ndarray]
) -> Candidate | None:
    """Return a candidate with the cluster or stack symbol split that misled it on ``counterexamples``, not yet scored.

    The parts are made of vectors of the ``pool``, hidden ones and values laid on stacks (see `vectors`). None where no
    conflict was found that a split resolves.
    """
    machine = candidate.machine
    if machine is None:
        return None
    for word in counterexamples[:_WORDS]:
        conflict = find_conflict(machine, word, scorer.scored(word))
        if conflict is None:
            continue

        # what the network did on the word is split, too
        hidden, pushed = pool
        with suppress(StacklensError):  # it rejects at once
            further = vectors(machine.network, trace(machine.network, [word], stacks=False))
            hidden, pushed = (np.concatenate(pair) for pair in zip((hidden, pushed), further, strict=True))
        ways = [_split_state(machine, conflict, hidden), *_split_symbols(machine, conflict, pushed)]

        # the likeliest first: that which alone makes the representative do what the network did
        values = machine.cells([conflict.head.windows]).numpy()
        (by_state,) = _did_at(machine, conflict.head, conflict.letter, conflict.hidden[None], values)
        for way in ways if by_state == conflict.network_did else [*ways[1:], ways[0]]:
            if way is None:
                continue
            new, split = way[0], replace(way[1], before=len(counterexamples))
            blank = replace(candidate, way="refinement", machine=new, split=split)
            blank = replace(blank, quantiser=new.quantiser.name, stack_symbols=len(new.symbols.names))
            try:
                return minimised(blank, explore(new, scorer.complete))
            except StacklensError:  # no closure
                continue
    return None


def _split_state(machine: Machine, conflict: Conflict, hidden: np.ndarray) -> tuple[Machine, ClusterSplit] | None:
    number = conflict.head.state.number
    if number is None or not machine.network.recurrent:
        return None
    quantiser = machine.quantiser
    some = _sample_with(hidden[quantiser.assign(hidden) == number], conflict.hidden)
    cells = np.repeat(machine.cells([conflict.head.windows]).numpy(), len(some), 0)
    did = _did_at(machine, conflict.head, conflict.letter, some, cells)
    others, same, split = _divided("state", quantiser.label(number), machine, conflict, some, did)
    # the states that there are: all clusters, or the levels that occur
    numbers = range(len(quantiser.centres)) if isinstance(quantiser, Clusters) else np.unique(quantiser.assign(hidden))
    centres = {int(place): quantiser.represent(np.array([place]))[0] for place in numbers}
    centres[number] = others.mean(0) if len(others) else centres[number]
    new = Clusters(np.array([*(centres[place] for place in sorted(centres)), same.mean(0)]))
    return Machine(machine.network, machine.symbols, new), split


def _split_symbols(machine: Machine, conflict: Conflict, pushed: np.ndarray) -> Iterator[tuple[Machine, ClusterSplit]]:
    if machine.network.pushes_input or machine.network.action_kind == "none":
        return
    base = machine.cells([conflict.head.windows]).numpy()
    for place in range(machine.network.depth):
        for stack, window in enumerate(conflict.head.windows):
            number = window[place]
            if number == EMPTY_CELL:
                continue
            values = _sample_with(pushed[machine.symbols.assign(pushed) == number], conflict.cells[stack, place])
            cells = np.repeat(base, len(values), 0)
            cells[:, stack, place] = values
            hidden = np.repeat(conflict.hidden[None], len(values), 0)
            did = _did_at(machine, conflict.head, conflict.letter, hidden, cells)
            name = machine.symbols.names[number]
            others, same, split = _divided("stack symbol", name, machine, conflict, values, did)
            centres = machine.symbols.values.copy()
            if len(others):
                centres[number] = others.mean(0)
            centres = np.concatenate([centres, same.mean(0, keepdims=True)])
            symbols = StackSymbols(tuple(f"s{i}" for i in range(len(centres))), centres)
            yield Machine(machine.network, symbols, machine.quantiser), split


def _sample_with(members: np.ndarray, one: np.ndarray) -> np.ndarray:
    """Return evenly spaced ones of ``members`` (M, D) with ``one`` (D,) among them, as the last."""
    step = max(1, len(members) // _ASKED)
    return np.concatenate([members[::step], one[None]])


def _divided(
    kind: str, name: str, machine: Machine, conflict: Conflict, vectors: np.ndarray, did: Sequence[RoundedStep]
) -> tuple[np.ndarray, np.ndarray, ClusterSplit]:
    """Return the vectors that do something else than the network did, and the others, its own last, (M, D) each."""
    same = np.array([one == conflict.network_did for one in did])
    same[-1] = True
    head, sizes = conflict.head, (int((~same).sum()), int(same.sum()))
    state, tops = machine.name(head.state), machine.tops(head.windows)
    split = ClusterSplit(kind, name, state, conflict.letter or "", tops, conflict.word, sizes, 0)
    return vectors[~same], vectors[same], split
