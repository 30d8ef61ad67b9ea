"""The drawers in a real browser: checks, many words, accuracy, figures, papers, networks."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.bench import DYCK, opened, saved
from tests.browser.waiting import until

from stacklens.papers.results import read_results
from stacklens.viz.paper_tables import paper_tables

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
    assert file.read_text(encoding="utf-8").startswith('"words","up to length"')
    button = page.locator("#drawer tr:has-text('rounded network') td button").first
    button.click()
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
    rows = list(
        csv.DictReader(saved(page, page.locator("#judged button:has-text('CSV')"), tmp_path).read_text().splitlines())
    )
    assert [row["word"] for row in rows] == ["aabb", WRONG, "ba"]
    page.check("#only")
    expect(page.locator("#judged tr")).to_have_count(2)
    page.locator("#judged td button").click()
    expect(page.locator("#word")).to_have_value(WRONG)
    expect(page.locator("#step")).to_have_value(rows[1]["parts at"])
    page.fill("#many", "ab\nax")
    page.click("#judge")
    expect(page.locator("#judged-says")).to_have_text("line 2: symbol 'x' is not in the alphabet a b.")


def test_figures_follow_the_word_and_the_theme(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=([])&drawer=figures&figure=operations")
    title = "document.querySelector('.figure')?.layout?.title.text"
    until(page, f"({title} || '').includes('on ([])')")
    page.fill("#word", "()")
    page.keyboard.press("Enter")
    until(page, f"({title} || '').includes('on ():')")
    page.click("#shade")
    until(page, "document.querySelector('.figure')?.layout?.paper_bgcolor === '#16181D'")
    page.select_option("#figure", "states")
    until(page, f"({title} || '').startsWith('Hidden vectors of the')")
    expect(page.locator(".figure")).to_have_attribute("aria-label", re.compile("Hidden vectors of the .*; q0"))
    expect(page).to_have_url(re.compile("figure=states"))


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
