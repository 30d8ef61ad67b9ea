"""What extraction gives: of hand-made networks, of rings, lists and buffers, of odd networks, and of the zoo."""

import copy
import dataclasses
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attack.built_networks import brackets_on_a_ring, moving_head
from tests.extract.certificate.proved import filled
from tests.extract.hand_built import HandMachine, StrengthNet, SuperpositionNet
from tests.models.hand_made import GAIN, hand_made, input_pushing_automata, parentheses_net

import stacklens as sl
from stacklens.automata.compare import Equal
from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.runs import accepts_many
from stacklens.automata.summaries import trim
from stacklens.core.errors import StacklensError
from stacklens.core.progress import Told
from stacklens.extract.agreement import Certified, NotCertified
from stacklens.extract.by_name import specification_for, subject_named
from stacklens.extract.config import ExtractionConfig, Method
from stacklens.extract.extraction import extract
from stacklens.extract.memory_use import relevant_stacks
from stacklens.extract.result import Extraction
from stacklens.extract.samples import action_margins, draw_samples
from stacklens.languages.catalogue import get_language, get_task
from stacklens.languages.classic import counted_pairs
from stacklens.languages.language import TaskKind, all_words
from stacklens.models.base import ControllerOutput, NetworkState, StackModel
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.models.inference import automaton_answers, network_answers
from stacklens.models.networks.joulin import ListMemory
from stacklens.models.networks.neural_stack import BufferedConfig, BufferedNeuralStack
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.rounding import Rounded
from stacklens.models.stacks import RING_OPERATIONS, RingMemory
from stacklens.probe.trace import trace

# ---- Buffered networks with a linear controller that are built by hand, and what each writes on a whole word. ----

# what decides each strength: a number for the bias, for a letter at the front, for something on the stack
_Weights = tuple[float, float, float]
_ALWAYS, _NEVER = (8.0, 0.0, 0.0), (-8.0, 0.0, 0.0)
_LETTER, _NO_LETTER = (-8.0, 16.0, 0.0), (8.0, -16.0, 0.0)
_FULL, _EMPTY = (-8.0, 0.0, 16.0), (8.0, 0.0, -16.0)

# pop, push, take the letter, write; whether what lies on the stack is written, not the letter; what is written in all
PLANTED: dict[str, tuple[tuple[_Weights, ...], bool, Callable[[str], str]]] = {
    "reads all, then pops and writes": ((_NO_LETTER, _LETTER, _ALWAYS, _NO_LETTER), True, lambda word: word[::-1]),
    "takes two steps a letter, and writes once": ((_FULL, _EMPTY, _FULL, _FULL), False, lambda word: word),
    "takes two steps a letter, and writes twice": (
        (_FULL, _EMPTY, _FULL, _ALWAYS),
        False,
        lambda word: "".join(x + x for x in word)[: len(word)],
    ),
    "writes nothing": ((_NEVER, _NEVER, _ALWAYS, _NEVER), False, lambda word: word[:0]),
}


def planted(name: str) -> BufferedNeuralStack:
    """Return the network over a and b, which takes as many steps after a word as the word has letters."""
    strengths, from_stack, _ = PLANTED[name]
    net = filled(BufferedNeuralStack(BufferedConfig(("a", "b"), cell_size=2, extra_steps=1, dequeue_first=False)))
    with torch.no_grad():
        for row, (bias, letter, top) in enumerate(strengths):
            net.net.bias[row] = bias
            net.net.weight[row, :2], net.net.weight[row, 2:] = letter, top
        net.net.bias[4:6] = -8.0
        net.net.weight[4:6, :2] = 16.0 * torch.eye(2)  # what is pushed is the letter
        net.net.weight[6:, 2:] = 16.0 * torch.eye(2) * from_stack
        net.net.weight[6:, :2] = 16.0 * torch.eye(2) * (not from_stack)
    return net


METHODS: tuple[Method, ...] = ("auto", "kmeans")
QUICK = ExtractionConfig(max_length=5, long_words=40, long_lengths=(10, 20), deep_words=2, depth=30, height=8, walks=10)


