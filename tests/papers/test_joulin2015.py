"""The experiments on Joulin & Mikolov 2015, tiny: what is trained and measured, not how well."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacklens.errors import StacklensError
from stacklens.models.io import load_checkpoint
from stacklens.papers.grid import RunSettings
from stacklens.papers.grid_results import GridResults
from stacklens.papers.grid_tables import grid_tables
from stacklens.papers.joulin2015 import EXAMPLES, FEW, PAPER_MODELS, PAPER_PATTERNS, figure2, table2
from stacklens.papers.joulin2015_training import paper_recipe, pattern_recipe

TINY = RunSettings((3, 4), scale=0.02)
SCORES = {"test", "test rounded", "validation", "validation rounded"}


def test_table_2_has_the_shape_and_the_figures_of_the_papers() -> None:
    grid = table2()
    scores, extraction = grid_tables(grid, GridResults(grid.paper, grid.name, grid.title))
    assert scores.columns == ("networks", "of the seeds", *PAPER_PATTERNS.values())
    reported = {
        row[0]: [cell.removeprefix("not run / ") for cell in row[2:]] for row in scores.rows if row[1] == "chosen"
    }
    assert reported == {
        "RNN": ["25", "23.3", "13.3", "23.3", "33.3"],
        "LSTM": ["100", "100", "68.3", "75", "100"],
        "List RNN 40+5": ["100", "33.3", "100", "100", "100"],
        "Stack RNN 40+10": ["100", "100", "100", "100", "43.3"],
        "Stack RNN 40+10 + rounding": ["100"] * 5,
    }
    assert len(extraction.rows) == 5 * len([*PAPER_MODELS, FEW])


@pytest.mark.parametrize("protocol", ["fast", "paper"])
@pytest.mark.parametrize("name", ["RNN, anbn", "LSTM, anb2n", "List RNN 40+5, anbncn", f"{FEW}, anbmcnm"])
def test_a_row_of_table_2_gives_a_network_a_seed_with_the_papers_scores(name: str, protocol: str) -> None:
    (row,) = table2().chosen_rows([name])
    first, second = row.train(RunSettings((3, 4), protocol, scale=0.02))  # type: ignore[arg-type]
    assert (first.seed, second.seed) == (3, 4)
    assert first.task == second.task == name.split(", ")[-1]
    assert first.model is not None
    assert set(first.scores) == (SCORES if first.model.n_stacks else {"test", "validation"})
    assert all(0 <= score <= 1 for score in first.scores.values())


def test_figure_2_has_a_score_for_every_size() -> None:
    (row,) = figure2().chosen_rows(["Stack RNN, addition"])
    outcome, _ = row.train(TINY)
    sizes = {name for name in outcome.scores if name.startswith("n = ")}
    assert sizes == {f"n = {n}{rounded}" for n in (2, 3, 4) for rounded in ("", " rounded")}
    assert outcome.task == "addition"


def test_the_protocols_have_the_papers_sizes() -> None:
    whole = RunSettings((0,))
    assert pattern_recipe("stack-rnn", "anbn", few=False, settings=whole).shape == {"hidden": 40, "n_stacks": 10}
    assert pattern_recipe("stack-rnn", "anbn", few=True, settings=whole).shape == {"hidden": 10, "n_stacks": 1}
    slow = paper_recipe("stack-rnn", "anb2n", whole)
    assert (slow.shape, slow.n_max, slow.rate, slow.steps, slow.emptied) == (
        {"hidden": 40, "n_stacks": 10},
        20,
        0.1,
        50,
        1_000,
    )
    assert paper_recipe("stack-rnn", "memorization", whole).emptied == 100
    assert paper_recipe("stack-rnn", "addition", whole).known_only


def test_seeds_that_cannot_be_trained_side_by_side_are_refused() -> None:
    with pytest.raises(StacklensError, match=r"seeds \(0, 2\): expected consecutive ones"):
        table2().rows[0].train(RunSettings((0, 2), scale=0.02))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_networks_of_ours_and_words_that_they_read(name: str) -> None:
    path, word = EXAMPLES[name]
    checkpoint = load_checkpoint(Path(__file__).parents[2] / path)
    assert set(word) <= set(checkpoint.model.alphabet)
