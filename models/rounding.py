"""The rounded network: the same controller and the same stack, with discrete actions between them.

`Operation` is what such an action does to a stack, and `RoundedSteps` is what the network does in a step, in numbers.
`Wrapper` is what `Rounded` rests on: a network around another one, as that one in everything that a subclass does not
change. What a network of one's own says becomes 0 and 1 by its `Outputs`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from ..automata.enumeration import encode_words
from ..automata.pda import StackOp, Symbol, Word
from ..core.errors import StacklensError
from ..languages.language import TaskKind
from .base import ActionKind, ControllerOutput, ModelSpec, NetworkState, S, StackModel, Step

_STRANGE = -1  # the number of an operation of another model's own, which is none of a stack's


def _of_its_model(name: str) -> Any:
    """Return the method of a `Wrapper` that calls the one of this ``name`` of the network in it."""
    return lambda wrapper, *given: getattr(wrapper.model, name)(*given)


class Wrapper(StackModel[S]):
    """A network that does what ``model`` does; its weights are shared, not copied. ``changes`` are to its `ModelSpec`.
    Every step goes through `controller`: what a model can do with many steps at once is not used, as a subclass may
    change each.
    """

    name = "wrapper"

    def __init__(self, model: StackModel[S], **changes: Any) -> None:
        super().__init__()
        self.model = model
        for name in ModelSpec.__annotations__:
            setattr(self, name, changes.get(name, getattr(model, name)))

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        return self.model.output_alphabet

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        return self.model.controller(symbols, hidden, reading)

    # what else it does as its model does
    config = _of_its_model("config")
    initial_state = _of_its_model("initial_state")
    stack_of = _of_its_model("stack_of")
    feed = _of_its_model("feed")
    outputs_per_symbol = _of_its_model("outputs_per_symbol")
    output_numbers = _of_its_model("output_numbers")
    finish = _of_its_model("finish")
    rejects = _of_its_model("rejects")
    decide = _of_its_model("decide")


def round_actions(kind: ActionKind, actions: Tensor, threshold: float = 0.5) -> Tensor:
    """Return ``actions`` (..., A) made discrete. "signed": 0 up to ``threshold`` in size, else the sign (Sun et al.
    1993, eq. 21). "softmax": one-hot at the largest (Joulin & Mikolov 2015, section 3). "strengths": 1 from
    ``threshold`` on, else 0.
    """
    if kind == "signed":
        return torch.where(actions.abs() <= threshold, torch.zeros_like(actions), actions.sign())
    if kind == "softmax":
        return torch.nn.functional.one_hot(actions.argmax(-1), actions.shape[-1]).to(actions.dtype)
    if kind == "strengths":
        return (actions >= threshold).to(actions.dtype)
    return actions


class Operation(IntEnum):
    """What a discrete action does to a stack; its bits are those of the strengths of pop and push."""

    NONE = 0
    POP = 1
    PUSH = 2
    REPLACE = 3

    @classmethod
    def of(cls, operation: StackOp) -> Operation:
        """Return which one an automaton's operation is."""
        return cls(cls.POP * operation.pop | cls.PUSH * (operation.push is not None))

    @property
    def pops(self) -> bool:
        """Return whether the top is taken off."""
        return bool(self & Operation.POP)

    @property
    def pushes(self) -> bool:
        """Return whether something is laid down, after a pop if there is one."""
        return bool(self & Operation.PUSH)

    @property
    def on_empty(self) -> Operation:
        """Return what is left of it on an empty stack: a pop of nothing does nothing."""
        return Operation(self & Operation.PUSH)

    def stack_op(self, symbol: Symbol) -> StackOp:
        """Return the automaton's operation that lays down ``symbol`` if this one pushes."""
        return StackOp(self.pops, symbol if self.pushes else None)

    def __str__(self) -> str:
        return self.name.lower()


def named_operations(operations: tuple[str, ...]) -> list[int]:
    """Return which operation each share of a "softmax" action is of; another model's own, none of a stack's, is -1.

    >>> named_operations(("push", "pop", "none", "rotate left"))
    [<Operation.PUSH: 2>, <Operation.POP: 1>, <Operation.NONE: 0>, -1]
    """
    known = {str(operation): operation for operation in (Operation.NONE, Operation.POP, Operation.PUSH)}
    return [known.get(name, _STRANGE) for name in operations]