def outcome(net: NNPDA, method: Method = "auto") -> PushdownAutomaton:
    """Return the automaton of a network that is a discrete machine, which every measure must say."""
    result = extract(net, None, dataclasses.replace(QUICK, method=method))
    assert result.status == 0
    assert result.reason is None
    assert result.fidelity.minority_transitions in (None, 0)  # nothing is voted on where behaviour was learned from
    assert result.fidelity.rounding.disagreements == 0
    assert result.fidelity.action_margin == pytest.approx(0.5)
    return result.automaton


@settings(max_examples=5)
@given(input_pushing_automata(), st.sampled_from(METHODS))
def test_a_network_made_from_an_automaton_gives_that_automaton_back(pda: PushdownAutomaton, method: Method) -> None:
    found = outcome(hand_made(pda, end="$"), method)
    words = all_words(pda.input_alphabet, 8 if len(pda.input_alphabet) == 2 else 6)
    assert accepts_many(found, words).tolist() == accepts_many(pda, words).tolist()
    if method == "kmeans":  # what is learned from short words may tell more states apart
        assert len(found.states) <= len(trim(pda).states)
    assert found.end_marker is None


@pytest.mark.parametrize(
    ("name", "states", "symbols", "transitions"),
    [("parentheses", 1, 1, 3), ("1n0n", 2, 1, 4), ("palindrome", 2, 2, 11), ("dyck-2", 1, 2, 8)],
)
def test_the_languages_give_their_smallest_automata(name: str, states: int, symbols: int, transitions: int) -> None:
    language = get_language(name)
    result = extract(hand_made(language.automaton, end="$"), language, QUICK)
    assert result.status == 0
    assert len(result.automaton.states) == states
    assert len(result.automaton.stack_alphabet) == symbols
    assert len(result.automaton.transitions) == transitions
    assert len(result.raw.states) > states
    checked = {(check.kind, check.other) for check in result.checks}
    assert checked == {  # what is proved and certified for every length is run on all short words only
        *(("exhaustive", other) for other in ("language", "rounded network", "network")),
        *((kind, "network") for kind in ("long", "deep", "covering", "driven", "pumped")),
    }
    assert all(check.disagreements == 0 for check in result.checks)


def test_a_second_order_net_for_parentheses_gives_one_state_as_in_figure_7() -> None:
    found = outcome(parentheses_net())
    assert len(found.states) == 1
    language = get_language("parentheses")
    assert all(found.accepts(word) == (word in language) for word in all_words(("(", ")"), 8))


def test_a_wrong_network_is_extracted_and_contradicted_by_the_shortest_word() -> None:
    language = get_language("palindrome")
    net = hand_made(language.automaton)
    assert extract(net, language, QUICK).status == 0
    with torch.no_grad():  # in state "pop" with a on b pop too, where the word should die
        for neuron in (1, 2):
            net.state_weights.view(3, 3, 4, 3)[neuron, 1, 1, 0] = GAIN
        net.action_weights.view(3, 4, 3)[1, 1, 0] = -GAIN
    result = extract(net, language, QUICK)
    assert result.status == 1
    check = result.contradicted
    assert (check.kind, check.other, check.counterexample) == ("exhaustive", "language", "bca")
    wrong = [word for word in all_words(net.alphabet, 5) if result.automaton.accepts(word) != (word in language)]
    assert wrong[0] == "bca"
    assert check.disagreements == len(wrong)
    assert "'bca'" in str(check)
    assert all(other.disagreements == 0 for other in result.checks if other.other == "rounded network")


def test_a_language_over_other_symbols_is_refused_before_any_work() -> None:
    stages: list[str] = []
    with pytest.raises(StacklensError, match=r"^.*palindrome has the alphabet a b c, the network \( \); name the "):
        extract(parentheses_net(), get_language("palindrome"), QUICK, told_by(stages))
    assert stages == []


def told_by(stages: list[str]) -> Told:
    """Return what writes down the names of stages."""
    return lambda stage, *_: stages.append(stage)


