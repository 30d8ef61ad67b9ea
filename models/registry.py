"""The models by name: which class, and which configuration it takes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stacklens.errors import StacklensError, UnknownNameError
from stacklens.models.base import StackModel

__all__ = ["MODELS", "build_model"]

# name: (module, model, configuration); imported when asked for
MODELS: dict[str, tuple[str, str, str]] = {
    "nnpda": ("nnpda", "NNPDA", "NNPDAConfig"),
    "stack-rnn": ("stack_rnn", "StackRNN", "StackRNNConfig"),
    "list-rnn": ("list_rnn", "ListRNN", "ListRNNConfig"),
    "marnn-stack-rnn": ("marnn", "MarnnStackRNN", "MarnnConfig"),
    "marnn-stack-lstm": ("marnn", "MarnnStackLSTM", "MarnnConfig"),
    "marnn-joulin": ("marnn_joulin", "MarnnJoulin", "MarnnConfig"),
    "baby-ntm": ("baby_ntm", "BabyNTM", "MarnnConfig"),
    "neural-stack": ("neural_stack", "NeuralStack", "NeuralStackConfig"),
    "buffered-neural-stack": ("buffered", "BufferedNeuralStack", "BufferedConfig"),
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
    if name not in MODELS:
        raise UnknownNameError("model", name, list(MODELS))
    module, model_class, config_class = MODELS[name]
    room = import_module(f"stacklens.models.{module}")
    try:
        shape = getattr(room, config_class)(**config)
    except (TypeError, AttributeError) as error:
        raise StacklensError(f"the configuration is not that of a {name}: {error}") from None
    model: StackModel[Any] = getattr(room, model_class)(shape, **options)
    return model
