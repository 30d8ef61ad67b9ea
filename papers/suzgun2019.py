"""Suzgun, Gehrmann, Belinkov & Shieber 2019, "Memory-augmented recurrent neural networks can learn generalized Dyck
languages".

Tables 2 to 6: twelve models on five tasks, ten networks each; simple palindromes, which section 6.2 tells of without a
table; and figure 2. Scores are shares of words of which every answer is right, on the words trained on and on as
many longer ones. Studies of these networks stand below.
"""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_args

from ..core.errors import StacklensError
from ..languages.catalogue import get_task
from ..languages.classic import Dyck
from ..languages.task import Examples, Split, Task
from ..models.training.recipes import SUZGUN, FitRecipe, suzgun_recipe
from .grid import CONVERGED, Grid, GridRow, Network, Outcome, RunSettings, read_grid
from .results import FOLDER, Experiment, Finding, declared, declared_experiment, processor

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..models.training.snapshots import Snapshot
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
    from .measures import depth_of

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


# ---- D6 of Suzgun et al. 2019 at the rate of their program, watched: which networks learn it, and lose it again ----
# Three networks of every seed stand beside each other: the last one, as the paper's protocol keeps; the one that was
# best on held-out words on the way; and the last one where the rate falls to 0 over the last third.

TRACES_NAME = "suzgun2019-traces"
KINDS = ("last", "best on the way", "rate falling")
_HELD_OUT_SEED = 4_052  # of the words that networks answer on the way
_HALF = 0.5  # below it a network that had learned its task has dropped it
_PARTS = 3  # of which the rate falls in the last: epochs, by the paper's protocol


@dataclass(frozen=True)
class TraceSizes:
    """How much is trained and asked: networks a row, words on the way, from record to record; a trial's ``scale``."""

    networks: int = 10
    held_out: int = 200
    every: int = 1_000
    scale: float = 1.0


def traces_experiment(sizes: TraceSizes | None = None) -> Experiment:
    """Return the experiment, of the row of table 4 whose gates draw no noise in the paper's test."""
    sizes = sizes or TraceSizes()
    return declared_experiment(TRACES_NAME, sys.modules[__name__], sizes, tuple(range(sizes.networks)))


def measure_traces(row: str, sizes: TraceSizes) -> Finding:
    """Return what comes of the networks of a row of table 4, watched, at a rate that stays and at one that falls."""
    from ..models.training.streams import word_accuracy
    from ..models.training.supervised import Fitting

    settings = RunSettings(tuple(range(sizes.networks)), "paper", scale=sizes.scale)
    trial = replace(networks_of_table(4)[row], changed={"rate": SUZGUN.rate})  # at which what is learned is lost
    recipe = replace(recipe_of(trial, settings), epochs=_PARTS, check_every=_PARTS)
    fitting = Fitting(trial.model, recipe, get_task(trial.task), nets=sizes.networks)
    # the words that networks answer on the way: none of the test's
    test = words_of_test(fitting.task, settings)
    drawn, tested = fitting.task.sample(sizes.held_out, split="test", seed=_HELD_OUT_SEED), set(test.words)
    held_out = fitting.task.examples([word for word in drawn.words if word not in tested])
    trace = AccuracyTrace(fitting, held_out, sizes.every)
    while fitting.epochs_done < _PARTS - 1:
        fitting.epoch()
    # the last epoch twice: at the paper's rate, and at one that falls
    falling = with_falling_rate(fitting, 1 / _PARTS)
    last_part = AccuracyTrace(falling, held_out, sizes.every, trace.done)
    fitting.run()
    falling.run()
    ends = word_accuracy(fitting.net, test), word_accuracy(falling.net, test)
    networks = []
    for seed in range(sizes.networks):
        best = float(word_accuracy(trace.best[seed].network(fitting, seed), test)[0])
        learned = (words for words, share in zip(trace.updates, trace.of(seed), strict=True) if share >= CONVERGED)
        network = {
            "seed": seed,
            "test": dict(zip(KINDS, (float(ends[0][seed]), best, float(ends[1][seed])), strict=True)),
            "learned after": next(learned, None),
            "best after": trace.best[seed].updates,
            "trace": trace.points(seed),
            "trace, rate falling": last_part.points(seed),
        }
        networks.append(network)
    return counted_networks(row, networks, len(held_out))


