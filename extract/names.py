"""From a name on the command line to what a network should do: a language for recognisers, else a task."""

from __future__ import annotations

from stacklens.languages import get_language
from stacklens.languages.base import Language
from stacklens.languages.tasks.base import Task
from stacklens.languages.tasks.registry import get_task
from stacklens.models.base import TaskKind

__all__ = ["subject_named"]


def subject_named(name: str, kind: TaskKind) -> Language | Task:
    """Return the language or task called ``name``, for a network of this kind.

    Raises:
        UnknownNameError: there is none.
    """
    return get_language(name) if kind == "recognition" else get_task(name)
