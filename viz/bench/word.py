"""All of one word for the workbench, or its beginning, as plain data that a browser draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import UnknownSymbolError
from stacklens.extract.specification import Specification
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.models.rounding import Rounded
from stacklens.viz.bench.answers import UNSAID, answers_of, automaton_says, expected_of
from stacklens.viz.bench.automaton_run import automaton_run, run_data
from stacklens.viz.bench.rows import answer_row, automaton_rows, reference_rows, run_rows
from stacklens.viz.bench.run import bench_run
from stacklens.viz.bench.sentence import differing, sentence_of, steps_at
from stacklens.viz.panels import letters_of

__all__ = ["beginning_data", "word_data"]


def word_data(
    model: StackModel[Any],
    word: Word,
    automaton: PushdownAutomaton | None = None,
    specification: Specification | None = None,
    truth: PushdownAutomaton | None = None,
) -> dict[str, Any]:
    """Return what ``model``, a network or a rounded one, does on ``word``, a value a step for every row of the table.

    Args:
        model: the network; what it and the automaton say is held against what is expected, and against one another.
        word: the word.
        automaton: what was read out of the network, if anything was.
        specification: what the network should do, if that is known.
        truth: an automaton of that, whose stacks are as high as words are deep, where there is one.

    Raises:
        UnknownSymbolError: the word has a symbol outside the network's alphabet.

    >>> from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
    >>> found = word_data(NNPDA(NNPDAConfig(("a", "b")), seed=1), "ab")
    >>> found["letters"], [row["name"] for row in found["rows"]]
    (['a', 'b'], ['symbol', 'accepts so far', 'operation', 'push + / pop −', 'stack'])
    """
    with one_thread():
        run = bench_run(model, word)
        said, expected = answers_of(run), expected_of(specification, model, word)
        told = None if automaton is None else automaton_says(automaton, model, word)
    letters = letters_of(run.seen)
    all_ = {number for party in (said, expected.answers, told) if party is not None for number in party.tolist()}
    rows = run_rows(model, run, said, expected.answers, all_)
    ran, differs = None, np.zeros(len(said), dtype=bool)
    if automaton is not None and told is not None:
        ran, differs = automaton_run(automaton, word), differing(model, said, told, expected.answers)
        says = answer_row("automaton says", model, told, expected.answers, all_)
        says["differs"] = "".join(".d"[different] for different in differs.tolist())
        rows += automaton_rows(ran, automaton.stack_alphabet, automaton.states, says)
    rows += reference_rows(truth, word)
    return {
        "kind": model.task_kind,
        "letters": letters,
        "rows": rows,
        "sentence": sentence_of(model, letters, said, expected, told, isinstance(model, Rounded)),
        "wrong": steps_at((expected.answers != UNSAID) & (said != expected.answers)),
        "parts": next(iter(steps_at(differs)), None),
        "run": None if automaton is None or ran is None else run_data(automaton, ran),
    }


def beginning_data(
    model: StackModel[Any],
    word: Word,
    symbols: int,
    automaton: PushdownAutomaton | None = None,
    specification: Specification | None = None,
    truth: PushdownAutomaton | None = None,
) -> dict[str, Any] | None:
    """Return `word_data` of the first ``symbols`` of a longer ``word``, and in "of" how many steps it has in all.

    None where they do not say what they say in the whole word: where a network or an automaton reads an end symbol, or
    a network answers when it has read all.

    Raises:
        UnknownSymbolError: the word, be it at its end, has a symbol outside the network's alphabet.
    """
    ends = [one.end_marker for one in (automaton, truth) if one is not None]
    if len(word) <= symbols or not model.real_time or model.extra_steps or model.end is not None or any(ends):
        return None
    unknown = set(word) - set(model.alphabet)
    if unknown:
        raise UnknownSymbolError(min(unknown), model.alphabet)
    found = word_data(model, word[:symbols], automaton, specification, truth)
    told = {"text": f"The first {symbols:,} of {len(word):,} symbols are shown; the others are being read."}
    return {**found, "of": len(word), "sentence": [told]}
