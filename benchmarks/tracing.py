"""What recording everything costs, and what the interface costs.

First the published D2 network (the same shape with random weights where the file is not there): `trace` on a batch of
words, against a loop as the authors' program has it, one word and one symbol at a time in plain torch, recording the
same arrays. Then every model: `StackModel.step` over a batch against the same equations as one straight-line function
over the batch (benchmarks/straight.py). Outputs are compared in the same run; one thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Report, medians, show_ratio, show_seconds

_PUBLISHED = Path(os.environ.get("STACKLENS_PUBLISHED", ROOT.parent / "shared" / "published"))
_WORDS, _SINGLY, _LENGTH, _RUNS = 4_096, 40, 50, 9
_BATCH, _STEPS, _MODEL_RUNS = 256, 50, 31
_SHAPES: dict[str, dict[str, Any]] = {
    "nnpda": {"alphabet": "abc"},
    "stack-rnn": {"alphabet": "abc", "n_stacks": 2},
    "marnn-stack-rnn": {"alphabet": "()[]", "first": "(["},
    "marnn-stack-lstm": {"alphabet": "()[]", "first": "(["},
    "baby-ntm": {"alphabet": "()[]", "first": "(["},
    "neural-stack": {"alphabet": "01#", "controller": "lstm", "null": "#"},
}


def reports() -> Iterator[Report]:
    from stacklens.models.base import one_thread

    with one_thread():
        yield _tracing()
        yield _models()


def _tracing() -> Report:
    import numpy as np

    from stacklens.languages.catalogue import get_language
    from stacklens.probe.trace import trace

    net, origin = _d2_network()
    words = get_language("dyck-2").sample(_WORDS, (_LENGTH, _LENGTH), True, 0)
    singly = [[net.alphabet.index(symbol) for symbol in word] for word in words[:_SINGLY]]
    loop = PlainLoop(net)
    seconds = medians(
        {
            "trace": lambda: trace(net, words, stacks=False),
            "loop": lambda: [loop.record(word) for word in singly],
        },
        _RUNS,
    )
    seen = trace(net, words[:_SINGLY], stacks=False)
    recorded = [loop.record(word) for word in singly]
    arrays = (seen.hidden[:, 1:], seen.actions[:, :, 0], seen.pushed[:, :, 0], seen.reading[:, :, 0], seen.output)
    apart = max(
        float(np.abs(np.array(theirs) - ours).max())
        for place, ours in enumerate(arrays)
        for theirs in [[word[place] for word in recorded]]
    )
    ours, theirs = _WORDS * _LENGTH / seconds["trace"], _SINGLY * _LENGTH / seconds["loop"]
    return Report(
        f"tracing: {origin}, words of length {_LENGTH}",
        ("", "words", "symbols a second", "stacklens is", "goal", "largest difference"),
        (
            ("trace", f"{_WORDS:,}", f"{ours:,.0f}", "", "", ""),
            ("plain loop", str(_SINGLY), f"{theirs:,.0f}", show_ratio(ours / theirs), ">= 100 x", f"{apart:.0e}"),
        ),
        f"medians of {_RUNS} runs; both record hidden vectors, actions, pushed values, tops and outputs of every step",
    )


def _models() -> Report:
    import torch
    from benchmarks.straight import STRAIGHT

    from stacklens.models.networks import build_model

    generator = torch.Generator().manual_seed(0)
    rows = []
    for name, shape in _SHAPES.items():
        net = build_model(name, shape, seed=1)
        symbols = torch.randint(len(net.alphabet), (_STEPS, _BATCH), generator=generator)
        with torch.no_grad():
            apart = float((_steps(net, symbols) - STRAIGHT[name](net, symbols)).abs().max())
            tasks = {
                "step": lambda net=net, symbols=symbols: _steps(net, symbols),
                "straight": lambda net=net, symbols=symbols, forward=STRAIGHT[name]: forward(net, symbols),
            }
            seconds = medians(tasks, _MODEL_RUNS)
        ratio = seconds["step"] / seconds["straight"]
        rows.append(
            (
                name,
                show_seconds(seconds["step"]),
                show_seconds(seconds["straight"]),
                f"{ratio:.2f} x",
                "<= 1.5 x",
                f"{_BATCH * _STEPS / seconds['step']:,.0f}",
                f"{apart:.0e}",
            )
        )
    return Report(
        f"models: a batch of {_BATCH} words of {_STEPS} symbols, step by step",
        ("", "step", "straight", "ratio", "goal", "symbols a second", "largest difference"),
        tuple(rows),
        f"medians of {_MODEL_RUNS} runs, random weights; the straight-line form is in benchmarks/straight.py",
    )


def _steps(net: Any, symbols: Any) -> Any:
    import torch

    state, outputs = net.initial_state(symbols.shape[1]), []
    for column in symbols:
        step = net.step(column, state)
        state = step.state
        outputs.append(step.output)
    return torch.stack(outputs)


def _d2_network() -> tuple[Any, str]:
    from stacklens.models.checkpoint import load_network
    from stacklens.models.networks import build_model

    path = _PUBLISHED / "marnns" / "stack_rnn_model_weights.pth"
    if path.is_file():
        return load_network(path).model, "the D2 network that Suzgun et al. 2019 published"
    return build_model("marnn-stack-rnn", _SHAPES["marnn-stack-rnn"], seed=1), "an untrained net of the D2 shape"


class PlainLoop:
    """The authors' program in outline: torch modules, one word, one symbol, a stack of 104 cells as an array."""

    def __init__(self, net: Any) -> None:
        import torch
        from torch import nn

        size, symbols, cell = net.shape.hidden, len(net.alphabet), net.cell_size
        self.size, self.symbols, self.cell, self.limit = size, symbols, cell, net.stack_limit
        self.rnn = nn.RNN(symbols, size).double()
        self.memory, self.push = nn.Linear(cell, size).double(), nn.Linear(size, cell).double()
        self.action, self.out = nn.Linear(size, 2).double(), nn.Linear(size, symbols).double()
        with torch.no_grad():
            self.rnn.weight_ih_l0.copy_(net.input_weights)
            self.rnn.bias_ih_l0.copy_(net.input_bias)
            self.rnn.weight_hh_l0.copy_(net.hidden_weights)
            self.rnn.bias_hh_l0.copy_(net.hidden_bias)
            for layer, name in (
                (self.memory, "memory"),
                (self.push, "pushed"),
                (self.action, "action"),
                (self.out, "output"),
            ):
                layer.weight.copy_(getattr(net, f"{name}_weights"))
                layer.bias.copy_(getattr(net, f"{name}_bias"))

    def step(self, symbol: int, hidden: Any, stack: Any) -> tuple[Any, ...]:
        """Return hidden, stack, action, pushed value and output after one symbol."""
        import torch

        x = torch.zeros(1, 1, self.symbols, dtype=torch.float64)
        x[0, 0, symbol] = 1
        output, hidden = self.rnn(x, hidden + self.memory(stack[0]).view(1, 1, -1))
        features = output.view(1, -1)
        action, pushed = torch.softmax(self.action(features), 1)[0], torch.sigmoid(self.push(features))
        up = torch.cat([pushed, stack[:-1]], 0)
        down = torch.cat([stack[1:], torch.zeros(1, self.cell, dtype=torch.float64)], 0)
        return hidden, action[0] * up + action[1] * down, action, pushed, torch.sigmoid(self.out(features))

    def start(self) -> tuple[Any, Any]:
        import torch

        return (
            torch.zeros(1, 1, self.size, dtype=torch.float64),
            torch.zeros(self.limit, self.cell, dtype=torch.float64),
        )

    def record(self, word: list[int]) -> tuple[list[Any], ...]:
        """Return hidden vectors, actions, pushed values, tops and outputs of every step."""
        import torch

        hidden, stack = self.start()
        record: tuple[list[Any], ...] = ([], [], [], [], [])
        with torch.no_grad():
            for symbol in word:
                top = stack[0]
                hidden, stack, action, pushed, output = self.step(symbol, hidden, stack)
                for kept, value in zip(record, (hidden[0, 0], action, pushed[0], top, output[0]), strict=True):
                    kept.append(value.numpy())
        return record

    def parameters(self) -> list[Any]:
        layers = (self.rnn, self.memory, self.push, self.action, self.out)
        return [parameter for layer in layers for parameter in layer.parameters()]
