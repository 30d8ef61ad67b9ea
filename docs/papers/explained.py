"""What `make findings` writes into docs/papers besides the tables: where our rows and a paper's part and why; costs.

Which rows part is computed from `papers/results`; why stands in `explained.toml`, a sentence a row, whose figures are
computed as well. A row without a sentence is unexplained, unless chance alone allows for its difference.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from docs.findings import load
from docs.findings.comparisons import comparisons
from docs.findings.stats import SURE

from stacklens.core.errors import StacklensError
from stacklens.papers.grid import (
    Grid,
    GridResults,
    GridRow,
    Network,
    Protocol,
    RowResult,
    RunSettings,
    results_of,
    statistic,
)
from stacklens.papers.results import FOLDER, read_results
from stacklens.papers.runner import EXPERIMENTS, Plan, plan_of, summed_plans
from stacklens.papers.tables import NOTHING, TextTable, markdown_table

REASONS = Path(__file__).with_name("explained.toml")
AGAIN = Path(__file__).with_name("again")  # results of rows that were run again
# by what is printed: how many points ours is off before a row is of note; scores of Hao et al., who print medians and
# the best, are shares of symbols, those of the others of words or sizes
FAR = {"test mean": 15.0, "test chosen": 15.0, "test rounded chosen": 15.0, "test median": 5.0, "test max": 5.0}
CHANCE = "chance allows for it"
UNEXPLAINED = "**unexplained**"


@dataclass(frozen=True)
class Parting:
    """A row that is of note: one statistic by one protocol."""

    table: str
    row: str
    protocol: str
    networks: tuple[Network, ...]
    printed: str  # which statistic
    theirs: str
    ours: float  # in points
    p: float | None  # of the difference of two means (`comparisons`), None where the paper prints another statistic

    @property
    def key(self) -> str:
        """Return what the row is called in `explained.toml`."""
        return f"{self.table} | {self.row}"


def partings(folder: Path = FOLDER) -> list[Parting]:
    """Return every row that is of note, by the paper's own settings where it was run by them."""
    read = [(grid, results_of(grid, folder)) for grid in _grids()]
    tested = comparisons(read, load.networks(read))
    p_of = dict(zip(zip(tested.table, tested.name, strict=True), tested.p, strict=True))
    return [parting for grid, found in read for row in grid.rows for parting in _partings_of(grid, row, found, p_of)]


def differences(folder: Path = FOLDER, reasons: Path = REASONS) -> str:
    """Return the section of docs/papers/rows.md: rows of note, then claims in the papers' text, with why they part.

    Raises:
        StacklensError: a sentence is of a row that is not of note, of a claim that was not measured, or asks for a row
            that was not run.
    """
    written = tomllib.loads(reasons.read_text(encoding="utf-8"))
    found, known = partings(folder), dict(written["rows"])
    if unknown := set(known) - {one.key for one in found}:
        raise StacklensError(f"{reasons.name}: {sorted(unknown)[0]!r} is no row of note; take its sentence out")
    lines = []
    for one in found:
        p = NOTHING if one.p is None else f"{one.p:.2g}"
        why = _filled(known[one.key], folder) if one.key in known else ""
        allowed = one.p is not None and one.p >= SURE
        why = why or (CHANCE if allowed else UNEXPLAINED)
        ours = f"{one.ours:.1f} ({one.protocol}, {_learned(one.networks)})"
        lines.append((one.table, one.row, one.printed, one.theirs, ours, p, why))
    columns = ("table", "row", "statistic", "paper", "ours", "p", "why")
    caption = (
        "rows whose test is off by 15 points or more, of Hao et al. by 5; by the paper's own settings where they were "
        "run; p of two means, as if networks were right or wrong on everything, each row by itself, with "
        "networks of one seed counted as fewer than they are"
    )
    claims = []
    for experiment, entries in written["claims"].items():
        measured = {claim.claim: claim for claim in read_results(experiment, folder).claims}
        for claim, why in entries.items():
            if claim not in measured:
                raise StacklensError(f"{reasons.name}: {experiment} has no claim {claim!r}")
            its = measured[claim]
            claims.append((experiment, its.section, claim, its.paper, its.ours, _filled(why, folder)))
    tables = (
        TextTable("Rows that part from the paper's", columns, tuple(lines), caption),
        TextTable(
            "Statements in the text that part", ("experiment", "section", "what", "paper", "ours", "why"), tuple(claims)
        ),
    )
    return "\n\n".join(map(markdown_table, tables))


def costs_and_reruns() -> str:
    """Return the section of docs/papers/results.md: what a full run costs, and rows that were run again."""
    return f"{costs()}\n\n{again()}"


def costs() -> str:
    """Return what all rows take from the beginning, by each protocol."""
    protocols: Sequence[Protocol] = get_args(Protocol)
    lines, plans = [], dict[Protocol, list[Plan]]((name, []) for name in protocols)
    with TemporaryDirectory() as empty:
        for grid in _grids():
            cells = []
            for protocol in protocols:
                if protocol not in grid.protocols:
                    cells.append(NOTHING)
                    continue
                plan = plan_of(grid, RunSettings(tuple(range(grid.seeds)), protocol), Path(empty))
                plans[protocol].append(plan)
                cells.append(_cost(plan))
            lines.append((f"`{grid.name}`", str(len(grid.rows)), str(grid.seeds), *cells))
    lines.append(("all", "", "", *(_cost(summed_plans(plans[protocol])) for protocol in protocols)))
    columns = ("experiment", "rows", "networks a row", *(f"{protocol}, hours" for protocol in protocols))
    caption = (
        "`stacklens papers run --all --protocol paper --results EMPTY --forecast` says the same: processor time of "
        "training and extraction as it was measured, by rows that were run; how many were not stands behind"
    )
    return markdown_table(TextTable("What a full run costs", columns, tuple(lines), caption))


