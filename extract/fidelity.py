"""How near a network is to being a discrete machine, measured before anything is extracted from it."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from ..core.progress import count
from ..models.base import ActionKind, StackModel
from ..models.views import is_stack
from ..probe.trace import Trace
from .answers import differences
from .wording import CONTRADICTS

MOST_STACKS = 3  # of an automaton; the heads of more are too many to combine
_GRADED = 0.25  # a margin below this is nearer to the threshold than to a whole operation
_MOST_GRADED = 0.2  # of the actions: of a network with more of them it means little which whole one each is nearest to
_LARGEST_MISMATCH = 0.1  # rounding may change the verdict on this share of the accepted words, not on more
_GREW = 40  # states of what was learned from answers: one with more of them that is wrong may need any number
MOST_CHANGED = 0.5  # up to this share an exact automaton of the rounded network is worth telling, with this share


@dataclass(frozen=True)
class Rounding:
    """What rounding the actions changes."""

    words: int  # how many words were compared
    disagreements: int  # on how many network and rounded network give different verdicts
    # how many at least one of them accepts. Most words are rejected by anything, so a mismatch is counted among these
    accepted_by_either: int

    @property
    def mismatch(self) -> float:
        """Return the share of the words accepted by either that only one accepts, in [0, 1]."""
        return self.disagreements / max(1, self.accepted_by_either)


@dataclass(frozen=True)
class Fidelity:
    """The measures that a report gives."""

    rounding: Rounding  # what rounding the actions changes
    # share of traced steps outvoted by others with the same state, symbol and top, in [0, 1]; at most 0.03 is good,
    # 0.06 or more is bad. None where no machine was tried
    minority_transitions: float | None
    # how far the least certain traced action is from being rounded otherwise, in [0, 0.5]; None for a network without
    # actions, which were 0 in earlier files
    action_margin: float | None
    # share of traced actions nearer to the threshold than to a whole push, pop or no-op, in [0, 1]
    graded_actions: float

    def __post_init__(self) -> None:
        if self.action_margin == 0 and self.graded_actions == 0:  # an action without any margin would be graded
            object.__setattr__(self, "action_margin", None)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's "fidelity"."""
        return {**asdict(self), "rounding": {**asdict(self.rounding), "mismatch": self.rounding.mismatch}}


def rounding_fidelity(analog: np.ndarray, rounded: np.ndarray, scored: np.ndarray | None = None) -> Rounding:
    """Return what rounding changes, from the answers of a network and its rounded twin, (N, 1) or (N, T) each.

    A word is accepted where its last answer is not a rejection; only answers that are ``scored`` (same shape) count.
    """
    different = differences(analog, rounded, scored)
    if analog.shape[1] == 1:  # recognisers say 0 for a rejection
        accepted = (analog > 0) | (rounded > 0)
        return Rounding(len(analog), int(different.sum()), int(accepted.sum()))
    alive = ((analog >= 0) | (rounded >= 0)).any(1)
    return Rounding(len(analog), int(different.any(1).sum()), int(alive.sum()))


def action_margins(model: StackModel[Any], seen: Trace) -> tuple[float | None, float]:
    """Return the smallest margin, and the share of graded actions, of steps of an analog trace that matter."""
    counts = seen.valid & ~seen.rejected
    if model.task_kind == "recognition":  # a pop of an empty stack rejects, and rounded otherwise it would not
        last = seen.rejected & ~np.pad(seen.rejected, ((0, 0), (1, 0)))[:, :-1]
        hidden = torch.from_numpy(seen.hidden[:, 1:][last])
        if len(hidden):  # an own network may not be able to begin no run at all
            counts[last] = ~model.rejects(hidden, model.initial_state(len(hidden)).stack).numpy()
    found = margins(model.action_kind, seen.actions[counts])
    if not found.size:
        return None, 0.0
    return float(found.min()), float((found < _GRADED).mean())


def margins(kind: ActionKind, actions: np.ndarray) -> np.ndarray:
    """Return how far ``actions`` (M, S, A) are from being rounded otherwise, in [0, 0.5]: (M, S) of softmax."""
    if kind == "none":
        return np.zeros(0)
    if kind == "softmax":  # the winner's lead over the next
        ordered = np.sort(actions, -1)
        return np.asarray((ordered[..., -1] - ordered[..., -2]) / 2)
    sizes = np.abs(actions) if kind == "signed" else actions
    return np.asarray(np.minimum(np.abs(sizes - 0.5), 0.5))


