from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.hand_built import hand_machines

from stacklens.automata.many_runs import ManyRuns, RunTables
from stacklens.automata.pda import EPSILON, NONE, Configuration, Key, PushdownAutomaton, Transition
from stacklens.automata.reachability import reachable_heads
from stacklens.errors import AutomatonError


def plain(pda: PushdownAutomaton, here: Configuration, word: str) -> tuple[Configuration | None, bool]:
    """Return where a run from ``here`` ends, None where it is cut, and whether that is at a head nobody reaches."""
    heads = reachable_heads(pda)
    for symbol in word:
        after = pda.step(here, symbol)
        if after is None:
            return None, (here.state, here.tops(pda.bottom)) not in heads
        here = after
    return here, False


@settings(max_examples=60)
@given(
    machine=hand_machines(["push", "pop", "none", "replace"], ["recognition", "next symbol"]),
    words=st.lists(st.text("ab", max_size=7), min_size=1, max_size=4),
    place=st.integers(0, 2),
    data=st.data(),
)
def test_runs_from_changed_configurations_are_those_of_the_automaton_itself(
    machine: object, words: list[str], place: int, data: st.DataObject
) -> None:
    pda = machine.automaton()  # type: ignore[attr-defined]
    prefix = data.draw(st.text("ab", max_size=6))
    runs, own = ManyRuns.start(RunTables.of(pda), len(words)), pda.start
    for symbol in prefix:
        after = pda.step(own, symbol)
        if after is None:
            return
        runs, own = runs.step(np.full(len(words), pda.input_alphabet.index(symbol))), after
    assert runs.heights().tolist() == [[len(own.stacks[0])]] * len(words)
    state = data.draw(st.sampled_from(pda.states))
    stack = list(own.stacks[0])
    if place < len(stack):
        laid = data.draw(st.integers(1, len(pda.stack_alphabet)))
        known = pda.stack_alphabet.index(stack[-1 - place]) + 1
        assert (runs.symbol_at(0, np.full(len(words), place)) == known).all()
        runs = runs.with_symbol(0, np.full(len(words), place), np.full(len(words), laid))
        stack[-1 - place] = pda.stack_alphabet[laid - 1]
    numbers = np.full(len(words), pda.states.index(state), np.int32)
    runs = runs.put(np.ones(len(words), bool), ManyRuns(runs.of, numbers, runs.node, *_rest(runs)))
    for t in range(max(map(len, words))):
        runs = runs.step(np.array([pda.input_alphabet.index(word[t]) if t < len(word) else -1 for word in words]))
    for row, word in enumerate(words):
        end, unknown = plain(pda, Configuration(state, (tuple(stack),)), word)
        assert (bool(runs.over[row]), bool(runs.undefined[row])) == (end is None, unknown)
        if end is not None:
            assert pda.states[runs.state[row]] == end.state
            assert runs.heights()[row, 0] == len(end.stacks[0])
            assert bool(runs.accepted()[row]) == pda.accepts_configuration(end)


def _rest(runs: ManyRuns) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return runs.output, runs.rejected, runs.undefined


def test_automata_with_steps_that_read_nothing_are_refused() -> None:
    silent: dict[Key, Transition] = {
        ("p", EPSILON, ("⊥",)): Transition("q", (NONE,)),
        ("q", "a", ("⊥",)): Transition("q", (NONE,)),
    }
    with pytest.raises(AutomatonError, match="Running on from any configuration needs"):
        RunTables.of(PushdownAutomaton(("p", "q"), ("a",), (), silent, "p"))
