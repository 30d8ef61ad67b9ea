"""What every network is: a controller and a stack. Tracing is part of this interface, so there are no hooks.

All tensors may carry leading axes before the batch, written `...`: several networks of one shape that are trained at
once stand on such an axis, and the same code runs them.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from ..automata.pda import Word
from ..core.errors import StacklensError
from ..core.files import to_plain
from ..core.imports import above
from ..core.progress import check_time
from ..languages.language import TaskKind

# How a row of actions is to be read, which is all that rounding needs to know of a model:
# "signed"     one value in [-1, 1], push above and pop below (Sun et al. 1993, section 3.2.1)
# "softmax"    shares of the model's `operations`, which sum to 1 (Joulin & Mikolov 2015, eq. 3; Suzgun et al. 2019)
# "strengths"  how much to pop, then how much to push, each in [0, 1] (Hao et al. 2018, section 3)
# "none"       there is no stack
ActionKind = Literal["signed", "softmax", "strengths", "none"]


@dataclass(frozen=True)
class Origin:
    """Where a network comes from."""

    name: str  # of the zoo, or of its file without the suffix
    file: str | None = None  # of its file with the suffix; None where it was never in one
    path: str | None = None  # what `load_network` finds it by: its file, or its name in the zoo; None without
    sha256: str | None = None  # of the file; None where there is none
    task: Mapping[str, Any] = field(default_factory=dict)  # what it was trained for, such as its "language"
    provenance: Mapping[str, Any] = field(default_factory=dict)  # command, recipe, seed, scores, if known


class Stack(Protocol):
    """A batch of stacks, immutable: `next` returns another."""

    def reading(self) -> Tensor:
        """Return what the controller sees of the stacks, (..., B, n_stacks, R)."""

    def next(self, actions: Tensor, pushed: Tensor) -> Self:
        """Return the stacks after ``actions`` (..., B, n_stacks, A) with ``pushed`` (..., B, n_stacks, D)."""

    def select(self, index: Tensor) -> Self:
        """Return the stacks of the batch entries ``index`` (M,), which may repeat."""


class Cell(NamedTuple):
    """The contents of one cell of each of B stacks: pieces, one above the other; a whole value has length 1."""

    lengths: Tensor  # (B, K), the lowest piece first
    values: Tensor  # (B, K, D)

    @classmethod
    def of(cls, values: Tensor) -> Cell:
        """Return whole cells that hold ``values`` (B, D)."""
        return cls(values.new_ones(len(values), 1), values.unsqueeze(1))


class Memory:
    """What interventions do to a batch of stacks of a single network; a memory overrides what it can do.

    A cell is given by its `place`: 0 is the top of a stack, the first cell of a ring, the head of a list. On stacks of
    strengths and lengths the cell at place i lies between i and i + 1 below the top, in pieces. Methods that change
    something take ``rows`` (B,) bool: where it is False nothing changes. All raise StacklensError if it cannot.
    """

    behind: ClassVar[int] = 3  # axes of its first tensor behind that of the batch, which has one place in all of them
    slot_axis: ClassVar[int] = 2  # of a single network's tensors, (B, n_stacks, slots, D)
    empty_value: float = 0.0  # what a slot holds that was never written

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors that it is made of, by name."""
        return {name: part for name, part in vars(self).items() if isinstance(part, Tensor)}

    def select(self, index: Tensor) -> Self:
        """Return the memories of the batch entries ``index`` (M,), which may repeat."""
        tensors = self.tensors()
        place: Any = (*[slice(None)] * (next(iter(tensors.values())).dim() - 1 - self.behind), index)
        return replace(self, **{name: part[place] for name, part in tensors.items()})  # type: ignore[type-var]

    def joined(self, others: Sequence[Self]) -> Self:
        """Return this batch and then ``others``, with as many slots as the longest needs."""
        parts = {name: [part, *(getattr(one, name) for one in others)] for name, part in self.tensors().items()}
        filled = {name: cat_slots(some, self.empty_value, self.slot_axis) for name, some in parts.items()}
        return replace(self, **filled)  # type: ignore[type-var]

    def cell(self, number: int, place: Tensor) -> Cell:
        """Return the cell at ``place`` (B,) int of memory ``number``; empty ones hold what an empty memory shows."""
        raise _not_editable(self, "it has no cells")

    def with_cell(self, rows: Tensor, number: int, place: Tensor, cell: Cell) -> Self:
        """Return the memories with ``cell`` at ``place`` (B,) of memory ``number``. On stacks of strengths the pieces
        take the place of what is there, cut off at the length that there is.
        """
        raise _not_editable(self, "it has no cells")

    def with_stacks(self, rows: Tensor, numbers: Sequence[int], other: Self) -> Self:
        """Return the memories with all that ``other`` holds in memories ``numbers``."""
        size, changed = len(rows), {}
        for name, cells in self.joined([other]).tensors().items():  # (2B, n_stacks, C, D)
            mask = torch.zeros(size, cells.shape[1], dtype=torch.bool)
            mask[:, list(numbers)] = rows.unsqueeze(1)
            changed[name] = torch.where(mask[..., None, None], cells[size:], cells[:size])
        return replace(self, **changed)  # type: ignore[type-var]

    def lowered(self, rows: Tensor, number: int, count: Tensor) -> Self:
        """Return the memories with ``count`` (B,) cells taken off the top of memory ``number``."""
        raise _not_editable(self, "it has no height")


