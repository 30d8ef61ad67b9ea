"""The tables and statistics of the findings."""

import doctest
import importlib
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from docs.findings.comparisons import apart_by_count, comparisons, differences
from docs.findings.load import family_of, measured_grids, networks, processor_seconds, task_of
from docs.findings.long_words import long_word_figures
from docs.findings.stats import counted, counted_in_rows, holm, two_means, wilson
from docs.findings.tables import drift_figures, family_figures, limit_figures
from docs.findings.text import interchange_figures

from stacklens.core.errors import FileFormatError
from stacklens.papers.grid import Grid, GridResults, GridRow, Network, RowResult, has_converged
from stacklens.papers.runner import EXPERIMENTS

# ---- Tables of the findings: counted as the results files have it, one network at a time. ----

GOOD = {"test": 0.99}


def row(name: str, *networks: Network) -> RowResult:
    seeds = tuple(network.seed for network in networks)
    return RowResult(name, "fast", seeds, 1.0, "cpu", networks, {}, {}, "command")


def read(status: int, proof: str, rounded: int | None, soft: int | None, **more: Any) -> dict[str, Any]:
    horizon = {
        net: {"shortest_difference": None if length is None else {"length": length}}
        for net, length in (("rounded network", rounded), ("network", soft))
    }
    verdicts = {"proof": {"verdict": proof}, "certificate": None}
    return {"status": status, "seconds": 1.0, **verdicts, "horizon": horizon, **more}


def lines(table: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]


def toy() -> list[tuple[Grid, GridResults]]:
    """Return a table of D2, whose name says so, and one whose row says what its task is."""
    brackets = tuple(
        GridRow(f"{name}, D2", {"model": name}, lambda _: [], stacks=name != "LSTM") for name in ("A", "LSTM")
    )
    others = (GridRow("B, task", {"model": "B", "task": "reversal"}, lambda _: []),)
    grids = [
        Grid(name, "Nobody 1993", "a table", rows, ("test",), ("median",), seeds=4)
        for name, rows in (("suzgun2019-table2", brackets), ("toy", others))
    ]
    certified = {"certificate": {"verdict": "certified"}}
    first = (
        Network(0, GOOD, True, read(0, "equal", None, None)),
        Network(1, GOOD, True, read(1, "equal", 12, 10)),
        Network(2, GOOD, True, {"status": 3, "seconds": 1.0, "budget": {"ran_out": True}, "reason": "no stack"}),
        Network(3, {"test": 0.5, "test rounded": 1.0}, False, read(0, "equal", None, None)),
        Network(4, GOOD, True),
    )
    second = (
        Network(0, GOOD, True, read(0, "equal", None, 30, **certified)),
        Network(1, GOOD, True, {**read(0, "different", None, None), "horizon": None}),
        Network(2, GOOD, True, read(1, "different", 14, None)),
    )
    runs = ((row("A, D2", *first), row("LSTM, D2", first[0])), (row("B, task", *second),))
    return [(grid, GridResults("", grid.name, "", own)) for grid, own in zip(grids, runs, strict=True)]


def test_only_networks_that_learned_their_task_by_themselves_count() -> None:
    figures = family_figures(networks(toy()))
    a, b, every = lines(figures["search table"])[2:]
    assert a == ["A (Nobody 1993)", "4", "2 (50 %)", "1", "1", "0", "0", "0"]
    assert b == ["B (Nobody 1993)", "3", "3 (100 %)", "0", "0", "0", "0", "0"]
    assert every == ["all", "7", "5 (71 %)", "1", "1", "0", "0", "0"]
    a, b, every = lines(figures["automata table"])[2:]
    assert a[1:] == ["2", "2 (100 %)", "1 (50 %)", "1 of 2, at 12", "1 of 2, at 10", "0 (0 %)"]
    assert b[1:] == ["3", "1 (33 %)", "2 (67 %)", "1 of 2, at 14", "1 of 2, at 30", "1 (33 %)"]
    assert every[1:] == ["5", "3 (60 %)", "3 (60 %)", "2 of 4, at 13", "2 of 4, at 20", "1 (20 %)"]
    assert lines(figures["tasks table"])[0] == ["family", "D2", "reversal"]
    assert lines(figures["tasks table"])[2:] == [
        ["A (Nobody 1993)", "1/4", "–"],
        ["B (Nobody 1993)", "–", "2/3"],
        ["all", "1/4", "2/3"],
    ]


def test_the_shares_of_the_text() -> None:
    figures = family_figures(networks(toy()))
    begun = {
        name: figures[name].split(" (")[0] for name in figures if " of " in figures[name] and "|" not in figures[name]
    }
    assert begun == {
        "all read": "5 of 7",
        "all proved": "3 of 7",
        "all good": "3 of 7",
        "all unparted": "1 of 7",  # of three of status 0 one parts from its network, and of one that is not known
        "all good and parted": "1 of 2",
        "all leaves": "2 of 4",
        "all network leaves": "2 of 4",
        "all certified": "1 of 7",
        "certified and parted": "1 of 1",
        "contradicted and proved": "1 of 2",
        "good on brackets": "1 of 4",
        "good elsewhere": "2 of 3",
    }
    assert figures["certified families"] == "B (Nobody 1993): 1"
    assert figures["all leaves at"] == "13"


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


