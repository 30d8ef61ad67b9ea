"""Whether it is repetition or a low stack that breaks networks on long words: figures of the findings' text.

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
from stacklens.papers.grid_tables import TextTable, markdown_table
from stacklens.papers.intervals import counted_in_rows

__all__ = ["long_word_figures"]

_Measured = Sequence[tuple[Grid, GridResults]]
_NETS = {"network": "the network itself", "rounded network": "rounded"}
_KINDS = {"pumped": "repeated", "control": "random and as shallow", "drawn": "random and of any depth"}
_SHARES = "mean percent of whole words right"
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
    every, fresh = (list(_rows(measured, since)) for since in (0, _SEEN + 1))
    rows, fresh = ([row for row in own if row.task in BRACKETS] for own in (every, fresh))
    return {
        "long measured": _number(rows),
        "long elsewhere": _number([row for row in every if row.task not in BRACKETS]),
        "long tasks": ", ".join(dict.fromkeys(row.task for row in rows)) or "none",
        "long wrong table": markdown_table(_wrong(rows)),
        "long by length": markdown_table(_by_length(rows, _REPETITION)),
        "long by depth": markdown_table(_by_length(rows, _DEPTH)),
        "long by family": markdown_table(_by_family(every)),
        "long pumped wrong": _ever_wrong(rows, "network", "pumped"),
        "long control wrong": _ever_wrong(rows, "network", "control"),
        "long verdict": _verdict(rows, "network"),
        "long summary": _summary(rows, _REPETITION),
        "long depth summary": _summary(rows, _DEPTH),
        **_longest(rows),
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


@dataclass(frozen=True)
class _Contrast:
    """Two kinds of words whose accuracies are compared, network by network, of those that were asked both."""

    title: str
    one: str
    other: str


_REPETITION = _Contrast("Repeated blocks against random words as shallow", "pumped", "control")
_DEPTH = _Contrast("Random words as shallow against random words of any depth", "control", "drawn")


def _summary(rows: Sequence[_Row], contrast: _Contrast) -> str:
    """Return on which lengths one kind of word is harder, for both networks, the number of lengths allowed for."""
    lengths, said = _lengths(rows), []
    for net, shown in _NETS.items():
        harder: dict[str, list[str]] = {}
        for length in lengths:
            means = _row_means(rows, net, contrast, length)
            p = _signed_rank(means)
            if p is not None and p < _SURE / len(lengths):
                worse = contrast.one if statistics.fmean(means) < 0 else contrast.other
                harder.setdefault(worse, []).append(str(length))
        told = [f"words that are {_KINDS[kind]} are harder at {', '.join(at)} symbols" for kind, at in harder.items()]
        said.append(f"{shown}, {', '.join(told) or 'neither is shown to be harder at any length'}")
    return f"{contrast.title}, with the number of lengths allowed for: {'; '.join(said)}."


def _longest(rows: Sequence[_Row]) -> dict[str, str]:
    """Return what networks get right of the longest words, shallow ones and others: of all of them, and by group."""
    longest, lines, deeper = max(_lengths(rows), default=0), list[tuple[str, ...]](), list[str]()
    names = ("soft shallow", "soft deep", "rounded shallow", "rounded deep")
    figures = {"long longest": str(longest), **{f"long {name}": "–" for name in names}}
    for name, own in {"all": rows, **_groups(rows)}.items():
        soft, rounded = ([pair for row in own for pair in _pairs(row, net, _DEPTH, longest)] for net in _NETS)
        if not soft:
            continue
        shares = [
            f"{100 * statistics.fmean(part):.0f}" for pairs in (soft, rounded) for part in zip(*pairs, strict=True)
        ]
        lines.append((name, str(len(soft)), *shares))
        if name == "all":
            figures |= {f"long {of}": f"{share} %" for of, share in zip(names, shares, strict=True)}
        elif int(shares[0]) > int(shares[1]):
            deeper.append(f"{name} ({shares[0]} % of shallow words, {shares[1]} % of others)")
    kinds = [f"{who}: {_KINDS[kind]}" for who in _NETS.values() for kind in (_DEPTH.one, _DEPTH.other)]
    title = f"Random words of {longest} symbols, by family and task"
    table = TextTable(title, ("networks of", "networks", *kinds), tuple(lines), _SHARES)
    return {**figures, "long worse on deep": ", ".join(deeper) or "none", "long at last": markdown_table(table)}


def _groups(rows: Sequence[_Row]) -> dict[str, list[_Row]]:
    """Return the rows by family and task, in words."""
    groups: dict[str, list[_Row]] = {}
    for row in rows:
        groups.setdefault(f"{row.family.partition(': ')[2]} on {row.task}", []).append(row)
    return groups


def _lengths(rows: Sequence[_Row]) -> list[int]:
    return sorted({length for row in rows for one in row.asked for length in one["lengths"]})


def _by_length(rows: Sequence[_Row], contrast: _Contrast) -> TextTable:
    """Return accuracies by length on both kinds of words, with a test of the one against the other."""
    lines = []
    for net, shown in _NETS.items():
        for length in _lengths(rows):
            pairs = [pair for row in rows for pair in _pairs(row, net, contrast, length)]
            if pairs:
                worse, better = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
                means = (f"{100 * statistics.fmean(own):.0f}" for own in zip(*pairs, strict=True))
                p = _p(_signed_rank(_row_means(rows, net, contrast, length)))
                lines.append((shown, str(length), str(len(pairs)), *means, f"{worse} / {better}", p))
    kinds = _KINDS[contrast.one], _KINDS[contrast.other]
    columns = ("who", "symbols", "networks", *kinds, "worse on the first / on the second", "p")
    note = (
        f"{_SHARES}; worse: of networks, where their accuracies differ; p: Wilcoxon's signed "
        "ranks of the rows' mean differences, one test a line and none corrected for their number"
    )
    return TextTable(contrast.title, columns, tuple(lines), note)


def _pairs(row: _Row, net: str, contrast: _Contrast, length: int) -> list[tuple[float, float]]:
    """Return the accuracies on both kinds of words of this length, of the networks that were asked both."""
    found = []
    for one in row.asked:
        both = [one[net].get(kind) for kind in (contrast.one, contrast.other)]
        if length in one["lengths"] and all(both):
            place = one["lengths"].index(length)
            found.append((float(both[0]["accuracy"][place]), float(both[1]["accuracy"][place])))
    return found


def _row_means(rows: Sequence[_Row], net: str, contrast: _Contrast, length: int) -> list[float]:
    """Return by how much the networks of each row that has any are more accurate on the first kind of words."""
    told = [pairs for row in rows if (pairs := _pairs(row, net, contrast, length))]
    return [statistics.fmean(a - b for a, b in pairs) for pairs in told]


def _by_family(rows: Sequence[_Row]) -> TextTable:
    """Return, for each family and task, how many networks are wrong sooner on which kind of word."""
    lines = [
        (name, str(sum(len(row.asked) for row in own)), *map(str, _sooner(own, "network")))
        for name, own in _groups(rows).items()
    ]
    columns = ("networks of", "networks", "wrong sooner on a repeated word", "on a random one")
    return TextTable(
        "Which is wrong sooner, the network itself", columns, tuple(lines), "others: at the same step, or never"
    )
