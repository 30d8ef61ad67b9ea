"""What a command writes: whether it can, which is looked at before any work is done, and a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from stacklens.automata.formats.writing import check_suffix
from stacklens.errors import StacklensError
from stacklens.files import check_outputs, write_whole

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction

__all__ = ["check_targets", "write_report"]


def check_targets(
    out: list[Path], report: Path | None, save: Path | None, source: Path, language: str | None = None
) -> None:
    """Check that all files can be written as far as can be told beforehand, each to a file of its own.

    Raises:
        StacklensError: a suffix is unknown, a folder does not exist, a picture has no renderer on this machine, two
            files are one, or a file to write is the network's, ``source``, or the one that ``language`` names.
    """
    for path in out:
        check_suffix(path)
    if save is not None and save.suffix != ".json":
        raise StacklensError(f"cannot write {save}: expected a name that ends in .json")
    check_outputs([*out, report, save], {"the network's own file": source, "the language's own file": language})


def write_report(path: Path, result: Extraction, source: str) -> None:
    """Write the report of ``result``, extracted from the file ``source``, as JSON."""
    report = result.report()
    report["model"]["file"] = source
    write_whole(path, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
