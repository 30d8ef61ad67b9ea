"""What a network does on a word as figures and tables, with the Python lines that make them, and as files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.probe.trace import Trace, trace
from stacklens.viz.dashboard.extractions import ExtractionSettings, settings_known
from stacklens.viz.dashboard.networks import load, truth_by_name
from stacklens.viz.dashboard.python_lines import program
from stacklens.viz.dashboard.saved import is_saved
from stacklens.viz.dashboard.steps import LONGEST_STACKS, extracted_automaton, read_word, runner_of, traced
from stacklens.viz.dashboard.view import View
from stacklens.viz.figures import draw, paper_figure
from stacklens.viz.step_tables import prediction_table, step_table, trace_data
from stacklens.viz.style import sentence, themed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLES", "drawn", "figure_lines", "table_lines", "tabled", "trace_file"]

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
    automaton = extracted_automaton(view.network)
    if view.figure != "paper":
        return draw(view.figure, network, seen, automaton=automaton)
    return paper_figure(network, seen, truth=truth_by_name(load(view.network), word), automaton=automaton)


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
    given = ", rounded=True" if view.rounded else ""
    stacks, why = ("True", "") if short or figure in _OF_STACKS else ("False", f"  # {_LIMIT}")
    return f"seen = sl.trace(network, {view.word or ''!r}{given}, stacks={stacks}){why}"


def tabled(view: View, name: str) -> pd.DataFrame:
    """Return the table called ``name``, one of `TABLES`, of a view: a row a step, a long word's without the stacks.

    Raises:
        StacklensError: the word cannot be read, or the network predicts nothing.
    """
    with one_thread():
        network, word = _read(view)
        return TABLES[name](network, _traced(view, word))


def figure_lines(view: View) -> str:
    """Return the Python lines that make the figure of ``view``."""
    found = extracted_automaton(view.network) is not None
    call = "result" if is_saved(view.network) else (settings_known(view.network) or ExtractionSettings()).call()
    extracted = [f"pda = {call}.automaton"] if found else []
    given = [f"figure={view.figure!r}"] * (view.figure != "paper") + ["automaton=pda"] * found
    return program(view.network, [], [_tracing(view, view.figure), *extracted, f"seen.plot({', '.join(given)}).show()"])


def table_lines(view: View, name: str) -> str:
    """Return the Python lines that make the table called ``name`` of ``view``."""
    function = TABLES[name].__name__
    imports = [f"from stacklens.viz.step_tables import {function}"]
    return program(view.network, imports, [_tracing(view, ""), f"print({function}(seen.model, seen))"])


def trace_file(suffix: str, network: str, word: str, rounded: bool) -> str:
    """Return the whole trace of a word as text, "csv" or "json".

    Raises:
        StacklensError: the word cannot be read, or there is no such network.
    """
    runner = runner_of(network, rounded)
    seen = trace(runner, [read_word(word, runner)])
    if suffix == "csv":
        return str(seen.to_frame().to_csv(index=False))
    return json.dumps(trace_data(runner, seen), indent=1, ensure_ascii=False)
