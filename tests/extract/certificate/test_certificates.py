"""Certificates of trained networks, planted faults, every one of which is refused, and what a certificate says."""

import json
import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, reject, settings
from tests.attack.certified_runs import follow, pump
from tests.automata.strategies import pushdown_automata
from tests.extract.certificate.proved import always_pushing, dyck_2, extracted, filled, proof, recogniser
from tests.extract.certificate.test_certificates_of_hand_built_networks import DYCK, dyck
from tests.refusals import refused
from torch import Tensor

import stacklens as sl
from stacklens.automata.pda import Key, Output, PushdownAutomaton, Transition
from stacklens.core.errors import StacklensError
from stacklens.extract.agreement import Certification, Certified, NotCertified
from stacklens.extract.certificate.abstraction import Affine, Arithmetic, Bounds, Box, System, TooMany, plus, times
from stacklens.extract.certificate.certify import LAYOUTS, WITHOUT_GRID, certify, check_invariant, regular_domain
from stacklens.extract.certificate.controllers import boxes_of, largest
from stacklens.extract.certificate.step_check import Unproved
from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import ZOO as ZOO_FILES
from stacklens.models.checkpoint import load_network
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.models.stacks import ContinuousStack, StrengthStack

RECOGNISERS = ("parentheses", "1n0n", "palindrome")
ZOO = (*RECOGNISERS, "stack-rnn-anbn", "neural-stack-reversal", "neural-stack-delayed-xor")
FIRM = "marnn-stack-rnn-dyck-2-firm"  # disturbed in training, so that it can be certified
ROBUST = (FIRM, "marnn-stack-rnn-dyck-3-noise-robust", "marnn-stack-lstm-dyck-2-noise-robust")
SOME = ("palindrome", "stack-rnn-anbn", "neural-stack-reversal", FIRM)  # one for each memory
PUBLISHED = ("stacknn/linear_reverse_task_20.dat", "stack-rnn-cpp/model_*")


