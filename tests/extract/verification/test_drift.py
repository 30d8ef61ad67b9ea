"""Why a word that goes round breaks a network: the number that moves is found, and where it tips the decision."""

from __future__ import annotations

import pytest
from tests.extract.verification.leaking_networks import leaking, pushing_and_popping, rising

from stacklens.extract.verification.divergence import divergence, drift
from stacklens.viz.curves import drift_figure


def test_a_hidden_unit_that_grows_is_named_with_its_rate_and_its_threshold() -> None:
    net, pda, word = leaking(1.13), pushing_and_popping(), "ab" * 40
    found = drift(pda, net, word)
    assert found is not None
    assert (found.quantity, found.cycle) == ("hidden unit 2", "ab")
    first = divergence(pda, net, word).first
    assert first is not None
    assert found.first_broken == first // 2 + 1
    assert found.cycles == tuple(range(1, found.first_broken + 1))
    assert min(found.margins[:-1]) > 0 >= found.margins[-1]
    assert found.per_cycle > 0
    assert found.threshold is not None
    assert found.values[-2] < found.threshold <= found.values[-1]
    assert str(found).startswith(f"hidden unit 2 where {found.symbol} is read rises by ")
    assert str(found).endswith(f"at cycle {found.first_broken} output a is gone")
    assert found.to_dict()["values"] == list(found.values)


def test_what_grows_from_cell_to_cell_is_seen_on_the_stack() -> None:
    found = drift(pushing_and_popping(), rising(6.0, -2.3), "a" * 30)
    assert found is not None
    assert found.quantity in ("the top of the stack", "hidden unit 3")
    assert found.first_broken == 5
    assert found.values[0] < found.values[-1]


@pytest.mark.parametrize("word", ["", "ab", "abaabb", "ab" * 3])
def test_a_word_that_breaks_nothing_or_repeats_nothing_has_no_drift(word: str) -> None:
    assert drift(pushing_and_popping(), leaking(1.13), word) is None


def test_the_curve_ends_where_the_margin_is_gone_and_shows_the_threshold() -> None:
    found = drift(pushing_and_popping(), leaking(1.13), "ab" * 40)
    assert found is not None
    figure = drift_figure(found)
    value, margin, *marks = figure.data
    assert (tuple(value.x), tuple(value.y), tuple(margin.y)) == (found.cycles, found.values, found.margins)
    assert [tuple(mark.x) for mark in marks] == [(found.first_broken,)] * 2
    assert any(f"threshold {found.threshold:.3f}" in note.text for note in figure.layout.annotations)
