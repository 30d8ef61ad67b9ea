"""Does a check notice that a black box is right near the surface only? AALpy's KV with 10,000 random words beside ours.

The black box is dyck-2 but for one thing: brackets that are opened below some depth may be closed by either kind. AALpy
learns a visibly pushdown automaton from it (KV, as its documentation suggests it for such languages) and asks 10,000
random words before it says that it is done. We run what dyck-2's own automaton suggests, as `extract-pda` does.
"""

from __future__ import annotations

import contextlib
import io
import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from aalpy.automata import SevpaAlphabet
from aalpy.base import SUL
from aalpy.learning_algs import run_KV
from aalpy.oracles import RandomWordEqOracle
from benchmarks.measure import Report, show_seconds

from stacklens.automata.pda import POP, Configuration, Key, PushdownAutomaton, Transition, Word, push
from stacklens.automata.runs import accepts_many
from stacklens.extract.agreement import search_words, shorten
from stacklens.extract.config import ExtractionConfig
from stacklens.languages.catalogue import get_language

_DEPTHS = (12, 20)
_WORDS, _LENGTHS = 10_000, (10, 60)
_PAIRS = (("(", ")"), ("[", "]"))


def doctored(depth: int) -> PushdownAutomaton:
    """Return dyck-2 with states that count to ``depth``; once deeper, any closing bracket closes any opening one."""
    names = (*(f"d{n}" for n in range(depth + 1)), "deep")
    letters = tuple(letter for pair in _PAIRS for letter in pair)
    rules: dict[Key, Transition] = {}
    for n, name in enumerate(names):
        for letter, close in _PAIRS:
            for top in ("⊥", "(", "["):
                rules[name, letter, (top,)] = Transition(names[min(n + 1, depth + 1)], (push(letter),))
            for top in (letter,) if name != "deep" else ("(", "["):
                if n:
                    rules[name, close, (top,)] = Transition("deep" if name == "deep" else names[n - 1], (POP,))
    return PushdownAutomaton(names, letters, ("(", "["), rules, "d0", frozenset(names))


class _BlackBox(SUL):  # type: ignore[misc]
    """An automaton as AALpy asks it: step by step, whether the word so far is accepted."""

    def __init__(self, pda: PushdownAutomaton) -> None:
        super().__init__()
        self.pda = pda
        self.here: Configuration | None = pda.start

    def pre(self) -> None:
        self.here = self.pda.start

    def post(self) -> None:
        pass

    def step(self, letter: str | None) -> bool:
        if letter is not None and self.here is not None:
            self.here = self.pda.step(self.here, letter)
        return self.here is not None and self.pda.accepts_configuration(self.here)


def reports() -> Iterator[Report]:
    rows = []
    for depth in _DEPTHS:
        black_box = doctored(depth)
        word, words, seconds = _ours(black_box)
        rows.append((f"{depth}, stacklens", f"{words:,}", show_seconds(seconds), "yes" if word else "no", word))
        agrees, like_dyck, asked, seconds = _theirs(black_box, word)
        learned = f"right on {like_dyck:.1%} of dyck-2's words"
        rows.append((f"{depth}, AALpy KV", f"{asked:,}", show_seconds(seconds), "no" if agrees else "yes", learned))
    columns = ("right to depth, checked by", "words run", "time", "finds it", "what it finds")
    notes = (
        f"AALpy learns a VPA, with {_WORDS:,} random words of length {_LENGTHS[0]}-{_LENGTHS[1]} as its equivalence "
        "oracle; it has found it if its automaton does as the black box does on the word that stacklens found"
    )
    yield Report("breaking: a dyck-2 that is wrong below some depth", columns, tuple(rows), notes)


def _ours(black_box: PushdownAutomaton) -> tuple[str, int, float]:
    """Return a word that tells the black box from dyck-2, how many words were run, and the seconds that it took."""
    dyck = get_language("dyck-2").automaton
    begun = time.perf_counter()
    found = search_words(dyck, None, ExtractionConfig().effort(None), seed=0)
    words = [word for _, suggested in found for word in suggested]

    def differ(some: list[Word]) -> np.ndarray:
        different: np.ndarray = accepts_many(black_box, some) != accepts_many(dyck, some)
        return different

    broken = [words[i] for i in np.flatnonzero(differ(words))]
    word = shorten(min(broken, key=len), differ, dyck) if broken else ""
    return "".join(word), len(words), time.perf_counter() - begun


def _theirs(black_box: PushdownAutomaton, word: str) -> tuple[bool, float, int, float]:
    """Return whether AALpy's automaton takes ``word`` as dyck-2 does, on what share of dyck-2's words and near-misses
    it does, how many words it ran, and the seconds that it took.
    """
    random.seed(0)  # AALpy draws from the global generator
    alphabet = SevpaAlphabet([], ["(", "["], [")", "]"])
    system = _BlackBox(black_box)
    oracle = RandomWordEqOracle(alphabet.get_merged_alphabet(), system, _WORDS, *_LENGTHS)
    begun = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        model, info = run_KV(alphabet, system, oracle, "vpa", return_data=True, print_level=0)
    seconds = time.perf_counter() - begun
    language = get_language("dyck-2")
    words = [other for positive in (True, False) for other in language.sample(1_000, _LENGTHS, positive)]
    like_dyck = np.mean([_accepts(model, other) == (other in language) for other in words])
    asked = int(info["queries_learning"] + info["queries_eq_oracle"])
    return _accepts(model, word) == (word in language), float(like_dyck), asked, seconds


def _accepts(model: Any, word: Word) -> bool:
    model.reset_to_initial()
    return bool([model.step(letter) for letter in word][-1])
