"""`stacklens trace`: what a network does on a word, step by step: a table, figures, or files with all the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ..automata.formats import read_automaton
from ..core.errors import UnknownNameError
from ..core.files import check_outputs
from ..core.progress import progress_bar, stages_on
from .shell import Language, Model, Seed, new_app

_LONGEST, _LONGEST_SHOWN = 4_000, 1_000  # symbols, in a file and in a table: every step has the whole stack
# the keys of `figures.FIGURES`, which would bring plotly along
NAMES = ("paper", "actions", "stack", "segments", "operations", "hidden", "map", "rounding", "predictions")
_WORD = "A word over the network's alphabet (ε is the empty word)."
_OUT = "Write a figure, .html .svg .png .pdf, or the numbers, .csv .json; may be repeated."
_FIGURE = f"Which figure: {', '.join(NAMES)}; paper is what the network's own paper draws."
_AUTOMATON = "An automaton (.json, .jff, .dot) whose stacks and states stand under the network's."


def trace_command(
    model: Model,
    word: Annotated[str, typer.Argument(metavar="WORD", help=_WORD)],
    rounded: Annotated[bool, typer.Option("--rounded", help="Trace the network with rounded actions.")] = False,
    out: Annotated[list[Path] | None, typer.Option(help=_OUT)] = None,
    figure: Annotated[str, typer.Option(help=_FIGURE)] = "paper",
    automaton: Annotated[Path | None, typer.Option(help=_AUTOMATON)] = None,
    theme: Annotated[str, typer.Option(help="Colours of the figure: light or dark.")] = "light",
) -> int:
    """Show every step of a network on a word.

    An .html figure holds all it needs and asks no other host. For .svg, .png and .pdf a Chrome or Chromium draws it.
    """
    from ..models.checkpoint import find_network

    model = find_network(model)
    if figure not in NAMES:
        raise UnknownNameError("figure", figure, list(NAMES))
    if theme not in ("light", "dark"):
        raise UnknownNameError("theme", theme, ["light", "dark"])
    _check_written(out, [".csv", ".json"], {"the network's own file": model, "the automaton's own file": automaton})
    from ..face.opening import network_of, trace
    from ..languages.language import check_length, parse_typed_word

    network = network_of(model)
    read = parse_typed_word(word, network.alphabet)
    check_length(read, _LONGEST if out else _LONGEST_SHOWN)
    pda = None if automaton is None else read_automaton(automaton, network.alphabet)
    seen = trace(network, [read], rounded=rounded, stacks=True)
    runner: Any = seen.model
    if out:
        import json

        from ..face.notebook import trace_figure
        from ..viz.operations import trace_data
        from ..viz.report import write_by_suffix
        from ..viz.style import themed

        texts = {
            ".csv": lambda: seen.to_frame().to_csv(index=False),
            ".json": lambda: json.dumps(trace_data(runner, seen), indent=1, ensure_ascii=False) + "\n",
        }
        for path in out:
            write_by_suffix(path, texts, lambda: themed(trace_figure(seen, 0, figure, pda), theme))
            typer.echo(f"wrote {f'{len(seen.symbols[0])} steps to ' if path.suffix in texts else ''}{path}")
        return 0
    from rich.console import Console

    from ..probe.trace_io import rich_step_table

    console = Console(markup=False, emoji=False)
    console.print(rich_step_table(runner, seen))
    # what it makes of the word: a verdict, or its outputs where it accepts nothing
    if runner.task_kind in ("recognition", "next set"):
        outcome = "accepted" if seen.verdicts[0] else "rejected"
    else:
        from ..models.inference import network_answers

        (answers,) = network_answers(runner, seen.words)
        outputs = " ".join("–" if number < 0 else str(runner.output_name(number)) for number in answers)
        outcome = f"outputs {outputs}" if outputs else "no outputs: the word is empty"
    console.print(outcome, soft_wrap=True)
    return 0


def _check_written(out: list[Path] | None, texts: list[str], read: Mapping[str, Path | None]) -> None:
    if not out:
        return
    from ..viz.report import check_suffixes

    check_suffixes(out, texts)
    check_outputs(out, read)


# ---- `stacklens probe`: ablations, linear probes, drift, saliency and interchanges, as tables or figures ----

probe_app = new_app("Look into a network: what its parts are for, what its hidden vectors hold, what causes what.")

_LONGEST_PROBED = 1_000  # symbols of a word: the time grows with the square, to some minutes
Out = Annotated[list[Path] | None, typer.Option(help="Write the table, .csv, or a figure, .html .svg .png .pdf.")]
_WHOSE = "Whose states and stack are asked for; by default the language's own."
Rounded = Annotated[bool, typer.Option("--rounded", help="Take the network with rounded actions.")]


@probe_app.command("ablate")
def ablate_command(
    model: Model, language: Language = None, rounded: Rounded = False, seed: Seed = 0, out: Out = None
) -> int:
    """Rank its hidden units, stacks and operations by what is lost without them."""
    network = _opened_network(model, out)
    from ..face.opening import ablate

    _give(ablate(network, language, rounded=rounded, seed=seed), "ablation_figure", out)
    return 0


@probe_app.command("linear")
def linear_command(
    model: Model,
    automaton: Annotated[Path | None, typer.Option(help=_WHOSE)] = None,
    language: Language = None,
    rounded: Rounded = False,
    seed: Seed = 0,
    out: Out = None,
) -> int:
    """Read state, depth, tops and position off its hidden vectors with linear classifiers, on longer words."""
    network = _opened_network(model, out)
    from ..face.opening import linear_probes

    pda = None if automaton is None else read_automaton(automaton)
    _give(linear_probes(network, pda, language=language, rounded=rounded, seed=seed), "linear_probes_figure", out)
    return 0


@probe_app.command("horizon")
def horizon_command(model: Model, language: Language = None, seed: Seed = 0, out: Out = None) -> int:
    """Show from which step on the network parts from its rounded form, on words of 100 to 200 symbols."""
    network = _opened_network(model, out)
    from ..face.opening import horizon_curve

    _give(horizon_curve(network, language=language, seed=seed), "horizon_figure", out)
    return 0


@probe_app.command("saliency")
def saliency_command(
    model: Model,
    word: Annotated[str, typer.Argument(metavar="WORD", help="The word (ε is the empty word).")],
    out: Out = None,
) -> int:
    """Show on which earlier steps every decision on a word depends, beside the automaton's own dependence."""
    network = _opened_network(model, out)
    from ..face.opening import saliency
    from ..languages.language import check_length, format_word, parse_typed_word

    read = parse_typed_word(word, network.alphabet)
    check_length(read, _LONGEST_PROBED)
    with progress_bar() as bar:
        found = saliency(network, format_word(read), progress=stages_on(bar))
    _give(found, "saliency_figure", out)
    return 0


