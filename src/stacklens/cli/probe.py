"""`stacklens probe`: ablations, linear probes, drift, saliency and interchanges of a network, as tables or figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stacklens.cli.paths import MODEL_HELP
from stacklens.cli.shell import new_app
from stacklens.errors import StacklensError
from stacklens.progress import progress_bar, stages_on
from stacklens.seeds import LARGEST_SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    from plotly.graph_objects import Figure

__all__ = ["probe_app"]

probe_app = new_app("Look into a network: what its parts are for, what its hidden vectors hold, what causes what.")

_LONGEST = 1_000  # symbols of a word: the time grows with the square, to some minutes
_SUFFIXES = (".csv", ".html", ".svg", ".png")
Model = Annotated[Path, typer.Argument(metavar="MODEL", help=MODEL_HELP)]
Out = Annotated[list[Path] | None, typer.Option(help="Write the table, .csv, or a figure, .html .svg .png.")]
Language = Annotated[str | None, typer.Option(help="What it should do; by default what its file says.")]
Rounded = Annotated[bool, typer.Option("--rounded", help="Take the network with rounded actions.")]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Of all that is drawn.")]


@probe_app.command("ablate")
def ablate_command(
    model: Model, language: Language = None, rounded: Rounded = False, seed: Seed = 0, out: Out = None
) -> int:
    """Rank its hidden units, stacks and operations by what is lost without them."""
    network = _opened(model, out)
    from stacklens.face.probing import ablate

    _give(ablate(network, language, rounded=rounded, seed=seed), "ablation_figure", out)
    return 0


@probe_app.command("linear")
def linear_command(
    model: Model,
    automaton: Annotated[
        Path | None, typer.Option(help="Whose states and stack are asked for; by default the language's own.")
    ] = None,
    language: Language = None,
    rounded: Rounded = False,
    seed: Seed = 0,
    out: Out = None,
) -> int:
    """Read state, depth, tops and position off its hidden vectors with linear classifiers, on longer words."""
    network = _opened(model, out)
    from stacklens.automata.formats.by_suffix import read_automaton
    from stacklens.face.probing import linear_probes

    pda = None if automaton is None else read_automaton(automaton)
    _give(linear_probes(network, pda, language=language, rounded=rounded, seed=seed), "linear_probes_figure", out)
    return 0


@probe_app.command("horizon")
def horizon_command(model: Model, language: Language = None, seed: Seed = 0, out: Out = None) -> int:
    """Show from which step on the network parts from its rounded form, on words of 100 to 200 symbols."""
    network = _opened(model, out)
    from stacklens.face.probing import horizon_curve

    _give(horizon_curve(network, language=language, seed=seed), "horizon_figure", out)
    return 0


@probe_app.command("saliency")
def saliency_command(
    model: Model,
    word: Annotated[str, typer.Argument(metavar="WORD", help="The word (ε is the empty word).")],
    out: Out = None,
) -> int:
    """Show on which earlier steps every decision on a word depends, beside the automaton's own dependence."""
    network = _opened(model, out)
    from stacklens.face.probing import saliency
    from stacklens.languages.words import check_length, format_word, parse_typed_word

    read = parse_typed_word(word, network.alphabet)
    check_length(read, _LONGEST)
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
    _check(out, result)
    from stacklens.extract.result_file import load_result

    found = load_result(result).causal(seed, automaton=automaton, values=values, cases=cases)
    _give(found, "causality_figure", out)
    return 0


def _opened(model: Path, out: list[Path] | None) -> Any:
    from stacklens.models.io import find_network, load_network

    path = find_network(model)
    _check(out, path)
    return load_network(path).model


def _check(out: list[Path] | None, read: Path) -> None:
    """Check where output goes before any work is done."""
    from stacklens.files import check_outputs

    for path in out or []:
        if path.suffix not in _SUFFIXES:
            raise StacklensError(f"cannot write {path}: expected a name that ends in {', '.join(_SUFFIXES)}")
    check_outputs(out or [], {"the file that is read": read})
    if any(path.suffix in (".svg", ".png") for path in out or []):
        from stacklens.viz.pictures import check_browser

        check_browser()


def _give(found: Any, figure: str, out: list[Path] | None) -> None:
    """Print what was ``found``, or write it as a table or as the ``figure`` of `viz.probing`."""
    if not out:
        typer.echo(str(found))
        return
    from stacklens.files import write_whole

    for path in out:
        if path.suffix == ".csv":
            write_whole(path, found.to_frame().to_csv(index=False))
        else:
            from stacklens.viz import probing
            from stacklens.viz.pictures import picture

            draw: Callable[[Any], Figure] = getattr(probing, figure)
            write_whole(path, picture(draw(found), path.suffix[1:], f"stacklens: {path.stem}"))
        typer.echo(f"wrote {path}")
