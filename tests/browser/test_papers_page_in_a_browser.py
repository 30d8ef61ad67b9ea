"""The Papers page in a real browser: every table is shown with its command, and saved."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from stacklens.papers.results import read_results
from stacklens.viz.paper_tables import frame_of, paper_tables, table_names

pytestmark = pytest.mark.slow


@pytest.fixture
def papers_page(page: Page, address: str) -> Page:
    page.goto(f"{address}?page=papers")
    expect(page.locator("#papers-command")).to_have_text("stacklens papers run sun1993-claims")
    return page


def choose(page: Page, name: str) -> None:
    page.click("#papers-name")
    page.get_by_role("option", name=table_names()[name], exact=True).click()
    expect(page.locator("#papers-command")).to_have_text(paper_tables(name).command)


def test_ours_stands_beside_theirs(papers_page: Page) -> None:
    first = read_results("sun1993-claims").claims[0]
    row = papers_page.locator("#papers-first .ag-row[row-index='0']")
    expect(row.locator("[col-id='paper']")).to_have_text(first.paper)
    expect(row.locator("[col-id='ours']")).to_have_text(first.ours)
    expect(papers_page.locator("#papers-first-line")).to_contain_text("paper_tables('sun1993-claims').tables[0]")
    expect(papers_page.locator("#papers-second-place")).to_be_visible(
        visible=len(paper_tables("sun1993-claims").tables) > 1
    )


def test_every_table_is_shown_and_says_whether_it_was_measured(papers_page: Page) -> None:
    for name in [*list(table_names())[1:], "sun1993-claims"]:
        found = paper_tables(name)
        choose(papers_page, name)
        expect(papers_page.locator("#papers-first-title")).to_have_text(found.tables[0].title)
        expect(papers_page.locator("#papers-state")).to_have_text("" if found.measured else " (not measured yet)")
        expect(papers_page.locator("#papers-drawn")).to_be_visible(visible=bool(found.figures))
        expect(papers_page.locator("#papers-problem")).to_be_empty()


def test_a_table_is_saved_under_its_name(papers_page: Page, tmp_path: Path) -> None:
    choose(papers_page, "verify")
    expect(papers_page.locator("#papers-first [col-id='network']").nth(1)).to_be_visible()
    with papers_page.expect_download() as waiting:
        papers_page.click("button.save-table[data-table='papers-first']")
    assert waiting.value.suggested_filename == "verify.csv"
    waiting.value.save_as(tmp_path / "verify.csv")
    with (tmp_path / "verify.csv").open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["network"] for row in rows] == frame_of(paper_tables("verify").tables[0])["network"].tolist()


def test_the_choice_stands_in_the_address_and_a_narrow_screen_holds_it(papers_page: Page) -> None:
    expect(papers_page).to_have_url(re.compile("table=sun1993-claims"))
    choose(papers_page, "verify")
    expect(papers_page).to_have_url(re.compile("page=papers&table=verify"))
    papers_page.go_back()
    expect(papers_page.locator("#papers-command")).to_have_text("stacklens papers run sun1993-claims")
    papers_page.go_forward()
    expect(papers_page.locator("#papers-command")).to_have_text("stacklens verify --all")
    papers_page.click("#go-trust")
    expect(papers_page).not_to_have_url(re.compile("table="))
    papers_page.click("#go-papers")
    expect(papers_page).to_have_url(re.compile("page=papers&table=verify"))
    papers_page.set_viewport_size({"width": 390, "height": 800})
    papers_page.reload()
    expect(papers_page.locator("#papers-command")).to_have_text("stacklens verify --all")
    assert papers_page.evaluate("document.documentElement.scrollWidth") <= 390
