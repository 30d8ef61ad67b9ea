"""What the drawers ask beside what Dash shows in them: words to try, the names of the papers' tables, files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask, Response

from stacklens.viz.dashboard.asking import answering, flag, number, one_of, text
from stacklens.viz.dashboard.automaton_views import FILES, shown
from stacklens.viz.dashboard.judging import words_to_try
from stacklens.viz.dashboard.pictures import trace_file
from stacklens.viz.dashboard.turns import in_turn
from stacklens.viz.paper_tables import table_names

__all__ = ["register"]

_PATIENCE = 20  # seconds that a file waits for its turn


def register(server: Flask) -> None:
    """Give ``server`` the addresses under /api/ that the drawers ask."""
    for route, answer in _ROUTES.items():
        server.add_url_rule(f"/api/{route}", endpoint=route, view_func=answering(answer))


def _words() -> Any:
    return {"words": words_to_try(text("network"), number("seed"))}


def _papers() -> Any:
    return {"tables": [{"name": name, "what": what} for name, what in table_names().items()]}


def _file() -> Response:
    """Return the automaton, or the trace of a word, as a file."""
    name, suffix = text("network"), one_of("suffix", (*FILES, "csv", "trace"))
    if suffix in FILES:
        one = shown(name, flag("raw"))
        content = FILES[suffix](one.automaton, name, one.groups)
    else:
        word, kind = text("word", ""), "csv" if suffix == "csv" else "json"
        content = in_turn(name, word, trace_file, kind, name, word, flag("rounded"), patience=_PATIENCE)
    ending = {"trace": "trace.json", "csv": "csv"}.get(suffix, suffix)
    return Response(
        content,
        mimetype="application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{name}.{ending}"'},
    )


_ROUTES: dict[str, Callable[[], Any]] = {"words": _words, "papers": _papers, "file": _file}
