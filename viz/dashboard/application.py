"""The application: the pages, their callbacks, and what a production server asks for."""

from __future__ import annotations

from pathlib import Path

import pandas  # noqa: F401 (here: plotly looks for it from other threads while a first one is still importing it)
from dash import Dash

from stacklens.viz.dashboard import callbacks
from stacklens.viz.dashboard.pages import PAGES
from stacklens.viz.dashboard.shell import layout
from stacklens.viz.dashboard.uploads import LARGEST

__all__ = ["new_application"]


def new_application() -> Dash:
    """Return the page as a Dash application; its ``server`` is what waitress or gunicorn runs.

    Everything comes from this server, nothing from another host, and no user's state is kept in it.
    """
    assets = str(Path(__file__).parent / "assets")
    # pages are made when they are first visited, so that callbacks speak of parts that are not there yet
    app = Dash(
        "stacklens",
        title="stacklens",
        assets_folder=assets,
        update_title="stacklens",
        serve_locally=True,
        suppress_callback_exceptions=True,
    )
    app.server.config["MAX_CONTENT_LENGTH"] = 2 * LARGEST  # a file comes in base 64
    app.layout = layout
    callbacks.register(app)
    for page in PAGES.values():
        page.register(app)
    return app
