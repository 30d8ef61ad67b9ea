"""Interchange experiments on results: what `result.causal` takes, where it is undefined, and that it is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stacklens as sl
from stacklens.errors import StacklensError
from stacklens.extract.result import Extraction


@pytest.fixture(scope="module")
def reversal() -> Extraction:
    return sl.extract("marnn-stack-rnn-string-reversal", quiet=True, max_length=5)


def test_a_result_says_what_its_states_and_symbols_are_the_cause_of(reversal: Any) -> None:
    found = reversal.causal(seed=1, cases=300)
    assert found.symbols.accuracy == 1.0
    assert found.symbols.interval[0] > 0.98
    assert found.symbols.baseline < 0.6
    assert found.symbols.worst is None
    assert 0.9 < found.states.accuracy < 1.0  # a leak between the phases of reading and writing: see docs/probing.md
    assert set(found.states.worst) <= set(reversal.model.alphabet)
    assert found == reversal.causal(seed=1, cases=300)
    assert reversal.causal(cases=100, automaton="raw").automaton == "raw"
    assert reversal.causal(cases=100, automaton=reversal.automaton).automaton == "given"
    assert 0 <= reversal.causal(cases=100, values="centre").states.accuracy <= 1


def test_what_was_found_is_in_report_summary_and_file(reversal: Any, tmp_path: Path) -> None:
    result = replace(reversal, causality=reversal.causal(cases=100))
    assert "causal     states: " in str(result)
    assert "causal" not in str(reversal)
    assert result.report()["causality"]["symbols"]["accuracy"] == 1.0
    result.save(tmp_path / "r.json")
    loaded = sl.load(tmp_path / "r.json")
    assert loaded == result
    assert loaded.causality == result.causality
    assert loaded.causal(cases=100) == result.causality


def test_what_cannot_be_interchanged_is_told(reversal: Any) -> None:
    for arguments, message in (
        ({"values": "mean"}, "values is 'mean'; expected source or centre"),
        ({"automaton": "small"}, "automaton is 'small'; expected minimised, raw, or an automaton"),
        ({"cases": 1}, "cases must be a whole number of at least 2, not 1"),
    ):
        with pytest.raises(StacklensError, match=message):
            reversal.causal(**arguments)
    with pytest.raises(StacklensError, match="there is no automaton: it sleeps"):
        replace(reversal, minimised=None, reason="it sleeps").causal()
    buffered = replace(reversal, model=sl.load("buffered-neural-stack-reversal"))
    with pytest.raises(StacklensError, match="reads and writes when it likes"):
        buffered.causal()
