"""Which views a network has, the simplest first."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ..automata.enumeration import encode_words
from ..automata.pda import Symbol, Word
from ..core.errors import fresh
from .base import ControllerOutput, NetworkState, StackModel
from .rounding import Rounded, Wrapper, named_operations
from .stacks import EMPTY_READING, RING_OPERATIONS, StrengthStack, SuperpositionStack

# ---- What every view is: a rounded network whose memory is no stack, as a network that pushes, pops or does nothing.
# A view takes whole operations only, those that the rounded network would take, so it is a network for extraction and
# not one to train: what is found on it is to be checked against the rounded network itself.

PUSH, POP, NONE = range(3)  # the places of a view's operations


class StackView(Wrapper[Any]):
    """A network on stacks that does as ``model``, rounded, does for as long as what it assumes holds. Hidden vectors
    begin with the network's own, which is followed by what the view has to remember beside its stacks.

    ``model``: a single network. ``tables``: for each of a memory's stacks the place in `operations` of what it does.
    """

    name: ClassVar[str] = "stack view"
    title: str  # what the view is called in a sentence
    assumes: str | None = None  # what it takes for granted of the network's memory; None where it is exact
    stack_names: tuple[str, ...]  # what each of its stacks is in the network's memory
    memories: tuple[int, ...]  # the number of the network's memory that each of its stacks is part of
    empty_value: float = 0.0  # what a cell holds that nothing was laid in
    remembered: int = 0  # how many numbers stand behind the network's own hidden vector

    def __init__(self, model: StackModel[Any], tables: Sequence[Sequence[int]], **changes: Any) -> None:
        super().__init__(model, action_kind="softmax", operations=("push", "pop", "none"), **changes)
        start = model.initial_state(1).hidden
        self.own = start.shape[-1]
        self.register_buffer("tables", torch.tensor(tables, device=start.device), persistent=False)
        self.tables: Tensor

    def operations_of(self, actions: Tensor) -> Tensor:
        """Return what the stacks do, (B, n_stacks), as places in `operations`, at the network's ``actions``. These are
        (B, memories, A), soft or rounded: the largest share counts.
        """
        return self.tables[:, actions.argmax(-1)].movedim(0, 1).flatten(1)

    def operation_numbers(self, actions: Tensor) -> np.ndarray:
        """Return what the stacks do, (B, n_stacks), as numbers of `Operation`, at the network's ``actions``."""
        return np.take(named_operations(self.operations), self.operations_of(actions).cpu().numpy())

    def cells_for(self, stacks: Sequence[int]) -> int | None:
        """Return up to which height of each the view is the network where it has these ``stacks``; None for any."""
        return self.stack_limit

    def unused(self, taken: Sequence[str]) -> str | None:
        """Return why what is assumed holds if the network only takes the operations ``taken``; None if it need not."""
        return None

    def whole_actions(self, operations: Tensor, like: Tensor) -> Tensor:
        """Return ``operations`` (B, n_stacks) as shares of 0 and 1, (B, n_stacks, 3)."""
        return nn.functional.one_hot(operations, len(self.operations)).to(like.dtype)

    def initial_state(self, batch: int) -> NetworkState[Any]:
        state = self.model.initial_state(batch)
        hidden = nn.functional.pad(state.hidden, (0, self.remembered))
        stack = self.stack_of(hidden.new_zeros(batch, self.n_stacks, 0, self.cell_size))
        return NetworkState(hidden, stack, state.rejected, state.output)

    def stack_of(self, cells: Tensor) -> SuperpositionStack:
        empty, limit = self.empty_value, self.stack_limit
        return SuperpositionStack.from_cells(cells, empty_value=empty, depth=self.depth, limit=limit)


# ---- The lists of a List RNN as stacks (Joulin & Mikolov 2015, section 3): two a list, on either side of its head.
# LEFT has the head on top and the cells to its left below it, RIGHT the cells to the right of the head, the nearest on
# top. With v the new element, the rounded list does
#
#     insert   LEFT.push(v)
#     left     LEFT.pop, RIGHT.push(the head)
#     right    RIGHT.pop, LEFT.push(what RIGHT had on top)
#     no-op    nothing
#
# where the top of an empty side is the empty value, -1. That is the list itself, at any length.

