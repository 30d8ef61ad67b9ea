"""What is measured before anything is extracted, against plain sums and finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from stacklens.languages.catalogue import get_task
from stacklens.models.checkpoint import load_checkpoint
from stacklens.models.rounding import Rounded
from stacklens.papers.measures import PREDICTORS, action_entropy, predictors, sample_words, spectral_radii
from stacklens.papers.sun1993 import zoo_path
from stacklens.probe.trace import trace


def zoo(name: str):  # type: ignore[no-untyped-def]
    return load_checkpoint(zoo_path("parentheses").parent / f"{name}.pt").model


def test_every_figure_that_is_named_is_measured() -> None:
    model = zoo("marnn-stack-rnn-dyck-2")
    words = sample_words(get_task("dyck-2"))
    found = predictors(model, words)
    assert list(found) == [*PREDICTORS, "drift by step"]
    seen = trace(model, words, stacks=False)
    shares = [row for word, n in zip(seen.actions, seen.steps, strict=True) for row in word[:n, 0].tolist()]
    plain = [-sum(p * math.log(p) for p in row if p > 0) for row in shares]
    assert found["action entropy"] == pytest.approx(sum(plain) / len(plain), rel=1e-4)
    leads = [(sorted(row)[-1] - sorted(row)[-2]) / 2 for row in shares]
    assert found["action margin"] == pytest.approx(sum(leads) / len(leads), rel=1e-4)
    drift = found["drift by step"]
    assert drift["steps"] == [10, 25, 50, 75, 100]
    assert found["output drift"] == drift["outputs"][-1] > 0
    assert 0 < found["spectral radius"] <= found["spectral radius, largest"]


def test_a_rounded_network_is_its_own_rounded_form() -> None:
    found = predictors(Rounded(zoo("marnn-stack-rnn-dyck-2")), sample_words(get_task("dyck-2"))[:5])
    assert found["action entropy"] == pytest.approx(0, abs=1e-9)
    assert found["output drift"] == found["hidden drift"] == 0
    assert found["action margin"] == 0.5


def test_entropies_of_strengths_and_signs_are_those_of_coins() -> None:
    half = np.array([[[0.5, 1.0]]])
    assert action_entropy("strengths", half).item() == pytest.approx(math.log(2))
    assert action_entropy("signed", np.array([[[-0.5]], [[1.0]]])).ravel() == pytest.approx([math.log(2), 0], abs=1e-9)
    assert action_entropy("none", np.zeros((3, 1, 2))).shape == (3, 0)


def test_spectral_radii_are_those_of_finite_differences() -> None:
    model = zoo("marnn-stack-lstm-dyck-2")
    seen = trace(model, ["([])"], stacks=False)
    found = spectral_radii(model, seen)
    assert len(found) == 4
    plain = []
    for t in range(4):
        symbol, reading = torch.tensor(seen.symbols[0, t : t + 1]).long(), torch.tensor(seen.reading[0, t : t + 1])
        hidden = torch.tensor(seen.hidden[0, t : t + 1])
        columns = []
        for unit in range(hidden.shape[1]):
            step = torch.zeros_like(hidden)
            step[0, unit] = 1e-6
            with torch.no_grad():
                high, low = (model.controller(symbol, hidden + sign * step, reading).hidden[0] for sign in (1, -1))
            columns.append(((high - low) / 2e-6).double().numpy())
        plain.append(np.abs(np.linalg.eigvals(np.stack(columns, 1))).max())
    assert sorted(found) == pytest.approx(sorted(plain), rel=1e-3)


def test_a_controller_without_a_state_has_no_spectral_radius() -> None:
    found = predictors(zoo("neural-stack-reversal"), sample_words(get_task("reversal"))[:3])
    assert found["spectral radius"] is None
    assert found["hidden drift"] == 0
