"""The application: the pages, their callbacks, and what a production server asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas  # noqa: F401 (here: plotly looks for it from other threads while a first one is still importing it)
from dash import Dash
from flask import Flask

from stacklens.viz.dashboard import callbacks
from stacklens.viz.dashboard.access import Access
from stacklens.viz.dashboard.bodies import check_bodies
from stacklens.viz.dashboard.guard import add_policy, guard
from stacklens.viz.dashboard.pages import PAGES
from stacklens.viz.dashboard.shell import layout
from stacklens.viz.dashboard.uploads import LARGEST_BODY

__all__ = ["new_application"]


def new_application(access: Access | None = None) -> Dash:
    """Return the page as a Dash application; its ``server`` is what waitress or gunicorn runs.

    Everything comes from this server, nothing from another host, and no user's state is kept in it.

    Args:
        access: who may use it; None for what STACKLENS_TOKEN and STACKLENS_HOSTS say, without them this machine alone.
    """
    assets = str(Path(__file__).parent / "assets")
    server: Any = Flask("stacklens", static_folder=None)  # dash says that it takes none
    server.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    guard(server, access or Access.from_environment())
    # pages are made when they are first visited, so that callbacks speak of parts that are not there yet
    app = Dash(
        "stacklens",
        server=server,
        title="stacklens",
        assets_folder=assets,
        update_title="stacklens",
        serve_locally=True,
        suppress_callback_exceptions=True,
    )
    app.layout = layout
    callbacks.register(app)
    for page in PAGES.values():
        page.register(app)
    check_bodies(app)
    add_policy(app)
    return app
