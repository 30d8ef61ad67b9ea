"""The tasks of Hao et al. 2018, section 4: reversal, exclusive or, brackets, formulas, agreement.

Also the string reversal of Suzgun et al. 2019, section 7, the same function over a, b, c.

>>> [task.expected(word) for task, word in ((PARENTHESIS_PREDICTION, "([])"), (BOOLEAN_FORMULA, "TFT∧∨"))]
[[')', ']', ')', None], ['T', 'F', 'T', 'F', 'T']]
>>> PARENTHESIS_PREDICTION.scored("([])")
[False, True, True, False]
>>> sentence = "the lobsters that the lobster has devoured have".split()
>>> AGREEMENT.expected(sentence), [t for t, counts in enumerate(AGREEMENT.scored(sentence)) if counts]
([None, 'have', 'have', None, 'has', None, 'have', None], [4, 6])
"""

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import chain, product
from math import prod
from typing import Any

import numpy as np

from ..automata.pda import NONE, POP, Symbol, Word, push
from ..core.errors import StacklensError
from .language import choose, distinct_words, make_word
from .task import BOTTOM, DrawWord, DrawWords, Move, RuleTask, Sizes, Split, Task, evenly

NULL = "#"
NORMAL: dict[Split, tuple[float, float, int]] = {"train": (10, 2, 12), "test": (20, 4, 24)}  # mean, deviation, longest
SUZGUN_LENGTHS: dict[Split, tuple[int, int]] = {"train": (2, 50), "test": (52, 100)}


def reversal(
    name: str, letters: str, kept: str, sized: Callable[[DrawWord], DrawWords] = evenly, **more: Any
) -> RuleTask:
    """Return the task in which w #^k becomes #^|w| v^R, where v is what w has of ``kept``, and k its length; # is the
    last input and output. Its automaton is the transducer of figure 3: it pushes w, then pops and outputs it.

    >>> from stacklens.languages.catalogue import get_task
    >>> task, excluded = get_task("reversal"), get_task("reversal-with-excluded")
    >>> task.expected("110###"), task.scored("110###")
    (['#', '#', '#', '0', '1', '1'], [False, False, False, True, True, True])
    >>> excluded.expected("1203##")
    ['#', '#', '#', '#', '0', '1']
    """

    def move(state: str, symbol: Symbol, top: Symbol) -> Move | None:
        if symbol == NULL:
            return None if top == BOTTOM else ("say", POP, top)
        return ("read", push(symbol) if symbol in kept else NONE, NULL) if state == "read" else None

    def draw(size: int, rng: np.random.Generator) -> Word:
        word = random_letters(letters, size, rng)
        return word + NULL * sum(letter in kept for letter in word)

    form = "w and up to |w| times #, or as often as w has letters that come back"
    alphabet = (*letters, NULL)
    more = {"silent": frozenset({NULL}), "acceptance": "both", "form": form, **more}
    return RuleTask(name, alphabet, alphabet, initial="read", rule=move, words=sized(draw), **more)


def normal_sizes(draw: DrawWord) -> DrawWords:
    """Return what draws words whose sizes, |w|, are int(N(10, 2)) in 1..12, for testing int(N(20, 4)) in 1..24; or
    evenly. Hao et al. 2018, section 4.1. (The authors pad to twice the longest; the outputs there do not count.)
    """

    def words(_: Task, n: int, lengths: Sizes, split: Split, rng: np.random.Generator) -> list[Word]:
        mean, deviation, longest = NORMAL[split]
        sizes = np.clip(np.trunc(rng.normal(mean, deviation, n)), 1, longest).astype(int)
        if lengths is not None:
            sizes = rng.integers(lengths[0], lengths[1] + 1, size=n)
        return [draw(size, rng) for size in sizes.tolist()]

    return words


