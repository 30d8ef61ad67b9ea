"""What the server answers to questions that no page of ours asks: one sentence, and never an error of its own."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from tests.viz.page_client import asked

from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.asking import LARGEST_JSON


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    client: FlaskClient = new_application().test_client()
    return client


@pytest.mark.parametrize(
    ("route", "given", "problem"),
    [
        ("network", {}, "network is null; expected a text."),
        ("word", {"network": "../x"}, "unknown network '../x': expected one of "),
        ("figure", {"network": "nnpda-1n0n", "figure": "x"}, 'figure is "x"; expected one of '),
        ("figure", {"network": "nnpda-1n0n", "theme": "x"}, 'theme is "x"; expected one of light, dark.'),
        ("steps", {"network": "nnpda-1n0n", "table": "x"}, 'table is "x"; expected one of steps, predictions.'),
        ("other-word", {"network": "nnpda-1n0n", "seed": "-1"}, 'seed is "-1"; expected a whole number from 0.'),
        ("other-word", {"network": "nnpda-1n0n", "seed": "9" * 99}, 'seed is "9999'),
        ("file", {"network": "nnpda-1n0n", "suffix": "exe"}, 'suffix is "exe"; expected one of dot, json, '),
        ("paper", {"name": "../x"}, "unknown "),
    ],
)
def test_what_no_page_asks_is_refused_in_one_sentence(
    route: str, given: dict[str, str], problem: str, client: FlaskClient
) -> None:
    assert asked(client, route, 400, **given)["problem"].startswith(problem)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"{", "the body of this request is no JSON."),
        (b"[" * 100_000, "the body of this request is no JSON."),
        (b"[]", "the body of this request is no object."),
        (b'{"network": "\\ud800"}', 'network is "\\ud800"; expected a text.'),
        (b" " * (LARGEST_JSON + 1), "the body of this request is larger than 2,000,000 bytes, or of no known size."),
    ],
)
def test_a_body_that_is_none_is_refused(data: bytes, problem: str, client: FlaskClient) -> None:
    for route in ("judge", "extract", "cancel"):
        answer = client.post(f"/api/{route}", data=data)
        assert (answer.status_code, answer.json) == (400, {"problem": problem})


def test_a_request_that_is_far_too_large_is_not_read(client: FlaskClient) -> None:
    answer = client.post("/api/judge", data=b" " * 41_000_000)
    assert answer.status_code in (400, 413)


def test_what_is_not_there_is_one_line(client: FlaskClient) -> None:
    for path in ("/none", "/api/none", "/assets/none.js", "/plotly-0.js"):
        answer = client.get(path)
        assert (answer.status_code, answer.text) == (404, "not found\n")
    assert client.get("/api/judge").status_code == 405
