"""The repository's root goes to the end of the path: `tests.automata.strategies` is found there, and a bare `automata`
is automata-lib, not our folder of that name, which `python -m pytest` would put first. One thread a process: tests run
side by side, and torch's threads would only wait for each other.

In CI nothing may be skipped but what needs the networks that the papers' authors published, and that only where they
are not.

The fixtures are those of the tests in a browser, Debian's Chromium or the one that BROWSER_PATH names. What they need
is imported when a test asks for it.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import time
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page
    from tests.shell.commands import Shell

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported, which is later
ROOT = str(Path(__file__).parents[1])
sys.path[:] = [*(path for path in sys.path if path not in ("", ROOT)), ROOT]

from tests.models.published_networks import ABSENT  # noqa: E402

# the same examples in every CI run, so that a failure is the change's; elsewhere new ones, which is how bugs are found;
# no deadlines: a machine with other work is slow; 50 examples where a test does not say how many
settings.register_profile("stacklens", deadline=None, max_examples=50, derandomize=bool(os.environ.get("CI")))
settings.load_profile("stacklens")


MAY_LACK = (ABSENT, "no device")  # CI has neither the published networks nor a GPU


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what `slow.txt` names: tests of more than four seconds, of some of their parameters or of all."""
    named = set((Path(__file__).parent / "slow.txt").read_text(encoding="utf-8").splitlines())
    for item in items:
        if {item.nodeid, item.nodeid.partition("[")[0]} & named:
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make a failure of a test that is skipped in CI."""
    report = yield
    if report.skipped and os.environ.get("CI") and _reason(report) not in MAY_LACK and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which in CI is a failure: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple | list) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    """Return what runs a command in this process, in ``tmp_path``, and gives its exit status and what it wrote."""
    from tests.shell.commands import run

    monkeypatch.chdir(tmp_path)
    return partial(run, capsys, monkeypatch)


@pytest.fixture
def processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let budgets of seconds be of processor time, so that a busy machine finds as much as an idle one."""
    from stacklens.extract.config import Budget

    monkeypatch.setattr(Budget.__init__, "__defaults__", (None, time.process_time))


_FLAGS = ("no-sandbox", "disable-dev-shm-usage", "disable-background-networking", "disable-component-update")


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a server with the page, whose store is its own."""
    from tests.browser.bench import serving

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STACKLENS_CACHE", str(tmp_path_factory.mktemp("store")))
        from stacklens.viz.dashboard.app import new_application

        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # not a line for every request
        with serving(new_application()) as there:
            yield there


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield a browser; skip where there is none, which in CI is a failure."""
    program = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        reason = "no Chromium: install one (Debian: apt-get install chromium), or name it in BROWSER_PATH"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        flags = [f"--{flag}" for flag in _FLAGS]
        opened = playwright.chromium.launch(executable_path=program, args=flags, timeout=60_000)
        yield opened
        opened.close()


def _is_error(message: ConsoleMessage) -> bool:
    refused = "/api/" in message.location.get("url", "") and "status of 400" in message.text
    return message.type == "error" and not refused


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Yield a fresh page on which every error and every request to another host is a failure in the end."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.set_default_timeout(30_000)
    opened, wrong = context.new_page(), list[str]()
    opened.on("console", lambda message: wrong.append(message.text) if _is_error(message) else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    inside = (address, "data:", "blob:")
    opened.on("request", lambda request: None if request.url.startswith(inside) else wrong.append(request.url))
    yield opened
    context.close()
    assert wrong == []


@pytest.fixture
def bench(page: Page, address: str) -> Page:
    """Return a fresh page that shows the usual word."""
    from tests.browser.bench import opened

    return opened(page, address)
