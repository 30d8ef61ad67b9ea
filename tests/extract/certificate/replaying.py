"""A self-check of certificates: run the rounded network at random, and see that nothing leaves its boxes."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stacklens.automata.pda import State, Symbol, Tops, Transition
from stacklens.extract.answers import output_number
from stacklens.extract.certificate.abstraction import System, Tag, Value
from stacklens.extract.certificate.certify import Proof
from stacklens.models.base import StackModel, Step, one_thread
from stacklens.models.rounding import Operation, Rounded, operation_numbers

_WALKS, _LENGTH = 1_000, 300
_HIDDEN = -1  # in place of a stack's number
_Where = tuple[int, Tag]  # a stack or `_HIDDEN`, and the tag of its boxes


class Replayed(NamedTuple):
    """What random runs of the rounded network showed.

    Attributes:
        steps: how many steps were made.
        outside: how many left the boxes, or did something else than the automaton.
        word: the first word on which that was so, or None.
    """

    steps: int
    outside: int
    word: tuple[Symbol, ...] | None = None


def replay(proof: Proof, steps: int = 1_000_000, seed: int = 0) -> Replayed:
    """Return what at least ``steps`` random steps show, on words on which the automaton is not cut.

    Each word is a walk that likes some letters better than others, so that stacks grow high and shrink again; but none
    needs more cells than the certificate speaks of. There are no steps where no word has a first letter.
    """
    rng, made, outside, word = np.random.default_rng(seed), 0, 0, None
    options, boxes = _Options(proof.system), _by_tag(proof)
    with one_thread(), torch.no_grad():
        while made < steps:
            walks, before = _Walks(options, boxes, rng), made
            for wrong in walks.run():
                made, outside = made + len(wrong), outside + int(wrong.sum())
                if word is None and wrong.any():
                    word = walks.word(int(walks.alive[wrong.argmax()]))
                if made >= steps:
                    break
            if made == before:
                break
    return Replayed(made, outside, word)


class _Option(NamedTuple):
    """A step that can be taken at a head, and what it asks of the network: operations, output, boxes for what it makes.

    Symbols on stacks are numbers, 0 for the bottom; a push of 0 is none.
    """

    letter: int
    state: int
    domain: int
    pops: tuple[bool, ...]
    pushes: tuple[int, ...]
    operations: tuple[int, ...]
    output: int  # -1: nothing is asked
    places: tuple[_Where, ...]


class _Options:
    """The options at each head, looked up once."""

    def __init__(self, system: System) -> None:
        self.system = system
        pda, domain = system.automaton, system.domain
        self.states, self.tops = list(pda.states), [pda.bottom, *pda.stack_alphabet]
        self.domains: list[State | None] = [None] if domain is None else list(domain.states)
        self.all: list[_Option] = []
        self.known: dict[tuple[int, ...], list[int]] = {}

    def at(self, heads: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the numbers of the options at each head (M, 2 + stacks), padded with -1, (M, K)."""
        different, which = np.unique(heads, axis=0, return_inverse=True)
        found = []
        for head in map(tuple, different.tolist()):
            if head not in self.known:
                new = list(self._look(*head))
                self.known[head] = list(range(len(self.all), len(self.all) + len(new)))
                self.all += new
            found.append(self.known[head])
        widest = max(map(len, found), default=0)
        return np.array([[*row, *[-1] * (widest - len(row))] for row in found], np.int64)[which.reshape(-1)]

    def column(self, name: str) -> npt.NDArray[np.int64]:
        """Return one field of all options found so far, (options, ...)."""
        return np.array([getattr(option, name) for option in self.all], np.int64)

    def _look(self, state: int, at: int, *tops: int) -> Iterator[_Option]:
        system, names = self.system, tuple(self.tops[top] for top in tops)
        for letter, symbol in enumerate(system.model.alphabet):
            step = system.automaton.transitions.get((self.states[state], symbol, names))
            after = None if system.domain is None else system.domain.step(self.domains[at], symbol)
            if step is not None and (system.domain is None or after is not None):
                pushes = tuple(0 if one.push is None else self.tops.index(one.push) for one in step.operations)
                yield _Option(
                    letter,
                    self.states.index(step.target),
                    self.domains.index(after),
                    tuple(operation.pop for operation in step.operations),
                    pushes,
                    tuple(map(Operation.of, step.operations))[: len(system.stacks)],
                    -1 if step.output is None else output_number(step.output, system.model),
                    tuple(self._places(step, symbol, names)),
                )

    def _places(self, step: Transition, symbol: Symbol, names: Tops) -> Iterator[_Where]:
        layout, both = self.system.layout, (symbol, *names)
        if self.system.model.recurrent:
            yield _HIDDEN, (step.target, *(both if layout.tops else both[:1]))
        for stack, operation in zip(self.system.stacks, step.operations, strict=False):
            if operation.push is not None:
                yield stack, (operation.push, *(both if layout.value_tops else both[:1]))


