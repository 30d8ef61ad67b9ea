"""`stacklens trace`: what a network does on a word, step by step, as a table like tables 1 and 2 of Sun et al. 1993."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stacklens.errors import StacklensError

__all__ = ["trace_command"]


def trace_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file with a trained network.")],
    word: Annotated[str, typer.Argument(metavar="WORD", help="A word over the network's alphabet.")],
    rounded: Annotated[bool, typer.Option("--rounded", help="Trace the network with rounded actions.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the steps to a .csv file instead.")] = None,
) -> int:
    """Show every step of a network on a word."""
    if out is not None and out.suffix != ".csv":
        raise StacklensError(f"cannot write {out}: expected a name that ends in .csv")
    from stacklens.files import write_whole
    from stacklens.languages.words import parse_word
    from stacklens.models.loading import load_network
    from stacklens.probe.table import step_table
    from stacklens.probe.trace import trace

    network = load_network(model).model
    seen = trace(network, [parse_word(word, network.alphabet)], rounded=rounded, stacks=True)
    if out is not None:
        write_whole(out, seen.to_pandas().to_csv(index=False))
        typer.echo(f"wrote {len(seen.symbols[0])} steps to {out}")
        return 0
    from rich.console import Console

    console = Console(markup=False, emoji=False)
    console.print(step_table(network, seen))
    console.print("accepted" if seen.verdicts[0] else "rejected")
    return 0
