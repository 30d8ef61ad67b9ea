"""Parts of the drawers: figures and tables with their Python lines, claims, cards of networks, judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import dash_ag_grid as dag
import pandas as pd
import plotly.graph_objects as go
from dash import dcc, html

from ...automata.formats.json import from_json, to_json_line
from ...automata.pda import PushdownAutomaton, Symbol, Word
from ...core.errors import StacklensError
from ...extract.accuracy import SizeScores, scores_by_size
from ...extract.by_name import specification_for, subject_named
from ...extract.claims import claims_of, first_difference, headline
from ...extract.evaluation.judge import JudgedWord, judge_words, parse_words, word_table
from ...extract.evaluation.trust import SIGNS, covered
from ...extract.specification import Specification
from ...extract.wording import as_sentence
from ...languages.words import EMPTY_WORD, format_word
from ...models.checkpoint import lines_of
from ..curves import accuracy_figure
from ..style import sentence, themed
from .extractions import Known, known, settings_known
from .networks import checkpoint_of, fitting_specification, has_network, network_names, network_title, own_names
from .requests import View, address_of

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
    drawn = dcc.Graph(id=f"figure-{_file_part(name)}", figure=figure, config=cast(Any, config))
    buttons = [
        html.Button(
            kind.upper(),
            title=f"save this figure as {kind.upper()}",
            **extra(data_kind=kind, data_name=f"{file}-{_file_part(name)}", type="button"),
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
    # what is no number is left empty
    records = frame.to_dict("records")
    rows = [{str(name): None if value != value else value for name, value in row.items()} for row in records]
    for row, what in zip(rows, opens or [], strict=False):
        row[_OPEN] = what
    options = {**_GRID, "defaultCsvExportParams": {"fileName": f"{file}-{_file_part(name)}.csv"}}
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
    save = html.Button("CSV", id={"csv": name}, title=f"save {name} as CSV", **extra(type="button"))
    placed = html.Div(grid, role="region", **extra(aria_label=name))
    return html.Div([placed, save, *([in_python(python)] if python else [])], className="tablepart")


def _file_part(name: str) -> str:
    return name.replace(" ", "-").replace(":", "")


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
    elif link:
        column |= {"cellRenderer": "WordButton"}
        least = min(width, _BROKEN) if wrap else width
    else:
        column |= {"cellClassRules": _RULES}
        if wrap and width > _BROKEN and len(values) <= _WRAPPED:
            column |= {"wrapText": True, "autoHeight": True}
            least = _BROKEN
    return {**column, "minWidth": _CHARACTER * least + _EDGES}


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
    """Return what there is to say of the network called ``name``, by what each line is about."""
    if not has_network(name):
        # a saved result is known as long as it is there, and describes its network
        found = known(name)
        assert found is not None
        network = found.report["network"]
        kind = {"network": network["path"] or network["name"], "kind": network["kind"], "task": network["task_kind"]}
        return {"name": network_title(name), **kind, "symbols": " ".join(network["alphabet"])}
    model = checkpoint_of(name).model
    paper = {"paper": PAPERS[model.name]} if model.name in PAPERS else {}
    return {"name": network_title(name), **paper, **lines_of(model)}


def network_list(opened: Iterable[str]) -> list[dict[str, Any]]:
    """Return groups of networks, files that were ``opened`` first: of each network its name, its title and one line."""
    groups: dict[str, list[dict[str, str]]] = {}
    files = list[str]()
    for name in dict.fromkeys((*own_names(), *opened)):
        with suppress(StacklensError):  # it is kept no longer
            has_network(name)
            files += [] if name in network_names() else [name]
    for name in (*files, *network_names()):
        group = "your own" if name in files else PAPERS.get(checkpoint_of(name).model.name, _OTHERS)
        groups.setdefault(group, []).append({"name": name, "title": network_title(name), "line": _network_line(name)})
    order = ["your own", *dict.fromkeys(PAPERS.values()), _OTHERS]
    return [{"group": group, "networks": groups[group]} for group in order if group in groups]


def _network_line(name: str) -> str:
    """Return a network in one line: what it does, how large it is, and what was read out of it."""
    if not has_network(name):
        found = known(name)
        assert found is not None
        return f"only an automaton, its network is not here. {as_sentence(headline(found.report, brief=True))}"
    checkpoint = checkpoint_of(name)
    model, task = checkpoint.model, checkpoint.task.get("language")
    what = f"{model.task_kind}{'' if task is None else f' on {task}'}, {model.n_units} units"
    found = known(name)
    says = "Nothing has been read out of it yet." if found is None else as_sentence(headline(found.report, brief=True))
    return f"{what}. {says}"


# ---- Claims, accuracy by size, and many words judged at once ----

MOST_WORDS, MOST_SYMBOLS, LONGEST = 2_000, 10_000, 2_000  # of a list: words, symbols in all, symbols of one word
_DRAWN = 24  # words that the page draws, about
_HORIZON = "#8C8C8C"  # seen on white and on black
# how many of which lengths; where only some words are meant these are sizes of pieces, and numbers are taken as shares
_LENGTHS = {False: ((_DRAWN, (2, 40)),), True: ((10 * _DRAWN, (2, 6)), (3 * _DRAWN, (16, 32)))}


def known_specification(name: str) -> Specification | None:
    """Return what to check the network called ``name`` against; None where that is nothing we know.

    It is what somebody named when it was extracted, or else what its file says.
    """
    settings = settings_known(name)
    return fitting_specification(checkpoint_of(name), None if settings is None else settings.language)


def coverage_sentence(pda: PushdownAutomaton) -> str:
    """Return how many of the transitions, and of two in a row, the covering words take."""
    singles, pairs = covered(pda)
    return (
        f"{singles:,} of {len(pda.transitions):,} transitions are taken by words that the checks are made on, "
        f"and {pairs:,} pairs of two in a row."
    )


def accuracy(name: str, theme: str = "light") -> go.Figure:
    """Return the accuracy by size of the network called ``name``, with its automaton's where that is known."""
    found = known(name)
    automaton = None if found is None or found.automaton is None else to_json_line(found.automaton)
    try:
        specification = known_specification(name)
        if specification is None:
            raise StacklensError("what this network was trained on is not known, so nothing is right or wrong")
        scores = _scores_cached(name, specification.name, automaton)
        figure = accuracy_figure(scores, f"{network_title(name)}: right by size")
        if scores.size == "length" and found is not None:
            _mark_horizons(figure, found.report)
    except StacklensError as error:
        figure = sentence(f"Nothing to draw: {error}.")
    return themed(figure, theme)


