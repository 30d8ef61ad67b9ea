"""Traces of networks, and the check of one's own network."""

import sys
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.extract.certificate.proved import filled
from tests.extract.hand_built import SuperpositionNet, hand_machines
from tests.models.hand_made import parentheses_net
from tests.models.own.networks_of_ones_own import Causal, StackRNN
from tests.models.plain import PlainStack, steps_of
from tests.refusals import refused
from torch import Tensor, nn

import stacklens as sl
from stacklens.automata.pda import POP, Key, PushdownAutomaton, Transition, push
from stacklens.core.errors import StacklensError
from stacklens.languages.language import all_words
from stacklens.models.base import StackModel
from stacklens.models.networks import build_model
from stacklens.models.networks.baselines import Baseline, BaselineConfig
from stacklens.models.networks.joulin import ListRNN, StackRNNConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.stacks import SuperpositionStack
from stacklens.models.wrap import wrap
from stacklens.probe.adapter_check import check
from stacklens.probe.trace import trace
from stacklens.probe.trace_io import rich_step_table

# ---- A trace: its arrays, its steps as a table, and an automaton joined to it. ----

ARRAYS = ("hidden", "actions", "pushed", "reading", "output", "rejected", "symbols", "lengths")
WORDS = ["abcba", "", "c", "abab", "cc"]


def net(end: str | None = None, seed: int = 3) -> NNPDA:
    return NNPDA(NNPDAConfig(("a", "b", "c"), "third", 4, end=end, trap=end is None), seed=seed, init=2.0)


def linear_net(actions: dict[str, float]) -> NNPDA:
    """Return a one-neuron net whose action depends on the input symbol alone, and whose state is always 1/2."""
    table = [*actions.values()] * (2 * (len(actions) + 1))
    return filled(NNPDA(NNPDAConfig(tuple(actions), "full", 1, trap=False)), action_weights=[table])


@pytest.mark.parametrize("rounded", [False, True])
def test_many_words_are_traced_as_each_of_them_alone(rounded: bool) -> None:
    words = [*all_words(("a", "b", "c"), 3), "abcabcabcabc"]
    together = trace(net("e"), words, rounded=rounded)
    for number, word in enumerate(words):
        alone = trace(net("e"), word, rounded=rounded)
        n = len(word) + 1
        for name in ARRAYS:
            mine = getattr(together, name)[number, : n + (name == "hidden")]
            np.testing.assert_allclose(
                mine[..., :n] if name == "lengths" else mine, getattr(alone, name)[0], atol=1e-12
            )
        assert alone.verdicts[0] == together.verdicts[number]


def test_hand_checked_values_of_a_net_that_pushes_three_quarters_and_pops_a_half() -> None:
    seen = trace(linear_net({"a": 0.75, "b": -0.5}), ["aab"])
    assert seen.hidden[0, :, 0].tolist() == [1, 0.5, 0.5, 0.5]
    assert seen.actions[0, :, 0, 0].tolist() == [0.75, 0.75, -0.5]
    assert seen.pushed[0, :, 0].tolist() == [[1, 0], [1, 0], [0, 1]]
    assert seen.reading[0, :, 0].tolist() == [[0, 0], [0.75, 0], [1, 0]]
    assert seen.lengths[0].tolist() == [[0.75, 0, 0], [0.75, 0.75, 0], [0.75, 0.25, 0]]
    assert seen.segments(0, 2) == [("a", 0.75), ("a", 0.25)]
    rounded = trace(linear_net({"a": 0.75, "b": -0.5}), ["aab"], rounded=True)
    assert rounded.actions[0, :, 0, 0].tolist() == [1, 1, 0]
    assert rounded.segments(0, 2) == [("a", 1), ("a", 1)]
    whole = trace(linear_net({"a": 1.0, "b": -1.0}), ["ab" * 40 + "aa"])  # in long words, too, a slot is a step
    assert np.flatnonzero(whole.lengths[0, -1]).tolist() == [80, 81]


