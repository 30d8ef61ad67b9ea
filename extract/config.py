"""How much of a network is looked at when an automaton is extracted, and how much is checked."""

import logging
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple, cast, get_args

from ..core.errors import StacklensError, check_extra, check_seed, check_whole
from ..core.progress import OutOfTimeError, TimeLimit, Told, current_limit, cut_short, time_limit

# ---- How long an extraction may take: a budget of seconds by the clock, the same for every network ----

DEFAULT_BUDGET = 90.0  # seconds, of which the search for an automaton takes two thirds at most
SEARCH = "the search for an automaton"  # what it is called where the budget ended it
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600}
LONGEST_BOUND = 100  # symbols up to which a certificate by length is looked for
_LONGEST = 10**7  # seconds, some months


class Effort(NamedTuple):
    """How far to search: up to which height of a stack, how many ways up to each, and how many walks."""

    height: int
    climbs: int
    walks: int


@dataclass(frozen=True)
class BudgetUse:
    """What became of a budget."""

    seconds: float | None  # how much there was; None for no limit
    ran_out: bool  # whether something ended because it was used up
    cut: bool = False  # whether clustering ended because its share was used up, before automata were learned
    # what ended so, in order: the search (`SEARCH`) with the best automaton so far, checks after as many words as there
    # was time for, others before they came to anything
    unfinished: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return {**asdict(self), "unfinished": list(self.unfinished)}


