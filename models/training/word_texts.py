"""Texts for language models: three files of words as they are, or one text that is made into words and split.

The usual form of the Penn Treebank (Mikolov et al. 2011) sets the example for a text of one's own: lower case, no
punctuation, N for numbers, ``<unk>`` for rare words, a sentence a line.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from stacklens.errors import FileFormatError
from stacklens.files import LARGEST_CORPUS, read_whole

__all__ = ["END_OF_SENTENCE", "UNKNOWN", "Texts", "read_texts", "split_text"]

END_OF_SENTENCE, UNKNOWN, NUMBER = "<eos>", "<unk>", "N"
_RARE = 3  # words that come less often are unknown
_FEWEST_LINES = 10  # one for each tenth
_REFERENCE = re.compile(r"\s*(?:[1-3] ?)?[A-Za-z][A-Za-z ]*\d+:\d+\s")  # "Ge1:1 ", "1 John 3:16 "
_WORD = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_DEBIAN = b"EC02Compressed Data File"  # how bible.data of the package bible-kjv-text begins


@dataclass(frozen=True)
class Texts:
    """A text in three parts, as numbers of words.

    Attributes:
        vocabulary: the words of the training part, in the order in which they come.
        train, valid, test: the parts, (words,) each.
    """

    vocabulary: tuple[str, ...]
    train: npt.NDArray[np.int64]
    valid: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


def read_texts(train: Path, valid: Path, test: Path) -> Texts:
    """Return the text in three files: a sentence a line, words with blanks between them, UTF-8.

    The end of every line is a word of its own, ``<eos>``. Words that the training part lacks are read as ``<unk>``,
    which should stand there in place of rare words, as in the usual form of the Penn Treebank.

    Raises:
        FileFormatError: a file cannot be read, or has no words, or has words that the training part lacks while that
            has no ``<unk>``.
    """
    words = [_words(path) for path in (train, valid, test)]
    if UNKNOWN not in words[0]:
        known = set(words[0])
        for path, part in zip((valid, test), words[1:], strict=True):
            if strange := next((word for word in part if word not in known), None):
                raise FileFormatError(
                    f"{path}: the word {strange!r} is not in {train}; put {UNKNOWN} there in place of rare words"
                )
    return _numbered(tuple(dict.fromkeys(words[0])), words)


def split_text(path: Path) -> Texts:
    """Return the text in one file, a verse or sentence a line, split into tenths: eight, one and one, in its order.

    A reference in front of a verse ("Ge1:1") is left out. What is left is read in lower case, without punctuation, each
    number as ``N``. Words that the training part has less than three times are ``<unk>``. The end of
    every line is a word of its own, ``<eos>``.

    Raises:
        FileFormatError: the file cannot be read, or fewer than ten of its lines have words.
    """
    expected = "a text, a verse or sentence a line"
    lines = [line for line in map(_words_of_line, _lines(path, expected)) if line]
    if len(lines) < _FEWEST_LINES:
        raise FileFormatError(
            f"{path}: only {len(lines)} lines with words, expected {_FEWEST_LINES} or more; it should be {expected}"
        )
    first, second = len(lines) * 8 // 10, len(lines) * 9 // 10
    parts = [
        [word for line in part for word in (*line, END_OF_SENTENCE)]
        for part in (lines[:first], lines[first:second], lines[second:])
    ]
    found = Counter(parts[0])
    read = (word if found[word] >= _RARE else UNKNOWN for word in parts[0])
    return _numbered(tuple(dict.fromkeys([*read, UNKNOWN])), parts)


def _words_of_line(line: str) -> list[str]:
    begin = found.end() if (found := _REFERENCE.match(line)) else 0
    return [NUMBER if word["number"] else word[0].lower() for word in _WORD.finditer(line, begin)]


def _numbered(vocabulary: tuple[str, ...], parts: list[list[str]]) -> Texts:
    number = {word: i for i, word in enumerate(vocabulary)}
    unknown = number.get(UNKNOWN, 0)
    return Texts(vocabulary, *(np.array([number.get(word, unknown) for word in part], np.int64) for part in parts))


def _words(path: Path) -> list[str]:
    expected = "a text, a sentence a line"
    words = [word for line in _lines(path, expected) if line.split() for word in (*line.split(), END_OF_SENTENCE)]
    if len(words) < 2:
        raise FileFormatError(f"{path}: no words there; expected {expected}")
    return words


def _lines(path: Path, expected: str) -> list[str]:
    content = read_whole(path, expected, LARGEST_CORPUS)
    if content.startswith(_DEBIAN):
        raise FileFormatError(f"{path}: is compressed; give what `bible -f gen1:1-rev22:21` prints, a verse a line")
    try:
        return content.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: cannot be read: it is no UTF-8 text; expected {expected}") from None
