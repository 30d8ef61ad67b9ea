"""Every task: what is expected, against its automaton, brute force and Python; what is drawn; tasks of one's own."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate, pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refused

import stacklens as sl
from stacklens.automata.grammar import Grammar, Nonterminal
from stacklens.automata.pda import NONE, Key, Output, PushdownAutomaton, Transition, Word
from stacklens.automata.runs import first_rejection
from stacklens.core.errors import StacklensError, UnknownNameError, UnknownSymbolError
from stacklens.extract.by_name import specification_for
from stacklens.languages.catalogue import get_language, get_task, task_names
from stacklens.languages.chomsky import MODULAR_ARITHMETIC_BRACKETS, SOLVE_EQUATION
from stacklens.languages.context_free import ContextFreeLanguage
from stacklens.languages.hao2018 import (
    _BRACKETS,
    _FORMULAS,
    RULES,
    Rules,
    count_derivations,
    draw_derivation,
    words_by_depth,
)
from stacklens.languages.streams import PATTERNS, Addition, CountingStream, Memorization, StreamTask, curriculum
from stacklens.languages.task import OwnTask, Split, Task
from stacklens.models.word_network import BlackBox

NAMES = [name.replace("K-M", "2-3").replace("N", "2") for name in task_names()]
each_task = pytest.mark.parametrize("task", [get_task(name) for name in NAMES], ids=NAMES)
NONE_ON_ONE_STACK = {"anbncn", "anbncndn", "addition"}


def expected(task: Task, word: Word) -> list[Output] | None:
    try:
        return task.expected(word)
    except StacklensError:
        return None


def reversal(letters: str, kept: str) -> Callable[[str], list[Output] | None]:
    def definition(word: str) -> list[Output] | None:
        w, nulls = word.rstrip("#"), len(word) - len(word.rstrip("#"))
        back = [letter for letter in reversed(w) if letter in kept]
        return None if set(w) - set(letters) or nulls > len(back) else [*("#" * len(w)), *back[:nulls]]

    return definition


def next_of(rules: Rules, counted: set[str]) -> Callable[[Any], list[Output] | None]:
    """Return the one of ``counted`` that may follow in the paper's grammar after each symbol, None for none."""
    lefts = {left for left, _ in rules}
    sides = [(Nonterminal(left), side) for left, alternatives in rules for side in alternatives]
    plain = [(left, tuple(Nonterminal(x) if x in lefts else x for x in side)) for left, side in sides]
    alphabet = tuple(dict.fromkeys(x for _, side in sides for x in side if x not in lefts))
    language = ContextFreeLanguage("paper", Grammar(tuple(plain), plain[0][0], alphabet))

    def definition(word: Any) -> list[Output] | None:
        following = [counted & set(symbols) for symbols in language.next_symbols(word)[1:]]
        assert all(len(symbols) < 2 for symbols in following)
        return [next(iter(symbols), None) for symbols in following] if len(following) == len(word) else None

    return definition


def formula(word: str) -> list[Output] | None:
    values: list[bool] = []
    for symbol in word:
        if symbol in "TF":
            values.append(symbol == "T")
        elif len(values) < 2:
            return None
        else:
            second, first = values.pop(), values.pop()
            values.append((first and second) if symbol == "∧" else (first or second))
    return [*(formula(word[:-1]) or []), "FT"[values[-1]]] if word else []


def parity(ones: Callable[[str], int]) -> Callable[[str], list[Output] | None]:
    return lambda word: [str(ones(word[: n + 1]) % 2) for n in range(len(word))]


def manipulated(word: str) -> list[Output] | None:
    """Return the stack that a list is after its letters and the operations on it, the top first, and its end."""
    found = re.fullmatch("([ab]+)([-AB]*)(#*)|", word)
    if found is None or not word:
        return None if word else []
    stack = list(found[1])
    for action in found[2]:
        stack = stack[:-1] if action == "-" else [*stack, action.lower()]
    answer = [*stack[::-1], "."][: len(found[3])]
    return [*[None] * len(found[1] + found[2]), *answer] if len(answer) == len(found[3]) else None


def calculated(word: str) -> list[Output] | None:
    if not re.fullmatch("([0-4][-+*])*[0-4]?", word):
        return None
    return [str(eval(word[: n + 1]) % 5) if n % 2 == 0 else None for n in range(len(word))]


