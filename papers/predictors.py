"""What is measured of a network before anything is clustered or learned from it: can one know beforehand?

All of it comes from runs of the network, soft and rounded, on the same drawn words; no automaton has a part in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stacklens.automata.pda import Word
from stacklens.languages.tasks.task import Task

if TYPE_CHECKING:
    from stacklens.models.base import ActionKind, StackModel
    from stacklens.probe.trace import Trace

__all__ = ["PREDICTORS", "action_entropy", "predictors", "spectral_radii"]

# by the name under which a result keeps it
PREDICTORS = {
    "action entropy": "mean entropy of an action, in nats",
    "action entropy, 95 %": "entropy that 5 % of the actions exceed, in nats",
    "action margin": "mean distance of an action from being rounded otherwise, 0 to 0.5",
    "action margin, 5 %": "distance that 5 % of the actions stay below",
    "output drift": "greatest difference of an output from the rounded network's at step 100 or the last, mean",
    "hidden drift": "distance of the hidden vector from the rounded network's at that step, mean",
    "spectral radius": "of the Jacobian of the next hidden vector by the last, mean over steps",
    "spectral radius, largest": "the largest of these",
    "pushed spread": "mean distance of pushed values from the mean of those that the same symbol pushed, over the mean "
    "distance of such means",
}
_WORDS, _SEED = 60, 2_018
_STEPS = (10, 25, 50, 75, 100)  # at which the drift is told
_STATES = 64  # at which Jacobians are taken
_LEAST = 1e-12


def sample_words(task: Task) -> tuple[Word, ...]:
    """Return the words of ``task`` that networks are measured on: some of its test lengths, always the same."""
    return task.sample(_WORDS, split="test", seed=_SEED).words


def predictors(model: StackModel[Any], words: tuple[Word, ...]) -> dict[str, Any]:
    """Return the figures called by `PREDICTORS`, and "drift by step": at "steps" those of outputs and hidden vectors.

    What a network has not is None, as spread where too little is pushed.
    """
    from stacklens.extract.fidelity import margins as margins_of
    from stacklens.probe.trace import trace

    soft, rounded = (trace(model, words, rounded=whole, stacks=False) for whole in (False, True))
    alive = soft.valid
    actions = soft.actions[alive]
    entropies, margins = action_entropy(model.action_kind, actions), margins_of(model.action_kind, actions)
    drift = _drift(soft, rounded)
    radii = spectral_radii(model, soft)
    found: dict[str, Any] = {
        "action entropy": _mean(entropies),
        "action entropy, 95 %": _quantile(entropies, 0.95),
        "action margin": _mean(margins),
        "action margin, 5 %": _quantile(margins, 0.05),
        "output drift": drift["outputs"][-1],
        "hidden drift": drift["hidden"][-1],
        "spectral radius": _mean(radii),
        "spectral radius, largest": _quantile(radii, 1.0),
        "pushed spread": _spread(model, soft),
    }
    return {**{name: _rounded(value) for name, value in found.items()}, "drift by step": drift}


def action_entropy(kind: ActionKind, actions: np.ndarray) -> np.ndarray:
    """Return the entropy of each action of each stack in nats, (M, n_stacks); ``actions`` are (M, n_stacks, A).

    Of a strength or a signed action it is that of a coin whose chance is its size; strengths of a stack are added up.

    >>> action_entropy("softmax", np.array([[[1.0, 0.0]], [[0.5, 0.5]]])).round(3).tolist()
    [[0.0], [0.693]]
    """
    if kind == "none":
        return np.zeros((len(actions), 0))
    if kind == "softmax":
        shares = actions.clip(_LEAST, 1)
        lost: np.ndarray = -(shares * np.log(shares)).sum(-1)
        return lost
    sizes = np.abs(actions).clip(_LEAST, 1 - _LEAST)
    coins: np.ndarray = -(sizes * np.log(sizes) + (1 - sizes) * np.log1p(-sizes)).sum(-1)
    return coins


def _drift(soft: Trace, rounded: Trace) -> dict[str, list[Any]]:
    """Return how far the soft network is from the rounded one after some steps, means over the words that get there."""
    outputs = np.abs(soft.output - rounded.output).max(-1)
    hidden = np.linalg.norm(soft.hidden[:, 1:] - rounded.hidden[:, 1:], axis=-1)
    steps = [step for step in _STEPS if step <= soft.valid.shape[1] and soft.valid[:, step - 1].any()]
    steps = steps or [int(soft.valid.sum(0).nonzero()[0][-1]) + 1]
    rows = [soft.valid[:, step - 1] for step in steps]
    means = [
        [_rounded(float(values[row, step - 1].mean())) for row, step in zip(rows, steps, strict=True)]
        for values in (outputs, hidden)
    ]
    return {"steps": steps, "outputs": means[0], "hidden": means[1]}


def spectral_radii(model: StackModel[Any], seen: Trace) -> np.ndarray:
    """Return the spectral radius of d hidden' / d hidden at some steps of ``seen``, (M,), the reading held as it was.

    Above 1 a disturbance of the hidden vector grows from step to step, as far as the stack does not take it away.
    """
    import torch

    if not seen.hidden.shape[-1]:  # a controller without a state
        return np.zeros(0)
    rows, steps = np.nonzero(seen.valid)
    chosen = np.random.default_rng(_SEED).permutation(len(rows))[:_STATES]
    rows, steps = rows[chosen], steps[chosen]
    like = next(model.parameters()).detach()
    symbols = torch.from_numpy(seen.symbols[rows, steps].astype(np.int64))
    hidden = torch.from_numpy(seen.hidden[rows, steps]).to(like).requires_grad_()
    reading = torch.from_numpy(seen.reading[rows, steps]).to(like)
    with torch.enable_grad():
        after = model.controller(symbols, hidden, reading).hidden
        if not after.requires_grad:  # it does not look at its state
            return np.zeros(len(rows))
        parts = [
            torch.autograd.grad(after[:, unit].sum(), hidden, retain_graph=True, allow_unused=True)[0]
            for unit in range(after.shape[-1])
        ]
    columns = [torch.zeros_like(hidden) if part is None else part for part in parts]
    jacobians = torch.stack(columns, 1).detach().double().numpy()
    radii: np.ndarray = np.abs(np.linalg.eigvals(jacobians)).max(-1)
    return radii


def _spread(model: StackModel[Any], seen: Trace) -> float | None:
    """Return how far pushed values spread for one symbol, over how far two symbols' means lie apart, on the average.

    Only steps whose rounded action pushes count, or all where every action writes, as on a ring; the worst of several
    stacks is told. None where fewer than two symbols are pushed, or the symbols themselves are.
    """
    import torch

    from stacklens.models.rounding import Operation, operation_numbers, round_actions
    from stacklens.probe.geometry import distances

    if model.pushes_input or model.action_kind == "none" or seen.pushed is None:
        return None
    taken = torch.from_numpy(seen.actions[seen.valid])
    numbers = operation_numbers(model.action_kind, model.operations, round_actions(model.action_kind, taken)).numpy()
    pushed, symbols = seen.pushed[seen.valid], seen.symbols[seen.valid]
    found = []
    for stack in range(model.n_stacks):
        named = numbers[:, stack] >= 0
        pushes = named & (numbers[:, stack] & Operation.PUSH > 0) if named.any() else ~named
        if not pushes.any():
            continue
        groups = distances(pushed[pushes, stack], symbols[pushes])
        apart = [groups.between[i][j] for i in range(len(groups.names)) for j in range(i)]
        if apart and max(apart) > _LEAST:
            found.append(float(np.average(groups.within, weights=groups.sizes) / np.mean(apart)))
    return max(found, default=None)


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if values.size else None


def _quantile(values: np.ndarray, share: float) -> float | None:
    return float(np.quantile(values, share)) if values.size else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
