"""Training predictors of streams one symbol at a time, by plain descent at a rate of each network's own.

Joulin & Mikolov 2015, section 5, and the authors' program: after every symbol that counts, the error of this symbol's
prediction alone goes back through the last 50 steps, errors are clipped element by element, and every weight moves.
After an epoch without a better validation, once the curriculum has got somewhere, the rate is halved and the best
weights come back; of networks that are good already they come back in any case.

Stack RNNs without R are trained by `joulin2015_stack_scan`, which does as the program in everything. For other
networks the steps that errors go back through are computed anew with the weights of the moment, where the program keeps
what they were when they were made; of RNNs and LSTMs the errors of several symbols can be gathered for an update.
"""

import io
import math
import pickle
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..core.errors import FileFormatError, StacklensError
from ..core.files import write_whole
from ..languages.streams import StreamTask, curriculum
from ..models.base import NetworkState, StackModel, one_thread
from ..models.checkpoint import build_model
from ..models.networks.baselines import Baseline
from ..models.networks.joulin import EMPTY_READING, StackRNN
from ..models.rounding import Rounded
from ..models.training.loop import SideBySide, detached, log_loss
from ..models.training.streams import Reading, checked_stream, learned_streams, stream_entropy
from .joulin2015_stack_scan import SymbolScan, SymbolShape

_TRAIN_SEED, _VALIDATION_SEED = 1, 2
_KEPT = ("updates", "seconds", "epochs_done", "best_weights")  # of a training that is stopped
_DIGIT = math.log(10)  # the program's entropies are in decimal digits


@dataclass(frozen=True)
class OnlineRecipe:
    """The authors' settings.

    Attributes:
        shape: arguments of the model's configuration besides the alphabet.
        smallest: the smallest size of a piece.
        n_max: sizes grow with the epochs up to one below it, see `streams.curriculum`.
        epochs: at most so many.
        pieces: in an epoch.
        emptied: memories are emptied after so many of them.
        steps: how far errors go back.
        rate, least_rate: of descent at first, and where training ends.
        clip: errors are kept between minus this and this.
        validation: pieces that an epoch is checked on, in one stream.
        checked: their smallest and their largest size.
        rounded: whether actions are rounded in the check (``-hard`` there).
        known_only: whether only symbols that can be known count (binary addition).
        good: below this entropy on validation, in decimal digits a symbol, a worse epoch is always taken back.
        together: of an RNN or an LSTM, the errors of so many symbols that count go back together, for one update.
    """

    shape: dict[str, Any]
    smallest: int = 2
    n_max: int = 15
    epochs: int = 100
    pieces: int = 2_000
    emptied: int = 1_000
    steps: int = 50
    rate: float = 0.1
    least_rate: float = 1e-5
    clip: float = 15.0
    validation: int = 1_000
    checked: tuple[int, int] = (2, 19)
    rounded: bool = False
    known_only: bool = False
    good: float = 0.0
    together: int = 1


@dataclass(frozen=True)
class UpdatePiece:
    """The steps that the errors of an update go back through.

    Attributes:
        state: before them.
        symbols: that are read, (W,).
        fresh: the first of them that was not read before.
        places, following: the symbols to predict, (K,), and after which steps they come, (K,); none without an update.
    """

    state: NetworkState[Any]
    symbols: Tensor
    fresh: int
    places: list[int]
    following: Tensor


