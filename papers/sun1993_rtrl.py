"""Sun et al. 1993: exact gradients against the paper's own, real-time recurrent learning with an approximate stack.

Sections 3.5 and 4, appendices A and B. Of the stack's derivative the paper keeps what the last action does to the
reading (eq. 20), "valid when the action values are close to their saturation values", or on short strings. How far off
that is, and what it does to learning, is measured on the three languages, all else being equal.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from stacklens.papers.claims import Experiment, Finding, PaperClaim
from stacklens.papers.measures import BEYOND, exact_beyond

if TYPE_CHECKING:
    from torch import Tensor

    from stacklens.models.training.recognition import Training

__all__ = ["RtrlSizes", "rtrl_experiment"]

Gradient = Literal["exact", "rtrl", "local"]

_WATCHED_EVERY = 10  # epochs between two looks at the training words
_SEED = 0


@dataclass(frozen=True)
class _Lesson:
    """What is learned by either gradient.

    Attributes:
        recipe: a name in `recognition_recipes.RECIPES`.
        section, paper: where the paper does it, and what it reports.
        gradient: how its gradient is computed here: "rtrl" carries it forward as the paper does, "local" comes to the
            same by going back, which costs less.
        shown: what it is called.
        objective: in place of the recipe's; None for that.
    """

    recipe: str
    section: str
    paper: str
    gradient: Gradient
    shown: str
    objective: str | None = None


_FOUR_ERRORS = "RTRL: 400 epochs, 4 errors on words <= 9"
_LESSONS = (
    _Lesson(
        "parentheses",
        "4.1",
        "RTRL, 5 runs: all learn the set in about 100 epochs, with the pop-empty hint in 20",
        "rtrl",
        "parentheses",
    ),
    _Lesson(
        "1n0n",
        "4.2",
        "RTRL, one net, no trap hint: 100 epochs and 5 rounds of misclassified words",
        "local",
        "1n0n",
    ),
    _Lesson("palindrome as printed", "4.3 (5)", _FOUR_ERRORS, "local", "palindrome as printed"),
    _Lesson(
        "palindrome as printed",
        "4.3 (2)",
        "not reported: always with it",
        "local",
        "palindrome without the driving force",
        "prefix",
    ),
)


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
    same = PaperClaim(
        "App. B",
        "the paper's gradient, carried forward and propagated back: largest difference",
        "not reported",
        partial(_two_ways, sizes),
    )
    near = tuple(
        PaperClaim(
            "App. A",
            f"{lesson.shown}: the paper's gradient against the exact one, before and after training",
            "valid where actions are near -1 and 1, or words short",
            partial(_nearness, lesson, sizes),
        )
        for lesson in _LESSONS
    )
    learning = tuple(
        PaperClaim(
            lesson.section,
            f"{lesson.shown}: learning by exact gradients and by the paper's",
            lesson.paper,
            partial(_learn, lesson, sizes),
        )
        for lesson in _LESSONS
    )
    title = f"exact gradients against real-time recurrent learning, {sizes.nets} networks each"
    return Experiment(
        "sun1993-rtrl", "Sun, Giles, Chen & Lee 1993", title, (same, *near, *learning), tuple(range(sizes.nets))
    )


@dataclass(frozen=True)
class _Learned:
    """How the networks of one training came out.

    ``after`` has the epochs after which each network had all training words right for the first time, None for never.
    """

    training: Training
    first: Training
    after: tuple[int | None, ...]
    seconds: float

    @property
    def shown(self) -> str:
        """Return it in a few words."""
        told = [epochs for epochs in self.after if epochs is not None]
        learned = f"{len(told)} learn their words"
        if told:
            learned += f", after {statistics.median(told):.0f} epochs ({min(told)}–{max(told)})"
        beyond = f"on words <= {BEYOND} longer {self.beyond[0]} and {self.beyond[1]}"
        return f"{learned}; exact: {self.exact} analog, {self.rounded} rounded; {beyond}"

    @cached_property
    def beyond(self) -> tuple[int, int]:
        """Return how many are right on longer words, by which no epoch was chosen, as they are and rounded."""
        return exact_beyond(self.training)

    @property
    def exact(self) -> int:
        """Return how many networks are right on all words of the recipe's check."""
        return sum(score.analog_errors == 0 for score in self.training.best)

    @property
    def rounded(self) -> int:
        """Return how many are so when rounded."""
        return sum(score.rounded_errors == 0 for score in self.training.best)

    @property
    def figures(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "analog_exact": self.exact,
            "rounded_exact": self.rounded,
            "analog_exact_beyond": self.beyond[0],
            "rounded_exact_beyond": self.beyond[1],
            "learned_after": list(self.after),
            "epochs": self.training.epochs_done,
            "seconds": round(self.seconds, 1),
        }


