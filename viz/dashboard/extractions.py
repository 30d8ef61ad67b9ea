"""What has been read out of the networks that users look at: kept as text, for all server processes and users."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, astuple, dataclass, field
from functools import lru_cache
from typing import Any

from stacklens import __version__
from stacklens.automata.formats.json import from_json, to_json_line
from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.extraction import Extraction, ExtractionConfig
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import Checkpoint
from stacklens.viz.dashboard.networks import load
from stacklens.viz.dashboard.store import DAY, store
from stacklens.viz.report import summary_text

__all__ = ["Known", "Settings", "fingerprint", "keep", "known", "settings_known"]


@dataclass(frozen=True)
class Settings:
    """How an automaton is to be extracted: what the page asks for; None for what `extract-pda` does by default."""

    states: int | None = None
    stack_symbols: int | None = None
    max_length: int | None = None
    seed: int = 0
    language: str | None = None

    def config(self) -> ExtractionConfig:
        """Return what `extract` takes."""
        names = {name: value for name, value in asdict(self).items() if name != "language"}
        return ExtractionConfig(**names)

    def arguments(self) -> tuple[str, str]:
        """Return what `reference_of` and `extract` are given last in Python lines: "" or with a comma before it."""
        changed = {name: value for name, value in asdict(self).items() if value != getattr(Settings, name)}
        language = f", {changed.pop('language')!r}" if "language" in changed else ""
        config = ", ".join(f"{name}={value!r}" for name, value in changed.items())
        return language, f", ExtractionConfig({config})" if config else ""


@dataclass(frozen=True)
class Known:
    """What is known of a network once it has been looked into.

    Attributes:
        automaton: the minimised automaton, or None where no faithful one was found.
        raw: the machine before minimisation, if one came out.
        report: everything as plain data (see `Extraction.report`).
        summary: what `extract-pda` prints, without the transitions.
    """

    automaton: PushdownAutomaton | None
    raw: PushdownAutomaton | None
    report: dict[str, Any] = field(hash=False)
    summary: str

    @property
    def stacks(self) -> tuple[int, ...]:
        """Return the numbers of the network's stacks that the automaton has."""
        use = self.report["stacks"]
        return tuple(stack for stack in use["kept"] if stack not in use["push_only"])


def known(name: str, settings: Settings | None = None) -> Known | None:
    """Return what is known of the network called ``name``, extracted with ``settings``; None if that has not been done.

    Without ``settings`` it is what `settings_known` says. It is at hand for a day, or until newer results need its
    room.

    Raises:
        StacklensError: there is no such network, or nothing can be kept here (see `store`).
    """
    asked = settings_known(name) if settings is None else settings
    text = None if asked is None else store().get(_key(load(name), asked))
    return None if text is None else _known(text)


def settings_known(name: str) -> Settings | None:
    """Return with which settings the network called ``name`` has been extracted; None if it has not been.

    What `extract-pda` does by default comes first, then what somebody asked for last.
    """
    checkpoint = load(name)
    if _key(checkpoint, Settings()) in store():
        return Settings()
    last = store().get(_key(checkpoint, None))
    return None if last is None else Settings(**last)


def keep(name: str, settings: Settings, result: Extraction) -> None:
    """Return nothing; keep ``result``, which was extracted from the network called ``name`` with ``settings``."""
    content = {
        "automaton": None if result.automaton is None else to_json_line(result.automaton),
        "raw": None if result.raw is None else to_json_line(result.raw),
        "report": result.report(),
        "summary": summary_text(result),
    }
    checkpoint = load(name)
    store().set(_key(checkpoint, settings), json.dumps(content), expire=DAY)
    store().set(_key(checkpoint, None), asdict(settings), expire=DAY)


@lru_cache(maxsize=64)
def _known(text: str) -> Known:
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


def _key(checkpoint: Checkpoint, settings: Settings | None) -> str:
    """Return under which name results are kept, or, for None, the settings of the last ones."""
    asked = ["last"] if settings is None else list(astuple(settings))
    return json.dumps(["extraction", __version__, fingerprint(checkpoint), *asked])
