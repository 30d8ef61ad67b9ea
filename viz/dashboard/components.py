"""What the drawers are made of: figures with their files and Python lines, tables that are sorted and searched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import dash_ag_grid as dag
import pandas as pd
import plotly.graph_objects as go
from dash import dcc, html

from ...core.errors import StacklensError
from ...extract.claims import claims_of, first_difference, headline
from ...extract.evaluation.trust import SIGNS
from ...extract.wording import as_sentence
from ...models.checkpoint import lines_of
from .extractions import known
from .networks import has_network, load, network_names, network_title, own_names

_CHARACTER, _EDGES = 7, 24  # pixels of a character, and of a cell's two edges
_BUTTON = 4  # characters' room in a column's head for its filter
_NARROW, _WIDE, _BROKEN = 5, 34, 15  # characters of a column, at least and at most, and at least of broken lines
_ROW, _SHOWN = 27, 16  # pixels of a row, and rows that are shown at once
_WRAPPED = 60  # rows of a table, at most, whose sentences are broken into lines
_OPEN = "open"  # what a row's button brings onto the bench
_RULES = {
    "said-yes": "params.value && params.value[0] == '✓'",
    "said-no": "params.value && params.value[0] == '✗'",
}
_THEME = """themeBalham.withParams({
    backgroundColor: 'var(--ground)', foregroundColor: 'var(--ink)', borderColor: 'var(--line)',
    headerBackgroundColor: 'var(--soft)', headerTextColor: 'var(--ink)', oddRowBackgroundColor: 'var(--ground)',
    chromeBackgroundColor: 'var(--soft)', accentColor: 'var(--link)', textColor: 'var(--ink)',
    cellTextColor: 'var(--ink)', subtleTextColor: 'var(--ink)', fontFamily: 'inherit', fontSize: 13,
    headerFontSize: 12, cellHorizontalPadding: 8,
})"""
_GRID = {
    "theme": {"function": " ".join(_THEME.split())},
    "animateRows": False,
    "enableCellTextSelection": True,
    "ensureDomOrder": True,
    "suppressColumnVirtualisation": True,
    "suppressFieldDotNotation": True,
    "rowHeight": _ROW,
}
_COLUMN: dict[str, Any] = {
    "resizable": True,
    "sortable": True,
    "filter": True,
    "wrapHeaderText": True,
    "autoHeaderHeight": True,
    "comparator": {"function": "counted"},  # 9 before 10, also in names of files
}


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
    """Return a figure, read aloud as its title, its lines and its notes, with buttons that save it as ``file``."""
    title = figure.layout.title.text or name
    lines = dict.fromkeys(str(one.name) for one in figure.data if one.name)
    notes = [str(note.text) for note in figure.layout.annotations if note.text]
    config = {"displaylogo": False, "responsive": True, "displayModeBar": False}
    drawn = dcc.Graph(id=f"figure-{_plain(name)}", figure=figure, config=cast(Any, config))
    buttons = [
        html.Button(
            kind.upper(),
            title=f"save this figure as {kind.upper()}",
            **extra(data_kind=kind, data_name=f"{file}-{_plain(name)}", type="button"),
        )
        for kind in ("svg", "png")
    ]
    spoken = "; ".join([title, *lines, *notes]).replace("<br>", " ")
    shown = html.Div(drawn, className="figure", role="img", **extra(aria_label=spoken))
    return html.Div([shown, html.Div(buttons, className="tools"), in_python(python)], className="figurepart")


def table_part(
    name: str,
    frame: pd.DataFrame,
    python: str,
    file: str,
    link: str = "",
    opens: Sequence[dict[str, Any] | None] | None = None,
    wrap: bool = True,
) -> html.Div:
    """Return a table, with a button that saves it as ``file``, and its Python lines.

    Args:
        name: what it is called, for who cannot see it.
        frame: a row a row; marks, ✓ and ✗, are coloured.
        python: the lines that make it.
        file: how the name of its file begins.
        link: the column whose cells are buttons that bring a word onto the bench.
        opens: for every row the word, step and kind of network that its button brings, None where it has none.
        wrap: whether sentences are broken into lines; otherwise a row is one line, and the table is as wide as it is.
    """
    rows = _rows(frame)
    for row, what in zip(rows, opens or [], strict=False):
        row[_OPEN] = what
    options = {**_GRID, "defaultCsvExportParams": {"fileName": f"{file}-{_plain(name)}.csv"}}
    many = len(frame) > _SHOWN
    grid = dag.AgGrid(
        id={"grid": name},
        rowData=rows,
        columnDefs=_columns(frame, link if opens is not None else "", wrap),
        defaultColDef=_COLUMN,
        dashGridOptions=options if many else {**options, "domLayout": "autoHeight"},
        className="grid",
        style={"height": f"{_ROW * (_SHOWN + 2)}px"} if many else {"height": None},
    )
    save = html.Button("CSV", id={"csv": name}, title=f"save {name} as CSV", **extra(type="button"))
    placed = html.Div(grid, role="region", **extra(aria_label=name))
    return html.Div([placed, save, *([in_python(python)] if python else [])], className="tablepart")


def _plain(name: str) -> str:
    return name.replace(" ", "-").replace(":", "")


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as plain data; what is no number is left empty."""
    return [
        {str(name): None if value != value else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def _columns(frame: pd.DataFrame, link: str, wrap: bool) -> list[dict[str, Any]]:
    return [_column(str(name), frame[name], str(name) == link, wrap) for name in frame.columns]


def _column(name: str, values: pd.Series[Any], link: bool, wrap: bool) -> dict[str, Any]:
    width = _characters(values, name)
    column: dict[str, Any] = {"field": name, "headerName": name, "flex": width, "tooltipField": name}
    least = width
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        column |= {"type": "rightAligned", "valueFormatter": {"function": "written(params.value)"}}
    elif link:
        column |= {"cellRenderer": "WordButton"}
        least = min(width, _BROKEN) if wrap else width
    else:
        column |= {"cellClassRules": _RULES}
        if wrap and width > _BROKEN and len(values) <= _WRAPPED:
            column |= {"wrapText": True, "autoHeight": True}
            least = _BROKEN
    return {**column, "minWidth": _CHARACTER * least + _EDGES}


def _characters(values: pd.Series[Any], name: str) -> int:
    """Return how many characters a column is wide; its head is broken between words."""
    floats = bool(pd.api.types.is_float_dtype(values))
    written = "{:,}" if pd.api.types.is_integer_dtype(values) else "{:.5g}" if floats else "{}"
    head = max(map(len, name.split()), default=0) + _BUTTON
    longest = max([head, *(len(written.format(value)) for value in values)])
    return min(max(longest, _NARROW), _WIDE)


# ---- The claims on an automaton, each with the words that it is about, so that one click puts them on the bench.


def claims_with_words(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every claim of a report: its question, its mark, what it rests on, and a word that shows it, or None.

    "rounded" says whether it is the rounded network that shows it on that word.
    """
    first = None if report["automaton"] is None else first_difference(report)
    return [
        {
            "what": claim.what,
            "sign": SIGNS[claim.verdict],
            "verdict": claim.verdict,
            "says": claim.words,
            "word": claim.word,
            "rounded": "rounded" in (first or "") if claim.what == "result" else "rounded" in claim.what,
        }
        for claim in claims_of(report)
    ]


# ---- What the page says of networks: a card of each, and the list of all by the paper that their kind is from ----

PAPERS = {  # of each kind of network the paper that it is from
    "nnpda": "Sun et al. 1993: neural network pushdown automata",
    "stack-rnn": "Joulin & Mikolov 2015: Stack RNN",
    "list-rnn": "Joulin & Mikolov 2015: Stack RNN",
    "neural-stack": "Grefenstette et al. 2015, Hao et al. 2018: neural stacks",
    "buffered-neural-stack": "Grefenstette et al. 2015, Hao et al. 2018: neural stacks",
    "marnn-stack-rnn": "Suzgun et al. 2019: memory-augmented RNN",
    "marnn-stack-lstm": "Suzgun et al. 2019: memory-augmented RNN",
    "baby-ntm": "Suzgun et al. 2019: memory-augmented RNN",
}
_OTHERS = "others"


def network_card(name: str) -> dict[str, str]:
    """Return what there is to say of the network called ``name``, by what each line is about.

    Raises:
        StacklensError: there is no such network.
    """
    if not has_network(name):
        return _result_card(name)
    model = load(name).model
    paper = {"paper": PAPERS[model.name]} if model.name in PAPERS else {}
    return {"name": network_title(name), **paper, **lines_of(model)}


def _result_card(name: str) -> dict[str, str]:
    """Return what a saved result says of its network, which is not here."""
    found = known(name)
    assert found is not None  # a saved result is known as long as it is there
    network = found.report["network"]
    said = {"network": network["path"] or network["name"], "kind": network["kind"], "task": network["task_kind"]}
    return {"name": network_title(name), **said, "symbols": " ".join(network["alphabet"])}


def network_list(opened: Iterable[str]) -> list[dict[str, Any]]:
    """Return groups of networks, files that were ``opened`` first: of each network its name, its title and one line."""
    groups: dict[str, list[dict[str, str]]] = {}
    files = [name for name in dict.fromkeys((*own_names(), *opened)) if _is_there(name) and name not in network_names()]
    for name in (*files, *network_names()):
        group = "your own" if name in files else PAPERS.get(load(name).model.name, _OTHERS)
        groups.setdefault(group, []).append({"name": name, "title": network_title(name), "line": _line(name)})
    order = ["your own", *dict.fromkeys(PAPERS.values()), _OTHERS]
    return [{"group": group, "networks": groups[group]} for group in order if group in groups]


def _is_there(name: str) -> bool:
    try:
        has_network(name)
    except StacklensError:
        return False
    return True


def _line(name: str) -> str:
    """Return a network in one line: what it does, how large it is, and what was read out of it."""
    if not has_network(name):
        found = known(name)
        assert found is not None
        return f"only an automaton, its network is not here. {as_sentence(headline(found.report, brief=True))}"
    checkpoint = load(name)
    model, task = checkpoint.model, checkpoint.task.get("language")
    what = f"{model.task_kind}{'' if task is None else f' on {task}'}, {model.n_units} units"
    found = known(name)
    says = "Nothing has been read out of it yet." if found is None else as_sentence(headline(found.report, brief=True))
    return f"{what}. {says}"
