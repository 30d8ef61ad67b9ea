from __future__ import annotations

import json

import numpy as np
import pytest
from tests.models.hand_made import parentheses_net
from tests.models.published_networks import published
from tests.viz.networks import NETWORKS, network

from stacklens.automata.description import formal_definition, transition_table
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.languages import get_language
from stacklens.languages.catalogue import get_task
from stacklens.models.io import load_network
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace
from stacklens.viz.step_tables import prediction_table, step_table, trace_data


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


def test_predictions_of_several_stacks_name_each() -> None:
    net = network("stack-rnn")
    seen = trace(net, "abb", stacks=True)
    assert seen.cells is not None
    frame = prediction_table(net, seen)
    assert frame.next.tolist() == ["b", "b", ""]
    assert frame.probability.tolist()[:2] == seen.output[0, :2, 1].tolist()
    assert np.isnan(frame.probability.iloc[2])
    assert frame["action 2"].tolist() == [net.operations[i] for i in seen.actions[0, :, 1].argmax(-1)]
    assert frame["top 1"].tolist() == [" ".join(f"{x:.2f}" for x in row) for row in seen.cells[0, :, 0, :2, 0]]


def test_sets_and_transductions_are_shown_and_recognisers_refused() -> None:
    sets, writes = network("rnn"), network("neural-stack")
    seen, written = trace(sets, "ab"), trace(writes, "ab")
    shown = [" ".join(c for c, value in zip("ab", row, strict=True) if value > 0.5) for row in seen.output[0]]
    assert prediction_table(sets, seen).prediction.tolist() == shown
    frame = prediction_table(writes, written)
    assert frame.output.tolist() == [writes.output_alphabet[i] for i in written.output[0].argmax(-1)]
    assert frame.probability.tolist() == written.output[0].max(-1).tolist()
    with pytest.raises(StacklensError, match=r"^this nnpda is a recogniser and predicts nothing; step_table shows "):
        prediction_table(parentheses_net(), trace(parentheses_net(), "("))


@pytest.mark.parametrize("name", ["stack-rnn", "rnn", "linear", "marnn-stack-lstm"])
def test_the_empty_word_has_no_predictions(name: str) -> None:
    net = network(name)
    assert prediction_table(net, trace(net, [""], stacks=True)).empty


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


def test_not_a_number_is_none() -> None:
    net = network("rnn")
    seen = trace(net, "ab")
    seen.output[0, 1, 0] = np.nan
    assert trace_data(net, seen)["output"][1][0] is None


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


def test_the_formal_definition_says_how_words_are_accepted() -> None:
    pda = get_language("palindrome").automaton
    text = formal_definition(pda)
    assert "Σ = {a, b, c}" in text
    assert f"δ: {len(pda.transitions)} transitions" in text
    marked = PushdownAutomaton(
        ("q",),
        ("a",),
        (),
        {},
        "q",
        acceptance="output",
        n_stacks=2,
        end_marker="$",
        accepting_outputs=frozenset({("a",)}),
    )
    assert formal_definition(marked).splitlines()[3:] == [
        "Γ = ∅, bottom ⊥",
        "q₀ = q",
        "F = ∅",
        "δ: 0 transitions; where there is none, the word is rejected",
        "accepts: with a last output among {{a}}",
        "every run reads $ once after the word",
        "2 stacks",
    ]
