"""Saliency: on which earlier steps a decision depends, by gradients, beside the step that the automaton's top is from.

The margin of the decision at step t is differentiated with respect to what step s < t handed on: what it pushed, and
its hidden vector, with all that was made of it in step s. The automaton tells which step laid the symbol that is on
top at step t.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError
from ..core.imports import pd
from ..core.progress import Told
from ..languages.language import format_word
from ..models.base import ControllerOutput, S, StackModel
from ..models.inference import outputs_on, verdicts_on
from ..models.rounding import Rounded, Wrapper
from .edits import check_stepwise, steps_of


@dataclass(frozen=True, eq=False)
class Saliency:
    """On what every decision on a word depends."""

    word: Word
    letters: tuple[str, ...]  # what each of T steps reads
    # length of the gradient of the decision at step t with respect to what step s pushed, (T, T), 0 for s >= t
    pushed: np.ndarray
    hidden: np.ndarray  # the same with respect to the hidden vector after step s
    margins: np.ndarray  # of the decisions, (T,)
    # which step laid the automaton's top before step t, (T,); -1 for an empty stack, or no automaton
    origin: np.ndarray

    @property
    def agreement(self) -> float:
        """Return at which share of decisions on a non-empty stack the most salient push is the top's own, or NaN."""
        rows = np.flatnonzero(self.origin >= 0)
        if not len(rows):
            return float("nan")
        return float((self.pushed[rows].argmax(1) == self.origin[rows]).mean())

    def to_frame(self) -> pd.DataFrame:
        """Return one row a decision: symbol, margin, most salient step by push and by hidden vector, the top's step.

        Steps count from 0, as in a trace; -1 stands for none.
        """
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
    """Return on which earlier steps every decision of ``model``, with soft actions, on ``word`` depends.

    ``automaton``: what its tops are compared with. ``progress``: given how many decisions are done.
    """
    check_stepwise(model)
    if not model.n_stacks or model.extra_steps:
        raise StacklensError(f"the {model.name} has no stack whose pushes could be traced back, step by step")
    # one run with a gradient at every push and every hidden vector
    codes, steps = steps_of(model, (word,))
    size = int(steps[0])
    if not size:
        raise StacklensError("the network decides nothing on the empty word: give one with a symbol at least")
    state = model.initial_state(1)
    vector, stack = state.hidden, state.stack
    pushed, hidden, margins = list[Tensor](), list[Tensor](), list[Tensor]()
    with torch.enable_grad():
        for symbol in torch.from_numpy(codes[0].astype(np.int64)):
            answer = model.controller(symbol.reshape(1), vector, stack.reading())
            pushed.append(answer.pushed if answer.pushed.requires_grad else (answer.pushed + 0).requires_grad_())
            stack = stack.next(answer.actions, pushed[-1])
            answer = model.finish(answer, stack.reading())
            vector = answer.hidden if answer.hidden.requires_grad else (answer.hidden + 0).requires_grad_()
            hidden.append(vector)
            margins.append(_output_margin(model, answer.output[0]))
        salient = [np.zeros((size, size)), np.zeros((size, size))]
        for t in range(1, size):
            if progress is not None:
                progress("saliency", t, size)
            # the margin at step t by all that earlier steps handed on
            wanted = [*pushed[:t], *hidden[:t]]
            found = torch.autograd.grad(margins[t], wanted, retain_graph=True, allow_unused=True)
            sizes = [0.0 if one is None else float(one.norm()) for one in found]
            salient[0][t, :t], salient[1][t, :t] = sizes[:t], sizes[t:]
    letters = tuple(model.letters[code] for code in codes[0].tolist())
    origin = np.full(size, -1) if automaton is None else origins(automaton, word, size)
    every_margin = torch.stack(margins).detach().numpy()
    return Saliency(word, letters, salient[0], salient[1], every_margin, origin)


def _output_margin(model: StackModel[Any], output: Tensor) -> Tensor:
    """Return how far an output is from being another: for sets the sum over symbols, else the lead over the next."""
    if model.task_kind == "next set":
        return (output - 0.5).abs().sum()
    if model.task_kind == "recognition" or len(output) < 2:
        return (output[-1] - 0.5).abs()
    leading = output.topk(2).values
    margin: Tensor = leading[0] - leading[1]
    return margin


