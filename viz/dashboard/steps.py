"""What the pages say of a word: the verdicts of all who have one, and every step in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.automata.simulation import accepts_many
from stacklens.errors import StacklensError
from stacklens.languages.words import parse_word
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import Trace, trace
from stacklens.viz.dashboard.extractions import ExtractionSettings, known
from stacklens.viz.dashboard.networks import load, truth_by_name
from stacklens.viz.dashboard.turns import LONG
from stacklens.viz.step_tables import step_table
from stacklens.viz.style import verdict_of

__all__ = [
    "LONGEST_STACKS",
    "LONGEST_WORD",
    "Steps",
    "extracted_automaton",
    "read_word",
    "runner_of",
    "steps_of",
    "traced",
]

LONGEST_WORD = 10_000  # symbols of a word
LONGEST_STACKS = 1_000  # symbols of a word whose stacks are drawn: there are as many numbers again at every step
_SEGMENTS = 200  # symbols up to which a note lists what a continuous stack holds: there are as many again in each
_SHARED = 8  # traces of long words
_REMEMBERED = 32  # words: whoever turns pages or goes back asks for the same again
_NOTES = 12  # columns of a step that are told in words; hidden vectors have more


@dataclass(frozen=True)
class Steps:
    """What there is to say.

    Attributes:
        verdicts: who says what of the word, and whether it is a yes.
        letters: what every step reads.
        notes: what happens at every step, in one line.
        problem: what is wrong with the word, one sentence, or None.
    """

    verdicts: tuple[tuple[str, str, bool], ...] = ()
    letters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str | None = None


def read_word(text: str, model: StackModel[Any]) -> Word:
    """Return the word that was typed for ``model``.

    Raises:
        StacklensError: it is too long for the page, or has symbols that the network does not read.
    """
    if len(text) > LONGEST_WORD:
        raise StacklensError(f"this word has {len(text):,} characters; expected at most {LONGEST_WORD:,}")
    return parse_word(text, model.alphabet)


def runner_of(network: str, rounded: bool) -> StackModel[Any]:
    """Return the network called so, or its rounded one."""
    model = load(network).model
    return Rounded(model) if rounded else model


def traced(network: str, text: str, rounded: bool, stacks: bool = False) -> Trace:
    """Return what a network does on the word ``text``; verdicts, figure and table of a long word share one trace.

    Raises:
        StacklensError: the word cannot be read, or there is no such network.
    """
    if stacks or len(text) <= LONG:
        return _traced(network, text, rounded, stacks)
    return _shared(network, text, rounded)


def _traced(network: str, text: str, rounded: bool, stacks: bool) -> Trace:
    runner = runner_of(network, rounded)
    return trace(runner, [read_word(text, runner)], stacks=stacks)


@lru_cache(maxsize=_SHARED)
def _shared(network: str, text: str, rounded: bool) -> Trace:
    return _traced(network, text, rounded, stacks=False)


def steps_of(network: str, text: str, rounded: bool = False, settings: ExtractionSettings | None = None) -> Steps:
    """Return what is said of the word ``text``; the notes are the rounded network's where that is asked for.

    The automaton is the one that was extracted with ``settings``, or without them with those of `settings_known`.
    """
    try:
        with one_thread():
            found = _steps_of(network, text, rounded)
            return replace(found, verdicts=(*found.verdicts, *_automatons(network, text, settings)))
    except StacklensError as error:
        return Steps(problem=f"{error}.")


@lru_cache(maxsize=_REMEMBERED)
def _steps_of(network: str, text: str, rounded: bool) -> Steps:
    checkpoint = load(network)
    word = read_word(text, checkpoint.model)
    networks: tuple[StackModel[Any], ...] = (checkpoint.model, Rounded(checkpoint.model))
    told = len(word) <= _SEGMENTS and checkpoint.model.pushes_input
    traces = [traced(network, text, bool(number), told and number == rounded) for number in range(2)]
    verdicts = [
        (who, verdict_of(one, seen), bool(seen.verdicts[0]))
        for who, one, seen in zip(("network", "rounded network"), networks, traces, strict=True)
    ]
    truth = truth_by_name(checkpoint, word)
    if truth is not None and checkpoint.model.task_kind in ("recognition", "next set"):
        member = _accepts(truth, word)
        verdicts.append(("language", "a member" if member else "not a member", member))
    seen = traces[rounded]
    letters = tuple(seen.letters[number] for number in seen.symbols[0, : seen.steps[0]])
    return Steps(tuple(verdicts), letters, _notes(networks[rounded], seen))


def extracted_automaton(network: str, settings: ExtractionSettings | None = None) -> PushdownAutomaton | None:
    """Return the automaton that was read out of the network called so, with ``settings``, if that has been done."""
    found = known(network, settings)
    return None if found is None else found.automaton


def _automatons(network: str, text: str, settings: ExtractionSettings | None) -> tuple[tuple[str, str, bool], ...]:
    """Return the verdict of the network's automaton, where there is one and it has any."""
    automaton, model = extracted_automaton(network, settings), load(network).model
    if automaton is None or model.task_kind == "transduction":
        return ()
    accepted = _accepts(automaton, read_word(text, model))
    return (("automaton", "accepted" if accepted else "rejected", accepted),)


def _accepts(automaton: PushdownAutomaton, word: Word) -> bool:
    """Return whether ``automaton`` accepts ``word``, in a time that grows with its length and not with its square."""
    return bool(accepts_many(automaton, [word])[0])


def _notes(network: StackModel[Any], seen: Trace) -> tuple[str, ...]:
    """Return what happens at each step, its state left out where that is long."""
    frame = step_table(network, seen)
    if frame.empty:
        return ()
    if seen.hidden.shape[-1] > _NOTES:
        frame = frame.drop(columns="state")
    shown = [name for name in frame.columns if name not in ("step", "symbol", "rejected")]
    return tuple(
        f"step {row['step']} reads {row['symbol']}"
        + "".join(f" · {name} {row[name]}" for name in shown if row[name] != "")
        + (" · rejected" if row["rejected"] else "")
        for row in frame.to_dict("records")
    )
