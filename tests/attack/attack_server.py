"""The page's server against requests that no page of ours sends: never a 500, never a traceback in the log, and never
anything but a refusal for who has no token or calls the server by a name that is not its own.
"""

import json
import logging
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from logging.handlers import BufferingHandler
from typing import Any
from unittest import mock

from flask import Flask
from flask.testing import FlaskClient
from tests.attack.campaign import Attack

_REQUESTS = 150  # in a round
_TOKEN = "the-token-of-this-attack"
_METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "BREW")
_PATHS = (
    *("/", "/api/networks", "/api/word", "/api/upload", "/api/extract", "/api/none", "/assets/main.js", "/assets/"),
    *("/_dash-layout", "/_dash-dependencies", "/_dash-component-suites/dash/x", "/_reload-hash", "/static/x"),
    *("/assets/workbench.html", "/api/file"),
    *("/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f..%2fapp_cli.py", "//evil.example", "/\\evil", "/x" * 500, "/%00"),
)
_HOSTS = ("localhost", "localhost:8050", "127.0.0.1", "[::1]", "evil.example", "[", "a:b:c", "x@localhost", "", "é")
_ORIGINS = ("http://localhost", "http://evil.example", "null", "http://[", "", "é", "javascript:alert(1)")
_CREDENTIALS = ("Bearer", "Bearer x", "token " + _TOKEN[:-1], "Basic Og==", "é", "Digest =")
_COOKIES = (f"stacklens-token-80={_TOKEN}", "=;=", "a" * 5_000, 'x="', "stacklens-token-80=")
_QUERIES = ("", "?token=", f"?token={_TOKEN[:-1]}", "?token=%ff", "?network=x&word=%", "?" + "a=b&" * 99)
_WORDS = {"nnpda-1n0n": ("10", "1" * 30, "01"), "marnn-stack-rnn-dyck-2": ("([])", "", ")(", "x"), "none": ("a",)}
_ROUTES = ("networks", "network", "word", "other-word", "jobs", "words", "papers", "file")
_MEANT: dict[str, tuple[str, ...]] = {  # values that a page might send, so that answers are reached
    "rounded": ("0", "1", "x"),
    "raw": ("0", "1"),
    "figure": ("paper", "actions", "hidden", "map", "operations", "segments", "stack", "rounding", "x"),
    "table": ("steps", "predictions", "x"),
    "theme": ("light", "dark", "x"),
    "suffix": ("csv", "trace", "dot", "json", "jff", "svg", "x"),
    "opened": ("", "upload-x,\0", ",,"),
    "state": ("q0", "gone"),
    "seed": ("0", "9", "-1", "²", "9" * 99),
    "name": ("suzgun2019-table2", "../x", ""),
}


@lru_cache(maxsize=2)
def _server(token: str | None) -> Flask:
    from stacklens.viz.dashboard.app import new_application
    from stacklens.viz.dashboard.requests import Access

    server: Flask = new_application(Access(token)).server
    return server


@contextmanager
def _watched() -> Iterator[list[logging.LogRecord]]:
    """Yield what is logged meanwhile; what is kept goes into a folder of its own."""
    handler = BufferingHandler(sys.maxsize)
    logging.getLogger().addHandler(handler)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            with mock.patch.dict(os.environ, STACKLENS_CACHE=os.path.join(folder, "store")):
                yield handler.buffer
        finally:
            logging.getLogger().removeHandler(handler)


def _send(client: FlaskClient, **sent: Any) -> Any:
    """Return the answer to a request, which must be whole whatever was sent."""
    with _watched() as lines, client.open(**sent) as answer:
        answer.get_data()
    said = f"{sent!r:.2000}"
    assert answer.status_code < 500, f"{answer.status_code} for {said}"
    for line in lines:
        assert line.exc_info is None, f"a traceback in the log for {said}: {line.exc_info}"
        assert "\n" not in line.getMessage(), f"several lines in the log for {said}"
    assert "frame-ancestors 'none'" in answer.headers.get("Content-Security-Policy", ""), f"no policy for {said}"
    return answer


def _questions(seed: int) -> Counter[str]:
    """Ask what a page asks, or nearly that, and send bodies that are nearly those of a page, or nothing like them."""
    rng, tried = random.Random(seed), Counter[str]()
    client = _server(None).test_client()
    for _ in range(_REQUESTS):
        network = rng.choice(tuple(_WORDS))
        asked = {"network": network, "word": rng.choice(_WORDS[network])}
        asked |= {name: rng.choice(some) for name, some in _MEANT.items() if rng.random() < 0.5}
        if rng.random() < 0.5:
            asked[rng.choice(list(asked))] = str(_junk(rng))[:5_000].encode("utf-8", "replace").decode()
        kind = rng.random()
        if kind < 0.4:
            answer = _send(client, method="POST", **_drawer(rng, asked))
        elif kind < 0.7:
            answer = _send(client, method="GET", path=f"/api/{rng.choice(_ROUTES)}", query_string=asked)
        else:
            answer = _send(client, method="POST", **_body(rng, network))
        tried["malformed questions refused" if answer.status_code >= 400 else "questions answered"] += 1
    return tried


