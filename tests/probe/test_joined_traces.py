from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.hand_built import SuperpositionNet, hand_machines
from tests.models.hand_made import parentheses_net

import stacklens as sl
from stacklens.automata.pda import POP, Key, PushdownAutomaton, Transition, push
from stacklens.core.errors import StacklensError
from stacklens.probe.trace import trace

OPENS: dict[Key, Transition] = {("q", "(", (top,)): Transition("q", (push("("),)) for top in ("(", "⊥")}
BRACKETS = PushdownAutomaton(
    ("q",), ("(", ")"), ("(",), {**OPENS, ("q", ")", ("(",)): Transition("q", (POP,))}, "q", acceptance="empty stack"
)


@settings(max_examples=25)
@given(
    machine=hand_machines(["push", "pop", "none"], ["next symbol"]),
    words=st.lists(st.text("ab", max_size=6), min_size=1, max_size=4),
)
def test_the_run_beside_a_trace_is_the_automatons_own(machine: Any, words: list[str]) -> None:
    pda = machine.automaton()
    seen = trace(SuperpositionNet(machine, no_op=True), words).with_automaton(pda)
    run = seen.joined
    for number, word in enumerate(words):
        configurations = list(pda.run(word))
        for t in range(len(word) + 1):
            if t >= len(configurations):
                assert run.states[number, t] == -1
                assert run.depths[number, t] == -1
            else:
                here = configurations[t]
                assert run.names[run.states[number, t]] == here.state
                assert run.depths[number, t] == len(here.stacks[0])
                shown = [run.symbols[one] for one in run.stacks[number, t, 0]]
                assert shown == [*reversed(here.stacks[0][-3:]), *["⊥"] * 3][:3]


def test_moments_are_chosen_by_word_step_symbol_and_state() -> None:
    seen = trace(parentheses_net(), ["(())", "())(", ""]).with_automaton(BRACKETS)
    assert seen.select(word=1).step.tolist() == [0, 1, 2, 3, 4, 5]
    assert seen.select(word="", step=0).hidden.tolist() == seen.hidden[2:, 0].tolist()
    assert seen.select(step=(2, 3), symbol=")").word.tolist() == [0, 1, 1]
    cut = seen.select(state="q", word=1)
    assert cut.step.tolist() == [0, 1, 2]
    assert seen.select(word=0).depth.tolist() == [0, 1, 2, 1, 0, 0]  # the end symbol does nothing to the automaton
    assert seen.select(word=0, step=2).below(1).tolist() == ["("]
    assert seen.select(word=0, step=2).below(2).tolist() == ["⊥"]
    chosen = seen.select(symbol=(")",), state=["q"]).to_frame()
    assert chosen[["word", "step", "state", "depth"]].to_numpy().tolist() == [
        [0, 3, "q", 1],
        [0, 4, "q", 0],
        [1, 2, "q", 0],
    ]
    assert np.isnan(seen.select(step=0).pushed()).all()
    assert seen.to_frame().state.tolist()[:5] == ["q"] * 5


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"word": 9}, "there is no word 9: the trace has 1"),
        ({"word": "(("}, "is none of the trace's 1 words"),
        ({"symbol": "x"}, "there is no symbol 'x'; expected one of"),
        ({"state": "p"}, "there is no state 'p'; expected one of q"),
    ],
)
def test_what_is_not_in_a_trace_cannot_be_chosen(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        trace(parentheses_net(), ["()"]).with_automaton(BRACKETS).select(**choice)


def test_a_joined_trace_is_saved_with_its_automaton(tmp_path: Path) -> None:
    plain = sl.trace("nnpda-parentheses", ["(())", "())"])
    joined = plain.with_automaton(BRACKETS)
    assert joined != plain
    joined.save(tmp_path / "t.npz")
    loaded = sl.load(tmp_path / "t.npz")
    assert loaded == joined
    assert loaded.select(state="q").to_frame().equals(joined.select(state="q").to_frame())
    assert loaded.model.name == plain.model.name  # type: ignore[union-attr]
