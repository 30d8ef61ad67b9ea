"""Sun et al. 1993, section 4.3 (5): networks for palindromes, tested without the monitor that stops them in the trap.

The paper's network has four state neurons and moves its weights after every word; ours has three and moves them once
for a whole set. Neither was asked to stay in the trap, where its training ends; a third kind is.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from stacklens.papers.claims import Experiment, Finding, PaperClaim
from stacklens.papers.measures import members_of_length

if TYPE_CHECKING:
    import numpy as np

    from stacklens.models.base import StackModel
    from stacklens.models.training.recognition import Training

__all__ = ["palindromes_experiment", "without_monitor"]

_NAME = "sun1993-palindromes"

_RECIPES = {
    "palindrome word by word": (
        "four state neurons, an update a word, 400 epochs, as printed; exact gradients, rate 0.2"
    ),
    "palindrome as printed": "three state neurons, Adam, an update a set, its driving force, 400 epochs",
    "palindrome": "the same without the driving force, a third set of words",
    "palindrome with its trap": "the same, and a loss that keeps the network in the trap",
}
_LENGTH = 9


def palindromes_experiment(nets: int = 10, length: int = _LENGTH, epochs: int | None = None) -> Experiment:
    """Return what networks for palindromes get wrong, with the monitor and without, as they end.

    Args:
        nets: networks by each recipe, from the seeds 0, 1, ….
        length: they are tested on all words up to this length.
        epochs: stop the training after so many; None for the recipe's.
    """
    claims = tuple(
        PaperClaim(
            "4.3 (5)",
            f"{recipe} ({how}): errors on all words of length <= {length}",
            "one net, no trap monitor: 4 errors on 29,523 words (length <= 9)",
            partial(_errors_of, recipe, nets, length, epochs),
        )
        for recipe, how in _RECIPES.items()
    )
    title = f"section 4.3 (5), training {nets} networks for palindromes by the paper's settings and by ours"
    return Experiment(_NAME, "Sun, Giles, Chen & Lee 1993", title, claims, tuple(range(nets)))


def without_monitor(net: StackModel[Any], nets: int | None = None) -> StackModel[Any]:
    """Return the network judged at the end of the word only, as the paper tests its analog net (section 4.3 (5)).

    ``nets`` says how many networks ``net`` is; None for a single one.
    """
    import torch

    from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
    from stacklens.models.stacks.continuous import ContinuousStack

    class Unmonitored(NNPDA):
        def rejects(self, hidden: torch.Tensor, stack: ContinuousStack) -> torch.Tensor:
            del stack
            return torch.zeros(hidden.shape[:-1], dtype=torch.bool)

    bare = Unmonitored(NNPDAConfig(**net.config()), nets=nets)
    bare.load_state_dict(net.state_dict())
    return bare


def _errors_of(recipe: str, nets: int, length: int, epochs: int | None) -> Finding:
    """Return how many words each network gets wrong after its last epoch: no epoch is chosen by these words."""
    from stacklens.models.rounding import Rounded

    begun = time.process_time()
    training = _trained(recipe, nets, epochs)
    spent = time.process_time() - begun
    bare = without_monitor(training.net, nets)
    counted = {
        "without_monitor": _wrong(bare, training, length),
        "with_monitor": _wrong(training.net, training, length),
        "rounded_without_monitor": _wrong(Rounded(bare), training, length),
        "rounded_with_monitor": _wrong(Rounded(training.net), training, length),
    }
    shown = {name: f"{statistics.median(wrong):g} ({min(wrong)}–{max(wrong)})" for name, wrong in counted.items()}
    ours = (
        f"median (fewest–most) of {nets} nets: {shown['without_monitor']}, rounded {shown['rounded_without_monitor']}; "
        f"with the monitor {shown['with_monitor']}, rounded {shown['rounded_with_monitor']}; {training.epochs_done} "
        f"epochs, {spent / nets:.1f} CPU s a net"
    )
    return Finding(ours, {"nets": nets, "epochs": training.epochs_done, "length": length, **counted})


def _trained(recipe: str, nets: int, epochs: int | None) -> Training:
    import torch

    from stacklens.languages import get_language
    from stacklens.models.training.recognition import Training
    from stacklens.models.training.recognition_recipes import RECIPES

    torch.set_num_threads(1)
    training = Training(RECIPES[recipe], get_language("palindrome"), nets=nets)
    while training.epochs_done < min(training.total_epochs, epochs or training.total_epochs):
        training.epoch()
        training.clean_checks = 0  # to the last epoch, as in the paper
    return training


def _wrong(net: StackModel[Any], training: Training, length: int) -> list[int]:
    """Return how many of all words up to ``length`` each network gets wrong."""
    from stacklens.models.inference import verdicts_on_all

    wrong: list[np.ndarray] = []
    for size, verdicts in enumerate(verdicts_on_all(net, length)):
        members = members_of_length(training.language, training.language.alphabet, size)
        wrong.append((verdicts != members).sum(-1))
    counted: list[int] = sum(wrong[1:], wrong[0]).tolist()
    return counted
