"""`extract-pda`: from a file with a trained network to a pushdown automaton, with everything that it rests on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..automata.formats import check_suffix
from ..core.errors import StacklensError, check_extra
from ..core.files import check_ending, check_outputs, write_json
from ..extract.config import DEFAULT_BUDGET, parse_budget
from . import shell

if TYPE_CHECKING:
    from ..extract.result import Extraction


_MOST_CLUSTERS = 1_000  # more states than are explored


# the options that only extract-pda has
_RAW = "Write the automaton before minimisation, merged states in one colour; may be repeated."
_FORMAT = "Format of the file: auto, stacklens, marnns, stacknn, stack-rnn-cpp, rau or mapping."
_ALPHABET = "Symbols of a file that does not name them."
_THRESHOLD = 'Of a language model: above which probability a symbol may come next, "5%" of the largest, or "top 2".'
_STATES = "Begin with only this number of clusters; refinement may split them."
_SYMBOLS = "Number of stack symbols, for networks that push real values."
_METHOD = "How: learn (from what it does), kmeans (its hidden vectors), ask (its answers alone), auto."
_SAVE = "Keep the result in this .json file, for stacklens show, verify and judge."
_PROOF = "Write certificate and proof of equality to this .json file, for stacklens.check_proof."
_BLACK_BOX = "Also learn an automaton from its answers alone, and say whether the two are equal."
_BEST = "Where no faithful automaton is found, let --out write the best, marked as such."
_JOBS = "Processes for the search for states and the checks."
_CAUSAL = "Interchange states and stack symbols: which automaton does the network compute?"


def extract_command(
    model: shell.Model,
    out: shell.Automata = None,
    out_raw: Annotated[list[Path] | None, typer.Option(help=_RAW)] = None,
    language: shell.Language = None,
    format: Annotated[str, typer.Option(help=_FORMAT)] = "auto",  # noqa: A002
    alphabet: Annotated[str | None, typer.Option(help=_ALPHABET)] = None,
    threshold: Annotated[str | None, typer.Option(help=_THRESHOLD)] = None,
    max_length: shell.MaxLength = None,
    states: Annotated[int | None, typer.Option(min=1, max=_MOST_CLUSTERS, help=_STATES)] = None,
    stack_symbols: Annotated[int | None, typer.Option(min=1, max=_MOST_CLUSTERS, help=_SYMBOLS)] = None,
    method: Annotated[str, typer.Option(help=_METHOD)] = "auto",
    budget: shell.Budget = f"{DEFAULT_BUDGET:g}s",
    seed: shell.Seed = 0,
    report: shell.Report = None,
    save: Annotated[Path | None, typer.Option(help=_SAVE)] = None,
    proof: Annotated[Path | None, typer.Option(help=_PROOF)] = None,
    black_box: Annotated[bool, typer.Option("--black-box", help=_BLACK_BOX)] = False,
    best: Annotated[bool, typer.Option("--best", help=_BEST)] = False,
    device: shell.Device = "cpu",
    jobs: Annotated[int, typer.Option(min=1, max=shell.MOST_JOBS, help=_JOBS)] = 1,
    causal: Annotated[bool, typer.Option("--causal", help=_CAUSAL)] = False,
    quiet: shell.Quiet = False,
) -> int:
    """Extract a pushdown automaton from a trained network, and check it.

    Exit status: 0 extracted and nothing contradicts it; 1 extracted, but a check found a disagreement (the word is
    printed); 2 bad arguments or unreadable input; 3 no faithful automaton found.
    """
    from ..models.checkpoint import find_network

    model = find_network(model)
    # that all files can be written, as far as can be known beforehand, each to a file of its own
    drawn, texts = [*(out or []), *(out_raw or [])], [report, save, proof]
    for path in drawn:
        check_suffix(path)
    check_outputs([*drawn, *texts], {"the network's own file": model, "the language's own file": language})
    for text in texts:
        check_ending(text, [".json"])
    from ..extract.saved import versions_used
    from ..face.opening import load
    from ..face.results import extract
    from ..models.base import check_device

    check_device(device)
    if black_box:
        check_extra("AALpy", "interop", "aalpy")
    search = {"states": states, "stack_symbols": stack_symbols, "method": method, "budget": parse_budget(budget)}
    network = load(model, kind="network", format=format, alphabet=alphabet, threshold=threshold)
    if stack_symbols is not None and network.pushes_input:
        raise StacklensError(f"--stack-symbols: this {network.name} pushes the symbol it reads, so it has no choice")
    where = {"jobs": jobs, "device": device}
    result = extract(network, language, quiet=quiet, max_length=max_length, seed=seed, **search, **where)
    alone = None
    if black_box:
        try:
            result = result.black_box()
        except StacklensError as error:  # nothing is compared
            alone = str(error)
    if causal and result.minimised is not None:
        from ..extract.causality import with_causality

        result = with_causality(result, seed)
    if report is not None:
        content = {**result.report(), "versions": versions_used()}
        write_json(report, {**content, "model": {**content["model"], "file": str(model)}})
    if save is not None:
        result.save(save)
    written, problem = shell.write_outputs(out or [], out_raw or [], result, best)
    unproved, shown = None, ""
    if proof is not None:
        try:
            shown = result.save_proof(proof)
        except StacklensError as error:  # after all else that was asked for
            unproved, proof = error, None
    if not quiet:
        others = [path for path in (report, save, proof) if path is not None]
        _show_result(result, [*written, *others], alone, transitions=not out)
        if proof is not None:
            typer.echo(f"{proof} proves: {shown}")
    elif result.status:
        typer.echo(result.headline)
    if out and not quiet and not written and result.best is not None:
        typer.echo("no automaton was written; with --best --out writes the best, which is not faithful")
    if problem is not None or unproved is not None:
        raise problem or unproved  # type: ignore[misc]
    return result.status


def _show_result(result: Extraction, written: list[Path], alone: str | None = None, *, transitions: bool) -> None:
    from rich.console import Console

    from ..extract.summary import show_summary

    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    show_summary(result, console, transitions=transitions)
    if alone is not None:
        console.print(f"black box  not compared: {alone}")
    if result.status:
        console.print(f"\n{result.why()}\n")
    for path in written:
        console.print(f"wrote {path}")


app = shell.new_app("Extract a pushdown automaton from a trained network.")
app.command()(extract_command)


def main() -> None:
    """Run `extract-pda`."""
    shell.run_app(app)


# ---- `stacklens show`: a saved result once more, as extract-pda printed it, and its automaton in any format ----


def show_command(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result, as extract-pda --save writes it.")],
    out: shell.Automata = None,
    best: Annotated[bool, typer.Option("--best", help="Let --out write the best where none is faithful.")] = False,
    why: Annotated[bool, typer.Option("--why", help="Say why the automaton is not faithful, and what to do.")] = False,
) -> int:
    """Show a saved result: what came out of the network and what it rests on.

    Proof and certificate are made again where the network is at hand; all else is said to be as stored.

    Exit status: as of extract-pda.
    """
    from ..extract.saved import load_result

    for path in out or []:
        check_suffix(path)
    check_outputs(out or [], {"the result's own file": result})
    found = load_result(result).checked_again()
    written, problem = shell.write_outputs(out or [], [], found, best)
    if problem is not None:
        raise problem
    if why:
        typer.echo("\n".join([found.why(), *(f"wrote {path}" for path in written)]))
    else:
        _show_result(found, written, transitions=not out)
    return found.status
