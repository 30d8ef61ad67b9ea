"""How the networks of a row of Suzgun et al. 2019 are trained and scored: which recipe, which words.

All networks of a row stand side by side and see the same words, "the same random seed across each run" (table 2);
their weights are drawn apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from stacklens.papers.grid import Outcome, RunSettings

if TYPE_CHECKING:
    from stacklens.languages.tasks.task import Examples, Task
    from stacklens.models.training.supervised import Fitting
    from stacklens.models.training.supervised_recipes import FitRecipe

__all__ = ["TrainedNetwork", "recipe_of", "train", "words_of_test"]

_TEST_WORDS, _TEST_SEED = 5_000, 52  # section 5.1; their program takes 1,000
_APART = 1_000  # seeds of words, from one data seed to the next


@dataclass(frozen=True)
class TrainedNetwork:
    """What the networks of a row are and learn.

    Attributes:
        model: its name.
        gating: of a Marnn, else "".
        task: the name of the task.
        hidden, cell_size: sizes of the network.
        words: how many to train on.
        changed: settings of the recipe in place of the protocol's, by name; see `FitRecipe`.
    """

    model: str
    gating: str
    task: str
    hidden: int
    cell_size: int
    words: int
    changed: dict[str, Any] = field(default_factory=dict)


def train(trial: TrainedNetwork, settings: RunSettings) -> list[Outcome]:
    """Return a network from each seed of ``settings``, with its scores.

    "train", "test" are the paper's, "test rounded" that of the network with discrete actions. By the protocol "paper"
    gates with Gumbel noise draw it in the test too, as in the authors' program.
    """
    outcomes = {}
    for first, nets in _runs(settings.seeds):
        outcomes.update({outcome.seed: outcome for outcome in _trained(trial, settings, first, nets)})
    return [outcomes[seed] for seed in settings.seeds]


def _runs(seeds: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the seeds as runs of consecutive ones: the first of each, and how many there are.

    >>> _runs((0, 1, 2, 7, 5, 6))
    [(0, 3), (5, 3)]
    """
    runs: list[tuple[int, int]] = []
    for seed in sorted(seeds):
        if runs and sum(runs[-1]) == seed:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((seed, 1))
    return runs


def _trained(trial: TrainedNetwork, settings: RunSettings, seed: int, nets: int) -> list[Outcome]:
    from stacklens.languages import get_task
    from stacklens.models.training.supervised import Fitting

    task = get_task(trial.task)
    recipe = recipe_of(trial, settings)
    fitting = Fitting(trial.model, recipe, task, seed=seed, nets=nets, device=settings.device)
    fitting.run()
    scores = _scores(fitting, settings)
    return [_outcome(trial, fitting, number, scores) for number in range(nets)]


def recipe_of(trial: TrainedNetwork, settings: RunSettings) -> FitRecipe:
    """Return how the networks of ``trial`` are trained by ``settings``."""
    from stacklens.languages import get_task
    from stacklens.models.training.supervised_recipes import suzgun_recipe

    shape: dict[str, Any] = {"hidden": trial.hidden}
    if trial.gating:
        shape |= {"cell_size": trial.cell_size, "gating": trial.gating}
    recipe = suzgun_recipe(trial.model, get_task(trial.task), shape, trial.words, settings.protocol)
    recipe = replace(recipe, **trial.changed)
    words, epochs = settings.scaled(recipe.words, least=20), settings.scaled(recipe.epochs)
    drawn = recipe.words_seed + _APART * settings.data_seed
    return replace(recipe, words=words, epochs=epochs, check_every=epochs, words_seed=drawn)


def words_of_test(task: Task, settings: RunSettings) -> Examples:
    """Return the words that networks are tested on, the same for all of them."""
    return task.sample(settings.scaled(_TEST_WORDS, least=20), split="test", seed=_TEST_SEED)


def _scores(fitting: Fitting, settings: RunSettings) -> dict[str, Any]:
    """Return the scores of all networks by name, (nets,) each."""
    from stacklens.models.rounding import Rounded
    from stacklens.models.training.scores import word_accuracy

    noisy = settings.protocol == "paper"
    longer = words_of_test(fitting.task, settings)
    scores = {
        "train": word_accuracy(fitting.net, fitting.train_words, noisy),
        "test": word_accuracy(fitting.net, longer, noisy),
    }
    if fitting.net.action_kind != "none":
        scores["test rounded"] = word_accuracy(Rounded(fitting.net), longer)
    return scores


def _outcome(trial: TrainedNetwork, fitting: Fitting, number: int, scores: dict[str, Any]) -> Outcome:
    own = {name: float(values[number]) for name, values in scores.items()}
    return Outcome(fitting.seed + number, own, fitting.network(number), trial.task)
