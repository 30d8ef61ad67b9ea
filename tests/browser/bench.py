"""The workbench in a browser, opened at an address, and waiting for it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect
from werkzeug.serving import make_server

DYCK = "marnn-stack-rnn-dyck-2-drifting"


@contextmanager
def serving(application: Any, port: int = 0) -> Iterator[str]:
    """Yield the address of a server with the page of ``application``."""
    server = make_server("127.0.0.1", port, application.server, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def opened(page: Page, address: str, search: str = f"?network={DYCK}&word=([])&step=2") -> Page:
    """Return the page once it shows the word that ``search`` asks for; the introduction is over."""
    page.add_init_script("try { localStorage.setItem('introduced', 'yes') } catch (error) {}")
    page.goto(address + search)
    expect(page.locator("#sentence")).not_to_be_empty()
    return page


def step(page: Page, number: int) -> None:
    """Wait until the page is at step ``number``: the band over the table, the box, and what is read aloud."""
    page.wait_for_selector(f"#table-1 .band[data-step='{number}']", state="attached")
    expect(page.locator("#step")).to_have_value(str(number))
    expect(page.locator("#now")).to_contain_text(f"step {number} reads")


def entered(page: Page, box: str, text: str) -> None:
    """Put ``text`` into a box in place of what is there, and press Enter."""
    page.fill(box, text)
    page.keyboard.press("Enter")


def cell(page: Page, row: str, number: int) -> Locator:
    """Return the cell of the row called ``row`` at step ``number``."""
    there = page.locator("#table-1 tr", has=page.locator(f"th[title='{row}']"))
    return there.locator(f"td[data-step='{number}']")


def saved(page: Page, button: Locator, folder: Path) -> Path:
    """Return the file that a button saves."""
    with page.expect_download() as waiting:
        button.click()
    place = folder / waiting.value.suggested_filename
    waiting.value.save_as(place)
    return place


# ---- Waiting for the page. Playwright's own `wait_for_function` evaluates text in the page, which its policy forbids.
def until(page: Page, expression: str, seconds: float = 30) -> None:
    """Return once ``expression`` is true in the page."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(50)
