"""The search for an automaton of a network on stacks: what is learned, what is clustered, split and repaired."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import torch

from ...automata.compare import Undecided
from ...automata.pda import Symbol, Word
from ...core.errors import AutomatonError, StacklensError, is_installed
from ...models.base import NetworkState, StackModel
from ...models.inference import network_answers
from ...models.rounding import Rounded, is_stack
from ...models.views import BufferSteps, letters_seen
from ...probe.trace import Trace, trace
from ..agreement import Agreement
from ..buffers import StepSpecification, whole_word_automaton
from ..config import SEARCH, Budget, ExtractionConfig, Method, StageClock
from ..jobs import results_in_order
from ..samples import MOST_STACKS, UNMEASURED, Fidelity, Samples, changed_answers, why_unfaithful
from ..specification import Specification
from .asking import VisibleStack, asked_candidates, weighed_candidates
from .candidates import DRIFT, Candidate, ClusterSplit, Scorer, cost, fewest_disagreements, minimised, stacks_and_cost
from .learn import learned_candidates
from .machine import (
    EMPTY_CELL,
    Clusters,
    Levels,
    Machine,
    MachineHead,
    Quantiser,
    RoundedStep,
    StackSymbols,
    cluster,
    explore,
    majority_table,
    vectors,
)

# ---- Model-size search: machines of more and more states and stack symbols, each held against the rounded network.

_CLUSTERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_SYMBOLS = (2, 3, 4, 5, 6, 8)
_LARGEST_BINARY = 12  # beyond so many neurons binary states are too many to mean anything


def search_sizes(
    scorer: Scorer,  # knows the rounded network's answers
    seen: Trace,  # a trace of the scorer's network, rounded
    # states, stack_symbols: fixed numbers in place of a walk upward
    states: int | None = None,
    stack_symbols: int | None = None,
    jobs: int = 1,  # how many sizes are tried at once, in processes, with the same candidates in the end
    # called with how many sizes have been tried, and of how many
    on_progress: Callable[[int, int | None], None] = lambda *_: None,
    over: Callable[[], bool] = lambda: False,  # ends the search when it is true
) -> Iterator[Candidate]:
    """Yield candidates one by one, small machines first, each scored: stop asking at an exact one."""
    model = scorer.model
    hidden, _ = vectors(model, seen)
    symbol_sizes: tuple[int, ...] = _SYMBOLS if stack_symbols is None else (stack_symbols,)
    if model.pushes_input or model.action_kind == "none":
        symbol_sizes = (model.n_symbols,)

    # one state where the controller does not use its own; 0 for binary neurons
    state_sizes: tuple[int, ...] = (1,) if not model.recurrent else _CLUSTERS if states is None else (states,)
    if model.recurrent and states is None and hidden.shape[1] <= _LARGEST_BINARY:
        state_sizes = (0, *_CLUSTERS) if hidden.min(initial=0) >= 0 and hidden.max(initial=1) <= 1 else _CLUSTERS
    ordered = sorted(product(symbol_sizes, state_sizes), key=lambda pair: pair[0] * pair[1])
    tried = set()
    for number, (found, candidates) in enumerate(results_in_order(_Try(seen, scorer), ordered, jobs), start=1):
        on_progress(number, len(ordered))
        if found not in tried:  # else there are no more different vectors than that
            yield from candidates
        tried.add(found)
        if over():
            return


class _Try:
    """Tries one number of stack symbols and of states: a task that can be sent to another process."""

    def __init__(self, seen: Trace, scorer: Scorer) -> None:
        self.seen, self.scorer = seen, scorer
        self.hidden, self.pushed = vectors(scorer.model, seen)
        self.states: dict[int, Quantiser] = {}
        self.symbols: dict[int, StackSymbols] = {}

    def __call__(self, sizes: tuple[int, int]) -> tuple[tuple[int, str], list[Candidate]]:
        """Return what was found to be tried, and the candidates, the last of them exact if one is."""
        model, scorer, (symbols, states) = self.scorer.model, self.scorer, sizes
        if symbols not in self.symbols:
            if model.pushes_input:
                self.symbols[symbols] = StackSymbols(model.letters, np.eye(model.n_symbols))
            else:
                nothing = np.zeros((1, model.cell_size))
                centres = cluster(self.pushed, symbols, scorer.seed).centres if len(self.pushed) else nothing
                self.symbols[symbols] = StackSymbols.numbered(centres)
        if states not in self.states:
            size = self.hidden.shape[1]
            if not model.recurrent:
                self.states[states] = Clusters(np.zeros((1, size)))
            else:
                self.states[states] = cluster(self.hidden, states, scorer.seed) if states else Levels(2, size)
        machine = Machine(Rounded(model), self.symbols[symbols], self.states[states])
        elected, minority = majority_table(machine, self.seen, scorer.complete)
        name, number = machine.quantiser.name, len(machine.symbols.names)
        blank = Candidate(name, number, "exploration", 0, None, minority, machine=machine)
        if machine.n_stacks > MOST_STACKS:
            return (number, name), [blank]
        explored = blank
        with suppress(StacklensError):  # no closure
            explored = minimised(blank, explore(machine, scorer.complete))
        candidates = [scorer.score(explored)]
        if not candidates[0].exact:
            candidates.append(scorer.score(minimised(replace(blank, way="vote"), elected)))
        return (number, name), candidates


# ---- Refinement: find what misled a machine on a word, split that cluster or stack symbol, and build it again ----

_WORDS = 12  # of those that break a machine, looked at for a conflict that can be resolved
_ASKED = 4_000  # vectors of one cluster that are asked what they do


@dataclass(frozen=True)
class Conflict:
    """A head at which the machine does not do what the network did."""

    word: Word  # where it was seen
    head: MachineHead  # the head, at which both were
    letter: Symbol | None  # what was read, None for the end of the word
    hidden: np.ndarray  # the network's hidden vector there, (H,)
    cells: np.ndarray  # the values that it saw, (n_stacks, depth, D), NaN where there are none
    # machine_did, network_did: the conflict
    machine_did: RoundedStep
    network_did: RoundedStep


@torch.no_grad()
def _did_at(
    machine: Machine, head: MachineHead, letter: Symbol | None, hidden: np.ndarray, cells: np.ndarray
) -> list[RoundedStep]:
    """Return what the network does at ``head`` on ``letter`` (None: the verdict), with other vectors and values there.

    ``hidden``: (M, H). ``cells``: what is seen of the stacks, (M, n_stacks, depth, D), NaN where there is nothing.
    """
    like = machine.state_of([head])
    output = None if like.output is None else like.output.expand(len(hidden), -1)
    stack = machine.network.stack_of(torch.from_numpy(cells).to(like.hidden.dtype))
    never = torch.zeros(len(hidden), dtype=torch.bool)
    state = NetworkState(torch.from_numpy(hidden).to(like.hidden.dtype), stack, never, output)
    if letter is None:
        return [RoundedStep(accepted=good) for good in machine.network.decide(state).tolist()]
    symbols = torch.full((len(hidden),), machine.network.letters.index(letter))
    return machine.steps_at([head.windows] * len(hidden), machine.steps(machine.network.step(symbols, state)))


class _MachineRun:
    """The head of a run, and what lies on its stacks: the symbols' numbers, and the values that they stand for."""

    def __init__(self, machine: Machine) -> None:
        self.state = machine.start.state
        # under each bottom there are as many empty cells as the network sees
        self.depth, nothing = machine.network.depth, np.full(machine.symbols.values.shape[1], np.nan)
        self.stacks = [[(EMPTY_CELL, nothing)] * self.depth for _ in range(machine.n_stacks)]

    @property
    def head(self) -> MachineHead:
        windows = (tuple(number for number, _ in reversed(cells[-self.depth :])) for cells in self.stacks)
        return MachineHead(self.state, tuple(windows))

    def seen(self) -> np.ndarray:
        """Return the values at the top, (n_stacks, depth, D), NaN where there are none."""
        return np.array([[value for _, value in reversed(cells[-self.depth :])] for cells in self.stacks], np.float64)

    def go_on(self, did: RoundedStep, pushed: np.ndarray) -> None:
        """Do what was ``did`` with the values ``pushed``, (n_stacks, D)."""
        assert did.target is not None
        self.state = did.target
        for stack, (operation, number) in enumerate(did.operations):
            if operation.pops:
                self.stacks[stack].pop()
            if number is not None:
                self.stacks[stack].append((number, pushed[stack]))


