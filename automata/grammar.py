"""Context-free grammars as values, and the text that they are written in.

One rule a line, ``S -> ( S ) S | ε``, with spaces between symbols; the first left side is the start. A line that begins
with ``|`` goes on with the rule above. What has a rule is a nonterminal; everything else is a terminal, in quotes where
it would be read otherwise: ``'|'``, ``"#"``, ``'->'``, ``'ε'``, or with a capital first. ``#`` begins a comment.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ..core.errors import FileFormatError, StacklensError, check_alphabet
from .pda import EPSILON, NONE, POP, Key, PushdownAutomaton, StackOp, Symbol, Transition, push
from .summaries import PushdownStep, shortest_runs


class Nonterminal(NamedTuple):
    """A nonterminal: never equal to a terminal, which is a plain string."""

    name: str


GrammarSymbol = Symbol | Nonterminal
Rule = tuple[Nonterminal, tuple[GrammarSymbol, ...]]


@dataclass(frozen=True)
class Grammar:
    """A context-free grammar without useless rules: each takes part in the derivation of some word. Raises
    StacklensError: no word can be derived, or the alphabet is not one.

    >>> grammar = parse_grammar("S -> ( S ) S | ε")
    >>> grammar.start, grammar.alphabet, len(grammar.rules), sorted(grammar.nullable)
    (Nonterminal(name='S'), ('(', ')'), 2, [Nonterminal(name='S')])
    """

    rules: tuple[Rule, ...]  # left and right sides; those that derive no word, or cannot be reached, are dropped
    start: Nonterminal  # the nonterminal that words are derived from
    alphabet: tuple[Symbol, ...]  # the terminals, in the order that words are sorted by

    def __post_init__(self) -> None:
        check_alphabet(self.alphabet)
        if not self.alphabet:
            raise StacklensError("no terminals: expected at least one")
        productive = _closed(self.rules)
        if self.start not in productive:
            raise StacklensError(f"no word can be derived from {self.start.name}: every rule leads to itself again")
        kept = [
            (left, right)  # A -> A derives nothing
            for left, right in self.rules
            if right != (left,) and all((isinstance(part, str) or part in productive) for part in right)
        ]
        leads: dict[Nonterminal, set[Nonterminal]] = defaultdict(set)
        for left, right in kept:
            leads[left] |= {part for part in right if isinstance(part, Nonterminal)}
        # of the rules that derive words those that the start leads to
        reached, unseen = {self.start}, [self.start]
        while unseen:
            new = leads[unseen.pop()] - reached
            unseen += new
            reached |= new
        object.__setattr__(self, "rules", tuple(dict.fromkeys(rule for rule in kept if rule[0] in reached)))

    def __str__(self) -> str:
        """Return the rules as text, a line each nonterminal (see `grammar_text`)."""
        return grammar_text(self)

    @property
    def nullable(self) -> frozenset[Nonterminal]:
        """Return the nonterminals that derive the empty word."""
        return frozenset(_closed([rule for rule in self.rules if not any(isinstance(x, str) for x in rule[1])]))


def _closed(rules: Sequence[Rule]) -> set[Nonterminal]:
    """Return the nonterminals that lead to terminals only, or to nothing, by some of ``rules``."""
    waits = [{part for part in right if isinstance(part, Nonterminal)} for _, right in rules]
    wanted: dict[Nonterminal, list[int]] = defaultdict(list)  # the rules that wait for a nonterminal
    for number, parts in enumerate(waits):
        for part in parts:
            wanted[part].append(number)
    closed: set[Nonterminal] = set()
    unseen = [rules[number][0] for number, parts in enumerate(waits) if not parts]
    while unseen:
        left = unseen.pop()
        if left in closed:
            continue
        closed.add(left)
        for number in wanted[left]:
            waits[number].discard(left)
            if not waits[number]:
                unseen.append(rules[number][0])
    return closed


class _Token(NamedTuple):
    text: str
    quoted: bool
    line: int


_TOKEN = re.compile(r"""\s*('[^']*'|"[^"]*"|\#.*|\|(?=\s|$)|\S+)""")
_ARROWS, _EMPTY = ("->", "→"), "ε"
_NOT_EMPTY = ("λ", "epsilon", "lambda")  # with which others write the empty word
_MOST_RULES, _MOST_PARTS = 2_000, 20_000  # a grammar's automaton or normal form can grow with their square
_MOST_CHARACTERS, _LONGEST_SIDE = 500_000, 200
_LONGEST = 100  # characters of a symbol


