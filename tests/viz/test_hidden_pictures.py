from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from tests.viz.networks import heat_map, network, said

from stacklens.errors import StacklensError
from stacklens.probe.trace import trace
from stacklens.viz.hidden import hidden_heatmap, hidden_map, plane


@settings(max_examples=25)
@given(seed=st.integers(0, 999), count=st.integers(3, 20), size=st.integers(2, 6))
def test_the_plane_is_that_of_the_principal_components(seed: int, count: int, size: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(count, size))
    points, shares = plane(vectors)
    other = PCA(2).fit(vectors)
    np.testing.assert_allclose(np.abs(points), np.abs(other.transform(vectors)), atol=1e-9)
    np.testing.assert_allclose(shares, other.explained_variance_ratio_, atol=1e-9)


def test_vectors_of_one_number_or_all_alike_still_have_a_plane() -> None:
    points, shares = plane(np.array([[0.0], [1.0], [2.0]]))
    assert points[:, 1].tolist() == [0, 0, 0]
    assert shares == pytest.approx((1, 0))
    points, shares = plane(np.ones((1, 3)))
    assert (points.tolist(), shares) == ([[0, 0]], (0.0, 0.0))


def test_the_heat_map_has_the_vector_after_every_step() -> None:
    net = network("marnn-stack-lstm")
    seen = trace(net, ["ab", "abb"])
    figure = hidden_heatmap(net, seen, 1, states=["p", "q", "p"])
    np.testing.assert_array_equal(heat_map(figure), seen.hidden[1, 1:4].T)
    assert list(figure.data[-1].text[0]) == ["p", "q", "p"]


def test_the_map_has_every_vector_once_in_the_group_of_its_state() -> None:
    net = network("rnn")
    seen = trace(net, ["ab", "b"])
    figure = hidden_map(net, seen, [["p", "q"], ["p"]])
    assert {one.name: len(one.x) for one in figure.data} == {"start": 2, "p": 2, "q": 1}
    assert len({(one.marker.color, one.marker.symbol) for one in figure.data}) == 3
    by_symbol = hidden_map(net, seen)
    assert {one.name: len(one.x) for one in by_symbol.data} == {"start": 2, "a": 1, "b": 2}
    assert "after step 2" in "".join(by_symbol.data[-1].hovertext)


def test_states_need_a_name_for_every_step() -> None:
    net = network("rnn")
    with pytest.raises(StacklensError, match=r"^states has names for \[1\] steps; expected \[2\], one a step$"):
        hidden_map(net, trace(net, "ab"), [["p"]])


def test_where_there_are_no_vectors_a_sentence_says_so() -> None:
    linear, net = network("linear"), network("rnn")
    assert said(hidden_map(linear, trace(linear, "ab"))) == (
        "This linear has no hidden vector: its controller is linear."
    )
    assert said(hidden_heatmap(linear, trace(linear, "ab"))).startswith("This linear has no hidden vector")
    assert said(hidden_map(net, trace(net, []))).startswith("There are no words")
