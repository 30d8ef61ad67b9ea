"""Which family and task every row of the papers has."""

from __future__ import annotations

from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.families import family_of, task_of
from stacklens.papers.grid import Grid

GRIDS = [grid for build in EXPERIMENTS.values() if isinstance(grid := build(), Grid)]


def test_every_row_with_a_memory_has_a_family_and_no_other() -> None:
    assert all((family_of(grid, row) is None) is not row.stacks for grid in GRIDS for row in grid.rows)


def test_every_row_has_a_task_that_is_no_name_of_a_table() -> None:
    learned = {task_of(grid, row) for grid in GRIDS for row in grid.rows if row.stacks}
    assert not learned & {grid.name for grid in GRIDS}
    assert {"D2", "D3", "D6", "reversal", "simple palindromes", "binary addition"} <= learned
