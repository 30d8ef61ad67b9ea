from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.models.published_networks import published
from torch import Tensor, nn

from stacklens.errors import FileFormatError
from stacklens.models.base import StackModel
from stacklens.models.formats.marnns import looks_like, read_marnns
from stacklens.models.networks.suzgun import BabyNTM, MarnnStackLSTM, MarnnStackRNN
from stacklens.models.rounding import Rounded


def synthetic(
    cell: str = "rnn", symbols: int = 6, hidden: int = 5, size: int = 3, memory: str = "W_sh"
) -> dict[str, Any]:
    """Return a state dict as the authors' program would save it."""
    torch.manual_seed(0)
    layers: dict[str, nn.Module] = {
        cell: (nn.RNN if cell == "rnn" else nn.LSTM)(symbols, hidden),
        "W_y": nn.Linear(hidden, symbols),
        "W_n": nn.Linear(hidden, size),
        "W_a": nn.Linear(hidden, 5 if memory == "W_m" else 2),
        memory: nn.Linear(size, hidden),
    }
    return {key: value.double() for key, value in nn.ModuleDict(layers).state_dict().items()}


def dyck_word(length: int, rng: random.Random) -> str:
    word, closing = "", list[str]()
    while len(word) < length:
        if not closing or (len(word) + len(closing) < length and rng.random() < 0.5):
            kind = rng.randrange(2)
            word, closing = word + "(["[kind], [*closing, ")]"[kind]]
        else:
            word += closing.pop()
    return word


def next_sets(word: str) -> list[list[float]]:
    """Return the k-hot sets of next symbols in the order ( ) [ ]."""
    closing, sets = list[str](), []
    for symbol in word:
        if symbol in "([":
            closing.append({"(": ")", "[": "]"}[symbol])
        else:
            closing.pop()
        sets.append([1.0, float(closing[-1:] == [")"]), 1.0, float(closing[-1:] == ["]"])])
    return sets


@pytest.mark.parametrize("rounded", [False, True])
@torch.no_grad()
def test_the_published_network_is_right_on_random_words(rounded: bool) -> None:
    net = read_marnns(published("marnns/stack_rnn_model_weights.pth"))
    runner: StackModel[Any] = Rounded(net) if rounded else net
    rng = random.Random(1)
    words = [dyck_word(rng.randrange(2, 51, 2), rng) for _ in range(300)]
    longest = max(map(len, words))
    symbols = torch.tensor([["()[]".index(symbol) for symbol in word] + [0] * (longest - len(word)) for word in words])
    state, outputs = runner.initial_state(len(words)), list[Tensor]()
    for column in symbols.unbind(1):
        step = runner.step(column, state)
        state = step.state
        outputs.append(step.output > 0.5)
    for word, predicted in zip(words, torch.stack(outputs, 1).tolist(), strict=True):
        assert predicted[: len(word)] == next_sets(word), word


@pytest.mark.parametrize(
    ("cell", "memory", "expected"),
    [("rnn", "W_sh", MarnnStackRNN), ("lstm", "W_sh", MarnnStackLSTM), ("rnn", "W_m", BabyNTM)],
)
@torch.no_grad()
def test_every_kind_of_network_is_read(cell: str, memory: str, expected: type, tmp_path: Path) -> None:
    weights = synthetic(cell, memory=memory)
    path = tmp_path / "net.pth"
    torch.save(weights, path)
    assert looks_like(weights)
    net = read_marnns(path)
    assert type(net) is expected
    assert not net.training
    assert (net.alphabet, net.first, net.shape.hidden, net.cell_size) == (tuple("()[]{}"), tuple("([{"), 5, 3)
    step = net.step(torch.tensor([4]), net.initial_state(1))
    logits = step.hidden[..., :5] @ weights["W_y.weight"].mT + weights["W_y.bias"]
    assert torch.allclose(step.output, torch.sigmoid(logits))


@torch.no_grad()
def test_a_baby_ntms_rotations_change_places() -> None:
    weights = synthetic(memory="W_m")
    weights["W_a.weight"].zero_()
    weights["W_a.bias"].copy_(torch.tensor([3.0, 2.0, 1.0, 0.0, -1.0]))  # the program rotates left first
    net = read_marnns(weights)
    actions = net.step(torch.tensor([0]), net.initial_state(1)).actions[0, 0]
    order = [net.operations[i] for i in actions.argsort(descending=True).tolist()]
    assert order == ["rotate left", "rotate right", "no-op", "pop right", "pop left"]


def edited(**changes: Tensor | None) -> dict[str, Any]:
    weights = synthetic()
    for key, value in changes.items():
        name = key.replace("__", ".")
        if value is None:
            del weights[name]
        else:
            weights[name] = value
    return weights


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "found a dict; expected a state dict of the marnns program"),
        ([1, 2], "found a list; expected a state dict of the marnns program"),
        ({"layer.weight": torch.zeros(2)}, "found keys layer.weight; expected"),
        (edited(W_n__bias=None), "found W_a.bias.*; expected .*W_n.bias"),
        (edited(W_n__weight=None), "found keys rnn.*; expected a state dict"),
        (edited(rnn__weight_ih_l1=torch.zeros(5, 5)), "weight_ih_l1.*one layer"),
        (edited(W_y__weight=torch.zeros(4, 5)), r"output weights have shape \(4, 5\); expected \(6, 5\)"),
        (edited(W_a__weight=torch.zeros(3, 5)), r"action weights have shape \(3, 5\); expected \(2, 5\)"),
        (edited(W_sh__bias=torch.full((5,), torch.nan)), "memory bias hold NaN"),
        (edited(W_sh__bias=torch.zeros(5, dtype=torch.int64)), "W_sh.bias is a tensor of torch.int64"),
        (edited(W_y__weight=torch.zeros(6)), r"W_y.weight has shape \(6,\); expected 2 axes"),
        (synthetic("lstm", memory="W_m"), "a Baby-NTM has an rnn"),
        (synthetic(symbols=5), r"reads 5 symbols, which are not pairs .*--alphabet"),
        (synthetic(symbols=16), r"reads 16 symbols, which are not pairs"),
    ],
)
def test_bad_files_are_refused_in_one_line(content: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.pth"
    torch.save(content, path)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_marnns(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("code was run",))


def test_files_that_hold_no_tensors_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = tmp_path / "whole.pth"
    torch.save(synthetic(), whole)
    damaged, evil, text = tmp_path / "damaged.pth", tmp_path / "evil.pth", tmp_path / "text.pth"
    damaged.write_bytes(whole.read_bytes()[:1500])
    evil.write_bytes(pickle.dumps(Evil()))
    text.write_text("2 2 10\n")
    for path, message in (
        (tmp_path / "none.pth", "no such file"),
        (tmp_path, "is a folder"),
        (damaged, "damaged or truncated"),
        (evil, "could run code; refused"),
        (text, "not a PyTorch file .*; expected a state dict of the marnns program"),
    ):
        with pytest.raises(FileFormatError, match=message) as caught:
            read_marnns(path)
        assert str(path) in str(caught.value)
    assert capsys.readouterr().out == ""
