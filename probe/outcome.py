"""What came of interchange experiments, as plain values: by kind, per state and per symbol, a word, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..automata.pda import Word
from ..core.errors import StacklensError
from ..core.imports import pd
from ..languages.language import format_word, make_word

# ---- Shares of interchanges that did as predicted, with intervals over the words that they are made of ----

_NORMAL = 1.959963984540054  # the normal distribution's 97.5 % point


def wilson(right: float, of: float) -> tuple[float, float]:
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

    # right, of: how many of how many
    right: int
    of: int
    # how many independent ones they are worth, since those of one word go right or wrong together; None where that is
    # not known, and all count
    worth: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.right <= self.of:
            raise StacklensError(f"{self.right} right of {self.of}; expected numbers of which the first is a part")
        if self.worth is not None and not 0 <= self.worth <= self.of:
            raise StacklensError(f"worth is {self.worth}; expected a number from 0 to {self.of}")

    @classmethod
    def over(cls, right: np.ndarray, words: np.ndarray, rows: np.ndarray | slice = slice(None)) -> Share:
        """Return the share of ``right`` (N,) bool in some rows, whose ``words`` (W, N) are numbers.

        The variance is the cluster-robust one of a mean (Liang & Zeger 1986), for each way to group by words, and the
        largest counts. Where all went right, or wrong, it says nothing, and there are as many as there are words.
        """
        right, words = right[rows], words[:, rows]
        of = len(right)
        if not of:
            return cls(0, 0)
        share, worth = float(right.mean()), float(of)
        # once for each way to group by words; the largest variance counts
        for some in words:
            number = np.unique(some, return_inverse=True)[1].reshape(-1)
            groups = int(number.max()) + 1
            if share in (0.0, 1.0) or groups < 2:
                worth = min(worth, groups)
                continue
            # the variance of a mean over clusters, with the correction for few of them
            variance = groups / (groups - 1) * float((np.bincount(number, right - share) ** 2).sum()) / of**2
            worth = min(worth, share * (1 - share) / max(variance, 1e-300))
        return cls(int(right.sum()), of, worth)

    @property
    def accuracy(self) -> float:
        """Return the share, NaN of none."""
        return self.right / self.of if self.of else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Return its 95 % score interval, over words."""
        worth = self.of if self.worth is None else self.worth
        return wilson(self.right * worth / max(self.of, 1), worth)

    def __add__(self, other: Share) -> Share:
        return Share(self.right + other.right, self.of + other.of)

    def __str__(self) -> str:
        if not self.of:
            return "none"
        low, high = self.interval
        return f"{self.accuracy:.3f} ({low:.3f}-{high:.3f}, {self.right:,} of {self.of:,})"


# ---- What came of interchange experiments, as plain values ----

# An automaton is the mechanism where all its kinds of swaps reach this. Not all of them can: a cluster has members at
# its border, a word in a hundred say, and a bar of 1 would ask for a clustering without these. Automata that are equal
# and not the mechanism came to .97 and less in the zoo.
BAR = 0.98
LEAST_SWAPS = 30  # that are kept apart, for a kind to count: below that an interval is too wide


