"""Sun et al. 1993, section 4.3 (5): networks for palindromes, tested without the monitor that stops them in the trap.

The paper's network has four state neurons and moves its weights after every word; ours has three and moves them once
for a whole set. Neither was asked to stay in the trap, where its training ends; a third kind is.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

from .measures import BEYOND, exact_beyond, members_of_length
from .results import Experiment, Finding, declared_experiment

if TYPE_CHECKING:
    from torch import Tensor

    from ..models.base import StackModel
    from ..models.training.recognition import Training


@dataclass(frozen=True)
class PalindromeSizes:
    """How much is measured.

    Attributes:
        nets: networks by each recipe, from the seeds 0, 1, ….
        length: they are tested on all words up to this length.
        epochs: stop the training after so many; None for the recipe's.
    """

    nets: int = 10
    length: int = 9
    epochs: int | None = None


def palindromes_experiment(sizes: PalindromeSizes | None = None) -> Experiment:
    """Return what networks for palindromes get wrong, with the monitor and without, as they end."""
    sizes = sizes or PalindromeSizes()
    return declared_experiment("sun1993-palindromes", sys.modules[__name__], sizes, tuple(range(sizes.nets)))


def without_monitor(net: StackModel[Any], nets: int | None = None) -> StackModel[Any]:
    """Return the network judged at the end of the word only, as the paper tests its analog net (section 4.3 (5)).

    ``nets`` says how many networks ``net`` is; None for a single one.
    """
    import torch

    from ..models.networks.nnpda import NNPDA, NNPDAConfig
    from ..models.stacks.continuous import ContinuousStack

    class Unmonitored(NNPDA):
        def rejects(self, hidden: torch.Tensor, stack: ContinuousStack) -> torch.Tensor:
            del stack
            return torch.zeros(hidden.shape[:-1], dtype=torch.bool)

    bare = Unmonitored(NNPDAConfig(**net.config()), nets=nets)
    bare.load_state_dict(net.state_dict())
    return bare


def errors_of(recipe: str, sizes: PalindromeSizes) -> Finding:
    """Return how many words each network gets wrong after its last epoch: no epoch is chosen by these words."""
    import torch

    from ..languages.catalogue import get_language
    from ..models.inference import verdicts_on_all
    from ..models.rounding import Rounded
    from ..models.training.recipes import RECIPES
    from ..models.training.recognition import Training

    torch.set_num_threads(1)
    begun, nets, length = time.process_time(), sizes.nets, sizes.length
    language = get_language("palindrome")
    training = Training(RECIPES[recipe], language, nets=nets)
    while training.epochs_done < min(training.total_epochs, sizes.epochs or training.total_epochs):
        training.epoch()
        training.clean_checks = 0  # to the last epoch, as in the paper
    spent = time.process_time() - begun
    members = [members_of_length(language, language.alphabet, size) for size in range(length + 1)]

    def wrong(net: StackModel[Any]) -> list[int]:
        """Return how many of all words up to ``length`` each network gets wrong."""
        each = zip(verdicts_on_all(net, length), members, strict=True)
        counted: list[int] = sum((verdicts != right).sum(-1) for verdicts, right in each).tolist()
        return counted

    bare = without_monitor(training.net, nets)
    counted = {
        "without_monitor": wrong(bare),
        "with_monitor": wrong(training.net),
        "rounded_without_monitor": wrong(Rounded(bare)),
        "rounded_with_monitor": wrong(Rounded(training.net)),
    }
    shown = {name: f"{statistics.median(each):g} ({min(each)}–{max(each)})" for name, each in counted.items()}
    ours = (
        f"median (fewest–most) of {nets} nets: {shown['without_monitor']}, rounded {shown['rounded_without_monitor']}; "
        f"with the monitor {shown['with_monitor']}, rounded {shown['rounded_with_monitor']}; {training.epochs_done} "
        f"epochs, {spent / nets:.1f} CPU s a net"
    )
    return Finding(ours, {"nets": nets, "epochs": training.epochs_done, "length": length, **counted})


# ---- Sun et al. 1993: exact gradients against the paper's own, real-time recurrent learning with an approximate
# stack.
#
# Sections 3.5 and 4, appendices A and B. Of the stack's derivative the paper keeps what the last action does to the
# reading (eq. 20), "valid when the action values are close to their saturation values", or on short strings. How far
# off that is, and what it does to learning, is measured on the three languages, all else being equal.

Gradient = Literal["exact", "rtrl", "local"]

_WATCHED_EVERY = 10  # epochs between two looks at the training words
_SEED = 0


@dataclass(frozen=True)
class _Lesson:
    """What is learned by either gradient.

    Attributes:
        recipe: a name in `recognition_recipes.RECIPES`.
        gradient: how its gradient is computed here: "rtrl" carries it forward as the paper does, "local" comes to the
            same by going back, which costs less.
        objective: in place of the recipe's; None for that.
    """

    recipe: str
    gradient: Gradient
    objective: str | None = None


_PRINTED = "palindrome as printed"
_LESSONS = {
    "parentheses": _Lesson("parentheses", "rtrl"),
    "1n0n": _Lesson("1n0n", "local"),
    _PRINTED: _Lesson(_PRINTED, "local"),
    "palindrome without the driving force": _Lesson(_PRINTED, "local", "prefix"),
}


@dataclass(frozen=True)
class RtrlSizes:
    """How much is measured.

    Attributes:
        nets: networks for each recipe and gradient, from the seeds 0, 1, ….
        epochs: stop the training after so many; None for the recipe's.
    """

    nets: int = 10
    epochs: int | None = None


def rtrl_experiment(sizes: RtrlSizes | None = None) -> Experiment:
    """Return what the paper's gradients come to beside exact ones."""
    sizes = sizes or RtrlSizes()
    return declared_experiment("sun1993-rtrl", sys.modules[__name__], sizes, tuple(range(sizes.nets)))


