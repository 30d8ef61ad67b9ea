from __future__ import annotations

import math
from typing import get_args

import pytest
import torch
from torch import Tensor, nn

from stacklens.errors import StacklensError
from stacklens.models.buffered import BufferedConfig, BufferedNeuralStack, BufferedRun
from stacklens.models.neural_stack import ControllerKind

KINDS = get_args(ControllerKind)
LETTERS = ("0", "1", "2")
WORDS = torch.tensor([[0, 1, 2, 2, 1], [2, 0, 0, -1, -1], [1, -1, -1, -1, -1]])

Items = list[tuple[list[float], float]]  # values and strengths, what leaves first first


def build(
    kind: ControllerKind, *, seed: int = 0, nets: int | None = None, dequeue_first: bool = True
) -> BufferedNeuralStack:
    shape = BufferedConfig(LETTERS, ("x", "y"), controller=kind, hidden=4, cell_size=2, dequeue_first=dequeue_first)
    net = BufferedNeuralStack(shape, seed=seed, nets=nets)
    with torch.no_grad():
        net.net.bias.add_(torch.tensor([1.2, 0.2, -0.8, -0.9, 0, 0, 0, 0]))  # strengths on both sides of 0.5
    return net


def dequeue(items: Items, strength: float) -> Items:
    kept = []
    for value, own in items:
        kept.append((value, max(0.0, own - strength)))
        strength = max(0.0, strength - own)
    return kept


def read(items: Items, size: int) -> list[float]:
    total, left_over = [0.0] * size, 1.0
    for value, own in items:
        total = [whole + min(own, left_over) * part for whole, part in zip(total, value, strict=True)]
        left_over = max(0.0, left_over - own)
    return total


def plain_run(
    net: BufferedNeuralStack, word: list[int], steps: int, outputs: int, rounded: bool
) -> dict[str, list[list[float]]]:
    """Return what the equations of section 2.3 give on one word, item by item."""
    weights = net.net.state_dict()
    cell = {"rnn": nn.RNNCell, "lstm": nn.LSTMCell}.get(net.shape.controller)
    recurrent = None if cell is None else cell(5, 4, dtype=torch.float64)
    if recurrent is not None:
        recurrent.load_state_dict({key: value for key, value in weights.items() if "_" in key})
    queue: Items = [([float(symbol == i) for i in range(3)], 1.0) for symbol in word]
    written: Items = []
    stack: Items = []  # the top first
    pop_input, hidden, seen = 0.0, None, dict[str, list[list[float]]](inputs=[], reading=[], strengths=[], output=[])
    for _ in range(steps):
        queue = dequeue(queue, pop_input)
        x, r = read(queue, 3), read(stack, 2)
        features = torch.tensor([x + r], dtype=torch.float64)
        if recurrent is not None:
            hidden = recurrent(features, hidden)
            features = hidden[0] if isinstance(hidden, tuple) else hidden
        z = (weights["weight"] @ features[0] + weights["bias"]).tolist()
        u, d, i, o, *v = [1 / (1 + math.exp(-part)) for part in z[:6]]
        u, d, i, o = [float(part >= 0.5) if rounded else part for part in (u, d, i, o)]
        stack = [(v, d), *dequeue(stack, u)]
        written.append((z[6:], o))
        pop_input = i
        seen["inputs"].append(x)
        seen["reading"].append(r)
        seen["strengths"].append([u, d, i, o])
    for k in range(outputs):
        if k > 0 or net.shape.dequeue_first:
            written = dequeue(written, 1)
        y = [math.exp(part) for part in read(written, 2)]
        seen["output"].append([part / sum(y) for part in y])
    return seen


