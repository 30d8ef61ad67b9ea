"""What the page shows of what was read out of a network: the automaton, its run, and who visits which state."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from ...automata.formats.dot import render, to_dot
from ...automata.formats.json import to_json
from ...automata.formats.textbook import to_jflap
from ...automata.pda import PushdownAutomaton, State, Word
from ...core.errors import StacklensError
from ...extract.evaluation.automaton_runs import run_table, visit_table, visiting_words
from ...extract.verification.divergence import Drift
from ...extract.wording import merged_claim, nothing_found
from ...languages.words import parse_word
from ...models.base import StackModel, one_thread
from ...models.rounding import Rounded
from ...probe.trace import Trace, trace
from ..automaton import stacks_figure
from ..figures import draw, paper_figure
from ..hidden import state_map
from ..probing import drift_figure
from ..step_tables import prediction_table, step_table, trace_data
from ..style import sentence, themed
from .extractions import ExtractionSettings, Known, known, settings_known
from .networks import checkpoint_of, file_of, fitting_specification, truth_by_name
from .requests import LONG, View
from .saved import is_saved, saved

if TYPE_CHECKING:
    import pandas as pd


# ---- Words as they are typed, and what a network does on them; long ones are traced once for all who look ----

LONGEST_WORD = 10_000  # symbols of a word
LONGEST_STACKS = 1_000  # symbols of a word whose stacks are drawn: there are as many numbers again at every step
_SHARED = 8  # traces of long words


def read_word(text: str, model: StackModel[Any]) -> Word:
    """Return the word that was typed for ``model``."""
    check_typed_length(text)
    return parse_word(text, model.alphabet)


def check_typed_length(text: str) -> None:
    """Check that the word that was typed is not too long for the page."""
    if len(text) > LONGEST_WORD:
        raise StacklensError(f"this word has {len(text):,} characters; expected at most {LONGEST_WORD:,}")


def runner_of(network: str, rounded: bool) -> StackModel[Any]:
    """Return the network called so, or its rounded one."""
    model = checkpoint_of(network).model
    return Rounded(model) if rounded else model


def traced(network: str, text: str, rounded: bool, stacks: bool = False) -> Trace:
    """Return what a network does on the word ``text``; verdicts, figure and table of a long word share one trace."""
    if stacks or len(text) <= LONG:
        return _traced_steps(network, text, rounded, stacks)
    return _shared_trace(network, text, rounded)


def _traced_steps(network: str, text: str, rounded: bool, stacks: bool) -> Trace:
    runner = runner_of(network, rounded)
    return trace(runner, [read_word(text, runner)], stacks=stacks)


@lru_cache(maxsize=_SHARED)
def _shared_trace(network: str, text: str, rounded: bool) -> Trace:
    return _traced_steps(network, text, rounded, stacks=False)


def extracted_automaton(network: str, settings: ExtractionSettings | None = None) -> PushdownAutomaton | None:
    """Return the automaton that was read out of the network called so, with ``settings``, if that has been done."""
    found = known(network, settings)
    return None if found is None else found.automaton


# ---- What the page shows of what was read out of a network ----

_Groups = Mapping[State, str] | None
FILES: dict[str, Callable[[PushdownAutomaton, str, _Groups], str]] = {  # what can be saved, by suffix
    "dot": to_dot,
    "json": lambda pda, *_: to_json(pda),
    "jff": lambda pda, *_: to_jflap(pda),
    "svg": lambda *given: render(to_dot(*given), "svg").decode(),
}


@dataclass(frozen=True)
class Shown:
    """What the page looks at.

    Attributes:
        network: the network's name.
        settings: with which the automaton was extracted.
        known: what came of it.
        raw: whether the machine before minimisation is meant.
    """

    network: str
    settings: ExtractionSettings
    known: Known
    raw: bool

    @property
    def automaton(self) -> PushdownAutomaton:
        """Return the automaton that is shown."""
        pda = self.known.raw if self.raw else self.known.automaton
        if self.known.automaton is not None and pda is None:
            raise StacklensError("this result does not hold the machine before minimisation")
        if self.known.automaton is None or pda is None:
            raise StacklensError(nothing_found(self.known.report["reason"]))
        return pda

    @property
    def groups(self) -> _Groups:
        """Return by state what it is merged into, of the machine before minimisation; else None."""
        merged = self.known.merged if self.raw else None
        return None if merged is None else merged.states

    @property
    def beside(self) -> tuple[PushdownAutomaton | None, str]:
        """Return the machine before minimisation, None where there is none or it is no other, and what became of it."""
        raw, pda, merged = self.known.raw, self.automaton, self.known.merged
        if raw is None:
            return None, "The machine before minimisation is not known."
        sizes = ((len(one.states), len(one.stack_alphabet), len(one.transitions)) for one in (raw, pda))
        if raw == pda or (merged is not None and len(set(sizes)) == 1):  # nothing was merged, and nothing left out
            return None, "Before minimisation it is the same automaton."
        if merged is None:
            return raw, "Which states were merged is not known."
        named = list(merged.stack_symbols.values())
        several = {one: into for one, into in merged.stack_symbols.items() if named.count(into) > 1}
        states = merged.states if len(set(merged.states.values())) < len(merged.states) else {}
        merged_parts = [
            f"{what} {merged_claim(all_)}" for what, all_ in (("states", states), ("stack symbols", several)) if all_
        ]
        gone = [state for state in raw.states if state not in merged.states]
        left = f"left out, since no accepted word needs it: {' '.join(gone)}" if gone else ""
        return raw, f"Merged: {'; '.join(merged_parts) or 'no states'}{'; ' if left else ''}{left}."


def shown(network: str, raw: bool = False) -> Shown:
    """Return what the page looks at; ``raw`` is for what it says of the machine before minimisation."""
    settings = settings_known(network)
    found = None if settings is None else known(network, settings)
    if settings is None or found is None:
        raise StacklensError("nothing has been read out of this network yet")
    return Shown(network, settings, found, raw)


def steps_view(one: Shown, text: str) -> pd.DataFrame:
    """Return the automaton's run on the word ``text``, a row a step."""
    return run_table(one.automaton, read_word(text, checkpoint_of(one.network).model))


