from __future__ import annotations

from pathlib import Path

import pytest

from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.memory_use import relevant_stacks
from stacklens.languages.catalogue import get_task
from stacklens.models.checkpoint import load_network

ZOO = Path(__file__).parents[2] / "models" / "zoo"
SMALL = ExtractionConfig(long_words=400, long_lengths=(30, 60), deep_words=2)
STREAMS = ["anbn", "anb2n", "anbncn", "anbncndn", "anbmcnm"]


@pytest.mark.parametrize("name", ["anbn", pytest.param("anbncn", marks=pytest.mark.slow)])
def test_the_zoo_gives_automata_that_nothing_contradicts(name: str) -> None:
    found = extract(load_network(ZOO / f"stack-rnn-{name}.pt").model, get_task(name), SMALL)
    assert found.status == 0
    assert {check.other: check.disagreements for check in found.checks if check.other != "network"} == {
        "language": 0,
        "rounded network": 0,
    }


@pytest.mark.parametrize(("name", "needed"), list(zip(STREAMS, (1, 2, 2, 2, 1), strict=True)))
def test_stacks_that_the_pattern_does_not_need_do_not_matter(name: str, needed: int) -> None:
    model, task = load_network(ZOO / f"stack-rnn-{name}.pt").model, get_task(name)
    examples = task.sample(40, (2, 30))
    use = relevant_stacks(model, examples.words, examples.mask)
    assert len(use.kept) == needed
    assert use.without(model).n_stacks == needed
