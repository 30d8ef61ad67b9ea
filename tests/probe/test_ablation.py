from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tests.extract.hand_built import HandMachine, Place, Rule, StrengthNet, SuperpositionNet
from tests.models.hand_made import parentheses_net
from tests.probe.plain_interventions import PlainStackRNN

from stacklens.languages.words import all_words
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.probe.attribution import Ablated, ablations
from stacklens.probe.trace import trace

WORDS = all_words(("a", "b"), 4)[1:]


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
    found = ablations(SuperpositionNet(counter(), no_op=True), WORDS)
    costs = {(one.kind, one.name): found.whole.accuracy - one.accuracy for one in found.rows}
    assert found.whole.accuracy == 1.0
    assert costs["stack", "stack 2"] == 0
    assert costs["operation", "push"] > costs["operation", "pop"] > 0
    assert costs["stack", "stack 1"] == costs["operation", "push"]  # an empty stack either way
    ranked = [one.accuracy for one in found.rows]
    assert ranked == sorted(ranked)
    # without a push the stack is always empty: wrong is every word that is to see something there
    wrong = sum(any(_height(word[:n]) for n in range(len(word))) for word in WORDS)
    assert costs["operation", "push"] == pytest.approx(wrong / len(WORDS))


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