@probe_app.command("causal")
def causal_command(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result that extract-pda --save wrote.")],
    automaton: Annotated[str, typer.Option(help="Which: minimised, raw, learned, reference, or all.")] = "all",
    values: Annotated[str, typer.Option(help="What is put in: source, or for states centre.")] = "source",
    cases: Annotated[int, typer.Option(min=2, max=100_000, help="Interchanges of either kind.")] = 2_000,
    seed: Seed = 0,
    out: Out = None,
) -> int:
    """Interchange states and stack symbols between runs: are they what the network computes with?"""
    _check_written(out, [".csv"], {"the file that is read": result})
    from ..extract.saved import load_result

    found = load_result(result).causal(seed, automaton=automaton, values=values, cases=cases)
    _give(found, "causality_figure", out)
    return 0


def _opened_network(model: Path, out: list[Path] | None) -> Any:
    from ..models.checkpoint import find_network, load_network

    path = find_network(model)
    _check_written(out, [".csv"], {"the file that is read": path})
    return load_network(path).model


def _give(found: Any, figure: str, out: list[Path] | None) -> None:
    """Print what was ``found``, or write it as a table or as the ``figure`` of `viz.curves`."""
    if not out:
        typer.echo(str(found))
        return
    from ..viz import curves
    from ..viz.report import write_by_suffix

    table = {".csv": lambda: found.to_frame().to_csv(index=False)}
    for path in out:
        write_by_suffix(path, table, lambda: getattr(curves, figure)(found))
        typer.echo(f"wrote {path}")