def editable(memory: Any) -> Memory:
    """Return ``memory``, a network's stacks. Raises StacklensError: interventions know nothing of its kind."""
    if not isinstance(memory, Memory):
        raise _not_editable(memory, "it is no memory of stacklens")
    return memory


def _not_editable(memory: Any, why: str) -> StacklensError:
    return StacklensError(f"nothing can be replaced in a {type(memory).__name__}: {why}")


S = TypeVar("S", bound=Stack)


@dataclass(frozen=True)
class NetworkState(Generic[S]):
    """A network between two symbols."""

    hidden: Tensor  # hidden vectors, (..., B, H)
    stack: S  # the stacks
    rejected: Tensor  # whether the word is rejected for good, (..., B) bool; once true it stays true
    output: Tensor | None = None  # the last step's output, (..., B, O), or None before the first symbol

    def select(self, index: Tensor) -> NetworkState[S]:
        """Return the batch entries ``index`` (M,), which may repeat: children share their prefix's run."""
        output = None if self.output is None else self.output[..., index, :]
        return NetworkState(self.hidden[..., index, :], self.stack.select(index), self.rejected[..., index], output)


@dataclass(frozen=True)
class ControllerOutput:
    """What a controller answers: the next hidden vector, the actions, the pushed values, and the output."""

    hidden: Tensor  # (..., B, H)
    actions: Tensor  # (..., B, n_stacks, A)
    pushed: Tensor  # (..., B, n_stacks, D)
    output: Tensor  # (..., B, O)


@dataclass(frozen=True)
class Step(Generic[S]):
    """One step of a network, with everything that a probe may want to see, and the state after it."""

    hidden: Tensor
    actions: Tensor
    pushed: Tensor
    reading: Tensor  # what the controller saw, (..., B, n_stacks, R)
    output: Tensor
    state: NetworkState[S]


class Run(NamedTuple):
    """What training needs of many steps: no rejections, since training words are members."""

    output: Tensor  # after every symbol, (T, ..., B, O)
    actions: Tensor  # of every step, (S, ..., B, n_stacks, A), where S is T for networks without extra steps
    state: NetworkState[Any]  # after the last step
    hidden: Tensor  # hidden units after every step, (S, ..., B, H); of an LSTM h alone where steps are taken at once


class ModelSpec:
    """What there is to know about a network; a subclass or an instance sets what differs."""

    action_kind: ActionKind  # how a row of actions is to be read
    operations: tuple[str, ...] = ()  # for "softmax" actions, what each share is of, such as "push" or "pop"
    task_kind: TaskKind = "recognition"  # what the output says
    alphabet: tuple[str, ...]  # what words are made of
    end: str | None = None  # a symbol (number `len(alphabet)`) that is read after a word, before the verdict
    first: tuple[str, ...] | None = None  # for "next set", which symbols may begin a word; None for all
    n_stacks: int = 1  # number of stacks
    depth: int = 1  # how many cells of each stack the controller sees
    cell_size: int  # how many numbers a cell holds, D
    stack_limit: int | None = None  # how many cells a stack has at most; None for no limit
    pushes_input: bool = False  # whether a push lays down the symbol just read; else values to be clustered
    reads_after: bool = False  # whether outputs see the stacks after their update
    recurrent: bool = True  # whether the controller uses the hidden vector of the step before
    squared_error: bool = False  # whether outputs are trained with the squared error and not with the cross-entropy
    real_time: bool = True  # whether every step reads a symbol: not so with an input queue
    unit_range: tuple[float, float] = (-1.0, 1.0)  # between which numbers a hidden unit lies; an LSTM's c is none
    extra_steps: int = 0  # how many steps the network takes for every symbol once the word has ended, reading nothing
    skipped: int = 0  # how many of the symbols that it writes to an output queue are never seen, the first ones
    reads_on: tuple[str, ...] = ()  # null symbols that are read behind a word, so that all of its answer is seen
    longest: int | None = None  # the longest word that it can be asked about; None for any
    affordable: int | None = None  # about how many words a check may ask of a slow network; None for any number


