"""Tasks by name, as the shell and the zoo's files call them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from stacklens.errors import UnknownNameError
from stacklens.languages.tasks.agreement import Agreement
from stacklens.languages.tasks.base import Task
from stacklens.languages.tasks.bits import Reversal, SuzgunReversal, Xor
from stacklens.languages.tasks.counting_streams import PATTERNS, CountingStream
from stacklens.languages.tasks.formulas import BooleanFormula, ParenthesisPrediction
from stacklens.languages.tasks.memory_streams import Addition, Memorization
from stacklens.languages.tasks.next_sets import DyckNextSet, PalindromeNextSet

__all__ = ["get_task", "task_names"]

_TASKS: dict[str, Callable[[], Task]] = {
    # Joulin & Mikolov 2015
    **{pattern: partial(CountingStream, pattern) for pattern in PATTERNS},
    "memorization": Memorization,
    "addition": Addition,
    # Suzgun et al. 2019
    "homomorphic-palindrome": partial(PalindromeNextSet, simple=False),
    "homomorphic-palindrome-nonempty": partial(PalindromeNextSet, simple=False, empty=False),
    "simple-palindrome": partial(PalindromeNextSet, simple=True),
    "simple-palindrome-nonempty": partial(PalindromeNextSet, simple=True, empty=False),
    "string-reversal": SuzgunReversal,
    # Hao et al. 2018
    "reversal": Reversal,
    "xor": Xor,
    "delayed-xor": partial(Xor, delayed=True),
    "parenthesis-prediction": ParenthesisPrediction,
    "boolean-formula": BooleanFormula,
    "agreement": Agreement,
}
_DYCK = re.compile(r"dyck-([1-9][0-9]*)")


def get_task(name: str) -> Task:
    """Return the task that is called ``name``.

    Raises:
        UnknownNameError: there is none; the message lists the names that there are.

    >>> get_task("dyck-2"), get_task("anbn"), get_task("delayed-xor").kind
    (DyckNextSet(n=2), CountingStream(pattern='anbn'), 'transduction')
    """
    if match := _DYCK.fullmatch(name):
        return DyckNextSet(int(match[1]))
    if name not in _TASKS:
        raise UnknownNameError("task", name, task_names())
    return _TASKS[name]()


def task_names() -> list[str]:
    """Return the names of all tasks for people to read, sorted; ``dyck-N`` stands for dyck-1, dyck-2, …

    >>> len(task_names()), task_names()[:3]
    (19, ['addition', 'agreement', 'anb2n'])
    """
    return sorted([*_TASKS, "dyck-N"])
