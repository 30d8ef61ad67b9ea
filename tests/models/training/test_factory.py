"""Trainers by name: which kind a model gets, what may be chosen, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stacklens.core.errors import StacklensError
from stacklens.models.training import recipes as fit_recipes
from stacklens.models.training.factory import make_trainer
from stacklens.models.training.loop import Trainer
from stacklens.models.training.recipes import SETS
from stacklens.models.training.recognition import Training
from stacklens.models.training.streams import StreamTraining
from stacklens.models.training.supervised import Fitting


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_recipes, "FIT_RECIPES", {})
    monkeypatch.setattr(fit_recipes, "SETS", replace(SETS, words=20, check_words=5, long_words=0))


@pytest.mark.parametrize(
    ("model", "language", "kind"),
    [
        ("nnpda", "parentheses", Training),
        ("stack-rnn", "anbn", StreamTraining),
        ("list-rnn", "anbn", StreamTraining),
        ("marnn-stack-lstm", "dyck-2", Fitting),
        ("neural-stack", "xor", Fitting),
        ("lstm", "dyck-2", Fitting),
        ("linear", "xor", Fitting),
    ],
)
def test_a_model_gets_its_trainer(model: str, language: str, kind: type[Trainer]) -> None:
    trainer = make_trainer(model, language, seed=3, nets=2)
    assert type(trainer) is kind
    assert (trainer.seed, trainer.n_nets, trainer.subject, trainer.epochs_done) == (3, 2, language, 0)
    assert trainer.source
    assert trainer.checked
    assert not trainer.done
    assert trainer.network(1).name == model
    assert trainer.network(1).alphabet == trainer.net.alphabet


@pytest.mark.parametrize(
    ("model", "language", "options", "config"),
    [
        ("nnpda", "anbn", {"order": "third", "neurons": 4}, {"order": "third", "n_states": 4}),
        ("stack-rnn", "anbn", {"stacks": 3, "depth": 1, "no_op": True}, {"n_stacks": 3, "depth": 1, "no_op": True}),
        ("list-rnn", "anbn", {"recurrent": True, "hidden": 7}, {"recurrent": True, "hidden": 7}),
        ("baby-ntm", "dyck-2", {"gating": "gumbel-softmax", "cell_size": 2}, {"gating": "gumbel-softmax"}),
        ("baby-ntm", "dyck-2", {"gating": "softmax-temperature"}, {"gating": "softmax with temperature"}),
        ("neural-stack", "reversal", {"controller": "lstm", "hidden": None}, {"controller": "lstm", "null": "#"}),
        ("rnn", "dyck-2", {"layers": 2}, {"layers": 2, "controller": "rnn", "first": ("(", "[")}),
    ],
)
def test_what_is_chosen_takes_the_place_of_the_recipes(
    model: str, language: str, options: dict[str, Any], config: dict[str, Any]
) -> None:
    found = make_trainer(model, language, options=options).network().config()
    assert {name: found[name] for name in config} == config


@pytest.mark.parametrize(
    ("model", "language", "options", "message"),
    [
        ("rnn", "dyck-2", {"stacks": 2}, "rnn has no option stacks; it has hidden, layers, epochs, device"),
        ("nnpda", "palindrome", {"hints": False}, "no recipe without hints for palindrome"),
        ("nnpda", "palindrome", {"order": "fourth"}, "order 'fourth' is not one of"),
        ("stack-rnn", "dyck-2", {}, "stack-rnn predicts endless streams, and dyck-2 is none"),
        ("lstm", "anbn", {}, "lstm learns words, and anbn is an endless stream"),
        ("neural-stack", "dyck-2", {}, "neural-stack learns transduction tasks"),
        ("baby-ntm", "dyck-2", {"gating": "hard"}, "gating 'hard' is not one of softmax"),
        ("neural-stack", "xor", {"controller": "gru"}, "controller 'gru' is not one of linear, rnn, lstm"),
        ("neural-stack", "xor", {"device": "abacus"}, "device 'abacus' cannot be used here"),
        ("stack-rnn", "anbn", {"device": "abacus"}, "device 'abacus' cannot be used here"),
        ("nnpda", "palindrome", {"device": "abacus"}, "device 'abacus' cannot be used here"),
    ],
)
def test_what_cannot_be_is_refused(model: str, language: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        make_trainer(model, language, options=options)
