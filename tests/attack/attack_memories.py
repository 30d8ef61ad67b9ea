"""Networks whose memory is no stack against memories on plain lists: views of rings and lists, and buffered networks.

The controller is the network's own; what is written anew is the memory, and what is read off it in the end.
"""

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import torch
from tests.attack.campaign import Attack
from torch import Tensor

from stacklens.extract.agreement import Certified
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.models.inference import automaton_answers, written_on
from stacklens.models.networks.joulin import ListRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import BufferedConfig, BufferedNeuralStack
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig
from stacklens.models.rounding import Rounded
from stacklens.models.views import BufferSteps, RingAsTwoStacks, letters_seen, views_of

_LETTERS = ("a", "b", "c")
_NEAR = 1e-9  # decisions nearer than this to another may fall either way
_QUICK = ExtractionConfig(
    max_length=5,
    long_words=60,
    long_lengths=(6, 14),
    height=3,
    climbs=1,
    walks=4,
    cycles=2,
    shortening=1_000,
    budget=3.0,
)


def _drawn(net: Any, rng: Random) -> Any:
    """Return the network with steep weights, drawn."""
    generator = torch.Generator().manual_seed(rng.randrange(2**31))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(
                torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype) * 10 ** rng.uniform(0, 1)
            )
    return net.eval()


def _decided(shares: Tensor) -> int | None:
    first, second = shares.sort(descending=True).values[:2].tolist()
    return int(shares.argmax()) if first - second > _NEAR else None


@torch.no_grad()
def _rings(seed: int) -> Counter[str]:
    """A ring of cells turned on a list against its view as two stacks, for as long as their ends cannot meet."""
    rng, tried = Random(seed), Counter[str]()
    for _ in range(6):
        cells = rng.randint(20, 40)
        size = rng.randint(1, 2)
        net = _drawn(BabyNTM(MarnnConfig(_LETTERS, rng.randint(1, 6), size, stack_limit=cells)), rng)
        view = RingAsTwoStacks(net)
        for _ in range(4):
            hidden, state = net.initial_state(1).hidden, view.initial_state(1)
            empty = hidden.new_zeros(size)
            ring = [empty] * cells
            for step in range(cells - 1):  # so many steps cannot bring the ends together
                letter = torch.tensor([rng.randrange(len(_LETTERS))])
                answer = net.controller(letter, hidden, ring[0][None, None])
                operation = _decided(answer.actions[0, 0])
                if operation is None:
                    break
                value = answer.pushed[0, 0]
                if operation in (0, 3):  # rotate right, pop right: the last cell comes first
                    ring = [ring[-1], *ring[:-1]]
                if operation in (1, 4):
                    ring = [*ring[1:], ring[0]]
                if operation == 3:
                    ring[0] = empty
                if operation == 4:
                    ring[-1] = empty
                ring[0] = ring[0] + value
                seen = view.step(letter, state)
                hidden, state = answer.hidden, seen.state
                assert torch.equal(seen.output, answer.output), f"ring, seed {seed}, step {step}"
                tried["steps of rings"] += 1
    return tried


@torch.no_grad()
def _lists(seed: int) -> Counter[str]:
    """Lists with a head that moves, each a Python list with an index, against their view as two stacks each."""
    rng, tried = Random(seed), Counter[str]()
    for _ in range(6):
        n_lists, depth = rng.randint(1, 3), rng.randint(1, 2)
        shape = StackRNNConfig(_LETTERS, rng.randint(1, 6), n_lists, depth, no_op=rng.random() < 0.5, stack_limit=200)
        net = _drawn(ListRNN(shape), rng)
        view = views_of(net)[0]
        for _ in range(4):
            tapes = [[-1.0] for _ in range(n_lists)]
            heads = [0] * n_lists
            hidden, state = net.initial_state(1).hidden, view.initial_state(1)
            for step in range(40):
                letter = torch.tensor([rng.randrange(len(_LETTERS))])
                shown = [_seen(tape, head, depth) for tape, head in zip(tapes, heads, strict=True)]
                answer = net.controller(letter, hidden, torch.tensor([shown], dtype=hidden.dtype))
                operations = [_decided(shares) for shares in answer.actions[0]]
                if None in operations:
                    break
                for i, operation in enumerate(operations):
                    heads[i] = _moved(tapes[i], heads[i], operation, float(answer.pushed[0, i, 0]))
                seen = view.step(letter, state)
                hidden, state = answer.hidden, seen.state
                assert torch.allclose(seen.output, answer.output, atol=1e-9), f"lists, seed {seed}, step {step}"
                tried["steps of lists"] += 1
    return tried


def _seen(tape: list[float], head: int, depth: int) -> list[float]:
    return [tape[head - i] if head >= i else -1.0 for i in range(depth)]


def _moved(tape: list[float], head: int, operation: int | None, value: float) -> int:
    """Insert, go left or right, or stay; the list has as many empty cells on both sides as are asked for."""
    if operation == 0:
        tape.insert(head + 1, value)
        return head + 1
    if operation == 1 and head == 0:
        tape.insert(0, -1.0)
        return 0
    if operation == 2 and head == len(tape) - 1:
        tape.append(-1.0)
    return head + {1: -1, 2: 1}.get(operation or 0, 0)


