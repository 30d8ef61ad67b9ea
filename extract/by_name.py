"""From a name, or from what a network's file says, to what the network should do."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection
from contextlib import suppress
from typing import Any

import torch

from ..automata.pda import PushdownAutomaton, Word
from ..automata.small_grammar import grammar_of
from ..core.errors import FileFormatError, StacklensError, UnknownNameError
from ..languages.catalogue import get_language, get_task, is_path, language_from_text, task_names
from ..languages.context_free import AutomatonLanguage
from ..languages.language import Language, TaskKind
from ..languages.next_sets import END_MARK, LanguageNextSet
from ..languages.streams import StreamAfter, StreamTask
from ..languages.task import Task
from ..models.base import Checkpoint, StackModel, checkpoint_for
from .specification import LanguageSpecification, Specification, TaskSpecification

_MOST_KINDS = 16  # of brackets, of which dyck-K-3 can be made


def subject_named(
    name: str, kind: TaskKind, alphabet: Collection[str] = (), outputs: Collection[str] | None = None
) -> Language | Task:
    """Return the language or task called ``name``, for a network of this kind over this ``alphabet``.

    For a predictor of sets that is the task to predict what comes next, also of a language in a file; the network's
    ``outputs`` tell whether it says that a word may end. Raises UnknownNameError: there is none; StacklensError:
    networks of this kind have other tasks.
    """
    if kind == "recognition":
        return get_language(name)
    found: Task | StacklensError
    try:
        found = get_task(name)
    except StacklensError as error:
        found = error
    unreadable = isinstance(found, StacklensError) and not isinstance(found, UnknownNameError)
    in_file = is_path(name) if unreadable else isinstance(found, LanguageNextSet)
    if kind == "next set" and (in_file or isinstance(found, StacklensError) or found.kind != "next set"):
        with suppress(UnknownNameError):  # a task alone has that name, or nothing has
            return _predicted(get_language(name), outputs)
    if not in_file:
        if isinstance(found, StacklensError):
            raise found
        return found
    # the tasks for networks of this kind, of those over the alphabet alone where there are any
    kinds = min(max(1, len(alphabet) // 2), _MOST_KINDS)
    names = sorted(name.replace("-N", f"-{kinds}").replace("-K-M", f"-{kinds}-3") for name in task_names())
    fitting = [task for task in map(get_task, names) if task.kind == kind]
    some = [task.name for task in fitting if set(task.alphabet) == set(alphabet)] or [task.name for task in fitting]
    raise StacklensError(
        f"{name}: a grammar or an automaton is for networks that accept or reject words, or predict which symbols may "
        f"come next, and this is a {kind} network; name its task, such as {', '.join(some)}, or see docs/own-tasks.md"
    )


def _predicted(language: Language, outputs: Collection[str] | None) -> LanguageNextSet:
    """Return the task to predict what comes next in a language, and its end where that is among the ``outputs``."""
    ends = [END_MARK] if outputs is None else [symbol for symbol in outputs if symbol not in language.alphabet]
    if len(ends) > 1 and set(language.alphabet) <= set(outputs or ()):
        raise StacklensError(
            f"the network has the outputs {', '.join(ends)}, which are no symbols of {language.name}; expected one at "
            "most, for the end of a word: sl.wrap(…, bos=…, eos=…, pad=…) names what is none"
        )
    return LanguageNextSet(language, ends[0] if len(ends) == 1 else None)


def specification_for(
    language: Language | Task | Specification | None,
    kind: TaskKind | None = None,
    outputs: Collection[str] | None = None,
) -> Specification | None:
    """Return what to check a network of this kind against, for a language, a task, or what is a specification already.

    Of a language a predictor of sets predicts what comes next; of such a task a recogniser recognises the words. Raises
    StacklensError: a network of this kind can be no answer to it.
    """
    subject: object = language
    if isinstance(language, LanguageSpecification | TaskSpecification):
        subject = language.language if isinstance(language, LanguageSpecification) else language.task
    if isinstance(subject, Language) and kind not in (None, "recognition"):
        if kind != "next set":
            raise StacklensError(f"a {kind} network cannot be checked against the language {subject.name}; give a task")
        # the task to predict which symbols may come next in its words: ours, if there is one
        ours: Task | None = None
        with suppress(StacklensError):
            task = get_task(subject.name)
            if task.kind == "next set" and getattr(task, "language", None) == subject:
                ours = task if outputs in (None, task.output_alphabet) else None
        language = _predicted(subject, outputs) if ours is None else ours
    elif isinstance(subject, Task) and kind is not None:
        sets, own = (subject.kind == "next set", kind == "next set"), getattr(subject, "language", None)
        if all(sets) and isinstance(own, Language):
            if set(subject.alphabet) < set(outputs or ()) != set(subject.output_alphabet):
                # the network says that a word may end, the task does not, or not so
                language = _predicted(own, outputs)
        elif kind == "recognition" and sets[0] and isinstance(own, Language):
            language = own
        elif kind == "recognition" or sets[0] is not sets[1]:
            other = "a language" if kind == "recognition" else f"a {kind} task"
            raise StacklensError(
                f"a {kind} network cannot be checked against the {subject.kind} task {subject.name}; give {other}"
            )
    if isinstance(language, Language):
        return LanguageSpecification(language)
    return TaskSpecification(language) if isinstance(language, Task) else language


def subject_of(given: object) -> Language | Task | Specification | None:
    """Return what is given, an automaton as the language of the words that it accepts. Raises StacklensError: it is
    nothing that a network could be held against, or an automaton with outputs.
    """
    if isinstance(given, PushdownAutomaton):
        if any(step.output is not None for step in given.transitions.values()):
            raise StacklensError(
                "an automaton with outputs is no language; give the language or task, and compare with the automaton "
                "by sl.compare or sl.verify"
            )
        return AutomatonLanguage("the given automaton", grammar_of(given), given)
    if not isinstance(given, Language | Task | Specification | None):
        raise StacklensError(
            f"expected a language or task, the name of one, the path of a grammar or automaton, or an automaton, not "
            f"one of type {type(given).__name__}"
        )
    return given


def specification_of(checkpoint: Checkpoint, name: str | None = None) -> Specification | None:
    """Return what to check a network against: what is called ``name``, or else what its file says; None for neither.

    Streams are fed as the file's program feeds them. Raises as `specification_of_network`.
    """
    kind, task = checkpoint.model.task_kind, checkpoint.task
    called, before = name or task.get("language"), task.get("after")
    if called is None:
        return None
    if _in_file(checkpoint, name):
        return specification_for(language_from_text(task["text"], called), kind, checkpoint.model.output_alphabet)
    try:
        subject = subject_named(called, kind, checkpoint.model.alphabet, checkpoint.model.output_alphabet)
    except FileFormatError as error:
        where = "" if name else "; the network was trained on it: --language (language=…) names it where it is now"
        raise FileFormatError(f"{error}{where}") from None
    if isinstance(subject, StreamTask) and before in subject.alphabet:
        subject = StreamAfter(subject, before)
    return specification_for(subject, kind, checkpoint.model.output_alphabet)


def _in_file(checkpoint: Checkpoint, name: str | None) -> bool:
    """Return whether the language called ``name`` is to be read from the network's file: its path is not here."""
    task = checkpoint.task
    own, of_words = task.get("language"), checkpoint.model.task_kind in ("recognition", "next set")
    if not of_words or own is None or task.get("text") is None or not is_path(own):
        return False
    return name is None or (name == own and not os.path.exists(name))


