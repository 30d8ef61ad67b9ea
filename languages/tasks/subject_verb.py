"""Subject-auxiliary agreement: Hao et al. 2018, section 4.5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from stacklens.automata.pda import NONE, POP, Key, Output, PushdownAutomaton, StackOp, State, Symbol, Transition, Word
from stacklens.automata.pda import push as push_symbol
from stacklens.automata.rewriting import with_head_outputs
from stacklens.errors import NoWordError
from stacklens.languages.tasks.derivations import Rules, draw_derivation
from stacklens.languages.tasks.formulas import largest_depth
from stacklens.languages.tasks.task import Split, Task

__all__ = ["RULES", "AgreementTask"]

_AUXILIARY = {"lobster": "has", "lobsters": "have"}
_SING, _PLUR = (("the", noun) for noun in _AUXILIARY)
RULES: Rules = (
    ("S", (("NPsing", "has"), ("NPplur", "have"))),
    ("NP", (("NPsing",), ("NPplur",))),
    ("NPsing", (_SING, (*_SING, "PP"), (*_SING, "Relsing"))),
    ("NPplur", (_PLUR, (*_PLUR, "PP"), (*_PLUR, "Relplur"))),
    ("PP", (("in", "NP"),)),
    ("Relsing", (("that", "has", "VP"), ("Relobj",))),
    ("Relplur", (("that", "have", "VP"), ("Relobj",))),
    ("Relobj", (("that", "NPsing", "has", "devoured"), ("that", "NPplur", "have", "devoured"))),
    ("VP", (("slept",), ("devoured", "NP"))),
)


@dataclass(frozen=True)
class AgreementTask(Task):
    """Say the next word of ``the lobsters in the lobster have``; only ``has`` and ``have`` count.

    What is expected is the auxiliary that agrees with the subject, wherever one could come next; it counts where one
    does. The modifiers of a noun phrase, printed ``the lobster | (PP | Rel)``, are read as the authors' program has
    them: none, or one. The size is the depth of a derivation: at most 16 to train (length up to 23) and 32 to test
    (the paper's 49 are what its draw happened to reach, 51 are possible), any derivation as likely as another;
    ``lengths=(0, d)`` draws those of depth at most d, and the first number must be 0.

    >>> task = AgreementTask()
    >>> sentence = "the lobsters that the lobster has devoured have".split()
    >>> task.expected(sentence)
    [None, 'have', 'have', None, 'has', None, 'have', None]
    >>> [t for t, counts in enumerate(task.scored(sentence)) if counts]
    [4, 6]
    """

    by_depth: ClassVar[bool] = True
    name = "agreement"
    kind = "next symbol"
    alphabet = ("the", "lobster", "lobsters", "has", "have", "in", "that", "slept", "devoured")

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton whose stack holds the auxiliaries that subjects still wait for; it accepts sentences."""
        tops = ("⊥", "has", "have")
        steps: dict[Key, Transition] = {
            (state, symbol, (top,)): Transition(target, (operation,))
            for state, symbol, target, operation, wanted in _arcs()
            for top in tops
            if wanted in (None, top)
        }
        states = tuple(dict.fromkeys([*(key[0] for key in steps), *(step.target for step in steps.values())]))
        accepting = frozenset({"said"})
        pda = PushdownAutomaton(states, self.alphabet, tops[1:], steps, "subject", accepting, "both")

        def following(state: State, top: Symbol) -> Symbol | None:
            if state.startswith("that "):
                return state.split()[1]
            return top if state == "done" or state.startswith("noun ") else None

        return with_head_outputs(pda, following)

    def expected(self, word: Word) -> list[Output]:
        """Return the auxiliary that may come next after each word, None where none may."""
        sentence, outputs = list(word), list[Output]()
        subjects: list[Symbol] = []  # the auxiliaries that subjects wait for
        for t, symbol in enumerate(sentence):
            before = sentence[max(t - 3, 0) : t]
            if symbol not in self._allowed(before, subjects):
                raise NoWordError(f"no sentence of {self.name}: {symbol!r} at position {t + 1} of {' '.join(sentence)}")
            if symbol in _AUXILIARY and before[:-1][-1:] in ([], ["that"]):
                subjects.append(_AUXILIARY[symbol])  # it stands at the beginning, or behind "that the"
            elif symbol in _AUXILIARY.values() and before[-1:] != ["that"]:
                subjects.pop()
            possible = self._allowed(sentence[max(t - 2, 0) : t + 1], subjects) & {"has", "have"}
            outputs.append(possible.pop() if possible else None)
        return outputs

    def _allowed(self, before: list[Symbol], subjects: list[Symbol]) -> set[Symbol]:
        """Return what may follow the last three words, or all there are, while ``subjects`` wait."""
        last = before[-1] if before else None
        waiting = set(subjects[-1:])
        if last is None or last == "in":
            return {"the"}
        if last == "the":
            return set(_AUXILIARY)
        if last in _AUXILIARY:
            return {"in", "that"} | waiting
        if last == "that":
            return {"the", _AUXILIARY[before[-2]]}
        if last == "slept":
            return waiting
        relative = (
            before[-2] == "that" if last in ("has", "have") else before[0] == "that"
        )  # "that has", "that has devoured"
        if last == "devoured":
            return {"the"} if relative else waiting
        if relative:
            return {"slept", "devoured"}
        return {"devoured"} if subjects else set()  # without a subject the sentence is over

    def scored(self, word: Word) -> list[bool]:
        """Return True where the next word of the sentence is an auxiliary."""
        return [symbol in ("has", "have") for symbol in word[1:]] + [False] * (len(word) > 0)

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        depth = largest_depth(self, lengths, 16 if split == "train" else 32)
        return [tuple(draw_derivation(RULES, depth, rng)) for _ in range(n)]


def _arcs() -> Iterator[tuple[State, Symbol, State, StackOp, Symbol | None]]:
    """Yield state, word, next state, operation, and the top that it needs, if any."""
    yield "subject", "the", "the subject", NONE, None
    yield "object", "the", "the object", NONE, None
    yield "verb", "slept", "done", NONE, None
    yield "verb", "devoured", "object", NONE, None
    for auxiliary in _AUXILIARY.values():
        yield "said", "devoured", "done", NONE, auxiliary  # with nobody waiting the sentence is over
        yield "done", auxiliary, "said", POP, auxiliary
    for noun, auxiliary in _AUXILIARY.items():
        yield "the subject", noun, f"noun {auxiliary}", push_symbol(auxiliary), None
        yield "the object", noun, f"noun {auxiliary}", NONE, None
        yield f"noun {auxiliary}", "in", "object", NONE, None
        yield f"noun {auxiliary}", "that", f"that {auxiliary}", NONE, None
        yield f"that {auxiliary}", "the", "the subject", NONE, None
        yield f"that {auxiliary}", auxiliary, "verb", NONE, None
        for waiting in _AUXILIARY.values():
            yield f"noun {auxiliary}", waiting, "said", POP, waiting
