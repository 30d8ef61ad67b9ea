"""Checkpoints: `torch.save` of plain data, read with `weights_only=True` only: no code in a file is ever run."""

from __future__ import annotations

import io
import pickle
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from stacklens import __version__
from stacklens.errors import FileFormatError, StacklensError
from stacklens.files import write_whole
from stacklens.models.base import StackModel
from stacklens.models.nnpda import NNPDA, NNPDAConfig

__all__ = ["Checkpoint", "load_checkpoint", "load_model", "save_model"]

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
    content = _read(Path(path))
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise FileFormatError(
            f"{path}: not a stacklens checkpoint: {_describe(content)}; expected keys {', '.join(_KEYS)}"
        )
    missing = [key for key in _KEYS if key not in content]
    if missing:
        raise FileFormatError(f"{path}: the checkpoint lacks {', '.join(missing)}; it may be from another version")
    try:
        model = _build(content)
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return Checkpoint(model, content["task"], content["provenance"], content.get("training"))


def _read(path: Path) -> object:
    """Return what ``torch.load`` makes of a file, plain data and tensors only."""
    if not path.exists():
        raise FileFormatError(f"{path}: no such file; expected a checkpoint written by `stacklens train`")
    if path.is_dir():
        raise FileFormatError(f"{path}: is a folder; expected a checkpoint file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not data:
        raise FileFormatError(f"{path}: the file is empty; expected a checkpoint written by `stacklens train`")
    try:
        return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if data[:2] in (b"PK", b"\x80\x02") and "Unsupported" in str(error):
            raise FileFormatError(
                f"{path}: holds objects other than tensors and plain data, and loading them could run code; refused. "
                "Save the state dict and plain values only"
            ) from None
        raise FileFormatError(f"{path}: not a PyTorch file ({_first_bytes(data)}); expected a checkpoint") from None
    except Exception:  # torch raises a dozen kinds on a damaged archive; all mean the same to the user
        raise FileFormatError(f"{path}: damaged or truncated: {len(data)} bytes that torch cannot read") from None


def _first_bytes(data: bytes) -> str:
    return f"it begins with {data[:16]!r}"


def _describe(content: object) -> str:
    if isinstance(content, dict):
        keys = ", ".join(map(str, list(content)[:6]))
        return f"found a dictionary with keys {keys}{', …' if len(content) > 6 else ''}"
    return f"found a {type(content).__name__}"


def _build(content: dict[str, Any]) -> StackModel[Any]:
    if content["model"] != NNPDA.name:
        raise StacklensError(f"unknown model {content['model']!r}; expected {NNPDA.name}")
    try:
        model = NNPDA(NNPDAConfig(**content["config"]))
    except (TypeError, AttributeError) as error:
        raise StacklensError(f"the configuration is not that of an {NNPDA.name}: {error}") from None
    _check_weights(model.state_dict(), content["state_dict"])
    model.load_state_dict(content["state_dict"])
    return model.eval()


def _check_weights(expected: dict[str, Tensor], found: object) -> None:
    if not isinstance(found, dict) or not all(isinstance(value, Tensor) for value in found.values()):
        raise StacklensError(f"state_dict should map names to tensors, {_describe(found)}")
    if set(found) != set(expected):
        raise StacklensError(f"state_dict has {', '.join(sorted(found))}; expected {', '.join(sorted(expected))}")
    for name, value in found.items():
        if value.shape != expected[name].shape:
            raise StacklensError(f"{name} has shape {tuple(value.shape)}; expected {tuple(expected[name].shape)}")
        if not torch.isfinite(value).all():
            raise StacklensError(f"{name} holds NaN or infinite weights; the network was not trained to an end")