def behind(name: str) -> Callable[[str], list[Output] | None]:
    """Return what is expected of a stream that begins with the last letter of the one before."""

    def definition(word: str) -> list[Output] | None:
        rest = expected(get_task(name.split("-")[0]), word[1:])
        if word[:1] not in ("", name[-1]) or rest is None:
            return None
        return [None, *rest] if word else []

    return definition


AFTER = ("anbn-after-b", "anb2n-after-b", "anbmcnm-after-c", "memorization-after-2")
DEFINITIONS: dict[str, Callable[[Any], list[Output] | None]] = {
    "reversal": reversal("01", "01"),
    "reversal-with-excluded": reversal("0123", "01"),
    "reverse-string": reversal("ab", "ab"),
    "string-reversal": reversal("abc", "abc"),
    "xor": parity(lambda word: word.count("1")),
    "delayed-xor": parity(lambda word: word[:-1].count("1")),
    "parity-check": parity(lambda word: word.count("b")),
    "even-pairs": parity(lambda word: sum(x != y for x, y in pairwise(word))),
    "boolean-formula": formula,
    "parenthesis-prediction": next_of(_BRACKETS, set(")]")),
    "agreement": next_of(RULES, {"has", "have"}),
    "cycle-navigation": lambda word: [str(sum({"1": 1, "2": 4}.get(x, 0) for x in w) % 5) for w in accumulate(word)],
    "modular-arithmetic": calculated,
    "stack-manipulation": manipulated,
    **{name: behind(name) for name in AFTER},
}


@pytest.mark.parametrize("name", [*(name for name in NAMES if name not in NONE_ON_ONE_STACK), *AFTER])
def test_the_automaton_says_what_is_expected_of_every_short_prefix(name: str) -> None:
    task = get_task(name)
    longest = {2: 12, 3: 8, 4: 7, 5: 6, 6: 5, 7: 5, 8: 5, 9: 5, 11: 4}[len(task.alphabet)]
    joined = max(map(len, task.alphabet)) == 1
    words: list[Word] = []
    for length in range(longest + 1):
        words += ["".join(w) if joined else w for w in product(task.alphabet, repeat=length)]
    words += task.sample(20, seed=2).words
    for word, at in zip(words, first_rejection(task.reference, words), strict=True):
        said = expected(task, word)
        assert (said is None) == (at >= 0), word
        if said is not None:
            assert task.reference.transduce(word) == said, word
        if said is not None and name in AFTER:
            assert task.scored(word) == [output is not None for output in said]
        if name in DEFINITIONS:
            assert said == DEFINITIONS[name](word), word


@each_task
@pytest.mark.parametrize("split", ["train", "test"])
def test_the_automaton_says_what_is_expected_of_sampled_words(task: Task, split: str) -> None:
    examples = task.sample(30, split="train" if split == "train" else "test", seed=3)
    assert len(examples) == 30
    for row, word in enumerate(examples.words):
        said = task.expected(word)
        assert len(said) == len(word) == examples.lengths[row]
        if task.reference is not None:
            assert task.reference.transduce(word) == said
            assert task.reference.accepts(word)
        assert [None if i < 0 else task.alphabet[i] for i in examples.symbols[row, : len(word)]] == list(word)
        assert examples.mask[row].tolist() == task.scored(word) + [False] * (examples.mask.shape[1] - len(word))


@each_task
def test_what_is_expected_depends_on_no_later_symbol(task: Task) -> None:
    for word in task.sample(3, seed=5).words:
        whole = task.expected(word)
        assert all(task.expected(word[:n]) == whole[:n] for n in range(0, len(word) + 1, 3))


@pytest.mark.parametrize(
    "name",
    [
        *("dyck-1", "dyck-2", "dyck-3", "dyck-5", "simple-palindrome", "homomorphic-palindrome"),
        *("simple-palindrome-nonempty", "homomorphic-palindrome-nonempty"),
    ],
)
def test_next_sets_are_the_live_symbols(name: str) -> None:
    task, language = get_task(name), get_language(name)
    assert (task.name, task.alphabet) == (language.name, language.alphabet)
    ends = task.output_alphabet[len(task.alphabet) :]
    for length in range(1, 6 if len(task.alphabet) < 8 else 4):
        for word in product(task.alphabet, repeat=length):
            if language.is_live(word):
                live = tuple(symbol for symbol in language.alphabet if language.is_live((*word, symbol)))
                assert task.expected(word)[-1] == (*live, *(ends if word in language else ())), word


