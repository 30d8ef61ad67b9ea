"""Where our means and counts by a paper's own protocol differ from its: a test a row, and with all rows allowed for."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from docs.findings.effects import Effect, over_rows
from docs.findings.load import Measured
from docs.findings.stats import SURE, holm, independent, p_in_words, two_means
from scipy.stats import binomtest, fisher_exact, norm

from stacklens.papers.grid import CONVERGED, statistic
from stacklens.papers.tables import TextTable, markdown_table

_THEIRS = 10  # networks a row, in the paper
_FAR = 20  # points that one network may lie from one of the paper's before the text names it
_NOTE = (
    "means of the test score in percent; z: of the difference, for scores that are all or nothing, the largest "
    "variance there can be; p, all allowed for: as Holm has it for so many comparisons. Rows with |z| below 1.96 are "
    "not listed"
)


def comparisons(measured: Measured, networks: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each row that was run by its paper's protocol, and of which that prints the mean of its test.

    ``z`` and ``p`` are of the difference of the means, ``p_of_counts`` of how many learned (Fisher's exact test): 1
    where the paper's least and best score do not tell its count, ``their_right`` of ten. Networks of one seed, on
    several sets of training words, count as so many ``independent`` ones as `seeds_alike` leaves in their table;
    Fisher's test takes these rounded.
    """
    reported = {(grid.name, row.name): row.reported for grid, _ in measured for row in grid.rows}
    lines = []
    own_protocol = networks[networks.protocol == "paper"]
    alike = {name: max(0.0, seeds_alike(own)[0]) for name, own in own_protocol.groupby("table")}
    for (table, name), own in own_protocol.groupby(["table", "name"], sort=False):
        theirs = reported[table, name]
        if "test mean" not in theirs:
            continue
        printed = [other for (of, _), other in reported.items() if of == table]
        # all or none of ten where the least or best score says so; of a line that is printed twice, one is a slip
        least, best = float(theirs.get("test min", 0)) / 100, float(theirs.get("test max", 100)) / 100
        right = _THEIRS if least >= CONVERGED else 0 if best < CONVERGED else math.nan
        twice = printed.count(theirs) > 1
        right = math.nan if twice else right
        ours, mean, count = own.test.mean(), float(theirs["test mean"]) / 100, int((own.test >= CONVERGED).sum())
        n = independent(own.seed, alike[table])
        z, whole, known = two_means(ours, n, mean, _THEIRS), round(n), round(n * count / len(own))
        exact = 1.0 if math.isnan(right) else fisher_exact([[known, whole - known], [right, _THEIRS - right]])[1]
        memory = own.family.notna().all()
        p = 2 * norm.sf(abs(z))
        lines.append((table, name, len(own), n, ours, mean, z, p, count, right, exact, memory, twice))
    columns = "table name networks independent ours theirs z p right their_right p_of_counts memory twice"
    found = pd.DataFrame(lines, columns=columns.split())
    return found.assign(allowed=holm(found.p), differs=found.p < SURE)


def seeds_alike(networks: pd.DataFrame) -> tuple[float, float]:
    """Return the correlation of test scores of one row and seed by ``paper`` on two sets of training words, and its p.

    Scores count from the mean of their row on that set. p is the share of a thousand permutations of each row's seeds
    that are correlated as highly. Both are NaN without a second set, or where no score differs from its row's mean.
    """
    own = networks[networks.protocol == "paper"]
    scores = own.pivot_table("test", ["row", "seed"], "data_seed").reindex([0, 1], axis="columns").dropna()
    first, second = (scores - scores.groupby("row").transform("mean")).to_numpy().T
    largest = math.sqrt((first @ first) * (second @ second))
    if not largest:
        return math.nan, math.nan
    rng, row = np.random.default_rng(0), scores.index.get_level_values("row").factorize()[0]
    orders = (np.lexsort((rng.random(len(row)), row)) for _ in range(1000))  # the lines of a row among themselves
    drawn = np.array([first @ second[order] for order in orders])
    return float(first @ second / largest), float(np.append(drawn >= first @ second, True).mean())