@settings(max_examples=40)
@given(seed=st.integers(0, 500), word=st.text("abc", max_size=12))
def test_segments_are_the_papers_arrays(seed: int, word: str) -> None:
    seen = trace(net("e", seed), [word])
    plain = PlainStack()
    for step, symbol in enumerate([*word, "e"]):
        plain.act(float(seen.actions[0, step, 0, 0]), "abce".index(symbol))
        segments = [(s, length) for s, length in seen.segments(0, step) if length > 1e-12]
        expected = [("abce"[s], x) for s, x in zip(plain.symbols, plain.lengths, strict=True) if x > 1e-12]
        assert [s for s, _ in segments] == [s for s, _ in expected]
        assert [x for _, x in segments] == pytest.approx([x for _, x in expected], abs=1e-12)


def test_only_empty_words_have_no_steps_but_a_verdict() -> None:
    seen = trace(net(), ["", ""])
    assert seen.steps.tolist() == [0, 0]
    assert seen.hidden.shape == (2, 1, 4)
    assert seen.verdicts.shape == (2,)
    assert len(seen.to_frame()) == 0
    assert trace(net("e"), "").steps.tolist() == [1]
    assert trace(net(), []).verdicts.shape == (0,)


def test_a_data_frame_has_one_row_a_step() -> None:
    seen = trace(net("e"), WORDS)
    frame = seen.to_frame()
    assert len(frame) == seen.steps.sum()
    assert "".join(frame[frame.word == 0].symbol) == "abcbae"
    assert frame.groupby("word").step.max().tolist() == [n - 1 for n in seen.steps]
    row = frame[(frame.word == 3) & (frame.step == 2)].iloc[0]
    assert row.symbol == "a"
    assert row.hidden_1 == seen.hidden[3, 3, 1]
    assert row.action_0_0 == seen.actions[3, 2, 0, 0]
    assert row.reading_0_2 == seen.reading[3, 2, 0, 2]
    assert row.rejected == seen.rejected[3, 2]
    assert not frame.isna().any().any()


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("marnn-stack-rnn", {"alphabet": "ab", "cell_size": 2, "stack_limit": 4}),
        ("stack-rnn", {"alphabet": "ab", "hidden": 5, "n_stacks": 2}),
        ("baby-ntm", {"alphabet": "ab", "stack_limit": 5}),
        ("list-rnn", {"alphabet": "ab", "hidden": 5, "n_stacks": 2}),
    ],
)
def test_a_trace_keeps_the_cells_after_every_step(name: str, config: dict[str, object]) -> None:
    net, words = build_model(name, config, seed=2), ["abbab", "ba"]
    seen = trace(net, words, stacks=True)
    assert trace(net, words, stacks=False).cells is None
    for number, word in enumerate(words):
        for t, step in enumerate(steps_of(net, word)):
            cells = step.state.stack.topmost(seen.cells.shape[3])
            np.testing.assert_allclose(seen.cells[number, t], cells[0].detach(), atol=1e-12)
    assert np.isnan(seen.cells[1, 2:]).all()


def shown(model: StackModel[Any], *words: str, word: int = 0) -> list[str]:
    """Return the rows of the table as they are printed."""
    lines = StringIO()
    table = rich_step_table(model, trace(model, words), word)
    Console(file=lines, width=120, markup=False, emoji=False).print(table)
    return [line for line in lines.getvalue().splitlines() if line.startswith("│")]


def test_a_step_is_a_row_with_state_action_and_the_stack_bottom_first() -> None:
    cells = [[cell.strip() for cell in row.split("│")[1:-1]] for row in shown(parentheses_net(), "(()")]
    assert [row[:2] for row in cells] == [["1", "("], ["2", "("], ["3", ")"], ["4", "e"]]
    assert [row[3] for row in cells] == ["1.0000", "1.0000", "-1.0000", "0.0000"]
    assert [row[4] for row in cells] == ["( 1.0000", "( 1.0000 ( 1.0000", "( 1.0000", "( 1.0000"]
    assert cells[0][2] == "1.0000 0.0000"


def test_other_stacks_show_operations_pushed_values_readings_and_what_is_said() -> None:
    net = build_model("stack-rnn", {"alphabet": "ab", "hidden": 3, "n_stacks": 2}, seed=1)
    seen, (first, second, *_) = trace(net, ["ab"]), shown(net, "ab")
    one, two = ([cell.strip() for cell in row.split("│")[1:-1]] for row in (first, second))
    push, pop = seen.actions[0, 0, 0]
    assert one[:3] == ["1", "a", f"push {push:.2f}  pop {pop:.2f}"]
    assert one[3:5] == [f"{seen.pushed[0, 0, 0, 0]:.2f}", "-1.00 -1.00"]
    assert one[5] == f"{'ab'[int(seen.output[0, 0].argmax())]} {seen.output[0, 0].max():.2f}"
    assert two[2] == f"push {seen.actions[0, 0, 1, 0]:.2f}  pop {seen.actions[0, 0, 1, 1]:.2f}"


