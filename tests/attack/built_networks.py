"""Networks built by hand, or trained, with the automata that they follow; how sure they are is drawn."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import torch
from tests.attack.drawn_networks import Rng
from tests.extract.certificate.proved import filled, recogniser

from stacklens.automata.pda import NONE, POP, PushdownAutomaton, StackOp, Transition, push
from stacklens.automata.rewriting import top_in_state
from stacklens.models.networks.joulin import ListRNN, StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnJoulin, MarnnStackRNN
from stacklens.models.views import ListsAsStacks, RingAsTwoStacks

Pair = tuple[Any, PushdownAutomaton]


def built(rng: Rng) -> Pair:
    """Return one of these networks, with its automaton."""
    return BUILT[rng.integers(len(BUILT))](rng)


def dyck(rng: Rng) -> Pair:
    """Return an NNPDA of one neuron for brackets, the drives of its actions drawn, some close to a threshold."""
    net = NNPDA(NNPDAConfig(("(", ")"), "second", 1, trap=bool(rng.random() < 0.5), empty_reading=False))
    up, down = (float(rng.choice([1.0986, 1.2, 3.0, 8.0, 40.0])) for _ in range(2))
    filled(net, state_bias=40.0, action_weights=torch.tensor([[0.0, 0.0, up, -down]]))
    tops = ("⊥", "(")
    rules: dict[Any, Transition] = {("q", "(", (top,)): Transition("q", (push("("),)) for top in tops}
    rules["q", ")", ("(",)] = Transition("q", (POP,))
    return net, PushdownAutomaton(("q",), ("(", ")"), ("(",), rules, "q", frozenset({"q"}))


def one_left(rng: Rng) -> Pair:
    """Return an NNPDA that accepts where one bracket is left open, and pops that at the end; no end of a word is legal
    where nothing is there to pop.
    """
    trap = bool(rng.random() < 0.5)
    net = NNPDA(NNPDAConfig(("(", ")"), "second", 1, end="$", trap=trap, empty_reading=False))
    up, down, last = (float(rng.choice([1.2, 3.0, 8.0])) for _ in range(3))
    filled(net, state_bias=40.0, action_weights=torch.tensor([[0.0, 0.0, 0.0, up, -down, -last]]))
    rules: dict[Any, Transition] = {("q", "(", (top,)): Transition("q", (push("("),)) for top in ("⊥", "(")}
    rules |= {("q", letter, ("(",)): Transition(target, (POP,)) for letter, target in ((")", "q"), ("$", "f"))}
    pda = PushdownAutomaton(("q", "f"), ("(", ")"), ("(",), rules, "q", frozenset({"f"}), "both", end_marker="$")
    return net, pda


def counter(rng: Rng) -> Pair:
    """Return a Stack RNN that pushes at a and pops at b, and says what it read."""
    net = StackRNN(StackRNNConfig(("a", "b"), hidden=2, depth=1, no_op=bool(rng.random() < 0.5), stack_limit=None))
    sure, said = (float(rng.choice([0.5, 2.0, 20.0])) for _ in range(2))
    filled(net, input_weights=[[20.0, -20.0], [-20.0, 20.0]], output_weights=[[said, -said], [-said, said]])
    net.action_weights.data[:2] = torch.tensor([[sure, -sure], [-sure, sure]])
    rules: dict[Any, Transition] = {("q", "a", (top,)): Transition("q", (push("A"),), "a") for top in ("⊥", "A")}
    rules["q", "b", ("A",)] = Transition("q", (POP,), "b")
    rules["q", "b", ("⊥",)] = Transition("q", (NONE,), "b")
    return net, PushdownAutomaton(("q",), ("a", "b"), ("A",), rules, "q", frozenset({"q"}), "final state")


def remembering(rng: Rng) -> Pair:
    """Return a Neural Stack that pushes what it reads, a or b, or pops at c, and says what it sees on its stack."""
    net = NeuralStack(NeuralStackConfig(("a", "b", "c"), ("a", "b"), cell_size=1))
    sure = float(rng.choice([2.0, 6.0, 30.0]))
    acts = [[-sure, -sure, sure, 0.0], [sure, sure, -sure, 0.0]]
    says = [[0.0, 0.0, 0.0, 2 * sure], [0.0, 0.0, 0.0, -2 * sure]]
    filled(net, weight=[*acts, [20.0, -20.0, 0.0, 0.0], *says], bias=[0.0, 0.0, 0.0, -sure, sure])
    rules: dict[Any, Transition] = {}
    for top, said in (("⊥", "b"), ("A", "a"), ("B", "b")):
        rules["q", "a", (top,)] = Transition("q", (push("A"),), said)
        rules["q", "b", (top,)] = Transition("q", (push("B"),), said)
        rules["q", "c", (top,)] = Transition("q", (NONE if top == "⊥" else POP,), said)
    return net, PushdownAutomaton(("q",), ("a", "b", "c"), ("A", "B"), rules, "q", frozenset({"q"}), "final state")


def next_bracket(rng: Rng) -> Pair:
    """Return a Stack-RNN that foresees both brackets where its stack holds one, else only the opening one."""
    kind = MarnnStackRNN if rng.random() < 0.5 else MarnnJoulin
    shape = MarnnConfig(("(", ")"), 1, 1, "softmax with temperature", float(10.0 ** rng.uniform(-3, 2)), None, ("(",))
    net, sure = kind(shape), float(rng.choice([2.0, 10.0, 40.0]))
    low = -1.0 if kind is MarnnStackRNN else 0.0
    filled(net, input_weights=[[20.0, -20.0]], action_weights=[[sure], [-sure]], pushed_bias=20.0, output_bias=sure)
    net.action_bias.data[:] = torch.tensor([-sure, sure]) * (1 + low) / 2
    both = ("(", ")")
    rules: dict[Any, Transition] = {
        (state, "(", (top,)): Transition("in", (push("A"),), both) for state in ("start", "in") for top in ("⊥", "A")
    }
    rules["in", ")", ("A",)] = Transition("in", (POP,), both)
    rules["in", ")", ("⊥",)] = Transition("in", (NONE,), both)
    return net, PushdownAutomaton(("start", "in"), both, ("A",), rules, "start", frozenset({"in"}), "final state")


def alternating(rng: Rng) -> Pair:
    """Return a Stack-RNN that foresees the letter that it has not read last, and pushes at a and pops at b."""
    net, sure = MarnnStackRNN(MarnnConfig(("a", "b"), 1, 1, "softmax", 1.0, None)), float(rng.choice([2.0, 10.0, 40.0]))
    says = [[-sure], [sure]]
    filled(net, input_weights=[[20.0, -20.0]], action_weights=[[sure], [-sure]], pushed_bias=20.0, output_weights=says)
    rules: dict[Any, Transition] = {(q, "a", ("⊥",)): Transition("a", (push("A"),), ("b",)) for q in ("start", "b")}
    rules |= {
        ("a", "b", ("A",)): Transition("b", (POP,), ("a",)),
        ("start", "b", ("⊥",)): Transition("b", (NONE,), ("a",)),
    }
    states = ("start", "a", "b")
    return net, PushdownAutomaton(states, ("a", "b"), ("A",), rules, "start", frozenset(states), "final state")


def brackets_on_a_ring(rng: Rng, adds: float = -80.0, turns: tuple[int, int] | None = None) -> Pair:
    """Return a Baby-NTM that foresees a closing bracket where one is open, and the automaton of its right stack.

    A cell is 1, or 1/2 where it is the lowest one; what a pop adds to the cell that it uncovers is the sigmoid of
    ``adds``. ``turns`` are the places of the operations that push and pop.
    """
    cells, sure = int(rng.integers(6, 105)), float(rng.choice([2.0, 10.0, 40.0]))
    net = BabyNTM(MarnnConfig(("(", ")"), 4, 1, stack_limit=cells, first=("(",)))
    up, down = turns or ((3, 1), (3, 4), (0, 4))[rng.integers(3)]  # nothing that rotates left is read again
    filled(net)
    with torch.no_grad():
        # units: which bracket, whether the first cell is 1, whether there is one; the last is 0, and shows that cell
        net.input_weights[0] = torch.tensor([20.0, -20.0])
        net.memory_weights[3] = 1.0
        net.hidden_weights[1:3, 3], net.input_bias[1:3] = 40.0, torch.tensor([-30.0, -10.0])
        net.action_weights[up, 0], net.action_weights[down, 0] = sure, -sure
        net.pushed_weights[0, 0], net.pushed_weights[0, 2], net.pushed_bias[0] = (40 - adds) / 2, 20.0, adds / 2
        net.output_bias.copy_(torch.tensor([sure, sure / 2]))
        net.output_weights[1, :2] = sure
    one, both = ("(",), ("(", ")")
    rules: dict[Any, Transition] = {
        ("q", "(", (top,)): Transition("q", (push("1/2" if top == "⊥" else "1"),), both) for top in ("⊥", "1/2", "1")
    }
    rules |= {("q", ")", (top,)): Transition("q", (POP,), one if top == "1/2" else both) for top in ("1/2", "1")}
    pda = PushdownAutomaton(("q",), both, ("1/2", "1"), rules, "q", frozenset({"q"}), "final state")
    return RingAsTwoStacks(net), top_in_state(pda)


def moving_head(rng: Rng) -> Pair:
    """Return a List RNN that inserts at a, moves left at b and right at c, and says a where its head was on an a."""
    net = ListRNN(StackRNNConfig(("a", "b", "c"), hidden=4, depth=1, no_op=bool(rng.random() < 0.5), stack_limit=None))
    sure = float(rng.choice([2.0, 10.0, 30.0]))
    filled(net, pushed_weights=20.0)
    with torch.no_grad():
        net.input_weights[:, :3] = 40.0 * torch.eye(3) - 20.0
        net.memory_weights[3] = 20.0
        net.action_weights[:3, :3] = sure * torch.eye(3)
        net.output_weights[0, 3], net.output_weights[1, :3] = sure, sure / 2
    cells, rules = {"⊥": "E", "E": "E", "A": "A"}, dict[Any, Transition]()
    for left, right in product(cells, repeat=2):
        says = "a" if left == "A" else "b"
        rules["q", "a", (left, right)] = Transition("q", (push("A"), NONE), says)
        rules["q", "b", (left, right)] = Transition("q", (NONE if left == "⊥" else POP, push(cells[left])), says)
        rules["q", "c", (left, right)] = Transition("q", (push(cells[right]), NONE if right == "⊥" else POP), says)
    states, letters = ("q",), ("a", "b", "c")
    pda = PushdownAutomaton(states, letters, ("A", "E"), rules, "q", frozenset(states), "final state", n_stacks=2)
    return ListsAsStacks(net), pda


def last_letter(rng: Rng, beside: str = "push") -> Pair:
    """Return a Stack RNN that pushes at a and pops at b, and says which letter came before.

    That it sees on a second stack, on which it lays every letter, or does what is ``beside`` that at b; the automaton
    has it as its state.
    """
    net = StackRNN(StackRNNConfig(("a", "b"), hidden=3, n_stacks=2, depth=1, no_op=True, stack_limit=None))
    sure, kinds = float(rng.choice([2.0, 10.0, 40.0])), ("push", "pop", "none")
    reads, pushes = [[20.0, -20.0, -20.0], [-20.0, 20.0, -20.0]], [[20.0, 20.0, 0.0], [40.0, -40.0, 0.0]]
    filled(net, input_weights=reads, pushed_weights=pushes)
    with torch.no_grad():
        net.memory_weights[2, 1] = 40.0
        net.action_weights[0, 0] = net.action_weights[1, 1] = net.action_weights[3, 0] = sure
        net.action_weights[3 + kinds.index(beside), 1] = sure
        net.output_weights[0, 2], net.output_weights[1, :2] = sure, sure / 2
    rules: dict[Any, Transition] = {}
    for state, says in (("start", "b"), ("a", "a"), ("b", "b")):
        rules |= {(state, "a", (top,)): Transition("a", (push("A"),), says) for top in ("⊥", "A")}
        rules |= {(state, "b", (top,)): Transition("b", (NONE if top == "⊥" else POP,), says) for top in ("⊥", "A")}
    states = ("start", "a", "b")
    return net, PushdownAutomaton(states, ("a", "b"), ("A",), rules, "start", frozenset(states), "final state")


def two_counters(rng: Rng, depth: int | None = None) -> Pair:
    """Return a Stack RNN of two stacks for a drawn machine, whose state is the letter read last.

    A stack symbol says how many cells are seen, so up to ``depth``. Half of the machines read letters in order only and
    do with each always the same, as far as they can: what they do after several pops in a row they do nowhere else.
    """
    letters, depth = ("a", "b", "c"), int(rng.integers(1, 3)) if depth is None else depth
    names, ordered = ("⊥", "A", "AA")[: depth + 1], bool(rng.random() < 0.5)
    always = np.array([[0, rng.integers(3)], *rng.choice(3, (2, 2), p=(0.25, 0.5, 0.25))])
    rules: dict[Any, Transition] = {}
    for state, letter, *tops in product(range(3), range(3), names, names):
        moves = always[letter] if ordered else rng.choice(3, 2, p=(0.35, 0.4, 0.25))
        operations = tuple(_moved(names, top, move) for top, move in zip(tops, moves, strict=True))
        if state <= letter if ordered else rng.random() < 0.9:
            rules[letters[state], letters[letter], tuple(tops)] = Transition(
                letters[letter], operations, str(rng.choice(letters))
            )
    pda = PushdownAutomaton(letters, letters, names[1:], rules, "a", frozenset(letters), "final state", n_stacks=2)
    return table_network(pda, depth, float(rng.choice([14.0, 20.0, 40.0]))), pda


def _moved(names: tuple[str, ...], top: str, move: int) -> StackOp:
    higher = names[min(names.index(top) + 1, len(names) - 1)]
    return (push(higher), NONE if top == "⊥" else POP, NONE)[move]


def table_network(pda: PushdownAutomaton, depth: int, sure: float) -> StackRNN:
    """Return the Stack RNN that does what ``pda`` does, with a unit for every transition, and one for every letter.

    The states of ``pda`` are the letters read last, the first one at the start, and its stack symbols are A for the
    lowest cell and AA above.
    """
    heads, letters = list(pda.transitions), pda.input_alphabet
    shape = StackRNNConfig(letters, 3 + len(heads), pda.n_stacks, depth, no_op=True, recurrent=True, stack_limit=None)
    net = StackRNN(shape)
    kinds = [(True, False), (False, True), (False, False)]  # whether it pushes, and pops
    seen = {"⊥": (-0.5, 0.0), "A": (0.5, -0.5), "AA": (0.0, 0.5)}  # cells are (-1, -1), (1, -1) and (1, 1)
    filled(net, pushed_weights=sure)
    with torch.no_grad():
        net.input_weights[:, :3] = sure * (torch.eye(3) - 0.5)
        for unit, (state, letter, tops) in enumerate(heads, start=3):
            step, needed = pda.transitions[state, letter, tops], 3.5 - (state == "a")
            for stack, top in enumerate(tops):
                weights = seen[top] if depth == 2 else (0.5 - (top == "⊥"), 0.0)
                net.memory_weights[unit, stack * depth : (stack + 1) * depth] = sure * torch.tensor(weights[:depth])
                needed -= 0.5 * (sum(weights[:depth]) != 0)
                did = kinds.index((step.operations[stack].push is not None, step.operations[stack].pop))
                net.action_weights[3 * stack + did, unit] = sure
            before = torch.tensor([0.0, -1.0, -1.0]) if state == "a" else torch.eye(3)[letters.index(state)]
            net.recurrent_weights[unit, :3] = sure * before
            net.input_weights[:, unit] = -sure * needed
            net.input_weights[letters.index(letter), unit] += sure
            net.output_weights[letters.index(str(step.output)), unit] = sure
    return net


def from_the_zoo(rng: Rng) -> Pair:
    """Return a trained NNPDA with the automaton of its language."""
    return recogniser(str(rng.choice(["parentheses", "1n0n", "palindrome"])))


BUILT: tuple[Callable[[Rng], Pair], ...] = (
    *(dyck, counter, remembering, one_left, next_bracket, alternating, two_counters, from_the_zoo),
    *(brackets_on_a_ring, moving_head, last_letter),
)
COUNTING = BUILT[:3]  # a stack of theirs can be as high as a word is long
