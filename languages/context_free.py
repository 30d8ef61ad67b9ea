"""The language of a context-free grammar, by its definition; an LR(1) grammar has a reference automaton too.

Membership is decided by Earley's parser, symbol by symbol: it knows of each prefix whether a word can come of it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from heapq import heapify, heappop, heappush
from itertools import product

import numpy as np

from ..automata.grammar import Grammar, GrammarSymbol, Nonterminal, lr_automaton
from ..automata.pda import PushdownAutomaton, Symbol, Word
from ..automata.rewriting import drop_end_marker
from ..automata.summaries import trim
from ..core.errors import StacklensError
from .language import Language, choose, make_word

# ---- Words of a grammar: counted, listed and drawn by length, or drawn deep ----
# By length through Chomsky's normal form and dynamic programming; deep ones by nesting something in itself repeatedly.

_Pair = tuple[Nonterminal, Nonterminal]
_Short = dict[Nonterminal, dict[tuple[GrammarSymbol, ...], None]]  # right sides of at most two parts, in order

_Point = tuple[Nonterminal, bool, bool]  # where one is, and whether something stands on the left, on the right
_Edge = tuple[Nonterminal, Nonterminal, bool]  # child, sibling, whether the sibling stands on the left
_Sides = tuple[list[Symbol], list[Symbol]]
_KEPT = 200  # symbols of a word up to which it is kept how many derivations the ways to split it have
EMBEDDINGS_TRIED = 48  # embeddings of a nonterminal that are looked at


class NormalForm:
    """Rules A -> B C and A -> a only; the empty word is noted apart. Unambiguous grammars stay unambiguous.

    >>> from stacklens.automata.grammar import parse_grammar
    >>> dyck = NormalForm(parse_grammar("S -> ( S ) S | ε"))
    >>> [dyck.count(length) for length in range(9)]
    [1, 0, 1, 0, 2, 0, 5, 0, 14]
    >>> sorted("".join(word) for word in dyck.words(4))
    ['(())', '()()']
    """

    def __init__(self, grammar: Grammar) -> None:
        self.start, self.has_empty = grammar.start, grammar.start in grammar.nullable
        rules = _normal_rules(grammar)
        self.pairs: dict[Nonterminal, list[_Pair]] = {left: [] for left in rules}
        self.symbols: dict[Nonterminal, list[Symbol]] = {left: [] for left in rules}
        for left, rights in rules.items():
            for right in rights:
                if isinstance(right[0], str):
                    self.symbols[left].append(right[0])
                elif isinstance(right[1], Nonterminal):
                    self.pairs[left].append((right[0], right[1]))
        # the length of the shortest word, but for the empty one; the next to be found cannot be shorter (Knuth 1977)
        uses: dict[Nonterminal, list[tuple[Nonterminal, _Pair]]] = defaultdict(list)
        for left, pairs in self.pairs.items():
            for pair in pairs:
                for part in set(pair):
                    uses[part].append((left, pair))
        self.shortest: dict[Nonterminal, int] = {}
        waiting = [(1, left) for left, symbols in self.symbols.items() if symbols]
        heapify(waiting)
        while waiting:
            length, here = heappop(waiting)
            if here in self.shortest:
                continue
            self.shortest[here] = length
            for left, (first, second) in uses[here]:
                if left not in self.shortest and first in self.shortest and second in self.shortest:
                    heappush(waiting, (self.shortest[first] + self.shortest[second], left))
        self.pairs = {
            left: [pair for pair in pairs if pair[0] in self.shortest and pair[1] in self.shortest]
            for left, pairs in self.pairs.items()
        }
        self._counts = {left: [0] for left in rules}  # by length; nothing here derives the empty word
        self._words: dict[tuple[Nonterminal, int], set[tuple[Symbol, ...]]] = {}
        self._ways: dict[tuple[Nonterminal, int], tuple[list[tuple[_Pair, int]], list[int]]] = {}

    def count(self, length: int) -> int:
        """Return the number of derivations of words of ``length``: of words, if the grammar is unambiguous."""
        return int(self.has_empty) if length == 0 else self.count_from(self.start, length)

    def count_from(self, left: Nonterminal, length: int) -> int:
        """Return the number of derivations from ``left`` of words of ``length``, which is at least 1."""
        while len(self._counts[self.start]) <= length:
            counts, n = self._counts, len(self._counts[self.start])
            new = {here: len(symbols) if n == 1 else 0 for here, symbols in self.symbols.items()}
            for here, pairs in self.pairs.items():
                for first, second in pairs:
                    heads, tails = counts[first][1:n], counts[second][n - 1 : 0 : -1]
                    new[here] += sum(x * y for x, y in zip(heads, tails, strict=True) if x and y)
            for here, number in new.items():
                counts[here].append(number)
        return self._counts[left][length]

    def words(self, length: int, left: Nonterminal | None = None) -> set[tuple[Symbol, ...]]:
        """Return the words of ``length`` from ``left``; memory goes with all that nonterminals derive up to there."""
        if length == 0:
            return {()} if self.has_empty else set()
        here = left or self.start
        if (here, length) not in self._words:
            found: set[tuple[Symbol, ...]] = {(symbol,) for symbol in self.symbols[here]} if length == 1 else set()
            for (first, second), split in self._splits(here, length):
                tails = self.words(length - split, second)
                found |= {head + tail for head in self.words(split, first) for tail in tails}
            self._words[here, length] = found
        return self._words[here, length]

    def _splits(self, left: Nonterminal, length: int) -> Iterator[tuple[_Pair, int]]:
        for pair in self.pairs[left]:
            for split in range(1, length):
                if self.count_from(pair[0], split) and self.count_from(pair[1], length - split):
                    yield pair, split

    def draw(self, length: int, rng: np.random.Generator, left: Nonterminal | None = None) -> list[Symbol]:
        """Return a random word of ``length``, all derivations (from ``left`` or the start) being equally likely. There
        must be one. In an ambiguous grammar words with more derivations come up more often.
        """
        word: list[Symbol] = []
        pending = [(left or self.start, length)] if length else []
        while pending:
            here, n = pending.pop()
            if n == 1:
                word.append(self.symbols[here][int(rng.integers(len(self.symbols[here])))])
                continue
            # a rule and a split by the number of derivations that it has, (pairs and splits, numbers)
            found = self._ways.get((here, n))
            if found is None:
                splits = list(self._splits(here, n))
                found = splits, [self.count_from(b, i) * self.count_from(c, n - i) for (b, c), i in splits]
                if n <= _KEPT:
                    self._ways[here, n] = found
            (first, second), split = found[0][choose(found[1], rng)]
            pending += [(second, n - split), (first, split)]
        return word


def _normal_rules(grammar: Grammar) -> dict[Nonterminal, list[tuple[GrammarSymbol, ...]]]:
    """Return the rules in Chomsky's normal form, in three steps: short right sides, no empty ones, no units."""
    # right sides cut to at most two parts, terminals among two replaced
    rules: _Short = defaultdict(dict)
    for i, (left, right) in enumerate(grammar.rules):
        parts: list[GrammarSymbol] = list(right)
        if len(parts) > 1:
            for k, part in enumerate(parts):
                if isinstance(part, str):
                    parts[k] = Nonterminal(f"terminal {part}")
                    rules[Nonterminal(f"terminal {part}")] = {(part,): None}
        here = left
        for k in range(len(parts) - 2):
            rest = Nonterminal(f"rest {i} {k}")
            rules[here][parts[k], rest] = None
            here = rest
        rules[here][tuple(parts[-2:])] = None
    # what can be empty, and the rules without: it may be left out instead
    short = tuple((left, right) for left, rights in rules.items() for right in rights)
    nullable = replace(grammar, rules=short).nullable
    full: _Short = {}
    for left, rights in rules.items():
        full[left] = {right: None for right in rights if right}
        for right in [right for right in rights if len(right) == 2]:
            for kept, dropped in (right, right[::-1]):
                if dropped in nullable:
                    full[left][kept,] = None
    # in place of A -> B what B leads to
    without: dict[Nonterminal, list[tuple[GrammarSymbol, ...]]] = {}
    for left in full:
        same, unseen = {left: None}, [left]
        for other in unseen:  # the list grows while it is walked
            units = [r[0] for r in full[other] if len(r) == 1 and isinstance(r[0], Nonterminal)]
            unseen += [unit for unit in dict.fromkeys(units) if unit not in same]
            same |= dict.fromkeys(units)
        found = {right: None for other in same for right in full[other]}
        without[left] = [right for right in found if len(right) == 2 or isinstance(right[0], str)]
    return without


