"""Language models over words: files, perplexities against plain sums, and the schedule."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from stacklens.errors import FileFormatError, StacklensError
from stacklens.models.training.language_models import Texts, WordRecipe, WordTraining, read_texts

LINES = ("the cat sees the dog", "a dog sees the cat", "the dog sleeps", "a cat sleeps")
SHAPES: dict[str, dict[str, Any]] = {
    "rnn": {"hidden": 6, "controller": "rnn", "task_kind": "next symbol"},
    "lstm": {"hidden": 6, "controller": "lstm", "task_kind": "next symbol"},
    "stack-rnn": {"hidden": 6, "n_stacks": 3, "recurrent": True, "stack_limit": 10},
}


def files(folder: Path, train: str = "\n".join(LINES * 20), rest: str = "the dog sees a cat\n\na dog") -> list[Path]:
    paths = [folder / f"{part}.txt" for part in ("train", "valid", "test")]
    for path, content in zip(paths, (train, rest, rest), strict=True):
        path.write_text(content, encoding="utf-8")
    return paths


def texts(folder: Path) -> Texts:
    return read_texts(*files(folder))


def test_a_line_ends_with_a_word_of_its_own_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    found = texts(tmp_path)
    assert found.vocabulary == ("the", "cat", "sees", "dog", "<eos>", "a", "sleeps")
    assert " ".join(found.vocabulary[number] for number in found.test) == "the dog sees a cat <eos> a dog <eos>"


def test_strange_words_are_unknown_where_the_training_part_has_such(tmp_path: Path) -> None:
    found = read_texts(*files(tmp_path, "the <unk> sees", "the cow sees"))
    assert [found.vocabulary[number] for number in found.valid] == ["the", "<unk>", "sees", "<eos>"]
    with pytest.raises(FileFormatError, match=r"valid.txt: the word 'cow' is not in .*train.txt; put <unk> there"):
        read_texts(*files(tmp_path, "the cat sees", "the cow sees"))


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "no words there"), (b"\n \n", "no words there"), (b"\xff\xfe", "it is no UTF-8 text")],
)
def test_a_file_that_is_no_text_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    train, valid, test = files(tmp_path)
    valid.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"valid.txt: .*{message}"):
        read_texts(train, valid, test)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    train, valid, _ = files(tmp_path)
    with pytest.raises(FileFormatError, match=r"missing.txt: no such file; expected a"):
        read_texts(train, valid, tmp_path / "missing.txt")


@pytest.mark.parametrize("model", SHAPES)
def test_perplexity_is_that_of_the_words_one_by_one(tmp_path: Path, model: str) -> None:
    text = texts(tmp_path)
    training = WordTraining(model, WordRecipe(SHAPES[model], streams=4, window=3), text, seed=1)
    state, total = training.net.initial_state(1), 0.0
    with torch.no_grad():
        for now, following in zip(text.test[:-1].tolist(), text.test[1:].tolist(), strict=True):
            step = training.net.step(torch.tensor([now]), state)
            state, total = step.state, total - math.log(float(step.output[0, following]))
    assert training.tested() == pytest.approx(math.exp(total / (len(text.test) - 1)))


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


def test_no_better_validation_halves_the_rate_and_brings_back_the_best(tmp_path: Path) -> None:
    training = WordTraining("rnn", WordRecipe(SHAPES["rnn"], streams=4, rate=0.01, least_rate=0.004), texts(tmp_path))
    training.best = 0.0
    before = {name: value.clone() for name, value in training.net.state_dict().items()}
    training.epoch()
    assert training.rate == 0.005
    assert all(torch.equal(before[name], value) for name, value in training.net.state_dict().items())
    training.epoch()
    assert training.done
    training.epoch()
    assert training.epochs_done == 2


def test_streams_are_the_text_in_pieces(tmp_path: Path) -> None:
    text = texts(tmp_path)
    streams = WordTraining("rnn", WordRecipe(SHAPES["rnn"], streams=4), text)._streams
    each = len(text.train) // 4
    assert np.array_equal(streams.T.flatten().numpy(), text.train[: 4 * each])


def test_a_text_too_short_for_so_many_places_is_refused(tmp_path: Path) -> None:
    text = read_texts(*files(tmp_path, "the cat", "the cat"))
    with pytest.raises(StacklensError, match="3 words of training are too few to read in 20 places at once"):
        WordTraining("rnn", WordRecipe(SHAPES["rnn"]), text)
