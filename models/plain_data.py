"""Files of others, read as plain data and tensors only, and judged before anything is computed from them.

No code in a file is ever run, sizes are bounded, and tensors must be honest about what they hold.
"""

import io
import pickle
import pickletools
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from ..core.errors import FileFormatError, StacklensError, in_file, in_short, names_in_short
from ..core.files import LARGEST_NETWORK, read_whole

_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_MOST_PARTS, _DEEPEST = 1_000_000, 50  # of plain data; a checkpoint with all that training goes on from has 1,000
_LONGEST_INT = 64  # bits

_ARCHIVE = b"PK\x03\x04"
_OLD_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19"  # the magic number of torch before 1.6
_DAMAGED = "damaged or truncated: {} bytes that torch cannot read"
_CALLS = {"GLOBAL", "STACK_GLOBAL", "INST", "OBJ", "REDUCE", "NEWOBJ", "NEWOBJ_EX", "BUILD"}


def check_plain(content: object) -> None:
    """Check that ``content`` is small enough to be walked over, printed and compared."""
    rest: list[tuple[object, int]] = [(content, 0)]
    parts = 0
    while rest:
        value, depth = rest.pop()
        parts += 1
        if parts > _MOST_PARTS or depth > _DEEPEST:
            limit = f"{_MOST_PARTS:,} parts" if parts > _MOST_PARTS else f"{_DEEPEST} levels"
            raise StacklensError(f"holds nested data of more than {limit}; expected what a network needs")
        if isinstance(value, int) and value.bit_length() > _LONGEST_INT:
            raise StacklensError(f"holds {in_short(value)}; expected {_LONGEST_INT} at most")
        if isinstance(value, Mapping):
            rest += [(part, depth + 1) for item in value.items() for part in item]
        elif isinstance(value, list | tuple | set | frozenset):
            rest += [(part, depth + 1) for part in value]


def check_tensor(name: str, value: object) -> Tensor:
    """Return ``value`` if it is a tensor whose numbers are all there: dense, floating-point, in this machine's memory.
    ``name``: what to call it in messages. ``value``: what a file holds under that name.
    """
    if not isinstance(value, Tensor) or type(value) not in (Tensor, nn.Parameter):
        raise StacklensError(f"{name} is {in_short(value)}; expected a dense tensor of floating-point numbers")
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
    """Check that ``found`` has finite weights of the ``expected`` shapes under these names, and none more.
    ``expected``: shapes by name. ``found``: what a file holds. ``why``: what the expected shapes follow from.
    """
    if set(found) != set(expected):
        names = names_in_short(sorted(map(str, found))) or "nothing"
        raise StacklensError(f"state_dict has {names}; expected {', '.join(sorted(expected))}")
    for name, shape in expected.items():
        value = check_tensor(name, found[name])
        if tuple(value.shape) != shape:
            raise StacklensError(f"{name} has shape {tuple(value.shape)}; expected {shape}{why}")
        if not torch.isfinite(value).all():
            raise StacklensError(f"{name} holds NaN or infinite weights; the network was not trained to an end")


def read_plain(path: Path, expected: str = "a checkpoint written by `stacklens train`") -> object:
    """Return what ``torch.load`` makes of the file at ``path``: plain data and tensors only."""
    data = read_whole(path, expected, LARGEST_NETWORK)
    if not data:
        raise FileFormatError(f"{path}: the file is empty; expected {expected}")
    if data.startswith(_ARCHIVE) and not is_intact(data):  # torch itself would not see a flipped bit
        raise FileFormatError(f"{path}: {_DAMAGED.format(len(data))}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sparse tensors and old formats: what is read is checked below
            content: object = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises a dozen kinds; the bytes tell better what is wrong
        try:  # whether a whole pickle imports or calls something; it is read, not run
            calls = not _CALLS.isdisjoint([code.name for code, _, _ in pickletools.genops(data)])
        except Exception:  # not a pickle
            calls = False
        refused = isinstance(error, pickle.UnpicklingError)
        why = f"not a PyTorch file (it begins with {data[:16]!r}); expected {expected}"
        if calls or "TorchScript" in str(error) or (refused and (data.startswith(_ARCHIVE) or "GLOBAL" in str(error))):
            why = (
                "holds objects other than tensors and plain data, and loading them could run code; refused. "
                "Save the state dict and plain values only"
            )
        elif data.startswith(_OLD_TORCH):
            why = _DAMAGED.format(len(data))
        raise FileFormatError(f"{path}: {why}") from None
    with in_file(path):
        check_plain(content)
    return content


def is_intact(archive: bytes) -> bool:
    """Return whether ``archive`` is whole; torch never packs its members, and packed ones could fill the memory."""
    try:
        found = zipfile.ZipFile(io.BytesIO(archive))
        return sum(member.file_size for member in found.infolist()) <= len(archive) and found.testzip() is None
    except Exception:  # zipfile raises half a dozen kinds
        return False


def describe(content: object) -> str:
    """Return in a few words what a file held."""
    if isinstance(content, Mapping) and content:
        return f"found a dictionary with keys {names_in_short(list(content)[:6])}{', …' if len(content) > 6 else ''}"
    return "found an empty dictionary" if isinstance(content, Mapping) else f"found a {type(content).__name__}"


def is_state_dict(content: object) -> bool:
    """Return whether a file held weights by name: a state dict, or a dictionary with one under a name of its own.

    >>> weights = {"weight": torch.zeros(1)}
    >>> is_state_dict(weights), is_state_dict({"epoch": 3, "model_state_dict": weights}), is_state_dict({"epoch": 3})
    (True, True, False)
    """
    if not isinstance(content, Mapping):
        return False
    parts = [part for part in (content, *content.values()) if isinstance(part, Mapping)]
    return any(isinstance(value, Tensor) for part in parts for value in part.values())
