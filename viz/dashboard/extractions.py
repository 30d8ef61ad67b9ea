"""Extractions and repairs that the page starts, and what came of them: kept as text, for all servers and users.

What came of the zoo's networks is there from the start: it comes with them, as files.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, get_args

from ... import __version__
from ...automata.enumeration import count_all
from ...automata.formats.json import from_json, to_json_line
from ...automata.minimize import Minimization
from ...automata.pda import PushdownAutomaton
from ...core.errors import LARGEST_SEED, StacklensError
from ...core.progress import count
from ...extract.by_name import task_of
from ...extract.causality import with_causality
from ...extract.claims import disagreements_of
from ...extract.config import DEFAULT_BUDGET, ExtractionConfig, Method
from ...extract.diagnosis import mending
from ...extract.extraction import extract
from ...extract.repair import Round, harden, repair
from ...extract.result import Extraction
from ...extract.saved import load_result
from ...extract.search.candidates import merged_into
from ...extract.summary import summary_text
from ...models.base import Checkpoint, StackModel
from ...models.checkpoint import ZOO, made_by
from . import networks
from .jobs import Jobs, Tell
from .networks import DAY, store

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
_LISTED = 8  # jobs of a network that are remembered
_ASKED = "jobs "  # in the store, before the key of the last one: the key of each, and what it does


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
        return ExtractionConfig(**{name: value for name, value in asdict(self).items() if name != "language"})

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
    texts: Callable[[], Mapping[str, str]]  # gives its "summary", and perhaps its "why"

    @property
    def summary(self) -> str:
        """Return what `extract-pda` prints, without the transitions."""
        return self.texts()["summary"]

    @property
    def why(self) -> str:
        """Return what `Extraction.why` says: what differs, the likely cause, what to do next."""
        return self.texts().get("why", "")

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
    if networks.is_saved(name):
        return _known_of_text(networks.saved(name).content)
    asked = settings_known(name) if settings is None else settings
    text = None if asked is None else store().get(_key(networks.checkpoint_of(name), asked))
    if text is None:
        return shipped(name) if asked == ExtractionSettings() else None
    return _known_of_text(text)


def known_automaton(name: str) -> PushdownAutomaton | None:
    """Return the automaton that was read out of the network called ``name``; None where there is none."""
    found = known(name)
    return None if found is None else found.automaton


def settings_known(name: str) -> ExtractionSettings | None:
    """Return with which settings the network called ``name`` has been extracted; None if it has not been.

    What somebody asked for last comes first, then what comes with the zoo. A saved result was extracted as it was.
    """
    if networks.is_saved(name):
        return ExtractionSettings(language=_known_of_text(networks.saved(name).content).report["language"])
    last = store().get(_key(networks.checkpoint_of(name), None))
    if last is not None:
        return ExtractionSettings(**last)
    return None if shipped(name) is None else ExtractionSettings()


def content_of(result: Extraction) -> dict[str, Any]:
    """Return what is kept of ``result``, what a `Known` is made of, as plain data."""
    return {
        "automaton": None if result.minimised is None else to_json_line(result.automaton),
        "raw": None if result.raw is None else to_json_line(result.raw),
        "report": result.report(),
        **_texts_of(result),
    }


def _texts_of(result: Extraction) -> dict[str, str]:
    return {"summary": summary_text(result, transitions=False), "why": result.why()}


def keep_extraction(name: str, settings: ExtractionSettings, result: Extraction) -> None:
    """Keep ``result``, which was extracted from the network called ``name`` with ``settings``."""
    checkpoint = networks.checkpoint_of(name)
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

    It counts only for the very network that it was read out of. A saved result begins with its report.
    """
    path = ZOO / f"{name}.json"
    origin = networks.checkpoint_of(name).model.origin
    if name not in networks.network_names() or not path.is_file() or origin is None:
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    if content["network"]["sha256"] != origin.sha256:
        return None
    automaton, raw = (
        None if (plain := content["automata"][which]) is None else from_json(json.dumps(plain))
        for which in ("minimised", "raw")
    )
    return Known(automaton, raw, content, lru_cache(lambda: _texts_of(load_result(path, trusted=True))))


@lru_cache(maxsize=64)
def _known_of_text(text: str) -> Known:
    content = json.loads(text)
    automaton, raw = (None if content[which] is None else from_json(content[which]) for which in ("automaton", "raw"))
    return Known(automaton, raw, content["report"], lambda: content)


@lru_cache(maxsize=64)  # a question for a word needs it eight times
def fingerprint(checkpoint: Checkpoint) -> str:
    """Return 64 hexadecimal digits that stand for a network and what it was trained for, wherever it came from."""
    model: StackModel[Any] = checkpoint.model
    about = model.name, model.config(), model.alphabet, sorted(checkpoint.task.items())
    digest = hashlib.sha256(repr(about).encode())
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode() + value.numpy().tobytes())
    return digest.hexdigest()


def _key(checkpoint: Checkpoint, settings: ExtractionSettings | None) -> str:  # None: the last ones
    asked = ["last"] if settings is None else list(astuple(settings))
    return json.dumps(["extraction", __version__, fingerprint(checkpoint), *asked])