class Buffered:
    """A rounded buffered network on one word: a queue and a stack that are lists, and all that it writes."""

    def __init__(self, net: BufferedNeuralStack, word: tuple[str, ...]) -> None:
        queue = [net.alphabet.index(letter) for letter in (*word, *net.reads_on)]
        steps = len(queue) * (1 + net.extra_steps)
        stack, hidden = list[Tensor](), net.initial_state(1).hidden
        self.seen, self.written, self.sure = list[str](), list[int](), True
        nothing = BufferSteps(net).nothing_left
        for _ in range(steps):
            front = torch.zeros(len(net.alphabet), dtype=hidden.dtype)
            if queue:
                front[queue[0]] = 1
            top = stack[-1] if stack else torch.zeros(net.cell_size, dtype=hidden.dtype)
            answer = net.controller(torch.tensor([0]), hidden, torch.cat([front, top])[None, None])
            hidden = answer.hidden
            self.seen.append(net.alphabet[queue[0]] if queue else nothing)
            pop, push, done, writes = (value >= 0.5 for value in answer.actions[0, 0].tolist())
            self.sure &= bool(((answer.actions[0, 0] - 0.5).abs() > _NEAR).all())
            if pop and stack:
                stack.pop()
            if push:
                stack.append(answer.pushed[0, 0])
            if done and queue:
                queue.pop(0)
            if writes:
                self.sure &= _decided(answer.output[0]) is not None
                self.written.append(int(answer.output[0].argmax()))
        answered = self.written[net.skipped :][: len(word)]
        self.answers = answered + [-1] * (len(word) - len(answered))


@torch.no_grad()
def _in_whole_steps(shape: BufferedConfig, rng: Random) -> BufferedNeuralStack:
    """Return a linear network that pushes one of a few values, with strengths that are nearly whole everywhere."""
    net = BufferedNeuralStack(replace(shape, controller="linear"))
    for parameter in net.net.parameters():
        values = [rng.choice((-12.0, -12.0, 0.0, 12.0, 12.0)) for _ in range(parameter.numel())]
        parameter.copy_(torch.tensor(values, dtype=parameter.dtype).reshape(parameter.shape))
    own = [rng.choice((-5.0, 5.0)) for _ in range(len(net.net.bias))]
    net.net.bias.add_(torch.tensor(own, dtype=net.net.bias.dtype))
    if rng.random() < 0.5:  # it reads a letter and writes a symbol in every step
        net.net.weight[2:4], net.net.bias[2:4] = 0.0, 12.0
    return net


@torch.no_grad()
def _buffers(seed: int) -> Counter[str]:
    """Rounded buffered networks on lists: what they see and write, and what an automaton read out of one writes."""
    rng, tried = Random(seed), Counter[str]()
    null = rng.choice((None, "#"))
    shape = BufferedConfig(
        ("a", "b") if null is None else ("a", "b", null),
        controller=rng.choice(("linear", "linear", "rnn")),
        hidden=rng.randint(1, 3),
        cell_size=rng.randint(1, 2),
        null=null,
        extra_steps=rng.randint(0, 1),
        dequeue_first=rng.random() < 0.5,
    )
    net = _drawn(BufferedNeuralStack(shape), rng) if rng.random() < 0.4 else _in_whole_steps(shape, rng)
    words = [word for n in range(6) for word in product(net.alphabet, repeat=n)]
    words += [tuple(rng.choices(net.alphabet, k=rng.randint(8, 30))) for _ in range(20)]
    runs = [Buffered(net, word) for word in words]
    written, seen = written_on(Rounded(net), words).tolist(), letters_seen(BufferSteps(net), words)
    for word, run, said, letters in zip(words, runs, written, seen, strict=True):
        if run.sure:
            assert said[: len(word)] == run.answers, f"buffered, seed {seed}, on {word}"
            assert list(letters) == run.seen, f"buffered, seed {seed}, on {word}"
            tried["words"] += 1
    result = extract(net, None, _QUICK)
    tried[f"status {result.status}"] += 1
    if result.minimised is None:
        return tried
    tried["with ε-steps"] += not result.automaton.real_time
    ours = automaton_answers(result.automaton, net, words).tolist()
    wrong = [w for w, run, said in zip(words, runs, ours, strict=True) if run.sure and said[: len(w)] != run.answers]
    if result.status == 0:
        assert not [word for word in wrong if len(word) <= 5], f"status 0, seed {seed}, and wrong on {wrong[:3]}"
    if isinstance(result.certificate.certificate, Certified):
        tried["certificates"] += 1
        tried[f"certificates: {net.skipped} late, {len(result.automaton.states)} states"] += 1
        blocks = [rng.choices(net.alphabet, k=rng.randint(1, 6)) for _ in range(20)]
        long = [tuple(rng.choices(net.alphabet, k=120)) for _ in range(10)] + [tuple(some * 25) for some in blocks]
        for word, said in zip(
            [*words, *long], automaton_answers(result.automaton, net, [*words, *long]).tolist(), strict=True
        ):
            assert said[: len(word)] == Buffered(net, word).answers, f"certified, seed {seed}, and other on {word}"
    for check in result.checks:
        if check.other == "rounded network" and check.counterexample is not None:
            run = Buffered(net, tuple(check.counterexample))
            mine = automaton_answers(result.automaton, net, [check.counterexample]).tolist()[0]
            assert not run.sure or mine != run.answers, f"no counterexample, seed {seed}: {check}"
            tried["counterexamples"] += 1
    return tried


ATTACKS: tuple[Attack, ...] = (
    Attack("memories: rings on lists against their view as two stacks", _rings),
    Attack("memories: lists with heads against their view as stacks", _lists),
    Attack("memories: buffered networks on lists, and their automata", _buffers),
)