def test_every_stage_is_told_and_timed_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    stages, begun = list[str](), time.perf_counter()
    with caplog.at_level("INFO", logger="stacklens"):
        result = extract(parentheses_net(), get_language("parentheses"), QUICK, progress=told_by(stages))
    stages = list(dict.fromkeys(stages))
    assert stages == list(result.seconds)
    assert [record.message for record in caplog.records if record.name == "stacklens.extract.extraction"] == stages
    assert len(stages) >= 3
    assert all(result.seconds.values())  # each does something
    assert sum(result.seconds.values()) <= time.perf_counter() - begun


QUICK_RINGS = ExtractionConfig(
    max_length=6, long_words=60, long_lengths=(10, 30), deep_words=2, depth=20, height=8, climbs=1, walks=10, cycles=12
)


class Ruled(StackModel[Any]):
    """A network on a ring, or on a list, that writes a 1 at its first letter, and says that letter before each step on
    a 1, else the second one.

    Args:
        alphabet: the letters.
        moves: the operation at each letter.
        cells: how many cells the ring has; None for a list.
        once: whether it writes only where nothing was.
    """

    action_kind, task_kind, recurrent, cell_size = "softmax", "next symbol", False, 1

    def __init__(self, name: str, alphabet: str, moves: tuple[str, ...], cells: int | None, once: bool = False) -> None:
        super().__init__()
        self.name, self.alphabet, self.stack_limit, self.once = name, tuple(alphabet), cells, once  # type: ignore[misc]
        self.operations = ("insert", "left", "right", "none") if cells is None else RING_OPERATIONS
        self.moves = torch.tensor([self.operations.index(move) for move in moves])

    def config(self) -> dict[str, Any]:
        return {}

    def initial_state(self, batch: int) -> NetworkState[Any]:
        zero = torch.zeros((), dtype=torch.float64)
        limit = self.stack_limit
        memory = ListMemory.empty((batch,), 1, zero) if limit is None else RingMemory.empty((batch,), limit, 1, zero)
        return NetworkState(zero.expand(batch, 1), memory, torch.zeros(batch, dtype=torch.bool))

    def stack_of(self, cells: torch.Tensor) -> Any:
        raise NotImplementedError

    def controller(self, symbols: torch.Tensor, hidden: torch.Tensor, reading: torch.Tensor) -> ControllerOutput:
        empty = reading[:, 0, 0] < 0.5
        new = (symbols == 0) & (empty | (not self.once))
        wanted = torch.nn.functional.one_hot(self.moves[symbols], len(self.operations)).double()
        said = torch.nn.functional.one_hot(empty.long(), len(self.alphabet)).double()
        return ControllerOutput(hidden, torch.softmax(20 * wanted, -1)[:, None], new.double()[:, None, None], said)


def ring_tape(cells: int) -> Ruled:
    return Ruled("ring tape", "wrl", ("no-op", "rotate left", "rotate right"), cells, once=True)


@cache
def counter(up: str, down: str) -> Extraction:
    return extract(Ruled("ring counter", "ab", (up, down), 60), None, QUICK_RINGS)


def check_that_it_counts(result: Extraction) -> None:
    assert result.automaton is not None, result.reason
    assert [step.output for step in result.automaton.transitions.values()].count("a") == 2
    for word, said in (("ab", "ba"), ("aabb", "baaa"), ("abbaab", "babbaa")):
        run = list(result.automaton.taken(word))
        assert "".join(str(result.automaton.transitions[key].output) for key in run) == said


def test_a_ring_that_is_used_as_a_stack_is_seen_as_one() -> None:
    result = counter("pop right", "pop left")
    assert (result.status, result.view and result.view.name) == (0, "its ring as one stack")
    assert (result.view.cells, result.view.memories, result.memories) == (59, (0,), (0,))
    check_that_it_counts(result)
    assert str(result.certificate.reason).startswith("a ring counter cannot be certified; expected one of ")
    assert "it does not rotate right or rotate left, so nothing turned away is read" in result.view.shown


def test_a_ring_that_is_used_the_other_way_round_is_seen_so_and_where_it_comes_round_it_is_told() -> None:
    """Counting down on an empty ring turns it: what was counted down before comes in at the other side."""
    result = counter("rotate left", "rotate right")
    assert (result.view.name, result.view.shown) == ("its ring as one stack, mirrored", None)
    check_that_it_counts(result)
    assert (result.status, result.view.wrong) == (1, True)
    pumped = [check for check in result.checks if check.kind == "pumped" and check.other == "rounded network"]
    assert pumped[0].disagreements