@dataclass(frozen=True)
class _Learned:
    """How the networks of one training came out.

    ``first`` are the networks as they were before. ``after`` has the epochs after which each network had all training
    words right for the first time, None for never.
    """

    training: Training
    first: Training
    after: tuple[int | None, ...]
    seconds: float

    @cached_property
    def figures(self) -> dict[str, Any]:
        """Return how many are right on all words of the recipe's check and on longer ones, as they are and rounded."""
        beyond = exact_beyond(self.training)  # on words by which no epoch was chosen
        return {
            "analog_exact": sum(score.analog_errors == 0 for score in self.training.best),
            "rounded_exact": sum(score.rounded_errors == 0 for score in self.training.best),
            "analog_exact_beyond": beyond[0],
            "rounded_exact_beyond": beyond[1],
            "learned_after": list(self.after),
            "epochs": self.training.epochs_done,
            "seconds": round(self.seconds, 1),
        }

    def __str__(self) -> str:
        needed = [epochs for epochs in self.after if epochs is not None]
        learned = f"{len(needed)} learn their words"
        if needed:
            learned += f", after {statistics.median(needed):.0f} epochs ({min(needed)}–{max(needed)})"
        exact, rounded, *beyond = list(self.figures.values())[:4]
        return (
            f"{learned}; exact: {exact} analog, {rounded} rounded; on words <= {BEYOND} longer {beyond[0]} and "
            f"{beyond[1]}"
        )


def _untrained(lesson: _Lesson, gradient: Gradient, sizes: RtrlSizes) -> Training:
    from ..languages.catalogue import get_language
    from ..models.training.recipes import RECIPES
    from ..models.training.recognition import Training

    recipe = replace(RECIPES[lesson.recipe], gradient=gradient)
    recipe = replace(recipe, objective=lesson.objective or recipe.objective)
    return Training(recipe, get_language(lesson.recipe.split()[0]), seed=_SEED, nets=sizes.nets)