def is_stack(model: StackModel[Any]) -> bool:
    """Return whether the operations of the network's memory are a stack's."""
    return all(number >= 0 for number in named_operations(model.operations))


def operation_numbers(kind: ActionKind, operations: tuple[str, ...], rounded: Tensor) -> Tensor:
    """Return which `Operation` each of the rounded actions (..., A) is, (...) int64; -1 for another model's own."""
    if kind == "signed":
        action = rounded[..., 0]
        return (action > 0) * Operation.PUSH + (action < 0) * Operation.POP
    if kind == "softmax":
        return torch.tensor(named_operations(operations), device=rounded.device)[rounded.argmax(-1)]
    if kind == "strengths":
        return rounded[..., 0].long() * Operation.POP + rounded[..., 1].long() * Operation.PUSH
    return torch.zeros(rounded.shape[:-1], dtype=torch.int64, device=rounded.device)


def without_empty_pops(operations: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what `Operation` numbers, at least 0, do to stacks of ``heights``, and the heights after it, of one shape.
    A pop of an empty stack does nothing.
    """
    # what is left of an operation on an empty stack is its push
    done = np.where(heights > 0, operations, operations & Operation.PUSH)
    pushes, pops = done // Operation.PUSH, done & Operation.POP
    return done, heights + pushes - pops


class Rounded(Wrapper[S]):
    """A network with discrete actions; its hidden vectors and pushed values stay analog."""

    name = "rounded"

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = self.model.controller(symbols, hidden, reading)
        return replace(answer, actions=round_actions(self.action_kind, answer.actions))

    def step(self, symbols: Tensor, state: NetworkState[S]) -> Step[S]:
        """Return the step on ``symbols`` (B,); a network without actions, or with whole ones, goes on as it is."""
        as_it_is = self.action_kind == "none" or isinstance(self.model, Unrounded)
        return self.model.step(symbols, state) if as_it_is else super().step(symbols, state)

    def answers_to(self, words: Sequence[Word]) -> np.ndarray | None:
        return self.model.answers_to(words) if self.action_kind == "none" else None


class Unrounded(Wrapper[S]):
    """A network that goes on as it is, with soft actions, of which the largest or nearest whole ones are reported. It
    answers as the network does, and still says of each step whether that is nearer to a push, a pop or neither.
    """

    name = "unrounded"

    def step(self, symbols: Tensor, state: NetworkState[S]) -> Step[S]:
        step = self.model.step(symbols, state)
        return replace(step, actions=round_actions(self.action_kind, step.actions))


class BlackBoxed(Wrapper[S]):
    """A network of which only the answers are looked at: nothing of its actions is, and nothing is rounded."""

    name = "black box"
    step = _of_its_model("step")
    answers_to = _of_its_model("answers_to")

    def __init__(self, model: StackModel[S]) -> None:
        super().__init__(model, action_kind="none", operations=())


def _one_cluster(vectors: np.ndarray) -> np.ndarray:
    return np.zeros(vectors.shape[:-1], np.int64)


@dataclass(frozen=True)
class RoundedSteps:
    """What a rounded network does in steps, as arrays of one leading shape: of the batch, of words and steps, …."""

    operations: np.ndarray  # of an `Operation` the number, -1 for another model's own, (..., S); S is at least 1
    pushed: np.ndarray  # the number of the cluster in which what it would push on each stack lies, (..., S)
    targets: np.ndarray  # the number of the cluster of the next hidden vector, (...)
    outputs: np.ndarray  # the number of the output (see `StackModel.output_numbers`), (...); -1 for recognisers
    rejected: np.ndarray  # whether the word has been rejected for good, (...) bool

    @classmethod
    def of(
        cls,
        network: StackModel[Any],  # the network; its actions are whole ones
        hidden: Tensor,  # the next hidden vectors, (..., H)
        actions: Tensor,  # the actions, (..., n_stacks, A), or one for all
        pushed: Tensor,  # what a push would lay down, (..., n_stacks, D), or one for all
        output: Tensor,  # the outputs, (..., O)
        rejected: Tensor,  # the rejections so far, (...) bool
        *,
        hidden_clusters: Callable[[np.ndarray], np.ndarray] = _one_cluster,
        pushed_clusters: Callable[[np.ndarray], np.ndarray] = _one_cluster,
    ) -> RoundedSteps:
        """Return the steps of a rounded ``network``, given what a `Step` or a trace has of them. ``hidden_clusters``:
        which cluster each vector (M, H) is in; all are in cluster 0 unless given. ``pushed_clusters``: which cluster
        each value (..., D) is in; all are in cluster 0 unless given.
        """
        shape = hidden.shape[:-1]
        taken, laid = np.zeros((*shape, 1), np.int64), np.zeros((*shape, 1), np.int64)
        # one row of operations and pushed values a stack, (..., S)
        if network.action_kind != "none":
            numbers = operation_numbers(network.action_kind, network.operations, actions)
            taken = numbers.expand(*shape, -1).cpu().numpy()
            laid = pushed_clusters(pushed.expand(*shape, *pushed.shape[-2:]).cpu().numpy())
        outputs = np.full(shape, -1) if network.task_kind == "recognition" else network.output_numbers(output)
        targets = hidden_clusters(hidden.flatten(0, -2).cpu().numpy()).reshape(shape)
        return cls(taken, laid, targets, outputs, rejected.cpu().numpy())


# ---- How near actions are to a tie, and whether rounding them changes anything ----

_AT_ONCE = 512  # words


@torch.no_grad()
def smallest_gap(model: StackModel[Any], words: Sequence[Word]) -> tuple[float, Word, int]:
    """Return how near the sums behind any action get to a tie when ``model`` runs rounded, with the word and step. Sums
    follow from shares, as the logarithm of their quotient, or as a logit. Shares of exactly 0 or 1 are whole.
    """
    rounded = Rounded(model)
    smallest: tuple[float, Word, int] = math.inf, (), 0
    for some, symbols in _batches(model, words):
        state = rounded.initial_state(len(some))
        for t, now in enumerate(symbols):
            reading = rounded.feed(state.stack, now).reading()
            actions = model.controller(now.clamp(min=0), state.hidden, reading).actions  # (B, n_stacks, A)
            state = rounded.step(now.clamp(min=0), state).state
            if model.action_kind == "softmax":
                first, second = actions.topk(2, -1).values.log().unbind(-1)
                gaps = first - second
            else:
                shares = (actions + 1) / 2 if model.action_kind == "signed" else actions
                gaps = torch.logit(shares).abs().amin(-1)
                if model.action_kind == "signed":  # none has no exact 0; only the verdict follows the end symbol's
                    ends = (now == len(model.alphabet)).unsqueeze(-1)
                    gaps = gaps.where(actions.abs().amin(-1) > 0.5, torch.where(ends, math.inf, 0.0))
            gaps = gaps.flatten(1).amin(1).where((now >= 0) & ~state.rejected, math.inf)
            if gaps.min() < smallest[0]:
                row = int(gaps.argmin())
                smallest = float(gaps[row]), some[row], t
    return smallest


@torch.no_grad()
def differing_bits(model: StackModel[Any], words: Sequence[Word]) -> int:
    """Return on how many of ``words`` hidden units or outputs differ in a bit from the rounded network's."""
    different, rounded = 0, Rounded(model)
    for some, symbols in _batches(model, words):
        state = rounded.initial_state(len(some))
        soft, whole = model.run(symbols, model.initial_state(len(some))), rounded.run(symbols, state)
        parts = ((soft.output, whole.output), (soft.hidden, whole.hidden))[: 1 if model.extra_steps else 2]
        unequal = torch.stack([(one != other).any(-1) for one, other in parts]).any(0)
        for t, now in enumerate(symbols):  # nothing is claimed from where a word is rejected
            state = rounded.step(now.clamp(min=0), state).state
            unequal[t] &= (now >= 0) & ~state.rejected
        different += int(unequal.any(0).sum())
    return different


def _batches(model: StackModel[Any], words: Sequence[Word]) -> Iterator[tuple[list[Word], Tensor]]:
    """Yield ``words`` of like lengths with the numbers of their symbols, (T, B), -1 beyond their ends."""
    ended = () if model.end is None else (model.end,)
    ordered = sorted(words, key=len)
    for first in range(0, len(ordered), _AT_ONCE):
        some = ordered[first : first + _AT_ONCE]
        codes, _ = encode_words([(*word, *ended) for word in some], model.letters)
        yield some, torch.from_numpy(codes.T.astype(np.int64))


# ---- What a network of one's own says after a symbol, whatever form it has, as the numbers that stacklens compares.

Activation = Literal["sigmoid", "softmax"]
_OFF = 1e-3  # by which probabilities of a trial may miss their sum
_SPREAD = 0.5  # of what is taken for probabilities of a sigmoid: small logits lie from 0 to 1 as well
_SHARE = re.compile(r"(\d+(?:\.\d*)?|\.\d+) ?%")
_TOP = re.compile(r"top ?(\d+)")


@dataclass(frozen=True)
class Outputs:
    """How outputs are read. Raises StacklensError: there is no such kind or activation, or the threshold is none."""

    kind: TaskKind  # what they say
    alphabet: tuple[str, ...]  # what they are made of
    activation: Activation | None = None  # what makes probabilities of them; None where they are probabilities
    threshold: float | str = 0.5  # what a probability has to exceed; of sets also "5%" of the largest, or "top 2"
    # of a language model: for each number of columns that its outputs may have, which of them are of ``alphabet``;
    # empty where all are
    columns: tuple[tuple[int, tuple[int, ...]], ...] = ()
    unread: bool = False  # whether they are left as they come, for a trial

    def __post_init__(self) -> None:
        if self.kind not in get_args(TaskKind):
            raise StacklensError(f"outputs is {self.kind!r:.50}; expected one of {', '.join(get_args(TaskKind))}")
        if self.activation is not None and self.activation not in get_args(Activation):
            raise StacklensError(
                f"activation is {self.activation!r:.50}; expected sigmoid or softmax, or None where outputs are "
                "probabilities"
            )
        if isinstance(self.threshold, str):
            with suppress(ValueError):
                object.__setattr__(self, "threshold", float(self.threshold))
        found, of_sets = self.threshold, self.kind == "next set"
        share, top = (of_sets and isinstance(found, str) and one.fullmatch(found) for one in (_SHARE, _TOP))
        fits = 0 < float(share[1]) < 100 if share else bool(top) and 0 < int(top[1]) < self.size if top else False
        if isinstance(found, Real) and not isinstance(found, bool):
            object.__setattr__(self, "threshold", float(found))
            fits = 0 <= found < 1
        if not fits:
            sets = f', a share of the largest as "5%", or "top 1" to "top {self.size - 1}"' if of_sets else ""
            raise StacklensError(f"threshold is {found!r:.50}; expected a probability from 0 to below 1{sets}")

    @property
    def size(self) -> int:
        """Return how many numbers an output has."""
        return 1 if self.kind == "recognition" else len(self.alphabet)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many numbers a network may give: a recogniser two as well, of which the second one counts."""
        if self.columns:
            return tuple(width for width, _ in self.columns)
        return (1, 2) if self.kind == "recognition" else (len(self.alphabet),)

    def read(self, output: Any, batch: int) -> Tensor:
        """Return ``output`` (B,) or (B, O) as (B, O), above 0.5 where a probability is above the threshold. Of a
        recogniser with two numbers the second one is the probability to accept.
        """
        if not isinstance(output, Tensor):
            raise StacklensError(f"the output is a {type(output).__name__} and no tensor")
        values = output.unsqueeze(-1) if output.dim() == 1 else output
        if values.dim() != 2 or len(values) != batch or values.shape[-1] not in self.sizes:
            each = "token; output_alphabet=… names other columns" if self.columns else "of the output symbols"
            sizes = f"{' or '.join(map(str, self.sizes))}, one for each {each}"
            if self.kind == "recognition":
                sizes = "1 or 2 numbers"
            raise StacklensError(f"the output is of shape {tuple(output.shape)}; expected (words {batch}, {sizes})")
        if not values.is_floating_point() or values.dtype == torch.bfloat16:
            values = values.to(torch.get_default_dtype())
        return values if self.unread else self.placed(self.probabilities(values))

    def placed(self, values: Tensor) -> Tensor:
        """Return probabilities ``values`` (..., O) of the alphabet, above 0.5 where they are above the threshold."""
        if self.columns:
            values = values[..., list(dict(self.columns)[values.shape[-1]])]
        made = values[..., -self.size :]
        if self.kind not in ("recognition", "next set") or self.threshold == 0.5:
            return made
        # half a step of the number format keeps what is above the threshold above 0.5
        tiny = torch.finfo(made.dtype).tiny
        if not isinstance(self.threshold, str):
            scores = made
        elif "%" in self.threshold:  # shares of the largest
            scores = made / made.amax(-1, keepdim=True).clamp(min=tiny)
        else:  # beside the last that counts: 0.5 stands for the middle between it and the next one
            largest = made.topk(int(self.threshold.removeprefix("top")) + 1, -1).values
            scores = made / (made + largest[..., -2:].mean(-1, keepdim=True).clamp(min=tiny))
        over = scores - self.cut
        return torch.where(over > 0, (over + 0.5).clamp(min=0.5 + torch.finfo(made.dtype).eps / 2), over + 0.5)

    @property
    def cut(self) -> float:
        """Return what scores have to exceed: a probability, a share of the largest, or of "top" one half."""
        if not isinstance(self.threshold, str):
            return self.threshold
        return float(self.threshold.rstrip("% ")) / 100 if "%" in self.threshold else 0.5

    def probabilities(self, values: Tensor) -> Tensor:
        """Return ``values`` (..., O) after the activation."""
        if self.activation == "sigmoid":
            return torch.sigmoid(values)
        return torch.softmax(values, -1) if self.activation == "softmax" else values


def settled(
    outputs: Outputs, raw: Tensor, *, activation: str | None, threshold: float | str | None, ends: bool
) -> Outputs:
    """Return how ``outputs`` are read that are ``raw`` (N, O) in a trial; what is given is not looked for."""
    raw = raw.double()
    seen = f"outputs lie between {raw.min():.3g} and {raw.max():.3g} in a trial"
    inside = bool(((raw >= -_OFF) & (raw <= 1 + _OFF)).all())
    shares = inside and bool(((raw.sum(-1) - 1).abs() < _OFF).all())
    logarithms = bool((raw.logsumexp(-1).abs() < _OFF).all())
    found: Any = outputs.activation
    if activation is None and not inside:
        if not ends and not logarithms:
            raise StacklensError(
                f'{seen}: logits; give activation="softmax" for a language model, or "sigmoid" where several '
                "symbols may be likely at once"
            )
        found = "softmax"
    elif activation is None and not shares and raw.max() - raw.min() < _SPREAD:
        raise StacklensError(
            f'{seen}, as small logits and probabilities do; give activation="softmax" or "sigmoid" for logits, "none" '
            "for probabilities"
        )
    if threshold is None:
        threshold = default_threshold(len(outputs.alphabet) - ends) if shares or found == "softmax" else 0.5
    return replace(outputs, activation=found, threshold=threshold)


def predicted(outputs: Outputs, before: Tensor, alphabet: tuple[str, ...]) -> tuple[str, ...]:
    """Return the symbols of ``alphabet`` that a network predicts, given its ``outputs`` (1, O), unread."""
    values = outputs.read(before, 1)[0].tolist()
    if found := tuple(symbol for symbol, value in zip(alphabet, values, strict=False) if value > 0.5):
        return found
    likeliest = replace(outputs, threshold=0.5).read(before, 1)[0, : len(alphabet)].max()
    raise StacklensError(
        f"no symbol may begin a word where its probability has to be above {outputs.threshold}: the likeliest has "
        f"{likeliest:.3g}; are the tokens in the network's order? else give a lower threshold, or first=…"
    )


def default_threshold(symbols: int) -> float:
    """Return a fifth of the probability that each of so many ``symbols`` and the end have if all have as much.

    >>> round(default_threshold(4), 3)
    0.04
    """
    return 1 / (5 * (symbols + 1))