@pytest.mark.parametrize(
    ("name", "word", "counts"),
    [
        ("anbn", "aabbaaabbbabaaaaabbbbb", "  ..   ... .     ....."),  # table 1, one place before the bold symbols
        ("anbncn", "aaabbbccca", "   ...... "),
        ("anbncndn", "aabbccdda", "  ...... "),
        ("anb2n", "aabbbbaaabbbbbbabb", "  ....   ...... .."),
        ("anbmcnm", "aabcccaabbccccabcc", "   ...    ....  .."),
        ("memorization", "12=21", "  .. "),
        ("addition", "101+1=011.", "     .... "),
        ("reversal", "110###", "   ..."),
        ("reversal-with-excluded", "1203##", "    .."),
        ("string-reversal", "ab##", "...."),
        ("xor", "1010", "...."),
        ("delayed-xor", "1010", "...."),
        ("parenthesis-prediction", "([()])[]", "  ... . "),
        ("boolean-formula", "TF∧", "..."),
        ("dyck-2", "([])", "...."),
        ("homomorphic-palindrome", "abc#zyx", "......."),
    ],
)
def test_what_counts(name: str, word: str, counts: str) -> None:
    assert get_task(name).scored(word) == [mark == "." for mark in counts.ljust(len(word))]


@pytest.mark.parametrize(
    ("name", "word", "message"),
    [
        ("dyck-2", "([)", "no word of dyck-2 begins with \\(\\[\\): '\\)' at position 3"),
        ("anbn", "aabbb", "no stream of anbn: none of its pieces begins with b"),
        ("anbn", "aaba", "'a' at position 4, expected 'b'"),
        ("memorization", "=", "none of its pieces begins with ="),
        ("addition", "01", "none of its pieces begins with 01"),
        ("reversal", "1###", "expected w and up to |w| times #"),
        ("reversal-with-excluded", "123##", "expected w and up to |w| times #, or as often as"),
        ("reversal-with-excluded", "124", "'4' at position 3; expected w and up to"),
        ("xor", "012", "expected 0 and 1 only"),
        ("parenthesis-prediction", "(()(", "'\\(' at position 4"),
        ("boolean-formula", "T∧", "'∧' at position 2"),
        ("agreement", ("the", "lobster", "have"), "'have' at position 3"),
        ("agreement", ("the", "lobster", "has", "devoured"), "'devoured' at position 4"),
    ],
)
def test_what_is_no_word_of_a_task(name: str, word: Word, message: str) -> None:
    refused(message.replace("|w|", "\\|w\\|"), get_task(name).expected, word)


# Samplers of tasks: the papers' sizes, distributions and distinctness, and that a seed fixes the words.

STREAMS: list[StreamTask] = [*map(CountingStream, PATTERNS), Memorization(), Addition()]


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_fixes_the_words(name: str) -> None:
    task = get_task(name)
    first = task.sample(20, seed=4)
    again = task.sample(20, seed=4)
    assert first.words == again.words
    assert np.array_equal(first.targets, again.targets)
    assert first.words != task.sample(20, seed=5).words


@pytest.mark.parametrize("name", ["dyck-2", "dyck-6", "simple-palindrome", "homomorphic-palindrome", "string-reversal"])
def test_suzgun_words_are_distinct_members_of_the_right_lengths(name: str) -> None:
    sizes: dict[Split, tuple[int, int]] = {"train": (2, 50), "test": (52, 100)}
    for split, (low, high) in sizes.items():
        words = get_task(name).sample(250, split=split).words
        assert len(set(words)) == 250
        assert {low <= len(word) <= high for word in words} == {True}
        assert min(map(len, words)) <= low + 4
        assert max(map(len, words)) >= high - 6
        if name != "string-reversal":
            assert all(word in get_language(name) for word in words)


def test_derivations_are_counted_and_drawn_evenly() -> None:
    assert count_derivations(_FORMULAS, 5) == 81610
    assert len(words_by_depth(_FORMULAS, 4)) == count_derivations(_FORMULAS, 4) == 202  # it is unambiguous
    assert [count_derivations(_BRACKETS, depth) for depth in (3, 4, 5, 6)] == [2, 30, 854, 51270]
    drawn = Counter(tuple(draw_derivation(_FORMULAS, 3, np.random.default_rng(seed))) for seed in range(2000))
    assert set(drawn) == set(words_by_depth(_FORMULAS, 3))
    assert all(140 < count < 260 for count in drawn.values())  # ten words, mean 200, standard deviation 13
    refused("no word has a derivation of at most 1 levels", draw_derivation, _FORMULAS, 1, np.random.default_rng(0))


