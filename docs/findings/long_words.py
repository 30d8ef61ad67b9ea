"""Whether it is repetition or a low stack that breaks networks on long words.

Two statistics: which kind of word a network gets wrong sooner, and its accuracy on each length. They were chosen with
the networks of data seeds 0 and 1 in sight, so what they say is tested again on those of later data seeds alone. Rows,
and not networks, are taken for independent. Only bracket languages can repeat a block on the spot; where a block is
repeated with what takes it back, words are as deep as their length allows, and nothing is tested.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from docs.findings.load import BRACKETS, UNTOLD
from docs.findings.stats import SURE, counted_in_rows, p_in_words, signed_rank

from stacklens.papers.tables import TextTable, markdown_table

_NETS = {"network": "the network itself", "rounded network": "rounded"}
_KINDS = {"pumped": "repeated", "control": "random and as shallow", "drawn": "random and of any depth"}
# two kinds of words whose accuracies are compared, network by network, of those that were asked both
_REPETITION = ("Repeated blocks against random words as shallow", ["pumped", "control"])
_DEPTH = ("Random words as shallow against random words of any depth", ["control", "drawn"])
_Contrast = tuple[str, list[str]]
_SHARES = "mean percent of whole words right"
_SEEN = 1  # the last data seed whose networks were looked at when the statistics were chosen


def long_word_figures(networks: pd.DataFrame) -> dict[str, str]:
    """Return what networks of the tables do on words that repeat a block and on their controls."""
    every = asked_of(networks)
    asked = every[every.task.isin(BRACKETS)]
    fresh = asked[asked.data_seed > _SEEN]
    firsts = _firsts(asked, "network")
    return {
        "long measured": str(asked.network.nunique()),
        "long elsewhere": str(every.network.nunique() - asked.network.nunique()),
        "long tasks": ", ".join(asked.task.unique()) or "none",
        "long wrong table": markdown_table(_wrong(asked)),
        "long by length": markdown_table(_by_length(asked, _REPETITION)),
        "long by depth": markdown_table(_by_length(asked, _DEPTH)),
        "long by family": markdown_table(_by_family(every)),
        "long pumped wrong": _ever_wrong(firsts.pumped),
        "long control wrong": _ever_wrong(firsts.control),
        "long verdict": _verdict(asked, "network"),
        "long summary": _summary(asked, _REPETITION),
        "long depth summary": _summary(asked, _DEPTH),
        **_longest(asked),
        "long rounded verdict": _verdict(asked, "rounded network"),
        "long fresh measured": str(fresh.network.nunique()),
        "long fresh verdict": _verdict(fresh, "network"),
    }


def asked_of(networks: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each network that learned and was asked, soft and rounded, each kind of word and each length.

    ``first`` is after how many symbols the network is first wrong on words of the kind, infinity for never.
    """
    lines = []
    for one in networks[networks.learned & networks.family.notna() & networks.long.notna()].itertuples():
        group = f"{one.family.rpartition(' (')[0]} on {one.task}"
        for net in _NETS:
            for kind, answers in one.long[net].items():
                first = np.inf if answers["horizon"] is None else float(answers["horizon"])
                known = (one.row, group, one.task, one.data_seed, one.Index, net, kind, first)
                lines += [
                    (*known, length, right)
                    for length, right in zip(one.long["lengths"], answers["accuracy"], strict=True)
                ]
    columns = ("row", "group", "task", "data_seed", "network", "net", "kind", "first", "length", "accuracy")
    return pd.DataFrame(lines, columns=columns)


def _firsts(asked: pd.DataFrame, net: str) -> pd.DataFrame:
    """Return after how many symbols each network is first wrong, on repeated words and on random ones as shallow.

    ``sooner`` is 1 where that is on a repeated word, -1 on a random one, 0 at the same step or never.
    """
    own = asked[asked.net == net].drop_duplicates(["network", "kind"])
    found = own.pivot(index=["row", "network"], columns="kind", values="first")
    found = found.reindex(columns=["pumped", "control"]).astype(float)
    sooner = (found.pumped < found.control).astype(int) - (found.pumped > found.control)
    return found.assign(sooner=sooner)


def _ever_wrong(first: pd.Series[float]) -> str:
    by_row = np.isfinite(first).groupby("row").agg(["sum", "size"])
    return counted_in_rows((int(hits), int(of)) for hits, of in by_row.to_numpy())


def _wrong(asked: pd.DataFrame) -> TextTable:
    """Return how many networks are ever wrong on each kind of word, and how soon."""
    lines = []
    for net, shown in _NETS.items():
        firsts = _firsts(asked, net)
        for kind, sign in (("pumped", 1), ("control", -1)):
            median = firsts[kind][np.isfinite(firsts[kind])].median()
            soon, sooner = UNTOLD if np.isnan(median) else f"{median:g}", (firsts.sooner == sign).sum()
            lines.append((shown, _KINDS[kind], _ever_wrong(firsts[kind]), soon, str(sooner)))
    columns = ("who", "words", "wrong on some word", "first wrong after (median)")
    return TextTable("Ever wrong, and how soon", (*columns, "networks that are wrong sooner on these"), tuple(lines))