LIST_OPERATIONS = ("insert", "left", "right", "none")  # the last one not in all networks
_LEFT, _RIGHT = (PUSH, POP, PUSH, NONE), (NONE, PUSH, POP, NONE)
_MOVE_RIGHT = 2


class ListsAsStacks(StackView):
    """Lists as two stacks each: those of all heads and what is left of them come first, (B, 2 n_lists, depth)."""

    title = "each of its lists as two stacks"
    empty_value = EMPTY_READING

    def __init__(self, model: StackModel[Any]) -> None:
        super().__init__(model, (_LEFT, _RIGHT), n_stacks=2 * model.n_stacks)
        self.lists = model.n_stacks
        self.memories = (*range(self.lists), *range(self.lists))
        self.stack_names = tuple(
            f"{side} of list {number + 1}"
            for side in ("the head and the left", "the right")
            for number in range(self.lists)
        )

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        left, right = reading[:, : self.lists], reading[:, self.lists :]
        answer = self.model.controller(symbols, hidden, left)
        moves_right = (answer.actions.argmax(-1) == _MOVE_RIGHT).unsqueeze(-1)
        laid = torch.cat([torch.where(moves_right, right[..., :1], answer.pushed), left[..., :1]], 1)
        done = self.whole_actions(self.operations_of(answer.actions), left)
        return ControllerOutput(answer.hidden, done, laid, answer.output)


# ---- The ring of a Baby-NTM as stacks (Suzgun et al. 2019, section 3.3): as one, as one that is mirrored, and as two.
# Let `first` be the cell that is seen, R the cells to the right of it, the nearest on top, L those that the ring's end
# leads to, the last one on top, and v the new element. The rounded ring does
#
#     rotate right   R.push(first)   first = L.pop + v        rotate left   L.push(first)   first = R.pop + v
#     pop right      R.push(first)   L.pop, first = v         pop left      L.push(0)       first = R.pop + v
#     no-op          first = first + v
#
# where a pop of nothing gives 0. So it is two stacks and a cell that can be remembered, until the ends of R and L
# meet: with N cells, as long as both together have N - 1 at most.
#
# Networks use it as one stack, mostly: what pushes is rotate right or pop right, what pops is rotate left or pop left.
# If L gives nothing then, two numbers are enough: `top`, the element pushed, and `pending`, what was added since,
#
#     first = top + pending
#     push: top = v, pending = 0         pop: pending = v         no-op: pending = pending + v
#
# which forgets what a pop had added to a cell that is covered again. The stack holds elements then, and no sums: few
# different ones.

# of `RING_OPERATIONS`: rotate right, rotate left, no-op, pop right, pop left
_ONE = PUSH, POP, NONE, PUSH, POP
_MIRRORED = POP, PUSH, NONE, POP, PUSH
_ROTATE_RIGHT, _ROTATE_LEFT, _STAY, _, _POP_LEFT = range(len(RING_OPERATIONS))


class _RingView(StackView):
    """What both forms share. ``model``: a single network on a ring."""

    def __init__(self, model: StackModel[Any], tables: Sequence[Sequence[int]]) -> None:
        cells, count = model.stack_limit or 1, len(tables)
        super().__init__(model, tables, n_stacks=count, depth=1, stack_limit=max(1, cells - 1), recurrent=True)
        self.ring_size, self.memories, self.remembered = cells, (0,) * count, self.cell_size


