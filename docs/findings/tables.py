"""Counts over networks, grouped by family, task, time and stacks: tables and shares of the findings' text."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from docs.findings.load import BRACKETS, NONE_FITS, REASONS, UNTOLD
from docs.findings.stats import share

from stacklens.papers.tables import TextTable, markdown_table

_LIMITS = (5, 10, 20, 40, 60, 120, 240, 480)  # seconds
_STEPS = (10, 25, 50, 75, 100)  # of which drift is shown; others are the ends of short words
_OUTCOMES = ["read", "proved", "good"]


def family_figures(networks: pd.DataFrame) -> dict[str, str]:
    """Return what became of networks with a memory that learned: tables, and the shares that the text names."""
    learned = networks[networks.learned & networks.family.notna()]
    read = learned[learned["read"]]
    known = read[read["leaves soft"].notna()].assign(
        soft=lambda own: own["leaves soft"] > 0, rounded=lambda own: own["leaves rounded"] > 0
    )
    certified = learned[learned.certified].assign(soft=lambda own: own["leaves soft"] > 0)
    unparted = learned.assign(unparted=learned.good & (learned["leaves soft"] == 0))
    brackets = learned.task.isin(BRACKETS)
    leaves = read["leaves rounded"]
    by_family = certified.groupby("family", observed=True).size()
    return {
        "search table": markdown_table(_search_table(learned)),
        "automata table": markdown_table(_automata_table(learned)),
        "tasks table": markdown_table(_tasks_table(learned)),
        "all read": share(learned, "read"),
        "read unrounded": str(learned.unrounded.sum()),
        "all proved": share(learned, "proved"),
        "all good": share(learned, "good"),
        "all unparted": share(unparted, "unparted"),
        "all good and parted": share(known[known.good], "soft"),
        "all leaves": share(known, "rounded"),
        "all leaves at": f"{leaves[leaves > 0].median():g}",
        "all network leaves": share(known, "soft"),
        "all certified": share(learned, "certified"),
        "certified and parted": share(certified, "soft"),
        "certified families": ", ".join(f"{family}: {number}" for family, number in by_family.items()) or "none",
        "contradicted and proved": share(read[~read.good], "proved"),
        "good on brackets": share(learned[brackets], "good"),
        "good elsewhere": share(learned[~brackets], "good"),
    }


def _by_family(networks: pd.DataFrame, cells: Callable[[pd.DataFrame], list[str]]) -> tuple[tuple[str, ...], ...]:
    """Return a line of ``cells`` for each family, in the order of the papers' tables, and one of all."""
    groups = [*networks.groupby("family", observed=True), ("all", networks)]
    return tuple((str(family), *cells(own)) for family, own in groups)


def _search_table(learned: pd.DataFrame) -> TextTable:
    """Return what the search came to for each family: how many automata, and why there are no others."""
    names = ["not tried", *REASONS, NONE_FITS]

    def cells(own: pd.DataFrame) -> list[str]:
        return [str(len(own)), _part(own["read"].sum(), len(own)), *(str((own.why == name).sum()) for name in names)]

    note = (
        "not tried: the network was not kept; no stack: lists, and rings by a version of the search that refused them; "
        "not used as one: rounding its actions changes too much; none fits: no automaton found agrees with the rounded "
        "network; out of time: without an automaton when the processor time was spent"
    )
    columns = ("family", "learned", "automata", *names)
    return TextTable("What the search gives", columns, _by_family(learned, cells), note)


