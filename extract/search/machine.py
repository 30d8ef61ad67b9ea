"""The discrete machine that a rounded network becomes once stack values are symbols and hidden vectors are states, and
its transition table.

A head is a state and, for every stack, the window of cells that the controller sees, top first. With a window deeper
than one cell a stack symbol stands for the whole window that its cell tops, so the automaton's own top is all that the
network sees.

What makes states of hidden vectors is a quantiser: two or more levels for every state neuron, or K-means clusters (Sun
et al. 1993, section 3.6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from ...automata.pda import Acceptance, Key, Output, PushdownAutomaton, StackOp, State, Symbol, Tops, Transition
from ...automata.summaries import reachable_heads
from ...core.errors import StacklensError
from ...core.progress import check_time, count
from ...models.base import NetworkState, StackModel, Step, members_of
from ...models.rounding import Operation, Rounded, RoundedSteps, operation_numbers, without_empty_pops
from ...probe.trace import Trace

# ---- Quantisers: from hidden vectors to a finite set of states, each with a vector that stands for it ----

_RUNS, _ROUNDS = 4, 300  # of K-means, and of each run at most


@dataclass(frozen=True)
class Levels:
    """Every neuron apart, rounded to one of ``n`` equally spaced levels from 0 to 1; 2 is binary.

    With n = 5 the cuts are those of section 4.1: 0.125, 0.375, 0.625, 0.875.

    >>> Levels(2, 3).assign(np.array([[0.9, 0.2, 0.6]])), Levels(2, 3).label(5)
    (array([5]), '101')
    """

    n: int
    size: int

    @property
    def name(self) -> str:
        """Return what a report calls this quantiser."""
        return "binary" if self.n == 2 else f"{self.n} levels"

    def assign(self, hidden: np.ndarray) -> np.ndarray:
        """Return the state of each of ``hidden`` (M, H), (M,) int64: its levels as digits of a number."""
        # a value on a cut goes down, as S <= 0.5 is 0 in the paper
        levels = np.clip(np.ceil(hidden * (self.n - 1) - 0.5), 0, self.n - 1).astype(np.int64)
        return np.asarray(levels @ self._weights)

    def represent(self, numbers: np.ndarray) -> np.ndarray:
        """Return the vectors that stand for the states ``numbers`` (M,), (M, H): the levels themselves."""
        return self._digits(numbers) / (self.n - 1)

    def label(self, number: int) -> str:
        """Return the name of a state, the levels as digits, with points between them where some have two."""
        return ("." if self.n > 10 else "").join(map(str, self._digits(np.array([number]))[0]))

    @property
    def _weights(self) -> np.ndarray:
        if self.size * np.log2(self.n) > 62:
            raise ValueError(f"{self.n} levels of {self.size} neurons are too many states to number; use clusters")
        return self.n ** np.arange(self.size, dtype=np.int64)[::-1]

    def _digits(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(numbers[:, None] // self._weights % self.n)


@dataclass(frozen=True)
class Clusters:
    """The nearest of K centres, (K, H)."""

    centres: np.ndarray

    @property
    def name(self) -> str:
        """Return how many clusters there are, in words."""
        return count(len(self.centres), "cluster")

    def assign(self, hidden: np.ndarray) -> np.ndarray:
        """Return the nearest centre of each of ``hidden`` (..., H), (...) int64."""
        # |x|^2 is the same for every centre
        distances = (self.centres**2).sum(1) - 2 * hidden @ self.centres.T
        return np.asarray(distances.argmin(-1).astype(np.int64))

    def represent(self, numbers: np.ndarray) -> np.ndarray:
        """Return the centres ``numbers`` (M,), (M, H)."""
        return np.asarray(self.centres[numbers])

    def label(self, number: int) -> str:
        """Return the name of a state, its number behind a k."""
        return f"k{number}"


Quantiser = Levels | Clusters


def cluster(vectors: np.ndarray, k: int, seed: int = 0, largest: int = 20_000) -> Clusters:
    """Return at most ``k`` K-means clusters of ``vectors`` (M, H); fewer where there are fewer different vectors.

    At most ``largest`` vectors, drawn by ``seed``, are clustered; of several runs the tightest is taken (Lloyd's
    algorithm from the start of Arthur & Vassilvitskii 2007, "k-means++"). The centres come in lexicographic order, so
    that their numbers do not depend on where it began. It is written out here since scikit-learn, which gives the
    same, takes longer to import than a network takes to be read.
    """
    distinct = np.unique(vectors, axis=0)
    rng = np.random.default_rng(seed)
    if len(distinct) > largest:
        distinct = rng.choice(distinct, largest, replace=False)
    if len(distinct) <= k:
        return Clusters(distinct)
    tightest, best = np.inf, distinct[:0]
    for _ in range(_RUNS):
        # some of the vectors to begin with, far apart: each the best of a few drawn by distance
        chosen = [distinct[rng.integers(len(distinct))]]
        nearest = ((distinct - chosen[0]) ** 2).sum(1)
        while len(chosen) < k:
            check_time()
            total = np.cumsum(nearest)
            drawn = np.searchsorted(total, rng.random(2 + int(np.log(k))) * total[-1])
            drawn = np.minimum(drawn, len(distinct) - 1)
            left = np.stack([np.minimum(nearest, ((distinct - distinct[one]) ** 2).sum(1)) for one in drawn])
            place = int(left.sum(1).argmin())  # of those that were drawn: left is (drawn, M)
            chosen.append(distinct[drawn[place]])
            nearest = left[place]
        # each centre goes to the middle of the vectors that are nearest to it, until none of them changes
        centres, numbers = np.array(chosen), np.full(len(distinct), -1)
        for _ in range(_ROUNDS):
            before, numbers = numbers, Clusters(centres).assign(distinct)
            if (before == numbers).all():
                break
            sizes = np.bincount(numbers, minlength=k)
            sums = np.stack([np.bincount(numbers, column, k) for column in distinct.T], 1)
            # one that has lost all its vectors stays where it is
            centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
        spread = float(((distinct - centres[numbers]) ** 2).sum())
        if spread < tightest:
            tightest, best = spread, centres
    return Clusters(np.unique(best, axis=0))


def vectors(model: StackModel[Any], seen: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the hidden vectors (M, H) of a trace, at least the initial one, and the values laid on stacks (L, D)."""
    hidden = seen.hidden[:, 1:][seen.valid & ~seen.rejected]
    if not len(hidden):
        hidden = seen.hidden[:1, 0]
    if model.action_kind == "none":
        return hidden, np.zeros((0, 1))

    # not what lies on soft stacks: the residue of an empty one would overlap real symbols
    actions = torch.from_numpy(np.nan_to_num(seen.actions))
    operations = operation_numbers(model.action_kind, model.operations, actions).numpy()
    return hidden, seen.pushed[(operations >= Operation.PUSH) & seen.valid[..., None]]


