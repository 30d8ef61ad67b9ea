"""Check that a built site asks no other host for anything: `python docs/check_site.py build/docs`.

Links that a reader may follow lead where they like; scripts, styles, fonts, pictures and frames have to be in the site.
Whether internal links lead somewhere, the build itself checks (`mkdocs build --strict`).
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["asked_for", "problems"]

_LOADED = {"src", "srcset", "poster", "data"}
_LINKED = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload", "prefetch"}


class _Reader(HTMLParser):
    """Collects what a page loads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the addresses that are loaded without a click."""
        given = dict(attrs)
        self.found += [value for name, value in attrs if name in _LOADED and value]
        if tag == "link" and _LINKED & set((given.get("rel") or "").split()):
            self.found.append(given.get("href") or "")


def asked_for(path: Path) -> list[str]:
    """Return the addresses that a page or a style sheet loads by itself."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        return re.findall(r"(?:url\(|@import )[\"']?([^\"')\s]+)", text)
    reader = _Reader()
    reader.feed(text)
    return reader.found


def problems(site: Path) -> list[str]:
    """Return a line for everything that a page loads from another host, or that is not there."""
    found = []
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        for address in asked_for(path):
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                found.append(f"{path.relative_to(site)}: asks another host: {address}")
            elif path.name != "404.html" and not (path.parent / unquote(parts.path)).exists():
                found.append(f"{path.relative_to(site)}: not there: {address}")
    return found


if __name__ == "__main__":
    lines = problems(Path(sys.argv[1]))
    print("\n".join(lines) or "the site asks no other host for anything")
    sys.exit(bool(lines))