def _mark_horizons(figure: go.Figure, report: dict[str, Any]) -> None:
    """Draw a line at the length up to which network and rounded network are shown to agree with the automaton."""
    largest = max((max(line.x, default=0) for line in figure.data), default=0)
    for place, (who, entry) in enumerate(report.get("horizon", {}).items()):
        if entry["length"] is not None and not entry["every_length"]:
            figure.add_vline(x=entry["length"], line={"dash": "dot", "width": 1.5, "color": _HORIZON})
            label = f"horizon, {who}: {entry['length']}"
            side = "left" if 2 * entry["length"] < largest else "right"  # where there is room
            figure.add_annotation(x=entry["length"], y=0.12 + 0.2 * place, text=label, xanchor=side, showarrow=False)


@lru_cache(maxsize=64)
def _scores_cached(name: str, subject: str, automaton: str | None) -> SizeScores:
    """Return the scores, which cost a second or two, and are the same for all users."""
    model = checkpoint_of(name).model
    specification = specification_for(subject_named(subject, model.task_kind))
    assert specification is not None
    return scores_by_size(model, specification, None if automaton is None else from_json(automaton))


@dataclass(frozen=True)
class JudgedWords:
    """Words as they were judged."""

    # a row a word, with a column "open": the address that shows the word at the step where runs part
    frame: pd.DataFrame
    said: str = ""  # how many agree, in a sentence
    problem: str | None = None  # what is wrong with the list, one sentence, or None


def judged_words(name: str, text: str, only_different: bool = False) -> JudgedWords:
    """Return the verdicts on the words of ``text``, one a line, by the network called ``name`` and all beside it."""
    try:
        model = checkpoint_of(name).model
        words = _list_of(text, model.alphabet)
        found = known(name)
        automaton, stacks = (None, None) if found is None else (found.automaton, found.stacks)
        judged = judge_words(model, words, automaton, known_specification(name), stacks)
    except StacklensError as error:
        return JudgedWords(pd.DataFrame(), problem=f"{error}.")
    different = [one for one in judged if not one.agree]
    frame = word_table(shown := different if only_different else judged)
    frame["open"] = [
        address_of(View(name, format_word(one.word), step=one.step or max(1, len(one.word)))) for one in shown
    ]
    return JudgedWords(frame, _judged_sentence(judged, different, found))


def _list_of(text: str, alphabet: Sequence[Symbol]) -> list[Word]:
    """Return the words of ``text``."""
    if (lines := text.count("\n")) >= 2 * MOST_WORDS:
        raise StacklensError(f"these are {lines:,} lines; expected at most {MOST_WORDS:,} words at once")
    words = parse_words(text, alphabet)
    symbols, longest = sum(map(len, words)), max(map(len, words), default=0)
    if len(words) > MOST_WORDS:
        raise StacklensError(f"these are {len(words):,} words; expected at most {MOST_WORDS:,} at once")
    if longest > LONGEST:
        raise StacklensError(f"the longest word has {longest:,} symbols; expected at most {LONGEST:,} here")
    if symbols > MOST_SYMBOLS:
        raise StacklensError(f"these words have {symbols:,} symbols in all; expected at most {MOST_SYMBOLS:,} at once")
    return words


def _judged_sentence(judged: list[JudgedWord], different: list[JudgedWord], found: Known | None) -> str:
    if not judged:
        return ""
    count = f"{len(judged):,} {'word' if len(judged) == 1 else 'words'}"
    missing = "" if found is not None and found.automaton is not None else " There is no automaton to compare with yet."
    if not different:
        return f"✓ {count}: all agree.{missing}"
    return f"✗ {count}: not all agree on {len(different):,} of them.{missing}"


def words_to_try(name: str, seed: int) -> str:
    """Return words that suit the network called ``name``, one a line: short ones, members and near-misses, longer ones.

    Of a task that means only some words there are these.
    """
    specification = known_specification(name)
    if specification is None:
        return "\n".join([EMPTY_WORD, *checkpoint_of(name).model.alphabet])
    drawn = specification.short_words(_DRAWN // 4)
    for number, lengths in _LENGTHS[specification.partial_domain]:
        drawn += specification.long_words(number, lengths, seed)
    return "\n".join(dict.fromkeys(format_word(word) or EMPTY_WORD for word in drawn))
