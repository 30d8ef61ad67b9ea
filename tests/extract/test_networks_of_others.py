"""Machines as networks, networks of many symbols, published ones, and automata in other libraries."""

import random
from collections.abc import Sequence
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
from tests.automata.strategies import plain_accepts
from tests.extract.certificate.proved import filled
from tests.extract.hand_built import NO_CELL, HandMachine, Rule, StrengthNet, SuperpositionNet, hand_machines
from tests.languages.plain_brackets import may_come
from tests.models.published_networks import published

from stacklens.automata.compare import Equal, compare
from stacklens.automata.enumeration import compile_tables
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, Word, push
from stacklens.automata.rewriting import with_visible_top
from stacklens.automata.runs import accepts_many, transduce_many
from stacklens.automata.summaries import trim
from stacklens.extract.agreement import Certified, NotCertified, agree_on_all
from stacklens.extract.by_name import specification_for, specification_of
from stacklens.extract.certificate.abstraction import Box
from stacklens.extract.certificate.certify import certify
from stacklens.extract.certificate.controllers import set_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.extract.specification import Specification
from stacklens.languages.catalogue import get_task
from stacklens.languages.language import TaskKind, all_words
from stacklens.models.base import Checkpoint, StackModel
from stacklens.models.checkpoint import load_network
from stacklens.models.inference import answers_on_all, automaton_answers, network_answers, output_number, outputs_on
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.models.rounding import Rounded

# ---- Predictors over many symbols whose weights are set by hand. ----


def alphabet_of(n_symbols: int) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(n_symbols))


def constant_net(letters: tuple[str, ...], predicted: tuple[str, ...]) -> MarnnStackRNN:
    """Return a network that says ``predicted`` after every symbol, and only pops."""
    said = [4.0 if letter in predicted else -4.0 for letter in letters]
    return filled(MarnnStackRNN(MarnnConfig(letters, hidden=1)), output_bias=said, action_bias=[-4.0, 4.0])


# ---- Any small machine on superposition or strength stacks is a network; extraction must give it back.

QUICK = ExtractionConfig(max_length=6, long_words=100, long_lengths=(10, 30), deep_words=2, depth=30)
SPEAKING: tuple[TaskKind, ...] = ("next set", "next symbol", "transduction")
ALL: tuple[TaskKind, ...] = ("recognition", *SPEAKING)


def said(pda: PushdownAutomaton, words: Sequence[Word]) -> list[Any]:
    """Return what ``pda`` says after every symbol, None where it has stopped."""
    outputs = (*compile_tables(pda).outputs, None)  # -1 is where nothing is said
    return [
        [outputs[place] for place in row[: len(word)]]
        for word, row in zip(words, transduce_many(pda, words).tolist(), strict=True)
    ]


def answers(pda: PushdownAutomaton, max_length: int) -> list[Any]:
    """Return acceptance of all words of a recogniser, else what is said on them, None from a rejection on."""
    words = all_words(pda.input_alphabet, max_length)
    return accepts_many(pda, words).tolist() if set(compile_tables(pda).outputs) == {None} else said(pda, words)


def check(net: StackModel[Any], machine: HandMachine) -> None:
    """Hold that extraction finds the machine, and that rounding changes nothing of the network."""
    result = extract(net, None, QUICK)
    assert result.reason is None
    assert result.status == 0
    assert result.fidelity.rounding.disagreements == 0
    assert result.fidelity.action_margin == pytest.approx(0.5)
    expected = machine.automaton()
    length = 8 if len(machine.letters) == 2 else 6
    assert answers(result.automaton, length) == answers(expected, length)
    kmeans = result.found is not None and result.found.method == "kmeans"
    if machine.n_stacks == 1 and kmeans:  # what is learned need not
        assert len(result.automaton.states) <= len(trim(expected).states)
        assert len(result.automaton.stack_alphabet) <= len(trim(expected).stack_alphabet)


@settings(max_examples=5)
@given(hand_machines(("push", "pop"), ALL), st.integers(1, 2), st.sampled_from((0.0, -1.0)))
def test_a_stack_of_pushes_and_pops(machine: HandMachine, cell_size: int, empty: float) -> None:
    check(SuperpositionNet(machine, False, cell_size, empty), machine)


@settings(max_examples=4)
@given(hand_machines(("push", "pop", "none"), SPEAKING, n_stacks=2), st.booleans())
def test_two_stacks(machine: HandMachine, wide: bool) -> None:
    check(SuperpositionNet(machine, True, cell_size=1 + wide), machine)