OPENS: dict[Key, Transition] = {("q", "(", (top,)): Transition("q", (push("("),)) for top in ("(", "⊥")}
BRACKETS = PushdownAutomaton(
    ("q",), ("(", ")"), ("(",), {**OPENS, ("q", ")", ("(",)): Transition("q", (POP,))}, "q", acceptance="empty stack"
)


@settings(max_examples=25)
@given(
    machine=hand_machines(["push", "pop", "none"], ["next symbol"]),
    words=st.lists(st.text("ab", max_size=6), min_size=1, max_size=4),
)
def test_the_run_beside_a_trace_is_the_automatons_own(machine: Any, words: list[str]) -> None:
    pda = machine.automaton()
    run = trace(SuperpositionNet(machine, no_op=True), words).with_automaton(pda).joined
    for number, word in enumerate(words):
        configurations = list(pda.run(word))
        for t in range(len(word) + 1):
            if t >= len(configurations):
                assert run.states[number, t] == -1
                assert run.depths[number, t] == -1
            else:
                here = configurations[t]
                assert run.names[run.states[number, t]] == here.state
                assert run.depths[number, t] == len(here.stacks[0])
                shown = [run.symbols[one] for one in run.stacks[number, t, 0]]
                assert shown == [*reversed(here.stacks[0][-3:]), *["⊥"] * 3][:3]


def test_moments_are_chosen_by_word_step_symbol_and_state() -> None:
    seen = trace(parentheses_net(), ["(())", "())(", ""]).with_automaton(BRACKETS)
    assert seen.select(word=1).step.tolist() == [0, 1, 2, 3, 4, 5]
    assert seen.select(word="", step=0).hidden.tolist() == seen.hidden[2:, 0].tolist()
    assert seen.select(step=(2, 3), symbol=")").word.tolist() == [0, 1, 1]
    assert seen.select(state="q", word=1).step.tolist() == [0, 1, 2]
    assert seen.select(word=0).depth.tolist() == [0, 1, 2, 1, 0, 0]  # the end symbol does nothing to the automaton
    assert seen.select(word=0, step=2).below(1).tolist() == ["("]
    assert seen.select(word=0, step=2).below(2).tolist() == ["⊥"]
    chosen = seen.select(symbol=(")",), state=["q"]).to_frame()
    assert chosen[["word", "step", "state", "depth"]].to_numpy().tolist() == [
        [0, 3, "q", 1],
        [0, 4, "q", 0],
        [1, 2, "q", 0],
    ]
    assert np.isnan(seen.select(step=0).pushed()).all()
    assert seen.to_frame().state.tolist()[:5] == ["q"] * 5


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"word": 9}, "there is no word 9: the trace has 1"),
        ({"word": "(("}, r"there is no word '\(\('; expected one of"),
        ({"symbol": "x"}, "there is no symbol 'x'; expected one of"),
        ({"state": "p"}, "there is no state 'p'; expected one of q"),
    ],
)
def test_what_is_not_in_a_trace_cannot_be_chosen(choice: dict[str, Any], message: str) -> None:
    refused(message, trace(parentheses_net(), ["()"]).with_automaton(BRACKETS).select, **choice)


def test_a_joined_trace_is_saved_with_its_automaton(tmp_path: Path) -> None:
    plain = sl.trace("nnpda-parentheses", ["(())", "())"])
    joined = plain.with_automaton(BRACKETS)
    assert joined != plain
    joined.save(tmp_path / "t.npz")
    loaded = sl.load(tmp_path / "t.npz")
    assert loaded == joined
    assert loaded.select(state="q").to_frame().equals(joined.select(state="q").to_frame())
    assert loaded.model.name == plain.model.name


# ---- Steps of a trace, runs that go on from one, and what modules give. ----


CAUSAL = Causal()


