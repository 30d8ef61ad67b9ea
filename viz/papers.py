"""The papers' tables as data frames and as pictures: a dot, a bar or a line for every network that was trained."""

from __future__ import annotations

import json
import re
import statistics
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import plotly.graph_objects as go

from ..automata.pda import PushdownAutomaton
from ..core.errors import FileFormatError, UnknownNameError
from ..core.imports import pd
from ..extract.saved import load_result
from ..extract.wording import NETWORKS, horizon_cell
from ..languages.catalogue import get_language, get_task, language_names
from ..models.base import StackModel
from ..models.checkpoint import ZOO, load_network, zoo_names
from ..models.rounding import Rounded
from ..papers.grid import CONVERGED, Grid, GridResults, read_grid, statistic
from ..papers.results import FOLDER, Results, declared, read_results, result_path
from ..papers.runner import EXPERIMENTS
from ..papers.sun1993_steps import figure_tables, steps_beside
from ..papers.suzgun2019 import TRACES_NAME
from ..papers.tables import NOT_RUN, NOTHING, TextTable, claims_table, grid_tables, run_command
from ..probe.trace import trace
from .figures import coloured_table, draw
from .style import CATEGORIES, OTHER, SHARES, laid_out, sentence

# ---- Accuracy along a training as a picture: a line for every network, in the colour of what became of it ----

# what becomes of a network, each with a colour and a dash for those who see none
FATES = {
    "learned, right in the end": (CATEGORIES[0], "solid"),
    "learned, wrong in the end": (CATEGORIES[3], "solid"),
    "never learned": (OTHER, "dot"),
}
_PANELS = {"last": "one rate", "rate falling": "rate falling in the last epoch"}  # networks of the results: panels
_TRACE_ROW = 190  # pixels


def fate_of(network: Mapping[str, Any], kind: str = "last") -> str:
    """Return which of `FATES` became of a network, by its trace and the test of the network of ``kind`` in the end.

    >>> fate_of({"trace": {"0": 0.0, "50": 1.0}, "test": {"last": 0.4}})
    'learned, wrong in the end'
    """
    right = max(_trace_points(network, kind).values()) >= CONVERGED
    kept = network["test"][kind] >= CONVERGED
    return "learned, right in the end" if kept else "learned, wrong in the end" if right else "never learned"


def traces_figure(results: Results) -> go.Figure:
    """Return a row of panels for each claim: at one rate, and with a rate that falls over the last part.

    ``results`` are those of `papers.suzgun2019.traces_experiment`.
    """
    from plotly.subplots import make_subplots

    rows = [claim.figures for claim in results.claims]
    if not rows:
        return sentence("No training was traced, so there is nothing to draw.")
    titles, lines = [], []
    for row, figures in enumerate(rows, start=1):
        for column, (kind, shown) in enumerate(_PANELS.items(), start=1):
            fates = [fate_of(network, kind) for network in figures["networks"]]
            right = fates.count("learned, right in the end")
            titles.append(f"{figures['row']}, {shown}: {right} of {len(fates)} in the end")
            lines += [(one, kind, fate, row, column) for one, fate in zip(figures["networks"], fates, strict=True)]
    grid = {"rows": len(rows), "cols": len(_PANELS), "shared_xaxes": True, "shared_yaxes": True}
    spaces = {"vertical_spacing": 0.28 / len(rows), "horizontal_spacing": 0.04}
    figure = make_subplots(**grid, **spaces, subplot_titles=titles)
    named = set[str]()
    for network, kind, fate, row, column in lines:
        points, (colour, dash) = _trace_points(network, kind), FATES[fate]
        hover = f"seed {network['seed']}, {fate}: {100 * network['test'][kind]:.1f} % of the test"
        figure.add_scatter(
            x=list(points),
            y=list(points.values()),
            mode="lines",
            name=fate,
            legendgroup=fate,
            showlegend=fate not in named,
            legendrank=list(FATES).index(fate),
            opacity=0.75,
            line={"color": colour, "dash": dash, "width": 1.6},
            hovertemplate=f"%{{x:,}} words<br>%{{y:.1%}}<extra>{hover}</extra>",
            row=row,
            col=column,
        )
        named.add(fate)
    figure.update_annotations(font={"size": 13})
    figure.update_yaxes(**SHARES, tickvals=[0, 0.5, 1])
    figure.update_xaxes(title={"text": "words seen"}, tickformat=",d", row=len(rows))
    title = f"{results.paper}: held-out words of D6 that are right"
    return laid_out(figure, title, _TRACE_ROW * len(rows) + 160, (60, 20, 90, 90), "below")


