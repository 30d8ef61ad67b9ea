"""The Probe page, and what it shares with the others, in a real browser."""

from __future__ import annotations

import os
import pickle
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.waiting import until

from stacklens.models.io import ZOO
from stacklens.viz.dashboard.networks import LARGEST_UPLOAD

pytestmark = pytest.mark.slow

DYCK = "?network=marnn-stack-rnn-dyck-2&figure=paper"


def opened(page: Page, address: str, search: str = f"{DYCK}&word=([])&step=2") -> Page:
    page.goto(address + search)
    expect(page.locator("#now")).not_to_be_empty()
    expect(page.locator("#picture .main-svg").first).to_be_visible()
    return page


def band(page: Page, step: int) -> None:
    """Wait until the band stands over ``step`` of the figure, and over nothing else of it."""
    page.wait_for_selector(f"#picture .band[data-step='{step}']")
    plot, mark = (page.locator(f"#picture {part}").first.bounding_box() for part in (".nsewdrag", ".band"))
    letters = page.evaluate("document.querySelectorAll('#tape span').length")
    assert plot is not None
    assert mark is not None
    assert mark["width"] == pytest.approx(plot["width"] / letters, abs=2)
    assert mark["x"] == pytest.approx(plot["x"] + (step - 1) * plot["width"] / letters, abs=2)


def test_a_link_shows_network_word_and_step(page: Page, address: str) -> None:
    opened(page, address)
    expect(page.locator("#word")).to_have_value("([])")
    expect(page.locator("#now")).to_contain_text("step 2 reads [")
    expect(page.locator("#tape .current")).to_have_text("[")
    expect(page.locator("#verdicts")).to_contain_text("✓ network: every symbol was predicted")
    band(page, 2)
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
    band(page, 4)


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
    until(page, f"{colour} === 'rgb(22, 24, 29)'")
    page.reload()
    until(page, f"{colour} === 'rgb(22, 24, 29)'")
    paper = "document.querySelector('#picture .js-plotly-plot')?.layout?.paper_bgcolor"
    until(page, f"{paper} === '#16181D'")


def test_a_click_on_the_figure_goes_to_that_step(page: Page, address: str) -> None:
    opened(page, address)
    plot = page.locator("#picture .nsewdrag").first
    plot.scroll_into_view_if_needed()
    place = plot.bounding_box()
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


def test_a_file_that_is_opened_is_shown_and_a_link_to_it_works(
    page: Page, address: str, tmp_path: Path, browser: Browser
) -> None:
    opened(page, address)
    file = tmp_path / "my network.pt"
    shutil.copy(ZOO / "nnpda-1n0n.pt", file)
    page.set_input_files("#upload input", file)
    expect(page.locator("#network")).to_contain_text("my network.pt (opened)")
    expect(page.locator("#word")).to_have_value(re.compile("^[01]+$"))
    expect(page).to_have_url(re.compile("network=upload-"))
    page.reload()
    expect(page.locator("#network")).to_contain_text("my network.pt (opened)")
    expect(page.locator("#picture .main-svg").first).to_be_visible()
    other = browser.new_page()
    other.goto(page.url)
    expect(other.locator("#network")).to_contain_text("my network.pt (opened)")
    other.close()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello", "bad.pt: not a PyTorch file (it begins with b'hello'); expected a network: "),
        (
            pickle.dumps(os.getcwd),
            "bad.pt: holds objects other than tensors and plain data, and loading them could",
        ),
        (bytes(LARGEST_UPLOAD + 1), "bad.pt: 20 MB; expected a trained network of at most 20 MB."),
        (b"", "bad.pt: the file is empty; expected a network: "),
    ],
    ids=["text", "code", "large", "empty"],
)
def test_a_file_that_is_no_network_is_refused_in_one_sentence(
    content: bytes, said: str, page: Page, address: str, tmp_path: Path
) -> None:
    opened(page, address)
    bad = tmp_path / "bad.pt"
    bad.write_bytes(content)
    page.set_input_files("#upload input", bad)
    expect(page.locator("#problem")).to_contain_text(said)
    page.fill("#word", "()")
    page.keyboard.press("Enter")
    expect(page.locator("#problem")).to_be_empty()
    expect(page.locator("#tape")).to_have_text("()")


def test_a_file_may_be_dropped_anywhere(page: Page, address: str) -> None:
    opened(page, address)
    page.evaluate(
        """bytes => {
            const file = new File([new Uint8Array(bytes)], "dropped.pt"), data = new DataTransfer();
            data.items.add(file);
            const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
            document.querySelector("#picture").dispatchEvent(drop);
        }""",
        list((ZOO / "nnpda-parentheses.pt").read_bytes()),
    )
    expect(page.locator("#network")).to_contain_text("dropped.pt (opened)")


def test_figures_and_tables_are_saved_as_files(page: Page, address: str, tmp_path: Path) -> None:
    opened(page, address)
    page.click("text=table of steps")
    expect(page.locator("#steps .ag-row")).to_have_count(4)
    expect(page.locator("#steps-line")).to_contain_text("print(step_table(seen.model, seen))")
    buttons = {"#picture + .buttons [data-kind=svg]": b"<svg", "#picture + .buttons [data-kind=png]": b"\x89PNG"}
    for button, begins in {**buttons, ".save-table": b'"step"'}.items():
        with page.expect_download() as waiting:
            page.click(button)
        place = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(place)
        assert place.read_bytes().lstrip(b"\xef\xbb\xbf").startswith(begins)


def test_pages_are_turned_and_back_turns_them_back(page: Page, address: str) -> None:
    opened(page, address)
    for name in ("automaton", "trust", "papers"):
        page.click(f"#go-{name}")
        expect(page.locator(f"#page-{name}")).to_be_visible()
        expect(page.locator("#page-probe")).to_be_hidden()
        expect(page).to_have_url(re.compile(f"page={name}"))
    page.go_back()
    expect(page.locator("#page-trust")).to_be_visible()
    page.reload()
    expect(page.locator("#page-trust")).to_be_visible()
    expect(page.locator("#word")).to_be_hidden()
