"""Files are read only where they are files, of a size that is meant; written whole or not at all; and locked."""

import json
import os
import stat
import tempfile
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from .errors import FileFormatError, StacklensError

LARGEST_NETWORK = 1 << 28  # bytes; the largest that was ever published has less than a hundredth of it
LARGEST_TEXT = 1 << 25  # bytes of an automaton, a grammar, a list of words
LARGEST_CORPUS = 1 << 28  # bytes of a text to learn from
_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}

_BEYOND = 0x7FFF_0000  # Windows keeps others from reading what is locked: a byte that no journal has


def read_whole(path: str | Path, expected: str, largest: int = LARGEST_TEXT) -> bytes:
    """Return the content of the file at ``path``, which should hold what is ``expected``.

    Its kind and size are looked at first: a pipe would be waited for, and a device gives bytes for ever. Raises
    FileFormatError: there is no such file, it cannot be read, or has more than ``largest`` bytes.
    """
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise FileFormatError(f"{path}: is a folder; expected {expected}")
        if not stat.S_ISREG(found.st_mode):
            kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no file")
            raise FileFormatError(f"{path}: is {kind}; expected a file with {expected}")
        if found.st_size > largest:
            raise _too_large(path, expected, largest)
        with open(path, "rb") as file:
            content = file.read(largest + 1)  # it may grow meanwhile, and some say that they are empty
    except FileNotFoundError:
        raise FileFormatError(f"{path}: no such file; expected {expected}") from None
    except (OSError, ValueError) as error:  # ValueError for a name that no file can have
        raise FileFormatError(f"{path}: cannot be read: {_reason(error)}; expected {expected}") from None
    if len(content) > largest:
        raise _too_large(path, expected, largest)
    return content


def read_text(path: str | Path, expected: str) -> str:
    """Return the text of a file that should hold ``expected``. Raises FileFormatError: it cannot be read, is no file or
    too large, or is not text in UTF-8.
    """
    content = read_whole(path, expected)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: not text in UTF-8, expected {expected}") from None


def _too_large(path: str | Path, expected: str, largest: int) -> FileFormatError:
    return FileFormatError(f"{path}: larger than {largest >> 20:,} MiB; expected {expected}")


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Write ``content`` so that ``path`` holds all of it or what it held before.

    The content goes to a temporary file in the same folder, is flushed to the disk and then renamed over ``path``, so a
    full disk, a kill or a power cut leaves no half-written file. A link stays a link: what it points to is replaced.
    What is no regular file, such as ``/dev/null``, is written to as it is. A text is written in UTF-8; of a file's name
    that is none, the bytes are written as ``\\udcff``, which JSON reads back. Raises StacklensError: the folder does
    not exist, is not writable, or the disk is full; nothing was written.
    """
    path = Path(path)
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    check_folder(path)
    temporary = None
    try:
        if path.exists() and not path.is_file():  # renaming over a device would put a file in its place
            path.write_bytes(data)
            return
        target = path.resolve()
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".partial", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.umask(mask := os.umask(0))
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except (OSError, ValueError) as error:
        raise StacklensError(f"cannot write {path}: {_reason(error)}; nothing was written") from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)


def write_json(path: str | Path, content: object) -> None:
    """Write ``content``, plain data, to ``path`` as JSON, a value a line; errors as of `write_whole`."""
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def check_folder(path: Path) -> None:
    """Check that a file can be written at ``path`` as far as can be known beforehand."""
    if os.path.isdir(path):  # unlike Path.is_dir it says no to an impossible name
        raise StacklensError(f"cannot write {path}: it is a folder; expected the name of a file")
    if not os.path.isdir(path.parent):
        raise StacklensError(f"cannot write {path}: the folder {path.parent} does not exist; make it first")
    try:
        there = bool(os.stat(path))
    except FileNotFoundError:
        there = False
    except (OSError, ValueError) as error:  # the name is too long, or its links go round in a circle
        raise StacklensError(f"cannot write {path}: {_reason(error)}; nothing was written") from None
    folder = os.path.dirname(os.path.realpath(path))  # a link's target is what is written
    if there and not os.path.isfile(path):
        folder = os.fspath(path)  # a device or a pipe is written to as it is
    if not os.access(folder, os.W_OK):
        raise StacklensError(f"cannot write {path}: {folder} cannot be written to; choose another name")


def check_outputs(outputs: Sequence[Path | None], inputs: Mapping[str, str | Path | None] | None = None) -> None:
    """Check that all ``outputs`` can be written, each to a file of its own, and none over one of ``inputs``, by name.

    Names are one file's if they lead to one: by links, by other spellings, or on some systems by another case.
    """
    wanted = [path for path in outputs if path is not None]
    for number, path in enumerate(wanted):
        check_folder(path)
        for what, read in (inputs or {}).items():
            if read is not None and _is_same_file(path, Path(read)):
                raise StacklensError(f"cannot write {path}: it is {what}; choose another name")
        for other in wanted[:number]:
            # what is written to two names would come to lie in one file
            there = os.path.isfile(path) and os.path.isfile(other)
            if _is_same_file(path, other) if there else _spelled_path(path) == _spelled_path(other):
                raise StacklensError(
                    f"cannot write both {other} and {path}: they are one file, here or elsewhere; choose another name"
                )


def check_ending(path: Path | None, suffixes: Sequence[str]) -> None:
    """Check that a file to write is called what it will be; a device such as /dev/null may be called anything."""
    if path is not None and path.suffix not in suffixes and (os.path.isfile(path) or not os.path.exists(path)):
        raise StacklensError(f"cannot write {path}: expected a name that ends in {', '.join(suffixes)}")


def _is_same_file(path: Path, other: Path) -> bool:
    with suppress(OSError, ValueError):
        return os.path.samefile(path, other)
    return False


def _spelled_path(path: Path) -> str:
    return unicodedata.normalize("NFC", os.path.realpath(path)).casefold()


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def lock_file(file: IO[Any]) -> bool:
    """Return whether the open ``file`` is now locked for us alone; where files cannot be locked nobody is kept out."""
    with suppress(ImportError):
        import fcntl

        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False
    try:
        import msvcrt
    except ImportError:
        return True
    windows: Any = msvcrt  # which locks a byte of a file
    before = file.tell()
    try:
        file.seek(_BEYOND)
        windows.locking(file.fileno(), windows.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        file.seek(before)
    return True
