"""The Probe page: what a network does on a word, step by step, as figures and as tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from dash import ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update, set_props

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.extract.evaluation.automaton_runs import true_depths
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.probe.trace import Trace, trace
from stacklens.viz.dashboard.components import AGAIN, ask_again, columns_of, figure_part, rows_of, table_part
from stacklens.viz.dashboard.extractions import ExtractionSettings, settings_known
from stacklens.viz.dashboard.networks import load, truth_by_name
from stacklens.viz.dashboard.python_lines import program
from stacklens.viz.dashboard.steps import LONGEST_STACKS, extracted_automaton, read_word, runner_of, traced
from stacklens.viz.dashboard.turns import NotYetError, in_turn
from stacklens.viz.dashboard.view import View
from stacklens.viz.figures import FIGURES, draw, paper_figure
from stacklens.viz.step_tables import prediction_table, step_table, trace_data
from stacklens.viz.style import sentence, themed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLES", "drawn", "figure_lines", "layout", "register", "table_lines", "tabled"]

TABLES = {"steps": step_table, "predictions": prediction_table}
_OF_STACKS = ("paper", "stack", "segments", "operations", "rounding")  # figures
_LIMIT = f"stacks are drawn for words of at most {LONGEST_STACKS:,} symbols"

_NAMES = {
    "paper": "what its paper draws",
    "actions": "actions, pushed values, readings",
    "stack": "stack cells",
    "segments": "stack segments",
    "operations": "table of operations",
    "hidden": "hidden vectors",
    "map": "map of hidden vectors",
    "rounding": "soft and rounded stack",
}
_NO_TABLE = "none"
_PATIENCE = 20  # seconds that a download waits for its turn


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
    extracted = [f"pda = {(settings_known(view.network) or ExtractionSettings()).call()}.automaton"] if found else []
    given = [f"figure={view.figure!r}"] * (view.figure != "paper") + ["automaton=pda"] * found
    return program(view.network, [], [_tracing(view, view.figure), *extracted, f"seen.plot({', '.join(given)}).show()"])


def table_lines(view: View, name: str) -> str:
    """Return the Python lines that make the table called ``name`` of ``view``."""
    function = TABLES[name].__name__
    imports = [f"from stacklens.viz.step_tables import {function}"]
    return program(view.network, imports, [_tracing(view, ""), f"print({function}(seen.model, seen))"])


def layout() -> html.Section:
    """Return the page, empty: its callbacks fill it. A table is made once one is asked for."""
    figures = [{"label": _NAMES[name], "value": name} for name in FIGURES]
    tables = [{"label": f"table of {name}", "value": name} for name in TABLES]
    return html.Section(
        [
            html.Label(
                ["figure", dcc.Dropdown(figures, id="figure", clearable=False, searchable=False)], className="choice"
            ),
            figure_part("picture"),
            dcc.RadioItems([{"label": "no table", "value": _NO_TABLE}, *tables], _NO_TABLE, id="table", inline=True),
            html.Div(id="table-place"),
            html.Div([html.Button("steps as CSV", id="csv"), html.Button("trace as JSON", id="json")]),
        ]
    )


def register(app: Dash) -> None:
    """Give ``app`` the callbacks of this page."""
    word = Input("network", "value"), Input("word", "value"), Input("kind", "value"), Input("page", "data")
    app.callback(
        *(Output("picture", "figure"), Output("picture-line", "children")),
        *(*word, Input("figure", "value"), Input("theme", "data"), Input("extracted", "data"), AGAIN),
    )(show)
    app.callback(Output("table-place", "children"), Input("table", "value"), State("table-place", "children"))(_place)
    app.callback(
        *(Output("steps", "rowData"), Output("steps", "columnDefs"), Output("steps-line", "children")),
        *(*word, Input("table", "value"), AGAIN),
    )(_fill)
    app.callback(
        Output("file", "data"),
        *(Input("csv", "n_clicks"), Input("json", "n_clicks")),
        *(State("network", "value"), State("word", "value"), State("kind", "value")),
        prevent_initial_call=True,
    )(_download)
    register_one: Any = app.clientside_callback  # dash leaves it without types
    register_one(
        ClientsideFunction("probe", "jump"),
        Output("step", "value", allow_duplicate=True),
        Input("picture", "clickData"),
        prevent_initial_call=True,
    )


def show(
    network: str, word: str | None, kind: str, page: str, figure: str, theme: str | None, *others: Any
) -> tuple[Any, Any]:
    """Return the figure and its Python lines."""
    del others  # they say only that there may be another automaton now, or that it is time to look again
    if page != "probe":
        return no_update, no_update
    view = View("probe", network, word or "", kind == "rounded", figure)
    try:
        picture = in_turn(network, word or "", drawn, view, theme or "light")
    except NotYetError as error:
        return ask_again(themed(sentence(f"{error}."), theme or "light")), ""
    except StacklensError as error:
        return themed(sentence(f"Nothing to draw: {error}."), theme or "light"), ""
    try:
        return picture, figure_lines(view)
    except StacklensError:  # the figure says why
        return picture, ""


def _place(name: str, there: Any) -> Any:
    """Return the table, empty, when one is asked for: what shows it is large, and most visits do without."""
    if name == _NO_TABLE:
        return None
    return no_update if there else table_part("steps")


def _fill(network: str, word: str | None, kind: str, page: str, name: str, again: Any) -> tuple[Any, Any, Any]:
    """Return the rows and columns of the table and its Python lines; what is wrong with a view is all there is then."""
    del again
    if page != "probe" or name == _NO_TABLE:
        return no_update, no_update, no_update
    view = View("probe", network, word or "", kind == "rounded")
    try:
        frame = in_turn(network, word or "", tabled, view, name)
        return rows_of(frame), columns_of(frame), table_lines(view, name)
    except NotYetError as error:
        return [], [], ask_again(f"{error}.")
    except StacklensError as error:
        return [], [], f"{error}."


def _download(csv: int | None, json_: int | None, network: str, word: str | None, kind: str) -> Any:
    """Return the trace as a file; none where network or word cannot be read, which the page has said already."""
    del csv, json_
    suffix = "csv" if ctx.triggered_id == "csv" else "json"
    try:
        content = in_turn(
            network, word or "", _content, suffix, network, word or "", kind == "rounded", patience=_PATIENCE
        )
    except NotYetError as error:
        set_props("problem", {"children": f"{str(error).partition(':')[0]}: ask for the file again in a minute."})
        return no_update
    except StacklensError:
        return no_update
    return {"content": content, "filename": f"{network}.{suffix}"}


def _content(suffix: str, network: str, word: str, rounded: bool) -> str:
    runner = runner_of(network, rounded)
    seen = trace(runner, [read_word(word, runner)])
    if suffix == "csv":
        return str(seen.to_frame().to_csv(index=False))
    return json.dumps(trace_data(runner, seen), indent=1, ensure_ascii=False)
