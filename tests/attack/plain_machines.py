"""Random tables as networks whose pushed values are not quite those of their cells; their plain runs, and an NNPDA's.

The networks are those of `tests.extract.hand_built`: a window is looked up by the nearest value. A small fault changes
nothing; with a larger one what was pushed is taken for another cell, on some cell first or at some depth.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import torch
from tests.extract.hand_built import NO_CELL, HandMachine, Move, Place, Rule, StrengthNet, SuperpositionNet, _TableNet
from torch import Tensor

from stacklens.automata.pda import Output
from stacklens.models.base import ControllerOutput, S
from stacklens.models.networks.nnpda import NNPDA
from stacklens.models.stacks import StrengthStack, SuperpositionStack


@dataclass(frozen=True)
class PlainRun:
    """What a network did.

    Attributes:
        accepted: whether it accepts the word; who is no recogniser accepts what it does not reject.
        operations: what it does to its stack at each step, up to the one at which it rejects.
        rejected: the step by the end of which it rejects for good, None if it never does.
        margin: how far its nearest decision is from the other side; where that is tiny, rounding errors decide.
        outputs: what it says at each step before it rejects; None from a recogniser.
    """

    accepted: bool
    operations: tuple[str, ...]
    rejected: int | None
    margin: float
    outputs: tuple[Output, ...] | None = None


@dataclass(frozen=True)
class Fault:
    """What is wrong with what a push lays.

    Attributes:
        leak: the share of the top that is added.
        drift: where a cell is laid on its like, it lays the top's value and so much more: such errors add up.
    """

    leak: float = 0.0
    drift: float = 0.0


class _Faulty(_TableNet[S]):
    fault = Fault()

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = super().controller(symbols, hidden, reading)
        laid = answer.pushed + self.fault.leak * reading
        if not self.fault.drift:
            return replace(answer, pushed=laid)
        cells = [(value - self.values.squeeze(-1)).abs().argmin(-1, keepdim=True) for value in (answer.pushed, reading)]
        return replace(answer, pushed=torch.where(cells[0] == cells[1], reading + self.fault.drift, laid))


class FaultyStrengths(_Faulty[StrengthStack], StrengthNet):
    """A strength stack, with all four moves."""

    def __init__(self, machine: HandMachine, fault: Fault) -> None:
        super().__init__(machine)
        self.fault = fault


class FaultySuperposition(_Faulty[SuperpositionStack], SuperpositionNet):
    """A superposition stack, which pushes, pops or does nothing."""

    def __init__(self, machine: HandMachine, fault: Fault) -> None:
        super().__init__(machine, no_op=True)
        self.fault = fault


def random_machine(rng: random.Random, moves: Sequence[Move]) -> HandMachine:
    """Return a random machine with one stack that does something at the first symbol."""
    letters = rng.choice((("a", "b"), ("a", "b", "c")))
    n_states, n_cells, kind = (
        rng.randint(1, 2),
        rng.randint(1, 3),
        rng.choice(("recognition", "next symbol", "next set")),
    )
    density, outputs = rng.choice((0.7, 1.0)), 2 ** len(letters) if kind == "next set" else len(letters)
    rules = dict[Place, Rule]()
    for state, letter, cell in product(range(n_states), range(len(letters)), (NO_CELL, *range(n_cells))):
        if (state == 0 and cell == NO_CELL) or rng.random() < density:
            move = (rng.choice(moves), rng.randrange(n_cells))
            output = rng.randrange(1 if kind == "next set" else 0, outputs)
            rules[state, letter, ((cell,),)] = Rule(rng.randrange(n_states), (move,), output)
    accepting = frozenset(state for state in range(n_states) if rng.random() < 0.6)
    return HandMachine(n_states, letters, n_cells, 1, 1, kind, rules, accepting)  # type: ignore[arg-type]


def run_machine(machine: HandMachine, fault: Fault, word: Sequence[str], rounded: bool) -> PlainRun:
    """Return what the faulty network of ``machine`` does; its actions are whole, so rounding changes nothing."""
    del rounded
    values = [*((cell + 1) / 4 for cell in range(machine.n_cells)), 0.0]  # the empty stack reads 0
    state, stack, expected = 0, list[float](), tuple[str, ...](machine.letters)
    operations, outputs, margin = list[str](), list[Output](), math.inf
    for step, letter in enumerate(word):
        top = stack[-1] if stack else 0.0
        (nearest, cell), (second, _) = sorted((abs(value - top), n) for n, value in enumerate(values))[:2]
        margin = min(margin, second - nearest)
        window = ((NO_CELL if cell == machine.n_cells else cell,),)
        rule = machine.rules.get((state, machine.letters.index(letter), window))
        if rule is None or letter not in expected:
            outputs_said = None if machine.kind == "recognition" else tuple(outputs)
            return PlainRun(False, (*operations, "?"), step, margin, outputs_said)
        (move, laid), state = rule.moves[0], rule.target
        pops = move in ("pop", "replace") and bool(stack)
        if pops:
            stack.pop()
        if move in ("push", "replace"):
            stack.append(top + fault.drift if fault.drift and laid == cell else values[laid] + fault.leak * top)
        pushes = move in ("push", "replace")
        operations.append(("none", "pop", "push", "replace")[pops + 2 * pushes])
        outputs.append(machine.output(rule.output))
        if machine.kind == "next set":
            expected = tuple(x for i, x in enumerate(machine.letters) if rule.output >> i & 1)
    if machine.kind == "recognition":
        return PlainRun(state in machine.accepting, tuple(operations), None, margin)
    return PlainRun(True, tuple(operations), None, margin, tuple(outputs))


# ---- An NNPDA's run on one word, soft or rounded, from Sun et al. 1993 alone: numpy, a list for the stack. ----
def run_nnpda(net: NNPDA, word: Sequence[str], rounded: bool) -> PlainRun:
    """Return the run of a third-order network on ``word`` and the end symbol, if it reads one."""
    letters = [*net.alphabet, *([net.end] if net.end is not None else [])]
    tops, n_states = len(letters) + 1, net.shape.n_states
    weights = {name: value.detach().numpy() for name, value in net.named_parameters()}
    by_state = weights["state_weights"].reshape(n_states, n_states, tops, len(letters))
    by_action = weights["action_weights"].reshape(n_states, tops, len(letters))
    state, stack = np.eye(n_states)[0], list[tuple[int, float]]()
    operations, margin = list[str](), np.inf
    for step, letter in enumerate([*word, *([net.end] if net.end is not None else [])]):
        seen, x = _reading(stack, tops), letters.index(letter)
        drive = np.einsum("ijk,j,k->i", by_state[..., x], state, seen) + weights["state_bias"]
        action = np.tanh((np.einsum("jk,j,k->", by_action[..., x], state, seen) + weights["action_bias"][0]) / 2)
        state = _sigmoid(drive)
        if rounded:
            margin = min(margin, abs(abs(action) - 0.5))
            action = np.sign(action) if abs(action) > 0.5 else 0.0
        lacking = _act(stack, float(action), x)
        popped = action < 0 and lacking < -action
        operations.append("push" if action > 0 else "pop" if popped else "none")
        margin = min(margin, abs(lacking - 0.5), abs(state[-1] - 0.5) if net.shape.trap else np.inf)
        if lacking > 0.5 or (net.shape.trap and state[-1] <= 0.5):
            return PlainRun(False, tuple(operations), step, float(margin))
    length = sum(part for _, part in stack)
    if net.shape.trap:
        accepted, margin = state[-1] > 0.5 and length <= 0.5, min(margin, abs(length - 0.5), abs(state[-1] - 0.5))
    else:
        accepted, margin = state[-1] - length > 0.5, min(margin, abs(state[-1] - length - 0.5))
    return PlainRun(bool(accepted), tuple(operations), None, float(margin))


def _reading(stack: Sequence[tuple[int, float]], tops: int) -> np.ndarray:
    """Return how much of each symbol lies in the top 1 of the stack, and how much is missing to 1."""
    seen, room = np.zeros(tops), 1.0
    for symbol, part in reversed(stack):
        seen[symbol] += min(part, room)
        room -= min(part, room)
    seen[-1] = 1 - seen[:-1].sum()
    return seen


def _act(stack: list[tuple[int, float]], action: float, symbol: int) -> float:
    """Push or pop so much; return how much could not be popped."""
    if action > 0:
        stack.append((symbol, action))
    left = max(0.0, -action)
    while left > 0 and stack:
        top, part = stack.pop()
        if part > left:
            stack.append((top, part - left))
        left = max(0.0, left - part)
    return left


def _sigmoid(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + small), small / (1 + small)))
