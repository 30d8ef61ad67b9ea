"""Training predictors of streams one symbol at a time, by plain descent at a rate of each network's own.

Joulin & Mikolov 2015, section 5, and the authors' program: after every symbol that counts, the error of this symbol's
prediction alone goes back through the last 50 steps, errors are clipped element by element, and every weight moves.
After an epoch without a better validation, once the curriculum has got somewhere, the rate is halved and the best
weights come back; of networks that are good already they come back in any case.

`SymbolScan` trains Stack RNNs and List RNNs without R, stacks as the program does, lists by the paper's equations. For
other networks the steps that errors go back through are computed anew with the weights of the moment, where the program
keeps what they were when made; of RNNs and LSTMs the errors of several symbols can be gathered for an update.
"""

import io
import math
import pickle
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numpy.lib.stride_tricks import as_strided
from torch import Tensor

from ..core.errors import FileFormatError, StacklensError
from ..core.files import write_whole
from ..languages.streams import StreamTask, curriculum
from ..models.base import NetworkState, StackModel
from ..models.networks import build_model
from ..models.networks.baselines import Baseline
from ..models.networks.joulin import ListRNN, MemoryRNN
from ..models.networks.scan import Array, logistic, softmax
from ..models.rounding import Rounded
from ..models.stacks import EMPTY_READING
from ..models.training.loop import SideBySide, detached, log_loss
from ..models.training.streams import Reading, learned_streams, reading_of, stream_entropy

# ---- Stack and List RNNs that read and learn symbol by symbol as the authors' program does, gradients by hand ----
# After a symbol that counts, the error of its prediction alone goes back through the last steps, and all weights move.
# Only stacks carry anything from step to step (R = 0 in eq. 6), so what a hidden layer has to answer for comes from its
# heads, and these have it from the cells: a dozen small operations a step, for all networks at once. Sums over steps,
# which make the gradients, are products of matrices behind the loop.
#
# What is kept and what is made anew is as in the program: hidden layers, shares and cells are those of the moment when
# a step was taken; the weights that an error goes back through, and what a step pushed, are those of the update. An
# error goes back as many steps as symbols were learned since the stacks were emptied, at most ``steps``; it enters the
# heads of the last of these, but not the weights of its reading when there are all ``steps``.
#
# A list (eq. of section 3.3) is two stacks: its head with what is left of it, which is read, and what is right of it.
# INSERT pushes a value on the left one; LEFT pops the head from the left one and pushes it on the right one; RIGHT pops
# from the right one and pushes that on the left one. So cells move as stacks' do, and what lands on a list's head,
# inserted or come from the right, is added behind that.

_SLOTS = 4  # kept steps, in numbers of those that an error goes back; then the last ones move to the front


@dataclass(frozen=True)
class SymbolShape:
    """What does not change."""

    operations: int  # of a stack 2, push and pop, or 3, and no-op; of a list 3, insert, left and right, or 4
    depth: int  # how many cells of each stack are read
    limit: int  # how many cells a stack has, at least ``depth``
    steps: int  # how far an error goes back
    clip: float  # errors are kept between minus this and this, wherever the program clips them
    empty: float = -1.0  # what a cell holds that was never written
    lists: bool = False  # whether memories are lists


@dataclass(frozen=True)
class _ScanSteps:
    """What is kept of the last steps, and the errors that go back through them; S steps, or without that axis one.
    Memories of all networks stand on one axis, M = N * stacks; M' is M, of lists 2 M, first all that is left. ``kept``
    is what is pushed on each stack, then the cells before.
    """

    hidden: Array  # (S, N, H)
    slopes: Array  # of the hidden units, (S, N, 1, H)
    seen: Array  # the reading, (S, N, stacks * depth)
    shares: Array  # (S, operations, M)
    moves: Array  # how much of each stack moves up, stays, moves down, (S, moves, M'); of stacks the same as ``shares``
    kept: Array  # (S, 1 + cells + 1, M')
    pushed: Array  # what a push or an insertion lays down, (S, M); of stacks the first of ``kept``
    push_slopes: Array  # of the top cell after the step by the sum that makes the pushed value, (S, M)
    errors: Array  # of the hidden units' sums, (S, N, 1, H)
    of_rows: Array  # errors of the heads' sums, (S, N, 1, stacks * heads)
    of_seen: Array  # errors of the reading, (S, N, 1, stacks * depth)


