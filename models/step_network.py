"""A network of one's own that makes one step a symbol, with or without a stack, as a `StackModel`."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..core.errors import StacklensError
from ..languages.task import TaskKind
from .base import ControllerOutput, NetworkState, StackModel, Step
from .networks.layers import Vocabulary, like_weights, with_weights
from .rounding import Outputs
from .stacks.cells import StackChoice

# ---- Calls of functions that somebody else wrote: whatever they raise comes out as one line that says what was given.

OWN_CODE = (  # what there is to say of a network that cannot be saved
    "code of your own, which no checkpoint of ours can hold; keep its weights with torch.save(module.state_dict(), …), "
    "and a function that builds and wraps it: package.module:function is what extract-pda and sl.load take"
)
_LONGEST = 300  # characters of somebody else's message


def guarded(call: Callable[..., Any], name: str, given: Mapping[str, Any]) -> Any:
    """Return what ``call`` returns for the values of ``given``, which are passed in this order."""
    try:
        return call(*given.values())
    except StacklensError:
        raise
    except Exception as error:
        why = " ".join(str(error).split())[:_LONGEST] or type(error).__name__
        shapes = ", ".join(f"{key} {shapes_of(value)}" for key, value in given.items())
        raise StacklensError(f"{name} failed{f', given {shapes}' if given else ''}: {why}") from error


def shapes_of(value: Any) -> str:
    """Return the shape of a tensor, or those of the tensors in a tuple, list or dictionary, for a line.

    >>> import torch
    >>> shapes_of((torch.zeros(1, 3, 8), torch.zeros(3))), shapes_of(None)
    ('((1, 3, 8), (3,))', 'None')
    """
    if isinstance(value, Tensor):
        return str(tuple(value.shape))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {shapes_of(one)}" for key, one in value.items()) + "}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(shapes_of, value))})"
    return "None" if value is None else f"of type {type(value).__name__}"


def taken_out(call: str, returned: Any, sizes: Sequence[int]) -> Tensor:
    """Return the outputs in what a ``call``, such as "forward(word)", returned.

    That is a tensor, the first one of a tuple whose last axis is of one of ``sizes``, or what is called logits.

    >>> import torch
    >>> taken_out("forward(x)", (torch.tensor(0.5), torch.zeros(1, 3, 2)), (2,)).shape
    torch.Size([1, 3, 2])
    """
    found, parts = returned, dict[str, Any]()
    if isinstance(returned, tuple | list):
        tensors = [one for one in returned if isinstance(one, Tensor) and one.dim()]
        found = next((one for one in tensors if (one.shape[-1] if one.dim() > 1 else 1) in sizes), None)
    elif isinstance(returned, Mapping):
        found, parts = returned.get("logits"), {f"[{key!r}]": one for key, one in returned.items()}
    elif not isinstance(returned, Tensor):
        found = getattr(returned, "logits", None)
        parts = {f".{name}": one for name, one in getattr(returned, "__dict__", {}).items()}
    if isinstance(found, Tensor):
        return found
    fits = (key for key, one in parts.items() if isinstance(one, Tensor) and one.shape[-1:] in {(n,) for n in sizes})
    given, what = call.partition("(")[2].rstrip(")"), shapes_of(returned)
    hint = next((f", so take it out: lambda {given}: network({given}){place}" for place in fits), "")
    what = f"a value {what}" if what.startswith("of type") else what
    last = f" with {' or '.join(map(str, sizes))} numbers each" if isinstance(returned, tuple | list) else ""
    raise StacklensError(f"{call} returned {what}; expected a tensor of outputs{last}{hint}")


# ---- Hidden states of any form as rows of numbers: an LSTM's pair (h, c), several layers, a dictionary of tensors.
#
# Which axis of a tensor is the batch is found by making two batches of different sizes and seeing what changes.


@dataclass(frozen=True)
class Packing:
    """How hidden states become rows of numbers, and rows hidden states."""

    like: Any  # a hidden state of the same form
    # of its tensors, in order, the axis of the batch, the shape without that, and the type
    parts: tuple[tuple[int, tuple[int, ...], torch.dtype], ...]

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


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of a hidden state, in order."""
    if isinstance(value, Tensor):
        yield value
        return
    if not isinstance(value, Mapping | tuple | list | None):
        raise StacklensError(f"a hidden state holds tensors, in tuples, lists or dictionaries, not {shapes_of(value)}")
    for one in value.values() if isinstance(value, Mapping) else value or ():
        yield from tensors_in(one)


