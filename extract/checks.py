"""Which checks an extracted automaton goes through, and how large they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.extract.reference import Reference, default_max_length
from stacklens.extract.samples import walk_words
from stacklens.extract.verify import Agreement, agree_on, agree_on_all
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded

__all__ = ["ExtractionConfig", "check_all", "exhaustive_length"]

_EXHAUSTIVE = 2_500_000  # the automaton is checked on all words up to the length that gives at most so many
_SHARE = 500  # of these where a task's own words have to be compared one by one
_ROOM = 4  # cells of a finite stack that deep words leave free
_MOST_WORDS = 1_000_000_000  # more verdicts than memory holds


@dataclass(frozen=True)
class ExtractionConfig:
    """How much to check, and how to look for states.

    Attributes:
        max_length: check all words up to this length; None for about 2.5 million words.
        long_words, long_lengths: further so many words with lengths in this range.
        deep_words, depth: further so many members nested so deep, and a near-miss of each.
        states, stack_symbols: try only this number of clusters; None to walk upward.
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
    stack_symbols: int | None = None
    seed: int = 0
    jobs: int = 1
    device: str = "cpu"


def exhaustive_length(n_symbols: int, asked: int | None) -> int:
    """Return up to which length all words are checked: as ``asked``, or what gives about 2.5 million words.

    Raises:
        StacklensError: so many words would not fit in memory.

    >>> exhaustive_length(3, 15), exhaustive_length(3, None)
    (15, 13)
    """
    if asked is None:
        return default_max_length(n_symbols, _EXHAUSTIVE)
    longest = default_max_length(n_symbols, _MOST_WORDS)
    if asked > longest:
        raise StacklensError(
            f"all words of length <= {asked} over {n_symbols} symbols are too many to check one by one; "
            f"ask for --max-length {longest} or less"
        )
    return asked


def check_all(
    pda: PushdownAutomaton, model: StackModel[Any], reference: Reference | None, config: ExtractionConfig
) -> tuple[Agreement, ...]:
    """Return every check: all words up to a length, long words and deep words, each against all there is.

    The checks are independent of each other and run in ``config.jobs`` processes, with the same result.
    """
    length = exhaustive_length(len(pda.input_alphabet), config.max_length)
    sides: list[tuple[StackModel[Any], Reference | None]] = [(Rounded(model), None), (model, None)]
    if reference is not None:
        sides.insert(0, (model, reference))
    tasks = []
    if reference is None or not reference.restricted:
        tasks = [_Task(agree_on_all, (pda, *side, length)) for side in sides]
    for kind, words in _word_lists(pda, model, reference, config):
        scored = None if reference is None else reference.scored(words)
        tasks += [_Task(agree_on, (pda, *side, words, kind, scored)) for side in sides]
    if config.jobs == 1:
        results = [task() for task in tasks]
    else:
        from joblib import Parallel, delayed

        results = Parallel(n_jobs=config.jobs)(delayed(task)() for task in tasks)
    return tuple(result for result in results if result is not None)


@dataclass(frozen=True)
class _Task:
    """A call that can be sent to another process."""

    function: Callable[..., Agreement | None]
    arguments: tuple[Any, ...]

    def __call__(self) -> Agreement | None:
        return self.function(*self.arguments)


def _word_lists(
    pda: PushdownAutomaton, model: StackModel[Any], reference: Reference | None, config: ExtractionConfig
) -> list[tuple[str, list[Word]]]:
    if reference is None:
        return [("long", walk_words(pda, config.long_words // 10, config.long_lengths, config.seed))]
    lists = []
    if reference.restricted:  # then not all words over the alphabet are meant
        lists.append(("exhaustive", reference.short_words(_EXHAUSTIVE // _SHARE)))
    lists += [("long", reference.long_words(config.long_words, config.long_lengths, config.seed))]
    depth = config.depth if model.stack_limit is None else min(config.depth, model.stack_limit - _ROOM)
    deep = reference.deep_words(config.deep_words, depth, config.seed)
    return [*lists, ("deep", deep)] if deep else lists
