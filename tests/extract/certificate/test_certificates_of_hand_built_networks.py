"""Hand-built networks, whose margins are known, what cannot be certified at all, and what is up to a length."""

import math
from collections import Counter
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.attack.attack_certificates import alterations
from tests.attack.attack_memories import Buffered
from tests.attack.built_networks import (
    alternating,
    brackets_on_a_ring,
    counter,
    last_letter,
    moving_head,
    next_bracket,
    one_left,
    remembering,
    two_counters,
)
from tests.attack.built_networks import dyck as brackets
from tests.attack.certified_runs import follow, pump, refuting, steps_of
from tests.automata.strategies import containing
from tests.extract.certificate.proved import always_pushing, extracted, filled, recogniser
from tests.extract.verification.leaking_networks import leaking, pushing_and_popping, rising
from tests.refusals import refused

from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition
from stacklens.extract.agreement import Certified, NotCertified, differ_on
from stacklens.extract.certificate.abstraction import BoxHead, BoxMove, Control, Entry, Layout, Place
from stacklens.extract.certificate.bounded import certify_length, grid_clusters
from stacklens.extract.certificate.certify import (
    LAYOUTS,
    Proof,
    certification,
    certified_length,
    certify,
    prove,
    reached,
)
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.memory_use import StackUse
from stacklens.extract.repair import harden
from stacklens.extract.saved import load_result
from stacklens.extract.verification.divergence import divergence
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.models.networks.joulin import ListRNN, StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import BufferedConfig, BufferedNeuralStack, NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnStackLSTM, MarnnStackRNN
from stacklens.models.rounding import Operation, Rounded
from stacklens.models.views import RingAsStack, RingAsTwoStacks

ROUND = ("(", ")")
DYCK = brackets(np.random.default_rng(0))[1]
SHORT = FiniteAutomaton(("0", "1"), ROUND, {("0", "("): "1", ("1", ")"): "0"}, "0", frozenset({"0", "1"}))


def dyck(push_drive: float = 8.0, pop_drive: float = -8.0, dtype: torch.dtype = torch.float64) -> NNPDA:
    """Return a network of one neuron that stays near 1; the drives of its actions are given."""
    net = NNPDA(NNPDAConfig(ROUND, "second", 1, trap=False, empty_reading=False))
    drives = [[0.0, 0.0, push_drive, pop_drive]]  # of ( and ) on top, ( and ) read
    return filled(net, state_bias=40.0, action_weights=drives).to(dtype)


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
    assert isinstance(certify(dyck(), small, containing(ROUND, "))")), NotCertified)


def pushing_unseen(others: int, above: float = 0.6) -> StackRNN:
    """Return a network that pushes an A for every letter, and on ``others`` more stacks for the letter two before it if
    that was b, and 1 is ``above``; it says a until something lies on one of these.
    """
    net, sure = StackRNN(StackRNNConfig(("a", "b"), 5, 1 + others, 1, recurrent=True, stack_limit=None)), 20.0
    push, pop = [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, above]
    with torch.no_grad():
        filled(net).input_weights[:] = sure * torch.tensor([[-0.5, -0.5, -0.5, 0.0, 1.0], [0.5, -0.5, -0.5, 0.0, 1.0]])
        net.recurrent_weights[1, 0] = net.recurrent_weights[2, 1] = sure  # the letter before, and the one before that
        net.memory_weights[3, 1:] = sure
        net.input_weights[:, 3] = sure * (others - 1)
        net.action_weights[:] = sure * torch.tensor([pop, [0.0] * 5, *[push, pop] * others])
        net.pushed_weights[:, 4] = sure
        net.output_weights[:] = sure * torch.tensor([[0.0, 0.0, 0.0, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0, 0.0]])
    return net


@pytest.mark.parametrize("others", [1, 3])  # two are followed by a bounded certificate, more are not
def test_what_may_be_pushed_on_a_stack_that_is_not_followed_may_lie_there(others: int) -> None:
    net, pda = pushing_unseen(others), always_pushing("a", ("a", "b"))
    assert refuting(net, pda, steps_of(net, ["baaa"]), (0,)) == ("b", "a", "a", "a")
    assert refuting(net, pda, steps_of(net, product("ab", repeat=3)), (0,)) is None
    assert isinstance(certify(net, pda, stacks=(0,)), NotCertified)
    assert certify_length(net, pda, stacks=(0,), longest=9).length == 3
    never = pushing_unseen(others, above=1.5)
    assert isinstance(certify(never, pda, stacks=(0,)), Certified)
    assert certify_length(never, pda, stacks=(0,), longest=9).length == 9


