"""Writing an automaton by the suffix of the file's name, and a report; checked before any work is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

from stacklens.automata.formats.dot import to_dot
from stacklens.automata.formats.jflap import to_jflap
from stacklens.automata.formats.json import to_json
from stacklens.automata.formats.rendering import PictureFormat, check_renderer, render
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.files import check_folder, write_whole

if TYPE_CHECKING:
    from stacklens.extract.extraction import Extraction

__all__ = ["SUFFIXES", "check_targets", "write_automaton", "write_report"]

_PICTURES = (".svg", ".png", ".pdf")
SUFFIXES = (".dot", ".json", ".jff", *_PICTURES)


def check_targets(out: list[Path], report: Path | None, source: Path) -> None:
    """Return nothing if all files can be written as far as can be told beforehand, and none replaces ``source``.

    Raises:
        StacklensError: a suffix is unknown, a folder does not exist, a picture has no renderer on this machine, or a
            file to write is the one to read.
    """
    for path in out:
        if path.suffix not in SUFFIXES:
            raise StacklensError(f"cannot write {path}: expected a name that ends in {', '.join(SUFFIXES)}")
        if path.suffix in _PICTURES:
            check_renderer(path.suffix[1:])
    for path in [*out, *([report] if report is not None else [])]:
        check_folder(path)
        if path.exists() and source.exists() and path.samefile(source):
            raise StacklensError(f"cannot write {path}: it is the network's own file; choose another name")


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