# ---- The machine ----

START = "start"
BOTTOM = "⊥"
EMPTY_CELL = -1  # the place of a cell that is not there
Window = tuple[int, ...]  # numbers of stack symbols, top first, EMPTY below the bottom


@dataclass(frozen=True)
class StackSymbols:
    """The stack symbols: names, and the value that stands for each, (K, D)."""

    names: tuple[Symbol, ...]
    values: np.ndarray

    @classmethod
    def numbered(cls, values: np.ndarray) -> StackSymbols:
        """Return symbols for ``values``, each called by its number behind an s."""
        return cls(tuple(f"s{i}" for i in range(len(values))), values)

    def assign(self, pushed: np.ndarray) -> np.ndarray:
        """Return the number of the nearest value to each of ``pushed`` (..., D), (...) int64."""
        return Clusters(self.values).assign(pushed)

    def window_name(self, window: Window) -> Symbol:
        """Return the automaton's stack symbol for a window; the bottom for an empty one. No two have the same."""
        if window[0] == EMPTY_CELL:
            return BOTTOM
        apart = "/" if len(window) > 1 else ""
        return "/".join(BOTTOM if cell == EMPTY_CELL else _escaped(self.names[cell], apart) for cell in window)


def joined_name(symbols: Sequence[Symbol], alphabet: Sequence[Symbol]) -> str:
    """Return ``symbols`` in one name, apart where ``alphabet`` has longer ones: no other symbols have the same name.

    >>> joined_name("ab", "ab"), joined_name(["a", "b"], ["a", "b", "ab"]), joined_name(["ab"], ["a", "b", "ab"])
    ('ab', 'a b', 'ab')
    """
    if all(len(symbol) == 1 for symbol in alphabet):
        return "".join(symbols)
    return " ".join(_escaped(symbol, " ") for symbol in symbols)


