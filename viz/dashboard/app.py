"""The application: a Dash application whose page is the workbench, its server, and what every address answers.

Moving through a word, lighting up the automaton and drawing the table are the browser's work (`assets/`); figures and
tables in the drawers are Dash's; all else that the browser asks for while somebody works is answered as JSON.
"""

import base64
import json
import mimetypes
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas  # noqa: F401 (here: plotly looks for it from other threads while a first one is still importing it)
from dash import MATCH, ClientsideFunction, Dash, Input, Output, dcc, html
from dash.exceptions import DependencyException
from flask import Flask, Response, abort, request, send_file
from flask.logging import default_handler
from jinja2 import Environment, FileSystemLoader
from plotly.io.json import to_json_plotly
from werkzeug.exceptions import HTTPException

from ...automata.pda import PushdownAutomaton, State, Word
from ...core.errors import StacklensError
from ...extract.claims import SIGNS, disagreements_of, headline, verdict_of
from ...extract.wording import as_sentence, nothing_found
from ...languages.language import parse_typed_word
from ...probe.intervene import NAMED, PARTS
from ..bench.change import Change, call_of, changeable, changed_word, values_of
from ..bench.drawing import bench_drawing
from ..bench.run import run_automaton, run_data
from ..bench.word import automaton_data, beginning_data, word_data
from ..operations import symbol_meanings
from ..papers import numbered_names, table_names
from . import extractions, networks, panels
from .drawers import THEMES, as_pdf, asked_for, filled
from .extractions import known, known_automaton, settings_known
from .jobs import LONG
from .networks import LARGEST_BODY, checkpoint_of, has_network, is_saved, random_word, store
from .opening import keep_file
from .panels import in_turn, known_specification, panel_lines, read_word, runner_of, shown
from .requests import Access, Reader, answering, body, flag, guard, number, one_of, refused, text, texts, view_of

# ---- What the browser asks for while somebody works: networks, words, automata and extractions ----

_BEGINNING, _AHEAD = 240, 100  # symbols of a long word that are shown at first, and after the current step
_ASSETS = Path(__file__).parent / "assets"
_PARTS = Environment(loader=FileSystemLoader(_ASSETS), autoescape=True, trim_blocks=True)
_PARTS.filters.update(
    by_number=lambda some: sorted(enumerate(some), key=lambda one: (len(one[1]["symbol"]), one[1]["symbol"]))
)


def html_of(given: Any, *names: str) -> dict[str, str]:
    """Return parts of the page by their ``names``, each made of what is ``given`` by a macro of `assets/parts.html`."""
    macros = _PARTS.get_template("parts.html").module
    return {name: getattr(macros, name)(given) for name in names}