@dataclass(frozen=True)
class _Turn:
    """Views of the errors of the cells, for the step that is so many steps back."""

    after: Array  # of the cells after the step, those of them that may not be 0, (cells, M')
    before: Array  # where those of the cells before the step go, (cells + 1, M')
    moved: Array  # from where, by move, (moves, cells + 1, M')
    read: Array  # those that are read, (depth, M)
    top: Array  # the first of ``after``, (M',)
    parts: Array  # room for what each move does with ``after``, (moves, cells, M')
    parts_before: Array  # and for what becomes of it, (moves, cells + 1, M')


# the moves, up, none, down, of a list's left and right stack, (6,), by its operations insert, left, right and no-op
_LIST_MOVES = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]], float)


class SymbolScan:
    """N networks on one stream of symbols. A stack's operations stand in the order push, no-op, pop: where a cell comes
    from is one above, the same, or one below, so what they make of it are views of one column, the pushed value first.
    """

    def __init__(self, weights: Mapping[str, Array], shape: SymbolShape) -> None:
        self.shape, self._order = shape, [0, 2, 1] if shape.operations == 3 else [0, 1]
        if shape.lists:
            self._order = list(range(shape.operations))
        self._moves_of = _LIST_MOVES[:, : shape.operations]
        self._moves = 3 if shape.lists else shape.operations  # up, down, and not at all, or without the last
        self._stride = 4 - self._moves  # by so many cells these differ
        self.inputs = np.array(weights["input_weights"])  # U, (N, X, H)
        self.memory = np.array(weights["memory_weights"])  # P, (N, H, stacks * depth)
        self.outputs = np.array(weights["output_weights"])  # V, (N, O, H)
        pushed = weights["pushed_weights"][:, :, None]  # D
        self.nets, self.n_stacks, _, self.size = pushed.shape
        self._memories = self.nets * self.n_stacks  # M
        actions = weights["action_weights"].reshape(self.nets, self.n_stacks, shape.operations, self.size)  # A
        heads = np.concatenate([actions[:, :, self._order], pushed], 2)  # (N, stacks, operations + 1, H)
        self.heads = heads.reshape(self.nets, -1, self.size)
        # room for so many steps, in which an error goes so many cells deep at most
        slots, cells = _SLOTS * shape.steps, min(shape.depth + shape.steps, shape.limit)
        nets, memories, read = self.nets, self._memories, self.n_stacks * shape.depth
        stacks = memories * (1 + shape.lists)

        def room(*sizes: int) -> Array:
            return np.zeros(sizes, self.heads.dtype)

        self._columns = [room(shape.limit + 3, stacks) for _ in range(2)]
        self._part, self._parts = room(shape.limit, stacks), room(self._moves, cells, stacks)
        self._symbols = np.zeros(slots, np.int64)
        shares, kept = room(slots, shape.operations, memories), room(slots, 1 + cells + 1, stacks)
        self._all = _ScanSteps(
            hidden=room(slots, nets, self.size),
            slopes=room(slots, nets, 1, self.size),
            seen=room(slots, nets, read),
            shares=shares,
            moves=room(slots, self._moves, stacks) if shape.lists else shares,
            kept=kept,
            pushed=room(slots, memories) if shape.lists else kept[:, 0],
            push_slopes=room(slots, memories),
            errors=room(slots, nets, 1, self.size),
            of_rows=room(slots, nets, 1, self.n_stacks * heads.shape[2]),
            of_seen=room(slots, nets, 1, read),
        )
        # views are made once: indexing takes as long as a small product
        self._steps = [_ScanSteps(*parts) for parts in zip(*vars(self._all).values(), strict=True)]
        rows = [step.of_rows.reshape(memories, -1).T for step in self._steps]
        self._rows_of_shares, self._rows_of_pushed = [row[:-1] for row in rows], [row[-1] for row in rows]
        self._moves_by_cell = [step.moves[:, None] for step in self._steps]
        self._read = [step.of_seen.reshape(memories, shape.depth).T for step in self._steps]
        self._cell_errors = [room(cells + 4, stacks) for _ in range(2)]
        self._turns = [self._turn(number, cells) for number in range(shape.steps)]
        counts = [len(turn.after) for turn in self._turns]
        self._laid_to = [[self._laid(step.kept, count) for count in counts] for step in self._steps]
        self.empty()

    def weights(self) -> dict[str, Array]:
        """Return the weights by the model's names, (N, ...)."""
        heads = self.heads.reshape(self.nets, self.n_stacks, -1, self.size)
        return {
            "input_weights": self.inputs.copy(),
            "memory_weights": self.memory.copy(),
            "action_weights": heads[:, :, self._order].reshape(self.nets, -1, self.size),
            "pushed_weights": heads[:, :, -1].copy(),
            "output_weights": self.outputs.copy(),
        }

    def empty(self) -> None:
        """Empty all stacks, and forget all steps."""
        for column in self._columns:
            column[...] = self.shape.empty
        self._height = self._learned = 0
        self._now = -1

    def read(self, symbol: int, rounded: bool = False) -> None:
        """Take a step; with ``rounded`` shares, of which the largest counts as 1, nothing should be learned."""
        self._now += 1
        if self._now == len(self._symbols):  # the last ones move to the front
            self._now = self.shape.steps
            for kept in (self._symbols, *vars(self._all).values()):
                kept[: self._now] = kept[-self._now :]
        depth, now = self.shape.depth, self._now
        step, (column, after) = self._steps[now], self._columns
        self._symbols[now] = symbol
        memories = self._memories
        step.seen.reshape(-1, depth)[...] = column[1 : 1 + depth, :memories].T
        # h = logistic(U x + P s), section 3.2
        sums = np.matmul(step.seen[:, None], self.memory.swapaxes(1, 2))[:, 0]
        sums += self.inputs[:, symbol]
        logistic(sums, step.hidden)
        np.multiply(step.hidden, 1 - step.hidden, out=step.slopes[:, 0])
        # the shares of the operations and the value to push, for every stack
        rows = np.matmul(step.hidden[:, None], self.heads.swapaxes(1, 2)).reshape(memories, -1).T.copy()
        softmax(rows[:-1], step.shares)
        if rounded:
            step.shares[...] = step.shares.argmax(0) == np.arange(len(step.shares))[:, None]
        logistic(rows[-1], step.pushed)
        if self.shape.lists:
            np.matmul(self._moves_of, step.shares, out=step.moves.reshape(6, memories))
            # the head goes to the right; what comes to the head is added below
            column[0, :memories], column[0, memories:] = 0, column[1, :memories]
        else:
            column[0] = step.pushed
        # what each move makes of the cells, in its share
        height = self._height = min(self._height + 1, self.shape.limit)
        cells, part = after[1 : 1 + height], self._part[:height]
        laid = self._laid(column, height)
        np.multiply(laid[0], step.moves[0], out=cells)
        for of_move, share in zip(laid[1:], step.moves[1:], strict=True):
            np.multiply(of_move, share, out=part)
            cells += part
        if self.shape.lists:
            cells[0, :memories] += step.shares[0] * step.pushed + step.shares[2] * column[1, memories:]
        step.kept[...] = column[: len(step.kept)]
        self._columns.reverse()

    def probabilities(self) -> Array:
        """Return those of the next symbol, (N, O)."""
        sums = np.matmul(self.outputs, self._steps[self._now].hidden[:, :, None])[..., 0]
        made: Array = np.empty_like(sums)
        softmax(sums.T, made.T)
        return made

    def learn(self, target: int, rates: Array) -> Array:
        """Move all weights towards ``target`` at each network's own rate, (N,); return its probability before, (N,)."""
        self._learned += 1
        outputs = self.probabilities()
        wrong = -outputs
        wrong[:, target] += 1
        now, pace = self._now, rates[:, None, None]
        first = now + 1 - min(self._learned, self.shape.steps)  # where the error goes back to
        error = np.matmul(wrong[:, None], self.outputs)  # of the last hidden layer, (N, 1, H)
        # the steps before the last have pushed what they would push by the weights of the moment
        value = self.heads.reshape(self.nets, self.n_stacks, -1, self.size)[:, :, -1]
        hidden = self._all.hidden[first:now].swapaxes(0, 1)
        sums = np.matmul(hidden, np.ascontiguousarray(value).swapaxes(1, 2)).swapaxes(0, 1)
        pushed = logistic(sums, np.empty(sums.shape, sums.dtype)).reshape(now - first, self._memories)
        self._all.pushed[first:now] = pushed
        slopes = self._all.push_slopes[first:now]
        np.multiply(pushed, 1 - pushed, out=slopes)
        slopes *= self._all.shares[first:now, 0]
        self._back(error, first)
        # Whether the program might have clipped anything on the way: errors of cells are only moved and shared out, so
        # none is larger than the sum of all that entered their stack, and neither is what they make of the heads, as no
        # cell holds more than 1.
        entered = np.abs(self._all.of_seen[first : now + 1]).sum(0).reshape(-1, self.shape.depth).sum(1)
        back = self._all.errors[first : now + 1]
        if max(np.abs(error).max(), entered.max(), back.max(), -back.min()) > self.shape.clip:
            self._back(error, first, clips=True)
        # gradients, (N, ...) each, are sums over steps, all networks at once: products of matrices
        errors, rows = self._all.errors[first : now + 1, :, 0], self._all.of_rows[first:now, :, 0]
        of_heads = np.matmul(rows.transpose(1, 2, 0), hidden)
        chosen = np.arange(self.inputs.shape[1])[:, None] == self._symbols[first : now + 1]
        of_inputs = np.matmul(chosen.astype(errors.dtype), errors.swapaxes(0, 1))
        begun = int(now + 1 - first == self.shape.steps)
        seen = self._all.seen[first + begun : now + 1].swapaxes(0, 1)
        of_memory = np.matmul(errors[begun:].transpose(1, 2, 0), seen)
        for weights, gradient in ((self.heads, of_heads), (self.inputs, of_inputs), (self.memory, of_memory)):
            gradient *= pace
            weights += gradient
        self.outputs += (pace * wrong[:, :, None]) * self._steps[now].hidden[:, None]
        return np.asarray(outputs[:, target])

    def _turn(self, number: int, cells: int) -> _Turn:
        """Return the views for the step that is ``number`` steps back; where that is 0, an error enters."""
        after, before = (self._cell_errors[(number + place) % 2] for place in (0, 1))
        count = min(self.shape.depth + number - 1, cells)
        wider = min(count + 1, cells)
        row, column = after.strides
        size = (self._moves, wider, after.shape[1])
        moved = as_strided(after[2:], size, (-self._stride * row, row, column))
        read, parts = before[1 : 1 + self.shape.depth, : self._memories], self._parts
        views = (after[1 : 1 + count], before[1 : 1 + wider], moved, read, after[1])
        return _Turn(*views, parts[:, :count], parts[:, :wider])

    def _laid(self, column: Array, count: int) -> Array:
        size = (self._moves, count, column.shape[1])
        return as_strided(column, size, (self._stride * column.strides[0], *column.strides))

    def _back(self, error: Array, first: int, clips: bool = False) -> None:
        """Let the ``error`` of the last step go back to step ``first``; clip whatever the program does, if asked."""
        now, heads, memory, limit, memories = self._now, self.heads, self.memory, self.shape.clip, self._memories

        def clip(errors: Array) -> None:
            if clips:
                np.clip(errors, -limit, limit, out=errors)

        for cells in self._cell_errors:
            cells[...] = 0
        # the last step: from its hidden vector to what it saw of the stacks
        step, last = self._steps[now], self._turns[0]
        clip(error)
        np.multiply(error, step.slopes, out=step.errors)
        clip(step.errors)
        np.matmul(step.errors, memory, out=step.of_seen)
        last.read[...] = self._read[now]
        clip(last.read)
        for number in range(1, now - first + 1):
            turn, t = self._turns[number], now - number
            step, shares, errors, before = self._steps[t], self._steps[t].shares, self._steps[t].errors, turn.before
            # the errors of the shares, (operations, M), through their softmax
            np.multiply(self._laid_to[t][number], turn.after, out=turn.parts)
            of_shares, landed = np.add.reduce(turn.parts, 1), turn.top[:memories]
            if self.shape.lists:
                of_shares = np.matmul(self._moves_of.T, of_shares.reshape(6, memories))
                of_shares[0] += landed * step.pushed
                of_shares[2] += landed * step.kept[1, memories:]
            clip(of_shares)
            of_shares *= shares
            weighted = shares * np.add.reduce(of_shares, 0)
            np.subtract(of_shares, weighted, out=self._rows_of_shares[t])
            # the error of the pushed value, then those of the hidden vector and of what was seen
            np.multiply(landed, step.push_slopes, out=self._rows_of_pushed[t])
            clip(step.of_rows)
            np.matmul(step.of_rows, heads, out=errors)
            errors *= step.slopes
            clip(errors)
            np.matmul(errors, memory, out=step.of_seen)
            # the errors of the cells before the step, and what was read of them
            np.multiply(turn.moved, self._moves_by_cell[t], out=turn.parts_before)
            np.add.reduce(turn.parts_before, 0, out=before)
            if self.shape.lists:  # what went to the right, and came from there
                before[0, :memories] += turn.top[memories:] * shares[1]
                before[0, memories:] += landed * shares[2]
            clip(before)
            read = turn.read
            read += self._read[t]
            clip(before)


