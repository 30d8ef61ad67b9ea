"""What the Probe page draws of a view: its figure, its table, and the Python lines that make the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.models.base import StackModel
from stacklens.models.machine import one_thread
from stacklens.probe.trace import Trace
from stacklens.viz.dashboard.extractions import Settings, settings_known
from stacklens.viz.dashboard.networks import file_of, load
from stacklens.viz.dashboard.references import truth_by_name
from stacklens.viz.dashboard.steps import LONGEST_STACKS, extracted, read_word, runner_of, traced
from stacklens.viz.dashboard.view import View
from stacklens.viz.figures import draw, paper_figure
from stacklens.viz.style import sentence, themed
from stacklens.viz.tables import prediction_table, step_table
from stacklens.viz.tracks import true_depths

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLES", "drawn", "python_lines", "table_lines", "tabled"]

TABLES = {"steps": step_table, "predictions": prediction_table}
_OF_STACKS = ("paper", "stack", "segments", "operations", "rounding")  # figures
_LIMIT = f"stacks are drawn for words of at most {LONGEST_STACKS:,} symbols"


def drawn(view: View, theme: str = "light") -> go.Figure:
    """Return the figure of ``view``; where something is wrong with it, one that says so.

    Its ``meta`` says whether it runs over steps, so that there is a current one.
    """
    try:
        with one_thread():
            figure = _drawn(view)
    except StacklensError as error:
        figure = sentence(f"Nothing to draw: {error}.")
    figure.update_layout(meta={"over_steps": view.figure != "map" and bool(figure.data)})
    return figure if theme == "light" else themed(figure, theme)  # figures are made light, and copying takes time


def _drawn(view: View) -> go.Figure:
    network, word = _read(view)
    if view.figure in _OF_STACKS and network.n_stacks and len(word) > LONGEST_STACKS:
        raise StacklensError(_LIMIT)  # before anything takes long
    seen = _traced(view, word)
    automaton = extracted(view.network)
    if view.figure != "paper":
        return draw(view.figure, network, seen, automaton=automaton)
    truth = _truth(view)
    depths = None if truth is None else true_depths(truth, word)
    return paper_figure(network, seen, depths=depths, automaton=automaton)


def _truth(view: View) -> PushdownAutomaton | None:
    """Return the automaton of what the network was trained on, if there is one that reads the word."""
    checkpoint = load(view.network)
    try:
        return truth_by_name(checkpoint, read_word(view.word or "", checkpoint.model))
    except StacklensError:  # the figure says what is wrong with the word
        return None


def _read(view: View) -> tuple[StackModel[Any], Word]:
    network = runner_of(view.network, view.rounded)
    return network, read_word(view.word or "", network)


def _traced(view: View, word: Word) -> Trace:
    return traced(view.network, view.word or "", view.rounded, stacks=len(word) <= LONGEST_STACKS)


def _tracing(view: View, figure: str) -> str:
    """Return the line that traces the word, without the stacks' contents where what is shown of a long one has none."""
    try:
        short = len(read_word(view.word or "", load(view.network).model)) <= LONGEST_STACKS
    except StacklensError:  # the figure says what is wrong with the word
        short = True
    if short or figure in _OF_STACKS:
        return "seen = trace(network, [word], stacks=True)"
    return f"seen = trace(network, [word], stacks=False)  # {_LIMIT}"


def tabled(view: View, name: str) -> pd.DataFrame:
    """Return the table called ``name``, one of `TABLES`, of a view: a row a step, a long word's without the stacks.

    Raises:
        StacklensError: the word cannot be read, or the network predicts nothing.
    """
    with one_thread():
        network, word = _read(view)
        return TABLES[name](network, _traced(view, word))


def python_lines(view: View) -> str:
    """Return the Python lines that make the figure of ``view``."""
    given = []
    needed = []
    if extracted(view.network) is not None:
        language, config = (settings_known(view.network) or Settings()).arguments()
        needed += [
            f"extract.extraction import {'ExtractionConfig, ' if config else ''}extract",
            "extract.names import reference_of",
        ]
        given.append(f"automaton=extract(checkpoint.model, reference_of(checkpoint{language}){config}).automaton")
    if view.figure != "paper":
        call = ", ".join([repr(view.figure), "network", "seen", *given])
        return _lines(view, [*needed, "viz.figures import draw"], f"draw({call}).show()", view.figure)
    if _truth(view) is not None:
        needed += ["viz.tracks import true_depths", "viz.truth import true_automaton"]
        given.insert(0, "depths=true_depths(true_automaton(checkpoint, word), word)")
    call = ", ".join(["network", "seen", *given])
    return _lines(view, [*needed, "viz.figures import paper_figure"], f"paper_figure({call}).show()", view.figure)


def table_lines(view: View, name: str) -> str:
    """Return the Python lines that make the table called ``name`` of ``view``."""
    function = TABLES[name].__name__
    return _lines(view, [f"viz.tables import {function}"], f"print({function}(network, seen))")


def _lines(view: View, needed: Sequence[str], last: str, figure: str = "") -> str:
    rounding = ["models.rounding import Rounded"] if view.rounded else []
    always = ["languages.words import parse_word", "models.loading import load_network", "probe.trace import trace"]
    lines = [
        *(f"from stacklens.{what}" for what in sorted([*always, *rounding, *needed])),
        "",
        f"checkpoint = load_network({file_of(view.network)!r})",
        f"network = {'Rounded(checkpoint.model)' if view.rounded else 'checkpoint.model'}",
        f"word = parse_word({view.word or ''!r}, network.alphabet)",
        _tracing(view, figure),
        last,
    ]
    return "\n".join(lines)
