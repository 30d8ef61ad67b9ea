"""The workbench in a real browser: one selection that every part follows, and what is one's own."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.browser.bench import DYCK, cell, entered, opened, saved, step, until
from tests.browser.test_access_and_drawers import RUN, axe
from tests.face.quick import save_parentheses, sweep_quickly

import stacklens as sl
from stacklens.automata.formats.json import from_json
from stacklens.extract.claims import equals_of
from stacklens.extract.evaluation.sweep import sweep
from stacklens.models.checkpoint import ZOO
from stacklens.viz.dashboard.extractions import shipped
from stacklens.viz.dashboard.opening import opened_at_start

# ---- The workbench in a real browser: one selection that every part follows, and that the address holds. ----
pytestmark = pytest.mark.slow
PALINDROME = "?network=nnpda-palindrome&word=abcba&step=3"


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
    page.keyboard.press("d")  # the next word on which the automaton differs
    expect(page.locator("#word")).not_to_have_value("([])" * 30)


def test_every_chip_opens_what_it_rests_on_and_is_the_same_verdict_as_in_python(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=([])&step=2")
    result = shipped(DYCK)
    equals, claims = equals_of(result.report), page.locator("#claim-list li:visible")

    def claim(what: str) -> Locator:
        return page.locator(f"#claim-list [data-what='{what}']")

    everything = claims.count()
    marks = {"equal": "✓", "different": "✗", "no difference found": "?"}
    for number, (entry, name) in enumerate(zip(equals.values(), ("language", "rounded", "network"), strict=True), 1):
        expect(page.locator("#chips button").nth(number - 1)).to_have_text(
            re.compile(f"^{marks[entry['verdict']]} .*{name}.*: {entry['by']}$")
        )
    # what the network does not follow: why in full, the word, what drifts over which threshold, and the repair
    page.keyboard.press("2")
    expect(page.locator("#chips [aria-pressed=true]")).to_contain_text("follows the rounded network")
    assert 0 < claims.count() < everything
    expect(page.locator("#claim-list pre:visible").first).to_have_text(result.why)
    expect(page.locator("#repair")).to_be_visible()
    threshold = f"threshold {result.report['drift']['threshold']:.3f}"
    expect(claim("drift")).to_contain_text(threshold)
    claim("horizon, rounded network").get_by_role("link").click()
    expect(page.locator("#word")).to_have_value(equals["rounded network"]["word"])
    expect(page.get_by_label("rounded", exact=True)).to_be_checked()
    expect(page.locator("#sentence")).to_contain_text("the automaton agrees with the rounded network up to step")
    claim("drift").get_by_role("link").click()
    expect(page.locator("#drawer .annotation-text", has_text=threshold)).to_be_visible()
    expect(page).to_have_url(re.compile("chip=follows.the.rounded.network.*drawer=figures.*figure=drift"))
    # an interchange that went wrong is a change of that step
    page.keyboard.press("Escape")
    page.keyboard.press("5")
    for what, kind in (("states", "hidden"), ("symbols", "cells")):
        worst = result.report["causality"][what]["worst"]
        claim(f"{what} as causes").get_by_role("link").click()
        expect(page.locator("#change-what")).to_have_value(kind)
        expect(page.locator("#against-says")).to_contain_text("it says something else")
        model = sl.load(DYCK)
        changed = eval(worst["call"], {"sl": sl, "model": model})
        expect(page.locator("#table-2 tr.symbol td")).to_have_count(len(worst["word"]))
        for name, row in (("push", 0), ("pop", 1)):
            shown = (
                page.locator("#table-2 tr", has=page.locator(f"th[title='{name}']")).locator("td").all_text_contents()
            )
            ours = [f"{number:.2f}".replace("0.", ".", 1) for number in changed.actions[0, :, 0, row].tolist()]
            assert shown == ours
    page.keyboard.press("5")
    assert claims.count() == everything
    page.reload()
    expect(page.locator("#change-what")).to_have_value("cells")
    claim("horizon, network").get_by_role("link").click()
    expect(page.locator("#table-2")).to_be_hidden()  # a plain word again


def test_another_word_and_back(bench: Page) -> None:
    entered(bench, "#word", "([)")
    expect(bench.locator("#sentence")).to_contain_text("the word leaves dyck-2 at step 3")
    bench.go_back()
    expect(bench.locator("#word")).to_have_value("([])")
    expect(bench.locator("#sentence")).to_contain_text("Right on all 4 symbols")
    bench.click("#random")
    expect(bench.locator("#word")).not_to_have_value("([])")


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
    entered(page, "#other-word", "([()")
    expect(page.locator("#against-says")).to_have_text("first difference at step 3")
    page.select_option("#compare", "network")
    page.select_option("#other-network", "baby-ntm-dyck-2-drifting")
    expect(page.locator("#table-2")).to_contain_text("baby-ntm-dyck-2-drifting")
    page.reload()
    expect(page.locator("#table-2")).to_contain_text("baby-ntm-dyck-2-drifting")


def test_networks_to_compare_with_are_offered_once_they_are_known(page: Page, address: str) -> None:
    held = list[Route]()
    page.route("**/api/networks*", lambda route: held.append(route))
    opened(page, address)
    page.select_option("#compare", "network")
    held[0].continue_()
    page.select_option("#other-network", "nnpda-palindrome")
    expect(page.locator("#against-says")).not_to_be_empty()


def test_the_automaton_before_minimisation_stands_beside_it_and_follows_in_the_same_colours(
    page: Page, address: str
) -> None:
    opened(page, address, PALINDROME)
    found = shipped("nnpda-palindrome")
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
    expect(page.locator("#which")).to_have_value("1")
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


def test_a_drawing_is_zoomed_moved_and_fitted_and_the_state_that_is_lit_stays_in_view(page: Page, address: str) -> None:
    opened(page, address, PALINDROME)
    place = "document.querySelector('#drawing')"
    state = page.locator("#drawing .state.lit ellipse").first
    before = state.bounding_box()
    for _ in range(6):
        page.click("#closer")
    until(page, f"{place}.scrollWidth > 4 * {place}.clientWidth")
    after, frame = state.bounding_box(), page.locator("#drawing").bounding_box()
    assert after["width"] > 4 * before["width"]
    x, y = frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=4)
    page.mouse.up()
    moved = state.bounding_box()
    assert (moved["x"], moved["y"]) == pytest.approx((after["x"] + 40, after["y"] + 30), abs=2)
    expect(page.locator("#drawer")).to_be_hidden()  # whoever moves it chooses nothing
    page.keyboard.press("Home")
    page.wait_for_selector("#drawing .state.lit >> text=q0")
    lit = page.locator("#drawing .state.lit").first.bounding_box()
    assert frame["x"] <= lit["x"] + lit["width"] / 2 <= frame["x"] + frame["width"]
    assert frame["y"] <= lit["y"] + lit["height"] / 2 <= frame["y"] + frame["height"]
    page.click("#fit")
    until(page, f"{place}.scrollWidth === {place}.clientWidth")


def test_a_state_shows_the_words_that_visit_it_and_automata_are_saved(page: Page, address: str, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    opened(page, address, PALINDROME)
    page.locator("#drawing .state[data-name=q1]").click()
    expect(page.locator("#drawer")).to_contain_text("words that visit q1")
    expect(page.locator("#drawing .state.chosen")).to_have_text("q1")
    found = shipped("nnpda-palindrome")
    file = saved(page, page.locator("[data-save=json]"), tmp_path)
    assert from_json(file.read_text(encoding="utf-8")) == found.automaton
    page.locator("#drawer .ag-cell a").first.click()
    expect(page.locator("#word")).to_have_value("c")
    assert page.evaluate("window.scrollY") == 0
    expect(page.locator("#word")).to_be_in_viewport()
    expect(page.locator("#table-1 tr.symbol")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()


def test_a_file_that_is_opened_is_shown_and_a_link_to_it_works(bench: Page, tmp_path: Path) -> None:
    file = tmp_path / "my network.pt"
    shutil.copy(ZOO / "stack-rnn-anbn.pt", file)
    bench.set_input_files("#upload", file)
    expect(bench.locator("#network option:checked")).to_have_text("my network.pt (opened)")
    expect(bench.locator("#word")).to_have_value(re.compile("^[ab]+$"))
    expect(bench.locator("#automaton-says")).to_have_text(
        "Nothing has been read out of this network yet: extract does it."
    )
    expect(bench).to_have_url(re.compile("network=upload-"))
    bench.reload()
    expect(bench.locator("#network option:checked")).to_have_text("my network.pt (opened)")


def test_a_file_may_be_dropped_anywhere(bench: Page) -> None:
    bench.evaluate(
        """bytes => {
            const file = new File([new Uint8Array(bytes)], "dropped.pt"), data = new DataTransfer();
            data.items.add(file);
            const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
            document.querySelector("#drawing").dispatchEvent(drop);
        }""",
        list((ZOO / "nnpda-parentheses.pt").read_bytes()),
    )
    expect(bench.locator("#network option:checked")).to_have_text("dropped.pt (opened)")


def test_dark_and_light_last_over_a_reload(bench: Page) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    assert bench.evaluate(colour) == "rgb(255, 255, 255)"
    bench.click("#shade")
    until(bench, f"{colour} === 'rgb(22, 24, 29)'")
    bench.reload()
    until(bench, f"{colour} === 'rgb(22, 24, 29)'")


def test_the_first_visit_is_introduced_and_no_other(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#intro")).to_be_visible()
    page.click("#intro-close")
    page.reload()
    expect(page.locator("#sentence")).not_to_be_empty()
    expect(page.locator("#intro")).to_be_hidden()


# ---- What is one's own: saved results that are opened, sweeps given to the app, long words, small screens. ----


@pytest.fixture
def swept(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a sweep over two networks and a file that is none."""
    assert address  # the server is there, and its store
    sweep_quickly(monkeypatch)
    for seed in (2, 10):
        save_parentheses(tmp_path / f"seed-{seed}.pt", seed=seed)
    (tmp_path / "bad.pt").write_bytes(b"nothing")
    files = [tmp_path / "seed-10.pt", tmp_path / "bad.pt", tmp_path / "seed-2.pt"]
    sweep(files, "parentheses").save(tmp_path / "sweep.json")
    (view,) = opened_at_start(str(tmp_path / "sweep.json"))
    return f"?network={DYCK}&word=([])&drawer=sweep&sweep={view['sweep']}"


