"""Which symbols may come next? The recognition tasks of Suzgun et al. 2019, sections 5, 6 and 7.

At every step a network says the set of symbols that may follow (one sigmoid each, threshold 0.5), and a word is right
if every set is. Dyck words say nothing about the end (table 1, left: after ``([])`` the set is ``( [``, though the word
may end); palindromes have a symbol ⊣ for it (table 1, right), which the network says but never reads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product, repeat
from typing import Any

import numpy as np

from ..automata.counting import live_form
from ..automata.finite import FiniteAutomaton
from ..automata.pda import NONE, Key, Output, PushdownAutomaton, State, Symbol, Transition, Word, next_symbols
from ..automata.rewriting import predictor_of
from ..core.errors import AutomatonError, StacklensError
from .classic import Dyck, MarkedPalindromes
from .context_free import ContextFreeLanguage
from .language import Language, distinct_words, run_of
from .task import Split, Task

_MOST_KINDS = 100  # of brackets: making the reference takes the cube of it

END_MARK = "⊣"
LENGTHS: dict[Split, tuple[int, int]] = {"train": (2, 50), "test": (52, 100)}
P_NEST, P_PAIR = 0.5, 0.25  # of S -> ( S ) and S -> S S; the rest is S -> nothing


class _NextSet(Task):
    """Predict the set of next symbols on members of a language; a word's size is its length. Every position counts."""

    kind = "next set"
    silent = frozenset()
    language: Any  # whose members are read
    end: Symbol | None = None  # the output that says that a word may end

    @property
    def name(self) -> str:
        return str(self.language.name)

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        return tuple(self.language.alphabet)

    @property
    def output_alphabet(self) -> tuple[Symbol, ...]:
        return self.alphabet if self.end is None else (*self.alphabet, self.end)

    @cached_property
    def reference(self) -> PushdownAutomaton | None:
        """Return the predictor of the language's automaton, which also says where a word may end if there is an end."""
        return predictor_of(self.language.automaton, self.end)

    def expected(self, word: Word) -> list[Output]:  # of many kinds of brackets the reference takes long to make
        pda, outputs = self.language.automaton, list[Output]()
        for step, top in run_of(pda, word):
            head = step.target, top
            if head not in self._known:
                self._known[head] = next_symbols(pda, self.end, *head)
            outputs.append(self._known[head])
        return self._of_whole(word, outputs)

    @cached_property
    def _known(self) -> dict[tuple[State, Symbol], Output]:
        return {}

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        low, high = lengths or LENGTHS[split]
        return distinct_words(n, self._draw(low, high, rng), f"words of {self.name} of lengths {low} to {high}")

    def _draw(self, low: int, high: int, rng: np.random.Generator) -> Callable[[], Word | None]:
        """Return a function that draws one member, or None; by default every length is as likely as the others."""
        return lambda: self.language.sample(1, (low, high), seed=int(rng.integers(2**63)))[0]


@dataclass(frozen=True)
class DyckNextSet(_NextSet):
    """Dyck-n (section 5): distinct members from the grammar S -> (i S )i | S S | nothing, p = 1/2, q = 1/4. A
    derivation is cut as in the authors' program: nothing is derived within ``high / 2`` nestings, and a part that grows
    beyond ``high`` symbols is dropped; words shorter than ``low`` are drawn again.

    >>> DyckNextSet(2).expected("([])")  # table 1, left
    [('(', ')', '['), ('(', '[', ']'), ('(', ')', '['), ('(', '[')]
    """

    n: int

    def __post_init__(self) -> None:
        Dyck(self.n)
        if self.n > _MOST_KINDS:
            raise StacklensError(f"dyck-{self.n} is too large a task: expected dyck-{_MOST_KINDS} or less")

    @cached_property
    def language(self) -> Dyck:
        return Dyck(self.n)

    def _draw(self, low: int, high: int, rng: np.random.Generator) -> Callable[[], Word | None]:
        # one by one they would take most of the time
        chances = chain.from_iterable(rng.random(4096).tolist() for _ in repeat(None))

        def derive(room: int) -> str:  # where it is cut does not depend on the brackets' kinds: they are drawn later
            chance = next(chances)
            if room <= 0 or chance >= P_NEST + P_PAIR:
                return ""
            shape = f"({derive(room - 2)})" if chance < P_NEST else derive(room) + derive(room)
            return shape if len(shape) <= high else ""

        def draw() -> Word | None:
            shape = derive(high)
            return self.language.of_shape(shape, rng) if len(shape) >= low else None

        return draw


@dataclass(frozen=True)
class PalindromeNextSet(_NextSet):
    """w # phi(w^R) over a, b, c (section 6): phi maps to x, y, z, or nothing (``simple``). The paper does not say how
    the words are drawn. Here: each possible length as likely as the others, then uniform letters, and what was there
    already is drawn again (of the shortest words there are few).

    Words of the paper have 2 symbols or more, so nobody tells a network what follows a first ``#``, although w may be
    empty in the paper's language; without ``empty`` no word begins so.

    >>> PalindromeNextSet(simple=False).expected("abc#zyx")[2:]  # table 1, right
    [('a', 'b', 'c', '#'), ('z',), ('y',), ('x',), ('⊣',)]
    """

    simple: bool
    empty: bool = True
    end = END_MARK

    @cached_property
    def language(self) -> MarkedPalindromes:
        return MarkedPalindromes("abc", "#", None if self.simple else "xyz", self.empty)


