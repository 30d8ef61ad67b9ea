"""An automaton's run on one word as plain data: what a browser needs to follow it by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklens.automata.formats.dot import rule
from stacklens.automata.pda import PushdownAutomaton, Word

__all__ = ["AutomatonRun", "automaton_run", "run_data"]


@dataclass(frozen=True)
class AutomatonRun:
    """What a run does at each letter, until it is cut short.

    Attributes:
        moves: the number of the rule of each step in ``pda.transitions``, ε-steps too.
        taken: how many moves there have been once each letter and its ε-steps are read; as long as the run goes.
        states: the state then, as its number in ``pda.states``.
        tops: the topmost symbol of every stack then, as its number in ``pda.stack_alphabet``, -1 where it is empty.
        heights: how high every stack is then.
        pushed: what each letter's steps have pushed to every stack, as a number, -1 for nothing.
        operations: what they do to every stack: "push", "pop", "replace" or "none", the last one that is not "none".
        stuck: why the run ends early, or None.
    """

    moves: list[int]
    taken: list[int]
    states: list[int]
    tops: list[list[int]]
    heights: list[list[int]]
    pushed: list[list[int]]
    operations: list[list[str]]
    stuck: str | None


def automaton_run(pda: PushdownAutomaton, word: Word) -> AutomatonRun:
    """Return the run of ``pda`` on ``word``; with an end marker it is read as a last letter.

    Raises:
        UnknownSymbolError: the word has a symbol that the automaton does not read.
    """
    rules = {key: number for number, key in enumerate(pda.transitions)}
    states = {state: number for number, state in enumerate(pda.states)}
    symbols = {symbol: number for number, symbol in enumerate(pda.stack_alphabet)}
    run = AutomatonRun([], [], [], [], [], [], [], None)
    here, letters = pda.start, 0
    for key, after in pda.moves(word):
        step = pda.transitions[key]
        run.moves.append(rules[key])
        here, letters = after, letters + bool(key[1])
        if not letters:  # an ε-step before the first letter
            continue
        if key[1]:
            run.operations.append(["none"] * pda.n_stacks)
            run.taken.append(0)
            run.states.append(0)
            run.tops.append([])
            run.heights.append([])
            run.pushed.append([-1] * pda.n_stacks)
        for stack, operation in enumerate(step.operations):
            if operation.name != "none":
                run.operations[-1][stack] = operation.name
            if operation.push is not None:
                run.pushed[-1][stack] = symbols[operation.push]
        run.taken[-1], run.states[-1] = len(run.moves), states[after.state]
        run.tops[-1] = [symbols[stack[-1]] if stack else -1 for stack in after.stacks]
        run.heights[-1] = [len(stack) for stack in after.stacks]
    read = (*word, *pda.letters[len(pda.input_alphabet) :])
    if letters < len(read):
        tops = " ".join(here.tops(pda.bottom))
        stuck = f"rejected: {here.state} has no transition on {read[letters]} with {tops} on top"
        return AutomatonRun(**{**run.__dict__, "stuck": stuck})
    return run


def run_data(pda: PushdownAutomaton, run: AutomatonRun) -> dict[str, Any]:
    """Return the run with the automaton's rules: of each from, to, operations as [pop, push], and what it is called."""
    places = {state: number for number, state in enumerate(pda.states)}
    rules = [
        [places[key[0]], places[step.target], [[op.pop, op.push] for op in step.operations], rule(key, step)]
        for key, step in pda.transitions.items()
    ]
    return {
        "states": list(pda.states),
        "symbols": list(pda.stack_alphabet),
        "initial": places[pda.initial],
        "stacks": pda.n_stacks,
        "bottom": pda.bottom,
        "rules": rules,
        "moves": run.moves,
        "taken": run.taken,
        "after": run.states,
        "stuck": run.stuck,
    }
