"""Tables 1 and 2 of Sun et al. 1993 as printed, beside our network's steps; and automata as the paper reads them."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..automata.compare import Equal
from ..automata.minimize import Minimization, merge_same_rules
from ..automata.pda import Key, PushdownAutomaton, Transition
from ..automata.summaries import heads, trim
from ..languages.catalogue import get_language
from ..languages.language import Language
from ..models.training.recipes import RECIPES
from .results import Experiment, Finding, Results, declared, declared_experiment
from .tables import TextTable

if TYPE_CHECKING:
    from torch import Tensor

    from ..extract.search.machine import Machine, MachineHead, MachineState, Quantiser
    from ..models.base import StackModel, Step
    from ..models.training.recognition import Training

PRINTED: dict[str, list[list[str]]] = declared("sun1993")["printed"]
_COLUMNS = (
    *("word", "step", "input", "state: the paper", "ours", "action: the paper", "ours"),
    *("stack: the paper", "ours", "same operation"),
)
_STATE_COLUMNS = ("state", "vector", "mean of the network's own vectors", "merged into", "moves")
_EMPTY = {"⊥": "ϕ"}
BEYOND = 2  # so much longer are the words that no epoch is chosen by


def steps_beside(results: Results) -> TextTable:
    """Return the steps of tables 1 and 2, ours from the results of sun1993-claims beside theirs. Operations are rounded
    actions: push above 0.5, pop below -0.5, nothing between.
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
    return TextTable("Sun et al. 1993, tables 1 and 2: palindromes step by step", _COLUMNS, tuple(rows), caption)


def figure_tables(results: Results) -> list[TextTable]:
    """Return a table for each network whose states were measured: their vectors, and moves as in figures 7 to 12."""
    tables = []
    for claim in results.claims:
        if "moves" not in claim.figures:
            continue
        # a move is (input, reading, action) and the next state, ϕ an empty stack; a missing one is rejected
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
        tables.append(TextTable(f"Sun et al. 1993: {claim.claim}", _STATE_COLUMNS, tuple(rows), caption))
    return tables


def _rounded_action(action: float) -> int:
    return (action > 0.5) - (action < -0.5)


def members_of_length(language: Language, alphabet: tuple[str, ...], length: int) -> np.ndarray:
    """Return which words of ``length`` are members, from the language's definition, (k**n,) bool, in order."""
    digit = {symbol: number for number, symbol in enumerate(alphabet)}
    members = np.zeros(len(alphabet) ** length, dtype=bool)
    for word in language.words_of_length(length):
        members[reduce(lambda number, symbol: number * len(alphabet) + digit[symbol], word, 0)] = True
    return members


def exact_networks(training: Training) -> dict[str, int]:
    """Return how many networks are right on all words that they were chosen by, and on those up to `BEYOND` longer.
    Both are of networks as they are ("analog_exact", "analog_exact_beyond") and of rounded ones. The epoch at which a
    network was kept is that of the fewest errors on the shorter words, so that only longer ones tell what it learned.
    """
    from ..models.inference import verdicts_on_all
    from ..models.rounding import Rounded

    language, seen = training.language, training.recipe.check_length
    longer = range(seen + 1, seen + 1 + BEYOND)
    members = {length: members_of_length(language, language.alphabet, length) for length in longer}

    def is_right(net: StackModel[Any]) -> bool:
        verdicts = verdicts_on_all(net, seen + BEYOND)
        return all(bool((verdicts[length] == members[length]).all()) for length in longer)

    networks = [training.network(number) for number in range(training.n_nets)]
    return {
        "analog_exact": sum(score.analog_errors == 0 for score in training.best),
        "rounded_exact": sum(score.rounded_errors == 0 for score in training.best),
        "analog_exact_beyond": sum(map(is_right, networks)),
        "rounded_exact_beyond": sum(is_right(Rounded(net)) for net in networks),
    }


