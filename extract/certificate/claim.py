"""What a certificate claims, or where none was found."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ...automata.pda import State, Symbol, Tops
from ..wording import certificate_claim


@dataclass(frozen=True)
class Fault:
    """A step that could not be shown to be right."""

    state: State | None  # the automaton's state, None where its run has been cut
    symbol: Symbol | None  # the letter that is read there, None where it is the verdict that cannot be shown
    tops: Tops  # the automaton's stack tops
    operation: str  # what the automaton does there
    reason: str  # what could not be shown
    what: str = ""  # of what ``box`` has the bounds
    box: tuple[tuple[float, float], ...] = ()  # the bounds that are too wide, (low, high) number by number

    def __str__(self) -> str:
        where = ", ".join([self.state or "(cut)", self.symbol or "the end", *self.tops])
        arrow = f" -> {self.operation}" if self.operation else ""
        widest = ""
        if self.box:
            number = max(range(len(self.box)), key=lambda i: self.box[i][1] - self.box[i][0])
            low, high = self.box[number]
            widest = f"; number {number + 1} of the {self.what} lies anywhere from {low:.4g} to {high:.4g}"
        return f"at ({where}){arrow}: {self.reason}{widest}"


@dataclass(frozen=True)
class Certified:
    """The rounded network follows the automaton on words of every length: proved by boxes."""

    boxes: int  # how many boxes of hidden vectors and stack values the proof has
    steps: int  # how many steps from boxes into boxes it checks
    # the smallest margin of all decisions: of an action or an output from its threshold, or of the largest of several
    # over the next, before a softmax. Infinite where nothing had to be decided
    margin: float
    # how many cells of a stack a word may need; words that need more are left out. It is how many the network has, or
    # up to where the numbers of its format count the stack's height; None for no limit. A buffered network's queues
    # count as stacks: a word needs as many cells of one as it has symbols
    stack_limit: int | None = None
    number_format: str = "float64"  # the floating-point numbers that the network computes with
    # at how many (state, letter, tops) the automaton's run is cut and nothing is claimed from there on: of predictors
    # of one symbol and of transducers only
    cuts: int = 0
    first_cut: tuple[State, Symbol, Tops] | None = None  # one of them, or None
    silent: int = 0  # at how many nothing is claimed of the output, for the automaton's is None
    # the smallest distance of the sums that decide actions from a tie (see `BoxAnswer`), of all stacks
    gap: float = 0.0
    # whether that makes every action exactly 0 or 1 in the number format: the network as it is and the rounded one are
    # then the same, bit for bit, and the certificate is one of the network itself
    itself: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report; an infinite margin or gap, which JSON has not, is None there."""
        margin, gap = (number if math.isfinite(number) else None for number in (self.margin, self.gap))
        return {"verdict": "certified", "reason": None, **asdict(self), "margin": margin, "gap": gap}


@dataclass(frozen=True)
class NotCertified:
    """No proof was found, which does not mean that the network does anything else than the automaton."""

    fault: Fault  # the step at which the last attempt failed
    attempts: int  # how many ways to lay boxes were tried; saved results have it

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
    """Up to which length the rounded network is proved to follow the automaton on all words: boxes carried forward."""

    length: int  # of all words of up to so many symbols it is proved; 0 where nothing is but of the empty word
    reason: str | None = None  # why no longer ones, None where no longer ones were asked for
    boxes: int = 0  # how many boxes of hidden vectors there were at most at one length
    margin: float = math.inf  # the smallest margin of all decisions, also of longer words
    number_format: str = "float64"  # the floating-point numbers that the network computes with
    cuts: int = 0  # at how many (state, letter, tops) the automaton's run is cut and nothing is claimed from there on
    silent: int = 0  # at how many nothing is claimed of the output, for the automaton's is None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report; an infinite margin, which JSON has not, is None there."""
        return {**asdict(self), "margin": self.margin if math.isfinite(self.margin) else None}


@dataclass(frozen=True)
class Certification:
    """A certificate, or why there is none."""

    certificate: Certificate | None  # the answer of `certify`; None where it could not be asked
    # for which words: all, or only those that the task may show the network
    words: Literal["all", "the task's"] = "all"
    reason: str | None = None  # why it could not be asked, None where it was
    # up to which length it is proved where it is not for every length; of words of the task, where it may show the
    # network only some
    bounded: BoundedCertificate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        if self.certificate is None:
            return {"verdict": "not tried", "reason": self.reason}
        bounded = {} if self.bounded is None else {"bounded": self.bounded.to_dict()}
        return {**self.certificate.to_dict(), "words": self.words, **bounded}

    def __str__(self) -> str:
        return certificate_claim(self.to_dict())


CERTIFICATE_NOT_TRIED = Certification(None, reason="there is no automaton")
