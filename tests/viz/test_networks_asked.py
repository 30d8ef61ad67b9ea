"""What the server answers to questions that no page of ours asks: one sentence, and never an error of its own."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.viz.page_client import UPDATE, asked, callback_body

from stacklens.viz.dashboard.requests import LARGEST_JSON


@pytest.mark.parametrize(
    ("route", "given", "problem"),
    [
        ("network", {}, "network is null; expected a text."),
        ("word", {"network": "../x"}, "unknown network '../x': expected one of "),
        ("other-word", {"network": "nnpda-1n0n", "seed": "-1"}, 'seed is "-1"; expected a whole number from 0.'),
        ("other-word", {"network": "nnpda-1n0n", "seed": "9" * 99}, 'seed is "9999'),
        ("file", {"network": "nnpda-1n0n", "suffix": "exe"}, 'suffix is "exe"; expected one of dot, json, '),
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
    for route in ("extract", "cancel"):
        answer = client.post(f"/api/{route}", data=data)
        assert (answer.status_code, answer.json) == (400, {"problem": problem})


def test_a_request_that_is_far_too_large_is_not_read(client: FlaskClient) -> None:
    for path in ("/api/extract", UPDATE):
        answer = client.post(path, data=b" " * 41_000_000, content_type="application/json")
        assert answer.status_code in (400, 413)


HERE = {"drawer": "figures", "network": "nnpda-1n0n"}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "what a drawer asks is no object."),
        ({}, "network is null; expected a text."),
        ({"network": "nnpda-1n0n"}, "drawer is null; expected a text."),
        ({**HERE, "drawer": "x"}, 'drawer is "x"; expected one of checks, '),
        ({**HERE, "network": 1}, "network is 1; expected a text."),
        ({**HERE, "word": "\ud800"}, 'word is "\\ud800"; expected a text.'),
        ({**HERE, "figure": "x"}, 'figure is "x"; expected one of '),
        ({**HERE, "theme": "x"}, 'theme is "x"; expected one of light, dark.'),
        ({**HERE, "drawer": "papers", "table": "../x"}, "unknown "),
    ],
)
def test_what_no_drawer_asks_is_refused_in_one_sentence(data: Any, problem: str, client: FlaskClient) -> None:
    answer = client.post(UPDATE, json=callback_body(data))
    assert answer.status_code == 200
    (said,) = answer.json["response"]["filled"]["children"]  # type: ignore[index]
    assert said["props"]["children"].startswith(problem)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"output": "x.y"}, "the body of this request names no output that this page has"),
        ({"output": None}, "the body of this request names no output that this page has"),
        ({"outputs": []}, "the outputs of this request are not those of the callback"),
        ({"inputs": [{"id": "x", "property": "y"}]}, "the inputs of this request are not those of the callback"),
        ({"inputs": 1}, "the inputs of this request are not those of the callback"),
        ({"state": [{}]}, "the state of this request are not those of the callback"),
        ({"changedPropIds": ["x.y"]}, "what has changed is none of the callback's inputs"),
        ({"more": 1}, "the body of this request has more than a callback's parts"),
    ],
)
def test_a_callback_that_the_page_has_not_is_refused(
    changed: dict[str, Any], problem: str, client: FlaskClient
) -> None:
    answer = client.post(UPDATE, json={**callback_body(HERE), **changed})
    assert (answer.status_code, answer.text) == (400, f"{problem}\n")