def test_a_sweep_is_sorted_and_a_click_opens_a_network_with_its_result(swept: str, page: Page, address: str) -> None:
    opened(page, address, swept)
    rows = page.locator("#drawer-dash .ag-center-cols-container .ag-row")
    expect(rows).to_have_count(3)
    page.click("#drawer-dash .ag-header-cell[col-id=network] .ag-header-cell-text")
    expect(page.locator("#drawer-dash .ag-row[row-index='1']")).to_contain_text("seed-2.pt")  # after bad.pt, before 10
    expect(page.locator("#drawer-dash .ag-row[row-index='2']")).to_contain_text("seed-10.pt")
    assert page.locator("#drawer-dash .ag-row[row-index='0'] a").count() == 0  # bad.pt
    page.click("#drawer-dash .ag-row[row-index='2'] a")
    expect(page.locator("#drawer")).to_be_hidden()
    expect(page.locator("#network option:checked")).to_have_text("seed-10.pt of sweep.json (result)")
    expect(page.locator("#claim-list")).to_contain_text("proved equal to parentheses")
    expect(page.locator("#sentence")).to_contain_text("the automaton agrees with the network to the end")
    page.click("[data-drawer=sweep]")
    expect(rows).to_have_count(3)
    page.reload()  # the address holds it
    expect(page.locator("#network option:checked")).to_have_text("seed-10.pt of sweep.json (result)")
    expect(rows).to_have_count(3)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_serious_is_found_on_a_sweep_and_a_result(theme: str, swept: str, page: Page, address: str) -> None:
    source = axe()
    opened(page, address, swept)
    expect(page.locator("#drawer .ag-row").first).to_be_visible()
    if theme == "dark":
        page.click("#drawer-close")
        page.click("#shade")
        page.click("[data-drawer=sweep]")
    page.evaluate(source)
    assert page.evaluate(RUN) == [], "the sweep"
    page.click("#drawer-close")
    page.set_input_files("#upload", {"name": "away.json", "mimeType": "application/json", "buffer": away()})
    expect(page.locator("#automaton-says")).to_contain_text("is not here, only its automaton")
    expect(page.locator("#sentence")).to_contain_text("only the automaton runs")
    expect(page.locator("#table-1 td").first).to_be_visible()
    assert page.evaluate(RUN) == [], "a result without its network"


