"""How networks are trained: one loop, the kinds of training that go through it, and recipes as data.

Here stand what may be chosen, and the trainer of every model by name; nothing heavy is imported before one is made.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ...core.errors import StacklensError, UnknownNameError

if TYPE_CHECKING:
    from ...languages.language import Language
    from ...languages.task import Task
    from .loop import Trainer

_STREAM = ("hidden", "stacks", "depth", "no_op", "recurrent", "epochs", "device", "noise_robust")
_MARNN = ("hidden", "cell_size", "gating", "epochs", "device", "noise_robust")
# model: what may be chosen besides language and seeds
OPTIONS: dict[str, tuple[str, ...]] = {
    "nnpda": ("order", "neurons", "hints", "device"),
    "stack-rnn": _STREAM,
    "list-rnn": _STREAM,
    "marnn-stack-rnn": _MARNN,
    "marnn-stack-lstm": _MARNN,
    "marnn-joulin": _MARNN,
    "baby-ntm": _MARNN,
    "neural-stack": ("controller", "buffered", "hidden", "cell_size", "epochs", "device", "noise_robust"),
    "scrn": ("hidden", "context", "epochs", "device"),
    "rnn": ("hidden", "layers", "epochs", "device"),
    "lstm": ("hidden", "layers", "epochs", "device"),
    "linear": ("epochs", "device"),
}
SYNONYMS = {"firm": "noise_robust"}  # what files that were made before quote
_SHAPE = {"stacks": "n_stacks", "neurons": "n_states"}  # an option's name in the configuration, where it differs
_GATINGS = {"softmax-temperature": "softmax with temperature"}  # what is easier typed


def make_trainer(
    model: str,  # a name in `OPTIONS`
    subject: str | Language | Task,  # a language for the NNPDA, a task for others, or the name of one
    seed: int = 0,  # of the first network
    nets: int = 1,  # how many to train side by side
    # choices in place of the recipe's, named in `OPTIONS`; None where nothing is chosen
    options: dict[str, Any] | None = None,
) -> Trainer:
    """Return the trainer of networks ``seed``, ``seed + 1``, … of ``model``, ready for its first epoch. Raises
    UnknownNameError: no such model, language or task; StacklensError: the model lacks that option, or cannot learn that
    task.

    >>> trainer = make_trainer("marnn-stack-rnn", "dyck-2", seed=1, nets=2, options={"hidden": 6, "epochs": 3})
    >>> trainer.total_epochs, trainer.net.hidden_weights.shape
    (3, torch.Size([2, 6, 6]))
    """
    if model not in OPTIONS:
        raise UnknownNameError("model", model, list(OPTIONS))
    chosen = {SYNONYMS.get(name, name): value for name, value in (options or {}).items() if value is not None}
    if strange := [name for name in chosen if name not in OPTIONS[model]]:
        raise StacklensError(f"{model} has no option {', '.join(strange)}; it has {', '.join(OPTIONS[model])}")
    from ...languages.catalogue import get_language, get_task
    from ..base import check_device

    # what is left of the options is the shape's
    device, epochs = chosen.pop("device", "cpu"), chosen.pop("epochs", None)
    hints = chosen.pop("hints", True)
    buffered, robust = (chosen.pop(name, False) for name in ("buffered", "noise_robust"))
    shape = {_SHAPE.get(name, name): value for name, value in chosen.items()}
    check_device(device)
    common: dict[str, Any] = {"seed": seed, "nets": nets, "device": device}
    if model == "nnpda":
        from .recipes import recipe_for
        from .recognition import Training

        language: Any = get_language(subject) if isinstance(subject, str) else subject
        recogniser = recipe_for(language, hints)
        return Training(dataclasses.replace(recogniser, shape={**recogniser.shape, **shape}), language, **common)
    from ...languages.streams import StreamTask
    from . import recipes

    task: Any = get_task(subject) if isinstance(subject, str) else subject
    on_streams = model in (*recipes.MEMORIES, "scrn")
    if on_streams and not isinstance(task, StreamTask):
        raise StacklensError(f"{model} predicts endless streams, and {task.name} is none; choose one such as anbn")
    if isinstance(task, StreamTask) and not on_streams:
        raise StacklensError(
            f"{model} learns words, and {task.name} is an endless stream; train a stack-rnn, list-rnn or scrn on it"
        )
    if "gating" in shape:
        shape["gating"] = _GATINGS.get(shape["gating"], shape["gating"])
    model = f"buffered-{model}" if buffered else model
    recipe: Any = recipes.stream_recipe(task.name, model) if on_streams else recipes.fit_recipe(model, task)
    recipe = dataclasses.replace(recipe, shape={**recipe.shape, **shape})
    if robust:
        recipe = recipes.noise_robust_on_streams(recipe) if on_streams else recipes.noise_robust(recipe, task.name)
    if epochs is not None:
        recipe = dataclasses.replace(recipe, epochs=epochs)
    if on_streams:
        from .streams import StreamTraining

        return StreamTraining(recipe, task, model=model, **common)
    from .supervised import Fitting

    return Fitting(model, recipe, task, **common)
