"""The networks and saved results that the page offers by name, and the store that keeps what users open for a day.

Uploads are kept under a name made of their bytes and read as plain data; a result has a name of its own, so that what
a file says is never shown of a network. What a network should do goes by name alone: nobody who can reach the page may
have the server open files.
"""

import base64
import hashlib
import json
import os
import re
import sqlite3
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any

from diskcache import Cache, JSONDisk

from ...automata.pda import PushdownAutomaton, Word
from ...core.errors import FileFormatError, StacklensError, UnknownNameError
from ...extract.by_name import specification_of, true_automaton
from ...extract.specification import Specification, check_same_alphabet
from ...languages.catalogue import language_names, task_names
from ...languages.language import format_word, make_word
from ...models.base import Checkpoint, StackModel
from ...models.checkpoint import ZOO, digest_of, load_checkpoint, load_network, save_model, zoo_names

# ---- What outlives a request: a folder on disk that all server processes and jobs share, for its owner alone ----
#
# What is put there is plain data, and is written as JSON: nothing that is read back can run code, as a pickle could.

DAY = 24 * 60 * 60  # seconds; for what may go once nobody has use for it
_LARGEST = 1 << 30  # bytes in all; what was put there first goes first
_VARIABLE = "STACKLENS_CACHE"


def store_folder() -> Path:
    """Return the folder, made if it is not there: as STACKLENS_CACHE says, or one of this user's for passing files."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(os.environ.get(_VARIABLE) or Path(tempfile.gettempdir()) / f"stacklens-{user}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        reason = error.strerror or error
        raise StacklensError(f"cannot keep anything in {folder}: {reason}; name a folder in {_VARIABLE}") from None
    private = os.name == "nt" or (found.st_uid == user and not found.st_mode & 0o077)
    if not stat.S_ISDIR(found.st_mode) or not private:  # somebody may have been there first
        raise StacklensError(f"{folder} is no folder of yours alone; chmod 700 it, or name another in {_VARIABLE}")
    return folder


def store() -> Cache:
    """Return the store, a `diskcache.Cache`: ``store().set(key, value, expire=DAY)`` keeps plain data.

    What is read back has lists where tuples were put.
    """
    return _opened_cache(str(store_folder()))


@lru_cache(maxsize=4)
def _opened_cache(folder: str) -> Cache:
    try:
        return Cache(folder, disk=JSONDisk, size_limit=_LARGEST)
    except (OSError, sqlite3.Error) as error:
        raise StacklensError(f"cannot keep anything in {folder}: {error}; name a folder in {_VARIABLE}") from None


# ---- Results that were opened ----

RESULT = "result-"
_SHOWN = 120  # characters of a file's name


@dataclass(frozen=True)
class Saved:
    """A result as it is kept."""

    name: str  # the name it is kept under
    title: str  # what its owner calls it
    content: str  # automaton, machine before minimisation, report and summary, as JSON (see `extractions.Known`)
    network: str  # what the result calls its network
    sha256: str | None  # of the network's file; None where it was never in one
    call: str  # the Python expression that gives the result again


def short_title(title: str) -> str:
    """Return the name of a file as it is shown: without folders and control characters, no longer than a line."""
    name = PureWindowsPath(PurePosixPath(title).name).name
    return "".join(filter(str.isprintable, name))[-_SHOWN:] or "a file"


def is_saved(name: str) -> bool:
    """Return whether ``name`` is that of a result that was opened."""
    return name.startswith(RESULT)


def keep_saved(title: str, content: Mapping[str, Any], call: str) -> str:
    """Return the name under which a result, ``content`` of an `extractions.Known`, is kept for a day, see `Saved`."""
    text, card = json.dumps(content), content["report"]["network"]
    name = RESULT + hashlib.sha256(f"{title}\0{call}\0{text}".encode(errors="replace")).hexdigest()[:24]
    store().set(name, asdict(Saved(name, title, text, card["path"] or card["name"], card["sha256"], call)), expire=DAY)
    return name


def saved(name: str) -> Saved:
    """Return the result that is kept as ``name``."""
    kept = store().get(name) if is_saved(name) else None
    if kept is None:
        raise StacklensError(f"no result {name} here; results are kept for a day: open it again")
    return Saved(**kept)


# ---- Networks by name ----

LARGEST_UPLOAD = 20_000_000  # bytes of a file; the largest network of the papers takes a tenth of it
LARGEST_BODY = 2 * LARGEST_UPLOAD  # of a request: one that is somewhat too large is refused in a sentence
PREFIX = "upload-"
_DIGEST = "network "  # in the store: before a file's hash, the name that it is kept under
OWN = "STACKLENS_OWN"  # in the environment: what else the app was started with, a line each; jobs have it, too

_LENGTHS = (4, 20)  # symbols of a random word, from and to
_DRAWN = 160  # words to choose from; of those that are many times longer than their sizes a twentieth
_DYCK = re.compile(r"dyck-([1-9][0-9]{0,4})(-[1-9][0-9]{0,3})?")


@dataclass(frozen=True)
class Upload:
    """A file that was dropped on the page: the name it is kept under, what its owner calls it, its bytes."""

    name: str
    title: str
    data: bytes
    shown: str = ""  # what the page calls it, if that is no file that was opened


def keep_upload(data: bytes, title: str, shown: str = "") -> Upload:
    """Return the file as it is kept, once it has been read as a network; ``title`` is what its owner calls it."""
    if len(data) > LARGEST_UPLOAD:
        raise StacklensError(f"{title}: larger than {LARGEST_UPLOAD // 1_000_000} MB; expected a trained network")
    short = short_title(title)
    upload = Upload(PREFIX + hashlib.sha256(short.encode() + b"\0" + data).hexdigest()[:24], short, data, shown)
    uploaded_network(upload)
    kept = {"title": short, "data": base64.b64encode(data).decode(), "shown": shown}
    store().set(upload.name, kept, expire=DAY)
    store().set(_DIGEST + hashlib.sha256(data).hexdigest(), upload.name, expire=DAY)
    return upload


def uploaded(name: str) -> Upload:
    """Return the file that is kept as ``name``."""
    kept = store().get(name) if name.startswith(PREFIX) else None
    if not isinstance(kept, dict):  # a list in what an earlier version has kept
        raise StacklensError(f"no file {name} here; files are kept for a day: open it again")
    return Upload(name, kept["title"], base64.b64decode(kept["data"]), kept.get("shown", ""))


def keep_repaired(checkpoint: Checkpoint, name: str, what: str) -> str:
    """Return the name under which a network is kept that was "repaired" or "hardened" from the one called ``name``."""
    stem, shown = PurePath(file_of(name)).name.removesuffix(".pt"), network_title(name).removesuffix(" (opened)")
    with tempfile.TemporaryDirectory(prefix="stacklens-") as folder:
        save_model(path := Path(folder) / "network.pt", checkpoint)
        return keep_upload(path.read_bytes(), f"{stem}-{what}.pt", f"{shown.removesuffix('.pt')} ({what})").name


def uploaded_network(upload: Upload) -> Checkpoint:
    """Return the network in a file; it is never written under its own name."""
    with tempfile.TemporaryDirectory(prefix="stacklens-") as folder:
        path = Path(folder) / "network"
        path.write_bytes(upload.data)
        try:
            return load_network(path, title=upload.title)
        except StacklensError as error:
            raise FileFormatError(str(error).replace(str(path), upload.title)) from None


network_names = lru_cache(maxsize=1)(zoo_names)


def own_names() -> tuple[str, ...]:
    """Return the networks of the user's own code that the app was started with, "module:function", and folders of rau.

    Only who starts the app names them; nothing that a browser sends is ever imported.
    """
    return tuple(filter(None, os.environ.get(OWN, "").splitlines()))


@lru_cache(maxsize=32)
def checkpoint_of(name: str) -> Checkpoint:
    """Return the network called ``name``; nobody changes it, so all users share one."""
    if not name:  # a page says so before it knows what its address asks for
        raise StacklensError("no network is chosen")
    if name.startswith(PREFIX):
        _upload_names(name)  # a network is shown on when its day is over, and then its title is asked for
        return uploaded_network(uploaded(name))
    if is_saved(name):
        result = saved(name)
        if (found := _network_of(result)) is None:
            raise StacklensError(
                f"the network of {result.title} is not here, only its automaton; open {result.network}, too, to see "
                "what the network does"
            )
        checkpoint = checkpoint_of(found)
        card, model = json.loads(result.content)["report"]["network"], checkpoint.model
        if (card["kind"], card["alphabet"], card["n_stacks"]) != (model.name, list(model.alphabet), model.n_stacks):
            raise StacklensError(f"{result.title}: a result of another network than its hash says; save it again")
        return checkpoint
    if name in own_names():
        return load_network(name)
    if name not in network_names():
        raise UnknownNameError("network", name, list(network_names()))
    return load_checkpoint(ZOO / f"{name}.pt")


def _network_of(result: Saved) -> str | None:
    if result.sha256 is None:
        return None
    return _zoo_by_digest().get(result.sha256) or store().get(_DIGEST + result.sha256)


@lru_cache(maxsize=1)
def _zoo_by_digest() -> dict[str, str]:
    return {digest_of(ZOO / f"{name}.pt"): name for name in network_names()}


def has_network(name: str) -> bool:
    """Return whether a network belongs to ``name``: always, but for a saved result whose network is not here."""
    if is_saved(name):
        return _network_of(saved(name)) is not None
    checkpoint_of(name)
    return True


@lru_cache(maxsize=1_024)
def _upload_names(name: str) -> tuple[str, str]:
    kept = uploaded(name)
    return kept.title, kept.shown or f"{kept.title} (opened)"


def file_of(name: str) -> str:
    """Return what ``sl.load`` is given for the network called ``name``: of the zoo its name, else its owner's file."""
    if is_saved(name):
        return saved(name).network
    return _upload_names(name)[0] if name.startswith(PREFIX) else name


