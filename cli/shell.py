"""What all commands share: one clear line for an error, exit statuses, odd places to run in."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
import typer.completion

from ..automata.formats import write_automaton
from ..core.errors import LARGEST_SEED, StacklensError

if TYPE_CHECKING:
    from rich.console import Console

    from ..extract.result import Extraction

BAD_INPUT = 2
_COMPLETION: Any = typer.completion  # which names what it has from elsewhere
_DEFECT = 70  # ours, as sysexits.h has it: 1 would mean that something differs
INTERRUPTED, _NO_READER = 130, 141  # 128 and the number of the signal, as everywhere

MOST_JOBS = max(16, 4 * (os.cpu_count() or 1))  # each takes 300 MB, and more than there are cores only wait
_LONGEST_LINE = 1_000  # characters of an error


def new_app(help: str) -> typer.Typer:  # noqa: A002 (typer's own word)
    """Return an app with `-h`, plain help and no tracebacks of its own making."""
    plain: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}
    return typer.Typer(help=help, **plain, context_settings={"help_option_names": ["-h", "--help"]})


def run_app(app: typer.Typer) -> NoReturn:
    """Run ``app`` on the command line and exit with its status; bad input gives one line on stderr and status 2.

    So do a full disk, a name that is too long, numbers that are too large, and too little memory. What is left is a
    defect of ours, and is shown as one, with a status that no command has.
    """
    _prepare_place()
    if any(name.endswith("_COMPLETE") for name in os.environ):  # a shell asks, by the script of `show_completion`
        _COMPLETION.completion_init()
    try:
        status = app(standalone_mode=False, prog_name=app_name())
        if sys.stdout is not None:
            sys.stdout.flush()
    except StacklensError as error:
        status = _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        status = _fail("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # the reader of our output went away, as `| head` does; typer exits then
        status = _NO_READER
    except Exception as error:
        status = _refused(error)
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:  # what cannot be written is dropped: Python would complain about it on its way out
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(status if isinstance(status, int) else 0)


def show_completion(shell: str | None) -> None:
    """Print what completes our commands in ``shell``, and exit. Raises StacklensError: that is not known."""
    if shell is None:
        return
    if shell not in (shells := ("bash", "zsh", "fish")):
        raise StacklensError(f"no completion for {shell!r}; expected one of {', '.join(shells)}")
    for name in ("stacklens", "extract-pda"):
        asked = f"_{name.replace('-', '_').upper()}_COMPLETE"
        typer.echo(_COMPLETION.get_completion_script(prog_name=name, complete_var=asked, shell=shell))
    raise typer.Exit


def _refused(error: Exception) -> int:
    """Return the status after ``error``, shown in one line where it is not our own."""
    if hasattr(error, "format_message"):  # a usage error
        # its value, where its message does not name it: the check that failed still has it
        found = getattr(error.__cause__, "errors", None)
        values = [one["input"] for one in found() if "input" in one] if callable(found) else []
        given = f", not {values[0]!r}" if values else ""
        # its command as the user typed it, with the names below it
        names = list[str]()
        context: Any = getattr(error, "ctx", None)
        while getattr(context, "parent", None) is not None:
            names.insert(0, context.info_name)
            context = context.parent
        return _fail(f"{error.format_message().rstrip('.')}{given}; see {' '.join([app_name(), *names])} -h")
    # what the machine or the arguments made impossible
    if isinstance(error, OSError):
        return _fail(f"{error.filename or 'cannot write the output'}: {error.strerror or error}")
    if isinstance(error, UnicodeEncodeError):
        text = error.object[error.start : error.end]
        return _fail(f"cannot write {text!a} in {error.encoding}; choose UTF-8")
    if isinstance(error, OverflowError):
        return _fail(f"a number is too large: {error}; choose a smaller one")
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return _fail("there is not enough memory for that; ask for less, or give it more")
    with suppress(OSError):
        traceback.print_exc()
    return _fail("a defect of stacklens, not of what it was given; please report it with the lines above", _DEFECT)


def app_name() -> str:
    """Return the command as the user typed it, without its folder."""
    name = sys.argv[0].rsplit("/", 1)[-1]
    return "stacklens" if name == "__main__.py" else name


def _fail(message: str, status: int = BAD_INPUT) -> int:
    """Return ``status``; print the message as one line, without what a terminal would obey, and none too long."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(message.split()))
    if len(line) > _LONGEST_LINE:
        line = f"{line[: _LONGEST_LINE * 3 // 4]} … {line[-_LONGEST_LINE // 4 :]}"
    if sys.stderr is not None:
        with suppress(OSError):  # then there is nobody to tell
            print(f"error: {line}", file=sys.stderr, flush=True)
    return status


def _prepare_place() -> None:
    """Make the best of an odd place: no output, an ASCII terminal (``\\u22a5`` for what it lacks), Ctrl-C twice."""
    for number in range(3):  # or the next file that is opened takes the number, and what is meant for stdout
        with suppress(OSError):
            os.fstat(number)
            continue
        with suppress(OSError):
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

    def end_at_once(*_: object) -> None:  # no cleaning up is interrupted halfway, with a traceback
        with suppress(OSError):
            os.write(2, b"error: interrupted\n")
        os._exit(INTERRUPTED)

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, end_at_once)
        raise KeyboardInterrupt

    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, interrupt)


