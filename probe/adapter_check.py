"""`check`: a network of one's own held against its own forward pass, step by step; the first thing that is off, named.

First what can be seen from the adapter alone: shares, strengths and probabilities that are none, stacks that do not
give back what was laid on them, words of a batch that reach into each other. Then the outputs on words, and where these
differ, known mistakes are tried one by one: the one with which nothing differs any more is the likely cause.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, islice, permutations
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from ..automata.pda import Word
from ..core.errors import StacklensError
from ..languages.language import format_word, make_word
from ..models.base import ControllerOutput, NetworkState, StackModel
from ..models.networks.layers import guarded, taken_out
from ..models.rounding import Outputs, Wrapper
from ..models.stacks import SuperpositionStack
from ..models.step_network import StepNetwork
from ..models.word_network import ForwardNetwork, WordNetwork
from .trace import Trace, trace

_TOLERANCE = 1e-4  # of outputs, which are about 1 at most
_SPREAD = 0.5  # of what is taken for probabilities: logits of a network that learned little lie from 0 to 1 as well
_MOST_STEPS = 2_000  # of all words together: further ones are left out
Forward = Callable[[Any], Any]


@dataclass(frozen=True)
class AdapterFinding:
    """Something that is off."""

    cause: str  # what it most likely is, in a word or two
    says: str  # what was seen, and what to do
    # word, step: where, if it was on a word
    word: Word | None = None
    step: int | None = None

    def __str__(self) -> str:
        return f"{self.cause}: {self.says}"


@dataclass(frozen=True)
class Check:
    """What came of a check."""

    network: str  # what the network is called
    # words, steps: how many were compared
    words: int
    steps: int
    largest: float | None  # by how much outputs differ at most; None where nothing could be compared
    finding: AdapterFinding | None = None  # the first thing that is off, None where nothing is

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
    if not isinstance(words, Iterable):
        raise StacklensError(f"expected a list of words, not one of type {type(words).__name__}")
    kept = list[Word]()
    for word in words:
        if len(word) and sum(map(len, kept)) + len(word) <= _MOST_STEPS:
            kept.append(word)
    if not kept:
        raise StacklensError(f"give some words of one symbol or more over {' '.join(network.alphabet)} to compare on")
    # what an adapter owes, with whatever it is compared
    whose = f"the adapter {network.name}"
    seen: Trace = guarded(partial(trace, network, kept, stacks=False), whose, {})
    for look in CONTRACT:
        if (found := guarded(partial(look, network, seen), whose, {})) is not None:
            return Check(network.name, len(kept), 0, None, found)
    theirs = _forward_outputs(forward, network, kept)
    if isinstance(theirs, AdapterFinding):
        return Check(network.name, len(kept), 0, None, theirs)
    # the word and the step of every output of the author's forward pass, which may be of the last steps only, (2, S)
    pairs = enumerate(zip(kept, theirs, strict=True))
    at = np.array([(row, step) for row, (word, one) in pairs for step in range(len(word) - len(one), len(word))]).T
    # then its outputs beside those
    read, unread = outputs_read(network), torch.cat(theirs)
    ours = _outputs_at(network, kept, at)
    off = _distances(ours, unread if read is None else read.probabilities(unread), read)
    worst, near = float(off.max()), _near(network)
    if worst <= _TOLERANCE and (found := _activated_twice(unread, read)) is not None:
        return Check(network.name, len(kept), 0, worst, found)
    if worst > near:  # what forward returns may have been through the activation already
        worst = min(worst, float(_distances(ours, unread, read).max()))
    found = None if worst <= near else _likely_mistake(network, kept, at, ours, unread)
    return Check(network.name, len(kept), sum(map(len, kept)), worst, found)


def _outputs_at(network: StackModel[Any], words: list[Word], at: np.ndarray) -> np.ndarray:
    return np.asarray(trace(network, words, stacks=False).output[at[0], at[1]], np.float64)


def _distances(ours: np.ndarray, theirs: Tensor, read: Outputs | None) -> np.ndarray:
    """Return by how much outputs (S, O) and probabilities, moved so that 0.5 decides, differ at most, (S,)."""
    placed = theirs if read is None else read.placed(theirs)
    off = abs(ours - placed.numpy()).max(-1)
    return np.asarray(np.where(np.isnan(off), np.inf, off))


def outputs_read(network: StackModel[Any]) -> Outputs | None:
    """Return how the outputs of a network of one's own are read, None for any other network."""
    return network.outputs if isinstance(network, WordNetwork | StepNetwork) else None


def _activated_twice(values: Tensor, read: Outputs | None) -> AdapterFinding | None:
    """Return that the activation is taken of what are probabilities already, None where they are none."""
    if read is None or read.activation is None:
        return None
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


