"""The application: a Dash application whose page is the workbench, and the server that it runs on.

Moving through a word, lighting up the automaton and drawing the table are the browser's work (`assets/`); figures and
tables in the drawers are Dash's (`callbacks`).
"""

from __future__ import annotations

import json
import mimetypes
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas  # noqa: F401 (here: plotly looks for it from other threads while a first one is still importing it)
from dash import ALL, ClientsideFunction, Dash, Input, Output, dcc, html
from dash.exceptions import DependencyException
from flask import Flask, Response, abort, request
from werkzeug.exceptions import HTTPException

from ...core.errors import StacklensError
from . import routes
from .access import Access, add_policy, guard, refused
from .drawers import asked_for, filled
from .networks import LARGEST_BODY, checkpoint_of, random_word, store
from .requests import LONG, NotYetError, body, view_of

# ---- What Dash has on the page: the drawers' figures and tables, in one place that one callback fills ----
#
# The strip, the step table and the automaton are no Dash components. They are written by hand (`assets/`), because
# they follow every step that somebody walks or scrubs: a callback a step asks the server, or at least renders the
# components anew, and takes longer than the frame in which the step has to be seen. What is shown of a drawer changes
# once a click.
#
# The two talk through `dash_clientside`: the browser's part sets the data of the store "asked" (`set_props`), and
# callbacks that run in the browser tell it when Dash is there, what is shown, and which word a table's button means.


def layout() -> html.Div:
    """Return what Dash has on the page, empty: the callback fills it."""
    stores = [dcc.Store(id=name) for name in ("asked", "answered", "later")]
    return html.Div([*stores, html.Div(id="filled")])


def register_callbacks(app: Dash) -> None:
    """Give ``app`` its callbacks: one asks the server, the others run in the browser (`assets/dash.js`)."""
    outputs = Output("filled", "children"), Output("answered", "data"), Output("later", "data")
    app.callback(*outputs, Input("asked", "data"), prevent_initial_call=True)(_fill)
    register_one: Any = app.clientside_callback  # dash leaves it without types
    register_one(ClientsideFunction("bench", "ready"), Input("asked", "id"))
    register_one(ClientsideFunction("bench", "answered"), Input("answered", "data"), prevent_initial_call=True)
    register_one(ClientsideFunction("bench", "later"), Input("later", "data"), prevent_initial_call=True)
    register_one(
        ClientsideFunction("bench", "open"), Input({"grid": ALL}, "cellRendererData"), prevent_initial_call=True
    )
    register_one(ClientsideFunction("bench", "csv"), Input({"csv": ALL}, "n_clicks"), prevent_initial_call=True)


def _fill(data: Any) -> tuple[list[Any], Any, int | None]:
    """Return a drawer's components, the number of the question, and a sign to ask again where its turn has not come."""
    number = data.get("number") if isinstance(data, dict) else None
    try:
        if not isinstance(data, dict):
            raise StacklensError("what a drawer asks is no object")
        return filled(asked_for(data)), number, None
    except NotYetError as error:
        return [html.P(f"{error}.", role="status")], number, time.time_ns() % 2**31
    except StacklensError as error:
        return [html.P(f"{error}.", role="status")], number, None


# ---- What a browser sends to Dash's callbacks: read and checked here, before a callback sees any of it ----
#
# Dash takes what is sent as it is; a body that none of its pages sends would end as an error 500 with a traceback.

_UPDATE = "/_dash-update-component"
_PARTS = {"output", "outputs", "inputs", "state", "changedPropIds", "parsedChangedPropsIds"}


def check_bodies(app: Dash) -> None:
    """Let ``app`` answer one line to what its own page would not send to a callback."""

    @app.server.before_request  # type: ignore[untyped-decorator]
    def check() -> Response | None:
        if request.path != _UPDATE or request.method != "POST":
            return None
        if request.mimetype != "application/json":
            return refused(415, "the body of this request is not said to be JSON")
        try:
            problem = _problem_of(body(), app.callback_map)
        except StacklensError as error:
            problem = str(error)
        return None if problem is None else refused(400, problem)

    app.server.register_error_handler(DependencyException, lambda _: refused(404, "there is no such file"))


