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
from stacklens.viz.bench.answers import UNSAID, answer_names, answers_of, automaton_says, expected_of
from stacklens.viz.bench.automaton_run import AutomatonRun, automaton_run, run_data
from stacklens.viz.bench.rows import Row, answer_rows, automaton_rows, network_rows, text_row
from stacklens.viz.bench.run import bench_run
from stacklens.viz.bench.sentence import first_different, sentence_of
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
        model: the network; what it says is compared with what the others say.
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
    rows = [
        text_row("symbol", letters, id="symbol"),
        *answer_rows(model, run, said, expected.answers),
        *network_rows(run),
    ]
    ran = None
    if automaton is not None and told is not None:
        ran = automaton_run(automaton, word)
        rows += _of_automaton(automaton, model, ran, said, expected.answers, told)
    rows += _depths(truth, word)
    return {
        "kind": model.task_kind,
        "letters": letters,
        "rows": [row for row in rows if row],
        "sentence": sentence_of(model, letters, said, expected, told, isinstance(model, Rounded)),
        "wrong": _places((expected.answers != UNSAID) & (said != expected.answers)),
        "parts": None if told is None else _place(first_different(said, told)),
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


def _of_automaton(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    run: AutomatonRun,
    said: np.ndarray,
    expected: np.ndarray,
    told: np.ndarray,
) -> list[Row]:
    counts = (expected != UNSAID) | ~(expected != UNSAID).any()
    marks = "".join(
        "." if not counted or UNSAID in (one, other) else "r" if one == other else "w"
        for one, other, counted in zip(said, told, counts, strict=True)
    )
    return automaton_rows(run, pda.stack_alphabet, pda.states, answer_names(model, told), marks)


def _depths(truth: PushdownAutomaton | None, word: Word) -> list[Row]:
    """Return how high the stacks of the language's own automaton are, where there is one."""
    if truth is None or not truth.n_stacks or set(word) - set(truth.input_alphabet):
        return []
    heights = automaton_run(truth, word).heights
    return [
        text_row(
            "true depth" if truth.n_stacks == 1 else f"true depth {stack + 1}",
            [str(row[stack]) for row in heights],
            id="depth",
        )
        for stack in range(truth.n_stacks if heights else 0)
    ]


def _places(there: np.ndarray) -> list[int]:
    """Return the steps, from 1, where something is."""
    return [int(place) + 1 for place in np.flatnonzero(there)]


def _place(first: int | None) -> int | None:
    return None if first is None else first + 1
