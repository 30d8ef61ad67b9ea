"""`stacklens train`: train networks of one kind on a language, stop and resume, keep the best."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stacklens.errors import StacklensError
from stacklens.files import check_folder
from stacklens.shell import new_app, progress_bar

if TYPE_CHECKING:
    from stacklens.models.training import Training

__all__ = ["train_app"]

train_app = new_app("Train a network.")
_INTERRUPTED = 130


@train_app.callback()
def _models() -> None:
    """Train a network."""


@train_app.command("nnpda")
def train_nnpda(
    language: Annotated[str, typer.Option(help="What to learn: parentheses, 1n0n, anbn, palindrome, dyck-N.")],
    out: Annotated[Path | None, typer.Option(help="Where to write the best network.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first network.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="How many networks to train side by side.")] = 10,
    order: Annotated[str | None, typer.Option(help="second, third or full; the recipe's by default.")] = None,
    neurons: Annotated[int | None, typer.Option(min=1, help="State neurons; the recipe's by default.")] = None,
    hints: Annotated[bool, typer.Option(help="Use the recipe's hints (1n0n can do without).")] = True,
    resume: Annotated[Path | None, typer.Option(help="Go on with the training in this checkpoint.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> int:
    """Train the NNPDA of Sun et al. 1993 by the recipe for a language.

    Ctrl-C stops at the end of an epoch and leaves a checkpoint that can be extracted from and resumed.
    """
    from stacklens.languages import get_language

    target = out or resume or Path(f"nnpda-{language}.pt")
    check_folder(target)
    training = _prepare(get_language(language), seed, seeds, order, neurons, hints)
    if resume is not None:
        _resume(training, resume)
    _run(training, quiet)
    stopped = not training.done
    # taken before the extra check, of which an uninterrupted training knows nothing
    state = training.state() if stopped else None
    if stopped:
        training.check()
    _save(training, target, state)
    _summarise(training, target, stopped)
    return _INTERRUPTED if stopped else 0


def _prepare(language: Any, seed: int, seeds: int, order: str | None, neurons: int | None, hints: bool) -> Training:
    import dataclasses

    import torch

    from stacklens.models.recipes import RECIPES, recipe_for
    from stacklens.models.training import Training

    torch.set_num_threads(1)  # the arrays are small: more threads only wait for each other
    recipe = recipe_for(language)
    if not hints:
        name = f"{language.name} without hints"
        if name not in RECIPES:
            raise StacklensError(f"there is no recipe without hints for {language.name}; only for 1n0n")
        recipe = RECIPES[name]
    changes = {"order": order, "n_states": neurons}
    shape = {**recipe.shape, **{key: value for key, value in changes.items() if value is not None}}
    return Training(dataclasses.replace(recipe, shape=shape), language, seed=seed, nets=seeds)


def _resume(training: Training, path: Path) -> None:
    from stacklens.models.checkpoint import load_checkpoint

    checkpoint = load_checkpoint(path)
    if checkpoint.training is None:
        raise StacklensError(f"{path}: this training is over; there is nothing to resume")
    try:
        training.restore(checkpoint.training)
    except StacklensError as error:
        raise StacklensError(f"{path}: {error}") from None


def _run(training: Training, quiet: bool) -> None:
    """Train until done or interrupted."""
    wanted: list[int] = []
    previous = signal.signal(signal.SIGINT, lambda number, _: wanted.append(number))
    try:
        with progress_bar(quiet) as bar:
            task = bar.add_task("training", total=training.total_epochs, completed=training.epochs_done)
            while not training.done and not wanted:
                training.epoch()
                exact = sum(score.rounded_errors == 0 for score in training.best)
                description = f"training: {exact} of {training.n_nets} networks exact when rounded"
                bar.update(task, completed=training.epochs_done, description=description)
    finally:
        signal.signal(signal.SIGINT, previous)


def _save(training: Training, path: Path, state: dict[str, Any] | None) -> None:
    from stacklens.models.checkpoint import Checkpoint, save_model

    best = min(training.best)
    provenance = {
        "command": shlex.join(["stacklens", *sys.argv[1:]]),
        "recipe": training.recipe.source,
        "seed": training.seed + training.best.index(best),
        "seeds_trained": training.n_nets,
        "epochs": training.epochs_done,
        "scores": {
            "checked_words": f"all of length <= {training.recipe.check_length}",
            "errors": best.analog_errors,
            "errors_rounded": best.rounded_errors,
            "loss": best.loss,
        },
    }
    task = {"kind": "recognition", "language": training.language.name}
    save_model(path, Checkpoint(training.network(), task, provenance, state))


def _summarise(training: Training, path: Path, stopped: bool) -> None:
    exact = sum(score.analog_errors == 0 for score in training.best)
    rounded = sum(score.rounded_errors == 0 for score in training.best)
    words = f"all words of length <= {training.recipe.check_length}"
    typer.echo(
        f"{training.n_nets} networks, {training.epochs_done} epochs; right on {words}: {exact}, rounded {rounded}"
    )
    if stopped:
        typer.echo(f"stopped; {path} holds the best network so far; go on with --resume {path}")
    else:
        typer.echo(f"wrote the best (seed {training.seed + training.best.index(min(training.best))}) to {path}")