def test_a_ring_whose_head_goes_both_ways_is_two_stacks() -> None:
    result = extract(ring_tape(200), None, QUICK_RINGS)
    assert (result.view.name, result.view.cells) == ("its ring as two stacks", 99)
    assert result.automaton is not None, result.reason
    assert (result.status, result.automaton.n_stacks) == (0, 2)
    assert [one.differences > 0 for one in result.view.tried if one.name != "its ring as two stacks"] == [True, True]


def test_a_ring_that_comes_round_gives_no_automaton_and_the_reason_is_a_word() -> None:
    result = extract(ring_tape(3), None, QUICK_RINGS)
    assert result.status == 3
    assert result.minimised is None
    assert result.candidates == []
    assert str(result.reason).startswith("the network does not use its memory as stacks: with its ring as one stack it")
    assert "; with its ring as two stacks it differs on " in str(result.reason)
    assert "'wrrr" in str(result.reason)
    assert "learned something that is no pushdown automaton" in result.why()


def test_a_list_is_two_stacks_of_which_those_are_kept_that_matter() -> None:
    result = extract(Ruled("list counter", "ab", ("insert", "left"), None), None, QUICK_RINGS)
    assert (result.status, result.view.name, result.view.assumes) == (0, "each of its lists as two stacks", None)
    assert (result.stacks.kept, result.memories) == ((0,), (0,))
    assert "1 of 2 matter: the right of list 1 is ignored" in str(result)
    check_that_it_counts(result)


def test_rings_and_lists_are_certified_on_stacks_that_are_their_memory_exactly(tmp_path: Path) -> None:
    ring, head = brackets_on_a_ring(np.random.default_rng(4))[0], moving_head(np.random.default_rng(4))[0]
    names = "its ring as one stack", "each of its lists as two stacks"
    for view, name in zip((ring, head), names, strict=True):
        result = extract(view.model, None, QUICK)
        assert (result.status, result.view and result.view.name) == (0, name)
        found = result.certificate.certificate
        assert isinstance(found, Certified), result.certificate.reason
        assert found.stack_limit == (view.ring_size - 1 if view is ring else None)
        assert result.horizon["rounded network"].shown_by == "certificate"
        view.model.save(tmp_path / "net.pt")
        again = extract(sl.load(str(tmp_path / "net.pt")), None, QUICK)
        again.save(tmp_path / "result.json")
        assert sl.load(tmp_path / "result.json").certificate == again.certificate
    drifts, _ = brackets_on_a_ring(np.random.default_rng(4), adds=-4.0)
    result = extract(drifts.model, None, QUICK)
    assert (result.status, type(result.certificate.certificate)) == (1, NotCertified)


def test_the_zoos_baby_ntm_gives_an_automaton_that_is_proved_equal_and_what_breaks_the_network_is_found(
    tmp_path: Path,
) -> None:
    few: Any = {"max_length": 6, "long_words": 40, "deep_words": 1, "depth": 20, "height": 5, "cycles": 40}
    result = sl.extract("baby-ntm-dyck-2-drifting", **few)
    assert isinstance(result.proof, Equal)
    assert result.view.name == "its ring as one stack"
    assert (result.status, result.view.wrong) == (1, True)
    pumped = [check for check in result.checks if check.kind == "pumped" and check.other == "rounded network"]
    assert pumped[0].made_of == "'(', then '()' 12 times, then ')'"
    assert "what that leaves out has added up there" in result.why()
    result.save(tmp_path / "result.json")
    loaded = sl.load(tmp_path / "result.json")
    assert isinstance(loaded, Extraction)
    assert loaded == result
    assert loaded.view == result.view


