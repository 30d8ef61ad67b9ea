"""Extractions that the page starts, and what came of them: kept as text, for all server processes and users.

What came of the zoo's networks is there from the start: it comes with them, as files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, get_args

from ... import __version__
from ...automata.enumeration import count_all
from ...automata.formats.json import from_json, to_json_line
from ...automata.minimize import Minimization
from ...automata.pda import PushdownAutomaton
from ...core.errors import StacklensError
from ...core.progress import count
from ...core.validation import LARGEST_SEED
from ...extract.causality import with_causality
from ...extract.config import DEFAULT_BUDGET, ExtractionConfig, Method
from ...extract.extraction import extract
from ...extract.report import load_result
from ...extract.result import Extraction
from ...extract.search.candidates import merged_into
from ...extract.summary import summary_text
from ...models.base import StackModel
from ...models.checkpoint import ZOO, Checkpoint
from .jobs import Jobs, Tell
from .networks import DAY, checkpoint_of, is_saved, network_names, saved, specification_by_name, store

STAGES = (
    "trace the network",
    "look for states",
    "prove equality",
    "certify",
    "check the automaton",
    "certify up to a length",
    "find the horizon",
)
_WORKING = max(1, (os.cpu_count() or 1) - 1)  # one core is left to the server
_WAITING = 8  # extractions; each may take minutes
_MOST_WORDS = 50_000_000  # about a minute's work; the shell goes further
_LISTED = 8  # extractions of a network that are remembered
_ASKED = "asked "  # in the store, before the key of the last one: their settings


@dataclass(frozen=True)
class ExtractionSettings:
    """How an automaton is to be extracted: what the page asks for; None for what `extract-pda` does by default."""

    states: int | None = None
    stack_symbols: int | None = None
    max_length: int | None = None
    seed: int = 0
    language: str | None = None
    method: Method = "auto"
    budget: int = int(DEFAULT_BUDGET)  # whole: a browser sends 60.0 back as 60

    def config(self) -> ExtractionConfig:
        """Return what `extract` takes."""
        names = {name: value for name, value in asdict(self).items() if name != "language"}
        return ExtractionConfig(**names)

    def call(self) -> str:
        """Return the Python call that extracts so from ``network``: every setting that is not the usual one is named.

        >>> ExtractionSettings(states=3, language="dyck-1").call()
        "sl.extract(network, 'dyck-1', states=3)"
        """
        changed = {name: value for name, value in asdict(self).items() if value != getattr(ExtractionSettings, name)}
        language = [repr(changed.pop("language"))] if "language" in changed else []
        return f"sl.extract({', '.join(['network', *language, *(f'{name}={changed[name]!r}' for name in changed)])})"


@dataclass(frozen=True)
class Known:
    """What is known of a network once it has been looked into."""

    automaton: PushdownAutomaton | None  # the minimised automaton, or None where no faithful one was found
    raw: PushdownAutomaton | None  # the machine before minimisation, if one came out
    report: dict[str, Any] = field(hash=False)  # everything as plain data (see `Extraction.report`)
    summary: str  # what `extract-pda` prints, without the transitions

    @cached_property
    def merged(self) -> Minimization | None:
        """Return which states and stack symbols became which; None where that is not known, see `Extraction.merged`."""
        return merged_into(self.raw, self.automaton)

    @property
    def stacks(self) -> tuple[int, ...]:
        """Return the numbers of the network's stacks, or other memories, that the automaton's stacks are."""
        if (view := self.report.get("view")) is not None:
            return tuple(view["memories"])
        use = self.report["stacks"]
        return tuple(stack for stack in use["kept"] if stack not in use["push_only"])


def known(name: str, settings: ExtractionSettings | None = None) -> Known | None:
    """Return what is known of the network called ``name``, extracted with ``settings``; None if that has not been done.

    Without ``settings`` it is what `settings_known` says. It is at hand for a day, or until newer results need its
    room.
    """
    if is_saved(name):
        return _known_of_text(saved(name).content)
    asked = settings_known(name) if settings is None else settings
    text = None if asked is None else store().get(_key(checkpoint_of(name), asked))
    if text is None:
        return shipped(name) if asked == ExtractionSettings() else None
    return _known_of_text(text)


def settings_known(name: str) -> ExtractionSettings | None:
    """Return with which settings the network called ``name`` has been extracted; None if it has not been.

    What somebody asked for last comes first, then what comes with the zoo. A saved result was extracted as it was.
    """
    if is_saved(name):
        return ExtractionSettings(language=_known_of_text(saved(name).content).report["language"])
    last = store().get(_key(checkpoint_of(name), None))
    if last is not None:
        return ExtractionSettings(**last)
    return None if shipped(name) is None else ExtractionSettings()


def content_of(result: Extraction) -> dict[str, Any]:
    """Return what is kept of ``result``, what a `Known` is made of, as plain data."""
    return {
        "automaton": None if result.minimised is None else to_json_line(result.automaton),
        "raw": None if result.raw is None else to_json_line(result.raw),
        "report": result.report(),
        "summary": summary_text(result, transitions=False),
    }


def keep_extraction(name: str, settings: ExtractionSettings, result: Extraction) -> None:
    """Keep ``result``, which was extracted from the network called ``name`` with ``settings``."""
    checkpoint = checkpoint_of(name)
    store().set(_key(checkpoint, settings), json.dumps(content_of(result)), expire=DAY)
    store().set(_key(checkpoint, None), asdict(settings), expire=DAY)


def settings_in(result: Extraction) -> ExtractionSettings:
    """Return with which settings of the page ``result`` was extracted, as far as it knows."""
    config, origin = result.config, result.model.origin
    named = None if origin is None else origin.task.get("language")
    language = None if result.language_name == named else result.language_name
    if config is None:
        return ExtractionSettings(language=language)
    kept = {name: getattr(config, name) for name in ("states", "stack_symbols", "max_length", "seed", "method")}
    budget = ExtractionSettings.budget if config.budget is None else max(1, int(config.budget))
    return ExtractionSettings(**kept, language=language, budget=budget)


@lru_cache(maxsize=64)
def shipped(name: str) -> Known | None:
    """Return what the default settings found in the network of the zoo called ``name``, which comes with it, or None.

    It counts only for the very network that it was read out of.
    """
    path = ZOO / f"{name}.json"
    origin = checkpoint_of(name).model.origin
    if name not in network_names() or not path.is_file() or origin is None:
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    if content["network"]["sha256"] != origin.sha256:
        return None
    result = load_result(path, trusted=True)
    report = json.loads(json.dumps(result.report()))
    return Known(result.automaton, result.raw, report, summary_text(result, transitions=False))


@lru_cache(maxsize=64)
def _known_of_text(text: str) -> Known:
    content = json.loads(text)
    read = {name: None if content[name] is None else from_json(content[name]) for name in ("automaton", "raw")}
    return Known(**read, report=content["report"], summary=content["summary"])


def fingerprint(checkpoint: Checkpoint) -> str:
    """Return 64 hexadecimal digits that stand for a network and what it was trained for, wherever it came from."""
    model: StackModel[Any] = checkpoint.model
    digest = hashlib.sha256(
        repr((model.name, model.config(), model.alphabet, sorted(checkpoint.task.items()))).encode()
    )
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode() + value.numpy().tobytes())
    return digest.hexdigest()


def _key(checkpoint: Checkpoint, settings: ExtractionSettings | None) -> str:
    """Return under which name results are kept, or, for None, the settings of the last ones."""
    asked = ["last"] if settings is None else list(astuple(settings))
    return json.dumps(["extraction", __version__, fingerprint(checkpoint), *asked])


def _waiting_stage(before: int) -> tuple[str, int]:
    """Return the stage of a job with so many before it in the line, and a number of stages."""
    others = f"; {count(before, 'other')} before this one" if before else ""
    return f"waiting for another extraction to end{others}", 0


def _outcome(network: str | None, settings: dict[str, Any] | None, problem: str | None) -> dict[str, Any]:
    return {"network": network, "settings": settings, "problem": problem}


_jobs = Jobs(
    _WORKING,
    _WAITING,
    _waiting_stage,
    full=_outcome(
        None,
        None,
        f"{count(_WORKING, 'extraction')} at work and {_WAITING} waiting is the most that this page takes at once: "
        "try again in some minutes, or use extract-pda in a shell.",
    ),
    stopped=_outcome(None, None, "The extraction was stopped before it came to a result."),
)


# the least and the most that the fields of the form take, in the order in which they are read
_RANGES = {
    "states": (1, 512),
    "stack_symbols": (1, 512),
    "max_length": (0, 1_000),
    "seed": (0, LARGEST_SEED),
    "budget": (1, 600),  # seconds of a search; the shell goes further
}


def settings_of(given: Mapping[str, Any]) -> ExtractionSettings:
    """Return what the form says, where an empty field is None or missing."""
    method, chosen = given.get("method"), dict[str, Any]()
    if method not in (None, *get_args(Method)):
        raise StacklensError(f"method is {method!r:.50}; expected one of {', '.join(get_args(Method))}")
    for name, (low, high) in _RANGES.items():
        if (value := given.get(name)) is None:
            continue
        # inf is in no range, and JSON may say 3.0 for 3
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high or value % 1:
            what = name.replace("_", " ")
            raise StacklensError(f"{what} is {value}; expected a whole number from {low} to {high:,}, or nothing")
        chosen[name] = int(value)
    return ExtractionSettings(**chosen, language=(given.get("language") or "").strip() or None, method=method or "auto")


def start_extraction(name: str, settings: ExtractionSettings, again: bool = False) -> None:
    """Have the network called ``name`` extracted with ``settings``; ``again`` although it has been."""
    if is_saved(name):
        raise StacklensError(f"{saved(name).title} is a saved result; open {saved(name).network} to extract again")
    key = _ASKED + _key(checkpoint_of(name), None)
    with store().transact():
        asked = [one for one in store().get(key, []) if one != asdict(settings)]
        store().set(key, [*asked, asdict(settings)][-_LISTED:], expire=DAY)
    _jobs.start(_key(checkpoint_of(name), settings), extraction_job, [name, asdict(settings), again])


def cancel_extraction(name: str, settings: ExtractionSettings) -> None:
    """End the extraction of the network called ``name`` with ``settings``, for all who have asked for it."""
    _jobs.cancel(_key(checkpoint_of(name), settings))


def extractions_of(name: str) -> list[dict[str, Any]]:
    """Return the extractions of the network called ``name`` that run or have ended today, the last asked for first.

    Each has its "settings", whether it is "running", its "stage" and how many are "done", and its "problem", if any.
    """
    if is_saved(name):
        return []
    found = []
    for settings in reversed(store().get(_ASKED + _key(checkpoint_of(name), None), [])):
        state = _jobs.state(_key(checkpoint_of(name), ExtractionSettings(**settings)))
        if state is not None:
            stage, done = state.progress or ["waiting", 0]
            problem = None if state.running else (state.result or {}).get("problem", (state.result or {}).get("error"))
            found.append(
                {"settings": settings, "running": state.running, "stage": stage, "done": done, "problem": problem}
            )
    return found


def extraction_job(tell: Tell, network: str, settings: dict[str, Any], again: bool = False) -> dict[str, Any]:
    """Return with which settings an automaton was extracted and kept, or the problem, one sentence.

    ``tell`` is given the name of each stage and its number from 0.
    """
    try:
        _extract_and_keep(tell, network, ExtractionSettings(**settings), again)
    except StacklensError as error:
        return _outcome(network, None, f"{error}.")
    except Exception as error:  # a job that says nothing would leave its user waiting
        return _outcome(network, None, f"the extraction failed: {error!r}.")
    return _outcome(network, settings, None)


def _extract_and_keep(tell: Tell, network: str, settings: ExtractionSettings, again: bool) -> None:
    checkpoint = checkpoint_of(network)
    letters = len(checkpoint.model.alphabet)
    if settings.max_length is not None and count_all(letters, settings.max_length) > _MOST_WORDS:
        raise StacklensError(
            f"there are more than {_MOST_WORDS:,} words of length <= {settings.max_length} over {letters} symbols; "
            "extract-pda in a shell checks more"
        )
    if settings.stack_symbols is not None and checkpoint.model.pushes_input:
        raise StacklensError(f"this {checkpoint.model.name} pushes the symbol it reads: leave stack symbols empty")
    specification = specification_by_name(checkpoint, settings.language)
    if known(network, settings) is not None and not again:
        return

    def tell_stage(stage: str, done: int, _: int | None) -> None:
        if done == 0:  # it begins
            tell((stage, STAGES.index(stage) if stage in STAGES else 0))

    result = extract(checkpoint.model, specification, settings.config(), tell_stage)
    keep_extraction(network, settings, result if result.minimised is None else with_causality(result))
