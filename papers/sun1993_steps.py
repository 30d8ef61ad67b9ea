"""Tables 1 and 2 of Sun et al. 1993 as printed, beside our network's steps; and automata as the paper reads them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .results import Measured, Results, declared
from .tables import TextTable

if TYPE_CHECKING:
    from ..automata.minimize import Minimization
    from ..automata.pda import Key, PushdownAutomaton
    from ..extract.search.clustering import Quantiser
    from ..extract.search.machine import Machine, MachineHead, MachineState
    from ..languages.language import Language
    from ..models.base import StackModel, Step


PRINTED: dict[str, list[list[str]]] = declared("sun1993")["printed"]
_COLUMNS = (
    *("word", "step", "input", "state: the paper", "ours", "action: the paper", "ours"),
    *("stack: the paper", "ours", "same operation"),
)
_STATE_COLUMNS = ("state", "vector", "mean of the network's own vectors", "merged into", "moves")
_EMPTY = {"⊥": "ϕ"}
_TITLE = "Sun et al. 1993, tables 1 and 2: palindromes step by step"


def steps_beside(results: Results) -> TextTable:
    """Return the steps of tables 1 and 2, ours from the results of sun1993-claims beside theirs.

    Operations are rounded actions: push above 0.5, pop below -0.5, nothing between.
    """
    ours = {
        word: found["steps"]
        for claim in results.claims
        for word, found in claim.figures.items()
        if word in PRINTED and isinstance(found, dict)
    }
    rows = []
    for word, steps in PRINTED.items():
        for number, (theirs, step) in enumerate(zip(steps, ours.get(word, ()), strict=False)):
            state, action, stack = theirs
            own = " ".join(f"{value:.4f}" for value in step["state"])
            segments = " ".join(f"{symbol} {length:.4f}" for symbol, length in step["segments"]) or "empty"
            alike = _rounded_action(float(action)) == _rounded_action(step["action"])
            ours_beside = own, action, f"{step['action']:.4f}", stack, segments
            rows.append((word, str(number + 1), word[number], state, *ours_beside, "yes" if alike else "no"))
    same = sum(row[-1] == "yes" for row in rows)
    caption = f"stacklens papers run {results.experiment}; the same operation in {same} of {len(rows)} steps"
    return TextTable(_TITLE, _COLUMNS, tuple(rows), caption)


def figure_tables(results: Results) -> list[TextTable]:
    """Return a table for each network whose states were measured: their vectors, and moves as in figures 7 to 12."""
    return [_state_table(claim) for claim in results.claims if "moves" in claim.figures]


def _state_table(claim: Measured) -> TextTable:
    """Return a row for each state: its vector, the network's own in it, what it becomes, and its moves.

    A move is (input, reading, action) and the next state, ϕ an empty stack; a missing one is rejected.
    """
    figures = claim.figures
    number = {state["name"]: str(place) for place, state in enumerate(figures["states"], start=1)}
    rows = []
    for state in figures["states"]:
        mean = "none seen" if state["mean"] is None else " ".join(f"{value:.4f}" for value in state["mean"])
        vector = f"{state['vector']}, in the trap" if state["kind"] == "trap" else state["vector"]
        moves = (
            f"({letter}, {_EMPTY.get(top, top)}, {action}) → {number[target]}"
            for source, letter, top, action, target in figures["moves"]
            if source == state["name"]
        )
        rows.append((number[state["name"]], vector, mean, number[state["merged"]], ", ".join(moves) or "none"))
    caption = f"{claim.command}; {claim.ours}; the paper: {claim.paper}"
    return TextTable(f"Sun et al. 1993: {claim.claim}", _STATE_COLUMNS, tuple(rows), caption)


def _rounded_action(action: float) -> int:
    return (action > 0.5) - (action < -0.5)


@dataclass(frozen=True)
class QuantisedAutomaton:
    """A network's automaton as sections 3.6 and 4 read it: its vectors quantised, all paths of moves followed.

    Attributes:
        machine: the quantised network; by `levels` its states are named by their vectors, as in the paper's figures.
        raw: the states that paths reach, those of the trap last, in which they end.
        traps: the states in which the last state neuron says "trap".
        alike: what states with the same moves are merged to, as the paper does; the trap becomes one.
        least: all merged that nothing in any run tells apart, without the trap.
    """

    machine: Machine
    raw: PushdownAutomaton
    traps: tuple[str, ...]
    alike: Minimization
    least: PushdownAutomaton

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Return how many states there are, after merging, and at least; the trap counts, as one in the end."""
        return len(self.raw.states), len(self.alike.automaton.states), len(self.least.states) + bool(self.traps)

    def proved(self, language: Language) -> bool:
        """Return whether it is proved that all three accept the language."""
        from ..automata.compare import Equal
        from ..extract.specification import LanguageSpecification

        compare = LanguageSpecification(language).compare
        return all(isinstance(compare(pda), Equal) for pda in (self.raw, self.alike.automaton, self.least))


