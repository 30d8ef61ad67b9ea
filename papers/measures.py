"""What is measured of one network of a grid besides its scores: long words, and predictors of what comes of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from ..automata.coverage import pumps
from ..automata.pda import Word
from ..automata.runs import greatest_heights
from ..core.errors import StacklensError, UnknownNameError
from ..extract.samples import margins as margins_of
from ..extract.specification import TaskSpecification
from ..languages.catalogue import get_task
from ..languages.classic import Dyck
from ..languages.language import make_word
from ..languages.next_sets import BoundedDyck
from ..languages.task import Task
from ..models.base import ActionKind, StackModel, one_thread
from ..models.inference import outputs_on
from ..models.rounding import Operation, Rounded, operation_numbers, round_actions
from ..probe.geometry import distances
from ..probe.trace import Trace, trace


def measures_of(model: Any, task: str | None) -> dict[str, Any] | None:
    """Return the measures of a network with a memory on the task called ``task``, as plain data; None for others.

    "predictors" are those of `predictors`; "long words" has, by "network" and "rounded network", what
    `accuracy_by_length` says, beside the "lengths" and how many "words" of each, None where the task has no
    such words. Networks with an input queue are None: they answer to whole words.
    """
    if task is None or not model.n_stacks or not model.real_time or model.task_kind == "recognition":
        return None
    try:
        asked = get_task(task)
    except UnknownNameError:
        return None
    begun = time.process_time()
    with one_thread():
        found: dict[str, Any] = {"predictors": predictors(model, sample_words(asked)), "long words": None}
        if (words := draw_long_words(asked, model.stack_limit)) is not None:
            found["long words"] = {
                "lengths": list(words.lengths),
                "words": [words.groups.count(group) for group in range(len(words.lengths))],
                "network": accuracy_by_length(model, asked, words),
                "rounded network": accuracy_by_length(Rounded(model), asked, words),
            }
    return {**found, "seconds": round(time.process_time() - begun, 2)}


# ---- Accuracy on long words that repeat a block, beside that on random words of the same length and depth ----
# A network may leave a little behind at every round of a block, which adds up, or just at every step. To tell these
# apart each pumped word u v^n x y^n w of a task (see `automata.coverage`) has a control: a random word of the same
# task, length and depth. What the network gets wrong of the one and not of the other is due to the repetition. Of
# bracket languages a second control is drawn among all words of the length, as deep as comes: such blocks are shallow.

LENGTHS = (24, 48, 96, 192, 384, 768)  # symbols at most; the papers test on up to about 100
_FAMILIES, _MOST = 160, 32  # blocks that are looked for, and how many are taken
_ROOM = 4  # cells of a finite stack that are left free
_SEED = 1_993
_TRIES = 200  # for a random word of a given depth


@dataclass(frozen=True)
class LongWords:
    """Pumped words and their controls."""

    lengths: tuple[int, ...]  # how long the words are at most, one for each group of words
    groups: tuple[int, ...]  # which of ``lengths`` each word is of, a place each
    pumped: tuple[Word, ...]  # the words that repeat a block
    control: tuple[Word, ...]  # random words, each as long and as deep as the pumped one at its place
    drawn: tuple[Word, ...] = ()  # of bracket languages random words as long as each pumped one, of any depth


@lru_cache(maxsize=8)  # the networks of a table are asked the same words
def draw_long_words(task: Task, cells: int | None = None) -> LongWords | None:
    """Return long words of ``task`` whose stacks need no more than ``cells``; None where it has no such words. A block
    is repeated on the spot where the task allows that, else with what takes it back: v^n # y^n. Streams have no
    controls, since their pieces have no depth to be kept, and tasks without a reference automaton no blocks.

    >>> from stacklens.languages.catalogue import get_task
    >>> words = draw_long_words(get_task("dyck-2"))
    >>> words.pumped[0], len(words.control[0]), words.lengths[-1]
    ('()()()()()()()()()()()()', 24, 768)
    """
    if task.reference is None or task.kind == "next symbol":
        return None
    families = pumps(task.reference, _FAMILIES, _SEED, rejected=False)
    flat = [family for family in families if not family.climb and not family.back]
    chosen = flat or families
    chosen = chosen[:: -(-len(chosen) // _MOST)] if chosen else []
    found: list[tuple[int, Word, Word]] = []
    for place, length in enumerate(LENGTHS):
        # the longest word of each family that is no longer, none twice
        words: dict[Word, None] = {}
        for family in chosen:
            rounds = (length - len(family.word(0))) // (len(family.cycle) + len(family.back))
            deepest = family.height + max(0, rounds - 1) * family.climb
            if rounds > 2 and (cells is None or deepest <= cells - _ROOM):
                words[make_word(family.word(rounds), task.alphabet)] = None
        for word in words:
            control = _control_word(task, word, bool(flat), len(found))
            if control is not None:
                found.append((place, word, control))
    if not found:
        return None
    groups, pumped, control = zip(*found, strict=True)
    kept = sorted(set(groups))
    language = getattr(task, "language", None)
    lengths, drawn = tuple(LENGTHS[i] for i in kept), tuple[Word, ...]()
    if isinstance(language, Dyck):
        sizes = [len(word) for word in pumped]
        drawn = tuple(language.sample(1, (n, n), seed=seed)[0] for seed, n in enumerate(sizes, start=_SEED))
    return LongWords(lengths, tuple(map(kept.index, groups)), tuple(pumped), tuple(control), drawn)


def _control_word(task: Task, pumped: Word, flat: bool, number: int) -> Word | None:
    """Return a random word as long as ``pumped`` and, of bracket languages, as deep; None where there is none. Where
    words climb and come down again, depth follows from length; other ``flat`` words need no stack.
    """
    language, length = getattr(task, "language", None), len(pumped)
    if isinstance(language, Dyck):
        depth = depth_of(language, pumped)
        try:
            bounded = BoundedDyck(language.n, depth)
        except StacklensError:  # its automaton would be too large
            return None
        # all words that get just so deep are equally likely
        for attempt in range(_TRIES):
            (word,) = bounded.sample(1, (length, length), True, _SEED + _TRIES * number + attempt)
            if depth_of(language, word) == depth:
                return word
        return None
    if flat and task.reference is not None and greatest_heights(task.reference, [pumped])[0]:
        return None
    for size in (length, length // 2):  # what a task calls the size of a word: its length, or that of its first half
        try:
            (word,) = task.sample(1, (size, size), seed=_SEED + number).words
        except StacklensError:
            continue
        if len(word) == length:
            return word
    return None


def depth_of(language: Dyck, word: Word) -> int:
    """Return how many brackets are open at once at most.

    >>> depth_of(Dyck(2), "(([]))()")
    3
    """
    openers = {opener for opener, _ in language.pairs}
    return max(accumulate((1 if symbol in openers else -1 for symbol in word), initial=0))


def first_wrong(model: StackModel[Any], task: Task, words: tuple[Word, ...]) -> np.ndarray:
    """Return after how many symbols ``model`` first says something wrong that counts, (N,) int; 0 for never."""
    asked = TaskSpecification(task)
    wrong = outputs_on(model, words) != asked.answers(model, words)
    scored = asked.scored(words)
    wrong = wrong if scored is None else wrong & scored
    return np.asarray(np.where(wrong.any(1), wrong.argmax(1) + 1, 0))


def accuracy_by_length(model: StackModel[Any], task: Task, words: LongWords) -> dict[str, dict[str, Any]]:
    """Return how ``model`` does on pumped words and on their controls, by "pumped", "control" and, if any, "drawn".
    "accuracy" has the share of words of each length that it gets right as a whole; "horizon" the least number of
    symbols after which it was wrong, None where it never was.
    """
    groups = np.array(words.groups)
    kinds = {"pumped": words.pumped, "control": words.control} | ({"drawn": words.drawn} if words.drawn else {})
    together = first_wrong(model, task, sum(kinds.values(), ()))  # side by side, which costs little more than one set
    found = {}
    for name, steps in zip(kinds, np.split(together, len(kinds)), strict=True):
        shares = [round(float((steps[groups == group] == 0).mean()), 4) for group in range(len(words.lengths))]
        found[name] = {"accuracy": shares, "horizon": int(steps[steps > 0].min()) if steps.any() else None}
    return found


# ---- What is measured of a network before anything is clustered or learned from it: can one know beforehand? ----
# All of it comes from runs of the network, soft and rounded, on the same drawn words; no automaton has a part in it.

_WORDS, _PREDICTOR_SEED = 60, 2_018
_STEPS = (10, 25, 50, 75, 100)  # at which the drift is shown
_STATES = 64  # at which Jacobians are taken
_LEAST = 1e-12


def sample_words(task: Task) -> tuple[Word, ...]:
    """Return the words of ``task`` that networks are measured on: some of its test lengths, always the same."""
    return task.sample(_WORDS, split="test", seed=_PREDICTOR_SEED).words


def predictors(model: StackModel[Any], words: tuple[Word, ...]) -> dict[str, Any]:
    """Return figures by name, and "drift by step": at "steps" those of outputs and hidden vectors.
    What a network has not is None, as spread where too little is pushed.
    """
    soft, rounded = (trace(model, words, rounded=whole, stacks=False) for whole in (False, True))
    alive = soft.valid
    actions = soft.actions[alive]
    entropies, margins = action_entropy(model.action_kind, actions), margins_of(model.action_kind, actions)
    # how far the soft network is from the rounded one after some steps, means over the words that get there
    outputs = np.abs(soft.output - rounded.output).max(-1)
    hidden = np.linalg.norm(soft.hidden[:, 1:] - rounded.hidden[:, 1:], axis=-1)
    steps = [step for step in _STEPS if step <= soft.valid.shape[1] and soft.valid[:, step - 1].any()]
    steps = steps or [int(soft.valid.sum(0).nonzero()[0][-1]) + 1]
    rows = [soft.valid[:, step - 1] for step in steps]
    drift: dict[str, Any] = {"steps": steps}
    for name, values in (("outputs", outputs), ("hidden", hidden)):
        drift[name] = [_rounded(float(values[row, step - 1].mean())) for row, step in zip(rows, steps, strict=True)]
    radii = spectral_radii(model, soft)
    found: dict[str, Any] = {
        # in nats: the mean of all actions, and what 5 % of them exceed
        "action entropy": entropies.mean() if entropies.size else None,
        "action entropy, 95 %": np.quantile(entropies, 0.95) if entropies.size else None,
        # the distance of an action from being rounded otherwise, 0 to 0.5: the mean, and what 5 % of them stay below
        "action margin": margins.mean() if margins.size else None,
        "action margin, 5 %": np.quantile(margins, 0.05) if margins.size else None,
        # at step 100 or the last: the greatest difference of an output, and the distance of the hidden vector, means
        "output drift": drift["outputs"][-1],
        "hidden drift": drift["hidden"][-1],
        # of the Jacobian of the next hidden vector by the last, over steps
        "spectral radius": radii.mean() if radii.size else None,
        "spectral radius, largest": radii.max() if radii.size else None,
        "pushed spread": _spread(model, soft),
    }
    return {**{name: _rounded(value) for name, value in found.items()}, "drift by step": drift}


def action_entropy(kind: ActionKind, actions: np.ndarray) -> np.ndarray:
    """Return the entropy of each action of each stack in nats, (M, n_stacks); ``actions`` are (M, n_stacks, A). Of a
    strength or a signed action it is that of a coin whose chance is its size; strengths of a stack are added up.

    >>> action_entropy("softmax", np.array([[[1.0, 0.0]], [[0.5, 0.5]]])).round(3).tolist()
    [[0.0], [0.693]]
    """
    if kind == "none":
        return np.zeros((len(actions), 0))
    if kind == "softmax":
        shares = actions.clip(_LEAST, 1)
        return np.asarray(-(shares * np.log(shares)).sum(-1))
    sizes = np.abs(actions).clip(_LEAST, 1 - _LEAST)
    return np.asarray(-(sizes * np.log(sizes) + (1 - sizes) * np.log1p(-sizes)).sum(-1))


def spectral_radii(model: StackModel[Any], seen: Trace) -> np.ndarray:
    """Return the spectral radius of d hidden' / d hidden at some steps of ``seen``, (M,), the reading held as it was.
    Above 1 a disturbance of the hidden vector grows from step to step, as far as the stack does not take it away.
    """
    if not seen.hidden.shape[-1]:  # a controller without a state
        return np.zeros(0)
    rows, steps = np.nonzero(seen.valid)
    chosen = np.random.default_rng(_PREDICTOR_SEED).permutation(len(rows))[:_STATES]
    rows, steps = rows[chosen], steps[chosen]
    like = next(model.parameters()).detach()
    symbols = torch.from_numpy(seen.symbols[rows, steps].astype(np.int64))
    hidden, reading = (torch.from_numpy(part[rows, steps]).to(like) for part in (seen.hidden, seen.reading))

    def summed(vectors: torch.Tensor) -> torch.Tensor:  # over moments, none of which depends on another, (H,)
        return model.controller(symbols, vectors, reading).hidden.sum(0)

    # (H, M, H): a row for each unit after the step
    jacobians = torch.autograd.functional.jacobian(summed, hidden)  # type: ignore[no-untyped-call]
    return np.asarray(np.abs(np.linalg.eigvals(jacobians.movedim(0, 1).double().numpy())).max(-1))


def _spread(model: StackModel[Any], seen: Trace) -> float | None:
    """Return how far pushed values spread for one symbol, over how far two symbols' means lie apart, on the average.
    Only steps whose rounded action pushes count, or all where every action writes, as on a ring; the worst of several
    stacks counts. None where fewer than two symbols are pushed, or the symbols themselves are.
    """
    if model.pushes_input or model.action_kind == "none" or seen.pushed is None:
        return None
    taken = torch.from_numpy(seen.actions[seen.valid])
    numbers = operation_numbers(model.action_kind, model.operations, round_actions(model.action_kind, taken)).numpy()
    pushed, symbols = seen.pushed[seen.valid], seen.symbols[seen.valid]
    found = []
    for stack in range(model.n_stacks):
        named = numbers[:, stack] >= 0
        pushes = named & (numbers[:, stack] & Operation.PUSH > 0) if named.any() else ~named
        if not pushes.any():
            continue
        # a symbol that pushes one value has no spread; two that push the same lie nowhere apart
        groups = distances(pushed[pushes, stack], symbols[pushes])
        apart = [groups.between[i][j] for i in range(len(groups.names)) for j in range(i)]
        if apart and max(apart) > _LEAST:
            found.append(float(np.average(groups.within, weights=groups.sizes) / np.mean(apart)))
    return max(found, default=None)


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
