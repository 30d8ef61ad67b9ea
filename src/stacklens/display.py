"""What a notebook shows of values of lower layers, drawn by upper ones; see `stacklens.above`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklens.errors import StacklensError

if TYPE_CHECKING:
    from pathlib import Path

    from plotly.graph_objects import Figure

    from stacklens.automata.pda import PushdownAutomaton
    from stacklens.extract.evaluation.sweep import Sweep
    from stacklens.probe.trace import Trace

__all__ = ["check_sweep_target", "save_sweep", "sweep_figure", "trace_figure", "trace_html"]

_SWEEP = (".csv", ".json", ".html", ".svg", ".png")


def trace_figure(
    seen: Trace, word: int = 0, figure: str = "paper", automaton: PushdownAutomaton | None = None
) -> Figure:
    """Return the figure called ``figure`` of word number ``word``; that of its paper has the reference's heights.

    With an ``automaton`` its states are shown where the figure has a place.

    Raises:
        StacklensError: there is no such figure or word, or the trace does not know its network.
    """
    from stacklens.extract.by_name import true_automaton
    from stacklens.models.io import checkpoint_for
    from stacklens.models.rounding import Rounded
    from stacklens.probe.trace import check_place
    from stacklens.viz.figures import FIGURES, draw, paper_figure

    model = seen.model
    if model is None:
        raise StacklensError("this trace does not know its network: make it with sl.trace")
    if isinstance(word, str):
        raise StacklensError(
            f"word is {word!r:.50}; expected its number in the trace, from 0. A figure is named so: "
            f"plot(figure=…), with one of {', '.join(FIGURES)}"
        )
    check_place("word", word, len(seen.words), "the trace")
    if figure != "paper":
        return draw(figure, model, seen, word, automaton)
    own = model.model if isinstance(model, Rounded) else model
    truth = true_automaton(checkpoint_for(own), seen.words[word])
    return paper_figure(model, seen, word, truth=truth, automaton=automaton)


def trace_html(seen: Trace) -> str:
    """Return the figure of the first word, which asks no other host for anything; a table where there is none."""
    if seen.model is None or not seen.words:
        shown: str = seen.to_frame().to_html()
        return shown
    drawn: str = trace_figure(seen).to_html(full_html=False, include_plotlyjs=True, default_height="auto")
    return drawn


def sweep_figure(swept: Sweep) -> Figure:
    """Return the figure of a sweep: accuracy, automata and horizons."""
    from stacklens.viz.sweeps import sweep_figure as draw_sweep

    return draw_sweep(swept)


def check_sweep_target(path: Path) -> None:
    """Check that a sweep can be written to a file of that name, as far as can be told beforehand.

    Raises:
        StacklensError: another suffix, or there is no browser to draw it with.
    """
    if path.suffix not in _SWEEP:
        raise StacklensError(f"cannot write {path}: expected a name that ends in {', '.join(_SWEEP)}")
    if path.suffix in (".svg", ".png"):
        from stacklens.viz.pictures import check_browser

        check_browser()


def save_sweep(swept: Sweep, path: Path) -> None:
    """Write the table of a sweep, all of it, or its figure, by the suffix of ``path``.

    Raises:
        StacklensError: another suffix, or the file cannot be written.
    """
    from stacklens.extract.evaluation.sweep_file import sweep_text
    from stacklens.files import write_whole
    from stacklens.viz.pictures import picture

    check_sweep_target(path)
    if path.suffix == ".csv":
        write_whole(path, swept.to_frame().to_csv(index=False))
    elif path.suffix == ".json":
        write_whole(path, sweep_text(swept))
    else:
        write_whole(path, picture(sweep_figure(swept), path.suffix[1:], "stacklens sweep"))
