"""Geometry: how far states lie apart in a network, and from which step on it parts from its rounded form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.languages.words import format_word
from stacklens.models.base import StackModel
from stacklens.probe.ablation import answers_of
from stacklens.probe.trace import trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Distances", "HorizonCurve", "check_actions", "distances", "horizon_curve"]

_LONGEST_SHOWN = 400  # symbols of a word on a line of its own, from where it can be pasted
_TOO_LONG = "; the word is in the `parting` of sl.horizon_curve"


@dataclass(frozen=True)
class Distances:
    """How far groups of vectors lie apart.

    Attributes:
        names: of the groups.
        sizes: how many vectors each has.
        within: the mean distance of a group's vectors from its centre.
        between: the distances of the centres from one another, a row a group.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    within: tuple[float, ...]
    between: tuple[tuple[float, ...], ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a group: how many, spread, and the distance to every centre."""
        import pandas as pd

        rows = list(zip(self.names, self.sizes, self.within, *zip(*self.between, strict=True), strict=True))
        return pd.DataFrame(rows, columns=["group", "vectors", "within", *self.names])


def distances(vectors: np.ndarray, groups: np.ndarray) -> Distances:
    """Return how far the groups of ``vectors`` (M, H) lie apart; ``groups`` (M,) are their names.

    Raises:
        StacklensError: there are no vectors.

    >>> found = distances(np.array([[0.0], [2.0], [10.0]]), np.array(["a", "a", "b"]))
    >>> found.within, found.between[0]
    ((1.0, 0.0), (0.0, 9.0))
    """
    if not len(vectors):
        raise StacklensError("there are no vectors to measure distances of")
    names, numbers = np.unique(groups, return_inverse=True)
    centres = np.stack([vectors[numbers == number].mean(0) for number in range(len(names))])
    spread = np.linalg.norm(vectors - centres[numbers], axis=1)
    within = tuple(float(spread[numbers == number].mean()) for number in range(len(names)))
    between = np.linalg.norm(centres[:, None] - centres[None], axis=-1)
    sizes = tuple(int((numbers == number).sum()) for number in range(len(names)))
    return Distances(tuple(map(str, names)), sizes, within, tuple(tuple(row) for row in between.tolist()))


@dataclass(frozen=True)
class HorizonCurve:
    """Where the soft network begins to part from the rounded one.

    Attributes:
        steps: 1, 2, …
        running: how many words are so long.
        distance: the mean distance of both hidden vectors after each step.
        agreeing: which share of these words has been answered alike so far.
        parting: the beginning of a word, up to the first step at which any is answered otherwise; None if none is.
    """

    steps: tuple[int, ...]
    running: tuple[int, ...]
    distance: tuple[float, ...]
    agreeing: tuple[float, ...]
    parting: Word | None = None

    @property
    def first(self) -> int | None:
        """Return the first step at which a word is answered otherwise, None if none is."""
        return next((step for step, share in zip(self.steps, self.agreeing, strict=True) if share < 1), None)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a step."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in ("steps", "running", "distance", "agreeing")})

    def __str__(self) -> str:
        parted = "no word parts" if self.first is None else f"the first word parts at step {self.first}"
        if self.parting is not None:
            parted += f", after\n{format_word(self.parting)}" if len(self.parting) <= _LONGEST_SHOWN else _TOO_LONG
        shown: str = self.to_frame().to_string(index=False, float_format="{:.4f}".format)
        return f"{shown}\n{parted}"


def check_actions(model: StackModel[Any]) -> None:
    """Check that rounding changes anything in ``model``.

    Raises:
        StacklensError: it has no actions.
    """
    if model.action_kind == "none":
        raise StacklensError(
            f"the {model.name} has no stack whose actions could be rounded: rounded it is itself, on all words"
        )


def horizon_curve(model: StackModel[Any], words: Sequence[Word]) -> HorizonCurve:
    """Return from which step on ``model`` parts from its rounded form on ``words``.

    Of a recogniser what counts is being rejected for good, or the verdict at the end.

    Raises:
        StacklensError: the network has no actions to round, or there are no words.
    """
    check_actions(model)
    if not any(len(word) for word in words):
        raise StacklensError("nothing to compare on: give some words")
    soft, rounded = trace(model, words, stacks=False), trace(model, words, rounded=True, stacks=False)
    apart = np.linalg.norm(soft.hidden[:, 1:] - rounded.hidden[:, 1:], axis=-1)
    if model.task_kind == "recognition":
        differs = soft.rejected != rounded.rejected
        last = np.maximum(soft.steps - 1, 0)
        differs[np.arange(len(words)), last] |= soft.verdicts != rounded.verdicts
    else:
        from stacklens.models.rounding import Rounded

        answers = answers_of(model, words), answers_of(Rounded(model), words)
        differs = np.zeros(soft.rejected.shape, np.bool_)
        differs[:, : answers[0].shape[1]] = answers[0] != answers[1]
    parted = np.logical_or.accumulate(differs & soft.valid, 1)
    row, step = _first(parted)
    size = soft.valid.shape[1]
    running = soft.valid.sum(0)
    return HorizonCurve(
        tuple(range(1, size + 1)),
        tuple(running.tolist()),
        tuple(float(apart[soft.valid[:, t], t].mean()) for t in range(size)),
        tuple(float(1 - parted[soft.valid[:, t], t].mean()) for t in range(size)),
        None if row is None else words[row][: step + 1],
    )


def _first(parted: np.ndarray) -> tuple[int | None, int]:
    """Return which row of ``parted`` (N, T) bool is true first, None for none, and from which step on."""
    steps = np.where(parted.any(1), parted.argmax(1), parted.shape[1])
    row = int(steps.argmin())
    return (None, 0) if steps[row] == parted.shape[1] else (row, int(steps[row]))
