"""What came of a grid, as the files in `results/`: one JSON a grid, schema 1, written anew after every row."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from stacklens.errors import FileFormatError, StacklensError
from stacklens.files import write_whole
from stacklens.papers.grid import RunSettings
from stacklens.papers.results import FOLDER, checked_fields, result_path

__all__ = ["GridResults", "Network", "RowResult", "read_grid", "write_grid"]

_SCHEMA = 1
_KIND = "grid"


@dataclass(frozen=True)
class Network:
    """What one network came to: `grid.Outcome` without the network, and what was extracted from it.

    ``extraction`` is what `runner` keeps of a report, None where nothing was tried.
    """

    seed: int
    scores: dict[str, float]
    converged: bool
    extraction: dict[str, Any] | None = None


@dataclass(frozen=True)
class RowResult:
    """What one row came to.

    Attributes:
        name: of the row.
        protocol, seeds, scale, device: the settings; see `grid.Settings`.
        networks: one a seed.
        seconds: of training and of extraction, by the clock and of processor time.
        versions: of what ran it.
        command: that runs it again.
        texts: which files of the user's it was trained on.
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
    epochs: int | None = None

    def is_of(self, settings: RunSettings) -> bool:
        """Return whether training it by ``settings`` would give the same: the device makes no difference to that."""
        mine = (self.protocol, self.seeds, self.scale, self.texts, self.epochs)
        return mine == (settings.protocol, settings.seeds, settings.scale, settings.texts, settings.epochs)

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
    """The rows of a grid that were run, in the order of the grid.

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

    def row(self, name: str) -> RowResult | None:
        """Return the row called ``name``, None where it was not run."""
        return next((row for row in self.rows if row.name == name), None)

    def with_row(self, new: RowResult, order: list[str]) -> GridResults:
        """Return the results with a row added or replaced; rows stand in ``order``, and others than these go."""
        rows = {**{row.name: row for row in self.rows}, new.name: new}
        return replace(self, rows=tuple(rows[name] for name in order if name in rows))


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
