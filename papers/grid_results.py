"""What came of a grid, as the files in `results/`: one JSON a grid, schema 1, written anew after every row."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from stacklens.errors import FileFormatError, StacklensError
from stacklens.files import write_whole
from stacklens.papers.grid import RunSettings
from stacklens.papers.results import FOLDER, checked_fields, result_path

__all__ = ["GridResults", "Network", "RowResult", "RunKey", "read_grid", "write_grid"]

_SCHEMA = 1
_KIND = "grid"


@dataclass(frozen=True)
class Network:
    """What one network came to: `grid.Outcome` without the network, and what was extracted from it.

    ``extraction`` is what `runner` keeps of a report, ``measures`` what `network_measures` measured before; None where
    nothing was tried.
    """

    seed: int
    scores: dict[str, float]
    converged: bool
    extraction: dict[str, Any] | None = None
    measures: dict[str, Any] | None = None


class RunKey(NamedTuple):
    """Which run of a row: several protocols and data seeds stand side by side in one file."""

    row: str
    protocol: str
    data_seed: int = 0


@dataclass(frozen=True)
class RowResult:
    """What one row came to in one run: by one protocol, on the words of one data seed.

    Attributes:
        name: of the row.
        protocol, seeds, scale, device, data_seed: the settings; see `grid.RunSettings`.
        networks: one a seed.
        seconds: of training and of extraction, by the clock and of processor time.
        versions: of what ran it.
        command: that runs it again.
        texts: which files of the user's it was trained on.
        processor: of the machine that ran it, as its system calls it; "" where that was not kept.
        epochs: at most so many were trained; None for as many as the protocol has.
    """

    name: str
    protocol: str
    seeds: tuple[int, ...]
    scale: float
    device: str
    networks: tuple[Network, ...]
    seconds: dict[str, float]
    versions: dict[str, str]
    command: str
    texts: str = ""
    data_seed: int = 0
    processor: str = ""
    epochs: int | None = None

    @property
    def key(self) -> RunKey:
        """Return what tells it from other runs of a grid."""
        return RunKey(self.name, self.protocol, self.data_seed)

    def is_of(self, settings: RunSettings) -> bool:
        """Return whether training it by ``settings`` would give the same: the device makes no difference to that."""
        known = ("protocol", "seeds", "scale", "texts", "data_seed", "epochs")
        return all(getattr(self, name) == getattr(settings, name) for name in known)

    @classmethod
    def from_dict(cls, content: object) -> RowResult:
        """Return what `dataclasses.asdict` gave.

        Raises:
            StacklensError: something is missing, or too much.
        """
        values = checked_fields(cls, content)
        networks = tuple(Network(**checked_fields(Network, network)) for network in values["networks"])
        if tuple(network.seed for network in networks) != tuple(values["seeds"]):
            raise StacklensError(f"{values['name']}: the networks are not those of the seeds {values['seeds']}")
        return cls(**{**values, "networks": networks, "seeds": tuple(values["seeds"])})


@dataclass(frozen=True)
class GridResults:
    """The rows of a grid that were run, in the order of the grid, and of one row by protocol and data seed.

    >>> results = GridResults("A paper", "a-1", "networks")
    >>> GridResults.from_dict(results.to_dict()) == results
    True
    """

    paper: str
    experiment: str
    title: str
    rows: tuple[RowResult, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a results file."""
        return {"schema": _SCHEMA, "kind": _KIND, **asdict(self)}

    @classmethod
    def from_dict(cls, content: object) -> GridResults:
        """Return what `to_dict` gave.

        Raises:
            StacklensError: something is missing, or too much, or of another schema.
        """
        if not isinstance(content, dict) or (content.get("schema"), content.get("kind")) != (_SCHEMA, _KIND):
            raise StacklensError(f"expected the results of a grid, schema {_SCHEMA}")
        values = checked_fields(cls, {key: value for key, value in content.items() if key not in ("schema", "kind")})
        return cls(**{**values, "rows": tuple(map(RowResult.from_dict, values["rows"]))})

    def runs(self, name: str) -> tuple[RowResult, ...]:
        """Return all runs of the row called ``name``."""
        return tuple(row for row in self.rows if row.name == name)

    def run(self, key: RunKey) -> RowResult | None:
        """Return one run of a row, None where there is none."""
        return next((row for row in self.rows if row.key == key), None)

    def row(self, name: str) -> RowResult | None:
        """Return the first run of the row called ``name``, None where it was not run."""
        return next(iter(self.runs(name)), None)

    def with_row(self, new: RowResult, order: list[str]) -> GridResults:
        """Return the results with a run added or replaced; rows stand in ``order``, and others than these go."""
        rows = {**{row.key: row for row in self.rows}, new.key: new}
        known = sorted((row for row in rows.values() if row.name in order), key=lambda row: _place(row, order))
        return replace(self, rows=tuple(known))


def _place(row: RowResult, order: list[str]) -> tuple[int, str, int]:
    return order.index(row.name), row.protocol, row.data_seed


def write_grid(results: GridResults, folder: Path = FOLDER) -> Path:
    """Return the file that ``results`` were written to, whole or not at all.

    Raises:
        StacklensError: the folder is missing or cannot be written to.
    """
    path = result_path(results.experiment, folder)
    write_whole(path, json.dumps(results.to_dict(), indent=1, ensure_ascii=False) + "\n")
    return path


def read_grid(experiment: str, folder: Path = FOLDER) -> GridResults | None:
    """Return the results of the grid called ``experiment``, None where there are none.

    Raises:
        FileFormatError: the file does not hold results of a grid.
    """
    path = result_path(experiment, folder)
    if not path.is_file():
        return None
    try:
        return GridResults.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (KeyError, TypeError, ValueError, StacklensError) as error:
        raise FileFormatError(
            f"{path}: no results of a grid: {error}; run it again with --fresh, which forgets this file"
        ) from None
