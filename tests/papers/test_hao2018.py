from __future__ import annotations

import json
from pathlib import Path

import pytest

from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.grid import VALIDATION, Grid, GridRow, RunSettings
from stacklens.papers.hao2018 import table1
from stacklens.papers.runner import run_grid

TINY = RunSettings((0, 1), scale=0.02)
GRID = table1()


def row(name: str) -> GridRow:
    (found,) = (row for row in GRID.rows if row.name == name)
    return found


def test_the_table_has_the_papers_18_lines_and_ten_trials_each() -> None:
    assert isinstance(EXPERIMENTS["hao2018-table1"](), Grid)
    assert len(GRID.rows) == 18
    assert GRID.seeds == 10
    cells = [tuple(row.cells.values()) for row in GRID.rows]
    assert len(set(cells)) == 18
    assert cells[1] == ("Reversal", "yes", "linear", "yes")
    assert [cell[0] for cell in cells].count("Parenthesis") == 4


def test_reported_figures_stand_beside_columns_that_are_shown_and_are_in_order() -> None:
    shown = {f"{score} {name}" for score in GRID.scores for name in GRID.statistics}
    for one in GRID.rows:
        assert set(one.reported) == shown
        for score in GRID.scores:
            low, middle, high = (float(one.reported[f"{score} {name}"]) for name in ("min", "median", "max"))
            assert 0 < low <= middle <= high <= 100


@pytest.mark.parametrize("name", [row.name for row in GRID.rows])
def test_every_line_can_be_trained(name: str) -> None:
    outcomes = row(name).train(TINY)
    assert [outcome.seed for outcome in outcomes] == [0, 1]
    for outcome in outcomes:
        assert set(outcome.scores) == {"training", VALIDATION, "test"}
        assert all(0 <= score <= 1 for score in outcome.scores.values())
        assert outcome.scores["training"] <= outcome.scores[VALIDATION]
        assert outcome.model is not None
        assert outcome.model.alphabet
        assert outcome.converged == (outcome.scores["test"] >= 0.99)


@pytest.mark.parametrize("name", ["Reversal, buffered, linear", "XOR, LSTM", "Formula, no stack, LSTM"])
def test_one_after_another_the_trials_come_to_the_same(name: str) -> None:
    beside = row(name).train(TINY)
    alone = row(name).train(RunSettings((0, 1), "paper", scale=0.02))
    assert [outcome.scores for outcome in beside] == [outcome.scores for outcome in alone]


def test_a_networks_shape_is_the_papers() -> None:
    def config(name: str) -> dict[str, object]:
        (outcome,) = row(name).train(RunSettings((0,), scale=0.01))
        assert outcome.model is not None
        return {"name": outcome.model.name, **outcome.model.config()}

    buffered = config("XOR, buffered, linear")
    assert (buffered["name"], buffered["cell_size"], buffered["extra_steps"]) == ("buffered-neural-stack", 6, 1)
    assert buffered["dequeue_first"] is True
    stack = config("Agreement, LSTM")
    assert (stack["name"], stack["hidden"], stack["cell_size"]) == ("neural-stack", 10, 2)
    bare = config("Parenthesis, no stack, linear")
    assert (bare["name"], bare["controller"]) == ("linear", "linear")
    assert config("Formula, linear")["output_alphabet"] == ("T", "F")


def test_rows_are_run_and_written(tmp_path: Path) -> None:
    results = run_grid(GRID, RunSettings((0,), scale=0.01), tmp_path, rows=["Delayed XOR, linear"])
    (done,) = results.rows
    assert done.name == "Delayed XOR, linear"
    assert json.loads((tmp_path / "hao2018-table1.json").read_text())["rows"][0]["networks"][0]["seed"] == 0