def stacks_view(one: Shown, text: str, rounded: bool, theme: str) -> go.Figure:
    """Return the network's stack over the automaton's, over the steps of the word ``text``."""
    runner = runner_of(one.network, rounded)
    word = read_word(text, runner)
    if len(word) > LONGEST_STACKS:
        return themed(sentence(f"Stacks are drawn for words of at most {LONGEST_STACKS:,} symbols."), theme)
    with one_thread():
        figure = stacks_figure(runner, trace(runner, [word], stacks=True), one.automaton, stacks=one.known.stacks)
    figure.update_layout(meta={"over_steps": bool(figure.data)})
    return themed(figure, theme)


def map_view(one: Shown, rounded: bool, theme: str) -> go.Figure:
    """Return the map of hidden vectors, coloured by the automaton's state."""
    return themed(state_map(runner_of(one.network, rounded), seen_on_many(one, rounded), one.automaton), theme)


def visits_view(one: Shown, rounded: bool, state: str) -> pd.DataFrame:
    """Return the words that visit ``state``, with the network's hidden vectors then."""
    frame = visit_table(one.automaton, seen_on_many(one, rounded), state).drop(columns="state")
    return frame.round({name: 4 for name in frame.columns if name.startswith("h")})


def drift_view(one: Shown, theme: str) -> go.Figure | None:
    """Return the curve of what drifts in the rounded network on a word that goes round, None where none is known."""
    entry = one.known.report.get("drift")
    return None if entry is None else themed(drift_figure(Drift.from_dict(entry)), theme)


def seen_on_many(one: Shown, rounded: bool) -> Trace:
    """Return what a network does on words that visit states."""
    return _traced_on_many(one.network, one.settings.language, rounded)


@lru_cache(maxsize=8)
def _traced_on_many(network: str, language: str | None, rounded: bool) -> Trace:
    """Return the trace, which is the same for all users, on words that suit ``language`` or else what the file says."""
    checkpoint = checkpoint_of(network)
    words = visiting_words(checkpoint.model, fitting_specification(checkpoint, language))
    with one_thread():
        return trace(runner_of(network, rounded), words, stacks=False)


# ---- The Python lines that make what the pages show: the public face, and what draws where that has no method for it.

