"""What is read inside a network, and what changes when a step is changed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.hand_built import HandMachine, Place, Rule, StrengthNet, SuperpositionNet, hand_machines
from tests.models.hand_made import parentheses_net
from tests.models.own.networks_of_ones_own import TOKENS, GptModel, GruModel
from tests.probe.causal.mechanisms import BRACKETS
from tests.probe.plain_interventions import PlainNNPDA, PlainStackRNN
from tests.refusals import refused
from torch import nn

import stacklens as sl
from stacklens.automata.pda import Word
from stacklens.core.errors import StacklensError
from stacklens.languages.catalogue import get_language
from stacklens.languages.language import all_words
from stacklens.models.base import StackModel
from stacklens.models.networks.baselines import Baseline, BaselineConfig
from stacklens.models.networks.joulin import ListRNN, StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnStackLSTM, MarnnStackRNN
from stacklens.probe.attribution import Ablated, _without_each_unit, ablations, origins, saliency
from stacklens.probe.geometry import distances, horizon_curve, linear_probes
from stacklens.probe.intervene import intervene
from stacklens.probe.trace import Trace, trace

# ---- Linear probes, ablations, geometry and saliency. ----

WORDS: list[Word] = get_language("dyck-2").sample(120, (2, 24), True, 0)


def joined() -> Trace:
    """Return a trace whose hidden vectors are the height, and a unit for each symbol that is on top."""
    seen = trace(sl.load("marnn-stack-rnn-dyck-2-drifting"), WORDS, stacks=False).with_automaton(BRACKETS)
    tops = seen.joined.stacks[:, :, 0, :1] == np.arange(len(seen.joined.symbols))
    return replace(seen, hidden=np.concatenate([seen.joined.depths[..., None], tops], -1).astype(float))


def test_what_a_hidden_vector_holds_is_found_on_longer_words() -> None:
    found = linear_probes(joined(), targets=("depth", "top", "position"))
    assert found["top"].accuracy > 0.95
    assert found["top"].majority < 0.5
    assert found["top"].selectivity > 0.3
    assert found["depth"].by_depth[1] > 0.95
    assert found["position"].accuracy < 0.3  # held-out lengths have positions that training did not show
    assert list(found.to_frame().target) == ["depth", "top", "position"]
    assert "tested on longer ones" in str(found)


def test_vectors_that_hold_nothing_are_no_better_than_the_majority() -> None:
    seen = joined()
    noise = np.random.default_rng(0).normal(size=seen.hidden.shape)
    for probe in linear_probes(replace(seen, hidden=noise), targets=("top", "depth")).probes:
        assert probe.accuracy <= probe.majority + 0.05


def test_what_cannot_be_probed_is_told() -> None:
    with pytest.raises(StacklensError, match="there is no probe for 'colour'; expected some of state, depth"):
        linear_probes(joined(), targets=("colour",))
    refused("no words of length <= 1", linear_probes, joined(), longest=1)
    refused("join one with", linear_probes, sl.trace("marnn-stack-rnn-dyck-2-drifting", WORDS))
    refused("no hidden vector to probe", linear_probes, sl.trace("neural-stack-reversal", ["01", "1"]))


ABLATION_WORDS = all_words(("a", "b"), 4)[1:]


def counter(n_stacks: int = 2) -> HandMachine:
    """Return a machine that pushes a's and pops b's on its first stack, never looks at another, and says the top."""
    rules: dict[Place, Rule] = {}
    for x in (0, 1):
        for top in (-1, 0):
            windows = ((top,), *((other,) for other in (-1,) * (n_stacks - 1)))
            moves = (("push" if x == 0 else "pop", 0), *(("none", 0),) * (n_stacks - 1))
            rules[0, x, windows] = Rule(0, moves, int(top == 0))  # type: ignore[arg-type]
    return HandMachine(1, ("a", "b"), 1, n_stacks, 1, "next symbol", rules, frozenset())


def test_what_matters_stands_first_and_what_does_not_costs_nothing() -> None:
    found = ablations(SuperpositionNet(counter(), no_op=True), ABLATION_WORDS)
    costs = {(one.kind, one.name): found.whole.accuracy - one.accuracy for one in found.rows}
    assert found.whole.accuracy == 1.0
    assert costs["stack", "stack 2"] == 0
    assert costs["operation", "push"] > costs["operation", "pop"] > 0
    assert costs["stack", "stack 1"] == costs["operation", "push"]  # an empty stack either way
    ranked = [one.accuracy for one in found.rows]
    assert ranked == sorted(ranked)
    # without a push the stack is always empty: wrong is every word that is to see something there
    wrong = sum("a" in word[:-1] for word in ABLATION_WORDS)
    assert costs["operation", "push"] == pytest.approx(wrong / len(ABLATION_WORDS))


@pytest.mark.parametrize("role", ["state", "actions", "pushed", "output"])
def test_a_unit_is_left_out_in_one_role_only(role: str) -> None:
    net = MarnnStackRNN(MarnnConfig(("(", ")"), hidden=3), seed=2)
    names = {"state": "hidden", "actions": "action", "pushed": "pushed", "output": "output"}
    silenced = MarnnStackRNN(MarnnConfig(("(", ")"), hidden=3), seed=2)
    with torch.no_grad():
        silenced.get_parameter(f"{names[role]}_weights")[:, 1] = 0
    ((found, *_),) = [one for one in _without_each_unit(net) if one[2:] == ("h2", role)]
    assert np.array_equal(trace(found, "(()").output, trace(silenced, "(()").output)
    plain = PlainStackRNN(silenced, False)
    for symbol in (0, 0, 1):
        plain.read(symbol)
    assert trace(found, "(()").output[0, -1] == pytest.approx(plain.output, abs=1e-9)


def test_operations_of_every_kind_of_action_can_be_left_out() -> None:
    words = ["(())", "())", "(("]
    signed = parentheses_net()
    assert trace(Ablated(signed, operation=0), words).actions[:, 0].max() <= 0
    assert np.nanmin(trace(Ablated(signed, operation=1), words).actions) >= 0
    assert np.nanmax(trace(Ablated(StrengthNet(counter(1)), operation=1), "aab").actions[..., 1]) == 0
    shares = trace(Ablated(SuperpositionNet(counter(1), no_op=True), operation=0), "aab").actions
    assert shares.sum(-1) == pytest.approx(1)
    assert shares[..., 0].max() == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=12))
def test_distances_are_those_of_a_double_loop(points: list[tuple[int, float, float]]) -> None:
    vectors, groups = np.array([point[1:] for point in points]), np.array([f"q{point[0]}" for point in points])
    found = distances(vectors, groups)
    for number, name in enumerate(found.names):
        mine = [vector for vector, group in zip(vectors, groups, strict=True) if group == name]
        centre = sum(mine) / len(mine)
        assert found.sizes[number] == len(mine)
        assert found.within[number] == pytest.approx(np.mean([np.hypot(*(one - centre)) for one in mine]), abs=1e-9)
    assert np.array(found.between) == pytest.approx(np.array(found.between).T)
    assert list(found.to_frame().group) == list(found.names)


def test_a_soft_network_parts_where_its_answers_do() -> None:
    words = ["[()]" * 14]
    curve = sl.horizon_curve("marnn-stack-rnn-dyck-2-drifting", words)
    soft, rounded = (sl.trace("marnn-stack-rnn-dyck-2-drifting", words, rounded=way) for way in (False, True))
    broken = ((soft.output > 0.5) != (rounded.output > 0.5)).any(-1)[0] | (soft.rejected != rounded.rejected)[0]
    assert curve.first == (int(broken.argmax()) + 1 if broken.any() else None)
    assert list(curve.to_frame().columns) == ["steps", "running", "distance", "agreeing"]


@settings(max_examples=10)
@given(word=st.text("()", min_size=2, max_size=6), seed=st.integers(0, 20))
def test_saliency_is_the_slope_of_the_margin_when_what_was_pushed_is_moved(word: str, seed: int) -> None:
    """Finite differences in a plain network that knows no gradient."""
    net = MarnnStackRNN(MarnnConfig(("(", ")"), hidden=4), seed=seed)
    found = saliency(net, word)
    codes = ["()".index(symbol) for symbol in word]

    def shifted(by: float) -> Callable[[list[float], list[float]], None]:
        def change(_: list[float], pushed: list[float]) -> None:
            pushed[0] += by

        return change

    def margin(moved: int, by: float) -> float:
        run = PlainStackRNN(net, False)
        for t, code in enumerate(codes):
            run.read(code, shifted(by * (t == moved)))
        return sum(abs(one - 0.5) for one in run.output)

    last = len(word) - 1
    for step in range(last):
        slope = (margin(step, 1e-6) - margin(step, -1e-6)) / 2e-6
        assert found.pushed[last, step] == pytest.approx(abs(slope), abs=1e-6)
    assert not np.triu(found.pushed).any()


def test_the_top_comes_from_the_step_that_laid_it() -> None:
    assert origins(BRACKETS, "([()])", 6).tolist() == [-1, 0, 1, 2, 1, 0]
    found = sl.saliency("marnn-stack-rnn-dyck-2-drifting", "([()[]])", BRACKETS)
    assert found.origin.tolist() == [-1, 0, 1, 2, 1, 4, 1, 0]
    assert 0 <= found.agreement <= 1
    assert len(found.to_frame()) == 8
    assert "([()[]]): pushes agree" in str(found)
    assert np.isnan(saliency(MarnnStackRNN(MarnnConfig(("(", ")"))), "()").agreement)  # no automaton, no origins


def test_the_first_word_that_parts_is_shown_up_to_where_it_does() -> None:
    net = sl.load("marnn-stack-rnn-dyck-2-drifting")
    words = ["()" * 60, "()" + "[()]" * 15, "([])" * 13 + "()()"]
    found = horizon_curve(net, words)
    assert len(found.parting) == found.first
    assert found.parting in [word[: found.first] for word in words]
    assert str(found).endswith(f"\nthe first word parts at step {found.first}, after\n{found.parting}")
    again = horizon_curve(net, [found.parting])
    assert (again.first, again.parting) == (found.first, found.parting)
    before = horizon_curve(net, [found.parting[:-1]])
    assert (before.first, before.parting) == (None, None)
    assert str(before).endswith("\nno word parts")
    long = replace(found, parting="()" * 300)
    assert str(long).endswith(f"parts at step {found.first}; the word is in the `parting` of sl.horizon_curve")


def test_a_network_without_actions_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stacklens.probe.geometry.trace", None)  # nothing is run
    with pytest.raises(StacklensError, match="the rnn has no stack whose actions could be rounded: rounded it is itse"):
        sl.horizon_curve(Baseline(BaselineConfig(("(", ")"), "rnn")))


INTERVENE_WORDS = st.text("()", min_size=1, max_size=7)


def stack_rnn(seed: int = 3, cells: int = 2) -> MarnnStackRNN:
    net = MarnnStackRNN(MarnnConfig(("(", ")"), hidden=4, cell_size=cells), seed=seed)
    net.load_state_dict({name: 4 * value for name, value in net.state_dict().items()})
    return net.double()


@settings(max_examples=25)
@given(word=INTERVENE_WORDS, seed=st.integers(0, 50), rounded=st.booleans(), data=st.data())
def test_other_actions_and_pushed_values_reach_the_stack_of_that_step_only(
    word: str, seed: int, rounded: bool, data: st.DataObject
) -> None:
    net, at = stack_rnn(seed), data.draw(st.integers(0, len(word) - 1))
    wanted = {"actions": [0.25, 0.75], "pushed": [0.5, -0.5]}
    chosen = {x: wanted[x] for x in data.draw(st.sampled_from((("actions",), ("pushed",), ("actions", "pushed"))))}
    plain = PlainStackRNN(net, rounded)
    for symbol in word[:at]:
        plain.read("()".index(symbol))

    def change(actions: list[float], pushed: list[float]) -> None:
        actions[:], pushed[:] = chosen.get("actions", actions), chosen.get("pushed", pushed)

    plain.read("()".index(word[at]), change)
    for symbol in word[at + 1 :]:
        plain.read("()".index(symbol))
    seen = intervene(net, word, at, chosen, rounded=rounded)
    assert seen.hidden[0, -1] == pytest.approx(plain.hidden, abs=1e-9)
    assert seen.cells[0, -1, 0] == pytest.approx(np.array(plain.cells[: len(word)]), abs=1e-9)


@settings(max_examples=20)
@given(word=st.text("abc", min_size=1, max_size=6), seed=st.integers(0, 50), rounded=st.booleans(), data=st.data())
def test_a_continuous_stack_with_another_vector_action_or_height_is_that_of_a_plain_one(
    word: str, seed: int, rounded: bool, data: st.DataObject
) -> None:
    net = NNPDA(NNPDAConfig(("a", "b", "c"), trap=False), seed=seed, init=2.0)
    at = data.draw(st.integers(0, len(word) - 1))
    plain = PlainNNPDA(net, rounded)
    for symbol in word[:at]:
        plain.read("abc".index(symbol))
    part = data.draw(st.sampled_from(("hidden", "actions", "height")))
    value: Any = {"hidden": [0.9, 0.1, 0.3, 0.7], "actions": [0.75], "height": plain.stack.length / 2}[part]
    if part == "hidden":
        plain.hidden = value
    if part == "height":
        plain.stack.act(-plain.stack.length / 2, 0)
    plain.read("abc".index(word[at]), value[0] if part == "actions" else None)
    for symbol in word[at + 1 :]:
        plain.read("abc".index(symbol))
    seen = intervene(net, word, at, {part: value}, rounded=rounded)
    assert seen.hidden[0, -1] == pytest.approx(plain.hidden, abs=1e-9)
    assert seen.lengths[0, -1].sum() == pytest.approx(plain.stack.length, abs=1e-9)


@settings(max_examples=30)
@given(
    machine=hand_machines(["push", "pop", "none"], ["next symbol", "recognition"]),
    words=st.lists(st.text("ab", max_size=5), min_size=1, max_size=4),
    data=st.data(),
)
@pytest.mark.parametrize("kind", ["superposition", "strengths"])
def test_everything_of_another_run_together_makes_the_network_go_on_as_that_run(
    machine: Any, words: list[str], kind: str, data: st.DataObject
) -> None:
    net: StackModel[Any] = SuperpositionNet(machine, no_op=True) if kind == "superposition" else StrengthNet(machine)
    others = data.draw(st.lists(st.text("ab", max_size=5), min_size=len(words), max_size=len(words)))
    tail = "abba"
    at = np.array([len(word) for word in words])
    seen = intervene(
        net, [word + tail for word in words], at, ("hidden", "cells"), from_word=others, cell=None, rounded=True
    )
    plain = trace(net, [other + tail for other in others], rounded=True)
    for row, (word, other) in enumerate(zip(words, others, strict=True)):
        ours, theirs = seen.output[row, len(word) :][: len(tail)], plain.output[row, len(other) :][: len(tail)]
        assert np.array_equal(ours, theirs)


def test_setting_what_is_there_anyway_changes_nothing_at_all() -> None:
    nets: list[StackModel[Any]] = [
        stack_rnn(),
        MarnnStackLSTM(MarnnConfig(("(", ")")), seed=1),
        BabyNTM(MarnnConfig(("(", ")"), stack_limit=9), seed=1),
        StackRNN(StackRNNConfig(("(", ")"), n_stacks=2, hidden=5), seed=1),
        ListRNN(StackRNNConfig(("(", ")"), n_stacks=2, hidden=5), seed=1),
        NeuralStack(NeuralStackConfig(("(", ")"), controller="rnn"), seed=1),
        NNPDA(NNPDAConfig(("(", ")")), seed=1, init=1.0),
        Baseline(BaselineConfig(("(", ")"), "lstm"), seed=1),
    ]
    words = ["(())", "()", "((("]
    at = np.array([2, 0, 3])
    for net in nets:
        for rounded in (False, True):
            plain = trace(net, words, rounded=rounded)
            for part, cell in (("hidden", 0), ("cells", 1), ("cells", None)):
                if part == "hidden" or net.n_stacks:
                    seen = intervene(net, words, at, part, from_word=words, from_step=at, cell=cell, rounded=rounded)
                    for name in ("hidden", "output"):
                        ours, theirs = getattr(seen, name), getattr(plain, name)
                        assert ours == pytest.approx(theirs, abs=1e-9, nan_ok=True), (net.name, part, cell, name)
            if net.n_stacks:
                whole = intervene(net, words, 0, {"actions": "rounded"}, rounded=True)
                assert np.array_equal(whole.hidden, trace(net, words, rounded=True).hidden, equal_nan=True)


def test_zero_mean_rounded_and_the_centre_of_a_state_are_what_they_say() -> None:
    net, word = stack_rnn(), "(()"
    plain = trace(net, word)
    assert intervene(net, word, 2, {"hidden": "zero"}).hidden[0, 2].tolist() == [0.0] * 4
    several = intervene(net, word, 2, {"hidden": "mean"}, reference=[word, ")"])
    seen = np.vstack([plain.hidden[0, 1:], trace(net, ")").hidden[0, 1:]])  # and nothing after a word's end
    assert several.hidden[0, 2] == pytest.approx(seen.mean(0))
    signs = intervene(net, word, 2, {"hidden": "rounded"}).hidden[0, 2]
    assert signs.tolist() == np.where(plain.hidden[0, 2] > 0, 1.0, -1.0).tolist()
    # a machine of two states that take turns, whatever is read
    rules: dict[Place, Rule] = {
        (s, x, ((c,),)): Rule(1 - s, (("push", 0),), 0) for s in (0, 1) for x in (0, 1) for c in (-1, 0)
    }
    turns = HandMachine(2, ("(", ")"), 1, 1, 1, "next symbol", rules, frozenset()).automaton()
    reference = ["((()", "))))"]
    found = intervene(net, word, 1, {"hidden": "centre"}, automaton=turns, reference=reference)
    assert found.hidden[0, 1] == pytest.approx(trace(net, reference).hidden[:, 1::2].reshape(-1, 4).mean(0))


def test_the_height_of_a_rounded_stack_is_how_many_cells_it_keeps() -> None:
    rules: dict[Place, Rule] = {(0, x, ((c,),)): Rule(0, (("push", 0),), 0) for x in (0, 1) for c in (-1, 0)}
    machine = HandMachine(1, ("a", "b"), 1, 1, 1, "next symbol", rules, frozenset())
    net = SuperpositionNet(machine, no_op=True)
    seen = intervene(net, "aaaaa", 3, {"height": 1}, rounded=True)
    assert [int((row != 0).sum()) for row in seen.cells[0, :, 0, :, 0]] == [1, 2, 1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"set": "tops"}, "there is no part 'tops' to set; expected one of hidden, actions, pushed, cells, height"),
        ({"set": {"hidden": "centre of it"}}, "hidden cannot be set to 'centre of it'; expected numbers, or a funct"),
        ({"set": "hidden"}, "no source: name another run with from_word"),
        ({"set": {"hidden": "centre"}}, "no clusters: give the automaton"),
        ({"set": {"hidden": [1.0]}}, r"hidden cannot be set to numbers of shape \(1,\); expected \(4,\)"),
        ({"set": {"hidden": [float("nan")] * 4}}, "not finite"),
        ({"set": {"hidden": "zero"}, "at": 5}, "no step 5 of a word of length 4"),
        ({"set": {"hidden": "zero"}, "at": -1}, "at is -1; expected 0 or more"),
        ({"set": {"hidden": "zero"}, "at": [1, 2]}, "expected a whole number, or one for each of 1 words"),
        ({"set": {"hidden": "zero"}, "units": [4]}, "there are no units"),
        ({"set": {"pushed": 0}, "at": 4}, "pushed are of a step; step 4 comes after the last one"),
        ({"set": {"pushed": "centre"}}, "pushed cannot be set to 'centre'; expected numbers"),
        ({"set": {"cells": 0}, "stack": 1}, "there is no stack 1"),
        ({"set": {"cells": 0}, "cell": None}, "can only be set to those of a"),
        ({"set": {"cells": "mean"}}, "cells cannot be set to 'mean'"),
        ({"set": {"height": 1}}, "soft actions leave the stack of a rounded|soft actions leave the stack"),
        ({"set": {"height": 9}, "rounded": True}, "height cannot be set to 9: the stack is"),
        ({"set": {"height": "zero"}, "rounded": True}, "height cannot be set to 'zero'; expected numbers"),
        ({"set": "hidden", "from_word": ["(", "("]}, "2 sources for 1 words"),
        ({"set": "actions", "from_word": "(", "from_step": 1}, "its last one is its length less 1"),
        ({"set": {"actions": [-2, 5]}}, "actions cannot be set to -2, 5; expected the shares of push, pop, each"),
        ({"set": {"actions": 1}}, "actions cannot be set to 1, 1; expected the shares of push, pop, each from 0 to 1,"),
        ({"set": {"actions": [0.5, 0.4]}}, "actions cannot be set to 0.5, 0.4; expected the shares"),
        ({"set": 3}, "set is 3; expected names of parts, or a dictionary of parts and values"),
        ({"set": {"hidden": 0}, "units": "x"}, r"there are no units \['x'\]: the marnn-stack-rnn has 4, from 0"),
        ({"set": {"cells": 0}, "stack": "x"}, "there is no stack 'x'"),
        ({"set": {"cells": 0}, "cells": 1}, "intervene has no choice cells; it has from_word, from_step, units, stack"),
        ({"set": {"hidden": object()}}, "hidden cannot be set to <object"),
        ({"set": {"hidden": lambda old: old[:, :2]}}, r"by its function, .* of shape \(1, 2\); expected \(4,\)"),
        ({"set": {"pushed": lambda old: old / 0}}, "pushed, by its function, cannot be set to .* not finite"),
        ({"set": {"hidden": lambda old: old @ old}}, r"the function for hidden failed, given hidden \(1, 4\): mat1"),
        ({"set": {"cells": [].append}}, "the function for cells returned None; expected a tensor of shape"),
        ({"set": {"actions": lambda old: old + 1}}, "actions cannot be set to .*; expected the shares"),
        ({"set": "hidden", "at": "all", "from_word": "("}, "hidden cannot be set so in every step"),
    ],
)
def test_what_cannot_be_set_is_told_in_one_line(arguments: dict[str, Any], message: str) -> None:
    refused(message, intervene, stack_rnn(), "(())", **{"at": 2, **arguments})


@pytest.mark.parametrize("rounded", [False, True])
def test_a_function_gives_what_numbers_would(rounded: bool) -> None:
    net, words, at = stack_rnn(), ["(()", "()"], [2, 1]
    plain = trace(net, words, rounded=rounded)
    for part in ("hidden", "pushed"):
        numbers = getattr(plain, part)[[0, 1], at] / 2
        one, other = (intervene(net, words, at, {part: way}, rounded=rounded) for way in (numbers, lambda old: old / 2))
        assert one == other != plain
    changed = intervene(net, "(()", 2, {"cells": lambda old: old + 1}, rounded=rounded).cells
    assert changed[0, 1, 0, 0] == pytest.approx(plain.cells[0, 1, 0, 0] + 1)
    assert intervene(net, "(()", 2, {"height": lambda high: high * 0}, rounded=True).rounded
    assert not intervene(net, words, "all", {"hidden": torch.zeros_like}, rounded=rounded).hidden[0].any()


@pytest.mark.parametrize(("net", "part"), [(GptModel(), "embed"), (GptModel(), "layer"), (GruModel(), "gru")])
def test_what_a_module_gives_is_set_at_a_symbol_as_a_hook_of_torch_would(net: nn.Module, part: str) -> None:
    model = sl.wrap(net.eval(), TOKENS, forward=net, bos="<s>", eos="</s>", pad="<pad>")

    def hook(_module: nn.Module, _given: object, answer: Any) -> None:
        (answer[0] if isinstance(answer, tuple) else answer)[:, 2] = 1

    with getattr(net, part).register_forward_hook(hook), torch.no_grad():
        answer = net(torch.tensor([[1, 3, 4, 3]]))
    expected = answer[1] if isinstance(answer, tuple) else answer.logits
    seen = sl.intervene(model, "()(", at=1, set={part: torch.ones_like}, activations=["head", part])
    assert seen.activations["head"][0, 1:] == pytest.approx(expected[0, 2:].numpy(), abs=1e-5)
    assert (seen.activations[part][0, 1] == 1).all()
    own = sl.intervene(model, "()(", at=1, set=part, from_word="()")  # of a run that was the same up to there
    assert own.output == pytest.approx(sl.trace(model, "()(").output, abs=1e-5)


def test_actions_are_those_that_a_network_of_the_kind_could_have() -> None:
    nnpda, strengths = NNPDA(NNPDAConfig(("(", ")")), seed=1), NeuralStack(NeuralStackConfig(("(", ")")), seed=1)
    for beyond in (7, -1.5):
        with pytest.raises(StacklensError, match=f"actions cannot be set to {beyond}; expected a number from -1, pop"):
            intervene(nnpda, "(())", 2, {"actions": [beyond]})
    for pair in ([-0.5, 0.5], [0.5, 1.5]):
        with pytest.raises(StacklensError, match="expected how much is popped and pushed, each from 0 to 1"):
            intervene(strengths, "(())", 2, {"actions": pair})
    with pytest.raises(StacklensError, match=r"set to 0\.9, 0\.3; expected the shares"):  # the second of two words
        intervene(stack_rnn(), ["(", ")"], 0, {"actions": [[[0.5, 0.5]], [[0.9, 0.3]]]})
    assert intervene(nnpda, "(())", 2, {"actions": -1}).actions[0, 2, 0].tolist() == [-1]
    assert intervene(strengths, "(())", 2, {"actions": 1}).actions[0, 2, 0].tolist() == [1, 1]
    assert intervene(stack_rnn(), "(())", 2, {"actions": [0.333, 0.666]}).actions[0, 2, 0].tolist() == [0.333, 0.666]
