"""The Trust page in a real browser: claims and tables, figures and files, many words and the way to each of them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.waiting import until

from stacklens.extract.by_name import specification_of
from stacklens.extract.extraction import ExtractionConfig, extract
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction, known
from stacklens.viz.dashboard.networks import load

pytestmark = pytest.mark.slow

NAME = "stack-rnn-anbn"
WRONG = "a" * 45 + "b" * 45  # on which the soft network fails
SMALL = ExtractionConfig(max_length=5, long_words=40, long_lengths=(10, 20), height=4, walks=4)


@pytest.fixture
def trust_page(page: Page, address: str) -> Page:
    """Return the page of a network that has been extracted."""
    if known(NAME) is None:
        checkpoint = load(NAME)
        keep_extraction(NAME, ExtractionSettings(), extract(checkpoint.model, specification_of(checkpoint), SMALL))
    return opened(page, address, NAME)


def opened(page: Page, address: str, network: str) -> Page:
    page.goto(f"{address}?page=trust&network={network}&word=")
    expect(page.locator("#trust-accuracy .main-svg").first).to_be_visible()
    expect(page.locator("#trust-said")).not_to_be_empty()
    return page


def judge(page: Page, text: str) -> None:
    page.fill("#trust-words", text)
    page.click("#trust-judge")
    page.locator("#trust-judged").scroll_into_view_if_needed()


def test_claims_checks_and_transitions_are_there(trust_page: Page) -> None:
    expect(trust_page.locator("#trust-claims")).to_contain_text("✓ automaton: 1 state")
    expect(trust_page.locator("#trust-checks .ag-row").first).to_contain_text("all words of the task")
    expect(trust_page.locator("#trust-covered")).to_contain_text("5 of 5 transitions")
    expect(trust_page.locator("#trust-coverage .ag-row")).to_have_count(5)
    expect(trust_page.locator("#trust-note")).to_be_empty()
    for panel in ("claims", "checks", "coverage", "accuracy", "judged"):
        expect(trust_page.locator(f"#trust-{panel}-line")).to_contain_text(f"sl.load('{NAME}')")


def test_words_are_green_and_red_and_a_click_opens_one_where_runs_part(trust_page: Page) -> None:
    judge(trust_page, f"aabb\n{WRONG}\nba")
    expect(trust_page.locator("#trust-said")).to_have_text("✗ 3 words: not all agree on 1 of them.")
    expect(trust_page.locator("#trust-judged .said-no[col-id='network']")).to_contain_text("✗ wrong at symbol")
    expect(trust_page.locator("#trust-judged .said-yes[col-id='automaton']")).to_have_count(2)
    trust_page.get_by_label("only where they differ").check()
    expect(trust_page.locator("#trust-judged .ag-row")).to_have_count(1)
    trust_page.get_by_label("only where they differ").uncheck()
    step = trust_page.locator("#trust-judged .ag-row[row-index='1'] [col-id='parts at']").inner_text()
    trust_page.locator("#trust-judged a.word").nth(1).click()
    expect(trust_page.locator("#word")).to_have_value(WRONG)
    expect(trust_page.locator("#now")).to_contain_text(f"step {step} reads")
    expect(trust_page).to_have_url(re.compile(rf"network={NAME}&.*step={step}"))
    trust_page.go_back()
    expect(trust_page.locator("#trust-judged")).to_be_visible()
    expect(trust_page.locator("#trust-words")).to_have_value(f"aabb\n{WRONG}\nba")


def test_the_keyboard_opens_a_word_too(trust_page: Page) -> None:
    judge(trust_page, "ab\naabb")
    trust_page.locator("#trust-judged .ag-row[row-index='0'] [col-id='length']").click()
    trust_page.keyboard.press("ArrowDown")
    trust_page.keyboard.press("Enter")
    expect(trust_page.locator("#word")).to_have_value("aabb")


def test_a_wrong_symbol_is_one_sentence_and_the_page_lives_on(trust_page: Page) -> None:
    judge(trust_page, "ab\nax")
    expect(trust_page.locator("#trust-problem")).to_have_text("line 2: symbol 'x' is not in the alphabet a b.")
    judge(trust_page, "ab\n" * 2_001)
    expect(trust_page.locator("#trust-problem")).to_have_text("these are 2,001 words; expected at most 2,000 at once.")
    judge(trust_page, "ab")
    expect(trust_page.locator("#trust-problem")).to_be_empty()
    expect(trust_page.locator("#trust-said")).to_have_text("✓ 1 word: all agree.")
    trust_page.click("#trust-draw")
    expect(trust_page.locator("#trust-words")).not_to_have_value("ab")
    expect(trust_page.locator("#trust-said")).to_contain_text("19 words")


def test_another_network_gets_words_that_it_can_read_and_offers_to_be_extracted(trust_page: Page) -> None:
    trust_page.click("#network")
    trust_page.get_by_text("nnpda-parentheses").first.click()
    expect(trust_page.locator("#trust-note")).to_contain_text("nnpda-parentheses has not been extracted yet")
    expect(trust_page.locator("#trust-claims")).to_be_hidden()
    expect(trust_page.locator("#trust-words")).to_have_value(re.compile(r"^ε\n\(\n\)"))
    expect(trust_page.locator("#trust-problem")).to_be_empty()
    trust_page.get_by_role("link", name="extract it on the Automaton page").click()
    expect(trust_page.locator("#page-automaton")).to_be_visible()
    expect(trust_page).to_have_url(re.compile("network=nnpda-parentheses"))


def test_the_figure_and_every_table_are_saved(trust_page: Page, tmp_path: Path) -> None:
    for kind, begins in (("svg", b"<svg"), ("png", b"\x89PNG")):
        button = f"button.save[data-figure='trust-accuracy'][data-kind='{kind}']"
        assert saved(trust_page, button, tmp_path / f"accuracy.{kind}").startswith(begins)
    judge(trust_page, f"aabb\n{WRONG}")
    expect(trust_page.locator("#trust-judged .ag-row")).to_have_count(2)
    for table, file, first in (
        ("checks", "checks", "words"),
        ("coverage", "coverage", "state"),
        ("judged", "words", "word"),
    ):
        text = saved(trust_page, f"button.save-table[data-table='trust-{table}']", tmp_path / f"{file}.csv")
        rows = list(csv.DictReader(text.decode("utf-8-sig").splitlines()))
        assert next(iter(rows[0])) == first
    assert [row["word"] for row in rows] == ["aabb", WRONG]


def saved(page: Page, button: str, place: Path) -> bytes:
    """Return what a button saves, under the name of ``place``."""
    with page.expect_download() as waiting:
        page.click(button)
    assert waiting.value.suggested_filename == place.name
    waiting.value.save_as(place)
    return place.read_bytes()


def test_dark_and_narrow(page: Page, address: str, trust_page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.click("#shade")
    until(page, "document.querySelector('#trust-accuracy .js-plotly-plot').layout.paper_bgcolor === '#16181D'")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    del address, trust_page
