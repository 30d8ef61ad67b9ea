"""`stacklens app` where others can reach it: a warning, a link with a token, and nothing without it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
from tests.shell.commands import run

import stacklens as sl
from stacklens.viz.dashboard.app import new_application

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parents[2] / "src"


def test_outside_this_machine_the_page_opens_with_the_printed_link_only(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stacklens", "app", "--host", "0.0.0.0", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "STACKLENS_CACHE": str(tmp_path / "store")}
    environment.pop("STACKLENS_TOKEN", None)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert process.stderr.readline().startswith("warning: others can reach this page: whoever has its link ")
            found = re.search(r"http://[^:]+:(\d+)(/\?token=[\w-]{32})", process.stdout.readline())
            assert found
            base = f"http://127.0.0.1:{found[1]}"
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(base)
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
            for path in (found[2], "/", "/api/papers"):
                with opener.open(base + path) as answer:
                    assert answer.status == 200
                    assert "token" not in answer.url
            proxied = urllib.request.Request(base, headers={"X-Forwarded-For": "10.0.0.7"})
            with opener.open(proxied) as answer:  # whoever knows the token may come through a proxy
                assert answer.status == 200
            forged = urllib.request.Request(f"{base}/{found[2]}", headers={"Host": "evil.example"})
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(forged)
        finally:
            process.kill()


def test_without_a_token_the_server_that_is_started_answers_nothing_that_a_proxy_has_sent(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stacklens", "app", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "STACKLENS_CACHE": str(tmp_path / "store")}
    environment.pop("STACKLENS_TOKEN", None)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            base = process.stdout.readline().split()[3]
            assert isinstance(read(f"{base}/api/papers"), dict)
            for name, value in PROXIED.items():
                with pytest.raises(urllib.error.HTTPError, match="403") as refused:
                    urllib.request.urlopen(urllib.request.Request(f"{base}/api/papers", headers={name: value}))
                assert "this page is behind a proxy" in refused.value.read().decode()
        finally:
            process.kill()


PROXIED = {
    "X-Forwarded-For": "10.0.0.7",
    "x-forwarded-for": "",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "page.example.org",
    "X-Forwarded-By": "127.0.0.1",
    "Forwarded": "for=10.0.0.7;proto=https",
    "X-Real-IP": "10.0.0.7",
    "Via": "1.1 proxy",
}


@pytest.mark.parametrize("what", ["open folder", "file", "no database", "folder in its place"])
def test_a_cache_that_cannot_be_used_is_one_line_before_anything_is_served(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    if what == "file":
        store.touch()
    else:
        store.mkdir(mode=0o755 if what == "open folder" else 0o700)
    if what == "no database":
        (store / "cache.db").write_text("no database " * 400, encoding="utf-8")
    elif what == "folder in its place":
        (store / "cache.db").mkdir()
    monkeypatch.setenv("STACKLENS_CACHE", str(store))
    monkeypatch.setattr("waitress.create_server", None)
    found = run(capsys, monkeypatch, "stacklens", "app", "--host", "0.0.0.0", "--port", "0")
    assert (found.status, found.out, found.error.count("\n")) == (2, "", 1)
    assert found.error.startswith("error: ")
    assert all(part in found.error for part in (str(store), "STACKLENS_CACHE"))
    with pytest.raises(sl.StacklensError, match="STACKLENS_CACHE"):
        new_application()


OWN = """
import torch
import stacklens as sl

def load():
    torch.manual_seed(0)
    cell, head = torch.nn.GRUCell(2, 6), torch.nn.Linear(6, 2)
    def step(symbols, hidden):
        hidden = cell(symbols, hidden)
        return hidden, torch.sigmoid(head(hidden))
    return sl.wrap(torch.nn.ModuleList([cell, head]), "()", step=step, outputs="next set", first="(")
"""


@pytest.mark.slow
def test_the_page_opens_networks_of_ones_own_code_and_saved_results(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    sl.extract("nnpda-1n0n", max_length=4, seed=3).save(tmp_path / "r.json")
    command = [sys.executable, "-m", "stacklens", "app", "--port", "0", "mine:load", "r.json"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "STACKLENS_CACHE": str(tmp_path / "store")}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            own, saved, _ = (process.stdout.readline().strip() for _ in range(3))
            base = own.partition("/?")[0]
            assert own.endswith("network=mine%3Aload")
            assert saved.endswith("network=nnpda-1n0n")
            shown = read(f"{base}/api/network?network=nnpda-1n0n")
            assert shown["settings"] == "sl.extract(network, max_length=4, seed=3)"
            assert read(f"{base}/api/word?network=mine:load&word=()")["letters"] == ["(", ")"]
            groups = read(f"{base}/api/networks")
            assert [one["title"] for one in groups[0]["networks"]] == ["mine:load"]
            with pytest.raises(urllib.error.HTTPError, match="400"):
                read(f"{base}/api/network?network=os:getcwd")  # only what was typed is imported
            with ThreadPoolExecutor(40) as users:  # more than there are threads: some wait, which is no news
                list(users.map(lambda _: read(f"{base}/api/papers"), range(80)))
        finally:
            process.kill()
        assert process.stderr.read() == ""


def read(address: str) -> Any:
    with urllib.request.urlopen(address) as answer:
        return json.load(answer)
