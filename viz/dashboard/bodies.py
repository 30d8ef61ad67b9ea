"""What a browser sends when something on the page changes: read and checked here, before a callback sees any of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, get_args

from dash import Dash
from dash.exceptions import DependencyException
from flask import Response, request
from werkzeug.exceptions import HTTPException

from stacklens.extract.config import Method
from stacklens.viz.dashboard.access import refused
from stacklens.viz.dashboard.automaton_views import FILES
from stacklens.viz.dashboard.extractions import ExtractionSettings
from stacklens.viz.dashboard.networks import LARGEST_BODY
from stacklens.viz.dashboard.probe_page import TABLES
from stacklens.viz.dashboard.view import PAGE_NAMES
from stacklens.viz.figures import FIGURES

__all__ = ["LARGEST_CALLBACK", "VALUES", "check_bodies", "fits"]

Check = Callable[[Any], bool]
_MOST = 2**31  # clicks, and whatever else is counted

_COUNTED = ("states", "stack_symbols", "max_length")
_CLICKED = ("random", "csv", "json", "automaton-extract", "automaton-cancel", "trust-draw", "trust-judge")
_TYPED = ("network.value", "word.value", "address.search", "upload.contents", "upload.filename", "papers-name.value")
LARGEST_CALLBACK = 2_000_000  # bytes of what is sent when something changes, but for a file that is opened
_UPDATE = "/_dash-update-component"
_FILE = "upload.contents"
_OFTEN = {
    400: "the body of this request is no JSON",
    413: f"the body of this request is larger than {LARGEST_BODY // 1_000_000} MB",
    415: "the body of this request is not said to be JSON",
}


def _text(value: Any) -> bool:
    """Return whether ``value`` is a text that can be written down: half a letter outside the first plane cannot."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(_text(one) for one in value)


def _anything(value: Any) -> bool:
    """Return that only whether there is any is looked at."""
    del value
    return True


def _one_of(*names: str) -> Check:
    return lambda value: isinstance(value, str) and value in names


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _settings(value: Any) -> bool:
    """Return whether ``value`` holds the settings of an extraction, `ExtractionSettings` as plain data."""
    if not isinstance(value, dict) or {*value} != {field.name for field in fields(ExtractionSettings)}:
        return False
    counted = all(_or_none(_whole)(value[name]) for name in _COUNTED)
    named = _or_none(_text)(value["language"]) and value["method"] in get_args(Method)
    return counted and named and _number(value["seed"]) and _whole(value["budget"])


def _ended(value: Any) -> bool:
    """Return whether ``value`` is what an extraction ends with."""
    if not isinstance(value, dict) or {*value} != {"network", "settings", "problem"}:
        return False
    checks = {"network": _text, "settings": _settings, "problem": _text}
    return all(_or_none(check)(value[name]) for name, check in checks.items())


def _asked(value: Any) -> bool:
    """Return whether ``value`` says for which network words were drawn, and after how many clicks."""
    return isinstance(value, list) and len(value) == 2 and _text(value[0]) and _whole(value[1])


_PAGE, _THEME = _one_of(*PAGE_NAMES), _one_of("light", "dark")

VALUES: dict[str, Check] = {
    **{f"{name}.n_clicks": _whole for name in (*_CLICKED, *(f"automaton-save-{suffix}" for suffix in FILES))},
    **dict.fromkeys(_TYPED, _text),
    **{f"automaton-{name}.value": _number for name in ("states", "symbols", "length", "seed", "budget")},
    **{f"page-{name}.children": _anything for name in PAGE_NAMES},
    **{f"{name}.data": _ended for name in ("extracted", "automaton-done", "automaton-ended")},
    "again.data": _whole,
    "automaton-form.value": _one_of("minimised", "raw"),
    "automaton-language.value": _text,
    "automaton-method.value": _one_of(*get_args(Method)),
    "automaton-state.data": _text,
    "automaton-visit.data": _text,
    "figure.value": _one_of(*FIGURES),
    "kind.value": _one_of("soft", "rounded"),
    "page.data": _PAGE,
    "papers-score.value": _whole,
    "table-place.children": _anything,
    "table.value": _one_of("none", *TABLES),
    "theme.data": _THEME,
    "trust-asked.data": _asked,
    "trust-only.value": lambda value: value in ([], ["different"]),
    "trust-words.value": _text,
    "uploads.data": _texts,
}


def fits(name: str, value: Any) -> bool:
    """Return whether the part of the page called ``name``, id.property, may have ``value``; it may have none yet."""
    return value is None or (name in VALUES and VALUES[name](value))


def check_bodies(app: Dash) -> None:
    """Let ``app`` answer 400 or 413 and one line to what its own page would not send.

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
