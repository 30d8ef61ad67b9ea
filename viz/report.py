"""A report on an extraction as a page in one file: the automaton, what it rests on, the network at work on words."""

from __future__ import annotations

from collections.abc import Sequence

from stacklens.automata.formats.dot import to_dot
from stacklens.automata.formats.rendering import render
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.extract.extraction import Extraction
from stacklens.extract.summary import show_summary
from stacklens.languages.words import format_word
from stacklens.probe.trace import trace
from stacklens.viz.automaton_drawing import check_size
from stacklens.viz.figures import paper_figure
from stacklens.viz.page import drawing, heading, page, paragraph, plot, preformatted, table
from stacklens.viz.tables import formal_definition, transition_table
from stacklens.viz.tracks import true_depths
from stacklens.viz.trust_report import trust_parts
from stacklens.viz.truth import automaton_named
from stacklens.viz.visits import state_map, visiting_words, visits

__all__ = ["report_page", "some_words"]

_LENGTHS = (4, 16)  # symbols of the words that are traced, from and to
_ROWS = 1_000  # transitions in the table


def report_page(result: Extraction, words: Sequence[Word], title: str) -> str:
    """Return a self-contained page on ``result``: summary, automaton, its states, and a trace of each of ``words``."""
    parts = [heading(title, 1), preformatted(summary_text(result)), *trust_parts(result)]
    if result.automaton is not None:
        parts += _automaton(result.automaton) + _states(result, result.automaton)
    if words:
        parts.append(heading("The network at work"))
        parts += [_traced(result, word) for word in words]
    return page(title, parts)


def summary_text(result: Extraction) -> str:
    """Return what `extract-pda` prints of ``result``, without the transition table."""
    from io import StringIO

    from rich.console import Console

    lines = StringIO()
    console = Console(file=lines, highlight=False, soft_wrap=True, markup=False, emoji=False, color_system=None)
    show_summary(result, console, transitions=False)
    return lines.getvalue().rstrip()


def _automaton(pda: PushdownAutomaton) -> list[str]:
    frame = transition_table(pda)
    parts = [heading("The automaton"), _drawing(pda), preformatted(formal_definition(pda))]
    parts += [heading("Transitions", 3), table(frame[:_ROWS])]
    if len(frame) > _ROWS:
        parts.append(paragraph(f"The first {_ROWS:,} of {len(frame):,} transitions; extract-pda --out writes all."))
    return parts


def _drawing(pda: PushdownAutomaton) -> str:
    try:
        check_size(pda)
    except StacklensError as error:
        return paragraph(f"No drawing: {error}.")
    return drawing(render(to_dot(pda), "svg"))


def _states(result: Extraction, pda: PushdownAutomaton) -> list[str]:
    """Return how often, and with which hidden vectors, a few words visit each state."""
    words = visiting_words(result.model, result.language)
    seen = trace(result.model, words, stacks=False)
    counts = "; ".join(f"{state} {len(found):,}" for state, found in visits(pda, seen).items())
    said = f"How often {len(words)} words, short ones and others, visit each state: {counts}."
    return [heading("Hidden vectors by state", 3), plot(state_map(result.model, seen, pda)), paragraph(said)]


def _traced(result: Extraction, word: Word) -> str:
    seen = trace(result.model, [word], stacks=True)
    truth = None if result.language is None else automaton_named(result.language.name, result.model.task_kind, word)
    depths = None if truth is None else true_depths(truth, word)
    figure = paper_figure(result.model, seen, depths=depths, automaton=result.automaton)
    return plot(figure)


def some_words(result: Extraction, number: int) -> list[Word]:
    """Return ``number`` words that say much about ``result``, or fewer: one that contradicts it first, then others.

    The others come from what the network was trained on, and are neither very short nor long.
    """
    found = result.contradicted
    words: list[Word] = [] if found is None or found.counterexample is None else [found.counterexample]
    if result.language is not None:
        words += result.language.long_words(8 * number, _LENGTHS, seed=0)
    kept = {format_word(word): word for word in words}
    return list(kept.values())[:number]
