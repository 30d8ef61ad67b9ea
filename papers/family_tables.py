"""What became of networks that learned, by family and by task: the tables that the findings begin with."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults, Network
from stacklens.papers.grid_tables import TextTable, markdown_table
from stacklens.papers.learned import (
    BRACKETS,
    LearnedRow,
    is_equal,
    is_good,
    is_read,
    learned_rows,
    parts_from,
    ran_out,
    share,
    verdict,
)

__all__ = ["family_figures", "why_not_read"]

_NONE = "–"
# why no automaton was read, by what the reason says; the first that fits
_REASONS = {
    "out of time": ("no automaton was found in",),
    "no stack": ("is no stack", "are no stacks"),
    "not used as one": ("does not use its stack",),
}
_OTHER = "none fits"


def why_not_read(network: Network) -> str | None:
    """Return why there is no automaton of a network: "not tried", a name of the table's columns, or None if there is.

    >>> why_not_read(Network(0, {}, True, {"status": 3, "reason": "no automaton was found in 10 seconds"}))
    'out of time'
    """
    if network.extraction is None:
        return "not tried"
    if is_read(network):
        return None
    said = str(network.extraction.get("reason"))
    if ran_out(network):
        return "out of time"
    return next((name for name, parts in _REASONS.items() if any(part in said for part in parts)), _OTHER)


def family_figures(measured: Iterable[tuple[Grid, GridResults]]) -> dict[str, str]:
    """Return the tables of what became of networks that learned, and the shares that the text names."""
    rows = learned_rows(measured)
    networks = [one for row in rows for one in row.networks]
    parted = [length for one in networks if is_read(one) and (length := parts_from(one, "rounded network"))]
    tables = {"search": _search_table(rows), "automata": _automata_table(rows), "tasks": _tasks_table(rows)}
    return {
        **{f"{name} table": markdown_table(table) for name, table in tables.items()},
        "all read": share(rows, is_read),
        "read unrounded": str(sum(map(_is_unrounded, networks))),
        "all proved": share(rows, is_equal),
        "all good": share(rows, is_good),
        "all unparted": share(rows, _is_unparted),
        "all good and parted": share(rows, lambda one: bool(parts_from(one, "network")), _is_good_and_measured),
        "all leaves": share(rows, lambda one: bool(parts_from(one, "rounded network")), _is_measured),
        "all leaves at": f"{statistics.median(parted):g}" if parted else _NONE,
        "all network leaves": share(rows, lambda one: bool(parts_from(one, "network")), _is_measured),
        "all certified": share(rows, _is_certified),
        "certified and parted": share(rows, lambda one: bool(parts_from(one, "network")), _is_certified),
        "certified families": _certified_families(rows),
        "contradicted and proved": share(rows, is_equal, lambda one: is_read(one) and not is_good(one)),
        **_by_task(rows),
    }


def _is_measured(network: Network) -> bool:
    return is_read(network) and parts_from(network, "network") is not None


def _is_good_and_measured(network: Network) -> bool:
    return is_good(network) and _is_measured(network)


def _is_unrounded(network: Network) -> bool:
    """Return whether its automaton was read from the network as it is, and not from its rounded form."""
    return is_read(network) and str((network.extraction or {}).get("caution")).startswith(
        "read from the network as it is"
    )


def _is_unparted(network: Network) -> bool:
    return is_good(network) and parts_from(network, "network") == 0


def _is_certified(network: Network) -> bool:
    return is_read(network) and verdict(network, "certificate") == "certified"


def _certified_families(rows: Sequence[LearnedRow]) -> str:
    numbers: dict[str, int] = {}
    for row in rows:
        numbers[row.family] = numbers.get(row.family, 0) + sum(map(_is_certified, row.networks))
    return ", ".join(f"{_short(family)}: {number}" for family, number in numbers.items() if number) or "none"


def _by_task(rows: Sequence[LearnedRow]) -> dict[str, str]:
    brackets = [row for row in rows if row.task in BRACKETS]
    others = [row for row in rows if row.task not in BRACKETS]
    return {"good on brackets": share(brackets, is_good), "good elsewhere": share(others, is_good)}


def _search_table(rows: Sequence[LearnedRow]) -> TextTable:
    """Return what the search came to for each family: how many automata, and why there are no others."""
    names = ("not tried", *_REASONS, _OTHER)

    def cells(networks: Sequence[Network]) -> tuple[str, ...]:
        why = [why_not_read(one) for one in networks]
        return (
            str(len(networks)),
            _part(sum(map(is_read, networks)), len(networks)),
            *(str(why.count(n)) for n in names),
        )

    note = (
        "not tried: the network was not kept; no stack: lists, and rings by a version of the search that refused them; "
        "not used as one: rounding its actions changes too much; none fits: no automaton found agrees with the rounded "
        "network; out of time: without an automaton when the processor time was spent"
    )
    return _by_family("What the search gives", rows, ("learned", "automata", *names), cells, note)


def _automata_table(rows: Sequence[LearnedRow]) -> TextTable:
    """Return what is known of the automata of each family: beside the task, the rounded network and the network."""

    def cells(networks: Sequence[Network]) -> tuple[str, ...]:
        read = [one for one in networks if is_read(one)]
        return (
            str(len(read)),
            _part(sum(map(is_equal, read)), len(read)),
            _part(sum(map(is_good, read)), len(read)),
            _parted(read, "rounded network"),
            _parted(read, "network"),
            _part(sum(verdict(one, "certificate") == "certified" for one in read), len(read)),
        )

    columns = (
        "automata",
        "proved equal to the task",
        "status 0",
        "rounded network parts from it",
        "network parts from it",
        "certified",
    )
    note = (
        "status 0: no word is known on which it differs from the task or the rounded network, and rounding changes "
        "little; parts from it: on how many of those whose horizon is known, and the median length of the shortest "
        "words known"
    )
    return _by_family("What is known of the automata", rows, columns, cells, note)


def _tasks_table(rows: Sequence[LearnedRow]) -> TextTable:
    """Return how many automata nothing contradicts, of how many networks that learned, by family and task."""
    families = list(dict.fromkeys(row.family for row in rows))
    tasks = list(dict.fromkeys(row.task for row in rows if row.networks))

    def cell(chosen: Iterable[LearnedRow]) -> str:
        networks = [one for row in chosen for one in row.networks]
        return f"{sum(map(is_good, networks))}/{len(networks)}" if networks else _NONE

    lines = [
        (_short(family), *(cell(row for row in rows if (row.family, row.task) == (family, task)) for task in tasks))
        for family in families
        if any(row.networks for row in rows if row.family == family)
    ]
    sums = ("all", *(cell(row for row in rows if row.task == task) for task in tasks))
    title = "Automata of status 0, of the networks that learned, by family and task"
    return TextTable(title, ("family", *tasks), (*lines, sums), "–: none learned, or none was trained")


def _by_family(
    title: str,
    rows: Sequence[LearnedRow],
    columns: tuple[str, ...],
    cells: Callable[[Sequence[Network]], tuple[str, ...]],
    note: str,
) -> TextTable:
    """Return a table with a line for each family that learned anything, in the order of the papers' tables, and all."""
    families: dict[str, list[Network]] = {}
    for row in rows:
        families.setdefault(row.family, []).extend(row.networks)
    lines = [(_short(family), *cells(networks)) for family, networks in families.items() if networks]
    everything = [one for networks in families.values() for one in networks]
    return TextTable(title, ("family", *columns), (*lines, ("all", *cells(everything))), note)


def _short(family: str) -> str:
    paper, _, name = family.partition(": ")
    return f"{name} ({paper})"


def _part(number: int, of: int) -> str:
    return f"{number} ({100 * number / of:.0f} %)" if of else _NONE


def _parted(read: Sequence[Network], other: str) -> str:
    lengths = [length for one in read if (length := parts_from(one, other)) is not None]
    known = [length for length in lengths if length]
    if not lengths:
        return _NONE
    return f"{len(known)} of {len(lengths)}{f', at {statistics.median(known):g}' if known else ''}"
