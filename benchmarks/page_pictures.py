"""The five tasks on the page as pictures: ``python -m benchmarks.page_pictures FOLDER [ADDRESS [NUMBER …]]``.

Without an address a page is started, and the pictures are called ``after-1.webp`` and so on. With the address of the
page of commit 394faa2, the last one before the workbench, they are ``before-1.webp`` and so on.
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
from pathlib import Path

from benchmarks.page import SIZE, served
from benchmarks.page_tasks import BEFORE, TASKS, Task, performed
from playwright.sync_api import Browser, sync_playwright

_SETTLED = 1_500  # milliseconds until figures and fonts stand still
_WEBP = """async (picture) => {
  const made = document.createElement("canvas"), image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  [made.width, made.height] = [image.width, image.height];
  made.getContext("2d").drawImage(image, 0, 0);
  return made.toDataURL("image/webp", 0.6).split(",")[1];
}"""


def main(folder: str, before: str | None = None, *numbers: str) -> None:
    """Write the pictures into ``folder`` and print a line a task, of all or those with ``numbers``: clicks, pixels."""
    program = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("error: no Chromium: install one (Debian: apt-get install chromium), or name it in BROWSER_PATH")
    Path(folder).mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        if before is not None:
            _write(browser, before.rstrip("/"), BEFORE, Path(folder) / "before", numbers)
        else:
            with served() as (address, _):
                _write(browser, address, TASKS, Path(folder) / "after", numbers)
        browser.close()


def _write(browser: Browser, address: str, tasks: tuple[Task, ...], name: Path, numbers: tuple[str, ...]) -> None:
    for number, task in enumerate(tasks, 1):
        if numbers and str(number) not in numbers:
            continue
        page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()  # type: ignore[arg-type]
        page.set_default_timeout(120_000)
        page.add_init_script("localStorage.setItem('introduced', 'yes')")
        page.goto(f"{address}/{task.search}")
        page.wait_for_timeout(2 * _SETTLED)  # the page before never rests
        clicks, scrolled = performed(page, task)
        page.wait_for_timeout(_SETTLED)
        picture = base64.b64encode(page.screenshot()).decode()
        page.context.close()
        empty = browser.new_page()
        place = name.with_name(f"{name.name}-{number}.webp")
        place.write_bytes(base64.b64decode(empty.evaluate(_WEBP, picture)))
        empty.close()
        print(f"{task.name}: {clicks} clicks, {scrolled} px; {place.name} of {place.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*sys.argv[1:])
