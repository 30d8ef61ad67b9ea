"""Training as the authors do: one symbol, one update; rates and best weights network by network."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from stacklens.languages.catalogue import get_task
from stacklens.languages.tasks.streams import StreamTask
from stacklens.models.training.online import OnlineRecipe, OnlineTraining, Symbol

TINY = OnlineRecipe({"hidden": 5, "n_stacks": 1}, pieces=6, emptied=4, n_max=4, validation=1, steps=3)


def task(name: str = "anbn") -> StreamTask:
    found = get_task(name)
    assert isinstance(found, StreamTask)
    return found


def training(recipe: OnlineRecipe = TINY, model: str = "stack-rnn", nets: int = 2, seed: int = 0) -> OnlineTraining:
    return OnlineTraining(model, recipe, task(), seed=seed, nets=nets)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        ("stack-rnn", {"hidden": 5, "n_stacks": 2}),
        ("list-rnn", {"hidden": 5, "n_stacks": 1}),
        ("rnn", {"hidden": 5, "controller": "rnn", "task_kind": "next symbol"}),
        ("lstm", {"hidden": 5, "controller": "lstm", "task_kind": "next symbol"}),
    ],
)
def test_a_few_epochs_teach_every_model_something(model: str, shape: dict[str, object]) -> None:
    made = training(replace(TINY, shape=shape, epochs=4, pieces=15), model)
    made.epoch()
    first = made.best.copy()
    while not made.done:
        made.epoch()
    assert made.epochs_done == 4
    assert (made.best < first).all()


def test_one_update_is_one_step_of_descent_on_the_last_prediction_alone() -> None:
    made = training(nets=1)
    symbols = torch.tensor([0, 0, 1])
    before = {name: value.detach().clone() for name, value in made.net.named_parameters()}
    outputs = made.net.run(symbols.unsqueeze(1), made.net.initial_state(1)).output
    loss = -outputs[-1, 0, 0, 1].log()
    gradients = torch.autograd.grad(loss, list(made.net.parameters()))
    costs = made.costs(Symbol(made.net.initial_state(1), symbols, torch.tensor(1)))
    assert costs is not None
    costs.sum().backward()  # type: ignore[no-untyped-call]
    made.update()
    for (name, value), gradient in zip(made.net.named_parameters(), gradients, strict=True):
        torch.testing.assert_close(value.detach(), before[name] - 0.1 * gradient)


def test_a_symbol_that_does_not_count_teaches_nothing() -> None:
    made = training(nets=1)
    assert made.costs(Symbol(made.net.initial_state(1), torch.tensor([0, 1]), None)) is None
    state = made._states[-1]
    assert state.stack.reading().shape == (1, 1, 1, 2)
    assert not state.hidden.requires_grad


def test_errors_are_clipped_element_by_element() -> None:
    made = training(replace(TINY, clip=0.5))
    assert made._clipped(torch.tensor([-3.0, 0.2, 3.0])).tolist() == pytest.approx([-0.5, 0.2, 0.5])


def test_a_network_becomes_what_it_becomes_alone() -> None:
    many, alone = training(nets=3, seed=1), training(nets=1, seed=2)
    many.epoch()
    alone.epoch()
    for left, right in zip(many.net.parameters(), alone.net.parameters(), strict=True):
        torch.testing.assert_close(left[1], right[0])


def test_who_gets_no_better_goes_back_to_its_best_and_slows_down_the_others_do_not() -> None:
    made = training()
    made.epoch()
    made.epochs_done = 11  # the curriculum is over
    made.best = np.array([-math.inf, math.inf])
    best = {name: value.clone() for name, value in made.best_weights.items()}
    with torch.no_grad():
        for value in made.net.parameters():
            value.add_(1)
    made.check()
    assert made.rates.tolist() == [0.05, 0.1]
    for name, value in made.net.named_parameters():
        torch.testing.assert_close(value[0], best[name][0])
        torch.testing.assert_close(made.best_weights[name][1], value[1])


def test_training_ends_when_nothing_moves_any_more() -> None:
    made = training()
    made.rates = np.full(2, 1e-6)
    assert made.done
    made.epoch()
    assert made.epochs_done == 0


def test_memories_are_emptied_after_so_many_pieces() -> None:
    made = training()
    streams = made._streams()
    assert [len(task().pieces(stream)) for stream in streams] == [4, 2]


def test_only_answers_count_in_addition() -> None:
    recipe = replace(TINY, known_only=True, smallest=0, pieces=2, n_max=4)
    made = OnlineTraining("stack-rnn", recipe, task("addition"), seed=0, nets=1)
    made.epoch()
    assert made.epochs_done == 1
