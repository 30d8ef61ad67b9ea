from __future__ import annotations

import pytest
from tests.viz.networks import network

from stacklens.extract.by_name import true_automaton
from stacklens.languages.catalogue import get_language, get_task
from stacklens.models.checkpoint import Checkpoint


@pytest.mark.parametrize(("name", "known"), [("anbn", True), (None, False), ("my own", False)])
def test_what_a_network_was_trained_on_may_be_known_or_not(name: str | None, known: bool) -> None:
    assert (true_automaton(Checkpoint(network("stack-rnn"), {"language": name}), "ab") is not None) == known


def test_a_predictors_language_is_preferred_to_its_task() -> None:
    brackets = Checkpoint(network("marnn-stack-rnn"), {"language": "dyck-1"})
    assert true_automaton(brackets, "()") == get_language("dyck-1").automaton
    stream = Checkpoint(network("stack-rnn"), {"language": "anbn"})
    assert true_automaton(stream, "ab") == get_task("anbn").reference
