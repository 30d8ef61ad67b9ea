"""`stacklens train`: train networks of one kind on a language, stop and resume, keep the best.

`stacklens repair` and `stacklens harden`: from a network that learned to one that is right.
"""

from __future__ import annotations

import inspect
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import LARGEST_SEED, StacklensError, in_file
from ..core.files import check_ending, check_folder, check_outputs, write_json
from ..core.progress import count, progress_bar, stages_on
from ..extract.config import parse_budget
from ..models.training import OPTIONS, SYNONYMS, make_trainer
from .shell import INTERRUPTED, Language, Model, Quiet, Report, Seed, new_app

if TYPE_CHECKING:
    from ..extract.result import Extraction
    from ..models.base import StackModel
    from ..models.training.loop import Trainer


train_app = new_app("Train a network.")
_SUFFIXES = (".pt", ".pth")  # of torch's files
_MOST_SNAPSHOTS = 1_000
_SNAPSHOTS = "Keep up to this many checkpoints of the best network along the way, in a folder called OUT.snapshots."
_MOST_WEIGHTS = 1 << 28  # side by side: with gradients and moments, 8 GB


_COUNTING = "anbn, anb2n, anbncn, anbncndn, anbmcnm, memorization, addition."
_NESTING = "dyck-N, homomorphic-palindrome, simple-palindrome, string-reversal."
_TRANSDUCING = "dyck-N, reversal, xor, delayed-xor, string-reversal, agreement, …"
_HAO = "reversal, xor, delayed-xor, string-reversal, parenthesis-prediction, boolean-formula, agreement."
_MODELS = {  # of each what it is, and what it can learn
    "nnpda": ("the NNPDA of Sun et al. 1993", "parentheses, 1n0n, anbn, palindrome, dyck-N."),
    "stack-rnn": ("the Stack RNN of Joulin & Mikolov 2015", _COUNTING),
    "list-rnn": ("the List RNN of Joulin & Mikolov 2015", _COUNTING),
    "marnn-stack-rnn": ("the Stack-RNN of Suzgun et al. 2019", _NESTING),
    "marnn-stack-lstm": ("the Stack-LSTM of Suzgun et al. 2019", _NESTING),
    "marnn-joulin": ("the Stack RNN of Joulin & Mikolov 2015 as Suzgun et al. 2019 have it", _NESTING),
    "baby-ntm": ("the Baby-NTM of Suzgun et al. 2019", _NESTING),
    "neural-stack": ("the Neural Stack of Hao et al. 2018", _HAO),
    "scrn": ("the structurally constrained RNN of Mikolov et al. 2014, without a stack", _COUNTING),
    "rnn": ("a tanh RNN without a stack", _TRANSDUCING),
    "lstm": ("an LSTM without a stack", _TRANSDUCING),
    "linear": ("a linear layer without a stack", _TRANSDUCING),
}
_SEEDS = {"nnpda": 10}  # networks side by side, where not 5

# option: its type, what it is, "the recipe's by default", and the most that makes sense and fits in memory
_CHOICES: dict[str, tuple[Any, str, int | None]] = {
    "order": (str, "second, third or full", None),
    "neurons": (int, "State neurons", 64),
    "controller": (str, "linear, rnn or lstm", None),
    "buffered": (bool, "Buffers for input and output, so that the network chooses when to read and write", None),
    "hidden": (int, "Hidden units", 2_048),
    "context": (int, "Units that change slowly", 2_048),
    "layers": (int, "Layers, 1 or 2", 2),
    "cell_size": (int, "How many numbers a cell of the stack holds", 1_024),
    "stacks": (int, "How many stacks or lists", 64),
    "depth": (int, "How many cells of each stack the network sees", 64),
    "no_op": (bool, "A third operation, which leaves the stack as it is", None),
    "recurrent": (bool, "Whether the hidden layer sees the one before", None),
    "gating": (str, "softmax, softmax-temperature or gumbel-softmax", None),
    "epochs": (int, "Epochs at most", 1_000_000),
    "noise_robust": (bool, "Disturb the network in the end, so that boxes can prove what it does", None),
}


