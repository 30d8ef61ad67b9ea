from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
import torch
from tests.models.published_networks import published
from torch import Tensor

from stacklens.errors import FileFormatError
from stacklens.models.base import StackModel
from stacklens.models.formats.stacknn import read_stacknn
from stacklens.models.networks.neural_stack import ControllerKind, NeuralStack, NeuralStackConfig
from stacklens.models.rounding import Rounded
from stacklens.models.stacks.strength import StrengthStack


def state_dict(kind: ControllerKind = "linear", prefix: str = "_network.", suffix: str = "") -> dict[str, Tensor]:
    """Return what the authors' program would have saved of our network with seed 1: 3 symbols, values of 2 numbers."""
    net = NeuralStack(NeuralStackConfig(("0", "1", "2"), controller=kind, hidden=4), seed=1)
    cell = {"rnn": "_rnn", "lstm": "_lstm"}.get(kind)
    return {
        f"{prefix}{cell}.{key}{suffix}" if "_" in key else f"{prefix}_linear.{key}": value.float()
        for key, value in net.net.state_dict().items()
    }


def linear(rows: int, columns: int) -> dict[str, Tensor]:
    return {"_network._linear.weight": torch.zeros(rows, columns), "_network._linear.bias": torch.zeros(rows)}


def right_words(model: StackModel[StrengthStack]) -> float:
    """Return the share of the authors' test words that are reversed without an error; null targets do not count."""
    lines = [line.split(",") for line in published("stacknn/reverse_test_200.csv").read_text().splitlines()]
    pairs = [(word.split(), target.split()) for word, target in lines]
    steps = max(len(target) for _, target in pairs)
    words = torch.tensor([[int(s) for s in word + ["2"] * (steps - len(word))] for word, _ in pairs])
    targets = torch.tensor([[int(s) for s in target + ["2"] * (steps - len(target))] for _, target in pairs])
    state, right = model.initial_state(len(pairs)), torch.ones(len(pairs), dtype=torch.bool)
    for symbols, target in zip(words.unbind(1), targets.unbind(1), strict=True):
        state = model.step(symbols, state).state
        right &= torch.from_numpy(model.answer(state) == target.numpy()) | (target == 2)
    assert len(pairs) == 200
    return right.double().mean().item()


@torch.no_grad()
def test_the_published_linear_network_reverses_every_word() -> None:
    net = read_stacknn(published("stacknn/linear_reverse_task_20.dat"))
    assert (net.alphabet, net.null, net.cell_size) == (("0", "1", "#"), "#", 2)
    assert right_words(net) == 1
    assert right_words(Rounded(net)) == 1


@pytest.mark.parametrize("suffix", ["", "_l0"])
@pytest.mark.parametrize("prefix", ["_network.", "_controller."])
@pytest.mark.parametrize("kind", ["linear", "rnn", "lstm"])
def test_every_controller_is_read_back(kind: ControllerKind, prefix: str, suffix: str, tmp_path: Path) -> None:
    content = state_dict(kind, prefix, suffix)
    torch.save(content, tmp_path / "net.dat")
    net = read_stacknn(tmp_path / "net.dat")
    assert (net.shape.controller, net.training) == (kind, False)
    expected = NeuralStack(NeuralStackConfig(("0", "1", "2"), controller=kind, hidden=4), seed=1).net.state_dict()
    for key, value in net.net.state_dict().items():
        assert value.dtype == torch.float64
        assert torch.equal(value, expected[key].float().double())


@pytest.mark.parametrize(
    ("content", "alphabet", "message"),
    [
        (
            linear(10, 8),
            None,
            "8 inputs and 10 outputs: 6 symbols and values of 2 numbers, or 2 and 6, as in XOR; name",
        ),
        (linear(9, 5), None, "5 inputs and 9 outputs, a buffered network's; expected 7 outputs"),
        (linear(8, 5), None, "5 inputs and 8 outputs; expected two more outputs than inputs .* with --alphabet"),
        (
            linear(7, 5),
            "01234",
            r"an alphabet of 5 symbols \(0 1 2 3 4\) does not fit; expected 1 to 4 different symbols",
        ),
        (linear(7, 5), "00", "expected 1 to 4 different symbols"),
        (linear(3, 5), "0", "does not fit"),
        ({}, None, "found a dict; expected a StackNN state dict"),
        (
            {**linear(7, 5), "_linear.weight": torch.zeros(7, 5)},  # one of them would hide the other
            None,
            r"found _linear\.weight, _network\._linear\.bias, _network\._linear\.weight",
        ),
        ({"W_y.weight": torch.zeros(1)}, None, "found keys W_y.weight; expected a StackNN state dict"),
        ({**linear(7, 5), "_network._linear.bias": torch.zeros(6)}, None, r"bias has shape \(6,\); expected \(7,\)"),
        ({**linear(7, 5), "_network._linear.bias": "7"}, None, "_linear.bias is '7'; expected a dense tensor"),
        ({**linear(7, 5), "_network._linear.bias": torch.full((7,), torch.nan)}, None, "bias holds NaN or infinite"),
        (
            {**linear(7, 5), "_network._GRU.weight_ih": torch.zeros(30, 5)},
            None,
            "found _network._GRU.weight_ih, .*LSTM controllers",
        ),
        (
            {**state_dict("lstm"), "_network._lstm.weight_hh": torch.zeros(8, 4)},
            None,
            r"weight_hh .* expected \(16, 4\)",
        ),
    ],
)
def test_what_is_no_such_network_is_refused_in_one_line(
    content: dict[str, Tensor], alphabet: str | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.dat"
    torch.save(content, path)
    with pytest.raises(FileFormatError, match=message) as error:
        read_stacknn(path, alphabet)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)
    with pytest.raises(FileFormatError, match="state dict: "):
        read_stacknn(content, alphabet)


class Payload:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("ran",)


def test_a_file_that_cannot_be_loaded_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    whole = tmp_path / "whole.dat"
    torch.save(state_dict(), whole)
    files = {
        "code": (pickle.dumps(Payload()), "loading them could run code; refused"),
        "empty": (b"", "the file is empty; expected a state dict of the StackNN program"),
        "cut": (whole.read_bytes()[:300], "damaged or truncated: 300 bytes"),
        "text": (b"10 2 10 1\n0.1,", "not a PyTorch file"),
    }
    for name, (data, found) in files.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FileFormatError, match=f"{name}: .*{found}"):
            read_stacknn(tmp_path / name)
    with pytest.raises(FileFormatError, match="missing: no such file"):
        read_stacknn(tmp_path / "missing")
    with pytest.raises(FileFormatError, match="is a folder"):
        read_stacknn(tmp_path)
    assert not (tmp_path / "ran").exists()
