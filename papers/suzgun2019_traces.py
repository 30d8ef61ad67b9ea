"""D6 of Suzgun et al. 2019 by the paper's own settings, watched: which networks learn it on the way, and lose it again.

Three networks of every seed stand beside each other: the last one, which the paper's protocol keeps; the one that was
best on held-out words on the way; and the last one of a training whose rate falls to 0 over its last third and which is
the same until then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from stacklens.papers.claims import Experiment, Finding, PaperClaim
from stacklens.papers.grid import CONVERGED, RunSettings
from stacklens.papers.results import processor
from stacklens.papers.suzgun2019 import PAPER, networks_of_table, table_of_models
from stacklens.papers.suzgun2019_training import TrainedNetwork, recipe_of, words_of_test

if TYPE_CHECKING:
    from stacklens.languages.tasks.task import Examples
    from stacklens.models.training.accuracy_traces import AccuracyTrace
    from stacklens.models.training.supervised import Fitting

__all__ = [
    "KINDS",
    "NAME",
    "TRACED",
    "TraceSizes",
    "counted_networks",
    "traces_experiment",
    "with_falling_rate",
]

NAME = "suzgun2019-traces"
# rows of table 4; gates with Gumbel noise would draw it in the paper's test, too, and tell less from record to record
TRACED = ("Stack-RNN+Softmax",)
KINDS = ("last", "best on the way", "rate falling")
_HELD_OUT_SEED = 4_052  # of the words that networks answer on the way
_HALF = 0.5  # below it a network that had learned its task is said to have dropped it
_PARTS = 3  # of which the rate falls in the last: epochs, by the paper's protocol


@dataclass(frozen=True)
class TraceSizes:
    """How much is trained and asked: networks a row, words asked on the way, words from record to record.

    ``scale`` is that of `RunSettings`, for trials.
    """

    networks: int = 10
    held_out: int = 200
    every: int = 1_000
    scale: float = 1.0


def traces_experiment(sizes: TraceSizes | None = None) -> Experiment:
    """Return the experiment: a claim for each of the rows `TRACED`."""
    used = sizes or TraceSizes()
    claims = tuple(
        PaperClaim(
            "5.2",
            f"D6, {row.name}: {CONVERGED:.0%} of the words right on the way, and in the end",
            "last networks, test: {} %".format(" / ".join(row.reported[f"test {name}"] for name in _STATISTICS)),
            partial(_measure, row.name, used),
        )
        for row in table_of_models(4).chosen_rows(TRACED)
    )
    title = (
        f"D6 by the paper's settings, accuracy along the training on {used.held_out} held-out words of the test's "
        f"sizes; rate falling: to 0 as half a cosine over the last of {_PARTS} epochs; the paper: "
    ) + " / ".join(_STATISTICS)
    return Experiment(NAME, PAPER, title, claims, tuple(range(used.networks)))


_STATISTICS = ("min", "max", "median", "mean")


def _measure(row: str, sizes: TraceSizes) -> Finding:
    from stacklens.models.training.accuracy_traces import AccuracyTrace
    from stacklens.models.training.scores import word_accuracy

    settings = RunSettings(tuple(range(sizes.networks)), "paper", scale=sizes.scale)
    fitting = _training(networks_of_table(4)[row], settings)
    test = words_of_test(fitting.task, settings)
    held_out = _held_out(fitting, test, sizes.held_out)
    trace = AccuracyTrace(fitting, held_out, sizes.every)
    while fitting.epochs_done < _PARTS - 1:
        fitting.epoch()
    falling = with_falling_rate(fitting, 1 / _PARTS)
    last_part = AccuracyTrace(falling, held_out, sizes.every, trace.done)
    fitting.run()
    falling.run()
    ends = word_accuracy(fitting.net, test), word_accuracy(falling.net, test)
    networks = []
    for number in range(sizes.networks):
        best = float(word_accuracy(trace.best_network(number), test)[0])
        scores = dict(zip(KINDS, (float(ends[0][number]), best, float(ends[1][number])), strict=True))
        networks.append(_network(number, scores, trace, last_part))
    return counted_networks(row, networks, len(held_out))


def _training(trial: TrainedNetwork, settings: RunSettings) -> Fitting:
    from stacklens.languages import get_task
    from stacklens.models.training.supervised import Fitting

    recipe = replace(recipe_of(trial, settings), epochs=_PARTS, check_every=_PARTS)
    return Fitting(trial.model, recipe, get_task(trial.task), nets=len(settings.seeds))


def _held_out(fitting: Fitting, test: Examples, words: int) -> Examples:
    drawn = fitting.task.sample(words, split="test", seed=_HELD_OUT_SEED)
    tested = set(test.words)
    return fitting.task.examples([word for word in drawn.words if word not in tested])


def with_falling_rate(fitting: Fitting, falling: float) -> Fitting:
    """Return a training that goes on where ``fitting`` is, but with a rate that falls over the last share ``falling``.

    Where that share is yet to come, it is what training by that recipe from the beginning would have come to.
    """
    from stacklens.models.training.supervised import Fitting

    recipe = replace(fitting.recipe, falling=falling)
    nets, seed, device = fitting.n_nets, fitting.seed, fitting.device
    other = Fitting(fitting.model, recipe, fitting.task, seed=seed, nets=nets, device=device)
    other.restore({**fitting.state(), **other.identity()})
    return other


def _network(seed: int, test: dict[str, float], trace: AccuracyTrace, last_part: AccuracyTrace) -> dict[str, Any]:
    """Return what is kept of a network: its scores, when it had learned and was best, and its traces."""
    whole = trace.of(seed)
    learned = next((words for words, share in zip(trace.updates, whole, strict=True) if share >= CONVERGED), None)
    return {
        "seed": seed,
        "test": test,
        "learned after": learned,
        "best after": trace.updates[trace.best[seed]],
        "trace": _points(trace, seed),
        "trace, rate falling": _points(last_part, seed),
    }


def _points(trace: AccuracyTrace, number: int) -> dict[str, float]:
    return {str(words): round(share, 4) for words, share in zip(trace.updates, trace.of(number), strict=True)}


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
    told = ", ".join(f"{kind} {count} of {nets}" for kind, count in right.items())
    parts = (
        f"learned on the way: {len(learned)} of {nets}",
        f"of these below one half at a later record: {dropped}, without it in the end: {lost}",
        f"{CONVERGED:.0%} of the test: {told}",
    )
    figures = {
        "row": row,
        "held-out words": held_out,
        "processor": processor(),
        "counts": {"learned": len(learned), "dropped": dropped, "lost": lost, **right},
        "networks": list(networks),
    }
    return Finding("; ".join(parts), figures)