def _escaped(name: str, separator: str) -> str:
    if separator:
        name = name.replace("\\", "\\\\").replace(separator, f"\\{separator}")
    return f"\\{name}" if name.lstrip("\\") == BOTTOM else name


class MachineState(NamedTuple):
    """A state: the quantiser's number (None for the initial vector), and the set predicted last, where one matters."""

    number: int | None
    predicted: int | None = None


class MachineHead(NamedTuple):
    """A state and the window of every stack."""

    state: MachineState
    windows: tuple[Window, ...]


class RoundedStep(NamedTuple):
    """What a rounded network does at a head on a letter, or its verdict on the word that ends there."""

    rejected: bool = False  # whether it rejects; nothing else is known then
    # what it does to each stack, pops of nothing left out, and the number of the symbol that it pushes, None where it
    # pushes none
    operations: tuple[tuple[Operation, int | None], ...] = ()
    target: MachineState | None = None  # the next state
    output: int | None = None  # the number of the output, None for recognisers
    accepted: bool | None = None  # at the end of a word, whether it is accepted


class Answer(NamedTuple):
    """What the machine does at a head on a letter: the next state, one operation a stack, and the output."""

    target: MachineState
    operations: tuple[StackOp, ...]
    pushed: tuple[Window | None, ...]  # the window that each push makes
    output: Output


class Machine:
    """A rounded ``network`` with stack ``symbols`` and states, asked head by head."""

    def __init__(self, network: Rounded[Any], symbols: StackSymbols, quantiser: Quantiser) -> None:
        self.network, self.symbols, self.quantiser = network, symbols, quantiser
        self.n_stacks = max(1, network.n_stacks)  # an automaton has a stack, used or not
        self.empty: tuple[Window, ...] = ((EMPTY_CELL,) * network.depth,) * self.n_stacks
        self.start = MachineHead(MachineState(None), self.empty)
        self._initial = network.initial_state(1).hidden

    def name(self, state: MachineState) -> str:
        """Return the automaton's name for a state."""
        if state.number is None:
            return START
        label = self.quantiser.label(state.number)
        if state.predicted is None:
            return label
        return f"{label}:{joined_name(self.network.output_name(state.predicted), self.network.output_alphabet)}"

    def tops(self, windows: tuple[Window, ...]) -> Tops:
        """Return the automaton's tops for windows."""
        return tuple(map(self.symbols.window_name, windows))

    def vectors(self, states: list[MachineState]) -> torch.Tensor:
        """Return the hidden vectors that stand for states, (M, H)."""
        numbers = np.array([0 if state.number is None else state.number for state in states], dtype=np.int64)
        vectors = torch.from_numpy(self.quantiser.represent(numbers)).to(self._initial.dtype)
        initial = torch.tensor([state.number is None for state in states])
        return torch.where(initial.unsqueeze(1), self._initial, vectors)

    def state_of(self, heads: list[MachineHead]) -> NetworkState[Any]:
        """Return the network's state at ``heads``, nothing rejected."""
        states = [head.state for head in heads]
        never = torch.zeros(len(heads), dtype=torch.bool)
        stack = self.network.stack_of(self.cells([head.windows for head in heads]))
        output = None  # at the start, and where nothing is predicted; else sets as 0 and 1, (M, O)
        if states[0].number is not None and states[0].predicted is not None:
            sets = [state.predicted for state in states if state.predicted is not None]
            members = members_of(sets, len(self.network.output_alphabet))
            output = torch.from_numpy(members).to(self._initial.dtype)
        return NetworkState(self.vectors(states), stack, never, output)

    @torch.no_grad()
    def ask(self, heads: list[MachineHead]) -> dict[tuple[MachineHead, Symbol], Answer]:
        """Return what the machine does at each of ``heads`` on each letter; a rejection is missing."""
        answers: dict[tuple[MachineHead, Symbol], Answer] = {}
        letters = self.network.letters
        for group in ([h for h in heads if h.state.number is None], [h for h in heads if h.state.number is not None]):
            if not group:
                continue
            index = torch.arange(len(group)).repeat_interleave(len(letters))
            symbols = torch.arange(len(letters)).repeat(len(group))
            check_time()
            step = self.network.step(symbols, self.state_of(group).select(index))
            asked = [(head, letter) for head in group for letter in letters]
            found = self.steps_at([head.windows for head, _ in asked], self.steps(step))
            for (head, letter), one in zip(asked, found, strict=True):
                if not one.rejected:
                    answers[head, letter] = self.answer(head.windows, one)
        return answers

    def steps(self, step: Step[Any]) -> RoundedSteps:
        """Return what the network does in a ``step`` of its own, with pushed values and hidden vectors clustered."""
        return self.observed(step.hidden, step.actions, step.pushed, step.output, step.state.rejected)

    def observed(self, *what: torch.Tensor) -> RoundedSteps:
        """Return the same for what was traced (see `RoundedSteps.of`). Raises StacklensError: it is no stack."""
        found = RoundedSteps.of(
            self.network, *what, hidden_clusters=self.quantiser.assign, pushed_clusters=self.symbols.assign
        )
        if (found.operations < 0).any():
            names = self.network.operations
            raise StacklensError(f"{names} are not operations of a stack, so there is no pushdown automaton")
        return found

    def steps_at(self, windows: Sequence[tuple[Window, ...]], steps: RoundedSteps) -> list[RoundedStep]:
        """Return what is done in each of M ``steps`` where the stacks show ``windows``."""
        sets = self.network.task_kind == "next set"
        numbers = [None] * len(windows) if self.network.task_kind == "recognition" else steps.outputs.tolist()
        taken, laid, targets = steps.operations.tolist(), steps.pushed.tolist(), steps.targets.tolist()
        found = []
        for row, rejected in enumerate(steps.rejected.tolist()):
            if rejected:
                found.append(RoundedStep(True))
                continue
            done = []
            for window, number, pushed in zip(windows[row], taken[row], laid[row], strict=False):
                operation = Operation(number).on_empty if window[0] == EMPTY_CELL else Operation(number)
                done.append((operation, pushed if operation.pushes else None))
            target = MachineState(targets[row], numbers[row] if sets else None)
            found.append(RoundedStep(False, tuple(done), target, numbers[row]))
        return found

    def answer(self, windows: tuple[Window, ...], done: RoundedStep) -> Answer:
        """Return as an answer of the machine what is ``done`` where the stacks show ``windows``, and not rejected."""
        assert done.target is not None
        made = [
            None if number is None else (number, *(window[1:] if operation.pops else window[:-1]))
            for window, (operation, number) in zip(windows, done.operations, strict=True)
        ]
        taken = [
            operation.stack_op("" if new is None else self.symbols.window_name(new))
            for (operation, _), new in zip(done.operations, made, strict=True)
        ]
        output = None if done.output is None else self.network.output_name(done.output)
        return Answer(done.target, tuple(taken), tuple(made), output)

    def cells(self, windows: list[tuple[Window, ...]]) -> torch.Tensor:
        """Return the cells' values, (M, n_stacks, depth, D), NaN where there is none."""
        places = np.array(windows, dtype=np.int64)[:, : self.network.n_stacks]
        values = np.concatenate([self.symbols.values, np.full((1, self.symbols.values.shape[1]), np.nan)])
        return torch.from_numpy(values[places]).to(self._initial.dtype)


