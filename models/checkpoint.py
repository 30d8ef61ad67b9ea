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
from stacklens.models.reading import describe, read_plain
from stacklens.models.registry import build_model

__all__ = ["Checkpoint", "checkpoint_of", "is_checkpoint", "load_checkpoint", "load_model", "save_model"]

_FORMAT = "stacklens"
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
    if not isinstance(content["task"].get("language"), str | None):
        raise StacklensError(f"task names the language {content['task']['language']!r}; expected a string")
    if not isinstance(content.get("training"), dict | None):
        raise StacklensError(f"training is of type {type(content['training']).__name__}; expected dict")


def _build(content: dict[str, Any]) -> StackModel[Any]:
    model = build_model(content["model"], content["config"])
    if content["alphabet"] not in (model.alphabet, list(model.alphabet)):
        raise StacklensError(f"alphabet is {content['alphabet']!r}; the configuration has {model.alphabet}")
    _check_weights(model.state_dict(), content["state_dict"])
    model.load_state_dict(content["state_dict"])
    return model.eval()


def _check_weights(expected: dict[str, Tensor], found: object) -> None:
    if not isinstance(found, dict) or not all(isinstance(value, Tensor) for value in found.values()):
        raise StacklensError(f"state_dict should map names to tensors, {describe(found)}")
    if set(found) != set(expected):
        names = ", ".join(sorted(map(str, found))) or "nothing"
        raise StacklensError(f"state_dict has {names}; expected {', '.join(sorted(expected))}")
    for name, value in found.items():
        if not value.is_floating_point() or value.layout != torch.strided or value.is_meta:
            found_kind = f"{value.dtype}, {value.layout}, on {value.device}"
            raise StacklensError(f"{name} is a tensor of {found_kind}; expected dense floating-point numbers")
        if value.shape != expected[name].shape:
            raise StacklensError(f"{name} has shape {tuple(value.shape)}; expected {tuple(expected[name].shape)}")
        if not torch.isfinite(value).all():
            raise StacklensError(f"{name} holds NaN or infinite weights; the network was not trained to an end")
