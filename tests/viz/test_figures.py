"""Figures, pages and pictures of results."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from tests.face.quick import quick_result
from tests.models.hand_made import parentheses_net
from tests.models.published_networks import published
from tests.probe.causal.mechanisms import BRACKETS, claim
from tests.refusals import refused
from tests.viz.networks import NETWORKS, heat_map, network, said

import stacklens as sl
from stacklens.automata.formats.dot import transition_table
from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.core.errors import StacklensError, UnknownNameError
from stacklens.extract.accuracy import SizeScore
from stacklens.extract.evaluation.automaton_runs import state_names
from stacklens.extract.evaluation.sweep import Sweep, SweepRow
from stacklens.extract.summary import summary_text
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.checkpoint import load_network
from stacklens.models.rounding import Rounded
from stacklens.models.stacks import StrengthStack
from stacklens.probe.attribution import ablations, saliency
from stacklens.probe.geometry import horizon_curve, linear_probes
from stacklens.probe.interchange import interchange
from stacklens.probe.outcome import Causality
from stacklens.probe.trace import trace
from stacklens.viz import curves
from stacklens.viz.curves import sweep_figure
from stacklens.viz.figures import FIGURES, draw, hidden_map, paper_figure, plane
from stacklens.viz.operations import (
    action_names,
    operation_names,
    pieces,
    prediction_table,
    reference_heights,
    stack_panels,
    step_table,
    trace_data,
)
from stacklens.viz.report import check_browser, element, html_table, page, picture, plot, report_page, some_words
from stacklens.viz.style import MARKS, OPERATION_COLOURS, heat_panel, height_track, themed

EXAMPLE = "([])[[[((([[(())]])))]]][()]"  # the word in the notebook of Suzgun et al. 2019's program
ITS_TOPS = [0.42, 0.026, 0.42, 0, 0.41, 0.93, 0.94, 0.95, 0.047, 0.044, 0.023, 0.92]


def test_the_published_networks_heat_map_carries_the_values_of_its_authors_notebook() -> None:
    net = load_network(published("marnns/*.pth")).model
    seen = trace(net, [EXAMPLE], stacks=True)
    tops = heat_map(draw("stack", net, seen))[0]
    assert [float(f"{top:.2g}") if top >= 0.01 else 0 for top in tops[: len(ITS_TOPS)]] == ITS_TOPS
    np.testing.assert_array_equal(tops, seen.cells[0, :, 0, 0, 0])
    np.testing.assert_array_equal(heat_map(draw("actions", net, seen)), seen.actions[0, :, 0].T)


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
def test_actions_pushed_values_readings_and_vectors_are_those_of_the_trace(name: str) -> None:
    net = network(name)
    seen = trace(net, ["ab", "abbab"])
    figure = draw("actions", net, seen, 1)
    steps = int(seen.steps[1])
    for number, array in enumerate((seen.actions, seen.pushed, seen.reading)):
        np.testing.assert_array_equal(heat_map(figure, number), array[1, :steps].reshape(steps, -1).T)
    if name != "buffered-neural-stack":  # whose controller is linear
        np.testing.assert_array_equal(heat_map(draw("hidden", net, seen, 1)), seen.hidden[1, 1 : steps + 1].T)


def test_cells_are_the_traces_the_top_first_one_row_a_number() -> None:
    seen = trace(network("marnn-stack-rnn"), "abbab", stacks=True)
    (panel,) = stack_panels(seen, shown=3)
    assert panel.traces[0].y == ("top [1]", "top [2]", "2 [1]", "2 [2]", "3 [1]", "3 [2]")
    np.testing.assert_array_equal(panel.traces[0].z, seen.cells[0, :, 0, :3].reshape(5, 6).T)


def test_the_table_of_predictions_is_a_picture_with_its_operations_in_colour() -> None:
    model = sl.load("stack-rnn-anbn")
    seen = sl.trace(model, "aaabbb")
    frame = prediction_table(model, seen)
    (table,) = draw("predictions", model, seen).data
    drawn = dict(zip(table.header.values, table.cells["values"], strict=True))
    assert list(drawn) == list(frame)
    assert list(drawn["action"]) == frame["action"].tolist() == ["push"] * 3 + ["pop"] * 3
    assert drawn["probability"][:5] == [f"{one:.3f}" for one in frame["probability"][:5]]
    fills = dict(zip(drawn, table.cells.fill.color, strict=True))
    assert [one[:7] for one in fills["action"]] == [OPERATION_COLOURS[one] for one in drawn["action"]]
    assert set(fills["next"]) == {"rgba(0,0,0,0)"}
    refused("has at most 120 steps, and this word 121", draw, "predictions", model, sl.trace(model, "a" * 121))


@pytest.mark.parametrize("name", ["stack-rnn", "marnn-stack-lstm"])
def test_the_discrete_stack_stands_under_the_soft_one(name: str) -> None:
    net = network(name)
    figure = draw("rounding", net, trace(net, ["b", "abab"], stacks=True), 1)
    maps = [heat_map(figure, number) for number in range(2 * (net.n_stacks + 1))]
    for number, runner in enumerate((net, Rounded(net))):
        seen = trace(runner, "abab", stacks=True)
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


@settings(max_examples=25)
@given(seed=st.integers(0, 999), count=st.integers(3, 20), size=st.integers(2, 6))
def test_the_plane_is_that_of_the_principal_components(seed: int, count: int, size: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(count, size))
    points, shares = plane(vectors)
    other = PCA(2).fit(vectors)
    np.testing.assert_allclose(np.abs(points), np.abs(other.transform(vectors)), atol=1e-9)
    np.testing.assert_allclose(shares, other.explained_variance_ratio_, atol=1e-9)


def test_the_map_has_every_vector_once_in_the_group_of_its_state() -> None:
    net = network("rnn")
    seen = trace(net, ["ab", "b"])
    figure = hidden_map(net, seen, [["p", "q"], ["p"]])
    assert {one.name: len(one.x) for one in figure.data} == {"start": 2, "p": 2, "q": 1}
    assert len({(one.marker.color, one.marker.symbol) for one in figure.data}) == 3
    by_symbol = hidden_map(net, seen)
    assert {one.name: len(one.x) for one in by_symbol.data} == {"start": 2, "a": 1, "b": 2}
    assert "after step 2" in "".join(by_symbol.data[-1].hovertext)


NAN = float("nan")


def test_nan_and_out_of_range_cells_are_marked() -> None:
    values = np.array([[0.5, NAN], [1.5, 0.5], [1 + 1e-12, -0.1]])
    _, nan, beyond = heat_panel("", values, ["x", "y"], "aba", low=0, high=1).traces
    assert (nan.text, list(nan.x), list(nan.y)) == ("×", [1], ["y"])
    assert (beyond.text, list(beyond.x), list(beyond.y)) == ("!", [2, 3], ["x", "y"])


def test_reference_heights_and_states_are_those_of_the_run_until_it_rejects() -> None:
    pda = get_language("dyck-1").automaton
    heights, cut = reference_heights(pda, "(()"), reference_heights(pda, "())(")
    assert heights.tolist() == [[1], [2], [1]]
    assert np.array_equal(cut.ravel(), [1, 0, NAN, NAN], equal_nan=True)
    assert state_names(pda, "())(") == [pda.initial, pda.initial, "rejected", "rejected"]
    (line,) = height_track(heights).traces
    assert (list(line.x), list(line.y)) == ([1, 2, 3], [1, 2, 1])


STRENGTHS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=12)


@given(actions=STRENGTHS)
def test_pieces_are_what_the_strength_stack_holds_after_every_step_and_tile_it(
    actions: list[tuple[float, float]],
) -> None:
    found = pieces(np.array([u for u, _ in actions]), np.array([d for _, d in actions]))
    assert len(found) <= 2 * len(actions)
    lengths = np.zeros((len(actions), len(actions)))  # how much of what step s pushed is left after step t
    for piece in found:
        lengths[piece.first : piece.last + 1, piece.pushed] += piece.length
    stack = StrengthStack.empty((1,), 1, torch.zeros((), dtype=torch.float64))
    for step, action in enumerate(actions):
        stack = stack.next(torch.tensor([[action]], dtype=torch.float64), torch.zeros(1, 1, 1, dtype=torch.float64))
        np.testing.assert_allclose(lengths[step, : step + 1], stack.lengths[0], atol=1e-12)
        there = sorted((piece.bottom, piece.top) for piece in found if piece.first <= step <= piece.last)
        assert all(below[1] == above[0] for below, above in pairwise(there))
        assert not there or there[0][0] == 0


@settings(max_examples=15)
@given(seed=st.integers(0, 200), word=st.text("ab", min_size=1, max_size=12))
def test_boxes_have_the_lengths_of_the_traced_segments(seed: int, word: str) -> None:
    net = network("nnpda", seed)
    seen = trace(net, word)
    found = np.zeros((int(seen.steps[0]), len(seen.letters)))  # the height of what every letter's bars fill
    for bars in (one for one in draw("segments", net, seen).data if one.type == "bar"):
        for middle, width, length in zip(bars.x, bars.width, bars.y, strict=True):
            first, last = round(middle - width / 2 + 0.5), round(middle + width / 2 - 0.5)
            found[first - 1 : last, seen.letters.index(bars.name)] += length
    for step in range(len(word) + 1):
        expected = np.zeros(len(seen.letters))
        for symbol, length in seen.segments(0, step):
            expected[seen.letters.index(symbol)] += length
        np.testing.assert_allclose(found[step], expected, atol=1e-9)


def test_operations_are_the_largest_shares_or_the_rounded_actions() -> None:
    net = parentheses_net()
    assert operation_names(net, trace(net, "(())")) == [("push",), ("push",), ("pop",), ("pop",), ("none",)]
    several = network("stack-rnn")
    seen = trace(several, "abba")
    expected = [tuple(several.operations[i] for i in row) for row in seen.actions[0].argmax(-1)]
    assert operation_names(several, seen) == expected
    assert operation_names(network("rnn"), trace(network("rnn"), "ab")) == [(), ()]
    assert action_names(network("rnn")) == ()
    assert action_names(network("neural-stack")) == ("pop", "push")


def test_the_table_colours_and_marks_every_operation_and_names_it_in_the_legend() -> None:
    net = network("stack-rnn")
    seen = trace(net, "abbab", stacks=True)
    figure = draw("operations", net, seen)
    names, legend = operation_names(net, seen), [one.name.split()[-1] for one in figure.data[1:]]
    map_ = figure.data[0]
    for stack, step in product(range(2), range(5)):
        name = names[step][stack]
        assert legend[int(map_.z[stack][step])] == name
        assert map_.colorscale[2 * int(map_.z[stack][step])][1] == OPERATION_COLOURS[name]
        assert map_.text[stack][step] == f"{MARKS[name]}<br>{seen.cells[0, step, stack, 0, 0]:.2f}"
        assert f"{seen.cells[0, step, stack, 0, 0]:.6g}" in map_.customdata[stack][step]


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
    np.testing.assert_allclose(frame.probability[:-1], [float(line[7]) for line in lines][:-1], atol=2e-6)
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
    assert "output" in transition_table(speaking).columns
    assert list(transition_table(PushdownAutomaton(("q",), ("a",), (), {}, "q")).columns) == list(frame.columns)


class Elements(HTMLParser):
    """What a page is made of: its start tags with their attributes, and its texts outside programs and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def outside(html: str) -> list[str]:
    """Return the addresses that a page would load from elsewhere."""
    loaded = [value for _, attrs in Elements(html).tags for name, value in attrs.items() if name in ("src", "href")]
    styles = " ".join(re.findall(r"<style>(.*?)</style>", html, re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    return [value for value in loaded if value is not None and not value.startswith("#")]


def test_a_page_holds_the_figure_and_the_program_and_loads_nothing() -> None:
    net = network("marnn-stack-rnn")
    html = picture(paper_figure(net, trace(net, "abba", stacks=True)), "html").decode()
    assert outside(html) == []
    assert "default-src 'none'" in html
    assert html.count("Plotly.newPlot(") >= 1
    assert len(html) > 1_000_000


def test_texts_in_a_page_are_plain_texts_that_do_not_end_its_program_and_a_theme_has_to_exist() -> None:
    evil = "<script>alert(1)</script>"
    frame = pd.DataFrame({evil: [evil]})
    elements = Elements(page(evil, [*(element(tag, evil) for tag in ("h2", "p", "pre")), html_table(frame)]))
    assert "script" not in [tag for tag, _ in elements.tags]
    assert elements.texts.count(evil) == 6
    net = network("rnn")
    figure = paper_figure(net, trace(net, "ab")).update_layout(title_text="</script><b>")
    assert "</script><b>" not in plot(figure)
    refused(r"^unknown theme 'blue': expected one of dark, light$", themed, figure, "blue", error=UnknownNameError)


@pytest.mark.slow
def test_svg_and_png_are_drawn_by_a_browser() -> None:
    try:
        check_browser()
    except StacklensError as error:
        pytest.skip(str(error))
    net = network("rnn")
    figure = paper_figure(net, trace(net, "ab"))
    svg = picture(figure, "svg").decode()
    assert svg.startswith("<svg")
    assert "hidden vector after each step" in svg
    assert not re.findall(r'(?:src|xlink:href)="https?://', svg)
    png = picture(figure, "png")
    assert png.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(png[16:20], "big") == 2_000


def test_a_report_has_the_summary_the_automaton_and_the_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    result = quick_result("nnpda-palindrome")
    words = some_words(result, 2)
    html = report_page(result, words, "title")
    assert outside(html) == []
    texts = "".join(Elements(html).texts)
    assert summary_text(result, transitions=False) in texts
    assert "equal for all words (proof)" in texts
    assert "How far it can be trusted" in texts
    for row in ("<td>✓</td><td>the automaton is equal to", "<td>all words</td><td>5</td>"):
        assert row in html
    assert "Q = {q0, q1}" in texts
    assert html.split(">Transitions<")[1].split("</table>")[0].count("<tr>") == 12
    assert html.count("plotly-graph-div") >= len(words) == 2
    assert all(4 <= len(word) <= 16 for word in words)
    without = report_page(result, [], "title")
    assert html.count("plotly-graph-div") - without.count("plotly-graph-div") == len(words)
    heights: list[Any] = []

    def figure(*drawn: Any, **more: Any) -> go.Figure:
        made = paper_figure(*drawn, **more)
        heights.append(list(made.data[-1].y))
        return made

    monkeypatch.setattr("stacklens.viz.report.paper_figure", figure)
    report_page(replace(result, minimised=replace(result.automaton, transitions={})), ["abcba"], "wrong")
    assert heights == [[1, 2, 2, 1, 0]]  # of the reference, not of the automaton


NET = sl.load("marnn-stack-rnn-dyck-2-drifting")
WORDS = ["([()])", "()[]", "[]", "([[(", "(([]()))", "()()()()"]


def test_interchanges_are_bars_with_their_intervals_and_the_random_line() -> None:
    found = interchange(claim(NET), Rounded(NET), NET, cases=100)
    figure = curves.causality_figure(found)
    shown = [height for bar in figure.data if bar.type == "bar" for height in bar.y]
    assert shown == pytest.approx(found.to_frame().accuracy.tolist())
    assert figure.data[-1].y[0] == found.symbols.baseline
    assert "it sleeps" in str(curves.causality_figure(Causality.none("it sleeps")))


def test_ablations_are_a_heat_map_whose_first_row_is_the_whole_network() -> None:
    found = ablations(NET, WORDS)
    (heat,) = curves.ablation_figure(found).data
    assert heat.z[0].tolist() == list(found.whole.by_length)
    assert heat.z[1].tolist() == list(found.rows[0].by_length)
    assert heat.y[1] == f"{found.rows[0].kind} {found.rows[0].name} {found.rows[0].role}".strip()


def test_probes_drift_and_saliency_show_what_was_measured() -> None:
    probes = linear_probes(trace(NET, WORDS).with_automaton(BRACKETS), targets=("depth", "top"), longest=5)
    assert list(curves.linear_probes_figure(probes).data[0].y) == [probe.accuracy for probe in probes.probes]
    curve = horizon_curve(NET, WORDS)
    assert list(curves.horizon_figure(curve).data[0].y) == list(curve.distance)
    found = saliency(sl.load("marnn-stack-rnn-dyck-2-drifting"), "([])", BRACKETS)
    figure = curves.saliency_figure(found, "hidden")
    assert np.array(figure.data[0].z).shape == (4, 4)
    assert list(figure.data[1].y) == ["2 [", "3 ]", "4 )"]
    refused("there is no saliency of 'cells'", curves.saliency_figure, found, "cells")


def test_regions_are_those_of_the_nearest_centre_and_a_word_goes_through_them() -> None:
    seen = trace(sl.load("marnn-stack-rnn-dyck-2-drifting"), ["([])", "()"]).with_automaton(BRACKETS)
    figure = curves.regions_figure(seen.select(), word=0)
    assert figure.data[-1].name == "one word"
    assert len(figure.data[-1].x) == 5
    assert set(np.unique(figure.data[0].z)) == {0}
    refused("nothing to draw", curves.regions_figure, seen.select(word=0, step=9))


DYCK, PAIRS = (to_json(get_language(name).automaton) for name in ("dyck-2", "anbn"))
ALL = {"every_length": True, "length": None, "shortest_difference": None}
SOME = {"every_length": False, "length": 12, "shortest_difference": None}


def row(updates: int | None, automaton: str | None, right: int, **more: Any) -> SweepRow:
    scores = (SizeScore("network", "members", 1, 12, 10, right), SizeScore("network", "near-misses", 1, 12, 10, 10))
    status = 3 if automaton is None else 1
    sizes = None if automaton is None else {"states": 2, "stack_symbols": 2, "transitions": 4}
    return SweepRow(
        "<x>.pt", "dyck-2", status, updates=updates, automaton=automaton, sizes=sizes, scores=scores, **more
    )


SNAPSHOTS = Sweep(
    (
        row(0, None, 0),
        row(50, PAIRS, 5, horizon={"network": SOME}),
        row(100, DYCK, 10, horizon={"network": ALL}, proof="equal"),
    )
)


def marks(figure: Any) -> dict[Any, Any]:
    """Return the number of the automaton by the place on the axis."""
    points = [line for line in figure.data if line.mode == "markers"]
    return {x: y for line in points for x, y in zip(line.x, line.y, strict=True)}


def test_a_network_at_several_thresholds_stands_over_them() -> None:
    rows = [row(None, DYCK, 5, report={"threshold": {"threshold": cut}}) for cut in (0.02, 0.1, 0.5)]
    figure = sweep_figure(Sweep(tuple(rows)))
    assert list(marks(figure)) == [0.02, 0.1, 0.5]
    assert (figure.layout.xaxis3.title.text, figure.layout.xaxis3.type) == ("threshold", "log")
    assert list(marks(sweep_figure(Sweep((rows[0], *rows))))) == [1, 2, 3, 4]


def test_snapshots_stand_over_their_updates_with_the_moment_of_settling() -> None:
    figure = sweep_figure(SNAPSHOTS)
    assert marks(figure) == {0: 0, 50: 1, 100: 2}
    assert figure.data[0].y == (0.5, 0.75, 1.0)
    assert figure.layout.title.text.replace("<br>", " ") == str(SNAPSHOTS.settling)
    assert list(figure.layout.yaxis2.ticktext) == ["none", "1 (2 states)", "2 = dyck-2"]
    assert "every length" in figure.layout.yaxis3.ticktext
    assert {shape.x0 for shape in figure.layout.shapes} == {75}
    assert "<x>" not in "".join(text for line in figure.data for text in line.text)