@settings(max_examples=5)
@given(hand_machines(("none", "pop", "push", "replace"), ALL), st.integers(1, 2))
def test_strengths_with_pop_and_push_in_one_step(machine: HandMachine, cell_size: int) -> None:
    check(StrengthNet(machine, cell_size), machine)


# ---- Predictors over more symbols than a machine word has bits: what is predicted is not taken for something else.


def saying(letters: tuple[str, ...], predicted: tuple[str, ...]) -> PushdownAutomaton:
    """Return the automaton that says ``predicted`` after every symbol and goes on with what it said."""
    step = Transition("q", (NONE,), predicted)
    rules: dict[Key, Transition] = {("start", letter, ("⊥",)): step for letter in letters}
    rules |= {("q", letter, ("⊥",)): step for letter in predicted}
    states = ("start", "q")
    return PushdownAutomaton(states, letters, (), rules, "start", frozenset(states), "final state")


@pytest.mark.parametrize("further", [31, 63, 64, 127])
def test_a_far_symbol_is_not_lost_from_a_predicted_set(further: int) -> None:
    letters = alphabet_of(further + 1)
    net = constant_net(letters, (letters[0], letters[further]))
    right = saying(letters, (letters[0], letters[further]))
    wrong = saying(letters, (letters[0],))
    same = agree_on_all(right, net, None, 2)
    other = agree_on_all(wrong, net, None, 2)
    assert same.disagreements == 0
    assert other.disagreements == 3 * len(letters)  # of length 1 all, of length 2 those that go on with a predicted one
    words = [(letter, letters[further]) for letter in letters]
    assert (network_answers(net, words) == automaton_answers(right, net, words)).all()
    assert (network_answers(net, words) != automaton_answers(wrong, net, words)).all()
    assert [net.output_name(number) for number in outputs_on(net, words[:1])[0]] == [(letters[0], letters[further])] * 2
    longest = answers_on_all(net, 2)[2].reshape(len(letters), len(letters))
    assert (longest[:, [0, further]] == output_number((letters[0], letters[further]), net)).all()
    assert (np.delete(longest, [0, further], 1) == -1).all()


@pytest.mark.parametrize("further", [31, 63, 64])
def test_a_network_is_not_certified_against_an_automaton_that_is_cut_on_a_far_symbol(further: int) -> None:
    letters = alphabet_of(further + 1)
    net = constant_net(letters, (letters[0], letters[further]))
    assert isinstance(certify(net, saying(letters, (letters[0], letters[further]))), Certified)
    right = saying(letters, (letters[0], letters[further]))
    cut = {key: step for key, step in right.transitions.items() if key[:2] != ("q", letters[further])}
    refused = certify(net, replace(right, transitions=cut))
    assert isinstance(refused, NotCertified)
    assert "the network goes on" in str(refused)
    assert isinstance(certify(net, saying(letters, (letters[0],))), NotCertified)


@pytest.mark.parametrize("n_symbols", [3, 31, 62, 63, 64, 65, 200])
def test_sets_of_boxes_have_the_numbers_of_sets_of_points(n_symbols: int) -> None:
    rng = np.random.default_rng(n_symbols)
    values = rng.random((40, n_symbols))
    values[:20] = values[20:]
    decision = set_of(Box.point(values))
    net = constant_net(alphabet_of(n_symbols), ())
    numbers = net.output_numbers(torch.from_numpy(values))
    assert decision.numbers.tolist() == numbers.tolist()
    assert numbers.tolist() == [sum(1 << i for i in np.flatnonzero(row > 0.5).tolist()) for row in values]
    assert len(set(numbers.tolist())) == len({(row > 0.5).tobytes() for row in values})
    named = [tuple(net.alphabet[i] for i in np.flatnonzero(row > 0.5)) for row in values]
    assert [net.output_name(number) for number in numbers] == named
    assert [output_number(name, net) for name in named] == numbers.tolist()


def test_a_predictor_over_many_symbols_is_extracted() -> None:
    letters = alphabet_of(70)
    net = constant_net(letters, (letters[0], letters[64]))
    result = extract(net, None, ExtractionConfig(max_length=2, long_words=100, long_lengths=(4, 8), walks=5, height=5))
    assert result.status == 0
    assert {step.output for step in result.automaton.transitions.values()} == {("x0", "x64")}
    assert {check.disagreements for check in result.checks} == {0}


