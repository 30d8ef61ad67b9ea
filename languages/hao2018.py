"""String reversal and exclusive or on words of 0 and 1: Hao et al. 2018, sections 4.1 and 4.2.

Also the string reversal of Suzgun et al. 2019, section 7, the same function over a, b, c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, product
from math import prod
from operator import xor
from typing import ClassVar

import numpy as np

from ..automata.pda import NONE, POP, Key, Output, PushdownAutomaton, StackOp, State, Symbol, Transition, Word, push
from ..automata.pda import push as push_symbol
from ..automata.rewriting import with_head_outputs
from ..core.errors import NoWordError, StacklensError
from .task import Split, Task
from .words import choose, distinct_words

NULL = "#"
NORMAL: dict[Split, tuple[float, float, int]] = {"train": (10, 2, 12), "test": (20, 4, 24)}  # mean, deviation, longest
XOR_LENGTH: dict[Split, int] = {"train": 12, "test": 24}
SUZGUN_LENGTHS: dict[Split, tuple[int, int]] = {"train": (2, 50), "test": (52, 100)}


@dataclass(frozen=True)
class Reversal(Task):
    """w #^|w| becomes #^|w| w^R (Hao et al. 2018, section 4.1); # is their null symbol, the last input and output.

    Only w^R counts. The size is the length of w: int(N(10, 2)) in 1..12, for testing int(N(20, 4)) in 1..24, with
    ``lengths`` drawn evenly instead. (The authors pad to twice the longest; what is said there does not count.)

    >>> task = Reversal()
    >>> task.expected("110###"), task.scored("110###")
    (['#', '#', '#', '0', '1', '1'], [False, False, False, True, True, True])
    """

    name = "reversal"
    kind = "transduction"
    _letters = "01"
    silent = frozenset({NULL})

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the letters and the null symbol."""
        return (*self._letters, NULL)

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the transducer of figure 3: it pushes w, then pops and says it, and says # when all is said.

        Any prefix is transduced; accepted are the words w #^|w|.
        """
        letters, bottom = tuple(self._letters), "⊥"
        steps: dict[Key, Transition] = {}
        for top in (bottom, *letters):
            steps |= {("read", letter, (top,)): Transition("read", (push(letter),), NULL) for letter in letters}
        for state in ("read", "say"):
            steps |= {(state, NULL, (letter,)): Transition("say", (POP,), letter) for letter in letters}
        states = ("read", "say")
        return PushdownAutomaton(states, self.alphabet, letters, steps, "read", frozenset(states), bottom=bottom)

    def expected(self, word: Word) -> list[Output]:
        """Return # for every letter, then the letters in reverse."""
        length = list(word).index(NULL) if NULL in word else len(word)
        letters, nulls = list(word[:length]), list(word[length:])
        if not set(letters) <= set(self._letters) or set(nulls) - {NULL} or len(nulls) > length:
            raise NoWordError(f"{''.join(word)} is no input of {self.name}: expected w and up to |w| times {NULL}")
        return [*([NULL] * length), *letters[::-1][: len(nulls)]]

    def scored(self, word: Word) -> list[bool]:
        """Return True where w^R is said."""
        return [symbol != NULL for symbol in self.expected(word)]

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        mean, deviation, longest = NORMAL[split]
        sizes = np.clip(np.trunc(rng.normal(mean, deviation, n)), 1, longest).astype(int)
        if lengths is not None:
            sizes = rng.integers(lengths[0], lengths[1] + 1, size=n)
        return [self._draw(size, rng) for size in sizes.tolist()]

    def _draw(self, size: int, rng: np.random.Generator) -> str:
        return "".join(self._letters[i] for i in rng.integers(len(self._letters), size=size)) + NULL * size


