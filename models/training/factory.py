"""The trainer of every model by name, with what may be chosen. Nothing heavy is imported before one is made."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ...core.errors import StacklensError, UnknownNameError
from . import OPTIONS, SYNONYMS

if TYPE_CHECKING:
    from ...languages.language import Language
    from ...languages.task import Task
    from .loop import Trainer


_SHAPE = {"stacks": "n_stacks", "neurons": "n_states"}  # an option's name in the configuration, where it differs
_NO_SHAPE = ("hints", "buffered", "epochs", "device", "noise_robust")
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
    given = {name: value for name, value in (options or {}).items() if value is not None}
    chosen = {SYNONYMS.get(name, name): value for name, value in given.items()}
    if strange := [name for name in chosen if name not in OPTIONS[model]]:
        known = ", ".join(OPTIONS[model])
        raise StacklensError(f"{model} has no option {', '.join(strange)}; it has {known}")
    shape = {_SHAPE.get(name, name): value for name, value in chosen.items() if name not in _NO_SHAPE}
    from ...languages.catalogue import get_language, get_task
    from ..base import check_device

    check_device(chosen.setdefault("device", "cpu"))
    if model == "nnpda":
        language = get_language(subject) if isinstance(subject, str) else subject
        return _recogniser(language, seed, nets, shape, chosen)  # type: ignore[arg-type]
    task: Any = get_task(subject) if isinstance(subject, str) else subject
    if model in ("stack-rnn", "list-rnn", "scrn"):
        from ...languages.streams import StreamTask
        from .recipes import noise_robust_on_streams as noise_robust
        from .recipes import stream_recipe
        from .streams import StreamTraining

        if not isinstance(task, StreamTask):
            raise StacklensError(f"{model} predicts endless streams, and {task.name} is none; choose one such as anbn")
        recipe = stream_recipe(task.name, model)
        if "epochs" in chosen:
            recipe = dataclasses.replace(recipe, epochs=chosen["epochs"])
        if chosen.get("noise_robust"):
            recipe = noise_robust(recipe)
        return StreamTraining(recipe, task, seed=seed, nets=nets, model=model, shape=shape, device=chosen["device"])
    model = f"buffered-{model}" if chosen.get("buffered") else model
    return _words_trainer(model, task, seed, nets, shape, chosen)


def _recogniser(language: Language, seed: int, nets: int, shape: dict[str, Any], chosen: dict[str, Any]) -> Trainer:
    from .recipes import RECIPES, recipe_for
    from .recognition import Training

    recipe = recipe_for(language)
    if not chosen.get("hints", True):
        name = f"{language.name} without hints"
        if name not in RECIPES:
            raise StacklensError(f"there is no recipe without hints for {language.name}; only for 1n0n")
        recipe = RECIPES[name]
    recipe = dataclasses.replace(recipe, shape={**recipe.shape, **shape})
    return Training(recipe, language, seed=seed, nets=nets, device=chosen["device"])


def _words_trainer(
    model: str, task: Task, seed: int, nets: int, shape: dict[str, Any], chosen: dict[str, Any]
) -> Trainer:
    from ...languages.streams import StreamTask
    from .recipes import fit_recipe, noise_robust
    from .supervised import Fitting

    if isinstance(task, StreamTask):
        raise StacklensError(
            f"{model} learns words, and {task.name} is an endless stream; train a stack-rnn, list-rnn or scrn on it"
        )
    if chosen.get("noise_robust") and chosen.get("buffered"):
        raise StacklensError("a buffered network is not trained noise-robust: it has no certificate; leave one out")
    recipe = fit_recipe(model, task)
    if "gating" in shape:
        shape["gating"] = _GATINGS.get(shape["gating"], shape["gating"])
    recipe = dataclasses.replace(recipe, shape={**recipe.shape, **shape})
    if chosen.get("noise_robust"):
        recipe = noise_robust(recipe, task.name)
    if "epochs" in chosen:
        recipe = dataclasses.replace(recipe, epochs=chosen["epochs"])
    return Fitting(model, recipe, task, seed=seed, nets=nets, device=chosen["device"])
