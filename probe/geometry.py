"""How far states lie apart in a network, what hidden vectors hold, and from where on it parts from its rounded form."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..automata.pda import Word
from ..core.errors import StacklensError
from ..core.imports import pd
from ..languages.language import format_word
from ..models.base import StackModel
from ..models.rounding import Rounded
from .attribution import answers_by_row
from .trace import Selection, Trace, trace

_LONGEST_SHOWN = 400  # symbols of a word on a line of its own, from where it can be pasted
_TOO_LONG = "; the word is in the `parting` of sl.horizon_curve"


@dataclass(frozen=True)
class Distances:
    """How far groups of vectors lie apart."""

    names: tuple[str, ...]  # of the groups
    sizes: tuple[int, ...]  # how many vectors each has
    within: tuple[float, ...]  # the mean distance of a group's vectors from its centre
    between: tuple[tuple[float, ...], ...]  # the distances of the centres from one another, a row a group

    def to_frame(self) -> pd.DataFrame:
        """Return one row a group: how many, spread, and the distance to every centre."""
        rows = list(zip(self.names, self.sizes, self.within, *zip(*self.between, strict=True), strict=True))
        return pd.DataFrame(rows, columns=["group", "vectors", "within", *self.names])


def distances(vectors: np.ndarray, groups: np.ndarray) -> Distances:
    """Return how far the groups of ``vectors`` (M, H) lie apart; ``groups`` (M,) are their names. Raises
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
    """Where the soft network begins to part from the rounded one."""

    steps: tuple[int, ...]  # 1, 2, …
    running: tuple[int, ...]  # how many words are so long
    distance: tuple[float, ...]  # the mean distance of both hidden vectors after each step
    agreeing: tuple[float, ...]  # which share of these words has been answered alike so far
    # the beginning of a word, up to the first step at which any is answered otherwise; None if none is
    parting: Word | None = None

    @property
    def first(self) -> int | None:
        """Return the first step at which a word is answered otherwise, None if none is."""
        return next((step for step, share in zip(self.steps, self.agreeing, strict=True) if share < 1), None)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a step."""
        return pd.DataFrame({name: getattr(self, name) for name in ("steps", "running", "distance", "agreeing")})

    def __str__(self) -> str:
        parted = "no word parts" if self.first is None else f"the first word parts at step {self.first}"
        if self.parting is not None:
            parted += f", after\n{format_word(self.parting)}" if len(self.parting) <= _LONGEST_SHOWN else _TOO_LONG
        return f"{self.to_frame().to_string(index=False, float_format='{:.4f}'.format)}\n{parted}"


def check_actions(model: StackModel[Any]) -> None:
    """Check that rounding changes anything in ``model``."""
    if model.action_kind == "none":
        raise StacklensError(
            f"the {model.name} has no stack whose actions could be rounded: rounded it is itself, on all words"
        )


def horizon_curve(model: StackModel[Any], words: Sequence[Word]) -> HorizonCurve:
    """Return from which step on ``model`` parts from its rounded form on ``words``.

    Of a recogniser what counts is being rejected for good, or the verdict at the end. Raises StacklensError: the
    network has no actions to round, or there are no words.
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
        answers = answers_by_row(model, words), answers_by_row(Rounded(model), words)
        differs = np.zeros(soft.rejected.shape, np.bool_)
        differs[:, : answers[0].shape[1]] = answers[0] != answers[1]
    parted = np.logical_or.accumulate(differs & soft.valid, 1)
    # which word parts first, and at which step
    steps = np.where(parted.any(1), parted.argmax(1), parted.shape[1])
    row = int(steps.argmin())
    size = soft.valid.shape[1]
    running = soft.valid.sum(0)
    return HorizonCurve(
        tuple(range(1, size + 1)),
        tuple(running.tolist()),
        tuple(float(apart[soft.valid[:, t], t].mean()) for t in range(size)),
        tuple(float(1 - parted[soft.valid[:, t], t].mean()) for t in range(size)),
        None if steps[row] == parted.shape[1] else words[row][: int(steps[row]) + 1],
    )


# ---- Linear probes: what a linear classifier reads off a hidden vector, on lengths that it was not trained on ----
#
# Beside each accuracy stand that of always naming the commonest class, and that of a control task (Hewitt & Liang
# 2019, "Designing and interpreting probes with control tasks"): a random label for every type of input, here for every
# sequence of the last three symbols, with the same shares of labels. A probe that learns that as well tells nothing of
# the network; the difference is its selectivity.

TARGETS = ("state", "depth", "top", "below", "third", "position")
_MOST = 4_000  # moments that a probe is trained on, and as many to test
_TYPE = 3  # symbols that make a type of input


