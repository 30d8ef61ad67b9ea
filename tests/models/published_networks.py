"""Where the authors' own files are: beside the repository, or where STACKLENS_PUBLISHED says; absent elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[3] / "shared" / "published"


def published(pattern: str) -> Path:
    """Return the one file that ``pattern`` finds among the published networks; skip the test without them."""
    root = Path(os.environ.get("STACKLENS_PUBLISHED", BESIDE))
    found = sorted(root.glob(pattern))
    if not found:
        pytest.skip(f"no {pattern} in {root}: the authors' files are not ours to ship; see STACKLENS_PUBLISHED")
    return found[0]