@dataclass(frozen=True)
class ReversalWithExcluded(Reversal):
    """w #^k becomes #^|w| v^R, where v is w without its 2s and 3s, and k its length (Hao et al. 2018, figure 5).

    Section 6, experiment 1: "a variant of this task in which certain alphabet symbols are excluded from the reversed
    output". Sizes are those of w in `Reversal`.

    >>> task = ReversalWithExcluded()
    >>> task.expected("1203##"), task.scored("1203##")
    (['#', '#', '#', '#', '0', '1'], [False, False, False, False, True, True])
    """

    name = "reversal-with-excluded"
    _letters = "0123"
    included = "01"

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the transducer of `Reversal`, which only pushes what it will say."""
        whole, letters = super().reference, tuple(self.included)
        steps = {
            key: step if key[1] in (*letters, NULL) else Transition(step.target, (NONE,), NULL)
            for key, step in whole.transitions.items()
            if set(key[2]) <= {*letters, whole.bottom}
        }
        return replace(whole, stack_alphabet=letters, transitions=steps)

    def expected(self, word: Word) -> list[Output]:
        """Return # for every letter, then the included letters in reverse."""
        length = list(word).index(NULL) if NULL in word else len(word)
        kept = [letter for letter in word[:length] if letter in self.included]
        nulls = list(word[length:])
        if not set(word[:length]) <= set(self._letters) or set(nulls) - {NULL} or len(nulls) > len(kept):
            raise NoWordError(
                f"{''.join(word)} is no input of {self.name}: expected w and up to {NULL} for every 0 and 1 in it"
            )
        return [*([NULL] * length), *kept[::-1][: len(nulls)]]

    def _draw(self, size: int, rng: np.random.Generator) -> str:
        letters = super()._draw(size, rng)[:size]
        return letters + NULL * sum(letter in self.included for letter in letters)


