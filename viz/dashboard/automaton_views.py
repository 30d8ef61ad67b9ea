"""What the Automaton page shows of a network: the automaton itself, its run on a word, and who visits which state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from stacklens.automata.formats.dot import render, rule, to_dot
from stacklens.automata.formats.jflap import to_jflap
from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.extract.evaluation.automaton_runs import moves, run_table, visit_table, visiting_words
from stacklens.extract.verification.drift import Drift
from stacklens.extract.wording import nothing_found
from stacklens.models.device import one_thread
from stacklens.probe.trace import Trace, trace
from stacklens.viz.automaton import stacks_figure
from stacklens.viz.dashboard.extractions import ExtractionSettings, Known, known, settings_known
from stacklens.viz.dashboard.networks import fitting_specification, load
from stacklens.viz.dashboard.steps import LONGEST_STACKS, read_word, runner_of
from stacklens.viz.drift_curve import drift_figure
from stacklens.viz.hidden import state_map
from stacklens.viz.style import sentence, themed

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "FILES",
    "Shown",
    "asked_for",
    "drift_view",
    "extracted_and_settings",
    "map_view",
    "run_view",
    "shown",
    "stacks_view",
    "steps_view",
    "visits_view",
]

FILES: dict[str, Callable[[PushdownAutomaton, str], str]] = {  # what can be saved, by suffix
    "dot": to_dot,
    "json": lambda pda, _: to_json(pda),
    "jff": lambda pda, _: to_jflap(pda),
    "svg": lambda pda, title: render(to_dot(pda, title), "svg").decode(),
}


@dataclass(frozen=True)
class Shown:
    """What the page looks at.

    Attributes:
        network: the network's name.
        settings: with which the automaton was extracted.
        known: what came of it.
        raw: whether the machine before minimisation is shown.
    """

    network: str
    settings: ExtractionSettings
    known: Known
    raw: bool

    @property
    def automaton(self) -> PushdownAutomaton:
        """Return the automaton that is shown.

        Raises:
            StacklensError: no faithful one was found.
        """
        pda = self.known.raw if self.raw else self.known.automaton
        if self.known.automaton is None or pda is None:
            raise StacklensError(nothing_found(self.known.report["reason"]))
        return pda


def asked_for(network: str, done: Mapping[str, Any] | None) -> ExtractionSettings | None:
    """Return with which settings a network has been extracted as ``done`` says; None if it tells of another or none."""
    settings = (done or {}).get("settings") if (done or {}).get("network") == network else None
    return None if settings is None else ExtractionSettings(**settings)


def extracted_and_settings(network: str, done: Mapping[str, Any] | None) -> tuple[ExtractionSettings, Known] | None:
    """Return what is known of a network, and with which settings it was found; None if nothing is.

    What was found as ``done`` says comes first, then what others have found.
    """
    settings = asked_for(network, done) or settings_known(network)
    found = None if settings is None else known(network, settings)
    return None if settings is None or found is None else (settings, found)


def shown(network: str, done: Mapping[str, Any] | None, form: str | None) -> Shown:
    """Return what the page looks at; ``form`` is "raw" for the machine before minimisation.

    Raises:
        StacklensError: nothing has been extracted from this network yet.
    """
    found = extracted_and_settings(network, done)
    if found is None:
        raise StacklensError("nothing has been read out of this network yet")
    return Shown(network, *found, form == "raw")


def run_view(one: Shown, text: str) -> dict[str, Any]:
    """Return the run on the word ``text`` as a browser needs it to follow it by itself.

    "rules" holds, for every transition, from, to, the operations as [pop, push], and what it is called; "steps" the
    number of the rule that each step takes; "stuck" says why the run ends early, or is None.
    """
    pda = one.automaton
    made = moves(pda, read_word(text, load(one.network).model))
    places = {state: number for number, state in enumerate(pda.states)}
    rules = [
        [places[key[0]], places[step.target], [[op.pop, op.push] for op in step.operations], rule(key, step)]
        for key, step in pda.transitions.items()
    ]
    stuck = None
    if made and made[-1].target is None:
        last = made.pop()
        tops = " ".join(last.tops)
        stuck = f"rejected: {last.state} has no transition on {last.symbol} with {tops} on top"
    return {
        "states": list(pda.states),
        "initial": places[pda.initial],
        "stacks": pda.n_stacks,
        "bottom": pda.bottom,
        "rules": rules,
        "steps": [move.rule for move in made],
        "stuck": stuck,
    }


def steps_view(one: Shown, text: str) -> pd.DataFrame:
    """Return the automaton's run on the word ``text``, a row a step."""
    return run_table(one.automaton, read_word(text, load(one.network).model))


def stacks_view(one: Shown, text: str, rounded: bool, theme: str) -> go.Figure:
    """Return the network's stack over the automaton's, over the steps of the word ``text``."""
    runner = runner_of(one.network, rounded)
    word = read_word(text, runner)
    if len(word) > LONGEST_STACKS:
        return themed(sentence(f"Stacks are drawn for words of at most {LONGEST_STACKS:,} symbols."), theme)
    with one_thread():
        figure = stacks_figure(runner, trace(runner, [word], stacks=True), one.automaton, stacks=one.known.stacks)
    figure.update_layout(meta={"over_steps": bool(figure.data)})
    return themed(figure, theme)


def map_view(one: Shown, rounded: bool, theme: str) -> go.Figure:
    """Return the map of hidden vectors, coloured by the automaton's state."""
    return themed(state_map(runner_of(one.network, rounded), _seen(one, rounded), one.automaton), theme)


def visits_view(one: Shown, rounded: bool, state: str) -> pd.DataFrame:
    """Return the words that visit ``state``, with the network's hidden vectors then."""
    frame = visit_table(one.automaton, _seen(one, rounded), state).drop(columns="state")
    return frame.round({name: 4 for name in frame.columns if name.startswith("h")})


def drift_view(one: Shown, theme: str) -> go.Figure | None:
    """Return the curve of what drifts in the rounded network on a word that goes round, None where none is known."""
    entry = one.known.report.get("drift")
    return None if entry is None else themed(drift_figure(Drift.from_dict(entry)), theme)


def _seen(one: Shown, rounded: bool) -> Trace:
    """Return what a network does on words that visit states."""
    return _traced(one.network, one.settings.language, rounded)


@lru_cache(maxsize=8)
def _traced(network: str, language: str | None, rounded: bool) -> Trace:
    """Return the trace, which is the same for all users, on words that suit ``language`` or else what the file says."""
    checkpoint = load(network)
    words = visiting_words(checkpoint.model, fitting_specification(checkpoint, language))
    with one_thread():
        return trace(runner_of(network, rounded), words, stacks=False)