# ---- Training symbol by symbol, of these and of other networks ----

_TRAIN_SEED, _VALIDATION_SEED = 1, 2
_KEPT = ("updates", "seconds", "epochs_done", "best_weights")  # of a training that is stopped
_DIGIT = math.log(10)  # the program's entropies are in decimal digits


@dataclass(frozen=True)
class OnlineRecipe:
    """The authors' settings."""

    shape: dict[str, Any]  # arguments of the model's configuration besides the alphabet
    smallest: int = 2  # the smallest size of a piece
    n_max: int = 15  # sizes grow with the epochs up to one below it, see `streams.curriculum`
    epochs: int = 100  # at most so many
    pieces: int = 2_000  # in an epoch
    emptied: int = 1_000  # memories are emptied after so many of them
    steps: int = 50  # how far errors go back
    rate: float = 0.1  # of descent at first
    least_rate: float = 1e-5  # where training ends
    clip: float = 15.0  # errors are kept between minus this and this
    validation: int = 1_000  # pieces that an epoch is checked on, in one stream
    checked: tuple[int, int] = (2, 19)  # their smallest and their largest size
    rounded: bool = False  # whether actions are rounded in the check (``-hard`` there)
    known_only: bool = False  # whether only symbols that can be known count (binary addition)
    good: float = 0.0  # entropy (decimal digits a symbol) below which worse epochs are always taken back
    together: int = 1  # of an RNN or an LSTM, the errors of so many symbols that count go back together, for one update


