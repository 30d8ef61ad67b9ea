"""Networks built by hand, or trained, with the automata that they follow; how sure they are is drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tests.attack.drawn_networks import Rng

import stacklens
from stacklens.automata.pda import NONE, POP, PushdownAutomaton, Transition, push
from stacklens.languages import get_language
from stacklens.models.io import load_model
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import MarnnConfig, MarnnJoulin, MarnnStackRNN

__all__ = ["COUNTING", "Pair", "built"]

Pair = tuple[Any, PushdownAutomaton]
ZOO = Path(stacklens.__file__).parent / "models" / "zoo"


def built(rng: Rng) -> Pair:
    """Return one of these networks, with its automaton."""
    return BUILT[rng.integers(len(BUILT))](rng)


def dyck(rng: Rng) -> Pair:
    """Return an NNPDA of one neuron for brackets, the drives of its actions drawn, some close to a threshold."""
    net = NNPDA(NNPDAConfig(("(", ")"), "second", 1, trap=bool(rng.random() < 0.5), empty_reading=False))
    up, down = (float(rng.choice([1.0986, 1.2, 3.0, 8.0, 40.0])) for _ in range(2))
    with torch.no_grad():
        net.state_weights.zero_()
        net.state_bias.fill_(40.0)
        net.action_bias.zero_()
        net.action_weights.copy_(torch.tensor([[0.0, 0.0, up, -down]]))
    tops = ("⊥", "(")
    rules: dict[Any, Transition] = {("q", "(", (top,)): Transition("q", (push("("),)) for top in tops}
    rules["q", ")", ("(",)] = Transition("q", (POP,))
    return net, PushdownAutomaton(("q",), ("(", ")"), ("(",), rules, "q", frozenset({"q"}))


def counter(rng: Rng) -> Pair:
    """Return a Stack RNN that pushes at a and pops at b, and says what it read."""
    net = StackRNN(StackRNNConfig(("a", "b"), hidden=2, depth=1, no_op=bool(rng.random() < 0.5), stack_limit=None))
    sure, said = (float(rng.choice([0.5, 2.0, 20.0])) for _ in range(2))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.input_weights.copy_(torch.tensor([[20.0, -20.0], [-20.0, 20.0]]))
        net.action_weights[:2].copy_(torch.tensor([[sure, -sure], [-sure, sure]]))
        net.output_weights.copy_(torch.tensor([[said, -said], [-said, said]]))
    rules: dict[Any, Transition] = {("q", "a", (top,)): Transition("q", (push("A"),), "a") for top in ("⊥", "A")}
    rules["q", "b", ("A",)] = Transition("q", (POP,), "b")
    rules["q", "b", ("⊥",)] = Transition("q", (NONE,), "b")
    return net, PushdownAutomaton(("q",), ("a", "b"), ("A",), rules, "q", frozenset({"q"}), "final state")


def remembering(rng: Rng) -> Pair:
    """Return a Neural Stack that pushes what it reads, a or b, or pops at c, and says what it sees on its stack."""
    net = NeuralStack(NeuralStackConfig(("a", "b", "c"), ("a", "b"), cell_size=1))
    sure = float(rng.choice([2.0, 6.0, 30.0]))
    with torch.no_grad():
        net.net.weight.zero_()
        net.net.weight[:, :3].copy_(
            torch.tensor([[-sure, -sure, sure], [sure, sure, -sure], [20.0, -20.0, 0.0], [0.0] * 3, [0.0] * 3])
        )
        net.net.weight[3:, 3] = torch.tensor([2 * sure, -2 * sure])
        net.net.bias.copy_(torch.tensor([0.0, 0.0, 0.0, -sure, sure]))
    rules: dict[Any, Transition] = {}
    for top, says in (("⊥", "b"), ("A", "a"), ("B", "b")):
        rules["q", "a", (top,)] = Transition("q", (push("A"),), says)
        rules["q", "b", (top,)] = Transition("q", (push("B"),), says)
        rules["q", "c", (top,)] = Transition("q", (NONE if top == "⊥" else POP,), says)
    return net, PushdownAutomaton(("q",), ("a", "b", "c"), ("A", "B"), rules, "q", frozenset({"q"}), "final state")


def next_bracket(rng: Rng) -> Pair:
    """Return a Stack-RNN that foresees both brackets where its stack holds one, else only the opening one."""
    kind = MarnnStackRNN if rng.random() < 0.5 else MarnnJoulin
    shape = MarnnConfig(("(", ")"), 1, 1, "softmax with temperature", float(10.0 ** rng.uniform(-3, 2)), None, ("(",))
    net, sure = kind(shape), float(rng.choice([2.0, 10.0, 40.0]))
    low = -1.0 if kind is MarnnStackRNN else 0.0
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.input_weights.copy_(torch.tensor([[20.0, -20.0]]))
        net.action_weights.copy_(torch.tensor([[sure], [-sure]]))
        net.action_bias.copy_(torch.tensor([-sure, sure]) * (1 + low) / 2)
        net.pushed_bias.fill_(20.0)
        net.output_bias.copy_(torch.tensor([sure, sure]))
    both = ("(", ")")
    rules: dict[Any, Transition] = {
        (state, "(", (top,)): Transition("in", (push("A"),), both) for state in ("start", "in") for top in ("⊥", "A")
    }
    rules["in", ")", ("A",)] = Transition("in", (POP,), both)
    rules["in", ")", ("⊥",)] = Transition("in", (NONE,), both)
    return net, PushdownAutomaton(("start", "in"), both, ("A",), rules, "start", frozenset({"in"}), "final state")


@cache
def trained(name: str) -> Pair:
    return load_model(ZOO / f"nnpda-{name}.pt"), get_language(name).automaton


def from_the_zoo(rng: Rng) -> Pair:
    """Return a trained NNPDA with the automaton of its language."""
    return trained(str(rng.choice(["parentheses", "1n0n", "palindrome"])))


BUILT: tuple[Callable[[Rng], Pair], ...] = (dyck, counter, remembering, next_bracket, from_the_zoo)
COUNTING = BUILT[:3]  # a stack of theirs can be as high as a word is long
