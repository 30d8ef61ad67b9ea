"""A server with the page, and a browser to look at it with: Debian's Chromium, or the one named in BROWSER_PATH."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from stacklens.viz.dashboard.application import new_application


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Yield the address of a server with the page."""
    server = make_server("127.0.0.1", 0, new_application().server, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield a browser; skip where there is none."""
    program = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium: install one (Debian: apt-get install chromium), or name it in BROWSER_PATH")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"], timeout=60_000
        )
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Yield a fresh page on which every error and every request to another host is a failure in the end."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.set_default_timeout(30_000)
    opened, wrong = context.new_page(), list[str]()
    opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    inside = (address, "data:", "blob:")
    opened.on("request", lambda request: None if request.url.startswith(inside) else wrong.append(request.url))
    yield opened
    context.close()
    assert wrong == []
