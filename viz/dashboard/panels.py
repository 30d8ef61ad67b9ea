"""What the page shows, as values: networks, words, automata, claims and judgements, each with its Python lines."""

import ast
import json
import os
import re
import signal
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import plotly.graph_objects as go

from ...automata.formats.dot import render, to_dot, transition_table
from ...automata.formats.json import to_json
from ...automata.formats.textbook import to_jflap
from ...automata.pda import PushdownAutomaton, State, Word
from ...core.errors import StacklensError
from ...core.progress import count
from ...extract.accuracy import SizeScores, scores_by_size
from ...extract.certificate.certify import proof_of
from ...extract.claims import SIGNS, check_table, claim_table, claims_of, headline
from ...extract.evaluation.automaton_runs import coverage_table, run_table, visit_table, visiting_words
from ...extract.evaluation.judge import judge_words, parse_words, word_table
from ...extract.specification import Specification
from ...extract.wording import as_sentence, merged_claim, nothing_found
from ...languages.language import EMPTY_WORD, format_word, parse_typed_word
from ...models.base import StackModel, one_thread
from ...models.checkpoint import lines_of
from ...models.rounding import Rounded
from ...probe.trace import Trace, trace
from ..bench.word import word_data
from ..curves import accuracy_figure, boxes_figure, boxes_table, causality_figure, drift_figure, learning_of
from ..figures import draw, paper_figure, stacks_figure, state_map
from ..operations import prediction_table, step_table, trace_data
from ..style import sentence, themed
from . import jobs, networks
from .extractions import ExtractionSettings, Known, known, known_automaton, settings_known
from .jobs import LONG
from .requests import PAGE, View

# ---- Words as they are typed, and what a network does on them; long ones are traced once for all who look ----

LONGEST_WORD = 10_000  # symbols of a word
LONGEST_STACKS = 1_000  # symbols of a word whose stacks are drawn: there are as many numbers again at every step
_SHARED = 8  # traces of long words


def read_word(text: str, model: StackModel[Any]) -> Word:
    """Return the word that was typed for ``model``."""
    check_typed_length(text)
    return parse_typed_word(text, model.alphabet)


def check_typed_length(text: str) -> None:
    """Check that the word that was typed is not too long for the page."""
    if len(text) > LONGEST_WORD:
        raise StacklensError(f"this word has {len(text):,} characters; expected at most {LONGEST_WORD:,}")


def runner_of(network: str, rounded: bool) -> StackModel[Any]:
    """Return the network called so, or its rounded one."""
    model = networks.checkpoint_of(network).model
    return Rounded(model) if rounded else model


def in_turn(
    network: str, text: str, function: Callable[..., Any], *arguments: Any, patience: float | None = None
) -> Any:
    """Return ``function(*arguments)``: now where ``text``, what it works on, is short, else in its turn.

    What has been read out of ``network`` belongs to what a piece of work is: with another automaton it is another.
    Raises NotYetError: as `Turns.result`; StacklensError: as ``function``, or there is no such network.
    """
    if len(text) <= LONG:
        return function(*arguments)
    key = (function, arguments, settings_known(network))
    return jobs.TURNS.result(key, lambda: _in_the_process(function, *arguments), patience)


@lru_cache(maxsize=1)
def _process_for_long_words() -> Connection:
    here, there = get_context("spawn").Pipe()
    get_context("spawn").Process(target=_serve_long_words, args=(there,), daemon=True).start()
    there.close()
    return here


