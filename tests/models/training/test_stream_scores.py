"""The paper's scores of predictors of streams, against a network that is run symbol by symbol on one stream."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklens.languages.catalogue import get_task
from stacklens.languages.streams import StreamTask
from stacklens.models.checkpoint import build_model
from stacklens.models.rounding import Rounded
from stacklens.models.training.streams import PieceTest

MODELS: dict[str, dict[str, Any]] = {
    "stack-rnn": {"hidden": 3, "n_stacks": 2},
    "list-rnn": {"hidden": 3, "n_stacks": 1},
    "scrn": {"hidden": 3, "context": 2},
    "lstm": {"hidden": 3, "controller": "lstm", "task_kind": "next symbol"},
}


def stream_task(name: str) -> StreamTask:
    task = get_task(name)
    assert isinstance(task, StreamTask)
    return task


def outputs(net: object, word: str) -> list[torch.Tensor]:
    state, found = net.initial_state(1), []  # type: ignore[attr-defined]
    for symbol in word:
        with torch.no_grad():
            step = net.step(torch.tensor([net.alphabet.index(symbol)]), state)  # type: ignore[attr-defined]
        state = step.state
        found.append(step.output[0])
    return found


@settings(max_examples=15)
@given(
    st.sampled_from(sorted(MODELS)),
    st.sampled_from(["anbn", "anbmcnm", "memorization", "addition"]),
    st.integers(0, 5),
    st.booleans(),
)
def test_scores_are_those_of_a_network_run_symbol_by_symbol(model: str, name: str, seed: int, rounded: bool) -> None:
    task = stream_task(name)
    nets = build_model(model, {"alphabet": task.alphabet, **MODELS[model]}, seed=seed, nets=2)
    alone = build_model(model, {"alphabet": task.alphabet, **MODELS[model]}, seed=seed + 1)
    test = PieceTest(task, (2, 5), strings=4, streams=2, seed=seed)
    right, entropy = test.right_and_entropy(Rounded(nets) if rounded else nets)
    np.testing.assert_array_equal(right, test.right(Rounded(nets) if rounded else nets))
    assert right.shape == (2, 4, 4)
    surprises = []
    for stream, pieces in enumerate(test.pieces()):
        word = "".join(pieces)
        expected, found = task.expected(word), outputs(Rounded(alone) if rounded else alone, word)
        fine = [
            want is None or task.alphabet[int(probabilities.argmax())] == want
            for want, probabilities in zip(expected, found, strict=True)
        ]
        surprises += [
            -math.log(max(1e-12, float(probabilities[task.alphabet.index(str(want))])))
            for want, probabilities in zip(expected, found, strict=True)
            if want is not None
        ]
        at = 0
        for number, piece in enumerate(pieces):
            all_fine = all(fine[at : at + len(piece)])
            at += len(piece)
            if number >= test.ahead:
                size, string = divmod(number - test.ahead, 2)
                assert right[1, size, 2 * stream + string] == all_fine
    assert entropy[1] == pytest.approx(sum(surprises) / len(surprises))
