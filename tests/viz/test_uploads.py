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
from tests.viz.page_client import asked, filled

from stacklens.core.errors import FileFormatError, StacklensError
from stacklens.models.checkpoint import ZOO
from stacklens.viz.dashboard import networks
from stacklens.viz.dashboard.networks import LARGEST_UPLOAD, PREFIX, keep_upload, store, store_folder, uploaded

NET = (ZOO / "nnpda-1n0n.pt").read_bytes()


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    return tmp_path / "store"


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
