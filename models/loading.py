"""One entry for every file that holds a network, ours and the papers' authors', recognised by what is in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from stacklens.errors import FileFormatError, UnknownNameError
from stacklens.languages.tasks.registry import get_task
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import Checkpoint, checkpoint_of, is_checkpoint
from stacklens.models.formats import marnns, stack_rnn_cpp, stacknn
from stacklens.models.reading import describe, read_plain

__all__ = ["FORMATS", "ZOO", "FileFormat", "load_network"]

FileFormat = Literal["auto", "stacklens", "marnns", "stacknn", "stack-rnn-cpp"]
ZOO = Path(__file__).parent / "zoo"  # the networks that come with stacklens
FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)

_EXPECTED = "a network: a stacklens checkpoint, or a file of marnns, StackNN or the C++ Stack RNN program"
# The C++ program's file names say what it was trained on (task.h): of its task 1 the letters alone, of task 2 with two
# letters how many b an a has, and of the tasks that have three letters, that they have them. Tasks 5 and 6, n m times
# and crossed pairs, no stack can do.
_CPP_NAME = re.compile(r"ntask(\d+)_nchar(\d+)_(?:.*_)?nrep(\d+)(?!\d)")
_CPP_TASKS: dict[tuple[str, ...], str] = {
    **{("1", letters): task for letters, task in (("2", "anbn"), ("3", "anbncn"), ("4", "anbncndn"))},
    **{("2", "2", repetitions): task for repetitions, task in (("1", "anbn"), ("2", "anb2n"))},
    ("3", "3"): "anbmcnm",
    ("4", "3"): "memorization",
}
_CPP_LETTERS = {"memorization": ("=", "1", "2")}  # the separator is the letter 0


def load_network(
    path: str | Path,
    format: str = "auto",  # noqa: A002
    alphabet: Sequence[str] | None = None,
    title: str | None = None,
) -> Checkpoint:
    """Return the network in the file at ``path``, with the task that it was trained for as far as that is known.

    Args:
        path: a stacklens checkpoint, or a file of one of the authors' programs.
        format: one of `FORMATS`; "auto" looks into the file.
        alphabet: the symbols of a file that does not name them; a checkpoint has its own.
        title: what the file was called before it came to lie at ``path``, if that was something else.

    Raises:
        FileFormatError: the file cannot be read, or is none of these; the message names it.
        UnknownNameError: there is no such format.
    """
    if format not in FORMATS:
        raise UnknownNameError("format", format, list(FORMATS))
    title = title or Path(path).name
    if format == "stack-rnn-cpp" or (format == "auto" and stack_rnn_cpp.looks_like(path)):
        return _stack_rnn_cpp(path, alphabet, title)
    content = read_plain(Path(path), _EXPECTED)
    if format == "stacklens" or (format == "auto" and is_checkpoint(content)):
        return _with_alphabet(path, checkpoint_of(path, content), alphabet)
    if format == "marnns" or (format == "auto" and marnns.looks_like(content)):
        network = marnns.read_marnns(path, alphabet)
        brackets = len(network.alphabet) // 2
        return _published(network, f"dyck-{brackets}" if network.first else None, title)
    if format == "stacknn" or (format == "auto" and stacknn.looks_like(content)):
        return _published(*stacknn.read_with_task(path, alphabet), title)
    raise FileFormatError(f"{path}: {describe(content)}; expected {_EXPECTED}")


def _published(network: StackModel[Any], task: str | None, title: str) -> Checkpoint:
    """Return a published network as a checkpoint; ``task`` is what it seems to have been trained for, if it fits."""
    fits = task is not None and set(get_task(task).alphabet) == set(network.alphabet)
    return Checkpoint(network, {"kind": network.task_kind, "language": task if fits else None}, {"file": title})


def _stack_rnn_cpp(path: str | Path, alphabet: Sequence[str] | None, title: str) -> Checkpoint:
    """Return a network of the C++ program, whose streams begin after the last letter."""
    task, network = _cpp_task(title), stack_rnn_cpp.read_stack_rnn_cpp(path, alphabet)
    letters = _CPP_LETTERS.get(task or "", ())
    if alphabet is None and len(letters) == len(network.alphabet):
        network = stack_rnn_cpp.read_stack_rnn_cpp(path, letters)
    found = _published(network, task, title)
    return replace(found, task={**found.task, "after": network.alphabet[-1]})


def _cpp_task(title: str) -> str | None:
    if (found := _CPP_NAME.search(title)) is None:
        return None
    return _CPP_TASKS.get(found.groups()[:2]) or _CPP_TASKS.get(found.groups())


def _with_alphabet(path: str | Path, checkpoint: Checkpoint, alphabet: Sequence[str] | None) -> Checkpoint:
    """Return ``checkpoint``; its own alphabet must be the one that was asked for, if one was."""
    own = checkpoint.model.alphabet
    if alphabet is not None and tuple(alphabet) != own:
        raise FileFormatError(f"{path}: has the alphabet {' '.join(own)}, not {' '.join(alphabet)}")
    return checkpoint
