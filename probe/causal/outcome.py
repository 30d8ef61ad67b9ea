"""What came of interchange experiments, as plain values: shares with intervals, per state and per symbol, a word."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.languages.words import format_word, make_word

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Case", "Causality", "Interchange", "Share", "wilson"]

_NORMAL = 1.959963984540054  # the normal distribution's 97.5 % point


def wilson(right: int, of: int) -> tuple[float, float]:
    """Return the 95 % score interval of a share (Wilson 1927), (0, 1) of nothing.

    >>> [round(end, 4) for end in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if not of:
        return 0.0, 1.0
    share, square = right / of, _NORMAL**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    reach = _NORMAL / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True)
class Share:
    """How many of some interchanges did as predicted."""

    right: int
    of: int

    def __post_init__(self) -> None:
        if not 0 <= self.right <= self.of:
            raise StacklensError(f"{self.right} right of {self.of}; expected numbers of which the first is a part")

    @property
    def accuracy(self) -> float:
        """Return the share, NaN of none."""
        return self.right / self.of if self.of else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Return its 95 % score interval."""
        return wilson(self.right, self.of)

    def __add__(self, other: Share) -> Share:
        return Share(self.right + other.right, self.of + other.of)

    def __str__(self) -> str:
        if not self.of:
            return "none"
        low, high = self.interval
        return f"{self.accuracy:.3f} ({low:.3f}-{high:.3f}, {self.right:,} of {self.of:,})"


@dataclass(frozen=True)
class Case:
    """One interchange that did not do as predicted.

    Attributes:
        base: the word before it.
        source: the word at whose end something was taken.
        continuation: what was read after it.
        part: "hidden", "cells" (one cell), or "stack" (all cells).
        names: the state or symbol that was there, and the one that came.
        stack: of a cell or stack: its number in the network.
        places: of a cell: its places below the top in base and source.
        predicted, said: what the automaton predicts and the network says after each symbol of the continuation.
        step: the first symbol of the continuation, from 0, after which they differ.
    """

    base: Word
    source: Word
    continuation: Word
    part: str
    names: tuple[str, str]
    stack: int | None
    places: tuple[int, int] | None
    predicted: tuple[str, ...]
    said: tuple[str, ...]
    step: int

    @property
    def word(self) -> Word:
        """Return base and continuation as one word."""
        whole = (*self.base, *self.continuation)
        return "".join(whole) if all(len(symbol) == 1 for symbol in whole) else make_word(whole, whole)

    @property
    def call(self) -> str:
        """Return the line of Python that does it again in the rounded network."""
        arguments = [f"at={len(self.base)}", f'set="{"hidden" if self.part == "hidden" else "cells"}"']
        arguments.append(f"from_word={_literal(self.source)}")
        if self.part != "hidden":
            arguments.append(f"stack={self.stack}")
            cells = f"cell={self.places[0]}, from_cell={self.places[1]}" if self.places else "cell=None"
            arguments.append(cells)
        return f"sl.intervene(model, {_literal(self.word)}, {', '.join(arguments)}, rounded=True)"

    def __str__(self) -> str:
        return (
            f"{format_word(self.base) or 'the empty word'} | {format_word(self.continuation)}, {self.part} of "
            f"{format_word(self.source) or 'the empty word'} ({self.names[0]} -> {self.names[1]}): after symbol "
            f"{self.step + 1} {self.predicted[self.step]} was predicted, and it says {self.said[self.step]}"
        )


@dataclass(frozen=True)
class Interchange:
    """What came of interchanges of one kind.

    Attributes:
        what: "states" or "symbols".
        same: interchanges between the same state or symbol: nothing may change.
        different: between different ones: what the network says must change as predicted.
        told_apart: how many of the latter ones the automaton's prediction tells from no interchange at all.
        soft_same, soft_different: the same interchanges in the network as it is; None where there is none to speak of.
        by_name: per state or symbol that came in.
        baseline: the mean accuracy of random partitions into classes of the same sizes; None for one class only.
        undefined: interchanges that were drawn and left out, since the automaton says nothing of what they lead to.
        worst_case: a shortest one that went wrong, of the state or symbol that goes wrong most often.
        reason: why there are none, if there are none.
    """

    what: str
    same: Share
    different: Share
    told_apart: int = 0
    soft_same: Share | None = None
    soft_different: Share | None = None
    by_name: dict[str, Share] = field(default_factory=dict)
    baseline: float | None = None
    undefined: int = 0
    worst_case: Case | None = None
    reason: str | None = None

    @classmethod
    def from_dict(cls, what: str, entry: Mapping[str, Any]) -> Interchange:
        """Return what a report's entry says; it keeps the word of the worst case, and not the case."""
        by_name = {name: Share(*numbers) for name, numbers in entry["by_name"].items()}
        same, different = Share(*entry["same"]), Share(*entry["different"])
        plain = {name: entry[name] for name in ("told_apart", "baseline", "undefined", "reason")}
        return cls(what, same, different, by_name=by_name, **plain)

    @property
    def share(self) -> Share:
        """Return how many interchanges did as predicted, of both sorts."""
        return self.same + self.different

    @property
    def accuracy(self) -> float:
        """Return the interchange accuracy in the rounded network, in [0, 1]; NaN where nothing was interchanged."""
        return self.share.accuracy

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % score interval of the accuracy."""
        return self.share.interval

    @property
    def soft(self) -> Share | None:
        """Return how many did as predicted in the network as it is."""
        both = self.soft_same, self.soft_different
        return None if both[0] is None or both[1] is None else both[0] + both[1]

    @property
    def worst(self) -> Word | None:
        """Return the word of the worst case: what was read before and after the interchange; None if all went right."""
        return None if self.worst_case is None else self.worst_case.word

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        worst = self.worst_case
        return {
            "accuracy": None if not self.share.of else self.accuracy,
            "interval": list(self.interval),
            "interchanges": self.share.of,
            "same": [self.same.right, self.same.of],
            "different": [self.different.right, self.different.of],
            "told_apart": self.told_apart,
            "soft": None if self.soft is None else [self.soft.right, self.soft.of],
            "baseline": self.baseline,
            "undefined": self.undefined,
            "by_name": {name: [share.right, share.of] for name, share in self.by_name.items()},
            "worst": None if worst is None else {"word": format_word(worst.word), "call": worst.call},
            "reason": self.reason,
        }

    def __str__(self) -> str:
        if not self.share.of:
            return f"nothing to interchange: {self.reason}"
        baseline = "one only, no baseline" if self.baseline is None else f"random partitions {self.baseline:.3f}"
        soft = "" if self.soft is None or not self.soft.of else f"; soft network {self.soft.accuracy:.3f}"
        return f"{self.share}; same {_brief(self.same)}, different {_brief(self.different)}; {baseline}{soft}"


@dataclass(frozen=True)
class Causality:
    """Whether an automaton's states and stack symbols are what a network computes with.

    Attributes:
        states: what came of interchanging hidden vectors.
        symbols: what came of interchanging cells.
        automaton: which automaton: "minimised", "raw", or "given".
        values: what was put in: "source", another run's, or "centre", the mean of its state's or symbol's.
        prefixes: how many different words were interchanged between.
        seed: of all that is drawn.
    """

    states: Interchange
    symbols: Interchange
    automaton: str
    values: str
    prefixes: int
    seed: int

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Causality:
        """Return what a report's entry says, without the networks as they are and without the worst cases."""
        states, symbols = (Interchange.from_dict(what, entry[what]) for what in ("states", "symbols"))
        return cls(states, symbols, **{name: entry[name] for name in ("automaton", "values", "prefixes", "seed")})

    @classmethod
    def none(cls, reason: str, seed: int = 0) -> Causality:
        """Return that nothing could be interchanged, and why."""
        nothing = Share(0, 0)
        states, symbols = (Interchange(what, nothing, nothing, reason=reason) for what in ("states", "symbols"))
        return cls(states, symbols, "minimised", "source", 0, seed)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        plain = {name: getattr(self, name) for name in ("automaton", "values", "prefixes", "seed")}
        return {**plain, "states": self.states.to_dict(), "symbols": self.symbols.to_dict()}

    def to_frame(self) -> pd.DataFrame:
        """Return one row a state and a symbol: what it is, how often it came in, and how often that went right."""
        import pandas as pd

        rows = [
            (part.what[:-1], name, share.of, share.accuracy, *share.interval)
            for part in (self.states, self.symbols)
            for name, share in part.by_name.items()
        ]
        return pd.DataFrame(rows, columns=["what", "name", "interchanges", "accuracy", "low", "high"])

    def __str__(self) -> str:
        lines = []
        for part in (self.states, self.symbols):
            lines.append(f"{part.what:8} {part}")
            if part.worst_case is not None:
                lines.append(f"{'':8} worst: {part.worst_case}")
                lines.append(f"{'':8} {part.worst_case.call}")
        return "\n".join(lines)


def _brief(share: Share) -> str:
    return f"{share.accuracy:.3f}" if share.of else "none"


def _literal(word: Word) -> str:
    return repr(word) if isinstance(word, str) else repr(list(word))
