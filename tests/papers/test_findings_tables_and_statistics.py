"""The tables and statistics of the findings."""

import doctest
import importlib
import math
import re
from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import pytest
from docs.findings.comparisons import apart_by_count, comparisons, differences
from docs.findings.load import family_of, measured_grids, networks, task_of
from docs.findings.long_words import long_word_figures
from docs.findings.stats import counted, counted_in_rows, holm, two_means, wilson
from docs.findings.tables import family_figures

from stacklens.papers.grid import Grid, GridResults, GridRow, Network, RowResult, has_converged
from stacklens.papers.runner import EXPERIMENTS

# ---- Tables of the findings: counted as the results files have it, one network at a time. ----


def lines(table: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]


def test_every_network_of_the_papers_that_learned_is_counted_once() -> None:
    measured = measured_grids()
    for _, found in measured:
        assert all(net.converged == has_converged(net.scores) for row in found.rows for net in row.networks)
    by_hand = sum(
        network.scores["test"] >= 0.99
        for grid, found in measured
        for row in grid.rows
        if row.stacks
        for run in found.runs(row.name)
        for network in run.networks
    )
    figures = family_figures(networks(measured))
    *families, everything = lines(figures["search table"])[2:]
    assert int(everything[1]) == sum(int(line[1]) for line in families) == by_hand
    read_of_all = [int(line[2].split(" ")[0]) + sum(map(int, line[3:])) for line in families]
    assert read_of_all == [int(line[1]) for line in families]  # an automaton, or a reason why there is none
    tasks = lines(figures["tasks table"])[-1][1:]
    assert sum(int(cell.split("/")[1]) for cell in tasks) == by_hand


GRIDS = [grid for build in EXPERIMENTS.values() if isinstance(grid := build(), Grid)]


def test_every_row_with_a_memory_has_a_family_and_no_other() -> None:
    assert all((family_of(grid, row) is None) is not row.stacks for grid in GRIDS for row in grid.rows)


def test_every_row_has_a_task_that_is_no_name_of_a_table() -> None:
    learned = {task_of(grid, row) for grid in GRIDS for row in grid.rows if row.stacks}
    assert not learned & {grid.name for grid in GRIDS}
    assert {"D2", "D3", "D6", "reversal", "simple palindromes", "binary addition"} <= learned


# ---- Repeated blocks against random words: called harder only beyond noise, with rows and not networks.

SOON, LATE = (30, [0.5, 0.25]), (90, [1.0, 0.5])
Kind = tuple[int | None, list[float]]


def asked(pumped: Kind, control: Kind, drawn: Kind | None = None) -> dict[str, Any]:
    kinds = {"pumped": pumped, "control": control} | ({} if drawn is None else {"drawn": drawn})
    soft = {name: {"horizon": horizon, "accuracy": shares} for name, (horizon, shares) in kinds.items()}
    rounded = {name: {"horizon": None, "accuracy": [1.0, 1.0]} for name in kinds}
    return {"lengths": [48, 96], "words": [1, 1], "network": soft, "rounded network": rounded}


def figures_of(
    rows: Sequence[Sequence[dict[str, Any]]], data_seed: int = 0, table: str = "suzgun2019-table2"
) -> dict[str, str]:
    """Return the figures of rows of a table; table 2 is of D2."""
    lines = tuple(GridRow(f"Net {number}, x", {}, lambda _: []) for number in range(len(rows)))
    runs = []
    for line, own in zip(lines, rows, strict=True):
        nets = tuple(Network(seed, {}, True, None, {"long words": one}) for seed, one in enumerate(own))
        runs.append(
            RowResult(line.name, "fast", tuple(range(len(nets))), 1.0, "cpu", nets, {}, {}, "", data_seed=data_seed)
        )
    grid = Grid(table, "Nobody 1993", "t", lines, ("test",))
    return long_word_figures(networks([(grid, GridResults("", table, "", tuple(runs)))]))


@pytest.mark.parametrize(
    ("pumped", "control", "said"),
    [
        (SOON, LATE, "repeated words break them sooner (p = 0.0078 over 8 rows"),
        (LATE, SOON, "random words break them sooner (p = 0.0078 over 8 rows"),
        (LATE, LATE, "that repetition breaks them sooner is not shown (too few for a test over 8 rows"),
    ],
)
def test_eight_rows_that_agree_tell_which_words_are_harder(pumped: Kind, control: Kind, said: str) -> None:
    figures = figures_of([[asked(pumped, control)] * 3] * 8)
    assert figures["long verdict"].startswith(said)
    assert figures["long rounded verdict"].startswith("that repetition breaks them sooner is not shown")


def test_many_networks_of_one_row_tell_no_more_than_the_row() -> None:
    figures = figures_of([[asked(SOON, LATE)] * 40, [asked(LATE, LATE)]])
    assert figures["long verdict"].startswith("that repetition breaks them sooner is not shown")
    assert figures["long measured"] == "41"


def test_only_bracket_languages_are_tested() -> None:
    figures = figures_of([[asked(SOON, LATE)] * 3] * 8, table="suzgun2019-table6")
    assert (figures["long measured"], figures["long elsewhere"]) == ("0", "24")
    assert figures["long verdict"].startswith("that repetition breaks them sooner is not shown")
    assert lines(figures["long by family"])[2] == ["Net 0 on reversal", "3", "3", "0"]


# ---- Intervals of shares over rows hold what is true as often as they say, where networks of a row are alike. ----


@pytest.mark.parametrize("name", ["load", "stats", "text"])
def test_the_examples_of_the_study_come_out_as_they_say(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"docs.findings.{name}"), raise_on_error=True).attempted


