"""What the public face is given, made into what lower layers take: names and paths into networks, text into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklens.errors import StacklensError

if TYPE_CHECKING:
    from stacklens.automata.pda import PushdownAutomaton, Word
    from stacklens.extract.result import Extraction
    from stacklens.extract.specification import Specification
    from stacklens.languages.language import Language
    from stacklens.languages.tasks.task import Task
    from stacklens.models.base import StackModel

    Network = StackModel[Any] | str | Path
    Subject = Language | Task | Specification | str

__all__ = ["AUTOMATA", "Network", "Subject", "automaton_of", "called", "network_of", "words_of"]


AUTOMATA = (".json", ".dot", ".jff")


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
        if given.automaton is None:
            raise StacklensError(f"there is no automaton: {given.reason}")
        return given.automaton
    if not isinstance(given, PushdownAutomaton):
        raise StacklensError(f"expected an automaton or a result, not {called(given)}")
    return given


def words_of(given: Word | Sequence[Word], alphabet: tuple[str, ...]) -> list[Word]:
    """Return one word or many as a list of words."""
    if not isinstance(given, str | Iterable):
        raise StacklensError(f"expected a word or a list of words, not {called(given)}")
    if isinstance(given, str) or all(isinstance(part, str) and part in alphabet for part in given):
        return [_word(given, alphabet)]  # type: ignore[arg-type]
    return [_word(word, alphabet) for word in given]


def _word(given: Word, alphabet: tuple[str, ...]) -> Word:
    from stacklens.errors import UnknownSymbolError
    from stacklens.languages.words import make_word, parse_word

    if isinstance(given, str):
        return parse_word(given, alphabet)
    if not isinstance(given, Iterable):
        raise StacklensError(f"expected a word, as text or as a list of symbols, not {called(given)}")
    for symbol in given:
        if symbol not in alphabet:
            raise UnknownSymbolError(symbol, alphabet)
    return make_word(given, alphabet)


def called(given: object) -> str:
    """Return what a thing is, with its article."""
    name = type(given).__name__
    return f"{'an' if name[0] in 'AEIOaeio' or name.startswith('NNPDA') else 'a'} {name}"
