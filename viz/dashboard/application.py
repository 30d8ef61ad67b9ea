"""The application: the page, its callbacks, and what a production server asks for."""

from __future__ import annotations

import pandas  # noqa: F401 (here: plotly looks for it from other threads while a first one is still importing it)
from dash import Dash

from stacklens.viz.dashboard.callbacks import register
from stacklens.viz.dashboard.probe_page import layout

__all__ = ["new_application"]


def new_application() -> Dash:
    """Return the page as a Dash application; its ``server`` is what waitress or gunicorn runs.

    Everything comes from this server, nothing from another host, and no user's state is kept in it.
    """
    app = Dash("stacklens", title="stacklens", assets_folder=_assets(), update_title="stacklens", serve_locally=True)
    app.layout = layout
    register(app)
    return app


def _assets() -> str:
    from pathlib import Path

    return str(Path(__file__).parent / "assets")
