"""Whether it is repetition or a low stack that breaks networks on long words: figures of the findings' text.

Two statistics: which kind of word a network gets wrong sooner, and its accuracy on each length. They were chosen with
the networks of data seeds 0 and 1 in sight, so what they say is tested again on those of later data seeds alone. Rows,
and not networks, are taken for independent. Only bracket languages can repeat a block on the spot; where a block is
repeated with what takes it back, words are as deep as their length allows, and nothing is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults
from stacklens.papers.grid_tables import TextTable, markdown_table
from stacklens.papers.intervals import counted_in_rows
from stacklens.papers.learned import BRACKETS, family_of, task_of

__all__ = ["long_word_figures"]

_NETS = {"network": "the network itself", "rounded network": "rounded"}
_KINDS = {"pumped": "repeated", "control": "random and as shallow", "drawn": "random and of any depth"}
# two kinds of words whose accuracies are compared, network by network, of those that were asked both
_REPETITION = ("Repeated blocks against random words as shallow", "pumped", "control")
_DEPTH = ("Random words as shallow against random words of any depth", "control", "drawn")
_SHARES = "mean percent of whole words right"
_SURE = 0.05
_SEEN = 1  # the last data seed whose networks were looked at when the statistics were chosen


def long_word_figures(measured: Sequence[tuple[Grid, GridResults]]) -> dict[str, str]:
    """Return what networks of the tables do on words that repeat a block and on their controls."""
    every = _asked(measured)
    asked = every[every.task.isin(BRACKETS)]
    fresh = asked[asked.data_seed > _SEEN]
    return {
        "long measured": str(asked.network.nunique()),
        "long elsewhere": str(every.network.nunique() - asked.network.nunique()),
        "long tasks": ", ".join(asked.task.unique()) or "none",
        "long wrong table": markdown_table(_wrong(asked)),
        "long by length": markdown_table(_by_length(asked, _REPETITION)),
        "long by depth": markdown_table(_by_length(asked, _DEPTH)),
        "long by family": markdown_table(_by_family(every)),
        "long pumped wrong": _ever_wrong(_firsts(asked, "network").pumped),
        "long control wrong": _ever_wrong(_firsts(asked, "network").control),
        "long verdict": _verdict(asked, "network"),
        "long summary": _summary(asked, _REPETITION),
        "long depth summary": _summary(asked, _DEPTH),
        **_longest(asked),
        "long rounded verdict": _verdict(asked, "rounded network"),
        "long fresh measured": str(fresh.network.nunique()),
        "long fresh verdict": _verdict(fresh, "network"),
    }


def _asked(measured: Sequence[tuple[Grid, GridResults]]) -> pd.DataFrame:
    """Return a line for each network that learned and was asked, soft and rounded, each kind of word and each length.

    ``first`` is after how many symbols the network is first wrong on words of the kind, infinity for never.
    """
    columns = ("row", "group", "task", "data_seed", "network", "net", "kind", "first", "length", "accuracy")
    lines = []
    for grid, results in measured:
        for row in (one for one in grid.rows if one.stacks):
            task = task_of(grid, row)
            group, name = f"{str(family_of(grid, row)).partition(': ')[2]} on {task}", (grid.name, row.name)
            runs = [(run, one) for run in results.runs(row.name) for one in run.networks if one.converged]
            for run, one in runs:
                long: Any = (one.measures or {}).get("long words")
                known = (name, group, task, run.data_seed, (name, run.key, one.seed))
                for net, kind in ((who, kind) for who in _NETS for kind in long[who]) if long else ():
                    told = long[net][kind]
                    first = np.inf if told["horizon"] is None else float(told["horizon"])
                    by_length = zip(long["lengths"], told["accuracy"], strict=True)
                    lines += [(*known, net, kind, first, length, share) for length, share in by_length]
    return pd.DataFrame(lines, columns=columns)


def _firsts(asked: pd.DataFrame, net: str) -> pd.DataFrame:
    """Return after how many symbols each network is first wrong, on repeated words and on random ones as shallow."""
    own = asked[asked.net == net].drop_duplicates(["network", "kind"])
    found = own.pivot(index=["row", "network"], columns="kind", values="first")
    return found.reindex(columns=["pumped", "control"]).astype(float)


def _sooner(firsts: pd.DataFrame) -> dict[str, int]:
    """Return how many networks are wrong sooner on which kind of word."""
    pumped, control = firsts.pumped, firsts.control
    return {"pumped": int((pumped < control).sum()), "control": int((pumped > control).sum())}


def _ever_wrong(firsts: pd.Series[float]) -> str:
    return counted_in_rows((int(np.isfinite(own).sum()), len(own)) for _, own in firsts.groupby("row"))


def _wrong(asked: pd.DataFrame) -> TextTable:
    """Return how many networks are ever wrong on each kind of word, and how soon."""
    lines = []
    for net, shown in _NETS.items():
        firsts = _firsts(asked, net)
        for kind, number in _sooner(firsts).items():
            median = firsts[kind][np.isfinite(firsts[kind])].median()
            soon = "–" if np.isnan(median) else f"{median:g}"
            lines.append((shown, _KINDS[kind], _ever_wrong(firsts[kind]), soon, str(number)))
    columns = ("who", "words", "wrong on some word", "first wrong after (median)")
    return TextTable("Ever wrong, and how soon", (*columns, "networks that are wrong sooner on these"), tuple(lines))


def _verdict(asked: pd.DataFrame, net: str) -> str:
    """Return what the order of first errors tells, with rows for independent."""
    firsts = _firsts(asked, net)
    order = (firsts.pumped < firsts.control).astype(int) - (firsts.pumped > firsts.control)
    means = [fmean(own) for _, own in order.groupby("row")]
    p = _signed_rank(means)
    if p is None or p >= _SURE:
        said = "that repetition breaks them sooner is not shown"
    else:
        said = f"{'repeated' if fmean(means) > 0 else 'random'} words break them sooner"
    return f"{said} ({_p(p)} over {len(means)} rows, Wilcoxon's signed ranks)"


def _signed_rank(differences: Sequence[float]) -> float | None:
    """Return the two-sided p of Wilcoxon's signed ranks, None where fewer than six rows differ at all."""
    from scipy.stats import wilcoxon

    apart = [value for value in differences if value]
    return float(wilcoxon(apart).pvalue) if len(apart) > 5 else None