def origins(pda: PushdownAutomaton, word: Word, size: int) -> np.ndarray:
    """Return which step laid the top of the first stack before each of ``size`` steps, (T,), -1 where it is empty.

    From where the run is cut it is -1.

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> steps = {("q", "(", (top,)): Transition("q", (push("x"),)) for top in ("x", "⊥")}
    >>> steps["q", ")", ("x",)] = Transition("q", (POP,))
    >>> origins(PushdownAutomaton(("q",), ("(", ")"), ("x",), steps, "q"), "(())", 4).tolist()
    [-1, 0, 1, 0]
    """
    found, laid, step = np.full(size, -1), list[int](), 0
    for key, _ in pda.moves(word):
        if step < size:
            found[step] = laid[-1] if laid else -1
        operation = pda.transitions[key].operations[0]
        if operation.pop:
            laid.pop()
        if operation.push is not None:
            laid.append(step)
        step += bool(key[1])
    return found


# ---- Ablations: what is lost without a hidden unit, a stack or an operation, by length of the words ----
#
# A unit is ablated in one of the roles that it has: what it hands to the next step ("state"), to the actions, to what
# is pushed, or to the output, by setting its outgoing weights of that role to 0. Where a network's roles are not known
# by its weights, a unit is only ablated in what it hands to the next step.

ROLES = {  # the weights through which a unit speaks, its column in each
    "state": ("hidden_weights", "hidden_0_weights", "recurrent_weights"),
    "actions": ("action_weights",),
    "pushed": ("pushed_weights",),
    "output": ("output_weights",),
}
_BINS = 4  # groups of lengths


class Ablated(Wrapper[S]):
    """A network without something, soft or rounded: ``units`` are 0 between steps, ``stacks`` show what empty ones do,
    or an ``operation``, the number of a share, strength or sign (0 push, 1 pop), is 0; other shares grow.
    """

    name = "ablated"

    def __init__(
        self, model: StackModel[S], units: Sequence[int] = (), stacks: Sequence[int] = (), operation: int | None = None
    ) -> None:
        super().__init__(model)
        self.units, self.stacks, self.operation = list(units), list(stacks), operation
        self.register_buffer("empty", model.initial_state(1).stack.reading()[0], persistent=False)
        self.empty: Tensor

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = self.model.controller(symbols, hidden, self._shown(reading))
        after = answer.hidden.clone()
        after[:, self.units] = 0
        actions = answer.actions if self.operation is None else self._without(answer.actions)
        return ControllerOutput(after, actions, answer.pushed, answer.output)

    def finish(self, answer: ControllerOutput, after: Tensor) -> ControllerOutput:
        return self.model.finish(answer, self._shown(after))

    def _shown(self, reading: Tensor) -> Tensor:
        if not self.stacks:
            return reading
        shown = reading.clone()
        shown[:, self.stacks] = self.empty[self.stacks]
        return shown

    def _without(self, actions: Tensor) -> Tensor:
        if self.action_kind == "signed":
            return actions.clamp(max=0) if self.operation == 0 else actions.clamp(min=0)
        left = actions.clone()
        left[..., self.operation] = 0
        if self.action_kind == "strengths":
            return left
        # the other shares grow in proportion; where nothing is left they are equal
        total = left.sum(-1, keepdim=True)
        others = torch.ones_like(left)
        others[..., self.operation] = 0
        return torch.where(total > 0, left / total.clamp(min=1e-12), others / others.sum(-1, keepdim=True))


@dataclass(frozen=True)
class Ablation:
    """What is left without one thing."""

    kind: str  # "unit", "stack" or "operation"
    name: str  # which one
    role: str  # of a unit, in which role; else ""
    accuracy: float  # share of words that are answered as they should be, in [0, 1]
    by_length: tuple[float, ...]  # the same for words of each group of lengths