class OnlineTraining(SideBySide):
    """Networks ``seed``, ``seed + 1``, … on the same symbols, each with its own rate and its own best weights.

    Call `epoch` until `done`; every network is kept as it was best on validation.

    Attributes:
        rates: of each network, (nets,).
        best: entropies on validation of the networks that are kept, in nats a symbol, (nets,).
        updates: how often weights were moved.
        symbols: that were read in training.
        seconds: of processor time that the epochs took, before a stop too.

    >>> from stacklens.languages.catalogue import get_task
    >>> recipe = OnlineRecipe({"hidden": 4, "n_stacks": 1}, pieces=3, n_max=4, validation=5)
    >>> training = OnlineTraining("stack-rnn", recipe, get_task("anbn"), seed=0, nets=2)
    >>> training.epoch()
    >>> training.epochs_done, training.best.shape
    (1, (2,))
    """

    recipe: OnlineRecipe

    def __init__(
        self, model: str, recipe: OnlineRecipe, task: StreamTask, *, seed: int, nets: int, device: str = "cpu"
    ) -> None:
        self.model, self.recipe, self.task, self.n_nets, self.device = model, recipe, task, nets, device
        self.seed = seed
        self.shape = {"alphabet": task.alphabet, **recipe.shape}
        self.net = build_model(model, self.shape, seed=seed, nets=nets).to(device)
        if recipe.together > 1 and not isinstance(self.net, Baseline):
            raise StacklensError(f"{model}: its errors cannot be gathered; expected together 1, not {recipe.together}")
        self.rates = np.full(nets, recipe.rate)
        self.best = np.full(nets, math.inf)
        self.updates, self.symbols, self.seconds = 0, 0, 0.0
        # those that an update can begin before, the last of them now
        self._states: deque[NetworkState[Any]] = deque(maxlen=recipe.steps)
        self.begin()

    @property
    def settled(self) -> bool:
        return bool((self.rates < self.recipe.least_rate).all())

    def learning_rate(self) -> Tensor:
        return torch.from_numpy(self.rates).to(self.device)

    @property
    def active(self) -> npt.NDArray[np.bool_]:
        """Return which networks still move, (nets,)."""
        return self.rates >= self.recipe.least_rate

    def save(self, path: Path) -> None:
        """Write all that `load` needs to go on from here.

        Raises:
            StacklensError: the file cannot be written.
        """
        state = {"recipe": self._identity, "weights": dict(self.net.state_dict())}
        state |= {name: torch.from_numpy(getattr(self, name)) for name in ("rates", "best")}
        state |= {name: getattr(self, name) for name in (*_KEPT, "symbols")}
        content = io.BytesIO()
        torch.save(state, content)
        write_whole(path, content.getvalue())

    def load(self, path: Path) -> None:
        """Go on from where `save` was called by a training of the same networks on the same task.

        Raises:
            FileFormatError: the file holds nothing of the kind, or the state of another training.
        """
        try:
            state = torch.load(path, weights_only=True, map_location=self.device)
            recipe, rates, best = state["recipe"], state["rates"].cpu().numpy(), state["best"].cpu().numpy()
        except (OSError, RuntimeError, KeyError, TypeError, ValueError, EOFError, pickle.UnpicklingError) as error:
            raise FileFormatError(f"{path}: no state of a training: {str(error).splitlines()[0]}") from None
        if recipe != self._identity:
            raise FileFormatError(f"{path}: the state of another training; move it away")
        self.rates, self.best, self.symbols = rates, best, state.get("symbols", 0)  # which files of old lack
        for name in _KEPT:
            setattr(self, name, state[name])
        self.net.load_state_dict(state["weights"])

    @property
    def _identity(self) -> str:
        recipe = str(replace(self.recipe, epochs=0)).replace(", together=1)", ")")  # as files before that was there say
        return f"{self.model} {self.seed} {self.n_nets} {self.task.name} {recipe}"

    def epoch(self) -> None:
        """Train for one epoch and check; do nothing when all is `done`."""
        begun = time.process_time()
        if self.done or not _by_hand(self.net):
            super().epoch()
        else:
            self._epoch_by_hand()
        self.seconds += time.process_time() - begun

    def _epoch_by_hand(self) -> None:
        with one_thread():
            scan, active = self._scan(), self.active
            rates = self.rates[active]
            for reading in self._streams():
                scan.empty()
                self.symbols += len(reading.symbols)
                self.updates += int(reading.counts.sum())
                for symbol, following, counts in reading.steps():
                    scan.read(symbol)
                    if counts:
                        scan.learn(following, rates)
            with torch.no_grad():
                for name, weights in scan.weights().items():
                    self.net.get_parameter(name)[torch.from_numpy(active)] = torch.from_numpy(weights).to(self.device)
            self.epochs_done += 1
            self.check()

    def batches(self) -> Iterator[UpdatePiece]:
        for reading in self._streams():
            self._states.clear()
            self._states.append(self.net.initial_state(1))
            symbols, learned = torch.from_numpy(reading.symbols).to(self.device), 0
            self.symbols += len(symbols)
            first, read, gathered = 0, 0, list[tuple[int, int]]()
            for t, (_, following, counts) in enumerate(reading.steps()):
                if counts:
                    learned += 1
                    if not gathered:  # all errors go back as far as the first of them
                        first = t + 1 - min(learned, self.recipe.steps)
                    gathered.append((t, following))
                # weights move once so many symbols count, so many steps after the first of them, or at the end
                if gathered and len(gathered) < self.recipe.together > t + 1 - gathered[0][0] and t + 1 < len(symbols):
                    continue
                first = first if gathered else read
                state = self._states[first - read - 1]
                targets = torch.tensor([symbol for _, symbol in gathered], device=self.device, dtype=torch.long)
                places = [at - first for at, _ in gathered]
                yield UpdatePiece(state, symbols[first : t + 1], read - first, places, targets)
                read, gathered = t + 1, []

    def costs(self, batch: UpdatePiece) -> Tensor | None:
        state, outputs = batch.state, []
        with torch.set_grad_enabled(bool(batch.places)):
            for t, symbol in enumerate(batch.symbols):
                answer = self.net.controller(symbol.unsqueeze(0), state.hidden, state.stack.reading())
                if answer.hidden.requires_grad:
                    answer.hidden.register_hook(self._clipped)  # type: ignore[no-untyped-call]
                state = NetworkState(answer.hidden, state.stack.next(answer.actions, answer.pushed), state.rejected)
                outputs.append(answer.output)
                if t >= batch.fresh:
                    self._states.append(detached(state))
            if not batch.places:
                return None
            predicted = torch.cat([outputs[place] for place in batch.places], -2)  # (nets, K, O)
            return log_loss(predicted, batch.following).sum(-1)

    @torch.no_grad()
    def update(self) -> None:
        rates = self.learning_rate()
        self.updates += 1
        for weights in self.net.parameters():
            if weights.grad is not None:
                weights.sub_(rates.view(-1, *[1] * (weights.dim() - 1)) * weights.grad)

    @torch.no_grad()
    def check(self) -> None:
        recipe, active = self.recipe, self.active
        entropies = np.full(self.n_nets, math.inf)
        entropies[active] = self._entropies()
        # kept where better; slower where not, once the curriculum has got somewhere; taken back where slower or good
        better = entropies < self.best
        slower = ~better & active & (self.epochs_done - 1 > recipe.n_max // 2)
        good = ~better & active & (self.best < recipe.good * _DIGIT)
        self.best = np.where(better, entropies, self.best)
        self.rates = np.where(slower, self.rates / 2, self.rates)
        self.keep(better)
        self.bring_back(slower | good)

    def _entropies(self) -> npt.NDArray[np.float64]:
        """Return how surprising fresh pieces are to the networks that still move, in nats a symbol."""
        recipe, rng = self.recipe, np.random.default_rng((_VALIDATION_SEED, self.epochs_done))
        pieces = [self.task.piece(int(n), rng) for n in _drawn_sizes(*recipe.checked, recipe.validation, rng)]
        reading = checked_stream(self.task, pieces, recipe.known_only)
        if not _by_hand(self.net):
            net = Rounded(self.net) if recipe.rounded and self.net.n_stacks else self.net
            return stream_entropy(net, reading, self.device)[self.active]
        scan = self._scan()
        lost = np.zeros(int(self.active.sum()))
        for symbol, following, counts in reading.steps():
            scan.read(symbol, rounded=recipe.rounded)
            if counts:
                lost -= np.log(np.maximum(scan.probabilities()[:, following], np.finfo(lost.dtype).tiny))
        return lost / max(1, int(reading.counts.sum()))

    def _scan(self) -> SymbolScan:
        """Return the networks that still move, as they are now."""
        net, recipe = self.net, self.recipe
        active = torch.from_numpy(self.active)
        weights = {name: value.detach().cpu()[active].numpy() for name, value in net.named_parameters()}
        assert isinstance(net, StackRNN)
        limit = net.stack_limit
        assert limit is not None
        shape = SymbolShape(len(net.operations), net.depth, limit, recipe.steps, recipe.clip, EMPTY_READING)
        return SymbolScan(weights, shape)

    def _streams(self) -> Iterator[Reading]:
        """Yield the streams of an epoch, each of which begins with empty memories."""
        recipe, rng = self.recipe, np.random.default_rng((_TRAIN_SEED, self.epochs_done))
        sizes = curriculum(self.epochs_done, recipe.n_max, recipe.smallest)
        pieces = [self.task.piece(int(n), rng) for n in _drawn_sizes(*sizes, recipe.pieces, rng)]
        return learned_streams(self.task, pieces, recipe.emptied, recipe.known_only)

    def _clipped(self, error: Tensor) -> Tensor:
        return error.clamp(-self.recipe.clip, self.recipe.clip)


def _by_hand(net: StackModel[Any]) -> bool:
    if not isinstance(net, StackRNN) or net.recurrent or net.stack_limit is None:
        return False
    return net.stack_limit >= net.depth


def _drawn_sizes(low: int, high: int, count: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    return rng.integers(low, high + 1, count)
