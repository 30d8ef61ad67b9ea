"""Everything that a network did on some words, as labelled arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from stacklens.automata.compiled import encode_words
from stacklens.automata.pda import Word
from stacklens.models.base import NetworkState, StackModel
from stacklens.models.rounding import Rounded
from stacklens.probe.contents import memory_size, topmost_cells

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Trace", "trace"]

_KEPT = ("actions", "pushed", "reading", "output")
_CHUNK = 2_048  # words run together: large enough for whole-array work, small enough for the caches


@dataclass(frozen=True)
class Trace:
    """What a network did, step by step: N words, T steps of the longest, NaN (False, -1) beyond shorter words.

    With an end symbol every word has one step more than symbols; a network with extra steps takes these at the end,
    reading ε. Step t reads symbol t, so `hidden[:, t]` and
    `reading[:, t]` are what the controller saw at step t, and `hidden[:, t + 1]` is what it answered.

    Attributes:
        words: the words.
        letters: what `symbols` counts in: the alphabet and the end symbol, if there is one.
        symbols: which letter each step read, (N, T) int, -1 beyond the end.
        steps: the number of steps of each word, (N,) int.
        hidden: hidden vectors, (N, T + 1, H), the initial one first.
        actions: the soft (or rounded) actions, (N, T, n_stacks, A).
        pushed: what a push lays down, (N, T, n_stacks, D).
        reading: what the controller saw of the stacks, (N, T, n_stacks, R).
        output: the controller's output, (N, T, O).
        rejected: whether the word was rejected for good by the end of the step, (N, T) bool.
        verdicts: whether the network accepts the word, or, for others than recognisers, reads all of it, (N,) bool.
        lengths: for continuous stacks, how much of what step s pushed is left after step t, (N, T, T), where asked for.
        cells: for memories with cells, what these hold after every step, (N, T, n_stacks, C, D), the top first, where
            asked for: C is the number of cells of a ring; else T, or how many there are if that is less.
    """

    words: tuple[Word, ...]
    letters: tuple[str, ...]
    symbols: np.ndarray
    steps: np.ndarray
    hidden: np.ndarray
    actions: np.ndarray
    pushed: np.ndarray
    reading: np.ndarray
    output: np.ndarray
    rejected: np.ndarray
    verdicts: np.ndarray
    lengths: np.ndarray | None = None
    cells: np.ndarray | None = None

    @property
    def valid(self) -> np.ndarray:
        """Return which steps are real ones, (N, T) bool."""
        within: np.ndarray = np.arange(self.symbols.shape[1]) < self.steps[:, None]
        return within

    def segments(self, word: int, step: int) -> list[tuple[str, float]]:
        """Return the continuous stack of word number ``word`` after ``step``, bottom first, as (symbol, length) pairs.

        This is what the paper's figures 4-6 and tables 1-2 show; what has no length left is not listed.

        Raises:
            ValueError: the trace was made with ``stacks=False``, or the network has no continuous stack.
        """
        if self.lengths is None:
            raise ValueError("this trace has no stack contents: trace a continuous-stack network with stacks=True")
        lengths = self.lengths[word, step, : step + 1]
        return [(self.letters[self.symbols[word, s]], float(lengths[s])) for s in np.flatnonzero(lengths > 0)]

    def to_pandas(self) -> pd.DataFrame:
        """Return one row a step: word, step, symbol, hidden vector after it, actions, readings, output, rejected."""
        import pandas as pd

        word, step = np.nonzero(self.valid)
        columns: dict[str, Any] = {
            "word": word,
            "step": step,
            "symbol": np.array(self.letters, dtype=object)[self.symbols[word, step]],
        }
        arrays = {
            "hidden": self.hidden[:, 1:],
            "action": self.actions,
            "pushed": self.pushed,
            "reading": self.reading,
            "output": self.output,
        }
        for name, array in arrays.items():
            rows = array[word, step]
            for place in np.ndindex(rows.shape[1:]):
                columns["_".join((name, *map(str, place)))] = rows[:, *place]
        return pd.DataFrame({**columns, "rejected": self.rejected[word, step]})


@torch.no_grad()
def trace(
    model: StackModel[Any], words: Sequence[Word] | Word, *, rounded: bool = False, stacks: bool | None = None
) -> Trace:
    """Return everything that ``model`` does on ``words`` (a single word as a str will do).

    Args:
        model: one network; rounded networks can be traced too.
        words: the words, empty ones included.
        rounded: trace the network with discrete actions instead (Sun et al. 1993, eq. 21).
        stacks: keep the contents of the stacks after every step, about N T^2 lengths or cells; by default where these
            are fewer than ten million numbers.

    Raises:
        UnknownSymbolError: a word has a symbol outside the network's alphabet.

    >>> from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
    >>> seen = trace(NNPDA(NNPDAConfig(("a", "b", "c"))), ["abcba", "c"])
    >>> seen.hidden.shape, seen.actions.shape, seen.steps
    ((2, 6, 4), (2, 5, 1, 1), array([5, 1]))
    """
    words = (words,) if isinstance(words, str) else tuple(words)
    codes, steps = encode_words(words, model.alphabet)
    letters = model.alphabet
    if model.end is not None:
        codes = np.concatenate([codes, np.full((len(words), 1), -1, codes.dtype)], 1)
        codes[np.arange(len(words)), steps] = len(letters)
        letters, steps = (*letters, model.end), steps + 1
    if model.extra_steps:
        letters, codes, steps = _with_extra_steps(letters, codes, steps, model.extra_steps)
    if stacks is None:
        numbers = 1 if model.pushes_input else model.n_stacks * model.cell_size
        stacks = len(words) * codes.shape[1] ** 2 * numbers < 10_000_000
    runner = Rounded(model) if rounded else model
    parts = [
        _trace_chunk(runner, codes[begin : begin + _CHUNK], steps[begin : begin + _CHUNK], stacks)
        for begin in range(0, max(1, len(words)), _CHUNK)
    ]
    arrays: dict[str, Any] = {
        name: None if parts[0][name] is None else np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    return Trace(words, letters, codes, steps, **arrays)


def _with_extra_steps(
    letters: tuple[str, ...], codes: np.ndarray, steps: np.ndarray, extra: int
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Return letters, symbols and steps with ``extra`` steps for every symbol, which read nothing, ε, at the end."""
    size = codes.shape[1] * (1 + extra)
    longer = np.full((len(codes), size), len(letters), codes.dtype)
    longer[:, : codes.shape[1]] = np.where(codes < 0, len(letters), codes)
    steps = steps * (1 + extra)
    return (*letters, "ε"), np.where(np.arange(size) < steps[:, None], longer, -1), steps


