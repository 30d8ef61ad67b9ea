"""Hao, Merrill, Angluin, Frank, Amsel, Benz & Mendelsohn 2018, "Context-free transductions with neural stacks".

Table 1: six tasks, linear and LSTM controllers, with and without a stack, buffered where the paper is; the smallest,
the median and the largest accuracy of ten trials, in the last epoch of the training and on words twice as long.

Protocols: "paper" trains one trial after another, "fast" all of them side by side, which comes to the same.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..languages.catalogue import get_task
from ..languages.task import Examples
from .grid import VALIDATION, Grid, GridRow, Outcome, RunSettings
from .results import Experiment, Finding, declared, declared_experiment

if TYPE_CHECKING:
    from ..models.base import StackModel
    from .hao2018_trials import LossKind

_STATISTICS = ("min", "median", "max")
_SCORES = ("training", "test")
_BATCH = 10
_NULL = "#"


@dataclass(frozen=True)
class PaperTask:
    """One of the six tasks, and what is particular about it."""

    name: str  # that of `languages.hao2018`
    shown: str  # the paper's
    experiment: int  # of section 5
    loss: LossKind  # how the authors' program adds up what a batch costs
    cell_size: int = 2  # how many numbers a pushed value has
    extra_steps: int = 0  # of buffered networks, see `BufferedConfig`
    padded: int | None = None  # of buffered networks, see `TrialSettings`


def _condition_row(task: str, controller: str, memory: str, reported: str = "") -> GridRow:
    """Return a line of table 1: a task, "linear" or "LSTM", "stack", "buffered" or "no stack", and what is printed."""
    what = PaperTask(task, **declared("hao2018")["hao2018-table1"]["tasks"][task])
    kind = "" if memory == "stack" else f"{memory}, "
    buffered, stack = memory == "buffered", memory != "no stack"
    shown = {True: "yes", False: "no"}
    cells = {"task": what.shown, "buffered": shown[buffered], "controller": controller, "stack": shown[stack]}
    columns = (f"{score} {statistic}" for score in _SCORES for statistic in _STATISTICS)
    figures = dict(zip(columns, reported.split(), strict=bool(reported)))
    source = f"section 5, experiment {what.experiment}, table 1; losses and initial weights: the authors' program"
    train = partial(_train_condition, what, controller.lower(), memory)
    return GridRow(f"{what.shown}, {kind}{controller}", cells, train, figures, source, stacks=stack)


def _train_condition(what: PaperTask, controller: str, memory: str, settings: RunSettings) -> list[Outcome]:
    from .hao2018_trials import TrialSettings, run_trials

    # the model, and its shape besides the alphabet
    task, buffered = get_task(what.name), memory == "buffered"
    shape: dict[str, Any] = {"controller": controller, "output_alphabet": task.output_alphabet, "hidden": 10}
    if memory == "no stack":
        model = controller
        shape |= {"task_kind": "transduction"}
    else:
        model = "buffered-neural-stack" if buffered else "neural-stack"
        shape |= {"cell_size": what.cell_size, "null": _NULL if _NULL in task.alphabet else None}
        shape |= {"extra_steps": what.extra_steps} if buffered else {}
    how = TrialSettings(
        words=_BATCH * settings.scaled(80),
        dev_words=settings.scaled(100, least=10),
        test_words=settings.scaled(1_000, least=10),
        batch=_BATCH,
        epochs=settings.scaled(100),
        loss=what.loss,
        padded=what.padded if buffered else None,
    )
    groups = [settings.seeds] if settings.protocol == "fast" else [(seed,) for seed in settings.seeds]
    return [
        Outcome(
            trial.seed, {"training": trial.last, VALIDATION: trial.best, "test": trial.test}, trial.network, what.name
        )
        for seeds in groups
        for trial in run_trials(model, shape, task, seeds, how, settings.device)
    ]


def table1() -> Grid:
    """Return table 1, all 18 lines."""
    content = declared("hao2018")
    own = content["hao2018-table1"]
    rows = tuple(_condition_row(*line) for line in own["rows"])
    return Grid("hao2018-table1", content["paper"], own["title"], rows, _SCORES, _STATISTICS, note=own["note"])


# ---- How networks use their stacks: section 6 with figures 5 and 6, measured on ten of each ----
# Networks are trained as for table 1, from the same seeds, so that they are those of the table. On fresh words of the
# training's lengths every network is run as it is, without its stack (it reads what an empty one shows), and without
# its pops (their strength is 0); accuracies are shares of the symbols that count. A pop has a strength of 0.5 or more.

_SETTINGS = RunSettings(tuple(range(10)))
_WORDS, _WORDS_SEED = 200, 2_000_003  # which no trial draws
_POP, _PUSH = 0, 1  # the order of the strengths
_LOSES, _LEARNED = 0.01, 0.99  # of the accuracy
_UNIFORM = 0.05  # of a strength over all steps
_ABLATED = ("without the stack", "without pops")


def claims_experiment(settings: RunSettings = _SETTINGS) -> Experiment:
    """Return the statements of section 6 on the use of stacks; ``settings`` say how networks are trained."""
    seeds = *settings.seeds, _WORDS_SEED
    return declared_experiment("hao2018-claims", sys.modules[__name__], settings, seeds, networks=len(settings.seeds))


@lru_cache(maxsize=8)
def trained_networks(row: str, settings: RunSettings = _SETTINGS) -> tuple[Outcome, ...]:
    """Return the networks of a row of table 1, or of reversal with excluded symbols, trained anew."""
    rows: Iterable[GridRow] = (*table1().rows, _condition_row("reversal-with-excluded", "linear", "stack"))
    (found,) = (one for one in rows if one.name == row)
    return tuple(found.train(settings))


def _each(row: str, settings: RunSettings, measure: Callable[[Any, Any, Examples], dict[str, float]]) -> list[Any]:
    """Return what ``measure`` makes of every network of a row: of it, of its trace, and of the words."""
    from ..probe.trace import trace

    found = []
    for outcome in trained_networks(row, settings):
        assert outcome.model is not None
        assert outcome.task is not None
        examples = get_task(outcome.task).sample(settings.scaled(_WORDS, least=10), seed=_WORDS_SEED)
        seen = trace(outcome.model, examples.words)
        accuracy = _symbol_accuracy(outcome.model, examples)
        found.append({"seed": outcome.seed, "accuracy": accuracy, **measure(outcome.model, seen, examples)})
    return found


def use_of_stack(row: str, settings: RunSettings) -> Finding:
    """Return what is left without the stack and without pops, and how strengths are."""

    def measure(net: StackModel[Any], seen: Any, examples: Examples) -> dict[str, float]:
        from ..probe.attribution import Ablated

        read = examples.symbols >= 0
        pops, pushes = (seen.actions[:, :, 0, which][read] for which in (_POP, _PUSH))
        return {
            "without the stack": _symbol_accuracy(Ablated(net, stacks=[0]), examples),
            "without pops": _symbol_accuracy(Ablated(net, operation=_POP), examples),
            "popping steps": float((pops >= 0.5).mean()),
            "largest pop": float(pops.max()),
            "mean pop": float(pops.mean()),
            "deviation of pops": float(pops.std()),
            "mean push": float(pushes.mean()),
            "deviation of pushes": float(pushes.std()),
        }

    return stack_use(_each(row, settings, measure))


def stack_use(found: list[dict[str, float]]) -> Finding:
    """Return what to say of networks whose use of their stacks was measured, one entry each."""
    lose = {what: sum(one["accuracy"] - one[what] > _LOSES for one in found) for what in _ABLATED}
    never = sum(one["popping steps"] == 0 for one in found)
    uniform = sum(one["deviation of pops"] < _UNIFORM for one in found)
    parts = [
        f"{never} of {len(found)} never pop, {uniform} pop alike in all steps (deviation below {_UNIFORM})",
        f"pop {_median(found, 'mean pop')} ± {_median(found, 'deviation of pops')}, "
        f"push {_median(found, 'mean push')} ± {_median(found, 'deviation of pushes')}",
        f"accuracy {_range(found, 'accuracy')}",
        *(f"{what} {_range(found, what)}, more than a point less in {lose[what]}" for what in _ABLATED),
    ]
    return Finding("; ".join(parts), {"networks": found, "lose": lose, "never_pop": never, "uniform": uniform})


def phases(row: str, settings: RunSettings) -> Finding:
    """Return how strongly a network pushes while it reads, and pops while it says what it read."""

    def measure(net: StackModel[Any], seen: Any, examples: Examples) -> dict[str, float]:
        from ..probe.attribution import Ablated

        null = examples.alphabet.index("#")
        reads, says = (examples.symbols >= 0) & (examples.symbols != null), examples.symbols == null
        return {
            "without the stack": _symbol_accuracy(Ablated(net, stacks=[0]), examples),
            "push while reading": _mean_strength(seen, _PUSH, reads),
            "pop while reading": _mean_strength(seen, _POP, reads),
            "push while saying": _mean_strength(seen, _PUSH, says),
            "pop while saying": _mean_strength(seen, _POP, says),
        }

    found = _each(row, settings, measure)
    learned = [one for one in found if one["accuracy"] >= _LEARNED]
    names = [name for name in found[0] if name.startswith(("push", "pop"))]
    strengths = ", ".join(f"{name} {_median(learned, name)}" for name in names)
    shown = (
        f"{len(learned)} of {len(found)} learn it; of these the median {strengths}; "
        f"accuracy {_range(learned, 'accuracy')}, without the stack {_range(learned, 'without the stack')}"
    )
    return Finding(shown, {"networks": found, "learned": len(learned)})


def included(row: str, settings: RunSettings) -> Finding:
    """Return how strongly symbols are pushed that come again, and those that are not."""

    def measure(_net: StackModel[Any], seen: Any, examples: Examples) -> dict[str, float]:
        kinds = {"included": "01", "excluded": [one for one in examples.alphabet if one not in "01#"]}
        masks = {
            kind: np.isin(examples.symbols, [examples.alphabet.index(one) for one in letters])
            for kind, letters in kinds.items()
        }
        return {f"push of {kind}": _mean_strength(seen, _PUSH, mask) for kind, mask in masks.items()}

    found = _each(row, settings, measure)
    learned = [one for one in found if one["accuracy"] >= _LEARNED]
    only = sum(one["push of included"] >= 0.5 > one["push of excluded"] for one in learned)
    shown = (
        f"{len(learned)} of {len(found)} learn it; {only} of these push included symbols with a half or more and "
        f"excluded ones with less; medians {_median(learned, 'push of included')} and "
        f"{_median(learned, 'push of excluded')}"
    )
    return Finding(shown, {"networks": found, "learned": len(learned), "push_included_only": only})


def _symbol_accuracy(net: StackModel[Any], examples: Examples) -> float:
    from ..models.inference import outputs_on

    return float(examples.symbol_accuracy(outputs_on(net, examples.words)))


def _mean_strength(seen: Any, which: int, mask: np.ndarray) -> float:
    return float(seen.actions[:, :, 0, which][mask].mean())


def _range(networks: list[Any], name: str) -> str:
    if not networks:
        return "–"
    values = [100 * one[name] for one in networks]
    return f"{statistics.median(values):.1f} % ({min(values):.1f}–{max(values):.1f})"


def _median(networks: list[Any], name: str) -> str:
    return f"{statistics.median(one[name] for one in networks):.2f}" if networks else "–"