def _p(p: float | None) -> str:
    if p is None:
        return "too few for a test"
    return "p < .0001" if p < 0.0001 else f"p = {p:.2g}"


def _pairs(asked: pd.DataFrame, net: str, kinds: tuple[str, ...]) -> dict[int, pd.DataFrame]:
    """Return by length the accuracies on two kinds of words, (networks, 2), of networks that were asked both."""
    own = asked[(asked.net == net) & asked.kind.isin(kinds)]
    both = own.pivot(index=["row", "group", "network", "length"], columns="kind", values="accuracy")
    both = both.reindex(columns=list(kinds)).dropna()
    return {int(str(length)): pairs for length, pairs in both.groupby("length")}


def _by_row(pairs: pd.DataFrame) -> list[float]:
    """Return by how much the networks of each row are more accurate on the first kind of words."""
    return [fmean(own) for _, own in (pairs.iloc[:, 0] - pairs.iloc[:, 1]).groupby("row")]


def _percent(pairs: pd.DataFrame) -> list[str]:
    return [f"{100 * fmean(pairs[kind]):.0f}" for kind in pairs]


def _summary(asked: pd.DataFrame, contrast: tuple[str, str, str]) -> str:
    """Return on which lengths one kind of word is harder, for both networks, the number of lengths allowed for."""
    title, *kinds = contrast
    lengths, said = asked.length.nunique(), []
    for net, shown in _NETS.items():
        harder: dict[str, list[str]] = {}
        for length, pairs in _pairs(asked, net, tuple(kinds)).items():
            means = _by_row(pairs)
            p = _signed_rank(means)
            if p is not None and p < _SURE / lengths:
                harder.setdefault(kinds[fmean(means) > 0], []).append(str(length))
        told = [f"words that are {_KINDS[kind]} are harder at {', '.join(at)} symbols" for kind, at in harder.items()]
        said.append(f"{shown}, {', '.join(told) or 'neither is shown to be harder at any length'}")
    return f"{title}, with the number of lengths allowed for: {'; '.join(said)}."


def _longest(asked: pd.DataFrame) -> dict[str, str]:
    """Return what networks get right of the longest words, shallow ones and others: of all of them, and by group."""
    longest, (_, *kinds) = int(asked.length.max()) if len(asked) else 0, _DEPTH
    names = ("soft shallow", "soft deep", "rounded shallow", "rounded deep")
    figures = {"long longest": str(longest), **{f"long {name}": "–" for name in names}}
    lines, deeper = list[tuple[str, ...]](), list[str]()
    for group in ("all", *asked.group.unique()):
        own = asked if group == "all" else asked[asked.group == group]
        both = [pairs for net in _NETS for pairs in (_pairs(own, net, tuple(kinds)).get(longest),) if pairs is not None]
        shares = [share for pairs in both for share in _percent(pairs)]
        lines += [(group, str(len(both[0])), *shares)] if both else []
        if group == "all":
            figures |= {f"long {name}": f"{share} %" for name, share in zip(names, shares, strict=False)}
        elif both and int(shares[0]) > int(shares[1]):
            deeper.append(f"{group} ({shares[0]} % of shallow words, {shares[1]} % of others)")
    columns = ("networks of", "networks", *(f"{who}: {_KINDS[kind]}" for who in _NETS.values() for kind in kinds))
    table = TextTable(f"Random words of {longest} symbols, by family and task", columns, tuple(lines), _SHARES)
    return {**figures, "long worse on deep": ", ".join(deeper) or "none", "long at last": markdown_table(table)}


def _by_length(asked: pd.DataFrame, contrast: tuple[str, str, str]) -> TextTable:
    """Return accuracies by length on both kinds of words, with a test of the one against the other."""
    title, *kinds = contrast
    lines = []
    for net, shown in _NETS.items():
        for length, pairs in _pairs(asked, net, tuple(kinds)).items():
            one, other = pairs.iloc[:, 0], pairs.iloc[:, 1]
            worse = f"{(one < other).sum()} / {(one > other).sum()}"
            lines.append(
                (shown, str(length), str(len(pairs)), *_percent(pairs), worse, _p(_signed_rank(_by_row(pairs))))
            )
    columns = ("who", "symbols", "networks", *(_KINDS[kind] for kind in kinds), "worse on the first / on the second")
    note = (
        f"{_SHARES}; worse: of networks, where their accuracies differ; p: Wilcoxon's signed ranks of the rows' mean "
        "differences, one test a line and none corrected for their number"
    )
    return TextTable(title, (*columns, "p"), tuple(lines), note)


def _by_family(asked: pd.DataFrame) -> TextTable:
    """Return, for each family and task, how many networks are wrong sooner on which kind of word."""
    lines = []
    for group, own in asked.groupby("group", sort=False):
        firsts = _firsts(own, "network")
        lines.append((str(group), str(len(firsts)), *map(str, _sooner(firsts).values())))
    columns = ("networks of", "networks", "wrong sooner on a repeated word", "on a random one")
    title = "Which is wrong sooner, the network itself"
    return TextTable(title, columns, tuple(lines), "others: at the same step, or never")