def _automata_table(learned: pd.DataFrame) -> TextTable:
    """Return what is known of the automata of each family: beside the task, the rounded network and the network."""

    def cells(own: pd.DataFrame) -> list[str]:
        own = own[own["read"]]
        proved, good, certified = (_part(own[what].sum(), len(own)) for what in ("proved", "good", "certified"))
        return [str(len(own)), proved, good, *(_parted(own[f"leaves {net}"]) for net in ("rounded", "soft")), certified]

    columns = (
        "family",
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
    return TextTable("What is known of the automata", columns, _by_family(learned, cells), note)


def _parted(leaves: pd.Series[float]) -> str:
    known, parted = leaves.notna().sum(), leaves[leaves > 0]
    if not known:
        return UNTOLD
    return f"{len(parted)} of {known}{f', at {parted.median():g}' if len(parted) else ''}"


def _tasks_table(learned: pd.DataFrame) -> TextTable:
    """Return how many automata nothing contradicts, of how many networks that learned, by family and task."""
    tasks = learned.task.unique()

    def cells(own: pd.DataFrame) -> list[str]:
        counts = own.groupby("task").good.agg(["sum", "size"]).reindex(tasks)
        return [UNTOLD if pd.isna(of) else f"{hits:.0f}/{of:.0f}" for hits, of in counts.to_numpy()]

    title = "Automata of status 0, of the networks that learned, by family and task"
    note = "–: none learned, or none was trained"
    return TextTable(title, ("family", *tasks), _by_family(learned, cells), note)


def _part(number: int, of: int) -> str:
    return f"{number} ({100 * number / of:.0f} %)" if of else UNTOLD


def limit_figures(networks: pd.DataFrame) -> dict[str, str]:
    """Return what was read within which limits of processor time, and by the number of stacks."""
    tried = networks[networks.learned & networks.tried & networks.family.notna()]
    read = tried[tried["read"]]
    seconds = read.seconds.sort_values().to_numpy()
    several = read[~read.stacks.isin([UNTOLD, "0", "1"])]
    return {
        "limits tried": str(len(tried)),
        "budgets": _budgets(tried.budget),
        "out of time": f"{(tried.why == 'out of time').sum()} of {len(tried)}",
        "out of time and read": str(read["out of time"].sum()),
        "median seconds": f"{read.seconds.median():.0f}",
        "ninety percent seconds": f"{seconds[int(0.9 * (len(seconds) - 1))]:.0f}" if len(seconds) else UNTOLD,
        "several stacks": str(len(several)),
        "several stacks proved": f"{several.proved.sum()} of {len(several)}",
        "several stacks at most": several.stacks.max() if len(several) else UNTOLD,
        "time table": markdown_table(_times(tried)),
        "stacks table": markdown_table(_stacks(tried)),
    }


def _budgets(seconds: pd.Series[float]) -> str:
    """Return how many networks had which budget, from the largest; results older than budgets do not tell."""
    known = seconds.value_counts().sort_index(ascending=False)
    parts = [f"{budget:g} s for {number}" for budget, number in known.items()]
    untold = [f"not told for {seconds.isna().sum()}"] if seconds.isna().any() else []
    return ", ".join(parts + untold) or "none"


def _counts(own: pd.DataFrame, of: int) -> list[str]:
    return [_part(number, of) for number in own[_OUTCOMES].sum()]


def _times(tried: pd.DataFrame) -> TextTable:
    within = [(f"{limit}", tried[tried.processor_seconds <= limit]) for limit in _LIMITS]
    rows = tuple((name, *_counts(own, len(tried))) for name, own in [*within, ("no limit", tried)])
    columns = ("seconds", "an automaton is read", "proved equal to the task", "nothing contradicts it")
    note = "of a whole extraction, the search and all checks; its search has a budget of its own"
    return TextTable("Read within so many seconds of processor time", columns, rows, note)


def _stacks(tried: pd.DataFrame) -> TextTable:
    """Return a line for each number of stacks that an automaton has, apart where the network uses others besides."""
    rows = tuple(
        (*group, str(len(own)), *_counts(own, len(own)), str(own["out of time"].sum()))
        for group, own in tried.groupby(["stacks", "others"])
    )
    columns = ("stacks", "others used", "networks", "an automaton is read", "proved", "nothing contradicts it")
    note = (
        "stacks: those of the automaton, where none is read those that matter to what the rounded network says; others "
        "used: by the network, which only ever push or which the automaton does without; –: the network was not asked"
    )
    return TextTable("By the number of stacks", (*columns, "search out of time"), rows, note)


def drift_figures(networks: pd.DataFrame) -> dict[str, str]:
    """Return how far outputs drift from those of the rounded network, of networks measured before their extraction."""
    found = networks[networks.learned & networks.tried & networks.family.notna() & networks.drift.notna()]
    by_step = pd.DataFrame(
        [dict(zip(one["steps"], one["outputs"], strict=True)) for one in found.drift], index=found.index, dtype=float
    )
    steps = [step for step in _STEPS if step in by_step and by_step[step].notna().any()]
    rows = tuple(
        (name, *(_median(by_step.loc[own, step]) for step in steps))
        for name, own in (("nothing contradicts it", found.good), ("all others", ~found.good))
    )
    title = "How far an output of the network is from that of its rounded form, after so many symbols"
    note = "median, in brackets of how many networks; fewer where words are shorter"
    return {
        "foreseen networks": str(len(found)),
        "foreseen tasks": str(found.task.nunique()),
        "foreseen families": str(found.family.nunique()),
        "drift by length": markdown_table(TextTable(title, ("network", *map(str, steps)), rows, note)),
    }


def _median(values: pd.Series[float]) -> str:
    known = values.dropna()
    return f"{known.median():.2g} ({len(known)})" if len(known) else UNTOLD