def chosen(*names: str) -> list[Any]:
    """Return the names, of which `make test` takes one for each memory."""
    return [pytest.param(name, marks=() if name in SOME else pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", chosen(*ZOO, *ROBUST, *PUBLISHED))
def test_trained_networks_are_certified(name: str) -> None:
    certificate = proof(name).certificate
    assert certificate.margin > 0.02
    assert certificate.steps >= len(proof(name).system.automaton.transitions)
    assert certificate.number_format == "float64"
    assert certificate.stack_limit == (104 if "marnn" in name else 200 if "stack-rnn" in name else 2**53)


@pytest.mark.parametrize("name", chosen(*ZOO, *ROBUST))
def test_certified_networks_follow_their_automata_on_random_and_on_pumped_words(name: str) -> None:
    found, rng = proof(name), np.random.default_rng(1)
    system, certificate = found.system, found.certificate
    assert follow(system.model, system.automaton, certificate, rng, steps=1_000)["certified steps"] >= 1_000
    assert pump(system.model, system.automaton, certificate.stack_limit, rng, steps=1_500)["pumped steps"] > 100


def test_pumped_words_find_a_network_that_drifts() -> None:
    model = load_network(ZOO_FILES / "marnn-stack-rnn-dyck-2-drifting.pt").model
    with pytest.raises(AssertionError, match="certified, but says"):
        pump(model, dyck_2(), 104, np.random.default_rng(1), steps=8_000)


def test_a_grid_that_does_not_close_is_given_up_early_and_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed: list[tuple[bool, int]] = []

    def asked(system: System, most: int) -> Bounds:
        allowed.append((system.layout.hidden is not None, most))
        raise TooMany

    monkeypatch.setattr("stacklens.extract.certificate.certify.find_invariant", asked)
    result = sl.load(str(ZOO_FILES / "nnpda-1n0n.json"), kind="result")
    assert isinstance(certify(result.model, result.automaton), NotCertified)
    assert [grid for grid, _ in allowed] == [False] * len(WITHOUT_GRID) + [True]
    assert all(most < allowed[0][1] for grid, most in allowed if grid)
    assert isinstance(certify(result.model, result.automaton, layouts=WITHOUT_GRID), NotCertified)
    assert not any(grid for grid, _ in allowed[len(LAYOUTS) :])


def test_a_network_that_was_not_trained_for_it_is_not_certified_and_the_step_is_named() -> None:
    pda = proof(FIRM).system.automaton
    refused = certify(load_network(ZOO_FILES / "marnn-stack-rnn-dyck-2-drifting.pt").model, pda)
    assert isinstance(refused, NotCertified)
    assert (refused.fault.state, refused.fault.symbol, refused.fault.tops) in pda.transitions
    assert " -> p" in refused.reason  # pop or push


@pytest.mark.parametrize("name", RECOGNISERS)
def test_wrong_verdicts_are_refused(name: str) -> None:
    model, pda = recogniser(name)
    for accepting in (frozenset(pda.states) - pda.accepting, frozenset[str]()):
        assert isinstance(certify(model, replace(pda, accepting=accepting)), NotCertified)
    refused = certify(model, replace(pda, acceptance="final state"))
    assert isinstance(refused, NotCertified)
    assert "the network rejects and the automaton does not" in refused.reason


@pytest.mark.parametrize("name", chosen(*ZOO))
def test_the_margin_that_is_asked_for_is_kept(name: str) -> None:
    found = proof(name)
    system, margin = found.system, found.certificate.margin
    assert isinstance(check_invariant(replace(system, margin=margin * 0.999), found.bounds), Certified)
    with pytest.raises(Unproved, match="not sure"):
        check_invariant(replace(system, margin=margin), found.bounds)
    assert isinstance(certify(system.model, system.automaton, margin=5.0), NotCertified)


@pytest.mark.parametrize("name", chosen(*ZOO))
def test_every_box_that_leaks_is_refused(name: str) -> None:
    """It is a little too small on one side."""
    found = proof(name)
    for key, (low, high) in found.bounds.items():
        for number, side in product(range(len(low)), (0, 1)):
            cut = [low.copy(), high.copy()]
            cut[side][number] = cut[1 - side][number] if low[number] < high[number] else low[number] + 1 - 2 * side
            with pytest.raises(Unproved):
                check_invariant(found.system, {**found.bounds, key: (cut[0], cut[1])})


# Words that count: a finite automaton follows at least those that a pushdown automaton follows.


@settings(max_examples=60)
@given(pushdown_automata())
def test_every_word_that_is_followed_counts(pda: PushdownAutomaton) -> None:
    try:
        domain = regular_domain(pda)
    except StacklensError:  # it would be too large
        reject()
    for word in (word for length in range(5) for word in product(pda.input_alphabet, repeat=length)):
        assert len(list(pda.run(word))) <= len(word) or domain.accepts(word)


def test_a_transducer_that_errs_on_other_words_is_certified_for_those_of_its_task() -> None:
    model, pda = extracted(ZOO_FILES / "marnn-stack-rnn-string-reversal.pt")
    assert isinstance(certify(model, pda), NotCertified)
    assert isinstance(certify(model, pda, regular_domain(get_task("string-reversal").reference)), Certified)


# ---- What a certificate says is what it proves: where runs are cut, of which outputs, and asked of what. ----
AB = ("a", "b")


def predictor() -> StackRNN:
    """Return a stream predictor that always pushes and foresees b."""
    net = StackRNN(StackRNNConfig(AB, hidden=1, depth=1))
    return filled(net, action_weights=[[9.0], [-9.0]], output_weights=[[-9.0], [9.0]])


def set_predictor(likely: list[float], *, gating: Any = "softmax") -> MarnnStackRNN:
    """Return a predictor of sets that always pushes."""
    net = MarnnStackRNN(MarnnConfig(AB, hidden=1, gating=gating))
    return filled(net, action_bias=[9.0, -9.0], output_bias=likely)


def without(pda: PushdownAutomaton, *keys: Key) -> PushdownAutomaton:
    return replace(pda, transitions={key: step for key, step in pda.transitions.items() if key not in keys})


# where runs are cut


def test_where_the_automaton_of_a_stream_is_cut_the_certificate_says_that_nothing_is_claimed() -> None:
    whole = certify(predictor(), always_pushing("b", AB))
    assert isinstance(whole, Certified)
    assert (whole.cuts, whole.first_cut, whole.silent) == (0, None, 0)
    assert str(Certification(whole)).startswith("the rounded network follows it on words of every length that need")
    cut = certify(predictor(), without(always_pushing("b", AB), ("q", "b", ("⊥",)), ("q", "a", ("A",))))
    assert isinstance(cut, Certified)
    assert (cut.cuts, cut.first_cut) == (2, ("q", "b", ("⊥",)))
    assert ", up to where its run is cut (2 places, as at q, b, ⊥) (float64, " in str(Certification(cut))


def test_where_outputs_are_none_the_certificate_says_that_nothing_is_claimed_of_them() -> None:
    silent: dict[Key, Transition] = {
        key: replace(step, output=None) if key[1] == "a" else step
        for key, step in always_pushing("b", AB).transitions.items()
    }
    found = certify(predictor(), replace(always_pushing("b", AB), transitions=silent))
    assert isinstance(found, Certified)
    assert found.silent == 2
    assert ", but for the output at 2 places (float64" in str(Certification(found))


def test_predictors_of_sets_have_to_reject_where_the_automaton_is_cut() -> None:
    sure = certify(set_predictor([9.0, 9.0]), always_pushing(AB, AB))
    assert isinstance(sure, Certified)
    assert (sure.cuts, sure.silent) == (0, 0)
    for key in (("q", "a", ("⊥",)), ("q", "b", ("A",))):
        assert isinstance(certify(set_predictor([9.0, 9.0]), without(always_pushing(AB, AB), key)), NotCertified)


# what can be asked


@pytest.mark.parametrize("margin", [-1e-9, -1.0, -math.inf, math.nan])
def test_a_margin_that_decides_nothing_is_refused(margin: float) -> None:
    with pytest.raises(StacklensError, match=r"the margin is .*; expected a number of at least 0"):
        certify(predictor(), always_pushing("b", AB), margin=margin)
    assert isinstance(certify(predictor(), always_pushing("b", AB), margin=math.inf), NotCertified)


@pytest.mark.parametrize(
    ("model", "output", "message"),
    [
        (predictor(), "c", "the automaton outputs 'c', the network one of a b; certify it for its own automaton"),
        (predictor(), ("a",), r"the automaton outputs \{a\}, the network one of a b"),  # whose number is that of b
        (set_predictor([9.0, -9.0]), "b", "the automaton outputs 'b', the network a set of a b"),  # likewise, of {a}
        (set_predictor([-9.0, 9.0]), ("a", "a"), r"the automaton outputs \{a a\}, the network a set of a b"),  # of {b}
        (set_predictor([9.0, 9.0]), ("a", "c"), r"the automaton outputs \{a c\}, the network a set of a b"),
    ],
)
def test_an_output_that_the_network_has_not_is_refused_in_one_line(
    model: StackModel[Any], output: Output, message: str
) -> None:
    refused(message, certify, model, always_pushing(output, AB))


def test_a_subclass_that_may_compute_otherwise_is_refused() -> None:
    class Contrary(StackRNN):
        def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> Any:
            answer = super().controller(symbols, hidden, reading)
            return replace(answer, actions=answer.actions.flip(-1))

    with pytest.raises(StacklensError, match="a Contrary may compute something else than a stack-rnn; expected one of"):
        certify(Contrary(StackRNNConfig(AB, hidden=1, depth=1)), always_pushing("b", AB))


def test_the_table_of_what_is_certified_says_what_the_zoos_results_say() -> None:
    root, rows = Path(__file__).parents[3], 0
    for line in (root / "docs" / "certificates.md").read_text(encoding="utf-8").splitlines():
        name, *_, boxes, steps, margin, outside = [*map(str.strip, line.strip("|").split("|")), *[""] * 5][:6]
        if outside == "0" and (root / "models" / "zoo" / f"{name}.json").is_file():
            kept = json.loads((root / "models" / "zoo" / f"{name}.json").read_text(encoding="utf-8"))["certificate"]
            assert (int(boxes), int(steps), float(margin)) == (
                kept["boxes"],
                kept["steps"],
                round(kept["margin"], 3),
            ), name
            rows += 1
    assert rows > 9


# ---- A certificate is of a network in its own numbers: how high they count, and where they overflow. ----
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
