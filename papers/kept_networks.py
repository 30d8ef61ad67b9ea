"""Networks of a grid kept in files: a checkpoint each, so that an extraction is run again without the training."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklens.errors import FileFormatError, StacklensError
from stacklens.papers.grid import GridRow, Outcome, RunSettings

if TYPE_CHECKING:
    from stacklens.models.base import StackModel

__all__ = ["keep_networks", "kept_networks"]

_KEY = "papers"  # of the provenance: what this file knows


def keep_networks(
    folder: Path,
    grid: str,
    row: GridRow,
    settings: RunSettings,
    outcomes: Sequence[Outcome],
    command: str,
    seconds: Mapping[str, float],
) -> None:
    """Write the network of every outcome into ``folder``; ``command`` made them in so many ``seconds`` by each clock.

    Raises:
        StacklensError: nothing can be written there.
    """
    from stacklens.models.io import Checkpoint, save_model

    for outcome in outcomes:
        if outcome.model is None:
            continue
        path = _path(folder, grid, row, settings, outcome.seed)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StacklensError(f"{path.parent}: cannot be made: {error.strerror}") from None
        task = {"kind": outcome.model.task_kind, "language": outcome.task}
        own = {"scores": outcome.scores, "seconds": dict(seconds), **_settings(settings)}
        known = {"command": command, "seed": outcome.seed, "scores": outcome.scores, _KEY: own}
        save_model(path, Checkpoint(outcome.model, task, known))


def kept_networks(
    folder: Path, grid: str, row: GridRow, settings: RunSettings
) -> tuple[list[Outcome], dict[str, float]] | None:
    """Return the outcomes of ``row`` by ``settings`` and the seconds of its training, None unless ``folder`` has all.

    Raises:
        FileFormatError: a file that is there holds no network of a grid.
    """
    paths = [_path(folder, grid, row, settings, seed) for seed in settings.seeds]
    if not all(path.is_file() for path in paths):
        return None
    found = [_outcome(path, seed, settings) for path, seed in zip(paths, settings.seeds, strict=True)]
    known = [one for one in found if one is not None]
    return ([outcome for outcome, _ in known], known[0][1]) if len(known) == len(found) else None


def _outcome(path: Path, seed: int, settings: RunSettings) -> tuple[Outcome, dict[str, float]] | None:
    """Return what the file at ``path`` holds, and the seconds of the training; None where other settings made it."""
    from stacklens.models.io import load_checkpoint

    checkpoint = load_checkpoint(path)
    own = checkpoint.provenance.get(_KEY)
    if not isinstance(own, dict) or not all(isinstance(own.get(name), dict) for name in ("scores", "seconds")):
        raise FileFormatError(f"{path}: no network of a grid; move it away, or choose another --networks folder")
    if any(own.get(name) != value for name, value in _settings(settings).items()):
        return None
    model: StackModel[Any] = checkpoint.model
    return Outcome(seed, own["scores"], model, checkpoint.task.get("language")), own["seconds"]


def _settings(settings: RunSettings) -> dict[str, Any]:
    return {"scale": settings.scale, "texts": settings.texts, "epochs": settings.epochs}


def _path(folder: Path, grid: str, row: GridRow, settings: RunSettings, seed: int) -> Path:
    name = re.sub(r"[^a-z0-9]+", "-", row.name.lower().replace("+", " plus ")).strip("-")
    data = f"-data-{settings.data_seed}" if settings.data_seed else ""
    return folder / grid / f"{name}-{settings.protocol}{data}-seed-{seed}.pt"
