"""One network of the zoo for each memory, and both kinds of tasks, where a test is about these and not about one file.

`EVERY` is the whole zoo for tests in which each network may differ: `make test` takes the representatives only.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import stacklens

REPRESENTATIVES = (
    "nnpda-palindrome",  # recognises, at an end symbol
    "stack-rnn-anbncn",  # says one symbol, has several stacks
    "marnn-stack-rnn-dyck-2",  # says a set of symbols
    "baby-ntm-dyck-2",  # has a ring
    "neural-stack-reversal",  # has a continuous stack
    "buffered-neural-stack-reversal",  # reads from a queue
)
_ZOO = sorted(path.stem for path in (Path(stacklens.__file__).parent / "models" / "zoo").glob("*.pt"))
EVERY = [pytest.param(name, marks=() if name in REPRESENTATIVES else pytest.mark.slow) for name in _ZOO]
