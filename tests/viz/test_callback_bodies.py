"""What a browser sends: everything that the page itself would not send is one line and 400, whatever it is."""

from __future__ import annotations

import copy
import json
import logging
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.bodies import LARGEST_CALLBACK, VALUES, fits
from stacklens.viz.dashboard.networks import LARGEST_BODY

APP = new_application()
CLIENT: FlaskClient = APP.server.test_client()
CLIENT.get("/")  # after the first request all callbacks are there, also the one that cancels
UPDATE = "/_dash-update-component"
VERDICTS = next(name for name in APP.callback_map if name.startswith("..verdicts.children"))
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture
def client() -> FlaskClient:
    return CLIENT


def body_of(output: str = VERDICTS, **values: Any) -> dict[str, Any]:
    found = APP.callback_map[output]
    parts = [part.rsplit(".", 1) for part in output.strip(".").split("...")]
    outputs = [{"id": name, "property": what} for name, what in parts]
    return {
        "output": output,
        "outputs": outputs if output.startswith("..") else outputs[0],
        "inputs": [{**one, "value": values.get(one["id"])} for one in found["inputs"]],
        "state": [{**one, "value": values.get(one["id"])} for one in found["state"]],
        "changedPropIds": [],
    }


def refused(client: FlaskClient, said: str, status: int = 400, **sent: Any) -> None:
    answer = client.post(UPDATE, **sent)
    assert (answer.status_code, answer.text.count("\n")) == (status, 1)
    assert answer.text.startswith(said)


def test_every_value_that_a_callback_is_given_is_checked_and_no_other() -> None:
    given = {
        f"{one['id']}.{one['property']}"
        for found in APP.callback_map.values()
        if "callback" in found
        for kind in ("inputs", "state")
        for one in found[kind]
    }
    assert given == {*VALUES}


@pytest.mark.parametrize(
    "sent", ["", "{", "nonsense", "[" * 100_000, '{"a":' * 50_000, "1" * 10_000, "\x00", "\xff", '"\\ud800']
)
def test_a_body_that_is_no_json_is_refused(client: FlaskClient, sent: str) -> None:
    refused(client, "the body of this request is ", data=sent.encode("latin-1"), content_type="application/json")


def test_a_body_that_is_not_said_to_be_json_is_refused(client: FlaskClient) -> None:
    said = "the body of this request is not said to be JSON"
    refused(client, said, 415, data=json.dumps(body_of()), content_type="text/plain")


@pytest.mark.parametrize("body", [1, "x", [], [{}], True])
def test_a_body_that_is_no_object_is_refused(client: FlaskClient, body: Any) -> None:
    refused(client, "the body of this request is no object\n", json=body)


@pytest.mark.parametrize("output", [None, 1, "none", "marked.data", [], {}])
def test_an_output_that_the_page_does_not_have_is_refused(client: FlaskClient, output: Any) -> None:
    refused(client, "the body of this request names no output that this page has", json={**body_of(), "output": output})


@pytest.mark.parametrize("outputs", [None, 1, [], {}, [{}], [1], [[]], [{"id": {}, "property": []}]])
def test_outputs_of_another_callback_are_refused(client: FlaskClient, outputs: Any) -> None:
    refused(client, "the outputs of this request are not those", json={**body_of(), "outputs": outputs})


@pytest.mark.parametrize("inputs", [None, 1, [], {}, [{}], [1], [[]], "x", [{"id": "network", "property": "value"}]])
def test_inputs_of_another_callback_are_refused(client: FlaskClient, inputs: Any) -> None:
    refused(client, "the inputs of this request are not those", json={**body_of(), "inputs": inputs})


@pytest.mark.parametrize("changed", [1, "x", {}, [1], ["x"], [["network.value"]], ["network"], None])
def test_a_change_of_nothing_is_refused(client: FlaskClient, changed: Any) -> None:
    refused(client, "what has changed is none of ", json={**body_of(), "changedPropIds": changed})


WRONG: dict[str, tuple[Any, ...]] = {
    "network": (1, [], {}, True, "\ud800"),
    "word": (1, [], {"a": 1}, 0.5),
    "kind": ("hard", 1, []),
    "page": ("none", 1, ["probe"]),
    "extracted": (
        *(1, {}, {"network": "x"}, {"network": 1, "settings": None, "problem": None}),
        {"network": "nnpda-1n0n", "settings": {"states": "x"}, "problem": None},
    ),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_value_of_a_wrong_type_is_refused(client: FlaskClient, name: str, value: Any) -> None:
    refused(client, f"{name}.", json=body_of(**{"network": "nnpda-1n0n", "page": "probe", "word": "10", name: value}))


def test_a_body_that_is_too_large_is_refused(client: FlaskClient) -> None:
    said = "the body of this request has "
    refused(client, said, 413, json=body_of(network="nnpda-1n0n", page="probe", word="1" * LARGEST_CALLBACK))
    too_much = b" " * (LARGEST_BODY + 1)
    refused(
        client, "the body of this request is larger than 40 MB", 413, data=too_much, content_type="application/json"
    )


def test_what_is_refused_is_one_line_in_the_log(client: FlaskClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        client.post(UPDATE, data="{", content_type="application/json")
    (line,) = caplog.records
    assert line.getMessage() == "400 the body of this request is no JSON"
    assert line.exc_info is None


@pytest.mark.parametrize(
    "path", ["/_dash-component-suites/x/y", "/_dash-component-suites/dash/../../x", "/assets/%2e%2e/x"]
)
def test_a_file_that_is_not_there_is_one_line(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.text.count("\n")) == (404, 1)


@pytest.mark.parametrize("network", [None, "", "none", "upload-", "upload-\0", "../x", "nnpda-1n0n\0"])
@pytest.mark.parametrize("output", sorted(name for name, found in APP.callback_map.items() if "callback" in found))
def test_a_network_that_is_none_is_a_sentence_on_every_page(
    client: FlaskClient, network: str | None, output: str
) -> None:
    if output == "automaton-ended.data":
        return  # which starts a process; its job says so itself
    for page in ("probe", "automaton", "trust", "papers"):
        for word in (None, "x\0"):
            body = body_of(output, network=network, page=page, word=word, figure="paper", table="steps", kind="soft")
            assert client.post(UPDATE, json=body).status_code in (200, 204)


@given(value=ANY, name=st.sampled_from(sorted(VALUES)))
def test_whatever_a_value_is_it_is_looked_at(value: Any, name: str) -> None:
    before = copy.deepcopy(value)
    fits(name, value)
    assert repr(value) == repr(before)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.sampled_from(["output", "outputs", "inputs", "state", "changedPropIds"]), value=ANY)
def test_whatever_stands_in_a_body_it_is_answered(client: FlaskClient, place: str, value: Any) -> None:
    assert client.post(UPDATE, json={**body_of(), place: value}).status_code < 500
