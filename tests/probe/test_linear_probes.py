from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.probe.causal.mechanisms import BRACKETS, Mechanism

import stacklens as sl
from stacklens.automata.pda import Word
from stacklens.core.errors import StacklensError
from stacklens.languages.catalogue import get_language
from stacklens.probe.geometry import linear_probes
from stacklens.probe.trace import Trace, trace

WORDS: list[Word] = get_language("dyck-2").sample(120, (2, 24), True, 0)


def joined(copied: int = 0) -> Trace:
    return trace(Mechanism(copied), WORDS, stacks=False).with_automaton(BRACKETS)


def test_what_a_hidden_vector_holds_is_found_on_longer_words() -> None:
    """The height is a unit, and the copied symbols below the top are others: linear in the vector by construction."""
    found = linear_probes(joined(), targets=("depth", "top", "position"))
    assert found["top"].accuracy > 0.95
    assert found["top"].majority < 0.5
    assert found["top"].selectivity > 0.3
    assert found["depth"].by_depth[1] > 0.95
    assert found["position"].accuracy < 0.3  # held-out lengths have positions that training did not show
    assert list(found.to_frame().target) == ["depth", "top", "position"]
    assert "tested on longer ones" in str(found)


def test_vectors_that_hold_nothing_are_no_better_than_the_majority() -> None:
    seen = joined()
    noise = np.random.default_rng(0).normal(size=seen.hidden.shape)
    found = linear_probes(replace(seen, hidden=noise), targets=("top", "depth"))
    for probe in found.probes:
        assert probe.accuracy <= probe.majority + 0.05


def test_what_cannot_be_probed_is_told() -> None:
    with pytest.raises(StacklensError, match="there is no probe for 'colour'; expected some of state, depth"):
        linear_probes(joined(), targets=("colour",))
    with pytest.raises(StacklensError, match="no words of length <= 1"):
        linear_probes(joined(), longest=1)
    with pytest.raises(StacklensError, match="join one with"):
        linear_probes(trace(Mechanism(0), WORDS, stacks=False))
    with pytest.raises(StacklensError, match="no hidden vector to probe"):
        linear_probes(sl.trace("neural-stack-reversal", ["01", "1"]))
