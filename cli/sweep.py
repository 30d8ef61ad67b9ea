"""`stacklens sweep`: many networks at once, a row each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..automata.formats import read_automaton
from ..core.errors import StacklensError
from ..core.files import LARGEST_TEXT, check_ending, check_outputs, read_text, read_whole, write_whole
from ..core.progress import count, progress_bar
from ..extract.config import DEFAULT_BUDGET, ExtractionConfig, parse_budget
from ..extract.wording import horizon_cell
from . import shell

_COLUMNS = (
    *("network", "updates", "status", "automaton*", "states", "proof", "certificate"),
    *("rounded**", "network**", "accuracy", "seconds"),
)
_NOTES = (
    "*  the same number: proved to do the same",
    "** all words up to this length agree, and a word of this length does not",
)
_NETWORKS = "Trained networks: files, names of the zoo, folders, or patterns such as 'runs/*.pt'."
_JOURNAL = "The journal (default: the first OUT's name.sweep.jsonl); deleted in the end."
_OUT = "Write the table (.csv), all of it (.json) or the figure (.html .svg .png .pdf); may be repeated."


def sweep_command(
    networks: Annotated[list[str], typer.Argument(metavar="NETWORKS", help=_NETWORKS)],
    language: shell.Language = None,
    out: Annotated[list[Path] | None, typer.Option(help=_OUT)] = None,
    jobs: shell.Jobs = 1,
    scheduler: shell.Scheduler = None,
    resume: shell.Resume = False,
    journal: Annotated[Path | None, typer.Option(help=_JOURNAL)] = None,
    max_length: shell.MaxLength = None,
    budget: shell.Budget = f"{DEFAULT_BUDGET:g}s",
    seed: shell.Seed = 0,
    device: shell.Device = "cpu",
    quiet: shell.QuietTable = False,
) -> int:
    """Extract from many networks, and put what came out side by side, a row each.

    A file that cannot be read is a row with the reason. Rows are kept in a journal as soon as they are there, so that
    a sweep that was killed goes on with --resume, also over more files. Over the snapshots of a training (stacklens
    train --snapshots 50) it says when the automaton appears and settles: automata are compared by proof.

    Exit status: 0 every network was read, whatever came out of it; 1 some could not be, and their rows say why; 2 bad
    arguments.
    """
    from ..extract.evaluation.sweep import networks_named, sweep
    from ..extract.jobs import check_scheduler
    from ..models.base import check_device
    from ..viz.report import check_suffixes

    place = journal or Path(f"{(out[0] if out else Path('networks')).stem}.sweep.jsonl")
    check_outputs([*(out or []), place], {"the language's own file": language})
    check_suffixes(out or [], [".csv", ".json"])
    check_device(device)
    check_scheduler(scheduler)
    config = ExtractionConfig(max_length=max_length, seed=seed, device=device, budget=parse_budget(budget))
    given = networks_named(networks)
    where: dict[str, Any] = {"jobs": jobs, "scheduler": scheduler, "journal": place, "resume": resume}
    with progress_bar(quiet) as bar:
        task = bar.add_task("sweep", total=len(given))
        on_row = lambda row: bar.update(task, advance=1, description=Path(row.network).name)  # noqa: E731
        found = sweep(given, language, config, **where, progress=on_row)
    problem = None
    for path in out or []:
        try:
            found.save(path)
        except StacklensError as error:  # the other files are written all the same
            problem = error
    if not quiet:
        cells, notes = list[list[str]](), list(_NOTES)
        for row, number in zip(found.rows, found.classes, strict=True):
            accuracy = row.accuracy("network")
            updates, states = "" if row.updates is None else f"{row.updates:,}", (row.sizes or {}).get("states", "")
            named = [row.network, updates, str(row.status), "none" if number is None else str(number), str(states)]
            horizons = [horizon_cell(row.horizon.get(who)) for who in ("rounded network", "network")]
            right = "" if accuracy is None else f"{accuracy:.1%}"
            cells.append([*named, row.proof or "", row.certificate or "", *horizons, right, f"{row.seconds:.1f}"])
            if row.reason is not None:
                notes.append(row.reason if row.reason.startswith(row.network) else f"{row.network}: {row.reason}")
        if found.settling is not None:
            notes.append(f"settled    {found.settling}")
        notes += [f"wrote {count(len(found.rows), 'row')} to {path}" for path in out or [] if path.exists()]
        shell.print_table(_COLUMNS, cells, notes)
    if problem is not None:
        raise StacklensError(f"{problem}; what was found is kept in {place}: go on with --resume")
    place.unlink(missing_ok=True)  # last: a run that is killed before has not shown the result
    return int(any(row.status not in (0, 1, 3) for row in found.rows))


# ---- `stacklens judge`: many words at once, by network, rounded network, automaton and language ----

_LONGEST = 10_000  # symbols of a word: the time and the memory for it grow with the square
_WORDS = "A text with a word a line (ε is the empty word); - for the input."
_AUTOMATON = "The network's automaton (.json, .jff, .dot), as extract-pda writes it."


def judge_command(
    model: shell.ModelOrResult,
    words: Annotated[Path, typer.Argument(metavar="WORDS", help=_WORDS)],
    automaton: Annotated[Path | None, typer.Option(help=_AUTOMATON)] = None,
    language: shell.Language = None,
    out: Annotated[Path | None, typer.Option(help="Write the table to this .csv file instead.")] = None,
) -> int:
    """Show what network, rounded network, automaton and language say of many words, and where runs first part.

    Exit status: 0 if all agree on every word, 1 if they differ on some.
    """
    from ..models.base import checkpoint_for
    from ..models.checkpoint import find_network, load_network

    model = find_network(model)
    check_ending(out, [".csv"])
    if out is not None:
        read = {"the network's own file": model, "the automaton's own file": automaton}
        check_outputs([out], {**read, "the language's own file": language, "the list of words' own file": words})
    result = shell.saved_result(model)
    if result is not None and automaton is not None:
        raise StacklensError(f"{model} has an automaton with it; leave out --automaton, or name the network")
    from ..extract.by_name import specification_of
    from ..extract.evaluation.judge import judge_words, parse_words, word_table
    from ..extract.specification import check_same_alphabet
    from ..languages.language import check_length

    checkpoint = load_network(model) if result is None else checkpoint_for(result.model)
    network = checkpoint.model
    specification = specification_of(checkpoint, language or (None if result is None else result.language_name))
    check_same_alphabet(specification, network)
    pda = None if automaton is None else read_automaton(automaton, network.alphabet)
    pda = pda if result is None else result.minimised
    expected = "a text with a word a line"
    if str(words) != "-":
        content = read_whole(words, expected)
    else:
        content = b"" if sys.stdin is None else sys.stdin.buffer.read(LARGEST_TEXT + 1)
        if len(content) > LARGEST_TEXT:
            raise StacklensError(f"-: more than {LARGEST_TEXT >> 20:,} MiB came from the input; expected {expected}")
    text = read_text(words, expected, content)
    try:
        listed = parse_words(text, network.alphabet)
        for one in listed:
            check_length(one, _LONGEST)
    except StacklensError as error:
        raise StacklensError(f"{words}: {error}") from None
    # which of the network's stacks it has, a result says, and no file of an automaton
    known = None if pda is None or pda.n_stacks == network.n_stacks else ()
    stacks = known if result is None else result.memories
    judged = judge_words(network, listed, pda, specification, stacks)
    frame = word_table(judged)
    if out is None:
        rows = (["" if str(cell) == "<NA>" else str(cell) for cell in row] for row in frame.itertuples(index=False))
        shell.print_table([str(column) for column in frame.columns], rows)
    else:
        write_whole(out, frame.to_csv(index=False))
        typer.echo(f"wrote {len(frame):,} words to {out}")
    return int(not all(one.agree for one in judged))
