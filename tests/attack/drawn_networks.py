"""Networks with drawn weights, and the automata that they look like: a table of what they were seen to do."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from tests.attack.plain_networks import Overflowed, Plain

from stacklens.automata.pda import NONE, POP, PushdownAutomaton, Transition, push
from stacklens.automata.pda import replace as replaced
from stacklens.models.networks.joulin import ListRNN, StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnJoulin, MarnnStackLSTM, MarnnStackRNN
from stacklens.models.views import ListsAsStacks, RingAsTwoStacks

Rng = np.random.Generator
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
KINDS = (
    *("nnpda", "stack-rnn", "marnn-stack-rnn", "marnn-stack-lstm", "marnn-joulin", "neural-stack"),
    *("baby-ntm", "list-rnn"),
)


def drawn_shape(rng: Rng, kind: str) -> Any:
    """Return a network of this kind, small, its shape drawn; on a ring or on lists as its view on stacks."""
    alphabet, size = ("a", "b", "c")[: rng.integers(1, 4)], int(rng.integers(1, 5))

    def coin() -> bool:
        return bool(rng.random() < 0.5)

    if kind == "nnpda":
        order: Any = str(rng.choice(["second", "third", "full"]))
        end = "$" if rng.random() < 0.3 else None
        return NNPDA(NNPDAConfig(alphabet, order, min(size, 3), end, coin(), coin()))
    if kind in ("stack-rnn", "list-rnn"):
        stacks, depth = int(rng.integers(1, 3)), int(rng.integers(1, 3))
        limit = None if coin() else 64
        config = StackRNNConfig(alphabet, size, stacks, depth, coin(), coin(), limit)
        return StackRNN(config) if kind == "stack-rnn" else ListsAsStacks(ListRNN(config))
    if kind == "neural-stack":
        controller: Any = str(rng.choice(["linear", "rnn", "lstm"]))
        return NeuralStack(
            NeuralStackConfig(alphabet, ("x", "y")[: rng.integers(1, 3)], controller, size, int(rng.integers(1, 3)))
        )
    gating: Any = str(rng.choice(["softmax", "softmax with temperature", "gumbel-softmax"]))
    shape = MarnnConfig(
        alphabet,
        size,
        int(rng.integers(1, 3)),
        gating,
        float(10.0 ** rng.uniform(-8, 3)) if coin() else 1.0,
        None if coin() else 64,
        first=(alphabet[0],) if coin() else None,
        task_kind="next set" if coin() else "transduction",
    )
    if kind == "baby-ntm":
        return RingAsTwoStacks(BabyNTM(replace(shape, stack_limit=int(rng.integers(8, 105)))))
    return {"marnn-stack-rnn": MarnnStackRNN, "marnn-stack-lstm": MarnnStackLSTM, "marnn-joulin": MarnnJoulin}[kind](
        shape
    )


def drawn(rng: Rng, kind: str) -> Any:
    """Return a network with drawn weights, whose sizes spread over six powers of ten, in a drawn number format."""
    model, scale = drawn_shape(rng, kind), 10.0 ** rng.uniform(-3, 3)
    dtype = DTYPES[rng.integers(len(DTYPES))]
    steep = rng.random() < 0.5  # so that hidden units are near their ends
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            own = scale * 10.0 ** rng.uniform(-1, 1)
            if steep:
                own = 10.0 ** rng.uniform(0.5, 2)
            if "bias" in name and rng.random() < 0.5:
                own *= 3
            if any(part in name for part in ("memory_weights", "recurrent", "hidden_weights", "weight_hh")):
                own *= rng.choice([0.0, 0.1, 1.0])
            values = rng.normal(size=tuple(parameter.shape)) * own
            largest = float(torch.finfo(dtype).max)
            parameter.copy_(torch.from_numpy(np.clip(values, -largest, largest)))
    return model.to(dtype).eval()


class Head(NamedTuple):
    state: str
    symbol: str
    tops: tuple[str, ...]


def named(cells: tuple[str, ...], depth: int) -> str:
    """Return the name of a window, top first."""
    return "/".join((*cells[:depth], *["_"] * (depth - len(cells)))) if cells else "⊥"


class Watcher:
    """What a network does on words, tabulated: states are the bits of hidden units, symbols those of pushed values."""

    def __init__(self, model: Any, rng: Rng) -> None:
        self.model, self.rng, self.table = model, rng, dict[Head, tuple[Any, ...]]()
        self.accepting: set[str] = set()
        self.conflict = False

    def automaton(self, words: int = 25, length: int = 24) -> PushdownAutomaton | None:
        """Return the automaton that was seen; None where one head did two things, or a number was none."""
        try:
            for _ in range(words):
                self._watch(length)
        except Overflowed:
            return None
        return None if self.conflict or not self.table else self._built()

    def _state(self, net: Plain) -> str:
        said = "" if net.kind != "next set" or net.output is None else "".join(sorted(net.output))
        cut = 0.5 if net.name in ("nnpda", "stack-rnn", "list-rnn", "marnn-joulin") else 0.0
        bits = "".join("1" if value > cut else "0" for value in net.hidden[: net.size].tolist())
        if net.name == "baby-ntm":  # the first cell is beside its stacks
            bits += "".join("1" if value > 0.5 else "0" for value in net.stacks[0].cells[0].tolist())
        return f"s{bits}{said}" if self.model.recurrent else f"s{said}"

    def _watch(self, length: int) -> None:
        model = self.model
        net, state = Plain(model, None), "start"
        stacks: list[tuple[str, ...]] = [()] * model.n_stacks
        taste = self.rng.exponential(size=len(model.alphabet))
        for _ in range(length):
            if model.end is not None:
                self._step(net.copy(), state, stacks, len(model.alphabet))
            elif model.task_kind == "recognition" and net.copy().hidden[-1] > 0.5:
                self.accepting.add(state)
            letter = int(self.rng.choice(len(taste), p=taste / taste.sum()))
            after = self._step(net, state, stacks, letter)
            if after is None:
                return
            state = after

    def _step(self, net: Plain, state: str, stacks: list[tuple[str, ...]], letter: int) -> str | None:
        model, depth = self.model, self.model.depth
        tops = tuple(named(stack, depth) for stack in stacks)
        head = Head(state, model.letters[letter], tops)
        seen = net.step(letter)
        if seen.rejected:
            return None
        after = self._state(net)
        operations, ending = [], letter == len(model.alphabet)
        for i, (operation, value) in enumerate(zip(seen.operations, seen.pushed, strict=True)):
            pops, pushes = operation in (1, 3) and bool(stacks[i]), operation in (2, 3)
            below = stacks[i][1:] if pops else stacks[i]
            name = "v" + "".join("1" if number > 0.5 else "0" for number in value.tolist())
            new = (name, *below) if pushes else below
            top = named(new, depth)
            operations.append(replaced(top) if pops and pushes else push(top) if pushes else POP if pops else NONE)
            if not ending:
                stacks[i] = new
        output = tuple(sorted(seen.output)) if isinstance(seen.output, frozenset) else seen.output
        did = (after, tuple(operations), output)
        if self.table.setdefault(head, did) != did:
            self.conflict = True
        if ending and net.hidden[-1] > 0.5:
            self.accepting.add(after)
        return after

    def _built(self) -> PushdownAutomaton:
        model = self.model
        states = {
            "start": None,
            **{head.state: None for head in self.table},
            **{did[0]: None for did in self.table.values()},
        }
        pushed = {op.push: None for _, operations, _ in self.table.values() for op in operations if op.push}
        tops = {top: None for head in self.table for top in head.tops if top != "⊥"}
        recogniser = model.task_kind == "recognition"
        return PushdownAutomaton(
            states=tuple(states),
            input_alphabet=model.alphabet,
            stack_alphabet=tuple(pushed | tops),
            transitions={tuple(head): Transition(*did) for head, did in self.table.items()},  # type: ignore[misc]
            initial="start",
            accepting=frozenset(self.accepting if recogniser else states),
            acceptance="both" if recogniser else "final state",
            n_stacks=model.n_stacks,
            end_marker=model.end,
        )
