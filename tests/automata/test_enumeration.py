from __future__ import annotations

from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.automata.strategies import dyck, palindromes, plain_accepts, pushdown_automata

import stacklens.automata.enumeration as enumeration
from stacklens.automata.compiled import compile_tables
from stacklens.automata.configurations import Configurations, StackTrie
from stacklens.automata.enumeration import accepts_all, count_all, enumerate_words, outputs_all, word_at
from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition, push


@given(pushdown_automata())
def test_all_short_words_by_brute_force(pda: PushdownAutomaton) -> None:
    levels = list(accepts_all(pda, 5))
    assert len(levels) == 6
    for length, accepted in enumerate(levels):
        words = product(pda.input_alphabet, repeat=length)
        assert accepted.tolist() == [plain_accepts(pda, word) for word in words]


@given(pushdown_automata())
def test_accepted_words_come_in_length_lexicographic_order(pda: PushdownAutomaton) -> None:
    words = [word for length in range(6) for word in product(pda.input_alphabet, repeat=length)]
    assert list(enumerate_words(pda, 5)) == [word for word in words if plain_accepts(pda, word)]


@given(pda=pushdown_automata(), length=st.integers(0, 3))
def test_what_comes_after_a_prefix_is_a_part_of_all_words(pda: PushdownAutomaton, length: int) -> None:
    k = len(pda.input_alphabet)
    for enumerate_all in (accepts_all, outputs_all):
        every = [level.reshape(k**length, -1) for level in islice(enumerate_all(pda, 5), length, None)]
        for number in range(k**length):
            prefix = word_at(number, length, pda.input_alphabet)
            parts = list(enumerate_all(pda, 5 - length, prefix))
            assert [part.tolist() for part in parts] == [level[number].tolist() for level in every]


@given(pda=pushdown_automata(), chunk=st.integers(1, 5))
def test_chunks_make_no_difference(pda: PushdownAutomaton, chunk: int) -> None:
    expected = [accepted.tolist() for accepted in accepts_all(pda, 5)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "_CHUNK", chunk)
        assert [accepted.tolist() for accepted in accepts_all(pda, 5)] == expected


def test_palindromes_up_to_11() -> None:
    for length, accepted in enumerate(accepts_all(palindromes(), 11)):
        found = {"".join(word_at(int(i), length, ("a", "b", "c"))) for i in np.flatnonzero(accepted)}
        halves = map("".join, product("ab", repeat=length // 2))
        assert found == ({half + "c" + half[::-1] for half in halves} if length % 2 else set())


def test_words_longer_than_any_index() -> None:
    steps: dict[Key, Transition] = {
        ("p", "a", ("⊥",)): Transition("p", (NONE,)),
        ("p", "b", ("⊥",)): Transition("q", (NONE,)),
    }
    pda = PushdownAutomaton(("p", "q"), ("a", "b"), (), steps, "p", frozenset({"q"}))
    assert ["".join(word) for word in enumerate_words(pda, 150)] == ["a" * n + "b" for n in range(150)]


def test_a_finite_language_ends_and_can_be_read_in_part() -> None:
    steps: dict[Key, Transition] = {("p", "a", ("⊥",)): Transition("q", (NONE,))}
    pda = PushdownAutomaton(("p", "q"), ("a",), (), steps, "p", frozenset({"q"}))
    assert list(enumerate_words(pda, 10**9)) == [("a",)]
    assert list(islice(enumerate_words(dyck([("<s>", "</s>")]), 40), 3)) == [
        (),
        ("<s>", "</s>"),
        ("<s>", "<s>", "</s>", "</s>"),
    ]


def test_a_marker_that_pushes_leaves_no_empty_stack() -> None:
    steps: dict[Key, Transition] = {
        ("q", "a", ("⊥",)): Transition("q", (push("x"),)),
        ("q", "$", ("⊥",)): Transition("q", (NONE,)),
        ("q", "$", ("x",)): Transition("q", (push("x"),)),
    }
    pda = PushdownAutomaton(("q",), ("a",), ("x",), steps, "q", acceptance="empty stack", end_marker="$")
    assert list(enumerate_words(pda, 4)) == [()]


def test_automata_without_dead_prefixes_keep_every_word() -> None:
    steps: dict[Key, Transition] = {
        ("q", x, (top,)): Transition("q", (push(x),)) for x in ("a", "b") for top in ("⊥", "a", "b")
    }
    pda = PushdownAutomaton(("q",), ("a", "b"), ("a", "b"), steps, "q", frozenset({"q"}), "final state")
    assert all(accepted.all() for accepted in accepts_all(pda, 13))
    words = (word for length in range(14) for word in product("ab", repeat=length))
    assert list(enumerate_words(pda, 13)) == list(words)


def test_merging_keeps_apart_what_differs_in_the_last_output_only() -> None:
    steps: dict[Key, Transition] = {
        ("q", "a", ("⊥",)): Transition("q", (NONE,), "yes"),
        ("q", "b", ("⊥",)): Transition("q", (NONE,), "no"),
        ("q", "c", ("⊥",)): Transition("q", (NONE,), "yes"),
    }
    pda = PushdownAutomaton(
        ("q",), ("a", "b", "c"), (), steps, "q", acceptance="output", accepting_outputs=frozenset({"yes"})
    )
    after, _ = Configurations.start(compile_tables(pda), StackTrie(0)).step(np.arange(3))
    distinct, which = Configurations.merge([after.settle()])
    assert len(distinct) == 2
    assert distinct.accepted()[which].tolist() == [True, False, True]


def test_lengths_without_words() -> None:
    pda = PushdownAutomaton(("q",), (), (), {}, "q", frozenset({"q"}))
    assert [accepted.tolist() for accepted in accepts_all(pda, 2)] == [[True], [], []]
    assert list(accepts_all(pda, -1)) == []
    assert list(enumerate_words(pda, -1)) == []


@given(length=st.integers(0, 4), k=st.integers(1, 3))
def test_an_index_is_the_place_in_lexicographic_order(length: int, k: int) -> None:
    alphabet = ("a", "'", "bc")[:k]
    words = list(product(alphabet, repeat=length))
    assert [word_at(i, length, alphabet) for i in range(len(words))] == words
    assert count_all(k, length) == sum(len(list(product(alphabet, repeat=n))) for n in range(length + 1))
    for outside in (-1, len(words)):
        with pytest.raises(IndexError, match=f"there are {len(words)} words of length {length}"):
            word_at(outside, length, alphabet)


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=40))
def test_equal_stacks_are_one_node_and_different_ones_two(rows: list[list[int]]) -> None:
    trie, nodes = StackTrie(3), np.zeros(len(rows), np.int32)
    for i in range(6):
        nodes = trie.push(nodes, np.array([row[i] if i < len(row) else 0 for row in rows], np.int32))
    stacks = [tuple(filter(None, row)) for row in rows]
    assert len(set(zip(stacks, nodes.tolist(), strict=True))) == len(set(stacks)) == len(set(nodes.tolist()))
    assert len(trie) == len({stack[:n] for stack in stacks for n in range(len(stack) + 1)} | {()})
    for stack, node in zip(stacks, nodes.tolist(), strict=True):
        read = []
        while node:
            read.append(int(trie.symbol[node]))
            node = int(trie.parent[node])
        assert tuple(reversed(read)) == stack