@dataclass(frozen=True)
class Case:
    """One interchange that did not do as predicted."""

    base: Word  # the word before it
    source: Word  # the word at whose end something was taken
    continuation: Word  # what was read after it
    part: str  # "hidden", "cells" (one cell), or "stack" (all cells)
    names: tuple[str, str]  # the state or symbol that was there, and the one that came
    stack: int | None  # of a cell or stack: its number in the network
    places: tuple[int, int] | None  # of a cell: its places below the top in base and source
    # predicted, said: what the automaton predicts and the network says after each symbol of the continuation
    predicted: tuple[str, ...]
    said: tuple[str, ...]  # its name stands in saved files
    step: int  # the first symbol of the continuation, from 0, after which they differ

    @property
    def word(self) -> Word:
        """Return base and continuation as one word."""
        whole = (*self.base, *self.continuation)
        return make_word(whole, whole)

    @property
    def call(self) -> str:
        """Return the line of Python that does it again in the rounded network."""
        arguments = [f"at={len(self.base)}", f'set="{"hidden" if self.part == "hidden" else "cells"}"']
        arguments.append(f"from_word={_literal(self.source)}")
        if self.part != "hidden":
            cells = f"cell={self.places[0]}, from_cell={self.places[1]}" if self.places else "cell=None"
            arguments += [f"stack={self.stack}", cells]
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

    Only those between different states or symbols count for the score of which the automaton predicts something else
    than for no interchange. The others stand beside.
    """

    # "states", "symbols", "heads" (a hidden vector and the top cells together), or "aligned" (the linear part of a
    # hidden vector that tells states apart)
    what: str
    # interchanges between the same state or symbol, on which another one would change something: nothing may
    same: Share = Share(0, 0)
    different: Share = Share(0, 0)  # those that count: what the network says must change as predicted
    told_apart: int = 0  # how many these are
    # in the network as it is: interchanges between the same (kept by earlier versions alone), and those that count;
    # None where there is none
    soft_same: Share | None = None
    soft_different: Share | None = None
    by_name: dict[str, Share] = field(default_factory=dict)  # of those that count, per state or symbol that came in
    # the share that random partitions into classes of the same sizes have of swaps that they tell apart; None for one
    # class only
    baseline: float | None = None
    # interchanges that were drawn and left out, since the automaton says nothing of what they lead to
    undefined: int = 0
    worst_case: Case | None = None  # a shortest one that went wrong, of the state or symbol that goes wrong most often
    reason: str | None = None  # why none counts, if none does
    # interchanges of which the automaton predicts that nothing changes, whatever is put in; None in results of earlier
    # versions, which counted them in ``different`` and ``same``
    untold: Share | None = None
    # by name: "random partitions"; "permuted labels", the same classes under each other's names; and "random weights",
    # the same interchanges in a network of the same shape that was never trained
    baselines: dict[str, Share] = field(default_factory=dict)
    rank: int | None = None  # of a linear part its dimension

    @classmethod
    def from_dict(cls, what: str, entry: Mapping[str, Any]) -> Interchange:
        """Return what a report's entry says; it keeps the word of the worst case, and not the case."""
        several = {name: entry.get(name, {}) for name in ("by_name", "baselines")}
        shares = {name: {one: Share(*numbers) for one, numbers in some.items()} for name, some in several.items()}
        parts = {name: Share(*entry[name]) for name in ("same", "different", "untold") if entry.get(name) is not None}
        plain = {name: entry.get(name) for name in ("told_apart", "baseline", "undefined", "reason", "rank")}
        return cls(what, **parts, **shares, **plain)  # type: ignore[arg-type]  # a report's numbers

    @property
    def share(self) -> Share:
        """Return how many interchanges that count did as predicted."""
        return self.different if self.untold is not None else self.same + self.different

    @property
    def accuracy(self) -> float:
        """Return the interchange accuracy in the rounded network, in [0, 1]; NaN where nothing counts."""
        return self.share.accuracy

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % score interval of the accuracy."""
        return self.share.interval

    @property
    def soft(self) -> Share | None:
        """Return how many that count did as predicted in the network as it is."""
        if self.soft_same is None or self.soft_different is None or self.untold is not None:
            return self.soft_different
        return self.soft_same + self.soft_different

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
            "same": _share_numbers(self.same),
            "different": _share_numbers(self.different),
            "told_apart": self.told_apart,
            "soft": _share_numbers(self.soft),
            "baseline": self.baseline,
            "undefined": self.undefined,
            "by_name": {name: _share_numbers(share) for name, share in self.by_name.items()},
            "worst": None if worst is None else {"word": format_word(worst.word), "call": worst.call},
            "reason": self.reason,
            "untold": _share_numbers(self.untold),
            "baselines": {name: _share_numbers(share) for name, share in self.baselines.items()},
            "rank": self.rank,
        }

    def __str__(self) -> str:
        if self.reason is not None:
            return f"no score: {self.reason}" + (f"; same {_brief(self.same)}" if self.same.of else "")
        beside = [f"same {_brief(self.same)} of {self.same.of:,}"]
        beside += [f"{name} {_brief(share)}" for name, share in self.baselines.items()]
        beside += [f"soft network {_brief(self.soft)}"] if self.soft is not None and self.soft.of else []
        return f"{self.share}; {', '.join(beside)}"


@dataclass(frozen=True)
class Causality:
    """Whether an automaton's states and stack symbols are what a network computes with."""

    states: Interchange  # what came of interchanging hidden vectors
    symbols: Interchange  # what came of interchanging cells
    automaton: str  # which automaton: "minimised", "raw", "learned", "reference", or "given"
    values: str  # what was put in: "source", another run's, or "centre", the mean of its state's or symbol's
    prefixes: int  # how many different words were interchanged between
    seed: int  # of all that is drawn
    # what came of interchanging hidden vectors together with top cells; None in earlier results
    heads: Interchange | None = None
    # what came of interchanging a linear part of hidden vectors; no part of the score, since it is fitted
    aligned: Interchange | None = None
    sizes: tuple[int, int] | None = None  # the automaton's states and stack symbols
    # on how many words the network's stacks are as high as the automaton's; None without stacks
    level: Share | None = None
    doubt: str | None = None  # why there is no verdict, if there is none whatever the scores are
    # whether it is proved equal to the first automaton, on the words that are meant; None where undecided
    equal: bool | None = None
    same_as: str | None = None  # which automaton it is under other names of states and stack symbols; None for none
    others: dict[str, Causality] = field(default_factory=dict)  # other automata of the same network, by name

    KINDS: ClassVar[tuple[str, ...]] = ("states", "symbols", "heads", "aligned")
    PLAIN: ClassVar[tuple[str, ...]] = ("automaton", "values", "prefixes", "seed", "doubt", "equal", "same_as")

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Causality:
        """Return what a report's entry says, without the networks as they are and without the worst cases."""
        kinds = {what: Interchange.from_dict(what, entry[what]) for what in cls.KINDS if entry.get(what) is not None}
        plain = {name: entry.get(name) for name in cls.PLAIN}
        sizes = None if entry.get("sizes") is None else tuple(entry["sizes"])
        level = None if entry.get("level") is None else Share(*entry["level"])
        others = {name: cls.from_dict(one) for name, one in entry.get("others", {}).items()}
        return cls(**kinds, **plain, sizes=sizes, level=level, others=others)  # type: ignore[arg-type]

    @classmethod
    def none(cls, reason: str, seed: int = 0) -> Causality:
        """Return that nothing could be interchanged, and why."""
        states, symbols = (Interchange(what, reason=reason) for what in ("states", "symbols"))
        return cls(states, symbols, "minimised", "source", 0, seed, doubt=reason)

    @property
    def automata(self) -> dict[str, Causality]:
        """Return all automata by name, this one first."""
        return {self.automaton: self, **self.others}

    @property
    def raw(self) -> Causality | None:
        """Return what came of the automaton before minimisation; None where that is the same, or was not asked."""
        return self.automata.get("raw")

    @property
    def learned(self) -> Causality | None:
        """Return what came of the automaton that was learned from behaviour, None where there is no other one."""
        return self.automata.get("learned")

    @property
    def reference(self) -> Causality | None:
        """Return what came of the language's or the task's own automaton, None where it has none."""
        return self.automata.get("reference")

    @property
    def kinds(self) -> list[Interchange]:
        """Return what came of every kind of interchange."""
        found = (getattr(self, what) for what in self.KINDS)
        return [part for part in found if part is not None]

    @property
    def score(self) -> float | None:
        """Return the lowest accuracy of all kinds of whole interchanges that count; None where too few do."""
        some = [part for part in self.kinds if part.what != "aligned" and part.untold is not None]
        return min((part.accuracy for part in some if part.told_apart >= LEAST_SWAPS), default=None)

    @property
    def least(self) -> float:
        """Return the lowest of the scores and of the shares of what should change nothing; NaN where too few count."""
        same = (part.same for part in self.kinds if part.what != "aligned" and part.untold is not None)
        shares = [one.accuracy for one in same if one.of >= LEAST_SWAPS]
        return math.nan if self.score is None else min([self.score, *shares])

    @property
    def is_mechanism(self) -> bool:
        """Return whether the network computes with it: all reach `BAR`, on stacks that are as high as its own."""
        level = 1.0 if self.level is None else self.level.accuracy
        return self.doubt is None and min(self.least, level) >= BAR and self.same_as is None

    @property
    def mechanism(self) -> str | None:
        """Return which automaton the network computes: the smallest of those as good to two digits; None for none."""
        found = [one for one in self.automata.values() if one.is_mechanism]
        best = min(found, key=lambda one: (-round(one.least, 2), sum(one.sizes or ())), default=None)
        return None if best is None else best.automaton

    @property
    def undecided(self) -> str | None:
        """Return why nothing is decided, whatever the scores are; None where something is."""
        # of what was not asked there are no interchanges: it is of no earlier version
        old = any(part.untold is None and part.share.of for part in self.kinds)
        return self.doubt or ("an earlier version made these interchanges; make them again" if old else None)

    @property
    def verdict(self) -> str:
        """Return which of the automata is what the network computes, or that none is, in a sentence."""
        if self.undecided is not None:
            return f"not decided: {self.undecided}"
        # automata under other names are one; those that come out as well stand beside the chosen one
        automata, chosen = [one for one in self.automata.values() if one.same_as is None], self.mechanism
        equal = sum(bool(one.equal) for one in automata)
        how = "that are proved equal" if equal == len(automata) else f"({equal} of them proved equal)"
        of = f"of {_COUNTED.get(len(automata), len(automata))} automata {how}, " if len(automata) > 1 else ""
        also = [one for one in automata if one.is_mechanism and one.automaton != chosen]
        rest = max((one.score for one in automata if one.score is not None and not one.is_mechanism), default=None)
        beside = [f"as well: {', '.join(f'{one.automaton} {_two_digits(one.score)}' for one in also)}"] if also else []
        if chosen is not None:
            beside += [] if rest is None else [f"next {_two_digits(rest)}"]
            score = _two_digits(self.automata[chosen].score)
            return f"{of}the {chosen} one is what the network computes ({'; '.join([score, *beside])})"
        why = f"fewer than {LEAST_SWAPS} interchanges are told apart" if rest is None else f"best {_two_digits(rest)}"
        if rest is not None and rest >= BAR:
            why += ", but what should change nothing does, or stacks are not as high"
        return f"{of or 'of the automaton: '}none is what the network computes ({why})"

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        plain = {name: getattr(self, name) for name in self.PLAIN}
        kinds = {part.what: part.to_dict() for part in self.kinds}
        sizes = None if self.sizes is None else list(self.sizes)
        more = {"sizes": sizes, "score": self.score, "level": _share_numbers(self.level)}
        others = {name: one.to_dict() for name, one in self.others.items()}
        return {**plain, **kinds, **more, "mechanism": self.mechanism, "verdict": self.verdict, "others": others}

    def to_frame(self) -> pd.DataFrame:
        """Return one row a state and a symbol: what it is, how often it came in, and how often that went right."""
        rows = [
            (part.what[:-1], name, share.of, share.accuracy, *share.interval)
            for part in (self.states, self.symbols)
            for name, share in part.by_name.items()
        ]
        return pd.DataFrame(rows, columns=["what", "name", "interchanges", "accuracy", "low", "high"])

    def table(self) -> list[tuple[str, ...]]:
        """Return a row of text for every automaton and kind, the columns' names first."""
        rows: list[tuple[str, ...]] = [_COLUMNS]
        for name, one in self.automata.items():
            size = name if one.sizes is None else f"{name} {one.sizes[0]}/{one.sizes[1]}"
            if one.same_as is not None:
                rows.append((size, f"as {one.same_as}", *[""] * (len(_COLUMNS) - 2)))
                continue
            for part in one.kinds:
                what = part.what if part.rank is None else f"{part.what}, rank {part.rank}"
                score = "–" if not part.share.of else "{:.3f} ({:.3f}-{:.3f})".format(part.accuracy, *part.interval)
                rest = [_brief(part.same), _brief(part.untold), f"{part.undefined:,}"]
                rest += [_brief(part.baselines.get(baseline)) for baseline in _BASELINES]
                rows.append((size, what, f"{part.told_apart:,}", score, *rest))
        return rows

    @property
    def remarks(self) -> list[str]:
        """Return why scores of `table` are missing, or do not decide: a line each."""
        lines = [
            f"{name}: the network's stacks are as high as its own on {one.level} words only"
            for name, one in self.automata.items()
            if one.level is not None and one.level.accuracy < BAR and one.same_as is None
        ]
        return lines + [f"{part.what}: {part}" for part in (self.states, self.symbols) if part.reason is not None]

    def __str__(self) -> str:
        rows = self.table()
        # an automaton's name stands in its first row only
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines, last = [self.verdict], ""
        for name, *cells in rows:
            row = ("" if name == last else name, *cells)
            lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
            last = name
        lines += self.remarks
        for part in (self.states, self.symbols):
            if part.worst_case is not None:
                lines += [f"{part.what}, worst: {part.worst_case}", f"    {part.worst_case.call}"]
        return "\n".join(lines)


_COUNTED = {2: "two", 3: "three", 4: "four", 5: "five"}
_BASELINES = ("random partitions", "permuted labels", "random weights")
_COLUMNS = ("automaton", "swapped", "told apart", "score", "same", "untold", "undefined", *_BASELINES)


def _brief(share: Share | None) -> str:
    return f"{share.accuracy:.3f}" if share is not None and share.of else "–"


def _two_digits(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}".removeprefix("0")


def _share_numbers(share: Share | None) -> list[float] | None:
    return None if share is None else [one for one in (share.right, share.of, share.worth) if one is not None]


def _literal(word: Word) -> str:
    return repr(word) if isinstance(word, str) else repr(list(word))
