"""Arrays of examples, and the scores on them."""

import numpy as np
import pytest

from stacklens.errors import StacklensError, UnknownSymbolError
from stacklens.languages import get_task
from stacklens.languages.tasks.streams import StreamTask


def test_arrays_of_a_transduction() -> None:
    examples = get_task("reversal").examples(["01##", "110###"])
    assert examples.words == ("01##", "110###")
    assert examples.symbols.tolist() == [[0, 1, 2, 2, -1, -1], [1, 1, 0, 2, 2, 2]]
    assert examples.targets.tolist() == [[2, 2, 1, 0, -1, -1], [2, 2, 2, 0, 1, 1]]
    assert examples.mask.tolist() == [[False, False, True, True, False, False], [False] * 3 + [True] * 3]
    assert examples.lengths.tolist() == [4, 6]


def test_arrays_of_sets() -> None:
    examples = get_task("dyck-2").examples(["()", "([])"])
    assert examples.targets.shape == (2, 4, 4)
    assert examples.targets[1].astype(int).tolist() == [[1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 0], [1, 0, 1, 0]]
    assert not examples.targets[0, 2:].any()
    assert examples.mask.tolist() == [[True, True, False, False], [True] * 4]


def test_a_word_is_right_if_all_that_counts_is() -> None:
    examples = get_task("reversal").examples(["01##", "110###"])
    outputs = np.stack([examples.targets, examples.targets, np.zeros_like(examples.targets)])  # (3 nets, N, T)
    outputs[0, :, :2] = 7  # does not count
    outputs[1, 1, 5] = 0
    assert examples.correct(outputs).tolist() == [[True, True], [True, False], [False, False]]
    assert examples.symbol_accuracy(outputs).tolist() == [1.0, 0.8, 0.4]
    assert examples.correct(outputs[1]).tolist() == [True, False]


def test_sets_are_right_as_a_whole() -> None:
    examples = get_task("dyck-2").examples(["()", "([])"])
    outputs = examples.targets.copy()
    assert examples.correct(outputs).tolist() == [True, True]
    outputs[0, 3] = True  # behind the end
    assert examples.correct(outputs).tolist() == [True, True]
    outputs[1, 0, 3] = True
    assert examples.correct(outputs[None]).tolist() == [[True, False]]
    assert examples.symbol_accuracy(outputs).item() == pytest.approx(5 / 6)


def test_pieces_of_a_stream_are_scored_apart() -> None:
    task = get_task("anbn")
    assert isinstance(task, StreamTask)
    pieces = ["ab", "aabb", "aaabbb"]
    stream = "".join(pieces)
    hits = np.ones((4, len(stream)), np.bool_)
    hits[1, 0] = False  # how many a come cannot be known
    hits[2, 1] = False  # the a after ab
    hits[3, [4, 11]] = False  # the second b of aabb, and the a after aaabbb
    right = task.pieces_correct(pieces, hits)
    assert right.tolist() == [[True] * 3, [True] * 3, [False, True, True], [True, False, False]]
    assert task.pieces(stream) == pieces
    assert task.pieces(stream[:-1]) == [*pieces[:2], "aaabb"]
    with pytest.raises(StacklensError, match="11 outputs for pieces of 12 symbols in all"):
        task.pieces_correct(pieces, hits[:, :-1])


def test_what_cannot_be_scored_is_said() -> None:
    examples = get_task("anbn").examples(["aaa"])
    assert examples.correct(np.zeros((1, 3))).tolist() == [True]
    with pytest.raises(StacklensError, match="no position counts in these words"):
        examples.symbol_accuracy(np.zeros((1, 3)))
    with pytest.raises(StacklensError, match=r"outputs have the shape \(1, 4\), expected \(..., 1, 3\)"):
        examples.correct(np.zeros((1, 4)))
    with pytest.raises(UnknownSymbolError, match="symbol 'z' is not in the alphabet"):
        get_task("anbn").examples(["az"])