def _trace_points(network: Mapping[str, Any], kind: str) -> dict[int, float]:
    """Return accuracies by words seen; with a falling rate those at one rate are the same until it falls."""
    points = {int(words): share for words, share in network["trace"].items()}
    if kind == "last":
        return points
    falling = {int(words): share for words, share in network["trace, rate falling"].items()}
    return {**{words: share for words, share in points.items() if words < min(falling)}, **falling}


# ---- Counts of claims, and scores of grids: curves over sizes, or a dot a network ----

_OVER_N = re.compile(r"n = (\d+)( rounded)?")  # a score at one size, of the network itself or of the rounded one
_NUMBER = re.compile(r"[-+]?\d*\.?\d+(e[-+]?\d+)?")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross")
_LINE = 26  # pixels of a row
_WIDEST = 34  # characters of a line of a row's name


def claim_figures(results: Results) -> list[go.Figure]:
    """Return a figure for each quantity that a claim counted in several sets of words, such as lengths and depths.

    Of traces of accuracy it is one figure for all claims.
    """
    if results.experiment == TRACES_NAME:
        return [traces_figure(results)]
    figures = []
    for claim in results.claims:
        # these are sets of words, each with quantities, each with a count for every value
        sets = claim.figures.items()
        if not all(isinstance(counts, dict) and counts and all(map(_is_count, counts.values())) for _, counts in sets):
            continue
        for name in dict.fromkeys(name for _, counts in sets for name in counts):
            # how many words of each set have each value of the quantity, as bars side by side
            figure = go.Figure(layout={"barmode": "group"})
            for number, (words, counts) in enumerate(sets):
                found = counts.get(name, {})
                colour, shape = CATEGORIES[number % len(CATEGORIES)], ("", "/", ".")[number % 3]
                figure.add_bar(
                    x=list(map(int, found)),
                    y=list(found.values()),
                    name=words,
                    marker={"color": colour, "pattern": {"shape": shape}},
                    hovertemplate=f"{name} %{{x}}<br>%{{y:,}} words<extra>{words}</extra>",
                )
            figure.update_xaxes(title={"text": name})
            figure.update_yaxes(title={"text": "words"})
            figures.append(laid_out(figure, f"{results.paper}: {name}", 380, (60, 20, 80, 50)))
    return figures


def _is_count(found: Any) -> bool:
    return isinstance(found, dict) and all(map(str.isdigit, found))


def grid_figures(grid: Grid, results: GridResults) -> list[go.Figure]:
    """Return a figure for each score that is shown and that some network has, or one curve; none without results.

    Where scores are those at single sizes they make a curve.
    """
    if grid.scores and all(_OVER_N.fullmatch(score) for score in grid.scores):
        return [curve_figure(grid, results)] if results.rows else []
    scores = [
        score for score in grid.scores if any(score in one.scores for row in results.rows for one in row.networks)
    ]
    return [score_figure(grid, results, score) for score in scores]


def curve_figure(grid: Grid, results: GridResults) -> go.Figure:
    """Return a line for every row over all sizes n that were measured, dotted for the rounded network.

    It is the network of a row that is best on validation.
    """
    figure = go.Figure()
    for number, row in enumerate(grid.rows):
        done = results.row(row.name)
        networks = [] if done is None else [network.scores for network in done.networks]
        for rounded in (False, True):
            # the score of the row's chosen network at each size
            points = dict[int, float]()
            for score in networks[0] if networks else ():
                match = _OVER_N.fullmatch(score)
                if match is not None and bool(match[2]) == rounded:
                    value = statistic("chosen", networks, score)
                    points |= {} if value is None else {int(match[1]): value}
            if not points:
                continue
            points = dict(sorted(points.items()))
            name, colour = row.name + (", rounded" if rounded else ""), CATEGORIES[number % len(CATEGORIES)]
            figure.add_scatter(
                x=list(points),
                y=list(points.values()),
                mode="lines+markers",
                name=name,
                line={"color": colour, "dash": "dot" if rounded else "solid", "width": 2},
                marker={"symbol": _SYMBOLS[number % len(_SYMBOLS)], "size": 6},
                hovertemplate="n = %{x}<br>%{y:.1%}<extra>" + name + "</extra>",
            )
    figure.update_xaxes(title={"text": "n"}, rangemode="tozero")
    figure.update_yaxes(**SHARES)
    title = f"{grid.paper}:<br>strings of size n that are predicted"  # a line of a telephone's width each
    return laid_out(figure, title, 420, (60, 20, 60, 120), "below", "container")


