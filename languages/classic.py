"""The languages of the papers: properly nested brackets, blocks of letters that depend on each other, palindromes."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, product
from math import inf

import numpy as np

from ..automata.pda import NONE, POP, Key, PushdownAutomaton, Symbol, Transition, Word, push
from ..core.errors import StacklensError, check_alphabet
from .language import Language, make_word

# ---- Dyck languages: words of properly nested brackets of n kinds, the empty word among them.
# Parentheses: Sun et al. 1993, section 4.1. Dyck-n as a benchmark: Suzgun et al. 2019.

MOST_KINDS = 1_000  # of brackets: their automaton has a million transitions
_NAME = re.compile(r"dyck-([1-9][0-9]*)(?:-([1-9][0-9]{0,3}))?")

PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
TOWARDS = 0.75  # a deep word steps towards its goal this often: it wavers, and is about 4 depths long, not squared


def dyck_sizes(name: str) -> tuple[int, ...] | None:
    """Return how many kinds of brackets the language or task called ``name`` has and, where it says so, how deep they
    may be; None for another one.

    >>> dyck_sizes("dyck-12"), dyck_sizes("dyck-2-3"), dyck_sizes("dyck-012")
    ((12,), (2, 3), None)
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    if len(match[1]) > len(str(MOST_KINDS)):  # Python reads no number of thousands of digits
        raise StacklensError(_too_many(name))
    return tuple(int(number) for number in match.groups() if number)


def _too_many(name: str) -> str:
    return f"{name} has too many kinds of brackets: expected dyck-{MOST_KINDS} or less"


