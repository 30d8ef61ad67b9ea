"""N-grams with modified Kneser-Ney smoothing, and a cache of the words read last.

Chen & Goodman 1999, "An empirical study of smoothing techniques for language modeling", section 3: every order gives a
little of what it has seen to the order below, and an order below the highest counts in how many contexts a sequence
stands, not how often. Mikolov et al. 2011, "Empirical evaluation and combination of advanced language modeling
techniques", has both models on the Penn Treebank, which Joulin & Mikolov 2015 quote in table 4.

Everything is arrays: a sequence of k words is the number of its first k - 1 words and its last word, as one integer.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..core.errors import FileFormatError, StacklensError
from ..core.files import LARGEST_CORPUS, read_text, read_whole
from ..models.base import NetworkState, one_thread
from ..models.networks import build_model
from ..models.training.loop import TrainingLoop, cosine, detached, log_loss

Numbers = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]
_WINDOWS = (100, 200, 500, 1_000, 2_000, 5_000)  # words that a cache may hold
_WEIGHTS = tuple(round(0.01 * percent, 2) for percent in range(51))  # of a cache


@dataclass(frozen=True)
class _Order:
    """Sequences of k words that were seen, and what follows from them."""

    keys: Numbers  # sorted, one a sequence: (place of its first k - 1 words in the order below) * n_words + last word
    seen: Shares  # how often each counts, less its discount, (sequences,)
    totals: Shares  # how often something follows each sequence of k - 1 words, (contexts,)
    passed: Shares  # what is left for the order below there, as a share of the total, (contexts,)


class NgramModel:
    """An interpolated n-gram model of a ``stream`` (T,) of words, which are numbers below ``n_words``.

    Contexts are the ``order - 1`` words before, ends of lines among them; fewer where the stream begins. Below single
    words there is the uniform distribution, so that no word is impossible. Raises StacklensError: the stream is empty
    or has other words, or the order is less than 1.

    >>> model = NgramModel(np.array([0, 1, 0, 1, 2]), n_words=3, order=2)
    >>> model.probabilities(np.array([0, 1])).round(3).tolist()  # after so few words all is left to single words
    [0.333, 0.35]
    """

    def __init__(self, stream: Numbers, n_words: int, order: int = 5) -> None:
        if order < 1:
            raise StacklensError(f"order is {order}; expected 1 or more")
        if not len(stream) or stream.min() < 0 or stream.max() >= n_words:
            raise StacklensError(f"expected a stream of words that are numbers from 0 to {n_words - 1}")
        self.n_words, self.order = n_words, min(order, len(stream))
        # the keys of all sequences of 1 to `order` words, and how often each counts: the longest as often as they come,
        # all others once for every word that stands before them
        counted: list[tuple[Numbers, Shares]] = []
        place = np.zeros(len(stream) + 1, np.int64)  # of the sequence of k - 1 words that begins at each place
        for k in range(1, self.order + 1):
            every = place[: len(stream) - k + 1] * n_words + stream[k - 1 :]
            keys, first, numbers, counts = np.unique(every, return_index=True, return_inverse=True, return_counts=True)
            if counted:  # of every sequence of k words the place of its last k - 1
                before = np.bincount(place[first + 1], minlength=len(counted[-1][0]))
                counted[-1] = counted[-1][0], before.astype(np.float64)
            counted.append((keys, counts.astype(np.float64)))
            place = numbers
        self._orders: list[_Order] = []
        contexts = 1
        for keys, counts in counted:
            # modified Kneser-Ney discounts, Chen & Goodman 1999, eq. 26: D1, D2 and D3+, for what counts once, twice,
            # and three times or more, from how many sequences count one to four times
            ones, twos, threes, fours = (int((counts == n).sum()) for n in (1, 2, 3, 4))
            y = ones / (ones + 2 * twos) if ones else 0.0
            ratios = ((twos, ones, 2), (threes, twos, 3), (fours, threes, 4))
            found = [n - 1 - n * y * more / fewer if fewer else 0.5 for more, fewer, n in ratios]
            discounts = np.array([0.0, *(min(max(one, 0.05), n + 0.95) for n, one in enumerate(found))])
            taken = discounts[np.minimum(counts, 3).astype(np.int64)]
            # what is taken from a context's sequences is passed to the order below
            context = keys // n_words
            totals: Shares = np.bincount(context, counts, contexts).astype(np.float64)
            passed = np.bincount(context, taken, contexts) / np.maximum(totals, 1)
            self._orders.append(_Order(keys, counts - taken, totals, passed))
            contexts = len(keys)

    def probabilities(self, stream: Numbers) -> Shares:
        """Return how likely each word of ``stream`` (T,) is after those before it, (T,)."""
        chances = np.full(len(stream), 1 / self.n_words)
        # of every word, and of what would follow, the place of the k - 1 words before it; -1 for unseen
        before = np.zeros(len(stream) + 1, np.int64)
        for order in self._orders:
            known = np.flatnonzero(before[:-1] >= 0)
            totals, wanted = order.totals[before[known]], before[known] * self.n_words + stream[known]
            places = np.minimum(np.searchsorted(order.keys, wanted), len(order.keys) - 1)
            there = order.keys[places] == wanted
            # interpolation: the order's own share, and the rest by the order below, which is asked alone where nothing
            # counts, as after words that only the stream begins with
            own = np.where(there, order.seen[places], 0) / np.maximum(totals, 1)
            mixed = own + order.passed[before[known]] * chances[known]
            chances[known] = np.where(totals > 0, mixed, chances[known])
            # the k words before a word are the k - 1 before the last of them, and that one
            before = np.full(len(stream) + 1, -1)
            before[known + 1] = np.where(there, places, -1)
        return chances


@dataclass(frozen=True)
class Cache:
    """The words read last, each as likely as it is frequent among them, mixed with another model."""

    window: int  # how many words it holds
    weight: float  # its share of the mixture, from 0 to 1

    def mixed(self, chances: Shares, stream: Numbers) -> Shares:
        """Return the mixture's probabilities of the words of ``stream`` (T,), given those of the other model, (T,).
        Where nothing was read yet the other model speaks alone.
        """
        return _mixture(chances, _frequencies(stream, self.window), self.weight)


def _mixture(chances: Shares, frequent: Shares, weight: float) -> Shares:
    mixture: Shares = (1 - weight) * chances + weight * frequent
    mixture[:1] = chances[:1]
    return mixture


def _frequencies(stream: Numbers, window: int) -> Shares:
    """Return which share of the ``window`` words before each word are that word, (T,); 0 for the first."""
    at = np.arange(len(stream))
    keys = stream * (len(stream) + 1) + at
    # words by number and place, so that those of a window are a run of them
    order = np.sort(keys)
    since = stream * (len(stream) + 1) + np.maximum(at - window, 0)
    held = np.searchsorted(order, keys) - np.searchsorted(order, since)
    return np.asarray(held / np.maximum(np.minimum(at, window), 1), np.float64)


def best_cache(chances: Shares, stream: Numbers) -> Cache:
    """Return the cache with which a model's ``chances`` of the words of ``stream`` make the smallest perplexity."""
    found: dict[Cache, float] = {}
    for window in _WINDOWS:
        frequent = _frequencies(stream, window)
        found |= {Cache(window, weight): perplexity(_mixture(chances, frequent, weight)) for weight in _WEIGHTS}
    return min(found, key=lambda cache: found[cache])


