"""A row of a sweep: one network in a line, or why it failed."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...automata.compare import Equal, compare
from ...automata.formats.json import from_json, to_json
from ...automata.pda import PushdownAutomaton
from ...core.errors import StacklensError
from ...core.progress import count
from ...core.serialize import from_plain, to_plain
from ...models.base import StackModel
from ...models.numbers import one_thread
from ..accuracy import SizeScore, scores_by_size
from ..config import ExtractionConfig
from ..extraction import extract
from ..headline import NETWORKS
from ..horizon import with_stack_limit
from ..result import Extraction
from ..specification import Specification

BAD_INPUT, DEFECT = 2, 70  # statuses beside those of an extraction, as those of the commands


@dataclass(frozen=True)
class SweepRow:
    """What came out of one network of a sweep, as plain data.

    Attributes:
        network: its file, as it was named, or what it is called.
        language: what it was compared with, None for nothing.
        status: 0, 1 or 3 as of `extract-pda`; 2 where the file cannot be read or does not fit, 70 for a defect of ours.
        headline: what the extraction comes to, in one sentence; None where there was none.
        reason: why there is no automaton, or why nothing could be done; None where there is an automaton.
        epochs, seed: of its training, as far as its file knows.
        updates: of a snapshot of a training (``stacklens train --snapshots``), how often its weights had been moved.
        sizes: states, stack_symbols and transitions of the automaton; None where there is none.
        automaton: the automaton, as JSON on one line.
        proof, certificate: the verdicts; None where there is no automaton.
        horizon: the report's entries for "rounded network" and "network" (see `verification.horizon`).
        scores: how often network, rounded network and automaton are right, by size (see `accuracy_by_size`).
        size: what a size is called.
        seconds: how long all that took, by the clock.
        report: all that the extraction comes to (see `Extraction.report`); None where there was none, as in sweeps of
            earlier versions.
    """

    network: str
    language: str | None
    status: int
    headline: str | None = None
    reason: str | None = None
    epochs: int | None = None
    seed: int | None = None
    updates: int | None = None
    sizes: dict[str, int] | None = None
    automaton: str | None = None
    proof: str | None = None
    certificate: str | None = None
    horizon: dict[str, Any] = field(default_factory=dict)
    scores: tuple[SizeScore, ...] = ()
    size: str = "length"
    seconds: float = 0.0
    report: dict[str, Any] | None = None

    def accuracy(self, who: str) -> float | None:
        """Return the share of all words that "network", "rounded network" or "automaton" has right, None if unknown."""
        mine = [score for score in self.scores if score.who == who]
        words = sum(score.words for score in mine)
        return sum(score.right for score in mine) / words if words else None

    def accuracy_by_size(self, who: str) -> dict[str, float]:
        """Return the share of words that ``who`` has right for every range of sizes, such as "1-12"."""
        found: dict[str, list[SizeScore]] = {}
        for score in sorted(self.scores, key=lambda score: score.low):
            if score.who == who:
                name = str(score.low) if score.low == score.high else f"{score.low}-{score.high}"
                found.setdefault(name, []).append(score)
        return {name: sum(s.right for s in some) / sum(s.words for s in some) for name, some in found.items()}

    def agrees(self, who: str) -> float | None:
        """Return up to which length all words agree with ``who``, infinity for every length, None for none."""
        entry = self.horizon.get(who)
        return None if entry is None else math.inf if entry["every_length"] else entry["length"]

    def differs(self, who: str) -> int | None:
        """Return the length of the shortest word known on which ``who`` leaves the automaton, None for no such word."""
        first = (self.horizon.get(who) or {}).get("shortest_difference")
        return None if first is None else first["length"]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data, for `from_dict`."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SweepRow:
        """Return what `to_dict` gave.

        Raises:
            StacklensError: it is something else; one line with what is wrong.
        """
        scores = content.get("scores") if isinstance(content, Mapping) else None
        if not isinstance(scores, list):
            raise StacklensError("a row without its scores")
        for score in scores:  # two names, and four numbers of which the words are some
            kinds = tuple(map(type, score)) if isinstance(score, list) else ()
            if kinds != (str, str, int, int, int, int) or score[4] <= 0:
                raise StacklensError("a row without its scores")
        row = from_plain(cls, {**content, "scores": []}, "a row's")
        certificate = (row.report or {}).get("certificate", {})
        horizon = {other: with_stack_limit(entry, certificate) for other, entry in row.horizon.items()}
        return replace(row, scores=tuple(SizeScore(*score) for score in scores), horizon=horizon)


def failed_row(name: str, language: str | None, error: Exception) -> SweepRow:
    """Return the row of a network that ended in ``error``, in one line."""
    if isinstance(error, StacklensError):
        return SweepRow(name, language, BAD_INPUT, reason=" ".join(str(error).split()))
    line = " ".join(f"{type(error).__name__}: {error}".split())
    return SweepRow(name, language, DEFECT, reason=f"a defect of stacklens, please report it: {line}")


def swept(
    name: str,
    model: StackModel[Any],
    specification: Specification | None,
    config: ExtractionConfig,
    provenance: Mapping[str, Any],
) -> SweepRow:
    """Return the row of ``model``: its automaton with all that it rests on, and its accuracy by size.

    Whatever goes wrong with one network is its row's reason: the others have nothing to do with it.
    """
    begun = time.perf_counter()
    language = None if specification is None else specification.name
    try:
        with one_thread():
            found = extract(model, specification, config)
            size, scores = _size_scores(model, specification, found, config.seed)
    except Exception as error:
        return failed_row(name, language, error)
    report = found.report()
    entry = report["automaton"]
    whole = {key: provenance.get(key) for key in ("epochs", "seed", "updates")}
    return SweepRow(
        name,
        language,
        found.status,
        headline=found.headline,
        reason=found.reason,
        **{key: value if isinstance(value, int) else None for key, value in whole.items()},
        sizes=entry and {key: entry[key] for key in ("states", "stack_symbols", "transitions")},
        automaton=None if found.minimised is None else json.dumps(json.loads(to_json(found.automaton))),
        proof=None if found.minimised is None else report["proof"]["verdict"],
        certificate=None if found.minimised is None else report["certificate"]["verdict"],
        horizon={other: report["horizon"][other] for other in NETWORKS if other in report["horizon"]},
        scores=scores,
        size=size,
        seconds=round(time.perf_counter() - begun, 3),
        report=to_plain(report),
    )


def _size_scores(
    model: StackModel[Any], specification: Specification | None, found: Extraction, seed: int
) -> tuple[str, tuple[SizeScore, ...]]:
    """Return what a size is called, and the scores; none where there is nothing to be right about."""
    if specification is None or not model.real_time:
        return "length", ()
    try:
        scores = scores_by_size(model, specification, found.minimised, seed=seed)
    except StacklensError:  # there are no words of such sizes
        return "length", ()
    return scores.size, scores.scores


# ---- Which of many automata are the same: by proof, not by size; and when in a training the last of them appears.
#
# Two automata are in one class if they are proved to do the same, or if both are proved equal to the same language or
# task. That two of one class have different sizes, or two of different classes the same one, makes no difference.


def classes_of(rows: Sequence[SweepRow]) -> list[int | None]:
    """Return the number of each row's class, from 1 in the order of the rows; None where there is no automaton."""
    known: list[tuple[str, PushdownAutomaton]] = []  # the first automaton of each class
    proved: dict[int, str] = {}  # the language or task that one of a class is proved equal to
    numbers: list[int | None] = []
    for row in rows:
        if row.automaton is None:
            numbers.append(None)
            continue
        equal = row.language if row.proof == "equal" else None
        pda = from_json(row.automaton)
        for number, (text, first) in enumerate(known, start=1):
            if row.automaton == text or (equal is not None and equal == proved.get(number)) or _same_runs(pda, first):
                break
        else:
            known.append((row.automaton, pda))
            number = len(known)
        if equal is not None:
            proved.setdefault(number, equal)
        numbers.append(number)
    return numbers


