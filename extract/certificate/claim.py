"""What a certificate says, or where none was found."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from stacklens.automata.pda import State, Symbol, Tops

__all__ = ["BoundedCertificate", "Certificate", "Certified", "Fault", "NotCertified"]


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


@dataclass(frozen=True)
class BoundedCertificate:
    """Up to which length the rounded network is proved to follow the automaton on all words, by boxes carried forward.

    Attributes:
        length: of all words of up to so many symbols it is proved; 0 where nothing is but of the empty word.
        reason: why no longer ones, None where no longer ones were asked for.
        boxes: how many boxes of hidden vectors there were at most at one length.
        margin: the smallest margin of all decisions, also of longer words.
        number_format: the floating-point numbers that the network computes with.
        cuts: at how many (state, letter, tops) the automaton's run is cut and nothing is said from there on.
        silent: at how many nothing is said of the output, for the automaton's is None.
    """

    length: int
    reason: str | None = None
    boxes: int = 0
    margin: float = math.inf
    number_format: str = "float64"
    cuts: int = 0
    silent: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report; an infinite margin, which JSON has not, is None there."""
        return {**asdict(self), "margin": self.margin if math.isfinite(self.margin) else None}
