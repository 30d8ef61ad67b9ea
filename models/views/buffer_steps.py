"""A buffered network (Hao et al. 2018, section 2.3), rounded, as a network that reads one letter in every step.

With whole strengths a step sees the letter at the front of the input queue, or that the queue is empty, and does four
things: it may pop and push, be done with the letter, and write. So it is a real-time network over the letters and one
more, "nothing left", that says at every step what it wrote and whether it was done with the letter. Its words are what
it sees step by step (`letters_seen`): a letter that it was not done with comes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from stacklens.automata.compiled import encode_words
from stacklens.automata.pda import Symbol, Word
from stacklens.models.base import ControllerOutput, NetworkState, StackModel
from stacklens.models.rounding import Rounded, Wrapper
from stacklens.models.stacks.strength import StrengthStack

__all__ = ["BufferSteps", "Seen", "letters_seen"]

_THRESHOLD = 0.5
_NO_LETTER = "⊣"


class Seen(NamedTuple):
    """What an output of the view says: the symbol written, None for none, and whether the letter was done with."""

    written: Symbol | None
    done: bool


class BufferSteps(Wrapper[Any]):
    """A buffered network step by step; see above. Only for single networks, and rounded: strengths count as 0 or 1.

    Args:
        model: the buffered network; its weights are shared, not copied.

    Attributes:
        nothing_left: the letter that stands for an empty input queue, the last of the alphabet.
        meanings: what each output says.
    """

    name: ClassVar[str] = "buffer steps"

    def __init__(self, model: StackModel[Any]) -> None:
        super().__init__(model)
        self.operations = model.operations[:2]
        self.known = len(model.alphabet)
        self.nothing_left = _NO_LETTER
        while self.nothing_left in model.alphabet:
            self.nothing_left += "'"
        self.alphabet = (*model.alphabet, self.nothing_left)
        self.real_time, self.extra_steps = True, 0
        symbols: list[Symbol | None] = [None, *model.output_alphabet]
        self.meanings = tuple(Seen(symbol, done) for done in (False, True) for symbol in symbols)

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        """Return the names of the `meanings`, their numbers."""
        return tuple(str(number) for number in range(len(self.meanings)))

    def initial_state(self, batch: int) -> NetworkState[StrengthStack]:
        """Return the network's own hidden vectors, and empty stacks."""
        state = self.model.initial_state(batch)
        return NetworkState(state.hidden, state.stack.stack, state.rejected, state.output)

    def feed(self, stack: StrengthStack, symbols: Tensor) -> StrengthStack:
        """Return the stacks as they are: what is read is told step by step."""
        del symbols
        return stack

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

    def said(self, output: Tensor, actions: Tensor, lengths: Tensor) -> Tensor:
        """Return ``output`` itself."""
        del actions, lengths
        return output

    def stack_of(self, cells: Tensor) -> StrengthStack:
        """Return stacks with one value of strength 1, ``cells`` (M, 1, 1, D), none where it is NaN."""
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
    return [
        tuple(view.alphabet[code] for code in row[:n]) for row, n in zip(seen.tolist(), steps.tolist(), strict=True)
    ]