class StackModel(nn.Module, ModelSpec, ABC, Generic[S]):
    """A network that reads a word symbol by symbol and works on a stack. Subclasses choose a controller and a stack,
    and set what there is to know about them (`ModelSpec`).
    """

    name: ClassVar[str]  # what the command line and checkpoints call the model
    origin: Origin | None = None  # the file and the training that it comes from, where it comes from one
    noisy = False  # whether it may answer the same word otherwise each time
    foreign = False  # whether what it computes is somebody else's code

    def __repr__(self) -> str:
        return above("stacklens.models.checkpoint.network_line", str)(self)

    def __str__(self) -> str:
        """Return what the network is, a line each: kind, sizes, alphabet, what it was trained on, scores."""
        lines = above("stacklens.models.checkpoint.lines_of", dict)(self)
        return "\n".join(f"{name:10} {value}" for name, value in lines.items())

    def _repr_html_(self) -> str:
        return above("stacklens.models.checkpoint.html_card", str)(self)

    def save(self, path: str | Path) -> None:
        """Write the network to a checkpoint, which ``sl.load`` gives back, and remember that file as its origin. Raises
        StacklensError: the file cannot be written.
        """
        above("stacklens.models.checkpoint.save_and_mark", None)(self, path)

    @property
    def unsaved(self) -> str | None:
        """Return why no checkpoint can hold the network, and what to keep instead; None where one can."""
        return None

    @property
    def hooked(self) -> nn.Module | None:
        """Return the module whose parts, by torch's own names, are called in a step; None where there is none."""
        return self

    @property
    def n_symbols(self) -> int:
        """Return the number of symbols that the controller can read, the end symbol included."""
        return len(self.alphabet) + (self.end is not None)

    @property
    def n_units(self) -> int:
        """Return the number of hidden units; an LSTM's c is none."""
        return self.initial_state(1).hidden.shape[-1]

    @property
    def letters(self) -> tuple[str, ...]:
        """Return the symbols that the controller can read, the end symbol as the last if there is one."""
        return self.alphabet if self.end is None else (*self.alphabet, self.end)

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        """Return the symbols that outputs are made of; the alphabet unless a model says otherwise."""
        return self.alphabet

    @abstractmethod
    def initial_state(self, batch: int) -> NetworkState[S]:
        """Return the state before the first symbol, for ``batch`` words."""

    @abstractmethod
    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the controller's answer to ``symbols`` (B,) int, ``hidden`` (..., B, H), ``reading``."""

    @abstractmethod
    def stack_of(self, cells: Tensor) -> S:
        """Return stacks with whole cells: ``cells`` (M, n_stacks, depth, D), top first, NaN where there is none. Only
        for single networks. Exploration asks the controller what it does at a head with these.
        """

    def forget_gates(self) -> tuple[Tensor, Tensor] | None:
        """Return weights (..., H, inputs) and bias (..., H) of an LSTM's forget gates; None where there are none."""
        return None

    def action_layer(self) -> dict[str, Any]:
        """Return the rows of weights and biases, by name, that decide actions and nothing else; empty without such."""
        return {name: slice(None) for name, _ in self.named_parameters() if name.startswith("action_")}

    @abstractmethod
    def config(self) -> dict[str, Any]:
        """Return the plain data from which the same class builds a network of this shape."""

    @classmethod
    def parameter_shapes(cls, shape: Any) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights that a network of this ``shape`` has, by name, without making any. A file's
        weights are held against these before a network is built, so that no file makes us allocate more than it holds.
        """
        raise NotImplementedError(f"{cls.__name__} has no weights of its own")

    def finish(self, answer: ControllerOutput, after: Tensor) -> ControllerOutput:
        """Return ``answer`` with the output of a network that sees the stacks ``after`` their update, (..., R). Every
        step ends with it; only of such networks it is anything else than ``answer`` itself.
        """
        return answer

    def whole_answer(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the controller's finished answer, given what the stacks show and nothing of what lies below."""
        return self.controller(symbols, hidden, reading)

    def answers_to(self, words: Sequence[Word]) -> npt.NDArray[Any] | None:
        """Return the answers to whole ``words``, (N, 1) or (N, T); None where the network runs step by step. As in
        `models.inference` 1 or 0 from a recogniser, else a number a symbol, -1 beyond the end and once it rejects.
        """
        return None

    def decide(self, state: NetworkState[S]) -> Tensor:
        """Return whether a recogniser takes what it has read for a member, (..., B) bool, no end symbol read."""
        raise NotImplementedError(f"{self.name} is no recogniser")

    def rejects(self, hidden: Tensor, stack: S) -> Tensor:
        """Return where the network rejects for good after a step, (..., B) bool; nowhere by default."""
        return torch.zeros(hidden.shape[:-1], dtype=torch.bool, device=hidden.device)

    def step(self, symbols: Tensor, state: NetworkState[S]) -> Step[S]:
        """Return the step on ``symbols`` (B,) int from ``state``; no letter's number is nothing, for input queues."""
        stack = self.feed(state.stack, symbols)
        reading = stack.reading()
        answer = self.controller(symbols, state.hidden, reading)
        stack = stack.next(answer.actions, answer.pushed)
        answer = self.finish(answer, stack.reading()) if self.reads_after else answer
        rejected = self._refused(symbols, state) | self.rejects(answer.hidden, stack)
        after = NetworkState(answer.hidden, stack, rejected, answer.output)
        return Step(answer.hidden, answer.actions, answer.pushed, reading, answer.output, after)

    def feed(self, stack: S, symbols: Tensor) -> S:
        """Return the stacks as the controller is to see them with ``symbols`` (B,): unchanged, but for input queues."""
        return stack

    def outputs_per_symbol(self, output: Tensor, actions: Tensor, lengths: Tensor) -> Tensor:
        """Return the outputs after each of T symbols, (T, ..., B, O), given ``output`` and ``actions`` of all steps.
        That is ``output`` itself, but for output queues. ``lengths`` (B,) are those of the words.
        """
        return output

    def run(self, symbols: Tensor, state: NetworkState[S], noise: Tensor | None = None) -> Run:
        """Return the steps on ``symbols`` (T, B) int, -1 beyond the end of a word, from ``state``, rejected or not.
        ``noise`` (S, B, H + n_stacks * R) is added to what the controller sees in every step: to the hidden units, not
        to an LSTM's c, and to the reading. All networks on leading axes have the same, or each its own (S, ..., B, ·).

        Models that run step by step take words of their own for every network, (T, ..., B), too.
        Models that can take many steps at once faster than one by one do so here, as the same function of their
        weights. Gradients flow into the weights, and not necessarily into ``state``.
        """
        hidden, stack, steps = state.hidden, state.stack, list[tuple[Tensor, Tensor, Tensor]]()
        nothing = symbols.new_full((len(symbols) * self.extra_steps, *symbols.shape[1:]), -1)
        for t, now in enumerate(torch.cat([symbols, nothing])):
            check_time()
            stack = self.feed(stack, now)
            reading = stack.reading()  # (..., B, n_stacks, R)
            if noise is not None:
                size = noise.shape[-1] - reading.shape[-2:].numel()
                hidden = hidden + nn.functional.pad(noise[t, ..., :size], (0, hidden.shape[-1] - size))
                reading = reading + noise[t, ..., size:].reshape(*noise.shape[1:-1], *reading.shape[-2:])
            answer = self.controller(now.clamp(min=0), hidden, reading)
            stack = stack.next(answer.actions, answer.pushed)
            answer = self.finish(answer, stack.reading()) if self.reads_after else answer
            hidden = answer.hidden
            steps.append((answer.output, answer.actions, hidden))
        outputs, taken, units = map(torch.stack, zip(*steps, strict=True))
        after = NetworkState(hidden, stack, state.rejected, outputs[-1])
        return Run(self.outputs_per_symbol(outputs, taken, (symbols >= 0).sum(0)), taken, after, units)

    def verdict(self, state: NetworkState[S]) -> Tensor:
        """Return whether the word read so far is accepted, (..., B) bool; the end symbol is read if there is one."""
        if self.end is not None:
            end = torch.full(state.hidden.shape[-2:-1], len(self.alphabet), device=state.hidden.device)
            state = self.step(end, state).state
        return self.decide(state) & ~state.rejected

    @property
    def number_type(self) -> np.dtype:
        """Return the type of arrays that hold answers as numbers; Python's integers for sets of many symbols."""
        return set_number_type(len(self.output_alphabet)) if self.task_kind == "next set" else np.dtype(np.int32)

    def answer(self, state: NetworkState[S]) -> npt.NDArray[Any]:
        """Return what the network says of the word read so far as one number, (..., B), which `number_type` can hold. A
        recogniser says 1 or 0. Others say the number of their last output (see `output_name`), -1 where the word is
        rejected, as by a symbol that was not predicted, and before the first symbol.
        """
        if self.task_kind == "recognition":
            return self.verdict(state).long().cpu().numpy()
        if state.output is None:
            return np.full(state.rejected.shape, -1)
        numbers = self.output_numbers(state.output)
        numbers[state.rejected.cpu().numpy()] = -1
        return numbers

    def output_numbers(self, output: Tensor) -> npt.NDArray[Any]:
        """Return which discrete output each of ``output`` (..., B, O) is, (..., B), at least 0. A set of next symbols
        is a binary number, symbol i counting 2^i (see `set_numbers`); else it is the index of the largest value.
        """
        return set_numbers(output > 0.5) if self.task_kind == "next set" else output.argmax(-1).cpu().numpy()

    def output_name(self, number: int) -> str | tuple[str, ...]:
        """Return the output with this number: a tuple of symbols for a set, else a symbol."""
        if self.task_kind == "next set":
            return tuple(symbol for i, symbol in enumerate(self.output_alphabet) if int(number) >> i & 1)
        return self.output_alphabet[number]

    def _refused(self, symbols: Tensor, state: NetworkState[S]) -> Tensor:
        """Return where a word was rejected before, or a symbol not in the set predicted before it, (..., B) bool."""
        if self.task_kind != "next set":
            return state.rejected
        if state.output is not None:
            index = symbols.expand(state.rejected.shape).unsqueeze(-1)
            return state.rejected | (state.output.gather(-1, index).squeeze(-1) <= 0.5)
        allowed = [self.first is None or symbol in self.first for symbol in self.alphabet]
        return state.rejected | ~torch.tensor(allowed, device=symbols.device)[symbols]


