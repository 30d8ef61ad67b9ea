"""One entry for every file that holds a network, ours and the papers' authors', recognised by what is in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from stacklens.errors import FileFormatError, UnknownNameError
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import Checkpoint, checkpoint_of, is_checkpoint
from stacklens.models.formats import marnns, stack_rnn_cpp, stacknn
from stacklens.models.reading import describe, read_plain

__all__ = ["FORMATS", "ZOO", "FileFormat", "load_network"]

FileFormat = Literal["auto", "stacklens", "marnns", "stacknn", "stack-rnn-cpp"]
ZOO = Path(__file__).parent / "zoo"  # the networks that come with stacklens
FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)

_EXPECTED = "a network: a stacklens checkpoint, or a file of marnns, StackNN or the C++ Stack RNN program"
# The C++ program's file names say what it was trained on: (letters, repetitions) of its task 1.
_CPP_TASKS = {(2, 1): "anbn", (3, 1): "anbncn", (4, 1): "anbncndn", (2, 2): "anb2n"}

# StackNN files do not say either; by the number of symbols: 0 1 and null, ) ( [ ] and null
_STACKNN_TASKS = {3: "reversal", 5: "parenthesis-prediction"}


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
        return _published(stack_rnn_cpp.read_stack_rnn_cpp(path, alphabet), _cpp_task(title), title)
    content = read_plain(Path(path), _EXPECTED)
    if format == "stacklens" or (format == "auto" and is_checkpoint(content)):
        return _with_alphabet(path, checkpoint_of(path, content), alphabet)
    if format == "marnns" or (format == "auto" and marnns.looks_like(content)):
        network = marnns.read_marnns(path, alphabet)
        brackets = len(network.alphabet) // 2
        return _published(network, f"dyck-{brackets}" if network.first else None, title)
    if format == "stacknn" or (format == "auto" and stacknn.looks_like(content)):
        stack_network = stacknn.read_stacknn(path, alphabet)
        return _published(stack_network, _STACKNN_TASKS.get(len(stack_network.alphabet)), title)
    raise FileFormatError(f"{path}: {describe(content)}; expected {_EXPECTED}")


def _published(network: StackModel[Any], task: str | None, title: str) -> Checkpoint:
    """Return a published network as a checkpoint; ``task`` is what it seems to have been trained for."""
    return Checkpoint(network, {"kind": network.task_kind, "language": task}, {"file": title})


def _cpp_task(title: str) -> str | None:
    found = re.search(r"ntask1_nchar(\d+)_.*nrep(\d+)", title)
    return _CPP_TASKS.get((int(found[1]), int(found[2]))) if found else None


def _with_alphabet(path: str | Path, checkpoint: Checkpoint, alphabet: Sequence[str] | None) -> Checkpoint:
    """Return ``checkpoint``; its own alphabet must be the one that was asked for, if one was."""
    own = checkpoint.model.alphabet
    if alphabet is not None and tuple(alphabet) != own:
        raise FileFormatError(f"{path}: has the alphabet {' '.join(own)}, not {' '.join(alphabet)}")
    return checkpoint