@pytest.mark.parametrize("task", STREAMS, ids=repr)
def test_streams_are_pieces_of_the_right_sizes(task: StreamTask) -> None:
    by_n = task.words_by_n(2, 9, count=6, seed=1)
    assert list(by_n) == list(range(2, 10))
    for n, pieces in by_n.items():
        assert len(pieces) == 6
        assert all(task.pieces(piece) == [piece] for piece in pieces)
        assert {_size(task, piece) for piece in pieces} == {n}
    stream = task.stream(300, curriculum(4, 15), np.random.default_rng(2))
    assert len(task.pieces(stream)) == 300
    sizes = Counter(_size(task, piece) for piece in task.pieces(stream))
    assert set(sizes) == set(range(2, 7))
    assert max(sizes.values()) < 2 * min(sizes.values())
    train, test = (task.sample(6, split=split, seed=0).words for split in ("train", "test"))
    assert max(_size(task, piece) for word in train for piece in task.pieces(word)) <= 19
    assert max(_size(task, piece) for word in test for piece in task.pieces(word)) > 40


def _size(task: StreamTask, piece: str) -> int:
    if task.name == "addition":
        return sum(len(number) for number in piece.split("=")[0].split("+") if number != "0")
    return {"anbmcnm": piece.count("c"), "memorization": piece.find("=")}.get(task.name, piece.count("a"))


@pytest.mark.parametrize(
    ("name", "n", "lengths", "message"),
    [
        ("xor", -1, None, "cannot sample -1 words"),
        ("xor", 1, (5, 4), r"of sizes \(5, 4\): expected 0 <= n, 0 <= low <= high"),
        ("anbn", 1, (0, 1), "anbn has no pieces of sizes 0 to 1: they begin at 2"),
        ("string-reversal", 1, (3, 3), "no words of lengths 3 to 3: they are even"),
        ("simple-palindrome", 1, (2, 2), "simple-palindrome has no members of lengths 2 to 2"),
        ("agreement", 1, (2, 9), r"expected sizes \(0, depth\), not \(2, 9\)"),
        ("parenthesis-prediction", 1, (0, 2), "no word has a derivation of at most 2 levels"),
    ],
)
def test_what_cannot_be_drawn_is_said(name: str, n: int, lengths: tuple[int, int] | None, message: str) -> None:
    refused(message, get_task(name).sample, n, lengths)
    refused("unknown split 'dev': expected train or test", get_task(name).sample, 1, split="dev")


# Arrays of examples, and the scores on them.


def test_arrays_of_a_transduction_and_a_word_is_right_if_all_that_counts_is() -> None:
    examples = get_task("reversal").examples(["01##", "110###"])
    assert examples.words == ("01##", "110###")
    assert examples.symbols.tolist() == [[0, 1, 2, 2, -1, -1], [1, 1, 0, 2, 2, 2]]
    assert examples.targets.tolist() == [[2, 2, 1, 0, -1, -1], [2, 2, 2, 0, 1, 1]]
    assert examples.mask.tolist() == [[False, False, True, True, False, False], [False] * 3 + [True] * 3]
    assert examples.lengths.tolist() == [4, 6]
    outputs = np.stack([examples.targets, examples.targets, np.zeros_like(examples.targets)])  # (3 nets, N, T)
    outputs[0, :, :2] = 7  # does not count
    outputs[1, 1, 5] = 0
    assert examples.correct(outputs).tolist() == [[True, True], [True, False], [False, False]]
    assert examples.symbol_accuracy(outputs).tolist() == [1.0, 0.8, 0.4]
    assert examples.correct(outputs[1]).tolist() == [True, False]


def test_arrays_of_sets_which_are_right_as_a_whole() -> None:
    examples = get_task("dyck-2").examples(["()", "([])"])
    assert examples.targets.shape == (2, 4, 4)
    assert examples.targets[1].astype(int).tolist() == [[1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 0], [1, 0, 1, 0]]
    assert not examples.targets[0, 2:].any()
    assert examples.mask.tolist() == [[True, True, False, False], [True] * 4]
    outputs = examples.targets.copy()
    assert examples.correct(outputs).tolist() == [True, True]
    outputs[0, 3] = True  # behind the end
    assert examples.correct(outputs).tolist() == [True, True]
    outputs[1, 0, 3] = True
    assert examples.correct(outputs[None]).tolist() == [[True, False]]
    assert examples.symbol_accuracy(outputs).item() == pytest.approx(5 / 6)


