"""How fast words are judged: all short ones, and many long ones, beside automata-lib's DPDA and AALpy's VPA.

The same reference automaton runs in all three. "All words" compares an enumeration that shares prefixes with libraries
that offer one word at a time; theirs is measured on all words up to length 8 and extrapolated by the word, which
flatters them, since words up to 15 are longer. Our own way to judge given words stands beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from benchmarks.measure import Report, medians, show_ratio, show_seconds

from stacklens.automata.enumeration import accepts_all, count_all
from stacklens.automata.formats.libraries import to_aalpy, to_automata_lib
from stacklens.automata.runs import accepts_many
from stacklens.languages.catalogue import get_language
from stacklens.languages.language import Language

_LONGEST, _THEIR_LONGEST, _RUNS = 15, 8, 7
_WORDS, _THEIR_WORDS, _LENGTH = 50_000, 500, 100
_SINGLY = "stacklens, accepts_many"  # nothing shared: every word read from its start, as the others do
_GOALS = {"automata-lib": 300, "AALpy": 50}

Judge = Callable[[str], bool]


def reports() -> Iterator[Report]:
    yield _all_words()
    yield _long_words()


def _judges(language: Language) -> dict[str, Judge]:
    dpda, vpa = to_automata_lib(language.automaton), to_aalpy(language.automaton)
    return {"automata-lib": dpda.accepts_input, "AALpy": vpa.accepts}


def _all_words() -> Report:
    language = get_language("palindrome")
    words = ["".join(w) for n in range(_THEIR_LONGEST + 1) for w in product(language.alphabet, repeat=n)]
    mine = np.concatenate(list(accepts_all(language.automaton, _THEIR_LONGEST)))
    judges = _judges(language)
    agree = {name: [judge(word) for word in words] == mine.tolist() for name, judge in judges.items()}
    total = count_all(len(language.alphabet), _LONGEST)
    tasks: dict[str, Callable[[], object]] = {
        "stacklens": lambda: [*accepts_all(language.automaton, _LONGEST)],
        _SINGLY: lambda: accepts_many(language.automaton, words),
    }
    agree[_SINGLY] = accepts_many(language.automaton, words).tolist() == mine.tolist()
    for name, judge in judges.items():
        tasks[name] = lambda judge=judge: [judge(word) for word in words]
    seconds = medians(tasks, _RUNS)
    ours = seconds.pop("stacklens")
    rows = [("stacklens", f"{total:,}", show_seconds(ours), show_seconds(ours / total), "", "", "")]
    for name, taken in seconds.items():
        whole = taken / len(words) * total
        ratio, goal = show_ratio(whole / ours), f">= {_GOALS[name]} x" if name in _GOALS else ""
        rows.append((name, f"{len(words):,}", f"{whole:,.0f} s (extrapolated)", show_seconds(taken / len(words)),
                     ratio, goal, _yes(agree[name])))  # fmt: skip
    return Report(
        f"palindromes: verdicts on all {total:,} words of length <= {_LONGEST}",
        ("", "words run", "all words", "a word", "stacklens is", "goal", "verdicts agree"),
        tuple(rows),
        f"medians of {_RUNS} runs; prefixes are shared, and dead ones, which are most, never extended",
    )


def _long_words() -> Report:
    language = get_language("dyck-2")
    rows = []
    for kind, positive in (("members", True), ("random", None)):
        words = [str(word) for word in language.sample(_WORDS, (_LENGTH, _LENGTH), positive, seed=0)]
        few = words[:_THEIR_WORDS]
        mine = accepts_many(language.automaton, few).tolist()
        judges = _judges(language)
        agree = {name: [judge(word) for word in few] == mine for name, judge in judges.items()}
        tasks: dict[str, Callable[[], object]] = {
            "stacklens": lambda words=words: accepts_many(language.automaton, words)
        }
        for name, judge in judges.items():
            tasks[name] = lambda judge=judge, few=few: [judge(word) for word in few]
        seconds = medians(tasks, _RUNS)
        rates = {name: (_WORDS if name == "stacklens" else len(few)) / taken for name, taken in seconds.items()}
        for name, rate in rates.items():
            ratio = "" if name == "stacklens" else show_ratio(rates["stacklens"] / rate)
            rows.append((f"{kind}: {name}", f"{rate:,.0f}", ratio, _yes(agree[name]) if name in agree else ""))
    return Report(
        f"dyck-2: words of length {_LENGTH}",
        ("", "words a second", "stacklens is", "verdicts agree"),
        tuple(rows),
        f"medians of {_RUNS} runs; random words die early, members run on to the end",
    )


def _yes(value: bool) -> str:
    return "yes" if value else "NO"