def comparison_figures(measured: Measured, networks: pd.DataFrame) -> dict[str, str]:
    """Return how many rows differ from the paper's, and which."""
    found = comparisons(measured, networks)
    differing = found[found.differs]
    surviving = int((found.allowed < SURE).sum())
    in_tables = [seeds_alike(own)[0] for _, own in networks.groupby("table")]
    alike, p = seeds_alike(networks)
    return {
        "seeds alike": f"{alike:.2f} (p <= {p:.1g})",
        "seeds alike by table": f"{np.nanmin(in_tables):.2f} to {np.nanmax(in_tables):.2f}",
        "compared rows": str(len(found)),
        "differing rows": str(len(differing)),
        "surviving rows": str(surviving) if surviving else "none",
        "differences": markdown_table(differences(found)),
        **apart_by_count(found),
        **_together(found[found.memory.astype(bool)]),
        **_far_apart(measured, networks),
    }


def _together(found: pd.DataFrame) -> dict[str, str]:
    """Return by how much all rows with a memory lie below the paper's, taken together: the rows share their words."""

    def shift(own: pd.DataFrame) -> Effect:
        points = 100 * (own.theirs - own.ours)
        return over_rows(pd.Series(points.to_numpy(), pd.RangeIndex(len(points), name="row")))

    below, above = int((found.ours < found.theirs).sum()), int((found.ours > found.theirs).sum())
    signs = float(binomtest(below, below + above).pvalue) if below + above else 1.0
    of, figures = found.table.str.removeprefix("suzgun2019-"), dict[str, str]()
    for name, own in {
        "rows shift": found,
        "rows shift without table4": found[of != "table4"],
        **{f"shift {table}": found[of == table] for table in dict.fromkeys(of)},
        "shift table4 without lines printed twice": found[(of == "table4") & ~found.twice.astype(bool)],
    }.items():
        if len(own):
            effect = shift(own)
            figures[name] = f"{effect.loss:.1f} ({effect.low:.1f} to {effect.high:.1f})"
            figures[name.replace("shift", "p", 1)] = p_in_words(effect.p)
    return {
        "memory rows": str(len(found)),
        "memory counted": str(found.their_right.notna().sum()),
        "rows below": str(below),
        "rows above": str(above),
        "rows p of signs": p_in_words(signs),
        **figures,
    }


def differences(found: pd.DataFrame) -> TextTable:
    """Return the rows that differ, each taken by itself, the largest difference first."""
    differing = found[found.differs].sort_values("z", key=lambda z: -z.abs(), kind="stable")
    cells = tuple(
        (
            one.table,
            one.name,
            str(one.networks),
            f"{100 * one.ours:.1f}",
            f"{100 * one.theirs:.1f}",
            f"{one.z:+.1f}",
            f"{one.allowed:.2f}",
        )
        for one in differing.itertuples(index=False)
    )
    columns = ("table", "row", "networks", "ours", "the paper", "z", "p, all allowed for")
    return TextTable("Rows whose mean differs, taken one by one", columns, cells, _NOTE)


def apart_by_count(found: pd.DataFrame) -> dict[str, str]:
    """Return which rows differ in how many networks learned, of how many of which the paper's count is known."""
    known = found[found.their_right.notna()]
    known = known.assign(allowed=holm(known.p_of_counts))
    apart = [
        f"{one.name} of `{one.table}`, {one.right} of {one.networks} against "
        f"{one.their_right:.0f} of {_THEIRS} (p = {one.p_of_counts:.1g}, with all allowed for {one.allowed:.1g})"
        for one in known[known.p_of_counts < SURE].itertuples(index=False)
    ]
    surviving = int((known.allowed < SURE).sum())
    return {
        "counted rows": str(len(known)),
        "apart by count": "; ".join(apart) or "none",
        "surviving by count": str(surviving) if surviving else "none",
    }


def _far_apart(measured: Measured, networks: pd.DataFrame) -> dict[str, str]:
    """Return which single networks, the chosen of their rows by `fast`, lie far from the one that the paper prints."""
    fast = networks[networks.protocol == "fast"]
    scores_of = {key: list(own) for key, own in fast.groupby(["table", "name"]).scores}
    far = []
    for grid, _ in measured:
        for row in grid.rows:
            for score in grid.scores:
                ours = statistic("chosen", scores_of.get((grid.name, row.name), []), score)
                theirs = row.reported.get(f"{score} chosen")
                if ours is not None and theirs is not None and abs(100 * ours - float(theirs)) > _FAR:
                    rounded = " with rounding" if score.endswith(" rounded") else ""
                    far.append(f"{row.name}{rounded} {100 * ours:.0f} against {float(theirs):.0f}")
    return {"far apart": "; ".join(far) or "none"}
