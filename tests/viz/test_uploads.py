"""Files that are dropped on the page: kept under a name of their own, read as plain data, refused in one sentence."""

from __future__ import annotations

import json
import os
import pickle
import stat
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.viz.page_client import UPDATE, asked, callback_body, filled

from stacklens.core.errors import FileFormatError, StacklensError
from stacklens.models.checkpoint import ZOO
from stacklens.viz.dashboard import networks
from stacklens.viz.dashboard.networks import LARGEST_UPLOAD, PREFIX, keep_upload, store, store_folder, uploaded
from stacklens.viz.dashboard.requests import LARGEST_JSON

NET = (ZOO / "nnpda-1n0n.pt").read_bytes()


pytestmark = pytest.mark.usefixtures("own_store")


def test_a_file_comes_back_as_it_was_sent() -> None:
    name = keep_upload(NET, "my net.pt").name
    assert name.startswith(PREFIX)
    assert uploaded(name).data == NET
    assert networks.file_of(name) == "my net.pt"
    assert networks.checkpoint_of(name).model.name == "nnpda"
    assert keep_upload(NET, "my net.pt").name == name
    assert keep_upload(NET, "other.pt").name != name


@pytest.mark.parametrize("title", ["../../etc/passwd", "..\\evil.pt", "/tmp/x/evil.pt", "", "x" * 300])
def test_no_file_is_written_under_its_own_name(title: str, tmp_path: Path, own_store: Path) -> None:
    kept = keep_upload(NET, title)
    assert len(kept.title) <= 120
    assert "/" not in kept.title
    assert "\\" not in kept.title
    assert [path for path in tmp_path.iterdir() if path != own_store] == []


def test_the_store_is_its_owners_alone(own_store: Path) -> None:
    assert store_folder() == own_store
    assert stat.S_IMODE(own_store.stat().st_mode) == 0o700


def test_a_store_that_cannot_be_made_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "file"))
    with pytest.raises(StacklensError, match=r"file: File exists; name a folder in STACKLENS_CACHE$"):
        store_folder()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "^bad.pt: the file is empty; expected a network: "),
        (b"hello", "^bad.pt: not a PyTorch file"),
        (pickle.dumps(os.getcwd), "^bad.pt: holds objects other than tensors and plain data"),
        (NET[:1000], "^bad.pt: damaged or truncated: 1000 bytes that torch cannot read"),
        (bytes(LARGEST_UPLOAD + 1), "^bad.pt: larger than 20 MB; expected a trained network"),
    ],
    ids=["empty", "text", "code", "truncated", "large"],
)
def test_what_is_no_network_is_refused_and_not_kept(data: bytes, said: str) -> None:
    with pytest.raises(StacklensError, match=said):
        keep_upload(data, "bad.pt")
    assert len(store()) == 0


SHOWN = ["network", "word", "words", "drawer figures", "drawer accuracy", "drawer words"]


@pytest.mark.parametrize("route", SHOWN)
def test_a_network_is_shown_on_when_its_day_is_over(route: str, client: FlaskClient) -> None:
    name = keep_upload(NET, "mine.pt").name
    networks.checkpoint_of.cache_clear()
    assert networks.checkpoint_of(name).model.name == "nnpda"
    del store()[name]
    assert (networks.file_of(name), networks.network_title(name)) == ("mine.pt", "mine.pt (opened)")
    assert "files are kept for a day" not in str(shown(client, route, name, 200))


@pytest.mark.parametrize("route", SHOWN)
def test_a_network_that_is_gone_is_one_sentence(route: str, client: FlaskClient) -> None:
    found = shown(client, route, "upload-gone", 400)
    assert "no file upload-gone here; files are kept for a day: open it again." in str(found)


def shown(client: FlaskClient, route: str, name: str, status: int) -> Any:
    """Return what the server answers on one of the routes that are `SHOWN`, which for a drawer is always whole."""
    kind, _, drawer = route.partition(" ")
    if drawer:
        return filled(client, drawer, network=name, word="10", table="steps", words="10").components
    return asked(client, kind, status, network=name, word="10")


def test_a_file_is_sent_as_it_is_and_is_a_network_from_then_on(client: FlaskClient) -> None:
    answer = client.post("/api/upload?title=my%20net.pt", data=NET)
    assert answer.status_code == 200
    name = json.loads(answer.text)["network"]
    assert uploaded(name) == networks.Upload(name, "my net.pt", NET)
    refused = client.post("/api/upload?title=bad.pt", data=b"hello")
    assert refused.status_code == 400
    said = "bad.pt: not a PyTorch file (it begins with b'hello'); expected"
    assert json.loads(refused.text)["problem"].startswith(said)
    large = client.post("/api/upload?title=bad.pt", data=bytes(LARGEST_UPLOAD + 1))
    assert large.json == {"problem": "bad.pt: larger than 20 MB; expected a trained network or a saved result."}


def test_an_error_does_not_tell_where_the_file_lay() -> None:
    with pytest.raises(FileFormatError) as caught:
        keep_upload(b"hello", "bad.pt")
    assert "stacklens-" not in str(caught.value)


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
