"""Suzgun et al. 2019: tables, counts in the text, a search among settings, and traces along a training."""

import json
import pickle
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from docs.findings.text import trace_figures
from tests.refusals import refused

from stacklens.languages.catalogue import get_task
from stacklens.models.training.recipes import SUZGUN
from stacklens.models.training.streams import word_accuracy
from stacklens.models.training.supervised import Fitting
from stacklens.papers import suzgun2019 as suzgun2019_training
from stacklens.papers.grid import Grid, RunSettings
from stacklens.papers.results import FOLDER, Finding, read_results, write_results
from stacklens.papers.runner import run_experiment
from stacklens.papers.suzgun2019 import (
    KINDS,
    SETTINGS,
    TraceSizes,
    TrainedNetwork,
    counted_networks,
    counts_experiment,
    learning_rates,
    networks_of_table,
    recipe_of,
    simple_palindrome_search,
    simple_palindromes,
    since_learned,
    six_brackets_one_number,
    table_of_models,
    traces_experiment,
    train_network,
    with_falling_rate,
    words_of_test,
)

# ---- The tables of Suzgun et al. 2019: what they have, that every row trains and scores, and figure 2. ----

TABLES = (2, 3, 4, 5, 6)
TINY, PAPER = 0.004, RunSettings((0,), "paper")


@pytest.mark.parametrize("number", TABLES)
def test_a_table_has_the_twelve_models_with_figures_in_order(number: int) -> None:
    grid = table_of_models(number)
    assert grid.name == f"suzgun2019-table{number}"
    assert grid.digits == 2  # as printed: 99.98 is not 100
    assert len(grid.rows) == 12
    assert recipe_of(networks_of_table(number)["Vanilla RNN"], PAPER).rate == (0.003 if number == 4 else 0.01)
    for row in grid.rows:
        figures = {column: float(figure) for column, figure in row.reported.items()}
        for score in ("train", "test"):
            low, high, median, mean = (figures[f"{score} {name}"] for name in ("min", "max", "median", "mean"))
            assert 0 <= low <= median <= high <= 100
            assert low <= mean <= high
            assert 5 * (low + median) - 0.03 <= 5 * 2 * mean  # of ten numbers five are at least the median
        assert pickle.loads(pickle.dumps(row)).reported == row.reported  # rows go to other processes


def test_six_brackets_with_one_number_a_cell_are_the_networks_of_table_4_otherwise_or_of_table_2() -> None:
    grid = six_brackets_one_number()
    with_memory = [row.name for row in table_of_models(4).rows if row.stacks]
    assert [row.name for row in grid.rows] == with_memory + [f"{n}, 8 hidden units, 5,000 words" for n in with_memory]
    for row, hidden, words in ((grid.rows[3], 12, 15_000), (grid.rows[13], 8, 5_000)):
        (outcome,) = row.train(RunSettings((0,), scale=TINY))
        assert (outcome.model.config()["hidden"], outcome.model.config()["cell_size"]) == (hidden, 1)
        assert (outcome.task, row.cells["words"]) == ("dyck-6", f"{words:,}")
    several: list[Any] = [grid.rows[3], grid.rows[13], *learning_rates().rows]
    rates = [recipe_of(row.train.args[0], PAPER).rate for row in several]
    assert rates == [0.003, 0.01, *[0.001, 0.003, 0.01, 0.03] * 4]


@pytest.mark.parametrize("protocol", ["paper", "fast"])
@pytest.mark.parametrize("number", TABLES)
def test_rows_train_and_score(number: int, protocol: str) -> None:
    grid: Grid = table_of_models(number)
    settings = RunSettings((4, 5), protocol, scale=TINY)  # type: ignore[arg-type]
    for row in grid.rows[number % 3 :: 5]:
        outcomes = row.train(settings)
        assert [outcome.seed for outcome in outcomes] == [4, 5]
        for outcome in outcomes:
            assert set(outcome.scores) <= set(grid.scores)
            assert all(0 <= score <= 1 for score in outcome.scores.values())
            assert ("test rounded" in outcome.scores) == (outcome.model.action_kind != "none")
            assert outcome.model.alphabet == get_task(outcome.task).alphabet
            if outcome.model.action_kind != "none":
                assert outcome.model.config()["hidden"] == (12 if number == 4 else 8)
                assert outcome.model.config()["cell_size"] == (5 if number == 4 else 1)


def test_a_network_is_that_of_its_seed_whatever_stands_beside_it() -> None:
    trial = TrainedNetwork("marnn-stack-rnn", "softmax", "dyck-2", 4, 1, 2_000)
    many, few = (train_network(trial, RunSettings(seeds, scale=0.02)) for seeds in ((1, 2, 3), (2, 3)))
    for one, other in zip(many[1:], few, strict=True):
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


# ---- The counts of the text: against counting in the results' files, and what is committed against those files.


