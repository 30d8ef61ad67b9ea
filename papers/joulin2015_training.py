"""Training and scoring for the experiments on Joulin & Mikolov 2015: recipes by protocol, and the paper's scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stacklens.errors import StacklensError
from stacklens.languages.catalogue import get_task
from stacklens.languages.tasks.streams import StreamTask
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.models.training.language_models import WordRecipe, WordTraining
from stacklens.models.training.online import OnlineRecipe, OnlineTraining
from stacklens.models.training.scores import PieceTest, known_entropy
from stacklens.models.training.stream_recipes import MEMORIES, StreamRecipe, stream_recipe
from stacklens.models.training.stream_training import StreamTraining
from stacklens.models.training.word_texts import Texts, read_texts, split_text
from stacklens.papers.grid import VALIDATION, Outcome, RunSettings
from stacklens.papers.ngrams import NgramModel, best_cache, perplexity

__all__ = [
    "ngram_scores",
    "paper_recipe",
    "pattern_recipe",
    "recall_recipe",
    "train_pattern",
    "train_recall",
    "train_words",
]

_NEVER = 1_000_000  # checks without an error after which training would end: every seed gets all its epochs
_TRAINED = (2, 19)  # sizes of training and validation, section 5.1; the test goes to 59
_TESTED = (2, 59)
_VALIDATION_SEED = 1
# section 5: hidden layers of the RNN and the LSTM were chosen among 40 to 500 and 50 to 200; lists and stacks, table 2
_SHAPES: dict[str, dict[str, Any]] = {
    "rnn": {"hidden": 100},
    "lstm": {"hidden": 50},
    "list-rnn": {"hidden": 40, "n_stacks": 5},
    "stack-rnn": {"hidden": 40, "n_stacks": 10},
}
_LARGE: dict[str, dict[str, Any]] = {  # figure 2: 100 hidden units, 10 stacks or lists
    "rnn": {"hidden": 100},
    "lstm": {"hidden": 100},
    "list-rnn": {"hidden": 100, "n_stacks": 10},
    "stack-rnn": {"hidden": 100, "n_stacks": 10},
}
_LONG = ("anb2n",)  # patterns with n_max 20 in the authors' scripts; the others have 15
_EPOCHS_OF_WORDS = 3  # about five minutes of processor time a network on 670,000 words
_EMPTIED = {"memorization": 100, "addition": 10}  # pieces between emptied memories there; 1,000 for the patterns


def pattern_recipe(model: str, pattern: str, few: bool, settings: RunSettings) -> StreamRecipe:
    """Return how the fast protocol trains ``model`` on a pattern of table 2; ``few`` for the zoo's number of stacks."""
    recipe = stream_recipe(pattern, model)
    return replace(
        recipe,
        shape=recipe.shape if few else {**recipe.shape, **_SHAPES[model]},
        n_max=settings.scaled(20, least=4),
        epochs=settings.scaled(55),
        windows=settings.scaled(recipe.windows, least=2),
        beginnings=10 if settings.scale == 1 else 1,
        sharpness=0.3 if model in MEMORIES else 0.0,
        check_sizes=(recipe.smallest, settings.scaled(_TRAINED[1], least=3)),
        patience=_NEVER,
    )


def recall_recipe(model: str, name: str, settings: RunSettings) -> StreamRecipe:
    """Return how the fast protocol trains ``model`` on memorisation or binary addition (figure 2)."""
    recipe = stream_recipe(name, model)
    return replace(
        recipe,
        shape={**recipe.shape, **_LARGE[model]},
        epochs=settings.scaled(60),
        windows=settings.scaled(recipe.windows, least=2),
        check_sizes=(2, settings.scaled(_TRAINED[1], least=3)),
        patience=_NEVER,
    )


def paper_recipe(model: str, name: str, settings: RunSettings) -> OnlineRecipe:
    """Return how the paper and its program train ``model`` on a task (section 5 and the authors' scripts)."""
    toy = name not in _EMPTIED
    base = stream_recipe(name, model).shape
    return OnlineRecipe(
        shape={**base, **(_SHAPES if toy else _LARGE)[model]},
        smallest=0 if name == "addition" else 2,
        n_max=settings.scaled(20 if name in _LONG else 15, least=4),
        epochs=settings.scaled(100),
        pieces=settings.scaled(2_000),
        emptied=_EMPTIED.get(name, 1_000),
        steps=settings.scaled(50, least=4),
        validation=settings.scaled(10),
        known_only=name == "addition",
    )


def ngram_scores(texts: Texts, order: int, cache: bool = False) -> dict[str, float]:
    """Return the perplexities of n-grams, with a cache that is best on the validation part, or without one."""
    model = NgramModel(texts.train, len(texts.vocabulary), order)
    valid, test = model.probabilities(texts.valid), model.probabilities(texts.test)
    told = {}
    if cache:
        chosen = best_cache(valid, texts.valid)
        valid, test = chosen.mixed(valid, texts.valid), chosen.mixed(test, texts.test)
        told = {"cache words": float(chosen.window), "cache weight": chosen.weight}
    return {"validation perplexity": perplexity(valid), "test perplexity": perplexity(test), **told}