@torch.no_grad()
def find_conflict(machine: Machine, word: Word, scored: np.ndarray | None = None) -> Conflict | None:
    """Return the head to blame for the machine's answer to ``word``, None if it answers as its network does.

    An early rejection by one counts as another answer. Only ``scored`` answers, (T,) bool, count.
    """
    network = machine.network
    state = network.initial_state(1)
    mine, theirs = _MachineRun(machine), _MachineRun(machine)
    blamed: Conflict | None = None
    end = [network.end] if network.end is not None else []
    verdict = [None] if network.task_kind == "recognition" else []
    for t, letter in enumerate([*word, *end, *verdict]):
        head, hidden, cells = theirs.head, state.hidden.numpy(), theirs.seen()
        here = mine.head
        values = machine.cells([here.windows]).numpy()  # those that the machine takes its stack symbols for
        (machine_did,) = _did_at(machine, here, letter, machine.vectors([here.state]).numpy(), values)
        if letter is None:
            network_did = RoundedStep(accepted=bool(network.decide(state)))
        else:
            step = network.step(torch.tensor([network.letters.index(letter)]), state)
            (network_did,), state = machine.steps_at([head.windows], machine.steps(step)), step.state
        if here == head and machine_did != network_did:
            blamed = Conflict(word, here, letter, hidden[0], cells, machine_did, network_did)
        counts = scored is None or (t < len(scored) and bool(scored[t]))
        answers = {(did.rejected, did.output, did.accepted) for did in (machine_did, network_did)}
        if counts and len(answers) > 1:
            return blamed
        if letter is None or machine_did.rejected or network_did.rejected:
            return None
        nothing = np.zeros((machine.n_stacks, machine.symbols.values.shape[1]))
        mine.go_on(machine_did, nothing)
        pushed = np.broadcast_to(step.pushed[0].numpy(), nothing.shape) if network.n_stacks else nothing
        theirs.go_on(network_did, pushed)
    return None


