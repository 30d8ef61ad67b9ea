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
from ..models.stacks.cells import SuperpositionStack
from ..models.step_network import Outputs, StepNetwork, guarded, take_out
from ..models.word_network import WordNetwork
from .trace import Trace, trace

_TOLERANCE = 1e-4  # of outputs, which are about 1 at most
_SPREAD = 0.5  # of what is taken for probabilities: logits of a network that learned little lie from 0 to 1 as well
_MOST_STEPS = 2_000  # of all words together: further ones are left out
Forward = Callable[[Any], Any]


@dataclass(frozen=True)
class AdapterFinding:
    """Something that is off.

    Attributes:
        cause: what it most likely is, in a word or two.
        says: what was seen, and what to do.
        word, step: where, if it was on a word.
    """

    cause: str
    says: str
    word: Word | None = None
    step: int | None = None

    def __str__(self) -> str:
        return f"{self.cause}: {self.says}"


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
    finding: AdapterFinding | None = None

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
    kept = _words_to_compare(words, network)
    # what an adapter owes, with whatever it is compared
    whose = f"the adapter {network.name}"
    seen: Trace = guarded(partial(trace, network, kept, stacks=False), whose, {})
    for look in CONTRACT:
        if (found := guarded(partial(look, network, seen), whose, {})) is not None:
            return Check(network.name, len(kept), 0, None, found)
    theirs = _ForwardPass(forward, network)
    try:
        unread = [theirs.outputs(word) for word in kept]
    except _OtherShapeError as other:
        return Check(network.name, len(kept), 0, None, AdapterFinding("a missing axis", str(other)))
    ours, read = _outputs_of(network, kept), outputs_read(network)
    expected = [_around_half(one if read is None else read.probabilities(one), read) for one in unread]
    apart = _first_difference(ours, expected)
    if apart.worst <= _TOLERANCE and (twice := _activated_twice(unread, read)) is not None:
        return Check(network.name, len(kept), 0, apart.worst, twice)
    # what forward returns may have been through the activation already
    worst = (
        apart.worst
        if apart.worst <= _TOLERANCE
        else min(apart.worst, _first_difference(ours, [_around_half(one, read) for one in unread]).worst)
    )
    found = None if worst <= _TOLERANCE else _likely_mistake(network, kept, ours, expected, unread)
    return Check(network.name, len(kept), sum(map(len, kept)), worst, found)


def _words_to_compare(words: Sequence[Word], network: StackModel[Any]) -> list[Word]:
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


def outputs_read(network: StackModel[Any]) -> Outputs | None:
    """Return how the outputs of a network of one's own are read, None for any other network."""
    if isinstance(network, WordNetwork):
        return network.outputs
    return network.shape.outputs if isinstance(network, StepNetwork) else None


def _around_half(values: Tensor, read: Outputs | None) -> np.ndarray:
    """Return probabilities as they are compared: above 0.5 where they are above the threshold."""
    moved = read is not None and read.kind in ("recognition", "next set")
    made: np.ndarray = (values - read.threshold + 0.5 if moved and read is not None else values).numpy()
    return made


