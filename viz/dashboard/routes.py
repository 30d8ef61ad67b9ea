"""What the browser asks for while somebody works: networks, words, automata and extractions, all answered as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from flask import Flask, request

from stacklens.automata.pda import PushdownAutomaton, State, Word
from stacklens.errors import StacklensError
from stacklens.extract.headline import headline
from stacklens.extract.wording import as_sentence, nothing_found
from stacklens.languages.words import parse_word
from stacklens.viz.bench.alone import automaton_data
from stacklens.viz.bench.automaton_run import automaton_run, run_data
from stacklens.viz.bench.drawing import bench_drawing
from stacklens.viz.bench.symbols import symbol_meanings
from stacklens.viz.bench.word import beginning_data, word_data
from stacklens.viz.dashboard.asking import answering, body, flag, number, text, texts
from stacklens.viz.dashboard.automaton_views import seen_on_many, shown
from stacklens.viz.dashboard.cards import network_card, network_list
from stacklens.viz.dashboard.claims import claims_with_words, disagreements_of
from stacklens.viz.dashboard.extractions import (
    STAGES,
    ExtractionSettings,
    cancel_extraction,
    extractions_of,
    known,
    settings_known,
    settings_of,
    start_extraction,
)
from stacklens.viz.dashboard.judging import known_specification
from stacklens.viz.dashboard.networks import (
    LARGEST_UPLOAD,
    file_of,
    has_network,
    load,
    network_title,
    random_word,
    truth_by_name,
)
from stacklens.viz.dashboard.python_lines import automaton_lines, trust_lines, word_lines
from stacklens.viz.dashboard.results import keep_file
from stacklens.viz.dashboard.saved import forget, is_saved, saved, short_title
from stacklens.viz.dashboard.steps import check_length, read_word, runner_of
from stacklens.viz.dashboard.turns import LONG, in_turn

__all__ = ["beginning_answer", "network_answer", "register", "word_answer"]

_BEGINNING, _AHEAD = 240, 100  # symbols of a long word that are shown at first, and after the current step


def register(server: Flask) -> None:
    """Give ``server`` the addresses under /api/ that the bench asks."""

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
        return {"network": _kept(request.get_data(), title)}

    _register_extractions(server)


def _kept(data: bytes, title: str) -> str:
    """Return the name under which a file is kept, once all that the bench says of it first can be said.

    Raises:
        StacklensError: it is refused; one line.
    """
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


def _register_extractions(server: Flask) -> None:
    @server.get("/api/extractions")
    @answering
    def extractions() -> Any:
        return {"extractions": extractions_of(text("network")), "stages": list(STAGES)}

    @server.post("/api/extract")
    @answering
    def extract() -> Any:
        asked = body()
        name = text("network", among=asked)
        start_extraction(name, _settings(asked), asked.get("again") is True)
        return {"extractions": extractions_of(name), "stages": list(STAGES)}

    @server.post("/api/cancel")
    @answering
    def cancel() -> Any:
        asked = body()
        name = text("network", among=asked)
        cancel_extraction(name, _settings(asked))
        return {"extractions": extractions_of(name), "stages": list(STAGES)}


def _settings(asked: dict[str, Any]) -> ExtractionSettings:
    """Return the settings in what a browser sends.

    Raises:
        StacklensError: one of them makes no sense.
    """
    given = asked.get("settings", {})
    if not isinstance(given, dict):
        raise StacklensError("the settings of this request are no object")
    language, method = (None if given.get(name) is None else text(name, among=given) for name in ("language", "method"))
    states, symbols, length, seed = (given.get(name) for name in ("states", "stack_symbols", "max_length", "seed"))
    return settings_of(states, symbols, length, seed, language, method, given.get("budget"))


def word_answer(name: str, typed: str, rounded: bool) -> dict[str, Any]:
    """Return all of the word ``typed`` for the network called ``name``, see `word_data`.

    Raises:
        StacklensError: there is no such network, or it cannot read the word.
    """
    found = known(name)
    automaton = None if found is None else found.automaton
    if not has_network(name):
        return {**_alone(name, typed), "network": name, "word": typed, "rounded": rounded}
    runner = runner_of(name, rounded)
    word = read_word(typed, runner)
    data = word_data(runner, word, automaton, known_specification(name), truth_by_name(load(name), word))
    data["before"] = _run_before(name, word)
    return {**data, "network": name, "word": typed, "rounded": rounded, "python": word_lines(name, typed, rounded)}


def _run_before(name: str, word: Word) -> dict[str, Any] | None:
    """Return the run on ``word`` of the automaton before minimisation, where that is another one; else None."""
    found = known(name)
    raw = None if found is None or found.automaton is None else shown(name).beside[0]
    return None if raw is None else run_data(raw, automaton_run(raw, word))


def beginning_answer(name: str, typed: str, rounded: bool, step: int) -> dict[str, Any] | None:
    """Return what is seen of a long word around an early ``step``: its beginning, worked on at once, not in its turn.

    None where that takes as long as the word, or is not what the whole word is there.

    Raises:
        StacklensError: as `word_answer`.
    """
    if len(typed) <= LONG or step + _AHEAD > LONG or not has_network(name):
        return None
    found, runner = known(name), runner_of(name, rounded)
    word = read_word(typed, runner)
    automaton = None if found is None else found.automaton
    symbols = max(_BEGINNING, step + _AHEAD)
    truth = truth_by_name(load(name), word[:symbols])
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
    check_length(typed)
    word = parse_word(typed, found.automaton.input_alphabet)
    return {**automaton_data(found.automaton, word), "before": _run_before(name, word), "python": ""}


def network_answer(name: str) -> dict[str, Any]:
    """Return what the bench says of the network called ``name`` beside any word: its card, its automaton, its claims.

    Raises:
        StacklensError: there is no such network.
    """
    base = {**_of_network(name), "network": name, "title": network_title(name), "card": network_card(name)}
    settings = settings_known(name)
    found = None if settings is None else known(name, settings)
    if settings is None or found is None:
        return {**base, "extracted": False}
    told = {
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
        return {**base, **told, "automaton": None, "why": nothing_found(found.report["reason"])}
    return {**base, **told, "automaton": _automaton(name)}


def _of_network(name: str) -> dict[str, Any]:
    """Return what the network reads and has, or why it is not here and what its automaton reads."""
    if has_network(name):
        model = load(name).model
        return {"file": file_of(name), "alphabet": list(model.alphabet), "stacks": model.n_stacks}
    found, result = known(name), saved(name)
    pda = None if found is None else found.automaton
    symbols, stacks = ((), 0) if pda is None else (pda.input_alphabet, pda.n_stacks)
    missing = (
        f"The network of {result.title} is not here, only its automaton; open {result.network}, too, to see what the "
        "network does."
    )
    return {"file": file_of(name), "alphabet": list(symbols), "stacks": stacks, "missing": missing}


def _automaton(name: str) -> dict[str, Any]:
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
