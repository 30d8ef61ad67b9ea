"""Random automata with cuts, outputs, end markers and awkward names, and their runs from the definition alone."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random

from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.pda import Acceptance, Key, Output, PushdownAutomaton, StackOp, Transition

Word = tuple[str, ...]
ACCEPTANCES: tuple[Acceptance, ...] = ("final state", "empty stack", "both", "output")
OUTPUTS: tuple[Output, ...] = (None, "0", "1", ("0", "1"), ())
PLAIN = ("a", "b", "c")
_NAMES = r"""a b ab (a b) ε λ ⊥' Z # " ' \ \n -> → / 🙂 é <b> &amp; {x} %s None 0 -1 ; -- --> [ ] [/] q0 sink _"""
AWKWARD = (*_NAMES.split(), " ", "\n", "a b", "a, b")
ENDS: tuple[str | None, ...] = (None, None, "⊣")


class Run:
    """What an automaton does on a word: ``cut`` says whether a transition was missing, ``heads`` where it was."""

    def __init__(self, pda: PushdownAutomaton, word: Word) -> None:
        self.state, self.stacks = pda.initial, [list[str]() for _ in range(pda.n_stacks)]
        self.outputs = list[Output]()
        self.keys = list[Key]()
        self.cut, self.height = False, 0
        for symbol in (*word, *([] if pda.end_marker is None else [pda.end_marker])):
            key = (self.state, symbol, self.tops(pda))
            step = pda.transitions.get(key)
            if step is None:
                self.cut = True
                break
            for stack, operation in zip(self.stacks, step.operations, strict=True):
                if operation.pop:
                    del stack[-1]
                if operation.push is not None:
                    stack.append(operation.push)
            self.state = step.target
            self.keys.append(key)
            self.outputs.append(step.output)
            self.height = max(self.height, *map(len, self.stacks))
        last = self.outputs[-1] if self.outputs else pda.initial_output
        empty, final = all(not stack for stack in self.stacks), self.state in pda.accepting
        by = {"output": last in pda.accepting_outputs, "both": final and empty, "empty stack": empty}
        self.accepted = not self.cut and by.get(pda.acceptance, final)

    def tops(self, pda: PushdownAutomaton) -> Word:
        return tuple(stack[-1] if stack else pda.bottom for stack in self.stacks)


def words_over(letters: Sequence[str], longest: int) -> list[Word]:
    return [word for length in range(longest + 1) for word in product(letters, repeat=length)]


def random_automaton(
    rng: Random, letters: Sequence[str], n_stacks: int = 1, names: Sequence[str] = (), end: str | None = None
) -> PushdownAutomaton:
    states = [names[i] if names else f"q{i}" for i in range(rng.randint(1, 4))]
    cells = [names[-1 - i] if names else "ABC"[i] for i in range(rng.randint(1, 3))]
    said = rng.choice((OUTPUTS[:1], OUTPUTS[:3], OUTPUTS))
    density = rng.choice((0.4, 0.7, 0.9, 1.0))
    transitions: dict[Key, Transition] = {}
    for key in product(states, (*letters, *([] if end is None else [end])), product(("⊥", *cells), repeat=n_stacks)):
        if rng.random() < density:
            operations = tuple(_operation(rng, top == "⊥", cells) for top in key[2])
            transitions[key] = Transition(rng.choice(states), operations, rng.choice(said))
    return PushdownAutomaton(
        tuple(states),
        tuple(letters),
        tuple(cells),
        transitions,
        rng.choice(states),
        frozenset(state for state in states if rng.random() < 0.5),
        rng.choice(ACCEPTANCES),
        n_stacks=n_stacks,
        end_marker=end,
        initial_output=rng.choice(said),
        accepting_outputs=frozenset(output for output in OUTPUTS if rng.random() < 0.5),
    )


def _operation(rng: Random, empty: bool, cells: Sequence[str]) -> StackOp:
    pop = not empty and rng.random() < 0.5
    return StackOp(pop, rng.choice(cells) if rng.random() < (0.3 if pop else 0.6) else None)


def changed(rng: Random, pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton with one transition less, more, or another one."""
    transitions = dict(pda.transitions)
    keys = [*product(pda.states, pda.letters, product(("⊥", *pda.stack_alphabet), repeat=pda.n_stacks))]
    key = rng.choice(keys)
    old = transitions.pop(key, None)
    if old is None or rng.random() < 0.7:
        operations = tuple(_operation(rng, top == "⊥", pda.stack_alphabet) for top in key[2])
        target = rng.choice(pda.states)
        if old is not None and rng.random() < 0.5:
            operations, target = (old.operations, target) if rng.random() < 0.5 else (operations, old.target)
        transitions[key] = Transition(target, operations, rng.choice(OUTPUTS))
    return replace(pda, transitions=transitions)


def random_domain(rng: Random, letters: Sequence[str]) -> FiniteAutomaton:
    states = [f"d{i}" for i in range(rng.randint(1, 3))]
    steps = {key: rng.choice(states) for key in product(states, letters) if rng.random() < 0.8}
    return FiniteAutomaton(
        tuple(states), tuple(letters), steps, "d0", frozenset(state for state in states if rng.random() < 0.6)
    )


def is_member(domain: FiniteAutomaton | None, word: Word) -> bool:
    if domain is None:
        return True
    state: str | None = domain.initial
    for symbol in word:
        state = None if state is None else domain.transitions.get((state, symbol))
    return state in domain.accepting
