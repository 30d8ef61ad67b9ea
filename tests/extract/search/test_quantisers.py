from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.cluster import KMeans

from stacklens.extract.search.clustering import Clusters, Levels, Quantiser, cluster

UNIT = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(0, 1))


def test_five_levels_cut_where_section_4_1_does() -> None:
    levels = Levels(5, 1)
    for number, cut in enumerate([0.125, 0.375, 0.625, 0.875]):
        assert levels.assign(np.array([[np.nextafter(cut, 0)], [np.nextafter(cut, 1)]])).tolist() == [
            number,
            number + 1,
        ]
    assert levels.represent(np.arange(5)).ravel().tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert levels.assign(np.array([[0.0], [1.0]])).tolist() == [0, 4]


def test_a_binary_neuron_is_one_above_a_half_and_zero_at_it() -> None:
    assert Levels(2, 3).assign(np.array([[0.5, 0.500001, 0.9], [1.0, 0.0, 0.49]])).tolist() == [0b011, 0b100]
    assert Levels(2, 3).represent(np.array([0b011])).tolist() == [[0, 1, 1]]


def test_levels_between_other_bounds_are_equally_spaced() -> None:
    levels = Levels(3, 2, low=-1, high=1)
    assert levels.assign(np.array([[-1.0, 0.2], [0.6, -0.7]])).tolist() == [0 * 3 + 1, 2 * 3 + 0]
    assert levels.represent(np.array([1, 6])).tolist() == [[-1, 0], [1, -1]]
    assert levels.assign(np.array([[-9.0, 9.0]])).tolist() == [2]  # beyond the bounds: the nearest level


@given(UNIT, st.sampled_from([2, 3, 5, 11]))
def test_a_vector_is_at_most_half_a_step_from_what_stands_for_it(hidden: np.ndarray, n: int) -> None:
    levels = Levels(n, hidden.shape[1])
    numbers = levels.assign(hidden)
    centres = levels.represent(numbers)
    assert (np.abs(centres - hidden) <= 0.5 / (n - 1) + 1e-12).all()
    assert levels.assign(centres).tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("quantiser", "count"), [(Levels(2, 4), 16), (Levels(5, 2), 25), (Levels(12, 2), 144), (Clusters(np.eye(7)), 7)]
)
def test_different_states_have_different_names(quantiser: Quantiser, count: int) -> None:
    assert len({quantiser.label(number) for number in range(count)}) == count


def test_too_many_levels_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^10 levels of 40 neurons are too many states to number; use clusters$"):
        Levels(10, 40).assign(np.zeros((1, 40)))


@given(UNIT, st.integers(0, 9))
def test_a_cluster_is_the_nearest_centre(vectors: np.ndarray, seed: int) -> None:
    centres = np.random.default_rng(seed).random((4, vectors.shape[1]))
    distances = ((vectors[:, None] - centres) ** 2).sum(-1)
    chosen = Clusters(centres).assign(vectors)
    np.testing.assert_allclose(distances[np.arange(len(vectors)), chosen], distances.min(1), atol=1e-12)
    np.testing.assert_array_equal(Clusters(centres).represent(chosen), centres[chosen])


def blobs() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate([centre + 0.01 * rng.standard_normal((50, 3)) for centre in np.eye(3)])


def test_k_means_finds_clear_clusters_and_is_the_same_every_time() -> None:
    one, other = (cluster(blobs(), 3, seed=5) for _ in range(2))
    np.testing.assert_array_equal(one.centres, other.centres)
    assert one.centres.tolist() == sorted(one.centres.tolist())
    np.testing.assert_allclose(one.centres[one.assign(np.eye(3))], np.eye(3), atol=0.01)
    assert np.array_equal(one.assign(blobs()), one.assign(np.eye(3)).repeat(50))
    shuffled = np.random.default_rng(1).permutation(blobs())
    np.testing.assert_allclose(cluster(shuffled, 3, seed=5).centres, one.centres, atol=1e-9)


@pytest.mark.parametrize(("k", "size"), [(2, 1), (3, 8), (7, 3), (12, 8)])
def test_k_means_is_as_tight_as_that_of_scikit_learn(k: int, size: int) -> None:
    rng = np.random.default_rng(k)
    vectors = rng.random((k, size))[rng.integers(k, size=2_000)] + rng.normal(0, 0.05, (2_000, size))
    centres = cluster(vectors, k).centres
    spread = ((vectors[:, None] - centres) ** 2).sum(2).min(1).sum()
    assert spread <= 1.01 * KMeans(k, n_init=4, random_state=0).fit(vectors).inertia_


def test_clustering_imports_no_scikit_learn_which_takes_a_second() -> None:
    code = (
        "import sys, numpy as np; from stacklens.extract.search.clustering import cluster; "
        "cluster(np.random.default_rng(0).random((99, 2)), 3); sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_fewer_different_vectors_than_clusters_are_their_own_centres() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert cluster(vectors, 5).centres.tolist() == [[0, 1], [1, 0]]
    assert cluster(vectors, 2).centres.tolist() == [[0, 1], [1, 0]]
    assert len(cluster(vectors, 1).centres) == 1


def test_vectors_that_differ_by_rounding_only_give_no_warning() -> None:
    vectors = np.concatenate([np.full((4, 1), x) + np.arange(4)[:, None] * 1e-17 for x in (0.1, 0.9)])
    assert 1 <= len(cluster(vectors, 6).centres) <= 8


def test_of_very_many_vectors_some_are_drawn_by_the_seed() -> None:
    vectors = np.random.default_rng(0).random((500, 2))
    one, same, other = (cluster(vectors, 4, seed, largest=50).centres for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