# live states, length checked, all words up to it
NETWORKS = {"parentheses": ((1,), 16, 131_071), "1n0n": ((2,), 16, 131_071), "palindrome": ((2, 3), 11, 265_720)}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_zoo_network_gives_the_languages_automaton_and_nothing_contradicts_it(name: str) -> None:
    states, length, words = NETWORKS[name]
    network = load_network(f"nnpda-{name}").model
    result = extract(network, get_language(name), ExtractionConfig(max_length=length))
    assert result.status == 0
    assert len(result.automaton.states) in states
    done = {(check.kind, check.other): check for check in result.checks}
    for other in ("language", "rounded network"):
        exhaustive = done["exhaustive", other]
        assert (exhaustive.max_length, exhaustive.words, exhaustive.disagreements) == (length, words, 0)
        assert ("long", other) not in done  # proved, and certified, for words of every length
    itself = result.horizon["network"].to_dict()["every_length"]  # then nothing longer of it is run either
    assert itself == (("long", "network") not in done)
    if not itself:
        assert (done["long", "network"].words, done["deep", "network"].words) == (2_000, 40)
        assert done["deep", "network"].max_length >= 400  # 200 deep
    assert ("exhaustive", "network") in done
    assert done["exhaustive", "language"].accepted == sum(1 for _ in get_language(name).words(length))


def distances_that_matter(net: Any, words: list[Any]) -> np.ndarray:
    """Return how far actions are from the next threshold, one at a time.

    Those count after which, with some action or other, the word read so far might still be accepted.
    """
    signed, found = net.action_kind == "signed", list[float]()
    choices = torch.tensor([[-1.0], [0.0], [1.0]] if signed else np.eye(len(net.operations)).tolist())
    for word in words:
        state, foreseen = (
            net.initial_state(1),
            torch.tensor([[net.first is None or x in net.first for x in net.letters]]),
        )
        for code in [net.letters.index(symbol) for symbol in (*word, *([net.end] if net.end is not None else []))]:
            answer = net.controller(torch.tensor([code]), state.hidden, state.stack.reading())
            stacks = [state.stack.next(choice.to(answer.actions).view(1, 1, -1), answer.pushed) for choice in choices]
            lost = all(bool(net.rejects(answer.hidden, stack)) for stack in stacks)
            if lost or (net.task_kind == "next set" and not foreseen[0, code]):
                break
            shares = sorted(answer.actions.flatten().tolist(), reverse=True)
            found.append(abs(abs(shares[0]) - 0.5) if signed else (shares[0] - shares[1]) / 2)
            stack = state.stack.next(answer.actions, answer.pushed)
            if bool(net.rejects(answer.hidden, stack)):
                break
            state, foreseen = NetworkState(answer.hidden, stack, state.rejected, answer.output), answer.output > 0.5
    return np.array(found)


@pytest.mark.parametrize(
    ("name", "margin"),
    [
        ("marnn-stack-lstm-dyck-2-drifting", 0.491),  # where symbols come that were not predicted, 0.002
        ("nnpda-1n0n", 0.5),  # hardened: whole at every step
        ("nnpda-parentheses", 0.392),  # which rejects by pops of nothing alone
    ],
)
@torch.no_grad()
def test_margins_are_of_steps_at_which_an_action_matters(name: str, margin: float) -> None:
    shipped = json.loads((ZOO / f"{name}.json").read_text(encoding="utf-8"))
    net = load_network(name).model
    specification = specification_for(subject_named(shipped["language"], net.task_kind), net.task_kind)
    words = draw_samples(net, specification, 0).short_traced
    seen = distances_that_matter(net, words)
    least, graded = action_margins(net, trace(net, words, stacks=False))
    assert least == pytest.approx(seen.min(), abs=1e-9) == pytest.approx(margin, abs=5e-4)
    assert graded == (seen < 0.25).mean() == 0
    assert shipped["fidelity"]["action_margin"] == pytest.approx(least)
    assert shipped["fidelity"]["graded_actions"] == graded


def test_a_pop_of_nothing_that_is_hardly_one_is_a_small_margin_though_the_word_is_rejected_there() -> None:
    net = NNPDA(NNPDAConfig(("(", ")"), "second", 1, trap=False, empty_reading=False))
    filled(net, state_bias=40.0, action_weights=[[-2.0, 0.0, 20.0, -np.log(1.51 / 0.49)]])  # seen ( ), read ( )
    seen = trace(net, [("(", ")"), (")", "(")])
    assert action_margins(net, seen)[0] == pytest.approx(0.01)


