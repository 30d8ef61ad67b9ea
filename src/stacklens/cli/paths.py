"""The files that commands are given and write: networks, saved results in their place, and what comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from stacklens.automata.formats.by_suffix import check_suffix
from stacklens.errors import StacklensError
from stacklens.files import check_ending, check_outputs, write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stacklens.automata.pda import PushdownAutomaton
    from stacklens.extract.result import Extraction

__all__ = [
    "MODEL_HELP",
    "MODEL_OR_RESULT_HELP",
    "OUT_HELP",
    "check_targets",
    "saved_result",
    "write_outputs",
    "write_report",
]

MODEL_HELP = "A trained network: a file, or the name of one of the zoo (a file of that name here comes first)."
OUT_HELP = "Write the automaton: .dot .json .jff .svg .png .pdf, or .cfg, its grammar; may be repeated."
MODEL_OR_RESULT_HELP = f"{MODEL_HELP} Or a saved result (.json), which has its automaton with it."


def saved_result(path: Path) -> Extraction | None:
    """Return the result in the file at ``path``, None where that is something else.

    Raises:
        FileFormatError: it is a .json file that cannot be read, or a damaged result.
    """
    if path.suffix != ".json":
        return None
    from stacklens.extract.result_file import is_result, load_result

    return load_result(path) if is_result(path) else None


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
    check_outputs([*out, report, save], {"the network's own file": source, "the language's own file": language})
    for written in (report, save):
        check_ending(written, [".json"])


def write_report(path: Path, result: Extraction, source: str) -> None:
    """Write the report of ``result``, extracted from the file ``source``, as JSON."""
    from stacklens.extract.result_file import versions_used

    report = {**result.report(), "versions": versions_used()}
    report["model"]["file"] = source
    write_whole(path, json.dumps(report, indent=1, ensure_ascii=False) + "\n")


def write_outputs(
    out: list[Path], out_raw: list[Path], result: Extraction, best: bool
) -> tuple[list[Path], StacklensError | None]:
    """Write the automaton of ``result`` to all of ``out``, the one before minimisation to all of ``out_raw``.

    What was written comes back, and what went wrong if something did.

    Where there is no faithful one, nothing is written, or what came nearest where the ``best`` is asked for: it says so
    in the file.
    """
    from stacklens.automata.formats.by_suffix import write_automaton

    pda, note, problem, written = result.minimised, None, None, list[Path]()
    if pda is None and best and result.best is not None:
        pda, note = result.best.automaton, f"NOT FAITHFUL, wrong of the network on {result.best.error_rate:.1%}"
    merged = None if result.merged is None else result.merged.states
    title = f"{result.title}, before minimisation"
    kinds: list[tuple[Path, PushdownAutomaton | None, str, Mapping[str, str] | None]]
    kinds = [(path, pda, result.title, None) for path in out]
    kinds += [(path, None if pda is None else result.raw, title, merged) for path in out_raw]
    for path, one, heading, groups in kinds:
        if one is None:
            continue
        try:
            write_automaton(path, one, heading, note, groups)
            written.append(path)
        except StacklensError as error:  # what came out is shown all the same
            problem = error
    return written, problem