def with_falling_rate(fitting: Fitting, falling: float) -> Fitting:
    """Return a training that goes on where ``fitting`` is, but with a rate that falls over the last share ``falling``.
    Where that share is yet to come, it is what training by that recipe from the beginning would have come to.
    """
    from ..models.training.supervised import Fitting

    recipe = replace(fitting.recipe, falling=falling)
    nets, seed, device = fitting.n_nets, fitting.seed, fitting.device
    other = Fitting(fitting.model, recipe, fitting.task, seed=seed, nets=nets, device=device)
    other.restore({**fitting.state(), **other.identity()})
    return other


def since_learned(network: Mapping[str, Any]) -> list[float]:
    """Return the accuracies of a network at all records since the first at which it had learned its task."""
    begun = network["learned after"]
    return [] if begun is None else [share for words, share in network["trace"].items() if int(words) >= begun]


def counted_networks(row: str, networks: Sequence[dict[str, Any]], held_out: int) -> Finding:
    """Return what came of the ``networks`` of a row: how many learned their task on the way, and have it in the end."""
    nets, learned = len(networks), [one for one in networks if one["learned after"] is not None]
    dropped = sum(min(since_learned(one)) < _HALF for one in learned)
    lost = sum(one["test"]["last"] < CONVERGED for one in learned)
    right = {kind: sum(one["test"][kind] >= CONVERGED for one in networks) for kind in KINDS}
    in_the_end = ", ".join(f"{kind} {count} of {nets}" for kind, count in right.items())
    parts = [
        f"learned on the way: {len(learned)} of {nets}",
        f"of these below one half at a later record: {dropped}, without it in the end: {lost}",
        f"{CONVERGED:.0%} of the test: {in_the_end}",
    ]
    counts = {"learned": len(learned), "dropped": dropped, "lost": lost, **right}
    figures = {"row": row, "held-out words": held_out, "processor": processor(), "counts": counts}
    return Finding("; ".join(parts), {**figures, "networks": list(networks)})


# ---- Simple palindromes of Suzgun et al. 2019 with five numbers a cell: a search among settings ----
# The paper says that with five numbers a cell "our MARNNs immediately learned the task with almost full accuracy"
# (section 6.2), and by its settings stacks of ours do not. So before that is put down as a difference, settings are
# varied one at a time from two centres: the paper's, a word at a time at one rate, and the one by which Dyck languages
# are learned here, batches at a rate that falls.

SEARCH_NAME = "suzgun2019-simple-palindrome-search"
_TASK, _HIDDEN = "simple-palindrome-nonempty", 8
_SEARCHED = {"Stack-RNN+Softmax": "marnn-stack-rnn", "Stack-LSTM+Softmax": "marnn-stack-lstm"}

_SEARCH = _DECLARED[SEARCH_NAME]
# what a line is called: the settings of its centre, the paper's or the batches, with what differs
SETTINGS: dict[str, dict[str, Any]] = {
    name: {**_SEARCH["settings"]["batches" if name.startswith("batches") else "the paper's"], **changed}
    for name, changed in _SEARCH["settings"].items()
}


def setting_cells(setting: Mapping[str, Any]) -> dict[str, str]:
    """Return settings as columns of a table, by name.

    >>> setting_cells(SETTINGS["batches, three times the words"])["words"]
    '15,000'
    """
    return {
        "rate": f"{setting['rate']:g}{', falling to 0 over the last half' if setting['falling'] else ''}",
        "batch": str(setting["batch"]),
        "order": setting["order"],
        "numbers a cell": str(setting["numbers"]),
        "words": f"{setting['words']:,}",
        "epochs": str(setting["epochs"]),
    }