# ---- Sets of symbols as numbers: symbol i counts 2^i, however many symbols there are.
# A number is the same wherever and whenever it is made, so numbers can be compared, sorted and sent to other processes.
# Beyond 63 symbols they no longer fit into a machine word; arrays hold Python's own integers then, which are slower.

_IN_32, _IN_64 = 31, 63  # symbols whose sets fit, with the sign to spare for -1


def set_number_type(n_symbols: int) -> np.dtype:
    """Return the smallest type of arrays for the numbers of sets of ``n_symbols`` symbols, and for -1.

    >>> [str(set_number_type(n)) for n in (31, 32, 63, 64)]
    ['int32', 'int64', 'int64', 'object']
    """
    return np.dtype(np.int32 if n_symbols <= _IN_32 else np.int64 if n_symbols <= _IN_64 else object)


def set_numbers(members: Tensor) -> npt.NDArray[np.generic]:
    """Return the number of each set of ``members`` (..., O) bool, (...): int64, of more than 63 symbols Python's int.

    >>> set_numbers(torch.tensor([[True, False, True], [False, False, False]])).tolist()
    [5, 0]
    >>> set_numbers(torch.eye(200, dtype=torch.bool))[199] == 2**199
    True
    """
    n_symbols = members.shape[-1]
    if n_symbols <= _IN_64:
        weights = 2 ** torch.arange(n_symbols, device=members.device)
        return (members * weights).sum(-1).cpu().numpy()
    packed = np.packbits(members.cpu().numpy(), axis=-1, bitorder="little")
    rows, places = np.unique(packed.reshape(-1, packed.shape[-1]), axis=0, return_inverse=True)  # few are distinct
    distinct = np.empty(len(rows), dtype=object)
    distinct[:] = [int.from_bytes(row.tobytes(), "little") for row in rows]
    return distinct[places.reshape(members.shape[:-1])]


