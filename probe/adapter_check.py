"""`check`: a network of one's own held against its own forward pass, step by step; the first thing that is off, named.

First what can be seen from the adapter alone: shares, strengths and probabilities that are none, stacks that do not
give back what was laid on them, words of a batch that reach into each other. Then the outputs on words, and where these
differ, known mistakes are tried one by one: the one with which nothing differs any more is the likely cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice, permutations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..automata.pda import Word
from ..core.errors import StacklensError
from ..languages.words import format_word
from ..models.base import ControllerOutput, NetworkState, StackModel
from ..models.rounding import Wrapper
from ..models.stacks.superposition import SuperpositionStack
from ..models.step_network import Outputs
from ..models.user_code import guarded, take_out
from .adapter_contract import CONTRACT, Finding, outputs_read
from .trace import trace

# ---- A network as it would be without a mistake that adapters often make: one variant a mistake, to be tried in turn.

_MOST_ORDERS = 200  # of an alphabet
_LIMITS = (None, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 100)
_EMPTY_VALUES = (0.0, -1.0, 1.0, 0.5)
_Outputs = Callable[[StackModel[Any], Sequence[Word]], list[np.ndarray]]


@dataclass(frozen=True)
class Variant:
    """A network with one thing changed.

    Attributes:
        cause: the mistake, in a word or two.
        change: what was changed, to go on after "with".
        model: the network so changed.
        order: for another order of the alphabet, the place of each symbol in it; None where that is not changed.
        shift: by how many steps outputs come later.
    """

    cause: str
    change: str
    model: StackModel[Any]
    order: tuple[int, ...] | None = None
    shift: int = 0

    def outputs(self, words: Sequence[Word], of: _Outputs) -> list[np.ndarray]:
        """Return its outputs on ``words``, given how they are found ``of`` a network."""
        found = of(self.model, [self.spelled(word) for word in words])
        if self.shift:
            found = [np.roll(output, self.shift, 0) for output in found]
        return found

    def spelled(self, word: Word) -> Word:
        """Return ``word`` in the symbols by which the network of this variant reads it."""
        if self.order is None:
            return word
        alphabet = self.model.alphabet
        spelled = [alphabet[self.order[alphabet.index(symbol)]] for symbol in word]
        return "".join(spelled) if isinstance(word, str) else spelled


class _Reordered(Wrapper[Any]):
    """A network whose actions are taken in another order."""

    name = "reordered"

    def __init__(self, model: StackModel[Any], order: Sequence[int]) -> None:
        super().__init__(model)
        self.order = list(order)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = self.model.controller(symbols, hidden, reading)
        changed = replace(answer, actions=answer.actions[..., self.order])
        return self.model.finish(changed, reading)


class _WithStack(Wrapper[Any]):
    """A network on other superposition stacks."""

    name = "on other stacks"

    def __init__(self, model: StackModel[Any], changed: dict[str, Any]) -> None:
        super().__init__(model)
        self.changed = changed

    def initial_state(self, batch: int) -> NetworkState[Any]:
        state = self.model.initial_state(batch)
        return replace(state, stack=replace(state.stack, **self.changed))


class _Negated(Wrapper[Any]):
    """A network whose signed action is turned round."""

    name = "turned round"

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = self.model.controller(symbols, hidden, reading)
        return replace(answer, actions=-answer.actions)


def variants(model: StackModel[Any]) -> Iterator[Variant]:
    """Yield variants of ``model``, those of the commonest mistakes first."""
    yield from _operations(model)
    yield from _alphabets(model)
    yield from _stacks(model)
    for shift in (1, -1):
        when = "later" if shift > 0 else "earlier"
        yield Variant("outputs a step off", f"outputs one step {when} but for the ends of words", model, shift=shift)


def _operations(model: StackModel[Any]) -> Iterator[Variant]:
    if model.action_kind == "signed":
        yield Variant("swapped operations", "push below 0 and pop above", _Negated(model))
    names = ("pop", "push") if model.action_kind == "strengths" else model.operations
    if model.action_kind not in ("softmax", "strengths"):
        return
    identity = tuple(range(len(names)))
    own = getattr(getattr(model, "choice", None), "order", identity)
    for order in permutations(identity):
        if order != identity:
            said = [""] * len(names)
            for place, taken in zip(identity, order, strict=True):
                said[own[taken]] = names[place]
            yield Variant("swapped operations", f"actions=({', '.join(said)})", _Reordered(model, order))


def _alphabets(model: StackModel[Any]) -> Iterator[Variant]:
    """Yield other orders of the alphabet: all of a small one, two symbols exchanged of a large one."""
    size = len(model.alphabet)
    identity = tuple(range(size))
    swapped = (_swapped(identity, *pair) for pair in combinations(identity, 2))
    orders = permutations(identity) if size <= 5 else swapped
    for order in islice(orders, _MOST_ORDERS):
        if order != identity:
            named = [""] * size
            for place, taken in enumerate(order):
                named[taken] = model.alphabet[place]
            yield Variant("alphabet order", f"the alphabet {' '.join(named)}", model, order)


def _swapped(order: tuple[int, ...], one: int, other: int) -> tuple[int, ...]:
    changed = list(order)
    changed[one], changed[other] = changed[other], changed[one]
    return tuple(changed)


def _stacks(model: StackModel[Any]) -> Iterator[Variant]:
    stack = model.initial_state(1).stack
    if not isinstance(stack, SuperpositionStack):
        return
    for value in _EMPTY_VALUES:
        if value != stack.empty_value:
            changed = _WithStack(model, {"empty_value": value})
            yield Variant("what an empty cell holds", f"empty_value={value:g}", changed)
    for limit in _LIMITS:
        if limit != stack.limit and (limit is None or limit >= stack.depth):
            changed = _WithStack(model, {"limit": limit})
            yield Variant("how many cells there are", f"limit={limit}", changed)


# ---- `check` ----

_TOLERANCE = 1e-4  # of outputs, which are about 1 at most
_SPREAD = 0.5  # of what is taken for probabilities: logits of a network that learned little lie from 0 to 1 as well
_MOST_STEPS = 2_000  # of all words together: further ones are left out
Forward = Callable[[Any], Any]


@dataclass(frozen=True)
class Check:
    """What came of a check.

    Attributes:
        network: what the network is called.
        words, steps: how many were compared.
        largest: by how much outputs differ at most; None where nothing could be compared.
        finding: the first thing that is off, None where nothing is.
    """

    network: str
    words: int
    steps: int
    largest: float | None
    finding: Finding | None = None

    @property
    def ok(self) -> bool:
        """Return whether nothing is off."""
        return self.finding is None

    @property
    def cause(self) -> str | None:
        """Return the likely cause in a word or two, None where nothing is off."""
        return None if self.finding is None else self.finding.cause

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        """Return the outcome in a sentence or two."""
        if self.finding is not None:
            return f"{self.network}: {self.finding}"
        return (
            f"{self.network}: nothing is off; in {self.words:,} words, {self.steps:,} steps, its outputs and those of "
            f"its own forward pass differ by at most {self.largest or 0:.0e}"
        )

    __repr__ = __str__


@torch.no_grad()
def check(network: StackModel[Any], forward: Forward, words: Sequence[Word]) -> Check:
    """Return whether ``network`` does what its own forward pass does, or the first thing that is off.

    Args:
        network: what `wrap` returned, or any adapter.
        forward: from one word to its outputs: after every symbol, (1, T, O) or (T, O), or after the last only, (1, O).
            It is given the word as it is, or, where it does not take that, as the network reads it, (1, T) numbers or
            (1, T, n) one-hot, in the order of the adapter's alphabet, which is not checked then.
        words: some words of several lengths, the longer the better.

    Raises:
        StacklensError: ``network`` is none of ours, there are no words, or ``forward`` takes none of these forms; one
            line.
    """
    if not isinstance(network, StackModel):
        raise StacklensError(
            f"expected a network that sl.wrap or an adapter made, not one of type {type(network).__name__}; the module "
            "itself is the second argument, as forward"
        )
    kept = _kept(words, network)
    for look in CONTRACT:
        if (found := guarded(partial(look, network, kept), f"the adapter {network.name}", {})) is not None:
            return Check(network.name, len(kept), 0, None, found)
    theirs = _Theirs(forward, network)
    try:
        unread = [theirs.outputs(word) for word in kept]
    except _OtherShapeError as other:
        return Check(network.name, len(kept), 0, None, Finding("a missing axis", str(other)))
    ours, read = _outputs_of(network, kept), outputs_read(network)
    expected = [_read(one, read) for one in unread]
    apart = _apart(ours, expected)
    if apart.worst > _TOLERANCE:  # what forward returns may have been through the activation already
        apart = min(apart, _apart(ours, [_shifted(one, read) for one in unread]), key=lambda found: found.worst)
    elif (twice := _twice(unread, read)) is not None:
        return Check(network.name, len(kept), 0, apart.worst, twice)
    steps = sum(map(len, kept))
    found = None if apart.worst <= _TOLERANCE else _explained(network, kept, expected, unread, _apart(ours, expected))
    return Check(network.name, len(kept), steps, apart.worst, found)


def _read(values: Tensor, read: Outputs | None) -> np.ndarray:
    return _shifted(values if read is None else read.probabilities(values), read)


def _shifted(values: Tensor, read: Outputs | None) -> np.ndarray:
    """Return probabilities as they are compared: above 0.5 where they are above the threshold."""
    moved = read is not None and read.kind in ("recognition", "next set")
    made: np.ndarray = (values - read.threshold + 0.5 if moved and read is not None else values).numpy()
    return made


def _twice(unread: list[Tensor], read: Outputs | None) -> Finding | None:
    """Return that the activation is taken of what are probabilities already, None where they are none."""
    if read is None or read.activation is None:
        return None
    values = torch.cat([one.reshape(-1, one.shape[-1]) for one in unread])
    shares = bool(((values.sum(-1) - 1).abs() < _TOLERANCE).all())
    sure = shares if read.activation == "softmax" else bool(values.max() - values.min() > _SPREAD)
    if bool((values < 0).any() or (values > 1).any()) or not sure:
        return None
    made = read.probabilities(values)
    return Finding(
        "probabilities",
        f"its own outputs are probabilities already, from {values.min():.3g} to {values.max():.3g}, of which "
        f'activation="{read.activation}" makes {made.min():.3g} to {made.max():.3g}: leave activation out of wrap',
    )


@dataclass(frozen=True)
class _Apart:
    """Where outputs differ: by how much at most, and the first word and step."""

    worst: float
    word: int = 0
    step: int = 0
    ours: tuple[float, ...] = ()
    theirs: tuple[float, ...] = ()


def _apart(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> _Apart:
    """Return where lists of outputs (T, O) differ; theirs may be of the last step only, (1, O)."""
    worst, first = 0.0, None
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        off = abs(mine[len(mine) - len(other) :] - other).max(-1)
        off = np.where(np.isnan(off), np.inf, off)
        worst = max(worst, float(off.max(initial=0)))
        if first is None and (off > _TOLERANCE).any():
            step = int(np.argmax(off > _TOLERANCE))
            place = step + len(mine) - len(other)
            first = (number, place, tuple(mine[place].tolist()), tuple(other[step].tolist()))
    return _Apart(worst) if first is None else _Apart(worst, *first)


def _explained(
    network: StackModel[Any], words: list[Word], expected: list[np.ndarray], unread: list[Tensor], apart: _Apart
) -> Finding:
    """Return the first difference, and the known mistake that explains all of them, if one does."""
    where = f"the outputs part at symbol {apart.step + 1} of {format_word(words[apart.word])}"
    said = f"{where}: {_numbers(apart.ours)}, its own forward pass says {_numbers(apart.theirs)}"
    place: dict[str, Any] = {"word": words[apart.word], "step": apart.step}
    read = outputs_read(network)
    for cause, name, made in _readings(unread, None if read is None else read.activation):
        if _apart(_outputs_of(network, words), [_shifted(one, read) for one in made]).worst <= _TOLERANCE:
            return Finding(cause, f"{said}; {name}", **place)
    for variant in variants(network):
        try:
            ours = variant.outputs(words, lambda model, some: _outputs_of(model, list(some)))
        except StacklensError:
            continue
        if _apart(ours, expected).worst <= _TOLERANCE:
            return Finding(variant.cause, f"{said}; with {variant.change} nothing differs", **place)
    return Finding("unknown", f"{said}; no known mistake explains it: {_hint(network, apart)}", **place)


def _readings(unread: list[Tensor], activation: str | None) -> Iterator[tuple[str, str, list[Tensor]]]:
    """Yield cause, what is said, and the outputs to expect, if outputs are logits here and probabilities there."""
    for name, made in (("sigmoid", torch.sigmoid), ("softmax", partial(torch.softmax, dim=-1))):
        once = [made(one) for one in unread]
        yield "logits", f"its own are logits, of which the {name} is taken here", once
        if activation == name:
            twice = f"the {name} is taken twice, by the network and by wrap: leave activation out of wrap"
            yield "probabilities", twice, [made(one) for one in once]
    if all(((one >= 0) & (one <= 1)).all() for one in unread):
        advice = 'logits where probabilities are meant: give wrap activation="sigmoid"'
        yield "logits", advice, [torch.logit(one) for one in unread]


def _hint(network: StackModel[Any], apart: _Apart) -> str:
    if apart.step == 0:
        return "it is there at the first symbol, so it is the encoding, the hidden state at the start or the output"
    if network.n_stacks:
        return (
            "the first symbol is right, so it is the stack (its limit, its empty value, when it is read) or the state"
        )
    return "the first symbol is right, so it is the hidden state that is handed on"


def _numbers(values: tuple[float, ...]) -> str:
    return f"({', '.join(f'{value:.4g}' for value in values[:6])}{', …' if len(values) > 6 else ''})"


def _kept(words: Sequence[Word], network: StackModel[Any]) -> list[Word]:
    if not isinstance(words, Iterable):
        raise StacklensError(f"expected a list of words, not one of type {type(words).__name__}")
    kept: list[Word] = []
    for word in words:
        if len(word) and sum(map(len, kept)) + len(word) <= _MOST_STEPS:
            kept.append(word)
    if not kept:
        raise StacklensError(f"give some words of one symbol or more over {' '.join(network.alphabet)} to compare on")
    return kept


def _outputs_of(network: StackModel[Any], words: Sequence[Word]) -> list[np.ndarray]:
    """Return the outputs after the symbols of each word, (T, O); an end symbol's are left out."""
    seen = trace(network, list(words), stacks=False)
    return [seen.output[row, : len(word)].astype(np.float64) for row, word in enumerate(words)]


