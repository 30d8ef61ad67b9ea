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

import stacklens as sl

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
