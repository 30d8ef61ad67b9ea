"""What a browser sends when something on the page changes: read and checked here, before a callback sees any of it.

Dash takes the values as they come. Whatever is not as the page itself sends it is refused in one line, so that no
callback has to ask what its arguments are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dash import Dash
from dash.exceptions import DependencyException
from flask import Response, request
from werkzeug.exceptions import HTTPException

from stacklens.viz.dashboard.body_values import fits
from stacklens.viz.dashboard.guard import refused
from stacklens.viz.dashboard.uploads import LARGEST_BODY

__all__ = ["LARGEST_CALLBACK", "check_bodies"]

LARGEST_CALLBACK = 2_000_000  # bytes of what is sent when something changes, but for a file that is opened
_UPDATE = "/_dash-update-component"
_FILE = "upload.contents"


def check_bodies(app: Dash) -> None:
    """Return nothing; let ``app`` answer 400 or 413 and one line to what its own page would not send.

    Callbacks that run in the browser are asked for by nobody.
    """
    there = _Callbacks(app)

    @app.server.before_request  # type: ignore[untyped-decorator]
    def check() -> Response | None:
        if request.path != _UPDATE or request.method != "POST":
            return None
        try:
            problem, status = _problem_of_request(there)
        except HTTPException as error:
            return refused(error.code or 400, _OFTEN.get(error.code or 400, error.name.lower()))
        return None if problem is None else refused(status, problem)

    app.server.register_error_handler(HTTPException, lambda error: refused(error.code or 400, error.name.lower()))
    app.server.register_error_handler(DependencyException, lambda _: refused(404, "there is no such file"))


_OFTEN = {
    400: "the body of this request is no JSON",
    413: f"the body of this request is larger than {LARGEST_BODY // 1_000_000} MB",
    415: "the body of this request is not said to be JSON",
}


class _Callbacks:
    """The callbacks of an application as they are asked for: Dash adds those that cancel jobs at the first request."""

    def __init__(self, app: Dash) -> None:
        self._app, self._found = app, dict[str, _Callback]()

    def get(self, name: str) -> _Callback | None:
        """Return the callback whose outputs are called ``name``, if there is one."""
        there = self._app.callback_map.get(name, {})
        if name not in self._found and "callback" in there:
            self._found[name] = _Callback(there)
        return self._found.get(name)


class _Callback:
    """What the page sends for one callback: the ids and properties of its outputs, inputs and states."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        outputs = found["output"]
        self.single = not isinstance(outputs, list | tuple)
        self.outputs = [_name(one.to_dict()) for one in ([outputs] if self.single else outputs)]
        self.inputs = [_name(one) for one in found["inputs"]]
        self.states = [_name(one) for one in found["state"]]


def _name(part: Mapping[str, Any]) -> str:
    """Return id.property, without what Dash appends where several callbacks have the same output."""
    return f"{part['id']}.{part['property']}".partition("@")[0]


def _problem_of_request(there: _Callbacks) -> tuple[str | None, int]:
    """Return what is wrong with the request, None if nothing is, and the status of the answer."""
    try:
        body = request.get_json()
    except RecursionError:
        return "the body of this request is too deep", 400
    problem = _problem_of(body, there)
    if problem is not None:
        return problem, 400
    size, found = len(request.get_data()), there.get(body["output"])
    if size > LARGEST_CALLBACK and found is not None and _FILE not in found.inputs:
        return f"the body of this request has {size:,} bytes; expected at most {LARGEST_CALLBACK:,}", 413
    return None, 200


def _problem_of(body: Any, there: _Callbacks) -> str | None:
    """Return what is wrong with ``body`` for the callbacks that are ``there``."""
    if not isinstance(body, dict):
        return "the body of this request is no object"
    found = there.get(body["output"]) if isinstance(body.get("output"), str) else None
    if found is None:
        return "the body of this request names no output that this page has"
    outputs = body.get("outputs")
    if _names([outputs] if found.single else outputs) != found.outputs:
        return "the outputs of this request are not those of the callback"
    for kind, wanted in (("inputs", found.inputs), ("state", found.states)):
        parts = body.get(kind, [])
        if _names(parts) != wanted:
            return f"the {kind} of this request are not those of the callback"
        for name, part in zip(wanted, parts, strict=True):
            if not fits(name, part.get("value")):
                return f"{name} is {_shown(part.get('value'))}, which the page does not send"
    changed = body.get("changedPropIds", [])
    if not isinstance(changed, list) or not all(isinstance(one, str) and one in found.inputs for one in changed):
        return "what has changed is none of the callback's inputs"
    return None


def _names(parts: Any) -> list[str] | None:
    """Return ids and properties of what a body lists, None where it lists anything else."""
    if not isinstance(parts, list) or not all(
        isinstance(part, dict) and {"id", "property"} <= {*part} for part in parts
    ):
        return None
    return [_name(part) for part in parts]


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
