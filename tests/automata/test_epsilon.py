"""ε-steps: what is refused, where runs rest, and what algorithms make of them; `tests/attack` has random automata."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from stacklens.automata.compare import Different, Equal, Undecided, compare, shortest_member
from stacklens.automata.counting import count_words
from stacklens.automata.description import formal_definition, transition_lines
from stacklens.automata.formats.dot import from_dot, to_dot
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.formats.libraries import to_aalpy, to_networkx
from stacklens.automata.formats.textbook import from_jflap, to_jflap
from stacklens.automata.pda import EPSILON, NONE, POP, Key, PushdownAutomaton, Transition, push
from stacklens.automata.rewriting import require_real_time, without_epsilon
from stacklens.automata.runs import transduce_many, written_many
from stacklens.core.errors import AutomatonError, UnknownSymbolError

# reads a word over a and b, then, after the end, pops and writes it in reverse
REVERSER = PushdownAutomaton(
    states=("read", "write"),
    input_alphabet=("a", "b"),
    stack_alphabet=("A", "B"),
    transitions={
        **{("read", x, (top,)): Transition("read", (push(x.upper()),)) for x in "ab" for top in ("⊥", "A", "B")},
        **{("read", "⊣", (top,)): Transition("write", (NONE,)) for top in ("⊥", "A", "B")},
        **{("write", EPSILON, (x.upper(),)): Transition("write", (POP,), x) for x in "ab"},
    },
    initial="read",
    accepting=frozenset({"write"}),
    end_marker="⊣",
)
ONE = PushdownAutomaton(
    ("p", "q"), ("a",), ("x",), {("p", "a", ("⊥",)): Transition("q", (NONE,))}, "p", frozenset({"q"})
)


def test_a_word_is_read_and_then_written_in_reverse() -> None:
    assert [REVERSER.written(word) for word in ("", "aab")] == [[], ["b", "a", "a"]]
    assert written_many(REVERSER, ["", "aab", "ba"]).tolist() == [[-1, -1, -1], [2, 1, 1], [1, 2, -1]]
    assert [key[1] for key in REVERSER.taken("ab")] == ["a", "b", "⊣", "", ""]
    assert REVERSER.transduce("a") == [None, None, "a"]
    assert REVERSER.accepts("abba")
    assert REVERSER.rest(REVERSER.start) == REVERSER.start
    assert not REVERSER.real_time
    assert ONE.real_time
    assert pickle.loads(pickle.dumps(REVERSER)) == REVERSER


def test_a_run_rests_before_anything_is_read_and_accepts_where_it_rests() -> None:
    steps: dict[Key, Transition] = {
        ("p", EPSILON, ("⊥",)): Transition("q", (push("x"),)),
        ("q", EPSILON, ("x",)): Transition("r", (POP,)),
    }
    pda = PushdownAutomaton(("p", "q", "r"), ("a",), ("x",), steps, "p", frozenset({"q"}), "final state")
    assert not pda.accepts("")  # q is passed on the way
    assert replace(pda, accepting=frozenset({"r"})).accepts("")
    with pytest.raises(UnknownSymbolError):
        pda.step(pda.start, "b")
    with pytest.raises(UnknownSymbolError):
        ONE.step(ONE.start, EPSILON)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({("p", "", ("⊥",)): Transition("p", (NONE,))}, "ε-steps never end that begin in state p with ⊥ on top"),
        ({("p", "", ("x",)): Transition("p", (push("x"),))}, "ε-steps never end that begin in state p with x on top"),
        (
            {("p", "", ("⊥",)): Transition("q", (push("x"),)), ("q", "", ("x",)): Transition("p", (POP,))},
            "ε-steps never end that begin in state . with",
        ),
        (
            {("p", "", ("⊥",)): Transition("q", (NONE,)), ("p", "a", ("⊥",)): Transition("q", (NONE,))},
            "not deterministic: in state p with ⊥ on top there is an ε-step, and one that reads a",
        ),
        ({("p", "", ("⊥",)): Transition("p", (POP,))}, r"transition \(p, ε, ⊥\): an empty stack cannot be popped"),
    ],
)
def test_bad_steps_are_refused_in_one_line(steps: dict[Key, Transition], message: str) -> None:
    with pytest.raises(AutomatonError, match=message) as refused:
        replace(ONE, transitions=steps)
    assert "\n" not in str(refused.value)


def test_formats_know_them() -> None:
    assert from_json(to_json(REVERSER)) == from_dot(to_dot(REVERSER)) == REVERSER
    assert "ε, A → pop / a" in to_dot(REVERSER)
    assert "write  ε" in "\n".join(transition_lines(REVERSER))
    assert "deterministic, with ε-steps" in formal_definition(REVERSER)
    assert "ε, A → pop / a" in {edge["label"] for _, _, edge in to_networkx(REVERSER).edges(data=True)}
    popped = replace(
        ONE,
        transitions={**ONE.transitions, ("q", "", ("⊥",)): Transition("p", (push("x"),))},
        accepting=frozenset({"p", "q"}),
        acceptance="final state",
    )
    assert from_jflap(to_jflap(popped)) == popped
    with pytest.raises(AutomatonError, match="AALpy's Vpa needs a letter read in every step"):
        to_aalpy(popped)


def test_outputs_do_not_stand_beside_letters() -> None:
    with pytest.raises(AutomatonError, match="One output for each letter needs a letter read in every step"):
        transduce_many(REVERSER, ["a"])
    with pytest.raises(AutomatonError, match="takes ε-steps"):
        require_real_time(REVERSER, "This needs")


def test_algorithms_put_them_into_other_steps_or_say_why_not() -> None:
    steps: dict[Key, Transition] = {
        ("p", "a", ("⊥",)): Transition("q", (push("x"),)),
        ("q", "", ("x",)): Transition("r", (POP,)),
    }
    pda = PushdownAutomaton(("p", "q", "r"), ("a",), ("x",), steps, "p", frozenset({"r"}))
    plain = without_epsilon(pda)
    assert plain.transitions == {("p", "a", ("⊥",)): Transition("r", (NONE,))}
    assert count_words(pda, 3) == [0, 1, 0, 0]
    assert compare(pda, ONE) == Equal()
    assert isinstance(compare(pda, replace(ONE, accepting=frozenset())), Different)
    assert shortest_member(pda) == ("a",)
    assert shortest_member(REVERSER) == ()
    found = compare(REVERSER, REVERSER)
    assert isinstance(found, Undecided)
    assert found.reason.startswith("equality needs a letter read in every step, and ε-steps stay: the step from read")