def away() -> bytes:
    """Return a result of a network that is nowhere."""
    content = json.loads((ZOO / "nnpda-1n0n.json").read_bytes())
    content["network"] |= {"sha256": "0" * 64, "path": "runs/mine.pt"}
    del content["digests"]  # they are of the network that there was
    return json.dumps(content).encode()


def test_a_result_is_opened_as_a_network_is_and_other_json_is_refused(bench: Page) -> None:
    held: list[Any] = []
    bench.route("**/api/word?*", lambda route: held.append(route))
    bench.set_input_files("#upload", ZOO / "nnpda-1n0n.json")
    expect(bench.locator("#network option:checked")).to_have_text("nnpda-1n0n.json (result)")
    expect(bench.locator("#automaton-says")).to_have_text("as the saved result says")
    expect(bench.locator("#extract")).to_be_hidden()
    other: Any = {"name": "x.json", "mimeType": "application/json", "buffer": b'{"word": "ab"}'}
    bench.set_input_files("#upload", other)
    expect(bench.locator("#problem")).to_contain_text("x.json: JSON, but neither a network nor a saved result")
    held[0].continue_()  # a word that is on its way does not take away what is said of the file
    expect(bench.locator("#sentence")).not_to_be_empty()
    expect(bench.locator("#problem")).to_contain_text("x.json: JSON")