# ---- Names of what is different are different, whatever symbols are called. ----

QUICK_NAMES = ExtractionConfig(max_length=5, long_words=50, long_lengths=(5, 10), walks=5, height=5)


@pytest.mark.parametrize("sets", [(("a", "b"), ("ab",)), (("a",), ("a", "b")), (("ab", "b"), ("a", "b"))])
def test_states_that_predict_other_sets_are_not_taken_for_one(sets: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    letters = ("a", "b", "ab")
    first, second = (sum(1 << letters.index(symbol) for symbol in one) for one in sets)
    said = {0: first, 1: second, 2: 7}
    tops: list[tuple[tuple[int, ...], ...]] = [((NO_CELL,),), ((0,),)]
    rules = {(0, letter, top): Rule(0, (("none", 0),), said[letter]) for letter, top in product(range(3), tops)}
    machine = HandMachine(1, letters, 1, 1, 1, "next set", rules, frozenset({0}))
    result = extract(StrengthNet(machine), None, QUICK_NAMES)
    assert result.status == 0
    assert compare(result.automaton, machine.automaton(), outputs="all") == Equal()


def test_states_that_show_the_top_are_not_taken_for_one() -> None:
    rules: dict[Key, Transition] = {
        ("a, b", "x", ("⊥",)): Transition("a", (push("b, c"),)),
        ("a", "x", ("b, c",)): Transition("a, b", (push("c"),)),  # "(a, b, c)" as well
        ("a", "y", ("b, c",)): Transition("a", (POP,)),
        ("a, b", "y", ("c",)): Transition("a, b", (NONE,)),
    }
    pda = PushdownAutomaton(("a", "a, b"), ("x", "y"), ("c", "b, c"), rules, "a, b", frozenset({"a, b"}), "final state")
    shown = with_visible_top(pda)
    for length in range(6):
        for word in product("xy", repeat=length):
            assert shown.accepts(word) == plain_accepts(pda, word)


# ---- What comes out of the networks that the papers' authors published; skipped where their files are not there.

SEEN = ExtractionConfig(max_length=8, long_words=500, deep_words=5)


@cache
def extracted(name: str) -> Extraction:
    if name == "marnns":
        return extract(load_network(published("marnns/stack_rnn_model_weights.pth")).model, get_task("dyck-2"), SEEN)
    if name == "stack-rnn-cpp":
        return extract(load_network(published("stack-rnn-cpp/model_*")).model, get_task("anbn"), SEEN)
    return extract(load_network(published(f"stacknn/{name}.dat")).model, get_task("reversal"), SEEN)


def automaton(name: str) -> PushdownAutomaton:
    result = extracted(name)
    assert result.reason is None
    assert result.status == (1 if name == "marnns" else 0)
    return result.automaton


def next_sets(word: str) -> list[tuple[str, ...] | None]:
    """Return what may follow after every symbol of ``word``, in the order ( ) [ ]; None once it is no prefix."""
    after = [may_come(word[: n + 1]) for n in range(len(word))]
    return [tuple(symbol for symbol in "()[]" if symbol in some) or None for some in after]


def test_the_dyck_network_gives_an_automaton_that_is_right_on_every_short_word() -> None:
    pda = automaton("marnns")
    words = all_words(tuple("()[]"), 7)
    assert said(pda, words) == [next_sets(str(word)) for word in words]


def test_a_cycle_repeated_breaks_the_published_dyck_network_that_all_other_searches_find_right() -> None:
    result = extracted("marnns")
    wrong = [check for check in result.checks if check.disagreements and check.other == "rounded network"]
    assert [check.kind for check in wrong] == ["pumped"]
    word = wrong[0].counterexample
    assert isinstance(word, str)
    assert len(word) <= 140
    assert None not in next_sets(word)
    rounded = network_answers(Rounded(result.model), [word])[0]
    expected = [sum(1 << "()[]".index(s) for s in said or ()) for said in next_sets(word)]
    assert rounded.tolist() != expected
    assert rounded[:-1].tolist() == expected[:-1]


def test_the_counting_networks_automaton_predicts_every_n_up_to_1000() -> None:
    pda = automaton("stack-rnn-cpp")
    before = "aabbaaabbb"
    words = [f"{before}{'a' * n}{'b' * n}" for n in range(2, 1_001)]
    outputs = compile_tables(pda).outputs
    places = transduce_many(pda, words)
    b, a = (np.isin(places, [i for i, output in enumerate(outputs) if output == letter]) for letter in "ba")
    for row, n in enumerate(range(2, 1_001)):
        first = len(before) + n  # the step that reads the first b: from then on everything is determined
        assert b[row, first : first + n - 1].all(), n
        assert a[row, first + n - 1], n


def test_the_linear_reversal_networks_automaton_reverses_the_authors_words_and_long_ones() -> None:
    pda, rng = automaton("linear_reverse_task_20"), random.Random(2)
    lines = [line.split(",") for line in published("stacknn/reverse_test_200.csv").read_text().splitlines()]
    read = [("".join(word.split()).rstrip("2"), "".join(target.split()).strip("2")) for word, target in lines]
    assert len(read) == 200
    assert all(target == word[::-1] for word, target in read)
    words = [word for word, _ in read] + ["".join(rng.choice("01") for _ in range(100)) for _ in range(50)]
    answers = said(pda, [word + "#" * len(word) for word in words])
    assert ["".join(answer[len(word) :]) for word, answer in zip(words, answers, strict=True)] == [
        word[::-1] for word in words
    ]


# ---- The C++ program of Joulin & Mikolov feeds its networks the last letter first; what they do then is what counts.

K = 60.0


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of the program: a^n b^n, right if something lies under the first sequence.

    On b over nothing it pushes a mark. After a b it says a over the mark, and b over an a or over nothing.
    """
    units = [  # weight of a, of b, of the top cell, of the second
        (K, -K, 0, 0),  # an a
        (-4 * K, -0.6 * K, K, 0),  # b over an a
        (-4 * K, -0.6 * K, 0, K),  # b over two a
        (-4 * K, -0.5 * K, 0, -K),  # b, and nothing below the top
        (-4 * K, -0.5 * K, -K, 0),  # b over nothing
        (-K, K, 0, 0),  # b
    ]
    cells, hidden = 200, len(units)
    in2hid = [[unit[symbol] for unit in units] for symbol in range(2)]
    actions = [[40, 0, 0, 0, 40, 0], [0, 40, 0, 0, 0, 0]]  # push, pop
    pushed = [[2.2, 0, 0, 0, -0.85, 0], *[[0.0] * hidden] * (cells - 1)]
    looks = [[unit[2], unit[3], *[0.0] * (cells - 2)] for unit in units]
    out = [[0, 0, 0, 0, 0, 20], [0, 0, 40, 40, 0, 0]]
    matrices: list[Sequence[Sequence[float]]] = [in2hid, [[0.0] * hidden] * hidden, actions, pushed, looks, out]
    numbers = "".join(f"{value}," for matrix in matrices for row in matrix for value in row)
    name = "model_ntask1_nchar2_nhid6_nstack1_bptt50_mod1_depth2_noop0_nrep1_hard1_seed1"
    path = tmp_path_factory.mktemp("cpp") / name
    path.write_text(f"2 2 {hidden} 1 {cells} 2 50 1 1 2\n{numbers}\n")
    return path


def mistakes(checkpoint: Checkpoint, specification: Specification | None, words: list[Word]) -> int:
    """Return on how many words the rounded network says something else where it counts."""
    wrong = network_answers(Rounded(checkpoint.model), words) != specification.answers(checkpoint.model, words)
    return int((wrong & specification.scored(words)).any(1).sum())


def test_a_network_that_is_right_after_the_last_letter_is_not_called_wrong_for_want_of_it(path: Path) -> None:
    checkpoint = load_network(path)
    alone, after = specification_for(get_task("anbn")), specification_of(checkpoint)
    assert mistakes(checkpoint, alone, alone.short_words(200)) > 100  # without the letter the first b is wrong
    assert all(list(word[:1]) in ([], ["b"]) for word in after.short_words(200))
    assert mistakes(checkpoint, after, after.short_words(2_000)) == 0
    assert mistakes(checkpoint, after, after.long_words(40, (10, 40), seed=1)) == 0


def test_its_automaton_is_that_of_the_streams_after_the_letter(path: Path) -> None:
    checkpoint = load_network(path)
    found = extract(checkpoint.model, specification_of(checkpoint), replace(SEEN, long_words=300))
    assert found.status == 0
    assert found.automaton.transduce("baabbab")[3:] == ["b", "a", found.automaton.transduce("baabba")[-1], "a"]