# ---- The two ways to fill its transition table ----
#
# Ask the network itself at every reachable head (Sun et al. 1993, section 4.1), or take the majority over the
# transitions that it was seen to make.

_NONE = -1  # no number: the initial state, no predicted set, a rejection
_MOST_STATES, _MOST_HEADS = 1_000, 20_000  # that are reached
_MOST_COMBINATIONS = 500_000  # of states and tops of several stacks, whose reachable heads are over-approximated


def majority_table(machine: Machine, seen: Trace, complete: frozenset[Output]) -> tuple[PushdownAutomaton, float]:
    """Return the majority's automaton over the steps of a trace, and the share of steps that disagree with it."""
    ballots, sets = _observed_transitions(machine, seen)
    columns = ballots.shape[1] - machine.n_stacks * 2 - 3  # what a head and a letter take; the rest is the vote
    # the most frequent vote at each place, the first in order of several
    counted = Counter(map(tuple, ballots.tolist()))
    elected: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
    for row, votes in sorted(counted.items()):
        place, vote = row[:columns], row[columns:]
        if votes > elected.get(place, (0, ()))[0]:
            elected[place] = (votes, vote)
    table = TransitionTable(machine)
    if not elected:
        return table.automaton(complete), 1.0

    # the head of each place (a state, a predicted set, a letter and windows), and what was voted there as a step
    heads, depth = list[MachineHead](), machine.network.depth
    for number, predicted, _, *cells in elected:
        state = MachineState(None if number == _NONE else number, None if predicted == _NONE else sets[predicted])
        heads.append(MachineHead(state, tuple(tuple(cells[i : i + depth]) for i in range(0, len(cells), depth))))
    rejected, targets, outputs, *moves = np.array([vote for _, vote in elected.values()]).T
    voted = RoundedSteps(
        np.stack(moves[::2], -1),
        np.stack(moves[1::2], -1),
        targets,
        outputs if machine.network.task_kind == "recognition" else np.array(sets, dtype=object)[outputs],
        rejected > 0,
    )
    done = machine.steps_at([head.windows for head in heads], voted)
    for head, place, one in zip(heads, elected, done, strict=True):
        if not one.rejected:
            table.add(head, seen.letters[place[2]], machine.answer(head.windows, one))
    minority = 1 - sum(votes for votes, _ in elected.values()) / len(ballots)
    return table.automaton(complete), minority


