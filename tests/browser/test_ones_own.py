"""What is one's own: saved results that are opened, sweeps that the app was started with, long words, small screens."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.browser.bench import DYCK, opened, step
from tests.browser.test_accessibility import RUN, axe
from tests.browser.waiting import until
from tests.models.hand_made import parentheses_net

from stacklens.extract.accuracy import scores_by_size
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation import sweep as sweep_row
from stacklens.extract.evaluation.sweep import sweep
from stacklens.extract.extraction import extract
from stacklens.models.checkpoint import ZOO, Checkpoint, save_model
from stacklens.viz.dashboard.opening import opened_at_start

pytestmark = pytest.mark.slow
QUICK = ExtractionConfig(max_length=5, long_words=50, deep_words=1, depth=20, height=5, climbs=1, walks=5, cycles=8)


@pytest.fixture
def swept(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a sweep over two networks and a file that is none."""
    assert address  # the server is there, and its store
    monkeypatch.setattr(sweep_row, "scores_by_size", partial(scores_by_size, largest=12))
    monkeypatch.setattr(sweep_row, "extract", lambda model, language, _: extract(model, language, QUICK))
    for seed in (2, 10):
        task = {"kind": "recognition", "language": "parentheses"}
        save_model(tmp_path / f"seed-{seed}.pt", Checkpoint(parentheses_net(), task, {"seed": seed}))
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
    assert page.locator("#drawer-dash .ag-row[row-index='0'] button").count() == 0  # bad.pt
    page.click("#drawer-dash .ag-row[row-index='2'] button")
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
    expect(page.locator("#table-1 td").first).to_be_visible()
    assert page.evaluate(RUN) == [], "a result without its network"


def away() -> bytes:
    """Return a result of a network that is nowhere."""
    content = json.loads((ZOO / "nnpda-1n0n.json").read_bytes())
    content["network"] |= {"sha256": "0" * 64, "path": "runs/mine.pt"}
    del content["digests"]  # they are of the network that there was
    return json.dumps(content).encode()


def test_a_result_is_opened_as_a_network_is_and_without_its_network_its_automaton_runs(
    page: Page, address: str
) -> None:
    opened(page, address)
    page.set_input_files("#upload", ZOO / "nnpda-1n0n.json")
    expect(page.locator("#network option:checked")).to_have_text("nnpda-1n0n.json (result)")
    expect(page.locator("#automaton-says")).to_have_text("as the saved result says")
    expect(page.locator("#extract")).to_be_hidden()
    page.set_input_files("#upload", {"name": "away.json", "mimeType": "application/json", "buffer": away()})
    expect(page.locator("#automaton-says")).to_have_text(
        "The network of away.json is not here, only its automaton; "
        "open runs/mine.pt, too, to see what the network does."
    )
    expect(page.locator("#drawing .state").first).to_be_visible()
    page.fill("#word", "1100")
    page.press("#word", "Enter")
    expect(page.locator("#sentence")).to_contain_text("The automaton accepts the word")
    expect(page.locator("#table-1 caption")).to_contain_text("of 4")  # the word before may have been accepted, too
    page.keyboard.press("End")
    step(page, 4)
    other: Any = {"name": "x.json", "mimeType": "application/json", "buffer": b'{"word": "ab"}'}
    page.set_input_files("#upload", other)
    expect(page.locator("#problem")).to_contain_text("x.json: JSON, but neither a network nor a saved result")


def test_a_word_of_10_000_symbols_is_seen_before_all_of_it_is_read(page: Page, address: str) -> None:
    opened(page, address)
    page.fill("#word", "([])" * 2_500)
    page.press("#word", "Enter")
    expect(page.locator("#sentence")).to_contain_text("The first 240 of 10,000 symbols are shown")
    expect(page.locator("#steps")).to_have_text("of 10,000")
    page.keyboard.press("ArrowRight")
    step(page, 2)
    expect(page.locator("#sentence")).to_contain_text("10,000 symbols;", timeout=120_000)
    assert page.locator("#step").input_value() == "2"  # whoever walked meanwhile stays there
    page.keyboard.press("End")
    step(page, 10_000)


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
