"""What is measured of one network of a grid besides its scores: long words, and predictors of what comes of it."""

from __future__ import annotations

import time
from typing import Any

from stacklens.errors import UnknownNameError

__all__ = ["measures_of"]


def measures_of(model: Any, task: str | None) -> dict[str, Any] | None:
    """Return the measures of a network with a memory on the task called ``task``, as plain data; None for others.

    "predictors" are those of `predictors.PREDICTORS`; "long words" has, by "network" and "rounded network", what
    `long_words.accuracy_by_length` says, beside the "lengths" and how many "words" of each, None where the task has no
    such words. Networks with an input queue are None: they answer to whole words.
    """
    from stacklens.languages import get_task
    from stacklens.models.device import one_thread
    from stacklens.papers.predictors import predictors, sample_words

    if task is None or not model.n_stacks or not model.real_time or model.task_kind == "recognition":
        return None
    try:
        asked = get_task(task)
    except UnknownNameError:
        return None
    begun = time.process_time()
    with one_thread():
        found: dict[str, Any] = {
            "predictors": predictors(model, sample_words(asked)),
            "long words": _long(model, asked),
        }
    return {**found, "seconds": round(time.process_time() - begun, 2)}


def _long(model: Any, task: Any) -> dict[str, Any] | None:
    from stacklens.models.rounding import Rounded
    from stacklens.papers.long_words import accuracy_by_length, draw_long_words

    words = draw_long_words(task, model.stack_limit)
    if words is None:
        return None
    return {
        "lengths": list(words.lengths),
        "words": [words.groups.count(group) for group in range(len(words.lengths))],
        "network": accuracy_by_length(model, task, words),
        "rounded network": accuracy_by_length(Rounded(model), task, words),
    }
