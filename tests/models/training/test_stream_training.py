from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from stacklens.errors import StacklensError, UnknownNameError
from stacklens.languages.catalogue import get_task
from stacklens.languages.tasks.streams import StreamTask
from stacklens.models.training.stream_recipes import STREAM_RECIPES, StreamRecipe, stream_recipe
from stacklens.models.training.stream_training import StreamTraining

TINY = StreamRecipe(
    shape={"hidden": 6, "n_stacks": 1},
    n_max=5,
    epochs=6,
    windows=3,
    window=20,
    streams=4,
    cells=12,
    check_sizes=(2, 9),
    check_pieces=2,
    check_short=1,
    check_every=2,
    sharpness=0.01,
)


def stream_task(name: str) -> StreamTask:
    task = get_task(name)
    assert isinstance(task, StreamTask)
    return task


def tiny(name: str = "anbn", recipe: StreamRecipe = TINY, **options: object) -> StreamTraining:
    return StreamTraining(recipe, stream_task(name), **options)  # type: ignore[arg-type]


def weights(training: StreamTraining, number: int) -> list[torch.Tensor]:
    return [value[number] for value in training.net.state_dict().values()]


def test_a_few_epochs_teach_something() -> None:
    training = tiny(nets=3)
    training.epoch()
    before = training.losses
    while not training.done:
        training.epoch()
    assert training.epochs_done == training.total_epochs == 6
    assert (training.losses < before).all()
    assert training.checked_pieces == 24
    assert all(score.rounded_errors <= 24 for score in training.best)


def test_a_resumed_training_gives_the_same_weights_bit_for_bit() -> None:
    whole, first = tiny(nets=2, seed=3), tiny(nets=2, seed=3)
    for _ in range(3):
        first.epoch()
    state = first.state()
    first.epoch()  # does not change the state that was taken
    second = tiny(nets=2, seed=3)
    second.restore(state)
    while not second.done:
        second.epoch()
    while not whole.done:
        whole.epoch()
    assert second.best == whole.best
    for left, right in zip(second.net.state_dict().values(), whole.net.state_dict().values(), strict=True):
        assert torch.equal(left, right)
    for name, value in whole.best_weights.items():
        assert torch.equal(second.best_weights[name], value)


def test_a_network_becomes_what_it_becomes_alone() -> None:
    many, alone = tiny(nets=3, seed=5), tiny(seed=6)
    for _ in range(2):
        many.epoch()
        alone.epoch()
    for left, right in zip(weights(many, 1), weights(alone, 0), strict=True):
        torch.testing.assert_close(left, right)


def test_the_best_network_has_the_whole_memory_that_the_shape_asks_for() -> None:
    training = tiny(nets=2, shape={"n_stacks": 2, "stack_limit": 30})
    assert training.net.stack_limit == TINY.cells
    assert (training.network(1).n_stacks, training.network(1).stack_limit) == (2, 30)


def test_memories_are_bounded_however_long_the_stream() -> None:
    training = tiny(nets=2)
    state = training.net.initial_state(3)
    with torch.no_grad():
        for _ in range(40):
            state = training.net.step(torch.zeros(3, dtype=torch.int64), state).state
    assert state.stack.cells(100).shape[-2] == 100
    assert state.stack.stored.shape[-2] == TINY.cells


def test_lists_are_trained_too() -> None:
    recipe = replace(stream_recipe("anbn", "list-rnn"), epochs=1, windows=1, streams=2, check_sizes=(2, 3))
    training = tiny(recipe=recipe, model="list-rnn")
    training.epoch()
    assert training.network().name == "list-rnn"
    assert training.network().n_stacks == 5


def test_only_what_can_be_known_counts_where_the_recipe_says_so() -> None:
    training = tiny("addition", replace(TINY, counted="known", n_max=4))
    symbols, counts = training._streams()
    words = ["".join(training.task.alphabet[i] for i in row) for row in symbols.tolist()]
    for word, row in zip(words, counts.tolist(), strict=True):
        assert row == [False, *training.task.scored(word)[:-1]]
        assert any(row)