def _parameter(name: str, kind: Any, option: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


_OWN = {  # options whose default is no recipe's
    "hints": _parameter("hints", bool, typer.Option(help="Use the recipe's hints (1n0n can do without)."), True),
    "device": _parameter("device", str, typer.Option(help="Where to train: cpu, cuda, cuda:1, …"), "cpu"),
}


def _add_command(model: str) -> None:
    """Add `stacklens train MODEL`, whose options are those of `OPTIONS`."""
    learned = typer.Option(help=f"What to learn: {_MODELS[model][1]}")
    seeds = typer.Option(min=1, max=1_000, help="How many networks to train side by side.")
    parameters = [
        _parameter("language", str, learned, inspect.Parameter.empty),
        _parameter("out", Path | None, typer.Option(help="Where to write the best network."), None),
        _parameter("seed", int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the first network."), 0),
        _parameter("seeds", int, seeds, _SEEDS.get(model, 5)),
        _parameter("resume", Path | None, typer.Option(help="Go on with the training in this checkpoint."), None),
        _parameter("snapshots", int | None, typer.Option(min=2, max=_MOST_SNAPSHOTS, help=_SNAPSHOTS), None),
        _parameter("quiet", bool, typer.Option("--quiet", help="No progress."), False),
    ]
    for option in OPTIONS[model]:
        if option in _OWN:
            parameters.append(_OWN[option])
        else:
            kind, what, most = _CHOICES[option]
            about = typer.Option(min=1 if kind is int else None, max=most, help=f"{what}; the recipe's by default.")
            parameters.append(_parameter(option, kind | None, about, None))
    synonyms = [name for name, option in SYNONYMS.items() if option in OPTIONS[model]]
    parameters += [_parameter(name, bool | None, typer.Option(hidden=True), None) for name in synonyms]

    def command(**given: Any) -> int:
        return _train_command(model, **given)

    about = f"Train {_MODELS[model][0]} by the recipe for a language."
    stopping = "Ctrl-C stops at the end of an epoch and leaves a checkpoint that can be extracted from and resumed."
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    train_app.command(model, help=f"{about}\n\n{stopping}", short_help=f"Train {_MODELS[model][0]}.")(command)


for _model in OPTIONS:
    _add_command(_model)


_LEARNS = {  # what is made of a language, as files hold them
    "recognition": "a recogniser's task: {model} learns which words are in {name}",
    "next set": "a predictor's task: {model} learns what may come next in words of {name} (nnpda would recognise them)",
}


def _train_command(
    model: str,
    language: str,
    out: Path | None,
    seed: int,
    seeds: int,
    resume: Path | None,
    snapshots: int | None,
    quiet: bool,
    **options: Any,
) -> int:
    target = out or resume or Path(f"{model}-{language}.pt")
    check_folder(target)
    check_ending(out, _SUFFIXES)
    units = options.get("hidden") or 0
    weights = 4 * units**2 * (options.get("layers") or 1)  # an LSTM's, which has most
    if seeds * weights > _MOST_WEIGHTS:
        fewer = max(1, _MOST_WEIGHTS // weights)
        raise StacklensError(f"{seeds:,} networks of {units:,} hidden units are too many; ask for --seeds {fewer:,}")
    from ..models.base import Checkpoint
    from ..models.checkpoint import load_checkpoint, save_model
    from ..models.training.snapshots import Snapshots

    trainer = make_trainer(model, language, seed, seeds, options)
    begun = None
    if resume is not None:
        begun = load_checkpoint(resume).training
        if begun is None:
            raise StacklensError(f"{resume}: this training is over; there is nothing to resume")
        with in_file(resume):
            trainer.restore(begun)
    # a training that is resumed goes on keeping what it kept
    state = None if begun is None else begun.get("snapshots")
    kept = Snapshots.restored(state, snapshots) if state is not None else snapshots and Snapshots(snapshots)
    folder = target.with_suffix(".snapshots")
    if kept:
        kept.check_folder(folder)
        kept.watch(trainer)
    if not quiet:
        learns = _LEARNS.get(trainer.kind, "a {kind} task: {model} learns {name}")
        typer.echo(learns.format(kind=trainer.kind, model=model, name=trainer.subject))
    _run_trainer(trainer, quiet)
    stopped = not trainer.done
    # taken before the extra check, of which an uninterrupted training knows nothing
    state = None
    if stopped:
        state = {**trainer.state(), **({"snapshots": kept.state()} if kept else {})}
        trainer.check()
    provenance = trainer.provenance(shlex.join(["stacklens", *sys.argv[1:]]))
    save_model(target, Checkpoint(trainer.network(), trainer.learned, provenance, state))
    typer.echo(trainer.summary())
    if stopped:
        typer.echo(f"stopped; {target} holds the best network so far; go on with --resume {target}")
    else:
        typer.echo(f"wrote the best (seed {trainer.seed + trainer.best_number}) to {target}")
    if kept:
        kept.end(trainer)
        written = kept.save(trainer, folder, shlex.join(["stacklens", *sys.argv[1:]]))
        typer.echo(f"wrote {count(len(written), 'snapshot')} of it to {folder}")
    return INTERRUPTED if stopped else 0


def _run_trainer(trainer: Trainer, quiet: bool) -> None:
    wanted: list[int] = []
    previous = signal.signal(signal.SIGINT, lambda number, _: wanted.append(number))
    try:
        with progress_bar(quiet) as bar:
            task = bar.add_task("training", total=trainer.total_epochs, completed=trainer.epochs_done)
            while not trainer.done and not wanted:
                trainer.epoch()
                bar.update(task, completed=trainer.epochs_done, description=f"training: {trainer.progress()}")
    finally:
        signal.signal(signal.SIGINT, previous)


# ---- `stacklens repair` and `stacklens harden`: from a network that learned to one that is right ----

_Out = Annotated[Path | None, typer.Option(help="Where to write the network; by default beside this name, in a .pt.")]


def repair_command(
    model: Model,
    language: Language = None,
    out: _Out = None,
    seconds: Annotated[str, typer.Option(help="Processor time, such as 60s or 5m.")] = "2m",
    seed: Seed = 0,
    report: Report = None,
    quiet: Quiet = False,
) -> int:
    """Train a network further on what breaks it until a certificate holds for words of every length; harden it.

    OUT is written after every round that made the network better, and at the end; repairing OUT goes on from there.

    Exit status: 0 certified, and nothing contradicts it; 1 not, and what is left; 2 bad input.
    """
    from ..extract.by_name import specification_of
    from ..extract.repair import repair
    from ..models.checkpoint import load_network

    path, out = _targets(model, out, report, "repaired")
    budget = parse_budget(seconds)
    if budget is None:
        raise StacklensError("--seconds is a time such as 60s or 5m, not none: a repair may go on for ever")
    checkpoint = load_network(path)
    with progress_bar(quiet) as bar:
        done = repair(
            checkpoint.model,
            specification_of(checkpoint, language),
            seconds=budget,
            seed=seed,
            progress=stages_on(bar),
            on_round=lambda one, best: one.kept and _save(best, out),
        )
    written = _save(done.model, out, done.after)
    if report is not None:
        write_json(report, done.to_dict())
    if not quiet:
        wrote = "wrote" if done.model is not checkpoint.model else "wrote the network as it came in to"
        typer.echo(f"{done}\n{wrote} {written}")
    return done.status


def harden_command(
    model: Model, language: Language = None, out: _Out = None, report: Report = None, quiet: Quiet = False
) -> int:
    """Scale what decides a network's actions until each is exactly 0 or 1, so that it is its own rounded form.

    Exit status: 0 certified as itself for words of every length; 1 its actions are whole, but that is not proved of
    every length; 2 bad input, or actions that cannot be made whole.
    """
    from ..extract.by_name import specification_of
    from ..extract.extraction import extract
    from ..extract.repair import harden
    from ..models.checkpoint import load_network

    path, out = _targets(model, out, report, "hardened")
    checkpoint = load_network(path)
    specification = specification_of(checkpoint, language)
    with progress_bar(quiet) as bar:
        before = extract(checkpoint.model, specification, progress=stages_on(bar))
        done = harden(before)
        after = extract(done.model, specification, progress=stages_on(bar))
    written = _save(done.model, out, after)
    if report is not None:
        write_json(report, {"before": before.headline, "after": after.headline, "hardened": done.to_dict()})
    if not quiet:
        typer.echo(f"before   {before.headline}\nafter    {after.headline}\nactions  {done}\nwrote {written}")
    return 0 if getattr(after.certificate.certificate, "itself", False) else 1


def _targets(model: Path, out: Path | None, report: Path | None, made: str) -> tuple[Path, Path]:
    """Return where the network is and where the new one goes, after a check that files can be written there."""
    from ..models.checkpoint import find_network
    from ..models.formats.mapping import is_mapping

    path = find_network(model)
    out = out or Path(f"{model.stem if model.suffix else model.name}-{made}.pt")
    check_ending(out, _SUFFIXES)
    check_ending(report, [".json"])
    beside = out.with_suffix(".json") if is_mapping(path) else None
    check_outputs([out, beside, report], {"the network's own file": path})
    return path, out


def _save(network: StackModel[Any], out: Path, found: Extraction | None = None) -> str:
    """Return the files to which the network was written: one of ours, or those of somebody else's weights."""
    from ..models.checkpoint import made_by, save_model
    from ..models.formats.mapping import save_module

    if network.unsaved is not None:
        return " and ".join(map(str, save_module(network, out)))
    proved = found is not None and not found.status and bool(getattr(found.certificate.certificate, "itself", False))
    save_model(out, made_by(network, shlex.join(["stacklens", *sys.argv[1:]]), proved))
    return str(out)
