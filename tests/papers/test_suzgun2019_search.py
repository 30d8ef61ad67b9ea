"""The search for simple palindromes: one setting at a time, and every row is trained by what its columns say."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from docs.findings.load import networks
from docs.findings.text import search_figures

from stacklens.core.errors import StacklensError
from stacklens.languages.catalogue import get_task
from stacklens.models.training.supervised import Fitting
from stacklens.papers import suzgun2019 as suzgun2019_training
from stacklens.papers.grid import GridResults, Network, RowResult, RunSettings
from stacklens.papers.runner import run_grid
from stacklens.papers.suzgun2019 import TrainedNetwork, recipe_of, simple_palindromes
from stacklens.papers.suzgun2019_studies import SETTINGS, simple_palindrome_search

TINY = 0.004


def test_every_setting_differs_from_its_centre_in_one_thing() -> None:
    for name, setting in SETTINGS.items():
        centre = SETTINGS["batches" if name.startswith("batches") else "the paper's"]
        found, whole = asdict(setting), asdict(centre)
        changed = {key for key in found if found[key] != whole[key]}
        assert len(changed - {"epochs"}) == (name not in ("batches", "the paper's"))
        if "epochs" in changed:  # as many words in all, or as many updates
            assert found["epochs"] * found["words"] == whole["epochs"] * whole["words"] or setting.batch == 4


def test_the_first_row_is_the_row_of_the_paper_with_five_numbers() -> None:
    (searched,) = simple_palindrome_search().chosen_rows(["Stack-RNN+Softmax, the paper's"])
    (of_the_paper,) = simple_palindromes().chosen_rows(["Stack-RNN+Softmax, 5 a cell"])
    one = searched.train(RunSettings((3,), scale=TINY))[0]
    other = of_the_paper.train(RunSettings((3,), "paper", scale=TINY))[0]
    assert one.scores == other.scores
    assert one.model is not None
    assert other.model is not None
    for name, value in one.model.state_dict().items():
        assert np.array_equal(value.numpy(), other.model.state_dict()[name].numpy())


def test_rows_are_trained_by_what_their_columns_say(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(Fitting, "run", lambda fitting: seen.append(fitting))
    monkeypatch.setattr(suzgun2019_training, "_scores_of_fitting", lambda *_: {"test": [0.0]})
    grid = simple_palindrome_search()
    rows = grid.chosen_rows([f"Stack-LSTM+Softmax, {name}" for name in SETTINGS])
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


def test_the_search_has_no_protocol_of_the_paper(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match=r"settings of their own: leave out --protocol"):
        run_grid(simple_palindrome_search(), RunSettings((0,), "paper"), tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_text_counts_all_and_names_the_best_row() -> None:
    grid = simple_palindrome_search()
    scores = {
        "Stack-RNN+Softmax, the paper's": (0.0, 0.5),
        "Stack-RNN+Softmax, batches": (1.0, 0.0),
        "Stack-RNN+Softmax, batches of 4": (0.995, 0.2),
    }
    runs = tuple(
        RowResult(name, "fast", (0, 1), 1.0, "cpu", tuple(map(network, (0, 1), shares)), {}, {}, "")
        for name, shares in scores.items()
    )
    found = search_figures(networks([(grid, GridResults(grid.paper, grid.name, grid.title, runs))]))
    assert found.pop("palindrome search learned").startswith("2 of 6 ")
    assert found == {
        "palindrome search settings": "3",
        "palindrome search best": "Stack-RNN+Softmax, batches of 4",
        "palindrome search best count": "1 of 2",
    }


def network(seed: int, share: float) -> Network:
    return Network(seed, {"test": share}, share >= 0.99)