def test_what_is_laid_on_a_stack_that_is_not_followed_is_known_at_the_next_step() -> None:
    rng = np.random.default_rng(1)
    net, pda = last_letter(rng)
    found = certify(net, pda, stacks=(0,), layouts=[Layout(tops=True)])
    assert isinstance(found, Certified)
    assert isinstance(certify(net, pda, stacks=(0,), layouts=[Layout()]), NotCertified)
    assert follow(net, pda, found, rng, steps=500)["certified steps"] >= 500
    # where b does nothing there an a stays for good; where b takes it off, nothing is known of what is left
    stays: dict[Key, Transition] = {
        (state, letter, (top,)): replace(step, target="start" if state + letter == "startb" else "a")
        for (state, letter, (top,)), step in pda.transitions.items()
        if state != "b"
    }
    for beside, word in (("pop", "aab"), ("none", "ab")):
        other, wrong = last_letter(rng, beside)
        assert refuting(other, wrong, steps_of(other, [word + "a"]), (0,)) is not None
        assert isinstance(certify(other, wrong, stacks=(0,), layouts=LAYOUTS[:2]), NotCertified)
        kept = replace(wrong, states=("start", "a"), transitions=stays, accepting=frozenset({"a"}))
        right = refuting(other, kept, steps_of(other, ["aba", "bbaba"]), (0,)) is None
        assert right == (beside == "none")
        assert isinstance(certify(other, kept, stacks=(0,), layouts=LAYOUTS[:2]), Certified) == right
    with torch.no_grad():  # nor is it where it is not sure what is laid there
        net.action_weights[3:] *= 1e-9
    assert isinstance(certify(net, pda, stacks=(0,), layouts=LAYOUTS[:2]), NotCertified)