def members_of(numbers: Sequence[int], n_symbols: int) -> npt.NDArray[np.bool_]:
    """Return which of ``n_symbols`` symbols the sets ``numbers`` have, (M, n_symbols) bool.

    >>> members_of([5, 0], 3).tolist()
    [[True, False, True], [False, False, False]]
    """
    size = (n_symbols + 7) // 8
    packed = np.frombuffer(b"".join(int(number).to_bytes(size, "little") for number in numbers), np.uint8)
    bits = np.unpackbits(packed.reshape(len(numbers), size), axis=-1, bitorder="little", count=n_symbols)
    return bits.astype(np.bool_)


# ---- Where torch runs: on which device, and on how many threads ----


@contextmanager
def one_thread() -> Iterator[None]:
    """Run a block with one thread of torch and of numpy's products: our arrays are small, and more only wait."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1, "blas"):
            yield
    finally:
        torch.set_num_threads(before)


def check_device(device: str) -> None:
    """Check that torch can compute on ``device``: "cpu", "cuda", "cuda:1", … Raises StacklensError: it cannot, here."""
    try:
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError):
        raise StacklensError(
            f"device {device!r} cannot be used here; expected cpu, or cuda where there is a GPU"
        ) from None


def cat_slots(parts: Sequence[Tensor], filling: float = 0.0, axis: int = 1) -> Tensor:
    """Return tensors one batch after the other, the shorter ones filled up on an ``axis``, where they have it."""
    if parts[0].dim() <= axis:
        return torch.cat(list(parts))
    size, behind = max(part.shape[axis] for part in parts), [0, 0] * (parts[0].dim() - 1 - axis)
    return torch.cat([nn.functional.pad(one, (*behind, 0, size - one.shape[axis]), value=filling) for one in parts])


# ---- A network and where it comes from: what a checkpoint holds ----


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A trained network and where it comes from."""

    model: StackModel[Any]  # the network, in evaluation mode
    task: dict[str, Any]  # what it was trained for: "kind" and "language"; of a language from a file its "text" too
    provenance: dict[str, Any] = field(default_factory=dict)  # command, seed, versions, scores
    training: dict[str, Any] | None = None  # what `Trainer.restore` needs to go on, or None where training was over


