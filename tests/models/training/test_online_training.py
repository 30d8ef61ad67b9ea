"""Training as the authors do: one symbol, one update; rates and best weights network by network."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from stacklens.languages.catalogue import get_task
from stacklens.languages.streams import StreamTask
from stacklens.models.training.loop import SideBySide
from stacklens.models.training.streams import learned_streams
from stacklens.papers.joulin2015_online import OnlineRecipe, OnlineTraining, UpdatePiece

TINY = OnlineRecipe({"hidden": 5, "n_stacks": 1}, pieces=6, emptied=4, n_max=4, validation=10, checked=(2, 3), steps=3)


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
    made = training(replace(TINY, shape=shape, epochs=4, pieces=30), model)
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
    costs = made.costs(UpdatePiece(made.net.initial_state(1), symbols, 2, [2], torch.tensor([1])))
    assert costs is not None
    costs.sum().backward()  # type: ignore[no-untyped-call]
    made.update()
    for (name, value), gradient in zip(made.net.named_parameters(), gradients, strict=True):
        torch.testing.assert_close(value.detach(), before[name] - 0.1 * gradient)


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


def test_memories_are_emptied_after_so_many_pieces_and_the_symbol_before_is_read_again() -> None:
    streams = list(learned_streams(task("addition"), ["1+1=01.", "0+0=0.", "0+1=1."], emptied=2, known_only=True))
    shown = ["".join("+=.01"[symbol] for symbol in stream.symbols) for stream in streams]
    assert shown == ["1+1=01.0+0=0", ".0+1=1"]
    assert [stream.counts.astype(int).tolist() for stream in streams] == [
        [0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 1, 1],
    ]
    assert all((stream.symbols[1:] == stream.following[:-1]).all() for stream in streams)


def test_the_stack_network_is_trained_by_hand_as_autograd_does_but_for_the_age_of_its_steps() -> None:
    """At a small rate that age makes no difference; errors go back as far as symbols were learned."""
    recipe = replace(TINY, shape={"hidden": 5, "n_stacks": 2, "no_op": True}, rate=1e-6, least_rate=1e-9, steps=40)
    made = [training(recipe) for _ in range(2)]
    begun = [value.detach().clone() for value in made[0].net.parameters()]
    made[0].epoch()
    SideBySide.epoch(made[1])
    assert made[0].updates == made[1].updates > 10
    for before, left, right in zip(begun, made[0].net.parameters(), made[1].net.parameters(), strict=True):
        torch.testing.assert_close(left - before, right - before, rtol=1e-3, atol=1e-11)
    np.testing.assert_allclose(made[0].best, made[1].best, rtol=1e-6)


@pytest.mark.parametrize("model", ["rnn", "lstm"])
def test_gathered_errors_move_weights_as_single_ones_do_together(model: str) -> None:
    """At a small rate it makes no difference after how many symbols weights move; an end of a stream is waited for."""
    shape = {"hidden": 5, "controller": model, "task_kind": "next symbol", "layers": 2}
    recipe = replace(TINY, shape=shape, rate=1e-6, least_rate=1e-9, steps=40)
    gathered, single = training(replace(recipe, together=4), model), training(recipe, model)
    begun = [value.detach().clone() for value in single.net.parameters()]
    gathered.epoch()
    single.epoch()
    assert gathered.symbols == single.symbols > 10
    assert single.updates / 4 <= gathered.updates < single.updates / 2
    for before, left, right in zip(begun, gathered.net.parameters(), single.net.parameters(), strict=True):
        moved = (right - before).detach()
        torch.testing.assert_close((left - before).detach(), moved, rtol=1e-3, atol=1e-4 * float(moved.abs().max()))
    np.testing.assert_allclose(gathered.best, single.best, rtol=1e-6)


@pytest.mark.parametrize(("steps", "together"), [(3, 1), (3, 4), (8, 3)])
def test_an_update_goes_back_as_far_as_its_first_symbol_does(steps: int, together: int) -> None:
    """Each piece is read from the state before it, and every symbol that counts is predicted once."""
    shape = {"hidden": 5, "controller": "rnn", "task_kind": "next symbol"}
    made, found = training(replace(TINY, shape=shape, steps=steps, together=together), "rnn"), []
    streams = list(made._streams())
    with torch.no_grad():
        for piece in made.batches():
            assert len(piece.symbols) - piece.fresh <= together
            assert not piece.places or piece.places[0] < steps
            made.costs(piece)
            found += [
                (int(piece.symbols[place]), int(target))
                for place, target in zip(piece.places, piece.following, strict=True)
            ]
    counted = [(symbol, following) for stream in streams for symbol, following, counts in stream.steps() if counts]
    assert found == counted


def test_training_goes_on_from_a_file_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    whole, first, second = (training(replace(TINY, epochs=3)) for _ in range(3))
    whole.run()
    first.epoch()
    first.save(tmp_path / "state.pt")
    second.load(tmp_path / "state.pt")
    assert second.seconds == first.seconds > 0
    second.run()
    assert (second.epochs_done, second.updates) == (3, whole.updates)
    np.testing.assert_array_equal(second.best, whole.best)
    for name, value in whole.best_weights.items():
        assert torch.equal(value, second.best_weights[name])
