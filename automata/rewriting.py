"""Automata rewritten: without ε-steps, for what a network can show, a step late, or by what a finite one accepts.

Each part has its own heading. The first three keep what an automaton does and change how; the last makes the automata
of other words: those that a finite one accepts too, and those that are not accepted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from ..core.errors import AutomatonError, fresh, unique
from .finite import FiniteAutomaton, finite_form
from .pda import (
    EPSILON,
    NONE,
    POP,
    Key,
    Output,
    PushdownAutomaton,
    StackOp,
    State,
    Symbol,
    Transition,
    next_symbols,
    push,
)
from .summaries import cells_after, heads, trim

if TYPE_CHECKING:
    from automata.fa.dfa import DFA

# ---- ε-steps: steps of an automaton that read nothing ----
# They are deterministic: at a head (state and top) with an ε-step no letter is read, so a run takes them as soon as it
# can, and it rests where there is none. A word begins and ends where the run rests. With one stack it can be decided
# whether ε-steps always come to an end; an automaton where they do not is refused.
#
# Most exact algorithms are for real-time automata. Two ways lead there: `with_letter` reads a letter in every ε-step,
# which is as good for all that looks at single steps, and `without_epsilon` puts ε-steps into the steps before them,
# where one operation on the stack can do what they do together. `real_time_form` is what such an algorithm asks for.

_StateAndTop = tuple[State, Symbol]


def check_epsilon(pda: PushdownAutomaton) -> None:
    """Check the ε-steps of ``pda``: one stack, nothing else at their heads, and no endless run of them. From every
    head, reached or not, the run is followed until what lies under its top is seen, or it rests. One that comes to its
    own head again before, on the same level or a higher one, does so for ever.
    """
    if pda.n_stacks > 1:
        raise AutomatonError(
            f"an ε-step in an automaton with {pda.n_stacks} stacks: expected one stack, since with several it cannot "
            "be decided whether ε-steps end"
        )
    silent = {(state, tops) for state, symbol, tops in pda.transitions if symbol == EPSILON}
    for state, symbol, tops in pda.transitions:
        if symbol != EPSILON and (state, tops) in silent:
            raise AutomatonError(
                f"not deterministic: in state {state} with {tops[0]} on top there is an ε-step, and one that reads "
                f"{symbol}"
            )
    endless = endless_head(pda.transitions)
    if endless is not None:
        raise AutomatonError(f"ε-steps never end that begin in state {endless[0]} with {endless[1]} on top")


def endless_head(transitions: Mapping[Key, Transition]) -> tuple[State, Symbol] | None:
    """Return a head (state, top) of one stack that ε-steps come back to for ever, None if there is none. `pops[head]`
    is the state in which the cell on top of ``head`` is gone, None where the run rests before. Depth first: a head that
    is still being looked at is met again only by a run that goes round.
    """
    silent = {(state, top): step for (state, symbol, (top,)), step in transitions.items() if symbol == EPSILON}
    pops: dict[_StateAndTop, State | None] = {}
    for first in silent:
        begun = {} if first in pops else {first: None}  # in this order; the last one is looked at
        while begun:
            head = next(reversed(begun))
            gone: State | None
            gone, waits = silent[head].target, None
            # the cells that go one after the other, the last of them the head's own
            for cell in reversed(cells_after(silent[head].operations[0], head[1])):
                if (gone, cell) in silent and (gone, cell) not in pops:
                    waits = gone, cell
                    break
                if (gone := pops.get((gone, cell))) is None:  # the run rests there
                    break
            if waits is None:
                pops[head] = gone
                del begun[head]
            elif waits in begun:
                return waits
            else:
                begun[waits] = None
    return None


def require_real_time(pda: PushdownAutomaton, what: str) -> None:
    """Check that ``pda`` has no ε-steps, as ``what`` (the beginning of a sentence) needs it."""
    if not pda.real_time:
        raise AutomatonError(
            f"{what} a letter read in every step, and this automaton takes ε-steps; see without_epsilon"
        )


def real_time_form(pda: PushdownAutomaton, what: str) -> PushdownAutomaton:
    """Return an equivalent automaton without ε-steps, as ``what`` (the beginning of a sentence) needs it. Raises
    AutomatonError: none was found (see `without_epsilon`).
    """
    try:
        return without_epsilon(pda)
    except AutomatonError as error:
        raise AutomatonError(f"{what} a letter read in every step, and ε-steps stay: {error}") from None


def has_real_time_form(pda: PushdownAutomaton) -> bool:
    """Return whether `real_time_form` finds one."""
    try:
        without_epsilon(pda)
    except AutomatonError:
        return False
    return True


def with_letter(pda: PushdownAutomaton) -> tuple[PushdownAutomaton, Symbol]:
    """Return the real-time automaton that reads a letter of its own in every ε-step, and that letter. The end marker,
    which ε-steps may follow, is a letter like others there. It runs on words of single steps.
    """
    letter = fresh("ε", set(pda.letters))
    steps = {(state, symbol or letter, tops): step for (state, symbol, tops), step in pda.transitions.items()}
    return replace(pda, input_alphabet=(*pda.letters, letter), end_marker=None, transitions=steps), letter


def without_letter(stepwise: PushdownAutomaton, letter: Symbol, like: PushdownAutomaton) -> PushdownAutomaton:
    """Return what `with_letter` was made of, after changes: ``letter`` is ε, alphabet and marker are as in ``like``."""
    steps = {
        (state, EPSILON if symbol == letter else symbol, tops): step
        for (state, symbol, tops), step in stepwise.transitions.items()
    }
    return replace(stepwise, input_alphabet=like.input_alphabet, end_marker=like.end_marker, transitions=steps)


@dataclass(frozen=True)
class _Reached:
    """Where a step and the ε-steps after it lead. ``kept`` is whether the old top still lies there, ``laid`` what lies
    above it, bottom first, ``written`` what was written.
    """

    state: State
    kept: bool
    laid: tuple[Symbol, ...]
    written: tuple[Output, ...] = ()


def without_epsilon(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return a real-time automaton that accepts the same words and writes the same on each, without what no run uses.

    Every step takes the ε-steps after it along. That is possible where all of them together see no deeper than the old
    top, come to one operation on the stack, and write one symbol at most. Acceptance by output is not among it. Raises
    AutomatonError: there is a step for which that is not so, which is named.

    >>> from stacklens.automata.pda import POP, push
    >>> rules = {("p", "a", ("⊥",)): Transition("q", (push("x"),))}
    >>> rules["q", EPSILON, ("x",)] = Transition("p", (POP,), "b")
    >>> twice = PushdownAutomaton(("p", "q"), ("a",), ("x",), rules, "p", frozenset({"p"}))
    >>> without_epsilon(twice).transitions[("p", "a", ("⊥",))]
    Transition(target='p', operations=(StackOp(pop=False, push=None),), output='b')
    """
    if pda.real_time:
        return pda
    if pda.acceptance == "output":
        raise AutomatonError("ε-steps cannot be taken into other steps where the last output accepts")
    pda = trim(pda)
    first = _after_silent_steps(pda, _Reached(pda.initial, True, ()), pda.bottom, "the run before the first symbol")
    if first.laid or first.written:
        raise AutomatonError("the ε-steps before the first symbol push or write, and no step is there to take them in")
    steps: dict[Key, Transition] = {}
    for (state, symbol, (top,)), step in pda.transitions.items():
        if symbol != EPSILON:
            where = f"the step from {state} that reads {symbol} with {top} on top"
            # step at a top with the ε-steps after it
            (operation,) = step.operations
            written = () if step.output is None else (step.output,)
            laid = () if operation.push is None else (operation.push,)
            end = _after_silent_steps(pda, _Reached(step.target, not operation.pop, laid, written), top, where)
            if len(end.laid) > 1 or len(end.written) > 1:
                raise AutomatonError(
                    f"{where} and the ε-steps after it push {len(end.laid)} symbols and write {len(end.written)}"
                )
            whole = StackOp(pop=not end.kept, push=end.laid[0] if end.laid else None)
            steps[state, symbol, (top,)] = Transition(end.state, (whole,), end.written[0] if end.written else None)
    return replace(pda, initial=first.state, transitions=steps)


