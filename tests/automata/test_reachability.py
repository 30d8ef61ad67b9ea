from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from tests.automata.brute_force import accepted, heads_seen, outputs_seen, words
from tests.automata.strategies import pushdown_automata

from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, StackOp, Transition, push
from stacklens.automata.pda import replace as put
from stacklens.automata.reachability import drop_sinks, heads, trim


def automaton(rules: str, accepting: str = "", **options: object) -> PushdownAutomaton:
    """Return the automaton of rules like "p a x > q push x", one a line, with one stack of symbols x, y, z."""
    transitions: dict[Key, Transition] = {}
    for line in filter(str.strip, rules.splitlines()):
        left, right = line.split(">")
        state, letter, top = left.split()
        target, name, *symbol = right.split()
        operation: StackOp = {"none": NONE, "pop": POP}.get(name) or {"push": push, "replace": put}[name](symbol[0])
        transitions[state, letter, (top,)] = Transition(target, (operation,))
    marker = options.get("end_marker")
    states = dict.fromkeys(q for key, step in transitions.items() for q in (key[0], step.target))
    return PushdownAutomaton(
        states=tuple(states),
        input_alphabet=tuple(sorted({letter for _, letter, _ in transitions} - {marker})),
        stack_alphabet=("x", "y", "z"),
        transitions=transitions,
        initial=next(iter(states)),
        accepting=frozenset(accepting.split()),
        **options,  # type: ignore[arg-type]
    )


@given(pushdown_automata())
def test_every_head_that_a_run_shows_is_reachable(pda: PushdownAutomaton) -> None:
    seen, found = heads_seen(pda, max_height=3), heads(pda)
    assert seen.reading <= found.reading
    assert seen.ending <= found.ending


@given(pushdown_automata(max_stacks=1))
def test_every_reachable_head_is_shown_by_a_run(pda: PushdownAutomaton) -> None:
    one_symbol = {
        key: replace(
            step, operations=tuple(StackOp(op.pop, op.push and pda.stack_alphabet[0]) for op in step.operations)
        )
        for key, step in pda.transitions.items()
    }
    counter = replace(pda, transitions=one_symbol)  # so that heights up to 40 can be tried in full
    assert heads(counter) == heads_seen(counter, max_height=40)


def test_with_two_stacks_a_replaced_symbol_uncovers_what_was_under_the_first() -> None:
    rules: dict[Key, Transition] = {
        ("p", "a", ("⊥", "⊥")): Transition("q", (push("x"), NONE)),
        ("q", "a", ("x", "⊥")): Transition("r", (put("y"), push("x"))),
        ("r", "a", ("y", "x")): Transition("s", (POP, NONE)),
    }
    pda = PushdownAutomaton(("p", "q", "r", "s"), ("a",), ("x", "y"), rules, "p", n_stacks=2)
    assert heads(pda) == heads_seen(pda, max_height=2)


@given(pushdown_automata())
def test_trimming_keeps_every_run(pda: PushdownAutomaton) -> None:
    trimmed = trim(pda)
    for word in words(pda, 4):
        assert list(trimmed.run(word)) == list(pda.run(word))
    found = heads(pda)
    assert {(state, tops) for state, _, tops in trimmed.transitions} <= found.reading
    assert set(trimmed.states) == {state for state, _ in found.reading | found.ending}


@given(pushdown_automata())
def test_dropping_sinks_keeps_the_language(pda: PushdownAutomaton) -> None:
    assert accepted(drop_sinks(pda)) == accepted(pda)


@given(pushdown_automata(acceptances=("final state", "empty stack", "both")))
def test_dropping_sinks_keeps_outputs_that_do_not_decide_acceptance(pda: PushdownAutomaton) -> None:
    smaller = drop_sinks(pda)
    assert all(outputs_seen(smaller, word) == outputs_seen(pda, word) for word in words(pda, 4))
