"""The experiments on Joulin & Mikolov 2015, tiny: what is trained and measured, not how well."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from stacklens.core.errors import StacklensError
from stacklens.models.checkpoint import load_checkpoint
from stacklens.papers import joulin2015_training
from stacklens.papers.grid import GridResults, Outcome, Protocol, RunSettings
from stacklens.papers.joulin2015 import EXAMPLES, FEW, PAPER_MODELS, PAPER_PATTERNS, figure2, table2
from stacklens.papers.joulin2015_online import OnlineTraining
from stacklens.papers.joulin2015_training import (
    SEARCHED,
    Tried,
    chosen_outcomes,
    paper_recipe,
    pattern_recipe,
    searched,
)
from stacklens.papers.tables import grid_tables

TINY = RunSettings((3, 4), scale=0.02)
SCORES = {"test", "validation", "n = 2", "n = 3", "n = 4"}
FIGURES = {"symbols", "updates", "seconds", "loss", "test"}
SPENT = {"epochs", "updates", "entropy", "seconds"}


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
def test_a_row_of_table_2_gives_a_network_a_seed_with_the_papers_scores(name: str, protocol: Protocol) -> None:
    (row,) = table2().chosen_rows([name])
    scale = 0.02 if protocol == "fast" else 0.005
    first, second = row.train(RunSettings((3, 4), protocol, scale=scale))
    assert (first.seed, second.seed) == (3, 4)
    assert first.task == second.task == name.split(", ")[-1]
    assert first.model is not None
    rounded = {f"{score} rounded" for score in SCORES} if first.model.n_stacks else set()
    spent = SPENT if protocol == "paper" else set()
    several = searched(first.model.name, first.task or "", protocol)
    assert bool(several) == (first.model.name == "lstm" or (first.model.name, protocol) == ("rnn", "paper"))
    if several:
        tried = {f"tried {one}: {figure}" for one in several for figure in FIGURES}
        spent = {*spent, "hidden", "layers", *FIGURES - {"test"}, *tried}
    assert set(first.scores) == SCORES | rounded | spent
    assert all(0 <= score <= 1 for name, score in first.scores.items() if name not in spent)


def test_each_seed_keeps_what_is_best_on_validation_and_tells_what_became_of_the_others() -> None:
    def outcome(seed: int, loss: float, test: float) -> Outcome:
        return Outcome(seed, {"symbols": 5, "updates": 2, "seconds": 1, "loss": loss, "test": test, "n = 2": test})

    # by the protocol paper it is the loss that decides
    tried = [(Tried(50), [outcome(0, 0.3, 0.1), outcome(1, 0.1, 0.2)])]
    tried += [(Tried(100, 2), [outcome(0, 0.2, 0.3), outcome(1, 0.4, 0.4)])]
    first, second = chosen_outcomes(tried, "paper")
    assert [first.scores[name] for name in ("test", "n = 2", "loss", "hidden", "layers")] == [0.3, 0.3, 0.2, 100, 2]
    assert [second.scores[name] for name in ("test", "n = 2", "loss", "hidden", "layers")] == [0.2, 0.2, 0.1, 50, 1]
    for one, losses in ((first, (0.3, 0.2)), (second, (0.1, 0.4))):
        assert (one.scores["tried 1 x 50: loss"], one.scores["tried 2 x 100: loss"]) == losses


def test_the_papers_sizes_and_layers_are_searched() -> None:
    assert [(one.layers, one.hidden) for one in searched("lstm", "anbn", "paper")] == [
        (layers, hidden) for layers in (1, 2) for hidden in (50, 100, 200)
    ]
    assert [one.hidden for one in searched("rnn", "memorization", "paper")] == [40, 100, 500]
    assert searched("stack-rnn", "anbn", "paper") == searched("lstm", "memorization", "fast") == ()
    for pattern in PAPER_PATTERNS:
        assert {(one.layers, one.hidden) for one in searched("lstm", pattern, "fast")} <= {
            (one.layers, one.hidden) for one in SEARCHED["lstm"]
        }


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


@pytest.mark.parametrize(
    ("model", "task", "sizes"),
    [
        ("stack-rnn", "anbn", (40, 10, 15, 2_000, 1_000, (2, 19), False, 0)),
        ("stack-rnn", "anb2n", (40, 10, 20, 2_000, 1_000, (2, 19), False, 0)),
        ("stack-rnn", "anbmcnm", (40, 10, 15, 2_000, 1_000, (2, 19), True, 0)),
        ("list-rnn", "anbmcnm", (40, 5, 15, 2_000, 1_000, (2, 19), False, 0)),
        ("stack-rnn", "memorization", (100, 10, 20, 2_000, 100, (2, 19), False, 0)),
        ("stack-rnn", "addition", (100, 10, 20, 10_000, 10, (20, 20), False, 0.1)),
    ],
)
def test_the_paper_protocol_is_that_of_the_authors_scripts(model: str, task: str, sizes: tuple[object, ...]) -> None:
    slow = paper_recipe(model, task, RunSettings((0,), "paper"))
    assert sizes == (
        slow.shape["hidden"],
        slow.shape["n_stacks"],
        slow.n_max,
        slow.pieces,
        slow.emptied,
        slow.checked,
        slow.rounded,
        slow.good,
    )
    assert (slow.rate, slow.clip, slow.steps, slow.epochs, slow.validation) == (0.1, 15, 50, 100, 1_000)
    assert slow.known_only == (task == "addition")
    assert slow.smallest == (0 if task == "addition" else 2)


@pytest.mark.slow
def test_the_paper_protocol_takes_the_best_of_the_papers_sizes_for_each_seed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[OnlineTraining] = []

    class Kept(OnlineTraining):
        def run(self) -> None:
            super().run()
            made.append(self)

    monkeypatch.setattr(joulin2015_training, "OnlineTraining", Kept)
    (row,) = table2().chosen_rows(["LSTM, anbn"])
    outcomes = row.train(RunSettings((3, 4), "paper", scale=0.01, unfinished=tmp_path))
    assert [(one.recipe.shape["hidden"], one.recipe.shape["layers"]) for one in made] == [
        (hidden, layers) for layers in (1, 2) for hidden in (50, 100, 200)
    ]
    assert len(list(tmp_path.iterdir())) == 6
    for place, outcome in enumerate(outcomes):
        best = min(made, key=lambda one: one.best[place])
        assert outcome.scores["entropy"] == pytest.approx(best.best[place] / math.log(10))
        assert (outcome.scores["hidden"], outcome.scores["layers"]) == (
            best.recipe.shape["hidden"],
            best.recipe.shape["layers"],
        )


def test_addition_by_the_papers_protocol_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    (row,) = figure2().chosen_rows(["Stack RNN, addition"])
    tiny = RunSettings((3, 4), "paper", scale=0.02)
    whole = row.train(tiny)
    row.train(replace(tiny, epochs=1, unfinished=tmp_path))
    (state,) = tmp_path.iterdir()
    assert state.name == "stack-rnn-addition-paper-seeds-3-4.state"
    ended = row.train(replace(tiny, unfinished=tmp_path))
    for one in (*whole, *ended):
        assert one.scores.pop("seconds") > 0
    assert [one.scores for one in ended] == [one.scores for one in whole]
    assert ended[0].scores["epochs"] == 2
    with pytest.raises(StacklensError, match="2 epochs were trained already"):
        row.train(replace(tiny, epochs=1, unfinished=tmp_path))


def test_seeds_that_cannot_be_trained_side_by_side_are_refused() -> None:
    with pytest.raises(StacklensError, match=r"seeds \(0, 2\): expected consecutive ones"):
        table2().rows[0].train(RunSettings((0, 2), scale=0.02))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_networks_of_ours_and_words_that_they_read(name: str) -> None:
    path, word = EXAMPLES[name]
    checkpoint = load_checkpoint(Path(__file__).parents[2] / path)
    assert set(word) <= set(checkpoint.model.alphabet)
