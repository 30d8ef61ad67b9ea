"""Reading files of others safely: plain data and tensors only, so that no code in a file is ever run."""

from __future__ import annotations

import io
import pickle
import pickletools
import warnings
import zipfile
from pathlib import Path

import torch

from stacklens.errors import FileFormatError, StacklensError
from stacklens.files import LARGEST_NETWORK, read_whole
from stacklens.models.plain import check_plain, listed

__all__ = ["describe", "read_plain"]

_ARCHIVE = b"PK\x03\x04"
_OLD_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19"  # the magic number of torch before 1.6
_DAMAGED = "damaged or truncated: {} bytes that torch cannot read"
_CALLS = {"GLOBAL", "STACK_GLOBAL", "INST", "OBJ", "REDUCE", "NEWOBJ", "NEWOBJ_EX", "BUILD"}


def read_plain(path: Path, expected: str = "a checkpoint written by `stacklens train`") -> object:
    """Return what ``torch.load`` makes of the file at ``path``: plain data and tensors only.

    Raises:
        FileFormatError: the file is missing, a folder, empty, damaged, no PyTorch file, or holds objects that would run
            code or more nested data than any network needs; ``expected`` says in a few words what it should be.
    """
    data = read_whole(path, expected, LARGEST_NETWORK)
    if not data:
        raise FileFormatError(f"{path}: the file is empty; expected {expected}")
    if data.startswith(_ARCHIVE) and not _is_intact(data):  # torch itself would not see a flipped bit
        raise FileFormatError(f"{path}: {_DAMAGED.format(len(data))}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sparse tensors and old formats: what is read is checked below
            content: object = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises a dozen kinds; the bytes tell better what is wrong
        raise FileFormatError(f"{path}: {_why_unreadable(data, error, expected)}") from None
    try:
        check_plain(content)
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return content


def _why_unreadable(data: bytes, error: Exception, expected: str) -> str:
    refused = isinstance(error, pickle.UnpicklingError)
    if _calls(data) or (refused and (data.startswith(_ARCHIVE) or "GLOBAL" in str(error))):
        return (
            "holds objects other than tensors and plain data, and loading them could run code; refused. "
            "Save the state dict and plain values only"
        )
    if data.startswith(_OLD_TORCH):
        return _DAMAGED.format(len(data))
    return f"not a PyTorch file (it begins with {data[:16]!r}); expected {expected}"


def _is_intact(archive: bytes) -> bool:
    """Return whether ``archive`` is whole; torch never packs its members, and packed ones could fill the memory."""
    try:
        found = zipfile.ZipFile(io.BytesIO(archive))
        return sum(member.file_size for member in found.infolist()) <= len(archive) and found.testzip() is None
    except Exception:  # zipfile raises half a dozen kinds
        return False


def _calls(data: bytes) -> bool:
    """Return whether ``data`` is a whole pickle that imports or calls something; it is read, not run."""
    try:
        return not _CALLS.isdisjoint([code.name for code, _, _ in pickletools.genops(data)])
    except Exception:  # not a pickle
        return False


def describe(content: object) -> str:
    """Return in a few words what a file held."""
    if isinstance(content, dict):
        return f"found a dictionary with keys {listed(list(content)[:6])}{', …' if len(content) > 6 else ''}"
    return f"found a {type(content).__name__}"