@dataclass(frozen=True)
class Dyck(Language):
    """The words over ``n`` kinds of brackets that cancel to nothing when adjacent matching pairs are taken out. From
    the fifth kind on a bracket is written with its number: ``(5``, ``)5``, …

    >>> "([]){}" in Dyck(3), ("(5", "(", ")", ")5") in Dyck(5)
    (True, True)
    >>> Dyck(2).alphabet
    ('(', ')', '[', ']')
    """

    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise StacklensError(f"dyck-{self.n} has no brackets: expected n of at least 1")
        if self.n > MOST_KINDS:
            raise StacklensError(_too_many(self.name))

    @property
    def deepest(self) -> float:
        """Return how many brackets may be open at once."""
        return inf

    @property
    def name(self) -> str:
        return f"dyck-{self.n}"

    @cached_property
    def pairs(self) -> tuple[tuple[Symbol, Symbol], ...]:
        """Return the opening and the closing bracket of every kind."""
        return (*PAIRS[: self.n], *((f"({k}", f"){k}") for k in range(len(PAIRS) + 1, self.n + 1)))

    @cached_property
    def alphabet(self) -> tuple[Symbol, ...]:
        return tuple(symbol for pair in self.pairs for symbol in pair)

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return one state that pushes opening brackets and pops them with their closing ones."""
        state, bottom, rules = "match", "⊥", dict[Key, Transition]()
        openers = tuple(opener for opener, _ in self.pairs)
        for opener in openers:
            for top in (bottom, *openers):
                rules[state, opener, (top,)] = Transition(state, (push(opener),))
        for opener, closer in self.pairs:
            rules[state, closer, (opener,)] = Transition(state, (POP,))
        return PushdownAutomaton((state,), self.alphabet, openers, rules, state, frozenset({state}), bottom=bottom)

    def __contains__(self, word: Word) -> bool:
        closer_of, awaited = dict(self.pairs), list[Symbol]()
        for symbol in word:
            if symbol in closer_of and len(awaited) < self.deepest:
                awaited.append(closer_of[symbol])
            elif not awaited or awaited.pop() != symbol:
                return False
        return not awaited

    def words_of_length(self, length: int) -> Iterator[Word]:
        empty: tuple[Symbol, ...] = ()
        pending = [(empty, empty)] if self._has_length(length) else []
        while pending:  # depth first, by hand, so that no length meets Python's limit on recursion
            prefix, opened = pending.pop()
            if len(prefix) == length:
                yield make_word(prefix, self.alphabet)
                continue
            for opener, closer in reversed(self.pairs):  # the last one laid down is the first one taken up
                if opened[-1:] == (opener,):
                    pending.append(((*prefix, closer), opened[:-1]))
                # Room is left to close this one too.
                if len(opened) < self.deepest and len(prefix) + len(opened) + 2 <= length:
                    pending.append(((*prefix, opener), (*opened, opener)))

    def _has_length(self, length: int) -> bool:
        return length >= 0 and length % 2 == 0

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        # Cycle lemma: of the rotations of n ups and n + 1 downs exactly one, which starts after the first lowest point,
        # goes below 0 only with its last step. All arrangements are equally likely, hence all those rotations.
        steps = rng.permutation(np.repeat([1, -1], [length // 2, length // 2 + 1]))
        start = int(np.argmin(np.cumsum(steps))) + 1
        return self._brackets(np.roll(steps, -start)[:-1].tolist(), rng)

    def of_shape(self, shape: str, rng: np.random.Generator) -> Word:
        """Return the member nested as ``shape``, a member of Dyck-1 such as ``(())()``, with random kinds of brackets.

        >>> Dyck(3).of_shape("(())()", np.random.default_rng(2))
        '{()}()'
        """
        return self._brackets([1 if bracket == "(" else -1 for bracket in shape], rng)

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word:
        steps: list[int] = []
        height = 0
        for goal, towards in ((depth, 1), (0, -1)):
            while height != goal:
                step = towards if rng.random() < TOWARDS else -towards
                if 0 <= height + step <= depth:
                    steps.append(step)
                    height += step
        return self._brackets(steps, rng)

    def _brackets(self, steps: list[int], rng: np.random.Generator) -> Word:
        """Return the word that opens a bracket of random kind at each 1 and closes the latest one at each -1."""
        kinds = iter(rng.integers(self.n, size=len(steps) // 2).tolist())
        symbols, closers = [], []
        for step in steps:
            if step > 0:
                opener, closer = self.pairs[next(kinds)]
                symbols.append(opener)
                closers.append(closer)
            else:
                symbols.append(closers.pop())
        return make_word(symbols, self.alphabet)


@dataclass(frozen=True)
class BalancedParentheses(Dyck):
    """Dyck-1 under the name that Sun et al. 1993, section 4.1, give it.

    >>> BalancedParentheses().name, "(())()" in BalancedParentheses()
    ('parentheses', True)
    """

    n: int = field(default=1, init=False, repr=False)
    name = "parentheses"


# ---- Blocks of letters whose numbers depend on each other: a^n b^n, a^n b^n c^n, a^n b^{2n}, a^n b^m c^{n+m}.


@dataclass(frozen=True)
class Blocks(Language):
    """Words of one block of each symbol, in order: ``free`` blocks of any sizes from 1 on, which fix all others.

    >>> list(SUM_BLOCKS.words(6)), SUM_BLOCKS.first_dead("abccc")
    (['abcc', 'aabccc', 'abbccc'], 5)
    >>> list(equal_blocks(3).words(6)), equal_blocks(3).is_live("aabbb"), TWICE_AS_MANY.automaton.accepts("aabbbb")
    (['abc', 'aabbcc'], False, True)
    """

    name: str = ""
    alphabet: tuple[Symbol, ...] = ()  # the symbols of the blocks
    weights: tuple[int, ...] = (1,)  # how many times as long as the free blocks together each block after them is
    # of the reference automaton: one a free block, then as many as the last block's weight; empty where several blocks
    # depend on the same free ones, which no pushdown automaton can count
    states: tuple[str, ...] = ()
    free: int = 1  # 1 or 2

    def __post_init__(self) -> None:
        check_alphabet(self.alphabet)

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return the automaton that pushes one cell for every symbol of the free blocks, and pops them with the last.
        Raises StacklensError: there is none.
        """
        if not self.states:
            raise StacklensError(
                f"{self.name} has no reference automaton: it is not context-free, so no pushdown automaton with one "
                "stack accepts it; compare with the language itself"
            )
        cell, bottom, last = self.alphabet[0], "⊥", self.states[-1]
        pushes = [Transition(state, (push(cell),)) for state in self.states[: self.free]]
        # The last block goes round its states, and pops with each arrival in the last of them.
        cycle = [Transition(state, (POP if state == last else NONE,)) for state in self.states[self.free :]]
        steps: dict[Key, Transition] = {(self.states[0], cell, (bottom,)): pushes[0]}
        for place, state in enumerate(self.states[: self.free]):  # its block goes on, or the next one begins
            for block in (place, place + 1):
                steps[state, self.alphabet[block], (cell,)] = [*pushes, cycle[0]][block]
        for state, following in zip(self.states[self.free :], [*cycle[1:], cycle[0]], strict=True):
            steps[state, self.alphabet[-1], (cell,)] = following
        return PushdownAutomaton(
            self.states, self.alphabet, (cell,), steps, self.states[0], frozenset({last}), bottom=bottom
        )

    def __contains__(self, word: Word) -> bool:
        sizes = self.sizes(word)
        return sizes is not None and len(sizes) == len(self.alphabet) and sizes == self.whole(sizes[: self.free])

    def first_dead(self, word: Word) -> int | None:
        """Return the number of symbols after which blocks are out of order or too large, None if ``word`` is live."""

        def dead(n: int) -> bool:
            sizes = self.sizes(word[:n])
            if sizes is None or len(sizes) <= self.free:
                return sizes is None
            whole = self.whole(sizes[: self.free])
            return sizes[:-1] != whole[: len(sizes) - 1] or sizes[-1] > whole[len(sizes) - 1]

        # dead prefixes stay dead, so bisection finds the first one
        n = bisect_left(range(len(word) + 1), True, key=dead)
        return n if n <= len(word) else None

    def words_of_length(self, length: int) -> Iterator[Word]:
        yield from (self.word(sizes) for sizes in self._all_sizes(length))

    def sizes(self, word: Word) -> tuple[int, ...] | None:
        """Return the sizes of the blocks that there are, None where the letters are out of order or one is left out."""
        blocks = [(symbol, sum(1 for _ in block)) for symbol, block in groupby(word)]
        in_order = [symbol for symbol, _ in blocks] == list(self.alphabet[: len(blocks)])
        return tuple(size for _, size in blocks) if in_order else None

    def whole(self, free: tuple[int, ...]) -> tuple[int, ...]:
        """Return the sizes of all blocks, given those of the free ones."""
        return (*free, *(weight * sum(free) for weight in self.weights))

    def _all_sizes(self, length: int) -> list[tuple[int, ...]]:
        n, rest = divmod(length, 1 + sum(self.weights))
        if rest or n < self.free:
            return []
        return [self.whole((n,) if self.free == 1 else (n - m, m)) for m in range(1, n if self.free == 2 else 2)]

    def word(self, sizes: tuple[int, ...]) -> Word:
        """Return the word with blocks of these sizes."""
        return make_word([x for x, n in zip(self.alphabet, sizes, strict=True) for _ in range(n)], self.alphabet)

    def _has_length(self, length: int) -> bool:
        return bool(self._all_sizes(length))

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        choices = self._all_sizes(length)
        return self.word(choices[int(rng.integers(len(choices)))])

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:
        return self._member(depth * (1 + sum(self.weights)), rng) if depth >= self.free else None


