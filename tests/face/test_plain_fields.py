"""Dataclasses as plain data and back by their types, whatever they hold; and what does not fit is named."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklens.core.errors import StacklensError
from stacklens.core.serialize import from_plain, late, parse_json, put_off, to_plain


@dataclass(frozen=True)
class Leaf:
    kind: Literal["one", "two"]
    size: float


@dataclass(frozen=True)
class Twig:
    length: int


@dataclass(frozen=True)
class Branch:
    word: Sequence[str]
    pair: tuple[int, float]
    parts: tuple[Leaf | Twig, ...]
    named: Mapping[str, int | None]
    output: str | tuple[str, ...] | None = None
    flag: bool = False


TEXT = st.text(st.characters(categories=["L", "N", "P"]), max_size=5)
LEAVES = st.builds(Leaf, st.sampled_from(["one", "two"]), st.floats())
TWIGS = st.builds(Twig, st.integers(-(10**12), 10**12))
BRANCHES = st.builds(
    Branch,
    word=TEXT | st.lists(TEXT).map(tuple),
    pair=st.tuples(st.integers(-9, 9), st.floats()),
    parts=st.lists(LEAVES | TWIGS, max_size=3).map(tuple),
    named=st.dictionaries(TEXT, st.none() | st.integers(-9, 9), max_size=3),
    output=st.none() | TEXT | st.lists(TEXT, max_size=3).map(tuple),
    flag=st.booleans(),
)


@given(BRANCHES)
def test_what_is_written_is_read_back(branch: Branch) -> None:
    plain = json.loads(json.dumps(to_plain(branch), allow_nan=False))
    read = from_plain(Branch, plain, "branch")
    assert to_plain(read) == to_plain(branch)  # NaN is not equal to itself, "nan" is
    if not any(isinstance(one, Leaf) and math.isnan(one.size) for one in branch.parts) and not math.isnan(
        branch.pair[1]
    ):
        assert read == branch


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"pair": [1]}, "branch pair is a list of 1; expected a list of 2"),
        ({"pair": [1.5, 1]}, "branch pair 1 is 1.5; expected a whole number"),
        ({"pair": [True, 1]}, "branch pair 1 is True; expected a whole number"),
        ({"pair": [10**400, 1]}, "branch pair 1 is a whole number of 1329 bits"),
        ({"word": 3}, "branch word is 3; expected a list"),
        ({"word": "\x1b"}, r"branch word is '\x1b'; expected printable characters"),
        ({"parts": [{"type": "Leaf", "kind": "three", "size": 1}]}, "kind is 'three'; expected one of one, two"),
        ({"parts": [{"type": "Leaf", "kind": "one"}]}, "branch parts 1 lacks size"),
        ({"parts": [{"type": "Leaf", "kind": "one", "size": 1, "more": 1}]}, "has 'more', which a Leaf has not"),
        ({"parts": [{"type": "Machine"}]}, "expected Twig"),
        ({"named": {"a": "b"}}, "branch named a is 'b'"),
        ({"flag": 1}, "branch flag is 1; expected true or false"),
        ({"type": "Leaf"}, "expected Branch"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], says: str) -> None:
    plain = {**to_plain(Branch("ab", (1, 2.0), (), {})), **change}
    with pytest.raises(StacklensError) as error:
        from_plain(Branch, plain, "branch")
    assert says in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"a":' * 200 + "1" + "}" * 200, "9" * 5_000])
def test_what_is_no_object_of_ours_is_refused(text: str) -> None:
    with pytest.raises(StacklensError, match="expected a thing"):
        parse_json(text, "a thing")


@late("number")
@dataclass(frozen=True)
class Holder:
    name: str
    number: int | None = None


def test_a_late_field_is_made_once_when_it_is_read() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return 7

    one = put_off(Holder("a", 3), number=make)
    assert made == []
    assert (one.number, one.number, made) == (7, 7, [1])
    assert replace(one, name="b") == Holder("b", 7)
    assert Holder("a").number is None
