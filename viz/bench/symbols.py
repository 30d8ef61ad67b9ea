"""What the symbols of an automaton's stack stand for: which values of the network they are, and who pushes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from stacklens.automata.pda import PushdownAutomaton
from stacklens.models.base import StackModel
from stacklens.probe.trace import Trace
from stacklens.viz.bench.automaton_run import automaton_run

__all__ = ["symbol_meanings"]


def symbol_meanings(
    model: StackModel[Any], seen: Trace, pda: PushdownAutomaton, memories: Sequence[int]
) -> list[dict[str, Any]]:
    """Return for every stack symbol of ``pda`` the input symbols that push it and the values that the network pushes.

    ``memories`` are the numbers of the network's stacks that are the automaton's. "low" and "high" are the least and
    the largest pushed value on the words of the trace, a number for each place of a cell; None where the network pushes
    the symbol that it reads, or where it never pushed this one.
    """
    pushers: dict[int, set[str]] = defaultdict(set)
    values: dict[int, list[np.ndarray]] = defaultdict(list)
    same = len(memories) == pda.n_stacks and not model.pushes_input and model.real_time
    for number, word in enumerate(seen.words):
        run = automaton_run(pda, word)
        letters = [seen.letters[place] for place in seen.symbols[number, : seen.steps[number]]]
        for step, pushed in enumerate(run.pushed[: len(letters)]):
            for stack, symbol in enumerate(pushed):
                if symbol >= 0:
                    pushers[symbol].add(letters[step])
                    if same:
                        values[symbol].append(seen.pushed[number, step, memories[stack]])
    return [
        {
            "symbol": symbol,
            "pushed by": sorted(pushers[number]),
            "low": np.min(values[number], 0).round(3).tolist() if values[number] else None,
            "high": np.max(values[number], 0).round(3).tolist() if values[number] else None,
        }
        for number, symbol in enumerate(pda.stack_alphabet)
    ]