_WIDTH = 150  # of a table, at least, where nobody says how wide


def wide_console() -> Console:
    """Return a console that shows text as it is and never squeezes a table below a screen's width."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, width=max(Console().width, _WIDTH))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()) -> None:
    """Print a table and under it notes, a line each."""
    from rich.table import Column, Table

    table = Table(Column(columns[0], overflow="fold"), *columns[1:])
    for row in rows:
        table.add_row(*row)
    console = wide_console()
    console.print(table)
    for note in notes:
        console.print(note, soft_wrap=True)


# ---- The files that commands are given and write: networks, saved results in their place, and what comes out ----

MODEL_HELP = "A trained network: a file, or the name of one of the zoo (a file of that name here comes first)."
OUT_HELP = "Write the automaton: .dot .json .jff .svg .png .pdf, or .cfg, its grammar; may be repeated."
MODEL_OR_RESULT_HELP = f"{MODEL_HELP} Or a saved result (.json), which has its automaton with it."


_ZOO = Path(__file__).resolve().parents[1] / "models/zoo"  # without torch, which is slow to import


def zoo_command() -> None:
    """List the trained networks that come along: what each learned, what its stored result says, and its file."""
    rows = list[list[str]]()
    for path in sorted(_ZOO.glob("*.pt")):
        stored = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        verdicts = [stored[name]["verdict"] for name in ("proof", "certificate")]
        rows.append([path.stem, stored["model"]["name"], stored["language"], *verdicts])
    notes = "proof and certificate as stored; stacklens verify NETWORK shows them again", f"files: {_ZOO}/NETWORK.pt"
    print_table(("network", "model", "learned", "proof", "certificate"), rows, notes)


def _zoo_names(incomplete: str) -> list[str]:
    return sorted(path.stem for path in _ZOO.glob("*.pt") if path.stem.startswith(incomplete))


def _language_names(incomplete: str) -> list[str]:
    from ..languages.catalogue import language_names, task_names

    return sorted({name for name in (*language_names(), *task_names()) if name.startswith(incomplete)})


# options that several commands have
Model = Annotated[Path, typer.Argument(metavar="MODEL", help=MODEL_HELP, autocompletion=_zoo_names)]
ModelOrResult = Annotated[Path, typer.Argument(metavar="MODEL", help=MODEL_OR_RESULT_HELP, autocompletion=_zoo_names)]
Automata = Annotated[list[Path] | None, typer.Option(help=OUT_HELP)]
_LANGUAGE = "What it should recognise; by default what the file says it was trained on."
Language = Annotated[str | None, typer.Option(help=_LANGUAGE, autocompletion=_language_names)]
_BUDGET = "Time for each network, such as 60s or 2m; or none. What it ends goes on with the best so far."
Budget = Annotated[str, typer.Option(help=_BUDGET)]
Device = Annotated[str, typer.Option(help="Where networks run: cpu, cuda, cuda:1, …")]
_ALL_UP_TO = "Check all words up to this length (default: about 2.5 million words)."
MaxLength = Annotated[int | None, typer.Option(min=0, help=_ALL_UP_TO)]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="For everything that is drawn.")]
Jobs = Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="Processes on this machine.")]
Scheduler = Annotated[str | None, typer.Option(help="A Dask scheduler, tcp://host:8786, whose workers do it instead.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on from the journal of a run that was killed.")]
Report = Annotated[Path | None, typer.Option(help="Write all figures to this .json file.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress and no summary.")]
QuietTable = Annotated[bool, typer.Option("--quiet", help="No progress and no table.")]


def saved_result(path: Path) -> Extraction | None:
    """Return the result in the file at ``path``, None where that is something else."""
    if path.suffix != ".json":
        return None
    from ..extract.saved import is_result, load_result

    return load_result(path) if is_result(path) else None


def write_outputs(
    out: list[Path], out_raw: list[Path], result: Extraction, best: bool
) -> tuple[list[Path], StacklensError | None]:
    """Write the automaton of ``result`` to all of ``out``, the one before minimisation to all of ``out_raw``.

    Without a faithful one nothing is written, or what came nearest if ``best``, which the file says. Return what was
    written, and what went wrong if something did.
    """
    pda, note, problem, written = result.minimised, None, None, list[Path]()
    if pda is None and best and result.best is not None:
        pda, note = result.best.automaton, f"NOT FAITHFUL, wrong of the network on {result.best.error_rate:.1%}"
    raw, groups = None if pda is None else result.raw, None if result.merged is None else result.merged.states
    targets = [(path, pda, "", None) for path in out] + [
        (path, raw, ", before minimisation", groups) for path in out_raw
    ]
    for path, one, which, merged in targets:
        if one is None:
            continue
        try:
            write_automaton(path, one, f"{result.title}{which}", note, merged)
            written.append(path)
        except StacklensError as error:  # what came out is shown all the same
            problem = error
    return written, problem