def gru_net() -> tuple[nn.Module, StackModel[Any]]:
    torch.manual_seed(0)
    net = nn.ModuleDict({"emb": nn.Embedding(2, 3), "cell": nn.GRUCell(3, 4), "head": nn.Linear(4, 2)})

    def step(x: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        hidden = net["cell"](net["emb"](x), hidden)
        return hidden, net["head"](hidden).sigmoid()

    return net, wrap(net, "ab", step=step, hidden=4, outputs="next set", symbols="index")


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(
    ("network", "words"),
    [
        ("marnn-stack-rnn-dyck-2", ["([])()", "(())[]"]),  # a superposition stack
        ("nnpda-palindrome", ["abcba", "aabba"]),  # a continuous one
        ("neural-stack-reversal", ["0110", "1010"]),  # strengths
        ("baby-ntm-dyck-2", ["([])", "(()["]),  # a ring
        (ListRNN(StackRNNConfig(("a", "b")), seed=1), ["abba", "baba"]),
        (Baseline(BaselineConfig(("a", "b")), seed=1), ["abba", "baba"]),  # none
        (gru_net()[1], ["abba", "baba"]),
        (wrap(CAUSAL, "()", forward=CAUSAL, outputs="next set", activation="sigmoid"), ["(())", "()()"]),
    ],
)
def test_a_run_goes_on_from_a_recorded_step_bit_for_bit(network: Any, words: list[str], rounded: bool) -> None:
    model = sl.load(network) if isinstance(network, str) else network
    whole = sl.trace(model, words, rounded=rounded)
    for size in (0, 1, 2):
        start, later = whole[size - 1] if size else whole.select(step=0), whole[size:]
        rest = sl.trace(model, [tuple(word[size:]) for word in words], rounded=rounded, start=start)
        again = sl.trace(model, [tuple(word[size + 1 :]) for word in words], rounded=rounded, start=rest[0])
        for name in ("hidden", "actions", "pushed", "reading", "output", "rejected", "verdicts", "symbols", "steps"):
            np.testing.assert_array_equal(getattr(rest, name), getattr(later, name), err_msg=name)
        np.testing.assert_array_equal(again.output, later[1:].output)


def test_steps_of_a_trace_are_counted_and_cut_out() -> None:
    _, model = gru_net()
    seen = trace(model, ["abba", "ab"], activations="*")
    assert (len(seen), len(list(seen)), len(seen[1:3]), seen[1:3].words) == (4, 4, 2, ("bb", "b"))
    assert seen[-1].word.tolist() == [0]
    np.testing.assert_array_equal(seen[1].hidden, seen.hidden[:, 2])
    np.testing.assert_array_equal(seen[0:2][1].of("head"), seen.activations["head"][:, 1])
    assert np.isnan(seen.select(step=0).of("output")).all()
    for wrong in (4, -5, True, "a", slice(0, 4, 2)):
        with pytest.raises(IndexError, match="no step"):
            seen[wrong]  # type: ignore[index]
    joined = trace(parentheses_net(), "(())").with_automaton(BRACKETS)
    assert joined[1:3].select(step=0).depth.tolist() == [1]
    refused("does not begin where its automaton does", joined[1:3].with_automaton, BRACKETS)


def test_what_modules_give_is_kept_saved_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net, model = gru_net()
    seen = trace(model, ["abba", "ab"], activations=["emb", "h*"])
    expected = net["emb"](torch.tensor([0, 1, 1, 0])).detach()  # type: ignore[index]
    np.testing.assert_array_equal(seen.activations["emb"][0], expected)
    np.testing.assert_allclose(1 / (1 + np.exp(-seen.activations["head"][0])), seen.output[0], rtol=1e-6)
    assert list(seen.to_frame())[-6:] == ["emb_0", "emb_1", "emb_2", "head_0", "head_1", "rejected"]
    seen.save(tmp_path / "t.npz")
    assert sl.load(tmp_path / "t.npz") == seen != trace(model, ["abba", "ab"])
    seen[1:].save(tmp_path / "t.npz")
    refused("is not in its file", trace, model, "a", start=sl.load(tmp_path / "t.npz").select(word=0, step=1))
    monkeypatch.setattr("stacklens.probe.trace.is_installed", bool)
    monkeypatch.setitem(sys.modules, "xarray", SimpleNamespace(Dataset=lambda arrays, *_: arrays))
    assert seen.to_xarray()["emb"][0] == ("word", "step", "emb_0")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"activations": "heat"}, "no module 'heat' in ModuleDict; expected one of head"),
        ({"activations": ["z*"]}, "no module 'z\\*'"),
        ({"activations": 3}, "no module '3'"),
        ({"activations": [["head"]]}, "no module .*expected one of head"),
        ({"activations": "ModuleDict"}, "module ModuleDict gives no tensor in a step"),
        ({"start": 3}, "start is 3; expected moments of a trace"),
        ({"start": trace(gru_net()[1], ["ab", "b"])[0]}, "start has 2 moments for 1 word"),
        ({"start": trace(net(), "ab")[0]}, "start is of a network that reads a b c"),
        ({"start": replace(trace(gru_net()[1], "ab"), begin="was replaced")[1]}, "of this trace: was replaced"),
    ],
)
def test_what_cannot_be_kept_or_gone_on_from_is_one_line(given: dict[str, Any], message: str) -> None:
    refused(message, trace, gru_net()[1], "ab", **given)