class _Walks:
    """Random walks of the automaton side by side, as arrays; each ends where it has nowhere to go."""

    def __init__(self, options: _Options, boxes: dict[_Where, tuple[Tensor, Tensor]], rng: np.random.Generator) -> None:
        self.options, self.boxes, self.rng, self.system = options, boxes, rng, options.system
        n_stacks = self.system.automaton.n_stacks
        self.taste = rng.exponential(size=(_WALKS, len(self.system.model.alphabet)))
        first = options.states.index(self.system.automaton.initial), options.domains.index(self.system.start[0].domain)
        self.places = np.tile(np.array(first, np.int64), (_WALKS, 1))  # state and domain
        self.cells = np.zeros((_WALKS, n_stacks, _LENGTH + 1), np.int64)  # of each stack; the bottom is below cell 1
        self.heights = np.zeros((_WALKS, n_stacks), np.int64)
        self.letters = np.full((_WALKS, _LENGTH), -1)
        self.alive = np.arange(_WALKS)

    def word(self, walk: int) -> tuple[Symbol, ...]:
        """Return what a walk has read so far."""
        return tuple(self.system.model.alphabet[letter] for letter in self.letters[walk] if letter >= 0)

    def run(self) -> Iterator[np.ndarray]:
        """Yield for each step where something was wrong with the walks that take it; these are ``alive``."""
        network: StackModel[Any] = Rounded(self.system.model)
        state = network.initial_state(_WALKS)
        for t in range(_LENGTH):
            tops = self._tops()
            chosen = self._choose(tops)
            rows = np.flatnonzero(chosen >= 0)
            if not len(rows):
                return
            self.alive, chosen, tops = self.alive[rows], chosen[rows], tops[rows]
            symbols = self.letters[self.alive, t] = self.options.column("letter")[chosen]
            self._advance(chosen)
            step = network.step(torch.from_numpy(symbols), state.select(torch.from_numpy(rows)))
            state = step.state
            yield self._differs(chosen, tops, step) | self._outside(chosen, step)

    def _tops(self) -> npt.NDArray[np.int64]:
        heights = self.heights[self.alive]
        return np.take_along_axis(self.cells[self.alive], heights[:, :, None], 2)[:, :, 0]

    def _choose(self, tops: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return one of the options of each walk, the ones that it likes more often; -1 where there is none, (M,)."""
        options = self.options.at(np.column_stack([self.places[self.alive], tops]))
        fits = options >= 0
        if not fits.any():
            return np.full(len(options), -1)
        if (limit := self.system.stack_limit) is not None:
            full = self.heights[self.alive].max(1, initial=0) >= limit
            pushes = (self.options.column("operations") == int(Operation.PUSH)).any(1)
            fits &= ~(full[:, None] & pushes[options])
        likes = self.taste[self.alive[:, None], self.options.column("letter")[options]] * fits
        wanted = self.rng.random(len(options)) * likes.sum(1)
        place = ((likes.cumsum(1) >= wanted[:, None]) & fits).argmax(1)
        return np.where(fits.any(1), options[np.arange(len(options)), place], -1)

    def _advance(self, chosen: npt.NDArray[np.int64]) -> None:
        """Move the automaton on, ``chosen`` (M,) the options of the walks that are alive."""
        walks, column = self.alive, self.options.column
        self.places[walks] = np.column_stack([column("state")[chosen], column("domain")[chosen]])
        pushes = column("pushes")[chosen]
        self.heights[walks] += (pushes > 0) * 1 - column("pops")[chosen]
        row, stack = np.nonzero(pushes)
        self.cells[walks[row], stack, self.heights[walks[row], stack]] = pushes[row, stack]

    def _differs(self, chosen: npt.NDArray[np.int64], tops: npt.NDArray[np.int64], step: Step[Any]) -> np.ndarray:
        """Return where the network rejected, or did or said something else than the automaton, (M,) bool."""
        model, different = self.system.model, step.state.rejected.numpy().copy()
        if self.system.stacks:
            done = operation_numbers(model.action_kind, model.operations, step.actions)
            done = done.expand(len(chosen), -1)[:, list(self.system.stacks)]
            wanted = torch.from_numpy(self.options.column("operations")[chosen])
            # a pop of nothing does nothing
            masks = np.where(tops == 0, int(Operation.PUSH), int(Operation.REPLACE))[:, : wanted.shape[1]]
            different |= ((done & torch.from_numpy(masks)) != wanted).any(1).numpy()
        if model.task_kind != "recognition":
            outputs = self.options.column("output")[chosen].astype(model.number_type)
            different |= (model.output_numbers(step.output) != outputs) & (outputs >= 0)
        return different

    def _outside(self, chosen: npt.NDArray[np.int64], step: Step[Any]) -> np.ndarray:
        """Return where a hidden vector or a pushed value is in none of the boxes that are meant for it, (M,) bool."""
        outside = np.zeros(len(chosen), dtype=bool)
        for option in np.unique(chosen):
            rows = np.flatnonzero(chosen == option)
            for place in self.options.all[option].places:
                pushed = None if place[0] == _HIDDEN else step.pushed.expand(len(chosen), -1, -1)[rows, place[0]]
                outside[rows] |= ~self._in_boxes(step.hidden[rows] if pushed is None else pushed, place)
        return outside

    def _in_boxes(self, values: Tensor, place: _Where) -> np.ndarray:
        if place not in self.boxes:
            return np.zeros(len(values), dtype=bool)
        low, high = self.boxes[place]
        rows = values.double().unsqueeze(1)
        inside: np.ndarray = ((low <= rows) & (rows <= high)).all(-1).any(1).numpy()
        return inside


def _by_tag(proof: Proof) -> dict[_Where, tuple[Tensor, Tensor]]:
    """Return the boxes of each tag, (B, D) each."""
    found = defaultdict[_Where, list[tuple[np.ndarray, np.ndarray]]](list)
    system = proof.system
    size = 2 + (system.automaton.n_stacks if system.layout.tops else 0)  # of a tag without the steps before the last
    for key, bounds in proof.bounds.items():
        if isinstance(key, Value):
            found[key.stack, key.tag].append(bounds)
        else:
            found[_HIDDEN, key.tag[:size]].append(bounds)
    sides = {place: [np.stack(side) for side in zip(*boxes, strict=True)] for place, boxes in found.items()}
    return {place: (torch.from_numpy(low), torch.from_numpy(high)) for place, (low, high) in sides.items()}
