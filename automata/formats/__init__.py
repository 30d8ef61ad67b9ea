"""Automata to and from files and other libraries' objects: one format a module, and drawing."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import cast

from ...core.errors import FileFormatError, StacklensError, listed
from ...core.files import read_text, write_whole
from ..grammar import grammar_text
from ..pda import PushdownAutomaton, State, Symbol
from ..small_grammar import readable_grammar
from .dot import PictureFormat, check_renderer, from_dot, render, to_dot
from .json import from_json, to_json
from .libraries import from_aalpy, from_automata_lib, from_regex, to_aalpy, to_automata_lib, to_networkx
from .textbook import from_jflap, to_jflap

__all__ = [
    "from_aalpy",
    "from_automata_lib",
    "from_dot",
    "from_jflap",
    "from_json",
    "from_regex",
    "read_automaton",
    "render",
    "to_aalpy",
    "to_automata_lib",
    "to_dot",
    "to_jflap",
    "to_json",
    "to_networkx",
]

# ---- Automata in files: the format is the one that the suffix of the name says, or how the text begins.
# A grammar (.cfg) is only written: what comes back of it is a language (`languages.catalogue.language_from_file`). A
# regular expression (.re) is only read.

Reader = Callable[[str], PushdownAutomaton]
_READERS: dict[str, Reader] = {".json": from_json, ".jff": from_jflap, ".dot": from_dot, ".re": from_regex}
_BEGINNINGS = {"{": ".json", "<?xml": ".jff", "<structure": ".jff", "digraph {": ".dot"}
_PICTURES = (".svg", ".png", ".pdf")
SUFFIXES = (".dot", ".json", ".jff", ".cfg", *_PICTURES)


def automaton_reader(path: str | Path, text: str) -> Reader | None:
    """Return what reads the ``text`` of the file at ``path`` as an automaton, None where it looks like none.

    >>> automaton_reader("pda", "digraph {").__name__, automaton_reader("grammar", "S -> a") is None
    ('from_dot', True)
    """
    suffix = Path(path).suffix
    begins = (kind for beginning, kind in _BEGINNINGS.items() if text.lstrip().startswith(beginning))
    return _READERS.get(suffix if suffix in _READERS else next(begins, ""))


def read_automaton(path: str | Path, alphabet: Collection[Symbol] = ()) -> PushdownAutomaton:
    """Return the automaton in a file: JSON or DOT as stacklens writes them, or JFLAP. ``alphabet``: a network's
    symbols, all of which the automaton has to read.
    """
    text = read_text(path, "an automaton")
    reader = automaton_reader(path, text)
    if reader is None:
        raise FileFormatError(f"{path}: no automaton file: expected {', '.join(_READERS)} as stacklens writes them")
    try:
        pda = reader(text)
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None
    if not set(alphabet) <= set(pda.input_alphabet):
        raise StacklensError(
            f"{path} reads {listed(pda.input_alphabet)}; expected the network's alphabet {listed(alphabet)}"
        )
    return pda


def check_suffix(path: Path) -> None:
    """Check that an automaton can be written to a file of this name."""
    if path.suffix not in SUFFIXES:
        raise StacklensError(f"cannot write {path}: expected a name that ends in {', '.join(SUFFIXES)}")
    if path.suffix in _PICTURES:
        check_renderer(path.suffix[1:])


def write_automaton(
    path: str | Path,
    pda: PushdownAutomaton,
    title: str | None = None,
    note: str | None = None,
    groups: Mapping[State, str] | None = None,
) -> None:
    """Write ``pda`` in the format that the suffix of ``path`` names, whole or not at all.

    Drawings have the ``groups`` of `to_dot`. They and grammars have the ``title``; a ``note``, such as that it is not
    faithful, stands in every format. Raises StacklensError: the suffix is unknown, a picture has no renderer, no
    grammar can be written of the automaton, or the file cannot be written.
    """
    check_suffix(Path(path))
    suffix = Path(path).suffix
    content: str | bytes
    title = title if note is None else f"{note}: {title or 'an automaton'}"
    if suffix == ".json":
        content = to_json(pda, note)
    elif suffix == ".jff":
        head, _, rest = to_jflap(pda).partition("\n")
        comment = "" if note is None else f"<!-- {note.replace('--', '- -')} -->\n"  # behind the first line
        content = f"{head}\n{comment}{rest}"
    elif suffix == ".cfg":
        heading = "" if title is None else f"# {' '.join(title.split())}\n"
        content = f"{heading}{grammar_text(readable_grammar(pda))}\n"
    else:
        dot = to_dot(pda, title, groups)
        content = dot if suffix == ".dot" else render(dot, cast(PictureFormat, suffix[1:]))
    write_whole(path, content)
