"""What a browser sends to Dash's callbacks: read and checked here, before a callback sees any of it.

Dash takes what is sent as it is; a body that none of its pages sends would end as an error 500 with a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Dash
from dash.exceptions import DependencyException
from flask import Response, request

from stacklens.errors import StacklensError
from stacklens.viz.dashboard.access import refused
from stacklens.viz.dashboard.asking import body

__all__ = ["check_bodies"]

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
    for kind, wanted in (
        ("outputs", [_name(one.to_dict()) for one in found["output"]]),
        ("inputs", [_name(one) for one in found["inputs"]]),
        ("state", [_name(one) for one in found["state"]]),
    ):
        if _names(sent.get(kind, [])) != wanted:
            return f"the {kind} of this request are not those of the callback"
    changed = sent.get("changedPropIds", [])
    inputs = _names(sent["inputs"]) or []
    if not isinstance(changed, list) or not all(isinstance(one, str) and one in inputs for one in changed):
        return "what has changed is none of the callback's inputs"
    return None


def _name(part: Mapping[str, Any]) -> str:
    return f"{part['id']}.{part['property']}"


def _names(parts: Any) -> list[str] | None:
    """Return ids and properties of what a body lists, None where it lists anything else."""
    if not isinstance(parts, list) or not all(isinstance(one, dict) and {"id", "property"} <= {*one} for one in parts):
        return None
    return [_name(part) for part in parts]
