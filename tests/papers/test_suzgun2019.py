"""The tables of Suzgun et al. 2019: what they have, that every row trains and scores, and figure 2."""

from __future__ import annotations

import pickle
from collections import Counter

import pytest

from stacklens.languages.catalogue import get_task
from stacklens.models.training.recipes import SUZGUN
from stacklens.papers.grid import Grid, RunSettings
from stacklens.papers.suzgun2019 import (
    TrainedNetwork,
    depth,
    figure2,
    grids,
    lengths_and_depths,
    simple_palindromes,
    six_brackets_one_number,
    table_of_models,
    train_network,
)

TABLES = (2, 3, 4, 5, 6)
TINY = 0.004


@pytest.mark.parametrize("number", TABLES)
def test_a_table_has_the_twelve_models_with_figures_in_order(number: int) -> None:
    grid = table_of_models(number)
    assert grid.name == f"suzgun2019-table{number}"
    assert grid.digits == 2  # as printed: 99.98 is not 100
    assert len(grid.rows) == 12
    for row in grid.rows:
        figures = {column: float(figure) for column, figure in row.reported.items()}
        for score in ("train", "test"):
            low, high, median, mean = (figures[f"{score} {name}"] for name in ("min", "max", "median", "mean"))
            assert 0 <= low <= median <= high <= 100
            assert low <= mean <= high
            assert 5 * (low + median) - 0.03 <= 5 * 2 * mean  # of ten numbers five are at least the median
        assert pickle.loads(pickle.dumps(row)).reported == row.reported  # rows go to other processes


def test_the_names_that_the_command_line_knows() -> None:
    tables = [f"suzgun2019-table{number}" for number in TABLES]
    names = [*tables, "suzgun2019-d6-one-number", "suzgun2019-simple-palindrome", "suzgun2019-figure2"]
    assert list(grids()) == names
    assert [build().name for build in grids().values()] == names


def test_six_brackets_with_one_number_a_cell_are_the_networks_of_table_4_otherwise() -> None:
    grid = six_brackets_one_number()
    with_memory = {row.name: row for row in table_of_models(4).rows if row.stacks}
    assert [row.name for row in grid.rows] == list(with_memory)
    (outcome,) = grid.rows[3].train(RunSettings((0,), scale=TINY))
    assert outcome.model is not None
    assert (outcome.model.config()["hidden"], outcome.model.config()["cell_size"]) == (12, 1)
    assert outcome.task == "dyck-6"


def test_simple_palindromes_have_nine_models_and_two_sizes() -> None:
    grid = simple_palindromes()
    assert Counter(row.cells["numbers a cell"] for row in grid.rows) == {"1": 9, "5": 9}
    assert "3 of 90" in grid.note


@pytest.mark.parametrize("protocol", ["paper", "fast"])
@pytest.mark.parametrize("number", TABLES)
def test_rows_train_and_score(number: int, protocol: str) -> None:
    grid: Grid = table_of_models(number)
    settings = RunSettings((4, 5), protocol, scale=TINY)  # type: ignore[arg-type]
    for row in grid.rows[number % 3 :: 5]:
        outcomes = row.train(settings)
        assert [outcome.seed for outcome in outcomes] == [4, 5]
        for outcome in outcomes:
            assert outcome.model is not None
            assert outcome.task is not None
            assert set(outcome.scores) <= set(grid.scores)
            assert all(0 <= score <= 1 for score in outcome.scores.values())
            assert ("test rounded" in outcome.scores) == (outcome.model.action_kind != "none")
            assert outcome.model.alphabet == get_task(outcome.task).alphabet
            if outcome.model.action_kind != "none":
                assert outcome.model.config()["hidden"] == (12 if number == 4 else 8)
                assert outcome.model.config()["cell_size"] == (5 if number == 4 else 1)


def test_a_network_is_that_of_its_seed_whatever_stands_beside_it() -> None:
    trial = TrainedNetwork("marnn-stack-rnn", "softmax", "dyck-2", 4, 1, 2_000)
    many, few = (train_network(trial, RunSettings(seeds, scale=0.02)) for seeds in ((1, 2, 7), (2, 1)))
    assert [outcome.seed for outcome in few] == [2, 1]
    for one, other in ((many[0], few[1]), (many[1], few[0])):
        assert one.model is not None
        assert other.model is not None
        for name, value in one.model.state_dict().items():
            assert value.numpy() == pytest.approx(other.model.state_dict()[name].numpy(), rel=1e-6, abs=1e-8)


def test_converged_networks_are_those_that_get_the_test_words_right(monkeypatch: pytest.MonkeyPatch) -> None:
    from stacklens.models.training import streams as word_accuracy

    scores = iter([[0.2, 0.3, 0.4], [0.98, 0.99, 0.5], [0.5, 0.5, 1.0]])
    monkeypatch.setattr(word_accuracy, "word_accuracy", lambda *_: next(scores))
    trial = TrainedNetwork("marnn-joulin", "softmax", "dyck-2", 2, 1, SUZGUN.words)
    outcomes = train_network(trial, RunSettings((0, 1, 2), scale=TINY))
    assert [outcome.converged for outcome in outcomes] == [False, True, False]
    assert [outcome.is_worth_reading for outcome in outcomes] == [False, True, True]
    assert outcomes[2].scores == {"train": 0.4, "test": 0.5, "test rounded": 1.0}


def test_figure_2_counts_lengths_and_depths() -> None:
    finding = lengths_and_depths(200)
    for split, (low, high) in {"train": (2, 50), "test": (52, 100)}.items():
        counts = finding.figures[split]
        for kind in ("lengths", "depths"):
            assert sum(counts[kind].values()) == 200
            assert list(map(int, counts[kind])) == sorted(map(int, counts[kind]))
        assert all(low <= int(length) <= high and int(length) % 2 == 0 for length in counts["lengths"])
    assert finding.ours.startswith("train: median length")
    assert figure2().claims[0].section == "5.1"


@pytest.mark.parametrize(("word", "deepest"), [("", 0), ("()", 1), ("([[]])()", 3), ("()[]()", 1)])
def test_the_depth_of_a_word(word: str, deepest: int) -> None:
    assert depth(word) == deepest