def simple_palindrome_search() -> Grid:
    """Return the search as a table: a line for each setting and model."""
    rows = []
    for (model, registered), (name, setting) in product(_SEARCHED.items(), SETTINGS.items()):
        cells = {"model": model, "settings": name, **setting_cells(setting)}
        changed = {key: setting[key] for key in ("rate", "batch", "order", "epochs", "falling")}
        trial = TrainedNetwork(registered, "softmax", _TASK, _HIDDEN, setting["numbers"], setting["words"], changed)
        source = "section 6.2; settings of ours but for the paper's"
        rows.append(GridRow(f"{model}, {name}", cells, partial(train_network, trial), source=source))
    grid = _grid(SEARCH_NAME, rows=tuple(rows))
    return replace(grid, scores=("train", "test"), seeds=5, note=_SEARCH["note"], protocols=("fast",))


# ---- What Suzgun et al. 2019 count in their text, counted in our results of the same tables; nothing is trained.

_MEMORY = "all with a memory"
_THEIR_COUNTS = "without the Stack-RNN by J&M"


def counts_experiment(folder: Path = FOLDER) -> Experiment:
    """Return what the text counts, from the results in ``folder``."""
    return declared_experiment("suzgun2019-counts", sys.modules[__name__], SimpleNamespace(folder=folder), ())


def count_networks(folder: Path, table: str, rows: str, least: float | None = None) -> Finding:
    """Return how many networks of ``rows`` have ``least`` or more on the test, or their highest score. These are the
    runs on the authors' words by one protocol, "paper" where it ran all rows. Raises StacklensError: none was run.
    """
    results = read_grid(table, folder)
    # a group of networks, of those rows whose name is a model's; one row by its name; or how names end, theirs only
    left_out = {"Vanilla RNN", "Vanilla LSTM", *([] if rows == _MEMORY else ["Stack-RNN by J&M"])}

    def is_counted(name: str) -> bool:
        model, _, ending = name.partition(",")
        if rows in (_MEMORY, _THEIR_COUNTS):
            return not ending and model not in left_out
        return name.endswith(rows) and model not in left_out if rows.startswith(",") else name == rows

    found = [run for run in results.rows if run.data_seed == 0 and is_counted(run.name)] if results else []
    names = {run.name for run in found}
    by_protocol = {name: [run for run in found if run.protocol == name] for name in ("paper", "fast")}
    found = next((runs for runs in by_protocol.values() if {run.name for run in runs} == names), found)
    if not found:
        raise StacklensError(f"{table} has none of these rows; run `stacklens papers run {table}` first")
    networks = sum(len(run.networks) for run in found)
    protocols = ", ".join(dict.fromkeys(run.protocol for run in found))
    figures = {"table": table, "protocol": protocols, "networks": networks}
    if least is None:
        highest = {run.name: max(max(one.scores["train"], one.scores["test"]) for one in run.networks) for run in found}
        best, full = max(highest, key=highest.__getitem__), sum(_at_least(run.networks, 1.0) for run in found)
        ours = f"{100 * highest[best]:.2f} % ({best}); {full} of {networks} with full accuracy on the test"
        return Finding(ours, {**figures, "full": full, "rows": highest})
    counts = {run.name: _at_least(run.networks, least) for run in found}
    right = sum(counts.values())
    share = "" if len(found) == 1 else f" ({100 * right / networks:.0f} %)"
    return Finding(f"{right} of {networks}{share}", {**figures, "right": right, "rows": counts})


def _at_least(networks: tuple[Network, ...], least: float) -> int:
    return sum(one.scores["test"] >= least for one in networks)


