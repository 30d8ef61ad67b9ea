"""Languages and tasks by name, as the shell and the zoo's files call them, with what they are, and from files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from ..automata.formats.by_suffix import automaton_reader, read_text
from ..automata.grammar import parse_grammar
from ..automata.small_grammar import grammar_of
from ..core.errors import FileFormatError, StacklensError, UnknownNameError
from .chomsky import (
    CYCLE_NAVIGATION,
    EVEN_PAIRS,
    MODULAR_ARITHMETIC,
    PARITY_CHECK,
    REVERSE_STRING,
    STACK_MANIPULATION,
    RuleTask,
    modular_arithmetic_brackets,
    solve_equation,
)
from .classic import (
    SUM_BLOCKS,
    TWICE_AS_MANY,
    BalancedParentheses,
    Dyck,
    MarkedPalindromes,
    counted_pairs,
    dyck_kinds,
    equal_blocks,
)
from .context_free import AutomatonLanguage, ContextFreeLanguage
from .hao2018 import (
    AGREEMENT,
    BOOLEAN_FORMULA,
    PARENTHESIS_PREDICTION,
    REVERSAL,
    REVERSAL_WITH_EXCLUDED,
    STRING_REVERSAL,
    Xor,
)
from .language import Language
from .next_sets import BoundedDyck, BoundedDyckNextSet, DyckNextSet, PalindromeNextSet, bounded_dyck
from .streams import PATTERNS, Addition, CountingStream, Memorization, StreamAfter, StreamTask
from .task import Task

_SUFFIXES = (".json", ".jff", ".dot", ".cfg", ".grammar", ".txt")

_LANGUAGES: dict[str, Callable[[], Language]] = {
    "1n0n": partial(counted_pairs, "1", "0"),
    "anb2n": lambda: TWICE_AS_MANY,
    "anbmcnm": lambda: SUM_BLOCKS,
    "anbn": partial(counted_pairs, "a", "b"),
    "anbncn": partial(equal_blocks, 3),
    "anbncndn": partial(equal_blocks, 4),
    "even-pairs": lambda: _answered(EVEN_PAIRS),
    "homomorphic-palindrome": partial(MarkedPalindromes, "abc", "#", "xyz"),
    "homomorphic-palindrome-nonempty": partial(MarkedPalindromes, "abc", "#", "xyz", empty=False),
    "palindrome": MarkedPalindromes,
    "parentheses": BalancedParentheses,
    "parity-check": lambda: _answered(PARITY_CHECK),
    "simple-palindrome": partial(MarkedPalindromes, "abc", "#"),
    "simple-palindrome-nonempty": partial(MarkedPalindromes, "abc", "#", empty=False),
}
# What each is, and where it is from, in words.
_SUN, _JOULIN = "Sun et al. 1993", "Joulin & Mikolov 2015"
_SUZGUN, _HAO = "Suzgun et al. 2019", "Hao et al. 2018"
_NONEMPTY = ", w not empty"
_DELETANG = "Delétang et al. 2023"

ABOUT_LANGUAGES: dict[str, tuple[str, str]] = {
    "1n0n": ("1^n 0^n, n >= 1", f"{_SUN}, section 4.2"),
    "anb2n": ("a^n b^2n, n >= 1", f"{_JOULIN}, section 5.1"),
    "anbmcnm": ("a^n b^m c^(n+m), n, m >= 1", f"{_JOULIN}, section 5.1"),
    "anbn": ("a^n b^n, n >= 1", f"{_JOULIN}, section 5.1"),
    "anbncn": ("a^n b^n c^n, n >= 1: no pushdown automaton accepts it", f"{_JOULIN}, section 5.1"),
    "anbncndn": ("a^n b^n c^n d^n, n >= 1: no pushdown automaton accepts it", f"{_JOULIN}, section 5.1"),
    "dyck-K-M": ("balanced brackets of K kinds, at most M deep: regular", "Hewitt et al. 2020"),
    "dyck-N": ("balanced brackets of N kinds", f"{_SUZGUN}, section 5"),
    "even-pairs": ("ab and ba together come an even number of times: regular", _DELETANG),
    "homomorphic-palindrome": ("w # phi(w reversed) over a b c, phi to x y z", f"{_SUZGUN}, section 6"),
    "homomorphic-palindrome-nonempty": (f"w # phi(w reversed) over a b c{_NONEMPTY}", f"{_SUZGUN}, section 6"),
    "palindrome": ("w c (w reversed) over a b", f"{_SUN}, section 4.3"),
    "parentheses": ("balanced parentheses", f"{_SUN}, section 4.1"),
    "parity-check": ("b comes an even number of times: regular", _DELETANG),
    "simple-palindrome": ("w # (w reversed) over a b c", f"{_SUZGUN}, section 6.2"),
    "simple-palindrome-nonempty": (f"w # (w reversed) over a b c{_NONEMPTY}", f"{_SUZGUN}, section 6.2"),
}

ABOUT_TASKS: dict[str, tuple[str, str]] = {
    "addition": ("streams of binary additions, the result in reverse", f"{_JOULIN}, section 5.1"),
    "agreement": ("the verb that agrees with the subject", f"{_HAO}, section 4.5"),
    "anb2n": ("streams of a^n b^2n", f"{_JOULIN}, section 5.1"),
    "anbmcnm": ("streams of a^n b^m c^(n+m)", f"{_JOULIN}, section 5.1"),
    "anbn": ("streams of a^n b^n", f"{_JOULIN}, section 5.1"),
    "anbncn": ("streams of a^n b^n c^n", f"{_JOULIN}, section 5.1"),
    "anbncndn": ("streams of a^n b^n c^n d^n", f"{_JOULIN}, section 5.1"),
    "boolean-formula": ("the value of a formula in reverse Polish notation", f"{_HAO}, section 4.4"),
    "cycle-navigation": ("where on a cycle of five places one is", f"{_DELETANG}, regular"),
    "delayed-xor": ("the exclusive or of all symbols but the last", f"{_HAO}, section 4.2"),
    "dyck-K-M": ("which brackets may come next, K kinds, at most M deep", "Hewitt et al. 2020"),
    "dyck-N": ("which brackets may come next, N kinds", f"{_SUZGUN}, section 5"),
    "even-pairs": ("whether ab and ba together come an odd number of times", f"{_DELETANG}, regular"),
    "homomorphic-palindrome": ("what comes next in w # phi(w reversed)", f"{_SUZGUN}, section 6"),
    "homomorphic-palindrome-nonempty": (
        f"what comes next in w # phi(w reversed){_NONEMPTY}",
        f"{_SUZGUN}, section 6",
    ),
    "memorization": ("streams of w = (w reversed)", f"{_JOULIN}, section 5.1"),
    "modular-arithmetic": ("the value of sums and products of digits, modulo 5", f"{_DELETANG}, regular"),
    "modular-arithmetic-brackets": (
        "the value of an expression with brackets, modulo 5",
        f"{_DELETANG}, deterministic context-free",
    ),
    "parenthesis-prediction": ("the next bracket of two kinds", f"{_HAO}, section 4.3"),
    "parity-check": ("whether b comes an odd number of times", f"{_DELETANG}, regular"),
    "reversal": ("w and then w reversed", f"{_HAO}, section 4.1"),
    "reversal-with-excluded": ("w and then w reversed without its 2s and 3s", f"{_HAO}, section 6, experiment 1"),
    "reverse-string": ("w and then w reversed, over a b", f"{_DELETANG}, deterministic context-free"),
    "simple-palindrome": ("what comes next in w # (w reversed)", f"{_SUZGUN}, section 6.2"),
    "simple-palindrome-nonempty": (f"what comes next in w # (w reversed){_NONEMPTY}", f"{_SUZGUN}, section 6.2"),
    "solve-equation": ("what x is, modulo 5", f"{_DELETANG}, deterministic context-free"),
    "stack-manipulation": ("the content of a stack after some actions", f"{_DELETANG}, deterministic context-free"),
    "string-reversal": ("w and then w reversed, every position counts", f"{_SUZGUN}, section 7"),
    "xor": ("the exclusive or of all symbols so far", f"{_HAO}, section 4.2"),
}

_AFTER = re.compile(r"(.+)-after-(.)")


def _answered(task: RuleTask) -> Language:
    """Return the words to which ``task`` answers 0, and the empty one."""
    pda = task.reference
    zero = {step.target for step in pda.transitions.values() if step.output == "0"}
    steps = {key: replace(step, output=None) for key, step in pda.transitions.items()}
    pda = replace(pda, transitions=steps, accepting=frozenset({*zero, pda.initial}))
    return AutomatonLanguage(task.name, grammar_of(pda), pda)


def is_path(name: str) -> bool:
    """Return whether ``name`` looks like a file's: it has a folder or one of our suffixes in it, or it is there.

    >>> is_path("my/grammar"), is_path("dyck.cfg"), is_path("dyck-2")
    (True, True, False)
    """
    path = Path(name)
    return len(path.parts) > 1 or path.suffix in _SUFFIXES or os.path.exists(name)


def language_from_file(path: str | Path) -> Language:
    """Return the language of a grammar (see `parse_grammar`) or of an automaton (see `read_automaton`).

    The language is called what the path is.

    Raises:
        FileFormatError: the file cannot be read, or is neither; one line that names the file.
    """
    return language_from_text(read_text(path, "a grammar or an automaton as JSON, DOT or JFLAP"), path)


def language_from_text(text: str, path: str | Path) -> Language:
    """Return the language in the ``text`` of the file that was at ``path``; errors as of `language_from_file`."""
    reader = automaton_reader(path, text)
    if reader is None:
        return ContextFreeLanguage(str(path), parse_grammar(text, str(path)), text=text)
    try:
        pda = reader(text)
        return AutomatonLanguage(str(path), grammar_of(pda), pda, text=text)
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None


def get_language(name: str) -> Language:
    """Return the language that is called ``name``, or that the file at that path holds: a grammar or an automaton.

    Raises:
        UnknownNameError: there is none; the message lists the names that there are.
        FileFormatError: it is a path, and the file cannot be read or holds neither.

    >>> get_language("dyck-2"), get_language("1n0n")
    (Dyck(n=2), Blocks(name='1n0n', alphabet=('1', '0'), weights=(1,), states=('push', 'pop'), free=1))
    """
    if (kinds := dyck_kinds(name)) is not None:
        return Dyck(kinds)
    if (bounded := bounded_dyck(name)) is not None:
        return BoundedDyck(*bounded)
    if name not in _LANGUAGES and is_path(name):
        return language_from_file(name)
    if name not in _LANGUAGES:
        raise UnknownNameError("language", name, language_names())
    return _LANGUAGES[name]()


def language_names() -> list[str]:
    """Return the names of all languages for people to read, sorted.

    ``dyck-N`` stands for dyck-1, dyck-2, …, and ``dyck-K-M`` for dyck-2-3 and the like, which are bounded.

    >>> ", ".join(language_names()[:8])
    '1n0n, anb2n, anbmcnm, anbn, anbncn, anbncndn, dyck-K-M, dyck-N'
    """
    return sorted([*_LANGUAGES, "dyck-K-M", "dyck-N"])


_TASK_VALUES: tuple[Task, ...] = (
    # Joulin & Mikolov 2015
    *map(CountingStream, PATTERNS),
    Memorization(),
    Addition(),
    # Suzgun et al. 2019
    *(PalindromeNextSet(simple, empty) for simple, empty in product((False, True), repeat=2)),
    STRING_REVERSAL,
    # Hao et al. 2018
    REVERSAL,
    REVERSAL_WITH_EXCLUDED,
    Xor(),
    Xor(delayed=True),
    PARENTHESIS_PREDICTION,
    BOOLEAN_FORMULA,
    AGREEMENT,
    # Delétang et al. 2023
    CYCLE_NAVIGATION,
    EVEN_PAIRS,
    MODULAR_ARITHMETIC,
    PARITY_CHECK,
    REVERSE_STRING,
    STACK_MANIPULATION,
    modular_arithmetic_brackets(),
    solve_equation(),
)
_TASKS = {task.name: task for task in _TASK_VALUES}


def get_task(name: str) -> Task:
    """Return the task that is called ``name``; ``anbn-after-b`` is that of streams after a ``b`` (`StreamAfter`).

    Raises:
        UnknownNameError: there is none; the message lists the names that there are.

    >>> get_task("dyck-2"), get_task("anbn"), get_task("delayed-xor").kind
    (DyckNextSet(n=2), CountingStream(pattern='anbn'), 'transduction')
    """
    if (kinds := dyck_kinds(name)) is not None:
        return DyckNextSet(kinds)
    if (bounded := bounded_dyck(name)) is not None:
        return BoundedDyckNextSet(*bounded)
    if (match := _AFTER.fullmatch(name)) and match[1] in _TASKS and isinstance(task := get_task(match[1]), StreamTask):
        return StreamAfter(task, match[2])
    if name not in _TASKS:
        raise UnknownNameError("task", name, task_names())
    return _TASKS[name]


def task_names() -> list[str]:
    """Return the names of all tasks for people to read, sorted, ``dyck-N`` and ``dyck-K-M`` as of `language_names`.

    >>> len(task_names()), task_names()[:3]
    (29, ['addition', 'agreement', 'anb2n'])
    """
    return sorted([*_TASKS, "dyck-K-M", "dyck-N"])
