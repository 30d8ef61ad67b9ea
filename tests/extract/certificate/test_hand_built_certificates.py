"""Certificates of hand-built networks, in every number format, and of every family's controller on boxes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attack.attack_certificates import alterations
from tests.attack.built_networks import alternating, counter, next_bracket, one_left, remembering, two_counters
from tests.attack.built_networks import dyck as brackets
from tests.attack.certified_runs import refuting, steps_of
from tests.automata.strategies import containing
from tests.extract.certificate.proved import ZOO, recogniser

from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.pda import NONE, POP, Key, Output, PushdownAutomaton, Transition, push
from stacklens.core.errors import StacklensError
from stacklens.extract.certificate.bounded import certify_length
from stacklens.extract.certificate.certify import LAYOUTS, certify
from stacklens.extract.certificate.claim import Certified, NotCertified, boxes_of
from stacklens.extract.certificate.controllers import largest
from stacklens.extract.certificate.intervals import Affine, Arithmetic, Box, plus, times
from stacklens.extract.report import load_result
from stacklens.models.base import ControllerOutput, StackModel
from stacklens.models.checkpoint import load_network
from stacklens.models.networks.joulin import ListRNN, StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import MarnnConfig, MarnnJoulin, MarnnStackLSTM, MarnnStackRNN
from stacklens.models.rounding import Rounded, operation_numbers, round_actions
from stacklens.models.stacks.continuous import ContinuousStack, StrengthStack

# ---- Hand-built networks, whose margins are known, and what cannot be certified at all. ----

ROUND = ("(", ")")
DYCK = PushdownAutomaton(
    states=("q",),
    input_alphabet=ROUND,
    stack_alphabet=("(",),
    transitions={
        ("q", "(", ("⊥",)): Transition("q", (push("("),)),
        ("q", "(", ("(",)): Transition("q", (push("("),)),
        ("q", ")", ("(",)): Transition("q", (POP,)),
    },
    initial="q",
    accepting=frozenset({"q"}),
)
SHORT = FiniteAutomaton(("0", "1"), ROUND, {("0", "("): "1", ("1", ")"): "0"}, "0", frozenset({"0", "1"}))


def dyck(push_drive: float = 8.0, pop_drive: float = -8.0, dtype: torch.dtype = torch.float64) -> NNPDA:
    """Return a network of one neuron that stays near 1; the drives of its actions are given."""
    net = NNPDA(NNPDAConfig(ROUND, "second", 1, trap=False, empty_reading=False))
    with torch.no_grad():
        net.state_weights.zero_()
        net.state_bias.fill_(40.0)
        net.action_bias.zero_()
        net.action_weights.copy_(torch.tensor([[0.0, 0.0, push_drive, pop_drive]]))  # of ( and ) on top, ( and ) read
    return net.to(dtype)


def drive(action: float) -> float:
    """Return what gives this action, 2 sigmoid(x) - 1."""
    return math.log((1 + action) / (1 - action))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_network_built_by_hand_is_certified_with_the_margin_that_it_was_given(dtype: torch.dtype) -> None:
    certificate = certify(dyck(drive(0.9), drive(-0.7), dtype), DYCK)
    assert isinstance(certificate, Certified)
    assert certificate.margin == pytest.approx(0.2, abs=1e-4)
    assert certificate.stack_limit == {torch.float32: 2**24, torch.float64: 2**53}[dtype]
    assert certificate.to_dict()["verdict"] == "certified"


@pytest.mark.parametrize(("above", "certified"), [(1e-5, True), (1e-7, False), (0.0, False), (-1e-9, False)])
def test_a_margin_that_float_error_or_the_threshold_could_eat_is_too_small(above: float, certified: bool) -> None:
    assert isinstance(certify(dyck(drive(0.5 + above)), DYCK), Certified) == certified


def test_the_failing_transition_and_the_bounds_there_are_named() -> None:
    refused = certify(dyck(pop_drive=0.0), DYCK)
    assert isinstance(refused, NotCertified)
    assert (refused.fault.state, refused.fault.symbol, refused.fault.tops) == ("q", ")", ("(",))
    assert refused.fault.operation == "pop"
    assert refused.reason == "at (q, ), () -> pop: the network does none"
    assert refused.to_dict() == {"verdict": "not certified", "reason": refused.reason}
    unsure = certify(dyck(pop_drive=drive(-0.5)), DYCK)
    assert isinstance(unsure, NotCertified)
    assert "the operation is not sure; number 1 of the hidden vector lies anywhere from 1 to 1" in unsure.reason


def test_an_automaton_for_fewer_words_is_refused_unless_only_those_count() -> None:
    flat = {key: step for key, step in DYCK.transitions.items() if key != ("q", "(", ("(",))}
    small = replace(DYCK, transitions=flat)
    refused = certify(dyck(), small)
    assert isinstance(refused, NotCertified)
    assert (refused.fault.symbol, refused.fault.tops) == (None, ("⊥",))
    assert "the network accepts and the automaton does not" in refused.reason
    assert isinstance(certify(dyck(), small, SHORT), Certified)
    never = containing(ROUND, "))")
    assert isinstance(certify(dyck(), small, never), NotCertified)


def pushing_unseen(others: int, above: float = 0.6) -> StackRNN:
    """Return a network that pushes an A for every letter, and on ``others`` more stacks for the letter two before it if
    that was b, and 1 is ``above``; it says a until something lies on one of these.
    """
    net, sure = StackRNN(StackRNNConfig(("a", "b"), 5, 1 + others, 1, recurrent=True, stack_limit=None)), 20.0
    push, pop = [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, above]
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.input_weights[:] = sure * torch.tensor([[-0.5, -0.5, -0.5, 0.0, 1.0], [0.5, -0.5, -0.5, 0.0, 1.0]])
        net.recurrent_weights[1, 0] = net.recurrent_weights[2, 1] = sure  # the letter before, and the one before that
        net.memory_weights[3, 1:] = sure
        net.input_weights[:, 3] = sure * (others - 1)
        net.action_weights[:] = sure * torch.tensor([pop, [0.0] * 5, *[push, pop] * others])
        net.pushed_weights[:, 4] = sure
        net.output_weights[:] = sure * torch.tensor([[0.0, 0.0, 0.0, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0, 0.0]])
    return net


@pytest.mark.parametrize("others", [1, 3])  # two are followed by a bounded certificate, more are not
def test_what_may_be_pushed_on_a_stack_that_is_not_followed_may_lie_there(others: int) -> None:
    net, loop = pushing_unseen(others), Transition("q", (push("A"),), "a")
    rules: dict[Key, Transition] = {("q", letter, (top,)): loop for letter in "ab" for top in ("⊥", "A")}
    pda = PushdownAutomaton(("q",), ("a", "b"), ("A",), rules, "q", frozenset({"q"}), "final state")
    assert refuting(net, pda, steps_of(net, ["baaa"]), (0,)) == ("b", "a", "a", "a")
    assert refuting(net, pda, steps_of(net, product("ab", repeat=3)), (0,)) is None
    assert isinstance(certify(net, pda, stacks=(0,)), NotCertified)
    assert certify_length(net, pda, stacks=(0,), longest=9).length == 3
    never = pushing_unseen(others, above=1.5)
    assert isinstance(certify(never, pda, stacks=(0,)), Certified)
    assert certify_length(never, pda, stacks=(0,), longest=9).length == 9


@pytest.mark.parametrize(
    ("model", "automaton", "stacks", "message"),
    [
        (ListRNN(StackRNNConfig(ROUND)), DYCK, None, "a list-rnn cannot be certified; expected one of nnpda, "),
        (NNPDA(NNPDAConfig(ROUND), nets=2), DYCK, None, "nnpda holds 2 networks; certify one at a time"),
        (NNPDA(NNPDAConfig(("a", "b"))), DYCK, None, r"the network reads a b, the automaton \( \); certify it for its"),
        (StackRNN(StackRNNConfig(ROUND, n_stacks=2)), DYCK, None, r"has 1 stacks, the network 2 of which \[0, 1\]"),
        (StackRNN(StackRNNConfig(ROUND, n_stacks=2)), DYCK, (2,), r"name as many as the automaton has"),
        (dyck(), DYCK, (), "the verdicts of a recogniser depend on its stack; name it among the stacks"),
        (dyck(), replace(DYCK, acceptance="output"), None, "gives verdicts, and the automaton accepts by output"),
        (NNPDA(NNPDAConfig(ROUND, "full", 15)), DYCK, None, "full order with 15 neurons has too many corners to"),
    ],
)
def test_what_cannot_be_certified_is_refused_in_one_line(
    model: NNPDA, automaton: PushdownAutomaton, stacks: tuple[int, ...] | None, message: str
) -> None:
    with pytest.raises(StacklensError, match=message) as caught:
        certify(model, automaton, stacks=stacks)
    assert "\n" not in str(caught.value)


BUILT = {"brackets": brackets, "counter": counter, "remembering": remembering}
BUILT |= {"one left": one_left, "next bracket": next_bracket, "alternating": alternating}


def pair(name: str) -> tuple[Any, PushdownAutomaton, tuple[int, ...], list[tuple[str, ...]]]:
    """Return a network, its automaton, the stacks that this has, and words that reach all its transitions."""
    if name.isdigit() or name in BUILT:
        rng = np.random.default_rng(int(name) if name.isdigit() else 0)
        model, pda = BUILT[name](rng) if name in BUILT else two_counters(rng, 1)
        return model, pda, (0, 1)[: model.n_stacks], list(product(model.alphabet, repeat=7))
    if "nnpda" in name:
        model, pda = recogniser(name.removeprefix("nnpda-"))
        return model, pda, (0,), list(product(model.alphabet, repeat=6 if len(model.alphabet) == 3 else 9))
    found: Any = load_result(ZOO / f"{name}.json")
    letters, counts = found.automaton.input_alphabet, product(range(1, 5), repeat=2)
    blocks = [tuple(letter for n in two for letter in letters for _ in range(n)) for two in counts]
    words = [*blocks, *product(letters, repeat=4)]
    return load_network(ZOO / f"{name}.pt").model, found.automaton, found.stacks.stacks, words


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("5", "stack-rnn-anbncndn")]
ALTERED = [*BUILT, "nnpda-parentheses", "nnpda-1n0n", "nnpda-palindrome", "2", "3", "stack-rnn-anbncn", *SLOW]


@pytest.mark.parametrize("name", ALTERED)
def test_no_altered_automaton_is_certified_where_a_word_shows_that_it_is_another(name: str) -> None:
    model, pda, kept, words = pair(name)
    shown, altered = steps_of(model, words), Counter[Key]()
    assert isinstance(certify(model, pda, stacks=kept), Certified)
    assert refuting(model, pda, shown, kept) is None
    for other in alterations(model, pda):
        if (word := refuting(model, other, shown, kept)) is not None:
            altered.update({key for key, step in pda.transitions.items() if other.transitions.get(key) != step})
            assert isinstance(certify(model, other, stacks=kept, layouts=LAYOUTS[:2]), NotCertified), word
            if altered.total() % 60 == 1:
                assert certify_length(model, other, stacks=kept, longest=len(word) + 1).length < len(word), word
    assert len(altered) > (9 if len(kept) == 2 else 2)
    if name == "2":  # after aab, and not before
        assert ("b", "b", ("A", "A")) in altered


# ---- A certificate is of a network in its own numbers: how high they count, and where they overflow. ----

FORMATS = {torch.float16: 2**11, torch.bfloat16: 2**8, torch.float32: 2**24, torch.float64: 2**53}
SMALL = (torch.float16, torch.bfloat16)


def filled(model: StackModel[Any], **values: Any) -> StackModel[Any]:
    """Return the network with these weights, and 0 elsewhere."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            given = values.get(name.removeprefix("net."), 0.0)
            parameter.copy_(torch.as_tensor(given, dtype=torch.float64).to(parameter.dtype).expand_as(parameter))
    return model.eval()


