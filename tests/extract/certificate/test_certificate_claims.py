"""What certificates claim, bounded ones too, of which families and words, on bounds that hold."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.attack.built_networks import built
from tests.attack.certified_runs import follow, follow_to
from tests.automata.strategies import pushdown_automata
from tests.extract.certificate.proved import ZOO, extracted
from tests.extract.certificate.test_hand_built_certificates import DYCK, dyck, pushing_unseen
from tests.extract.verification.leaking_networks import leaking, pushing_and_popping, rising
from torch import Tensor

from stacklens.automata.finite import regular_domain
from stacklens.automata.pda import POP, Key, Output, PushdownAutomaton, Symbol, Transition, push
from stacklens.core.errors import StacklensError
from stacklens.extract.agreement import differ_on
from stacklens.extract.certificate.abstraction import Layout, System, TooWide, image_pieces
from stacklens.extract.certificate.bounded import Forward, ForwardRows, certify_length
from stacklens.extract.certificate.certify import Certification, Proof, certification, certified_length, certify, prove
from stacklens.extract.certificate.claim import Certified, NotCertified, boxes_of
from stacklens.extract.certificate.controllers import is_above, largest, largest_of, set_of, signed
from stacklens.extract.certificate.intervals import Affine, Arithmetic, Box, plus, sigmoid, tanh, times
from stacklens.extract.memory_use import StackUse
from stacklens.extract.verification.divergence import divergence
from stacklens.languages.catalogue import get_task
from stacklens.models.base import NetworkState, StackModel
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackLSTM, MarnnStackRNN
from stacklens.models.rounding import Rounded

# ---- A self-check of bounded certificates: random runs of the rounded network lie in the rows of every length.


@torch.no_grad()
def left_out(
    model: Any, pda: PushdownAutomaton, length: int, rng: np.random.Generator, walks: int, rows: int = 30
) -> tuple[Symbol, ...] | None:
    """Return a word after which the rounded network is in no row of its length, None if none of ``walks`` is."""
    stacks = tuple(range(model.n_stacks))
    forward = Forward(System(model, boxes_of(model), pda, stacks, Layout(), None, 0.0), rows)
    lengths = [found for _, found in zip(range(length + 1), forward.lengths(), strict=False)]
    network = Rounded(model)
    for _ in range(walks):
        state, current, word = network.initial_state(1), pda.start, tuple[Symbol, ...]()
        for found in lengths:
            if not _holds(forward, found, state, current.state, current.tops(pda.bottom)):
                return word
            letters = [letter for letter in model.alphabet if pda.step(current, letter) is not None]
            if not letters:
                break
            word = (*word, letters[rng.integers(len(letters))])
            following = pda.step(current, word[-1])
            assert following is not None
            current = following
            state = network.step(torch.tensor([model.alphabet.index(word[-1])]), state).state
    return None


def _holds(forward: Forward, rows: ForwardRows, state: NetworkState[Any], name: str, tops: tuple[Symbol, ...]) -> bool:
    hidden = state.hidden[0].double().numpy()
    reading = state.stack.reading()[0].double().numpy()
    inside: Any = np.ones(len(rows.control), dtype=bool)
    if forward.system.model.recurrent:
        inside = (rows.hidden.low <= hidden).all(1) & (hidden <= rows.hidden.high).all(1)
    inside = inside & np.array([rows.controls[control].state == name for control in rows.control], dtype=bool)
    symbols = [[forward.frames.symbols[kind] for kind in kinds] for kinds in forward.frames.kinds[rows.frames]]
    bottom = forward.system.automaton.bottom
    named = [tuple(bottom if one is None else one[0] for one in row) for row in symbols]
    inside &= np.array([row == tops for row in named], dtype=bool)
    for stack, column in enumerate(rows.frames.T):
        shown = forward._shown(stack, column)
        inside &= (shown.low <= reading[stack]).all(1) & (reading[stack] <= shown.high).all(1)
    return bool(inside.any())


# ---- What certificates claim, bounded ones too, of which families and words, on bounds that hold. ----

# ---- Every recurrent family: networks that forget and always push are certified, and do what is claimed. ----

AB = ("a", "b")
Built = tuple[StackModel[Any], Output]


def shrunk(model: StackModel[Any]) -> StackModel[Any]:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.1)
    return model


def marnn(kind: type[MarnnStackRNN]) -> Built:
    model = kind(MarnnConfig(AB, hidden=3), seed=5)
    shrunk(model)
    with torch.no_grad():
        model.action_bias.copy_(torch.tensor([4.0, -4.0]))
        model.output_bias.copy_(torch.tensor([4.0, 4.0]))
    return model, AB


def neural(controller: Any) -> Built:
    model = NeuralStack(NeuralStackConfig(AB, controller=controller, hidden=3), seed=5)
    shrunk(model)
    with torch.no_grad():
        model.net.bias.copy_(torch.tensor([-4.0, 4.0, 0.0, 0.5, 0.0, 4.0]))  # pop, push, a value, the outputs
    return model, "b"


def joulin() -> Built:
    model = StackRNN(StackRNNConfig(AB, hidden=3, n_stacks=1, depth=2, recurrent=True), seed=5)
    with torch.no_grad():
        model.action_weights.copy_(torch.tensor([[3.0] * 3, [0.0] * 3]))
        model.output_weights.copy_(torch.tensor([[0.0] * 3, [3.0] * 3]))
    return model, "b"


NETWORKS: dict[str, Callable[[], Built]] = {
    "stack-rnn": joulin,
    "marnn-stack-rnn": lambda: marnn(MarnnStackRNN),
    "marnn-stack-lstm": lambda: marnn(MarnnStackLSTM),
    "neural stack, rnn": lambda: neural("rnn"),
    "neural stack, lstm": lambda: neural("lstm"),
}


def always_pushing(output: Output) -> PushdownAutomaton:
    rules: dict[Key, Transition] = {
        ("q", letter, (top,)): Transition("q", (push("A"),), output) for letter in AB for top in ("⊥", "A")
    }
    return PushdownAutomaton(("q",), AB, ("A",), rules, "q", frozenset({"q"}), "final state")


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_that_forget_are_certified_and_do_what_is_claimed(name: str) -> None:
    model, output = NETWORKS[name]()
    found = prove(model, always_pushing(output))
    assert isinstance(found, Proof), found.reason
    assert len(found.bounds) > 3
    follow(model, always_pushing(output), found.certificate, np.random.default_rng(1))


def test_what_a_network_keeps_apart_for_ever_is_kept_apart_by_a_grid() -> None:
    """Its two units remember the first letter by their sign, and an output is sure only where both have the same."""
    model = MarnnStackRNN(MarnnConfig(AB, hidden=2))
    values = {
        "hidden_weights": torch.eye(2) * 3,
        "input_weights": torch.tensor([[1.0, -1.0], [1.0, -1.0]]),
        "action_bias": torch.tensor([4.0, -4.0]),
        "output_weights": torch.tensor([[4.0, -4.0], [4.0, -4.0]]),
        "output_bias": torch.ones(2),
    }
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(values.get(name, torch.zeros_like(parameter)))
    found = prove(model, always_pushing(AB))
    assert isinstance(found, Proof), found.reason
    assert found.system.layout.hidden is not None
    follow(model, always_pushing(AB), found.certificate, np.random.default_rng(1))


# ---- Bounded certificates: what they prove of networks whose first broken word is known, and never more than holds.

LONGEST = 40


def first_broken(net: MarnnStackRNN, pda: PushdownAutomaton, words: list[str]) -> int:
    """Return after how many symbols the rounded network first parts from the automaton on one of ``words``."""
    found = [divergence(pda, net, word).first for word in words]
    return min([first + 1 for first in found if first is not None], default=10_000)


@pytest.mark.parametrize("growth", [1.11, 1.13, 1.3])
def test_a_hidden_unit_that_grows_is_followed_up_to_the_step_at_which_it_crosses(growth: float) -> None:
    net, pda = leaking(growth), pushing_and_popping()
    broken = first_broken(net, pda, ["ab" * 60, "a" * 100])
    assert 3 < broken < 60
    assert isinstance(certify(net, pda), NotCertified)
    found = certify_length(net, pda, longest=90)
    assert found.length == broken - 1
    assert "the output is not sure" in (found.reason or "") or "outputs" in (found.reason or "")


@pytest.mark.parametrize(("gain", "bias"), [(4.0, -1.76), (4.0, -1.7), (6.0, -2.3)])
def test_what_is_pushed_a_little_stronger_on_every_cell_is_followed_to_the_depth_that_breaks(
    gain: float, bias: float
) -> None:
    net, pda = rising(gain, bias), pushing_and_popping()
    words = ["a" * 30, *("a" * n + "b" + "a" * 30 for n in (1, 4, 8))]
    broken = first_broken(net, pda, words)
    found = certify_length(net, pda, longest=LONGEST)
    assert found.length < broken
    assert found.length >= min(broken - 2, LONGEST - 2)


@pytest.mark.slow
def test_of_a_trained_network_no_length_is_claimed_that_a_known_word_refutes() -> None:
    net, pda = extracted(ZOO / "marnn-stack-rnn-dyck-2.pt")
    word = "()" + "[()]" * 11
    assert differ_on(pda, Rounded(net), None, [word], None).all()
    assert 20 < certify_length(net, pda).length < len(word)


def test_an_automaton_that_does_something_else_at_some_length_is_followed_up_to_there() -> None:
    rules: dict[Key, Transition] = {
        (f"q{i}", letter, top): replace(step, target=f"q{i + 1}")
        for i in range(6)
        for (_, letter, top), step in DYCK.transitions.items()
    }
    rules |= {("q6", letter, top): replace(step, target="q6") for (_, letter, top), step in DYCK.transitions.items()}
    states = tuple(f"q{i}" for i in range(7))
    counting = PushdownAutomaton(states, DYCK.input_alphabet, ("(",), rules, "q0", frozenset(states))
    assert certify_length(dyck(), counting, longest=20).length == 20
    wrong = replace(counting, transitions={**rules, ("q5", "(", ("(",)): Transition("q6", (POP,))})
    found = certify_length(dyck(), wrong, longest=20)
    assert found.length == 5  # the word (((((( pops at its sixth symbol
    assert found.reason is not None
    assert "the network does push" in found.reason
    early = replace(counting, accepting=frozenset(states) - {"q4"})
    assert certify_length(dyck(), early, longest=20).length == 3


def test_no_longer_words_are_claimed_than_there_are_cells() -> None:
    net = leaking(0.0)
    limit = net.stack_limit
    assert limit is not None
    assert certify_length(net, pushing_and_popping(), longest=10 * limit).length < limit


def test_a_merged_row_holds_all_that_was_merged() -> None:
    """What was read two letters before differs between rows that are one here."""
    net, rng = pushing_unseen(0), np.random.default_rng(0)
    assert left_out(net, always_pushing("a"), 6, rng, walks=30, rows=1) is None


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_networks_moved_from_where_they_were_built_do_on_all_words_what_is_claimed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model, pda = built(rng)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.from_numpy(rng.normal(size=tuple(parameter.shape)) * 10.0 ** rng.uniform(-3, -0.5)))
    found = certify_length(model, pda, longest=12)
    if found.length:
        follow_to(model, pda, found.length, rng, words=4)
        assert left_out(model, pda, found.length, rng, walks=10) is None
        short = [word for n in range(min(found.length, 4) + 1) for word in product(model.alphabet, repeat=n)]
        if model.task_kind == "next symbol":  # nothing is said where the automaton is cut
            short = [word for word in short if len([*pda.run(word)]) > len(word)]
        check_all(model, pda, short)


def check_all(model: Any, pda: PushdownAutomaton, words: list[tuple[str, ...]]) -> None:
    wrong = differ_on(pda, Rounded(model), None, words, None)
    assert not wrong.any(), words[int(wrong.argmax())]


def test_where_no_certificate_for_every_length_is_found_the_length_that_is_proved_is_told() -> None:
    net, pda = leaking(1.13), pushing_and_popping()
    use = StackUse(kept=(0,), dropped=(), words=0, steps=0, push_only=())
    found = certification(net, pda, use, None)
    assert isinstance(found.certificate, NotCertified)
    assert certified_length(found, net, pda, use, None, 0) == found
    found = certified_length(found, net, pda, use, None)
    assert found.bounded is not None
    assert found.bounded.length == first_broken(net, pda, ["ab" * 40]) - 1
    assert found.to_dict()["bounded"] == found.bounded.to_dict()
    assert str(found).endswith(f"; proved on all words of length <= {found.bounded.length}")
    certified = certification(dyck(), DYCK, use, None)
    assert certified.bounded is None
    assert "bounded" not in certified.to_dict()


# ---- Words that count: a finite automaton follows at least those that a pushdown automaton follows. ----


@settings(max_examples=60)
@given(pushdown_automata())
def test_every_word_that_is_followed_counts(pda: PushdownAutomaton) -> None:
    try:
        domain = regular_domain(pda)
    except StacklensError:  # it would be too large
        reject()
    for length in range(5):
        for word in product(pda.input_alphabet, repeat=length):
            configurations = list(pda.run(word))
            if len(configurations) > length:
                assert domain.accepts(word)


def test_a_transducer_that_errs_on_other_words_is_certified_for_those_of_its_task() -> None:
    model, pda = extracted(ZOO / "marnn-stack-rnn-string-reversal.pt")
    task = get_task("string-reversal")
    assert task.reference is not None
    assert isinstance(certify(model, pda), NotCertified)
    assert isinstance(certify(model, pda, regular_domain(task.reference)), Certified)


# ---- What a certificate says is what it proves: where runs are cut, of which outputs, and asked of what. ----


def pushing(output: Output, alphabet: tuple[str, ...] = AB) -> PushdownAutomaton:
    rules: dict[Key, Transition] = {
        ("q", letter, (top,)): Transition("q", (push("A"),), output) for letter in alphabet for top in ("⊥", "A")
    }
    return PushdownAutomaton(("q",), alphabet, ("A",), rules, "q", frozenset({"q"}), "final state")


def predictor() -> StackRNN:
    """Return a stream predictor that always pushes and foresees b."""
    net = StackRNN(StackRNNConfig(AB, hidden=1, depth=1))
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            parameter.fill_(0.0)
            if name in ("action_weights", "output_weights"):
                parameter.copy_(torch.tensor([[9.0], [-9.0]]) * (1 if name == "action_weights" else -1))
    return net


def set_predictor(likely: list[float], *, gating: Any = "softmax") -> MarnnStackRNN:
    """Return a predictor of sets that always pushes."""
    net = MarnnStackRNN(MarnnConfig(AB, hidden=1, gating=gating))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.fill_(0.0)
        net.action_bias.copy_(torch.tensor([9.0, -9.0]))
        net.output_bias.copy_(torch.tensor(likely))
    return net.eval()


def without(pda: PushdownAutomaton, *keys: Key) -> PushdownAutomaton:
    return replace(pda, transitions={key: step for key, step in pda.transitions.items() if key not in keys})


# where runs are cut


def test_where_the_automaton_of_a_stream_is_cut_the_certificate_says_that_nothing_is_claimed() -> None:
    whole = certify(predictor(), pushing("b"))
    assert isinstance(whole, Certified)
    assert (whole.cuts, whole.first_cut, whole.silent) == (0, None, 0)
    assert str(Certification(whole)).startswith("the rounded network follows it on words of every length that need")
    cut = certify(predictor(), without(pushing("b"), ("q", "b", ("⊥",)), ("q", "a", ("A",))))
    assert isinstance(cut, Certified)
    assert (cut.cuts, cut.first_cut) == (2, ("q", "b", ("⊥",)))
    assert ", up to where its run is cut (2 places, as at q, b, ⊥) (float64, " in str(Certification(cut))


def test_where_outputs_are_none_the_certificate_says_that_nothing_is_claimed_of_them() -> None:
    silent: dict[Key, Transition] = {
        key: replace(step, output=None) if key[1] == "a" else step for key, step in pushing("b").transitions.items()
    }
    found = certify(predictor(), replace(pushing("b"), transitions=silent))
    assert isinstance(found, Certified)
    assert found.silent == 2
    assert ", but for the output at 2 places (float64" in str(Certification(found))


def test_predictors_of_sets_have_to_reject_where_the_automaton_is_cut() -> None:
    sure = certify(set_predictor([9.0, 9.0]), pushing(AB))
    assert isinstance(sure, Certified)
    assert (sure.cuts, sure.silent) == (0, 0)
    for key in (("q", "a", ("⊥",)), ("q", "b", ("A",))):
        assert isinstance(certify(set_predictor([9.0, 9.0]), without(pushing(AB), key)), NotCertified)


# what can be asked


@pytest.mark.parametrize("margin", [-1e-9, -1.0, -math.inf, math.nan])
def test_a_margin_that_decides_nothing_is_refused(margin: float) -> None:
    with pytest.raises(StacklensError, match=r"the margin is .*; expected a number of at least 0"):
        certify(predictor(), pushing("b"), margin=margin)
    assert isinstance(certify(predictor(), pushing("b"), margin=math.inf), NotCertified)


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
    with pytest.raises(StacklensError, match=message) as caught:
        certify(model, pushing(output))
    assert "\n" not in str(caught.value)


def test_a_subclass_that_may_compute_otherwise_is_refused() -> None:
    class Contrary(StackRNN):
        def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> Any:
            answer = super().controller(symbols, hidden, reading)
            return replace(answer, actions=answer.actions.flip(-1))

    with pytest.raises(StacklensError, match="a Contrary may compute something else than a stack-rnn; expected one of"):
        certify(Contrary(StackRNNConfig(AB, hidden=1, depth=1)), pushing("b"))


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


# ---- Bounds hold what torch computes, in float32 and in float64. ----

DTYPES = (torch.float32, torch.float64)


def drawn_boxes(rng: np.random.Generator, rows: int, size: int, scale: float) -> Box:
    """Return boxes of very different widths, some of them points."""
    low = rng.normal(size=(rows, size)) * scale
    width = (
        rng.exponential(size=(rows, size)) * 10.0 ** rng.integers(-12, 1, (rows, 1)) * rng.integers(0, 2, (rows, size))
    )
    return Box(low, low + width)


def points(box: Box, rng: np.random.Generator, dtype: torch.dtype) -> torch.Tensor:
    """Return a point of every box that ``dtype`` has, corners among them."""
    share = rng.random(box.low.shape) * rng.integers(0, 2, box.low.shape)
    return torch.from_numpy(box.low + share * (box.high - box.low)).to(dtype)


def around(box: Box, dtype: torch.dtype) -> Box:
    """Return the boxes with their ends rounded to numbers of ``dtype``, as points drawn from them are."""
    return Box(*(torch.from_numpy(side).to(dtype).double().numpy() for side in (box.low, box.high)))


def holds(box: Box, values: torch.Tensor) -> bool:
    there = values.double().numpy()
    return bool((box.low <= there).all() and (there <= box.high).all())


@given(st.integers(0, 2**32), st.sampled_from(DTYPES), st.integers(1, 60), st.sampled_from((0.01, 1.0, 30.0)))
def test_layers_and_curves_hold_what_torch_computes(seed: int, dtype: torch.dtype, size: int, scale: float) -> None:
    rng, arithmetic = np.random.default_rng(seed), Arithmetic.of(dtype)
    weights = torch.from_numpy(rng.normal(size=(7, size)) * scale).to(dtype)
    bias = torch.from_numpy(rng.normal(size=7)).to(dtype)
    box = around(drawn_boxes(rng, 20, size, scale), dtype)
    drive = Affine.of(weights.double().numpy(), bias.double().numpy()).of_box(box, arithmetic)
    seen = points(box, rng, dtype).clamp(torch.from_numpy(box.low), torch.from_numpy(box.high)).to(dtype)
    computed = torch.nn.functional.linear(seen, weights, bias)
    assert holds(drive, computed)
    assert holds(drive, (seen.unsqueeze(1) * weights).sum(-1) + bias)  # in another order
    assert holds(sigmoid(drive, arithmetic), torch.sigmoid(computed))
    assert holds(tanh(drive, arithmetic), torch.tanh(computed))
    other = around(drawn_boxes(rng, 20, 7, scale), dtype)
    factor = points(other, rng, dtype)
    assert holds(times(drive, other, arithmetic), computed * factor)
    assert holds(plus(drive, other, arithmetic), computed + factor)


@given(st.integers(0, 2**32), st.sampled_from(DTYPES))
def test_what_is_decided_for_a_box_is_so_at_all_of_its_points(seed: int, dtype: torch.dtype) -> None:
    rng, arithmetic = np.random.default_rng(seed), Arithmetic.of(dtype)
    weights = torch.from_numpy(rng.normal(size=(3, 4))).to(dtype)
    box = around(drawn_boxes(rng, 50, 4, 0.5), dtype)
    seen = points(box, rng, dtype)
    shares = torch.softmax(seen @ weights.T, -1)
    decision = largest(Affine.of(weights.double().numpy()), box, arithmetic)
    sure = decision.margins > 0
    assert (decision.numbers == shares.argmax(-1).numpy())[sure].all()
    ordered = shares.sort(-1).values
    assert (ordered[:, -1] > ordered[:, -2]).numpy()[sure].all()
    for found, expected in (
        (is_above(box.columns(0, 1), 0.5), seen[:, 0] > 0.5),
        (signed(box.columns(0, 1), 0.5), 2 * (seen[:, 0] > 0.5) + (seen[:, 0] < -0.5)),
        (largest_of(box), seen.argmax(-1)),
        (set_of(box), ((seen > 0.5) * 2 ** torch.arange(4)).sum(-1)),
    ):
        assert (found.numbers == expected.long().numpy())[found.margins > 0].all()


@given(st.integers(0, 2**32), st.sampled_from((0.01, 0.1, 1.0)))
def test_pieces_are_the_whole_box_and_each_lies_in_its_cell(seed: int, width: float) -> None:
    rng = np.random.default_rng(seed)
    low = rng.normal(size=2)
    high = low + rng.random(2) * 3 * width
    found = image_pieces(low, high, width)
    assert len({piece.cell for piece in found}) == len(found)
    for _ in range(20):
        point = low + rng.random(2) * (high - low)
        inside = [piece for piece in found if (piece.low <= point).all() and (point <= piece.high).all()]
        assert inside
        (cell,) = image_pieces(point, point, width)
        assert cell.cell in {piece.cell for piece in inside}
    for piece in found:
        assert (piece.floor <= piece.low).all()
        assert (piece.high <= piece.ceiling).all()
        assert (low <= piece.low).all()
        assert (piece.high <= high).all()


@pytest.mark.parametrize("width", [0.1, 0.3, 1e-3, 0.7])
def test_a_number_on_a_line_of_the_grid_or_next_to_it_lies_in_its_cell(width: float) -> None:
    """A quotient may be rounded across the line; the piece of a cell that ends below the number would not hold it."""
    lines = (np.arange(-3_000.0, 3_000.0) + 0.37) * width
    for number in [*lines, *np.nextafter(lines, -np.inf), *np.nextafter(lines, np.inf)]:
        (piece,) = image_pieces(np.array([number]), np.array([number]), width)
        assert piece.floor[0] <= piece.low[0] <= number <= piece.high[0] <= piece.ceiling[0]


@pytest.mark.parametrize("far", [np.nan, np.inf, 1e18, -1e300])
def test_a_box_too_far_out_for_numbered_cells_is_refused(far: float) -> None:
    with pytest.raises(TooWide):
        image_pieces(np.array([far]), np.array([far]), 0.1)
    assert len(image_pieces(np.array([far]), np.array([far]))) == 1
