"""Words as values: which type they have, how they are written, read and changed; and the kinds of tasks on them.

A word is a ``str`` where every symbol of the alphabet is a single character, else a tuple of symbols.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, product
from typing import Literal

import numpy as np

from ..automata.pda import PushdownAutomaton, Symbol, Transition, Word
from ..core.errors import StacklensError, UnknownSymbolError

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
