"""One word through a network, with the topmost cells of its stacks, however long the word is."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...automata.pda import Output, PushdownAutomaton, Word
from ...automata.runs import accepts_many
from ...core.errors import StacklensError, UnknownSymbolError
from ...extract.answers import automaton_answers, network_answers, output_number
from ...extract.evaluation.automaton_runs import at_rest
from ...extract.specification import Specification
from ...models.base import StackModel
from ...probe.edits import Edit, Intervened
from ...probe.trace import Trace, trace
from ..operations import Piece

# ---- What lies on a stack in a run that was changed: shares of cells that were pushed, and pieces of lengths ----

_PUT_THERE = "put there"  # in place of a letter
Then = Callable[[Any, Any], Any]


def shares_at(model: StackModel[Any]) -> Then:
    """Return what is made of the shares of the cells that were pushed, (n_stacks, C), as each step finds them.

    What was put into a cell counts as pushed.
    """
    edits = model.edits if isinstance(model, Intervened) else ()

    def then(step: int, shares: np.ndarray) -> np.ndarray:
        for edit in edits:
            if int(edit.at[0]) != step:
                continue
            if edit.part == "cells" and int(edit.place[0]) < shares.shape[1]:
                shares = shares.copy()
                shares[edit.number, int(edit.place[0])] = 1
            elif edit.part == "height":
                count = int(edit.value[0])
                shares = shares.copy()
                shares[edit.number] = np.concatenate([shares[edit.number, count:], np.zeros(count)])
        return shares

    return then


def pieces_at(model: StackModel[Any], steps: int) -> Then:
    """Return what is made of the pieces on a stack of lengths, the lowest first, as each of so many steps finds them.

    Those that were put there are numbered as if steps behind the last one had pushed them, see `read_by`.
    """
    edits = model.edits if isinstance(model, Intervened) else ()

    def then(step: int, there: list[Piece]) -> list[Piece]:
        for edit in edits:
            if int(edit.at[0]) != step:
                continue
            high, last = there[-1].top if there else 0.0, step - 1  # it is seen after the step before
            if edit.part == "height":
                there = _pieces_between(there, 0.0, max(0.0, high - float(edit.value[0])), last)
            elif edit.part == "cells":
                there = _with_cell(there, max(0.0, high - int(edit.place[0])), edit, last, steps)
        return there

    return then


def read_by(model: StackModel[Any], read: list[int]) -> dict[str, Any]:
    """Return which letter each step pushed, by its number in "names"; behind the steps what was put there, so many.

    What is no letter is called so.
    """
    names = list(model.letters)
    if not isinstance(model, Intervened):
        return {"read": read, "names": names, "put": 0}
    read, put = list(read), [row for edit in model.edits if edit.part == "cells" for row in edit.value.values[0]]
    for edit in model.edits:
        if edit.part == "pushed":
            value = edit.value[0, 0] if isinstance(edit.value, Tensor) else None
            read[int(edit.at[0])] = _letter(model, value)
    return {"read": [*read, *(_letter(model, row) for row in put)], "names": [*names, _PUT_THERE], "put": len(put)}


def _letter(model: StackModel[Any], value: Tensor | None) -> int:
    """Return which letter a network that pushes what it reads has pushed for ``value``; one too many for none."""
    found = None if value is None or not model.pushes_input else value.argmax()
    whole = found is not None and value is not None and float(value[found]) == float(value.abs().sum()) == 1
    return int(found) if found is not None and whole else len(model.letters)


def _with_cell(there: list[Piece], high: float, edit: Edit, step: int, put: int) -> list[Piece]:
    low, found = max(0.0, high - 1), list[Piece]()
    ends = low + np.cumsum([0.0, *edit.value.lengths[0].tolist()])
    for number, (bottom, top) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
        if min(top, high) > bottom:
            found.append(Piece(put + number, step, step, bottom, min(top, high)))
    return [*_pieces_between(there, 0.0, low, step), *found, *_pieces_between(there, high, np.inf, step)]


def _pieces_between(there: list[Piece], low: float, high: float, step: int) -> list[Piece]:
    """Return the pieces that lie between two heights, those that are cut as new ones from ``step`` on."""
    found = []
    for piece in there:
        bottom, top = max(piece.bottom, low), min(piece.top, high)
        if top <= bottom:
            continue
        same = (bottom, top) == (piece.bottom, piece.top)
        found.append(piece if same else Piece(piece.pushed, step, step, bottom, top))
    return found


# ---- One word through a network, with the topmost cells of its stacks, however long the word is ----

Kept = tuple[Tensor, ...]  # of a step: actions, pushed, reading, output, and whether the word has been rejected
CELLS = 8  # topmost cells of a stack that are kept of every step


@dataclass(frozen=True)
class BenchRun:
    """What a network does on one word of T steps."""

    model: StackModel[Any]  # the network, or the rounded one
    word: Word  # the word
    seen: Trace  # its trace, without the stacks
    # the topmost cells of every stack after each step, (T, n_stacks, C, D), C at most `CELLS`; None where the memory
    # has no cells
    cells: np.ndarray | None
    # which share of each of these cells was pushed, (T, n_stacks, C): 0 is an empty cell. None where the actions do not
    # say
    filled: np.ndarray | None
    # whether a recogniser accepts what it has read so far, (len(word) + 1,) bool, first the empty word; None for others
    accepts: np.ndarray | None

    @property
    def steps(self) -> int:
        """Return the number of steps, T."""
        return int(self.seen.steps[0])


@torch.inference_mode()
def bench_run(model: StackModel[Any], word: Word) -> BenchRun:
    """Return what ``model`` does on ``word``, in a time that grows with its length and not with its square.

    A network under intervention is one for its word, and runs once.
    """
    state = model.initial_state(1)
    recogniser, has_cells = model.task_kind == "recognition", hasattr(state.stack, "topmost")
    changed = isinstance(model, Intervened)
    if model.extra_steps or not (recogniser or has_cells or changed):
        return BenchRun(model, word, trace(model, [word], stacks=False), None, None, None)
    # the number of the letter that each step reads, (T,)
    numbers = {symbol: number for number, symbol in enumerate(model.alphabet)}
    unknown = next((symbol for symbol in word if symbol not in numbers), None)
    if unknown is not None:
        raise UnknownSymbolError(unknown, model.alphabet)
    codes = np.array([*(numbers[symbol] for symbol in word), *[len(numbers)] * (model.end is not None)], np.int32)
    entered: Then = model.entered if isinstance(model, Intervened) else lambda state, _: state
    plain = model.model if isinstance(model, Intervened) else model  # whose verdict is that of a word that ends here
    taken, cells = list[Kept](), list[Tensor]()
    accepts = [bool(plain.verdict(state)[0])] if recogniser else []
    state = entered(state, 0)
    hidden = [state.hidden]
    for step, number in enumerate(codes.tolist()):
        one = model.step(torch.tensor([number]), state)
        state = one.state
        if recogniser and step < len(word):
            accepts.append(bool(plain.verdict(state)[0]))
        state = entered(state, step + 1)
        hidden.append(state.hidden)
        # a reading, and the topmost cells, may be views of all cells, which would be kept with them
        taken.append((one.actions, one.pushed, one.reading.clone(), one.output, state.rejected))
        if has_cells:
            top = state.stack.topmost(min(CELLS, model.stack_limit or CELLS))[0]  # (n_stacks, C, D)
            cells.append(top[:, :CELLS].clone())  # a ring gives all that it has
    if recogniser:  # what has been changed at the end counts, too
        accepts[-1] = bool((model.decide(state) & ~state.rejected)[0])
    verdicts = np.array(accepts) if recogniser else None
    if not taken:
        return BenchRun(model, word, trace(model, [word], stacks=False), None, None, verdicts)
    # as `trace` gives it without the stacks
    actions, pushed, reading, output, rejected = (torch.cat(one)[None].numpy() for one in zip(*taken, strict=True))
    begun = codes[None], np.array([len(codes)], np.int64), torch.stack(hidden, 1).numpy()
    seen = Trace((word,), model.letters, *begun, actions, pushed, reading, output, rejected, ~rejected[:, -1])
    kept = torch.stack(cells).cpu().numpy() if cells else None
    filled = None if kept is None else filled_shares(model, seen.actions[0], kept.shape[2])
    return BenchRun(model, word, seen, kept, filled, verdicts)


def filled_shares(model: StackModel[Any], actions: np.ndarray, cells: int) -> np.ndarray | None:
    """Return which share of each of the topmost ``cells`` was pushed, (T, n_stacks, cells), between 0 and 1.

    The actions (T, n_stacks, A) move what was pushed as they move values (Joulin & Mikolov 2015, eq. 3): what lies in a
    soft cell is a mixture, and this is the share of it that any push has laid there. None where the actions are of
    another kind.
    """
    names = model.operations
    if model.action_kind != "softmax" or not {"push", "pop"} <= set(names) <= {"push", "pop", "none", "no-op"}:
        return None
    depth = min(len(actions), model.stack_limit or len(actions)) + 1
    push, pop = (actions[..., names.index(name), None] for name in ("push", "pop"))
    stays = np.clip(1 - push - pop, 0, 1)
    put = shares_at(model)
    shares = put(0, np.zeros((actions.shape[1], depth + 1)))
    found, kept = np.zeros((len(actions), actions.shape[1], cells)), min(cells, depth + 1)
    for t in range(len(actions)):
        after = stays[t] * shares
        after[:, :1] += push[t]
        after[:, 1:] += push[t] * shares[:, :-1]
        after[:, :-1] += pop[t] * shares[:, 1:]
        shares = put(t + 1, after)
        found[t, :, :kept] = shares[:, :kept]
    return np.clip(found, 0, 1)


# ---- What network, automaton and language say after every symbol of one word, as numbers that can be compared ----
#
# A recogniser's answer after a symbol is whether it would accept if the word ended there, so that all parties answer
# one question at every step. Predictors and transducers say an output, or -1 where the word has been rejected.

UNSAID = -2  # nothing is asked or known here
MOST_PREFIXES = 500  # of a word; beyond, only an automaton can tell of each whether it is a member


@dataclass(frozen=True)
class Expected:
    """The answers that are right."""

    name: str | None  # of the language or task; None where it is not known
    answers: np.ndarray  # what to expect after each symbol, (T,) int; `UNSAID` where nothing is
    problem: str | None = None  # why nothing at all is expected, as the end of a sentence, or None


def answers_of(run: BenchRun) -> np.ndarray:
    """Return what a network says after each symbol of its word, (len(word),) int."""
    model, size = run.model, len(run.word)
    if run.accepts is not None:
        return run.accepts[1:].astype(np.int64)
    if not model.real_time:
        return np.asarray(network_answers(model, [run.word])[0, :size], dtype=object)
    if not size:
        return np.zeros(0, dtype=np.int64)
    numbers = np.asarray(model.output_numbers(torch.from_numpy(run.seen.output[0, :size])))
    return np.where(run.seen.rejected[0, :size], -1, numbers)


def answer_name(model: StackModel[Any], number: int, cell: bool = False) -> str:
    """Return how an answer is written in a sentence, or closer together in a ``cell`` of the table."""
    if number == UNSAID:
        return "·"
    if model.task_kind == "recognition":
        return "yes" if number else "no"
    if number < 0:
        return "rejects"
    name = model.output_name(int(number))
    if isinstance(name, str):
        return name
    written = set_name(name)
    return written.replace(" ", "") if cell and max(map(len, name), default=1) == 1 else written


# what names are sorted by, so that the numbers in them are in order
numbered = partial(re.sub, r"\d+", lambda found: found[0].zfill(9))


def set_name(symbols: Iterable[str]) -> str:
    """Return how a set is written, its symbols as they come.

    >>> set_name("(["), set_name(())
    ('{( [}', '∅')
    """
    inside = " ".join(symbols)
    return f"{{{inside}}}" if inside else "∅"


def expected_of(specification: Specification | None, model: StackModel[Any], word: Word) -> Expected:
    """Return the right answers after each symbol of ``word`` by a network that does what it was trained for."""
    nothing = np.full(len(word), UNSAID)
    if specification is None:
        return Expected(None, nothing, "what it was trained on is not known")
    if model.task_kind == "recognition":
        truth = specification.automaton()
        if truth is not None and truth.end_marker is None:
            return Expected(specification.name, _accepted_prefixes(truth, word))
        members = _of_prefixes(word, lambda words: specification.answers(model, words)[:, 0])
        return Expected(specification.name, members)
    try:
        counts = specification.scored([word])
    except StacklensError:
        return Expected(specification.name, nothing, f"this is no word of the task {specification.name}")
    answers = np.asarray(specification.answers(model, [word])[0][: len(word)])
    if counts is not None:
        answers = np.where(counts[0][: len(word)], answers, UNSAID)
    none = "" if len(word) == 0 or (answers != UNSAID).any() else f"{specification.name} asks for nothing on this word"
    return Expected(specification.name, answers, none or None)


def _of_prefixes(word: Word, judge: Callable[[list[Word]], np.ndarray]) -> np.ndarray:
    """Return the verdict on every prefix but the empty one, (T,); of a long word on the word alone, else `UNSAID`."""
    first = 1 if len(word) <= MOST_PREFIXES else len(word)
    found = np.full(len(word), UNSAID)
    found[first - 1 :] = judge([word[:end] for end in range(first, len(word) + 1)]) if len(word) else 0
    return found


def automaton_says(pda: PushdownAutomaton, model: StackModel[Any], word: Word) -> np.ndarray:
    """Return what ``pda`` says after each symbol of ``word`` in the numbers of ``model``, (len(word),)."""
    if not len(word):
        return np.zeros(0, dtype=np.int64)
    if model.task_kind != "recognition":
        if pda.real_time and model.real_time:
            # one walk over the word: a table of one row takes three times as long
            found = np.full(len(word), -1)
            numbers: dict[Output, int] = {None: UNSAID}  # it goes on, and says nothing here
            for place, configuration in zip(range(len(word)), at_rest(pda, word), strict=False):
                output = configuration.output
                if output not in numbers:
                    numbers[output] = output_number(output, model)
                found[place] = numbers[output]
            return found
        answers = np.asarray(automaton_answers(pda, model, [word])[0][: len(word)])
        alive = np.arange(len(word)) < sum(1 for _ in at_rest(pda, word))
        return np.where((answers == -1) & alive, UNSAID, answers)  # it goes on, and says nothing here
    if pda.end_marker is None:
        return _accepted_prefixes(pda, word)
    return _of_prefixes(word, lambda words: accepts_many(pda, words))


def _accepted_prefixes(pda: PushdownAutomaton, word: Word) -> np.ndarray:
    found = np.zeros(len(word), dtype=np.int64)
    for place, configuration in enumerate(at_rest(pda, word)):
        found[place] = pda.accepts_configuration(configuration)
    return found