@cache
def _trained_online(lesson: _Lesson, gradient: Gradient, sizes: RtrlSizes) -> _Learned:
    import torch

    from ..models.inference import verdicts_on

    torch.set_num_threads(1)
    begun = time.process_time()
    training = _untrained(lesson, gradient, sizes)
    words = training.recipe.stages[-1].word_list(training.language, _SEED)
    members = [word in training.language for word in words]
    after: list[int | None] = [None] * sizes.nets
    while not training.done and training.epochs_done != sizes.epochs:
        training.epoch()
        if training.epochs_done % _WATCHED_EVERY == 0:
            right = (verdicts_on(training.net, words) == members).all(-1)
            after = [
                training.epochs_done if was is None and now else was for was, now in zip(after, right, strict=True)
            ]
    training.check()
    return _Learned(training, _untrained(lesson, gradient, sizes), tuple(after), time.process_time() - begun)


def learn(what: str, sizes: RtrlSizes) -> Finding:
    """Return how learning goes by either gradient."""
    lesson = _LESSONS[what]
    exact, ours = (_trained_online(lesson, gradient, sizes) for gradient in ("exact", lesson.gradient))
    length = exact.training.recipe.check_length
    chosen = f"exact on words <= {length}, by which the epoch is chosen"
    shown = f"of {sizes.nets} nets, {chosen}. Exact gradients: {exact}. RTRL: {ours}"
    return Finding(shown, {"nets": sizes.nets, "check_length": length, "exact": exact.figures, "rtrl": ours.figures})


def _gradient(training: Training, kind: Gradient, sizes: RtrlSizes) -> Tensor:
    """Return the gradient of each network of ``training`` as it is now, (nets, weights)."""
    import torch

    from ..models.training.recognition import KINDS, OBJECTIVES

    net: Any = KINDS[kind](training.net.shape, nets=sizes.nets)
    net.load_state_dict(training.net.state_dict())
    net.zero_grad()
    OBJECTIVES[training.recipe.objective](net, training.word_set, training.weights).sum().backward()  # type: ignore[no-untyped-call]
    parts = [torch.zeros_like(value) if value.grad is None else value.grad for value in net.parameters()]
    return torch.cat([part.flatten(1) for part in parts], 1)


def two_ways(sizes: RtrlSizes) -> Finding:
    """Return how far the gradient carried forward is from the one that goes back, on all training sets."""
    worst = 0.0
    for lesson in _LESSONS.values():
        training = _untrained(lesson, "exact", sizes)
        forward, back = (_gradient(training, kind, sizes) for kind in ("rtrl", "local"))
        worst = max(worst, float(((forward - back).norm(dim=1) / back.norm(dim=1)).max()))
    return Finding(f"{worst:.0e} of its length", {"nets": sizes.nets, "largest_relative_difference": worst})


def nearness(what: str, sizes: RtrlSizes) -> Finding:
    """Return the angle between the paper's gradient and the exact one, and how different they are."""
    lesson = _LESSONS[what]
    learned = _trained_online(lesson, lesson.gradient, sizes)
    stages = {"before": learned.first, "after": learned.training}
    figures, shown = dict[str, Any](), []
    for stage, training in stages.items():
        ours, exact = (_gradient(training, way, sizes) for way in ("local", "exact"))
        cosines = (ours * exact).sum(1) / (ours.norm(dim=1) * exact.norm(dim=1)).clamp(min=1e-300)
        off = (ours - exact).norm(dim=1) / exact.norm(dim=1).clamp(min=1e-300)
        figures[stage] = {"cosines": cosines.tolist(), "relative_differences": off.tolist()}
        spreads = [
            f"{statistics.median(values.tolist()):.2f} ({values.min():.2f}–{values.max():.2f})"
            for values in (cosines, off)
        ]
        shown.append(f"{stage}: cosine {spreads[0]}, off by {spreads[1]} of its length")
    return Finding("; ".join(shown) + " (median, smallest–largest)", {"nets": sizes.nets, **figures})
