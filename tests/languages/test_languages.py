"""Every language against its definition and its automaton; what is drawn from it; names and files."""

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.strategies import pushdown_automata
from tests.languages.plain_brackets import nested
from tests.refusals import refused

from stacklens.automata.counting import count_words
from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import PushdownAutomaton, Symbol, Word
from stacklens.automata.rewriting import drop_end_marker
from stacklens.automata.small_grammar import grammar_of
from stacklens.core.errors import FileFormatError, StacklensError, UnknownNameError, UnknownSymbolError
from stacklens.languages.catalogue import get_language, get_task, language_names
from stacklens.languages.classic import (
    SUM_BLOCKS,
    TWICE_AS_MANY,
    BalancedParentheses,
    Dyck,
    MarkedPalindromes,
    counted_pairs,
    equal_blocks,
)
from stacklens.languages.context_free import AutomatonLanguage
from stacklens.languages.language import Language, edit_word, format_word, make_word, parse_word
from stacklens.languages.next_sets import BoundedDyck

# Every language against a restatement of its definition that lists the members, and against its own automaton.

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


ABC_EQUAL, ABCD_EQUAL = NO_AUTOMATON = equal_blocks(3), equal_blocks(4)


CASES: list[tuple[Language, Members, int]] = [  # the longest length of which all words are tried
    (BalancedParentheses(), dyck_members("( )"), 9),
    (Dyck(1), dyck_members("( )"), 9),
    (Dyck(2), dyck_members("( )", "[ ]"), 6),
    (Dyck(5), dyck_members("( )", "[ ]", "{ }", "< >", "(5 )5"), 4),
    (counted_pairs("1", "0"), counted_members("1", "0"), 10),
    (counted_pairs("a", "b"), counted_members("a", "b"), 10),
    (counted_pairs("in", "out"), counted_members("in", "out"), 8),
    (MarkedPalindromes(), homomorphic_members(("a", "b"), "c", "ab"), 7),
    (MarkedPalindromes("012", "#"), homomorphic_members(("0", "1", "2"), "#", "012"), 5),
    (MarkedPalindromes(("do", "re"), "|"), homomorphic_members(("do", "re"), "|", ("do", "re")), 5),
    (MarkedPalindromes("abc", "#"), homomorphic_members(("a", "b", "c"), "#", "abc"), 5),
    (MarkedPalindromes("ab", "#", "xy"), homomorphic_members(("a", "b"), "#", ("x", "y")), 5),
    (MarkedPalindromes("ab", "#", "xx"), homomorphic_members(("a", "b"), "#", ("x", "x")), 5),
    (MarkedPalindromes("ab", "#", "ba"), homomorphic_members(("a", "b"), "#", ("b", "a")), 7),
    (MarkedPalindromes("ab", "#", "xy", empty=False), longer_than_one(homomorphic_members(("a", "b"), "#", "xy")), 5),
    (ABC_EQUAL, block_members(lambda n, _: "a" * n + "b" * n + "c" * n), 7),
    (ABCD_EQUAL, block_members(lambda n, _: "a" * n + "b" * n + "c" * n + "d" * n), 5),
    (TWICE_AS_MANY, block_members(lambda n, _: "a" * n + "b" * 2 * n), 10),
    (BoundedDyck(2, 2), lambda n: {word for word in dyck_members("( )", "[ ]")(n) if nested(word, 2)}, 6),
    (SUM_BLOCKS, block_members(lambda n, m: "a" * n + "b" * m + "c" * (n + m)), 8),
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
        if language not in NO_AUTOMATON:
            assert language.automaton.accepts(word) == expected, word
    assert list(language.words(longest)) == [w for w in all_words(language, longest) if tuple(w) in members(len(w))]


@each_case
def test_a_prefix_is_live_if_some_member_begins_with_it(language: Language, members: Members, longest: int) -> None:
    # In all these languages a live prefix of length n can be completed by length 2n + 2, or 4n where no automaton is.
    longest = min(longest, 6)
    reach = 4 * longest if language in NO_AUTOMATON or language == TWICE_AS_MANY else 2 * longest + 2
    live = {m[:n] for length in range(reach + 1) for m in members(length) for n in range(min(length, longest) + 1)}
    for word in all_words(language, longest):
        assert language.is_live(word) == (tuple(word) in live), word
        dead = [n for n in range(len(word) + 1) if tuple(word[:n]) not in live]
        assert language.first_dead(word) == (dead[0] if dead else None), word


@pytest.mark.parametrize("language", [ABC_EQUAL, ABCD_EQUAL], ids=repr)
def test_what_no_pushdown_automaton_accepts_says_so(language: Language) -> None:
    refused(f"{language.name} has no reference automaton: it is not context-free", lambda: language.automaton)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Dyck(0), "dyck-0 has no brackets: expected n of at least 1"),
        (lambda: counted_pairs("a", "a"), "the alphabet a a has a repetition"),
        (lambda: counted_pairs("a", ""), "must hold non-empty strings without whitespace"),
        (lambda: MarkedPalindromes("ab", "a"), "the alphabet a b a has a repetition"),
        (lambda: MarkedPalindromes(("a b",), "c"), "must hold non-empty strings without whitespace"),
        (lambda: MarkedPalindromes("ab", "c", "x"), "expected one a letter, none of them the marker"),
        (lambda: MarkedPalindromes("ab", "c", "xc"), "expected one a letter, none of them the marker"),
        (lambda: equal_blocks(2), "2 equal blocks: expected 3 to 26"),
        (lambda: MarkedPalindromes("", "c"), "palindromes without letters: expected at least one"),
    ],
)
def test_what_is_no_language_is_refused(build: Callable[[], Language], message: str) -> None:
    refused(message, build)