def perplexity(chances: Shares) -> float:
    """Return the perplexity of a stream whose words have ``chances`` (T,); that of the first, with nothing before it,
    does not count, as no network is asked for it.

    >>> perplexity(np.array([0.1, 0.5, 0.125]))
    4.0
    """
    return math.exp(-float(np.log(chances[1:]).mean()))


# ---- Texts for language models: three files of words as they are, or one text that is made into words and split.
# The usual form of the Penn Treebank (Mikolov et al. 2011) sets the example for a text of one's own: lower case, no
# punctuation, N for numbers, ``<unk>`` for rare words, a sentence a line.

END_OF_SENTENCE, UNKNOWN, NUMBER = "<eos>", "<unk>", "N"
_RARE = 3  # words that come less often are unknown
_FEWEST_LINES = 10  # one for each tenth
_REFERENCE = re.compile(r"\s*(?:[1-3] ?)?[A-Za-z][A-Za-z ]*\d+:\d+\s")  # "Ge1:1 ", "1 John 3:16 "
_WORD = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_DEBIAN = b"EC02Compressed Data File"  # how bible.data of the package bible-kjv-text begins


@dataclass(frozen=True)
class Texts:
    """A text in three parts, as numbers of words."""

    vocabulary: tuple[str, ...]  # the words of the training part, in the order in which they come
    train: npt.NDArray[np.int64]  # the parts, (words,) each
    valid: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


