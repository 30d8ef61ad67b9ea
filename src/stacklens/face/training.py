"""Train networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stacklens.errors import StacklensError
from stacklens.progress import progress_bar
from stacklens.seeds import check_seed

if TYPE_CHECKING:
    from stacklens.languages.language import Language
    from stacklens.languages.tasks.task import Task
    from stacklens.models.base import StackModel

__all__ = ["train"]


def train(
    model: str, language: str | Language | Task, *, seeds: int = 5, seed: int = 0, quiet: bool = False, **options: Any
) -> StackModel[Any]:
    """Return the best of some networks that are trained side by side by the recipe for a language or task.

    Args:
        model: the kind of network, such as ``"marnn-stack-rnn"``.
        language: a language for the NNPDA, a task for others, or the name of one.
        seeds: how many networks.
        seed: of the first.
        quiet: show no progress, which is shown on a terminal and in a notebook only.
        options: choices in place of the recipe's, as of `stacklens train`: ``hidden=…``, ``noise_robust=True``.

    Raises:
        StacklensError: there is no such model, language, task or option, or the model cannot learn that.
    """
    from stacklens.models.device import one_thread
    from stacklens.models.origin import Origin
    from stacklens.models.training.factory import make_trainer

    check_seed(seed)
    if not isinstance(seeds, int) or seeds < 1:
        raise StacklensError(f"seeds is how many networks are trained, at least 1, not {seeds!r:.50}")
    with one_thread(), progress_bar(quiet) as bar:
        trainer = make_trainer(model, language, seed, seeds, options)
        task = bar.add_task("training", total=trainer.total_epochs)
        while not trainer.done:
            trainer.epoch()
            bar.update(task, completed=trainer.epochs_done, description=f"training: {trainer.progress()}")
        network = trainer.network()
    chosen = "".join(f", {name}={value!r}" for name, value in options.items())
    provenance = trainer.provenance(f"sl.train({model!r}, {trainer.subject!r}, seeds={seeds}, seed={seed}{chosen})")
    learned = {"kind": trainer.kind, "language": trainer.subject}
    network.origin = Origin(f"{model}-{trainer.subject}", task=learned, provenance=provenance)
    return network
