"""The loop that every kind of training goes through: batches, costs, clipping, an update, and now and then a check.

Below it stand the pieces that several kinds are put together from: batches by length, what is lost, clipping, rates.
"""

import copy
import math
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...core.errors import StacklensError
from ...languages.task import Examples
from ..base import NetworkState, Run, StackModel, one_thread
from ..networks import build_model

_TINY = 1e-12  # probabilities are kept above it in logarithms, norms in quotients
M = TypeVar("M", bound=StackModel[Any])

Which = int | npt.NDArray[np.bool_] | types.EllipsisType  # a number on the leading axis, a mask of it, or all


class TrainingLoop(ABC):
    """The loop. Call `epoch` until `done`, or `run`. A kind of training says what its batches are, what they cost, how
    fast weights move, and how networks are checked.
    """

    net: StackModel[Any]  # the network, or several on a leading axis of all weights
    recipe: Any  # the settings of the training
    optimizer: torch.optim.Optimizer  # moves the weights of ``net`` in an update, if that is not done in another way
    check_every: int = 1  # epochs between two checks
    epochs_done: int  # how many epochs have been trained
    best_weights: dict[str, Tensor]  # the parameters that are kept, by name
    watch: Callable[[], None] | None = None  # called after every update, to keep snapshots; it must change nothing

    @property
    def total_epochs(self) -> int:
        """Return the largest number of epochs that may be needed."""
        return int(self.recipe.epochs)

    @property
    def settled(self) -> bool:
        """Return whether further epochs would change nothing."""
        return False

    @abstractmethod
    def learning_rate(self) -> float | Tensor:
        """Return the learning rate of the next update, or that of each network, (nets,)."""

    @abstractmethod
    def batches(self) -> Iterable[Any]:
        """Return the batches of an epoch; each is drawn when the one before it has been learned from."""

    @abstractmethod
    def costs(self, batch: Any) -> Tensor | None:
        """Return what each network has to pay for ``batch``, (...); None where nothing is to be learned from it."""

    @abstractmethod
    def check(self) -> None:
        """Score every network, and keep those that are better than ever."""

    @property
    def done(self) -> bool:
        """Return whether nothing is left to do."""
        return self.epochs_done >= self.total_epochs or self.settled

    @property
    def check_due(self) -> bool:
        """Return whether networks are checked after the epoch that is just over."""
        return self.done or self.epochs_done % self.check_every == 0

    def begin(self) -> None:
        """Set what every training starts with, once ``net`` is there."""
        self.epochs_done = 0
        self.best_weights = {name: value.detach().clone() for name, value in self.net.named_parameters()}

    def run(self) -> None:
        """Train until all is `done`."""
        while not self.done:
            self.epoch()

    def epoch(self) -> None:
        """Train for one epoch, and check where a check is due; do nothing when all is `done`."""
        if self.done:
            return
        with one_thread():
            self.net.train()
            self.learn()
            self.epochs_done += 1
            if self.check_due:
                self.check()

    def learn(self) -> None:
        """Learn from all batches of an epoch."""
        for batch in self.batches():
            costs = self.costs(batch)
            if costs is not None:
                self.net.zero_grad()
                costs.sum().backward()  # type: ignore[no-untyped-call]
                self.update()
                if self.watch is not None:
                    self.watch()

    def update(self) -> None:
        """Move all weights by their gradients."""
        rate = self.learning_rate()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()

    def keep(self, which: Which = ...) -> None:
        """Keep the networks ``which`` as they are now."""
        for name, value in self.net.named_parameters():
            self.best_weights[name][which] = value.detach()[which]

    def bring_back(self, which: Which = ...) -> None:
        """Give the networks ``which`` the weights that they are kept with."""
        for name, value in self.net.named_parameters():
            value.detach()[which] = self.best_weights[name][which]


class SideBySide(TrainingLoop):
    """The loop for networks of one shape on the leading axis of ``net``. Costs are summed and updates are weight by
    weight, so none of the networks influences another.
    """

    model: str  # the registry's name of the networks
    shape: dict[str, Any]  # what their configuration is made from
    n_nets: int  # how many there are
    device: str  # where they are
    clip: float | None = None  # the norm that gradients are shortened to, network by network; None for not at all

    def update(self) -> None:
        if self.clip is not None:
            clip_gradients(self.net.parameters(), self.clip)
        super().update()

    def whole(self, weights: Mapping[str, Tensor]) -> StackModel[Any]:
        """Return all networks with ``weights`` (nets, ...) by name, and all the memory that the shape asks for."""
        nets = build_model(self.model, self.shape, nets=self.n_nets).to(self.device)
        nets.load_state_dict(weights)
        return nets

    def single(self, number: int) -> StackModel[Any]:
        """Return a network of the shape of network ``number``, with any weights."""
        return build_model(self.model, self.shape)

    def network(self, number: int) -> StackModel[Any]:
        """Return network ``number`` alone, as it is kept."""
        return unstacked(self.single(number), self.best_weights, number)