def test_pieces_of_a_stream_are_scored_apart() -> None:
    task = get_task("anbn")
    assert isinstance(task, StreamTask)
    pieces = ["ab", "aabb", "aaabbb"]
    stream = "".join(pieces)
    hits = np.ones((4, len(stream)), np.bool_)
    hits[1, 0] = False  # how many a come cannot be known
    hits[2, 1] = False  # the a after ab
    hits[3, [4, 11]] = False  # the second b of aabb, and the a after aaabbb
    right = task.pieces_correct(pieces, hits)
    assert right.tolist() == [[True] * 3, [True] * 3, [False, True, True], [True, False, False]]
    assert task.pieces(stream) == pieces
    assert task.pieces(stream[:-1]) == [*pieces[:2], "aaabb"]
    refused("11 outputs for pieces of 12 symbols in all", task.pieces_correct, pieces, hits[:, :-1])


def test_what_cannot_be_scored_is_said() -> None:
    examples = get_task("anbn").examples(["aaa"])
    assert examples.correct(np.zeros((1, 3))).tolist() == [True]
    refused("no position counts in these words", examples.symbol_accuracy, np.zeros((1, 3)))
    refused(r"outputs have the shape \(1, 4\), expected \(..., 1, 3\)", examples.correct, np.zeros((1, 4)))
    refused("symbol 'z' is not in the alphabet", get_task("anbn").examples, ["az"], error=UnknownSymbolError)


@pytest.mark.parametrize(
    "name", ["anbn-after-c", "anbn-after-", "dyck-2-after-(", "foo-after-b", "anbn-after-b-after-b"]
)
def test_what_no_stream_can_begin_after_is_refused(name: str) -> None:
    with pytest.raises(StacklensError) as error:
        get_task(name)
    assert isinstance(error.value, UnknownNameError) or "cannot begin after 'c'" in str(error.value)


# The tasks of Delétang et al. 2023 against Python's own arithmetic, counting and lists.

CHOMSKY_NAMES = [
    *("cycle-navigation", "even-pairs", "modular-arithmetic", "modular-arithmetic-brackets", "parity-check"),
    *("reverse-string", "solve-equation", "stack-manipulation"),
]
EXPRESSIONS = st.recursive(
    st.sampled_from(["{0}", "-{0}", "({0})", "(-{0})"]).flatmap(
        lambda shape: st.integers(0, 4).map(lambda digit: shape.format(digit))
    ),
    lambda inner: st.tuples(inner, st.sampled_from("+-"), inner).map(lambda parts: f"({''.join(parts)})"),
    max_leaves=12,
)


@given(EXPRESSIONS)
def test_expressions_are_what_python_says(word: str) -> None:
    task = MODULAR_ARITHMETIC_BRACKETS
    assert task.expected(word) == [*[None] * (len(word) - 1), str(eval(word) % 5)]
    assert task.reference.transduce(word) == task.expected(word)


@given(EXPRESSIONS, st.integers(0, 100))
def test_the_solution_of_an_equation_is_the_only_digit_that_solves_it(text: str, which: int) -> None:
    places = [place for place, symbol in enumerate(text) if symbol.isdecimal()]
    place = places[which % len(places)]
    left = f"{text[:place]}x{text[place + 1 :]}"
    equation = f"{left}={eval(text) % 5}"
    (solution,) = [digit for digit in range(5) if eval(left.replace("x", str(digit))) % 5 == eval(text) % 5]
    task = SOLVE_EQUATION
    assert task.expected(equation)[-1] == task.reference.transduce(equation)[-1] == str(solution) == text[place]
    for wrong in (f"{text}={eval(text) % 5}", left.replace("x", "xx"), f"({left}+x)=1"):
        refused("no word of solve-equation begins with", task.expected, wrong)


@pytest.mark.parametrize("name", CHOMSKY_NAMES)
def test_sizes_are_those_of_the_paper(name: str) -> None:
    task = get_task(name)
    for split, (low, high) in (("train", (1, 40)), ("test", (41, 500))):
        words = task.sample(60, split="train" if split == "train" else "test", seed=1).words
        sizes = [len(word.rstrip("#")) if isinstance(word, str) else 0 for word in words]
        assert min(sizes) >= low - (name == "modular-arithmetic")
        assert max(sizes) <= high
        assert max(sizes) > 0.8 * high
    refused(rf"{name} has no words of sizes 0 to 0: they begin at [13]", task.sample, 1, (0, 0))
    refused("", task.expected, "?")


