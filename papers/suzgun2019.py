"""Suzgun, Gehrmann, Belinkov & Shieber 2019, "Memory-augmented recurrent neural networks can learn generalized Dyck
languages".

Tables 2 to 6: twelve models on five tasks, ten networks each; simple palindromes, which section 6.2 tells of without a
table; and figure 2. Scores are shares of words of which every answer is right, on the words trained on and on as
many longer ones. How networks are trained is in `suzgun2019_training`.
"""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from ..languages.catalogue import get_task
from ..languages.classic import Dyck
from ..languages.task import Examples, Split, Task
from ..models.training.recipes import SUZGUN, FitRecipe, suzgun_recipe
from .grid import Grid, GridRow, Outcome, RunSettings
from .measures import depth_of
from .results import Experiment, Finding, declared, declared_experiment

if TYPE_CHECKING:
    from ..models.training.supervised import Fitting


# ---- How the networks of a row of Suzgun et al. 2019 are trained and scored: which recipe, which words ----
# All networks of a row stand side by side and see the same words ("the same random seed across each run", table 2).

_TEST_WORDS, _TEST_SEED = 5_000, 52  # section 5.1; their program takes 1,000
_APART = 1_000  # seeds of words, from one data seed to the next


@dataclass(frozen=True)
class TrainedNetwork:
    """What the networks of a row are and learn."""

    model: str  # its name
    gating: str  # of a Marnn, else ""
    task: str  # the name of the task
    hidden: int  # number of hidden units
    cell_size: int  # numbers a cell
    words: int  # how many to train on
    changed: dict[str, Any] = field(default_factory=dict)  # settings in place of the protocol's, by name


def train_network(trial: TrainedNetwork, settings: RunSettings) -> list[Outcome]:
    """Return a network from each seed of ``settings``, with its scores. "train", "test" are the paper's, "test rounded"
    that of the network with discrete actions. By the protocol "paper" gates draw their noise in the test too, as in
    their program.
    """
    from ..models.training.supervised import Fitting

    first, nets = settings.consecutive()
    fitting = Fitting(
        trial.model, recipe_of(trial, settings), get_task(trial.task), seed=first, nets=nets, device=settings.device
    )
    fitting.run()
    scores = _scores_of_fitting(fitting, settings)
    return [
        Outcome(seed, {name: float(each[number]) for name, each in scores.items()}, fitting.network(number), trial.task)
        for number, seed in enumerate(settings.seeds)
    ]


def recipe_of(trial: TrainedNetwork, settings: RunSettings) -> FitRecipe:
    """Return how the networks of ``trial`` are trained by ``settings``."""
    shape: dict[str, Any] = {"hidden": trial.hidden}
    if trial.gating:
        shape |= {"cell_size": trial.cell_size, "gating": trial.gating}
    recipe = suzgun_recipe(trial.model, get_task(trial.task), shape, trial.words, settings.protocol)
    recipe = replace(recipe, **trial.changed)
    words, epochs = settings.scaled(recipe.words, least=20), settings.scaled(recipe.epochs)
    drawn = recipe.words_seed + _APART * settings.data_seed
    return replace(recipe, words=words, epochs=epochs, check_every=epochs, words_seed=drawn)


def words_of_test(task: Task, settings: RunSettings) -> Examples:
    """Return the words that networks are tested on, the same for all of them."""
    return task.sample(settings.scaled(_TEST_WORDS, least=20), split="test", seed=_TEST_SEED)


def _scores_of_fitting(fitting: Fitting, settings: RunSettings) -> dict[str, Any]:
    """Return the scores of all networks by name, (nets,) each."""
    from ..models.rounding import Rounded
    from ..models.training.streams import word_accuracy

    noisy = settings.protocol == "paper"
    longer = words_of_test(fitting.task, settings)
    scores = {
        "train": word_accuracy(fitting.net, fitting.train_words, noisy),
        "test": word_accuracy(fitting.net, longer, noisy),
    }
    if fitting.net.action_kind != "none":
        scores["test rounded"] = word_accuracy(Rounded(fitting.net), longer)
    return scores


# ---- The tables, section 6.2 and figure 2 ----

_WORDS, _SEED = 5_000, 1729

_STATISTICS = ("min", "max", "median", "mean")
_GATINGS = {"Softmax": "softmax", "Softmax-Temp": "softmax with temperature", "Gumbel-Softmax": "gumbel-softmax"}
_WITHOUT_MEMORY = ("rnn", "lstm")
_DECLARED = declared("suzgun2019")
_NUMBERS = (2, 3, 4, 5, 6)  # of its tables
_RATES = (0.001, 0.003, 0.01, 0.03)
_FEWER = ", 8 hidden units, 5,000 words"  # how rows of D6 with one number a cell end that have the sizes of table 2


def lengths_and_depths(words: int = _WORDS) -> Finding:
    """Return how many words of D2 have which length and which greatest depth, of those trained and tested on."""
    task, language = get_task("dyck-2"), Dyck(2)
    figures, parts = {}, []
    for split in get_args(Split):
        drawn = task.sample(words, split=split, seed=_SEED).words
        values = {"lengths": sorted(map(len, drawn)), "depths": sorted(depth_of(language, word) for word in drawn)}
        figures[split] = {kind: {str(value): n for value, n in Counter(own).items()} for kind, own in values.items()}
        length, median = (statistics.median_low(own) for own in values.values())
        parts.append(f"{split}: median length {length}, median depth {median}, at most {values['depths'][-1]}")
    return Finding("; ".join(parts), figures)


