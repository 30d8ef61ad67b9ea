"""Hand-made networks that push on a, pop on b and foresee both, until something that they add up tips them over."""

import torch
from tests.extract.certificate.proved import filled

from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, push
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN

AB = ("a", "b")


def pushing_and_popping() -> PushdownAutomaton:
    """Return what pushes on a and pops on b, and expects both."""
    rules: dict[Key, Transition] = {("q", "a", (top,)): Transition("q", (push("A"),), AB) for top in ("⊥", "A")}
    rules |= {("q", "b", (top,)): Transition("q", (POP if top == "A" else NONE,), AB) for top in ("⊥", "A")}
    return PushdownAutomaton(("q",), AB, ("A",), rules, "q", frozenset({"q"}), "final state")


def _bracket_net() -> MarnnStackRNN:
    """Return a network that pushes on a and pops on b, foresees both, and keeps three hidden units free.

    Its first hidden unit says which letter was read. The outputs rest on the second one: they vanish above 0.5.
    """
    return filled(
        MarnnStackRNN(MarnnConfig(AB, hidden=4)),
        input_weights=[[4.0, -4.0], *[[0.0, 0.0]] * 3],
        action_weights=[[4.0, 0.0, 0.0, 0.0], [-4.0, 0.0, 0.0, 0.0]],
        output_weights=[0.0, -20.0, 0.0, 0.0],
        output_bias=10.0,
    )


def leaking(growth: float) -> MarnnStackRNN:
    """Return one whose second unit grows a little at every step, whatever is read."""
    net = _bracket_net()
    with torch.no_grad():
        net.hidden_weights[1, 1] = growth
        net.hidden_bias[1] = 0.01
    return net


def rising(gain: float, bias: float) -> MarnnStackRNN:
    """Return one that pushes a little more on every cell than that cell holds; high cells turn its outputs off."""
    net = _bracket_net()
    with torch.no_grad():
        net.memory_weights[2, 0] = 1.0
        net.hidden_weights[2, 2] = 1.0  # what is on top
        net.pushed_weights[0, 2] = gain
        net.pushed_bias[0] = bias
        net.output_weights[:, 1] = 0.0
        net.output_weights[:, 2] = -40.0
        net.output_bias.fill_(20.0)
    return net
