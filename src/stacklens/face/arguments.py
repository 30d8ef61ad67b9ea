"""What the public face is given, made into what lower layers take: names and paths into networks, text into words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklens.errors import StacklensError, UnknownSymbolError

if TYPE_CHECKING:
    from stacklens.automata.pda import PushdownAutomaton, Word
    from stacklens.extract.result import Extraction
    from stacklens.extract.specification import Specification
    from stacklens.languages.language import Language
    from stacklens.languages.tasks.task import Task
    from stacklens.models.base import StackModel

    Network = StackModel[Any] | str | Path
    Subject = Language | Task | Specification | PushdownAutomaton | str

__all__ = ["AUTOMATA", "Network", "Subject", "automaton_of", "called", "network_of", "one_word", "words_of"]


AUTOMATA = (".json", ".dot", ".jff")
_LONGEST_SHOWN = 40  # characters of a word in a message


def network_of(given: Network) -> StackModel[Any]:
    """Return a network, or the one of that name or path; raise StacklensError for anything else."""
    from stacklens.models.base import StackModel
    from stacklens.models.io import load_network

    if isinstance(given, StackModel):
        return given
    if not isinstance(given, str | Path):
        raise StacklensError(f"expected a network, or the name or path of one, not {called(given)}")
    return load_network(given).model


def automaton_of(given: PushdownAutomaton | Extraction) -> PushdownAutomaton:
    """Return an automaton, or that of a result; raise StacklensError where there is none."""
    from stacklens.automata.pda import PushdownAutomaton
    from stacklens.extract.result import Extraction

    if isinstance(given, Extraction):
        return given.automaton
    if not isinstance(given, PushdownAutomaton):
        raise StacklensError(f"expected an automaton or a result, not {called(given)}")
    return given


def words_of(given: Word | Iterable[Word], alphabet: tuple[str, ...]) -> list[Word]:
    """Return one word or many as a list of words; what can be gone through only once is gone through once.

    Raises:
        StacklensError: something is no word.
        UnknownSymbolError: a word has a symbol outside ``alphabet``; the message says which word, and where.
    """
    if isinstance(given, str):
        return [_word(given, alphabet)]
    parts = _parts(given, "a word or a list of words")
    if all(isinstance(part, str) and part in alphabet for part in parts):
        return [_word(parts, alphabet)]
    return [_word(part, alphabet, number) for number, part in enumerate(parts)]


def one_word(given: Word, alphabet: tuple[str, ...], what: str) -> Word:
    """Return one word; raise StacklensError, which says ``what`` is of one word only, for any other number."""
    words = words_of(given, alphabet)
    if len(words) != 1:
        raise StacklensError(f"{what} is of one word, not of {len(words):,}; call it for each of them")
    return words[0]


def _parts(given: Any, expected: str) -> list[Any]:
    try:
        return list(given)
    except TypeError:  # no iterable, or one that only looks so, as a tensor without axes
        raise StacklensError(f"expected {expected}, not {called(given)}") from None


def _word(given: Any, alphabet: tuple[str, ...], number: int | None = None) -> Word:
    """Return a word as it is kept, of text or symbols: word ``number`` of many, or the only one."""
    from stacklens.languages.words import make_word, parse_word

    symbols = given if isinstance(given, str) else _parts(given, "a word, as text or as a list of symbols")
    try:
        if isinstance(symbols, str):
            return parse_word(symbols, alphabet)
        for symbol in symbols:
            if not isinstance(symbol, str):
                raise StacklensError(
                    f"expected a word, as text or as a list of symbols, not a list with {called(symbol)}"
                )
            if symbol not in alphabet:
                raise UnknownSymbolError(symbol, alphabet)
    except UnknownSymbolError as unknown:
        raise UnknownSymbolError(unknown.symbol, alphabet, _place(unknown, symbols, number) + unknown.more) from None
    return make_word(symbols, alphabet)


def _place(unknown: UnknownSymbolError, symbols: str | list[str], number: int | None) -> str:
    """Return where the first symbol is that is not known: its position, its word's number, and that word shortened."""
    single = all(len(symbol) == 1 for symbol in unknown.alphabet)
    read = symbols.split() if isinstance(symbols, str) and not single else list(symbols)
    text = ("" if single else " ").join(read)
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    which = "the word" if number is None else f"word {number}"
    return f": position {read.index(unknown.symbol)} of {which} (from 0), {shown!r}"


def called(given: object) -> str:
    """Return what a thing is, with its article."""
    name = type(given).__name__
    return f"{'an' if name[0] in 'AEIOaeio' or name.startswith('NNPDA') else 'a'} {name}"
