"""Writing an automaton by the suffix of the file's name, and a report; checked before any work is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

from stacklens.automata.formats.dot import PictureFormat, check_renderer, render, to_dot
from stacklens.automata.formats.jflap import to_jflap
from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.files import check_outputs, write_whole

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction

__all__ = ["SUFFIXES", "check_targets", "write_automaton", "write_report"]

_PICTURES = (".svg", ".png", ".pdf")
SUFFIXES = (".dot", ".json", ".jff", *_PICTURES)


def check_targets(out: list[Path], report: Path | None, source: Path, language: str | None = None) -> None:
    """Return nothing if all files can be written as far as can be told beforehand, each to a file of its own.

    Raises:
        StacklensError: a suffix is unknown, a folder does not exist, a picture has no renderer on this machine, two
            files are one, or a file to write is the network's, ``source``, or the one that ``language`` names.
    """
    for path in out:
        if path.suffix not in SUFFIXES:
            raise StacklensError(f"cannot write {path}: expected a name that ends in {', '.join(SUFFIXES)}")
        if path.suffix in _PICTURES:
            check_renderer(path.suffix[1:])
    check_outputs([*out, report], {"the network's own file": source, "the language's own file": language})


def write_automaton(path: Path, pda: PushdownAutomaton, title: str) -> None:
    """Return nothing; write ``pda`` in the format that the suffix of ``path`` names, whole or not at all."""
    write_whole(path, _content(path.suffix, pda, title))


def _content(suffix: str, pda: PushdownAutomaton, title: str) -> str | bytes:
    if suffix == ".json":
        return to_json(pda)
    if suffix == ".jff":
        return to_jflap(pda)
    dot = to_dot(pda, title)
    return dot if suffix == ".dot" else render(dot, cast(PictureFormat, suffix[1:]))


def write_report(path: Path, result: Extraction, source: str) -> None:
    """Return nothing; write the report of ``result``, extracted from the file ``source``, as JSON."""
    report = result.report()
    report["model"]["file"] = source
    write_whole(path, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
