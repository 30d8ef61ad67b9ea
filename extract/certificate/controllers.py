"""The controllers of the papers on boxes: bounds, and what is decided for any hidden vector and reading in a box."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ...automata.finite import FiniteAutomaton
from ...automata.pda import PushdownAutomaton, Symbol
from ...core.errors import StacklensError
from ...models.base import StackModel, set_numbers
from ...models.networks.joulin import ListRNN, StackRNN
from ...models.networks.neural_stack import BufferedNeuralStack, NeuralStack
from ...models.networks.nnpda import NNPDA
from ...models.networks.suzgun import BabyNTM, Marnn, MarnnJoulin, MarnnStackLSTM, MarnnStackRNN
from ...models.rounding import Operation, is_stack, named_operations
from ...models.stacks import RING_OPERATIONS
from ...models.views import BufferSteps, ListsAsStacks, RingAsTwoStacks, StackView
from .abstraction import (
    Affine,
    Arithmetic,
    Box,
    BoxAnswer,
    BoxController,
    Decision,
    Row,
    array,
    plus,
    rounded_sum,
    sigmoid,
    small_sigmoid,
    tanh,
    times,
)

_SOFTMAX = 64.0  # units by which equal numbers may come out of a softmax as different ones, generously

# From which gap on an action is exactly 0 or 1 as torch computes it, and what is left of the others exactly 0: the
# exponential of minus the gap underflows, at 745.2 in float64 and 104 in float32 (subnormal numbers counted, with some
# room for a library's own exponential), and a sigmoid is exactly 1 far before. 2 s - 1 of a sigmoid s is exactly -1
# where s is less than u / 2. float16 and bfloat16 are computed in float32 and rounded, or hold fewer small numbers.
EXACT_GAPS = {
    kind: {"float64": small, "float32": large, "float16": large, "bfloat16": large}
    for kind, small, large in (("softmax", 760.0, 112.0), ("strengths", 760.0, 112.0), ("signed", 48.0, 24.0))
}
_MOST_CORNERS = 14  # neurons of a full order
_THRESHOLD = 0.5


def is_above(box: Box, threshold: float) -> Decision:
    """Return 1 where the one number of ``box`` (M, 1) is above ``threshold``, else 0."""
    over, under = box.low[:, 0] - threshold, threshold - box.high[:, 0]
    return Decision((over >= under).astype(np.int64), np.maximum(over, under))


def set_of(box: Box, threshold: float = 0.5) -> Decision:
    """Return the sets of numbers above ``threshold``, number i counting 2^i; the margin is the smallest one."""
    over, under = box.low - threshold, threshold - box.high
    numbers = set_numbers(torch.from_numpy(over >= under))
    return Decision(numbers, np.maximum(over, under).min(1))


def signed(box: Box, threshold: float) -> Decision:
    """Return the operations of actions (M, 1): a push above ``threshold``, a pop below minus it, else none."""
    low, high = box.low[:, 0], box.high[:, 0]
    margins = np.stack([np.minimum(low + threshold, threshold - high), -threshold - high, low - threshold])
    operations = np.array([Operation.NONE, Operation.POP, Operation.PUSH])
    return Decision(operations[margins.argmax(0)], margins.max(0))


def distance_from_0(box: Box) -> Row:
    """Return how far all numbers of ``box`` (M, D) are from 0, at least; not above 0 where one may be 0."""
    return np.asarray(np.maximum(box.low, -box.high).min(1))


def largest(layer: Affine, box: Box, arithmetic: Arithmetic, temperature: float = 1.0) -> Decision:
    """Return which output of ``layer`` on ``box`` is the largest; the margin is its lead, before any softmax.

    What goes into the softmax is divided by ``temperature`` first. Not sure where that, a quotient or a share may leave
    the numbers of the format: an infinity there makes all shares NaN.
    """
    sizes = layer.of_box(box, arithmetic).sizes.max(1) / temperature
    blur = _SOFTMAX * (arithmetic.unit * (1 + sizes) + arithmetic.least)
    shares_fit = 2 * len(layer.weights) * arithmetic.least <= 1
    warm = arithmetic.least <= temperature <= 1 / arithmetic.least  # or it, or its reciprocal, is 0 or infinite
    blur = np.where((sizes <= arithmetic.most) & shares_fit & warm, blur, np.nan)
    leads = []
    for i in range(len(layer.weights)):
        others = np.delete(layer.minus(i).of_box(box, arithmetic).high, i, axis=1)
        leads.append(-others.max(1, initial=-np.inf) / temperature)
    lead = np.stack(leads)
    return Decision(lead.argmax(0), lead.max(0) - blur)


def largest_of(box: Box) -> Decision:
    """Return which of the numbers of ``box`` (M, O) is the largest, by the gap to the others' bounds."""
    others = [np.delete(box.high, i, axis=1).max(1, initial=-np.inf) for i in range(box.low.shape[1])]
    lead = box.low.T - np.stack(others)
    return Decision(lead.argmax(0), lead.max(0))