def network_title(name: str) -> str:
    """Return what the page calls the network, or the saved result, called ``name``."""
    if is_saved(name):
        return f"{saved(name).title} (result)"
    if name.startswith(PREFIX):
        return _upload_names(name)[1]
    return Path(name).name if os.path.isabs(name) else name  # a folder that the app was started with


def random_word(name: str, seed: int) -> str:
    """Return a word drawn from ``seed`` for the network called ``name``, as it would be typed."""
    if is_saved(name) and not has_network(name):
        symbols = json.loads(saved(name).content)["report"]["network"]["alphabet"]
        return format_word(make_word(symbols, symbols))
    checkpoint = checkpoint_of(name)
    specification, symbols = fitting_specification(checkpoint), checkpoint.model.alphabet
    words = [] if specification is None else specification.long_words(_DRAWN, _LENGTHS, seed)
    return format_word(words[seed % len(words)] if words else make_word(symbols, symbols))


def specification_by_name(checkpoint: Checkpoint, language: str | None = None) -> Specification | None:
    """Return what to check a network against: what is called ``language``, or else what its file says, or None.

    As `specification_of`, but no file is ever opened, and nothing is made that is far too large for the network.
    """
    name, model = language or checkpoint.task.get("language"), checkpoint.model
    kind, names = ("language", language_names()) if model.task_kind == "recognition" else ("task", task_names())
    if name is not None:
        _check_name(name, model, kind, names)
    return specification_of(checkpoint, name)


