"""In a real browser: nothing serious for axe-core, everything by keyboard, changed steps, and the drawers."""

import csv
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.browser.bench import DYCK, entered, opened, saved, serving, step, until

import stacklens as sl
from stacklens.papers.results import read_results
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.drawers import FILLED
from stacklens.viz.papers import paper_tables

pytestmark = pytest.mark.slow
RUN = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).slice(0, 4).join(" | ")}`)"""
# of another theme the same page is shown in other colours
COLOURS = RUN.replace("resultTypes:", 'runOnly: ["color-contrast", "link-in-text-block"], resultTypes:')


def axe() -> str:
    """Return axe-core, which comes with a package of the tests."""
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-playwright-python is not installed: pip install 'stacklens[test]'")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_serious_is_found_on_any_view(theme: str, page: Page, address: str) -> None:
    source, run = axe(), RUN if theme == "light" else COLOURS
    opened(page, address, f"?network={DYCK}&word=([])&step=2")
    if theme == "dark":
        page.click("#shade")
    page.evaluate(source)
    for drawer in ["", "networks", "extract", *({*FILLED} - {"sweep"})]:  # without a sweep there is no button
        if drawer:
            page.click(f"[data-drawer={drawer}]")
            expect(page.locator("#drawer-title")).not_to_be_empty()
        if drawer in ("networks", "extract"):
            expect(page.locator("#drawer-body")).not_to_be_empty()
        if drawer in ("accuracy", "causes", "figures"):
            expect(page.locator(".figure .main-svg").first).to_be_visible()
        if drawer in ("checks", "words", "automaton", "papers"):
            expect(page.locator("#drawer .ag-row").first).to_be_visible()
        assert page.evaluate(run) == [], drawer or "the bench"
    page.keyboard.press("Escape")
    page.uncheck("#raw")
    assert page.evaluate(run) == [], "the automaton alone"
    page.select_option("#compare", "kind")
    page.click("#card-button")
    expect(page.locator("#table-2 td").first).to_be_visible()
    assert page.evaluate(run) == [], "two runs and the card"
    page.click("#change")
    expect(page.locator("#against-says")).to_contain_text("in step 2")
    assert page.evaluate(run) == [], "a changed step"
    page.focus("#keys")
    page.keyboard.press("?")
    expect(page.locator("#sheet")).to_be_visible()
    assert page.evaluate(run) == [], "the sheet of keys"
    for search in (
        "?network=nnpda-palindrome&word=abcb",
        f"?network={DYCK}&word={'([])' * 30}",
    ):  # segments, and errors
        opened(page, address, search)
        page.keyboard.press("n")
        page.evaluate(source)
        assert page.evaluate(run) == [], search


def test_every_control_can_be_reached_by_tab_and_its_focus_is_seen(bench: Page) -> None:
    reached: set[str] = set()
    for _ in range(90):
        bench.keyboard.press("Tab")
        name, outline = bench.evaluate(
            "[document.activeElement.id || document.activeElement.dataset.drawer || '', "
            "parseFloat(getComputedStyle(document.activeElement).outlineWidth)]"
        )
        if name:
            assert outline >= 1, name
            reached.add(name)
    assert {"network", "word", "forward", "step", "compare", "shade", "keys", "extract", "checks", "papers"} <= reached
    assert "upload" not in reached  # the button before it opens a file


def test_the_first_tab_skips_to_the_steps_whose_columns_have_heads(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=([])&step=2")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#bench")).to_be_focused()
    expect(page.locator("#table-1").get_by_role("columnheader", name="4", exact=True)).to_be_visible()
    expect(page.locator("#table-1").get_by_role("rowheader", name="predicted")).to_be_visible()
    page.locator("#table-1").get_by_role("columnheader", name="3", exact=True).click()
    step(page, 3)


BORDERS = """() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const light = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const linear = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((one) => one / 255)
            .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const ground = light(getComputedStyle(document.body).backgroundColor), out = [];
    const controls = "button, select, input:not([type=radio], [type=checkbox], [type=file])";
    for (const one of document.querySelectorAll(controls)) {
        const style = getComputedStyle(one), edge = light(style.borderTopColor);
        if (!one.checkVisibility() || style.borderTopStyle === "none" || one.closest(".ag-root-wrapper")) continue;
        const contrast = (Math.max(edge, ground) + 0.05) / (Math.min(edge, ground) + 0.05);
        if (contrast < 3) out.push(`${one.id || one.textContent}: ${contrast.toFixed(2)}`);
    }
    return out;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_edge_of_every_control_can_be_seen(theme: str, page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=([])&step=2&drawer=extract&against=change&change=2")
    expect(page.locator("#extraction input").first).to_be_visible()
    if theme == "dark":
        page.click("#shade")
    assert page.evaluate(BORDERS) == []


def test_keys_open_drawers(bench: Page) -> None:
    for button in bench.locator("[data-drawer]:not([hidden])").all():
        key, drawer = button.get_attribute("data-key"), button.get_attribute("data-drawer")
        bench.keyboard.press(f"Shift+{key}")
        expect(bench.locator(f"[data-drawer={drawer}]")).to_have_attribute("aria-expanded", "true")
    bench.keyboard.press("Shift+S")  # there is no sweep
    expect(bench.locator("[data-drawer=extract]")).to_have_attribute("aria-expanded", "true")


def test_a_drawer_stands_beside_what_goes_on_and_is_as_high_as_one_wants(bench: Page) -> None:
    bench.click("[data-drawer=checks]")
    edges = "['bench', 'automaton', 'drawer'].map((id) => document.getElementById(id).getBoundingClientRect())"
    word, automaton, drawer = bench.evaluate(f"{edges}.map(({{ top, bottom }}) => [top, bottom])")
    assert max(word[1], automaton[1]) <= drawer[0]
    before = int(bench.input_value("#step"))
    bench.click("#forward")
    expect(bench.locator("#step")).to_have_value(str(before + 1))
    bench.focus("#grip")
    bench.keyboard.press("ArrowUp")
    until(bench, f"{edges}[2].top < {drawer[0]}")
    bench.reload()
    expect(bench.locator("#grip")).to_have_value("45")


def test_keys_open_and_close_what_they_say(bench: Page) -> None:
    bench.keyboard.press("?")
    expect(bench.locator("#sheet")).to_be_visible()
    bench.keyboard.press("Escape")
    expect(bench.locator("#sheet")).to_be_hidden()
    bench.keyboard.press("/")
    bench.keyboard.type("()[")
    bench.keyboard.press("Enter")
    expect(bench.locator("#sentence")).to_contain_text("Right on all 3")
    bench.keyboard.press("End")
    step(bench, 3)
    bench.focus("#drawing .state")
    bench.keyboard.press("Enter")
    expect(bench.locator("#drawer")).to_contain_text("words that visit q0")
    bench.keyboard.press("Escape")
    expect(bench.locator("#drawer")).to_be_hidden()


# of each panel, and of each part of a panel, what is seen of all that stands in it; then which of them meet
MEET = """() => {
    const seen = (one) => {
        let { left, top, right, bottom } = one.getBoundingClientRect();
        for (let up = one.parentElement; up; up = up.parentElement) {
            if (getComputedStyle(up).overflowY === "visible") continue;
            const frame = up.getBoundingClientRect();
            [left, top] = [Math.max(left, frame.left), Math.max(top, frame.top)];
            [right, bottom] = [Math.min(right, frame.right), Math.min(bottom, frame.bottom)];
        }
        return { left, top, right, bottom };
    };
    const whole = (panel) => {
        const boxes = [panel, ...panel.querySelectorAll("*")].filter((one) => one.checkVisibility()).map(seen);
        const some = boxes.filter((box) => box.right > box.left && box.bottom > box.top);
        return ["left", "top"].map((side) => Math.min(...some.map((box) => box[side])))
            .concat(["right", "bottom"].map((side) => Math.max(...some.map((box) => box[side]))));
    };
    const name = (one) => one.id || one.className || one.textContent;
    const meeting = (some) => some.flatMap((one, n) => some.slice(n + 1).filter((other) => {
        const a = whole(one), b = whole(other);
        return [0, 1].every((way) => Math.min(a[way + 2], b[way + 2]) - Math.max(a[way], b[way]) > 1);
    }).map((other) => `${name(one)} on ${name(other)}`));
    const all = (found) => [...document.querySelectorAll(found)];
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    return [...meeting(all("#bench, #automaton, #claims")), ...meeting(all("#bench > :not(.unseen)")),
            ...meeting(all(".one, #stacks")), ...meeting(all(".one:not([hidden]) > *")),
            ...meeting(all("#automaton > *")), ...meeting(all("#claim-list > *")), ...(wide > 0 ? ["too wide"] : [])];
}"""


@pytest.mark.parametrize(
    ("width", "height"),
    [(390, 844), (900, 700), (1024, 768), (1440, 900), (720, 450), (320, 256), (1200, 540), (901, 561), (640, 360)],
    ids=["phone", "900", "1024", "1440", "1440 at 200 %", "1280 at 400 %", "low", "least with columns", "lying phone"],
)
def test_no_two_panels_meet_and_every_button_can_be_clicked(width: int, height: int, page: Page, address: str) -> None:
    page.set_viewport_size({"width": width, "height": height})
    opened(page, address, f"?network={DYCK}&word={DRIFTS}&step=52")
    step(page, 52)
    assert page.evaluate(MEET) == []
    if width >= 1024 and height >= 768:
        assert page.evaluate("document.querySelector('.strip').offsetHeight") <= 120
        assert page.evaluate("document.documentElement.scrollHeight") <= height
    for button in page.locator("button:visible:enabled").all():
        button.click(trial=True)  # playwright scrolls it into view, and looks whether anything is over it
    claims = page.locator("#claim-list button:not(#repair)")
    for number in range(claims.count()):
        entered(page, "#word", "()")
        claims.nth(number).click()
        expect(page.locator("#word")).not_to_have_value("()")
    page.locator("summary", has_text="save").click()
    page.locator("[data-save=csv]").click(trial=True)
    page.locator("summary", has_text="in Python").click()
    page.locator("#word-python").click()


# ---- A step that is changed on the page: controls, keys, links, and the numbers of `intervene`. ----
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
    entered(page, "#change-numbers", "0.9")
    expect(page.locator("#against-says")).to_contain_text("With 0.9 in place of 0.44 on top before step 4, it says")
    seen = sl.intervene(DYCK, WORD, at=3, set={"cells": 0.9}, stack=0)
    plain = sl.trace(DYCK, WORD)
    until(page, "document.querySelectorAll('#table-2 tr.symbol td').length === 6")
    assert numbers(page, "#table-2", "push") == shown(seen.actions[0, :, 0, 0].tolist())
    assert numbers(page, "#table-2", "stack top") == shown(seen.cells[0, :, 0, 0, 0].tolist())
    assert numbers(page, "#table-1", "stack top") == shown(plain.cells[0, :, 0, 0, 0].tolist())
    page.select_option("#change-what", "hidden")
    page.select_option("#change-to", "source")
    entered(page, "#change-from", "([")
    expect(page.locator("#against-says")).to_contain_text("after 2 of the 2 symbols of ([")
    entered(page, "#change-after", "1")
    expect(page.locator("#against-says")).to_contain_text("after 1 of the 2 symbols of ([")
    expect(page).to_have_url(re.compile(r"to=source&from=%28%5B&after=1"))
    page.select_option("#change-what", "unit")
    expect(page.locator("#against-says")).to_contain_text("in hidden unit 1 before step 4")
    page.get_by_label("rounded", exact=True).check()
    expect(page.locator("#word-python")).to_contain_text("set={'hidden': 0.0}, units=[0], rounded=True)")


@pytest.mark.parametrize(
    ("search", "said"),
    [
        (CHANGED.replace("change=4", "change=9"), "there is no step 9 to change: the word has 6."),
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


# ---- The drawers in a real browser: checks, many words, accuracy, figures, papers, networks. ----
NAME = "stack-rnn-anbn"
DRIFTS = "()" + "[()]" * 12 + "()"  # on which the soft network fails


def test_a_counterexample_of_the_checks_comes_onto_the_bench(bench: Page, tmp_path: Path) -> None:
    bench.click("[data-drawer=checks]")
    expect(bench).to_have_url(re.compile("drawer=checks"))
    expect(bench.locator("#drawer")).to_contain_text("transitions are taken by words")
    file = saved(bench, bench.locator("#drawer button:has-text('CSV')").first, tmp_path)
    assert file.name == f"{DYCK}-checks.csv"
    assert file.read_text(encoding="utf-8-sig").startswith('"words","up to length"')
    file = saved(bench, bench.locator("#drawer a:has-text('LaTeX')").first, tmp_path)
    assert file.name == f"{DYCK}-checks.tex"
    assert "\\toprule\nwords & up to length & " in file.read_text(encoding="utf-8")
    bench.locator("#drawer .ag-row:has-text('rounded network') .ag-cell a").first.click()
    expect(bench.locator("#sentence")).to_contain_text("the automaton agrees with the rounded network up to step")
    bench.go_back()
    bench.go_back()
    expect(bench.locator("#drawer")).to_be_hidden()


def test_many_words_are_judged_and_one_is_opened_where_runs_part(page: Page, address: str, tmp_path: Path) -> None:
    opened(page, address, f"?network={DYCK}&word=()&drawer=words")
    expect(page.locator("#many")).not_to_have_value("")
    page.fill("#many", f"(())\n{DRIFTS}\n[]")
    page.click("#judge")
    expect(page.locator("#judged-says")).to_have_text("✗ 3 words: not all agree on 1 of them.")
    save = page.locator("#drawer-dash button:has-text('CSV')")
    rows = list(csv.DictReader(saved(page, save, tmp_path).read_text("utf-8-sig").splitlines()))
    assert [row["word"] for row in rows] == ["(())", DRIFTS, "[]"]
    page.check("#only")
    expect(page.locator("#drawer .ag-row")).to_have_count(1)
    page.locator("#drawer .ag-cell a").click()
    expect(page.locator("#word")).to_have_value(DRIFTS)
    expect(page.locator("#step")).to_have_value(rows[1]["parts at"])
    page.fill("#many", "()\n(x")
    page.click("#judge")
    expect(page.locator("#drawer-says")).to_have_text("line 2: symbol 'x' is not in the alphabet ( ) [ ].")


def test_figures_follow_the_word_and_the_theme(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=([])&drawer=figures&figure=operations")
    title = "document.querySelector('.figure .js-plotly-plot')?.layout?.title.text"
    until(page, f"({title} || '').includes('on ([])')")
    entered(page, "#word", "()")
    until(page, f"({title} || '').includes('on ():')")
    page.click("#shade")
    until(page, "document.querySelector('.figure .js-plotly-plot')?.layout?.paper_bgcolor === '#16181D'")
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
    expect(page.locator("#drawer code").first).to_have_text(found.command)
    expect(page.locator("#drawer-dash h3").first).to_have_text(found.tables[0].title)
    expect(page).to_have_url(re.compile("table=suzgun2019-table2"))
    page.select_option("#paper", "sun1993-figure-10")  # a figure by its number, the paper's and ours side by side
    expect(page.locator("#drawer .beside img")).to_have_count(2)
    places = [one.bounding_box() for one in page.locator("#drawer .beside img").all()]
    assert places[0]["x"] + places[0]["width"] <= places[1]["x"]
    page.click("#drawer .beside a[href^='?']")
    expect(page.locator("#network")).to_have_value("nnpda-palindrome")


def test_a_certified_chip_shows_its_boxes_and_the_bench_says_what_its_colours_stand_for(
    page: Page, address: str
) -> None:
    opened(page, address, "?network=marnn-stack-rnn-dyck-2&word=([])&chip=follows+the+network")
    says = [" ".join(one.split()) for one in page.locator("#legend span").all_inner_texts()]
    assert says == ["0 0.5: least |p − 0.5|", "0 1: push, pop, stack top …", "▲ push", "▼ pop", "never pushed"]
    page.click("#claim-list a:text('show the boxes')")
    expect(page.locator("#drawer .figure .gtitle")).to_contain_text("21 boxes", timeout=60_000)
    expect(page.locator("#drawer .ag-row").first).to_contain_text("stack 1, symbol s0")


def test_networks_stand_under_their_papers_with_one_line_each(bench: Page) -> None:
    bench.click("[data-drawer=networks]")
    line = bench.locator("#drawer li", has_text="nnpda-palindrome")
    expect(line).to_contain_text("recognition on palindrome, 3 units. Proved equal to palindrome")
    line.get_by_role("link").click()
    expect(bench.locator("#network option:checked")).to_have_text("nnpda-palindrome")
    expect(bench).to_have_url(re.compile("network=nnpda-palindrome"))
    expect(bench.locator("#word")).to_have_value(re.compile("^[abc]+$"))
    bench.click("#card-button")
    expect(bench.locator("#card")).to_contain_text("Sun et al. 1993")
    expect(bench.locator("#drawer")).to_be_hidden()


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


def test_a_figure_is_saved_light_as_it_stands_and_as_wide_as_a_column_in_all_formats(
    page: Page, address: str, tmp_path: Path
) -> None:
    page.emulate_media(color_scheme="dark")
    opened(page, address, "?network=stack-rnn-anbn&word=aabb&rounded=1&drawer=figures&figure=predictions")
    expect(page.locator(".figure .main-svg").first).to_be_visible()
    width = page.evaluate("document.querySelector('.js-plotly-plot').getBoundingClientRect().width")
    assert f'width="{width}"' in saved(page, page.locator("[data-kind=svg]"), tmp_path).read_text(encoding="utf-8")
    page.get_by_label("how wide").select_option("85")
    page.set_default_timeout(120_000)  # a browser is started for the PDF
    files = {kind: saved(page, page.locator(f"[data-kind={kind}]"), tmp_path) for kind in ("svg", "png", "pdf")}
    assert {file.name for file in files.values()} == {
        f"stack-rnn-anbn-rounded-aabb-predictions.{kind}" for kind in files
    }
    drawn = files["svg"].read_text(encoding="utf-8")
    (width,) = re.findall(r'^<svg[^>]* width="([\d.]+)"', drawn)
    assert float(width) / 96 * 25.4 == pytest.approx(85, abs=0.1)
    assert all(f">{one}<" in drawn for one in ("push", "pop", "probability"))
    assert "fill: rgb(27, 31, 36)" in drawn  # ink on white paper, also from a dark page
    wide = int.from_bytes(files["png"].read_bytes()[16:20], "big")
    assert wide / 600 * 25.4 == pytest.approx(85, abs=0.5)
    (box,) = {*re.findall(rb"/MediaBox \[0 0 ([\d.]+) ", files["pdf"].read_bytes())}
    assert float(box) / 72 * 25.4 == pytest.approx(85, abs=0.5)
    assert b"/Font" in files["pdf"].read_bytes()  # letters, no picture of them


def test_a_server_that_is_gone_is_said_in_the_drawer(browser: Browser, address: str) -> None:
    page = browser.new_context().new_page()  # one whose errors are meant
    opened(page, address, f"?network={DYCK}&word=()&drawer=accuracy")
    expect(page.locator(".figure .main-svg").first).to_be_visible()
    page.context.set_offline(True)
    page.click("[data-drawer=checks]")
    expect(page.locator("#drawer-says")).to_contain_text("The server does not answer.")
    page.context.set_offline(False)
    page.click("[data-drawer=accuracy]")
    expect(page.locator(".figure .main-svg").first).to_be_visible()
    expect(page.locator("#drawer-says")).to_be_empty()
    page.context.close()


def test_a_page_comes_back_with_its_server(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path))
    page = browser.new_context().new_page()
    with serving(new_application()) as address:
        opened(page, address, f"?network={DYCK}&word=([])&step=2&against=kind&chip=horizon")
    entered(page, "#word", "([]")
    expect(page.locator("#problem")).to_contain_text("The server does not answer.")
    with serving(new_application(), int(address.rsplit(":", 1)[1].strip("/"))):
        expect(page.locator("#table-2 tr.symbol td")).to_have_text(["(", "[", "]"])
        expect(page.locator("#chips [aria-pressed=true]")).to_contain_text("horizon")
        expect(page.locator("#problem")).to_be_empty()
    page.context.close()


def test_the_bench_needs_nothing_of_dash_and_a_step_asks_it_nothing(page: Page, address: str) -> None:
    held, sent = list[Route](), list[str]()
    page.route("**/_dash-component-suites/**", lambda route: held.append(route))
    page.on("request", lambda one: sent.append(one.url) if "api/drawer" in one.url else None)
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
        entered(page, "#step", f"{number - 0.3}")
        step(page, number)
    assert len(sent) == asked