def lstm_box(drive: Box, cell: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on h' and c' of an LSTM, side by side, from its gates' sums (M, 4 H) and c (M, H)."""
    size = cell.low.shape[1]
    enter, keep, new, show = (drive.columns(i * size, (i + 1) * size) for i in range(4))
    kept = times(sigmoid(keep, arithmetic), cell, arithmetic)
    entered = times(sigmoid(enter, arithmetic), tanh(new, arithmetic), arithmetic)
    after = plus(kept, entered, arithmetic)
    return Box.beside([times(sigmoid(show, arithmetic), tanh(after, arithmetic), arithmetic), after])


def softmax_operations(model: StackModel[Any]) -> np.ndarray:
    """Return the number of each of a model's operations; its place where they are not a stack's."""
    return np.array(named_operations(model.operations)) if is_stack(model) else np.arange(len(model.operations))


class NNPDABoxes(BoxController):
    """An NNPDA of any order."""

    def __init__(self, model: NNPDA) -> None:
        shape = model.shape
        self.arithmetic, self.shape, self.n_symbols = Arithmetic.of(model.state_bias.dtype), shape, model.n_symbols
        self.height_limit = self.arithmetic.whole  # the stack adds up its length in floats
        if shape.order == "full" and shape.n_states > _MOST_CORNERS:
            raise StacklensError(
                f"an NNPDA of full order with {shape.n_states} neurons has too many corners to certify"
            )
        self.state_weights, self.state_bias = array(model.state_weights), array(model.state_bias)
        self.action_weights = array(model.action_weights)
        self.action_bias = np.zeros(1) if shape.order == "full" else array(model.action_bias)

    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer of eqs. 5 to 9, 23 and 24 to readings that are points."""
        n, size = len(hidden.low), self.shape.n_states
        after, action, drive = (Box(np.zeros((n, d)), np.zeros((n, d))) for d in (size, 1, 1))
        tops = np.where(reading.low.any(1), reading.low.argmax(1), self.n_symbols)  # the last: nothing
        for top in np.unique(tops):
            rows = tops == top
            found = self._at(letter, int(top), hidden.rows(rows))
            for into, bounds in zip((after, action, drive), found, strict=True):
                into.low[rows], into.high[rows] = bounds.low, bounds.high
        symbol = np.zeros((n, self.n_symbols))
        symbol[:, letter] = 1
        silent = Decision(np.zeros(n, np.int64), np.full(n, np.inf))
        return BoxAnswer(after, (signed(action, _THRESHOLD),), (Box.point(symbol),), silent, distance_from_0(drive))

    def _at(self, letter: int, top: int, hidden: Box) -> tuple[Box, Box, Box]:
        """Return bounds on the next state neurons, on the action and on the sum that it is squashed from."""
        state = self._layer(self.state_weights, self.state_bias, letter, top)
        layer = self._layer(self.action_weights, self.action_bias, letter, top)
        after = sigmoid(state.of_box(hidden, self.arithmetic), self.arithmetic)
        if self.shape.order != "full":
            drive = layer.of_box(hidden, self.arithmetic)
            share = sigmoid(drive, self.arithmetic)
            return after, Box(2 * share.low - 1, 2 * share.high - 1).wider(self.arithmetic.curve), drive
        # the linear action of eq. 23: the extremes over the corners of the box
        corners = np.broadcast_to(layer.weights, (len(hidden.low), 1, layer.weights.shape[1]))
        for low, high in zip(hidden.low.T, hidden.high.T, strict=True):  # the first neuron counts most in eq. 24
            off, on = np.split(corners, 2, axis=2)
            ends = [off + (on - off) * value[:, None, None] for value in (low, high)]
            corners = np.concatenate(ends, 1)
        exact = Box(corners.min(1), corners.max(1))
        total, terms = layer.sizes.sum(1), layer.terms + 4 * self.shape.n_states
        slack = self.arithmetic.slack(total, terms, terms * (1 + total))  # each product may underflow
        return after, exact.wider(slack), Box.point(np.zeros((len(hidden.low), 1)))

    def _layer(self, weights: np.ndarray, bias: np.ndarray, letter: int, top: int) -> Affine:
        """Return what the weights make of the state neurons, for one letter and one top."""
        n_reading = self.n_symbols + self.shape.empty_reading
        seen = top < n_reading  # an empty stack is seen only by a neuron of its own
        table: np.ndarray
        if self.shape.order == "second":
            table = weights.reshape(len(weights), -1, n_reading + self.n_symbols)
            parts = [table[:, :, n_reading + letter], *([table[:, :, top]] if seen else [])]
        else:
            table = weights.reshape(len(weights), -1, n_reading, self.n_symbols)
            parts = [table[:, :, top, letter]] if seen else [np.zeros(table.shape[:2])]
        sizes, terms = np.sum(np.abs(parts), axis=0), weights.shape[1] + 1
        lost = np.full(len(weights), float(terms))
        return Affine(np.sum(parts, axis=0), bias, sizes, np.abs(bias), terms, lost)

    def traps(self, hidden: Box) -> Decision:
        """Return whether the last neuron rules out all continuations (`NNPDA.rejects`); never without a trap."""
        if not self.shape.trap:
            return Decision(np.zeros(len(hidden.low), np.int64), np.full(len(hidden.low), np.inf))
        alive = self.accepts(hidden)
        return Decision(1 - alive.numbers, alive.margins)

    def accepts(self, hidden: Box) -> Decision:
        """Return whether a word that leads to ``hidden`` and an empty stack is accepted (`NNPDA.decide`)."""
        return is_above(hidden.columns(self.shape.n_states - 1), 0.5)


class StackRNNBoxes(BoxController):
    """The Stack RNN of Joulin & Mikolov 2015, any number of stacks, and their List RNN as what its heads see."""

    def __init__(self, model: StackRNN | ListRNN) -> None:
        self.arithmetic = Arithmetic.of(model.input_weights.dtype)
        memory = Affine.of(array(model.memory_weights))
        hidden = array(model.recurrent_weights) if model.recurrent else np.zeros((model.shape.hidden,) * 2)
        letters = array(model.input_weights)
        self.layers = [Affine.beside([Affine.of(hidden, bias), memory]) for bias in letters]
        actions = Affine.of(array(model.action_weights))
        kinds = len(model.operations)
        self.actions = [actions.rows(slice(i * kinds, (i + 1) * kinds)) for i in range(model.n_stacks)]
        self.numbers = softmax_operations(model)
        self.pushed, self.output = Affine.of(array(model.pushed_weights)), Affine.of(array(model.output_weights))

    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer of eqs. 2, 3, 4 and 6."""
        drive = self.layers[letter].of_box(Box.beside([hidden, reading]), self.arithmetic)
        after = sigmoid(drive, self.arithmetic)
        shares = [largest(layer, after, self.arithmetic) for layer in self.actions]
        operations = tuple(Decision(self.numbers[share.numbers], share.margins) for share in shares)
        pushed = sigmoid(self.pushed.of_box(after, self.arithmetic), self.arithmetic)
        output = largest(self.output, after, self.arithmetic)
        values = tuple(pushed.columns(i, i + 1) for i in range(len(shares)))
        return BoxAnswer(after, operations, values, output, np.min([share.margins for share in shares], axis=0))


class MarnnBoxes(BoxController):
    """The networks of Suzgun et al. 2019 and the Stack-RNN that they compare with; a ring as one cell that is seen."""

    def __init__(self, model: Marnn[Any]) -> None:
        self.arithmetic, self.size, self.lstm = Arithmetic.of(model.output_bias.dtype), model.shape.hidden, model.lstm
        self.squashed = sigmoid if isinstance(model, MarnnJoulin) else tanh
        weights, letters = array(model.hidden_weights), array(model.input_weights).T
        if isinstance(model, MarnnJoulin):
            seen = Affine.beside([Affine.of(weights), Affine.of(array(model.memory_weights))])
        else:
            memory = Affine.of(array(model.memory_weights), array(model.memory_bias))
            mixed = Affine.beside([Affine.of(np.eye(self.size)), memory])  # h~ = h + W_s s + b_s
            seen = Affine.of(weights, array(model.hidden_bias)).after(mixed)
            letters = letters + array(model.input_bias)
        self.layers = [Affine.beside([seen, Affine.of(np.zeros((len(letter), 0)), letter)]) for letter in letters]
        # the gate divides by the temperature before its softmax, but in the plain gating
        self.temperature = 1.0 if model.shape.gating == "softmax" else float(model.temperature)
        self.actions = Affine.of(array(model.action_weights), array(model.action_bias))
        self.numbers = softmax_operations(model)
        self.pushed = Affine.of(array(model.pushed_weights), array(model.pushed_bias))
        self.laid = small_sigmoid if model.ring else sigmoid  # what a pop adds to a cell of a ring adds up
        self.output = Affine.of(array(model.output_weights), array(model.output_bias))
        self.sets = model.task_kind == "next set"

    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer of sections 3.1 and 3.2."""
        seen = Box.beside([hidden.columns(0, self.size), reading])
        drive = self.layers[letter].of_box(seen, self.arithmetic)
        if self.lstm:
            whole = lstm_box(drive, hidden.columns(self.size), self.arithmetic)
        else:
            whole = self.squashed(drive, self.arithmetic)
        after = whole.columns(0, self.size)
        share = largest(self.actions, after, self.arithmetic, self.temperature)
        pushed = self.laid(self.pushed.of_box(after, self.arithmetic), self.arithmetic)
        shares = sigmoid(self.output.of_box(after, self.arithmetic), self.arithmetic)
        output = set_of(shares) if self.sets else largest_of(shares)
        operation = Decision(self.numbers[share.numbers], share.margins)
        return BoxAnswer(whole, (operation,), (pushed,), output, share.margins)


class NeuralStackBoxes(BoxController):
    """The Neural Stack of Hao et al. 2018 with a linear, tanh or LSTM controller; a buffered one step by step."""

    def __init__(self, model: NeuralStack | BufferSteps) -> None:
        self.view = model if isinstance(model, BufferSteps) else None
        net: Any = (model if self.view is None else self.view.model).net
        n_symbols = model.n_symbols
        self.arithmetic, self.kind, self.cell, self.size = Arithmetic.of(net.bias.dtype), net.kind, model.cell_size, 0
        self.height_limit = self.arithmetic.whole  # the stack adds up its length in floats, and queues do
        self.acts, seen_symbols = (2, n_symbols) if self.view is None else (4, n_symbols - 1)  # the last is no symbol
        last = Affine.of(array(net.weight), array(net.bias))
        if net.kind == "linear":
            self.layers = [_for_letter(last, letter, seen_symbols) for letter in range(n_symbols)]
            return
        self.size, self.last = net.hidden, last
        before = Affine.of(array(net.weight_hh), array(net.bias_hh))
        seen = Affine.of(array(net.weight_ih), array(net.bias_ih))
        self.layers = [Affine.beside([before, _for_letter(seen, letter, seen_symbols)]) for letter in range(n_symbols)]

    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer of section 2.2, and of 2.3 what is written and whether the letter is done with."""
        seen = Box.beside([hidden.columns(0, self.size), reading])
        after, features, layer = hidden, seen, self.layers[letter]
        if self.kind != "linear":
            after = layer.of_box(seen, self.arithmetic)
            if self.kind == "lstm":
                after = lstm_box(after, hidden.columns(self.size), self.arithmetic)
            else:
                after = tanh(after, self.arithmetic)
            features, layer = after.columns(0, self.size), self.last
        split = self.acts + self.cell
        drive = layer.rows(slice(0, split)).of_box(features, self.arithmetic)
        instructions = sigmoid(drive, self.arithmetic)
        output = largest(layer.rows(slice(split, None)), features, self.arithmetic)
        operations = set_of(instructions.columns(0, 2), _THRESHOLD)  # pop and push are the bits of an `Operation`
        if self.view is not None:
            queues = set_of(instructions.columns(2, 4), _THRESHOLD)  # done with the letter, and writing, are bits, too
            # of an empty queue nothing is left to be done with, so that it counts as done
            done = queues.numbers & 1 | (self.view.alphabet[letter] == self.view.nothing_left)
            writes = queues.numbers >> 1
            numbers = writes * (1 + output.numbers) + done * (len(self.view.meanings) // 2)
            output = Decision(numbers, np.where(writes, np.minimum(queues.margins, output.margins), queues.margins))
        gaps = distance_from_0(drive.columns(0, self.acts))
        return BoxAnswer(after, (operations,), (instructions.columns(self.acts, split),), output, gaps)


def _for_letter(layer: Affine, letter: int, n_symbols: int) -> Affine:
    reading, symbol = layer.weights[:, n_symbols:], layer.weights[:, letter] * (letter < n_symbols)
    there = Affine.of(reading, layer.bias + symbol)
    return replace(there, bias_sizes=np.abs(symbol) + layer.bias_sizes, terms=layer.terms, lost=layer.lost)


# ---- Networks whose memory is no stack, by their exact views on stacks (see `models.views`) ----


def _by_operation(boxes: Sequence[Box], done: Decision) -> Box:
    """Return in each row the box of the operation that is ``done``, of ``boxes`` by its place; all where not sure."""
    around = Box(np.min([box.low for box in boxes], axis=0), np.max([box.high for box in boxes], axis=0))
    rows = np.arange(len(done.numbers))
    sure = (done.margins > 0)[:, None]  # NaN is not sure
    sides = [
        np.where(sure, np.stack([getattr(box, side) for box in boxes])[done.numbers, rows], getattr(around, side))
        for side in ("low", "high")
    ]
    return Box(*sides)


def _operations_of_view(view: StackView, done: Decision) -> list[Decision]:
    tables = np.array(named_operations(view.operations))[view.tables.cpu().numpy()]  # (stacks, operations)
    return [Decision(table[done.numbers], done.margins) for table in tables]


class RingBoxes(BoxController):
    """A Baby-NTM, its ring seen as its first cell, which is behind the hidden vector, and two stacks.

    In the rounded network a cell is copied as it is, or the new element is added to it: one sum, rounded once.
    """

    def __init__(self, view: RingAsTwoStacks) -> None:
        if view.ring_size <= len(view.tables):
            raise StacklensError(
                f"a ring of {view.ring_size} cells comes round at once, so there is nothing to certify"
            )
        assert isinstance(view.model, BabyNTM)
        self.view, self.inner = view, MarnnBoxes(view.model)
        self.arithmetic = self.inner.arithmetic

    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer of section 3.3 to the first cell; ``reading`` are the tops of both stacks."""
        first, size = hidden.columns(self.view.own), self.view.cell_size
        right, left = reading.columns(0, size), reading.columns(size)
        answer = self.inner.answer(letter, hidden.columns(0, self.view.own), first)
        (done,), (new,) = answer.operations, answer.pushed
        nothing = Box(np.zeros_like(first.low), np.zeros_like(first.low))
        # by operation: to what the new element is added, and what comes to lie on the left
        added = {"rotate right": left, "no-op": first, "pop right": nothing}
        under = _by_operation([added.get(name, right) for name in RING_OPERATIONS], done)
        turned = _by_operation([nothing if name == "pop left" else first for name in RING_OPERATIONS], done)
        after = Box.beside([answer.hidden, rounded_sum(under, new, self.arithmetic)])
        operations = tuple(_operations_of_view(self.view, done))
        return BoxAnswer(after, operations, (first, turned), answer.output, answer.gaps)


class ListBoxes(BoxController):
    """A List RNN, each of its lists seen as two stacks."""

    def __init__(self, view: ListsAsStacks) -> None:
        assert isinstance(view.model, ListRNN)
        self.view, self.inner = view, StackRNNBoxes(view.model)
        self.arithmetic = self.inner.arithmetic

    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer to what is at the heads and to their left, the first half of ``reading``."""
        lists, depth = self.view.lists, self.view.depth
        answer = self.inner.answer(letter, hidden, reading.columns(0, lists * depth))
        tops = [reading.columns(stack * depth, stack * depth + 1) for stack in range(2 * lists)]
        heads, pushed = list[list[Decision]](), list[Box]()
        for done, new, right in zip(answer.operations, answer.pushed, tops[lists:], strict=True):
            heads.append(_operations_of_view(self.view, done))
            laid = [right if name == "right" else new for name in self.view.model.operations]
            pushed.append(_by_operation(laid, done))
        operations = tuple(decision for side in zip(*heads, strict=True) for decision in side)
        return BoxAnswer(answer.hidden, operations, (*pushed, *tops[:lists]), answer.output, answer.gaps)


# ---- What can be certified: the networks whose controllers are known on boxes, and automata that fit them ----

MARGIN = 1e-6
# by the class itself: what a subclass computes is not known
_FAMILIES: dict[type[StackModel[Any]], Callable[[Any], BoxController]] = {
    NNPDA: NNPDABoxes,
    StackRNN: StackRNNBoxes,
    MarnnStackRNN: MarnnBoxes,
    MarnnStackLSTM: MarnnBoxes,
    MarnnJoulin: MarnnBoxes,
    NeuralStack: NeuralStackBoxes,
}

# networks whose memory is no stack, and the views of them that are exact
_VIEWED: dict[type[StackModel[Any]], tuple[type[StackView | BufferSteps], Callable[[Any], BoxController]]] = {
    BabyNTM: (RingAsTwoStacks, RingBoxes),
    ListRNN: (ListsAsStacks, ListBoxes),
    BufferedNeuralStack: (BufferSteps, NeuralStackBoxes),
}


def check_network(model: StackModel[Any]) -> None:
    """Check that ``model`` is one network, without noise, with finite weights in one format."""
    model = model.model if isinstance(model, StackView | BufferSteps) else model
    if leading := getattr(model, "leading", ()):
        raise StacklensError(f"{model.name} holds {leading[0]} networks; certify one at a time")
    if model.training and getattr(getattr(model, "shape", None), "gating", None) == "gumbel-softmax":
        raise StacklensError(f"{model.name} draws noise in training mode; call its eval() first")
    formats = {parameter.dtype for parameter in model.parameters()}
    if len(formats) > 1:
        names = ", ".join(sorted(str(one).removeprefix("torch.") for one in formats))
        raise StacklensError(f"the weights are in {names}; expected one format for all")
    for name, parameter in model.named_parameters():
        if not torch.isfinite(parameter).all():
            raise StacklensError(f"{name} holds NaN or infinite weights; there is nothing to certify")


def boxes_of(model: StackModel[Any]) -> BoxController:
    """Return the controller of ``model`` on boxes. Raises StacklensError: its kind has none, or see `check_network`."""
    known, own, family = tuple(_FAMILIES), model, _FAMILIES.get(type(model))
    if isinstance(model, StackView | BufferSteps):
        known, own = (*_FAMILIES, *_VIEWED), model.model
        exact, family = _VIEWED.get(type(own), (type(model), None))
        if type(model) is not exact:
            raise StacklensError(f"the network with {model.title} forgets something; certify it with {exact.title}")
    if family is None:
        names = ", ".join(kind.name for kind in (*_FAMILIES, *_VIEWED))
        if isinstance(own, known):
            kind = type(own).__name__
            raise StacklensError(f"a {kind} may compute something else than a {own.name}; expected one of {names}")
        raise StacklensError(f"a {own.name} cannot be certified; expected one of {names}")
    check_network(model)
    return family(model)


def stacks_to_follow(
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    domain: FiniteAutomaton | None,
    named: Sequence[int] | None,
    margin: float,
) -> tuple[int, ...]:
    """Return the stacks, ``named`` or all, with which ``model`` may follow ``automaton`` on ``domain``. Raises
    StacklensError: it cannot be asked, and why.
    """
    if not margin >= 0:
        raise StacklensError(f"the margin is {margin}; expected a number of at least 0")
    stacks = tuple(range(model.n_stacks) if named is None else named)
    letters = {"automaton": automaton.input_alphabet, **({} if domain is None else {"domain": domain.alphabet})}
    for what, alphabet in letters.items():
        if set(alphabet) != set(model.alphabet):
            ours, theirs = " ".join(model.alphabet), " ".join(alphabet)
            raise StacklensError(f"the network reads {ours}, the {what} {theirs}; certify it for its own {what}")
    distinct = len(set(stacks)) == len(stacks) and set(stacks) <= set(range(model.n_stacks))
    if not distinct or max(1, len(stacks)) != automaton.n_stacks:
        raise StacklensError(
            f"the automaton has {automaton.n_stacks} stacks, the network {model.n_stacks} of which {list(stacks)} were "
            "named; name as many as the automaton has"
        )
    if model.task_kind == "recognition":
        if not stacks:
            raise StacklensError("the verdicts of a recogniser depend on its stack; name it among the stacks")
        if automaton.acceptance == "output":
            raise StacklensError(
                "the network gives verdicts, and the automaton accepts by output; nothing says how both agree"
            )
    else:
        sets = model.task_kind == "next set"
        for output in {step.output for step in automaton.transitions.values()} - {None}:
            symbols: tuple[Symbol, ...] = (output,) if isinstance(output, str) else output or ()
            known = len(set(symbols)) == len(symbols) and set(symbols) <= set(model.output_alphabet)
            if sets == isinstance(output, str) or not known:
                which, listed = "a set of" if sets else "one of", " ".join(model.output_alphabet)
                shown = repr(output) if isinstance(output, str) else "{" + " ".join(symbols) + "}"
                raise StacklensError(
                    f"the automaton outputs {shown}, the network {which} {listed}; certify it for its own automaton"
                )
    if automaton.end_marker is not None and model.end is None:
        raise StacklensError(
            f"the automaton reads {automaton.end_marker} after a word, the network nothing; drop that first"
        )
    return stacks
