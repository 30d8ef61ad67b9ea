"""`stacklens export`: a report on a network as a page in one file, which asks no other host for anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stacklens.cli.paths import MODEL_HELP
from stacklens.errors import StacklensError
from stacklens.progress import progress_bar, stages_on
from stacklens.seeds import LARGEST_SEED

__all__ = ["export_command"]


def export_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help=MODEL_HELP)],
    html: Annotated[Path, typer.Option(help="The page to write.")],
    word: Annotated[
        list[str] | None, typer.Option(help="A word to trace; may be repeated (default: some of its language).")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="What it should recognise; by default what the file says it was trained on.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(min=0, help="Check all words up to this length (default: about 2.5 million words).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="For everything that is drawn.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no summary.")] = False,
) -> int:
    """Write a page on a network: its automaton, the transition table, every check and the proof, and some traces.

    Exit status: as of extract-pda; the page is written in any case but 2.
    """
    from stacklens.models.io import find_network

    model = find_network(model)
    _check(model, html, language)
    from stacklens.extract.by_name import specification_of
    from stacklens.extract.extraction import ExtractionConfig, extract
    from stacklens.files import write_whole
    from stacklens.languages.words import check_length, parse_typed_word
    from stacklens.models.io import load_network
    from stacklens.viz.report import report_page, some_words

    checkpoint = load_network(model)
    network = checkpoint.model
    words = [parse_typed_word(text, network.alphabet) for text in word or []]
    for one in words:
        check_length(one, _LONGEST)
    specification = specification_of(checkpoint, language)
    config = ExtractionConfig(max_length=max_length, seed=seed)
    with progress_bar(quiet) as bar:
        result = extract(network, specification, config, stages_on(bar))
    write_whole(html, report_page(result, words or some_words(result, _WORDS), f"stacklens: {model.name}"))
    if not quiet:
        typer.echo(f"wrote {html}")
    return result.status


_LONGEST = 400  # symbols of a word that is traced: every step is drawn
_WORDS = 3  # traced where none is named


def _check(model: Path, html: Path, language: str | None) -> None:
    """Check that the page can be written as far as can be told beforehand.

    Raises:
        StacklensError: the name does not end in .html, its folder does not exist, or it is a file that is read.
    """
    from stacklens.files import check_outputs

    if html.suffix != ".html":
        raise StacklensError(f"cannot write {html}: expected a name that ends in .html")
    check_outputs([html], {"the network's own file": model, "the language's own file": language})
