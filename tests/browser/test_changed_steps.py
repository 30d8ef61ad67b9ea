"""A step that is changed on the page: controls, keys, links, and the numbers of `intervene`."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from tests.browser.bench import DYCK, opened, step
from tests.browser.test_accessibility import RUN, axe
from tests.browser.waiting import until

import stacklens as sl

pytestmark = pytest.mark.slow

WORD = "([]())"
CHANGED = f"?network={DYCK}&word={WORD}&step=4&against=change&change=4&set=actions&stack=1&to=0+1"


def numbers(page: Page, table: str, row: str) -> list[str]:
    """Return what stands in the cells of a row."""
    there = page.locator(f"{table} tr", has=page.locator(f"th[title='{row}']"))
    return there.locator("td[data-step]").all_text_contents()


def shown(values: list[float]) -> list[str]:
    return [re.sub(r"^(-?)0\.", r"\1.", f"{value:.2f}") for value in values]


def test_a_key_opens_the_change_of_this_step_and_a_button_leaves_it(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word={WORD}&step=4")
    page.keyboard.press("c")
    expect(page.locator("#change-what")).to_be_focused()
    expect(page.locator("#change-to option:checked")).to_have_text("pop")
    expect(page.locator("#against-says")).to_contain_text("With pop in place of push in step 4, it says something else")
    expect(page.locator("#table-1")).to_contain_text("as it ran")
    expect(page.locator("#table-2")).to_contain_text("changed")
    expect(page.locator("#table-2 .band.changed")).to_be_visible()
    expect(page.locator("#table-2 .band.different")).to_be_visible()
    expect(page).to_have_url(re.compile("against=change&change=4&set=actions&stack=1&to=0"))
    page.locator("#against-says button").click()
    step(page, 6)
    page.click("#change")  # the change moves here
    expect(page.locator("#against-says")).to_contain_text("in step 6")
    page.click("#change-close")
    expect(page.locator("#table-2")).to_be_hidden()
    expect(page.locator("#change")).to_be_focused()
    expect(page.locator("#compare")).to_have_value("")
    assert "change=" not in page.url
    page.go_back()
    expect(page.locator("#against-says")).to_contain_text("in step 6")


def test_cells_hidden_vectors_and_units_are_chosen_and_typed(page: Page, address: str) -> None:
    opened(page, address, CHANGED)
    page.select_option("#change-what", "cells")
    expect(page.locator("#against-says")).to_contain_text("With s1 (")
    page.select_option("#change-to", "")
    page.fill("#change-numbers", "0.9")
    page.keyboard.press("Enter")
    expect(page.locator("#against-says")).to_contain_text("With 0.9 in place of 0.44 on top before step 4, it says")
    seen = sl.intervene(DYCK, WORD, at=3, set={"cells": 0.9}, stack=0)
    plain = sl.trace(DYCK, WORD)
    assert seen.cells is not None
    assert plain.cells is not None
    until(page, "document.querySelectorAll('#table-2 tr.symbol td').length === 6")
    assert numbers(page, "#table-2", "push") == shown(seen.actions[0, :, 0, 0].tolist())
    assert numbers(page, "#table-2", "stack top") == shown(seen.cells[0, :, 0, 0, 0].tolist())
    assert numbers(page, "#table-1", "stack top") == shown(plain.cells[0, :, 0, 0, 0].tolist())
    page.select_option("#change-what", "hidden")
    page.select_option("#change-to", "source")
    page.fill("#change-from", "([")
    page.keyboard.press("Enter")
    expect(page.locator("#against-says")).to_contain_text("after 2 of the 2 symbols of ([")
    page.fill("#change-after", "1")
    page.keyboard.press("Enter")
    expect(page.locator("#against-says")).to_contain_text("after 1 of the 2 symbols of ([")
    expect(page).to_have_url(re.compile(r"to=source&from=%28%5B&after=1"))
    page.select_option("#change-what", "unit")
    expect(page.locator("#against-says")).to_contain_text("in hidden unit 1 before step 4")
    page.get_by_label("rounded", exact=True).check()
    expect(page.locator("#word-python")).to_contain_text("set={'hidden': 0.0}, units=[0], rounded=True)")


def test_a_link_shows_the_same_change_and_python_says_it(page: Page, address: str) -> None:
    opened(page, address, CHANGED)
    expect(page.locator("#against-says")).to_contain_text("With pop in place of push in step 4")
    expect(page.locator("#word-python")).to_contain_text(f"sl.intervene(network, '{WORD}', at=3, set=")
    page.reload()
    expect(page.locator("#against-says")).to_contain_text("With pop in place of push in step 4")
    page.select_option("#compare", "kind")
    expect(page.locator("#word-python")).to_contain_text("word_data(")
    expect(page.locator("#table-2")).to_contain_text("rounded")


@pytest.mark.parametrize(
    ("search", "said"),
    [
        (CHANGED.replace("change=4", "change=9"), "there is no step 9 to change: the word has 6."),
        (CHANGED.replace("set=actions", "set=mind"), "set is"),
        (CHANGED.replace("to=0+1", "to=s1"), "what is put there is 's1'; expected numbers"),
        (CHANGED.replace("set=actions", "set=height").replace("to=0+1", "to=1"), "soft actions leave the stack"),
        ("?network=buffered-neural-stack-reversal&word=01&against=change", "reads from a queue when it likes"),
    ],
)
def test_a_link_that_cannot_be_is_one_line_and_the_word_stays(page: Page, address: str, search: str, said: str) -> None:
    opened(page, address, search)
    expect(page.locator("#against-says")).to_contain_text(said)
    expect(page.locator("#table-1 tr.symbol td").first).to_be_visible()
    expect(page.locator("#table-2 td")).to_have_count(0)
    page.select_option("#compare", "kind")
    expect(page.locator("#table-2 tr.symbol td").first).to_be_visible()


def test_another_network_is_changed_in_its_own_way(page: Page, address: str) -> None:
    opened(page, address, CHANGED)
    expect(page.locator("#against-says")).to_contain_text("With pop")
    page.select_option("#network", "nnpda-palindrome")
    expect(page.locator("#against-says")).to_contain_text("in step 1")
    page.select_option("#change-what", "cells")
    expect(page.locator("#change-to option").first).to_have_text("a (1 0 0)")
    expect(page.locator("#table-2 .segments rect").first).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_serious_is_found_and_all_is_done_by_keyboard_also_on_a_narrow_page(
    theme: str, page: Page, address: str
) -> None:
    source = axe()
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, address, CHANGED)
    expect(page.locator("#against-says")).to_contain_text("With pop")
    if theme == "dark":
        page.click("#shade")
    page.evaluate(source)
    assert page.evaluate(RUN) == []
    page.select_option("#change-what", "hidden")
    page.select_option("#change-to", "source")
    expect(page.locator("#change-from")).to_be_visible()
    assert page.evaluate(RUN) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.focus("#change-what")
    reached = set()
    for _ in range(7):
        name, outline = page.evaluate(
            "[document.activeElement.id, parseFloat(getComputedStyle(document.activeElement).outlineWidth)]"
        )
        assert outline >= 1, name
        reached.add(name)
        page.keyboard.press("Tab")
    assert {"change-what", "change-step", "change-to", "change-from", "change-after", "change-close"} <= reached
