"""The models by name: which class, and which configuration it takes."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import Any

from stacklens.errors import StacklensError, UnknownNameError
from stacklens.models.base import StackModel
from stacklens.models.plain_data import names_in_short

__all__ = ["MODELS", "build_model", "expected_weights"]

# name: (module, model, configuration); imported when asked for
MODELS: dict[str, tuple[str, str, str]] = {
    "nnpda": ("nnpda", "NNPDA", "NNPDAConfig"),
    "stack-rnn": ("joulin", "StackRNN", "StackRNNConfig"),
    "list-rnn": ("joulin", "ListRNN", "ListRNNConfig"),
    "marnn-stack-rnn": ("suzgun", "MarnnStackRNN", "MarnnConfig"),
    "marnn-stack-lstm": ("suzgun", "MarnnStackLSTM", "MarnnConfig"),
    "marnn-joulin": ("suzgun", "MarnnJoulin", "MarnnConfig"),
    "baby-ntm": ("suzgun", "BabyNTM", "MarnnConfig"),
    "neural-stack": ("neural_stack", "NeuralStack", "NeuralStackConfig"),
    "buffered-neural-stack": ("buffered", "BufferedNeuralStack", "BufferedConfig"),
    "scrn": ("scrn", "SCRN", "SCRNConfig"),
    "rnn": ("baselines", "Baseline", "BaselineConfig"),
    "lstm": ("baselines", "Baseline", "BaselineConfig"),
    "linear": ("baselines", "Baseline", "BaselineConfig"),
}


def build_model(name: str, config: dict[str, Any], **options: Any) -> StackModel[Any]:
    """Return a new network of the model called ``name`` with the shape in ``config``, as `StackModel.config` gives it.

    ``options`` go to the model: ``seed``, ``nets``.

    Raises:
        UnknownNameError: there is no such model.
        StacklensError: the configuration is not that model's.
    """
    model_class, shape = _found(name, config)
    model: StackModel[Any] = model_class(shape, **options)
    return model


def expected_weights(name: str, config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights that ``build_model(name, config)`` would have, by name; none are made.

    Raises:
        StacklensError: as `build_model`.
    """
    model_class, shape = _found(name, config)
    return model_class.parameter_shapes(shape)


def _found(name: str, config: dict[str, Any]) -> tuple[type[StackModel[Any]], Any]:
    """Return the class of the model called ``name``, and its shape from ``config``."""
    if name not in MODELS:
        raise UnknownNameError("model", name, list(MODELS))
    module, model_class, config_class = MODELS[name]
    room = import_module(f"stacklens.models.networks.{module}")
    fields = {field.name for field in dataclasses.fields(getattr(room, config_class))}
    if strangers := [key for key in config if key not in fields]:
        found, expected = names_in_short(strangers), ", ".join(sorted(fields))
        raise StacklensError(f"the configuration is not that of a {name}: found {found}; expected {expected}")
    if "alphabet" not in config:
        raise StacklensError(f"the configuration is not that of a {name}: it lacks the alphabet")
    return getattr(room, model_class), getattr(room, config_class)(**config)