def scores(table: str, protocol: str = "paper") -> dict[str, list[float]]:
    content = json.loads((FOLDER / f"suzgun2019-{table}.json").read_text(encoding="utf-8"))
    runs = [run for run in content["rows"] if (run["protocol"], run.get("data_seed", 0)) == (protocol, 0)]
    return {run["name"]: [one["scores"]["test"] for one in run["networks"]] for run in runs}


def test_what_is_committed_is_what_the_tables_have_now() -> None:
    now, kept = run_experiment(counts_experiment()), read_results("suzgun2019-counts")
    found, stored = ([(one.figures, one.ours) for one in made.claims] for made in (now, kept))
    assert stored == found, "stacklens papers run suzgun2019-counts"


def test_counts_are_those_of_the_tables_files() -> None:
    found = {claim.claim: claim.figures for claim in run_experiment(counts_experiment()).claims}
    assert found["D2: Stack-RNN+Softmax-Temp, the same"]["right"] == scores("table2")["Stack-RNN+Softmax-Temp"].count(1)
    counted = found["D3: all with a memory, 99 % or more on the test"]
    every = [score for row, of in scores("table3", counted["protocol"]).items() if "Vanilla" not in row for score in of]
    assert (counted["networks"], counted["right"]) == (len(every), sum(score >= 0.99 for score in every))
    assert len(counted["rows"]) == 10
    theirs = found["string reversal: theirs with full accuracy on the test"]
    assert (len(theirs["rows"]), "Stack-RNN by J&M" in theirs["rows"]) == (9, False)
    ones = found["simple palindromes, 1 a cell: 99 % or more on the test"]
    fives = found["simple palindromes, 5 a cell: 99 % or more on the test"]
    assert not set(ones["rows"]) & set(fives["rows"])


def test_without_results_the_command_is_named(tmp_path: Path) -> None:
    refused("run `stacklens papers run suzgun2019-table2` first", run_experiment, counts_experiment(tmp_path))


# ---- The search for simple palindromes: one setting at a time, and every row is trained by what its columns say.


def test_the_first_row_is_the_row_of_the_paper_with_five_numbers() -> None:
    (searched,) = simple_palindrome_search().chosen_rows(["Stack-RNN+Softmax, the paper's"])
    (of_the_paper,) = simple_palindromes().chosen_rows(["Stack-RNN+Softmax, 5 a cell"])
    one = searched.train(RunSettings((3,), scale=TINY))[0]
    other = of_the_paper.train(RunSettings((3,), "paper", scale=TINY))[0]
    assert one.scores == other.scores
    for name, value in one.model.state_dict().items():
        assert np.array_equal(value.numpy(), other.model.state_dict()[name].numpy())


