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
import torch
from torch import Tensor

from ...core.errors import StacklensError
from ...core.files import check_folder
from ..base import Run, StackModel
from ..checkpoint import Checkpoint, save_model
from .loop import Trainer, unstacked

_LEAST = 2


@dataclass(frozen=True)
class Snapshot:
    """The weights of all networks of a training.

    Attributes:
        updates: how often they had been moved; 0 for those that the training began with.
        epochs: how many epochs were over then.
        weights: by name, (nets, ...).
        temperature: of the gates then, None where the networks have none.
    """

    updates: int
    epochs: int
    weights: dict[str, Tensor]
    temperature: float | None = None

    def network(self, trainer: Trainer, number: int) -> StackModel[Any]:
        """Return network ``number`` of ``trainer`` as it was then."""
        network = unstacked(trainer.single(number), self.weights, number)
        if self.temperature is not None:
            setattr(network, "temperature", self.temperature)  # noqa: B010 (not every network has one)
        return network


@dataclass
class Snapshots:
    """What is kept of a training: fewer than twice ``most`` snapshots, ``every`` updates apart, and the last one.

    Raises:
        StacklensError: fewer than two are asked for.
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
            weights = {name: value.detach().cpu().clone() for name, value in trainer.net.named_parameters()}
            temperature = getattr(trainer.net, "temperature", None)
            self.taken.append(Snapshot(self.updates, trainer.epochs_done, weights, temperature))

    def state(self) -> dict[str, Any]:
        """Return all of it as plain data, for `restored`."""
        taken = [dict(vars(one)) for one in self.taken]
        return {"most": self.most, "every": self.every, "updates": self.updates, "taken": taken}

    @classmethod
    def restored(cls, state: dict[str, Any], most: int | None = None) -> Snapshots:
        """Return what `state` gave, of which ``most`` are kept from now on, by default as many as before.

        Raises:
            StacklensError: it is damaged.
        """
        try:
            taken = [Snapshot(**one) for one in state["taken"]]
            return cls(int(most or state["most"]), int(state["every"]), int(state["updates"]), taken)
        except (KeyError, TypeError, ValueError) as error:
            raise StacklensError(f"this training cannot be resumed: its snapshots are damaged ({error})") from None

    @staticmethod
    def check_folder(folder: Path) -> None:
        """Check that snapshots can be written to ``folder``, which is made where it is not there.

        Raises:
            StacklensError: they cannot.
        """
        check_folder(folder / "update-0.pt" if folder.is_dir() else folder)

    def save(self, trainer: Trainer, folder: Path, command: str) -> list[Path]:
        """Write the snapshots of the best network of ``trainer`` to ``folder`` and return their files, in order.

        Snapshots of another training, which lie there, are removed: a sweep would take them for these.

        Raises:
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


# ---- Noise-robust training: what a controller sees is disturbed before every step, and being unsure costs something.
#
# What a disturbance must not change has to sit where curves are flat: hidden units at the ends of their range, gates
# near 0 or 1. Such a network forgets what it was disturbed by within a few steps, so a proof by boxes that it follows
# an automaton for ever need not fail because the boxes grow (see `stacklens.extract.certificate`). Noise on the
# weights or units of a recurrent network is an old means to the same end (Jim, Giles & Horne 1996).

_LOST = 65.0  # minus the sum whose sigmoid is lost beside any cell, with some room
_SHUT = -4.0  # the bias of a forget gate that keeps 2 % of a cell


def draw_noise(
    model: StackModel[Any], steps: int, words: int, amount: float, reading: float, generator: torch.Generator
) -> Tensor:
    """Return what is added to hidden units and readings in S ``steps`` of B ``words``, (S, B, H + n_stacks * R).

    All hidden units of a word are moved by the same amount in a step, up or down, and so are all numbers that it reads
    of its stacks; both amounts are drawn uniformly. Networks on leading axes are disturbed alike (`StackModel.run`).

    Args:
        model: the network, or several on a leading axis.
        amount: the largest disturbance of a unit between -1 and 1, at least 0; of one between 0 and 1 half of that.
        reading: that of a number that is read, as a share of ``amount``.
        generator: where they are drawn from.
    """
    low, high = model.unit_range
    like = next(model.parameters())
    seen = model.initial_state(1).stack.reading().shape[-2:].numel()
    parts = []
    for size, largest in ((model.n_units, amount * (high - low) / 2), (seen, amount * reading)):
        signs = torch.where(torch.rand((steps, words, size), generator=generator) < 0.5, -1.0, 1.0)
        parts.append(largest * torch.rand((steps, words, 1), generator=generator) * signs)
    return torch.cat(parts, -1).to(like)


def blur(model: StackModel[Any], made: Run) -> Tensor:
    """Return how far hidden units are from the ends of their range and actions from whole ones, (S, ..., B).

    It is 0 for a network that has decided, and at most 1 for the units and 1 for the actions.
    """
    low, high = model.unit_range
    units, actions = made.hidden[..., : model.n_units], made.actions
    unsure = actions.new_zeros(actions.shape[:-2])
    if model.n_stacks:
        shares = model.action_kind == "softmax"
        unsure = (1 - actions.square().sum(-1) if shares else (4 * actions * (1 - actions)).mean(-1)).mean(-1)
    if model.n_units:  # those of somebody else's network may leave the range, which is worth nothing
        unsure = unsure + 1 - ((2 * units - low - high) / (high - low)).abs().clamp(max=1).mean(-1)
    return unsure


def residue(model: StackModel[Any], made: Run) -> Tensor | float:
    """Return how far steps that push nothing are from adding exactly nothing to a ring's cells, (S, ..., B).

    A ring adds the new value at every step, and a sigmoid is never 0: what a cell is uncovered with adds up, until an
    automaton's symbols can no longer be told apart. Where the sum before it is at most -60 in float64, the value is
    lost to rounding beside any cell. Which side's operations push is told from where sums are larger. 0 for stacks.
    """
    if not getattr(model, "ring", False):
        return 0.0
    weights, bias = (model.get_parameter(f"pushed_{name}") for name in ("weights", "bias"))
    sums = (made.hidden @ weights.mT + bias.unsqueeze(-2)).amax(-1)
    shares = made.actions.detach()[..., 0, :]
    right, left = (shares[..., list(places)].sum(-1) for places in ((0, 3), (1, 4)))  # rotate, pop
    heavier = (right * sums.detach()).sum() / right.sum() > (left * sums.detach()).sum() / left.sum()
    return (1 - (right if heavier else left)) * torch.relu(sums + _LOST) / _LOST


def remembering(model: StackModel[Any]) -> Tensor | float:
    """Return how far an LSTM's forget gates are from being shut for good, (...), 0 where there is no LSTM.

    It is the mean over hidden units of the squares of a gate's weights and of how far its bias is from -4. Where gates
    are open cells add up for ever, and nothing that went wrong in one is ever forgotten: what has to be kept belongs on
    the stack.
    """
    gates = model.forget_gates()
    if gates is None:
        return 0.0
    weights, bias = gates
    return (weights.square().sum(-1) + (bias - _SHUT).square()).mean(-1)
