"""`stacklens judge`: many words at once, by network, rounded network, automaton and language."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stacklens.cli.paths import MODEL_OR_RESULT_HELP, saved_result
from stacklens.errors import StacklensError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from stacklens.automata.pda import Word

__all__ = ["judge_command"]

_LONGEST = 10_000  # symbols of a word: the time and the memory for it grow with the square
_WIDTH = 120  # of the table, at least, where nobody says how wide


def judge_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help=MODEL_OR_RESULT_HELP)],
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
    from stacklens.models.io import checkpoint_for, find_network, load_network

    model = find_network(model)
    _check(model, words, automaton, language, out)
    result = saved_result(model)
    if result is not None and automaton is not None:
        raise StacklensError(f"{model} has an automaton with it; leave out --automaton, or name the network")
    from stacklens.automata.formats.by_suffix import read_automaton
    from stacklens.extract.by_name import specification_of
    from stacklens.extract.evaluation.word_list import judge_words, word_table
    from stacklens.extract.specification import check_same_alphabet
    from stacklens.files import write_whole

    checkpoint = load_network(model) if result is None else checkpoint_for(result.model)
    network = checkpoint.model
    specification = specification_of(checkpoint, language or (None if result is None else result.language_name))
    check_same_alphabet(specification, network)
    pda = None if automaton is None else read_automaton(automaton, network.alphabet)
    pda = pda if result is None else result.minimised
    listed = _listed(words, network.alphabet)
    # which of the network's stacks it has, a result says, and no file of an automaton
    known = None if pda is None or pda.n_stacks == network.n_stacks else ()
    stacks = known if result is None else result.memories
    judged = judge_words(network, listed, pda, specification, stacks)
    frame = word_table(judged)
    if out is None:
        _show(frame)
    else:
        write_whole(out, frame.to_csv(index=False))
        typer.echo(f"wrote {len(frame):,} words to {out}")
    return int(not all(one.agree for one in judged))


def _check(model: Path, words: Path, automaton: Path | None, language: str | None, out: Path | None) -> None:
    """Check that the table can be written as far as can be told beforehand.

    Raises:
        StacklensError: the name does not end in .csv, there is no folder, or it is one of the files that are read.
    """
    from stacklens.files import check_outputs

    if out is None:
        return
    if out.suffix != ".csv":
        raise StacklensError(f"cannot write {out}: expected a name that ends in .csv")
    read = {"the network's own file": model, "the automaton's own file": automaton, "the language's own file": language}
    check_outputs([out], {**read, "the list of words' own file": words})


def _listed(path: Path, alphabet: Sequence[str]) -> list[Word]:
    """Return the words in the list at ``path``.

    Raises:
        StacklensError: it cannot be read, or one of its words; the message names the file.
    """
    from stacklens.extract.evaluation.word_list import parse_words
    from stacklens.languages.words import check_length

    text = _text(path)
    try:
        listed = parse_words(text, alphabet)
        for one in listed:
            check_length(one, _LONGEST)
    except StacklensError as error:
        raise StacklensError(f"{path}: {error}") from None
    return listed


def _text(words: Path) -> str:
    """Return the list of words as text.

    Raises:
        StacklensError: it cannot be read, is too long, or is no text in UTF-8.
    """
    from stacklens.files import LARGEST_TEXT, read_whole

    expected = "a text with a word a line"
    try:
        if str(words) != "-":
            return read_whole(words, expected).decode("utf-8-sig")
        content = b"" if sys.stdin is None else sys.stdin.buffer.read(LARGEST_TEXT + 1)
        if len(content) > LARGEST_TEXT:
            raise StacklensError(f"-: more than {LARGEST_TEXT >> 20:,} MiB came from the input; expected {expected}")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise StacklensError(f"{words}: cannot be read: it is no text in UTF-8; expected {expected}") from None


def _show(frame: pd.DataFrame) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*(str(column) for column in frame.columns))
    for row in frame.itertuples(index=False):
        table.add_row(*("" if str(cell) == "<NA>" else str(cell) for cell in row))
    plain: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
    Console(**plain, width=max(Console().width, _WIDTH)).print(table)
