"""`make screenshots`: the pictures of the page in the README, taken in Chromium of a page that runs for it alone."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).parent
NETWORK, WORD = "marnn-stack-rnn-dyck-2", "([]())[([])]"
_WIDE = {"width": 1280, "height": 900}


def main() -> None:
    """Write docs/probe.png, docs/automaton.png, docs/trust.png and docs/papers.png."""
    program = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("error: no Chromium: install one (Debian: apt-get install chromium), or name it in BROWSER_PATH")
    with _served() as address, sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        page = browser.new_page(viewport=_WIDE, color_scheme="light")  # type: ignore[arg-type]
        page.set_default_timeout(120_000)
        for name in ("automaton", "probe", "trust", "papers"):  # the automaton first: others show it once it is there
            page.goto(f"{address}?page={name}&network={NETWORK}&word={WORD}&step=4")
            _ready(page, name)
            page.screenshot(path=FOLDER / f"{name}.png")
            print(f"wrote docs/{name}.png")
        browser.close()


@contextmanager
def _served() -> Iterator[str]:
    """Yield the address of a server whose store is empty."""
    with tempfile.TemporaryDirectory() as store:
        os.environ["STACKLENS_CACHE"] = store
        from waitress import create_server

        from stacklens.viz.dashboard.app import new_application

        serving = create_server(new_application().server, host="127.0.0.1", port=0, threads=8)
        threading.Thread(target=serving.run, daemon=True).start()
        yield f"http://127.0.0.1:{serving.effective_port}/"
        serving.close()


def _ready(page: Page, name: str) -> None:
    """Wait until the page called ``name`` shows what there is to see."""
    if name == "automaton":
        page.click("#automaton-extract")
        page.wait_for_selector("#automaton-drawing svg")
    elif name == "probe":
        page.wait_for_selector("#picture .band", state="attached")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(2_000)  # fonts and figures settle


if __name__ == "__main__":
    main()
