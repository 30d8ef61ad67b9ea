"""Close the transition table over every reachable head with the network itself (Sun et al. 1993, section 4.1).

At a head, a state's representative and stack symbols' values, the rounded network answers with an operation and a next
hidden vector, whose state is the quantiser's. The initial hidden vector is a state of its own. Only heads that some
word reaches are asked; where the rounded network rejects, the automaton has no transition.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from stacklens.automata.pda import Key, Output, PushdownAutomaton, State, Symbol, Tops, Transition
from stacklens.automata.reachability import reachable_heads
from stacklens.errors import StacklensError
from stacklens.extract.machine import BOTTOM, START, Head, Machine, MachineState, Window

__all__ = ["Table", "explore"]

_NO_OUTPUTS: frozenset[Output] = frozenset()
_MOST_COMBINATIONS = 500_000  # of states and tops of several stacks, whose reachable heads are over-approximated


@dataclass
class Table:
    """A transition table under construction: rules by name, and what the names stand for."""

    machine: Machine
    rules: dict[Key, Transition] = field(default_factory=dict)
    states: dict[State, MachineState] = field(default_factory=dict)
    windows: dict[Symbol, Window] = field(default_factory=dict)

    def __post_init__(self) -> None:
        start = self.machine.start
        self.states[START] = start.state
        self.windows[BOTTOM] = start.windows[0]

    def state(self, state: MachineState) -> State:
        """Return the name of a state, which is then known."""
        name = self.machine.name(state)
        self.states.setdefault(name, state)
        return name

    def window(self, window: Window) -> Symbol:
        """Return the name of a window, which is then known."""
        name = self.machine.symbols.window_name(window)
        self.windows.setdefault(name, window)
        return name

    def head(self, state: State, tops: Tops) -> Head:
        """Return the head that names stand for."""
        return Head(self.states[state], tuple(self.windows[top] for top in tops))

    def automaton(self, complete: frozenset[Output] = _NO_OUTPUTS) -> PushdownAutomaton:
        """Return the automaton of the rules so far.

        A recogniser accepts in the states that decide for the word on empty stacks, and with any stacks if its
        decisions do not depend on them. A predictor accepts by its last output, where the outputs that say that a word
        is ``complete`` are known. All else accepts what it can read.
        """
        network = self.machine.network
        accepting, acceptance = frozenset(self.states), "final state"
        if network.task_kind == "recognition":
            accepting = self._deciding(self.machine.empty)
            acceptance = "final state" if self._decides_by_state(accepting) else "both"
        elif complete:
            accepting, acceptance = frozenset(), "output"
        kind: Literal["final state", "both", "output"] = acceptance  # type: ignore[assignment]
        return PushdownAutomaton(
            states=tuple(self.states),
            input_alphabet=network.alphabet,
            stack_alphabet=tuple(name for name in self.windows if name != BOTTOM),
            transitions=self.rules,
            initial=START,
            accepting=accepting,
            acceptance=kind,
            bottom=BOTTOM,
            n_stacks=self.machine.n_stacks,
            end_marker=network.end,
            initial_output=self._initial_output(),
            accepting_outputs=complete,
        )

    def _decides_by_state(self, accepting: frozenset[State]) -> bool:
        """Return whether the states ``accepting`` on empty stacks, and only they, decide for words on other stacks."""
        filled = [window for name, window in self.windows.items() if name != BOTTOM]
        if not filled or not accepting:
            return False
        return all(self._deciding((window,) * self.machine.n_stacks) == accepting for window in filled)

    def _deciding(self, windows: tuple[Window, ...]) -> frozenset[State]:
        heads = [Head(state, windows) for state in self.states.values()]
        decided = self.machine.network.decide(self.machine.state_of(heads)).tolist()
        return frozenset(name for name, good in zip(self.states, decided, strict=True) if good)

    def _initial_output(self) -> Output:
        network = self.machine.network
        if network.task_kind != "next set":
            return None
        return tuple(symbol for symbol in network.alphabet if network.first is None or symbol in network.first)


def explore(
    machine: Machine, complete: frozenset[Output] = _NO_OUTPUTS, max_states: int = 1_000, max_heads: int = 20_000
) -> PushdownAutomaton:
    """Return the automaton of ``machine``, closed over every head that some word reaches.

    Raises:
        StacklensError: more than ``max_states`` states or ``max_heads`` heads are reached, or several stacks have too
            many tops to combine; what was seen in traces is left then (`vote`).
    """
    table = Table(machine)
    asked: set[tuple[State, Tops]] = set()
    fresh = [(START, (BOTTOM,) * machine.n_stacks)]
    while fresh:
        asked |= set(fresh)
        for (head, letter), answer in machine.ask([table.head(*names) for names in fresh]).items():
            for window in answer.pushed:
                if window is not None:
                    table.window(window)
            key = (machine.name(head.state), letter, machine.tops(head.windows))
            table.rules[key] = Transition(table.state(answer.target), answer.operations, answer.output)
        if len(table.states) > max_states or len(asked) > max_heads:
            raise StacklensError(f"{machine.quantiser.name}: {len(table.states)} states are reached, and more to come")
        if machine.n_stacks > 1 and len(table.states) * len(table.windows) ** machine.n_stacks > _MOST_COMBINATIONS:
            raise StacklensError(f"{len(table.windows)} tops of {machine.n_stacks} stacks are too many to combine")
        fresh = sorted(reachable_heads(table.automaton(complete)) - asked)
    return table.automaton(complete)
