"""The documentation site: it builds without a warning, every link leads somewhere, and no other host is asked."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.shown_commands import commands_in, inline_commands, is_ours, refusal, unknown_names

import stacklens as sl
from stacklens import face
from stacklens.face import notebook as tables
from stacklens.languages.catalogue import language_names, task_names
from stacklens.models.checkpoint import zoo_names
from stacklens.models.training.factory import OPTIONS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
INDENTED = re.compile(r"^    ((?:extract-pda|stacklens) .*)$", re.MULTILINE)


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def check(site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(DOCS / "check_site.py"), str(site)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def build(site: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    """Build a site by the command of `make docs`, with another place for it."""
    (options,) = re.findall(r"/mkdocs (build .*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    command = [sys.executable, "-m", "mkdocs", *options.split(), "--site-dir", str(site), "--config-file", str(config)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def home(name: str) -> str:
    """Return where the public ``name`` is defined, as the reference calls it."""
    value = next(getattr(room, name) for room in (face, tables, sl) if hasattr(room, name))
    return f"{value.__module__}.{value.__qualname__}"


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_asks_no_other_host(tmp_path: Path) -> None:
    done = build(tmp_path)
    assert (done.returncode, re.findall("WARNING.*", done.stderr)) == (0, [])
    found = check(tmp_path)
    assert (found.returncode, found.stdout) == (0, "the site asks no other host for anything\n")
    reference = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "api").glob("*.html"))
    assert [name for name in sl.__all__ if f'id="{home(name)}"' not in reference] == []
    assert "<blockquote>" not in reference  # examples are shown as examples


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        (
            "[lost](gone.md) [lost](index.md#gone) [lost](../Makefile) [[]][()]",
            ("gone.md", "#gone", "../Makefile", "cross-reference"),
        ),
        ("", ('not included in the "nav"',)),
        (None, ()),
    ],
)
def test_a_warning_fails_the_build_of_the_site(tmp_path: Path, text: str | None, warnings: tuple[str, ...]) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.md").write_text(f"# A page\n\n{text}\n", encoding="utf-8")
    if text == "":
        (pages / "second.md").touch()
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: pages\nnav: [index.md]\n", encoding="utf-8")
    done = build(tmp_path / "site", config)
    assert (done.returncode == 0) is (not warnings), done.stderr
    assert all(warning in done.stderr for warning in warnings)


def test_what_another_host_is_asked_for_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="https://example.org">fine</a><script src="https://example.org/a.js"></script>'
        '<link rel="stylesheet" href="//example.org/a.css"><img src="there.png"><img src="lost%20one.png">'
        '<img src="data:image/png;base64,AA==">',
        encoding="utf-8",
    )
    (tmp_path / "b.css").write_text('@font-face { src: url("https://example.org/f.woff") }', encoding="utf-8")
    (tmp_path / "there.png").touch()
    found = check(tmp_path)
    assert found.returncode == 1
    assert found.stdout.splitlines() == [
        "a.html: asks another host: https://example.org/a.js",
        "a.html: asks another host: //example.org/a.css",
        "a.html: not there: lost%20one.png",
        "b.css: asks another host: https://example.org/f.woff",
    ]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(DOCS)) for page in PAGES])
def test_what_a_page_shows_is_there(page: Path) -> None:
    for block in blocks(page, "python"):
        if ">>>" not in block:
            ast.parse(block)
        assert [name for name in re.findall(r"\bsl\.(\w+)", block) if name not in dir(sl)] == []
    text = page.read_text(encoding="utf-8")
    assert [(command, names) for command in inline_commands(text) if (names := unknown_names(command))] == []
    for command in filter(is_ours, [*commands_in(text), *INDENTED.findall(text)]):
        assert refusal(command) is None, command
        words = command.split()
        if words[:2] == ["stacklens", "train"]:
            assert words[2] in OPTIONS
            subject = words[words.index("--language") + 1]
            assert re.sub(r"dyck-\d+", "dyck-N", subject) in {*language_names(), *task_names()}


def test_every_network_of_the_zoo_is_in_the_gallery() -> None:
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"^### (\S+)$", text, re.MULTILINE)
    assert shown == list(zoo_names())
    pictures = {path.stem for path in (DOCS / "gallery").iterdir()}
    assert set(re.findall(r"\(gallery/(\S+)\.svg\)", text)) == pictures <= set(shown)
