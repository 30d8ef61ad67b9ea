"""Read an automaton out of a network, or learn one from answers alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklens.errors import StacklensError
from stacklens.face.arguments import network_of
from stacklens.progress import progress_bar, stages_on
from stacklens.whole import check_whole

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction
    from stacklens.face.arguments import Network, Subject
    from stacklens.models.own.black_box import Box

__all__ = ["extract", "learn"]


def extract(model: Network, language: Subject | None = None, *, quiet: bool = False, **settings: Any) -> Extraction:
    """Return the automaton of a network with everything that it rests on.

    Args:
        model: a network, or the name or path of one.
        language: what it should do: a language or task, or the name of one or the path of a grammar or automaton; or an
            automaton, for the words that it accepts. By default what its file says that it was trained on.
        quiet: show no progress, which is shown on a terminal and in a notebook only.
        settings: those of `stacklens.extract.config.ExtractionConfig`: ``max_length`` from 0; ``states``,
            ``stack_symbols`` and ``jobs`` from 1; ``seed`` from 0 to 2^32 - 1; ``budget`` in seconds, above 0; ….

    Raises:
        StacklensError: there is no such network, language, task or setting, a setting is out of range, they do not fit
            together, or the words up to ``max_length`` are too many.
    """
    import dataclasses

    from stacklens.extract.by_name import specification_of_network
    from stacklens.extract.extraction import ExtractionConfig
    from stacklens.extract.extraction import extract as extract_automaton

    known = [field.name for field in dataclasses.fields(ExtractionConfig)]
    if strange := [name for name in settings if name not in known]:
        raise StacklensError(f"extract has no setting {', '.join(strange)}; it has {', '.join(known)}")
    network, config = network_of(model), ExtractionConfig(**settings)
    specification = specification_of_network(network, language)
    with progress_bar(quiet) as bar:
        result = extract_automaton(network, specification, config, stages_on(bar))
    return dataclasses.replace(result, config=config)


def learn(
    box: Network | Box,
    alphabet: Sequence[str] | None = None,
    language: Subject | None = None,
    *,
    kind: str = "auto",
    first: Sequence[str] | None = None,
    words: int | None = None,
    longest: int | None = None,
    **settings: Any,
) -> Extraction:
    """Return the automaton that is learned from answers alone, with everything that it rests on, as `extract` does.

    AALpy's KV asks, every word once; our own words say whether it is right (see docs/own-networks.md).

    Args:
        box: a network, or the name or path of one; or a function from a list of words, tuples of symbols, to a list of
            answers: True and False, sets of the symbols that may come next, or any other outputs.
        alphabet: what the words of a function are made of.
        language: what it should do, as for `extract`.
        kind: "dfa", "mealy", "vpa", or "auto": what fits, visibly pushdown where calls and returns are known.
        first: where a function answers sets: which symbols may begin a word.
        words, longest: about how many words a check may ask of a function (100,000), and the longest (any).
        settings: as for `extract`; ``calls`` and ``returns``, which push and pop, are by default those of the language.

    Raises:
        StacklensError: AALpy is not installed, or these do not fit together.

    >>> even = learn(lambda words: [word.count("a") % 2 == 0 for word in words], "ab", words=500)
    >>> even.status, len(even.automaton.states)
    (0, 2)
    """
    from stacklens.extras import check_extra
    from stacklens.models.own.black_box import AFFORDABLE, boxed

    check_extra("AALpy", "interop", "aalpy")
    if kind not in ("auto", "dfa", "mealy", "vpa"):
        raise StacklensError(f"kind is {kind!r:.40}; expected auto, dfa, mealy or vpa")
    most = AFFORDABLE if words is None else words
    check_whole("words", most, 0)
    asked = network_of(box) if isinstance(box, str | Path) else box
    network = boxed(asked, alphabet, first, longest=longest, affordable=most)
    method = "ask" if kind == "auto" else f"learn-{kind}"
    return extract(network, language, method=method, **settings)
