"""What stands in the drawers that show figures and tables, each a function of what the browser asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import pandas as pd
import plotly.graph_objects as go
from dash import html

from ...automata.description import transition_table
from ...core.errors import StacklensError
from ...extract.claims import claims_of
from ...extract.evaluation.trust import SIGNS, check_table
from ...extract.evaluation.trust import coverage_table as transitions_taken
from ...extract.wording import as_sentence
from ...languages.words import EMPTY_WORD
from ...probe.outcome import Causality
from ..curves import causality_figure
from ..figures import FIGURES
from ..papers import frame_of, paper_tables
from ..style import themed
from .components import accuracy, coverage_sentence, extra, figure_part, judged_words, table_part
from .extractions import known
from .networks import file_of
from .opening import kept_sweep
from .panels import (
    TABLES,
    automaton_lines,
    drawn,
    drift_view,
    figure_lines,
    map_view,
    shown,
    stacks_view,
    steps_view,
    table_lines,
    tabled,
    trust_lines,
    visits_view,
)
from .requests import View, in_turn, one_of, text
from .saved import is_saved, saved

_INTERCHANGES = (
    "With another run's hidden vector, or cell, in its place: does the network do what the automaton predicts? A score "
    "is the share of the swaps that the automaton tells apart, with its 95 % interval over words; same: swaps that "
    "should change nothing, of one state or symbol; untold: of which no change is predicted, whatever is put in; the "
    "columns beside the score: the same with random partitions, permuted labels, and a network that was never trained."
)
_LONGEST = 60  # characters of a word on a button
_THEMES = ("light", "dark")
_OF_AUTOMATON = ("stacks", "states", "drift")  # figures


@dataclass(frozen=True)
class Asked:
    """What a drawer shows."""

    drawer: str  # which one, one of `FILLED`
    view: View  # network, word, kind of network and figure
    raw: bool  # whether the automaton before minimisation is meant
    state: str  # the state whose words are listed; "" for the first
    table: str  # which of the papers' tables; in the drawer of figures which table of steps, or ""
    theme: str  # "light" or "dark"
    words: str  # words to judge, one a line
    sweep: str  # the name of a sweep that the app was started with
    different: bool  # whether only those are listed on which not all agree

    @property
    def name(self) -> str:
        """Return the network's name."""
        return self.view.network


def asked_for(data: dict[str, Any]) -> Asked:
    """Return what the browser asks, from plain data."""
    word = text("word", "", data)
    view = View(text("network", among=data), word, data.get("rounded") is True, text("figure", "paper", data))
    return Asked(
        drawer=one_of("drawer", tuple(FILLED), among=data),
        view=view,
        raw=data.get("raw") is True,
        state=text("state", "", data),
        table=text("table", "", data),
        theme=one_of("theme", _THEMES, "light", data),
        words=text("words", "", data),
        sweep=text("sweep", "", data),
        different=data.get("different") is True,
    )


def filled(asked: Asked) -> list[Any]:
    """Return the components that stand in a drawer.

    Raises:
        StacklensError: there is no such network, it cannot read the word, or nothing was read out of it yet.
        NotYetError: it is not there yet.
    """
    return FILLED[asked.drawer](asked)


def _opens(word: Any, step: int | None = None, rounded: bool | None = None) -> dict[str, Any] | None:
    """Return what a row's button brings onto the bench, None where there is no word."""
    if not isinstance(word, str) or not word:
        return None
    shown = word if len(word) <= _LONGEST else f"{word[: _LONGEST - 3]}… ({len(word):,})"
    return {"word": "" if word == EMPTY_WORD else word, "shown": shown, "step": step, "rounded": rounded}