def by_length(lengths: npt.NDArray[Any], size: int) -> list[npt.NDArray[np.int64]]:
    """Return the numbers of words of these ``lengths`` in batches of ``size``, the shortest words first."""
    order = np.argsort(lengths, kind="stable")
    return [order[start : start + size] for start in range(0, len(order), size)]


def batches_by_length(lengths: npt.NDArray[Any], size: int, rng: np.random.Generator) -> list[npt.NDArray[np.int64]]:
    """Return the numbers of the words in batches of ``size``, in random order. A batch has words of about the same
    length, so that few steps are wasted; which of them, is drawn anew each time.
    """
    order = np.lexsort((rng.random(len(lengths)), lengths))
    starts = rng.permutation(np.arange(0, len(order), size))
    return [order[start : start + size] for start in starts]


@dataclass(frozen=True)
class Batch:
    """Words as tensors, step by step."""

    symbols: Tensor  # what is read, (T, B) int; -1 after the end of a word
    targets: Tensor  # the right outputs, (T, B, k) 0 or 1 for sets, else (T, B) int
    weights: Tensor  # (T, B), which sum to 1; 0 where nothing counts

    @classmethod
    def of(cls, examples: Examples, rows: np.ndarray, like: Tensor) -> Self:
        """Return the words ``rows`` of ``examples``, cut to the longest of them, as ``like`` in dtype and device."""
        steps = int(examples.lengths[rows].max(initial=0))
        symbols, targets, mask = (
            torch.from_numpy(np.ascontiguousarray(part[rows, :steps].swapaxes(0, 1))).to(like.device)
            for part in (examples.symbols, examples.targets, examples.mask)
        )
        targets = targets.to(like) if targets.dim() == 3 else targets.clamp(min=0).long()
        return cls(symbols.long(), targets, mask.to(like) / max(1, int(mask.sum())))


def log_loss(outputs: Tensor, targets: Tensor, least: float | None = _TINY) -> Tensor:
    """Return minus the logarithms of the probabilities that distributions give to the right outputs, (...).
    ``outputs``: distributions, (..., O). ``targets``: the numbers of the right outputs, of a shape that expands to
    (...). ``least``: smaller probabilities count as this one; None for the smallest number that is not subnormal.
    """
    index = targets.expand(outputs.shape[:-1]).unsqueeze(-1)
    smallest = torch.finfo(outputs.dtype).tiny if least is None else least
    return -outputs.gather(-1, index).squeeze(-1).clamp(min=smallest).log()


def clip_gradients(parameters: Iterable[Tensor], norm: float) -> None:
    """Shorten the gradients of each network on the leading axis of all ``parameters`` to ``norm`` where longer. It is
    done in place: a gradient that two parameters have together, as an LSTM's biases do, is shortened twice.
    """
    gradients = [p.grad for p in parameters if p.grad is not None]
    norms = torch.stack([gradient.flatten(1).square().sum(1) for gradient in gradients]).sum(0).sqrt()
    factors = (norm / norms.clamp(min=_TINY)).clamp(max=1)
    for gradient in gradients:
        gradient.mul_(factors.view(-1, *[1] * (gradient.dim() - 1)))


def cosine(done: float, total: float = 1.0) -> float:
    """Return a factor for a rate that falls from 1 to 0 as half a cosine, when ``done`` of ``total`` is over."""
    return (1 + math.cos(math.pi * done / total)) / 2


def stacked(model: StackModel[Any], number: int) -> StackModel[Any]:
    """Return ``number`` copies of a paper's network on a leading axis."""
    nets = build_model(model.name, model.config(), nets=number).to(next(model.parameters())).eval()
    nets.load_state_dict({name: value.expand(number, *value.shape) for name, value in model.state_dict().items()})
    return nets


def unstacked(single: M, weights: dict[str, Tensor], number: int) -> M:
    """Return ``single`` with the weights that network ``number`` has among ``weights`` (nets, ...) by name."""
    single.load_state_dict({name: value[number].cpu() for name, value in weights.items()})
    return single.eval()