def strengths_of(run: BufferedRun) -> Tensor:
    return torch.cat([run.actions, run.input_pops.unsqueeze(-1), run.output_pushes.unsqueeze(-1)], -1)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("dequeue_first", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_a_batch_runs_as_the_equations_do_word_by_word(
    kind: ControllerKind, dequeue_first: bool, rounded: bool
) -> None:
    net = build(kind, seed=2, dequeue_first=dequeue_first)
    run = net.run(WORDS, 9, outputs=6, rounded=rounded)
    for n, word in enumerate(WORDS.tolist()):
        plain = plain_run(net, [symbol for symbol in word if symbol >= 0], 9, 6, rounded)
        ours = {"inputs": run.inputs, "reading": run.reading, "strengths": strengths_of(run), "output": run.output}
        for name, values in ours.items():
            expected = torch.tensor(plain[name], dtype=torch.float64)
            torch.testing.assert_close(values[n], expected, atol=1e-12, rtol=0)


def test_the_tests_networks_mix_all_strengths() -> None:
    strengths = torch.cat([strengths_of(build(kind, seed=2).run(WORDS, 9, rounded=True)) for kind in KINDS])
    assert strengths.mean((0, 1)).tolist() == pytest.approx([0.5] * 4, abs=0.45)


def test_what_is_left_of_the_input_goes_down_by_what_was_popped() -> None:
    run = build("rnn").run(WORDS, 9)
    lengths = torch.tensor([5.0, 3.0, 1.0], dtype=torch.float64)
    gone = torch.cat([torch.zeros(3, 1), run.input_pops.cumsum(-1)[:, :-1]], -1)
    torch.testing.assert_close(run.left.sum(-1), torch.relu(lengths.unsqueeze(-1) - gone))
    torch.testing.assert_close(run.inputs.sum(-1), run.left.sum(-1).clamp(max=1))


def test_shapes_and_what_was_never_written() -> None:
    run = build("lstm").run(WORDS, 4, outputs=7)
    assert (run.inputs.shape, run.left.shape, run.hidden.shape) == ((3, 4, 3), (3, 4, 5), (3, 4, 8))
    assert (run.logits.shape, run.written.shape, run.output.shape) == ((3, 4, 2), (3, 7), (3, 7, 2))
    assert run.written[:, 4:].abs().sum() == 0
    assert (run.output[:, 4:] == 0.5).all()
    assert build("linear").run(WORDS, 4).output.shape == (3, 5, 2)
    assert build("linear").run(WORDS[:, :0], 4).output.shape == (3, 0, 2)


def test_whole_strengths_make_it_a_transducer_that_copies_with_a_delay() -> None:
    net = BufferedNeuralStack(BufferedConfig(("a", "b"), cell_size=1, dequeue_first=False))
    with torch.no_grad():
        net.net.weight.zero_()
        net.net.weight[5:, :2] = 10 * torch.eye(2)
        net.net.bias.copy_(torch.tensor([-1.0, -1, 1, 1, 0, 0, 0]))  # read and write at every step
        assert net.run(torch.tensor([[0, 1, 1, 0]]), 4, rounded=True).output.argmax(-1).tolist() == [[0, 1, 1, 0]]
        net.net.bias[3] = -1  # write nothing
        assert net.run(torch.tensor([[0, 1, 1, 0]]), 4, rounded=True).written.sum() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_exact_and_reach_every_weight(kind: ControllerKind) -> None:
    net = build(kind, seed=1)
    names = ["net." + name for name, _ in net.named_parameters()]

    def output(*values: Tensor) -> Tensor:
        weights = dict(zip(names, values, strict=True))
        result: Tensor = torch.func.functional_call(_Outputs(net), weights, (WORDS,))
        return result

    values = [value.detach().clone().requires_grad_() for value in net.parameters()]
    assert torch.autograd.gradcheck(output, values)
    grads = torch.autograd.grad(output(*values)[..., 0].sum(), values)
    assert all(grad.abs().sum() > 0 for grad in grads)


class _Outputs(nn.Module):
    def __init__(self, net: BufferedNeuralStack) -> None:
        super().__init__()
        self.net = net

    def forward(self, symbols: Tensor) -> Tensor:
        return self.net.run(symbols, 7).output


@pytest.mark.parametrize("kind", KINDS)
def test_networks_side_by_side_are_those_of_their_own_seeds(kind: ControllerKind) -> None:
    together = build(kind, seed=5, nets=3).run(WORDS, 8)
    for n in range(3):
        alone = build(kind, seed=5 + n).run(WORDS, 8)
        torch.testing.assert_close(together.output[n], alone.output, atol=1e-13, rtol=0)
        torch.testing.assert_close(together.left[n], alone.left, atol=1e-13, rtol=0)


def test_it_starts_reading_and_writing_but_not_popping() -> None:
    net = BufferedNeuralStack(BufferedConfig(LETTERS), seed=3)
    assert net.net.bias[:4].tolist() == [-1, 0, 1, 1]
    assert net.net.bias[4:].abs().sum() == 0
    again = BufferedNeuralStack(BufferedConfig(**net.config()))
    again.load_state_dict(net.state_dict())
    assert again.shape == net.shape


@pytest.mark.parametrize(("symbols", "steps"), [([[0, 1]], 0), ([[0, 3]], 2)])
def test_no_steps_and_foreign_symbols_are_refused(symbols: list[list[int]], steps: int) -> None:
    with pytest.raises(
        StacklensError, match=f"expected at least 1 step and symbols below 3, not {steps} steps and symbols up"
    ):
        build("linear").run(torch.tensor(symbols), steps)