def _likely_mistake(
    network: StackModel[Any], words: list[Word], at: np.ndarray, ours: np.ndarray, unread: Tensor
) -> AdapterFinding:
    """Return the first difference, and the known mistake that explains all of them, if one does. ``ours``, ``unread``:
    outputs (S, O) of the adapter and of the author's forward pass ``at`` these words and steps, (2, S).
    """
    read = outputs_read(network)
    expected = unread if read is None else read.probabilities(unread)
    first = int(np.argmax(_distances(ours, expected, read) > _TOLERANCE))
    word, step = words[at[0, first]], int(at[1, first])
    theirs = expected if read is None else read.placed(expected)
    where = f"the outputs part at symbol {step + 1} of {format_word(word)}"
    says, own = (_shown_numbers(values[first].tolist()) for values in (ours, theirs))
    seen = f"{where}: {says}, its own forward pass says {own}"
    found = partial(AdapterFinding, word=word, step=step)
    # outputs may be logits here and probabilities there
    ways: list[tuple[str, str, Tensor]] = []
    for name, apply in (("sigmoid", torch.sigmoid), ("softmax", partial(torch.softmax, dim=-1))):
        ways.append(("logits", f"its own are logits, of which the {name} is taken here", apply(unread)))
        if read is not None and read.activation == name:
            twice = f"the {name} is taken twice, by the network and by wrap: leave activation out of wrap"
            ways.append(("probabilities", twice, apply(apply(unread))))
    if ((unread >= 0) & (unread <= 1)).all():
        why = 'logits where probabilities are meant: give wrap activation="sigmoid"'
        ways.append(("logits", why, torch.logit(unread)))
    for cause, why, made in ways:
        if _distances(ours, made, read).max() <= _TOLERANCE:
            return found(cause, f"{seen}; {why}")
    # known mistakes, one by one: the one with which nothing differs is the cause
    for variant in variants(network):
        try:
            others = _outputs_at(variant.model, [variant.spelled(one) for one in words], at)
        except StacklensError:
            continue
        if _distances(others, expected, read).max() <= _TOLERANCE:
            return found(variant.cause, f"{seen}; with {variant.change} nothing differs")
    hint = "the first symbol is right, so it is the hidden state that is handed on"
    if isinstance(network, ForwardNetwork):
        hint = "forward(symbols) and what is compared with give different answers"
    elif step == 0:
        hint = "it is there at the first symbol, so it is the encoding, the hidden state at the start or the output"
    elif network.n_stacks:
        hint = "the first symbol is right, so it is the state or the stack: its limit, empty value, when it is read"
    return found("unknown", f"{seen}; no known mistake explains it: {hint}")


def _shown_numbers(values: Sequence[float]) -> str:
    return f"({', '.join(f'{value:.4g}' for value in values[:6])}{', …' if len(values) > 6 else ''})"


def _forward_outputs(
    forward: Forward, network: StackModel[Any], words: Sequence[Word]
) -> list[Tensor] | AdapterFinding:
    """Return the outputs of the author's forward pass, (T, O), or (1, O) of the last symbol, in the form it takes; or
    that they are of a shape that says nothing of steps.
    """
    size = 1 if network.task_kind == "recognition" else len(network.output_alphabet)
    own = outputs_read(network)
    sizes = own.sizes if own is not None and own.columns else (size,)
    places, dtype = {symbol: n for n, symbol in enumerate(network.alphabet)}, network.initial_state(1).hidden.dtype
    shape = getattr(network, "shape", network)
    tokens = getattr(shape, "vocabulary", None)
    n_tokens = network.n_symbols if tokens is None else tokens.size

    def index(word: Word) -> Tensor:
        codes = torch.tensor([[places[symbol] for symbol in word]])
        return codes if tokens is None else cast(Tensor, tokens.numbers(codes))

    def one_hot(word: Word) -> Tensor:
        return torch.nn.functional.one_hot(index(word), n_tokens).to(dtype)

    # the first form of the first word that it takes, or else what it says of the word itself
    as_read = (one_hot, index) if getattr(shape, "symbols", "index") == "one-hot" else (index, one_hot)
    problems: list[StacklensError] = []
    form: Callable[[Word], Any]
    for form in (lambda word: word, *as_read):
        try:
            guarded(forward, "forward(word)", {"word": form(words[0])})
            break
        except StacklensError as error:
            problems.append(error)
    else:
        raise problems[0]
    found: list[Tensor] = []
    for word in words:
        made = guarded(forward, "forward(word)", {"word": form(word)})
        made = taken_out("forward(word)", made, sizes)
        width = made.shape[-1] if own is not None and own.columns and made.dim() else size
        # there may be outputs before the first symbol as well
        if width not in sizes or made.numel() not in (len(word) * width, (len(word) + 1) * width, width):
            expected = " or ".join(map(str, sizes))
            return AdapterFinding(
                "a missing axis",
                f"forward gives a word of {len(word)} symbols outputs of shape {tuple(made.shape)}; expected "
                f"(1, {len(word)}, {expected}), or (1, {expected}) after the last symbol",
            )
        rows = made.detach().cpu().double().reshape(-1, width)
        found.append(rows[len(rows) > len(word) :])
    return found