def again(folder: Path = AGAIN) -> str:
    """Return rows that were run again on another processor or commit, network by network beside what is stored."""
    lines = []
    for grid, run, stored in _reruns(folder):
        pairs = list(zip(run.networks, stored.networks, strict=True))
        off = [abs(one.scores["test"] - other.scores["test"]) for one, other in pairs]
        alike = sum(one.converged == other.converged for one, other in pairs)
        then, now = (
            f"{each.processor or 'not kept'}, {each.versions['commit'][:7]}, {_learned(each.networks)}"
            for each in (stored, run)
        )
        same = f"{sum(one.scores == other.scores for one, other in pairs)} of {len(pairs)}"
        cells = (then, now, same, f"{alike} of {len(pairs)}", f"{100 * max(off):.1f}")
        lines.append((f"`{grid.name}`", f"{run.name}, {run.protocol}, data seed {run.data_seed}", *cells))
    columns = ("experiment", "row", "stored", "again", "same scores", "same verdict", "farthest test")
    caption = (
        "`stacklens papers run EXPERIMENT --rows ROW --results docs/papers/again`: processor, commit, how many learn "
        "their task; networks with the same scores to the last digit; the largest difference on the test, in points"
    )
    return markdown_table(TextTable("Rows run again", columns, tuple(lines), caption))


def same_again(folder: Path = AGAIN) -> str:
    """Return in a sentence how many networks of rows that another processor ran have the scores that are stored."""
    reruns = list(_reruns(folder))
    moved = [
        [one.scores == other.scores for one, other in zip(run.networks, stored.networks, strict=True)]
        for _, run, stored in reruns
        if stored.processor and stored.processor != run.processor
    ]
    worst = min(moved, key=lambda own: sum(own) / len(own))
    return (
        f"{len(reruns)} rows were run again, {len(moved)} of them known to be on another processor: of these "
        f"{sum(map(sum, moved))} of {sum(map(len, moved))} networks have the same scores to the last digit; in one row "
        f"{len(worst) - sum(worst)} of {len(worst)} differ"
    )


def _reruns(folder: Path) -> Iterator[tuple[Grid, RowResult, RowResult]]:
    for grid in _grids():
        kept = results_of(grid)
        for run in results_of(grid, folder).rows:
            stored = next((one for one in kept.rows if one.key == run.key), None)
            assert stored is not None, run.key
            yield grid, run, stored


def with_part(text: str, name: str, part: str) -> str:
    """Return ``text`` with ``part`` between the two comments called ``name``.

    >>> with_part("<!-- costs: x -->old<!-- end of costs -->", "costs", "new")
    '<!-- costs: x -->\\n\\nnew\\n\\n<!-- end of costs -->'
    """
    marked = re.compile(rf"(<!-- {name}: [^>]*-->).*?(<!-- end of {name} -->)", re.DOTALL)
    if len(marked.findall(text)) != 1:
        raise StacklensError(f"expected the comments '{name}: …' and 'end of {name}' once; put them in")
    return marked.sub(lambda match: f"{match[1]}\n\n{part}\n\n{match[2]}", text)


def _grids() -> Iterator[Grid]:
    for build in EXPERIMENTS.values():
        grid = build()
        if isinstance(grid, Grid) and grid.with_texts is None:
            yield grid


def _partings_of(grid: Grid, row: GridRow, found: GridResults, p_of: dict[tuple[str, str], float]) -> Iterator[Parting]:
    for protocol in get_args(Protocol):
        networks = _networks(found, row.name, protocol)
        if networks:
            break
    else:
        return
    compared = ("test mean",) if "test mean" in row.reported else tuple(name for name in FAR if name in row.reported)
    for printed in compared:
        theirs, (score, name) = row.reported[printed], printed.rsplit(" ", 1)
        ours = statistic(name, [network.scores for network in networks], score)
        if ours is not None and abs(100 * ours - float(theirs)) >= FAR[printed]:
            p = p_of.get((grid.name, row.name)) if name == "mean" else None
            yield Parting(grid.name, row.name, protocol, networks, printed, theirs, 100 * ours, p)


def _networks(found: GridResults, row: str, protocol: str) -> tuple[Network, ...]:
    runs = [run for run in found.runs(row) if run.protocol == protocol]
    return tuple(network for run in runs for network in run.networks)


def _learned(networks: Sequence[Network]) -> str:
    return f"{sum(network.converged for network in networks)} of {len(networks)} learn it"


def _filled(why: str, folder: Path) -> str:
    """Return a sentence with every ``{table | row | protocol}`` replaced by how many of its networks learn their task,
    and ``{table | row | protocol | statistic}`` by that statistic in percent.
    """

    def figure(match: re.Match[str]) -> str:
        table, row, protocol, *printed = (part.strip() for part in match[1].split("|"))
        grid: Any = EXPERIMENTS[table]()
        networks = _networks(results_of(grid, folder), row, protocol)
        if not networks:
            raise StacklensError(f"{REASONS.name}: {match[0]} was not run")
        if not printed:
            return _learned(networks).removesuffix(" learn it")
        score, name = printed[0].rsplit(" ", 1)
        value = statistic(name, [network.scores for network in networks], score)
        assert value is not None, match[0]
        return f"{100 * value:.1f}"

    return re.sub(r"\{([^}]+)\}", figure, why)


def _cost(plan: Plan) -> str:
    unknown = f" and {plan.unknown} rows that were not run" if plan.unknown else ""
    return f"{plan.seconds / 3600:.1f}{unknown}"
