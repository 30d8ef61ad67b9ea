"""The one sentence over the table: how often the network is right, where it first fails, and the automaton."""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklens.models.base import StackModel
from stacklens.viz.bench.answers import UNSAID, Expected, answer_name

__all__ = ["Part", "differing", "sentence_of", "steps_at"]

Part = dict[str, Any]  # {"text": …}, and "step" where it leads to one


def steps_at(there: np.ndarray) -> list[int]:
    """Return the steps, from 1, where something is."""
    return [int(place) + 1 for place in np.flatnonzero(there)]


def differing(model: StackModel[Any], said: np.ndarray, other: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return where network and automaton say something, and not the same, (T,) bool; nowhere but where it counts."""
    counts = expected != UNSAID
    if model.task_kind == "recognition" or not counts.any():
        counts = np.ones(len(said), dtype=bool)
    different: np.ndarray = counts & (said != UNSAID) & (other != UNSAID) & (said != other)
    return different


def sentence_of(
    model: StackModel[Any],
    letters: list[str],
    said: np.ndarray,
    expected: Expected,
    automaton: np.ndarray | None,
    rounded: bool,
) -> list[Part]:
    """Return the sentence as parts; those that name a step say its number, from 1.

    Args:
        model: the network.
        letters: what each step reads.
        said: what the network says after each symbol, see `bench.answers`.
        expected: what it should say.
        automaton: what the automaton says; None where there is none.
        rounded: whether it is the rounded network that is shown.
    """
    who = "the rounded network" if rounded else "the network"
    parts = [*_verdict(model, said, expected), *_right(model, said, expected), *_leaves(model, letters, expected)]
    parts += _agreement(model, said, expected, automaton, who)
    parts[0]["text"] = parts[0]["text"][:1].upper() + parts[0]["text"][1:]
    parts.append({"text": "."})
    return parts


def _verdict(model: StackModel[Any], said: np.ndarray, expected: Expected) -> list[Part]:
    if model.task_kind != "recognition" or not len(said):
        return []
    does, want = "accepts" if said[-1] else "rejects", expected.answers[-1]
    if want == UNSAID:
        return [{"text": f"{does} the word; "}]
    member = f"{'a' if want else 'no'} member of {expected.name}"
    right = bool(said[-1]) == bool(want)
    return [{"text": f"{does} the word, {'rightly' if right else 'wrongly'}: it is {member}; ", "good": right}]


def _right(model: StackModel[Any], said: np.ndarray, expected: Expected) -> list[Part]:
    asked = expected.answers != UNSAID
    total, what = int(asked.sum()), "beginnings" if model.task_kind == "recognition" else "symbols"
    if not len(said):
        return [{"text": "the empty word has no symbols to be right or wrong on"}]
    if not total:
        return [{"text": f"nothing here is right or wrong: {expected.problem or 'nothing is expected'}"}]
    wrong = np.flatnonzero(asked & (said != expected.answers))
    among = what if total == len(said) else f"{what} that count"
    if not len(wrong):
        return [{"text": f"right on all {total:,} {among}" if total > 1 else f"right on the one of the {among}"}]
    first = int(wrong[0])
    got, want = (answer_name(model, numbers[first]) for numbers in (said, expected.answers))
    return [
        {"text": f"right on {total - len(wrong):,} of {total:,} {among}; first wrong at ", "good": False},
        {"text": f"step {first + 1:,}", "step": first + 1},
        {"text": f" ({got}, expected {want})"},
    ]


def _leaves(model: StackModel[Any], letters: list[str], expected: Expected) -> list[Part]:
    """Return where a word of a predictor leaves the language."""
    cut = np.flatnonzero(expected.answers == -1)
    if model.task_kind == "recognition" or not len(cut):
        return []
    step = int(cut[0])
    return [
        {"text": f"; the word leaves {expected.name} at "},
        {"text": f"step {step + 1:,}", "step": step + 1},
        {"text": f" ({letters[step]})"},
    ]


def _agreement(
    model: StackModel[Any], said: np.ndarray, expected: Expected, automaton: np.ndarray | None, who: str
) -> list[Part]:
    if automaton is None:
        return [{"text": "; no automaton has been read out of this network yet"}]
    if not len(said):
        return []
    places = np.flatnonzero(differing(model, said, automaton, expected.answers))
    if not len(places):
        return [{"text": f"; the automaton agrees with {who} to the end"}]
    first = int(places[0])
    says, want = automaton[first], expected.answers[first]
    judged = "" if want == UNSAID else ", rightly" if says == want else ", wrongly"
    return [
        {"text": f"; the automaton agrees with {who} up to "},
        {"text": f"step {first + 1:,}", "step": first + 1},
        {"text": f", where it says {answer_name(model, says)}{judged}"},
    ]
