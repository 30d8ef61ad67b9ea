from __future__ import annotations

import json

import numpy as np
import pytest
from tests.models.hand_made import parentheses_net
from tests.models.published_networks import published
from tests.viz.networks import NETWORKS, heat_map, network, said

from stacklens.cli.trace import NAMES
from stacklens.errors import UnknownNameError
from stacklens.extract.evaluation.automaton_runs import state_names
from stacklens.languages import get_language
from stacklens.models.io import load_network
from stacklens.models.registry import build_model
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace
from stacklens.viz.figures import FIGURES, draw, paper_figure, rounding_figure
from stacklens.viz.operations import action_heatmap, top_values
from stacklens.viz.stacks import stack_heatmap
from stacklens.viz.style import themed

EXAMPLE = "([])[[[((([[(())]])))]]][()]"  # the word in the notebook of Suzgun et al. 2019's program
ITS_TOPS = [0.42, 0.026, 0.42, 0, 0.41, 0.93, 0.94, 0.95, 0.047, 0.044, 0.023, 0.92]


def test_the_published_networks_heat_map_carries_the_values_of_its_authors_notebook() -> None:
    net = load_network(published("marnns/*.pth")).model
    seen = trace(net, [EXAMPLE], stacks=True)
    tops = heat_map(stack_heatmap(net, seen))[0]
    assert [float(f"{top:.2g}") if top >= 0.01 else 0 for top in tops[: len(ITS_TOPS)]] == ITS_TOPS
    assert seen.cells is not None
    np.testing.assert_array_equal(tops, seen.cells[0, :, 0, 0, 0])
    shares = heat_map(action_heatmap(net, seen))
    np.testing.assert_array_equal(shares, seen.actions[0, :, 0].T)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_of_every_network_is_drawn_or_says_why_not(name: str, figure: str) -> None:
    net = network(name)
    for word in ("", "a"):
        drawn = draw(figure, net, trace(net, [word], stacks=True))
        assert len(json.loads(drawn.to_json())["data"]) == len(drawn.data)
        if not drawn.data:
            assert said(drawn).endswith(".")
        if word and figure == "paper" and name != "linear":
            assert drawn.data


@pytest.mark.parametrize("name", ["nnpda", "stack-rnn", "marnn-stack-rnn", "neural-stack", "buffered-neural-stack"])
def test_actions_pushed_values_and_readings_are_those_of_the_trace(name: str) -> None:
    net = network(name)
    seen = trace(net, ["ab", "abbab"])
    figure = action_heatmap(net, seen, word=1)
    steps = int(seen.steps[1])
    for number, array in enumerate((seen.actions, seen.pushed, seen.reading)):
        np.testing.assert_array_equal(heat_map(figure, number), array[1, :steps].reshape(steps, -1).T)


def test_labels_name_stacks_operations_and_symbols() -> None:
    net = network("stack-rnn")
    figure = action_heatmap(net, trace(net, "ab"))
    assert figure.data[0].y == tuple(f"stack {stack} {name}" for stack in (1, 2) for name in ("push", "pop", "none"))
    assert figure.layout.xaxis3.ticktext == ("a", "b")
    signed = network("nnpda")
    figure = action_heatmap(signed, trace(signed, "ab"))
    assert figure.data[2].y == figure.layout.xaxis3.ticktext == ("a", "b", "e")
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-1, 1)


def test_hover_texts_have_the_exact_value_and_the_symbol() -> None:
    net = network("marnn-stack-lstm")
    map_ = action_heatmap(net, trace(net, "ab")).data[0]
    assert "%{z:.6g}" in map_.hovertemplate
    assert [list(row) for row in map_.text] == [["a", "b"]] * 2


def test_a_long_word_is_counted_instead_of_spelled_and_shortened_in_the_title() -> None:
    net = network("nnpda")
    figure = paper_figure(net, trace(net, ["ab" * 1_000], stacks=True))
    assert figure.layout.xaxis3.title.text == "step, 1 to 2,001"
    assert "(2,000 characters)" in figure.layout.title.text
    assert heat_map(figure).shape == (1, 2_001)


def test_cells_are_the_traces_the_top_first_one_row_a_number() -> None:
    net = network("marnn-stack-rnn")
    seen = trace(net, "abbab", stacks=True)
    assert seen.cells is not None
    figure = stack_heatmap(net, seen, shown=3)
    assert figure.data[0].y == ("top [1]", "top [2]", "2 [1]", "2 [2]", "3 [1]", "3 [2]")
    np.testing.assert_array_equal(heat_map(figure), seen.cells[0, :, 0, :3].reshape(5, 6).T)
    np.testing.assert_array_equal(top_values(seen)[:, 0], heat_map(figure)[:2].T)


