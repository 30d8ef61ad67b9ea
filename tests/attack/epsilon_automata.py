"""Random automata with ε-steps, and their runs from the definition alone: lists, one step after the other."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

from tests.attack.awkward_automata import ACCEPTANCES, OUTPUTS, Word

from stacklens.automata.pda import Key, Output, PushdownAutomaton, StackOp, Transition

_ENDLESS = 5_000  # steps: runs of so few heads that end do so long before


class EpsilonRun:
    """What an automaton does on a word; ``cut`` is the number of the letter that it could not read, else None."""

    def __init__(self, pda: PushdownAutomaton, word: Sequence[str]) -> None:
        self.state, self.stack = pda.initial, list[str]()
        self.heads = list[tuple[str, str]]()
        self.outputs, self.height, self.last = list[Output](), 0, pda.initial_output
        self.cut: int | None = None
        self._silent(pda)
        for number, letter in enumerate([*word, *([pda.end_marker] if pda.end_marker is not None else [])]):
            if not self._step(pda, letter):
                self.cut = number
                break
            self._silent(pda)
        empty, final = not self.stack, self.state in pda.accepting
        by = {"output": self.last in pda.accepting_outputs, "both": final and empty, "empty stack": empty}
        self.accepted = self.cut is None and by.get(pda.acceptance, final)
        self.written = [output for output in self.outputs if output is not None]

    def _silent(self, pda: PushdownAutomaton) -> None:
        while self._step(pda, ""):
            pass

    def _step(self, pda: PushdownAutomaton, letter: str) -> bool:
        top = self.stack[-1] if self.stack else pda.bottom
        self.heads.append((self.state, top))
        rule = pda.transitions.get((self.state, letter, (top,)))
        if rule is None:
            return False
        (operation,) = rule.operations
        if operation.pop:
            self.stack.pop()
        if operation.push is not None:
            self.stack.append(operation.push)
        self.state, self.last = rule.target, rule.output
        self.outputs.append(rule.output)
        self.height = max(self.height, len(self.stack))
        return True


def random_parts(rng: Random, letters: Sequence[str], names: Sequence[str] = ()) -> dict[str, Any]:
    """Return the arguments of an automaton, which may take ε-steps for ever."""
    states = [names[i] if names else f"q{i}" for i in range(rng.randint(1, 4))]
    cells = [names[-1 - i] if names else "AB"[i] for i in range(rng.randint(1, 2))]
    said = rng.choice((OUTPUTS[:1], OUTPUTS[:3], OUTPUTS))
    end = rng.choice((None, "⊣"))
    density, silent = rng.choice((0.5, 0.8, 1.0)), rng.choice((0.1, 0.25, 0.4))
    transitions: dict[Key, Transition] = {}
    for state, top in product(states, ("⊥", *cells)):
        read = [""] if rng.random() < silent else [*letters, *([] if end is None else [end])]
        for letter in read:
            if letter == "" or rng.random() < density:
                pop = top != "⊥" and rng.random() < 0.5
                laid = rng.choice(cells) if rng.random() < (0.2 if pop else 0.5) else None
                transitions[state, letter, (top,)] = Transition(
                    rng.choice(states), (StackOp(pop, laid),), rng.choice(said)
                )
    return {
        "states": tuple(states),
        "input_alphabet": tuple(letters),
        "stack_alphabet": tuple(cells),
        "transitions": transitions,
        "initial": states[0],
        "accepting": frozenset(state for state in states if rng.random() < 0.5),
        "acceptance": rng.choice(ACCEPTANCES),
        "end_marker": end,
        "initial_output": rng.choice(said),
        "accepting_outputs": frozenset(output for output in OUTPUTS if rng.random() < 0.5),
    }


def goes_on_for_ever(transitions: Mapping[Key, Transition], state: str, top: str) -> bool:
    """Return whether the ε-steps from a head never end and never take the cell on top away."""
    stack = [] if top == "⊥" else [top]
    for _ in range(_ENDLESS):
        rule = transitions.get((state, "", (stack[-1] if stack else "⊥",)))
        if rule is None:
            return False
        (operation,) = rule.operations
        if operation.pop:
            stack.pop()
        if operation.push is not None:
            stack.append(operation.push)
        if top != "⊥" and not stack:
            return False
        state = rule.target
    return True


def jflap_accepts(text: str, word: Word) -> bool:
    """Return whether JFLAP accepts ``word``, of one-character symbols, by final state: some way of taking the rules."""
    root = ET.fromstring(text)
    rules = [
        tuple(rule.findtext(tag) or "" for tag in ("from", "to", "read", "pop", "push"))
        for rule in root.iter("transition")
    ]
    start = next(state.get("id") for state in root.iter("state") if state.find("initial") is not None)
    final = {state.get("id") for state in root.iter("state") if state.find("final") is not None}
    seen = {(start, "".join(word), "Z")}
    waiting = list(seen)
    while waiting:
        state, left, stack = waiting.pop()
        if not left and state in final:
            return True
        for source, target, read, pop, pushed in rules:
            if source == state and left.startswith(read) and stack.startswith(pop):
                after = (target, left[len(read) :], pushed + stack[len(pop) :])
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
    return False