def test_rows_are_trained_by_what_their_columns_say(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(Fitting, "run", lambda fitting: seen.append(fitting))
    monkeypatch.setattr(suzgun2019_training, "_scores_of_fitting", lambda *_: {"test": [0.0]})
    rows = simple_palindrome_search().chosen_rows([f"Stack-LSTM+Softmax, {name}" for name in SETTINGS])
    for row in rows:
        row.train(RunSettings((0,), scale=0.02))
    for row, fitting in zip(rows, seen, strict=True):
        recipe, cells = fitting.recipe, row.cells
        assert cells["rate"] == f"{recipe.rate:g}" + ", falling to 0 over the last half" * (recipe.falling == 0.5)
        assert (cells["batch"], cells["order"]) == (str(recipe.batch), recipe.order)
        assert cells["numbers a cell"] == str(fitting.net.config()["cell_size"])
        assert recipe.words == 0.02 * int(cells["words"].replace(",", ""))
        assert recipe.epochs == recipe.check_every == max(1, round(0.02 * int(cells["epochs"])))
        assert (recipe.keep, recipe.long_words) == ("last", 0)
        assert fitting.model == "marnn-stack-lstm"


def test_short_words_come_first_in_every_epoch() -> None:
    network = TrainedNetwork("marnn-stack-rnn", "softmax", "dyck-2", 4, 1, 5_000, {"order": "short first", "batch": 7})
    fitting = Fitting("marnn-stack-rnn", recipe_of(network, RunSettings((0,), scale=0.01)), get_task("dyck-2"))
    for _ in range(2):
        lengths = [(batch.symbols >= 0).sum(0).tolist() for batch in fitting.batches()]
        assert [len(batch) for batch in lengths] == [7] * 7 + [1]
        assert list(chain(*lengths)) == sorted(fitting.train_words.lengths.tolist())


# ---- Traces of D6: they tell networks that learned and lost from others, and their last networks are those of table 4.

WORDS = 20  # of 15,000
TRACED = ("Stack-RNN+Softmax",)
SIZES = TraceSizes(networks=2, held_out=12, every=8, scale=WORDS / 15_000)


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return dict(zip(TRACED, (claim.measure() for claim in traces_experiment(SIZES).claims), strict=True))


def test_every_row_has_a_trace_of_every_network(findings: dict[str, Finding]) -> None:
    for row, finding in findings.items():
        assert finding.figures["row"] == row
        assert [one["seed"] for one in finding.figures["networks"]] == [0, 1]
        for one in finding.figures["networks"]:
            assert list(one["test"]) == list(KINDS)
            assert list(map(int, one["trace"])) == list(range(0, 3 * WORDS + 1, 8))
            assert list(map(int, one["trace, rate falling"])) == [40, 48, 56]
            assert all(0 <= share <= 1 for share in (*one["trace"].values(), *one["test"].values()))
            assert one["best after"] == int(max(one["trace"], key=one["trace"].__getitem__))


def test_the_last_networks_are_those_of_table_4_by_the_paper(findings: dict[str, Finding]) -> None:
    for row in TRACED:
        # at this scale the table has one epoch: its own recipe with three of them
        trial = networks_of_table(4)[row]
        settings = RunSettings((0, 1), "paper", scale=SIZES.scale)
        fitting = Fitting(trial.model, replace(recipe_of(trial, settings), epochs=3), get_task("dyck-6"), nets=2)
        fitting.run()
        expected = word_accuracy(fitting.net, words_of_test(fitting.task, settings))
        assert [one["test"]["last"] for one in findings[row].figures["networks"]] == expected.tolist()


def test_the_rate_falls_as_it_would_have_from_the_beginning() -> None:
    trial, settings = networks_of_table(4)["Stack-RNN+Softmax-Temp"], RunSettings((0, 1), "paper", scale=SIZES.scale)
    recipe = replace(recipe_of(trial, settings), epochs=3)
    begun = Fitting(trial.model, recipe, get_task("dyck-6"), nets=2)
    for _ in range(2):
        begun.epoch()
    falling, whole = with_falling_rate(begun, 1 / 3), Fitting(trial.model, recipe, get_task("dyck-6"), nets=2)
    whole.recipe = replace(recipe, falling=1 / 3)
    for one in (begun, falling, whole):
        one.run()
    same, kept = falling.net.state_dict(), begun.net.state_dict()
    assert all(torch.equal(value, same[name]) for name, value in whole.net.state_dict().items())
    assert not all(torch.equal(value, kept[name]) for name, value in whole.net.state_dict().items())
    assert falling.learning_rate() < 0.01 * begun.learning_rate()


def network_traces(seed: int, trace: list[float], last: float, falling: float) -> dict[str, Any]:
    curve = {str(100 * place): share for place, share in enumerate(trace)}
    learned = next((int(words) for words, share in curve.items() if share >= 0.99), None)
    test = {"last": last, "best on the way": max(trace), "rate falling": falling}
    return {"seed": seed, "test": test, "learned after": learned, "trace": curve}


def test_learned_and_lost_is_counted_apart_from_never_learned(tmp_path: Path) -> None:
    networks = [
        network_traces(0, [0, 1.0, 0.2, 0.4], 0.2, 1.0),  # learned and lost
        network_traces(1, [0, 0.995, 1.0, 0.9], 1.0, 1.0),  # learned
        network_traces(2, [0, 0.5, 0.3, 0.9], 0.9, 0.9),  # never
        network_traces(3, [0, 1.0, 0.0, 1.0], 1.0, 0.2),  # learned, dropped and learned again
    ]
    finding = counted_networks("Stack-RNN+Softmax", networks, 50)
    assert finding.figures["counts"] == {
        "learned": 3,
        "dropped": 2,
        "lost": 1,
        "last": 2,
        "best on the way": 3,
        "rate falling": 2,
    }
    assert finding.ours == (
        "learned on the way: 3 of 4; of these below one half at a later record: 2, without it in the end: 1; "
        "99% of the test: last 2 of 4, best on the way 3 of 4, rate falling 2 of 4"
    )
    assert since_learned(networks[3]) == [1.0, 0.0, 1.0]
    assert since_learned(networks[2]) == []
    one = counted_networks("Stack-LSTM+Softmax", networks[1:2], 50)
    assert trace_figures(tmp_path) == {}
    experiment = traces_experiment(SIZES)
    (claim,) = experiment.claims
    claims = tuple(replace(claim, measure=partial(replace, found)) for found in (finding, one))
    write_results(run_experiment(replace(experiment, claims=claims)), tmp_path)
    told = trace_figures(tmp_path)
    assert told["traces stack-rnn+softmax dropped"] == "2 of 3"
    assert told["traces stack-rnn+softmax lost"] == "1 of 3"
    assert told["traces stack-lstm+softmax last"] == "1 of 1"
    assert told["traces stack-lstm+softmax records"] == "67 %"
