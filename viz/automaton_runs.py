"""An automaton at work on a word, step by step: which transition it takes, and what then lies on its stacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stacklens.automata.pda import PushdownAutomaton, StackOp, State, Symbol, Tops, Word

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Move", "moves", "run_table", "stacks_after"]

_SPELLED = 20  # symbols of a stack in a table


@dataclass(frozen=True)
class Move:
    """One step of a run.

    Attributes:
        symbol: what is read.
        state, tops: the head before the step.
        target, operations: the transition; None and () where there is none, so that the run ends here and rejects.
        rule: the transition's number in ``pda.transitions``, from 0; None where there is none.
    """

    symbol: Symbol
    state: State
    tops: Tops
    target: State | None
    operations: tuple[StackOp, ...]
    rule: int | None


def moves(pda: PushdownAutomaton, word: Word) -> list[Move]:
    """Return the steps of ``pda`` on ``word``; the last one has no target where the run is cut short.

    With an end marker the last step reads it.

    Raises:
        UnknownSymbolError: the word has a symbol that the automaton does not read.

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> steps = {("q", "(", ("⊥",)): Transition("q", (push("x"),)), ("q", ")", ("x",)): Transition("q", (POP,))}
    >>> pda = PushdownAutomaton(("q",), ("(", ")"), ("x",), steps, "q")
    >>> [(move.tops, move.target, move.rule) for move in moves(pda, "())")]
    [(('⊥',), 'q', 0), (('x',), 'q', 1), (('⊥',), None, None)]
    """
    numbers = {key: number for number, key in enumerate(pda.transitions)}
    letters = (*word, *pda.letters[len(pda.input_alphabet) :])
    made: list[Move] = []
    for here, symbol in zip(pda.run(word), letters, strict=False):  # where it is cut short the last letter has no rule
        key = here.state, symbol, here.tops(pda.bottom)
        step = pda.transitions.get(key)
        target, operations = (None, ()) if step is None else (step.target, step.operations)
        made.append(Move(symbol, here.state, key[2], target, operations, numbers.get(key)))
    return made


def stacks_after(pda: PushdownAutomaton, word: Word) -> Iterator[tuple[tuple[Symbol, ...], ...]]:
    """Yield every stack, bottom first, after each step on ``word``, until the run is cut short."""
    configurations = pda.run(word)
    next(configurations)
    for configuration in configurations:
        yield configuration.stacks


def run_table(pda: PushdownAutomaton, word: Word) -> pd.DataFrame:
    """Return one row a step of ``pda`` on ``word``: symbol, state, top, operation, next state, and the stack after it.

    The stack is spelled from its bottom, of a high one the topmost 20 symbols; several are parted by |. A step without
    a transition has the operation "rejects"; the rows end with it.
    """
    import pandas as pd

    steps, contents = moves(pda, word), [" | ".join(map(_spelled, stacks)) for stacks in stacks_after(pda, word)]
    rows = [
        {
            "step": number + 1,
            "symbol": move.symbol,
            "state": move.state,
            "top": " ".join(move.tops),
            "operation": "rejects" if move.target is None else ", ".join(map(str, move.operations)),
            "next": move.target or "",
            "stack": stack,
        }
        for number, (move, stack) in enumerate(zip(steps, [*contents, ""], strict=False))  # the last may reject
    ]
    return pd.DataFrame(rows, columns=["step", "symbol", "state", "top", "operation", "next", "stack"])


def _spelled(stack: tuple[Symbol, ...]) -> str:
    return f"{'… ' if len(stack) > _SPELLED else ''}{' '.join(stack[-_SPELLED:])}"