_REPORTED = tuple(f"{score} {statistic}" for score in ("train", "test") for statistic in _STATISTICS)
# as the tables call them: the model, and how its gate makes shares; one for those without a choice
_MODELS: dict[str, tuple[str, str]] = {
    "Vanilla RNN": ("rnn", ""),
    "Vanilla LSTM": ("lstm", ""),
    "Stack-RNN by J&M": ("marnn-joulin", "softmax"),
    **{f"Stack-RNN+{name}": ("marnn-stack-rnn", gating) for name, gating in _GATINGS.items()},
    **{f"Stack-LSTM+{name}": ("marnn-stack-lstm", gating) for name, gating in _GATINGS.items()},
    **{f"Baby-NTM+{name}": ("baby-ntm", gating) for name, gating in _GATINGS.items()},
}


def grids() -> dict[str, Callable[[], Grid | Experiment]]:
    """Return what the paper has, by the names that `stacklens papers` knows them by."""
    tables = {f"suzgun2019-table{number}": partial(table_of_models, number) for number in _NUMBERS}
    return {
        **tables,
        "suzgun2019-rates": learning_rates,
        "suzgun2019-d6-one-number": six_brackets_one_number,
        "suzgun2019-simple-palindrome": simple_palindromes,
        "suzgun2019-figure2": figure2,
    }


def networks_of_table(number: int) -> dict[str, TrainedNetwork]:
    """Return what the networks of table 2, 3, 4, 5 or 6 are, by the names of its rows."""
    own = _DECLARED[f"suzgun2019-table{number}"]
    return {
        name: TrainedNetwork(model, gating, own["task"], *own["sizes"]) for name, (model, gating) in _MODELS.items()
    }


def table_of_models(number: int) -> Grid:
    """Return table 2, 3, 4, 5 or 6."""
    name = f"suzgun2019-table{number}"
    own = _DECLARED[name]
    hidden, cell_size, _ = own["sizes"]
    figures = (dict(zip(_REPORTED, line.split(), strict=True)) for line in own["lines"].strip().splitlines())
    source = f"sections 4 and {own['section']}; the authors' program"
    rows = tuple(
        _row({"model": row}, network, source, reported, row)
        for (row, network), reported in zip(networks_of_table(number).items(), figures, strict=True)
    )
    memory = "1 number" if cell_size == 1 else f"{cell_size} numbers"
    title = f"table {number}, {own['shown']}: {hidden} hidden units, {memory} a cell"
    return _grid(name, title, rows, f"{own['note']} {_DECLARED['notes']['joulin']}".strip())


def learning_rates() -> Grid:
    """Return which rate Adam may have had in tables 2, 3, 4 and 6, which the paper does not give: the vanilla RNN of
    each at four of them. Without a memory it cannot learn the task, and no luck decides how far training words fit it.
    """
    rows = []
    for number in (2, 3, 4, 6):
        vanilla, shown = table_of_models(number).rows[0], _DECLARED[f"suzgun2019-table{number}"]["shown"]
        for rate in _RATES:
            network = replace(networks_of_table(number)[vanilla.name], changed={"rate": rate})
            cells, name = {"language": shown, "rate": f"{rate:g}"}, f"{shown}, {rate:g}"
            reported = {column: figure for column, figure in vanilla.reported.items() if column.startswith("train")}
            rows.append(_row(cells, network, vanilla.source, reported, name))
    return replace(_grid("suzgun2019-rates", rows=tuple(rows)), scores=("train",), protocols=("paper",))


def _row(
    cells: dict[str, str], network: TrainedNetwork, source: str, reported: dict[str, str] | None = None, name: str = ""
) -> GridRow:
    stacks = network.model not in _WITHOUT_MEMORY
    return GridRow(name, cells, partial(train_network, network), reported or {}, source, stacks)


def simple_palindromes() -> Grid:
    """Return section 6.2 as a table: nine models with memories of cells of one number, and of five."""
    rows = tuple(
        _row(
            {"model": name, "numbers a cell": str(cell_size)},
            TrainedNetwork(model, gating, "simple-palindrome-nonempty", 8, cell_size, 5_000),
            "section 6.2",
            name=f"{name}, {cell_size} a cell",
        )
        for cell_size in (1, 5)
        for name, (model, gating) in _MODELS.items()
        if model not in _WITHOUT_MEMORY and model != "marnn-joulin"
    )
    return _grid("suzgun2019-simple-palindrome", rows=rows)


def six_brackets_one_number() -> Grid:
    """Return what section 5.2 says of D6 before table 4: memories with cells of one number. By which sizes else it does
    not say: those of table 4, or those of all other tables (section 4.2), with the rate of these.
    """
    others = {name: replace(one, changed={"rate": SUZGUN.rate}) for name, one in networks_of_table(2).items()}
    sizes = {"": networks_of_table(4), _FEWER: others}
    rows = tuple(
        _row(
            {"model": name, "hidden units": str(network.hidden), "words": f"{network.words:,}"},
            replace(network, task="dyck-6", cell_size=1),
            "section 5.2",
            name=f"{name}{ending}",
        )
        for ending, networks in sizes.items()
        for name, network in networks.items()
        if network.model not in _WITHOUT_MEMORY
    )
    return _grid("suzgun2019-d6-one-number", rows=rows)


def _grid(name: str, title: str = "", rows: tuple[GridRow, ...] = (), note: str = "") -> Grid:
    own, scores = _DECLARED[name], ("train", "test", "test rounded")
    note = f"{note or own['note']} {_DECLARED['notes']['fast']}".strip()
    title = title or own["title"]
    return Grid(name, _DECLARED["paper"], title, rows, scores, _STATISTICS, digits=2, note=note, data_seeds=True)


def figure2() -> Experiment:
    """Return figure 2: lengths and greatest depths of the words of D2, trained on and tested on."""
    return declared_experiment("suzgun2019-figure2", sys.modules[__name__], RunSettings((_SEED,)), (_SEED,))
