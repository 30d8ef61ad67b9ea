"""What the drawers ask for: figures as plotly's data, tables, words judged, files, and the papers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from flask import Flask, Response

from stacklens.automata.description import transition_table
from stacklens.errors import StacklensError
from stacklens.extract.evaluation.trust import check_table
from stacklens.viz.dashboard.asking import answering, body, flag, number, one_of, text
from stacklens.viz.dashboard.automaton_views import (
    FILES,
    drift_view,
    map_view,
    shown,
    stacks_view,
    steps_view,
    visits_view,
)
from stacklens.viz.dashboard.extractions import known
from stacklens.viz.dashboard.judging import accuracy, coverage_sentence, judged_words, transitions_taken, words_to_try
from stacklens.viz.dashboard.pictures import TABLES, drawn, figure_lines, table_lines, tabled, trace_file
from stacklens.viz.dashboard.python_lines import automaton_lines, trust_lines
from stacklens.viz.dashboard.turns import in_turn
from stacklens.viz.dashboard.view import View
from stacklens.viz.figures import FIGURES
from stacklens.viz.paper_tables import frame_of, paper_tables, table_names
from stacklens.viz.style import themed

__all__ = ["register"]

_THEMES = ("light", "dark")
_PATIENCE = 20  # seconds that a file waits for its turn


def register(server: Flask) -> None:
    """Give ``server`` the addresses under /api/ that the drawers ask."""
    for route, answer in _ROUTES.items():
        server.add_url_rule(f"/api/{route}", endpoint=route, view_func=answering(answer))
    server.add_url_rule("/api/judge", endpoint="judge", view_func=answering(_judge), methods=["POST"])


def _view() -> View:
    return View(text("network"), text("word", ""), flag("rounded"), text("figure", "paper"))


def _theme() -> str:
    return one_of("theme", _THEMES, "light")


def _figure_answer(figure: go.Figure, python: str) -> dict[str, Any]:
    return {"figure": json.loads(figure.to_json()), "python": python}


def _table(frame: pd.DataFrame, python: str = "") -> dict[str, Any]:
    """Return a table as its columns and rows; what is no number is left empty."""
    rows = json.loads(frame.to_json(orient="values", force_ascii=False, double_precision=6))
    return {"columns": [str(name) for name in frame.columns], "rows": rows, "python": python}


def _figure() -> Any:
    """Return one of the figures of the trace."""
    view, theme = _view(), _theme()
    if view.figure not in FIGURES:
        one_of("figure", tuple(FIGURES))
    figure = in_turn(view.network, view.word or "", drawn, view, theme)
    return _figure_answer(figure, figure_lines(view))


def _accuracy() -> Any:
    name = text("network")
    return _figure_answer(accuracy(name, _theme()), trust_lines("accuracy", name))


def _of_automaton(draw: Callable[..., go.Figure | None], panel: str, *given: Any) -> Any:
    one = shown(text("network"), flag("raw"))
    figure = draw(one, *given)
    if figure is None:
        raise StacklensError("there is nothing that drifts in this network as far as is known")
    return _figure_answer(figure, automaton_lines(one, text("word", ""), flag("rounded"))[panel])


def _map() -> Any:
    return _of_automaton(map_view, "map", flag("rounded"), _theme())


def _drift() -> Any:
    return _of_automaton(drift_view, "drift", _theme())


def _stacks() -> Any:
    return _of_automaton(stacks_view, "stacks", text("word", ""), flag("rounded"), _theme())


def _steps() -> Any:
    view, kind = _view(), one_of("table", tuple(TABLES))
    frame = in_turn(view.network, view.word or "", tabled, view, kind)
    return _table(frame, table_lines(view, kind))


def _transitions() -> Any:
    one = shown(text("network"), flag("raw"))
    return _table(transition_table(one.automaton), automaton_lines(one, "", False)["transitions"])


def _run() -> Any:
    one = shown(text("network"), flag("raw"))
    return _table(steps_view(one, text("word", "")), automaton_lines(one, text("word", ""), flag("rounded"))["steps"])


def _visits() -> Any:
    one = shown(text("network"), flag("raw"))
    state = text("state", one.automaton.initial)
    chosen = state if state in one.automaton.states else one.automaton.initial
    frame = visits_view(one, flag("rounded"), chosen)
    return {**_table(frame, automaton_lines(one, "", flag("rounded"))["visits"]), "state": chosen}


def _checks() -> Any:
    name = text("network")
    found = known(name)
    if found is None:
        raise StacklensError("nothing has been read out of this network yet")
    return _table(check_table(found.report), trust_lines("checks", name))


def _coverage() -> Any:
    one = shown(text("network"))
    table = _table(transitions_taken(one.automaton), trust_lines("coverage", one.network))
    return {**table, "says": coverage_sentence(one.automaton)}


def _words() -> Any:
    return {"words": words_to_try(text("network"), number("seed"))}


def _judge() -> Any:
    asked = body()
    name, words = text("network", among=asked), text("words", among=asked)
    found = in_turn(name, words, judged_words, name, words, asked.get("different") is True)
    if found.problem is not None:
        return {"problem": found.problem}
    return {**_table(found.frame, trust_lines("judged", name)), "says": found.said}


def _papers() -> Any:
    return {"tables": [{"name": name, "what": what} for name, what in table_names().items()]}


def _paper() -> Any:
    name, theme = text("name"), _theme()
    found = paper_tables(name)
    line = f"from stacklens.viz.paper_tables import frame_of, paper_tables\n\nfound = paper_tables({name!r})"
    return {
        "command": found.command,
        "measured": found.measured,
        "tables": [
            {**_table(frame_of(one), f"{line}\nframe_of(found.tables[{place}])"), "title": one.title,
             "caption": one.caption}
            for place, one in enumerate(found.tables)
        ],
        "figures": [
            {**_figure_answer(themed(one, theme), f"{line}\nfound.figures[{place}].show()"),
             "title": str(one.layout.title.text).rpartition(": ")[2]}
            for place, one in enumerate(found.figures)
        ],
    }  # fmt: skip


def _file() -> Response:
    """Return the automaton, or the trace of a word, as a file."""
    name, suffix = text("network"), one_of("suffix", (*FILES, "csv", "trace"))
    if suffix in FILES:
        content = FILES[suffix](shown(name, flag("raw")).automaton, name)
    else:
        word, kind = text("word", ""), "csv" if suffix == "csv" else "json"
        content = in_turn(name, word, trace_file, kind, name, word, flag("rounded"), patience=_PATIENCE)
    ending = {"trace": "trace.json", "csv": "csv"}.get(suffix, suffix)
    return Response(
        content,
        mimetype="application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{name}.{ending}"'},
    )


_ROUTES: dict[str, Callable[[], Any]] = {
    "figure": _figure,
    "accuracy": _accuracy,
    "map": _map,
    "drift": _drift,
    "stacks": _stacks,
    "steps": _steps,
    "transitions": _transitions,
    "run": _run,
    "visits": _visits,
    "checks": _checks,
    "coverage": _coverage,
    "words": _words,
    "papers": _papers,
    "paper": _paper,
    "file": _file,
}