@pytest.mark.parametrize(
    ("model", "automaton", "stacks", "message"),
    [
        (ListRNN(StackRNNConfig(ROUND)), DYCK, None, "a list-rnn cannot be certified; expected one of nnpda, "),
        (RingAsStack(BabyNTM(MarnnConfig(ROUND))), DYCK, None, "its ring as one stack forgets something; certify it"),
        (RingAsTwoStacks(BabyNTM(MarnnConfig(ROUND, stack_limit=2))), DYCK, (0,), "a ring of 2 cells comes round at"),
        (RingAsTwoStacks(BabyNTM(MarnnConfig(ROUND), nets=2)), DYCK, (0,), "baby-ntm holds 2 networks; certify one"),
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
    refused(message, certify, model, automaton, stacks=stacks)


BUILT = {"brackets": brackets, "counter": counter, "remembering": remembering}
BUILT |= {"one left": one_left, "next bracket": next_bracket, "alternating": alternating}
BUILT |= {"last letter": last_letter, "brackets on a ring": brackets_on_a_ring, "moving head": moving_head}


def pair(name: str) -> tuple[Any, PushdownAutomaton, tuple[int, ...], list[tuple[str, ...]]]:
    """Return a network, its automaton, the stacks that this has, and words that reach all its transitions."""
    if name.isdigit() or name in BUILT:
        rng = np.random.default_rng(int(name) if name.isdigit() else 0)
        model, pda = BUILT[name](rng) if name in BUILT else two_counters(rng, 1)
        return (
            model,
            pda,
            (0, 1)[: pda.n_stacks],
            list(product(model.alphabet, repeat=5 if name == "moving head" else 7)),
        )
    if "nnpda" in name:
        model, pda = recogniser(name.removeprefix("nnpda-"))
        return model, pda, (0,), list(product(model.alphabet, repeat=6 if len(model.alphabet) == 3 else 9))
    found: Any = load_result(ZOO / f"{name}.json")
    letters, counts = found.automaton.input_alphabet, product(range(1, 5), repeat=2)
    blocks = [tuple(letter for n in two for letter in letters for _ in range(n)) for two in counts]
    words = [*blocks, *product(letters, repeat=4)]
    return load_network(ZOO / f"{name}.pt").model, found.automaton, found.stacks.stacks, words


MANY = ("brackets on a ring", "moving head")  # which can be altered in so many ways that some will do
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("5", "stack-rnn-anbncndn", MANY[0])]
ALTERED = [
    *(*list(BUILT)[:7], MANY[1], "nnpda-parentheses", "nnpda-1n0n", "nnpda-palindrome"),
    *("2", "3", "stack-rnn-anbncn", *SLOW),
]


@pytest.mark.parametrize("name", ALTERED)
def test_no_altered_automaton_is_certified_where_a_word_shows_that_it_is_another(name: str) -> None:
    model, pda, kept, words = pair(name)
    shown, altered = steps_of(model, words), Counter[Key]()
    assert isinstance(certify(model, pda, stacks=kept), Certified)
    assert refuting(model, pda, shown, kept) is None
    for other in islice(alterations(model, pda), 0, None, 7 if name in MANY else 3 if "anbncn" in name else 1):
        if (word := refuting(model, other, shown, kept)) is not None:
            altered.update({key for key, step in pda.transitions.items() if other.transitions.get(key) != step})
            assert isinstance(certify(model, other, stacks=kept, layouts=LAYOUTS[:2]), NotCertified), word
            if altered.total() % 60 == 1:
                assert certify_length(model, other, stacks=kept, longest=len(word) + 1).length < len(word), word
    assert len(altered) > (9 if len(kept) == 2 else 2)
    if name == "2":  # after aab, and not before
        assert ("b", "b", ("A", "A")) in altered


@pytest.mark.parametrize("turns", [(3, 1), (3, 4), (0, 4), (0, 1)])
def test_a_ring_is_certified_where_what_pops_add_does_not_add_up_and_what_was_turned_away_stays(
    turns: tuple[int, int],
) -> None:
    rng = np.random.default_rng(1)
    view, pda = brackets_on_a_ring(rng, -60.0, turns)
    found = certify(view, pda, stacks=(0,), layouts=LAYOUTS[:2])
    assert isinstance(found, Certified) == (turns != (0, 1))  # which reads what it turned away
    words = ["()" * 9, "(())" * 5, "((()))(()())"]
    assert (refuting(view, pda, steps_of(view, words), (0,)) is None) == (turns != (0, 1))
    if isinstance(found, Certified):
        assert found.stack_limit == view.ring_size - 1
        assert pump(view, pda, found.stack_limit, rng, steps=300)["pumped steps"] >= 300
        with torch.no_grad():
            view.model.action_weights *= 100.0
        scaled = certify(view, pda, stacks=(0,))
        assert isinstance(scaled, Certified)
        assert scaled.itself == (scaled.gap >= 760)
    adds = brackets_on_a_ring(np.random.default_rng(1), -4.0, turns)
    assert isinstance(certify(*adds, stacks=(0,), layouts=LAYOUTS[:2]), NotCertified)
    length = certify_length(*adds, stacks=(0,), longest=60).length
    assert refuting(*adds, steps_of(adds[0], [f"({'()' * 30})"]), (0,)) is not None
    assert (5 if turns != (0, 1) else 0) <= length < 60


@pytest.mark.parametrize("turns", [(3, 1), (3, 4)])
def test_an_empty_ring_may_come_round_to_what_was_turned_away(turns: tuple[int, int]) -> None:
    """Popped often enough where nothing is left, a ring that rotates shows what was popped before."""
    view, pda = brackets_on_a_ring(np.random.default_rng(1), -60.0, turns)
    view.first = view.model.first = None
    with torch.no_grad():  # ) may always come, and ( unless ) was read where nothing was left
        view.model.output_bias.copy_(torch.tensor([20.0, 40.0]))
        view.model.output_weights.copy_(torch.tensor([[40.0, 0.0, 40.0, 0.0], [0.0] * 4]))
    rules = {key: replace(step, output=ROUND) for key, step in pda.transitions.items()}
    rules["q over ⊥", ")", ("⊥",)] = Transition("empty", (NONE,), (")",))
    rules["empty", ")", ("⊥",)] = Transition("empty", (NONE,), (")",))
    other = replace(pda, states=(*pda.states, "empty"), transitions=rules)
    comes_round = turns == (3, 1)
    word = "()" + ")" * (view.ring_size + 2)
    assert (refuting(view, other, steps_of(view, [word]), (0,)) is not None) == comes_round
    assert isinstance(certify(view, other, stacks=(0,)), NotCertified) == comes_round
    assert certify_length(view, other, stacks=(0,), longest=view.ring_size + 9).length < len(word)


def test_every_head_that_runs_of_drawn_moves_on_several_stacks_show_is_reached() -> None:
    """What replaces a cell lies on what that one lay on, and not on that one; what lies below a cell is never lost."""
    rng, entries = np.random.default_rng(0), [Entry(name, ()) for name in "ABC"]
    controls = [Control(str(number), Place((str(number),))) for number in range(12)]
    for _ in range(300):
        moves: dict[BoxHead, list[BoxMove]] = {}
        start = controls[0], (None, None)
        control, stacks, shown = controls[0], [list[Entry]() for _ in range(2)], dict[BoxHead, None]()
        for _ in range(40):  # the run, and the moves that it needs
            head = control, tuple(stack[-1] if stack else None for stack in stacks)
            shown[head] = None
            if head not in moves:
                done = [Operation(int(number)) for number in rng.choice(4, 2, p=(0.1, 0.3, 0.3, 0.3))]
                laid = tuple((one, entries[rng.integers(3)] if one.pushes else None) for one in done)
                moves[head] = [BoxMove("a", controls[rng.integers(12)], laid)]
            (move,) = moves[head]
            control = move.control
            for stack, (operation, entry) in zip(stacks, move.operations, strict=True):
                del stack[len(stack) - operation.pops :]
                stack += [] if entry is None else [entry]
        assert shown.keys() <= reached(start, moves).keys()


@pytest.mark.parametrize("kind", ["marnn-stack-lstm", "rnn", "lstm"])
def test_recurrent_networks_that_forget_are_certified_and_do_what_is_claimed(kind: Any) -> None:
    """Whatever they hold, they always push; the weights are small, so that what was read long before is forgotten."""
    marnn = MarnnStackLSTM(MarnnConfig(("a", "b"), hidden=3), seed=5)
    neural = NeuralStack(
        NeuralStackConfig(("a", "b"), controller="lstm" if kind == "lstm" else "rnn", hidden=3), seed=5
    )
    with torch.no_grad():
        for parameter in (*marnn.parameters(), *neural.parameters()):
            parameter.mul_(0.1)
        marnn.action_bias.copy_(torch.tensor([4.0, -4.0]))
        marnn.output_bias.fill_(4.0)
        neural.net.bias.copy_(torch.tensor([-4.0, 4.0, 0.0, 0.5, 0.0, 4.0]))  # pop, push, a value, the outputs
    check_that_it_always_pushes(*((marnn, ("a", "b")) if kind == "marnn-stack-lstm" else (neural, "b")))


def check_that_it_always_pushes(model: Any, output: Any) -> Proof:
    found = prove(model, always_pushing(output, ("a", "b")))
    assert isinstance(found, Proof), found.reason
    follow(model, always_pushing(output, ("a", "b")), found.certificate, np.random.default_rng(1))
    return found


def test_what_a_network_keeps_apart_for_ever_is_kept_apart_by_a_grid() -> None:
    """Its two units remember the first letter by their sign, and an output is sure only where both have the same."""
    model = filled(
        MarnnStackRNN(MarnnConfig(("a", "b"), hidden=2)),
        hidden_weights=torch.eye(2) * 3,
        input_weights=[[1.0, -1.0], [1.0, -1.0]],
        action_bias=[4.0, -4.0],
        output_weights=[[4.0, -4.0], [4.0, -4.0]],
        output_bias=1.0,
    )
    assert check_that_it_always_pushes(model, ("a", "b")).system.layout.hidden is not None


QUICK = ExtractionConfig(max_length=6, long_words=40, long_lengths=(6, 14), height=3, climbs=1, walks=4, cycles=2)


@pytest.mark.parametrize("late", [False, True])
def test_buffered_networks_are_certified_if_they_read_and_write_in_every_step(late: bool, tmp_path: Path) -> None:
    """One that answers a letter with itself: at once, or in the next step, when it is the top of the stack."""
    shape = BufferedConfig(("a", "b"), cell_size=2, extra_steps=int(late), dequeue_first=late)
    weights = torch.zeros(8, 4)  # of what is seen, two letters and two numbers of the top
    weights[[4, 5], [0, 1]], weights[[6, 7], [2, 3] if late else [0, 1]] = 12.0, 10.0
    weights[2, :2] = 18.0  # it reads where there is a letter
    bias = [9.0, 9.0, -9.0, 9.0, -6.0, -6.0, 1.0, 0.0]  # pop, push, read, write, what is pushed, outputs
    net = filled(BufferedNeuralStack(shape), weight=weights, bias=bias)
    result, words = extract(net, None, QUICK), [tuple("abba" * n + "b" * n) for n in (0, 1, 7, 40)]
    made: Any
    for made in (result, extract(harden(result).model, None, QUICK)):
        found = made.certificate.certificate
        assert isinstance(found, Certified)
        assert found.itself == (made is not result)
        assert found.cuts == 0
        for word in words:  # beside a queue and a stack that are lists
            assert Buffered(made.model, word).answers == [*map("ab".index, word)]
            assert made.automaton.written(word) == [*word]
    refused(r"followed with its queues, step by step", result.save_proof, tmp_path / "p.json")
    filled(net, weight=weights, bias=[*bias[:3], -9.0, *bias[4:]])  # it writes nothing
    assert "write a symbol in every step" in str(extract(net, None, QUICK).certificate)


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


def test_of_a_trained_network_no_length_is_claimed_that_a_known_word_refutes() -> None:
    net, pda = extracted(ZOO / "marnn-stack-rnn-dyck-2-drifting.pt")
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
    assert "the network does push" in found.reason
    early = replace(counting, accepting=frozenset(states) - {"q4"})
    assert certify_length(dyck(), early, longest=20).length == 3


def test_no_longer_words_are_claimed_than_there_are_cells() -> None:
    net = leaking(0.0)
    limit = net.stack_limit
    assert certify_length(net, pushing_and_popping(), longest=10 * limit).length < limit


@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-5, 1.0, 1e300, np.inf, np.nan]))
def test_points_on_all_sides_of_zero_come_into_as_few_clusters_as_asked_for(seed: int, scale: float) -> None:
    """Rows of twelve hidden units and two tops lie in more orthants than rows are kept, which once never ended."""
    rng = np.random.default_rng(seed)
    points, kinds = rng.normal(size=(700, 30)), np.sort(rng.integers(0, 5, 700))
    points[:, 0] *= scale
    with np.errstate(invalid="ignore", over="ignore"):  # as where it is called
        order, starts = grid_clusters(points, kinds, 100)
    assert sorted(order.tolist()) == list(range(700))
    assert 5 <= len(starts) <= 100
    assert all(len(np.unique(cluster)) == 1 for cluster in np.split(kinds[order], starts[1:]))


def test_a_merged_row_holds_all_that_was_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read two letters before differs between rows that are one here: after baaa the output is another."""
    monkeypatch.setattr("stacklens.extract.certificate.bounded._ATTEMPTS", ((1, 100_000),))
    assert certify_length(pushing_unseen(1), always_pushing("a", ("a", "b")), stacks=(0,), longest=9).length < 4


def test_where_no_certificate_for_every_length_is_found_the_length_that_is_proved_is_told() -> None:
    net, pda = leaking(1.13), pushing_and_popping()
    use = StackUse(kept=(0,), dropped=(), words=0, steps=0, push_only=())
    found = certification(net, pda, use, None)
    assert isinstance(found.certificate, NotCertified)
    assert certified_length(found, net, pda, use, None, 0) == found
    found = certified_length(found, net, pda, use, None)
    assert found.bounded.length == first_broken(net, pda, ["ab" * 40]) - 1
    assert found.to_dict()["bounded"] == found.bounded.to_dict()
    assert str(found).endswith(f"; proved on all words of length <= {found.bounded.length}")
    certified = certification(dyck(), DYCK, use, None)
    assert certified.bounded is None
    assert "bounded" not in certified.to_dict()
