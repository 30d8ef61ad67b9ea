"""A certificate is of a network in its own numbers: how high they count, and where they overflow."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tests.extract.certificate.proved import always_pushing
from tests.extract.certificate.test_certificates_of_hand_built_networks import DYCK, dyck
from tests.models.plain import steps_of
from tests.refusals import refused

from stacklens.automata.pda import NONE, Output, PushdownAutomaton, Transition
from stacklens.extract.certificate.certify import certify
from stacklens.extract.certificate.claim import Certified, NotCertified
from stacklens.extract.certificate.controllers import boxes_of, largest
from stacklens.extract.certificate.intervals import Affine, Arithmetic, Box, plus, times
from stacklens.models.base import StackModel
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.models.rounding import Rounded
from stacklens.models.stacks.continuous import ContinuousStack, StrengthStack

FORMATS = {torch.float16: 2**11, torch.bfloat16: 2**8, torch.float32: 2**24, torch.float64: 2**53}
SMALL = (torch.float16, torch.bfloat16)


def filled(model: StackModel[Any], **values: Any) -> StackModel[Any]:
    """Return the network with these weights, and 0 elsewhere."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            given = values.get(name.removeprefix("net."), 0.0)
            parameter.copy_(torch.as_tensor(given, dtype=torch.float64).to(parameter.dtype).expand_as(parameter))
    return model.eval()


# how high a stack is counted


@torch.no_grad()
def accepted(model: StackModel[Any], depth: int) -> bool:
    """Return the rounded network's verdict on so many opening and closing brackets."""
    network: StackModel[Any] = Rounded(model)
    *_, last = steps_of(network, torch.tensor([0] * depth + [1] * depth)[:, None])
    return bool(network.verdict(last.state))


@pytest.mark.parametrize("dtype", SMALL)
def test_a_height_that_the_numbers_cannot_count_is_not_certified(dtype: torch.dtype) -> None:
    certificate = certify(dyck(dtype=dtype), DYCK)
    assert isinstance(certificate, Certified)
    depth = FORMATS[dtype]
    assert certificate.stack_limit == depth
    assert accepted(dyck(dtype=dtype), depth)
    assert not accepted(dyck(dtype=dtype), depth + 1)  # the automaton accepts this


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


def tempered(temperature: float, dtype: torch.dtype) -> StackModel[Any]:
    shape = MarnnConfig(("a",), hidden=1, gating="softmax with temperature", temperature=temperature)
    return filled(MarnnStackRNN(shape).to(dtype), action_bias=[4.0, -4.0], output_bias=4.0)


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
    assert isinstance(certify(tempered(temperature, dtype), always_pushing(("a",))), Certified) == certified


def nnpda(dtype: torch.dtype) -> StackModel[Any]:
    model = NNPDA(NNPDAConfig(("a",), "second", 2, trap=False, empty_reading=False)).to(dtype)
    large = torch.finfo(dtype).max * 0.7
    return filled(model, state_bias=[0.0, 9.0], state_weights=[[0, large, 0, large], [0, 0, 0, 0]], action_bias=9.0)


def full_order(dtype: torch.dtype) -> StackModel[Any]:
    model = NNPDA(NNPDAConfig(("a",), "full", 1, trap=False)).to(dtype)
    large = torch.finfo(dtype).max * 0.7
    return filled(model, state_bias=9.0, action_weights=[[large, large, large, large]])


def mixing(dtype: torch.dtype) -> StackModel[Any]:
    """Return a Stack-RNN whose h + W s may overflow, although nothing is made of it."""
    model = MarnnStackRNN(MarnnConfig(("a",), hidden=1)).to(dtype)
    large = torch.finfo(dtype).max * 0.7
    return filled(
        model, memory_weights=[[large]], memory_bias=large, pushed_bias=9.0, action_bias=[4.0, -4.0], output_bias=4.0
    )


def writing(dtype: torch.dtype) -> StackModel[Any]:
    """Return a Neural Stack whose output may overflow, one symbol's, with only one symbol."""
    model = NeuralStack(NeuralStackConfig(("a",), cell_size=1)).to(dtype)
    large = torch.finfo(dtype).max * 0.7
    return filled(model, weight=[[0, 0], [0, 0], [0, 0], [large, large]], bias=[-9.0, 9.0, 9.0, 0.0])


OVERFLOWING: dict[str, tuple[Callable[[torch.dtype], StackModel[Any]], Output]] = {
    "the state of an nnpda": (nnpda, None),
    "the action of an nnpda of full order": (full_order, None),
    "h~ of a marnn": (mixing, ("a",)),
    "the output of a neural stack": (writing, "a"),
}


@pytest.mark.parametrize("dtype", [*SMALL, torch.float64])
@pytest.mark.parametrize("name", OVERFLOWING)
def test_whatever_may_overflow_on_the_way_is_refused(name: str, dtype: torch.dtype) -> None:
    build, output = OVERFLOWING[name]
    assert isinstance(certify(build(dtype), always_pushing(output)), NotCertified)


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
def test_numbers_that_a_softmax_makes_equal_shares_of_are_told_apart_by_no_certificate(dtype: torch.dtype) -> None:
    """Of equal shares the first is the largest, a push here; the sums themselves say that it pops."""
    pops = PushdownAutomaton(
        ("q",), ("a",), (), {("q", "a", ("⊥",)): Transition("q", (NONE,), "a")}, "q", frozenset("q")
    )
    found = {}
    for by in (0.125, 0.5, 1.0, 4.0, 512.0):
        rows = [[0.0], [by * torch.finfo(dtype).eps]]
        net = filled(StackRNN(StackRNNConfig(("a",), 1, depth=1)).to(dtype), input_weights=40.0, action_weights=rows)
        action = net.controller(torch.tensor([0]), *(net.initial_state(1).hidden, net.initial_state(1).stack.reading()))
        found[by] = isinstance(certify(net, pops, margin=0.0), Certified), int(action.actions.argmax()) == 1
    assert all(pop for certified, pop in found.values() if certified), found
    assert found[0.125] == (False, False)
    assert found[512.0] == (True, True)


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
