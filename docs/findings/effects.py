"""What the fresh networks' experiments came to: effects over rows, verdicts of the hypotheses, tables of the text.

What is tested, and against what, is in hypotheses.md. An effect is a mean over rows, for the words that were drawn:
rows of a table share these, and other tests (sign flips, Wilcoxon, over tasks) stand beside Student's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from docs.findings.bottom import CAP, LENGTHS, SEED, TURN
from docs.findings.bottom import WORDS as WORDS_AT_BOTTOM
from docs.findings.design import CELLS, WORDS, walk, words
from docs.findings.stats import SURE, counted_in_rows, p_of_sign_flips
from scipy.stats import t, ttest_1samp, wilcoxon
from statsmodels.regression.mixed_linear_model import MixedLM

HERE = Path(__file__).parent
LEAST = 5.0  # points that an effect has to have
Where = Callable[[pd.DataFrame], "pd.Series[bool]"]


def read(name: str) -> dict[str, Any]:
    """Return what an experiment wrote: its command, commit and processor, and a line a network as ``rows``."""
    content: dict[str, Any] = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    return content


def asked() -> pd.DataFrame:
    """Return a line for each network and cell of the design, with the percent of words right, soft and rounded."""
    factors = pd.DataFrame(CELLS, columns=["length", "floor", "cap", "turn"])
    parts = []
    for number, one in enumerate(read("design")["rows"]):
        shares = {net: [100 * int(digit) / WORDS for digit in one[net]] for net in ("soft", "rounded")}
        known = {name: one[name] for name in ("task", "family", "seed")} | {"row": f"{one['task']}: {one['row']}"}
        parts.append(factors.assign(network=number, **known, **shares))
    return pd.concat(parts, ignore_index=True)


@dataclass(frozen=True)
class Effect:
    """By how many points fewer words are right at one level of a factor than at another, over the means of rows."""

    loss: float
    low: float
    high: float
    p: float
    rows: int
    by_row: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{round(self.loss)} ({round(self.low)} to {round(self.high)})"  # no "-0"

    @property
    def p_of_ranks(self) -> float:
        """Return the p of Wilcoxon's signed ranks over rows, as hypotheses.md had it first."""
        return float(wilcoxon(list(self.by_row.values()), zero_method="zsplit").pvalue)

    @property
    def p_of_flips(self) -> float:
        """Return the p of sign flips over rows, which asks for no distribution of their means."""
        return p_of_sign_flips(list(self.by_row.values()))

    def verdict(self, corrected: float) -> str:
        """Return what hypotheses.md calls it."""
        if corrected < SURE and self.loss >= LEAST:
            return "shown"
        refuted = self.high < LEAST or (self.loss < 0 and self.p < SURE)
        return "refuted" if refuted else "undecided"


def over_rows(by_network: pd.Series[float]) -> Effect:
    """Return the mean over rows of the rows' means, with Student's interval; ``by_network`` is indexed by row first."""
    by_row = by_network.groupby(level="row").mean()
    means = by_row.to_numpy(dtype=float)
    k, mean = len(means), float(means.mean())
    half = float(t.ppf(1 - SURE / 2, k - 1) * means.std(ddof=1) / np.sqrt(k)) if k > 1 else float("inf")
    p = float(ttest_1samp(means, 0.0).pvalue) if k > 1 and means.std() > 0 else (1.0 if mean == 0 else 0.0)
    return Effect(mean, mean - half, mean + half, p, k, by_row.to_dict())


def over_tasks(effect: Effect) -> Effect:
    """Return an effect over the tables, D2, D3 and D6, of which each has words of its own."""
    by_row = pd.Series(effect.by_row)
    return over_rows(by_row.groupby(by_row.index.str.partition(":").get_level_values(0)).mean().rename_axis("row"))


def mean_of_rows(found: pd.DataFrame, what: str) -> float:
    """Return the mean over rows of the rows' means of a column."""
    return float(found.groupby("row")[what].mean().mean())