def parse_grammar(text: str, source: str = "grammar") -> Grammar:
    """Return the grammar that ``text`` writes, as described at the top of this module. Raises FileFormatError: it
    writes none; the message names ``source``, the line, what was found and what was expected.

    >>> grammar = parse_grammar("S -> a S a | b S b | '#'  # marked palindromes")
    >>> grammar.alphabet
    ('a', 'b', '#')
    >>> parse_grammar("S -> a A")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    stacklens.core.errors.FileFormatError: grammar, line 1: A has no rule: ...
    """
    if len(text) > _MOST_CHARACTERS:
        raise FileFormatError(f"{source}: {len(text):,} characters; expected a grammar of {_MOST_CHARACTERS:,} at most")
    rules, size = list[tuple[_Token, list[_Token]]](), 0
    for line in _rule_lines(text, source):
        if (longest := max((len(right) for _, right in line), default=0)) > _LONGEST_SIDE:
            raise FileFormatError(f"{source}: a right side of {longest:,} symbols; expected {_LONGEST_SIDE} at most")
        rules += line
        size += sum(len(right) for _, right in line)
        if len(rules) > _MOST_RULES or size > _MOST_PARTS:
            raise FileFormatError(
                f"{source}: more than {_MOST_RULES:,} alternatives, or {_MOST_PARTS:,} symbols in them; expected fewer"
            )
    if not rules:
        raise FileFormatError(f"{source}: no rules, expected lines such as S -> ( S ) S | ε")
    # a capital without a rule is taken for a slip, and so is a nonterminal's within a terminal
    lefts = {left.text for left, _ in rules}
    for token in (token for _, right in rules for token in right if not token.quoted and token.text not in lefts):
        if token.text[0].isupper():
            what = "has no rule: add one, or quote it if it is a terminal"
            raise _error(source, token.line, f"{token.text} {what} ('{token.text}')")
        if held := _held(token.text, lefts):
            what = f"holds {held[0]}, which has a rule: put spaces between symbols, or quote it"
            raise _error(source, token.line, f"{token.text} {what} ('{token.text}')")
    # what has a rule is a nonterminal, all else a terminal
    alphabet: dict[Symbol, None] = {}
    parsed: list[Rule] = []
    for left, right in rules:
        parts = [Nonterminal(one.text) if not one.quoted and one.text in lefts else one.text for one in right]
        alphabet |= {part: None for part in parts if isinstance(part, str)}
        parsed.append((Nonterminal(left.text), tuple(parts)))
    try:
        return Grammar(tuple(parsed), parsed[0][0], tuple(alphabet))
    except StacklensError as error:
        raise FileFormatError(f"{source}: {error}") from None


def grammar_text(grammar: Grammar) -> str:
    """Return the text that `parse_grammar` reads as the same rules: a line each nonterminal, the start first.

    Symbols of the alphabet that no rule has are not in it. Raises StacklensError: the grammar has no terminals, is too
    long, or has a symbol that no text can hold: with quotes of both kinds, a very long or an unprintable one.

    >>> print(grammar_text(parse_grammar("S -> '|' S T\\nS -> ε\\nT -> 'T'")))
    S -> '|' S T | ε
    T -> 'T'
    """
    sides: dict[Nonterminal, list[str]] = {grammar.start: []}
    for left, _ in grammar.rules:
        sides.setdefault(left, [])
    lefts = {left.name for left in sides}
    for left, right in grammar.rules:
        parts = [part.name if isinstance(part, Nonterminal) else _quoted_symbol(part, lefts) for part in right]
        sides[left].append(" ".join(parts) or _EMPTY)
    text = "\n".join(f"{left.name} -> {' | '.join(found)}" for left, found in sides.items())
    try:
        parse_grammar(text, "the grammar cannot be written")
    except FileFormatError as error:
        raise StacklensError(str(error)) from None
    return text


def _quoted_symbol(symbol: Symbol, lefts: set[str]) -> str:
    taken = ("|", _EMPTY, *_NOT_EMPTY, *_ARROWS, *lefts)
    plain = symbol not in taken and symbol[0] not in "#'\"" and not symbol[0].isupper() and not _held(symbol, lefts)
    quote = "" if plain else "'" if "'" not in symbol else '"'
    return f"{quote}{symbol}{quote}"


def _held(symbol: str, lefts: set[str]) -> list[str]:
    return sorted(left for left in lefts if left[0].isupper() and left in symbol)


def _error(source: str, line: int, message: str) -> FileFormatError:
    return FileFormatError(f"{source}, line {line}: {message}")


