from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from tests.viz.networks import heat_map, network

from stacklens.probe.trace import trace
from stacklens.viz.figures import draw, hidden_map, plane


@settings(max_examples=25)
@given(seed=st.integers(0, 999), count=st.integers(3, 20), size=st.integers(2, 6))
def test_the_plane_is_that_of_the_principal_components(seed: int, count: int, size: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(count, size))
    points, shares = plane(vectors)
    other = PCA(2).fit(vectors)
    np.testing.assert_allclose(np.abs(points), np.abs(other.transform(vectors)), atol=1e-9)
    np.testing.assert_allclose(shares, other.explained_variance_ratio_, atol=1e-9)


def test_the_heat_map_has_the_vector_after_every_step() -> None:
    net = network("marnn-stack-lstm")
    seen = trace(net, ["ab", "abb"])
    np.testing.assert_array_equal(heat_map(draw("hidden", net, seen, 1)), seen.hidden[1, 1:4].T)


def test_the_map_has_every_vector_once_in_the_group_of_its_state() -> None:
    net = network("rnn")
    seen = trace(net, ["ab", "b"])
    figure = hidden_map(net, seen, [["p", "q"], ["p"]])
    assert {one.name: len(one.x) for one in figure.data} == {"start": 2, "p": 2, "q": 1}
    assert len({(one.marker.color, one.marker.symbol) for one in figure.data}) == 3
    by_symbol = hidden_map(net, seen)
    assert {one.name: len(one.x) for one in by_symbol.data} == {"start": 2, "a": 1, "b": 2}
    assert "after step 2" in "".join(by_symbol.data[-1].hovertext)