def _observed_transitions(machine: Machine, seen: Trace) -> tuple[np.ndarray, list[int]]:
    """Return a row for every step that was not yet rejected, int64, and the numbers of the outputs in rising order.

    Columns: state, predicted set, letter, the windows' cells; then rejection, next state, output, and for every stack
    operation and symbol pushed. Outputs and sets go by their place among the numbers, which may be too large.
    """
    # what the machine would call each traced step; sets as outputs are numbered, as they may be too large for an array
    arrays = seen.hidden[:, 1:], seen.actions, seen.pushed, seen.output, seen.rejected
    made = machine.observed(*(torch.from_numpy(np.nan_to_num(array)) for array in arrays))
    word, step = np.nonzero(seen.valid & ~_before(seen.rejected, False))
    known, outputs = np.unique(made.outputs, return_inverse=True)
    outputs = outputs.reshape(made.outputs.shape)
    if machine.network.task_kind == "recognition":
        outputs = made.outputs
    sets = machine.network.task_kind == "next set"
    predicted = _before(outputs, _NONE) if sets else np.full_like(outputs, _NONE)
    # the windows that each step sees under these moves, (N, T, n_stacks, depth); the bottom is ``depth`` empty cells
    n, steps, n_stacks = made.operations.shape
    depth = machine.network.depth
    cells, heights = np.full((n, n_stacks, depth + steps), EMPTY_CELL), np.zeros((n, n_stacks), np.int64)
    windows = np.empty((n, steps, n_stacks, depth), np.int64)
    for t in range(steps):
        windows[:, t] = np.take_along_axis(cells, depth + heights[..., None] - 1 - np.arange(depth), -1)
        done, heights = without_empty_pops(made.operations[:, t], heights)
        row, stack = np.nonzero(done & Operation.PUSH)
        cells[row, stack, depth + heights[row, stack] - 1] = made.pushed[:, t][row, stack]
    # where each step was, and what it did
    moves = np.stack([made.operations, made.pushed * (made.operations >= Operation.PUSH)], -1)
    place = [_before(made.targets, _NONE), predicted, seen.symbols, windows]
    voted = [made.rejected, made.targets, outputs, moves]
    chosen = [array[word, step].reshape(len(word), -1) for array in (*place, *voted)]
    ballots = np.concatenate(chosen, 1, dtype=np.int64)
    vote = sum(array.shape[1] for array in chosen[:4])
    ballots[made.rejected[word, step], vote + 1 :] = 0
    return ballots, known.tolist()


def _before(values: np.ndarray, first: int) -> np.ndarray:
    return np.pad(values, ((0, 0), (1, 0)), constant_values=first)[:, :-1]


