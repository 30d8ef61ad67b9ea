"""The application: one page, the files that it is made of, and what it asks for.

Moving through a word, lighting up the automaton and drawing the table are the browser's work (`assets/`).
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import pandas  # noqa: F401 (here: plotly looks for it from other threads while a first one is still importing it)
import plotly
from flask import Flask, Response, request, send_from_directory
from werkzeug.exceptions import HTTPException

from stacklens.errors import StacklensError
from stacklens.viz.dashboard import drawer_routes, routes
from stacklens.viz.dashboard.access import Access, add_policy, guard, refused
from stacklens.viz.dashboard.networks import LARGEST_BODY, is_known, random_word
from stacklens.viz.dashboard.turns import LONG
from stacklens.viz.dashboard.view import view_of

__all__ = ["new_application"]

ASSETS = Path(__file__).parent / "assets"
_PLOTLY = Path(plotly.__file__).parent / "package_data"
_FIRST = "<!-- first -->"  # where in the page what it shows first goes
_FRESH, _KEPT = "no-cache", "public, max-age=31536000, immutable"


def new_application(access: Access | None = None) -> Flask:
    """Return the page as a WSGI application, for waitress or gunicorn.

    Everything comes from this server, nothing from another host, and no user's state is kept in it.

    Args:
        access: who may use it; None for what STACKLENS_TOKEN and STACKLENS_HOSTS say, without them this machine alone.
    """
    server = Flask("stacklens", static_folder=None)
    server.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    guard(server, access or Access.from_environment())
    _register_page(server)
    routes.register(server)
    drawer_routes.register(server)
    server.register_error_handler(HTTPException, _said)
    add_policy(server)
    return server


def _said(error: HTTPException) -> Response:
    """Return an error as a sentence in place of werkzeug's page."""
    said = {413: f"the body of this request is larger than {LARGEST_BODY // 1_000_000} MB"}
    code = error.code or 400
    return refused(code, said.get(code, error.name.lower()))


def _register_page(server: Flask) -> None:
    @server.get("/")
    def page() -> Response:
        return _fresh(_page().replace(_FIRST, _first()), "text/html")

    @server.get("/assets/<name>")
    def asset(name: str) -> Response:
        answer = send_from_directory(ASSETS, name)
        answer.headers["Cache-Control"] = _FRESH
        return answer

    @server.get(f"/plotly-{plotly.__version__}.js")
    def figures() -> Response:
        answer = send_from_directory(_PLOTLY, "plotly.min.js")
        answer.headers["Cache-Control"] = _KEPT
        return answer


def _fresh(text: str, kind: str) -> Response:
    return Response(text, mimetype=kind, headers={"Cache-Control": _FRESH})


@lru_cache(maxsize=1)
def _page() -> str:
    text = (ASSETS / "workbench.html").read_text(encoding="utf-8")
    return text.replace("PLOTLY", f"/plotly-{plotly.__version__}.js")


def _first() -> str:
    """Return what the address asks for as data in the page, so that it is shown without another request.

    A long word comes later, when its turn has come.
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
    except StacklensError:  # the page asks again, and says what is wrong
        pass
    data = json.dumps(first, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="at-first">{data}</script>'
