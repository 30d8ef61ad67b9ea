"""A network of one's own that makes one step a symbol, with or without a stack, as a `StackModel`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..core.errors import StacklensError
from .base import ActionKind, ControllerOutput, NetworkState, StackModel, Step
from .networks.layers import OWN_CODE, OwnModule, Vocabulary, like_weights, rebuilt, shapes_of, tensors_in
from .rounding import Outputs
from .stacks import ContinuousStack, NoStack, StackRow, StrengthStack, SuperpositionStack, with_cells_below

# ---- Hidden states of any form as rows of numbers: an LSTM's pair (h, c), several layers, a dictionary of tensors.
# Which axis of a tensor is the batch is found by making two batches of different sizes and seeing what changes.


@dataclass(frozen=True)
class Packing:
    """How hidden states become rows of numbers, and rows hidden states."""

    like: Any  # a hidden state of the same form
    parts: tuple[tuple[int, tuple[int, ...], torch.dtype], ...]  # the axis of the batch, the shape without, the type

    @property
    def size(self) -> int:
        """Return how many numbers a row has, H."""
        return sum(math.prod(shape) for _, shape, _ in self.parts)

    def pack(self, hidden: Any, like: Tensor) -> Tensor:
        """Return ``hidden``, a state of this form, as rows (B, H) of the type and on the device of ``like``."""
        tensors, rows = list(tensors_in(hidden)), []
        after = f"{shapes_of(hidden)} after {shapes_of(self.like)}"
        if len(tensors) != len(self.parts):
            raise StacklensError(f"the hidden state changed its form: {after}")
        for tensor, (axis, shape, _) in zip(tensors, self.parts, strict=True):
            moved = tensor.movedim(axis, 0) if tensor.dim() > axis else tensor
            if moved.shape[1:] != shape:
                raise StacklensError(f"the hidden state changed its shape: {after}")
            rows.append(moved.reshape(len(moved), -1).to(like))
        return torch.cat(rows, -1) if rows else like.new_zeros(len(like), 0)

    def unpack(self, rows: Tensor) -> Any:
        """Return the hidden state that ``rows`` (B, H) stand for."""
        pieces = torch.split(rows, [math.prod(shape) for _, shape, _ in self.parts], -1)
        tensors = [
            piece.reshape(len(rows), *shape).to(dtype).movedim(0, axis).contiguous()
            for piece, (axis, shape, dtype) in zip(pieces, self.parts, strict=True)
        ]
        return rebuilt(self.like, iter(tensors))


def packing_of(small: Any, large: Any, sizes: tuple[int, int]) -> Packing:
    """Return how states are packed, given one for each of two batch ``sizes``.

    >>> packing = packing_of(torch.zeros(1, 2, 8), torch.zeros(1, 3, 8), (2, 3))
    >>> packing.size, packing.unpack(torch.ones(5, 8)).shape
    (8, torch.Size([1, 5, 8]))
    """
    parts = []
    for one, other in zip(tensors_in(small), tensors_in(large), strict=True):
        pairs = zip(one.shape, other.shape, strict=True) if one.dim() == other.dim() else ()
        axes = [axis for axis, pair in enumerate(pairs) if pair == sizes]
        if len(axes) != 1:
            raise StacklensError(
                f"a hidden state of shape {tuple(one.shape)} for {sizes[0]} words and {tuple(other.shape)} for "
                f"{sizes[1]}: expected one axis for the words"
            )
        parts.append((axes[0], (*one.shape[: axes[0]], *one.shape[axes[0] + 1 :]), one.dtype))
    return Packing(small, tuple(parts))


# ---- Which stack a network of one's own works on: one of ours by name, or one that its author brings along ----


@dataclass(frozen=True)
class StackChoice:
    """A kind of stack, and how a network's actions reach it."""

    kind: ActionKind  # how a row of actions is to be read
    operations: tuple[str, ...]  # for shares, what each is of, in the stack's order
    order: tuple[int, ...]  # the places of these in the network's own actions
    empty: Callable[[int, int, int, Tensor], Any]  # from batch, number of stacks, cell size and a tensor's type
    from_cells: Callable[[Tensor], Any]  # from (M, n_stacks, depth, D), top first, NaN where there is none
    limit: int | None = None  # how many cells a stack has at most; None for no limit
    depth: int = 1  # how many cells the network sees
    shown: int = 1  # how many cells the stack shows; one more than ``depth`` where outputs see it after the update