@pytest.mark.parametrize("changed", [{"seed": 1}, {"nets": 2}, {"shape": {"hidden": 7}}, {"name": "anb2n"}])
def test_a_state_of_another_training_is_refused(changed: dict[str, object]) -> None:
    state = tiny().state()
    with pytest.raises(StacklensError, match="cannot be resumed: it was begun with"):
        tiny(**changed).restore(state)  # type: ignore[arg-type]


def test_a_damaged_state_is_refused() -> None:
    state = tiny().state()
    del state["optimizer"]
    with pytest.raises(StacklensError, match="its state is damaged"):
        tiny().restore(state)


def test_every_recipe_fits_its_task() -> None:
    for name in STREAM_RECIPES:
        recipe = replace(stream_recipe(name), check_sizes=(2, 2), check_pieces=1)
        assert StreamTraining(recipe, stream_task(name)).network().alphabet == get_task(name).alphabet


@pytest.mark.parametrize(("task", "model"), [("dyck-1", "stack-rnn"), ("anbn", "nnpda")])
def test_unknown_names_are_listed(task: str, model: str) -> None:
    with pytest.raises(UnknownNameError, match=r"stack-rnn|anbncn"):
        stream_recipe(task, model)


LSTM = replace(TINY, shape={"hidden": 6, "controller": "lstm", "task_kind": "next symbol", "layers": 2}, sharpness=0.0)


def test_forget_gates_begin_open_as_far_as_they_are_asked_to() -> None:
    plain, open_ones = (tiny(recipe=replace(LSTM, forget_bias=bias), model="lstm", nets=2) for bias in (0.0, 3.0))
    for name, value in open_ones.net.named_parameters():
        added = value.detach() - plain.net.get_parameter(name).detach()
        expected = torch.zeros_like(added)
        if name in ("hidden_0_bias", "hidden_1_bias"):
            expected[:, 6:12] = 3
        torch.testing.assert_close(added, expected)


def test_only_an_lstm_has_forget_gates() -> None:
    with pytest.raises(StacklensError, match="stack-rnn: expected an LSTM for a forget bias of 3"):
        tiny(recipe=replace(TINY, forget_bias=3.0))


def test_networks_of_32_bits_are_kept_as_they_are() -> None:
    training = tiny(recipe=replace(LSTM, single=True), model="lstm", nets=2)
    training.epoch()
    training.epoch()
    assert {value.dtype for value in training.best_weights.values()} == {torch.float32}
    kept = training.network(0).get_parameter("hidden_0_weights")
    assert kept.dtype == torch.float64
    assert torch.equal(kept.float(), training.best_weights["hidden_0_weights"][0])


def test_weights_decay_where_nothing_else_moves_them() -> None:
    recipe = replace(LSTM, decay=0.5, rate=0.1)
    training = tiny(recipe=recipe, model="lstm", nets=1)
    before = training.net.get_parameter("output_weights").detach().clone()
    training.optimizer.zero_grad()
    for weights in training.net.parameters():
        weights.grad = torch.zeros_like(weights)
    training.update()
    torch.testing.assert_close(training.net.get_parameter("output_weights").detach(), before * (1 - 0.1 * 0.5))


def test_the_rate_falls_as_far_as_the_recipe_says() -> None:
    steady, falling = tiny(recipe=replace(TINY, last_rate=1.0)), tiny()
    for training in (steady, falling):
        training.epochs_done = training.total_epochs
    assert (steady.learning_rate(), falling.learning_rate()) == pytest.approx((0.01, 0.001))


def test_among_networks_without_errors_the_one_that_is_surest_is_kept() -> None:
    training = tiny(recipe=replace(LSTM, by_loss=True, check_sizes=(2, 2)), model="lstm", nets=2)
    training.epoch()
    training.epoch()
    assert training.checked_pieces == 20
    assert all(score.rounded_errors == score.analog_errors <= 20 for score in training.best)
    losses = [score.loss for score in training.best]
    training.losses = torch.zeros(2)  # what training loses does not count
    training.best = [replace(score, loss=9.0) for score in training.best]
    training.check()
    assert [score.loss for score in training.best] == pytest.approx(losses)


def test_symbols_and_updates_are_counted() -> None:
    training = tiny(recipe=replace(TINY, beginnings=2, windows=6))
    training.epoch()
    assert (training.updates, training.symbols_read) == (6, 6 * 20 * 4)
