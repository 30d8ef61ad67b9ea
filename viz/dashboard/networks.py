"""The networks of the zoo, by name, and words that suit them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from stacklens import models
from stacklens.errors import UnknownNameError
from stacklens.extract.extraction import reference_for
from stacklens.extract.names import subject_named
from stacklens.languages.words import format_word
from stacklens.models.checkpoint import Checkpoint
from stacklens.models.loading import load_network

__all__ = ["load", "network_names", "random_word"]

_ZOO = Path(next(iter(models.__path__))) / "zoo"
_LENGTHS = (4, 20)  # symbols of a random word, from and to
_DRAWN = 16  # words to choose from


@lru_cache(maxsize=1)
def network_names() -> tuple[str, ...]:
    """Return the names of the networks of the zoo, sorted."""
    return tuple(sorted(path.stem for path in _ZOO.glob("*.pt")))


@lru_cache(maxsize=32)
def load(name: str) -> Checkpoint:
    """Return the network of the zoo called ``name``; nobody changes it, so all users share one.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in network_names():
        raise UnknownNameError("network", name, list(network_names()))
    return load_network(_ZOO / f"{name}.pt")


def random_word(name: str, seed: int) -> str:
    """Return a word drawn from ``seed`` for the network called ``name``, as it would be typed."""
    checkpoint = load(name)
    language = checkpoint.task.get("language")
    reference = None if language is None else reference_for(subject_named(language, checkpoint.model.task_kind))
    words = [] if reference is None else reference.long_words(_DRAWN, _LENGTHS, seed)
    return format_word(words[seed % len(words)]) if words else "".join(checkpoint.model.alphabet[:1])
