"""What the browser asks for while somebody works: networks, words, automata and extractions, all answered as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from flask import Flask, Response, request

from ...automata.pda import PushdownAutomaton, State, Word
from ...core.errors import StacklensError
from ...extract.claims import disagreements_of, headline
from ...extract.wording import as_sentence, nothing_found
from ...languages.words import parse_word
from ...probe.intervene import NAMED, PARTS
from ..bench.change import Change, call_of, changeable, changed_word, values_of
from ..bench.drawing import bench_automaton_run, bench_drawing, run_data, symbol_meanings
from ..bench.word import automaton_data, beginning_data, word_data
from ..papers import table_names
from .components import (
    claims_with_words,
    known_specification,
    network_card,
    network_list,
    words_to_try,
)
from .extractions import (
    STAGES,
    ExtractionSettings,
    cancel_extraction,
    extractions_of,
    known,
    settings_known,
    settings_of,
    start_extraction,
)
from .networks import (
    LARGEST_UPLOAD,
    checkpoint_of,
    file_of,
    has_network,
    network_title,
    random_word,
    truth_by_name,
)
from .opening import keep_file
from .panels import (
    FILES,
    LONGEST_WORD,
    automaton_lines,
    check_typed_length,
    program,
    read_word,
    runner_of,
    seen_on_many,
    shown,
    trace_file,
    trust_lines,
    word_lines,
)
from .requests import LONG, answering, body, flag, in_turn, number, one_of, text, texts
from .saved import forget, is_saved, saved, short_title

_BEGINNING, _AHEAD = 240, 100  # symbols of a long word that are shown at first, and after the current step


def register_routes(server: Flask) -> None:
    """Give ``server`` the addresses under /api/ that the bench and its drawers ask."""

    @server.get("/api/networks")
    @answering
    def networks() -> Any:
        return network_list(texts("opened"))

    @server.get("/api/network")
    @answering
    def network() -> Any:
        return network_answer(text("network"))

    @server.get("/api/word")
    @answering
    def word() -> Any:
        name, typed = text("network"), text("word", "")
        if flag("beginning"):
            return {"beginning": beginning_answer(name, typed, flag("rounded"), number("step"))}
        return in_turn(name, typed, word_answer, name, typed, flag("rounded"))

    @server.get("/api/other-word")
    @answering
    def other_word() -> Any:
        return {"word": random_word(text("network"), number("seed"))}

    @server.post("/api/upload")
    @answering
    def upload() -> Any:
        title = unquote(text("title", "a file"))
        if (request.content_length or 0) > LARGEST_UPLOAD:
            raise StacklensError(
                f"{title}: larger than {LARGEST_UPLOAD // 1_000_000} MB; expected a trained network or a saved result"
            )
        return {"network": _kept_file(request.get_data(), title)}

    @server.get("/api/extractions")
    @answering
    def extractions() -> Any:
        return {"extractions": extractions_of(text("network")), "stages": list(STAGES)}

    @server.post("/api/extract")
    @answering
    def extract() -> Any:
        asked = body()
        name = text("network", among=asked)
        start_extraction(name, _settings_asked(asked), asked.get("again") is True)
        return {"extractions": extractions_of(name), "stages": list(STAGES)}

    @server.post("/api/cancel")
    @answering
    def cancel() -> Any:
        asked = body()
        name = text("network", among=asked)
        cancel_extraction(name, _settings_asked(asked))
        return {"extractions": extractions_of(name), "stages": list(STAGES)}

    # what the drawers ask beside what Dash shows in them: words to try, the names of the papers' tables, files
    @server.get("/api/words")
    @answering
    def words() -> Any:
        return {"words": words_to_try(text("network"), number("seed"))}

    @server.get("/api/papers")
    @answering
    def papers() -> Any:
        return {"tables": [{"name": name, "what": what} for name, what in table_names().items()]}

    server.add_url_rule("/api/file", view_func=answering(_file))

    @server.get("/api/changeable")
    @answering
    def what_can_be_changed() -> Any:
        name = text("network")
        return changeable(checkpoint_of(name).model, _meanings(name))

    @server.get("/api/change")
    @answering
    def change() -> Any:
        name, typed, other = text("network"), text("word", ""), text("from", "")
        asked = _change(name, typed, other)
        longest = max(typed, other, key=len)
        return in_turn(name, longest, change_answer, name, typed, flag("rounded"), asked, other)


def _kept_file(data: bytes, title: str) -> str:
    """Return the name under which a file is kept, once all that the bench says of it first can be said."""
    name = keep_file(data, title)
    try:
        network_answer(name)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):  # a result that somebody has written by hand
        forget(name)
        raise StacklensError(f"{short_title(title)}: parts of it do not fit together; save it again") from None
    except StacklensError:
        forget(name)
        raise
    return name


def _settings_asked(asked: dict[str, Any]) -> ExtractionSettings:
    """Return the settings in what a browser sends."""
    given = asked.get("settings", {})
    if not isinstance(given, dict):
        raise StacklensError("the settings of this request are no object")
    language, method = (None if given.get(name) is None else text(name, among=given) for name in ("language", "method"))
    states, symbols, length, seed = (given.get(name) for name in ("states", "stack_symbols", "max_length", "seed"))
    return settings_of(states, symbols, length, seed, language, method, given.get("budget"))


def word_answer(name: str, typed: str, rounded: bool) -> dict[str, Any]:
    """Return all of the word ``typed`` for the network called ``name``, see `word_data`."""
    found = known(name)
    automaton = None if found is None else found.automaton
    if not has_network(name):
        return {**_alone(name, typed), "network": name, "word": typed, "rounded": rounded}
    runner = runner_of(name, rounded)
    word = read_word(typed, runner)
    data = word_data(runner, word, automaton, known_specification(name), truth_by_name(checkpoint_of(name), word))
    data["before"] = _run_before(name, word)
    return {**data, "network": name, "word": typed, "rounded": rounded, "python": word_lines(name, typed, rounded)}


def _run_before(name: str, word: Word) -> dict[str, Any] | None:
    """Return the run on ``word`` of the automaton before minimisation, where that is another one; else None."""
    found = known(name)
    raw = None if found is None or found.automaton is None else shown(name).beside[0]
    return None if raw is None else run_data(raw, bench_automaton_run(raw, word))


def beginning_answer(name: str, typed: str, rounded: bool, step: int) -> dict[str, Any] | None:
    """Return what is seen of a long word around an early ``step``: its beginning, worked on at once, not in its turn.

    None where that takes as long as the word, or is not what the whole word is there.
    """
    if len(typed) <= LONG or step + _AHEAD > LONG or not has_network(name):
        return None
    found, runner = known(name), runner_of(name, rounded)
    word = read_word(typed, runner)
    automaton = None if found is None else found.automaton
    symbols = max(_BEGINNING, step + _AHEAD)
    truth = truth_by_name(checkpoint_of(name), word[:symbols])
    data = beginning_data(runner, word, symbols, automaton, known_specification(name), truth)
    if data is None:
        return None
    data["before"] = _run_before(name, word[:symbols])
    return {**data, "network": name, "word": typed, "rounded": rounded, "python": ""}


def _alone(name: str, typed: str) -> dict[str, Any]:
    """Return the run of an automaton whose network is not here."""
    found = known(name)
    if found is None or found.automaton is None:
        raise StacklensError("this result has no automaton, and its network is not here")
    check_typed_length(typed)
    word = parse_word(typed, found.automaton.input_alphabet)
    return {**automaton_data(found.automaton, word), "before": _run_before(name, word), "python": ""}


def network_answer(name: str) -> dict[str, Any]:
    """Return what the bench shows of a network beside any word: its card, its automaton, its claims."""
    base = {**_of_network(name), "network": name, "title": network_title(name), "card": network_card(name)}
    settings = settings_known(name)
    found = None if settings is None else known(name, settings)
    if settings is None or found is None:
        return {**base, "extracted": False}
    about = {
        "extracted": True,
        "settings": settings.call(),
        "saved": is_saved(name),
        "headline": as_sentence(headline(found.report)),
        "claims": claims_with_words(found.report),
        "disagreements": [{"word": word, "who": who} for word, who in disagreements_of(found.report)],
        "summary": found.summary,
        "python": trust_lines("claims", name),
    }
    if found.automaton is None:
        return {**base, **about, "automaton": None, "why": nothing_found(found.report["reason"])}
    return {**base, **about, "automaton": _automaton_answer(name)}


def _of_network(name: str) -> dict[str, Any]:
    """Return what the network reads and has, or why it is not here and what its automaton reads."""
    if has_network(name):
        model = checkpoint_of(name).model
        return {"file": file_of(name), "alphabet": list(model.alphabet), "stacks": model.n_stacks}
    found, result = known(name), saved(name)
    pda = None if found is None else found.automaton
    symbols, stacks = ((), 0) if pda is None else (pda.input_alphabet, pda.n_stacks)
    missing = (
        f"The network of {result.title} is not here, only its automaton; open {result.network}, too, to see what the "
        "network does."
    )
    return {"file": file_of(name), "alphabet": list(symbols), "stacks": stacks, "missing": missing}


def _automaton_answer(name: str) -> dict[str, Any]:
    """Return the drawings of the automaton and of the one before, and what its symbols mean."""
    one = shown(name)
    pda, (before, merged) = one.automaton, one.beside
    groups = None if before is None else shown(name, raw=True).groups or {}
    meanings: list[dict[str, Any]] = [
        {"symbol": symbol, "pushed by": [], "low": None, "high": None} for symbol in pda.stack_alphabet
    ]
    if has_network(name):
        seen = seen_on_many(one, rounded=False)
        meanings = symbol_meanings(runner_of(name, False), seen, pda, one.known.stacks)
    return {
        **_drawing(pda, None if groups is None else {state: state for state in pda.states}),
        "before": None if before is None else _drawing(before, groups),
        "merged": merged,
        "meanings": meanings,
        "python": automaton_lines(one, "", False)["drawing"],
    }


def _drawing(pda: PushdownAutomaton, groups: Mapping[State, str] | None) -> dict[str, Any]:
    try:
        return bench_drawing(pda, groups)
    except StacklensError as error:
        return {"svg": "", "edges": [], "says": f"{error}."}


_PATIENCE = 20  # seconds that a file waits for its turn


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


# ---- A change of one step as a browser asks for it, what can be changed in a network, and what comes of it ----

_MOST = 4_096  # characters of numbers in an address


def change_answer(name: str, typed: str, rounded: bool, change: Change, other: str) -> dict[str, Any]:
    """Return all of the word ``typed`` after ``change``, which may take from ``other``, see `changed_word`."""
    runner = runner_of(name, rounded)
    named = {row: symbol for symbol, row in values_of(checkpoint_of(name).model, _meanings(name)).items()}
    word = read_word(typed, runner)
    data = changed_word(runner, word, change, known_specification(name), other, named)
    call = call_of(typed, change, rounded, other)
    return {**data, "network": name, "word": typed, "rounded": rounded, "python": program(name, (), (call,))}


def _change(name: str, typed: str, other: str) -> Change:
    """Return the change that an address asks for; its steps, stacks, cells and units are from 1."""
    model = checkpoint_of(name).model
    part = one_of("set", PARTS)
    step, steps = number("change", 1), len(read_word(typed, model)) + (model.end is not None)
    if not 1 <= step <= steps:
        raise StacklensError(f"there is no step {step} to change: the word has {steps}")
    stack, cell, unit = _number_from_1("stack"), _number_from_1("cell"), _number_from_1("unit")
    value = _typed_value(text("to", ""))
    if value != "source":
        return Change(step - 1, part, value, stack, cell or 0, unit)
    source = read_word(other, model)
    read = number("after", len(source))
    begun = 1 if part in ("actions", "pushed") else 0  # they are of a step
    if not begun <= read <= len(source):
        raise StacklensError(f"nothing can be taken after {read} symbols of {other or 'ε'}, which has {len(source)}")
    return Change(step - 1, part, value, stack, cell or 0, unit, source, read - begun)


def _number_from_1(name: str) -> int | None:
    """Return the number called ``name`` as it is counted from 0, None where the address has none."""
    if name not in request.args:
        return None
    found = number(name)
    if not 1 <= found <= LONGEST_WORD:
        raise StacklensError(f"{name} is {found}; expected a number from 1 to {LONGEST_WORD:,}")
    return found - 1


def _typed_value(typed: str) -> str | tuple[float, ...]:
    """Return a value as it is typed: one of `NAMED` that need nothing else, or numbers with spaces between."""
    if typed in NAMED and typed != "centre":
        return typed
    try:
        numbers = tuple(float(one) for one in typed[:_MOST].split())
    except ValueError:
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        shown = typed if len(typed) <= 40 else f"{typed[:37]}..."
        raise StacklensError(f"what is put there is '{shown}'; expected numbers, or zero, mean, rounded or source")
    return numbers


def _meanings(name: str) -> list[dict[str, Any]]:
    """Return what the symbols of the automaton's stack stand for, none where nothing has been read out."""
    settings = settings_known(name)
    found = None if settings is None else known(name, settings)
    if found is None or found.automaton is None:
        return []
    return _cached_meanings(name, found.automaton, found.stacks)


@lru_cache(maxsize=32)
def _cached_meanings(name: str, automaton: Any, stacks: Any) -> list[dict[str, Any]]:
    return symbol_meanings(runner_of(name, False), seen_on_many(shown(name), rounded=False), automaton, stacks)
