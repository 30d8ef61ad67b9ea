"""What a notebook shows of values of lower layers, drawn by upper ones; see `stacklens.above`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklens.errors import StacklensError
from stacklens.progress import count

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from stacklens.automata.pda import PushdownAutomaton
    from stacklens.probe.trace import Trace

__all__ = ["trace_figure", "trace_html"]


def trace_figure(
    seen: Trace, word: int = 0, figure: str = "paper", automaton: PushdownAutomaton | None = None
) -> Figure:
    """Return the figure called ``figure`` of word number ``word``; the one of the network's paper has the true depth.

    With an ``automaton`` its states are shown where the figure has a place.

    Raises:
        StacklensError: there is no such figure or word, or the trace does not know its network.
    """
    from stacklens.extract.by_name import true_automaton
    from stacklens.extract.evaluation.automaton_runs import true_depths
    from stacklens.models.io import checkpoint_for
    from stacklens.models.rounding import Rounded
    from stacklens.viz.figures import draw, paper_figure

    model = seen.model
    if model is None:
        raise StacklensError("this trace does not know its network: make it with sl.trace")
    if not 0 <= word < len(seen.words):
        raise StacklensError(f"there is no word {word}: the trace has {count(len(seen.words), 'word')}, from 0")
    if figure != "paper":
        return draw(figure, model, seen, word, automaton)
    own = model.model if isinstance(model, Rounded) else model
    truth = true_automaton(checkpoint_for(own), seen.words[word])
    depths = None if truth is None else true_depths(truth, seen.words[word])
    return paper_figure(model, seen, word, depths=depths, automaton=automaton)


def trace_html(seen: Trace) -> str:
    """Return the figure of the first word, which asks no other host for anything; a table where there is none."""
    if seen.model is None or not seen.words:
        shown: str = seen.to_frame().to_html()
        return shown
    drawn: str = trace_figure(seen).to_html(full_html=False, include_plotlyjs=True, default_height="auto")
    return drawn
