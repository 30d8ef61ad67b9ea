"""`stacklens show`: a saved result once more, as extract-pda printed it, and its automaton in any format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stacklens.cli.paths import OUT_HELP, write_outputs

__all__ = ["show_command"]


def show_command(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result, as extract-pda --save writes it.")],
    out: Annotated[list[Path] | None, typer.Option(help=OUT_HELP)] = None,
    best: Annotated[bool, typer.Option("--best", help="Let --out write the best where none is faithful.")] = False,
    why: Annotated[bool, typer.Option("--why", help="Say why the automaton is not faithful, and what to do.")] = False,
) -> int:
    """Show a saved result: what came out of the network and what it rests on.

    Proof and certificate are made again where the network is at hand; all else is said to be as stored.

    Exit status: as of extract-pda.
    """
    from rich.console import Console

    from stacklens.automata.formats.by_suffix import check_suffix
    from stacklens.extract.result_file import load_result
    from stacklens.extract.summary import show_summary
    from stacklens.files import check_outputs

    for path in out or []:
        check_suffix(path)
    check_outputs(out or [], {"the result's own file": result})
    found = load_result(result).checked_again()
    written, problem = write_outputs(out or [], [], found, best)
    if problem is not None:
        raise problem
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    if why:
        console.print(found.why())
    else:
        show_summary(found, console, transitions=not out)
        if found.status:
            console.print(f"\n{found.why()}\n")
    for path in written:
        console.print(f"wrote {path}")
    return found.status
