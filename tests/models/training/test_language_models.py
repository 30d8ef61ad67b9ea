"""Language models over words: perplexities against plain sums, and the schedule."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from stacklens.papers.joulin2015_words import Texts, WordRecipe, WordTraining, read_texts

LINES = ("the cat sees the dog", "a dog sees the cat", "the dog sleeps", "a cat sleeps")
SHAPES: dict[str, dict[str, Any]] = {
    "rnn": {"hidden": 6, "controller": "rnn", "task_kind": "next symbol"},
    "lstm": {"hidden": 6, "controller": "lstm", "task_kind": "next symbol"},
    "scrn": {"hidden": 6, "context": 3},
    "stack-rnn": {"hidden": 6, "n_stacks": 3, "recurrent": True, "stack_limit": 10},
}


def texts(folder: Path, lines: str = "\n".join(LINES * 20)) -> Texts:
    paths = [folder / f"{part}.txt" for part in ("train", "valid", "test")]
    for path, content in zip(paths, (lines, "the dog sees a cat", "the dog sees a cat\n\na dog"), strict=True):
        path.write_text(content, encoding="utf-8")
    return read_texts(*paths)


@pytest.mark.parametrize("model", SHAPES)
def test_perplexity_is_that_of_the_words_one_by_one(tmp_path: Path, model: str) -> None:
    text = texts(tmp_path)
    training = WordTraining(model, WordRecipe(SHAPES[model], streams=4, window=3), text, seed=1)
    state, total = training.net.initial_state(1), 0.0
    with torch.no_grad():
        for now, following in zip(text.test[:-1].tolist(), text.test[1:].tolist(), strict=True):
            step = training.net.step(torch.tensor([now]), state)
            state, total = step.state, total - math.log(float(step.output[0, following]))
    assert training.tested() == pytest.approx(math.exp(total / (len(text.test) - 1)), rel=1e-5)


@pytest.mark.parametrize("model", SHAPES)
def test_a_few_epochs_teach_something_and_the_same_seed_gives_the_same(tmp_path: Path, model: str) -> None:
    text = texts(tmp_path)
    found = []
    for _ in range(2):
        training = WordTraining(model, WordRecipe(SHAPES[model], epochs=4, streams=4, window=10, rate=0.03), text)
        before = training.perplexity(text.valid)
        while not training.done:
            training.epoch()
        assert training.epochs_done == 4
        assert training.best < before
        found.append((training.best, training.tested()))
    assert found[0] == found[1]


def test_the_rate_falls_to_nothing_and_what_is_no_better_is_not_kept(tmp_path: Path) -> None:
    training = WordTraining("rnn", WordRecipe(SHAPES["rnn"], epochs=2, streams=4, rate=0.01), texts(tmp_path))
    training.best = 0.0
    before = {name: value.clone() for name, value in training.net.state_dict().items()}
    assert training.learning_rate() == 0.01
    training.epoch()
    assert training.learning_rate() == pytest.approx(0.005)
    training.epoch()
    assert training.done
    assert training.learning_rate() == pytest.approx(0)
    assert any(not torch.equal(before[name], value) for name, value in training.net.state_dict().items())
    training.tested()
    assert all(torch.equal(before[name], value) for name, value in training.net.state_dict().items())
    training.epoch()
    assert training.epochs_done == 2
