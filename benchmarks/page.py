"""The page: how long until it shows something, how fast the scrubber is, and ten users at once.

The server is waitress in a process of its own, as `stacklens app` runs it; the browser is Chromium. Ten users change
the word once a second each, as somebody does who types or steps through words, while an eleventh scrubs in a browser:
moving the scrubber itself asks the server nothing.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.measure import ROOT, Report, environment, show_seconds

_NETWORK = "marnn-stack-rnn-dyck-2"
_PAINTS, _MOVES, _USERS, _SECONDS = 7, 40, 10, 60
_PAINT_GOAL, _MOVE_GOAL, _ANSWER_GOAL = 2.0, 0.1, 0.3
_COLUMNS = ("", "median", "largest", "goal")


def reports() -> Iterator[Report]:
    program = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        yield Report("page", ("",), (("not measured: no Chromium; name one in BROWSER_PATH",),))
        return
    with _served() as (address, server), sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        _paint(browser, address)  # the first one makes the server import what it needs
        paints = [_paint(browser, address) for _ in range(_PAINTS)]
        rows = [_row("first paint of the Probe page", paints, _PAINT_GOAL)]
        for symbols in (1_000, 5_000):
            rows.append(_row(f"scrubber over {symbols:,} symbols", _moves(browser, address, symbols), _MOVE_GOAL))
        yield Report(
            "page: in a browser", _COLUMNS, tuple(rows), f"{_PAINTS} paints with an empty cache, {_MOVES} moves"
        )
        before = server.memory_info().rss
        answers, wrong = _users(address)
        rows = [_row(f"{_USERS} users for {_SECONDS} s, {len(answers):,} answers", answers, _ANSWER_GOAL)]
        grown = (server.memory_info().rss - before) / 2**20
        notes = f"{wrong} errors; the server's memory: {before / 2**20:.0f} MB before, {grown:+.0f} MB after"
        yield Report("page: ten users at once, each with a new word a second", _COLUMNS, tuple(rows), notes)
        browser.close()


def _row(name: str, seconds: list[float], goal: float) -> tuple[str, ...]:
    median = statistics.median(seconds)
    met = "met" if median < goal else "missed"
    return name, show_seconds(median), show_seconds(max(seconds)), f"< {show_seconds(goal)}: {met}"


@contextmanager
def _served() -> Iterator[tuple[str, psutil.Process]]:
    with tempfile.TemporaryDirectory() as store:
        command = [sys.executable, "-m", "stacklens", "app", "--port", "0"]
        given = {**environment(), "STACKLENS_CACHE": store}
        with subprocess.Popen(command, env=given, cwd=ROOT / "tests", stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().split()[3], psutil.Process(process.pid)
            finally:
                process.terminate()


def _opened(browser: Browser, address: str, word: str) -> Page:
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(f"{address}/?network={_NETWORK}&word={quote(word)}")
    page.wait_for_selector("#picture .band", state="attached")
    return page


def _paint(browser: Browser, address: str) -> float:
    """Return the seconds until figure, tape and band are there, in a browser that has nothing of the page yet."""
    begun = time.perf_counter()
    page = _opened(browser, address, "([]())")
    seconds = time.perf_counter() - begun
    page.context.close()
    return seconds


# From the key to the frame in which the band stands at the next step.
_MOVE = """key => new Promise(done => {
  const band = document.querySelector("#picture .band"), before = band.dataset.step, begun = performance.now();
  const look = () => {
    if (document.querySelector("#picture .band").dataset.step !== before)
      requestAnimationFrame(() => done((performance.now() - begun) / 1000));
    else requestAnimationFrame(look);
  };
  document.querySelector("#step [role=slider]").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  look();
})"""


def _moves(browser: Browser, address: str, symbols: int) -> list[float]:
    page = _opened(browser, address, "()" * (symbols // 2))
    page.focus("#step [role=slider]")
    seconds = [float(page.evaluate(_MOVE, "ArrowRight")) for _ in range(_MOVES)]
    page.context.close()
    return seconds


def _users(address: str) -> tuple[list[float], int]:
    """Return how long every answer took, and how many were none."""
    asked = [_Request(address, output) for output in ("verdicts.children", "picture.figure")]
    answers: list[float] = []
    wrong: list[str] = []
    end = time.monotonic() + _SECONDS

    def use(seed: int) -> None:
        rng = random.Random(seed)
        time.sleep(rng.random())
        while time.monotonic() < end:
            word = "".join(rng.choice(["()", "[]", "([])", "[()]"]) for _ in range(rng.randint(2, 20)))
            turn = time.monotonic()
            for request in asked:
                try:
                    answers.append(request.send(word))
                except OSError as error:
                    wrong.append(str(error))
            time.sleep(max(0.0, 1 - (time.monotonic() - turn)))

    users = [threading.Thread(target=use, args=(seed,)) for seed in range(_USERS)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    return answers, len(wrong)


class _Request:
    """What a page asks the server when its word changes, for the callback that gives ``output``."""

    def __init__(self, address: str, output: str) -> None:
        self.url = f"{address}/_dash-update-component"
        with urllib.request.urlopen(f"{address}/_dash-dependencies") as answer:
            there: list[dict[str, Any]] = json.load(answer)
        (found,) = [one for one in there if output in one["output"]]
        parts = [part.split(".") for part in found["output"].strip(".").split("...")]
        self.body = {"output": found["output"], "outputs": [{"id": name, "property": what} for name, what in parts]}
        self.inputs: list[dict[str, str]] = found["inputs"]

    def send(self, word: str) -> float:
        """Return how many seconds the answer to ``word`` took."""
        values = {"network": _NETWORK, "word": word, "kind": "soft", "page": "probe", "figure": "paper"}
        inputs = [{**one, "value": values.get(one["id"])} for one in self.inputs]
        body = {**self.body, "inputs": inputs, "changedPropIds": ["word.value"]}
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)
        begun = time.perf_counter()
        with urllib.request.urlopen(request) as answer:
            answer.read()
        return time.perf_counter() - begun
