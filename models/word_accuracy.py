"""How Suzgun et al. 2019 score networks: the share of words of which everything is said right."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import one_hot

from stacklens.languages.tasks.examples import Examples
from stacklens.models.base import StackModel
from stacklens.models.fitting import Batch
from stacklens.models.machine import one_thread

__all__ = ["word_accuracy"]

_AT_ONCE = 256  # words


@one_thread()
@torch.no_grad()
def word_accuracy(model: StackModel[Any], examples: Examples, noisy: bool = False) -> npt.NDArray[np.float64]:
    """Return the share of words that each network gets right, (nets,), from 0 to 1; a single network is one.

    A word is right if, after every symbol, the outputs above 0.5 are those asked for (section 4.1); of a transduction
    that is one of them.

    Args:
        model: a network whose outputs are in [0, 1] each, or many on a leading axis.
        examples: the words, of which every position counts.
        noisy: whether gates that draw noise in training draw it here too, as the authors' program does.
    """
    model.train(noisy)
    like = next(model.parameters()).detach()
    right = torch.zeros(model.initial_state(1).rejected.shape[:-1], dtype=torch.int64, device=like.device)
    order = np.argsort(examples.lengths, kind="stable")
    for start in range(0, len(order), _AT_ONCE):
        batch = Batch.of(examples, order[start : start + _AT_ONCE], like)
        outputs = model.run(batch.symbols, model.initial_state(batch.symbols.shape[1])).output  # (T, ..., B, O)
        targets = batch.targets if batch.targets.dim() == 3 else one_hot(batch.targets, outputs.shape[-1])
        steps, words = batch.symbols.shape
        leading = (1,) * (outputs.dim() - 3)
        hits = ((outputs > 0.5) == (targets > 0.5).view(steps, *leading, words, -1)).all(-1)
        counts = (batch.weights > 0).view(steps, *leading, words)
        right = right + (hits | ~counts).all(0).sum(-1)
    model.eval()
    return np.atleast_1d(right.cpu().numpy()) / max(1, len(order))
