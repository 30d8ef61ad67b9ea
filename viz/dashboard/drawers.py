"""What stands in the drawers, figures and tables with their Python lines, each a function of what the browser asks."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from urllib.parse import quote

import dash_ag_grid as dag
import pandas as pd
import plotly.graph_objects as go
from dash import dcc, html
from plotly.utils import PlotlyJSONEncoder

from ...automata.formats.dot import render, to_dot, transition_table
from ...core.errors import StacklensError
from ...extract.certificate.certify import Proof, proof_of
from ...extract.claims import SIGNS, check_table, claims_of
from ...extract.evaluation.automaton_runs import coverage_table as transitions_taken
from ...extract.evaluation.automaton_runs import covered, run_table, visit_table
from ...extract.verification.divergence import Drift
from ...extract.wording import as_sentence
from ...languages.language import EMPTY_WORD
from ...models.base import one_thread
from ...papers.tables import TextTable
from ...probe.outcome import Causality
from ...probe.trace import trace
from ..bench.drawing import bench_drawing
from ..curves import boxes_figure, boxes_table, causality_figure, drift_figure, learning_of
from ..figures import FIGURES, stacks_figure, state_map
from ..papers import VERIFY, frame_of, numbered_figure, numbered_names, paper_tables, zoo_networks
from ..report import picture
from ..style import OPERATION_COLOURS, sentence, theme_layout, themed
from . import panels
from .jobs import TURNS
from .networks import checkpoint_of, file_of, is_saved, saved
from .opening import kept_sweep
from .panels import in_turn, link_to, panel_lines, shown
from .requests import PAGE, View, one_of, text

# ---- Parts: a figure, a table ----

_CHARACTER, _EDGES = 7, 24  # pixels of a character, and of a cell's two edges
_BUTTON = 4  # characters' room in a column's head for its filter
_NAMED = 60  # characters of a part of a file's name
_NARROW, _WIDE, _BROKEN = 5, 34, 15  # characters of a column, at least and at most, and at least of broken lines
_ROW, _SHOWN = 27, 16  # pixels of a row, and rows that are shown at once
_WRAPPED = 60  # rows of a table, at most, whose sentences are broken into lines
_PRINTED = (85, 175)  # millimetres of a paper's column, and of its page
_LIGHT = json.dumps(theme_layout("light"), cls=PlotlyJSONEncoder)  # in which figures are saved
_OPEN = "open"  # the link of a row, to what it brings onto the bench
_GRID, _COLUMN, _RULES, _TEXTS = (PAGE[name] for name in ("grid", "column", "rules", "texts"))


def extra(**attributes: str) -> Any:
    """Return ``attributes`` of an HTML element as Dash wants them: aria_label is aria-label, data_kind is data-kind.

    >>> extra(data_kind="svg")
    {'data-kind': 'svg'}
    """
    return {name.replace("_", "-"): value for name, value in attributes.items()}


def in_python(lines: str) -> html.Details:
    """Return the Python lines that make what stands over them."""
    return html.Details([html.Summary("in Python"), html.Pre(lines, tabIndex=0)])


def figure_part(name: str, figure: go.Figure, python: str, file: str) -> html.Div:
    """Return a figure, read aloud as title, lines and notes, and buttons that save it, light, as ``file``."""
    title = figure.layout.title.text or name
    lines = dict.fromkeys(str(one.name) for one in figure.data if one.name)
    notes = [str(note.text) for note in figure.layout.annotations if note.text]
    config = {"displaylogo": False, "responsive": True, "displayModeBar": False}
    steps = max((len(one.x) for one in figure.data if one.type == "heatmap" and one.x is not None), default=0)
    style = {"minWidth": f"{165 + 30 * min(steps, 31) if steps else 0}px"}  # so that numbers in cells do not touch
    drawn = dcc.Graph(id=f"figure-{_file_part(name)}", figure=figure, config=cast(Any, config), style=style)
    about = {"data_name": f"{file}-{_file_part(name)}", "data_light": _LIGHT, "type": "button"}
    buttons: list[Any] = [
        html.Button(one.upper(), title=f"save this figure as {one.upper()}", **extra(data_kind=one, **about))
        for one in ("svg", "png", "pdf")
    ]
    sizes = [html.Option(f"{size} mm wide", value=str(size)) for size in _PRINTED]
    buttons.append(html.Select([html.Option("as it stands", value="0"), *sizes], **extra(aria_label="how wide")))
    spoken = "; ".join([title, *lines, *notes]).replace("<br>", " ")
    shown = html.Div(drawn, className="figure", role="img", tabIndex=0, **extra(aria_label=spoken))
    return html.Div([shown, html.Div(buttons, className="tools"), in_python(python)], className="figurepart")


def table_part(
    name: str,
    frame: pd.DataFrame,
    python: str,
    file: str,
    link: str = "",
    opens: Sequence[dict[str, str] | None] | None = None,
    wrap: bool = True,
) -> html.Div:
    """Return a table, with buttons that save it as ``file``, and its Python lines; marks, ✓ and ✗, are coloured.

    In the column ``link`` are the links that ``opens`` has for every row, see `link_to`, or None.
    Unless it is to ``wrap`` sentences, a row is one line, and the table as wide as it is.
    """
    # what is no number is left empty
    records = frame.to_dict("records")
    rows = [{str(name): None if value != value else value for name, value in row.items()} for row in records]
    for row, what in zip(rows, opens or [], strict=False):
        row[_OPEN] = what
    options = {**_GRID, "rowHeight": _ROW, "defaultCsvExportParams": {"fileName": f"{file}-{_file_part(name)}.csv"}}
    many = len(frame) > _SHOWN
    grid = dag.AgGrid(
        id={"grid": name},
        rowData=rows,
        columnDefs=[
            _column(str(name), frame[name], opens is not None and str(name) == link, wrap) for name in frame.columns
        ],
        defaultColDef=_COLUMN,
        dashGridOptions=options if many else {**options, "domLayout": "autoHeight"},
        className="grid",
        style={"height": f"{_ROW * (_SHOWN + 2)}px"} if many else {"height": None},
    )
    save = html.Button("CSV", id={"grid": name, "as": "csv"}, title=f"save {name} as CSV", **extra(type="button"))
    # operations in their colours, for the package xcolor with its option table
    colours = {name: f"\\cellcolor[HTML]{{{colour[1:]}}} {name}" for name, colour in OPERATION_COLOURS.items()}
    coloured: Any = {one: lambda name: colours.get(name, name) for one in frame if str(one).startswith("action")}
    latex = frame.to_latex(index=False, escape=True, na_rep="", float_format="{:.5g}".format, formatters=coloured)
    as_latex: Any = {"href": f"data:application/x-tex,{quote(latex)}", "download": f"{file}-{_file_part(name)}.tex"}
    save_latex = html.A("LaTeX", title=f"save {name} as LaTeX (booktabs)", **as_latex)
    placed = html.Div(grid, role="region", **extra(aria_label=name))
    return html.Div([placed, save, save_latex, *([in_python(python)] if python else [])], className="tablepart")


def _file_part(name: str) -> str:
    return re.sub(r"[^\w()\[\]{}=#.,-]+", "-", name)[:_NAMED].rstrip("-")


def _column(name: str, values: pd.Series[Any], link: bool, wrap: bool) -> dict[str, Any]:
    # how many characters it is wide; its head is broken between words
    floats = bool(pd.api.types.is_float_dtype(values))
    written = "{:,}" if pd.api.types.is_integer_dtype(values) else "{:.5g}" if floats else "{}"
    head = max(map(len, name.split()), default=0) + _BUTTON
    longest = max([head, *(len(written.format(value)) for value in values)])
    width = min(max(longest, _NARROW), _WIDE)
    column: dict[str, Any] = {"field": name, "headerName": name, "flex": width, "tooltipField": name}
    least = width
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        column |= {"type": "rightAligned", "valueFormatter": {"function": "written(params.value)"}}
        if name.endswith(_OURS):
            column |= {"cellStyle": {"function": "beside(params)"}}
    else:
        column |= {"cellRenderer": "WordLink"} if link else {"cellClassRules": _RULES}
        if wrap and width > _BROKEN and len(values) <= _WRAPPED:
            column |= {"wrapText": True, "autoHeight": True}
        least = min(width, _BROKEN) if wrap and (link or len(values) <= _WRAPPED) else width
    return {**column, "minWidth": _CHARACTER * least + _EDGES}


def as_pdf(asked: Asked, given: dict[str, Any]) -> bytes:
    """Return figure number "place" of a drawer as a PDF, light, "width" pixels wide times "scale", all three ``given``.

    A browser is started for it, one at a time for all users: it may be on its way, as `Turns.result` says.
    """
    figures = [one.figure for one in _graphs(filled(replace(asked, theme="light")))]
    place: Any
    place, *sizes = (given.get(name) for name in ("place", "width", "scale"))
    if place not in range(len(figures)) or not all(
        isinstance(size, int | float) and low <= size <= high
        for size, low, high in zip(sizes, (100, 0.1), (4_000, 10), strict=True)
    ):
        raise StacklensError("there is no such figure, or it cannot be so large")
    figure = figures[place].update_layout(width=sizes[0])
    return bytes(TURNS.result((asked, place, *sizes), lambda: picture(figure, "pdf", scale=sizes[1])))


def _graphs(part: Any) -> Iterator[Any]:
    if isinstance(part, dcc.Graph):
        yield part
    for one in part if isinstance(part, list) else [part.children] if hasattr(part, "children") else []:
        yield from _graphs(one)


# ---- The drawers ----

_PROVED = 20  # seconds that a request waits for a proof
_LONGEST = 60  # characters of a word on a button
_OURS, _PAPERS = ": ours", ": paper"
THEMES = ("light", "dark")


@dataclass(frozen=True)
class Asked(View):
    """What a drawer shows, as the browser asks for it; what it leaves out is as by default."""

    word: str = ""
    drawer: str = ""  # which one, one of `FILLED`
    raw: bool = False  # whether the automaton before minimisation is meant
    state: str = ""  # the state whose words are listed; "" for the first
    table: str = ""  # which of the papers' tables; in the drawer of figures which table of steps
    theme: str = "light"
    words: str = ""  # words to judge, one a line
    sweep: str = ""  # the name of a sweep that the app was started with
    different: bool = False  # whether only those are listed on which not all agree


def asked_for(data: dict[str, Any]) -> Asked:
    """Return what the browser asks, from plain data."""
    given: dict[str, Any] = {"network": text("network", among=data)}
    given |= {"drawer": one_of("drawer", tuple(FILLED), among=data)}
    given |= {"theme": one_of("theme", THEMES, "light", data)}
    given |= {name: data.get(name) is True for name in ("rounded", "raw", "different")}
    names = ("word", "figure", "state", "table", "words", "sweep")
    given |= {name: text(name, getattr(Asked, name), data) for name in names}
    return Asked(**given)


def filled(asked: Asked) -> list[Any]:
    """Return the components that stand in a drawer."""
    return FILLED[asked.drawer](asked)


def _opens(word: Any, step: int | None = None, rounded: bool | None = None) -> dict[str, str] | None:
    if not isinstance(word, str) or not word:
        return None
    shown = word if len(word) <= _LONGEST else f"{word[: _LONGEST - 3]}… ({len(word):,})"
    return link_to(shown, word="" if word == EMPTY_WORD else word, step=step, rounded=rounded)


def _panel_table(
    panel: str,
    asked: Asked,
    frame: pd.DataFrame,
    link: str = "",
    opens: Sequence[dict[str, str] | None] | None = None,
    name: str | None = None,
) -> html.Div:
    lines = panel_lines(panel, asked.network, asked.word, asked.rounded, asked.raw)
    return table_part(name or panel, frame, lines, asked.network, link, opens)


def _checks_drawer(asked: Asked) -> list[Any]:
    found = shown(asked.network).known
    frame = check_table(found.report)
    rounded = [who == "rounded network" for who in frame["automaton and"]]
    opens = [_opens(word, None, who) for word, who in zip(frame["counterexample"], rounded, strict=True)]
    parts = [
        html.H3("checks: a counterexample comes onto the bench with one click"),
        _panel_table("checks", asked, frame, "counterexample", opens),
    ]
    if found.automaton is None:
        return parts
    taken, (singles, pairs) = transitions_taken(found.automaton), covered(found.automaton)
    how_many = (
        f"{singles:,} of {len(found.automaton.transitions):,} transitions are taken by words that the checks are made "
        f"on, and {pairs:,} pairs of two in a row."
    )
    return [
        *parts,
        html.H3("transitions"),
        html.P(how_many),
        _panel_table("coverage", asked, taken, "shortest word", [_opens(word) for word in taken["shortest word"]]),
    ]


def _words_drawer(asked: Asked) -> list[Any]:
    call = panels.judged_words, asked.network, asked.words, asked.different
    frame, steps, summary = in_turn(asked.network, asked.words, *call)
    parts = [html.P(summary, id="judged-says", role="status")]
    if frame.empty:
        return parts
    opens = [_opens(word, step) for word, step in zip(frame["word"], steps, strict=True)]
    return [*parts, _panel_table("judged", asked, frame, "word", opens, "words")]


def _accuracy_drawer(asked: Asked) -> list[Any]:
    figure = panels.accuracy(asked.network, asked.theme)
    return [figure_part("accuracy", figure, panel_lines("accuracy", asked.network), asked.network)]


def _causes_drawer(asked: Asked) -> list[Any]:
    one = shown(asked.network)
    _ = one.automaton  # raises the reason where there is none
    report = one.known.report
    if report.get("causality") is None:
        which, of = ("none saved", saved) if is_saved(asked.network) else ("none made", file_of)
        raise StacklensError(_TEXTS[which].format(of(asked.network)))  # which button or command makes them
    found = Causality.from_dict(report["causality"])
    parts: list[Any] = [
        html.P(html.B(f"{SIGNS[claim.verdict]} {as_sentence(claim.words)}"))
        for claim in claims_of(report)
        if claim.what == "mechanism"
    ]
    if found.prefixes == 0:  # none can be made, for the reason above
        return parts
    parts.append(html.P(_TEXTS["interchanges"]))
    columns, *rows = found.table()
    beside = [*columns[:4], *columns[7:], *columns[4:7]]  # baselines beside the score
    table = pd.DataFrame(rows, columns=list(columns))[beside]
    parts.append(_panel_table("interchanges", asked, table))
    parts += [html.P(as_sentence(remark)) for remark in found.remarks]
    for what in ("states", "symbols"):
        if (worst := report["causality"][what]["worst"]) is not None:
            worst_case = f"The shortest of what goes wrong most often with {what} of the {found.automaton} one:"
            parts += [html.P(worst_case), html.Pre(worst["call"], tabIndex=0)]
    figure = themed(causality_figure(found), asked.theme)
    return [*parts, figure_part("causes", figure, panel_lines("causes", asked.network), asked.network)]


def _automaton_drawer(asked: Asked) -> list[Any]:
    one = shown(asked.network, asked.raw)
    states = one.automaton.states
    chosen = asked.state if asked.state in states else one.automaton.initial
    # the words that visit the state, with the network's hidden vectors then
    visits = visit_table(one.automaton, panels.seen_on_many(one, asked.rounded), chosen).drop(columns="state")
    visits = visits.round({name: 4 for name in visits.columns if name.startswith("h")})
    moments = zip(visits["word"], visits["step"], strict=True)
    opens = [_opens(word or EMPTY_WORD, max(1, step)) for word, step in moments]
    buttons = [html.Button(state, value=state, **extra(data_choose="state", type="button")) for state in states]
    try:
        run = run_table(one.automaton, panels.read_word(asked.word, checkpoint_of(one.network).model))
        parts: list[Any] = [_panel_table("steps", asked, run, name="run")]
    except StacklensError as error:  # of the word; what else is shown does not depend on it
        parts = [html.P(f"{error}.")]
    return [
        html.H3(f"words that visit {chosen}"),
        html.P(["The states: a click shows the words that visit one. ", *buttons], className="tools"),
        _panel_table("visits", asked, visits, "word", opens),
        html.H3("rules"),
        _panel_table("transitions", asked, transition_table(one.automaton), name="rules"),
        html.H3("the run on this word"),
        *parts,
    ]


def _figures_drawer(asked: Asked) -> list[Any]:
    file = f"{asked.network}{'-rounded' * asked.rounded}-{_file_part(asked.word or 'empty')}"
    if asked.figure in _OF_NETWORK:
        figure, *parts = _figure_of_network(asked)
        panel = "map" if asked.figure == "states" else asked.figure
        lines = panel_lines(panel, asked.network, asked.word, asked.rounded, asked.raw)
        return [figure_part(asked.figure, themed(figure, asked.theme), lines, file), *parts]
    one_of("figure", tuple(FIGURES), among={"figure": asked.figure})
    figure = in_turn(asked.network, asked.word, panels.drawn, asked, asked.theme)
    parts = [figure_part(asked.figure, figure, panels.figure_lines(asked), file)]
    if asked.table not in panels.TABLES:
        return parts
    try:
        frame: pd.DataFrame = in_turn(asked.network, asked.word, panels.tabled, asked, asked.table)
    except StacklensError as error:  # a recogniser predicts nothing
        return [*parts, html.P(f"{error}.")]
    table = table_part(asked.table, frame, panels.table_lines(asked, asked.table), file)
    return [*parts, html.H3(f"table of {asked.table}"), table]


# figures of the network that is open
_OF_NETWORK = ("stacks", "states", "drift", "boxes", "learning")


def _figure_of_network(asked: Asked) -> list[Any]:
    """Return a figure of the network that is open, one of `_OF_NETWORK`, and what else stands under it."""
    if asked.figure == "learning":
        return [learning_of(checkpoint_of(asked.network).model)]
    if asked.figure == "drift":
        entry = shown(asked.network).known.report.get("drift")
        if entry is None:
            raise StacklensError("there is nothing that drifts in this network as far as is known")
        return [drift_figure(Drift.from_dict(entry))]
    if asked.figure == "boxes":  # of the certificate, which is proved anew, one network after another for all users
        one, model = shown(asked.network), checkpoint_of(asked.network).model
        if one.known.report["certificate"]["verdict"] != "certified":
            raise StacklensError("there is no certificate of this network, and so there are no boxes")
        about = model, one.automaton, one.known.report, panels.known_specification(asked.network)
        proof = TURNS.result(("boxes", asked.network, one.settings), lambda: proof_of(*about), _PROVED)
        if not isinstance(proof, Proof):  # a file of somebody else's
            raise StacklensError(f"the certificate that this result names was not found again: {proof.reason}")
        lines = panel_lines("box table", asked.network)
        table = table_part("boxes", boxes_table(proof), lines, asked.network, wrap=False)
        return [boxes_figure(proof), html.P(_TEXTS["boxes"]), table]
    one, runner = shown(asked.network, asked.raw), panels.runner_of(asked.network, asked.rounded)
    if asked.figure == "states":
        return [state_map(runner, panels.seen_on_many(one, asked.rounded), one.automaton)]
    word = panels.read_word(asked.word, runner)
    if len(word) > panels.LONGEST_STACKS:
        return [sentence(f"Stacks are drawn for words of at most {panels.LONGEST_STACKS:,} symbols.")]
    with one_thread():
        return [stacks_figure(runner, trace(runner, [word], stacks=True), one.automaton, stacks=one.known.stacks)]


def _papers_drawer(asked: Asked) -> list[Any]:
    name = asked.table
    if name in numbered_names():
        return _numbered_drawer(asked)
    found = paper_tables(name)
    line = f"from stacklens.viz.papers import frame_of, paper_tables\n\nfound = paper_tables({name!r})"
    not_yet = "" if found.measured else " (not measured yet)"
    parts: list[Any] = [html.P(["measured by ", html.Code(found.command), not_yet])]
    in_zoo = [zoo_networks(name, table) for table in found.tables]
    if name != VERIFY and any(map(any, in_zoo)):
        parts += [html.P(["a row's networks: ", html.Code(f"{found.command} --rows ROW --networks nets")])]
    for place, (table, kinds) in enumerate(zip(found.tables, in_zoo, strict=True)):
        lines, frame = f"{line}\nframe_of(found.tables[{place}])", frame_of(table)
        opens = [link_to(one, network=one, drawer="") if one else None for one in kinds] if any(kinds) else None
        if opens is not None and name != VERIFY:
            frame.insert(0, "in the zoo", kinds)
        made = table_part(table.title, frame, lines, name, str(frame.columns[0]), opens)
        compared = _TEXTS["compared"] if any(str(column).endswith(_PAPERS) for column in frame.columns) else ""
        parts += [html.H3(table.title), made, html.P(". ".join(filter(None, (table.caption, compared))))]
    for place, figure in enumerate(found.figures):
        title = str(figure.layout.title.text).replace("<br>", " ").rpartition(": ")[2]
        lines = f"{line}\nfound.figures[{place}].show()"
        parts += [html.H3(title), figure_part(title, themed(figure, asked.theme), lines, name)]
    return parts


def _numbered_drawer(asked: Asked) -> list[Any]:
    """Return a figure of a paper, as far as its text has it, and ours beside it."""
    found, line = numbered_figure(asked.table), "from stacklens.viz.papers import numbered_figure\n\nfound = "
    sides = []
    about = (("the paper", "theirs", "", found.says), ("ours", "ours", "What differs: ", found.differs))
    for title, attribute, what, says in about:
        side: list[Any] = [html.H3(f"{title}: {found.number}"), html.P([html.B(what), says])]
        for name, part in getattr(found, attribute).items():
            lines = f"{line}numbered_figure({asked.table!r})\nfound.{attribute}[{name!r}]"
            file = f"{asked.table}-{attribute}"
            if isinstance(part, TextTable):
                made = table_part(name, frame_of(part), lines, file)
            elif isinstance(part, go.Figure):
                made = figure_part(name, themed(part, asked.theme), f"{lines}.show()", file)
            else:
                svg = base64.b64encode(render(to_dot(part, name), "svg")).decode()
                source = f"data:image/svg+xml;base64,{svg}"
                drawn = html.Img(src=source, alt=bench_drawing(part)["says"], className="drawn")
                save = html.A("SVG", href=source, download=f"{file}.svg", title="save this drawing as SVG")
                made = html.Div([drawn, save, in_python(lines)])
            side += [html.H4(name), made]
        sides.append(html.Div(side))
    if found.opens is not None:
        network, word = found.opens
        link = link_to(f"open {network} on the bench", network=network, drawer="", word=word)
        sides[1].children.append(html.P(html.A(link["text"], href=link["href"])))
    more = [html.P(["more of ours: ", html.Code(found.command)])] if found.command else []
    return [html.P(html.B(f"{found.paper}, {found.number}: {found.title}")), html.Div(sides, className="beside"), *more]


def _sweep_drawer(asked: Asked) -> list[Any]:
    found = kept_sweep(asked.sweep)
    frame = pd.DataFrame(found["frame"])
    pairs = zip(frame["network"], found["opens"], strict=True)
    opens = [None if one is None else link_to(name, network=one, drawer="") for name, one in pairs]
    table = table_part("sweep", frame, found["python"], found["title"], "network", opens, wrap=False)
    return [*map(html.P, found["remarks"]), table]


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
