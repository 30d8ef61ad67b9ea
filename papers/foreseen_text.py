"""What can be known before extracting, as figures of the findings' text: sentences and tables, from results alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from stacklens.papers.foreseen import GROUPS, Foreseen, foreseen
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults
from stacklens.papers.grid_tables import TextTable, markdown_table
from stacklens.papers.held_out import HeldOut, auc, auc_within, brier, calibration
from stacklens.papers.intervals import counted
from stacklens.papers.observations import OUTCOMES, PREDICTORS_USED, Observation, learned, observations, values_of

__all__ = ["foreseen_figures"]

_DASH = "–"
_MANY = {"task": "tasks", "family": "families"}
_SURE = 0.05  # that an interval leaves out what is true
_STEPS = (10, 25, 50, 75, 100)  # of which drift is shown; others are the ends of short words


def foreseen_figures(measured: Sequence[tuple[Grid, GridResults]]) -> dict[str, str]:
    """Return the figures of the text by name; where there are too few networks they say so.

    Raises:
        StacklensError: statsmodels is not installed, and there is enough for a model.
    """
    found = observations(measured)
    known = foreseen(found)
    models = [one for one in known.values() if not one.too_few]
    tables = [table for one in models for table in (one.alone, one.together)]
    intervals = [row for table in tables for row in table if not np.isnan(row).any()]
    return {
        "foreseen networks": str(len(found)),
        "foreseen tasks": str(len({one.task for one in found})),
        "foreseen families": str(len({one.family for one in found})),
        "foreseen without a value": _without(found),
        "entropy and margin": _correlation(found),
        "foreseen answer": _answer(known),
        "foreseen outcomes": "\n".join(f"- {_sentences(one)}" for one in known.values()),
        "foreseen odds": _shown(_odds(models)),
        "foreseen odds apart from one": f"{sum(map(_excludes_one, intervals))} of {len(intervals)}",
        "foreseen odds by chance": f"{_SURE * len(intervals):.1f}",
        "foreseen held out": _shown(_held(models)),
        "foreseen calibration": _shown(_calibration(models)),
        "drift by length": markdown_table(_drift(measured)),
    }


def _shown(table: TextTable) -> str:
    """Return a table in Markdown, a line in its place where it has nothing to show."""
    there = table.rows and len(table.columns) > 1
    return markdown_table(table) if there else f"({table.title}: no model.)"


def _without(found: Sequence[Observation]) -> str:
    missing = {name: sum(one.values[p] is None for one in found) for p, name in enumerate(PREDICTORS_USED)}
    return ", ".join(f"{name} of {number}" for name, number in missing.items() if number) or "none of any"


def _correlation(found: Sequence[Observation]) -> str:
    """Return the correlation of entropy and margin as the model takes them, the sign of the margin's turned."""
    pairs = values_of(found)[:, :2]
    pairs = pairs[~np.isnan(pairs).any(1)]
    if len(pairs) < 3 or (pairs.std(0) == 0).any():
        return "not known"
    return f"{np.corrcoef(pairs[:, 0], -pairs[:, 1])[0, 1]:.2f}"


def _named(outcomes: Sequence[str]) -> str:
    return ", ".join(f"“{OUTCOMES[outcome]}”" for outcome in outcomes) or "none"


def _verdict(one: Foreseen, kind: str) -> str:
    """Return whether the model knows "more" than rates do, "less", "open" or "too few", where groups are held out."""
    if kind not in one.held:
        return "too few"
    gains = _gains(one.held[kind])
    if not one.settled:
        return "open"
    return "more" if all(low > 0 for _, low, _ in gains) else "less" if any(high < 0 for *_, high in gains) else "open"


def _gains(held: HeldOut) -> list[tuple[float, float, float]]:
    return [held.gain(baseline) for baseline in (held.rates, held.overall)]


def _answer(known: dict[str, Foreseen]) -> str:
    """Return the answer in a sentence or a few: of which outcomes more is known than rates tell."""
    verdicts: dict[str, list[str]] = {}
    for outcome, one in known.items():
        verdicts.setdefault(_verdict(one, "task"), []).append(outcome)
    said = {
        "more": "On tasks that it has not seen the model predicts better than both the rate of the family and the "
        "share of all: {}.",
        "open": "It is not shown that, on tasks it has not seen, the model predicts better or worse than these: {}.",
        "less": "On tasks that it has not seen the model predicts worse than the rate of the family or the share of "
        "all: {}.",
        "too few": "Too few networks, or too few that differ in it, to hold tasks out, so that nothing is claimed: {}.",
    }
    return " ".join(text.format(_named(verdicts[verdict])) for verdict, text in said.items() if verdict in verdicts)


