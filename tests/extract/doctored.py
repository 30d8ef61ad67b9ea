"""Networks and automata for dyck-2 that are right near the surface and wrong below."""

from dataclasses import replace
from itertools import product
from typing import Any

import torch
from tests.extract.hand_built import HandMachine, Place, Rule, SuperpositionNet
from torch import Tensor

from stacklens.automata.pda import POP, Key, PushdownAutomaton, Transition, push
from stacklens.languages.catalogue import get_language
from stacklens.models.base import ControllerOutput, NetworkState
from stacklens.models.stacks import SuperpositionStack

LETTERS = ("(", ")", "[", "]")
UNIT = 1e-3  # what one level counts for in a hidden vector: far less than what tells states apart


def to_depth(depth: int) -> PushdownAutomaton:
    """Return dyck-2 without its words nested deeper than ``depth``, by counting in the states."""
    names, rules = [f"d{n}" for n in range(depth + 1)], dict[Key, Transition]()
    for n in range(depth):
        for letter, close in ("()", "[]"):
            rules |= {(names[n], letter, (top,)): Transition(names[n + 1], (push(letter),)) for top in "⊥(["}
            rules[names[n + 1], close, (letter,)] = Transition(names[n], (POP,))
    return PushdownAutomaton(tuple(names), LETTERS, ("(", "["), rules, "d0", frozenset(names))


def forgetful(depth: int) -> PushdownAutomaton:
    """Return dyck-2 but that at ``depth`` exactly ] closes ( too; its stack symbols count."""
    cells = [f"{letter}{n}" for n in range(1, depth + 1) for letter in "(["] + ["(+", "[+"]
    rules: dict[Key, Transition] = {}
    for top in ("⊥", *cells):
        level = 0 if top == "⊥" else depth + 1 if top.endswith("+") else int(top[1:])
        for letter, close in ("()", "[]"):
            name = f"{letter}{level + 1}" if level < depth else f"{letter}+"
            rules["q", letter, (top,)] = Transition("q", (push(name),))
            if top.startswith(letter) or (level == depth and close == "]"):
                rules["q", close, (top,)] = Transition("q", (POP,))
    return PushdownAutomaton(("q",), LETTERS, tuple(cells), rules, "q", frozenset("q"))


def dyck_machine() -> HandMachine:
    """Return dyck-2 as a machine that accepts by state: the lowest cell is marked, and state 0 says that it is gone."""
    rules: dict[Place, Rule] = {}
    for letter, (kind, opens) in enumerate(product(range(2), (True, False))):
        for window in (-1, 0, 1, 2, 3):  # nothing, ( and [ at the bottom, ( and [ above it
            if opens:
                cell = kind if window < 0 else kind + 2
                for state in (0, 1):
                    rules[state, letter, ((window,),)] = Rule(1, (("push", cell),), 0)
            elif window >= 0 and window % 2 == kind:
                rules[1, letter, ((window,),)] = Rule(0 if window < 2 else 1, (("pop", 0),), 0)
    return HandMachine(2, LETTERS, 4, 1, 1, "recognition", rules, frozenset({0}))


class _SecretNet(SuperpositionNet):
    """A network for dyck-2 that counts something in a hidden unit, in steps too small to make a cluster.

    Where the count is ``slips_at`` it takes ] for ) and ) for ].
    """

    def __init__(self, slips_at: int) -> None:
        super().__init__(dyck_machine(), no_op=True)
        self.slips_at = slips_at

    def counted(self, count: Tensor, symbols: Tensor) -> Tensor:
        """Return the count after a step on ``symbols``, (B,)."""
        raise NotImplementedError

    def initial_hidden(self, batch: int) -> Tensor:
        return torch.nn.functional.pad(super().initial_hidden(batch), (0, 1))

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        symbols = symbols.expand(len(hidden))
        count = (hidden[:, -1] / UNIT).round()
        cell = torch.cdist(reading.reshape(len(reading), 1, 1), self.values.expand(len(reading), -1, -1)).argmin(-1)
        slips = (symbols % 2 == 1) & (count == self.slips_at)
        answer = super().controller(torch.where(slips, 2 * (cell[:, 0] % 2) + 1, symbols), hidden[:, :-1], reading)
        after = self.counted(count, symbols) * UNIT
        return replace(answer, hidden=torch.cat([answer.hidden, after.unsqueeze(1)], 1))

    def rejects(self, hidden: Tensor, stack: SuperpositionStack) -> Tensor:
        return super().rejects(hidden[:, :-1], stack)

    def decide(self, state: NetworkState[Any]) -> Tensor:
        return super().decide(NetworkState(state.hidden[:, :-1], state.stack, state.rejected))


class SlipperyNet(_SecretNet):
    """One that counts its depth: it slips at one depth, and nowhere else. No finite number of states is enough."""

    def counted(self, count: Tensor, symbols: Tensor) -> Tensor:
        return count + 1 - 2 * (symbols % 2).double()


class LatchedNet(_SecretNet):
    """One that counts how many [ it has read in a row: after so many it slips for ever."""

    def counted(self, count: Tensor, symbols: Tensor) -> Tensor:
        return torch.where(count == self.slips_at, count, torch.where(symbols == 2, count + 1, torch.zeros_like(count)))


def right() -> PushdownAutomaton:
    """Return dyck-2's own automaton."""
    return get_language("dyck-2").automaton


class WornNet(_SecretNet):
    """One that counts every ] that it has read: after so many it slips for ever."""

    def counted(self, count: Tensor, symbols: Tensor) -> Tensor:
        return torch.minimum(count + (symbols == 3), torch.full_like(count, self.slips_at))


class ResidueNet(SuperpositionNet):
    """One that needs what soft operations leave behind: on a cell that holds nothing but its own value it slips.

    Its operations are nearly whole ones, and rounding them makes another network of it.
    """

    def __init__(self) -> None:
        super().__init__(dyck_machine(), no_op=True)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        symbols = symbols.expand(len(hidden))
        away = torch.cdist(reading.reshape(len(reading), 1, 1), self.values.expand(len(reading), -1, -1))
        clean = (away[:, 0].min(-1).values < 1e-9) & (symbols % 2 == 1)
        answer = super().controller(torch.where(clean, 4 - symbols, symbols), hidden, reading)
        return replace(answer, actions=0.9998 * answer.actions + 0.0002 / answer.actions.shape[-1])