def _after_silent_steps(pda: PushdownAutomaton, here: _Reached, top: Symbol, where: str) -> _Reached:
    """Return where the ε-steps from ``here`` lead, on a stack whose old ``top`` is known and nothing below it. Only a
    symbol on which something is pushed can lie below.
    """
    covered = {tops for (_, _, tops), step in pda.transitions.items() for op in step.operations if op.name == "push"}
    silent = {state for state, symbol, tops in pda.transitions if symbol == EPSILON and tops in covered}
    while True:
        seen: Sequence[Symbol] = here.laid[-1:] or ((top,) if here.kept else ())
        if not seen:
            if here.state in silent:
                raise AutomatonError(f"{where}: the ε-steps after it look below the top")
            return here
        # follow one step, on what was laid since or on the old top
        step = pda.transitions.get((here.state, EPSILON, (seen[0],)))
        if step is None:
            return here
        (operation,) = step.operations
        kept, laid = here.kept, here.laid
        if operation.pop:
            kept, laid = (kept, laid[:-1]) if laid else (False, ())
        if operation.push is not None:
            laid = (*laid, operation.push)
        written = here.written if step.output is None else (*here.written, step.output)
        here = _Reached(step.target, kept, laid, written)


# ---- Automata rewritten for what a network can show ----