QUICK_UNUSUAL = ExtractionConfig(max_length=6, long_words=40, long_lengths=(10, 20), deep_words=2, depth=30)


def check_that_it_rejects_everything(result: Extraction) -> None:
    assert result.status == 0
    assert result.automaton.transitions == {}
    assert all(check.disagreements == 0 for check in result.checks)
    assert {check.other for check in result.checks} == {"rounded network", "network"}


def test_a_network_that_rejects_every_word_at_its_first_symbol_has_the_automaton_of_the_empty_language() -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), n_states=2))
    net.load_state_dict({name: torch.zeros_like(value) - 1 for name, value in net.state_dict().items()})
    result = extract(net, None, QUICK_UNUSUAL)
    check_that_it_rejects_everything(result)
    assert not any(result.automaton.accepts(word) for word in ("", "a", "b", "ab"))
    wrong = extract(net, counted_pairs("a", "b"), QUICK_UNUSUAL)
    assert wrong.status == 1
    assert wrong.contradicted.counterexample == "ab"


@pytest.mark.parametrize("kind", ["recognition", "next set", "next symbol", "transduction"])
@pytest.mark.parametrize("stack", ["superposition", "strengths"])
@pytest.mark.parametrize("states", [None, 3])
def test_a_machine_without_a_rule_rejects_every_word_at_its_first_symbol(
    kind: TaskKind, stack: str, states: int | None
) -> None:
    machine = HandMachine(1, ("a", "b"), 1, 1, 1, kind, {}, frozenset({0}))
    net: StackModel[Any] = SuperpositionNet(machine, no_op=True) if stack == "superposition" else StrengthNet(machine)
    check_that_it_rejects_everything(extract(net, None, replace(QUICK_UNUSUAL, states=states)))


# ---- Buffered networks built by hand give automata that write, on whole words, what they were built to write. ----

SMALL = ExtractionConfig(
    max_length=6, long_words=50, long_lengths=(8, 20), height=3, climbs=1, walks=3, cycles=2, shortening=1_000
)
WORDS = ["".join(word) for n in range(7) for word in product("ab", repeat=n)]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * name.startswith("takes")) for name in PLANTED]
)
def test_a_planted_network_is_read_on_whole_words(name: str) -> None:
    net, expected = planted(name), PLANTED[name][2]
    result = extract(net, None, SMALL)
    assert result.status == 0, result.reason
    pda = result.automaton
    for word in [*WORDS, "ab" * 20, "abbaa" * 7]:
        assert "".join(map(str, pda.written(word)))[: len(word)] == expected(word), word
    numbers = [["ab".index(x) for x in expected(word)] + [-1] * (6 - len(expected(word))) for word in WORDS]
    for network in (net, Rounded(net)):
        assert network_answers(network, WORDS).tolist() == numbers
    assert automaton_answers(pda, net, WORDS).tolist() == numbers
    assert [check.kind for check in result.checks][:2] == ["exhaustive", "exhaustive"]


def test_epsilon_steps_are_there_where_the_network_waits() -> None:
    reverser = extract(planted("reads all, then pops and writes"), None, SMALL).automaton
    assert not reverser.real_time
    assert len(reverser.states) == 2
    assert reverser.written("aab") == ["b", "a", "a"]


def test_graded_strengths_are_the_reason_why_there_is_none() -> None:
    net = planted("takes two steps a letter, and writes twice")
    with torch.no_grad():
        net.net.weight[2] = 0.0
        net.net.bias[2] = 0.1  # takes about half a letter in every step
    result = extract(net, None, SMALL)
    assert result.status == 3
    assert str(result.reason).startswith(
        "the network does not read, write, push and pop in whole steps: rounding its strengths changes what it writes"
    )


