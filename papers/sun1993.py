"""Sun, Giles, Chen & Lee 1993, "The neural network pushdown automaton: model, stack and learning simulations".

How its claims, which stand in `declared/sun1993.toml`, are measured, on networks of the zoo and trained anew.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..automata.enumeration import accepts_all, count_all, word_at
from ..automata.pda import Word
from ..automata.runs import accepts_many
from ..core.errors import StacklensError
from ..core.progress import count
from ..extract.config import ExtractionConfig
from ..languages.catalogue import get_language
from ..languages.language import Language, format_word, make_word
from ..models.training.recipes import RECIPES
from .results import Experiment, Finding, declared_experiment
from .sun1993_steps import (
    BEYOND,
    QuantisedAutomaton,
    by_name,
    exact_networks,
    head_steps,
    levels,
    members_of_length,
    quantised_automaton,
    timed_training,
    without_monitor,
)
from .tables import low_to_high

if TYPE_CHECKING:
    from ..extract.result import Extraction
    from ..extract.search.machine import Quantiser
    from ..models.base import StackModel
    from ..models.training.recognition import Training

SEED = 0
SHOWN = 3  # words shown in a table
# recipes with as many state neurons as the paper's net for palindromes; of where weights start section 4.1 alone speaks
FOUR = "palindrome as printed, four state neurons"
WIDE = f"{FOUR}, weights from [-1, 1]"
_LONG = (50, 100)  # section 4.1
_DEPTH = 200  # of members on which automata of networks trained anew are checked, which cost its square
_FURTHER = 3  # lengths beyond a recipe's check: some 65,000 words of two symbols, 266,000 of three
_LEVELS = (2, 3, 4, 5)  # of state neurons
_CLUSTERS, _CLUSTER_SEEDS = (2, 3, 4, 6, 8, 12, 16), range(5)
_THRESHOLDS = (0.1, 0.3, 0.7, 0.9)  # of eq. 28, beside its 0.5
_NAMES, _DIGITS = {True: "legal", False: "illegal"}, 4  # of verdicts, as printed
_RANGE_COLUMNS = ["quantiser", "seed", "before", "after", "least", "proved"]
# What the paper's analog net gets wrong, section 4.3 (5).
MISTAKES = ("ababcbaba", "abbacabba", "bbbacabbb", "abcbbcbcb")


@dataclass(frozen=True)
class Sizes:
    """How much is checked; the defaults are the paper's own sizes, and more long words."""

    parentheses: int = 20  # all words up to this length, section 4.1
    counts: int = 20  # section 4.2
    palindromes: int = 9  # section 4.3 (5)
    quantised: int = 15  # all words up to this length, section 4.3 (6)
    long_words: int = 10_000  # how many words of length 50 to 100
    depths: tuple[int, ...] = (25, 50, 100, 200, 400, 1_000)  # members nested so deep
    nets: int = 10  # networks trained anew, from the seeds 0, 1, …
    epochs: int | None = None  # stop the training after so many; None for the recipe's
    # each automaton is checked on all words up to this length; None for about 2.5 million words, and of networks
    # trained anew for words a little longer than those that their recipe checks
    extraction_length: int | None = None
    extraction_depth: int = 1_000  # and on members nested so deep, 200 for networks trained anew


def zoo_path(language: str) -> Path:
    """Return the file of the zoo's network for ``language``."""
    from ..models.checkpoint import ZOO

    return ZOO / f"nnpda-{language}.pt"


@cache
def _zoo(language: str) -> tuple[StackModel[Any], Language]:
    import torch

    from ..models.checkpoint import load_model

    torch.set_num_threads(1)  # the arrays are small: more threads only wait for each other
    return load_model(zoo_path(language)), get_language(language)


@cache
def _zoo_extraction(language: str, sizes: Sizes) -> Extraction:
    return _checked_extraction(*_zoo(language), sizes)