_TRUST = "stacklens.extract.evaluation.trust"
_JUDGE = "judge_words(network, words, result.minimised, result.language, result.memories)"
_CALLS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # of claims and checks: imports and lines
    "claims": ((f"from {_TRUST} import claim_table",), ("claim_table(result.report())",)),
    "checks": ((f"from {_TRUST} import check_table",), ("check_table(result.report())",)),
    "coverage": ((f"from {_TRUST} import coverage_table",), ("coverage_table(result.automaton)",)),
    "accuracy": (
        (
            "from stacklens.extract.accuracy import scores_by_size",
            "from stacklens.viz.curves import accuracy_figure",
        ),
        ("accuracy_figure(scores_by_size(network, result.language, result.minimised)).show()",),
    ),
    "causes": (
        ("from stacklens.viz.probing import causality_figure",),
        ("causality_figure(result.causal()).show()",),
    ),
    "interchanges": ((), ("result.causal()",)),
    "judged": (
        (
            "from pathlib import Path",
            "from stacklens.extract.evaluation.judge import judge_words, parse_words, word_table",
        ),
        ("words = parse_words(Path('words.txt').read_text(), network.alphabet)", f"word_table({_JUDGE})"),
    ),
}


def program(network: str, imports: Sequence[str], body: Sequence[str]) -> str:
    """Return the lines that open the network, or the saved result, called ``network``, and then do ``body``."""
    opening = [f"network = sl.load({file_of(network)!r})"]
    if is_saved(network):  # nothing is extracted again
        opening = [f"result = {saved(network).call}", "network = result.model"]
        body = [line for line in body if not line.startswith("result = ")]
    return "\n".join(["import stacklens as sl", *imports, "", *opening, *body])


def automaton_lines(one: Shown, text: str, rounded: bool) -> dict[str, str]:
    """Return, for every panel by name, the Python lines that make it."""
    pda = f"result.{'raw' if one.raw else 'automaton'}"
    word = f"parse_word({text!r}, network.alphabet)"
    how = ", rounded=True" if rounded else ""
    on_the_word = f"seen = sl.trace(network, {text!r}{how}, stacks=True)"
    on_many = f"seen = sl.trace(network, visiting_words(network, result.language){how}, stacks=False)"
    runs = "from stacklens.extract.evaluation.automaton_runs import"
    panels: dict[str, tuple[list[str], list[str]]] = {
        "drawing": ([], [f'{pda}.save("automaton.svg")']),
        "stacks": (
            ["from stacklens.viz.automaton import stacks_figure"],
            [on_the_word, f"stacks_figure(seen.model, seen, {pda}, stacks=result.memories).show()"],
        ),
        "steps": (
            [f"{runs} run_table", "from stacklens.languages.words import parse_word"],
            [f"print(run_table({pda}, {word}))"],
        ),
        "transitions": (
            ["from stacklens.automata.description import transition_table"],
            [f"print(transition_table({pda}))"],
        ),
        "definition": ([], [f"print({pda})"]),
        "map": (
            [f"{runs} visiting_words", "from stacklens.viz.hidden import state_map"],
            [on_many, f"state_map(seen.model, seen, {pda}).show()"],
        ),
        "drift": (
            ["from stacklens.viz.probing import drift_figure"],
            ["if result.drift is not None:", "    drift_figure(result.drift).show()"],
        ),
        "visits": ([f"{runs} visit_table, visiting_words"], [on_many, f"print(visit_table({pda}, seen))"]),
    }
    extracted = f"result = {one.settings.call()}"
    return {name: program(one.network, imports, [extracted, *body]) for name, (imports, body) in panels.items()}


def trust_lines(panel: str, name: str) -> str:
    """Return the Python lines that make a panel of the page: "claims", "checks", "coverage", "accuracy",
    "causes", "interchanges", "judged".
    """
    settings = settings_known(name) or ExtractionSettings()
    imports, call = _CALLS[panel]
    return program(name, imports, [f"result = {settings.call()}", *call])


def word_lines(name: str, text: str, rounded: bool) -> str:
    """Return the Python lines that give what stands in the step table of a word."""
    given = "Rounded(network)" if rounded else "network"
    imports = ["from stacklens.languages.words import parse_word", "from stacklens.viz.bench.word import word_data"]
    if rounded:
        imports.insert(1, "from stacklens.models.rounding import Rounded")
    settings = settings_known(name)
    found = [] if settings is None else [f"result = {settings.call()}"]
    rest = "" if settings is None else ", result.minimised, result.language"
    word = f"parse_word({text!r}, network.alphabet)"
    return program(name, imports, [*found, f"word_data({given}, {word}{rest})"])


