"""One word through a network, with the topmost cells of its stacks, and through an automaton, however long it is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from ...automata.pda import Output, PushdownAutomaton, Word, rule
from ...automata.runs import accepts_many
from ...core.errors import StacklensError
from ...extract.specification import Specification
from ...models.base import StackModel
from ...models.inference import automaton_answers, network_answers, output_number
from ...probe.edits import Intervened, steps_of
from ...probe.trace import Trace, trace
from ..operations import filled_shares

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
    codes, steps = steps_of(model, (word,))  # the number of the letter that each step reads, (1, T)
    entered: Callable[[Any, int], Any] = model.entered if isinstance(model, Intervened) else lambda state, _: state
    plain = model.model if isinstance(model, Intervened) else model  # whose verdict is that of a word that ends here
    # of every step actions, pushed, reading, output, and whether the word has been rejected; and its topmost cells
    taken, cells = list[tuple[torch.Tensor, ...]](), list[torch.Tensor]()
    accepts = [bool(plain.verdict(state)[0])] if recogniser else []
    state = entered(state, 0)
    hidden = [state.hidden]
    for step, number in enumerate(codes[0].tolist()):
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
    begun = codes, steps, torch.stack(hidden, 1).numpy()
    seen = Trace((word,), model.letters, *begun, actions, pushed, reading, output, rejected, ~rejected[:, -1])
    kept = torch.stack(cells).cpu().numpy() if cells else None
    filled = None if kept is None else filled_shares(model, seen.actions[0], kept.shape[2])
    return BenchRun(model, word, seen, kept, filled, verdicts)


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
            for place, configuration in zip(range(len(word)), pda.at_rest(word), strict=False):
                output = configuration.output
                if output not in numbers:
                    numbers[output] = output_number(output, model)
                found[place] = numbers[output]
            return found
        answers = np.asarray(automaton_answers(pda, model, [word])[0][: len(word)])
        alive = np.arange(len(word)) < sum(1 for _ in pda.at_rest(word))
        return np.where((answers == -1) & alive, UNSAID, answers)  # it goes on, and says nothing here
    if pda.end_marker is None:
        return _accepted_prefixes(pda, word)
    return _of_prefixes(word, lambda words: accepts_many(pda, words))


def _accepted_prefixes(pda: PushdownAutomaton, word: Word) -> np.ndarray:
    found = np.zeros(len(word), dtype=np.int64)
    for place, configuration in enumerate(pda.at_rest(word)):
        found[place] = pda.accepts_configuration(configuration)
    return found


# ---- An automaton's run on one word as plain data: what a browser needs to follow it by itself ----


class AfterLetter(NamedTuple):
    """Where a run is once a letter and its ε-steps are read; states and symbols are their numbers in the automaton."""

    taken: int  # how many moves there have been
    state: int
    pushed: list[int]  # what these steps have pushed to every stack, -1 for nothing
    tops: list[int]  # the topmost symbol of every stack, -1 where it is empty
    heights: list[int]  # how high every stack is


@dataclass(frozen=True)
class BenchAutomatonRun:
    """What a run does at each letter, until it is cut short."""

    moves: list[int]  # the number of the rule of each step in ``pda.transitions``, ε-steps too
    letters: list[AfterLetter]  # as long as the run goes
    stuck: str | None  # why the run ends early, or None


def run_automaton(pda: PushdownAutomaton, word: Word) -> BenchAutomatonRun:
    """Return the run of ``pda`` on ``word``; with an end marker it is read as a last letter."""
    rules = {key: number for number, key in enumerate(pda.transitions)}
    states = {state: number for number, state in enumerate(pda.states)}
    symbols = {symbol: number for number, symbol in enumerate(pda.stack_alphabet)}
    moves, after, here = list[int](), list[AfterLetter](), pda.start
    for key, here in pda.moves(word):
        moves.append(rules[key])
        pushed = [-1] * pda.n_stacks
        if not key[1]:
            if not after:  # an ε-step before the first letter
                continue
            pushed = after.pop().pushed
        for stack, operation in enumerate(pda.transitions[key].operations):
            if operation.push is not None:
                pushed[stack] = symbols[operation.push]
        tops = [symbols[stack[-1]] if stack else -1 for stack in here.stacks]
        after.append(AfterLetter(len(moves), states[here.state], pushed, tops, list(map(len, here.stacks))))
    read = (*word, *pda.letters[len(pda.input_alphabet) :])
    stuck = None
    if len(after) < len(read):
        tops_shown = " ".join(here.tops(pda.bottom))
        stuck = f"rejected: {here.state} has no transition on {read[len(after)]} with {tops_shown} on top"
    return BenchAutomatonRun(moves, after, stuck)


def run_data(pda: PushdownAutomaton, run: BenchAutomatonRun) -> dict[str, Any]:
    """Return the run with the automaton's rules: of each from, to, operations as [pop, push], and what it is called."""
    places = {state: number for number, state in enumerate(pda.states)}
    rules = [
        [places[key[0]], places[step.target], [[op.pop, op.push] for op in step.operations], rule(key, step)]
        for key, step in pda.transitions.items()
    ]
    return {
        "states": list(pda.states),
        "symbols": list(pda.stack_alphabet),
        "initial": places[pda.initial],
        "stacks": pda.n_stacks,
        "bottom": pda.bottom,
        "rules": rules,
        "moves": run.moves,
        "taken": [one.taken for one in run.letters],
        "after": [one.state for one in run.letters],
        "stuck": run.stuck,
    }