def _verdict(asked: pd.DataFrame, net: str) -> str:
    """Return what the order of first errors tells, with rows for independent."""
    means = _firsts(asked, net).sooner.groupby("row").mean()
    p = signed_rank(means.tolist())
    if p is None or p >= SURE:
        verdict = "that repetition breaks them sooner is not shown"
    else:
        verdict = f"{'repeated' if means.mean() > 0 else 'random'} words break them sooner"
    return f"{verdict} ({p_in_words(p)} over {len(means)} rows, Wilcoxon's signed ranks)"


def _pairs(asked: pd.DataFrame, net: str, kinds: list[str]) -> dict[int, pd.DataFrame]:
    """Return by length the accuracies on two kinds of words, (networks, 2), of networks that were asked both."""
    own = asked[(asked.net == net) & asked.kind.isin(kinds)]
    both = own.pivot(index=["row", "network", "length"], columns="kind", values="accuracy")
    both = both.reindex(columns=kinds).dropna()
    return {int(str(length)): pairs for length, pairs in both.groupby("length")}


def _difference(pairs: pd.DataFrame) -> tuple[float | None, bool]:
    """Return p of the rows' mean differences in accuracy, and whether the first kind of words is harder."""
    means = (pairs.iloc[:, 0] - pairs.iloc[:, 1]).groupby("row").mean()
    return signed_rank(means.tolist()), means.mean() <= 0


def _percent(pairs: pd.DataFrame) -> list[str]:
    return [f"{100 * mean:.0f}" for mean in pairs.mean()]


def _summary(asked: pd.DataFrame, contrast: _Contrast) -> str:
    """Return on which lengths one kind of word is harder, for both networks, the number of lengths allowed for."""
    title, kinds = contrast
    lengths, parts = asked.length.nunique(), []
    for net, shown in _NETS.items():
        harder: dict[str, list[str]] = {}
        for length, pairs in _pairs(asked, net, kinds).items():
            p, first = _difference(pairs)
            if p is not None and p < SURE / lengths:
                harder.setdefault(kinds[0 if first else 1], []).append(str(length))
        found = [f"words that are {_KINDS[kind]} are harder at {', '.join(at)} symbols" for kind, at in harder.items()]
        parts.append(f"{shown}, {', '.join(found) or 'neither is shown to be harder at any length'}")
    return f"{title}, with the number of lengths allowed for: {'; '.join(parts)}."


def _longest(asked: pd.DataFrame) -> dict[str, str]:
    """Return what networks get right of the longest words, shallow ones and others: of all of them, and by group."""
    longest, (_, kinds) = int(asked.length.max()) if len(asked) else 0, _DEPTH
    names = ("soft shallow", "soft deep", "rounded shallow", "rounded deep")
    figures = {"long longest": str(longest), **{f"long {name}": UNTOLD for name in names}}
    lines, deeper = list[tuple[str, ...]](), list[str]()
    for group, own in [("all", asked), *asked.groupby("group", sort=False)]:
        both = [pairs for net in _NETS for pairs in (_pairs(own, net, kinds).get(longest),) if pairs is not None]
        shares = [share for pairs in both for share in _percent(pairs)]
        lines += [(str(group), str(len(both[0])), *shares)] if both else []
        if group == "all":
            figures |= {f"long {name}": f"{share} %" for name, share in zip(names, shares, strict=False)}
        elif both and int(shares[0]) > int(shares[1]):
            deeper.append(f"{group} ({shares[0]} % of shallow words, {shares[1]} % of others)")
    columns = ("networks of", "networks", *(f"{who}: {_KINDS[kind]}" for who in _NETS.values() for kind in kinds))
    table = TextTable(f"Random words of {longest} symbols, by family and task", columns, tuple(lines), _SHARES)
    return {**figures, "long worse on deep": ", ".join(deeper) or "none", "long at last": markdown_table(table)}


def _by_length(asked: pd.DataFrame, contrast: _Contrast) -> TextTable:
    """Return accuracies by length on both kinds of words, with a test of the one against the other."""
    title, kinds = contrast
    lines = []
    for net, shown in _NETS.items():
        for length, pairs in _pairs(asked, net, kinds).items():
            one, other = pairs.iloc[:, 0], pairs.iloc[:, 1]
            worse = f"{(one < other).sum()} / {(one > other).sum()}"
            p = p_in_words(_difference(pairs)[0])
            lines.append((shown, str(length), str(len(pairs)), *_percent(pairs), worse, p))
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
        sooner = _firsts(own, "network").sooner
        lines.append((str(group), str(len(sooner)), str((sooner > 0).sum()), str((sooner < 0).sum())))
    columns = ("networks of", "networks", "wrong sooner on a repeated word", "on a random one")
    title = "Which is wrong sooner, the network itself"
    return TextTable(title, columns, tuple(lines), "others: at the same step, or never")