class Nesting:
    """The self-embeddings A => u A v of a grammar in which u and v depend on each other, as brackets do. They do where
    a word stops being one as u, or v, comes once more than the other. (In S -> S S they do not.)

    >>> from stacklens.automata.grammar import parse_grammar
    >>> form = NormalForm(parse_grammar("S -> a S b | a b"))
    >>> nesting = Nesting(form, lambda word: word == sorted(word) and word.count("a") == word.count("b") > 0)
    >>> len(nesting.draw(3, np.random.default_rng(0)) or ()) >= 8
    True
    """

    def __init__(self, form: NormalForm, contains: Callable[[list[Symbol]], bool]) -> None:
        self.form, self.contains = form, contains
        self.edges: dict[Nonterminal, list[_Edge]] = {
            left: [edge for first, second in pairs for edge in ((first, second, False), (second, first, True))]
            for left, pairs in form.pairs.items()
        }
        self._distances = cache(self._find_distances)
        rng = np.random.default_rng(0)
        self.embeddings: dict[Nonterminal, list[_Sides]] = {}
        reached = [form.start]
        for here in reached:  # the list grows while it is walked
            reached += dict.fromkeys(child for child, _, _ in self.edges[here] if child not in reached)
        for pivot in reached:
            if (pivot, False, False) in self._distances((pivot, True, True)):
                walks = (self._walk(pivot, rng, (pivot, True, True)) for _ in range(EMBEDDINGS_TRIED))
                distinct = {(tuple(left), tuple(right)): (left, right) for left, right in walks}
                if binding := [sides for sides in distinct.values() if self._binds(pivot, sides, rng)]:
                    self.embeddings[pivot] = binding

    def draw(self, depth: int, rng: np.random.Generator) -> list[Symbol] | None:
        """Return a random member with ``depth`` self-embeddings of a nonterminal in each other, None if there is none.
        What stands around and inside them is as short as possible.
        """
        if depth == 0:
            return [] if self.form.has_empty else self._short_word(self.form.start, rng)
        if not self.embeddings or depth < 0:
            return None
        pivot = list(self.embeddings)[int(rng.integers(len(self.embeddings)))]
        found = self.embeddings[pivot]
        # u_1 u_2 … w … v_2 v_1 within what stands around the pivot
        nested = [found[i] for i in rng.integers(len(found), size=depth).tolist()]
        return _wrap([self._around(pivot, rng), *nested], self._short_word(pivot, rng))

    def _around(self, pivot: Nonterminal, rng: np.random.Generator) -> _Sides:
        return self._walk(self.form.start, rng, *product([pivot], (False, True), (False, True)))

    def _binds(self, pivot: Nonterminal, sides: _Sides, rng: np.random.Generator) -> bool:
        around, (left, right) = self._around(pivot, rng), sides
        shortest = self.form.shortest[pivot]
        for length in range(shortest, shortest + 3):  # short words inside may hide it, as in a a of even palindromes
            if self.form.count_from(pivot, length):
                inside = self.form.draw(length, rng, pivot)
                uneven = ([*left, *inside], [*inside, *right])
                if not any(self.contains(_wrap([around, sides], word)) for word in uneven):
                    return True
        return False

    def _walk(self, start: Nonterminal, rng: np.random.Generator, *goals: _Point) -> _Sides:
        """Return what stands on the left and on the right along a random shortest way from ``start`` to a goal."""
        distances = self._distances(*goals)
        steps: list[_Sides] = []
        point = (start, False, False)
        while distances[point] > 0:
            here, left, right = point
            nearer = [
                ((child, left or on_left, right or not on_left), sibling, on_left)
                for child, sibling, on_left in self.edges[here]
                if distances.get((child, left or on_left, right or not on_left)) == distances[point] - 1
            ]
            point, sibling, on_left = nearer[int(rng.integers(len(nearer)))]
            word = self._short_word(sibling, rng)
            steps.append((word, []) if on_left else ([], word))
        return [x for word, _ in steps for x in word], [x for _, word in reversed(steps) for x in word]

    def _find_distances(self, *goals: _Point) -> dict[_Point, int]:
        """Return the least number of steps from each point to a goal, for the points from which there is a way."""
        into: dict[_Point, list[_Point]] = defaultdict(list)
        for here, edges in self.edges.items():
            for left, right, (child, _, on_left) in product((False, True), (False, True), edges):
                into[child, left or on_left, right or not on_left].append((here, left, right))
        distances = dict.fromkeys(goals, 0)
        for point in (queue := list(goals)):  # the list grows while it is walked
            for before in into[point]:
                if before not in distances:
                    distances[before] = distances[point] + 1
                    queue.append(before)
        return distances

    def _short_word(self, left: Nonterminal, rng: np.random.Generator) -> list[Symbol]:
        return self.form.draw(self.form.shortest[left], rng, left)


