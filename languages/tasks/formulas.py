"""Nested brackets and Boolean formulas: Hao et al. 2018, sections 4.3 and 4.4."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from stacklens.automata.pda import NONE, POP, Key, Output, PushdownAutomaton, State, Symbol, Transition, Word, push
from stacklens.automata.rewriting import with_head_outputs
from stacklens.errors import NoWordError, StacklensError
from stacklens.languages.tasks.derivations import Rules, draw_derivation, words_by_depth
from stacklens.languages.tasks.task import Split, Task

__all__ = ["BooleanFormula", "ParenthesisPrediction"]

_BOTTOM = "⊥"
_PAIRS = {"(": ")", "[": "]"}
_BRACKETS: Rules = (
    ("S", (("S", "T"), ("T", "S"), ("T",))),
    ("T", (("(", "T", ")"), ("(", ")"), ("[", "T", "]"), ("[", "]"))),
)
_FORMULAS: Rules = (("S", (("S", "S", "∨"), ("S", "S", "∧"), ("T",), ("F",))),)


@dataclass(frozen=True)
class ParenthesisPrediction(Task):
    """Say the next symbol of S -> S T | T S | T, T -> ( T ) | ( ) | [ T ] | [ ]; closing brackets alone count.

    What is expected is the bracket that would close the innermost open one, whether it comes next or not; it counts
    where it does. (So inside a bracket nothing stands beside a T: ``(()())`` is no word.)

    The size is the depth of a derivation: at most 6 to train (length up to 20), any distinct word as likely as another;
    12 to test (up to 110), any derivation as likely as another, as in the authors' program. ``lengths=(0, d)`` draws
    derivations of depth at most d; the first number must be 0.

    >>> task = ParenthesisPrediction()
    >>> task.expected("([])"), task.scored("([])")
    ([')', ']', ')', None], [False, True, True, False])
    """

    by_depth: ClassVar[bool] = True
    name = "parenthesis-prediction"
    kind = "next symbol"
    alphabet = ("(", ")", "[", "]")

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton of figure 4, right; it accepts whole words."""
        steps: dict[Key, Transition] = {}
        for opener, closer in _PAIRS.items():
            steps |= {("start", opener, (_BOTTOM,)): Transition("open", (push(opener),))}
            steps |= {("close", opener, (_BOTTOM,)): Transition("open", (push(opener),))}
            steps |= {("open", opener, (top,)): Transition("open", (push(opener),)) for top in _PAIRS}
            steps |= {(state, closer, (opener,)): Transition("close", (POP,)) for state in ("open", "close")}
        states, tops = ("start", "open", "close"), tuple(_PAIRS)
        pda = PushdownAutomaton(
            states, self.alphabet, tops, steps, "start", frozenset({"close"}), "both", bottom=_BOTTOM
        )
        return with_head_outputs(pda, lambda _, top: _PAIRS.get(top))

    def expected(self, word: Word) -> list[Output]:
        """Return the bracket that closes the innermost open one after each symbol, None where none is open."""
        opened: list[Symbol] = []
        outputs: list[Output] = []
        for t, symbol in enumerate(word):
            if symbol in _PAIRS and (not opened or word[t - 1] in _PAIRS):
                opened.append(symbol)
            elif opened and symbol == _PAIRS[opened[-1]]:
                opened.pop()
            else:
                raise NoWordError(f"no word of {self.name}: {symbol!r} at position {t + 1} of {''.join(word)}")
            outputs.append(_PAIRS[opened[-1]] if opened else None)
        return outputs

    def scored(self, word: Word) -> list[bool]:
        """Return True where the next symbol of the word is a closing bracket."""
        return [symbol in _PAIRS.values() for symbol in word[1:]] + [False] * (len(word) > 0)

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        if lengths is None and split == "train":
            words = words_by_depth(_BRACKETS, 6)
            return ["".join(words[i]) for i in rng.integers(len(words), size=n).tolist()]
        depth = largest_depth(self, lengths, 12)
        return ["".join(draw_derivation(_BRACKETS, depth, rng)) for _ in range(n)]


@dataclass(frozen=True)
class BooleanFormula(Task):
    """Say the value of the longest formula that ends here, in reverse Polish notation: S -> S S ∨ | S S ∧ | T | F.

    Every position counts. The size is the depth of a derivation, any of those at most so deep as likely as another; the
    paper's depth 6 to train (length up to 15) and 7 to test (up to 31) are 5 and 6 by this grammar: the authors'
    program has one more level. ``lengths=(0, d)`` draws derivations of depth at most d; the first number must be 0.

    >>> BooleanFormula().expected("TFT∧∨")
    ['T', 'F', 'T', 'F', 'T']
    """

    by_depth: ClassVar[bool] = True
    name = "boolean-formula"
    kind = "transduction"
    alphabet = ("T", "F", "∧", "∨")
    output_alphabet = ("T", "F")

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton whose state is the last value, those before on the stack; it accepts formulas."""
        steps: dict[Key, Transition] = {}
        for value in "TF":
            steps["start", value, (_BOTTOM,)] = Transition(value, (NONE,), value)
            for state in "TF":
                steps |= {(state, value, (top,)): Transition(value, (push(state),), value) for top in (_BOTTOM, *"TF")}
                either, both = "TF"["T" not in state + value], "TF"["F" in state + value]
                steps[state, "∨", (value,)] = Transition(either, (POP,), either)
                steps[state, "∧", (value,)] = Transition(both, (POP,), both)
        states: tuple[State, ...] = ("start", "T", "F")
        return PushdownAutomaton(states, self.alphabet, ("T", "F"), steps, "start", frozenset("TF"), bottom=_BOTTOM)

    def expected(self, word: Word) -> list[Output]:
        """Return T or F for each symbol."""
        values: list[bool] = []
        outputs: list[Output] = []
        for t, symbol in enumerate(word):
            if symbol in ("T", "F"):
                values.append(symbol == "T")
            elif symbol in ("∧", "∨") and len(values) > 1:
                second, first = values.pop(), values.pop()
                values.append((first and second) if symbol == "∧" else (first or second))
            else:
                raise NoWordError(f"no formula of {self.name}: {symbol!r} at position {t + 1} of {''.join(word)}")
            outputs.append("T" if values[-1] else "F")
        return outputs

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        depth = largest_depth(self, lengths, 5 if split == "train" else 6)
        return ["".join(draw_derivation(_FORMULAS, depth, rng)) for _ in range(n)]


def largest_depth(task: Task, lengths: tuple[int, int] | None, default: int) -> int:
    """Return the largest depth asked for.

    Raises:
        StacklensError: a smallest depth is asked for too.
    """
    if lengths is None:
        return default
    if lengths[0] != 0:
        raise StacklensError(f"{task.name} draws derivations up to a depth: expected sizes (0, depth), not {lengths}")
    return lengths[1]
