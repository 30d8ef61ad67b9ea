"""Reversing and stack manipulation of Delétang et al. 2023: deterministic context-free tasks whose answer is a string.

There a network that has read its input reads empty symbols, one for each symbol of the answer, and says the answer
meanwhile. So it is here, the empty symbol being #.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stacklens.automata.pda import NONE, POP, Output, PushdownAutomaton, StackOp, Symbol, Word, push
from stacklens.errors import NoWordError
from stacklens.languages.tasks.bits import NULL, Reversal
from stacklens.languages.tasks.finite_state import BOTTOM, Move, drawn_sizes, explored
from stacklens.languages.tasks.task import Split, Task
from stacklens.languages.words import make_word

__all__ = ["ReverseString", "StackManipulation"]

END = "."
_ACTIONS: dict[Symbol, StackOp] = {"-": POP, "A": push("a"), "B": push("b")}


@dataclass(frozen=True)
class ReverseString(Reversal):
    """w #^|w| becomes #^|w| w^R over a and b; w^R counts. The size is the length of w: 1 to 40, or 41 to 500 to test.

    >>> ReverseString().expected("aab###")
    ['#', '#', '#', 'b', 'a', 'a']
    """

    name = "reverse-string"
    _letters = "ab"

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        return [self._draw(size, rng) for size in drawn_sizes(self.name, n, lengths, split, 1, rng)]


@dataclass(frozen=True)
class StackManipulation(Task):
    """Say what is on a stack after some actions, from the top, and a full stop.

    The word has the stack's content from the bottom, at least one letter of a and b; then actions, - to pop, A and B to
    push a or b; then # for every symbol of the answer. Popping an empty stack does nothing. Nothing is expected before
    the first #. The size is the number of letters and actions: 1 to 40, or 41 to 500 to test, as many letters as
    actions on the average.

    >>> StackManipulation().expected("ab-B###")
    [None, None, None, None, 'b', 'a', '.']
    """

    name = "stack-manipulation"
    kind = "transduction"
    alphabet = ("a", "b", *_ACTIONS, NULL)
    output_alphabet = ("a", "b", END)

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton that does to its own stack what the word says."""
        return explored(self.alphabet, "begin", _move, lambda control: control == "end")

    def expected(self, word: Word) -> list[Output]:
        """Return nothing for letters and actions, then the stack from its top, then the full stop."""
        symbols = list(word)
        asked = symbols.index(NULL) if NULL in symbols else len(symbols)
        given = next((n for n, symbol in enumerate(symbols) if symbol not in ("a", "b")), len(symbols))
        stack = symbols[:given]
        for action in symbols[given:asked]:
            if action not in _ACTIONS:
                raise self._no_word(word)
            stack = stack[:-1] if action == "-" else [*stack, action.lower()]
        answer = [*reversed(stack), END]
        if (symbols and not given) or set(symbols[asked:]) - {NULL} or len(symbols) - asked > len(answer):
            raise self._no_word(word)
        return [*([None] * asked), *answer[: len(symbols) - asked]]

    def _no_word(self, word: Word) -> NoWordError:
        return NoWordError(
            f"{''.join(word)} is no input of {self.name}: expected letters a b, actions - A B, and {NULL} for each "
            "symbol of the answer"
        )

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        return [self._draw(size, rng) for size in drawn_sizes(self.name, n, lengths, split, 1, rng)]

    def _draw(self, size: int, rng: np.random.Generator) -> Word:
        letters = 1 if size == 1 else int(rng.integers(1, size))
        actions = tuple(_ACTIONS)
        begun = ["ab"[i] for i in rng.integers(2, size=letters)]
        begun += [actions[i] for i in rng.integers(len(actions), size=size - letters)]
        height = letters
        for symbol in begun[letters:]:
            height = max(0, height - 1) if symbol == "-" else height + 1
        return make_word([*begun, *([NULL] * (height + 1))], self.alphabet)


def _move(control: object, symbol: Symbol, top: Symbol) -> Move | None:
    if symbol == NULL and control in ("content", "act", "say"):
        return ("end", NONE, END) if top == BOTTOM else ("say", POP, top)
    if symbol in ("a", "b") and control in ("begin", "content"):
        return "content", push(symbol), None
    if symbol in _ACTIONS and control in ("content", "act"):
        return "act", NONE if (symbol, top) == ("-", BOTTOM) else _ACTIONS[symbol], None
    return None