def _wrap(sides: list[_Sides], inside: list[Symbol]) -> list[Symbol]:
    left = [symbol for word, _ in sides for symbol in word]
    return [*left, *inside, *(symbol for _, word in reversed(sides) for symbol in word)]


# ---- The language of a context-free grammar, by its definition alone ----

_Item = tuple[int, int, int]  # a rule, how much of it is there, and where that began


class Chart:
    """What a grammar makes of a prefix so far.

    >>> from stacklens.automata.grammar import parse_grammar
    >>> chart = Chart(parse_grammar("S -> ( S ) S | ε"))
    >>> [chart.read(symbol) for symbol in "(()"], chart.accepts, sorted(chart.next_symbols)
    ([True, True, True], False, ['(', ')'])
    >>> chart.read(")"), chart.accepts, chart.read(")")
    (True, True, False)
    """

    def __init__(self, grammar: Grammar) -> None:
        self.rules = grammar.rules
        self.start, self.nullable = grammar.start, grammar.nullable
        self.rules_of: dict[Nonterminal, list[int]] = defaultdict(list)
        for i, (left, _) in enumerate(grammar.rules):
            self.rules_of[left].append(i)
        self.waiting: list[dict[GrammarSymbol, list[_Item]]] = []  # after each prefix, the items by what they wait for
        self.accepts = False
        self._close((i, 0, 0) for i in self.rules_of[self.start])

    @property
    def next_symbols(self) -> set[Symbol]:
        """Return the symbols with which the prefix can go on to become a word."""
        return {part for part in self.waiting[-1] if isinstance(part, str)}

    def read(self, symbol: Symbol) -> bool:
        """Read one symbol more; return whether a word can still come of it. After False it must not be used again."""
        items = self.waiting[-1].get(symbol, ())
        self._close((rule, dot + 1, origin) for rule, dot, origin in items)
        return bool(items)

    def read_all(self, word: Word) -> int:
        """Read ``word`` as far as it is live; return how many symbols that were."""
        for n, symbol in enumerate(word):
            if not self.read(symbol):
                return n
        return len(word)

    def _close(self, items: Iterable[_Item]) -> None:
        here = len(self.waiting)
        waiting: dict[GrammarSymbol, list[_Item]] = {}
        self.waiting.append(waiting)
        agenda = list(items)
        seen = set(agenda)
        self.accepts = False
        while agenda:
            rule, dot, origin = agenda.pop()
            left, right = self.rules[rule]
            if dot == len(right):
                self.accepts |= left == self.start and origin == 0
                found = [(r, d + 1, o) for r, d, o in self.waiting[origin].get(left, ())]
            else:
                part = right[dot]
                waiting.setdefault(part, []).append((rule, dot, origin))
                found = [(i, 0, here) for i in self.rules_of[part]] if isinstance(part, Nonterminal) else []
                if part in self.nullable:
                    found.append((rule, dot + 1, origin))
            for item in found:
                if item not in seen:
                    seen.add(item)
                    agenda.append(item)


