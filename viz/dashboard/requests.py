"""What a browser asks: who may, how it is read and checked before anything is done with it, and how it is answered."""

import hashlib
import hmac
import json
import logging
import os
import re
import socket
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from flask import Flask, Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from ...core.errors import StacklensError
from .jobs import NotYetError

# the Python lines of panels, texts, how tables look, the headers of every answer
PAGE: dict[str, Any] = tomllib.loads((Path(__file__).parent / "assets" / "page.toml").read_text(encoding="utf-8"))

# ---- What is shown, as a value, read from the part of an address after `?`, so that a link shows the same again ----


@dataclass(frozen=True)
class View:
    """What is shown."""

    network: str = "marnn-stack-rnn-dyck-2"  # the name of a network, see `networks`
    word: str | None = None  # the word as it is typed; None for one that suits the network
    rounded: bool = False  # whether the rounded network is shown
    figure: str = "paper"  # which figure, one of `figures.FIGURES`
    step: int = 1  # the current step, from 1


def view_of(search: str | None) -> View:
    """Return the view that an address's ``search`` part asks for; what it leaves out or garbles is as by default.

    >>> view_of("?network=nnpda-1n0n&word=10&step=2&rounded=1")
    View(network='nnpda-1n0n', word='10', rounded=True, figure='paper', step=2)
    """
    asked = dict(parse_qsl((search or "").removeprefix("?"), keep_blank_values=True))
    step = asked.get("step", "")
    return View(
        network=asked.get("network", View.network),
        word=asked.get("word"),
        rounded=asked.get("rounded") == "1",
        step=int(step) if step.isascii() and step.isdigit() and 0 < len(step) < 7 else 1,
    )


# ---- What a browser asks, read and checked before anything is done with it, and how it is answered ----

LARGEST_JSON = 2_000_000  # bytes of what is sent when something is asked
_MOST = 2**31  # of what is counted
_SHOWN = 60  # characters of what was sent
Reader = Callable[[str], Any]  # of a parameter, given its name


def json_answer(value: Any, status: int = 200) -> Response:
    """Return ``value`` as the answer to a request, without spaces and without numbers that are none."""
    return Response(json.dumps(value, separators=(",", ":"), allow_nan=False), status, mimetype="application/json")


def answering(route: Callable[..., Any], readers: Mapping[str, Reader] | None = None) -> Callable[[], Response]:
    """Return a view that answers as JSON what ``route`` returns, given the parameters that ``readers`` read.

    What is wrong is one sentence, in "problem" or "wait".
    """

    def answer() -> Response:
        try:
            value = route(*(read(name) for name, read in (readers or {}).items()))
        except NotYetError as error:
            return json_answer({"wait": f"{error}."}, 202)
        except StacklensError as error:
            return json_answer({"problem": f"{error}."}, 400)
        return value if isinstance(value, Response) else json_answer(value)

    return answer


def body() -> dict[str, Any]:
    """Return the JSON object that a request sends."""
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
    """Return the parameter called ``name``, of the address or of ``among``."""
    found = (request.args if among is None else among).get(name, default)
    # half a letter outside the first plane cannot be written down
    if not isinstance(found, str) or found.encode(errors="ignore").decode() != found:
        raise StacklensError(f"{name} is {_shown_value_sent(found)}; expected a text")
    return found


def texts(name: str) -> list[str]:
    """Return the parts, with commas between, of the parameter called ``name``."""
    return [part for part in text(name, "").split(",") if part]


def flag(name: str) -> bool:
    """Return whether the parameter called ``name`` is 1."""
    return request.args.get(name) == "1"


def one_of(name: str, choices: tuple[str, ...], default: str | None = None, among: dict[str, Any] | None = None) -> str:
    """Return the parameter called ``name``, of the address or of ``among``, which is one of ``choices``."""
    found = text(name, default, among)
    if found not in choices:
        raise StacklensError(f"{name} is {_shown_value_sent(found)}; expected one of {', '.join(choices)}")
    return found


def number(name: str, default: int = 0) -> int:
    """Return the parameter called ``name``, a whole number from 0."""
    found = request.args.get(name, str(default))
    if not (found.isascii() and found.isdigit() and len(found) < 11 and int(found) < _MOST):
        raise StacklensError(f"{name} is {_shown_value_sent(found)}; expected a whole number from 0")
    return int(found)


def _shown_value_sent(value: Any) -> str:
    shown = json.dumps(value, default=str)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."


# ---- Who may use the page, and what a browser may do with the answer ----
#
# From this machine everybody on it; from elsewhere those who have the token, by a name we know.

