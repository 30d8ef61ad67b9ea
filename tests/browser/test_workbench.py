"""The workbench in a real browser: one selection that every part follows, and that the address holds."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.bench import DYCK, cell, opened, saved, step
from tests.browser.waiting import until

from stacklens.automata.formats.json import from_json
from stacklens.models.checkpoint import ZOO
from stacklens.viz.dashboard.extractions import shipped

pytestmark = pytest.mark.slow

PALINDROME = "?network=nnpda-palindrome&word=abcba&step=3"


def test_a_link_shows_network_word_and_step(page: Page, address: str) -> None:
    opened(page, address)
    expect(page.locator("#word")).to_have_value("([])")
    expect(page.locator("#sentence")).to_have_text(
        "Right on all 4 symbols; the automaton agrees with the network to the end."
    )
    step(page, 2)
    expect(cell(page, "predicted", 2)).to_have_text("([]")
    page.reload()
    step(page, 2)


def test_buttons_and_keys_move_everything_and_the_address(page: Page, address: str) -> None:
    opened(page, address, PALINDROME)
    expect(page.locator("#drawing .state.lit")).to_have_text("q1")
    expect(page.locator("#rule")).to_have_text("q0: c, b → none")
    expect(page.locator("#stacks .cell")).to_have_text(["b", "a"])
    page.click("#back")
    expect(page.locator("#drawing .state.lit")).to_have_text("q0")
    expect(page.locator("#drawing .rule.lit")).to_have_text(re.compile("b, any → push b"))
    page.click("#last")
    expect(page.locator("#stacks .cell")).to_have_count(0)
    for key, number in (("ArrowLeft", 4), ("End", 5), ("ArrowRight", 5), ("Home", 1), ("ArrowLeft", 1), ("End", 5)):
        page.keyboard.press(key)
        step(page, number)
    expect(page).to_have_url(re.compile(r"[?&]step=5(&|$)"))
    cell(page, "state", 2).click()
    step(page, 2)


def test_space_plays_from_the_start_once_the_end_is_reached_and_stops_there(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=()&step=2")
    page.keyboard.press(" ")
    step(page, 1)
    step(page, 2)
    expect(page.locator("#play")).to_have_attribute("aria-label", "play")


def test_a_run_that_is_cut_short_says_where(page: Page, address: str) -> None:
    opened(page, address, "?network=nnpda-palindrome&word=acb&step=3")
    expect(page.locator("#rule")).to_have_text("rejected: q1 has no transition on b with a on top")
    expect(page.locator("#drawing .state.stuck")).to_have_text("q1")


def test_the_first_error_is_one_click_from_the_sentence_and_a_key_from_anywhere(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word={'([])' * 30}&step=1")
    expect(page.locator("#sentence")).to_contain_text("first wrong at step 88")
    page.click("#sentence button >> nth=0")
    step(page, 88)
    expect(cell(page, "predicted", 88)).to_have_class("w")
    page.keyboard.press("Home")
    page.keyboard.press("n")
    step(page, 88)


def test_a_word_that_a_claim_names_is_one_click_from_the_bench(page: Page, address: str) -> None:
    opened(page, address)
    found = shipped(DYCK)
    assert found is not None
    first = found.report["horizon"]["rounded network"]["shortest_difference"]["word"]
    page.locator("#claim-list li", has_text="horizon, rounded network").get_by_role("button").click()
    expect(page.locator("#word")).to_have_value(first)
    expect(page.get_by_label("rounded", exact=True)).to_be_checked()
    expect(page.locator("#sentence")).to_contain_text("the automaton agrees with the rounded network up to step")
    page.go_back()
    expect(page.locator("#word")).to_have_value("([])")
    page.keyboard.press("d")
    expect(page.locator("#word")).not_to_have_value("([])")


def test_another_word_and_back(page: Page, address: str) -> None:
    opened(page, address)
    page.fill("#word", "([)")
    page.keyboard.press("Enter")
    expect(page.locator("#sentence")).to_contain_text("the word leaves dyck-2 at step 3")
    page.go_back()
    expect(page.locator("#word")).to_have_value("([])")
    expect(page.locator("#sentence")).to_contain_text("Right on all 4 symbols")
    page.click("#random")
    expect(page.locator("#word")).not_to_have_value("([])")


def test_another_network_gets_a_word_that_it_can_read(page: Page, address: str) -> None:
    opened(page, address)
    page.select_option("#network", "nnpda-palindrome")
    expect(page.locator("#word")).to_have_value(re.compile("^[abc]+$"))
    expect(page.locator("#table-1 .segments rect").first).to_be_visible()
    expect(page).to_have_url(re.compile("network=nnpda-palindrome"))
    page.click("#card-button")
    expect(page.locator("#card")).to_contain_text("Sun et al. 1993")


def test_a_long_word_shows_what_is_near_the_step_and_all_of_it_as_colours(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word={'()' * 500}&step=500")
    step(page, 500)
    assert page.locator("#table-1 tr.symbol td").count() < 80
    page.keyboard.press("End")
    step(page, 1000)
    page.click("#zoom-fit")
    expect(page.locator("#table-1 canvas")).to_be_visible()
    page.locator("#table-1 canvas").click(position={"x": 2, "y": 30})
    until(page, "Number(document.getElementById('step').value) < 5")


def test_soft_and_rounded_stand_one_above_the_other_with_their_first_difference(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word={'([])' * 30}&step=1")
    page.select_option("#compare", "kind")
    expect(page.locator("#table-2 tr.symbol td").first).to_be_visible()
    page.click("#against-says button")
    until(page, "document.getElementById('against-says').textContent.includes(document.getElementById('step').value)")
    expect(page.locator("#table-1 .band.different")).to_be_visible()
    expect(page).to_have_url(re.compile("against=kind"))
    page.select_option("#compare", "word")
    page.fill("#other-word", "([()")
    page.keyboard.press("Enter")
    expect(page.locator("#against-says")).to_have_text("first difference at step 3")
    page.select_option("#compare", "network")
    page.select_option("#other-network", "baby-ntm-dyck-2")
    expect(page.locator("#table-2")).to_contain_text("baby-ntm-dyck-2")
    page.reload()
    expect(page.locator("#table-2")).to_contain_text("baby-ntm-dyck-2")


def test_the_automaton_before_minimisation_stands_beside_it_and_follows_in_the_same_colours(
    page: Page, address: str
) -> None:
    opened(page, address, PALINDROME)
    found = shipped("nnpda-palindrome")
    assert found is not None
    assert found.merged is not None
    for number, key in ((3, "Home"), (1, "End"), (5, "ArrowLeft"), (4, "ArrowRight")):
        step(page, number)
        lit = [page.locator(f"{place} .state.lit") for place in ("#drawing", "#drawing-raw")]
        names = [one.get_attribute("data-name") or "" for one in lit]
        assert found.merged.states[names[1]] == names[0]
        colours = [one.evaluate("one => getComputedStyle(one.querySelector('ellipse')).fill") for one in lit]
        assert colours[0] == colours[1] != "none"
        expect(page.locator("#rule-raw")).to_contain_text("start: a, ⊥ → push a" if number == 1 else " → ")
        page.keyboard.press(key)
    expect(page.locator("#merged")).to_contain_text("Merged: states q0 = ")
    # the mouse on a state, or the focus, shows what it is on the other side
    several = [name for name, into in found.merged.states.items() if into == "q0"]
    page.hover("#drawing .state[data-name=q0]")
    expect(page.locator("#drawing-raw .state.partner")).to_have_count(len(several))
    page.mouse.move(5, 5)
    expect(page.locator(".partner")).to_have_count(0)
    raw = page.locator(f'#drawing-raw .state[data-name="{several[0]}"]')
    expect(raw).to_have_attribute("aria-label", f"state {several[0]}, q0 after minimisation: its words")
    label = f"state q0, {' and '.join(several)} before minimisation: its words"
    expect(page.locator("#drawing .state[data-name=q0]")).to_have_attribute("aria-label", label)
    raw.focus()
    expect(page.locator("#drawing .state.partner")).to_have_text("q0")
    # a state that is chosen before minimisation is one of that automaton in the drawer, too
    page.keyboard.press("Enter")
    expect(page.locator("#drawer")).to_contain_text(f"words that visit {several[0]}")
    expect(page.locator("#which")).to_have_value("raw")
    expect(page.locator("#drawing-raw .state.chosen")).to_have_count(1)
    expect(page).to_have_url(re.compile("raw=1&state="))
    page.select_option("#which", "")
    expect(page.locator("#drawer")).to_contain_text("words that visit q0")
    expect(page.locator(".state.chosen")).to_have_count(0)


def test_the_automaton_before_minimisation_can_be_put_away_and_one_that_is_the_same_is_not_drawn_twice(
    page: Page, address: str
) -> None:
    opened(page, address, PALINDROME)
    wide = page.locator("#drawing").bounding_box()
    page.uncheck("#raw")
    expect(page.locator("#drawing-raw")).to_be_hidden()
    expect(page).to_have_url(re.compile("alone=1"))
    alone = page.locator("#drawing").bounding_box()
    assert wide is not None
    assert alone is not None
    assert alone["width"] > wide["width"] + 100
    page.reload()
    expect(page.locator("#drawing svg")).to_be_visible()
    expect(page.locator("#drawing-raw")).to_be_hidden()
    page.go_back()
    expect(page.locator("#drawing-raw")).to_be_visible()
    page.select_option("#network", "buffered-neural-stack-reversal")
    expect(page.locator("#merged")).to_have_text("Before minimisation it is the same automaton.")
    expect(page.locator("#drawing-raw")).to_be_hidden()
    expect(page.locator("#raw")).to_be_hidden()


def test_states_can_be_dragged_and_the_drawing_moved_and_fitted(page: Page, address: str) -> None:
    opened(page, address, PALINDROME)
    page.wait_for_load_state("networkidle")  # until then the drawing may be laid out again, and be elsewhere
    state = page.locator("#drawing .state[data-name=q1]")
    edge = page.locator("#drawing .edge[data-from='0'][data-to='1'] path")
    before, view = edge.get_attribute("d"), page.locator("#drawing svg").get_attribute("viewBox")
    state.hover()  # waits until it stands still
    box = state.bounding_box()
    assert box is not None
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 40, steps=3)
    page.mouse.up()
    expect(edge).not_to_have_attribute("d", before or "")
    page.click("#closer")
    assert page.locator("#drawing svg").get_attribute("viewBox") != view
    page.click("#fit")
    assert page.locator("#drawing svg").get_attribute("viewBox") == view


def test_a_state_shows_the_words_that_visit_it_and_automata_are_saved(page: Page, address: str, tmp_path: Path) -> None:
    opened(page, address, PALINDROME)
    page.locator("#drawing .state[data-name=q1]").click()
    expect(page.locator("#drawer")).to_contain_text("words that visit q1")
    expect(page.locator("#drawing .state.chosen")).to_have_text("q1")
    found = shipped("nnpda-palindrome")
    assert found is not None
    file = saved(page, page.locator("[data-save=json]"), tmp_path)
    assert from_json(file.read_text(encoding="utf-8")) == found.automaton
    page.locator("#drawer .ag-cell button").first.click()
    expect(page.locator("#word")).to_have_value("c")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()


def test_steps_are_saved_as_files(page: Page, address: str, tmp_path: Path) -> None:
    opened(page, address)
    page.click("summary:has-text('save')")
    for kind, name, begins in (("csv", f"{DYCK}.csv", "word,step,symbol"), ("trace", f"{DYCK}.trace.json", "{")):
        file = saved(page, page.locator(f"[data-file={kind}]"), tmp_path)
        assert file.name == name
        assert file.read_text(encoding="utf-8").startswith(begins)


def test_a_file_that_is_opened_is_shown_and_a_link_to_it_works(
    page: Page, address: str, tmp_path: Path, browser: Browser
) -> None:
    opened(page, address)
    file = tmp_path / "my network.pt"
    shutil.copy(ZOO / "stack-rnn-anbn.pt", file)
    page.set_input_files("#upload", file)
    expect(page.locator("#network option:checked")).to_have_text("my network.pt (opened)")
    expect(page.locator("#word")).to_have_value(re.compile("^[ab]+$"))
    expect(page.locator("#automaton-says")).to_have_text(
        "Nothing has been read out of this network yet: extract does it."
    )
    expect(page).to_have_url(re.compile("network=upload-"))
    page.reload()
    expect(page.locator("#network option:checked")).to_have_text("my network.pt (opened)")
    other = browser.new_page()
    other.goto(page.url)
    expect(other.locator("#network option:checked")).to_have_text("my network.pt (opened)")
    other.close()


def test_a_file_may_be_dropped_anywhere(page: Page, address: str) -> None:
    opened(page, address)
    page.evaluate(
        """bytes => {
            const file = new File([new Uint8Array(bytes)], "dropped.pt"), data = new DataTransfer();
            data.items.add(file);
            const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
            document.querySelector("#drawing").dispatchEvent(drop);
        }""",
        list((ZOO / "nnpda-parentheses.pt").read_bytes()),
    )
    expect(page.locator("#network option:checked")).to_have_text("dropped.pt (opened)")


def test_dark_and_light_last_over_a_reload(page: Page, address: str) -> None:
    opened(page, address)
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.click("#shade")
    until(page, f"{colour} === 'rgb(22, 24, 29)'")
    page.reload()
    until(page, f"{colour} === 'rgb(22, 24, 29)'")


def test_the_first_visit_is_introduced_and_no_other(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#intro")).to_be_visible()
    page.click("#intro-close")
    page.reload()
    expect(page.locator("#sentence")).not_to_be_empty()
    expect(page.locator("#intro")).to_be_hidden()


@pytest.mark.parametrize(("wide", "high"), [(1440, 900), (1024, 768), (390, 800)])
def test_nothing_overflows_and_what_stands_above_is_small(wide: int, high: int, page: Page, address: str) -> None:
    page.set_viewport_size({"width": wide, "height": high})
    opened(page, address)
    assert page.evaluate("document.documentElement.scrollWidth") <= wide
    if wide >= 1024:
        assert page.evaluate("document.querySelector('.strip').offsetHeight") <= 120
        assert page.evaluate("document.documentElement.scrollHeight") <= high
