"""Where the authors' own files are: beside the repository, or where STACKLENS_PUBLISHED says; absent elsewhere.

Where the folder is there, every file must be: a test that finds none fails. Where it is not, and nobody has named one,
the tests are skipped, all for one reason, which the end of the run counts.
"""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[3] / "shared" / "published"
ABSENT = (
    "the networks that the papers' authors published are not ours to ship: name their folder in STACKLENS_PUBLISHED"
)


def published(pattern: str) -> Path:
    """Return the first file that ``pattern`` finds among the published networks; skip the test without them."""
    named = os.environ.get("STACKLENS_PUBLISHED") or None
    root = Path(BESIDE if named is None else named)
    if not root.is_dir() and named is None:
        pytest.skip(ABSENT)
    found = sorted(root.glob(pattern))
    if not found:
        pytest.fail(f"no {pattern} in {root}: expected the networks that the papers' authors published")
    return found[0]
