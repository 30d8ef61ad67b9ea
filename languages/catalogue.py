"""Languages and tasks by name, as the shell and the zoo's files call them, with what they are, and from files."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..automata.formats import automaton_reader, from_regex
from ..automata.grammar import parse_grammar
from ..automata.small_grammar import grammar_of
from ..core.errors import FileFormatError, StacklensError, UnknownNameError
from ..core.files import read_text
from .chomsky import CHOMSKY_TASKS, EVEN_PAIRS, PARITY_CHECK
from .classic import (
    SUM_BLOCKS,
    TWICE_AS_MANY,
    BalancedParentheses,
    Dyck,
    MarkedPalindromes,
    counted_pairs,
    dyck_sizes,
    equal_blocks,
)
from .context_free import AutomatonLanguage, ContextFreeLanguage
from .hao2018 import HAO_TASKS, STRING_REVERSAL
from .language import Language
from .next_sets import BoundedDyck, BoundedDyckNextSet, DyckNextSet, LanguageNextSet, PalindromeNextSet
from .streams import Addition, CountingStream, Memorization, StreamAfter, StreamTask
from .task import RuleTask, Task

_SUFFIXES = (".json", ".jff", ".dot", ".re", ".cfg", ".grammar", ".txt")
_REGEX = "re:"  # before a regular expression in the place of a name

# Where each language and task is from.
_SUN, _JOULIN = "Sun et al. 1993", "Joulin & Mikolov 2015, section 5.1"
_SUZGUN, _HAO, _HEWITT = "Suzgun et al. 2019, section", "Hao et al. 2018, section", "Hewitt et al. 2020"
_DELETANG = "Delétang et al. 2023"
_NO_PDA = "n >= 1: no pushdown automaton accepts it"

# name: how it is made, what it is, and where it is from
_LANGUAGES: dict[str, tuple[Callable[[], Language], str, str]] = {
    "1n0n": (partial(counted_pairs, "1", "0"), "1^n 0^n, n >= 1", f"{_SUN}, section 4.2"),
    "anb2n": (lambda: TWICE_AS_MANY, "a^n b^2n, n >= 1", _JOULIN),
    "anbmcnm": (lambda: SUM_BLOCKS, "a^n b^m c^(n+m), n, m >= 1", _JOULIN),
    "anbn": (partial(counted_pairs, "a", "b"), "a^n b^n, n >= 1", _JOULIN),
    "anbncn": (partial(equal_blocks, 3), f"a^n b^n c^n, {_NO_PDA}", _JOULIN),
    "anbncndn": (partial(equal_blocks, 4), f"a^n b^n c^n d^n, {_NO_PDA}", _JOULIN),
    "even-pairs": (
        lambda: _answered(EVEN_PAIRS),
        "ab and ba together come an even number of times: regular",
        _DELETANG,
    ),
    "palindrome": (MarkedPalindromes, "w c (w reversed) over a b", f"{_SUN}, section 4.3"),
    "parentheses": (BalancedParentheses, "balanced parentheses", f"{_SUN}, section 4.1"),
    "parity-check": (lambda: _answered(PARITY_CHECK), "b comes an even number of times: regular", _DELETANG),
    **{
        f"{kind}-palindrome{end}": (
            partial(MarkedPalindromes, "abc", "#", images, empty=not end),
            f"{what} over a b c{', w not empty' if end else to}",
            f"{_SUZGUN} {section}",
        )
        for kind, images, what, to, section in (
            ("homomorphic", "xyz", "w # phi(w reversed)", ", phi to x y z", "6"),
            ("simple", None, "w # (w reversed)", "", "6.2"),
        )
        for end in ("", "-nonempty")
    },
}
ABOUT_LANGUAGES: dict[str, tuple[str, str]] = {
    "dyck-K-M": ("balanced brackets of K kinds, at most M deep: regular", _HEWITT),
    "dyck-N": ("balanced brackets of N kinds", f"{_SUZGUN} 5"),
    **{name: about for name, (_, *about) in _LANGUAGES.items()},  # type: ignore[misc]
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
    return not name.startswith(_REGEX) and (len(path.parts) > 1 or path.suffix in _SUFFIXES or os.path.exists(name))


def language_from_file(path: str | Path) -> Language:
    """Return the language of a grammar (see `parse_grammar`) or of an automaton (see `read_automaton`). The language is
    called what the path is. Raises FileFormatError: the file cannot be read, or is neither.
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
    ``re:(ab)*`` is that of a regular expression (see `from_regex`). Raises UnknownNameError: there is none; the message
    lists the names that there are. Raises FileFormatError: it is a path, and the file cannot be read or holds neither.

    >>> get_language("dyck-2"), get_language("1n0n")
    (Dyck(n=2), Blocks(name='1n0n', alphabet=('1', '0'), weights=(1,), states=('push', 'pop'), free=1))
    """
    if (sizes := dyck_sizes(name)) is not None:
        return Dyck(*sizes) if len(sizes) == 1 else BoundedDyck(*sizes)
    if name in _LANGUAGES:
        return _LANGUAGES[name][0]()
    if is_path(name):
        return language_from_file(name)
    if name.startswith(_REGEX):
        pda = from_regex(name.removeprefix(_REGEX))
        return AutomatonLanguage(name, grammar_of(pda), pda)
    raise UnknownNameError("language", name, language_names())


def language_names() -> list[str]:
    """Return the names of all languages for people to read, sorted. ``dyck-N`` stands for dyck-1, dyck-2, …, and
    ``dyck-K-M`` for dyck-2-3 and the like, which are bounded.

    >>> ", ".join(language_names()[:8])
    '1n0n, anb2n, anbmcnm, anbn, anbncn, anbncndn, dyck-K-M, dyck-N'
    """
    return sorted([*_LANGUAGES, "dyck-K-M", "dyck-N"])


# every task, what it is, and where it is from
_TASK_TABLE: tuple[tuple[Task, str, str], ...] = (
    (CountingStream("anb2n"), "streams of a^n b^2n", _JOULIN),
    (CountingStream("anbmcnm"), "streams of a^n b^m c^(n+m)", _JOULIN),
    (CountingStream("anbn"), "streams of a^n b^n", _JOULIN),
    (CountingStream("anbncn"), "streams of a^n b^n c^n", _JOULIN),
    (CountingStream("anbncndn"), "streams of a^n b^n c^n d^n", _JOULIN),
    (Memorization(), "streams of w = (w reversed)", _JOULIN),
    (Addition(), "streams of binary additions, the result in reverse", _JOULIN),
    (PalindromeNextSet(False), "what comes next in w # phi(w reversed)", f"{_SUZGUN} 6"),
    (PalindromeNextSet(False, False), "what comes next in w # phi(w reversed), w not empty", f"{_SUZGUN} 6"),
    (PalindromeNextSet(True), "what comes next in w # (w reversed)", f"{_SUZGUN} 6.2"),
    (PalindromeNextSet(True, False), "what comes next in w # (w reversed), w not empty", f"{_SUZGUN} 6.2"),
    (STRING_REVERSAL, "w and then w reversed, every position counts", f"{_SUZGUN} 7"),
    *((task, what, f"{_HAO} {section}") for task, what, section in HAO_TASKS),
    *((task, what, f"{_DELETANG}, {kind}") for task, what, kind in CHOMSKY_TASKS),
)
_TASKS = {task.name: task for task, *_ in _TASK_TABLE}
ABOUT_TASKS: dict[str, tuple[str, str]] = {
    "dyck-K-M": ("which brackets may come next, K kinds, at most M deep", _HEWITT),
    "dyck-N": ("which brackets may come next, N kinds", f"{_SUZGUN} 5"),
    **{task.name: (what, source) for task, what, source in _TASK_TABLE},
}


def get_task(name: str) -> Task:
    """Return the task that is called ``name``; ``anbn-after-b`` is that of streams after a ``b`` (`StreamAfter`).

    The path of a grammar or an automaton is the task to predict what may come next in its words (`LanguageNextSet`).
    Raises UnknownNameError: there is none; the message lists the names that there are. Raises FileFormatError: it is a
    path, and the file cannot be read or holds neither.

    >>> get_task("dyck-2"), get_task("anbn"), get_task("delayed-xor").kind
    (DyckNextSet(n=2), CountingStream(pattern='anbn'), 'transduction')
    """
    if (sizes := dyck_sizes(name)) is not None:
        return DyckNextSet(*sizes) if len(sizes) == 1 else BoundedDyckNextSet(*sizes)
    if (match := _AFTER.fullmatch(name)) and match[1] in _TASKS and isinstance(task := get_task(match[1]), StreamTask):
        return StreamAfter(task, match[2])
    if name in _TASKS:
        return _TASKS[name]
    if is_path(name) or name.startswith(_REGEX):
        return LanguageNextSet(get_language(name))
    raise UnknownNameError("task", name, task_names())


def task_names() -> list[str]:
    """Return the names of all tasks for people to read, sorted, ``dyck-N`` and ``dyck-K-M`` as of `language_names`.

    >>> len(task_names()), task_names()[:3]
    (29, ['addition', 'agreement', 'anb2n'])
    """
    return sorted([*_TASKS, "dyck-K-M", "dyck-N"])