_Names = dict[State, tuple[State, Symbol]]  # each new state: the state and the top that it stands for


def drop_end_marker(pda: PushdownAutomaton) -> PushdownAutomaton | None:
    """Return an automaton that accepts the same words without reading an end marker, or None where none is found.

    Acceptance "both" stays "both": the accepting states are those whose marker transition on empty stacks leads to
    acceptance (so Sun et al. 1993, section 4.2, read their figure 8). "Empty stack" becomes "both"; "final state" stays
    where the state alone decides at every head. States and symbols that only the marker needs are trimmed.

    None: a marker transition that pops leads to acceptance, so that it matters how deep the stack is, which the head
    does not show; "final state" where one state accepts with some tops only; acceptance by output; or ε-steps that
    cannot be put into other steps. Only heads that a run can show count. Without an end marker ``pda`` is returned.

    >>> from stacklens.automata.pda import NONE
    >>> pda = PushdownAutomaton(
    ...     states=("p", "yes"), input_alphabet=("a",), stack_alphabet=(), initial="p", accepting=frozenset({"yes"}),
    ...     transitions={("p", "$", ("⊥",)): Transition("yes", (NONE,))}, end_marker="$")
    >>> without = drop_end_marker(pda)
    >>> without.states, without.accepts("")
    (('p',), True)
    """
    if pda.end_marker is None:
        return pda
    try:
        pda = trim(without_epsilon(pda))
    except AutomatonError:
        return None
    if pda.acceptance == "output":
        return None
    letters = {key: step for key, step in pda.transitions.items() if key[1] != pda.end_marker}
    if pda.acceptance != "final state":
        # a word that is accepted because the marker pops the last symbol asks for depth, which no head shows
        popping = {
            key: step
            for key, step in pda.transitions.items()
            if key[1] == pda.end_marker and set(key[2]) != {pda.bottom} and not _pushes(step) and _is_final(pda, step)
        }
        ending = heads(replace(pda, transitions={**letters, **popping})).ending
        if any(set(tops) == {pda.bottom} for _, tops in ending):
            return None
    # heads at which the marker leads to acceptance without a pop that empties the stack
    empty = (pda.bottom,) * pda.n_stacks
    accepting = {
        (state, tops)
        for (state, symbol, tops), step in pda.transitions.items()
        if symbol == pda.end_marker and _is_final(pda, step)
        if pda.acceptance == "final state" or (tops == empty and not _pushes(step))
    }
    states = frozenset(state for state, _ in accepting)
    undecided = any(head not in accepting for head in heads(pda).reading if head[0] in states)
    if pda.acceptance == "final state" and undecided:
        return None
    # states accept that the marker would have led to acceptance
    acceptance = "both" if pda.acceptance == "empty stack" else pda.acceptance
    return trim(replace(pda, transitions=letters, end_marker=None, accepting=states, acceptance=acceptance))


def _pushes(step: Transition) -> bool:
    return any(operation.push is not None for operation in step.operations)


def _is_final(pda: PushdownAutomaton, step: Transition) -> bool:
    return pda.acceptance == "empty stack" or step.target in pda.accepting


