"""What the command line asks of a training besides the loop: the best score of each network, stopping and resuming."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.models.base import StackModel
from stacklens.models.training.loop import SideBySide

__all__ = ["WORST", "Score", "Trainer"]


@dataclass(frozen=True, order=True)
class Score:
    """How good a network is; less is better, rounding first, since automata are read from the rounded network.

    Errors are numbers of words that the rounded network and the network itself get wrong.
    """

    rounded_errors: int
    analog_errors: int
    loss: float


WORST = Score(2**62, 2**62, math.inf)


class Trainer(SideBySide):
    """Networks ``seed``, ``seed + 1``, … of one shape, trained side by side on the leading axis of ``net``.

    Call `epoch` until `done`. What a network ends with is its best check, whatever the others do. `state` and `restore`
    carry everything over a stop: the continued run gives the same weights, bit for bit.

    Attributes:
        seed: the seed of the first network.
        best: the best score of each; ``best_weights`` are the parameters that it had then.
        kind, subject: what is learned: a task kind, and the name of a language or task.
        source: where the settings come from.
        checked: which words the scores' errors are counted on, as one reads it: "all words of length <= 8".
    """

    seed: int
    best: list[Score]
    kind: str
    subject: str
    source: str
    checked: str

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return the plain data that a state must share with the training that it is restored into."""

    @abstractmethod
    def progress_state(self) -> dict[str, Any]:
        """Return all that changes while training besides networks, optimiser and scores, for `apply_state`."""

    @abstractmethod
    def apply_state(self, state: dict[str, Any]) -> None:
        """Put back what `progress_state` gave."""

    @property
    def learned(self) -> dict[str, Any]:
        """Return what a checkpoint says of what was learned; of a language from a file its text, as that may go."""
        text = getattr(getattr(self, "language", None), "text", None)
        return {"kind": self.kind, "language": self.subject, **({} if text is None else {"text": text})}

    @property
    def best_number(self) -> int:
        """Return the number of the best network."""
        return self.best.index(min(self.best))

    def begin(self) -> None:
        """Set what every training starts with, once ``net`` is there."""
        super().begin()
        self.best = [WORST] * self.n_nets

    def network(self, number: int | None = None) -> StackModel[Any]:
        """Return network ``number`` as it was at its best check; the best of all where no number is given."""
        return super().network(self.best_number if number is None else number)

    def keep_if_better(self, number: int, score: Score) -> bool:
        """Return whether network ``number`` has never been so good; its weights are kept then."""
        if not score < self.best[number]:
            return False
        self.best[number] = score
        self.keep(number)
        return True

    def state(self) -> dict[str, Any]:
        """Return everything that `restore` needs, as plain data and CPU tensors, none of which later epochs change."""
        shared = {
            "epochs_done": self.epochs_done,
            "best": [(score.rounded_errors, score.analog_errors, score.loss) for score in self.best],
            "best_weights": self.best_weights,
            "net": dict(self.net.state_dict()),
            "optimizer": self.optimizer.state_dict(),
        }
        state: dict[str, Any] = _on_cpu({**self.identity(), **shared, **self.progress_state()})
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where ``state`` was taken.

        Raises:
            StacklensError: the state belongs to another training, seed or number of networks, or is damaged.
        """
        for key, value in self.identity().items():
            if state.get(key) != value:
                found = f"it was begun with {key} {state.get(key)!r}, asked for is {value!r}"
                raise StacklensError(f"this training cannot be resumed: {found}; give the options it was begun with")
        try:
            state = copy.deepcopy(state)
            self.net.load_state_dict(state["net"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.epochs_done, self.best = state["epochs_done"], [Score(*score) for score in state["best"]]
            for name, value in self.best_weights.items():
                value.copy_(state["best_weights"][name])
            self.apply_state(state)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise StacklensError(f"this training cannot be resumed: its state is damaged ({error})") from None

    def progress(self) -> str:
        """Return how far it is, for people."""
        exact = sum(score.rounded_errors == 0 for score in self.best)
        return f"{exact} of {self.n_nets} networks exact when rounded"

    def provenance(self, command: str) -> dict[str, Any]:
        """Return where the best network comes from, as its file tells: ``command``, recipe, seed, epochs and scores."""
        number = self.best_number
        return {
            "command": command,
            "recipe": self.source,
            "seed": self.seed + number,
            "seeds_trained": self.n_nets,
            "epochs": self.epochs_done,
            "scores": self.scores(number),
        }

    def summary(self) -> str:
        """Return what came out, in one line."""
        exact = sum(score.analog_errors == 0 for score in self.best)
        rounded = sum(score.rounded_errors == 0 for score in self.best)
        epochs = f"{self.n_nets} networks, {self.epochs_done} epochs"
        return f"{epochs}; right on {self.checked}: {exact}, rounded {rounded}"

    def scores(self, number: int) -> dict[str, Any]:
        """Return the scores of network ``number`` as plain data, for a checkpoint's provenance."""
        best = self.best[number]
        return {
            "checked_words": self.checked,
            "errors": best.analog_errors,
            "errors_rounded": best.rounded_errors,
            "loss": best.loss,
        }


def _on_cpu(value: Any) -> Any:
    """Return a deep copy of plain data with all tensors in it on the CPU."""
    if isinstance(value, Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, torch.Generator):
        return value.get_state()
    if isinstance(value, dict):
        return {key: _on_cpu(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_on_cpu(one) for one in value)
    return copy.deepcopy(value)
