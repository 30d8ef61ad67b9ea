"""Every recurrent family: networks that forget and always push are certified, and do what is claimed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tests.attack.certified_runs import follow
from tests.extract.certificate.proved import always_pushing

from stacklens.automata.pda import Output
from stacklens.extract.certificate.certify import Proof, prove
from stacklens.models.base import StackModel
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackLSTM, MarnnStackRNN

AB = ("a", "b")
Built = tuple[StackModel[Any], Output]


def shrunk(model: StackModel[Any]) -> StackModel[Any]:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.1)
    return model


def marnn(kind: type[MarnnStackRNN]) -> Built:
    model = kind(MarnnConfig(AB, hidden=3), seed=5)
    shrunk(model)
    with torch.no_grad():
        model.action_bias.copy_(torch.tensor([4.0, -4.0]))
        model.output_bias.copy_(torch.tensor([4.0, 4.0]))
    return model, AB


def neural(controller: Any) -> Built:
    model = NeuralStack(NeuralStackConfig(AB, controller=controller, hidden=3), seed=5)
    shrunk(model)
    with torch.no_grad():
        model.net.bias.copy_(torch.tensor([-4.0, 4.0, 0.0, 0.5, 0.0, 4.0]))  # pop, push, a value, the outputs
    return model, "b"


def joulin() -> Built:
    model = StackRNN(StackRNNConfig(AB, hidden=3, n_stacks=1, depth=2, recurrent=True), seed=5)
    with torch.no_grad():
        model.action_weights.copy_(torch.tensor([[3.0] * 3, [0.0] * 3]))
        model.output_weights.copy_(torch.tensor([[0.0] * 3, [3.0] * 3]))
    return model, "b"


NETWORKS: dict[str, Callable[[], Built]] = {
    "stack-rnn": joulin,
    "marnn-stack-rnn": lambda: marnn(MarnnStackRNN),
    "marnn-stack-lstm": lambda: marnn(MarnnStackLSTM),
    "neural stack, rnn": lambda: neural("rnn"),
    "neural stack, lstm": lambda: neural("lstm"),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_that_forget_are_certified_and_do_what_is_claimed(name: str) -> None:
    model, output = NETWORKS[name]()
    found = prove(model, always_pushing(output, AB))
    assert isinstance(found, Proof), found.reason
    assert len(found.bounds) > 3
    follow(model, always_pushing(output, AB), found.certificate, np.random.default_rng(1))


def test_what_a_network_keeps_apart_for_ever_is_kept_apart_by_a_grid() -> None:
    """Its two units remember the first letter by their sign, and an output is sure only where both have the same."""
    model = MarnnStackRNN(MarnnConfig(AB, hidden=2))
    values = {
        "hidden_weights": torch.eye(2) * 3,
        "input_weights": torch.tensor([[1.0, -1.0], [1.0, -1.0]]),
        "action_bias": torch.tensor([4.0, -4.0]),
        "output_weights": torch.tensor([[4.0, -4.0], [4.0, -4.0]]),
        "output_bias": torch.ones(2),
    }
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(values.get(name, torch.zeros_like(parameter)))
    found = prove(model, always_pushing(AB, AB))
    assert isinstance(found, Proof), found.reason
    assert found.system.layout.hidden is not None
    follow(model, always_pushing(AB, AB), found.certificate, np.random.default_rng(1))
