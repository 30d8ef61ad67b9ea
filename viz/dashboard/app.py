"""The application: a Dash application whose page is the workbench, and the server that it runs on.

Moving through a word, lighting up the automaton and drawing the table are the browser's work (`assets/`); figures and
tables in the drawers are Dash's.
"""

import base64
import json
import mimetypes
from pathlib import Path
from typing import Any

import pandas  # noqa: F401 (here: plotly looks for it from other threads while a first one is still importing it)
from dash import MATCH, ClientsideFunction, Dash, Input, Output, dcc, html
from dash.exceptions import DependencyException
from flask import Flask, Response, abort, request
from plotly.io.json import to_json_plotly
from werkzeug.exceptions import HTTPException

from ...core.errors import StacklensError
from . import routes
from .access import Access, add_policy, guard, refused
from .drawers import THEMES, as_pdf, asked_for, filled
from .networks import LARGEST_BODY, checkpoint_of, random_word, store
from .requests import LONG, answering, body, view_of

# ---- What Dash has on the page: the drawers' figures and tables, in one place that one callback fills ----
#
# Strip, step table and automaton are no Dash components: they follow every step that somebody walks or scrubs, and a
# callback a step takes longer than the frame in which it has to be seen. The browser's part sets the data of the store
# "asked"; callbacks, which all run in the browser (`assets/drawers.js`), ask the server as every part of the page does.


def _with_dash(app: Dash) -> None:
    """Give ``app`` what Dash has on the page, empty, and the callbacks that fill it."""
    app.layout = html.Div([dcc.Store(id="asked"), dcc.Store(id="answered"), html.Div(id="filled")])
    register_one: Any = app.clientside_callback  # dash leaves it without types
    register_one(ClientsideFunction("bench", "ready"), Input("asked", "id"))
    filled = Output("filled", "children"), Output("answered", "data")
    for name, *parts in (
        ("fill", *filled, Input("asked", "data")),
        ("answered", Input("answered", "data")),
        ("csv", Output({"grid": MATCH}, "exportDataAsCsv"), Input({"grid": MATCH, "as": "csv"}, "n_clicks")),
    ):
        register_one(ClientsideFunction("bench", name), *parts, prevent_initial_call=True)


# ---- The application ----

_ASSETS = Path(__file__).parent / "assets"
_SERVED, _UPDATE = "_dash_assets.static", "/_dash-update-component"  # Dash's ways to these files, and to callbacks
# where in the page go what it shows first, a list, and whether it is dark
_FIRST, _PAPERS, _THEME = "<!-- first -->", "<!-- papers -->", "{%theme%}"


class Workbench(Dash):
    """Dash with the workbench as its page, which is shown before Dash's own programs are there.

    They stand in a template, where a browser leaves them alone; `assets/drawers.js` starts them.
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
        theme, papers = request.cookies.get("theme", ""), routes.html_of(routes.tables_and_figures(), "papers")
        page = page.replace(_THEME, theme if theme in THEMES else "").replace(_PAPERS, papers["papers"])
        return page.replace(_FIRST, _first_data())


def new_application(access: Access | None = None) -> Workbench:
    """Return the page as a Dash application; its ``server`` is what waitress or gunicorn runs.

    Everything comes from this server, nothing from another host, and no user's state is kept in it.

    Who has ``access`` may use it; None is as STACKLENS_TOKEN and STACKLENS_HOSTS say, without them this machine alone.
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
    server.view_functions[_UPDATE] = lambda: refused(404, "no callback of this page asks the server")
    _with_dash(app)
    routes.register_routes(server)

    def drawn() -> Response:
        return Response(to_json_plotly(filled(asked_for(body()))), mimetype="application/json")

    server.add_url_rule("/api/drawer", "drawer", answering(drawn), methods=["POST"])
    server.add_url_rule("/api/picture", "picture", answering(_figure_file), methods=["POST"])
    server.register_error_handler(HTTPException, _sentence_of)
    server.register_error_handler(DependencyException, lambda _: refused(404, "there is no such file"))
    add_policy(server)
    return app


def _figure_file() -> dict[str, str]:
    given = body()
    return {"pdf": base64.b64encode(as_pdf(asked_for(given), given)).decode()}


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
        first |= {"network": routes.network_answer(view.network), "chosen": typed}
        whole, asked = len(typed) <= LONG, (view.network, typed, view.rounded)
        first["word"] = routes.word_answer(*asked) if whole else routes.beginning_answer(*asked, view.step)
    except StacklensError:  # the page asks again, and says what is wrong
        pass
    data = json.dumps(first, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="at-first">{data}</script>'
