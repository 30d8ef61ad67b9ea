"""The networks that the page offers by name: the zoo, files that were opened or dropped, and what they should do.

Uploads are kept under a name made of their bytes, for a day, and read as plain data. What a network should do goes by
name alone: nobody who can reach the page may have the server open files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...automata.pda import PushdownAutomaton, Word
from ...core.errors import FileFormatError, StacklensError, UnknownNameError
from ...extract.by_name import specification_of, true_automaton
from ...extract.specification import Specification, check_same_alphabet
from ...languages.catalogue import language_names, task_names
from ...languages.words import format_word, make_word
from ...models.base import StackModel
from ...models.checkpoint import ZOO, Checkpoint, digest_of, load_network
from .saved import DAY, Saved, is_saved, saved, short_title, store

LARGEST_UPLOAD = 20_000_000  # bytes of a file; the largest network of the papers takes a tenth of it
LARGEST_BODY = 2 * LARGEST_UPLOAD  # of a request: one that is somewhat too large is refused in a sentence
PREFIX = "upload-"
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


def keep_upload(data: bytes, title: str) -> Upload:
    """Return the file as it is kept, once it has been read as a network; ``title`` is what its owner calls it.

    Raises:
        StacklensError: the file is too large.
        FileFormatError: it is no network, or a damaged one, or holds objects that would run code; nothing is kept.
    """
    if len(data) > LARGEST_UPLOAD:
        raise StacklensError(f"{title}: larger than {LARGEST_UPLOAD // 1_000_000} MB; expected a trained network")
    short = short_title(title)
    upload = Upload(PREFIX + hashlib.sha256(short.encode() + b"\0" + data).hexdigest()[:24], short, data)
    uploaded_network(upload)
    store().set(upload.name, (short, data), expire=DAY)
    store().set(_digest_key(hashlib.sha256(data).hexdigest()), upload.name, expire=DAY)
    return upload


def uploaded(name: str) -> Upload:
    """Return the file that is kept as ``name``."""
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


@lru_cache(maxsize=1)
def network_names() -> tuple[str, ...]:
    """Return the names of the networks of the zoo, sorted."""
    return tuple(sorted(path.stem for path in ZOO.glob("*.pt")))


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
        _title(name)  # a network is shown on when its day is over, and then its title is asked for
        return uploaded_network(uploaded(name))
    if is_saved(name):
        return _network_of_result(name)
    if name in own_names():
        return load_network(name)
    if name not in network_names():
        raise UnknownNameError("network", name, list(network_names()))
    return load_network(ZOO / f"{name}.pt")


def _network_of(result: Saved) -> str | None:
    """Return the name of the network that a saved result is of, the very same file; None if it is not here."""
    if result.sha256 is None:
        return None
    return _zoo_by_digest().get(result.sha256) or store().get(_digest_key(result.sha256))


def _network_of_result(name: str) -> Checkpoint:
    result = saved(name)
    found = _network_of(result)
    if found is None:
        raise StacklensError(
            f"the network of {result.title} is not here, only its automaton; open {result.network}, too, to see "
            "what the network does"
        )
    checkpoint = checkpoint_of(found)
    card, model = json.loads(result.content)["report"]["network"], checkpoint.model
    if (card["kind"], card["alphabet"], card["n_stacks"]) != (model.name, list(model.alphabet), model.n_stacks):
        raise StacklensError(f"{result.title}: a result of another network than its hash says; save it again")
    return checkpoint


def _digest_key(sha256: str) -> str:
    return f"network {sha256}"


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
def _title(name: str) -> str:
    return uploaded(name).title


def is_known(name: str) -> bool:
    """Return whether there is a network called ``name``."""
    try:
        checkpoint_of(name)
    except StacklensError:
        return False
    return True


def file_of(name: str) -> str:
    """Return what ``sl.load`` is given for the network called ``name``: of the zoo its name, else its owner's file."""
    if is_saved(name):
        return saved(name).network
    return _title(name) if name.startswith(PREFIX) else name


def network_title(name: str) -> str:
    """Return what the page calls the network, or the saved result, called ``name``."""
    if is_saved(name):
        return f"{saved(name).title} (result)"
    if name.startswith(PREFIX):
        return f"{_title(name)} (opened)"
    return Path(name).name if os.path.isabs(name) else name  # a folder that the app was started with


def random_word(name: str, seed: int) -> str:
    """Return a word drawn from ``seed`` for the network called ``name``, as it would be typed."""
    if is_saved(name) and not has_network(name):
        symbols = json.loads(saved(name).content)["report"]["network"]["alphabet"]
        return format_word(make_word(symbols, symbols))
    checkpoint = checkpoint_of(name)
    specification = fitting_specification(checkpoint)
    words = [] if specification is None else specification.long_words(_DRAWN, _LENGTHS, seed)
    return (
        format_word(words[seed % len(words)])
        if words
        else format_word(make_word(checkpoint.model.alphabet, checkpoint.model.alphabet))
    )


def specification_by_name(checkpoint: Checkpoint, language: str | None = None) -> Specification | None:
    """Return what to check a network against: what is called ``language``, or else what its file says, or None.

    As `specification_of`, but no file is ever opened, and nothing is made that is far too large for the network.

    Raises:
        StacklensError: it is a path, or a language of more symbols than the network reads.
        UnknownNameError: there is nothing of that name.
    """
    name, model = language or checkpoint.task.get("language"), checkpoint.model
    kind, names = ("language", language_names()) if model.task_kind == "recognition" else ("task", task_names())
    if name is not None:
        _check_name(name, model, kind, names)
    return specification_of(checkpoint, name)


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
