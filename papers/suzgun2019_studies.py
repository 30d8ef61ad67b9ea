"""D6 of Suzgun et al. 2019 at the rate of their program, watched: which networks learn it, and lose it again.

Three networks of every seed stand beside each other: the last one, as the paper's protocol keeps; the one that was best
on held-out words on the way; and the last one where the rate falls to 0 over the last third.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..core.errors import StacklensError
from ..languages.catalogue import get_task
from ..languages.task import Examples
from ..models.training.recipes import SUZGUN
from .grid import CONVERGED, Grid, GridRow, Network, RunSettings, read_grid
from .measures import measures_of
from .results import FOLDER, Experiment, Finding, declared, declared_experiment, processor
from .suzgun2019 import TrainedNetwork, networks_of_table, recipe_of, train_network, words_of_test

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..models.training.snapshots import Snapshot
    from ..models.training.supervised import Fitting

_DECLARED = declared("suzgun2019")
TRACES_NAME = "suzgun2019-traces"
KINDS = ("last", "best on the way", "rate falling")
_HELD_OUT_SEED = 4_052  # of the words that networks answer on the way
_HALF = 0.5  # below it a network that had learned its task has dropped it
_PARTS = 3  # of which the rate falls in the last: epochs, by the paper's protocol


@dataclass(frozen=True)
class TraceSizes:
    """How much is trained and asked: networks a row, words asked on the way, from record to record; a trial's
    ``scale``.
    """

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
_MODELS = {"Stack-RNN+Softmax": "marnn-stack-rnn", "Stack-LSTM+Softmax": "marnn-stack-lstm"}

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
    for (model, registered), (name, setting) in product(_MODELS.items(), SETTINGS.items()):
        cells = {"model": model, "settings": name, **setting_cells(setting)}
        changed = {key: setting[key] for key in ("rate", "batch", "order", "epochs", "falling")}
        trial = TrainedNetwork(registered, "softmax", _TASK, _HIDDEN, setting["numbers"], setting["words"], changed)
        source = "section 6.2; settings of ours but for the paper's"
        rows.append(GridRow(f"{model}, {name}", cells, partial(train_network, trial), source=source))
    return Grid(
        SEARCH_NAME,
        _DECLARED["paper"],
        _SEARCH["title"],
        tuple(rows),
        ("train", "test"),
        ("min", "max", "median", "mean"),
        seeds=5,
        digits=2,
        note=_SEARCH["note"],
        data_seeds=True,
        protocols=("fast",),
    )


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