def _checks_drawer(asked: Asked) -> list[Any]:
    found = known(asked.name)
    if found is None:
        raise StacklensError("nothing has been read out of this network yet")
    frame = check_table(found.report)
    rounded = [who == "rounded network" for who in frame["automaton and"]]
    opens = [_opens(word, None, who) for word, who in zip(frame["counterexample"], rounded, strict=True)]
    lines = trust_lines("checks", asked.name)
    parts = [
        html.H3("checks: a counterexample comes onto the bench with one click"),
        table_part("checks", frame, lines, asked.name, "counterexample", opens),
    ]
    if found.automaton is None:
        return parts
    taken = transitions_taken(found.automaton)
    shortest = [_opens(word) for word in taken["shortest word"]]
    lines = trust_lines("coverage", asked.name)
    return [
        *parts,
        html.H3("transitions"),
        html.P(coverage_sentence(found.automaton)),
        table_part("coverage", taken, lines, asked.name, "shortest word", shortest),
    ]


def _words_drawer(asked: Asked) -> list[Any]:
    name, words = asked.name, asked.words
    found = in_turn(name, words, judged_words, name, words, asked.different)
    sentence = html.P(found.problem or found.said, id="judged-says", role="status")
    if found.problem is not None or found.frame.empty:
        return [sentence]
    opens = []
    for word, address in zip(found.frame["word"], found.frame["open"], strict=True):
        step = parse_qs(address.removeprefix("?")).get("step", ["1"])[0]
        opens.append(_opens(word, int(step)))
    frame = found.frame.drop(columns="open")
    return [sentence, table_part("words", frame, trust_lines("judged", name), name, "word", opens)]


def _accuracy_drawer(asked: Asked) -> list[Any]:
    figure = accuracy(asked.name, asked.theme)
    return [figure_part("accuracy", figure, trust_lines("accuracy", asked.name), asked.name)]


def _causes_drawer(asked: Asked) -> list[Any]:
    one = shown(asked.name)
    _ = one.automaton  # raises the reason where there is none
    report = one.known.report
    if report.get("causality") is None:
        raise StacklensError(_how_to_interchange(asked.name))
    found = Causality.from_dict(report["causality"])
    parts: list[Any] = [
        html.P(html.B(f"{SIGNS[claim.verdict]} {as_sentence(claim.words)}"))
        for claim in claims_of(report)
        if claim.what == "mechanism"
    ]
    parts.append(html.P(_INTERCHANGES))
    columns, *rows = found.table()
    table = pd.DataFrame(rows, columns=list(columns))
    table = table[[*columns[:4], *columns[7:], *columns[4:7]]]  # baselines beside the score
    parts.append(table_part("interchanges", table, trust_lines("interchanges", asked.name), asked.name))
    parts += [html.P(as_sentence(remark)) for remark in found.remarks]
    for what in ("states", "symbols"):
        if (worst := report["causality"][what]["worst"]) is not None:
            worst_case = f"The shortest of what goes wrong most often with {what} of the {found.automaton} one:"
            parts += [html.P(worst_case), html.Pre(worst["call"], tabIndex=0)]
    figure = themed(causality_figure(found), asked.theme)
    return [*parts, figure_part("causes", figure, trust_lines("causes", asked.name), asked.name)]


def _how_to_interchange(name: str) -> str:
    """Return which button or command makes the interchanges that a result does not hold."""
    if is_saved(name):
        one = saved(name)
        return (
            f"this result holds no interchanges: stacklens probe causal {one.title} makes them, and extract-pda "
            f"{one.network} --causal --save {one.title} a result that holds them"
        )
    return (
        f"no interchanges were made in this network: the button extract again makes them, and so does extract-pda "
        f"{file_of(name)} --causal"
    )


def _automaton_drawer(asked: Asked) -> list[Any]:
    one = shown(asked.name, asked.raw)
    states = one.automaton.states
    chosen = asked.state if asked.state in states else one.automaton.initial
    rules = transition_table(one.automaton)
    lines = automaton_lines(one, asked.view.word or "", asked.view.rounded)
    visits = visits_view(one, asked.view.rounded, chosen)
    opens = [
        _opens(word or EMPTY_WORD, max(1, step)) for word, step in zip(visits["word"], visits["step"], strict=True)
    ]
    buttons = [html.Button(state, **extra(data_state=state, type="button")) for state in states]
    try:
        run = steps_view(one, asked.view.word or "")
        parts: list[Any] = [table_part("run", run, lines["steps"], asked.name)]
    except StacklensError as error:  # of the word; what else is shown does not depend on it
        parts = [html.P(f"{error}.")]
    return [
        html.H3(f"words that visit {chosen}"),
        html.P(["The states: a click shows the words that visit one. ", *buttons], className="tools"),
        table_part("visits", visits, lines["visits"], asked.name, "word", opens),
        html.H3("rules"),
        table_part("rules", rules, lines["transitions"], asked.name),
        html.H3("the run on this word"),
        *parts,
    ]