def stack_choice(
    stack: Any,
    actions: Sequence[str] | None,
    *,
    limit: int | None,
    depth: int,
    empty_value: float,
    after: bool,
    initial: Tensor | None = None,
) -> StackChoice:
    """Return the choice that the arguments of `wrap` make."""
    if stack is None:
        none = lambda batch, *like: NoStack(like[-1].new_zeros(batch, 0, 1))  # noqa: E731
        return StackChoice("none", (), (), none, lambda cells: NoStack(cells[:, :, 0]))
    if stack in ("strength", "continuous") and (limit is not None or empty_value):
        raise StacklensError(f"limit and empty_value are of a superposition stack's cells; a {stack} stack has none")
    if stack == "continuous" and actions is not None and len(actions) != 1:
        raise StacklensError(
            'a continuous stack takes one action in [-1, 1], push above 0 and pop below: actions=("push",), '
            f'not {tuple(actions)}; a pair of strengths fits stack="strength"'
        )
    # which cell is on top after a step two cells decide, so one more is shown where outputs see it; ``own``: how many
    # of these the stack itself shows, others are seen by popping
    shown, own = depth + after, 1
    ordered: tuple[str, ...]  # what its actions are of, in the stack's own order
    named = tuple(actions or (("pop", "push") if stack == "strength" else ("pop", "none", "push")))
    kind: ActionKind = "softmax"
    from_cells: Callable[[Tensor], Any]
    empty: Callable[..., Any] | None = None
    if stack == "superposition":
        ordered, own = ("push", "pop", "none") if "none" in named else ("push", "pop"), shown
        from_cells = partial(SuperpositionStack.from_cells, empty_value=empty_value, depth=shown, limit=limit)
    elif stack == "strength":
        kind, ordered, from_cells = "strengths", ("pop", "push"), StrengthStack.of_cells
    elif stack == "continuous":
        kind, named, ordered, from_cells = "signed", ("push",), ("push",), ContinuousStack.of_cells
    elif isinstance(stack, str) or not all(callable(getattr(stack, name, None)) for name in ("empty", "from_cells")):
        raise StacklensError(
            f"stack is {stack!r:.60}; expected one of superposition, strength, continuous, None, or an object with "
            "empty(batch, n_stacks, cell_size, like) and from_cells(cells), whose stacks have reading, next, select"
        )
    else:
        ordered, own, empty, from_cells = named, depth, stack.empty, stack.from_cells
    if empty is None and sorted(named) != sorted(ordered):
        raise StacklensError(f"actions is {named}; expected {', '.join(ordered)}, each once, in the network's order")
    order = tuple(map(named.index, ordered)) if empty is None else tuple(range(len(named)))
    pop = [-1.0] if kind == "signed" else [float(one == "pop") for one in ordered]
    if after and 1.0 not in (abs(one) for one in pop):
        raise StacklensError(
            f'actions is {named}; with reads="after" one of them has to be "pop", which shows what is below'
        )

    def laid(cells: Tensor, size: int) -> Any:
        """Return stacks that hold ``cells`` (M, n_stacks, K, D), and below them what lies there before a word."""
        if initial is not None:
            cells = with_cells_below(cells, initial.to(cells))
        # stacks of strengths and lengths hold one stack each
        parts = (cells,) if kind == "softmax" else cells.unsqueeze(1).unbind(2)
        if not parts:  # stacks that do nothing may be left out, and these all of them
            return NoStack(cells.new_zeros(len(cells), 0, size * shown))
        if len(parts) == 1 and shown == own and initial is None:
            return from_cells(cells)
        return StackRow(tuple(map(from_cells, parts)), cells.new_tensor(pop), size, shown - own)

    def before(batch: int, n_stacks: int, size: int, like: Tensor) -> Any:
        """Return the stacks before a word; one's own are asked for where nothing else lies there or is shown."""
        if empty is not None and initial is None and shown == own:
            return empty(batch, n_stacks, size, like)
        return laid(like.new_full((batch, n_stacks, 0, size), torch.nan), size)

    operations = ordered if kind == "softmax" else ()
    return StackChoice(kind, operations, order, before, lambda cells: laid(cells, cells.shape[-1]), limit, depth, shown)


