"""What the page shows of what was read out of a network: the automaton, its run, and who visits which state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from stacklens.automata.formats.dot import render, to_dot
from stacklens.automata.formats.jflap import to_jflap
from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import PushdownAutomaton, State
from stacklens.errors import StacklensError
from stacklens.extract.evaluation.automaton_runs import run_table, visit_table, visiting_words
from stacklens.extract.verification.drift import Drift
from stacklens.extract.wording import merged_claim, nothing_found
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
    "drift_view",
    "map_view",
    "seen_on_many",
    "shown",
    "stacks_view",
    "steps_view",
    "visits_view",
]

_Groups = Mapping[State, str] | None
FILES: dict[str, Callable[[PushdownAutomaton, str, _Groups], str]] = {  # what can be saved, by suffix
    "dot": to_dot,
    "json": lambda pda, *_: to_json(pda),
    "jff": lambda pda, *_: to_jflap(pda),
    "svg": lambda *given: render(to_dot(*given), "svg").decode(),
}


@dataclass(frozen=True)
class Shown:
    """What the page looks at.

    Attributes:
        network: the network's name.
        settings: with which the automaton was extracted.
        known: what came of it.
        raw: whether the machine before minimisation is meant.
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
        if self.known.automaton is not None and pda is None:
            raise StacklensError("this result does not hold the machine before minimisation")
        if self.known.automaton is None or pda is None:
            raise StacklensError(nothing_found(self.known.report["reason"]))
        return pda

    @property
    def groups(self) -> _Groups:
        """Return by state what it is merged into, of the machine before minimisation; else None."""
        merged = self.known.merged if self.raw else None
        return None if merged is None else merged.states

    @property
    def beside(self) -> tuple[PushdownAutomaton | None, str]:
        """Return the machine before minimisation, None where there is none or it is no other, and what became of it."""
        raw, pda, merged = self.known.raw, self.automaton, self.known.merged
        if raw is None:
            return None, "The machine before minimisation is not known."
        sizes = ((len(one.states), len(one.stack_alphabet), len(one.transitions)) for one in (raw, pda))
        if raw == pda or (merged is not None and len(set(sizes)) == 1):  # nothing was merged, and nothing left out
            return None, "Before minimisation it is the same automaton."
        if merged is None:
            return raw, "Which states were merged is not known."
        named = list(merged.stack_symbols.values())
        several = {one: into for one, into in merged.stack_symbols.items() if named.count(into) > 1}
        states = merged.states if len(set(merged.states.values())) < len(merged.states) else {}
        said = [
            f"{what} {merged_claim(all_)}" for what, all_ in (("states", states), ("stack symbols", several)) if all_
        ]
        gone = [state for state in raw.states if state not in merged.states]
        left = f"left out, since no accepted word needs it: {' '.join(gone)}" if gone else ""
        return raw, f"Merged: {'; '.join(said) or 'no states'}{'; ' if left else ''}{left}."


def shown(network: str, raw: bool = False) -> Shown:
    """Return what the page looks at; ``raw`` is for what it says of the machine before minimisation.

    Raises:
        StacklensError: nothing has been extracted from this network yet.
    """
    settings = settings_known(network)
    found = None if settings is None else known(network, settings)
    if settings is None or found is None:
        raise StacklensError("nothing has been read out of this network yet")
    return Shown(network, settings, found, raw)


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
    return themed(state_map(runner_of(one.network, rounded), seen_on_many(one, rounded), one.automaton), theme)


def visits_view(one: Shown, rounded: bool, state: str) -> pd.DataFrame:
    """Return the words that visit ``state``, with the network's hidden vectors then."""
    frame = visit_table(one.automaton, seen_on_many(one, rounded), state).drop(columns="state")
    return frame.round({name: 4 for name in frame.columns if name.startswith("h")})


def drift_view(one: Shown, theme: str) -> go.Figure | None:
    """Return the curve of what drifts in the rounded network on a word that goes round, None where none is known."""
    entry = one.known.report.get("drift")
    return None if entry is None else themed(drift_figure(Drift.from_dict(entry)), theme)


def seen_on_many(one: Shown, rounded: bool) -> Trace:
    """Return what a network does on words that visit states."""
    return _traced(one.network, one.settings.language, rounded)


@lru_cache(maxsize=8)
def _traced(network: str, language: str | None, rounded: bool) -> Trace:
    """Return the trace, which is the same for all users, on words that suit ``language`` or else what the file says."""
    checkpoint = load(network)
    words = visiting_words(checkpoint.model, fitting_specification(checkpoint, language))
    with one_thread():
        return trace(runner_of(network, rounded), words, stacks=False)
