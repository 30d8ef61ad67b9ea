"""Tasks by name, as the shell and the zoo's files call them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from stacklens.errors import UnknownNameError
from stacklens.languages.dyck import dyck_kinds
from stacklens.languages.tasks.agreement import Agreement
from stacklens.languages.tasks.base import Task
from stacklens.languages.tasks.bits import Reversal, SuzgunReversal, Xor
from stacklens.languages.tasks.counting_streams import PATTERNS, CountingStream
from stacklens.languages.tasks.formulas import BooleanFormula, ParenthesisPrediction
from stacklens.languages.tasks.memory_streams import Addition, Memorization
from stacklens.languages.tasks.next_sets import DyckNextSet, PalindromeNextSet
from stacklens.languages.tasks.stream_after import StreamAfter
from stacklens.languages.tasks.streams import StreamTask

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
_AFTER = re.compile(r"(.+)-after-(.)")


def get_task(name: str) -> Task:
    """Return the task that is called ``name``; ``anbn-after-b`` is that of streams after a ``b`` (`StreamAfter`).

    Raises:
        UnknownNameError: there is none; the message lists the names that there are.

    >>> get_task("dyck-2"), get_task("anbn"), get_task("delayed-xor").kind
    (DyckNextSet(n=2), CountingStream(pattern='anbn'), 'transduction')
    """
    if (kinds := dyck_kinds(name)) is not None:
        return DyckNextSet(kinds)
    if (match := _AFTER.fullmatch(name)) and match[1] in _TASKS and isinstance(task := get_task(match[1]), StreamTask):
        return StreamAfter(task, match[2])
    if name not in _TASKS:
        raise UnknownNameError("task", name, task_names())
    return _TASKS[name]()


def task_names() -> list[str]:
    """Return the names of all tasks for people to read, sorted; ``dyck-N`` stands for dyck-1, dyck-2, …

    >>> len(task_names()), task_names()[:3]
    (19, ['addition', 'agreement', 'anb2n'])
    """
    return sorted([*_TASKS, "dyck-N"])
