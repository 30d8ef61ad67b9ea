from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.probe.causal.mechanisms import BRACKETS
from tests.probe.plain_interventions import PlainStackRNN

import stacklens as sl
from stacklens.core.errors import StacklensError
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.probe.attribution import origins, saliency
from stacklens.probe.geometry import distances, horizon_curve


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=12))
def test_distances_are_those_of_a_double_loop(points: list[tuple[int, float, float]]) -> None:
    vectors, groups = np.array([point[1:] for point in points]), np.array([f"q{point[0]}" for point in points])
    found = distances(vectors, groups)
    for number, name in enumerate(found.names):
        mine = [vector for vector, group in zip(vectors, groups, strict=True) if group == name]
        centre = sum(mine) / len(mine)
        assert found.sizes[number] == len(mine)
        assert found.within[number] == pytest.approx(np.mean([np.hypot(*(one - centre)) for one in mine]), abs=1e-9)
    assert np.array(found.between) == pytest.approx(np.array(found.between).T)
    assert list(found.to_frame().group) == list(found.names)


def test_a_soft_network_parts_where_its_answers_do() -> None:
    words = ["[()]" * 14]
    curve = sl.horizon_curve("marnn-stack-rnn-dyck-2", words)
    soft, rounded = (sl.trace("marnn-stack-rnn-dyck-2", words, rounded=way) for way in (False, True))
    apart = (soft.output > 0.5) != (rounded.output > 0.5)
    broken = apart.any(-1)[0] | (soft.rejected != rounded.rejected)[0]
    assert curve.first == (int(broken.argmax()) + 1 if broken.any() else None)
    assert list(curve.to_frame().columns) == ["steps", "running", "distance", "agreeing"]


@settings(max_examples=10)
@given(word=st.text("()", min_size=2, max_size=6), seed=st.integers(0, 20))
def test_saliency_is_the_slope_of_the_margin_when_what_was_pushed_is_moved(word: str, seed: int) -> None:
    """Finite differences in a plain network that knows no gradient."""
    net = MarnnStackRNN(MarnnConfig(("(", ")"), hidden=4), seed=seed)
    found = saliency(net, word)
    codes = ["()".index(symbol) for symbol in word]

    def shifted(by: float) -> Callable[[list[float], list[float]], None]:
        def change(_: list[float], pushed: list[float]) -> None:
            pushed[0] += by

        return change

    def margin(moved: int, by: float) -> float:
        run = PlainStackRNN(net, False)
        for t, code in enumerate(codes):
            run.read(code, shifted(by * (t == moved)))
        return sum(abs(one - 0.5) for one in run.output)

    last = len(word) - 1
    for step in range(last):
        slope = (margin(step, 1e-6) - margin(step, -1e-6)) / 2e-6
        assert found.pushed[last, step] == pytest.approx(abs(slope), abs=1e-6)
    assert not np.triu(found.pushed).any()


def test_the_top_comes_from_the_step_that_laid_it() -> None:
    assert origins(BRACKETS, "([()])", 6).tolist() == [-1, 0, 1, 2, 1, 0]
    found = sl.saliency("marnn-stack-rnn-dyck-2", "([()[]])", BRACKETS)
    assert found.origin.tolist() == [-1, 0, 1, 2, 1, 4, 1, 0]
    assert 0 <= found.agreement <= 1
    assert len(found.to_frame()) == 8
    assert "([()[]]): pushes agree" in str(found)
    assert np.isnan(saliency(MarnnStackRNN(MarnnConfig(("(", ")"))), "()").agreement)  # no automaton, no origins


def test_the_first_word_that_parts_is_shown_up_to_where_it_does() -> None:
    net = sl.load("marnn-stack-rnn-dyck-2")
    words = ["()" * 60, "()" + "[()]" * 15, "([])" * 13 + "()()"]
    found = horizon_curve(net, words)
    assert found.first is not None
    assert found.parting is not None
    assert len(found.parting) == found.first
    assert found.parting in [word[: found.first] for word in words]
    assert str(found).endswith(f"\nthe first word parts at step {found.first}, after\n{found.parting}")
    again = horizon_curve(net, [found.parting])
    assert (again.first, again.parting) == (found.first, found.parting)
    before = horizon_curve(net, [found.parting[:-1]])
    assert (before.first, before.parting) == (None, None)
    assert str(before).endswith("\nno word parts")
    long = replace(found, parting="()" * 300)
    assert str(long).endswith(f"parts at step {found.first}; the word is in the `parting` of sl.horizon_curve")


def test_a_network_without_actions_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from stacklens.models.networks.baselines import Baseline, BaselineConfig

    monkeypatch.setattr("stacklens.probe.geometry.trace", None)  # nothing is run
    with pytest.raises(StacklensError, match="the rnn has no stack whose actions could be rounded: rounded it is itse"):
        sl.horizon_curve(Baseline(BaselineConfig(("(", ")"), "rnn")))
