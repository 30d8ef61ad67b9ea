"""The application: a Dash application whose page is the workbench, and the server that it runs on.

Moving through a word, lighting up the automaton and drawing the table are the browser's work (`assets/`); figures and
tables in the drawers are Dash's (`callbacks`).
"""

from __future__ import annotations

import json
import mimetypes
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas  # noqa: F401 (here: plotly looks for it from other threads while a first one is still importing it)
from dash import Dash
from flask import Flask, Response, abort, request
from werkzeug.exceptions import HTTPException

from stacklens.errors import StacklensError
from stacklens.viz.dashboard import callbacks, changes, drawer_routes, routes
from stacklens.viz.dashboard.access import Access, add_policy, guard, refused
from stacklens.viz.dashboard.bodies import check_bodies
from stacklens.viz.dashboard.networks import LARGEST_BODY, is_known, random_word
from stacklens.viz.dashboard.store import store
from stacklens.viz.dashboard.turns import LONG
from stacklens.viz.dashboard.view import view_of

__all__ = ["Workbench", "new_application"]

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
        return page.replace(_FIRST, _first())


def new_application(access: Access | None = None) -> Workbench:
    """Return the page as a Dash application; its ``server`` is what waitress or gunicorn runs.

    Everything comes from this server, nothing from another host, and no user's state is kept in it.

    Args:
        access: who may use it; None for what STACKLENS_TOKEN and STACKLENS_HOSTS say, without them this machine alone.

    Raises:
        StacklensError: what is opened and found cannot be kept (see `store`), or the environment makes no sense.
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
        index_string=_page(),
    )
    server.view_functions[_SERVED] = _asset
    app.layout = callbacks.layout
    callbacks.register(app)
    check_bodies(app)
    routes.register(server)
    drawer_routes.register(server)
    changes.register(server)
    server.register_error_handler(HTTPException, _said)
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


def _said(error: HTTPException) -> Response:
    """Return an error as a sentence in place of werkzeug's page."""
    said = {413: f"the body of this request is larger than {LARGEST_BODY // 1_000_000} MB"}
    code = error.code or 400
    return refused(code, said.get(code, error.name.lower()))


@lru_cache(maxsize=1)
def _page() -> str:
    return (_ASSETS / "workbench.html").read_text(encoding="utf-8")


def _first() -> str:
    """Return what the address asks for as data in the page, so that it is shown without another request.

    Of a long word it is the beginning; the rest comes later, when its turn has come.
    """
    view = view_of(request.query_string.decode(errors="replace"))
    first: dict[str, object] = {}
    try:
        if is_known(view.network):
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
