"""What is refused, by whatever refuses it: one line of words."""

from collections.abc import Callable
from typing import Any

import pytest

from stacklens.core.errors import StacklensError

LONGEST = 2_010  # characters of a line, whatever a file made it say


def refused(says: str, call: Callable[..., object], *given: Any, error: type[Exception] = StacklensError, **named: Any) -> str:
    """Return the words with which ``call`` is refused: one line that can be shown, where the pattern ``says`` stands."""
    with pytest.raises(error, match=says) as caught:
        call(*given, **named)
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) <= LONGEST
    return line
