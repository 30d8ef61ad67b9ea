"""Train the networks that docs/findings/hypotheses.md speaks of, keep them, and hand them to the experiments.

    python -m docs.findings.fresh [--networks build/runs]

They are those of `stacklens papers run suzgun2019-table2 --seeds 4 --first-seed 60 --networks build/runs` (and of
tables 3 and 4), in the same files; what is read out of them comes in the experiments, and is timed there.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from stacklens.models.base import StackModel
from stacklens.papers.grid import Grid, GridRow, Outcome, RunSettings
from stacklens.papers.results import processor, versions
from stacklens.papers.runner import EXPERIMENTS, keep_networks, kept_networks

HERE = Path(__file__).parent
NETWORKS = HERE.parents[1] / "build" / "runs"
TABLES = {"suzgun2019-table2": "D2", "suzgun2019-table3": "D3", "suzgun2019-table4": "D6"}
SEEDS = (60, 61, 62, 63)
_GATES = ("+Softmax", "J&M", "+Gumbel-Softmax", "+Softmax-Temp")


@dataclass(frozen=True)
class Fresh:
    """A network that learned: ``row`` and ``seed`` name it, ``language`` is what `sl.extract` takes."""

    table: str
    row: str
    seed: int
    language: str
    model: StackModel[Any]

    @property
    def family(self) -> str:
        """Return the kind of its memory and controller: the row without its gate."""
        return self.row.partition("+")[0]

    @property
    def named(self) -> dict[str, Any]:
        """Return what every result says of which network it is of."""
        return {"task": TABLES[self.table], "row": self.row, "family": self.family, "seed": self.seed}


def rows() -> Iterator[tuple[str, GridRow]]:
    """Yield the rows with a memory, with the names of their tables, in the order in which they are trained.

    One gate after another, so that where time ends all tables and families have as many.
    """
    for gate in _GATES:
        for table in TABLES:
            grid = EXPERIMENTS[table]()
            assert isinstance(grid, Grid)
            yield from ((table, row) for row in grid.rows if row.stacks and row.name.endswith(gate))


def learned(folder: Path = NETWORKS, seeds: tuple[int, ...] = SEEDS) -> Iterator[Fresh]:
    """Yield the networks of some seeds that learned, from the folder that keeps them."""
    for table, row in rows():
        kept = kept_networks(folder / table, row, RunSettings(seeds, "fast"))
        for one in kept[0] if kept else ():
            if one.converged and one.model is not None and one.task is not None:
                yield Fresh(table, row.name, one.seed, one.task, one.model)


def about(command: str, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what every file of results begins with: the command, the commits, the processors.

    ``before`` is what the file held: a run that goes on adds its commit and processor to those that wrote lines.
    """
    now = {"commits": versions().get("commit", ""), "processors": processor()}
    return {
        "command": command,
        **{name: list(dict.fromkeys([*(before or {}).get(name, ()), one])) for name, one in now.items()},
    }


def read_back(name: str) -> dict[str, Any]:
    """Return what docs/findings/NAME.json holds, no lines where it is not there."""
    path = HERE / f"{name}.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"rows": []}
    return content


def write_results(name: str, head: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    """Write docs/findings/NAME.json, a line a network."""
    body = ",\n".join(json.dumps(one, ensure_ascii=False) for one in lines)
    text = json.dumps(head, ensure_ascii=False, indent=1)
    (HERE / f"{name}.json").write_text(f'{text[:-2]},\n "rows": [\n{body}\n]\n}}\n', encoding="utf-8")


def main() -> None:
    """Train what is missing, and write how many learned and how long that took."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--networks", type=Path, default=NETWORKS)
    folder = options.parse_args().networks
    torch.set_num_threads(1)
    head, lines = about("python -m docs.findings.fresh"), list[dict[str, Any]]()
    for table, row in rows():
        outcomes, seconds = trained(table, row, folder)
        scores = [round(one.scores["test"], 4) for one in outcomes]
        known = {"task": TABLES[table], "row": row.name, "seeds": SEEDS, "learned": [one.converged for one in outcomes]}
        lines.append({**known, "test": scores, "training seconds": {k: round(s, 1) for k, s in seconds.items()}})
        print(table, row.name, scores, f"{seconds['CPU']:.0f} s", flush=True)
        write_results("fresh", head, lines)


def trained(
    table: str, row: GridRow, folder: Path, seeds: tuple[int, ...] = SEEDS
) -> tuple[list[Outcome], dict[str, float]]:
    """Return the networks of a row, from the folder that keeps them or trained into it, with the seconds of that."""
    settings = RunSettings(seeds, "fast")
    if kept := kept_networks(folder / table, row, settings):
        return kept
    wall, processor_time = time.perf_counter(), time.process_time()
    outcomes = row.train(settings)
    seconds = {"wall": time.perf_counter() - wall, "CPU": time.process_time() - processor_time}
    keep_networks(folder / table, row, settings, outcomes, "python -m docs.findings.fresh", seconds)
    return outcomes, seconds


if __name__ == "__main__":
    main()
