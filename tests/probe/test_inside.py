"""Linear probes, ablations, geometry and saliency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.hand_built import HandMachine, Place, Rule, StrengthNet, SuperpositionNet
from tests.models.hand_made import parentheses_net
from tests.probe.causal.mechanisms import BRACKETS, Mechanism
from tests.probe.plain_interventions import PlainStackRNN

import stacklens as sl
from stacklens.automata.pda import Word
from stacklens.core.errors import StacklensError
from stacklens.languages.catalogue import get_language
from stacklens.languages.words import all_words
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.probe.attribution import Ablated, ablations, origins, saliency
from stacklens.probe.geometry import distances, horizon_curve, linear_probes
from stacklens.probe.trace import Trace, trace

#

WORDS: list[Word] = get_language("dyck-2").sample(120, (2, 24), True, 0)


def joined(copied: int = 0) -> Trace:
    return trace(Mechanism(copied), WORDS, stacks=False).with_automaton(BRACKETS)


def test_what_a_hidden_vector_holds_is_found_on_longer_words() -> None:
    """The height is a unit, and the copied symbols below the top are others: linear in the vector by construction."""
    found = linear_probes(joined(), targets=("depth", "top", "position"))
    assert found["top"].accuracy > 0.95
    assert found["top"].majority < 0.5
    assert found["top"].selectivity > 0.3
    assert found["depth"].by_depth[1] > 0.95
    assert found["position"].accuracy < 0.3  # held-out lengths have positions that training did not show
    assert list(found.to_frame().target) == ["depth", "top", "position"]
    assert "tested on longer ones" in str(found)


def test_vectors_that_hold_nothing_are_no_better_than_the_majority() -> None:
    seen = joined()
    noise = np.random.default_rng(0).normal(size=seen.hidden.shape)
    found = linear_probes(replace(seen, hidden=noise), targets=("top", "depth"))
    for probe in found.probes:
        assert probe.accuracy <= probe.majority + 0.05


def test_what_cannot_be_probed_is_told() -> None:
    with pytest.raises(StacklensError, match="there is no probe for 'colour'; expected some of state, depth"):
        linear_probes(joined(), targets=("colour",))
    with pytest.raises(StacklensError, match="no words of length <= 1"):
        linear_probes(joined(), longest=1)
    with pytest.raises(StacklensError, match="join one with"):
        linear_probes(trace(Mechanism(0), WORDS, stacks=False))
    with pytest.raises(StacklensError, match="no hidden vector to probe"):
        linear_probes(sl.trace("neural-stack-reversal", ["01", "1"]))


#

ABLATION_WORDS = all_words(("a", "b"), 4)[1:]


def counter(n_stacks: int = 2) -> HandMachine:
    """Return a machine that pushes a's and pops b's on its first stack, never looks at another, and says the top."""
    rules: dict[Place, Rule] = {}
    for x in (0, 1):
        for top in (-1, 0):
            windows = ((top,), *((other,) for other in (-1,) * (n_stacks - 1)))
            moves = (("push" if x == 0 else "pop", 0), *(("none", 0),) * (n_stacks - 1))
            rules[0, x, windows] = Rule(0, moves, int(top == 0))  # type: ignore[arg-type]
    return HandMachine(1, ("a", "b"), 1, n_stacks, 1, "next symbol", rules, frozenset())


def test_what_matters_stands_first_and_what_does_not_costs_nothing() -> None:
    found = ablations(SuperpositionNet(counter(), no_op=True), ABLATION_WORDS)
    costs = {(one.kind, one.name): found.whole.accuracy - one.accuracy for one in found.rows}
    assert found.whole.accuracy == 1.0
    assert costs["stack", "stack 2"] == 0
    assert costs["operation", "push"] > costs["operation", "pop"] > 0
    assert costs["stack", "stack 1"] == costs["operation", "push"]  # an empty stack either way
    ranked = [one.accuracy for one in found.rows]
    assert ranked == sorted(ranked)
    # without a push the stack is always empty: wrong is every word that is to see something there
    wrong = sum(any(_height(word[:n]) for n in range(len(word))) for word in ABLATION_WORDS)
    assert costs["operation", "push"] == pytest.approx(wrong / len(ABLATION_WORDS))


def _height(prefix: Any) -> int:
    height = 0
    for symbol in prefix:
        height = height + 1 if symbol == "a" else max(0, height - 1)
    return height


@pytest.mark.parametrize("role", ["state", "actions", "pushed", "output"])
def test_a_unit_is_left_out_in_one_role_only(role: str) -> None:
    net = MarnnStackRNN(MarnnConfig(("(", ")"), hidden=3), seed=2)
    names = {"state": "hidden", "actions": "action", "pushed": "pushed", "output": "output"}
    silenced = MarnnStackRNN(MarnnConfig(("(", ")"), hidden=3), seed=2)
    with torch.no_grad():
        silenced.get_parameter(f"{names[role]}_weights")[:, 1] = 0
    from stacklens.probe.attribution import _without_each_unit

    ((found, *_),) = [one for one in _without_each_unit(net) if one[2:] == ("h2", role)]
    assert np.array_equal(trace(found, "(()").output, trace(silenced, "(()").output)
    plain = PlainStackRNN(silenced, False)
    for symbol in (0, 0, 1):
        plain.read(symbol)
    assert trace(found, "(()").output[0, -1] == pytest.approx(plain.output, abs=1e-9)


def test_operations_of_every_kind_of_action_can_be_left_out() -> None:
    words = ["(())", "())", "(("]
    signed = parentheses_net()
    assert trace(Ablated(signed, operation=0), words).actions[:, 0].max() <= 0
    assert np.nanmin(trace(Ablated(signed, operation=1), words).actions) >= 0
    strengths = StrengthNet(counter(1))
    assert np.nanmax(trace(Ablated(strengths, operation=1), "aab").actions[..., 1]) == 0
    shares = trace(Ablated(SuperpositionNet(counter(1), no_op=True), operation=0), "aab").actions
    assert shares.sum(-1) == pytest.approx(1)
    assert shares[..., 0].max() == 0


#


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
