"""The page: first content, a new word, scrubbing, the first figure, what tasks take, and thirty users at once.

The server is waitress in a process of its own, as `stacklens app` runs it; the browser is Chromium. Of the thirty users
of a seminar one looks at words of 10,000 symbols, two extract, and the others change a short word once a second, as
somebody does who types. Among twenty others eight look at words of 10,000 symbols.
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
from urllib.parse import quote

import psutil
from benchmarks.measure import ROOT, Report, environment, show_seconds
from benchmarks.page_tasks import NETWORK, SEEN, TASKS, WORK, misread, performed
from playwright.sync_api import Browser, Page, sync_playwright

_PAINTS, _FIGURES, _WORDS, _MOVES, _SECONDS = 7, 5, 12, 40, 30
_CROWDS = ((27, 1, 2), (12, 8, 0))  # users with short words, with long ones, and who extract
_SYMBOLS = 10_000  # of a long word
_GOALS = {"first": 1.0, "word": 0.1, "scrub": 0.03, "answer": 0.3, "figure": 1.5, "long": 5.0}
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
        for when, rested in (("once the page rests", True), ("asked for at once", False)):
            figures = [_figure(browser, address, rested) for _ in range(_FIGURES)]
            rows.append(_row(f"the first figure, {when}", figures, "figure"))
        for symbols in (1_000, 5_000):
            rows.append(_row(f"one step in {symbols:,} symbols", _moves(browser, address, symbols), "scrub"))
        yield Report("page: in a browser", _COLUMNS, tuple(rows), f"{_PAINTS} paints, {_WORDS} words, {_MOVES} steps")
        yield _tasks(browser, address)
        for short, long, extracting in _CROWDS:
            before = server.memory_info().rss
            answers, whole, wrong = _users(address, short, long, extracting)
            rows = [_row(f"{short} users with short words, {len(answers):,} answers", answers, "answer")]
            rows += [_row(f"all of {_SYMBOLS:,} symbols, {len(whole)} words", whole, "long")] if whole else []
            grown = (server.memory_info().rss - before) / 2**20
            notes = f"{wrong} errors, {len(whole)} long words whole; the server's memory: {grown:+.0f} MB"
            title = f"page: {short + long + extracting} users for {_SECONDS} s, {long} of them on words of {_SYMBOLS:,}"
            yield Report(f"{title} symbols, {extracting} extracting", _COLUMNS, tuple(rows), notes)
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
      box.dispatchEvent(new Event("change", { bubbles: true })); // as Enter does
    },
    step: () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true })),
  };
  // of a word that is longer than the table its first symbols are seen
  const seen = () => [...document.querySelectorAll("#table-1 tr.symbol td")].map(one => one.textContent).join("");
  const whole = () => document.querySelector("#step").max === `${shows.length}`;
  const there = { word: () => seen() && shows.startsWith(seen()) && whole(),
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


def _figure(browser: Browser, address: str, rested: bool) -> float:
    """Return the seconds from a click on the drawer of figures to its first figure, in a page that nobody has touched.

    Dash comes when the page rests, and what draws figures after it; a click before that waits for both.
    """
    page = opened(browser, address, "([]())")
    if rested:
        page.wait_for_function("() => window.Plotly?.newPlot", timeout=60_000)
    begun = time.perf_counter()
    page.click("[data-drawer=figures]")
    page.wait_for_selector(".figure .main-svg")
    seconds = time.perf_counter() - begun
    page.context.close()
    return seconds


def _moves(browser: Browser, address: str, symbols: int) -> list[float]:
    page = opened(browser, address, "()" * (symbols // 2))
    seconds = [float(page.evaluate(_TIMED, ["step", str(step)])) for step in range(2, _MOVES + 2)]
    page.context.close()
    return seconds


def _tasks(browser: Browser, address: str) -> Report:
    """Return how many clicks and how much scrolling each task takes; each ends with what it is about in view.

    Raises:
        playwright.sync_api.TimeoutError: a task cannot be done so any more.
    """
    rows = []
    for task in (*TASKS, *WORK):
        page, begun = opened(browser, address, task.word), time.perf_counter()
        clicks, scrolled = performed(page, task)
        rows.append((task.name, str(clicks), f"{scrolled} px", show_seconds(time.perf_counter() - begun)))
        page.context.close()
    page = browser.new_context(viewport={"width": 6000, "height": 900}).new_page()
    wrong = [
        one for name, word in SEEN.items() for how in (False, True) for one in misread(page, address, name, word, how)
    ]
    page.context.close()
    notes = "\n".join([f"{len(SEEN)} networks, soft and rounded: {len(wrong)} cells are not what Python says", *wrong])
    return Report("page: tasks at 1440 x 900", ("", "clicks", "scrolled", "seconds"), tuple(rows), notes)


def _users(address: str, short: int, long: int, extracting: int) -> tuple[list[float], list[float], int]:
    """Return how long every answer to a user with a short word took, every whole long word, and how many were none."""
    answers: list[float] = []
    whole: list[float] = []
    wrong: list[str] = []
    end = time.monotonic() + _SECONDS

    def use(seed: int) -> None:
        rng = random.Random(seed)
        time.sleep(rng.random())
        while time.monotonic() < end:
            turn = time.monotonic()
            try:
                if seed < short:
                    pieces = (rng.choice(["()", "[]", "([])", "[()]"]) for _ in range(rng.randint(2, 20)))
                    answers.append(_asked(address, "".join(pieces))[0])
                elif seed < short + long:
                    word = "([])" * (_SYMBOLS // 4 - 1) + "".join(rng.choice(["()", "[]"]) for _ in "12")
                    there = _asked(address, word)[1]
                    while not there and time.monotonic() < end:  # as the page does
                        time.sleep(1)
                        there = _asked(address, word)[1]
                    whole.extend([time.monotonic() - turn] if there else [])
                else:
                    network = ("nnpda-1n0n", "marnn-stack-rnn-dyck-2-firm")[seed % 2]
                    _sent(f"{address}/api/extract", {"network": network, "again": True, "settings": {"budget": 20}})
                    time.sleep(_SECONDS)  # it works in a process of its own
            except OSError as error:
                wrong.append(str(error))
            time.sleep(max(0.0, 1 - (time.monotonic() - turn)))

    users = [threading.Thread(target=use, args=(seed,)) for seed in range(short + long + extracting)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    return answers, whole, len(wrong)


def _sent(address: str, given: dict[str, object]) -> None:
    body = json.dumps(given).encode()
    with urllib.request.urlopen(urllib.request.Request(address, body)) as answer:
        answer.read()


def _asked(address: str, word: str) -> tuple[float, bool]:
    """Return the seconds of the answer to ``word``, and whether it is all of it, or says that others come first."""
    begun = time.perf_counter()
    with urllib.request.urlopen(f"{address}/api/word?network={NETWORK}&word={quote(word)}") as answer:
        answer.read()
    return time.perf_counter() - begun, answer.status == 200
