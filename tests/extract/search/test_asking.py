"""Learning by asking: automata of any function come back, as black boxes, and every word is asked once."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.languages.plain_brackets import nested

import stacklens as sl
from stacklens.automata.compare import Equal
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.extract.search.asking.asked_automata import VisibleStack, visible_stack
from stacklens.languages import get_language

QUICK: dict[str, Any] = {"words": 1_000, "quiet": True}
TINY: dict[str, Any] = {"words": 350, "deep_words": 2, "depth": 6, "height": 6, "climbs": 1, "walks": 5, "quiet": True}


def random_dfa(seed: int, states: int) -> Callable[[list[tuple[str, ...]]], list[bool]]:
    rng = random.Random(seed)
    table = {(q, x): rng.randrange(states) for q in range(states) for x in "ab"}
    accepting = {q for q in range(states) if rng.random() < 0.5}

    def box(words: list[tuple[str, ...]]) -> list[bool]:
        said = []
        for word in words:
            state = 0
            for symbol in word:
                state = table[state, symbol]
            said.append(state in accepting)
        return said

    return box


@pytest.mark.parametrize("seed", range(4))
def test_random_finite_automata_come_back(seed: int) -> None:
    box = random_dfa(seed, 6)
    result = sl.learn(box, "ab", kind="dfa", **QUICK)
    assert result.automaton is not None
    assert (result.status, result.report()["method"]) == (0, "learn-dfa")
    rng = random.Random(seed)
    words = [tuple(rng.choice("ab") for _ in range(rng.randrange(60))) for _ in range(300)]
    assert [result.automaton.accepts(word) for word in words] == box(words)


def test_balanced_brackets_are_learned_with_their_stack_and_proved() -> None:
    result = sl.learn(lambda words: [nested(word) for word in words], "()[]", "dyck-2", **QUICK)
    assert isinstance(result.proof, Equal)
    assert result.automaton is not None
    assert (len(result.automaton.states), set(result.automaton.stack_alphabet)) == (1, {"(", "["})
    assert result.found is not None
    assert result.found.method == "learn-vpa"
    assert "it tells what the network does, not how" in str(result)


def test_calls_and_returns_may_be_given_in_place_of_a_language() -> None:
    def box(words: list[tuple[str, ...]]) -> list[bool]:
        return [nested(word) for word in words]

    result = sl.learn(box, "()[]", calls="([", returns=")]", **QUICK)
    assert isinstance(sl.compare(result, "dyck-2"), Equal)


@pytest.mark.slow
def test_predictors_of_sets_are_learned_as_mealy_machines_or_with_their_stack() -> None:
    def may_come(word: tuple[str, ...]) -> set[str]:
        left = [symbol for symbol in "()[]" if nested((*word, symbol, *_closing((*word, symbol))), 2)]
        return set(left)

    def deep(word: tuple[str, ...]) -> set[str]:
        return {symbol for symbol in "()[]" if nested((*word, symbol, *_closing((*word, symbol))))}

    bounded = sl.learn(lambda words: [may_come(w) for w in words], "()[]", "dyck-2-2", first="([", **TINY)
    assert (bounded.status, isinstance(bounded.proof, Equal)) == (0, True)
    assert bounded.automaton is not None
    assert len(bounded.automaton.states) == 7
    stacked = sl.learn(lambda words: [deep(w) for w in words], "()[]", "dyck-2", first="([", **TINY)
    assert (stacked.status, isinstance(stacked.proof, Equal)) == (0, True)
    assert stacked.found is not None
    assert stacked.found.method == "learn-vpa"


def _closing(word: tuple[str, ...]) -> list[str]:
    opened: list[str] = []
    for symbol in word:
        if symbol in "([":
            opened.append({"(": ")", "[": "]"}[symbol])
        elif opened:
            opened.pop()
    return opened[::-1]


def test_outputs_of_any_kind_are_learned() -> None:
    result = sl.learn(lambda words: [sum(x == "a" for x in word) % 3 for word in words], "ab", **QUICK)
    assert result.automaton is not None
    assert result.automaton.transduce("aaba") == ["1", "2", "2", "0"]
    assert (result.status, len(result.automaton.states), result.report()["method"]) == (0, 3, "learn-mealy")


def test_every_word_is_asked_once_and_in_few_batches() -> None:
    asked: list[tuple[str, ...]] = []
    batches = 0

    def box(words: list[tuple[str, ...]]) -> list[bool]:
        nonlocal batches
        batches += 1
        asked.extend(words)
        return [len(word) % 5 == 0 for word in words]

    sl.learn(box, "ab", **QUICK)
    assert len(set(asked)) + 3 >= len(asked)  # the empty word and the symbols tell the kind of answers first
    assert batches < len(asked) / 5


def test_what_is_no_automaton_of_few_states_is_status_3_with_the_best() -> None:
    result = sl.learn(lambda words: [nested(word) for word in words], "()", kind="dfa", budget=5, **QUICK)
    assert result.status in (1, 3)
    assert result.found is not None
    assert result.found.disagreements


def test_the_shape_of_a_stack_is_seen_in_an_automaton() -> None:
    assert visible_stack(get_language("dyck-2").automaton) == VisibleStack(("(", "["), (")", "]"))
    assert visible_stack(get_language("dyck-2-3").automaton) is None  # which never pushes
    assert visible_stack(get_language("palindrome").automaton) is None  # where a symbol does both
    assert visible_stack(None) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "pda"}, "kind is 'pda'; expected auto, dfa, mealy or vpa"),
        ({"kind": "vpa"}, "which symbols push, and which pop"),
        ({"kind": "mealy"}, "a recogniser does not: ask for a dfa"),
        ({"calls": "a", "returns": "a"}, "a cannot be a call and a return"),
        ({"calls": "a"}, "give both calls"),
        ({"calls": "x", "returns": "b", "kind": "vpa"}, "calls and returns are of a b, not x"),
        ({"alphabet": None}, "give its alphabet"),
        ({"language": "dyck-1"}, "has the alphabet"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], said: str) -> None:
    box = random_dfa(0, 2)
    with pytest.raises(StacklensError, match=said):
        sl.learn(box, **{"alphabet": "ab", **QUICK, **given})


def test_a_function_that_fails_or_answers_too_little_is_one_line() -> None:
    with pytest.raises(StacklensError, match=r"the function failed, given .* words, a list .*: no reply"):
        sl.learn(_raising, "ab", **QUICK)
    with pytest.raises(StacklensError, match="the function gave 0 answers to 3 words"):
        sl.learn(lambda words: [], "ab", **QUICK)  # noqa: ARG005
    with pytest.raises(StacklensError, match="expected a function from a list of words"):
        sl.learn(7, "ab", **QUICK)  # type: ignore[arg-type]


def _raising(words: list[tuple[str, ...]]) -> list[bool]:
    raise RuntimeError(f"no reply to {len(words)}")


def test_a_network_on_a_stack_can_be_asked_as_a_black_box() -> None:
    result = sl.learn("nnpda-1n0n", max_length=8, long_words=50, deep_words=2, depth=20, cycles=5, quiet=True)
    assert result.found is not None
    assert isinstance(result.automaton, PushdownAutomaton)
    assert result.found.by_asking
    assert isinstance(result.proof, Equal)
