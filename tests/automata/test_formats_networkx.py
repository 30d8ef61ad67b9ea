from __future__ import annotations

from typing import Any

from hypothesis import given
from tests.automata.strategies import pushdown_automata

from stacklens.automata.formats import to_networkx
from stacklens.automata.pda import PushdownAutomaton, Transition


@given(pushdown_automata())
def test_the_graph_holds_the_whole_automaton(pda: PushdownAutomaton) -> None:
    graph = to_networkx(pda)
    transitions = {
        (source, edge["symbol"], edge["tops"]): Transition(target, edge["operations"], edge["output"])
        for source, target, edge in graph.edges(data=True)
    }
    accepting = frozenset(state for state, is_accepting in graph.nodes(data="accepting") if is_accepting)
    initial = next(state for state, is_initial in graph.nodes(data="initial") if is_initial)
    attributes: dict[str, Any] = graph.graph
    again = PushdownAutomaton(
        states=tuple(graph), transitions=transitions, accepting=accepting, initial=initial, **attributes
    )
    assert again == pda