# ---- A network as it would be without a mistake that adapters often make: one variant a mistake, to be tried in turn.

_MOST_ORDERS = 60  # of an alphabet
_LIMITS = (None, 2, 5, 10, 20, 50, 100)
_EMPTY_VALUES = (0.0, -1.0, 1.0, 0.5)


@dataclass(frozen=True)
class Variant:
    """A network with one thing changed."""

    cause: str  # the mistake, in a word or two
    change: str  # what was changed, to go on after "with"
    model: StackModel[Any]  # the network so changed
    # for another order of the alphabet, the place of each symbol in it; None where that is not changed
    order: tuple[int, ...] | None = None

    def spelled(self, word: Word) -> Word:
        """Return ``word`` in the symbols by which the network of this variant reads it."""
        alphabet, order = self.model.alphabet, self.order
        return word if order is None else make_word([alphabet[order[alphabet.index(one)]] for one in word], alphabet)


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
        return replace(answer, actions=self.actions(answer.actions))


def variants(model: StackModel[Any]) -> Iterator[Variant]:
    """Yield variants of ``model``, those of the commonest mistakes first."""
    # actions of the operations in another order
    if model.action_kind == "signed":
        yield Variant("swapped operations", "push below 0 and pop above", _Changed(model, torch.neg))
    names = {"softmax": model.operations, "strengths": ("pop", "push")}.get(model.action_kind, ())
    own = getattr(getattr(model, "choice", None), "order", range(len(names)))  # the network's own order
    for order in islice(permutations(range(len(names))), 1, None):
        given = dict(zip((own[taken] for taken in order), names, strict=True))
        changed = _Changed(model, lambda actions, order=list(order): actions[..., order])  # type: ignore[misc]
        yield Variant("swapped operations", f"actions=({', '.join(given[n] for n in range(len(names)))})", changed)
    # other orders of the alphabet: all of a small one; else sorted, reversed, and with two symbols exchanged
    alphabet, identity = model.alphabet, tuple(range(len(model.alphabet)))
    orders: Iterable[tuple[int, ...]] = permutations(identity)
    if len(identity) > 4:
        exchanged = (
            tuple({one: other, other: one}.get(place, place) for place in identity)
            for one, other in combinations(identity, 2)
        )
        orders = chain((tuple(map(sorted(alphabet).index, alphabet)), identity[::-1]), exchanged)
    for order in islice(orders, _MOST_ORDERS):
        if order != identity:
            shown = " ".join(alphabet[order.index(place)] for place in identity)
            yield Variant("alphabet order", f"the alphabet {shown}", model, order)
    # symbols as numbers in place of one-hot vectors, or the other way round
    if (form := getattr(model, "symbols", None)) is not None:
        given_so: Any = copy(model)
        given_so.symbols = "one-hot" if form == "index" else "index"
        yield Variant("how symbols are given", f'symbols="{given_so.symbols}"', given_so)
    # a superposition stack's cells
    stack = model.initial_state(1).stack
    if isinstance(stack, SuperpositionStack):
        for value in _EMPTY_VALUES:
            if value != stack.empty_value:
                yield Variant("what an empty cell holds", f"empty_value={value:g}", _Changed(model, empty_value=value))
        for limit in _LIMITS:
            if limit != stack.limit and (limit is None or limit >= stack.depth):
                yield Variant("how many cells there are", f"limit={limit}", _Changed(model, limit=limit))


# ---- What an adapter owes: shares, probabilities, stacks that give back what they hold.


