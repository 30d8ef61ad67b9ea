"""What a network written here did on one word."""

from __future__ import annotations

from dataclasses import dataclass

from stacklens.automata.pda import Output


@dataclass(frozen=True)
class PlainRun:
    """What a network did.

    Attributes:
        accepted: whether it accepts the word; who is no recogniser accepts what it does not reject.
        operations: what it does to its stack at each step, up to the one at which it rejects.
        rejected: the step by the end of which it rejects for good, None if it never does.
        margin: how far its nearest decision is from the other side; where that is tiny, rounding errors decide.
        outputs: what it says at each step before it rejects; None from a recogniser.
    """

    accepted: bool
    operations: tuple[str, ...]
    rejected: int | None
    margin: float
    outputs: tuple[Output, ...] | None = None
