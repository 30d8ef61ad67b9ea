"""Automata from files, by the suffix of the name or, where it says nothing, by how the text begins."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from stacklens.automata.formats.dot import from_dot
from stacklens.automata.formats.jflap import from_jflap
from stacklens.automata.formats.json import from_json
from stacklens.automata.pda import PushdownAutomaton, Symbol
from stacklens.errors import FileFormatError, StacklensError, listed
from stacklens.files import read_whole

__all__ = ["automaton_reader", "read_automaton", "read_text"]

Reader = Callable[[str], PushdownAutomaton]
_READERS: dict[str, Reader] = {".json": from_json, ".jff": from_jflap, ".dot": from_dot}
_BEGINNINGS = {"{": ".json", "<?xml": ".jff", "<structure": ".jff", "digraph {": ".dot"}


def automaton_reader(path: str | Path, text: str) -> Reader | None:
    """Return what reads the ``text`` of the file at ``path`` as an automaton, None where it looks like none.

    >>> automaton_reader("pda", "digraph {").__name__, automaton_reader("grammar", "S -> a") is None
    ('from_dot', True)
    """
    suffix = Path(path).suffix
    begins = (kind for beginning, kind in _BEGINNINGS.items() if text.lstrip().startswith(beginning))
    return _READERS.get(suffix if suffix in _READERS else next(begins, ""))


def read_automaton(path: str | Path, alphabet: Collection[Symbol] = ()) -> PushdownAutomaton:
    """Return the automaton in a file: JSON or DOT as stacklens writes them, or JFLAP.

    Args:
        path: of the file.
        alphabet: a network's symbols, all of which the automaton has to read.

    Raises:
        FileFormatError: the file cannot be read or holds no automaton of ours; one line that names the file.
        StacklensError: the automaton does not read the alphabet.
    """
    pda = _read(path)
    if not set(alphabet) <= set(pda.input_alphabet):
        raise StacklensError(
            f"{path} reads {listed(pda.input_alphabet)}; expected the network's alphabet {listed(alphabet)}"
        )
    return pda


def _read(path: str | Path) -> PushdownAutomaton:
    text = read_text(path, "an automaton")
    reader = automaton_reader(path, text)
    if reader is None:
        raise FileFormatError(f"{path}: no automaton file: expected {', '.join(_READERS)} as stacklens writes them")
    try:
        return reader(text)
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None


def read_text(path: str | Path, expected: str) -> str:
    """Return the text of a file that should hold what is ``expected``.

    Raises:
        FileFormatError: it cannot be read, is no file or too large, or is not text in UTF-8.
    """
    content = read_whole(path, expected)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: not text in UTF-8, expected {expected}") from None
