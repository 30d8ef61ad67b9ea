"""Several users on several server processes, as a production server has them: they share what is on disk, no more."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from stacklens.models.checkpoint import ZOO

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parents[2] / "src"


@contextmanager
def server() -> Iterator[str]:
    """Yield the address of a server process with the store of these tests."""
    command = [sys.executable, "-m", "stacklens", "app", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found
        try:
            yield f"{found[0]}/"
        finally:
            process.kill()


def opened(browser: Browser, place: str) -> Page:
    page = browser.new_context().new_page()
    page.set_default_timeout(30_000)
    page.goto(place)
    expect(page.locator("#sentence")).not_to_be_empty()
    return page


def test_a_file_that_one_user_opens_is_there_for_whoever_has_its_link_and_nothing_else_is_shared(
    browser: Browser, address: str
) -> None:
    one = opened(browser, f"{address}?network=nnpda-1n0n&word=10")
    one.set_input_files("#upload", ZOO / "nnpda-parentheses.pt")
    expect(one.locator("#network option:checked")).to_have_text("nnpda-parentheses.pt (opened)")
    expect(one).to_have_url(re.compile("network=upload-"))
    with server() as other:
        two = opened(browser, one.url.replace(address, other))
        expect(two.locator("#network option:checked")).to_have_text("nnpda-parentheses.pt (opened)")
        three = opened(browser, f"{other}?network=nnpda-1n0n&word=1100")
        expect(three.locator("#network option", has_text="nnpda-palindrome")).to_have_count(1)
        expect(three.get_by_text("(opened)")).to_have_count(0)
        expect(three.locator("#word")).to_have_value("1100")
