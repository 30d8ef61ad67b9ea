from __future__ import annotations

from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.automata.strategies import plain_accepts, pushdown_automata

import stacklens.automata.enumeration as enumeration
from stacklens.automata.configurations import StackTrie
from stacklens.automata.enumeration import accepts_all, count_all, enumerate_words, outputs_all, word_at
from stacklens.automata.pda import PushdownAutomaton


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