def _upload() -> Any:
    title = unquote(text("title", "a file"))
    if (request.content_length or 0) > networks.LARGEST_UPLOAD:
        megabytes = networks.LARGEST_UPLOAD // 1_000_000
        raise StacklensError(f"{title}: larger than {megabytes} MB; expected a trained network or a saved result")
    name = keep_file(request.get_data(), title)
    try:  # all that the bench says of it first can be said
        network_answer(name)
    except (StacklensError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        networks.store().delete(name)
        if isinstance(error, StacklensError):
            raise
        # a result that somebody has written by hand
        raise StacklensError(f"{networks.short_title(title)}: parts of it do not fit together; save it again") from None
    return {"network": name}


def _extract() -> Any:
    asked = body()
    name, given = text("network", among=asked), asked.get("settings", {})
    if not isinstance(given, dict):
        raise StacklensError("the settings of this request are no object")
    for part in ("language", "method"):
        if given.get(part) is not None:
            text(part, among=given)
    extractions.start_extraction(name, extractions.settings_of(given), asked.get("again") is True)
    return _jobs(name)


def _repair() -> Any:
    asked = body()
    extractions.start_repair(text("network", among=asked), asked.get("seconds"))
    return _jobs(asked["network"])


def _cancel() -> Any:
    asked = body()
    extractions.cancel_job(text("network", among=asked), text("key", among=asked))
    return _jobs(asked["network"])


def _figure_file() -> dict[str, str]:
    given = body()
    return {"pdf": base64.b64encode(as_pdf(asked_for(given), given)).decode()}


def _networks_listed(opened: list[str]) -> dict[str, Any]:
    groups = panels.network_list(opened)
    return {"groups": groups, "html": html_of(groups, "options", "listed")}


def tables_and_figures() -> list[dict[str, str]]:
    """Return the papers' tables and figures, each with its name and "what" it is."""
    return [{"name": name, "what": what} for name, what in (table_names() | numbered_names()).items()]


def _jobs(name: str) -> dict[str, Any]:
    jobs = extractions.jobs_of(name)
    return {"jobs": jobs, "html": html_of(jobs, "extraction", "repair")}


def _word(name: str, typed: str, rounded: bool, beginning: bool, step: int) -> Any:
    if beginning:
        return {"beginning": beginning_answer(name, typed, rounded, step)}
    return in_turn(name, typed, word_answer, name, typed, rounded)


def word_answer(name: str, typed: str, rounded: bool) -> dict[str, Any]:
    """Return all of the word ``typed`` for the network called ``name``, see `word_data`."""
    automaton, python = known_automaton(name), ""
    if has_network(name):
        runner, python = runner_of(name, rounded), panels.word_lines(name, typed, rounded)
        word = read_word(typed, runner)
        truth = networks.truth_by_name(checkpoint_of(name), word)
        data = word_data(runner, word, automaton, known_specification(name), truth)
    elif automaton is None:
        raise StacklensError("this result has no automaton, and its network is not here")
    else:
        panels.check_typed_length(typed)
        word = parse_typed_word(typed, automaton.input_alphabet)
        data = automaton_data(automaton, word)
    asked = {"network": name, "word": typed, "rounded": rounded}
    return {**data, **asked, "before": _run_before(name, word), "python": python}


def _run_before(name: str, word: Word) -> dict[str, Any] | None:
    raw = None if known_automaton(name) is None else shown(name).before
    return None if raw is None else run_data(raw, run_automaton(raw, word))


def beginning_answer(name: str, typed: str, rounded: bool, step: int) -> dict[str, Any] | None:
    """Return what is seen of a long word around an early ``step``: its beginning, worked on at once, not in its turn.

    None where that takes as long as the word, or is not what the whole word is there.
    """
    if len(typed) <= LONG or step + _AHEAD > LONG or not has_network(name):
        return None
    automaton, runner = known_automaton(name), runner_of(name, rounded)
    word = read_word(typed, runner)
    symbols = max(_BEGINNING, step + _AHEAD)
    truth = networks.truth_by_name(checkpoint_of(name), word[:symbols])
    data = beginning_data(runner, word, symbols, automaton, known_specification(name), truth)
    asked = {"network": name, "word": typed, "rounded": rounded, "python": ""}
    return None if data is None else {**data, **asked, "before": _run_before(name, word[:symbols])}


def network_answer(name: str) -> dict[str, Any]:
    """Return what the bench shows of a network beside any word: its card, its automaton, its claims; as HTML, too."""
    title, card = networks.network_title(name), panels.network_card(name)
    found: dict[str, Any] = {"file": networks.file_of(name)}
    if has_network(name):
        model = checkpoint_of(name).model
        found |= {"alphabet": list(model.alphabet), "stacks": model.n_stacks}
    else:  # what its automaton reads, and why the network is not here
        pda, result = known_automaton(name), networks.saved(name)
        symbols, stacks = ((), 0) if pda is None else (pda.input_alphabet, pda.n_stacks)
        missing = f"The network of {result.title} is not here, only its automaton; "
        missing += f"open {result.network}, too, to see what the network does."
        found |= {"alphabet": list(symbols), "stacks": stacks, "missing": missing}
    found |= {"network": name, "title": title, "card": card, "extracted": False}
    settings = settings_known(name)
    extracted = None if settings is None else known(name, settings)
    if settings is not None and extracted is not None:
        report = extracted.report
        chips = verdict_of(report).items()
        found |= {
            "extracted": True,
            "settings": settings.call(),
            "saved": is_saved(name),
            "headline": as_sentence(headline(report)),
            # what the automaton is right about, and by what
            "chips": [{"name": one, "sign": SIGNS[how], "verdict": how, "by": by} for one, (how, by) in chips],
            "claims": panels.claims_with_words(report, name),
            "disagreements": [{"word": word, "who": who} for word, who in disagreements_of(report)],
            "summary": extracted.summary,
            "advice": extracted.why,
            "python": panel_lines("claims", name),
            "mending": extractions.mending_of(name),
            "automaton": None,
        }
        if (pda := extracted.automaton) is None:
            found["why"] = nothing_found(report["reason"])
        else:  # beside the one before minimisation, where that is another
            before, merged = shown(name).beside
            groups = None if before is None else shown(name, raw=True).groups or {}
            found["automaton"] = {
                **_drawing(pda, None if groups is None else {state: state for state in pda.states}),
                "before": None if before is None else _drawing(before, groups),
                "merged": merged,
                "meanings": _meanings(name),
                "python": panel_lines("drawing", name),
            }
    return {**found, "html": html_of(found, "card", "says", "chips", "claims", "meanings", "mending")}


def _drawing(pda: PushdownAutomaton, groups: Mapping[State, str] | None) -> dict[str, Any]:
    try:
        return bench_drawing(pda, groups)
    except StacklensError as error:
        return {"svg": "", "edges": [], "says": f"{error}."}


_PATIENCE = 20  # seconds that a file waits for its turn


def _file(name: str, suffix: str, word: str, rounded: bool, raw: bool) -> Response:
    content: Any
    if suffix == "pt":
        kept = networks.uploaded(name)
        name, content = kept.title.removesuffix(".pt"), kept.data
    elif suffix in panels.FILES:
        one = shown(name, raw)
        content = panels.FILES[suffix](one.automaton, name, one.groups)
    else:
        kind = "csv" if suffix == "csv" else "json"
        content = in_turn(name, word, panels.trace_file, kind, name, word, rounded, patience=_PATIENCE)
    ending = {"trace": "trace.json", "csv": "csv"}.get(suffix, suffix)
    data = BytesIO(content.encode() if isinstance(content, str) else content)
    return send_file(data, "application/octet-stream", as_attachment=True, download_name=f"{name}.{ending}")


# ---- A change of one step as a browser asks for it, what can be changed in a network, and what comes of it ----

_MOST = 4_096  # characters of numbers in an address
_LARGEST = 1e30  # of these; larger ones overflow in float32


def change_answer(name: str, typed: str, rounded: bool, change: Change, other: str) -> dict[str, Any]:
    """Return all of the word ``typed`` after ``change``, which may take from ``other``, see `changed_word`."""
    runner = runner_of(name, rounded)
    named = {row: symbol for symbol, row in values_of(checkpoint_of(name).model, _meanings(name)).items()}
    word = read_word(typed, runner)
    data = changed_word(runner, word, change, known_specification(name), other, named)
    call = call_of(typed, change, rounded, other)
    return {**data, "network": name, "word": typed, "rounded": rounded, "python": panels.program(name, call)}


def _change(name: str, typed: str, other: str) -> Change:
    """Return the change that an address asks for; its steps, stacks, cells and units are from 1."""
    model = checkpoint_of(name).model
    part = one_of("set", PARTS)
    step, steps = number("change", 1), len(read_word(typed, model)) + (model.end is not None)
    if not 1 <= step <= steps:
        raise StacklensError(f"there is no step {step} to change: the word has {steps}")
    stack, cell, unit, from_cell = map(_number_from_1, ("stack", "cell", "unit", "from-cell"))
    # a value as it is typed: one of `NAMED` that need nothing else, or numbers with spaces between
    to = text("to", "")
    value: str | tuple[float, ...] = to
    if to not in NAMED or to == "centre":
        try:
            value = tuple(float(one) for one in to[:_MOST].split())
        except ValueError:
            value = ()
        if not value or not all(abs(one) <= _LARGEST for one in value):
            expected = f"numbers from {-_LARGEST:g} to {_LARGEST:g}, or zero, mean, rounded or source"
            raise StacklensError(f"what is put there is '{to:.40}'; expected {expected}")
    if value != "source":
        return Change(step - 1, part, value, stack, cell or 0, unit)
    source = read_word(other, model)
    read = number("after", len(source))
    begun = 1 if part in ("actions", "pushed") else 0  # they are of a step
    if not begun <= read <= len(source):
        raise StacklensError(f"nothing can be taken after {read} symbols of {other or 'ε'}, which has {len(source)}")
    return Change(step - 1, part, value, stack, cell or 0, unit, source, read - begun, from_cell)


def _number_from_1(name: str) -> int | None:
    """Return the number called ``name`` as it is counted from 0, None where the address has none."""
    if name not in request.args:
        return None
    found = number(name)
    if not 1 <= found <= panels.LONGEST_WORD:
        raise StacklensError(f"{name} is {found}; expected a number from 1 to {panels.LONGEST_WORD:,}")
    return found - 1


def _meanings(name: str) -> list[dict[str, Any]]:
    """Return what the symbols of the automaton's stack stand for, none where nothing has been read out."""
    found = known(name)
    if found is None or found.automaton is None:
        return []
    if not has_network(name):
        return [{"symbol": one, "pushed by": [], "low": None, "high": None} for one in found.automaton.stack_alphabet]
    return _cached_meanings(name, found.automaton, found.stacks)


@lru_cache(maxsize=32)
def _cached_meanings(name: str, automaton: Any, stacks: Any) -> list[dict[str, Any]]:
    return symbol_meanings(runner_of(name, False), panels.seen_on_many(shown(name), rounded=False), automaton, stacks)


def _changed(name: str, typed: str, other: str, rounded: bool) -> Any:
    asked, longest = _change(name, typed, other), max(typed, other, key=len)
    return in_turn(name, longest, change_answer, name, typed, rounded, asked, other)


# ---- Of every address what is read of a question, in this order, and what answers it with that ----

_typed = partial(text, default="")
_GET: dict[str, tuple[dict[str, Reader], Callable[..., Any]]] = {
    "networks": ({"opened": texts}, _networks_listed),
    "network": ({"network": text}, network_answer),
    "word": ({"network": text, "word": _typed, "rounded": flag, "beginning": flag, "step": number}, _word),
    "other-word": ({"network": text, "seed": number}, lambda *asked: {"word": networks.random_word(*asked)}),
    "jobs": ({"network": text}, _jobs),
    "words": ({"network": text, "seed": number}, lambda *asked: {"words": panels.words_to_try(*asked)}),
    "papers": ({}, lambda: {"tables": tables_and_figures()}),
    "file": (
        {
            "network": text,
            "suffix": partial(one_of, choices=(*panels.FILES, "csv", "trace", "pt")),
            "word": _typed,
            "rounded": flag,
            "raw": flag,
        },
        _file,
    ),
    "changeable": ({"network": text}, lambda name: changeable(checkpoint_of(name).model, _meanings(name))),
    "change": ({"network": text, "word": _typed, "from": _typed, "rounded": flag}, _changed),
}


_POST: dict[str, Callable[[], Any]] = {
    "upload": _upload,
    "extract": _extract,
    "repair": _repair,
    "cancel": _cancel,
    "drawer": lambda: Response(to_json_plotly(filled(asked_for(body()))), mimetype="application/json"),
    "picture": _figure_file,
}

# ---- The application ----
#
# Dash has the drawers' figures and tables, in one place that one callback fills. Strip, step table and automaton are no
# Dash components: they follow every step that somebody walks or scrubs, and a callback a step takes longer than the
# frame in which it has to be seen. The browser's part sets the data of the store "asked"; callbacks, which all run in
# the browser (`assets/drawers.js`), ask the server as every part of the page does.

_SERVED, _UPDATE = "_dash_assets.static", "/_dash-update-component"  # Dash's ways to these files, and to callbacks
# where in the page go what it shows first, a list, and whether it is dark
_FIRST, _PAPERS, _THEME = "<!-- first -->", "<!-- papers -->", "{%theme%}"


class Workbench(Dash):
    """Dash with the workbench as its page, which is shown before Dash's own programs are there.

    They stand in a template, where a browser leaves them alone; `assets/drawers.js` starts them.
    """

    def index(self, *given: Any, **named: Any) -> Any:
        """Return the page, which has one address."""
        if given or named:
            abort(404)
        return super().index()  # type: ignore[no-untyped-call]

    def interpolate_index(self, **parts: str) -> str:  # type: ignore[override]  # all are given by name
        """Return the page's text, with what its address asks for as data in it."""
        parts["app_entry"] = '<div id="react-entry-point"></div>'
        page: str = super().interpolate_index(**parts)  # type: ignore[no-untyped-call]
        theme, papers = request.cookies.get("theme", ""), html_of(tables_and_figures(), "papers")
        page = page.replace(_THEME, theme if theme in THEMES else "").replace(_PAPERS, papers["papers"])
        # what the address asks for as data in the page, so that it is shown without another request; of a long word
        # it is the beginning, the rest comes later, when its turn has come
        view = view_of(request.query_string.decode(errors="replace"))
        first: dict[str, object] = {}
        try:
            checkpoint_of(view.network)  # only a network is shown at once
            typed = random_word(view.network, 0) if view.word is None else view.word
            first |= {"network": network_answer(view.network), "chosen": typed}
            whole, asked = len(typed) <= LONG, (view.network, typed, view.rounded)
            first["word"] = word_answer(*asked) if whole else beginning_answer(*asked, view.step)
        except StacklensError:  # the page asks again, and says what is wrong
            pass
        data = json.dumps(first, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
        return page.replace(_FIRST, f'<script type="application/json" id="at-first">{data}</script>')


def new_application(access: Access | None = None) -> Workbench:
    """Return the page as a Dash application; its ``server`` is what waitress or gunicorn runs.

    Everything comes from this server, nothing from another host, and no user's state is kept in it.

    Who has ``access`` may use it; None is as STACKLENS_TOKEN and STACKLENS_HOSTS say, without them this machine alone.
    """
    store()
    server: Any = Flask("stacklens", static_folder=None)  # dash says that it takes none
    server.logger.addHandler(default_handler)  # the package is quiet by itself; a server says what went wrong
    server.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    guard(server, access or Access.from_environment())
    app = Workbench(
        "stacklens",
        server=server,
        title="stacklens",
        update_title="",  # the title stays
        assets_folder=str(_ASSETS),
        include_assets_files=False,  # the page names its own, which are modules
        serve_locally=True,
        suppress_callback_exceptions=True,  # tables come and go
        index_string=(_ASSETS / "workbench.html").read_text(encoding="utf-8"),
    )
    server.view_functions[_SERVED] = _asset
    server.view_functions[_UPDATE] = lambda: refused(404, "no callback of this page asks the server")
    # what Dash has on the page, empty, and the callbacks that fill it
    app.layout = html.Div([dcc.Store(id="asked"), dcc.Store(id="answered"), html.Div(id="filled")])
    register_one: Any = app.clientside_callback  # dash leaves it without types
    register_one(ClientsideFunction("bench", "ready"), Input("asked", "id"))
    filled = Output("filled", "children"), Output("answered", "data")
    for name, *parts in (
        ("fill", *filled, Input("asked", "data")),
        ("answered", Input("answered", "data")),
        ("csv", Output({"grid": MATCH}, "exportDataAsCsv"), Input({"grid": MATCH, "as": "csv"}, "n_clicks")),
    ):
        register_one(ClientsideFunction("bench", name), *parts, prevent_initial_call=True)
    for name, (readers, answer) in _GET.items():
        server.add_url_rule(f"/api/{name}", name, answering(answer, readers))
    for name, receive in _POST.items():
        server.add_url_rule(f"/api/{name}", name, answering(receive), methods=["POST"])
    server.register_error_handler(HTTPException, _sentence_of)
    server.register_error_handler(DependencyException, lambda _: refused(404, "there is no such file"))
    return app


def _asset(filename: str) -> Response:
    """Return a file of the page from memory: one that is sent from the disk stays open where a browser breaks off."""
    if filename not in {path.name for path in _ASSETS.iterdir()}:
        abort(404)
    kind = mimetypes.guess_type(filename)[0]
    answer = Response((_ASSETS / filename).read_bytes(), mimetype=kind, headers={"Cache-Control": "no-cache"})
    answer.add_etag()
    answer.make_conditional(request)
    return answer


def _sentence_of(error: HTTPException) -> Response:
    large = f"the body of this request is larger than {LARGEST_BODY // 1_000_000} MB"
    return refused(error.code or 400, large if error.code == 413 else error.name.lower())