def _texts(files: tuple[Path, ...]) -> Texts:
    """Return the text in one file, which is split, or in three."""
    if len(files) == 1:
        return split_text(files[0])
    train, valid, test = files
    return read_texts(train, valid, test)


def train_pattern(model: str, pattern: str, few: bool, settings: RunSettings) -> list[Outcome]:
    """Return networks of ``model`` trained on a pattern, with the scores of table 2.

    "test" is the share of the sizes 2 to 59 of which every string is predicted, "validation" how likely the network
    finds what can be known in strings of sizes 2 to 19, as the geometric mean over its symbols; both again "rounded".
    """
    trained = _trained(pattern_recipe(model, pattern, few, settings), model, pattern, settings)
    return _outcomes(trained, settings, lambda right: {"test": right.all(-1).mean(-1)})


def train_recall(model: str, name: str, settings: RunSettings) -> list[Outcome]:
    """Return networks of ``model`` trained on memorisation or binary addition, with what figure 2 shows.

    "n = 20" is the share of the strings of size 20 that are predicted, "test" that of all strings of sizes 2 to 59; see
    `train_pattern` for the others.
    """
    trained = _trained(recall_recipe(model, name, settings), model, name, settings)

    def score(right: np.ndarray) -> dict[str, np.ndarray]:
        curve = {f"n = {_TESTED[0] + place}": right[:, place].mean(-1) for place in range(right.shape[1])}
        return {"test": right.mean((-2, -1)), **curve}

    return _outcomes(trained, settings, score)


def _trained(recipe: StreamRecipe, model: str, name: str, settings: RunSettings) -> StreamTraining | OnlineTraining:
    """Return networks trained by the settings' protocol; ``recipe`` is that of the fast one."""
    task = get_task(name)
    assert isinstance(task, StreamTask)
    first, nets = settings.consecutive()
    training: StreamTraining | OnlineTraining
    if settings.protocol == "paper":
        slow = paper_recipe(model, name, settings)
        training = OnlineTraining(model, slow, task, seed=first, nets=nets, device=settings.device)
    else:
        training = StreamTraining(recipe, task, seed=first, nets=nets, model=model, device=settings.device)
    training.run()
    return training


def _outcomes(
    trained: StreamTraining | OnlineTraining,
    settings: RunSettings,
    score: Callable[[np.ndarray], dict[str, np.ndarray]],
) -> list[Outcome]:
    """Return the outcomes of networks, with what ``score`` makes of which strings are right, (nets, sizes, strings)."""
    net = trained.whole(trained.best_weights)
    scores = _scores(net, trained.task, settings, score)
    if net.n_stacks:
        rounded = _scores(Rounded(net), trained.task, settings, score)
        scores |= {f"{name} rounded": values for name, values in rounded.items()}
    return [
        Outcome(
            seed,
            {name: float(values[number]) for name, values in scores.items()},
            trained.network(number),
            trained.task.name,
        )
        for number, seed in enumerate(settings.seeds)
    ]


def _scores(
    net: StackModel[Any],
    task: StreamTask,
    settings: RunSettings,
    score: Callable[[np.ndarray], dict[str, np.ndarray]],
) -> dict[str, np.ndarray]:
    """Return the scores of all networks, (nets,) each."""
    tested = (_TESTED[0], settings.scaled(_TESTED[1], least=4))
    right = PieceTest(task, tested, *_strings(settings)).right(net, settings.device)
    trained = (_TRAINED[0], settings.scaled(_TRAINED[1], least=3))
    words = PieceTest(task, trained, 20, 20, _VALIDATION_SEED).words()
    return {**score(right), VALIDATION: np.exp(-known_entropy(net, task, words, settings.device))}


def _strings(settings: RunSettings) -> tuple[int, int]:
    """Return how many strings of each size are tested, and in how many streams: 200 in one, as in the paper, or 40."""
    if settings.scale < 1:
        return 2, 2
    return (200, 1) if settings.protocol == "paper" else (40, 20)


def train_words(model: str, shape: dict[str, Any], files: tuple[Path, ...], settings: RunSettings) -> list[Outcome]:
    """Return a network from each seed, with its perplexities; nothing is extracted from these.

    Raises:
        FileFormatError: a file is no text.
        StacklensError: the paper's protocol, an update after every word with all their probabilities, is asked for.
    """
    if settings.protocol == "paper":
        raise StacklensError("joulin2015-table4 has no paper protocol, which would take weeks; choose --protocol fast")
    texts = _texts(files)
    if model == "ngram":
        return [Outcome(seed, ngram_scores(texts, **shape)) for seed in settings.seeds]
    recipe = WordRecipe(shape, epochs=settings.scaled(_EPOCHS_OF_WORDS))
    outcomes = []
    for seed in settings.seeds:
        training = WordTraining(model, recipe, texts, seed=seed, device=settings.device)
        training.run()
        scores = {"validation perplexity": training.best, "test perplexity": training.tested()}
        outcomes.append(Outcome(seed, scores))
    return outcomes
