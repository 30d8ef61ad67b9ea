"""The Automaton page: what is read out of a network, at work on the word, beside the network's own stack."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update, set_props

from stacklens.automata.description import formal_definition, transition_table
from stacklens.errors import StacklensError
from stacklens.extract.evaluation.trust import horizon_claims
from stacklens.extract.headline import headline
from stacklens.extract.wording import as_sentence, automaton_claim, before_claim, nothing_found
from stacklens.viz.automaton import automaton_drawing
from stacklens.viz.dashboard.automaton_views import (
    FILES,
    Shown,
    drift_view,
    extracted_and_settings,
    map_view,
    run_view,
    shown,
    stacks_view,
    steps_view,
    visits_view,
)
from stacklens.viz.dashboard.components import claim_list, columns_of, figure_part, in_python, rows_of, table_part
from stacklens.viz.dashboard.extractions import STAGES, TURNS, extraction_job
from stacklens.viz.dashboard.jobs import Jobs
from stacklens.viz.dashboard.python_lines import automaton_lines
from stacklens.viz.style import sentence, themed

__all__ = ["PANELS", "TITLES", "layout", "register"]

_FORMS = [{"label": "minimised", "value": "minimised"}, {"label": "before minimisation", "value": "raw"}]
TITLES = {"dot": "DOT", "json": "JSON", "jff": "JFLAP", "svg": "SVG"}
_FIELDS = (
    ("states", "clusters to begin with", "found"),
    ("symbols", "stack symbols", "found"),
    ("length", "check all words up to length", "as many as 2.5 million words"),
    ("seed", "seed", "0"),
    ("budget", "seconds of the search", "60"),
)
_METHODS = {
    "auto": "learned from behaviour, else clusters",
    "learn": "learned from behaviour",
    "kmeans": "clusters of hidden vectors",
}
PANELS = ("drawing", "stacks", "steps", "transitions", "definition", "map", "drift", "visits")


def layout() -> html.Section:
    """Return the page, empty: its callbacks fill it."""
    return html.Section([*_hidden(), _form(), _status(), html.Div(_found(), id="automaton-found", hidden=True)])


def _hidden() -> list[Any]:
    return [
        *(dcc.Store(id=f"automaton-{name}") for name in ("ended", "done", "svg", "drawn", "run", "lit", "state")),
        dcc.Store(id="automaton-visit", data=uuid4().hex),
        dcc.Download(id="automaton-file"),
    ]


def _form() -> html.Details:
    fields = [
        html.Label([title, dcc.Input(id=f"automaton-{name}", type="number", placeholder=otherwise, debounce=True)])
        for name, title, otherwise in _FIELDS
    ]
    language = dcc.Input(id="automaton-language", placeholder="as the file says", autoComplete="off", spellCheck=False)
    ways = [{"label": label, "value": value} for value, label in _METHODS.items()]
    method = dcc.Dropdown(ways, "auto", id="automaton-method", clearable=False, searchable=False)
    fields += [html.Label(["language", language]), html.Label(["method", method])]
    return html.Details([html.Summary("settings"), html.Div(fields, className="automaton-form")])


def _status() -> html.Div:
    return html.Div(
        [
            html.Button("extract", id="automaton-extract", className="automaton-main"),
            html.Button("cancel", id="automaton-cancel", disabled=True),
            html.Progress(id="automaton-bar", max=str(len(STAGES)), value="0"),
            html.Span(id="automaton-stage", role="status"),
            html.P(id="automaton-problem", role="alert"),
            html.Div(id="automaton-says"),
        ],
        className="automaton-status",
    )


def _found() -> list[Any]:
    files = [html.Button(title, id=f"automaton-save-{suffix}") for suffix, title in TITLES.items()]
    return [
        dcc.RadioItems(_FORMS, "minimised", id="automaton-form", inline=True),
        html.Div(
            [
                html.Div(id="automaton-drawing", role="group"),
                html.Div(id="automaton-now"),
            ],
            className="automaton-work",
        ),
        html.P("A click on a state shows the words that visit it.", className="automaton-hint"),
        html.Div(files, className="buttons"),
        in_python("automaton-drawing"),
        html.H2("The network's stack and the automaton's"),
        figure_part("automaton-stacks", "stacks"),
        html.H2("The automaton's run"),
        table_part("automaton-steps", "run"),
        html.H2("Transitions"),
        table_part("automaton-transitions", "transitions"),
        html.H2("Formal definition"),
        html.Pre(id="automaton-definition"),
        in_python("automaton-definition"),
        html.H2("Hidden vectors by state"),
        figure_part("automaton-map", "hidden-vectors"),
        html.Div(
            [html.H2("Why it fails on a word that goes round"), figure_part("automaton-drift", "drift")],
            id="automaton-drifts",
            hidden=True,
        ),
        html.H2("Words that visit a state", id="automaton-visited"),
        html.P("A click on a row goes to that word and step.", className="automaton-hint"),
        table_part("automaton-visits", "visits"),
        html.Details([html.Summary("what it rests on"), html.Pre(id="automaton-summary")]),
    ]


def register(app: Dash) -> None:
    """Give ``app`` the callbacks of this page."""
    looked = (
        *(Input("page", "data"), Input("network", "value"), Input("automaton-done", "data")),
        Input("automaton-form", "value"),
    )
    word, kind, theme = Input("word", "value"), Input("kind", "value"), Input("theme", "data")
    app.callback(
        *(Output("automaton-says", "children"), Output("automaton-found", "hidden")),
        *(Output("automaton-summary", "children"), *looked[:3]),
    )(_say)
    app.callback(
        *(Output("automaton-svg", "data"), Output("automaton-definition", "children")),
        *(Output("automaton-transitions", "rowData"), Output("automaton-transitions", "columnDefs"), *looked),
    )(_draw)
    app.callback(Output("automaton-run", "data"), *looked, word)(_run)
    app.callback(
        *(Output("automaton-steps", "rowData"), Output("automaton-steps", "columnDefs"), *looked, word),
    )(_steps)
    app.callback(Output("automaton-stacks", "figure"), *looked, word, kind, theme)(_stacks)
    app.callback(Output("automaton-map", "figure"), *looked, kind, theme)(_map)
    app.callback(Output("automaton-drift", "figure"), Output("automaton-drifts", "hidden"), *looked, theme)(_drift)
    app.callback(*(Output(f"automaton-{name}-line", "children") for name in PANELS), *looked, word, kind)(_lines)
    app.callback(
        *(Output("automaton-visits", "rowData"), Output("automaton-visits", "columnDefs")),
        *(Output("automaton-visited", "children"), *looked, kind, Input("automaton-state", "data")),
    )(_visits)
    app.callback(
        *(Output("automaton-file", "data"), Output("automaton-problem", "children")),
        *(Input(f"automaton-save-{suffix}", "n_clicks") for suffix in FILES),
        *(State("network", "value"), State("automaton-done", "data"), State("automaton-form", "value")),
        prevent_initial_call=True,
    )(_save)
    _register_job(app)
    _register_in_the_browser(app)


def _register_job(app: Dash) -> None:
    fields = ("states", "symbols", "length", "seed", "language", "method", "budget")
    app.callback(
        *(Output("automaton-done", "data"), Output("automaton-problem", "children", allow_duplicate=True)),
        *(Input("automaton-ended", "data"), Input("network", "value")),
        prevent_initial_call=True,
    )(_end)
    app.callback(
        Output("automaton-ended", "data"),
        Input("automaton-extract", "n_clicks"),
        *(State("network", "value"), *(State(f"automaton-{name}", "value") for name in fields)),
        State("automaton-visit", "data"),
        prevent_initial_call=True,
        background=True,
        manager=Jobs(TURNS),
        interval=300,
        progress=[Output("automaton-stage", "children"), Output("automaton-bar", "value")],
        progress_default=["", "0"],
        running=[
            (Output("automaton-extract", "disabled"), True, False),
            (Output("automaton-cancel", "disabled"), False, True),
            (Output("automaton-bar", "className"), "working", ""),
        ],
        cancel=[Input("automaton-cancel", "n_clicks")],
    )(extraction_job)


def _register_in_the_browser(app: Dash) -> None:
    register_one: Any = app.clientside_callback  # dash leaves it without types
    register_one(
        ClientsideFunction("automaton", "draw"), Output("automaton-drawn", "data"), Input("automaton-svg", "data")
    )
    register_one(
        ClientsideFunction("automaton", "light"),
        Output("automaton-lit", "data"),
        *(Input("step", "value"), Input("automaton-run", "data"), Input("automaton-drawn", "data")),
        Input("automaton-state", "data"),
    )
    register_one(
        ClientsideFunction("automaton", "open"),
        *(Output("word", "value", allow_duplicate=True), Output("step", "value", allow_duplicate=True)),
        Input("automaton-visits", "cellClicked"),
        State("automaton-visits", "virtualRowData"),
        prevent_initial_call=True,
    )


def _say(page: str, network: str, done: dict[str, Any] | None) -> tuple[Any, ...]:
    """Return what there is to say, whether the rest of the page is hidden, and the summary."""
    if page != "automaton":
        return (no_update,) * 3
    try:
        found = extracted_and_settings(network, done)
    except StacklensError as error:
        return f"{error}.", True, None
    if found is None:
        return "Nothing has been read out of this network yet: extract does it.", True, None
    _, known = found
    if known.automaton is None:
        says = nothing_found(known.report["reason"])
        return f"{says[0].upper()}{says[1:]}.", True, known.summary
    sizes = known.report["automaton"]
    found_says = [
        html.P(html.B(as_sentence(headline(known.report)))),
        claim_list(horizon_claims(known.report)),
        html.P(f"{automaton_claim(sizes, known.automaton.n_stacks)}; {before_claim(sizes)}."),
    ]
    return found_says, False, known.summary


def _end(ended: dict[str, Any] | None, network: str) -> tuple[Any, Any]:
    """Return what the page is to look at once a job has ended, and what went wrong, if anything did.

    What went wrong with another network, which was shown when the job began, is not said under this one.
    """
    if ctx.triggered_id != "automaton-ended" or ended is None:
        return no_update, None
    if ended["settings"] is None:
        return no_update, ended["problem"] if ended["network"] in (None, network) else None
    set_props("extracted", {"data": ended})  # other pages show it too; this page may not be there when they are
    return ended, None


def _looked(page: str, network: str, done: dict[str, Any] | None, form: str | None) -> Shown | None:
    """Return what the page looks at, or None where it is not shown or there is no automaton."""
    if page != "automaton":
        return None
    try:
        one = shown(network, done, form)
    except StacklensError:
        return None
    return None if one.known.automaton is None else one


def _draw(*looked: Any) -> tuple[Any, ...]:
    """Return the drawing, the definition and the transitions."""
    one = _looked(*looked)
    if one is None:
        return (no_update,) * 4
    frame = transition_table(one.automaton)
    try:
        drawing = {"svg": automaton_drawing(one.automaton)}
    except StacklensError as error:
        drawing = {"says": f"{error}."}
    return drawing, formal_definition(one.automaton), rows_of(frame), columns_of(frame)


def _run(*values: Any) -> Any:
    *looked, word = values
    one = _looked(*looked)
    if one is None:
        return no_update
    try:
        return run_view(one, word or "")
    except StacklensError:  # the page has said what is wrong with the word
        return None


def _steps(*values: Any) -> tuple[Any, Any]:
    *looked, word = values
    one = _looked(*looked)
    if one is None:
        return no_update, no_update
    try:
        frame = steps_view(one, word or "")
    except StacklensError:  # the page has said what is wrong with the word
        return [], no_update
    return rows_of(frame), columns_of(frame)


def _stacks(*values: Any) -> Any:
    *looked, word, kind, theme = values
    one = _looked(*looked)
    if one is None:
        return no_update
    try:
        return stacks_view(one, word or "", kind == "rounded", theme or "light")
    except StacklensError as error:
        return themed(sentence(f"Nothing to draw: {error}."), theme or "light")


def _map(*values: Any) -> Any:
    *looked, kind, theme = values
    one = _looked(*looked)
    return no_update if one is None else map_view(one, kind == "rounded", theme or "light")


def _drift(*values: Any) -> tuple[Any, bool]:
    """Return the curve of what drifts, and whether there is nothing to show."""
    *looked, theme = values
    one = _looked(*looked)
    figure = None if one is None else drift_view(one, theme or "light")
    return (no_update, True) if figure is None else (figure, False)


def _lines(*values: Any) -> Any:
    *looked, word, kind = values
    one = _looked(*looked)
    if one is None:
        return (no_update,) * len(PANELS)
    lines = automaton_lines(one, word or "", kind == "rounded")
    return tuple(lines[name] for name in PANELS)


def _visits(*values: Any) -> tuple[Any, ...]:
    """Return the rows and columns of the visits of the state that was clicked, or of the initial one, and a heading."""
    *looked, kind, state = values
    one = _looked(*looked)
    if one is None:
        return (no_update,) * 3
    chosen = state if state in one.automaton.states else one.automaton.initial
    frame = visits_view(one, kind == "rounded", chosen)
    return rows_of(frame), columns_of(frame), f"Words that visit {chosen}"


def _save(*values: Any) -> tuple[Any, Any]:
    """Return the automaton as a file, or why it cannot be written so."""
    *_, network, done, form = values
    suffix = str(ctx.triggered_id).removeprefix("automaton-save-")
    if suffix not in FILES:
        return no_update, no_update
    try:
        content = FILES[suffix](shown(network, done, form).automaton, network)
    except StacklensError as error:
        return no_update, f"Cannot save {TITLES[suffix]}: {error}."
    return {"content": content, "filename": f"{network}.{suffix}"}, None
