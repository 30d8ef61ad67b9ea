"""RNNs and LSTMs that learn symbol by symbol: against autograd, and against a plain twin whose weights move."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from stacklens.models.kernels.unit_scan import UnitScan, UnitShape
from stacklens.models.networks.baselines import Baseline, BaselineConfig, BaselineKind

Array = npt.NDArray[Any]
KINDS: list[tuple[BaselineKind, int]] = [("rnn", 1), ("rnn", 2), ("lstm", 1), ("lstm", 2)]


def drawn(kind: BaselineKind, layers: int, nets: int = 2, scale: float = 3.0) -> Baseline:
    shape = BaselineConfig(tuple("abc"), kind, "next symbol", hidden=6, layers=layers)
    net = Baseline(shape, seed=3, nets=nets)
    for weights in net.parameters():
        weights.data *= scale
    return net


def scan_of(net: Baseline, steps: int = 50, clip: float = 15.0, together: int = 1) -> UnitScan:
    weights = {name: value.detach().numpy() for name, value in net.named_parameters()}
    return UnitScan(weights, UnitShape(net.shape.controller == "lstm", steps, clip, together))


@pytest.mark.parametrize(("kind", "layers"), KINDS)
def test_the_gradient_is_that_of_autograd_where_weights_have_not_moved(kind: BaselineKind, layers: int) -> None:
    net, word, target = drawn(kind, layers), [0, 1, 2, 2, 1, 0, 0, 1], 2
    output = net.run(torch.tensor(word)[:, None], net.initial_state(1)).output[-1, :, 0, target]
    expected = torch.autograd.grad(output.log().sum(), list(net.parameters()))
    scan = scan_of(net)
    for symbol in word[:-1]:
        scan.read(symbol)
        scan.learn(0, np.zeros(2))
    scan.read(word[-1])
    probabilities = scan.learn(target, np.ones(2))
    np.testing.assert_allclose(probabilities, output.detach(), rtol=0, atol=1e-12)
    for (name, before), gradient in zip(net.named_parameters(), expected, strict=True):
        moved = scan.weights()[name] - before.detach().numpy()
        np.testing.assert_allclose(moved, gradient, rtol=0, atol=1e-12)
        assert np.abs(moved).max() > 1e-4


class Twin:
    """One network, step by step and layer by layer, after the equations."""

    def __init__(self, net: Baseline, number: int, shape: UnitShape) -> None:
        self.weights = {name: value.detach().numpy()[number].copy() for name, value in net.named_parameters()}
        self.layers, self.shape, self.size = net.layers, shape, net.shape.hidden
        self.empty()

    def empty(self) -> None:
        if getattr(self, "gathered", None):
            self.move()
        self.past: list[tuple[int, list[tuple[Array, ...]]]] = []
        self.gathered: list[tuple[int, Array]] = []
        self.learned = 0
        self.state = [(np.zeros(self.size), np.zeros(self.size)) for _ in range(self.layers)]

    def read(self, symbol: int) -> None:
        if self.gathered and len(self.past) - self.gathered[0][0] == self.shape.together:
            self.move()
        made: list[tuple[Array, ...]] = []
        seen: Array = np.eye(3)[symbol]
        for layer, (hidden, cell) in enumerate(self.state):
            sums = self.weights[f"input_{layer}_bias"] + self.weights[f"hidden_{layer}_bias"]
            sums = (
                sums + self.weights[f"input_{layer}_weights"] @ seen + self.weights[f"hidden_{layer}_weights"] @ hidden
            )
            if self.shape.lstm:
                enter, keep, new, show = np.split(sums, 4)
                enter, keep, new, show = logistic(enter), logistic(keep), np.tanh(new), logistic(show)
                after = keep * cell + enter * new
                made.append((seen, hidden, cell, enter, keep, new, show, np.tanh(after)))
                self.state[layer] = show * np.tanh(after), after
            else:
                made.append((seen, hidden, np.tanh(sums)))
                self.state[layer] = np.tanh(sums), cell
            seen = self.state[layer][0]
        self.past.append((symbol, made))
        output = np.exp(self.weights["output_bias"] + self.weights["output_weights"] @ seen)
        self.output, self.shown = output / output.sum(), seen

    def learn(self, target: int, rate: float) -> float:
        self.learned += 1
        if not self.gathered:
            self.first = len(self.past) - min(self.learned, self.shape.steps)
            self.of_output = np.zeros_like(self.weights["output_weights"])
        wrong = np.eye(3)[target] - self.output
        self.gathered.append((len(self.past) - 1, wrong))
        self.of_output += np.outer(wrong, self.shown)
        self.rate = rate
        found = float(self.output[target])
        if len(self.gathered) == self.shape.together:
            self.move()
        return found

    def move(self) -> None:
        weights, wrongs = self.weights, dict(self.gathered)
        gradients = {name: np.zeros_like(value) for name, value in weights.items()}
        gradients["output_weights"] = self.of_output
        gradients["output_bias"] = sum(wrongs.values(), np.zeros(3))
        later = [(np.zeros(self.size), np.zeros(self.size)) for _ in range(self.layers)]
        for t in range(len(self.past) - 1, self.first - 1, -1):
            of_hidden = weights["output_weights"].T @ wrongs[t] if t in wrongs else np.zeros(self.size)
            for layer in reversed(range(self.layers)):
                seen, hidden, *rest = self.past[t][1][layer]
                of_hidden = of_hidden + later[layer][0]
                if self.shape.lstm:
                    cell, enter, keep, new, show, shown = rest
                    of_cell = later[layer][1] + of_hidden * show * (1 - shown**2)
                    of_sums = np.concatenate(
                        [
                            of_cell * new * enter * (1 - enter),
                            of_cell * cell * keep * (1 - keep),
                            of_cell * enter * (1 - new**2),
                            of_hidden * shown * show * (1 - show),
                        ]
                    )
                    of_cell = of_cell * keep
                else:
                    of_sums, of_cell = of_hidden * (1 - rest[0] ** 2), later[layer][1]
                gradients[f"input_{layer}_weights"] += np.outer(of_sums, seen)
                gradients[f"hidden_{layer}_weights"] += np.outer(of_sums, hidden)
                for bias in ("input", "hidden"):
                    gradients[f"{bias}_{layer}_bias"] += of_sums
                later[layer] = (
                    self.clipped(weights[f"hidden_{layer}_weights"].T @ of_sums),
                    self.clipped(of_cell),
                )
                of_hidden = weights[f"input_{layer}_weights"].T @ of_sums
        for name, gradient in gradients.items():
            weights[name] += self.rate * gradient
        self.gathered = []

    def clipped(self, errors: Array) -> Array:
        return np.clip(errors, -self.shape.clip, self.shape.clip)


def logistic(sums: Array) -> Array:
    values: Array = 1 / (1 + np.exp(-sums))
    return values


@pytest.mark.parametrize(("kind", "layers"), KINDS)
@pytest.mark.parametrize(("steps", "clip", "together"), [(7, 15.0, 1), (5, 15.0, 4), (9, 0.01, 1), (6, 0.02, 3)])
def test_all_weights_become_those_of_a_plain_twin(
    kind: BaselineKind, layers: int, steps: int, clip: float, together: int
) -> None:
    net, rates, rng = drawn(kind, layers, scale=1.5), np.array([0.1, 0.03]), np.random.default_rng(2)
    scan = scan_of(net, steps, clip, together)
    twins = [Twin(net, number, scan.shape) for number in range(2)]
    everyone: list[Any] = [scan, *twins]
    for t in range(130):
        if t in (0, 70, 95):
            for one in everyone:
                one.empty()
        symbol, target = rng.integers(3, size=2).tolist()
        for one in everyone:
            one.read(symbol)
        if rng.random() < 0.7:
            found = scan.learn(target, rates)
            expected = [twin.learn(target, rate) for twin, rate in zip(twins, rates, strict=True)]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    for one in everyone:
        one.empty()
    for name, value in scan.weights().items():
        np.testing.assert_allclose(value, [twin.weights[name] for twin in twins], rtol=0, atol=1e-12)
        assert not np.array_equal(value, net.get_parameter(name).detach())