def _problem_of(sent: Mapping[str, Any], callbacks: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return what is wrong with a body for the callbacks that are there; what is asked is looked at by these."""
    name = sent.get("output")
    found = callbacks.get(name, {}) if isinstance(name, str) else {}
    if "callback" not in found:
        return "the body of this request names no output that this page has"
    if not {*sent} <= _PARTS:
        return "the body of this request has more than a callback's parts"
    parts = {
        "outputs": [one.to_dict() for one in found["output"]],
        **{kind: found[kind] for kind in ("inputs", "state")},
    }
    for kind, wanted in parts.items():
        if _part_names(sent.get(kind, [])) != _part_names(wanted):
            return f"the {kind} of this request are not those of the callback"
    changed, inputs = sent.get("changedPropIds", []), _part_names(found["inputs"])
    if not isinstance(changed, list) or any(one not in inputs for one in changed):
        return "what has changed is none of the callback's inputs"
    return None


def _part_names(parts: Any) -> list[str]:
    """Return ids and properties of what a body lists; of what is no such list something that is no name."""
    if not isinstance(parts, list) or not all(isinstance(one, dict) and {"id", "property"} <= {*one} for one in parts):
        return [""]
    return [f"{part['id']}.{part['property']}" for part in parts]


# ---- The application ----

_ASSETS = Path(__file__).parent / "assets"
_SERVED = "_dash_assets.static"  # what Dash calls the way to these files
_FIRST = "<!-- first -->"  # where in the page what it shows first goes


class Workbench(Dash):
    """Dash with the workbench as its page, which is shown before Dash's own programs are there.

    They stand in a template, where a browser leaves them alone; `assets/dash.js` starts them.
    """

    def index(self, *given: Any, **named: Any) -> Any:
        """Return the page, which has one address."""
        if given or named:
            abort(404)
        return super().index()  # type: ignore[no-untyped-call]

    def interpolate_index(self, **parts: str) -> str:  # type: ignore[override]  # all are given by name
        """Return the page's text, with what its address asks for as data in it."""
        parts["app_entry"] = '<div id="react-entry-point"></div>'
        page: str = super().interpolate_index(**parts)  # type: ignore[no-untyped-call]
        return page.replace(_FIRST, _first_data())


def new_application(access: Access | None = None) -> Workbench:
    """Return the page as a Dash application; its ``server`` is what waitress or gunicorn runs.

    Everything comes from this server, nothing from another host, and no user's state is kept in it.

    Args:
        access: who may use it; None for what STACKLENS_TOKEN and STACKLENS_HOSTS say, without them this machine alone.
    """
    store()
    server: Any = Flask("stacklens", static_folder=None)  # dash says that it takes none
    server.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    guard(server, access or Access.from_environment())
    app = Workbench(
        "stacklens",
        server=server,
        title="stacklens",
        update_title="stacklens",
        assets_folder=str(_ASSETS),
        include_assets_files=False,  # the page names its own, which are modules
        serve_locally=True,
        suppress_callback_exceptions=True,  # tables come and go
        index_string=(_ASSETS / "workbench.html").read_text(encoding="utf-8"),
    )
    server.view_functions[_SERVED] = _asset
    app.layout = layout
    register_callbacks(app)
    check_bodies(app)
    routes.register_routes(server)
    server.register_error_handler(HTTPException, _sentence_of)
    add_policy(server)
    return app


def _asset(filename: str) -> Response:
    """Return a file of the page from memory: one that is sent from the disk stays open where a browser breaks off."""
    if filename not in {path.name for path in _ASSETS.iterdir()}:
        abort(404)
    kind = mimetypes.guess_type(filename)[0]
    answer = Response((_ASSETS / filename).read_bytes(), mimetype=kind, headers={"Cache-Control": "no-cache"})
    answer.add_etag()
    answer.make_conditional(request)
    return answer


def _sentence_of(error: HTTPException) -> Response:
    """Return an error as a sentence in place of werkzeug's page."""
    large = f"the body of this request is larger than {LARGEST_BODY // 1_000_000} MB"
    return refused(error.code or 400, large if error.code == 413 else error.name.lower())


def _first_data() -> str:
    """Return what the address asks for as data in the page, so that it is shown without another request.

    Of a long word it is the beginning; the rest comes later, when its turn has come.
    """
    view = view_of(request.query_string.decode(errors="replace"))
    first: dict[str, object] = {}
    try:
        checkpoint_of(view.network)  # only a network is shown at once
        typed = random_word(view.network, 0) if view.word is None else view.word
        first["network"] = routes.network_answer(view.network)
        first["chosen"] = typed
        if len(typed) <= LONG:
            first["word"] = routes.word_answer(view.network, typed, view.rounded)
        else:
            first["word"] = routes.beginning_answer(view.network, typed, view.rounded, view.step)
    except StacklensError:  # the page asks again, and says what is wrong
        pass
    data = json.dumps(first, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="at-first">{data}</script>'
