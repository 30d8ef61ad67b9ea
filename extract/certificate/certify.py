"""Certificates: the rounded network follows an automaton on words of every length, proved by boxes.

`certification` asks for the certificate of an extracted automaton: which claim was tried, and what came of it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...automata.finite import FiniteAutomaton
from ...automata.pda import Key, PushdownAutomaton, State, Symbol, Tops, Transition
from ...automata.rewriting import real_time_form, top_in_state
from ...automata.summaries import Event, Head, PushdownStep, approximate_heads, reachable_heads, shortest_runs
from ...core.errors import StacklensError, fresh
from ...core.progress import check_time
from ...models.base import StackModel
from ...models.inference import network_answers
from ...models.rounding import Rounded
from ...models.views import BufferSteps, RingAsStack, RingAsTwoStacks, Seen, views_of
from ..agreement import Certificate, Certification, Certified, Fault, NotCertified
from ..config import LONGEST_BOUND
from ..memory_use import StackUse, ViewUse
from ..specification import Specification
from .abstraction import (
    Bounds,
    BoxHead,
    BoxKey,
    BoxMove,
    Control,
    Entry,
    ImagePiece,
    Layout,
    Place,
    System,
    TooMany,
    Value,
)
from .bounded import certify_length
from .controllers import EXACT_GAPS, MARGIN, boxes_of, stacks_to_follow
from .step_check import Unproved, Where, checked_heads, fault

# ---- The inductive interval invariant: found by growing boxes, and checked ----
#
# Boxes hold the start and the images of all steps, and every step is right; they are grown from the first hidden
# vector until they hold all that their own steps lead to.

_MOST_BOXES = 3_000_000  # derivations (see `summaries.shortest_runs`)

_WHAT = {Place: "hidden vector", Value: "stack value"}
_VISITS = 2  # of heads, for each evaluation of one that is allowed
_SPARE, _LEAST = 0.05, 1e-9  # a box that has to grow grows by about so much of its width, or steps would never end
# numbers larger than this, an LSTM's c, may add up for long: after so many times they grow faster and faster
_CURVED, _PATIENT, _FASTER = 1.1, 20, 1.2


def reached(start: BoxHead, moves: Mapping[BoxHead, Sequence[BoxMove]]) -> dict[BoxHead, None]:
    """Return every head that runs from ``start`` show, always in the same order; without ``moves`` they end."""
    seen: dict[BoxHead, None] = {}

    def steps(control: Control, top: Entry | None) -> Iterator[PushdownStep[Control, Entry] | Event[None]]:
        head = control, (top,)
        seen[head] = None
        for move in moves.get(head, ()):
            ((operation, entry),) = move.operations
            kept = () if top is None or operation.pops else (top,)
            yield PushdownStep(move.letter, move.control, kept if entry is None else (*kept, entry))

    def changes(head: BoxHead) -> Iterator[tuple[Control, list[tuple[bool, Entry | None]]]]:
        for move in moves.get(head, ()):
            # a pop of an empty stack takes nothing: what is pushed then lies on the bottom
            done = zip(head[1], move.operations, strict=True)
            yield move.control, [(operation.pops and top is not None, entry) for top, (operation, entry) in done]

    if len(start[1]) != 1:
        return approximate_heads(start, changes)
    if not shortest_runs(start[0], steps, _MOST_BOXES).complete:
        raise TooMany
    return seen


def check_invariant(system: System, bounds: Bounds) -> Certified:
    """Return the certificate that ``bounds`` prove.

    By induction over the length of words. What a run has at its start lies in the boxes. Let what it has now lie in
    those that its head names. The step is judged for all that these boxes hold, so the network does what the automaton
    does, and what it has then lies in the images; these are checked to lie in the boxes that the next heads name. What
    a pop uncovers has been in its box since it was laid there. Which heads runs show is found out anew. Stacks that add
    up their length in floats do so exactly as long as all whole numbers up to it are there (`System.stack_limit`).
    Raises Unproved: a step is not shown to be right, or an image leaves its box. Raises TooMany: there are too many
    heads.
    """
    # the start lies in its boxes
    for key, (low, high) in system.start_bounds().items():
        if not _is_in_box(bounds, key, low, high):
            raise Unproved(fault(system, system.start, None, "the start is not in its box", (low, high)))
    moves: dict[BoxHead, list[BoxMove]] = {}
    steps, smallest, gap = 0, np.inf, np.inf
    cuts: dict[Where, None] = {}
    silent: dict[Where, None] = {}
    # every step of every head that runs show, until no new head appears
    fresh = [system.start]
    while fresh:
        for found in checked_heads(system, fresh, bounds):
            head, outcomes = found.head, found.outcomes
            for outcome in outcomes:
                for key, piece in outcome.targets:
                    box, leaves = (piece.low, piece.high), "an image leaves its box"
                    if not _is_in_box(bounds, key, *box):
                        raise Unproved(fault(system, head, outcome.letter, leaves, box, _WHAT[type(key)]))
            steps, smallest, gap = steps + len(outcomes), min(smallest, found.margin), min(gap, found.gap)
            cuts |= dict.fromkeys(found.cuts)
            silent |= dict.fromkeys(found.silent)
            moves[head] = [move for outcome in outcomes for move in outcome.moves(head[1], system.model.depth)]
        fresh = [head for head in reached(system.start, moves) if head not in moves]
    if cuts and not steps:
        raise Unproved(fault(system, system.start, next(iter(cuts))[1], "nothing would be said of any word"))
    used = {key for head in moves for key in system.keys(head)}
    return Certified(
        boxes=len(used),
        steps=steps,
        margin=smallest,
        stack_limit=system.stack_limit,
        number_format=system.controller.arithmetic.name,
        cuts=len(cuts),
        first_cut=next(iter(cuts), None),
        silent=len(silent),
        gap=max(0.0, gap),
        itself=gap >= EXACT_GAPS[system.model.action_kind][system.controller.arithmetic.name],
    )


def _is_in_box(bounds: Bounds, key: BoxKey, low: np.ndarray, high: np.ndarray) -> bool:
    if key not in bounds:
        return False
    floor, ceiling = bounds[key]
    return bool((floor <= low).all() and (high <= ceiling).all())


def find_invariant(system: System, most: int) -> Bounds:
    """Return boxes that hold the images of the steps from them, at all heads that they lead to.

    Raises Unproved: on the way a step could not be shown to be right; in larger boxes it could be even less. Raises
    TooMany: after ``most`` evaluations of a head, or twice as many visits, there was more to do.
    """
    bounds, depth = system.start_bounds(), system.model.depth
    moves: dict[BoxHead, list[BoxMove]] = {}
    users: dict[BoxKey, dict[BoxHead, None]] = defaultdict(dict)
    times: Counter[BoxKey] = Counter()  # that each box has grown
    waiting, evaluated, visited = {system.start: None}, 0, 0
    while waiting:
        for head in waiting:
            for key in system.keys(head):
                users[key][head] = None
        # look at new heads, and again at all heads whose boxes have grown, until none has
        while waiting:
            check_time()
            evaluated += len(waiting)
            if evaluated > most:
                raise TooMany
            grown: dict[BoxKey, None] = {}
            for head, outcomes, *_ in checked_heads(system, list(waiting), bounds):
                targets = [target for outcome in outcomes for target in outcome.targets]
                grown.update((key, None) for key, piece in targets if _has_grown(bounds, times, key, piece))
                moves[head] = [move for outcome in outcomes for move in outcome.moves(head[1], depth)]
            waiting = {head: None for key in grown for head in users[key]}
        heads = reached(system.start, moves)
        visited += len(heads)
        if visited > _VISITS * most:  # what grows for ever may show one new head at a time
            raise TooMany
        waiting = {head: None for head in heads if head not in moves}
    return bounds


def _has_grown(bounds: Bounds, times: Counter[BoxKey], key: BoxKey, piece: ImagePiece) -> bool:
    """Return whether the box called ``key`` has to grow to hold ``piece``, and let it."""
    low, high = bounds.get(key, (piece.low, piece.high))
    below, above = piece.low < low, piece.high > high
    if key not in bounds:  # a new box has room from the start, but for numbers that are known exactly
        below = above = piece.low < piece.high
    elif not below.any() and not above.any():
        return False
    least, most = np.minimum(low, piece.low), np.maximum(high, piece.high)
    # a box that has to grow grows to the next line of a grid that is as wide as a share of it, and wider the more
    # often it did; lines of narrower boxes are lines of wider ones, so that what is only copied comes to rest
    times[key] += 1
    faster = min(1.0, _SPARE * _FASTER ** max(0, times[key] - _PATIENT))
    share = np.where(np.maximum(-least, most) > _CURVED, faster, _SPARE)
    lines = np.exp2(np.ceil(np.log2(share * (most - least) + _LEAST)))
    least = np.where(below, np.floor(least / lines) * lines, least)
    most = np.where(above, np.ceil(most / lines) * lines, most)
    bounds[key] = np.maximum(least, piece.floor), np.minimum(most, piece.ceiling)
    return True


# ---- Certificates ----

# tried in this order; the grid is for what an automaton merges although the network keeps it apart for ever
LAYOUTS = (
    Layout(),
    Layout(tops=True),
    Layout(tops=True, steps=2),
    Layout(tops=True, value_tops=True),
    Layout(tops=True, value_tops=True, hidden=0.1, values=0.1),
)
WITHOUT_GRID = tuple(layout for layout in LAYOUTS if layout.hidden is None)
_MOST, _MOST_ON_GRID = 6_000, 1_500  # evaluations of a head in one attempt; in the zoo no grid needed more


@dataclass(frozen=True, eq=False)
class Proof:
    """A certificate and the boxes that prove it."""

    system: System
    bounds: Bounds
    certificate: Certified


def certify(
    model: StackModel[Any], automaton: PushdownAutomaton, domain: FiniteAutomaton | None = None, **settings: Any
) -> Certificate:
    """Return the certificate of `prove`, without its boxes; ``settings`` and errors are as there."""
    found = prove(model, automaton, domain, **settings)
    return found.certificate if isinstance(found, Proof) else found


def prove(
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    domain: FiniteAutomaton | None = None,
    *,
    stacks: Sequence[int] | None = None,
    margin: float = MARGIN,
    layouts: Sequence[Layout] = LAYOUTS,
) -> Proof | NotCertified:
    """Return whether the rounded ``model`` is proved to follow ``automaton`` on words of every length, with the boxes.

    To follow means: after every prefix the same operations on the stacks and the same output; a recogniser gives the
    same verdicts; a predictor of sets rejects exactly where the automaton's run is cut. Of other networks nothing is
    claimed from there on, nor of outputs that are None in the automaton; `Certified` counts where. A recogniser may go
    on where the automaton's run is cut, but is proved to accept nothing there.

    Args:
        model: one network, not rounded.
        automaton: what it should follow, as `extract` gives it; in one with an end marker, this stands for the
            network's end symbol.
        domain: where only some words count: the automaton that accepts these. Their prefixes are followed.
        stacks: which of the network's stacks are the automaton's, in this order; all of them unless given. What is on
            others is held in one box a stack.
        margin: every decision has to be farther from another than this, float error counted already; at least 0.
        layouts: which boxes are tried, one after the other.

    Raises:
        StacklensError: the network is of a kind that cannot be certified, or has weights that are not numbers, other
            letters, outputs or stacks than the automaton, or no end symbol where it has a marker, or gives verdicts
            where it accepts by output; the domain has other letters; or ``margin`` is negative.
    """
    kept = stacks_to_follow(model, automaton, domain, stacks, margin)
    last = Fault(automaton.initial, None, (), "", "there are too many heads or pieces of boxes to look at")
    controller, words = boxes_of(model), None if domain is None else domain.trimmed()
    unseen = len(kept) < model.n_stacks and not isinstance(model, RingAsTwoStacks)  # a ring may come round
    finer = [replace(layout, others=True) for layout in layouts if layout.tops and unseen and layout.hidden is None]
    for layout in sorted([*layouts, *finer], key=lambda one: one.hidden is not None):
        system = System(model, controller, automaton, kept, layout, words, margin)
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # bounds that overflow decide nothing
                bounds = find_invariant(system, _MOST if layout.hidden is None else _MOST_ON_GRID)
                return Proof(system, bounds, check_invariant(system, bounds))
        except Unproved as unproved:
            last = unproved.fault
        except TooMany:
            continue
    return NotCertified(last, len(layouts))


def certification(
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    stacks: StackUse,
    specification: Specification | None,
    layouts: Sequence[Layout] = LAYOUTS,
    view: ViewUse | None = None,
) -> Certification:
    """Return whether the rounded ``model`` is certified to follow ``automaton`` on words of every length.

    Where that fails for all words and the task shows the network only some, it is tried for these. What is on stacks
    that the automaton does without is held in boxes; where these do not close, that is the reason. One that was found
    on a ``view`` of the network's memory is followed on one that is exact (`_on_exact_stacks`).
    """
    unseen = "the network uses stacks that the automaton does without" if stacks.unseen else None
    try:
        model, automaton, kept = _on_exact_stacks(model, automaton, stacks.stacks, None if view is None else view.name)
        found = Certification(certify(model, automaton, _in_steps(model, None), stacks=kept, layouts=layouts))
        domain = task_domain(specification)
        if not isinstance(found.certificate, Certified) and domain is not None:
            narrower = certify(model, automaton, _in_steps(model, domain), stacks=kept, layouts=layouts)
            found = Certification(narrower, "the task's") if isinstance(narrower, Certified) else found
        return (
            found if unseen is None or isinstance(found.certificate, Certified) else Certification(None, reason=unseen)
        )
    except StacklensError as error:
        return Certification(None, reason=unseen or str(error))


def certified_length(
    found: Certification,
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    stacks: StackUse,
    specification: Specification | None,
    longest: int = LONGEST_BOUND,
    view: ViewUse | None = None,
) -> Certification:
    """Return ``found``, which is no certificate for every length, with one up to some length, ``longest`` at most."""
    if not longest:
        return found
    try:
        model, automaton, kept = _on_exact_stacks(model, automaton, stacks.stacks, None if view is None else view.name)
        domain = _in_steps(model, task_domain(specification))
        return replace(found, bounded=certify_length(model, automaton, domain, stacks=kept, longest=longest))
    except StacklensError as error:
        return Certification(None, reason=str(error))


def proof_of(
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    entry: Mapping[str, Any],
    specification: Specification | None = None,
) -> Proof | NotCertified:
    """Return what `certification` has found, with its boxes, made anew, for the words that a report ``entry`` names."""
    use, view, words = entry["stacks"], entry.get("view"), entry["certificate"].get("words", "all")
    stacks = tuple(stack for stack in use["kept"] if stack not in use["push_only"])
    model, automaton, kept = _on_exact_stacks(model, automaton, stacks, view and view["name"])
    domain = None if words == "all" else task_domain(specification)
    return prove(model, automaton, _in_steps(model, domain), stacks=kept)


def _on_exact_stacks(
    model: StackModel[Any], automaton: PushdownAutomaton, stacks: tuple[int, ...], view: str | None
) -> tuple[StackModel[Any], PushdownAutomaton, tuple[int, ...]]:
    """Return network, automaton and the stacks that it has, on stacks that are the network's memory exactly.

    An automaton for a ring as one stack has its first cell on top, which the ring as two stacks has beside them. One
    for the whole words of a buffered network becomes one for its steps.
    """
    if not model.real_time:
        return (*_on_single_steps(model, automaton), stacks)
    known = None if view is None else next((one for one in views_of(model) if one.title == view), None)
    if isinstance(known, RingAsStack):
        return RingAsTwoStacks(model), top_in_state(automaton), (int(known.mirrored),)
    return (model if known is None else known), automaton, stacks


def _on_single_steps(model: StackModel[Any], automaton: PushdownAutomaton) -> tuple[BufferSteps, PushdownAutomaton]:
    """Return a buffered network step by step, and what does in its steps what ``automaton`` does on whole words.

    Raises StacklensError: the automaton does not read a letter and write a symbol in every step. If it does, no word is
    over before it is answered: what is written is the answer, but for a first symbol that is never seen. Instead of it
    the answer has what is written in the step behind the word, which there is time for.
    """
    view, marker, late = BufferSteps(model), automaton.end_marker, model.skipped > 0
    numbers = {meaning: str(number) for number, meaning in enumerate(view.meanings)}
    start = fresh(automaton.initial, automaton.states) if late else automaton.initial
    end = fresh("end", (*automaton.states, start))
    in_time = not late or (model.extra_steps and not model.reads_on)
    fits = automaton.real_time and (marker is not None) == late and in_time
    steps = dict[Key, Transition]()
    for (state, symbol, tops), step in automaton.transitions.items():
        taken = replace(step, output=numbers.get(Seen(step.output, True)) if isinstance(step.output, str) else None)
        if symbol == marker:
            steps[state, view.nothing_left, tops] = replace(taken, target=end)
            continue
        steps[state, symbol, tops] = taken
        if late and (state, tops) == (automaton.initial, (automaton.bottom,)):
            # what is written and never seen is not in the automaton: the network says it
            number = int(network_answers(Rounded(view), [(symbol,)])[0, 0])
            steps[start, symbol, tops] = replace(step, output=str(number))
            seen = view.meanings[number]
            fits = fits and step.output is None and seen.done and seen.written is not None
    states = tuple(dict.fromkeys((*automaton.states, start, end)))
    pda = replace(
        automaton, states=states, input_alphabet=view.alphabet, transitions=steps, initial=start, end_marker=None
    )
    heads = reachable_heads(pda)
    if not fits or any(step.output is None for key, step in steps.items() if (key[0], key[2]) in heads):
        raise StacklensError("boxes follow buffered networks that read a letter and write a symbol in every step")
    return view, replace(pda, transitions={key: step for key, step in steps.items() if (key[0], key[2]) in heads})


def _in_steps(model: StackModel[Any], domain: FiniteAutomaton | None) -> FiniteAutomaton | None:
    """Return ``domain``, None for all words, in the steps of a buffered ``model``, with one behind a word if needed."""
    if not isinstance(model, BufferSteps):
        return domain
    known, nothing_left = model.alphabet[:-1], model.alphabet[-1]
    words = domain or FiniteAutomaton(("0",), known, {("0", letter): "0" for letter in known}, "0", frozenset({"0"}))
    begin, behind = (fresh(name, words.states) for name in ("begin", "behind"))
    steps = {**words.transitions}
    steps |= {(begin, letter): to for (state, letter), to in steps.items() if state == words.initial}
    if model.skipped:  # there is no step behind the empty word
        steps |= {(state, nothing_left): behind for state in words.accepting}
    states = (*words.states, begin, behind)
    return FiniteAutomaton(states, model.alphabet, steps, begin, frozenset(states))


# ---- The words of a task, as a domain without a stack ----

_MOST_STATES = 1_000


def task_domain(specification: Specification | None) -> FiniteAutomaton | None:
    """Return the words that the task may show the network, where these are only some and regular, else None."""
    task = None if specification is None or not specification.partial_domain else specification.automaton()
    return None if task is None else regular_domain(task)


def regular_domain(pda: PushdownAutomaton) -> FiniteAutomaton:
    """Return a finite automaton of all words on which ``pda`` is not cut, and of some others.

    It forgets what lies under the tops: after a pop any symbol may be there that is with that state in some run. So it
    follows at least the words that ``pda`` follows, which is all that a certificate for these words needs. Raises
    StacklensError: it would have more than 1,000 states, or ``pda`` has ε-steps that cannot be put into others.

    >>> from stacklens.languages.classic import counted_pairs
    >>> words = regular_domain(counted_pairs("a", "b").automaton)
    >>> words.accepts("aabb"), words.accepts("abb"), words.accepts("aba")
    (True, True, False)
    """
    pda = real_time_form(pda, "a regular domain needs")
    # which heads a letter may lead to from each head: what a step leaves on top is known but where it pops
    tops_with: dict[State, list[Tops]] = defaultdict(list)
    for state, tops in reachable_heads(pda):
        tops_with[state].append(tops)
    following: dict[tuple[Head, Symbol], list[Head]] = defaultdict(list)
    for (state, letter, tops), step in pda.transitions.items():
        known = [op.push or (None if op.pop else top) for top, op in zip(tops, step.operations, strict=True)]
        following[(state, tops), letter] = [
            (step.target, after)
            for after in tops_with[step.target]
            if all(top in (None, new) for top, new in zip(known, after, strict=True))
        ]
    start = frozenset({(pda.initial, (pda.bottom,) * pda.n_stacks)})
    names = {start: "0"}
    steps: dict[tuple[State, Symbol], State] = {}
    # subsets of heads, as an automaton without a stack is made deterministic
    for heads in (queue := [start]):  # the list grows while it is walked
        for letter in pda.input_alphabet:
            after = frozenset(head for before in heads for head in following[before, letter])
            if after and after not in names:
                names[after] = str(len(names))
                queue.append(after)
            if after:
                steps[names[heads], letter] = names[after]
        if len(names) > _MOST_STATES:
            raise StacklensError(
                f"the words that count need more than {_MOST_STATES:,} states without a stack; name a domain"
            )
    states = tuple(names.values())
    return FiniteAutomaton(states, pda.input_alphabet, steps, "0", frozenset(states))
