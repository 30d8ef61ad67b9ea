"""Files are read only where they are files, of a size that is meant; written whole or not at all; and locked.

And what they hold: dataclasses as plain data, and back.
"""

import collections.abc
import dataclasses
import json
import math
import os
import stat
import tempfile
import types
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from pathlib import Path
from typing import IO, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from .errors import FileFormatError, StacklensError, in_short

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
        content = b""
        if found.st_size <= largest:
            with open(path, "rb") as file:
                content = file.read(largest + 1)  # it may grow meanwhile, and some say that they are empty
        if max(found.st_size, len(content)) > largest:
            raise FileFormatError(f"{path}: larger than {largest >> 20:,} MiB; expected {expected}")
    except FileNotFoundError:
        raise FileFormatError(f"{path}: no such file; expected {expected}") from None
    except (OSError, ValueError) as error:  # ValueError for a name that no file can have
        raise FileFormatError(f"{path}: cannot be read: {_reason(error)}; expected {expected}") from None
    return content


def read_text(path: str | Path, expected: str, content: bytes | None = None) -> str:
    """Return the text of a file that should hold ``expected``, or of its ``content``. Raises FileFormatError: it cannot
    be read, is no file or too large, or is not text in UTF-8.
    """
    try:
        return (read_whole(path, expected) if content is None else content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: not text in UTF-8; expected {expected}") from None


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
    if not os.path.isdir(folder := os.fspath(path.parent)):
        missing = f"the folder {folder} does not exist; make it first"
        why = f"{folder} is a file; expected a folder" if os.path.exists(folder) else missing
        raise StacklensError(f"cannot write {path}: {why}")
    try:
        with suppress(FileNotFoundError):
            os.stat(path)
    except (OSError, ValueError) as error:  # the name is too long, or its links go round in a circle
        raise StacklensError(f"cannot write {path}: {_reason(error)}; nothing was written") from None
    folder = os.path.dirname(os.path.realpath(path))  # a link's target is what is written
    if os.path.exists(path) and not os.path.isfile(path):
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


# ---- Dataclasses as plain data, for files in JSON, and back by the types of their fields ----
# What does not fit is refused. Numbers that JSON does not have are written as "nan", "inf" and "-inf".

T = TypeVar("T")
_ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_PLAIN: dict[Any, tuple[Any, str]] = {  # what a value of JSON has to be, and how that is called
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
    str: (str, "a text"),
    bool: (bool, "true or false"),
    types.NoneType: (types.NoneType, "null"),
}
_LARGEST_INT = 1_000  # bits of a whole number
_DEEPEST = 100  # levels of a file, far more than any of ours has
_type_hints = cache(get_type_hints)


def to_plain(value: object) -> Any:
    """Return ``value``, dataclasses and what they hold, as what JSON has; a dataclass says which one it is.

    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: float
    ...     y: float
    >>> to_plain([Point(1.0, math.inf)])
    [{'type': 'Point', 'x': 1.0, 'y': 'inf'}]
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        return {"type": type(value).__name__, **{name: to_plain(getattr(value, name)) for name in names}}
    if isinstance(value, Mapping):
        return {str(key): to_plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(part) for part in value]
    if isinstance(value, frozenset | set):
        return sorted((to_plain(part) for part in value), key=json.dumps)
    if hasattr(value, "item"):  # a number of numpy's
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{type(value).__name__} is no plain data")


def from_plain(kind: type[T], value: object, where: str) -> T:
    """Return what `to_plain` made ``value`` of, a ``kind``. Raises StacklensError: it is something else; ``where``."""
    return cast(T, _read_as(kind, value, where))


def parse_json(text: str, expected: str) -> dict[str, Any]:
    """Return the object that ``text`` is in JSON. Raises StacklensError: it is none, or is nested too deep."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StacklensError(f"not JSON: {error}; expected {expected}") from None
    if not isinstance(content, dict):
        raise StacklensError(f"holds {in_short(content)}; expected {expected}")
    level: list[Any] = [content]
    for _ in range(_DEEPEST):
        level = [part for value in level for part in (value.values() if isinstance(value, dict) else value)]
        level = [part for part in level if isinstance(part, dict | list)]
    if level:
        raise StacklensError(f"is nested more than {_DEEPEST} levels deep; expected {expected}")
    return content


def _read_as(kind: Any, value: Any, where: str) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return _read_record(kind, value, where)
    if origin in (Union, types.UnionType):
        if isinstance(value, dict) and "type" in value:
            for one in arguments:
                if dataclasses.is_dataclass(one) and getattr(one, "__name__", None) == value["type"]:
                    return _read_record(one, value, where)
        problem = StacklensError(f"{where} is {in_short(value)}; expected something else")
        for one in sorted(arguments, key=lambda one: one is not types.NoneType):
            try:
                return _read_as(one, value, where)
            except StacklensError as error:
                problem = error
        raise problem
    if origin is Literal:
        return _expect(any(value == one and type(value) is type(one) for one in arguments), value, where, arguments)
    if origin is collections.abc.Sequence and arguments == (str,) and isinstance(value, str):
        return _checked_text(value, where)  # a word of single characters
    if origin in (tuple, collections.abc.Sequence):
        _expect(isinstance(value, list), value, where, "a list")
        if origin is not tuple or arguments[1:] == (...,):
            arguments = (arguments[0],) * len(value)
        _expect(len(arguments) == len(value), value, where, f"a list of {len(arguments)}")
        parts = enumerate(zip(arguments, value, strict=True), 1)
        return tuple(_read_as(one, part, f"{where} {number}") for number, (one, part) in parts)
    if origin in (dict, collections.abc.Mapping):
        _expect(isinstance(value, dict), value, where, "an object")
        return {_checked_text(key, where): _read_as(arguments[1], one, f"{where} {key}") for key, one in value.items()}
    if kind is float and isinstance(value, str) and value in _ODD:
        return _ODD[value]
    types_of, expected = _PLAIN.get(kind, ((), "nothing"))
    # True is an int for Python
    _expect(isinstance(value, types_of) and (kind is bool or not isinstance(value, bool)), value, where, expected)
    if isinstance(value, int) and value.bit_length() > _LARGEST_INT:
        raise StacklensError(f"{where} is {in_short(value)}; expected a smaller one")
    if kind is str:
        return _checked_text(value, where)
    return float(value) if kind is float else value


def _read_record(kind: Any, value: Any, where: str) -> Any:
    """Return the dataclass ``kind`` with the fields in ``value``; those that have a default may be missing."""
    _expect(isinstance(value, dict), value, where, f"a {kind.__name__}")
    _expect(value.get("type") == kind.__name__, value.get("type"), f"{where} type", kind.__name__)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    if unknown := value.keys() - fields.keys() - {"type"}:
        raise StacklensError(f"{where} has {in_short(min(unknown))}, which a {kind.__name__} has not")
    for name, field in fields.items():
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if needed and name not in value:
            raise StacklensError(f"{where} lacks {name}")
    hints = _type_hints(kind)
    read = {name: _read_as(hints[name], value[name], f"{where} {name}") for name in fields if name in value}
    try:
        return kind(**read)
    except StacklensError as error:  # what no type says
        raise StacklensError(f"{where} holds {error}") from None


def _checked_text(value: str, where: str) -> str:
    _expect(value.isprintable(), value, where, "printable characters")
    return value


def _expect(fits: bool, value: Any, where: str, expected: object) -> Any:
    if not fits:
        wanted = expected if isinstance(expected, str) else f"one of {', '.join(map(str, expected))}"  # type: ignore[call-overload]
        raise StacklensError(f"{where} is {in_short(value)}; expected {wanted}")
    return value


# ---- Fields of a frozen dataclass whose value may be made when it is first asked for, such as a network in a file.

C = TypeVar("C", bound=type)

_MAKER = "_make_"  # before a field's name: where the instance keeps how its value is made


def _make(name: str, instance: Any) -> Any:
    """Return the value of a field, made now, where `put_off` took it away; an error leaves it as it was."""
    make = instance.__dict__.get(_MAKER + name)
    if make is None:
        raise AttributeError(name)
    value = make()
    del instance.__dict__[_MAKER + name]
    return value


def late(*names: str) -> Callable[[C], C]:
    """Return a decorator, to stand above `dataclass`, that lets `put_off` take the fields ``names``.

    >>> from dataclasses import dataclass
    >>> @late("number")
    ... @dataclass(frozen=True)
    ... class One:
    ...     number: int
    >>> put_off(One(0), number=lambda: 1).number
    1
    """

    def decorate(kind: C) -> C:
        for name in names:
            # what an instance has in its dictionary, as every field that has a value, comes before a cached property
            field = cached_property(partial(_make, name))
            field.__set_name__(kind, name)
            setattr(kind, name, field)
        return kind

    return decorate


def put_off(instance: T, **makers: Callable[[], Any]) -> T:
    """Return ``instance``, which makes its `late` fields called so when they are first read, whatever they were."""
    for name, make in makers.items():
        del instance.__dict__[name]
        instance.__dict__[_MAKER + name] = make
    return instance
