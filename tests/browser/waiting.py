"""Waiting for the page. Playwright's own `wait_for_function` evaluates text in the page, which its policy forbids."""

from __future__ import annotations

import time

from playwright.sync_api import Page


def until(page: Page, expression: str, seconds: float = 30) -> None:
    """Return once ``expression`` is true in the page."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(50)
