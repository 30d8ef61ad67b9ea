"""The page as others reach it: with its token in the link, and with a policy under which everything still works."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from werkzeug.serving import make_server

from stacklens.viz.dashboard.access import Access
from stacklens.viz.dashboard.app import new_application

pytestmark = pytest.mark.slow

TOKEN = "a-long-token-of-ours"


@pytest.fixture(scope="module")
def closed(address: str) -> Iterator[str]:
    """Yield the address of a server that asks for a token; its store is that of ``address``."""
    del address
    server = make_server("127.0.0.1", 0, new_application(Access(TOKEN)).server, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def watched(browser: Browser) -> tuple[Page, list[str]]:
    page, wrong = browser.new_context().new_page(), list[str]()
    page.set_default_timeout(30_000)
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    return page, wrong


def test_the_link_opens_the_page_and_the_token_is_not_seen_again(browser: Browser, closed: str) -> None:
    page, wrong = watched(browser)
    page.goto(f"{closed}?token={TOKEN}&network=nnpda-1n0n&word=1100")
    expect(page.locator("#sentence")).not_to_be_empty()
    expect(page).to_have_url(re.compile("network=nnpda-1n0n"))
    assert TOKEN not in page.url
    page.fill("#word", "110")
    page.keyboard.press("Enter")
    expect(page.locator("tr.symbol td")).to_have_text(["1", "1", "0"])
    with page.expect_download() as waiting:
        page.click("text=save")
        page.click("[data-file=csv]")
    assert waiting.value.suggested_filename == "nnpda-1n0n.csv"
    assert page.evaluate("document.cookie") == ""
    page.reload()
    expect(page.locator("tr.symbol td")).to_have_text(["1", "1", "0"])
    assert wrong == []
    page.context.close()


def test_without_the_link_there_is_one_sentence(browser: Browser, closed: str) -> None:
    page, _ = watched(browser)
    page.goto(closed)
    expect(page.locator("body")).to_have_text(re.compile(r"^a token is needed: open the link that ends in \?token=…"))
    page.context.close()


def test_no_other_page_can_show_this_one_in_a_frame_or_run_a_script_in_it(browser: Browser, address: str) -> None:
    page, wrong = watched(browser)
    page.goto(address)
    expect(page.locator("#sentence")).not_to_be_empty()
    script = "Object.assign(document.createElement('script'), {text: 'window.ran = 1'})"
    page.evaluate(f"() => document.body.append({script})")
    assert page.evaluate("window.ran === undefined")
    assert any("Content Security Policy" in one for one in wrong)
    page.goto("about:blank")
    page.set_content(f"<iframe src='{address}'></iframe>")
    page.wait_for_timeout(1_000)
    assert page.frames[-1].url == "chrome-error://chromewebdata/"
    page.context.close()
