"""The networks that the page offers, by name: those of the zoo and files that were opened; and words that suit them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from stacklens.errors import StacklensError, UnknownNameError
from stacklens.languages.words import format_word, make_word
from stacklens.models.checkpoint import Checkpoint
from stacklens.models.loading import ZOO, load_network
from stacklens.viz.dashboard.references import fitting_reference
from stacklens.viz.dashboard.uploads import PREFIX, uploaded, uploaded_network

__all__ = ["file_of", "is_known", "load", "network_names", "offered", "random_word", "title_of"]

_LENGTHS = (4, 20)  # symbols of a random word, from and to
_DRAWN = 160  # words to choose from; of those that are many times longer than their sizes a twentieth


@lru_cache(maxsize=1)
def network_names() -> tuple[str, ...]:
    """Return the names of the networks of the zoo, sorted."""
    return tuple(sorted(path.stem for path in ZOO.glob("*.pt")))


@lru_cache(maxsize=32)
def load(name: str) -> Checkpoint:
    """Return the network called ``name``; nobody changes it, so all users share one.

    Raises:
        StacklensError: there is none.
    """
    if not name:  # a page says so before it knows what its address asks for
        raise StacklensError("no network is chosen")
    if name.startswith(PREFIX):
        _title(name)  # a network is shown on when its day is over, and then its title is asked for
        return uploaded_network(uploaded(name))
    _check(name)
    return load_network(ZOO / f"{name}.pt")


@lru_cache(maxsize=1_024)
def _title(name: str) -> str:
    return uploaded(name).title


def _check(name: str) -> None:
    if name not in network_names():
        raise UnknownNameError("network", name, list(network_names()))


def is_known(name: str) -> bool:
    """Return whether there is a network called ``name``."""
    try:
        load(name)
    except StacklensError:
        return False
    return True


def file_of(name: str) -> str:
    """Return the name of the file of the network called ``name``, as its owner would write it in a program."""
    return _title(name) if name.startswith(PREFIX) else f"models/zoo/{name}.pt"


def title_of(name: str) -> str:
    """Return what the page calls the network called ``name``."""
    return f"{_title(name)} (opened)" if name.startswith(PREFIX) else name


def offered(opened: Iterable[str]) -> Iterator[Mapping[str, str]]:
    """Return the choices of networks, label and value: files that were ``opened``, as far as they last, and the zoo."""
    for name in dict.fromkeys(opened):
        if is_known(name):
            yield {"label": title_of(name), "value": name}
    yield from ({"label": name, "value": name} for name in network_names())


def random_word(name: str, seed: int) -> str:
    """Return a word drawn from ``seed`` for the network called ``name``, as it would be typed."""
    checkpoint = load(name)
    reference = fitting_reference(checkpoint)
    words = [] if reference is None else reference.long_words(_DRAWN, _LENGTHS, seed)
    return (
        format_word(words[seed % len(words)])
        if words
        else format_word(make_word(checkpoint.model.alphabet, checkpoint.model.alphabet))
    )
