"""Glue for table 4 of Joulin & Mikolov 2015: language models over the words of the user's text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stacklens.errors import StacklensError
from stacklens.models.word_training import WordRecipe, WordTraining, read_texts
from stacklens.papers.grid import Outcome, Settings

__all__ = ["train_words"]


def train_words(model: str, shape: dict[str, Any], files: tuple[Path, Path, Path], settings: Settings) -> list[Outcome]:
    """Return a network from each seed, with its perplexities; nothing is extracted from these.

    Raises:
        FileFormatError: a file is no text.
        StacklensError: the paper's protocol, an update after every word with all their probabilities, is asked for.
    """
    if settings.protocol == "paper":
        raise StacklensError("joulin2015-table4 has no paper protocol, which would take weeks; choose --protocol fast")
    texts = read_texts(*files)
    recipe = WordRecipe(shape, epochs=settings.scaled(20))
    outcomes = []
    for seed in settings.seeds:
        training = WordTraining(model, recipe, texts, seed=seed, device=settings.device)
        while not training.done:
            training.epoch()
        scores = {"validation perplexity": training.best, "test perplexity": training.tested()}
        outcomes.append(Outcome(seed, scores))
    return outcomes