def _trace_chunk(model: StackModel[Any], codes: np.ndarray, steps: np.ndarray, stacks: bool) -> dict[str, Any]:
    state = model.initial_state(len(codes))
    symbols = torch.from_numpy(np.maximum(codes, 0).astype(np.int64)).to(state.hidden.device)
    hidden, rejected = [state.hidden], []
    taken: list[list[torch.Tensor]] = []  # copies: a reading is a view that would keep its whole stack in memory
    lengths: list[torch.Tensor] = []
    cells: list[torch.Tensor | None] = []
    size = memory_size(state.stack, codes.shape[1])
    decisions = [_standing(model, state)]
    for column in symbols.unbind(1):
        step = model.step(column, state)
        state = step.state
        taken.append([getattr(step, name).clone() for name in _KEPT])
        rejected.append(state.rejected)
        hidden.append(step.hidden)
        decisions.append(_standing(model, state))
        if stacks and hasattr(state.stack, "lengths"):
            lengths.append(state.stack.lengths)
        cells.append(topmost_cells(state.stack, size) if stacks else None)
    valid = np.arange(codes.shape[1]) < steps[:, None]
    arrays: dict[str, Any] = _arrays(taken, rejected, valid)
    arrays["hidden"] = _masked(torch.stack(hidden, 1), np.pad(valid, ((0, 0), (1, 0)), constant_values=True))
    decided = torch.stack(decisions, 1).cpu().numpy()
    arrays["verdicts"] = decided[np.arange(len(codes)), steps]
    arrays["lengths"] = _padded(lengths, valid) if lengths else None
    kept = [one for one in cells if one is not None]
    arrays["cells"] = _masked(torch.stack(kept, 1), valid) if kept else None
    return arrays


def _standing(model: StackModel[Any], state: NetworkState[Any]) -> torch.Tensor:
    """Return which words would be accepted if they ended here, the end symbol having been read, (B,) bool."""
    return model.decide(state) & ~state.rejected if model.task_kind == "recognition" else ~state.rejected


def _arrays(taken: list[list[torch.Tensor]], rejected: list[torch.Tensor], valid: np.ndarray) -> dict[str, Any]:
    if not taken:  # only empty words: shapes as after one step, with no steps
        return {**{name: np.zeros((len(valid), 0, 0, 0)) for name in _KEPT}, "rejected": valid}
    arrays: dict[str, Any] = {}
    for name, columns in zip(_KEPT, zip(*taken, strict=True), strict=True):
        expanded = [column.expand(len(valid), *column.shape[1:]) for column in columns]
        arrays[name] = _masked(torch.stack(expanded, 1), valid)
    return {**arrays, "rejected": torch.stack(rejected, 1).cpu().numpy() & valid}


def _masked(values: torch.Tensor, valid: np.ndarray) -> np.ndarray:
    array: np.ndarray = values.cpu().numpy()
    array[~valid] = np.nan
    return array


def _padded(lengths: list[torch.Tensor], valid: np.ndarray) -> np.ndarray:
    """Return the slots' lengths after every step, (N, T, T), 0 where a slot is yet to come."""
    size = valid.shape[1]
    padded = [torch.nn.functional.pad(column, (0, size - column.shape[-1])) for column in lengths]
    return _masked(torch.stack(padded, 1), valid)