def score_figure(grid: Grid, results: GridResults, score: str) -> go.Figure:
    """Return every network's ``score`` as a dot, a line a row, our median as a bar, the paper's figures as diamonds.

    Rows that were not run have the paper's figures alone.
    """
    factor, unit = (100, "%") if grid.shares else (1, "")
    names, ours, medians, theirs = list[str](), list[Any](), list[Any](), list[Any]()
    for row in grid.rows:
        networks = [network for run in results.runs(row.name) for network in run.networks]
        values = [network.scores[score] for network in networks if score in network.scores]
        # the figures that the paper prints for the score, whichever statistics they are; a remark is none
        found = [text.strip(" %") for column, text in row.reported.items() if column.rpartition(" ")[0] == score]
        printed = [float(text) for text in found if _NUMBER.fullmatch(text)]
        if not values and not printed:
            continue
        names.append("<br>".join(textwrap.wrap(row.name, _WIDEST)))
        ours += [(names[-1], factor * value) for value in values]
        medians += [(names[-1], factor * statistics.median(values))] if values else []
        theirs += [(names[-1], value) for value in printed]
    mine = {"color": CATEGORIES[0], "line": {"width": 2}}
    figure = go.Figure()
    for name, points, marker in (
        ("ours, one network each", ours, {"symbol": "circle-open", "size": 8, **mine}),
        ("our median", medians, {"symbol": "line-ns-open", "size": 16, **mine}),
        ("the paper", theirs, {"symbol": "diamond", "size": 9, "color": CATEGORIES[3]}),
    ):
        hover = "%{y}<br>%{x:.4g}" + unit + "<extra>" + name + "</extra>"
        rows, values = [one[0] for one in points], [one[1] for one in points]
        figure.add_scatter(x=values, y=rows, mode="markers", name=name, marker=marker, hovertemplate=hover)
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], range=[-0.7, len(names) - 0.3])
    figure.update_xaxes(title={"text": f"{score}{', ' + unit if unit else ''}"})
    height = _LINE * len(names) + 210
    return laid_out(figure, f"{grid.paper}:<br>{score}", height, (40, 20, 60, 130), "below", "container")


# ---- The papers' tables with our numbers beside theirs, as data frames; what was not measured says so ----

_COLUMNS = ("section", "word", "step", "input", "state", "action", "stack")

VERIFY = "verify"  # the table of `stacklens verify --all`
_OTHERS = ("language", "rounded network", "network")


def step_tables(results: Results) -> list[TextTable]:
    """Return a table of the steps on every word that a claim was traced on; none where there are no such words."""
    rows, commands = list[tuple[str, ...]](), list[str]()
    for claim in results.claims:
        for word, found in claim.figures.items():
            if not isinstance(found, dict) or "steps" not in found:
                continue
            commands += [str(found["command"])] if "command" in found else []
            for number, step in enumerate(found["steps"] if isinstance(found["steps"], list) else (), 1):
                state = " ".join(f"{value:.4f}" for value in step["state"])
                stack = " ".join(f"{symbol} {length:.4f}" for symbol, length in step["segments"]) or "empty"
                cells = (step["input"], state, f"{step['action']:.4f}", stack)
                rows.append((claim.section, word, str(number), *cells))
    caption = "; ".join(dict.fromkeys(commands))
    return [TextTable("Steps on single words", _COLUMNS, tuple(rows), caption)] if rows else []


_VERIFIED = (
    *("network", "language", "automaton", "states x stack symbols", "proof", "certificate", "all words checked"),
    *(f"differs from the {other}" for other in _OTHERS),
    *(f"agrees with the {other} on all words" for other in NETWORKS),
    "why not",
)


@dataclass(frozen=True)
class PaperTables:
    """One experiment: what the paper is, what was measured, the command that measures it, tables and figures."""

    paper: str
    title: str
    command: str
    measured: bool
    tables: tuple[TextTable, ...]
    figures: tuple[go.Figure, ...] = ()