def mixed(by_network: pd.Series[float]) -> Effect:
    """Return the fixed effect of a model in which that of a row is random: all networks count, not rows alike.

    Fitted by REML; the interval and p are Student's for the number of rows, since the normal ones, which statsmodels
    gives, are too narrow for seven.
    """
    rows = by_network.index.get_level_values("row")
    fitted = MixedLM(by_network.to_numpy(), np.ones((len(by_network), 1)), groups=rows).fit(reml=True)
    (mean,), (error,), k = fitted.fe_params, fitted.bse_fe, rows.nunique()
    half = float(t.ppf(1 - SURE / 2, k - 1)) * error
    return Effect(mean, mean - half, mean + half, 2 * float(t.sf(abs(mean) / error, k - 1)), k)


def loss(
    found: pd.DataFrame,
    net: str,
    factor: str,
    easy: float,
    hard: float,
    by: Callable[[pd.Series[float]], Effect] = over_rows,
) -> Effect:
    """Return by how many points fewer words are right at the level ``hard`` of a factor than at ``easy``."""
    shares = found.pivot_table(index=["row", "network"], columns=factor, values=net)
    return by(shares[easy] - shares[hard])


# ---- Experiment 2: the words of the design ----

_FACTORS = (  # as the text calls them, easy and hard
    ("length 48, 768", "length", 48, 768),
    ("floor 0, 12", "floor", 0, 12),
    ("cap 20, 2", "cap", 20, 2),
    ("turn .1, .9", "turn", 0.1, 0.9),
)


def factor_names() -> list[str]:
    """Return the factors with their levels, the easy one first."""
    return [name for name, *_ in _FACTORS]


def design_tests(found: pd.DataFrame, by: Callable[[pd.Series[float]], Effect] = over_rows) -> dict[str, Effect]:
    """Return the effects of H1, H2, H3 and H8."""
    stack_rnns = found[found.family.isin(["Stack-RNN", "Stack-RNN by J&M"])]
    return {
        "H1": loss(found, "rounded", "cap", 20, 2, by),
        "H2": loss(found[found.cap == 2], "soft", "floor", 0, 12, by),
        "H3": loss(found, "soft", "turn", 0.1, 0.9, by),
        "H8": loss(stack_rnns[stack_rnns.floor == 0], "soft", "cap", 2, 20, by),
    }


def bottom() -> pd.DataFrame:
    """Return a line for each network with the percent of low words right at floor 0 and 1, soft and rounded.

    ``wrong`` counts those that go wrong at floor 0, ``empty`` those of them that do first at a symbol that empties the
    stack, ``closes`` those of these where the network lets a bracket close; ``up wrong`` and ``up open`` are the words
    at floor 1, and those that first go wrong where its open bracket is the top; ``again`` what plain numpy found.
    """
    content = read("bottom")
    lines = []
    for number, one in enumerate(content["rows"]):
        line = {"network": number, "row": f"{one['task']}: {one['row']}", "family": one["family"]}
        for net in ("soft", "rounded"):
            right, of = np.array(one[net]), len(one[net]) * content["design"]["words"]  # (lengths, floors)
            shares, (wrong, up_wrong) = 100 * right.sum(0) / of, of - right.sum(0)
            line |= {f"{net} 0": shares[0], f"{net} 1": shares[1], f"{net} wrong": wrong, f"{net} up wrong": up_wrong}
            line |= {
                f"{net} empty": one[f"{net}, first wrong on an empty stack"],
                f"{net} closes": one[f"{net}, and lets a bracket close"],
                f"{net} up open": one[f"{net}, first wrong on the open bracket"],
            }
            if f"{net} in numpy" in one:
                line["again"] = line.get("again", True) and one[f"{net} in numpy"] == one[net][0]
        lines.append(line)
    return pd.DataFrame(lines)


def emptying_share() -> float:
    """Return which share of the symbols of low words at floor 0 empty the stack."""
    walks = [walk(LENGTHS[-1], CAP, TURN, np.random.default_rng((SEED, number))) for number in range(WORDS_AT_BOTTOM)]
    return float(np.mean([np.cumsum(steps) == 0 for steps in walks]))


