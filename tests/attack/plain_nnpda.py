"""An NNPDA's run on one word, soft or rounded, from Sun et al. 1993 alone: numpy, a list for the stack."""

from collections.abc import Sequence

import numpy as np
from tests.attack.plain_run import PlainRun

from stacklens.models.networks.nnpda import NNPDA


def run_nnpda(net: NNPDA, word: Sequence[str], rounded: bool) -> PlainRun:
    """Return the run of a third-order network on ``word`` and the end symbol, if it reads one."""
    letters = [*net.alphabet, *([net.end] if net.end is not None else [])]
    tops, n_states = len(letters) + 1, net.shape.n_states
    weights = {name: value.detach().numpy() for name, value in net.named_parameters()}
    by_state = weights["state_weights"].reshape(n_states, n_states, tops, len(letters))
    by_action = weights["action_weights"].reshape(n_states, tops, len(letters))
    state, stack = np.eye(n_states)[0], list[tuple[int, float]]()
    operations, margin = list[str](), np.inf
    for step, letter in enumerate([*word, *([net.end] if net.end is not None else [])]):
        seen, x = _reading(stack, tops), letters.index(letter)
        drive = np.einsum("ijk,j,k->i", by_state[..., x], state, seen) + weights["state_bias"]
        action = np.tanh((np.einsum("jk,j,k->", by_action[..., x], state, seen) + weights["action_bias"][0]) / 2)
        state = _sigmoid(drive)
        if rounded:
            margin = min(margin, abs(abs(action) - 0.5))
            action = np.sign(action) if abs(action) > 0.5 else 0.0
        lacking = _act(stack, float(action), x)
        popped = action < 0 and lacking < -action
        operations.append("push" if action > 0 else "pop" if popped else "none")
        margin = min(margin, abs(lacking - 0.5), abs(state[-1] - 0.5) if net.shape.trap else np.inf)
        if lacking > 0.5 or (net.shape.trap and state[-1] <= 0.5):
            return PlainRun(False, tuple(operations), step, float(margin))
    length = sum(part for _, part in stack)
    if net.shape.trap:
        accepted, margin = state[-1] > 0.5 and length <= 0.5, min(margin, abs(length - 0.5), abs(state[-1] - 0.5))
    else:
        accepted, margin = state[-1] - length > 0.5, min(margin, abs(state[-1] - length - 0.5))
    return PlainRun(bool(accepted), tuple(operations), None, float(margin))


def _reading(stack: Sequence[tuple[int, float]], tops: int) -> np.ndarray:
    """Return how much of each symbol lies in the top 1 of the stack, and how much is missing to 1."""
    seen, room = np.zeros(tops), 1.0
    for symbol, part in reversed(stack):
        seen[symbol] += min(part, room)
        room -= min(part, room)
    seen[-1] = 1 - seen[:-1].sum()
    return seen


def _act(stack: list[tuple[int, float]], action: float, symbol: int) -> float:
    """Push or pop so much; return how much could not be popped."""
    if action > 0:
        stack.append((symbol, action))
    left = max(0.0, -action)
    while left > 0 and stack:
        top, part = stack.pop()
        if part > left:
            stack.append((top, part - left))
        left = max(0.0, left - part)
    return left


def _sigmoid(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + small), small / (1 + small)))