# ---- What long regular words show of the networks that come with stacklens, and what training takes away of it.
# Point by point the same: a network as the papers train it, and one trained with noise (`--noise-robust`), on words
# that repeat a block and on random words of the same length and depth (`long_words`).


def repeated_blocks() -> Experiment:
    """Return the experiment: a claim for each of some networks of the zoo."""
    return declared_experiment("suzgun2019-repeated-blocks", sys.modules[__name__], SimpleNamespace(), (1_993,))


def measure_blocks(name: str) -> Finding:
    """Return how a network of the zoo does on words that repeat a block, and on random ones."""
    from ..models.checkpoint import ZOO, load_checkpoint
    from .measures import measures_of

    checkpoint = load_checkpoint(ZOO / f"{name}.pt")
    measures = measures_of(checkpoint.model, checkpoint.task["language"])
    assert measures is not None, "these are networks with a memory, and their tasks have such words"
    long, parts = measures["long words"], []
    lengths = " / ".join(map(str, long["lengths"]))
    for net in ("network", "rounded network"):
        shown = []
        for kind, called, where in (("pumped", "repeated", f" at {lengths} symbols"), ("control", "random", "")):
            own = long[net][kind]
            shares = " / ".join(f"{100 * share:.0f}" for share in own["accuracy"])
            first = "none wrong" if own["horizon"] is None else f"first wrong after {own['horizon']}"
            shown.append(f"{called} {shares} %{where}, {first}")
        parts.append(f"{net}: {'; '.join(shown)}")
    return Finding(" – ".join(parts), {"network": name, **measures})


# ---- Accuracy along a training: the share of held-out words that networks get right, every so many updates ----
# Networks that learn a word at a time at a rate that stays high may learn a task and lose it again; only what is
# recorded on the way tells that from never having learned it. Recording disturbs nothing: networks answer without the
# noise that their gates draw in training, and a test holds that they end with the same weights, bit for bit.


class AccuracyTrace:
    """What the networks of ``fitting`` come to on the way, recorded from now on, ``every`` so many updates.
    ``examples`` are the words that they answer, which should be none of those that they are trained on. Raises
    StacklensError: there are no words, or ``every`` is less than 1.
    """

    def __init__(self, fitting: Fitting, examples: Examples, every: int, updates: int = 0) -> None:
        if not len(examples) or every < 1:
            raise StacklensError(f"a trace needs words and 1 update or more from record to record; not {every}")
        self._fitting, self._examples, self._every = fitting, examples, every
        self.done = updates  # how many updates there have been
        self.updates: list[int] = []  # after how many each record was made
        self.accuracies: list[npt.NDArray[np.float64]] = []  # the share of words right then, (nets,) each
        self.best: list[Snapshot] = []  # all networks as they were at the best record of each, the first of several
        self._record()
        fitting.watch = self._count_update

    def of(self, number: int) -> list[float]:
        """Return the accuracy of network ``number`` at every record."""
        return [float(accuracies[number]) for accuracies in self.accuracies]

    def points(self, number: int) -> dict[str, float]:
        """Return the accuracy of network ``number`` by how many updates there had been."""
        return {str(words): round(share, 4) for words, share in zip(self.updates, self.of(number), strict=True)}

    def _count_update(self) -> None:
        self.done += 1
        if self.done % self._every == 0:
            self._record()

    def _record(self) -> None:
        from ..models.training.snapshots import Snapshot
        from ..models.training.streams import word_accuracy

        net = self._fitting.net
        training = net.training
        accuracies = word_accuracy(net, self._examples)
        net.train(training)  # gates with noise draw it in training only
        now = Snapshot.of(self._fitting, self.done)
        before = self.best or [now] * len(accuracies)
        better = [all(accuracies[n] > share for share in self.of(n)) for n in range(len(accuracies))]
        self.best = [now if gains else old for gains, old in zip(better, before, strict=True)]
        self.updates.append(self.done)
        self.accuracies.append(accuracies)