# ---- `check` names the mistake in every adapter that is wrong in one thing, and finds nothing in the right ones.
OWN_WORDS = ["(())()((", "((((()))", "))((", "(", "()()(("]
RNN = StackRNN()
SET: dict[str, Any] = {"stack": "superposition", "outputs": "next set"}


def own(word: str, network: nn.Module = RNN, **options: Any) -> Any:
    return network(torch.tensor([["()".index(symbol) for symbol in word]]), **options)


def stepped(change: Callable[..., Any], **options: Any) -> StackModel[Any]:
    """An adapter whose step is changed on its way out."""
    return wrap(RNN, "()", step=lambda x, h, top: change(*RNN.step(x, h, top)), **SET, **options)


def test_nothing_is_off_in_the_right_ones() -> None:
    assert check(wrap(RNN, "()", step=RNN.step, **SET), own, OWN_WORDS)
    after = wrap(RNN, "()", step=RNN.update, reads="after", output=RNN.output, **SET)
    found = check(after, lambda word: own(word, after=True), OWN_WORDS)
    assert found.ok
    assert str(found).startswith("StackRNN: nothing is off; in 5 words, 27 steps, its outputs and those of its own")
    causal = Causal()
    model = wrap(causal, "()", forward=causal, outputs="next set", activation="sigmoid")
    assert check(model, lambda word: own(word, causal), OWN_WORDS)
    assert check(model, causal, OWN_WORDS)  # which takes no text


