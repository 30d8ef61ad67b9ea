"""How long the search for an automaton may take: a budget of processor time, the same for every network."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from stacklens.errors import StacklensError

__all__ = ["DEFAULT_BUDGET", "Budget", "BudgetUse", "parse_budget"]

DEFAULT_BUDGET = 60.0  # seconds of processor time
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600}
_LONGEST = 10**7  # seconds, some months


@dataclass(frozen=True)
class BudgetUse:
    """What became of a budget.

    Attributes:
        seconds: how much there was; None for no limit.
        ran_out: whether the search ended because it was used up, with the best automaton so far.
        cut: whether clustering ended because its share was used up, before automata were learned.
    """

    seconds: float | None
    ran_out: bool
    cut: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return asdict(self)


class Budget:
    """Seconds of processor time that begin to run now; with several processes, of time by the clock.

    Whoever searches asks `over` between two attempts, and ends with the best so far. As long as it never says yes, what
    is found does not depend on it.

    Args:
        seconds: how many; None for no limit.
        jobs: processes that work; what those other than this one use is not known here.
    """

    def __init__(self, seconds: float | None = None, jobs: int = 1) -> None:
        self.seconds, self.ran_out, self.cut = seconds, False, False
        self._clock = time.process_time if jobs == 1 else time.perf_counter
        self._begun = self._clock()

    def over(self) -> bool:
        """Return whether it is used up, and remember that somebody was told so."""
        if self.seconds is not None and self._clock() - self._begun >= self.seconds:
            self.ran_out = True
        return self.ran_out

    def part(self, share: float) -> Callable[[], bool]:
        """Return what says whether this ``share`` of the time that is left now is used up."""
        if self.seconds is None:
            return self.over
        end = self._clock() + share * max(0.0, self._begun + self.seconds - self._clock())

        def over() -> bool:
            self.cut = self.cut or self._clock() >= end
            return self._clock() >= end

        return over

    def use(self) -> BudgetUse:
        """Return what became of it."""
        return BudgetUse(self.seconds, self.ran_out, self.cut)


def parse_budget(text: str) -> float | None:
    """Return the seconds that ``text`` says, None for "none".

    Raises:
        StacklensError: it is neither "none" nor a number above 0 with s, m, h or nothing behind it.

    >>> parse_budget("90"), parse_budget("60s"), parse_budget("1.5m"), parse_budget("none")
    (90.0, 60.0, 90.0, None)
    """
    plain = text.strip().lower()
    if plain == "none":
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", plain, re.ASCII)
    seconds = 0.0 if found is None else float(found[1]) * _UNITS[found[2]]
    if not 0 < seconds <= _LONGEST:
        raise StacklensError(f"a budget is a time such as 60s, 2m or 1h, or none, not {text!r:.50}")
    return seconds
