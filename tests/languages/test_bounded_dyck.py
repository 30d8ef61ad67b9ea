"""Bounded Dyck: membership by its definition, by plain counting of nestings, and by its automaton are the same."""

from __future__ import annotations

from itertools import product

import pytest
from tests.languages.plain_brackets import nested

from stacklens.automata.enumeration import enumerate_words
from stacklens.languages import get_language
from stacklens.languages.bounded_dyck import BoundedDyck


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_three_definitions_agree(depth: int) -> None:
    language = BoundedDyck(2, depth)
    words = ["".join(word) for n in range(7) for word in product("()[]", repeat=n)]
    members = [word for word in words if nested(word, depth)]
    assert [word for word in words if word in language] == members
    assert sorted(map(str, language.words(6))) == sorted(members)
    assert sorted("".join(word) for word in enumerate_words(language.automaton, 6)) == sorted(members)
    beginnings = {member[:n] for member in (*members, *(w + c for w in members for c in ("", "()"))) for n in range(7)}
    assert all(language.is_live(word) for word in beginnings)


def test_samples_are_members_as_deep_as_they_may_be() -> None:
    language = get_language("dyck-2-3")
    assert language.name == "dyck-2-3"
    words = [*language.sample(50, (2, 40), True, seed=1), *language.deep(5, 100, seed=1)]
    assert all(nested(str(word), 3) for word in words)
    assert all(not nested(str(word), 2) for word in language.deep(5, 100, seed=1))
    assert not any(nested(str(word), 3) for word in language.sample(50, (2, 40), False, seed=1))
