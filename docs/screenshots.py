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

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent
NETWORK, WORD = "marnn-stack-rnn-dyck-2-drifting", "([]())[([])]"
_WIDE = {"width": 1440, "height": 900}
_DYCK = f"network={NETWORK}&word={WORD}&step=4"
PICTURES = {  # of each file, what the address asks for
    "workbench": _DYCK,
    "compare": f"network={NETWORK}&word={'([])' * 24}&step=88&against=kind",
    "changed-step": f"{_DYCK}&against=change&change=4&set=cells&stack=1&cell=1&to=0.025",
    "checks": f"{_DYCK}&drawer=checks",
    "causes": f"{_DYCK}&drawer=causes",
    "papers": f"{_DYCK}&drawer=papers&table=suzgun2019-table2",
}


def main() -> None:
    """Write the pictures that `PICTURES` names, or those that are asked for, into docs/."""
    program = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("error: no Chromium: install one (Debian: apt-get install chromium), or name it in BROWSER_PATH")
    with _served() as address, sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        page = browser.new_page(viewport=_WIDE, color_scheme="light")  # type: ignore[arg-type]
        page.set_default_timeout(120_000)
        page.add_init_script("localStorage.setItem('introduced', 'yes')")
        for name in sys.argv[1:] or PICTURES:
            page.goto(f"{address}?{PICTURES[name]}")
            page.wait_for_selector("#table-1 .band", state="attached")
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(1_000)  # fonts and figures settle
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

        serving = create_server(new_application(), host="127.0.0.1", port=0, threads=8)
        threading.Thread(target=serving.run, daemon=True).start()
        yield f"http://127.0.0.1:{serving.effective_port}/"
        serving.close()


if __name__ == "__main__":
    main()
