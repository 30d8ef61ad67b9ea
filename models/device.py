"""Where torch runs: on which device, and on how many threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from stacklens.errors import StacklensError

__all__ = ["check_device", "one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Run a block with one torch thread: our arrays are small, and more threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def check_device(device: str) -> None:
    """Check that torch can compute on ``device``: "cpu", "cuda", "cuda:1", …

    Raises:
        StacklensError: it cannot, here.
    """
    try:
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError):
        raise StacklensError(
            f"device {device!r} cannot be used here; expected cpu, or cuda where there is a GPU"
        ) from None