def counted_pairs(first: Symbol, second: Symbol) -> Blocks:
    """Return the words ``first^n second^n`` with n >= 1, so that the empty word is not one of them.

    >>> language = counted_pairs("1", "0")
    >>> language.name, list(language.words(6)), language.first_dead("1001")
    ('1n0n', ['10', '1100', '111000'], 3)
    """
    return Blocks(f"{first}n{second}n", (first, second), states=("push", "pop"))


def equal_blocks(k: int) -> Blocks:
    """Return the words a^n b^n c^n … over the first ``k`` letters, n >= 1: no pushdown automaton accepts them."""
    if not 3 <= k <= 26:
        raise StacklensError(f"{k} equal blocks: expected 3 to 26 (for two there is anbn)")
    letters = "abcdefghijklmnopqrstuvwxyz"[:k]
    return Blocks("".join(f"{letter}n" for letter in letters), tuple(letters), (1,) * (k - 1))


TWICE_AS_MANY = Blocks("anb2n", ("a", "b"), (2,), ("push", "half", "pop"))
SUM_BLOCKS = Blocks("anbmcnm", ("a", "b", "c"), (1,), ("a", "b", "c"), free=2)


# ---- Palindromes with a marked middle, w c w^R, also with other letters after it.
# w c w^R: Sun et al. 1993, section 4.3. w # w^R and w # phi(w^R): Suzgun et al. 2019, section 6.

