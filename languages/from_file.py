"""Languages from files: a context-free grammar as text, or an automaton as JSON, DOT or JFLAP."""

from __future__ import annotations

import os
from pathlib import Path

from stacklens.automata.formats.reading import automaton_reader, read_text
from stacklens.errors import FileFormatError, StacklensError
from stacklens.languages.automaton_grammar import AutomatonLanguage, grammar_of
from stacklens.languages.base import Language
from stacklens.languages.context_free import ContextFreeLanguage
from stacklens.languages.grammar import parse_grammar

__all__ = ["is_path", "language_from_file"]

_SUFFIXES = (".json", ".jff", ".dot", ".cfg", ".grammar", ".txt")


def is_path(name: str) -> bool:
    """Return whether ``name`` looks like a file's: it has a folder or one of our suffixes in it, or it is there.

    >>> is_path("my/grammar"), is_path("dyck.cfg"), is_path("dyck-2")
    (True, True, False)
    """
    path = Path(name)
    return len(path.parts) > 1 or path.suffix in _SUFFIXES or os.path.exists(name)


def language_from_file(path: str | Path) -> Language:
    """Return the language of a grammar (see `parse_grammar`) or of an automaton (see `read_automaton`).

    The language is called what the path is.

    Raises:
        FileFormatError: the file cannot be read, or is neither; one line that names the file.
    """
    text = read_text(path, "a grammar or an automaton as JSON, DOT or JFLAP")
    reader = automaton_reader(path, text)
    if reader is None:
        return ContextFreeLanguage(str(path), parse_grammar(text, str(path)))
    try:
        pda = reader(text)
        return AutomatonLanguage(str(path), grammar_of(pda), pda)
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None
