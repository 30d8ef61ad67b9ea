"""What a table of a paper is: rows of networks that are trained from several seeds, with what the paper reports.

Plain data, beside the functions that train: nothing heavy is imported before one of them is called.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from ..core.errors import StacklensError, UnknownNameError
from .results import FOLDER, Stored, from_fields, read_stored

if TYPE_CHECKING:
    from ..models.base import StackModel

Protocol = Literal["paper", "fast"]
# "paper"  as the paper and its program do it, to the letter: batches, schedule, sizes, number of epochs
# "fast"   the same networks on the same tasks, by recipes that train many seeds at once

CONVERGED = 0.99  # of the score "test", a share in every table whose networks have a memory
VALIDATION = "validation"  # the score by which `chosen` takes a network


@dataclass(frozen=True)
class RunSettings:
    """How the rows of a grid are to be trained. Raises StacklensError: no seeds or the same one twice, an unknown
    protocol, a scale or data seed out of range, or less than one epoch, or epochs for the protocol fast.
    """

    seeds: tuple[int, ...]  # one network each
    protocol: Protocol = "fast"  # see `Protocol`
    device: str = "cpu"  # where to train, in torch's words
    scale: float = 1.0  # sizes and epochs, as a share of the whole, above 0 and at most 1; below 1 for trials
    texts: str = ""  # for grids that need them, the user's files, as a line that tells these from others
    data_seed: int = 0  # which words are trained on; 0 for those of the authors' programs; test words are the same
    epochs: int | None = None  # at most so many by the paper's protocol; None for the paper's
    unfinished: Path | None = None  # folder for long trainings, which go on where they were stopped

    def __post_init__(self) -> None:
        if self.epochs is not None and (self.epochs < 1 or self.protocol != "paper"):
            raise StacklensError(f"epochs {self.epochs}: expected 1 or more, with the protocol paper")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise StacklensError(f"seeds {self.seeds}: expected at least one, and each of them once")
        if self.protocol not in get_args(Protocol):
            raise UnknownNameError("protocol", self.protocol, list(get_args(Protocol)))
        if not 0 < self.scale <= 1:
            raise StacklensError(f"scale {self.scale}: expected a number above 0 and at most 1")
        if self.data_seed < 0:
            raise StacklensError(f"data seed {self.data_seed}: expected 0 or more")

    def scaled(self, number: int, least: int = 1) -> int:
        """Return ``number`` times the scale, ``least`` or more of it.

        >>> RunSettings((0,)).scaled(60), RunSettings((0,), scale=0.01).scaled(60, least=2)
        (60, 2)
        """
        return number if self.scale == 1 else max(min(least, number), round(number * self.scale))

    @property
    def options(self) -> str:
        """Return the options of `stacklens papers run` that choose these settings, but for the scale."""
        first = f" --first-seed {self.seeds[0]}" if self.seeds[0] else ""
        data = f" --data-seed {self.data_seed}" if self.data_seed else ""
        device = "" if self.device == "cpu" else f" --device {self.device}"
        epochs = "" if self.epochs is None else f" --epochs {self.epochs}"
        seeds = f"--seeds {len(self.seeds)}{first}{data}"
        return f"{seeds} --protocol {self.protocol}{epochs}{device}{text_options(self.texts)}"

    def consecutive(self) -> tuple[int, int]:
        """Return the first seed and how many there are, for trainers whose networks have consecutive seeds. Raises
        StacklensError: they are not consecutive.
        """
        if self.seeds != tuple(range(self.seeds[0], self.seeds[0] + len(self.seeds))):
            raise StacklensError(f"seeds {self.seeds}: expected consecutive ones, as networks are trained side by side")
        return self.seeds[0], len(self.seeds)


@dataclass(frozen=True)
class Outcome:
    """One trained network."""

    seed: int  # what it was drawn from
    # as the paper scores, shares from 0 to 1 by name (perplexities where a grid says so); `VALIDATION` is the one by
    # which restarts are chosen ("validation rounded" for the score "test rounded")
    scores: dict[str, float]
    model: StackModel[Any] | None = None  # the network of its best epoch; None where there is none
    task: str | None = None  # the name of its language or task, which extraction compares with; None for none

    @property
    def converged(self) -> bool:
        """Return whether the network itself, not rounded, learned its task: its score "test", on words of its own."""
        return has_converged(self.scores)

    @property
    def is_worth_reading(self) -> bool:
        """Return whether an automaton is worth looking for: the network converged, or does so when it is rounded."""
        return self.converged or self.scores.get("test rounded", 0.0) >= CONVERGED


def has_converged(scores: Mapping[str, float]) -> bool:
    """Return whether a network with these scores learned its task by itself.

    >>> has_converged({"test": 0.995}), has_converged({"test": 0.9, "test rounded": 1.0})
    (True, False)
    """
    return scores.get("test", 0.0) >= CONVERGED


@dataclass(frozen=True)
class GridRow:
    """Networks of one model on one task."""

    name: str  # unique in its grid, such as "LSTM, reversal"
    cells: dict[str, str]  # the leading columns as shown, such as ``{"model": "LSTM", "task": "reversal"}``
    train: Callable[[RunSettings], list[Outcome]]  # trains a network from each seed of the settings
    reported: dict[str, str] = field(default_factory=dict)  # the paper's figures by column, as "test median"
    source: str = ""  # where shapes and settings come from: a section, or the authors' program
    stacks: bool = True  # whether the networks have a stack, or a memory like one; others are not extracted from


@dataclass(frozen=True)
class Grid:
    """One table or figure of a paper. Raises StacklensError: two rows of a name, or with other cells."""

    name: str  # what `stacklens papers run` calls it
    paper: str  # the specification
    title: str  # what is measured, in a few words
    rows: tuple[GridRow, ...]  # what is trained
    scores: tuple[str, ...]  # which scores of the networks are shown, in this order
    statistics: tuple[str, ...] = ("min", "median", "mean", "max")  # of `STATISTICS`, those shown
    seeds: int = 10  # how many networks a row has by default
    across: str | None = None  # the cell whose values are columns, as in the paper; None for a line a row
    score_names: dict[str, str] = field(default_factory=dict)  # for ``across``, what a score's line is called
    shares: bool = True  # whether scores are shares from 0 to 1, shown in percent
    digits: int = 1  # how many are shown behind the point
    ranked: str = ""  # a column by which rows are listed under the table, beside the paper's order; or empty
    note: str = ""  # what a reader of the table should know, in a sentence or two
    data_seeds: bool = False  # whether training words can be drawn anew by a data seed
    protocols: tuple[Protocol, ...] = ("paper", "fast")  # one alone where rows have their own settings
    tried_note: str = ""  # what a reader of the table with the settings that were tried should know
    with_texts: Callable[..., Grid] | None = None  # makes the grid for the user's text, in one file or three

    def __post_init__(self) -> None:
        names = [row.name for row in self.rows]
        if len(set(names)) < len(names):
            raise StacklensError(f"{self.name}: two rows have the same name among {', '.join(names)}")
        if any(list(row.cells) != list(self.rows[0].cells) for row in self.rows):
            raise StacklensError(f"{self.name}: every row should have the columns {', '.join(self.rows[0].cells)}")
        if unknown := set(self.statistics) - set(STATISTICS):
            raise UnknownNameError("statistic", sorted(unknown)[0], list(STATISTICS))

    def check_settings(self, settings: RunSettings) -> None:
        """Check that the grid can be run with the data seed and the protocol of ``settings``."""
        if settings.protocol not in self.protocols:
            raise StacklensError(f"{self.name} is run by --protocol {self.protocols[0]} alone, not {settings.protocol}")
        if settings.data_seed and not self.data_seeds:
            raise StacklensError(f"{self.name} has no words that all networks of a row share: leave out --data-seed")

    def chosen_rows(self, names: Sequence[str] = ()) -> tuple[GridRow, ...]:
        """Return the rows called ``names``, in the grid's order; all of them where no name is given. Raises
        UnknownNameError: there is no such row.
        """
        known = [row.name for row in self.rows]
        for name in names:
            if name not in known:
                raise UnknownNameError(f"row of {self.name}", name, [repr(one) for one in known])
        return tuple(row for row in self.rows if not names or row.name in names)


_OVER_ALL: dict[str, Any] = {"min": min, "median": statistics.median, "mean": statistics.fmean, "max": max}
# over the networks of a row; "chosen" is the one that is best on validation, which is no look at the test, rounded
# where the score is; "chosen unrounded" is the one whose score stands in the line of networks that are not rounded
STATISTICS = (*_OVER_ALL, "chosen", "chosen unrounded")


def text_options(texts: str) -> str:
    """Return the options that give the user's texts to a command, with FILE for a name; see `RunSettings.texts`.

    >>> text_options("kjv.txt 0123456789ab"), text_options("")
    (' --text FILE', '')
    """
    if not texts:
        return ""
    return " --text FILE" if len(texts.split(", ")) == 1 else " --train FILE --valid FILE --test FILE"


def statistic(name: str, networks: Sequence[Mapping[str, float]], score: str) -> float | None:
    """Return the statistic called ``name`` of a score over networks, each given by its scores; None where one lacks it.

    >>> statistic("median", [{"test": 0.5}, {"test": 1.0}], "test")
    0.75
    """
    if not networks or any(score not in scores for scores in networks):
        return None
    if name in _OVER_ALL:
        return float(_OVER_ALL[name]([scores[score] for scores in networks]))
    # the score of the network that is best on validation, the first of several
    by, rounded = VALIDATION, score.endswith(" rounded")
    if name == "chosen" and rounded and all(f"{by} rounded" in scores for scores in networks):
        by = f"{by} rounded"
    if name == "chosen unrounded" and (not rounded or any(by not in scores for scores in networks)):
        return None  # only scores of rounded networks have it
    return max(networks, key=lambda scores: scores.get(by, scores[score]))[score]


# ---- What came of a grid, as the files in `results/`: one JSON a grid, schema 1, written anew after every row ----


@dataclass(frozen=True)
class Network:
    """What one network came to: `grid.Outcome` without the network, and what was extracted from it. ``extraction`` is
    what `runner` keeps of a report, ``measures`` what `measures_of` measured before; None where nothing was tried.
    """

    seed: int
    scores: dict[str, float]
    converged: bool
    extraction: dict[str, Any] | None = None
    measures: dict[str, Any] | None = None


SETTINGS = ("protocol", "seeds", "scale", "device", "texts", "data_seed", "epochs")  # that a row keeps


@dataclass(frozen=True)
class RowResult:
    """What one row came to in one run: by one protocol, on the words of one data seed."""

    name: str  # of the row
    protocol: str  # as in `grid.RunSettings`, and so the next three
    seeds: tuple[int, ...]
    scale: float
    device: str
    networks: tuple[Network, ...]  # one a seed
    seconds: dict[str, float]  # of training and of extraction, by the clock and of processor time
    versions: dict[str, str]  # of what ran it
    command: str  # that runs it again
    texts: str = ""  # which files of the user's it was trained on
    data_seed: int = 0
    processor: str = ""  # of the machine that ran it, as its system calls it; "" where that was not kept
    epochs: int | None = None  # at most so many were trained; None for as many as the protocol has

    @property
    def key(self) -> tuple[str, str, int]:
        """Return what tells it from other runs of a grid: several protocols and data seeds stand in one file."""
        return self.name, self.protocol, self.data_seed

    def is_of(self, settings: RunSettings) -> bool:
        """Return whether training it by ``settings`` would give the same: the device makes no difference to that."""
        return all(getattr(self, name) == getattr(settings, name) for name in SETTINGS if name != "device")

    @classmethod
    def from_dict(cls, content: object) -> RowResult:
        """Return what `dataclasses.asdict` gave. Raises StacklensError: something is missing, or too much."""
        row = from_fields(
            cls, content, seeds=tuple, networks=lambda nets: tuple(from_fields(Network, one) for one in nets)
        )
        if tuple(network.seed for network in row.networks) != row.seeds:
            raise StacklensError(f"{row.name}: the networks are not those of the seeds {list(row.seeds)}")
        return row


@dataclass(frozen=True)
class GridResults(Stored):
    """The rows of a grid that were run, in the order of the grid, and of one row by protocol and data seed.

    >>> results = GridResults("A paper", "a-1", "networks")
    >>> GridResults.from_dict(results.to_dict()) == results
    True
    """

    rows: tuple[RowResult, ...] = field(default=())

    HEAD: ClassVar[dict[str, Any]] = {"schema": 1, "kind": "grid"}
    INDENT: ClassVar[int] = 1
    WHAT: ClassVar[str] = "a grid"
    AGAIN: ClassVar[str] = "run it again with --fresh, which forgets this file"
    MADE: ClassVar[dict[str, Callable[[Any], Any]]] = {"rows": lambda rows: tuple(map(RowResult.from_dict, rows))}

    def runs(self, name: str) -> tuple[RowResult, ...]:
        """Return all runs of the row called ``name``."""
        return tuple(row for row in self.rows if row.name == name)

    def row(self, name: str) -> RowResult | None:
        """Return the first run of the row called ``name``, None where it was not run."""
        return next(iter(self.runs(name)), None)

    def with_row(self, new: RowResult, order: list[str]) -> GridResults:
        """Return the results with a run added or replaced; rows stand in ``order``, and others than these go."""
        rows = [row for row in {**{row.key: row for row in self.rows}, new.key: new}.values() if row.name in order]
        rows.sort(key=lambda row: (order.index(row.name), row.protocol, row.data_seed))
        return replace(self, rows=tuple(rows))


def read_grid(experiment: str, folder: Path = FOLDER) -> GridResults | None:
    """Return the results of the grid ``experiment``, None if there are none. Raises FileFormatError: of no grid."""
    return read_stored(GridResults, experiment, folder)


def results_of(grid: Grid, folder: Path = FOLDER) -> GridResults:
    """Return what came of ``grid`` so far, no rows if nothing. Raises FileFormatError: the file holds no grid's."""
    return read_grid(grid.name, folder) or GridResults(grid.paper, grid.name, grid.title)
