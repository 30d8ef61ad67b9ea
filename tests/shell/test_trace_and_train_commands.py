from __future__ import annotations

import dataclasses
import os
import signal
from pathlib import Path

import pytest
import torch
from tests.models.hand_made import parentheses_net
from tests.shell.commands import Shell, check_quickly

from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import Checkpoint, load_checkpoint, save_model
from stacklens.models.training.recipes import RECIPES, recipe_for
from stacklens.models.training.recognition import Training

TRAIN = ("train", "nnpda", "--language", "parentheses", "--seeds", "2", "--seed", "1")


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """Return a checkpoint with a hand-made network for parentheses."""
    save_model(tmp_path / "net.pt", Checkpoint(parentheses_net(), {"language": "parentheses"}))
    return tmp_path / "net.pt"


def same_weights(one: Path, other: Path) -> bool:
    left, right = (load_checkpoint(path).model.state_dict() for path in (one, other))
    return all(torch.equal(left[name], right[name]) for name in right)


def test_trace_shows_every_step_and_the_verdict(net: Path, shell: Shell) -> None:
    accepted = shell("stacklens", "trace", net, "(())")
    assert (accepted.status, accepted.error) == (0, "")
    assert accepted.out.endswith("accepted\n")
    assert len([line for line in accepted.out.splitlines() if line.startswith("│")]) == 5
    rejected = shell("stacklens", "trace", net, "())", "--rounded")
    assert (rejected.status, rejected.error) == (0, "")
    assert rejected.out.endswith("rejected\n")
    assert shell("stacklens", "trace", net, "").out.endswith("accepted\n")


@pytest.mark.parametrize(
    ("network", "word", "says"),
    [
        ("nnpda-palindrome", "ε", "rejected"),
        ("marnn-stack-rnn-dyck-2", "ε", "accepted"),
        ("neural-stack-reversal", "0#1#", "outputs 0 0 0 1"),
        ("buffered-neural-stack-reversal", "011", "outputs 0 1 1"),
        ("neural-stack-reversal", "", "no outputs: the word is empty"),
    ],
)
def test_a_transducer_is_said_to_answer_and_not_to_accept_and_epsilon_is_the_empty_word(
    network: str, word: str, says: str, shell: Shell
) -> None:
    found = shell("stacklens", "trace", network, word)
    assert (found.status, found.out.splitlines()[-1]) == (0, says)


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [1, 74])
def test_ctrl_c_leaves_a_checkpoint_from_which_the_same_network_comes(
    epochs: int, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stage,) = RECIPES["parentheses"].stages
    brief = dataclasses.replace(stage, epochs=120)
    short = dataclasses.replace(RECIPES["parentheses"], stages=(brief,), check_length=8)
    monkeypatch.setitem(RECIPES, "parentheses", short)
    straight, stopped, resumed = (tmp_path / f"{name}.pt" for name in ("straight", "stopped", "resumed"))
    found = shell("stacklens", *TRAIN, "--out", straight)
    assert (found.status, found.error) == (0, "")
    assert f"to {straight}" in found.out
    with monkeypatch.context() as patched:
        epoch = Training.epoch

        def interrupted(self: Training) -> None:
            epoch(self)
            if self.epochs_done == epochs:
                os.kill(os.getpid(), signal.SIGINT)

        patched.setattr(Training, "epoch", interrupted)
        found = shell("stacklens", *TRAIN, "--out", stopped)
    assert (found.status, found.error) == (130, "")
    assert f"stopped; {stopped} holds the best network so far; go on with --resume {stopped}" in found.out
    checkpoint = load_checkpoint(stopped)
    assert checkpoint.training is not None
    assert checkpoint.training["epochs_done"] == epochs
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if epochs > 1:
        check_quickly(monkeypatch)
        assert shell("extract-pda", stopped, "--max-length", "5", "--quiet").status in (0, 1, 3)
    found = shell("stacklens", *TRAIN, "--resume", stopped, "--out", resumed)
    assert (found.status, found.error) == (0, "")
    assert same_weights(straight, resumed)
    assert load_checkpoint(resumed).training is None
    assert shell("stacklens", *TRAIN, "--resume", stopped).status == 0
    assert same_weights(straight, stopped)  # without --out the file itself goes on


def test_a_training_is_resumed_only_with_the_options_it_was_begun_with(tmp_path: Path, shell: Shell) -> None:
    stopped = tmp_path / "stopped.pt"
    training = Training(recipe_for(get_language("parentheses")), get_language("parentheses"), seed=1, nets=2)
    training.epoch()
    save_model(stopped, Checkpoint(training.network(), {"language": "parentheses"}, {}, training.state()))
    before = stopped.read_bytes()
    for option, value, message in [
        ("--seeds", "3", "it was begun with nets 2, asked for is 3"),
        ("--seed", "0", "it was begun with seed 1, asked for is 0"),
        ("--language", "dyck-1", "it was begun with language 'parentheses', asked for is 'dyck-1'"),
        ("--neurons", "4", "n_states=3"),
        ("--order", "third", "order=second"),
    ]:
        found = shell("stacklens", *TRAIN, "--resume", stopped, option, value)
        assert (found.status, found.out) == (2, "")
        assert found.error.startswith(f"error: {stopped}: this training cannot be resumed: ")
        assert message in found.error
        assert found.error.count("\n") == 1
    assert stopped.read_bytes() == before
