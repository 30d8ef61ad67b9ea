"""The table by family counts what the results files hold, one network at a time."""

from __future__ import annotations

from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.families import families_table, family_of
from stacklens.papers.grid import Grid, GridRow, has_converged
from stacklens.papers.grid_results import GridResults, Network, RowResult, read_grid


def _row(name: str, *networks: Network) -> RowResult:
    seeds = tuple(network.seed for network in networks)
    return RowResult(name, "fast", seeds, 1.0, "cpu", networks, {}, {}, "command")


def _read(status: int, proof: str, length: int | None) -> dict[str, object]:
    first = None if length is None else {"length": length}
    horizon = {"rounded network": {"shortest_difference": first}}
    return {"status": status, "proof": {"verdict": proof}, "certificate": None, "horizon": horizon, "budget": None}


def test_only_networks_that_learned_their_task_by_themselves_count() -> None:
    rows = tuple(
        GridRow(f"{name}, task", {"model": name}, lambda _: [], stacks=name != "LSTM") for name in ("A", "LSTM")
    )
    grid = Grid("toy", "Nobody 1993", "a table", rows, ("test",), ("median",), seeds=4)
    good = {"test": 0.99}
    networks = (
        Network(0, good, True, _read(0, "equal", None)),
        Network(1, good, True, _read(1, "equal", 12)),
        Network(2, good, True, {"status": 3, "proof": None, "budget": {"ran_out": True}}),
        Network(3, {"test": 0.5, "test rounded": 1.0}, False, _read(0, "equal", None)),
    )
    results = GridResults(
        "Nobody 1993", "toy", "a table", (_row("A, task", *networks), _row("LSTM, task", networks[0]))
    )
    one, all_ = families_table([(grid, results)]).rows
    assert one == ("Nobody 1993: A", "3", "2 (67%)", "2 (67%)", "1 (33%)", "0 (0%)", "12: 1 of 2", "1")
    assert all_ == ("all", *one[1:])


def test_every_row_of_the_papers_with_a_memory_has_a_family_and_all_add_up() -> None:
    grids = [grid for build in EXPERIMENTS.values() if isinstance(grid := build(), Grid)]
    assert all((family_of(grid, row) is None) is not row.stacks for grid in grids for row in grid.rows)
    measured = [(grid, found) for grid in grids if (found := read_grid(grid.name)) is not None]
    for _, found in measured:
        assert all(net.converged == has_converged(net.scores) for row in found.rows for net in row.networks)
    *families, everything = families_table(measured).rows
    by_hand = sum(
        network.scores["test"] >= 0.99
        for grid, found in measured
        for row in grid.rows
        if row.stacks
        for run in found.runs(row.name)
        for network in run.networks
    )
    assert int(everything[1]) == sum(int(line[1]) for line in families) == by_hand