def test_words_with_nulls_behind_them_are_answered_in_full() -> None:
    """The first unit that is written is never seen: so it is read one null further."""
    net = BufferedNeuralStack(BufferedConfig(("a", "#"), cell_size=1, null="#", dequeue_first=True))
    assert (net.reads_on, net.skipped) == (("#",), 1)
    filled(net, bias=[-8.0, -8, 8, 8, 0, 0, 0], weight=[*[[0.0] * 3] * 5, [16.0, 0.0, 0.0], [0.0, 16.0, 0.0]])
    assert network_answers(net, ["a#a", "aa"]).tolist() == [[1, 0, 1], [0, 1, -1]]  # the next letter, then the null
    result = extract(net, None, SMALL)
    assert [result.automaton.written(word) for word in ("", "a#a", "aa")] == [[], ["#", "a", "#"], ["a", "#"]]
    assert np.array_equal(network_answers(Rounded(net), ["a#a"]), automaton_answers(result.automaton, net, ["a#a"]))


# ---- What comes out of the zoo's networks that were trained by `stacklens train` on the papers' tasks, at small sizes.

SMALL_MODELS = ExtractionConfig(max_length=5, long_words=200, long_lengths=(20, 60), deep_words=2, depth=40)
# file: states and stack symbols of the papers' way, clusters of hidden vectors
EXACT = {
    "marnn-stack-rnn-dyck-2-firm": (2, 3),
    "marnn-stack-rnn-dyck-3": (3, 4),
    "marnn-stack-lstm-dyck-2": (2, 3),
    "marnn-stack-rnn-homomorphic-palindrome": (5, 3),
    "marnn-stack-rnn-string-reversal": (2, 3),
    "neural-stack-reversal": (1, 2),
    "neural-stack-delayed-xor": (1, 2),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * ("marnn" in name)) for name in EXACT])
def test_a_trained_network_gives_an_automaton_that_nothing_contradicts(name: str) -> None:
    checkpoint = load_network(name)
    task = get_task(checkpoint.task["language"])
    assert checkpoint.task["kind"] == checkpoint.model.task_kind == task.kind
    result = extract(checkpoint.model, task, replace(SMALL_MODELS, method="kmeans"))
    assert result.status == 0, result.reason or result.contradicted
    assert (len(result.automaton.states), len(result.automaton.stack_alphabet)) == EXACT[name]
    assert all(check.disagreements == 0 for check in result.checks if check.other != "network")


SMALL_STREAMS = ExtractionConfig(long_words=400, long_lengths=(30, 60), deep_words=2)
STREAMS = ["anbn", "anb2n", "anbncn", "anbncndn", "anbmcnm"]


@pytest.mark.parametrize("name", ["anbn", pytest.param("anbncn", marks=pytest.mark.slow)])
def test_the_zoo_gives_automata_that_nothing_contradicts(name: str) -> None:
    found = extract(load_network(f"stack-rnn-{name}").model, get_task(name), SMALL_STREAMS)
    assert found.status == 0
    assert {check.other: check.disagreements for check in found.checks if check.other != "network"} == {
        "language": 0,
        "rounded network": 0,
    }


@pytest.mark.parametrize(("name", "needed"), list(zip(STREAMS, (1, 2, 2, 2, 1), strict=True)))
def test_stacks_that_the_pattern_does_not_need_do_not_matter(name: str, needed: int) -> None:
    model, task = load_network(f"stack-rnn-{name}").model, get_task(name)
    examples = task.sample(40, (2, 30))
    use = relevant_stacks(model, examples.words, examples.mask)
    assert len(use.kept) == needed
    assert use.without(model).n_stacks == needed


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no device")
def test_a_device_gives_what_the_processor_gives() -> None:
    checkpoint = load_network("marnn-stack-rnn-dyck-2-firm")
    there, here = (
        extract(checkpoint.model, specification_for(get_task("dyck-2")), ExtractionConfig(budget=20, device=device))
        for device in ("cuda", "cpu")
    )
    assert there.automaton == here.automaton
    assert there.status == here.status == 0
    words = ["([])", "[[()]]"]
    runs = [trace(network, words) for network in (copy.deepcopy(checkpoint.model).to("cuda"), checkpoint.model)]
    np.testing.assert_allclose(runs[0].hidden, runs[1].hidden, rtol=1e-4, atol=1e-5)
