"""Results and sweeps with few checks, for tests of what can be done with them."""

import sys
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from tests.models.hand_made import parentheses_net

import stacklens as sl
from stacklens.extract.accuracy import scores_by_size
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation import sweep as sweep_row
from stacklens.extract.extraction import extract
from stacklens.extract.specification import Specification
from stacklens.models.base import Checkpoint, StackModel
from stacklens.models.checkpoint import save_model

QUICK: dict[str, Any] = {
    "max_length": 5,
    "long_words": 50,
    "deep_words": 1,
    "depth": 20,
    "height": 5,
    "climbs": 1,
    "walks": 5,
    "cycles": 8,
}


BUFFERED = "buffered-neural-stack-reversal"
IN_VAIN: dict[str, Any] = {**QUICK, "method": "learn", "budget": 1e-9}  # it ends before anything is found


@cache
def quick_failure() -> sl.Extraction:
    """Return a result without an automaton; what is measured before the search is, on the slowest machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stacklens.extract.samples._LEAST_SAMPLED", 600.0)
        patch.setattr(sys.modules[extract.__module__], "_LEAST_WHY", 600.0)
        return sl.extract(BUFFERED, **IN_VAIN)


@cache
def quick_result(name: str) -> sl.Extraction:
    return sl.extract(name, **QUICK)


_READ: dict[tuple[object, ...], sl.Extraction] = {}


def read_once(
    model: StackModel[Any], specification: Specification | None = None, config: ExtractionConfig | None = None
) -> sl.Extraction:
    """Return `extract`'s result, of networks with the same weights that of the first one.

    It stands in for `extract` where a test is about what surrounds it.
    """
    weights = tuple((name, tuple(value.flatten().tolist())) for name, value in model.state_dict().items())
    asked = (weights, specification and specification.name, config)
    if asked not in _READ:
        _READ[asked] = extract(model, specification, config or ExtractionConfig())
    return replace(_READ[asked], model=model)


def save_parentheses(path: str | Path, **provenance: Any) -> None:
    """Save a network that recognises parentheses."""
    save_model(path, Checkpoint(parentheses_net(), {"kind": "recognition", "language": "parentheses"}, provenance))


def sweep_quickly(patch: pytest.MonkeyPatch) -> None:
    """Let sweeps read networks once, with few checks, and score them on short words."""
    config = ExtractionConfig(**QUICK)
    patch.setattr(sweep_row, "scores_by_size", partial(scores_by_size, largest=12))
    patch.setattr(sweep_row, "extract", lambda model, language, _: read_once(model, language, config))