@cache
def walks(cap: int, turn: float) -> tuple[float, float, float]:
    """Return what the design's words of D2 do above their floor, the mean over words: their height, and the percent of
    steps that end at the floor, and that turn.
    """
    found = []
    for (length, floor, own_cap, own_turn), own in zip(CELLS, words("dyck-2"), strict=True):
        for one in own if (own_cap, own_turn) == (cap, turn) else ():
            steps = np.array([1 if symbol in "([" else -1 for symbol in one[floor : length - floor]])
            heights = np.cumsum(steps)
            found.append((heights.mean(), 100 * (heights == 0).mean(), 100 * (np.diff(steps) != 0).mean()))
    height, returns, turns = np.mean(found, 0).tolist()
    return height, returns, turns


def bottom_test(found: pd.DataFrame, net: str = "rounded") -> Effect:
    """Return by how many points fewer words are right at floor 0 than at floor 1."""
    own = found.set_index(["row", "network"])
    return over_rows(own[f"{net} 1"] - own[f"{net} 0"])


def right_on_longest(found: pd.DataFrame) -> pd.DataFrame:
    """Return for each network whether it is right, not rounded, on 99 % of the longest words of the design."""
    longest = found[found.length == found.length.max()]
    shares = longest.groupby(["row", "network"], as_index=False)[["soft", "rounded"]].mean()
    return shares.assign(stands=shares.soft >= 99, rounded_stands=shares.rounded >= 99)


def effects_table(found: pd.DataFrame) -> list[list[str]]:
    """Return a line for each net and family of networks, with the effect of each factor, all else crossed."""
    lines = []
    for net, shown in (("soft", "as it is"), ("rounded", "rounded")):
        for family, own in [("all", found), *found.groupby("family")]:
            rows = own.row.nunique()
            cells = [
                str(loss(own, net, *factor)) if rows > 2 else str(round(loss(own, net, *factor).loss))
                for _, *factor in _FACTORS
            ]
            lines.append(
                [shown, str(family), f"{rows} / {own.network.nunique()}", f"{mean_of_rows(own, net):.0f}", *cells]
            )
    return lines


# ---- Experiment 3: which automaton is the mechanism ----


def mechanisms() -> pd.DataFrame:
    """Return a line for each network of which interchanges were made: which of its automata is the mechanism.

    ``raw`` and ``minimised`` say whether these are; ``tested`` is where they differ and all are proved equal.
    """
    lines = []
    for number, one in enumerate(read("mechanism")["rows"]):
        automata = one.get("automata") or {}
        if one.get("doubt") or not automata:
            continue
        own = {name: found for name, found in automata.items() if found["same as"] is None}
        whole = one["equal to the task"] and all(found["equal"] for found in own.values())
        known = {"network": number, "row": f"{one['task']}: {one['row']}", "family": one["family"], "task": one["task"]}
        known |= {"mechanism": one["mechanism"], "proved": whole, "way": one["way"], "automata": own}
        known |= {"tested": whole and {"raw", "minimised"} <= set(own), "wrong": one["wrong"]["rounded"]}
        known |= {
            name: bool(own.get(name, {}).get("mechanism")) for name in ("raw", "minimised", "learned", "reference")
        }
        lines.append(known)
    return pd.DataFrame(lines)


def mechanism_test(found: pd.DataFrame) -> Effect:
    """Return the difference of the shares of raw and of minimised automata that are the mechanism, in points."""
    own = found[found.tested].set_index(["row", "network"])
    return over_rows(100 * (own.raw.astype(float) - own.minimised.astype(float)))


def share_of(found: pd.DataFrame, has: str) -> str:
    """Return how many lines have what a column says, with an interval over rows."""
    by_row = found.groupby("row")[has].agg(["sum", "size"])
    return counted_in_rows((int(hits), int(of)) for hits, of in by_row.to_numpy())