@dataclass(frozen=True)
class QuantisedAutomaton:
    """A network's automaton as sections 3.6 and 4 read it: its vectors quantised, all paths of moves followed."""

    machine: Machine  # quantised; by `levels` its states are named by vectors
    raw: PushdownAutomaton  # the states that paths reach, those of the trap last, in which they end
    traps: tuple[str, ...]  # the states in which the last state neuron says "trap"
    alike: Minimization  # what states with the same moves are merged to, as the paper does; the trap becomes one
    least: PushdownAutomaton  # all merged that nothing in any run tells apart, without the trap

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Return how many states there are, after merging, and at least; the trap counts, as one in the end."""
        return len(self.raw.states), len(self.alike.automaton.states), len(self.least.states) + bool(self.traps)

    def proved(self, language: Language) -> bool:
        """Return whether it is proved that all three accept the language."""
        from ..extract.specification import LanguageSpecification

        compare = LanguageSpecification(language).compare
        return all(isinstance(compare(pda), Equal) for pda in (self.raw, self.alike.automaton, self.least))


def levels(net: StackModel[Any], number: int) -> Quantiser:
    """Return so many levels for every state neuron of ``net``, whose states are named by their vectors."""
    from ..extract.search.machine import Levels

    class Vectors(Levels):
        def label(self, number: int) -> str:
            values = (f"{value:g}".replace("0.", ".") for value in self.represent(np.array([number]))[0])
            return f"({','.join(values)})"

    return Vectors(number, net.config()["n_states"])


def quantised_automaton(net: StackModel[Any], quantiser: Quantiser) -> QuantisedAutomaton:
    """Return the automaton of ``net`` with actions at three levels (eq. 21) and states by ``quantiser``."""
    from ..extract.search.candidates import merging
    from ..extract.search.machine import Levels, Machine, StackSymbols, explore
    from ..models.rounding import Rounded

    machine = Machine(Rounded(net), StackSymbols(net.letters, np.eye(net.n_symbols)), quantiser)
    raw = going = trim(explore(machine))
    traps = list[str]()
    if net.config()["trap"]:
        # what missing moves do where the last state neuron says "trap", and states for that
        keys, asked, step = head_steps(machine, going, machine.network)
        made, windows = machine.steps(step), [head.windows for head in asked]
        steps = machine.steps_at(windows, replace(made, rejected=np.zeros_like(made.rejected)))
        trapped, moves = (step.hidden[:, -1] <= 0.5).tolist(), dict(going.transitions)
        for key, shown, is_trapped, one in zip(keys, windows, trapped, steps, strict=True):
            if is_trapped and key not in moves:
                answer = machine.answer(shown, one)
                # clusters are of vectors of words that go on: the nearest one is none of the trap
                name = f"trap {machine.name(answer.target)}" if isinstance(quantiser, Levels) else "trap"
                moves[key] = Transition(name, answer.operations)
        traps = sorted({move.target for move in moves.values()} - {*going.states})
        alphabet = dict.fromkeys([*going.stack_alphabet, *machine.symbols.names])
        raw = replace(going, states=(*going.states, *traps), stack_alphabet=tuple(alphabet), transitions=moves)
    return QuantisedAutomaton(machine, raw, tuple(traps), merge_same_rules(raw), merging(going).automaton)


def head_steps(
    machine: Machine, raw: PushdownAutomaton, network: StackModel[Any]
) -> tuple[list[Key], list[MachineHead], Step[Any]]:
    """Return every head that some run shows with every letter, by name and as it is, and the step of ``network``."""
    import torch

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
    from ..extract.search.machine import Clusters, Levels, MachineState

    quantiser = machine.quantiser
    assert isinstance(quantiser, Clusters | Levels)
    number = len(quantiser.centres) if isinstance(quantiser, Clusters) else quantiser.n**quantiser.size
    return {machine.name(state): state for state in map(MachineState, (None, *range(number)))}


# ---- Section 4.3 (5): networks for palindromes, tested without the monitor that stops them in the trap.
# The paper's network has four state neurons and moves its weights after every word; ours has three and moves them once
# for a whole set. Neither was asked to stay in the trap, where its training ends; a third kind is.


@dataclass(frozen=True)
class NetSizes:
    """How much is measured."""

    nets: int = 10  # networks by each recipe (and gradient), from the seeds 0, 1, …
    length: int = 9  # those for palindromes are tested on all words up to this length
    epochs: int | None = None  # stop the training after so many; None for the recipe's


def network_experiment(name: str, sizes: NetSizes | None = None) -> Experiment:
    """Return "sun1993-palindromes", what networks for palindromes get wrong as they end, with and without the monitor,
    or "sun1993-rtrl", what the paper's gradients come to beside exact ones.
    """
    sizes = sizes or NetSizes()
    return declared_experiment(name, sys.modules[__name__], sizes, tuple(range(sizes.nets)))


def without_monitor(net: StackModel[Any]) -> StackModel[Any]:
    """Return the network judged at the end of the word only, as the paper tests its analog net (section 4.3 (5))."""
    import torch

    from ..models.rounding import Wrapper

    class Unmonitored(Wrapper[Any]):
        def rejects(self, hidden: Tensor, stack: Any) -> Tensor:
            return torch.zeros(hidden.shape[:-1], dtype=torch.bool)

    return Unmonitored(net)


def timed_training(training: Training, epochs: int | None, watch: Callable[[], None] = lambda: None) -> float:
    """Train to the end, or for so many ``epochs``, with a ``watch`` after each; return the seconds of the processor."""
    import torch

    torch.set_num_threads(1)  # the arrays are small: more threads only wait for each other
    begun = time.process_time()
    while not training.done and training.epochs_done != epochs:
        training.epoch()
        watch()
    training.check()
    return time.process_time() - begun


def errors_of(recipe: str, sizes: NetSizes) -> Finding:
    """Return how many words each network gets wrong after its last epoch: no epoch is chosen by these words."""
    from ..models.inference import verdicts_on_all
    from ..models.rounding import Rounded
    from ..models.training.recognition import Training

    nets, length, language = sizes.nets, sizes.length, get_language("palindrome")
    training = Training(RECIPES[recipe], language, nets=nets)
    # to the last epoch, as in the paper, however often all words were right
    spent = timed_training(training, sizes.epochs, lambda: setattr(training, "clean_checks", 0))
    members = [members_of_length(language, language.alphabet, size) for size in range(length + 1)]

    def wrong(net: StackModel[Any]) -> list[int]:
        each = zip(verdicts_on_all(net, length), members, strict=True)
        counted: list[int] = sum((verdicts != right).sum(-1) for verdicts, right in each).tolist()
        return counted

    kinds = {"without_monitor": without_monitor(training.net), "with_monitor": training.net}
    kinds |= {f"rounded_{name}": Rounded(net) for name, net in kinds.items()}
    counted = {name: wrong(net) for name, net in kinds.items()}
    shown = {name: f"{statistics.median(each):g} ({min(each)}–{max(each)})" for name, each in counted.items()}
    ours = (
        f"median (fewest–most) of {nets} nets: {shown['without_monitor']}, rounded {shown['rounded_without_monitor']}; "
        f"with the monitor {shown['with_monitor']}, rounded {shown['rounded_with_monitor']}; {training.epochs_done} "
        f"epochs, {spent / nets:.1f} CPU s a net"
    )
    return Finding(ours, {"nets": nets, "epochs": training.epochs_done, "length": length, **counted})


# ---- Exact gradients against the paper's own, real-time recurrent learning with an approximate stack ----
# Sections 3.5 and 4, appendices A and B. Of the stack's derivative the paper keeps what the last action does to the
# reading (eq. 20), "valid when the action values are close to their saturation values", or on short strings. How far
# off that is, and what it does to learning, is measured on the three languages, all else being equal.

Gradient = Literal["exact", "rtrl", "local"]

_WATCHED_EVERY = 10  # epochs between two looks at the training words
_SEED = 0

_PRINTED = "palindrome as printed"
# What is learned by either gradient, the recipe's own being the paper's: "rtrl" carries it forward as the paper does,
# "local" comes to the same by going back, for less. Names begin with that of the language.
_LESSONS = {
    "parentheses": replace(RECIPES["parentheses"], gradient="rtrl"),
    "1n0n": replace(RECIPES["1n0n"], gradient="local"),
    _PRINTED: replace(RECIPES[_PRINTED], gradient="local"),
    "palindrome without the driving force": replace(RECIPES[_PRINTED], gradient="local", objective="prefix"),
}


def _untrained(what: str, gradient: Gradient, nets: int) -> Training:
    from ..models.training.recognition import Training

    recipe = replace(_LESSONS[what], gradient=gradient)
    return Training(recipe, get_language(what.split()[0]), seed=_SEED, nets=nets)


@cache
def _trained_online(what: str, gradient: Gradient, sizes: NetSizes) -> tuple[Training, dict[str, Any]]:
    """Return the networks of one training, and how many are right on all words of the recipe's check and on longer
    ones, as they are and rounded. "learned_after" has the epochs after which each network had all training words right
    for the first time, None for never.
    """
    from ..models.inference import verdicts_on

    training = _untrained(what, gradient, sizes.nets)
    words = training.recipe.stages[-1].word_list(training.language, _SEED)
    members = [word in training.language for word in words]
    after: list[int | None] = [None] * sizes.nets

    def watch() -> None:
        done = training.epochs_done
        if done % _WATCHED_EVERY == 0:
            right = (verdicts_on(training.net, words) == members).all(-1)
            after[:] = [done if was is None and now else was for was, now in zip(after, right, strict=True)]

    seconds = round(timed_training(training, sizes.epochs, watch), 1)
    exact = exact_networks(training)
    return training, {**exact, "learned_after": after, "epochs": training.epochs_done, "seconds": seconds}


def learning(what: str, sizes: NetSizes) -> Finding:
    """Return how learning goes by either gradient."""
    gradients: dict[str, Gradient] = {"exact": "exact", "rtrl": _LESSONS[what].gradient}
    learned = {name: _trained_online(what, gradient, sizes)[1] for name, gradient in gradients.items()}
    length, shown = _LESSONS[what].check_length, []
    for figures in learned.values():
        needed = [epochs for epochs in figures["learned_after"] if epochs is not None]
        spread = f", after {statistics.median(needed):.0f} epochs ({min(needed)}–{max(needed)})" if needed else ""
        analog, rounded, *beyond = list(figures.values())[:4]
        exact = f"{analog} analog, {rounded} rounded; on words <= {BEYOND} longer {beyond[0]} and {beyond[1]}"
        shown.append(f"{len(needed)} learn their words{spread}; exact: {exact}")
    ours = (
        f"of {sizes.nets} nets, exact on words <= {length}, by which the epoch is chosen. "
        f"Exact gradients: {shown[0]}. RTRL: {shown[1]}"
    )
    return Finding(ours, {"nets": sizes.nets, "check_length": length, **learned})


def _gradient(training: Training, kind: Gradient) -> Tensor:
    """Return the gradient of each network of ``training`` as it is now, (nets, weights)."""
    import torch

    from ..models.training.recognition import KINDS, OBJECTIVES

    net: Any = KINDS[kind](training.net.shape, nets=training.n_nets)
    net.load_state_dict(training.net.state_dict())
    net.zero_grad()
    OBJECTIVES[training.recipe.objective](net, training.word_set, training.weights).sum().backward()  # type: ignore[no-untyped-call]
    parts = [torch.zeros_like(value) if value.grad is None else value.grad for value in net.parameters()]
    return torch.cat([part.flatten(1) for part in parts], 1)


def two_ways(sizes: NetSizes) -> Finding:
    """Return how far the gradient carried forward is from the one that goes back, on all training sets."""
    worst = 0.0
    for what in _LESSONS:
        training = _untrained(what, "exact", sizes.nets)
        forward, back = (_gradient(training, kind) for kind in ("rtrl", "local"))
        worst = max(worst, float(((forward - back).norm(dim=1) / back.norm(dim=1)).max()))
    return Finding(f"{worst:.0e} of its length", {"nets": sizes.nets, "largest_relative_difference": worst})


def nearness(what: str, sizes: NetSizes) -> Finding:
    """Return the angle between the paper's gradient and the exact one, and how different they are."""
    gradient = _LESSONS[what].gradient
    stages = {"before": _untrained(what, gradient, sizes.nets), "after": _trained_online(what, gradient, sizes)[0]}
    figures, shown = dict[str, Any](), []
    for stage, training in stages.items():
        ours, exact = (_gradient(training, way) for way in ("local", "exact"))
        cosines = (ours * exact).sum(1) / (ours.norm(dim=1) * exact.norm(dim=1)).clamp(min=1e-300)
        off = (ours - exact).norm(dim=1) / exact.norm(dim=1).clamp(min=1e-300)
        figures[stage] = {"cosines": cosines.tolist(), "relative_differences": off.tolist()}
        spreads = [
            f"{statistics.median(values.tolist()):.2f} ({values.min():.2f}–{values.max():.2f})"
            for values in (cosines, off)
        ]
        shown.append(f"{stage}: cosine {spreads[0]}, off by {spreads[1]} of its length")
    return Finding("; ".join(shown) + " (median, smallest–largest)", {"nets": sizes.nets, **figures})
