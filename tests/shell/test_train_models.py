"""`stacklens train MODEL`: every model trains, writes a checkpoint that loads and traces, stops and resumes."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from stacklens.__main__ import app
from stacklens.core.errors import StacklensError
from stacklens.models.checkpoint import load_checkpoint
from stacklens.models.training import recipes as fit_recipes
from stacklens.models.training import recipes as stream_recipes
from stacklens.models.training.factory import OPTIONS
from stacklens.models.training.recipes import SETS, SYMBOL_RECIPE, FitRecipe
from stacklens.models.training.supervised import Fitting
from stacklens.probe.trace import trace

SMALL = {"words": 20, "check_words": 10, "epochs": 2}
LANGUAGES = {
    **dict.fromkeys(("stack-rnn", "list-rnn", "scrn"), "anbn"),
    **dict.fromkeys(("marnn-stack-rnn", "marnn-stack-lstm", "marnn-joulin", "baby-ntm", "rnn", "lstm"), "dyck-1"),
    **dict.fromkeys(("neural-stack", "linear"), "reversal"),
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the recipes by ones that take no time."""
    sets = FitRecipe(**{**vars(SETS), **SMALL, "lengths": (2, 10), "long_words": 0})
    monkeypatch.setattr(fit_recipes, "SETS", sets)
    monkeypatch.setattr(fit_recipes, "SYMBOL_RECIPE", FitRecipe(**{**vars(SYMBOL_RECIPE), **SMALL, "lengths": (1, 3)}))
    stream = stream_recipes.STREAM_RECIPES["anbn"]
    fast = {"windows": 2, "streams": 4, "check_sizes": (2, 5), "check_pieces": 1, "epochs": 2}
    monkeypatch.setitem(stream_recipes.STREAM_RECIPES, "anbn", type(stream)(**{**vars(stream), **fast}))


def train(*arguments: str | Path, status: int = 0) -> str:
    result = CliRunner().invoke(app, ["train", *map(str, arguments)], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    assert result.return_value == status, result.output
    return result.output


@pytest.mark.parametrize("model", [model for model in OPTIONS if model != "nnpda"])  # which has tests of its own
def test_every_model_trains_and_writes_a_checkpoint_that_loads_and_traces(model: str, tmp_path: Path) -> None:
    language, out = LANGUAGES[model], tmp_path / "net.pt"
    options = ("--seeds", "2", "--seed", "3", "--epochs", "1", "--out", out)
    shown = train(model, "--language", language, *options)
    assert f"to {out}" in shown
    assert "2 networks, 1 epochs" in shown
    checkpoint = load_checkpoint(out)
    assert checkpoint.model.name == model
    assert checkpoint.task["language"] == language
    assert checkpoint.provenance["seed"] in (3, 4)
    assert {"command", "recipe", "scores", "versions"} <= set(checkpoint.provenance)
    assert checkpoint.training is None
    seen = trace(checkpoint.model, [checkpoint.model.alphabet[:1] * 2])
    assert seen.hidden.shape[:2] == (1, 3)


def test_ctrl_c_leaves_a_checkpoint_that_goes_on_as_if_nothing_had_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("marnn-stack-rnn", "--language", "dyck-1", "--seeds", "2")
    whole, stopped = tmp_path / "whole.pt", tmp_path / "stopped.pt"
    train(*arguments, "--out", whole)
    with monkeypatch.context() as patch:
        patch.setattr(Fitting, "epoch", interrupted(Fitting.epoch))
        assert "go on with --resume" in train(*arguments, "--out", stopped, status=130)
    assert load_checkpoint(stopped).training is not None
    train(*arguments, "--resume", stopped)
    one, other = load_checkpoint(whole), load_checkpoint(stopped)
    assert other.training is None
    for name, value in one.model.state_dict().items():
        assert torch.equal(value, other.model.state_dict()[name])
    assert one.provenance["scores"] == other.provenance["scores"]


def interrupted(epoch: Callable[[Fitting], None]) -> Callable[[Fitting], None]:
    def stopping(self: Fitting) -> None:
        epoch(self)
        signal.raise_signal(signal.SIGINT)

    return stopping


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rnn", "--language", "nope"), "unknown task 'nope'"),
        (("nnpda", "--language", "nope"), "unknown language 'nope'"),
        (("rnn", "--language", "anbn"), "anbn is an endless stream"),
        (("stack-rnn", "--language", "dyck-2"), "dyck-2 is none"),
        (("neural-stack", "--language", "xor", "--controller", "gru"), "controller 'gru' is not one of"),
        (("lstm", "--language", "xor", "--device", "abacus"), "device 'abacus' cannot be used here"),
        (("rnn", "--language", "dyck-1", "--out", "no/such/folder/x.pt"), "no/such/folder"),
    ],
)
def test_bad_arguments_are_told(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        train(*arguments)
