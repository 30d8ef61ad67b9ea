"""What a network should do on a word, as far as it is known what it was trained on."""

from __future__ import annotations

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.extract.names import reference_for, subject_named
from stacklens.languages import get_language
from stacklens.models.base import TaskKind
from stacklens.models.checkpoint import Checkpoint

__all__ = ["automaton_named", "true_automaton"]


def true_automaton(checkpoint: Checkpoint, word: Word) -> PushdownAutomaton | None:
    """Return the automaton of what the network was trained on, if that is known and has one that reads ``word``."""
    name, before = checkpoint.task.get("language"), checkpoint.task.get("after")
    if None not in (name, before) and list(word[:1]) == [before]:  # fed as the file's program feeds it
        name = f"{name}-after-{before}"
    return None if name is None else automaton_named(name, checkpoint.model.task_kind, word)


def automaton_named(name: str, kind: TaskKind, word: Word) -> PushdownAutomaton | None:
    """Return the automaton of the language or task called ``name``, if there is one that reads ``word``.

    For predictors of a language that is the language's own: the automaton of the task may keep its top symbol in the
    state, so that its stack is lower than the word is deep.
    """
    pda = _of_language(name) if kind == "next set" else None
    if pda is None:
        try:
            reference = reference_for(subject_named(name, kind))
        except StacklensError:  # somebody else's name for it
            return None
        pda = None if reference is None else reference.automaton()
    return pda if pda is not None and set(word) <= set(pda.input_alphabet) else None


def _of_language(name: str) -> PushdownAutomaton | None:
    try:
        return get_language(name).automaton
    except StacklensError:  # a task alone has that name
        return None
