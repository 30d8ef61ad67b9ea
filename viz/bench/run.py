"""One word through a network, with the topmost cells of its stacks, however long the word is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stacklens.automata.pda import Word
from stacklens.errors import UnknownSymbolError
from stacklens.models.base import NetworkState, StackModel
from stacklens.probe.kernel import Intervened
from stacklens.probe.trace import Trace, trace
from stacklens.viz.bench.changed_stack import shares_at

__all__ = ["CELLS", "BenchRun", "bench_run", "filled_shares"]

_KEPT = ("actions", "pushed", "reading", "output")  # of every step
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

    A network under intervention is one for its word, and runs once.

    Raises:
        UnknownSymbolError: the word has a symbol outside the network's alphabet.
    """
    state = model.initial_state(1)
    recogniser, has_cells = model.task_kind == "recognition", hasattr(state.stack, "topmost")
    changed = isinstance(model, Intervened)
    if model.extra_steps or not (recogniser or has_cells or changed):
        return BenchRun(model, word, trace(model, [word], stacks=False), None, None, None)
    codes = _codes(model, word)
    entered = model.entered if isinstance(model, Intervened) else _as_it_is
    plain = model.model if isinstance(model, Intervened) else model  # whose verdict is that of a word that ends here
    taken, cells = list[Any](), list[np.ndarray]()
    accepts = [bool(plain.verdict(state)[0])] if recogniser else []
    state = entered(state, 0)
    hidden = [state.hidden]
    for step, number in enumerate(codes.tolist()):
        taken.append(model.step(torch.tensor([number]), state))
        state = taken[-1].state
        if recogniser and step < len(word):
            accepts.append(bool(plain.verdict(state)[0]))
        state = entered(state, step + 1)
        hidden.append(state.hidden)
        if has_cells:
            cells.append(_top(state.stack, model))
        taken[-1] = {name: getattr(taken[-1], name).numpy().copy() for name in _KEPT} | {
            "rejected": bool(state.rejected[0])
        }
    if recogniser:  # what has been changed at the end counts, too
        accepts[-1] = bool((model.decide(state) & ~state.rejected)[0])
    seen = _trace_of(model, word, codes, torch.stack(hidden, 1).numpy(), taken)
    kept = np.stack(cells) if cells else None
    filled = None if kept is None else filled_shares(model, seen.actions[0], kept.shape[2])
    return BenchRun(model, word, seen, kept, filled, np.array(accepts) if recogniser else None)


def _as_it_is(state: NetworkState[Any], step: int) -> NetworkState[Any]:
    del step
    return state


def _codes(model: StackModel[Any], word: Word) -> np.ndarray:
    """Return the number of the letter that each step reads, (T,)."""
    numbers = {symbol: number for number, symbol in enumerate(model.alphabet)}
    unknown = next((symbol for symbol in word if symbol not in numbers), None)
    if unknown is not None:
        raise UnknownSymbolError(unknown, model.alphabet)
    return np.array([*(numbers[symbol] for symbol in word), *[len(numbers)] * (model.end is not None)], np.int32)


def _trace_of(
    model: StackModel[Any], word: Word, codes: np.ndarray, hidden: np.ndarray, taken: list[dict[str, Any]]
) -> Trace:
    """Return the steps ``taken`` as a trace of one word, as `trace` gives it without the stacks."""
    if not taken:
        return trace(model, [word], stacks=False)
    arrays: dict[str, Any] = {name: np.stack([step[name][0] for step in taken])[None] for name in _KEPT}
    rejected = np.array([[step["rejected"] for step in taken]])
    steps = np.array([len(codes)], np.int64)
    return Trace(
        (word,), model.letters, codes[None], steps, hidden, **arrays, rejected=rejected, verdicts=~rejected[:, -1]
    )


def _top(stack: Any, model: StackModel[Any]) -> np.ndarray:
    """Return the topmost cells of a stack, (n_stacks, C, D)."""
    found: np.ndarray = stack.topmost(min(CELLS, model.stack_limit or CELLS)).cpu().numpy()[0]
    return found[:, :CELLS]  # a ring gives all that it has


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
    put = shares_at(model)
    shares = put(0, np.zeros((actions.shape[1], depth + 1)))
    found, kept = np.zeros((len(actions), actions.shape[1], cells)), min(cells, depth + 1)
    for t in range(len(actions)):
        after = stays[t] * shares
        after[:, :1] += push[t]
        after[:, 1:] += push[t] * shares[:, :-1]
        after[:, :-1] += pop[t] * shares[:, 1:]
        shares = put(t + 1, after)
        found[t, :, :kept] = shares[:, :kept]
    return np.clip(found, 0, 1)
