"""One word through a network, with the topmost cells of its stacks, however long the word is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stacklens.automata.pda import Word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import Trace, trace

__all__ = ["CELLS", "BenchRun", "bench_run", "filled_shares"]

CELLS = 8  # topmost cells of a stack that are kept of every step


@dataclass(frozen=True)
class BenchRun:
    """What a network does on one word of T steps.

    Attributes:
        model: the network, or the rounded one.
        word: the word.
        seen: its trace, without the stacks.
        cells: the topmost cells of every stack after each step, (T, n_stacks, C, D), C at most `CELLS`; None where the
            memory has no cells.
        filled: which share of each of these cells was pushed, (T, n_stacks, C): 0 is an empty cell. None where the
            actions do not say.
        accepts: whether a recogniser accepts what it has read so far, (len(word) + 1,) bool, first the empty word; None
            for others.
    """

    model: StackModel[Any]
    word: Word
    seen: Trace
    cells: np.ndarray | None
    filled: np.ndarray | None
    accepts: np.ndarray | None

    @property
    def steps(self) -> int:
        """Return the number of steps, T."""
        return int(self.seen.steps[0])


@torch.no_grad()
def bench_run(model: StackModel[Any], word: Word) -> BenchRun:
    """Return what ``model`` does on ``word``, in a time that grows with its length and not with its square.

    Raises:
        UnknownSymbolError: the word has a symbol outside the network's alphabet.
    """
    seen = trace(model, [word], stacks=False)
    recogniser = model.task_kind == "recognition"
    if not recogniser and not hasattr(model.initial_state(1).stack, "topmost"):
        return BenchRun(model, word, seen, None, None, None)
    state, cells, accepts = model.initial_state(1), list[np.ndarray](), list[bool]()
    if recogniser:
        accepts.append(bool(model.verdict(state)[0]))
    for step, number in enumerate(seen.symbols[0, : seen.steps[0]].tolist()):
        state = model.step(torch.tensor([number]), state).state
        if hasattr(state.stack, "topmost"):
            cells.append(_top(state.stack, model))
        if recogniser and step < len(word):
            accepts.append(bool(model.verdict(state)[0]))
    kept = np.stack(cells) if cells else None
    filled = None if kept is None else filled_shares(model, seen.actions[0, : len(kept)], kept.shape[2])
    return BenchRun(model, word, seen, kept, filled, np.array(accepts) if recogniser else None)


def _top(stack: Any, model: StackModel[Any]) -> np.ndarray:
    """Return the topmost cells of a stack, (n_stacks, C, D)."""
    found: np.ndarray = stack.topmost(min(CELLS, model.stack_limit or CELLS)).cpu().numpy()[0]
    return found


def filled_shares(model: StackModel[Any], actions: np.ndarray, cells: int) -> np.ndarray | None:
    """Return which share of each of the topmost ``cells`` was pushed, (T, n_stacks, cells), between 0 and 1.

    The actions (T, n_stacks, A) move what was pushed as they move values (Joulin & Mikolov 2015, eq. 3): what lies in a
    soft cell is a mixture, and this is the share of it that any push has laid there. None where the actions are of
    another kind.
    """
    names = model.operations
    if model.action_kind != "softmax" or not {"push", "pop"} <= set(names) <= {"push", "pop", "none", "no-op"}:
        return None
    depth = min(len(actions), model.stack_limit or len(actions)) + 1
    push, pop = (actions[..., names.index(name), None] for name in ("push", "pop"))
    stays = np.clip(1 - push - pop, 0, 1)
    shares, found = np.zeros((actions.shape[1], depth + 1)), []
    for t in range(len(actions)):
        above = np.pad(shares[:, :-1], ((0, 0), (1, 0)), constant_values=1.0)
        below = np.pad(shares[:, 1:], ((0, 0), (0, 1)))
        shares = push[t] * above + pop[t] * below + stays[t] * shares
        found.append(np.pad(shares[:, :cells], ((0, 0), (0, max(0, cells - shares.shape[1])))))
    return np.clip(np.stack(found), 0, 1) if found else np.zeros((0, actions.shape[1], cells))


def soft_model(model: StackModel[Any]) -> StackModel[Any]:
    """Return the network itself, where it may be the rounded one."""
    return model.model if isinstance(model, Rounded) else model