def always_pushing(output: Output, alphabet: tuple[str, ...] = ("a",)) -> PushdownAutomaton:
    rules: dict[Key, Transition] = {
        ("q", letter, (top,)): Transition("q", (push("A"),), output) for letter in alphabet for top in ("⊥", "A")
    }
    return PushdownAutomaton(("q",), alphabet, ("A",), rules, "q", frozenset({"q"}), "final state")


# how high a stack is counted


@torch.no_grad()
def accepted(model: StackModel[Any], depth: int) -> bool:
    """Return the rounded network's verdict on so many opening and closing brackets."""
    network: StackModel[Any] = Rounded(model)
    state = network.initial_state(1)
    for symbol in [0] * depth + [1] * depth:
        state = network.step(torch.tensor([symbol]), state).state
    return bool(network.verdict(state))


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
    with pytest.raises(StacklensError, match="in float8_e5m2 cannot be certified; expected one of float16, bfloat16, "):
        Arithmetic.of(torch.float8_e5m2)
    mixed = dyck()
    mixed.state_bias.data = mixed.state_bias.data.half()
    with pytest.raises(StacklensError, match=r"the weights are in float16, float64; expected one format for all"):
        certify(mixed, DYCK)
    broken = dyck()
    with torch.no_grad():
        broken.state_bias.fill_(torch.nan)
    with pytest.raises(StacklensError, match=r"state_bias holds NaN or infinite weights"):
        boxes_of(broken)


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


