"""`extract-pda`: from a file with a trained network to a pushdown automaton, with everything that it rests on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stacklens.cli.paths import MODEL_HELP, OUT_HELP
from stacklens.cli.shell import MOST_JOBS, new_app, run_app
from stacklens.errors import StacklensError
from stacklens.extract.budget import DEFAULT_BUDGET, parse_budget
from stacklens.extras import check_extra
from stacklens.progress import progress_bar, stages_on
from stacklens.seeds import LARGEST_SEED

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction

__all__ = ["extract_command", "main"]

_MOST_CLUSTERS = 1_000  # more states than are explored


def extract_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    out: Annotated[list[Path] | None, typer.Option(help=OUT_HELP)] = None,
    out_raw: Annotated[
        list[Path] | None,
        typer.Option(help="Write the automaton before minimisation, merged states in one colour; may be repeated."),
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="What it should recognise; by default what the file says it was trained on.")
    ] = None,
    format: Annotated[  # noqa: A002
        str, typer.Option(help="Format of the file: auto, stacklens, marnns, stacknn, stack-rnn-cpp, rau or mapping.")
    ] = "auto",
    alphabet: Annotated[str | None, typer.Option(help="Symbols of a file that does not name them.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Of a language model: above which probability a symbol may come next."),
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(min=0, help="Check all words up to this length (default: about 2.5 million words).")
    ] = None,
    states: Annotated[
        int | None,
        typer.Option(
            min=1, max=_MOST_CLUSTERS, help="Begin with only this number of clusters; refinement may split them."
        ),
    ] = None,
    stack_symbols: Annotated[
        int | None,
        typer.Option(min=1, max=_MOST_CLUSTERS, help="Number of stack symbols, for networks that push real values."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="How: learn (from what it does), kmeans (its hidden vectors), ask (its answers alone), auto."
        ),
    ] = "auto",
    budget: Annotated[
        str, typer.Option(help="Processor time for the search, such as 60s or 2m; or none. The best so far is checked.")
    ] = f"{DEFAULT_BUDGET:g}s",
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="For everything that is drawn.")] = 0,
    report: Annotated[Path | None, typer.Option(help="Write all figures to this .json file.")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Keep the result in this .json file, for stacklens show, verify and judge.")
    ] = None,
    black_box: Annotated[
        bool,
        typer.Option(
            "--black-box", help="Also learn an automaton from its answers alone, and say whether the two are equal."
        ),
    ] = False,
    best: Annotated[
        bool,
        typer.Option("--best", help="Where no faithful automaton is found, let --out write the best, marked as such."),
    ] = False,
    device: Annotated[str, typer.Option(help="Where the network runs: cpu, cuda, cuda:1, …")] = "cpu",
    jobs: Annotated[
        int, typer.Option(min=1, max=MOST_JOBS, help="Processes for the search for states and the checks.")
    ] = 1,
    causal: Annotated[
        bool,
        typer.Option(
            "--causal", help="Interchange states and stack symbols: which automaton does the network compute?"
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no summary.")] = False,
) -> int:
    """Extract a pushdown automaton from a trained network, and check it.

    Exit status: 0 extracted and nothing contradicts it; 1 extracted, but a check found a disagreement (the word is
    printed); 2 bad arguments or unreadable input; 3 no faithful automaton found.
    """
    from stacklens.cli.paths import check_targets, write_outputs, write_report
    from stacklens.models.io import find_network

    model = find_network(model)
    check_targets([*(out or []), *(out_raw or [])], report, save, model, language)
    from stacklens.extract.config import ExtractionConfig
    from stacklens.languages.words import parse_alphabet
    from stacklens.models.device import check_device
    from stacklens.models.io import load_network

    check_device(device)
    if black_box:
        check_extra("AALpy", "interop", "aalpy")
    config = ExtractionConfig(
        max_length=max_length,
        states=states,
        stack_symbols=stack_symbols,
        seed=seed,
        jobs=jobs,
        device=device,
        method=method,  # type: ignore[arg-type]  # which is checked there
        budget=parse_budget(budget),
    )
    symbols = None if alphabet is None else parse_alphabet(alphabet)
    checkpoint = load_network(model, format, symbols, threshold=threshold)
    network = checkpoint.model
    if stack_symbols is not None and network.pushes_input:
        raise StacklensError(f"--stack-symbols: this {network.name} pushes the symbol it reads, so it has no choice")
    result = _extract(checkpoint, language, config, quiet)
    result, alone = _beside_black_box(result) if black_box else (result, None)
    if causal and result.minimised is not None:
        from stacklens.extract.causality import with_causality

        result = with_causality(result, seed)
    if report is not None:
        write_report(report, result, str(model))
    if save is not None:
        result.save(save)
    written, problem = write_outputs(out or [], out_raw or [], result, best)
    if not quiet:
        _show(result, [*written, *(path for path in (report, save) if path is not None)], alone, transitions=not out)
    elif result.status:
        typer.echo(result.headline)
    if out and not quiet and not written and result.best is not None:
        typer.echo("no automaton was written; with --best --out writes the best, which is not faithful")
    if problem is not None:
        raise problem
    return result.status


def _extract(checkpoint: Any, language: str | None, config: Any, quiet: bool) -> Extraction:
    from stacklens.extract.by_name import specification_of
    from stacklens.extract.extraction import extract

    with progress_bar(quiet) as bar:
        result = extract(checkpoint.model, specification_of(checkpoint, language), config, stages_on(bar))
    return replace(result, config=config)


def _beside_black_box(result: Extraction) -> tuple[Extraction, str | None]:
    """Return ``result`` with what its network's answers alone teach, or as it is, with why nothing is compared."""
    try:
        return result.black_box(), None
    except StacklensError as error:
        return result, str(error)


def _show(result: Extraction, written: list[Path], alone: str | None, *, transitions: bool) -> None:
    from rich.console import Console

    from stacklens.extract.summary import show_summary

    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    show_summary(result, console, transitions=transitions)
    if alone is not None:
        console.print(f"black box  not compared: {alone}")
    if result.status:
        console.print(f"\n{result.why()}\n", markup=False)
    for path in written:
        console.print(f"wrote {path}")


app = new_app("Extract a pushdown automaton from a trained network.")
app.command()(extract_command)


def main() -> None:
    """Run `extract-pda`."""
    run_app(app)
