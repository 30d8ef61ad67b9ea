"""Tables of the findings: counted as the results files have it, one network at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from docs.findings.load import family_of, measured_grids, networks, processor_seconds, task_of, why_not_read
from docs.findings.tables import drift_figures, family_figures, limit_figures
from docs.findings.text import interchange_figures

from stacklens.core.errors import FileFormatError
from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.grid import Grid, GridResults, GridRow, Network, RowResult, has_converged

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


@pytest.mark.parametrize(
    ("reason", "ran_out", "why"),
    [
        ("no automaton was found in 120 seconds of processor time", False, "out of time"),
        ("the best candidate differs", True, "out of time"),
        ("the memory of a baby-ntm is no stack: it can rotate right", False, "no stack"),
        ("list-rnn works on lists, which are no stacks", False, "no stack"),
        ("the network does not use its stack as a stack: rounding", False, "not used as one"),
        ("no number of states reproduces the rounded network", False, "none fits"),
    ],
)
def test_why_there_is_no_automaton(reason: str, ran_out: bool, why: str) -> None:
    found = {"status": 3, "reason": reason, "budget": {"ran_out": ran_out}}
    assert why_not_read(Network(0, GOOD, True, found)) == why


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
    counts = [figures[f"foreseen {what}"] for what in ("networks", "families", "tasks")]
    assert counts == ["3", "1", "1"]
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
    nothing = RowResult("Net", "fast", (4,), 1.0, "cpu", NETWORKS[4:], {}, {}, "")
    assert processor_seconds(nothing) == [None]


def test_networks_with_a_clock_of_processor_time_each_have_their_own() -> None:
    own = tuple(network(seed, 0, 8.0, processor_seconds=seed + 3.0) for seed in range(2))
    timed = RowResult("Net", "fast", (0, 1, 4), 1.0, "cpu", (*own, NETWORKS[4]), {"extraction, CPU": 100.0}, {}, "")
    assert processor_seconds(timed) == [3, 4, None]


def test_what_is_read_within_limits() -> None:
    grid = Grid("toy", "Nobody 1993", "t", (GridRow("Net", {}, lambda _: []),), ("test",))
    figures = limit_figures(networks([(grid, GridResults("", "toy", "", (run({"extraction, CPU": 100.0}),)))]))
    assert figures["limits tried"] == "4"
    assert figures["budgets"] == "60 s for 1, not told for 3"
    times = {line[0]: line[1:] for line in lines(figures["time table"])}
    assert times["5"] == ["1 (25 %)"] * 3
    assert times["20"] == ["2 (50 %)", "2 (50 %)", "1 (25 %)"]
    assert times["no limit"] == ["3 (75 %)", "3 (75 %)", "2 (50 %)"]
    stacks = {tuple(line[:3]): line for line in lines(figures["stacks table"])[2:]}
    assert list(stacks) == [("1", "no", "1"), ("2", "no", "2"), ("–", "–", "1")]
    assert stacks["2", "no", "2"][-2:] == ["1 (50 %)", "1"]
    assert (figures["several stacks"], figures["several stacks proved"], figures["several stacks at most"]) == (
        "2",
        "2 of 2",
        "2",
    )


@pytest.mark.parametrize("others", [{"push_only": [1]}, {"unseen": [1, 2]}])
def test_a_stack_that_only_pushes_or_is_not_seen_is_none_of_the_automatons(others: dict[str, list[int]]) -> None:
    stacks = {"kept": [0, 1] if "push_only" in others else [0], "dropped": [], **others}
    one = Network(0, {}, True, {"status": 0, "seconds": 1.0, "stacks": stacks, "proof": {"verdict": "equal"}})
    grid = Grid("toy", "Nobody 1993", "t", (GridRow("Net", {}, lambda _: []),), ("test",))
    found = RowResult("Net", "fast", (0,), 1.0, "cpu", (one,), {}, {}, "")
    figures = limit_figures(networks([(grid, GridResults("", "toy", "", (found,)))]))
    assert lines(figures["stacks table"])[2][:3] == ["1", "yes", "1"]
    assert figures["several stacks"] == "0"


def test_interchanges_by_what_was_read_from(tmp_path: Path) -> None:
    def told(states: float | None, symbols: float, permuted: float | None = 0.5) -> dict[str, Any]:
        return {
            "states": {"accuracy": states, "baseline": permuted},
            "symbols": {"accuracy": symbols, "baseline": None},
        }

    kept = [
        {"name": "a", "way": "learn", "proof": "equal", "minimised": told(0.6, 0.7), "raw": {"reason": "none"}},
        {"name": "b", "way": "learn", "proof": "–", "minimised": told(None, 0.9), "raw": told(1.0, 1.0)},
        {"name": "c", "way": "learn", "proof": "equal", "minimised": told(0.9, 0.8, None)},
        {"name": "d", "status": 3, "reason": "nothing was found"},
    ]
    file = tmp_path / "interchanges.json"
    file.write_text(json.dumps(kept), encoding="utf-8")
    figures = interchange_figures(file)
    assert figures["interchange networks"] == "3"
    rows = lines(figures["interchange table"])[2:]
    several, single, symbols = "0.60 (0.60); permuted 0.50; 1", "0.90 (0.90); 1", "0.80 (0.70); 3"
    assert rows[0] == ["its behaviour", "minimised", "3", "2", several, single, symbols]
    assert rows[1][:4] == ["its behaviour", "raw", "1", "0"]


def test_interchanges_that_are_missing_or_something_else(tmp_path: Path) -> None:
    assert interchange_figures(None) == interchange_figures(tmp_path / "none.json")
    assert interchange_figures(None)["interchange table"] == "(Not measured.)"
    file = tmp_path / "interchanges.json"
    for content in ("{", "[1]", '{"a": 1}', '[{"name": "a", "minimised": {"states": 1}}]'):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(FileFormatError, match=r"interchanges\.json: no interchanges: "):
            interchange_figures(file)
