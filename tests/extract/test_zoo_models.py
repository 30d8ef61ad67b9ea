"""What comes out of the zoo's networks that were trained by `stacklens train` on the papers' tasks, at small sizes."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import pytest

from stacklens.automata.compare import Equal
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.languages.catalogue import get_task
from stacklens.models.checkpoint import load_checkpoint

SMALL = ExtractionConfig(max_length=5, long_words=200, long_lengths=(20, 60), deep_words=2, depth=40)
# file: states and stack symbols of the papers' way, clusters of hidden vectors
EXACT = {
    "marnn-stack-rnn-dyck-2-firm": (2, 3),
    "marnn-stack-rnn-dyck-3": (3, 4),
    "marnn-stack-lstm-dyck-2": (2, 3),
    "marnn-stack-rnn-homomorphic-palindrome": (5, 3),
    "marnn-stack-rnn-string-reversal": (2, 3),
    "neural-stack-reversal": (1, 2),
    "neural-stack-delayed-xor": (1, 2),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * ("marnn" in name)) for name in EXACT])
def test_a_trained_network_gives_an_automaton_that_nothing_contradicts(name: str) -> None:
    checkpoint = load_checkpoint(str(files("stacklens.models") / "zoo" / f"{name}.pt"))
    task = get_task(checkpoint.task["language"])
    assert checkpoint.task["kind"] == checkpoint.model.task_kind == task.kind
    result = extract(checkpoint.model, task, replace(SMALL, method="kmeans"))
    assert result.status == 0, result.reason or result.contradicted
    assert result.automaton is not None
    assert (len(result.automaton.states), len(result.automaton.stack_alphabet)) == EXACT[name]
    assert all(check.disagreements == 0 for check in result.checks if check.other != "network")


def test_the_buffered_network_is_read_on_whole_words() -> None:
    checkpoint = load_checkpoint(str(files("stacklens.models") / "zoo" / "buffered-neural-stack-reversal.pt"))
    result = extract(checkpoint.model, get_task(checkpoint.task["language"]), SMALL)
    assert result.status == 0
    assert isinstance(result.proof, Equal)
    assert result.automaton is not None
    assert (len(result.automaton.states), len(result.automaton.stack_alphabet)) == (1, 2)
    assert result.automaton.real_time
    assert result.automaton.written("011###")[3:] == ["1", "1", "0"]
    assert (result.view, result.divergence, result.drift) == (None, None, None)
