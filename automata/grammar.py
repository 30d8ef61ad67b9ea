"""Context-free grammars as values, and the text that they are written in.

One rule a line, ``S -> ( S ) S | ε``, with spaces between symbols; the first left side is the start. A line that begins
with ``|`` goes on with the rule above. What has a rule is a nonterminal; everything else is a terminal, in quotes where
it would be read otherwise: ``'|'``, ``"#"``, ``'->'``, ``'ε'``, or with a capital first. ``#`` begins a comment.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..core.errors import FileFormatError, StacklensError
from ..core.validation import check_alphabet
from .pda import Symbol


class Nonterminal(NamedTuple):
    """A nonterminal: never equal to a terminal, which is a plain string."""

    name: str


GrammarSymbol = Symbol | Nonterminal
Rule = tuple[Nonterminal, tuple[GrammarSymbol, ...]]


@dataclass(frozen=True)
class Grammar:
    """A context-free grammar without useless rules: each takes part in the derivation of some word.

    Args:
        rules: left and right sides; those that derive no word, or cannot be reached, are dropped.
        start: the nonterminal that words are derived from.
        alphabet: the terminals, in the order that words are sorted by.

    Raises:
        StacklensError: no word can be derived, or the alphabet is not one.

    >>> grammar = parse_grammar("S -> ( S ) S | ε")
    >>> grammar.start, grammar.alphabet, len(grammar.rules), sorted(grammar.nullable)
    (Nonterminal(name='S'), ('(', ')'), 2, [Nonterminal(name='S')])
    """

    rules: tuple[Rule, ...]
    start: Nonterminal
    alphabet: tuple[Symbol, ...]

    def __post_init__(self) -> None:
        check_alphabet(self.alphabet)
        if not self.alphabet:
            raise StacklensError("no terminals: expected at least one")
        productive = _closed(self.rules)
        if self.start not in productive:
            raise StacklensError(f"no word can be derived from {self.start.name}: every rule leads to itself again")
        kept = [rule for rule in self.rules if all(_is_in(part, productive) for part in rule[1])]
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


def _is_in(part: GrammarSymbol, nonterminals: Iterable[Nonterminal]) -> bool:
    return isinstance(part, str) or part in nonterminals


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
_MOST_RULES, _MOST_PARTS = 2_000, 20_000  # a grammar's automaton or normal form can grow with their square
_MOST_CHARACTERS, _LONGEST_SIDE = 500_000, 200
_LONGEST = 100  # characters of a symbol


def parse_grammar(text: str, source: str = "grammar") -> Grammar:
    """Return the grammar that ``text`` writes.

    Args:
        text: the rules, as described at the top of this module.
        source: what to call the text in messages, such as the file's name.

    Raises:
        FileFormatError: naming ``source``, the line, what was found and what was expected.

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
    # a capital without a rule is taken for a slip
    lefts = {left.text for left, _ in rules}
    for _, right in rules:
        for token in right:
            if not token.quoted and token.text[0].isupper() and token.text not in lefts:
                raise _error(source, token.line, f"{token.text} has no rule: add one, or quote it if it is a terminal "
                             f"('{token.text}')")  # fmt: skip
    # what has a rule is a nonterminal, all else a terminal
    alphabet: dict[Symbol, None] = {}
    parsed: list[Rule] = []
    for left, right in rules:
        parts = [_read_part(token, lefts) for token in right]
        alphabet |= {part: None for part in parts if isinstance(part, str)}
        parsed.append((Nonterminal(left.text), tuple(parts)))
    try:
        return Grammar(tuple(parsed), parsed[0][0], tuple(alphabet))
    except StacklensError as error:
        raise FileFormatError(f"{source}: {error}") from None


def grammar_text(grammar: Grammar) -> str:
    """Return the text that `parse_grammar` reads as the same rules: a line each nonterminal, the start first.

    Symbols of the alphabet that no rule has are not in it.

    Raises:
        StacklensError: the grammar has no terminals, is too long, or has a symbol that no text can
            hold: one with both kinds of quotes that needs quotes, a very long or an unprintable one.

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
    plain = symbol not in ("|", _EMPTY, *_ARROWS, *lefts) and symbol[0] not in "#'\"" and not symbol[0].isupper()
    quote = "" if plain else "'" if "'" not in symbol else '"'
    return f"{quote}{symbol}{quote}"


def _read_part(token: _Token, lefts: set[str]) -> GrammarSymbol:
    return Nonterminal(token.text) if not token.quoted and token.text in lefts else token.text


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
        yield [(left, right) for right in _alternatives(tokens[1:], number, source)]


def _alternatives(tokens: list[_Token], line: int, source: str) -> Iterator[list[_Token]]:
    right: list[_Token] = []
    for token in [*tokens, _Token("|", False, line)]:
        if _is(token, *_ARROWS):
            raise _error(source, line, f"a second {token.text}: write one rule a line, or quote it ('{token.text}')")
        if not _is(token, "|"):
            right.append(token)
            continue
        if not right:
            raise _error(source, line, "an alternative is empty: write ε for the empty word")
        if any(_is(part, _EMPTY) for part in right) and len(right) > 1:
            raise _error(source, line, "ε stands beside other symbols: it must stand alone, or be quoted ('ε')")
        yield [part for part in right if not _is(part, _EMPTY)]
        right = []


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