@dataclass(frozen=True)
class UpdatePiece:
    """The steps that the errors of an update go back through."""

    state: NetworkState[Any]  # before them
    symbols: Tensor  # that are read, (W,)
    fresh: int  # the first of them that was not read before
    # places, following: the symbols to predict, (K,), and after which steps they come, (K,); none without an update
    places: list[int]
    following: Tensor


class OnlineTraining(SideBySide):
    """Networks ``seed``, ``seed + 1``, … on the same symbols, each with its own rate and its own best weights. Call
    `epoch` until `done`; every network is kept as it was best on validation.

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
        self.rates = np.full(nets, recipe.rate)  # of each network, (nets,)
        self.best = np.full(nets, math.inf)  # entropies on validation of those kept, in nats a symbol, (nets,)
        # how often weights were moved, how many symbols were read, and processor time, before a stop too
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
        """Write all that `load` needs to go on from here. Raises StacklensError: the file cannot be written."""
        state = {"recipe": self._identity, "weights": dict(self.net.state_dict())}
        state |= {name: torch.from_numpy(getattr(self, name)) for name in ("rates", "best")}
        state |= {name: getattr(self, name) for name in (*_KEPT, "symbols")}
        content = io.BytesIO()
        torch.save(state, content)
        write_whole(path, content.getvalue())

    def load(self, path: Path) -> None:
        """Go on from where `save` was called by a training of the same networks on the same task. Raises
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
        begun = time.process_time()
        super().epoch()
        self.seconds += time.process_time() - begun

    def learn(self) -> None:
        """Learn from all streams of an epoch, by hand-made gradients where they can be had."""
        if not _by_hand(self.net):
            super().learn()
            return
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
        state, outputs, clip = batch.state, [], self.recipe.clip
        with torch.set_grad_enabled(bool(batch.places)):
            for t, symbol in enumerate(batch.symbols):
                answer = self.net.controller(symbol.unsqueeze(0), state.hidden, state.stack.reading())
                if answer.hidden.requires_grad:
                    answer.hidden.register_hook(lambda error: error.clamp(-clip, clip))  # type: ignore[no-untyped-call]
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
        # how surprising fresh pieces are to the networks that still move, in nats a symbol
        rng = np.random.default_rng((_VALIDATION_SEED, self.epochs_done))
        reading = reading_of(
            self.task, "".join(self._pieces(recipe.checked, recipe.validation, rng)), recipe.known_only
        )
        entropies = np.full(self.n_nets, math.inf)
        if _by_hand(self.net):
            scan, lost = self._scan(), np.zeros(int(active.sum()))
            for symbol, following, counts in reading.steps():
                scan.read(symbol, rounded=recipe.rounded)
                if counts:
                    lost -= np.log(np.maximum(scan.probabilities()[:, following], np.finfo(lost.dtype).tiny))
            entropies[active] = lost / max(1, int(reading.counts.sum()))
        else:
            net = Rounded(self.net) if recipe.rounded and self.net.n_stacks else self.net
            entropies[active] = stream_entropy(net, reading, self.device)[active]
        # kept where better; slower where not, once the curriculum has got somewhere; taken back where slower or good
        better = entropies < self.best
        slower = ~better & active & (self.epochs_done - 1 > recipe.n_max // 2)
        good = ~better & active & (self.best < recipe.good * _DIGIT)
        self.best = np.where(better, entropies, self.best)
        self.rates = np.where(slower, self.rates / 2, self.rates)
        self.keep(better)
        self.bring_back(slower | good)

    def _scan(self) -> SymbolScan:
        """Return the networks that still move, as they are now."""
        net, recipe, active = self.net, self.recipe, torch.from_numpy(self.active)
        weights = {name: value.detach().cpu()[active].numpy() for name, value in net.named_parameters()}
        assert net.stack_limit is not None
        sizes = (len(net.operations), net.depth, net.stack_limit, recipe.steps)
        return SymbolScan(weights, SymbolShape(*sizes, recipe.clip, EMPTY_READING, lists=isinstance(net, ListRNN)))

    def _streams(self) -> Iterator[Reading]:
        recipe, rng = self.recipe, np.random.default_rng((_TRAIN_SEED, self.epochs_done))
        pieces = self._pieces(curriculum(self.epochs_done, recipe.n_max, recipe.smallest), recipe.pieces, rng)
        return learned_streams(self.task, pieces, recipe.emptied, recipe.known_only)

    def _pieces(self, sizes: tuple[int, int], count: int, rng: np.random.Generator) -> list[str]:
        return [self.task.piece(int(n), rng) for n in rng.integers(sizes[0], sizes[1] + 1, count)]


def _by_hand(net: StackModel[Any]) -> bool:
    return isinstance(net, MemoryRNN) and not net.recurrent and (net.stack_limit or 0) >= net.depth