# ---- What a network does on a word as figures and tables, with the Python lines that make them, and as files ----

TABLES = {"steps": step_table, "predictions": prediction_table}
_OF_STACKS = ("paper", "stack", "segments", "operations", "rounding")  # figures
_LIMIT = f"stacks are drawn for words of at most {LONGEST_STACKS:,} symbols"


def drawn(view: View, theme: str = "light") -> go.Figure:
    """Return the figure of ``view``; where something is wrong with it, one that says so.

    Its ``meta`` says whether it runs over steps, so that there is a current one.
    """
    try:
        with one_thread():
            figure = _drawn_figure(view)
    except StacklensError as error:
        figure = sentence(f"Nothing to draw: {error}.")
    figure.update_layout(meta={"over_steps": view.figure != "map" and bool(figure.data)})
    return figure if theme == "light" else themed(figure, theme)  # figures are made light, and copying takes time


def _drawn_figure(view: View) -> go.Figure:
    network, word = _read_view(view)
    if view.figure in _OF_STACKS and network.n_stacks and len(word) > LONGEST_STACKS:
        raise StacklensError(_LIMIT)  # before anything takes long
    seen = _traced_picture(view, word)
    automaton = extracted_automaton(view.network)
    if view.figure != "paper":
        return draw(view.figure, network, seen, automaton=automaton)
    return paper_figure(network, seen, truth=truth_by_name(checkpoint_of(view.network), word), automaton=automaton)


def _read_view(view: View) -> tuple[StackModel[Any], Word]:
    network = runner_of(view.network, view.rounded)
    return network, read_word(view.word or "", network)


def _traced_picture(view: View, word: Word) -> Trace:
    return traced(view.network, view.word or "", view.rounded, stacks=len(word) <= LONGEST_STACKS)


def _tracing(view: View, figure: str) -> str:
    """Return the line that traces the word, without the stacks' contents where what is shown of a long one has none."""
    try:
        short = len(read_word(view.word or "", checkpoint_of(view.network).model)) <= LONGEST_STACKS
    except StacklensError:  # the figure says what is wrong with the word
        short = True
    given = ", rounded=True" if view.rounded else ""
    stacks, why = ("True", "") if short or figure in _OF_STACKS else ("False", f"  # {_LIMIT}")
    return f"seen = sl.trace(network, {view.word or ''!r}{given}, stacks={stacks}){why}"


def tabled(view: View, name: str) -> pd.DataFrame:
    """Return the table called ``name``, one of `TABLES`, of a view: a row a step, a long word's without the stacks."""
    with one_thread():
        network, word = _read_view(view)
        return TABLES[name](network, _traced_picture(view, word))


def figure_lines(view: View) -> str:
    """Return the Python lines that make the figure of ``view``."""
    found = extracted_automaton(view.network) is not None
    call = "result" if is_saved(view.network) else (settings_known(view.network) or ExtractionSettings()).call()
    extracted = [f"pda = {call}.automaton"] if found else []
    given = [f"figure={view.figure!r}"] * (view.figure != "paper") + ["automaton=pda"] * found
    return program(view.network, [], [_tracing(view, view.figure), *extracted, f"seen.plot({', '.join(given)}).show()"])


def table_lines(view: View, name: str) -> str:
    """Return the Python lines that make the table called ``name`` of ``view``."""
    function = TABLES[name].__name__
    imports = [f"from stacklens.viz.step_tables import {function}"]
    return program(view.network, imports, [_tracing(view, ""), f"print({function}(seen.model, seen))"])


def trace_file(suffix: str, network: str, word: str, rounded: bool) -> str:
    """Return the whole trace of a word as text, "csv" or "json"."""
    runner = runner_of(network, rounded)
    seen = trace(runner, [read_word(word, runner)])
    if suffix == "csv":
        return str(seen.to_frame().to_csv(index=False))
    return json.dumps(trace_data(runner, seen), indent=1, ensure_ascii=False)
