from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from stacklens.core.errors import StacklensError
from stacklens.languages.catalogue import get_task
from stacklens.languages.streams import StreamTask
from stacklens.models.training.recipes import StreamRecipe
from stacklens.models.training.streams import StreamTraining

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


LSTM = replace(TINY, shape={"hidden": 6, "controller": "lstm", "task_kind": "next symbol", "layers": 2}, sharpness=0.0)


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
