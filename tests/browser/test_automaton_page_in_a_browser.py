"""The Automaton page in a real browser: an extraction with progress and cancel, the run in step with the scrubber."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.waiting import until

from stacklens.automata.formats.by_suffix import read_automaton
from stacklens.automata.formats.dot import from_dot
from stacklens.automata.formats.json import from_json
from stacklens.extract.by_name import specification_of
from stacklens.extract.extraction import ExtractionConfig, extract
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction, known
from stacklens.viz.dashboard.networks import load

pytestmark = pytest.mark.slow

NAME, OTHER = "nnpda-palindrome", "nnpda-1n0n"
SETTINGS = ExtractionSettings(max_length=4)
QUICK = ExtractionConfig(max_length=4, long_words=100, deep_words=1, depth=30, height=5, walks=5)
STAGES = re.compile("trace the network|look for states|check the automaton|prove equality|certify")


@pytest.fixture
def automaton_page(page: Page, address: str) -> Page:
    """Return the page with the automaton of palindromes, at the third step of a word."""
    del address  # its store is in use from then on
    if known(NAME) is None:
        checkpoint = load(NAME)
        keep_extraction(NAME, ExtractionSettings(), extract(checkpoint.model, specification_of(checkpoint), QUICK))
    return page


def opened(page: Page, address: str, word: str = "abcba", step: int = 3, network: str = NAME) -> Page:
    page.goto(f"{address}?page=automaton&network={network}&word={word}&step={step}")
    expect(page.locator("#automaton-says")).not_to_be_empty()
    return page


def set_length(page: Page, length: str) -> None:
    page.click("#page-automaton summary:has-text('settings')")
    page.fill("#automaton-length", length)
    page.keyboard.press("Tab")


def test_the_state_the_transition_and_the_stack_follow_the_scrubber(automaton_page: Page, address: str) -> None:
    page = opened(automaton_page, address)
    expect(page.locator("#automaton-drawing .state.lit")).to_have_text("q1")
    expect(page.locator("#automaton-drawing .rule.lit")).to_have_text("c, b → none")
    expect(page.locator("#automaton-now .cell")).to_have_text(["b", "a"])
    page.click("#back")
    expect(page.locator("#automaton-drawing .state.lit")).to_have_text("q0")
    expect(page.locator("#automaton-drawing .rule.lit")).to_have_text("b, a → push b")
    expect(page.locator("#automaton-drawing .edge.lit")).to_have_count(1)
    page.click("#last")
    expect(page.locator("#automaton-drawing .rule.lit")).to_have_text("a, a → pop")
    expect(page.locator("#automaton-now .cell")).to_have_count(0)
    expect(page.locator("#automaton-now .bottom")).to_have_text("⊥")
    expect(page.locator("#automaton-stacks .band")).to_have_attribute("data-step", "5")
    page.click("#go-probe")
    expect(page.locator("#picture .main-svg").first).to_be_visible()
    page.click("#go-automaton")
    for figure in ("stacks", "map"):  # which are as high as ever
        until(page, f"document.getElementById('automaton-{figure}').offsetHeight > 300")


def test_a_run_that_is_cut_short_says_where(automaton_page: Page, address: str) -> None:
    page = opened(automaton_page, address, word="acb", step=3)
    expect(page.locator("#automaton-now")).to_contain_text("rejected: q1 has no transition on b with a on top")
    expect(page.locator("#automaton-drawing .state.stuck")).to_have_text("q1")
    expect(page.locator("#automaton-drawing .rule.lit")).to_have_count(0)


def test_the_machine_before_minimisation_is_shown_too(automaton_page: Page, address: str) -> None:
    page = opened(automaton_page, address)
    expect(page.locator("#automaton-drawing .state")).to_have_count(2)
    page.get_by_text("before minimisation", exact=True).click()
    expect(page.locator("#automaton-drawing-line")).to_contain_text(".raw")


def test_a_click_on_a_state_shows_its_visits_and_a_row_leads_to_the_word(automaton_page: Page, address: str) -> None:
    page = opened(automaton_page, address)
    expect(page.locator("#automaton-visited")).to_have_text("Words that visit q0")
    page.locator("#automaton-drawing .state[data-name=q1]").click()
    expect(page.locator("#automaton-visited")).to_have_text("Words that visit q1")
    expect(page.locator("#automaton-drawing .state.chosen")).to_have_text("q1")
    page.locator("#automaton-visits").scroll_into_view_if_needed()
    page.locator("#automaton-visits .ag-cell[col-id=word]", has_text=re.compile("^bc$")).first.click()
    expect(page.locator("#word")).to_have_value("bc")
    expect(page.locator("#automaton-drawing .state.lit")).to_have_text("q1")
    expect(page.locator("#now")).to_contain_text("step 2 reads c")
    page.locator("#automaton-drawing .state[data-name=q0]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#automaton-visited")).to_have_text("Words that visit q0")


def saved(page: Page, button: str, folder: Path) -> Path:
    with page.expect_download() as waiting:
        page.locator(button).click()
    place = folder / waiting.value.suggested_filename
    waiting.value.save_as(place)
    return place


def test_automata_and_figures_are_saved(automaton_page: Page, address: str, tmp_path: Path) -> None:
    page = opened(automaton_page, address)
    expect(page.locator("#automaton-map .main-svg").first).to_be_attached()
    found = known(NAME)
    assert found is not None
    files = {suffix: saved(page, f"#automaton-save-{suffix}", tmp_path) for suffix in ("dot", "json", "jff", "svg")}
    assert {place.name for place in files.values()} == {f"{NAME}.{suffix}" for suffix in files}
    assert from_dot(files["dot"].read_text(encoding="utf-8")) == found.automaton
    assert from_json(files["json"].read_text(encoding="utf-8")) == found.automaton
    assert read_automaton(files["jff"]).accepts("abcba")
    assert "a, ⊥ → push a" in files["svg"].read_text(encoding="utf-8")
    for figure in ("automaton-stacks", "automaton-map"):
        assert saved(page, f"button[data-figure={figure}][data-kind=svg]", tmp_path).read_bytes().startswith(b"<svg")
        assert saved(page, f"button[data-figure={figure}][data-kind=png]", tmp_path).read_bytes().startswith(b"\x89PNG")


def test_tables_are_saved(automaton_page: Page, address: str, tmp_path: Path) -> None:
    page = opened(automaton_page, address)  # afresh: a browser asks before it saves more than ten files of one page
    for table, head in (
        ("automaton-steps", '"step","symbol","state","top"'),
        ("automaton-transitions", '"state","input","top"'),
        ("automaton-visits", '"word","step","h1"'),
    ):
        text = saved(page, f"button[data-table={table}]", tmp_path).read_text(encoding="utf-8-sig")
        assert text.startswith(head)


def test_an_extraction_tells_how_far_it_is_and_ends_with_an_automaton(page: Page, address: str) -> None:
    opened(page, address, "10", 1, OTHER)
    expect(page.locator("#automaton-says")).to_have_text(
        "Nothing has been read out of this network yet: extract does it."
    )
    expect(page.locator("#automaton-found")).to_be_hidden()
    set_length(page, "4")
    page.click("#automaton-extract")
    expect(page.locator("#automaton-stage")).to_have_text(STAGES)
    expect(page.locator("#automaton-extract")).to_be_disabled()
    expect(page.locator("#automaton-drawing svg")).to_be_visible(timeout=90_000)
    expect(page.locator("#automaton-extract")).to_be_enabled()
    expect(page.locator("#automaton-says")).to_contain_text("before minimisation")
    expect(page.locator("#automaton-drawing-line")).to_contain_text("sl.extract(network, max_length=4)")
    assert known(OTHER, SETTINGS) is not None  # for every user and every process
    expect(page.locator("#verdicts")).to_contain_text("automaton: accepted")
    page.click("#go-probe")
    expect(page.locator("#picture")).to_contain_text("automaton's stack after each step")


def test_an_extraction_can_be_cancelled(page: Page, address: str) -> None:
    opened(page, address, "()", 1, "marnn-stack-rnn-dyck-2")
    set_length(page, "12")
    page.click("#automaton-extract")
    expect(page.locator("#automaton-stage")).to_have_text(STAGES)
    page.click("#automaton-cancel")
    expect(page.locator("#automaton-extract")).to_be_enabled()
    expect(page.locator("#automaton-problem")).to_have_text("The extraction was stopped before it came to a result.")
    expect(page.locator("#automaton-stage")).to_be_empty()
    assert known("marnn-stack-rnn-dyck-2", ExtractionSettings(max_length=12)) is None


def test_what_is_wrong_with_the_settings_is_said_in_one_sentence(automaton_page: Page, address: str) -> None:
    page = opened(automaton_page, address)
    page.click("#page-automaton summary:has-text('settings')")
    page.fill("#automaton-language", "nonsense")
    page.click("#automaton-extract")
    expect(page.locator("#automaton-problem")).to_contain_text("unknown language 'nonsense': expected one of ")
    expect(page.locator("#automaton-drawing .state.lit")).to_have_text("q1")


def test_dark_and_narrow(automaton_page: Page, address: str) -> None:
    page = opened(automaton_page, address)
    expect(page.locator("#automaton-map .main-svg").first).to_be_attached()
    page.click("#shade")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    ink = page.locator("#automaton-drawing .rule").first.evaluate("text => getComputedStyle(text).fill")
    assert ink == "rgb(230, 232, 235)"
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for figure in ("stacks", "map"):
        until(page, f"document.getElementById('automaton-{figure}').offsetHeight > 300")
    ground = "document.querySelector('#automaton-map .js-plotly-plot').layout.paper_bgcolor"
    until(page, f"{ground} === '#16181D'")
