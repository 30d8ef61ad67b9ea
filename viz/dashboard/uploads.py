"""Networks that somebody dropped on the page: kept under a name made of their bytes, for a day, and read as plain data.

The name is all that a browser needs to ask for such a network again, and nobody who does not know the bytes can guess
it. They lie in the store that all processes of the server share.
"""

from __future__ import annotations

import base64
import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from stacklens.errors import FileFormatError, StacklensError
from stacklens.models.checkpoint import Checkpoint
from stacklens.models.loading import load_network
from stacklens.viz.dashboard.store import DAY, store

__all__ = ["LARGEST", "LARGEST_BODY", "PREFIX", "Upload", "decoded", "keep", "uploaded", "uploaded_network"]

LARGEST = 20_000_000  # bytes of a file; the largest network of the papers takes a tenth of it
LARGEST_BODY = 2 * LARGEST  # of a request: a file comes in base 64
PREFIX = "upload-"
_SHOWN = 120  # characters of a file's name


@dataclass(frozen=True)
class Upload:
    """A file that was dropped on the page: the name it is kept under, what its owner calls it, its bytes."""

    name: str
    title: str
    data: bytes


def decoded(contents: str) -> bytes:
    """Return the bytes of a file as a browser sends it, a data address in base 64.

    Raises:
        StacklensError: it is too large, or no such address.
    """
    _, comma, coded = contents.partition(";base64,")
    if len(coded) > LARGEST // 3 * 4 + 4:
        raise StacklensError(f"the file is larger than {LARGEST // 1_000_000} MB; expected a trained network")
    try:
        return base64.b64decode(coded, validate=True) if comma else b""
    except ValueError:  # also of what is not even ASCII
        raise StacklensError("the file did not arrive whole; send it again") from None


def keep(data: bytes, title: str) -> Upload:
    """Return the file as it is kept, once it has been read as a network; ``title`` is what its owner calls it.

    Raises:
        StacklensError: the file is too large.
        FileFormatError: it is no network, or a damaged one, or holds objects that would run code; nothing is kept.
    """
    if len(data) > LARGEST:
        raise StacklensError(f"{title}: larger than {LARGEST // 1_000_000} MB; expected a trained network")
    short = PureWindowsPath(PurePosixPath(title).name).name[-_SHOWN:] or "a file"
    upload = Upload(PREFIX + hashlib.sha256(short.encode() + b"\0" + data).hexdigest()[:24], short, data)
    uploaded_network(upload)
    store().set(upload.name, (short, data), expire=DAY)
    return upload


def uploaded(name: str) -> Upload:
    """Return the file that is kept as ``name``.

    Raises:
        StacklensError: there is none, or its day is over.
    """
    kept = store().get(name) if name.startswith(PREFIX) else None
    if kept is None:
        raise StacklensError(f"no file {name} here; files are kept for a day: open it again")
    return Upload(name, *kept)


def uploaded_network(upload: Upload) -> Checkpoint:
    """Return the network in a file; it is never written under its own name.

    Raises:
        FileFormatError: it is no network; the message calls the file by its title.
    """
    with tempfile.TemporaryDirectory(prefix="stacklens-") as folder:
        path = Path(folder) / "network"
        path.write_bytes(upload.data)
        try:
            return load_network(path, title=upload.title)
        except StacklensError as error:
            raise FileFormatError(str(error).replace(str(path), upload.title)) from None
