"""The tables and statistics of the findings."""

import doctest
import importlib
import re
from math import comb

import numpy as np
import pandas as pd
import pytest
from docs.findings.comparisons import apart_by_count, comparisons, differences
from docs.findings.design import CELLS, walk, words
from docs.findings.effects import design_tests, loss, over_rows
from docs.findings.load import family_of, measured_grids, networks, task_of
from docs.findings.stats import counted, counted_in_rows, wilson
from docs.findings.tables import protocol_figures

from stacklens.languages.catalogue import get_task
from stacklens.papers.grid import Grid, GridResults, GridRow, Network, RowResult, has_converged
from stacklens.papers.runner import EXPERIMENTS

# ---- Tables of the findings: counted as the results files have it, one network at a time. ----


def lines(table: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]


def test_every_network_of_the_papers_that_learned_is_counted_once() -> None:
    measured = measured_grids()
    for _, found in measured:
        assert all(net.converged == has_converged(net.scores) for row in found.rows for net in row.networks)
    by_hand = [
        (network.scores["test"] >= 0.99, (network.extraction or {}).get("status") == 0)
        for grid, found in measured
        for row in grid.rows
        if row.stacks
        for run in found.runs(row.name)
        for network in run.networks
    ]
    every = lines(protocol_figures(networks(measured))["protocols table"])[2:]
    assert sum(int(line[3].split(" of ")[1]) for line in every) == len(by_hand)
    assert sum(int(line[3].split(" of ")[0]) for line in every) == sum(learned for learned, _ in by_hand)
    good = sum(int(line[6]) for line in every if line[6].isdigit())
    assert good == sum(learned and good for learned, good in by_hand)


GRIDS = [grid for build in EXPERIMENTS.values() if isinstance(grid := build(), Grid)]


def test_every_row_with_a_memory_has_a_family_and_every_row_a_task_that_is_no_name_of_a_table() -> None:
    assert all((family_of(grid, row) is None) is not row.stacks for grid in GRIDS for row in grid.rows)
    learned = {task_of(grid, row) for grid in GRIDS for row in grid.rows if row.stacks}
    assert not learned & {grid.name for grid in GRIDS}
    assert {"D2", "D3", "D6", "reversal", "simple palindromes", "binary addition"} <= learned


# ---- The words of the design, and what is made of their answers: effects that are there, and only those. ----


@pytest.mark.parametrize("language", ["dyck-2", "dyck-6"])
def test_words_of_the_design_are_what_their_cells_say(language: str) -> None:
    reference = get_task(language).reference
    opens = set(reference.input_alphabet[::2])
    for (length, floor, cap, _), drawn in zip(CELLS, words(language), strict=True):
        for word in drawn:
            heights = np.cumsum([1 if symbol in opens else -1 for symbol in word])
            assert len(word) == length
            assert reference.accepts(word)
            assert heights.max() <= floor + cap
            assert floor == 0 or heights[floor - 1 : length - floor].min() >= floor
    few, many = (
        np.mean([np.mean(np.diff(walk(600, 20, turn, np.random.default_rng(seed))) != 0) for seed in range(9)])
        for turn in (0.1, 0.9)
    )
    assert few < 0.25 < 0.8 < many


def answered(lost: float, rows: int, seed: int = 0) -> pd.DataFrame:
    """Return answers to the design of three networks a row, where ``lost`` points go with the floor."""
    rng, parts = np.random.default_rng(seed), []
    cells = pd.DataFrame(CELLS, columns=["length", "floor", "cap", "turn"])
    for number in range(3 * rows):
        row = number // 3
        base = 80 + 10 * np.random.default_rng(seed + row).standard_normal()  # rows differ, their networks hardly
        soft = base - lost * (cells.floor == 12) + 10 * rng.standard_normal(len(cells))
        parts.append(cells.assign(network=number, row=f"row {row}", family="Stack-RNN", soft=soft, rounded=soft))
    return pd.concat(parts, ignore_index=True)