def rebuilt(like: Any, tensors: Iterator[Tensor]) -> Any:
    """Return a hidden state of the form of ``like`` with other ``tensors``, in order."""
    if isinstance(like, Tensor):
        return next(tensors)
    if isinstance(like, Mapping):
        return {key: rebuilt(one, tensors) for key, one in like.items()}
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*[rebuilt(one, tensors) for one in like])
    return None if like is None else type(like)(rebuilt(one, tensors) for one in like)


# ---- A network of one's own that makes one step a symbol, with or without a stack, as a `StackModel` ----

PARTS = ("hidden", "actions", "pushed", "output")  # of what a step returns
AFFORDABLE = 200_000  # words that a check may ask of a network without a stack, whose steps are its author's


@dataclass(frozen=True)
class StepShape:
    """What is known of a network of one's own that makes steps."""

    name: str  # what reports call it
    alphabet: tuple[str, ...]  # what words are made of
    outputs: Outputs  # what outputs say, and how they are read
    returns: tuple[str, ...]  # what ``step`` returns, in its order: "hidden", "actions", "pushed", "output"
    symbols: str  # how symbols are given to it: "one-hot" (B, n) or "index" (B,)
    n_stacks: int  # number of stacks
    cell: int  # how many numbers a cell holds, D
    # end, first: as in `StackModel`
    end: str | None = None
    first: tuple[str, ...] | None = None
    empty_word: bool | None = None  # whether the empty word is accepted; None where nobody asks
    vocabulary: Vocabulary | None = None  # the tokens, where there are others than symbols of the alphabet

    @property
    def begins(self) -> bool:
        """Return whether a token is read before the first symbol."""
        return self.vocabulary is not None and self.vocabulary.bos is not None

    @property
    def n_tokens(self) -> int:
        """Return how many symbols there are to be read."""
        return len(self.alphabet) + (self.end is not None) if self.vocabulary is None else self.vocabulary.size


