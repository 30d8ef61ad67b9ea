"""Where a network comes from, and its card: what there is to say of it without its weights."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from stacklens.languages.tasks.task import TaskKind
from stacklens.models.base import Origin, StackModel
from stacklens.models.plain_data import in_short
from stacklens.plain_fields import to_plain
from stacklens.progress import count

__all__ = ["NetworkCard", "card_of", "html_card", "lines_of", "one_line"]

_LISTED = 12  # symbols of an alphabet that one line shows


@dataclass(frozen=True)
class NetworkCard:
    """What a saved result or trace keeps of its network.

    Attributes:
        name: what it is called, as in `Origin`; the kind of network where it was never in a file.
        file, path, sha256: where it lies, as in `Origin`.
        weights: a hash of the weights themselves, wherever they lie.
        kind: the kind of network.
        alphabet, config, task_kind, n_stacks, stack_limit: as the network says them.
    """

    name: str
    file: str | None
    path: str | None
    sha256: str | None
    weights: str
    kind: str
    alphabet: tuple[str, ...]
    config: Mapping[str, Any]
    task_kind: TaskKind
    n_stacks: int
    stack_limit: int | None


def card_of(model: StackModel[Any]) -> NetworkCard:
    """Return the card of ``model``."""
    origin = model.origin or Origin(model.name)
    return NetworkCard(
        name=_text(origin.name),
        file=None if origin.file is None else _text(origin.file),
        path=None if origin.path is None else _text(origin.path),
        sha256=origin.sha256,
        weights=_digest(model),
        kind=model.name,
        alphabet=tuple(model.alphabet),
        config=to_plain(model.config()),
        task_kind=model.task_kind,
        n_stacks=model.n_stacks,
        stack_limit=model.stack_limit,
    )


def _text(name: str) -> str:
    """Return a file's name as text, which it need not be."""
    return name.encode(errors="backslashreplace").decode()


def _digest(model: StackModel[Any]) -> str:
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def one_line(model: StackModel[Any]) -> str:
    """Return a network in one line: its kind, what it reads, and what it was trained on."""
    symbols = " ".join(model.alphabet[:_LISTED]) + (" …" if len(model.alphabet) > _LISTED else "")
    trained = None if model.origin is None else model.origin.task.get("language")
    return f"<{model.name} over {symbols}{'' if trained is None else f', trained on {trained}'}>"


def lines_of(model: StackModel[Any]) -> dict[str, str]:
    """Return what a network is, by what each line is about; what a file says is made fit for a terminal."""
    weights = sum(parameter.numel() for parameter in model.parameters())
    config = model.config()
    sizes = ", ".join(f"{name} {in_short(value)}" for name, value in config.items() if name != "alphabet")
    lines = {
        "network": model.name,
        "task": model.task_kind,
        "alphabet": " ".join(model.alphabet[:_LISTED]) + (" …" if len(model.alphabet) > _LISTED else ""),
        "sizes": f"{sizes}; {count(weights, 'weight')}",
        "stacks": "none" if model.n_stacks == 0 else f"{count(model.n_stacks, 'stack')}, actions {model.action_kind}",
    }
    if model.origin is None:
        return lines
    origin = model.origin
    told = {
        "trained on": origin.task.get("language"),
        "file": origin.path,
        "recipe": origin.provenance.get("recipe"),
        "seed": origin.provenance.get("seed"),
        "command": origin.provenance.get("command"),
    }
    lines |= {name: _printable(value) for name, value in told.items() if value is not None}
    scores = origin.provenance.get("scores")
    if isinstance(scores, Mapping):
        lines["scores"] = ", ".join(f"{_printable(name)} {_number(value)}" for name, value in scores.items())
    return lines


def _printable(value: object) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in (value if isinstance(value, str) else str(value)))


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else _printable(value)


def html_card(model: StackModel[Any]) -> str:
    """Return the lines of a network as a table in HTML."""
    rows = (
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in lines_of(model).items()
    )
    return f"<table>{''.join(rows)}</table>"