class RingAsStack(_RingView):
    """A ring as one stack whose first cell is `top + pending`; hidden vectors are (h, pending), (B, H + D). It is the
    ring where nothing that was turned away comes back (see `unused`), the ring is not full, and what a pop adds to a
    cell no longer counts when it is covered.

    ``model``: a single network on a ring. ``mirrored``: whether rotating left is what pushes.
    """

    def __init__(self, model: StackModel[Any], *, mirrored: bool = False) -> None:
        super().__init__(model, [_MIRRORED if mirrored else _ONE])
        self.mirrored = mirrored
        self.title = "its ring as one stack" + (", mirrored" if mirrored else "")
        self.stack_names = ("the first cell and those to its " + ("left" if mirrored else "right"),)
        self.assumes = (
            f"that the ring of {self.ring_size} cells does not come round, that nothing turned away is read again, and "
            "that what pops add to a cell is forgotten once it is covered"
        )

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the controller's answer to `top + pending`; ``reading`` (B, 1, D) is the top."""
        own, pending = hidden[:, : self.own], hidden[:, self.own :]
        answer = self.model.controller(symbols, own, (reading[:, 0] + pending).unsqueeze(1))
        done, new = self.operations_of(answer.actions), answer.pushed[:, 0]
        stays = pending * (done == NONE).to(pending.dtype)
        pending = torch.where(done == PUSH, torch.zeros_like(new), stays + new)
        after = torch.cat([answer.hidden, pending], -1)
        return ControllerOutput(after, self.whole_actions(done, new), answer.pushed, answer.output)

    def unused(self, taken: Sequence[str]) -> str | None:
        """Return why nothing that was turned away is read again if only the operations ``taken`` occur. Rotating left
        turns the first cell away and rotating right reads it again; popping left turns a 0 away, and popping right
        reads nothing. The mirrored form has no such pair.
        """
        if self.mirrored or {"rotate left", "rotate right"} <= set(taken):
            return None
        names = " or ".join(name for name in ("rotate right", "rotate left") if name not in taken)
        return f"it does not {names}, so nothing turned away is read again"


