"""The Probe page in a real browser: Debian's Chromium, or the one named in BROWSER_PATH."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from werkzeug.serving import make_server

from stacklens.viz.dashboard.application import new_application

pytestmark = pytest.mark.slow

DYCK = "?network=marnn-stack-rnn-dyck-2&figure=paper"


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


def opened(page: Page, address: str, search: str = f"{DYCK}&word=([])&step=2") -> Page:
    page.goto(address + search)
    expect(page.locator("#now")).not_to_be_empty()
    expect(page.locator("#picture .main-svg").first).to_be_visible()
    return page


def band(page: Page) -> tuple[float, float]:
    """Return between which steps the band over the figure stands."""
    first = "document.querySelector('#picture .js-plotly-plot').layout.shapes[0]"
    return page.evaluate(f"{first}.x0"), page.evaluate(f"{first}.x1")


def test_a_link_shows_network_word_and_step(page: Page, address: str) -> None:
    opened(page, address)
    expect(page.locator("#word")).to_have_value("([])")
    expect(page.locator("#now")).to_contain_text("step 2 reads [")
    expect(page.locator("#tape .current")).to_have_text("[")
    expect(page.locator("#verdicts")).to_contain_text("✓ network: every symbol was predicted")
    assert band(page) == (1.5, 2.5)
    page.reload()
    expect(page.locator("#now")).to_contain_text("step 2 reads [")


def test_buttons_and_keys_move_the_band_the_tape_and_the_address(page: Page, address: str) -> None:
    opened(page, address)
    page.click("#forward")
    expect(page.locator("#now")).to_contain_text("step 3 reads ]")
    page.click("#verdicts")
    for key, step in (("ArrowLeft", 2), ("End", 4), ("ArrowRight", 4), ("Home", 1), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        expect(page.locator("#now")).to_contain_text(f"step {step} reads")
    page.keyboard.press("End")
    expect(page).to_have_url(re.compile(r"[?&]step=4(&|$)"))
    page.wait_for_function("document.querySelector('#picture .js-plotly-plot').layout.shapes[0].x0 === 3.5")


def test_space_plays_from_the_start_once_the_end_is_reached_and_stops_there(page: Page, address: str) -> None:
    opened(page, address, f"{DYCK}&word=()&step=2")
    page.click("#verdicts")
    page.keyboard.press(" ")
    expect(page.locator("#now")).to_contain_text("step 1 reads")
    expect(page.locator("#now")).to_contain_text("step 2 reads")


def test_another_word_and_back(page: Page, address: str) -> None:
    opened(page, address)
    page.fill("#word", "([)")
    page.keyboard.press("Enter")
    expect(page.locator("#verdicts")).to_contain_text("✗ language: not a member")
    page.go_back()
    expect(page.locator("#word")).to_have_value("([])")
    expect(page.locator("#verdicts")).to_contain_text("✓ language: a member")
    page.click("#random")
    expect(page.locator("#word")).not_to_have_value("([])")


def test_a_wrong_symbol_is_one_sentence_and_the_page_lives_on(page: Page, address: str) -> None:
    opened(page, address)
    page.fill("#word", "(x")
    page.keyboard.press("Enter")
    expect(page.locator("#problem")).to_have_text("symbol 'x' is not in the alphabet ( ) [ ].")
    page.fill("#word", "()")
    page.keyboard.press("Enter")
    expect(page.locator("#problem")).to_be_empty()
    expect(page.locator("#now")).to_contain_text("reads")


def test_another_network_gets_a_word_that_it_can_read(page: Page, address: str) -> None:
    opened(page, address)
    page.click("#network")
    page.get_by_text("nnpda-palindrome").first.click()
    expect(page.locator("#now")).to_contain_text("push + / pop −")
    expect(page.locator("#word")).to_have_value(re.compile("^[abc]+$"))


def test_steps_are_saved_as_files(page: Page, address: str, tmp_path: Path) -> None:
    opened(page, address)
    for button, begins in (("csv", "word,step,symbol"), ("json", "{")):
        with page.expect_download() as waiting:
            page.click(f"#{button}")
        place = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(place)
        assert place.name == f"marnn-stack-rnn-dyck-2.{button}"
        assert place.read_text(encoding="utf-8").startswith(begins)


def test_dark_and_light_last_over_a_reload(page: Page, address: str) -> None:
    opened(page, address)
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.click("#shade")
    page.wait_for_function(f"{colour} === 'rgb(22, 24, 29)'")
    page.reload()
    page.wait_for_function(f"{colour} === 'rgb(22, 24, 29)'")
    paper = "document.querySelector('#picture .js-plotly-plot')?.layout?.paper_bgcolor"
    page.wait_for_function(f"{paper} === '#16181D'")


def test_a_click_on_the_figure_goes_to_that_step(page: Page, address: str) -> None:
    opened(page, address)
    place = page.locator("#picture .nsewdrag").first.bounding_box()
    assert place is not None
    page.mouse.click(place["x"] + 0.9 * place["width"], place["y"] + 5)
    expect(page.locator("#now")).to_contain_text("step 4 reads )")


def test_nothing_overflows_a_narrow_screen(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_word_of_five_thousand_symbols_is_shown(page: Page, address: str) -> None:
    opened(page, address, DYCK + "&word=" + "()" * 2_500 + "&step=2500")
    expect(page.locator("#now")).to_contain_text("step 2500 reads )")
    page.click("#last")
    expect(page.locator("#now")).to_contain_text("step 5000 reads )")


@pytest.mark.parametrize("figure", ["segments", "operations", "map"])
def test_every_figure_is_drawn(figure: str, page: Page, address: str) -> None:
    opened(page, address, f"?network=marnn-stack-rnn-dyck-2&word=([])&figure={figure}")
    page.click("#forward")
    expect(page.locator("#now")).to_contain_text("step 2 reads")
