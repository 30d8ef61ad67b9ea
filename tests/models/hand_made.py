"""Networks built by hand from automata: any deterministic PDA is a third-order net (Sun et al. 1993, section 3.1)."""

from itertools import product

import torch
from hypothesis import strategies as st

from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, push
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig

GAIN = 200.0  # sigmoid(GAIN / 2) is 1 in 64 bits


@st.composite
def input_pushing_automata(draw: st.DrawFn, max_states: int = 3) -> PushdownAutomaton:
    """Return a random real-time automaton that pushes what it reads, as an NNPDA does; acceptance "both"."""
    states = tuple(f"s{i}" for i in range(draw(st.integers(1, max_states))))
    letters = draw(st.sampled_from((("a", "b"), ("a", "b", "c"), ("x", "y"))))
    rng = draw(st.randoms(use_true_random=False))
    density = rng.choice((0.5, 0.8, 1.0))
    transitions: dict[Key, Transition] = {}
    for state, letter, top in product(states, letters, ("⊥", *letters)):
        if rng.random() < density:
            operations = [NONE, push(letter), *([POP, POP] if top != "⊥" else [])]
            transitions[state, letter, (top,)] = Transition(rng.choice(states), (rng.choice(operations),))
    accepting = frozenset(state for state in states if rng.random() < 0.7)
    return PushdownAutomaton(states, letters, letters, transitions, states[0], accepting)


def hand_made(pda: PushdownAutomaton, end: str | None = None) -> NNPDA:
    """Return a net that does what ``pda`` does: one neuron a state, and one more.

    With ``end`` the last neuron answers the end symbol, and the words are those of ``pda``. Without, the last neuron
    says "no trap": the empty word is rejected, since it is 0 at the start, and all states count as accepting.
    """
    states = (pda.initial, *(state for state in pda.states if state != pda.initial))
    net = NNPDA(NNPDAConfig(pda.input_alphabet, "third", len(states) + 1, end=end, trap=end is None))
    letters = net.alphabet if end is None else (*net.alphabet, end)
    neurons, tops = len(states) + 1, len(letters) + 1
    state_weights = torch.zeros(neurons, neurons, tops, len(letters), dtype=torch.float64)
    action_weights = torch.zeros(neurons, tops, len(letters), dtype=torch.float64)
    for (state, letter, (top,)), step in pda.transitions.items():
        here, there = states.index(state), states.index(step.target)
        place = (len(letters) if top == "⊥" else letters.index(top), letters.index(letter))
        state_weights[there, here, *place] = GAIN
        if end is None:
            state_weights[-1, here, *place] = GAIN
        (done,) = step.operations
        action_weights[here, *place] = GAIN * (int(done.push is not None) - int(done.pop))
    if end is not None:
        for state in pda.accepting:
            state_weights[-1, states.index(state), len(letters), len(letters) - 1] = GAIN
    values = {
        "state_weights": state_weights.flatten(1),
        "action_weights": action_weights.flatten().unsqueeze(0),
        "state_bias": torch.full((neurons,), -GAIN / 2, dtype=torch.float64),
        "action_bias": torch.zeros(1, dtype=torch.float64),
    }
    net.load_state_dict(values)
    return net.eval()


def parentheses_net() -> NNPDA:
    """Return a second-order net for balanced parentheses: pushes `(`, pops with `)`, one state (section 4.3)."""
    net = NNPDA(NNPDAConfig(("(", ")"), "second", 2, end="e", trap=False, empty_reading=False))
    state_weights = torch.zeros(2, 2, 6, dtype=torch.float64)  # seen: ( ) e on the stack, then ( ) e in the input
    state_weights[0, 0, 3:5] = GAIN
    state_weights[1, 0, 5], state_weights[1, 0, 0] = GAIN, -2 * GAIN
    action_weights = torch.zeros(2, 6, dtype=torch.float64)
    action_weights[0, 3], action_weights[0, 4] = GAIN, -GAIN
    net.load_state_dict(
        {
            "state_weights": state_weights.flatten(1),
            "action_weights": action_weights.flatten().unsqueeze(0),
            "state_bias": torch.full((2,), -GAIN / 2, dtype=torch.float64),
            "action_bias": torch.zeros(1, dtype=torch.float64),
        }
    )
    return net.eval()
