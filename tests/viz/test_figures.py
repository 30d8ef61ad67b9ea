from __future__ import annotations

import json

import numpy as np
import pytest
from tests.models.published_networks import published
from tests.viz.networks import NETWORKS, heat_map, network, said

from stacklens.core.errors import UnknownNameError
from stacklens.models.checkpoint import load_network
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace
from stacklens.viz.figures import FIGURES, draw
from stacklens.viz.operations import stack_panels
from stacklens.viz.style import themed

EXAMPLE = "([])[[[((([[(())]])))]]][()]"  # the word in the notebook of Suzgun et al. 2019's program
ITS_TOPS = [0.42, 0.026, 0.42, 0, 0.41, 0.93, 0.94, 0.95, 0.047, 0.044, 0.023, 0.92]


def test_the_published_networks_heat_map_carries_the_values_of_its_authors_notebook() -> None:
    net = load_network(published("marnns/*.pth")).model
    seen = trace(net, [EXAMPLE], stacks=True)
    tops = heat_map(draw("stack", net, seen))[0]
    assert [float(f"{top:.2g}") if top >= 0.01 else 0 for top in tops[: len(ITS_TOPS)]] == ITS_TOPS
    assert seen.cells is not None
    np.testing.assert_array_equal(tops, seen.cells[0, :, 0, 0, 0])
    shares = heat_map(draw("actions", net, seen))
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
    figure = draw("actions", net, seen, 1)
    steps = int(seen.steps[1])
    for number, array in enumerate((seen.actions, seen.pushed, seen.reading)):
        np.testing.assert_array_equal(heat_map(figure, number), array[1, :steps].reshape(steps, -1).T)


def test_cells_are_the_traces_the_top_first_one_row_a_number() -> None:
    net = network("marnn-stack-rnn")
    seen = trace(net, "abbab", stacks=True)
    assert seen.cells is not None
    (panel,) = stack_panels(seen, shown=3)
    assert panel.traces[0].y == ("top [1]", "top [2]", "2 [1]", "2 [2]", "3 [1]", "3 [2]")
    np.testing.assert_array_equal(panel.traces[0].z, seen.cells[0, :, 0, :3].reshape(5, 6).T)


@pytest.mark.parametrize("name", ["stack-rnn", "marnn-stack-lstm"])
def test_the_discrete_stack_stands_under_the_soft_one(name: str) -> None:
    net = network(name)
    figure = draw("rounding", net, trace(net, ["b", "abab"], stacks=True), 1)
    maps = [heat_map(figure, number) for number in range(2 * (net.n_stacks + 1))]
    for number, runner in enumerate((net, Rounded(net))):
        seen = trace(runner, "abab", stacks=True)
        assert seen.cells is not None
        *stacks, actions = maps[number * (net.n_stacks + 1) :][: net.n_stacks + 1]
        for stack, drawn in enumerate(stacks):
            np.testing.assert_allclose(drawn, seen.cells[0, :, stack, : len(drawn), 0].T, atol=1e-12)
        np.testing.assert_allclose(actions, seen.actions[0].reshape(4, -1).T, atol=1e-12)


def test_a_network_without_cells_or_stacks_says_so_in_one_sentence() -> None:
    lengths, none = network("neural-stack"), network("rnn")
    bare = network("baby-ntm")
    for name, net, stacks, why in (
        ("stack", lengths, None, "The stack of this neural-stack has lengths, not cells: the segments show it."),
        ("stack", none, None, "This rnn has no stack."),
        ("actions", none, None, "This rnn has no stack, so it takes no actions."),
        ("stack", bare, False, "This trace has no stack contents: trace with stacks=True."),
    ):
        assert said(draw(name, net, trace(net, "ab", stacks=stacks))) == why


def test_a_figure_and_a_theme_have_to_exist() -> None:
    net = network("rnn")
    with pytest.raises(UnknownNameError, match=r"^unknown figure 'x': expected one of actions, hidden, map, op"):
        draw("x", net, trace(net, "a"))
    figure = draw("hidden", net, trace(net, "a"))
    with pytest.raises(UnknownNameError, match=r"^unknown theme 'blue': expected one of dark, light$"):
        themed(figure, "blue")
    assert themed(figure, "dark").layout.paper_bgcolor != figure.layout.paper_bgcolor
