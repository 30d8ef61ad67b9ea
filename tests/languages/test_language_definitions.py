"""Every language against a restatement of its definition that lists the members, and against its own automaton."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product

import pytest

from stacklens.automata.pda import Symbol, Word
from stacklens.errors import StacklensError
from stacklens.languages.blocks import CountedPairs, EqualBlocks, SumBlocks, TwiceAsMany
from stacklens.languages.dyck import BalancedParentheses, Dyck
from stacklens.languages.language import Language
from stacklens.languages.palindrome import MarkedPalindromes

Symbols = tuple[Symbol, ...]
Members = Callable[[int], set[Symbols]]  # of exactly this length


def dyck_members(*pairs: str) -> Members:
    @cache
    def members(length: int) -> set[Symbols]:  # D -> empty | ( D ) D, the definition by a grammar
        if length <= 0:
            return {()} if length == 0 else set()
        splits = ((inner, length - 2 - inner) for inner in range(length - 1))
        return {
            (pair.split()[0], *x, pair.split()[1], *y)
            for inner, rest in splits
            for x, y, pair in product(members(inner), members(rest), pairs)
        }

    return members


def counted_members(first: str, second: str) -> Members:
    return lambda length: {(first,) * n + (second,) * n for n in range(1, length) if 2 * n == length}


def palindrome_members(letters: Symbols, marker: str) -> Members:
    return homomorphic_members(letters, marker, letters)


def homomorphic_members(letters: Symbols, marker: str, images: Sequence[str]) -> Members:
    def members(length: int) -> set[Symbols]:
        halves = product(letters, repeat=length // 2) if length % 2 else ()
        phi = dict(zip(letters, images, strict=True))
        return {(*half, marker, *(phi[x] for x in half[::-1])) for half in halves}

    return members


def longer_than_one(members: Members) -> Members:
    return lambda length: members(length) if length > 1 else set()


def block_members(pattern: Callable[[int, int], str]) -> Members:
    words = {tuple(pattern(n, m)) for n in range(1, 15) for m in range(1, 15)}
    return lambda length: {word for word in words if len(word) == length}


ABC_EQUAL, ABCD_EQUAL = EqualBlocks(3), EqualBlocks(4)


CASES: list[tuple[Language, Members, int]] = [  # the longest length of which all words are tried
    (BalancedParentheses(), dyck_members("( )"), 9),
    (Dyck(1), dyck_members("( )"), 9),
    (Dyck(2), dyck_members("( )", "[ ]"), 6),
    (Dyck(5), dyck_members("( )", "[ ]", "{ }", "< >", "(5 )5"), 4),
    (CountedPairs("1", "0"), counted_members("1", "0"), 10),
    (CountedPairs("a", "b"), counted_members("a", "b"), 10),
    (CountedPairs("in", "out"), counted_members("in", "out"), 8),
    (MarkedPalindromes(), palindrome_members(("a", "b"), "c"), 7),
    (MarkedPalindromes("012", "#"), palindrome_members(("0", "1", "2"), "#"), 5),
    (MarkedPalindromes(("do", "re"), "|"), palindrome_members(("do", "re"), "|"), 5),
    (MarkedPalindromes("abc", "#"), palindrome_members(("a", "b", "c"), "#"), 5),
    (MarkedPalindromes("ab", "#", "xy"), homomorphic_members(("a", "b"), "#", ("x", "y")), 5),
    (MarkedPalindromes("ab", "#", "xx"), homomorphic_members(("a", "b"), "#", ("x", "x")), 5),
    (MarkedPalindromes("ab", "#", "ba"), homomorphic_members(("a", "b"), "#", ("b", "a")), 7),
    (MarkedPalindromes("ab", "#", "xy", empty=False), longer_than_one(homomorphic_members(("a", "b"), "#", "xy")), 5),
    (ABC_EQUAL, block_members(lambda n, _: "a" * n + "b" * n + "c" * n), 7),
    (ABCD_EQUAL, block_members(lambda n, _: "a" * n + "b" * n + "c" * n + "d" * n), 5),
    (TwiceAsMany(), block_members(lambda n, _: "a" * n + "b" * 2 * n), 10),
    (SumBlocks(), block_members(lambda n, m: "a" * n + "b" * m + "c" * (n + m)), 8),
]
each_case = pytest.mark.parametrize(("language", "members", "longest"), CASES, ids=[repr(case[0]) for case in CASES])


def as_word(language: Language, symbols: Symbols) -> Word:
    return "".join(symbols) if max(map(len, language.alphabet)) == 1 else symbols


def all_words(language: Language, longest: int) -> Iterator[Word]:
    for length in range(longest + 1):
        for symbols in product(language.alphabet, repeat=length):
            yield as_word(language, symbols)


@each_case
def test_membership_is_the_definition_and_the_automaton(language: Language, members: Members, longest: int) -> None:
    for word in all_words(language, longest):
        expected = tuple(word) in members(len(word))
        assert (word in language) == expected, word
        if not isinstance(language, EqualBlocks):
            assert language.automaton.accepts(word) == expected, word


@each_case
def test_words_are_all_members_in_order(language: Language, members: Members, longest: int) -> None:
    assert list(language.words(longest)) == [w for w in all_words(language, longest) if tuple(w) in members(len(w))]


@each_case
def test_a_prefix_is_live_if_some_member_begins_with_it(language: Language, members: Members, longest: int) -> None:
    # In all these languages a live prefix of length n can be completed by length 2n + 2, or 4n where no automaton is.
    longest = min(longest, 6)
    reach = 4 * longest if isinstance(language, EqualBlocks | TwiceAsMany) else 2 * longest + 2
    live = {m[:n] for length in range(reach + 1) for m in members(length) for n in range(min(length, longest) + 1)}
    for word in all_words(language, longest):
        assert language.is_live(word) == (tuple(word) in live), word
        dead = [n for n in range(len(word) + 1) if tuple(word[:n]) not in live]
        assert language.first_dead(word) == (dead[0] if dead else None), word


@pytest.mark.parametrize("language", [ABC_EQUAL, ABCD_EQUAL], ids=repr)
def test_what_no_pushdown_automaton_accepts_says_so(language: Language) -> None:
    with pytest.raises(StacklensError, match=f"{language.name} has no reference automaton: it is not context-free"):
        language.automaton  # noqa: B018


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Dyck(0), "dyck-0 has no brackets: expected n of at least 1"),
        (lambda: CountedPairs("a", "a"), "the alphabet a a has a repetition"),
        (lambda: CountedPairs("a", ""), "must hold non-empty strings without whitespace"),
        (lambda: MarkedPalindromes("ab", "a"), "the alphabet a b a has a repetition"),
        (lambda: MarkedPalindromes(("a b",), "c"), "must hold non-empty strings without whitespace"),
        (lambda: MarkedPalindromes("ab", "c", "x"), "expected one a letter, none of them the marker"),
        (lambda: MarkedPalindromes("ab", "c", "xc"), "expected one a letter, none of them the marker"),
        (lambda: EqualBlocks(2), "2 equal blocks: expected 3 to 26"),
        (lambda: MarkedPalindromes("", "c"), "palindromes without letters: expected at least one"),
    ],
)
def test_what_is_no_language_is_refused(build: Callable[[], Language], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        build()