class StepNetwork(StackModel[Any]):
    """A network of one's own, step by step; `stacklens.wrap` makes it and finds out its sizes.

    Hidden vectors are the network's hidden state in one row; a recogniser's output stands behind it.

    ``output``: ``output(hidden, top)`` where outputs see the stack after the update, else None. ``find_actions``: from
    such a network to its `action_layer`; None where there is no trial for it.
    """

    name: ClassVar[str] = "own network"

    def __init__(
        self,
        module: nn.Module | None,  # whatever holds the weights, for their hash; None for none
        step: Callable[..., Any],  # ``step(symbols, hidden, top)``, without ``top`` where there is no stack
        shape: StepShape,  # what is known of it
        choice: StackChoice,  # which stack it works on
        packing: Packing,  # how its hidden states become rows
        start: Callable[[int], Any],  # from a batch size to the hidden states before the first symbol
        output: Callable[..., Any] | None = None,
        find_actions: Callable[[StepNetwork], dict[str, Any]] | None = None,
    ) -> None:
        super().__init__()
        self.module, self._called = module, (module,)  # which a copy calls with its own weights
        self._find_actions, self._action_layer = find_actions, dict[str, Any]()
        self.shape, self.choice, self.packing = shape, choice, packing
        self._step, self._start, self._output = step, start, output
        object.__setattr__(self, "name", shape.name)  # what reports call it; else a class has one name
        self.action_kind, self.operations = choice.kind, choice.operations
        self.task_kind: TaskKind = shape.outputs.kind
        self.alphabet, self.end, self.first = shape.alphabet, shape.end, shape.first
        self.n_stacks, self.cell_size, self.depth = shape.n_stacks, shape.cell, choice.shown
        self.recurrent = packing.size > 0 or self.task_kind == "recognition"  # whose last answer stands behind it
        self.stack_limit, self.pushes_input = choice.limit, "pushed" not in shape.returns and choice.kind != "none"
        self.affordable, self.reads_after = AFFORDABLE if choice.kind == "none" else None, output is not None
        # without a softmax of ours outputs may be any numbers, of which the squared error asks nothing
        self.squared_error = shape.outputs.activation != "softmax" or self.task_kind == "recognition"
        own = like_weights(module)
        self._own, self.like = own.dtype, own.float() if own.dtype == torch.bfloat16 else own  # which numpy lacks
        self.pushes_input = self.pushes_input and shape.vocabulary is None  # bos is pushed, too

    def __deepcopy__(self, memo: dict[int, Any]) -> StepNetwork:
        """Return a network with weights of its own; the module that was wrapped is never changed."""
        parts = (self._step, self.shape, self.choice, self.packing, self._start, self._output, self._find_actions)
        module = guarded(lambda: copy.deepcopy(self.module, memo), f"copying the module of {self.name}", {})
        made = StepNetwork(module, *parts)
        made._called, made._action_layer, made.origin = self._called, self._action_layer, self.origin
        return made.train(self.training)

    @property
    def hooked(self) -> nn.Module | None:
        return self._called[0]

    @property
    def n_units(self) -> int:
        return self.packing.size

    def action_layer(self) -> dict[str, Any]:
        """Return the parts of the weights that decide actions and nothing else, which a trial finds once.

        Raises StacklensError: none do, or several: one line that says how to name them.
        """
        if not self._action_layer and self._find_actions is not None and self.choice.kind != "none":
            self._action_layer = self._find_actions(self)
        return self._action_layer

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        return self.shape.outputs.alphabet

    def config(self) -> dict[str, Any]:
        stack = {"stack": self.choice.kind, "cell": self.cell_size} if self.n_stacks else {"stack": None}
        return {"hidden": self.packing.size, **stack, "symbols": self.shape.symbols, "outputs": self.task_kind}

    @property
    def unsaved(self) -> str:
        if self.origin is not None and self.origin.file is not None:
            return f"{self.name} is read by the mapping {self.origin.file}; keep that and its weights"
        return f"{self.name} is {OWN_CODE}"

    def initial_state(self, batch: int) -> NetworkState[Any]:
        """Return the state before the first symbol: the network's own, on empty stacks, or where bos leads from it."""
        return (
            self.begun().state.select(torch.zeros(batch, dtype=torch.int64))
            if self.shape.begins
            else self._blank(batch)
        )

    def begun(self) -> Step[Any]:
        """Return the step on bos, which is followed by the first symbol of a word; a batch of one."""
        before = self._blank(1)
        made = self.step(torch.full((1,), -1, device=before.hidden.device), before)
        return replace(made, state=replace(made.state, rejected=before.rejected, output=None))

    def _blank(self, batch: int) -> NetworkState[Any]:
        own = self.packing.pack(self._ask(self._start, "hidden", {"batch": batch}), self.like.new_zeros(batch))
        stack = self.choice.empty(batch, self.n_stacks, self.cell_size, own)
        rejected = torch.zeros(batch, dtype=torch.bool, device=own.device)
        if self.task_kind != "recognition":
            return NetworkState(own, stack, rejected)
        # a recogniser's answer to the empty word, (B, 1)
        if self.shape.empty_word is not None or self._output is None:
            answer = own.new_full((batch, 1), float(bool(self.shape.empty_word)))
        else:
            answer = self._output_at(own, stack.reading())[..., :1].to(own)
        return NetworkState(torch.cat([own, answer], -1), stack, rejected)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        x, answer = self.read(symbols, hidden), self.answered(symbols, hidden, reading)
        actions, pushed = self._stacked(answer, x, reading)
        own = self.packing.pack(answer["hidden"], hidden)
        output = None if self._output is not None else self.shape.outputs.read(answer["output"], len(own))
        return ControllerOutput(self._with(own, output), actions, pushed, own if output is None else output)

    def answered(
        self, symbols: Tensor, hidden: Tensor, reading: Tensor, weights: Mapping[str, Tensor] | None = None
    ) -> dict[str, Any]:
        """Return what ``step`` itself answers, by name (`PARTS`), by default with the network's own weights."""
        given = {"symbols": self.read(symbols, hidden), "hidden": self.packing.unpack(hidden[..., : self.packing.size])}
        if self.choice.kind != "none":
            given["top"] = self.top(reading)
        name = f"step({', '.join(given)})"
        return answer_parts(self._ask(self._step, name, given, weights), self.shape.returns, name)

    def _ask(self, call: Any, name: str, given: Mapping[str, Any], weights: Mapping[str, Tensor] | None = None) -> Any:
        (called,) = self._called
        if weights is None and self.module is not None and self.module is not called:
            weights = dict(self.module.named_parameters())
        return with_weights(called, weights, partial(guarded, call, name, given))

    def finish(self, answer: ControllerOutput, after: Tensor) -> ControllerOutput:
        """Return ``answer`` with the output that the network gives once the stack has been updated, if it does."""
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
        """Return what ``output`` gives for hidden states (B, H) and what the stacks show, (B, O)."""
        assert self._output is not None
        given = {"hidden": self.packing.unpack(own), "top": self.top(reading)}
        return self.shape.outputs.read(self._ask(self._output, "output(hidden, top)", given), len(own))

    def decide(self, state: NetworkState[Any]) -> Tensor:
        """Return whether the last output, which stands behind the hidden vector, accepts."""
        accepted: Tensor = state.hidden[..., -1] > 0.5
        return accepted

    def stack_of(self, cells: Tensor) -> Any:
        if self.shape.begins and self.n_stacks:  # below what words push lies what bos left there
            seen = self.begun().state.stack.reading().unflatten(-1, cells.shape[-2:])
            nothing = cells.isnan().all(-1, keepdim=True)
            place = (nothing.cumsum(-2) - 1).clamp(min=0).expand_as(cells)
            cells = torch.where(nothing, seen.expand_as(cells).gather(-2, place), cells)
        return self.choice.from_cells(cells)

    def read(self, symbols: Tensor, like: Tensor) -> Tensor:
        """Return ``symbols`` (B,) as the network reads them."""
        if self.shape.vocabulary is not None:
            codes = torch.tensor((*self.shape.vocabulary.places, self.shape.vocabulary.bos or 0), device=symbols.device)
            symbols = codes[symbols]  # -1 is bos
        if self.shape.symbols == "index":
            return symbols
        return self._read_by_it(torch.nn.functional.one_hot(symbols, self.shape.n_tokens).to(like.dtype))

    def top(self, reading: Tensor) -> Tensor:
        """Return what the network sees of the stacks: (B, D), with an axis for the cells, and one for the stacks."""
        cells = reading.unflatten(-1, (self.choice.shown, self.cell_size))  # type: ignore[no-untyped-call]
        seen: Tensor = cells[..., : self.choice.depth, :]
        seen = seen.squeeze(-2) if self.choice.depth == 1 else seen
        return self._read_by_it(seen.squeeze(1) if self.n_stacks == 1 else seen)

    def _read_by_it(self, values: Tensor) -> Tensor:
        return values.to(self._own) if self._own == torch.bfloat16 else values

    def _stacked(self, answer: Mapping[str, Any], x: Tensor, reading: Tensor) -> tuple[Tensor, Tensor]:
        """Return actions (B, n_stacks, A) in the stack's order, and pushed values (B, n_stacks, D)."""
        if answer["actions"] is None:
            return reading[..., :0], reading[..., : self.cell_size]
        actions = _with_stacks(answer["actions"], self.n_stacks, len(self.choice.order), "actions", "actions")
        pushed = x if answer["pushed"] is None else answer["pushed"]
        if answer["pushed"] is None and self.shape.symbols == "index":
            pushed = torch.nn.functional.one_hot(x, self.shape.n_tokens)
        laid = _with_stacks(pushed.to(reading), self.n_stacks, self.cell_size, "pushed", "cell")
        return actions[..., list(self.choice.order)].to(reading), laid

    def _with(self, own: Tensor, output: Tensor | None) -> Tensor:
        # behind a recogniser's hidden vector stands its output
        if self.task_kind != "recognition":
            return own
        return torch.cat([own, own.new_zeros(len(own), 1) if output is None else output[..., :1].to(own)], -1)


