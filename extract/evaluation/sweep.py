"""Many networks at once: a row for each, whatever becomes of it, kept as soon as it is known."""

from __future__ import annotations

import glob
import json
import math
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...automata.compare import Equal, compare, compared_outputs
from ...automata.formats.json import from_json, to_json
from ...automata.pda import PushdownAutomaton
from ...core.errors import FileFormatError, StacklensError, UnknownNameError, in_file
from ...core.files import from_plain, parse_json, read_text, to_plain
from ...core.imports import above, pd
from ...core.progress import count
from ...languages.catalogue import get_language, get_task
from ...languages.language import Language
from ...languages.task import Task
from ...models.base import StackModel, card_of, one_thread
from ...models.checkpoint import load_network
from ..accuracy import SizeScore, scores_by_size
from ..by_name import specification_of_network, subject_of
from ..config import ExtractionConfig
from ..extraction import extract
from ..horizon import with_stack_limit
from ..jobs import Journal, finished
from ..specification import Specification
from ..wording import NETWORKS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


Given = StackModel[Any] | str | Path
Subject = Language | Task | Specification | PushdownAutomaton | str | None
_COUNTS = ("states", "stack_symbols", "transitions")
_WHOLE = ("updates", "epochs", "seed", "automaton", *_COUNTS, "differs_rounded", "differs_network")
_PARTIES = {"network": "accuracy", "rounded network": "accuracy_rounded", "automaton": "accuracy_automaton"}

# ---- A row: one network in a line, or why it failed ----

BAD_INPUT, DEFECT = 2, 70  # statuses beside those of an extraction, as those of the commands


@dataclass(frozen=True)
class SweepRow:
    """What came out of one network of a sweep, as plain data."""

    network: str  # its file, as it was named, or what it is called
    language: str | None  # what it was compared with, None for nothing
    # 0, 1 or 3 as of `extract-pda`; 2 where the file cannot be read or does not fit, 70 for a defect of ours
    status: int
    headline: str | None = None  # what the extraction comes to, in one sentence; None where there was none
    # why there is no automaton, or why nothing could be done; None where there is an automaton
    reason: str | None = None
    # epochs, seed: of its training, as far as its file knows
    epochs: int | None = None
    seed: int | None = None
    # of a snapshot of a training (``stacklens train --snapshots``), how often its weights had been moved
    updates: int | None = None
    # states, stack_symbols and transitions of the automaton; None where there is none
    sizes: dict[str, int] | None = None
    automaton: str | None = None  # the automaton, as JSON on one line
    # proof, certificate: the verdicts; None where there is no automaton
    proof: str | None = None
    certificate: str | None = None
    # the report's entries for "rounded network" and "network" (see `verification.horizon`)
    horizon: dict[str, Any] = field(default_factory=dict)
    # how often network, rounded network and automaton are right, by size (see `accuracy_by_size`)
    scores: tuple[SizeScore, ...] = ()
    size: str = "length"  # what a size is called
    seconds: float = 0.0  # how long all that took, by the clock
    # all that the extraction comes to (see `Extraction.report`); None where there was none, as in sweeps of earlier
    # versions
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
        return dict(to_plain(self))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SweepRow:
        """Return what `to_dict` gave. Raises StacklensError: it is something else; one line with what is wrong."""
        scores = content.get("scores") if isinstance(content, Mapping) else None
        kinds = [str, str, *[int] * 4]  # two names, and four numbers of which the words are some
        if not isinstance(scores, list) or not all(
            isinstance(score, list) and [*map(type, score)] == kinds and score[4] > 0 for score in scores
        ):
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


# a network to extract from: its number, its key in the journal, its name, itself, what it should do, its provenance
_Work = tuple[int, str, str, StackModel[Any], Specification | None, dict[str, Any]]


def _row_of_work(work: _Work, config: ExtractionConfig) -> tuple[int, str, SweepRow]:
    """Return the row of one network, its automaton with what it rests on, and its accuracy by size, or what failed.

    Its number and key stand before it; it is made in other processes.
    """
    begun, (number, key, name, model, specification, provenance) = time.perf_counter(), work
    language = None if specification is None else specification.name
    try:
        with one_thread():
            found = extract(model, specification, config)
            size, scores = "length", tuple[SizeScore, ...]()
            if specification is not None and model.real_time:
                with suppress(StacklensError):  # there are no words of such sizes
                    by_size = scores_by_size(model, specification, found.minimised, seed=config.seed)
                    size, scores = by_size.size, by_size.scores
    except Exception as error:
        return number, key, failed_row(name, language, error)
    report = found.report()
    entry = report["automaton"]
    whole = {part: provenance.get(part) for part in ("epochs", "seed", "updates")}
    row = SweepRow(
        name,
        language,
        found.status,
        headline=found.headline,
        reason=found.reason,
        **{part: value if isinstance(value, int) else None for part, value in whole.items()},
        sizes=entry and {part: entry[part] for part in _COUNTS},
        automaton=None if found.minimised is None else json.dumps(json.loads(to_json(found.automaton))),
        proof=None if found.minimised is None else report["proof"]["verdict"],
        certificate=None if found.minimised is None else report["certificate"]["verdict"],
        horizon={other: report["horizon"][other] for other in NETWORKS if other in report["horizon"]},
        scores=scores,
        size=size,
        seconds=round(time.perf_counter() - begun, 3),
        report=to_plain(report),
    )
    return number, key, row


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
    """Return whether two automata are proved to do the same, on words of a task where both have outputs."""
    outputs = min(compared_outputs(a), compared_outputs(b))  # "all" where one of them says no symbols
    try:
        return isinstance(compare(a, b, outputs=outputs), Equal)
    except StacklensError:  # other numbers of stacks, or other outputs
        return False


