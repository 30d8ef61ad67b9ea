"""Train networks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklens.errors import StacklensError
from stacklens.face.arguments import called
from stacklens.progress import progress_bar
from stacklens.seeds import check_seed

if TYPE_CHECKING:
    from stacklens.languages.language import Language
    from stacklens.languages.tasks.task import Task
    from stacklens.models.base import StackModel
    from stacklens.models.training.snapshots import Snapshots

__all__ = ["train"]


def train(
    model: str,
    language: str | Language | Task,
    *,
    seeds: int = 5,
    seed: int = 0,
    snapshots: int | None = None,
    folder: str | Path | None = None,
    quiet: bool = False,
    **options: Any,
) -> StackModel[Any]:
    """Return the best of some networks that are trained side by side by the recipe for a language or task.

    Args:
        model: the kind of network, such as ``"marnn-stack-rnn"``.
        language: a language for the NNPDA, a task for others, or the name of one.
        seeds: how many networks.
        seed: of the first.
        snapshots, folder: keep up to this many checkpoints of the best network along the way, in this folder, for
            `sl.sweep`, which tells when in training the automaton appears.
        quiet: show no progress, which is shown on a terminal and in a notebook only.
        options: choices in place of the recipe's, as of `stacklens train`: ``hidden=…``, ``noise_robust=True``.

    Raises:
        StacklensError: there is no such model, language, task or option, or the model cannot learn that.
    """
    from stacklens.languages.language import Language
    from stacklens.languages.tasks.task import Task
    from stacklens.models.base import Origin
    from stacklens.models.device import one_thread
    from stacklens.models.training.factory import make_trainer

    check_seed(seed)
    if not isinstance(model, str):
        raise StacklensError(f"expected the name of a kind of network, such as 'marnn-stack-rnn', not {called(model)}")
    if not isinstance(language, str | Language | Task):
        raise StacklensError(f"expected a language or a task, or the name of one, not {called(language)}")
    if not isinstance(seeds, int) or seeds < 1:
        raise StacklensError(f"seeds is how many networks are trained, at least 1, not {seeds!r:.50}")
    kept = _snapshots(snapshots, folder)
    with one_thread(), progress_bar(quiet) as bar:
        trainer = make_trainer(model, language, seed, seeds, options)
        task = bar.add_task("training", total=trainer.total_epochs)
        if kept is not None:
            kept.watch(trainer)
        while not trainer.done:
            trainer.epoch()
            bar.update(task, completed=trainer.epochs_done, description=f"training: {trainer.progress()}")
        network = trainer.network()
    chosen = "".join(f", {name}={value!r}" for name, value in options.items())
    command = f"sl.train({model!r}, {trainer.subject!r}, seeds={seeds}, seed={seed}{chosen})"
    provenance = trainer.provenance(command)
    if kept is not None and folder is not None:
        kept.end(trainer)
        kept.save(trainer, Path(folder), command)
    network.origin = Origin(f"{model}-{trainer.subject}", task=trainer.learned, provenance=provenance)
    return network


def _snapshots(most: int | None, folder: str | Path | None) -> Snapshots | None:
    """Return what is kept along a training, None where nothing is.

    Raises:
        StacklensError: a number without a folder, or the other way round, or too few.
    """
    if most is None and folder is None:
        return None
    if most is None or folder is None:
        raise StacklensError("snapshots and folder belong together: how many, and where; such as 50 and 'runs'")
    if not isinstance(most, int) or isinstance(most, bool):
        raise StacklensError(f"snapshots is how many checkpoints are kept, a whole number, not {most!r:.50}")
    from stacklens.models.training.snapshots import Snapshots

    Snapshots.check_folder(Path(folder))
    return Snapshots(most)
