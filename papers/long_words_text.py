"""Whether it is the repetition that breaks networks on long words: figures of the findings' text.

Two statistics: which kind of word a network gets wrong sooner, and its accuracy on each length. They were chosen with
the networks of data seeds 0 and 1 in sight, so what they say is tested again on those of later data seeds alone. Rows,
and not networks, are taken for independent. Only bracket languages can repeat a block on the spot; where a block is
repeated with what takes it back, words are as deep as their length allows, and nothing is tested.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stacklens.papers.families import BRACKETS, family_of, task_of
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults
from stacklens.papers.grid_tables import TextTable
from stacklens.papers.intervals import counted_in_rows

__all__ = ["long_word_figures"]

_Measured = Sequence[tuple[Grid, GridResults]]
_NETS = {"network": "the network itself", "rounded network": "rounded"}
_KINDS = {"pumped": "repeated", "control": "random, as shallow", "drawn": "random, of any depth"}
_NEVER = float("inf")
_SURE = 0.05
_SEEN = 1  # the last data seed whose networks were looked at when the statistics were chosen


@dataclass(frozen=True)
class _Row:
    """Long words of the networks of one row that learned and were asked."""

    family: str
    task: str
    asked: tuple[dict[str, Any], ...]


def long_word_figures(measured: _Measured) -> dict[str, str]:
    """Return what networks of the tables do on words that repeat a block and on their controls."""
    from stacklens.papers.findings import markdown_table

    every, fresh = (list(_rows(measured, since)) for since in (0, _SEEN + 1))
    rows, fresh = ([row for row in own if row.task in BRACKETS] for own in (every, fresh))
    return {
        "long measured": _number(rows),
        "long elsewhere": _number([row for row in every if row.task not in BRACKETS]),
        "long tasks": ", ".join(dict.fromkeys(row.task for row in rows)) or "none",
        "long wrong table": markdown_table(_wrong(rows)),
        "long by length": markdown_table(_by_length(rows)),
        "long by family": markdown_table(_by_family(every)),
        "long pumped wrong": _ever_wrong(rows, "network", "pumped"),
        "long control wrong": _ever_wrong(rows, "network", "control"),
        "long verdict": _verdict(rows, "network"),
        "long summary": _summary(rows),
        "long rounded verdict": _verdict(rows, "rounded network"),
        "long fresh measured": _number(fresh),
        "long fresh verdict": _verdict(fresh, "network"),
    }


def _number(rows: Iterable[_Row]) -> str:
    return str(sum(len(row.asked) for row in rows))


def _rows(measured: _Measured, since: int) -> Iterable[_Row]:
    """Yield the rows that have networks which were asked, of runs from the data seed ``since`` on."""
    for grid, results in measured:
        for row in grid.rows:
            family = family_of(grid, row)
            runs = [run for run in results.runs(row.name) if run.data_seed >= since]
            networks = [one for run in runs for one in run.networks if one.converged]
            asked = [long for one in networks if (long := (one.measures or {}).get("long words")) is not None]
            if family is not None and asked:
                yield _Row(family, task_of(grid, row), tuple(asked))


def _first(one: dict[str, Any], net: str, kind: str) -> float:
    """Return after how many symbols a network is first wrong on words of a kind."""
    horizon = one[net][kind]["horizon"]
    return _NEVER if horizon is None else float(horizon)


def _ever_wrong(rows: Sequence[_Row], net: str, kind: str) -> str:
    return counted_in_rows((sum(_first(one, net, kind) < _NEVER for one in row.asked), len(row.asked)) for row in rows)


def _wrong(rows: Sequence[_Row]) -> TextTable:
    """Return how many networks are ever wrong on each kind of word, and how soon."""
    lines = []
    for net, shown in _NETS.items():
        for kind in ("pumped", "control"):
            firsts = [first for row in rows for one in row.asked if (first := _first(one, net, kind)) < _NEVER]
            sooner = _sooner(rows, net)[0 if kind == "pumped" else 1]
            median = f"{statistics.median(firsts):g}" if firsts else "–"
            lines.append((shown, _KINDS[kind], _ever_wrong(rows, net, kind), median, str(sooner)))
    columns = (
        "who",
        "words",
        "wrong on some word",
        "first wrong after (median)",
        "networks that are wrong sooner on these",
    )
    return TextTable("Ever wrong, and how soon", columns, tuple(lines))


def _sooner(rows: Sequence[_Row], net: str) -> tuple[int, int]:
    """Return how many networks are first wrong on a repeated word, and how many on a random one as shallow."""
    pairs = [(_first(one, net, "pumped"), _first(one, net, "control")) for row in rows for one in row.asked]
    return sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)


def _verdict(rows: Sequence[_Row], net: str) -> str:
    """Return what the order of first errors tells, with rows for independent."""
    signs = [
        [
            (_first(one, net, "pumped") < _first(one, net, "control"))
            - (_first(one, net, "pumped") > _first(one, net, "control"))
            for one in row.asked
        ]
        for row in rows
    ]
    means = [statistics.fmean(own) for own in signs]
    p = _signed_rank(means)
    if p is None or p >= _SURE:
        said = "that repetition breaks them sooner is not shown"
    else:
        said = "repeated words break them sooner" if statistics.fmean(means) > 0 else "random words break them sooner"
    return f"{said} ({_p(p)} over {len(rows)} rows, Wilcoxon's signed ranks)"


def _signed_rank(differences: Sequence[float]) -> float | None:
    """Return the two-sided p of Wilcoxon's signed ranks, None where fewer than six rows differ at all."""
    from scipy.stats import wilcoxon

    apart = [value for value in differences if value]
    return float(wilcoxon(apart).pvalue) if len(apart) > 5 else None