def _figures_drawer(asked: Asked) -> list[Any]:
    view, theme = asked.view, asked.theme
    if view.figure in _OF_AUTOMATON:
        figure, lines = _of_automaton(asked)
    else:
        one_of("figure", tuple(FIGURES), among={"figure": view.figure})
        figure, lines = in_turn(view.network, view.word or "", drawn, view, theme), figure_lines(view)
    parts = [figure_part(view.figure, figure, lines, asked.name)]
    return parts if asked.table not in TABLES else [*parts, *_steps(asked)]


def _of_automaton(asked: Asked) -> tuple[go.Figure, str]:
    one, theme = shown(asked.name, asked.raw), asked.theme
    word, rounded = asked.view.word or "", asked.view.rounded
    panel = {"states": "map"}.get(asked.view.figure, asked.view.figure)
    makers: dict[str, Callable[[], go.Figure | None]] = {
        "stacks": lambda: stacks_view(one, word, rounded, theme),
        "map": lambda: map_view(one, rounded, theme),
        "drift": lambda: drift_view(one, theme),
    }
    figure = makers[panel]()
    if figure is None:
        raise StacklensError("there is nothing that drifts in this network as far as is known")
    return figure, automaton_lines(one, word, rounded)[panel]


def _steps(asked: Asked) -> list[Any]:
    view, kind = asked.view, asked.table
    try:
        frame: pd.DataFrame = in_turn(view.network, view.word or "", tabled, view, kind)
    except StacklensError as error:  # a recogniser predicts nothing
        return [html.P(f"{error}.")]
    return [html.H3(f"table of {kind}"), table_part(kind, frame, table_lines(view, kind), asked.name)]


def _papers_drawer(asked: Asked) -> list[Any]:
    name, theme = asked.table, asked.theme
    found = paper_tables(name)
    line = f"from stacklens.viz.papers import frame_of, paper_tables\n\nfound = paper_tables({name!r})"
    command: list[Any] = ["measured by ", html.Code(found.command), "" if found.measured else " (not measured yet)"]
    parts: list[Any] = [html.P(command)]
    for place, table in enumerate(found.tables):
        lines = f"{line}\nframe_of(found.tables[{place}])"
        made = table_part(table.title, frame_of(table), lines, name)
        parts += [html.H3(table.title), made, html.P(table.caption)]
    for place, figure in enumerate(found.figures):
        title = str(figure.layout.title.text).rpartition(": ")[2]
        lines = f"{line}\nfound.figures[{place}].show()"
        parts += [html.H3(title), figure_part(title, themed(figure, theme), lines, name)]
    return parts


def _sweep_drawer(asked: Asked) -> list[Any]:
    found = kept_sweep(asked.sweep)
    opens: list[dict[str, Any] | None] = [
        None if one is None else {"shown": name, "network": one}
        for name, one in zip(found.frame["network"], found.opens, strict=True)
    ]
    return [
        *map(html.P, found.said),
        table_part("sweep", found.frame, found.python, found.title, "network", opens, wrap=False),
    ]


FILLED: dict[str, Callable[[Asked], list[Any]]] = {
    "checks": _checks_drawer,
    "words": _words_drawer,
    "accuracy": _accuracy_drawer,
    "automaton": _automaton_drawer,
    "causes": _causes_drawer,
    "figures": _figures_drawer,
    "papers": _papers_drawer,
    "sweep": _sweep_drawer,
}
