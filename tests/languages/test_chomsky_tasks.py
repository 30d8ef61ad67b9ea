"""The tasks of Delétang et al. 2023 against Python's own arithmetic, counting and lists."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklens.errors import StacklensError
from stacklens.languages.catalogue import get_task
from stacklens.languages.tasks.bracketed_arithmetic import ModularArithmeticBrackets, SolveEquation

NAMES = [
    *("cycle-navigation", "even-pairs", "modular-arithmetic", "modular-arithmetic-brackets", "parity-check"),
    *("reverse-string", "solve-equation", "stack-manipulation"),
]
VALUES, EQUATIONS = ModularArithmeticBrackets(), SolveEquation()
EXPRESSIONS = st.recursive(
    st.sampled_from(["{0}", "-{0}", "({0})", "(-{0})"]).flatmap(
        lambda shape: st.integers(0, 4).map(lambda digit: shape.format(digit))
    ),
    lambda inner: st.tuples(inner, st.sampled_from("+-"), inner).map(lambda parts: f"({''.join(parts)})"),
    max_leaves=12,
)


def last(name: str, word: str) -> object:
    return get_task(name).expected(word)[-1]


def test_pairs_and_parities_are_what_counting_gives() -> None:
    for length in range(1, 9):
        for letters in product("ab", repeat=length):
            word = "".join(letters)
            pairs = sum(word.startswith(pair, place) for pair in ("ab", "ba") for place in range(length))
            assert last("even-pairs", word) == str(pairs % 2)
            assert last("parity-check", word) == str(word.count("b") % 2)


@given(st.text("012", min_size=1, max_size=60))
def test_a_walk_on_a_cycle(word: str) -> None:
    place = 0
    for move in word:
        place = {"0": place, "1": (place + 1) % 5, "2": (place + 4) % 5}[move]
    assert last("cycle-navigation", word) == str(place)


@given(st.lists(st.tuples(st.sampled_from("+-*"), st.integers(0, 4)), max_size=20), st.integers(0, 4))
def test_sums_and_products_are_what_python_says(rest: list[tuple[str, int]], first: int) -> None:
    word = str(first) + "".join(f"{operator}{digit}" for operator, digit in rest)
    assert last("modular-arithmetic", word) == str(eval(word) % 5)
    assert last("modular-arithmetic", word[:1]) == str(first)
    assert get_task("modular-arithmetic").reference.transduce(word)[-1] == str(eval(word) % 5)  # type: ignore[union-attr]


@given(EXPRESSIONS)
def test_expressions_are_what_python_says(word: str) -> None:
    task = VALUES
    assert task.expected(word) == [*[None] * (len(word) - 1), str(eval(word) % 5)]
    assert task.reference.transduce(word) == task.expected(word)


@given(EXPRESSIONS, st.integers(0, 100))
def test_the_solution_of_an_equation_is_the_only_digit_that_solves_it(text: str, which: int) -> None:
    places = [place for place, symbol in enumerate(text) if symbol.isdecimal()]
    place = places[which % len(places)]
    left = f"{text[:place]}x{text[place + 1 :]}"
    equation = f"{left}={eval(text) % 5}"
    (solution,) = [digit for digit in range(5) if eval(left.replace("x", str(digit))) % 5 == eval(text) % 5]
    task = EQUATIONS
    assert task.expected(equation)[-1] == task.reference.transduce(equation)[-1] == str(solution) == text[place]
    for wrong in (f"{text}={eval(text) % 5}", left.replace("x", "xx"), f"({left}+x)=1"):
        with pytest.raises(StacklensError, match="no word of solve-equation begins with"):
            task.expected(wrong)


@given(st.text("ab", min_size=1, max_size=8), st.text("-AB", max_size=12))
def test_a_stack_is_manipulated_as_a_list_is(content: str, actions: str) -> None:
    stack = list(content)
    for action in actions:
        if action != "-":
            stack.append(action.lower())
        elif stack:
            del stack[-1]
    answer = [*stack[::-1], "."]
    word = content + actions + "#" * len(answer)
    assert get_task("stack-manipulation").expected(word) == [None] * (len(content) + len(actions)) + answer
    for wrong in (f"{word}#", f"A{word}", f"{content}-{word}", f"{word}a"):
        with pytest.raises(StacklensError, match="is no input of stack-manipulation: expected letters a b"):
            get_task("stack-manipulation").expected(wrong)


@given(st.text("ab", max_size=20))
def test_a_string_is_reversed(word: str) -> None:
    asked = "#" * len(word)
    assert get_task("reverse-string").expected(word + asked) == [*asked, *reversed(word)]


@pytest.mark.parametrize("name", NAMES)
def test_sizes_are_those_of_the_paper(name: str) -> None:
    task = get_task(name)
    for split, (low, high) in (("train", (1, 40)), ("test", (41, 500))):
        words = task.sample(60, split="train" if split == "train" else "test", seed=1).words
        sizes = [len(word.rstrip("#")) if isinstance(word, str) else 0 for word in words]
        assert min(sizes) >= low - (name == "modular-arithmetic")
        assert max(sizes) <= high
        assert max(sizes) > 0.8 * high
    with pytest.raises(StacklensError, match=rf"{name} has no words of sizes 0 to 0: they begin at [13]"):
        task.sample(1, (0, 0))
    with pytest.raises(StacklensError):
        task.expected("?")
