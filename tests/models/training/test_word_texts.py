"""Texts for language models: three files as they are, one that is split, and what is no text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from stacklens.core.errors import FileFormatError
from stacklens.papers.joulin2015_words import Texts, read_texts, split_text

LINES = ("the cat sees the dog", "a dog sees the cat", "the dog sleeps", "a cat sleeps")


def files(folder: Path, train: str = "\n".join(LINES * 20), rest: str = "the dog sees a cat\n\na dog") -> list[Path]:
    paths = [folder / f"{part}.txt" for part in ("train", "valid", "test")]
    for path, content in zip(paths, (train, rest, rest), strict=True):
        path.write_text(content, encoding="utf-8")
    return paths


def written(folder: Path, content: str) -> Path:
    path = folder / "text.txt"
    path.write_text(content, encoding="utf-8")
    return path


def words(texts: Texts, part: npt.NDArray[np.int64]) -> str:
    return " ".join(texts.vocabulary[number] for number in part)


def test_a_line_ends_with_a_word_of_its_own_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    found = read_texts(*files(tmp_path))
    assert found.vocabulary == ("the", "cat", "sees", "dog", "<eos>", "a", "sleeps")
    assert words(found, found.test) == "the dog sees a cat <eos> a dog <eos>"


def test_strange_words_are_unknown_where_the_training_part_has_such(tmp_path: Path) -> None:
    found = read_texts(*files(tmp_path, "the <unk> sees", "the cow sees"))
    assert words(found, found.valid) == "the <unk> sees <eos>"
    with pytest.raises(FileFormatError, match=r"valid.txt: the word 'cow' is not in .*train.txt; put <unk> there"):
        read_texts(*files(tmp_path, "the cat sees", "the cow sees"))


def test_verses_are_read_as_the_penn_treebank_is_written(tmp_path: Path) -> None:
    verses = [
        "Ge1:1 In the BEGINNING; God's heaven -- in the beginning (God's heaven).",
        "1Sm17:4 In the beginning God's heaven 1,000 the, 2.5 the 30 beloved-one!",
        "Song of Solomon 1:1 The beginning: in God's heaven, in Café.",
    ]
    texts = split_text(written(tmp_path, "\n\n".join(["1 John 5:7 Rare words"] + verses * 3)))
    begins = (
        "<unk> <unk> <eos> in the beginning god's heaven in the beginning god's heaven <eos> "
        "in the beginning god's heaven N the N the N <unk> <eos> the beginning in god's heaven in <unk> <eos>"
    )
    assert words(texts, texts.train).startswith(begins)  # of eight lines: "beloved-one" and "café" come twice
    assert set(texts.vocabulary) == {"<unk>", "<eos>", "in", "the", "beginning", "god's", "heaven", "N"}


def test_a_text_is_split_in_tenths_by_its_lines_and_what_only_later_parts_have_is_unknown(tmp_path: Path) -> None:
    lines = ["x x x", *["y y"] * 15, "x", "z z z", "y", "z y"]
    texts = split_text(written(tmp_path, "\n".join(lines)))
    assert words(texts, texts.train) == "x x x <eos> " + " ".join(["y y <eos>"] * 15)
    assert words(texts, texts.valid) == "x <eos> <unk> <unk> <unk> <eos>"
    assert words(texts, texts.test) == "y <eos> <unk> y <eos>"
    assert texts.vocabulary == ("x", "<eos>", "y", "<unk>")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "no words there"), (b"\n \n", "no words there"), (b"\xff\xfe", "it is no UTF-8 text")],
)
def test_a_file_that_is_no_text_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    train, valid, test = files(tmp_path)
    valid.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"valid.txt: .*{message}"):
        read_texts(train, valid, test)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "only 0 lines with words, expected 10 or more; it should be a text, a verse or sentence a line"),
        (b"one line of many words " * 50, "only 1 lines with words"),
        (b"Ge1:1 \n...\n" * 20, "only 0 lines with words"),
        (b"\x89PNG\r\n\x1a\n", "it is no UTF-8 text; expected a text, a verse or sentence a line"),
        (b"EC02Compressed Data File\0\0\0", "is compressed; give what `bible -f gen1:1-rev22:21` prints"),
    ],
)
def test_what_is_no_text_of_verses_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"text.txt: .*{message}"):
        split_text(path)
