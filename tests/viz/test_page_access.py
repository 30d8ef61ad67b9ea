"""Who may use the page, and what a browser may do with its answers: hosts, origins, tokens, policies."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from tests.viz.page_client import UPDATE, callback_body

from stacklens.core.errors import StacklensError
from stacklens.viz.dashboard.access import Access
from stacklens.viz.dashboard.app import new_application

TOKEN = "a-long-token-of-ours"
HERE = {"HTTP_HOST": "localhost:8050", "REMOTE_ADDR": "127.0.0.1", "REQUEST_METHOD": "GET"}
ROOT = Path(__file__).parents[2]
OPEN: Flask = new_application(Access()).server
CLOSED: Flask = new_application(Access(TOKEN, frozenset({"page.example.org"}))).server


@pytest.fixture
def client() -> FlaskClient:
    return OPEN.test_client()


@pytest.fixture
def closed() -> FlaskClient:
    return CLOSED.test_client()


def refusal(access: Access, **changed: str) -> str | None:
    return access.refusal({**HERE, **changed})


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8050", "127.9.9.9", "[::1]:8050"])
def test_this_machine_is_answered_without_a_token(host: str) -> None:
    assert refusal(Access(), HTTP_HOST=host) is None


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "evil@localhost", "localhost/x", "10.0.0.1", "0.0.0.0:8050", "", "[::1"],
)
def test_a_name_that_somebody_led_to_this_machine_is_refused(host: str) -> None:
    assert "this page is not called" in str(refusal(Access(), HTTP_HOST=host))


@pytest.mark.parametrize("peer", ["10.0.0.7", "192.168.1.2", "2001:db8::1", ""])
def test_nobody_elsewhere_is_answered_whatever_the_host_they_claim(peer: str) -> None:
    said = "this page is for the machine that it runs on: whoever runs it sets STACKLENS_TOKEN to let others in"
    assert refusal(Access(), REMOTE_ADDR=peer) == said


def test_nobody_comes_in_through_a_proxy_that_has_no_token() -> None:
    assert "behind a proxy" in str(refusal(Access(), HTTP_X_FORWARDED_FOR="10.0.0.7"))
    assert refusal(Access(TOKEN), HTTP_X_FORWARDED_FOR="10.0.0.7") is None


def test_with_a_token_addresses_and_named_hosts_are_answered_and_no_others() -> None:
    access = Access(TOKEN, frozenset({"page.example.org"}))
    for host in ("10.0.0.1:8050", "page.example.org", "Page.Example.org:443", "[2001:db8::1]:80"):
        assert refusal(access, HTTP_HOST=host, REMOTE_ADDR="10.0.0.7") is None
    for host in ("evil.example", "x.page.example.org", "page.example.org.evil"):
        assert "names its hosts in STACKLENS_HOSTS" in str(refusal(access, HTTP_HOST=host, REMOTE_ADDR="10.0.0.7"))


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:8051", "http://[", "localhost:8050"]
)
def test_another_page_changes_nothing(origin: str) -> None:
    assert refusal(Access(), HTTP_ORIGIN=origin) is None  # it may look, which its browser does not let it
    said = refusal(Access(), HTTP_ORIGIN=origin, REQUEST_METHOD="POST")
    assert said == "this comes from another page than ours"


def test_our_own_page_and_programs_may_ask() -> None:
    assert refusal(Access(), HTTP_ORIGIN="http://localhost:8050", REQUEST_METHOD="POST") is None
    assert refusal(Access(), REQUEST_METHOD="POST") is None
    assert refusal(Access(), HTTP_SEC_FETCH_SITE="same-origin", REQUEST_METHOD="POST") is None
    assert refusal(Access(), HTTP_SEC_FETCH_SITE="cross-site", REQUEST_METHOD="POST") is not None
    named = Access(TOKEN, frozenset({"page.example.org"}))
    assert refusal(named, HTTP_ORIGIN="https://page.example.org", REQUEST_METHOD="POST") is None


def test_without_the_token_nothing_is_shown(closed: FlaskClient) -> None:
    for path in (
        "/",
        "/_dash-layout",
        "/_dash-dependencies",
        "/api/networks",
        "/api/word",
        "/assets/main.js",
        "/assets/icon.svg",
        "/no-such-page",
    ):
        answer = closed.get(path)
        assert (answer.status_code, "a token is needed" in answer.text) == (403, True)
    for path in ("/api/extract", "/_dash-update-component"):
        assert closed.post(path, json={}).status_code == 403
        assert closed.post(f"{path}?token={TOKEN}", json={}).status_code == 403


def test_another_page_asks_dash_for_nothing_either(client: FlaskClient) -> None:
    sent: Any = {"json": callback_body({"drawer": "accuracy", "network": "nnpda-1n0n"})}
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert client.post(UPDATE, headers=headers, **sent).status_code == 403
    assert client.post(UPDATE, **sent).status_code == 200


@pytest.mark.parametrize("wrong", ["", "x", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), "é", "%00", "%FF"])
def test_a_wrong_token_opens_nothing(closed: FlaskClient, wrong: str) -> None:
    assert closed.get(f"/?token={wrong}").status_code == 403
    closed.set_cookie("stacklens-token-80", wrong)
    assert closed.get("/").status_code == 403


def test_a_link_with_the_token_lets_a_browser_in_and_the_token_leaves_the_address(closed: FlaskClient) -> None:
    answer = closed.get(f"/?token={TOKEN}&network=nnpda-1n0n&word=%28+%26")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/?network=nnpda-1n0n&word=%28+%26")
    cookie = answer.headers["Set-Cookie"]
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert closed.get("/").status_code == 200
    again = closed.get(f"/?token={TOKEN}")
    assert (again.status_code, again.headers["Location"]) == (303, "/")


def test_the_token_is_never_a_way_to_another_site(closed: FlaskClient) -> None:
    for path in ("/%2Fevil.example/x", "/%5Cevil.example", "/http://evil.example"):
        answer = closed.get(f"{path}?token={TOKEN}")
        assert answer.headers["Location"] == "/"


@pytest.mark.parametrize("kind", ["Bearer", "token"])
def test_a_program_sends_the_token_in_a_header(closed: FlaskClient, kind: str) -> None:
    for path in ("/api/papers", "/_dash-layout"):
        assert closed.get(path, headers={"Authorization": f"{kind} {TOKEN}"}).status_code == 200
        assert closed.get(path, headers={"Authorization": f"{kind} nonsense"}).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/papers",
        "/_dash-layout",
        "/_dash-component-suites/x/y",
        "/assets/main.js",
        "/assets/none",
        "/api/word?network=none",
    ],
)
def test_every_answer_says_what_a_browser_may_do_with_it(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        headers = answer.headers
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy["script-src"]
    assert "http" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_deployer_names_token_and_hosts_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKLENS_TOKEN", TOKEN)
    monkeypatch.setenv("STACKLENS_HOSTS", "page.example.org, Other.example ,")
    assert Access.from_environment() == Access(TOKEN, frozenset({"page.example.org", "other.example"}))
    client = runpy.run_path(str(ROOT / "app.py"))["server"].test_client()
    far: Any = {"environ_base": {"REMOTE_ADDR": "10.0.0.7"}, "base_url": "https://page.example.org"}
    assert client.get("/", **far).status_code == 403
    answer = client.get(f"/?token={TOKEN}", **far)
    assert answer.status_code == 303
    assert "Secure" in answer.headers["Set-Cookie"]
    monkeypatch.setenv("STACKLENS_TOKEN", " ")
    monkeypatch.setenv("STACKLENS_HOSTS", "")
    assert Access.from_environment() == Access()


@pytest.mark.parametrize("token", ["short", "a token with spaces", "é" * 20])
def test_a_token_that_is_easily_guessed_or_mangled_is_refused(token: str) -> None:
    with pytest.raises(StacklensError, match=r"^STACKLENS_TOKEN has \d+ characters; expected at least 16, "):
        Access(token)


@pytest.mark.parametrize("host", ["http://page.example.org", "page.example.org:80", "a b", "x/y", "*"])
def test_a_host_that_is_none_is_refused(host: str) -> None:
    if host == "*":
        assert "not called" in str(refusal(Access(TOKEN, frozenset({host})), HTTP_HOST="evil.example"))
        return
    with pytest.raises(StacklensError, match=r"^STACKLENS_HOSTS names "):
        Access(TOKEN, frozenset({host}))


@given(host=st.text(), origin=st.text(), peer=st.text())
def test_whatever_a_request_says_it_is_answered_or_refused(host: str, origin: str, peer: str) -> None:
    for access in (Access(), Access(TOKEN)):
        refusal(access, HTTP_HOST=host, HTTP_ORIGIN=origin, REMOTE_ADDR=peer, REQUEST_METHOD="POST")
