"""Proof, exhaustive counts and certificate side by side, for every network of the zoo and published ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import StacklensError
from ..core.files import write_whole
from ..extract.by_name import specification_of
from ..extract.config import ExtractionConfig
from ..extract.extraction import extract
from ..extract.jobs import finished
from ..extract.wording import NETWORKS, horizon_cell
from ..models.checkpoint import ZOO, Checkpoint, load_network
from ..papers.results import versions

_WIDTH = 150  # of the table, at least, where nobody says how wide
_SUFFIXES = {".pt", ".pth", ".dat", ""}  # of the authors' files; those of the C++ program have none


@dataclass(frozen=True)
class VerifiedNetwork:
    """What is known of one network: the parts of its extraction's report that say how far it can be trusted.

    Attributes:
        network: its file's name.
        language: what it was trained on.
        status: of the extraction, 0, 1 or 3.
        automaton: sizes, or None.
        reason: why there is no automaton, or None.
        proof, certificate: verdicts with their reasons.
        checks: the exhaustive ones.
        horizon, equals: how far the automaton agrees with which network, and which of the three it equals.
    """

    network: str
    language: str | None
    status: int
    automaton: dict[str, Any] | None
    reason: str | None
    proof: dict[str, Any]
    certificate: dict[str, Any]
    checks: list[dict[str, Any]]
    horizon: dict[str, Any] = field(default_factory=dict)
    equals: dict[str, Any] | None = None


def networks_in(published: Path | None, zoo: Path = ZOO) -> list[Path]:
    """Return the zoo's networks, and those in the folder ``published`` and its folders.

    Raises:
        StacklensError: there is no such folder, or no network in it.
    """
    networks = sorted(zoo.glob("*.pt"))
    if published is None:
        return networks
    found = [path for path in sorted(published.rglob("*")) if path.is_file() and _is_network(path)]
    if not found:
        raise StacklensError(f"--published {published}: no networks there; expected a folder with the authors' files")
    return [*networks, *found]


def _is_network(path: Path) -> bool:
    if path.suffix not in _SUFFIXES or path.name.startswith("."):
        return False
    try:
        load_network(path)
    except StacklensError:
        return False
    return True


def verify_all(
    networks: Sequence[Path],
    max_length: int | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[], None] = lambda: None,
) -> list[VerifiedNetwork]:
    """Return a row for every one of ``networks``, in their order; they are extracted side by side.

    Args:
        networks: files.
        max_length: exhaustive up to this length where that is possible, None for about 2.5 million words each.
        jobs, scheduler: see `jobs.finished`.
        progress: called as each of them is finished.
    """
    rows: dict[Path, VerifiedNetwork] = {}
    loaded = ((path, load_network(path)) for path in networks)  # here, since workers elsewhere do not have the files
    for path, row in finished(_Verify(max_length), loaded, jobs, scheduler):
        rows[path] = row
        progress()
    return [rows[path] for path in networks]


@dataclass(frozen=True)
class _Verify:
    """A task that can be sent to another process."""

    max_length: int | None

    def __call__(self, given: tuple[Path, Checkpoint]) -> tuple[Path, VerifiedNetwork]:
        path, checkpoint = given
        found = extract(checkpoint.model, specification_of(checkpoint), ExtractionConfig(max_length=self.max_length))
        content = found.report()
        return path, VerifiedNetwork(
            network=path.name,
            language=checkpoint.task.get("language"),
            status=found.status,
            automaton=content["automaton"],
            reason=content["reason"],
            proof=content["proof"],
            certificate=content["certificate"],
            checks=[check for check in content["checks"] if check["kind"] == "exhaustive"],
            horizon=content["horizon"],
            equals=content["equals"],
        )


def write_table(path: Path, rows: Sequence[VerifiedNetwork]) -> None:
    """Write the rows as JSON, whole or not at all."""
    content = {"schema": 1, "versions": versions(), "networks": [asdict(row) for row in rows]}
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def show_table(rows: Sequence[VerifiedNetwork]) -> None:
    """Print the rows as a table, and under it why networks have no automaton."""
    from rich.console import Console
    from rich.table import Column, Table

    table = Table(
        Column("network", overflow="fold"),
        "language",
        "size*",
        "proof",
        "all words",
        "differ**",
        "certificate",
        "rounded***",
        "network***",
    )
    for row in rows:
        table.add_row(row.network.removesuffix(".pt"), row.language or "not known", *_cells(row))
    console = Console(highlight=False)
    wide = Console(highlight=False, width=max(console.width, _WIDTH))
    wide.print(table)
    wide.print("*  states x stack symbols", markup=False)
    wide.print("** the automaton from the language, the rounded network and the network", markup=False)
    wide.print(
        "*** the automaton agrees with it on all words so long, or that need so many cells, and not on a word so long",
        markup=False,
    )
    for row in rows:
        if row.reason is not None:
            wide.print(f"{row.network}: no automaton: {row.reason}", markup=False)


def _cells(row: VerifiedNetwork) -> list[str]:
    if row.automaton is None:
        return ["none", *[""] * 6]
    sizes = f"{row.automaton['states']} x {row.automaton['stack_symbols']}"
    by_other = {check["between"][1]: check for check in row.checks}
    words = next((f"{check['words']:,} <= {check['max_length']}" for check in row.checks), "")
    differ = ", ".join(
        f"{by_other[other]['disagreements']:,}" if other in by_other else "-"
        for other in ("language", "rounded network", "network")
    )
    horizons = [horizon_cell(row.horizon.get(other)) for other in NETWORKS]
    return [sizes, row.proof["verdict"], words, differ, row.certificate["verdict"], *horizons]
