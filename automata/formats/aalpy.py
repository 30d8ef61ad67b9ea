"""An automaton as AALpy's visibly pushdown automaton (`Vpa`), and back (the optional extra "interop").

AALpy's Vpa accepts in an accepting state with an empty stack and looks at the top only to pop. Although the name
forbids it, its Vpa may push and pop on one symbol, depending on the state, which makes it as strong as ours but for
acceptance.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from stacklens.automata.epsilon import require_real_time
from stacklens.automata.naming import fresh, unique
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, State, Symbol, Transition, push
from stacklens.automata.reachability import heads, trim
from stacklens.automata.rewriting import with_visible_top
from stacklens.errors import AutomatonError
from stacklens.extras import needing

if TYPE_CHECKING:
    from aalpy.automata import Sevpa, Vpa, VpaAlphabet, VpaState, VpaTransition

__all__ = ["from_aalpy", "to_aalpy"]

_Entry = tuple[State, str | None, Symbol | None]  # target, "push", "pop" or None, and the symbol pushed or popped
_Row = dict[Symbol, list[_Entry]]
_ERROR = "ErrorSinkState"  # AALpy's own, in which a run that has no transition stays


def to_aalpy(pda: PushdownAutomaton) -> Vpa:
    """Return the automaton as AALpy's `Vpa`, without what no run can reach; `accepts` there takes a list of symbols.

    States stay where only pops depend on the top. Otherwise they are (state, top) pairs, and the stack holds what lies
    below the top, as in `with_visible_top`.

    Raises:
        AutomatonError: several stacks, outputs, an end marker, or acceptance with symbols left on the stack.
        StacklensError: AALpy is not installed.
    """
    _check(pda)
    module = _aalpy()
    pda = trim(pda)
    rows = _rows(pda)
    if rows is None:
        pda = with_visible_top(pda)
        rows = _rows(pda)
        assert rows is not None, "where the state shows the top, only pops depend on what lies below"
    accepting = pda.states if pda.acceptance == "empty stack" else pda.accepting
    names = unique({state: state for state in pda.states}, {_ERROR})
    setup = {
        names[state]: (state in accepting, {x: [(names[to], *how) for to, *how in row[x]] for x in row})
        for state, row in rows.items()
    }
    vpa: Vpa = module.Vpa.from_state_setup(
        setup, init_state_id=names[pda.initial], input_alphabet=_alphabet(pda.input_alphabet, rows)
    )
    return vpa


def from_aalpy(vpa: Vpa | Sevpa) -> PushdownAutomaton:
    """Return AALpy's `Vpa`, or its 1-SEVPA, as an automaton of ours that accepts the same words.

    States and stack symbols that are no strings are called as Python shows them.

    Raises:
        AutomatonError: another kind of automaton, or a symbol that is no string.
        StacklensError: AALpy is not installed.
    """
    module = _aalpy()
    if isinstance(vpa, module.Sevpa):
        from aalpy.automata.Vpa import vpa_from_sevpa

        vpa = vpa_from_sevpa(vpa)
    if not isinstance(vpa, module.Vpa):
        raise AutomatonError(f"expected a Vpa or Sevpa of AALpy, found {type(vpa).__name__}")
    states = [state for state in vpa.states if state.state_id != _ERROR]
    letters = tuple(dict.fromkeys(vpa.input_alphabet.get_merged_alphabet()))
    if others := [letter for letter in letters if not isinstance(letter, str)]:
        raise AutomatonError(f"symbols must be strings, found {others[0]!r}")
    edges = [edge for state in states for edges in state.transitions.values() for edge in edges]
    cells = unique({edge.stack_guard: _name(edge.stack_guard) for edge in edges if edge.action == "push"})
    names = unique({state.state_id: _name(state.state_id) for state in states})
    return PushdownAutomaton(
        states=tuple(names.values()),
        input_alphabet=letters,
        stack_alphabet=tuple(cells.values()),
        transitions=dict(_transitions(states, names, cells)),
        initial=names[vpa.initial_state.state_id],
        accepting=frozenset(names[state.state_id] for state in states if state.is_accepting),
        bottom=fresh("⊥", cells.values()),
    )


def _aalpy() -> Any:
    with needing("AALpy", "interop"):
        import aalpy.automata
    return aalpy.automata


def _check(pda: PushdownAutomaton) -> None:
    if pda.n_stacks > 1:
        raise AutomatonError(f"AALpy's Vpa has one stack, this automaton has {pda.n_stacks}")
    if pda.acceptance == "output" or any(step.output is not None for step in pda.transitions.values()):
        raise AutomatonError("AALpy's Vpa has no outputs, this automaton has")
    if pda.end_marker is not None:
        raise AutomatonError(f"AALpy's Vpa has no end marker, this automaton has {pda.end_marker!r}")
    require_real_time(pda, "AALpy's Vpa needs")
    if pda.acceptance == "final state":
        raise AutomatonError('AALpy\'s Vpa accepts with an empty stack only, this automaton by "final state"')


def _rows(pda: PushdownAutomaton) -> dict[State, _Row] | None:
    """Return the entries of every state, None where more than pops depends on the top.

    AALpy takes the first entry that is no pop, or pops what is on top: so pops come first.
    """
    tops: dict[State, list[Symbol]] = {state: [] for state in pda.states}
    for state, (top,) in sorted(heads(pda).reading):
        tops[state].append(top)
    rows: dict[State, _Row] = {}
    for state in pda.states:
        rows[state] = {}
        for symbol in pda.input_alphabet:
            steps = {top: pda.transitions.get((state, symbol, (top,))) for top in tops[state]}
            entries = _entries(steps)
            if entries is None:
                return None
            if entries:
                rows[state][symbol] = entries
    return rows


def _entries(steps: dict[Symbol, Transition | None]) -> list[_Entry] | None:
    pops: list[_Entry] = []
    others: dict[_Entry | None, None] = {}
    for top, step in steps.items():
        operation = NONE if step is None else step.operations[0]
        if step is None:
            others[None] = None
        elif operation.name == "pop":
            pops.append((step.target, "pop", top))
        elif operation.name == "replace":
            return None
        else:
            others[step.target, "push" if operation.push else None, operation.push] = None
    if len(others) > 1:
        return None
    return [*pops, *(entry for entry in others if entry is not None)]


def _alphabet(symbols: tuple[Symbol, ...], rows: dict[State, _Row]) -> VpaAlphabet:
    """Return the symbols by what they do, some of them in two places; those that do nothing are internal."""
    kinds: dict[str | None, list[Symbol]] = {None: [], "push": [], "pop": []}
    for symbol in symbols:
        actions = {action for row in rows.values() for _, action, _ in row.get(symbol, [])}
        for action in actions or {None}:
            kinds[action].append(symbol)
    alphabet: VpaAlphabet = _aalpy().VpaAlphabet(kinds[None], kinds["push"], kinds["pop"])
    return alphabet


def _name(given: Hashable) -> str:
    return given if isinstance(given, str) and given else repr(given)


def _transitions(
    states: list[VpaState], names: dict[Hashable, State], cells: dict[Hashable, Symbol]
) -> Iterator[tuple[Key, Transition]]:
    bottom = fresh("⊥", cells.values())
    for state in states:
        for symbol, edges in state.transitions.items():
            for guard, top in [*cells.items(), (None, bottom)]:
                step = _taken(edges, guard, top == bottom)
                if step is not None and step.target_state.state_id in names:
                    operation = {"pop": POP, "push": push(cells.get(step.stack_guard, ""))}.get(step.action, NONE)
                    target = names[step.target_state.state_id]
                    yield (names[state.state_id], symbol, (top,)), Transition(target, (operation,))


def _taken(edges: list[VpaTransition], guard: Hashable, empty: bool) -> VpaTransition | None:
    """Return the transition that AALpy takes with ``guard`` on top; one that pops an empty stack is none."""
    for edge in edges:
        if edge.action != "pop":
            return edge
        if not empty and edge.stack_guard == guard:
            return edge
    return None