# ---- Jobs: what came of one is a dictionary whose "problem" is a sentence, or None ----


def _waiting_stage(before: int) -> tuple[str, int, int]:
    others = f"; {count(before, 'other')} before this one" if before else ""
    return f"waiting for another job to end{others}", 0, 1


_FULL = (
    f"{count(_WORKING, 'job')} at work and {_WAITING} waiting is the most that this page takes at once: "
    "try again in some minutes, or use stacklens in a shell."
)
_STOPPED = "This was stopped before it came to a result."
_jobs = Jobs(_WORKING, _WAITING, _waiting_stage, full={"problem": _FULL}, stopped={"problem": _STOPPED})


# the least and the most that the fields of the form take, in the order in which they are read
_RANGES = {
    "states": (1, 512),
    "stack_symbols": (1, 512),
    "max_length": (0, 1_000),
    "seed": (0, LARGEST_SEED),
    "budget": (1, 600),  # seconds of an extraction; the shell goes further
}


def settings_of(given: Mapping[str, Any]) -> ExtractionSettings:
    """Return what the form says, where an empty field is None or missing."""
    method, chosen = given.get("method"), dict[str, Any]()
    if method not in (None, *get_args(Method)):
        raise StacklensError(f"method is {method!r:.50}; expected one of {', '.join(get_args(Method))}")
    for name, (low, high) in _RANGES.items():
        if (value := given.get(name)) is not None:
            chosen[name] = _whole(name.replace("_", " "), value, low, high)
    return ExtractionSettings(**chosen, language=(given.get("language") or "").strip() or None, method=method or "auto")


def _whole(what: str, value: Any, low: int, high: int) -> int:
    # inf is in no range, and JSON may say 3.0 for 3
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high or value % 1:
        raise StacklensError(f"{what} is {value!r:.50}; expected a whole number from {low} to {high:,}, or nothing")
    return int(value)


def start_extraction(name: str, settings: ExtractionSettings, again: bool = False) -> None:
    """Have the network called ``name`` extracted with ``settings``; ``again`` although it has been."""
    key = _key(_opened(name, "extract again"), settings)
    _begin(name, key, "extract", extraction_job, asdict(settings), again)


def start_repair(name: str, seconds: Any) -> None:
    """Have the network called ``name`` repaired, or hardened where that is enough, in so many seconds, None for 60.
    Raises StacklensError: that is no number from 1 to 600, or the network cannot be repaired, see `mending_of`.
    """
    checkpoint, settings = _opened(name, "repair it"), settings_known(name)
    chosen = _SECONDS if seconds is None else _whole("seconds", seconds, *_RANGES["budget"])
    found = mending_of(name)
    if found is None or settings is None:
        raise StacklensError("there is no word against this network that is known: extract from it first")
    if found["problem"] is not None:
        raise StacklensError(found["problem"])
    key = json.dumps([found["what"], chosen, settings.language, _key(checkpoint, None)])
    _begin(name, key, found["what"], repair_job, found["what"], chosen, settings.language)


def _opened(name: str, what: str) -> Checkpoint:
    if networks.is_saved(name):
        result = networks.saved(name)
        raise StacklensError(f"{result.title} is a saved result; open {result.network} to {what}")
    return networks.checkpoint_of(name)


def _begin(name: str, key: str, what: str, job: Callable[..., Any], *arguments: Any) -> None:
    """Start the job called ``key``, which is asked for last of all of its network."""
    listed = _ASKED + _key(networks.checkpoint_of(name), None)
    with store().transact():
        asked = [one for one in store().get(listed, []) if one != [key, what]]
        store().set(listed, [*asked, [key, what]][-_LISTED:], expire=DAY)
    _jobs.start(key, job, [name, *arguments])


def cancel_job(name: str, key: str) -> None:
    """End the job called ``key`` of the network called ``name``, for all who have asked for it."""
    if key in [one["key"] for one in jobs_of(name)]:
        _jobs.cancel(key)


def jobs_of(name: str) -> list[dict[str, Any]]:
    """Return the jobs of the network called ``name`` that run or have ended today, the last asked for first.

    Each has its "key" and "what" it does, whether it is "running", its "stage", how much of that is "done" and "of" how
    much, and its "problem", if any; a repair also what `repair_job` returns, as far as it is known.
    """
    if networks.is_saved(name):
        return []
    found = []
    for key, what in reversed(store().get(_ASKED + _key(networks.checkpoint_of(name), None), [])):
        if (state := _jobs.state(key)) is not None:
            stage, done, of, *more = state.progress or ["waiting", 0, 1]
            ended = {} if state.running else (state.result or {})
            ended = {**ended, "problem": ended.get("problem") or ended.get("error")}
            job = {"key": key, "what": what, "running": state.running, "stage": stage, "done": done, "of": of}
            found.append({**job, **(more[0] if more else {}), **ended})
    return found