@dataclass(frozen=True)
class LanguageNextSet(_NextSet):
    """Which symbols may come next in the words of any language, and, where there is an ``end``, whether a word may end.
    All lengths that occur are as likely, and all words of a length; words may come twice. A language that a grammar
    gives has no reference automaton; its chart parser says what may come next, and nothing is proved.

    >>> LanguageNextSet(Dyck(1), "$").expected("()")
    [('(', ')'), ('(', '$')]
    """

    language: Language
    end: Symbol | None = END_MARK

    @cached_property
    def reference(self) -> PushdownAutomaton | None:
        """Return the predictor of the language's automaton without what leads nowhere; None where it has none. Where an
        ``end`` says that a word may end, the empty word is not accepted: no output comes before a symbol.
        """
        try:
            pda = self.language.automaton
        except AutomatonError:
            raise
        except StacklensError:  # a grammar
            return None
        if self.end is not None:
            steps = {(state, symbol): "on" for state in ("begin", "on") for symbol in self.alphabet}
            words = FiniteAutomaton(("begin", "on"), self.alphabet, steps, "begin", frozenset({"on"}))
            pda = pda.intersection(words)
        return predictor_of(live_form(pda), self.end)

    def expected(self, word: Word) -> list[Output]:
        if self.reference is not None:
            return Task.expected(self, word)
        assert isinstance(self.language, ContextFreeLanguage)
        outputs: list[Output] = []
        for n, symbols in enumerate(self.language.next_symbols(word)[1:], start=1):
            ends = self.end is not None and word[:n] in self.language
            outputs.append((*symbols, *self.output_alphabet[len(self.alphabet) :]) if ends else symbols)
        return self._of_whole(word, outputs)

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        return self.language.sample(n, lengths or LENGTHS[split], seed=int(rng.integers(2**63)))


# ---- Bounded Dyck languages: words of properly nested brackets of k kinds, at most m deep. They are regular ----
# Dyck-(k, m), as in Hewitt et al. 2020, "RNNs can generate bounded hierarchical languages with optimal memory".

_MOST_STATES = 5_000  # of the automaton: one for every stack
_START = "empty"


@dataclass(frozen=True)
class BoundedDyck(Dyck):
    """The words of Dyck-``n`` in which no more than ``depth`` brackets are open at once.

    >>> "([])" in BoundedDyck(2, 2), "([()])" in BoundedDyck(2, 2), len(BoundedDyck(2, 3).automaton.states)
    (True, False, 15)
    """

    depth: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth < 1:
            raise StacklensError(f"{self.name} has no depth: expected m of at least 1")
        states = 1
        for _ in range(self.depth):
            states = states * self.n + 1
            if states > _MOST_STATES:
                raise StacklensError(f"{self.name} is too large: its automaton has more than {_MOST_STATES:,} states")

    @property
    def deepest(self) -> float:
        return self.depth

    @property
    def name(self) -> str:
        return f"dyck-{self.n}-{self.depth}"

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return a state for every way in which brackets can be open; its stack is never used."""
        closer_of, rules = dict(self.pairs), dict[Key, Transition]()
        stacks = (stack for depth in range(self.depth + 1) for stack in product(closer_of, repeat=depth))
        states = {stack: " ".join(stack) or _START for stack in stacks}
        for stack, deeper in states.items():
            if stack:
                here, opener = states[stack[:-1]], stack[-1]
                rules[here, opener, ("⊥",)] = Transition(deeper, (NONE,))
                rules[deeper, closer_of[opener], ("⊥",)] = Transition(here, (NONE,))
        return PushdownAutomaton(tuple(states.values()), self.alphabet, (), rules, _START, frozenset({_START}))

    @cached_property
    def _ways(self) -> list[list[int]]:  # by length, from each height to 0
        return [[1, *[0] * self.depth]]

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        # a step up or down by how many walks of the rest lead back to 0
        ways, height = self._ways, 0
        while len(ways) <= length:
            row = [0, *ways[-1], 0]
            ways.append([row[h] * (h > 0) + row[h + 2] for h in range(self.depth + 1)])
        steps: list[int] = []
        for left in range(length - 1, -1, -1):
            up = ways[left][height + 1] if height < self.depth else 0
            down = ways[left][height - 1] if height else 0
            steps.append(1 if rng.random() < up / (up + down) else -1)
            height += steps[-1]
        return self._brackets(steps, rng)

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word:
        return super()._deep_member(min(depth, self.depth), rng)


@dataclass(frozen=True)
class BoundedDyckNextSet(DyckNextSet):
    """Which brackets may come next in Dyck-(n, depth): at the full depth the closing one alone. Members are drawn with
    every length as likely as the others, all members of a length being equally likely.

    >>> BoundedDyckNextSet(2, 1).expected("()")
    [(')',), ('(', '[')]
    """

    depth: int

    def __post_init__(self) -> None:
        super().__post_init__()
        BoundedDyck(self.n, self.depth)

    @cached_property
    def language(self) -> BoundedDyck:
        return BoundedDyck(self.n, self.depth)

    _draw = _NextSet._draw
