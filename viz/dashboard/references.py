"""What the page's networks should do, by name alone: whoever can reach the page must not have the server open files."""

from __future__ import annotations

import re
from typing import Any

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError, UnknownNameError
from stacklens.extract.names import reference_of
from stacklens.extract.reference import Reference, check_alphabet
from stacklens.languages import language_names
from stacklens.languages.tasks.registry import task_names
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import Checkpoint
from stacklens.viz.truth import true_automaton

__all__ = ["fitting_reference", "reference_by_name", "truth_by_name"]

_DYCK = re.compile(r"dyck-([1-9][0-9]{0,4})")


def reference_by_name(checkpoint: Checkpoint, language: str | None = None) -> Reference | None:
    """Return what to check a network against: what is called ``language``, or else what its file says, or None.

    As `reference_of`, but no file is ever opened, and nothing is made that is far too large for the network.

    Raises:
        StacklensError: it is a path, or a language of more symbols than the network reads.
        UnknownNameError: there is nothing of that name.
    """
    name, model = language or checkpoint.task.get("language"), checkpoint.model
    kind, names = ("language", language_names()) if model.task_kind == "recognition" else ("task", task_names())
    if name is not None:
        _check_name(name, model, kind, names)
    return reference_of(checkpoint, name)


def fitting_reference(checkpoint: Checkpoint, language: str | None = None) -> Reference | None:
    """Return `reference_by_name` where that is something we know over the network's own symbols, else None."""
    try:
        reference = reference_by_name(checkpoint, language)
        check_alphabet(reference, checkpoint.model)
    except StacklensError:  # somebody else's name for it
        return None
    return reference


def truth_by_name(checkpoint: Checkpoint, word: Word) -> PushdownAutomaton | None:
    """Return `true_automaton` where the network's file says by name what it was trained on, else None."""
    name, model = checkpoint.task.get("language"), checkpoint.model
    of_a_language = model.task_kind in ("recognition", "next set")  # where a language is looked up, which may be a path
    if name is None:
        return None
    try:
        _check_name(name, model, "language", language_names() if of_a_language else task_names())
    except StacklensError:
        return None
    return true_automaton(checkpoint, word)


def _check_name(name: str, model: StackModel[Any], kind: str, names: list[str]) -> None:
    """Return nothing if ``name`` may be looked up for ``model``: among ``names``, or dyck-n that is not too large."""
    if match := _DYCK.fullmatch(name):
        if 2 * int(match[1]) > len(model.alphabet):
            raise StacklensError(
                f"{kind} {name} has more symbols than the network, {' '.join(model.alphabet)}; "
                "name the language that it was trained on"
            )
    elif set(name) & set("/\\."):
        raise StacklensError(f"{kind} {name!r} is a file; the page knows languages by name, extract-pda reads files")
    elif name not in names or name == "dyck-N":
        raise UnknownNameError(kind, name, names)
