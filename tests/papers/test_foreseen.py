"""Drift from the rounded network, by outcome: of the networks that learned, were measured before and were tried."""

from __future__ import annotations

from dataclasses import replace

from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.foreseen_text import foreseen_figures
from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network, RowResult
from stacklens.papers.learned import family_of, task_of


def test_networks_of_results_are_those_that_learned_and_were_measured_and_tried() -> None:
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
    measured = [(grid, GridResults("", "toy", "", runs))]
    figures = foreseen_figures(measured)
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