def values_in_range(network: StackModel[Any], seen: Trace) -> AdapterFinding | None:
    """Return the first value that is no number, share, strength, signed action or probability where it should be."""

    def outside(values: np.ndarray, low: float) -> np.ndarray:
        return np.asarray((values < low - _TOLERANCE) | (values > 1 + _TOLERANCE))

    # a cause, where to look and its values (N, T, ...), where they are off (N, T, ...), and a text with {sum}
    demands: list[tuple[str, str, np.ndarray, np.ndarray, str]] = [
        ("no numbers", name, values, ~np.isfinite(values), "no finite numbers")
        for name, values in (("pushed", seen.pushed), ("hidden", seen.hidden[:, 1:]))
    ]
    actions, kind = seen.actions, network.action_kind
    if kind == "softmax":
        says = "no shares from 0 to 1, but logits: take their softmax"
        demands.append(("logits", "actions", actions, outside(actions, 0), says))
        off = abs(actions.sum(-1) - 1) > _TOLERANCE
        demands.append(("shares", "actions", actions, off, "shares that sum to {sum:.4g} and not to 1"))
    elif kind != "none":
        low, made = (-1, "tanh") if kind == "signed" else (0, "sigmoid")
        says = f"outside [{low}, 1]: logits, of which the {made} is to be taken"
        demands.append(("logits", "actions", actions, outside(actions, low), says))
    if network.task_kind in ("recognition", "next set"):
        # outputs are moved so that 0.5 decides
        moved = seen.output - 0.5 + getattr(outputs_read(network), "cut", 0.5)
        says = 'no probabilities, but logits: give wrap activation="sigmoid"'
        demands.append(("logits", "outputs", seen.output, outside(moved, 0), says))
    for cause, name, values, off, says in demands:
        places = np.argwhere(off.reshape(*off.shape[:2], -1).any(2) & seen.valid)
        if len(places):
            row, step = map(int, places[0])
            word, there = seen.words[row], np.ravel(values[row, step]).tolist()
            first = float(np.atleast_2d(values[row, step])[0].sum())
            what = f"at symbol {step + 1} of {format_word(word)} the {name} are {_shown_numbers(there)}"
            return AdapterFinding(cause, f"{what}: {says.format(sum=first)}", word, step)
    return None


def _near(network: StackModel[Any]) -> float:
    # outputs of low precision differ by some steps of their numbers
    return max([_TOLERANCE, *(8 * torch.finfo(x.dtype).eps for x in network.parameters() if x.is_floating_point())])


def words_apart(network: StackModel[Any], seen: Trace) -> AdapterFinding | None:
    """Return where a word has other outputs alone than in a batch: words reach into each other."""
    for row, word in enumerate(seen.words[:8]):
        alone = trace(network, [word], stacks=False).output[0]
        size = min(len(word), len(alone))
        off = abs(alone[:size] - seen.output[row, :size]).reshape(size, -1).max(1) > 10 * _near(network)
        if off.any():
            says = (
                f"{format_word(word)} has other outputs alone than in a batch: an axis for the words is missing or in "
                "another place, as where batch_first is not set"
            )
            return AdapterFinding("a missing axis", says, word, int(np.argmax(off)))
    return None


@torch.no_grad()
def holds_what_is_pushed(network: StackModel[Any], seen: Trace) -> AdapterFinding | None:
    """Return a pushed value that the stack does not show again after a whole push: it is outside what it holds."""
    values = torch.from_numpy(seen.pushed[seen.valid]).to(network.initial_state(1).hidden)
    # one row of actions that pushes wholly, (A,)
    operations = network.operations
    whole = {"signed": [1.0], "strengths": [0.0, 1.0]}.get(network.action_kind)
    if network.action_kind == "softmax" and "push" in operations:
        whole = [float(name == "push") for name in operations]
    if whole is None or not len(values):
        return None
    push = values.new_tensor(whole).expand(len(values), network.n_stacks, -1)
    shown = network.initial_state(len(values)).stack.next(push, values).reading()[..., : network.cell_size]
    off = (shown - values).abs().flatten(1).amax(1)
    if not bool((off > _TOLERANCE).any()):
        return None
    laid, read = (_shown_numbers(part[int(off.argmax())].flatten().tolist()) for part in (values, shown))
    says = f"a whole push of {laid} is read back as {read}: the stack changes what it is given"
    return AdapterFinding("values outside what the stack holds", says)


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
    size = 2, network.n_stacks, network.depth, network.cell_size
    cells = torch.rand(size, generator=torch.Generator().manual_seed(0)).to(state.hidden)
    shown, own = network.stack_of(cells).reading(), state.stack.reading()[:2]
    nothing = network.stack_of(torch.full_like(cells, torch.nan)).reading()
    if shown.shape != own.shape:
        says = (
            f"stack_of shows a reading of shape {tuple(shown.shape)}, the network's own stacks one of "
            f"{tuple(own.shape)}: an axis is missing, or one too many"
        )
    elif not torch.allclose(shown, cells.flatten(2), atol=_TOLERANCE):
        says = "stack_of(cells) does not show these cells, the top first"
    elif not torch.allclose(nothing, network.initial_state(2).stack.reading(), atol=_TOLERANCE):
        says = "stack_of without cells (NaN) does not show what the stack at the start shows"
    else:
        return None
    return AdapterFinding("stack_of", says)


CONTRACT = (values_in_range, words_apart, holds_what_is_pushed, stacks_round_trip)
