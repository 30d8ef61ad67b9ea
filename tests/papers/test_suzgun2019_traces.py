"""Traces of D6: they tell networks that learned and lost from others, and their last networks are those of table 4."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from docs.findings.text import trace_figures

from stacklens.languages.catalogue import get_task
from stacklens.models.training.streams import word_accuracy
from stacklens.models.training.supervised import Fitting
from stacklens.papers.grid import RunSettings
from stacklens.papers.results import Finding, write_results
from stacklens.papers.runner import run_experiment
from stacklens.papers.suzgun2019 import networks_of_table, recipe_of, table_of_models, words_of_test
from stacklens.papers.suzgun2019_studies import (
    KINDS,
    TRACED,
    TraceSizes,
    counted_networks,
    since_learned,
    traces_experiment,
    with_falling_rate,
)
from stacklens.papers.suzgun2019_studies import TRACES_NAME as NAME

WORDS = 20  # of 15,000
SIZES = TraceSizes(networks=2, held_out=12, every=8, scale=WORDS / 15_000)
ROWS = TRACED


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
    for row in ROWS:
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


def network(seed: int, trace: list[float], last: float, falling: float) -> dict[str, Any]:
    curve = {str(100 * place): share for place, share in enumerate(trace)}
    learned = next((int(words) for words, share in curve.items() if share >= 0.99), None)
    test = {"last": last, "best on the way": max(trace), "rate falling": falling}
    return {"seed": seed, "test": test, "learned after": learned, "trace": curve}


def test_learned_and_lost_is_counted_apart_from_never_learned(tmp_path: Path) -> None:
    networks = [
        network(0, [0, 1.0, 0.2, 0.4], 0.2, 1.0),  # learned and lost
        network(1, [0, 0.995, 1.0, 0.9], 1.0, 1.0),  # learned
        network(2, [0, 0.5, 0.3, 0.9], 0.9, 0.9),  # never
        network(3, [0, 1.0, 0.0, 1.0], 1.0, 0.2),  # learned, dropped and learned again
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
    claims = tuple(replace(claim, measure=partial(_same, found)) for found in (finding, one))
    write_results(run_experiment(replace(experiment, claims=claims)), tmp_path)
    told = trace_figures(tmp_path)
    assert told["traces stack-rnn+softmax dropped"].startswith("2 of 3 ")
    assert told["traces stack-rnn+softmax lost"].startswith("1 of 3 ")
    assert told["traces stack-lstm+softmax last"].startswith("1 of 1 ")
    assert told["traces stack-lstm+softmax records"] == "67 %"


def _same(finding: Finding) -> Finding:
    return finding


def test_the_rows_are_those_of_table_4_without_noise_in_the_test() -> None:
    rows = {row.name: row for row in table_of_models(4).rows}
    experiment = traces_experiment()
    assert (experiment.name, experiment.seeds) == (NAME, tuple(range(10)))
    for name, claim in zip(TRACED, experiment.claims, strict=True):
        assert networks_of_table(4)[name].gating != "gumbel-softmax"
        assert rows[name].reported["test mean"] in claim.paper