# Samplers: what they draw is what was asked for, evenly, deeply and again.

LANGUAGES: list[Language] = [
    BalancedParentheses(),
    Dyck(2),
    Dyck(6),
    counted_pairs("1", "0"),
    counted_pairs("a", "b"),
    MarkedPalindromes(),
    MarkedPalindromes(("do", "re"), "|"),
    MarkedPalindromes("abc", "#", "xyz"),
]
each_language = pytest.mark.parametrize("language", LANGUAGES, ids=repr)


@each_language
@pytest.mark.parametrize("length", [(2, 12), (50, 160), (7, 8), (30, 31)])
def test_members_are_members_of_every_possible_length(language: Language, length: tuple[int, int]) -> None:
    words = language.sample(400, length)
    possible = {n for n in range(length[0], length[1] + 1) if next(language.words_of_length(n), None) is not None}
    assert len(words) == 400
    assert all(word in language for word in words)
    assert {len(word) for word in words} <= possible
    assert len({len(word) for word in words}) > 0.9 * len(possible)


@each_language
@pytest.mark.parametrize("length", [(2, 12), (50, 160), (1, 1), (2, 2), (7, 7), (8, 8)])
def test_near_misses_are_no_members(language: Language, length: tuple[int, int]) -> None:
    words = language.sample(100, length, positive=False)
    assert len(words) == 100
    for word in words:
        assert word not in language
        assert not language.automaton.accepts(word)
        assert length[0] <= len(word) <= length[1]


@each_language
@pytest.mark.parametrize("depth", [1, 2, 17, 1000])
def test_deep_words_have_exactly_that_depth(language: Language, depth: int) -> None:
    for word in language.deep(2, depth, seed=depth):
        assert word in language
        assert max(len(moment.stacks[0]) for moment in language.automaton.run(word)) == depth