@dataclass
class TransitionTable:
    """A transition table under construction: rules by name, and what the names stand for."""

    machine: Machine
    rules: dict[Key, Transition] = field(default_factory=dict)
    states: dict[State, MachineState] = field(default_factory=dict)
    windows: dict[Symbol, Window] = field(default_factory=dict)

    def __post_init__(self) -> None:
        start = self.machine.start
        self.states[START] = start.state
        self.windows[BOTTOM] = start.windows[0]

    def state(self, state: MachineState) -> State:
        """Return the name of a state, which is then known."""
        name = self.machine.name(state)
        self.states.setdefault(name, state)
        return name

    def add(self, head: MachineHead, letter: Symbol, answer: Answer) -> None:
        """Enter what the machine does at ``head`` on ``letter``; the names in it are then known."""
        for windows in zip(head.windows, answer.pushed, strict=True):
            for window in windows:
                if window is not None:
                    self.windows.setdefault(self.machine.symbols.window_name(window), window)
        key = (self.state(head.state), letter, self.machine.tops(head.windows))
        self.rules[key] = Transition(self.state(answer.target), answer.operations, answer.output)

    def automaton(self, complete: frozenset[Output]) -> PushdownAutomaton:
        """Return the automaton of the rules so far, which accepts as decided on empty, or all, stacks."""
        accepting, by_state = frozenset(self.states), True
        if self.machine.network.task_kind == "recognition":
            accepting = self._deciding(self.machine.empty)
            # by the state alone where just the states that accept on empty stacks accept on others
            filled = [window for name, window in self.windows.items() if name != BOTTOM]
            others = ((window,) * self.machine.n_stacks for window in filled)
            by_state = bool(filled and accepting) and all(self._deciding(windows) == accepting for windows in others)
        symbols = tuple(name for name in self.windows if name != BOTTOM)
        network, n_stacks = self.machine.network, self.machine.n_stacks
        return automaton_of_rules(
            network, tuple(self.states), symbols, self.rules, accepting, complete, by_state, n_stacks
        )

    def _deciding(self, windows: tuple[Window, ...]) -> frozenset[State]:
        heads = [MachineHead(state, windows) for state in self.states.values()]
        decided = self.machine.network.decide(self.machine.state_of(heads)).tolist()
        return frozenset(name for name, good in zip(self.states, decided, strict=True) if good)


def automaton_of_rules(
    network: StackModel[Any],
    states: tuple[State, ...],
    stack_alphabet: tuple[Symbol, ...],
    rules: dict[Key, Transition],
    accepting: frozenset[State],
    complete: frozenset[Output],
    by_state: bool,
    n_stacks: int,
) -> PushdownAutomaton:
    """Return the automaton of a network's ``rules``, whose first state is the initial one.

    A recogniser accepts in states ``accepting``, on empty stacks unless it decides ``by_state``; a predictor by its
    last output, where those after ``complete`` words are known; all else what it can read.
    """
    recogniser = network.task_kind == "recognition"
    acceptance: Acceptance = "final state" if by_state or not recogniser else "both"
    if complete and not recogniser:
        acceptance, accepting = "output", frozenset()
    return PushdownAutomaton(
        states=states,
        input_alphabet=network.alphabet,
        stack_alphabet=stack_alphabet,
        transitions=rules,
        initial=states[0],
        accepting=accepting,
        acceptance=acceptance,
        bottom=BOTTOM,
        n_stacks=n_stacks,
        end_marker=network.end,
        initial_output=initial_output(network),
        accepting_outputs=complete,
    )


def initial_output(network: StackModel[Any]) -> Output:
    """Return what a predictor of sets predicts before the first symbol; None of other networks."""
    if network.task_kind != "next set":
        return None
    return tuple(symbol for symbol in network.alphabet if network.first is None or symbol in network.first)


def explore(machine: Machine, complete: frozenset[Output] = frozenset()) -> PushdownAutomaton:
    """Return the automaton of ``machine``, closed over every head that some word reaches. Raises StacklensError: there
    are too many states or heads, or tops of several stacks; `majority_table` is left then.
    """
    table = TransitionTable(machine)
    asked: set[tuple[State, Tops]] = set()
    fresh = [(START, (BOTTOM,) * machine.n_stacks)]
    while fresh:
        check_time()
        asked |= set(fresh)
        heads = [MachineHead(table.states[name], tuple(table.windows[top] for top in tops)) for name, tops in fresh]
        for (head, letter), answer in machine.ask(heads).items():
            table.add(head, letter, answer)
        if len(table.states) > _MOST_STATES or len(asked) > _MOST_HEADS:
            raise StacklensError(f"{machine.quantiser.name}: {len(table.states)} states are reached, and more to come")
        if machine.n_stacks > 1 and len(table.states) * len(table.windows) ** machine.n_stacks > _MOST_COMBINATIONS:
            raise StacklensError(f"{len(table.windows)} tops of {machine.n_stacks} stacks are too many to combine")
        fresh = sorted(reachable_heads(table.automaton(complete)) - asked)
    return table.automaton(complete)