def specification_of_network(
    model: StackModel[Any], given: Language | Task | Specification | PushdownAutomaton | str | None = None
) -> Specification | None:
    """Return what to check ``model`` against: ``given``, what is called so, or what its file says; None for nothing.
    Raises UnknownNameError: there is nothing of that name; StacklensError: a network of this kind can be no answer to
    it.
    """
    if given is None or isinstance(given, str):
        return specification_of(checkpoint_for(model), given)
    return specification_for(subject_of(given), model.task_kind, model.output_alphabet)


def task_of(model: StackModel[Any], specification: Specification | None) -> Task:
    """Return the task that ``model`` can be trained further on. Raises StacklensError: there is none that says what is
    right after every symbol, the network has no actions, or torch follows no gradient to its weights.
    """
    if not isinstance(specification, TaskSpecification):
        what = f"predictors and transducers are trained further on their task, and this {model.name} network"
        if specification is None:
            raise StacklensError(f"{what} has none that is known; name it")
        raise StacklensError(f"{what} recognises {specification.name}: train it anew (stacklens train), or harden it")
    if model.action_kind == "none" and not model.foreign:
        raise StacklensError(f"a {model.name} network has no stack and no actions: there is nothing to repair")
    # outputs have to follow from weights as torch's gradients can tell, as those of our own networks do
    why = "it has no weights"
    if next(model.parameters(), None) is not None:
        try:
            net = copy.deepcopy(model).eval().requires_grad_(True)
            if net.run(torch.zeros(2, 1, dtype=torch.int64), net.initial_state(1)).output.requires_grad:
                return specification.task
            why = "torch follows no gradient from what it answers to weights of its module"
        except StacklensError as error:
            why = str(error)
    raise StacklensError(f"{model.name} cannot be trained further: {why}; sl.wrap takes a torch module with its step")


def true_automaton(checkpoint: Checkpoint, word: Word) -> PushdownAutomaton | None:
    """Return the automaton of what the network was trained on, if that is known and has one that reads ``word``."""
    name, before = checkpoint.task.get("language"), checkpoint.task.get("after")
    if _in_file(checkpoint, None):
        specification = specification_of(checkpoint)
        return None if specification is None else _if_it_reads(specification.automaton(), word)
    if None not in (name, before) and list(word[:1]) == [before]:  # fed as the file's program feeds it
        name = f"{name}-after-{before}"
    return None if name is None else automaton_named(name, checkpoint.model.task_kind, word)


def automaton_named(name: str, kind: TaskKind, word: Word) -> PushdownAutomaton | None:
    """Return the automaton of the language or task called ``name``, if there is one that reads ``word``.

    A predictor's is the language's own, since that of its task may keep the top symbol in the state.
    """
    pda = None
    if kind == "next set":
        with suppress(StacklensError):  # a task alone has that name
            pda = get_language(name).automaton
    if pda is None:
        try:
            specification = specification_for(subject_named(name, kind))
        except StacklensError:  # somebody else's name for it
            return None
        pda = None if specification is None else specification.automaton()
    return _if_it_reads(pda, word)


def _if_it_reads(pda: PushdownAutomaton | None, word: Word) -> PushdownAutomaton | None:
    return pda if pda is not None and set(word) <= set(pda.input_alphabet) else None