def _body(rng: random.Random, network: str) -> dict[str, Any]:
    """Return a request with a body: a file, or an extraction that no page asks for."""
    route = rng.choice(("upload", "extract", "repair", "cancel"))
    body: Any = {"network": network}
    if route != "upload":  # a request that is right would start a process
        body = {"network": rng.choice(["none", 1, None]), "settings": _junk(rng), "again": _junk(rng)}
        body |= {"seconds": _junk(rng), "key": _junk(rng)}
    text = json.dumps(body)
    if rng.random() < 0.3:
        text = _torn(rng, text)
    kind = rng.choice(["application/json"] * 9 + ["text/plain", "", "application/json; charset=x", "é"])
    return {"path": f"/api/{route}", "data": text.encode("utf-8", "replace"), "content_type": kind}


def _drawer(rng: random.Random, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a request to fill a drawer, as the page sends it or nearly so."""
    words = rng.choice(["10\n1", "ε\n" * 5_000, "\n", "\x00"])
    drawer = rng.choice(["checks", "words", "accuracy", "automaton", "figures", "papers"])
    data: Any = {**asked, "drawer": drawer, "words": words, "different": True, "rounded": asked.get("rounded") == "1"}
    text = json.dumps(_mutated(rng, data) if rng.random() < 0.5 else data)
    path = rng.choice(["/api/drawer"] * 9 + ["/_dash-update-component"])
    return {"path": path, "data": text.encode("utf-8", "replace"), "content_type": "application/json"}


def _mutated(rng: random.Random, value: Any, depth: int = 0) -> Any:
    """Return ``value`` with one thing in it replaced, left out, or said twice."""
    if depth > 4 or rng.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return _junk(rng)
    if isinstance(value, list):
        number = rng.randrange(len(value))
        some = rng.choice([[], [value[number]] * 2, [_mutated(rng, value[number], depth + 1)]])
        return [*value[:number], *some, *value[number + 1 :]]
    name = rng.choice(list(value))
    rest = {key: other for key, other in value.items() if key != name}
    return rest if rng.random() < 0.2 else {**rest, name: _mutated(rng, value[name], depth + 1)}


def _junk(rng: random.Random) -> Any:
    makers: tuple[Callable[[], Any], ...] = (
        lambda: None,
        lambda: rng.choice([True, False, -1, 0, 2**31, 10**30, -0.5, 1e308, float("nan"), float("inf")]),
        lambda: _noise(rng),
        lambda: _noise(rng) * rng.randint(1, 3_000),
        lambda: rng.choice(["\ud800", "\0", "../../x", "upload-", "__class__", "x.y.z", "$", "%", "<script>"]),
        lambda: [_junk(rng) for _ in range(rng.randint(0, 3))],
        lambda: {_noise(rng): _junk(rng) for _ in range(rng.randint(0, 3))},
        lambda: {"network": "nnpda-1n0n", "settings": {_noise(rng): 1}, "problem": None},
        lambda: {"id": {"type": "x"}, "property": "value", "value": 1},
    )
    return rng.choice(makers)()


def _noise(rng: random.Random) -> str:
    return "".join(rng.choice("ab01()[]{}\"'\\/.@~%&=?#é⊥\x00\x7f \n𝕏") for _ in range(rng.randint(0, 8)))


def _torn(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    cut = text[:place], text[place : place + rng.randint(0, 9)], text[place:]
    return rng.choice(
        [cut[0], cut[0] + cut[2][3:], cut[0] + cut[1] + cut[2], "[" * rng.choice([9, 100_000]) + text, ""]
    )


def _requests(seed: int) -> Counter[str]:
    """Send requests of all kinds to a page for this machine alone and to one that asks for a token."""
    rng, tried = random.Random(seed), Counter[str]()
    for _ in range(_REQUESTS):
        token = rng.choice([None, _TOKEN])
        headers = {
            "Host": rng.choice(_HOSTS),
            **_some(rng, "Origin", _ORIGINS),
            **_some(rng, "Sec-Fetch-Site", ("cross-site", "same-origin", "none", "x")),
            **_some(rng, "X-Forwarded-For", ("10.0.0.1", "127.0.0.1", "")),
            **_some(rng, "Authorization", _CREDENTIALS),
            **_some(rng, "Cookie", _COOKIES),
            **_some(rng, "Content-Length", ("0", "-1", "x", "99999999999")),
            **_some(rng, "If-None-Match", ('"', "*", "W/")),
            **_some(rng, "Range", ("bytes=0-", "bytes=9-1", "x")),
        }
        asked = rng.choice(_QUERIES)
        latin = {name: value.encode().decode("latin-1") for name, value in headers.items()}
        sent = {"method": rng.choice(_METHODS), "path": rng.choice(_PATHS) + asked, "headers": latin}
        peer = rng.choice(["127.0.0.1", "127.0.0.1", "10.0.0.9", "::1", "", "x"])
        client = _server(token).test_client(use_cookies=False)
        answer = _send(client, **sent, environ_overrides={"REMOTE_ADDR": peer})
        tried["requests refused" if answer.status_code >= 400 else "requests answered"] += 1
        here = peer in ("127.0.0.1", "::1") and headers["Host"] in _HOSTS[:4]
        if token is not None or not here:
            assert answer.status_code >= 400, f"{answer.status_code} without a token from {peer!r}: {sent!r}"
    return tried


def _some(rng: random.Random, name: str, values: tuple[str, ...]) -> dict[str, str]:
    return {name: rng.choice(values)} if rng.random() < 0.3 else {}


ATTACKS = (
    Attack("server: malformed questions", _questions),
    Attack("server: malformed requests and who may come in", _requests),
)
