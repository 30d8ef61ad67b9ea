"""The likely cause of an automaton that is not faithful, or of there being none, decided by what was measured.

Every cause has its measure and the limit that the measure is held against; where several apply, the one that explains
the others is told: who has not learned its task has no automaton, whatever its actions are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from stacklens.automata.compare import Different, Equal
from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.extract.accuracy_table import AccuracyTable
from stacklens.extract.fidelity import MOST_STACKS, unrounded_caution
from stacklens.extract.partings import Cause
from stacklens.extract.samples import drawn_examples
from stacklens.extract.specification import Specification
from stacklens.extract.wording import better_threshold_claim
from stacklens.models.base import StackModel
from stacklens.models.own.black_box import BlackBox
from stacklens.models.own.step_network import StepNetwork
from stacklens.models.own.word_network import WordNetwork
from stacklens.models.views.views import is_stack
from stacklens.probe.own_contract import outputs_read
from stacklens.probe.own_variants import Variant, variants
from stacklens.probe.trace import trace
from stacklens.progress import count

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction

__all__ = ["LEARNED", "cause_of"]

LEARNED = 0.95  # of the words of the smallest sizes: who is right on fewer has not learned its task
_GRADED = 0.1  # of the acceptances: where rounding changes more, the actions are not whole (as in `fidelity`)
_LOST = 0.05  # of the words of the smallest sizes: what rounding may cost
_TRIED = 150  # variants
_RIGHT, _BETTER = 0.9, 0.2  # how many answers a variant must have right, and by how many more than the adapter
_SIGMOID_OF_1, _SPREAD = 0.7311, 0.1  # where those of probabilities end, and how far apart they are at least
_OFF = 1e-3  # by how much shares may miss 1
_BLIND = 0.01  # of the acceptances: where taking the stack away changes no more, it is not used


def cause_of(result: Extraction, accuracy: AccuracyTable | None, blinded: float | None) -> Cause:
    """Return the likely cause.

    Args:
        result: of status 1 or 3, with its model.
        accuracy: how often everybody is right by size; None where nothing says what is right.
        blinded: the share of acceptances that change without the stack; None where that was not tried.
    """
    right = _shortest(accuracy)
    learned = right["network"] is None or right["network"] >= LEARNED
    found = _adapter(result, learned) or _unlearned(right["network"], accuracy) or _no_stack(result)
    if found is not None:
        return found
    if result.minimised is not None:
        return _with_automaton(result)
    return (
        _hidden_count(result, blinded)
        or _graded(result, right)
        or _many_stacks(result)
        or _out_of_time(result)
        or Cause("no finite number of states", f"none of {count(len(result.candidates), 'candidate')} was right")
    )


def _shortest(accuracy: AccuracyTable | None) -> dict[str, float | None]:
    """Return how often network and rounded network are right on the smallest sizes, in [0, 1]; None if unknown."""
    if accuracy is None or not accuracy.rows:
        return {"network": None, "rounded network": None}
    row = accuracy.rows[0]
    return {"network": row.network / max(1, row.words), "rounded network": row.rounded / max(1, row.words)}


def _adapter(result: Extraction, learned: bool) -> Cause | None:
    """Return that the adapter of a network of one's own is suspicious: odd numbers, or better with another order."""
    model = result.model
    if not isinstance(model, StepNetwork | WordNetwork):
        return None
    if (strange := strange_numbers(model)) is not None:
        return Cause("adapter suspicious", strange)
    if learned or result.language is None:
        return None
    if result.threshold is not None and result.threshold.better is not None:
        return Cause("another threshold", f"it is {better_threshold_claim(result.threshold.to_dict())}")
    better = better_adapter(model, result.language)
    return None if better is None else Cause("adapter suspicious", better)


def _unlearned(right: float | None, accuracy: AccuracyTable | None) -> Cause | None:
    if right is None or right >= LEARNED or accuracy is None:
        return None
    sizes = f"{accuracy.size} {accuracy.rows[0].low} to {accuracy.rows[0].high}"
    return Cause("not learned", f"the network is right on {right:.1%} of the words of {sizes}, less than {LEARNED:.0%}")


def _no_stack(result: Extraction) -> Cause | None:
    """Return that a memory is no stack, where no view of it as stacks answers as the network does."""
    if result.minimised is not None or result.view is not None or is_stack(result.model) or not result.model.real_time:
        return None
    can = ", ".join(result.model.operations)
    return Cause("memory is no stack", f"it can {can}, and with no view of it as stacks it answers as it does")