def caution(fidelity: Fidelity) -> str | None:
    """Return that an automaton tells of the rounded network only, where rounding changes much, else None."""
    rounding = fidelity.rounding
    if rounding.mismatch <= _LARGEST_MISMATCH:
        return None
    return (
        f"rounding its actions changes {rounding.disagreements:,} of {rounding.accepted_by_either:,} acceptances: the "
        "automaton tells what the rounded network does, and not what the network does"
    )


def rounding_changes_behaviour(model: StackModel[Any], fidelity: Fidelity) -> bool:
    """Return whether a network with nearly whole actions does something else when rounded: it counts with leftovers."""
    much = fidelity.rounding.mismatch > MOST_CHANGED
    return much and is_stack(model) and model.action_kind != "none" and fidelity.graded_actions <= _MOST_GRADED


def unrounded_caution(fidelity: Fidelity) -> str:
    """Return that an automaton tells of the network itself, of which only what is read of its actions is rounded."""
    rounding = fidelity.rounding
    return (
        "read from the network as it is, each operation as the whole one that it is nearest to: the automaton tells "
        f"what the network does, and rounding its actions changes {rounding.disagreements:,} of "
        f"{rounding.accepted_by_either:,} acceptances, so of how it does that only what it does most"
    )


def reason_actions_graded(fidelity: Fidelity) -> str | None:
    """Return in one sentence that a buffered network does not read and write in whole steps, or None if it does."""
    rounding = fidelity.rounding
    if rounding.mismatch <= _LARGEST_MISMATCH:
        return None
    return (
        "the network does not read, write, push and pop in whole steps: rounding its strengths changes what it writes "
        f"on {rounding.disagreements:,} of {rounding.accepted_by_either:,} words, {fidelity.graded_actions:.1%} of the "
        f"strengths are graded, and the least certain is {fidelity.action_margin:.2f} from being rounded otherwise"
    )


def reason_not_learned(method: str, states: int, disagreements: int | None, words: int, largest: int = 0) -> str | None:
    """Return why nothing learned from answers, up to ``largest`` states, can stand for a network, None if it can."""
    if disagreements is None:
        return "nothing was learned from its answers"
    if not disagreements:
        return None
    size = count(states, "state")
    grew = (
        f"; it had {largest} when the learner stopped, and each longer word asked for more: the network counts, or is "
        "bounded at a depth not seen"
    )
    says = f"the best automaton ({method}, {size}) differs on {disagreements:,} of {words:,} checking words"
    return f"{says}{grew if largest > _GREW else ''}"


def why_unfaithful(model: StackModel[Any], fidelity: Fidelity, disagreements: int | None, words: int) -> str | None:
    """Return in one sentence why no automaton can stand for the network, with the measures, or None if one can.

    ``disagreements``: of the best candidate on ``words`` words; None if there was none.
    """
    rounding = fidelity.rounding
    measures = f"{fidelity.graded_actions:.1%} of its actions are graded"
    if fidelity.minority_transitions is not None:
        measures += f", {fidelity.minority_transitions:.1%} of its transitions are outvoted"
    if not model.real_time:
        return reason_actions_graded(fidelity)
    if not is_stack(model):
        can = ", ".join(model.operations)
        what = f"the memory of a {model.name} is no stack: it can {can}"
        return (
            f"{what}; rounding its actions "
            f"changes {rounding.disagreements:,} of {rounding.accepted_by_either:,} answers ({measures})"
        )
    if rounding.mismatch > _LARGEST_MISMATCH:
        changed = f"{rounding.disagreements:,} of {rounding.accepted_by_either:,} acceptances"
        if model.noisy and model.action_kind == "none":  # of which nothing is rounded
            return f"{CONTRADICTS}: asking again changes {changed}"
        return f"the network does not use its stack as a stack: rounding its actions changes {changed} ({measures})"
    if disagreements is None and model.n_stacks > MOST_STACKS:
        return f"{model.n_stacks} of its stacks matter, more than the {MOST_STACKS} that can be explored ({measures})"
    if disagreements is None:
        return f"no finite set of states was found that closes under the network's steps ({measures})"
    if disagreements:
        return (
            f"no number of states reproduces the rounded network: the best candidate differs on {disagreements:,} of "
            f"{words:,} checking words ({measures})"
        )
    return None