class _OtherShapeError(StacklensError):
    """Outputs of a shape that says nothing of steps."""


class _Theirs:
    """The forward pass of a network's author, and the form of words that it takes."""

    def __init__(self, forward: Forward, network: StackModel[Any]) -> None:
        self.forward, self.network = forward, network
        self.form: Callable[[Word], Any] | None = None

    def outputs(self, word: Word) -> Tensor:
        """Return its outputs as it gives them, (T, O), or (1, O) after the last symbol only."""
        size = self._size()
        values = self._said(word)
        if values.numel() == len(word) * size:
            return values.double().reshape(len(word), size)
        if values.numel() == size:
            return values.double().reshape(1, size)
        raise _OtherShapeError(
            f"forward gives a word of {len(word)} symbols outputs of shape {tuple(values.shape)}; expected "
            f"(1, {len(word)}, {size}), or (1, {size}) after the last symbol"
        )

    def _size(self) -> int:
        return 1 if self.network.task_kind == "recognition" else len(self.network.output_alphabet)

    def _said(self, word: Word) -> Tensor:
        if self.form is None:
            self.form = self._found(word)
        said = guarded(self.forward, "forward(word)", {"word": self.form(word)})
        while isinstance(said, tuple | list) and said:
            said = said[0]
        if not isinstance(said, Tensor):
            raise take_out("forward(word)", said, (self._size(),))
        return said.detach().cpu()

    def _found(self, word: Word) -> Callable[[Word], Any]:
        """Return the first form of words that the forward pass takes.

        Raises:
            StacklensError: it takes none.
        """
        problem: StacklensError | None = None
        for form in self._forms():
            try:
                guarded(self.forward, "forward(word)", {"word": form(word)})
                return form
            except StacklensError as error:
                problem = problem or error
        assert problem is not None
        raise problem

    def _forms(self) -> list[Callable[[Word], Any]]:
        alphabet, like = self.network.alphabet, self.network.initial_state(1).hidden
        places = {symbol: number for number, symbol in enumerate(alphabet)}

        def index(word: Word) -> Tensor:
            return torch.tensor([[places[symbol] for symbol in word]])

        def one_hot(word: Word) -> Tensor:
            return torch.nn.functional.one_hot(index(word), self.network.n_symbols).to(like.dtype)

        read = getattr(getattr(self.network, "shape", self.network), "symbols", "index")
        first = [one_hot, index] if read == "one-hot" else [index, one_hot]
        return [lambda word: word, *first]
