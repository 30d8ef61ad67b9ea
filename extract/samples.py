"""The words on which candidates are compared with the rounded network, and words that an automaton itself suggests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.extract.answers import differences, network_answers
from stacklens.extract.fidelity import Rounding, rounding_fidelity
from stacklens.extract.specification import Specification, default_max_length, random_words
from stacklens.languages.words import all_words, format_word, make_word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded

__all__ = ["NestedWords", "Samples", "draw_samples", "nested_words", "walk_words"]

_SHORT = 20_000  # all words up to the length that gives at most so many
_DRAWN, _LENGTHS = 800, (10, 60)
_TOGETHER = 4_000  # words on which an automaton is run at once
_DEEPEST = 200  # how often parts of a word are nested
_RUNGS = (*range(1, 13), 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200)  # depths, where all are too many
_NESTED, _MOST_NESTED = (4, 9, 20, 60, 200), 8  # those of pairs that do not seem to count, and symbols of these
_FEW_SYMBOLS, _MANY = 3, 10_000  # up to so many symbols parts have two, where so many words may be asked
_COUNTING, _PUMPS = 4, 100  # families at most that are nested to every depth, and those of a reference to choose from
_TRACED = 400  # words of each sort whose hidden vectors are clustered


@dataclass(frozen=True)
class Samples:
    """Checking words with the answers of a network and its rounded twin.

    Attributes:
        words: all short words, then drawn longer ones.
        rounded: what the rounded network says of them, (N, 1) or (N, T) int (see `answers`).
        analog: what the network itself says of the short ones; on longer words its errors sum up.
        scored: which answers count, of the same shape; None for all.
        n_short: how many of the words are the short ones.
        traced: some of them on which hidden vectors are gathered: drawn ones, accepted ones and others.
        short_traced: the short ones among these.
    """

    words: list[Word]
    rounded: np.ndarray
    analog: np.ndarray
    scored: np.ndarray | None
    n_short: int
    traced: list[Word]
    short_traced: list[Word]

    def differing(self, answers_to: Callable[[list[Word]], np.ndarray], enough: int | None = None) -> list[Word]:
        """Return the words on which other answers differ from the rounded network's, in order.

        Args:
            answers_to: gives the other answers to some words, (M, 1) or (M, T') for words of at most T' symbols.
            enough: how many such words end the search, which looks at drawn ones first; None to look at all.
        """
        wrong: list[int] = []
        for part in self._parts():
            answers = answers_to([self.words[i] for i in part])
            width = answers.shape[1]
            scored = None if self.scored is None else self.scored[part, :width]
            different = np.any(differences(answers, self.rounded[part, :width], scored), axis=1)
            wrong += [part[i] for i in np.flatnonzero(different).tolist()]
            if enough is not None and len(wrong) > enough:
                break
        return [self.words[i] for i in sorted(wrong)]

    def _parts(self) -> Iterator[list[int]]:
        """Yield the numbers of the words, some at a time: drawn ones, then short ones, which are of like lengths."""
        yield list(range(self.n_short, len(self.words)))
        for first in range(0, self.n_short, _TOGETHER):
            yield list(range(first, min(first + _TOGETHER, self.n_short)))

    def alive(self) -> int:
        """Return how many words the rounded network accepts, or does not cut short where it is no recogniser.

        Most words are rejected by anything, so this is what disagreements are a share of.
        """
        width = self.rounded.shape[1]
        ends = np.array([0 if width == 1 else max(0, len(word) - 1) for word in self.words], np.int64)
        last = self.rounded[np.arange(len(self.words)), ends]
        return int((last > 0 if width == 1 else last >= 0).sum())

    def rounding(self) -> Rounding:
        """Return what rounding changes on the short words."""
        n, width = self.analog.shape
        scored = None if self.scored is None else self.scored[:n, :width]
        return rounding_fidelity(self.analog, self.rounded[:n, :width], scored)


def draw_samples(model: StackModel[Any], specification: Specification | None, seed: int) -> Samples:
    """Return the checking words for ``model``; without a specification the drawn ones are uniformly random."""
    most = _SHORT if model.affordable is None else min(_SHORT, model.affordable)
    lengths = _LENGTHS if model.longest is None else (min(_LENGTHS[0], model.longest), min(_LENGTHS[1], model.longest))
    if specification is None:
        short = all_words(model.alphabet, default_max_length(len(model.alphabet), most))
        drawn = random_words(model.alphabet, _DRAWN, lengths, seed)
    else:
        short = specification.short_words(most)
        drawn = specification.long_words(_DRAWN, lengths, seed)
    if model.longest is not None:
        short, drawn = ([word for word in words if len(word) <= model.longest] for words in (short, drawn))
    words = [*short, *drawn]
    rounded, analog = network_answers(Rounded(model), words), network_answers(model, short)
    accepted = rounded[: len(short)].max(1, initial=-1) > 0
    rng = np.random.default_rng(seed)
    traced: list[Word] = []
    for pool in (np.flatnonzero(accepted), np.arange(len(short))):
        traced += [short[i] for i in rng.permutation(pool)[:_TRACED]]
    scored = None if specification is None else specification.scored(words)
    return Samples(words, rounded, analog, scored, len(short), [*drawn, *traced], traced)


class _Nest(NamedTuple):
    """The words u v^n x y^m w."""

    before: tuple[str, ...]
    cycle: tuple[str, ...]
    between: tuple[str, ...]
    back: tuple[str, ...]
    after: tuple[str, ...] = ()

    def word(self, n: int, m: int, alphabet: tuple[str, ...]) -> Word:
        return make_word((*self.before, *self.cycle * n, *self.between, *self.back * m, *self.after), alphabet)


class NestedWords(NamedTuple):
    """Words that see depth, which random words do not; by default none.

    Attributes:
        words: the words.
        depth: how deep they nest.
        endless: the words on which a network was seen to count to that depth, None where it does not count so far: no
            automaton of fewer states, without a stack, gives its answers to them.
    """

    words: tuple[Word, ...] = ()
    depth: int = 0
    endless: str | None = None


def nested_words(model: StackModel[Any], specification: Specification | None) -> NestedWords:
    """Return words u v^n x y^m w with m = n - 1, n, n + 1, at every depth n up to 200 where ``model`` counts so.

    It does where it tells v^3 from less by y^m, and where the reference automaton of the ``specification`` climbs. Of
    other pairs of symbols there are a^n b^n and a^n b^(n + 1) at some depths. Where all beginnings of a word are asked
    for, or few words may be, there are fewer depths, too.
    """
    alphabet, some = model.alphabet[:_MOST_NESTED], range(_DEEPEST + 1)
    ends = [(model.longest or 2 * _DEEPEST + 1) // 2, _DEEPEST if model.stack_limit is None else model.stack_limit - 4]
    deepest = max(0, min(_DEEPEST, *ends))
    meant = [] if specification is None else [pump for pump in specification.pumps(_PUMPS, 0) if pump.climb]
    nests = [_Nest(*pump[:4], pump.afters[0]) for pump in meant if pump.back][:_COUNTING]
    partial_domain = specification is not None and specification.partial_domain
    if not partial_domain and deepest > 3:
        tried = _short_nests(alphabet, model.affordable is None or model.affordable >= _MANY)
        counting = [nest for nest, tells in zip(tried, _tells(model, tried, 3), strict=True) if tells]
        nests += list({(nest.cycle, nest.back): nest for nest in reversed(counting)}.values())[: -_COUNTING - 1 : -1]
    dear = model.affordable is not None and (
        model.task_kind != "recognition" or 3 * deepest * len(nests) > 2 * model.affordable
    )
    words: dict[Word, None] = {}
    for nest in dict.fromkeys(nests):
        for n in (n for n in (_RUNGS if dear else some) if 0 < n * len(nest.cycle) <= deepest):
            words |= {nest.word(n, m, model.alphabet): None for m in (n, n + 1, n - 1)}
    pairs = [] if partial_domain else [_Nest((), (a,), (), (b,)) for a in alphabet for b in alphabet if a != b]
    if specification is None:
        words |= {nest.word(n, n + more, model.alphabet): None for n in _NESTED for nest in pairs for more in (0, 1)}
    deep = [nest for nest in nests if not partial_domain and deepest // len(nest.cycle) > 3]
    for below in (1, None):  # most families show at once that they do not count so far
        deep = [nest for nest in deep if _tells(model, [nest], deepest // len(nest.cycle), below)[0]]
    kept = (word for word in words if model.longest is None or len(word) <= model.longest)
    return NestedWords(tuple(kept), deepest, _named(deep[0], model.alphabet) if deep else None)


def _short_nests(alphabet: tuple[str, ...], many: bool) -> list[_Nest]:
    """Return families whose parts are a symbol or two, those with fewer symbols first."""
    parts: list[tuple[str, ...]] = [(a,) for a in alphabet]
    if many and len(alphabet) <= _FEW_SYMBOLS:
        parts += [(a, b) for a in alphabet for b in alphabet if a != b]
    betweens = [(), *parts[: len(alphabet)]] if many else [()]
    return [_Nest((), v, x, y) for x in betweens for v in parts for y in parts if v != y or x]


def _tells(model: StackModel[Any], nests: Sequence[_Nest], n: int, below: int | None = None) -> list[bool]:
    """Return of each family whether its answers tell v^n from v^j for all j < n, or so many ``below``, by y^m.

    The m are near n. An automaton without a stack has then at least n + 1 states: if v^i and v^j led to the same one, so would v^n and a
    v^k with a smaller k.
    """
    some = range(n, -1 if below is None else n - 1 - below, -1)
    asked = [nest.word(j, m, model.alphabet) for nest in nests for j in some for m in (n - 1, n, n + 1)]
    answers = network_answers(model, asked)
    ends = [0 if model.task_kind == "recognition" else max(0, len(word) - 1) for word in asked]
    last = answers[np.arange(len(asked)), ends].reshape(len(nests), len(some), 3)
    return [bool(rows) for rows in (last[:, :1] != last[:, 1:]).any(2).all(1).tolist()]


def _named(nest: _Nest, alphabet: tuple[str, ...]) -> str:
    parts = zip(nest, ("", " n times", "", " n times", ""), strict=True)
    return ", then ".join(f"{format_word(make_word(part, alphabet))!r}{times}" for part, times in parts if part)


def walk_words(pda: PushdownAutomaton, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
    """Return ``n`` random walks over the transitions of ``pda``, every other one with a symbol more that may be any.

    A walk ends early where no transition leads on, so lengths may be below ``lengths``.
    """
    rng = np.random.default_rng(seed)
    words: list[Word] = []
    for number, size in enumerate(rng.integers(lengths[0], lengths[1], n)):
        current, word = pda.rest(pda.start), []
        for _ in range(size):
            options = [(x, after) for x in pda.input_alphabet if (after := pda.step(current, x)) is not None]
            if not options:
                break
            symbol, current = options[rng.integers(len(options))]
            current = pda.rest(current)
            word.append(symbol)
        if number % 2:
            word.append(pda.input_alphabet[rng.integers(len(pda.input_alphabet))])
        words.append(make_word(word, pda.input_alphabet))
    return words
