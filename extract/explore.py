"""Close the transition table over every reachable head with the network itself (Sun et al. 1993, section 4.1).

For a state's representative, the top's value and a symbol the rounded network answers with an operation and a next
hidden vector, whose state is the quantiser's. The initial hidden vector is a state of its own. Only heads that some
word reaches are followed; where the rounded network rejects, the automaton has no transition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stacklens.automata.pda import Key, PushdownAutomaton, StackOp, Transition
from stacklens.automata.reachability import reachable_heads
from stacklens.errors import StacklensError
from stacklens.extract.quantise import Quantiser
from stacklens.models.base import StackModel, State
from stacklens.models.rounding import Rounded

__all__ = ["BOTTOM", "START", "StackHeads", "accepting_states", "assemble", "explore"]

START = "start"
BOTTOM = "⊥"


@dataclass(frozen=True)
class StackHeads:
    """The stacks that a head may show, built with the network's own stack: one empty, one for every stack symbol.

    Attributes:
        symbols: the stack alphabet; a network that pushes what it reads has the letters themselves.
        state: the initial state of the network with each of these stacks, the empty one first.
    """

    symbols: tuple[str, ...]
    state: State[Any]

    @classmethod
    def of(cls, network: Rounded[Any]) -> StackHeads:
        """Return the heads of a network that pushes the symbol it reads."""
        letters = (*network.alphabet, *([network.end] if network.end is not None else []))
        start = network.initial_state(len(letters) + 1)
        values = network.controller(torch.arange(len(letters)), *_first(start, len(letters))).pushed
        values = torch.cat([torch.zeros_like(values[:1]), values])
        pushes = torch.ones(len(values), 1, 1, dtype=start.hidden.dtype)
        pushes[0] = 0  # the empty stack
        return cls(letters, State(start.hidden, start.stack.next(pushes, values), start.rejected))


def _first(state: State[Any], count: int) -> tuple[torch.Tensor, torch.Tensor]:
    part = state.select(torch.arange(count))
    return part.hidden, part.stack.reading()


@torch.no_grad()
def explore(model: StackModel[Any], quantiser: Quantiser, max_states: int = 1_000) -> PushdownAutomaton:
    """Return the discrete machine that ``model`` becomes with rounded actions and ``quantiser``'s states.

    Raises:
        StacklensError: more than ``max_states`` states are reached.
    """
    network = Rounded(model)
    heads = StackHeads.of(network)
    numbers: dict[str, int] = {}  # states found so far, in the order found
    rules: dict[Key, Transition] = {}
    accepting: set[str] = set()
    fresh: list[str] = [START]
    while fresh:
        vectors = _representatives(network, quantiser, fresh, numbers)
        accepting |= accepting_states(network, heads, fresh, vectors)
        rules |= _rows(network, heads, quantiser, fresh, vectors, numbers)
        if len(numbers) >= max_states:
            raise StacklensError(f"{quantiser.name}: more than {max_states} states are reached")
        pda = assemble(network, heads, rules, accepting, numbers)
        done = {state for state, _, _ in rules} | set(fresh)
        reached = dict.fromkeys(state for state, _ in sorted(reachable_heads(pda)))
        fresh = [state for state in reached if state not in done]
    return pda


def _representatives(
    network: Rounded[Any], quantiser: Quantiser, states: list[str], numbers: dict[str, int]
) -> torch.Tensor:
    if states == [START]:
        return network.initial_state(1).hidden
    vectors = quantiser.represent(np.array([numbers[state] for state in states]))
    return torch.from_numpy(vectors)


def accepting_states(network: Rounded[Any], heads: StackHeads, states: list[str], vectors: torch.Tensor) -> set[str]:
    """Return which of ``states``, with ``vectors`` (M, H) to stand for them, decide for the word on an empty stack."""
    empty = heads.state.stack.select(torch.zeros(len(vectors), dtype=torch.int64))
    never = torch.zeros(len(vectors), dtype=torch.bool)
    decided = network.decide(State(vectors, empty, never)).tolist()
    return {state for state, good in zip(states, decided, strict=True) if good}


def _rows(
    network: Rounded[Any],
    heads: StackHeads,
    quantiser: Quantiser,
    states: list[str],
    vectors: torch.Tensor,
    numbers: dict[str, int],
) -> dict[Key, Transition]:
    """Return the transitions from ``states`` for every top and symbol, in one batch; new states get numbers."""
    tops = (BOTTOM, *heads.symbols)
    letters = (*network.alphabet, *([network.end] if network.end is not None else []))
    grid = torch.cartesian_prod(torch.arange(len(states)), torch.arange(len(letters)), torch.arange(len(tops)))
    state, letter, top = grid.unbind(1)
    never = torch.zeros(len(grid), dtype=torch.bool)
    step = network.step(letter, State(vectors[state], heads.state.stack.select(top), never))
    targets = quantiser.assign(step.hidden.numpy())
    actions = step.actions[:, 0, 0].tolist()
    rejected = step.state.rejected.tolist()
    rules: dict[Key, Transition] = {}
    for (q, x, s), number, action, dead in zip(grid.tolist(), targets.tolist(), actions, rejected, strict=True):
        if dead:
            continue
        target = quantiser.label(number)
        numbers.setdefault(target, number)
        operation = StackOp(pop=action < 0, push=letters[x] if action > 0 else None)
        rules[states[q], letters[x], (tops[s],)] = Transition(target, (operation,))
    return rules


def assemble(
    network: Rounded[Any], heads: StackHeads, rules: dict[Key, Transition], accepting: set[str], states: Iterable[str]
) -> PushdownAutomaton:
    """Return the automaton with ``states`` after the initial one, over the network's alphabet and end symbol."""
    return PushdownAutomaton(
        states=(START, *states),
        input_alphabet=network.alphabet,
        stack_alphabet=heads.symbols,
        transitions=rules,
        initial=START,
        accepting=frozenset(accepting),
        acceptance="both",
        bottom=BOTTOM,
        end_marker=network.end,
    )
