"""The networks of the zoo, by name, and words that suit them."""

from __future__ import annotations

from functools import lru_cache

from stacklens.errors import UnknownNameError
from stacklens.extract.names import reference_of
from stacklens.languages.words import format_word
from stacklens.models.checkpoint import Checkpoint
from stacklens.models.loading import ZOO, load_network

__all__ = ["load", "network_names", "random_word"]

_LENGTHS = (4, 20)  # symbols of a random word, from and to
_DRAWN = 16  # words to choose from


@lru_cache(maxsize=1)
def network_names() -> tuple[str, ...]:
    """Return the names of the networks of the zoo, sorted."""
    return tuple(sorted(path.stem for path in ZOO.glob("*.pt")))


@lru_cache(maxsize=32)
def load(name: str) -> Checkpoint:
    """Return the network of the zoo called ``name``; nobody changes it, so all users share one.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in network_names():
        raise UnknownNameError("network", name, list(network_names()))
    return load_network(ZOO / f"{name}.pt")


def random_word(name: str, seed: int) -> str:
    """Return a word drawn from ``seed`` for the network called ``name``, as it would be typed."""
    checkpoint = load(name)
    reference = reference_of(checkpoint)
    words = [] if reference is None else reference.long_words(_DRAWN, _LENGTHS, seed)
    return format_word(words[seed % len(words)]) if words else "".join(checkpoint.model.alphabet[:1])