_NAMES = {
    ("ab", "c", ""): "palindrome",
    ("abc", "#", ""): "simple-palindrome",
    ("abc", "#", "xyz"): "homomorphic-palindrome",
}


@dataclass(frozen=True)
class MarkedPalindromes(Language):
    """The words w ``marker`` phi(w^R), where w is any word over ``letters``.

    >>> language = MarkedPalindromes()
    >>> list(language.words(3)), language.first_dead("abca")
    (['c', 'aca', 'bcb'], 4)
    >>> "01#10" in MarkedPalindromes("01", "#"), "abc#zyx" in MarkedPalindromes("abc", "#", "xyz")
    (True, True)
    """

    letters: Sequence[Symbol] = "ab"
    marker: Symbol = "c"
    images: Sequence[Symbol] | None = None  # phi of each letter, or None where phi changes nothing
    empty: bool = True  # whether w may be empty

    def __post_init__(self) -> None:
        object.__setattr__(self, "letters", tuple(self.letters))
        images = self.letters if self.images is None else tuple(self.images)
        object.__setattr__(self, "images", None if images == self.letters else images)
        if not self.letters:
            raise StacklensError("palindromes without letters: expected at least one")
        if len(images) != len(self.letters) or (self.images is not None and self.marker in images):
            raise StacklensError(f"images {images} of {self.letters}: expected one a letter, none of them the marker")
        check_alphabet(self.alphabet)

    @property
    def name(self) -> str:
        """Return the name of one of the papers' languages, else letters, marker and images: ``palindrome-01-#``. Where
        w may not be empty the name ends with ``-nonempty``.
        """
        parts = "".join(self.letters), self.marker, "".join(self.images or ())
        name = _NAMES.get(parts) or "-".join(filter(None, ("palindrome", *parts)))
        return name if self.empty else f"{name}-nonempty"

    @cached_property
    def alphabet(self) -> tuple[Symbol, ...]:
        others = dict.fromkeys(image for image in self.images or () if image not in self.letters)
        return (*self.letters, self.marker, *others)

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return two states: one pushes letters up to the marker, the other, which accepts, pops them."""
        letters, bottom = tuple(self.letters), "⊥"
        transitions: dict[Key, Transition] = {}
        for top in (bottom, *letters):
            if self.empty or top != bottom:
                transitions["push", self.marker, (top,)] = Transition("pop", (NONE,))
            for letter in letters:
                transitions["push", letter, (top,)] = Transition("push", (push(letter),))
        for letter in letters:
            transitions["pop", self._image[letter], (letter,)] = Transition("pop", (POP,))
        return PushdownAutomaton(
            ("push", "pop"), self.alphabet, letters, transitions, "push", frozenset({"pop"}), bottom=bottom
        )

    def __contains__(self, word: Word) -> bool:
        left = list(word)[: len(word) // 2]
        fits = self._has_length(len(word)) and all(symbol in self.letters for symbol in left)
        return fits and list(word) == list(self._mirror(left))

    def words_of_length(self, length: int) -> Iterator[Word]:
        if self._has_length(length):
            for half in product(self.letters, repeat=length // 2):
                yield self._mirror(half)

    def _mirror(self, half: Sequence[Symbol]) -> Word:
        second = (self._image[symbol] for symbol in reversed(half))
        return make_word((*half, self.marker, *second), self.alphabet)

    @cached_property
    def _image(self) -> dict[Symbol, Symbol]:
        return dict(zip(self.letters, self.images or self.letters, strict=True))

    def _has_length(self, length: int) -> bool:
        return length >= (1 if self.empty else 3) and length % 2 == 1

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        return self._mirror([self.letters[i] for i in rng.integers(len(self.letters), size=length // 2).tolist()])

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:
        return self._member(2 * depth + 1, rng) if self._has_length(2 * depth + 1) else None
