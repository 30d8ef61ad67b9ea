"""From a name to what a network should do: a language for recognisers, else a task."""

from __future__ import annotations

from stacklens.extract.reference import LanguageReference, Reference
from stacklens.extract.task_reference import TaskReference
from stacklens.languages import get_language
from stacklens.languages.base import Language
from stacklens.languages.tasks.base import Task
from stacklens.languages.tasks.registry import get_task
from stacklens.models.base import TaskKind
from stacklens.models.checkpoint import Checkpoint

__all__ = ["reference_for", "reference_of", "subject_named"]


def subject_named(name: str, kind: TaskKind) -> Language | Task:
    """Return the language or task called ``name``, for a network of this kind.

    Raises:
        UnknownNameError: there is none.
    """
    return get_language(name) if kind == "recognition" else get_task(name)


def reference_for(language: Language | Task | Reference | None) -> Reference | None:
    """Return what to check against, for a language, a task, or what is a reference already."""
    if isinstance(language, Language):
        return LanguageReference(language)
    return TaskReference(language) if isinstance(language, Task) else language


def reference_of(checkpoint: Checkpoint, name: str | None = None) -> Reference | None:
    """Return what to check a network against: what is called ``name``, or else what its file says; None for neither.

    Raises:
        UnknownNameError: there is nothing of that name.
    """
    name = name or checkpoint.task.get("language")
    return None if name is None else reference_for(subject_named(name, checkpoint.model.task_kind))