@dataclass(frozen=True)
class Ablations:
    """What is left without each thing, beside the whole network."""

    whole: Ablation  # the network as it is
    rows: tuple[Ablation, ...]  # the ablations, the most important first
    lengths: tuple[int, ...]  # the greatest length of each group of words

    def to_frame(self) -> pd.DataFrame:
        """Return one row an ablation, the most important first: what, role, accuracy, what it costs, and by length."""
        table = [
            (one.kind, one.name, one.role, one.accuracy, self.whole.accuracy - one.accuracy, *one.by_length)
            for one in self.rows
        ]
        return pd.DataFrame(table, columns=["kind", "name", "role", "accuracy", "importance", *self.groups])

    @property
    def groups(self) -> list[str]:
        """Return the lengths of the words of each group."""
        least = (0, *(length + 1 for length in self.lengths))
        return [f"length {low} to {high}" for low, high in zip(least, self.lengths, strict=False)]

    def __str__(self) -> str:
        shown: str = self.to_frame().head(20).to_string(index=False, float_format="{:.3f}".format)
        return f"whole network: accuracy {self.whole.accuracy:.3f}\n{shown}"


def answers_by_row(model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
    """Return the answers of ``model`` to ``words``, (N, 1) of a recogniser, else (N, T)."""
    if model.task_kind == "recognition":
        return verdicts_on(model, words)[:, None].astype(np.int32)
    return outputs_on(model, words)


@torch.no_grad()
def ablations(
    model: StackModel[Any],  # a single network
    words: Sequence[Word],  # the words that it is asked
    expected: np.ndarray | None = None,  # the right answers, (N, 1) or (N, T); by default what the whole network says
    scored: np.ndarray | None = None,  # which of them count; None for all
    *,
    rounded: bool = False,  # take the rounded network
) -> Ablations:
    """Return what is left of ``model`` without each of its units, stacks and operations. Raises StacklensError: there
    are no words, or the network only answers whole words.
    """
    if not words:
        raise StacklensError("nothing to ablate on: give some words")
    if model.answers_to(()) is not None or not model.real_time:
        raise StacklensError(f"a {model.name} has no parts that can be left out step by step")
    right = answers_by_row(Rounded(model) if rounded else model, words) if expected is None else expected
    lengths = np.array([len(word) for word in words])
    ends = np.unique(np.quantile(lengths, np.linspace(0, 1, _BINS + 1)[1:], method="higher"))
    groups = np.searchsorted(ends, lengths)

    def judged(network: StackModel[Any], kind: str, name: str, role: str) -> Ablation:
        same = answers_by_row(network, words) == right
        fine = (same if scored is None else same | ~scored).all(1)
        parts = tuple(float(fine[groups == group].mean()) for group in range(len(ends)))
        return Ablation(kind, name, role, float(fine.mean()), parts)

    # the whole network, then without each unit in each role, each stack and each operation
    whole = judged(Rounded(model) if rounded else model, "whole", model.name, "")
    rows = [judged(Rounded(one) if rounded else one, *named) for one, *named in _without_each_unit(model)]
    if model.action_kind != "none":
        runner = Rounded(model) if rounded else model
        for stack in range(model.n_stacks):
            rows.append(judged(Ablated(runner, stacks=[stack]), "stack", f"stack {stack + 1}", ""))
        names = model.operations or {"signed": ("push", "pop"), "strengths": ("pop", "push")}[model.action_kind]
        for number, name in enumerate(names):
            rows.append(judged(Ablated(runner, operation=number), "operation", name, ""))
    ordered = sorted(rows, key=lambda one: (one.accuracy, one.kind, one.name, one.role))
    return Ablations(whole, tuple(ordered), tuple(int(end) for end in ends))


def _without_each_unit(model: StackModel[Any]) -> Iterator[tuple[StackModel[Any], str, str, str]]:
    weights = dict(model.named_parameters())
    known = {role: [name for name in names if name in weights] for role, names in ROLES.items()}
    size = model.initial_state(1).hidden.shape[-1]
    speaks = any(known.values()) and not {"state_weights", "hidden_1_weights"} & set(weights)  # nor of two layers
    if not speaks:
        for unit in range(size):
            yield Ablated(model, [unit]), "unit", f"h{unit + 1}", "state"
        return
    for role, names in known.items():
        for unit in range(model.n_units if names else 0):
            without = copy.deepcopy(model)
            for name in names:
                without.get_parameter(name).data[..., unit] = 0
            yield without, "unit", f"h{unit + 1}", role