def _checked_extraction(net: StackModel[Any], language: Language, sizes: Sizes) -> Extraction:
    from ..extract.extraction import extract

    length, depth, words = sizes.extraction_length, sizes.extraction_depth, sizes.long_words
    config = ExtractionConfig(max_length=length, long_words=words, long_lengths=_LONG, depth=depth, seed=SEED)
    return extract(net, language, config)


def errors_on_all(net: StackModel[Any], language: Language, max_length: int) -> tuple[int, list[Word]]:
    """Return how many words there are up to ``max_length``, and those that ``net`` gets wrong."""
    from ..models.inference import verdicts_on_all

    wrong: list[Word] = []
    for length, verdicts in enumerate(verdicts_on_all(net, max_length)):
        different = np.flatnonzero(verdicts != members_of_length(language, net.alphabet, length)).tolist()
        wrong += [make_word(word_at(i, length, net.alphabet), net.alphabet) for i in different]
    return count_all(len(net.alphabet), max_length), wrong


def mixed_words(language: Language, n: int, lengths: tuple[int, int]) -> list[Word]:
    """Return ``n`` words: a quarter members, a quarter near-misses, the rest uniformly random."""
    members, near_misses = (language.sample(n // 4, lengths, positive, SEED) for positive in (True, False))
    return [*members, *near_misses, *language.sample(n - 2 * (n // 4), lengths, None, SEED)]


def errors(net: StackModel[Any], language: Language, words: Sequence[Word]) -> list[Word]:
    """Return which of ``words`` ``net`` gets wrong."""
    from ..models.inference import verdicts_on

    verdicts = verdicts_on(net, words).tolist()
    return [word for word, verdict in zip(words, verdicts, strict=True) if verdict != (word in language)]


def first_words(words: list[Word]) -> list[str]:
    """Return the first few of ``words`` as text."""
    return [format_word(word) for word in words[:SHOWN]]


def analog_on_all(language: str, max_length: int, monitor: bool = True) -> Finding:
    """Return how often the analog net errs on all words; without the ``monitor`` a word is judged at its end only."""
    net, meant = _zoo(language)
    words, wrong = errors_on_all(net if monitor else without_monitor(net), meant, max_length)
    figures = {"words": words, "errors": len(wrong), "wrong": first_words(wrong)}
    ours = f"{count(len(wrong), 'error')} on {words:,} words"
    if not monitor:
        _, monitored = errors_on_all(net, meant, max_length)
        figures |= {"errors_with_monitor": len(monitored)}
        ours += f"; with the monitor {len(monitored)}"
    return Finding(ours, figures)


def quantised_on_all(language: str, max_length: int) -> Finding:
    """Return how often the net errs with actions at three levels (eq. 21) and states at two, and with actions alone."""
    from ..models.rounding import Rounded

    net, meant = _zoo(language)
    words, wrong = errors_on_all(binary(Rounded(net)), meant, max_length)
    _, rounded = errors_on_all(Rounded(net), meant, max_length)
    figures = {"words": words, "errors": len(wrong), "errors_actions_only": len(rounded)}
    ours = f"{count(len(wrong), 'error')} on {words:,} words; with actions alone rounded {len(rounded)}"
    return Finding(ours, figures)


def long_words(language: str, sizes: Sizes) -> Finding:
    """Return how often the analog net and the automaton err on words of length 50 to 100."""
    words = mixed_words(_zoo(language)[1], sizes.long_words, _LONG)
    analog, automaton = _both_errors(language, words, sizes)
    ours = f"of {len(words):,} words the analog net gets {analog:,} wrong, the automaton {automaton:,}"
    return Finding(ours, {"words": len(words), "errors": analog, "automaton_errors": automaton})


def deep_words(language: str, sizes: Sizes) -> Finding:
    """Return how often the analog net errs on members, by the depth that they are nested."""
    _, meant = _zoo(language)
    by_depth = {depth: meant.deep(20, depth, SEED) for depth in sizes.depths}
    wrong = {depth: _both_errors(language, words, sizes) for depth, words in by_depth.items()}
    analog = ", ".join(f"{errors} at depth {depth:,}" for depth, (errors, _) in wrong.items())
    automaton = sum(errors for _, errors in wrong.values())
    figures = {"words_per_depth": 20, "errors": {str(depth): errors for depth, (errors, _) in wrong.items()}}
    ours = f"of 20 words each the analog net gets wrong: {analog}; the automaton {automaton}"
    return Finding(ours, {**figures, "automaton_errors": automaton})


def twenty_words(language: str) -> Finding:
    """Return how often the analog net errs on 20 words, and on all members of 1^n 0^n, up to length 160."""
    net, meant = _zoo(language)
    words = mixed_words(meant, 20, (1, 160))
    members = [meant.sample(1, (n, n), True, SEED)[0] for n in range(2, 161, 2)]
    drawn, legal = (len(errors(net, meant, some)) for some in (words, members))
    figures = {"words": len(words), "errors": drawn, "members": len(members), "members_wrong": legal}
    ours = f"{count(drawn, 'error')} (5 of the 20 are members); {legal} on the {len(members)} members <= 160"
    return Finding(ours, figures)


def papers_mistakes(sizes: Sizes) -> Finding:
    """Return which of the words that the paper's net gets wrong ours does."""
    net, meant = _zoo("palindrome")
    wrong = errors(without_monitor(net), meant, MISTAKES)
    _, automaton = _both_errors("palindrome", MISTAKES, sizes)
    ours = f"the analog net gets {len(wrong)} wrong, the automaton {automaton}"
    return Finding(ours, {"words": len(MISTAKES), "errors": len(wrong), "automaton_errors": automaton})


def automaton_on_mistakes(sizes: Sizes) -> Finding:
    """Return what the automaton makes of the words that its analog net gets wrong, and of all words."""
    net, meant = _zoo("palindrome")
    words, wrong = errors_on_all(net, meant, sizes.quantised)
    _, still = _both_errors("palindrome", wrong, sizes)
    pda = _zoo_extraction("palindrome", sizes).automaton
    answers = enumerate(accepts_all(pda, sizes.quantised))
    automaton = sum(int((given != members_of_length(meant, pda.input_alphabet, n)).sum()) for n, given in answers)
    shown = f" ({', '.join(first_words(wrong))}{', …' if len(wrong) > SHOWN else ''})" if wrong else ""
    ours = f"analog net: {count(len(wrong), 'error')}{shown}; automaton: {still} on these, "
    ours += f"{automaton} on all {words:,} words"
    figures = {"words": words, "errors": len(wrong), "wrong": first_words(wrong), "automaton_errors_on_these": still}
    return Finding(ours, {**figures, "automaton_errors": automaton})


@cache
def _traced_vectors(language: str) -> Any:
    """Return the hidden vectors (M, H) that the zoo's network goes through on words, with actions at three levels."""
    from ..extract.by_name import specification_for
    from ..extract.samples import draw_samples
    from ..extract.search.machine import vectors
    from ..probe.trace import trace

    net, meant = _zoo(language)
    words = draw_samples(net, specification_for(meant), SEED).traced
    return vectors(net, trace(net, words, rounded=True, stacks=False))[0]


def zoo_automaton(language: str, number: int) -> QuantisedAutomaton:
    """Return the automaton of the zoo's network with so many levels a neuron."""
    net, _ = _zoo(language)
    return quantised_automaton(net, levels(net, number))


def states(language: str, number: int) -> Finding:
    """Return the states of the zoo's network with so many levels a neuron, before and after merging, and the moves."""
    (net, meant), found = _zoo(language), zoo_automaton(language, number)
    raw, (before, after, least), proved = found.raw, found.sizes, found.proved(meant)
    read = {move.target for (_, letter, _), move in raw.transitions.items() if letter != net.end}
    kinds = {state: "state" if state in read or state == raw.initial else "end" for state in raw.states}
    kinds |= dict.fromkeys(found.traps, "trap")
    # every state with the mean of the network's own vectors in it, and what it is merged into
    quantiser, vectors, named = found.machine.quantiser, _traced_vectors(language), by_name(found.machine)
    numbers, rows = quantiser.assign(vectors), []
    for name, kind in kinds.items():
        state = named[name.removeprefix("trap ")]
        vector = quantiser.label(int(quantiser.assign(found.machine.vectors([state]).numpy())[0]))
        own = vectors[(numbers == state.number) & (kind != "trap")]  # none of the initial one, which has no number
        mean = [round(float(value), 4) for value in own.mean(0)] if len(own) else None
        known = {"name": name, "vector": vector, "kind": kind, "merged": found.alike.states[name]}
        rows.append({**known, "vectors": len(own), "mean": mean})
    figures = {
        "before": before,
        "only_at_end": list(kinds.values()).count("end"),
        "traps": len(found.traps),
        "after": after,
        "least": least,
        "proved": proved,
        "states": rows,
        "moves": [  # the action neuron's value is 1 for a push, -1 for a pop
            [state, letter, tops[0], (move.operations[0].push is not None) - move.operations[0].pop, move.target]
            for (state, letter, tops), move in raw.transitions.items()
        ],
    }
    some = f"{figures['traps']} in the trap" if found.traps else f"{figures['only_at_end']} only read the end symbol"
    shown = "all three proved equal to the language" if proved else "not proved equal to the language"
    ours = f"{before}, of which {some}, then {after}; {least} where no run tells states apart; {shown}"
    return Finding(ours, figures)


def other_quantisers(language: str) -> Finding:
    """Return what comes of the zoo's network by other numbers of levels, and by K-means clusters of several seeds."""
    from ..extract.search.machine import cluster

    (net, meant), seen = _zoo(language), _traced_vectors(language)
    tried: list[tuple[str, int | None, Quantiser]]
    tried = [(f"{number} levels", None, levels(net, number)) for number in _LEVELS]
    tried += [(f"K = {k}", seed, cluster(seen, k, seed)) for k in _CLUSTERS for seed in _CLUSTER_SEEDS]
    rows = []
    for name, seed, quantiser in tried:
        found = quantised_automaton(net, quantiser)
        rows.append([name, seed, *found.sizes, found.proved(meant)])
    return Finding(_ranges([row[2:] for row in rows], "settings"), {"columns": _RANGE_COLUMNS, "rows": rows})


def _ranges(rows: list[list[Any]], what: str) -> str:
    right = [row for row in rows if row[3]]
    if not right:
        return f"of {len(rows)} {what} none is proved equal to the language"
    spans = [f"{min(sizes)}–{max(sizes)}" for sizes in list(zip(*right, strict=True))[:3]]
    shown = f"{spans[0]} states, then {spans[1]}; {spans[2]} where no run tells them apart"
    return f"of {len(rows)} {what} {len(right)} proved equal to the language: {shown}"


def action_weights(max_length: int) -> Finding:
    """Return what quantising the zoo's action weights (eq. 28) changes, with the states at two levels and without."""
    from ..models.inference import verdicts_on_all

    net, meant = _zoo("palindrome")
    quantised = quantised_weights(net)
    own = verdicts_on_all(net, max_length)
    alone, changed = (
        sum(int((ours != theirs).sum()) for ours, theirs in zip(verdicts_on_all(one, max_length), own, strict=True))
        for one in (quantised, binary(quantised))
    )
    words, wrong = errors_on_all(binary(quantised), meant, max_length)
    by_actions, automaton = (quantised_automaton(one, levels(one, 2)) for one in (net, quantised))
    # the action weights that are a move of a binary automaton, but into the trap, in rising order
    keys, _, step = head_steps(by_actions.machine, by_actions.raw, by_actions.machine.network.model)
    moves = (
        (by_actions.raw.transitions.get(key), action) for key, action in zip(keys, step.actions.tolist(), strict=True)
    )
    used = sorted(round(action[0][0], 4) for move, action in moves if move and move.target not in by_actions.traps)
    same, proved = automaton.raw == by_actions.raw, automaton.proved(meant)
    weights = quantised.get_parameter("action_weights").numel()
    figures = {
        "words": words,
        "errors": len(wrong),
        "changed": changed,
        "changed_weights_only": alone,
        "states": list(automaton.sizes),
        "proved": proved,
        "same_automaton": same,
        "weights": weights,
        "used_weights": used,
        "thresholds": {
            f"{at:g}": len(errors_on_all(binary(quantised_weights(net, at)), meant, max_length)[1])
            for at in _THRESHOLDS
        },
    }
    ours = (
        f"{count(len(wrong), 'error')} on {words:,} words, {changed} other than the analog net's, {alone} by weights "
        f"alone; {'the same' if same else 'another'} automaton as by eq. 21, {'' if proved else 'not '}proved equal to "
        f"the language; {len(used)} of the {weights} weights are its moves outside the trap"
    )
    return Finding(ours, figures)


def quantised_weights(net: StackModel[Any], threshold: float = 0.5) -> StackModel[Any]:
    """Return ``net`` with its action weights at -1, 0 and 1 (eqs. 22, 28)."""
    import copy

    import torch

    from ..models.rounding import round_actions

    quantised = copy.deepcopy(net)
    with torch.no_grad():
        weights = quantised.get_parameter("action_weights")
        weights.copy_(round_actions("signed", weights, threshold))
    return quantised


def _both_errors(language: str, words: Sequence[Word], sizes: Sizes) -> tuple[int, int]:
    net, meant = _zoo(language)
    accepted = accepts_many(_zoo_extraction(language, sizes).automaton, words).tolist()
    automaton = sum(verdict != (word in meant) for word, verdict in zip(words, accepted, strict=True))
    return len(errors(net, meant, words)), automaton


@cache
def _training(recipe: str, sizes: Sizes) -> tuple[Training, float]:
    """Return the networks of a recipe, trained, and how many seconds of processor time that took."""
    from ..models.training.recognition import Training

    chosen = RECIPES[recipe.split(",")[0]]
    if recipe in (FOUR, WIDE):
        chosen = replace(chosen, shape={**chosen.shape, "n_states": 4}, init=1.0 if recipe == WIDE else chosen.init)
    training = Training(chosen, get_language(recipe.split()[0]), seed=SEED, nets=sizes.nets)
    return training, timed_training(training, sizes.epochs)


@cache
def _trained_extractions(recipe: str, sizes: Sizes) -> tuple[Extraction, ...]:
    training, _ = _training(recipe, sizes)
    length = sizes.extraction_length or training.recipe.check_length + _FURTHER
    checked = replace(sizes, extraction_length=length, extraction_depth=min(_DEPTH, sizes.extraction_depth))
    networks = map(training.network, range(sizes.nets))
    return tuple(_checked_extraction(net, training.language, checked) for net in networks)


def trained_states(recipe: str, number: int, sizes: Sizes) -> Finding:
    """Return the states of networks trained anew, with so many levels a neuron, before and after merging. For a linear
    action (eq. 23) further how many words each network gets wrong as it is, with actions and states quantised (eq. 21),
    and with weights and states quantised (eq. 28).
    """
    from ..models.rounding import Rounded

    training, _ = _training(recipe, sizes)
    length, rows, wrong = training.recipe.check_length + _FURTHER, [], []
    for seed in range(sizes.nets):
        net = training.network(seed)
        try:
            found = quantised_automaton(net, levels(net, number))
        except StacklensError:  # its paths do not end
            rows.append([seed, None, None, None, False])
        else:
            rows.append([seed, *found.sizes, found.proved(training.language)])
        if net.config()["order"] == "full":
            kinds = net, binary(Rounded(net)), binary(quantised_weights(net))
            wrong.append([len(errors_on_all(kind, training.language, length)[1]) for kind in kinds])
    ours, figures = _ranges([row[1:] for row in rows], "nets"), {"columns": _RANGE_COLUMNS[1:], "rows": rows}
    if not wrong:
        return Finding(ours, figures)
    soft, by_actions, by_weights = (f"{sum(map(bool, kind))} ({sum(kind)})" for kind in zip(*wrong, strict=True))
    ours += f". Err on words <= {length}, nets (words): {soft} as they are, {by_actions} by eq. 21, "
    ours += f"{by_weights} by eq. 28"
    return Finding(ours, {**figures, "length": length, "wrong": wrong})


def converged(recipe: str, sizes: Sizes) -> Finding:
    """Return how many networks come out exact when trained anew: analog, rounded, and as an automaton."""
    training, seconds = _training(recipe, sizes)
    exact = exact_networks(training)  # on longer words too, by which no epoch was chosen
    analog, rounded, *beyond = exact.values()
    statuses = [result.status for result in _trained_extractions(recipe, sizes)]
    length, epochs, per_net = training.recipe.check_length, training.epochs_done, seconds / sizes.nets
    ours = (
        f"exact on words <= {length}, by which the epoch is chosen: {analog} analog, {rounded} rounded; on all words "
        f"that are up to {BEYOND} longer: {beyond[0]} analog, {beyond[1]} rounded; exact automaton: "
        f"{statuses.count(0)}; {epochs} epochs, {per_net:.1f} CPU s a net"
    )
    figures = {
        "nets": sizes.nets,
        **exact,
        "automaton_exact": statuses.count(0),
        "extraction_status": statuses,
        "check_length": length,
        "epochs": epochs,
        "seconds_per_net": round(per_net, 2),
    }
    return Finding(ours, figures)


def rounds(recipe: str, sizes: Sizes) -> Finding:
    """Return how many rounds of counterexamples the networks need, and how many words each round adds."""
    training, _ = _training(recipe, sizes)
    given = [list(numbers) for numbers in training.given]  # words each network got wrong and was given, by round
    needed = [sum(number > 0 for number in numbers) for numbers in zip(*given, strict=True)] or [0] * sizes.nets
    enough = [number for number, score in zip(needed, training.best, strict=True) if score.analog_errors == 0]
    by_number = [f"{number} for {enough.count(number)}" for number in sorted(set(enough))]
    shown = f"rounds that make a net exact: {', '.join(by_number)}" if by_number else "no net becomes exact"
    if by_number and len(enough) < sizes.nets:
        shown += f"; not exact after all: {sizes.nets - len(enough)}"
    added = []
    for some in filter(None, ([number for number in numbers if number] for numbers in given)):
        added.append(f"{low_to_high(some)} to {count(len(some), 'net')}")
    shown += f". Words added, round by round: {'; '.join(added)}" if added else ""
    return Finding(shown, {"nets": sizes.nets, "rounds_of_exact_nets": enough, "words_added": given})


def trained_on_long_words(recipe: str, sizes: Sizes) -> Finding:
    """Return how many of the networks whose automaton is exact err themselves on words of length 50 to 100."""
    from ..models.rounding import Rounded

    exact = [result for result in _trained_extractions(recipe, sizes) if result.status == 0]
    language = _training(recipe, sizes)[0].language
    words = mixed_words(language, sizes.long_words, _LONG)
    members = [word in language for word in words]
    soft, whole = [one.model for one in exact], [Rounded(one.model) for one in exact]
    analog, rounded = (sum(bool(errors(net, language, words)) for net in nets) for nets in (soft, whole))
    automata = sum(accepts_many(one.automaton, words).tolist() != members for one in exact)
    ours = f"of {len(exact)} nets err on some of {len(words):,} words: {analog} analog, {rounded} rounded, "
    ours += f"{automata} automata"
    figures = {"nets": len(exact), "words": len(words), "nets_that_err": analog}
    return Finding(ours, {**figures, "rounded": rounded, "automata": automata})


def stopped_on_long_words(recipe: str, epochs: int, sizes: Sizes) -> Finding:
    """Return how many networks that stop after so many epochs err on words of length 50 to 100, of those that have
    every word right that they were trained on.
    """
    from ..models.inference import verdicts_on
    from ..models.rounding import Rounded

    training, _ = _training(recipe, replace(sizes, epochs=epochs))
    language, net = training.language, training.net
    given = training.recipe.stages[-1].word_list(language, SEED)
    words = mixed_words(language, sizes.long_words, _LONG)
    wrong = [
        (verdicts_on(of, some) != [word in language for word in some]).sum(-1).tolist()
        for of, some in ((net, given), (net, words), (Rounded(net), words))
    ]
    kept = [(soft, rounded) for mistakes, soft, rounded in zip(*wrong, strict=True) if not mistakes]
    analog, quantised = (sum(map(bool, errors)) for errors in zip(*kept, strict=True)) if kept else (0, 0)
    ours = (
        f"{len(kept)} of {sizes.nets} nets have learned their words; of these err on some of {len(words):,} words: "
        f"{analog} analog, {quantised} rounded"
    )
    return Finding(ours, {"epochs": epochs, "learned": len(kept), "errors of each": kept})


def binary(net: StackModel[Any]) -> StackModel[Any]:
    """Return the network with states at two levels (section 4.3 (6))."""
    import torch

    from ..models.base import ControllerOutput
    from ..models.rounding import Wrapper

    class Binary(Wrapper[Any]):
        def controller(self, symbols: torch.Tensor, hidden: torch.Tensor, reading: torch.Tensor) -> ControllerOutput:
            answer = super().controller(symbols, hidden, reading)
            return replace(answer, hidden=(answer.hidden > 0.5).to(answer.hidden.dtype))

    return Binary(net)


def step_rows(words: list[str]) -> Finding:
    """Return how the zoo's palindrome net ends on ``words``, with every step in the figures. The verdict is the net's
    with its trap monitor; the paper's tables are of a net without (section 4.3 (5)), which is judged by the last step
    alone: legal where S_last > 0.5 and L <= 0.5. Where the two differ, both are given.
    """
    from ..models.checkpoint import load_model
    from ..probe.trace import trace

    path = zoo_path("palindrome")
    seen = trace(load_model(path), words)
    figures, shown = dict[str, Any](), []
    for number, word in enumerate(words):
        steps = [
            {
                "input": seen.letters[seen.symbols[number, t]],
                "state": [round(float(value), _DIGITS) for value in seen.hidden[number, t + 1]],
                "action": round(float(seen.actions[number, t, 0, 0]), _DIGITS),
                "segments": [[symbol, round(float(part), _DIGITS)] for symbol, part in seen.segments(number, t)],
            }
            for t in range(int(seen.steps[number]))
        ]
        last, length = steps[-1]["state"][-1], sum(part for _, part in steps[-1]["segments"])
        at_end, verdict = _NAMES[last > 0.5 and length <= 0.5], _NAMES[bool(seen.verdicts[number])]
        without = "" if at_end == verdict else f" (without the monitor {at_end})"
        shown.append(f"{word}: S_N {last:.4f}, L {length:.4f}, {verdict}{without}")
        known = {"length": round(length, _DIGITS), "verdict": verdict, "at_end": at_end}
        figures[word] = {"steps": steps, **known, "command": f"stacklens trace models/zoo/{path.name} {word}"}
    return Finding("; ".join(shown), figures)


def claims_experiment(sizes: Sizes | None = None) -> Experiment:
    """Return the claims of section 4, measured on the networks of the zoo."""
    return declared_experiment("sun1993-claims", sys.modules[__name__], sizes or Sizes(), (SEED,))


def training_experiment(sizes: Sizes | None = None, name: str = "sun1993-training") -> Experiment:
    """Return what networks trained anew come to, by language; or, for parentheses, by when training stops."""
    sizes = sizes or Sizes()
    return declared_experiment(name, sys.modules[__name__], sizes, tuple(range(sizes.nets)))
