"""What became of networks that learned: counted as the results files have it, one network at a time."""

from __future__ import annotations

from typing import Any

import pytest

from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.family_tables import family_figures, why_not_read
from stacklens.papers.grid import Grid, GridRow, has_converged
from stacklens.papers.grid_results import GridResults, Network, RowResult, read_grid

GOOD = {"test": 0.99}


def row(name: str, *networks: Network) -> RowResult:
    seeds = tuple(network.seed for network in networks)
    return RowResult(name, "fast", seeds, 1.0, "cpu", networks, {}, {}, "command")


def read(status: int, proof: str, rounded: int | None, soft: int | None, **more: Any) -> dict[str, Any]:
    horizon = {
        net: {"shortest_difference": None if length is None else {"length": length}}
        for net, length in (("rounded network", rounded), ("network", soft))
    }
    return {"status": status, "proof": {"verdict": proof}, "certificate": None, "horizon": horizon, **more}


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
        Network(2, GOOD, True, {"status": 3, "proof": None, "budget": {"ran_out": True}, "reason": "no stack"}),
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
    figures = family_figures(toy())
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
    figures = family_figures(toy())
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
    grids = [grid for build in EXPERIMENTS.values() if isinstance(grid := build(), Grid)]
    measured = [(grid, found) for grid in grids if (found := read_grid(grid.name)) is not None]
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
    figures = family_figures(measured)
    *families, everything = lines(figures["search table"])[2:]
    assert int(everything[1]) == sum(int(line[1]) for line in families) == by_hand
    read_of_all = [int(line[2].split(" ")[0]) + sum(map(int, line[3:])) for line in families]
    assert read_of_all == [int(line[1]) for line in families]  # an automaton, or a reason why there is none
    tasks = lines(figures["tasks table"])[-1][1:]
    assert sum(int(cell.split("/")[1]) for cell in tasks) == by_hand
