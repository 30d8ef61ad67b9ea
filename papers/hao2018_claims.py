"""How networks use their stacks: what Hao et al. 2018 say in section 6 with figures 5 and 6, measured on ten of each.

Networks are trained as for table 1, from the same seeds, so that they are those of the table. On fresh words of the
training's lengths every network is run as it is, without its stack (it reads what an empty one shows), and without its
pops (their strength is 0); accuracies are shares of the symbols that count. A step pops where its strength is a half or
more, as rounding has it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from stacklens.papers.claims import Experiment, Finding, PaperClaim
from stacklens.papers.grid import GridRow, Outcome, RunSettings
from stacklens.papers.hao2018 import EXCLUDED, PAPER, table1

if TYPE_CHECKING:
    import numpy as np

    from stacklens.languages.tasks.task import Examples
    from stacklens.models.base import StackModel

__all__ = ["claims_experiment", "stack_use", "trained_networks"]

_SETTINGS = RunSettings(tuple(range(10)))
_WORDS, _WORDS_SEED = 200, 2_000_003  # which no trial draws
_POP, _PUSH = 0, 1  # the order of the strengths
_LOSES, _LEARNED = 0.01, 0.99  # of the accuracy
_UNIFORM = 0.05  # of a strength over all steps
_ABLATED = ("without the stack", "without pops")


def claims_experiment(settings: RunSettings = _SETTINGS) -> Experiment:
    """Return the statements of section 6 on the use of stacks; ``settings`` say how networks are trained."""
    claims = (
        (
            "Reversal, linear",
            "figure 5, left: the linear controller pushes a copy of its input and pops it",
            "pushes a copy of its input to the stack and then pops the copy to produce the output",
            _phases,
        ),
        (
            EXCLUDED.name,
            "figure 5, centre: reversal with excluded symbols",
            "only symbols included in the reversed output are pushed to the stack",
            _included,
        ),
        (
            "Reversal, LSTM",
            "figure 5, right: the LSTM on reversal does not use its stack",
            "uniform pushing and popping; prefers to rely on its recurrent state",
            _stack_use,
        ),
        (
            "Delayed XOR, linear",
            "figure 6, left: the stack as unstructured memory",
            "uses the stack as unstructured memory; pushed vectors vary between two values, the parity",
            _stack_use,
        ),
        (
            "Parenthesis, linear",
            "figure 6, right: the linear controller never pops",
            "they do not make use of a stack-based strategy (since they never pop)",
            _stack_use,
        ),
        (
            "Parenthesis, LSTM",
            "experiment 3: the LSTM does not use its stack",
            "the LSTM models are not employing a stack-based strategy",
            _stack_use,
        ),
        (
            "Formula, LSTM",
            "experiment 4: the LSTM does not use its stack",
            "performance is unaffected by the presence of the stack",
            _stack_use,
        ),
        (
            "Agreement, LSTM",
            "experiment 4: the LSTM does not use its stack",
            "performance is unaffected by the presence of the stack",
            _stack_use,
        ),
    )
    return Experiment(
        "hao2018-claims",
        PAPER,
        f"section 6: how networks use their stacks, {len(settings.seeds)} networks each",
        tuple(
            PaperClaim("6", f"{what} ({row})", paper, partial(measure, row, settings))
            for row, what, paper, measure in claims
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
    from stacklens.languages import get_task
    from stacklens.probe.trace import trace

    found = []
    for outcome in trained_networks(row, settings):
        assert outcome.model is not None
        assert outcome.task is not None
        examples = get_task(outcome.task).sample(settings.scaled(_WORDS, least=10), seed=_WORDS_SEED)
        seen = trace(outcome.model, examples.words)
        accuracy = _accuracy(outcome.model, examples)
        found.append({"seed": outcome.seed, "accuracy": accuracy, **measure(outcome.model, seen, examples)})
    return found


def _stack_use(row: str, settings: RunSettings) -> Finding:
    """Return what is left without the stack and without pops, and how strengths are."""

    def measure(net: StackModel[Any], seen: Any, examples: Examples) -> dict[str, float]:
        from stacklens.probe.ablation import Ablated

        read = examples.symbols >= 0
        pops, pushes = (seen.actions[:, :, 0, which][read] for which in (_POP, _PUSH))
        return {
            "without the stack": _accuracy(Ablated(net, stack=0), examples),
            "without pops": _accuracy(Ablated(net, operation=_POP), examples),
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
        from stacklens.probe.ablation import Ablated

        null = examples.alphabet.index("#")
        reads, says = (examples.symbols >= 0) & (examples.symbols != null), examples.symbols == null
        return {
            "without the stack": _accuracy(Ablated(net, stack=0), examples),
            "push while reading": _mean(seen, _PUSH, reads),
            "pop while reading": _mean(seen, _POP, reads),
            "push while saying": _mean(seen, _PUSH, says),
            "pop while saying": _mean(seen, _POP, says),
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
    """Return how strongly symbols are pushed that are said again, and those that are not."""
    included = "01"

    def measure(net: StackModel[Any], seen: Any, examples: Examples) -> dict[str, float]:
        del net
        kinds = {"included": included, "excluded": [one for one in examples.alphabet if one not in (*included, "#")]}
        masks = {
            kind: sum((examples.symbols == examples.alphabet.index(one) for one in letters), examples.symbols < -1)
            for kind, letters in kinds.items()
        }
        return {f"push of {kind}": _mean(seen, _PUSH, mask > 0) for kind, mask in masks.items()}

    found = _each(row, settings, measure)
    learned = [one for one in found if one["accuracy"] >= _LEARNED]
    only = sum(one["push of included"] >= 0.5 > one["push of excluded"] for one in learned)
    shown = (
        f"{len(learned)} of {len(found)} learn it; {only} of these push included symbols with a half or more and "
        f"excluded ones with less; medians {_median(learned, 'push of included', 2)} and "
        f"{_median(learned, 'push of excluded', 2)}"
    )
    return Finding(shown, {"networks": found, "learned": len(learned), "push_included_only": only})


def _accuracy(net: StackModel[Any], examples: Examples) -> float:
    """Return the share of the symbols that count which a network says right."""
    from stacklens.models.inference import outputs_on

    return float(examples.symbol_accuracy(outputs_on(net, examples.words)))


def _mean(seen: Any, which: int, mask: np.ndarray) -> float:
    return float(seen.actions[:, :, 0, which][mask].mean())


def _range(networks: list[Any], name: str) -> str:
    """Return the median in percent, with the smallest and the largest."""
    if not networks:
        return "–"
    values = [100 * one[name] for one in networks]
    return f"{statistics.median(values):.1f} % ({min(values):.1f}–{max(values):.1f})"


def _median(networks: list[Any], name: str, digits: int) -> str:
    return f"{statistics.median(one[name] for one in networks):.{digits}f}" if networks else "–"
