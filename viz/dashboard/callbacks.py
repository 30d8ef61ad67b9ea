"""What Dash has on the page: the drawers' figures and tables, in one place that one callback fills.

The strip, the step table and the automaton are no Dash components. They are written by hand (`assets/`), because they
follow every step that somebody walks or scrubs: a callback a step asks the server, or at least renders the components
anew, and takes longer than the frame in which the step has to be seen. What is shown of a drawer changes once a click.

The two talk through `dash_clientside`: the browser's part sets the data of the store "asked" (`set_props`), and
callbacks that run in the browser tell it when Dash is there, what is shown, and which word a table's button means.
"""

from __future__ import annotations

import time
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, dcc, html

from stacklens.errors import StacklensError
from stacklens.viz.dashboard.drawers import asked_for, filled
from stacklens.viz.dashboard.turns import NotYetError

__all__ = ["layout", "register"]


def layout() -> html.Div:
    """Return what Dash has on the page, empty: the callback fills it."""
    stores = [dcc.Store(id=name) for name in ("asked", "answered", "later")]
    return html.Div([*stores, html.Div(id="filled")])


def register(app: Dash) -> None:
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