def _same_runs(a: PushdownAutomaton, b: PushdownAutomaton) -> bool:
    """Return whether two automata are proved to do the same, on words of a task wherever both have outputs."""
    outputs = {step.output for step in a.transitions.values()}
    partly = any(isinstance(output, str) for output in outputs)
    try:
        return isinstance(compare(a, b, outputs="where both" if partly else "all"), Equal)
    except StacklensError:  # other numbers of stacks, or other outputs
        return False


@dataclass(frozen=True)
class Settling:
    """When in a training its last automaton appears, and when it settles.

    Attributes:
        appears: after how many updates the network first does what the last automaton does.
        settles: from which update on it always does; they differ where it was lost in between.
        classes: how many automata there were that are not proved the same, the last one among them.
        last: the row of the last snapshot.
        snapshots: how many were looked at.
        before: the updates of the snapshot before ``settles``; None where it is the first. It settles in between.
    """

    appears: int
    settles: int
    classes: int
    last: SweepRow
    snapshots: int
    before: int | None

    def __str__(self) -> str:
        """Return it in a sentence.

        >>> print(Settling(3, 5, 2, SweepRow("update-9.pt", "dyck-2", 0, proof="equal"), 9, 4))
        the automaton proved equal to dyck-2 appears at update 3 and settles at update 5 (9 snapshots, 2 automata)
        """
        proved = f" proved equal to {self.last.language}" if self.last.proof == "equal" else " of the last snapshot"
        when = f"appears at update {self.appears:,} and settles at update {self.settles:,}"
        return (
            f"the automaton{proved} {when} ({self.snapshots} snapshots, {count(self.classes, 'automaton', 'automata')})"
        )


def settling_of(rows: Sequence[SweepRow], classes: Sequence[int | None]) -> Settling | None:
    """Return when the automaton of the last of these snapshots appears and settles.

    None where they are no snapshots of a training, or the last one has no automaton.
    """
    pairs = zip(rows, classes, strict=True)
    seen = [(row.updates, number, row) for row, number in pairs if row.updates is not None]
    if len(seen) < 2 or len(seen) < len(rows):
        return None
    seen.sort(key=lambda one: one[0])
    last = seen[-1][1]
    if last is None:
        return None
    since = next(place for place in range(len(seen), 0, -1) if place == 1 or seen[place - 2][1] != last) - 1
    appears = next(updates for updates, number, _ in seen if number == last)
    before = seen[since - 1][0] if since else None
    return Settling(appears, seen[since][0], len({*classes} - {None}), seen[-1][2], len(seen), before)