@dataclass(frozen=True)
class ContextFreeLanguage(Language):
    """The words that a grammar derives.

    Members of a length are drawn with every derivation as likely as another (in Chomsky's normal form): evenly over the
    words if the grammar is unambiguous; else words with more derivations come up more often. Membership takes time with
    the square to the cube of the length: fine for hundreds of symbols, slow for thousands.

    >>> from stacklens.automata.grammar import parse_grammar
    >>> even = ContextFreeLanguage("even", parse_grammar("S -> a S a | b S b | ε"))
    >>> "abba" in even, even.is_live("abab"), list(even.words(4))
    (True, True, ['', 'aa', 'bb', 'aaaa', 'abba', 'baab', 'bbbb'])
    """

    source: str
    grammar: Grammar
    text: str | None = field(default=None, compare=False, repr=False, kw_only=True)  # of its file, if it is from one

    @property
    def name(self) -> str:
        return self.source

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        return self.grammar.alphabet

    @property
    def automaton(self) -> PushdownAutomaton:
        """Return the automaton of an LR(1) grammar (see `lr_automaton`), minimised; it accepts by final state."""
        if isinstance(self._determined, str):
            raise StacklensError(
                f"{self.name} has no reference automaton: {self._determined}; words are compared by its chart parser, "
                "and nothing is proved"
            )
        return self._determined

    @cached_property
    def _determined(self) -> PushdownAutomaton | str:
        try:
            return lr_automaton(self.grammar).minimal()
        except StacklensError as error:
            return str(error)

    def __contains__(self, word: Word) -> bool:
        chart = Chart(self.grammar)
        return chart.read_all(word) == len(word) and chart.accepts

    def first_dead(self, word: Word) -> int | None:
        n = Chart(self.grammar).read_all(word)
        return n + 1 if n < len(word) else None

    def next_symbols(self, word: Word) -> list[tuple[Symbol, ...]]:
        """Return which symbols can come next after each prefix of ``word``, from the empty one to a dead one."""
        chart = Chart(self.grammar)
        found = [self._sorted(chart.next_symbols)]
        for symbol in word:
            if not chart.read(symbol):
                break
            found.append(self._sorted(chart.next_symbols))
        return found

    def _sorted(self, symbols: set[Symbol]) -> tuple[Symbol, ...]:
        return tuple(symbol for symbol in self.alphabet if symbol in symbols)

    def words_of_length(self, length: int) -> Iterator[Word]:
        """Yield the members of ``length`` in the order of the alphabet; all are made before the first is yielded."""
        place = {symbol: i for i, symbol in enumerate(self.alphabet)}
        for word in sorted(self._form.words(length), key=lambda word: [place[symbol] for symbol in word]):
            yield make_word(word, self.alphabet)

    @cached_property
    def _form(self) -> NormalForm:
        return NormalForm(self.grammar)

    @cached_property
    def _nesting(self) -> Nesting:
        return Nesting(self._form, self.__contains__)

    def _has_length(self, length: int) -> bool:
        return self._form.count(length) > 0

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        return make_word(self._form.draw(length, rng), self.alphabet)

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:
        word = self._nesting.draw(depth, rng)
        return None if word is None else make_word(word, self.alphabet)


@dataclass(frozen=True)
class AutomatonLanguage(ContextFreeLanguage):
    """The words that an automaton accepts, which is the reference automaton too; sampling is even over the words.

    >>> from stacklens.automata.small_grammar import grammar_of
    >>> from stacklens.languages.classic import Dyck
    >>> language = AutomatonLanguage("dyck-1.json", grammar_of(Dyck(1).automaton), Dyck(1).automaton)
    >>> "(())" in language, language.first_dead("())"), list(language.words(4))
    (True, 3, ['', '()', '(())', '()()'])
    """

    given: PushdownAutomaton

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return the automaton that was given, trimmed and without its end marker; acceptance as given."""
        return trim(drop_end_marker(self.given) or self.given)

    def __contains__(self, word: Word) -> bool:
        return set(word) <= set(self.alphabet) and self.given.accepts(word)
