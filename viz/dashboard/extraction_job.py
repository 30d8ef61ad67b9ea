"""The extraction that the page starts: what its form says, and the job itself."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from stacklens.automata.enumeration import count_all
from stacklens.errors import StacklensError
from stacklens.extract.extraction import extract
from stacklens.shell import count
from stacklens.viz.dashboard.extractions import Settings, keep, known
from stacklens.viz.dashboard.job_process import Tell
from stacklens.viz.dashboard.jobs import Turns
from stacklens.viz.dashboard.networks import load
from stacklens.viz.dashboard.references import reference_by_name

__all__ = ["STAGES", "TURNS", "extraction_job", "settings_of"]

STAGES = ("trace the network", "look for states", "check the automaton", "prove equality", "certify")
_WORKING = max(1, (os.cpu_count() or 1) - 1)  # one core is left to the server
_WAITING = 8  # extractions; each may take minutes
_MOST_WORDS = 50_000_000  # about a minute's work; the shell goes further
_MOST_STATES = 512
_LARGEST_SEED = 2**32 - 1


def _told(before: int) -> tuple[str, int]:
    """Return what is said to somebody with so many before them in the line, and a number of stages."""
    others = f"; {count(before, 'other')} before this one" if before else ""
    return f"waiting for another extraction to end{others}", 0


def _ended(problem: str) -> dict[str, Any]:
    return {"network": None, "settings": None, "problem": problem}


TURNS = Turns(
    _WORKING,
    _WAITING,
    _told,
    full=_ended(
        f"{count(_WORKING, 'extraction')} at work and {_WAITING} waiting is the most that this page takes at once: "
        "try again in some minutes, or use extract-pda in a shell."
    ),
    stopped=_ended("The extraction was stopped before it came to a result."),
)


def settings_of(
    states: float | None,
    stack_symbols: float | None,
    max_length: float | None,
    seed: float | None,
    language: str | None,
) -> Settings:
    """Return what the form says, where an empty field is None.

    Raises:
        StacklensError: a number is not whole, or out of its range.
    """
    return Settings(
        _whole("states", states, 1, _MOST_STATES),
        _whole("stack symbols", stack_symbols, 1, _MOST_STATES),
        _whole("max length", max_length, 0, 1_000),
        _whole("seed", seed, 0, _LARGEST_SEED) or 0,
        (language or "").strip() or None,
    )


def _whole(name: str, value: float | None, low: int, high: int) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or not low <= value <= high or value != int(value):  # inf is in no range
        raise StacklensError(f"{name} is {value}; expected a whole number from {low} to {high:,}, or nothing")
    return int(value)


def extraction_job(
    tell: Tell,
    clicks: int | None,
    network: str,
    states: float | None,
    stack_symbols: float | None,
    max_length: float | None,
    seed: float | None,
    language: str | None,
    visit: str,
) -> dict[str, Any]:
    """Return with which settings an automaton was extracted and kept, or the problem, one sentence.

    ``tell`` is given the name of each stage and its number from 0; ``visit`` and ``clicks`` tell one job from another.
    """
    del clicks, visit
    try:
        settings = settings_of(states, stack_symbols, max_length, seed, language)
        _extract(tell, network, settings)
    except StacklensError as error:
        return {"network": network, "settings": None, "problem": f"{error}."}
    except Exception as error:  # a job that says nothing would leave its user waiting
        return {"network": network, "settings": None, "problem": f"the extraction failed: {error!r}."}
    return {"network": network, "settings": asdict(settings), "problem": None}


def _extract(tell: Tell, network: str, settings: Settings) -> None:
    checkpoint = load(network)
    letters = len(checkpoint.model.alphabet)
    if settings.max_length is not None and count_all(letters, settings.max_length) > _MOST_WORDS:
        raise StacklensError(
            f"there are more than {_MOST_WORDS:,} words of length <= {settings.max_length} over {letters} symbols; "
            "extract-pda in a shell checks more"
        )
    if settings.stack_symbols is not None and checkpoint.model.pushes_input:
        raise StacklensError(f"this {checkpoint.model.name} pushes the symbol it reads: leave stack symbols empty")
    reference = reference_by_name(checkpoint, settings.language)
    if known(network, settings) is not None:
        return
    result = extract(
        checkpoint.model,
        reference,
        settings.config(),
        lambda stage: tell((stage, STAGES.index(stage) if stage in STAGES else 0)),
    )
    keep(network, settings, result)