def _hidden_count(result: Extraction, blinded: float | None) -> Cause | None:
    """Return that a network counts without its stack: it is right without it, or has none."""
    states = max((candidate.states for candidate in result.candidates), default=0)
    if result.model.action_kind == "none" and not isinstance(result.model, WordNetwork):
        grown = f"it has no stack, and automata of up to {count(states, 'state')} do not suffice"
        return Cause("counts in its hidden state", grown) if states else None
    if blinded is None or blinded > _BLIND:
        return None
    changed = f"{blinded:.1%} of its acceptances, at most {_BLIND:.0%}"
    return Cause("counts in its hidden state", f"shown empty stacks at every step it changes {changed}: it uses none")


def _graded(result: Extraction, right: dict[str, float | None]) -> Cause | None:
    fidelity = result.fidelity
    mismatch, own, rounded = fidelity.rounding.mismatch, right["network"], right["rounded network"]
    lost = None if own is None or rounded is None else own - rounded
    if mismatch > _GRADED:
        measured = f"rounding its actions changes {mismatch:.1%} of its acceptances, more than {_GRADED:.0%}"
    elif lost is not None and lost > _LOST and fidelity.graded_actions > 0:
        measured = f"rounding its actions costs {lost:.1%} of the shortest words, more than {_LOST:.0%}"
    else:
        return None
    return Cause("graded actions", f"{measured}; {fidelity.graded_actions:.1%} of its actions are graded")


def _many_stacks(result: Extraction) -> Cause | None:
    kept = len(result.stacks.stacks) + len(result.stacks.unseen)
    if kept <= MOST_STACKS:
        return None
    return Cause("too many stacks", f"{kept} of its stacks matter, more than the {MOST_STACKS} that can be explored")


def _out_of_time(result: Extraction) -> Cause | None:
    use = result.budget
    if use is None or not use.ran_out:
        return None
    tried = count(len(result.candidates), "candidate")
    return Cause("time limit reached", f"the search ended after {use.seconds:g} seconds of processor time and {tried}")


def _with_automaton(result: Extraction) -> Cause:
    """Return the cause where there is an automaton, and something contradicts it."""
    wrong: Any = result.contradicted
    if result.caution is not None:
        return _changed_by_rounding(result)
    drifts = wrong is not None and wrong.other == "rounded network"
    boxed = result.found is not None and result.found.by_asking
    if drifts and (isinstance(result.proof, Equal) or (wrong.kind == "pumped" and not boxed)):
        much = f"{wrong.disagreements:,} of {wrong.words:,} checks"
        right = isinstance(result.proof, Equal)
        proved = f"the automaton is proved equal to {result.language_name}, and " if right else ""
        return Cause("values drift", f"{proved}the {'black box' if boxed else wrong.other} leaves it on {much}")
    if isinstance(result.proof, Different) or (wrong is not None and wrong.other == "language"):
        return Cause("learned something else", f"the automaton follows the network, and is not {result.language_name}")
    return _out_of_time(result) or Cause("no finite number of states", "more states would follow it further")


def _changed_by_rounding(result: Extraction) -> Cause:
    fidelity = result.fidelity
    changed = f"rounding its actions changes {fidelity.rounding.mismatch:.1%} of its acceptances"
    if result.caution != unrounded_caution(fidelity):
        return Cause("graded actions", f"{changed}, more than {_GRADED:.0%}")
    few = f"though {fidelity.graded_actions:.1%} of them are graded"
    return Cause("computes with leftovers", f"{changed}, {few}: it needs what soft operations leave in the cells")


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
    if once and low > 0.5 - _OFF and high < _SIGMOID_OF_1 + _OFF and high - low > _SPREAD:
        advice = "if they are, leave activation out of sl.wrap"
        return f"its outputs lie between {low:.3g} and {high:.3g}, as the sigmoid of probabilities does: {advice}"
    return None


def better_adapter(model: StackModel[Any], specification: Specification) -> str | None:
    """Return in a sentence with which other operations, alphabet or stack a network is right far more often.

    Every change of `probe.own_variants` is tried on a few short words; None where none does better.
    """
    if specification.partial_domain or model.task_kind not in ("recognition", "next set"):
        return None
    words, expected = drawn_examples(model, specification)
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
