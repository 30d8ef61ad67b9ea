"""Which checks an extracted automaton goes through, and how large they are."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np

from ...automata.coverage import Pump
from ...automata.pda import PushdownAutomaton, Word
from ...automata.runs import greatest_heights
from ...core.errors import StacklensError, check_whole
from ...core.progress import OutOfTimeError, TimeLimit, cut_short, time_limit
from ...models.base import StackModel
from ...models.rounding import Rounded, Unrounded
from ..agreement import (
    Agreement,
    CheckKind,
    agree_on,
    agree_on_all,
    differ_on,
    first_contradiction,
    search_words,
    side_name,
)
from ..config import SPARE_CELLS, Budget, ExtractionConfig
from ..cycles import conformance_test, is_asked, partings, pump_lines, pumped_families, pumped_words, shortest_break
from ..samples import walk_words
from ..search.candidates import Candidate, Scorer
from ..specification import Specification, default_max_length, random_words, words_over

_EXHAUSTIVE = 2_500_000  # the automaton is checked on all words up to the length that gives at most so many
_SHARE = 500  # of these where a task's own words have to be compared one by one
_SHARE_ASKED = 10  # of these at most where words up to a length were asked for
_LONG_SHARE = 50  # a network that is slow is asked one long word for so many short ones
_CYCLES, _CYCLES_OF_A_BOX = 100, 40  # as many cycles are repeated
_DRAWN, _DRAWN_LENGTHS = 600, (10, 60)  # words of the last check, which no search has seen: 0.6 % of errors show
_DEEP = 100  # and words that are nested no deeper than this
_FEWER = 5  # times fewer long words, and times less deep ones, of the network, where all else is shown for every length
_ROUNDED = "rounded network"
_MOST_WORDS = 1_000_000_000  # more verdicts than memory holds


def exhaustive_length(n_symbols: int, asked: int | None, most: int = _MOST_WORDS, affordable: int | None = None) -> int:
    """Return up to which length all words are checked: as ``asked``, or what gives about 2.5 million words.

    Of a network that may be asked fewer words these are as many as are ``affordable``.

    >>> exhaustive_length(3, 15), exhaustive_length(3, None)
    (15, 13)
    """
    if asked is None:
        return default_max_length(n_symbols, _EXHAUSTIVE if affordable is None else min(_EXHAUSTIVE, affordable))
    check_whole("max_length", asked, 0)
    longest = default_max_length(n_symbols, most)
    if asked > longest:
        raise StacklensError(
            f"all words of length <= {asked} over {n_symbols} symbols are too many to check one by one; "
            f"ask for --max-length {longest} or less (max_length={longest})"
        )
    return asked


def exhaustive_limit(specification: Specification | None, n_symbols: int, asked: int | None) -> None:
    """Check that words of length up to ``asked``, of the task's where only these are meant, are not too many."""
    if specification is None or not specification.partial_domain:
        exhaustive_length(n_symbols, asked)
    elif asked is not None:
        _short_task_words(specification, asked)


