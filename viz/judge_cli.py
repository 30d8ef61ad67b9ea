"""`stacklens judge`: many words at once, by network, rounded network, automaton and language."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stacklens.errors import StacklensError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["judge_command"]

_WIDTH = 120  # of the table, at least, where nobody says how wide


def judge_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file with a trained network.")],
    words: Annotated[
        Path, typer.Argument(metavar="WORDS", help="A text with a word a line (ε is the empty word); - for the input.")
    ],
    automaton: Annotated[
        Path | None, typer.Option(help="The network's automaton (.json, .jff, .dot), as extract-pda writes it.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="What it should do; by default what the file says it was trained on.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table to this .csv file instead.")] = None,
) -> int:
    """Show what network, rounded network, automaton and language say of many words, and where runs first part.

    Exit status: 0 if all agree on every word, 1 if they differ on some.
    """
    _check(model, words, automaton, out)
    from stacklens.automata.formats.reading import read_automaton
    from stacklens.extract.names import reference_of
    from stacklens.extract.reference import check_alphabet
    from stacklens.files import write_whole
    from stacklens.models.loading import load_network
    from stacklens.viz.word_list import judge, parse_words, word_table

    checkpoint = load_network(model)
    network, reference = checkpoint.model, reference_of(checkpoint, language)
    check_alphabet(reference, network)
    pda = None if automaton is None else read_automaton(automaton, network.alphabet)
    listed = parse_words(_text(words), network.alphabet)
    stacks = None if pda is None or pda.n_stacks == network.n_stacks else ()  # which of them it has no file says
    judged = judge(network, listed, pda, reference, stacks)
    frame = word_table(judged)
    if out is None:
        _show(frame)
    else:
        write_whole(out, frame.to_csv(index=False))
        typer.echo(f"wrote {len(frame):,} words to {out}")
    return int(not all(one.agree for one in judged))


def _check(model: Path, words: Path, automaton: Path | None, out: Path | None) -> None:
    """Return nothing if the table can be written as far as can be told beforehand.

    Raises:
        StacklensError: the name does not end in .csv, there is no folder, or it is one of the files that are read.
    """
    from stacklens.files import check_folder

    if out is None:
        return
    if out.suffix != ".csv":
        raise StacklensError(f"cannot write {out}: expected a name that ends in .csv")
    check_folder(out)
    for given in (model, words, automaton):
        if given is not None and out.exists() and given.exists() and out.samefile(given):
            raise StacklensError(f"cannot write {out}: it is a file that is read here; choose another name")


def _text(words: Path) -> str:
    try:
        return typer.get_text_stream("stdin").read() if str(words) == "-" else words.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise StacklensError(f"{words}: cannot be read: {reason}; expected a text with a word a line") from None


def _show(frame: pd.DataFrame) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*(str(column) for column in frame.columns))
    for row in frame.itertuples(index=False):
        table.add_row(*("" if str(cell) == "<NA>" else str(cell) for cell in row))
    plain: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
    Console(**plain, width=max(Console().width, _WIDTH)).print(table)
