"""Many networks at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklens.errors import StacklensError
from stacklens.progress import progress_bar

if TYPE_CHECKING:
    from stacklens.extract.evaluation.sweep import Sweep
    from stacklens.face.arguments import Network, Subject

__all__ = ["sweep"]


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

    from stacklens.extract.config import ExtractionConfig
    from stacklens.extract.evaluation.sweep import networks_named
    from stacklens.extract.evaluation.sweep import sweep as sweep_over

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
