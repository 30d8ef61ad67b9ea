"""A certificate is of a network in its own numbers: how high they count, and where they overflow."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.extract.certificate.proved import always_pushing, filled
from tests.extract.certificate.test_certificates_of_hand_built_networks import DYCK, dyck
from tests.refusals import refused

from stacklens.automata.pda import Output
from stacklens.extract.certificate.certify import certify
from stacklens.extract.certificate.claim import Certified, NotCertified
from stacklens.extract.certificate.controllers import boxes_of, largest
from stacklens.extract.certificate.intervals import Affine, Arithmetic, Box, plus, times
from stacklens.models.base import StackModel
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.models.stacks.continuous import ContinuousStack, StrengthStack

FORMATS = {torch.float16: 2**11, torch.bfloat16: 2**8, torch.float32: 2**24, torch.float64: 2**53}
SMALL = (torch.float16, torch.bfloat16)


# how high a stack is counted


@pytest.mark.parametrize("dtype", FORMATS)
def test_stacks_count_whole_numbers_up_to_the_limit_and_no_further(dtype: torch.dtype) -> None:
    limit = Arithmetic.of(dtype).whole
    assert limit == FORMATS[dtype]
    one = torch.ones(1, 1, 1, dtype=dtype)
    for height, after in ((limit - 2, limit - 1), (limit - 1, limit), (limit, limit)):
        length = torch.tensor([float(height)], dtype=torch.float64).to(dtype)
        slots = (length - 1).unsqueeze(-1), length.unsqueeze(-1), one
        continuous = ContinuousStack(*slots, length, torch.zeros_like(length)).next(one, one)
        strength = StrengthStack(*slots, length).next(torch.tensor([[[0.0, 1.0]]], dtype=dtype), one)
        assert int(continuous.length) == int(strength.length) == after
        assert int(continuous.next(-one, one).length) == after - 1
        assert int(strength.next(torch.tensor([[[1.0, 1.0]]], dtype=dtype), one).length) == after


@pytest.mark.parametrize("dtype", FORMATS)
def test_the_depth_is_that_of_the_stack_or_of_the_numbers_whichever_is_less(dtype: torch.dtype) -> None:
    neural = filled(NeuralStack(NeuralStackConfig(("a",), cell_size=1)).to(dtype), bias=[-9.0, 9.0, 0.0, 0.0])
    found = certify(neural, always_pushing("a"))
    assert isinstance(found, Certified)
    assert (found.stack_limit, found.number_format) == (FORMATS[dtype], str(dtype).removeprefix("torch."))
    neural.stack_limit = 100
    found = certify(neural, always_pushing("a"))
    assert isinstance(found, Certified)
    assert found.stack_limit == 100
    cells = StackRNN(StackRNNConfig(("a",), hidden=1, depth=1, stack_limit=None)).to(dtype)
    found = certify(filled(cells, action_weights=[[20.0], [-20.0]]), always_pushing("a"))
    assert isinstance(found, Certified)
    assert found.stack_limit is None  # cells that are there, and no number that counts them


# overflow


@pytest.mark.parametrize(("dtype", "row"), [(torch.float32, 2e38), (torch.float16, 4e4)])
def test_a_share_that_the_network_computes_as_nan_is_not_certified(dtype: torch.dtype, row: float) -> None:
    model = filled(
        StackRNN(StackRNNConfig(("a",), hidden=2, depth=1)).to(dtype),
        input_weights=[[20.0, 20.0]],
        action_weights=[[row, row], [0.0, 0.0]],
    )
    with torch.no_grad():
        step = model.step(torch.tensor([0]), model.initial_state(1))
    assert step.actions.isnan().all()
    refused = certify(model, always_pushing("a"))
    assert isinstance(refused, NotCertified)
    assert "may overflow" in refused.reason
    one = filled(
        StackRNN(StackRNNConfig(("a",), hidden=1, depth=1)).to(dtype),
        input_weights=[[20.0]],
        action_weights=[[0.0], [row]],
    )  # as the issue has it: softmax([0, inf])
    assert isinstance(certify(one, always_pushing("a")), NotCertified)


@pytest.mark.parametrize(
    ("dtype", "temperature", "certified"),
    [
        (torch.float32, 1.0, True),
        (torch.float32, 1e-30, True),
        (torch.float32, 1e-38, False),  # 4 / 1e-38 is infinite, and so is 1 / 1e-38 on a machine that multiplies by it
        (torch.float32, 1e-45, False),
        (torch.float16, 1.0, True),
        (torch.float16, 1e-4, False),
        (torch.float16, 1e-8, False),
        (torch.float64, 1e-300, True),
        (torch.float64, 1e-308, False),
        (torch.float32, 1e30, False),  # all shares are one half
        (torch.float32, 1e39, False),
    ],
)
def test_a_temperature_that_divides_out_of_the_numbers_is_refused(
    dtype: torch.dtype, temperature: float, certified: bool
) -> None:
    shape = MarnnConfig(("a",), hidden=1, gating="softmax with temperature", temperature=temperature)
    model = filled(MarnnStackRNN(shape).to(dtype), action_bias=[4.0, -4.0], output_bias=4.0)
    assert isinstance(certify(model, always_pushing(("a",))), Certified) == certified


def large_weights(name: str, large: float) -> tuple[StackModel[Any], dict[str, Any], Output]:
    """Return a network, weights of which a sum may overflow, and what it says: always the same, whatever overflows."""
    if name == "the state of an nnpda":
        rows = [[0, large, 0, large], [0, 0, 0, 0]]
        net = NNPDA(NNPDAConfig(("a",), "second", 2, trap=False, empty_reading=False))
        return net, {"state_bias": [0.0, 9.0], "state_weights": rows, "action_bias": 9.0}, None
    if name == "the action of an nnpda of full order":
        net = NNPDA(NNPDAConfig(("a",), "full", 1, trap=False))
        return net, {"state_bias": 9.0, "action_weights": [[large, large, large, large]]}, None
    if name == "h + W s of a marnn":
        weights = {"memory_weights": [[large]], "memory_bias": large, "pushed_bias": 9.0, "output_bias": 4.0}
        return MarnnStackRNN(MarnnConfig(("a",), hidden=1)), {**weights, "action_bias": [4.0, -4.0]}, ("a",)
    rows = [[0, 0], [0, 0], [0, 0], [large, large]]
    return NeuralStack(NeuralStackConfig(("a",), cell_size=1)), {"weight": rows, "bias": [-9.0, 9.0, 9.0, 0.0]}, "a"


OVERFLOWING = "the state of an nnpda", "the action of an nnpda of full order", "h + W s of a marnn", "a neural stack"


@pytest.mark.parametrize("dtype", [*SMALL, torch.float64])
@pytest.mark.parametrize("name", OVERFLOWING)
def test_whatever_may_overflow_on_the_way_is_refused(name: str, dtype: torch.dtype) -> None:
    model, weights, output = large_weights(name, torch.finfo(dtype).max * 0.7)
    assert isinstance(certify(filled(model.to(dtype), **weights), always_pushing(output)), NotCertified)


def test_bounds_of_what_may_overflow_are_nan() -> None:
    half = Arithmetic.of(torch.float16)
    box = Box.point(np.array([[300.0]]))
    assert np.isnan(times(box, box, half).low).all()
    assert np.isnan(plus(Box.point(np.array([[4e4]])), Box.point(np.array([[-4e4]])), half).high).all()
    layer = Affine.of(np.array([[300.0]]))
    assert np.isnan(layer.of_box(box, half).low).all()
    tiny = Affine.of(np.array([[1e-9]])).after(layer)
    assert np.isnan(tiny.of_box(box, half).low).all()  # it is small, but what it is made of is not
    assert np.isnan(Affine.beside([Affine.of(np.zeros((1, 1))), tiny]).of_box(Box.beside([box, box]), half).low).all()
    assert np.isnan(largest(layer, box, half).margins).all()
    assert not np.isnan(layer.of_box(box, Arithmetic.of(torch.float32)).low).any()


def test_a_format_whose_arithmetic_is_not_known_is_refused_in_one_line() -> None:
    refused("in float8_e5m2 cannot be certified; expected one of float16, bfloat16, ", Arithmetic.of, torch.float8_e5m2)
    mixed = dyck()
    mixed.state_bias.data = mixed.state_bias.data.half()
    refused(r"the weights are in float16, float64; expected one format for all", certify, mixed, DYCK)
    broken = dyck()
    with torch.no_grad():
        broken.state_bias.fill_(torch.nan)
    refused(r"state_bias holds NaN or infinite weights", boxes_of, broken)


@pytest.mark.parametrize("dtype", FORMATS)
def test_which_is_the_largest_share_is_what_torch_computes_or_not_sure(dtype: torch.dtype) -> None:
    rng, sure = np.random.default_rng(0), 0
    arithmetic, eps = Arithmetic.of(dtype), torch.finfo(dtype).eps
    for _ in range(400):
        at, heat = rng.choice([0.0, 0.1, 1.0, 1.9, 30.0]), rng.choice([1.0, 0.3, 1.9, 7.0])
        apart = eps * rng.normal(size=3) * rng.choice([0.1, 1, 99])
        weights = torch.from_numpy(at * (1 + eps * rng.integers(-3, 4, 3)) + apart).to(dtype)[:, None]
        told = largest(Affine.of(weights.double().numpy()), Box.point(np.ones((1, 1))), arithmetic, heat)
        if told.margins[0] > 0:
            sure += 1
            assert int(torch.softmax(weights[:, 0] / heat, -1).argmax()) == told.numbers[0]
    assert sure > 10
