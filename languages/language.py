"""Words, and languages: a definition and a reference automaton, each of which checks the other, and samplers.

A subclass of `Language` states the definition (``__contains__``, ``words_of_length``) without running its automaton,
and draws members of a given length or depth; everything else follows from these and stands in `Language` once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, product
from typing import Literal

import numpy as np

from ..automata.pda import PushdownAutomaton, Symbol, Transition, Word
from ..core.errors import StacklensError, UnknownSymbolError
from ..core.progress import while_time

# ---- Words as values: which type they have, how they are written, read and changed; and the kinds of tasks ----
# A word is a ``str`` where every symbol of the alphabet is a single character, else a tuple of symbols.

EMPTY_WORD = "ε"  # how the empty word is typed

# The output of a task, and of the network that learns it:
# "recognition"   whether the word is a member, once it has ended
# "next set"      after every symbol, which symbols may come next: one value in [0, 1] each, threshold 0.5
# "next symbol"   after every symbol, a distribution over the next one
# "transduction"  at every step a distribution over one output symbol
TaskKind = Literal["recognition", "next set", "next symbol", "transduction"]


def make_word(symbols: Iterable[Symbol], alphabet: Sequence[Symbol]) -> Word:
    """Return ``symbols`` as a word: a ``str`` where ``alphabet`` has single characters only, else a tuple.

    >>> make_word(["a", "b"], ("a", "b")), make_word(["(", ")"], ("(", ")", "(5", ")5"))
    ('ab', ('(', ')'))
    """
    return "".join(symbols) if _single_characters(alphabet) else tuple(symbols)


def all_words(alphabet: tuple[Symbol, ...], max_length: int) -> list[Word]:
    """Return all words over ``alphabet`` up to ``max_length``, the empty one first, in length-lexicographic order.

    >>> all_words(("a", "b"), 2)
    ['', 'a', 'b', 'aa', 'ab', 'ba', 'bb']
    """
    return [make_word(word, alphabet) for n in range(max_length + 1) for word in product(alphabet, repeat=n)]


def parse_word(text: str, alphabet: Sequence[Symbol]) -> Word:
    """Return the word that ``text`` spells: one symbol a character, or separated by whitespace if some are longer.

    >>> parse_word("(())", ("(", ")")), parse_word("(5 ( ) )5", ("(", ")", "(5", ")5"))
    ('(())', ('(5', '(', ')', ')5'))
    """
    single = _single_characters(alphabet)
    symbols = list(text) if single else text.split()
    for symbol in symbols:
        if symbol not in alphabet:
            spaced = single and symbol.isspace()
            more = "; these symbols stand side by side: leave out the spaces" if spaced else ""
            raise UnknownSymbolError(symbol, tuple(alphabet), more)
    return make_word(symbols, alphabet)


def parse_alphabet(text: str) -> list[Symbol]:
    """Return the symbols that ``text`` names: separated by spaces where there are any, else single characters.

    >>> parse_alphabet("()"), parse_alphabet("(5 ( ) )5")
    (['(', ')'], ['(5', '(', ')', ')5'])
    """
    return text.split() if " " in text.strip() else list(text)


def parse_typed_word(text: str, alphabet: Sequence[Symbol]) -> Word:
    """Return the word that ``text``, which somebody typed, spells as for `parse_word`; ε is the empty word. Where ε is
    a symbol of ``alphabet`` it is that.

    >>> parse_typed_word("ε", "()"), parse_typed_word("()", "()"), parse_typed_word("ε", "ε")
    ('', '()', 'ε')
    """
    return parse_word("" if text == EMPTY_WORD and EMPTY_WORD not in alphabet else text, alphabet)


def format_word(word: Word) -> str:
    """Return ``word`` as text that ``parse_word`` reads back: a ``str`` as it is, a tuple with spaces between symbols.

    >>> format_word("(())"), format_word(("(5", ")5"))
    ('(())', '(5 )5')
    """
    return word if isinstance(word, str) else " ".join(word)


def edit_word(word: Word, alphabet: Sequence[Symbol], rng: np.random.Generator) -> Word:
    """Return ``word`` after one random edit: replace, swap two symbols, insert, delete, or cut off the end. The edit
    may change nothing, such as a swap of equal symbols. The empty word can only grow.

    >>> edit_word("", ("a",), np.random.default_rng(0))
    'a'
    """
    symbols, size = list(word), len(word)
    match ("replace", "swap", "insert", "delete", "cut")[rng.integers(5)] if symbols else "insert":
        case "replace":
            symbols[rng.integers(size)] = alphabet[int(rng.integers(len(alphabet)))]
        case "swap":
            i, j = rng.integers(size, size=2)
            symbols[i], symbols[j] = symbols[j], symbols[i]
        case "insert":
            symbols.insert(int(rng.integers(size + 1)), alphabet[int(rng.integers(len(alphabet)))])
        case "delete":
            del symbols[rng.integers(size)]
        case "cut":
            del symbols[rng.integers(size) :]
    return make_word(symbols, alphabet)


def run_of(pda: PushdownAutomaton, word: Word) -> Iterator[tuple[Transition, Symbol]]:
    """Yield the transitions of a run on one stack without ε-steps, each with the top after it, up to where it is cut.
    It is the run of `PushdownAutomaton.moves`, on a stack that is changed in place.
    """
    state, stack, rules = pda.initial, [pda.bottom], pda.transitions
    for symbol in word:
        step = rules.get((state, symbol, (stack[-1],)))
        if step is None:
            return
        (operation,) = step.operations
        if operation.pop:
            stack.pop()
        if operation.push is not None:
            stack.append(operation.push)
        state = step.target
        yield step, stack[-1]


def check_length(word: Word, longest: int) -> None:
    """Return None if ``word`` has at most ``longest`` symbols. Raises StacklensError: it has more."""
    if len(word) > longest:
        raise StacklensError(
            f"the word {format_word(word[:20])}… has {len(word):,} symbols; expected at most {longest:,}"
        )


def _single_characters(alphabet: Sequence[Symbol]) -> bool:
    return all(len(symbol) == 1 for symbol in alphabet)


# ---- Words as parts and how often each comes: how a long word is read, and which repetitions can be fewer.

_LONGEST_PART = 12  # symbols of a part that is looked for
_LEAST_TIMES, _LEAST_SYMBOLS = 3, 6  # a part repeated less often, or shorter in all, stands as it is


def repeated_parts(word: Word) -> tuple[tuple[Word, int], ...]:
    """Return the parts of ``word`` in order, each with how often it comes in a row; together they are the word. From
    the left, the part that goes on longest is taken first; one not repeated at least three times stands once.

    >>> repeated_parts("[()][()][()][]"), repeated_parts("abab"), repeated_parts("")
    ((('[()]', 3), ('[]', 1)), (('abab', 1),), ())
    """
    parts: list[tuple[Word, int]] = []
    plain, place = 0, 0  # what stands once begins at the first, and goes on to the second
    while place < len(word):
        # the size of the part that goes on longest from here, the shortest such, and how often it comes
        size, times = 1, 1
        for part in range(1, min(_LONGEST_PART, (len(word) - place) // _LEAST_TIMES) + 1):
            same = place + part
            while same < len(word) and word[same] == word[same - part]:
                same += 1
            often = (same - place) // part
            if often >= _LEAST_TIMES and part * often >= max(_LEAST_SYMBOLS, size * times + 1):
                size, times = part, often
        if times == 1:
            place += 1
            continue
        if plain < place:
            parts.append((word[plain:place], 1))
        parts.append((word[place : place + size], times))
        place += size * times
        plain = place
    return (*parts, (word[plain:], 1)) if plain < len(word) else tuple(parts)


def named_parts(parts: Sequence[tuple[Word, int]]) -> str:
    """Return parts in words, those that are empty or come no time left out.

    >>> named_parts((("", 1), ("[()", 3), ("]", 1)))
    "'[()' 3 times, then ']'"
    """
    named = [(repr(format_word(part)), n) for part, n in parts if len(part) and n]
    return ", then ".join(part if n == 1 else f"{part} {n:,} times" for part, n in named)


# ---- Exact random draws by whole-number weights of any size, and distinct draws of anything ----

DRAWS_WITHOUT_NEW = 2_000  # in a row without a new word, after which we say that there are no more


def choose(weights: Sequence[int], rng: np.random.Generator) -> int:
    """Return a random index, each as likely as its weight says to within 2**-64; one of the weights must not be 0.

    >>> {choose([0, 10**30, 1], np.random.default_rng(seed)) for seed in range(20)}
    {1}
    """
    ends = list(accumulate(weights))
    drawn = int.from_bytes(rng.bytes(ends[-1].bit_length() // 8 + 9), "little") % ends[-1]
    return bisect_right(ends, drawn)


def distinct_words(n: int, draw: Callable[[], Word | None], what: str) -> list[Word]:
    """Return ``n`` distinct results of ``draw``, in the order drawn; None is drawn again."""
    found: dict[Word, None] = {}
    idle = 0
    while len(found) < n:
        word = draw()
        idle = idle + 1 if word is None or word in found else 0
        if word is not None:
            found[word] = None
        if idle >= DRAWS_WITHOUT_NEW:
            raise StacklensError(f"found only {len(found)} of {n} distinct {what}: widen the lengths or ask for fewer")
    return list(found)


# ---- Languages ----

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