@settings(max_examples=50)
@given(st.sampled_from(LANGUAGES), st.integers(0, 40), st.integers(0, 10), st.integers(0, 2**32))
def test_near_miss_of_any_member(language: Language, length: int, slack: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    [member] = language.sample(1, (length, length + slack + 2), seed=seed)
    missed = language.near_miss(member, rng)
    assert missed not in language
    assert len(missed) <= len(member) + 3
    assert set(missed) <= set(language.alphabet)


@pytest.mark.parametrize(
    ("language", "length", "positive", "message"),
    [
        (Dyck(2), (7, 7), True, "dyck-2 has no members of lengths 7 to 7: widen the range"),
        (counted_pairs("1", "0"), (0, 1), True, "1n0n has no members of lengths 0 to 1"),
        (MarkedPalindromes(), (4, 4), True, "palindrome has no members of lengths 4 to 4"),
        (Dyck(1), (0, 0), False, "dyck-1: found no near-miss of lengths 0 to 0"),
        (Dyck(1), (5, 4), True, "cannot sample 1 words of lengths 5 to 4"),
        (Dyck(1), (-1, 4), None, "cannot sample 1 words of lengths -1 to 4"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    language: Language, length: tuple[int, int], positive: bool | None, message: str
) -> None:
    refused(message, language.sample, 1, length, positive)


# Words: text and back, and edits that stay close.

symbols = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=3).filter(
    lambda s: s.split() == [s]
)
alphabets = st.lists(symbols, min_size=1, max_size=6, unique=True) | st.lists(
    symbols.filter(lambda s: len(s) == 1), min_size=1, max_size=6, unique=True
)


@st.composite
def words(draw: st.DrawFn) -> tuple[Word, list[Symbol]]:
    alphabet = draw(alphabets)
    return make_word(draw(st.lists(st.sampled_from(alphabet), max_size=12)), alphabet), alphabet


@given(words())
def test_formatted_words_are_read_back(case: tuple[Word, list[Symbol]]) -> None:
    word, alphabet = case
    assert parse_word(format_word(word), alphabet) == word


@given(words(), st.integers(0, 2**32))
def test_one_edit_changes_the_length_by_one_or_cuts(case: tuple[Word, list[Symbol]], seed: int) -> None:
    word, alphabet = case
    edited = edit_word(word, alphabet, np.random.default_rng(seed))
    assert type(edited) is type(word)
    assert set(edited) <= set(alphabet)
    assert len(edited) <= len(word) + 1
    assert len(edited) >= len(word) - 1 or edited == word[: len(edited)]


@pytest.mark.parametrize(("text", "alphabet"), [("ab ", ("a", "b")), ("a ( b", ("a", "(5")), ("ab", ("a", "c"))])
def test_unknown_symbols_are_named(text: str, alphabet: tuple[Symbol, ...]) -> None:
    refused("is not in the alphabet", parse_word, text, alphabet, error=UnknownSymbolError)


# Languages of blocks: not every length has a member, and not every one an automaton.

blocks_each_language = pytest.mark.parametrize("language", [*NO_AUTOMATON, TWICE_AS_MANY, SUM_BLOCKS], ids=repr)


@blocks_each_language
def test_members_and_near_misses(language: Language) -> None:
    members = language.sample(200, (3, 40), seed=1)
    assert all(word in language and 3 <= len(word) <= 40 for word in members)
    assert {len(word) for word in members} == {n for n in range(3, 41) if next(language.words_of_length(n), None)}
    for length in ((2, 2), (7, 8), (20, 40)):
        near = language.sample(100, length, positive=False, seed=1)
        assert not any(word in language for word in near)
        assert len({language.first_dead(word) for word in near}) > 1


@blocks_each_language
def test_deep_words_count_far(language: Language) -> None:
    for depth in (2, 9, 300):
        [word] = language.deep(1, depth)
        assert word in language
        height = sum(symbol in word[:1] or (language.name == "anbmcnm" and symbol == "b") for symbol in word)
        assert height == depth
    refused(f"{language.name} has no members of depth 0", language.deep, 1, 0)


def test_samples_are_members_as_deep_as_they_may_be() -> None:
    language = get_language("dyck-2-3")
    assert language.name == "dyck-2-3"
    words = [*language.sample(50, (2, 40), True, seed=1), *language.deep(5, 100, seed=1)]
    assert all(nested(str(word), 3) for word in words)
    assert all(not nested(str(word), 2) for word in language.deep(5, 100, seed=1))
    assert not any(nested(str(word), 3) for word in language.sample(50, (2, 40), False, seed=1))


# Languages by name.


def test_every_listed_name_is_a_language() -> None:
    for name in language_names():
        example = name.replace("K-M", "2-3").replace("N", "3")
        assert get_language(example).name == example


@pytest.mark.parametrize("name", ["", "dyck", "dyck-0", "dyck-N", "dyck-02", "dyck--1", "dyck-2\n", "dyck-٣", "Anbn"])
def test_unknown_names_list_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"expected one of 1n0n, anb2n, .*, dyck-N, .*, palindrome, parentheses"):
        get_language(name)


# Languages from files: grammars as text, automata as JSON, and what cannot be read.


def test_a_grammar_file(tmp_path: Path) -> None:
    path = tmp_path / "brackets"
    path.write_text("S -> ( S ) S | ε  # Dyck-1\n", encoding="utf-8")
    language = get_language(str(path))
    assert language.name == str(path)
    assert list(language.words(4)) == ["", "()", "(())", "()()"]
    assert pickle.loads(pickle.dumps(language)) == language == get_language(str(path))
    assert hash(language) == hash(get_language(str(path)))


@pytest.mark.parametrize("name", ["dyck-2", "palindrome", "anb2n", "anbmcnm", "homomorphic-palindrome"])
def test_an_automaton_file_is_the_language_that_it_accepts(name: str, tmp_path: Path) -> None:
    known = get_language(name)
    path = tmp_path / "automaton.json"
    path.write_text(to_json(known.automaton), encoding="utf-8")
    language = get_language(str(path))
    assert language.alphabet == known.alphabet
    assert language.automaton == known.automaton
    longest = 6 if len(known.alphabet) < 5 else 4
    assert list(language.words(longest)) == list(known.words(longest))
    for word in product(known.alphabet, repeat=longest):
        assert language.first_dead(word) == known.first_dead(word)
        assert (word in language) == (word in known)
    assert all(word in known for word in language.sample(40, (10, 60)))
    assert all(word not in known for word in language.sample(40, (10, 60), positive=False))
    for deep in language.deep(3, 30):
        assert deep in known
        assert max(len(moment.stacks[0]) for moment in known.automaton.run(deep)) >= 30


@settings(max_examples=80)
@given(pushdown_automata(max_stacks=1, acceptances=("final state", "empty stack", "both")))
def test_the_grammar_of_a_random_automaton(pda: PushdownAutomaton) -> None:
    counts = count_words(pda, 6)
    try:
        grammar = grammar_of(pda)
    except StacklensError:
        assert not any(counts) or drop_end_marker(pda) is None
        return
    language = AutomatonLanguage("random", grammar, pda)
    form = language._form
    assert [form.count(length) for length in range(7)] == counts  # as many derivations as words: unambiguous
    for length in range(4):
        for word in product(pda.input_alphabet, repeat=length):
            assert (word in language) == pda.accepts(word)
            assert (word in language) == (word in form.words(length))
            if word in language:
                assert language.is_live(word)


def test_a_regular_expression_is_a_language(tmp_path: Path) -> None:
    (path := tmp_path / "own.re").write_text("(a|b)*c{1,2}.\n", encoding="utf-8")
    for name in ("re:(a|b)*c{1,2}.", str(path)):
        language, task = get_language(name), get_task(name)
        expected = re.compile("(a|b)*c{1,2}[abc]").fullmatch
        words = ["".join(word) for n in range(6) for word in product("abc", repeat=n)]
        assert [word for word in words if word in language] == [word for word in words if expected(word)]
        assert task.expected("ac") == [("a", "b", "c"), ("a", "b", "c")]
        assert all(expected("".join(word)) for word in task.sample(20, (30, 40), seed=1).words)
    for name in ("re:(", "re:*", "re:", "re:a b"):
        refused(r"such as \(a\|b\)\*c", get_language, name)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    def refuse(name: str, content: bytes, message: str) -> None:
        path = tmp_path / name
        path.write_bytes(content)
        assert str(path) in refused(message, get_language, str(path), error=FileFormatError)

    refuse("bad.cfg", b"S -> a\nT b", "bad.cfg, line 2: expected a rule")
    refuse("binary.cfg", b"\xff\xfe\x00", "not text in UTF-8")
    refuse("bad.json", b"S -> a", "bad.json: not JSON")
    refuse("other", b'{"format": "png"}', "not an automaton file")
    two = PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2)
    refuse("two.json", to_json(two).encode(), "needs one stack and acceptance by state or stack, not 2 stacks")
    none = PushdownAutomaton(("q",), ("a",), (), {}, "q")
    refuse("none.json", to_json(none).encode(), "no word can be derived")
    with pytest.raises(FileFormatError, match=r"missing\.cfg: no such file; expected a grammar"):
        get_language(str(tmp_path / "missing.cfg"))
    refused(r": is a folder; expected a grammar", get_language, str(tmp_path), error=FileFormatError)
    refused("", get_language, "missing", error=UnknownNameError)