def split_cluster(
    scorer: Scorer, candidate: Candidate, counterexamples: Sequence[Word], pool: tuple[np.ndarray, np.ndarray]
) -> Candidate | None:
    """Return a candidate with the cluster or stack symbol split that misled it on ``counterexamples``, not yet scored.

    The parts are made of vectors of the ``pool``, hidden ones and values laid on stacks (see `vectors`). None where no
    conflict was found that a split resolves.
    """
    machine = candidate.machine
    if machine is None:
        return None
    for word in counterexamples[:_WORDS]:
        conflict = find_conflict(machine, word, scorer.scored(word))
        if conflict is None:
            continue

        # what the network did on the word is split, too
        hidden, pushed = pool
        with suppress(StacklensError):  # it rejects at once
            further = vectors(machine.network, trace(machine.network, [word], stacks=False))
            hidden, pushed = (np.concatenate(pair) for pair in zip((hidden, pushed), further, strict=True))
        ways = [_split_state(machine, conflict, hidden), *_split_symbols(machine, conflict, pushed)]

        # the likeliest first: that which alone makes the representative do what the network did
        values = machine.cells([conflict.head.windows]).numpy()
        (by_state,) = _did_at(machine, conflict.head, conflict.letter, conflict.hidden[None], values)
        for way in ways if by_state == conflict.network_did else [*ways[1:], ways[0]]:
            if way is None:
                continue
            new, split = way[0], replace(way[1], before=len(counterexamples))
            blank = replace(candidate, way="refinement", machine=new, split=split)
            blank = replace(blank, quantiser=new.quantiser.name, stack_symbols=len(new.symbols.names))
            try:
                return minimised(blank, explore(new, scorer.complete))
            except StacklensError:  # no closure
                continue
    return None


def _split_state(machine: Machine, conflict: Conflict, hidden: np.ndarray) -> tuple[Machine, ClusterSplit] | None:
    number = conflict.head.state.number
    if number is None or not machine.network.recurrent:
        return None
    quantiser = machine.quantiser
    some = _sample_with(hidden[quantiser.assign(hidden) == number], conflict.hidden)
    cells = np.repeat(machine.cells([conflict.head.windows]).numpy(), len(some), 0)
    did = _did_at(machine, conflict.head, conflict.letter, some, cells)
    others, same, split = _divided("state", quantiser.label(number), machine, conflict, some, did)
    # the states that there are: all clusters, or the levels that occur
    numbers = range(len(quantiser.centres)) if isinstance(quantiser, Clusters) else np.unique(quantiser.assign(hidden))
    centres = {int(place): quantiser.represent(np.array([place]))[0] for place in numbers}
    centres[number] = others.mean(0) if len(others) else centres[number]
    new = Clusters(np.array([*(centres[place] for place in sorted(centres)), same.mean(0)]))
    return Machine(machine.network, machine.symbols, new), split


