from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from stacklens.core.errors import StacklensError
from stacklens.models.base import StackModel
from stacklens.models.networks.suzgun import BabyNTM, Marnn, MarnnConfig, MarnnJoulin, MarnnStackLSTM, MarnnStackRNN

Net = Marnn[Any]
MODELS: list[type[Net]] = [MarnnStackRNN, MarnnStackLSTM, MarnnJoulin, BabyNTM]
SHAPE = MarnnConfig(("(", ")", "[", "]"), hidden=3, cell_size=2, stack_limit=6, first=("(", "["))


def random_net(model: type[Net], shape: MarnnConfig = SHAPE, seed: int = 0) -> Net:
    net = model(shape, seed=seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(3)
    return net.eval()


def as_torch_cell(net: Net) -> nn.RNNCell | nn.LSTMCell:
    """Return PyTorch's own cell with the network's weights."""
    size, cell_class = net.shape.hidden, nn.LSTMCell if net.lstm else nn.RNNCell
    cell: nn.RNNCell | nn.LSTMCell = cell_class(net.n_symbols, size, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(net.input_weights)
        cell.weight_hh.copy_(net.hidden_weights)
        cell.bias_ih.copy_(net.input_bias)
        cell.bias_hh.copy_(net.hidden_bias)
    return cell


def next_hidden(net: Net, x: Tensor, hidden: Tensor, carried: Tensor, top: Tensor) -> tuple[Tensor, Tensor]:
    """Return h' and c' after reading x with ``top`` the first cell, from sections 3.1 to 3.3 and appendix A."""
    if isinstance(net, MarnnJoulin):
        return torch.sigmoid(net.input_weights @ x + net.hidden_weights @ hidden + net.memory_weights @ top), carried
    cell, before = as_torch_cell(net), hidden + net.memory_weights @ top + net.memory_bias
    return cell(x, (before, carried)) if isinstance(cell, nn.LSTMCell) else (cell(x, before), carried)


def next_memory(net: Net, memory: list[Tensor], shares: list[float], new: Tensor) -> list[Tensor]:
    """Return a memory of cells (D,) after a step, from section 3.1 or 3.3 of the paper."""
    zero = torch.zeros_like(new)
    right, left = memory[:-1], memory[1:]
    if isinstance(net, BabyNTM):
        moved = [[memory[-1], *right], [*left, memory[0]], memory, [zero, *right], [*left, zero]]
    else:
        moved = [[new, *right], [*left, zero]]
    mixed = [
        sum((share * cells[i] for share, cells in zip(shares, moved, strict=True)), zero) for i in range(len(memory))
    ]
    return [mixed[0] + new, *mixed[1:]] if isinstance(net, BabyNTM) else mixed


def run_plainly(net: Net, word: list[int]) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Return hidden vectors, outputs and memories of one word, from the paper's equations and PyTorch's cells."""
    hidden, carried = torch.zeros(2, net.shape.hidden, dtype=torch.float64)
    memory = [torch.zeros(net.cell_size, dtype=torch.float64) for _ in range(net.stack_limit or 0)]
    course = []
    for symbol in word:
        x = nn.functional.one_hot(torch.tensor(symbol), net.n_symbols).double()
        hidden, carried = next_hidden(net, x, hidden, carried, memory[0])
        logits = net.action_weights @ hidden + net.action_bias
        if net.shape.gating != "softmax":
            logits = logits / net.temperature
        new = torch.sigmoid(net.pushed_weights @ hidden + net.pushed_bias)
        memory = next_memory(net, memory, torch.softmax(logits, -1).tolist(), new)
        output = torch.sigmoid(net.output_weights @ hidden + net.output_bias)
        course.append((torch.cat([hidden, carried]) if net.lstm else hidden, output, torch.stack(memory)))
    return course


def cells(net: Net, stack: Any, count: int) -> Tensor:
    shown: Tensor = stack.cells if isinstance(net, BabyNTM) else stack.cells(count)
    return shown[:, 0]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("gating", ["softmax", "softmax with temperature", "gumbel-softmax"])
@torch.no_grad()
def test_a_network_is_what_the_equations_say(model: type[Net], gating: str) -> None:
    shape = MarnnConfig(("(", ")", "["), 4, 2, gating, 0.5, 6)  # type: ignore[arg-type]
    net = random_net(model, shape, seed=2)
    words = torch.randint(3, (3, 10), generator=torch.Generator().manual_seed(2))
    courses = [run_plainly(net, word.tolist()) for word in words]
    state = net.initial_state(3)
    for t, column in enumerate(words.unbind(1)):
        step = net.step(column, state)
        state = step.state
        for row, course in enumerate(courses):
            hidden, output, memory = course[t]
            assert torch.allclose(step.hidden[row], hidden, rtol=0, atol=1e-12)
            assert torch.allclose(step.output[row], output, rtol=0, atol=1e-12)
            assert torch.allclose(cells(net, state.stack, 6)[row], memory, rtol=0, atol=1e-12)


def test_gumbel_noise_is_seeded_and_drawn_in_training_only() -> None:
    shape = MarnnConfig(("(", ")"), gating="gumbel-softmax")
    symbols = torch.zeros(2_000, dtype=torch.int64)

    def actions(net: Net) -> Tensor:
        return net.step(symbols, net.initial_state(2_000)).actions[:, 0]

    net, same, plain = MarnnStackRNN(shape, seed=1), MarnnStackRNN(shape, seed=1), MarnnStackRNN(shape, seed=1).eval()
    before = torch.random.get_rng_state()
    drawn = actions(net)
    assert torch.equal(torch.random.get_rng_state(), before)  # no global generator
    assert torch.equal(drawn, actions(same))
    assert not torch.equal(drawn, actions(net))
    assert torch.allclose(drawn.sum(-1), torch.ones(2_000, dtype=torch.float64))
    expected = actions(plain)[0]
    assert torch.equal(actions(plain)[0], expected)
    chosen = (drawn[:, 0] > 0.5).double().mean()  # the Gumbel-max trick: the arg-max is a draw from the softmax
    assert chosen.item() == pytest.approx(expected[0].item(), abs=0.04)


@pytest.mark.parametrize("model", MODELS)
def test_all_steps_at_once_draw_noise_for_each_of_them(model: type[Net], monkeypatch: pytest.MonkeyPatch) -> None:
    net = model(MarnnConfig(("(", ")"), gating="gumbel-softmax", temperature=0.7, stack_limit=6), seed=1, nets=2)
    symbols = torch.tensor([[0, 1], [0, 0], [1, 0]])
    generator = torch.Generator().manual_seed(5)
    noise = torch.randn(3, 2, 2, len(net.operations), generator=generator, dtype=torch.float64)
    monkeypatch.setattr(net, "_all_noise", lambda _: noise)
    one_by_one = iter(noise)
    monkeypatch.setattr(net, "_gumbel", lambda _: next(one_by_one))
    fast, slow = net.run(symbols, net.initial_state(2)), StackModel.run(net, symbols, net.initial_state(2))
    torch.testing.assert_close(fast.actions, slow.actions)
    torch.testing.assert_close(fast.output, slow.output)
    gradients = [torch.autograd.grad(run.output.square().sum(), net.action_weights)[0] for run in (fast, slow)]
    torch.testing.assert_close(*gradients)


def test_a_lower_temperature_decides_more_and_is_kept() -> None:
    net = random_net(MarnnStackRNN, MarnnConfig(("(", ")"), gating="softmax with temperature"))
    soft = net.step(torch.tensor([0]), net.initial_state(1)).actions.max()
    net.temperature = 0.1
    assert net.step(torch.tensor([0]), net.initial_state(1)).actions.max() > soft
    assert MarnnConfig(**net.config()).temperature == 0.1


def test_words_are_rejected_at_the_first_symbol_that_was_not_predicted() -> None:
    net = random_net(MarnnStackRNN)
    state = net.step(torch.tensor([0, 1]), net.initial_state(2)).state
    assert state.rejected.tolist() == [False, True]  # no word begins with a closing bracket
    assert net.answer(state)[1] == -1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gating": "hardmax"}, "gating 'hardmax' is not one of softmax, softmax with temperature, gumbel-softmax"),
        ({"temperature": 0.0}, "temperature is 0.0; expected a number above 0"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"hidden": 0}, "hidden is 0"),
        ({"cell_size": 0}, "cell_size is 0"),
        ({"first": ("x",)}, r"first has x, outside the alphabet \( \)"),
    ],
)
def test_wrong_shapes_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        MarnnConfig(**{"alphabet": ("(", ")"), **wrong})  # type: ignore[arg-type]