def extraction_job(tell: Tell, network: str, settings: dict[str, Any], again: bool = False) -> dict[str, Any]:
    """Return with which settings an automaton was extracted and kept, or the problem, one sentence.

    ``tell`` is given the name of each stage, its number from 0, and how many there are.
    """
    outcome: dict[str, Any] = {"network": network, "settings": None, "problem": None}

    def tell_stage(stage: str, done: int, _: int | None) -> None:
        if done == 0:  # it begins
            tell((stage, STAGES.index(stage) if stage in STAGES else 0, len(STAGES)))

    with _one_problem("extraction", outcome):
        asked, checkpoint = ExtractionSettings(**settings), networks.checkpoint_of(network)
        letters = len(checkpoint.model.alphabet)
        if asked.max_length is not None and count_all(letters, asked.max_length) > _MOST_WORDS:
            raise StacklensError(
                f"there are more than {_MOST_WORDS:,} words of length <= {asked.max_length} over {letters} symbols; "
                "extract-pda in a shell checks more"
            )
        if asked.stack_symbols is not None and checkpoint.model.pushes_input:
            raise StacklensError(f"this {checkpoint.model.name} pushes the symbol it reads: leave stack symbols empty")
        specification = networks.specification_by_name(checkpoint, asked.language)
        if again or known(network, asked) is None:
            result = extract(checkpoint.model, specification, asked.config(), tell_stage)
            keep_extraction(network, asked, result if result.minimised is None else with_causality(result))
        outcome["settings"] = settings
    return outcome


@contextmanager
def _one_problem(what: str, outcome: dict[str, Any]) -> Iterator[None]:
    """Run a block in which what goes wrong is the "problem" of ``outcome``: with none its user would go on waiting."""
    try:
        yield
    except StacklensError as error:
        outcome["problem"] = f"{error}."
    except Exception as error:
        outcome["problem"] = f"the {what} failed: {error!r}."


# ---- Repairs: trained further on what breaks them, in a job, and kept as a network that was opened ----

_SECONDS = 60  # of processor time


def mending_of(name: str) -> dict[str, Any] | None:
    """Return what can be done for the network called ``name``, as `mending` says, with the word that breaks it.

    Where nothing can, "problem" says why; None where nothing has to be, or nothing is known.
    """
    found = known(name)
    if found is None or not networks.has_network(name) or found.report["certificate"].get("itself"):
        return None
    way, wrong = mending(found.report, networks.file_of(name)), disagreements_of(found.report)
    word, who = wrong[0] if wrong else (None, "")
    offer = {"what": "repair", "says": "", "command": None, "problem": None, "word": word, "rounded": "rounded" in who}
    try:
        checkpoint = _opened(name, "repair it")
        if (reason := checkpoint.model.unsaved) is not None:
            raise StacklensError(f"what comes of it could not be kept: {reason}")
        if way is None or way.what == "repair":
            task_of(checkpoint.model, networks.fitting_specification(checkpoint, found.report["language"]))
        if way is None:
            reason = found.report["certificate"]["reason"]
            raise StacklensError(f"there is no certificate for a {checkpoint.model.name} network: {reason}")
    except StacklensError as error:
        return {**offer, "problem": f"{error}"} if wrong else None
    return {**offer, **way._asdict()}


def repair_job(tell: Tell, network: str, what: str, seconds: int, language: str | None) -> dict[str, Any]:
    """Return what came of a repair, or of making actions whole, or the problem, one sentence.

    That is the "lines" that say what happened, the "network" under whose name the repaired one is kept, None where
    nothing was better, its "title", and the "word" that broke the one before, with whether it was "rounded" then.
    ``tell`` is given the stage, how many seconds it has taken and may take, and the same as far as it is known.
    """
    found: dict[str, Any] = {"problem": None, "network": None, "title": None, "lines": []}
    begun = time.process_time()

    def tell_stage(stage: str, _: int, __: int | None) -> None:
        tell((stage, min(seconds, time.process_time() - begun), seconds, found))

    def keep(made: StackModel[Any]) -> None:
        kept = networks.keep_repaired(made_by(made, command), network, f"{what}ed")
        found.update(network=kept, title=networks.network_title(kept))

    def end_round(one: Round, best: StackModel[Any]) -> None:
        found["lines"].append(f"round    {one}")
        if one.kept:
            keep(best)

    with _one_problem("repair", found):
        checkpoint = networks.checkpoint_of(network)
        model, specification = checkpoint.model, networks.specification_by_name(checkpoint, language)
        offer, config = mending_of(network) or {}, ExtractionSettings().config()
        found |= {part: offer.get(part) for part in ("word", "rounded")}
        command = f"{offer.get('command')}{f' --seconds {seconds}s' * (what == 'repair')}"
        if what == "harden":
            before = extract(model, specification, config, tell_stage)
            made = harden(before)
            after = extract(made.model, specification, config, tell_stage)
            lines = [f"before   {before.headline}", f"after    {after.headline}", f"actions  {made}"]
        else:
            done = repair(model, specification, config, seconds=seconds, progress=tell_stage, on_round=end_round)
            after, lines = done.after, str(done).splitlines()
        if after.model is not model:
            keep(after.model)
            keep_extraction(found["network"], ExtractionSettings(language=language), after)
        return {**found, "lines": lines}
    return found