class RingAsTwoStacks(_RingView):
    """A ring as its first cell and two stacks, R and L, whose ends must not meet; hidden vectors: (h, first)."""

    title = "its ring as two stacks"
    stack_names = ("the cells to the right of the first", "the cells to the left of the first")

    def __init__(self, model: StackModel[Any]) -> None:
        super().__init__(model, [_ONE, _MIRRORED])
        self.assumes = f"that the ends of the ring of {self.ring_size} cells do not meet"

    def cells_for(self, stacks: Sequence[int]) -> int:
        """Return up to which height of each of ``stacks`` the ends cannot meet."""
        return max(1, (self.ring_size - 1) // max(1, len(stacks)))

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the controller's answer to the first cell; ``reading`` (B, 2, D) are the tops of R and L."""
        own, first = hidden[:, : self.own], hidden[:, self.own :]
        answer = self.model.controller(symbols, own, first.unsqueeze(1))
        done = self.operations_of(answer.actions)
        kinds = answer.actions[:, 0].argmax(-1, keepdim=True)
        nothing = torch.zeros_like(first)
        left = torch.where(kinds == _ROTATE_RIGHT, reading[:, 1], nothing)
        right = torch.where((kinds == _ROTATE_LEFT) | (kinds == _POP_LEFT), reading[:, 0], nothing)
        stays = torch.where(kinds == _STAY, first, nothing)
        after = torch.cat([answer.hidden, left + right + stays + answer.pushed[:, 0]], -1)
        laid = torch.stack([first, torch.where(kinds == _POP_LEFT, nothing, first)], 1)
        return ControllerOutput(after, self.whole_actions(done, first), laid, answer.output)


# ---- Which views a network has, the simplest first ----


def views_of(model: StackModel[Any]) -> Sequence[StackView]:
    """Return ``model`` as networks on stacks, the simplest first; none where it is one itself, or no view is known.

    >>> from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig
    >>> [view.title for view in views_of(BabyNTM(MarnnConfig(("(", ")"))))]
    ['its ring as one stack', 'its ring as one stack, mirrored', 'its ring as two stacks']
    """
    if model.reads_after:  # outputs see the memory itself, of which a view has other cells
        return ()
    if model.operations == RING_OPERATIONS and model.stack_limit is not None:
        return RingAsStack(model), RingAsStack(model, mirrored=True), RingAsTwoStacks(model)
    if model.operations in (LIST_OPERATIONS, LIST_OPERATIONS[:-1]):
        return (ListsAsStacks(model),)
    return ()


# ---- A buffered network (Hao et al. 2018, section 2.3), rounded, as a network that reads one letter in every step.
# With whole strengths a step sees the letter at the front of the input queue, or that the queue is empty, and does
# four things: it may pop and push, be done with the letter, and write. So it is a real-time network over the letters
# and one more, "nothing left", that says at every step what it wrote and whether it was done with the letter. Its
# words are what it sees step by step (`letters_seen`): a letter that it was not done with comes again.

_THRESHOLD = 0.5
_NO_LETTER = "⊣"


class Seen(NamedTuple):
    """What an output of the view says: the symbol written, None for none, and whether the letter was done with."""

    written: Symbol | None
    done: bool


class BufferSteps(Wrapper[Any]):
    """A buffered network step by step; see above. Only for single networks, and rounded: strengths count as 0 or 1.
    ``nothing_left``: the letter that stands for an empty input queue, the last of the alphabet.
    """

    name: ClassVar[str] = "buffer steps"
    title = "its queues, step by step"

    def __init__(self, model: StackModel[Any]) -> None:
        nothing_left = fresh(_NO_LETTER, model.alphabet)
        letters = (*model.alphabet, nothing_left)
        super().__init__(model, operations=model.operations[:2], alphabet=letters, real_time=True, extra_steps=0)
        self.known, self.nothing_left = len(model.alphabet), nothing_left
        symbols: list[Symbol | None] = [None, *model.output_alphabet]
        self.meanings = tuple(Seen(symbol, done) for done in (False, True) for symbol in symbols)

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(len(self.meanings)))

    def initial_state(self, batch: int) -> NetworkState[StrengthStack]:
        state = self.model.initial_state(batch)
        return NetworkState(state.hidden, state.stack.stack, state.rejected, state.output)

    # its stacks are fed nothing, and nothing is written to a queue
    feed = StackModel.feed
    outputs_per_symbol = StackModel.outputs_per_symbol

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the controller's answer where ``symbols`` (B,) are at the front of the queues; (pop, push) only."""
        front = nn.functional.one_hot(symbols.clamp(0, self.known), self.known + 1)[:, : self.known]
        seen = torch.cat([front.to(reading.dtype).unsqueeze(-2), reading], -1)
        answer = self.model.controller(symbols, hidden, seen)
        done, writes = (answer.actions[:, 0, place] >= _THRESHOLD for place in (2, 3))
        symbol = torch.where(writes, 1 + answer.output.argmax(-1), 0)
        number = symbol + done * (len(self.meanings) // 2)
        output = nn.functional.one_hot(number, len(self.meanings)).to(reading.dtype)
        return ControllerOutput(answer.hidden, answer.actions[..., :2], answer.pushed, output)

    def stack_of(self, cells: Tensor) -> StrengthStack:
        return StrengthStack.of_cells(cells)


@torch.no_grad()
def letters_seen(view: BufferSteps, words: Sequence[Word]) -> list[tuple[Symbol, ...]]:
    """Return what the rounded network sees on each word, step by step: letters, and `nothing_left` behind them."""
    model = view.model
    codes, lengths = encode_words([(*word, *model.reads_on) for word in words], model.alphabet)
    if not codes.size:
        return [()] * len(words)
    symbols = torch.from_numpy(codes.T.astype(np.int64))
    done = Rounded(model).run(symbols, model.initial_state(len(words))).actions[:, :, 0, 2].round().long().numpy().T
    places = np.cumsum(done, 1) - done  # (N, S): how many letters it was done with before each step
    padded = np.pad(np.where(codes < 0, view.known, codes), ((0, 0), (0, 1)), constant_values=view.known)
    seen = np.take_along_axis(padded, np.minimum(places, padded.shape[1] - 1), 1)
    steps = lengths * (1 + model.extra_steps)
    return [tuple(view.alphabet[x] for x in row[:n]) for row, n in zip(seen.tolist(), steps.tolist(), strict=True)]