def answer_parts(answer: Any, returns: tuple[str, ...], name: str) -> dict[str, Any]:
    """Return what a step returned, by name: a tuple in the order of ``returns``, or a dictionary; None for the rest."""
    expected = f"{name} should return {', '.join(returns)}"
    if isinstance(answer, Mapping):
        if missing := [part for part in returns if part not in answer]:
            raise StacklensError(f"{expected}; its dictionary lacks {', '.join(missing)}")
        return {part: answer.get(part) for part in PARTS}
    if not isinstance(answer, tuple | list) or len(answer) != len(returns):
        raise StacklensError(
            f"{expected}, as a tuple of {len(returns)} or a dictionary, not {shapes_of(answer)}; name another order "
            "with returns=(…)"
        )
    found = dict(zip(returns, answer, strict=True))
    for part in ("actions", "pushed", "output"):
        if found.get(part) is not None and not isinstance(found[part], Tensor):
            raise StacklensError(f"{expected}; its {part} is {shapes_of(found[part])} and no tensor")
    return {part: found.get(part) for part in PARTS}


def _with_stacks(values: Tensor, n_stacks: int, size: int, name: str, axis: str) -> Tensor:
    """Return ``values`` (B, n_stacks, size), given so or, for one stack, as (B, size)."""
    found = values.unsqueeze(1) if n_stacks == 1 and values.dim() == 2 else values
    if found.dim() != 3 or tuple(found.shape[1:]) != (n_stacks, size):
        expected = f"(words, {size})" if n_stacks == 1 else f"(words, {n_stacks} stacks, {size})"
        raise StacklensError(
            f"{name} is of shape {tuple(values.shape)}; expected {expected}, the last axis being the {axis}"
        )
    return found
