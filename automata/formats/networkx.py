"""An automaton as a networkx graph, for whoever wants components, paths or another drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklens.automata.formats.dot import rule
from stacklens.automata.pda import PushdownAutomaton

if TYPE_CHECKING:
    import networkx

__all__ = ["to_networkx"]


def to_networkx(pda: PushdownAutomaton) -> networkx.MultiDiGraph[str]:
    """Return the graph of states: a node a state, an edge a transition.

    Nodes have ``initial`` and ``accepting``; edges have ``symbol``, ``tops``, ``operations`` (one `StackOp` a stack),
    ``output`` and ``label`` ("input, top → operation"); everything else of the automaton is in ``graph.graph``.

    >>> from stacklens.automata.pda import Transition, push
    >>> pda = PushdownAutomaton(states=("q",), input_alphabet=("a",), stack_alphabet=("x",), initial="q",
    ...                         transitions={("q", "a", ("⊥",)): Transition("q", (push("x"),))})
    >>> [label for _, _, label in to_networkx(pda).edges(data="label")]
    ['a, ⊥ → push x']
    """
    import networkx  # slow to import, and the automaton itself does not need it

    names = ["input_alphabet", "stack_alphabet", "bottom", "n_stacks", "end_marker", "acceptance"]
    names += ["initial_output", "accepting_outputs"]
    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(**{name: getattr(pda, name) for name in names})
    for state in pda.states:
        graph.add_node(state, initial=state == pda.initial, accepting=state in pda.accepting)
    for key, step in pda.transitions.items():
        symbol, tops = key[1:]
        attributes = {"symbol": symbol, "tops": tops, "operations": step.operations, "output": step.output}
        graph.add_edge(key[0], step.target, **attributes, label=rule(key, step))
    return graph
