from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.plain import plain_controller, plain_products, plain_verdict

from stacklens.core.errors import StacklensError
from stacklens.languages.words import all_words
from stacklens.models.inference import verdicts_on
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig, Order, features

ORDERS: tuple[Order, ...] = get_args(Order)
UNIT = st.floats(0, 1, allow_subnormal=False)


@st.composite
def nets(draw: st.DrawFn) -> NNPDA:
    shape = NNPDAConfig(
        ("a", "b", "c")[: draw(st.integers(1, 3))],
        draw(st.sampled_from(ORDERS)),
        draw(st.integers(1, 4)),
        end=draw(st.sampled_from((None, "e"))),
        trap=draw(st.booleans()),
        empty_reading=draw(st.booleans()),
    )
    return NNPDA(shape, seed=draw(st.integers(0, 99)), init=draw(st.sampled_from((0.1, 1.0, 3.0))))


@given(nets(), st.data())
def test_one_step_of_every_order_is_the_papers_sum(net: NNPDA, data: st.DataObject) -> None:
    state = data.draw(st.lists(UNIT, min_size=net.shape.n_states, max_size=net.shape.n_states))
    reading = data.draw(st.lists(UNIT, min_size=net.n_symbols, max_size=net.n_symbols))
    symbol = data.draw(st.integers(0, net.n_symbols - 1))
    after, action = plain_controller(net, state, reading, symbol)
    answer = net.controller(
        torch.tensor([symbol]),
        torch.tensor([state], dtype=torch.float64),
        torch.tensor([[reading]], dtype=torch.float64),
    )
    np.testing.assert_allclose(answer.hidden[0].detach(), after, rtol=0, atol=1e-12)
    assert answer.actions.item() == pytest.approx(action, abs=1e-12)
    assert answer.pushed[0, 0].tolist() == [float(number == symbol) for number in range(net.n_symbols)]


@given(st.lists(UNIT, min_size=1, max_size=6))
def test_the_extended_state_vector_sums_to_one_and_is_ordered_by_binary_number(state: list[float]) -> None:
    one = torch.ones(1, 1, dtype=torch.float64)
    extended = features("full", torch.tensor([state], dtype=torch.float64), one, one)[0]
    assert extended.sum().item() == pytest.approx(1, abs=1e-12)  # eq. 25
    np.testing.assert_allclose(extended, plain_products(state), rtol=0, atol=1e-12)


@settings(max_examples=25)
@given(nets())
def test_verdicts_are_those_of_plain_python_word_by_word(net: NNPDA) -> None:
    words = all_words(net.alphabet, 3)
    assert verdicts_on(net, words).tolist() == [plain_verdict(net, word) for word in words]


def test_projection_keeps_linear_actions_within_one_and_leaves_other_orders_alone() -> None:
    full, third = (NNPDA(NNPDAConfig(("a", "b"), order, 2), init=4.0) for order in ("full", "third"))
    weights = third.action_weights.detach().clone()
    for net in (full, third):
        net.project()
    assert full.action_weights.abs().max().item() == 1
    assert torch.equal(third.action_weights, weights)
    state = full.initial_state(1)
    for symbol in (0, 1, 0, 0, 1):
        step = full.step(torch.tensor([symbol]), state)
        state = step.state
        assert abs(step.actions.item()) <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alphabet": ("a",), "order": "fourth"}, "order 'fourth' is not one of second, third, full"),
        ({"alphabet": ("a",), "n_states": 0}, r"an NNPDA needs symbols and states, not \('a',\) and 0"),
        ({"alphabet": ()}, r"an NNPDA needs symbols and states, not \(\) and 4"),
        ({"alphabet": ("a", "a")}, "the alphabet a a has a repetition: expected each symbol once"),
        ({"alphabet": ("a", "b"), "end": "b"}, "the alphabet a b b has a repetition: expected each symbol once"),
        (
            {"alphabet": ("a",), "order": "full", "n_states": 40},
            "an NNPDA of order full with 40 state neurons is too large; at most 1,000 and 50,000,000 weights",
        ),
    ],
)
def test_a_shape_that_makes_no_sense_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(StacklensError, match=f"^{message}$"):
        NNPDAConfig(**arguments)  # type: ignore[arg-type]


def test_a_step_of_second_order_is_what_a_hand_calculation_gives() -> None:
    net = NNPDA(NNPDAConfig(("a",), "second", 1, empty_reading=False))
    weights = {"state_weights": [[2.0, 3.0]], "state_bias": [-1.0], "action_weights": [[-1.0, 0.5]]}
    tensors = {name: torch.tensor(value, dtype=torch.float64) for name, value in weights.items()}
    net.load_state_dict({**tensors, "action_bias": torch.tensor([0.25], dtype=torch.float64)})
    half, reading = torch.tensor([[0.5]], dtype=torch.float64), torch.tensor([[[0.4]]], dtype=torch.float64)
    answer = net.controller(torch.tensor([0]), half, reading)
    assert answer.hidden.item() == pytest.approx(1 / (1 + math.exp(-0.9)))  # 0.5 * (2 * 0.4 + 3) - 1
    assert answer.actions.item() == pytest.approx(2 / (1 + math.exp(-0.3)) - 1)  # 0.5 * (-0.4 + 0.5) + 0.25
