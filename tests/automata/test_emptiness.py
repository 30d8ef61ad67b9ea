from __future__ import annotations

import pytest
from hypothesis import given
from tests.automata.brute_force import words
from tests.automata.strategies import plain_accepts, pushdown_automata
from tests.automata.test_reachability import automaton

from stacklens.automata import summaries
from stacklens.automata.compare import is_empty, shortest_member
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, push
from stacklens.automata.pda import replace as replace_by
from stacklens.errors import AutomatonError


@given(pushdown_automata(max_stacks=1))
def test_the_shortest_member_is_the_first_that_is_accepted(pda: PushdownAutomaton) -> None:
    first = next((word for word in words(pda, 6) if plain_accepts(pda, word)), None)
    found = shortest_member(pda)
    assert is_empty(pda) == (found is None)
    if found is None or len(found) > 6:
        assert first is None
    else:
        assert first is not None
        assert len(first) == len(found)
    assert found is None or plain_accepts(pda, found)


def test_a_way_that_is_found_later_may_be_shorter() -> None:
    """Three letters, a push, two letters and a pop are put together before as many as five without one are read."""
    long = "0 a ⊥ > 1 none \n 1 a ⊥ > 2 none \n 2 a ⊥ > 3 none \n 3 a ⊥ > 4 push x \n 4 a x > 5 none \n"
    short = "0 b ⊥ > s none \n s b ⊥ > t none \n t b ⊥ > u none \n u b ⊥ > v none \n v b ⊥ > 7 none"
    pda = automaton(f"{long} 5 a x > 6 none \n 6 a x > 7 pop \n {short}", "7", acceptance="final state")
    assert shortest_member(pda) == tuple("bbbbb")


def counter(bits: int) -> PushdownAutomaton:
    """Return an automaton whose only word has over 2^bits symbols: at each level it goes through the next twice."""
    rules: dict[Key, Transition] = {("go", "a", ("⊥",)): Transition("go", (push("1.0"),))}
    for level in range(bits):
        for half in "12":
            cell = f"{half}.{level}"
            following = Transition("go", (push(f"1.{level + 1}"),)) if level + 1 < bits else Transition("back", (NONE,))
            rules["go", "a", (cell,)] = following
            rules["back", "a", (cell,)] = Transition(
                *(("go", (replace_by(f"2.{level}"),)) if half == "1" else ("back", (POP,)))
            )
    rules["back", "a", ("⊥",)] = Transition("end", (NONE,))
    cells = tuple(dict.fromkeys(key[2][0] for key in rules if key[2] != ("⊥",)))
    return PushdownAutomaton(("go", "back", "end"), ("a",), cells, rules, "go", frozenset({"end"}), "final state")


def test_exponentially_long_members_are_found_but_not_written_out() -> None:
    few = shortest_member(counter(4))
    assert few is not None
    assert counter(4).accepts(few)
    assert not is_empty(counter(200))
    assert len(shortest_member(counter(10)) or ()) > 2**10
    with pytest.raises(AutomatonError, match=f"more than the {summaries.LONGEST_RUN:,} written out"):
        shortest_member(counter(200))