@dataclass(frozen=True)
class Settling:
    """When in a training its last automaton appears, and when it settles."""

    appears: int  # after how many updates the network first does what the last automaton does
    settles: int  # from which update on it always does; they differ where it was lost in between
    classes: int  # how many automata there were that are not proved the same, the last one among them
    last: SweepRow  # the row of the last snapshot
    snapshots: int  # how many were looked at
    # the updates of the snapshot before ``settles``; None where it is the first. It settles in between.
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
    """Return when the automaton of the last snapshot appears and settles; None without snapshots, or an automaton."""
    seen = [(row.updates, number, row) for row, number in zip(rows, classes, strict=True) if row.updates is not None]
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


# ---- The sweep ----


@dataclass(frozen=True)
class Sweep:
    """The rows of a sweep, in the order of the networks."""

    rows: tuple[SweepRow, ...]

    @cached_property
    def classes(self) -> tuple[int | None, ...]:
        """Return the number of every row's automaton: the same number where they are proved to do the same."""
        return tuple(classes_of(self.rows))

    @property
    def settling(self) -> Settling | None:
        """Return when the last automaton appears and settles, where these are the snapshots of a training."""
        return settling_of(self.rows, self.classes)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a network; lengths up to which all words agree are infinite where that is every length.

        ``automaton`` is a number, the same where automata are proved to do the same. The accuracy is that of the
        network on drawn words of every length; then it stands in ranges of lengths, such as ``accuracy 1-12``.
        """
        rows = [
            {
                **{name: getattr(row, name) for name in ("network", "language", "updates", "epochs", "seed", "status")},
                "automaton": number,
                **(row.sizes or dict.fromkeys(_COUNTS)),
                "proof": row.proof,
                "certificate": row.certificate,
                "agrees_rounded": row.agrees("rounded network"),
                "differs_rounded": row.differs("rounded network"),
                "agrees_network": row.agrees("network"),
                "differs_network": row.differs("network"),
                **{name: row.accuracy(party) for party, name in _PARTIES.items()},
                **{name: getattr(row, name) for name in ("seconds", "headline", "reason")},
                **{f"accuracy {size}": value for size, value in row.accuracy_by_size("network").items()},
            }
            for row, number in zip(self.rows, self.classes, strict=True)
        ]
        return pd.DataFrame(rows).astype(dict.fromkeys(_WHOLE, "Int64"))  # whole numbers, some perhaps missing

    def plot(self) -> Figure:
        """Return a figure: accuracy, automata and horizons over updates, thresholds, or networks in their order."""
        return above("stacklens.viz.curves.sweep_figure")(self)

    def save(self, path: str | Path) -> None:
        """Write the table (.csv), all of it (.json, which ``sl.load`` gives back), or the figure (.html, .svg, .png).

        Raises StacklensError: another suffix, or the file cannot be written.
        """
        above("stacklens.face.notebook.save_sweep")(self, Path(path))

    def _repr_html_(self) -> str:
        return str(self.to_frame().dropna(axis="columns", how="all").to_html(index=False))


def networks_named(given: Given | Sequence[Given]) -> list[Given]:
    """Return networks, and files in order: patterns such as ``runs/*.pt`` and folders stand for the files in them.

    Files are sorted as people count: ``seed-9.pt`` comes before ``seed-10.pt``. Raises StacklensError: nothing is
    given, or nothing matches a pattern or lies in a folder.
    """
    single = isinstance(given, str | Path | StackModel)
    several: list[Any] = list(given) if isinstance(given, Iterable) and not single else [given]
    found: list[Given] = []
    for one in several:
        if isinstance(one, StackModel):
            found.append(one)
            continue
        if not isinstance(one, str | Path):
            raise StacklensError(f"expected networks, or their files, not one of type {type(one).__name__}")
        folder = os.path.isdir(one)
        if not folder and (os.path.exists(one) or not glob.has_magic(str(one))):
            found.append(one)
            continue
        pattern = os.path.join(glob.escape(str(one)), "*.pt") if folder else str(one)
        files = sorted(filter(os.path.isfile, glob.glob(pattern, recursive=True)), key=_by_numbers)
        if not files:
            raise StacklensError(f"no file matches {pattern}; expected trained networks")
        found += map(Path, files)
    if not found:
        raise StacklensError("there is no network to sweep over; give files, patterns such as 'runs/*.pt', or networks")
    return found


def _by_numbers(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def sweep(
    given: Given | Sequence[Given],  # networks, files, patterns or folders (see `networks_named`)
    language: Subject = None,  # what all of them should do; by default what is in the file of each
    config: ExtractionConfig | None = None,  # how much is checked; the processes are those of the sweep
    *,
    # jobs, scheduler: see `jobs.finished`
    jobs: int = 1,
    scheduler: str | None = None,
    # where finished rows are kept until all are; a sweep that was killed goes on from there
    journal: Path | None = None,
    resume: bool = True,  # whether to go on from a journal that is there already
    # called with every row once it is there, those of the journal too
    progress: Callable[[SweepRow], None] = lambda _: None,
) -> Sweep:
    """Return a row for each of some networks: extracted, checked, and scored by length. Raises StacklensError: there is
    nothing to sweep over or no such language, the journal is another's, or workers died. What is wrong with one network
    stands in its row.
    """
    networks, config = networks_named(given), config or ExtractionConfig()

    # that there is a language or a task of that name; for which networks it makes sense, each row shows
    if not isinstance(language, str):
        subject_of(language)
    else:
        try:
            get_language(language)
        except UnknownNameError:
            get_task(language)

    # plain data by which a journal is known; the networks may be others
    called = language if isinstance(language, str | None) else getattr(language, "name", str(language))
    chosen = {key: value for key, value in to_plain(config).items() if key not in ("jobs", "device")}
    settings = {"sweep": called, "config": chosen, "version": __version__}

    rows: dict[int, SweepRow] = {}

    def add(number: int, row: SweepRow) -> None:
        rows[number] = row
        progress(row)

    def work(kept: Journal | None) -> Iterator[_Work]:
        """Yield what is still to be done, each network opened here: workers elsewhere do not have the files."""
        for number, one in enumerate(networks):
            name = f"{number + 1} {card_of(one).name}" if isinstance(one, StackModel) else str(one)
            try:
                model = one if isinstance(one, StackModel) else load_network(one).model
                key = f"{name} {card_of(model).weights}"
                if kept is not None and key in kept.kept:
                    try:
                        row = SweepRow.from_dict(kept.kept[key])
                    except StacklensError as error:
                        damage = f"holds a row that cannot be read: {error}; delete the file"
                        raise FileFormatError(f"{kept.path}: {damage}") from None
                    add(number, row)
                    continue
                specification = specification_of_network(model, language)
            except StacklensError as error:
                add(number, failed_row(name, called, error))
                continue
            yield number, key, name, model, specification, dict(model.origin.provenance) if model.origin else {}

    with nullcontext() if journal is None else Journal.open(journal, settings, resume) as kept:
        for number, key, row in finished(partial(_row_of_work, config=config), work(kept), jobs, scheduler):
            if kept is not None:
                kept.keep(**{key: row.to_dict()})
            add(number, row)
    return Sweep(tuple(rows[number] for number in range(len(networks))))


# ---- A sweep as a file: its rows as plain data, with their automata and scores, to be read back ----

_BEGINNING, _SCHEMA = '{"format": "stacklens sweep"', 1
_EXPECTED = "a sweep that stacklens saved"


def sweep_text(sweep: Sweep) -> str:
    """Return ``sweep`` as JSON, a row a line."""
    rows = ",\n".join(json.dumps(row.to_dict(), ensure_ascii=False) for row in sweep.rows)
    return f'{_BEGINNING}, "schema": {_SCHEMA}, "rows": [\n{rows}\n]}}\n'


def is_sweep(path: str | Path) -> bool:
    """Return whether the file at ``path`` begins as a sweep does; it may be damaged all the same."""
    return read_text(path, _EXPECTED).startswith(_BEGINNING)


def load_sweep(path: str | Path) -> Sweep:
    """Return the sweep in the file at ``path``. Raises FileFormatError: it cannot be read, or is damaged."""
    with in_file(path):
        content = parse_json(read_text(path, _EXPECTED), _EXPECTED)
        if content.get("schema") != _SCHEMA:
            raise StacklensError("no sweep of this version of stacklens; sweep again")
        if not isinstance(rows := content.get("rows"), list):
            raise StacklensError("has no rows; sweep again")
        try:
            return Sweep(tuple(map(SweepRow.from_dict, rows)))
        except StacklensError as error:
            raise StacklensError(f"holds a row that cannot be read: {error}; sweep again") from None