@lru_cache(maxsize=64)
def fitting_specification(checkpoint: Checkpoint, language: str | None = None) -> Specification | None:
    """Return `specification_by_name` where that is something we know over the network's own symbols, else None."""
    try:
        specification = specification_by_name(checkpoint, language)
        check_same_alphabet(specification, checkpoint.model)
    except StacklensError:  # somebody else's name for it
        return None
    return specification


def truth_by_name(checkpoint: Checkpoint, word: Word) -> PushdownAutomaton | None:
    """Return `true_automaton` where the network's file says by name what it was trained on, else None."""
    name, model = checkpoint.task.get("language"), checkpoint.model
    of_a_language = model.task_kind in ("recognition", "next set")  # where a language is looked up, which may be a path
    if name is None:
        return None
    try:
        _check_name(name, model, "language", language_names() if of_a_language else task_names())
    except StacklensError:
        return None
    return true_automaton(checkpoint, word)


def _check_name(name: str, model: StackModel[Any], kind: str, names: list[str]) -> None:
    """Check that ``name`` may be looked up for ``model``: among ``names``, or dyck-n that is not too large."""
    if match := _DYCK.fullmatch(name):
        if 2 * int(match[1]) > len(model.alphabet):
            raise StacklensError(
                f"{kind} {name} has more symbols than the network, {' '.join(model.alphabet)}; "
                "name the language that it was trained on"
            )
    elif name not in names or name in ("dyck-N", "dyck-K-M"):  # a path too, whatever is there
        raise StacklensError(f"{UnknownNameError(kind, name, names)}; extract-pda reads files, the page none")
