"""The drawers in a real browser: checks, many words, accuracy, figures, papers, networks."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.browser.bench import DYCK, opened, saved, step
from tests.browser.waiting import until

from stacklens.papers.results import read_results
from stacklens.viz.papers import paper_tables

pytestmark = pytest.mark.slow

NAME = "stack-rnn-anbn"
WRONG = "a" * 45 + "b" * 45  # on which the soft network fails


def test_a_counterexample_of_the_checks_comes_onto_the_bench(page: Page, address: str, tmp_path: Path) -> None:
    opened(page, address)
    page.click("[data-drawer=checks]")
    expect(page).to_have_url(re.compile("drawer=checks"))
    expect(page.locator("#drawer")).to_contain_text("transitions are taken by words")
    file = saved(page, page.locator("#drawer button:has-text('CSV')").first, tmp_path)
    assert file.name == f"{DYCK}-checks.csv"
    assert file.read_text(encoding="utf-8-sig").startswith('"words","up to length"')
    page.locator("#drawer .ag-row:has-text('rounded network') .ag-cell button").first.click()
    expect(page.locator("#sentence")).to_contain_text("the automaton agrees with the rounded network up to step")
    page.go_back()
    page.go_back()
    expect(page.locator("#drawer")).to_be_hidden()


def test_many_words_are_judged_and_one_is_opened_where_runs_part(page: Page, address: str, tmp_path: Path) -> None:
    opened(page, address, f"?network={NAME}&word=ab&drawer=words")
    expect(page.locator("#many")).not_to_have_value("")
    page.fill("#many", f"aabb\n{WRONG}\nba")
    page.click("#judge")
    expect(page.locator("#judged-says")).to_have_text("✗ 3 words: not all agree on 1 of them.")
    save = page.locator("#drawer-dash button:has-text('CSV')")
    rows = list(csv.DictReader(saved(page, save, tmp_path).read_text("utf-8-sig").splitlines()))
    assert [row["word"] for row in rows] == ["aabb", WRONG, "ba"]
    page.check("#only")
    expect(page.locator("#drawer .ag-row")).to_have_count(1)
    page.locator("#drawer .ag-cell button").click()
    expect(page.locator("#word")).to_have_value(WRONG)
    expect(page.locator("#step")).to_have_value(rows[1]["parts at"])
    page.fill("#many", "ab\nax")
    page.click("#judge")
    expect(page.locator("#filled p[role=status]")).to_have_text("line 2: symbol 'x' is not in the alphabet a b.")


def test_figures_follow_the_word_and_the_theme(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=([])&drawer=figures&figure=operations")
    title = "document.querySelector('.figure .js-plotly-plot')?.layout?.title.text"
    until(page, f"({title} || '').includes('on ([])')")
    page.fill("#word", "()")
    page.keyboard.press("Enter")
    until(page, f"({title} || '').includes('on ():')")
    page.click("#shade")
    until(page, "document.querySelector('.figure .js-plotly-plot')?.layout?.paper_bgcolor === '#16181D'")
    page.select_option("#figure", "states")
    until(page, f"({title} || '').startsWith('Hidden vectors of the')")
    expect(page.locator(".figure")).to_have_attribute("aria-label", re.compile("Hidden vectors of the .*; q0"))
    expect(page).to_have_url(re.compile("figure=states"))


def test_the_drawer_of_causes_says_which_automaton_the_network_computes(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=()&drawer=causes")
    expect(page.locator("#drawer-dash b")).to_contain_text("the raw one is what the network computes")
    expect(page.locator("#drawer .ag-row", has_text="raw").first).to_be_visible()
    expect(page.locator("#drawer .figure .main-svg").first).to_be_visible()
    page.keyboard.press("Escape")
    page.select_option("#network", "buffered-neural-stack-reversal")
    page.click("[data-drawer=causes]")
    expect(page.locator("#drawer")).to_contain_text("extract-pda buffered-neural-stack-reversal --causal")


def test_ours_stands_beside_theirs(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=()&page=papers")  # an earlier link
    first = read_results("sun1993-claims").claims[0]
    expect(page.locator("#drawer")).to_contain_text(first.ours)
    expect(page.locator("#drawer code")).to_have_text("stacklens papers run sun1993-claims")
    page.select_option("#paper", "suzgun2019-table2")
    found = paper_tables("suzgun2019-table2")
    expect(page.locator("#drawer code")).to_have_text(found.command)
    expect(page.locator("#drawer h3").first).to_have_text(found.tables[0].title)
    expect(page).to_have_url(re.compile("table=suzgun2019-table2"))


def test_networks_stand_under_their_papers_with_one_line_each(page: Page, address: str) -> None:
    opened(page, address)
    page.click("[data-drawer=networks]")
    line = page.locator("#drawer li", has_text="nnpda-palindrome")
    expect(line).to_contain_text("recognition on palindrome, 3 units. Proved equal to palindrome")
    line.get_by_role("button").click()
    expect(page.locator("#network option:checked")).to_have_text("nnpda-palindrome")
    expect(page.locator("#word")).to_have_value(re.compile("^[abc]+$"))
    expect(page.locator("#drawer")).to_be_hidden()


def test_a_table_is_sorted_searched_and_walked_through_with_keys(page: Page, address: str) -> None:
    opened(page, address, f"?network={NAME}&word=ab&drawer=words")
    expect(page.locator("#drawer .ag-row").first).to_be_visible()
    page.fill("#many", "b\naabb\nab\nε")
    page.click("#judge")
    first = page.locator("#drawer .ag-row[row-index='0'] .ag-cell").first
    expect(first).to_have_text("b")
    page.locator("#drawer .ag-header-cell-text", has_text="word").click()
    expect(first).to_have_text("aabb")
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#word")).to_have_value("ab")


def test_a_figure_is_saved_as_it_is_drawn(page: Page, address: str, tmp_path: Path) -> None:
    opened(page, address, f"?network={DYCK}&word=()&drawer=figures&figure=actions")
    expect(page.locator(".figure .main-svg").first).to_be_visible()
    file = saved(page, page.locator("[data-kind=svg]"), tmp_path)
    assert file.name == f"{DYCK}-actions.svg"
    assert "<svg" in file.read_text(encoding="utf-8")
    assert saved(page, page.locator("[data-kind=png]"), tmp_path).read_bytes().startswith(b"\x89PNG")


def test_a_server_that_is_gone_is_said_in_the_drawer(browser: Browser, address: str) -> None:
    page = browser.new_context().new_page()  # one whose errors are meant
    opened(page, address, f"?network={DYCK}&word=()&drawer=accuracy")
    expect(page.locator(".figure .main-svg").first).to_be_visible()
    page.context.set_offline(True)
    page.click("[data-drawer=checks]")
    expect(page.locator("#drawer-says")).to_have_text("The server does not answer.")
    page.context.set_offline(False)
    page.click("[data-drawer=accuracy]")
    expect(page.locator(".figure .main-svg").first).to_be_visible()
    expect(page.locator("#drawer-says")).to_be_empty()
    page.context.close()


def test_more_words_than_are_ever_sent_are_one_sentence(page: Page, address: str) -> None:
    opened(page, address, f"?network={NAME}&word=ab&drawer=words")
    expect(page.locator("#judged-says")).to_contain_text("agree")
    page.evaluate(
        "document.querySelector('#many').value = ('ab'.repeat(10_000) + '\\n').repeat(105)"
    )  # few lines to lay out
    page.click("#judge")
    expect(page.locator("#drawer-says")).to_contain_text("more than 2,000,000 bytes")


def test_the_bench_needs_nothing_of_dash_and_a_step_asks_it_nothing(page: Page, address: str) -> None:
    held, sent = list[Route](), list[str]()
    page.route("**/_dash-component-suites/**", lambda route: held.append(route))
    page.on("request", lambda one: sent.append(one.url) if "_dash-update" in one.url else None)
    opened(page, address, f"?network={DYCK}&word=([])&step=1")
    page.keyboard.press("ArrowRight")
    step(page, 2)
    page.click("[data-drawer=accuracy]")
    until(page, "document.querySelectorAll('script[src*=_dash-component-suites]').length > 0")
    for one in held:
        one.continue_()
    held.clear()
    page.unroute("**/_dash-component-suites/**")
    expect(page.locator(".figure .main-svg").first).to_be_visible()
    asked = len(sent)
    assert asked == 1
    for number in (3, 4, 3, 2):
        page.fill("#step", str(number))
        page.keyboard.press("Enter")
        step(page, number)
    assert len(sent) == asked