def distinct_sizes(draw: DrawWord) -> DrawWords:
    """Return what draws distinct words; a size is the length of the whole, w #^|w|: 2-50 to train, 52-100 to test.
    Suzgun et al. 2019, section 7: so its memory of 104 cells for "the longest sequence in all the tasks", 100,
    suggests; w itself is not given there, nor is the alphabet: both are read as in its palindromes.
    """

    def words(task: Task, n: int, lengths: Sizes, split: Split, rng: np.random.Generator) -> list[Word]:
        low, high = lengths or SUZGUN_LENGTHS[split]
        halves = range(-(-low // 2), high // 2 + 1)
        if not halves:
            raise StacklensError(f"{task.name} has no words of lengths {low} to {high}: they are even")
        one: Callable[[], Word] = lambda: draw(halves[int(rng.integers(len(halves)))], rng)  # noqa: E731
        return distinct_words(n, one, f"words of {task.name} of lengths {low} to {high}")

    return words


REVERSAL = reversal("reversal", "01", "01", normal_sizes)
# Section 6, experiment 1: "certain alphabet symbols are excluded from the reversed output", figure 5.
REVERSAL_WITH_EXCLUDED = reversal("reversal-with-excluded", "0123", "01", normal_sizes)
STRING_REVERSAL = reversal("string-reversal", "abc", "abc", distinct_sizes, silent=frozenset())


# The automaton of figure 4, left: the state is the parity, the stack is not used.


def _xor_move(parity: str, bit: Symbol, _: Symbol, delayed: bool) -> Move:
    new = "0" if bit == parity else "1"
    return new, NONE, parity if delayed else new


def random_letters(alphabet: str, size: int, rng: np.random.Generator) -> str:
    """Return ``size`` letters drawn evenly from ``alphabet``."""
    return "".join(alphabet[i] for i in rng.integers(len(alphabet), size=size))


# After each symbol, the exclusive or of all symbols so far (section 4.2), or of all but the last. Every position
# counts. The size is the length: 12, for testing 24.
XOR, DELAYED_XOR = (
    RuleTask(
        name,
        ("0", "1"),
        ("0", "1"),
        initial="0",
        rule=partial(_xor_move, delayed=name == "delayed-xor"),
        words=evenly(partial(random_letters, "01"), (12, 12), (24, 24), smallest=0),
        form="0 and 1 only",
        acceptance="both",
    )
    for name in ("xor", "delayed-xor")
)


# ---- Words of a small grammar by the depth of their derivation, as Hao et al. 2018, section 5, draw them ----
# The depth of a derivation counts the levels of nodes of its tree, the terminals' included. This is the paper's count
# (NLTK's), by which ``()`` from S -> T, T -> ( ) has depth 3.

Rules = tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]  # nonterminal, its alternatives; the start symbol first


@lru_cache(maxsize=1 << 16)
def _derivations(rules: Rules, symbol: str, depth: int) -> tuple[int, ...]:
    alternatives = dict(rules).get(symbol)
    if alternatives is None or depth <= 1:
        return (int(alternatives is None and depth >= 1),)
    return tuple(prod(sum(_derivations(rules, part, depth - 1)) for part in parts) for parts in alternatives)


def count_derivations(rules: Rules, depth: int) -> int:
    """Return the number of derivations from the start symbol of at most ``depth`` levels.

    >>> formulas = (("S", (("S", "S", "or"), ("T",), ("F",))),)
    >>> [count_derivations(formulas, depth) for depth in range(6)]
    [0, 0, 2, 6, 38, 1446]
    """
    return sum(_derivations(rules, rules[0][0], depth))


def draw_derivation(rules: Rules, depth: int, rng: np.random.Generator) -> list[Symbol]:
    """Return the word of a random derivation of at most ``depth`` levels, all of them equally likely."""
    if count_derivations(rules, depth) == 0:
        raise StacklensError(f"no word has a derivation of at most {depth} levels")
    alternatives, word = dict(rules), list[Symbol]()
    pending = [(rules[0][0], depth)]
    while pending:
        symbol, levels = pending.pop()
        if symbol not in alternatives:
            word.append(symbol)
            continue
        parts = alternatives[symbol][choose(_derivations(rules, symbol, levels), rng)]
        pending += [(part, levels - 1) for part in reversed(parts)]
    return word


@lru_cache(maxsize=1 << 10)
def words_by_depth(rules: Rules, depth: int, start: str | None = None) -> tuple[tuple[Symbol, ...], ...]:
    """Return the distinct words with a derivation from ``start`` of at most ``depth`` levels, sorted; for small depths.

    >>> words_by_depth((("S", (("a", "S"), ("a",))),), 4)
    (('a',), ('a', 'a'), ('a', 'a', 'a'))
    """
    alternatives = dict(rules).get(rules[0][0] if start is None else start)
    if alternatives is None:
        return ((str(start),),) if depth >= 1 else ()
    below = ([words_by_depth(rules, depth - 1, part) for part in parts] for parts in alternatives if depth > 1)
    return tuple(sorted({tuple(chain(*choice)) for words in below for choice in product(*words)}))


# ---- Nested brackets, Boolean formulas and subject-auxiliary agreement: sections 4.3 to 4.5 ----

_PAIRS = {"(": ")", "[": "]"}
_BRACKETS: Rules = (
    ("S", (("S", "T"), ("T", "S"), ("T",))),
    ("T", (("(", "T", ")"), ("(", ")"), ("[", "T", "]"), ("[", "]"))),
)
_FORMULAS: Rules = (("S", (("S", "S", "∨"), ("S", "S", "∧"), ("T",), ("F",))),)
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


def derived(rules: Rules, train: int, test: int, distinct: bool = False) -> DrawWords:
    """Return what draws words of a small grammar; the size is the depth of a derivation, ``train`` or ``test``. Any
    derivation of at most that depth is as likely as another, as in the authors' program. ``lengths=(0, d)`` draws those
    of depth at most d. Where they are ``distinct``, training words are drawn evenly.
    """

    def words(task: Task, n: int, lengths: Sizes, split: Split, rng: np.random.Generator) -> list[Word]:
        if lengths is not None and lengths[0] != 0:
            raise StacklensError(
                f"{task.name} draws derivations up to a depth: expected sizes (0, depth), not {lengths}"
            )
        depth = lengths[1] if lengths is not None else train if split == "train" else test
        if distinct and lengths is None and split == "train":
            known = words_by_depth(rules, depth)
            return [make_word(known[i], task.alphabet) for i in rng.integers(len(known), size=n).tolist()]
        return [make_word(draw_derivation(rules, depth, rng), task.alphabet) for _ in range(n)]

    return words


def _closing(control: str, symbol: Symbol, top: Symbol) -> Move | None:
    """Figure 4, right."""
    if symbol in _PAIRS:
        return None if control == "close" and top != BOTTOM else ("open", push(symbol), None)
    return ("close", POP, None) if _PAIRS.get(top) == symbol else None


def _evaluation(control: str, symbol: Symbol, top: Symbol) -> Move | None:
    """The state is the last value, those before are on the stack."""
    if control == "start":
        return (symbol, NONE, symbol) if top == BOTTOM and symbol in "TF" else None
    if symbol in "TF":
        return symbol, push(control), symbol
    if top == BOTTOM:
        return None
    value = "TF"["T" not in control + top] if symbol == "∨" else "TF"["F" in control + top]
    return value, POP, value


def _agreeing(control: str, symbol: Symbol, top: Symbol) -> Move | None:
    """The stack holds the auxiliaries that subjects still wait for."""
    match control.split(), symbol:
        case ["subject" | "object"], "the":
            return f"the {control}", NONE, None
        case ["the", "subject"], "lobster" | "lobsters":
            return f"noun {_AUXILIARY[symbol]}", push(_AUXILIARY[symbol]), None
        case ["the", "object"], "lobster" | "lobsters":
            return f"noun {_AUXILIARY[symbol]}", NONE, None
        case ["noun", _], "in":
            return "object", NONE, None
        case ["noun", auxiliary], "that":
            return f"that {auxiliary}", NONE, None
        case ["that", _], "the":
            return "the subject", NONE, None
        case ["that", auxiliary], "has" | "have":
            return ("verb", NONE, None) if symbol == auxiliary else None
        case ["noun", _] | ["done"], "has" | "have":
            return ("said", POP, None) if symbol == top else None
        case ["verb"], "slept":
            return "done", NONE, None
        case ["verb"], "devoured":
            return "object", NONE, None
        case ["said"], "devoured":  # with nobody waiting the sentence is over
            return ("done", NONE, None) if top != BOTTOM else None
    return None


def _agreed(control: str, top: Symbol) -> Symbol | None:
    kind, *auxiliary = control.split()
    if kind == "that":
        return auxiliary[0]
    return top if kind in ("noun", "done") else None


_derived_task = partial(RuleTask, acceptance="both", by_depth=True)
_predicted = partial(_derived_task, kind="next symbol", silent=None)
# The output is the bracket that would close the innermost open one, whether it comes next or not; it counts where it
# does. (Inside a bracket nothing stands beside a T: no ``(()())``.) Depth 6 is length up to 20, 12 up to 110.
PARENTHESIS_PREDICTION = _predicted(
    "parenthesis-prediction",
    (*"()[]",),
    (*"()[]",),
    initial="start",
    rule=_closing,
    says=lambda _, top: _PAIRS.get(top),
    words=derived(_BRACKETS, 6, 12, distinct=True),
    whole="close".__eq__,
    counted=(")", "]"),
)
# The value of the longest formula that ends here, in reverse Polish notation. The paper's depth 6 to train (length up
# to 15) and 7 to test (up to 31) are 5 and 6 by this grammar: the authors' program has one more level.
BOOLEAN_FORMULA = _derived_task(
    "boolean-formula",
    (*"TF∧∨",),
    ("T", "F"),
    initial="start",
    rule=_evaluation,
    words=derived(_FORMULAS, 5, 6),
    whole=("T", "F").__contains__,
)
# The output is the auxiliary that agrees with the subject, wherever one could come next; it counts where one does. The
# modifiers of a noun phrase, printed ``the lobster | (PP | Rel)``, are read as the authors' program has them: none, or
# one. Depth 16 is length up to 23, 32 up to 51 (the paper's 49 are what its draw happened to reach).
_WORDS = ("the", "lobster", "lobsters", "has", "have", "in", "that", "slept", "devoured")
AGREEMENT = _predicted(
    "agreement",
    _WORDS,
    _WORDS,
    initial="subject",
    rule=_agreeing,
    says=_agreed,
    words=derived(RULES, 16, 32),
    whole="said".__eq__,
    counted=("has", "have"),
)

# every task of theirs, what it asks, and the section
HAO_TASKS: tuple[tuple[Task, str, str], ...] = (
    (REVERSAL, "w and then w reversed", "4.1"),
    (REVERSAL_WITH_EXCLUDED, "w and then w reversed without its 2s and 3s", "6, experiment 1"),
    (XOR, "the exclusive or of all symbols so far", "4.2"),
    (DELAYED_XOR, "the exclusive or of all symbols but the last", "4.2"),
    (PARENTHESIS_PREDICTION, "the next bracket of two kinds", "4.3"),
    (BOOLEAN_FORMULA, "the value of a formula in reverse Polish notation", "4.4"),
    (AGREEMENT, "the verb that agrees with the subject", "4.5"),
)
