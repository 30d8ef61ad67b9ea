"""An automaton's drawing, its runs, its stack beside the network's, and who visits which state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.strategies import dyck, palindromes, pushdown_automata, words_of

from stacklens.automata.formats.dot import group_places
from stacklens.automata.pda import NONE, PushdownAutomaton, Transition
from stacklens.core.errors import StacklensError
from stacklens.extract.by_name import specification_of
from stacklens.extract.evaluation.automaton_runs import (
    run_table,
    visit_table,
    visiting_words,
    visits,
)
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.probe.trace import trace
from stacklens.viz.bench.drawing import bench_drawing
from stacklens.viz.figures import MOST_STATES, discrete_panel

NET = load_network(ZOO / "nnpda-palindrome.pt")


def parts(svg: str, name: str) -> list[ElementTree.Element]:
    """Return the elements of a drawing that have the class ``name``."""
    return [element for element in ElementTree.fromstring(svg).iter() if element.get("class") == name]


def rules_in(elements: Iterable[ElementTree.Element]) -> list[int]:
    """Return the numbers of the rules whose lines are among the elements of a drawing."""
    return sorted(int(number) for one in elements for number in one.get("data-rules", "").split())


@settings(max_examples=50)
@given(pda=pushdown_automata())
def test_every_state_and_every_rule_of_a_drawing_can_be_found_once(pda: PushdownAutomaton) -> None:
    for one in (pda, replace(pda, transitions=dict(list(pda.transitions.items())[::-1]))):  # equal, in another order
        svg, joined = bench_drawing(one)["svg"], [(key[0], step.target) for key, step in one.transitions.items()]
        found = {int(state.get("data-state", "")): state.get("data-name") for state in parts(svg, "state")}
        assert found == dict(enumerate(one.states))
        assert rules_in(ElementTree.fromstring(svg).iter()) == list(range(len(joined)))
        for edge in parts(svg, "edge"):
            if edge.get("data-from"):
                ends = tuple(one.states[int(edge.get(f"data-{end}", ""))] for end in ("from", "to"))
                assert rules_in(edge.iter()) == [number for number, pair in enumerate(joined) if pair == ends]


@settings(max_examples=20)
@given(pda=pushdown_automata(), data=st.data())
def test_a_drawing_beside_another_has_its_groups_and_still_every_rule(
    pda: PushdownAutomaton, data: st.DataObject
) -> None:
    groups = {state: data.draw(st.sampled_from(["q0", "q1", "q10"])) for state in pda.states[1:]}
    found = bench_drawing(pda, groups)
    places, said = (
        group_places(groups),
        {one.get("data-name"): one.get("data-group") for one in parts(found["svg"], "state")},
    )
    assert said == {state: str(places[groups[state]]) if state in groups else None for state in pda.states}
    assert rules_in(ElementTree.fromstring(found["svg"]).iter()) == list(range(len(pda.transitions)))
    assert sum(len(edge["rules"]) for edge in found["edges"]) == len(pda.transitions)


def test_symbols_are_no_markup() -> None:
    pda = PushdownAutomaton(
        ("<q&>",), ("<script>",), (), {("<q&>", "<script>", ("⊥",)): Transition("<q&>", (NONE,))}, "<q&>"
    )
    svg = bench_drawing(pda)["svg"]
    (state,) = parts(svg, "state")
    assert state.get("data-name") == "<q&>"
    assert not [element for element in ElementTree.fromstring(svg).iter() if "script" in element.tag]


def test_an_automaton_that_nobody_could_read_is_not_drawn() -> None:
    states = tuple(f"q{number}" for number in range(MOST_STATES + 1))
    with pytest.raises(StacklensError, match=r"^this automaton has 61 states and 0 edges; a drawing has at most 60 "):
        bench_drawing(PushdownAutomaton(states, ("a",), (), {}, "q0"))


@given(data=st.data(), pda=pushdown_automata())
def test_the_table_is_the_run_and_ends_with_a_step_that_rejects(data: st.DataObject, pda: PushdownAutomaton) -> None:
    (word, *_) = data.draw(words_of(pda).filter(bool))
    configurations, table = list(pda.run(word)), run_table(pda, word)
    steps = len(word) + (pda.end_marker is not None)
    whole = len(configurations) == steps + 1
    assert len(table) == (steps if whole else len(configurations))
    assert table["step"].tolist() == list(range(1, len(table) + 1))
    for before, after, row in zip(configurations, [*configurations[1:], None], table.itertuples(), strict=False):
        assert (row.state, row.top) == (before.state, " ".join(before.tops(pda.bottom)))
        if after is None:
            assert (row.operation, row.next, row.stack) == ("rejects", "", "")
            continue
        step = pda.transitions[before.state, str(row.symbol), before.tops(pda.bottom)]
        assert (row.operation, row.next) == (", ".join(map(str, step.operations)), after.state)
        if max(map(len, after.stacks)) <= 20:
            assert row.stack == " | ".join(map(" ".join, after.stacks))
    assert whole or table["operation"].iloc[-1] == "rejects"


def test_the_discrete_stack_from_its_top_and_from_its_bottom() -> None:
    pda = dyck([("(", ")"), ("[", "]")])
    top, bottom = (discrete_panel(pda, "([]]", from_the_bottom=low).traces[0] for low in (False, True))
    np.testing.assert_array_equal(top.z, [[0, 1, 0, np.nan], [np.nan, 0, np.nan, np.nan]])
    np.testing.assert_array_equal(bottom.z, [[0, 0, 0, np.nan], [np.nan, 1, np.nan, np.nan]])
    assert top.text.tolist() == [["(", "[", "(", ""], ["", "(", "", ""]]
    assert (list(top.y), list(bottom.y)) == (["top", "2"], [0.5, 1.5])


def test_visits_are_all_moments_in_a_state_and_no_others() -> None:
    words = ["", "acb", "aca", "bb"]
    seen = trace(NET.model, words)
    found = visits(palindromes(), seen)
    assert [(visit.word, visit.step) for visit in found["v"]] == [("acb", 2), ("aca", 2), ("aca", 3)]
    assert [(visit.word, visit.step) for visit in found["u"]][:4] == [("", 0), ("acb", 0), ("acb", 1), ("aca", 0)]
    for visit in found["v"]:
        np.testing.assert_array_equal(visit.hidden, seen.hidden[words.index(str(visit.word)), visit.step])
    table = visit_table(palindromes(), seen, "v")
    assert table[["state", "word", "step"]].to_numpy().tolist() == [["v", "acb", 2], ["v", "aca", 2], ["v", "aca", 3]]
    assert table.columns.tolist() == ["state", "word", "step", "h1", "h2", "h3"]
    assert len(visit_table(palindromes(), seen)) == sum(map(len, found.values()))


def test_words_that_visit_states_are_short_and_drawn_different_and_the_same_again() -> None:
    specification = specification_of(NET)
    words = visiting_words(NET.model, specification)
    assert words == visiting_words(NET.model, specification)
    assert words != visiting_words(NET.model, specification, seed=1)
    assert len(set(words)) == len(words) <= 60
    assert words[0] == ""
    assert set("abc") <= set(words)
    assert max(map(len, words)) > 8
    assert max(map(len, visiting_words(NET.model, None))) > 8
