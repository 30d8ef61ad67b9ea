"""Saliency: on which earlier steps a decision depends, by gradients, beside the step that the automaton's top is from.

The margin of the decision at step t is differentiated with respect to what step s < t handed on: what it pushed, and
its hidden vector, with all that was made of it in step s. The automaton tells which step laid the symbol that is on
top at step t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.languages.words import format_word
from stacklens.models.base import StackModel
from stacklens.probe.moments import check_stepwise
from stacklens.probe.trace import steps_of

if TYPE_CHECKING:
    import pandas as pd

    from stacklens.progress import Told

__all__ = ["Saliency", "origins", "saliency"]


@dataclass(frozen=True, eq=False)
class Saliency:
    """On what every decision on a word depends.

    Attributes:
        word: the word.
        letters: what each of T steps reads.
        pushed: length of the gradient of the decision at step t with respect to what step s pushed, (T, T), 0 for
            s >= t.
        hidden: the same with respect to the hidden vector after step s.
        margins: of the decisions, (T,).
        origin: which step laid the automaton's top before step t, (T,); -1 for an empty stack, or no automaton.
    """

    word: Word
    letters: tuple[str, ...]
    pushed: np.ndarray
    hidden: np.ndarray
    margins: np.ndarray
    origin: np.ndarray

    @property
    def agreement(self) -> float:
        """Return at which share of decisions on a non-empty stack the step pushed most salient is the top's own.

        NaN where there is none.
        """
        rows = np.flatnonzero(self.origin >= 0)
        if not len(rows):
            return float("nan")
        return float((self.pushed[rows].argmax(1) == self.origin[rows]).mean())

    def to_frame(self) -> pd.DataFrame:
        """Return one row a decision: symbol, margin, most salient step by push and by hidden vector, the top's step.

        Steps count from 0, as in a trace; -1 stands for none.
        """
        import pandas as pd

        return pd.DataFrame(
            {
                "step": np.arange(len(self.letters)),
                "symbol": self.letters,
                "margin": self.margins,
                "pushed_by": np.where(self.pushed.any(1), self.pushed.argmax(1), -1),
                "remembered_from": np.where(self.hidden.any(1), self.hidden.argmax(1), -1),
                "top_from": self.origin,
            }
        )

    def __str__(self) -> str:
        """Return the table for people, whose steps count from 1, and how often both agree."""
        frame = self.to_frame()
        frame["step"] += 1
        for name in ("pushed_by", "remembered_from", "top_from"):
            frame[name] = ["none" if step < 0 else str(step + 1) for step in frame[name]]
        shown: str = frame.to_string(index=False, float_format="{:.3f}".format)
        share = "–" if np.isnan(self.agreement) else f"{self.agreement:.3f}"
        agreed = f"pushes agree with the automaton's top at {share} of decisions"
        return f"{shown}\n{format_word(self.word)}: {agreed}"


def saliency(
    model: StackModel[Any], word: Word, automaton: PushdownAutomaton | None = None, progress: Told | None = None
) -> Saliency:
    """Return on which earlier steps every decision of ``model`` on ``word`` depends.

    Args:
        model: a single network, with soft actions: rounded ones have no gradient.
        word: the word.
        automaton: what the network's tops are compared with.
        progress: told how many decisions are done: each takes as long as all steps before it.

    Raises:
        StacklensError: the network has no stack, does not run step by step, or has no step on the word.
        UnknownSymbolError: a symbol of the word is not in the alphabet.
    """
    check_stepwise(model)
    if not model.n_stacks or model.extra_steps:
        raise StacklensError(f"the {model.name} has no stack whose pushes could be traced back, step by step")
    codes, steps = steps_of(model, (word,))
    size = int(steps[0])
    if not size:
        raise StacklensError("the network decides nothing on the empty word: give one with a symbol at least")
    with torch.enable_grad():
        pushed, hidden, margins = _run(model, torch.from_numpy(codes[0].astype(np.int64)))
        salient = [np.zeros((size, size)), np.zeros((size, size))]
        for t in range(1, size):
            if progress is not None:
                progress("saliency", t, size)
            wanted = [*pushed[:t], *hidden[:t]]
            found = torch.autograd.grad(margins[t], wanted, retain_graph=True, allow_unused=True)
            sizes = [0.0 if one is None else float(one.norm()) for one in found]
            salient[0][t, :t], salient[1][t, :t] = sizes[:t], sizes[t:]
    letters = tuple(model.letters[code] for code in codes[0].tolist())
    origin = np.full(size, -1) if automaton is None else origins(automaton, word, size)
    told = torch.stack(margins).detach().numpy()
    return Saliency(word, letters, salient[0], salient[1], told, origin)


def _run(model: StackModel[Any], symbols: Tensor) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Return what is pushed, the hidden vectors and the margins of all steps, each with its gradient."""
    state = model.initial_state(1)
    hidden, stack = state.hidden, state.stack
    pushed, after, margins = list[Tensor](), list[Tensor](), list[Tensor]()
    for symbol in symbols:
        answer = model.controller(symbol.reshape(1), hidden, stack.reading())
        laid = answer.pushed.detach() + 0 if not answer.pushed.requires_grad else answer.pushed
        laid = laid if laid.requires_grad else laid.requires_grad_()
        stack = stack.next(answer.actions, laid)
        hidden = answer.hidden if answer.hidden.requires_grad else (answer.hidden + 0).requires_grad_()
        pushed.append(laid)
        after.append(hidden)
        margins.append(_margin(model, answer.output[0]))
    return pushed, after, margins


def _margin(model: StackModel[Any], output: Tensor) -> Tensor:
    """Return how far an output is from being another: for sets the sum over symbols, else the lead over the next."""
    if model.task_kind == "next set":
        return (output - 0.5).abs().sum()
    if model.task_kind == "recognition" or len(output) < 2:
        return (output[-1] - 0.5).abs()
    leading = output.topk(2).values
    margin: Tensor = leading[0] - leading[1]
    return margin


def origins(pda: PushdownAutomaton, word: Word, size: int, stack: int = 0) -> np.ndarray:
    """Return which step laid the top of a stack before each of ``size`` steps, (T,), -1 where it is empty.

    From where the run is cut it is -1.

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> steps = {("q", "(", (top,)): Transition("q", (push("x"),)) for top in ("x", "⊥")}
    >>> steps["q", ")", ("x",)] = Transition("q", (POP,))
    >>> origins(PushdownAutomaton(("q",), ("(", ")"), ("x",), steps, "q"), "(())", 4).tolist()
    [-1, 0, 1, 0]
    """
    found = np.full(size, -1)
    laid = list[int]()
    step = 0
    for key, _ in pda.moves(word):
        if step < size:
            found[step] = laid[-1] if laid else -1
        operation = pda.transitions[key].operations[stack]
        if operation.pop:
            laid.pop()
        if operation.push is not None:
            laid.append(step)
        step += bool(key[1])
    return found
