"""`stacklens trace`: what a network does on a word, step by step: a table, figures, or files with all the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stacklens.cli.paths import MODEL_HELP
from stacklens.errors import StacklensError, UnknownNameError

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from stacklens.automata.pda import PushdownAutomaton
    from stacklens.models.base import StackModel
    from stacklens.models.io import Checkpoint
    from stacklens.probe.trace import Trace

__all__ = ["NAMES", "trace_command"]

_LONGEST, _LONGEST_SHOWN = 4_000, 1_000  # symbols, in a file and in a table: every step has the whole stack
_FIGURES = (".html", ".svg", ".png")
_DATA = (".csv", ".json")
# the keys of `figures.FIGURES`, which would bring plotly along
NAMES = ("paper", "actions", "stack", "segments", "operations", "hidden", "map", "rounding")


def trace_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    word: Annotated[
        str, typer.Argument(metavar="WORD", help="A word over the network's alphabet (ε is the empty word).")
    ],
    rounded: Annotated[bool, typer.Option("--rounded", help="Trace the network with rounded actions.")] = False,
    out: Annotated[
        list[Path] | None,
        typer.Option(help="Write a figure, .html .svg .png, or the numbers, .csv .json, instead; may be repeated."),
    ] = None,
    figure: Annotated[
        str, typer.Option(help=f"Which figure: {', '.join(NAMES)}; paper is what the network's own paper draws.")
    ] = "paper",
    automaton: Annotated[
        Path | None,
        typer.Option(help="An automaton (.json, .jff, .dot) whose stacks and states stand under the network's."),
    ] = None,
    theme: Annotated[str, typer.Option(help="Colours of the figure: light or dark.")] = "light",
) -> int:
    """Show every step of a network on a word.

    An .html figure holds all it needs and asks no other host. For .svg and .png a Chrome or Chromium draws it.
    """
    from stacklens.models.io import find_network

    model = find_network(model)
    _check(model, automaton, out or [], figure, theme)
    from stacklens.automata.formats.by_suffix import read_automaton
    from stacklens.languages.words import check_length, parse_typed_word
    from stacklens.models.io import load_network
    from stacklens.models.rounding import Rounded
    from stacklens.probe.trace import trace

    checkpoint = load_network(model)
    network: StackModel[Any] = Rounded(checkpoint.model) if rounded else checkpoint.model
    read = parse_typed_word(word, network.alphabet)
    check_length(read, _LONGEST if out else _LONGEST_SHOWN)
    pda = None if automaton is None else read_automaton(automaton, network.alphabet)
    seen = trace(network, [read], stacks=True)
    drawn = None
    if any(path.suffix in _FIGURES for path in out or []):
        drawn = _drawn(figure, theme, checkpoint, network, seen, pda)
    for path in out or []:
        _write(path, network, seen, drawn)
    if not out:
        _show(network, seen)
    return 0


def _check(model: Path, automaton: Path | None, out: list[Path], figure: str, theme: str) -> None:
    """Check that all can be done as far as can be told beforehand.

    Raises:
        StacklensError: an unknown suffix, figure or theme, no folder, no browser, or a file that is read.
    """
    from stacklens.files import check_outputs

    if figure not in NAMES:
        raise UnknownNameError("figure", figure, list(NAMES))
    if theme not in ("light", "dark"):
        raise UnknownNameError("theme", theme, ["light", "dark"])
    for path in out:
        if path.suffix not in (*_FIGURES, *_DATA):
            raise StacklensError(f"cannot write {path}: expected a name that ends in {', '.join((*_FIGURES, *_DATA))}")
    check_outputs(out, {"the network's own file": model, "the automaton's own file": automaton})
    if any(path.suffix in (".svg", ".png") for path in out):
        from stacklens.viz.pictures import check_browser

        check_browser()


def _drawn(
    figure: str,
    theme: str,
    checkpoint: Checkpoint,
    network: StackModel[Any],
    seen: Trace,
    automaton: PushdownAutomaton | None,
) -> Figure:
    """Return the figure asked for; that of the paper has the heights of the reference's stacks, too."""
    from stacklens.extract.by_name import true_automaton
    from stacklens.viz.figures import draw, paper_figure
    from stacklens.viz.style import themed

    if figure != "paper":
        return themed(draw(figure, network, seen, automaton=automaton), theme)
    truth = true_automaton(checkpoint, seen.words[0])
    return themed(paper_figure(network, seen, truth=truth, automaton=automaton), theme)


def _write(path: Path, network: StackModel[Any], seen: Trace, drawn: Figure | None) -> None:
    """Write one file, whole or not at all, and say so."""
    from stacklens.files import write_whole

    if drawn is not None and path.suffix in _FIGURES:
        from stacklens.viz.pictures import picture

        write_whole(path, picture(drawn, path.suffix[1:], f"stacklens: {path.stem}"))
        typer.echo(f"wrote {path}")
        return
    write_whole(path, seen.to_frame().to_csv(index=False) if path.suffix == ".csv" else _json(network, seen))
    typer.echo(f"wrote {len(seen.symbols[0])} steps to {path}")


def _json(network: StackModel[Any], seen: Trace) -> str:
    import json

    from stacklens.viz.step_tables import trace_data

    return json.dumps(trace_data(network, seen), indent=1, ensure_ascii=False) + "\n"


def _show(network: StackModel[Any], seen: Trace) -> None:
    from rich.console import Console

    from stacklens.probe.step_table import rich_step_table

    console = Console(markup=False, emoji=False)
    console.print(rich_step_table(network, seen))
    console.print(_outcome(network, seen), soft_wrap=True)


def _outcome(network: StackModel[Any], seen: Trace) -> str:
    """Return what a network makes of a word: a verdict, or its outputs where it accepts nothing."""
    if network.task_kind in ("recognition", "next set"):
        return "accepted" if seen.verdicts[0] else "rejected"
    from stacklens.extract.answers import network_answers

    (answers,) = network_answers(network, seen.words)
    said = " ".join("–" if number < 0 else str(network.output_name(number)) for number in answers)
    return f"outputs {said}" if said else "no outputs: the word is empty"
