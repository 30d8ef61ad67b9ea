"""axe-core finds nothing serious on any view, light and dark; everything can be done with the keyboard."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.bench import DYCK, opened, step

from stacklens.viz.dashboard.requests import DRAWERS

pytestmark = pytest.mark.slow

RUN = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
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
    for drawer in [one for one in DRAWERS if one != "sweep"]:  # without a sweep there is no button; see test_ones_own
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


@pytest.mark.parametrize("search", ["?network=nnpda-palindrome&word=abcb", f"?network={DYCK}&word={'([])' * 30}"])
def test_nothing_serious_is_found_on_errors_and_segments(search: str, page: Page, address: str) -> None:
    source = axe()
    opened(page, address, search)
    page.evaluate(source)
    assert page.evaluate(RUN) == []
    page.keyboard.press("n")
    page.keyboard.press("0")
    assert page.evaluate(RUN) == []


def test_every_control_can_be_reached_by_tab_and_its_focus_is_seen(page: Page, address: str) -> None:
    opened(page, address)
    reached: set[str] = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "[document.activeElement.id || document.activeElement.dataset.drawer || '', "
            "parseFloat(getComputedStyle(document.activeElement).outlineWidth)]"
        )
        if name:
            assert outline >= 1, name
            reached.add(name)
    assert {"network", "word", "forward", "step", "compare", "shade", "keys", "extract", "checks", "papers"} <= reached
    assert "upload" not in reached  # the button before it opens a file


def test_keys_open_and_close_what_they_say(page: Page, address: str) -> None:
    opened(page, address)
    page.keyboard.press("?")
    expect(page.locator("#sheet")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#sheet")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("()[")
    page.keyboard.press("Enter")
    expect(page.locator("#sentence")).to_contain_text("Right on all 3")
    page.keyboard.press("End")
    step(page, 3)
    page.focus("#drawing .state")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer")).to_contain_text("words that visit q0")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()


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
    [(390, 844), (900, 700), (1440, 900), (720, 450), (320, 256), (1200, 540), (901, 561), (640, 360)],
    ids=["phone", "900", "1440", "1440 at 200 %", "1280 at 400 %", "low", "least with columns", "lying phone"],
)
def test_no_two_panels_meet_and_every_button_can_be_clicked(width: int, height: int, page: Page, address: str) -> None:
    page.set_viewport_size({"width": width, "height": height})
    opened(page, address, f"?network={DYCK}&word={'()' + '[()]' * 12 + '()'}&step=52")
    step(page, 52)
    assert page.evaluate(MEET) == []
    for button in page.locator("button:visible:enabled").all():
        button.click(trial=True)  # playwright scrolls it into view, and looks whether anything is over it
    for number in range(page.locator("#claim-list button").count()):
        page.fill("#word", "()")
        page.keyboard.press("Enter")
        page.locator("#claim-list button").nth(number).click()
        expect(page.locator("#word")).not_to_have_value("()")
    page.locator("summary", has_text="save").click()
    page.locator("[data-file=csv]").click(trial=True)
    page.locator("summary", has_text="in Python").click()
    page.locator("#word-python").click()