def with_visible_top(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the equivalent automaton whose states are ``(state, top)`` and whose stack holds what lies below the top.
    It accepts the same words with acceptance "final state" ("output" stays) and has the same outputs; only what a run
    can reach is kept. Raises AutomatonError: several stacks, or ε-steps that cannot be put into other steps.

    >>> from stacklens.languages.classic import Dyck
    >>> shown = with_visible_top(Dyck(1).automaton)
    >>> shown.states, sorted(shown.accepting), shown.accepts("(())()"), shown.accepts("(()")
    (('(match, ⊥)', '(match, ()'), ['(match, ⊥)'], True, False)
    """
    return _shown_top(pda)[0]


def top_in_state(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return an automaton on one stack as one with its top in its state, and on its stack what lies below, the bottom
    too: that is a cell like others there. It does the same at every step; errors as in :func:`with_visible_top`.

    >>> from stacklens.languages.classic import Dyck
    >>> top_in_state(Dyck(1).automaton).stack_alphabet
    ('(', "⊥'")
    """
    return _shown_top(pda, fresh(f"{pda.bottom}'", pda.stack_alphabet))[0]


def with_head_outputs(pda: PushdownAutomaton, output: Callable[[State, Symbol], Output]) -> PushdownAutomaton:
    """Return the automaton that after every symbol outputs ``output(state, top)`` of where it is then. Its
    ``initial_output`` is that of the first head. Errors and the rest as in :func:`with_visible_top`.

    >>> echo = PushdownAutomaton(("q",), ("a",), ("A",), {
    ...     ("q", "a", (top,)): Transition("q", (push("A"),)) for top in ("⊥", "A")}, "q")
    >>> tops = with_head_outputs(echo, lambda state, top: top)
    >>> tops.initial_output, tops.transduce("aa")
    ('⊥', ['A', 'A'])
    """
    visible, names = _shown_top(pda)
    transitions = {key: replace(step, output=output(*names[step.target])) for key, step in visible.transitions.items()}
    return replace(visible, transitions=transitions, initial_output=output(*names[visible.initial]))


def predictor_of(pda: PushdownAutomaton, end: Symbol | None = None) -> PushdownAutomaton:
    """Return the automaton that after every symbol outputs the symbols that may come next, in alphabet order.

    These are the symbols with a transition at the new head. They are the ones with which a word can go on to be
    accepted where every transition of ``pda`` is useful, as those of our reference automata are, and those of
    `counting.live_form`. Accepted are the same words, by "final state" (so in Suzgun et al. 2019, section 4.1).

    ``pda``: a recogniser with one stack that does not accept by outputs. ``end``: a symbol, last in the output, for
    "the word may end here"; None leaves that out.

    >>> from stacklens.languages.classic import Dyck
    >>> dyck = Dyck(1).automaton
    >>> predictor_of(dyck).initial_output, predictor_of(dyck).transduce("()")
    (('(',), [('(', ')'), ('(',)])
    >>> predictor_of(dyck, end="⊣").transduce("()")
    [('(', ')'), ('(', '⊣')]
    """
    if pda.acceptance == "output" or pda.end_marker is not None:
        marker = "" if pda.end_marker is None else f" and the end marker {pda.end_marker!r}"
        raise AutomatonError(
            f'predictor_of needs acceptance by state or stack and no end marker, not "{pda.acceptance}"{marker}'
        )

    return with_head_outputs(pda, partial(next_symbols, pda, end))


def _shown_top(pda: PushdownAutomaton, lowest: Symbol | None = None) -> tuple[PushdownAutomaton, _Names]:
    """Return the automaton that shows its top, and its states by name; ``lowest`` is its lowest cell, if any."""
    if pda.n_stacks != 1:
        raise AutomatonError(f"the top can be shown for one stack, this automaton has {pda.n_stacks}")
    pda = real_time_form(pda, "states that show the top need")
    tops = (pda.bottom, *pda.stack_alphabet)
    form = "({}, {})" if lowest is None else "{} over {}"
    name = unique({head: form.format(*head) for head in product(pda.states, tops)})  # (a, b), c or a, (b, c)
    names = {called: head for head, called in name.items()}
    accepting = frozenset(called for called, head in names.items() if pda.accepts_at(head[0], head[1] == pda.bottom))
    by_output = pda.acceptance == "output"
    steps: dict[Key, Transition] = {}
    for (state, symbol, (top,)), step in pda.transitions.items():
        (operation,) = step.operations
        cell = lowest if top == pda.bottom else top  # as which the top lies on the stack once it is covered
        under = tops if lowest is None else (*pda.stack_alphabet, lowest)
        for below in under if top != pda.bottom else (pda.bottom,):  # nothing lies below the bottom
            # The new top, and the operation on the stack of what lies below it.
            shown, deeper = top, NONE
            if operation.push is not None:
                shown, deeper = operation.push, NONE if operation.pop or cell is None else push(cell)
            elif operation.pop:
                shown = pda.bottom if below == lowest else below
                deeper = NONE if below == pda.bottom else POP
            steps[name[state, top], symbol, (below,)] = Transition(name[step.target, shown], (deeper,), step.output)
    visible = replace(
        pda,
        states=tuple(names),
        stack_alphabet=pda.stack_alphabet if lowest is None else (*pda.stack_alphabet, lowest),
        initial=name[pda.initial, pda.bottom],
        transitions=steps,
        accepting=frozenset() if by_output else accepting,
        acceptance="output" if by_output else "final state",
    )
    return trim(visible), names


# ---- Transducers that answer late: one symbol is written for each letter, a step later than it is read ----
# What such an automaton writes on a whole word another one outputs letter by letter, if it outputs in every step what
# the other one wrote in the step before, and the rest on the end marker. So whole words can be compared step by step.


def lag_of(pda: PushdownAutomaton) -> int | None:
    """Return by how many letters ``pda`` answers late, 0 or 1; None where it does not write a symbol a letter.

    At 0 every step on a letter writes one symbol, and nothing is written else. At 1 the first letter's writes none, all
    others one, and the step on the end marker one unless the word is empty. Every way through the graph of states is
    looked at, with what reads and writes in one step, so None may stand where stacks would rule a way out.

    >>> echo = {("q", "a", ("⊥",)): Transition("q", (NONE,), "a")}
    >>> lag_of(PushdownAutomaton(("q",), ("a",), (), echo, "q"))
    0
    >>> lag_of(delayed(PushdownAutomaton(("q",), ("a",), (), echo, "q"), "⊣"))
    1
    """
    try:
        pda = without_epsilon(pda)
    except AutomatonError:
        return None
    return next((lag for lag in (0, 1) if _answers_late(pda, lag)), None)


def _answers_late(pda: PushdownAutomaton, lag: int) -> bool:
    if lag and pda.end_marker is None:
        return False
    leaving: dict[State, list[tuple[Symbol, Transition]]] = defaultdict(list)
    for (state, symbol, _), step in pda.transitions.items():
        leaving[state].append((symbol, step))
    places = [(pda.initial, 0)]  # a state, and how many letters were read, as far as that matters
    seen = set(places)
    for state, read in places:  # the list grows while it is walked
        for symbol, step in leaving[state]:
            ends = symbol == pda.end_marker
            expected = bool(lag and read) if ends else read >= lag
            if (step.output is not None) is not expected:
                return False
            after = step.target, min(read + 1, lag)
            if not ends and after not in seen:
                seen.add(after)
                places.append(after)
    return True


def delayed(pda: PushdownAutomaton, end_marker: Symbol) -> PushdownAutomaton:
    """Return the automaton that outputs in every step what ``pda`` outputs one step earlier, on the marker the last.
    The first letter's step outputs nothing. It reads ``end_marker`` after every word that ``pda`` reads. Raises
    AutomatonError: ``pda`` has an end marker, ε-steps or several stacks.
    """
    if pda.end_marker is not None or not pda.real_time or pda.n_stacks != 1:
        raise AutomatonError("only a real-time automaton with one stack and no end marker can be delayed")
    outputs: list[Output] = list(dict.fromkeys([None, *(step.output for step in pda.transitions.values())]))
    names = unique({(state, late): f"{state} after {late}" for state in pda.states for late in outputs})
    start, tops = names[pda.initial, None], (pda.bottom, *pda.stack_alphabet)
    rules: dict[Key, Transition] = {
        (name, end_marker, (top,)): Transition(name, (NONE,), late)
        for ((_, late), name), top in product(names.items(), tops)
    }
    for ((state, symbol, read), step), late in product(pda.transitions.items(), outputs):
        target = names[step.target, step.output]
        rules[names[state, late], symbol, read] = replace(step, target=target, output=late)
    return replace(
        pda,
        states=tuple(names.values()),
        transitions=rules,
        initial=start,
        accepting=frozenset(names.values()),
        acceptance="final state",
        end_marker=end_marker,
    )


# ---- What a pushdown automaton has in common with a finite one, and what it does not accept ----


def intersect(pda: PushdownAutomaton, dfa: FiniteAutomaton | DFA) -> PushdownAutomaton:
    """Return the pushdown automaton that accepts what both accept; it has the outputs and the stacks of ``pda``.

    States are pairs. Acceptance "empty stack" becomes "both", and "output" becomes "final state", the states then
    saying whether the last output accepts. Only pairs are kept that the graph of states leads to; a symbol that ``dfa``
    does not know rejects. Raises AutomatonError: two pairs of states have the same name.

    >>> from stacklens.languages.classic import Dyck
    >>> steps = {("0", "("): "1", ("1", "("): "2", ("2", "("): "2", ("2", ")"): "2"}  # begins with two that open
    >>> deep = FiniteAutomaton(("0", "1", "2"), ("(", ")"), steps, "0", frozenset("2"))
    >>> next(intersect(Dyck(1).automaton, deep).words(4))
    ('(', '(', ')', ')')
    """
    dfa = finite_form(dfa)
    start = pda.initial, dfa.initial, pda.accepts_output(pda.initial_output)
    names = {start: _pair_name(pda, *start)}
    by_state: dict[State, list[tuple[Key, Transition]]] = {state: [] for state in pda.states}
    for key, step in pda.transitions.items():
        by_state[key[0]].append((key, step))
    transitions: dict[Key, Transition] = {}
    for point in (queue := [start]):  # the list grows while it is walked
        state, place, _ = point
        for (_, symbol, tops), step in by_state[state]:
            following = place if symbol in (EPSILON, pda.end_marker) else dfa.step(place, symbol)
            if following is None:
                continue
            target = step.target, following, pda.accepts_output(step.output)
            if target not in names:
                names[target] = _pair_name(pda, *target)
                queue.append(target)
            transitions[names[point], symbol, tops] = replace(step, target=names[target])
    if len(set(names.values())) < len(names):  # names with ", " in them: (a, b), c and a, (b, c)
        raise AutomatonError("two pairs of states have the same name: name the states of one automaton without commas")
    by_output, by_stack = pda.acceptance == "output", pda.acceptance == "empty stack"
    return replace(
        pda,
        states=tuple(names.values()),
        initial=names[start],
        transitions=transitions,
        accepting=frozenset(
            name
            for (state, place, good), name in names.items()
            if place in dfa.accepting and (good if by_output else by_stack or state in pda.accepting)
        ),
        acceptance="final state" if by_output else "both" if by_stack else pda.acceptance,
    )


def accepting_by_state(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return ``pda``, with states that know whether the last output accepts if that is how it accepts. Raises
    AutomatonError: two of these states would have the same name.
    """
    if pda.acceptance != "output":
        return pda
    everything = {("", symbol): "" for symbol in pda.input_alphabet}
    return intersect(pda, FiniteAutomaton(("",), pda.input_alphabet, everything, "", frozenset({""})))


def complement(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton that accepts the words over the input alphabet that ``pda`` rejects; it has no outputs.

    It has a state in which cut runs end. For the verdict to be in the state alone, states show the top where an empty
    stack decides, and the last output where outputs do. Raises AutomatonError: an empty stack decides and there are
    several, ε-steps cannot be put into other steps, or two states would have the same name.

    >>> from stacklens.languages.classic import Dyck
    >>> other = Dyck(1).automaton.complement()
    >>> ["".join(word) for word in other.words(2)], other.complement().count(6)
    (['(', ')', '((', ')(', '))'], [1, 0, 1, 0, 2, 0, 5])
    """
    pda = accepting_by_state(pda)
    whole = real_time_form(pda, "complement needs") if pda.acceptance == "final state" else with_visible_top(pda)
    # every head that is missing leads to the state that accepts for good
    cut = unique({"cut": "cut"}, whole.states)["cut"]
    stay = Transition(cut, (NONE,) * whole.n_stacks)
    tops = product((whole.bottom, *whole.stack_alphabet), repeat=whole.n_stacks)
    heads = product((*whole.states, cut), whole.letters, tops)
    steps = {key: replace(step, output=None) for key, step in whole.transitions.items()}
    return replace(
        whole,
        states=(*whole.states, cut),
        transitions={**dict.fromkeys(heads, stay), **steps},
        accepting=frozenset({cut, *whole.states} - whole.accepting),
        initial_output=None,
        accepting_outputs=frozenset(),
    )


def unite(pda: PushdownAutomaton, dfa: FiniteAutomaton | DFA) -> PushdownAutomaton:
    """Return the automaton that accepts what ``pda`` or ``dfa`` accepts (De Morgan); errors as of `complement`."""
    return complement(intersect(complement(pda), finite_form(dfa).complement(pda.input_alphabet)))


def _pair_name(pda: PushdownAutomaton, state: State, place: State, good: bool) -> State:
    verdict = "" if pda.acceptance != "output" else ", accepted" if good else ", rejected"
    return f"({state}, {place}{verdict})"