def detached(state: NetworkState[Any]) -> NetworkState[Any]:
    """Return the same state, from which no gradient flows back."""
    kept = {name: value.detach() for name, value in state.stack.tensors().items()}
    return NetworkState(state.hidden.detach(), replace(state.stack, **kept), state.rejected)


# ---- What the command line asks of a training besides the loop: best scores, stopping and resuming ----


@dataclass(frozen=True, order=True)
class Score:
    """How good a network is; less is better, rounding first, since automata are read from the rounded network. Errors
    are numbers of words that the rounded network and the network itself get wrong.
    """

    rounded_errors: int
    analog_errors: int
    loss: float


WORST = Score(2**62, 2**62, math.inf)


class Trainer(SideBySide):
    """Networks ``seed``, ``seed + 1``, … of one shape, trained side by side on the leading axis of ``net``. Call
    `epoch` until `done`. What a network ends with is its best check, whatever the others do. `state` and `restore`
    carry everything over a stop: the continued run gives the same weights, bit for bit.
    """

    # the attributes that change while training, besides networks, optimiser and scores: `state` saves them
    PROGRESS: ClassVar[tuple[str, ...]]
    MEASURE: ClassVar[str] = "loss"  # what a score's loss is called in files

    seed: int  # the seed of the first network
    history: list[list[tuple[float, ...]]]  # of each, at every check, the epochs so far, errors, rounded errors, loss
    best: list[Score]  # the best score of each; ``best_weights`` are the parameters that it had then
    kind: str  # what is learned: a task kind
    subject: str  # and the name of a language or task
    source: str  # where the settings come from
    checked: str  # which words the scores' errors are counted on, as one reads it: "all words of length <= 8"

    @abstractmethod
    def settings(self) -> str:
        """Return the recipe and what was chosen in its place, in one line."""

    def identity(self) -> dict[str, Any]:
        """Return the plain data that a state must share with the training that it is restored into."""
        identity = {"language": self.subject, "seed": self.seed, "nets": self.n_nets, "recipe": self.settings()}
        return identity if self.kind == "recognition" else {"model": self.model, **identity}

    @property
    def learned(self) -> dict[str, Any]:
        """Return what a checkpoint says of what was learned; of a language from a file its text, as that may go."""
        language = getattr(getattr(self, "task", self), "language", None)
        text = getattr(language, "text", None)
        return {"kind": self.kind, "language": self.subject, **({} if text is None else {"text": text})}

    @property
    def best_number(self) -> int:
        """Return the number of the best network."""
        return self.best.index(min(self.best))

    def begin(self) -> None:
        super().begin()
        self.best = [WORST] * self.n_nets
        self.history = [list[tuple[float, ...]]() for _ in self.best]

    def network(self, number: int | None = None) -> StackModel[Any]:
        """Return network ``number`` as it was at its best check; the best of all where no number is given."""
        return super().network(self.best_number if number is None else number)

    def keep_if_better(self, number: int, score: Score) -> bool:
        """Return whether network ``number`` has never been so good; its weights are kept then, and every score is."""
        self.history[number].append((self.epochs_done, score.analog_errors, score.rounded_errors, score.loss))
        if not score < self.best[number]:
            return False
        self.best[number] = score
        self.keep(number)
        return True

    def state(self) -> dict[str, Any]:
        """Return everything that `restore` needs, as plain data and CPU tensors, none of which later epochs change."""
        state = {
            **self.identity(),
            "epochs_done": self.epochs_done,
            "best": [(score.rounded_errors, score.analog_errors, score.loss) for score in self.best],
            "best_weights": self.best_weights,
            "history": self.history,
            "net": dict(self.net.state_dict()),
            "optimizer": self.optimizer.state_dict(),
            **{name: getattr(self, name) for name in self.PROGRESS},
        }
        return {name: _on_cpu(value) for name, value in state.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where ``state`` was taken. Raises StacklensError: it is of another training or seed, or damaged."""
        for key, value in self.identity().items():
            if state.get(key) != value:
                found = f"it was begun with {key} {state.get(key)!r}, asked for is {value!r}"
                raise StacklensError(f"this training cannot be resumed: {found}; give the options it was begun with")
        try:
            state = copy.deepcopy(state)
            self.net.load_state_dict(state["net"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.epochs_done, self.best = state["epochs_done"], [Score(*score) for score in state["best"]]
            self.history = state.get("history", self.history)  # files of earlier versions have none
            for name, value in self.best_weights.items():
                value.copy_(state["best_weights"][name])
            for name in self.PROGRESS:
                setattr(self, name, state[name])
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise StacklensError(f"this training cannot be resumed: its state is damaged ({error})") from None

    def progress(self) -> str:
        """Return how far it is, for people."""
        exact = sum(score.rounded_errors == 0 for score in self.best)
        return f"{exact} of {self.n_nets} networks exact when rounded"

    def provenance(self, command: str) -> dict[str, Any]:
        """Return where the best network comes from, as its file tells: ``command``, recipe, seed, epochs and scores.
        Its "history" has a list for the epochs at every check, and one for each score then.
        """
        names = ("epochs", "errors", "errors_rounded", self.MEASURE)
        number = self.best_number
        return {
            "command": command,
            "recipe": self.source,
            "seed": self.seed + number,
            "seeds_trained": self.n_nets,
            "epochs": self.epochs_done,
            "scores": self.scores(number),
            "history": {name: [row[at] for row in self.history[number]] for at, name in enumerate(names)},
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
            self.MEASURE: best.loss,
        }


def _on_cpu(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, dict):
        return {key: _on_cpu(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_on_cpu(one) for one in value)
    return copy.deepcopy(value)


# ---- Noise-robust training: what a controller sees is disturbed before every step, and being unsure costs something.
# What a disturbance must not change has to sit where curves are flat: hidden units at the ends of their range, gates
# near 0 or 1. Such a network forgets what it was disturbed by within a few steps, so a proof by boxes that it follows
# an automaton for ever need not fail because the boxes grow (see `stacklens.extract.certificate`). Noise on the
# weights or units of a recurrent network is an old means to the same end (Jim, Giles & Horne 1996).

_LOST = 65.0  # minus the sum whose sigmoid is lost beside any cell, with some room
_SHUT = -4.0  # the bias of a forget gate that keeps 2 % of a cell


def draw_noise(
    model: StackModel[Any], steps: int, words: int, amount: float, reading: float, generator: torch.Generator
) -> Tensor:
    """Return what is added to hidden units and readings in S ``steps`` of B ``words``, (S, B, H + n_stacks * R). All
    hidden units of a word are moved by the same amount in a step, up or down, and so are all numbers that it reads of
    its stacks; both amounts are drawn uniformly. Networks on leading axes are disturbed alike (`StackModel.run`).

    ``amount``: the largest disturbance of a unit between -1 and 1, at least 0; of one between 0 and 1 half of that.
    ``reading``: that of a number that is read, as a share of ``amount``.
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
    """Return how far hidden units are from the ends of their range and actions from whole ones, (S, ..., B). It is 0
    for a network that has decided, and at most 1 for the units and 1 for the actions. An LSTM's units that keep nothing
    reach tanh(1) at most, and 0 is as flat: so its ends are 0 and beyond tanh(1).
    """
    low, high = model.unit_range
    units, actions = made.hidden[..., : model.n_units], made.actions
    unsure = actions.new_zeros(actions.shape[:-2])
    if model.n_stacks:
        shares = model.action_kind == "softmax"
        unsure = (1 - actions.square().sum(-1) if shares else (4 * actions * (1 - actions)).mean(-1)).mean(-1)
    if model.n_units:  # those of somebody else's network may leave the range, which is worth nothing
        far = ((2 * units - low - high) / (high - low)).abs().clamp(max=1)
        if model.forget_gates() is not None:  # o tanh(i g): decided where a gate is shut, and where all are open
            far = (far / math.tanh(1)).clamp(max=1)
            far = 1 - 4 * far * (1 - far)
        unsure = unsure + 1 - far.mean(-1)
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
    means = [(side * sums.detach()).sum((0, -1)) / side.sum((0, -1)) for side in (right, left)]
    pushing = torch.where((means[0] > means[1]).unsqueeze(-1), right, left)
    return (1 - pushing) * torch.relu(sums + _LOST) / _LOST


def remembering(model: StackModel[Any]) -> Tensor | float:
    """Return how far an LSTM's forget gates are from being shut for good, (...), 0 where there is no LSTM. It is the
    mean over hidden units of the squares of a gate's weights and of how far its bias is from -4. Where gates are open
    cells add up for ever, and nothing wrong in one is ever forgotten: what is to be kept belongs on the stack.
    """
    gates = model.forget_gates()
    if gates is None:
        return 0.0
    weights, bias = gates
    return (weights.square().sum(-1) + (bias - _SHUT).square()).mean(-1)
