"""Train networks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import StacklensError
from ..core.progress import progress_bar
from ..core.validation import check_seed
from .opening import called

if TYPE_CHECKING:
    from ..extract.evaluation.sweep import Sweep
    from ..languages.language import Language
    from ..languages.task import Task
    from ..models.base import StackModel
    from ..models.training.snapshots import Snapshots
    from .opening import Network, Subject


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
    from ..languages.language import Language
    from ..languages.task import Task
    from ..models.base import Origin
    from ..models.numbers import one_thread
    from ..models.training.factory import make_trainer

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
    from ..models.training.snapshots import Snapshots

    Snapshots.check_folder(Path(folder))
    return Snapshots(most)


# ---- Many networks at once ----


def sweep(
    networks: Network | Sequence[Network],
    language: Subject | None = None,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    journal: str | Path | None = None,
    quiet: bool = False,
    **settings: Any,
) -> Sweep:
    """Return what comes out of many networks, a row each: automaton, proof, certificate, horizons, accuracy by length.

    What cannot be read, or fails, is a row with the reason. ``to_frame()`` is the table, ``plot()`` the figure,
    ``save("sweep.csv")`` writes either. Over the snapshots of a training (``sl.train(…, snapshots=50, folder="runs")``)
    it shows when the automaton appears and settles: see ``settling``.

    Args:
        networks: networks, files, folders, or patterns such as ``"runs/*.pt"``.
        language: what all of them should do, as for `extract`; by default what the file of each says.
        jobs: processes.
        scheduler: the address of a Dask scheduler, ``tcp://host:8786``, whose workers do it instead.
        journal: a file that keeps finished rows until all are there; a sweep that was killed goes on from it.
        quiet: show no progress, which is shown on a terminal and in a notebook only.
        settings: those of `extract`, such as ``budget=10``, the seconds of processor time for each search.

    Raises:
        StacklensError: nothing matches, there is no such language or setting, or the journal is that of another sweep.

    >>> swept = sweep(["nnpda-palindrome", "no-such-file.pt"], max_length=6, long_words=100, cycles=0)
    >>> [(row.network, row.status, row.proof) for row in swept.rows]
    [('nnpda-palindrome', 0, 'equal'), ('no-such-file.pt', 2, None)]
    """
    import dataclasses

    from ..extract.config import ExtractionConfig
    from ..extract.evaluation.sweep import networks_named
    from ..extract.evaluation.sweep import sweep as sweep_over

    known = [field.name for field in dataclasses.fields(ExtractionConfig)]
    if strange := [name for name in settings if name not in known]:
        raise StacklensError(f"sweep has no setting {', '.join(strange)}; it has {', '.join(known)}")
    given, place = networks_named(networks), None if journal is None else Path(journal)
    with progress_bar(quiet) as bar:
        task = bar.add_task("sweep", total=len(given))
        swept = sweep_over(
            given,
            language,
            ExtractionConfig(**settings),
            jobs=jobs,
            scheduler=scheduler,
            journal=place,
            progress=lambda row: bar.update(task, advance=1, description=row.network),
        )
    if place is not None:
        place.unlink(missing_ok=True)
    return swept