def levels(net: StackModel[Any], number: int) -> Quantiser:
    """Return so many levels for every state neuron of ``net``, whose states are named by their vectors."""
    import numpy as np

    from ..extract.search.clustering import Levels

    class Vectors(Levels):
        def label(self, number: int) -> str:
            values = (f"{value:g}".replace("0.", ".") for value in self.represent(np.array([number]))[0])
            return f"({','.join(values)})"

    return Vectors(number, net.config()["n_states"])


def quantised_automaton(net: StackModel[Any], quantiser: Quantiser) -> QuantisedAutomaton:
    """Return the automaton of ``net`` with actions at three levels (eq. 21) and states by ``quantiser``."""
    import numpy as np

    from ..automata.minimize import merge_same_rules
    from ..automata.summaries import trim
    from ..extract.search.candidates import merging
    from ..extract.search.machine import Machine, StackSymbols
    from ..extract.search.transition_table import explore
    from ..models.rounding import Rounded

    machine = Machine(Rounded(net), StackSymbols(net.letters, np.eye(net.n_symbols)), quantiser)
    going = trim(explore(machine))
    raw = _with_traps(machine, going) if net.config()["trap"] else going
    traps = raw.states[len(going.states) :]
    return QuantisedAutomaton(machine, raw, traps, merge_same_rules(raw), merging(going).automaton)


def _with_traps(machine: Machine, raw: PushdownAutomaton) -> PushdownAutomaton:
    """Return ``raw`` with what its missing moves do where the last state neuron says "trap", and states for that."""
    import numpy as np

    from ..automata.pda import Transition
    from ..extract.search.clustering import Levels

    keys, heads, step = head_steps(machine, raw, machine.network)
    made, windows = machine.steps(step), [head.windows for head in heads]
    moves = dict(raw.transitions)
    for key, shown, trapped, one in zip(
        keys,
        windows,
        (step.hidden[:, -1] <= 0.5).tolist(),
        machine.steps_at(windows, replace(made, rejected=np.zeros_like(made.rejected))),
        strict=True,
    ):
        if trapped and key not in moves:
            answer = machine.answer(shown, one)
            # clusters are of vectors of words that go on: the nearest one is none of the trap
            name = f"trap {machine.name(answer.target)}" if isinstance(machine.quantiser, Levels) else "trap"
            moves[key] = Transition(name, answer.operations)
    traps = sorted({move.target for move in moves.values()} - {*raw.states})
    alphabet = dict.fromkeys([*raw.stack_alphabet, *machine.symbols.names])
    return replace(raw, states=(*raw.states, *traps), stack_alphabet=tuple(alphabet), transitions=moves)


def head_steps(
    machine: Machine, raw: PushdownAutomaton, network: StackModel[Any]
) -> tuple[list[Key], list[MachineHead], Step[Any]]:
    """Return every head that some run shows with every letter, by name and as it is, and the step of ``network``."""
    import torch

    from ..automata.summaries import heads
    from ..extract.search.machine import BOTTOM, MachineHead

    states, letters = by_name(machine), machine.network.letters
    windows = {name: (number,) for number, name in enumerate(machine.symbols.names)} | {BOTTOM: machine.empty[0]}
    reading = sorted(head for head in heads(raw).reading if head[0] in states)
    keys = [(state, letter, tops) for state, tops in reading for letter in letters]
    asked = [MachineHead(states[state], (windows[tops[0]],)) for state, _, tops in keys]
    with torch.no_grad():
        read = torch.tensor([letters.index(letter) for _, letter, _ in keys])
        return keys, asked, network.step(read, machine.state_of(asked))


def by_name(machine: Machine) -> dict[str, MachineState]:
    """Return all states that a quantised network may have, by name, the initial vector first."""
    from ..extract.search.clustering import Clusters, Levels
    from ..extract.search.machine import MachineState

    quantiser = machine.quantiser
    assert isinstance(quantiser, Clusters | Levels)
    number = len(quantiser.centres) if isinstance(quantiser, Clusters) else quantiser.n**quantiser.size
    return {machine.name(state): state for state in map(MachineState, (None, *range(number)))}