def test_cells_that_stay_empty_are_left_out() -> None:
    net = network("baby-ntm")
    seen = trace(net, "a", stacks=True)
    assert seen.cells is not None
    seen.cells[0, 0, 0, 2:] = 0
    seen.cells[0, 0, 0, :2] = 1
    assert stack_heatmap(net, seen).data[0].y == ("top", "2", "3")


@pytest.mark.parametrize("name", ["stack-rnn", "marnn-stack-lstm"])
def test_the_discrete_stack_stands_under_the_soft_one(name: str) -> None:
    net = network(name)
    figure = rounding_figure(net, trace(net, ["b", "abab"], stacks=True), 1)
    maps = [heat_map(figure, number) for number in range(2 * (net.n_stacks + 1))]
    for number, runner in enumerate((net, Rounded(net))):
        seen = trace(runner, "abab", stacks=True)
        assert seen.cells is not None
        *stacks, actions = maps[number * (net.n_stacks + 1) :][: net.n_stacks + 1]
        for stack, drawn in enumerate(stacks):
            np.testing.assert_allclose(drawn, seen.cells[0, :, stack, : len(drawn), 0].T, atol=1e-12)
        np.testing.assert_allclose(actions, seen.actions[0].reshape(4, -1).T, atol=1e-12)


def test_soft_and_rounded_segments_share_a_legend() -> None:
    net = parentheses_net()
    figure = rounding_figure(net, trace(net, "(())"))
    assert [note.text.split(":")[0] for note in figure.layout.annotations] == ["soft actions"] * 2 + [
        "rounded actions"
    ] * 2
    shown = [bars.name for bars in figure.data if bars.type == "bar" and bars.showlegend]
    assert shown == ["("]
    rounded = Rounded(net)
    assert said(rounding_figure(rounded, trace(rounded, "()"))).startswith("These actions are rounded already")


def test_a_network_without_cells_or_stacks_says_so_in_one_sentence() -> None:
    lengths, none = network("neural-stack"), network("rnn")
    assert said(stack_heatmap(lengths, trace(lengths, "ab"))) == (
        "The stack of this neural-stack has lengths, not cells: the segments show it."
    )
    assert said(stack_heatmap(none, trace(none, "ab"))) == "This rnn has no stack."
    assert said(action_heatmap(none, trace(none, "ab"))) == "This rnn has no stack, so it takes no actions."
    bare = network("baby-ntm")
    assert said(stack_heatmap(bare, trace(bare, "ab", stacks=False))) == (
        "This trace has no stack contents: trace with stacks=True."
    )
    with pytest.raises(ValueError, match=r"^this trace has no cells: trace a network whose stack has cells with "):
        top_values(trace(bare, "ab", stacks=False))


def test_the_empty_word_gets_a_sentence_unless_an_end_symbol_is_read() -> None:
    net = network("marnn-stack-rnn")
    assert said(paper_figure(net, trace(net, ""))).startswith("The word is empty and the network takes no step")
    linear = network("linear")
    assert said(paper_figure(linear, trace(linear, "ab"))).startswith("This network has neither a stack nor a hidden")
    reads_end = network("nnpda")
    assert heat_map(paper_figure(reads_end, trace(reads_end, ""))).shape == (1, 1)


def test_stack_and_states_of_an_automaton_and_the_true_depth_stand_under_the_word() -> None:
    pda = get_language("dyck-1").automaton
    net = build_model("marnn-stack-rnn", {"alphabet": "()"}, seed=1)
    states = state_names(pda, "(())")
    figure = paper_figure(net, trace(net, "(())"), truth=pda, automaton=pda)
    headings = [note.text for note in figure.layout.annotations]
    assert headings[-2:] == ["state", "reference height"]
    assert "automaton" in headings[-3]
    assert list(figure.data[-1].y) == [1, 2, 1, 0]
    assert list(figure.data[-2].text[0]) == states


@pytest.mark.parametrize("name", ["hidden", "map"])
def test_hidden_vectors_show_the_automatons_states(name: str) -> None:
    pda = get_language("dyck-1").automaton
    net = build_model("marnn-stack-rnn", {"alphabet": "()"}, seed=1)
    seen = trace(net, "(())")
    drawn = [str(draw(name, net, seen, automaton=given).to_plotly_json()) for given in (None, pda)]
    assert [f"'{pda.start.state}'" in text for text in drawn] == [False, True]


def test_the_names_that_the_command_offers_are_those_of_the_figures() -> None:
    assert tuple(FIGURES) == NAMES


def test_a_figure_and_a_theme_have_to_exist() -> None:
    net = network("rnn")
    with pytest.raises(UnknownNameError, match=r"^unknown figure 'x': expected one of actions, hidden, map, op"):
        draw("x", net, trace(net, "a"))
    figure = draw("hidden", net, trace(net, "a"))
    with pytest.raises(UnknownNameError, match=r"^unknown theme 'blue': expected one of dark, light$"):
        themed(figure, "blue")
    assert themed(figure, "dark").layout.paper_bgcolor != figure.layout.paper_bgcolor
