"""Running experiments, which are here by name; of a grid a row at a time: train, extract from what converged, write."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from ..core.errors import FileFormatError, StacklensError, UnknownNameError
from ..core.progress import count
from ..extract.config import DEFAULT_BUDGET, ExtractionConfig
from ..extract.jobs import finished
from . import hao2018, joulin2015, sun1993, sun1993_steps, suzgun2019
from .grid import SETTINGS, Grid, GridResults, GridRow, Network, Outcome, RowResult, RunSettings, results_of
from .results import Experiment, Measured, Results, processor, read_results, result_path, versions, write_results

# ---- Networks of a grid kept in files: a checkpoint each, so that an extraction is run again without the training.

_KEY = "papers"  # of the provenance: what this file knows


def keep_networks(
    folder: Path, row: GridRow, settings: RunSettings, outcomes: list[Outcome], command: str, seconds: dict[str, float]
) -> None:
    """Write the network of every outcome into the ``folder`` of a grid; ``command`` made them in so many ``seconds`` by
    each clock. Raises StacklensError: nothing can be written there.
    """
    from ..models.base import Checkpoint
    from ..models.checkpoint import save_model

    for outcome in outcomes:
        if outcome.model is None:
            continue
        path = _network_path(_made_folder(folder), row, settings, outcome.seed)
        task = {"kind": outcome.model.task_kind, "language": outcome.task}
        own = {"scores": outcome.scores, "seconds": seconds, **_settings_kept(settings)}
        known = {"command": command, "seed": outcome.seed, "scores": outcome.scores, _KEY: own}
        save_model(path, Checkpoint(outcome.model, task, known))


def kept_networks(folder: Path, row: GridRow, settings: RunSettings) -> tuple[list[Outcome], dict[str, float]] | None:
    """Return the outcomes of ``row`` by ``settings`` and the seconds of its training, None unless the ``folder`` of the
    grid has all. Raises FileFormatError: a file that is there holds no network of a grid.
    """
    paths = [_network_path(folder, row, settings, seed) for seed in settings.seeds]
    if not all(path.is_file() for path in paths):
        return None
    from ..models.checkpoint import load_checkpoint

    found = []
    for path, seed in zip(paths, settings.seeds, strict=True):
        checkpoint = load_checkpoint(path)
        own = checkpoint.provenance.get(_KEY)
        if not isinstance(own, dict) or not all(isinstance(own.get(name), dict) for name in ("scores", "seconds")):
            raise FileFormatError(f"{path}: no network of a grid; move it away, or choose another --networks folder")
        found.append((own, Outcome(seed, own["scores"], checkpoint.model, checkpoint.task.get("language"))))
    if any(own.get(name) != value for own, _ in found for name, value in _settings_kept(settings).items()):
        return None  # other settings made it
    return [outcome for _, outcome in found], found[0][0]["seconds"]


def _settings_kept(settings: RunSettings) -> dict[str, Any]:
    return {"scale": settings.scale, "texts": settings.texts, "epochs": settings.epochs}


def _network_path(folder: Path, row: GridRow, settings: RunSettings, seed: int) -> Path:
    name = re.sub(r"[^a-z0-9]+", "-", row.name.lower().replace("+", " plus ")).strip("-")
    data = f"-data-{settings.data_seed}" if settings.data_seed else ""
    return folder / f"{name}-{settings.protocol}{data}-seed-{seed}.pt"


def _made_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StacklensError(f"{folder}: cannot be made: {error.strerror}") from None
    return folder


# ---- Running the rows of a grid ----

_LONGEST_WORD = 300  # characters of a word that is kept


def run_grid(
    grid: Grid,  # what to run
    settings: RunSettings,  # how
    folder: Path,  # of the results
    *,
    rows: Sequence[str] = (),  # names of rows
    fresh: bool = False,  # run them again even if nothing has changed
    jobs: int = 1,  # processes, a row each
    networks: Path | None = None,  # for the trained networks; a row that is all there is not trained again
    # given a row that is under way, and how many of those asked for are done
    progress: Callable[[str, int], None] = lambda _row, _done: None,
) -> GridResults:
    """Return the results of ``grid`` with the rows called ``rows`` in them, all of them where no name is given.

    The file in ``folder`` is written anew after every row, so a run that is stopped and begun again trains only what is
    left, and two runs can share the rows of a grid. A row that was run by other settings is run again, and replaced.
    Raises UnknownNameError: there is no such row; FileFormatError: the file that is there holds no results of a grid,
    and ``fresh`` is not asked for; StacklensError: the device cannot be used, the grid has no such data seed or
    protocol, or nothing can be written.
    """
    grid.check_settings(settings)
    results = _results_so_far(grid, folder, fresh)
    todo = left_to_do(grid, settings, results, rows, fresh)
    order, waiting = [row.name for row in grid.rows], [row.name for row in todo]
    before = len(grid.chosen_rows(rows)) - len(todo)
    progress(waiting[0] if waiting else "", before)
    if not todo:
        return results
    from ..models.base import check_device

    check_device(settings.device)
    run_row = partial(_run_row, grid.name, settings, networks)  # which can be sent to another process
    kept = "rows that are done are kept: run it again"  # what to do when a process is killed
    row_results = finished(run_row, todo, min(jobs, len(todo)), kept=kept)
    for number, done in enumerate(row_results, start=1):
        results = _results_so_far(grid, folder, fresh).with_row(done, order)  # with what other runs have written since
        write_results(results, folder)
        waiting.remove(done.name)
        progress(waiting[0] if waiting else "", before + number)
    return results


def left_to_do(
    grid: Grid, settings: RunSettings, results: GridResults, rows: Sequence[str] = (), fresh: bool = False
) -> list[GridRow]:
    """Return which of the rows called ``rows`` (all where none is named) are not in ``results`` by these settings.
    Raises UnknownNameError: there is no such row.
    """
    chosen = grid.chosen_rows(rows)
    if fresh:
        return list(chosen)
    done = {row.name for row in results.rows if row.is_of(settings)}
    return [row for row in chosen if row.name not in done]


def _results_so_far(grid: Grid, folder: Path, fresh: bool) -> GridResults:
    try:
        found = results_of(grid, folder)
    except StacklensError:
        if not fresh:
            raise
        found = GridResults(grid.paper, grid.name, "")
    return replace(found, paper=grid.paper, title=grid.title)


def _run_row(grid: str, settings: RunSettings, folder: Path | None, row: GridRow) -> RowResult:
    """Return what comes of a row: train it, or read its networks in ``folder``, and extract from what converged."""
    from .measures import measures_of

    clock = _Clock()
    command = f'stacklens papers run {grid} --rows "{row.name}" {settings.options} --fresh'
    own = None if folder is None else folder / grid
    known = None if own is None else kept_networks(own, row, settings)
    if known is not None:
        clock.lap()  # reading them is no part of anything
        outcomes, training = known
    else:
        unfinished = None if own is None else _made_folder(own)
        outcomes = row.train(replace(settings, unfinished=unfinished))
        if tuple(outcome.seed for outcome in outcomes) != settings.seeds:
            raise StacklensError(f"{row.name}: training gave other networks than those of the seeds {settings.seeds}")
        training = clock.lap()
        if own is not None:
            keep_networks(own, row, settings, outcomes, command, training)
    networks = []
    for outcome in outcomes:
        scores = {name: float(score) for name, score in outcome.scores.items()}
        extraction = measures = None
        if outcome.is_worth_reading and outcome.model is not None:
            measures = measures_of(outcome.model, outcome.task)
            extraction = extraction_of(outcome.model, outcome.task)
        networks.append(Network(outcome.seed, scores, outcome.converged, extraction, measures))
    seconds = {f"training, {key}": value for key, value in training.items()}
    seconds |= {f"extraction, {key}": value for key, value in clock.lap().items()}
    kept = {name: getattr(settings, name) for name in SETTINGS}
    about: dict[str, Any] = {"versions": versions(), "command": command, "processor": processor()}
    return RowResult(name=row.name, networks=tuple(networks), seconds=seconds, **kept, **about)


def extraction_of(model: Any, task: str | None, budget: float = DEFAULT_BUDGET) -> dict[str, Any]:
    """Return what is extracted from a network in a ``budget`` of so many seconds, as plain data. "status" is that of
    `extract-pda`, with "reason" for 3; sizes are those after minimisation, and before it; "proof" and "certificate" are
    verdicts; "horizon" and "equals" are those of the report; None stands for what there is not.
    """
    from ..extract.by_name import subject_named
    from ..extract.extraction import extract

    clock = _Clock()
    try:
        subject = None if task is None else subject_named(task, model.task_kind)
        found = extract(model, subject, ExtractionConfig(budget=budget))
        report = found.report()
        fidelity = report["fidelity"]
        contradicted = found.contradicted
        kept = {
            "status": found.status,
            "reason": found.reason,
            **{name: report[name] for name in ("method", "caution", "budget", "automaton", "stacks")},
            "contradicted": None if contradicted is None else contradicted.to_dict(),
            "rounding_mismatch": fidelity["rounding"]["mismatch"],
            **{name: fidelity[name] for name in ("minority_transitions", "action_margin", "graded_actions")},
            "proof": report["proof"],
            "certificate": {key: report["certificate"].get(key) for key in ("verdict", "reason", "words")},
            "horizon": {
                other: {**entry, "shortest_difference": (first := entry["shortest_difference"]) and _short_word(first)}
                for other, entry in report["horizon"].items()
            },
            "equals": report["equals"] and {name: _short_word(entry) for name, entry in report["equals"].items()},
        }
    except StacklensError as error:
        kept = {"status": 3, "reason": str(error)}
    taken = clock.lap()
    return {**kept, "seconds": taken["wall"], "processor_seconds": taken["CPU"]}


def _short_word(entry: dict[str, Any]) -> dict[str, Any]:
    return {**entry, "word": None} if len(entry["word"] or "") > _LONGEST_WORD else entry


class _Clock:
    """Seconds by the clock and of processor time, lap by lap."""

    def __init__(self) -> None:
        self.begun = time.perf_counter(), time.process_time()

    def lap(self) -> dict[str, float]:
        now = time.perf_counter(), time.process_time()
        passed = [round(end - start, 1) for start, end in zip(self.begun, now, strict=True)]
        self.begun = now
        return {"wall": passed[0], "CPU": passed[1]}


# ---- What a run has before it: which rows are left, and how long they took before ----


@dataclass(frozen=True)
class Plan:
    """How much is left to do."""

    networks: int  # how many are to be trained
    rows: int  # of which rows
    seconds: float  # of processor time that rows like these took, one network like another
    unknown: int  # rows of which no such run is known

    def __str__(self) -> str:
        """Return the plan in a line.

        >>> print(Plan(20, 3, 4000.0, 1))
        3 rows, 20 networks: about 1 h 07 min of processor time, and 1 row of which nothing is known
        """
        if not self.rows:
            return "nothing is left to do"
        parts, minutes = [], math.ceil(self.seconds / 60)
        if self.unknown < self.rows:
            parts.append(f"about {minutes // 60} h {minutes % 60:02} min of processor time")
        if self.unknown:
            parts.append(f"{count(self.unknown, 'row')} of which nothing is known")
        return f"{count(self.rows, 'row')}, {count(self.networks, 'network')}: {', and '.join(parts)}"


def plan_of(grid: Grid, settings: RunSettings, folder: Path, rows: Sequence[str] = (), *, fresh: bool = False) -> Plan:
    """Return what `runner.run_grid` would have to do with the same arguments; it reads results and runs nothing.

    What rows took comes from the results in ``folder`` or else from those that come with stacklens, by the same
    protocol and on whatever words. Networks that are trained side by side take less time each than few. Raises
    UnknownNameError: there is no such row; FileFormatError: the file that is there holds no results of a grid.
    """
    here, shipped = results_of(grid, folder), results_of(grid)
    left = left_to_do(grid, settings, here, rows, fresh)
    known = []
    for row in left:
        runs = (*here.runs(row.name), *shipped.runs(row.name))
        like = (run for run in runs if (run.protocol, run.scale) == (settings.protocol, settings.scale))
        if (run := next(like, None)) is not None:
            known.append(sum(taken for name, taken in run.seconds.items() if name.endswith("CPU")) / len(run.networks))
    nets = len(settings.seeds)
    return Plan(nets * len(left), len(left), nets * sum(known), len(left) - len(known))


def summed_plans(plans: Iterable[Plan]) -> Plan:
    """Return all of them as one."""
    each = list(plans)
    return Plan(*(sum(getattr(plan, name) for plan in each) for name in ("networks", "rows", "seconds", "unknown")))


# ---- Measuring the claims of an experiment in turn; what a stopped run has measured is not measured again ----

_Progress = Callable[[str], None]


def run_experiment(experiment: Experiment, progress: _Progress = lambda _: None, folder: Path | None = None) -> Results:
    """Return what ``experiment`` measures; what is measured so far stands in ``folder``, see `part_of`."""
    stated = attrgetter("section", "claim", "paper")  # what a claim says, measured or not
    # the first claims as a stopped run measured them, unless anything is another than it was
    before: tuple[Measured, ...] = ()
    with suppress(StacklensError):  # no such file, or one that was spoilt: everything is measured
        found = None if folder is None else read_results(f"{experiment.name}.part", folder)
        if found is not None and found.versions == versions() and found.seeds == experiment.seeds:
            asked = experiment.claims[: len(found.claims)]
            before = found.claims if [*map(stated, found.claims)] == [*map(stated, asked)] else ()
    results = Results(
        paper=experiment.paper,
        experiment=experiment.name,
        title=experiment.title,
        claims=before,
        seeds=experiment.seeds,
        versions=versions(),
        seconds=round(sum(claim.seconds for claim in before), 1),
        processor=processor(),
    )
    for number, claim in enumerate(experiment.claims):
        progress(f"{claim.section} {claim.claim}")
        if number < len(before):
            continue
        begun = time.process_time()
        finding = claim.measure()
        command, taken = f"stacklens papers run {experiment.name}", round(time.process_time() - begun, 1)
        done = Measured(*stated(claim), finding.ours, command, taken, finding.figures)
        results = replace(results, claims=(*results.claims, done), seconds=round(results.seconds + done.seconds, 1))
        if folder is not None:
            write_results(replace(results, experiment=f"{experiment.name}.part"), folder)
    return results


def run_into(experiment: Experiment, folder: Path, progress: _Progress = lambda _: None) -> Results:
    """Return what ``experiment`` measures, written into ``folder`` once it is whole.

    Until then what is measured stands in a file of its own, see `part_of`: a run that was stopped goes on from there,
    unless a version, a seed or a claim has changed since. Results that were there before stay until then. Raises
    StacklensError: the folder is missing or cannot be written to.
    """
    results = run_experiment(experiment, progress, folder)
    write_results(results, folder)
    part_of(experiment, folder).unlink(missing_ok=True)
    return results


def part_of(experiment: Experiment, folder: Path) -> Path:
    """Return where `run_into` keeps the claims that it has measured, until it has measured all."""
    return result_path(f"{experiment.name}.part", folder)


# ---- The experiments by name ----

# Claims of a paper, or a grid: its table.
EXPERIMENTS: dict[str, Callable[[], Experiment | Grid]] = {
    "sun1993-claims": sun1993.claims_experiment,
    "sun1993-training": sun1993.training_experiment,
    "sun1993-stopping": partial(sun1993.training_experiment, name="sun1993-stopping"),
    "sun1993-rtrl": partial(sun1993_steps.network_experiment, "sun1993-rtrl"),
    "sun1993-palindromes": partial(sun1993_steps.network_experiment, "sun1993-palindromes"),
    "joulin2015-table2": joulin2015.table2,
    "joulin2015-fig2": joulin2015.figure2,
    "joulin2015-table4": joulin2015.table4,
    "hao2018-table1": hao2018.table1,
    "hao2018-claims": hao2018.claims_experiment,
    **suzgun2019.grids(),
    suzgun2019.SEARCH_NAME: suzgun2019.simple_palindrome_search,
    suzgun2019.TRACES_NAME: suzgun2019.traces_experiment,
    "suzgun2019-counts": suzgun2019.counts_experiment,
    "suzgun2019-repeated-blocks": suzgun2019.repeated_blocks,
}


def check_name(name: str) -> str:
    """Return ``name`` if an experiment is called so. Raises UnknownNameError: none is; those there are."""
    if name not in EXPERIMENTS:
        raise UnknownNameError("experiment", name, list(EXPERIMENTS))
    return name
