"""What is refused, by whatever refuses it: one line of words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stacklens.core.errors import FileFormatError, StacklensError

LONGEST = 2_010  # characters of a line, whatever a file made it say


def refused(
    says: str, call: Callable[..., object], *given: Any, error: type[Exception] = StacklensError, **named: Any
) -> str:
    """Return the words with which ``call`` is refused: one line that can be shown, with the pattern ``says``."""
    with pytest.raises(error, match=says or None) as caught:
        call(*given, **named)
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) <= LONGEST
    return line


def complaint_of(load: Callable[..., object], path: Path, says: str = "") -> str:
    """Return what ``load`` finds wrong with a file, without its name, which comes first."""
    line = refused(says, load, path, error=FileFormatError)
    assert line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")
