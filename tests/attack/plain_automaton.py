"""A deterministic automaton's run on one word, and membership in languages, from the definitions alone."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stacklens.automata.pda import Output, PushdownAutomaton


@dataclass(frozen=True)
class Run:
    """What an automaton did: ``outputs`` and ``operations`` (one a stack) of the steps it made before it was cut."""

    accepted: bool
    cut: int | None
    operations: tuple[tuple[str, ...], ...]
    outputs: tuple[Output, ...]


def run_automaton(pda: PushdownAutomaton, word: Sequence[str]) -> Run:
    state, stacks = pda.initial, [list[str]() for _ in range(pda.n_stacks)]
    operations, outputs = list[tuple[str, ...]](), list[Output]()
    for step, symbol in enumerate([*word, *([pda.end_marker] if pda.end_marker is not None else [])]):
        rule = pda.transitions.get((state, symbol, tuple(stack[-1] if stack else pda.bottom for stack in stacks)))
        if rule is None:
            return Run(False, step, tuple(operations), tuple(outputs))
        state = rule.target
        for stack, operation in zip(stacks, rule.operations, strict=True):
            if operation.pop:
                stack.pop()
            if operation.push is not None:
                stack.append(operation.push)
        names = {(False, False): "none", (True, False): "pop", (False, True): "push", (True, True): "replace"}
        operations.append(tuple(names[operation.pop, operation.push is not None] for operation in rule.operations))
        outputs.append(rule.output)
    last = outputs[-1] if outputs else pda.initial_output
    accepted = {
        "final state": state in pda.accepting,
        "empty stack": not any(stacks),
        "both": state in pda.accepting and not any(stacks),
        "output": last in pda.accepting_outputs,
    }[pda.acceptance]
    return Run(accepted, None, tuple(operations), tuple(outputs))


def repeated(rng: random.Random, letters: Sequence[str], longest: int) -> tuple[str, ...]:
    """Return u v^n w or u v^m x y^n z with short random parts, or a random word, of about ``longest`` symbols at most.

    Every other one is as deep as it is long where a letter pushes and another pops: blocks of one letter come often.
    """
    parts = [tuple(rng.choices(letters, k=rng.choice((0, 1, 1, 2, 3, 4)))) for _ in range(5)]
    kind = rng.randrange(4)
    if kind == 0:
        return tuple(rng.choices(letters, k=rng.randrange(longest)))
    if kind == 1:
        return parts[0] + parts[1] * (rng.randrange(1, longest) // max(1, len(parts[1]))) + parts[2]
    times = rng.randrange(1, longest // 2)
    v, y = parts[1] or (letters[0],), parts[3] or (letters[-1],)
    if kind == 2:  # equally often
        return parts[0] + v * (times // len(v)) + parts[2] + y * (times // len(v)) + parts[4]
    return parts[0] + v * (times // len(v)) + parts[2] + y * (times // len(y)) + parts[4]


def _balanced(pairs: Mapping[str, str]) -> Callable[[str], bool]:
    def member(word: str) -> bool:
        open_ones = list[str]()
        for symbol in word:
            if symbol in pairs:
                open_ones.append(pairs[symbol])
            elif not open_ones or open_ones.pop() != symbol:
                return False
        return not open_ones

    return member


def _palindrome(word: str) -> bool:
    return re.fullmatch(r"[ab]*c[ab]*", word) is not None and word == word[::-1]


def _ones_and_zeros(word: str) -> bool:
    return re.fullmatch("1+0+", word) is not None and word.count("1") == word.count("0")


MEMBER: dict[str, Callable[[str], bool]] = {
    "parentheses": _balanced({"(": ")"}),
    "dyck-2": _balanced({"(": ")", "[": "]"}),
    "1n0n": _ones_and_zeros,
    "palindrome": _palindrome,
}
