"""Checkpoints along a training: the weights of all networks after some updates, few enough, evenly spread.

How long a training takes is not known before: it ends when networks have settled. So weights are kept after every
update first, and whenever there are twice as many as asked for, every second one is dropped, and from then on every
second one is kept. In the end as many as asked for are chosen of them, the first and the last among these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from ...core.errors import StacklensError
from ...core.files import check_folder
from ..base import Checkpoint, StackModel
from ..checkpoint import save_model
from .loop import Trainer, unstacked

_LEAST = 2


@dataclass(frozen=True)
class Snapshot:
    """The weights of all networks of a training."""

    updates: int  # how often they had been moved; 0 for those that the training began with
    epochs: int  # how many epochs were over then
    weights: dict[str, Tensor]  # by name, (nets, ...)
    temperature: float | None = None  # of the gates then, None where the networks have none

    @classmethod
    def of(cls, trainer: Trainer, updates: int) -> Snapshot:
        """Return the weights of ``trainer`` as they are now, after so many ``updates``."""
        weights = {name: value.detach().cpu().clone() for name, value in trainer.net.named_parameters()}
        return cls(updates, trainer.epochs_done, weights, getattr(trainer.net, "temperature", None))

    def network(self, trainer: Trainer, number: int) -> StackModel[Any]:
        """Return network ``number`` of ``trainer`` as it was then."""
        network = unstacked(trainer.single(number), self.weights, number)
        if self.temperature is not None:
            setattr(network, "temperature", self.temperature)  # noqa: B010 (not every network has one)
        return network


@dataclass
class Snapshots:
    """What is kept of a training: fewer than twice ``most`` snapshots, ``every`` updates apart, and the last one.
    Raises StacklensError: fewer than two are asked for.
    """

    most: int
    every: int = 1
    updates: int = 0
    taken: list[Snapshot] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.most < _LEAST:
            raise StacklensError(f"{self.most} snapshots show no training; ask for at least {_LEAST}")

    def watch(self, trainer: Trainer) -> None:
        """Keep the weights of ``trainer`` now, and from now on where that is due."""

        def updated() -> None:
            self.updates += 1
            self._take(trainer)

        trainer.watch = updated
        self._take(trainer)

    def end(self, trainer: Trainer) -> None:
        """Keep the weights as they are in the end."""
        self._take(trainer, last=True)

    def _take(self, trainer: Trainer, last: bool = False) -> None:
        if (self.updates % self.every and not last) or (self.taken and self.taken[-1].updates == self.updates):
            return
        while len(self.taken) >= 2 * self.most:
            self.every *= 2
            self.taken = [one for one in self.taken if one.updates % self.every == 0]
        if last or self.updates % self.every == 0:
            self.taken.append(Snapshot.of(trainer, self.updates))

    def state(self) -> dict[str, Any]:
        """Return all of it as plain data, for `restored`."""
        return {**vars(self), "taken": [dict(vars(one)) for one in self.taken]}

    @classmethod
    def restored(cls, state: dict[str, Any], most: int | None = None) -> Snapshots:
        """Return what `state` gave; ``most`` are kept on, None for as many. Raises StacklensError: it is damaged."""
        try:
            taken = [Snapshot(**one) for one in state["taken"]]
            return cls(int(most or state["most"]), int(state["every"]), int(state["updates"]), taken)
        except (KeyError, TypeError, ValueError) as error:
            raise StacklensError(f"this training cannot be resumed: its snapshots are damaged ({error})") from None

    @staticmethod
    def check_folder(folder: Path) -> None:
        """Check that snapshots can be written to ``folder``, made if need be. Raises StacklensError: they cannot."""
        check_folder(folder / "update-0.pt" if folder.is_dir() else folder)

    def save(self, trainer: Trainer, folder: Path, command: str) -> list[Path]:
        """Write the snapshots of the best network of ``trainer`` to ``folder`` and return their files, in order.
        Snapshots of another training, which lie there, are removed: a sweep would take them for these. Raises
        StacklensError: a file cannot be written.
        """
        number = trainer.best_number
        try:
            folder.mkdir(exist_ok=True)
            for old in folder.glob("update-*.pt"):
                old.unlink()
        except OSError as error:
            raise StacklensError(f"cannot write snapshots to {folder}: {error.strerror or error}") from None
        about = {"command": command, "recipe": trainer.source, "seed": trainer.seed + number}
        written = []
        # `most` of them, evenly spread, in files whose names sort by time
        digits = len(str(max((one.updates for one in self.taken), default=0)))
        places = np.linspace(0, len(self.taken) - 1, min(self.most, len(self.taken))).round().astype(int)
        for one in (self.taken[place] for place in places.tolist()):
            name = f"update-{one.updates:0{digits}}.pt"
            when = {"epochs": one.epochs, "updates": one.updates}
            save_model(folder / name, Checkpoint(one.network(trainer, number), trainer.learned, {**about, **when}))
            written.append(folder / name)
        return written
