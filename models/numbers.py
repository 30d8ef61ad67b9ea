"""Sets of symbols as numbers: symbol i counts 2^i, however many symbols there are.

A number is the same wherever and whenever it is made, so numbers can be compared, sorted and sent to other processes.
Beyond 63 symbols they no longer fit into a machine word; arrays hold Python's own integers then, which are slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..core.errors import StacklensError

_IN_32, _IN_64 = 31, 63  # symbols whose sets fit, with the sign to spare for -1


def set_number_type(n_symbols: int) -> np.dtype:
    """Return the smallest type of arrays for the numbers of sets of ``n_symbols`` symbols, and for -1.

    >>> [str(set_number_type(n)) for n in (31, 32, 63, 64)]
    ['int32', 'int64', 'int64', 'object']
    """
    return np.dtype(np.int32 if n_symbols <= _IN_32 else np.int64 if n_symbols <= _IN_64 else object)


def set_numbers(members: Tensor) -> npt.NDArray[np.generic]:
    """Return the number of each set of ``members`` (..., O) bool, (...): int64, of more than 63 symbols Python's int.

    >>> set_numbers(torch.tensor([[True, False, True], [False, False, False]])).tolist()
    [5, 0]
    >>> set_numbers(torch.eye(200, dtype=torch.bool))[199] == 2**199
    True
    """
    n_symbols = members.shape[-1]
    if n_symbols <= _IN_64:
        weights = 2 ** torch.arange(n_symbols, device=members.device)
        numbers: npt.NDArray[np.generic] = (members * weights).sum(-1).cpu().numpy()
        return numbers
    packed = np.packbits(members.cpu().numpy(), axis=-1, bitorder="little")
    rows, places = np.unique(packed.reshape(-1, packed.shape[-1]), axis=0, return_inverse=True)  # few are distinct
    distinct = np.empty(len(rows), dtype=object)
    distinct[:] = [int.from_bytes(row.tobytes(), "little") for row in rows]
    return distinct[places.reshape(members.shape[:-1])]


def members_of(numbers: Sequence[int], n_symbols: int) -> npt.NDArray[np.bool_]:
    """Return which of ``n_symbols`` symbols the sets ``numbers`` have, (M, n_symbols) bool.

    >>> members_of([5, 0], 3).tolist()
    [[True, False, True], [False, False, False]]
    """
    size = (n_symbols + 7) // 8
    packed = np.frombuffer(b"".join(int(number).to_bytes(size, "little") for number in numbers), np.uint8)
    bits = np.unpackbits(packed.reshape(len(numbers), size), axis=-1, bitorder="little", count=n_symbols)
    return bits.astype(np.bool_)


# ---- Where torch runs: on which device, and on how many threads ----


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