# ---- Every family's controller on boxes holds what its network answers at points of the boxes. ----

AB = ("a", "b")
NETWORKS: dict[str, Callable[[int], StackModel[Any]]] = {
    "nnpda second": lambda seed: NNPDA(NNPDAConfig(AB, "second", 3, empty_reading=False), seed=seed, init=3.0),
    "nnpda second with an end": lambda seed: NNPDA(NNPDAConfig(AB, "second", 2, end="e"), seed=seed, init=3.0),
    "nnpda third": lambda seed: NNPDA(NNPDAConfig(AB, "third", 3), seed=seed, init=3.0),
    "nnpda third, empty unseen": lambda seed: NNPDA(
        NNPDAConfig(AB, "third", 3, empty_reading=False), seed=seed, init=3.0
    ),
    "nnpda full": lambda seed: NNPDA(NNPDAConfig(AB, "full", 3), seed=seed, init=1.0),
    "stack-rnn": lambda seed: StackRNN(StackRNNConfig(AB, 6, 2, 2, no_op=True), seed=seed),
    "stack-rnn recurrent": lambda seed: StackRNN(StackRNNConfig(AB, 6, 1, 1, recurrent=True), seed=seed),
    "marnn stack-rnn": lambda seed: MarnnStackRNN(MarnnConfig(AB, 5, 2), seed=seed),
    "marnn stack-rnn, cold": lambda seed: MarnnStackRNN(
        MarnnConfig(AB, 5, 1, gating="softmax with temperature", temperature=0.5), seed=seed
    ),
    "marnn stack-lstm": lambda seed: MarnnStackLSTM(MarnnConfig(AB, 4), seed=seed),
    "marnn stack-rnn of joulin": lambda seed: MarnnJoulin(MarnnConfig(AB, 5, 2), seed=seed),
    "marnn transducer": lambda seed: MarnnStackRNN(MarnnConfig(AB, 5, task_kind="transduction"), seed=seed),
    "neural stack linear": lambda seed: NeuralStack(NeuralStackConfig(AB), seed=seed),
    "neural stack rnn": lambda seed: NeuralStack(NeuralStackConfig(AB, controller="rnn", hidden=4), seed=seed),
    "neural stack lstm": lambda seed: NeuralStack(NeuralStackConfig(AB, controller="lstm", hidden=4), seed=seed),
}


