"""What a file holds, judged before anything is computed from it: plain data of bounded size, and honest tensors.

A file of a kilobyte can hold a list of itself, a number of a million digits, or a tensor that claims a terabyte and
stores one number. All readers ask here, so that there is one place to be right about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from stacklens.errors import StacklensError

__all__ = ["check_plain", "check_tensor", "check_weights", "listed", "shown"]

_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_MOST_PARTS, _DEEPEST = 1_000_000, 50  # of plain data; a checkpoint with all that training goes on from has 1,000
_LONGEST_INT = 64  # bits
_SHOWN = 60  # characters of a value in a message
_LISTED = 20  # names in a message


def shown(value: object) -> str:
    """Return ``value`` as a message can show it: short, on one line, and made without printing all of it.

    >>> shown(3), shown("a" * 100)[:9], shown(10**5000), shown([1] * 5)
    ('3', "'aaaaaaaa", 'a whole number of 16610 bits', 'a list of 5')
    """
    if isinstance(value, int) and value.bit_length() > _LONGEST_INT:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, str):
        return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}… ({len(value):,} characters)"
    if value is None or isinstance(value, bool | int | float | complex):
        return repr(value)
    kind = type(value).__name__
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype}"
    return f"a {kind} of {len(value)}" if isinstance(value, dict | list | tuple | set | bytes) else f"a {kind}"


def listed(names: Iterable[object]) -> str:
    """Return names in a row, the first of them where there are many, each as short as `shown` makes it.

    >>> listed(["b", 1, "a"]), listed(range(30))[-14:]
    ('b, 1, a', '18, 19, … (30)')
    """
    names = list(names)
    words = [name if isinstance(name, str) and len(name) <= _SHOWN else shown(name) for name in names[:_LISTED]]
    return ", ".join([*words, f"… ({len(names)})"] if len(names) > _LISTED else words)


def check_plain(content: object) -> None:
    """Return nothing if ``content`` is small enough to be walked over, printed and compared.

    Raises:
        StacklensError: more than 1,000,000 parts, where one that is in it twice counts twice, more than 50 in each
            other, or a whole number of more than 64 bits.
    """
    rest: list[tuple[object, int]] = [(content, 0)]
    parts = 0
    while rest:
        value, depth = rest.pop()
        parts += 1
        if parts > _MOST_PARTS or depth > _DEEPEST:
            limit = f"{_MOST_PARTS:,} parts" if parts > _MOST_PARTS else f"{_DEEPEST} levels"
            raise StacklensError(f"holds nested data of more than {limit}; expected what a network needs")
        if isinstance(value, int) and value.bit_length() > _LONGEST_INT:
            raise StacklensError(f"holds {shown(value)}; expected {_LONGEST_INT} at most")
        if isinstance(value, Mapping):
            rest += [(part, depth + 1) for item in value.items() for part in item]
        elif isinstance(value, list | tuple | set | frozenset):
            rest += [(part, depth + 1) for part in value]


def check_tensor(name: str, value: object) -> Tensor:
    """Return ``value`` if it is a tensor whose numbers are all there: dense, floating-point, in this machine's memory.

    Args:
        name: what to call it in messages.
        value: what a file holds under that name.

    Raises:
        StacklensError: no tensor, a sparse, nested, quantised or meta tensor, one of other numbers than the four
            floating-point formats of 16 to 64 bits, or one that stores fewer numbers than its shape says.
    """
    if type(value) not in (Tensor, nn.Parameter):
        raise StacklensError(f"{name} is {shown(value)}; expected a dense tensor of floating-point numbers")
    assert isinstance(value, Tensor)
    if value.layout != torch.strided or value.is_nested or value.device.type != "cpu" or value.dtype not in _DTYPES:
        kind = "nested" if value.is_nested else str(value.layout)
        raise StacklensError(
            f"{name} is a tensor of {value.dtype}, {kind}, on {value.device}; expected dense floating-point numbers"
        )
    stored = value.untyped_storage().nbytes() // value.element_size()
    if stored < value.numel():
        raise StacklensError(
            f"{name} has shape {tuple(value.shape)} and stores {stored} numbers; expected {value.numel()}: save it "
            "with .clone()"
        )
    return value


def check_weights(expected: Mapping[str, tuple[int, ...]], found: Mapping[str, object], why: str = "") -> None:
    """Return nothing if ``found`` has finite weights of the ``expected`` shapes under these names, and none more.

    Args:
        expected: shapes by name.
        found: what a file holds.
        why: what the expected shape of a message follows from.

    Raises:
        StacklensError: naming the first that is missing, of another kind or shape, NaN or infinite.
    """
    if set(found) != set(expected):
        names = listed(sorted(map(str, found))) or "nothing"
        raise StacklensError(f"state_dict has {names}; expected {', '.join(sorted(expected))}")
    for name, shape in expected.items():
        value = check_tensor(name, found[name])
        if tuple(value.shape) != shape:
            raise StacklensError(f"{name} has shape {tuple(value.shape)}; expected {shape}{why}")
        if not torch.isfinite(value).all():
            raise StacklensError(f"{name} holds NaN or infinite weights; the network was not trained to an end")