def _split_symbols(machine: Machine, conflict: Conflict, pushed: np.ndarray) -> Iterator[tuple[Machine, ClusterSplit]]:
    if machine.network.pushes_input or machine.network.action_kind == "none":
        return
    base = machine.cells([conflict.head.windows]).numpy()
    for place in range(machine.network.depth):
        for stack, window in enumerate(conflict.head.windows):
            number = window[place]
            if number == EMPTY_CELL:
                continue
            values = _sample_with(pushed[machine.symbols.assign(pushed) == number], conflict.cells[stack, place])
            cells = np.repeat(base, len(values), 0)
            cells[:, stack, place] = values
            hidden = np.repeat(conflict.hidden[None], len(values), 0)
            did = _did_at(machine, conflict.head, conflict.letter, hidden, cells)
            name = machine.symbols.names[number]
            others, same, split = _divided("stack symbol", name, machine, conflict, values, did)
            centres = machine.symbols.values.copy()
            if len(others):
                centres[number] = others.mean(0)
            symbols = StackSymbols.numbered(np.concatenate([centres, same.mean(0, keepdims=True)]))
            yield Machine(machine.network, symbols, machine.quantiser), split


def _sample_with(members: np.ndarray, one: np.ndarray) -> np.ndarray:
    step = max(1, len(members) // _ASKED)
    return np.concatenate([members[::step], one[None]])


def _divided(
    kind: str, name: str, machine: Machine, conflict: Conflict, vectors: np.ndarray, did: Sequence[RoundedStep]
) -> tuple[np.ndarray, np.ndarray, ClusterSplit]:
    """Return the vectors that do something else than the network did, and the others, its own last, (M, D) each."""
    same = np.array([one == conflict.network_did for one in did])
    same[-1] = True
    head, sizes = conflict.head, (int((~same).sum()), int(same.sum()))
    state, tops = machine.name(head.state), machine.tops(head.windows)
    split = ClusterSplit(kind, name, state, conflict.letter or "", tops, conflict.word, sizes, 0)
    return vectors[~same], vectors[same], split


# ---- The search for an automaton of a network on stacks ----

_SHARE = 0.5  # of the time that is left, which a way may take before another one is tried
_WEIGHED, _ASKED_AGAIN = 0.3, 200  # of what is left then; words
_SEARCHED = 0.8  # of the time that is left, which all ways together may take: what they find is looked at after that
_DECISIVE = "rounded network"  # what the machine stands for
_MOST_SPLITS = 40
_PATIENCE = 16  # splits in a row after which no machine was better than the best before


@dataclass(frozen=True)
class SearchPlan:
    """What a network is looked at for, and with what effort."""

    config: ExtractionConfig  # the method, fixed numbers of states or stack symbols, and processes
    specification: Specification | None = None  # what it should do
    clock: StageClock = field(default_factory=StageClock)  # hears of the sizes that are tried, then of the candidates
    budget: Budget = field(default_factory=Budget)  # ends the search
    fidelity: Fidelity = UNMEASURED  # how near the network is to a discrete machine


def find_candidates(scorer: Scorer, seen: Trace, plan: SearchPlan) -> list[Candidate]:
    """Return every candidate tried on the scorer's network, of which ``seen`` is a rounded trace, in order.

    Hidden vectors are clustered first, as the papers do; what the network does is learned from next, and where there is
    no stack to see it is asked, by the method of ``plan``. A later way is left out where an earlier one gave an exact
    automaton that can be compared with the specification, or one that is proved to be what the network should do and
    wrong of it on few words: then the network drifts, and no automaton follows it.
    """
    tried: list[Candidate] = []
    if not is_stack(scorer.model):
        return tried
    with plan.budget.stage(SEARCH, _SEARCHED):
        _tried_by_ways(scorer, seen, plan, tried)
    # evidence that contradicts itself is weighed: that of answers alone, and of a network that answers anew otherwise
    with plan.budget.stage("evidence by weight", _WEIGHED):
        best, asked = fewest_disagreements(tried), scorer.model.action_kind == "none"
        if plan.config.states is None and not scorer.is_near(best):
            again = Rounded(scorer.model), scorer.samples.words[-_ASKED_AGAIN:]
            some = weighed_candidates(scorer) if asked else [best] if best and changed_answers(*again)[0] else []
            tried += some if asked else []
            if some and (weighed := scorer.weighed(some[-1])).explains is not None:
                tried[tried.index(some[-1])] = weighed
    return tried


def _tried_by_ways(scorer: Scorer, seen: Trace, plan: SearchPlan, tried: list[Candidate]) -> None:
    """Put every candidate into ``tried`` as it comes: see `find_candidates`."""
    config, budget = plan.config, plan.budget
    ways = search_ways(config, scorer.model)
    for way in ways:
        # clustering may not take the time of the way that comes after it
        over = budget.part(_SHARE) if way == "kmeans" and way != ways[-1] else budget.over
        if way == "learn":
            candidates = learned_candidates(scorer, config.stack_symbols, over)
        elif way == "kmeans":
            candidates = _clustered(scorer, seen, plan, over)
        else:
            given = config.calls is not None or config.returns is not None
            visible = VisibleStack(config.calls or (), config.returns or ()) if given else None
            candidates = asked_candidates(scorer, None if way == "ask" else way, visible, over)
        for candidate in candidates:
            tried.append(candidate)
            plan.clock.on_progress(len(tried), None)
            if candidate.exact:
                # what sees all stacks shows how the network does it
                n_stacks = scorer.learned_from.n_stacks
                if candidate.stacks is not None and len(candidate.stacks) < n_stacks <= MOST_STACKS:
                    tried[-1:] = [*learned_candidates(scorer, config.stack_symbols, over, whole=True), candidate]
                break
            if scorer.errs_by_noise(candidate):
                return  # what else there is would only learn the noise
            drifts = way == "kmeans" and scorer.errs_at_most(candidate, DRIFT) and scorer.drifts(candidate)
            if drifts and candidate.automaton and scorer.only_long(scorer.broken_by(candidate.automaton)):
                return  # it is what the network should do, and more states cannot mend it
        best = fewest_disagreements(tried)
        if best is None:
            continue
        if (best.exact and _is_decided(scorer, best)) or (best.by_asking and scorer.is_near(best)):
            break
        if budget.over() or scorer.drifts(best):
            break


def search_ways(config: ExtractionConfig, model: StackModel[Any]) -> tuple[Method, ...]:
    """Return the ways to look for an automaton, in order; it is asked where there is no stack to be seen."""
    if config.method != "auto":
        return (config.method,)
    if model.action_kind != "none" or config.states is not None or config.stack_symbols is not None:
        return "kmeans", "learn"
    if model.affordable is not None:
        return ("ask",)  # there are no hidden vectors to cluster, and every word is read again
    return ("ask", "kmeans", "learn") if is_installed("aalpy") else ("kmeans", "learn")


def _is_decided(scorer: Scorer, candidate: Candidate) -> bool:
    """Return whether it can be decided if an automaton equals the specification's: not where heights of stacks part."""
    if candidate.automaton is None or candidate.automaton.n_stacks < 2 or scorer.specification is None:
        return True
    return not isinstance(scorer.specification.compare(candidate.automaton), Undecided)


def _clustered(scorer: Scorer, seen: Trace, plan: SearchPlan, over: Callable[[], bool]) -> Iterator[Candidate]:
    """Yield candidates whose states are clusters of hidden vectors: stop asking at an exact one.

    Sizes come first; without an exact one what misleads the best exploration, then the smallest, is split. Nothing is
    split without stack actions by the plan's fidelity, and nothing tried without a stack.
    """
    explored, config = list[Candidate](), plan.config
    sizes = config.states, config.stack_symbols, config.jobs
    for candidate in search_sizes(scorer, seen, *sizes, plan.clock.on_progress, over):
        yield candidate
        if candidate.way == "exploration" and candidate.disagreements is not None:
            explored.append(candidate)
    if why_unfaithful(scorer.model, plan.fidelity, 0, 0) is not None:
        return  # splits do not make a stack of what is none
    nearest = sorted(explored, key=lambda one: one.disagreements or 0)
    for start in dict.fromkeys((*nearest[:1], *explored[:1])):
        yield from refine(scorer, start, seen, over)


def refine(
    scorer: Scorer, candidate: Candidate, seen: Trace, over: Callable[[], bool] = lambda: False
) -> Iterator[Candidate]:
    """Yield candidates, each with one cluster or stack symbol of the one before split, explored or voted, and scored.

    It ends with an exact one, when nothing is left to split, when splits no longer help, or when ``over``.
    """
    if candidate.automaton is None or candidate.machine is None:
        return
    pool = vectors(scorer.model, seen)
    counterexamples = scorer.broken_by(candidate.automaton)
    fewest, idle = len(counterexamples), 0
    for _ in range(_MOST_SPLITS):
        found = split_cluster(scorer, candidate, counterexamples, pool)
        if found is None or found.automaton is None or found.machine is None:
            return
        elected, minority = majority_table(found.machine, seen, scorer.complete)
        counterexamples = scorer.broken_by(found.automaton)
        candidate = replace(found, disagreements=len(counterexamples), minority=minority)
        yield candidate
        if not counterexamples:
            return
        voted = scorer.score(minimised(replace(candidate, way="refinement and vote"), elected))
        if voted.exact:
            yield voted
            return
        better = len(counterexamples) < fewest
        fewest, idle = (len(counterexamples), 0) if better else (fewest, idle + 1)
        if idle >= _PATIENCE or over():
            return


def repair(
    scorer: Scorer,
    candidate: Candidate,
    seen: Trace,
    checks: Sequence[Agreement],
    config: ExtractionConfig,
    budget: Budget,
    cells: int | None,
) -> Iterator[Candidate]:
    """Yield other candidates until one is exact on the words that broke ``candidate`` in ``checks`` as well.

    Clusters are split; where that does not help, or it was learned, it is learned from the start, with the effort of
    ``config`` on ``cells`` cells. There is nothing to repair without such words, nor where a learned automaton is
    proved to be what the network should do.
    """
    words = [found.counterexample for found in checks if found.counterexample is not None and _is_repairable(found)]
    judge = replace(scorer, further=(*scorer.further, *words), effort=config.effort(cells))
    if not words or candidate.explains is not None:
        return
    if candidate.machine is not None:
        exact = False
        for mended in refine(judge, candidate, seen, budget.over):
            exact = exact or mended.exact
            yield mended
        if exact or config.method != "auto":
            return
        config = replace(config, method="learn")
    if not budget.over() and not scorer.drifts(candidate):
        yield from find_candidates(judge, seen, SearchPlan(config, budget=budget))


def second_opinion(tried: Sequence[Candidate], best: Candidate) -> Candidate | None:
    """Return another exact candidate, found in another way than ``best`` or with other stacks, if there is one."""
    others = (one for one in tried if one.exact and (one.method != best.method or one.stacks != best.stacks))
    return min(others, key=stacks_and_cost, default=None)


def broken(checks: Sequence[Agreement]) -> int:
    """Return the number of disagreements in ``checks`` that other candidates may not have."""
    return sum(found.disagreements for found in checks if _is_repairable(found))


def _is_repairable(found: Agreement) -> bool:
    return found.other == _DECISIVE and found.kind != "pumped"


# ---- The same for a buffered network, on its single steps first ----

_MOST_WORDS = 4_000  # of all short words whose steps are learned from
_TRIED = 5  # of the candidates that err on some steps, so many become automata of whole words


def candidates_of_buffers(
    model: StackModel[Any], scorer: Scorer, plan: SearchPlan
) -> tuple[list[Candidate], Scorer, list[Candidate]]:
    """Return candidates for the whole words of ``model``, a buffered network, which ``scorer`` knows the answers to,
    and the scorer and candidates of its single steps.
    """
    view = BufferSteps(model)
    # the scorer of candidates for single steps: on what the network sees on the checking words
    short = scorer.samples.words[: scorer.samples.n_short]
    longest = max(map(len, short), default=0)
    while sum(len(word) <= longest for word in short) > _MOST_WORDS:
        longest -= 1
    few = [word for word in short if len(word) <= longest]
    specification = StepSpecification(view, few, longest)
    drawn = letters_seen(view, scorer.samples.words[scorer.samples.n_short :])
    words: list[Word] = list(dict.fromkeys([*letters_seen(view, few), *drawn]))
    rounded = network_answers(Rounded(view), words)
    traced: list[Word] = [*letters_seen(view, scorer.samples.traced)]
    known = Samples(words, rounded, rounded[:0], None, len(words), traced, traced)
    steps = Scorer(view, known, plan.config.seed, specification)
    seen = trace(view, steps.samples.traced, rounded=True, stacks=False)
    found = find_candidates(steps, seen, plan)
    able = [one for one in found if one.automaton is not None and one.automaton.n_stacks == 1]
    chosen = [one for one in able if one.exact] or sorted(able, key=cost)[:_TRIED]
    whole = []
    for one in chosen:
        blank = replace(one, disagreements=None, machine=None, automaton=None, raw=None)
        with suppress(AutomatonError):  # too large for tables
            assert one.automaton is not None, "those that are able have an automaton"
            pda = whole_word_automaton(one.automaton, view)
            blank = replace(blank, raw=pda, automaton=pda)
        whole.append(scorer.score(blank))
    return whole, steps, found
