"""What stands before every page and after it: who may come in (`access`), and what a browser may do with the answer."""

from __future__ import annotations

import logging
from urllib.parse import urlencode

from dash import Dash
from flask import Flask, Request, Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from stacklens.viz.dashboard.access import COOKIE, Access

__all__ = ["add_policy", "guard", "policy_of", "refused"]

_log = logging.getLogger("stacklens.page")
_LASTS = 30 * 24 * 60 * 60  # seconds that a browser remembers that it was let in
_GIVEN = "token"  # the part of an address after `?` that holds the token
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # an address names networks and words, and at first the token
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def guard(server: Flask, access: Access) -> None:
    """Return nothing; let ``server`` answer those only that ``access`` lets in.

    To be called first of all, so that nothing of a request has been read before.
    """

    @server.before_request
    def let_in() -> AnyResponse | None:
        problem = access.refusal(request.environ)
        if problem is not None:
            return refused(403, problem)
        return _look_for_the_token(access)


def _look_for_the_token(access: Access) -> AnyResponse | None:
    """Return what is answered to who has no token, or has it in the address, from where it goes into a cookie."""
    if access.token is None or access.knows_cookie(request.cookies.get(_cookie(request), "")):
        given = request.args.get(_GIVEN)
        return None if given is None or request.method != "GET" else redirect(_without_token(request), 303)
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() in ("bearer", "token") and access.knows(given.strip()):
        return None
    if request.method == "GET" and access.knows(request.args.get(_GIVEN, "")):
        answer = redirect(_without_token(request), 303)
        name, secure = _cookie(request), request.is_secure
        answer.set_cookie(name, access.cookie_value, max_age=_LASTS, httponly=True, samesite="Lax", secure=secure)
        return answer
    return refused(403, "a token is needed: open the link that ends in ?token=…, which whoever runs this page has")


def _cookie(asked: Request) -> str:
    return f"{COOKIE}-{asked.environ.get('SERVER_PORT', '')}"


def _without_token(asked: Request) -> str:
    """Return the address that was asked for, on this host whatever it says, without the token."""
    rest = [(name, value) for name, value in asked.args.items(multi=True) if name != _GIVEN]
    return f"/?{urlencode(rest)}" if rest else "/"


def refused(status: int, problem: str) -> Response:
    """Return a sentence in place of what was asked for; it is also a line in the log."""
    _log.warning("%d %s", status, problem)
    return Response(f"{problem}\n", status, mimetype="text/plain")


def add_policy(app: Dash) -> None:
    """Return nothing; send with every answer of ``app`` what a browser may do with it. All callbacks must be there."""
    policy = policy_of(app)

    @app.server.after_request  # type: ignore[untyped-decorator]
    def with_policy(answer: Response) -> Response:
        for name, value in {"Content-Security-Policy": policy, **_SAFE}.items():
            answer.headers[name] = value
        return answer


def policy_of(app: Dash) -> str:
    """Return the Content-Security-Policy of ``app``: nothing from another host, no script but the files and Dash's own.

    Styles may stand in the page because plotly, the tables and Dash's controls put theirs there; no text of a user's
    becomes HTML. Pictures are also made in the browser, as data and blob addresses, to be saved as files.
    """
    parts = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", *app.csp_hashes()]),  # of the one line that starts Dash
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items())