WRONG: dict[str, tuple[Callable[[], StackModel[Any]], str, str]] = {
    "swapped shares": (
        lambda: wrap(RNN, "()", step=RNN.step, actions=("push", "none", "pop"), **SET),
        "swapped operations",
        r"with actions=\(pop, none, push\) nothing differs",
    ),
    "rotated shares": (
        lambda: wrap(RNN, "()", step=RNN.step, actions=("none", "push", "pop"), **SET),
        "swapped operations",
        r"with actions=\(pop, none, push\) nothing differs",
    ),
    "another alphabet": (lambda: wrap(RNN, ")(", step=RNN.step, **SET), "alphabet order", r"with the alphabet \( \)"),
    "logits for shares": (
        lambda: stepped(lambda h, _, new, y: (h, RNN.shares(h), new, y)),
        "logits",
        "the actions are .* but logits: take their softmax",
    ),
    "shares that do not sum to 1": (
        lambda: stepped(lambda h, a, new, y: (h, 0.75 * a, new, y)),
        "shares",
        "shares that sum to 0.75 and not to 1",
    ),
    "logits for probabilities": (
        lambda: stepped(lambda h, a, new, _: (h, a, new, 9 * RNN.next_(h) + 2)),
        "logits",
        'the outputs are .* give wrap activation="sigmoid"',
    ),
    "another empty value": (
        lambda: wrap(RNN, "()", step=RNN.step, empty_value=-1.0, **SET),
        "what an empty cell holds",
        "with empty_value=0 nothing differs",
    ),
    "too few cells": (
        lambda: wrap(RNN, "()", step=RNN.step, limit=1, **SET),
        "how many cells there are",
        "with limit=None nothing differs",
    ),
    "no numbers": (
        lambda: stepped(lambda h, a, new, y: (h, a, new / 0, y)),
        "no numbers",
        "the pushed are .*inf",
    ),
    "another network": (
        lambda: stepped(lambda h, a, new, y: (h, a, 1 - new, y)),
        "unknown",
        "part at symbol [23] of .* no known mistake explains it: the first symbol is right, so it is the state or",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", WRONG)
def test_each_mistake_is_named(mistake: str) -> None:
    made, cause, said = WRONG[mistake]
    found = check(made(), own, OWN_WORDS)
    assert (found.ok, found.cause) == (False, cause)
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(str(found))


@pytest.mark.parametrize("activation", ["sigmoid", "softmax"])
def test_probabilities_that_are_taken_for_logits_are_named(activation: Any) -> None:
    causal = Causal()

    def logits(x: Tensor) -> Tensor:
        return 6 * torch.as_tensor(causal(x))

    def probable(x: Tensor) -> Tensor:
        return logits(x).sigmoid() if activation == "sigmoid" else logits(x).softmax(-1)

    made: dict[str, Any] = {"outputs": "next set", "activation": activation, "symbols": "index"}
    wrong, right = wrap(causal, "()", forward=probable, **made), wrap(causal, "()", forward=logits, **made)
    assert check(right, logits, OWN_WORDS)
    assert check(right, probable, OWN_WORDS)  # which only shows what the adapter makes of logits
    found = check(wrong, probable, OWN_WORDS)
    assert found.cause == "probabilities"
    assert "probabilities already, from " in str(found)
    assert f'activation="{activation}" makes 0.' in str(found)
    other = check(wrong, logits, OWN_WORDS)
    assert (other.cause, f"the {activation} is taken twice" in str(other)) == ("probabilities", True)


class _Rounding(SuperpositionStack):
    """A stack that keeps a value only up to 0.5."""

    def next(self, actions: Tensor, pushed: Tensor) -> SuperpositionStack:
        return super().next(actions, pushed.clamp(max=0.5))


class _Mixed(SuperpositionStack):
    """A stack whose select takes the entries in another order."""

    def select(self, index: Tensor) -> Self:
        return super().select(index.flip(0).roll(1))


class _OwnStack:
    def __init__(self, kind: type[SuperpositionStack], upside_down: bool = False) -> None:
        self.kind, self.upside_down = kind, upside_down

    def empty(self, batch: int, n_stacks: int, cell: int, like: Tensor) -> SuperpositionStack:
        return self.kind.empty((batch,), n_stacks, cell, like, depth=2)

    def from_cells(self, cells: Tensor) -> SuperpositionStack:
        return self.kind.from_cells(cells.flip(-2) if self.upside_down else cells, depth=2)


@pytest.mark.parametrize(
    ("stack", "cause"),
    [
        (_OwnStack(SuperpositionStack), None),
        (_OwnStack(_Rounding), "values outside what the stack holds"),
        (_OwnStack(_Mixed), "select"),
        (_OwnStack(SuperpositionStack, upside_down=True), "stack_of"),
    ],
)
def test_stacks_of_one_s_own_that_do_not_keep_what_they_are_given(stack: Any, cause: str | None) -> None:
    def step(x: Tensor, h: Tensor, top: Tensor) -> tuple[Tensor, ...]:
        h, shares, new, y = RNN.step(x, h, top[:, 0])
        return h, shares[:, [2, 0, 1]], new, y

    model = wrap(RNN, "()", step=step, stack=stack, actions=("push", "pop", "none"), outputs="next set", depth=2)
    assert check(model, own, OWN_WORDS).cause == cause


def test_a_forward_pass_that_fails_is_one_line() -> None:
    model = wrap(RNN, "()", step=RNN.step, **SET)
    refused(r"forward\(word\) failed, given word of type str: invalid literal", check, model, int, OWN_WORDS)
    refused(r"forward\(word\) returned a value of type str; expected a tensor", check, model, lambda _: "no", OWN_WORDS)
    with pytest.raises(StacklensError, match=r"SimpleNamespace; .*take it out: lambda word: network\(word\)\.y"):
        check(model, lambda word: SimpleNamespace(y=own(word)), OWN_WORDS)
    assert check(model, lambda word: SimpleNamespace(logits=own(word)), OWN_WORDS)
    refused(r"give some words of one symbol or more over \( \)", check, model, own, [""])
