"""How near a network is to being a discrete machine, measured before anything is extracted from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stacklens.automata.pda import Word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.models.verdicts import verdicts_on
from stacklens.probe.trace import Trace

__all__ = ["Fidelity", "Rounding", "action_margins", "rounding_fidelity", "why_unfaithful"]

_LARGEST_MISMATCH = 0.1  # rounding may change the verdict on this share of the accepted words, not on more


@dataclass(frozen=True)
class Rounding:
    """What rounding the actions changes.

    Attributes:
        words: how many words were compared.
        disagreements: on how many network and rounded network give different verdicts.
        accepted_by_either: how many at least one of them accepts. Most words are rejected by anything, so a mismatch is
            counted among these.
    """

    words: int
    disagreements: int
    accepted_by_either: int

    @property
    def mismatch(self) -> float:
        """Return the share of the words accepted by either that only one accepts, in [0, 1]."""
        return self.disagreements / max(1, self.accepted_by_either)


@dataclass(frozen=True)
class Fidelity:
    """The measures that a report gives.

    Attributes:
        rounding: what rounding the actions changes.
        minority_transitions: share of traced steps outvoted by others with the same state, symbol and top, in [0, 1];
            at most 0.03 is good, 0.06 or more is bad.
        action_margin: the smallest distance of a traced action from the threshold that rounds it, in [0, 0.5].
        graded_actions: share of traced actions nearer to the threshold than to a whole push, pop or no-op, in [0, 1].
    """

    rounding: Rounding
    minority_transitions: float
    action_margin: float
    graded_actions: float

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's "fidelity"."""
        return {**asdict(self), "rounding": {**asdict(self.rounding), "mismatch": self.rounding.mismatch}}


def rounding_fidelity(model: StackModel[Any], words: Sequence[Word]) -> Rounding:
    """Return what rounding the actions of ``model`` changes on ``words``."""
    analog, rounded = verdicts_on(model, words), verdicts_on(Rounded(model), words)
    return Rounding(len(words), int((analog != rounded).sum()), int((analog | rounded).sum()))


def action_margins(seen: Trace, threshold: float = 0.5) -> tuple[float, float]:
    """Return the smallest distance of an action from ``threshold``, and the share of graded ones (see `Fidelity`).

    Steps after a rejection do not count.
    """
    before = np.pad(seen.rejected, ((0, 0), (1, 0)))[:, :-1]
    sizes = np.abs(seen.actions[seen.valid & ~before])
    if not sizes.size:
        return 0.0, 0.0
    distance = np.abs(sizes - threshold)
    return float(distance.min()), float((distance < threshold / 2).mean())


def why_unfaithful(fidelity: Fidelity, disagreements: int | None, words: int) -> str | None:
    """Return in one sentence why no automaton can stand for the network, with the measures, or None if one can.

    ``disagreements`` is how often the best candidate differs from the rounded network on ``words`` words; None if no
    candidate came out at all.
    """
    rounding = fidelity.rounding
    measures = (
        f"{fidelity.graded_actions:.1%} of its actions are graded, "
        f"{fidelity.minority_transitions:.1%} of its transitions are outvoted"
    )
    if rounding.mismatch > _LARGEST_MISMATCH:
        return (
            "the network does not use its stack as a stack: rounding its actions changes "
            f"{rounding.disagreements:,} of {rounding.accepted_by_either:,} acceptances ({measures})"
        )
    if disagreements is None:
        return f"no finite set of states was found that closes under the network's steps ({measures})"
    if disagreements:
        return (
            f"no number of states reproduces the rounded network: the best candidate differs on {disagreements:,} of "
            f"{words:,} checking words ({measures})"
        )
    return None
