"""What misled on the earlier pages, each once; the page with a token; and several users on several processes."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.browser.bench import DYCK, cell, entered, opened, saved, serving, step, until
from tests.shell.commands import page_server

from stacklens.models.checkpoint import ZOO
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.networks import LARGEST_UPLOAD
from stacklens.viz.dashboard.requests import Access
from stacklens.viz.style import STATE_CATEGORIES, category_colours

pytestmark = pytest.mark.slow


def test_nothing_of_the_last_network_stays_under_a_new_name(page: Page, address: str) -> None:
    opened(page, address, "?network=nnpda-1n0n&word=1100")
    held: list[Route] = []
    page.route("**/api/network?*", lambda route: held.append(route))
    page.select_option("#network", "nnpda-palindrome")
    expect(page.locator("#busy")).to_have_text("opening the network …")
    expect(page.locator("#sentence")).to_be_empty()
    expect(page.locator("#drawing svg")).to_have_count(0)
    expect(page.locator("#table-1 td")).to_have_count(0)
    expect(page.locator("#claim-list li")).to_have_count(0)
    until(page, "true")
    held[0].fulfill(status=400, json={"problem": "no luck."})
    expect(page.locator("#problem")).to_have_text("no luck.")
    expect(page.locator("#drawing svg")).to_have_count(0)


def test_nothing_of_the_last_word_stays_after_an_error_and_the_page_lives_on(bench: Page) -> None:
    entered(bench, "#word", "(x")
    expect(bench.locator("#problem")).to_have_text("symbol 'x' is not in the alphabet ( ) [ ].")
    expect(bench.locator("#sentence")).to_be_empty()
    expect(bench.locator("#table-1 td")).to_have_count(0)
    expect(bench.locator("#drawing .lit")).to_have_count(0)
    entered(bench, "#word", "()")
    expect(bench.locator("#problem")).to_be_empty()
    expect(bench.locator("#sentence")).to_contain_text("Right on all 2")


def test_a_figure_that_is_on_its_way_says_so_and_shows_no_empty_axes(page: Page, address: str) -> None:
    held: list[Route] = []
    page.route("**/plotly*.js", lambda route: held.append(route))
    opened(page, address, f"?network={DYCK}&word=([])&drawer=accuracy")
    expect(page.locator(".figure")).to_be_visible()
    said = "getComputedStyle(document.querySelector('.figure'), '::before').content"
    assert page.evaluate(said) == '"drawing …"'
    expect(page.locator(".figure .xtick")).to_have_count(0)
    for _ in range(100):
        if held:
            break
        page.wait_for_timeout(50)
    held[0].continue_()
    expect(page.locator(".figure .main-svg").first).to_be_visible()
    assert page.evaluate(said) == "none"


FAILING = "()" + "[()]" * 12 + "()"  # the network is wrong after the last symbol, the automaton is right


def test_colours_beyond_the_palettes_are_told_apart_and_the_same_in_figures(bench: Page) -> None:
    ask = "import('/assets/page.js').then((page) => Array.from({length: 16}, (_, one) => page.colourOf('%s', one)))"
    names = [f"s{number}" for number in range(16)]
    symbols, states = (bench.evaluate(ask % palette) for palette in ("stack", "state"))
    assert symbols == [*category_colours(names).values()]
    assert states == [*category_colours(names, STATE_CATEGORIES).values()]
    assert len({*symbols, *states}) == 32


@pytest.mark.parametrize("search", ["", "&against=kind"])
def test_the_cross_is_on_the_wrong_answer_and_can_be_seen(search: str, page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word={FAILING}&step=52{search}")
    if search:  # the table is drawn again once the other run is here
        expect(page.locator("#against-says")).not_to_have_text("")
    said, told = cell(page, "predicted", 52), cell(page, "automaton says", 52)
    expect(said).to_have_class("w")
    expect(told).to_have_class("r d")
    assert [said.inner_text(), told.inner_text()] == ["{([]}", "{([}"]
    for one, place, sign in ((said, "after", "✗"), (told, "before", "≠")):
        assert one.evaluate(f"one => getComputedStyle(one, '::{place}').content") == f'"{sign}"'
        assert one.evaluate(
            """one => {
            const text = document.createRange(), frame = one.getBoundingClientRect();
            text.selectNodeContents(one);
            const { left, right } = text.getBoundingClientRect();
            return one.scrollWidth <= one.clientWidth && frame.left <= left + 1 && right <= frame.right - 8;
        }"""
        ), "text and sign have room beside one another"
    told.hover()
    expect(told).to_have_attribute("title", "step 52, reads ): automaton says {( [}, right, not what the network says")
    step(page, 52)
    spoken = "predicted {( [ ]}, wrong; operation pop 1; automaton says {( [}, right, not what the network says"
    expect(page.locator("#now")).to_contain_text(spoken)


# of a row, what stands at each step and its colour where rows are drawn as colours
COLOURS = """(id) => import('/assets/word.js').then(({ table }) => {
    const row = table.data.rows.find((one) => (one.id || one.name) === id);
    return row.at.map((at, t) => [row.names[at], table.colour(row, t, table.scale(row))]);
})"""


def test_what_is_read_and_a_height_have_no_stack_symbols_colour(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word={'([([])])' * 4}&step=1")
    read, top, heights, said = (dict(page.evaluate(COLOURS, row)) for row in ("symbol", "top", "height", "said"))
    strip = page.evaluate("import('/assets/page.js').then((m) => [0, 1, 2, 3].map((at) => m.shade(at, 4)))")
    assert read == dict(zip("()[]", strip, strict=True))
    assert len(set(strip)) == 4
    assert all(colour.startswith("rgba(27,31,36,") for colour in [*read.values(), *said.values()])
    assert not {*top.values()} & {*read.values(), *said.values()}
    strength = [float(heights[str(height)].rstrip(")").split(",")[-1]) for height in range(5)]
    assert strength == pytest.approx([0.18 * height for height in range(5)])
    assert len({heights[str(height)].rpartition(",")[0] for height in range(5)}) == 1


def test_two_runs_one_above_the_other_have_one_scale(page: Page, address: str) -> None:
    opened(page, address, "?network=nnpda-1n0n&word=10&step=1&against=word&other=11110000")
    expect(page.locator("#table-2 .segments rect").first).to_be_visible()
    pixels = [
        page.locator(f"#{table} .segments rect").first.evaluate(
            "one => one.height.baseVal.value / Number(one.textContent.split(' ').at(-1))"
        )
        for table in ("table-1", "table-2")
    ]
    assert pixels[0] == pytest.approx(pixels[1], rel=1e-3)
    for row in ("height", "reference height"):
        colours = [
            page.locator(f"#{table} tr", has=page.locator(f"th[title='{row}']"))
            .locator("td[data-step='1']")
            .evaluate("one => getComputedStyle(one).backgroundColor")
            for table in ("table-1", "table-2")
        ]
        assert colours[0] == colours[1] != "rgba(0, 0, 0, 0)", row
    page.select_option("#compare", "")
    expect(page.locator("#table-2")).to_be_hidden()
    alone = page.locator("#table-1 .segments rect").first.evaluate("one => one.height.baseVal.value")
    assert alone > 100  # by itself it has all the room again


@pytest.mark.parametrize(
    "search",
    ["drawer=zzz", "drawer=constructor", 'drawer=%22]', "drawer=", "page=toString", "drawer=figures&figure=constructor",
     "drawer=figures&figure=zzz", "drawer=papers&table=zzz", "drawer=sweep&sweep=zzz", "against=zzz", "state=%22]%5C",
     "step=1e9", "against=change&change=99&set=zzz", "against=network&other=zzz"],
)  # fmt: skip
def test_whatever_an_address_asks_for_nothing_is_thrown(search: str, page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=([])&{search}")
    expect(page.locator("#sentence")).to_contain_text("Right on all 4 symbols")
    page.wait_for_load_state("networkidle")
    page.click("#next-disagreement")
    expect(page.locator("#word")).not_to_have_value("([])")
    if search.startswith(("drawer=zzz", "drawer=c", "drawer=%", "page=")):
        expect(page.locator("#drawer")).to_be_hidden()


def test_an_unknown_network_in_a_link_opens_no_other_and_says_so(page: Page, address: str) -> None:
    page.goto(f"{address}?network=no-such-network&word=()")
    expect(page.locator("#problem")).to_contain_text("unknown network 'no-such-network': expected one of ")
    expect(page.locator("#drawer")).to_contain_text("Joulin & Mikolov 2015")
    expect(page.locator("#table-1 td")).to_have_count(0)


@pytest.mark.parametrize("place", ["#forward", "[data-drawer=checks]", "#word"])
def test_arrow_keys_walk_after_a_click_on_a_button_or_enter_in_the_box(place: str, page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=([])&step=1")
    page.click(place)
    if place == "#word":
        page.keyboard.press("Enter")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    step(page, 3)


def test_enter_does_not_wait(bench: Page) -> None:
    bench.fill("#word", "()()")
    begun = bench.evaluate("performance.now()")
    bench.keyboard.press("Enter")
    expect(bench).to_have_url(re.compile(r"word=%28%29%28%29"))
    assert bench.evaluate("performance.now()") - begun < 450  # what typing alone waits for is 500


def test_a_job_is_seen_after_a_reload_and_by_others_and_can_be_cancelled_there(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=()&drawer=extract")
    page.fill("[name=max_length]", "12")
    page.click("#extract-so")
    expect(page.locator("#job .cancel")).to_be_visible()
    page.reload()
    expect(page.locator("#job progress")).to_be_visible()
    expect(page.locator("#extract")).to_be_disabled()
    other = page.context.new_page()
    other.goto(f"{address}?network={DYCK}&word=()")
    other.click("#job .cancel")
    expect(page.locator("#job")).to_contain_text("This was stopped before it came to a result.")
    expect(page.locator("#extract")).to_be_enabled()


def test_what_somebody_types_stays_when_an_answer_comes_late(page: Page, address: str) -> None:
    held = list[Route]()
    page.route("**/api/networks*", lambda route: held.append(route))
    opened(page, address, f"?network={DYCK}&word=([])&step=2")
    page.evaluate("window.setTimeout = () => 0")  # a rest in typing is none: only Enter shows the word
    page.fill("#word", "([]")
    held[0].continue_()
    expect(page.locator("#network-list a").first).to_be_attached()
    page.keyboard.press("Enter")
    expect(page.locator("#table-1 tr.symbol td")).to_have_text(["(", "[", "]"])
    expect(page.locator("#word")).to_have_value("([]")


def test_an_extraction_anew_tells_how_far_it_is_and_its_result_is_shown(page: Page, address: str) -> None:
    opened(page, address, "?network=nnpda-1n0n&word=10&drawer=extract")
    page.fill("[name=max_length]", "4")
    page.click("#extract-so")
    expect(page.locator("#job .stage")).to_have_text(
        re.compile("waiting|trace the network|look for states|check the automaton|prove equality|certify|horizon")
    )
    expect(page.locator("#job")).to_be_hidden(timeout=300_000)
    expect(page.locator("#drawing svg")).to_be_visible()
    page.fill("[name=language]", "nonsense")
    page.click("#extract-so")
    expect(page.locator("#job")).to_contain_text("unknown language 'nonsense'", timeout=300_000)


def test_the_band_crosses_no_title(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=([])&step=1")
    band = page.locator("#table-1 .band").first.bounding_box()
    for heading in page.locator("#table-1 th[scope=row]").all():
        box = heading.bounding_box()
        assert box["x"] + box["width"] <= band["x"] + 1


def test_no_cell_is_white_in_the_dark(bench: Page) -> None:
    bench.click("#shade")
    colours = bench.locator("#table-1 td").evaluate_all(
        "cells => cells.map(cell => getComputedStyle(cell).backgroundColor)"
    )
    for colour in {*colours}:
        red, green, blue, *alpha = (float(part) for part in re.findall(r"[\d.]+", colour))
        assert (alpha and alpha[0] < 0.6) or max(red, green, blue) < 200, colour


def test_no_number_has_sixteen_digits(page: Page, address: str) -> None:
    opened(page, address, f"?network={DYCK}&word=([])&drawer=figures")
    page.select_option("#steptable", "predictions")
    expect(page.locator("#drawer .ag-row").first).to_be_visible()
    assert not re.search(r"\d\.\d{7}", page.locator("body").inner_text())


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(bench: Page, tmp_path: Path) -> None:
    bad = tmp_path / "bad.pt"
    bad.write_bytes(bytes(LARGEST_UPLOAD + 1))
    bench.set_input_files("#upload", bad)
    said = "bad.pt: 20 MB; expected a trained network, or a saved result, of at most 20 MB."
    expect(bench.locator("#problem")).to_contain_text(said)
    expect(bench.locator("#network option:checked")).to_have_text(DYCK)


def test_every_network_of_the_zoo_can_be_read_on_the_bench(page: Page, address: str) -> None:
    """Accepting rings can be seen, and every label is inside the drawing."""
    opened(page, address, "?network=nnpda-palindrome&word=aca")
    rings = page.locator("#drawing .state[data-name=q1] ellipse")
    expect(rings).to_have_count(2)
    fills = [ring.evaluate("one => getComputedStyle(one).fill") for ring in rings.all()]
    assert all(re.search(r"^none$|/ 0\.[0-3]\d*\)$", fill) for fill in fills)  # nothing, or a tint that covers no ring
    for path in sorted(ZOO.glob("*.json")):
        assert json.loads(path.read_text(encoding="utf-8"))["automaton"] is not None
        page.select_option("#network", path.stem)
        expect(page.locator("#card")).to_contain_text(path.stem)
        expect(page.locator("#drawing .state").first).to_be_visible()
        outside = page.evaluate(
            """() => {
            const frame = document.querySelector("#drawing").getBoundingClientRect();
            return [...document.querySelectorAll("#drawing .rule")].map((one) => one.getBoundingClientRect())
                .filter((box) => box.left < frame.left - 2 || box.right > frame.right + 2).length;
        }"""
        )
        assert outside == 0, path.stem


TOKEN = "a-long-token-of-ours"


@pytest.fixture(scope="module")
def closed(address: str) -> Iterator[str]:
    """Yield the address of a server that asks for a token; its store is that of ``address``."""
    del address
    with serving(new_application(Access(TOKEN))) as there:
        yield there


def watched(browser: Browser) -> tuple[Page, list[str]]:
    page, wrong = browser.new_context().new_page(), list[str]()
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    return page, wrong


def test_the_link_opens_the_page_and_the_token_is_not_seen_again(browser: Browser, closed: str, tmp_path: Path) -> None:
    page, wrong = watched(browser)
    page.goto(f"{closed}?token={TOKEN}&network=nnpda-1n0n&word=1100")
    expect(page.locator("#sentence")).not_to_be_empty()
    expect(page).to_have_url(re.compile("network=nnpda-1n0n"))
    assert TOKEN not in page.url
    entered(page, "#word", "110")
    expect(page.locator("tr.symbol td")).to_have_text(["1", "1", "0"])
    page.click("text=save")
    assert saved(page, page.locator("[data-save=csv]"), tmp_path).name == "nnpda-1n0n.csv"
    assert page.evaluate("document.cookie") == ""
    page.reload()
    expect(page.locator("tr.symbol td")).to_have_text(["1", "1", "0"])
    assert wrong == []
    page.context.close()


def test_no_other_page_can_show_this_one_in_a_frame_or_run_a_script_in_it(browser: Browser, address: str) -> None:
    page, wrong = watched(browser)
    page.goto(address)
    expect(page.locator("#sentence")).not_to_be_empty()
    script = "Object.assign(document.createElement('script'), {text: 'window.ran = 1'})"
    page.evaluate(f"() => document.body.append({script})")
    assert page.evaluate("window.ran === undefined")
    assert any("Content Security Policy" in one for one in wrong)
    page.goto("about:blank")
    page.set_content(f"<iframe src='{address}'></iframe>")
    page.wait_for_timeout(1_000)
    assert page.frames[-1].url == "chrome-error://chromewebdata/"
    page.context.close()


# ---- Several users on several server processes, as a production server has them: they share what is on disk, no more.
def opened_at(browser: Browser, place: str) -> Page:
    page = browser.new_context().new_page()
    page.set_default_timeout(30_000)
    page.goto(place)
    expect(page.locator("#sentence")).not_to_be_empty()
    return page


def test_a_file_that_one_user_opens_is_there_for_whoever_has_its_link_and_nothing_else_is_shared(
    browser: Browser, address: str
) -> None:
    one = opened_at(browser, f"{address}?network=nnpda-1n0n&word=10")
    one.set_input_files("#upload", ZOO / "nnpda-parentheses.pt")
    expect(one.locator("#network option:checked")).to_have_text("nnpda-parentheses.pt (opened)")
    expect(one).to_have_url(re.compile("network=upload-"))
    with page_server(Path(os.environ["STACKLENS_CACHE"])) as (_, line):
        found = re.search(r"http://\S+", line())
        assert found
        other = f"{found[0]}/"
        two = opened_at(browser, one.url.replace(address, other))
        expect(two.locator("#network option:checked")).to_have_text("nnpda-parentheses.pt (opened)")
        three = opened_at(browser, f"{other}?network=nnpda-1n0n&word=1100")
        expect(three.locator("#network option", has_text="nnpda-palindrome")).to_have_count(1)
        expect(three.get_by_text("(opened)")).to_have_count(0)
        expect(three.locator("#word")).to_have_value("1100")
