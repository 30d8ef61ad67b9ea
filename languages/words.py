"""Words as values: which type they have, how they are written, read and changed.

A word is a ``str`` where every symbol of the alphabet is a single character, else a tuple of symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from stacklens.automata.pda import Symbol, Word
from stacklens.errors import StacklensError, UnknownSymbolError

__all__ = [
    "EMPTY_WORD",
    "all_words",
    "check_length",
    "edit_word",
    "format_word",
    "make_word",
    "parse_alphabet",
    "parse_typed_word",
    "parse_word",
]

EMPTY_WORD = "ε"  # what is typed for the empty word


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

    Raises:
        UnknownSymbolError: ``text`` has a symbol that is not in ``alphabet``.

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
    """Return the word that ``text``, which somebody typed, spells as for `parse_word`; ε is the empty word.

    Where ε is a symbol of ``alphabet`` it is that.

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
    """Return ``word`` after one random edit: replace, swap two symbols, insert, delete, or cut off the end.

    The edit may change nothing, such as a swap of equal symbols. The empty word can only grow.

    >>> edit_word("", ("a",), np.random.default_rng(0))
    'a'
    """
    symbols = list(word)
    edit = _EDITS[rng.integers(len(_EDITS))] if symbols else _insert
    edit(symbols, alphabet, rng)
    return make_word(symbols, alphabet)


def check_length(word: Word, longest: int) -> None:
    """Return None if ``word`` has at most ``longest`` symbols.

    Raises:
        StacklensError: it has more.
    """
    if len(word) > longest:
        raise StacklensError(
            f"the word {format_word(word[:20])}… has {len(word):,} symbols; expected at most {longest:,}"
        )


def _single_characters(alphabet: Sequence[Symbol]) -> bool:
    return all(len(symbol) == 1 for symbol in alphabet)


def _replace(symbols: list[Symbol], alphabet: Sequence[Symbol], rng: np.random.Generator) -> None:
    symbols[rng.integers(len(symbols))] = alphabet[int(rng.integers(len(alphabet)))]


def _swap(symbols: list[Symbol], _: Sequence[Symbol], rng: np.random.Generator) -> None:
    i, j = rng.integers(len(symbols), size=2)
    symbols[i], symbols[j] = symbols[j], symbols[i]


def _insert(symbols: list[Symbol], alphabet: Sequence[Symbol], rng: np.random.Generator) -> None:
    symbols.insert(int(rng.integers(len(symbols) + 1)), alphabet[int(rng.integers(len(alphabet)))])


def _delete(symbols: list[Symbol], _: Sequence[Symbol], rng: np.random.Generator) -> None:
    del symbols[rng.integers(len(symbols))]


def _truncate(symbols: list[Symbol], _: Sequence[Symbol], rng: np.random.Generator) -> None:
    del symbols[rng.integers(len(symbols)) :]


_EDITS = (_replace, _swap, _insert, _delete, _truncate)
