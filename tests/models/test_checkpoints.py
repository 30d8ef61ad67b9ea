from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from stacklens.errors import FileFormatError, StacklensError
from stacklens.languages.words import all_words
from stacklens.models.inference import verdicts_on
from stacklens.models.io import Checkpoint, load_checkpoint, load_model, save_model
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig

SHAPE = NNPDAConfig(("a", "b"), "second", 2, end="e", trap=False)


def saved(path: Path, **changes: object) -> Path:
    """Return ``path`` with a checkpoint of which ``changes`` replace the fields; None takes one out."""
    save_model(path, Checkpoint(NNPDA(SHAPE, seed=1), {"kind": "recognition", "language": "anbn"}))
    content = torch.load(path, weights_only=True) | changes
    torch.save({key: value for key, value in content.items() if value is not None}, path)
    return path


def weights(**changes: object) -> dict[str, Any]:
    state: dict[str, Any] = dict(NNPDA(SHAPE, seed=1).state_dict())
    return {key: value for key, value in (state | changes).items() if value is not None}


def complaint(path: Path) -> str:
    """Return what is wrong with a file, without its name, which must come first; one line."""
    with pytest.raises(FileFormatError) as error:
        load_checkpoint(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize("order", ["second", "third", "full"])
def test_what_is_saved_is_what_is_loaded(order: Any, tmp_path: Path) -> None:
    net = NNPDA(NNPDAConfig(("<a>", "b"), order, 3, end="e", trap=False, empty_reading=False), seed=7, init=2.0)
    task, provenance = {"kind": "recognition", "language": "anbn"}, {"command": "none", "seed": 7}
    training = {"epochs_done": 3, "losses": torch.tensor([0.5])}
    save_model(tmp_path / "net.pt", Checkpoint(net, task, provenance, training))
    found = load_checkpoint(tmp_path / "net.pt")
    assert isinstance(found.model, NNPDA)
    assert found.model.shape == net.shape
    assert not found.model.training
    assert all(torch.equal(value, net.state_dict()[name]) for name, value in found.model.state_dict().items())
    assert found.task == task
    assert found.training == training
    assert {key: found.provenance[key] for key in provenance} == provenance
    assert set(found.provenance["versions"]) == {"python", "torch", "stacklens"}
    words = all_words(net.alphabet, 5)
    assert verdicts_on(load_model(str(tmp_path / "net.pt")), words).tolist() == verdicts_on(net, words).tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": None}, "the checkpoint lacks config; it may be from another version"),
        ({"task": None, "state_dict": None}, "the checkpoint lacks task, state_dict; it may be from another version"),
        ({"model": torch.zeros(2)}, "model is of type Tensor; expected str"),
        ({"config": [1]}, "config is of type list; expected dict"),
        ({"task": "anbn"}, "task is of type str; expected dict"),
        ({"task": {"language": 3}}, "task names the language 3; expected a string"),
        ({"provenance": 1}, "provenance is of type int; expected dict"),
        ({"training": [1]}, "training is of type list; expected dict"),
        ({"alphabet": ("x", "y")}, "alphabet is ('x', 'y'); the configuration has ('a', 'b')"),
        ({"state_dict": [1]}, "state_dict should map names to tensors, found a list"),
        (
            {"state_dict": {"w": torch.zeros(1)}},
            "state_dict has w; expected action_bias, action_weights, state_bias, state_weights",
        ),
        (
            {"state_dict": weights(state_bias=None)},
            "state_dict has action_bias, action_weights, state_weights; "
            "expected action_bias, action_weights, state_bias, state_weights",
        ),
        ({"state_dict": weights(state_bias=torch.zeros(3))}, "state_bias has shape (3,); expected (2,)"),
        (
            {"state_dict": weights(state_bias=torch.tensor([0.0, torch.nan]))},
            "state_bias holds NaN or infinite weights; the network was not trained to an end",
        ),
        (
            {"state_dict": weights(action_bias=torch.tensor([-torch.inf]))},
            "action_bias holds NaN or infinite weights; the network was not trained to an end",
        ),
        (
            {"state_dict": weights(state_bias=torch.zeros(2, dtype=torch.int64))},
            "state_bias is a tensor of torch.int64, torch.strided, on cpu; expected dense floating-point numbers",
        ),
        (
            {"state_dict": weights(state_bias=torch.zeros(2, dtype=torch.complex64))},
            "state_bias is a tensor of torch.complex64, torch.strided, on cpu; expected dense floating-point numbers",
        ),
        (
            {"state_dict": weights(state_bias="zero")},
            "state_dict should map names to tensors, "
            "found a dictionary with keys state_weights, action_weights, state_bias, action_bias",
        ),
    ],
)
def test_a_field_that_is_wrong_is_named_in_one_line(changes: dict[str, object], message: str, tmp_path: Path) -> None:
    assert complaint(saved(tmp_path / "net.pt", **changes)) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_states": 0}, "an NNPDA needs symbols and states, not ('a', 'b') and 0"),
        ({"n_states": "2"}, "n_states is '2'; expected a whole number"),
        (
            {"n_states": 10**9},
            "an NNPDA of order second with 1000000000 state neurons is too large; at most 1,000 and 50,000,000 weights",
        ),
        ({"n_states": 3}, "state_weights has shape (2, 14); expected (3, 21)"),
        ({"order": "fifth"}, "order 'fifth' is not one of second, third, full"),
        ({"alphabet": ("a", "a")}, "the alphabet a a has a repetition: expected each symbol once"),
        ({"end": "a"}, "the alphabet a b a has a repetition: expected each symbol once"),
        (
            {"layers": 2},
            "the configuration is not that of a nnpda: found layers; "
            "expected alphabet, empty_reading, end, n_states, order, trap",
        ),
    ],
)
def test_a_configuration_that_is_wrong_is_refused(change: dict[str, object], message: str, tmp_path: Path) -> None:
    config = NNPDA(SHAPE).config() | change
    assert complaint(saved(tmp_path / "net.pt", config=config)) == message


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_is_full_leaves_the_old_file_and_no_other(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path / "net.pt")
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(StacklensError, match=r"^cannot write .*net\.pt: No space left on device; nothing was written$"):
        save_model(path, Checkpoint(NNPDA(SHAPE, seed=2), {}))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match=r"^cannot write .*: the folder .*/none does not exist; make it first$"):
        save_model(tmp_path / "none" / "net.pt", Checkpoint(NNPDA(SHAPE), {}))
    with pytest.raises(StacklensError, match=r": it is a folder; expected the name of a file$"):
        save_model(tmp_path, Checkpoint(NNPDA(SHAPE), {}))
    assert list(tmp_path.iterdir()) == []
