"""Checkpoints: `torch.save` of plain data, read with `weights_only=True` only: no code in a file is ever run."""

from __future__ import annotations

import io
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

import torch
from torch import Tensor

from stacklens import __version__
from stacklens.errors import FileFormatError, StacklensError
from stacklens.files import write_whole
from stacklens.models.base import StackModel
from stacklens.models.plain import check_weights, shown
from stacklens.models.reading import describe, read_plain
from stacklens.models.registry import build_model, expected_weights

__all__ = ["Checkpoint", "checkpoint_of", "is_checkpoint", "load_checkpoint", "load_model", "save_model"]

_FORMAT = "stacklens"
_LONGEST_NAME = 500  # of a language, which may be a path
_KEYS = ("format", "model", "config", "alphabet", "task", "state_dict", "provenance")


@dataclass(frozen=True)
class Checkpoint:
    """A trained network and where it comes from.

    Attributes:
        model: the network, in evaluation mode.
        task: what it was trained for, such as ``{"kind": "recognition", "language": "palindrome"}``.
        provenance: command, seed, versions, scores.
        training: what `Training.restore` needs to go on, or None where training was over.
    """

    model: StackModel[Any]
    task: dict[str, Any]
    provenance: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] | None = None


def save_model(path: str | Path, checkpoint: Checkpoint) -> None:
    """Return nothing; write ``checkpoint`` to ``path``, whole or not at all.

    The versions of Python, torch and stacklens are added to the provenance.

    Raises:
        StacklensError: the file cannot be written.
    """
    versions = {"python": platform.python_version(), "torch": str(torch.__version__), "stacklens": __version__}
    model = checkpoint.model
    content: dict[str, Any] = {
        "format": _FORMAT,
        "model": model.name,
        "config": model.config(),
        "alphabet": tuple(model.alphabet),
        "task": checkpoint.task,
        "state_dict": {name: value.detach().cpu().clone() for name, value in model.state_dict().items()},
        "provenance": {**checkpoint.provenance, "versions": versions},
    }
    if checkpoint.training is not None:
        content["training"] = checkpoint.training
    buffer = io.BytesIO()
    torch.save(content, buffer)
    write_whole(path, buffer.getvalue())


def load_model(path: str | Path) -> StackModel[Any]:
    """Return the network in the checkpoint at ``path``; see `load_checkpoint` for what may be wrong with a file."""
    return load_checkpoint(path).model


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Return the checkpoint at ``path``.

    Raises:
        FileFormatError: the file is missing, empty, truncated, no checkpoint of ours, holds objects that would run
            code, or weights of a wrong shape or with NaN; the message names the file, what was found and expected.
    """
    return checkpoint_of(path, read_plain(Path(path)))


def is_checkpoint(content: object) -> TypeGuard[dict[str, Any]]:
    """Return whether ``content``, what a file holds, says that it is a stacklens checkpoint."""
    return isinstance(content, dict) and content.get("format") == _FORMAT


def checkpoint_of(path: str | Path, content: object) -> Checkpoint:
    """Return the checkpoint in ``content``, what the file at ``path`` holds; errors as in `load_checkpoint`."""
    if not is_checkpoint(content):
        raise FileFormatError(
            f"{path}: not a stacklens checkpoint: {describe(content)}; expected keys {', '.join(_KEYS)}"
        )
    missing = [key for key in _KEYS if key not in content]
    if missing:
        raise FileFormatError(f"{path}: the checkpoint lacks {', '.join(missing)}; it may be from another version")
    try:
        _check_fields(content)
        model = _build(content)
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return Checkpoint(model, content["task"], content["provenance"], content.get("training"))


def _check_fields(content: dict[str, Any]) -> None:
    kinds: dict[str, type] = {"model": str, "config": dict, "task": dict, "provenance": dict}
    for name, kind in kinds.items():
        if not isinstance(content[name], kind):
            raise StacklensError(f"{name} is of type {type(content[name]).__name__}; expected {kind.__name__}")
    for name in ("config", "task", "provenance"):
        _check_keys(name, content[name])
    for name in ("kind", "language", "after"):
        if type(found := content["task"].get(name)) is not str and found is not None:
            raise StacklensError(f"task names the {name} {shown(found)}; expected a string")
        if found is not None and (len(found) > _LONGEST_NAME or not found.isprintable()):
            raise StacklensError(
                f"task names the {name} {shown(found)}; expected at most {_LONGEST_NAME} printable characters"
            )
    if not isinstance(content.get("training"), dict | None):
        raise StacklensError(f"training is of type {type(content['training']).__name__}; expected dict")


def _build(content: dict[str, Any]) -> StackModel[Any]:
    expected, weights = expected_weights(content["model"], content["config"]), content["state_dict"]
    if not isinstance(weights, dict) or not all(isinstance(value, Tensor) for value in weights.values()):
        raise StacklensError(f"state_dict should map names to tensors, {describe(weights)}")
    check_weights(expected, weights)  # before anything of that size is made
    model = build_model(content["model"], content["config"])
    _check_alphabet(content["alphabet"], model.alphabet)
    model.load_state_dict(weights)
    return model.eval()


def _check_alphabet(found: object, expected: tuple[str, ...]) -> None:
    same = isinstance(found, tuple | list) and all(type(symbol) is str for symbol in found) and tuple(found) == expected
    if not same:
        given = repr(found) if isinstance(found, tuple) and len(repr(found)) < 200 else shown(found)
        raise StacklensError(f"alphabet is {given}; the configuration has {expected}")


def _check_keys(name: str, content: dict[Any, Any]) -> None:
    """Raise StacklensError where a dictionary that is shown, sorted and hashed holds more than plain data by name."""
    for key, value in content.items():
        if type(key) is not str:
            raise StacklensError(f"{name} has the key {shown(key)}; expected names")
        if isinstance(value, dict):
            _check_keys(f"{name} {shown(key)}", value)
        elif isinstance(value, list | tuple):
            _check_keys(f"{name} {shown(key)}", dict(zip(map(str, range(len(value))), value, strict=True)))
        elif value is not None and type(value) not in (str, int, float, bool):
            raise StacklensError(f"{name} {shown(key)} is {shown(value)}; expected plain data")
