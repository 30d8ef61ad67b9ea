"""Samplers of tasks: the papers' sizes, distributions and distinctness, and that a seed fixes the words."""

from collections import Counter

import numpy as np
import pytest

from stacklens.errors import StacklensError
from stacklens.languages import get_language, get_task, task_names
from stacklens.languages.drawing import choose, random_below
from stacklens.languages.tasks.derivations import count_derivations, draw_derivation, words_by_depth
from stacklens.languages.tasks.formulas import _BRACKETS, _FORMULAS
from stacklens.languages.tasks.stream_patterns import PATTERNS, Addition, CountingStream, Memorization
from stacklens.languages.tasks.streams import StreamTask, curriculum
from stacklens.languages.tasks.task import Split

NAMES = [name.replace("K-M", "2-3").replace("N", "3") for name in task_names()]
STREAMS: list[StreamTask] = [*map(CountingStream, PATTERNS), Memorization(), Addition()]


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_fixes_the_words(name: str) -> None:
    task = get_task(name)
    first = task.sample(20, seed=4)
    again = task.sample(20, seed=4)
    assert first.words == again.words
    assert np.array_equal(first.targets, again.targets)
    assert first.words != task.sample(20, seed=5).words


@pytest.mark.parametrize("name", ["dyck-2", "dyck-6", "simple-palindrome", "homomorphic-palindrome", "string-reversal"])
def test_suzgun_words_are_distinct_members_of_the_right_lengths(name: str) -> None:
    sizes: dict[Split, tuple[int, int]] = {"train": (2, 50), "test": (52, 100)}
    for split, (low, high) in sizes.items():
        words = get_task(name).sample(250, split=split).words
        assert len(set(words)) == 250
        assert {low <= len(word) <= high for word in words} == {True}
        assert min(map(len, words)) <= low + 4
        assert max(map(len, words)) >= high - 6
        if name != "string-reversal":
            assert all(word in get_language(name) for word in words)


def test_derivations_are_counted_and_drawn_evenly() -> None:
    assert count_derivations(_FORMULAS, 5) == 81610
    assert len(words_by_depth(_FORMULAS, 4)) == count_derivations(_FORMULAS, 4) == 202  # it is unambiguous
    assert [count_derivations(_BRACKETS, depth) for depth in (3, 4, 5, 6)] == [2, 30, 854, 51270]
    drawn = Counter(tuple(draw_derivation(_FORMULAS, 3, np.random.default_rng(seed))) for seed in range(2000))
    assert set(drawn) == set(words_by_depth(_FORMULAS, 3))
    assert all(140 < count < 260 for count in drawn.values())  # ten words, mean 200, standard deviation 13
    with pytest.raises(StacklensError, match="no word has a derivation of at most 1 levels"):
        draw_derivation(_FORMULAS, 1, np.random.default_rng(0))


def test_exact_draws() -> None:
    rng = np.random.default_rng(0)
    counts = Counter(choose([1, 0, 2 * 10**40 // 10**40, 1], rng) for _ in range(4000))
    assert set(counts) == {0, 2, 3}
    assert 1850 < counts[2] < 2150
    assert {random_below(1, rng)} == {0}
    assert max(random_below(10**30, rng) for _ in range(100)) > 9 * 10**29


@pytest.mark.parametrize("task", STREAMS, ids=repr)
def test_streams_are_pieces_of_the_right_sizes(task: StreamTask) -> None:
    by_n = task.words_by_n(2, 9, count=6, seed=1)
    assert list(by_n) == list(range(2, 10))
    for n, pieces in by_n.items():
        assert len(pieces) == 6
        assert all(task.pieces(piece) == [piece] for piece in pieces)
        assert {_size(task, piece) for piece in pieces} == {n}
    stream = task.stream(300, curriculum(4, 15), seed=2)
    assert len(task.pieces(stream)) == 300
    sizes = Counter(_size(task, piece) for piece in task.pieces(stream))
    assert set(sizes) == set(range(2, 7))
    assert max(sizes.values()) < 2 * min(sizes.values())
    train, test = (task.sample(6, split=split, seed=0).words for split in ("train", "test"))
    assert max(_size(task, piece) for word in train for piece in task.pieces(word)) <= 19
    assert max(_size(task, piece) for word in test for piece in task.pieces(word)) > 40


def _size(task: StreamTask, piece: str) -> int:
    if task.name == "addition":
        return sum(len(number) for number in piece.split("=")[0].split("+") if number != "0")
    return {"anbmcnm": piece.count("c"), "memorization": piece.find("=")}.get(task.name, piece.count("a"))


@pytest.mark.parametrize(
    ("name", "n", "lengths", "message"),
    [
        ("xor", -1, None, "cannot sample -1 words"),
        ("xor", 1, (5, 4), r"of sizes \(5, 4\): expected 0 <= n, 0 <= low <= high"),
        ("anbn", 1, (0, 1), "anbn has no pieces of sizes 0 to 1: they begin at 2"),
        ("string-reversal", 1, (3, 3), "no words of lengths 3 to 3: they are even"),
        ("simple-palindrome", 1, (2, 2), "simple-palindrome has no members of lengths 2 to 2"),
        ("agreement", 1, (2, 9), r"expected sizes \(0, depth\), not \(2, 9\)"),
        ("parenthesis-prediction", 1, (0, 2), "no word has a derivation of at most 2 levels"),
    ],
)
def test_what_cannot_be_drawn_is_said(name: str, n: int, lengths: tuple[int, int] | None, message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        get_task(name).sample(n, lengths)
    with pytest.raises(StacklensError, match="unknown split 'dev': expected train or test"):
        get_task(name).sample(1, split="dev")  # type: ignore[arg-type]