def _sentences(one: Foreseen) -> str:
    """Return what is found of one outcome."""
    told = f"**{OUTCOMES[one.outcome].capitalize()}**: {one.hits} of {one.of}."
    if one.too_few:
        return f"{told} No model: {one.too_few}."
    if not one.settled:
        return f"{told} The fit did not converge: nothing is claimed."
    telling = [
        f"{name} {_number(row[0])}"
        for name, row in zip(PREDICTORS_USED, one.together, strict=True)
        if _excludes_one(row)
    ]
    odds = f"All predictors together, odds ratios apart from one: {', '.join(telling) or 'none'}."
    if one.separated:
        odds += " The predictors tell all networks apart, so how large these are is a matter of the prior."
    return " ".join([told, odds, *(_gained(one, kind) for kind in GROUPS)])


def _gained(one: Foreseen, kind: str) -> str:
    if kind in one.cannot:
        return f"No {kind} can be held out: {one.cannot[kind]}."
    held, other = one.held[kind], "family" if kind == "task" else "task"
    said = {"more": "better", "less": "worse", "open": "not shown to be better or worse"}[_verdict(one, kind)]
    over = (f"the {other}'s rate", "the share of all")
    gains = [
        f"{_signed(mean)} over {what} ({_signed(low)} to {_signed(high)})"
        for what, (mean, low, high) in zip(over, _gains(held), strict=True)
    ]
    return f"With {_MANY[kind]} held out it is {said}: a gain in error of {' and of '.join(gains)}."


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}"  # no minus before nothing


def _odds(models: Sequence[Foreseen]) -> TextTable:
    """Return odds ratios a predictor, alone and together, of every outcome that has a model."""
    columns = [f"{OUTCOMES[one.outcome]}: {way}" for one in models for way in ("alone", "together")]
    rows = [
        (name, *(_ratio(table[p]) for one in models for table in (one.alone, one.together)))
        for p, name in enumerate(PREDICTORS_USED)
    ]
    note = "a standard deviation more, beside family and task; alone: no other predictor in the model"
    return TextTable("Odds ratios with 95 % intervals", ("predictor", *columns), tuple(rows), note)


def _ratio(row: np.ndarray) -> str:
    return _DASH if np.isnan(row).any() else f"{_number(row[0])} ({_number(row[1])} to {_number(row[2])})"


def _number(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"


def _excludes_one(row: np.ndarray) -> bool:
    return bool(row[1] > 1 or row[2] < 1)


def _held(models: Sequence[Foreseen]) -> TextTable:
    columns = (
        "outcome",
        "held out",
        "groups",
        "AUC: model / rate",
        "within a group",
        "Brier: model / rate / overall share",
    )
    rows = [(OUTCOMES[one.outcome], *_cells(one.held[kind], kind)) for one in models for kind in one.held]
    note = (
        "rate: the share of the network's family where tasks are held out, of its task where families are; AUC: how "
        "often, of a network with and one without the outcome, the right one has the higher probability; within a "
        "group: of two networks of one group that was held out; Brier: mean squared error of the probability. Where a "
        "group is left out, rates lean away from it: an AUC below 0.5 comes of that"
    )
    return TextTable("Networks of groups that the model has not seen", columns, tuple(rows), note)


def _cells(held: HeldOut, kind: str) -> tuple[str, ...]:
    both = (held.model, held.rates)
    return (
        _MANY[kind],
        str(len(set(held.groups))),
        " / ".join(_share(auc(held.seen, chances)) for chances in both),
        " / ".join(_share(auc_within(held.seen, chances, held.groups)) for chances in both),
        " / ".join(f"{brier(held.seen, chances):.3f}" for chances in (*both, held.overall)),
    )


def _share(value: float | None) -> str:
    return _DASH if value is None else f"{value:.2f}"


def _calibration(models: Sequence[Foreseen]) -> TextTable:
    rows = [
        (OUTCOMES[one.outcome], f"{100 * step.low:.0f} to {100 * step.high:.0f} %", f"{100 * step.mean:.0f} %", share)
        for one in models
        if "task" in one.held
        for step in calibration(one.held["task"].seen, one.held["task"].model)
        for share in (counted(step.hits, step.of),)
    ]
    columns = ("outcome", "probability", "its mean", "had the outcome")
    return TextTable("Calibration, every task held out", columns, tuple(rows))


def _drift(measured: Sequence[tuple[Grid, GridResults]]) -> TextTable:
    """Return the median drift of outputs after so many steps, by the outcome."""
    groups: dict[str, dict[int, list[float]]] = {"nothing contradicts it": {}, "all others": {}}
    for _, _, network in learned(measured):
        drift = (network.measures or {})["predictors"]["drift by step"]
        good = (network.extraction or {})["status"] == 0
        group = groups["nothing contradicts it" if good else "all others"]
        for step, output in zip(drift["steps"], drift["outputs"], strict=True):
            if output is not None:
                group.setdefault(step, []).append(output)
    steps = [step for step in sorted({step for group in groups.values() for step in group}) if step in _STEPS]
    rows = [(name, *(_median(group.get(step, [])) for step in steps)) for name, group in groups.items()]
    note = "median, in brackets of how many networks; fewer where words are shorter"
    title = "How far an output of the network is from that of its rounded form, after so many symbols"
    return TextTable(title, ("network", *map(str, steps)), tuple(rows), note)


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2g} ({len(values)})" if values else _DASH
