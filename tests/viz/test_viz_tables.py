from __future__ import annotations

import json

import numpy as np
import pytest
from tests.models.hand_made import parentheses_net
from tests.models.published_networks import published
from tests.viz.networks import NETWORKS, network

from stacklens.automata.description import transition_table
from stacklens.automata.pda import PushdownAutomaton
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.checkpoint import load_network
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace
from stacklens.viz.operations import prediction_table, step_table, trace_data


def test_steps_show_state_action_and_what_the_continuous_stack_holds() -> None:
    net = parentheses_net()
    frame = step_table(net, trace(net, "(()"))
    assert frame.step.tolist() == [1, 2, 3, 4]
    assert frame.symbol.tolist() == ["(", "(", ")", "e"]
    assert frame["push + / pop −"].tolist() == [1, 1, -1, 0]
    assert frame.operation.tolist() == ["push", "push", "pop", "none"]
    assert frame["stack"].tolist() == ["( 1.0000", "( 1.0000 ( 1.0000", "( 1.0000", "( 1.0000"]
    assert not frame.rejected.any()


def test_the_prediction_table_is_the_authors_programs_own_trace() -> None:
    net = Rounded(load_network(published("stack-rnn-cpp/model_*")).model)
    lines = [line.split() for line in published("stack-rnn-cpp/trace_*").read_text(encoding="utf-8").splitlines()]
    before = "b" + "a" * 58 + "b" * 57  # the trace is of the stream's last word, n = 59, after the one before
    current = "".join(line[1] for line in lines)
    frame = prediction_table(net, trace(net, [before + current], stacks=True))[len(before) :]
    assert frame.current.tolist() == list(current)
    assert frame.next.tolist()[:-1] == [line[3] for line in lines][:-1]
    assert frame.prediction.tolist() == [line[5] for line in lines]
    expected = [float(line[7]) for line in lines]
    np.testing.assert_allclose(frame.probability[:-1], expected[:-1], atol=2e-6)
    assert frame.action.tolist() == [line[8].split("[")[0] for line in lines]
    tops = [[float(number.split(":")[1]) for number in line[10:12]] for line in lines]
    np.testing.assert_allclose([[float(top) for top in row.split()] for row in frame.top], tops, atol=0.006)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_data_of_a_trace_are_its_arrays_and_plain(name: str) -> None:
    net = network(name)
    seen = trace(net, ["ab", "abba"], stacks=True)
    data = json.loads(json.dumps(trace_data(net, seen, 1), allow_nan=False))
    steps = int(seen.steps[1])
    assert data["word"] == list("abba")
    assert len(data["symbols"]) == len(data["operations"]) == len(data["rejected"]) == steps
    for part in ("actions", "pushed", "reading", "output"):
        np.testing.assert_array_equal(np.ravel(data[part]), getattr(seen, part)[1, :steps].ravel())
    np.testing.assert_array_equal(data["hidden"], seen.hidden[1, : steps + 1])
    for part, array in (("cells", seen.cells), ("lengths", seen.lengths)):
        assert (part in data) == (array is not None)


def test_transitions_are_rows_with_outputs_where_there_are_any() -> None:
    pda = get_language("palindrome").automaton
    frame = transition_table(pda)
    assert len(frame) == len(pda.transitions)
    assert list(frame.columns) == ["state", "input", "top", "next", "operation"]
    for (state, symbol, tops), row in zip(pda.transitions, frame.itertuples(), strict=True):
        assert (row.state, row.input, row.top) == (state, symbol, tops[0])
    speaking = get_task("dyck-1").reference
    assert speaking is not None
    assert "output" in transition_table(speaking).columns
    nothing = PushdownAutomaton(("q",), ("a",), (), {}, "q")
    assert list(transition_table(nothing).columns) == list(frame.columns)