TOKEN, HOSTS = "STACKLENS_TOKEN", "STACKLENS_HOSTS"  # in the environment
COOKIE = "stacklens-token"  # with the port, for all ports of a machine share their cookies
_BOTH = f"whoever runs it sets {TOKEN} and {HOSTS} to let others in"
_SHORTEST = 16  # characters of a token
_FORWARDED = ("HTTP_X_FORWARDED", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")  # how headers of a proxy begin
_READING = ("GET", "HEAD", "OPTIONS")

_log = logging.getLogger("stacklens.page")
_LASTS = 30 * 24 * 60 * 60  # seconds that a browser remembers that it was let in
_GIVEN = "token"  # the part of an address after `?` that holds the token
# Nothing from another host, and no script but our files. Styles may stand in the page because plotly puts its own
# there; no text of a user's becomes HTML. Pictures are also made in the browser, as data and blob addresses.
_HEADERS: dict[str, str] = PAGE["headers"]


@dataclass(frozen=True)
class Access:
    """What is asked of a request before it is looked at.

    >>> Access().refusal({"HTTP_HOST": "localhost:8050", "REMOTE_ADDR": "127.0.0.1", "REQUEST_METHOD": "GET"})
    """

    token: str | None = None  # what everybody has to know; None where only this machine is answered
    # the names, beside addresses and this machine's own, that others call this server by; lower case
    hosts: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.token is not None and not re.fullmatch(rf"[A-Za-z0-9_-]{{{_SHORTEST},}}", self.token):
            raise StacklensError(
                f"{TOKEN} has {len(self.token)} characters; expected at least {_SHORTEST}, all letters, digits, - or _"
            )
        for host in sorted(self.hosts):
            if _host_of(host) != host:
                raise StacklensError(
                    f"{HOSTS} names {host!r}; expected names of hosts with commas between, no http:// and no port"
                )

    @classmethod
    def from_environment(cls) -> Self:
        """Return what STACKLENS_TOKEN and STACKLENS_HOSTS say; an empty one is as good as none."""
        named = (host.strip().lower() for host in os.environ.get(HOSTS, "").split(","))
        return cls(os.environ.get(TOKEN, "").strip() or None, frozenset(filter(None, named)))

    @property
    def cookie_value(self) -> str:
        """Return what a browser keeps in place of the token, which cannot be read out of it."""
        return hashlib.sha256(f"stacklens cookie {self.token}".encode()).hexdigest()

    def refusal(self, asked: Mapping[str, object]) -> str | None:
        """Return why a request, its WSGI ``environ``, is not answered with any token; None where it may go on."""

        def text(name: str) -> str:
            return str(asked.get(name) or "")

        host = text("HTTP_HOST")
        name = _host_of(host)
        called = f"this page is not called {name[:80]!a}"
        if self.token is None:
            if any(header.startswith(_FORWARDED) for header in asked):
                return f"this page is behind a proxy: {_BOTH}"
            if not is_loopback(text("REMOTE_ADDR")):
                return f"this page is for the machine that it runs on: whoever runs it sets {TOKEN} to let others in"
            if not is_loopback(name):
                return f"{called}: {_BOTH}"
        # an address is a name that no name server can lead elsewhere
        elif not (_address(name) or name in {"localhost", *_own_names(), *self.hosts}):
            return f"{called}: whoever runs it names its hosts in {HOSTS}"
        if text("REQUEST_METHOD") in _READING:
            return None
        # only a page of ours may change something, or no page at all
        origin = text("HTTP_ORIGIN")
        netloc = ""
        with suppress(ValueError):
            netloc = urlsplit(origin).netloc
        ours = netloc.lower() == host.lower() or _host_of(netloc) in self.hosts
        if ours if origin else text("HTTP_SEC_FETCH_SITE") in ("", "same-origin", "none"):
            return None
        return "this comes from another page than ours"

    def knows(self, given: str, wanted: str | None = None) -> bool:
        """Return whether ``given`` is the token, or another ``wanted`` secret, in a time that tells nothing of it."""
        token = self.token
        return token is None or hmac.compare_digest(given.encode(errors="replace"), (wanted or token).encode())


def is_loopback(name: str) -> bool:
    """Return whether a host's name or address leads nowhere but to the machine that it is used on.

    >>> [is_loopback(name) for name in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    address = _address(name)
    return name == "localhost" or (address is not None and address.is_loopback)


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


@lru_cache(maxsize=1)
def _own_names() -> frozenset[str]:
    return frozenset({socket.gethostname().lower(), socket.getfqdn().lower()})


def _host_of(netloc: str) -> str:
    """Return the name in a host with a port or without one, in lower case; "" where there is none."""
    try:
        place = urlsplit(f"//{netloc}")
        place.port  # noqa: B018 (looks whether it is a number)
    except ValueError:
        return ""
    whole = place.netloc == netloc and not (place.path or place.query or place.fragment or place.username is not None)
    return (place.hostname or "") if whole and netloc.isprintable() and " " not in netloc else ""


def guard(server: Flask, access: Access) -> None:
    """Let ``server`` answer only those that ``access`` lets in; every answer says what a browser may do with it.

    To be called first of all, so that nothing of a request has been read before.
    """

    @server.before_request
    def let_in() -> AnyResponse | None:
        problem = access.refusal(request.environ)
        if problem is not None:
            return refused(403, problem)
        given = request.args.get(_GIVEN) if request.method == "GET" else None
        # the address that was asked for, on this host whatever it says, without the token
        rest = [(name, value) for name, value in request.args.items(multi=True) if name != _GIVEN]
        plain = f"/?{urlencode(rest)}" if rest else "/"
        cookie = f"{COOKIE}-{request.environ.get('SERVER_PORT', '')}"
        if access.token is None or access.knows(request.cookies.get(cookie, ""), access.cookie_value):
            return None if given is None else redirect(plain, 303)
        kind, _, sent = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() in ("bearer", "token") and access.knows(sent.strip()):
            return None
        if given is not None and access.knows(given):
            answer, secure = redirect(plain, 303), request.is_secure
            answer.set_cookie(cookie, access.cookie_value, max_age=_LASTS, httponly=True, samesite="Lax", secure=secure)
            return answer
        return refused(403, "a token is needed: open the link that ends in ?token=…, which whoever runs this page has")

    @server.after_request
    def with_policy(answer: Response) -> Response:
        answer.headers.update(_HEADERS)
        return answer


def refused(status: int, problem: str) -> Response:
    """Return a sentence in place of what was asked for; it is also a line in the log."""
    _log.warning("%d %s", status, problem)
    return Response(f"{problem}\n", status, mimetype="text/plain")
