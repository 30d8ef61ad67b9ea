"""What commands are given: networks by the names of files or of the zoo, and saved results in their place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction

__all__ = ["MODEL_HELP", "MODEL_OR_RESULT_HELP", "saved_result"]

MODEL_HELP = "A trained network: a file, or the name of one of the zoo (a file of that name here comes first)."
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