def test_an_effect_that_was_planted_is_found_and_without_one_five_in_a_hundred_come_out() -> None:
    found = answered(20.0, 8)
    planted, other = loss(found, "soft", "floor", 0, 12), loss(found, "soft", "cap", 20, 2)
    assert planted.low < 20 < planted.high
    assert planted.verdict(planted.p) == "shown"
    assert (other.rows, other.verdict(other.p)) == (8, "refuted")
    assert set(design_tests(found)) == {"H1", "H2", "H3", "H8"}
    chance = sum(loss(answered(0.0, 6, seed), "soft", "floor", 0, 12).p < 0.05 for seed in range(100))
    assert chance <= 12  # five are meant; more than twelve come once in some thousand times


def test_networks_of_one_row_are_no_more_than_the_row() -> None:
    by_network = pd.Series(
        [10.0] * 40 + [-10.0], pd.MultiIndex.from_tuples([("a", n) for n in range(40)] + [("b", 41)])
    )
    effect = over_rows(by_network.rename_axis(["row", "network"]))
    assert (effect.loss, effect.rows, effect.verdict(effect.p)) == (0.0, 2, "undecided")


# ---- Intervals of shares over rows hold what is true as often as they say, where networks of a row are alike. ----


@pytest.mark.parametrize("name", ["bottom", "design", "stats", "text"])
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


def test_rows_of_one_network_each_are_networks_and_networks_never_tell_more_than_their_number() -> None:
    low, high = ends(counted_in_rows([(1, 1)] * 30 + [(0, 1)] * 20))
    assert ((low + 0.5) / 100, (high - 0.5) / 100) == pytest.approx(wilson(30, 50), abs=0.011)
    alike = [(1, 2)] * 20  # less spread than chance would give
    low, high = ends(counted_in_rows(alike))
    assert high - low >= 100 * (wilson(20, 40)[1] - wilson(20, 40)[0])
    assert counted_in_rows([]) == counted_in_rows([(0, 0)]) == "0 of 0"


def run_of(name: str, tests: list[float], data_seed: int = 0, validation: list[float] | None = None) -> RowResult:
    nets = tuple(
        Network(seed, {"test": score, **({"validation": validation[seed]} if validation else {})}, score >= 0.99)
        for seed, score in enumerate(tests)
    )
    return RowResult(name, "paper", tuple(range(len(tests))), 1.0, "cpu", nets, {}, {}, "", data_seed=data_seed)


def table(reported: dict[str, dict[str, str]], *runs: RowResult) -> list[tuple[Grid, GridResults]]:
    rows = tuple(GridRow(name, {}, lambda _: [], of) for name, of in reported.items())
    return [(Grid("toy", "Nobody 1993", "t", rows, ("test",), ("chosen",)), GridResults("", "toy", "", runs))]


def test_only_differences_beyond_noise_are_called_so() -> None:
    reported = {name: {"test mean": mean} for name, mean in (("same", "70"), ("noise", "40"), ("less", "100"))}
    scores = [1.0] * 7 + [0.0] * 3  # on other words other seeds learn; of the same ones no set of words says anything
    runs = [run_of(name, scores[3 * data :] + scores[: 3 * data], data) for name in reported for data in (0, 1, 2)]
    again = [run_of(name, scores, data) for name in reported for data in (0, 1, 2)]
    for few in (runs[::3], again):
        found = comparisons(every := table(reported, *few), networks(every))
        assert found.differs.tolist() == [False] * 3
        assert found.independent.tolist() == pytest.approx([10] * 3)
    (differing,) = differences(comparisons(every := table(reported, *runs), networks(every))).rows
    assert differing[:5] == ("toy", "less", "30", "70.0", "100.0")


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
    apart = "all of `toy`, 1 of 5 against 10 of 10 (p = 0.004, with all allowed for 0.007)"
    assert apart_by_count(found) == {"counted rows": "2", "apart by count": apart, "surviving by count": "1"}