def checkpoint_for(model: StackModel[Any]) -> Checkpoint:
    """Return ``model`` with the task and the provenance that it knows of."""
    origin = model.origin or Origin(model.name)
    return Checkpoint(model, dict(origin.task), dict(origin.provenance))


# ---- The card of a network: what saved results and traces keep of it, plain data without its weights ----


@dataclass(frozen=True)
class NetworkCard:
    """What a saved result or trace keeps of its network."""

    name: str  # what it is called, as in `Origin`; the kind of network where it was never in a file
    file: str | None  # where it lies, as in `Origin`
    path: str | None
    sha256: str | None
    weights: str  # a hash of the weights themselves, wherever they lie
    kind: str
    # alphabet, config, task_kind, n_stacks, stack_limit: as the network says them
    alphabet: tuple[str, ...]
    config: Mapping[str, Any]
    task_kind: TaskKind
    n_stacks: int
    stack_limit: int | None


def card_of(model: StackModel[Any]) -> NetworkCard:
    """Return the card of ``model``."""
    origin = model.origin or Origin(model.name)
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    # names that no text can hold, as the system's names of files may be, are spelled out
    named, file, path = (
        None if text is None else text.encode(errors="backslashreplace").decode()
        for text in (origin.name, origin.file, origin.path)
    )
    return NetworkCard(
        name=named or "",
        file=file,
        path=path,
        sha256=origin.sha256,
        weights=digest.hexdigest(),
        kind=model.name,
        alphabet=tuple(model.alphabet),
        config=to_plain(model.config()),
        task_kind=model.task_kind,
        n_stacks=model.n_stacks,
        stack_limit=model.stack_limit,
    )