def _rule_lines(text: str, source: str) -> Iterator[list[tuple[_Token, list[_Token]]]]:
    """Yield, for each line with something on it, the rules there."""
    left: _Token | None = None
    for number, line in enumerate(text.splitlines(), 1):
        tokens = list(_tokens(line, number, source))
        if not tokens:
            continue
        if not _is(tokens[0], "|"):
            if len(tokens) < 2 or tokens[0].quoted or not _is(tokens[1], *_ARROWS):
                raise _error(source, number, f"expected a rule such as S -> ( S ) S | ε, found {line.strip()!r}")
            left, tokens = tokens[0], tokens[1:]
        if left is None:
            raise _error(source, number, "| goes on with a rule, and there is none above")
        # the alternatives, one right side each
        found, right = list[tuple[_Token, list[_Token]]](), list[_Token]()
        for token in [*tokens[1:], _Token("|", False, number)]:
            if _is(token, *_ARROWS):
                what = f"a second {token.text}: write one rule a line, or quote it ('{token.text}')"
                raise _error(source, number, what)
            if not _is(token, "|"):
                right.append(token)
                continue
            if not right:
                raise _error(source, number, "an alternative is empty: write ε for the empty word")
            if any(_is(part, _EMPTY) for part in right) and len(right) > 1:
                raise _error(source, number, "ε stands beside other symbols: it must stand alone, or be quoted ('ε')")
            if len(right) == 1 and _is(right[0], *_NOT_EMPTY):
                raise _error(source, number, f"{right[0].text} stands alone: write ε for the empty word, or quote it")
            found.append((left, [part for part in right if not _is(part, _EMPTY)]))
            right = []
        yield found


