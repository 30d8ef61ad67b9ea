"""What a browser asks, read and checked before anything is done with it, and how it is answered."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Response, request

from stacklens.errors import StacklensError
from stacklens.viz.dashboard.turns import NotYetError

__all__ = ["LARGEST_JSON", "answering", "body", "flag", "json_answer", "number", "one_of", "text", "texts"]

LARGEST_JSON = 2_000_000  # bytes of what is sent when something is asked
_MOST = 2**31  # of what is counted
_SHOWN = 60  # characters of what was sent

Route = Callable[..., Any]


def json_answer(value: Any, status: int = 200) -> Response:
    """Return ``value`` as the answer to a request, without spaces and without numbers that are none."""
    return Response(json.dumps(value, separators=(",", ":"), allow_nan=False), status, mimetype="application/json")


def answering(route: Route) -> Route:
    """Return ``route`` whose value is answered as JSON; what is wrong is one sentence, in "problem" or "wait"."""

    @wraps(route)
    def answer(*given: Any, **named: Any) -> Response:
        try:
            value = route(*given, **named)
        except NotYetError as error:
            return json_answer({"wait": f"{error}."}, 202)
        except StacklensError as error:
            return json_answer({"problem": f"{error}."}, 400)
        return value if isinstance(value, Response) else json_answer(value)

    return answer


def body() -> dict[str, Any]:
    """Return the JSON object that a request sends.

    Raises:
        StacklensError: it sends something else, or too much.
    """
    if request.content_length is None or request.content_length > LARGEST_JSON:
        raise StacklensError(f"the body of this request is larger than {LARGEST_JSON:,} bytes, or of no known size")
    try:
        found = json.loads(request.get_data())
    except (ValueError, RecursionError):
        raise StacklensError("the body of this request is no JSON") from None
    if not isinstance(found, dict):
        raise StacklensError("the body of this request is no object")
    return found


def text(name: str, default: str | None = None, among: dict[str, Any] | None = None) -> str:
    """Return the parameter called ``name``, of the address or of ``among``.

    Raises:
        StacklensError: it is not there and has no ``default``, or is no text that can be written down.
    """
    found = (request.args if among is None else among).get(name, default)
    if not isinstance(found, str) or not _is_text(found):
        raise StacklensError(f"{name} is {_shown(found)}; expected a text")
    return found


def texts(name: str) -> list[str]:
    """Return the parts, with commas between, of the parameter called ``name``."""
    return [part for part in text(name, "").split(",") if part]


def flag(name: str) -> bool:
    """Return whether the parameter called ``name`` is 1."""
    return request.args.get(name) == "1"


def one_of(name: str, choices: tuple[str, ...], default: str | None = None, among: dict[str, Any] | None = None) -> str:
    """Return the parameter called ``name``, of the address or of ``among``, which is one of ``choices``.

    Raises:
        StacklensError: it is another.
    """
    found = text(name, default, among)
    if found not in choices:
        raise StacklensError(f"{name} is {_shown(found)}; expected one of {', '.join(choices)}")
    return found


def number(name: str, default: int = 0) -> int:
    """Return the parameter called ``name``, a whole number from 0.

    Raises:
        StacklensError: it is none.
    """
    found = request.args.get(name, str(default))
    if not (found.isascii() and found.isdigit() and len(found) < 11 and int(found) < _MOST):
        raise StacklensError(f"{name} is {_shown(found)}; expected a whole number from 0")
    return int(found)


def _is_text(value: str) -> bool:
    """Return whether ``value`` can be written down: half a letter outside the first plane cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(value: Any) -> str:
    shown = json.dumps(value, default=str)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