def sharpened(model: StackModel[Any], by: float) -> StackModel[Any]:
    """Return the network with larger weights, as trained ones have."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(by)
    return model


def drawn_readings(model: StackModel[Any], rows: int, rng: np.random.Generator) -> tuple[Box, np.ndarray]:
    """Return boxes of readings (rows, n_stacks * R), and a point in each; an NNPDA sees whole symbols, or nothing."""
    empty = model.initial_state(1).stack.reading().flatten().double().numpy()
    if model.pushes_input:
        seen = np.eye(len(empty) + 1)[rng.integers(0, len(empty) + 1, rows), :-1]
        return Box.point(seen), seen
    low = rng.random((rows, len(empty)))
    high = low + rng.random((rows, 1)) * (1 - low) * rng.integers(0, 2, (rows, 1))
    low[: rows // 4] = high[: rows // 4] = empty
    return Box(low, high), low + rng.random(low.shape) * (high - low)


@pytest.mark.parametrize("name", NETWORKS)
@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from((torch.float32, torch.float64)), st.sampled_from((0.3, 1.0, 4.0)))
def test_answers_on_boxes_hold_the_answers_at_points(name: str, seed: int, dtype: torch.dtype, by: float) -> None:
    model = sharpened(NETWORKS[name](seed % 1_000), by).to(dtype).eval()
    controller, rng, rows = boxes_of(model), np.random.default_rng(seed), 40
    size = model.initial_state(1).hidden.shape[-1]
    low = rng.random((rows, size))
    high = low + rng.exponential(size=(rows, 1)) * 0.1 * (1 - low)
    point = low + rng.random(low.shape) * (high - low)
    readings, seen = drawn_readings(model, rows, rng)
    exact = [torch.from_numpy(values).to(dtype) for values in (point, seen)]  # the nearest numbers of the dtype
    hidden, readings = (
        Box(np.minimum(box.low, there.double().numpy()), np.maximum(box.high, there.double().numpy()))
        for box, there in zip((Box(low, high), readings), exact, strict=True)
    )
    for letter in range(model.n_symbols):
        answer = controller.answer(letter, hidden, readings)
        shown = exact[1].reshape(rows, model.n_stacks, -1)
        with torch.no_grad():
            found = model.controller(torch.full((rows,), letter), exact[0], shown)
        assert inside(answer.hidden, found.hidden) or not model.recurrent
        for stack in range(model.n_stacks):
            assert inside(answer.pushed[stack], found.pushed.expand(rows, -1, -1)[:, stack])
        check_decisions(model, answer, found)


def inside(box: Box, values: torch.Tensor) -> bool:
    there = values.double().numpy()
    return bool((box.low <= there).all() and (there <= box.high).all())


def check_decisions(model: StackModel[Any], answer: Any, found: ControllerOutput) -> None:
    rounded = round_actions(model.action_kind, found.actions)
    operations = operation_numbers(model.action_kind, model.operations, rounded).numpy()
    for stack, decision in enumerate(answer.operations):
        sure = decision.margins > 0
        assert (decision.numbers == operations[:, stack])[sure].all()
    if model.task_kind != "recognition":
        numbers = model.output_numbers(found.output)
        assert (answer.output.numbers == numbers)[answer.output.margins > 0].all()