@dataclass(frozen=True)
class LinearProbe:
    """What one probe finds."""

    # what is asked: the automaton's "state", "depth", "top", "below" (the symbol under the top), "third" (the one under
    # that), or the "position" in the word
    target: str
    accuracy: float  # on held-out lengths, in [0, 1]; classes that training did not show are wrong
    trained: float  # on the words that it was trained on
    majority: float  # of naming the commonest class of training
    control: float  # of a probe for the control task, on the same moments
    classes: int  # how many classes training showed
    moments: int  # on how many moments it was tested
    by_depth: tuple[float, ...]  # the accuracy at each depth from 0 on, NaN where no tested moment is so deep

    @property
    def selectivity(self) -> float:
        """Return how much better it does than on the control task."""
        return self.accuracy - self.control


@dataclass(frozen=True)
class LinearProbes:
    """The probes of one network."""

    probes: tuple[LinearProbe, ...]  # one a target, without those of which there is one class only
    longest: int  # of words that were trained on; tested ones are longer

    def __getitem__(self, target: str) -> LinearProbe:
        found = next((probe for probe in self.probes if probe.target == target), None)
        if found is None:
            raise StacklensError(f"no probe for {target!r}; there are {', '.join(p.target for p in self.probes)}")
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row a probe."""
        names = ("target", "accuracy", "trained", "majority", "control", "selectivity", "classes", "moments")
        return pd.DataFrame([[getattr(probe, name) for name in names] for probe in self.probes], columns=list(names))

    def __str__(self) -> str:
        table = self.to_frame().to_string(index=False, float_format="{:.3f}".format)
        return f"trained on words of length <= {self.longest}, tested on longer ones\n{table}"


def linear_probes(
    seen: Trace, *, targets: Sequence[str] = TARGETS, longest: int | None = None, seed: int = 0
) -> LinearProbes:
    """Return what linear probes find in the hidden vectors of a trace that is joined with an automaton.

    ``seen``: the trace, with words of several lengths. ``targets``: what is asked, of `TARGETS`. ``longest``: the
    longest words to train on; by default the median length. ``seed``: for what is drawn.
    """
    for target in targets:
        if target not in TARGETS:
            raise StacklensError(f"there is no probe for {target!r}; expected some of {', '.join(TARGETS)}")
    if not seen.hidden.shape[-1]:
        raise StacklensError("the network has no hidden vector to probe")
    lengths = np.array([len(word) for word in seen.words])
    limit = int(np.median(lengths)) if longest is None else longest
    rng = np.random.default_rng(seed)
    parts = list[Selection]()
    for side in (lengths <= limit, lengths > limit):  # moments at which the automaton's run goes on
        moments = seen.select(word=np.flatnonzero(side).tolist())
        alive = np.flatnonzero((moments.step > 0) & (seen.joined.states[moments.word, moments.step] >= 0))
        kept = rng.permutation(alive)[:_MOST]
        parts.append(Selection(seen, moments.word[kept], moments.step[kept]))
    if not all(len(part) for part in parts):
        raise StacklensError(f"no words of length <= {limit}, or none longer: probes are tested on longer words")
    # (M, H) vectors of both sides, scaled by those that are trained on
    mean, spread = parts[0].hidden.mean(0), parts[0].hidden.std(0) + 1e-9
    features = [(part.hidden - mean) / spread for part in parts]
    # types of input, (M,) each: the last symbols of every moment as digits of a number, the highest for none
    types, size, back = list[np.ndarray](), len(seen.letters) + 1, np.arange(1, _TYPE + 1)
    for part in parts:
        places = part.step[:, None] - back
        symbols = np.where(places < 0, size - 1, seen.symbols[part.word[:, None], np.maximum(places, 0)])
        types.append(symbols @ size ** (_TYPE - back))
    found = list[LinearProbe]()
    for target in targets:
        if target in ("position", "state", "depth"):
            labels = [np.asarray(getattr(part, "step" if target == "position" else target)) for part in parts]
        else:
            labels = [part.below({"top": 0, "below": 1, "third": 2}[target]) for part in parts]
        names, counts = np.unique(labels[0], return_counts=True)
        if len(names) < 2:
            continue
        machine = _fitted(features[0], labels[0])
        right = machine.predict(features[1]) == labels[1]
        # the control task: a random label for every type of input, with the same shares
        random = rng.choice(len(names), int(max(one.max() for one in types)) + 1, p=counts / counts.sum())
        asked, wanted = (random[one] for one in types)
        control = float((wanted == asked[0]).mean())
        if len(np.unique(asked)) > 1:
            control = float((_fitted(features[0], asked).predict(features[1]) == wanted).mean())
        with np.errstate(invalid="ignore"):  # 0 of 0 at depths where no moment is
            by_depth = np.bincount(parts[1].depth, right) / np.bincount(parts[1].depth)
        probe = LinearProbe(
            target,
            accuracy=float(right.mean()),
            trained=float((machine.predict(features[0]) == labels[0]).mean()),
            majority=float((labels[1] == names[counts.argmax()]).mean()),
            control=control,
            classes=len(names),
            moments=len(right),
            by_depth=tuple(by_depth.tolist()),
        )
        found.append(probe)
    return LinearProbes(tuple(found), limit)


def _fitted(features: np.ndarray, labels: np.ndarray) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():  # a probe that has not settled after so many rounds is as good as it gets
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(max_iter=200).fit(features, labels)
