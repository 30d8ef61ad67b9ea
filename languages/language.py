"""Languages: a definition and a reference automaton, each of which checks the other, and samplers.

A subclass states the definition (``__contains__``, ``words_of_length``) without running its automaton, and draws
members of a given length or depth; everything else follows from these and stands here once.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from ..automata.pda import PushdownAutomaton, Symbol, Word
from ..core.errors import StacklensError
from ..core.progress import while_time
from .words import edit_word, make_word, run_of

MAX_EDITS = 3  # a near-miss is at most this many edits away from a member
TRIES = 10_000  # even three insertions in a row, the rarest edit that may be needed, come up in 0.27 % of all tries


class Language(ABC):
    """A set of words over an alphabet, immutable.

    >>> from stacklens.languages.catalogue import get_language
    >>> dyck = get_language("dyck-2")
    >>> "([])" in dyck, "([)]" in dyck, dyck.is_live("(["), dyck.first_dead("([)]")
    (True, False, True, 3)
    >>> list(dyck.words(2))
    ['', '()', '[]']
    >>> dyck.sample(2, length=(6, 8), seed=1) == dyck.sample(2, length=(6, 8), seed=1)
    True
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name that ``get_language`` knows it by, or one like it."""

    @property
    @abstractmethod
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols, in the order that words are sorted by."""

    @property
    @abstractmethod
    def automaton(self) -> PushdownAutomaton:
        """Return the reference automaton: partial (a missing transition rejects), acceptance "both"."""

    @abstractmethod
    def __contains__(self, word: Word) -> bool: ...

    @abstractmethod
    def words_of_length(self, length: int) -> Iterator[Word]:
        """Yield the members of ``length`` in the order of the alphabet."""

    @abstractmethod
    def _has_length(self, length: int) -> bool:
        """Return whether there is a member of ``length``, which is at least 0."""

    @abstractmethod
    def _member(self, length: int, rng: np.random.Generator) -> Word:
        """Return a random member of ``length``, for which ``_has_length``."""

    @abstractmethod
    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:
        """Return a random member on which the automaton's stack reaches exactly ``depth``, None if there is none."""

    def words(self, max_length: int) -> Iterator[Word]:
        """Yield the members up to ``max_length``, shorter first, then in the order of the alphabet."""
        for length in range(max_length + 1):
            yield from self.words_of_length(length)

    def first_dead(self, word: Word) -> int | None:
        """Return the number of symbols after which the prefix of ``word`` is dead, None if ``word`` is live. Reference
        automata have no transition of which nothing comes: a prefix is live as far as it can be read.
        """
        read = sum(1 for _ in run_of(self.automaton, word))
        return read + 1 if read < len(word) else None

    def is_live(self, prefix: Word) -> bool:
        """Return whether some continuation of ``prefix``, possibly the empty one, is a member."""
        return self.first_dead(prefix) is None

    def sample(
        self, n: int, length: tuple[int, int] = (2, 50), positive: bool | None = True, seed: int = 0
    ) -> list[Word]:
        """Return ``n`` random words whose lengths lie in ``length``, both ends included; repetitions can occur.

        ``positive``: True for members, each possible length as likely as the others; False for near-misses, which are
        one to three edits away from a member; None for uniformly random symbols. The same ``seed`` gives the same
        words. Raises StacklensError: there is no such word, or ``n`` or ``length`` make no sense.
        """
        low, high = length
        if n < 0 or not 0 <= low <= high:
            raise StacklensError(
                f"cannot sample {n} words of lengths {low} to {high}: expected 0 <= n, 0 <= low <= high"
            )
        rng = np.random.default_rng(seed)
        if positive is None:
            sizes = rng.integers(low, high + 1, size=n).tolist()
            drawn = (self.alphabet[i] for i in rng.integers(len(self.alphabet), size=sum(sizes)).tolist())
            return [make_word([next(drawn) for _ in range(size)], self.alphabet) for size in sizes]
        # the lengths of members; where there are none, near-misses come from those of the nearest ones
        ranges = (range(max(0, low - gap), high + gap + 1) for gap in range(1 if positive else MAX_EDITS + 1))
        lengths = next(filter(None, ([n for n in some if self._has_length(n)] for some in ranges)), [])
        if not lengths:
            raise StacklensError(f"{self.name} has no members of lengths {low} to {high}: widen the range")
        members = (self._member(lengths[i], rng) for i in while_time(rng.integers(len(lengths), size=n).tolist()))
        return list(members) if positive else [self.near_miss(member, rng, length) for member in members]

    def near_miss(self, word: Word, rng: np.random.Generator, length: tuple[int, int] | None = None) -> Word:
        """Return a non-member one to three random edits away from ``word``, its length within ``length`` if given.
        Raises StacklensError: none was found.
        """
        for _ in range(TRIES):
            edited = word
            for _ in range(rng.integers(1, MAX_EDITS + 1)):
                edited = edit_word(edited, self.alphabet, rng)
            if (length is None or length[0] <= len(edited) <= length[1]) and edited not in self:
                return edited
        lengths = "" if length is None else f" of lengths {length[0]} to {length[1]}"
        raise StacklensError(f"{self.name}: found no near-miss{lengths} in {TRIES} tries: widen the range of lengths")

    def deep(self, n: int, depth: int, seed: int = 0) -> list[Word]:
        """Return ``n`` random members on which the stack of the reference automaton reaches exactly ``depth``. Raises
        StacklensError: no member has that depth.
        """
        rng = np.random.default_rng(seed)
        words = [self._deep_member(depth, rng) if depth >= 0 else None for _ in range(n)]
        members = [word for word in words if word is not None]
        if len(members) < len(words):
            raise StacklensError(f"{self.name} has no members of depth {depth}")
        return members