def test_drift_is_of_networks_that_learned_and_were_measured_and_tried() -> None:
    values = {"drift by step": {"steps": [10, 12], "outputs": [0.1, None]}}
    extraction = {"status": 1, "proof": {"verdict": "equal"}, "seconds": 1.0}
    network = Network(0, {"test": 1.0}, True, extraction, {"predictors": values})
    nets = (
        network,
        replace(network, seed=1, converged=False),
        replace(network, seed=2, measures=None),
        replace(network, seed=3, extraction=None),
        replace(network, seed=4, extraction={"status": 3, "seconds": 1.0}),
        replace(network, seed=5, extraction={**extraction, "status": 0}),
    )
    rows = (
        GridRow("Net+Softmax", {"task": "XOR"}, lambda _: []),
        GridRow("RNN", {"task": "XOR"}, lambda _: [], stacks=False),
    )
    runs = tuple(RowResult(row.name, "fast", tuple(range(6)), 1.0, "cpu", nets, {}, {}, "") for row in rows)
    grid = Grid("toy", "Nobody 1993", "t", rows, ("test",))
    figures = drift_figures(networks([(grid, GridResults("", "toy", "", runs))]))
    assert [figures[f"foreseen {what}"] for what in ("networks", "families", "tasks")] == ["3", "1", "1"]
    drift = figures["drift by length"]
    assert "| network | 10 |\n| --- | --- |\n| nothing contradicts it | 0.1 (1) |\n| all others | 0.1 (2) |" in drift


GRIDS = [grid for build in EXPERIMENTS.values() if isinstance(grid := build(), Grid)]


def test_every_row_with_a_memory_has_a_family_and_no_other() -> None:
    assert all((family_of(grid, row) is None) is not row.stacks for grid in GRIDS for row in grid.rows)


def test_every_row_has_a_task_that_is_no_name_of_a_table() -> None:
    learned = {task_of(grid, row) for grid in GRIDS for row in grid.rows if row.stacks}
    assert not learned & {grid.name for grid in GRIDS}
    assert {"D2", "D3", "D6", "reversal", "simple palindromes", "binary addition"} <= learned


def network(seed: int, status: int | None, seconds: float, kept: int = 1, dropped: int = 0, **more: Any) -> Network:
    if status is None:
        return Network(seed, {}, True)
    stacks = {"kept": list(range(kept)), "dropped": list(range(dropped))}
    proof = {"verdict": "equal"} if status != 3 else None
    found = {"status": status, "seconds": seconds, "stacks": stacks if kept else None, "proof": proof, **more}
    return Network(seed, {"test": 1.0}, True, found)


NETWORKS = (
    network(0, 0, 8.0),
    network(1, 1, 12.0, kept=2, dropped=8),
    network(2, 3, 100.0, kept=0),
    network(3, 0, 80.0, kept=2, dropped=8, budget={"ran_out": True, "seconds": 60.0}),
    network(4, None, 0.0),
)


def run(seconds: dict[str, float]) -> RowResult:
    return RowResult("Net", "fast", tuple(range(5)), 1.0, "cpu", NETWORKS, seconds, {}, "")


def test_processor_time_of_a_run_is_shared_out_by_the_clocks_of_its_networks() -> None:
    assert processor_seconds(run({"extraction, wall": 200.0, "extraction, CPU": 100.0})) == [4, 6, 50, 40, None]
    assert processor_seconds(run({})) == [8, 12, 100, 80, None]
    assert processor_seconds(run({"extraction, CPU": 500.0})) == [8, 12, 100, 80, None]  # other work was in it
    assert processor_seconds(RowResult("Net", "fast", (4,), 1.0, "cpu", NETWORKS[4:], {}, {}, "")) == [None]


def test_networks_with_a_clock_of_processor_time_each_have_their_own() -> None:
    own = tuple(network(seed, 0, 8.0, processor_seconds=seed + 3.0) for seed in range(2))
    timed = RowResult("Net", "fast", (0, 1, 4), 1.0, "cpu", (*own, NETWORKS[4]), {"extraction, CPU": 100.0}, {}, "")
    assert processor_seconds(timed) == [3, 4, None]


@pytest.mark.parametrize("others", [{"push_only": [1]}, {"unseen": [1, 2]}])
def test_a_stack_that_only_pushes_or_is_not_seen_is_none_of_the_automatons(others: dict[str, list[int]]) -> None:
    stacks = {"kept": [0, 1] if "push_only" in others else [0], "dropped": [], **others}
    one = Network(0, {}, True, {"status": 0, "seconds": 1.0, "stacks": stacks, "proof": {"verdict": "equal"}})
    grid = Grid("toy", "Nobody 1993", "t", (GridRow("Net", {}, lambda _: []),), ("test",))
    found = RowResult("Net", "fast", (0,), 1.0, "cpu", (one,), {}, {}, "")
    figures = limit_figures(networks([(grid, GridResults("", "toy", "", (found,)))]))
    assert lines(figures["stacks table"])[2][:3] == ["1", "yes", "1"]
    assert figures["several stacks"] == "0"


def test_interchanges_that_are_missing_or_something_else(tmp_path: Path) -> None:
    assert interchange_figures(None) == interchange_figures(tmp_path / "none.json")
    assert interchange_figures(None)["interchange table"] == "(Not measured.)"
    file = tmp_path / "interchanges.json"
    for content in ("{", "[1]", '{"a": 1}', '[{"name": "a", "minimised": {"states": 1}}]'):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(FileFormatError, match=r"interchanges\.json: no interchanges: "):
            interchange_figures(file)


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


def test_networks_of_later_data_seeds_are_tested_by_themselves() -> None:
    rows = [[asked(SOON, LATE)]] * 8
    old, new = figures_of(rows, data_seed=1), figures_of(rows, data_seed=2)
    assert (old["long fresh measured"], new["long fresh measured"]) == ("0", "8")
    assert "too few" in old["long fresh verdict"]
    assert new["long fresh verdict"] == new["long verdict"] == old["long verdict"]


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
    assert found is not None
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