def read_texts(train: Path, valid: Path, test: Path) -> Texts:
    """Return the text in three files: a sentence a line, words with blanks between them, UTF-8.

    The end of every line is a word of its own, ``<eos>``. Words that the training part lacks are read as ``<unk>``,
    which should stand there in place of rare words, as in the usual form of the Penn Treebank. Raises FileFormatError:
    a file cannot be read, or has no words, or has words that the training part lacks while that has no ``<unk>``.
    """
    expected, words = "a text, a sentence a line", list[list[str]]()
    for path in (train, valid, test):
        lines = filter(None, map(str.split, _text_lines(path, expected)))
        words.append([word for line in lines for word in (*line, END_OF_SENTENCE)])
        if not words[-1]:
            raise FileFormatError(f"{path}: no words there; expected {expected}")
    if UNKNOWN not in words[0]:
        known = set(words[0])
        for path, part in zip((valid, test), words[1:], strict=True):
            if strange := next((word for word in part if word not in known), None):
                raise FileFormatError(
                    f"{path}: the word {strange!r} is not in {train}; put {UNKNOWN} there in place of rare words"
                )
    return _as_numbers(tuple(dict.fromkeys(words[0])), words)


def split_text(path: Path) -> Texts:
    """Return the text in one file, a verse or sentence a line, split into tenths: eight, one and one, in its order.

    A reference in front of a verse ("Ge1:1") is left out. What is left is read in lower case, without punctuation, each
    number as ``N``. Words that the training part has less than three times are ``<unk>``. The end of every line is a
    word of its own, ``<eos>``. Raises FileFormatError: the file cannot be read, or has fewer than ten lines of words.
    """
    expected = "a text, a verse or sentence a line"
    lines = list[list[str]]()
    for line in _text_lines(path, expected):
        begin = found.end() if (found := _REFERENCE.match(line)) else 0
        if words := [NUMBER if word["number"] else word[0].lower() for word in _WORD.finditer(line, begin)]:
            lines.append([*words, END_OF_SENTENCE])
    if len(lines) < _FEWEST_LINES:
        raise FileFormatError(
            f"{path}: only {len(lines)} lines with words, expected {_FEWEST_LINES} or more; it should be {expected}"
        )
    first, second = len(lines) * 8 // 10, len(lines) * 9 // 10
    parts = [list(chain(*part)) for part in (lines[:first], lines[first:second], lines[second:])]
    times = Counter(parts[0])
    read = (word if times[word] >= _RARE else UNKNOWN for word in parts[0])
    return _as_numbers(tuple(dict.fromkeys([*read, UNKNOWN])), parts)


def _as_numbers(vocabulary: tuple[str, ...], parts: list[list[str]]) -> Texts:
    number = {word: i for i, word in enumerate(vocabulary)}
    unknown = number.get(UNKNOWN, 0)
    return Texts(vocabulary, *(np.array([number.get(word, unknown) for word in part], np.int64) for part in parts))