class Budget:
    """Seconds by the clock (None for no limit) that begin to run now, and what they ended.

    An extraction is done in stages, each with a share of the time that is left. Where that is over, a stage ends where
    it stands, and the rest goes on with what is known. As long as none is ended, what is found does not depend on the
    budget.
    """

    def __init__(self, seconds: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self.cut, self.unfinished = seconds, False, list[str]()
        self._clock, self._end = clock, math.inf if seconds is None else clock() + seconds

    def limit(self, share: float = 1.0, least: float = 0.0) -> TimeLimit:
        """Return when this ``share`` of the time that is left is over, and ``least`` seconds are."""
        now, around = self._clock(), current_limit()
        left = max(0.0, (self._end if around is None else min(self._end, around.end)) - now)
        return TimeLimit(now + max(share * left, least), self._clock)

    def over(self) -> bool:
        """Return whether the time of the present stage is used up, and record it."""
        limit = self.limit()
        if over := limit.clock() >= limit.end:
            cut_short()
        return over

    @contextmanager
    def stage(self, name: str, share: float = 1.0, least: float = 0.0) -> Iterator[None]:
        """Run a block within `limit`; it is left without an error then, and ``name`` is known to be unfinished."""
        limit = self.limit(share, least)
        try:
            with time_limit(limit):
                yield
        except OutOfTimeError:
            limit.cut = True
        if limit.cut and name not in self.unfinished:
            self.unfinished.append(name)

    def part(self, share: float) -> Callable[[], bool]:
        """Return what says whether this ``share`` of the time that is left now is used up."""
        end = self.limit(share).end

        def over() -> bool:
            self.cut = self.cut or self._clock() >= end
            return self._clock() >= end

        return over

    def use(self) -> BudgetUse:
        """Return what became of it."""
        return BudgetUse(self.seconds, bool(self.unfinished), self.cut, tuple(self.unfinished))


def parse_budget(text: str) -> float | None:
    """Return the seconds that ``text`` says, None for "none". Raises StacklensError: it is neither "none" nor a number
    above 0 with s, m, h or nothing behind it.

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


# ---- How much of a network is looked at when an automaton is extracted, and how much is checked ----

# How an automaton is looked for: "kmeans" clusters hidden vectors, as the papers do, and refines that; "learn" merges
# what the network does on short words; "learn-dfa", "learn-mealy" and "learn-vpa" ask it words, as a black box (see
# `search.asking`), and "ask" does what of these fits. "auto" learns, clusters where that gave no exact automaton, and
# asks where there is no stack to see.
Method = Literal["auto", "kmeans", "learn", "learn-dfa", "learn-mealy", "learn-vpa", "ask"]
SPARE_CELLS = 4  # of a finite stack that deep words leave free
_WORDS_A_LENGTH = 100  # long words for each symbol of the longest length that a bounded certificate is tried for
_SHORTENED = 30  # symbols for each long word
_LEAST = {
    **dict.fromkeys(("max_length", "long_words", "deep_words", "depth", "height", "climbs", "walks", "cycles"), 0),
    **dict.fromkeys(("proved_length", "shortening"), 0),
    **dict.fromkeys(("states", "stack_symbols", "jobs"), 1),
}


@dataclass(frozen=True)
class ExtractionConfig:
    """How much to check, and how to look for states.

    Attributes:
        max_length: check all words up to this length; None for about 2.5 million words. Where only some words are
            meant, as in a stream, all of these; None for up to 5,000 of them.
        long_words, long_lengths: further so many words with lengths in this range.
        deep_words, depth: further so many members nested so deep, and a near-miss of each.
        height, climbs, walks: words driven by the automaton itself: every input at every height of the stack up to
            this one, on so many ways up to each, and so many walks (see `agreement.search_words`).
        cycles: how many cycles of the automaton are repeated (see `automata.coverage`).
        states, stack_symbols: try only this number of clusters; None to walk upward. If one of them
            is set, the method "auto" tries clusters first.
        method: how an automaton is looked for.
        budget: how many seconds by the clock all may take; None for no limit. The search for an automaton takes two
            thirds of them at most. Where they end a stage, the next goes on with what is known by then, and the result
            names it. A result can be had again exactly, with the same seed, unless the budget ended something.
        seed: for everything that is drawn.
        jobs: processes for the walk over numbers of clusters and for the checks.
        device: where the network runs on words, in torch's words: "cpu", "cuda", "cuda:1", ….
        proved_length: up to which length a bounded certificate is tried, where there is none for words of every length;
            0 for none. None for a symbol for every 100 long words, at most 100.
        shortening: so many symbols are run to find shorter words on which automaton and network differ. None for 30 for
            each long word.
        calls, returns: for "learn-vpa", which symbols push and which pop; by default those of the language's own
            automaton, where each symbol always does the same.

    Raises:
        StacklensError: a number is no whole number, too small or too large.

    >>> ExtractionConfig(states=0)
    Traceback (most recent call last):
    stacklens.core.errors.StacklensError: states must be a whole number of at least 1, not 0
    """

    max_length: int | None = None
    long_words: int = 10_000
    long_lengths: tuple[int, int] = (50, 160)
    deep_words: int = 20
    depth: int = 1_000
    height: int = 50
    climbs: int = 3
    walks: int = 100
    cycles: int = 300
    states: int | None = None
    stack_symbols: int | None = None
    seed: int = 0
    jobs: int = 1
    device: str = "cpu"
    method: Method = "auto"
    budget: float | None = DEFAULT_BUDGET
    proved_length: int | None = None
    shortening: int | None = None
    calls: tuple[str, ...] | None = None
    returns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "returns"):
            if (given := getattr(self, name)) is not None:
                symbols = tuple(given) if isinstance(given, Iterable) else (given,)
                if not all(isinstance(symbol, str) for symbol in symbols):
                    shown = f"such as ('(', '['), not {given!r:.50}"
                    raise StacklensError(f"{name} must be symbols of the alphabet, {shown}")
                object.__setattr__(self, name, symbols)
        try:
            low, high = self.long_lengths
        except (TypeError, ValueError):
            given = f"{self.long_lengths!r:.50}"
            raise StacklensError(f"long_lengths must be two lengths, such as (50, 160), not {given}") from None
        check_whole("long_lengths[0]", low, 0)
        check_whole("long_lengths[1]", high, low)
        for name, least in _LEAST.items():
            value, default = getattr(self, name), getattr(type(self), name)
            if value is not None or default is not None:
                check_whole(name, value, least)
        check_seed(self.seed)
        if self.method not in get_args(Method):
            raise StacklensError(f"method is {self.method!r:.50}; expected one of {', '.join(get_args(Method))}")
        limit = self.budget
        if limit is not None and (not isinstance(limit, Real) or isinstance(limit, bool) or not limit > 0):
            raise StacklensError(f"budget must be a number of seconds above 0, or None, not {limit!r:.50}")

    @property
    def longest_proved(self) -> int:
        """Return up to which length a bounded certificate is tried."""
        if self.proved_length is not None:
            return self.proved_length
        return min(LONGEST_BOUND, self.long_words // _WORDS_A_LENGTH)

    @property
    def shortened(self) -> int:
        """Return how many symbols may be run to find shorter words on which automaton and network differ."""
        return _SHORTENED * self.long_words if self.shortening is None else self.shortening

    def effort(self, stack_limit: int | None) -> Effort:
        """Return how far to search in a network whose stacks have so many cells; None for no limit."""
        height = self.height if stack_limit is None else min(self.height, max(1, stack_limit - SPARE_CELLS) // 2)
        return Effort(height, self.climbs, self.walks)


def asked_method(kind: str) -> Method:
    """Return the method that learns "dfa", "mealy", "vpa" or what fits ("auto") from answers, with AALpy."""
    check_extra("AALpy", "interop", "aalpy")
    if kind not in ("auto", "dfa", "mealy", "vpa"):
        raise StacklensError(f"kind is {kind!r:.40}; expected auto, dfa, mealy or vpa")
    return "ask" if kind == "auto" else cast(Method, f"learn-{kind}")


# ---- How long every stage of an extraction takes, and its name as it begins ----

_log = logging.getLogger("stacklens.extract.extraction")  # what users listen to


class StageClock:
    """Times stages, and reports their names as they begin; ``seconds`` has those that are over, by name, summed up."""

    def __init__(self, progress: Told = lambda *_: None) -> None:
        self.progress, self.seconds = progress, dict[str, float]()
        self.begun, self.name = time.perf_counter(), ""

    def stage(self, name: str) -> None:
        """Begin the stage called ``name``, and end the one before."""
        self.stop()
        self.name = name
        _log.info("%s", name)
        self.progress(name, 0, None)

    def on_progress(self, done: int, total: int | None) -> None:
        """Tell how far the present stage has come, and of how much, if that is known."""
        self.progress(self.name, done, total)

    def stop(self) -> dict[str, float]:
        """End the present stage; return the seconds of all."""
        now = time.perf_counter()
        if self.name:
            self.seconds[self.name] = self.seconds.get(self.name, 0.0) + now - self.begun
        self.begun = now
        return self.seconds