def check_all(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    specification: Specification | None,
    config: ExtractionConfig,
    on_progress: Callable[[int, int | None], None] = lambda *_: None,
    *,
    cells: int | None = None,
    shown: Collection[str] = (),
    nested: Sequence[Word] = (),
    budget: Budget | None = None,
) -> tuple[Agreement, ...]:
    """Return every check: all words up to a length, long and deep words, and those that automata suggest.

    Each is made against language, rounded network and network. What proof and certificate have ``shown`` to hold for
    words of every length is only checked on all words up to a length; the network is run on fewer long words where both
    are, and on none where a certificate is its own. No stack gets higher than ``cells``, by default the network's.
    Networks without actions are checked on ``nested`` words, those of the W-method, and words drawn anew.

    The checks run in ``config.jobs`` processes, with the same result. Each may take half of the time that the
    ``budget`` has left, and says then what it knows. ``on_progress`` is called with how many are done, and of how many.
    """
    cells = model.stack_limit if cells is None else cells
    sides: dict[str, tuple[StackModel[Any], Specification | None]] = {_ROUNDED: (Rounded(model), None)}
    alone = model.action_kind == "none"  # then there is nothing to round: one answer is both
    if not alone:
        sides["network"] = (model, None)
    if specification is not None:
        sides = {"language": (model, specification), **sides}
    further = [side for name, side in sides.items() if name not in shown]
    if shown and len(further) == 1:
        few = {name: getattr(config, name) // _FEWER for name in ("long_words", "climbs", "walks", "depth")}
        config = replace(config, **few)
    tasks = list[tuple[CheckKind, partial[Any]]]()
    if specification is None and not model.real_time:
        words = words_over(model.alphabet, _EXHAUSTIVE // _SHARE, config.max_length)
        tasks += [("exhaustive", partial(agree_on, pda, *side, words, "exhaustive", None)) for side in sides.values()]
    elif specification is None or not specification.partial_domain:
        length = exhaustive_length(len(pda.input_alphabet), config.max_length, affordable=model.affordable)
        length = length if model.longest is None else min(length, model.longest)
        tasks += [("exhaustive", partial(agree_on_all, pda, *side, length)) for side in sides.values()]
    lists, facts, families = list[tuple[CheckKind, list[Word]]](), dict[str, dict[str, Any]](), list[tuple[Pump, int]]()
    budget, made = budget or Budget(), list[Agreement]()
    with budget.stage("words for other checks", 1 / 2):
        lists += _word_lists(pda, cells, specification, config, bool(further))
        if alone and model.real_time:
            tests, facts = _box_tests(pda, model, specification, config.seed)
            lists += [("nested", list(nested)), *tests]
        if config.cycles and further and model.longest is None:
            families += pumped_families(pda, model, specification, config.cycles, config.seed, cells)
    for kind, words in lists:
        words = [word for word in words if model.longest is None or len(word) <= model.longest]
        asked = sides.values() if kind == "exhaustive" else further
        tasks += [(kind, partial(agree_on, pda, *side, words, kind, specification)) for side in asked if words]
    if families:
        tasks += [("pumped", partial(agree_on_pumps, pda, *side, families, specification)) for side in further]
    results: Iterator[tuple[Agreement | None, bool]] = iter(())
    if config.jobs > 1:
        from joblib import Parallel, delayed

        limit = budget.limit()
        results = Parallel(n_jobs=config.jobs, return_as="generator")(delayed(_ended)(limit, task) for _, task in tasks)
    for number, (kind, task) in enumerate(tasks, start=1):
        result, cut, name = None, False, f"the {kind} check against the {side_name(*task.args[1:3])}"
        with budget.stage(name, 1 / min(2, 1 + len(tasks) - number)):
            result, cut = (task(), False) if config.jobs == 1 else next(results)
            if cut:
                cut_short()
        if result is not None:
            # what all words of the W-method show, some of them do not
            known = {} if result.kind == "conformance" and name in budget.unfinished else facts.get(result.kind, {})
            made.append(replace(result, **known))
            if alone and result.other == _ROUNDED:  # the network is its own rounded network
                made.append(replace(made[-1], other="network"))
        on_progress(number, len(tasks))
    return tuple(made)


def _ended(limit: TimeLimit, task: Callable[[], Agreement | None]) -> tuple[Agreement | None, bool]:
    """Return what a check in a process of its own says within ``limit``, and whether that ended it."""
    try:
        with time_limit(limit):
            return task(), limit.cut
    except OutOfTimeError:
        return None, True


def _box_tests(
    pda: PushdownAutomaton, model: StackModel[Any], specification: Specification | None, seed: int
) -> tuple[list[tuple[CheckKind, list[Word]]], dict[str, dict[str, Any]]]:
    """Return the words of the W-method, words drawn anew, which bound errors, and facts for both checks."""
    tests, more = conformance_test(pda, model, specification, seed)
    number = _DRAWN if model.affordable is None else min(_DRAWN, model.affordable // _LONG_SHARE)
    low, high = (one if model.longest is None else min(one, model.longest) for one in _DRAWN_LENGTHS)
    fresh = crc32(f"{seed} {sorted(map(str, pda.transitions.items()))}".encode())
    if specification is None:
        drawn, how = random_words(model.alphabet, number, (low, high), fresh), "uniformly random symbols"
    else:
        drawn, how = specification.long_words(number, (low, high), fresh), f"as {specification.name} draws words"
    facts: dict[str, dict[str, Any]] = {
        "conformance": {"more_states": more},
        "random": {"drawn": f"{how}, lengths {low} to {high}"},
    }
    return [("conformance", tests), ("random", drawn)], facts


def agree_on_pumps(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    other: Specification | None,
    families: Sequence[tuple[Pump, int]],
    domain: Specification | None = None,
) -> Agreement:
    """Return the agreement on ``families`` with ``other``, or with ``model`` itself where that is None.

    What is counted are families: those in which a word was found on which they differ. Buffered networks and black
    boxes are compared as a language is, on some numbers of rounds: they answer to whole words.
    """
    differ = partial(differ_on, pda, model, other, domain=domain)
    if other is None and model.real_time and not is_asked(model):
        lines = pump_lines(pda, model, families, domain)
        found, longest = partings(model, lines)
        broken = shortest_break(found, differ)
        count, wrong = len(lines), len(found) if broken is not None else 0
    else:
        rows = pumped_words(model, families)
        hits = np.flatnonzero(differ([word.word for _, word in rows])).tolist() if rows else []
        broken = min((rows[i][1] for i in hits), key=lambda found: len(found.word), default=None)
        longest = max((len(word.word) for _, word in rows), default=0)
        count, wrong = len({number for number, _ in rows}), len({rows[i][0] for i in hits})
    name = side_name(model, other)
    word, made_of = (None, None) if broken is None else (broken.word, str(broken))
    return Agreement("pumped", name, longest, count, count, wrong, word, made_of=made_of)


def within_means(config: ExtractionConfig, model: StackModel[Any]) -> ExtractionConfig:
    """Return ``config`` with as many words and cycles as may be asked of ``model``, where that is slow."""
    if model.longest is not None:
        high = min(config.long_lengths[1], model.longest)
        config = replace(config, long_lengths=(min(config.long_lengths[0], high // 2), high))
    if model.affordable is None:
        return config
    some = min(config.long_words, model.affordable // _LONG_SHARE)
    cycles = min(config.cycles, _CYCLES_OF_A_BOX if is_asked(model) else _CYCLES)
    return replace(config, long_words=some, cycles=cycles, depth=min(config.depth, _DEEP))


def check_sampled(
    found: Candidate, scorer: Scorer, model: StackModel[Any], checks: Sequence[Agreement]
) -> tuple[Agreement, ...]:
    """Return the check of an automaton that errs on some of its search's own words, where other ``checks`` passed."""
    if found.automaton is None or not found.disagreements or first_contradiction(checks) is not None:
        return ()
    words = list(dict.fromkeys([*scorer.samples.words, *scorer.broken_by(found.automaton)]))
    side = model if isinstance(scorer.model, Unrounded) else Rounded(model)
    return (agree_on(found.automaton, side, None, words, "sampled", scorer.specification),)


def _word_lists(
    pda: PushdownAutomaton, cells: int | None, specification: Specification | None, config: ExtractionConfig, long: bool
) -> list[tuple[CheckKind, list[Word]]]:
    """Return the words to check by kind, only short ones unless ``long``, that the network has cells enough for."""
    searched = search_words(pda, specification, config.effort(cells), config.seed) if long else []
    if specification is None:
        lists = [("long", walk_words(pda, config.long_words // 10, config.long_lengths, config.seed)), *searched]
    else:
        # shorter ones where the network has cells enough for few of the long words
        (low, high), drawn = config.long_lengths, None if long else list[Word]()
        while drawn is None:
            words = specification.long_words(config.long_words, (low, high), config.seed)
            within = _within_reach(pda, cells, words)
            drawn = within if 2 * len(within) >= len(words) or high < 4 else None
            low, high = max(2, low // 2), high // 2
        depth = config.depth if cells is None else min(config.depth, max(1, cells - SPARE_CELLS))
        lists = [
            # beside all words, where not all words over the alphabet are meant
            ("exhaustive", _short_task_words(specification, config.max_length) if specification.partial_domain else []),
            ("long", drawn),
            ("deep", specification.deep_words(config.deep_words, depth, config.seed) if long else []),
            *searched,
        ]
    kept = []
    for kind, words in lists:
        some = _within_reach(pda, cells, words)
        kept.append((kind, _whole_lengths(words, some) if kind == "exhaustive" else some))
    return [(kind, words) for kind, words in kept if words]


def _short_task_words(specification: Specification, asked: int | None) -> list[Word]:
    return specification.short_words(_EXHAUSTIVE // (_SHARE if asked is None else _SHARE_ASKED), asked)


def _whole_lengths(words: list[Word], kept: list[Word]) -> list[Word]:
    if len(kept) == len(words):
        return words
    left_out = min(len(word) for word in set(words) - set(kept))
    return [word for word in kept if len(word) < left_out]


def _within_reach(pda: PushdownAutomaton, cells: int | None, words: list[Word]) -> list[Word]:
    if cells is None or not words:
        return words
    heights = greatest_heights(pda, words)
    return [word for word, height in zip(words, heights, strict=True) if height <= cells]