def _text_lines(path: Path, expected: str) -> list[str]:
    content = read_whole(path, expected, LARGEST_CORPUS)
    if content.startswith(_DEBIAN):
        raise FileFormatError(f"{path}: is compressed; give what `bible -f gen1:1-rev22:21` prints, a verse a line")
    return read_text(path, expected, content).splitlines()


# ---- Training language models on a text, a window of words at a time, at a rate that falls to nothing ----
# Joulin & Mikolov 2015, section 5.2 and table 4: the symbols of the network are the words of the training text, the
# rows of its input weights their embeddings. Many places of the text are read side by side, memories being carried on.

_CLIP = 5.0
_READ = 500  # words at once where nothing is learned


@dataclass(frozen=True)
class WordRecipe:
    """How a language model is trained."""

    shape: dict[str, Any]  # arguments of the model's configuration besides the alphabet
    epochs: int = 20  # how often the training part is read
    streams: int = 20  # places of the text that are read side by side
    window: int = 50  # words between two updates, and how far errors go back (section 5: 50)
    rate: float = 0.003  # Adam's learning rate in the beginning; it falls to 0 as half a cosine


class WordTraining(TrainingLoop):
    """One network of ``seed``, trained on a text; call `epoch` until `done`. It is kept as it was ``best``, by the
    perplexity of the validation part. Raises StacklensError: the training part is too short for the recipe's streams.
    """

    recipe: WordRecipe

    def __init__(self, model: str, recipe: WordRecipe, texts: Texts, *, seed: int = 0, device: str = "cpu") -> None:
        if len(texts.train) < 2 * recipe.streams:
            raise StacklensError(
                f"{len(texts.train)} words of training are too few to read in {recipe.streams} places at once"
            )
        self.recipe, self.texts, self.device = recipe, texts, device
        net = build_model(model, {"alphabet": texts.vocabulary, **recipe.shape}, seed=seed)
        self.net = net.float().to(device)  # nearly all time goes into the outputs, thousands of words each
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=recipe.rate, fused=True)
        self.best, self._updates = math.inf, 0
        self.begin()

    def learning_rate(self) -> float:
        windows = math.ceil((len(self._streams) - 1) / self.recipe.window)
        return self.recipe.rate * cosine(self._updates, self.recipe.epochs * windows)

    @cached_property
    def _streams(self) -> Tensor:
        each = len(self.texts.train) // self.recipe.streams
        return torch.from_numpy(self.texts.train[: each * self.recipe.streams]).view(self.recipe.streams, each).T

    def batches(self) -> Iterator[Tensor]:
        self._state: NetworkState[Any] = self.net.initial_state(self.recipe.streams)
        for begin in range(0, len(self._streams) - 1, self.recipe.window):
            yield self._streams[begin : begin + self.recipe.window + 1].to(self.device)

    def costs(self, batch: Tensor) -> Tensor:
        made = self.net.run(batch[:-1], detached(self._state))
        self._state = made.state
        return log_loss(made.output, batch[1:]).mean()

    def update(self) -> None:
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), _CLIP)
        super().update()
        self._updates += 1

    def check(self) -> None:
        found = self.perplexity(self.texts.valid)
        if found < self.best:
            self.best = found
            self.keep()

    @torch.enable_grad()  # nothing is learned here; but many steps are taken at once, and fast, only where it could be
    def perplexity(self, part: npt.NDArray[np.int64]) -> float:
        """Return the perplexity on ``part`` (words,), read from its beginning to its end, with the weights of now."""
        words, state, total = torch.from_numpy(part).unsqueeze(1).to(self.device), self.net.initial_state(1), 0.0
        for begin in range(0, len(words) - 1, _READ):
            there = words[begin : begin + _READ + 1]
            made = self.net.run(there[:-1], detached(state))
            state = made.state
            total += float(log_loss(made.output.detach(), there[1:]).sum())
        return math.exp(total / (len(words) - 1))

    def tested(self) -> float:
        """Return the perplexity on the test part with the weights that were best on validation."""
        self.bring_back()
        with one_thread():
            return self.perplexity(self.texts.test)