# A task of one's own is as good as those that come along.

STEPS: dict[Key, Transition] = {
    (state, bit, ("⊥",)): Transition(str(int(state != bit)), (NONE,), str(int(state != bit)))
    for state in "01"
    for bit in "01"
}
PARITY = PushdownAutomaton(("0", "1"), ("0", "1"), (), STEPS, "0", frozenset("01"))


NO_WORD: Any = None


def parities(word: Any) -> list[str]:
    if "2" in word:
        raise ValueError("there is no 2")
    return [str(ones % 2) for ones in accumulate(map(int, word))]


def draw(size: int, rng: np.random.Generator) -> str:
    return "".join(rng.choice(["0", "1"], size))


def test_an_automaton_is_proved_equal_to_a_task_of_ones_own_or_different() -> None:
    asked = specification_for(OwnTask("parity", "01", parities, draw, reference=PARITY))
    assert isinstance(asked.compare(PARITY), sl.Equal)
    stuck = {key: replace(step, target="0") for key, step in STEPS.items()}
    found = asked.compare(replace(PARITY, transitions=stuck))
    assert isinstance(found, sl.Different)
    assert parities(found.word) != list(replace(PARITY, transitions=stuck).transduce(found.word))


def test_what_does_not_fit_is_told() -> None:
    task = OwnTask("parity", "01", parities, draw)
    refused("no word of parity begins with 012: there is no 2", task.expected, "012")
    with pytest.raises(StacklensError, match="the task short gives 1 outputs for 2 symbols; expected one a symbol"):
        OwnTask("short", "01", lambda _: ["0"], draw).expected("00")
    with pytest.raises(StacklensError, match="kind is 'recognition'; expected transduction, next symbol or next set"):
        OwnTask("parity", "01", parities, draw, kind="recognition")
    with pytest.raises(StacklensError, match="gives the output 1 on 01; expected '0', '1' or None"):
        OwnTask("numbers", "01", lambda word: [1 for _ in word], draw).expected("01")
    with pytest.raises(StacklensError, match=r"expected of the task top fails on \): IndexError.*expected ValueError"):
        OwnTask("top", "()", lambda _: [[].pop()], draw).expected(")")
    with pytest.raises(StacklensError, match=r"draw of the task none fails on size \d+: TypeError.*expected a word"):
        OwnTask("none", "01", parities, lambda *_: NO_WORD).sample(1)


def after_brackets(word: Any) -> list[set[str]]:
    depths = list(accumulate(1 if symbol == "(" else -1 for symbol in word))
    if min(depths, default=0) < 0:
        raise ValueError("it closes what is not open")
    return [{"(", ")"} if depth else {"("} for depth in depths]


def draw_brackets(size: int, rng: np.random.Generator) -> str:
    inner = int(rng.integers(size // 2 + 1))
    return "(" * inner + ")" * inner + "()" * (size // 2 - inner) * int(rng.integers(2))


BRACKETS = OwnTask("brackets", "()", after_brackets, draw_brackets, kind="next set")


def test_what_raises_off_the_language_is_a_rejection_from_there_on() -> None:
    words = ["", "(())", "())((", ")", "(" * 30 + ")" * 31 + "()"]
    box = BlackBox(lambda some: [frozenset("()") for _ in some], ("(", ")"), first=("(", ")"))
    asked = specification_for(BRACKETS)
    for word, row in zip(words, asked.answers(box, words).tolist(), strict=True):
        live = next((n for n in range(len(word)) if word[: n + 1].count("(") < word[: n + 1].count(")")), len(word))
        assert row[:live] == [1 + 2 * (word[: n + 1].count("(") > word[: n + 1].count(")")) for n in range(live)]
        assert set(row[live:]) <= {-1}


def test_a_network_is_extracted_that_parts_from_the_task_off_its_words() -> None:
    def says(words: list[tuple[str, ...]]) -> list[frozenset[str]]:
        return [frozenset("()") if sum(1 if x == "(" else -1 for x in word) % 3 else frozenset("(") for word in words]

    result = sl.extract(BlackBox(says, ("(", ")")), BRACKETS, max_length=8, quiet=True)
    assert result.status == 1  # it counts modulo 3
    assert any(check.counterexample is not None for check in result.checks if check.other == "language")
    assert "language" in result.why()