def _p(p: float | None) -> str:
    if p is None:
        return "too few for a test"
    return "p < .0001" if p < 0.0001 else f"p = {p:.2g}"


def _summary(rows: Sequence[_Row]) -> str:
    """Return on which lengths one kind of word is harder for the network itself, the number of lengths allowed for."""
    lengths = _lengths(rows)
    harder: dict[bool, list[str]] = {}
    for length in lengths:
        means = [
            statistics.fmean(a - b for a, b, _ in found)
            for row in rows
            if (found := _accuracies(row, "network", length))
        ]
        p = _signed_rank(means)
        if p is not None and p < _SURE / len(lengths):
            harder.setdefault(statistics.fmean(means) < 0, []).append(str(length))
    said = [
        f"words that repeat a block are {what} than random ones as shallow at {' and '.join(harder[worse])} symbols"
        for worse, what in ((True, "harder"), (False, "easier"))
        if worse in harder
    ]
    told = "; ".join(said) or "at no length is one kind of word shown to be harder than the other"
    return f"By length, with the number of lengths allowed for: {told}."


def _lengths(rows: Sequence[_Row]) -> list[int]:
    return sorted({length for row in rows for one in row.asked for length in one["lengths"]})


def _by_length(rows: Sequence[_Row]) -> TextTable:
    """Return accuracies by length, of each kind of word, with a test of repeated against random ones."""
    lines = []
    for net, shown in _NETS.items():
        for length in _lengths(rows):
            own = [(row, _accuracies(row, net, length)) for row in rows]
            pairs = [pair for _, found in own for pair in found]
            means = [statistics.fmean(a - b for a, b, _ in found) for _, found in own if found]
            drawn = [c for *_, c in pairs if c is not None]
            p = _signed_rank(means)
            worse, better = sum(a < b for a, b, _ in pairs), sum(a > b for a, b, _ in pairs)
            cells = [_percent([pair[kind] for pair in pairs]) for kind in (0, 1)]
            ofdrawn = f"{_percent(drawn)} ({len(drawn)})" if drawn else "–"
            lines.append((shown, str(length), str(len(pairs)), *cells, ofdrawn, f"{worse} / {better}", _p(p)))
    columns = ("who", "symbols", "networks", *_KINDS.values(), "worse on repeated / on random", "p")
    note = (
        "mean percent of whole words right; in brackets how many networks were asked the words of any depth; worse: of "
        "networks, where their accuracies differ; p: Wilcoxon's signed ranks of the rows' mean differences, one test a "
        "line and none corrected for their number"
    )
    return TextTable("Accuracy on long words, by length", columns, tuple(lines), note)


def _accuracies(row: _Row, net: str, length: int) -> list[tuple[float, float, float | None]]:
    found = []
    for one in row.asked:
        if length in one["lengths"]:
            place = one["lengths"].index(length)
            drawn = one[net].get("drawn")
            a, b = (one[net][kind]["accuracy"][place] for kind in ("pumped", "control"))
            found.append((a, b, None if drawn is None else drawn["accuracy"][place]))
    return found


def _percent(values: Sequence[Any]) -> str:
    return f"{100 * statistics.fmean(values):.0f}" if values else "–"


def _by_family(rows: Sequence[_Row]) -> TextTable:
    """Return, for each family and task, how many networks are wrong sooner on which kind of word."""
    groups: dict[tuple[str, str], list[_Row]] = {}
    for row in rows:
        groups.setdefault((row.family.partition(": ")[2], row.task), []).append(row)
    lines = [
        (*names, str(sum(len(row.asked) for row in own)), *map(str, _sooner(own, "network")))
        for names, own in groups.items()
    ]
    columns = ("family", "task", "networks", "wrong sooner on a repeated word", "on a random one")
    return TextTable(
        "Which is wrong sooner, the network itself", columns, tuple(lines), "others: at the same step, or never"
    )