def _begun(lesson: _Lesson, gradient: Gradient, sizes: RtrlSizes) -> Training:
    from stacklens.languages import get_language
    from stacklens.models.training.recognition import Training
    from stacklens.models.training.recognition_recipes import RECIPES

    recipe = replace(RECIPES[lesson.recipe], gradient=gradient)
    recipe = replace(recipe, objective=lesson.objective or recipe.objective)
    return Training(recipe, get_language(lesson.recipe.split()[0]), seed=_SEED, nets=sizes.nets)


@cache
def _trained(lesson: _Lesson, gradient: Gradient, sizes: RtrlSizes) -> _Learned:
    import torch

    from stacklens.models.inference import verdicts_on

    torch.set_num_threads(1)
    begun = time.process_time()
    training = _begun(lesson, gradient, sizes)
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
    return _Learned(training, _begun(lesson, gradient, sizes), tuple(after), time.process_time() - begun)


def _learn(lesson: _Lesson, sizes: RtrlSizes) -> Finding:
    """Return how learning goes by either gradient."""
    exact, ours = (_trained(lesson, gradient, sizes) for gradient in ("exact", lesson.gradient))
    length = exact.training.recipe.check_length
    chosen = f"exact on words <= {length}, by which the epoch is chosen"
    shown = f"of {sizes.nets} nets, {chosen}. Exact gradients: {exact.shown}. RTRL: {ours.shown}"
    return Finding(shown, {"nets": sizes.nets, "check_length": length, "exact": exact.figures, "rtrl": ours.figures})


def _gradient(training: Training, kind: Gradient, sizes: RtrlSizes) -> Tensor:
    """Return the gradient of each network of ``training`` as it is now, (nets, weights)."""
    import torch

    from stacklens.models.training.objectives import OBJECTIVES

    other = _begun_like(training, kind, sizes)
    other.zero_grad()
    OBJECTIVES[training.recipe.objective](other, training.words, training.weights).sum().backward()  # type: ignore[no-untyped-call]
    parts = [torch.zeros_like(value) if value.grad is None else value.grad for value in other.parameters()]
    return torch.cat([part.flatten(1) for part in parts], 1)


def _begun_like(training: Training, kind: Gradient, sizes: RtrlSizes) -> Any:
    from stacklens.models.training.recognition import KINDS

    net = KINDS[kind](training.net.shape, nets=sizes.nets)
    net.load_state_dict(training.net.state_dict())
    return net


def _two_ways(sizes: RtrlSizes) -> Finding:
    """Return how far the gradient carried forward is from the one that goes back, on all training sets."""
    worst = 0.0
    for lesson in _LESSONS:
        training = _begun(lesson, "exact", sizes)
        forward, back = (_gradient(training, kind, sizes) for kind in ("rtrl", "local"))
        worst = max(worst, float(((forward - back).norm(dim=1) / back.norm(dim=1)).max()))
    return Finding(f"{worst:.0e} of its length", {"nets": sizes.nets, "largest_relative_difference": worst})


def _nearness(lesson: _Lesson, sizes: RtrlSizes) -> Finding:
    """Return the angle between the paper's gradient and the exact one, and how different they are."""
    learned = _trained(lesson, lesson.gradient, sizes)
    stages = {"before": learned.first, "after": learned.training}
    figures, shown = dict[str, Any](), []
    for stage, training in stages.items():
        ours, exact = (_gradient(training, way, sizes) for way in ("local", "exact"))
        cosines = (ours * exact).sum(1) / (ours.norm(dim=1) * exact.norm(dim=1)).clamp(min=1e-300)
        off = (ours - exact).norm(dim=1) / exact.norm(dim=1).clamp(min=1e-300)
        figures[stage] = {"cosines": cosines.tolist(), "relative_differences": off.tolist()}
        shown.append(f"{stage}: cosine {_spread(cosines)}, off by {_spread(off)} of its length")
    return Finding("; ".join(shown) + " (median, smallest–largest)", {"nets": sizes.nets, **figures})


def _spread(values: Tensor) -> str:
    return f"{statistics.median(values.tolist()):.2f} ({values.min():.2f}–{values.max():.2f})"
