"""The networks of the papers, a controller and a stack each; by name, which class, and which configuration it takes."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...core.errors import StacklensError, UnknownNameError, names_in_short

if TYPE_CHECKING:
    from ..base import StackModel

# name: (module, model, configuration); imported when asked for
MODELS: dict[str, tuple[str, str, str]] = {
    "nnpda": ("nnpda", "NNPDA", "NNPDAConfig"),
    "stack-rnn": ("joulin", "StackRNN", "StackRNNConfig"),
    "list-rnn": ("joulin", "ListRNN", "StackRNNConfig"),
    "marnn-stack-rnn": ("suzgun", "MarnnStackRNN", "MarnnConfig"),
    "marnn-stack-lstm": ("suzgun", "MarnnStackLSTM", "MarnnConfig"),
    "marnn-joulin": ("suzgun", "MarnnJoulin", "MarnnConfig"),
    "baby-ntm": ("suzgun", "BabyNTM", "MarnnConfig"),
    "neural-stack": ("neural_stack", "NeuralStack", "NeuralStackConfig"),
    "buffered-neural-stack": ("neural_stack", "BufferedNeuralStack", "BufferedConfig"),
    "scrn": ("baselines", "SCRN", "SCRNConfig"),
    "rnn": ("baselines", "Baseline", "BaselineConfig"),
    "lstm": ("baselines", "Baseline", "BaselineConfig"),
    "linear": ("baselines", "Baseline", "BaselineConfig"),
}


def build_model(name: str, config: dict[str, Any], **options: Any) -> StackModel[Any]:
    """Return a new network of the model called ``name`` with the shape in ``config``, as `StackModel.config` gives it.
    ``options`` go to the model: ``seed``, ``nets``. Raises UnknownNameError: there is no such model. Raises
    StacklensError: the configuration is not that model's.
    """
    model_class, shape = class_and_shape(name, config)
    return model_class(shape, **options)


def class_and_shape(name: str, config: dict[str, Any]) -> tuple[type[StackModel[Any]], Any]:
    """Return the class of the model called ``name``, and its shape from ``config``."""
    if name not in MODELS:
        raise UnknownNameError("model", name, list(MODELS))
    module, model_class, config_class = MODELS[name]
    room = import_module(f".{module}", __name__)
    fields = {field.name for field in dataclasses.fields(getattr(room, config_class))}
    if strangers := [key for key in config if key not in fields]:
        found, expected = names_in_short(strangers), ", ".join(sorted(fields))
        raise StacklensError(f"the configuration is not that of a {name}: found {found}; expected {expected}")
    if "alphabet" not in config:
        raise StacklensError(f"the configuration is not that of a {name}: it lacks the alphabet")
    return getattr(room, model_class), getattr(room, config_class)(**config)