@lru_cache(maxsize=1)
def table_names() -> dict[str, str]:
    """Return the names of all experiments, and of `VERIFY`, each with a line that says what it is."""
    built = {name: build() for name, build in EXPERIMENTS.items()}
    titles = {name: f"{one.paper}: {one.title}" for name, one in built.items()}
    return {**titles, VERIFY: "stacklens: proof, exhaustive checks and certificate of every network of the zoo"}


def paper_tables(name: str, folder: Path = FOLDER) -> PaperTables:
    """Return what is called ``name``, one of `table_names`, with the results in ``folder``. Raises UnknownNameError:
    there is no such experiment; FileFormatError: a file in the folder does not hold results.
    """
    path = result_path(name, folder)
    if name == VERIFY:  # the table of all networks, without rows where it was not measured
        command, rows = "stacklens verify --all", tuple[tuple[str, ...], ...]()
        title = "proof, exhaustive checks and certificate of every network of the zoo"
        if path.is_file():
            try:
                rows = tuple(map(_network_row, json.loads(path.read_text(encoding="utf-8"))["networks"]))
            except (ValueError, KeyError, TypeError):
                made = f"write it anew: `{command} --report {path}`"
                raise FileFormatError(f"{path}: no table of networks; {made}") from None
        table = TextTable(title, _VERIFIED, rows, "" if path.is_file() else "not measured")
        return PaperTables("stacklens", title, command, path.is_file(), (table,))
    if name not in EXPERIMENTS:
        raise UnknownNameError("table", name, list(table_names()))
    experiment = EXPERIMENTS[name]()
    command, measured, figures = f"stacklens papers run {name}", path.is_file(), list[go.Figure]()
    if isinstance(experiment, Grid):
        found = read_grid(name, folder)
        results = found or GridResults(experiment.paper, name, experiment.title)
        command, measured = run_command(experiment, results), found is not None
        tables, figures = grid_tables(experiment, results), grid_figures(experiment, results)
    elif measured:
        claims = read_results(name, folder)
        tables = [claims_table(claims), *figure_tables(claims), *step_tables(claims)]
        figures = claim_figures(claims)
    else:
        missing = tuple((claim.section, claim.claim, claim.paper, "not measured") for claim in experiment.claims)
        title, columns = f"{experiment.paper}: {experiment.title}", ("section", "what", "paper", "ours")
        tables = [TextTable(title, columns, missing, "not measured")]
    return PaperTables(experiment.paper, experiment.title, command, measured, tuple(tables), tuple(figures))


def _network_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    name, language = row["network"].removesuffix(".pt"), row["language"] or "not known"
    if row["automaton"] is None:
        return (name, language, "none", *("",) * (len(_VERIFIED) - 4), row["reason"])
    sizes = f"{row['automaton']['states']} x {row['automaton']['stack_symbols']}"
    by_other = {check["between"][1]: check for check in row["checks"]}
    words = next((f"{check['words']:,} of length <= {check['max_length']}" for check in row["checks"]), "")
    differ = [f"{by_other[other]['disagreements']:,}" if other in by_other else "not compared" for other in _OTHERS]
    why = "; ".join(row[kind]["reason"] for kind in ("proof", "certificate") if row[kind]["reason"])
    found = "contradicted" if row["status"] else "yes"
    horizons = [horizon_cell(row.get("horizon", {}).get(other)) for other in NETWORKS]
    verdicts = row["proof"]["verdict"], row["certificate"]["verdict"]
    return (name, language, found, sizes, *verdicts, words, *differ, *horizons, why)


_BESIDE, _WHOSE = ", ours / paper", (("ours", 0), ("paper", 2))
_IN_ZOO = {tuple(row): network for network, row in declared("zoo")["zoo"].items()}  # see declared/zoo.toml


def zoo_networks(name: str, table: TextTable) -> list[str]:
    """Return for every row of the table the network of the zoo that is of its kind, "" where there is none."""
    if name == VERIFY:
        return [row[0] if row[0] in zoo_names() else "" for row in table.rows]
    return [next((_IN_ZOO[name, *row[:n]] for n in (1, 2, 3) if (name, *row[:n]) in _IN_ZOO), "") for row in table.rows]