def _tokens(line: str, number: int, source: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(line.rstrip()):  # behind the last token the expression would try every space
        text = match[1]
        if text[0] == "#":
            return
        quoted = text[0] in "'\"" and len(text) > 1 and text[-1] == text[0]
        if text[0] in "'\"" and not quoted:
            raise _error(source, number, f"the quote in {text} is not closed")
        if quoted and text[1:-1].split() != [text[1:-1]]:
            raise _error(source, number, f"{text} must hold a symbol without spaces (for the empty word write ε)")
        if len(text) > _LONGEST or not text.isprintable():
            shown = ascii(text[:_LONGEST])
            raise _error(source, number, f"the symbol {shown}: expected {_LONGEST} printable characters at most")
        yield _Token(text[1:-1] if quoted else text, quoted, number)


def _is(token: _Token, *texts: str) -> bool:
    return not token.quoted and token.text in texts


# ---- The deterministic pushdown automaton of an LR(1) grammar (Knuth 1965) ----
# The parser's stack holds states of the LR(1) tables. With a letter x next it reduces, which takes states off the
# stack, and then lays one for x. A *request* (A, n, x) is a reduction under way: take off n states more, lay the one
# for A, and go on with x. An automaton of ours reads a letter in every step and sees no deeper than its top. So
#
# - a state that would hand on every request that can come from above is not kept: a *unit* is a state with what becomes
#   of the requests that leave it. So nothing is laid for what stands side by side, as by S -> ( S ) S;
# - the automaton's state has the topmost units, as many as one letter can ask for, and a cell has so many that a
#   request from above stops in it: a step reads with the units of the state, and puts a cell away or takes one in.
#
# A word may end where the canonical tables have an entry for the end: they have entries for viable letters alone.

_Request = tuple[Nonterminal, int, Symbol]
_Item = tuple[int, int, Symbol]  # a rule, how much of it is there, and what may follow it, EPSILON for the end
_MOST_ITEMS, _MOST_MOVES, _MOST_UNITS = 400_000, 100_000, 12
_Units = tuple[int, ...]  # by their numbers, the topmost last


@dataclass(frozen=True, eq=False)
class _Tables:
    """The canonical LR(1) tables: of each state the next one by part, and the rule to reduce by letter. A unit is a
    state, and for each request that leaves it the one that arrives below: first those of each state alone.
    """

    onward: list[dict[GrammarSymbol, int]]
    reduced: list[dict[Symbol, Rule]]
    units: list[tuple[int, dict[_Request, _Request]]]
    merged: dict[tuple[int, int], int | None]

    def handed_on(self, state: int, request: _Request) -> _Request | None:
        """Return what becomes of a request that arrives at ``state``: another one, or None where a letter is laid."""
        (left, more, x), stack = request, [state]
        while more < len(stack):
            del stack[len(stack) - more :]
            stack.append(self.onward[stack[-1]][left])
            if x not in self.reduced[stack[-1]]:
                return None
            left, right = self.reduced[stack[-1]][x]
            more = len(right)
        return left, more - len(stack), x

    def laid(self, units: _Units, unit: int) -> _Units:
        """Return the units after ``unit`` is laid, in place of those that would hand on whatever comes from it."""
        while units:
            if (units[-1], unit) not in self.merged:
                # the unit that can stand in place of both, None where the lower may stop a request
                (under, below), (state, arriving) = self.units[units[-1]], self.units[unit]
                handed = {request: self.handed_on(under, there) for request, there in arriving.items()}
                both = state, {request: below[there] for request, there in handed.items() if there is not None}
                self.merged[units[-1], unit] = None
                if None not in handed.values():
                    self.units.extend([both] if both not in self.units else [])
                    self.merged[units[-1], unit] = self.units.index(both)
            if (merged := self.merged[units[-1], unit]) is None:
                break
            units, unit = units[:-1], merged
        return (*units, unit)

    def read(self, units: _Units, x: Symbol) -> _Units | None:
        """Return the units after the letter ``x``, () where more of them are asked for, None if it cannot come next."""
        while (rule := self.reduced[self.units[units[-1]][0]].get(x)) is not None:
            left, more = rule[0], len(rule[1])
            while more:
                left, more, _ = self.units[units[-1]][1][left, more - 1, x]
                units = units[:-1]
                if not units:
                    return ()
            units = self.laid(units, self.onward[self.units[units[-1]][0]][left])
        state = self.onward[self.units[units[-1]][0]].get(x)
        return None if state is None else self.laid(units, state)

    def suffices(self, units: _Units) -> bool:
        """Return whether every letter can be read with these units alone."""
        return all(self.read(units, x) != () for x in self.reduced[self.units[units[-1]][0]] if x)

    def stops(self, units: _Units, above: int) -> bool:
        """Return whether no request from the unit ``above`` goes through all of ``units``."""
        for request in self.units[above][1].values():
            for state, below in (self.units[unit] for unit in reversed(units)):
                there = self.handed_on(state, request)
                if there is None:
                    break
                request = below[there]
            else:
                return False
        return True


def lr_automaton(grammar: Grammar) -> PushdownAutomaton:
    """Return a deterministic automaton of the words of an LR(1) grammar; it accepts by final state.

    It is real-time, and reads a letter where some word goes on with it, and nowhere else. Raises StacklensError: the
    grammar is not LR(1), with the two rules at odds and the letter that comes next; it is too large; or a letter may
    take any number of symbols off the stack.

    >>> lr_automaton(parse_grammar("S -> S ( S ) | ε")).accepts("(())()")
    True
    >>> lr_automaton(parse_grammar("S -> S S | a"))
    Traceback (most recent call last):
    stacklens.core.errors.StacklensError: the grammar is not LR(1): with a next, S -> S S · is at odds with S -> · a
    """
    tables = _lr_tables(grammar)
    steps: dict[tuple[_Units, Symbol, _Units | None], tuple[_Units, StackOp]] = {}
    cells: dict[_Units, Symbol] = {}

    read = cache(tables.read)

    @cache
    def spared(units: _Units) -> int | None:
        """Return how many units at the bottom can be put away, None where all do not suffice."""
        cuts = (i for i in range(1, len(units)) if tables.stops(units[:i], units[i]) and tables.suffices(units[i:]))
        return next(cuts, 0) if tables.suffices(units) else None

    def moves(control: _Units, top: _Units | None) -> Iterator[PushdownStep[_Units, _Units]]:
        for x in grammar.alphabet:
            if (units := read(control, x)) is None:
                continue
            kept, operation = () if top is None else (top,), NONE
            if (cut := spared(units)) is None and top is not None:
                units, kept, operation = (*top, *units), (), POP
            elif cut:
                kept, operation = (*kept, units[:cut]), push(cells.setdefault(units[:cut], f"s{len(cells)}"))
                units = units[cut:]
            if max(map(len, (units, *kept))) > _MOST_UNITS:
                raise StacklensError("it needs ε-steps: a letter may take any number of symbols off the stack")
            steps[control, x, top] = units, operation
            yield PushdownStep(x, units, kept)

    start = tables.laid((), 0)
    if not shortest_runs(start, moves, _MOST_MOVES).complete:
        raise StacklensError(f"its automaton is too large: it has more than {_MOST_MOVES:,} moves")
    controls = dict.fromkeys((start, *(units for units, _ in steps.values())))
    states = {control: f"q{i}" for i, control in enumerate(controls)}
    transitions: dict[Key, Transition] = {
        (states[control], x, ("⊥" if top is None else cells[top],)): Transition(states[units], (operation,))
        for (control, x, top), (units, operation) in steps.items()
    }
    ending = {unit for unit, (state, _) in enumerate(tables.units) if EPSILON in tables.reduced[state]}
    ends = frozenset(name for control, name in states.items() if control[-1] in ending)
    names = tuple(states.values()), grammar.alphabet, tuple(cells.values())
    return PushdownAutomaton(*names, transitions, "q0", ends, "final state")


def _lr_tables(grammar: Grammar) -> _Tables:
    """Return the canonical LR(1) tables. State 0 is the first; the end of a word is reduced by a rule of its own."""
    rules = (*grammar.rules, (Nonterminal(""), (grammar.start,)))
    numbers: dict[GrammarSymbol, list[int]] = defaultdict(list)
    for number, (left, _) in enumerate(rules):
        numbers[left].append(number)
    first: dict[GrammarSymbol, set[Symbol]] = defaultdict(set)

    def beginning(parts: Sequence[GrammarSymbol], after: Symbol) -> set[Symbol]:
        """Return the letters that can come first in what ``parts`` derive with ``after`` behind it."""
        found: set[Symbol] = set()
        for part in parts:
            if isinstance(part, str):
                return found | {part}
            found |= first[part] - {EPSILON}
            if EPSILON not in first[part]:
                return found
        return found | {after}

    size = -1
    while size < (size := sum(map(len, first.values()))):
        for left, right in rules:
            first[left] |= beginning(right, EPSILON)
    # a state is a set of items, of which the kernel was laid on the way there
    kernels: dict[frozenset[_Item], int] = {frozenset({(len(rules) - 1, 0, EPSILON)}): 0}
    tables, size = _Tables([], [], [], {}), 0
    for kernel in (queue := list(kernels)):  # the list grows while it is walked
        items, expanded = sorted(kernel), set[tuple[GrammarSymbol, Symbol]]()
        for rule, dot, follows in items:  # so does this one
            part, *rest = rules[rule][1][dot:] or [""]
            after = {(part, x) for x in beginning(rest, follows)} - expanded if part in numbers else ()
            expanded.update(after)
            items += [(number, 0, x) for _, x in sorted(after) for number in numbers[part]]
            if size + len(items) > _MOST_ITEMS:
                raise StacklensError(f"its LR(1) tables are too large: more than {_MOST_ITEMS:,} items")
        size += len(items)
        # where an item leads: its next part is laid, or at its end its rule is reduced with what follows next
        shifted: dict[GrammarSymbol, dict[_Item, None]] = defaultdict(dict)
        reduced: dict[Symbol, int] = {}
        for rule, dot, follows in items:
            if dot < len(rules[rule][1]):
                shifted[rules[rule][1][dot]][rule, dot + 1, follows] = None
            elif reduced.setdefault(follows, rule) != rule:
                raise _conflict(rules, follows, (rule, dot), (reduced[follows], len(rules[reduced[follows]][1])))
        for x, rule in reduced.items():
            if x in shifted:
                other, dot, _ = next(iter(shifted[x]))
                raise _conflict(rules, x, (rule, len(rules[rule][1])), (other, dot - 1))
        for target in (targets := {part: frozenset(new) for part, new in shifted.items()}).values():
            if target not in kernels:
                kernels[target] = len(kernels)
                queue.append(target)
        tables.onward.append({part: kernels[target] for part, target in targets.items()})
        tables.reduced.append({x: rules[rule] for x, rule in reduced.items()})
        leaving = [(rules[rule][0], dot - 1, x) for rule, dot, x in sorted(kernel) if dot and x]
        tables.units.append((len(tables.units), dict(zip(leaving, leaving, strict=True))))
    return tables


def _conflict(rules: Sequence[Rule], x: Symbol, *places: tuple[int, int]) -> StacklensError:
    """Return the error that two items (rule, and how much of it is there) both go on with ``x`` next."""
    shown = []
    for number, dot in places:
        parts = [part.name if isinstance(part, Nonterminal) else part for part in rules[number][1]]
        shown.append(" ".join([rules[number][0].name or "the word", "->", *parts[:dot], "·", *parts[dot:]]))
    return StacklensError(
        f"the grammar is not LR(1): with {x or 'the end'} next, {shown[0]} is at odds with {shown[1]}"
    )
