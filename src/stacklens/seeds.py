"""Seeds: which numbers they may be."""

from __future__ import annotations

from stacklens.errors import StacklensError

__all__ = ["LARGEST_SEED", "check_seed"]

LARGEST_SEED = 2**32 - 1  # scikit-learn takes no larger one


def check_seed(seed: int) -> None:
    """Check that ``seed`` is a whole number from 0 to `LARGEST_SEED`.

    Raises:
        StacklensError: it is not.
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
        raise StacklensError(f"a seed is a whole number from 0 to {LARGEST_SEED}, not {seed!r:.50}")