def frame_of(table: TextTable) -> pd.DataFrame:
    """Return a table as a data frame; ours and the paper's are two columns, of numbers where all of them are.

    A column's name that comes twice gets a number.
    """
    columns = list[tuple[str, list[str]]]()
    for place, name in enumerate(table.columns):
        cells, wide = [row[place] for row in table.rows], table.columns[1:2] == ("of the seeds",) and place > 1
        if name.endswith(_BESIDE) or (wide and any(" / " in cell for cell in cells)):
            pairs = [cell.partition(" / ") for cell in cells]
            columns += [(f"{name.removesuffix(_BESIDE)}: {whose}", [pair[i] for pair in pairs]) for whose, i in _WHOSE]
        else:
            columns.append((name, cells))
    made, met = dict[str, list[str]](), Counter[str]()
    for name, cells in columns:
        met[name] += 1
        made[name if met[name] == 1 else f"{name} ({met[name]})"] = cells
    frame = pd.DataFrame(made)
    for name in frame.columns[[name.endswith((": ours", ": paper")) for name in frame.columns]]:
        known = ~frame[name].isin(("", NOTHING, NOT_RUN))
        numbers = pd.to_numeric(frame[name], errors="coerce")
        frame[name] = numbers if numbers[known].notna().all() else frame[name]
    return frame


# ---- The papers' figures by number, ours beside them: what each shows as far as the text has it, what differs ----

FigurePart: TypeAlias = "go.Figure | PushdownAutomaton | TextTable"
_AUTOMATA = {"raw": "before minimisation", "minimised": "minimised"}


@dataclass(frozen=True)
class NumberedFigure:
    """A figure of a paper, or a table of steps, with ours beside it."""

    paper: str
    number: str  # such as "figure 2"
    title: str
    says: str  # what the paper's shows; without its picture, which its text does not have
    differs: str  # what is not the same in ours
    theirs: dict[str, FigurePart]  # what there is to see by its name, as the paper's text prints or describes it
    ours: dict[str, FigurePart]
    opens: tuple[str, str | None] | None = None  # the network and the word of ours, None where it is of several
    command: str = ""  # what draws or measures more of ours


@lru_cache(maxsize=1)
def numbered_names() -> dict[str, str]:
    """Return the names of the papers' figures that ours stand beside, each with a line that says what it is."""
    return {name: f"{one['paper']}, {one['number']}: {one['title']}" for name, one in declared("figures").items()}


def numbered_figure(name: str) -> NumberedFigure:
    """Return the figure called ``name``, one of `numbered_names`. Raises UnknownNameError: there is no such figure.

    >>> found = numbered_figure("sun1993-figure-10")
    >>> found.number, list(found.theirs), list(found.ours)
    ('figure 10', ['automaton'], ['nnpda-palindrome, minimised'])
    """
    if name not in (content := declared("figures")):
        raise UnknownNameError("figure", name, list(content))
    given = content[name]
    network, word, pick = given.get("network"), given.get("word"), given.get("pick", "")
    theirs: dict[str, FigurePart] = {}
    if "automaton" in given:
        named, known = given["automaton"], given["automaton"] in language_names()
        reference = get_language(named).automaton if known else getattr(get_task(named), "reference", None)
        assert reference is not None
        theirs["automaton"] = reference
    if given.get("figure") == "predictions":
        theirs["table"] = coloured_table(frame_of(TextTable("", tuple(given["columns"]), given["rows"])), "as printed")
    elif "rows" in given:
        theirs["table"] = TextTable("as printed", tuple(given["columns"]), tuple(map(tuple, given["rows"])))
    ours: dict[str, FigurePart] = {}
    for which in given.get("automata", ()):
        result = load_result(ZOO / f"{network}.json", trusted=True)
        ours[f"{network}, {_AUTOMATA[which]}"] = result.raw if which == "raw" and result.raw else result.automaton
    if word is not None:
        model = load_network(ZOO / f"{network}.pt").model
        runner: StackModel[Any] = Rounded(model) if given.get("rounded") else model
        ours[f"{network} on {word}"] = draw(given.get("figure", "paper"), runner, trace(runner, [word], stacks=True))
    if pick == "figures":
        found = paper_tables(given["experiment"])
        ours |= {str(figure.layout.title.text).rpartition(": ")[2]: figure for figure in found.figures}
    elif pick:
        results = read_results(given["experiment"])
        tables = [steps_beside(results)] if pick == "steps" else figure_tables(results)
        ours |= {table.title: table for table in tables if pick == "steps" or pick in table.title}
    texts = {part: given[part] for part in ("paper", "number", "title", "says", "differs")}
    opens = None if network is None else (network, word)
    return NumberedFigure(**texts, theirs=theirs, ours=ours, opens=opens, command=given.get("command", ""))
