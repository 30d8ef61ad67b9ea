"""Which checks an extracted automaton goes through, and how large they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklens.automata.enumeration import count_all
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.extract.samples import walk_words
from stacklens.extract.verify import Agreement, agree_on, agree_on_all, deep_words, long_words
from stacklens.languages.base import Language
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded

__all__ = ["ExtractionConfig", "check_all", "default_max_length"]

_EXHAUSTIVE = 2_500_000  # the automaton is checked on all words up to the length that gives at most so many


@dataclass(frozen=True)
class ExtractionConfig:
    """How much to check, and how to look for states.

    Attributes:
        max_length: check all words up to this length; None for about 2.5 million words.
        long_words, long_lengths: further so many words with lengths in this range.
        deep_words, depth: further so many members nested so deep, and a near-miss of each.
        states: try only this number of clusters; None to walk upward.
        seed: for everything that is drawn.
        jobs: processes for the checks.
        device: where the network runs on words, in torch's words: "cpu", "cuda", "cuda:1", ….
    """

    max_length: int | None = None
    long_words: int = 10_000
    long_lengths: tuple[int, int] = (50, 160)
    deep_words: int = 20
    depth: int = 1_000
    states: int | None = None
    seed: int = 0
    jobs: int = 1
    device: str = "cpu"


def default_max_length(n_symbols: int, words: int = _EXHAUSTIVE) -> int:
    """Return the largest length up to which there are at most ``words`` words over ``n_symbols`` symbols.

    >>> default_max_length(2), default_max_length(3)
    (20, 13)
    """
    length = 0
    while count_all(n_symbols, length + 1) <= words and length < 1_000:
        length += 1
    return length


def check_all(
    pda: PushdownAutomaton, model: StackModel[Any], language: Language | None, config: ExtractionConfig
) -> tuple[Agreement, ...]:
    """Return every check: all words up to a length, long words and deep words, each against all there is.

    The checks are independent of each other and run in ``config.jobs`` processes, with the same result.
    """
    length = default_max_length(len(pda.input_alphabet)) if config.max_length is None else config.max_length
    others: list[Language | StackModel[Any]] = [*([language] if language else []), Rounded(model), model]
    tasks: list[Callable[[], Agreement]] = [_Task(agree_on_all, (pda, other, length)) for other in others]
    for kind, words in _word_lists(pda, language, config):
        tasks += [_Task(agree_on, (pda, other, words, kind)) for other in others]
    if config.jobs == 1:
        return tuple(task() for task in tasks)
    from joblib import Parallel, delayed

    return tuple(Parallel(n_jobs=config.jobs)(delayed(task)() for task in tasks))


@dataclass(frozen=True)
class _Task:
    """A call that can be sent to another process."""

    function: Callable[..., Agreement]
    arguments: tuple[Any, ...]

    def __call__(self) -> Agreement:
        return self.function(*self.arguments)


def _word_lists(
    pda: PushdownAutomaton, language: Language | None, config: ExtractionConfig
) -> list[tuple[str, list[Word]]]:
    if language is None:
        return [("long", walk_words(pda, config.long_words // 10, config.long_lengths, config.seed))]
    lists = [("long", long_words(language, config.long_words, config.long_lengths, config.seed))]
    deep = deep_words(language, config.deep_words, config.depth, config.seed)
    return [*lists, ("deep", deep)] if deep else lists