def _activated_twice(unread: list[Tensor], read: Outputs | None) -> AdapterFinding | None:
    """Return that the activation is taken of what are probabilities already, None where they are none."""
    if read is None or read.activation is None:
        return None
    values = torch.cat([one.reshape(-1, one.shape[-1]) for one in unread])
    shares = bool(((values.sum(-1) - 1).abs() < _TOLERANCE).all())
    sure = shares if read.activation == "softmax" else bool(values.max() - values.min() > _SPREAD)
    if bool((values < 0).any() or (values > 1).any()) or not sure:
        return None
    made = read.probabilities(values)
    return AdapterFinding(
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


def _first_difference(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> _Apart:
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


def _likely_mistake(
    network: StackModel[Any],
    words: list[Word],
    ours: list[np.ndarray],
    expected: list[np.ndarray],
    unread: list[Tensor],
) -> AdapterFinding:
    """Return the first difference, and the known mistake that explains all of them, if one does."""
    apart, read = _first_difference(ours, expected), outputs_read(network)
    where = f"the outputs part at symbol {apart.step + 1} of {format_word(words[apart.word])}"
    seen = f"{where}: {_shown_numbers(apart.ours)}, its own forward pass says {_shown_numbers(apart.theirs)}"
    found = partial(AdapterFinding, word=words[apart.word], step=apart.step)
    for cause, name, made in _readings(unread, None if read is None else read.activation):
        if _first_difference(ours, [_around_half(one, read) for one in made]).worst <= _TOLERANCE:
            return found(cause, f"{seen}; {name}")
    for variant in variants(network):
        try:
            others = _outputs_of(variant.model, [variant.spelled(word) for word in words])
        except StacklensError:
            continue
        if _first_difference([np.roll(output, variant.shift, 0) for output in others], expected).worst <= _TOLERANCE:
            return found(variant.cause, f"{seen}; with {variant.change} nothing differs")
    if apart.step == 0:
        hint = "it is there at the first symbol, so it is the encoding, the hidden state at the start or the output"
    elif network.n_stacks:
        hint = (
            "the first symbol is right, so it is the stack (its limit, its empty value, when it is read) or the state"
        )
    else:
        hint = "the first symbol is right, so it is the hidden state that is handed on"
    return found("unknown", f"{seen}; no known mistake explains it: {hint}")


def _readings(unread: list[Tensor], activation: str | None) -> Iterator[tuple[str, str, list[Tensor]]]:
    """Yield the cause, a sentence, and the outputs to expect, if outputs are logits here and probabilities there."""
    for name, made in (("sigmoid", torch.sigmoid), ("softmax", partial(torch.softmax, dim=-1))):
        once = [made(one) for one in unread]
        yield "logits", f"its own are logits, of which the {name} is taken here", once
        if activation == name:
            twice = f"the {name} is taken twice, by the network and by wrap: leave activation out of wrap"
            yield "probabilities", twice, [made(one) for one in once]
    if all(((one >= 0) & (one <= 1)).all() for one in unread):
        advice = 'logits where probabilities are meant: give wrap activation="sigmoid"'
        yield "logits", advice, [torch.logit(one) for one in unread]


def _shown_numbers(values: Sequence[float]) -> str:
    return f"({', '.join(f'{value:.4g}' for value in values[:6])}{', …' if len(values) > 6 else ''})"


class _OtherShapeError(StacklensError):
    """Outputs of a shape that says nothing of steps."""


class _ForwardPass:
    """The forward pass of a network's author, and the form of words that it takes."""

    def __init__(self, forward: Forward, network: StackModel[Any]) -> None:
        self.forward, self.network = forward, network
        self.size = 1 if network.task_kind == "recognition" else len(network.output_alphabet)
        self.form: Callable[[Word], Any] | None = None

    def outputs(self, word: Word) -> Tensor:
        """Return its outputs as it gives them, (T, O), or (1, O) after the last symbol only."""
        if self.form is None:
            self.form = self._form_taken(word)
        made = self._called(self.form(word))
        while isinstance(made, tuple | list) and made:
            made = made[0]
        if not isinstance(made, Tensor):
            raise take_out("forward(word)", made, (self.size,))
        if made.numel() not in (len(word) * self.size, self.size):
            raise _OtherShapeError(
                f"forward gives a word of {len(word)} symbols outputs of shape {tuple(made.shape)}; expected "
                f"(1, {len(word)}, {self.size}), or (1, {self.size}) after the last symbol"
            )
        return made.detach().cpu().double().reshape(-1, self.size)

    def _called(self, word: Any) -> Any:
        return guarded(self.forward, "forward(word)", {"word": word})

    def _form_taken(self, word: Word) -> Callable[[Word], Any]:
        """Return the first form of words that the forward pass takes.

        Raises:
            StacklensError: it takes none.
        """
        network, places = self.network, {symbol: number for number, symbol in enumerate(self.network.alphabet)}
        dtype = network.initial_state(1).hidden.dtype

        def index(word: Word) -> Tensor:
            return torch.tensor([[places[symbol] for symbol in word]])

        def one_hot(word: Word) -> Tensor:
            return torch.nn.functional.one_hot(index(word), network.n_symbols).to(dtype)

        read = getattr(getattr(network, "shape", network), "symbols", "index")
        problems: list[StacklensError] = []
        for form in (lambda word: word, *((one_hot, index) if read == "one-hot" else (index, one_hot))):
            try:
                self._called(form(word))
                return form
            except StacklensError as error:
                problems.append(error)
        raise problems[0]


# ---- A network as it would be without a mistake that adapters often make: one variant a mistake, to be tried in turn.

_MOST_ORDERS = 60  # of an alphabet
_LIMITS = (None, 2, 5, 10, 20, 50, 100)
_EMPTY_VALUES = (0.0, -1.0, 1.0, 0.5)


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

    def spelled(self, word: Word) -> Word:
        """Return ``word`` in the symbols by which the network of this variant reads it."""
        if self.order is None:
            return word
        alphabet = self.model.alphabet
        spelled = [alphabet[self.order[alphabet.index(symbol)]] for symbol in word]
        return "".join(spelled) if isinstance(word, str) else spelled


class _Changed(Wrapper[Any]):
    """A network whose actions are taken by ``actions`` of them, on stacks that begin with other ``stack`` settings."""

    name = "changed"

    def __init__(
        self, model: StackModel[Any], actions: Callable[[Tensor], Tensor] = lambda own: own, **stack: Any
    ) -> None:
        super().__init__(model)
        self.actions, self.stack = actions, stack

    def initial_state(self, batch: int) -> NetworkState[Any]:
        state = self.model.initial_state(batch)
        return replace(state, stack=replace(state.stack, **self.stack)) if self.stack else state

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = self.model.controller(symbols, hidden, reading)
        return self.model.finish(replace(answer, actions=self.actions(answer.actions)), reading)


def variants(model: StackModel[Any]) -> Iterator[Variant]:
    """Yield variants of ``model``, those of the commonest mistakes first."""
    yield from _other_operations(model)
    yield from _other_alphabets(model)
    stack = model.initial_state(1).stack
    if isinstance(stack, SuperpositionStack):
        for value in _EMPTY_VALUES:
            if value != stack.empty_value:
                yield Variant("what an empty cell holds", f"empty_value={value:g}", _Changed(model, empty_value=value))
        for limit in _LIMITS:
            if limit != stack.limit and (limit is None or limit >= stack.depth):
                yield Variant("how many cells there are", f"limit={limit}", _Changed(model, limit=limit))
    for shift, when in ((1, "later"), (-1, "earlier")):
        yield Variant("outputs a step off", f"outputs one step {when} but for the ends of words", model, shift=shift)


def _other_operations(model: StackModel[Any]) -> Iterator[Variant]:
    if model.action_kind == "signed":
        turned = _Changed(model, lambda actions: -actions)
        yield Variant("swapped operations", "push below 0 and pop above", turned)
    if model.action_kind not in ("softmax", "strengths"):
        return
    names = ("pop", "push") if model.action_kind == "strengths" else model.operations
    identity = tuple(range(len(names)))
    own = getattr(getattr(model, "choice", None), "order", identity)
    for order in permutations(identity):
        if order != identity:
            given = dict(zip((own[taken] for taken in order), names, strict=True))
            shown = ", ".join(given[place] for place in identity)
            changed = _Changed(model, lambda actions, order=list(order): actions[..., order])  # type: ignore[misc]
            yield Variant("swapped operations", f"actions=({shown})", changed)


def _other_alphabets(model: StackModel[Any]) -> Iterator[Variant]:
    """Yield other orders of the alphabet: all of a small one; else sorted, reversed, and with two symbols exchanged."""
    alphabet, identity = model.alphabet, tuple(range(len(model.alphabet)))
    orders = list(permutations(identity)) if len(identity) <= 4 else _likely_orders(alphabet)
    for order in islice(orders, _MOST_ORDERS):
        if order != identity:
            named = dict(zip(order, alphabet, strict=True))
            shown = " ".join(named[place] for place in identity)
            yield Variant("alphabet order", f"the alphabet {shown}", model, order)


def _likely_orders(alphabet: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the place of each symbol in a sorted alphabet, in a reversed one, and with two symbols exchanged."""
    yield tuple(sorted(alphabet).index(symbol) for symbol in alphabet)
    yield tuple(reversed(range(len(alphabet))))
    for one, other in combinations(range(len(alphabet)), 2):
        changed = list(range(len(alphabet)))
        changed[one], changed[other] = other, one
        yield tuple(changed)


# ---- What an adapter owes: shares, probabilities, stacks that give back what they hold.


def shares(network: StackModel[Any], seen: Trace) -> AdapterFinding | None:
    """Return where actions are no shares, strengths or signed actions."""
    if network.action_kind == "none":
        return None
    actions = seen.actions
    sums = actions.sum(-1)
    if network.action_kind == "softmax":
        outside = (actions < -_TOLERANCE) | (actions > 1 + _TOLERANCE)
        if (place := _first_place(outside.any((2, 3)), seen)) is not None:
            return _at_place("logits", seen, place, actions, "no shares from 0 to 1, but logits: take their softmax")
        if (place := _first_place((abs(sums - 1) > _TOLERANCE).any(2), seen)) is not None:
            total = float(sums[place].flat[0])
            return _at_place("shares", seen, place, actions, f"shares that sum to {total:.4g} and not to 1")
        return None
    low = -1 if network.action_kind == "signed" else 0
    if (place := _first_place(((actions < low - _TOLERANCE) | (actions > 1 + _TOLERANCE)).any((2, 3)), seen)) is None:
        return None
    made = "tanh" if low else "sigmoid"
    return _at_place("logits", seen, place, actions, f"outside [{low}, 1]: logits, of which the {made} is to be taken")


def outputs(network: StackModel[Any], seen: Trace) -> AdapterFinding | None:
    """Return where outputs that should be probabilities are none."""
    if network.task_kind not in ("recognition", "next set"):
        return None
    shift = 0.5 - getattr(outputs_read(network), "threshold", 0.5)  # outputs are moved so that 0.5 decides
    outside = (seen.output - shift < -_TOLERANCE) | (seen.output - shift > 1 + _TOLERANCE)
    if (place := _first_place(outside.any(2), seen)) is None:
        return None
    return _at_place(
        "logits", seen, place, seen.output, 'no probabilities, but logits: give wrap activation="sigmoid"', "outputs"
    )


def finite(network: StackModel[Any], seen: Trace) -> AdapterFinding | None:
    """Return where hidden vectors or pushed values are no numbers."""
    del network
    for name, values in (("pushed", seen.pushed), ("hidden", seen.hidden[:, 1:])):
        bad = ~np.isfinite(values).reshape(*values.shape[:2], -1)
        if (place := _first_place(bad.any(2), seen)) is not None:
            return _at_place("no numbers", seen, place, values, "no finite numbers", name)
    return None


@torch.no_grad()
def holds_what_is_pushed(network: StackModel[Any], seen: Trace) -> AdapterFinding | None:
    """Return a pushed value that the stack does not show again after a whole push: it is outside what it holds."""
    values = torch.from_numpy(seen.pushed[seen.valid]).to(network.initial_state(1).hidden)
    # actions that push wholly, (B, n_stacks, A)
    shape = (len(values), network.n_stacks)
    if network.action_kind == "signed":
        push = values.new_ones(*shape, 1)
    elif network.action_kind == "strengths":
        push = values.new_tensor([0.0, 1.0]).expand(*shape, 2)
    elif network.action_kind == "softmax" and "push" in network.operations:
        push = values.new_zeros(*shape, len(network.operations))
        push[..., network.operations.index("push")] = 1
    else:
        return None
    if not len(values):
        return None
    start = network.initial_state(len(values)).stack
    shown = start.next(push, values).reading()[..., : network.cell_size]
    off = (shown - values).abs().flatten(1).amax(1)
    if not bool((off > _TOLERANCE).any()):
        return None
    row = int(off.argmax())
    laid, read = values[row].flatten().tolist(), shown[row].flatten().tolist()
    return AdapterFinding(
        "values outside what the stack holds",
        f"a whole push of {_shown_numbers(laid)} is read back as {_shown_numbers(read)}: the stack changes what it is "
        "given",
    )


@torch.no_grad()
def stacks_round_trip(network: StackModel[Any], seen: Trace) -> AdapterFinding | None:
    """Return where `select` gives other stacks than those asked for, or `stack_of` does not show the cells given."""
    del seen
    if network.n_stacks == 0:
        return None
    state = network.initial_state(3)
    for number in range(4):  # three different words
        codes = torch.arange(3) // len(network.alphabet) ** number % len(network.alphabet)
        state = network.step(codes, state).state
        index = torch.tensor([2, 0, 2])
        if not torch.allclose(state.stack.select(index).reading(), state.stack.reading()[index], atol=_TOLERANCE):
            return AdapterFinding("select", "select(index) does not give the stacks of these entries, in this order")
    cells = torch.rand(
        2, network.n_stacks, network.depth, network.cell_size, generator=torch.Generator().manual_seed(0)
    )
    cells = cells.to(state.hidden)
    shown = network.stack_of(cells).reading()
    if shown.shape != state.stack.reading()[:2].shape:
        return AdapterFinding(
            "stack_of",
            f"stack_of shows a reading of shape {tuple(shown.shape)}, the network's own stacks one of "
            f"{tuple(state.stack.reading()[:2].shape)}: an axis is missing, or one too many",
        )
    if not torch.allclose(shown, cells.flatten(2), atol=_TOLERANCE):
        return AdapterFinding("stack_of", "stack_of(cells) does not show these cells, the top first")
    nothing = network.stack_of(torch.full_like(cells, torch.nan)).reading()
    if not torch.allclose(nothing, network.initial_state(2).stack.reading(), atol=_TOLERANCE):
        return AdapterFinding(
            "stack_of", "stack_of without cells (NaN) does not show what the stack at the start shows"
        )
    return None


def words_apart(network: StackModel[Any], seen: Trace) -> AdapterFinding | None:
    """Return where a word has other outputs alone than in a batch: words reach into each other."""
    for row, word in enumerate(seen.words[:8]):
        alone = trace(network, [word], stacks=False).output[0]
        size = min(len(word), len(alone))
        off = abs(alone[:size] - seen.output[row, :size]).reshape(size, -1).max(1)
        if (off > 10 * _TOLERANCE).any():
            return AdapterFinding(
                "a missing axis",
                f"{format_word(word)} has other outputs alone than in a batch: an axis for the words is missing or in "
                "another place, as where batch_first is not set",
                word,
                int(np.argmax(off > 10 * _TOLERANCE)),
            )
    return None


CONTRACT: tuple[Callable[[StackModel[Any], Trace], AdapterFinding | None], ...] = (
    finite,
    shares,
    outputs,
    words_apart,
    holds_what_is_pushed,
    stacks_round_trip,
)


def _first_place(off: Any, seen: Trace) -> tuple[int, int] | None:
    """Return the first word and step at which something is ``off`` (N, T), None for none."""
    places = np.argwhere(off & seen.valid)
    return None if not len(places) else (int(places[0][0]), int(places[0][1]))


def _at_place(
    cause: str, seen: Trace, place: tuple[int, int], values: np.ndarray, says: str, name: str = "actions"
) -> AdapterFinding:
    word = seen.words[place[0]]
    shown = _shown_numbers(np.ravel(values[place]).tolist())
    return AdapterFinding(
        cause, f"at symbol {place[1] + 1} of {format_word(word)} the {name} are {shown}: {says}", word, place[1]
    )
