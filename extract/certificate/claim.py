"""What a certificate says, or where none was found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from stacklens.automata.pda import State, Symbol, Tops
from stacklens.progress import count

__all__ = ["Certificate", "Certified", "Fault", "NotCertified", "certified_claim"]

_READABLE = 1_000_000  # powers of two above it are written as such


@dataclass(frozen=True)
class Fault:
    """A step that could not be shown to be right.

    Attributes:
        state: the automaton's state, None where its run has been cut.
        symbol: the letter that is read there, None where it is the verdict that cannot be shown.
        tops: the automaton's stack tops.
        operation: what the automaton does there.
        reason: what could not be shown.
        what: of what ``box`` has the bounds.
        box: the bounds that are too wide, (low, high) number by number.
    """

    state: State | None
    symbol: Symbol | None
    tops: Tops
    operation: str
    reason: str
    what: str = ""
    box: tuple[tuple[float, float], ...] = ()

    def __str__(self) -> str:
        where = ", ".join([self.state or "(cut)", self.symbol or "the end", *self.tops])
        arrow = f" -> {self.operation}" if self.operation else ""
        return f"at ({where}){arrow}: {self.reason}{self._widest()}"

    def _widest(self) -> str:
        if not self.box:
            return ""
        number = max(range(len(self.box)), key=lambda i: self.box[i][1] - self.box[i][0])
        low, high = self.box[number]
        return f"; number {number + 1} of the {self.what} lies anywhere from {low:.4g} to {high:.4g}"


@dataclass(frozen=True)
class Certified:
    """The rounded network follows the automaton on words of every length: proved by boxes.

    Attributes:
        boxes: how many boxes of hidden vectors and stack values the proof has.
        steps: how many steps from boxes into boxes it checks.
        margin: the smallest margin of all decisions: of an action or an output from its threshold, or of the largest of
            several over the next, before a softmax. Infinite where nothing had to be decided.
        stack_limit: how many cells of a stack a word may need; nothing is said of words that need more. It is how many
            the network has, or up to where the numbers of its format count the stack's height; None for no limit.
        number_format: the floating-point numbers that the network computes with.
        cuts: at how many (state, letter, tops) the automaton's run is cut and nothing is said from there on: of
            predictors of one symbol and of transducers only.
        first_cut: one of them, or None.
        silent: at how many nothing is said of the output, for the automaton's is None.
    """

    boxes: int
    steps: int
    margin: float
    stack_limit: int | None = None
    number_format: str = "float64"
    cuts: int = 0
    first_cut: tuple[State, Symbol, Tops] | None = None
    silent: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report; an infinite margin, which JSON has not, is None there."""
        margin = self.margin if math.isfinite(self.margin) else None
        return {"verdict": "certified", "reason": None, **asdict(self), "margin": margin}


def certified_claim(entry: Mapping[str, Any], automaton: str = "it") -> str:
    """Return what a report's entry of a certificate claims, in a sentence that calls the automaton ``automaton``.

    >>> certified_claim(Certified(4, 4, 0.25, 2_048, "float16").to_dict())  # doctest: +NORMALIZE_WHITESPACE
    'the rounded network follows it on words of every length that need at most 2,048 cells of a stack
    (float16, 4 boxes, smallest margin 0.250)'
    """
    words = "words of the task" if entry.get("words", "all") != "all" else "words"
    margin = "" if entry["margin"] is None else f", smallest margin {entry['margin']:.3f}"
    numbers = f"{entry['number_format']}, " if "number_format" in entry else ""  # not in reports of old
    rests = f"{numbers}{count(entry['boxes'], 'box', 'boxes')}{margin}"
    return f"the rounded network follows {automaton} on {words} of every length{_limits(entry)} ({rests})"


def _limits(entry: Mapping[str, Any]) -> str:
    """Return of what nothing is claimed."""
    limit, first = entry.get("stack_limit"), entry.get("first_cut")
    says = "" if limit is None else f" that need at most {_cells(limit)} of a stack"
    if first is not None:
        state, letter, tops = first
        where = ", ".join([state, letter, *tops])
        says += f", up to where its run is cut ({count(entry['cuts'], 'place')}, as at {where})"
    if entry.get("silent"):
        says += f", but for the output at {count(entry['silent'], 'place')}"
    return says


def _cells(limit: int) -> str:
    power = limit.bit_length() - 1
    return f"2^{power} cells" if limit == 2**power and limit > _READABLE else count(limit, "cell")


@dataclass(frozen=True)
class NotCertified:
    """No proof was found, which does not mean that the network does anything else than the automaton.

    Attributes:
        fault: the step at which the last attempt failed.
        attempts: how many ways to lay boxes were tried.
    """

    fault: Fault
    attempts: int

    @property
    def transition(self) -> tuple[State | None, Symbol | None, Tops]:
        """Return the automaton's (state, symbol, tops) there."""
        return self.fault.state, self.fault.symbol, self.fault.tops

    @property
    def reason(self) -> str:
        """Return where and why in one sentence."""
        return str(self.fault)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return {"verdict": "not certified", "reason": self.reason}


Certificate = Certified | NotCertified