def _serve_long_words(server: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with suppress(EOFError, OSError):  # it ends with the server
        while True:
            server.send(None)
            environment, function, arguments = server.recv()
            os.environ.update(environment)  # which says where results are kept
            try:
                server.send((function(*arguments), None))
            except StacklensError as error:
                server.send((None, str(error)))


_AT_WORK = threading.Lock()


def _in_the_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(*arguments)``, worked on in the process for long words; here while that begins, or is gone."""
    try:
        with _AT_WORK:  # what comes back is this one's
            process = _process_for_long_words()
            if process.poll(0.2):  # it waits for work, once it has begun
                process.recv()
                process.send((dict(os.environ), function, arguments))
                found, problem = process.recv()
                if problem is not None:
                    raise StacklensError(problem)
                return found
    except (EOFError, OSError):  # somebody has ended it, or there was no memory
        _process_for_long_words.cache_clear()
    return function(*arguments)


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
    """What the page looks at."""

    network: str  # the network's name
    settings: ExtractionSettings  # with which the automaton was extracted
    known: Known  # what came of it
    raw: bool  # whether the machine before minimisation is meant

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
    def before(self) -> PushdownAutomaton | None:
        """Return the machine before minimisation, None where there is none or it is no other."""
        raw, pda = self.known.raw, self.automaton
        if raw is None or raw == pda:
            return None
        sizes = {(len(one.states), len(one.stack_alphabet), len(one.transitions)) for one in (raw, pda)}
        same = len(sizes) == 1 and self.known.merged is not None  # nothing was merged, and nothing left out
        return None if same else raw

    @property
    def beside(self) -> tuple[PushdownAutomaton | None, str]:
        """Return the machine before minimisation, see `before`, and what became of it."""
        if self.known.raw is None:
            return None, "The machine before minimisation is not known."
        raw, merged = self.before, self.known.merged
        if raw is None:
            return None, "Before minimisation it is the same automaton."
        if merged is None:
            return raw, "Which states were merged is not known."
        named = list(merged.stack_symbols.values())
        several = {one: into for one, into in merged.stack_symbols.items() if named.count(into) > 1}
        states = merged.states if len(set(merged.states.values())) < len(merged.states) else {}
        groups = {"states": states, "stack symbols": several}
        merged_parts = [f"{what} {merged_claim(all_)}" for what, all_ in groups.items() if all_]
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


def seen_on_many(one: Shown, rounded: bool) -> Trace:
    """Return what a network does on words that visit states."""
    return _traced_on_many(one.network, one.settings.language, rounded)


@lru_cache(maxsize=8)
def _traced_on_many(network: str, language: str | None, rounded: bool) -> Trace:  # kept: the same for all users
    checkpoint = networks.checkpoint_of(network)
    words = visiting_words(checkpoint.model, networks.fitting_specification(checkpoint, language))
    with one_thread():
        return trace(runner_of(network, rounded), words, stacks=False)


# ---- The Python lines that make what the pages show: the public face, and what draws where that has no method for it.

_CALLED: tuple[Any, ...] = (  # what lines may call, beside the public face
    *(Path, Rounded, accuracy_figure, boxes_figure, boxes_table, causality_figure, check_table, claim_table),
    *(coverage_table, drift_figure, judge_words, learning_of, parse_typed_word, parse_words, prediction_table),
    *(proof_of, run_table, scores_by_size, stacks_figure, state_map, step_table, transition_table, visit_table),
    *(visiting_words, word_data, word_table),
)
_FIRST = itemgetter(0)


def program(network: str, *body: str) -> str:
    """Return the lines that open the network, or the saved result, called ``network``, and then do ``body``."""
    opening = [f"network = sl.load({networks.file_of(network)!r})"]
    if networks.is_saved(network):  # nothing is extracted again
        opening = [f"result = {networks.saved(network).call}", "network = result.model"]
        body = tuple(line for line in body if not line.startswith("result = "))
    named = set(re.findall(r"\w+", "\n".join(body)))
    called = sorted((one.__module__.partition("._")[0], one.__name__) for one in _CALLED if one.__name__ in named)
    imports = [f"from {module} import {', '.join(one for _, one in some)}" for module, some in groupby(called, _FIRST)]
    return "\n".join(["import stacklens as sl", *imports, "", *opening, *body])


def panel_lines(panel: str, network: str, word: str = "", rounded: bool = False, raw: bool = False) -> str:
    """Return the Python lines that make a panel of the page, one of those in `PAGE`."""
    settings = settings_known(network) or ExtractionSettings()
    given = {"pda": f"result.{'raw' if raw else 'automaton'}", "word": repr(word), "how": ", rounded=True" * rounded}
    body = PAGE["lines"][panel].format(**given).splitlines()
    return program(network, *[f"result = {settings.call()}"] * ("result" in "".join(body)), *body)


def word_lines(name: str, text: str, rounded: bool) -> str:
    """Return the Python lines that give what stands in the step table of a word."""
    settings = settings_known(name)
    found = [] if settings is None else [f"result = {settings.call()}"]
    rest = "" if settings is None else ", result.minimised, result.language"
    given = "Rounded(network)" if rounded else "network"
    return program(name, *found, f"word_data({given}, parse_typed_word({text!r}, network.alphabet){rest})")


# ---- What a network does on a word as figures and tables, with the Python lines that make them, and as files ----

TABLES = {"steps": step_table, "predictions": prediction_table}
_OF_STACKS = ("paper", "stack", "segments", "operations", "rounding")  # figures
_LIMIT = f"stacks are drawn for words of at most {LONGEST_STACKS:,} symbols"


def drawn(view: View, theme: str = "light") -> go.Figure:
    """Return the figure of ``view``; where something is wrong with it, one that says so."""
    try:
        with one_thread():
            network, word = _read_view(view)
            if view.figure in _OF_STACKS and network.n_stacks and len(word) > LONGEST_STACKS:
                raise StacklensError(_LIMIT)  # before anything takes long
            seen = _traced_picture(view, word)
            automaton = known_automaton(view.network)
            if view.figure != "paper":
                figure = draw(view.figure, network, seen, automaton=automaton)
            else:
                truth = networks.truth_by_name(networks.checkpoint_of(view.network), word)
                figure = paper_figure(network, seen, truth=truth, automaton=automaton)
    except StacklensError as error:
        figure = sentence(f"Nothing to draw: {error}.")
    return figure if theme == "light" else themed(figure, theme)  # figures are made light, and copying takes time


def _read_view(view: View) -> tuple[StackModel[Any], Word]:
    network = runner_of(view.network, view.rounded)
    return network, read_word(view.word or "", network)


def _traced_picture(view: View, word: Word) -> Trace:
    stacks = len(word) <= LONGEST_STACKS
    make = _shared_trace.__wrapped__ if stacks else _shared_trace  # figure and table of a long word share one trace
    return make(view.network, word, view.rounded, stacks)


@lru_cache(maxsize=_SHARED)
def _shared_trace(network: str, word: Word, rounded: bool, stacks: bool) -> Trace:
    return trace(runner_of(network, rounded), [word], stacks=stacks)


def _tracing(view: View, figure: str) -> str:
    """Return the line that traces the word, without the stacks' contents where what is shown of a long one has none."""
    try:
        short = len(read_word(view.word or "", networks.checkpoint_of(view.network).model)) <= LONGEST_STACKS
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
    found = known_automaton(view.network) is not None
    settings = settings_known(view.network) or ExtractionSettings()
    call = "result" if networks.is_saved(view.network) else settings.call()
    extracted = [f"pda = {call}.automaton"] if found else []
    given = [f"figure={view.figure!r}"] * (view.figure != "paper") + ["automaton=pda"] * found
    return program(view.network, _tracing(view, view.figure), *extracted, f"seen.plot({', '.join(given)}).show()")


def table_lines(view: View, name: str) -> str:
    """Return the Python lines that make the table called ``name`` of ``view``."""
    return program(view.network, _tracing(view, ""), f"print({TABLES[name].__name__}(seen.model, seen))")


def trace_file(suffix: str, network: str, word: str, rounded: bool) -> str:
    """Return the whole trace of a word as text, "csv" or "json"."""
    runner = runner_of(network, rounded)
    seen = trace(runner, [read_word(word, runner)])
    if suffix == "csv":
        return str(seen.to_frame().to_csv(index=False))
    return json.dumps(trace_data(runner, seen), indent=1, ensure_ascii=False)


# ---- Every claim under the chips of the verdict that it is evidence of, with links to what shows it ----


def claims_with_words(report: Mapping[str, Any], network: str) -> list[dict[str, Any]]:
    """Return every claim of a report: its question, mark, words and chips, and links to what shows it.

    Of interchanges that is the one that went wrong, as a change of its step in the rounded network.
    """
    found = []
    for claim in claims_of(report, asides=True):
        if claim.aside and not claim.chips:
            continue
        links = list[dict[str, str]]()
        rounded = claim.word is not None and "follows the rounded network" in claim.chips
        causes = report["causality"].get(claim.what.removesuffix(" as causes")) if "mechanism" in claim.chips else None
        worst = causes.get("worst") if isinstance(causes, dict) else None
        if worst and (swap := _interchange(worst["call"])):
            links.append(link_to("show the interchange", network=network, **swap))
        elif claim.word is not None:
            links.append(link_to("show the word", network=network, word=claim.word, rounded=rounded or bool(causes)))
        if claim.what in PAGE["links"] and (claim.what != "certificate" or claim.verdict == "yes"):
            links.append(link_to(network=network, **PAGE["links"][claim.what]))
        says = {"what": claim.what, "sign": SIGNS[claim.verdict], "verdict": claim.verdict, "says": claim.words}
        found.append({**says, "word": claim.word, "rounded": rounded, "chips": list(claim.chips), "links": links})
    return found


def link_to(text: str, **given: str | int | None) -> dict[str, str]:
    """Return a link that brings what is ``given`` onto the bench, with its ``text``."""
    asked = {name: int(one) if isinstance(one, bool) else one for name, one in given.items() if one is not None}
    return {"text": text, "href": f"?{urlencode(asked)}"}


def _interchange(call: str) -> dict[str, str] | None:
    r"""Return the change on the bench that a call of `sl.intervene` in a report makes; None where there is no such one.

    >>> _interchange("sl.intervene(model, '10', at=0, set=\"hidden\", from_word='11', rounded=True)")
    {'word': '10', 'rounded': '1', 'against': 'change', 'change': '1', 'set': 'hidden', 'to': 'source', 'from': '11'}
    """
    try:
        made = ast.parse(call, mode="eval").body
        assert isinstance(made, ast.Call)
        given = {str(one.arg): ast.literal_eval(one.value) for one in made.keywords}
        word, source = (format_word(one) for one in (ast.literal_eval(made.args[1]), given["from_word"]))
        found = {"word": word, "rounded": "1", "against": "change", "change": str(given["at"] + 1), "set": given["set"]}
        found |= {"to": "source", "from": source}
        if given["set"] != "hidden":  # the page counts stacks and cells from 1
            cells = {"stack": given["stack"], "cell": given["cell"], "from-cell": given["from_cell"]}
            found |= {name: str(number + 1) for name, number in cells.items()}
    except (SyntaxError, ValueError, KeyError, IndexError, TypeError, AssertionError):
        return None  # whole stacks are no change of the bench; files may hold anything
    return found


# ---- What the page says of networks: a card of each, and the list of all by the paper that their kind is from ----

PAPERS: dict[str, str] = PAGE["papers"]
_OTHERS = "others"


def network_card(name: str) -> dict[str, str]:
    """Return what there is to say of the network called ``name``, by what each line is about."""
    if not networks.has_network(name):
        # a saved result is known as long as it is there, and describes its network
        found = known(name)
        assert found is not None
        network = found.report["network"]
        kind = {"network": network["path"] or network["name"], "kind": network["kind"], "task": network["task_kind"]}
        return {"name": networks.network_title(name), **kind, "symbols": " ".join(network["alphabet"])}
    model = networks.checkpoint_of(name).model
    paper = {"paper": PAPERS[model.name]} if model.name in PAPERS else {}
    return {"name": networks.network_title(name), **paper, **lines_of(model)}


def network_list(opened: Iterable[str]) -> list[dict[str, Any]]:
    """Return groups of networks, files that were ``opened`` first: of each network its name, its title and one line."""
    groups: dict[str, list[dict[str, str]]] = {}
    files = list[str]()
    for name in dict.fromkeys((*networks.own_names(), *opened)):
        with suppress(StacklensError):  # it is kept no longer
            networks.has_network(name)
            files += [] if name in networks.network_names() else [name]
    for name in (*files, *networks.network_names()):
        group = "your own" if name in files else PAPERS.get(networks.checkpoint_of(name).model.name, _OTHERS)
        # in one line what it does, how large it is, and what was read out of it
        found, says = known(name), "Nothing has been read out of it yet."
        if found is not None:
            says = as_sentence(headline(found.report, brief=True))
        if networks.has_network(name):
            model, task = networks.checkpoint_of(name).model, networks.checkpoint_of(name).task.get("language")
            line = f"{model.task_kind}{'' if task is None else f' on {task}'}, {model.n_units} units. {says}"
        else:
            line = f"only an automaton, its network is not here. {says}"
        groups.setdefault(group, []).append({"name": name, "title": networks.network_title(name), "line": line})
    order = ["your own", *dict.fromkeys(PAPERS.values()), _OTHERS]
    return [{"group": group, "networks": groups[group]} for group in order if group in groups]


# ---- Claims, accuracy by size, and many words judged at once ----

MOST_WORDS, MOST_SYMBOLS, LONGEST = 2_000, 10_000, 2_000  # of a list: words, symbols in all, symbols of one word
_DRAWN = 24  # words that the page draws, about
# how many of which lengths; where only some words are meant these are sizes of pieces, and numbers are taken as shares
_LENGTHS = {False: ((_DRAWN, (2, 40)),), True: ((10 * _DRAWN, (2, 6)), (3 * _DRAWN, (16, 32)))}


def known_specification(name: str) -> Specification | None:
    """Return what to check the network called ``name`` against; None where that is nothing we know.

    It is what somebody named when it was extracted, or else what its file says.
    """
    settings = settings_known(name)
    return networks.fitting_specification(networks.checkpoint_of(name), None if settings is None else settings.language)


def accuracy(name: str, theme: str = "light") -> go.Figure:
    """Return the accuracy by size of the network called ``name``, with its automaton's where that is known."""
    found = known(name)
    try:
        specification = known_specification(name)
        if specification is None:
            raise StacklensError("what this network was trained on is not known, so nothing is right or wrong")
        scores = _scores_cached(name, specification, None if found is None else found.automaton)
        horizons = {} if found is None else found.report.get("horizon") or {}
        figure = accuracy_figure(scores, f"{networks.network_title(name)}: right by size", horizons)
    except StacklensError as error:
        figure = sentence(f"Nothing to draw: {error}.")
    return themed(figure, theme)


@lru_cache(maxsize=64)
def _scores_cached(name: str, specification: Specification, automaton: PushdownAutomaton | None) -> SizeScores:
    return scores_by_size(networks.checkpoint_of(name).model, specification, automaton)


def judged_words(name: str, text: str, only_different: bool = False) -> tuple[pd.DataFrame, list[int], str]:
    """Return the verdicts on the words of ``text``, one a line, by the network called ``name`` and all beside it.

    A row a word, the step at which its runs part, or its last, and how many agree, in a sentence.
    """
    model = networks.checkpoint_of(name).model
    if (lines := text.count("\n")) >= 2 * MOST_WORDS:
        raise StacklensError(f"these are {lines:,} lines; expected at most {MOST_WORDS:,} words at once")
    words = parse_words(text, model.alphabet)
    symbols, longest = sum(map(len, words)), max(map(len, words), default=0)
    if len(words) > MOST_WORDS:
        raise StacklensError(f"these are {len(words):,} words; expected at most {MOST_WORDS:,} at once")
    if longest > LONGEST:
        raise StacklensError(f"the longest word has {longest:,} symbols; expected at most {LONGEST:,} here")
    if symbols > MOST_SYMBOLS:
        raise StacklensError(f"these words have {symbols:,} symbols in all; expected at most {MOST_SYMBOLS:,} at once")
    found = known(name)
    automaton, stacks = (None, None) if found is None else (found.automaton, found.stacks)
    judged = judge_words(model, words, automaton, known_specification(name), stacks)
    different = [one for one in judged if not one.agree]
    shown = different if only_different else judged
    steps = [one.step or max(1, len(one.word)) for one in shown]
    missing = "" if automaton is not None else " There is no automaton to compare with yet."
    agree = f"not all agree on {len(different):,} of them" if different else "all agree"
    summary = f"{'✗' if different else '✓'} {count(len(judged), 'word')}: {agree}.{missing}" if judged else ""
    return word_table(shown), steps, summary


def words_to_try(name: str, seed: int) -> str:
    """Return words that suit the network called ``name``, one a line: short ones, members and near-misses, longer ones.

    Of a task that means only some words there are these.
    """
    specification = known_specification(name)
    if specification is None:
        return "\n".join([EMPTY_WORD, *networks.checkpoint_of(name).model.alphabet])
    drawn = specification.short_words(_DRAWN // 4)
    for number, lengths in _LENGTHS[specification.partial_domain]:
        drawn += specification.long_words(number, lengths, seed)
    return "\n".join(dict.fromkeys(format_word(word) or EMPTY_WORD for word in drawn))
