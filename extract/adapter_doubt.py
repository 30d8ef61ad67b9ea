"""What makes the adapter of a network of one's own suspicious: odd numbers, or another order that does better."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.extract.specification import Specification
from stacklens.models.base import StackModel
from stacklens.models.own.black_box import BlackBox
from stacklens.probe.own_contract import outputs_read
from stacklens.probe.own_variants import Variant, variants
from stacklens.probe.trace import trace

__all__ = ["better_adapter", "strange_numbers"]

_WORDS, _LENGTHS = 60, (2, 14)  # on which other orders are tried
_TRIED = 150  # variants
_RIGHT, _BETTER = 0.9, 0.2  # how many answers a variant must have right, and by how many more than the adapter
_SIGMOID_OF_1 = 0.7311
_OFF = 1e-3  # by how much shares may miss 1


def strange_numbers(model: StackModel[Any]) -> str | None:
    """Return in a sentence which numbers of a network of one's own cannot be what they are taken for, None for none."""
    if isinstance(model, BlackBox):
        return None  # its answers are no numbers
    word = tuple(model.alphabet)
    seen = trace(model, [word * 2], stacks=False)
    actions = seen.actions[seen.valid]
    if model.action_kind == "softmax" and actions.size:
        sums = actions.sum(-1)
        worst = float(sums.reshape(-1)[int(np.abs(sums - 1).argmax())])
        if abs(worst - 1) > _OFF or float(actions.min()) < -_OFF:
            return f"its shares sum to {worst:.3g} and the least is {actions.min():.3g}: expected shares that sum to 1"
    if model.action_kind == "strengths" and actions.size and (actions.min() < -_OFF or actions.max() > 1 + _OFF):
        return f"its strengths lie between {actions.min():.3g} and {actions.max():.3g}: expected between 0 and 1"
    said, read = seen.output[seen.valid], outputs_read(model)
    if model.task_kind not in ("recognition", "next set") or not said.size:
        return None
    low, high = said.min(), said.max()
    if low < -1 - _OFF or high > 2 + _OFF:
        advice = 'if they are, give sl.wrap activation="sigmoid"'
        return f"its outputs lie between {low:.3g} and {high:.3g}, as logits do where probabilities are meant: {advice}"
    once = read is not None and read.activation == "sigmoid" and read.threshold == 0.5
    if once and low > 0.5 - _OFF and high < _SIGMOID_OF_1 + _OFF:
        advice = "if they are, leave activation out of sl.wrap"
        return f"its outputs lie between {low:.3g} and {high:.3g}, as the sigmoid of probabilities does: {advice}"
    return None


def better_adapter(model: StackModel[Any], specification: Specification) -> str | None:
    """Return in a sentence with which other operations, alphabet or stack a network is right far more often.

    Every change of `probe.own_variants` is tried on a few short words; None where none does better.
    """
    if specification.partial_domain or model.task_kind not in ("recognition", "next set"):
        return None
    words = specification.long_words(_WORDS, _LENGTHS, 0)
    expected = specification.answers(model, words)
    if model.task_kind == "next set":  # whole words only: what is not expected ends a word
        whole = [row for row, word in enumerate(words) if (expected[row, : len(word)] >= 0).all()]
        words, expected = [words[row] for row in whole], expected[whole]
    if not words:
        return None
    own = _right(Variant("", "", model), words, expected)
    tried = [(_right(one, words, expected), one) for one in islice(variants(model), _TRIED) if not one.shift]
    best, change = max(tried, key=lambda pair: pair[0], default=(0.0, None))
    if change is None or best < _RIGHT or best < own + _BETTER:
        return None
    return (
        f"as it stands the network is right on {own:.1%} of {len(words)} short words, and with {change.change} on "
        f"{best:.1%}, which is a sign of another mistake than training: {change.cause}"
    )


def _right(variant: Variant, words: Sequence[Word], expected: np.ndarray) -> float:
    """Return the share of ``words`` on which a variant says all that is expected, in [0, 1]."""
    model = variant.model
    try:
        seen = trace(model, [variant.spelled(word) for word in words], stacks=False)
    except StacklensError:
        return 0.0
    if model.task_kind == "recognition":
        return float((seen.verdicts == (expected[:, 0] > 0)).mean())
    numbers = model.output_numbers(torch.from_numpy(seen.output))
    if variant.order is not None:  # what is said is in the network's order, too
        bits = [(numbers >> taken & 1) << place for place, taken in enumerate(variant.order)]
        numbers = np.add.reduce(bits)
    wrong = (numbers[:, : expected.shape[1]] != expected) & (expected >= 0)
    return float((~wrong.any(1)).mean())
