"""Hao, Merrill, Angluin, Frank, Amsel, Benz & Mendelsohn 2018, "Context-free transductions with neural stacks".

Table 1: six tasks, linear and LSTM controllers, with and without a stack, buffered where the paper is; the smallest,
the median and the largest accuracy of ten trials, in the last epoch of the training and on words twice as long.

Protocols: "paper" trains one trial after another, "fast" all of them side by side, which comes to the same.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from .grid import VALIDATION, Grid, GridRow, Outcome, RunSettings
from .results import Experiment, Finding, PaperClaim

if TYPE_CHECKING:
    import numpy as np

    from ..languages.task import Examples
    from ..models.base import StackModel
    from .hao2018_trials import LossKind


PAPER = "Hao et al. 2018"
_STATISTICS = ("min", "median", "max")
_SCORES = ("training", "test")
_BATCH = 10
_LONGEST = 24  # symbols of a reversal, nulls included: section 5 and the authors' program
_NULL = "#"


@dataclass(frozen=True)
class _PaperTask:
    """One of the six tasks, and what is particular about it.

    Attributes:
        name: that of `languages.tasks`.
        shown: the paper's.
        experiment: of section 5.
        loss: how the authors' program adds up what a batch costs.
        cell_size: how many numbers a pushed value has.
        extra_steps, padded: of buffered networks, see `BufferedConfig` and `TrialSettings`.
    """

    name: str
    shown: str
    experiment: int
    loss: LossKind
    cell_size: int = 2
    extra_steps: int = 0
    padded: int | None = None


@dataclass(frozen=True)
class _Condition:
    """A line of table 1.

    Attributes:
        task: what is learned.
        controller: "linear" or "LSTM".
        reported: minimum, median and maximum in the last epoch, then on the test words, in percent as printed; empty
            where nothing is printed.
        stack, buffered: whether it has a stack, and buffers.
    """

    task: _PaperTask
    controller: str
    reported: tuple[str, ...]
    stack: bool = True
    buffered: bool = False

    @property
    def name(self) -> str:
        """Return what the row is called."""
        kind = "buffered, " if self.buffered else "" if self.stack else "no stack, "
        return f"{self.task.shown}, {kind}{self.controller}"

    @property
    def row(self) -> GridRow:
        """Return the row of the grid."""
        columns = [f"{score} {statistic}" for score in _SCORES for statistic in _STATISTICS][: len(self.reported)]
        cells = {
            "task": self.task.shown,
            "buffered": "yes" if self.buffered else "no",
            "controller": self.controller,
            "stack": "yes" if self.stack else "no",
        }
        reported = dict(zip(columns, self.reported, strict=True))
        source = (
            f"section 5, experiment {self.task.experiment}, table 1; losses and initial weights: the authors' program"
        )
        return GridRow(self.name, cells, partial(_train_condition, self), reported, source, stacks=self.stack)


def _train_condition(condition: _Condition, settings: RunSettings) -> list[Outcome]:
    """Return the trials of one line, trained as the settings say."""
    from ..languages.catalogue import get_task
    from .hao2018_trials import TrialSettings, run_trials

    # the model, and its shape besides the alphabet
    what, model = condition.task, condition.controller.lower()
    task = get_task(what.name)
    shape: dict[str, Any] = {"controller": model, "output_alphabet": task.output_alphabet, "hidden": 10}
    if condition.stack:
        model = "buffered-neural-stack" if condition.buffered else "neural-stack"
        shape |= {"cell_size": what.cell_size, "null": _NULL if _NULL in task.alphabet else None}
        shape |= {"extra_steps": what.extra_steps} if condition.buffered else {}
    else:
        shape |= {"task_kind": "transduction"}
    how = TrialSettings(
        words=_BATCH * settings.scaled(80),
        dev_words=settings.scaled(100, least=10),
        test_words=settings.scaled(1_000, least=10),
        batch=_BATCH,
        epochs=settings.scaled(100),
        loss=what.loss,
        padded=what.padded if condition.buffered else None,
    )
    groups = [settings.seeds] if settings.protocol == "fast" else [(seed,) for seed in settings.seeds]
    return [
        Outcome(
            trial.seed,
            {"training": trial.last, VALIDATION: trial.best, "test": trial.test},
            trial.network,
            what.name,
        )
        for seeds in groups
        for trial in run_trials(model, shape, task, seeds, how, settings.device)
    ]


_REVERSAL = _PaperTask("reversal", "Reversal", 1, "step means", padded=_LONGEST)
_XOR = _PaperTask("xor", "XOR", 2, "step means", cell_size=6, extra_steps=1)
_DELAYED_XOR = _PaperTask("delayed-xor", "Delayed XOR", 2, "step means", cell_size=6)
_PARENTHESES = _PaperTask("parenthesis-prediction", "Parenthesis", 3, "sum")
_FORMULA = _PaperTask("boolean-formula", "Formula", 4, "step shares")
_AGREEMENT = _PaperTask("agreement", "Agreement", 4, "sum")

_CONDITIONS = (
    _Condition(_REVERSAL, "linear", ("49.9", "100.0", "100.0", "49.3", "100.0", "100.0")),
    _Condition(_REVERSAL, "linear", ("55.3", "98.7", "99.4", "49.5", "60.4", "74.7"), buffered=True),
    _Condition(_REVERSAL, "LSTM", ("81.2", "89.3", "94.4", "67.2", "71.0", "73.7")),
    _Condition(_REVERSAL, "LSTM", ("83.0", "86.5", "92.5", "64.8", "68.6", "73.3"), stack=False),
    _Condition(_XOR, "linear", ("51.1", "53.5", "54.4", "50.7", "51.9", "51.9")),
    _Condition(_XOR, "LSTM", ("100.0", "100.0", "100.0", "99.7", "100.0", "100.0")),
    _Condition(_XOR, "linear", ("51.0", "99.8", "100.0", "50.4", "96.0", "99.1"), buffered=True),
    _Condition(_DELAYED_XOR, "linear", ("100.0", "100.0", "100.0", "100.0", "100.0", "100.0")),
    _Condition(_PARENTHESES, "linear", ("72.8", "97.0", "99.3", "59.9", "80.3", "83.2")),
    _Condition(_PARENTHESES, "linear", ("70.0", "71.8", "73.3", "59.9", "60.5", "60.7"), stack=False),
    _Condition(_PARENTHESES, "LSTM", ("100.0", "100.0", "100.0", "85.8", "86.8", "88.9")),
    _Condition(_PARENTHESES, "LSTM", ("100.0", "100.0", "100.0", "83.5", "85.8", "88.0"), stack=False),
    _Condition(_FORMULA, "linear", ("87.4", "92.0", "97.3", "87.8", "91.2", "96.2")),
    _Condition(_FORMULA, "LSTM", ("98.0", "98.7", "99.4", "96.8", "97.7", "98.4")),
    _Condition(_FORMULA, "LSTM", ("95.4", "98.5", "99.3", "95.3", "97.6", "98.4"), stack=False),
    _Condition(_AGREEMENT, "linear", ("53.3", "73.5", "93.9", "51.8", "68.8", "85.8")),
    _Condition(_AGREEMENT, "LSTM", ("95.6", "98.5", "99.7", "82.4", "88.8", "91.2")),
    _Condition(_AGREEMENT, "LSTM", ("96.2", "98.1", "100.0", "83.7", "88.2", "90.6"), stack=False),
)


EXCLUDED = _Condition(_PaperTask("reversal-with-excluded", "Reversal with excluded", 1, "step means"), "linear", ())

_NOTE = (
    "Training is the accuracy on 100 words of the training lengths after the last epoch, which comes after five "
    "without a better one; the test is the same network's, on 1,000 words about twice as long. An automaton is looked "
    "for where the test is at 99 % or more. Buffered reversal stops short of 100 because the output is dequeued before "
    "it is read, as in the authors' program: the last symbol of the longest words is never seen. Losses are summed "
    "over the steps of a word, as in that program; averaged over all positions weight decay counts ten times as much, "
    "and gates do not close. One figure is below the paper's by more than its spread: a trial of delayed XOR that is "
    "perfect in training ends, as all do, five epochs later, with 99.8 on the test, which a longer patience mends"
)


def table1() -> Grid:
    """Return table 1, all 18 lines."""
    return Grid(
        "hao2018-table1",
        PAPER,
        "table 1: accuracy on six tasks, in the last epoch of the training and on longer words",
        tuple(condition.row for condition in _CONDITIONS),
        scores=_SCORES,
        statistics=_STATISTICS,
        note=_NOTE,
    )


def grids() -> dict[str, Callable[[], Grid]]:
    """Return the grids of this paper by name."""
    return {"hao2018-table1": table1}


# ---- How networks use their stacks: what Hao et al. 2018 say in section 6 with figures 5 and 6, measured on ten of
# each.
#
# Networks are trained as for table 1, from the same seeds, so that they are those of the table. On fresh words of the
# training's lengths every network is run as it is, without its stack (it reads what an empty one shows), and without
# its pops (their strength is 0); accuracies are shares of the symbols that count. A step pops where its strength is a
# half or more, as rounding has it.

_SETTINGS = RunSettings(tuple(range(10)))
_WORDS, _WORDS_SEED = 200, 2_000_003  # which no trial draws
_POP, _PUSH = 0, 1  # the order of the strengths
_LOSES, _LEARNED = 0.01, 0.99  # of the accuracy
_UNIFORM = 0.05  # of a strength over all steps
_ABLATED = ("without the stack", "without pops")


def claims_experiment(settings: RunSettings = _SETTINGS) -> Experiment:
    """Return the statements of section 6 on the use of stacks; ``settings`` say how networks are trained."""
    unaffected = (
        "experiment 4: the LSTM does not use its stack",
        "performance is unaffected by the presence of the stack",
    )
    claims = (
        (
            "Reversal, linear",
            "figure 5, left: the linear controller pushes a copy of its input and pops it",
            "pushes a copy of its input to the stack and then pops the copy to produce the output",
        ),
        (
            EXCLUDED.name,
            "figure 5, centre: reversal with excluded symbols",
            "only symbols included in the reversed output are pushed to the stack",
        ),
        (
            "Reversal, LSTM",
            "figure 5, right: the LSTM on reversal does not use its stack",
            "uniform pushing and popping; prefers to rely on its recurrent state",
        ),
        (
            "Delayed XOR, linear",
            "figure 6, left: the stack as unstructured memory",
            "uses the stack as unstructured memory; pushed vectors vary between two values, the parity",
        ),
        (
            "Parenthesis, linear",
            "figure 6, right: the linear controller never pops",
            "they do not make use of a stack-based strategy (since they never pop)",
        ),
        (
            "Parenthesis, LSTM",
            "experiment 3: the LSTM does not use its stack",
            "the LSTM models are not employing a stack-based strategy",
        ),
        ("Formula, LSTM", *unaffected),
        ("Agreement, LSTM", *unaffected),
    )
    measures = {"Reversal, linear": _phases, EXCLUDED.name: _included}
    return Experiment(
        "hao2018-claims",
        PAPER,
        f"section 6: how networks use their stacks, {len(settings.seeds)} networks each",
        tuple(
            PaperClaim("6", f"{what} ({row})", paper, partial(measures.get(row, _stack_use), row, settings))
            for row, what, paper in claims
        ),
        (*settings.seeds, _WORDS_SEED),
    )


@lru_cache(maxsize=8)
def trained_networks(row: str, settings: RunSettings = _SETTINGS) -> tuple[Outcome, ...]:
    """Return the networks of a row of table 1, or of reversal with excluded symbols, trained anew."""
    rows: Iterable[GridRow] = (*table1().rows, EXCLUDED.row)
    (found,) = (one for one in rows if one.name == row)
    return tuple(found.train(settings))


def _each(row: str, settings: RunSettings, measure: Callable[[Any, Any, Examples], dict[str, float]]) -> list[Any]:
    """Return what ``measure`` makes of every network of a row: of it, of its trace, and of the words."""
    from ..languages.catalogue import get_task
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


def _stack_use(row: str, settings: RunSettings) -> Finding:
    """Return what is left without the stack and without pops, and how strengths are."""

    def measure(net: StackModel[Any], seen: Any, examples: Examples) -> dict[str, float]:
        from ..probe.attribution import Ablated

        read = examples.symbols >= 0
        pops, pushes = (seen.actions[:, :, 0, which][read] for which in (_POP, _PUSH))
        return {
            "without the stack": _symbol_accuracy(Ablated(net, stack=0), examples),
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
        f"pop {_median(found, 'mean pop', 2)} ± {_median(found, 'deviation of pops', 2)}, "
        f"push {_median(found, 'mean push', 2)} ± {_median(found, 'deviation of pushes', 2)}",
        f"accuracy {_range(found, 'accuracy')}",
        *(f"{what} {_range(found, what)}, more than a point less in {lose[what]}" for what in _ABLATED),
    ]
    return Finding("; ".join(parts), {"networks": found, "lose": lose, "never_pop": never, "uniform": uniform})


def _phases(row: str, settings: RunSettings) -> Finding:
    """Return how strongly a network pushes while it reads, and pops while it says what it read."""

    def measure(net: StackModel[Any], seen: Any, examples: Examples) -> dict[str, float]:
        from ..probe.attribution import Ablated

        null = examples.alphabet.index("#")
        reads, says = (examples.symbols >= 0) & (examples.symbols != null), examples.symbols == null
        return {
            "without the stack": _symbol_accuracy(Ablated(net, stack=0), examples),
            "push while reading": _mean_strength(seen, _PUSH, reads),
            "pop while reading": _mean_strength(seen, _POP, reads),
            "push while saying": _mean_strength(seen, _PUSH, says),
            "pop while saying": _mean_strength(seen, _POP, says),
        }

    found = _each(row, settings, measure)
    learned = [one for one in found if one["accuracy"] >= _LEARNED]
    names = [name for name in found[0] if name.startswith(("push", "pop"))]
    strengths = ", ".join(f"{name} {_median(learned, name, 2)}" for name in names)
    shown = (
        f"{len(learned)} of {len(found)} learn it; of these the median {strengths}; "
        f"accuracy {_range(learned, 'accuracy')}, without the stack {_range(learned, 'without the stack')}"
    )
    return Finding(shown, {"networks": found, "learned": len(learned)})


def _included(row: str, settings: RunSettings) -> Finding:
    """Return how strongly symbols are pushed that come again, and those that are not."""
    included = "01"

    def measure(net: StackModel[Any], seen: Any, examples: Examples) -> dict[str, float]:
        del net
        kinds = {"included": included, "excluded": [one for one in examples.alphabet if one not in (*included, "#")]}
        masks = {
            kind: sum((examples.symbols == examples.alphabet.index(one) for one in letters), examples.symbols < -1)
            for kind, letters in kinds.items()
        }
        return {f"push of {kind}": _mean_strength(seen, _PUSH, mask > 0) for kind, mask in masks.items()}

    found = _each(row, settings, measure)
    learned = [one for one in found if one["accuracy"] >= _LEARNED]
    only = sum(one["push of included"] >= 0.5 > one["push of excluded"] for one in learned)
    shown = (
        f"{len(learned)} of {len(found)} learn it; {only} of these push included symbols with a half or more and "
        f"excluded ones with less; medians {_median(learned, 'push of included', 2)} and "
        f"{_median(learned, 'push of excluded', 2)}"
    )
    return Finding(shown, {"networks": found, "learned": len(learned), "push_included_only": only})


def _symbol_accuracy(net: StackModel[Any], examples: Examples) -> float:
    """Return the share of the symbols that count which a network says right."""
    from ..models.inference import outputs_on

    return float(examples.symbol_accuracy(outputs_on(net, examples.words)))


def _mean_strength(seen: Any, which: int, mask: np.ndarray) -> float:
    return float(seen.actions[:, :, 0, which][mask].mean())


def _range(networks: list[Any], name: str) -> str:
    """Return the median in percent, with the smallest and the largest."""
    if not networks:
        return "–"
    values = [100 * one[name] for one in networks]
    return f"{statistics.median(values):.1f} % ({min(values):.1f}–{max(values):.1f})"


def _median(networks: list[Any], name: str, digits: int) -> str:
    return f"{statistics.median(one[name] for one in networks):.{digits}f}" if networks else "–"