def test_a_word_of_10_000_symbols_is_seen_before_all_of_it_is_read(bench: Page) -> None:
    entered(bench, "#word", "([])" * 2_500)
    expect(bench.locator("#sentence")).to_contain_text("The first 240 of 10,000 symbols are shown")
    expect(bench.locator("#steps")).to_have_text("of 10,000")
    bench.keyboard.press("ArrowRight")
    step(bench, 2)
    expect(bench.locator("#sentence")).to_contain_text("10,000 symbols;", timeout=120_000)
    assert bench.locator("#step").input_value() == "2"  # whoever walked meanwhile stays there
    bench.keyboard.press("End")
    step(bench, 10_000)


def test_nothing_in_the_accuracy_figure_lies_upon_another_on_a_telephone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, address, f"?network={DYCK}&word=([])&drawer=accuracy")
    expect(page.locator("#drawer .legend").first).to_be_visible()
    until(page, "document.querySelectorAll('#drawer .annotation-text').length > 1")
    overlaps = page.evaluate(
        """() => {
        const texts = [...document.querySelectorAll("#drawer .gtitle, #drawer .legend .legendtext, #drawer .xtitle, "
            + "#drawer .annotation-text")].map((one) => [one.textContent, one.getBoundingClientRect()]);
        const frame = document.querySelector("#drawer .figure").getBoundingClientRect();
        const out = texts.filter(([, a]) => a.left < frame.left - 1 || a.right > frame.right + 1).map(([text]) => text);
        for (const [i, [text, a]] of texts.entries()) for (const [other, b] of texts.slice(i + 1)) {
            const beside = a.left >= b.right || b.left >= a.right, above = a.top >= b.bottom || b.top >= a.bottom;
            if (!beside && !above) out.push(`${text} / ${other}`);
        }
        return out;
    }"""
    )
    assert overlaps == []


def test_the_units_of_the_javascript(bench: Page) -> None:
    units = Path(__file__).with_name("units.js").read_text(encoding="utf-8").partition("export default ")[2]
    count, wrong = bench.evaluate(units.rstrip().removesuffix(";"))
    assert (count, wrong) == (10, [])
