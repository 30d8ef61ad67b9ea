"""`stacklens trace` and `stacklens export` where they write figures, data and pages."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.shell.commands import ZOO, Shell, check_quickly

ROOT = Path(__file__).parents[2]
NET = ZOO / "marnn-stack-rnn-dyck-2.pt"


def test_trace_writes_figures_and_numbers_in_one_go(tmp_path: Path, shell: Shell) -> None:
    page, data, steps = (tmp_path / name for name in ("t.html", "t.json", "t.csv"))
    found = shell("stacklens", "trace", NET, "([])", "--out", page, "--out", data, "--out", steps)
    assert (found.status, found.error) == (0, "")
    assert found.out == f"wrote {page}\nwrote 4 steps to {data}\nwrote 4 steps to {steps}\n"
    html = page.read_text(encoding="utf-8")
    assert "marnn-stack-rnn on ([]): read to the end" in html
    assert '"reference height"' in html
    assert json.loads(data.read_text(encoding="utf-8"))["symbols"] == list("([])")
    assert len(steps.read_text(encoding="utf-8").splitlines()) == 5


def test_a_picture_is_refused_before_the_network_is_read_where_there_is_no_browser(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/none")
    found = shell("stacklens", "trace", "none.pt", "()", "--out", tmp_path / "t.svg")
    assert found.status == 2
    assert found.error.startswith("error: cannot draw .svg or .png: no Chrome or Chromium was found; install one")


def test_export_writes_a_page_with_automaton_checks_proof_and_traces(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_quickly(monkeypatch)
    out = tmp_path / "report.html"
    arguments = ("export", ZOO / "nnpda-palindrome.pt", "--html", out, "--max-length", "5", "--word", "abcba")
    found = shell("stacklens", *arguments)
    assert (found.status, found.out, found.error) == (0, f"wrote {out}\n", "")
    html = out.read_text(encoding="utf-8")
    assert "equal for all words (proof)" in html
    assert "nnpda on abcba: accepted" in html
    assert "<svg" in html
    assert shell("stacklens", *arguments, "--word", "x").status == 2


@pytest.mark.slow
def test_the_page_says_where_it_is_opens_files_and_ends(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "STACKLENS_CACHE": str(tmp_path / "store")}
    command = [sys.executable, "-m", "stacklens", "app", str(ZOO / "nnpda-1n0n.pt"), "--port", "0"]
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        link, said = serving.stdout.readline(), serving.stdout.readline()
        found = re.fullmatch(r"stacklens is at (http://127.0.0.1:\d+) \(Ctrl-C ends it\)\n", said)
        assert found
        assert re.fullmatch(re.escape(found[1]) + r"/\?network=upload-[0-9a-f]{24}\n", link)
        with urllib.request.urlopen(link.strip(), timeout=30) as answer:
            assert b"<title>stacklens</title>" in answer.read()
        serving.send_signal(signal.SIGINT)
        try:
            assert serving.wait(30) == 0
        finally:
            serving.kill()
        assert serving.stdout.read() == ""


def test_a_port_that_is_taken_is_one_line(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = shell("stacklens", "app", "--port", str(port))
    assert found.status == 2
    assert found.error.startswith(f"error: cannot listen on 127.0.0.1:{port}: ")
    assert found.error.endswith("; choose another --port or --host\n")
