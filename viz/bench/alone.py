"""An automaton's run on one word for the workbench, where the network that it was read out of is not there."""

from __future__ import annotations

from typing import Any

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.extract.evaluation.automaton_runs import at_rest
from stacklens.viz.bench.answers import set_name
from stacklens.viz.bench.automaton_run import automaton_run, run_data
from stacklens.viz.bench.rows import automaton_rows, text_row

__all__ = ["automaton_data"]


def automaton_data(pda: PushdownAutomaton, word: Word) -> dict[str, Any]:
    """Return what ``pda`` does on ``word``, in the form of `word_data`; there is nothing to be right or wrong about.

    Raises:
        UnknownSymbolError: the word has a symbol that the automaton does not read.

    >>> from stacklens.languages.catalogue import get_language
    >>> found = automaton_data(get_language("dyck-1").automaton, "()")
    >>> [row["name"] for row in found["rows"]]
    ['symbol', 'automaton says', 'state', 'pushes', 'top', 'height']
    """
    run, said = automaton_run(pda, word), _said(pda, word)
    letters = [*word, *pda.letters[len(pda.input_alphabet) :]]
    verdict = "accepts" if pda.accepts(word) else "rejects"
    judged = (
        [{"text": f"The automaton {verdict} the word; "}]
        if _judges(pda)
        else [{"text": "Nothing here is right or wrong: "}]
    )
    return {
        "kind": "automaton",
        "letters": letters,
        "rows": [
            text_row("symbol", letters, pda.letters, id="symbol"),
            *automaton_rows(run, pda.stack_alphabet, pda.states, text_row("automaton says", said)),
        ],
        "sentence": [*judged, {"text": "only the automaton runs: its network is not here."}],
        "wrong": [],
        "parts": None,
        "run": run_data(pda, run),
    }


def _judges(pda: PushdownAutomaton) -> bool:
    """Return whether the automaton says of words whether it accepts them, not what is written or comes next."""
    return pda.acceptance == "output" or all(step.output is None for step in pda.transitions.values())


def _said(pda: PushdownAutomaton, word: Word) -> list[str]:
    """Return what the automaton says after every letter, as long as it runs."""
    judges = _judges(pda)
    if judges and pda.end_marker is not None:  # what it would say before the end, only other words tell
        return ["·"] * sum(1 for _ in at_rest(pda, word))
    return [
        ("yes" if pda.accepts_configuration(one) else "no") if judges else _written(one.output)
        for one in at_rest(pda, word)
    ]


def _written(output: object) -> str:
    if output is None:
        return "·"
    return set_name(sorted(map(str, output))) if isinstance(output, frozenset | tuple | set) else str(output)
