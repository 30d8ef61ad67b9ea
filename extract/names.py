"""From a name to what a network should do: a language for recognisers, else a task."""

from __future__ import annotations

from stacklens.errors import StacklensError, UnknownNameError
from stacklens.extract.reference import LanguageReference, Reference
from stacklens.extract.task_reference import TaskReference
from stacklens.languages import get_language
from stacklens.languages.base import Language
from stacklens.languages.tasks.base import Task
from stacklens.languages.tasks.registry import get_task
from stacklens.languages.tasks.stream_after import StreamAfter
from stacklens.languages.tasks.streams import StreamTask
from stacklens.models.base import TaskKind
from stacklens.models.checkpoint import Checkpoint

__all__ = ["reference_for", "reference_of", "subject_named"]


def subject_named(name: str, kind: TaskKind) -> Language | Task:
    """Return the language or task called ``name``, for a network of this kind.

    Raises:
        UnknownNameError: there is none.
    """
    return get_language(name) if kind == "recognition" else get_task(name)


def reference_for(language: Language | Task | Reference | None, kind: TaskKind | None = None) -> Reference | None:
    """Return what to check a network of this kind against, for a language, a task, or what is a reference already.

    A predictor of sets that is given a language is meant to predict what may come next in its words, and a recogniser
    that is given such a task to recognise these words.

    Raises:
        StacklensError: a network of this kind can be no answer to it.
    """
    if kind is not None:
        language = _meant(language, kind)
    if isinstance(language, Language):
        return LanguageReference(language)
    return TaskReference(language) if isinstance(language, Task) else language


def _meant(given: Language | Task | Reference | None, kind: TaskKind) -> Language | Task | Reference | None:
    """Return what ``given`` means for a network of a kind: the same, or the task of a language, or the other way."""
    subject: object = given
    if isinstance(given, LanguageReference | TaskReference):
        subject = given.language if isinstance(given, LanguageReference) else given.task
    if isinstance(subject, Language):
        if kind == "recognition":
            return given
        task = _next_sets(subject) if kind == "next set" else None
        if task is None:
            raise StacklensError(f"a {kind} network cannot be checked against the language {subject.name}; give a task")
        return task
    if isinstance(subject, Task):
        sets = subject.kind == "next set", kind == "next set"
        own = getattr(subject, "language", None)
        if kind == "recognition" and sets[0] and isinstance(own, Language):
            return own
        if kind == "recognition" or sets[0] is not sets[1]:
            other = "a language" if kind == "recognition" else f"a {kind} task"
            raise StacklensError(
                f"a {kind} network cannot be checked against the {subject.kind} task {subject.name}; give {other}"
            )
    return given


def _next_sets(language: Language) -> Task | None:
    """Return the task to say what may come next in the words of ``language``, None if there is none."""
    try:
        task = get_task(language.name)
    except UnknownNameError:
        return None
    return task if task.kind == "next set" and getattr(task, "language", None) == language else None


def reference_of(checkpoint: Checkpoint, name: str | None = None) -> Reference | None:
    """Return what to check a network against: what is called ``name``, or else what its file says; None for neither.

    Where the file's program feeds its streams after a symbol, so are those that the network is checked on.

    Raises:
        UnknownNameError: there is nothing of that name.
        StacklensError: a network of this kind can be no answer to it.
    """
    name, before = name or checkpoint.task.get("language"), checkpoint.task.get("after")
    if name is None:
        return None
    kind = checkpoint.model.task_kind
    subject = subject_named(name, kind)
    if isinstance(subject, StreamTask) and before in subject.alphabet:
        subject = StreamAfter(subject, before)
    return reference_for(subject, kind)
