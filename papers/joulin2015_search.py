"""The settings of RNNs and LSTMs that are tried for tables of Joulin & Mikolov 2015, and which are chosen.

The paper tries RNNs of 40, 100 and 500 units and LSTMs of 1 and 2 layers of 50, 100 and 200, chosen on validation
(section 5). How they were trained it does not say, nor has the authors' program any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stacklens.languages.tasks.stream_patterns import PATTERNS
from stacklens.papers.grid import VALIDATION, Outcome, Protocol
from stacklens.papers.grid_tables import TRIED_FIGURES

__all__ = ["SEARCHED", "Tried", "chosen_outcomes", "searched"]


@dataclass(frozen=True)
class Tried:
    """Settings of an RNN or an LSTM.

    Attributes:
        hidden, layers: how many units a layer has, and how many layers there are.
        rate: of descent at first; None for that of the protocol.
        forget_bias, decay: of the protocol fast, see `StreamRecipe`.
        epochs: of the protocol fast.
        together: the errors of so many symbols are gathered for an update, by the protocol paper.

    >>> str(Tried(50, 2)), str(Tried(40)), str(Tried(50, 1, 0.03, 3.0))
    ('2 x 50', '1 x 40', '1 x 50, rate 0.03, forget bias 3')
    """

    hidden: int
    layers: int = 1
    rate: float | None = None
    forget_bias: float = 0.0
    decay: float = 0.0
    epochs: int = 40
    together: int = 10

    @property
    def shape(self) -> dict[str, Any]:
        """Return the arguments of the model's configuration."""
        return {"hidden": self.hidden, "layers": self.layers}

    def __str__(self) -> str:
        parts = [f"{self.layers} x {self.hidden}"]
        parts += [] if self.rate is None else [f"rate {self.rate:g}"]
        parts += [f"forget bias {self.forget_bias:g}"] if self.forget_bias else []
        parts += [f"decay {self.decay:g}"] if self.decay else []
        return ", ".join(parts)


SEARCHED: dict[str, tuple[Tried, ...]] = {  # by the protocol paper
    "rnn": tuple(Tried(hidden) for hidden in (40, 100, 500)),
    "lstm": tuple(Tried(hidden, layers) for layers in (1, 2) for hidden in (50, 100, 200)),
}
_QUICK = Tried(50, rate=0.03, forget_bias=3.0, decay=0.01)
_SLOW = Tried(50, rate=0.01, forget_bias=3.0, decay=0.03)
_HARD = ("anbncn", "anbmcnm")  # where the quick settings leave most seeds without the sizes of training


def searched(model: str, task: str, protocol: Protocol) -> tuple[Tried, ...]:
    """Return the settings of which every one is trained from all seeds; none for networks that are not searched."""
    if protocol == "paper":
        return SEARCHED.get(model, ())
    if model != "lstm" or task not in PATTERNS:
        return ()
    return (_SLOW if task in _HARD else _QUICK,)


def chosen_outcomes(tried: Sequence[tuple[Tried, list[Outcome]]], protocol: Protocol) -> list[Outcome]:
    """Return the outcome of each seed, with the settings that are best on validation for it.

    By the protocol paper that is the least "loss", by the protocol fast the score "validation".

    Its scores tell the chosen "hidden" and "layers", and the `TRIED_FIGURES` of all settings as "tried SETTINGS: loss".
    """
    number = len(tried[0][1])
    return [_chosen([(settings, outcomes[seed]) for settings, outcomes in tried], protocol) for seed in range(number)]


def _chosen(tried: Sequence[tuple[Tried, Outcome]], protocol: Protocol) -> Outcome:
    def worth(one: tuple[Tried, Outcome]) -> float:
        return one[1].scores[VALIDATION] if protocol == "fast" else -one[1].scores["loss"]

    settings, best = max(tried, key=worth)
    scores = {**best.scores, "hidden": float(settings.hidden), "layers": float(settings.layers)}
    for other, outcome in tried:
        scores |= {f"tried {other}: {name}": float(outcome.scores[name]) for name in TRIED_FIGURES}
    return replace(best, scores=scores)
