"""Running the rows of a grid: train, extract from what converged, write after every row, go on where a run stopped."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklens.errors import StacklensError
from stacklens.extract.budget import DEFAULT_BUDGET
from stacklens.papers.grid import Grid, GridRow, Outcome, RunSettings, text_options
from stacklens.papers.grid_results import GridResults, Network, RowResult, read_grid, write_grid
from stacklens.papers.kept_networks import keep_networks, kept_networks
from stacklens.papers.network_measures import measures_of
from stacklens.papers.results import processor, versions

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction

__all__ = ["extraction_of", "left_to_do", "run_grid"]

_LONGEST_WORD = 300  # characters of a word that is kept
_SAFETY = 8  # the limit for a whole extraction, in budgets of its search
_KEPT = "rows that are done are kept: run it again"  # what to do when a process is killed


def run_grid(
    grid: Grid,
    settings: RunSettings,
    folder: Path,
    *,
    rows: Sequence[str] = (),
    fresh: bool = False,
    jobs: int = 1,
    networks: Path | None = None,
    progress: Callable[[str, int], None] = lambda _row, _done: None,
) -> GridResults:
    """Return the results of ``grid`` with the rows called ``rows`` in them, all of them where no name is given.

    The file in ``folder`` is written anew after every row, so a run that is stopped and begun again trains only what is
    left, and two runs can share the rows of a grid. A row that was run by other settings is run again, and replaced.

    Args:
        grid: what to run.
        settings: how.
        folder: of the results.
        rows: names of rows.
        fresh: run them again even if nothing has changed.
        jobs: processes, a row each.
        networks: folder for the trained networks; a row whose networks are all there is not trained again.
        progress: told a row that is under way, and how many of those asked for are done.

    Raises:
        UnknownNameError: there is no such row.
        FileFormatError: the file that is there holds no results of a grid, and ``fresh`` is not asked for.
        StacklensError: the device cannot be used, the grid has no such data seed or protocol, or nothing can be
            written.
    """
    grid.check_settings(settings)
    results = _known(grid, folder, fresh)
    todo = left_to_do(grid, settings, results, rows, fresh)
    order, waiting = [row.name for row in grid.rows], [row.name for row in todo]
    before = len(grid.chosen_rows(rows)) - len(todo)
    progress(waiting[0] if waiting else "", before)
    for number, done in enumerate(_trained(todo, grid, settings, jobs, networks), start=1):
        results = _known(grid, folder, fresh).with_row(done, order)  # with what other runs have written since
        write_grid(results, folder)
        waiting.remove(done.name)
        progress(waiting[0] if waiting else "", before + number)
    return results


def left_to_do(
    grid: Grid, settings: RunSettings, results: GridResults, rows: Sequence[str] = (), fresh: bool = False
) -> list[GridRow]:
    """Return which of the rows called ``rows`` (all where none is named) are not in ``results`` by these settings.

    Raises:
        UnknownNameError: there is no such row.
    """
    chosen = grid.chosen_rows(rows)
    if fresh:
        return list(chosen)
    done = {row.name for row in results.rows if row.is_of(settings)}
    return [row for row in chosen if row.name not in done]


def _known(grid: Grid, folder: Path, fresh: bool) -> GridResults:
    """Return what was measured before, under the paper and the title that the grid has now."""
    try:
        found = read_grid(grid.name, folder)
    except StacklensError:
        if not fresh:
            raise
        found = None
    return replace(found or GridResults(grid.paper, grid.name, ""), paper=grid.paper, title=grid.title)


def _trained(
    rows: list[GridRow], grid: Grid, settings: RunSettings, jobs: int, networks: Path | None
) -> Iterator[RowResult]:
    if not rows:
        return
    from stacklens.extract.verification.parallel import finished
    from stacklens.models.device import check_device

    check_device(settings.device)
    yield from finished(_RunRow(grid.name, settings, networks), rows, min(jobs, len(rows)), kept=_KEPT)


@dataclass(frozen=True)
class _RunRow:
    """A task that can be sent to another process."""

    grid: str
    settings: RunSettings
    networks: Path | None = None

    def __call__(self, row: GridRow) -> RowResult:
        settings, clock = self.settings, _Clock()
        outcomes, training = self._outcomes(row, clock)
        networks = tuple(_extracted(outcome) for outcome in outcomes)
        extraction = clock.lap()
        return RowResult(
            name=row.name,
            protocol=settings.protocol,
            seeds=settings.seeds,
            scale=settings.scale,
            device=settings.device,
            networks=networks,
            seconds={
                **{f"training, {key}": value for key, value in training.items()},
                **{f"extraction, {key}": value for key, value in extraction.items()},
            },
            versions=versions(),
            command=_command(self.grid, row, settings),
            texts=settings.texts,
            data_seed=settings.data_seed,
            processor=processor(),
            epochs=settings.epochs,
        )

    def _outcomes(self, row: GridRow, clock: _Clock) -> tuple[list[Outcome], dict[str, float]]:
        """Return the networks of a row, kept ones or else trained ones, which are kept, and the seconds of training."""
        settings = self.settings
        known = None if self.networks is None else kept_networks(self.networks, self.grid, row, settings)
        if known is not None:
            clock.lap()  # reading them is no part of anything
            return known
        outcomes = row.train(replace(settings, unfinished=self._unfinished()))
        if tuple(outcome.seed for outcome in outcomes) != settings.seeds:
            raise StacklensError(f"{row.name}: training gave other networks than those of the seeds {settings.seeds}")
        training = clock.lap()
        if self.networks is not None:
            command = _command(self.grid, row, settings)
            keep_networks(self.networks, self.grid, row, settings, outcomes, command, training)
        return outcomes, training

    def _unfinished(self) -> Path | None:
        """Return the folder for trainings that are not finished, which is made; None where no networks are kept."""
        if self.networks is None:
            return None
        folder = self.networks / self.grid
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StacklensError(f"{folder}: cannot be made: {error.strerror}") from None
        return folder


def _command(grid: str, row: GridRow, settings: RunSettings) -> str:
    """Return the command that runs one row again as it was run, but for the scale of a trial."""
    first = f" --first-seed {settings.seeds[0]}" if settings.seeds[0] else ""
    data = f" --data-seed {settings.data_seed}" if settings.data_seed else ""
    device = "" if settings.device == "cpu" else f" --device {settings.device}"
    epochs = "" if settings.epochs is None else f" --epochs {settings.epochs}"
    files = text_options(settings.texts)
    options = f"--seeds {len(settings.seeds)}{first}{data} --protocol {settings.protocol}{epochs}{device}{files}"
    return f'stacklens papers run {grid} --rows "{row.name}" {options} --fresh'


def _extracted(outcome: Outcome) -> Network:
    scores = {name: float(score) for name, score in outcome.scores.items()}
    network = Network(outcome.seed, scores, outcome.converged)
    if not outcome.is_worth_reading or outcome.model is None:
        return network
    measures = measures_of(outcome.model, outcome.task)
    return replace(network, extraction=extraction_of(outcome.model, outcome.task), measures=measures)


def extraction_of(model: Any, task: str | None, budget: float = DEFAULT_BUDGET) -> dict[str, Any]:
    """Return what is extracted from a network, as plain data; the search has a ``budget`` of so many seconds.

    Nothing else of an extraction takes long; for whatever does there is a limit of several times the ``budget``.

    "status" is that of `extract-pda`, with "reason" for 3; sizes are those after minimisation, and before it; "proof"
    and "certificate" are verdicts; "horizon" and "equals" are those of the report; None stands for what there is not.
    """
    from stacklens.extract.by_name import subject_named
    from stacklens.extract.extraction import ExtractionConfig, extract

    clock, limit = _Clock(), _SAFETY * budget
    try:
        with _at_most(limit):
            subject = None if task is None else subject_named(task, model.task_kind)
            found = extract(model, subject, ExtractionConfig(budget=budget))
    except StacklensError as error:
        kept: dict[str, Any] = {"status": 3, "reason": str(error)}
    except _OutOfTime:
        kept = {"status": 3, "reason": f"no automaton was found in {limit:g} seconds of processor time"}
    else:
        kept = _kept(found)
    taken = clock.lap()
    return {**kept, "seconds": taken["wall"], "processor_seconds": taken["CPU"]}


class _OutOfTime(BaseException):
    """Nothing that handles errors on the way should take this for one."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise `_OutOfTime` in a block that takes more processor time; only the main thread of a process can be timed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signal_number: int, frame: object) -> None:
        del signal_number, frame
        raise _OutOfTime

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _kept(found: Extraction) -> dict[str, Any]:
    report = found.report()
    fidelity = report["fidelity"]
    contradicted = found.contradicted
    return {
        "status": found.status,
        "reason": found.reason,
        "method": report["method"],
        "caution": report["caution"],
        "budget": report["budget"],
        "automaton": report["automaton"],
        "stacks": report["stacks"],
        "contradicted": None if contradicted is None else contradicted.to_dict(),
        "rounding_mismatch": fidelity["rounding"]["mismatch"],
        "minority_transitions": fidelity["minority_transitions"],
        "action_margin": fidelity["action_margin"],
        "graded_actions": fidelity["graded_actions"],
        "proof": report["proof"],
        "certificate": {key: report["certificate"].get(key) for key in ("verdict", "reason", "words")},
        "horizon": {other: _without_long_word(entry) for other, entry in report["horizon"].items()},
        "equals": None if report["equals"] is None else _each_without_long_word(report["equals"]),
    }


def _each_without_long_word(entries: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    long = [name for name, entry in entries.items() if len(entry["word"] or "") > _LONGEST_WORD]
    return {name: {**entry, "word": None} if name in long else entry for name, entry in entries.items()}


def _without_long_word(horizon: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of a horizon, whose word is left out where it is long: its length and its parts say enough."""
    first = horizon["shortest_difference"]
    if first is None or len(first["word"]) <= _LONGEST_WORD:
        return horizon
    return {**horizon, "shortest_difference": {**first, "word": None}}


class _Clock:
    """Seconds by the clock and of processor time, lap by lap."""

    def __init__(self) -> None:
        self.begun = time.perf_counter(), time.process_time()

    def lap(self) -> dict[str, float]:
        now = time.perf_counter(), time.process_time()
        passed = [round(end - start, 1) for start, end in zip(self.begun, now, strict=True)]
        self.begun = now
        return {"wall": passed[0], "CPU": passed[1]}
