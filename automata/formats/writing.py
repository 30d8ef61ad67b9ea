"""Automata to files, in the format that the suffix of the name says."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from stacklens.automata.formats.dot import PictureFormat, check_renderer, render, to_dot
from stacklens.automata.formats.jflap import to_jflap
from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.files import write_whole

__all__ = ["SUFFIXES", "check_suffix", "write_automaton"]

_PICTURES = (".svg", ".png", ".pdf")
SUFFIXES = (".dot", ".json", ".jff", *_PICTURES)


def check_suffix(path: Path) -> None:
    """Check that an automaton can be written to a file of this name.

    Raises:
        StacklensError: the suffix is unknown, or a picture has no renderer on this machine.
    """
    if path.suffix not in SUFFIXES:
        raise StacklensError(f"cannot write {path}: expected a name that ends in {', '.join(SUFFIXES)}")
    if path.suffix in _PICTURES:
        check_renderer(path.suffix[1:])


def write_automaton(path: str | Path, pda: PushdownAutomaton, title: str | None = None) -> None:
    """Write ``pda`` in the format that the suffix of ``path`` names, whole or not at all; ``title`` is for drawings.

    Raises:
        StacklensError: the suffix is unknown, a picture has no renderer, or the file cannot be written.
    """
    check_suffix(Path(path))
    write_whole(path, _content(Path(path).suffix, pda, title))


def _content(suffix: str, pda: PushdownAutomaton, title: str | None) -> str | bytes:
    if suffix == ".json":
        return to_json(pda)
    if suffix == ".jff":
        return to_jflap(pda)
    dot = to_dot(pda, title)
    return dot if suffix == ".dot" else render(dot, cast(PictureFormat, suffix[1:]))