def ends(text: str) -> tuple[float, float]:
    found = re.search(r"interval (\d+) to (\d+)", text)
    return int(found[1]) - 0.5, int(found[2]) + 0.5  # as printed, to a percent


@pytest.mark.parametrize(("rows", "a", "b"), [(10, 1, 1), (40, 1, 1), (30, 5, 1), (100, 0.5, 0.5)])
def test_the_interval_holds_the_true_share_where_rows_differ(rows: int, a: float, b: float) -> None:
    rng, true, held, naive = np.random.default_rng(1), 100 * a / (a + b), 0, 0
    for _ in range(200):
        sizes = rng.integers(1, 11, rows)
        hits = rng.binomial(sizes, rng.beta(a, b, rows))
        low, high = ends(counted_in_rows(zip(hits.tolist(), sizes.tolist(), strict=True)))
        held += low <= true <= high
        low, high = ends(counted(int(hits.sum()), int(sizes.sum())))
        naive += low <= true <= high
    assert held >= 180  # 190 of 200 are meant; 180 or fewer come by chance once in some hundred times
    assert naive < held


def test_wilson_is_what_its_formula_gives_and_rows_of_one_network_each_are_networks() -> None:
    z = 1.959964
    for hits, of in ((8, 10), (0, 7), (30, 50), (12.5, 20.3)):
        share, room = hits / of, z * z / of
        half = z * math.sqrt(share * (1 - share) / of + room / of / 4)
        low, high = ((share + room / 2 + sign * half) / (1 + room) for sign in (-1, 1))
        assert wilson(hits, of) == pytest.approx((max(0, low), min(1, high)), abs=1e-6)
    low, high = ends(counted_in_rows([(1, 1)] * 30 + [(0, 1)] * 20))
    assert ((low + 0.5) / 100, (high - 0.5) / 100) == pytest.approx(wilson(30, 50), abs=0.011)


def test_networks_never_tell_more_than_their_number() -> None:
    alike = [(1, 2)] * 20  # less spread than chance would give
    low, high = ends(counted_in_rows(alike))
    assert high - low >= 100 * (wilson(20, 40)[1] - wilson(20, 40)[0])
    assert counted_in_rows([]) == counted_in_rows([(0, 0)]) == "0 of 0"


def test_many_comparisons_are_allowed_for_and_means_have_the_largest_variance() -> None:
    every = [0.04, 0.9, 0.0005, 1.0]
    stepped, largest = {}, 0.0  # Holm 1979, step by step
    for number, p in enumerate(sorted(every)):
        largest = max(largest, min(1.0, (len(every) - number) * p))
        stepped[p] = largest
    assert holm(every) == pytest.approx([stepped[p] for p in every])
    assert [p < 0.05 for p in holm(every)] == [False, False, True, False]
    assert holm([]) == []
    pooled = (20 * 0.879 + 10 * 0.275) / 30
    assert two_means(0.879, 20, 0.275, 10) == pytest.approx(
        0.604 / math.sqrt(pooled * (1 - pooled) * (1 / 20 + 1 / 10))
    )


def run_of(name: str, tests: list[float], data_seed: int = 0, validation: list[float] | None = None) -> RowResult:
    nets = tuple(
        Network(seed, {"test": score, **({"validation": validation[seed]} if validation else {})}, score >= 0.99)
        for seed, score in enumerate(tests)
    )
    return RowResult(name, "fast", tuple(range(len(tests))), 1.0, "cpu", nets, {}, {}, "", data_seed=data_seed)


def table(reported: dict[str, dict[str, str]], *runs: RowResult) -> list[tuple[Grid, GridResults]]:
    rows = tuple(GridRow(name, {}, lambda _: [], of) for name, of in reported.items())
    return [(Grid("toy", "Nobody 1993", "t", rows, ("test",), ("chosen",)), GridResults("", "toy", "", runs))]


def test_only_differences_beyond_noise_are_called_so() -> None:
    reported = {name: {"test mean": mean} for name, mean in (("same", "70"), ("noise", "40"), ("less", "100"))}
    runs = [run_of(name, [1.0] * 7 + [0.0] * 3, data) for name in reported for data in (0, 1, 2)]
    first = table(reported, *(one for one in runs if not one.data_seed))
    assert comparisons(first, networks(first)).differs.tolist() == [False] * 3
    every = table(reported, *runs)
    (differing,) = differences(comparisons(every, networks(every))).rows
    assert differing[:6] == ("toy", "less", "fast", "30", "70.0", "100.0")


def test_counts_tell_what_a_mean_hides_where_the_paper_tells_them() -> None:
    printed = {"all": "99.3 99.9", "none": "0 12", "some": "0 100", "twice": "0 1", "twice too": "0 1"}
    reported = {
        name: dict(zip(("test mean", "test min", "test max"), ("50", *of.split()), strict=True))
        for name, of in printed.items()
    }
    every = table(reported, *(run_of(name, [1.0] + [0.0] * 4) for name in reported))
    found = comparisons(every, networks(every))
    assert found.their_right.fillna(-1).tolist() == [10, 0, -1, -1, -1]
    p = (comb(11, 1) * comb(4, 4)) / comb(15, 5)  # no table of these margins is less likely on the other side
    assert found.p_of_counts[0] == pytest.approx(p)
    apart = "all of `toy` by the protocol `fast`, 1 of 5 against 10 of 10 (p = 0.004, with all allowed for 0.007)"
    assert apart_by_count(found) == {"counted rows": "2", "apart by count": apart}
