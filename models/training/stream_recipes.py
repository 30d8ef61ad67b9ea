"""Recipes for predictors of endless streams (`stream_training`): one a task, with where the settings come from.

The paper (Joulin & Mikolov 2015, section 5) takes stochastic gradient descent one symbol at a time, 40 hidden units and
10 stacks. Adam on batches of streams learns the same tasks in seconds with one or two stacks, which can be read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from stacklens.errors import UnknownNameError

__all__ = ["MEMORIES", "STREAM_RECIPES", "StreamRecipe", "noise_robust", "stream_recipe"]


@dataclass(frozen=True)
class StreamRecipe:
    """How a predictor of streams is trained.

    Attributes:
        shape: arguments of the model's configuration besides the alphabet.
        smallest: the smallest size of a piece; the paper begins with 2, the tasks' automata with 1.
        n_max: sizes of pieces grow with the epochs up to one below it (the authors' nmax, see `streams.curriculum`).
        epochs: at most so many; fresh streams from empty memories in each.
        windows: how many windows of backpropagation an epoch has, each followed by an update.
        beginnings: so many times an epoch the streams begin anew, with empty memories.
        window: how many steps a window has (section 5: 50).
        streams: how many streams are read side by side.
        rate: Adam's learning rate.
        decay: of weights, as a share of them in an update at a rate of 1 (AdamW); 0 for Adam.
        last_rate: what it falls to as a cosine over the epochs after the curriculum, as a share of it.
        clip: the gradient's norm is clipped here, network by network.
        cells: how many cells a memory has in training; sizes are small then, and so are memories.
        sharpness: once sizes have grown, actions between the operations cost up to so much, so that rounding can do
            without them.
        noise: by how much hidden units that are seen again and readings are disturbed (see `noise.draw_noise`), once
            sizes have grown: it rises over the first half of the epochs from then on. Only networks of later checks are
            kept. 0 for never.
        blur_cost: what it costs then that units are not at 0 or 1, or actions not whole.
        forget_bias: what is added at first to the biases of an LSTM's forget gates; with 0 it forgets half in a step.
        single: whether networks have numbers of 32 bits in training.
        counted: whether the loss counts every symbol, or only those that can be known (binary addition).
        by_loss: whether, where errors are alike, a check takes the loss on its own pieces, which tells networks without
            a memory apart; these pieces are then of each size equally many. Else it is the loss of training.
        check_sizes: sizes of the pieces on which networks are checked (section 5.1: up to 60).
        check_pieces: pieces of each size in a check.
        check_short: so many further streams of a check have small pieces only, which seldom come together.
        check_every: epochs between two checks.
        patience: checks without an error of one and the same rounded network that end the training early.
        source: where the settings come from.
    """

    shape: dict[str, Any]
    smallest: int = 1
    n_max: int = 15
    epochs: int = 60
    windows: int = 40
    beginnings: int = 1
    window: int = 50
    streams: int = 8
    rate: float = 0.01
    last_rate: float = 0.1
    clip: float = 1.0
    cells: int = 40
    sharpness: float = 0.0
    noise: float = 0.0
    blur_cost: float = 0.0
    forget_bias: float = 0.0
    single: bool = False
    counted: Literal["all", "known"] = "all"
    by_loss: bool = False
    decay: float = 0.0
    check_sizes: tuple[int, int] = (1, 59)
    check_pieces: int = 4
    check_short: int = 12
    check_every: int = 5
    patience: int = 3
    source: str = ""


_PAPER = "Joulin & Mikolov 2015, section 5.1"

STREAM_RECIPES: dict[str, StreamRecipe] = {
    "anbn": StreamRecipe(shape={"hidden": 10, "n_stacks": 1}, source=f"{_PAPER}; 10 units and 1 stack are enough"),
    "anb2n": StreamRecipe(shape={"hidden": 40, "n_stacks": 2}, source=f"{_PAPER}; table 3 has 2 stacks"),
    "anbncn": StreamRecipe(shape={"hidden": 40, "n_stacks": 2}, source=f"{_PAPER}; 2 stacks are enough"),
    "anbncndn": StreamRecipe(shape={"hidden": 40, "n_stacks": 3}, source=f"{_PAPER}; 3 stacks are enough"),
    "anbmcnm": StreamRecipe(
        shape={"hidden": 40, "n_stacks": 2}, smallest=2, check_sizes=(2, 59), source=f"{_PAPER}; 2 stacks are enough"
    ),
    "memorization": StreamRecipe(
        shape={"hidden": 100, "n_stacks": 10},
        smallest=2,
        n_max=12,
        clip=5.0,
        sharpness=0.02,
        check_sizes=(2, 59),
        check_short=0,
        source=f"{_PAPER} and figure 2",
    ),
    "addition": StreamRecipe(
        shape={"hidden": 100, "n_stacks": 10, "no_op": True},
        smallest=0,
        n_max=12,
        epochs=100,
        clip=5.0,
        sharpness=0.02,
        counted="known",
        source=f"{_PAPER} and figure 2",
    ),
}
MEMORIES = ("stack-rnn", "list-rnn")
_BASELINES = ("rnn", "lstm", "scrn")
_LISTS = 5  # "either 5 lists or 10 stacks", section 5.1


def noise_robust(recipe: StreamRecipe) -> StreamRecipe:
    """Return the recipe with disturbances in the end, which make networks that can be certified."""
    return replace(recipe, noise=0.2, blur_cost=0.05, source=f"{recipe.source}; disturbed and sharpened in the end")


def stream_recipe(task: str, model: str = "stack-rnn") -> StreamRecipe:
    """Return the recipe of a task by name, for ``stack-rnn`` or ``list-rnn``, or for ``rnn``, ``lstm`` or ``scrn``.

    Raises:
        UnknownNameError: there is no recipe for such a task, or no such model.
    """
    if task not in STREAM_RECIPES:
        raise UnknownNameError("stream recipe", task, list(STREAM_RECIPES))
    recipe = STREAM_RECIPES[task]
    if model not in (*MEMORIES, *_BASELINES):
        raise UnknownNameError("predictor of streams", model, [*MEMORIES, *_BASELINES])
    if model == "scrn":
        return replace(recipe, shape={}, sharpness=0.0)
    if model in _BASELINES:
        return replace(recipe, shape={"controller": model, "task_kind": "next symbol", "hidden": 100}, sharpness=0.0)
    if model == "stack-rnn":
        return recipe
    lists = 10 if recipe.shape["n_stacks"] == 10 else _LISTS
    return replace(recipe, shape={**recipe.shape, "n_stacks": lists})