# ---- A network of one's own that makes one step a symbol, with or without a stack, as a `StackModel` ----

PARTS = ("hidden", "actions", "pushed", "output")  # of what a step returns
AFFORDABLE = 200_000  # words that a check may ask of a network without a stack, whose steps are its author's


class StepNetwork(OwnModule, StackModel[Any]):
    """A network of one's own, step by step; `stacklens.wrap` makes it and finds out its sizes. Hidden vectors are the
    network's hidden state in one row; a recogniser's output stands behind it.

    ``output``: ``output(hidden, top)`` where outputs see the stack after the update, else None. ``find_actions``: from
    such a network to its `action_layer`; None where there is no trial for it.
    """

    name: ClassVar[str] = "own network"
    foreign = True

    def __init__(
        self,
        module: nn.Module | None,  # whatever holds the weights, for their hash; None for none
        step: Callable[..., Any],  # ``step(symbols, hidden, top)``, without ``top`` where there is no stack
        choice: StackChoice,  # which stack it works on
        packing: Packing,  # how its hidden states become rows
        start: Callable[[int], Any],  # from a batch size to the hidden states before the first symbol
        output: Callable[..., Any] | None = None,
        find_actions: Callable[[StepNetwork], dict[str, Any]] | None = None,
        *,
        name: str,  # what reports call it
        alphabet: tuple[str, ...],  # what words are made of
        outputs: Outputs,  # what outputs say, and how they are read
        returns: tuple[str, ...],  # what ``step`` returns, in its order: "hidden", "actions", "pushed", "output"
        symbols: str,  # how symbols are given to it: "one-hot" (B, n) or "index" (B,)
        n_stacks: int,  # number of stacks
        cell: int,  # how many numbers a cell holds, D
        end: str | None = None,  # ``end`` and ``first`` are as in `StackModel`
        first: tuple[str, ...] | None = None,
        empty_word: bool | None = None,  # whether the empty word is accepted; None where nobody asks
        vocabulary: Vocabulary | None = None,  # the tokens, where there are others than symbols of the alphabet
    ) -> None:
        super().__init__()
        self.module, self.called = module, (module,)
        self._find_actions, self._action_layer = find_actions, dict[str, Any]()
        self.choice, self.packing, self.returns, self.symbols = choice, packing, returns, symbols
        self._step, self._start, self._output = step, start, output
        object.__setattr__(self, "name", name)  # what reports call it; else a class has one name
        self.action_kind, self.operations = choice.kind, choice.operations
        self.outputs, self.task_kind, self.empty_word = outputs, outputs.kind, empty_word
        self.alphabet, self.end, self.first, self.vocabulary = alphabet, end, first, vocabulary
        self.n_tokens = self.n_symbols if vocabulary is None else vocabulary.size  # that it can read
        self.n_stacks, self.cell_size, self.depth = n_stacks, cell, choice.shown
        self.recurrent = packing.size > 0 or self.task_kind == "recognition"  # whose last answer stands behind it
        self.stack_limit = choice.limit
        symbol_pushed = "pushed" not in returns and choice.kind != "none"
        self.pushes_input = symbol_pushed and vocabulary is None  # bos is pushed, too
        self.affordable, self.reads_after = AFFORDABLE if choice.kind == "none" else None, output is not None
        # without a softmax of ours outputs may be any numbers, of which the squared error asks nothing
        self.squared_error = outputs.activation != "softmax" or self.task_kind == "recognition"
        self._own = like_weights(module).dtype

    @property
    def n_units(self) -> int:
        return self.packing.size

    def action_layer(self) -> dict[str, Any]:
        """Return the parts of the weights that decide actions and nothing else, which a trial finds once. Raises
        StacklensError: none do, or several: one line that says how to name them.
        """
        if not self._action_layer and self._find_actions is not None and self.choice.kind != "none":
            self._action_layer = self._find_actions(self)
        return self._action_layer

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        return self.outputs.alphabet

    def config(self) -> dict[str, Any]:
        stack = {"stack": self.choice.kind, "cell": self.cell_size} if self.n_stacks else {"stack": None}
        return {"hidden": self.packing.size, **stack, "symbols": self.symbols, "outputs": self.task_kind}

    @property
    def unsaved(self) -> str:
        if self.origin is not None and self.origin.file is not None:
            return f"{self.name} is read by the mapping {self.origin.file}; keep that and its weights"
        return f"{self.name} is {OWN_CODE}"

    def initial_state(self, batch: int) -> NetworkState[Any]:
        """Return the state before the first symbol: the network's own, on empty stacks, or where bos leads from it."""
        if not self.begins:
            return self._blank(batch)
        return self.begun().state.select(torch.zeros(batch, dtype=torch.int64))

    def begun(self) -> Step[Any]:
        """Return the step on bos, which is followed by the first symbol of a word; a batch of one."""
        before = self._blank(1)
        made = self.step(torch.full((1,), -1, device=before.hidden.device), before)
        return replace(made, state=replace(made.state, rejected=before.rejected, output=None))

    def _blank(self, batch: int) -> NetworkState[Any]:
        own = self.packing.pack(self.ask(self._start, "hidden", {"batch": batch}), self.like.new_zeros(batch))
        stack = self.choice.empty(batch, self.n_stacks, self.cell_size, own)
        rejected = torch.zeros(batch, dtype=torch.bool, device=own.device)
        if self.task_kind != "recognition":
            return NetworkState(own, stack, rejected)
        # a recogniser's answer to the empty word, (B, 1)
        if self.empty_word is not None or self._output is None:
            answer = own.new_full((batch, 1), float(bool(self.empty_word)))
        else:
            answer = self._output_at(own, stack.reading())[..., :1].to(own)
        return NetworkState(torch.cat([own, answer], -1), stack, rejected)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = self.answered(symbols, hidden, reading)
        # actions (B, n_stacks, A) in the stack's order, and what is pushed, (B, n_stacks, D): the symbol, or a value
        actions, pushed = reading[..., :0], reading[..., : self.cell_size]
        if answer["actions"] is not None:
            taken = _with_stacks(answer["actions"], self.n_stacks, len(self.choice.order), "actions", "actions")
            actions, laid = taken[..., list(self.choice.order)].to(reading), answer["pushed"]
            if laid is None:
                x = self.read(symbols, hidden)
                laid = nn.functional.one_hot(x, self.n_tokens) if self.symbols == "index" else x
            pushed = _with_stacks(laid.to(reading), self.n_stacks, self.cell_size, "pushed", "cell")
        own = self.packing.pack(answer["hidden"], hidden)
        output = None if self._output is not None else self.outputs.read(answer["output"], len(own))
        return ControllerOutput(self._with(own, output), actions, pushed, own if output is None else output)

    def answered(
        self, symbols: Tensor, hidden: Tensor, reading: Tensor, weights: Mapping[str, Tensor] | None = None
    ) -> dict[str, Any]:
        """Return what ``step`` itself answers, by name (`PARTS`), by default with the network's own weights: a tuple in
        the order of ``returns``, or a dictionary; None for the rest.
        """
        given = {"symbols": self.read(symbols, hidden), "hidden": self.packing.unpack(hidden[..., : self.packing.size])}
        if self.choice.kind != "none":
            given["top"] = self.top(reading)
        name, returns = f"step({', '.join(given)})", self.returns
        answer, expected = self.ask(self._step, name, given, weights), f"{name} should return {', '.join(returns)}"
        if isinstance(answer, Mapping):
            if missing := [part for part in returns if part not in answer]:
                raise StacklensError(f"{expected}; its dictionary lacks {', '.join(missing)}")
            return {part: answer.get(part) for part in PARTS}
        if not isinstance(answer, tuple | list) or len(answer) != len(returns):
            raise StacklensError(
                f"{expected}, as a tuple of {len(returns)} or a dictionary, not {shapes_of(answer)}; name another "
                "order with returns=(…)"
            )
        found = dict(zip(returns, answer, strict=True))
        for part in ("actions", "pushed", "output"):
            if found.get(part) is not None and not isinstance(found[part], Tensor):
                raise StacklensError(f"{expected}; its {part} is {shapes_of(found[part])} and no tensor")
        return {part: found.get(part) for part in PARTS}

    def finish(self, answer: ControllerOutput, after: Tensor) -> ControllerOutput:
        if self._output is None:
            return answer
        own = answer.hidden[..., : self.packing.size]
        output = self._output_at(own, after)
        return replace(answer, hidden=self._with(own, output), output=output)

    def whole_answer(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = self.controller(symbols, hidden, reading)
        cells = reading.unflatten(-1, (self.choice.shown, self.cell_size))  # type: ignore[no-untyped-call]
        stack = self.choice.from_cells(cells) if self.reads_after else None
        return answer if stack is None else self.finish(answer, stack.next(answer.actions, answer.pushed).reading())

    def _output_at(self, own: Tensor, reading: Tensor) -> Tensor:
        assert self._output is not None
        given = {"hidden": self.packing.unpack(own), "top": self.top(reading)}
        return self.outputs.read(self.ask(self._output, "output(hidden, top)", given), len(own))

    def decide(self, state: NetworkState[Any]) -> Tensor:
        return state.hidden[..., -1] > 0.5  # the last output stands behind the hidden vector

    def stack_of(self, cells: Tensor) -> Any:
        if self.begins and self.n_stacks:  # below what words push lies what bos left there
            seen = self.begun().state.stack.reading().unflatten(-1, cells.shape[-2:])
            nothing = cells.isnan().all(-1, keepdim=True)
            place = (nothing.cumsum(-2) - 1).clamp(min=0).expand_as(cells)
            cells = torch.where(nothing, seen.expand_as(cells).gather(-2, place), cells)
        return self.choice.from_cells(cells)

    def read(self, symbols: Tensor, like: Tensor) -> Tensor:
        """Return ``symbols`` (B,) as the network reads them."""
        if self.vocabulary is not None:
            codes = torch.tensor((*self.vocabulary.places, self.vocabulary.bos or 0), device=symbols.device)
            symbols = codes[symbols]  # -1 is bos
        if self.symbols == "index":
            return symbols
        return self._read_by_it(torch.nn.functional.one_hot(symbols, self.n_tokens).to(like.dtype))

    def top(self, reading: Tensor) -> Tensor:
        """Return what the network sees of the stacks: (B, D), with an axis for the cells, and one for the stacks."""
        cells = reading.unflatten(-1, (self.choice.shown, self.cell_size))  # type: ignore[no-untyped-call]
        seen: Tensor = cells[..., : self.choice.depth, :]
        seen = seen.squeeze(-2) if self.choice.depth == 1 else seen
        return self._read_by_it(seen.squeeze(1) if self.n_stacks == 1 else seen)

    def _read_by_it(self, values: Tensor) -> Tensor:
        return values.to(self._own) if self._own == torch.bfloat16 else values

    def _with(self, own: Tensor, output: Tensor | None) -> Tensor:
        # behind a recogniser's hidden vector stands its output
        if self.task_kind != "recognition":
            return own
        return torch.cat([own, own.new_zeros(len(own), 1) if output is None else output[..., :1].to(own)], -1)


def _with_stacks(values: Tensor, n_stacks: int, size: int, name: str, axis: str) -> Tensor:
    """Return ``values`` (B, n_stacks, size), given so or, for one stack, as (B, size)."""
    found = values.unsqueeze(1) if n_stacks == 1 and values.dim() == 2 else values
    if found.dim() != 3 or tuple(found.shape[1:]) != (n_stacks, size):
        expected = f"(words, {size})" if n_stacks == 1 else f"(words, {n_stacks} stacks, {size})"
        raise StacklensError(
            f"{name} is of shape {tuple(values.shape)}; expected {expected}, the last axis being the {axis}"
        )
    return found
