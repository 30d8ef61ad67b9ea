"""The page: first content, a new word, scrubbing, what five tasks take, and twenty users at once.

The server is waitress in a process of its own, as `stacklens app` runs it; the browser is Chromium. Of the twenty users
eight look at words of 10,000 symbols, and twelve change a short word once a second, as somebody does who types.
"""

from __future__ import annotations

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
from urllib.parse import quote

import psutil
from benchmarks.measure import ROOT, Report, environment, show_seconds
from benchmarks.page_tasks import NETWORK, TASKS, performed
from playwright.sync_api import Browser, Page, sync_playwright

_PAINTS, _WORDS, _MOVES, _SECONDS = 7, 12, 40, 30
_SHORT, _LONG, _SYMBOLS = 12, 8, 10_000  # users with short words and with long ones, and how long these are
_GOALS = {"first": 1.0, "word": 0.1, "scrub": 0.03, "answer": 0.3}
_COLUMNS = ("", "median", "largest", "goal")
SIZE = {"width": 1440, "height": 900}


def reports() -> Iterator[Report]:
    program = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        yield Report("page", ("",), (("not measured: no Chromium; name one in BROWSER_PATH",),))
        return
    with served() as (address, server), sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        _paint(browser, address)  # the first one makes the server import what it needs
        rows = [_row("first content, empty cache", [_paint(browser, address) for _ in range(_PAINTS)], "first")]
        rows.append(_row("a new word shown", _words(browser, address), "word"))
        for symbols in (1_000, 5_000):
            rows.append(_row(f"one step in {symbols:,} symbols", _moves(browser, address, symbols), "scrub"))
        yield Report("page: in a browser", _COLUMNS, tuple(rows), f"{_PAINTS} paints, {_WORDS} words, {_MOVES} steps")
        yield _tasks(browser, address)
        before = server.memory_info().rss
        answers, wrong = _users(address)
        name = f"{_SHORT} users with short words, {len(answers):,} answers"
        grown = (server.memory_info().rss - before) / 2**20
        notes = f"{wrong} errors; the server's memory: {before / 2**20:.0f} MB before, {grown:+.0f} MB after"
        title = f"page: {_SHORT + _LONG} users for {_SECONDS} s, {_LONG} of them on words of {_SYMBOLS:,} symbols"
        yield Report(title, _COLUMNS, (_row(name, answers, "answer"),), notes)
        browser.close()


def _row(name: str, seconds: list[float], goal: str) -> tuple[str, ...]:
    median, wanted = statistics.median(seconds), _GOALS[goal]
    met = "met" if median < wanted else "missed"
    return name, show_seconds(median), show_seconds(max(seconds)), f"< {show_seconds(wanted)}: {met}"


@contextmanager
def served() -> Iterator[tuple[str, psutil.Process]]:
    with tempfile.TemporaryDirectory() as store:
        command = [sys.executable, "-m", "stacklens", "app", "--port", "0"]
        given = {**environment(), "STACKLENS_CACHE": store}
        with subprocess.Popen(command, env=given, cwd=ROOT / "tests", stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().split()[3], psutil.Process(process.pid)
            finally:
                process.terminate()


def opened(browser: Browser, address: str, word: str, more: str = "") -> Page:
    page = browser.new_context(viewport=SIZE).new_page()  # type: ignore[arg-type]
    page.add_init_script("localStorage.setItem('introduced', 'yes')")
    page.goto(f"{address}/?network={NETWORK}&word={quote(word)}{more}", wait_until="commit")
    page.wait_for_selector("#table-1 .band", state="attached")
    return page


def _paint(browser: Browser, address: str) -> float:
    """Return the seconds until sentence and table are there, in a browser that has nothing of the page yet.

    They are counted from the beginning of the navigation to the first frame after the table was put in.
    """
    page = opened(browser, address, "([]())")
    seconds = float(page.evaluate(_DRAWN)) / 1000
    page.context.close()
    return seconds


_DRAWN = "performance.getEntriesByName('word shown')[0].startTime"

# From what is done to the frame after the one in which the table shows it.
_TIMED = """([act, shows]) => new Promise(done => {
  const begun = performance.now(), acts = {
    word: () => {
      const box = document.querySelector("#word");
      box.value = shows;
      box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    },
    step: () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true })),
  };
  const there = { word: () => [...document.querySelectorAll("#table-1 tr.symbol td")].map(one => one.textContent)
                    .join("") === shows,
                  step: () => document.querySelector("#table-1 .band").dataset.step === shows };
  acts[act]();
  const look = () => {
    if (there[act]()) requestAnimationFrame(() => done((performance.now() - begun) / 1000));
    else requestAnimationFrame(look);
  };
  look();
})"""


def _words(browser: Browser, address: str) -> list[float]:
    page, rng = opened(browser, address, "()"), random.Random(0)
    words = ["".join(rng.choice(["()", "[]", "([])"]) for _ in range(5)) for _ in range(_WORDS)]
    seconds = [float(page.evaluate(_TIMED, ["word", word])) for word in dict.fromkeys(words)]
    page.context.close()
    return seconds


def _moves(browser: Browser, address: str, symbols: int) -> list[float]:
    page = opened(browser, address, "()" * (symbols // 2))
    seconds = [float(page.evaluate(_TIMED, ["step", str(step)])) for step in range(2, _MOVES + 2)]
    page.context.close()
    return seconds


def _tasks(browser: Browser, address: str) -> Report:
    """Return how many clicks and how much scrolling each of five tasks takes; each ends with what it is about in view.

    Raises:
        playwright.sync_api.TimeoutError: a task cannot be done so any more.
    """
    rows = []
    for task in TASKS:
        page = opened(browser, address, task.word)
        clicks, scrolled = performed(page, task)
        rows.append((task.name, str(clicks), f"{scrolled} px", "3 clicks, 0 px"))
        page.context.close()
    return Report("page: five tasks at 1440 x 900", ("", "clicks", "scrolled", "goal"), tuple(rows))


def _users(address: str) -> tuple[list[float], int]:
    """Return how long every answer to a user with a short word took, and how many were none."""
    answers: list[float] = []
    wrong: list[str] = []
    end = time.monotonic() + _SECONDS

    def use(seed: int) -> None:
        rng = random.Random(seed)
        time.sleep(rng.random())
        while time.monotonic() < end:
            turn = time.monotonic()
            try:
                if seed < _SHORT:
                    pieces = (rng.choice(["()", "[]", "([])", "[()]"]) for _ in range(rng.randint(2, 20)))
                    answers.append(_asked(address, "".join(pieces)))
                else:
                    _asked(address, "([])" * (_SYMBOLS // 4 - seed))
            except OSError as error:
                wrong.append(str(error))
            time.sleep(max(0.0, 1 - (time.monotonic() - turn)))

    users = [threading.Thread(target=use, args=(seed,)) for seed in range(_SHORT + _LONG)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    return answers, len(wrong)


def _asked(address: str, word: str) -> float:
    """Return how many seconds the answer to ``word`` took; also where it says that others come first."""
    begun = time.perf_counter()
    with urllib.request.urlopen(f"{address}/api/word?network={NETWORK}&word={quote(word)}") as answer:
        answer.read()
    return time.perf_counter() - begun