@dataclass(frozen=True)
class SuzgunReversal(Reversal):
    """w #^|w| becomes #^|w| w^R over a, b, c (Suzgun et al. 2019, section 7): every position counts.

    Words are distinct. The size is the length of the whole, w #^|w|: 2-50 to train, 52-100 to test, as the paper's
    memory of 104 cells for "the longest sequence in all the tasks", 100, suggests; w itself is not given there, nor is
    the alphabet: both are read as in its palindromes.

    >>> SuzgunReversal().scored("ab##")
    [True, True, True, True]
    """

    name = "string-reversal"
    _letters = "abc"
    silent = frozenset()

    def scored(self, word: Word) -> list[bool]:
        """Return True for every position."""
        return [True] * len(word)

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        low, high = lengths or SUZGUN_LENGTHS[split]
        halves = range(-(-low // 2), high // 2 + 1)
        if not halves:
            raise StacklensError(f"{self.name} has no words of lengths {low} to {high}: they are even")
        draw: Callable[[], Word] = lambda: self._draw(halves[int(rng.integers(len(halves)))], rng)  # noqa: E731
        return distinct_words(n, draw, f"words of {self.name} of lengths {low} to {high}")


@dataclass(frozen=True)
class Xor(Task):
    """After each symbol, the exclusive or of all symbols so far (section 4.2), or of all but the last (``delayed``).

    Every position counts. The size is the length: 12, for testing 24.

    >>> Xor().expected("1010110"), Xor(delayed=True).expected("1010")
    (['1', '1', '0', '0', '1', '0', '0'], ['0', '1', '1', '0'])
    """

    delayed: bool = False
    kind = "transduction"
    alphabet = ("0", "1")
    output_alphabet = ("0", "1")

    @property
    def name(self) -> str:
        """Return ``xor`` or ``delayed-xor``."""
        return "delayed-xor" if self.delayed else "xor"

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton of figure 4, left: the state is the parity, the stack is not used."""
        steps: dict[Key, Transition] = {}
        for parity in "01":
            for bit in "01":
                new = "0" if bit == parity else "1"
                steps[parity, bit, ("⊥",)] = Transition(new, (NONE,), parity if self.delayed else new)
        return PushdownAutomaton(("0", "1"), self.alphabet, (), steps, "0", frozenset("01"))

    def expected(self, word: Word) -> list[Output]:
        """Return the parity of the ones so far, as 0 or 1."""
        if not set(word) <= {"0", "1"}:
            raise NoWordError(f"{''.join(word)} is no input of {self.name}: expected 0 and 1 only")
        parities = [str(parity) for parity in accumulate(map(int, word), xor, initial=0)]
        return [*(parities[:-1] if self.delayed else parities[1:])]

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        low, high = lengths or (XOR_LENGTH[split],) * 2
        sizes = rng.integers(low, high + 1, size=n).tolist()
        return ["".join(str(bit) for bit in rng.integers(2, size=size).tolist()) for size in sizes]


# ---- Words of a small grammar by the depth of their derivation, as Hao et al. 2018, section 5, draw them ----
#
# The depth of a derivation counts the levels of nodes of its tree, the terminals' included. This is the paper's count
# (NLTK's), by which ``()`` from S -> T, T -> ( ) has depth 3.

Rules = tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]  # nonterminal, its alternatives; the start symbol first


def count_derivations(rules: Rules, depth: int) -> int:
    """Return the number of derivations from the start symbol of at most ``depth`` levels.

    >>> formulas = (("S", (("S", "S", "or"), ("T",), ("F",))),)
    >>> [count_derivations(formulas, depth) for depth in range(6)]
    [0, 0, 2, 6, 38, 1446]
    """
    return _counts(rules).of(rules[0][0], depth)


def draw_derivation(rules: Rules, depth: int, rng: np.random.Generator) -> list[Symbol]:
    """Return the word of a random derivation of at most ``depth`` levels, all of them equally likely.

    Raises:
        StacklensError: there is none.
    """
    if count_derivations(rules, depth) == 0:
        raise StacklensError(f"no word has a derivation of at most {depth} levels")
    return _counts(rules).draw(rules[0][0], depth, rng)


class _Counts:
    """The numbers of derivations from each symbol by depth, kept once they are known."""

    def __init__(self, rules: Rules) -> None:
        self.alternatives = dict(rules)
        self.known: dict[tuple[str, int], int] = {}

    def of(self, symbol: str, depth: int) -> int:
        if symbol not in self.alternatives:
            return int(depth >= 1)
        if depth <= 1:
            return 0
        if (symbol, depth) not in self.known:
            self.known[symbol, depth] = sum(self.ways(symbol, depth))
        return self.known[symbol, depth]

    def ways(self, symbol: str, depth: int) -> list[int]:
        """Return how many derivations begin with each alternative of ``symbol``."""
        return [prod(self.of(part, depth - 1) for part in parts) for parts in self.alternatives[symbol]]

    def draw(self, symbol: str, depth: int, rng: np.random.Generator) -> list[Symbol]:
        if symbol not in self.alternatives:
            return [symbol]
        parts = self.alternatives[symbol][choose(self.ways(symbol, depth), rng)]
        return [terminal for part in parts for terminal in self.draw(part, depth - 1, rng)]


_counts = lru_cache(maxsize=16)(_Counts)


@lru_cache(maxsize=16)
def words_by_depth(rules: Rules, depth: int) -> tuple[tuple[Symbol, ...], ...]:
    """Return the distinct words with a derivation of at most ``depth`` levels, sorted; for small depths.

    >>> words_by_depth((("S", (("a", "S"), ("a",))),), 4)
    (('a',), ('a', 'a'), ('a', 'a', 'a'))
    """
    return tuple(sorted(_words(rules, rules[0][0], depth)))


def _words(rules: Rules, symbol: str, depth: int) -> set[tuple[Symbol, ...]]:
    alternatives = dict(rules).get(symbol)
    if alternatives is None:
        return {(symbol,)} if depth >= 1 else set()
    found: set[tuple[Symbol, ...]] = set()
    for parts in alternatives if depth > 1 else ():
        for choice in product(*(_words(rules, part, depth - 1) for part in parts)):
            found.add(tuple(terminal for word in choice for terminal in word))
    return found


# ---- Nested brackets and Boolean formulas: Hao et al. 2018, sections 4.3 and 4.4 ----

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


# ---- Subject-auxiliary agreement: Hao et al. 2018, section 4.5 ----

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
